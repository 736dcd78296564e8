r"""Model selection: how well will it do, and which one to take?

A model that is too simple misses the truth on average (bias); one that is too rich follows the
noise of its sample (variance). Both can be computed where the law is known, and neither where
only a sample is. There the error has to be estimated on data that the model has not seen: a part
held out, every part in turn (cross-validation), or what a resample leaves out (bootstrap).

Contents
    Bias and variance      all_samples, decomposition, Decomposition, simulated_decomposition,
                           Simulated, linear_decomposition, smoother_matrix, optimism
    Regularisation         regularised, Regularised, ridge_bias, RidgeBias
    Hold-out               train_test_split, hold_out, Selection, win_probability,
                           expected_minimum
    Folds                  KFold, StratifiedKFold, LeaveOneOut
    Cross-validation       clone, cross_val_predict, cross_validation_error, CrossValidation,
                           select_by_cross_validation, leave_one_out_shortcut, cross_val_score,
                           validation_curve
    Bootstrap              bootstrap_indices, inclusion_probability, absent, bootstrap_losses,
                           bootstrap_error, leave_one_out_bootstrap, point632,
                           nearest_neighbor_bootstrap
    Estimator              StandardScaler

Symbols
    X       (n, d)      samples x, one per row
    y       (n,)        their labels or targets
    A       (n, m)      design matrix, a column per weight
    f       (n,)        the truth at the samples: y = f + noise, E noise = 0, Var noise = sigma^2
    sigma   float       standard deviation of the noise
    h_star  (k,)        h*(x) = E[y|x] at the k points where the error is asked for
    H       (R, k)      predictions there of the R models h_D that R training sets D give
    S       (k, n)      a linear smoother: the predictions are S y
    lam     float       the constant lambda >= 0 before the penalty, of a sum (not mean) of squares
    theta   (m,)        weights
    loss    function    (predictions, y) -> losses, as `decision_theory.squared` and `zero_one`
    I       (B, n)      indices of the samples in each of B bootstrap sets
    L       (B, n)      loss of model b at sample i
    cv                  None for 5 folds, their number, an object with ``split``, or a list of
                        (train, test) indices; a number means stratified folds for a classifier
    rng     Generator   source of random numbers

Whatever has ``fit``, ``predict``, ``score`` and ``get_params`` is an estimator here.

Notes: MLN "Bias-Variance Trade-off", "Hold out Validation Set", "K-fold Cross-Validation",
"Bootstrap Methods"; PRNN 2 and 3; REP "Bagging"; ISML 1, kNN 3; IRHD 2.1. MLN writes f and fhat
for h* and h_D, the two others hbar for the mean model.
"""

from copy import deepcopy
from math import ceil, exp, expm1, floor, log1p
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Classifier,
    Estimator,
    Transformer,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    check_weights,
)
from mlnotes.decision_theory import Estimate, estimate
from mlnotes.probability import binomial_log_pmf

__all__ = [
    "all_samples", "decomposition", "Decomposition", "simulated_decomposition", "Simulated",
    "linear_decomposition", "smoother_matrix", "optimism", "regularised", "Regularised",
    "ridge_bias", "RidgeBias", "train_test_split", "hold_out", "Selection", "win_probability",
    "expected_minimum", "KFold", "StratifiedKFold", "LeaveOneOut", "clone", "cross_val_predict",
    "cross_validation_error", "CrossValidation", "select_by_cross_validation",
    "leave_one_out_shortcut", "cross_val_score", "validation_curve", "bootstrap_indices",
    "inclusion_probability", "absent", "bootstrap_losses", "bootstrap_error",
    "leave_one_out_bootstrap", "point632", "nearest_neighbor_bootstrap", "StandardScaler",
]  # fmt: skip

FOLDS = 5  # of cross-validation, where nothing else is said
HELD_OUT = 0.25  # share of the samples, where nothing else is said
INSIDE = 1 - exp(-1)  # 0.632, the limit of the share of the samples in a bootstrap set
EPS = np.finfo(float).eps


# ---------------------------------------------------------------------------------------
# Bias and variance
# ---------------------------------------------------------------------------------------


