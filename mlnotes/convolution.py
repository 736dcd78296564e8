"""Convolution: one small pattern of weights, looked for at every place of an image.

A neuron that sees a whole image needs a weight per pixel, and the one beside it as many again. If
each sees a small window only, and all of them share their weights, then the layer is a correlation
with a handful of numbers, and an image that is shifted gives maps that are shifted. Layers of such
maps, nonlinearities and pooling between them, and a few fully connected layers at the end are a
ConvNet, trained by the gradient as every network is.

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
    x, k     (N,), (F,)      a sequence and a kernel, or an image (H, W) and a kernel (F, F): arrays
                             of the same number of axes
    N, F     int             length of the input and of a window, along an axis
    stride, padding  int     S and P of the notes: windows start S entries apart; P zeros are put
                             before the first entry and after the last
    V        (n, H, W, D)    volumes, a sample per row: height, width, depth (the maps of an image)
    W, b     (K, F, F, D), (K,)    K filters, each of the full depth of its input, and their biases
    A        (m, d)          weights of m neurons that are connected with all d = H W D numbers
    G                        the gradient of a cost with respect to an output, of its shape
    layers   tuple           the `Layer` objects of a network, in order
    shape    (H, W, D)       of one volume
    theta    (p,)            all parameters of a network, layer by layer: weights, then biases
    Y        (n, C)          a 1 at the class of each sample, 0 elsewhere; above the networks, the
                             output of a layer
    rng      Generator       draws the first weights

A batch of volumes lies in memory with its samples last, (D, H, W, n), wherever it was made here:
then the windows of a batch are copied in long runs, and a layer is one large matrix product. The
axes are those of the table all the same.

Notes: ISML "Deep Learning", from "Convolutional Neural Networks" on. It writes W1 x H1 x D1 for an
input, W2 x H2 x D2 for an output, K, F, S and P as above, and calls our correlation convolution.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial, reduce
from math import isqrt, prod
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mlnotes.base import (
    Classifier,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    iterate,
    row_blocks,
)
from mlnotes.logistic_regression import softmax
from mlnotes.neural_networks import (
    RELU,
    adam,
    check_trained,
    one_hot,
    patient,
    scores,
    sgd,
    softmax_cross_entropy,
)
from mlnotes.probability import log_sum_exp

__all__ = [
    "output_size", "counts", "Counts", "receptive_field", "windows", "correlate",
    "correlate_by_loops", "convolve", "correlation_matrix", "correlate_backward", "conv",
    "conv_backward", "compose", "max_pool", "max_pool_backward", "mean_pool", "mean_pool_backward",
    "dense", "dense_backward", "Layer", "Conv", "Relu", "MaxPool", "MeanPool", "Dense",
    "typical_layers", "propagate", "describe", "initial_parameters", "unpack", "forward",
    "loss_and_gradient", "ConvNet",
]  # fmt: skip

BLOCK = 256  # samples whose windows are copied at once


# ---------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------


def output_size(N, F, stride=1, padding=0):
    """(N - F + 2 P) / S + 1: how many windows of F entries there are, S entries apart.

    If that is no whole number the windows do not fit: the last entries would never be seen. P =
    (F - 1) / 2 keeps the size for odd F and S = 1.

    Raises: ValueError if they do not fit, or one window is longer than the padded input.

    >>> output_size(7, 3), output_size(7, 3, stride=2), output_size(32, 5, padding=2)
    (5, 3, 32)
    >>> output_size(7, 3, stride=3)
    Traceback (most recent call last):
    ValueError: windows must fit: (N - F + 2 P) / S + 1 = (7 - 3 + 2 * 0) / 3 + 1 = 7/3

    Claims: convolution-03
    """
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
    return int(size)


class Counts(NamedTuple):
    """How many parameters of either kind a layer has; their sum is all of them."""

    weights: int
    biases: int


def counts(F, D, K, *, places=1):
    """K F F D weights and K biases: one filter of the full depth per map, whatever the image.

    Without sharing, each of the `places` = H2 W2 where a window lies has filters of its own. The
    notes count 5 * 5 * 3 + 1 = 76 parameters a filter and 76 * 10 = 760 "(+1 for bias)" of ten:
    the bias is in the 76 already, and there are 10 of them (convolution-07).

    Returns: `Counts`.

    >>> counts(F=5, D=3, K=10), sum(counts(F=5, D=3, K=10))
    (Counts(weights=750, biases=10), 760)

    Claims: convolution-06
    """
    return Counts(places * K * F * F * D, places * K)


def receptive_field(layers):
    """1 + sum_l (F_l - 1) S_1 ... S_{l-1}: the side of the region that one output depends on.

    Three layers of 3x3 windows see 7x7, as one layer of 7x7 does, with 27 C^2 weights instead of
    49 C^2 where all volumes have depth C. Only the layers with windows count.

    >>> receptive_field([Conv(8, 3), Conv(8, 3), Conv(8, 3)]), receptive_field([Conv(8, 7)])
    (7, 7)
    """
    seen, jump = 1, 1
    for layer in layers:
        if isinstance(layer, Conv | MaxPool | MeanPool):
            seen, jump = seen + (layer.size - 1) * jump, jump * layer.step
    return seen


# ---------------------------------------------------------------------------------------
# Correlation
# ---------------------------------------------------------------------------------------


def windows(x, size, *, stride=1, padding=0):
    """Every window of an array: at [i, j] of the result, that which starts at (S i, S j).

    `size` are the sides of a window, one number per axis; stride and padding are one number each,
    or one per axis. It is a view of the padded array: windows that overlap share their numbers.

    Returns: an array of the output sizes followed by `size`. Raises: ValueError if the windows do
    not fit, or have not the axes of x.

    >>> windows(np.array([1, 2, 3, 4, 5]), (3,), stride=2)
    array([[1, 2, 3],
           [3, 4, 5]])
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

    It is linear in x, `correlation_matrix` its matrix: an output sees F inputs only, and all
    outputs share the F weights. For S = 1 a shifted x gives a shifted output. Over images (H, W)
    the sums have two indices.

    >>> correlate(np.array([1, 2, 3, 4, 5]), np.array([1, 0, -1]), stride=2)
    array([-2, -2])
    """
    seen = windows(x, k.shape, stride=stride, padding=padding)
    return np.tensordot(seen, _wide(k, x), axes=k.ndim)


def _wide(k, *others):
    """k in 64 bits, so that its products with the `others` do not overflow as those of pixels."""
    return k.astype(np.result_type(k, *others, np.int64))


def correlate_by_loops(x, k, *, stride=1, padding=0):
    """`correlate` as it is defined: for every place, for every weight, a product is added.

    Here stride and padding are one number each.

    >>> correlate_by_loops(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 10.0]))
    array([21., 32., 43.])
    """
    if k.ndim != x.ndim:
        raise ValueError(f"k must have the {x.ndim} axes of x; got {k.ndim}")
    sizes = [output_size(N, F, stride, padding) for N, F in zip(x.shape, k.shape, strict=True)]
    x, k, out = np.pad(x, padding), _wide(k, x), np.zeros(sizes)
    for place in np.ndindex(*sizes):
        for m in np.ndindex(k.shape):
            out[place] += k[m] * x[tuple(stride * i + j for i, j in zip(place, m, strict=True))]
    return out


def convolve(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + F - 1 - m}: correlation with the kernel reversed along every axis.

    What the notes and everyone call a convolution layer is correlation. As the weights are
    learnt, it makes no difference there; for a given kernel that is not symmetric it does
    (convolution-05).

    >>> convolve(np.array([0, 0, 1, 0, 0]), np.array([1, 2, 3]))
    array([1, 2, 3])
    >>> correlate(np.array([0, 0, 1, 0, 0]), np.array([1, 2, 3]))
    array([3, 2, 1])
    """
    return correlate(x, np.flip(k), stride=stride, padding=padding)


