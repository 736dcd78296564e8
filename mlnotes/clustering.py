"""Clustering: divide samples without labels into groups whose members are alike.

A method is a dissimilarity of two samples, a loss of a grouping, and an algorithm that lowers the
loss. K-means has five weaknesses. The remedies are here and in mixture.

Contents
    Dissimilarity             dissimilarities, euclidean, manhattan, gower, pair_covariance,
                              mahalanobis, whiten
    The loss                  one_hot_labels, distortion, cluster_means, scatter, Scatter
    The exact optimum         partitions, best_partition
    K-means                   nearest, lloyd, Clusters, kmeans_plus_plus
    Vector quantisation       decode_codes, storage
    Another loss (robust)     k_medians, nearest_l1, cluster_medians, k_medoids, Medoids,
                              swap_losses, build
    Another K (hierarchical)  agglomerate, Merge, nearest_pair, linkage,
                              cut_dendrogram
    Another shape (spectral)  rbf_affinity, graph_laplacian, lowest_eigenvectors, spectral_embedding
    Judging groupings         silhouette, adjusted_rand_index
    Estimators                KMeans, KMedoids, AgglomerativeClustering, SpectralClustering

Symbols
    X         (n, d)      samples x_i, one per row
    K         int         number of clusters
    centers   (K, d)      prototypes mu_k
    labels    (n,)        c_i in {0, ..., K-1}, the cluster of x_i
    R         (n, K)      responsibilities r_ik = 1 if c_i = k, else 0
    n_k       (K,)        number of samples in each cluster
    J         float       the loss, sum_i ||x_i - mu_{c_i}||^2 for K-means
    D         (n, n)      dissimilarities of all pairs, symmetric, 0 on the diagonal
    merges    (n - 1, 4)  a hierarchy: row t holds the two clusters that become cluster n + t
                          (numbers below n are samples), their distance, and its size
    W, L      (n, n)      similarities w_ij >= 0 of all pairs, w_ii = 0, and their Laplacian
    g         (n,)        degrees g_i = sum_j w_ij
    rng       Generator   draws the start

Notes: ISML "Clustering" 1-3; REP "K-means Optimization Problem"; IRHD 4. REP writes k for K and
j for our k. Both go on to mixtures of Gaussians, our chapter mixture.
"""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Clusterer,
    ConvergenceWarning,
    Transformer,
    check_choice,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    floats,
    iterate,
    shared,
)
from mlnotes.numerics import squared_distances, squared_norms, symmetric

# =======================================================================================
# The lecture
# =======================================================================================

# --- Dissimilarity ---------------------------------------------------------------------


def dissimilarities(D, name="D"):
    """The dissimilarities D of all pairs in double precision: (n, n); `name` is that of messages.

    Raises: ValueError if D is not symmetric, not >= 0, or not 0 on the diagonal, up to rounding.

    >>> dissimilarities([[0, 2], [2, 1]])
    Traceback (most recent call last):
    ValueError: D must be 0 on the diagonal; got 1
    """
    D = symmetric(D, name)
    least, own, largest = D.min(), D.diagonal().max(), D.max()
    if least < -ROUNDING * max(largest, 0):
        raise ValueError(f"{name} must be >= 0; got {least:g}")
    if own > ROUNDING**0.5 * largest:  # a distance is the root of what rounding leaves
        raise ValueError(f"{name} must be 0 on the diagonal; got {own:g}")
    return D


def euclidean(X, Y=None):
    """The distances sqrt(sum_j (x_j - y_j)^2) of all x in X and y in Y (X if None): (n, m).

    >>> euclidean(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[5., 1.]])

    Errata: clustering-06 (ISML says that the clusters change with any scaling, even with one factor
    for all features), clustering-25 (ISML calls a sample x_p; p is the number of features).
    """
    return np.sqrt(squared_distances(X, Y))


def manhattan(X, Y=None):
    """The L1 distances sum_j |x_j - y_j| of all x in X and y in Y (X if None): (n, m).

    >>> manhattan(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[7., 1.]])
    """
    X, Y = floats(X, X if Y is None else Y)
    return sum(np.abs(x[:, None] - y) for x, y in zip(X.T, Y.T, strict=True))