def all_samples(k, n):
    """All k^n samples of size n that can be drawn with replacement from k things.

    Returns: (k^n, n), indices.

    >>> all_samples(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices((k,) * n).reshape(n, -1).T


class Decomposition(NamedTuple):
    """What the error at each of k points is made of."""

    bias: np.ndarray  # (k,), hbar - h*
    variance: np.ndarray  # (k,), E (h_D - hbar)^2
    noise: np.ndarray  # (k,), or a number for all: E (y - h*)^2

    @property
    def error(self):
        """E (y - h_D)^2 = bias^2 + variance + noise: (k,)."""
        return self.bias**2 + self.variance + self.noise


def decomposition(H, h_star, noise, p=None):
    """Bias, variance and noise of models that come with the probabilities p (R,); 1/R without p:

        hbar(x) = sum_r p_r h_r(x)
        bias = hbar - h*,  variance = sum_r p_r (h_r - hbar)^2,  noise = E (y - h*)^2

    with E (y - h_D)^2 = bias^2 + variance + noise. `noise` is a number, or (k,). Of all training
    sets with their probabilities it is exact. PRNN squares each term at the wrong place: the
    bias is to be squared before it is averaged over x (model_selection-03), the deviation
    before it is averaged over D (model_selection-04), and the noise is that of the label y, not
    of a model h (model_selection-05). REP calls the square of the bias "Bias", and its y(x) in
    the noise is no function of x (model_selection-06).

    Returns: a `Decomposition`.

    >>> decomposition(np.array([[1.0], [3.0]]), h_star=np.array([5.0]), noise=0.5)
    Decomposition(bias=array([-3.]), variance=array([1.]), noise=0.5)

    Claims: model_selection-01
    """
    p = np.full(len(H), 1 / len(H)) if p is None else p
    mean = p @ H
    return Decomposition(mean - h_star, p @ (H - mean) ** 2, noise)


class Simulated(NamedTuple):
    """Averages over the k points, each with its standard error."""

    squared_bias: Estimate
    variance: Estimate
    excess: Estimate  # E (h_D - h*)^2, the sum of the two


def simulated_decomposition(H, h_star):
    """Bias^2 and variance from R independent training sets, both without bias of their own:

        bias^2 = 1/(R (R - 1)) sum_{r != s} (h_r - h*)(h_s - h*) = (mean - h*)^2 - variance / R
        variance = 1/(R - 1) sum_r (h_r - mean)^2

    so that their sum is the mean of (h_r - h*)^2. The square of the mean bias would contain 1/R
    of the variance. Standard errors are the jackknife's, from leaving out each set in turn.

    Returns: a `Simulated`. Raises: ValueError for fewer than 3 sets.

    >>> S = simulated_decomposition(np.array([[0.0], [2.0], [4.0]]), h_star=np.array([0.0]))
    >>> round(S.variance.value, 12), round(S.excess.value, 12)
    (4.0, 6.666666666667)
    """
    if len(H) < 3:
        raise ValueError(f"a jackknife needs 3 training sets at least; got {len(H)}")
    D = np.asarray(H) - h_star
    bias = D.mean(axis=0)
    E = D - bias  # or a large bias would cancel the variance
    total, squares = E.sum(axis=0), (E**2).sum(axis=0)
    all_of_them = _split(bias, total, squares, len(E))
    without = _split(bias, total - E, squares - E**2, len(E) - 1)
    found = [_jackknife(a, w) for a, w in zip(all_of_them, without, strict=True)]
    return Simulated(*found, estimate((D**2).mean(axis=1)))


def _split(bias, total, squares, R):
    """Bias^2 and variance from the sums of R deviations from `bias` and of their squares."""
    variance = (squares - total**2 / R) / (R - 1)
    squared_bias = (bias + total / R) ** 2 - variance / R
    return squared_bias.mean(axis=-1), variance.mean(axis=-1)


def _jackknife(value, without):
    """An estimate whose error comes from its values `without` one of the draws."""
    R = len(without)
    return Estimate(float(value), float(np.sqrt((R - 1) * np.var(without))))


def linear_decomposition(S, f, sigma, h_star=None):
    """Of predictions S y with y = f + noise: bias S f - h*, variance sigma^2 diag(S S^T).

    Without h_star the points are the samples themselves, with h* = f. In least squares a
    prediction at x has the variance sigma^2 x^T (A^T A)^{-1} x.

    Returns: a `Decomposition`.

    >>> S = np.full((1, 4), 0.25)
    >>> linear_decomposition(S, f=np.array([0.0, 1.0, 2.0, 5.0]), sigma=2.0, h_star=np.zeros(1))
    Decomposition(bias=array([2.]), variance=array([1.]), noise=4.0)
    """
    h_star = f if h_star is None else h_star
    return Decomposition(S @ f - h_star, sigma**2 * np.sum(S**2, axis=1), sigma**2)


def smoother_matrix(A, B=None, lam=0.0):
    """S = B (A^T A + lam I)^{-1} A^T, with which ridge predicts S y at the rows of B (k, m).

    Without B at those of A, where it is the hat matrix; lam = 0 is least squares, of minimum norm
    where there is a choice.

    Raises: ValueError if lam is not a number >= 0.

    >>> smoother_matrix(np.array([[1.0], [1.0]]), lam=2.0)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    check_number("lam", lam, at_least=0)
    U, s, Vt = _singular(A)
    return ((A if B is None else B) @ Vt.T / (s + lam / s)) @ U.T