def correlation_matrix(k, shape, *, stride=1, padding=0):
    """The matrix M with correlate(x, k) = M x, for x of the given `shape`: a banded one.

    A fully connected layer has any matrix of this size; this one has the same F weights in every
    row, further right from row to row, and zeros. For images, x and the output are read row by
    row.

    Returns: (outputs, inputs).

    >>> correlation_matrix(np.array([1.0, 2.0, 3.0]), (5,), stride=2)
    array([[1., 2., 3., 0., 0.],
           [0., 0., 1., 2., 3.]])

    Claims: convolution-01
    """
    N = prod(shape)
    number = np.arange(1, N + 1).reshape(shape)  # of the inputs; 0 is all of the padding
    seen = windows(number, k.shape, stride=stride, padding=padding).reshape(-1, k.size)
    M = np.zeros((len(seen), N + 1))
    np.put_along_axis(M, seen, k.reshape(1, -1), axis=1)
    return M[:, 1:]


def correlate_backward(G, x, k, *, stride=1, padding=0):
    """From the gradient G of a cost in the outputs to those in x and in k.

        dx = M^T G,   dk_m = sum_i G_i x_{S i + m}

    dk is the correlation of x with G. dx takes every G_i back to the window it came from, times
    the kernel: for S = 1, P = 0 the full convolution of G with k.

    Returns: dx and dk, of the shapes of x and k.

    >>> correlate_backward(np.array([1, 10]), x=np.array([1, 2, 3]), k=np.array([5, 7]))
    (array([ 5, 57, 70]), array([21, 32]))
    """
    seen, G = windows(x, k.shape, stride=stride, padding=padding), _wide(G, x, k)
    if G.shape != seen.shape[: x.ndim]:
        raise ValueError(f"G must be of the output's shape {seen.shape[: x.ndim]}; got {G.shape}")
    dk = np.tensordot(G, seen, axes=G.ndim)
    S, P = np.broadcast_to(stride, x.ndim), np.broadcast_to(padding, x.ndim)
    dx = np.zeros(np.add(x.shape, 2 * P), dtype=G.dtype)
    for m in np.ndindex(k.shape):
        dx[_steps(m, G.shape, S)] += k[m] * G
    return dx[_steps(P, x.shape, np.ones_like(S))], dk


