"""Logistic regression against scikit-learn's, at the same penalised cost."""

import numpy as np
from harness import row

from mlnotes.datasets import load_digits
from mlnotes.logistic_regression import LogisticRegression, sigmoid


def penalised(model, X, y):
    """The mean of -log P(y|x), plus ||w||^2 / (2 n C) with C = 1."""
    k = np.searchsorted(model.classes_, y)
    losses = -model.predict_log_proba(X)[np.arange(len(y)), k]
    return np.mean(losses) + np.sum(model.coef_**2) / (2 * len(y))


def compared(X, y):
    """Both fits of the samples, ours and theirs, with the same defaults."""

    def ours():
        return LogisticRegression().fit(X, y)

    def theirs():
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression().fit(X, y)

    return ours, theirs, lambda model: penalised(model, X, y)


@row("logistic, two classes, 50,000 x 50", objective="mean log-loss + ||w||^2 / 2n")
def two_classes():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(50_000, 50)), rng.normal(size=50) / 3
    return compared(X, (rng.uniform(size=50_000) < sigmoid(X @ w + 0.5)).astype(int))


@row("logistic, digits, 10 classes, 1,797 x 64", objective="mean log-loss + ||W||^2 / 2n")
def digits():
    T = load_digits()
    return compared(T.X / 16, T.y)