def _singular(A):
    """The singular value decomposition without the directions of singular value 0."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > max(A.shape) * EPS * s.max()
    return U[:, kept], s[kept], Vt[kept]


def optimism(S, sigma):
    """How much smaller the training error is than that at new y of the same x, on average:

        sigma^2 [n + tr(S S^T) - tr((I - S)^T (I - S))] / n = 2 sigma^2 tr(S) / n,

    2 sigma^2 p / n for least squares with p weights: overfitting grows with the weights and
    shrinks with the samples. S is (n, n), at the samples.

    >>> optimism(np.eye(3), sigma=1.0)
    2.0
    """
    return float(2 * sigma**2 * np.trace(S) / len(S))


# ---------------------------------------------------------------------------------------
# Regularisation
# ---------------------------------------------------------------------------------------


class Regularised(NamedTuple):
    """The minimum of regularised empirical risk."""

    theta: np.ndarray  # (m,)
    risk: float  # ||y - A theta||^2, n times the empirical risk
    penalty: float  # Omega(theta)


def regularised(A, y, lam, penalised=None):
    """Minimise ||y - A theta||^2 + lam Omega(theta), Omega(theta) = sum of the penalised theta_j^2.

    `penalised` (m,) says which, as 1 or 0; all if not given. The fit depends on the zero of y
    if the intercept is penalised too. Where the minimum is not unique, as for a polynomial
    of degree 6 through six points without a penalty, "the" argmin of PRNN is one of many
    (model_selection-30), and theta is the shortest.

    Returns: a `Regularised`. Raises: ValueError if lam is not a number >= 0.

    >>> regularised(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), lam=1.0).theta.round(12)
    array([2.])

    Claims: model_selection-26
    """
    check_number("lam", lam, at_least=0)
    q = np.ones(A.shape[1]) if penalised is None else np.asarray(penalised, dtype=float)
    rows = np.vstack([A, np.diag(np.sqrt(lam * q))])
    theta = np.linalg.lstsq(rows, np.append(y, np.zeros(len(q))), rcond=None)[0]
    return Regularised(theta, float(np.sum((y - A @ theta) ** 2)), float(q @ theta**2))


class RidgeBias(NamedTuple):
    """The in-sample bias of ridge, n times its mean square: outside + sum of shrunk."""

    outside: float  # ||(I - H) f||^2, that of least squares
    shrunk: np.ndarray  # what the penalty adds along each u_j


def ridge_bias(A, f, lam):
    """||(I - H_lam) f||^2 = ||(I - H) f||^2 + sum_j (lam / (s_j^2 + lam))^2 (u_j^T f)^2.

    Hence a penalty never lowers the in-sample bias. PRNN claims more, that it raises the bias:
    off the samples, with a model that does not hold the truth, it may lower it
    (model_selection-28).

    Returns: a `RidgeBias`. Raises: ValueError if lam is not a number >= 0.

    >>> ridge_bias(np.array([[1.0], [0.0]]), f=np.array([4.0, 3.0]), lam=1.0)
    RidgeBias(outside=9.0, shrunk=array([4.]))
    """
    check_number("lam", lam, at_least=0)
    U, s, _ = _singular(A)
    along = U.T @ f
    rest = f - U @ along
    return RidgeBias(float(rest @ rest), (lam / s / (s + lam / s) * along) ** 2)


# ---------------------------------------------------------------------------------------
# Hold-out
# ---------------------------------------------------------------------------------------


def train_test_split(
    *arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None
):
    """Split `arrays` of one length n into a part to train on and one to test on.

    `test_size` and `train_size` are shares of n (float) or numbers of samples (int); what is not
    given is the rest, and without both a quarter is held out. With `stratify`, labels (n,), the
    classes keep their shares, up to rounding. Without `shuffle` the last samples are held out;
    with it, `random_state` makes the split reproducible.

    Returns: a list, train and test part of the first, of the second ...
    Raises: ValueError if lengths differ, that of `stratify` too, or a part cannot be had.

    >>> train_test_split(np.arange(5), test_size=2, shuffle=False)
    [array([0, 1, 2]), array([3, 4])]
    """
    sizes = {len(a) for a in arrays}
    if len(sizes) != 1:
        raise ValueError(f"arrays must have one length; got {sorted(sizes)}")
    n, rng = sizes.pop(), check_random_state(random_state)
    n_train, n_test = _part_sizes(n, train_size, test_size)
    if stratify is not None and len(stratify) != n:
        raise ValueError(f"stratify must hold a label for each of {n} samples; got {len(stratify)}")
    if not check_flag("shuffle", shuffle):
        if stratify is not None:
            raise ValueError("stratify must be None without shuffle")
        train, test = np.arange(n_train), np.arange(n_train, n_train + n_test)
    elif stratify is None:
        order = rng.permutation(n)
        test, train = order[:n_test], order[n_test : n_test + n_train]
    else:
        train, test = _stratified(stratify, n_train, n_test, rng)
    return [_rows(a, part) for a in arrays for part in (train, test)]


def _part_sizes(n, train_size, test_size):
    """How many samples to train and to test on."""
    if test_size is None and train_size is None:
        test_size = HELD_OUT
    n_test = _count("test_size", test_size, n, ceil)
    n_train = _count("train_size", train_size, n, floor)
    n_train = n - n_test if n_train is None else n_train
    n_test = n - n_train if n_test is None else n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(
            f"both parts must hold a sample, and together at most n = {n}; got {n_train} to train "
            f"and {n_test} to test"
        )
    return n_train, n_test


def _count(name, size, n, rounded):
    """The number of samples that `size` means; None for None."""
    if size is None or (isinstance(size, Integral) and not isinstance(size, bool) and size > 0):
        return size
    if isinstance(size, Real) and not isinstance(size, Integral) and 0 < size < 1:
        return rounded(size * n)
    raise ValueError(f"{name} must be None, a share in (0, 1) or an integer >= 1; got {size!r}")


def _stratified(labels, n_train, n_test, rng):
    """Indices of two parts that hold the classes in their shares."""
    order = rng.permutation(len(labels))
    _, k, n_k = np.unique(np.asarray(labels)[order], return_inverse=True, return_counts=True)
    if n_k.min() < 2 or min(n_train, n_test) < len(n_k):
        raise ValueError(
            f"stratify must have 2 samples of each class, and each part one for each of the "
            f"{len(n_k)} classes; got {n_k.min()} in the smallest, {n_train} to train, "
            f"{n_test} to test"
        )
    in_test = _shares(n_k, n_test)
    in_train = _shares(n_k - in_test, n_train)
    place = _place_in_class(k)
    test, train = place < in_test[k], (place >= in_test[k]) & (place < (in_test + in_train)[k])
    return order[train], order[test]


def _shares(n_k, n):
    """n places for classes of the sizes n_k, in proportion; the largest remainders round up."""
    exact = n * n_k / n_k.sum()
    whole = np.floor(exact).astype(int)
    whole[np.argsort(whole - exact, kind="stable")[: n - whole.sum()]] += 1
    return whole


def _place_in_class(k):
    """The number that each sample has within its class, from 0, in their order."""
    order = np.argsort(k, kind="stable")
    n_k = np.bincount(k)
    place = np.empty(len(k), dtype=int)
    place[order] = np.arange(len(k)) - np.repeat(np.cumsum(n_k) - n_k, n_k)
    return place


def _rows(a, i):
    """The entries i of an array, a data frame or a list, of its kind; None of None."""
    if a is None:
        return None
    if hasattr(a, "iloc"):
        return a.iloc[i]
    return a[i] if hasattr(a, "shape") else [a[j] for j in i]


class Selection(NamedTuple):
    """The estimated errors of some models, and which has the smallest."""

    errors: np.ndarray  # (number of models,)
    best: int  # the first of them, in a tie; never one whose error is nan


def _selection(errors):
    """The `Selection` by these errors."""
    return Selection(np.array(errors), int(np.nanargmin(errors)))


def hold_out(models, X, y, train, valid, loss):
    """The mean loss on the samples `valid` of each of the `models` trained on those in `train`.

    Given the model, the error is unbiased for its risk, with the variance Var(loss) / n_valid.
    That of the best is not: it has been chosen for being small, so that a test set by which k
    is chosen (ISML) no longer tells the risk (model_selection-13). A third part does.

    Returns: a `Selection`.
    Raises: ValueError if a sample is in both parts, or one is empty, or all errors are nan.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 3.0])
    >>> hold_out([Ridge(2.0), Ridge(0.0)], X, y, [0, 1], [2], squared).best
    1

    Claims: model_selection-11
    """
    if len(train) == 0 or len(valid) == 0 or np.intersect1d(train, valid).size:
        raise ValueError("train and valid must be two parts without a common sample, none empty")
    errors = []
    for model in models:
        fitted = _fit(model, X, y, train)
        errors.append(np.mean(loss(fitted.predict(_rows(X, valid)), _rows(y, valid))))
    return _selection(errors)


def _fit(model, X, y, train):
    """An unfitted copy, fitted to the samples in `train`."""
    X, y = _rows(X, train), _rows(y, train)
    return clone(model).fit(X) if y is None else clone(model).fit(X, y)


def win_probability(p, q, n):
    """How often a rule that errs with probability p makes fewer errors than one with q, of n.

    P(X < Y) + P(X = Y) / 2, X ~ Bin(n, p) and Y ~ Bin(n, q) independent, a tie being tossed for.

    >>> round(win_probability(0.0, 0.5, 2), 9)
    0.875
    """
    counts = np.arange(n + 1)
    x, y = (np.exp(binomial_log_pmf(counts, n, each)) for each in (p, q))
    return float(np.sum(x * (1 - np.cumsum(y) + y / 2)))


def expected_minimum(m, n, p=0.5):
    """E min of m independent error rates, each of n tests of a rule that errs with probability p:

        1/n sum_{j >= 1} P(X >= j)^m,  X ~ Bin(n, p),

    p for m = 1, and less and less as m grows, though every rule has the risk p.

    >>> round(expected_minimum(2, 1), 9)
    0.25
    """
    tail = 1 - np.cumsum(np.exp(binomial_log_pmf(np.arange(n + 1), n, p)))
    return float(np.sum(np.clip(tail[:-1], 0, 1) ** m) / n)


# ---------------------------------------------------------------------------------------
# Folds
# ---------------------------------------------------------------------------------------


class _Folds:
    """Parts, each of which is tested on once."""

    def __init__(self, n_splits=FOLDS, *, shuffle=False, random_state=None):
        self.n_splits = check_number("n_splits", n_splits, at_least=2, integer=True)
        self.shuffle = check_flag("shuffle", shuffle)
        check_random_state(random_state)
        if random_state is not None and not shuffle:
            raise ValueError(f"random_state must be None without shuffle; got {random_state!r}")
        self.random_state = random_state

    def __repr__(self):
        given = f"shuffle={self.shuffle}, random_state={self.random_state}"
        return f"{type(self).__name__}(n_splits={self.n_splits}, {given})"

    def get_n_splits(self, X=None, y=None, groups=None):
        """The number of folds."""
        return self.n_splits

    def split(self, X, y=None, groups=None):
        """Yield the indices to train on and those to test on, for each fold; groups is not used."""
        if self.n_splits > len(X):
            raise ValueError(
                f"n_splits must be at most the number of samples, {len(X)}; got {self.n_splits}"
            )
        fold = self.folds(X, y)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class KFold(_Folds):
    """K parts, consecutive unless shuffled, whose sizes differ by 1 at most.

    Parameters
    ----------
    n_splits : int; K
    shuffle : bool; whether the samples are dealt to the parts at random
    random_state : None, int or Generator; with shuffle, makes it reproducible

    >>> [test.tolist() for train, test in KFold(3).split(np.zeros(5))]
    [[0, 1], [2, 3], [4]]
    """

    def folds(self, X, y=None):
        """rho: the number of the part that each sample is in, (n,)."""
        n = len(X)
        fold = np.sort(np.arange(n) % self.n_splits)
        if self.shuffle:
            fold = check_random_state(self.random_state).permutation(fold)
        return fold


class StratifiedKFold(_Folds):
    """K parts that hold every class in its share, up to one sample.

    Parameters
    ----------
    n_splits : int; K, at most the size of the largest class. A smaller class is missing in some
        of the parts
    shuffle : bool; whether the samples of a class are dealt to the parts at random
    random_state : None, int or Generator; with shuffle, makes it reproducible

    >>> [test.tolist() for train, test in StratifiedKFold(2).split(np.zeros(6), list("aabaab"))]
    [[0, 1, 2], [3, 4, 5]]
    """

    def folds(self, X, y):
        """rho: the number of the part that each sample is in, (n,)."""
        k, n_k = _by_appearance(y)
        if len(k) != len(X):
            raise ValueError(f"X and y must have the same length; got {len(X)} and {len(k)}")
        if self.n_splits > n_k.max():
            raise ValueError(
                f"n_splits must be at most the size of the largest class, {n_k.max()}; "
                f"got {self.n_splits}"
            )
        rng = check_random_state(self.random_state)
        dealt, fold = np.arange(len(k)) % self.n_splits, np.empty(len(k), dtype=int)
        for c, cards in enumerate(np.split(dealt, np.cumsum(n_k)[:-1])):
            fold[k == c] = rng.permutation(cards) if self.shuffle else np.sort(cards)
        return fold


def _by_appearance(y):
    """The class numbers (n,), in the order of their first samples, and the sizes."""
    _, first, k, n_k = np.unique(y, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    return np.argsort(order)[k], n_k[order]


class LeaveOneOut:
    """n parts of one sample each: cross-validation with as many folds as it can have.

    >>> [test.tolist() for train, test in LeaveOneOut().split(np.zeros(3))]
    [[0], [1], [2]]
    """

    def __repr__(self):
        return "LeaveOneOut()"

    def get_n_splits(self, X, y=None, groups=None):
        """The number of samples."""
        return len(X)

    def split(self, X, y=None, groups=None):
        """Yield the indices to train on and the one to test on; y and groups are not used."""
        yield from KFold(len(X)).split(X)


def _splits(cv, estimator, X, y):
    """The list of (train, test) that `cv` means."""
    cv = FOLDS if cv is None else cv
    if isinstance(cv, Integral):
        cv = StratifiedKFold(cv) if _is_classifier(estimator) else KFold(cv)
    return list(cv.split(X, y) if hasattr(cv, "split") else cv)


def _is_classifier(estimator):
    """Whether it says that it is one."""
    if isinstance(estimator, Estimator) or not hasattr(estimator, "__sklearn_tags__"):
        return isinstance(estimator, Classifier)
    return estimator.__sklearn_tags__().estimator_type == "classifier"


# ---------------------------------------------------------------------------------------
# Cross-validation
# ---------------------------------------------------------------------------------------


def clone(estimator):
    """An unfitted copy of an `estimator`: a new one, with copies of its hyperparameters.

    >>> clone(StandardScaler(with_std=False).fit([[1.0], [2.0]]))
    StandardScaler(with_std=False)
    """
    params = estimator.get_params(deep=False)
    return type(estimator)(**{name: _copy(value) for name, value in params.items()})


def _copy(value):
    """A copy of a hyperparameter, estimators in it unfitted."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(map(_copy, value))
    unfitted = hasattr(value, "get_params") and not isinstance(value, type)
    return clone(value) if unfitted else deepcopy(value)


