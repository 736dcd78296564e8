"""Benchmark rows of the convolution chapter: steps of LeNet, each forward, back and Adam."""

import numpy as np
from harness import row

from mlnotes.convolution import (
    Conv,
    Dense,
    MaxPool,
    Relu,
    initial_parameters,
    loss_and_gradient,
)
from mlnotes.neural_networks import adam

SHAPE, C = (28, 28, 1), 10
LENET = (
    Conv(6, 5, padding=2), Relu(), MaxPool(2), Conv(16, 5), Relu(), MaxPool(2),
    Dense(120), Relu(), Dense(84), Relu(), Dense(C),
)  # fmt: skip
RATE = 1e-3
NEAR = 1e-4  # PyTorch adds Adam's epsilon to the corrected mean square, which moves the loss a bit
STEPS = 4  # of a call, and a gradient more: `adam` begins with the loss of the start


def batch():
    """64 images, the class of each, and parameters to start from."""
    rng = np.random.default_rng(0)
    V, y = rng.random((64, *SHAPE)), rng.integers(C, size=64)
    return V, y, initial_parameters(LENET, SHAPE, rng=rng)


def torch_network(params, dtype):
    """The same layers in PyTorch with the same parameters: its volumes have the depth first."""
    from torch import nn, tensor

    modules = [
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, C),
    ]  # fmt: skip
    network = nn.Sequential(*modules).to(dtype)
    pairs = [Wb for Wb in params if Wb]
    A, c = pairs[2]
    pairs[2] = A.reshape(120, 5, 5, 16).transpose(0, 3, 1, 2).reshape(120, -1), c
    modules = [module for module in modules if hasattr(module, "weight")]
    for module, (W, b) in zip(modules, pairs, strict=True):
        W = W.transpose(0, 3, 1, 2) if W.ndim == 4 else W
        module.weight.data, module.bias.data = tensor(W, dtype=dtype), tensor(b, dtype=dtype)
    return network


def against_torch(precision):
    """Ours in float64, PyTorch in the `precision`: the loss of the last step."""
    V, y, params = batch()
    Y = np.eye(C)[y]

    def ours():
        cost = lambda params, rows: loss_and_gradient(params, LENET, V, Y)  # noqa: E731
        states = adam(cost, params, len(V), batch_size=len(V), learning_rate=RATE, rng=None)
        return [next(states).objective for _ in range(STEPS + 1)][-1]

    def theirs():
        import torch

        dtype = getattr(torch, precision)
        network = torch_network(params, dtype)
        images, labels = torch.tensor(V.transpose(0, 3, 1, 2), dtype=dtype), torch.tensor(y)
        optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
        for k in range(STEPS + 1):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(images), labels)
            loss.backward()
            if k:
                optimiser.step()
        return loss.item()

    return ours, theirs


@row("LeNet, 4 steps on 64 images of 28 x 28, PyTorch", objective="cross-entropy", rtol=NEAR)
def convnet_step():
    return *against_torch("float64"), lambda loss: loss


@row(
    "the same, PyTorch in float32",
    objective="cross-entropy",
    rtol=NEAR,
    exempt="half the bytes: mlnotes computes in float64 throughout",
)
def convnet_step_float32():
    return *against_torch("float32"), lambda loss: loss
