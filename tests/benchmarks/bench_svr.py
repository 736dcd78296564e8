"""Benchmark rows of the svr chapter: machines with the Gaussian kernel."""

import numpy as np
from harness import row

from mlnotes.kernels import Gaussian
from mlnotes.svr import L2SVR, SVR, NuSVR, best_epsilon, insensitive_loss, without_tube

EPSILON, NU = 0.1, 0.5  # the defaults


def bent_surface(n, d):
    """Samples of a smooth function and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n)


def scaled(X):
    """The Gaussian kernel with the gamma that both call "scale"."""
    return Gaussian(1 / (X.shape[1] * X.var()))


def norm_and_values(model, X):
    """||w||^2 and f(x_i): of ours and of scikit-learn's alike."""
    beta = model.dual_coef_[0]
    f = scaled(X)(X, X[model.support_]) @ beta
    return beta @ f[model.support_], f + model.intercept_[0]


def soft_tube(X, y):
    """The primal objective of a fitted machine."""

    def objective(model):
        norm, f = norm_and_values(model, X)
        return norm / 2 + insensitive_loss(f, y, EPSILON).sum()

    return objective


def nu_tube(X, y):
    """The primal objective, with the best epsilon for its function."""

    def objective(model):
        norm, f = norm_and_values(model, X)
        epsilon = best_epsilon(f, y, NU)
        return norm / 2 + NU * len(y) * epsilon + insensitive_loss(f, y, epsilon).sum()

    return objective


# both stop where the KKT conditions hold to 1e-3: what is left of the gap is theirs and ours
@row("SVR, 2,000 x 10", objective="1/2 ||w||^2 + C sum L(y, f)", rtol=1e-4)
def tube_2000():
    X, y = bent_surface(2000, 10)

    def ours():
        return SVR().fit(X, y)

    def theirs():
        from sklearn.svm import SVR

        return SVR().fit(X, y)

    return ours, theirs, soft_tube(X, y)


@row("NuSVR, 1,000 x 10", objective="1/2 ||w||^2 + C (n nu epsilon + sum L(y, f))", rtol=1e-4)
def nu_tube_1000():
    X, y = bent_surface(1000, 10)

    def ours():
        return NuSVR().fit(X, y)

    def theirs():
        from sklearn.svm import NuSVR

        return NuSVR().fit(X, y)

    return ours, theirs, nu_tube(X, y)


@row("SVR to six digits, 2,000 x 10", objective="1/2 ||w||^2 + C sum L(y, f)")
def exact_tube_2000():
    X, y = bent_surface(2000, 10)

    def ours():
        return SVR(tol=1e-6).fit(X, y)

    def theirs():
        from sklearn.svm import SVR

        return SVR(tol=1e-6).fit(X, y)

    return ours, theirs, soft_tube(X, y)


@row("SVR, linear, 2,000 x 10", objective="1/2 ||w||^2 + C sum L(y, f)")
def line_2000():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 10))
    y = X @ rng.normal(size=10) + 0.5 * rng.normal(size=2000)

    def ours():
        return SVR(kernel="linear", C=10.0).fit(X, y)

    def theirs():
        from sklearn.svm import SVR

        return SVR(kernel="linear", C=10.0).fit(X, y)

    def objective(model):
        w, f = model.coef_[0], X @ model.coef_[0] + model.intercept_[0]
        return w @ w / 2 + 10.0 * insensitive_loss(f, y, EPSILON).sum()

    return ours, theirs, objective


@row("L2SVR, 1,000 x 10", objective="1/2 ||w||^2 + C/2 sum L(y, f)^2")
def squared_tube_1000():
    X, y = bent_surface(1000, 10)

    def ours():
        return L2SVR(tol=1e-4).fit(X, y)

    def objective(model):
        norm, f = norm_and_values(model, X)
        return norm / 2 + np.sum(insensitive_loss(f, y, EPSILON) ** 2) / 2

    return ours, "scikit-learn has no squared slack with a kernel", objective


@row("squared slack without a tube, 2,000 x 10", objective="1/2 ||w||^2 + C/2 sum (y - f)^2")
def ridge_2000():
    X, y = bent_surface(2000, 10)
    k = scaled(X)

    def ours():
        return without_tube(k(X), y, 1.0)

    def objective(solution):
        K, (beta, b) = k(X), solution
        f = K @ beta
        return beta @ f / 2 + np.sum((y - f - b) ** 2) / 2

    return ours, "scikit-learn's KernelRidge has no offset", objective
