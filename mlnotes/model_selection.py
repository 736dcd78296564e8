r"""Model selection: how well will a model do, and which model should be taken?

A model that is too simple misses the truth on average (bias). A model that is too rich follows
the noise of its sample (variance). The error is estimated on data that the model has not seen.

Contents
    Bias and variance      all_samples, decomposition, Decomposition, simulated_decomposition,
                           Simulated, linear_decomposition, smoother_matrix, optimism
    Regularisation         regularised, Regularised, ridge_bias, RidgeBias
    Hold-out               clone, take, train_test_split, hold_out, Selection, win_probability,
                           expected_minimum
    Folds                  KFold, StratifiedKFold, LeaveOneOut
    Cross-validation       cross_val_predict, cross_validation_error, CrossValidation,
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
    h_star  (k,)        h*(x) = E[y|x] at the k points where the error is computed
    H       (R, k)      predictions there of the R models h_D of R training sets D
    S       (k, n)      a linear smoother: the predictions are S y
    lam     float       lambda >= 0, the weight of the penalty beside a sum (not a mean) of squares
    theta   (m,)        weights
    loss    function    (predictions, y) -> losses, as `decision_theory.squared` and `zero_one`
    sets    (B, n)      indices of the samples in each of B bootstrap sets
    L       (B, n)      loss of model b at sample i
    cv                  None for 5 folds, their number, an object with ``split``, or a list of
                        (train, test) indices; for a classifier, a number means stratified folds
    rng     Generator   source of random numbers

An estimator is any object with ``fit``, ``predict``, ``score`` and ``get_params``.

Notes: MLN "Bias-Variance Trade-off", "Hold out Validation Set", "K-fold Cross-Validation",
"Bootstrap Methods"; PRNN 2 and 3; REP "Bagging"; ISML 1, kNN 3; IRHD 2.1. MLN writes f and fhat
for h* and h_D, PRNN and REP write hbar for the mean model.
"""

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from math import ceil, exp, expm1, floor, log1p
from numbers import Integral, Real
from typing import Any, NamedTuple

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

FOLDS = 5  # the default number of folds
HELD_OUT = 0.25  # the default share of samples that are held out
INSIDE = 1 - exp(-1)  # 0.632, the limit of the share of the samples in a bootstrap set
EPS = np.finfo(float).eps


# ---------------------------------------------------------------------------------------
# Bias and variance
# ---------------------------------------------------------------------------------------