def _steps(start, count, stride):
    """The slices that take `count` entries from `start` on, `stride` apart, along every axis."""
    triples = zip(start, count, stride, strict=True)
    return tuple(slice(i, i + (c - 1) * s + 1, s) for i, c, s in triples)


# ---------------------------------------------------------------------------------------
# Convolution layers
# ---------------------------------------------------------------------------------------


def conv(V, W, b, *, stride=1, padding=0):
    """Y[:, i, j, d] = w_d^T (window at (S i, S j) of the padded V) + b_d for d = 1, ..., K.

    Each number is a neuron that sees F F D inputs; a map is a sheet of such neurons with one
    weight vector among them, and map d depends on filter d only. Depth is summed over, never slid
    over. The notes call it a "valid convolution": it is correlation, and valid on the padded
    volume, without which their size would have no 2 P in it (convolution-05).

    All windows are the columns of a matrix (F F D, H2 W2 n), which the filters (K, F F D)
    multiply.

    Returns: (n, H2, W2, K), the sizes by `output_size`. Raises: ValueError if the windows do not
    fit, or V, W and b have not the shapes of the table.

    >>> V = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> conv(V, W=np.ones((1, 2, 2, 1)), b=np.array([100.0]))[0, :, :, 0]
    array([[108., 112.],
           [120., 124.]])

    Claims: convolution-04
    """
    return _conv(V, W, b, stride, padding)[0]


def _conv(V, W, b, stride, padding):
    """What `conv` returns, and the columns that it multiplied."""
    if V.ndim != 4 or W.ndim != 4:
        raise ValueError(f"V and W must have 4 axes; got shapes {V.shape} and {W.shape}")
    K, *F, D = W.shape
    n, *sizes, depth = V.shape
    if D != depth:
        raise ValueError(f"filters must have the depth of the volume, D = {depth}; got {D}")
    if np.shape(b) != (K,):
        raise ValueError(f"b must have shape ({K},), a number per filter; got {np.shape(b)}")
    H2, W2 = (output_size(N, f, stride, padding) for N, f in zip(sizes, F, strict=True))
    C = _columns(V, F, stride, padding)
    Y = W.reshape(K, -1) @ C
    Y += b[:, None]
    return _samples_first(Y.reshape(K, H2, W2, n)), C


def _columns(V, F, stride, padding):
    """The windows of a batch, one per column: (F F D, H2 W2 n)."""
    n, H, W, D = V.shape
    U = np.zeros((D, H + 2 * padding, W + 2 * padding, n))
    U[:, padding : padding + H, padding : padding + W] = _samples_last(V)
    seen = sliding_window_view(U, F, axis=(1, 2))[:, ::stride, ::stride]
    return seen.transpose(4, 5, 0, 1, 2, 3).reshape(prod(F) * D, -1)


def _samples_last(V):
    """(n, H, W, D) seen as (D, H, W, n)."""
    return V.transpose(3, 1, 2, 0)


def _samples_first(U):
    """(D, H, W, n) seen as (n, H, W, D)."""
    return U.transpose(3, 1, 2, 0)


def conv_backward(G, V, W, *, stride=1, padding=0):
    """From the gradient G in the outputs of `conv` to those in V, W and b.

    With R (K, H2 W2 n) the rows of G and C the columns of V,

        dW = R C^T,   db = the sums of the rows of R,   dC = W^T R ,

    and dV adds up what dC has for each number of V, once for every window that it is in.

    Returns: dV, dW and db.

    >>> V, W = np.array([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1), np.array([5.0, 7.0])
    >>> G = np.array([1.0, 10.0]).reshape(1, 1, 2, 1)
    >>> dV, dW, db = conv_backward(G, V, W.reshape(1, 1, 2, 1))
    >>> dV.ravel(), dW.ravel(), db  # as `correlate_backward` has it
    (array([ 5., 57., 70.]), array([21., 32.]), array([11.]))
    """
    C = _columns(V, W.shape[1:3], stride, padding)
    return (_conv_inputs(G, W, V.shape, stride, padding), *_conv_parameters(G, C, W.shape))