def cross_val_predict(estimator, X, y, *, cv=None):
    """fhat^{-rho(i)}(x_i): each prediction by an `estimator` fitted without the part i is in.

    Returns: (n,). Raises: ValueError if the parts do not hold every sample once.

    >>> from mlnotes.linear_regression import LinearRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 4.0])
    >>> cross_val_predict(LinearRegression(), X, y, cv=3).round(9)
    array([0., 2., 4.])
    """
    return _held_out(estimator, X, y, _splits(cv, estimator, X, y))


def _held_out(estimator, X, y, splits):
    """The predictions of all parts, in the order of the samples."""
    place = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(place), np.arange(len(X))):
        raise ValueError("cv must test every sample once: its parts must be a partition")
    found = [_fit(estimator, X, y, train).predict(_rows(X, test)) for train, test in splits]
    return np.concatenate(found)[np.argsort(place)]


class CrossValidation(NamedTuple):
    """What cross-validation found."""

    error: float  # e_cv
    fold_errors: np.ndarray  # (K,), the mean loss in each part
    fold_sizes: np.ndarray  # (K,)


def cross_validation_error(estimator, X, y, loss, *, cv=None):
    """e_cv = 1/n sum_i L(fhat^{-rho(i)}(x_i), y_i) = sum_k (n_k / n) err_k of an `estimator`.

    MLN calls it the average of the errors of the parts as well, which it is only for parts of
    one size n_k (model_selection-17).

    Returns: a `CrossValidation`. Raises: ValueError if the parts do not hold every sample once.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([5.0, 5.0, 8.0])
    >>> round(cross_validation_error(Ridge(1e9), X, y, squared, cv=[([0, 2], [1]), ([1], [0, 2])])
    ...       .error, 6)
    3.75

    Claims: model_selection-16
    """
    splits = _splits(cv, estimator, X, y)
    losses = loss(_held_out(estimator, X, y, splits), np.asarray(y))
    parts = np.array([np.mean(losses[test]) for _, test in splits])
    return CrossValidation(float(np.mean(losses)), parts, np.array([len(t) for _, t in splits]))


