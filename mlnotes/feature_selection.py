r"""Feature selection: which of the given features to keep?

Every feature that has nothing to do with the label is noise that a classifier has to bear, and
there are 2^d subsets of d features to choose from. A filter scores each feature by itself and
keeps the best; a search tries some subsets and asks a validation error which is better.

Contents
    Subsets               selector_matrix, subsets, best_subsets, forward_selection, Step,
                          residual_sum
    Mutual information    mutual_information, bin_codes, joint_law
    Filter                information_scores, correlation_scores, number_of_features, FeatureCount
    Estimator             SelectKBest

Symbols
    X            (n, d)    samples, a feature per column
    y            (n,)      their labels
    x            (n,)      one feature
    J            tuple     the numbers of the features that are kept, from 0
    E            (d, |J|)  0/1 selector matrix: X E = X_J
    P            (a, b)    joint law f(x, y) of two discrete variables; leading axes are allowed
    risk         function  J -> number: the error of a model on the features J
    n_bins       int       the most bins that a feature is cut into
    score_func   function  (X, y) -> (d,), the larger the better

Notes: MLN "Feature Selection"; ISML 0/01 Basic 1.3, Feature Extraction 1.
"""

from itertools import combinations
from math import inf, isnan
from numbers import Integral
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Classifier,
    Transformer,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    one_vs_rest,
)
from mlnotes.decision_theory import zero_one
from mlnotes.model_selection import clone, cross_validation_error
from mlnotes.probability import x_log_y

__all__ = [
    "selector_matrix", "subsets", "best_subsets", "forward_selection", "Step", "residual_sum",
    "mutual_information", "bin_codes", "joint_law", "information_scores", "correlation_scores",
    "number_of_features", "FeatureCount", "SelectKBest",
]  # fmt: skip

BINS = 10  # of a feature, where nothing else is said
EPS = np.finfo(float).eps
SLACK = 1e-6  # by which the sum of a law may miss 1: that of one in single precision does


# ---------------------------------------------------------------------------------------
# Subsets
# ---------------------------------------------------------------------------------------


def selector_matrix(J, d):
    """E = (e_j, j in J), the columns of the unit matrix that belong to J: X E = X_J.

    Of the linear feature extractions x' = A^T x selection is the one whose columns are unit
    vectors, all different: E^T E = I. `d` is the number of features.

    Returns: (d, |J|). Raises: ValueError unless J holds numbers from 0 to d - 1, each once.

    >>> np.array([[5.0, 6.0, 7.0]]) @ selector_matrix((2, 0), d=3)
    array([[7., 5.]])

    Claims: feature_selection-01
    """
    numbers = all(isinstance(j, Integral) and not isinstance(j, bool) for j in J)
    if not numbers or not set(J) <= set(range(d)) or len(set(J)) < len(J):
        raise ValueError(f"J must hold of 0, ..., {d - 1} every feature once; got {tuple(J)}")
    return np.eye(d)[:, list(J)]


def subsets(d):
    """All 2^d subsets of `d` features, the smallest first, the empty one included.

    Yields: tuples J.

    >>> list(subsets(2))
    [(), (0,), (1,), (0, 1)]
    """
    for size in range(d + 1):
        yield from combinations(range(d), size)


class Step(NamedTuple):
    """A subset, its risk, and how many models have been fitted to find it."""

    J: tuple
    risk: float
    fits: int


def best_subsets(risk, d):
    """Of each size 1, ..., `d` the subset of least `risk`, by trying all of them: 2^d - 1 models.

    Returns: a list of d `Step`s, each with the number of models up to its size.
    Raises: ValueError if the risk is nan of all subsets of a size.

    >>> [step.J for step in best_subsets(lambda J: abs(sum(J) - 3), d=3)]
    [(2,), (1, 2), (0, 1, 2)]
    """
    found, fits = [], 0
    for size in range(1, d + 1):
        tried = [Step(J, float(risk(J)), 0) for J in combinations(range(d), size)]
        fits += len(tried)
        found.append(_best(tried)._replace(fits=fits))
    return found


