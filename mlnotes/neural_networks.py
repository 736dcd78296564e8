"""Neural networks: linear maps with a bend between them, and the chain rule that trains them.

A neuron is a linear score and an activation. Layers of them compute what no linear classifier
can, XOR to begin with, as long as the activations are not linear themselves. The network is a
function of one long vector of parameters; its gradient is the chain rule, evaluated from the
output backwards so that nothing is computed twice. The notes give that rule twice, in indices
and as a product of Jacobians. Both stand here, beside the matrix form for many samples at once
that training uses, and all three agree.

Contents
    The neuron            Activation, HardLimiter, Logistic, Tanh, ReLU, Identity, Softmax, RELU,
                          LOGISTIC, TANH, IDENTITY, SOFTMAX, ACTIVATIONS, neuron
    A layer               scores, homogeneous
    Losses                Loss, cross_entropy, softmax_cross_entropy, SQUARED_ERROR, CROSS_ENTROPY,
                          BINARY_CROSS_ENTROPY, one_hot
    The network           Network, network, n_parameters, is_deep, pack, unpack, forward, risk
    Jacobians             mult_jacobian, softmax_jacobian, jacobian_rows, jacobian_gradient
    Backpropagation       deltas, delta_gradient, backpropagate, Objective
    Where to start        normal_start, glorot_start
    Going down            descend, mini_batches, Pass, sgd, adam
    Training              patient, hidden_widths, check_trained
    Estimators            MLPClassifier, MLPRegressor

Symbols
    X       (n, d)           samples x, one per row
    Y       (n, o)           what the network is to return for them, y (o,) for one; the rows
                             e_c of `one_hot` for classes
    l       int              layers of weights; layer 0 is the input, h_0 = x
    sizes   (l + 1,)         widths (n_0, ..., n_l): n_0 = d inputs, n_l = o outputs
    W, b    (n_j, n_{j-1})   weights of layer j, from unit i of layer j - 1 to unit s in W[s, i],
            and (n_j,)       and its biases; `layers` is the list of all (W_j, b_j)
    theta   (p,)             all parameters: W_1 row by row, b_1, W_2, ...
    a, h    (n_j,)           net input a_j = W_j h_{j-1} + b_j and output h_j = sigma_j(a_j);
                             A and H (n, n_j) those of n samples
    delta   (n_j,)           dJ/da_j
    L, J    float            loss of one sample; the mean over the samples, penalty included
    alpha   float            of the penalty alpha / (2 n) sum_j ||W_j||^2
    net     Network          widths, activations and loss: all but theta
    s       (C,)             the C probabilities of a softmax
    eta     float            learning rate; learning_rate in the stochastic algorithms
    rows    (m,)             indices of the samples of a mini-batch
    rng     Generator        draws starts, and the order of the samples in every pass

Notes: MLN "Neural Network Models", "Backpropagation Algorithm"; IRHD 5.1 to 5.3; ISML "Deep
Learning". MLN writes eta for our a, y^l for our h_{l-1} as it counts the input as layer 1, d for
our y, and w_ij from unit i to unit j, the transpose of our W. IRHD's step size is alpha, its W_j
has n_j rows and m_j = n_{j-1} columns, and biases are left to a footnote.
"""

from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
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

__all__ = [
    "Activation", "HardLimiter", "Logistic", "Tanh", "ReLU", "Identity", "Softmax", "RELU",
    "LOGISTIC", "TANH", "IDENTITY", "SOFTMAX", "ACTIVATIONS", "neuron", "scores", "homogeneous",
    "Loss", "cross_entropy", "softmax_cross_entropy", "SQUARED_ERROR", "CROSS_ENTROPY",
    "BINARY_CROSS_ENTROPY", "one_hot", "Network", "network", "n_parameters", "is_deep", "pack",
    "unpack", "forward", "risk", "mult_jacobian", "softmax_jacobian", "jacobian_rows",
    "jacobian_gradient", "deltas", "delta_gradient", "backpropagate", "Objective", "normal_start",
    "glorot_start", "descend", "mini_batches", "Pass", "sgd", "adam", "patient", "hidden_widths",
    "check_trained", "MLPClassifier", "MLPRegressor",
]  # fmt: skip

DEEP = 3  # a network of more layers than this is called deep


# ---------------------------------------------------------------------------------------
# The neuron
# ---------------------------------------------------------------------------------------


class Activation:
    """A function that every unit of a layer applies to its own net input: h = f(a).

    Its derivative is given as a function of the output h, which is at hand on the way back:

        hard limiter    1[a > tau]              0 (where it exists)
        logistic        1 / (1 + e^{-b a})      b h (1 - h)
        tanh            a0 tanh(b a)            b (a0 - h^2 / a0)
        ReLU            max(0, a)               1[h > 0] = 1[a > 0]
        identity        a                       1

    The softmax is the exception: every component of it depends on all net inputs.

    >>> RELU.f(np.array([-2.0, 3.0])), RELU.slope(np.array([0.0, 3.0]))
    (array([0., 3.]), array([0., 1.]))

    Claims: neural_networks-02
    """

    def f(self, a):
        """The outputs h, of the shape of the net inputs a."""
        raise NotImplementedError

    def slope(self, h):
        """f'(a) where f(a) = h."""
        raise NotImplementedError

    def jacobian(self, h):
        """J_sigma(a) = diag(f'(a_1), ..., f'(a_m)) of a layer with outputs h (m,)."""
        return np.diag(self.slope(h))

    def pull(self, H, G):
        """J_sigma(a)^T g = dL/da of every sample, given its h and g = dL/dh in rows."""
        return self.slope(H) * G


