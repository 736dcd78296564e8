"""Benchmark rows of the model selection chapter: the cost of the folds in addition to the fits."""

import numpy as np
from harness import row

from mlnotes.linear_regression import Ridge
from mlnotes.model_selection import KFold, cross_val_score


@row("ridge, 5-fold cross-validation, 20,000 x 50", objective="sum of the 5 R^2",
     smaller_is_better=None)  # fmt: skip
def ridge_by_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    y = X @ rng.normal(size=50) + rng.normal(size=len(X))

    def ours():
        return cross_val_score(Ridge(), X, y, cv=KFold(5))

    def theirs():
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import cross_val_score

        return cross_val_score(Ridge(), X, y, cv=5)

    return ours, theirs, np.sum
