"""The perceptron against scikit-learn's, which visits the samples in its own random orders."""

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
