"""Convolution: one small pattern of weights, applied at every place of an image.

In a convolution layer each neuron sees a small window only, and all of them share their weights. A
ConvNet consists of such layers, activations and pooling, and ends with fully connected layers.

Contents
    Sizes                   output_size, counts, Counts, receptive_field
    Correlation             windows, correlate, correlate_by_loops, convolve, correlation_matrix,
                            correlate_backward
    Convolution layers      conv, conv_backward, compose
    Pooling                 max_pool, max_pool_backward, mean_pool, mean_pool_backward
    Full connection         dense, dense_backward
    Layers                  Layer, Conv, Relu, MaxPool, MeanPool, Dense
    Networks                typical_layers, propagate, describe, initial_parameters, unpack,
                            forward, loss_and_gradient
    Estimators              ConvNet

Symbols
    x, k     (N,), (F,)      a sequence and a kernel, or an image (N, N) and a kernel (F, F)
    N, F     int             length of the input and of a window, along an axis
    stride, padding  int     S and P: windows start S entries apart; P zeros are put at either end
    V        (n, N, N, D)    volumes, a sample per row: height, width and depth (number of maps)
    W, b     (K, F, F, D), (K,)    K filters of the full depth, and their biases
    A        (K, N N D)      weights of K neurons, each connected to all numbers of a volume
    G                        the gradient of a cost with respect to an output, of its shape
    layers   tuple           the `Layer` objects of a network, in order
    shape    (N, N, D)       of one volume
    theta    (p,)            all parameters of a network, layer by layer: weights, then biases
    Y        (n, N2, N2, K)  the output of a layer
    f        (n, C)          the scores of the C classes: the output of the last layer
    T        (n, C)          the targets: a 1 at the class of each sample, 0 elsewhere
    rng      Generator       draws the first weights

Notes: ISML "Deep Learning", from "Convolutional Neural Networks" on.
"""

from dataclasses import KW_ONLY, dataclass, fields
from fractions import Fraction
from math import isqrt, prod
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mlnotes.base import (
    Classifier,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    row_blocks,
)
from mlnotes.logistic_regression import softmax
from mlnotes.neural_networks import RELU, Trainer, net_input, one_hot, softmax_cross_entropy
from mlnotes.probability import log_sum_exp

BLOCK = 256  # images whose maps are in memory at once, in predictions


# ---------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------


def output_size(N, F, stride=1, padding=0):
    """(N - F + 2 P) / S + 1: the number of windows of F entries that start S entries apart.

    Raises: ValueError if this is not an integer, or a window is longer than the padded input.

    >>> output_size(7, 3), output_size(7, 3, stride=2), output_size(32, 5, padding=2)
    (5, 3, 32)
    """
    _check_fit(N, F, stride, padding)
    last_start = N + 2 * padding - F  # in the padded input
    return last_start // stride + 1


def _check_fit(N, F, stride, padding):
    """Refuse sizes that are no positive integers, and windows that do not fit."""
    check_number("length of the input", N, at_least=1, integer=True)
    check_number("size of a window", F, at_least=1, integer=True)
    check_number("stride", stride, at_least=1, integer=True)
    check_number("padding", padding, at_least=0, integer=True)
    size = Fraction(int(N - F + 2 * padding), int(stride)) + 1
    if size.denominator > 1 or size < 1:
        raise ValueError(
            "windows must fit: (N - F + 2 P) / S + 1 = "
            f"({N} - {F} + 2 * {padding}) / {stride} + 1 = {size}"
        )


class Counts(NamedTuple):
    """The numbers of parameters of a layer, by kind; their sum is the total."""

    weights: int
    biases: int


def counts(F, D, K, *, places=1):
    """K F F D weights and K biases: one filter of the full depth per map, for images of any size.

    Returns: `Counts`, for one set of filters in each of the `places` (1 if they share one).

    >>> counts(F=5, D=3, K=10), sum(counts(F=5, D=3, K=10))
    (Counts(weights=750, biases=10), 760)

    Errata: convolution-07 (ISML adds "+1 for bias" to 760 parameters that include the biases).
    """
    return Counts(places * K * F * F * D, places * K)


