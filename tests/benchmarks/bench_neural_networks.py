"""Benchmark rows of the neural-network chapter: ten passes of Adam from a random start."""

import numpy as np
from harness import row

from mlnotes.neural_networks import MLPClassifier


def ten_templates(n, d):
    """Noisy copies of ten random images, and which image each is."""
    rng = np.random.default_rng(0)
    templates, y = rng.uniform(size=(10, d)), rng.integers(10, size=n)
    return templates[y] + 4.0 * rng.normal(size=(n, d)), y


@row(
    "MLP 784-100-10, 5,000 samples, 10 passes",
    objective="mean loss of the last pass",
    rtol=0.05,  # two random starts
)
def ten_passes():
    X, y = ten_templates(5_000, 784)

    def ours():
        return MLPClassifier((100,), max_iter=10, random_state=0).fit(X, y)

    def theirs():
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier((100,), max_iter=10, random_state=0).fit(X, y)

    return ours, theirs, lambda model: model.loss_