def gower(X, kinds):
    """The mean over all features of a dissimilarity in [0, 1] that suits their `kinds`: (n, n).

    "categorical": 0 if equal, else 1; "ordinal": |difference of ranks| / (R - 1), where R distinct
    values have the ranks 1 to R; "quantitative": |difference| / range. A constant feature adds 0.

    >>> gower(np.array([[0, 1.0], [7, 2.0], [7, 5.0]]), ["categorical", "quantitative"])[0]
    array([0.   , 0.625, 1.   ])
    """
    total = np.zeros((len(X), len(X)))
    for x, kind in zip(floats(X).T, kinds, strict=True):
        if kind == "categorical":
            total += x[:, None] != x
        else:
            ranks = np.unique(x, return_inverse=True)[1]
            x = {"ordinal": ranks, "quantitative": x}[kind]
            total += np.abs(x[:, None] - x) / (np.ptp(x) or 1.0)
    return total / len(kinds)


def pair_covariance(X, pairs):
    """Sigma = 1/2 mean of (x_i - x_l)(x_i - x_l)^T over `pairs` (i, l) of similar samples: (d, d).

    `mahalanobis` with this Sigma gives little weight to the directions in which they differ.

    >>> pair_covariance(np.array([[0.0], [4.0]]), pairs=[(0, 1)])
    array([[8.]])
    """
    first, second = np.transpose(pairs)
    difference = floats(X)[first] - floats(X)[second]
    return difference.T @ difference / (2 * len(difference))


def mahalanobis(X, Y, Sigma):
    """The distances sqrt((x - y)^T Sigma^{-1} (x - y)) of all x in X and y in Y: (n, m).

    >>> mahalanobis(np.array([[0.0, 0.0]]), np.array([[4.0, 0.0]]), np.diag([4.0, 1.0]))
    array([[2.]])
    """
    return euclidean(whiten(X, Sigma), whiten(Y, Sigma))


def whiten(X, Sigma):
    """C^{-1} x of every sample, where Sigma = C C^T (Cholesky): (n, d).

    >>> whiten(np.array([[4.0, 3.0]]), np.diag([4.0, 1.0]))
    array([[2., 3.]])
    """
    return np.linalg.solve(np.linalg.cholesky(symmetric(Sigma, "Sigma")), floats(X).T).T


# --- The loss --------------------------------------------------------------------------