def receptive_field(layers):
    """1 + sum_l (F_l - 1) S_1 ... S_{l-1} over layers with windows: the side that an output sees.

    >>> receptive_field([Conv(8, 3), Conv(8, 3), Conv(8, 3)]), receptive_field([Conv(8, 7)])
    (7, 7)
    """
    r, J = 1, 1  # of the input
    for layer in layers:
        if isinstance(layer, Conv | MaxPool | MeanPool):
            r = r + (layer.size - 1) * J
            J = J * layer.step
    return r


# ---------------------------------------------------------------------------------------
# Correlation
# ---------------------------------------------------------------------------------------


def windows(x, size, *, stride=1, padding=0):
    """Every window of an array: entry [i, j] of the result is the window that starts at (S i, S j).

    `size` has a number per axis; stride and padding are one number each, or one per axis.

    Returns: an array of the output sizes followed by `size`. Raises: ValueError if the windows do
    not fit, or do not have the axes of x.

    >>> windows(np.array([1, 2, 3, 4, 5]), (3,), stride=2).tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    if len(size) != x.ndim:
        raise ValueError(f"windows must have the {x.ndim} axes of x; got {len(size)}")
    S, P = np.broadcast_to(stride, x.ndim), np.broadcast_to(padding, x.ndim)
    for N, *fit in zip(x.shape, size, S, P, strict=True):
        output_size(N, *fit)
    padded = np.pad(x, [(p, p) for p in P])
    return sliding_window_view(padded, tuple(size))[tuple(slice(None, None, s) for s in S)]


def correlate(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + m}: the dot product of the kernel with every window.

    >>> correlate(np.array([1, 2, 3, 4, 5]), np.array([1, 0, -1]), stride=2)
    array([-2, -2])
    """
    seen = windows(x, k.shape, stride=stride, padding=padding)
    return np.tensordot(seen, _wide(k, x), axes=k.ndim)


def _wide(k, *others):
    """k in 64 bits, so that its products with the `others` do not overflow as 8-bit pixels do."""
    return k.astype(np.result_type(k, *others, np.int64))


def correlate_by_loops(x, k, *, stride=1, padding=0):
    """`correlate` by its definition, for one stride S and padding P: add all k_m x_{S i + m}.

    >>> correlate_by_loops(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 10.0]))
    array([21., 32., 43.])
    """
    _check_axes(x, k)
    sides = zip(x.shape, k.shape, strict=True)
    sizes = [output_size(N, F, stride, padding) for N, F in sides]
    x = np.pad(x, padding)  # zeros on every side
    k = _wide(k, x)
    h = np.zeros(sizes)
    for i in np.ndindex(*sizes):  # every place of a window
        for m in np.ndindex(k.shape):  # every weight of the kernel
            h[i] += k[m] * x[tuple(stride * np.array(i) + m)]
    return h


def _check_axes(x, k):
    """Refuse a kernel that does not have the axes of x."""
    if k.ndim != x.ndim:
        raise ValueError(f"k must have the {x.ndim} axes of x; got {k.ndim}")