def all_samples(k, n):
    """All samples of size n that can be drawn with replacement from k items: indices (k^n, n).

    >>> all_samples(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices((k,) * n).reshape(n, -1).T


class Decomposition(NamedTuple):
    """The three parts of the error at each of k points."""

    bias: np.ndarray  # (k,), hbar - h*
    variance: np.ndarray  # (k,), E (h_D - hbar)^2
    noise: np.ndarray  # (k,), or one number for all points: E (y - h*)^2

    @property
    def error(self):
        """E (y - h_D)^2 = bias^2 + variance + noise: (k,)."""
        return self.bias**2 + self.variance + self.noise


def decomposition(H, h_star, noise, p=None):
    """The `Decomposition` for R models that occur with probabilities p (R,), 1/R by default:

        hbar(x) = sum_r p_r h_r(x)
        bias = hbar - h*,  variance = sum_r p_r (h_r - hbar)^2,  noise = E (y - h*)^2

    `noise` is a number, or (k,). The result is exact if the models are those of all training sets.

    >>> decomposition(np.array([[1.0], [3.0]]), h_star=np.array([5.0]), noise=0.5)
    Decomposition(bias=array([-3.]), variance=array([1.]), noise=0.5)

    Errata: model_selection-03, model_selection-04 (PRNN averages bias and deviation before it
    squares them), model_selection-05 (PRNN's noise has a model h for the label y),
    model_selection-06 (REP calls bias^2 "Bias", and writes the random label as a function y(x)).
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
    """Unbiased estimates of bias^2 and variance from R independent training sets:

        bias^2 = (mean - h*)^2 - variance / R,   variance = 1/(R - 1) sum_r (h_r - mean)^2

    Returns: a `Simulated`; the standard errors are jackknife estimates, each leaving out a set.
    Raises: ValueError for fewer than 3 sets.

    >>> simulated_decomposition(np.array([[0.0], [2.0], [4.0]]), h_star=np.zeros(1)).variance.value
    4.0
    """
    if len(H) < 3:
        raise ValueError(f"a jackknife needs at least 3 training sets; got {len(H)}")
    D = np.asarray(H) - h_star
    bias = D.mean(axis=0)
    E = D - bias
    total, squares = E.sum(axis=0), (E**2).sum(axis=0)
    full = _bias_and_variance(bias, total, squares, len(E))
    without = _bias_and_variance(bias, total - E, squares - E**2, len(E) - 1)
    found = [_jackknife(value, others) for value, others in zip(full, without, strict=True)]
    return Simulated(*found, estimate((D**2).mean(axis=1)))


def _bias_and_variance(bias, total, squares, R):
    """Bias^2 and variance, from the sums of R deviations from `bias` and of their squares."""
    variance = (squares - total**2 / R) / (R - 1)
    squared_bias = (bias + total / R) ** 2 - variance / R
    return squared_bias.mean(axis=-1), variance.mean(axis=-1)


def _jackknife(value, without):
    """The value, with the standard error from its values `without` one of the draws."""
    R = len(without)
    return Estimate(float(value), float(np.sqrt((R - 1) * np.var(without))))


def linear_decomposition(S, f, sigma, h_star=None):
    """The `Decomposition` for predictions S y: bias S f - h*, variance sigma^2 diag(S S^T).

    Without h_star the points are the samples themselves, and h* = f.

    >>> linear_decomposition(np.array([[0.5]]), f=np.array([6.0]), sigma=2.0)
    Decomposition(bias=array([-3.]), variance=array([1.]), noise=4.0)
    """
    h_star = f if h_star is None else h_star
    return Decomposition(S @ f - h_star, sigma**2 * np.sum(S**2, axis=1), sigma**2)


def smoother_matrix(A, B=None, lam=0.0):
    """S = B (A^T A + lam I)^{-1} A^T: ridge regression predicts S y at the rows of B (k, m).

    If B is not given, it is A, and S is the hat matrix. lam = 0 is least squares of minimum norm.
    Raises: ValueError if lam is not a number >= 0.

    >>> smoother_matrix(np.array([[2.0]]), lam=4.0)
    array([[0.5]])
    """
    check_number("lam", lam, at_least=0)
    U, s, Vt = _compact_svd(A)
    return ((A if B is None else B) @ Vt.T / (s + lam / s)) @ U.T


def _compact_svd(A):
    """The singular value decomposition without the directions of singular value 0."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > max(A.shape) * EPS * s.max()
    return U[:, kept], s[kept], Vt[kept]


def optimism(S, sigma):
    """2 sigma^2 tr(S) / n: the expected error at new y for the same x, minus the training error.

    For least squares with p weights it is 2 sigma^2 p / n. S is (n, n), at the samples.

    >>> optimism(np.eye(3), sigma=1.0)
    2.0
    """
    return float(2 * sigma**2 * np.trace(S) / len(S))


# ---------------------------------------------------------------------------------------
# Regularisation
# ---------------------------------------------------------------------------------------


class Regularised(NamedTuple):
    """The minimum of the regularised empirical risk."""

    theta: np.ndarray  # (m,)
    risk: float  # ||y - A theta||^2, n times the empirical risk
    penalty: float  # Omega(theta)


def regularised(A, y, lam, penalised=None):
    """Minimise ||y - A theta||^2 + lam Omega(theta), Omega(theta) = sum of the penalised theta_j^2.

    `penalised` (m,) marks the penalised weights by 1, the others by 0; if it is not given, all are
    penalised. If the minimum is not unique, theta is the shortest one.

    Returns: a `Regularised`. Raises: ValueError if lam is not a number >= 0.

    >>> regularised(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), lam=1.0).theta.round(12)
    array([2.])

    Errata: model_selection-30 (PRNN speaks of "the" argmin where it is not unique).
    """
    check_number("lam", lam, at_least=0)
    q = np.ones(A.shape[1]) if penalised is None else np.asarray(penalised, dtype=float)
    rows = np.vstack([A, np.diag(np.sqrt(lam * q))])
    theta = np.linalg.lstsq(rows, np.append(y, np.zeros(len(q))), rcond=None)[0]
    return Regularised(theta, float(np.sum((y - A @ theta) ** 2)), float(q @ theta**2))


class RidgeBias(NamedTuple):
    """The in-sample bias of ridge: n times its mean square is outside + sum of shrunk."""

    outside: float  # ||(I - S) f||^2, the bias of least squares
    shrunk: np.ndarray  # the contribution of the penalty along each u_j


def ridge_bias(A, f, lam):
    """||(I - S_lam) f||^2 = ||(I - S) f||^2 + sum_j (lam / (s_j^2 + lam))^2 (u_j^T f)^2.

    S_lam is the `smoother_matrix` of ridge regression at the samples, and S that of least squares.

    Returns: a `RidgeBias`. Raises: ValueError if lam is not a number >= 0.

    >>> ridge_bias(np.array([[1.0], [0.0]]), f=np.array([4.0, 3.0]), lam=1.0)
    RidgeBias(outside=9.0, shrunk=array([4.]))

    Errata: model_selection-28 (PRNN claims for any points that regularisation raises the bias).
    """
    check_number("lam", lam, at_least=0)
    U, s, _ = _compact_svd(A)
    along = U.T @ f
    rest = f - U @ along
    return RidgeBias(float(rest @ rest), (lam / s / (s + lam / s) * along) ** 2)


# ---------------------------------------------------------------------------------------
# Hold-out
# ---------------------------------------------------------------------------------------


def clone(estimator):
    """An unfitted copy of an `estimator`: a new one with copies of its hyperparameters.

    >>> clone(StandardScaler(with_std=False).fit([[1.0], [2.0]]))
    StandardScaler(with_std=False)
    """
    params = estimator.get_params(deep=False)
    return type(estimator)(**{name: _copy(value) for name, value in params.items()})


def _copy(value):
    """A copy of a hyperparameter; estimators in it are cloned."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(map(_copy, value))
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return deepcopy(value)


