r"""Model selection: how well will a model do, and which model should be taken?

A model that is too simple misses the truth on average (bias). A model that is too rich follows
the noise of its sample (variance). The error is estimated on data that the model has not seen.

Contents
    Bias and variance      all_samples, decomposition, Decomposition, linear_decomposition,
                           smoother_matrix, optimism
    Regularisation         regularised_least_squares, Regularised, ridge_bias, RidgeBias
    Hold-out               hold_out, Selection, win_probability, expected_minimum
    Cross-validation       cross_validation_error, CrossValidation, select_by_cross_validation,
                           leave_one_out_shortcut
    Bootstrap              bootstrap_indices, inclusion_probability, absent, bootstrap_losses,
                           bootstrap_error, leave_one_out_bootstrap, point632,
                           nearest_neighbor_bootstrap
    Tools                  clone, take, train_test_split, KFold, StratifiedKFold, LeaveOneOut,
                           cross_val_score, validation_curve
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
    model   object      an estimator: ``fit``, ``predict`` and ``get_params``
    loss    function    (predictions, y) -> losses, as `decision_theory.squared` and `zero_one`
    rho     (n,)        the number of the part that each sample is in: 0, 1, ..., K - 1
    sets    (B, n)      indices of the samples in each of B bootstrap sets
    L       (B, n)      loss of model b at sample i
    rng     Generator   source of random numbers

Notes: MLN "Bias-Variance Trade-off", "Hold out Validation Set", "K-fold Cross-Validation",
"Bootstrap Methods"; PRNN 2 and 3; REP "Bagging"; ISML 1, kNN 3; IRHD 2.1. MLN writes f and fhat
for h* and h_D, PRNN and REP write hbar for the mean model.
"""

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from math import ceil, exp
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Classifier,
    Estimator,
    Transformer,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    floats,
)
from mlnotes.linear_regression import compact_svd, minimum_norm
from mlnotes.probability import binomial_log_pmf

ROUND_OFF = 4 * np.finfo(float).eps  # a constant feature may vary by so much, relative to itself

# =======================================================================================
# The lecture
# =======================================================================================

# --- Bias and variance -----------------------------------------------------------------


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


def decomposition(H, h_star, noise):
    """The `Decomposition` of the error of R equally probable models, whose mean is hbar:

        bias = hbar - h*,  variance = 1/R sum_r (h_r - hbar)^2,  noise = E (y - h*)^2

    `noise` is a number, or (k,). The result is exact if the models are those of all training sets.

    >>> decomposition(np.array([[1.0], [3.0]]), h_star=np.array([5.0]), noise=0.5)
    Decomposition(bias=array([-3.]), variance=array([1.]), noise=0.5)

    Errata: model_selection-03, model_selection-04 (PRNN averages bias and deviation before it
    squares them), model_selection-05 (PRNN's noise has a model h for the label y),
    model_selection-06 (REP calls bias^2 "Bias", and writes the random label as a function y(x)).
    """
    mean = H.mean(axis=0)
    return Decomposition(mean - h_star, np.mean((H - mean) ** 2, axis=0), noise)


def linear_decomposition(S, f, sigma):
    """The `Decomposition` of predictions S y at the samples: S f - f, sigma^2 diag(S S^T), sigma^2.

    >>> linear_decomposition(np.array([[0.5]]), f=np.array([6.0]), sigma=2.0)
    Decomposition(bias=array([-3.]), variance=array([1.]), noise=4.0)
    """
    S, f = floats(S, f)
    return Decomposition(S @ f - f, sigma**2 * np.sum(S**2, axis=1), sigma**2)


def smoother_matrix(A, B=None, lam=0.0):
    """S = B (A^T A + lam I)^{-1} A^T (k, n): ridge regression predicts S y at the rows of B (k, m).

    Without B it is A, and S is the hat matrix. lam = 0 is least squares of minimum norm.

    >>> smoother_matrix(np.array([[2.0]]), lam=4.0)
    array([[0.5]])
    """
    U, s, V = compact_svd(floats(A))
    return (A if B is None else B) @ V * (s / (s**2 + lam)) @ U.T


def optimism(S, sigma):
    """2 sigma^2 tr(S) / n: the expected error at new y for the same x, minus the training error.

    For least squares with m weights it is 2 sigma^2 m / n. S is (n, n), at the samples.

    >>> optimism(np.eye(3), sigma=1.0)
    2.0
    """
    return float(2 * sigma**2 * np.trace(S) / len(S))


