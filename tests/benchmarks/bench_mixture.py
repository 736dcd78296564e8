"""Benchmark rows of the mixture chapter."""

import numpy as np
from harness import row

from mlnotes.mixture import GaussianMixture


def groups():
    """Samples of eight groups."""
    rng = np.random.default_rng(0)
    centers, A = 2 * rng.normal(size=(8, 10)), 0.6 * rng.normal(size=(10, 10))
    return centers[rng.integers(8, size=20_000)] + rng.normal(size=(20_000, 10)) @ A


def em_from_one_start(kind):
    """Both sides from the first M-step of ours, which finds its start by K-means as well."""
    X, how = groups(), {"covariance_type": kind, "random_state": 0, "max_iter": 1000}
    first = GaussianMixture(8, **how, tol=1e9).fit(X)
    start = {
        "weights_init": first.weights_,
        "means_init": first.means_,
        "precisions_init": first.precisions_,
    }

    def ours():
        return GaussianMixture(8, **how, tol=1e-6).fit(X)

    def theirs():
        from sklearn.mixture import GaussianMixture

        return GaussianMixture(8, **how, tol=1e-6, **start).fit(X)

    return ours, theirs, lambda model: -model.score(X)


@row("Gaussian mixture, full, 20,000 x 10, 8 components", objective="-l / n")
def full():
    return em_from_one_start("full")


@row("Gaussian mixture, diag, 20,000 x 10, 8 components", objective="-l / n")
def diagonal():
    return em_from_one_start("diag")