def take(a, i):
    """The rows `i` (indices) of `a`, an array, a data frame or a list, as the same kind.

    >>> take(np.array([5, 6, 7]), np.array([0, 2])), take(["a", "b"], [1]), take(None, [1])
    (array([5, 7]), ['b'], None)
    """
    if a is None:
        return None
    if hasattr(a, "iloc"):
        return a.iloc[i]
    return a[i] if hasattr(a, "shape") else [a[j] for j in i]


def train_test_split(
    *arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None
):
    """Split `arrays` of one length n into a part to train on and a part to test on.

    `test_size` and `train_size` are shares of n (float) or numbers of samples (int). If only one
    is given, the other is the rest; if none is, a quarter is held out. With `stratify`, labels
    (n,), each part has the classes in the same proportions. Without `shuffle` the last samples are
    held out; with it, `random_state` makes the split reproducible.

    Returns: a list, train and test part of the first array, of the second ...
    Raises: ValueError if lengths differ, that of `stratify` too, or a part would be empty.

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
        train, test = _stratified(np.asarray(stratify), n_train, n_test, rng)
    return [take(a, part) for a in arrays for part in (train, test)]


def _part_sizes(n, train_size, test_size):
    """The numbers of samples to train and to test on."""
    neither = test_size is None and train_size is None
    n_test = _count("test_size", HELD_OUT if neither else test_size, n, ceil)
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
    """The number of samples for a given `size`; None for None."""
    if size is None or (isinstance(size, Integral) and not isinstance(size, bool) and size > 0):
        return size
    if isinstance(size, Real) and not isinstance(size, Integral) and 0 < size < 1:
        return rounded(size * n)
    raise ValueError(f"{name} must be None, a share in (0, 1) or an integer >= 1; got {size!r}")


def _stratified(labels, n_train, n_test, rng):
    """Indices of two parts with the classes in the same proportions, in random order."""
    order = rng.permutation(len(labels))
    classes, k, n_k = np.unique(labels[order], return_inverse=True, return_counts=True)
    if n_k.min() < 2 or min(n_train, n_test) < len(classes):
        raise ValueError(
            "stratify must have 2 samples of each class, and each part one for each of the "
            f"{len(n_k)} classes; got {n_k.min()} in the smallest, {n_train} to train, "
            f"{n_test} to test"
        )
    in_test = _in_proportion(n_k, n_test)
    in_train = _in_proportion(n_k - in_test, n_train)
    train, test = np.zeros((2, len(order)), dtype=bool)
    for c in range(len(classes)):
        members = np.flatnonzero(k == c)
        test[members[: in_test[c]]] = True
        train[members[in_test[c] : in_test[c] + in_train[c]]] = True
    return rng.permutation(order[train]), rng.permutation(order[test])


def _in_proportion(n_k, n):
    """n places in proportion to the class sizes n_k; the largest remainders are rounded up."""
    exact = n * n_k / n_k.sum()
    whole = np.floor(exact).astype(int)
    whole[np.argsort(whole - exact, kind="stable")[: n - whole.sum()]] += 1
    return whole


class Selection(NamedTuple):
    """The estimated errors of several models, and the model with the smallest."""

    errors: np.ndarray  # (number of models,)
    best: int  # the first model of smallest error; errors that are NaN are ignored


def hold_out(models, X, y, train, valid, loss):
    """Train each of the `models` on the samples `train`; its error is the mean loss on `valid`.

    The error of the best model is too small on average. Estimate its risk on a third part.

    Returns: a `Selection`.
    Raises: ValueError if a sample is in both parts, a part is empty, or all errors are NaN.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X = np.array([[-1.0], [1.0], [3.0]])
    >>> hold_out([Ridge(2.0), Ridge(0.0)], X, X[:, 0], [0, 1], [2], squared).best
    1

    Errata: model_selection-13 (ISML chooses k by the test error).
    """
    _check_parts(train, valid)
    errors = []
    for model in models:
        fitted = clone(model).fit(take(X, train), take(y, train))
        predictions = fitted.predict(take(X, valid))
        errors.append(np.mean(loss(predictions, take(y, valid))))
    return Selection(np.array(errors), int(np.nanargmin(errors)))


def _check_parts(train, valid):
    """Refuse parts that are empty or have a sample in common."""
    if len(train) == 0 or len(valid) == 0 or np.intersect1d(train, valid).size:
        raise ValueError("train and valid must be two parts without a common sample, none empty")


def win_probability(p, q, n):
    """The probability that a rule with error rate p makes fewer errors in n than one with rate q.

    It is P(X < Y) + P(X = Y) / 2 with independent X ~ Bin(n, p) and Y ~ Bin(n, q).

    >>> round(win_probability(0.0, 0.5, 2), 9)
    0.875
    """
    counts = np.arange(n + 1)
    x, y = (np.exp(binomial_log_pmf(counts, n, each)) for each in (p, q))
    return float(np.sum(x * (1 - np.cumsum(y) + y / 2)))


def expected_minimum(m, n, p=0.5):
    """1/n sum_{j >= 1} P(X >= j)^m, X ~ Bin(n, p): the mean minimum of m independent error rates.

    >>> round(expected_minimum(2, 1), 9)
    0.25
    """
    tail = 1 - np.cumsum(np.exp(binomial_log_pmf(np.arange(n + 1), n, p)))
    return float(np.sum(np.clip(tail[:-1], 0, 1) ** m) / n)


# ---------------------------------------------------------------------------------------
# Folds
# ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Folds:
    """A partition of the samples into parts; each part is tested on once."""

    n_splits: int = FOLDS
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def __post_init__(self):
        check_number("n_splits", self.n_splits, at_least=2, integer=True)
        check_random_state(self.random_state)
        if not check_flag("shuffle", self.shuffle) and self.random_state is not None:
            raise ValueError(
                f"random_state must be None without shuffle; got {self.random_state!r}"
            )

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
    """K parts whose sizes differ by at most 1; consecutive samples unless shuffled.

    Parameters
    ----------
    n_splits : int; K
    shuffle : bool; whether the samples are dealt to the parts at random
    random_state : None, int or Generator; with shuffle, makes it reproducible

    >>> [test.tolist() for train, test in KFold(3).split(np.zeros(5))]
    [[0, 1], [2, 3], [4]]
    """

    def folds(self, X, y=None):
        """rho (n,): the number of the part that each sample is in."""
        fold = np.sort(np.arange(len(X)) % self.n_splits)
        return check_random_state(self.random_state).permutation(fold) if self.shuffle else fold


class StratifiedKFold(_Folds):
    """K parts in which every class has its share, up to one sample.

    Parameters
    ----------
    n_splits : int; K, at most the size of the largest class; a smaller one is missing in some parts
    shuffle : bool; whether the samples of a class are dealt to the parts at random
    random_state : None, int or Generator; with shuffle, makes it reproducible

    >>> [test.tolist() for train, test in StratifiedKFold(2).split(np.zeros(6), list("aabaab"))]
    [[0, 1, 2], [3, 4, 5]]
    """

    def folds(self, X, y):
        """rho (n,): the number of the part that each sample is in."""
        k, n_k = _by_appearance(y)
        if len(k) != len(X):
            raise ValueError(f"X and y must have the same length; got {len(X)} and {len(k)}")
        if self.n_splits > n_k.max():
            raise ValueError(
                f"n_splits must be at most the size of the largest class, {n_k.max()}; "
                f"got {self.n_splits}"
            )
        rng = check_random_state(self.random_state)
        dealt, fold = np.arange(len(k)) % self.n_splits, np.zeros(len(k), dtype=int)
        for c, cards in enumerate(np.split(dealt, np.cumsum(n_k)[:-1])):
            fold[k == c] = rng.permutation(cards) if self.shuffle else np.sort(cards)
        return fold


def _by_appearance(y):
    """The class numbers (n,), in the order of their first samples, and the class sizes."""
    _, first, k, n_k = np.unique(y, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    return np.argsort(order)[k], n_k[order]


class LeaveOneOut:
    """n parts of one sample each: cross-validation with the largest possible number of folds.

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
    """The list of (train, test) for a value of `cv`."""
    cv = FOLDS if cv is None else cv
    if isinstance(cv, Integral):
        cv = StratifiedKFold(cv) if _is_classifier(estimator) else KFold(cv)
    return list(cv.split(X, y) if hasattr(cv, "split") else cv)