# --- Regularisation --------------------------------------------------------------------


class Regularised(NamedTuple):
    """The minimum of the regularised empirical risk."""

    theta: np.ndarray  # (m,)
    risk: float  # ||y - A theta||^2, n times the empirical risk
    penalty: float  # Omega(theta)


def regularised_least_squares(A, y, lam, q=1.0):
    """The minimum of ||y - A theta||^2 + lam Omega(theta), Omega(theta) = sum_j q_j theta_j^2.

    q (m,) is 0 for a weight without penalty, such as the intercept. Each square of the penalty is
    that of a row sqrt(lam q_j) e_j with the label 0. If the minimum is not unique, theta is the one
    of least norm. Returns: a `Regularised`.

    >>> regularised_least_squares(np.ones((2, 1)), np.array([2.0, 4.0]), lam=1.0).theta.round(12)
    array([2.])

    Errata: model_selection-30 (PRNN speaks of "the" argmin where it is not unique).
    """
    y, q = np.ravel(y), np.broadcast_to(q, A.shape[1])
    rows = np.vstack([A, np.diag(np.sqrt(lam * q))])
    theta = minimum_norm(rows, np.append(y, np.zeros(len(q))))
    return Regularised(theta, float(np.sum((y - A @ theta) ** 2)), float(q @ theta**2))


class RidgeBias(NamedTuple):
    """The in-sample bias of ridge: n times its mean square is outside + sum of shrunk."""

    outside: float  # ||(I - S) f||^2, the bias of least squares
    shrunk: np.ndarray  # the contribution of the penalty along each u_j


def ridge_bias(A, f, lam):
    """||(I - S_lam) f||^2 = ||(I - S) f||^2 + sum_j (lam / (s_j^2 + lam))^2 (u_j^T f)^2.

    S_lam is the `smoother_matrix` of ridge regression at the samples, and S that of least squares.
    Returns: the first term and the terms of the sum, a `RidgeBias`.

    >>> ridge_bias(np.array([[1.0], [0.0]]), f=np.array([4.0, 3.0]), lam=1.0)
    RidgeBias(outside=9.0, shrunk=array([4.]))

    Errata: model_selection-28 (PRNN claims for any points that regularisation raises the bias).
    """
    A, f = floats(A, f)
    U, s, _ = compact_svd(A)
    along = U.T @ f
    rest = f - U @ along
    return RidgeBias(float(rest @ rest), (lam / (s**2 + lam) * along) ** 2)


# --- Hold-out --------------------------------------------------------------------------


class Selection(NamedTuple):
    """The estimated errors of several models, and the model with the smallest."""

    errors: np.ndarray  # (number of models,)
    best: int  # the first model of smallest error; errors that are NaN are ignored


def hold_out(models, X, y, train, valid, loss):
    """The mean loss on the samples `valid` of each model, fitted to the samples `train`.

    The parts, as indices, have no sample in common. The error of the best model is too small on
    average: estimate its risk on a third part. Returns: a `Selection`.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X = np.array([[-1.0], [1.0], [3.0]])
    >>> hold_out([Ridge(2.0), Ridge(0.0)], X, X[:, 0], [0, 1], [2], squared).best
    1

    Errata: model_selection-13 (ISML chooses k by the test error).
    """
    y, errors = np.ravel(y), []
    for model in models:
        fitted = clone(model).fit(X[train], y[train])
        errors.append(np.mean(loss(fitted.predict(X[valid]), y[valid])))
    return Selection(np.array(errors), int(np.nanargmin(errors)))


def win_probability(p, q, n):
    """The probability that a rule with error rate p makes fewer errors in n than one with rate q.

    It is P(X < Y) + P(X = Y) / 2 with independent X ~ Bin(n, p) and Y ~ Bin(n, q).

    >>> round(win_probability(0.0, 0.5, 2), 9)
    0.875
    """
    counts = np.arange(n + 1)
    x, y = (np.exp(binomial_log_pmf(counts, n, rate)) for rate in (p, q))
    return float(np.sum(x * (1 - np.cumsum(y) + y / 2)))


