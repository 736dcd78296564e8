"""Benchmark rows of the linear regression chapter."""

import numpy as np
from harness import row

from mlnotes.linear_regression import Lasso, LinearRegression, Ridge


def samples(n, d, needed, seed=0):
    """n samples of d features, targets that need some of them, and noise of variance 1."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), np.zeros(d)
    w[:needed] = rng.normal(size=needed)
    return X, X @ w + 3 + rng.normal(size=n)


def sum_of_squares(model, X, y):
    return np.sum((y - X @ model.coef_ - model.intercept_) ** 2)


def fits(X, y):
    """Our least-squares fit and theirs."""

    def ours():
        return LinearRegression().fit(X, y)

    def theirs():
        from sklearn.linear_model import LinearRegression

        return LinearRegression().fit(X, y)

    return ours, theirs


@row("least squares, 100,000 x 100", objective="||y - X w - b||^2")
def least_squares():
    X, y = samples(100_000, 100, needed=100)

    return *fits(X, y), lambda model: sum_of_squares(model, X, y)


@row("least squares, ill-conditioned, 100,000 x 100", objective="||y - X w - b||^2")
def nearly_dependent_columns():
    X, y = samples(100_000, 100, needed=100)
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]  # condition number 10^5: past the Gram matrix

    return *fits(X, y), lambda model: sum_of_squares(model, X, y)


@row("least squares, 200 x 4,000", objective="||y - X w - b||^2 + ||w||^2, w the shortest")
def fewer_samples_than_features():
    X, y = samples(200, 4000, needed=50)

    return *fits(X, y), lambda model: sum_of_squares(model, X, y) + model.coef_ @ model.coef_


@row("ridge, 100,000 x 100", objective="||y - X w - b||^2 + ||w||^2")
def ridge():
    X, y = samples(100_000, 100, needed=100)

    def ours():
        return Ridge().fit(X, y)

    def theirs():
        from sklearn.linear_model import Ridge

        return Ridge().fit(X, y)

    return ours, theirs, lambda model: sum_of_squares(model, X, y) + model.coef_ @ model.coef_


@row("lasso, 2,000 x 500", objective="1/(2n) ||y - X w - b||^2 + alpha ||w||_1, alpha = 0.1")
def lasso():
    X, y = samples(2000, 500, needed=50)

    def ours():
        return Lasso(alpha=0.1).fit(X, y)

    def theirs():
        from sklearn.linear_model import Lasso

        return Lasso(alpha=0.1).fit(X, y)

    return ours, theirs, lambda model: _lasso_objective(model, X, y, alpha=0.1)


@row(
    "lasso, correlated features, 2,000 x 500",
    objective="1/(2n) ||y - X w - b||^2 + alpha ||w||_1, alpha = 0.5",
    rtol=1e-4,  # theirs stops at a gap of 10^-4 of the sum of squares, ours of 10^-6
)
def lasso_of_correlated_features():
    X, y = samples(2000, 500, needed=50)
    common = np.random.default_rng(1).normal(size=(2000, 1))
    X, y = X + common, y + 0.5 * common[:, 0]

    def ours():
        return Lasso(alpha=0.5).fit(X, y)

    def theirs():
        from sklearn.linear_model import Lasso

        return Lasso(alpha=0.5).fit(X, y)

    return ours, theirs, lambda model: _lasso_objective(model, X, y, alpha=0.5)


def _lasso_objective(model, X, y, alpha):
    return sum_of_squares(model, X, y) / (2 * len(y)) + alpha * np.abs(model.coef_).sum()