def _conv_parameters(G, C, shape):
    """dW, of the given shape, and db."""
    R = _samples_last(G).reshape(shape[0], -1)
    return (R @ C.T).reshape(shape), R.sum(axis=1)


def _conv_inputs(G, W, shape, stride, padding):
    """dV, of the given shape."""
    (K, *F, D), (n, H2, W2, _), (_, H1, W1, _) = W.shape, G.shape, shape
    dC = W.reshape(K, -1).T @ _samples_last(G).reshape(K, -1)
    dC = dC.reshape(*F, D, H2, W2, n)
    dU = np.zeros((D, H1 + 2 * padding, W1 + 2 * padding, n))
    for i, j in np.ndindex(*F):
        dU[:, *_steps((i, j), (H2, W2), (stride, stride))] += dC[i, j]
    return _samples_first(dU[:, padding : padding + H1, padding : padding + W1])


def compose(W, b, W2, b2):
    """The one layer that does what two do with nothing between them: conv(conv(V, W, b), W2, b2).

        W12[k] = sum_m (full convolution of W2[k, :, :, m] with W[m]),
        b12[k] = b2_k + sum_m b_m sum W2[k, :, :, m]

    F x F filters after F' x F' ones are F + F' - 1 wide: two layers of 5x5 are one of 9x9. It takes
    an activation between layers, as every ConvNet has, to make two more than one. `W2`, `b2` are
    of the second layer; strides are 1, and there is no padding.

    Returns: the filters and the biases.

    >>> W12, b12 = compose(np.ones((1, 1, 2, 1)), np.ones(1), np.ones((1, 1, 2, 1)), np.zeros(1))
    >>> W12.ravel(), b12
    (array([1., 2., 1.]), array([2.]))

    Claims: convolution-09
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
    """The largest number of every F x F window of every map: half the resolution for F = S = 2.

    The depth stays, each map is pooled by itself, and there is nothing to learn. The stride is
    F if not given, so that windows touch. Padding has no place here: where all numbers are
    negative, its zeros would be the maxima at the border.

    Returns: (n, H2, W2, D), the sizes by `output_size`. Raises: ValueError if the windows do not
    fit.

    >>> V = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4.0]])
    >>> max_pool(V.reshape(1, 4, 4, 1), 2)[0, :, :, 0]
    array([[6., 8.],
           [3., 4.]])

    Claims: convolution-10
    """
    return reduce(np.maximum, _corners(V, F, stride))


def max_pool_backward(G, V, F, *, stride=None):
    """dV: every G goes to the number that was the largest of its window, the first if several.

    >>> V = np.array([[1.0, 9.0], [9.0, 1.0]]).reshape(1, 2, 2, 1)
    >>> max_pool_backward(np.full((1, 1, 1, 1), 5.0), V, 2)[0, :, :, 0]
    array([[0., 5.],
           [0., 0.]])
    """
    return _max_pool_inputs(G, V, max_pool(V, F, stride=stride), F, stride)


def _max_pool_inputs(G, V, Y, F, stride):
    """`max_pool_backward`, given what the pool returned."""
    dV, waiting = np.zeros_like(V, dtype=G.dtype), np.ones_like(Y, dtype=bool)
    for corner, slope in zip(_corners(V, F, stride), _corners(dV, F, stride), strict=True):
        largest = (corner == Y) & waiting
        slope += G * largest
        waiting ^= largest
    return dV


def mean_pool(V, F, *, stride=None):
    """The mean of every F x F window of every map; else as `max_pool`.

    >>> V = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4.0]])
    >>> mean_pool(V.reshape(1, 4, 4, 1), 2)[0, :, :, 0]
    array([[3.25, 5.25],
           [2.  , 2.  ]])
    """
    return reduce(partial(np.add, dtype=np.float64), _corners(V, F, stride)) / F**2


def mean_pool_backward(G, V, F, *, stride=None):
    """dV: every number of a window takes its share G / F^2.

    >>> mean_pool_backward(np.full((1, 1, 1, 1), 8.0), np.zeros((1, 2, 2, 1)), 2).ravel()
    array([2., 2., 2., 2.])
    """
    dV, share = np.zeros_like(V, dtype=np.float64), G / F**2
    for slope in _corners(dV, F, stride):
        slope += share
    return dV


def _corners(V, F, stride):
    """F F views (n, H2, W2, D) of V: the first number of every window, the second ..."""
    S = F if stride is None else stride
    sizes = [output_size(N, F, S) for N in V.shape[1:3]]
    return [V[:, *_steps(start, sizes, (S, S))] for start in np.ndindex(F, F)]


# ---------------------------------------------------------------------------------------
# Full connection
# ---------------------------------------------------------------------------------------


def dense(V, A, b):
    """Y = A vec(V) + b: every neuron sees the whole volume, flattened row by row.

    With (H W D + 1) m parameters, it is the convolution layer whose filters are as large as the
    volume, A.reshape(m, H, W, D). So a network may be written with convolutions alone.

    Returns: (n, 1, 1, m). Raises: ValueError if b has not a number for every output.

    >>> V = np.array([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1)
    >>> dense(V, A=np.array([[1.0, 10.0, 100.0]]), b=np.array([0.5])).ravel()
    array([321.5])

    Claims: convolution-13
    """
    return scores(V.reshape(len(V), -1), A, b)[:, None, None]


def dense_backward(G, V, A):
    """dV = A^T G, dA = G vec(V)^T and db = G, summed over the samples for A and b.

    Returns: dV, dA and db.

    >>> V, G = np.array([1.0, 2.0]).reshape(1, 1, 2, 1), np.array([3.0]).reshape(1, 1, 1, 1)
    >>> [each.ravel().tolist() for each in dense_backward(G, V, A=np.array([[5.0, 7.0]]))]
    [[15.0, 21.0], [3.0, 6.0], [3.0]]
    """
    R = G[:, 0, 0]
    return (R @ A).reshape(V.shape), R.T @ V.reshape(len(V), -1), R.sum(axis=0)


# ---------------------------------------------------------------------------------------
# Layers
# ---------------------------------------------------------------------------------------


class Layer:
    """A step from volumes to volumes; what has no parameters need not speak of them.

    `forward` returns the output and whatever the other two want to see again.
    """

    def __repr__(self):
        """The call that makes this layer; defaults are left out."""
        given = [(f.name, getattr(self, f.name), f.default) for f in fields(self)]
        given = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(given)})"

    def output_shape(self, shape):
        """The shape of what a volume of the given shape becomes."""
        return shape

    def parameter_shapes(self, shape):
        """The shapes of weights and biases for such volumes."""
        return ()

    def forward(self, V, *parameters):
        """Y, and what to keep of it."""
        raise NotImplementedError

    def backward(self, G, kept, *parameters):
        """dV from the gradient G in Y."""
        raise NotImplementedError

    def gradients(self, G, kept):
        """The gradients in the parameters from G."""
        return ()


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
        """How far apart the windows are."""
        return self.stride

    def output_shape(self, shape):
        """(H2, W2, K)."""
        check_number("filters", self.filters, at_least=1, integer=True)
        H2, W2 = (output_size(N, self.size, self.stride, self.padding) for N in shape[:2])
        return H2, W2, self.filters

    def parameter_shapes(self, shape):
        """Of W and b."""
        return (self.filters, self.size, self.size, shape[2]), (self.filters,)

    def forward(self, V, W, b):
        """`conv`."""
        Y, C = _conv(V, W, b, self.stride, self.padding)
        return Y, (C, V.shape, W.shape)

    def backward(self, G, kept, W, b):
        """dV of `conv_backward`."""
        _, shape, _ = kept
        return _conv_inputs(G, W, shape, self.stride, self.padding)

    def gradients(self, G, kept):
        """dW and db of `conv_backward`."""
        C, _, shape = kept
        return _conv_parameters(G, C, shape)


@dataclass(frozen=True, repr=False)
class Relu(Layer):
    """max(0, v) of every number; its slope at 0 is taken to be 0.

    >>> Relu().forward(np.array([-1.0, 2.0]))[0]
    array([0., 2.])
    """

    def forward(self, V):
        """max(0, V)."""
        Y = RELU.f(V)
        return Y, Y

    def backward(self, G, kept):
        """G where Y > 0, else 0."""
        return G * RELU.slope(kept)


@dataclass(frozen=True, repr=False)
class _Pool(Layer):
    size: int  # F
    stride: int | None = None  # F if not given

    @property
    def step(self):
        """How far apart the windows are."""
        return self.size if self.stride is None else self.stride

    def output_shape(self, shape):
        """(H2, W2, D)."""
        H2, W2 = (output_size(N, self.size, self.step) for N in shape[:2])
        return H2, W2, shape[2]


class MaxPool(_Pool):
    """The maximum of every window: see `max_pool`.

    >>> MaxPool(2).output_shape((224, 224, 64))
    (112, 112, 64)
    """

    def forward(self, V):
        """`max_pool`."""
        Y = max_pool(V, self.size, stride=self.stride)
        return Y, (V, Y)

    def backward(self, G, kept):
        """`max_pool_backward`."""
        return _max_pool_inputs(G, *kept, self.size, self.stride)


class MeanPool(_Pool):
    """The mean of every window: see `mean_pool`.

    >>> MeanPool(3, stride=2).output_shape((7, 7, 4))
    (3, 3, 4)
    """

    def forward(self, V):
        """`mean_pool`."""
        return mean_pool(V, self.size, stride=self.stride), V

    def backward(self, G, kept):
        """`mean_pool_backward`."""
        return mean_pool_backward(G, kept, self.size, stride=self.stride)


@dataclass(frozen=True, repr=False)
class Dense(Layer):
    """A fully connected layer: see `dense`. It flattens what it is given.

    >>> [prod(shape) for shape in Dense(10).parameter_shapes((32, 32, 3))]
    [30720, 10]
    """

    units: int  # m

    def output_shape(self, shape):
        """(1, 1, m)."""
        check_number("units", self.units, at_least=1, integer=True)
        return 1, 1, self.units

    def parameter_shapes(self, shape):
        """Of A and b."""
        return (self.units, prod(shape)), (self.units,)

    def forward(self, V, A, b):
        """`dense`."""
        return dense(V, A, b), V

    def backward(self, G, kept, A, b):
        """dV of `dense_backward`."""
        return (G[:, 0, 0] @ A).reshape(kept.shape)

    def gradients(self, G, kept):
        """dA and db of `dense_backward`."""
        R = G[:, 0, 0]
        return R.T @ kept.reshape(len(R), -1), R.sum(axis=0)


# ---------------------------------------------------------------------------------------
# Networks
# ---------------------------------------------------------------------------------------


def typical_layers(N, filters, units, classes=None, *, size=3, padding=None, pool=2):
    """[(CONV-RELU) * N - POOL] * M - (FC-RELU) * K - scores, to be followed by softmax.

    M = len(`filters`) blocks of N layers of so many filters, K = len(`units`) hidden layers of so
    many neurons. `size` is that of the filters and `pool` that of the pools; `padding` keeps the
    size of the maps if not given, or takes 1 off it if `size` is even. The notes have no layer for
    the scores (convolution-16): the softmax would act on a volume for K = 0, and for K > 0 on ReLU
    outputs, of which the classes that come out as 0 are all equally probable. And POOL is
    compulsory there; here None leaves it out. Without `classes` the scores are left to the caller,
    as `ConvNet` expects.

    Returns: a tuple of M (2 N + 1) + 2 K + 1 layers.

    >>> lenet = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)
    >>> [shape for shape in propagate(lenet, (32, 32, 1))][::3]
    [(32, 32, 1), (14, 14, 6), (5, 5, 16), (1, 1, 84)]

    Claims: convolution-15
    """
    P = (size - 1) // 2 if padding is None else padding
    layers = []
    for K in filters:
        layers += N * [Conv(K, size, padding=P), Relu()] + [MaxPool(pool)] * (pool is not None)
    for m in units:
        layers += [Dense(m), Relu()]
    return tuple(layers) + (() if classes is None else (Dense(classes),))


def propagate(layers, shape):
    """The shape of the input and of the output of every layer.

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
    """A table of the network: every layer, the shape of its output, how many parameters it has.

    >>> print(describe((Conv(10, 5, padding=2), Relu()), (32, 32, 3)))
    input                                      32 x 32 x 3           0
    Conv(filters=10, size=5, padding=2)       32 x 32 x 10         760
    Relu()                                    32 x 32 x 10           0
    together                                                       760
    """
    shapes = propagate(layers, shape)
    sizes = [_sizes(layer, before) for layer, before in zip(layers, shapes, strict=False)]
    rows = [("input", shapes[0], 0), *zip(map(repr, layers), shapes[1:], sizes, strict=True)]
    lines = [f"{name:38s}{' x '.join(map(str, s)):>16s}{p:12,d}" for name, s, p in rows]
    return "\n".join([*lines, f"{'together':54s}{sum(sizes):12,d}"])