def expected_minimum(m, n, p=0.5):
    """1/n sum_{j >= 1} P(X >= j)^m, X ~ Bin(n, p): the mean minimum of m independent error rates.

    >>> round(expected_minimum(2, 1), 9)
    0.25
    """
    pmf = np.exp(binomial_log_pmf(np.arange(n + 1), n, p))
    at_least = np.cumsum(pmf[::-1])[::-1]  # P(X >= j), j = 0, ..., n
    return float(np.sum(at_least[1:] ** m) / n)


# --- Cross-validation ------------------------------------------------------------------


class CrossValidation(NamedTuple):
    """The result of cross-validation."""

    error: float  # e_cv
    fold_errors: np.ndarray  # (K,), the mean loss in each part
    fold_sizes: np.ndarray  # (K,)


def cross_validation_error(model, X, y, loss, rho):
    """e_cv = 1/n sum_i L(fhat^{-rho(i)}(x_i), y_i) = sum_k (n_k / n) err_k.

    fhat^{-k} is the model fitted to all parts but the k-th. The splitters give rho by ``folds``;
    np.arange(n) leaves one out. Returns: a `CrossValidation`.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, y = np.zeros((3, 1)), np.array([5.0, 5.0, 8.0])
    >>> cross_validation_error(Ridge(), X, y, squared, rho=np.array([1, 0, 1])).error
    3.75

    Errata: model_selection-17 (MLN averages the errors of the parts also if their sizes differ).
    """
    y, losses = np.ravel(y), np.zeros(len(X))
    parts, sizes = np.unique(rho, return_counts=True)
    for k in parts:
        part, rest = rho == k, rho != k
        fitted = clone(model).fit(X[rest], y[rest])
        losses[part] = loss(fitted.predict(X[part]), y[part])
    fold_errors = np.array([np.mean(losses[rho == k]) for k in parts])
    return CrossValidation(float(np.mean(losses)), fold_errors, sizes)


def select_by_cross_validation(models, X, y, loss, rho):
    """The cross-validation error of each of the models, and the model with the lowest.

    Returns: a `Selection`.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.linear_regression import Ridge
    >>> X, rho = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    >>> select_by_cross_validation([Ridge(9.0), Ridge(0.0)], X, X[:, 0], squared, rho).best
    1
    """
    errors = [cross_validation_error(model, X, y, loss, rho).error for model in models]
    return Selection(np.array(errors), int(np.nanargmin(errors)))


def leave_one_out_shortcut(S, y):
    """1/n sum_i (r_i / (1 - S_ii))^2, r = y - S y: the leave-one-out error without refitting.

    It holds for the squared loss, for least squares and for ridge regression whose lam stays the
    same when a sample is left out. S (n, n) is their `smoother_matrix`. It is NaN if an S_ii is 1:
    then the other samples do not determine the prediction for sample i.

    >>> leave_one_out_shortcut(np.full((2, 2), 0.5), np.array([0.0, 2.0]))
    4.0
    """
    y, leverage = np.ravel(y), np.where(np.diag(S) < 1 - ROUNDING, np.diag(S), np.nan)
    return float(np.mean(((y - S @ y) / (1 - leverage)) ** 2))


# --- Bootstrap -------------------------------------------------------------------------


def bootstrap_indices(n, B, *, rng):
    """B training sets of size n, as indices (B, n), each drawn with replacement from n samples.

    >>> bootstrap_indices(3, 2, rng=np.random.default_rng(0)).shape
    (2, 3)
    """
    return rng.integers(n, size=(B, n))


def inclusion_probability(n):
    """P(x_i is in a bootstrap set) = 1 - (1 - 1/n)^n -> 1 - 1/e = 0.632, as n -> infinity.

    >>> inclusion_probability(2)
    0.75
    """
    return 1 - (1 - 1 / n) ** n


def absent(sets):
    """Whether sample i is not in set b, so that b belongs to C^{-i}: (B, n).

    >>> absent(np.array([[0, 0], [1, 0]])).tolist()
    [[False, True], [False, False]]
    """
    missing = np.ones(sets.shape, dtype=bool)
    np.put_along_axis(missing, sets, False, axis=1)
    return missing


def bootstrap_losses(model, X, y, sets, loss):
    """L (B, n): the losses, at all samples, of the model fitted to each bootstrap set.

    >>> from mlnotes.decision_theory import squared
    >>> from mlnotes.neighbors import KNeighborsRegressor
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0.0, 3.0])
    >>> bootstrap_losses(KNeighborsRegressor(1), X, y, np.array([[0, 0]]), squared)
    array([[0., 9.]])
    """
    y = np.ravel(y)
    fits = (clone(model).fit(X[drawn], y[drawn]) for drawn in sets)
    return np.array([loss(fitted.predict(X), y) for fitted in fits])


