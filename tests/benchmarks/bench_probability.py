"""Benchmark rows of the probability chapter."""

import numpy as np
from harness import row

from mlnotes.probability import multivariate_normal_log_density


@row(
    "multivariate normal, 100,000 x 20 (SciPy)",
    objective="sum_i ln N(x_i; mu, Sigma)",
    smaller_is_better=None,  # one and the same number
)
def log_density():
    rng = np.random.default_rng(0)
    A, mu = rng.normal(size=(20, 20)), rng.normal(size=20)
    Sigma = A @ A.T + np.eye(20)
    X = rng.multivariate_normal(mu, Sigma, size=100_000)

    def ours():
        return multivariate_normal_log_density(X, mu, Sigma)

    def theirs():
        from scipy.stats import multivariate_normal

        return multivariate_normal.logpdf(X, mu, Sigma)

    return ours, theirs, np.sum