def _best(tried):
    """The step of least risk, the first of equals; nan is no risk."""
    best = min(tried, key=lambda step: inf if isnan(step.risk) else step.risk)
    if isnan(best.risk):
        raise ValueError(f"the risk must be a number; got nan for J = {best.J} and its like")
    return best


def forward_selection(risk, d):
    """Add the feature that lowers the `risk` most, until all `d` are in:

        J_{s+1} = J_s + {argmin_j risk(J_s + {j})}

    With all 2^d subsets it would be model selection; this fits d + (d - 1) + ... + 1 =
    d (d + 1) / 2 models. A copy of a feature that is in brings no gain, which a filter does
    not see. Where two features are good only together the best subset may be missed.

    Yields: d + 1 `Step`s, from the empty set, whose risk is not asked for: inf.
    Raises: ValueError if the risk is nan whichever feature is added.

    >>> [step.J for step in forward_selection(lambda J: abs(sum(J) - 3), d=3)]
    [(), (2,), (2, 1), (2, 1, 0)]

    Claims: feature_selection-04
    """
    step = Step((), inf, 0)
    yield step
    for _ in range(d):
        J, _, fits = step
        tried = [Step((*J, j), float(risk((*J, j))), 0) for j in range(d) if j not in J]
        step = _best(tried)._replace(fits=fits + len(tried))
        yield step


