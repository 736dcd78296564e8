"""Clustering: divide samples without labels into groups whose members are alike.

A method has three ingredients: a dissimilarity of two samples, a loss of a grouping, and an
algorithm that lowers the loss. K-means has five weaknesses. The remedies are here and in mixture.

Contents
    Dissimilarity             euclidean, manhattan, gower, pair_covariance, mahalanobis, whiten
    The loss                  responsibilities, loss, cluster_means, scatter, Scatter
    The exact optimum         partitions, best_partition
    K-means                   nearest, lloyd, Clusters, fill_empty, kmeans_plus_plus
    Vector quantisation       encode, decode, storage
    Another loss (robust)     alternate, k_medians, k_medoids, Medoids, swap_losses, build
    Another K (hierarchical)  agglomerate, Merge, linkage, cut, dendrogram, Dendrogram
    Another shape (spectral)  rbf_affinity, neighbor_affinity, laplacian, lowest_eigenvectors,
                              spectral_embedding
    Judging groupings         silhouette, adjusted_rand_index
    Estimators                KMeans, KMedoids, AgglomerativeClustering, SpectralClustering

Symbols
    X         (n, d)      samples x_i, one per row; `sample_weight` (n,) counts x_i w_i times
    K         int         number of clusters
    centers   (K, d)      prototypes mu_k
    labels    (n,)        c_i in {0, ..., K-1}, the cluster of x_i
    R         (n, K)      responsibilities r_ik = 1 if c_i = k, else 0
    n_k       (K,)        number (or total weight) of the samples in each cluster
    J         float       the loss, sum_i ||x_i - mu_{c_i}||^2 for K-means
    D         (n, n)      dissimilarities of all pairs, symmetric, 0 on the diagonal
    merges    (n - 1, 4)  a hierarchy: row t holds the two clusters that become cluster n + t
                          (numbers below n are samples), their distance, and its size
    W, L      (n, n)      similarities w_ij >= 0 of all pairs, and their Laplacian
    rng       Generator   draws the start

Notes: ISML "Clustering" 1-3; REP "K-means Optimization Problem"; IRHD 4. REP writes k for K and
j for our k. Both go on to mixtures of Gaussians, our chapter mixture.
"""

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
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
from mlnotes.numerics import (
    MovingClusters,
    exact_squared_distances,
    leading_eigenpairs,
    squared_distances,
    squared_norms,
    symmetric,
)

ROUND_OFF = 1e-13  # rounding moves the mean of equal samples by up to this share of their size


def _check_clusters(K, n, name="K"):
    check_number(name, K, at_least=1, integer=True)
    if K > n:
        raise ValueError(f"{name} must be at most n_samples; got {K} for {n} sample(s)")
    return K


# ---------------------------------------------------------------------------------------
# Dissimilarity
# ---------------------------------------------------------------------------------------


def euclidean(X, Y=None):
    """D(x, y) = sqrt(sum_j (x_j - y_j)^2) for every x in X and y in Y (X if None): (n, m).

    >>> euclidean(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[5., 1.]])

    Errata: clustering-06 (ISML says that the clusters change with any scaling, even with one factor
    for all features), clustering-25 (ISML calls a sample x_p; p is the number of features).
    """
    return np.sqrt(squared_distances(X, Y))


def manhattan(X, Y=None):
    """D(x, y) = sum_j |x_j - y_j| (L1) for every x in X and y in Y (X if None): (n, m).

    >>> manhattan(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[7., 1.]])
    """
    Y = X if Y is None else Y
    return sum(np.abs(x[:, None] - y) for x, y in zip(X.T, Y.T, strict=True))