def bootstrap_error(L):
    """e1 = 1/B sum_b 1/n sum_i L(fhat_b(x_i), y_i), the naive estimate.

    It hides overfitting, because fhat_b was trained on most of the x_i.

    >>> bootstrap_error(np.array([[0.0, 9.0], [0.0, 0.0]]))
    2.25

    Errata: model_selection-24 (MLN prints 1/2 times 0.632 for `nearest_neighbor_bootstrap`).
    """
    return float(np.mean(L))


def leave_one_out_bootstrap(L, sets):
    """e = 1/n sum_i 1/|C^{-i}| sum_{b in C^{-i}} L(fhat_b(x_i), y_i).

    C^{-i} holds the sets without x_i. A sample whose C^{-i} is empty is skipped, and n is the
    number of the others.

    >>> leave_one_out_bootstrap(np.array([[0.0, 9.0], [0.0, 0.0]]), np.array([[0, 0], [0, 1]]))
    9.0
    """
    outside = absent(sets)
    means = [np.mean(L[outside[:, i], i]) for i in np.flatnonzero(outside.any(axis=0))]
    return float(sum(means) / len(means))


def point632(training_error, outside):
    """0.632 e + 0.368 e_train, with e = `outside`, the `leave_one_out_bootstrap`.

    `outside` tends to be too large, and `training_error` too small. The weight is 1 - exp(-1).

    >>> round(point632(training_error=0.0, outside=0.5), 3)
    0.316
    """
    return (1 - exp(-1)) * outside + exp(-1) * training_error


def nearest_neighbor_bootstrap(n):
    """E e1 = 1/2 (1 - 1/n)^n for 1-NN, on n distinct x with labels that are fair coins.

    >>> nearest_neighbor_bootstrap(2)
    0.125
    """
    return (1 - 1 / n) ** n / 2


# =======================================================================================
# The estimators
# =======================================================================================

