r"""Feature selection: which of the given features to keep?

A filter scores each feature by itself and keeps the best ones. A search tries some of the 2^d
subsets of d features and compares their validation errors.

Contents
    Subsets               selector_matrix, subsets, best_subsets, forward_selection, Step,
                          residual_sum
    Mutual information    mutual_information, bin_codes, joint_distribution
    Filter                information_scores, correlation_scores, best_features,
                          number_of_features, FeatureCount
    Estimator             SelectKBest

Symbols
    X            (n, d)    samples, a feature per column
    y            (n,)      the labels
    x            (n,)      one feature
    J            tuple     the numbers of the features that are kept, counted from 0
    E            (d, |J|)  0/1 selector matrix: X E = X_J
    P            (a, b)    joint distribution f(x, y); leading axes are allowed
    risk         function  J -> number: the error of a model on the features J
    n_bins       int       the largest number of bins that a feature is cut into
    score_func   function  (X, y) -> (d,): a larger score is better

Notes: MLN "Feature Selection"; ISML 0/01 Basic 1.3, Feature Extraction 1.
"""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import inf, isnan
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    Transformer,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    one_vs_rest,
)
from mlnotes.model_selection import StratifiedKFold, clone
from mlnotes.probability import x_log_y

BINS = 10  # the default number of bins of a feature
SLACK = 1e-6  # a distribution's sum may differ from 1 by this: in single precision it does
FOLDS = 5  # of cross-validation, by default


# ---------------------------------------------------------------------------------------
# Subsets
# ---------------------------------------------------------------------------------------


def selector_matrix(J, d):
    """E = (e_j, j in J), the columns of the identity matrix that belong to J: X E = X_J.

    Returns: (d, |J|). Raises: ValueError unless J holds different numbers from 0 to d - 1.

    >>> np.array([[5.0, 6.0, 7.0]]) @ selector_matrix((2, 0), d=3)
    array([[7., 5.]])
    """
    numbers = all(isinstance(j, Integral) and not isinstance(j, bool) for j in J)
    if not numbers or not set(J) <= set(range(d)) or len(set(J)) < len(J):
        raise ValueError(f"J must hold different features from 0 to {d - 1}; got {tuple(J)}")
    return np.eye(d)[:, list(J)]


def subsets(d):
    """All 2^d subsets of `d` features, from the empty set on, in order of size.

    Yields: tuples J.

    >>> list(subsets(2))
    [(), (0,), (1,), (0, 1)]
    """
    for size in range(d + 1):
        yield from combinations(range(d), size)


class Step(NamedTuple):
    """A subset, its risk, and the number of models that were fitted to find it."""

    J: tuple
    risk: float
    fits: int