def _sizes(layer, shape):
    """How many parameters the layer has on volumes of the shape."""
    return sum(prod(each) for each in layer.parameter_shapes(shape))


def initial_parameters(layers, shape, *, rng):
    """theta at random: weights of variance 2 / (inputs of the neuron), biases 0.

    Then layers with ReLU, which stops half of what comes in, keep the scale of what they are given.

    >>> layers = typical_layers(1, (6, 16), (120, 84), 10, size=5, padding=0)
    >>> len(initial_parameters(layers, (32, 32, 1), rng=np.random.default_rng(0)))
    61706
    """
    return np.concatenate([
        _at_random(each, rng)
        for layer, before in zip(layers, propagate(layers, shape), strict=False)
        for each in layer.parameter_shapes(before)
    ])  # fmt: skip


def _at_random(shape, rng):
    """Weights (neurons, ...) or biases (neurons,) to start from, flat."""
    if len(shape) == 1:
        return np.zeros(shape)
    return rng.normal(scale=np.sqrt(2 / prod(shape[1:])), size=prod(shape))


def unpack(theta, layers, shape):
    """The weights and biases of every layer, as views of theta; what it has beyond is not used.

    >>> (W, b), *_ = unpack(np.arange(10.0), (Conv(1, 3), Relu()), (5, 5, 1))
    >>> W.shape, b
    ((1, 3, 3, 1), array([9.]))
    """
    parts, end = [], 0
    for layer, before in zip(layers, propagate(layers, shape), strict=False):
        part = []
        for each in layer.parameter_shapes(before):
            start, end = end, end + prod(each)
            part.append(theta[start:end].reshape(each))
        parts.append(tuple(part))
    return parts