# --- Copies and rows -------------------------------------------------------------------


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

    >>> take(np.array([5, 6, 7]), np.array([0, 2])), take(["a", "b"], [1])
    (array([5, 7]), ['b'])
    """
    if hasattr(a, "iloc"):
        return a.iloc[i]
    return a[i] if hasattr(a, "shape") else [a[j] for j in i]


# --- Parts -----------------------------------------------------------------------------


def train_test_split(*arrays, test_size=0.25, random_state=None, stratify=None):
    """A list: the part to train on and the part to test on of the first array, of the second ...

    The `arrays` have one length n. `test_size` is a share of n (float) or a number of samples
    (int). The split is random; `random_state` makes it reproducible. With `stratify`, labels (n,),
    each part has the classes in the same proportions.

    Raises: ValueError if lengths differ, that of `stratify` too, or a part would be empty.

    >>> train_test_split(np.arange(5), test_size=2, random_state=0)
    [array([3, 0, 1]), array([2, 4])]
    """
    lengths = {len(a) for a in (*arrays, *([] if stratify is None else [stratify]))}
    if len(lengths) != 1:
        raise ValueError(f"arrays and stratify must have one length; got {sorted(lengths)}")
    n, rng = lengths.pop(), check_random_state(random_state)
    n_test = _test_size(test_size, n)
    if stratify is None:
        test, train = np.split(rng.permutation(n), [n_test])
    else:
        train, test = _stratified(np.ravel(stratify), n_test, rng)
    return [take(a, part) for a in arrays for part in (train, test)]


def _test_size(size, n):
    """The number of samples to test on, of n."""
    share = isinstance(size, Real) and 0 < size < 1
    if not share and (not isinstance(size, Integral) or isinstance(size, bool) or size < 1):
        raise ValueError(f"test_size must be a share in (0, 1) or an integer >= 1; got {size}")
    n_test = ceil(size * n) if share else size
    if n_test >= n:
        raise ValueError(f"both parts must hold a sample; got {n_test} of {n} to test")
    return n_test


def _stratified(labels, n_test, rng):
    """Indices of two parts with the classes in the same proportions, in random order.

    The largest remainders are rounded up.
    """
    n, order = len(labels), rng.permutation(len(labels))
    _, k, n_k = np.unique(labels[order], return_inverse=True, return_counts=True)
    if n_k.min() < 2 or min(n - n_test, n_test) < len(n_k):
        raise ValueError(
            "stratify must have 2 samples of each class, and each part one for each of the "
            f"{len(n_k)} classes; got {n_k.min()} in the smallest, {n - n_test} to train, "
            f"{n_test} to test"
        )
    exact = n_test * n_k / n
    places = np.floor(exact).astype(int)  # to test on, of each class
    places[np.argsort(places - exact, kind="stable")[: n_test - places.sum()]] += 1
    rank = np.empty(len(k), dtype=int)  # the place of each sample among those of its class
    for c, size in enumerate(n_k):
        rank[k == c] = np.arange(size)
    test = rank < places[k]
    return rng.permutation(order[~test]), rng.permutation(order[test])


@dataclass(eq=False)
class _Folds:
    """A partition of the samples into parts; each part is tested on once."""

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def __post_init__(self):
        check_number("n_splits", self.n_splits, at_least=2, integer=True)
        check_random_state(self.random_state)
        if not check_flag("shuffle", self.shuffle) and self.random_state is not None:
            raise ValueError(f"random_state must be None without shuffle; got {self.random_state}")

    def get_n_splits(self, X=None, y=None, groups=None):
        """The number of folds."""
        return self.n_splits

    def split(self, X, y=None, groups=None):
        """Yield the indices to train on and those to test on, for each fold; groups is not used."""
        rho = self.folds(X, y)
        for k in range(self.n_splits):
            yield np.flatnonzero(rho != k), np.flatnonzero(rho == k)

    def _check_size(self, n, what="number of samples"):
        """Refuse more parts than the n samples can fill."""
        if self.n_splits > n:
            raise ValueError(f"n_splits must be at most the {what}, {n}; got {self.n_splits}")


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
        self._check_size(len(X))
        rho = np.sort(np.arange(len(X)) % self.n_splits)
        return check_random_state(self.random_state).permutation(rho) if self.shuffle else rho


class StratifiedKFold(_Folds):
    """K parts in which every class has its share, up to one sample.

    The samples are dealt to the parts in turn, class by class as the classes first appear.

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
        if len(X) != len(y):
            raise ValueError(f"X and y must have the same length; got {len(X)} and {len(y)}")
        classes, first, k, n_k = np.unique(
            np.ravel(y), return_index=True, return_inverse=True, return_counts=True
        )
        self._check_size(n_k.max(), "size of the largest class")
        if len(classes) == 2 and n_k.min() == 1:
            raise ValueError(
                f"class {classes.tolist()[n_k.argmin()]!r} has 1 sample, fewer than the "
                f"{self.n_splits} folds: without it there is one class to train on"
            )
        order, rng = np.argsort(first), check_random_state(self.random_state)
        dealt, rho = np.arange(len(k)) % self.n_splits, np.zeros(len(k), dtype=int)
        for c, cards in zip(order, np.split(dealt, np.cumsum(n_k[order])[:-1]), strict=True):
            rho[k == c] = rng.permutation(cards) if self.shuffle else np.sort(cards)
        return rho


@dataclass(eq=False)
class LeaveOneOut:
    """n parts of one sample each: cross-validation with the largest possible number of folds.

    >>> [test.tolist() for train, test in LeaveOneOut().split(np.zeros(3))]
    [[0], [1], [2]]
    """

    def get_n_splits(self, X, y=None, groups=None):
        """The number of samples."""
        return len(X)

    def split(self, X, y=None, groups=None):
        """Yield the indices to train on and the one to test on; y and groups are not used."""
        yield from KFold(len(X)).split(X)


def _splits(cv, estimator, X, y):
    """The list of (train, test) for a value of `cv`."""
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        cv = StratifiedKFold(cv) if _is_classifier(estimator) else KFold(cv)
    return list(cv.split(X, y) if hasattr(cv, "split") else cv)


def _is_classifier(estimator):
    """Whether an estimator, of this package or of scikit-learn, is a classifier."""
    if isinstance(estimator, Estimator) or not hasattr(estimator, "__sklearn_tags__"):
        return isinstance(estimator, Classifier)
    return estimator.__sklearn_tags__().estimator_type == "classifier"


# --- Scores ----------------------------------------------------------------------------


