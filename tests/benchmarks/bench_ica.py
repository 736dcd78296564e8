"""Benchmark row of the ica chapter."""

import numpy as np
from harness import row

from mlnotes.ica import FastICA, contrast


@row(
    "FastICA, 20,000 x 8",
    objective="sum_j (E[log cosh y_j] - E[log cosh nu])^2",
    smaller_is_better=False,
)
def eight_sources():
    rng = np.random.default_rng(0)
    S = np.hstack([rng.uniform(-1, 1, size=(20_000, 4)), rng.laplace(size=(20_000, 4))])
    X = S @ rng.normal(size=(8, 8))
    how = {"tol": 1e-8, "random_state": 0}

    def ours():
        return FastICA(**how).fit(X)

    def theirs():
        from sklearn.decomposition import FastICA

        return FastICA(whiten_solver="eigh", **how).fit(X)

    def distance(model):
        return float(np.sum(contrast(model.transform(X)).distance ** 2))

    return ours, theirs, distance
