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
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from mlnotes.base import row_blocks
from mlnotes.convolution import (
    Conv,
    Dense,
    MaxPool,
    Relu,
    cnn_forward,
    initial_parameters,
    loss_and_gradient,
)
from mlnotes.datasets import load_mnist
from mlnotes.neural_networks import (
    CROSS_ENTROPY,
    RELU,
    adam,
    backpropagate,
    forward,
    glorot_start,
    network,
    one_hot,
    sgd,
)

MLP = network((784, 300, 10), RELU, CROSS_ENTROPY)


class Trained(NamedTuple):
    """A network with its parameters: ``scores_of(theta, X)`` gives the scores (n, 10)."""

    scores_of: Callable
    theta: list

    def score(self, X, y):
        """The share of images (n, 784) that it reads as the digits y."""
        return np.mean(self.scores_of(self.theta, X).argmax(axis=1) == y)


def mlp_scores(layers, X):
    """The outputs of the network of fully connected layers."""
    return forward(layers, MLP.activations, X)[-1]


def mlp(split, passes, seed):
    """784-300-10 by stochastic gradient descent; the learning rate falls from pass to pass."""
    rng, (X, y) = np.random.default_rng(seed), split.train[:]
    Y, layers = one_hot(y, np.arange(10)), glorot_start(MLP.sizes, rng=rng)
    params = {"batch_size": 100, "momentum": 0.9, "nesterov": True, "rng": rng}

    def cost(layers, rows):
        return backpropagate(MLP, layers, X[rows], Y[rows], alpha=0.003)

    for k in range(passes):
        start = perf_counter()
        _, state = islice(sgd(cost, layers, len(X), learning_rate=0.1 * 0.85**k, **params), 2)
        report(k + 1, state.objective, perf_counter() - start)
        layers = state.theta
    return Trained(mlp_scores, layers)


IMAGE = (28, 28, 1)
LENET = (
    Conv(6, 5, padding=2), Relu(), MaxPool(2), Conv(16, 5), Relu(), MaxPool(2),
    Dense(120), Relu(), Dense(84), Relu(), Dense(10),
)  # fmt: skip


def lenet_scores(params, X):
    """The scores that LeNet computes, for some images at a time."""
    blocks = [X[rows].reshape(-1, *IMAGE) for rows in row_blocks(len(X), 200)]
    return np.concatenate([cnn_forward(params, LENET, V)[-1][:, 0, 0] for V in blocks])


def convnet(split, passes, seed):
    """LeNet, 61,706 parameters, by Adam; the last quarter of the passes at a tenth of the rate."""
    rng, (X, y) = np.random.default_rng(seed), split.train[:]
    V, Y = X.reshape(-1, *IMAGE), one_hot(y, np.arange(10))

    def cost(params, rows):
        return loss_and_gradient(params, LENET, V[rows], Y[rows])

    params, done = initial_parameters(LENET, IMAGE, rng=rng), 0
    for rate, count in (1e-3, passes - passes // 4), (1e-4, passes // 4):
        states = adam(cost, params, len(V), batch_size=64, learning_rate=rate, rng=rng)
        start = perf_counter()
        for k, state in enumerate(islice(states, count + 1)):
            if k > 0:  # the start has its loss, but no steps
                report(done + k, state.objective, perf_counter() - start)
            params, start = state.theta, perf_counter()
        done += count
    return Trained(lenet_scores, params)


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
    model = NETWORKS[asked.network](split, asked.passes, asked.seed)
    error = 1 - model.score(*split.test[:])
    print(f"test error {100 * error:.2f} %   {perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
