"""Benchmark rows of the trees chapter."""

import numpy as np
from harness import row

from mlnotes.trees import DecisionTreeClassifier, DecisionTreeRegressor


@row(
    "decision tree, 20,000 x 20",
    objective="training error + test error",
    rtol=0.03,  # of equally good splits theirs draws one, ours takes the first
)
def classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 20))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0).astype(int)
    train, test = slice(20_000), slice(20_000, None)

    def ours():
        return DecisionTreeClassifier().fit(X[train], y[train])

    def theirs():
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=0).fit(X[train], y[train])

    def objective(model):
        return 2 - model.score(X[train], y[train]) - model.score(X[test], y[test])

    return ours, theirs, objective


@row("regression tree of depth 10, 10,000 x 10", objective="1/n sum_i (y_i - f_i)^2, training")
def regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 10))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * rng.normal(size=len(X))

    def ours():
        return DecisionTreeRegressor(max_depth=10).fit(X, y)

    def theirs():
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(max_depth=10, random_state=0).fit(X, y)

    return ours, theirs, lambda model: np.mean((y - model.predict(X)) ** 2)
