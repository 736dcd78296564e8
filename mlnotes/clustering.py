"""Clustering: groups whose members are more like each other than like the rest, without labels.

Three ingredients make a method: a dissimilarity of samples, a loss of a grouping, an algorithm
that lowers the loss. K-means takes squared distances to K centers and alternates two exact
minimisations. It has five weaknesses. The remedies for three of them are here; the other two
share theirs, the soft assignment of the next chapter, mixture.

Contents
    Dissimilarity             euclidean, manhattan, gower, pair_covariance,
                              mahalanobis, whiten
    The loss                  responsibilities, loss, cluster_means, scatter, Scatter
    The exact optimum         partitions, best_partition
    K-means                   nearest, lloyd, Clusters, fill_empty, kmeans_plus_plus
    Vector quantisation       encode, decode, storage
    Another loss (robust)     alternate, k_medians, k_medoids, Medoids, build
    Another K (hierarchical)  agglomerate, Merges, ward, linkage, cut, dendrogram, Dendrogram
    Another shape (spectral)  rbf_affinity, neighbor_affinity, laplacian, lanczos, Ritz,
                              lowest_eigenvectors, spectral_embedding
    Comparing groupings       adjusted_rand_index
    Estimators                KMeans, KMedoids, AgglomerativeClustering, SpectralClustering

Symbols
    X         (n, d)      samples x_i, one per row; `sample_weight` (n,) counts x_i w_i times
    K         int         number of clusters
    centers   (K, d)      prototypes mu_k
    labels    (n,)        c_i in {0, ..., K-1}, the cluster of x_i
    R         (n, K)      responsibilities r_ik = 1 if c_i = k, else 0
    n_k       (K,)        samples (or their weights) in each cluster
    J         float       the loss, sum_i ||x_i - mu_{c_i}||^2 for K-means
    D         (n, n)      dissimilarities of all pairs, symmetric, 0 on the diagonal
    merges    (n - 1, 4)  a hierarchy: row t makes cluster n + t out of the clusters in its first
                          two columns (below n: samples), at a height, with so many samples
    W, L      (n, n)      similarities w_ij >= 0 of all pairs, and their Laplacian
    rng       Generator   draws the start

Notes: ISML "Clustering" 1-3; REP "K-means Optimization Problem"; IRHD 4. REP writes k for K and
j for our k. The mixture of Gaussians that both go on to is the chapter mixture.
"""

import warnings
from functools import partial
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Clusterer,
    ConvergenceWarning,
    Transformer,
    check_choice,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    check_weights,
    iterate,
    row_blocks,
    shared,
)
from mlnotes.numerics import squared_distances, squared_norms

__all__ = [
    "euclidean", "manhattan", "gower", "pair_covariance", "mahalanobis",
    "whiten", "responsibilities", "loss", "cluster_means", "scatter", "Scatter", "partitions",
    "best_partition", "nearest", "lloyd", "Clusters", "fill_empty", "kmeans_plus_plus", "encode",
    "decode", "storage", "alternate", "k_medians", "k_medoids", "Medoids", "build", "agglomerate",
    "Merges", "ward", "linkage", "cut", "dendrogram", "Dendrogram", "rbf_affinity",
    "neighbor_affinity", "laplacian", "lanczos", "Ritz", "lowest_eigenvectors",
    "spectral_embedding", "adjusted_rand_index", "KMeans", "KMedoids", "AgglomerativeClustering",
    "SpectralClustering",
]  # fmt: skip

BLOCK = 2**16  # numbers that are worked on at a time: they fit the cache
CANCELLED = 1e-3  # a difference so much smaller than its terms has lost 3 of its 16 digits
BLURRED = 1e-10  # one that has lost 10 has still enough of them to draw by
SAME = 1e-13  # a mean of equal samples is so close to them, relative to the largest number
FAR = 100.0  # a sample whose square is so many times the usual one
FEW = 3  # samples: up to n / 3 are handled one by one, more of them with all others
PRODUCTS = 8  # with L, between two looks at the eigenvectors
RESIDUAL = 1e-10  # of an eigenvector, relative to L
ASYMMETRY = 1e-8  # of a matrix of all pairs, relative to its largest entry


