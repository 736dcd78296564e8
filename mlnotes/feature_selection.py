r"""Feature selection: which of the given features to keep?

A filter scores each feature by itself and keeps the best ones. A search tries some of the 2^d
subsets of d features and compares their validation errors.

Contents
    Subsets               selector_matrix, best_subsets, forward_selection, Step, residual_sum
    Mutual information    mutual_information, bin_codes, joint_distribution
    Filter                information_scores, correlation_scores, best_features
    Estimators            number_of_features, FeatureCount, SelectKBest

Symbols
    X            (n, d)    samples, a feature per column
    y            (n,)      the labels
    x            (n,)      one feature
    J            tuple     the numbers of the features that are kept, counted from 0
    E            (d, |J|)  0/1 selector matrix: X E = X_J
    P            (a, b)    joint distribution f(x, y)
    risk         function  J -> number: the error of a model on the features J
    n_bins       int       the largest number of bins that a feature is cut into
    score_func   function  (X, y) -> (d,): a larger score is better

Notes: MLN "Feature Selection"; ISML 0/01 Basic 1.3, Feature Extraction 1.
"""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import inf
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    Transformer,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    distribution,
    floats,
    one_vs_rest,
)
from mlnotes.model_selection import StratifiedKFold, clone
from mlnotes.probability import x_log_y

# =======================================================================================
# The lecture
# =======================================================================================

# --- Subsets ---------------------------------------------------------------------------


def selector_matrix(J, d):
    """E = (e_j, j in J), the columns of the identity matrix that belong to J: (d, |J|).

    X E = X_J.

    >>> np.array([[5.0, 6.0, 7.0]]) @ selector_matrix((2, 0), d=3)
    array([[7., 5.]])
    """
    return np.eye(d)[:, list(J)]


class Step(NamedTuple):
    """A subset, its risk, and the number of models that were fitted to find it."""

    J: tuple
    risk: float
    fits: int


def best_subsets(risk, d):
    """For each size 1, ..., `d` the subset of least `risk`, by trying all of them: 2^d - 1 models.

    Returns: a list of d `Step`s. Their `fits` count the models up to this size.

    >>> [step.J for step in best_subsets(lambda J: abs(sum(J) - 3), d=3)]
    [(2,), (1, 2), (0, 1, 2)]
    """
    steps, fits = [], 0
    for size in range(1, d + 1):
        tried = [(risk(J), J) for J in combinations(range(d), size)]
        fits += len(tried)
        least, J = min(tried)  # in a tie the first
        steps.append(Step(J, least, fits))
    return steps


def forward_selection(risk, d):
    """Add the feature that lowers the `risk` most, until all `d` are in:

        J_{s+1} = J_s + {argmin_j risk(J_s + {j})}

    This fits d (d + 1) / 2 models. It may miss features that are good only together.
    Yields: d + 1 `Step`s. The first is the empty set; its risk is inf, and is not computed.

    >>> [step.J for step in forward_selection(lambda J: abs(sum(J) - 3), d=3)]
    [(), (2,), (2, 1), (2, 1, 0)]
    """
    J, least, fits = (), inf, 0
    while True:
        yield Step(J, least, fits)
        tried = [(risk((*J, j)), j) for j in range(d) if j not in J]
        if not tried:
            return
        fits += len(tried)
        least, j = min(tried)  # in a tie the first
        J = (*J, j)


def residual_sum(X, y, J):
    """min_theta ||y - X_J theta||^2, the `risk` of least squares; y holds numbers here.

    The features are scaled, since the residual does not depend on their units.

    >>> residual_sum(np.eye(3), np.array([3.0, 2.0, 1.0]), J=(0, 2)).round(12)
    np.float64(4.0)
    """
    A, y = floats(X)[:, list(J)], floats(y)
    A = A / np.maximum(np.abs(A).max(axis=0), np.finfo(float).tiny)
    return np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2)


# --- Mutual information ----------------------------------------------------------------


def mutual_information(P):
    """MI(x, y) = sum_{x, y} f(x, y) ln[f(x, y) / (f(x) f(y))], a number, in nats.

    It is never negative, and 0 only if x and y are independent.

    >>> mutual_information(np.array([[0.5, 0.0], [0.0, 0.5]])).round(6)
    np.float64(0.693147)
    """
    P = distribution(P, "P")
    f_x = P.sum(axis=1, keepdims=True)  # sum over y
    f_y = P.sum(axis=0)  # sum over x
    return np.sum(x_log_y(P, P) - x_log_y(P, f_x) - x_log_y(P, f_y))  # 0 where P is 0


def bin_codes(x, n_bins=10):
    """The bin 0, 1, ... of each value; their numbers of distinct values differ by 1 at most: (n,).

    A feature with at most `n_bins` values keeps them all: each has its own bin.

    >>> bin_codes(np.array([0.1, 7.0, 0.3, 50.0]), n_bins=2)
    array([0, 1, 0, 1])
    """
    values = np.unique(x)  # sorted
    bins = np.array_split(values, min(n_bins, len(values)))
    edges = [values_of_bin[0] for values_of_bin in bins[1:]]
    return np.searchsorted(edges, x, side="right")  # how many edges are <= x


def joint_distribution(codes, y):
    """The empirical joint distribution f(x_j, y) of each feature and the label: (d, a, b).

    Its entries are shares of samples. `codes` (n, d) are whole numbers from 0 to a - 1. The b
    labels are in sorted order.

    >>> joint_distribution(np.array([[0], [1], [1], [1]]), np.array(["n", "n", "p", "p"]))
    array([[[0.25, 0.  ],
            [0.25, 0.5 ]]])
    """
    classes, k = np.unique(y, return_inverse=True)  # k: the number of each sample's class
    in_class = np.eye(len(classes))[k]  # (n, b): row i has a 1 in the column of its class
    bins = np.arange(int(codes.max()) + 1)[:, None]  # (a, 1)
    counts = [(x == bins) @ in_class for x in codes.T]  # x: the bins of one feature
    return np.array(counts) / len(k)