def _fits(estimator, X, y, splits):
    """Yield for each of the splits a fitted copy, what it has seen, and what it has not."""
    for train, test in splits:
        seen, unseen = ([take(a, part) for a in (X, y)] for part in (train, test))
        yield clone(estimator).fit(*seen), seen, unseen


def cross_val_score(estimator, X, y, *, scoring=None, cv=None):
    """The scores of an `estimator` on each part, when it is fitted to the other parts: (K,).

    `scoring` is a function (estimator, X, y) -> number, or None for the estimator's own ``score``.
    `cv` is None for 5 folds, their number, an object with ``split``, or a list of pairs (train,
    test) of indices. For a classifier, a number means stratified folds.

    >>> from mlnotes.linear_regression import LinearRegression
    >>> X = np.arange(6.0)[:, None]
    >>> cross_val_score(LinearRegression(), X, X[:, 0], cv=3).round(9)
    array([1., 1., 1.])
    """
    score, splits = _scorer(scoring), _splits(cv, estimator, X, y)
    fits = _fits(estimator, X, y, splits)
    return np.array([score(model, *unseen) for model, _, unseen in fits], dtype=float)


def _scorer(scoring):
    """The function (estimator, X, y) -> number for a value of `scoring`."""
    if scoring is None:
        return lambda model, X, y: model.score(X, y)
    if not callable(scoring):
        raise ValueError(
            f"scoring must be None or a function (estimator, X, y) -> number; got {scoring!r}"
        )
    return scoring


def validation_curve(estimator, X, y, *, param_name, param_range, cv=None, scoring=None):
    """The scores on the samples trained on, and on those held out, each (p, K).

    The hyperparameter `param_name` of the `estimator` has each of p values, the `param_range`. `cv`
    and `scoring` are as in `cross_val_score`.

    >>> from mlnotes.linear_regression import Ridge
    >>> X, params = np.arange(6.0)[:, None], {"param_name": "alpha", "param_range": [0.0, 2.0]}
    >>> validation_curve(Ridge(), X, X[:, 0], **params, cv=2)[0][:, 0].round(6)
    array([1.  , 0.75])
    """
    score, splits = _scorer(scoring), _splits(cv, estimator, X, y)
    both = []
    for value in param_range:
        fits = _fits(clone(estimator).set_params(**{param_name: value}), X, y, splits)
        both.append([[score(m, *seen), score(m, *unseen)] for m, seen, unseen in fits])
    both = np.array(both, dtype=float)
    return both[:, :, 0], both[:, :, 1]


# --- Scaling ---------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class StandardScaler(Transformer):
    """z = (x - mean) / standard deviation, feature by feature, with those of the training samples.

    Fit it to the training set only: the test set must stay unseen. A constant feature is divided by
    1.

    Parameters
    ----------
    with_mean : bool; whether to subtract the mean
    with_std : bool; whether to divide by the standard deviation

    Attributes
    ----------
    mean_ : ndarray of shape (d,), or None if neither is done
    var_ : ndarray of shape (d,), or None; the mean of (x - mean)^2, not the sum over n - 1
    scale_ : ndarray of shape (d,), or None; the divisors of the features
    n_features_in_ : int

    >>> StandardScaler().fit_transform([[1.0], [3.0]]).T
    array([[-1.,  1.]])
    """

    with_mean: bool = True
    with_std: bool = True

    def fit(self, X, y=None):
        """Compute mean and variance of the samples X (n, d); y is not used."""
        samples = check_samples(X)
        shifts = check_flag("with_mean", self.with_mean)
        scales = check_flag("with_std", self.with_std)
        D = samples - samples[0]  # exact for a feature far from 0
        mean, sd = samples[0] + D.mean(axis=0), D.std(axis=0)
        sd[np.ptp(D, axis=0) <= ROUND_OFF * np.abs(samples).max(axis=0)] = 0.0
        self._shift = mean if shifts else np.zeros_like(mean)
        self._unit = np.where(sd > 0, sd, 1.0) if scales else np.ones_like(mean)
        self.mean_ = mean if shifts or scales else None
        self.var_, self.scale_ = (sd**2, self._unit) if scales else (None, None)
        return self._remember(X)

    def transform(self, X):
        """The scaled samples: (n, d)."""
        return (self._check_fitted(X) - self._shift) / self._unit

    def inverse_transform(self, X):
        """The samples that `transform` maps to these: (n, d)."""
        return self._check_fitted(X) * self._unit + self._shift
