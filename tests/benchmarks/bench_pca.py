"""Benchmark rows of the pca chapter: fit, then the scores of all samples."""

import numpy as np
from harness import row

from mlnotes.pca import PCA


def low_rank_samples(n, d, rank=30):
    """Samples of `rank` strong directions, and noise."""
    rng = np.random.default_rng(0)
    strength = np.linspace(3, 1, rank)
    return (strength * rng.normal(size=(n, rank))) @ rng.normal(size=(rank, d)) + rng.normal(
        size=(n, d)
    )


def lost_share(found):
    """The share of the variance that the components lose."""
    model, _ = found
    return 1 - model.explained_variance_ratio_.sum()


def both(X, k):
    """Ours, scikit-learn's, and their objective."""

    def ours():
        model = PCA(n_components=k).fit(X)
        return model, model.transform(X)

    def theirs():
        from sklearn.decomposition import PCA

        model = PCA(n_components=k, random_state=0).fit(X)
        return model, model.transform(X)

    return ours, theirs, lost_share


@row("PCA, 5,000 x 500, 20 components", objective="lost share")
def many_samples():
    return both(low_rank_samples(5000, 500), 20)


@row("PCA, 200 x 10,000, 20 components", objective="lost share")
def many_features():
    return both(low_rank_samples(200, 10_000), 20)