def _blocks(n, width):
    """Slices of n rows of that width, a BLOCK each."""
    return row_blocks(n, BLOCK // width)


def _check_clusters(K, n, name="K"):
    check_number(name, K, at_least=1, integer=True)
    if K > n:
        raise ValueError(f"{name} must be at most n_samples; got {K} for {n} sample(s)")
    return K


# ---------------------------------------------------------------------------------------
# Dissimilarity
# ---------------------------------------------------------------------------------------


def euclidean(X, Y=None):
    """D(x, y) = sqrt(sum_j (x_j - y_j)^2) of every pair, (n, m); of the rows of X for Y = None.

    It does not change when both are turned, mirrored or shifted, nor its ranking of pairs when
    all features are scaled by one factor, as ISML says of no scaling at all (clustering-06).
    ISML names the second sample x_p, after the last feature (clustering-25).

    >>> euclidean(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[5., 1.]])
    """
    return np.sqrt(squared_distances(X, Y))


def manhattan(X, Y=None):
    """D(x, y) = sum_j |x_j - y_j| (L1) of every pair, (n, m); of the rows of X for Y = None.

    >>> manhattan(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[7., 1.]])
    """
    Y = X if Y is None else Y
    D = np.zeros((len(X), len(Y)))
    for rows in _blocks(len(X), len(Y)):
        for x, y in zip(X[rows].T, Y.T, strict=True):
            D[rows] += np.abs(x[:, None] - y)
    return D


def gower(X, kinds):
    """The mean over the features of a dissimilarity in [0, 1] that suits the kind of each.

        "categorical"    0 if equal, else 1
        "ordinal"        |difference of ranks| / (R - 1), R distinct values being ranked 1 ... R
        "quantitative"   |difference| / range

    `kinds` has one of these words per feature; categories are numbers in X, whatever numbers. A
    feature that is constant counts 0.

    Returns: (n, n).

    >>> gower(np.array([[0, 1.0], [7, 2.0], [7, 5.0]]), ["categorical", "quantitative"])
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 0.375],
           [1.   , 0.375, 0.   ]])

    Raises: ValueError for a kind that is none of the three, or of another number than d.

    Claims: clustering-03
    """
    if len(kinds) != X.shape[1]:
        raise ValueError(f"kinds must name one kind per feature; got {len(kinds)} for {X.shape[1]}")
    D = np.zeros((len(X), len(X)))
    for x, kind in zip(X.T, kinds, strict=True):
        check_choice("a kind", kind, ("categorical", "ordinal", "quantitative"))
        if kind != "quantitative":
            x = np.unique(x, return_inverse=True)[1]
        difference = np.abs(x[:, None] - x)
        D += difference > 0 if kind == "categorical" else difference / (np.ptp(x) or 1.0)
    return D / len(kinds)


def pair_covariance(X, pairs):
    """Sigma = 1/2 mean of (x_i - x_l)(x_i - x_l)^T over the pairs (i, l) of like samples.

    What a user declares alike teaches a dissimilarity: `mahalanobis` with this Sigma makes
    little of the directions in which like samples differ anyway.

    Returns: (d, d).

    >>> pair_covariance(np.array([[0.0, 0.0], [4.0, 1.0]]), [(0, 1)])
    array([[8. , 2. ],
           [2. , 0.5]])
    """
    first, second = np.transpose(pairs)
    difference = X[first] - X[second]
    return difference.T @ difference / (2 * len(difference))


def mahalanobis(X, Y, Sigma):
    """D(x, y) = sqrt((x - y)^T Sigma^{-1} (x - y)) of every x in X with every y in Y, (n, m).

    It is the Euclidean distance after `whiten`.

    >>> mahalanobis(np.array([[0.0, 0.0]]), np.array([[4.0, 0.0]]), np.diag([4.0, 1.0]))
    array([[2.]])
    """
    return euclidean(whiten(X, Sigma), whiten(Y, Sigma))


def whiten(X, Sigma):
    """C^{-1} x of every sample, where Sigma = C C^T (Cholesky): (n, d).

    >>> whiten(np.array([[4.0, 3.0]]), np.diag([4.0, 1.0]))
    array([[2., 3.]])
    """
    return np.linalg.solve(np.linalg.cholesky(Sigma), X.T).T


# ---------------------------------------------------------------------------------------
# The loss
# ---------------------------------------------------------------------------------------


def responsibilities(labels, K):
    """R (n, K): r_ik = 1 if c_i = k, else 0, so that every row sums to 1.

    >>> responsibilities(np.array([0, 2, 1, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.],
           [0., 0., 1.]])

    Raises: ValueError for a label that is none of 0, ..., K - 1.
    """
    R = np.asarray(labels)[:, None] == np.arange(K)
    if not R.any(axis=1).all():
        raise ValueError(f"labels must be 0, ..., K - 1 for K = {K}; got {np.unique(labels)}")
    return R.astype(float)


def loss(X, centers, labels=None, sample_weight=None):
    """J = sum_i sum_k r_ik ||x_i - mu_k||^2; without labels, of the nearest centers.

    cost(mu_1, ..., mu_K) = sum_i min_k ||x_i - mu_k||^2 is that of the centers alone. REP prints
    ||x_i - mu_j||^2 with a free j where the minimum belongs, and no 1/n in what it calls an
    average (clustering-08): for any fixed j that is at least as large, and smallest where mu_j
    is the mean of all samples.

    >>> X, centers = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [9.0]])
    >>> loss(X, centers, labels=np.array([0, 0, 1])), loss(X, centers, np.array([0, 1, 1]))
    (2.0, 50.0)

    Claims: clustering-07
    """
    labels = nearest(X, centers)[0] if labels is None else labels
    return float(squared_norms(X - centers[labels]) @ _weights(X, sample_weight))


def _weights(X, sample_weight):
    return np.ones(len(X)) if sample_weight is None else sample_weight


def cluster_means(X, labels, K, sample_weight=None):
    """mu_k = sum_i r_ik x_i / sum_i r_ik, the centers (K, d) that minimise J for these labels.

    dJ/dmu_k = -2 sum_i r_ik (x_i - mu_k) vanishes there, and J(mu_k + delta) = J + n_k
    ||delta||^2.

    >>> cluster_means(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]), 2)
    array([[1.5],
           [6. ]])

    Raises: ValueError for an empty cluster, whose mean would be 0/0 (clustering-15).
    """
    R = responsibilities(labels, K) * _weights(X, sample_weight)[:, None]
    n_k = R.sum(axis=0)
    if not n_k.all():
        raise ValueError(f"every cluster must have a sample; got n_k = {n_k}")
    return R.T @ X / n_k[:, None]


class Scatter(NamedTuple):
    """Scatter matrices (d, d): sums of outer products; their traces sum squared distances."""

    total: np.ndarray  # sum_i (x_i - m)(x_i - m)^T, of the samples about their mean m
    within: np.ndarray  # sum_i (x_i - mu_{c_i})(x_i - mu_{c_i})^T, about their cluster's mean
    between: np.ndarray  # sum_k n_k (mu_k - m)(mu_k - m)^T, of the means about m


def scatter(X, labels):
    """What any labels take apart: total = within + between, as matrices and in the trace.

    J is the trace of `within`: small J and clusters far from each other are the same thing. A
    sample replaced by its center keeps the `between` part alone, on K points at most.

    Returns: `Scatter`.

    >>> S = scatter(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))
    >>> [float(each[0, 0]) for each in S]
    [26.0, 2.0, 24.0]

    Claims: clustering-01
    """
    k = np.unique(labels, return_inverse=True)[1]
    replaced = cluster_means(X, k, k.max() + 1)[k]
    parts = X - X.mean(axis=0), X - replaced, replaced - X.mean(axis=0)
    return Scatter(*(each.T @ each for each in parts))


# ---------------------------------------------------------------------------------------
# The exact optimum
# ---------------------------------------------------------------------------------------


def partitions(n, K, most=1_000_000):
    """All groupings of n samples into K clusters, none empty: the labels, one grouping per row.

    A new cluster takes the smallest number that is free, so that no grouping comes twice.

    Raises: ValueError if there are more than `most`.

    >>> partitions(3, 2)
    array([[0, 0, 1],
           [0, 1, 0],
           [0, 1, 1]])
    """
    count = sum((-1) ** k * comb(K, k) * (K - k) ** n for k in range(K + 1))
    if count > most * factorial(K):
        raise ValueError(f"there must be at most {most} partitions of {n} samples into {K}")
    P = np.zeros((1, 0), dtype=np.intp)
    for left in reversed(range(n)):
        choices = np.minimum(P.max(axis=1, initial=-1) + 2, K)
        last = np.concatenate([np.arange(c) for c in choices])
        P = np.column_stack([np.repeat(P, choices, axis=0), last])
        P = P[P.max(axis=1) + left >= K - 1]  # samples are left for the clusters still missing
    return P


def best_partition(X, K):
    """The labels (n,) of the smallest J that K centers can have, by looking at every partition.

    J = sum_i ||x_i - m||^2 - sum_k n_k ||mu_k - m||^2, and only the second sum depends on them.

    >>> best_partition(np.array([[0.0], [1.0], [5.0], [6.0]]), 2)
    array([0, 0, 1, 1])

    Raises: ValueError unless 1 <= K <= n, or for more partitions than `partitions` gives.
    """
    P = partitions(len(X), _check_clusters(K, len(X)))
    centered = X - X.mean(axis=0)
    between = 0
    for k in range(K):
        R_k = (P == k).astype(float)
        between = between + squared_norms(R_k @ centered) / R_k.sum(axis=1)
    return P[between.argmax()]


# ---------------------------------------------------------------------------------------
# K-means
# ---------------------------------------------------------------------------------------


class Clusters(NamedTuple):
    """A grouping by centers, after a step."""

    centers: np.ndarray  # (K, d)
    labels: np.ndarray  # (n,), of the nearest of these centers
    objective: float  # the loss of these centers and labels
    moved: float  # sum_k ||mu_k - the one before||^2; inf at the start


def nearest(X, centers):
    """c_i = argmin_k ||x_i - mu_k||^2, the first of several: the E-step, exact for these centers.

    Each center gets the points of a convex cell, bounded by the planes halfway to its neighbours.

    Returns: labels (n,), and the squared distances (n,) to these centers.

    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1]), array([1., 4.]))
    """
    labels, least = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    for rows in _blocks(len(X), len(centers)):
        D = squared_distances(centers, X[rows])
        least[rows] = D.min(axis=0)
        labels[rows] = _first_equal(D, least[rows])
    return labels, least


def lloyd(X, centers, sample_weight=None):
    """c_i = argmin_k ||x_i - mu_k||^2, then mu_k = mean of its samples, until no center moves.

    Either step minimises J exactly with the other part fixed, so that J falls until the labels
    stop changing; with finitely many partitions it must stop, though perhaps not at the best of
    them. A sample leaves its center only for a strictly nearer one; at the start the first of
    several nearest has it. An empty cluster has no mean: `fill_empty` gives it a sample.

    Written for speed, it is `alternate(X, centers, squared_distances, mean)`: x is nearest to the
    mu for which mu^T x - ||mu||^2 / 2 is largest, and is not asked again before the centers have
    moved far enough to make another the nearest. Where all of it is much smaller than ||x||^2, and
    digits would cancel, the distances are taken as they stand, and the first of several nearest.

    Yields: the start, then `Clusters` per step.

    >>> X = np.array([[0.0], [1.0], [7.0], [8.0], [9.0]])
    >>> for state in lloyd(X, centers=X[:2]):
    ...     print(state.centers.ravel(), state.labels, state.objective, state.moved)
    [0. 1.] [0 1 1 1 1] 149.0 inf
    [0.   6.25] [0 0 1 1 1] 12.1875 27.5625
    [0.5 8. ] [0 0 1 1 1] 2.5 3.3125
    [0.5 8. ] [0 0 1 1 1] 2.5 0.0

    Claims: clustering-11
    """
    w, K = _weights(X, sample_weight), len(centers)
    origin = w @ X / w.sum()
    search = _Search(_columns(X, origin))
    steady = search.squares <= FAR * search.squares.mean()
    running = _RunningSums(search.A, K, steady, sample_weight)
    labels, moved = np.zeros(len(X), dtype=np.intp), np.inf
    spread, cancelled = float(search.squares @ w), False
    while True:
        if moved > 0 and not cancelled:
            mu = centers - origin
            labels = search.nearest(mu, labels)
            sums = running.of(labels)
            J = float(spread - 2 * np.vdot(mu, sums[:-1].T) + sums[-1] @ squared_norms(mu))
            if J < CANCELLED * spread:
                cancelled, origin, squares = True, np.zeros_like(origin), squared_norms(X)
                steady = squares <= FAR * np.median(squares)  # few samples may hold all of a mean
                running = _RunningSums(_columns(X, origin), K, steady, sample_weight)
        if moved > 0 and cancelled:
            labels, least = nearest(X, centers)
            J, sums = float(w @ least), running.of(labels)
        yield Clusters(centers, labels, J, moved)
        if moved == 0:
            return
        if not sums[-1].all():
            labels = fill_empty(X, centers, labels, sample_weight)
            sums = running.of(labels)
        means = _means(sums, origin, centers)
        moved, centers = float(np.sum((means - centers) ** 2)), means


def _means(sums, origin, centers):
    """mu_k = sum_i r_ik x_i / n_k; what cannot be filled keeps its center."""
    n_k = sums[-1, :, None]
    return np.where(n_k > 0, sums[:-1].T / np.where(n_k > 0, n_k, 1) + origin, centers)


def _columns(X, origin):
    """A (d + 1, n): a column (x - origin, 1) per sample."""
    A = np.ones((X.shape[1] + 1, len(X)))
    for rows in _blocks(len(X), len(A)):
        A[:-1, rows] = (X[rows] - origin).T
    return A


def _scores(mu):
    """W (K, d + 1), such that W (x, 1) is mu^T x - ||mu||^2 / 2, largest for the nearest mu."""
    return np.column_stack([mu, -squared_norms(mu) / 2])


class _Search:
    """Nearest centers, for centers that move little from one time to the next.

    How much farther from a sample the next center is than its own, its slack, shrinks by no more
    than its own center and the one that moves most among the others move. While there is slack
    left the sample keeps its label, unasked.
    """

    def __init__(self, A):
        self.A, self.squares = A, np.einsum("ij,ij->j", A[:-1], A[:-1])
        self.labels, self.mu, self.slack = None, None, np.zeros(A.shape[1])

    def nearest(self, mu, labels):
        """The labels, changed where another center is strictly nearer."""
        if self.mu is not None:
            moves = np.linalg.norm(mu - self.mu, axis=1)
            self.slack -= (moves + _largest_other(moves))[labels]
            self.slack[labels != self.labels] = 0
        self.mu, self.labels = mu, labels.copy()
        W = _scores(mu)
        for samples in self._doubtful(len(mu)):
            self._ask(W, samples)
        return self.labels

    def _doubtful(self, K):
        """The samples without slack, or simply all, in blocks."""
        n, doubtful = len(self.slack), np.flatnonzero(self.slack <= 0)
        if FEW * len(doubtful) > n:
            return _blocks(n, K)
        return [doubtful[rows] for rows in _blocks(len(doubtful), K)]

    def _ask(self, W, samples):
        F = W @ self.A[:, samples]
        labels, squares, flat = self.labels[samples], self.squares[samples], F.ravel()
        at = labels * len(labels) + np.arange(len(labels))
        own, flat[at] = flat[at], -np.inf
        other = F.max(axis=0)
        nearer = np.flatnonzero(other > own)
        labels[nearer] = _first_equal(F.take(nearer, axis=1), other[nearer])
        self.labels[samples] = labels
        self.slack[samples] = _distance(squares, other) - _distance(squares, own)


def _largest_other(moves):
    """The largest of all entries but this one, for every entry."""
    second, first = np.sort(np.append(moves, 0.0))[-2:]
    return np.where(moves == first, second, first)


def _first_equal(F, top):
    """The first row in which each column of F equals its top: argmax or argmin, but faster."""
    ranks = np.arange(len(F), 0, -1, dtype=np.min_scalar_type(len(F)))
    return len(F) - ((F == top) * ranks[:, None]).max(axis=0).astype(np.intp)


def _distance(squares, f):
    """||x - mu|| of ||x||^2 and f = mu^T x - ||mu||^2 / 2."""
    return np.sqrt(np.maximum(squares - 2 * f, 0))


class _RunningSums:
    """sum_i r_ik w_i (x_i, 1) of labels that change little from one time to the next."""

    def __init__(self, A, K, steady, sample_weight):
        self.A, self.K = A if sample_weight is None else sample_weight * A, K
        self.labels, self.sums = np.full(A.shape[1], -1), None
        self.steady = steady & (sample_weight is None)

    def of(self, labels):
        """Sums (d + 1, K): afresh, or the last ones with the samples that changed since.

        The latter where these are few, all of them `steady`, which is not so far out that their
        rounding would stay behind in a sum that they have left, and the weights are 1, so that
        counts are exact.
        """
        changed = np.flatnonzero(labels != self.labels)
        if FEW * len(changed) > len(labels) or not self.steady[changed].all():
            self.sums = self._add_up(slice(None), labels)
        elif len(changed):
            left, entered = self.labels[changed], labels[changed]
            self.sums = self.sums - self._add_up(changed, left) + self._add_up(changed, entered)
        self.labels = labels
        return self.sums

    def _add_up(self, samples, labels):
        return np.array([np.bincount(labels, row, self.K) for row in self.A[:, samples]])


def fill_empty(X, centers, labels, sample_weight=None):
    """Labels in which every empty cluster has been given the sample that adds most to J.

    Where its center then moves to that sample J falls, so that Lloyd's algorithm still ends. A
    sample that is alone in its cluster stays. Where no sample adds more than rounding, as with
    fewer distinct samples than clusters, a cluster stays empty and its center where it is.

    Returns: (n,).

    >>> X, centers = np.array([[0.0], [1.0], [5.0]]), np.array([[1.0], [99.0]])
    >>> fill_empty(X, centers, labels=np.array([0, 0, 0]))
    array([0, 0, 1])
    """
    labels, w = labels.copy(), _weights(X, sample_weight)
    squares = squared_norms(X - centers[labels])
    share = w * squares * (squares > (SAME * np.abs(X).max()) ** 2)
    members = np.bincount(labels, w > 0, len(centers))
    for k in np.flatnonzero(members == 0):
        i = np.argmax(share * (members[labels] > 1))
        if share[i] > 0 and members[labels[i]] > 1:
            members[labels[i]] -= 1
            labels[i] = k
    return labels


def kmeans_plus_plus(X, K, *, sample_weight=None, rng):
    """K of the samples to start from, drawn far apart: x with probability ~ w_x D(x)^2.

    D(x) is the distance to the nearest center drawn before; the first is drawn by w alone. Of
    a few draws the one is kept that leaves the smallest sum_i w_i D(x_i)^2. Lined up along a
    random direction first, the samples may come in any order, a sample of weight 2 twice.

    Returns: centers (K, d).

    >>> X = np.array([[0.0], [0.0], [0.0], [9.0]])
    >>> np.sort(kmeans_plus_plus(X, 2, rng=np.random.default_rng(0)).ravel())
    array([0., 9.])

    Raises: ValueError unless 1 <= K <= n.
    """
    A, w = _columns(X, X.mean(axis=0)), _weights(X, sample_weight)
    squares = np.einsum("ij,ij->j", A[:-1], A[:-1])
    line = np.argsort(rng.normal(size=X.shape[1]) @ A[:-1])
    least, chosen, cancelled = np.full(len(X), np.inf), [], False
    trials = 2 + int(np.log(_check_clusters(K, len(X))))
    for draws in [1] + [trials] * (K - 1):
        share = w * least if chosen else w
        reach = np.cumsum((share if share.any() else w)[line])
        drawn = line[np.searchsorted(reach, (1 - rng.uniform(size=draws)) * reach[-1])]
        after = squared_distances(X[drawn], X) if cancelled else _expanded(A, squares, drawn)
        np.clip(after, 0, least, out=after)
        best = (after @ w).argmin()
        least = after[best]
        chosen.append(drawn[best])
        if not cancelled and least @ w < BLURRED * (squares @ w):
            cancelled, least = True, nearest(X, X[chosen])[1]
    return X[chosen]


def _expanded(A, squares, chosen):
    """||x||^2 - 2 (mu^T x - ||mu||^2 / 2) of the chosen samples mu and all x: (len(chosen), n)."""
    D = _scores(A[:-1, chosen].T) @ A
    D *= -2
    D += squares
    return D


# ---------------------------------------------------------------------------------------
# Vector quantisation
# ---------------------------------------------------------------------------------------


def encode(X, codebook):
    """The code of x is the index of the nearest of the K vectors in the codebook: (n,).

    K-means makes the codebook of smallest distortion: ||X - decode(encode(X))||^2 is its J.

    >>> encode(np.array([[1.0, 1.0], [8.0, 9.0]]), codebook=np.array([[0.0, 0.0], [9.0, 9.0]]))
    array([0, 1])

    Claims: clustering-17
    """
    return nearest(X, codebook)[0]


def decode(codes, codebook):
    """Look the codes up: at most K different rows, (n, d).

    >>> decode(np.array([0, 1]), codebook=np.array([[0.0, 0.0], [9.0, 9.0]]))
    array([[0., 0.],
           [9., 9.]])
    """
    return codebook[codes]


def storage(n, d, K, *, bits):
    """Bits for n codes and the codebook, n ceil(log2 K) + K d bits, and for n d plain numbers.

    `bits` is what a plain number takes.

    >>> storage(1000, 3, 16, bits=8)
    (4384, 24000)
    """
    return n * (K - 1).bit_length() + K * d * bits, n * d * bits


# ---------------------------------------------------------------------------------------
# Another loss (robust)
# ---------------------------------------------------------------------------------------


def alternate(X, centers, dissimilarity, prototype):
    """K-means with any ingredients: c_i = argmin_k D(x_i, mu_k), mu_k = prototype(its samples).

    `dissimilarity` takes X and the centers to D (n, K), and the loss is sum_i D(x_i, mu_{c_i});
    `prototype` takes samples (m, d) to the center (d,) with the smallest sum of dissimilarities
    to them, so that neither step raises the loss. An empty cluster keeps its center.

    Yields: the start, then `Clusters` per step, until no center moves.

    >>> X = np.array([[0.0], [1.0], [7.0], [8.0], [9.0]])
    >>> for state in alternate(X, X[:2], squared_distances, prototype=partial(np.mean, axis=0)):
    ...     print(state.centers.ravel(), state.objective)
    [0. 1.] 149.0
    [0.   6.25] 12.1875
    [0.5 8. ] 2.5
    [0.5 8. ] 2.5

    Claims: clustering-02
    """
    moved = np.inf
    while True:
        D = dissimilarity(X, centers)
        labels = D.argmin(axis=1)
        yield Clusters(centers, labels, float(D.min(axis=1).sum()), moved)
        if moved == 0:
            return
        before, centers = centers, np.array(centers, dtype=float)
        for k in np.unique(labels):
            centers[k] = prototype(X[labels == k])
        moved = float(np.sum((centers - before) ** 2))


def k_medians(X, centers):
    """K-means for D = sum_j |x_j - mu_j|: the median of every feature is the best center.

    A sample that goes to infinity takes the mean of its cluster of n_k along, 1/n_k of its way;
    the median stays within the range of the other samples while these are more than half.

    Yields: the start, then `Clusters` per step.

    >>> X = np.array([[0.0], [1.0], [2.0], [1000.0]])
    >>> *_, last = k_medians(X, centers=X[:1])
    >>> last.centers, last.objective
    (array([[1.5]]), 1001.0)

    Claims: clustering-21
    """
    return alternate(X, centers, manhattan, partial(np.median, axis=0))


class Medoids(NamedTuple):
    """A grouping by medoids, after a swap."""

    medoids: np.ndarray  # (K,), which samples they are
    labels: np.ndarray  # (n,), of the nearest of them
    objective: float  # sum_i D(x_i, its medoid)
    gain: float  # by how much the swap lowered it; inf at the start


def k_medoids(D, medoids):
    """Centers that are samples, for any dissimilarity D: swap as long as a swap lowers the loss.

    Each step makes the best of all K n swaps of a medoid for a sample (PAM). At the end no
    single swap helps, which is more than the alternation of K-means can say.

    Yields: the start, then `Medoids` per swap.

    >>> D = manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    >>> for state in k_medoids(D, medoids=np.array([0, 1])):
    ...     print(state.medoids, state.labels, state.objective, state.gain)
    [0 1] [0 1 1 1 1] 100.0 inf
    [3 1] [1 1 1 0 0] 3.0 97.0
    """
    gain = np.inf
    while True:
        to_medoids = D[:, medoids]
        labels, first = to_medoids.argmin(axis=1), to_medoids.min(axis=1)
        yield Medoids(medoids, labels, float(first.sum()), gain)
        k, j = _best_swap(D, to_medoids, labels)
        swapped = medoids.copy()
        swapped[k] = j
        gain = float(first.sum() - D[:, swapped].min(axis=1).sum())
        if gain <= 0:
            return
        medoids = swapped


def _best_swap(D, to_medoids, labels):
    """The medoid k and the sample j in its place that leave the smallest loss.

    Samples of other clusters go to j if it is nearer than their medoid; those of cluster k go to
    j or to the second nearest medoid, whichever is nearer.
    """
    K = to_medoids.shape[1]
    R = responsibilities(labels, K)
    first = to_medoids.min(axis=1)[:, None]
    second = np.where(R > 0, np.inf, to_medoids).min(axis=1)[:, None]
    keep = np.minimum(D, first)
    losses = keep.sum(axis=0) + R.T @ (np.minimum(D, second) - keep)
    return np.unravel_index(losses.argmin(), losses.shape)


def build(D, K):
    """Medoids to start from, one by one, each the sample that lowers the loss most: (K,).

    >>> build(manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])), 2)
    array([2, 3])

    Raises: ValueError unless 1 <= K <= n.
    """
    medoids, least = [], np.full(len(D), np.inf)
    for _ in range(_check_clusters(K, len(D))):
        after = np.minimum(D, least[:, None])
        after[:, medoids] = np.inf
        medoids.append(after.sum(axis=0).argmin())
        least = np.minimum(least, D[:, medoids[-1]])
    return np.array(medoids)


# ---------------------------------------------------------------------------------------
# Another K (hierarchical)
# ---------------------------------------------------------------------------------------


def _ward(a, b, h, n_a, n_b, n_c):
    distance = (n_a + n_c) * a
    distance += (n_b + n_c) * b
    distance -= h * n_c
    distance /= n_a + n_b + n_c
    return distance


LINKAGES = {
    "single": lambda a, b, h, n_a, n_b, n_c: np.minimum(a, b),
    "complete": lambda a, b, h, n_a, n_b, n_c: np.maximum(a, b),
    "average": lambda a, b, h, n_a, n_b, n_c: (n_a * a + n_b * b) / (n_a + n_b),
    "ward": _ward,
}


class Merges(NamedTuple):
    """Clusters that were merged in one round; the clusters made are numbered on from n."""

    pairs: np.ndarray  # (p, 2), the two clusters of each
    heights: np.ndarray  # (p,), how far apart these were
    sizes: np.ndarray  # (p,), samples in the new cluster
    left: int  # clusters that are left


def agglomerate(D, method):
    """Start with every sample by itself; merge the two nearest clusters, until one is left.

    Of a merged cluster a + b, at height h = D_ab, the distances follow from those of a and b:

        single     min(D_ac, D_bc), of the nearest two samples
        complete   max(D_ac, D_bc), of the farthest two
        average    (n_a D_ac + n_b D_bc) / (n_a + n_b), the mean over all pairs
        ward       ((n_a + n_c) D_ac + (n_b + n_c) D_bc - n_c h) / (n_a + n_b + n_c); if D holds
                   squared distances, half of it is the rise of J that the merge would cost

    None brings the new cluster nearer to c than a and b were. Two clusters that are each other's
    nearest therefore stay so until they merge, whatever is merged before: every round merges
    all such pairs, with the same result as one merge at a time.

    Yields: `Merges` per round.

    >>> for merges in agglomerate(manhattan(np.array([[0.0], [1.0], [7.0], [9.0]])), "single"):
    ...     print(merges.pairs.tolist(), merges.heights, merges.sizes, merges.left)
    [[0, 1], [2, 3]] [1. 2.] [2 2] 2
    [[4, 5]] [6.] [4] 1

    Raises: ValueError for another method.
    """
    check_choice("method", method, LINKAGES)
    update, D, n = LINKAGES[method], np.array(D, dtype=float), len(D)
    np.fill_diagonal(D, np.inf)
    number, size, height, gone = np.arange(n), np.ones(n), np.zeros(n), np.zeros(n)
    near, left, made = D.argmin(axis=1), n, n
    while left > 1:
        least = D[np.arange(len(D)), near]
        first, second = _mutual(near, least)
        h, left = least[first], left - len(first)
        height[second] = np.maximum(h, np.maximum(height[first], height[second]))
        pairs = np.column_stack([number[first], number[second]])
        yield Merges(pairs, height[second], (size[first] + size[second]).astype(int), left)
        for a, b, h_ab in zip(first.tolist(), second.tolist(), h.tolist(), strict=True):
            row = update(D[a], D[b], h_ab, size[a], size[b], size)
            row[b] = np.inf
            D[b] = D[:, b] = row
            size[b] += size[a]
        number[second] = made + np.arange(len(second))
        made += len(second)
        gone[first] = np.inf
        if 2 * left < len(D):  # half of the rows are gone: go on with the others
            keep = np.flatnonzero(gone == 0)
            D = D[keep].take(keep, axis=1)
            number, size, height, gone = number[keep], size[keep], height[keep], gone[keep]
            near = D.argmin(axis=1)
        else:
            near = _nearest_again(D, near, least, first, second, gone)


def _mutual(near, least):
    """The pairs of clusters that are each other's nearest, as two arrays.

    Where equal distances lead round in a circle it is the nearest pair of all.
    """
    slots = np.arange(len(near))
    first = np.flatnonzero((near[near] == slots) & (slots < near))
    if not len(first):
        first = np.array([least.argmin()])
    return first, near[first]


def _nearest_again(D, near, least, first, second, gone):
    """Each cluster's nearest after merges: looked for where the one it had is not so near now."""
    into = np.arange(len(D))
    into[first] = second
    near = into[near]
    near[first] = first
    lost = np.flatnonzero((D[np.arange(len(D)), near] > least) & (gone == 0))
    for rows in _blocks(len(lost), len(D)):
        near[lost[rows]] = (D[lost[rows]] + gone).argmin(axis=1)
    return near


def ward(X):
    """Ward's linkage of samples from the means of the clusters, without a matrix of all pairs.

    Merging a and b raises J by n_a n_b / (n_a + n_b) ||mu_a - mu_b||^2, and twice that is their
    height. The same merges as ``agglomerate(squared_distances(X), "ward")``, in less memory.

    Yields: `Merges` per round.

    >>> for merges in ward(np.array([[0.0], [2.0], [9.0], [13.0]])):
    ...     print(merges.pairs.tolist(), merges.heights, merges.sizes, merges.left)
    [[0, 1], [2, 3]] [ 4. 16.] [2 2] 2
    [[4, 5]] [200.] [4] 1
    """
    n = made = len(X)
    mu, size, number, height = np.array(X, dtype=float), np.ones(n), np.arange(n), np.zeros(n)
    near, least = _nearest_means(mu, size, np.arange(n))
    while len(mu) > 1:
        first, second = _mutual(near, least)
        size[second] += size[first]
        mu[second] += (size[first] / size[second])[:, None] * (mu[first] - mu[second])
        height[second] = np.maximum(least[first], np.maximum(height[first], height[second]))
        pairs = np.column_stack([number[first], number[second]])
        yield Merges(pairs, height[second], size[second].astype(int), len(mu) - len(first))
        number[second] = made + np.arange(len(second))
        made += len(second)
        merged, keep = np.zeros(len(mu), dtype=bool), np.ones(len(mu), dtype=bool)
        merged[first], merged[second], keep[first] = True, True, False
        lost, near = (
            np.flatnonzero((merged | merged[near])[keep]),
            (np.cumsum(keep) - 1)[near[keep]],
        )
        mu, size, number, height, least = (v[keep] for v in (mu, size, number, height, least))
        near[lost], least[lost] = _nearest_means(mu, size, lost)


def _nearest_means(mu, size, asked):
    """For each cluster that is asked, the one it is nearest to by Ward, and its distance."""
    centered, near = mu - mu.mean(axis=0), np.empty(len(asked), dtype=np.intp)
    squares, ones = squared_norms(centered), np.ones(len(mu))
    A = np.column_stack([centered, squares, ones])
    B = np.column_stack([-2 * centered, ones, squares]).T
    for rows in _blocks(len(asked), len(mu)):
        i = asked[rows]
        near[rows] = _nearest_by_ward(A[i] @ B, size, i)
        close = squared_norms(mu[i] - mu[near[rows]]) < CANCELLED * squares[i]
        i = i[close]
        near[rows][close] = _nearest_by_ward(squared_distances(mu[i], mu), size, i)
    difference, n_a, n_b = squared_norms(mu[asked] - mu[near]), size[asked], size[near]
    return near, 2 * n_a * n_b / (n_a + n_b) * difference


def _nearest_by_ward(D, size, i):
    """Where n_a n_b / (n_a + n_b) D_ab is smallest, the rows of D being those of clusters i."""
    D /= 1 / size[i, None] + 1 / size
    D[np.arange(len(i)), i] = np.inf
    return D.argmin(axis=1)


def linkage(X, method="ward", metric="euclidean"):
    """The whole hierarchy: the merges of `agglomerate` or `ward` in the order of their heights.

    With metric "precomputed", X is D. Heights are distances, Ward's too: their squares are twice
    the rise of J. They never fall, so that cutting at K + 1 clusters refines the cut at K,
    which nothing makes K-means do.

    Returns: merges (n - 1, 4), as SciPy defines them.

    >>> linkage(np.array([[0.0], [1.0], [7.0], [9.0]]), "complete")
    array([[0., 1., 1., 2.],
           [2., 3., 2., 2.],
           [4., 5., 9., 4.]])

    Claims: clustering-20
    """
    check_choice("linkage", method, LINKAGES)
    by_means, n = method == "ward", len(X)
    allowed = ("euclidean", "l2") if by_means else tuple(METRICS)
    check_choice("metric", metric, allowed)  # Ward's wants Euclidean distances
    rounds = list(ward(X) if by_means else agglomerate(METRICS[metric](X), method))
    if not rounds:
        return np.zeros((0, 4))
    pairs, heights, sizes = (np.concatenate(p) for p in list(zip(*rounds, strict=True))[:3])
    order = np.argsort(heights, kind="stable")
    number = np.concatenate([np.arange(n), n + np.argsort(order)])
    heights = np.sqrt(heights) if by_means else heights
    pairs = np.sort(number[pairs], axis=1)
    return np.column_stack([pairs, heights, sizes])[order]


def _check_square(D):
    rule = "precomputed X must be symmetric, a row per sample"
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"{rule}; got {D.shape}")
    if not np.allclose(D, D.T, atol=ASYMMETRY * np.abs(D).max()):
        raise ValueError(f"{rule}; it differs from its transpose by {np.abs(D - D.T).max():g}")
    return D


