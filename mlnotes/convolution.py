"""Convolution: one small pattern of weights, applied at every place of an image.

In a convolution layer each neuron sees a small window only, and all of them share their weights. A
ConvNet consists of such layers, activations and pooling, and ends with fully connected layers.

Contents
    Sizes                   output_size, parameter_counts
    Correlation             windows, correlate, correlate_by_loops, convolve, correlation_matrix,
                            correlate_backward
    Convolution layers      conv, conv_backward, compose
    Pooling                 max_pool, max_pool_backward, mean_pool
    Full connection         dense, dense_backward
    Layers                  Layer, Conv, Relu, MaxPool, Dense
    Networks                typical_layers, propagate, receptive_field, describe,
                            initial_parameters, cnn_forward, loss_and_gradient
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
    params   list            the parameters of a network: for every layer the tuple (W, b), or () if
                             it has none; a gradient has this form
    Y        (n, N2, N2, K)  the output of a layer
    f        (n, C)          the scores of the C classes: the output of the last layer
    T        (n, C)          the targets: a 1 at the class of each sample, 0 elsewhere
    rng      Generator       draws the first weights

Notes: ISML "Deep Learning", from "Convolutional Neural Networks" on.
"""

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import isqrt, prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mlnotes.base import (
    by_rows,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    floats,
)
from mlnotes.logistic_regression import softmax
from mlnotes.neural_networks import (
    RELU,
    SoftmaxClassifier,
    Trainer,
    net_input,
    one_hot,
    softmax_cross_entropy,
)

# =======================================================================================
# The lecture
# =======================================================================================

# --- Sizes -----------------------------------------------------------------------------


def output_size(N, F, stride=1, padding=0):
    """(N - F + 2 P) / S + 1: the number of windows of F entries that start S entries apart.

    Raises: ValueError if this is not a positive integer: other libraries round down in silence.

    >>> output_size(7, 3), output_size(7, 3, stride=2), output_size(32, 5, padding=2)
    (5, 3, 32)
    """
    S, P = stride, padding
    size = Fraction(N - F + 2 * P, S) + 1
    if size.denominator > 1 or size < 1:
        formula = f"(N - F + 2 P) / S + 1 = ({N} - {F} + 2 * {P}) / {S} + 1 = {size}"
        raise ValueError(f"windows must fit: {formula}")
    return int(size)


def parameter_counts(F, D, K, *, places=1):
    """K F F D weights and K biases: one filter of the full depth per map, for images of any size.

    Filters that are not shared have a set of these in each of the `places`.

    >>> parameter_counts(F=5, D=3, K=10), sum(parameter_counts(F=5, D=3, K=10))
    ((750, 10), 760)

    Errata: convolution-07 (ISML adds "+1 for bias" to 760 parameters that include the biases).
    """
    return places * K * F * F * D, places * K


# --- Correlation -----------------------------------------------------------------------


def windows(x, size, *, stride=1, padding=0):
    """Every window of an array x: entry [i, j] is the window that starts at (S i, S j).

    `size` has a number per axis of x. The result has the output sizes, followed by `size`.

    >>> windows(np.array([1, 2, 3, 4, 5]), (3,), stride=2).tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    x = np.pad(x, padding)
    sizes = [output_size(N, F, stride) for N, F in zip(x.shape, size, strict=True)]
    starts = [stride * np.arange(N2) for N2 in sizes]
    return sliding_window_view(x, size)[np.ix_(*starts)]


def correlate(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + m}: the dot product of the kernel with every window.

    >>> correlate(np.array([1, 2, 3, 4, 5]), np.array([1, 0, -1]), stride=2)
    array([-2., -2.])
    """
    seen = windows(x, k.shape, stride=stride, padding=padding)
    return np.tensordot(seen, floats(k), axes=k.ndim)