def select_by_cross_validation(models, X, y, loss, *, cv=None):
    """The e_cv of each of the `models`, and which has the lowest.

    Returns: a `Selection`. Raises: ValueError if all of them are nan.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
    >>> select_by_cross_validation([Ridge(9.0), Ridge(0.0)], X, y, squared, cv=3).best
    1
    """
    return _selection([cross_validation_error(h, X, y, loss, cv=cv).error for h in models])


def leave_one_out_shortcut(S, y):
    """1/n sum_i (r_i / (1 - S_ii))^2, r = y - S y: leave-one-out of squares, without refitting.

    For least squares, and for ridge with lam before a sum of squares that stays what it is when a
    sample is left out. S (n, n) is their `smoother_matrix`.

    Raises: ValueError if some S_ii is 1: without that sample it cannot be predicted.

    >>> leave_one_out_shortcut(np.full((2, 2), 0.5), np.array([0.0, 2.0]))
    4.0
    """
    slack = 1 - np.diag(S)
    if np.any(slack <= len(S) * EPS):
        raise ValueError("S_ii must be < 1; a sample has leverage 1, alone in fixing some weight")
    return float(np.mean(((y - S @ y) / slack) ** 2))


def cross_val_score(estimator, X, y=None, *, scoring=None, cv=None):
    """The score of an `estimator` on each part, fitted to the rest.

    `scoring` is a function (estimator, X, y) -> number; None for the estimator's own ``score``,
    accuracy or R^2.

    Returns: (K,). Raises: ValueError if `scoring` is neither.

    >>> from mlnotes.linear_regression import LinearRegression
    >>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
    >>> cross_val_score(LinearRegression(), X, y, cv=3).round(9)
    array([1., 1., 1.])
    """
    splits, score = _splits(cv, estimator, X, y), _scorer(scoring)
    return np.array([_scores(_fit(estimator, X, y, i), X, y, score, (j,))[0] for i, j in splits])