METRICS = {
    "euclidean": euclidean,
    "l2": euclidean,
    "manhattan": manhattan,
    "l1": manhattan,
    "precomputed": lambda D: _check_square(np.asarray(D)),
}


def cut(merges, K):
    """Labels (n,) of the K clusters before the last K - 1 merges, numbered as they first appear.

    >>> cut(linkage(np.array([[0.0], [7.0], [1.0], [9.0]])), 3)
    array([0, 1, 0, 2])

    Raises: ValueError unless 1 <= K <= n.
    """
    n = len(merges) + 1
    root = np.arange(2 * n - 1)
    for t in reversed(range(n - _check_clusters(K, n))):
        root[merges[t, :2].astype(int)] = root[n + t]
    _, first, labels = np.unique(root[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


class Dendrogram(NamedTuple):
    """A hierarchy as a drawing: samples side by side, a bracket over each two that merge."""

    order: np.ndarray  # (n,), the samples from left to right, at x = 0, ..., n - 1
    brackets: np.ndarray  # (n - 1, 4, 2), the corners (x, height) of each merge


def dendrogram(merges):
    """Place the samples so that no brackets cross: every cluster stands together.

    >>> tree = dendrogram(linkage(np.array([[0.0], [7.0], [1.0], [9.0]]), "single"))
    >>> tree.order, tree.brackets[0].tolist()
    (array([0, 2, 1, 3]), [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    """
    n = len(merges) + 1
    pairs = merges[:, :2].astype(int)
    order, waiting = [], [2 * n - 2]
    while waiting:
        c = waiting.pop()
        if c < n:
            order.append(c)
        else:
            waiting += reversed(pairs[c - n].tolist())
    x, top = np.zeros(2 * n - 1), np.concatenate([np.zeros(n), merges[:, 2]])
    x[order] = np.arange(n)
    for t, pair in enumerate(pairs):
        x[n + t] = x[pair].mean()
    a, b = pairs.T
    corners = [(x[a], top[a]), (x[a], top[n:]), (x[b], top[n:]), (x[b], top[b])]
    return Dendrogram(np.array(order), np.moveaxis(np.array(corners), 2, 0))


# ---------------------------------------------------------------------------------------
# Another shape (spectral)
# ---------------------------------------------------------------------------------------


def rbf_affinity(X, gamma=1.0):
    """w_ij = exp(-gamma ||x_i - x_j||^2), (n, n).

    >>> rbf_affinity(np.array([[0.0], [2.0]]), gamma=0.25).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    W = squared_distances(X)
    W *= -gamma
    return np.exp(W, out=W)


def neighbor_affinity(X, k):
    """w_ij = 1 if x_i and x_j are each among the other's k nearest samples, 1/2 if only one is.

    A sample is the first of its own neighbours, as scikit-learn counts.

    Returns: (n, n).

    >>> neighbor_affinity(np.array([[0.0], [1.0], [3.0]]), k=2)
    array([[1. , 1. , 0. ],
           [1. , 1. , 0.5],
           [0. , 0.5, 1. ]])

    Raises: ValueError if k exceeds the number of samples.
    """
    if k > len(X):
        raise ValueError(f"n_neighbors must be <= n_samples; got {k} for {len(X)} samples")
    D = squared_distances(X)
    np.fill_diagonal(D, -1.0)
    A = np.zeros_like(D)
    np.put_along_axis(A, np.argpartition(D, k - 1, axis=1)[:, :k], 1.0, axis=1)
    return (A + A.T) / 2


def laplacian(W, normalized=False):
    """L = D - W with the degrees D = diag(sum_j w_ij), or `normalized` D^{-1/2} L D^{-1/2}.

    f^T L f = 1/2 sum_ij w_ij (f_i - f_j)^2: small where f is nearly constant on samples that are
    alike, 0 where it is constant on each connected component of the graph. So eigenvalue 0 has as
    many eigenvectors as there are components. What a sample is to itself, w_ii, does not count.

    Returns: (n, n).

    >>> laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 2., -2.],
           [-2.,  2.]])

    Claims: clustering-22
    """
    L = np.negative(W, dtype=float)
    np.fill_diagonal(L, 0.0)
    np.fill_diagonal(L, -L.sum(axis=1))
    return _normalised(L)[0] if normalized else L


def _normalised(L):
    """D^{-1/2} L D^{-1/2} in the place of L, and D^{-1/2}: 1 where a sample is like no other."""
    degrees = L.diagonal()
    scale = 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    L *= scale[:, None]
    L *= scale
    return L, scale


class Ritz(NamedTuple):
    """The best approximations to eigenvectors within a subspace."""

    values: np.ndarray  # (K,), ascending
    vectors: np.ndarray  # (n, K), orthonormal
    objective: float  # sum of the values, which falls to that of the K smallest eigenvalues
    residual: float  # ||L V - V diag(values)||, relative to the largest |value| found


def lanczos(L, start, K, *, products=PRODUCTS):
    """The K smallest eigenvalues of a symmetric L from products with L alone.

    The space that start, L start, L^2 start, ... span is where Rayleigh's quotient is minimised.
    It is grown by an orthonormal block at a time, as wide as `start` (n, at least K): that many
    equal eigenvalues are found.

    Yields: `Ritz` for the start, then after every so many `products`, while a block still fits.

    >>> *_, last = lanczos(np.diag([3.0, 1.0, 2.0, 9.0]), np.ones((4, 1)), 1, products=1)
    >>> last.values.round(6), np.abs(last.vectors.ravel()).round(6)
    (array([1.]), array([0., 1., 0., 0.]))
    """
    n, width = start.shape
    basis = images = np.empty((0, n))
    block, m, blocks = np.linalg.qr(start)[0].T, 0, 1
    while blocks:
        room = np.empty((blocks * width, n))
        basis, images = np.vstack([basis, room]), np.vstack([images, room])
        for _ in range(blocks):
            new = slice(m, m + width)
            basis[new], images[new], m = block, block @ L, m + width
            block = _orthonormal(images[new], basis[:m])
        yield _ritz(basis, images, K)
        blocks = min(products, (n - m) // width)


def _orthonormal(block, basis):
    """Rows that span what the block has beyond the basis; once leaves rounding, twice does not."""
    for _ in range(2):
        block = block - block @ basis.T @ basis
        block = np.linalg.qr(block.T)[0].T
    return block


def _ritz(basis, images, K):
    T = basis @ images.T
    values, Y = np.linalg.eigh((T + T.T) / 2)
    norm, values, Y = np.abs(values).max() or 1.0, values[:K], Y[:, :K]
    vectors = basis.T @ Y
    residual = np.linalg.norm(images.T @ Y - vectors * values) / norm
    return Ritz(values, vectors, float(values.sum()), float(residual))


def lowest_eigenvectors(L, K, *, rng):
    """The K smallest eigenvalues (K,) of a symmetric L and their eigenvectors (n, K).

    `lanczos` where it is quick, which is where n is large and eigenvalue K stands apart from the
    next; all eigenvectors otherwise.

    >>> lowest_eigenvectors(np.diag([3.0, 1.0, 2.0]), 2, rng=np.random.default_rng(0))[0]
    array([1., 2.])
    """
    n, width = len(L), K + 2
    steps = n // (4 * PRODUCTS * width)
    if steps > 0:
        states = lanczos(L, rng.normal(size=(n, width)), K)
        ritz = iterate(states, "residual", RESIDUAL, steps).state
        if ritz.residual <= RESIDUAL:
            return ritz.values, ritz.vectors
    values, vectors = np.linalg.eigh(L)
    return values[:K], vectors[:, :K]


def spectral_embedding(W, K, *, normalized=True, rng):
    """Row i holds f_1(i), ..., f_K(i) of the K lowest eigenvectors of the Laplacian: (n, K).

    Samples of one component get the same row, whatever shape the component has. The eigenvectors
    of D^{-1/2} L D^{-1/2} are divided by the roots of the degrees, which makes them those of
    L f = lambda D f, as scikit-learn does; ISML takes L as it is, `normalized` False.

    >>> W = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> f = spectral_embedding(W, 2, rng=np.random.default_rng(0))
    >>> bool(np.allclose(f[0], f[1])), bool(np.allclose(f[0], f[2]))
    (True, False)
    """
    L, scale = laplacian(W), np.ones(len(W))
    if normalized:
        L, scale = _normalised(L)
    return lowest_eigenvectors(L, K, rng=rng)[1] * scale[:, None]


# ---------------------------------------------------------------------------------------
# Comparing groupings
# ---------------------------------------------------------------------------------------


def adjusted_rand_index(labels, others):
    """How far two groupings, `labels` and `others`, agree on which samples belong together.

        (t - e) / ((a + b) / 2 - e),  e = a b / N

    Of all N pairs of samples a are together in the one, b in the other grouping, and t in both;
    by chance it would be e. So 1 is the same grouping, whatever its clusters are called, and 0
    what random ones reach on average.

    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5

    Raises: ValueError for groupings of different lengths.
    """
    i, k = (np.unique(each, return_inverse=True)[1] for each in (labels, others))
    if len(i) != len(k):
        raise ValueError(f"labels and others must have the same length; got {len(i)}, {len(k)}")
    sizes = (np.unique(c, return_counts=True)[1] for c in (i * (k.max() + 1) + k, i, k))
    t, a, b = (np.sum(c * (c - 1) / 2) for c in sizes)
    N = len(i) * (len(i) - 1) / 2
    return 1.0 if a == b == t else float((t * N - a * b) / ((a + b) / 2 * N - a * b))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def _mean_variance(X, w):
    """The variance of the features, their mean."""
    w = _weights(X, w)
    origin = w @ X / w.sum()
    parts = [w[rows] @ squared_norms(X[rows] - origin) for rows in _blocks(*X.shape)]
    return _finite(float(sum(parts) / w.sum() / X.shape[1]), X)


def _finite(value, X):
    """What was computed of distances of the samples, if none of their squares has overflowed."""
    if not np.isfinite(value).all():
        raise ValueError(f"X must have finite squares; got numbers up to {np.abs(X).max():g}")
    return value


class _Pairwise(Clusterer):
    """A clusterer that may be given all pairs of samples instead of samples."""

    def __sklearn_tags__(self):
        """Tags that tell whether X holds pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = "precomputed" in self.get_params().values()
        return tags