@dataclass(frozen=True)
class HardLimiter(Activation):
    """1[a > tau], of the perceptron: 0 at a = tau, and flat on either side.

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
    """1 / (1 + e^{-b a}) of steepness b > 0.

    MLN announces two parameters a, b > 0, but its formula has no a (neural_networks-03).

    >>> Logistic().f(np.array([0.0, -1000.0]))
    array([0.5, 0. ])
    """

    b: float = 1.0
    name = "logistic"

    def __post_init__(self):
        """Refuse what is no steepness."""
        check_number("b", self.b, above=0, below=np.inf)

    def f(self, a):
        """sigma(b a)."""
        return sigmoid(self.b * a)

    def slope(self, h):
        """b h (1 - h)."""
        return self.b * h * (1 - h)


@dataclass(frozen=True)
class Tanh(Activation):
    """a0 tanh(b a), between -a0 and a0 for a0, b > 0: a logistic, 2 a0 sigma(2 b a) - a0.

    >>> Tanh(a0=2.0).f(np.array([0.0, 1000.0]))
    array([0., 2.])
    """

    a0: float = 1.0
    b: float = 1.0
    name = "tanh"

    def __post_init__(self):
        """Refuse what is no amplitude or no steepness."""
        check_number("a0", self.a0, above=0, below=np.inf)
        check_number("b", self.b, above=0, below=np.inf)

    def f(self, a):
        """a0 tanh(b a)."""
        return self.a0 * np.tanh(self.b * a)

    def slope(self, h):
        """b (a0 - h^2 / a0)."""
        return self.b * (self.a0 - h * h / self.a0)


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
        """1[a > 0]."""
        return (h > 0).astype(np.float64)


@dataclass(frozen=True)
class Identity(Activation):
    """a itself: Adaline's, and that of the output for regression.

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

    IRHD 5.4 and 5.7 have all activations work component by component and their Jacobians
    diagonal; this one, which 5.16 then uses, does not, and its Jacobian is full
    (neural_networks-27).

    >>> Softmax().f(np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """

    name = "softmax"

    def f(self, a):
        """The softmax of every row of a (n, C)."""
        return softmax(a)

    def jacobian(self, h):
        """diag(h) - h h^T."""
        return softmax_jacobian(h)

    def pull(self, H, G):
        """h * (g - h^T g) in rows."""
        return H * (G - np.sum(H * G, axis=1, keepdims=True))


RELU, LOGISTIC, TANH, IDENTITY, SOFTMAX = ReLU(), Logistic(), Tanh(), Identity(), Softmax()
ACTIVATIONS = {each.name: each for each in (IDENTITY, LOGISTIC, TANH, RELU)}  # for hidden layers


def neuron(X, w, b, activation):
    """y = f(a) of the net input a = w^T x + b.

    With a hard limiter it is the perceptron, with the identity Adaline. `w` (d,) and `b` are those
    of one neuron.

    Returns: (n,).

    >>> neuron(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0]), -1.5, HardLimiter())
    array([1., 0.])

    Claims: neural_networks-01
    """
    return activation.f(X @ w + b)


# ---------------------------------------------------------------------------------------
# A layer
# ---------------------------------------------------------------------------------------


def scores(X, W, b):
    """a = W x + b of every sample: C linear scores, or the net inputs of a layer.

    Row w_k of W is a template, and w_k^T x + b_k says how well x fits it. Score k equals score j
    on the hyperplane (w_k - w_j)^T x + b_k - b_j = 0, so that the argmax divides the space into
    convex regions. ISML prints W x alone: without b every boundary contains the origin, and the
    label cannot change along a ray, f(c x) = c f(x), with ReLUs in between either
    (neural_networks-05).

    Returns: (n, C). Raises: ValueError if b has not a number for every output.

    >>> scores(np.array([[1.0, 2.0]]), W=np.array([[3.0, 4.0], [0.0, 1.0]]), b=np.array([0.5, 0.0]))
    array([[11.5,  2. ]])

    Claims: neural_networks-04
    """
    if np.shape(b) != (len(W),):
        raise ValueError(f"b must have shape ({len(W)},), a number per output; got {np.shape(b)}")
    A = X @ W.T
    return np.add(A, b, out=A if A.dtype == np.float64 else None)


def homogeneous(layers):
    """The layers without biases, for inputs (1, x): IRHD's footnote, which needs more than x.

        layer l: (b, W),    the layers before it: [[1, 0], [b, W]]

    The 1 has to be there again for the next layer. An inner layer passes it on by a row of its
    own, and its activation must keep it: ReLU and identity do, f(1) = 1, and others do not.

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


class Loss(NamedTuple):
    """A loss L(h, y) of the output of a network, sample by sample.

    To each belongs one output activation through which delta_l = dL/da_l is h - y: the identity to
    the squared error, the softmax to the cross-entropy, the logistic to that of two classes.

    >>> SQUARED_ERROR.of_output(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]))
    array([2.])
    """

    name: str
    of_output: Callable  # H, Y (n, o) -> L (n,)
    slope: Callable  # H, Y -> dL/dh (n, o)
    output: Activation  # the one through which delta = h - y
    of_scores: Callable  # A, Y -> L (n,) through that activation, for net inputs of any size
    domain: tuple = ()  # names of the outputs that it is defined for; () for all


def cross_entropy(P, Q):
    """H(P, Q) = -sum_c p_c log q_c = H(P) + KL(P || Q) >= H(P), with equality iff Q = P.

    Of what is certain, P = e_c, only -log q_c is left. It is not symmetric, and 0 log 0 = 0.
    P and Q (..., C) hold distributions in their rows.

    Returns: (...,).

    >>> cross_entropy(np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3)  # log 2
    array([0.693, 0.693])

    Claims: neural_networks-28
    """
    return -np.sum(x_log_y(P, Q), axis=-1)


def softmax_cross_entropy(A, Y):
    """L = -log s_c, the cross-entropy of y = e_c and s = softmax(a), from the net inputs A (n, C):

        L = log sum_k exp(a_k) - y^T a,    dL/da = s - y .

    IRHD 5.18 has y_c, a number, for the vector e_c, and 5.19 a product with the label where the
    component f(x_i)_{c_i} is meant (neural_networks-30). With l = 1 layer the mean of L is the
    cost of logistic regression for C classes.

    Returns: (n,).

    >>> softmax_cross_entropy(np.array([[0.0, 0.0], [0.0, -99.0]]), np.eye(2)).round(2)
    array([ 0.69, 99.  ])

    Claims: neural_networks-29
    """
    A = A - A.max(axis=1, keepdims=True)  # as y sums to 1, a shift of all a_k changes nothing
    return np.log(np.exp(A).sum(axis=1)) - np.sum(Y * A, axis=1)


def _ratio(Y, H):
    """y / h, with 0 / 0 = 0: minus the slope of -y log h."""
    return np.divide(Y, H, out=np.zeros(np.shape(H)), where=np.asarray(Y) != 0)