def _scorer(scoring):
    """The function (estimator, X, y) -> number that `scoring` means."""
    if scoring is None:
        return lambda model, *data: model.score(*data)
    if not callable(scoring):
        raise ValueError(
            f"scoring must be None or a function (estimator, X, y) -> number; got {scoring!r}"
        )
    return scoring


def _scores(model, X, y, score, parts):
    """The score of a fitted model on each of some parts."""
    data = [(_rows(X, i), _rows(y, i)) if y is not None else (_rows(X, i),) for i in parts]
    return [float(score(model, *each)) for each in data]


def validation_curve(estimator, X, y, *, param_name, param_range, cv=None, scoring=None):
    """Scores in training and in validation of an `estimator`, as a hyperparameter varies.

    `param_name` is its name, `param_range` its p values, and `scoring` that of `cross_val_score`.

    Returns: the scores on what was trained on and on what was not, each (p, K).
    Raises: ValueError if `scoring` is neither None nor a function.

    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
    >>> how = {"param_name": "alpha", "param_range": [0.0, 2.0], "cv": 2}
    >>> train, valid = validation_curve(Ridge(), X, y, **how)
    >>> train.shape, train[:, 0].round(6)
    ((2, 2), array([1.  , 0.75]))
    """
    splits, score = _splits(cv, estimator, X, y), _scorer(scoring)
    models = [clone(estimator).set_params(**{param_name: value}) for value in param_range]
    both = [
        [_scores(_fit(model, X, y, split[0]), X, y, score, split) for split in splits]
        for model in models
    ]
    train, test = np.moveaxis(np.array(both), -1, 0)
    return train, test