def correlate_by_loops(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + m} by its definition: `correlate`, one product at a time.

    >>> correlate_by_loops(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 10.0]))
    array([21., 32., 43.])
    """
    x, k = np.pad(floats(x), padding), floats(k)  # zeros on every side
    h = np.zeros([output_size(N, F, stride) for N, F in zip(x.shape, k.shape, strict=True)])
    for i in np.ndindex(h.shape):  # every place of a window
        for m in np.ndindex(k.shape):  # every weight of the kernel
            h[i] += k[m] * x[tuple(stride * np.array(i) + m)]
    return h


def convolve(x, k, *, stride=1, padding=0):
    """h_i = sum_m k_m x_{S i + F - 1 - m}: correlation with the kernel reversed along every axis.

    >>> convolve(np.array([0, 0, 1, 0, 0]), np.array([1, 2, 3]))
    array([1., 2., 3.])

    Errata: convolution-05 (ISML calls the correlation of its layers convolution).
    """
    return correlate(x, np.flip(k), stride=stride, padding=padding)


def correlation_matrix(k, shape, *, stride=1, padding=0):
    """The matrix M (outputs, inputs) with correlate(x, k) = M x, for x of the given `shape`.

    For images, x and the output are read row by row.

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
    """The gradients dx and dk of a cost in x and k, from its gradient G in the outputs:

        dx = M^T G,   dk_m = sum_i G_i x_{S i + m},   with M from `correlation_matrix`.

    >>> correlate_backward(np.array([1, 10]), x=np.array([1, 2, 3]), k=np.array([5, 7]))
    (array([ 5., 57., 70.]), array([21., 32.]))
    """
    G = floats(G)
    M = correlation_matrix(k, x.shape, stride=stride, padding=padding)
    seen = windows(x, k.shape, stride=stride, padding=padding)
    return (M.T @ G.ravel()).reshape(x.shape), np.tensordot(G, seen, axes=x.ndim)


# --- Convolution layers ----------------------------------------------------------------


def conv(V, W, b, *, stride=1, padding=0):
    """Y[:, i, j, d] = w_d^T (window at (S i, S j) of the padded V) + b_d for d = 1, ..., K.

    Returns: (n, N2, N2, K), the sizes by `output_size`.

    >>> conv(np.arange(9.0).reshape(1, 3, 3, 1), np.ones((1, 2, 2, 1)), np.array([100.0])).ravel()
    array([108., 112., 120., 124.])

    Errata: convolution-05 (ISML's "valid convolution" is a correlation, valid on the padded input).
    """
    S, P = stride, padding
    V = np.pad(floats(V), ((0, 0), (P, P), (P, P), (0, 0)))  # not along n and D
    n, height, width, _ = V.shape
    K, F, E, _ = W.shape  # E = F if the filters are square
    w = W.reshape(K, -1)  # row d is filter d, flattened
    Y = np.zeros((n, output_size(height, F, S), output_size(width, E, S), K))
    for i, j in np.ndindex(Y.shape[1:3]):
        window = V[:, S * i : S * i + F, S * j : S * j + E]  # of all images at once
        Y[:, i, j] = window.reshape(n, -1) @ w.T + b
    return Y


def conv_backward(G, V, W, *, stride=1, padding=0):
    """The gradients dV, dW and db of a cost, from its gradient G in the outputs of `conv`.

    Every place (i, j) adds its share, with g_d = G[:, i, j, d]:

        dw_d <- dw_d + g_d window,   d(window) <- d(window) + sum_d g_d w_d,   db_d <- db_d + g_d .

    >>> G, V, W = np.ones((1, 1, 2, 1)), np.ones((1, 1, 3, 1)), np.full((1, 1, 2, 1), 5.0)
    >>> [each.ravel().tolist() for each in conv_backward(G, V, W)]
    [[5.0, 10.0, 5.0], [2.0, 2.0], [2.0]]
    """
    G, V, W = floats(G, V, W)
    S, P = stride, padding
    (n, height, width, D), (K, F, E, _) = V.shape, W.shape
    V = np.pad(V, ((0, 0), (P, P), (P, P), (0, 0)))
    w = W.reshape(K, -1)
    dV, dw = np.zeros(V.shape), np.zeros(w.shape)
    for i, j in np.ndindex(G.shape[1:3]):
        rows = slice(S * i, S * i + F)
        columns = slice(S * j, S * j + E)
        g = G[:, i, j]  # (n, K): in the K outputs at this place
        dw += g.T @ V[:, rows, columns].reshape(n, -1)
        dV[:, rows, columns] += (g @ w).reshape(n, F, E, D)
    dV = dV[:, P : P + height, P : P + width]  # without the padding
    return dV, dw.reshape(W.shape), G.sum(axis=(0, 1, 2))


def compose(W, b, W2, b2):
    """The filters and biases of the one layer that computes what two linear layers compute:

        W12[k] = sum_m (full convolution of W2[k, :, :, m] with W[m]),
        b12[k] = b2_k + sum_m b_m sum W2[k, :, :, m],

    so that conv(V, W12, b12) = conv(conv(V, W, b), W2, b2), for strides 1 and without padding.

    >>> W12, b12 = compose(np.ones((1, 1, 2, 1)), np.ones(1), np.ones((1, 1, 2, 1)), np.zeros(1))
    >>> W12.ravel(), b12
    (array([1., 2., 1.]), array([2.]))
    """
    W, b, W2, b2 = floats(W, b, W2, b2)
    (K, F2, E2, _), (_, F, E, D) = W2.shape, W.shape
    W12 = np.zeros((K, F + F2 - 1, E + E2 - 1, D))
    for i, j in np.ndindex(F2, E2):
        W12[:, i : i + F, j : j + E] += np.tensordot(W2[:, i, j], W, axes=1)
    return W12, b2 + W2.sum(axis=(1, 2)) @ b


