"""Benchmark rows of the clustering chapter."""

import numpy as np
from harness import row

from mlnotes.clustering import (
    AgglomerativeClustering,
    KMeans,
    SpectralClustering,
    cluster_means,
    distortion,
    graph_laplacian,
    one_hot_labels,
    rbf_affinity,
)
from mlnotes.datasets import make_blobs, make_moons


def within(X, labels, K):
    """J of the best centers for these labels."""
    return distortion(X, cluster_means(X, labels, K), labels)


@row("K-means, 50,000 x 20, 20 clusters", objective="J = sum_i min_k ||x_i - mu_k||^2")
def k_means():
    rng = np.random.default_rng(0)
    X = make_blobs([2500] * 20, 2 * rng.normal(size=(20, 20)), rng=rng).X
    start = X[rng.choice(len(X), 20, replace=False)]  # the same for both

    def ours():
        return KMeans(20, init=start).fit(X)

    def theirs():
        from sklearn.cluster import KMeans

        return KMeans(20, init=start, n_init=1).fit(X)

    return ours, theirs, lambda model: model.inertia_


@row("Ward's linkage, 2,000 x 10", objective="J of 20 clusters")
def ward():
    X = np.random.default_rng(0).normal(size=(2000, 10))

    def ours():
        return AgglomerativeClustering(20).fit(X)

    def theirs():
        from sklearn.cluster import AgglomerativeClustering

        return AgglomerativeClustering(20).fit(X)

    return ours, theirs, lambda model: within(X, model.labels_, 20)


@row("spectral clustering, 1,000 x 2", objective="normalised cut, sum_k cut_k / volume_k")
def spectral():
    X = make_moons(1000, noise=0.06, rng=np.random.default_rng(0)).X
    W = rbf_affinity(X, 20.0)
    L = graph_laplacian(W)

    def ours():
        return SpectralClustering(2, gamma=20.0, random_state=0).fit(X)

    def theirs():
        from sklearn.cluster import SpectralClustering

        return SpectralClustering(2, gamma=20.0, random_state=0).fit(X)

    def normalised_cut(model):
        R = one_hot_labels(model.labels_, 2)
        return np.sum(np.diag(R.T @ L @ R) / (np.diag(L) @ R))

    return ours, theirs, normalised_cut