# --- Filter ----------------------------------------------------------------------------


def information_scores(X, y, n_bins=10):
    """MI(x_j, y) of each feature, cut into bins, and the label: (d,).

    Features are scored one by one. With few samples in a bin every feature looks good.

    >>> information_scores(np.array([[0, 1], [0, 0], [1, 1], [1, 0]]), np.array([0, 0, 1, 1]))
    array([0.69314718, 0.        ])
    """
    codes = np.column_stack([bin_codes(x, n_bins) for x in np.transpose(X)])
    return np.array([mutual_information(P) for P in joint_distribution(codes, y)])


def correlation_scores(X, y):
    """|correlation| of each feature and the label, -1 or +1; of more classes the largest: (d,).

        |corr(x, z)| = |sum_i (x_i - mean x)(z_i - mean z)| / (||x - mean x|| ||z - mean z||)

    For more classes z is +1 for one class and -1 for the rest. A constant feature scores 0.

    >>> correlation_scores(np.array([[1, 1], [1, -1], [3, 1], [3, -1]]), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    X, Z = floats(X), one_vs_rest(np.asarray(y), np.unique(y))
    X = X - X[0]  # no digit is lost far from 0
    X_c, Z_c = X - X.mean(axis=0), Z - Z.mean(axis=0)
    lengths = np.outer(np.linalg.norm(X_c, axis=0), np.linalg.norm(Z_c, axis=0))
    return np.max(np.abs(X_c.T @ Z_c) / np.where(lengths > 0, lengths, 1), axis=1)


def best_features(scores, K):
    """The numbers of the K features with the largest scores: (K,), the best first, ties in order.

    >>> best_features(np.array([0.1, 0.4, 0.4, 0.3]), K=3)
    array([1, 2, 3])
    """
    return np.argsort(-floats(scores), kind="stable")[:K]


# =======================================================================================
# The estimators
# =======================================================================================


class FeatureCount(NamedTuple):
    """The cross-validation errors for several numbers of features, and the best number."""

    errors: np.ndarray  # one for each number
    K: int  # the number of least error; in a tie the first


def number_of_features(estimator, X, y, ks, *, score_func=information_scores, cv=5):
    """The number K of best features by cross-validation, and the error for each number in `ks`.

    The features are chosen anew in every fold, from its training part, so that they have not seen
    the labels that they are tested on. `estimator` is a classifier. `cv` is a number of folds, a
    splitter of `model_selection`, or a list of pairs (train, test).

    Returns: a `FeatureCount`. Raises: ValueError if `ks` is empty or holds no integers >= 1.

    >>> from mlnotes.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0, 9.0], [0.0, 3.0], [1.0, 8.0], [1.0, 4.0]])
    >>> number_of_features(KNeighborsClassifier(1), X, np.array([0, 0, 1, 1]), ks=(1, 2), cv=2)
    FeatureCount(errors=array([0. , 0.5]), K=1)
    """
    X, y, ks, errors = np.asarray(X), check_labels(y, len(X)), list(ks), []
    if not ks:
        raise ValueError("ks must hold at least one number of features; got none")
    cv = StratifiedKFold(cv) if isinstance(cv, Integral) else cv
    splits = list(cv.split(X, y) if hasattr(cv, "split") else cv)
    for k in ks:
        check_number("k", k, at_least=1, integer=True)
        wrong = []
        for train, test in splits:
            chosen = SelectKBest(score_func, k=k).fit(X[train], y[train])
            model = clone(estimator).fit(chosen.transform(X[train]), y[train])
            wrong.extend(model.predict(chosen.transform(X[test])) != y[test])
        errors.append(np.mean(wrong))
    return FeatureCount(np.array(errors), ks[int(np.argmin(errors))])


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
        samples = check_samples(X)
        labels, d = check_labels(y, len(samples)), samples.shape[1]
        if not callable(self.score_func):
            raise ValueError(f"score_func must be a function of X and y; got {self.score_func!r}")
        every = isinstance(self.k, str) and self.k == "all"
        k = d if every else check_number("k", self.k, at_least=1, integer=True)
        scores = np.asarray(self.score_func(samples, labels))
        if scores.shape != (d,) or scores.dtype.kind not in "iuf" or not np.isfinite(scores).all():
            raise ValueError(f"score_func must give {d} finite scores; got {scores!r}")
        self.scores_, self._kept = scores.astype(float), np.sort(best_features(scores, k))
        return self._remember(X)

    def get_support(self, indices=False):
        """The features that are kept: a mask (d,), or their numbers with `indices`."""
        check_flag("indices", indices)
        self._require_fit()
        return self._kept if indices else np.isin(np.arange(self.n_features_in_), self._kept)

    def transform(self, X):
        """X_J, the features that are kept: (n, |J|)."""
        X = self._check_fitted(X)
        return X[:, self._kept]

    def inverse_transform(self, X):
        """X_J E^T: samples (n, d), with 0 for every feature that was dropped."""
        self._require_fit()
        X, kept = check_samples(X), self._kept
        if X.shape[1] != len(kept):
            raise ValueError(f"X must have the {len(kept)} features kept; got {X.shape[1]}")
        return X @ selector_matrix(kept, self.n_features_in_).T