def convolve(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + F - 1 - m}: correlation with the kernel reversed along every axis.

    >>> convolve(np.array([0, 0, 1, 0, 0]), np.array([1, 2, 3]))
    array([1, 2, 3])

    Errata: convolution-05 (ISML calls the correlation of its layers convolution).
    """
    return correlate(x, np.flip(k), stride=stride, padding=padding)


def correlation_matrix(k, shape, *, stride=1, padding=0):
    """The matrix M with correlate(x, k) = M x, for x of the given `shape`.

    For images, x and the output are read row by row.

    Returns: (outputs, inputs).

    >>> correlation_matrix(np.array([1.0, 2.0]), (3,)).tolist()
    [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]
    """
    N = prod(shape)
    number = np.arange(1, N + 1).reshape(shape)  # the inputs are numbered; 0 is the padding
    seen = windows(number, k.shape, stride=stride, padding=padding).reshape(-1, k.size)
    M = np.zeros((len(seen), N + 1))
    np.put_along_axis(M, seen, k.reshape(1, -1), axis=1)
    return M[:, 1:]


def correlate_backward(G, x, k, *, stride=1, padding=0):
    """From the gradient G of a cost in the outputs to its gradients in x and in k:

        dx = M^T G,   dk_m = sum_i G_i x_{S i + m},   with M from `correlation_matrix`.

    Returns: dx and dk, of the shapes of x and k.

    >>> correlate_backward(np.array([1, 10]), x=np.array([1, 2, 3]), k=np.array([5, 7]))
    (array([ 5, 57, 70]), array([21, 32]))
    """
    S, P = np.broadcast_to(stride, x.ndim), np.broadcast_to(padding, x.ndim)
    seen, G = windows(x, k.shape, stride=stride, padding=padding), _wide(G, x, k)
    if G.shape != seen.shape[: x.ndim]:
        raise ValueError(f"G must have the output's shape {seen.shape[: x.ndim]}; got {G.shape}")
    dx, dk = np.zeros(np.add(x.shape, 2 * P), dtype=G.dtype), np.zeros(k.shape, dtype=G.dtype)
    for i in np.ndindex(G.shape):
        window = tuple(slice(s * j, s * j + F) for j, s, F in zip(i, S, k.shape, strict=True))
        dk += G[i] * seen[i]
        dx[window] += G[i] * k
    inner = tuple(slice(p, p + N) for p, N in zip(P, x.shape, strict=True))
    return dx[inner], dk


# ---------------------------------------------------------------------------------------
# Convolution layers
# ---------------------------------------------------------------------------------------


def conv(V, W, b, *, stride=1, padding=0):
    """Y[:, i, j, d] = w_d^T (window at (S i, S j) of the padded V) + b_d for d = 1, ..., K.

    Returns: (n, N2, N2, K), the sizes by `output_size`. Raises: ValueError if the windows do not
    fit, or V, W and b do not have the shapes of the table.

    >>> conv(np.arange(9.0).reshape(1, 3, 3, 1), np.ones((1, 2, 2, 1)), np.array([100.0])).ravel()
    array([108., 112., 120., 124.])

    Errata: convolution-05 (ISML's "valid convolution" is a correlation, valid on the padded input).
    """
    _check_filters(V, W, b)
    S, P = stride, padding
    K, F, E, D = W.shape  # E = F if the filters are square
    n_i = output_size(V.shape[1], F, S, P)
    n_j = output_size(V.shape[2], E, S, P)
    V = np.pad(V.astype(float), ((0, 0), (P, P), (P, P), (0, 0)))  # not along n and D
    w = W.reshape(K, F * E * D)  # row d is filter d, flattened
    Y = np.zeros((len(V), n_i, n_j, K))
    for i, j in np.ndindex(n_i, n_j):  # all images at once
        window = V[:, S * i : S * i + F, S * j : S * j + E]
        window = window.reshape(-1, F * E * D)  # row by row, an image per row
        Y[:, i, j] = window @ w.T + b
    return Y


def _check_filters(V, W, b):
    """Refuse filters and biases that do not suit the volumes."""
    if V.ndim != 4 or W.ndim != 4:
        raise ValueError(f"V and W must have 4 axes; got shapes {V.shape} and {W.shape}")
    if W.shape[3] != V.shape[3]:
        raise ValueError(
            f"filters must have the depth of the volume, D = {V.shape[3]}; got {W.shape[3]}"
        )
    if np.shape(b) != (len(W),):
        raise ValueError(f"b must have shape ({len(W)},), a number per filter; got {np.shape(b)}")


def conv_backward(G, V, W, *, stride=1, padding=0):
    """From the gradient G in the outputs of `conv` to the gradients in V, W and b.

    Every place (i, j) adds its share, with g_d = G[:, i, j, d]:

        dw_d <- dw_d + g_d window,   d(window) <- d(window) + sum_d g_d w_d,   db_d <- db_d + g_d .

    Returns: dV, dW and db.

    >>> G, V, W = np.ones((1, 1, 2, 1)), np.ones((1, 1, 3, 1)), np.full((1, 1, 2, 1), 5.0)
    >>> [each.ravel().tolist() for each in conv_backward(G, V, W)]
    [[5.0, 10.0, 5.0], [2.0, 2.0], [2.0]]
    """
    S, P = stride, padding
    (n, height, width, D), (K, F, E, _) = V.shape, W.shape
    V = np.pad(V.astype(float), ((0, 0), (P, P), (P, P), (0, 0)))
    w = W.reshape(K, F * E * D)
    dV, dw = np.zeros(V.shape), np.zeros(w.shape)
    for i, j in np.ndindex(G.shape[1:3]):
        rows = slice(S * i, S * i + F)
        columns = slice(S * j, S * j + E)
        window = V[:, rows, columns].reshape(n, F * E * D)
        g = G[:, i, j]  # (n, K): in the K outputs at this place
        dw += g.T @ window
        dV[:, rows, columns] += (g @ w).reshape(n, F, E, D)
    dV = dV[:, P : P + height, P : P + width]  # without the padding
    return dV, dw.reshape(W.shape), G.sum(axis=(0, 1, 2))


def compose(W, b, W2, b2):
    """The one layer that computes what two layers without an activation between them compute:

        W12[k] = sum_m (full convolution of W2[k, :, :, m] with W[m]),
        b12[k] = b2_k + sum_m b_m sum W2[k, :, :, m],

    so that conv(V, W12, b12) = conv(conv(V, W, b), W2, b2), for strides 1 and without padding.

    Returns: the filters, of side F + F2 - 1, and the biases.

    >>> W12, b12 = compose(np.ones((1, 1, 2, 1)), np.ones(1), np.ones((1, 1, 2, 1)), np.zeros(1))
    >>> W12.ravel(), b12
    (array([1., 2., 1.]), array([2.]))
    """
    (K, F2, E2, _), (_, F, E, D) = W2.shape, W.shape
    W12 = np.zeros((K, F + F2 - 1, E + E2 - 1, D))
    for i, j in np.ndindex(F2, E2):
        W12[:, i : i + F, j : j + E] += np.tensordot(W2[:, i, j], W, axes=1)
    return W12, b2 + W2.sum(axis=(1, 2)) @ b


# ---------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------


def max_pool(V, F, *, stride=None):
    """The largest number of every F x F window of every map.

    The stride is F if it is not given. There is no padding: its zeros could be the maxima.

    Returns: (n, N2, N2, D), the sizes by `output_size`. Raises: ValueError if windows do not fit.

    >>> max_pool(np.arange(8.0).reshape(1, 2, 4, 1), 2).ravel()
    array([5., 7.])
    """
    S = F if stride is None else stride
    n, height, width, D = V.shape
    Y = np.zeros((n, output_size(height, F, S), output_size(width, F, S), D))
    for i, j in np.ndindex(Y.shape[1:3]):
        window = V[:, S * i : S * i + F, S * j : S * j + F]
        Y[:, i, j] = window.max(axis=(1, 2))
    return Y


def max_pool_backward(G, V, F, *, stride=None):
    """dV: every G goes to the largest number of its window, to the first of several.

    >>> max_pool_backward(np.ones((1, 1, 1, 1)), np.arange(4.0).reshape(1, 2, 2, 1), 2).ravel()
    array([0., 0., 0., 1.])
    """
    S = F if stride is None else stride
    n, _, _, D = V.shape
    dV = np.zeros(V.shape)
    number = np.arange(F * F)[:, None]  # of the entries of a window
    for i, j in np.ndindex(G.shape[1:3]):
        rows = slice(S * i, S * i + F)
        columns = slice(S * j, S * j + F)
        window = V[:, rows, columns].reshape(n, F * F, D)
        winner = window.argmax(axis=1)  # (n, D)
        g = np.where(number == winner[:, None], G[:, i, j, None], 0.0)
        dV[:, rows, columns] += g.reshape(n, F, F, D)
    return dV


def mean_pool(V, F, *, stride=None):
    """The mean of every F x F window of every map; otherwise the same as `max_pool`.

    >>> mean_pool(np.arange(8.0).reshape(1, 2, 4, 1), 2).ravel()
    array([2.5, 4.5])
    """
    S = F if stride is None else stride
    n, height, width, D = V.shape
    Y = np.zeros((n, output_size(height, F, S), output_size(width, F, S), D))
    for i, j in np.ndindex(Y.shape[1:3]):
        window = V[:, S * i : S * i + F, S * j : S * j + F]
        Y[:, i, j] = window.mean(axis=(1, 2), dtype=float)
    return Y


def mean_pool_backward(G, V, F, *, stride=None):
    """dV: every number of a window gets the share G / F^2.

    >>> mean_pool_backward(np.full((1, 1, 1, 1), 8.0), np.zeros((1, 2, 2, 1)), 2).ravel()
    array([2., 2., 2., 2.])
    """
    dV, S = np.zeros(V.shape), F if stride is None else stride
    for i, j in np.ndindex(G.shape[1:3]):
        dV[:, S * i : S * i + F, S * j : S * j + F] += G[:, i, j, None, None] / F**2
    return dV


# ---------------------------------------------------------------------------------------
# Full connection
# ---------------------------------------------------------------------------------------


def dense(V, A, b):
    """Y = A vec(V) + b: every neuron sees the whole volume, flattened row by row.

    It is the convolution layer with the filters A.reshape(K, N, N, D), as large as the volume.

    Returns: (n, 1, 1, K). Raises: ValueError if b does not hold a number for every output.

    >>> dense(np.ones((1, 1, 2, 1)), A=np.array([[1.0, 10.0]]), b=np.array([0.5])).ravel()
    array([11.5])
    """
    if np.shape(b) != (len(A),):
        raise ValueError(f"b must have shape ({len(A)},), a number per output; got {np.shape(b)}")
    return net_input(V.reshape(len(V), -1), A, b)[:, None, None]


def dense_backward(G, V, A):
    """dV = A^T G, dA = G vec(V)^T and db = G; dA and db are summed over the samples.

    Returns: dV, dA and db.

    >>> V, G = np.array([1.0, 2.0]).reshape(1, 1, 2, 1), np.array([3.0]).reshape(1, 1, 1, 1)
    >>> [each.ravel().tolist() for each in dense_backward(G, V, A=np.array([[5.0, 7.0]]))]
    [[15.0, 21.0], [3.0, 6.0], [3.0]]
    """
    g = G[:, 0, 0]
    return (g @ A).reshape(V.shape), g.T @ V.reshape(len(V), -1), g.sum(axis=0)


# ---------------------------------------------------------------------------------------
# Layers
# ---------------------------------------------------------------------------------------


class Layer:
    """A step from volumes to volumes; a layer without parameters overrides only what it needs."""

    def __repr__(self):
        """The call that makes this layer, without its defaults."""
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        given = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(given)})"

    def output_shape(self, shape):
        """The shape of the output for a volume of the given shape."""
        return shape

    def parameter_shapes(self, shape):
        """The shapes of the weights and the biases for such volumes."""
        return ()

    def forward(self, V, *parameters):
        """The output Y."""
        raise NotImplementedError

    def backward(self, G, V, *parameters):
        """dV and the gradients in the parameters, from the gradient G in Y."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Conv(Layer):
    """A convolution layer: see `conv`.

    >>> Conv(10, 5, padding=2).output_shape((32, 32, 3))
    (32, 32, 10)
    """

    filters: int  # K
    size: int  # F
    stride: int = 1
    padding: int = 0

    @property
    def step(self):
        """The distance between neighbouring windows."""
        return self.stride

    def output_shape(self, shape):
        """(N2, N2, K)."""
        check_number("filters", self.filters, at_least=1, integer=True)
        n_i, n_j = (output_size(N, self.size, self.stride, self.padding) for N in shape[:2])
        return n_i, n_j, self.filters

    def parameter_shapes(self, shape):
        """The shapes of W and b."""
        return (self.filters, self.size, self.size, shape[2]), (self.filters,)

    def forward(self, V, W, b):
        """`conv`."""
        return conv(V, W, b, stride=self.stride, padding=self.padding)

    def backward(self, G, V, W, b):
        """`conv_backward`."""
        return conv_backward(G, V, W, stride=self.stride, padding=self.padding)


@dataclass(frozen=True, repr=False)
class Relu(Layer):
    """max(0, v) of every number; the slope at 0 is taken to be 0.

    >>> Relu().forward(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    def forward(self, V):
        """max(0, V)."""
        return RELU.f(V)

    def backward(self, G, V):
        """G where V > 0, and 0 elsewhere."""
        return (G * (V > 0),)


@dataclass(frozen=True, repr=False)
class _Pool(Layer):
    size: int  # F
    stride: int | None = None  # F if not given

    @property
    def step(self):
        """The distance between neighbouring windows."""
        return self.size if self.stride is None else self.stride

    def output_shape(self, shape):
        """(N2, N2, D)."""
        n_i, n_j = (output_size(N, self.size, self.step) for N in shape[:2])
        return n_i, n_j, shape[2]


class MaxPool(_Pool):
    """The maximum of every window: see `max_pool`.

    >>> MaxPool(2).output_shape((224, 224, 64))
    (112, 112, 64)
    """

    def forward(self, V):
        """`max_pool`."""
        return max_pool(V, self.size, stride=self.stride)

    def backward(self, G, V):
        """`max_pool_backward`."""
        return (max_pool_backward(G, V, self.size, stride=self.stride),)


class MeanPool(_Pool):
    """The mean of every window: see `mean_pool`.

    >>> MeanPool(3, stride=2).output_shape((7, 7, 4))
    (3, 3, 4)
    """

    def forward(self, V):
        """`mean_pool`."""
        return mean_pool(V, self.size, stride=self.stride)

    def backward(self, G, V):
        """`mean_pool_backward`."""
        return (mean_pool_backward(G, V, self.size, stride=self.stride),)


@dataclass(frozen=True, repr=False)
class Dense(Layer):
    """A fully connected layer: see `dense`. It flattens its input.

    >>> [prod(shape) for shape in Dense(10).parameter_shapes((32, 32, 3))]
    [30720, 10]
    """

    units: int  # K

    def output_shape(self, shape):
        """(1, 1, K)."""
        check_number("units", self.units, at_least=1, integer=True)
        return 1, 1, self.units

    def parameter_shapes(self, shape):
        """The shapes of A and b."""
        return (self.units, prod(shape)), (self.units,)

    def forward(self, V, A, b):
        """`dense`."""
        return dense(V, A, b)

    def backward(self, G, V, A, b):
        """`dense_backward`."""
        return dense_backward(G, V, A)


# ---------------------------------------------------------------------------------------
# Networks
# ---------------------------------------------------------------------------------------


def typical_layers(per_block, filters, units, classes=None, *, size=3, padding=None, pool=2):
    """Blocks of (CONV-RELU) ... POOL, then (FC-RELU) ..., then the scores, before a softmax.

    There are len(`filters`) blocks of `per_block` convolution layers, with `filters` maps each, and
    len(`units`) hidden layers with `units` neurons. `size` is the side of the filters, `pool` that
    of the pools; None leaves them out. By default, `padding` keeps the size of the maps if `size`
    is odd. `classes` is the number of scores; None leaves their layer out, as `ConvNet` expects.

    Returns: a tuple of layers.

    >>> lenet = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)
    >>> [shape for shape in propagate(lenet, (32, 32, 1))][::3]
    [(32, 32, 1), (14, 14, 6), (5, 5, 16), (1, 1, 84)]

    Errata: convolution-16 (ISML prints no layer of scores, and it makes POOL compulsory).
    """
    P = (size - 1) // 2 if padding is None else padding
    layers = []
    for K in filters:
        layers += per_block * [Conv(K, size, padding=P), Relu()]
        layers += [MaxPool(pool)] * (pool is not None)
    for K in units:
        layers += [Dense(K), Relu()]
    return tuple(layers) + (() if classes is None else (Dense(classes),))


def propagate(layers, shape):
    """The shapes of the input and of the output of every layer.

    Raises: ValueError that names the layer whose windows do not fit.

    >>> propagate((Conv(6, 5), Relu(), Conv(10, 5)), (32, 32, 3))
    [(32, 32, 3), (28, 28, 6), (28, 28, 6), (24, 24, 10)]
    """
    shapes = [tuple(shape)]
    for layer in layers:
        try:
            shapes.append(layer.output_shape(shapes[-1]))
        except ValueError as error:
            raise ValueError(f"{layer} on a volume of shape {shapes[-1]}: {error}") from None
    return shapes


def describe(layers, shape):
    """A table of the network: every layer, the shape of its output, its number of parameters.

    >>> print(describe((Conv(10, 5, padding=2),), (32, 32, 3)))
    input                                      32 x 32 x 3           0
    Conv(filters=10, size=5, padding=2)       32 x 32 x 10         760
    together                                                       760
    """
    shapes, total = propagate(layers, shape), 0
    rows = [("input", shapes[0], 0)]
    for layer, before, after in zip(layers, shapes[:-1], shapes[1:], strict=True):
        p = sum(prod(each) for each in layer.parameter_shapes(before))
        rows.append((repr(layer), after, p))
        total = total + p
    lines = [f"{name:38s}{' x '.join(map(str, s)):>16s}{p:12,d}" for name, s, p in rows]
    return "\n".join([*lines, f"{'together':54s}{total:12,d}"])


def initial_parameters(layers, shape, *, rng):
    """theta with biases 0 and normal weights of variance 2 / (inputs of the neuron), as ReLUs need.

    >>> len(initial_parameters((Dense(10),), (32, 32, 3), rng=np.random.default_rng(0)))
    30730
    """
    theta = [np.zeros(0)]
    for layer, before in zip(layers, propagate(layers, shape)[:-1], strict=True):
        for each in layer.parameter_shapes(before):
            part = np.zeros(each)  # the biases (neurons,)
            if len(each) > 1:  # the weights (neurons, ...)
                part = rng.normal(scale=np.sqrt(2 / prod(each[1:])), size=each)
            theta.append(part.ravel())
    return np.concatenate(theta)


def unpack(theta, layers, shape):
    """The weights and biases of every layer, as views of the beginning of theta.

    >>> (W, b), *_ = unpack(np.arange(10.0), (Conv(1, 3), Relu()), (5, 5, 1))
    >>> W.shape, b
    ((1, 3, 3, 1), array([9.]))
    """
    parts, end = [], 0
    for layer, before in zip(layers, propagate(layers, shape)[:-1], strict=True):
        part = []
        for each in layer.parameter_shapes(before):
            start, end = end, end + prod(each)
            part.append(theta[start:end].reshape(each))
        parts.append(tuple(part))
    return parts


def forward(theta, layers, V):
    """The output of the last layer; it holds the scores if this is the layer of scores.

    >>> forward(np.array([3.0, 0.5]), (Relu(), Dense(1)), np.ones((1, 1, 1, 1))).ravel()
    array([3.5])
    """
    for layer, own in zip(layers, unpack(theta, layers, V.shape[1:]), strict=True):
        V = layer.forward(V, *own)
    return V


def loss_and_gradient(theta, layers, V, T):
    """L, the mean of -log softmax(f) at the classes of the n images, and dL/dtheta.

    Returns: L and dL/dtheta (p,). Raises: ValueError if theta, V or T does not fit the layers.

    >>> loss_and_gradient(np.zeros(4), (Dense(2),), np.ones((1, 1, 1, 1)), np.array([[1, 0]]))
    (0.6931471805599453, array([-0.5,  0.5, -0.5,  0.5]))
    """
    _check_scores(theta, layers, V, T)
    parameters = unpack(theta, layers, V.shape[1:])
    inputs = []  # of every layer
    for layer, own in zip(layers, parameters, strict=True):  # forward
        inputs.append(V)
        V = layer.forward(V, *own)
    f = V[:, 0, 0]  # (n, C)
    L = np.mean(softmax_cross_entropy(f, T))
    G = ((softmax(f) - T) / len(T))[:, None, None]  # dL/df, (n, 1, 1, C)
    gradient = []
    steps = zip(layers[::-1], inputs[::-1], parameters[::-1], strict=True)
    for layer, V, own in steps:  # back
        G, *slopes = layer.backward(G, V, *own)
        gradient = [*slopes, *gradient]
    return float(L), np.concatenate([slope.ravel() for slope in gradient])


def _check_scores(theta, layers, V, T):
    """Refuse a theta or targets that do not suit the layers."""
    shapes = propagate(layers, V.shape[1:])
    pairs = zip(layers, shapes[:-1], strict=True)
    p = sum(prod(each) for layer, before in pairs for each in layer.parameter_shapes(before))
    if len(theta) != p:
        raise ValueError(f"theta must hold the {p} parameters of the layers; got {len(theta)}")
    if len(V) != len(T):
        raise ValueError(f"V and T must have as many samples; got {len(V)} and {len(T)}")
    if shapes[-1] != (1, 1, *T.shape[1:]):
        raise ValueError(
            "scores must be (n, 1, 1, C) for T (n, C); got shapes "
            f"{(len(V), *shapes[-1])} and {T.shape}"
        )


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

SMALL = (Conv(16, 3, padding=1), Relu(), Dense(32), Relu())  # for images of any size


@dataclass(eq=False, repr=False)
class ConvNet(Trainer, Classifier):
    """Convolutional network for images of one size: the given layers, a score per class, softmax.

    It minimises the mean cross-entropy by mini-batches. An image is a row of X: ``image.ravel()``
    of an array (height, width) or (height, width, depth). Scale pixels to a size of about 1.

    Parameters
    ----------
    layers : tuple of Layer, as `typical_layers` makes it; a layer of scores is added
    image_shape : (height, width), (height, width, depth), or None for a square or else a single row
    solver : "adam" or "sgd"
    batch_size : int or "auto", which is 200; at most the number of samples
    learning_rate_init : float; eta, constant throughout
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new order in every pass
    random_state : int, Generator or None; draws the first weights and the order in every pass
    tol, n_iter_no_change : float and int; training stops when n_iter_no_change + 1 passes in a row
        have not lowered the lowest cost before them by more than tol
    momentum, nesterovs_momentum : float in [0, 1) and bool; of "sgd"
    beta_1, beta_2, epsilon : float; of "adam"

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    image_shape_ : tuple; (height, width, depth) of a sample
    layers_ : tuple of Layer; with the layer of scores
    theta_ : ndarray of shape (p,); all parameters, for `unpack` and `forward`
    history_ : ndarray of shape (n_iter_ + 1,); the cost at the start, then the mean of every pass
    n_iter_ : int; number of passes
    converged_ : bool; whether training stopped before max_iter
    n_features_in_ : int

    >>> X = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]])  # 2 x 2 pixels
    >>> ConvNet(random_state=0).fit(X, ["top", "top", "low", "low"]).predict(X).tolist()
    ['top', 'top', 'low', 'low']
    """

    layers: tuple = SMALL
    _: KW_ONLY
    image_shape: tuple | None = None
    batch_size: int | str = 32

    def fit(self, X, y):
        """Train on images X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        self._check_training()
        rng, classes = check_random_state(self.random_state), np.unique(y)
        shape = _image_shape(self.image_shape, samples.shape[1])
        layers = (*_check_layers(self.layers), Dense(len(classes)))
        V, T = samples.reshape(-1, *shape), one_hot(y, classes)
        states = self._passes(
            lambda theta, rows: loss_and_gradient(theta, layers, V[rows], T[rows]),
            initial_parameters(layers, shape, rng=rng),
            len(V),
            rng,
        )
        run, _ = self._train(states)
        self.classes_, self.image_shape_, self.layers_ = classes, shape, layers
        self.theta_ = run.state.theta
        self._report(run)
        return self._remember(X)

    def _scores(self, X):
        """The scores (n, C), computed for BLOCK images at a time."""
        V = self._check_fitted(X).reshape(-1, *self.image_shape_)
        blocks = [V[rows] for rows in row_blocks(len(V), BLOCK)]
        return np.concatenate([forward(self.theta_, self.layers_, B)[:, 0, 0] for B in blocks])

    def predict(self, X):
        """The labels (n,) of the largest scores."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """Probabilities (n, C) of the classes."""
        return softmax(self._scores(X))

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, finite even where a probability rounds to 0."""
        f = self._scores(X)
        return f - log_sum_exp(f)[:, None]


def _check_layers(layers):
    """The layers as a tuple; refuse anything else."""
    if isinstance(layers, tuple | list) and all(isinstance(each, Layer) for each in layers):
        return tuple(layers)
    raise ValueError(f"layers must be a tuple of layers, as (Conv(6, 5), Relu()); got {layers!r}")


def _image_shape(image_shape, d):
    """(height, width, depth) of a row of d numbers."""
    if image_shape is None:
        side = isqrt(d)
        return (side, side, 1) if side**2 == d else (1, d, 1)
    given = tuple(image_shape) if isinstance(image_shape, tuple | list) else ()
    whole = all(isinstance(N, Integral) and N > 0 for N in given)
    if len(given) not in (2, 3) or not whole or prod(given) != d:
        raise ValueError(
            "image_shape must be None, (height, width) or (height, width, depth) of product "
            f"{d}, the number of features; got {image_shape!r}"
        )
    return (*given, 1)[:3]