class KMeans(Transformer, Clusterer):
    """K-means by Lloyd's algorithm, from several starts.

    It stops when no center moves, as the notes do, or earlier, as scikit-learn does, when the
    centers together move little enough; `tol` = 0 leaves the first alone. An empty cluster is
    given the sample that adds most to the loss (`fill_empty`).

    Parameters
    ----------
    n_clusters : int
    init : "k-means++", "random" or ndarray of shape (K, d); "random" draws K different samples,
        in proportion to their weights as scikit-learn does: a sample of weight 2 is likelier to
        be drawn, but never drawn twice as two equal samples may be
    n_init : "auto" or int; how many starts, the best result being kept; "auto" is 10 for
        "random", else 1; an array is one start, whatever n_init
    max_iter : int; largest number of steps from one start
    tol : float; stops where sum_k ||mu_k - its last||^2 <= tol times the mean variance of the
        features
    random_state : int, Generator or None

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (K, d)
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss J
    history_ : ndarray of shape (n_iter_ + 1,); J of every step from the best start
    n_iter_ : int; steps from the best start
    converged_ : bool; whether the centers came to rest within max_iter
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> np.sort(model.cluster_centers_.ravel()), model.inertia_
    (array([0.5, 8.5]), 1.0)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Cluster the samples X (n, d), each counted sample_weight (n,) times; return self."""
        given, X = X, check_samples(X)
        w = None if sample_weight is None else check_weights(sample_weight, len(X))
        n = len(X) if w is None else np.count_nonzero(w)
        K = _check_clusters(self.n_clusters, n, "n_clusters")
        tol = check_number("tol", self.tol, at_least=0) * _mean_variance(X, w)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        starts = self._starts(X, K, w, check_random_state(self.random_state))
        runs = (iterate(lloyd(X, start, w), "moved", tol, max_iter) for start in starts)
        run = min(runs, key=lambda run: run.state.objective)
        self.cluster_centers_, self.labels_, self.inertia_, _ = run.state
        self._record(run, "moved", tol)
        found = len(np.unique(self.labels_))
        if found < K:
            warnings.warn(
                f"KMeans found {found} clusters, fewer than n_clusters = {K}: perhaps X has too "
                "few distinct samples",
                shared(ConvergenceWarning),
                stacklevel=2,
            )
        return self._remember(given)

    def _starts(self, X, K, w, rng):
        """The centers (K, d) to start from, one after the other."""
        named = isinstance(self.init, str)
        if named:
            check_choice("init", self.init, ("k-means++", "random"))
        elif np.shape(self.init) != (K, X.shape[1]):
            raise ValueError(
                f"init must be 'k-means++', 'random' or an array of shape {K, X.shape[1]}; got "
                f"{np.shape(self.init) or self.init!r}"
            )
        usual = 10 if named and self.init == "random" else 1
        auto = isinstance(self.n_init, str) and self.n_init == "auto"
        n_init = check_number("n_init", usual if auto else self.n_init, at_least=1, integer=True)
        if not named:
            return [check_samples(self.init)]
        if self.init == "random":
            p = None if w is None else w / w.sum()
            return (X[rng.choice(len(X), K, replace=False, p=p)] for _ in range(n_init))
        return (kmeans_plus_plus(X, K, sample_weight=w, rng=rng) for _ in range(n_init))

    def predict(self, X):
        """Labels (n,): the nearest center of every sample."""
        return nearest(self._check_fitted(X), self.cluster_centers_)[0]

    def transform(self, X):
        """Distances (n, K) to the centers."""
        return euclidean(self._check_fitted(X), self.cluster_centers_)

    def score(self, X, y=None, sample_weight=None):
        """-J of the samples X with these centers: larger is better."""
        X = self._check_fitted(X)
        w = None if sample_weight is None else check_weights(sample_weight, len(X))
        return -loss(X, self.cluster_centers_, sample_weight=w)