def gower(X, kinds):
    """The mean over all features of a dissimilarity in [0, 1] that suits their kind: (n, n).

        "categorical"    0 if equal, else 1
        "ordinal"        |difference of ranks| / (R - 1), where R distinct values have ranks 1 to R
        "quantitative"   |difference| / range

    `kinds` names the kind of every feature. Categories are numbers. A constant feature adds 0.

    >>> gower(np.array([[0, 1.0], [7, 2.0], [7, 5.0]]), ["categorical", "quantitative"])[0]
    array([0.   , 0.625, 1.   ])

    Raises: ValueError for an unknown kind, or if the number of kinds is not d.
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
    """Sigma = 1/2 mean of (x_i - x_l)(x_i - x_l)^T over `pairs` (i, l) of similar samples: (d, d).

    `mahalanobis` with this Sigma gives little weight to the directions in which they differ.

    >>> pair_covariance(np.array([[0.0], [4.0]]), pairs=[(0, 1)])
    array([[8.]])
    """
    first, second = np.transpose(pairs)
    difference = X[first] - X[second]
    return difference.T @ difference / (2 * len(difference))


def mahalanobis(X, Y, Sigma):
    """D(x, y) = sqrt((x - y)^T Sigma^{-1} (x - y)) for every x in X and y in Y: (n, m).

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

    >>> responsibilities(np.array([0, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])

    Raises: ValueError if a label is not one of 0, ..., K - 1.
    """
    labels = np.asarray(labels)
    if not np.isin(labels, np.arange(K)).all():
        raise ValueError(f"labels must be 0, ..., K - 1 for K = {K}; got {np.unique(labels)}")
    return np.eye(K)[labels.astype(int)]


def loss(X, centers, labels=None, sample_weight=None):
    """J = sum_i sum_k r_ik ||x_i - mu_k||^2; without labels, sum_i min_k ||x_i - mu_k||^2.

    >>> X, centers = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [9.0]])
    >>> loss(X, centers, labels=np.array([0, 0, 1])), loss(X, centers, np.array([0, 1, 1]))
    (2.0, 50.0)

    Errata: clustering-08 (REP prints ||x_i - mu_j||^2 with a free j in place of the minimum, and
    calls the sum an average).
    """
    labels = nearest(X, centers)[0] if labels is None else labels
    return float(squared_norms(X - centers[labels]) @ _weights(X, sample_weight))


def _weights(X, sample_weight):
    return np.ones(len(X)) if sample_weight is None else sample_weight


def cluster_means(X, labels, K, sample_weight=None, empty=None):
    """mu_k = sum_i r_ik x_i / sum_i r_ik, the centers (K, d) that minimise J for these labels.

    >>> cluster_means(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]), 2)
    array([[1.5],
           [6. ]])

    Raises: ValueError for an empty cluster, unless `empty` (K, d) is given: row k is then mu_k.
    """
    R = responsibilities(labels, K)
    if sample_weight is not None:
        R = R * np.reshape(sample_weight, (-1, 1))
    n_k = R.sum(axis=0)
    if empty is None and not n_k.all():
        raise ValueError(f"every cluster must have a sample; got n_k = {n_k}")
    means = R.T @ X / np.where(n_k > 0, n_k, 1.0)[:, None]
    return means if n_k.all() else np.where(n_k[:, None] > 0, means, empty)


class Scatter(NamedTuple):
    """Scatter matrices (d, d): sums of outer products; their traces sum squared distances."""

    total: np.ndarray  # sum_i (x_i - m)(x_i - m)^T, of the samples about their mean m
    within: np.ndarray  # sum_i (x_i - mu_{c_i})(x_i - mu_{c_i})^T, about their cluster's mean
    between: np.ndarray  # sum_k n_k (mu_k - m)(mu_k - m)^T, of the means about m


def scatter(X, labels):
    """Total scatter = within + between, for any labels; the traces add up in the same way.

    J is the trace of `within`. The total does not depend on the labels. Returns: `Scatter`.

    >>> [float(S[0, 0]) for S in scatter(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))]
    [26.0, 2.0, 24.0]
    """
    k = np.unique(labels, return_inverse=True)[1]
    replaced = cluster_means(X, k, k.max() + 1)[k]
    parts = X - X.mean(axis=0), X - replaced, replaced - X.mean(axis=0)
    return Scatter(*(each.T @ each for each in parts))


# ---------------------------------------------------------------------------------------
# The exact optimum
# ---------------------------------------------------------------------------------------


def partitions(n, K, most=1_000_000):
    """All groupings of n samples into K clusters, none empty: one grouping (labels) per row.

    Clusters are numbered as they first appear, so that no grouping comes twice.

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
        P = P[P.max(axis=1) + left >= K - 1]  # enough samples are left for the missing clusters
    return P