# ---------------------------------------------------------------------------------------
# Bootstrap
# ---------------------------------------------------------------------------------------


def bootstrap_indices(n, B, *, rng):
    """B training sets of size n, each drawn with replacement from n samples: I.

    >>> bootstrap_indices(3, 2, rng=np.random.default_rng(0)).shape
    (2, 3)
    """
    return rng.integers(n, size=(B, n))


def inclusion_probability(n):
    """P(x_i in a bootstrap set) = 1 - (1 - 1/n)^n -> 1 - 1/e = 0.632, for n -> infinity.

    It is the expected share of the samples that are in a set as well, more than the 1/2 that
    2-fold cross-validation trains on and less than the 2/3 of three folds.

    >>> round(inclusion_probability(2), 12)
    0.75
    """
    return -expm1(n * log1p(-1 / n)) if n > 1 else 1.0


def absent(I):  # noqa: E741 the matrix of indices
    """Whether sample i is in no place of set b, so that b is in C^{-i}: (B, n).

    >>> absent(np.array([[0, 0], [1, 0]])).tolist()
    [[False, True], [False, False]]
    """
    missing = np.ones(I.shape, dtype=bool)
    np.put_along_axis(missing, I, False, axis=1)
    return missing


def bootstrap_losses(estimator, X, y, I, loss):  # noqa: E741
    """L: the losses at all samples of an `estimator` fitted to each bootstrap set.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.neighbors import KNeighborsRegressor
    >>> X, y, I = np.array([[0.0], [1.0]]), np.array([0.0, 3.0]), np.array([[0, 0], [0, 1]])
    >>> bootstrap_losses(KNeighborsRegressor(1), X, y, I, squared)
    array([[0., 9.],
           [0., 0.]])
    """
    return np.array([loss(_fit(estimator, X, y, i).predict(X), np.asarray(y)) for i in I])


