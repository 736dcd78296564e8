"""Nearest neighbours: what is close by decides.

To predict at a point x, ask the k samples nearest to it: their average is the k-NN regression,
their vote the k-NN classifier. Nothing is learnt before the question is put, nothing is assumed
of the law but that near is alike, and with enough samples that is enough. How many are enough is
the second half of the chapter: in many dimensions no sample is near.

Contents
    Norms and distances      norm, distances
    The nearest samples      nearest_neighbors, Neighbors, other_neighbors
    Regression               relative_frequency, regress, smoother
    Classification           tally, vote, classify, neighbor_weights, leave_one_out_errors
    Voronoi cells            Cell, box_cell, clip, voronoi_cell, voronoi_edges, Edges
    How often 1-NN errs      asymptotic_error, cover_hart_bound
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

Ties. Of samples equally far the first in X is the nearer. Of classes with equally many votes the
first wins, in sorted order (PRNN's class 0, and scikit-learn's rule); `vote` offers the class of
the nearest of the neighbours as well.

Notes: REP "Nearest Neighbour Methods"; PRNN 6.2.1; ISML 1 "Nearest Neighbor Classifiers"; IRHD 2.2
and 2.3; MLN "Bootstrap Methods". IRHD writes N for n and p for d.
"""

from math import inf, lgamma, log
from numbers import Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Classifier,
    Estimator,
    Regressor,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    check_targets,
    row_blocks,
)
from mlnotes.clustering import euclidean, manhattan
from mlnotes.decision_theory import log_evidence, posterior
from mlnotes.density import ball_volume, sample_kernel

__all__ = [
    "norm", "distances", "nearest_neighbors", "Neighbors", "other_neighbors",
    "relative_frequency", "regress", "smoother", "tally", "vote", "classify", "neighbor_weights",
    "leave_one_out_errors", "Cell", "box_cell", "clip", "voronoi_cell", "voronoi_edges", "Edges",
    "asymptotic_error", "cover_hart_bound", "sample_ball", "cube_share", "tail_probability",
    "nearest_distance", "norm_log_density", "nearest_to_farthest", "KNeighborsClassifier",
    "KNeighborsRegressor",
]  # fmt: skip

QUERIES, SAMPLES = 256, 8192  # of which a block holds the distances: 8 megabytes of float32
BLOCK = 2**18  # numbers worked on at a time elsewhere
FEW = 4  # features, up to which sorting the samples along one of them pays
SLAB = 1024  # samples to begin with, of those so sorted
DEPTH = 32  # samples of which the screening takes the nearest one, before it looks for k
SINGLE = np.finfo(np.float32)


# ---------------------------------------------------------------------------------------
# Norms and distances
# ---------------------------------------------------------------------------------------


def norm(x, p=2):
    """||x||_p = (sum_j |x_j|^p)^{1/p}; the sum for p = 1, the largest |x_j| for p = inf.

    A norm: ||a x|| = |a| ||x||, ||x + y|| <= ||x|| + ||y||, and 0 for x = 0 alone. For p = 2 it is
    sqrt(x^T x); its square is no norm, but has the same neighbours. REP has lost the plus sign
    before x_n^2 (neighbors-29). The vector is scaled first, so that nothing overflows; for p = 1
    and 2 by a power of 2, which rounds nothing.

    x (..., d). Returns: (...).

    >>> v = np.array([3.0, -4.0])
    >>> float(norm(v, 1)), float(norm(v)), float(norm(v, np.inf)), float(norm(1e200 * v) / 1e200)
    (7.0, 5.0, 4.0, 5.0)

    Claims: neighbors-01
    """
    _check_order(p)
    size = np.abs(x)
    largest = size.max(axis=-1)
    if p == inf:
        return largest
    power_of_2 = np.ldexp(0.5, np.frexp(largest)[1])
    unit = power_of_2 if p in (1, 2) else np.where(largest > 0, largest, 1.0)
    return unit * np.sum((size / unit[..., None]) ** p, axis=-1) ** (1 / p)