def _is_classifier(estimator):
    """Whether an estimator, of this package or of scikit-learn, is a classifier."""
    if isinstance(estimator, Estimator) or not hasattr(estimator, "__sklearn_tags__"):
        return isinstance(estimator, Classifier)
    return estimator.__sklearn_tags__().estimator_type == "classifier"


def _partition(cv, estimator, X, y):
    """The list of (train, test) for `cv`, if every sample is tested once."""
    splits = _splits(cv, estimator, X, y)
    tested = np.sort(np.concatenate([test for _, test in splits]))
    if not np.array_equal(tested, np.arange(len(X))):
        raise ValueError("cv must test every sample once: its parts must be a partition")
    return splits


# ---------------------------------------------------------------------------------------
# Cross-validation
# ---------------------------------------------------------------------------------------


def cross_val_predict(estimator, X, y, *, cv=None):
    """fhat^{-rho(i)}(x_i): each prediction comes from an `estimator` that has not seen part rho(i).

    Returns: (n,). Raises: ValueError if the parts do not hold every sample once.

    >>> from mlnotes.linear_regression import LinearRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 4.0])
    >>> cross_val_predict(LinearRegression(), X, y, cv=3).round(9)
    array([0., 2., 4.])
    """
    parts, tested = [], []
    for train, test in _partition(cv, estimator, X, y):
        fitted = clone(estimator).fit(take(X, train), take(y, train))
        parts.append(fitted.predict(take(X, test)))
        tested.append(test)
    return np.concatenate(parts)[np.argsort(np.concatenate(tested))]