def residual_sum(X, y, J):
    """min_theta ||y - X_J theta||^2, the `risk` of least squares; y are numbers here.

    >>> residual_sum(np.eye(3), np.array([3.0, 2.0, 1.0]), J=(0, 2))
    4.0
    """
    A = X[:, list(J)]
    size = np.abs(A).max(axis=0)
    A = A / np.where(size > 0, size, 1.0)  # a feature in large units is not small beside others
    return float(np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


# ---------------------------------------------------------------------------------------
# Mutual information
# ---------------------------------------------------------------------------------------


def mutual_information(P):
    """MI(x, y) = sum_{x, y} f(x, y) ln[f(x, y) / (f(x) f(y))], in nats.

    It is KL(f(x, y) || f(x) f(y)) = H(x) + H(y) - H(x, y): >= 0, and 0 only for independent x
    and y; H(x) if y tells x. The values may have any names: only their law counts.

    Returns: (), or the leading axes of P. Raises: ValueError unless P >= 0 and it sums to 1.

    >>> mutual_information(np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.25, 0.25], [0.25, 0.25]]]))
    array([0.69314718, 0.        ])

    Claims: feature_selection-02
    """
    P = np.asarray(P, dtype=float)
    off = np.max(np.abs(P.sum(axis=(-2, -1)) - 1))
    if np.any(P < 0) or not off <= SLACK:
        raise ValueError(
            f"P must be >= 0 and sum to 1; got a sum {off:g} off, the least is {P.min():g}"
        )
    f_x, f_y = P.sum(axis=-1, keepdims=True), P.sum(axis=-2, keepdims=True)
    ratio = x_log_y(P, P) - x_log_y(P, f_x) - x_log_y(P, f_y)
    return ratio.sum(axis=(-2, -1))


def bin_codes(x, n_bins=BINS):
    """The bin 0, 1, ... that each value is in, all bins having as many distinct values.

    Without ties that is as many samples. Up to `n_bins` values each have a bin of their own, so
    that a discrete feature stays what it is; any increasing function of x has the same bins.

    Returns: (n,) of int. Raises: ValueError if n_bins is not an integer >= 1, or x holds nan.

    >>> bin_codes(np.array([0.1, 7.0, 0.3, 50.0]), n_bins=2)
    array([0, 1, 0, 1])
    >>> bin_codes(np.array([5, 5, 5, 9]), n_bins=10)
    array([0, 0, 0, 1])
    """
    check_number("n_bins", n_bins, at_least=1, integer=True)
    values = np.unique(x)
    if np.any(values[-1:] != values[-1:]):  # where nan is sorted to
        raise ValueError("x must not hold nan, which is in no bin; got nan")
    bins = min(n_bins, len(values))
    first = np.arange(bins) * len(values) // bins  # of the values in each bin
    return np.searchsorted(values[first[1:]], x, side="right")


def joint_law(codes, y):
    """The empirical f(x, y) of each feature with the labels: shares of the samples.

    `codes` (n, d) are the values of the features, as integers from 0.

    Returns: (d, a, b), with a value per code and b labels in sorted order.
    Raises: ValueError if the codes are no such integers, or there is not a label for each row.

    >>> joint_law(np.array([[0], [1], [1], [1]]), np.array(["n", "n", "p", "p"]))
    array([[[0.25, 0.  ],
            [0.25, 0.5 ]]])
    """
    (n, d), (classes, k) = codes.shape, np.unique(y, return_inverse=True)
    if codes.dtype.kind not in "iu" or codes.min() < 0:
        raise ValueError(f"codes must be integers >= 0; got {codes.min()} of {codes.dtype}")
    if k.shape != (n,):
        raise ValueError(f"y must have shape ({n},), a label per row of codes; got {k.shape}")
    a, b = int(codes.max()) + 1, len(classes)
    cells = (np.arange(d) * a + codes) * b + k[:, None]
    return np.bincount(cells.ravel(), minlength=d * a * b).reshape(d, a, b) / n


# ---------------------------------------------------------------------------------------
# Filter
# ---------------------------------------------------------------------------------------


def information_scores(X, y, n_bins=BINS):
    """MI(x_j, y) of each feature, cut into bins, with the label.

    0 for a constant feature, H(y) at most. The estimate is biased upwards, by about
    (a - 1)(b - 1) / (2 n) for an independent feature of a bins and b classes: with samples of
    a few per bin every feature looks good. It sees features one by one: of y = x_1 xor x_2 both
    score 0, though together they tell y.

    Returns: (d,). Raises: ValueError if n_bins is not an integer >= 2, or for what is no X or y.

    >>> information_scores(np.array([[0, 1], [0, 0], [1, 1], [1, 0]]), np.array([0, 0, 1, 1]))
    array([0.69314718, 0.        ])
    """
    check_number("n_bins", n_bins, at_least=2, integer=True)
    X = check_samples(X)
    y = check_labels(y, len(X))
    codes = np.column_stack([bin_codes(x, n_bins) for x in np.ascontiguousarray(X.T)])
    return mutual_information(joint_law(codes, y))


def correlation_scores(X, y):
    """|correlation| of each feature with the label, +1 or -1; of more classes the largest.

        |corr(x, z)| = |sum_i (x_i - mean x)(z_i - mean z)| / (||x - mean x|| ||z - mean z||)

    z is +1 for one class and -1 for the rest. A constant feature scores 0. It sees linear
    dependence alone.

    Returns: (d,). Raises: ValueError for what is no X or y.

    >>> correlation_scores(np.array([[1, 1], [1, -1], [3, 1], [3, -1]]), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    X = check_samples(X)
    y = check_labels(y, len(X))
    Z, (X, flat) = _centred(one_vs_rest(y, np.unique(y)))[0], _centred(X)
    return np.where(flat, 0.0, np.abs(X.T @ Z).max(axis=1))


def _centred(X):
    """Columns of mean 0 and length 1, and which were constant."""
    size = np.abs(X).max(axis=0)
    X = X / np.where(size > 0, size, 1.0)  # so that no square overflows
    X = X - X.mean(axis=0)
    length = np.linalg.norm(X, axis=0)
    flat = length <= len(X) * EPS
    return X / np.where(flat, 1.0, length), flat


class FeatureCount(NamedTuple):
    """The cross-validation errors of some numbers of features, and the best of these."""

    errors: np.ndarray  # one per number
    K: int  # the first of least error


def number_of_features(estimator, X, y, ks, *, score_func=information_scores, cv=None):
    """The number K of best features by cross-validation, and the error with each number in `ks`.

    The features are chosen anew in every fold, from its training part. Chosen once from all
    samples they would have seen the labels that they are tested on, and the error would be too
    small: of pure noise far below chance. `estimator` is a classifier, `cv` as in
    `model_selection`.

    Returns: a `FeatureCount`.
    Raises: ValueError if there are no `ks`, or one of them is not an integer >= 1.

    >>> from mlnotes.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0, 9.0], [0.0, 3.0], [1.0, 8.0], [1.0, 4.0]])
    >>> model = KNeighborsClassifier(n_neighbors=1)
    >>> number_of_features(model, X, np.array([0, 0, 1, 1]), ks=(1, 2), cv=2)
    FeatureCount(errors=array([0. , 0.5]), K=1)
    """
    ks = list(ks)
    if not ks:
        raise ValueError("ks must hold at least one number of features; got none")
    models = [_Filtered(estimator, k, score_func) for k in ks]
    errors = [cross_validation_error(model, X, y, zero_one, cv=cv).error for model in models]
    return FeatureCount(np.array(errors), ks[int(np.argmin(errors))])


class _Filtered(Classifier):
    """A classifier that sees only the k best features of its training samples."""

    def __init__(self, estimator, k, score_func):
        self.estimator = estimator
        self.k = k
        self.score_func = score_func

    def fit(self, X, y):
        """Select, then fit."""
        self.filter_ = SelectKBest(self.score_func, k=self.k).fit(X, y)
        self.estimator_ = clone(self.estimator).fit(self.filter_.transform(X), y)
        return self

    def predict(self, X):
        """Labels (n,)."""
        return self.estimator_.predict(self.filter_.transform(X))


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


class SelectKBest(Transformer):
    """Keep the k features that score best, in their order.

    The filter of MLN: each feature is scored against the label, by itself; of equal scores the
    first is kept. Two copies of a feature score the same, and both are kept. The number k comes
    from `number_of_features`. The default score is mutual information, scikit-learn's an F-test.

    Parameters
    ----------
    score_func : function (X, y) -> (d,), the larger the better
    k : int or "all"; how many features to keep, all if there are no more

    Attributes
    ----------
    scores_ : ndarray of shape (d,)
    n_features_in_ : int

    >>> X, y = [[0, 5, 1], [0, 5, 0], [1, 5, 1], [1, 5, 0]], ["a", "a", "b", "b"]
    >>> SelectKBest(k=1).fit(X, y).get_support()
    array([ True, False, False])

    Claims: feature_selection-03
    """

    def __init__(self, score_func=information_scores, *, k=10):
        self.score_func = score_func
        self.k = k

    def fit(self, X, y):
        """Score the features of samples X (n, d) with labels y (n,)."""
        self._check_params()
        samples = check_samples(X)
        labels = check_labels(y, len(samples))
        scores = np.asarray(self.score_func(samples, labels))
        numbers = scores.dtype.kind in "biuf" and np.isfinite(scores).all()
        if scores.shape != samples.shape[1:] or not numbers:
            raise ValueError(
                f"score_func must give {samples.shape[1]} finite scores; got {scores!r}"
            )
        self.scores_ = scores.astype(float)
        return self._remember(X)

    def _check_params(self):
        """Refuse hyperparameters that make no sense."""
        if not callable(self.score_func):
            raise ValueError(f"score_func must be a function of X and y; got {self.score_func!r}")
        if not (isinstance(self.k, str) and self.k == "all"):
            check_number("k", self.k, at_least=1, integer=True)

    def get_support(self, indices=False):
        """Which features are kept: a mask (d,), or their numbers if `indices`."""
        check_flag("indices", indices)
        self._require_fit()
        self._check_params()  # k may be set anew
        k = self.n_features_in_ if self.k == "all" else self.k
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[:k]] = True
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X):
        """X_J, the features that are kept: (n, |J|)."""
        return self._check_fitted(X)[:, self.get_support()]

    def inverse_transform(self, X):
        """X_J E^T: samples (n, d) with 0 for every feature that was dropped."""
        kept = self.get_support(indices=True)
        X = check_samples(X)
        if X.shape[1] != len(kept):
            raise ValueError(f"X must have the {len(kept)} features kept; got {X.shape[1]}")
        full = np.zeros((len(X), self.n_features_in_))
        full[:, kept] = X
        return full