def best_partition(X, K):
    """The labels (n,) of the smallest J that K centers can have, found by trying all partitions.

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
    return P[between.argmax()]  # J is the total scatter, the same for all labels, less this


# ---------------------------------------------------------------------------------------
# K-means
# ---------------------------------------------------------------------------------------


class Clusters(NamedTuple):
    """A grouping by centers, after a step."""

    centers: np.ndarray  # (K, d)
    labels: np.ndarray  # (n,), of the nearest of these centers
    objective: float  # the loss of these centers and labels
    moved: float  # sum_k ||mu_k - mu_k before the step||^2; inf at the start


def nearest(X, centers):
    """c_i = argmin_k ||x_i - mu_k||^2: the best labels for these centers (the E-step).

    Returns: labels (n,), of equal distances the first (unless rounding makes them differ), and the
    squared distances (n,) to these centers.

    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1]), array([1., 4.]))
    """
    labels, squares = np.empty(len(X), dtype=int), np.empty(len(X))
    for rows in row_blocks(len(X), BLOCK // len(centers)):  # some at a time, for memory
        D = squared_distances(X[rows], centers)
        labels[rows], squares[rows] = D.argmin(axis=1), D.min(axis=1)
    return labels, squares


def lloyd(X, centers, sample_weight=None):
    """K-means: c_i = argmin_k ||x_i - mu_k||^2, then mu_k = mean of cluster k, until both rest.

    J falls in every step until the centers no longer move, perhaps not at the smallest J. An empty
    cluster gets a sample from `fill_empty`. If none is left to give, its center stays.

    Yields: the start, then `Clusters` per step.

    >>> X = np.array([[0.0], [6.0], [8.0]])
    >>> for state in lloyd(X, centers=X[:2]):
    ...     print(state.centers.ravel(), state.labels, state.objective, state.moved)
    [0. 6.] [0 1 1] 4.0 inf
    [0. 7.] [0 1 1] 2.0 1.0
    [0. 7.] [0 1 1] 2.0 0.0
    """
    clusters, moved = MovingClusters(X, _weights(X, sample_weight), centers), np.inf
    while True:
        labels, J = clusters.nearest(centers)  # the best labels for these centers
        yield Clusters(centers, labels, J, moved)
        if moved == 0:
            return
        filled = fill_empty(X, centers, labels, sample_weight)
        means = clusters.means(filled)  # the best centers for these labels
        moved, centers = float(np.sum((means - centers) ** 2)), means


def fill_empty(X, centers, labels, sample_weight=None):
    """Labels (n,) in which every empty cluster has been given the sample that adds most to J.

    A sample that is alone in its cluster stays there. If no sample adds more than rounding, as with
    fewer distinct samples than clusters, the cluster stays empty.

    >>> X, centers = np.array([[0.0], [1.0], [5.0]]), np.array([[1.0], [99.0]])
    >>> fill_empty(X, centers, labels=np.array([0, 0, 0]))
    array([0, 0, 1])
    """
    w = _weights(X, sample_weight)
    members = np.bincount(labels[w > 0], minlength=len(centers))
    if members.all():
        return labels
    labels, squares = labels.copy(), squared_norms(X - centers[labels])
    added = np.where(squares > (ROUND_OFF * np.abs(X).max()) ** 2, w * squares, 0.0)
    for k in np.flatnonzero(members == 0):
        i = np.argmax(added * (members[labels] > 1))
        if added[i] > 0 and members[labels[i]] > 1:
            members[labels[i]] -= 1
            labels[i] = k
    return labels


def kmeans_plus_plus(X, K, *, sample_weight=None, trials=None, rng):
    """K samples to start from, drawn far apart: x with probability w_x D(x)^2 / sum w D^2.

    D(x) is the distance of x to the nearest center drawn before. The first center is drawn with
    probability w_x / sum w, and so is each further one if none is left at a distance. Each further
    center is the best of `trials` draws: it leaves the smallest J. None means 2 + ln K draws.

    Returns: centers (K, d). Raises: ValueError unless 1 <= K <= n.

    >>> X = np.array([[0.0], [0.0], [0.0], [9.0]])
    >>> np.sort(kmeans_plus_plus(X, 2, rng=np.random.default_rng(0)).ravel())
    array([0., 9.])
    """
    _check_clusters(K, len(X))
    trials = 2 + int(np.log(K)) if trials is None else trials
    w = _weights(X, sample_weight)
    chosen = [rng.choice(len(X), p=w / w.sum())]
    squares = squared_norms(X - X[chosen[0]])  # D(x)^2 of every sample
    while len(chosen) < K:
        p = w * squares if (w * squares).any() else w
        drawn = rng.choice(len(X), trials, p=p / p.sum())
        after = [np.minimum(squares, squared_norms(X - X[i])) for i in drawn]
        best = np.argmin([w @ each for each in after])  # the one that leaves the smallest J
        chosen.append(drawn[best])
        squares = after[best]
    return X[chosen]


# ---------------------------------------------------------------------------------------
# Vector quantisation
# ---------------------------------------------------------------------------------------


def encode(X, codebook):
    """The code of x: the index of the nearest row of `codebook`, say the centers of K-means: (n,).

    >>> encode(np.array([[1.0, 1.0], [8.0, 9.0]]), codebook=np.array([[0.0, 0.0], [9.0, 9.0]]))
    array([0, 1])
    """
    return nearest(X, codebook)[0]


def decode(codes, codebook):
    """The vectors of the codebook that `codes` stand for: at most K different rows, (n, d).

    >>> decode(np.array([1]), codebook=np.array([[0.0, 0.0], [9.0, 9.0]]))
    array([[9., 9.]])
    """
    return codebook[codes]


def storage(n, d, K, *, bits):
    """Bits for n codes and their codebook, n ceil(log2 K) + K d `bits`, and for n d plain numbers.

    >>> storage(1000, 3, 16, bits=8)
    (4384, 24000)
    """
    return n * (K - 1).bit_length() + K * d * bits, n * d * bits


# ---------------------------------------------------------------------------------------
# Another loss (robust)
# ---------------------------------------------------------------------------------------


def alternate(X, centers, dissimilarity, prototype):
    """K-means with any ingredients: c_i = argmin_k D(x_i, mu_k), mu_k = prototype(its samples).

    `dissimilarity` maps X and the centers to D (n, K), and the loss is sum_i D(x_i, mu_{c_i}).
    `prototype` maps samples (m, d) to the center (d,) of least loss. Empty clusters keep theirs.

    Yields: the start, then `Clusters` per step, until no center moves.

    >>> X = np.array([[0.0], [1.0], [7.0], [8.0], [9.0]])
    >>> *_, last = alternate(X, X[:2], squared_distances, prototype=partial(np.mean, axis=0))
    >>> last.centers.ravel(), last.objective
    (array([0.5, 8. ]), 2.5)
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

    Yields: the start, then `Clusters` per step.

    >>> X = np.array([[0.0], [1.0], [2.0], [1000.0]])
    >>> *_, last = k_medians(X, centers=X[:1])
    >>> last.centers, last.objective
    (array([[1.5]]), 1001.0)
    """
    return alternate(X, centers, manhattan, partial(np.median, axis=0))


class Medoids(NamedTuple):
    """A grouping by medoids, after a swap."""

    medoids: np.ndarray  # (K,), their numbers as samples
    labels: np.ndarray  # (n,), of the nearest of them
    objective: float  # sum_i D(x_i, its medoid)
    gain: float  # how much the swap lowered it; inf at the start


def k_medoids(D, medoids):
    """Centers that are samples, for any D: make the best swap as long as it lowers the loss (PAM).

    Yields: the start, then `Medoids` per swap.

    >>> D = manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    >>> *_, last = k_medoids(D, medoids=np.array([0, 1]))
    >>> last.medoids, last.labels, last.objective
    (array([3, 1]), array([1, 1, 1, 0, 0]), 3.0)
    """
    K, gain = len(medoids), np.inf
    while True:
        J = float(D[:, medoids].min(axis=1).sum())
        yield Medoids(medoids, D[:, medoids].argmin(axis=1), J, gain)
        losses = np.array([swap_losses(D, medoids, k) for k in range(K)])  # (K, n)
        k, j = np.unravel_index(losses.argmin(), losses.shape)  # the best of all swaps
        medoids = np.where(np.arange(K) == k, j, medoids)  # sample j takes the place of medoid k
        gain = J - float(D[:, medoids].min(axis=1).sum())
        if gain <= 0:
            return


def swap_losses(D, medoids, k):
    """The loss if sample j took the place of medoid k, for every j: (n,).

    >>> D = manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    >>> swap_losses(D, medoids=np.array([0, 1]), k=0)
    array([100., 101.,  98.,   3.,   3.])
    """
    others = np.delete(medoids, k)
    to_others = D[:, others].min(axis=1, initial=np.inf)
    return np.minimum(D, to_others[:, None]).sum(axis=0)


def build(D, K):
    """Medoids to start from, one by one, each the sample that lowers the loss most: (K,).

    >>> build(manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])), 2)
    array([2, 3])

    Raises: ValueError unless 1 <= K <= n.
    """
    medoids, least = [], np.full(len(D), np.inf)
    for _ in range(_check_clusters(K, len(D))):
        losses = np.minimum(D, least[:, None]).sum(axis=0)
        losses[medoids] = np.inf  # no sample twice
        medoids.append(losses.argmin())
        least = np.minimum(least, D[:, medoids[-1]])
    return np.array(medoids)


# ---------------------------------------------------------------------------------------
# Another K (hierarchical)
# ---------------------------------------------------------------------------------------

LINKAGES = {  # D(a + b, c) from D(a, c), D(b, c), h = D(a, b) and the numbers of samples
    "single": lambda D_ac, D_bc, h, n_a, n_b, n_c: np.minimum(D_ac, D_bc),
    "complete": lambda D_ac, D_bc, h, n_a, n_b, n_c: np.maximum(D_ac, D_bc),
    "average": lambda D_ac, D_bc, h, n_a, n_b, n_c: (n_a * D_ac + n_b * D_bc) / (n_a + n_b),
    "ward": lambda D_ac, D_bc, h, n_a, n_b, n_c: (
        ((n_a + n_c) * D_ac + (n_b + n_c) * D_bc - n_c * h) / (n_a + n_b + n_c)
    ),
}


class Merge(NamedTuple):
    """Two clusters that become one: merge t makes cluster n + t; numbers below n are samples."""

    pair: tuple  # the numbers of the two clusters
    height: float  # their distance
    size: int  # samples in the new cluster


def agglomerate(D, method):
    """Start with every sample by itself; merge the two nearest clusters, until one is left.

    With h = D_ab, the distance of the new cluster a + b to a cluster c is (Lance and Williams)

        single     min(D_ac, D_bc), the distance of the nearest two samples
        complete   max(D_ac, D_bc), the distance of the farthest two samples
        average    (n_a D_ac + n_b D_bc) / (n_a + n_b), the mean over all pairs of samples
        ward       ((n_a + n_c) D_ac + (n_b + n_c) D_bc - n_c h) / (n_a + n_b + n_c); if D holds
                   squared distances, half of it is the rise of J that the merge would cause

    In none of them is the new cluster nearer to c than both a and b were. So two clusters that
    are each other's nearest may be merged at once. A chain from cluster to nearest cluster finds
    them, in O(n^2) for all merges. `linkage` sorts the merges by height.

    Yields: `Merge` per merge. Raises: ValueError for another method.

    >>> for merge in agglomerate(manhattan(np.array([[0.0], [1.0], [7.0]])), "single"):
    ...     print(merge.pair, merge.height, merge.size)
    (0, 1) 1.0 2
    (2, 3) 6.0 3
    """
    update, n = LINKAGES[check_choice("method", method, LINKAGES)], len(D)
    D = np.array(D, dtype=float)
    np.fill_diagonal(D, np.inf)
    number, size, gone = np.arange(n), np.ones(n), np.zeros(n)  # of the cluster in each row of D
    chain, made = [], n
    while made < 2 * n - 1:
        if not chain:
            chain = [int(gone.argmin())]  # the first cluster that is left
        a = chain[-1]
        distances = D[a] + gone  # inf to the clusters that are gone
        b = int(distances.argmin())
        if len(chain) == 1 or distances[b] < distances[chain[-2]]:
            chain.append(b)  # b is nearer to a than the cluster before a: go on from b
            continue
        b, h = chain[-2], float(distances[chain[-2]])  # a and b are each other's nearest
        pair = sorted([int(number[a]), int(number[b])])
        to_new = update(D[a], D[b], h, size[a], size[b], size)
        to_new = np.maximum(to_new, np.minimum(D[a], D[b]))  # smaller only by rounding
        D[b] = D[:, b] = to_new  # the new cluster takes the place of b
        D[b, b] = gone[a] = np.inf
        size[b] += size[a]
        yield Merge(tuple(pair), h, int(size[b]))
        number[b], made, chain = made, made + 1, chain[:-2]


def linkage(X, method="ward", metric="euclidean"):
    """The merges (n - 1, 4) of `agglomerate` in the order of their heights, as SciPy has them.

    With metric "precomputed", X is D. Heights are distances that never fall. For Ward's
    linkage, their squares are twice the rise of J.

    >>> linkage(np.array([[0.0], [1.0], [7.0]]), "complete")
    array([[0., 1., 1., 2.],
           [2., 3., 7., 3.]])
    """
    check_choice("linkage", method, LINKAGES)
    allowed = ("euclidean", "l2") if method == "ward" else tuple(METRICS)
    check_choice("metric", metric, allowed)  # Ward's linkage is defined by Euclidean distances
    D, n = squared_distances(X) if method == "ward" else METRICS[metric](X), len(X)
    merges = list(agglomerate(D, method))
    pairs = np.array([merge.pair for merge in merges], dtype=int).reshape(-1, 2)
    heights, sizes = (np.array([merge[part] for merge in merges]) for part in (1, 2))
    order = np.argsort(heights, kind="stable")
    number = np.concatenate([np.arange(n), n + np.argsort(order)])  # in the order of the heights
    heights = np.sqrt(heights) if method == "ward" else heights
    return np.column_stack([np.sort(number[pairs], axis=1), heights, sizes])[order]


METRICS = {
    "euclidean": euclidean,
    "l2": euclidean,
    "manhattan": manhattan,
    "l1": manhattan,
    "precomputed": lambda D: _symmetric_part(symmetric(D, "precomputed X")),
}


def _symmetric_part(D):
    return (D + D.T) / 2  # equal to the last digit on both sides: nearest neighbours are mutual


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
    """A drawing of a hierarchy: samples side by side, and a bracket over each two that merge."""

    order: np.ndarray  # (n,), the samples from left to right, at x = 0, ..., n - 1
    brackets: np.ndarray  # (n - 1, 4, 2), the corners (x, height) of each merge


def dendrogram(merges):
    """The `Dendrogram` in which no brackets cross: samples of a cluster stand side by side.

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
    """w_ij = exp(-gamma ||x_i - x_j||^2): (n, n).

    >>> rbf_affinity(np.array([[0.0], [2.0]]), gamma=0.25)[0].round(4)
    array([1.    , 0.3679])
    """
    return np.exp(-gamma * squared_distances(X))


