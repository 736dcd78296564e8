"""Neural networks: layers of linear maps and activations, trained by the chain rule.

Layers of neurons represent functions that no linear classifier can, such as XOR. The notes state
the chain rule for their gradient by indices and as a product of Jacobians. Both forms are given
here, and so is the matrix form for many samples at once that training uses.

Contents
    The neuron            Activation, HardLimiter, Logistic, Tanh, ReLU, Identity, Softmax, RELU,
                          LOGISTIC, TANH, IDENTITY, SOFTMAX, ACTIVATIONS, neuron
    A layer               scores, homogeneous
    Losses                cross_entropy, softmax_cross_entropy, Loss, SquaredError, CrossEntropy,
                          BinaryCrossEntropy, SQUARED_ERROR, CROSS_ENTROPY, BINARY_CROSS_ENTROPY,
                          one_hot
    The network           Network, network, n_parameters, is_deep, pack, unpack, forward,
                          output_loss, risk
    Jacobians             mult_jacobian, softmax_jacobian, jacobian_rows, jacobian_gradient
    Backpropagation       deltas, delta_gradient, backpropagate, Objective
    Starting points       normal_start, glorot_start
    Descent               descend, mini_batches, Pass, passes, sgd, adam
    Training              patient, keep_best, within_range, hidden_widths, Trainer
    Estimators            MLPClassifier, MLPRegressor

Symbols
    X       (n, d)           samples x, one per row
    Y       (n, o)           targets y (o,), one per row; for classes, the rows of `one_hot`
    l       int              number of layers of weights; layer 0 is the input, h_0 = x
    sizes   (l + 1,)         widths (d_0, ..., d_l): d_0 = d inputs, d_l = o outputs
    W, b    (d_j, d_{j-1})   weights of layer j: W[k, i] leads from unit i of layer j - 1 to unit
            and (d_j,)       k of layer j; its biases; `layers` is the list of all (W_j, b_j)
    theta   (p,)             all parameters in one vector: W_1 row by row, b_1, W_2, ...
    a, h    (d_j,)           net input a_j = W_j h_{j-1} + b_j and output h_j = sigma_j(a_j);
                             A and H (n, d_j) hold those of n samples
    delta   (d_j,)           dL/da_j; Delta (n, d_j) holds those of n samples, divided by n
    L, J    float            loss of one sample; mean loss of the samples plus the penalty
    D       matrix           a Jacobian: D_sigma, D_mult, D_L
    alpha   float            strength of the penalty alpha / (2 n) sum_j ||W_j||^2
    net     Network          widths, activations and loss: everything except theta
    s       (C,)             the C probabilities of a softmax
    eta     float            learning rate; `learning_rate` in the stochastic algorithms
    rows    (m,)             indices of the samples of a mini-batch
    rng     Generator        draws starting points, and the order of the samples in every pass

Notes: MLN "Neural Network Models", "Backpropagation Algorithm"; IRHD 5.1 to 5.3; ISML "Deep
Learning". MLN counts the input as layer 1 and writes eta for our a, y^l for our h_{l-1}, d for
our y, and w_ij for the weight from unit i to unit j, so that its matrix is the transpose of our
W. IRHD's step size is alpha, its W_j has n_j rows and m_j columns (our d_j and d_{j-1}), its
Jacobians are J, and biases appear in a footnote only.
"""

from collections import deque
from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    LARGEST,
    Classifier,
    Estimator,
    Regressor,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    check_weights,
    iterate,
)
from mlnotes.estimation import kronecker
from mlnotes.logistic_regression import log_loss, sigmoid, softmax
from mlnotes.model_selection import train_test_split
from mlnotes.optimization import gradient_descent
from mlnotes.probability import log_sum_exp, x_log_y

DEEP = 3  # a network with more layers of weights than this is called deep


# ---------------------------------------------------------------------------------------
# The neuron
# ---------------------------------------------------------------------------------------


class Activation:
    """A function h = f(a) that every unit of a layer applies to its own net input.

    Its derivative is written as a function of the output h, which the forward pass has stored:

        hard limiter    1[a > tau]              0 (where it exists)
        logistic        1 / (1 + e^{-b a})      b h (1 - h)
        tanh            a0 tanh(b a)            b (a0 - h^2 / a0)
        ReLU            max(0, a)               1[h > 0] = 1[a > 0]
        identity        a                       1

    >>> RELU.f(np.array([-2.0, 3.0])), RELU.slope(np.array([0.0, 3.0]))
    (array([0., 3.]), array([0., 1.]))
    """

    def f(self, a):
        """The outputs h, of the shape of the net inputs a."""
        raise NotImplementedError

    def slope(self, h):
        """f'(a) at the a with f(a) = h."""
        raise NotImplementedError

    def jacobian(self, h):
        """D_sigma(a) = diag(f'(a_1), ..., f'(a_m)) of a layer with outputs h (m,)."""
        return np.diag(self.slope(h))

    def pull(self, H, G):
        """dL/da = D_sigma(a)^T g of every sample, from its h and its g = dL/dh in the rows."""
        return self.slope(H) * G


@dataclass(frozen=True)
class HardLimiter(Activation):
    """1[a > tau], the activation of the perceptron: 0 at a = tau, with slope 0 elsewhere.

    >>> HardLimiter(tau=1.0).f(np.array([0.0, 1.0, 2.0]))
    array([0., 0., 1.])
    """

    tau: float = 0.0
    name = "hard limiter"

    def f(self, a):
        """1[a > tau]."""
        return np.where(a > self.tau, 1.0, 0.0)

    def slope(self, h):
        """0."""
        return np.zeros_like(h)


@dataclass(frozen=True)
class Logistic(Activation):
    """1 / (1 + e^{-b a}), with steepness b > 0.

    >>> Logistic().f(np.array([0.0, -1000.0]))
    array([0.5, 0. ])

    Errata: neural_networks-03 (MLN announces parameters a, b > 0, but its formula has no a).
    """

    b: float = 1.0
    name = "logistic"

    def __post_init__(self):
        """Check the steepness."""
        check_number("b", self.b, above=0, below=np.inf)

    def f(self, a):
        """sigma(b a)."""
        return sigmoid(self.b * a)

    def slope(self, h):
        """b h (1 - h)."""
        return self.b * h * (1 - h)


