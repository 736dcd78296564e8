"""Benchmark rows of the autoencoder chapter: scikit-learn trains a regressor on X for X."""

import numpy as np
from harness import row

from mlnotes.autoencoder import Autoencoder


def curved_samples(n, d):
    """Points of a bent two-dimensional surface in d dimensions, with a little noise."""
    rng = np.random.default_rng(0)
    T, F = rng.uniform(-2, 2, size=(n, 2)), rng.normal(size=(2, d))
    return np.sin(T @ F + rng.uniform(0, 2 * np.pi, size=d)) + 0.1 * rng.normal(size=(n, d))


def both(n, d, hidden, k, passes):
    """Ours, scikit-learn's and the mean squared error, after as many passes of Adam."""
    X = curved_samples(n, d)
    how = {"activation": "tanh", "max_iter": passes, "tol": 0, "random_state": 0}

    def ours():
        model = Autoencoder(k, hidden_layer_sizes=hidden, **how).fit(X)
        return model.inverse_transform(model.transform(X))

    def theirs():
        from sklearn.neural_network import MLPRegressor

        sizes = (*hidden, k, *hidden[::-1])
        return MLPRegressor(hidden_layer_sizes=sizes, **how).fit(X, X).predict(X)

    return ours, theirs, lambda X_hat: np.mean((X_hat - X) ** 2)


ERROR = {"objective": "mean squared error", "rtol": 0.05}  # two random starts


@row("autoencoder 196-50-196, 5,000 samples, 20 passes", **ERROR)
def shallow():
    return both(5_000, 196, (), 50, 20)


@row("autoencoder 64-64-16-64-64, 2,000 samples, 50 passes", **ERROR)
def deep():
    return both(2_000, 64, (64,), 16, 50)