def neighbor_affinity(X, k):
    """w_ij = 1 if x_i and x_j are each among the other's k nearest samples, 1/2 if only one is.

    A sample is its own first neighbour, as in scikit-learn. In a tie the first sample is nearer.

    Returns: (n, n). Raises: ValueError if k exceeds the number of samples.

    >>> neighbor_affinity(np.array([[0.0], [1.0], [3.0]]), k=2)[1]
    array([1. , 1. , 0.5])
    """
    if k > len(X):
        raise ValueError(f"n_neighbors must be <= n_samples; got {k} for {len(X)} samples")
    D = exact_squared_distances(X, X)
    np.fill_diagonal(D, -1.0)
    A = np.zeros_like(D)
    np.put_along_axis(A, np.argsort(D, axis=1, kind="stable")[:, :k], 1.0, axis=1)
    return (A + A.T) / 2


def laplacian(W, normalized=False):
    """L = D - W with the degrees D = diag(sum_j w_ij), or `normalized` D^{-1/2} L D^{-1/2}: (n, n).

    f^T L f = 1/2 sum_ij w_ij (f_i - f_j)^2, so that the w_ii do not count. The eigenvalue 0 has as
    many independent eigenvectors as the graph has connected components.

    >>> laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]))[0]
    array([ 2., -2.])
    """
    W = np.array(W, dtype=float)
    np.fill_diagonal(W, 0.0)
    L = np.diag(W.sum(axis=1)) - W
    return L / np.outer(_root_degrees(L), _root_degrees(L)) if normalized else L