@dataclass(frozen=True)
class Tanh(Activation):
    """a0 tanh(b a) = 2 a0 sigma(2 b a) - a0, with amplitude a0 > 0 and steepness b > 0.

    >>> Tanh(a0=2.0).f(np.array([0.0, 1000.0]))
    array([0., 2.])
    """

    a0: float = 1.0
    b: float = 1.0
    name = "tanh"

    def __post_init__(self):
        """Check the amplitude and the steepness."""
        check_number("a0", self.a0, above=0, below=np.inf)
        check_number("b", self.b, above=0, below=np.inf)

    def f(self, a):
        """a0 tanh(b a)."""
        return self.a0 * np.tanh(self.b * a)

    def slope(self, h):
        """b (a0 - h^2 / a0)."""
        return self.b * (self.a0 - h**2 / self.a0)


@dataclass(frozen=True)
class ReLU(Activation):
    """max(0, a), the rectified linear unit.

    >>> ReLU().f(np.array([-5.0, 5.0]))
    array([0., 5.])
    """

    name = "relu"

    def f(self, a):
        """max(0, a)."""
        return np.maximum(a, 0.0)

    def slope(self, h):
        """1[h > 0]."""
        return (h > 0).astype(np.float64)


@dataclass(frozen=True)
class Identity(Activation):
    """f(a) = a, the activation of Adaline and of an output layer for regression.

    >>> Identity().f(np.array([-5.0, 5.0]))
    array([-5.,  5.])
    """

    name = "identity"

    def f(self, a):
        """A copy of a."""
        return np.array(a)

    def slope(self, h):
        """1."""
        return np.ones_like(h)


@dataclass(frozen=True)
class Softmax(Activation):
    """s_c = exp(a_c) / sum_k exp(a_k), `logistic_regression.softmax`: C outputs that sum to 1.

    >>> Softmax().f(np.array([[1000.0, 0.0]]))
    array([[1., 0.]])

    Errata: neural_networks-27 (IRHD 5.4 and 5.7 take all Jacobians as diagonal; this one is not).
    """

    name = "softmax"

    def f(self, a):
        """The softmax of every row of a (n, C)."""
        return softmax(a)

    def jacobian(self, h):
        """diag(h) - h h^T."""
        return softmax_jacobian(h)

    def pull(self, H, G):
        """h * (g - h^T g) in every row."""
        return H * (G - np.sum(H * G, axis=1, keepdims=True))


RELU, LOGISTIC, TANH, IDENTITY, SOFTMAX = ReLU(), Logistic(), Tanh(), Identity(), Softmax()
ACTIVATIONS = {each.name: each for each in (IDENTITY, LOGISTIC, TANH, RELU)}  # for hidden layers


def neuron(X, w, b, activation):
    """y = f(a), the `activation` of the net input a = w^T x + b, with `w` (d,) and bias `b`.

    Returns: (n,).

    >>> neuron(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0]), -1.5, HardLimiter())
    array([1., 0.])
    """
    return activation.f(X @ w + b)


# ---------------------------------------------------------------------------------------
# A layer
# ---------------------------------------------------------------------------------------


def scores(X, W, b):
    """a = W x + b of every sample: C linear scores, or the net inputs of a layer.

    Row w_k of W is a template, and w_k^T x + b_k measures how well x fits it.

    Returns: (n, C). Raises: ValueError if b does not hold a number for every output.

    >>> scores(np.array([[1.0, 2.0]]), W=np.array([[3.0, 4.0], [0.0, 1.0]]), b=np.array([0.5, 0.0]))
    array([[11.5,  2. ]])

    Errata: neural_networks-05 (ISML prints the scores as W x, without b).
    """
    if np.shape(b) != (len(W),):
        raise ValueError(f"b must have shape ({len(W)},), a number per output; got {np.shape(b)}")
    return X @ W.T + b


def homogeneous(layers):
    """The layers without biases, for inputs (1, x):

        layer l: (b, W),    the layers before it: [[1, 0], [b, W]]

    Each layer before the last hands on the 1. This needs f(1) = 1, as for ReLU and the identity.

    Returns: the list of l matrices.

    >>> layers = [(np.array([[2.0]]), np.array([3.0])), (np.array([[4.0]]), np.array([5.0]))]
    >>> [V.tolist() for V in homogeneous(layers)]
    [[[1.0, 0.0], [3.0, 2.0]], [[5.0, 4.0]]]
    """
    rows = [np.column_stack([b, W]) for W, b in layers]
    return [np.vstack([np.eye(1, V.shape[1]), V]) for V in rows[:-1]] + rows[-1:]


# ---------------------------------------------------------------------------------------
# Losses
# ---------------------------------------------------------------------------------------


def cross_entropy(P, Q):
    """H(P, Q) = -sum_c p_c log q_c = H(P) + KL(P || Q) >= H(P), with equality iff Q = P.

    For P = e_c it is -log q_c. 0 log 0 counts as 0. P and Q (..., C) hold distributions in rows.

    Returns: (...,).

    >>> cross_entropy(np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3)  # log 2
    array([0.693, 0.693])
    """
    return -np.sum(x_log_y(P, Q), axis=-1)


def softmax_cross_entropy(A, Y):
    """L = -log s_c, the cross-entropy of y = e_c and s = softmax(a), from the net inputs A (n, C):

        L = log sum_k exp(a_k) - y^T a,    dL/da = s - y .

    Returns: (n,).

    >>> softmax_cross_entropy(np.array([[0.0, 0.0], [0.0, -99.0]]), np.eye(2)).round(2)
    array([ 0.69, 99.  ])

    Errata: neural_networks-30 (IRHD 5.18 has the number y_c for the vector e_c, and 5.19 a product
    with the label where the component f(x_i)_{c_i} is meant).
    """
    A = A - A.max(axis=1, keepdims=True)  # as y sums to 1, a shift of all a_k changes nothing
    return np.log(np.exp(A).sum(axis=1)) - np.sum(Y * A, axis=1)


class Loss:
    """A loss L(h, y) of the output h of a network, for every sample.

    Each loss has a matching `output` activation, for which delta_l = dL/da_l is simply h - y.

    >>> SQUARED_ERROR.of_output(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]))
    array([2.])
    """

    name: str
    output: Activation  # the matching one
    domain: tuple = ()  # names of the output activations that the loss accepts; () for all

    def of_output(self, H, Y):
        """L (n,), from the outputs H and the targets Y (n, o)."""
        raise NotImplementedError

    def slope(self, H, Y):
        """dL/dh (n, o)."""
        raise NotImplementedError

    def of_scores(self, A, Y):
        """L (n,) through the matching activation, from the net inputs A (n, o) of the outputs."""
        return self.of_output(self.output.f(A), Y)


