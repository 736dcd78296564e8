"""The perceptron against scikit-learn's, which visits the samples in its own random orders."""

import warnings

import numpy as np
from harness import row

from mlnotes.datasets import make_separable
from mlnotes.perceptron import Perceptron


@row("perceptron, separable, 20,000 x 50", objective="training errors")
def separable():
    """Ours runs until a pass has no mistake; theirs, which cannot, makes as many passes."""
    T = make_separable(20_000, 50, gap=1.0, rng=np.random.default_rng(0))
    passes = Perceptron().fit(T.X, T.y).n_iter_

    def ours():
        return Perceptron().fit(T.X, T.y)

    def theirs():
        from sklearn.linear_model import Perceptron

        return Perceptron(max_iter=passes, tol=None).fit(T.X, T.y)

    return ours, theirs, lambda model: np.sum(model.predict(T.X) != T.y)


@row("perceptron, noisy, 100,000 x 10", objective="training errors / 1,000")
def noisy():
    """One class in ten, not separable; ours stops by its mistakes, theirs by its loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 10))
    f = X @ np.ones(10) + 4 * rng.normal(size=100_000)
    y = f > np.quantile(f, 0.9)

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is cut: no hyperplane separates the classes
            return Perceptron().fit(X, y)

    def theirs():
        from sklearn.linear_model import Perceptron

        return Perceptron().fit(X, y)

    return ours, theirs, lambda model: np.sum(model.predict(X) != y) / 1000