def _binary_cross_entropy(H, Y):
    return cross_entropy(Y, H) + cross_entropy(1 - Y, 1 - H)


def _half_squares(H, Y):
    return np.sum((H - Y) ** 2, axis=-1) / 2


# IRHD has no 1/2: twice the loss, and twice the gradient
SQUARED_ERROR = Loss("squared error", _half_squares, np.subtract, IDENTITY, _half_squares)
CROSS_ENTROPY = Loss(
    "cross-entropy",
    lambda H, Y: cross_entropy(Y, H),
    lambda H, Y: -_ratio(Y, H),
    SOFTMAX,
    softmax_cross_entropy,
    ("softmax",),
)
BINARY_CROSS_ENTROPY = Loss(
    "binary cross-entropy",
    _binary_cross_entropy,
    lambda H, Y: _ratio(1 - Y, 1 - H) - _ratio(Y, H),
    LOGISTIC,
    lambda A, Y: np.sum(log_loss((2 * Y - 1) * A), axis=1),
    ("logistic",),
)


def one_hot(y, classes):
    """Class c as e_c: column k is 1 where y is the k-th of the `classes` (C,), and 0 elsewhere.

    The mean of the rows holds the class frequencies.

    Returns: (n, C). Raises: ValueError if y is not (n,), or one of it not exactly one of `classes`.

    >>> one_hot(np.array(["b", "a", "b"]), ["a", "b"])
    array([[0., 1.],
           [1., 0.],
           [0., 1.]])

    Claims: neural_networks-25
    """
    y, classes = np.asarray(y), np.asarray(classes)
    if y.ndim != 1:
        raise ValueError(f"y must have shape (n,); got {y.shape}")
    found = y[:, None] == classes
    strange = y[found.sum(axis=1) != 1].tolist()
    if strange:
        raise ValueError(f"y must hold one of the classes {classes}; got {strange[0]!r}")
    return found.astype(np.float64)


# ---------------------------------------------------------------------------------------
# The network
# ---------------------------------------------------------------------------------------


class Network(NamedTuple):
    """A class of functions: what is left to choose is theta."""

    sizes: tuple  # (n_0, ..., n_l)
    activations: tuple  # (sigma_1, ..., sigma_l)
    loss: Loss


def network(sizes, hidden=RELU, loss=SQUARED_ERROR, output=None):
    """A `Network` with one activation for all `hidden` layers and one for the `output`.

    Not given, `output` is the one that belongs to the loss. The loss dictates the outputs: one
    number for regression, d for reconstruction, C probabilities for classes.

    Raises: ValueError if the widths are no sizes, or the loss is not defined for the output.

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
    """p = sum_j n_j (n_{j-1} + 1): the weights and the biases.

    A linear classifier of 32 x 32 x 3 pixels into 10 classes:

    >>> n_parameters((32 * 32 * 3, 10))
    30730
    """
    return sum(m * (k + 1) for k, m in zip(sizes[:-1], sizes[1:], strict=True))


def is_deep(net):
    """Whether there are more than three layers of weights.

    >>> is_deep(network((2, 9, 9, 1))), is_deep(network((2, 9, 9, 9, 1)))
    (False, True)
    """
    return len(net.activations) > DEEP


def pack(layers):
    """theta of a list of (W_j, b_j): each W row by row, IRHD's pi, and then its b.

    >>> pack([(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))])
    array([1., 2., 3., 4., 5., 6.])
    """
    return np.concatenate([part.ravel() for layer in layers for part in layer])


def unpack(theta, sizes):
    """The list of (W_j, b_j) that theta holds: views of it, not copies.

    Raises: ValueError if theta is not as long as `n_parameters` says.

    >>> unpack(np.arange(6.0), (2, 2))
    [(array([[0., 1.],
           [2., 3.]]), array([4., 5.]))]
    """
    if len(theta) != n_parameters(sizes):
        raise ValueError(
            f"theta must hold {n_parameters(sizes)} parameters for the widths {sizes}; "
            f"got {len(theta)}"
        )
    layers, start = [], 0
    for k, m in zip(sizes[:-1], sizes[1:], strict=True):
        middle, end = start + k * m, start + k * m + m
        layers.append((theta[start:middle].reshape(m, k), theta[middle:end]))
        start = end
    return layers


def forward(layers, activations, X):
    """h_0 = x,  h_j = sigma_j(W_j h_{j-1} + b_j):  all outputs on the way to f(x) = h_l,

        f = sigma_l o phi_l o ... o sigma_1 o phi_1,   phi_j(h) = W_j h + b_j .

    Were all sigma_j linear, f would be one linear map, W_l ... W_1: no more than a linear
    classifier. ISML's two layers W_2 max(0, W_1 x) are more. `activations` are the l sigma_j.

    Returns: the list of H_0 = X, ..., H_l, of shapes (n, n_j).

    >>> xor = [(np.ones((2, 2)), np.array([0.0, -1.0])), (np.array([[1.0, -2.0]]), np.zeros(1))]
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> forward(xor, [RELU, IDENTITY], X)[-1].ravel()
    array([0., 1., 1., 0.])

    Claims: neural_networks-09
    """
    H = [X]
    for (W, b), activation in zip(layers, activations, strict=True):
        H.append(activation.f(scores(H[-1], W, b)))
    return H


def risk(net, theta, X, Y, *, alpha=0.0, weights=None):
    """J(theta) = (1/n) sum_i L(f(x_i), y_i) + alpha / (2 n) sum_j ||W_j||^2.

    With `weights` (n,) the mean is a weighted one, and n their sum. The squared loss is
    1/2 ||h_l - y||^2 as in MLN; IRHD's is twice that. Reconstruction is the same with y = x. A loss
    without a target takes Y = None.

    Raises: ValueError if Y is not of shape (n, o), or weights not (n,) of a finite sum > 0.

    >>> risk(network((1, 1)), np.array([2.0, 0.0]), np.array([[1.0], [3.0]]), np.zeros((2, 1)))
    10.0

    Claims: neural_networks-14
    """
    return _evaluate(net, theta, X, Y, alpha, weights).value


class _Evaluation(NamedTuple):
    """A forward pass, up to the loss."""

    value: float  # J
    layers: list
    H: list  # H_0, ..., H_{l-1}
    delta: np.ndarray  # (n, o), dJ/dA_l
    decay: float  # alpha / n


def _evaluate(net, theta, X, Y, alpha, weights):
    layers, activations = unpack(theta, net.sizes), net.activations
    H = forward(layers[:-1], activations[:-1], X)
    A = scores(H[-1], *layers[-1])
    if Y is not None and np.shape(Y) != A.shape:
        raise ValueError(f"Y must have the shape of the outputs, {A.shape}; got {np.shape(Y)}")
    losses, delta = _output(net, A, Y)
    n, share = _shares(len(X), weights)
    delta *= share[:, None]
    decay = alpha / n
    value = losses @ share + decay / 2 * sum(np.vdot(W, W) for W, _ in layers)
    return _Evaluation(float(value), layers, H, delta, decay)


def _shares(count, weights):
    """n, and the share of it that each of so many samples has."""
    if weights is None:
        return count, np.full(count, 1 / count)
    n = weights.sum()
    if weights.shape != (count,) or not 0 < n < np.inf:
        raise ValueError(
            f"weights must have shape ({count},) and a finite sum > 0; got {weights.shape} of "
            f"sum {n}"
        )
    return n, weights / n


def _output(net, A, Y):
    """L (n,) and dL/da_l (n, o), given the net inputs of the last layer."""
    loss, activation = net.loss, net.activations[-1]
    H = activation.f(A)
    if activation == loss.output:
        return loss.of_scores(A, Y), H - Y
    return loss.of_output(H, Y), activation.pull(H, loss.slope(H, Y))


# ---------------------------------------------------------------------------------------
# Jacobians
# ---------------------------------------------------------------------------------------


def mult_jacobian(x, m):
    """J_mult(x) = I_m (x) x^T of the map W -> W x, W (m, k) being taken row by row.

    Row s holds x^T in the columns of w_s, and 0 elsewhere. W does not enter: the map is linear.

    Returns: (m, m k), for `x` (k,) and `m` rows of W.

    >>> mult_jacobian(np.array([5.0, 6.0]), m=2)
    array([[5., 6., 0., 0.],
           [0., 0., 5., 6.]])

    Claims: neural_networks-18
    """
    return kronecker(np.eye(m), x[None])


def softmax_jacobian(s):
    """J = diag(s) - s s^T of the softmax, at the a whose softmax is s (C,).

    It is symmetric and positive semi-definite, and J 1 = 0, as a shift of
    all a_k changes nothing.

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    return np.diag(s) - np.outer(s, s)