def one_hot_labels(labels, K):
    """The matrix R (n, K) with r_ik = 1 if c_i = k, else 0; every row sums to 1.

    >>> one_hot_labels(np.array([0, 2]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    return np.equal.outer(labels, np.arange(K)).astype(float)


def distortion(X, centers, labels):
    """The loss J = sum_i sum_k r_ik ||x_i - mu_k||^2 = sum_i ||x_i - mu_{c_i}||^2.

    >>> X, centers = np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [9.0]])
    >>> float(distortion(X, centers, labels=np.array([0, 0, 1])))
    2.0

    Errata: clustering-08 (REP prints ||x_i - mu_j||^2 with a free j in place of the minimum, and
    calls the sum an average).
    """
    X, centers = floats(X, centers)
    return np.sum((X - centers[labels]) ** 2)


def cluster_means(X, labels, K, empty=np.nan):
    """The means mu_k = sum_i r_ik x_i / n_k, which minimise J for these labels: (K, d).

    The row of an empty cluster, which has no mean, is that of `empty`.

    >>> cluster_means(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]), 2).ravel()
    array([1.5, 6. ])
    """
    R = one_hot_labels(labels, K)
    n_k = R.sum(axis=0)[:, None]
    return np.where(n_k > 0, R.T @ X / np.maximum(n_k, 1), empty)


class Scatter(NamedTuple):
    """Scatter matrices (d, d): sums of outer products; their traces sum squared distances."""

    total: np.ndarray  # sum_i (x_i - m)(x_i - m)^T, of the samples about their mean m
    within: np.ndarray  # sum_i (x_i - mu_{c_i})(x_i - mu_{c_i})^T, about their cluster's mean
    between: np.ndarray  # sum_k n_k (mu_k - m)(mu_k - m)^T, of the means about m


def scatter(X, labels):
    """The scatter matrices, total = within + between for any labels: a `Scatter`.

    The trace of `within` is J. The total does not depend on the labels.

    >>> [float(S[0, 0]) for S in scatter(np.array([[0.0], [2.0], [7.0]]), np.array([0, 0, 1]))]
    [26.0, 2.0, 24.0]
    """
    X, k = floats(X), np.unique(labels, return_inverse=True)[1]  # 0, ..., K - 1
    m, mu = X.mean(axis=0), cluster_means(X, k, k.max() + 1)[k]
    return Scatter(*(A.T @ A for A in (X - m, X - mu, mu - m)))


# --- The exact optimum -----------------------------------------------------------------


def partitions(n, K):
    """All groupings of n samples into K clusters, none empty: one grouping (labels) per row.

    Clusters are numbered as they first appear, so that no grouping comes twice.

    >>> partitions(3, 2)
    array([[0, 0, 1],
           [0, 1, 0],
           [0, 1, 1]])
    """
    P = np.zeros((1, 0), dtype=int)
    for left in reversed(range(n)):
        choices = np.minimum(P.max(axis=1, initial=-1) + 2, K)  # an old cluster or the next new one
        last = np.concatenate([np.arange(c) for c in choices])
        P = np.column_stack([np.repeat(P, choices, axis=0), last])
        P = P[P.max(axis=1) + left >= K - 1]  # enough samples are left for the missing clusters
    return P


def best_partition(X, K):
    """The labels (n,) of the smallest J that K centers can have, found by trying all partitions.

    It has the largest trace of `between`, sum_k n_k ||mu_k - m||^2.

    >>> best_partition(np.array([[0.0], [1.0], [5.0], [6.0]]), 2)
    array([0, 0, 1, 1])
    """
    X, P = floats(X), partitions(len(X), K)
    A = X - X.mean(axis=0)
    members = [(P == k).astype(float) for k in range(K)]  # of cluster k, in each partition
    between = sum(squared_norms(r @ A) / r.sum(axis=1) for r in members)
    return P[between.argmax()]


# --- K-means ---------------------------------------------------------------------------


class Clusters(NamedTuple):
    """A grouping by centers, after a step."""

    centers: np.ndarray  # (K, d)
    labels: np.ndarray  # (n,), the nearest of these centers
    objective: float  # the loss J of these centers and labels
    moved: float  # sum_k ||mu_k - mu_k before the step||^2; inf at the start


def nearest(X, centers):
    """The labels c_i = argmin_k ||x_i - mu_k||^2 (n,), and these squared distances (n,).

    They are the best labels for these centers. In a tie the first center counts.

    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1]), array([1., 4.]))
    """
    squares = squared_distances(centers, X)  # (K, n)
    return squares.argmin(axis=0), squares.min(axis=0)


def lloyd(X, centers, assign=nearest, update=cluster_means):
    """K-means: c_i = argmin_k ||x_i - mu_k||^2, then mu_k = mean of cluster k, until J rests.

    J falls in every step, perhaps not to the smallest J. An empty cluster keeps its center. Another
    dissimilarity has its own `assign` and `update`. Yields: the start, then a `Clusters` per step.

    >>> X = np.array([[0.0], [6.0], [8.0]])
    >>> for state in lloyd(X, centers=X[:2]):
    ...     print(state.centers.ravel(), state.labels, state.objective, state.moved)
    [0. 6.] [0 1 1] 4.0 inf
    [0. 7.] [0 1 1] 2.0 1.0
    [0. 7.] [0 1 1] 2.0 0.0
    """
    J = moved = np.inf
    while True:
        labels, losses = assign(X, centers)  # the best labels for these centers
        before, J = J, losses.sum()
        yield Clusters(centers, labels, J, moved)
        if J >= before:
            return
        means = update(X, labels, len(centers), empty=centers)  # the best centers for these labels
        moved, centers = np.sum((means - centers) ** 2), means


def kmeans_plus_plus(X, K, rng, trials=1):
    """K samples (K, d) to start from: each is drawn with probability D(x)^2 / sum of all D^2.

    D(x) is the distance of x to the nearest center drawn before. The first is any sample, each
    further one the best of `trials` draws.

    >>> X = np.array([[0.0], [0.0], [0.0], [9.0]])
    >>> np.sort(kmeans_plus_plus(X, 2, rng=np.random.default_rng(0)).ravel())
    array([0., 9.])
    """
    chosen = [rng.integers(len(X))]
    squares = squared_distances(X[chosen], X)[0]  # to the nearest center so far
    while len(chosen) < K:
        p = squares / squares.sum() if squares.any() else None  # None: all equally likely
        drawn = rng.choice(len(X), trials, p=p)
        after = np.minimum(squares, squared_distances(X[drawn], X))  # (trials, n)
        best = after.sum(axis=1).argmin()  # the one that leaves the smallest J
        chosen.append(drawn[best])
        squares = after[best]
    return X[chosen]


# --- Vector quantisation ---------------------------------------------------------------


def decode_codes(codes, codebook):
    """The rows of the codebook (K, d) that `codes` (n,) stand for: (n, d).

    The codebook holds the centers of K-means, the code of x is the number of its `nearest` row.

    >>> decode_codes(np.array([1]), codebook=np.array([[0.0, 0.0], [9.0, 9.0]]))
    array([[9., 9.]])
    """
    return codebook[codes]


def storage(n, d, K, *, bits):
    """Bits for n codes and their codebook, n ceil(log2 K) + K d `bits`, and for n d plain numbers.

    >>> storage(1000, 3, 16, bits=8)
    (4384, 24000)
    """
    return n * (K - 1).bit_length() + K * d * bits, n * d * bits


# --- Another loss (robust) -------------------------------------------------------------


def k_medians(X, centers):
    """K-means for the L1 distance, where the median of every feature is the best center.

    Yields: the start, then `Clusters` per step.

    >>> X = np.array([[0.0], [1.0], [2.0], [1000.0]])
    >>> *_, last = k_medians(X, centers=X[:1])
    >>> last.centers, float(last.objective)
    (array([[1.5]]), 1001.0)
    """
    return lloyd(X, centers, assign=nearest_l1, update=cluster_medians)


def nearest_l1(X, centers):
    """The labels c_i = argmin_k sum_j |x_ij - mu_kj| (n,), and these distances (n,).

    >>> nearest_l1(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1]), array([1., 2.]))
    """
    distances = manhattan(centers, X)  # (K, n)
    return distances.argmin(axis=0), distances.min(axis=0)


def cluster_medians(X, labels, K, empty=np.nan):
    """The medians of every feature in every cluster, which minimise the L1 loss: (K, d).

    The row of an empty cluster is that of `empty`.

    >>> cluster_medians(np.array([[1.0], [2.0], [9.0]]), np.array([0, 0, 0]), 2).ravel()
    array([ 2., nan])
    """
    X = floats(X)
    medians = np.zeros((K, X.shape[1])) + empty
    for k in np.unique(labels):
        medians[k] = np.median(X[labels == k], axis=0)
    return medians


class Medoids(NamedTuple):
    """A grouping by medoids, after a swap."""

    medoids: np.ndarray  # (K,), their numbers as samples
    labels: np.ndarray  # (n,), the nearest of them
    objective: float  # the loss sum_i D(x_i, its medoid)
    gain: float  # the fall of the loss in this swap; inf at the start


def k_medoids(D, medoids):
    """Centers that are samples, for any D: make the best swap as long as it lowers the loss (PAM).

    Yields: the start, then `Medoids` per swap.

    >>> D = manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    >>> *_, last = k_medoids(D, medoids=np.array([0, 1]))
    >>> last.medoids, last.labels, float(last.objective)
    (array([3, 1]), array([1, 1, 1, 0, 0]), 3.0)
    """
    D, gain = floats(D), np.inf
    while gain > 0:
        J = D[:, medoids].min(axis=1).sum()
        yield Medoids(medoids, D[:, medoids].argmin(axis=1), J, gain)
        losses = np.array([swap_losses(D, medoids, k) for k in range(len(medoids))])  # (K, n)
        k, j = np.unravel_index(losses.argmin(), losses.shape)
        medoids = np.where(np.arange(len(medoids)) == k, j, medoids)  # j takes the place of k
        gain = J - D[:, medoids].min(axis=1).sum()


def swap_losses(D, medoids, k):
    """The loss if sample j took the place of medoid k, for every j: (n,).

    >>> D = manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]))
    >>> swap_losses(D, medoids=np.array([0, 1]), k=0)
    array([100., 101.,  98.,   3.,   3.])
    """
    D = floats(D)
    to_others = D[:, np.delete(medoids, k)].min(axis=1, initial=np.inf)
    return np.minimum(D, to_others[:, None]).sum(axis=0)


def build(D, K):
    """Medoids (K,) to start from, one by one, each the sample that lowers the loss most.

    >>> build(manhattan(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])), 2)
    array([2, 3])
    """
    D, medoids = floats(D), []
    for _ in range(K):
        to_medoids = D[:, medoids].min(axis=1, initial=np.inf)
        losses = np.minimum(D, to_medoids[:, None]).sum(axis=0)
        losses[medoids] = np.inf  # no sample twice
        medoids.append(losses.argmin())
    return np.array(medoids)


# --- Another K (hierarchical) ----------------------------------------------------------

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
    size: int  # the number of samples in the new cluster


def agglomerate(D, method):
    """Start with every sample by itself; merge the two nearest clusters, until one is left.

    With h = D_ab, the distance of the new cluster a + b to a cluster c is (Lance and Williams)

        single     min(D_ac, D_bc), the distance of the nearest two samples
        complete   max(D_ac, D_bc), the distance of the farthest two samples
        average    (n_a D_ac + n_b D_bc) / (n_a + n_b), the mean over all pairs of samples
        ward       ((n_a + n_c) D_ac + (n_b + n_c) D_bc - n_c h) / (n_a + n_b + n_c); if D holds
                   squared distances, half of it is the rise of J that the merge would cause

    Yields: a `Merge` per step.

    >>> for merge in agglomerate(manhattan(np.array([[0.0], [1.0], [7.0]])), "single"):
    ...     print(merge.pair, merge.height, merge.size)
    (0, 1) 1.0 2
    (3, 2) 6.0 3
    """
    n = len(D)
    D = dissimilarities(D) + np.diag(np.full(n, np.inf))  # no cluster is its own nearest
    number, size, least = list(range(n)), np.ones(n, dtype=int), D.min(axis=1)
    for new in range(n, 2 * n - 1):
        a, b = nearest_pair(D, least)
        yield Merge((number[a], number[b]), D[a, b], size[a] + size[b])
        merged = LINKAGES[method](D[a], D[b], D[a, b], size[a], size[b], size)
        D[a] = D[:, a] = merged  # the distances of a + b to all others
        D[b] = D[:, b] = D[a, a] = least[b] = np.inf  # b is gone
        number[a], size[a] = new, size[a] + size[b]


def nearest_pair(D, least):
    """The a, b with the smallest D_ab, where `least` (n,) holds a lower bound of every row of D.

    The bounds of the rows that are searched become their smallest entries. No linkage puts the
    distance of a + b and c below both D_ac and D_bc, so that the bounds outlast a merge.

    >>> D = np.array([[np.inf, 5.0, 4.0], [5.0, np.inf, 2.0], [4.0, 2.0, np.inf]])
    >>> a, b = nearest_pair(D, least=np.array([3.0, 2.0, 2.0]))
    >>> int(a), int(b)
    (1, 2)
    """
    a = least.argmin()
    while least[a] < D[a].min():
        least[a] = D[a].min()
        a = least.argmin()
    return a, D[a].argmin()


def linkage(D, method):
    """The merges (n - 1, 4) of `agglomerate` for distances D (n, n), as SciPy has them.

    Ward's linkage takes squares of Euclidean distances. Its heights are distances again: their
    squares are twice the rise of J.

    >>> linkage(manhattan(np.array([[0.0], [1.0], [7.0]])), "complete")
    array([[0., 1., 1., 2.],
           [2., 3., 7., 3.]])
    """
    power = 2 if method == "ward" else 1
    merges = agglomerate(dissimilarities(D) ** power, method)
    rows = [[*sorted(pair), height ** (1 / power), size] for pair, height, size in merges]
    return np.array(rows, dtype=float).reshape(-1, 4)


def cut_dendrogram(merges, K):
    """The labels (n,) of the K clusters after n - K merges, numbered as they first appear.

    >>> cut_dendrogram(linkage(euclidean(np.array([[0.0], [7.0], [1.0], [9.0]])), "ward"), 3)
    array([0, 1, 0, 2])
    """
    n = len(merges) + 1
    if not 1 <= K <= n:
        raise ValueError(f"K must be from 1 to {n}, the number of samples; got {K}")
    labels, first = np.arange(n), list(range(n))  # of every cluster, the number of its first sample
    for a, b in merges[: n - K, :2].astype(int):
        kept, lost = sorted([first[a], first[b]])
        labels[labels == lost] = kept
        first.append(kept)
    return np.unique(labels, return_inverse=True)[1]


# --- Another shape (spectral) ----------------------------------------------------------


def rbf_affinity(X, gamma):
    """The similarities w_ij = exp(-gamma ||x_i - x_j||^2), and w_ii = 0: (n, n).

    >>> rbf_affinity(np.array([[0.0], [2.0]]), gamma=0.25)[0].round(4)
    array([0.    , 0.3679])
    """
    return np.exp(-gamma * squared_distances(X)) - np.eye(len(X))


def graph_laplacian(W):
    """The Laplacian L = diag(g) - W with the degrees g_i = sum_j w_ij: (n, n).

    f^T L f = 1/2 sum_ij w_ij (f_i - f_j)^2. The eigenvalue 0 has as many independent eigenvectors
    as the graph has connected components.

    >>> graph_laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]))[0]
    array([ 2., -2.])
    """
    W = symmetric(W, "W")
    return np.diag(W.sum(axis=1)) - W


def lowest_eigenvectors(L, K):
    """The K smallest eigenvalues (K,) of a symmetric L and their eigenvectors (n, K).

    >>> lowest_eigenvectors(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([1., 2.])
    """
    values, vectors = np.linalg.eigh(symmetric(L, "L"))
    return values[:K], vectors[:, :K]


def spectral_embedding(W, K, normalized=False):
    """The K lowest eigenvectors f_k of the Laplacian: row i holds f_1(i), ..., f_K(i): (n, K).

    If the graph has K connected components, samples of the same component get the same row. They
    solve L f = lambda f or, if `normalized`, L f = lambda G f with G = diag(g): f = G^{-1/2} h for
    the eigenvectors h of G^{-1/2} L G^{-1/2}. Without neighbours g_i = 0, which counts as 1.

    >>> W = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> f = spectral_embedding(W, 2)
    >>> bool(np.allclose(f[0], f[1])), bool(np.allclose(f[0], f[2]))
    (True, False)
    """
    L, g = graph_laplacian(W), np.sum(W, axis=1, dtype=float)
    root = np.sqrt(np.where(g > 0, g, 1)) if normalized else np.ones(len(g))
    values, F = lowest_eigenvectors(L / np.outer(root, root), K)
    return F / root[:, None]


# --- Judging groupings -----------------------------------------------------------------


def silhouette(D, labels):
    """The silhouette s_i = (b_i - a_i) / max(a_i, b_i) of every sample, from -1 to 1: (n,).

    a_i is the mean dissimilarity of sample i to the others of its cluster, b_i the smallest mean
    dissimilarity to another cluster. A sample alone has s_i = 0, and so has one with a_i = b_i = 0.
    With K = 1, s_i is nan.

    >>> D = manhattan(np.array([[0.0], [1.0], [7.0], [9.0]]))
    >>> silhouette(D, np.array([0, 0, 1, 1])).round(3)
    array([0.875, 0.857, 0.692, 0.765])
    """
    D, R = dissimilarities(D), np.equal.outer(labels, np.unique(labels)).astype(float)
    sums, size = D @ R, R @ R.sum(axis=0)  # to each cluster; of the own one
    a = np.sum(R * sums, axis=1) / np.maximum(size - 1, 1)  # no sample counts itself
    b = np.where(R == 1, np.inf, sums / R.sum(axis=0)).min(axis=1)
    larger = np.maximum(a, b)
    return np.where(size > 1, (b - a) / np.where(larger > 0, larger, 1), 0)


def adjusted_rand_index(labels, others):
    """The agreement (t - e) / ((a + b) / 2 - e) of two groupings beyond chance, e = a b / N.

    Of all N pairs of samples, a are together in `labels`, b in `others` and t in both. By chance
    t would be e. Equal groupings have the index 1, random ones 0 on average.

    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    labels, others = np.asarray(labels), np.asarray(others)
    R, S = (np.equal.outer(c, np.unique(c)).astype(float) for c in (labels, others))
    table = R.T @ S  # the number of samples in cluster k of `labels` and cluster l of `others`
    counts = table, table.sum(axis=1), table.sum(axis=0), table.sum()
    t, a, b, N = (np.sum(m * (m - 1)) / 2 for m in counts)
    return 1.0 if a == b == t else (t - a * b / N) / ((a + b) / 2 - a * b / N)


# =======================================================================================
# The estimators
# =======================================================================================

METRICS = {"euclidean": euclidean, "manhattan": manhattan}


def _check_clusters(K, n):
    check_number("n_clusters", K, at_least=1, integer=True)
    if K > n:
        raise ValueError(f"n_clusters must be at most n_samples; got {K} for {n} sample(s)")
    return K


@dataclass(eq=False, repr=False)
class KMeans(Transformer, Clusterer):
    """K-means by Lloyd's algorithm, from several starts.

    Parameters
    ----------
    n_clusters : int
    init : "k-means++", "random" or ndarray of shape (K, d); "random" draws K different samples;
        an array is one start
    n_init : "auto" or int; starts, the best is kept; "auto" is 10 for "random", else 1
    max_iter : int; largest number of steps from one start
    tol : float; stops when sum_k ||mu_k - mu_k before the step||^2 is at most tol times the mean
        variance of the features; 0 for when J no longer falls
    random_state : int, Generator or None

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (K, d)
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss J
    history_ : ndarray of shape (n_iter_ + 1,); J after every step from the best start
    n_iter_ : int; steps from the best start
    converged_ : bool; whether the centers came to rest within max_iter

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

    def fit(self, X, y=None):
        """Cluster the samples X (n, d); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X))
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        tol = check_number("tol", self.tol, at_least=0) * X.var(axis=0).mean()
        m = X.mean(axis=0)  # about m, means of numbers far from 0 lose no digits
        runs = [lloyd(X - m, start - m) for start in self._starts(X, K)]
        runs = [iterate(states, "moved", tol, max_iter) for states in runs]
        best = min(run.state.objective for run in runs) * (1 + ROUNDING)
        run = next(run for run in runs if run.state.objective <= best)  # of equals the first
        self.cluster_centers_ = run.state.centers + m
        self.labels_, squares = nearest(X, self.cluster_centers_)
        self.inertia_ = float(squares.sum())
        self._record(run, "moved", tol)
        if len(np.unique(self.labels_)) < K > len(np.unique(X, axis=0)):
            message = f"X has fewer than n_clusters = {K} distinct samples"
            warnings.warn(message, shared(ConvergenceWarning), stacklevel=2)
        return self._remember(given)

    def _starts(self, X, K):
        """The centers (K, d) of every start."""
        rng, init, auto = check_random_state(self.random_state), self.init, self.n_init == "auto"
        n_init = auto or check_number("n_init", self.n_init, at_least=1, integer=True)
        if not isinstance(init, str):
            if np.shape(init) != (K, X.shape[1]):
                raise ValueError(
                    f"init must be 'k-means++', 'random' or an array of shape {K, X.shape[1]}; "
                    f"got {np.shape(init) or init!r}"
                )
            return [check_samples(init)]
        if check_choice("init", init, ("k-means++", "random")) == "random":
            starts = range(10 if auto else n_init)
            return [X[rng.choice(len(X), K, replace=False)] for _ in starts]
        return [kmeans_plus_plus(X, K, rng, trials=2 + int(np.log(K))) for _ in range(n_init)]

    def predict(self, X):
        """Labels (n,): the nearest center of every sample."""
        return nearest(self._check_fitted(X), self.cluster_centers_)[0]

    def transform(self, X):
        """Distances (n, K) to the centers."""
        return euclidean(self._check_fitted(X), self.cluster_centers_)

    def score(self, X, y=None):
        """-J of the samples X with these centers: larger is better."""
        return -float(nearest(self._check_fitted(X), self.cluster_centers_)[1].sum())


