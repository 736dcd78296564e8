"""Benchmark rows of the density chapter."""

import numpy as np
from harness import row

from mlnotes.density import KernelDensity


@row(
    "Gaussian kernel density, 5,000 x 5, 5,000 queries",
    objective="sum of ln p over the queries",
    smaller_is_better=None,  # one and the same number
    rtol=1e-9,
)
def gaussian_kernel():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(5_000, 5)), rng.normal(size=(5_000, 5))

    def ours():
        return KernelDensity(bandwidth=0.5).fit(X).score_samples(queries)

    def theirs():
        from sklearn.neighbors import KernelDensity

        return KernelDensity(bandwidth=0.5).fit(X).score_samples(queries)

    return ours, theirs, np.sum


@row(
    "Epanechnikov kernel density, 5,000 x 5, 5,000 queries",
    objective="sum of p over the queries",
    smaller_is_better=None,
    rtol=1e-9,
)
def epanechnikov_kernel():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(5_000, 5)), rng.normal(size=(5_000, 5))

    def ours():
        return KernelDensity(kernel="epanechnikov").fit(X).score_samples(queries)

    def theirs():
        from sklearn.neighbors import KernelDensity

        return KernelDensity(kernel="epanechnikov").fit(X).score_samples(queries)

    return ours, theirs, lambda log_p: np.exp(log_p).sum()