def forward(theta, layers, V):
    """What comes out of the last layer: the scores, where it is the layer of the scores.

    >>> V = np.array([[1.0, -2.0]]).reshape(1, 1, 2, 1)
    >>> forward(np.array([3.0, 1.0, 0.5]), (Relu(), Dense(1)), V).ravel()
    array([3.5])
    """
    parameters = unpack(theta, layers, V.shape[1:])
    blocks = row_blocks(len(V), BLOCK)
    return np.concatenate([_through(layers, parameters, V[rows]) for rows in blocks])


def _through(layers, parameters, V):
    for layer, own in zip(layers, parameters, strict=True):
        V, _ = layer.forward(V, *own)
    return V


def loss_and_gradient(theta, layers, V, Y):
    """L = -1/n sum_i log P(y_i | x_i), P = softmax(f), and dL/dtheta by backpropagation.

    Layer after layer forward, to the scores f; then back, dL/df = (P - Y) / n becomes dL/dV of
    layer after layer, and on the way the gradient in its parameters. The samples are taken BLOCK
    by BLOCK: the windows of very many would not fit into memory.

    Returns: L and dL/dtheta (p,). Raises: ValueError if theta has not just the parameters of the
    layers, or they do not end in the C scores of every sample.

    >>> V, Y = np.ones((1, 1, 1, 1)), np.array([[1.0, 0.0]])
    >>> L, gradient = loss_and_gradient(np.zeros(4), (Dense(2),), V, Y)
    >>> round(L, 6), gradient  # log 2
    (0.693147, array([-0.5,  0.5, -0.5,  0.5]))
    """
    if len(V) != len(Y):
        raise ValueError(f"V and Y must have as many samples; got {len(V)} and {len(Y)}")
    parameters = unpack(theta, layers, V.shape[1:])
    p = sum(each.size for own in parameters for each in own)
    if len(theta) != p:
        raise ValueError(f"theta must hold the {p} parameters of the layers; got {len(theta)}")
    L, gradient = 0.0, 0.0
    for rows in row_blocks(len(V), BLOCK):
        loss, slope = _sum_and_gradient(layers, parameters, V[rows], Y[rows])
        L, gradient = L + loss, gradient + slope
    return float(L) / len(V), gradient / len(V)


