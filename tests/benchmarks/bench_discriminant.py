"""Benchmark rows of the discriminant chapter: fit, then the classes of all samples."""

import numpy as np
from harness import row

from mlnotes.discriminant import LinearDiscriminantAnalysis


def normal_classes(n, d, C):
    """Samples of C normal classes of one covariance, and their labels."""
    rng = np.random.default_rng(0)
    means, factor = 0.3 * rng.normal(size=(C, d)), np.eye(d) + 0.1 * rng.normal(size=(d, d))
    y = rng.integers(C, size=n)
    return means[y] + rng.normal(size=(n, d)) @ factor, y


def fit_and_predict(X, y):
    """Ours, theirs and the number of errors."""

    def ours():
        return LinearDiscriminantAnalysis().fit(X, y).predict(X)

    def theirs():
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis().fit(X, y).predict(X)

    return ours, theirs, lambda found: np.count_nonzero(found != y)


@row("LDA, 20,000 x 50, 5 classes", objective="training errors")
def five_classes():
    return fit_and_predict(*normal_classes(20_000, 50, 5))


@row("LDA 200 x 4,000", objective="training errors")
def few_samples():
    return fit_and_predict(*normal_classes(200, 4_000, 5))