class KMedoids(_Pairwise, Transformer):
    """K-medoids (PAM): centers that are samples, for any dissimilarity, and robust.

    Distances are not squared, so that an outlier pulls with its distance only; and the center is
    one of the samples, so that it cannot be pulled away from them. There is no chance in it: it
    starts from `build` and swaps as long as that helps.

    Parameters
    ----------
    n_clusters : int
    metric : "euclidean" (or "l2"), "manhattan" (or "l1"), or "precomputed": X is D (n, n), and
        for predict and transform the dissimilarities (m, n) to the samples of fit
    max_iter : int; largest number of swaps

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (K,); which samples the medoids are
    cluster_centers_ : ndarray of shape (K, d); these samples; not with "precomputed"
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss, the sum of the dissimilarities to the medoids
    history_ : ndarray of shape (n_iter_ + 1,); the loss after every swap
    n_iter_ : int; swaps
    converged_ : bool; whether no swap is left that helps
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = KMedoids(2).fit([[0.0], [1.0], [2.0], [50.0], [52.0], [99.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([ 1., 52.]), 51.0)
    """

    def __init__(self, n_clusters=8, *, metric="euclidean", max_iter=300):
        self.n_clusters = n_clusters
        self.metric = metric
        self.max_iter = max_iter

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = D (n, n); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X), "n_clusters")
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_choice("metric", self.metric, tuple(METRICS))
        D = METRICS[self.metric](X)
        vars(self).pop("cluster_centers_", None)
        run = iterate(k_medoids(D, build(D, K)), "gain", 0, max_iter)
        _finite(run.state.objective, X)
        self.medoid_indices_, self.labels_, self.inertia_, _ = run.state
        if self.metric != "precomputed":
            self.cluster_centers_ = X[self.medoid_indices_]
        self._record(run, "gain", 0)
        return self._remember(given)

    def transform(self, X):
        """Dissimilarities (n, K) to the medoids."""
        X = self._check_fitted(X)
        if self.metric == "precomputed":
            return X[:, self.medoid_indices_]
        return METRICS[self.metric](X, self.cluster_centers_)

    def predict(self, X):
        """Labels (n,): the nearest medoid of every sample."""
        return self.transform(X).argmin(axis=1)