def _sum_and_gradient(layers, parameters, V, Y):
    """n L and its gradient."""
    kept = []
    for layer, own in zip(layers, parameters, strict=True):
        V, each = layer.forward(V, *own)
        kept.append(each)
    if V.shape != (len(Y), 1, 1, *Y.shape[1:]):
        raise ValueError(
            f"scores must be (n, 1, 1, C) for Y (n, C); got shapes {V.shape} and {Y.shape}"
        )
    f, steps = V[:, 0, 0], list(zip(layers, parameters, kept, strict=True))
    G = (softmax(f) - Y)[:, None, None]
    return np.sum(softmax_cross_entropy(f, Y)), _backpropagate(steps, G)


def _backpropagate(steps, G):
    """The gradients of all layers, flat: those of the first layer come first."""
    first = next(i for i, (_, own, _) in enumerate(steps) if own)  # nothing is learnt below
    found = []
    for layer, own, kept in reversed(steps[first + 1 :]):
        found = [*layer.gradients(G, kept), *found]
        G = layer.backward(G, kept, *own)
    layer, _, kept = steps[first]
    return np.concatenate([g.ravel() for g in (*layer.gradients(G, kept), *found)])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

SMALL = (Conv(16, 3, padding=1), Relu(), Dense(32), Relu())  # for images of any size
SOLVERS = ("adam", "sgd")