def _root_degrees(L):
    """The square roots of the degrees of L (n,), with 1 for a sample that is like no other."""
    degrees = L.diagonal()
    return np.sqrt(np.where(degrees > 0, degrees, 1.0))


def lowest_eigenvectors(L, K):
    """The K smallest eigenvalues (K,) of a symmetric L and their eigenvectors (n, K).

    >>> lowest_eigenvectors(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([1., 2.])
    """
    values, vectors, _ = leading_eigenpairs(-L, K, rng=np.random.default_rng(0))
    return -values[:K], vectors


def spectral_embedding(W, K, *, normalized=True):
    """Row i holds f_1(i), ..., f_K(i) of the K lowest eigenvectors of the Laplacian: (n, K).

    If the graph has K connected components, samples of the same component get the same row. The
    f_k solve L f = lambda D f, as in scikit-learn. If not `normalized` (ISML), L f = lambda f.

    >>> W = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> f = spectral_embedding(W, 2)
    >>> bool(np.allclose(f[0], f[1])), bool(np.allclose(f[0], f[2]))
    (True, False)
    """
    F = lowest_eigenvectors(laplacian(W, normalized), K)[1]
    return F / _root_degrees(laplacian(W))[:, None] if normalized else F


# ---------------------------------------------------------------------------------------
# Judging groupings
# ---------------------------------------------------------------------------------------


