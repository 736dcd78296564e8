"""Benchmark rows of the feature selection chapter."""

import numpy as np
from harness import row

from mlnotes.feature_selection import information_scores


@row("mutual information, 10,000 x 50, 10 values", objective="sum of the 50 scores",
     smaller_is_better=None)  # fmt: skip
def information():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=10_000)
    X = (rng.integers(10, size=(len(y), 50)) + y[:, None] * (np.arange(50) < 10)) % 10.0

    def ours():
        return information_scores(X, y)

    def theirs():
        from sklearn.feature_selection import mutual_info_classif

        return mutual_info_classif(X, y, discrete_features=True)

    return ours, theirs, np.sum