class SquaredError(Loss):
    """L = 1/2 ||h - y||^2, as in MLN. IRHD has no 1/2, so that its gradient is twice as long.

    >>> SquaredError().slope(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]))
    array([[2., 0.]])
    """

    name, output = "squared error", IDENTITY

    def of_output(self, H, Y):
        """1/2 ||h - y||^2."""
        return np.sum((H - Y) ** 2, axis=-1) / 2

    def slope(self, H, Y):
        """h - y."""
        return H - Y


class CrossEntropy(Loss):
    """L = -sum_c y_c log h_c, for softmax outputs.

    >>> CrossEntropy().of_output(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])).round(3)
    array([0.693])
    """

    name, output, domain = "cross-entropy", SOFTMAX, ("softmax",)

    def of_output(self, H, Y):
        """-sum_c y_c log h_c."""
        return cross_entropy(Y, H)

    def slope(self, H, Y):
        """-y_c / h_c."""
        return -_ratio(Y, H)

    def of_scores(self, A, Y):
        """`softmax_cross_entropy`, finite for scores of any size."""
        return softmax_cross_entropy(A, Y)


class BinaryCrossEntropy(Loss):
    """L = -y log h - (1 - y) log(1 - h), summed over logistic outputs.

    >>> BinaryCrossEntropy().of_output(np.array([[0.5]]), np.array([[1.0]])).round(3)
    array([0.693])
    """

    name, output, domain = "binary cross-entropy", LOGISTIC, ("logistic",)

    def of_output(self, H, Y):
        """-sum (y log h + (1 - y) log(1 - h))."""
        return cross_entropy(Y, H) + cross_entropy(1 - Y, 1 - H)

    def slope(self, H, Y):
        """(1 - y) / (1 - h) - y / h."""
        return _ratio(1 - Y, 1 - H) - _ratio(Y, H)

    def of_scores(self, A, Y):
        """sum log(1 + exp(-a)) where y = 1 and sum log(1 + exp(a)) where y = 0."""
        return np.sum(log_loss((2 * Y - 1) * A), axis=1)


def _ratio(Y, H):
    """y / h, and 0 where y = 0: a class without probability adds nothing to the loss."""
    return np.divide(Y, H, out=np.zeros(np.shape(H)), where=np.asarray(Y) != 0)


SQUARED_ERROR, CROSS_ENTROPY = SquaredError(), CrossEntropy()
BINARY_CROSS_ENTROPY = BinaryCrossEntropy()


def one_hot(y, classes):
    """Class c as the unit vector e_c: column k is 1 where y is the k-th of the `classes` (C,).

    Returns: (n, C). Raises: ValueError if y is not (n,), or a label is not one of `classes`.

    >>> one_hot(np.array(["b", "a"]), ["a", "b"])
    array([[0., 1.],
           [1., 0.]])
    """
    y, classes = np.asarray(y), np.asarray(classes)
    if y.ndim != 1:
        raise ValueError(f"y must have shape (n,); got {y.shape}")
    Y = y[:, None] == classes
    unknown = y[Y.sum(axis=1) != 1].tolist()
    if unknown:
        raise ValueError(f"y must hold one of the classes {classes}; got {unknown[0]!r}")
    return Y.astype(np.float64)


# ---------------------------------------------------------------------------------------
# The network
# ---------------------------------------------------------------------------------------


class Network(NamedTuple):
    """A class of functions: widths, activations and loss; theta chooses one function of it."""

    sizes: tuple  # (d_0, ..., d_l)
    activations: tuple  # (sigma_1, ..., sigma_l)
    loss: Loss


def network(sizes, hidden=RELU, loss=SQUARED_ERROR, output=None):
    """A `Network` with one activation for all `hidden` layers and one for the `output` layer.

    If `output` is None, the loss's matching activation is taken.

    Raises: ValueError if the widths are not integers >= 1, or the loss does not accept the output.

    >>> net = network((2, 5, 3), hidden=TANH, loss=CROSS_ENTROPY)
    >>> [activation.name for activation in net.activations]
    ['tanh', 'softmax']
    """
    output, sizes = loss.output if output is None else output, tuple(sizes)
    if len(sizes) < 2 or not all(isinstance(m, Integral) and m >= 1 for m in sizes):
        raise ValueError(f"sizes must be 2 integers >= 1 or more; got {sizes}")
    if loss.domain and output.name not in loss.domain:
        raise ValueError(f"the {loss.name} must have {loss.domain[0]} outputs; got {output.name}")
    if isinstance(output, Softmax) and sizes[-1] < 2:
        raise ValueError(f"a softmax must have 2 outputs or more; got {sizes[-1]}")
    if isinstance(hidden, Softmax) and len(sizes) > 2:
        raise ValueError("hidden activations must be component by component; got softmax")
    return Network(sizes, (hidden,) * (len(sizes) - 2) + (output,), loss)


def n_parameters(sizes):
    """p = sum_j d_j (d_{j-1} + 1): the weights and the biases.

    >>> n_parameters((32 * 32 * 3, 10))
    30730
    """
    return sum(m * (k + 1) for k, m in zip(sizes[:-1], sizes[1:], strict=True))


def is_deep(net):
    """Whether the network has more than three layers of weights.

    >>> is_deep(network((2, 9, 9, 1))), is_deep(network((2, 9, 9, 9, 1)))
    (False, True)
    """
    return len(net.activations) > DEEP


def pack(layers):
    """theta of a list of (W_j, b_j): each W row by row, as IRHD's pi, followed by its b.

    >>> pack([(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))])
    array([1., 2., 3., 4., 5., 6.])
    """
    return np.concatenate([part.ravel() for layer in layers for part in layer])


def unpack(theta, sizes):
    """The list of (W_j, b_j) that theta holds, as views of theta.

    Raises: ValueError if theta does not have `n_parameters` entries.

    >>> unpack(np.arange(6.0), (2, 2))
    [(array([[0., 1.],
           [2., 3.]]), array([4., 5.]))]
    """
    p = n_parameters(sizes)
    if len(theta) != p:
        raise ValueError(f"theta must hold {p} parameters for the widths {sizes}; got {len(theta)}")
    layers, start = [], 0
    for k, m in zip(sizes[:-1], sizes[1:], strict=True):
        W, b = theta[start : start + m * k], theta[start + m * k : start + m * k + m]
        layers.append((W.reshape(m, k), b))
        start = start + m * k + m
    return layers


