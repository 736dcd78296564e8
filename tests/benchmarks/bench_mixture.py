"""Benchmark rows of the mixture chapter."""

import numpy as np
from harness import row

from mlnotes.mixture import GaussianMixture


def groups(kind):
    """Samples of eight groups, and where both sides start: at eight of them, with Sigma = I."""
    rng = np.random.default_rng(0)
    centers, A = 2 * rng.normal(size=(8, 10)), 0.6 * rng.normal(size=(10, 10))
    X = centers[rng.integers(8, size=20_000)] + rng.normal(size=(20_000, 10)) @ A
    unit = {"full": np.tile(np.eye(10), (8, 1, 1)), "diag": np.ones((8, 10))}
    start = {
        "weights_init": np.full(8, 1 / 8),
        "means_init": X[:8],
        "precisions_init": unit[kind],
    }
    return X, {"covariance_type": kind, "tol": 1e-6, "max_iter": 1000} | start


def em_from_one_start(kind):
    X, how = groups(kind)

    def ours():
        return GaussianMixture(8, **how).fit(X)

    def theirs():
        from sklearn.mixture import GaussianMixture

        return GaussianMixture(8, **how).fit(X)

    return ours, theirs, lambda model: -model.score(X)


@row("Gaussian mixture, full, 20,000 x 10, 8 components", objective="-l / n")
def full():
    return em_from_one_start("full")


@row("Gaussian mixture, diag, 20,000 x 10, 8 components", objective="-l / n")
def diagonal():
    return em_from_one_start("diag")
