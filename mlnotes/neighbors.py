"""Nearest neighbours: predict from the samples close by.

The average of the k samples nearest to x is k-NN regression, their vote is the k-NN classifier.

Contents
    Norms and distances      norm, distances
    The nearest samples      nearest_neighbors, k_smallest, Neighbors, other_neighbors
    Regression               relative_frequency, regress, smoother
    Classification           tally, vote, knn_classify, leave_one_out_errors, neighbor_weights
    Voronoi cells            Cell, box_cell, clip, voronoi_cell, voronoi_edges, Edges
    The error of 1-NN        asymptotic_error, cover_hart_bound
    Many dimensions          sample_ball, cube_share, tail_probability, nearest_distance,
                             norm_log_density, nearest_to_farthest
    Estimators               KNeighborsClassifier, KNeighborsRegressor

Symbols
    X       (n, d)     samples x_i, one per row
    y       (n,)       their labels or targets
    x       (m, d)     points to predict at, the queries
    k       int        number of neighbours, 1 <= k <= n; N_k(x) are those of x
    K       int        number of classes, which are numbered 0, ..., K - 1
    p       float      order of the norm, 1 <= p <= inf; or a function (x, x_i) -> distance
    r       (m, k)     distances to the neighbours, the nearest first
    w       (m, k)     their weights
    labels  (m, k)     the class numbers of the neighbours
    q       (m, K)     posteriors q_k(x) = P(y = k | x)
    box     (2, 2)     the corners (left, bottom), (right, top) of the part of the plane to look at
    rng     Generator  source of random numbers

Ties. Of samples at the same distance the first in X is the nearer. Of classes with the same
number of votes the first in sorted order wins; `vote` also offers the class of the nearest sample.

Notes: REP "Nearest Neighbour Methods"; PRNN 6.2.1; ISML 1 "Nearest Neighbor Classifiers"; IRHD 2.2
and 2.3; MLN "Bootstrap Methods". IRHD writes N for n and p for d.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import inf, isqrt, lgamma, log
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Classifier,
    Estimator,
    Regressor,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    check_targets,
    floats,
    row_blocks,
)
from mlnotes.decision_theory import log_joint
from mlnotes.density import ball_volume
from mlnotes.numerics import squared_norms

# =======================================================================================
# The lecture
# =======================================================================================

# --- Norms and distances ---------------------------------------------------------------


def norm(x, p=2):
    """||x||_p = (sum_j |x_j|^p)^{1/p} of vectors x (..., d): (...); the largest |x_j| for p = inf.

    >>> [norm(np.array([3.0, -4.0]), p).item() for p in (1, 2, inf)]
    [7.0, 5.0, 4.0]

    Errata: neighbors-29 (REP prints no plus sign before x_n^2).
    """
    x = np.abs(floats(x))
    if p in (1, 2, inf):
        return np.linalg.norm(x, p, axis=-1)
    unit = np.maximum(x.max(axis=-1), np.finfo(float).tiny)  # high powers stay finite
    return unit * np.sum((x / unit[..., None]) ** p, axis=-1) ** (1 / p)


def distances(x, X, p=2):
    """D(x, x_i) = ||x - x_i||_p of every query and every sample: (m, n).

    >>> x, X = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 2.0]])
    >>> distances(x, X), distances(x, X, p=1), distances(x, X, lambda a, b: abs(b[0] - a[0]))
    (array([[5., 2.]]), array([[7., 2.]]), array([[3., 0.]]))

    Errata: neighbors-29 (ISML prints x for both vectors).
    """
    x, X = floats(x, X)
    if callable(p):
        return np.array([[float(p(query, sample)) for sample in X] for query in x])
    return np.array([norm(query - X, p) for query in x])


# --- The nearest samples ---------------------------------------------------------------


class Neighbors(NamedTuple):
    """The k samples nearest to each query, the nearest first."""

    distance: np.ndarray  # r (m, k), rising
    index: np.ndarray  # (m, k), numbers of the samples


def nearest_neighbors(x, X, k, p=2):
    """N_k(x), the k samples nearest to each query: `Neighbors`, the first k of all n in order.

    >>> nearest_neighbors(np.array([[1.0]]), np.array([[9.0], [3.0], [0.0]]), k=2)
    Neighbors(distance=array([[1., 2.]]), index=array([[2, 1]]))
    """
    return k_smallest(distances(x, X, p), k)


def k_smallest(D, k):
    """The k <= n smallest entries of each row of D (m, n), of equals the first: `Neighbors`.

    >>> k_smallest(np.array([[8.0, 2.0, 1.0]]), k=2)
    Neighbors(distance=array([[1., 2.]]), index=array([[2, 1]]))
    """
    index = np.argsort(D, axis=1, kind="stable")[:, np.arange(k)]
    return Neighbors(np.take_along_axis(D, index, axis=1), index)


def other_neighbors(near):
    """The neighbours of n samples among the others: `Neighbors`; `near` are the k + 1 of all.

    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> other_neighbors(nearest_neighbors(X, X, k=2)).index.ravel()
    array([1, 0, 1])
    """
    other = near.index != np.arange(len(near.index))[:, None]
    other[other.all(axis=1), -1] = False  # k + 1 equal ones come first
    return Neighbors(*(values[other].reshape(len(other), -1) for values in near))


# --- Regression ------------------------------------------------------------------------


def relative_frequency(x, X, y):
    """The average of the y_i with x_i = x, E[Y | X = x] of the sample, nan if there are none: (m,).

    >>> relative_frequency(np.array([[1.0]]), np.array([[1.0], [1.0], [2.0]]), np.array([3, 5, 7]))
    array([4.])

    Errata: neighbors-06 (IRHD's five events are pairs (y, x), not (x, y)).
    """
    same = [(X == query).all(axis=1) for query in x]
    return np.array([y[i].mean() if i.any() else np.nan for i in same])


def regress(x, X, y, k, p=2):
    """f_k(x) = 1/k sum_{x_i in N_k(x)} y_i, the average of the k nearest (REP; IRHD 2.9): (m,).

    >>> regress(np.array([[1.2]]), np.array([[1.0], [2.0], [9.0]]), np.array([10, 20, 90]), k=2)
    array([15.])
    """
    return y[nearest_neighbors(x, X, k, p).index].sum(axis=1) / k


def smoother(x, X, k, p=2):
    """S with f_k = S y: s_i = 1/k for the neighbours x_i, 0 for the other samples: (m, n).

    >>> smoother(np.array([[1.2]]), np.array([[1.0], [2.0], [9.0]]), k=2)
    array([[0.5, 0.5, 0. ]])
    """
    S = np.zeros((len(x), len(X)))
    np.put_along_axis(S, nearest_neighbors(x, X, k, p).index, 1 / k, axis=1)
    return S


# --- Classification --------------------------------------------------------------------


def tally(labels, K, w=None):
    """The sum of the weights w, 1 each if not given, of each class among the neighbours: (m, K).

    >>> tally(np.array([[2, 0, 2]]), K=3)
    array([[1., 0., 2.]])
    """
    w = np.ones(labels.shape) if w is None else w
    return np.column_stack([np.where(labels == c, w, 0).sum(axis=1) for c in range(K)])


def vote(labels, K, w=None, ties="first"):
    """The class with the most votes: (m,); of several, the "first" (PRNN) or the "nearest" one's.

    `ties` names the rule. An odd k prevents ties between two classes only.

    >>> labels = np.array([[2, 0, 1], [2, 1, 1]])
    >>> vote(labels, K=3), vote(labels, K=3, ties="nearest")
    (array([0, 1]), array([2, 1]))

    Errata: neighbors-15 (ISML says that k should be odd, as if that prevented all ties).
    """
    votes = tally(labels, K, w)
    winning = np.take_along_axis(votes, labels, axis=1) == votes.max(axis=1, keepdims=True)
    nearest = labels[np.arange(len(labels)), winning.argmax(axis=1)]
    return {"first": votes.argmax(axis=1), "nearest": nearest}[ties]


def knn_classify(x, X, y, k, p=2, ties="first"):
    """argmax_c k_c(x), where k_c of the k neighbours are of class c: labels (m,).

    For labels -1 and +1 and odd k it is the sign of f_k. `ties` are broken as by `vote`.

    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "b"])
    >>> knn_classify(np.array([[0.2]]), X, y, k=3)
    array(['b'], dtype='<U1')

    Errata: neighbors-14 (ISML: 1-NN never errs on its samples; but equal samples may differ in y).
    """
    classes, number = np.unique(y, return_inverse=True)
    labels = number[nearest_neighbors(x, X, k, p).index]
    return classes[vote(labels, len(classes), ties=ties)]


def leave_one_out_errors(X, y, ks, p=2):
    """The share of samples that their k nearest others misclassify, for each k of `ks`: (len(ks),).

    >>> leave_one_out_errors(np.array([[0], [1], [2], [9]]), np.array([0, 0, 0, 1]), ks=[1, 3])
    array([0.25, 0.25])
    """
    classes, number = np.unique(y, return_inverse=True)
    labels = number[other_neighbors(nearest_neighbors(X, X, max(ks) + 1, p)).index]
    return np.array([np.mean(vote(labels[:, :k], len(classes)) != number) for k in ks])


def neighbor_weights(r):
    """w = r_1 / r, proportional to 1 / r: (m, k); with samples at r = 0, only they count.

    >>> neighbor_weights(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    r = floats(r)
    return np.where(r > r[:, :1], r[:, :1] / np.where(r > 0, r, 1.0), 1.0)


# --- Voronoi cells ---------------------------------------------------------------------


class Cell(NamedTuple):
    """A convex polygon; the edge from vertex t to the next one faces the cell of `across[t]`."""

    vertices: np.ndarray  # (v, 2), counter-clockwise
    across: np.ndarray  # (v,), numbers of samples; -1 at the rim of the box


def box_cell(box):
    """The whole box as a `Cell`.

    >>> box_cell([[0, 0], [2, 1]]).vertices.tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]
    """
    (left, bottom), (right, top) = floats(box)
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    return Cell(np.array(corners), np.full(4, -1))


def clip(cell, a, c, site):
    """The part of the `cell` with a^T x <= c, for a (2,): a `Cell`; the new edge faces `site`.

    >>> vertices, across = clip(box_cell([[0, 0], [2, 1]]), np.array([1.0, 0.0]), 1.0, site=7)
    >>> vertices.tolist(), across
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], array([-1,  7, -1, -1]))
    """
    vertices, a = floats(cell.vertices, a)
    excess = vertices @ a - c  # positive where a vertex is cut off
    ends, after = np.roll(vertices, -1, axis=0), np.roll(excess, -1)  # where each edge ends
    stays, crosses = excess <= 0, np.sign(excess) * np.sign(after) < 0
    share = excess / np.where(crosses, excess - after, 1)
    corners = np.stack([vertices, vertices + share[:, None] * (ends - vertices)], axis=1)
    leaves = stays & (after > 0)  # the edge goes out
    across = np.where([leaves & (excess == 0), leaves], site, cell.across).T
    kept = np.array([stays, crosses]).T
    return Cell(corners[kept], across[kept])


def voronoi_cell(X, i, box):
    """The points of the box no farther from x_i than from any other sample of X (n, 2): a `Cell`.

        2 (x_j - x_i)^T x <= ||x_j||^2 - ||x_i||^2    for all j.

    `i` is the number of x_i. A sample equal to x_i cuts nothing off.

    >>> voronoi_cell(np.array([[0, 0], [2, 0]]), 0, box=[[-1, -1], [9, 1]]).vertices.tolist()
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    """
    X, cell = floats(X), box_cell(box)
    for j in np.flatnonzero((X != X[i]).any(axis=1)):
        a = X[j] - X[i]
        cell = clip(cell, a, a @ (X[i] + X[j]) / 2, j)
    return cell


class Edges(NamedTuple):
    """The edges between Voronoi cells."""

    segments: np.ndarray  # (e, 2, 2), the two ends of each
    sites: np.ndarray  # (e, 2), the samples i < j on its two sides


def voronoi_edges(X, box):
    """All `Edges` of the Voronoi diagram of distinct samples X (n, 2) inside the box, each once.

    The edges between samples of different classes are the decision boundary of 1-NN.

    >>> voronoi_edges(np.array([[0.0, 0.0], [2.0, 0.0]]), box=[[-1, -1], [3, 1]]).sites
    array([[0, 1]])
    """
    segments, sites = [], []
    for i in range(len(X)):
        vertices, across = voronoi_cell(X, i, box)
        for t in np.flatnonzero(across > i):
            segments.append([vertices[t], vertices[(t + 1) % len(vertices)]])
            sites.append([i, across[t]])
    return Edges(np.array(segments).reshape(-1, 2, 2), np.array(sites, dtype=int).reshape(-1, 2))


# --- The error of 1-NN -----------------------------------------------------------------


def asymptotic_error(log_p, prior, dx):
    """R_NN = E[1 - sum_k q_k(x)^2], the error of 1-NN as n grows: a float.

    For two classes it is E[2 q (1 - q)]. The densities log_p (m, K) are taken at the points of a
    quadrature with the weights dx (m,), the `prior` is (K,). A point of density 0 adds nothing.

    >>> round(asymptotic_error(np.log([[0.5, 0.5]]), np.array([0.75, 0.25]), np.array([2.0])), 12)
    0.375
    """
    joint = np.exp(log_joint(log_p, prior))
    evidence = joint.sum(axis=1, keepdims=True)
    q = joint / np.where(evidence > 0, evidence, 1.0)
    return float((dx * evidence[:, 0]) @ (1 - np.sum(q**2, axis=1)))


def cover_hart_bound(R, K=2):
    """R (2 - K / (K - 1) R) of the Bayes error R of K classes, an upper bound of R_NN: a float.

    For two classes it is 2 R (1 - R) <= 2 R. The bound holds in the limit of large n only.

    >>> cover_hart_bound(0.25), cover_hart_bound(0.5)
    (0.375, 0.5)

    Errata: neighbors-20 (PRNN states the factor 2 without the limit).
    """
    return R * (2 - K / (K - 1) * R)


# --- Many dimensions -------------------------------------------------------------------


def sample_ball(n, d, *, rng):
    """n points drawn uniformly from the unit ball in d dimensions, P(||x|| <= r) = r^d: (n, d).

    The direction is that of a normal vector. The length has the density d r^{d-1}, Beta(d, 1).

    >>> bool((norm(sample_ball(100, 3, rng=np.random.default_rng(0))) < 1).all())
    True

    Errata: neighbors-27 (IRHD says sphere, where all points have distance 1 from the centre).
    """
    z = rng.standard_normal((n, d))
    return z * (rng.beta(d, 1, n) / norm(z))[:, None]


def cube_share(d):
    """V_d / 2^d = pi^{d/2} / (2^d Gamma(d/2 + 1)), the share of its cube that the unit ball fills.

    >>> [round(cube_share(d), 4) for d in (1, 2, 3, 10)]
    [1.0, 0.7854, 0.5236, 0.0025]
    """
    return ball_volume(0.5, d)


def tail_probability(alpha, d):
    """1 - (1 - alpha)^d, the probability of one of d independent events of probability alpha.

    >>> round(tail_probability(0.05, d=10), 3)
    0.401
    """
    return float(-np.expm1(d * np.log1p(-alpha)))


def nearest_distance(n, d, share=0.5):
    """The distance r from the centre to the nearest of n uniform points in the unit ball: a float.

        P(nearest > r) = (1 - r^d)^n,    P(nearest <= r) = share
        for r = (1 - (1 - share)^{1/n})^{1/d}.

    >>> round(nearest_distance(500, d=10), 2)
    0.52
    """
    return float(-np.expm1(np.log1p(-share) / n)) ** (1 / d)


def norm_log_density(r, d):
    """ln p(r) of the lengths r = ||x|| > 0 of x from N(0, I), the chi distribution: (m,).

        p(r) = r^{d-1} exp(-r^2 / 2) / (2^{d/2-1} Gamma(d/2)),    largest at r = sqrt(d - 1).

    >>> norm_log_density(np.array([1.0, 2.0]), d=2).round(6)
    array([-0.5     , -1.306853])
    """
    r = floats(r)
    return (d - 1) * np.log(r) - r**2 / 2 - (d / 2 - 1) * log(2) - lgamma(d / 2)


def nearest_to_farthest(x, X, p=2):
    """min_i D(x, x_i) / max_i D(x, x_i) of each query: (m,); close to 1, no sample is near.

    >>> nearest_to_farthest(np.array([[0.0]]), np.array([[1.0], [4.0], [2.0]]))
    array([0.25])
    """
    D = distances(x, X, p)
    return D.min(axis=1) / D.max(axis=1)


# =======================================================================================
# The estimators
# =======================================================================================

BLOCK = 2**20  # distances held at a time: 8 megabytes
ORDERS = {"euclidean": 2, "manhattan": 1, "chebyshev": inf}


def _search(x, X, k, p):
    """`nearest_neighbors` of many queries, where `k_smallest` gets candidates only.

    For p = 2 one product gives ||x - x_i||^2 - ||x||^2 = ||x_i||^2 - 2 x^T x_i of all pairs, about
    the mean of X, up to rounding. The `norm` of the candidates then decides.
    """
    origin, near = X.mean(axis=0), []
    columns = np.vstack([(X - origin).T, squared_norms(X - origin)])
    for rows in row_blocks(len(x), max(BLOCK // len(X), X.shape[1])):
        if p == 2:
            D = np.column_stack([-2 * (x[rows] - origin), np.ones(len(x[rows]))]) @ columns
            bound, squares = _bound_of_kth(D, k), squared_norms(x[rows] - origin)
            bound += 10 * ROUNDING * (squares + np.abs(squares + bound))
        else:
            D = distances(x[rows], X, p)
            if not (D >= 0).all():
                raise ValueError(f"a distance must be a number >= 0; got {D[~(D >= 0)][0]:g}")
            bound = _bound_of_kth(D, k)
        i, j = np.divmod(np.flatnonzero(D <= bound[:, None]), len(X))  # query and candidate
        r = D[i, j]
        for part in row_blocks(len(i), BLOCK // X.shape[1]) if p == 2 else ():
            r[part] = norm(x[rows][i[part]] - X[j[part]])
        place = np.arange(len(i)) - np.searchsorted(i, i)  # among the candidates of the query
        R, J = np.full((len(D), place.max() + 1), inf), np.zeros((len(D), place.max() + 1), int)
        R[i, place], J[i, place] = r, j
        r, first = k_smallest(R, k)
        near.append((r, np.take_along_axis(J, first, axis=1)))
    return Neighbors(*map(np.concatenate, zip(*near, strict=True)))


def _bound_of_kth(D, k):
    """A number for each row of D (m, n) that at least k of its entries do not exceed: (m,).

    It is the k-th smallest of g minima, over every g-th column each; up to g columns are left out.
    """
    m, n = D.shape
    g = isqrt(n * k)
    minima = D[:, : n - n % g].reshape(m, -1, g).min(axis=1)
    return np.partition(minima, k - 1, axis=1)[:, k - 1]


def _check_enough(k, n):
    if k > n:
        raise ValueError(f"n_neighbors must be at most the {n} samples to choose from; got {k}")


@dataclass(eq=False, repr=False)
class _KNeighbors(Estimator):
    """What both estimators share: the hyperparameters, the samples and the search among them."""

    n_neighbors: int = 5
    _: KW_ONLY
    weights: str = "uniform"
    p: float = 2
    metric: str | Callable = "minkowski"

    def _keep(self, X):
        """Check the hyperparameters and store the samples: there is nothing else to learn."""
        k = check_number("n_neighbors", self.n_neighbors, at_least=1, integer=True)
        check_choice("weights", self.weights, ("uniform", "distance"))
        if not callable(self.metric):
            check_choice("metric", self.metric, ("minkowski", *ORDERS))
        check_number("p", self.p, at_least=1)
        _check_enough(k, len(X))
        order = self.metric if callable(self.metric) else ORDERS.get(self.metric, self.p)
        self._how = k, order, self.weights  # what set_params changes counts from the next fit on
        self.samples_, self.n_samples_fit_ = np.array(X, order="C"), len(X)

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The samples nearest to X (m, d): distances (m, k) and numbers (m, k), nearest first.

        Without X, those of the training samples, where a sample is not its own neighbour. Without
        `return_distance`, only the numbers. `n_neighbors` takes the place of the estimator's.
        """
        self._require_fit()
        k, order, _ = self._how
        if n_neighbors is not None:
            k = check_number("n_neighbors", n_neighbors, at_least=1, integer=True)
        check_flag("return_distance", return_distance)
        _check_enough(k, self.n_samples_fit_ - (X is None))
        if X is None:
            near = other_neighbors(_search(self.samples_, self.samples_, k + 1, order))
        else:
            near = _search(self._check_fitted(X), self.samples_, k, order)
        return tuple(near) if return_distance else near.index

    def _neighbor_targets(self, X):
        """The targets of the neighbours of X, and their weights: both (m, k)."""
        r, index = self.kneighbors(X)
        w = neighbor_weights(r) if self._how[2] == "distance" else np.ones(r.shape)
        return self.targets_[index], w


@dataclass(eq=False, repr=False)
class KNeighborsClassifier(_KNeighbors, Classifier):
    """The vote of the k nearest samples, as in scikit-learn, by exact search without a tree.

    Parameters
    ----------
    n_neighbors : int; k
    weights : "uniform" or "distance" (1 / r)
    p : number >= 1; the order of the norm, where `metric` is "minkowski"
    metric : "minkowski", "euclidean", "manhattan", "chebyshev", or a function of two samples

    Attributes
    ----------
    samples_ : ndarray of shape (n, d); all samples: the work is done when a prediction is made
    targets_ : ndarray of shape (n,); their class numbers
    classes_ : ndarray of shape (K,)
    n_samples_fit_, n_features_in_ : int

    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [9]], ["a", "a", "b", "b"])
    >>> model.predict([[0.0], [9.0]]).tolist(), model.predict_proba([[9.0]]).round(3)
    (['a', 'b'], array([[0.333, 0.667]]))
    """

    def fit(self, X, y):
        """Keep samples X (n, d) and labels y (n,) of any kind; return self."""
        given, X = X, check_samples(X)
        y = check_labels(y, len(X))
        self._keep(X)
        self.classes_, self.targets_ = np.unique(y, return_inverse=True)
        return self._remember(given)

    def predict_proba(self, X):
        """The share of each class in the total weight of the neighbours: (m, K)."""
        labels, w = self._neighbor_targets(X)
        shares = tally(labels, len(self.classes_), w)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Labels (m,): the class with the largest total weight."""
        labels, w = self._neighbor_targets(X)
        return self.classes_[vote(labels, len(self.classes_), w)]


@dataclass(eq=False, repr=False)
class KNeighborsRegressor(_KNeighbors, Regressor):
    """The average of the k nearest samples, as in scikit-learn, by exact search without a tree.

    Parameters
    ----------
    Those of `KNeighborsClassifier`.

    Attributes
    ----------
    Those of `KNeighborsClassifier`, but for classes.

    >>> model = KNeighborsRegressor(n_neighbors=2, weights="distance")
    >>> model.fit([[0], [3], [9]], [6.0, 12.0, 0.0]).predict([[1.0], [3.0]])
    array([ 8., 12.])
    """

    def fit(self, X, y):
        """Keep samples X (n, d) and targets y (n,); return self."""
        given, X = X, check_samples(X)
        y = check_targets(y, len(X))
        self._keep(X)
        self.targets_ = np.array(y)
        return self._remember(given)

    def predict(self, X):
        """Predictions (m,), the weighted average of the neighbours' targets."""
        y, w = self._neighbor_targets(X)
        return np.sum(w * y, axis=1) / np.sum(w, axis=1)