class CrossValidation(NamedTuple):
    """The result of cross-validation."""

    error: float  # e_cv
    fold_errors: np.ndarray  # (K,), the mean loss in each part
    fold_sizes: np.ndarray  # (K,)


def cross_validation_error(estimator, X, y, loss, *, cv=None):
    """e_cv = 1/n sum_i L(fhat^{-rho(i)}(x_i), y_i) = sum_k (n_k / n) err_k of an `estimator`.

    Each part is predicted by a model that is trained on all other parts.

    Returns: a `CrossValidation`. Raises: ValueError if the parts do not hold every sample once.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.zeros((3, 1)), np.array([5.0, 5.0, 8.0])
    >>> cross_validation_error(Ridge(), X, y, squared, cv=[([0, 2], [1]), ([1], [0, 2])]).error
    3.75

    Errata: model_selection-17 (MLN averages the errors of the parts also if their sizes differ).
    """
    splits = _partition(cv, estimator, X, y)  # K pairs (rest, part) of indices
    losses = np.zeros(len(X))
    for rest, part in splits:
        fitted = clone(estimator).fit(take(X, rest), take(y, rest))
        predictions = fitted.predict(take(X, part))
        losses[part] = loss(predictions, np.asarray(take(y, part)))
    fold_errors = np.array([np.mean(losses[part]) for _, part in splits])
    fold_sizes = np.array([len(part) for _, part in splits])
    return CrossValidation(float(np.mean(losses)), fold_errors, fold_sizes)


