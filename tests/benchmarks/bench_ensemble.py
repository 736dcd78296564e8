"""Benchmark rows of the ensemble chapter."""

import numpy as np
from harness import row

from mlnotes.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


def two_classes(n):
    """Training and test samples of two classes in twenty features, three of which matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, 20))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=2 * n) > 0).astype(int)
    return (X[:n], y[:n]), (X[n:], y[n:])


@row(
    "random forest of 50 trees, 5,000 x 20",
    objective="test error",
    rtol=0.1,  # two draws of 50 trees on 5,000 test samples
)
def forest():
    train, test = two_classes(5000)

    def ours():
        return RandomForestClassifier(50, random_state=0).fit(*train)

    def theirs():
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(50, random_state=0).fit(*train)

    return ours, theirs, lambda model: 1 - model.score(*test)


@row(
    "forest of 30 regression trees, 3,000 x 10",
    objective="1 - R^2, test",
    rtol=0.1,  # two draws of 30 trees
)
def regression_forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * rng.normal(size=len(X))
    train, test = slice(3000), slice(3000, None)

    def ours():
        return RandomForestRegressor(30, random_state=0).fit(X[train], y[train])

    def theirs():
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(30, random_state=0).fit(X[train], y[train])

    return ours, theirs, lambda model: 1 - model.score(X[test], y[test])


@row(
    "bagging of 10 trees, 5,000 x 20",
    objective="test error",
    rtol=0.1,  # two draws of 10 sets
)
def bagging():
    train, test = two_classes(5000)

    def ours():
        return BaggingClassifier(random_state=0).fit(*train)

    def theirs():
        from sklearn.ensemble import BaggingClassifier

        return BaggingClassifier(random_state=0).fit(*train)

    return ours, theirs, lambda model: 1 - model.score(*test)


@row(
    "AdaBoost of 100 stumps, 10,000 x 20",
    objective="test error",
    rtol=0.03,  # their stumps are of least Gini impurity, ours of least error
)
def adaboost():
    train, test = two_classes(10_000)

    def ours():
        return AdaBoostClassifier(n_estimators=100).fit(*train)

    def theirs():
        from sklearn.ensemble import AdaBoostClassifier

        return AdaBoostClassifier(n_estimators=100, random_state=0).fit(*train)

    return ours, theirs, lambda model: 1 - model.score(*test)
