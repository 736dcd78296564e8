"""Benchmark rows of the svm chapter: both stop at tol = 1e-3, and their dual objectives compare.

scikit-learn gets as large a cache as ours, 800 MB.
"""

from itertools import combinations

import numpy as np
from harness import row

from mlnotes.datasets import load_digits
from mlnotes.kernels import Gaussian, Linear
from mlnotes.svm import SVC, NuSVC

STOPPED = 1e-4  # what the same tolerance may leave of either dual, relative to it


def curved_classes(n, d, noise):
    """Two classes with a curved boundary, a share of `noise` of the labels at random."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] > 0, 1, -1)
    return X, np.where(rng.random(n) < noise, rng.choice([-1, 1], size=n), y)


def flat_classes(n, d, noise):
    """Two classes that a hyperplane separates, but for normal noise on the scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0, 1, -1)


def pair_duals(model, kernel):
    """sum_i alpha_i and beta^T K beta of every pair of classes, from what both models store."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    K = kernel(model.support_vectors_)
    for i, j in combinations(range(len(ends) - 1), 2):
        rows = np.r_[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
        beta = np.concatenate(
            [
                model.dual_coef_[j - 1, ends[i] : ends[i + 1]],
                model.dual_coef_[i, ends[j] : ends[j + 1]],
            ]
        )
        yield np.abs(beta).sum(), beta @ K[np.ix_(rows, rows)] @ beta


def dual(model, kernel):
    """sum_i alpha_i - 1/2 beta^T K beta, summed over the pairs."""
    return sum(mass - quadratic / 2 for mass, quadratic in pair_duals(model, kernel))


def rivals(name, X, y, **parameters):
    """Our estimator and scikit-learn's of that name, fitted with the same parameters."""
    ours = {"SVC": SVC, "NuSVC": NuSVC}[name](**parameters)

    def theirs():
        from sklearn import svm

        return getattr(svm, name)(cache_size=800, **parameters).fit(X, y)

    return lambda: ours.fit(X, y), theirs


def scaled(X):
    """The Gaussian kernel with the gamma that both call "scale"."""
    return Gaussian(1 / (X.shape[1] * X.var()))


def gaussian(n, d):
    """What a row with a Gaussian kernel consists of."""
    X, y = curved_classes(n, d, noise=0.1)
    return *rivals("SVC", X, y), lambda model: dual(model, scaled(X))


def linear(noise):
    """What a row with a linear kernel consists of."""
    X, y = flat_classes(2000, 20, noise)
    return *rivals("SVC", X, y, kernel="linear"), lambda model: dual(model, Linear())


HOW = {"objective": "dual", "smaller_is_better": False, "rtol": STOPPED}


@row("SVC, Gaussian, 2,000 x 20", **HOW)
def gaussian_small():
    return gaussian(2000, 20)


@row("SVC, Gaussian, 5,000 x 100", **HOW)
def gaussian_wide():
    return gaussian(5000, 100)


@row("SVC, Gaussian, 10,000 x 50", **HOW)
def gaussian_large():
    return gaussian(10_000, 50)


@row("SVC, linear, 2,000 x 20, nearly separable", **HOW)
def linear_clean():
    return linear(noise=0.1)


@row("SVC, linear, 2,000 x 20, noisy", **HOW)
def linear_noisy():
    return linear(noise=5.0)


@row("SVC, Gaussian, digits, 45 pairs", objective="sum of the duals", smaller_is_better=False,
     rtol=STOPPED)  # fmt: skip
def digits():
    T = load_digits()
    return *rivals("SVC", T.X, T.y), lambda model: dual(model, scaled(T.X))


@row("NuSVC, Gaussian, 1,500 x 20", objective="1/2 beta^T K beta", rtol=STOPPED)
def nu_machine():
    X, y = curved_classes(1500, 20, noise=0.1)

    def objective(model):
        ((mass, quadratic),) = pair_duals(model, scaled(X))
        return quadratic / 2 * (model.nu / mass) ** 2  # both have divided by their rho

    return *rivals("NuSVC", X, y, nu=0.5), objective