def distances(x, X, p=2):
    """D(x, x_i) = ||x - x_i||_p of every query with every sample: (m, n).

    For p = 2 through ||x||^2 + ||x_i||^2 - 2 x^T x_i, one matrix product. ISML prints x for both of
    the two vectors (neighbors-29). What shall be near is for the user to say: any function of two
    samples can take the place of the norm.

    Raises: ValueError if such a function gives anything but numbers >= 0.

    >>> x, X = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 2.0]])
    >>> distances(x, X), distances(x, X, p=1), distances(x, X, lambda a, b: abs(b[0] - a[0]))
    (array([[5., 2.]]), array([[7., 2.]]), array([[3., 0.]]))
    """
    if callable(p):
        D = np.array([[float(p(a, b)) for b in X] for a in x]).reshape(len(x), len(X))
        if not (D >= 0).all():
            raise ValueError(f"a distance must be a number >= 0; got {D[~(D >= 0)][0]:g}")
        return D
    if p in (1, 2):
        return manhattan(x, X) if p == 1 else euclidean(x, X)
    D = np.empty((len(x), len(X)))
    for rows in row_blocks(len(x), BLOCK // X.size):
        D[rows] = norm(x[rows, None] - X, p)
    return D


def _check_order(p):
    if not (isinstance(p, Real) and p >= 1):
        raise ValueError(f"p must be a number >= 1: no norm otherwise; got {p!r}")


# ---------------------------------------------------------------------------------------
# The nearest samples
# ---------------------------------------------------------------------------------------


class Neighbors(NamedTuple):
    """The k samples nearest to each query, the nearest first."""

    distance: np.ndarray  # r (m, k), rising
    index: np.ndarray  # (m, k), numbers of the samples


def nearest_neighbors(x, X, k, p=2):
    """N_k(x), the k samples nearest to x; of those equally far the first in X.

    That is what sorting all n distances gives. None is compared but by its true distance, in blocks
    of bounded memory: for p = 2 most samples are ruled out before, by a matrix product in single
    precision with a bound on what that loses.

    Returns: `Neighbors`. Raises: ValueError unless 1 <= k <= n and x has the columns of X.

    >>> X = np.array([[9.0], [3.0], [0.0]])
    >>> nearest_neighbors(np.array([[1.0]]), X, k=2)
    Neighbors(distance=array([[1., 2.]]), index=array([[2, 1]]))
    """
    _check_query(x, X, k)
    if not callable(p):
        _check_order(p)
    x, X = np.asarray(x, dtype=float), np.asarray(X, dtype=float)
    if p == 2:
        return _along_a_feature(x, X, k)
    return Neighbors(*map(np.concatenate, zip(*_by_sorting(x, X, k, p), strict=True)))


def _check_query(x, X, k):
    if not 1 <= k <= len(X):
        raise ValueError(f"k must be between 1 and the {len(X)} samples; got {k}")
    if x.ndim != 2 or X.ndim != 2 or x.shape[1] != X.shape[1] or len(x) == 0:
        raise ValueError(f"queries and samples must be (m, d), (n, d); got {x.shape}, {X.shape}")


def _by_sorting(x, X, k, p):
    """The neighbours of one block of queries after the other, from all their distances."""
    for rows in row_blocks(len(x), BLOCK // len(X)):
        D = distances(x[rows], X, p)
        rim = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
        i, j = np.nonzero(D <= rim)
        yield _first_of_each(i, j, D[i, j], len(D), k)


def _first_of_each(i, j, r, m, k):
    """Of pairs (query i, sample j) at distance r the k nearest of each query: r and j, (m, k).

    Each query has k pairs or more; i is rising, and those of one query and one r are in the order
    of j. They are sorted as the rows of a table, the shorter ones filled up.
    """
    count = np.bincount(i, minlength=m)
    start = np.cumsum(count) - count
    table = np.full((m, count.max()), inf)
    table[i, np.arange(len(i)) - start[i]] = r
    chosen = start[:, None] + np.argsort(table, axis=1, kind="stable")[:, :k]
    return r[chosen], j[chosen]


def _along_a_feature(x, X, k):
    """The same for p = 2. Where features are few, all is put in the order of the widest of them.

    Then the neighbours of a block of queries are not far from it in this order.
    """
    if X.shape[1] > FEW:
        nowhere = np.zeros(len(X)), np.zeros(len(x))
        parts = _screened(x, X, k, np.arange(len(X)), *nowhere)
        return Neighbors(*map(np.concatenate, zip(*parts, strict=True)))
    widest = np.argmax(X.max(axis=0) / 2 - X.min(axis=0) / 2)
    order, turn = np.argsort(X[:, widest]), np.argsort(x[:, widest])
    place, at = X[order, widest], x[turn, widest]
    parts = _screened(x[turn], X[order], k, order, place, at)
    back = np.argsort(turn)
    return Neighbors(*(np.concatenate(part)[back] for part in zip(*parts, strict=True)))


def _screened(x, X, k, number, place, at):
    """The neighbours by blocks of queries; only samples that may be among the k are measured.

    With a and b for x and x_i, moved and scaled, D^2 = ||a||^2 - 2 a^T b + ||b||^2. In single
    precision the last two terms are off by less than c (||a||^2 + ||b||^2), so that

        L = (1 - c) ||b||^2 - 2 a^T b  <=  R^2 - (1 - c) ||a||^2    whenever    D <= R,

    and R, the largest of any k distances, is no less than the k-th. The samples have a `number`
    that they go by and rise in the feature `place`, which the queries have too, `at`.
    """
    A, B, squares, c, unit = _factors(x, X)
    for rows in row_blocks(len(x), max(QUERIES, BLOCK // min(len(X), SAMPLES))):
        m, near, todo = rows.stop - rows.start, None, _around(place, at[rows], k)
        while todo:
            columns = todo.pop()
            L = A[rows] @ B[columns].T
            first = near is None
            R = _kth_at_most(x[rows], X[columns], L, k) if first else near[0][:, -1]
            bound = (R / unit) ** 2 * (1 + c) - (1 - c) * squares[rows]
            bound = np.nextafter((bound + len(B.T) * SINGLE.tiny).astype(np.float32), SINGLE.max)
            i, j = np.divmod(np.flatnonzero(bound[:, None] >= L), L.shape[1])
            r = _pair_distances(x[rows], X[columns], i, j)
            near = _merged(near, i, number[columns][j], r, m, k)
            if first:
                todo = _within(place, at[rows], near[0][:, -1].max(), c, columns)
        yield near


def _around(place, at, k):
    """The block of samples to begin with: those around the queries in the order of `place`."""
    n, middle = len(place), np.searchsorted(place, np.median(at))
    size = min(n, max(k, SAMPLES if place[0] == place[-1] else SLAB))
    start = min(max(0, int(middle) - size // 2), n - size)
    return [slice(start, start + size)]


def _within(place, at, R, c, done):
    """The blocks of the other samples whose `place` is within (1 + c) R of that of some query."""
    with np.errstate(over="ignore"):  # infinitely far, in floating point
        left, right = at.min() - (1 + c) * R, at.max() + (1 + c) * R
    low = min(int(np.searchsorted(place, left)), done.start)
    high = max(int(np.searchsorted(place, right, side="right")), done.stop)
    before = [slice(max(low, t - SAMPLES), t) for t in range(done.start, low, -SAMPLES)]
    after = [slice(t, min(t + SAMPLES, high)) for t in range(done.stop, high, SAMPLES)]
    return before + after


def _factors(x, X):
    """Single-precision A (m, d + 1) and B (n, d + 1) with A B^T = L, and ||a||^2, c and the unit.

    The unit, a power of 2, keeps all in range; the origin is the mean of the samples.
    """
    d = X.shape[1]
    largest = max(x.max(), -x.min(), X.max(), -X.min(), 2.0**-900)
    unit = 2.0 ** min(np.frexp(largest)[1], 1023)
    blocks = row_blocks(len(X), BLOCK // d)
    origin = sum(np.sum(X[rows] / unit, axis=0) for rows in blocks) / len(X)
    c = 4 * (d + 8) * SINGLE.eps
    A, B = (np.empty((len(points), d + 1), dtype=np.float32) for points in (x, X))
    squares = np.empty(len(x))
    for rows in row_blocks(len(x), BLOCK // d):
        a = x[rows] / unit - origin
        squares[rows] = np.einsum("ij,ij->i", a, a)
        A[rows, :d], A[rows, d] = -2 * a, 1.0
    for rows in blocks:
        b = X[rows] / unit - origin
        B[rows, :d], B[rows, d] = b, (1 - c) * np.einsum("ij,ij->i", b, b)
    return A, B, squares, c, unit


def _kth_at_most(x, X, L, k):
    """R (m,), the largest distance of x to k samples that L takes for near.

    They are the nearest ones of k groups, those with the smallest minima.
    """
    m, n = L.shape
    depth = max(1, min(DEPTH, n // (4 * k)))
    groups = L[:, : n // depth * depth].reshape(m, depth, -1)
    g = np.argpartition(groups.min(axis=1), k - 1, axis=1)[:, :k]
    member = np.take_along_axis(groups, g[:, None], axis=2).argmin(axis=1)
    j = member * groups.shape[2] + g
    i = np.repeat(np.arange(m), k)
    return _pair_distances(x, X, i, j.ravel()).reshape(m, k).max(axis=1)


def _pair_distances(x, X, i, j):
    """||x_i - X_j|| of pairs of rows, as it stands."""
    r = np.empty(len(i))
    with np.errstate(over="ignore"):  # infinitely far, in floating point
        for part in row_blocks(len(i), BLOCK // X.shape[1]):
            r[part] = norm(x[i[part]] - X[j[part]])
    return r


def _merged(near, i, j, r, m, k):
    """The k nearest of each query among those known, `near`, and the pairs (i, j)."""
    if near is not None:
        known = np.repeat(np.arange(m), k), near[1].ravel(), near[0].ravel()
        i, j, r = (np.concatenate(pair) for pair in zip(known, (i, j, r), strict=True))
    order = np.lexsort((j, i))
    return _first_of_each(i[order], j[order], r[order], m, k)


def other_neighbors(X, k, p=2):
    """The k samples nearest to each sample among the n - 1 others.

    Returns: `Neighbors`, (n, k). Raises: ValueError unless 1 <= k <= n - 1.

    >>> other_neighbors(np.array([[0.0], [1.0], [3.0]]), k=1).index.ravel()
    array([1, 0, 1])
    """
    if not 1 <= k < len(X):
        raise ValueError(f"k must be between 1 and the {len(X) - 1} other samples; got {k}")
    near = nearest_neighbors(X, X, k + 1, p)
    other = near.index != np.arange(len(X))[:, None]
    other[other.all(axis=1), -1] = False  # behind k + 1 duplicates
    return Neighbors(*(part[other].reshape(len(X), k) for part in near))


# ---------------------------------------------------------------------------------------
# Regression
# ---------------------------------------------------------------------------------------


def relative_frequency(x, X, y):
    """The average of the y_i with x_i = x: E[Y | X = x] of the sample, if x was seen at all.

    For a continuous X no sample equals the query, and the point has to become a region. The five
    events of IRHD's figure 2.2 give 5 at x = 4 as printed pairs (y, x); read as (x, y), as it says,
    they would give 1 (neighbors-06).

    Returns: (m,). Raises: ValueError if a query was never seen.

    >>> X, y = np.array([[1.0], [1.0], [2.0]]), np.array([3.0, 5.0, 7.0])
    >>> relative_frequency(np.array([[1.0], [2.0]]), X, y)
    array([4., 7.])
    """
    averages = []
    for query in np.asarray(x):
        same = y[(X == query).all(axis=1)]
        if len(same) == 0:
            raise ValueError(
                f"x must be among the samples to average their y; got {query.tolist()}"
            )
        averages.append(same.sum() / len(same))
    return np.array(averages)


def regress(x, X, y, k, p=2):
    """f_k(x) = 1/k sum_{x_i in N_k(x)} y_i (REP; IRHD 2.9).

    Two approximations: an average for the expectation, a region for the point.

    >>> X, y = np.array([[1.0], [2.0], [9.0]]), np.array([10.0, 20.0, 90.0])
    >>> regress(np.array([[1.2]]), X, y, k=2)
    array([15.])

    Claims: neighbors-03
    """
    return y[nearest_neighbors(x, X, k, p).index].sum(axis=1) / k


def smoother(x, X, k, p=2):
    """S (m, n) with f_k = S y: s_i = 1/k for the neighbours x_i, 0 for the rest.

    Of targets y_i = f(x_i) + e_i with noise of variance sigma^2 the variance of f_k is
    sigma^2 sum_i s_i^2 = sigma^2 / k, and the bias sum_i s_i f(x_i) - f(x).

    >>> smoother(np.array([[1.2]]), np.array([[1.0], [2.0], [9.0]]), k=2)
    array([[0.5, 0.5, 0. ]])
    """
    S = np.zeros((len(x), len(X)))
    np.put_along_axis(S, nearest_neighbors(x, X, k, p).index, 1 / k, axis=1)
    return S


# ---------------------------------------------------------------------------------------
# Classification
# ---------------------------------------------------------------------------------------


def tally(labels, K, w=None):
    """The sum of the weights w (1 each if not given) of each class among the neighbours: (m, K).

    >>> tally(np.array([[2, 0, 2]]), K=3)
    array([[1., 0., 2.]])
    """
    w = np.ones(labels.shape) if w is None else w
    cells = np.arange(len(labels))[:, None] * K + labels
    return np.bincount(cells.ravel(), w.ravel(), len(labels) * K).reshape(len(labels), K)


def vote(labels, K, w=None, ties="first"):
    """The class of most votes; of several, the "first" (PRNN) or that of the "nearest" neighbour.

    ISML wants k odd, which prevents ties of two classes. With three, k = 3 can end 1 : 1 : 1, and a
    rule is needed (neighbors-15).

    ties : which of the two rules. Returns: (m,).

    >>> labels = np.array([[2, 0, 1], [2, 1, 1]])
    >>> vote(labels, K=3), vote(labels, K=3, ties="nearest")
    (array([0, 1]), array([2, 1]))
    """
    check_choice("ties", ties, ("first", "nearest"))
    votes = tally(labels, K, w)
    if ties == "first":
        return votes.argmax(axis=1)
    winning = np.take_along_axis(votes, labels, axis=1) == votes.max(axis=1, keepdims=True)
    return labels[np.arange(len(labels)), winning.argmax(axis=1)]


def classify(x, X, y, k, p=2, ties="first"):
    """argmax_c k_c(x), k_c the neighbours of class c: with labels -1 and +1, sign of f_k.

    As k_c / (n V) estimates p(x, c), V the volume that holds the k samples, this is the Bayes
    classifier with the k-NN density in the place of the true one. For k = 1 it is the label of the
    nearest sample: right on all training samples, if none of them are equal with different labels
    (ISML says always, neighbors-14).

    `ties` are broken as by `vote`. Returns: labels (m,).

    >>> X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array(["a", "b", "b", "a"])
    >>> classify(np.array([[0.2]]), X, y, k=1), classify(np.array([[0.2]]), X, y, k=3)
    (array(['a'], dtype='<U1'), array(['b'], dtype='<U1'))

    Claims: neighbors-04
    """
    classes, number = np.unique(y, return_inverse=True)
    labels = number[nearest_neighbors(x, X, k, p).index]
    return classes[vote(labels, len(classes), ties=ties)]


def neighbor_weights(r, weights="uniform"):
    """w = 1 ("uniform"), w = r_1 / r ("distance": as 1 / r, in the unit of the nearest), or any.

    Where a sample is at the query itself, only those that are count. `weights` may be a function
    of r.

    >>> r = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> neighbor_weights(r, "distance")
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if callable(weights):
        w = np.asarray(weights(r), dtype=float)
        return _check_weights_of(w, r)
    check_choice("weights", weights, ("uniform", "distance"))
    if weights == "uniform":
        return np.ones(r.shape)
    w = np.ones(r.shape)
    return np.divide(r[:, :1], r, out=w, where=r > r[:, :1])


def _check_weights_of(w, r):
    if (
        w.shape != r.shape
        or not np.isfinite(w).all()
        or (w < 0).any()
        or (w.sum(axis=1) == 0).any()
    ):
        raise ValueError(
            "weights must give finite numbers >= 0 in the shape of the distances, not all of a row "
            f"zero; got shape {w.shape} for {r.shape}"
        )
    return w


def leave_one_out_errors(X, y, ks, p=2):
    """The share of samples that the others get wrong, for every k of `ks`; (len(ks),).

    A sample is its own nearest neighbour, so that its own vote must not count: with it, k = 1 would
    look perfect on any labels. One search answers for all k.

    >>> X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0, 0, 0, 1])
    >>> leave_one_out_errors(X, y, ks=[1, 3])
    array([0.25, 0.25])
    """
    classes, number = np.unique(y, return_inverse=True)
    labels = number[other_neighbors(X, max(ks), p).index]
    return np.array([np.mean(vote(labels[:, :k], len(classes)) != number) for k in ks])


# ---------------------------------------------------------------------------------------
# Voronoi cells
# ---------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A convex polygon; the edge from vertex t to the next one faces the cell of `across[t]`."""

    vertices: np.ndarray  # (v, 2), counter-clockwise
    across: np.ndarray  # (v,), numbers of samples; -1 at the rim of the box


def box_cell(box):
    """The whole box as a cell.

    >>> box_cell([[0, 0], [2, 1]]).vertices.tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]
    """
    (left, bottom), (right, top) = np.asarray(box, dtype=float)
    if not (left < right and bottom < top):
        raise ValueError(
            f"box must be (left, bottom), (right, top); got {np.asarray(box).tolist()}"
        )
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    return Cell(np.array(corners), np.full(4, -1))


def clip(cell, a, c, site):
    """The part of the cell with a^T x <= c; the edge cut along a^T x = c faces the sample `site`.

    Going round, the vertices inside are kept, and where an edge crosses the line it ends. A line
    that cuts nothing off changes nothing. a (2,) is the normal of the line, c a number.

    >>> clip(box_cell([[0, 0], [2, 1]]), np.array([1.0, 0.0]), 1.0, site=7)
    Cell(vertices=array([[0., 0.],
           [1., 0.],
           [1., 1.],
           [0., 1.]]), across=array([-1,  7, -1, -1]))
    """
    beyond = cell.vertices @ a - c
    corners = []
    for t, (f, edge) in enumerate(zip(beyond, cell.across, strict=True)):
        here, there = cell.vertices[t], cell.vertices[(t + 1) % len(beyond)]
        g = beyond[(t + 1) % len(beyond)]
        if f <= 0:
            corners.append((here, edge))
        if (f < 0 < g) or (g < 0 < f):
            corners.append((here + f / (f - g) * (there - here), site if f < 0 else edge))
        elif f == 0 and g > 0:
            corners[-1] = (here, site)
    return Cell(
        np.array([corner for corner, _ in corners]).reshape(-1, 2),
        np.array([edge for _, edge in corners], dtype=int),
    )


def voronoi_cell(X, i, box):
    """The points of the box no farther from x_i than from any other sample of X (n, 2):

        2 (x_j - x_i)^T x <= ||x_j||^2 - ||x_i||^2    for all j,

    half planes, so that the cell is convex. They are cut off the box one by one, the nearest sample
    first; one farther off than twice the farthest vertex cuts nothing.

    i : number of the sample. Returns: `Cell`.

    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    >>> voronoi_cell(X, 0, box=[[-1, -1], [9, 1]]).vertices.tolist()
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]

    Claims: neighbors-10
    """
    cell, steps = box_cell(box), norm(X - X[i])
    for j in np.argsort(steps, kind="stable"):
        if len(cell.vertices) == 0 or steps[j] > 2 * norm(cell.vertices - X[i]).max():
            break
        if steps[j] > 0:
            a = X[j] - X[i]
            cell = clip(cell, a, a @ (X[i] + X[j]) / 2, j)
    return cell


class Edges(NamedTuple):
    """The edges between Voronoi cells."""

    segments: np.ndarray  # (e, 2, 2), the two ends of each
    sites: np.ndarray  # (e, 2), the samples i < j on its two sides


def voronoi_edges(X, box):
    """All edges of the Voronoi diagram of X (n, 2) inside the box, each once.

    Those between samples of different classes are the decision boundary of 1-NN.

    Returns: `Edges`. Raises: ValueError if two samples are equal.

    >>> voronoi_edges(np.array([[0.0, 0.0], [2.0, 0.0]]), box=[[-1, -1], [3, 1]]).sites
    array([[0, 1]])
    """
    distinct, times = np.unique(X, axis=0, return_counts=True)
    if len(distinct) < len(X):
        twice = distinct[times.argmax()].tolist()
        raise ValueError(
            f"samples must be distinct to have cells of their own; got {twice} {times.max()} times"
        )
    segments, sites = [], []
    for i in range(len(X)):
        vertices, across = voronoi_cell(X, i, box)
        for t in np.flatnonzero(across > i):
            segments.append([vertices[t], vertices[(t + 1) % len(vertices)]])
            sites.append([i, across[t]])
    return Edges(np.array(segments).reshape(-1, 2, 2), np.array(sites, dtype=int).reshape(-1, 2))


# ---------------------------------------------------------------------------------------
# How often 1-NN errs
# ---------------------------------------------------------------------------------------


def asymptotic_error(log_p, prior, dx):
    """R_NN = E[1 - sum_k q_k(x)^2], the error of 1-NN as n grows: E[2 q (1 - q)] of two classes.

    The nearest sample is then at x itself, and the two labels are drawn by the same posterior,
    independently: they agree with probability sum_k q_k^2. What is passed is what `bayes_error`
    takes: log_p (m, K) at the points of a quadrature, its weights dx (m,), the prior (K,). Points
    where no sample can be add nothing.

    >>> log_p, dx = np.log([[0.5, 0.5], [0.5, 0.5]]), np.ones(2)
    >>> round(asymptotic_error(log_p, np.array([0.75, 0.25]), dx), 12)  # 2 (3/4) (1/4)
    0.375
    """
    log_evidences = log_evidence(log_p, prior)
    seen = log_evidences > -inf
    q = posterior(log_p[seen], prior)
    return float((dx * np.exp(log_evidences))[seen] @ (1 - np.sum(q**2, axis=1)))


def cover_hart_bound(R, K=2):
    """R (2 - K / (K - 1) R), which is 2 R (1 - R) <= 2 R for two classes: R* <= R_NN <= bound(R*).

    PRNN states the factor 2 without the limit. For finite n it can fail: with one sample of two
    classes that do not overlap, R* = 0, and half of all x are wrong (neighbors-20).

    R : the Bayes error R*. K : classes.

    >>> cover_hart_bound(0.25), cover_hart_bound(0.5)
    (0.375, 0.5)
    """
    return R * (2 - K / (K - 1) * R)


# ---------------------------------------------------------------------------------------
# Many dimensions
# ---------------------------------------------------------------------------------------


def sample_ball(n, d, *, rng):
    """n points uniformly of the unit ball in d dimensions: P(||x|| <= r) = r^d, (n, d).

    IRHD says sphere; on a sphere all points have the distance 1 from its centre (neighbors-27).

    >>> bool((norm(sample_ball(100, 3, rng=np.random.default_rng(0))) < 1).all())
    True
    """
    return sample_kernel(n, d, "tophat", rng=rng)


def cube_share(d):
    """V_d / 2^d = pi^{d/2} / (2^d Gamma(d/2 + 1)), what the unit ball fills of its cube.

    >>> [round(cube_share(d), 4) for d in (1, 2, 3, 10)]
    [1.0, 0.7854, 0.5236, 0.0025]
    """
    return ball_volume(0.5, d)


def tail_probability(alpha, d):
    """1 - (1 - alpha)^d: that at least one of d independent components is in a tail of mass alpha.

    >>> round(tail_probability(0.05, d=10), 3)
    0.401
    """
    return float(-np.expm1(d * np.log1p(-alpha)))


def nearest_distance(n, d, share=0.5):
    """r with P(nearest <= r) = share, from the centre of the unit ball to n points uniform in it:

        P(nearest > r) = (1 - r^d)^n,    r = (1 - (1 - share)^{1/n})^{1/d}.

    The median by default, it falls as n^{-1/d}: to halve it takes 2^d times as many samples.

    >>> round(nearest_distance(500, d=10), 2)
    0.52
    """
    return float(-np.expm1(np.log1p(-share) / n)) ** (1 / d)


def norm_log_density(r, d):
    """ln p(r) of r = ||x||, x from N(0, I) in d dimensions (chi):

        p(r) = r^{d-1} exp(-r^2 / 2) / (2^{d/2-1} Gamma(d/2)),    largest at r = sqrt(d - 1).

    r (m,), positive. The density of x is largest at the mean, and yet for large d nothing is there.

    >>> r = np.array([1.0])
    >>> float(np.exp(norm_log_density(r, d=2)[0]).round(6)), float(np.exp(-0.5).round(6))
    (0.606531, 0.606531)
    """
    return (d - 1) * np.log(r) - r**2 / 2 - (d / 2 - 1) * log(2) - lgamma(d / 2)


def nearest_to_farthest(x, X, p=2):
    """min_i D(x, x_i) / max_i D(x, x_i) of each query: near 1, near means nothing. (m,)

    >>> nearest_to_farthest(np.array([[0.0]]), np.array([[1.0], [4.0], [2.0]]))
    array([0.25])
    """
    D = distances(x, X, p)
    return D.min(axis=1) / D.max(axis=1)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

ORDERS = {"euclidean": 2, "manhattan": 1, "chebyshev": inf}


class _KNeighbors(Estimator):
    """What the two have in common: the samples, and the search among them."""

    def __init__(self, n_neighbors=5, *, weights="uniform", p=2, metric="minkowski"):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.p = p
        self.metric = metric

    def _keep(self, X):
        """Check the hyperparameters, and store the samples: that is all there is to learn."""
        k = check_number("n_neighbors", self.n_neighbors, at_least=1, integer=True)
        if not callable(self.weights):
            check_choice("weights", self.weights, ("uniform", "distance"))
        if not callable(self.metric):
            check_choice("metric", self.metric, ("minkowski", *ORDERS))
        check_number("p", self.p, at_least=1)
        _check_enough(k, len(X))
        self.samples_, self.n_samples_fit_ = np.array(X, order="C"), len(X)

    def _order(self):
        """The p of the search: a number, or the user's own metric."""
        if callable(self.metric):
            return self.metric
        return ORDERS.get(self.metric, self.p)

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The nearest samples of X (m, d): distances (m, k) and numbers (m, k), nearest first.

        Without X those of the training samples, none being a neighbour of itself; n_neighbors
        takes the place of the estimator's; without return_distance the numbers alone.
        """
        queries = self._check_fitted(
            getattr(self, "samples_", np.zeros((1, 1))) if X is None else X
        )
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_number("n_neighbors", k, at_least=1, integer=True)
        check_flag("return_distance", return_distance)
        _check_enough(k, self.n_samples_fit_ - (X is None))
        if X is None:
            near = other_neighbors(queries, k, self._order())
        else:
            near = nearest_neighbors(queries, self.samples_, k, self._order())
        return tuple(near) if return_distance else near.index

    def _weighted(self, X):
        """What the neighbours of X say, and their weights: both (m, k)."""
        X = self._check_fitted(X)
        r, index = nearest_neighbors(X, self.samples_, self.n_neighbors, self._order())
        return self.targets_[index], neighbor_weights(r, self.weights)


def _check_enough(k, n):
    if k > n:
        raise ValueError(f"n_neighbors must be at most the {n} samples to choose from; got {k}")


class KNeighborsClassifier(_KNeighbors, Classifier):
    """The vote of the k nearest samples; scikit-learn's, by exact search without a tree.

    Samples equally far come in the order of X, classes of equally many votes in sorted order.

    Parameters
    ----------
    n_neighbors : int; k. Odd, it leaves no ties of two classes (of three it does)
    weights : "uniform", "distance" (1 / r) or a function of the distances (m, k)
    p : number >= 1; the order of the norm, where `metric` is "minkowski"
    metric : "minkowski", "euclidean", "manhattan", "chebyshev", or a function of two samples

    Attributes
    ----------
    samples_ : ndarray of shape (n, d); all samples: the learning is put off until a question
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
        """The share of each class in the weight of the neighbours: (m, K)."""
        labels, w = self._weighted(X)
        shares = tally(labels, len(self.classes_), w)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Labels (m,): the class of largest weight."""
        labels, w = self._weighted(X)
        return self.classes_[vote(labels, len(self.classes_), w)]


class KNeighborsRegressor(_KNeighbors, Regressor):
    """The average of the k nearest samples; scikit-learn's, by exact search without a tree.

    Parameters
    ----------
    n_neighbors : int; k. The variance of a prediction is sigma^2 / k, its bias grows with k
    weights : "uniform", "distance" (1 / r) or a function of the distances (m, k)
    p : number >= 1; the order of the norm, where `metric` is "minkowski"
    metric : "minkowski", "euclidean", "manhattan", "chebyshev", or a function of two samples

    Attributes
    ----------
    samples_ : ndarray of shape (n, d)
    targets_ : ndarray of shape (n,)
    n_samples_fit_, n_features_in_ : int

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
        y, w = self._weighted(X)
        return np.sum(w * y, axis=1) / np.sum(w, axis=1)