@dataclass(eq=False, repr=False)
class KMedoids(Transformer, Clusterer):
    """K-medoids (PAM) from the start of `build`: centers that are samples, for any dissimilarity.

    Parameters
    ----------
    n_clusters : int
    metric : "euclidean", "manhattan", or "precomputed": X is D (n, n), and for predict and
        transform the dissimilarities (m, n) to the samples of fit
    max_iter : int; largest number of swaps

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (K,); the numbers of the medoids as samples
    cluster_centers_ : ndarray of shape (K, d); these samples; None with "precomputed"
    labels_ : ndarray of shape (n,)
    inertia_ : float; the loss, the sum of the dissimilarities to the medoids
    history_ : ndarray of shape (n_iter_ + 1,); the loss after every swap
    n_iter_ : int; number of swaps
    converged_ : bool; whether no further swap lowers the loss

    >>> model = KMedoids(2).fit([[0.0], [1.0], [2.0], [50.0], [52.0], [99.0]])
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([ 1., 52.]), 51.0)
    """

    n_clusters: int = 8
    _: KW_ONLY
    metric: str = "euclidean"
    max_iter: int = 300

    def __sklearn_tags__(self):
        """Tags that tell whether X holds pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X, y=None):
        """Cluster the samples X (n, d), or X = D (n, n); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X))
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        metric = check_choice("metric", self.metric, [*METRICS, "precomputed"])
        D = METRICS[metric](X) if metric in METRICS else dissimilarities(X, "precomputed X")
        run = iterate(k_medoids(D, build(D, K)), "gain", 0, max_iter)
        self.medoid_indices_, self.inertia_ = run.state.medoids, float(run.state.objective)
        self._fitted_metric = self.metric  # for transform
        self.cluster_centers_ = X[self.medoid_indices_] if self.metric in METRICS else None
        self._record(run, "gain", 0)
        self._remember(given)
        self.labels_ = self.predict(X)
        return self

    def transform(self, X):
        """Dissimilarities (n, K) to the medoids."""
        X = self._check_fitted(X)
        if self.cluster_centers_ is None:
            return X[:, self.medoid_indices_]
        return METRICS[self._fitted_metric](X, self.cluster_centers_)

    def predict(self, X):
        """Labels (n,): the nearest medoid of every sample."""
        return self.transform(X).argmin(axis=1)