def jacobian_rows(net, theta, x, y, j):
    """dF/dW_j and dF/db_j of the loss F of one sample, as IRHD multiplies them out:

        dF/dW_j = J_L(h_l) J_sigma_l(a_l) W_l J_sigma_{l-1}(a_{l-1}) W_{l-1} ...
                  W_{j+1} J_sigma_j(a_j) J_mult(h_{j-1}),

    and dF/db_j without the last factor. After J_sigma_{l-1} IRHD prints "J_{l-1}", which is not
    defined: it is W_{l-1}, and no activation's Jacobian (neural_networks-20). `j` is 1, ..., l.

    Returns: the rows of length n_j n_{j-1} and n_j. Raises: ValueError if there is no layer j.

    >>> theta, x, y = np.array([1.0, 1.0, 0.0]), np.array([3.0, 4.0]), np.zeros(1)
    >>> jacobian_rows(network((2, 1)), theta, x, y, j=1)
    (array([21., 28.]), array([7.]))

    Claims: neural_networks-19
    """
    layers = unpack(theta, net.sizes)
    if not 1 <= j <= len(layers):
        raise ValueError(f"j must be between 1 and l = {len(layers)}; got {j}")
    h = [H[0] for H in forward(layers, net.activations, x[None])]
    row = net.loss.slope(h[-1], y) @ net.activations[-1].jacobian(h[-1])
    for k in range(len(layers) - 1, j - 1, -1):
        row = row @ layers[k][0] @ net.activations[k - 1].jacobian(h[k])
    return row @ mult_jacobian(h[j - 1], len(row)), row


def jacobian_gradient(net, theta, x, y):
    """The gradient of the loss of one sample, (p,), put together from `jacobian_rows`.

    >>> theta, x, y = np.array([1.0, 1.0, 0.0]), np.array([3.0, 4.0]), np.zeros(1)
    >>> jacobian_gradient(network((2, 1)), theta, x, y)
    array([21., 28.,  7.])
    """
    l = len(net.activations)  # noqa: E741
    return np.concatenate([r for j in range(1, l + 1) for r in jacobian_rows(net, theta, x, y, j)])


# ---------------------------------------------------------------------------------------
# Backpropagation
# ---------------------------------------------------------------------------------------


def deltas(net, theta, x, y):
    """delta_j = dJ/da_j of one sample, unit by unit and from the output back, as MLN has them:

        delta_i of layer l  =  sum_k dL/dh_k dh_k/da_i   ( = (h_i - y_i) f'(a_i), squared loss )
        delta_i of layer j  =  ( sum_s delta_s of layer j+1  times  w_{s i} )  f'(a_i)

    MLN prints the first with a general layer's index, but hidden units have no target: it holds
    for the output alone (neural_networks-22).

    Returns: the list of delta_1, ..., delta_l, and that of h_0, ..., h_l.

    >>> deltas(network((1, 1, 1)), np.array([2.0, 0.0, 3.0, 0.0]), np.ones(1), np.zeros(1))[0]
    [array([18.]), array([6.])]
    """
    layers = unpack(theta, net.sizes)
    h = [H[0] for H in forward(layers, net.activations, x[None])]
    dL, J = net.loss.slope(h[-1], y), net.activations[-1].jacobian(h[-1])
    units = range(net.sizes[-1])
    found = [np.array([sum(dL[k] * J[k, i] for k in units) for i in units])]
    for j in range(len(layers) - 1, 0, -1):
        W, slope = layers[j][0], net.activations[j - 1].slope(h[j])
        above, units = range(len(W)), range(len(slope))
        delta = [sum(found[0][s] * W[s, i] for s in above) * slope[i] for i in units]
        found.insert(0, np.array(delta))
    return found, h