def silhouette(D, labels):
    """s_i = (other_i - own_i) / max(own_i, other_i) of every sample, between -1 and 1: (n,).

    own_i is the mean dissimilarity from sample i to the other samples of its cluster. other_i is
    the smallest such mean to another cluster. A sample alone in its cluster has s_i = 0.

    >>> D = manhattan(np.array([[0.0], [1.0], [7.0], [9.0]]))
    >>> silhouette(D, np.array([0, 0, 1, 1])).round(3)
    array([0.875, 0.857, 0.692, 0.765])

    Raises: ValueError for fewer than two clusters.
    """
    labels = np.unique(labels, return_inverse=True)[1]
    R = responsibilities(labels, labels.max() + 1)
    if R.shape[1] < 2:
        raise ValueError("a silhouette compares clusters: there must be at least two")
    n_k, sums = R.sum(axis=0), D @ R  # sums (n, K), over the samples of each cluster
    own = sums[R == 1] / np.maximum(n_k[labels] - 1, 1)  # D_ii = 0 does not count
    other = np.where(R == 1, np.inf, sums / n_k).min(axis=1)
    larger = np.maximum(own, other)
    alone = (n_k[labels] == 1) | (larger == 0)
    return np.where(alone, 0.0, (other - own) / np.where(alone, 1.0, larger))