@dataclass(eq=False, repr=False)
class AgglomerativeClustering(Clusterer):
    """A hierarchy of clusters, from single samples up, cut into as many clusters as wanted.

    All pairs of samples are held in memory: 20,000 samples need some 10 GB. The distances are
    Euclidean. For others see `linkage`.

    Parameters
    ----------
    n_clusters : int
    linkage : "ward", "complete", "average" or "single"

    Attributes
    ----------
    labels_ : ndarray of shape (n,); clusters are numbered as they first appear
    children_ : ndarray of shape (n - 1, 2); the clusters merged, numbered as in `Merge`
    distances_ : ndarray of shape (n - 1,); the distances of these clusters

    >>> AgglomerativeClustering(linkage="single").fit([[0.0], [7.0], [1.0], [9.0]]).labels_
    array([0, 1, 0, 1])
    """

    n_clusters: int = 2
    _: KW_ONLY
    linkage: str = "ward"

    def fit(self, X, y=None):
        """Cluster the samples X (n, d); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X))
        merges = linkage(euclidean(X), check_choice("linkage", self.linkage, LINKAGES))
        self.children_, self.distances_ = merges[:, :2].astype(int), merges[:, 2]
        self.labels_ = cut_dendrogram(merges, K)
        return self._remember(given)


@dataclass(eq=False, repr=False)
class SpectralClustering(Clusterer):
    """K-means on the lowest eigenvectors of the graph Laplacian: clusters of any shape.

    Parameters
    ----------
    n_clusters : int; also the number of eigenvectors
    random_state : int, Generator or None
    n_init : int; number of starts of K-means
    gamma : float; w_ij = exp(-gamma ||x_i - x_j||^2)
    normalized : bool; False for L f = lambda f, as ISML has it; scikit-learn always normalises

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n, n); W, with 0 on the diagonal
    labels_ : ndarray of shape (n,)

    >>> model = SpectralClustering(2, random_state=0).fit([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> adjusted_rand_index(model.labels_, [0, 0, 0, 1, 1])
    1.0
    """

    n_clusters: int = 8
    _: KW_ONLY
    random_state: Any = None
    n_init: int = 10
    gamma: float = 1.0
    normalized: bool = True

    def fit(self, X, y=None):
        """Cluster the samples X (n, d); return self."""
        given, X = X, check_samples(X)
        K = _check_clusters(self.n_clusters, len(X))
        normalized = check_flag("normalized", self.normalized)
        gamma = check_number("gamma", self.gamma, above=0, below=np.inf)
        self.affinity_matrix_ = rbf_affinity(X, gamma)
        rows = spectral_embedding(self.affinity_matrix_, K, normalized)
        k_means = KMeans(K, n_init=self.n_init, random_state=self.random_state)
        self.labels_ = k_means.fit(rows).labels_
        return self._remember(given)