def delta_gradient(net, theta, x, y):
    """The gradient of the loss of one sample, (p,), from its `deltas`:

        dJ/dw_{s i} = delta_s of layer j  times  h_i of layer j-1,    dJ/db_s = delta_s .

    w_{s i} is in a_s alone, and there it is multiplied by h_i.

    >>> theta, x, y = np.array([1.0, 1.0, 0.0]), np.array([3.0, 4.0]), np.zeros(1)
    >>> delta_gradient(network((2, 1)), theta, x, y)
    array([21., 28.,  7.])
    """
    found, h = deltas(net, theta, x, y)
    return pack([(np.outer(delta, h[j]), delta) for j, delta in enumerate(found)])


def backpropagate(net, theta, X, Y, *, alpha=0.0, weights=None):
    """J and its gradient, for all samples at once: forward, then back through the layers.

        Delta_l = (H_l - Y) / n                    (or dL/dA_l, where the loss has another output)
        Delta_j = (Delta_{j+1} W_{j+1}) * sigma_j'(A_j),    j = l - 1, ..., 1
        dJ/dW_j = Delta_j^T H_{j-1} + alpha / n W_j,    dJ/db_j = sum of the rows of Delta_j

    That is the mean of `delta_gradient` over the samples. Against it goes `descend`,
    W_j <- W_j - eta dJ/dW_j, IRHD 5.14. For `weights` see `risk`.

    Returns: J, and its gradient (p,).

    >>> X, Y = np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 1))
    >>> backpropagate(network((2, 1)), np.array([1.0, 1.0, 0.0]), X, Y)
    (12.25, array([10.5, 14. ,  3.5]))

    Claims: neural_networks-23
    """
    value, layers, H, delta, decay = _evaluate(net, theta, X, Y, alpha, weights)
    gradient = np.empty(len(theta))
    views = unpack(gradient, net.sizes)
    for j in range(len(layers) - 1, -1, -1):
        (W, _), (dW, db) = layers[j], views[j]
        np.matmul(delta.T, H[j], out=dW)
        np.sum(delta, axis=0, out=db)
        if decay:
            dW += decay * W
        if j:
            delta = delta @ W
            delta *= net.activations[j - 1].slope(H[j])
    return value, gradient


class Objective(NamedTuple):
    """J and its gradient on mini-batches: what `sgd` and `adam` take as loss_and_gradient.

    The mean and the n of the penalty are those of the mini-batch.

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
        """J and its gradient (p,) on the samples of the indices `rows`; 0 if they weigh nothing."""
        weights = _at(self.weights, rows)
        if weights is not None and not weights.any():
            return 0.0, np.zeros(len(theta))
        X, Y = self.X[rows], self.Y[rows]
        return backpropagate(self.net, theta, X, Y, alpha=self.alpha, weights=weights)

    def value(self, theta, rows):
        """J alone, for half the work."""
        weights = _at(self.weights, rows)
        if weights is not None and not weights.any():
            return 0.0
        X, Y = self.X[rows], self.Y[rows]
        return risk(self.net, theta, X, Y, alpha=self.alpha, weights=weights)


def _at(weights, rows):
    return None if weights is None else weights[rows]


# ---------------------------------------------------------------------------------------
# Where to start
# ---------------------------------------------------------------------------------------


def normal_start(sizes, *, sigma=1.0, rng):
    """theta with normal weights of deviation `sigma` and biases 0.

    Not all alike, and not 0: units of a layer that start with the same weights get the same
    gradients for ever, and from 0 hidden weights with ReLU or tanh never move at all.

    >>> normal_start((3, 1), rng=np.random.default_rng(0)).round(2)
    array([ 0.13, -0.13,  0.64,  0.  ])
    """
    theta = np.zeros(n_parameters(sizes))
    for W, _ in unpack(theta, sizes):
        W[:] = sigma * rng.normal(size=W.shape)
    return theta


def glorot_start(sizes, *, factor=6.0, rng):
    """theta uniform within +-sqrt(factor / (n_{j-1} + n_j)) in layer j, biases too.

    The variance 2 / (n_{j-1} + n_j) keeps signals and deltas of one size from layer to layer.
    scikit-learn starts like this, with `factor` 2 for logistic units.

    >>> theta = glorot_start((3, 3), rng=np.random.default_rng(0))  # within +-1
    >>> theta[:3].round(2)
    array([ 0.27, -0.46, -0.92])
    """
    theta = np.empty(n_parameters(sizes))
    for layer in unpack(theta, sizes):
        m, k = layer[0].shape
        bound = np.sqrt(factor / (k + m))
        for part in layer:
            part[:] = rng.uniform(-bound, bound, size=part.shape)
    return theta


# ---------------------------------------------------------------------------------------
# Going down
# ---------------------------------------------------------------------------------------


def descend(net, theta, X, Y, *, eta=None, alpha=0.0):
    """Gradient descent on all samples: W_j <- W_j - eta dJ/dW_j, and so the b_j.

    Without eta, `optimization.gradient_descent` finds each step length.

    Yields: the start, then an `optimization.DescentState` per step, whose x is theta.

    >>> X, Y = np.array([[1.0], [-1.0]]), np.array([[3.0], [1.0]])  # y = x + 2
    >>> states = descend(network((1, 1)), np.zeros(2), X, Y, eta=1.0)
    >>> [next(states).x.tolist() for _ in range(2)]
    [[0.0, 0.0], [1.0, 2.0]]
    """
    return gradient_descent(
        lambda theta: risk(net, theta, X, Y, alpha=alpha),
        lambda theta: backpropagate(net, theta, X, Y, alpha=alpha)[1],
        theta,
        eta=eta,
    )


def mini_batches(n, batch_size, rng):
    """One pass over n samples in batches, in an order that `rng` draws (None: as they come).

    Yields: the index arrays, of `batch_size` or, the last of them, fewer.
    Raises: ValueError if `batch_size` is no integer >= 1.

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
    objective: float  # mean of the mini-batches' J, by their sizes, each before its own step
    improvement: float  # by how much it is below the lowest before; inf at the start