def bootstrap_error(L):
    """e1 = 1/B sum_b 1/n sum_i L(fhat_b(x_i), y_i): naive, for fhat_b knows most of the x_i.

    MLN's example is 1-NN on labels independent of x, which never errs inside the set and at
    1/2 outside: E e1 is 1/2 (1 - 0.632), not the printed 1/2 0.632 (model_selection-24).

    >>> bootstrap_error(np.array([[0.0, 9.0], [0.0, 0.0]]))
    2.25

    Claims: model_selection-21
    """
    return float(np.mean(L))


def leave_one_out_bootstrap(L, I):  # noqa: E741
    """e = 1/n sum_i 1/|C^{-i}| sum_{b in C^{-i}} L(fhat_b(x_i), y_i).

    C^{-i} are the sets without x_i. A sample whose C^{-i} is empty, as happens with probability
    `inclusion_probability`^B, is skipped, and n is the number of those that are not.

    Raises: ValueError if all are empty.

    >>> L, I = np.array([[0.0, 9.0], [0.0, 0.0]]), np.array([[0, 0], [0, 1]])
    >>> leave_one_out_bootstrap(L, I)
    9.0

    Claims: model_selection-25
    """
    out = absent(I)
    sizes = out.sum(axis=0)
    if not sizes.any():
        raise ValueError("every sample is in every bootstrap set: draw more of them")
    kept = sizes > 0
    return float(np.mean(L.sum(axis=0, where=out)[kept] / sizes[kept]))


def point632(training_error, outside):
    """0.632 e + 0.368 e_train: between `leave_one_out_bootstrap`, `outside`, and training_error.

    A set holds 0.632 n distinct samples, so that e is too large, as cross-validation with 2 or 3
    folds is; the training error is too small. The weight is 1 - 1/e.

    >>> round(point632(training_error=0.0, outside=0.5), 3)
    0.316
    """
    return INSIDE * outside + (1 - INSIDE) * training_error


def nearest_neighbor_bootstrap(n):
    """E e1 = 1/2 (1 - 1/n)^n for 1-NN, on n distinct x with labels that are fair coins.

    A sample of the set is its own neighbour, and right; one outside is wrong every other time.

    >>> round(nearest_neighbor_bootstrap(4), 12)
    0.158203125
    """
    return (1 - inclusion_probability(n)) / 2


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


class StandardScaler(Transformer):
    """z = (x - mean) / standard deviation, feature by feature, as the training samples have them.

    New samples are scaled by the numbers of the training set: to scale before the split would
    let the test set have its say. A constant feature is divided by 1. The input is never
    written to, so that scikit-learn's `copy` is not there.

    Parameters
    ----------
    with_mean : bool; whether to subtract the mean
    with_std : bool; whether to divide by the standard deviation

    Attributes
    ----------
    mean_ : ndarray of shape (d,), or None
    var_ : ndarray of shape (d,), or None; the mean square of x - mean, not that over n - 1
    scale_ : ndarray of shape (d,), or None; what the features are divided by
    n_samples_seen_ : int, or the sum of the weights
    n_features_in_ : int

    >>> StandardScaler().fit_transform([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def __init__(self, *, with_mean=True, with_std=True):
        self.with_mean = with_mean
        self.with_std = with_std

    def fit(self, X, y=None, sample_weight=None):
        """Learn mean and spread of samples X (n, d) of the given weights; y is not used."""
        with_mean, with_std = (
            check_flag(name, getattr(self, name)) for name in ("with_mean", "with_std")
        )
        samples = check_samples(X)
        weights = check_weights(sample_weight, len(samples))
        if not weights.all():
            samples, weights = samples[weights > 0], weights[weights > 0]
        share = weights / weights.sum()
        mean, size = share @ samples, np.abs(samples).max(axis=0)
        unit = np.where(size > 0, size, 1.0)  # so that no square overflows
        sd = unit * np.sqrt(share @ ((samples - mean) / unit) ** 2)
        flat = sd <= len(samples) * EPS * size
        self.mean_ = mean if with_mean or with_std else None
        with np.errstate(over="ignore"):  # the square may be beyond all floats; sd is not
            self.var_ = np.where(flat, 0.0, sd**2) if with_std else None
        self.scale_ = np.where(flat, 1.0, sd) if with_std else None
        self.n_samples_seen_ = len(samples) if sample_weight is None else float(weights.sum())
        return self._remember(X)

    def transform(self, X):
        """The scaled samples: (n, d)."""
        X = self._check_fitted(X)
        Z = X - self.mean_ if self.with_mean else X.copy()
        return Z / self.scale_ if self.with_std else Z

    def inverse_transform(self, X):
        """The samples that `transform` makes into these: (n, d)."""
        Z = self._check_fitted(X)
        X = Z * self.scale_ if self.with_std else Z.copy()
        return X + self.mean_ if self.with_mean else X
