"""Benchmark rows of the neighbors chapter."""

import numpy as np
from harness import row

from mlnotes.neighbors import KNeighborsClassifier, KNeighborsRegressor


def labels_of(rng, X):
    """Three classes that the first features tell apart, and one label in ten at random."""
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    return np.where(rng.random(len(X)) < 0.1, rng.integers(3, size=len(X)), y)


def classifiers(n, d, m, *, algorithm):
    """5-NN on n samples in d dimensions, m queries; both give the labels (m,)."""
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    y = labels_of(rng, X)

    def ours():
        return KNeighborsClassifier().fit(X, y).predict(queries)

    def theirs():
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(algorithm=algorithm).fit(X, y).predict(queries)

    return ours, theirs, lambda predicted: predicted @ np.arange(1, m + 1)


same_labels = {"objective": "sum_i i y_i of the labels y_i", "smaller_is_better": None, "rtol": 0.0}


@row("5-NN, 10,000 x 784, 2,000 queries (theirs: brute force)", **same_labels)
def images():
    return classifiers(10_000, 784, 2_000, algorithm="brute")


@row("5-NN, 20,000 x 8, 5,000 queries (theirs: brute force)", **same_labels)
def few_features():
    return classifiers(20_000, 8, 5_000, algorithm="brute")


@row("5-NN, 20,000 x 8, 5,000 queries (theirs: k-d tree)", **same_labels)
def few_features_by_tree():
    return classifiers(20_000, 8, 5_000, algorithm="kd_tree")


@row(
    "5-NN regression by distance, 20,000 x 3, 5,000 queries (theirs: k-d tree)",
    objective="sum of the predictions",
    smaller_is_better=None,
    rtol=1e-9,
    exempt="a k-d tree visits few samples in 3 dimensions; the lecture has the search of all",
)
def three_features():
    rng = np.random.default_rng(0)
    X, queries = rng.uniform(size=(20_000, 3)), rng.uniform(size=(5_000, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=len(X))

    def ours():
        return KNeighborsRegressor(weights="distance").fit(X, y).predict(queries)

    def theirs():
        from sklearn.neighbors import KNeighborsRegressor

        model = KNeighborsRegressor(weights="distance", algorithm="kd_tree")
        return model.fit(X, y).predict(queries)

    return ours, theirs, np.sum