def adjusted_rand_index(labels, others):
    """How much two groupings agree on which pairs of samples belong together, beyond chance.

        (t - e) / ((a + b) / 2 - e),  e = a b / N

    Of all N pairs of samples, a are together in `labels`, b in `others` and t in both. By chance
    t would be e. Equal groupings have the index 1, random ones 0 on average.

    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0

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


class _Pairwise(Clusterer):
    """A clusterer whose X may hold all pairs of samples instead of the samples."""

    def __sklearn_tags__(self):
        """Tags that tell whether X holds pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = "precomputed" in self.get_params().values()
        return tags


@dataclass(eq=False, repr=False)
class KMeans(Transformer, Clusterer):
    """K-means by Lloyd's algorithm, from several starts.

    Parameters
    ----------
    n_clusters : int
    init : "k-means++", "random" or ndarray of shape (K, d); "random" draws K different samples,
        with probabilities proportional to their weights; an array is one start
    n_init : "auto" or int; starts, the best is kept; "auto" is 10 for "random", else 1
    max_iter : int; largest number of steps from one start
    tol : float; stops when sum_k ||mu_k - mu_k before the step||^2 is at most tol times the mean
        variance of the features; 0 for when no center moves
    random_state : int, Generator or None

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (K, d)
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss J
    history_ : ndarray of shape (n_iter_ + 1,); J after every step from the best start
    n_iter_ : int; steps from the best start
    converged_ : bool; whether the centers came to rest within max_iter
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> np.sort(model.cluster_centers_.ravel()), model.inertia_
    (array([0.5, 8.5]), 1.0)
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: Any = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    random_state: Any = None

    def fit(self, X, y=None, sample_weight=None):
        """Cluster the samples X (n, d), each counted sample_weight (n,) times; return self."""
        given, X = X, check_samples(X)
        w = None if sample_weight is None else check_weights(sample_weight, len(X))
        n = len(X) if w is None else np.count_nonzero(w)
        K = _check_clusters(self.n_clusters, n, "n_clusters")
        p = _weights(X, w)
        p = p / p.sum()
        variance = p @ squared_norms(X - p @ X) / X.shape[1]  # mean of all features
        tol = check_number("tol", self.tol, at_least=0) * variance
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
        """The centers (K, d) to start from, one start after the other."""
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
        # Sorted along a random line, samples may come in any order, and one of weight 2 twice.
        line = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
        X, w = X[line], None if w is None else w[line]
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
        w = check_weights(sample_weight, len(X))
        return -loss(X, self.cluster_centers_, sample_weight=w)


@dataclass(eq=False, repr=False)
class KMedoids(_Pairwise, Transformer):
    """K-medoids (PAM) from the start of `build`: centers that are samples, for any dissimilarity.

    Parameters
    ----------
    n_clusters : int
    metric : "euclidean" (or "l2"), "manhattan" (or "l1"), or "precomputed": X is D (n, n), and
        for predict and transform the dissimilarities (m, n) to the samples of fit
    max_iter : int; largest number of swaps

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (K,); the numbers of the medoids as samples
    cluster_centers_ : ndarray of shape (K, d); these samples; not with "precomputed"
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss, the sum of the dissimilarities to the medoids
    history_ : ndarray of shape (n_iter_ + 1,); the loss after every swap
    n_iter_ : int; number of swaps
    converged_ : bool; whether no further swap lowers the loss
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = KMedoids(2).fit([[0.0], [1.0], [2.0], [50.0], [52.0], [99.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([ 1., 52.]), 51.0)
    """

    n_clusters: int = 8
    _: KW_ONLY
    metric: str = "euclidean"
    max_iter: int = 300

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = D (n, n); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X), "n_clusters")
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        check_choice("metric", self.metric, tuple(METRICS))
        D = METRICS[self.metric](X)
        vars(self).pop("cluster_centers_", None)
        run = iterate(k_medoids(D, build(D, K)), "gain", 0, max_iter)
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


@dataclass(eq=False, repr=False)
class AgglomerativeClustering(_Pairwise):
    """A hierarchy of clusters, from single samples up, cut into as many clusters as wanted.

    All pairs of samples are held in memory: 20,000 samples need some 10 GB.

    Parameters
    ----------
    n_clusters : int or None; None where distance_threshold says where to cut
    metric : "euclidean" (or "l2"), "manhattan" (or "l1"), or "precomputed": X is D (n, n)
    linkage : "ward" (only for "euclidean"), "complete", "average" or "single"
    distance_threshold : float or None; clusters at this distance or farther are not merged
    compute_distances : bool; whether to keep `distances_`; with a threshold they are always kept

    Attributes
    ----------
    labels_ : ndarray of shape (n,); clusters are numbered as they first appear
    n_clusters_ : int
    children_ : ndarray of shape (n - 1, 2); the clusters merged, numbered as in `Merge`
    distances_ : ndarray of shape (n - 1,); the distances of these clusters
    n_leaves_ : int; n
    n_connected_components_ : int; 1
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> AgglomerativeClustering(linkage="single").fit([[0.0], [7.0], [1.0], [9.0]]).labels_
    array([0, 1, 0, 1])
    """

    n_clusters: int | None = 2
    _: KW_ONLY
    metric: str = "euclidean"
    linkage: str = "ward"
    distance_threshold: float | None = None
    compute_distances: bool = False

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = D (n, n); return self."""
        given, X = X, check_samples(X)
        self._check_cut(len(X))
        keep = check_flag("compute_distances", self.compute_distances)
        merges = linkage(X, self.linkage, self.metric)
        K, heights = self.n_clusters, merges[:, 2]
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


@dataclass(eq=False, repr=False)
class SpectralClustering(_Pairwise):
    """K-means on the lowest eigenvectors of the graph Laplacian: clusters of any shape.

    Parameters
    ----------
    n_clusters : int
    n_components : int or None; number of eigenvectors, None for n_clusters
    random_state : int, Generator or None
    n_init : int; number of starts of K-means
    gamma : float; w_ij = exp(-gamma ||x_i - x_j||^2) with affinity "rbf"
    affinity : "rbf", "nearest_neighbors", or "precomputed": X is W (n, n), symmetric and >= 0
    n_neighbors : int; with affinity "nearest_neighbors", the sample itself included
    normalized : bool; False for the Laplacian D - W of ISML; scikit-learn always normalises

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n, n); W
    labels_ : ndarray of shape (n,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,); only where X is a data frame

    >>> model = SpectralClustering(2, random_state=0).fit([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> adjusted_rand_index(model.labels_, [0, 0, 0, 1, 1])
    1.0
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_components: int | None = None
    random_state: Any = None
    n_init: int = 10
    gamma: float = 1.0
    affinity: str = "rbf"
    n_neighbors: int = 10
    normalized: bool = True

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = W (n, n); return self."""
        given, X = X, check_samples(X)
        K, m = _check_clusters(self.n_clusters, len(X), "n_clusters"), self.n_components
        m = K if m is None else _check_clusters(m, len(X), "n_components")
        n_init = check_number("n_init", self.n_init, at_least=1, integer=True)
        W, rng = self._affinity(X), check_random_state(self.random_state)
        normalized = check_flag("normalized", self.normalized)
        rows = spectral_embedding(W, m, normalized=normalized)
        self.affinity_matrix_ = W
        self.labels_ = KMeans(K, n_init=n_init, random_state=rng).fit(rows).labels_
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
        return symmetric(X, "precomputed X").copy()
