"""Benchmark rows of the kernels chapter."""

import numpy as np
from harness import row

from mlnotes.kernels import Gaussian, KernelRidge


def objective(model, X, y):
    """||K a - y||^2 + a^T K a, of a Gaussian kernel with gamma = 1 / d."""
    K = Gaussian(1 / X.shape[1])(X)
    residual = K @ model.dual_coef_ - y
    return residual @ residual + model.dual_coef_ @ K @ model.dual_coef_


@row("kernel ridge, Gaussian, 2,000 x 20", objective="||K a - y||^2 + a^T K a")
def gaussian_ridge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=2000)

    def ours():
        return KernelRidge(kernel="rbf").fit(X, y)

    def theirs():
        from sklearn.kernel_ridge import KernelRidge

        return KernelRidge(kernel="rbf").fit(X, y)

    return ours, theirs, lambda model: objective(model, X, y)