def best_subsets(risk, d):
    """For each size 1, ..., `d` the subset of least `risk`, by trying all of them: 2^d - 1 models.

    Returns: a list of d `Step`s; their `fits` count the models up to this size.
    Raises: ValueError if the risk is nan for all subsets of a size.

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
    """The step of least risk, in a tie the first; a risk of nan is never the least."""
    best = min(tried, key=lambda step: inf if isnan(step.risk) else step.risk)
    if isnan(best.risk):
        raise ValueError(f"the risk must be a number; got nan for J = {best.J} and all others")
    return best


def forward_selection(risk, d):
    """Add the feature that lowers the `risk` most, until all `d` are in:

        J_{s+1} = J_s + {argmin_j risk(J_s + {j})}

    This fits d (d + 1) / 2 models. It may miss features that are good only together.

    Yields: d + 1 `Step`s. The first is the empty set; its risk is inf, and is not computed.
    Raises: ValueError if the risk is nan whichever feature is added.

    >>> [step.J for step in forward_selection(lambda J: abs(sum(J) - 3), d=3)]
    [(), (2,), (2, 1), (2, 1, 0)]
    """
    step = Step((), inf, 0)
    yield step
    for _ in range(d):
        J, _, fits = step
        larger = [(*J, j) for j in range(d) if j not in J]  # J and one feature more
        fits += len(larger)
        step = _best([Step(each, float(risk(each)), fits) for each in larger])
        yield step


def residual_sum(X, y, J):
    """min_theta ||y - X_J theta||^2, the `risk` of least squares; y holds numbers here.

    >>> residual_sum(np.eye(3), np.array([3.0, 2.0, 1.0]), J=(0, 2))
    4.0
    """
    A = X[:, list(J)]
    size = np.abs(A).max(axis=0)
    A = A / np.where(size > 0, size, 1.0)  # the answer must not depend on the units of features
    return float(np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


# ---------------------------------------------------------------------------------------
# Mutual information
# ---------------------------------------------------------------------------------------


def mutual_information(P):
    """MI(x, y) = sum_{x, y} f(x, y) ln[f(x, y) / (f(x) f(y))], in nats.

    It is never negative, and 0 only if x and y are independent.

    Returns: (), or the leading axes of P. Raises: ValueError unless P >= 0 and its sum is 1.

    >>> mutual_information(np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.25, 0.25], [0.25, 0.25]]]))
    array([0.69314718, 0.        ])
    """
    P = _check_distribution(P)
    f_x = P.sum(axis=-1, keepdims=True)  # sum over y
    f_y = P.sum(axis=-2, keepdims=True)  # sum over x
    terms = x_log_y(P, P) - x_log_y(P, f_x) - x_log_y(P, f_y)  # 0 where P is 0
    return terms.sum(axis=(-2, -1))


def _check_distribution(P):
    """P in floating point; refuse what is not a joint distribution."""
    P = np.asarray(P, dtype=float)
    off = np.max(np.abs(P.sum(axis=(-2, -1)) - 1))
    if np.any(P < 0) or not off <= SLACK:
        raise ValueError(
            f"P must be >= 0 and sum to 1; got a sum that differs by {off:g}, and a least entry of "
            f"{P.min():g}"
        )
    return P


def bin_codes(x, n_bins=BINS):
    """The bin 0, 1, ... of each value; all bins hold the same number of distinct values.

    A feature with at most `n_bins` values keeps them all: each has its own bin.

    Returns: (n,) integers. Raises: ValueError if n_bins is not an integer >= 1, or x holds nan.

    >>> bin_codes(np.array([0.1, 7.0, 0.3, 50.0]), n_bins=2)
    array([0, 1, 0, 1])
    """
    values = _distinct(x, n_bins)
    bins = min(n_bins, len(values))
    first = np.arange(bins) * len(values) // bins  # the place of the first value of each bin
    edges = values[first[1:]]
    return np.searchsorted(edges, x, side="right")  # how many edges are at or below x


def _distinct(x, n_bins):
    """The distinct values of x, sorted; refuse nan, and a number of bins that is not valid."""
    check_number("n_bins", n_bins, at_least=1, integer=True)
    values = np.unique(x)
    if np.isnan(values[-1:]).any():  # nan is sorted to the end
        raise ValueError("x must not hold nan, which belongs to no bin; got nan")
    return values


def joint_distribution(codes, y):
    """The empirical joint distribution f(x, y) of each feature and the label: shares of samples.

    Returns: (d, a, b), for codes (n, d) from 0 to a - 1 and b labels in sorted order.
    Raises: ValueError if a code is not an integer >= 0, or if y does not have a label per row.

    >>> joint_distribution(np.array([[0], [1], [1], [1]]), np.array(["n", "n", "p", "p"]))
    array([[[0.25, 0.  ],
            [0.25, 0.5 ]]])
    """
    classes, k = np.unique(y, return_inverse=True)  # k: the number of each sample's class
    _check_codes(codes, k)
    n, d = codes.shape
    a, b = int(codes.max()) + 1, len(classes)
    cells = codes * b + k[:, None]  # the number of each sample's cell in the table (a, b)
    counts = np.array([np.bincount(cells[:, j], minlength=a * b) for j in range(d)])
    return counts.reshape(d, a, b) / n


def _check_codes(codes, k):
    """Refuse codes that are not integers from 0 on, and labels that are not one per row."""
    if codes.dtype.kind not in "iu" or codes.min() < 0:
        raise ValueError(f"codes must be integers >= 0; got {codes.min()} of {codes.dtype}")
    if k.shape != codes.shape[:1]:
        raise ValueError(
            f"y must have shape {codes.shape[:1]}, a label per row of codes; got {k.shape}"
        )


# ---------------------------------------------------------------------------------------
# Filter
# ---------------------------------------------------------------------------------------


def information_scores(X, y, n_bins=BINS):
    """MI(x_j, y) of each feature, cut into bins, and the label.

    Features are scored one by one. With few samples in a bin every feature looks good.

    Returns: (d,). Raises: ValueError if n_bins is not an integer >= 2, or if X or y is not valid.

    >>> information_scores(np.array([[0, 1], [0, 0], [1, 1], [1, 0]]), np.array([0, 0, 1, 1]))
    array([0.69314718, 0.        ])
    """
    check_number("n_bins", n_bins, at_least=2, integer=True)
    X = check_samples(X)
    y = check_labels(y, len(X))
    codes = np.column_stack([bin_codes(x, n_bins) for x in X.T])
    return mutual_information(joint_distribution(codes, y))


def best_features(scores, K):
    """The numbers of the K features with the largest scores: (K,), the best first, ties in order.

    >>> best_features(np.array([0.1, 0.4, 0.4, 0.3]), K=3)
    array([1, 2, 3])
    """
    return np.argsort(-scores, kind="stable")[:K]


def correlation_scores(X, y):
    """|correlation| of each feature and the label, -1 or +1; for more classes the largest one.

        |corr(x, z)| = |sum_i (x_i - mean x)(z_i - mean z)| / (||x - mean x|| ||z - mean z||)

    For more classes z is +1 for one class and -1 for the rest. A constant feature scores 0.

    Returns: (d,). Raises: ValueError if X or y is not valid.

    >>> correlation_scores(np.array([[1, 1], [1, -1], [3, 1], [3, -1]]), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    X = check_samples(X)
    y = check_labels(y, len(X))
    Z = one_vs_rest(y, np.unique(y))
    return np.abs(_standardised(X).T @ _standardised(Z)).max(axis=1)


def _standardised(X):
    """The columns with mean 0 and length 1; a constant column becomes 0."""
    constant = np.ptp(X, axis=0) == 0
    X = np.where(constant, 0.0, X - X.mean(axis=0))
    return X / np.where(constant, 1.0, np.linalg.norm(X, axis=0))


class FeatureCount(NamedTuple):
    """The cross-validation errors for several numbers of features, and the best number."""

    errors: np.ndarray  # one for each number
    K: int  # the number of least error; in a tie the first


def number_of_features(estimator, X, y, ks, *, score_func=information_scores, cv=None):
    """The number K of best features by cross-validation, and the error for each number in `ks`.

    The features are chosen anew in every fold, from its training part, so that they have not seen
    the labels that they are tested on. `estimator` is a classifier. `cv` is None for 5 folds, a
    number of folds, a splitter of `model_selection`, or a list of pairs (train, test).

    Returns: a `FeatureCount`. Raises: ValueError if `ks` is empty or holds no integers >= 1.

    >>> from mlnotes.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0, 9.0], [0.0, 3.0], [1.0, 8.0], [1.0, 4.0]])
    >>> number_of_features(KNeighborsClassifier(1), X, np.array([0, 0, 1, 1]), ks=(1, 2), cv=2)
    FeatureCount(errors=array([0. , 0.5]), K=1)
    """
    X, y, ks, errors = np.asarray(X), np.asarray(y), list(ks), []
    splits = _splits(X, y, ks, cv)
    for k in ks:
        wrong = []
        for train, test in splits:
            chosen = SelectKBest(score_func, k=k).fit(X[train], y[train])
            model = clone(estimator).fit(chosen.transform(X[train]), y[train])
            wrong.extend(model.predict(chosen.transform(X[test])) != y[test])
        errors.append(np.mean(wrong))
    return FeatureCount(np.array(errors), ks[int(np.argmin(errors))])


def _splits(X, y, ks, cv):
    """The pairs (train, test) of cross-validation; refuse a list `ks` without numbers."""
    if not ks:
        raise ValueError("ks must hold at least one number of features; got none")
    if cv is None or isinstance(cv, Integral):
        cv = StratifiedKFold(FOLDS if cv is None else cv)
    return list(cv.split(X, y) if hasattr(cv, "split") else cv)


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class SelectKBest(Transformer):
    """Keep the k features with the best scores, in their order.

    Ties go to the first features. In scikit-learn the default score is an F-test.

    Parameters
    ----------
    score_func : function (X, y) -> (d,); a larger score is better
    k : int or "all"; number of features to keep, all if there are fewer: see `number_of_features`

    Attributes
    ----------
    scores_ : ndarray of shape (d,)
    n_features_in_ : int

    >>> X, y = [[0, 5, 1], [0, 5, 0], [1, 5, 1], [1, 5, 0]], ["a", "a", "b", "b"]
    >>> SelectKBest(k=1).fit(X, y).get_support()
    array([ True, False, False])
    """

    score_func: Any = information_scores
    _: KW_ONLY
    k: Any = 10

    def fit(self, X, y):
        """Score the features of samples X (n, d) with labels y (n,); return self."""
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
        """Refuse hyperparameters that are not valid."""
        if not callable(self.score_func):
            raise ValueError(f"score_func must be a function of X and y; got {self.score_func!r}")
        if not (isinstance(self.k, str) and self.k == "all"):
            check_number("k", self.k, at_least=1, integer=True)

    def get_support(self, indices=False):
        """The features that are kept: a mask (d,), or their numbers with `indices`."""
        check_flag("indices", indices)
        self._require_fit()
        self._check_params()  # k may have been changed since fit
        k = self.n_features_in_ if self.k == "all" else self.k
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[best_features(self.scores_, k)] = True
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X):
        """X_J, the features that are kept: (n, |J|)."""
        return self._check_fitted(X)[:, self.get_support()]

    def inverse_transform(self, X):
        """X_J E^T: samples (n, d), with 0 for every feature that was dropped."""
        kept = self.get_support(indices=True)
        X = check_samples(X)
        if X.shape[1] != len(kept):
            raise ValueError(f"X must have the {len(kept)} features kept; got {X.shape[1]}")
        full = np.zeros((len(X), self.n_features_in_))
        full[:, kept] = X
        return full