def select_by_cross_validation(models, X, y, loss, *, cv=None):
    """The cross-validation error e_cv of each of the `models`, and the model with the lowest.

    Returns: a `Selection`. Raises: ValueError if all errors are NaN.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X = np.arange(6.0)[:, None]
    >>> select_by_cross_validation([Ridge(9.0), Ridge(0.0)], X, X[:, 0], squared, cv=3).best
    1
    """
    errors = [cross_validation_error(model, X, y, loss, cv=cv).error for model in models]
    return Selection(np.array(errors), int(np.nanargmin(errors)))


def leave_one_out_shortcut(S, y):
    """1/n sum_i (r_i / (1 - S_ii))^2, r = y - S y: the leave-one-out error without refitting.

    It holds for the squared loss, for least squares and for ridge regression whose lam stays the
    same when a sample is left out. S (n, n) is their `smoother_matrix`.

    Raises: ValueError if some S_ii is 1: the sample cannot be predicted from the others.

    >>> leave_one_out_shortcut(np.full((2, 2), 0.5), np.array([0.0, 2.0]))
    4.0
    """
    _check_leverage(S)
    residuals = y - S @ y
    return float(np.mean((residuals / (1 - np.diag(S))) ** 2))


def _check_leverage(S):
    """Refuse a smoother that reproduces the label of some sample, whatever it is."""
    if np.any(1 - np.diag(S) <= len(S) * EPS):
        raise ValueError("S_ii must be < 1; a sample has leverage 1, alone in fixing some weight")


def cross_val_score(estimator, X, y=None, *, scoring=None, cv=None):
    """The scores of an `estimator` on each part, when it is fitted to the other parts.

    `scoring` is a function (estimator, X, y) -> number, or None for the estimator's own ``score``.

    Returns: (K,). Raises: ValueError if `scoring` is neither.

    >>> from mlnotes.linear_regression import LinearRegression
    >>> X = np.arange(6.0)[:, None]
    >>> cross_val_score(LinearRegression(), X, X[:, 0], cv=3).round(9)
    array([1., 1., 1.])
    """
    score = _scorer(scoring)
    splits = _splits(cv, estimator, X, y)
    return np.array([_scores(estimator, X, y, score, train, [test])[0] for train, test in splits])