def forward(layers, activations, X):
    """h_0 = x,  h_j = sigma_j(W_j h_{j-1} + b_j):  the outputs of all layers, up to f(x) = h_l,

        f = sigma_l o phi_l o ... o sigma_1 o phi_1,   phi_j(h) = W_j h + b_j .

    `activations` holds the l functions sigma_j. If all were linear, f would be a linear map.

    Returns: the list of H_0 = X, ..., H_l, of shapes (n, d_j).

    >>> xor = [(np.ones((2, 2)), np.array([0.0, -1.0])), (np.array([[1.0, -2.0]]), np.zeros(1))]
    >>> forward(xor, [RELU, IDENTITY], np.array([[0.0, 1.0], [1.0, 1.0]]))[-1].ravel()
    array([1., 0.])
    """
    H = [X]
    for (W, b), sigma in zip(layers, activations, strict=True):
        H.append(sigma.f(scores(H[-1], W, b)))
    return H


def output_loss(net, A, Y):
    """L and delta_l = dL/da_l of every sample, from the net inputs A (n, o) of the last layer.

    If the output activation matches the loss, delta_l = h_l - y, and L stays finite where h_l
    rounds to 0 or 1. Otherwise delta_l = D_sigma(a_l)^T dL/dh_l.

    Returns: L (n,) and delta_l (n, o). Raises: ValueError if Y is not of shape (n, o).

    >>> output_loss(network((1, 1)), np.array([[3.0]]), np.array([[1.0]]))
    (array([2.]), array([[2.]]))
    """
    if Y is not None and np.shape(Y) != A.shape:
        raise ValueError(f"Y must have the shape of the outputs, {A.shape}; got {np.shape(Y)}")
    loss, sigma = net.loss, net.activations[-1]
    H = sigma.f(A)
    if sigma == loss.output:
        return loss.of_scores(A, Y), H - Y
    return loss.of_output(H, Y), sigma.pull(H, loss.slope(H, Y))


def risk(net, theta, X, Y, *, alpha=0.0, weights=None):
    """J(theta) = (1/n) sum_i L(f(x_i), y_i) + alpha / (2 n) sum_j ||W_j||^2.

    With `weights` (n,) the mean is weighted, and n is their sum. A loss may take Y = None.

    Raises: ValueError if Y is not of shape (n, o).

    >>> risk(network((1, 1)), np.array([2.0, 0.0]), np.array([[1.0], [3.0]]), np.zeros((2, 1)))
    10.0
    """
    layers, sigma = unpack(theta, net.sizes), net.activations
    weights = np.ones(len(X)) if weights is None else weights
    H = forward(layers[:-1], sigma[:-1], X)
    L, _ = output_loss(net, scores(H[-1], *layers[-1]), Y)
    J = (weights @ L + alpha / 2 * sum(np.vdot(W, W) for W, b in layers)) / weights.sum()
    return float(J)


# ---------------------------------------------------------------------------------------
# Jacobians
# ---------------------------------------------------------------------------------------


def mult_jacobian(x, m):
    """D_mult(x) = I_m (x) x^T of the map W -> W x, where W (m, d) is read row by row.

    Returns: (m, m d), for `x` (d,) and `m` rows of W.

    >>> mult_jacobian(np.array([5.0, 6.0]), m=2)
    array([[5., 6., 0., 0.],
           [0., 0., 5., 6.]])
    """
    return kronecker(np.eye(m), x[None])