# --- Pooling ---------------------------------------------------------------------------


def max_pool(V, F, *, stride=None):
    """The largest number of every F x F window of every map: (n, N2, N2, D).

    The stride is F if it is not given. There is no padding: its zeros could be the maxima.

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
    """dV (n, N, N, D): each G goes to the largest number of its window, to the first of several.

    >>> max_pool_backward(np.ones((1, 1, 1, 1)), np.arange(4.0).reshape(1, 2, 2, 1), 2).ravel()
    array([0., 0., 0., 1.])
    """
    S = F if stride is None else stride
    n, _, _, D = V.shape
    image, d = np.arange(n)[:, None], np.arange(D)  # every image with every map
    dV = np.zeros(V.shape)
    for i, j in np.ndindex(G.shape[1:3]):
        window = V[:, S * i : S * i + F, S * j : S * j + F].reshape(n, F * F, D)
        winner = window.argmax(axis=1)  # (n, D): its number in the window
        m, u = winner // F, winner % F  # its row and column in the window
        dV[image, S * i + m, S * j + u, d] += G[:, i, j]
    return dV


def mean_pool(V, F, *, stride=None):
    """The mean of every F x F window of every map: (n, N2, N2, D). The stride is as in `max_pool`.

    >>> mean_pool(np.arange(8.0).reshape(1, 2, 4, 1), 2).ravel()
    array([2.5, 4.5])
    """
    S = F if stride is None else stride
    n, height, width, D = V.shape
    Y = np.zeros((n, output_size(height, F, S), output_size(width, F, S), D))
    for i, j in np.ndindex(Y.shape[1:3]):
        window = V[:, S * i : S * i + F, S * j : S * j + F]
        Y[:, i, j] = window.mean(axis=(1, 2))
    return Y


# --- Full connection -------------------------------------------------------------------


def dense(V, A, b):
    """Y = A vec(V) + b (n, 1, 1, K): every neuron sees the whole volume, read row by row.

    It is the convolution layer with the filters A.reshape(K, N, N, D), as large as the volume.

    >>> dense(np.ones((1, 1, 2, 1)), A=np.array([[1.0, 10.0]]), b=np.array([0.5])).ravel()
    array([11.5])
    """
    return net_input(V.reshape(len(V), -1), A, b)[:, None, None]


def dense_backward(G, V, A):
    """dV = A^T G, dA = G vec(V)^T and db = G; dA and db are summed over the samples.

    >>> V, G = np.array([1.0, 2.0]).reshape(1, 1, 2, 1), np.array([3.0]).reshape(1, 1, 1, 1)
    >>> [each.ravel().tolist() for each in dense_backward(G, V, A=np.array([[5.0, 7.0]]))]
    [[15.0, 21.0], [3.0, 6.0], [3.0]]
    """
    g, A = floats(G[:, 0, 0], A)
    return (g @ A).reshape(V.shape), g.T @ V.reshape(len(V), -1), g.sum(axis=0)


# --- Layers ----------------------------------------------------------------------------


class Layer:
    """A step from volumes V to volumes Y, with parameters W and b if it has any.

    ``forward(V, W, b)`` returns Y, and ``backward(G, V, W, b)`` dV, dW and db from the gradient G
    in Y.

    >>> Layer().output_shape((8, 8, 3)), Layer().parameter_shapes((8, 8, 3))
    ((8, 8, 3), ())
    """

    def output_shape(self, shape):
        """The shape of the output for a volume of the given `shape`; here the same."""
        return shape

    def parameter_shapes(self, shape):
        """The shapes of the parameters for a volume of the given `shape`; here there are none."""
        return ()


@dataclass(frozen=True)
class Conv(Layer):
    """A convolution layer: see `conv`.

    >>> Conv(10, 5, padding=2).output_shape((32, 32, 3))
    (32, 32, 10)
    """

    filters: int  # K
    size: int  # F
    stride: int = 1
    padding: int = 0

    def output_shape(self, shape):
        """(N2, N2, K)."""
        sizes = (output_size(N, self.size, self.stride, self.padding) for N in shape[:2])
        return (*sizes, self.filters)

    def parameter_shapes(self, shape):
        """The shapes of W and b."""
        return (self.filters, self.size, self.size, shape[2]), (self.filters,)

    def forward(self, V, W, b):
        """`conv`."""
        return conv(V, W, b, stride=self.stride, padding=self.padding)

    def backward(self, G, V, W, b):
        """`conv_backward`."""
        return conv_backward(G, V, W, stride=self.stride, padding=self.padding)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class MaxPool(Layer):
    """The maximum of every window, one map at a time: see `max_pool`.

    >>> MaxPool(2).output_shape((224, 224, 64))
    (112, 112, 64)
    """

    size: int  # F
    stride: int | None = None  # F if not given

    def __post_init__(self):
        if self.stride is None:
            object.__setattr__(self, "stride", self.size)

    def output_shape(self, shape):
        """(N2, N2, D)."""
        return (*(output_size(N, self.size, self.stride) for N in shape[:2]), shape[2])

    def forward(self, V):
        """`max_pool`."""
        return max_pool(V, self.size, stride=self.stride)

    def backward(self, G, V):
        """`max_pool_backward`."""
        return (max_pool_backward(G, V, self.size, stride=self.stride),)


@dataclass(frozen=True)
class Dense(Layer):
    """A fully connected layer: see `dense`. It flattens its input.

    >>> [prod(shape) for shape in Dense(10).parameter_shapes((32, 32, 3))]
    [30720, 10]
    """

    units: int  # K

    def output_shape(self, shape):
        """(1, 1, K)."""
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


# --- Networks --------------------------------------------------------------------------


def typical_layers(per_block, filters, units, classes=None, *, size=3, padding=None, pool=2):
    """Blocks of (CONV-RELU) ... POOL, then (FC-RELU) ..., then the scores: a tuple of layers.

    A block has `per_block` convolutions. There is a block for each number of `filters`, a hidden
    layer for each number of `units`. `classes` is the number of scores, `pool` the side of the
    pools; None leaves them out. By default, `padding` keeps the maps' size if `size` is odd.

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
    """The list of the shapes of the input and of the output of every layer.

    >>> propagate((Conv(6, 5), Relu(), Conv(10, 5)), (32, 32, 3))
    [(32, 32, 3), (28, 28, 6), (28, 28, 6), (24, 24, 10)]
    """
    shapes = [tuple(shape)]
    for layer in layers:
        shapes.append(layer.output_shape(shapes[-1]))
    return shapes


