"""Train on the real MNIST and print the test error, with a line per pass:

    MLNOTES_DATA=FOLDER python tests/benchmarks/mnist.py mlp
    MLNOTES_DATA=FOLDER python tests/benchmarks/mnist.py convnet

FOLDER/mnist holds the four files of MNIST. `mlp` is a network of one hidden layer of 300 ReLUs,
which ends below 2 % in some minutes on two cores; `convnet` is LeNet, below 1 % in as many.
`--seed` draws another start and order.
"""

import argparse
import os
import sys
import warnings
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from mlnotes.base import ConvergenceWarning
from mlnotes.convolution import (
    Conv,
    Dense,
    MaxPool,
    Relu,
    forward,
    initial_parameters,
    loss_and_gradient,
)
from mlnotes.datasets import load_mnist
from mlnotes.neural_networks import MLPClassifier, adam, one_hot


def mlp(split, passes, seed):
    """784-300-10 by stochastic gradient descent; the learning rate falls from pass to pass."""
    model = MLPClassifier(
        (300,),
        solver="sgd",
        batch_size=100,
        alpha=0.003,
        max_iter=1,
        warm_start=True,
        random_state=np.random.default_rng(seed),
    )
    for k in range(passes):
        start = perf_counter()
        model.set_params(learning_rate_init=0.1 * 0.85**k).fit(*split.train[:])
        report(k + 1, model.loss_, perf_counter() - start)
    return model


IMAGE = (28, 28, 1)
LENET = (
    Conv(6, 5, padding=2), Relu(), MaxPool(2), Conv(16, 5), Relu(), MaxPool(2),
    Dense(120), Relu(), Dense(84), Relu(), Dense(10),
)  # fmt: skip


class LeNet(NamedTuple):
    """LeNet with its parameters."""

    theta: np.ndarray

    def score(self, X, y):
        """The share of images (n, 784) that it reads as the digits y."""
        f = forward(self.theta, LENET, X.reshape(-1, *IMAGE))[:, 0, 0]
        return np.mean(f.argmax(axis=1) == y)


def convnet(split, passes, seed):
    """LeNet, 61,706 parameters, by Adam; the last quarter of the passes at a tenth of the rate."""
    rng, (X, y) = np.random.default_rng(seed), split.train[:]
    V, Y = X.reshape(-1, *IMAGE), one_hot(y, np.arange(10))

    def cost(theta, rows):
        return loss_and_gradient(theta, LENET, V[rows], Y[rows])

    theta, done = initial_parameters(LENET, IMAGE, rng=rng), 0
    for rate, count in (1e-3, passes - passes // 4), (1e-4, passes // 4):
        states = adam(cost, theta, len(V), batch_size=64, learning_rate=rate, rng=rng)
        start = perf_counter()
        for k, state in enumerate(islice(states, count + 1)):
            if k > 0:  # the start has its loss, but no steps
                report(done + k, state.objective, perf_counter() - start)
            theta, start = state.theta, perf_counter()
        done += count
    return LeNet(theta)


NETWORKS = {"mlp": mlp, "convnet": convnet}  # subcommand: (split, passes, seed) -> trained model
PASSES = {"mlp": 20, "convnet": 8}


def report(number, loss, seconds):
    """The line of a pass."""
    print(f"pass {number:3d}   loss {loss:.4f}   {seconds:5.1f} s", flush=True)


def arguments():
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="network", required=True)
    for name, train in NETWORKS.items():
        command = commands.add_parser(name, help=train.__doc__)
        command.add_argument("--passes", type=int, default=PASSES[name])
        command.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    """Train, then test."""
    asked, data = arguments(), os.environ.get("MLNOTES_DATA")
    if not data:
        sys.exit("MLNOTES_DATA must name the folder that holds mnist/")
    split, start = load_mnist(Path(data) / "mnist"), perf_counter()
    warnings.simplefilter("ignore", ConvergenceWarning)  # every pass stops after one
    model = NETWORKS[asked.network](split, asked.passes, asked.seed)
    error = 1 - model.score(*split.test[:])
    print(f"test error {100 * error:.2f} %   {perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