def sgd(
    loss_and_gradient, theta, n, *, batch_size, learning_rate, momentum=0.0, nesterov=False, rng
):
    """Stochastic gradient descent, a step per mini-batch, with `momentum` mu in [0, 1):

        v <- mu v - eta g,    theta <- theta + v    (`nesterov`:  theta <- theta + mu v - eta g)

    ``loss_and_gradient(theta, rows)`` gives a mini-batch's mean loss and its gradient g (p,); if it
    has a method ``value`` that gives the loss alone, the start takes that. `n`, `batch_size` and
    `rng` are those of `mini_batches`. Momentum lets steps that agree add up, to 1 / (1 - mu) times
    as much, and those that do not cancel.

    Yields: the start, with its exact objective, then a `Pass` per pass over the data.

    >>> def square(theta, rows):
    ...     return float(theta @ theta), 2 * theta
    >>> states = sgd(square, np.array([8.0]), 1, batch_size=1, learning_rate=0.25, rng=None)
    >>> [(next(states).theta.tolist()) for _ in range(4)]
    [[8.0], [4.0], [2.0], [1.0]]
    """
    v, work = np.zeros(len(theta)), np.empty(len(theta))

    def step(theta, gradient):
        np.multiply(gradient, learning_rate, out=work)
        np.multiply(v, momentum, out=v)
        np.subtract(v, work, out=v)
        if nesterov:
            theta -= work
            np.multiply(v, momentum, out=work)
        theta += work if nesterov else v

    yield from _passes(loss_and_gradient, theta, n, batch_size, rng, step)


def adam(
    loss_and_gradient, theta, n, *, batch_size, learning_rate, beta_1=0.9, beta_2=0.999,
    epsilon=1e-8, rng,
):  # fmt: skip
    """Adam: every parameter has its own step length, its mean gradient over its usual size.

        m <- beta_1 m + (1 - beta_1) g,    v <- beta_2 v + (1 - beta_2) g^2,
        theta <- theta - eta_t m / (sqrt(v) + epsilon),
        eta_t = eta sqrt(1 - beta_2^t) / (1 - beta_1^t)

    in step t = 1, 2, ...: m and v start at 0, and eta_t makes up for it. While gradients keep
    their sign, a step is about eta, however large they are. `loss_and_gradient`, `n`, `batch_size`
    and `rng` as for `sgd`.

    Yields: the start, with its exact objective, then a `Pass` per pass over the data.
    Raises: ValueError if the square of a gradient overflows, after which theta would not move.

    >>> def slope(theta, rows):
    ...     return float(theta @ [5.0, -9.0]), np.array([5.0, -9.0])
    >>> states = adam(slope, np.zeros(2), 1, batch_size=1, learning_rate=0.1, rng=None)
    >>> [next(states).theta.round(6).tolist() for _ in range(3)]
    [[0.0, 0.0], [-0.1, 0.1], [-0.2, 0.2]]
    """
    m, v, work, t = np.zeros(len(theta)), np.zeros(len(theta)), np.empty(len(theta)), 0

    def step(theta, gradient):
        nonlocal t
        t += 1
        eta_t = learning_rate * np.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        np.multiply(gradient, 1 - beta_1, out=work)
        np.multiply(m, beta_1, out=m)
        np.add(m, work, out=m)
        np.multiply(gradient, gradient, out=work)
        np.multiply(work, 1 - beta_2, out=work)
        np.multiply(v, beta_2, out=v)
        np.add(v, work, out=v)
        np.sqrt(v, out=work)
        np.add(work, epsilon, out=work)
        np.divide(m, work, out=work)
        np.multiply(work, eta_t, out=work)
        theta -= work

    for state in _passes(loss_and_gradient, theta, n, batch_size, rng, step):
        if v.max() == np.inf:
            raise ValueError(
                "squares of gradients must be finite; got inf: lower the learning rate, or scale "
                "the features"
            )
        yield state


def _passes(loss_and_gradient, theta, n, batch_size, rng, step):
    """The passes of an algorithm whose ``step(theta, gradient)`` moves theta in place."""
    theta = np.array(theta, dtype=np.float64)
    value_of = getattr(loss_and_gradient, "value", lambda *at: loss_and_gradient(*at)[0])
    batches = mini_batches(n, batch_size, None)
    lowest = sum(len(rows) * value_of(theta, rows) for rows in batches) / n
    yield Pass(theta, lowest, np.inf)
    while True:
        theta, total = theta.copy(), 0.0  # what has been yielded stays as it is
        for rows in mini_batches(n, batch_size, rng):
            value, gradient = loss_and_gradient(theta, rows)
            total += len(rows) * value
            step(theta, gradient)
        yield Pass(theta, total / n, lowest - total / n)
        lowest = min(lowest, total / n)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

AUTO_BATCH = 200  # the largest mini-batch of batch_size="auto", as in scikit-learn
LOGISTIC_FACTOR = 2.0  # of `glorot_start` for logistic units


def patient(states, patience):
    """The passes of a solver, each with the largest improvement of the last `patience` + 1.

    To stop where that is at most a tolerance is to stop when as many passes in a row gained
    no more. `states` have an improvement, inf at the start.

    Yields: the `states`, with that for their improvement.

    >>> passes = [Pass(None, 9.0, np.inf), Pass(None, 5.0, 4.0), Pass(None, 5.0, 0.0)]
    >>> [state.improvement for state in patient(passes, 1)]
    [inf, inf, 4.0]
    """
    recent = deque(maxlen=patience + 1)
    for state in states:
        recent.append(state.improvement)
        yield state._replace(improvement=max(recent))


def _judged(states, score):
    """The passes by ``score(theta)``, with the theta of the best so far."""
    best, kept = -np.inf, None
    for state in states:
        if kept is not None:
            value = score(state.theta)
            theta = state.theta if value > best else kept
            state = state._replace(theta=theta, improvement=value - best)
            best = max(best, value)
        kept = state.theta
        yield state