def receptive_field(layers):
    """1 + sum_l (F_l - 1) S_1 ... S_{l-1} over layers with windows: the side that an output sees.

    >>> receptive_field([Conv(8, 3), Conv(8, 3), Conv(8, 3)]), receptive_field([Conv(8, 7)])
    (7, 7)
    """
    r, J = 1, 1  # of the input
    for layer in layers:
        if isinstance(layer, Conv | MaxPool):
            r = r + (layer.size - 1) * J
            J = J * layer.stride
    return r


def describe(layers, shape):
    """A table of the network: every layer, the shape of its output, its number of parameters.

    >>> print(describe((Conv(10, 5, padding=2),), (32, 32, 3)))
    input                                             32 x 32 x 3           0
    Conv(filters=10, size=5, stride=1, padding=2)    32 x 32 x 10         760
    together                                                              760
    """
    shapes = propagate(layers, shape)
    rows = [("input", shapes[0], 0)]
    for layer, before, after in zip(layers, shapes[:-1], shapes[1:], strict=True):
        p = sum(prod(each) for each in layer.parameter_shapes(before))
        rows.append((repr(layer), after, p))
    lines = [f"{name:45s}{' x '.join(map(str, s)):>16s}{p:12,d}" for name, s, p in rows]
    return "\n".join([*lines, f"{'together':61s}{sum(p for *_, p in rows):12,d}"])


def initial_parameters(layers, shape, *, rng):
    """Biases 0 and normal weights of variance 2 / (inputs of the neuron), as ReLUs need: `params`.

    >>> (A, b), = initial_parameters((Dense(10),), (32, 32, 3), rng=np.random.default_rng(0))
    >>> A.shape, bool(b.any()), [round(float(v), 5) for v in (A.var(), 2 / 3072)]
    ((10, 3072), False, [0.00065, 0.00065])
    """
    params = []
    for layer, before in zip(layers, propagate(layers, shape)[:-1], strict=True):
        if sizes := layer.parameter_shapes(before):
            (K, *inputs), _ = sizes
            W = rng.normal(scale=np.sqrt(2 / prod(inputs)), size=(K, *inputs))
            params.append((W, np.zeros(K)))
        else:
            params.append(())
    return params