def _scorer(scoring):
    """The function (estimator, X, y) -> number for a value of `scoring`."""
    if scoring is None:
        return lambda model, *data: model.score(*data)
    if not callable(scoring):
        raise ValueError(
            f"scoring must be None or a function (estimator, X, y) -> number; got {scoring!r}"
        )
    return scoring


def _scores(estimator, X, y, score, train, parts):
    """The scores on several parts of an estimator that is fitted to the samples `train`."""
    data = (X,) if y is None else (X, y)
    fitted = clone(estimator).fit(*(take(a, train) for a in data))
    return [float(score(fitted, *(take(a, part) for a in data))) for part in parts]


def validation_curve(estimator, X, y, *, param_name, param_range, cv=None, scoring=None):
    """Training and validation scores of an `estimator`, for several values of a hyperparameter.

    `param_name` is its name, `param_range` its p values, and `scoring` as in `cross_val_score`.

    Returns: the scores on the samples trained on, and on those held out, each (p, K).
    Raises: ValueError if `scoring` is neither None nor a function.

    >>> from mlnotes.linear_regression import Ridge
    >>> X, how = np.arange(6.0)[:, None], {"param_name": "alpha", "param_range": [0.0, 2.0]}
    >>> validation_curve(Ridge(), X, X[:, 0], **how, cv=2)[0][:, 0].round(6)
    array([1.  , 0.75])
    """
    splits, score = _splits(cv, estimator, X, y), _scorer(scoring)
    both = []
    for value in param_range:
        model = clone(estimator).set_params(**{param_name: value})
        both.append([_scores(model, X, y, score, train, (train, test)) for train, test in splits])
    both = np.array(both)
    return both[:, :, 0], both[:, :, 1]


# ---------------------------------------------------------------------------------------
# Bootstrap
# ---------------------------------------------------------------------------------------


def bootstrap_indices(n, B, *, rng):
    """B training sets of size n, as indices (B, n), each drawn with replacement from n samples.

    >>> bootstrap_indices(3, 2, rng=np.random.default_rng(0)).shape
    (2, 3)
    """
    return rng.integers(n, size=(B, n))


def inclusion_probability(n):
    """P(x_i is in a bootstrap set) = 1 - (1 - 1/n)^n -> 1 - 1/e = 0.632, as n -> infinity.

    >>> round(inclusion_probability(2), 12)
    0.75
    """
    return -expm1(n * log1p(-1 / n)) if n > 1 else 1.0


def absent(sets):
    """Whether sample i is not in set b, so that b belongs to C^{-i}: (B, n).

    >>> absent(np.array([[0, 0], [1, 0]])).tolist()
    [[False, True], [False, False]]
    """
    missing = np.ones(sets.shape, dtype=bool)
    for b, drawn in enumerate(sets):
        missing[b, drawn] = False
    return missing


def bootstrap_losses(estimator, X, y, sets, loss):
    """L: the losses, at all samples, of an `estimator` fitted to each bootstrap set.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.neighbors import KNeighborsRegressor
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0.0, 3.0])
    >>> bootstrap_losses(KNeighborsRegressor(1), X, y, np.array([[0, 0]]), squared)
    array([[0., 9.]])
    """
    L = []
    for drawn in sets:
        fitted = clone(estimator).fit(take(X, drawn), take(y, drawn))
        L.append(loss(fitted.predict(X), np.asarray(y)))
    return np.array(L)


def bootstrap_error(L):
    """e1 = 1/B sum_b 1/n sum_i L(fhat_b(x_i), y_i), the naive estimate.

    It is too small, because fhat_b was trained on most of the x_i.

    >>> bootstrap_error(np.array([[0.0, 9.0], [0.0, 0.0]]))
    2.25

    Errata: model_selection-24 (MLN prints 1/2 times 0.632 for `nearest_neighbor_bootstrap`).
    """
    return float(np.mean(L))