class _Multilayer(Estimator):
    """A feed-forward network, trained by mini-batches."""

    def __init__(
        self, hidden_layer_sizes=(100,), activation="relu", *, solver="adam", alpha=0.0001,
        batch_size="auto", learning_rate_init=0.001, max_iter=200, shuffle=True,
        random_state=None, tol=1e-4, warm_start=False, momentum=0.9, nesterovs_momentum=True,
        early_stopping=False, validation_fraction=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-8,
        n_iter_no_change=10,
    ):  # fmt: skip
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change

    def _targets(self, y, n):
        """The checked y, Y (n, o), the loss, and what the fitted model has to know of y."""
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        """Train on samples X (n, d) with outputs y (n,) of the given weights; return self."""
        samples, hidden = check_samples(X), self._check_parameters()
        y, Y, loss, known = self._targets(y, len(samples))
        weights = None if sample_weight is None else check_weights(sample_weight, len(samples))
        rng = check_random_state(self.random_state)
        net = network((samples.shape[1], *hidden, Y.shape[1]), ACTIVATIONS[self.activation], loss)
        theta = self._start(net, known, rng)
        train, held_out = self._split(y, weights, known, rng)
        f = Objective(net, samples[train], Y[train], self.alpha, _at(weights, train))
        judged, states = [], self._passes(f, theta, len(Y[train]), rng)
        if self.early_stopping:
            test = samples[held_out], y[held_out], _at(weights, held_out)
            states = _judged(states, partial(self._score_of, net, known, test, judged))
        states = patient(states, self.n_iter_no_change)
        with np.errstate(over="ignore", invalid="ignore"):
            run = iterate(states, "improvement", self.tol, self.max_iter)
        check_trained(run)
        self._store(net, run.state.theta, known)
        self._record(run, "improvement", self.tol)
        self._keep_curves(run.history[1:].tolist(), judged)
        return self._remember(X)

    def _check_parameters(self):
        """Refuse what is no value of its hyperparameter; the hidden widths as a tuple."""
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_choice("solver", self.solver, ("adam", "sgd"))
        if not (isinstance(self.batch_size, str) and self.batch_size == "auto"):
            check_number("batch_size", self.batch_size, at_least=1, integer=True)
        for name in ("alpha", "tol"):
            check_number(name, getattr(self, name), at_least=0, below=np.inf)
        for name in ("learning_rate_init", "epsilon"):
            check_number(name, getattr(self, name), above=0, below=np.inf)
        for name in ("max_iter", "n_iter_no_change"):
            check_number(name, getattr(self, name), at_least=1, integer=True)
        for name in ("shuffle", "warm_start", "nesterovs_momentum", "early_stopping"):
            check_flag(name, getattr(self, name))
        for name in ("momentum", "beta_1", "beta_2", "validation_fraction"):
            check_number(name, getattr(self, name), at_least=0, below=1)
        if self.early_stopping:
            check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        check_random_state(self.random_state)
        return hidden_widths(self.hidden_layer_sizes)

    def _start(self, net, known, rng):
        """theta to start from: drawn or, with warm_start, where the last `fit` ended."""
        if not (self.warm_start and hasattr(self, "n_features_in_")):
            factor = {"factor": LOGISTIC_FACTOR} if self.activation == "logistic" else {}
            return glorot_start(net.sizes, **factor, rng=rng)
        layers = self._layers()
        sizes = (layers[0][0].shape[1], *(len(b) for _, b in layers))
        same = all(np.array_equal(value, getattr(self, name)) for name, value in known.items())
        if sizes != net.sizes or not same:
            raise ValueError(
                "with warm_start, widths and classes must be those of the last fit, "
                f"{sizes}; got {net.sizes}, or other classes"
            )
        return pack(layers)

    def _split(self, y, weights, known, rng):
        """Which samples to train on, and which to hold out for early stopping."""
        if not self.early_stopping:
            return slice(None), None
        every, share, labels = np.arange(len(y)), self.validation_fraction, y if known else None
        try:
            parts = train_test_split(every, test_size=share, random_state=rng, stratify=labels)
        except ValueError as error:
            raise ValueError(f"with validation_fraction = {share}, {error}") from None
        if weights is not None and not all(weights[part].any() for part in parts):
            heavy = np.count_nonzero(weights)
            raise ValueError(
                "with early_stopping, samples to train on and samples held out must have weights "
                f"> 0; got {heavy} such of {len(y)} samples, all in one part"
            )
        return parts

    def _passes(self, f, theta, n, rng):
        """The passes of the solver on n samples."""
        auto = isinstance(self.batch_size, str)
        batch_size = min(AUTO_BATCH if auto else self.batch_size, n)
        rng = rng if self.shuffle else None
        how = {"batch_size": batch_size, "learning_rate": self.learning_rate_init, "rng": rng}
        if self.solver == "sgd":
            momentum, nesterov = self.momentum, self.nesterovs_momentum
            return sgd(f, theta, n, momentum=momentum, nesterov=nesterov, **how)
        betas = {"beta_1": self.beta_1, "beta_2": self.beta_2}
        return adam(f, theta, n, epsilon=self.epsilon, **betas, **how)

    def _score_of(self, net, known, test, judged, theta):
        """The score of a copy with the parameters theta, appended to those `judged` so far."""
        judged.append(copy(self)._store(net, theta, known)._remember(test[0]).score(*test))
        return judged[-1]

    def _store(self, net, theta, known):
        """Keep the parameters as scikit-learn does, W_j transposed."""
        layers = unpack(theta, net.sizes)
        self.coefs_ = [W.T.copy() for W, _ in layers]
        self.intercepts_ = [b.copy() for _, b in layers]
        self.n_layers_, self.n_outputs_ = len(net.sizes), net.sizes[-1]
        self.out_activation_ = net.activations[-1].name
        vars(self).update(known)
        return self

    def _keep_curves(self, losses, judged):
        """Keep the losses of the passes, and the scores that early stopping went by."""
        self.loss_curve_, self.loss_ = losses, losses[-1]
        self.best_loss_ = None if self.early_stopping else min(losses)
        self.validation_scores_ = judged if self.early_stopping else None
        self.best_validation_score_ = max(judged) if self.early_stopping else None

    def _layers(self):
        return [(V.T, b) for V, b in zip(self.coefs_, self.intercepts_, strict=True)]

    def _net_inputs(self, X):
        """The net inputs of the last layer, (n, o)."""
        X, layers = self._check_fitted(X), self._layers()
        hidden = [ACTIVATIONS[self.activation]] * (len(layers) - 1)
        return scores(forward(layers[:-1], hidden, X)[-1], *layers[-1])


def hidden_widths(sizes):
    """The hyperparameter hidden_layer_sizes, a number or several, as a tuple.

    Raises: ValueError if these `sizes` are no integers >= 1.

    >>> hidden_widths(100), hidden_widths([30, 10])
    ((100,), (30, 10))
    """
    widths = (sizes,) if isinstance(sizes, Integral) else sizes
    try:
        return tuple(check_number("", m, at_least=1, integer=True) for m in widths)
    except (TypeError, ValueError):
        raise ValueError(f"hidden_layer_sizes must be integers >= 1; got {sizes!r}") from None