def softmax_jacobian(s):
    """D = diag(s) - s s^T of the softmax, at the net inputs a whose softmax is s (C,).

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    return np.diag(s) - np.outer(s, s)


def jacobian_rows(net, theta, x, y, j):
    """dL/dW_j and dL/db_j of the loss L of one sample, as IRHD's product of Jacobians:

        dL/dW_j = D_L(h_l) D_sigma_l(a_l) W_l D_sigma_{l-1}(a_{l-1}) W_{l-1} ...
                  W_{j+1} D_sigma_j(a_j) D_mult(h_{j-1}),

    and dL/db_j is the same product without its last factor. `j` is 1, ..., l.

    Returns: the rows of length d_j d_{j-1} and d_j. Raises: ValueError if there is no layer j.

    >>> jacobian_rows(network((1, 1)), np.array([2.0, 0.0]), np.array([3.0]), np.zeros(1), j=1)
    (array([18.]), array([6.]))

    Errata: neural_networks-20 (after J_sigma_{l-1} IRHD prints an undefined "J_{l-1}" for W_{l-1}).
    """
    layers, sigma = unpack(theta, net.sizes), net.activations
    if not 1 <= j <= len(layers):
        raise ValueError(f"j must be between 1 and l = {len(layers)}; got {j}")
    h = [H[0] for H in forward(layers, sigma, x[None])]
    row = net.loss.slope(h[-1], y) @ sigma[-1].jacobian(h[-1])
    for k in range(len(layers) - 1, j - 1, -1):
        row = row @ layers[k][0] @ sigma[k - 1].jacobian(h[k])
    return row @ mult_jacobian(h[j - 1], len(row)), row


def jacobian_gradient(net, theta, x, y):
    """The gradient of the loss of one sample, (p,), assembled from `jacobian_rows`.

    >>> jacobian_gradient(network((1, 1)), np.array([2.0, 0.0]), np.array([3.0]), np.zeros(1))
    array([18.,  6.])
    """
    l = len(net.activations)  # noqa: E741
    return pack([jacobian_rows(net, theta, x, y, j) for j in range(1, l + 1)])


# ---------------------------------------------------------------------------------------
# Backpropagation
# ---------------------------------------------------------------------------------------


def deltas(net, theta, x, y):
    """delta_j = dL/da_j of one sample, unit by unit from the output back, as in MLN:

        delta_i of layer l  =  sum_k dL/dh_k dh_k/da_i   ( = (h_i - y_i) f'(a_i), squared loss )
        delta_i of layer j  =  ( sum_k delta_k of layer j+1  times  w_{k i} )  f'(a_i)

    Returns: the list of delta_1, ..., delta_l, and the list of h_0, ..., h_l.

    >>> deltas(network((1, 1, 1)), np.array([2.0, 0.0, 3.0, 0.0]), np.ones(1), np.zeros(1))[0]
    [array([18.]), array([6.])]

    Errata: neural_networks-22 (MLN prints the first formula for any layer).
    """
    layers, sigma = unpack(theta, net.sizes), net.activations
    h = [H[0] for H in forward(layers, sigma, x[None])]
    slope, D = net.loss.slope(h[-1], y), sigma[-1].jacobian(h[-1])
    units = range(net.sizes[-1])
    found = [np.array([sum(slope[k] * D[k, i] for k in units) for i in units])]
    for j in range(len(layers) - 1, 0, -1):
        W, slope, above = layers[j][0], sigma[j - 1].slope(h[j]), found[0]
        units = range(net.sizes[j])
        delta = [sum(above[k] * W[k, i] for k in range(len(above))) * slope[i] for i in units]
        found.insert(0, np.array(delta))
    return found, h


def delta_gradient(net, theta, x, y):
    """The gradient of the loss of one sample, (p,), from its `deltas`:

        dL/dw_{k i} = delta_k of layer j  times  h_i of layer j-1,    dL/db_k = delta_k .

    >>> delta_gradient(network((1, 1)), np.array([2.0, 0.0]), np.array([3.0]), np.zeros(1))
    array([18.,  6.])
    """
    found, h = deltas(net, theta, x, y)
    return pack([(np.outer(delta, h[j]), delta) for j, delta in enumerate(found)])


def backpropagate(net, theta, X, Y, *, alpha=0.0, weights=None):
    """J and its gradient, for all samples at once: forward, then back through the layers.

        Delta_l = (H_l - Y) / n                    (or dL/dA_l / n for another output activation)
        Delta_j = (Delta_{j+1} W_{j+1}) * sigma_j'(A_j),    j = l - 1, ..., 1
        dJ/dW_j = Delta_j^T H_{j-1} + alpha / n W_j,    dJ/db_j = sum of the rows of Delta_j

    For `weights` see `risk`.

    Returns: J, and its gradient (p,).

    >>> X, Y = np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 1))
    >>> backpropagate(network((2, 1)), np.array([1.0, 1.0, 0.0]), X, Y)
    (12.25, array([10.5, 14. ,  3.5]))
    """
    layers, sigma = unpack(theta, net.sizes), net.activations
    weights = np.ones(len(X)) if weights is None else weights
    n = weights.sum()

    H = forward(layers[:-1], sigma[:-1], X)  # forward: H_0, ..., H_{l-1}
    A = scores(H[-1], *layers[-1])  # net inputs of the output layer
    L, delta = output_loss(net, A, Y)
    J = (weights @ L + alpha / 2 * sum(np.vdot(W, W) for W, b in layers)) / n

    Delta = delta * (weights / n)[:, None]  # back: Delta_l, ..., Delta_1
    gradient = []
    for j in range(len(layers), 0, -1):
        W, b = layers[j - 1]  # W_j and b_j: a list counts from 0
        gradient.insert(0, (Delta.T @ H[j - 1] + alpha / n * W, Delta.sum(axis=0)))
        if j > 1:
            Delta = (Delta @ W) * sigma[j - 2].slope(H[j - 1])  # Delta_{j-1}
    return float(J), pack(gradient)


class Objective(NamedTuple):
    """J and its gradient on mini-batches: the loss_and_gradient of `sgd` and `adam`.

    J is the mean over the mini-batch, and its size is the n of the penalty.

    >>> f = Objective(network((1, 1)), np.array([[1.0], [3.0]]), np.zeros((2, 1)))
    >>> f(np.array([2.0, 0.0]), rows=np.array([1]))
    (18.0, array([18.,  6.]))
    """

    net: Network
    X: np.ndarray  # (n, d)
    Y: np.ndarray  # (n, o)
    alpha: float = 0.0
    weights: np.ndarray | None = None  # (n,)

    def __call__(self, theta, rows):
        """J and its gradient (p,) on the samples `rows`; 0 if all of their weights are 0."""
        net, X, Y, alpha, weights = self.part(rows)
        if weights is not None and not weights.any():
            return 0.0, np.zeros(len(theta))
        return backpropagate(net, theta, X, Y, alpha=alpha, weights=weights)

    def part(self, rows):
        """The objective of the samples `rows` alone."""
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], Y=self.Y[rows], weights=weights)


# ---------------------------------------------------------------------------------------
# Starting points
# ---------------------------------------------------------------------------------------


def normal_start(sizes, *, sigma=1.0, rng):
    """theta with normal weights of standard deviation `sigma`, and biases 0.

    Units of a layer that started with equal weights would get equal gradients forever.

    >>> normal_start((3, 1), rng=np.random.default_rng(0)).round(2)
    array([ 0.13, -0.13,  0.64,  0.  ])
    """
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:], strict=True):
        layers.append((sigma * rng.normal(size=(outputs, inputs)), np.zeros(outputs)))
    return pack(layers)


def glorot_start(sizes, *, factor=6.0, rng):
    """theta uniform between -M and M, M = sqrt(factor / (d_{j-1} + d_j)) in layer j, biases too.

    This keeps the size of the outputs and of the deltas from layer to layer. As in scikit-learn,
    training starts here, with `factor` 2 for logistic units.

    >>> glorot_start((3, 3), rng=np.random.default_rng(0))[:3].round(2)  # M = 1
    array([ 0.27, -0.46, -0.92])
    """
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:], strict=True):
        M = np.sqrt(factor / (inputs + outputs))
        W = rng.uniform(-M, M, size=(outputs, inputs))
        layers.append((W, rng.uniform(-M, M, size=outputs)))
    return pack(layers)


# ---------------------------------------------------------------------------------------
# Descent
# ---------------------------------------------------------------------------------------


def descend(net, theta, X, Y, *, eta=None, alpha=0.0):
    """Gradient descent on all samples: theta <- theta - eta dJ/dtheta.

    If eta is None, `optimization.gradient_descent` finds the length of each step.

    Yields: the start, then an `optimization.DescentState` per step, whose x is theta.

    >>> states = descend(network((1, 1)), np.zeros(2), np.eye(1), np.array([[4.0]]), eta=0.5)
    >>> [next(states).x.tolist() for _ in range(2)]
    [[0.0, 0.0], [2.0, 2.0]]
    """
    return gradient_descent(
        lambda theta: risk(net, theta, X, Y, alpha=alpha),
        lambda theta: backpropagate(net, theta, X, Y, alpha=alpha)[1],
        theta,
        eta=eta,
    )


def mini_batches(n, batch_size, rng):
    """One pass over n samples in mini-batches, in random order; in their own order for rng = None.

    Yields: the index arrays, each of `batch_size` indices; the last may have fewer.
    Raises: ValueError if `batch_size` is not an integer >= 1.

    >>> [rows.tolist() for rows in mini_batches(5, 2, None)]
    [[0, 1], [2, 3], [4]]
    """
    check_number("batch_size", batch_size, at_least=1, integer=True)
    order = np.arange(n) if rng is None else rng.permutation(n)
    for start in range(0, n, batch_size):
        yield order[start : start + batch_size]


class Pass(NamedTuple):
    """A stochastic algorithm after a pass over the data."""

    theta: np.ndarray  # (p,)
    objective: float  # mean J of the mini-batches, each computed before its own step
    improvement: float  # the lowest objective before, minus this one; inf at the start


def passes(loss_and_gradient, theta, n, batch_size, rng, step):
    """Passes over n samples: theta <- step(theta, g) in every mini-batch of `batch_size` samples.

    ``loss_and_gradient(theta, rows)`` returns the mean loss of the mini-batch and the gradient g.

    Yields: the start, with the exact objective, then a `Pass` per pass over the data.

    >>> square = lambda theta, rows: (float(theta @ theta), 2 * theta)
    >>> states = passes(square, np.array([8.0]), 1, 1, None, lambda theta, g: theta - g / 4)
    >>> [next(states).theta.tolist() for _ in range(3)]
    [[8.0], [4.0], [2.0]]
    """
    batches = mini_batches(n, batch_size, None)
    lowest = sum(len(rows) * loss_and_gradient(theta, rows)[0] for rows in batches) / n
    yield Pass(np.array(theta), lowest, np.inf)  # the start
    while True:
        total = 0.0
        for rows in mini_batches(n, batch_size, rng):
            J, g = loss_and_gradient(theta, rows)
            total = total + len(rows) * J  # the loss before the step
            theta = step(theta, g)
        yield Pass(theta, total / n, lowest - total / n)
        lowest = min(lowest, total / n)


def sgd(
    loss_and_gradient, theta, n, *, batch_size, learning_rate, momentum=0.0, nesterov=False, rng
):
    """Stochastic gradient descent: in each mini-batch, with its gradient g,

        theta <- theta - eta g,

    or with `momentum` mu in (0, 1), from the velocity u = 0,

        u <- mu u - eta g,    theta <- theta + u    (`nesterov`:  theta <- theta + mu u - eta g).

    For `loss_and_gradient`, `n` and `batch_size` see `passes`.

    Yields: the start, with the exact objective, then a `Pass` per pass over the data.

    >>> square = lambda theta, rows: (float(theta @ theta), 2 * theta)
    >>> states = sgd(square, np.array([8.0]), 1, batch_size=1, learning_rate=0.25, rng=None)
    >>> [next(states).theta.tolist() for _ in range(3)]
    [[8.0], [4.0], [2.0]]
    """
    eta, mu, u = learning_rate, momentum, np.zeros(len(theta))

    def step(theta, g):
        nonlocal u  # the velocity is kept from one mini-batch to the next
        u = mu * u - eta * g
        return theta + (mu * u - eta * g if nesterov else u)

    return passes(loss_and_gradient, theta, n, batch_size, rng, step)


def adam(
    loss_and_gradient, theta, n, *, batch_size, learning_rate, beta_1=0.9, beta_2=0.999,
    epsilon=1e-8, rng,
):  # fmt: skip
    """Adam: a running mean m of the gradients g, divided by their running root mean square:

        m <- beta_1 m + (1 - beta_1) g,    v <- beta_2 v + (1 - beta_2) g^2,
        theta <- theta - eta_t m / (sqrt(v) + epsilon),
        eta_t = eta sqrt(1 - beta_2^t) / (1 - beta_1^t)

    for t = 1, 2, ... For `loss_and_gradient`, `n` and `batch_size` see `passes`.

    Yields: the start, with the exact objective, then a `Pass` per pass over the data.

    >>> slope = lambda theta, rows: (float(theta @ [5.0, -9.0]), np.array([5.0, -9.0]))
    >>> states = adam(slope, np.zeros(2), 1, batch_size=1, learning_rate=0.1, rng=None)
    >>> [next(states).theta.round(6).tolist() for _ in range(3)]
    [[0.0, 0.0], [-0.1, 0.1], [-0.2, 0.2]]
    """
    eta, m, v, t = learning_rate, np.zeros(len(theta)), np.zeros(len(theta)), 0

    def step(theta, g):
        nonlocal m, v, t  # kept from one mini-batch to the next
        t = t + 1
        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g**2
        eta_t = eta * np.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        return theta - eta_t * m / (np.sqrt(v) + epsilon)

    return passes(loss_and_gradient, theta, n, batch_size, rng, step)


# ---------------------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------------------

AUTO_BATCH = 200  # the largest mini-batch of batch_size="auto", as in scikit-learn
LOGISTIC_FACTOR = 2.0  # the `factor` of `glorot_start` for logistic units


def patient(states, patience):
    """The same passes, each with the largest improvement among the last `patience` + 1.

    This is at most tol only if patience + 1 passes in a row did not improve by more than tol.

    Yields: the `states`, with that for their improvement.

    >>> results = [Pass(None, 9.0, np.inf), Pass(None, 5.0, 4.0), Pass(None, 5.0, 0.0)]
    >>> [state.improvement for state in patient(results, 1)]
    [inf, inf, 4.0]
    """
    recent = deque(maxlen=patience + 1)
    for state in states:
        recent.append(state.improvement)
        yield state._replace(improvement=max(recent))


def keep_best(states, score):
    """Early stopping: the passes, each with the theta of the highest ``score(theta)`` so far.

    Yields: the start, then the `states`; the improvement is the score minus the highest before it.

    >>> results = iter([Pass(0.0, 9.0, np.inf), Pass(1.0, 5.0, 4.0), Pass(2.0, 3.0, 2.0)])
    >>> [(state.theta, state.improvement) for state in keep_best(results, lambda theta: -theta)]
    [(0.0, inf), (1.0, inf), (1.0, -1.0)]
    """
    yield next(states)
    best, theta = -np.inf, None
    for state in states:
        value = score(state.theta)
        improvement = value - best
        if value > best:
            best, theta = value, state.theta
        yield state._replace(theta=theta, improvement=improvement)


def within_range(J, g):
    """J and the gradient g (p,) of a mini-batch, if the squares of the gradient are finite.

    Adam divides by them. If they were infinite, theta would not move, as if it had converged.

    Raises: ValueError if an entry of g is larger than `base.LARGEST`, or NaN.

    >>> within_range(1.0, np.array([3.0]))
    (1.0, array([3.]))
    """
    size = 0.0 if np.vdot(g, g) <= LARGEST**2 else np.abs(g).max()  # one pass in the place of two
    if not size <= LARGEST:
        raise ValueError(
            f"gradients must lie within {LARGEST:g}; got {size:.3g}: lower the learning rate, "
            "or scale X"
        )
    return J, g


def hidden_widths(sizes):
    """The hyperparameter hidden_layer_sizes, one number or several, as a tuple.

    Raises: ValueError if these `sizes` are not integers >= 1.

    >>> hidden_widths(100), hidden_widths([30, 10])
    ((100,), (30, 10))
    """
    widths = (sizes,) if isinstance(sizes, Integral) else sizes
    try:
        return tuple(check_number("", m, at_least=1, integer=True) for m in widths)
    except (TypeError, ValueError):
        raise ValueError(f"hidden_layer_sizes must be integers >= 1; got {sizes!r}") from None


@dataclass(eq=False, repr=False, kw_only=True)
class Trainer:
    """The hyperparameters of training by mini-batches: see `MLPClassifier`.

    >>> Trainer(solver="sgd").momentum
    0.9
    """

    solver: str = "adam"
    batch_size: int | str = "auto"
    learning_rate_init: float = 0.001
    max_iter: int = 200
    shuffle: bool = True
    random_state: Any = None
    tol: float = 1e-4
    momentum: float = 0.9
    nesterovs_momentum: bool = True
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    n_iter_no_change: int = 10

    def _check_training(self):
        """Refuse hyperparameters that are out of their range."""
        check_choice("solver", self.solver, ("adam", "sgd"))
        if not (isinstance(self.batch_size, str) and self.batch_size == "auto"):
            check_number("batch_size", self.batch_size, at_least=1, integer=True)
        check_number("tol", self.tol, at_least=0, below=np.inf)
        for name in ("learning_rate_init", "epsilon"):
            check_number(name, getattr(self, name), above=0, below=np.inf)
        for name in ("max_iter", "n_iter_no_change"):
            check_number(name, getattr(self, name), at_least=1, integer=True)
        for name in ("shuffle", "nesterovs_momentum"):
            check_flag(name, getattr(self, name))
        for name in ("momentum", "beta_1", "beta_2"):
            check_number(name, getattr(self, name), at_least=0, below=1)

    def _passes(self, loss_and_gradient, theta, n, rng):
        """The passes of the solver over n samples: see `sgd` and `adam`."""
        batch_size = AUTO_BATCH if self.batch_size == "auto" else self.batch_size
        how = {"batch_size": min(batch_size, n), "learning_rate": self.learning_rate_init}
        how["rng"] = rng if self.shuffle else None

        def f(theta, rows):
            return within_range(*loss_and_gradient(theta, rows))

        if self.solver == "sgd":
            how |= {"momentum": self.momentum, "nesterov": self.nesterovs_momentum}
            return sgd(f, theta, n, **how)
        how |= {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        return adam(f, theta, n, **how)

    def _run(self, states):
        """Run the passes until n_iter_no_change + 1 in a row do not improve; a `base.Run`."""
        states = patient(states, self.n_iter_no_change)
        with np.errstate(over="ignore", invalid="ignore"):  # reported by name, here or below
            run = iterate(states, "improvement", self.tol, self.max_iter)
        if not (np.isfinite(run.history).all() and np.isfinite(run.state.theta).all()):
            raise ValueError(
                f"weights must stay finite; infinite in pass {run.n_iter}: lower the learning rate"
            )
        return run


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class _Multilayer(Trainer, Estimator):
    """A feed-forward network; the subclasses differ in their targets, loss and predictions."""

    hidden_layer_sizes: int | tuple = (100,)
    activation: str = "relu"
    alpha: float = 0.0001
    early_stopping: bool = False
    validation_fraction: float = 0.1

    def _targets(self, y, n):
        """The checked y, the targets Y (n, o), the loss, and the classes (None for numbers)."""
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        """Train on samples X (n, d) with labels or targets y (n,) and weights (n,); return self."""
        samples, widths = check_samples(X), self._check_parameters()
        y, Y, loss, classes = self._targets(y, len(samples))
        weights = None if sample_weight is None else check_weights(sample_weight, len(samples))
        rng = check_random_state(self.random_state)
        net = network((samples.shape[1], *widths, Y.shape[1]), ACTIVATIONS[self.activation], loss)
        factor = LOGISTIC_FACTOR if self.activation == "logistic" else 6.0
        theta = glorot_start(net.sizes, factor=factor, rng=rng)
        objective, judged = Objective(net, samples, Y, self.alpha, weights), []
        if self.early_stopping:
            train, held_out = self._split(y, weights, classes, rng)
            states = self._passes(objective.part(train), theta, len(train), rng)
            test = samples[held_out], y[held_out], None if weights is None else weights[held_out]
            states = keep_best(states, lambda theta: self._judge(net, theta, classes, test, judged))
        else:
            states = self._passes(objective, theta, len(samples), rng)
        run = self._run(states)
        self._keep(net, run.state.theta, classes)
        self._record(run, "improvement", self.tol)
        self._keep_curves(run.history[1:].tolist(), judged)
        return self._remember(X)

    def _check_parameters(self):
        """Check the hyperparameters; return the hidden widths as a tuple."""
        self._check_training()
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_number("alpha", self.alpha, at_least=0, below=np.inf)
        check_flag("early_stopping", self.early_stopping)
        check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        return hidden_widths(self.hidden_layer_sizes)

    def _split(self, y, weights, classes, rng):
        """For early stopping, the indices of the samples to train on and of those held out."""
        share, labels = self.validation_fraction, None if classes is None else y
        try:
            parts = train_test_split(
                np.arange(len(y)), test_size=share, random_state=rng, stratify=labels
            )
        except ValueError as error:
            raise ValueError(f"with validation_fraction = {share}, {error}") from None
        for part in parts:  # each needs a weight > 0
            check_weights(None if weights is None else weights[part], len(part))
        return parts

    def _judge(self, net, theta, classes, test, judged):
        """The score on the samples held out, of a copy with parameters theta; noted in `judged`."""
        model = copy(self)._keep(net, theta, classes)._remember(test[0])
        judged.append(model.score(*test))
        return judged[-1]

    def _keep(self, net, theta, classes):
        """Store the fitted network as scikit-learn does, with the transposes of the W_j."""
        layers = unpack(theta, net.sizes)
        self.coefs_ = [W.T.copy() for W, _ in layers]
        self.intercepts_ = [b.copy() for _, b in layers]
        self.n_layers_, self.n_outputs_ = len(net.sizes), net.sizes[-1]
        self.out_activation_ = net.activations[-1].name
        if classes is not None:
            self.classes_ = classes
        return self

    def _keep_curves(self, losses, judged):
        """Store the losses of the passes, and the scores of early stopping."""
        self.loss_curve_, self.loss_ = losses, losses[-1]
        self.best_loss_ = None if self.early_stopping else min(losses)
        self.validation_scores_ = judged if self.early_stopping else None
        self.best_validation_score_ = max(judged) if self.early_stopping else None

    def _net_inputs(self, X):
        """The net inputs of the last layer, (n, o)."""
        layers = [(V.T, b) for V, b in zip(self.coefs_, self.intercepts_, strict=True)]
        hidden = [ACTIVATIONS[self.activation]] * (len(layers) - 1)
        H = forward(layers[:-1], hidden, X)
        return scores(H[-1], *layers[-1])


@dataclass(eq=False, repr=False)
class MLPClassifier(_Multilayer, Classifier):
    """Classifier by a feed-forward network with softmax output, trained on the cross-entropy.

    As in scikit-learn, two classes have one logistic output, for the second class, and the n of the
    penalty is the size of the mini-batch. Not there are solver="lbfgs", a varying learning rate,
    warm_start and partial_fit.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int; widths of the hidden layers, () for none
    activation : "relu", "tanh", "logistic" or "identity"; of the hidden layers
    solver : "adam" or "sgd"
    alpha : float; of the penalty alpha / (2 n) sum_j ||W_j||^2
    batch_size : int or "auto", which is 200; at most the number of samples
    learning_rate_init : float; eta, constant throughout
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new order in every pass
    random_state : int, Generator or None; draws the start, the order and the samples held out
    tol : float; training stops when n_iter_no_change + 1 passes in a row have not improved by more
        than tol: the loss on its lowest value, or with early_stopping the score on its highest
    momentum : float; of "sgd", in [0, 1)
    nesterovs_momentum : bool; of "sgd"
    early_stopping : bool; keep the parameters of the pass with the best score on samples held out
    validation_fraction : float; the share of samples held out
    beta_1, beta_2, epsilon : float; of "adam"
    n_iter_no_change : int; see tol

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    coefs_ : list of l ndarray of shape (d_{j-1}, d_j), the transposes of our W_j
    intercepts_ : list of l ndarray of shape (d_j,)
    n_layers_ : int; l + 1, as the input counts
    n_outputs_ : int
    out_activation_ : "softmax", or "logistic" for two classes
    loss_curve_ : list of n_iter_ float; the mean loss of the mini-batches of every pass
    loss_ : float; the last entry of loss_curve_
    best_loss_ : float; the lowest entry, None with early_stopping
    validation_scores_ : list of n_iter_ float; None without early_stopping
    best_validation_score_ : float; None without early_stopping
    history_ : ndarray of shape (n_iter_ + 1,); the loss at the start, then loss_curve_
    n_iter_ : int; number of passes
    converged_ : bool; whether training stopped before max_iter
    n_features_in_ : int

    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["even", "odd", "odd", "even"]
    >>> model = MLPClassifier((8,), max_iter=1000, learning_rate_init=0.05, random_state=0)
    >>> model.fit(X, y).predict(X)
    array(['even', 'odd', 'odd', 'even'], dtype='<U4')
    """

    hidden_layer_sizes: int | tuple = (100,)
    activation: str = "relu"
    _: KW_ONLY

    def _targets(self, y, n):
        y = check_labels(y, n)
        classes = np.unique(y)
        Y = one_hot(y, classes)
        if len(classes) == 2:
            return y, Y[:, 1:], BINARY_CROSS_ENTROPY, classes
        return y, Y, CROSS_ENTROPY, classes

    def predict(self, X):
        """Labels (n,) of the most probable classes."""
        A = self._net_inputs(self._check_fitted(X))
        return self.classes_[(A[:, 0] > 0).astype(int) if A.shape[1] == 1 else A.argmax(axis=1)]

    def predict_proba(self, X):
        """Probabilities (n, C) of the classes."""
        A = self._net_inputs(self._check_fitted(X))
        return np.hstack([sigmoid(-A), sigmoid(A)]) if A.shape[1] == 1 else softmax(A)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities, finite even where a probability rounds to 0."""
        A = self._net_inputs(self._check_fitted(X))
        if A.shape[1] == 1:
            return -np.hstack([log_loss(-A), log_loss(A)])
        return A - log_sum_exp(A)[:, None]


@dataclass(eq=False, repr=False, kw_only=True)
class MLPRegressor(_Multilayer, Regressor):
    """Regressor by a feed-forward network with identity output, trained on 1/2 (f(x) - y)^2.

    Its parameters are passed by name: scikit-learn's first one is the loss, which is fixed here.

    Parameters
    ----------
    Those of `MLPClassifier`.

    Attributes
    ----------
    Those of `MLPClassifier`, without classes_; out_activation_ is "identity".

    >>> X, model = np.array([[0.0], [1.0]]), MLPRegressor(learning_rate_init=0.01, random_state=0)
    >>> model.fit(X, [2.0, 1.0]).score(X, [2.0, 1.0]) > 0.9
    True
    """

    def _targets(self, y, n):
        y = check_targets(y, n)
        return y, y[:, None], SQUARED_ERROR, None

    def predict(self, X):
        """Outputs f(x), (n,)."""
        return self._net_inputs(self._check_fitted(X))[:, 0]