class ConvNet(Classifier):
    """Convolutional network for images of one size: the given layers, a score per class, softmax.

    It minimises the mean cross-entropy by mini-batches. An image is a row of X, as
    ``image.ravel()`` of an array (height, width) or (height, width, depth) gives it. The names are
    those of scikit-learn's MLPClassifier, whose place it can take. Pixels should be of the order
    of 1: scale them first.

    Parameters
    ----------
    layers : tuple of Layer; all but the layer of the scores, which follows by itself: `Conv`,
        `Relu`, `MaxPool`, `MeanPool`, `Dense`, or `typical_layers`
    image_shape : (height, width), (height, width, depth) or None; of None, a square of depth 1
        if the number of features is one, or else a single row
    solver : "adam" or "sgd"
    batch_size : int; samples of a step
    learning_rate_init : float; learning rate
    max_iter : int; largest number of passes over the data
    tol : float; stops where n_iter_no_change + 1 passes each fail to lower the least cost before
        them by more
    n_iter_no_change : int
    momentum : float; of sgd, in [0, 1)
    nesterovs_momentum : bool; of sgd
    random_state : int, Generator or None; draws first weights and the order in every pass

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    image_shape_ : tuple; (height, width, depth) of a sample
    layers_ : tuple of Layer; with that of the scores
    theta_ : ndarray of shape (p,); all parameters, for `unpack` and `forward`
    history_ : ndarray of shape (n_iter_ + 1,); the cost at the start, then its mean over the
        steps of every pass
    n_iter_ : int; passes
    converged_ : bool; whether the cost stopped falling before max_iter
    n_features_in_ : int

    >>> X = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]])  # 2 x 2 pixels
    >>> model = ConvNet(random_state=0).fit(X, ["top", "top", "low", "low"])
    >>> model.predict(X).tolist()
    ['top', 'top', 'low', 'low']
    """

    def __init__(
        self,
        layers=SMALL,
        *,
        image_shape=None,
        solver="adam",
        batch_size=32,
        learning_rate_init=0.001,
        max_iter=200,
        tol=1e-4,
        n_iter_no_change=10,
        momentum=0.9,
        nesterovs_momentum=True,
        random_state=None,
    ):
        self.layers = layers
        self.image_shape = image_shape
        self.solver = solver
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.random_state = random_state

    def fit(self, X, y):
        """Train on images X (n, d) with labels y (n,) of any kind; return self."""
        samples = check_samples(X)
        y, rng = check_labels(y, len(samples)), check_random_state(self.random_state)
        tol = check_number("tol", self.tol, at_least=0, below=np.inf)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        patience = check_number("n_iter_no_change", self.n_iter_no_change, at_least=1, integer=True)
        classes, shape = np.unique(y), _image_shape(self.image_shape, samples.shape[1])
        layers = (*_check_layers(self.layers), Dense(len(classes)))
        V, Y = samples.reshape(-1, *shape), one_hot(y, classes)
        states = self._passes(initial_parameters(layers, shape, rng=rng), layers, V, Y, rng)
        with np.errstate(over="ignore", invalid="ignore"):
            run = iterate(patient(states, patience), "improvement", tol, max_iter)
        check_trained(run)
        self.classes_, self.image_shape_, self.layers_ = classes, shape, layers
        self.theta_ = run.state.theta
        self._record(run, "improvement", tol)
        return self._remember(X)

    def _passes(self, theta, layers, V, Y, rng):
        """The states of the solver."""
        solver = check_choice("solver", self.solver, SOLVERS)
        how = {
            "batch_size": check_number("batch_size", self.batch_size, at_least=1, integer=True),
            "learning_rate": check_number(
                "learning_rate_init", self.learning_rate_init, above=0, below=np.inf
            ),
        }
        sgd_only = {
            "momentum": check_number("momentum", self.momentum, at_least=0, below=1),
            "nesterov": check_flag("nesterovs_momentum", self.nesterovs_momentum),
        }

        def cost(theta, rows):
            return loss_and_gradient(theta, layers, V[rows], Y[rows])

        if solver == "adam":
            return adam(cost, theta, len(V), rng=rng, **how)
        return sgd(cost, theta, len(V), rng=rng, **how, **sgd_only)

    def _scores(self, X):
        V = self._check_fitted(X).reshape(-1, *self.image_shape_)
        return forward(self.theta_, self.layers_, V)[:, 0, 0]

    def predict(self, X):
        """Labels (n,): those of the largest score."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        """Probabilities (n, C) of the classes."""
        return softmax(self._scores(X))

    def predict_log_proba(self, X):
        """Their logarithms, finite where the probability itself is 0 in floating point."""
        f = self._scores(X)
        return f - log_sum_exp(f)[:, None]


def _check_layers(layers):
    """A tuple of layers."""
    if isinstance(layers, tuple | list) and all(isinstance(each, Layer) for each in layers):
        return tuple(layers)
    raise ValueError(f"layers must be a tuple of layers, as (Conv(6, 5), Relu()); got {layers!r}")


def _image_shape(image_shape, d):
    """(H, W, D) of a row of d numbers."""
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