def leave_one_out_bootstrap(L, sets):
    """e = 1/n sum_i 1/|C^{-i}| sum_{b in C^{-i}} L(fhat_b(x_i), y_i).

    C^{-i} holds the sets without x_i. A sample whose C^{-i} is empty is skipped.
    Raises: ValueError if C^{-i} is empty for all samples.

    >>> leave_one_out_bootstrap(np.array([[0.0, 9.0], [0.0, 0.0]]), np.array([[0, 0], [0, 1]]))
    9.0
    """
    outside = absent(sets)
    _check_some_outside(outside)
    means = []
    for i in range(L.shape[1]):
        if outside[:, i].any():
            means.append(np.mean(L[outside[:, i], i]))
    return float(np.mean(means))


def _check_some_outside(outside):
    """Refuse bootstrap sets that leave no sample for any model to be judged by."""
    if not outside.any():
        raise ValueError("every sample is in every bootstrap set: draw more of them")


def point632(training_error, outside):
    """0.632 e + 0.368 e_train, with e = `outside`, the `leave_one_out_bootstrap`.

    `outside` tends to be too large, and `training_error` too small. The weight is 1 - exp(-1).

    >>> round(point632(training_error=0.0, outside=0.5), 3)
    0.316
    """
    return INSIDE * outside + (1 - INSIDE) * training_error


def nearest_neighbor_bootstrap(n):
    """E e1 = 1/2 (1 - 1/n)^n for 1-NN, on n distinct x with labels that are fair coins.

    >>> round(nearest_neighbor_bootstrap(2), 12)
    0.125
    """
    return (1 - inclusion_probability(n)) / 2


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class StandardScaler(Transformer):
    """z = (x - mean) / standard deviation, feature by feature, with those of the training samples.

    Fit it to the training set only: the test set must stay unseen. A constant feature is divided by
    1. The input is never changed, so that scikit-learn's `copy` is absent.

    Parameters
    ----------
    with_mean : bool; whether to subtract the mean
    with_std : bool; whether to divide by the standard deviation

    Attributes
    ----------
    mean_ : ndarray of shape (d,), or None
    var_ : ndarray of shape (d,), or None; the mean of (x - mean)^2, not the sum over n - 1
    scale_ : ndarray of shape (d,), or None; the divisors of the features
    n_samples_seen_ : int, or the sum of the weights
    n_features_in_ : int

    >>> StandardScaler().fit_transform([[1.0], [3.0]]).T
    array([[-1.,  1.]])
    """

    with_mean: bool = True
    with_std: bool = True

    def fit(self, X, y=None, sample_weight=None):
        """Compute mean and variance of samples X (n, d) with weights (n,); y is not used."""
        with_mean, with_std = (
            check_flag(name, getattr(self, name)) for name in ("with_mean", "with_std")
        )
        samples = check_samples(X)
        weights = check_weights(sample_weight, len(samples))
        n = weights.sum()
        mean = weights @ samples / n
        variance = weights @ (samples - mean) ** 2 / n
        size = np.abs(samples[weights > 0]).max(axis=0)
        constant = np.sqrt(variance) <= len(samples) * EPS * size  # all that is left is rounding
        self.mean_ = mean if with_mean or with_std else None
        self.var_ = np.where(constant, 0.0, variance) if with_std else None
        self.scale_ = np.where(constant, 1.0, np.sqrt(variance)) if with_std else None
        self.n_samples_seen_ = len(samples) if sample_weight is None else float(n)
        return self._remember(X)

    def transform(self, X):
        """The scaled samples: (n, d)."""
        X = self._check_fitted(X)
        Z = X - self.mean_ if self.with_mean else X.copy()
        return Z / self.scale_ if self.with_std else Z

    def inverse_transform(self, X):
        """The samples that `transform` maps to these: (n, d)."""
        Z = self._check_fitted(X)
        X = Z * self.scale_ if self.with_std else Z.copy()
        return X + self.mean_ if self.with_mean else X