class AgglomerativeClustering(_Pairwise):
    """A hierarchy of clusters from single samples up, cut where there are as many as wanted.

    Parameters
    ----------
    n_clusters : int or None; None where distance_threshold says where to cut
    metric : "euclidean" (or "l2"), "manhattan" (or "l1"), or "precomputed": X is D (n, n);
        Ward's linkage wants Euclidean distances
    linkage : "ward", "complete", "average" or "single"
    distance_threshold : float or None; clusters at least so far apart are not merged
    compute_distances : bool; whether to keep `distances_`, which a threshold keeps anyway

    Attributes
    ----------
    labels_ : ndarray of shape (n,); clusters numbered as they first appear
    n_clusters_ : int
    children_ : ndarray of shape (n - 1, 2); the clusters merged in each step: below n a sample,
        else the cluster of step children_ - n
    distances_ : ndarray of shape (n - 1,); how far apart these were
    n_leaves_ : int; n
    n_connected_components_ : int; 1
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> AgglomerativeClustering(linkage="single").fit([[0.0], [7.0], [1.0], [9.0]]).labels_
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        n_clusters=2,
        *,
        metric="euclidean",
        linkage="ward",
        distance_threshold=None,
        compute_distances=False,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = D (n, n); return self."""
        given, X = X, check_samples(X)
        self._check_cut(len(X))
        keep = check_flag("compute_distances", self.compute_distances)
        merges = linkage(X, self.linkage, self.metric)
        K, heights = self.n_clusters, _finite(merges[:, 2], X)
        if K is None:
            K, keep = 1 + int(np.count_nonzero(heights >= self.distance_threshold)), True
        self.n_clusters_, self.labels_ = K, cut(merges, K)
        self.children_ = merges[:, :2].astype(int)
        self.n_leaves_, self.n_connected_components_ = len(X), 1
        vars(self).pop("distances_", None)
        if keep:
            self.distances_ = heights
        return self._remember(given)

    def _check_cut(self, n):
        K, threshold = self.n_clusters, self.distance_threshold
        if (K is None) == (threshold is None):
            raise ValueError(
                "one of n_clusters and distance_threshold must be None and the other must not; "
                f"got {K!r} and {threshold!r}"
            )
        if K is None:
            check_number("distance_threshold", threshold, at_least=0)
        else:
            _check_clusters(K, n, "n_clusters")