def check_trained(run):
    """Refuse a `run` of training, a `base.Run`, whose cost or weights have run away.

    Raises: ValueError if the last are not finite.

    >>> from mlnotes.base import Run
    >>> check_trained(Run(Pass(np.zeros(2), 1.0, 0.5), np.array([1.5, 1.0]), 1, True))
    """
    if not (np.isfinite(run.history).all() and np.isfinite(run.state.theta).all()):
        raise ValueError(
            f"the weights must stay finite; they have not in pass {run.n_iter}: lower "
            "learning_rate_init, or scale the features"
        )


class MLPClassifier(_Multilayer, Classifier):
    """Classifier by a feed-forward network with softmax output, trained on the cross-entropy.

    As scikit-learn's, two classes have one logistic output, for the second. It minimises the mean
    cross-entropy plus the penalty, in mini-batches whose own size is the n of the penalty: the
    smaller they are, the more alpha weighs.

    Parameters
    ----------
    hidden_layer_sizes : int, or sequence of them; widths of the hidden layers, none for a linear
        classifier
    activation : "relu", "tanh", "logistic" or "identity"; of the hidden layers
    solver : "adam" or "sgd"
    alpha : float; of the penalty alpha / (2 n) sum_j ||W_j||^2
    batch_size : int or "auto", which is 200; no more than there are samples
    learning_rate_init : float; eta, constant throughout
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new order in every pass
    random_state : int, Generator or None; draws the start, the order and what is held out
    tol : float; stops once the loss has not fallen below its lowest value, or the validation
        score risen above its highest, by more than this in n_iter_no_change + 1 passes in a row
    warm_start : bool; start where the last `fit` ended
    momentum : float; of "sgd"
    nesterovs_momentum : bool; of "sgd"
    early_stopping : bool; hold samples out, judge every pass by the score on them, and keep the
        parameters of the best
    validation_fraction : float; the share that is held out
    beta_1, beta_2, epsilon : float; of "adam"
    n_iter_no_change : int

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    coefs_ : list of l ndarray of shape (n_{j-1}, n_j), the transposes of our W_j
    intercepts_ : list of l ndarray of shape (n_j,)
    n_layers_ : int; l + 1, as the input counts
    n_outputs_ : int
    out_activation_ : "softmax", or "logistic" for two classes
    loss_curve_ : list of n_iter_ float; the mean loss of the mini-batches of every pass, each
        before its own step
    loss_ : float; the last of them
    best_loss_ : float; the lowest, None with early_stopping
    validation_scores_ : list of n_iter_ float; None without early_stopping
    best_validation_score_ : float; None without early_stopping
    history_ : ndarray of shape (n_iter_ + 1,); the loss at the start, then loss_curve_
    n_iter_ : int; passes of this `fit`
    converged_ : bool; whether training stopped by itself
    n_features_in_ : int

    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["even", "odd", "odd", "even"]
    >>> model = MLPClassifier((8,), max_iter=1000, learning_rate_init=0.05, random_state=0)
    >>> model.fit(X, y).predict(X)
    array(['even', 'odd', 'odd', 'even'], dtype='<U4')
    """

    def _targets(self, y, n):
        y = check_labels(y, n)
        classes = np.unique(y)
        Y, known = one_hot(y, classes), {"classes_": classes}
        if len(classes) == 2:
            return y, Y[:, 1:], BINARY_CROSS_ENTROPY, known
        return y, Y, CROSS_ENTROPY, known

    def predict(self, X):
        """Labels (n,) of the most probable classes."""
        A = self._net_inputs(X)
        return self.classes_[(A[:, 0] > 0).astype(int) if A.shape[1] == 1 else A.argmax(axis=1)]

    def predict_proba(self, X):
        """Probabilities (n, C) of the classes."""
        A = self._net_inputs(X)
        return np.hstack([sigmoid(-A), sigmoid(A)]) if A.shape[1] == 1 else softmax(A)

    def predict_log_proba(self, X):
        """Their logarithms, finite where the probability itself is 0 in floating point."""
        A = self._net_inputs(X)
        if A.shape[1] == 1:
            return -np.hstack([log_loss(-A), log_loss(A)])
        return A - log_sum_exp(A)[:, None]


class MLPRegressor(_Multilayer, Regressor):
    """Regressor by a feed-forward network with identity output, trained on 1/2 (f(x) - y)^2.

    Its arguments are by name only: scikit-learn's begin with the loss, of which there is one here.

    Parameters
    ----------
    Those of `MLPClassifier`.

    Attributes
    ----------
    Those of `MLPClassifier`, without classes_; out_activation_ is "identity".

    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> model = MLPRegressor(n_iter_no_change=50, learning_rate_init=0.01, random_state=0)
    >>> model.fit(X, np.abs(X[:, 0])).score(X, np.abs(X[:, 0])) > 0.99
    True
    """

    def __init__(
        self, *, hidden_layer_sizes=(100,), activation="relu", solver="adam", alpha=0.0001,
        batch_size="auto", learning_rate_init=0.001, max_iter=200, shuffle=True,
        random_state=None, tol=1e-4, warm_start=False, momentum=0.9, nesterovs_momentum=True,
        early_stopping=False, validation_fraction=0.1, beta_1=0.9, beta_2=0.999, epsilon=1e-8,
        n_iter_no_change=10,
    ):  # fmt: skip
        super().__init__(
            hidden_layer_sizes, activation, solver=solver, alpha=alpha, batch_size=batch_size,
            learning_rate_init=learning_rate_init, max_iter=max_iter, shuffle=shuffle,
            random_state=random_state, tol=tol, warm_start=warm_start, momentum=momentum,
            nesterovs_momentum=nesterovs_momentum, early_stopping=early_stopping,
            validation_fraction=validation_fraction, beta_1=beta_1, beta_2=beta_2,
            epsilon=epsilon, n_iter_no_change=n_iter_no_change,
        )  # fmt: skip

    def _targets(self, y, n):
        y = check_targets(y, n)
        return y, y[:, None], SQUARED_ERROR, {}

    def predict(self, X):
        """Outputs f(x), (n,)."""
        return self._net_inputs(X)[:, 0]