def cnn_forward(params, layers, V):
    """The list of the input V and of the output of every layer; the last holds the scores.

    >>> params = [(), (np.array([[3.0]]), np.array([0.5]))]
    >>> [Y.item() for Y in cnn_forward(params, (Relu(), Dense(1)), np.full((1, 1, 1, 1), -1.0))]
    [-1.0, 0.0, 0.5]
    """
    volumes = [V]
    for number in range(len(layers)):
        volumes.append(layers[number].forward(volumes[number], *params[number]))
    return volumes


def loss_and_gradient(params, layers, V, T):
    """L, the mean of -log softmax(f) at the classes of the n images, and its gradient in `params`.

    >>> params = [(np.zeros((2, 1)), np.zeros(2))]
    >>> loss_and_gradient(params, (Dense(2),), np.ones((1, 1, 1, 1)), np.array([[1, 0]]))
    (0.6931471805599453, [(array([[-0.5],
           [ 0.5]]), array([-0.5,  0.5]))])
    """
    volumes = cnn_forward(params, layers, V)
    f = volumes[-1].reshape(T.shape)  # the scores, (n, C)
    L = np.mean(softmax_cross_entropy(f, T))
    G = ((softmax(f) - T) / len(T)).reshape(volumes[-1].shape)
    gradient = [()] * len(layers)
    for number in reversed(range(len(layers))):
        G, *slopes = layers[number].backward(G, volumes[number], *params[number])
        gradient[number] = tuple(slopes)
    return float(L), gradient


# =======================================================================================
# The estimators
# =======================================================================================

SMALL = (Conv(16, 3, padding=1), Relu(), Dense(32), Relu())  # for images of any size


@dataclass(eq=False, repr=False)
class ConvNet(Trainer, SoftmaxClassifier):
    """Convolutional network for images of one size: the given layers, a score per class, softmax.

    It minimises the mean cross-entropy by mini-batches. An image is a row of X: ``image.ravel()``
    of an array (height, width) or (height, width, depth). Scale pixels to a size of about 1.

    Parameters
    ----------
    Those of `Trainer`, with batch_size 32.
    layers : tuple of Layer, as `typical_layers` makes it; a layer of scores is added
    image_shape : (height, width), (height, width, depth), or None for a square or else a single row

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    image_shape_ : tuple; (height, width, depth) of a sample
    layers_ : tuple of Layer; with the layer of scores
    params_ : list; for every layer the tuple (W, b), or () if it has none
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
        shape = _check_image_shape(self.image_shape, samples.shape[1])
        layers = (*_check_layers(self.layers), Dense(len(classes)))
        V, T = samples.reshape(-1, *shape), one_hot(y, classes)
        start = initial_parameters(layers, shape, rng=rng)

        def cost(params, rows):
            return loss_and_gradient(params, layers, V[rows], T[rows])

        run, _ = self._train(self._passes(cost, start, len(V), rng))
        self.classes_, self.image_shape_, self.layers_ = classes, shape, layers
        self.params_ = run.state.theta
        self._report(run)
        return self._remember(X)

    def _scores(self, X):
        """The scores (n, C), computed for a block of images at a time."""
        X, shape = self._check_fitted(X), self.image_shape_

        def scores(X):
            return cnn_forward(self.params_, self.layers_, X.reshape(-1, *shape))[-1][:, 0, 0]

        return by_rows(scores)(X)


def _check_layers(layers):
    """The layers, whose sizes must be positive integers."""
    if not (isinstance(layers, tuple | list) and all(isinstance(each, Layer) for each in layers)):
        raise ValueError(f"layers must be a tuple such as (Conv(6, 5), Relu()); got {layers!r}")
    for layer in layers:
        sizes = vars(layer).items() if isinstance(layer, Conv | MaxPool | Dense) else ()
        for name, value in sizes:
            check_number(name, value, at_least=int(name != "padding"), integer=True)
    return layers


def _check_image_shape(image_shape, d):
    """(height, width, depth) of a row of d numbers."""
    if image_shape is None:
        side = isqrt(d)
        return (side, side, 1) if side**2 == d else (1, d, 1)
    shape = image_shape if isinstance(image_shape, tuple | list) else ()
    for N in shape:
        check_number("image_shape", N, at_least=1, integer=True)
    if len(shape) not in (2, 3) or prod(shape) != d:
        raise ValueError(
            "image_shape must be None, (height, width) or (height, width, depth) of product "
            f"{d}, the number of features; got {image_shape!r}"
        )
    return (*shape, 1)[:3]