class SpectralClustering(_Pairwise):
    """K-means on the lowest eigenvectors of the graph Laplacian: clusters of any shape.

    Parameters
    ----------
    n_clusters : int
    n_components : int or None; number of eigenvectors, None for n_clusters
    random_state : int, Generator or None
    n_init : int; starts of K-means
    gamma : float; w_ij = exp(-gamma ||x_i - x_j||^2) with affinity "rbf"
    affinity : "rbf", "nearest_neighbors", or "precomputed": X is W (n, n), symmetric and >= 0
    n_neighbors : int; with affinity "nearest_neighbors", the sample itself included
    normalized : bool; whether the Laplacian is normalised, as scikit-learn's always is; False
        is the D - W of ISML

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n, n); W
    labels_ : ndarray of shape (n,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> labels = SpectralClustering(2, random_state=0).fit(X).labels_
    >>> adjusted_rand_index(labels, [0, 0, 0, 1, 1])
    1.0
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        n_components=None,
        random_state=None,
        n_init=10,
        gamma=1.0,
        affinity="rbf",
        n_neighbors=10,
        normalized=True,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.normalized = normalized

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = W (n, n); return self."""
        given, X = X, check_samples(X)
        K, m = _check_clusters(self.n_clusters, len(X), "n_clusters"), self.n_components
        m = K if m is None else _check_clusters(m, len(X), "n_components")
        n_init = check_number("n_init", self.n_init, at_least=1, integer=True)
        W, rng = self._affinity(X), check_random_state(self.random_state)
        normalized = check_flag("normalized", self.normalized)
        embedded = spectral_embedding(W, m, normalized=normalized, rng=rng)
        self.affinity_matrix_ = W
        self.labels_ = KMeans(K, n_init=n_init, random_state=rng).fit(embedded).labels_
        return self._remember(given)

    def _affinity(self, X):
        gamma = check_number("gamma", self.gamma, above=0)
        k = check_number("n_neighbors", self.n_neighbors, at_least=1, integer=True)
        check_choice("affinity", self.affinity, ("rbf", "nearest_neighbors", "precomputed"))
        if self.affinity == "rbf":
            return rbf_affinity(X, gamma)
        if self.affinity == "nearest_neighbors":
            return neighbor_affinity(X, k)
        if X.min() < 0:
            raise ValueError(f"precomputed similarities must be >= 0; got {X.min():g}")
        return _check_square(X).copy()
