"""Neural networks: layers of linear maps and activations, trained by the chain rule.

Layers of neurons represent functions that no linear classifier can, such as XOR. The chain rule for
their gradient is given by indices and as a product of Jacobians, as in the notes, and in the matrix
form for many samples at once that training uses.

Contents
    The neuron            Activation, hard_limiter, logistic, scaled_tanh, RELU, LOGISTIC, TANH,
                          IDENTITY, SOFTMAX, ACTIVATIONS, neuron
    A layer               net_input
    Losses                cross_entropy, softmax_cross_entropy, Loss, SQUARED_ERROR, CROSS_ENTROPY,
                          BINARY_CROSS_ENTROPY, one_hot
    The network           Network, network, forward, output_loss, network_risk
    Jacobians             mult_jacobian, softmax_jacobian, activation_jacobian, jacobian_rows
    Backpropagation       deltas, backpropagate
    The gradient check    pack, unpack
    Starting points       normal_start, glorot_start
    Descent               tree_map, train_full_batch, mini_batches, Pass, passes, sgd, adam
    Estimators            hidden_widths, Trainer, SoftmaxClassifier, MLPClassifier, MLPRegressor

Symbols
    X       (n, d)           samples x, one per row
    Y       (n, o)           targets y (o,), one per row; for classes, the rows of `one_hot`
    l       int              number of layers of weights; layer 0 is the input, h_0 = x
    sizes   (l + 1,)         widths (d_0, ..., d_l): d_0 = d inputs, d_l = o outputs
    W, b    (d_j, d_{j-1})   weights of layer j: W[k, i] leads from unit i of layer j - 1 to unit
            and (d_j,)       k of layer j; its biases
    layers  list             all (W_j, b_j), the parameters of a network; a gradient has this form
    net     Network          widths, activations and loss: everything except the parameters
    a, h    (d_j,)           net input a_j = W_j h_{j-1} + b_j and output h_j = sigma_j(a_j);
                             A and H (n, d_j) hold those of n samples
    delta   (d_j,)           dL/da_j; Delta (n, d_j) holds those of n samples, divided by n
    L, J    float            loss of one sample; mean loss of the samples plus the penalty
    D       matrix           a Jacobian: D_sigma, D_mult, D_L
    alpha   float            strength of the penalty alpha / (2 n) sum_j ||W_j||^2
    s       (C,)             the C probabilities of a softmax
    theta   list or array    the parameters that a stochastic algorithm moves: the `layers` of a
                             network, or any array; for the gradient check, a vector (p,) of all
                             entries: W_1 row by row, b_1, W_2, ...
    eta     float            learning rate; `learning_rate` in the stochastic algorithms
    rows    (m,)             indices of the samples of a mini-batch
    rng     Generator        draws starting points, and the order of the samples in every pass

Notes: MLN "Neural Network Models", "Backpropagation Algorithm"; IRHD 5.1 to 5.3; ISML "Deep
Learning". MLN counts the input as layer 1 and writes eta for our a, y^l for our h_{l-1}, d for
our y, and w_ij for the weight from unit i to unit j, so that its matrix is the transpose of our
W. IRHD's step size is alpha, its W_j has n_j rows and m_j columns (our d_j and d_{j-1}), its
Jacobians are J, and biases appear in a footnote only. A network of more than three layers of
weights is called deep.
"""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    LARGEST,
    ConvergenceWarning,
    Estimator,
    LogProbabilisticClassifier,
    Regressor,
    Run,
    bits,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_random_state,
    check_samples,
    check_targets,
    floats,
    shared,
)
from mlnotes.estimation import kronecker
from mlnotes.logistic_regression import log_loss, sigmoid, softmax
from mlnotes.model_selection import train_test_split
from mlnotes.optimization import DescentState
from mlnotes.probability import log_sum_exp, x_log_y

# =======================================================================================
# The lecture
# =======================================================================================

# --- The neuron ------------------------------------------------------------------------


class Activation(NamedTuple):
    """A function h = f(a) that every unit of a layer applies to its own net input, and its slope.

    The slope f'(a) is written as a function of the output h, which the forward pass has stored:

        hard limiter    1[a > tau]              0 (where it exists)
        logistic        1 / (1 + e^{-b a})      b h (1 - h)
        tanh            a0 tanh(b a)            b (a0 - h^2 / a0)
        ReLU            max(0, a)               1[h > 0] = 1[a > 0]
        identity        a                       1

    >>> RELU.slope(np.array([0.0, 3.0]))
    array([0., 1.])
    """

    name: str
    f: Callable  # the outputs h, of the shape of the net inputs a
    slope: Callable | None  # f'(a) at the a with f(a) = h; None if a unit depends on the others


def hard_limiter(tau=0.0):
    """1[a > tau], the activation of the perceptron: 0 at a = tau, with slope 0 elsewhere.

    >>> hard_limiter(tau=1.0).f(np.array([0.0, 1.0, 2.0]))
    array([0., 0., 1.])
    """
    return Activation("hard limiter", lambda a: np.where(a > tau, 1.0, 0.0), np.zeros_like)


def logistic(b=1.0):
    """1 / (1 + e^{-b a}), the logistic `Activation` of steepness b > 0.

    >>> logistic().f(np.array([0.0, -1000.0]))
    array([0.5, 0. ])

    Errata: neural_networks-03 (MLN announces parameters a, b > 0, but its formula has no a).
    """
    return Activation("logistic", lambda a: sigmoid(b * a), lambda h: b * h * (1 - h))


def scaled_tanh(a0=1.0, b=1.0):
    """a0 tanh(b a) = 2 a0 sigma(2 b a) - a0, with amplitude a0 > 0 and steepness b > 0.

    >>> scaled_tanh(a0=2.0).f(np.array([0.0, 1000.0]))
    array([0., 2.])
    """
    return Activation("tanh", lambda a: a0 * np.tanh(b * a), lambda h: b * (a0 - h**2 / a0))


LOGISTIC, TANH = logistic(), scaled_tanh()
RELU = Activation("relu", lambda a: np.maximum(a, 0.0), lambda h: np.where(h > 0, 1.0, 0.0))
IDENTITY = Activation("identity", lambda a: a, np.ones_like)
SOFTMAX = Activation("softmax", softmax, None)  # the outputs sum to 1: see `softmax_jacobian`
ACTIVATIONS = {each.name: each for each in (IDENTITY, LOGISTIC, TANH, RELU)}  # for hidden layers


def neuron(X, w, b, activation):
    """y = f(a) of every sample (n,), the `activation` of its net input a = w^T x + b.

    >>> neuron(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0]), -1.5, hard_limiter())
    array([1., 0.])
    """
    X, w = floats(X, w)
    return activation.f(X @ w + b)


# --- A layer ---------------------------------------------------------------------------


def net_input(X, W, b):
    """a = W x + b of every sample (n, C): C linear scores, or the net inputs of a layer.

    Row w_k of W is a template, and w_k^T x + b_k measures how well x fits it.

    >>> net_input(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([0.5, 0.0]))
    array([[11.5,  2. ]])

    Errata: neural_networks-05 (ISML prints the scores as W x, without b).
    """
    X, W, b = floats(X, W, b)
    return X @ W.T + b


# --- Losses ----------------------------------------------------------------------------


def cross_entropy(P, Q):
    """H(P, Q) = -sum_c p_c log q_c = H(P) + KL(P || Q) >= H(P), with equality iff Q = P.

    For P = e_c it is -log q_c. 0 log 0 counts as 0. P and Q (..., C) hold distributions in rows.

    >>> cross_entropy(np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3)  # log 2
    array([0.693, 0.693])
    """
    return -np.sum(x_log_y(*floats(P, Q)), axis=-1)


def softmax_cross_entropy(A, Y):
    """L = -log s_c (n,), the cross-entropy of y = e_c and s = softmax(a), from the net inputs A:

        L = log sum_k exp(a_k) - y^T a,    dL/da = s - y .

    >>> softmax_cross_entropy(np.array([[0.0, 0.0], [0.0, -99.0]]), np.eye(2)).round(2)
    array([ 0.69, 99.  ])

    Errata: neural_networks-30 (IRHD 5.18 has the number y_c for the vector e_c, and 5.19 a product
    with the label where the component f(x_i)_{c_i} is meant).
    """
    A = floats(A)
    A = A - A.max(axis=1, keepdims=True)  # as y sums to 1, a shift of all a_k changes nothing
    return np.log(np.exp(A).sum(axis=1)) - np.sum(Y * A, axis=1)


class Loss(NamedTuple):
    """A loss L(h, y) of the output h of a network, for every sample, and its slope:

        squared error           1/2 ||h - y||^2                     h - y
        cross-entropy           -sum_c y_c log h_c                  -y_c / h_c
        binary cross-entropy    -y log h - (1 - y) log(1 - h)       (1 - y) / (1 - h) - y / h

    The y of the last is 0 or 1. Through its matching `output` activation each loss has
    delta_l = dL/da_l = h - y. IRHD's squared error has no 1/2, and a gradient twice as long.

    >>> SQUARED_ERROR.f(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]))
    array([2.])
    """

    f: Callable  # L (n,), from the outputs H and the targets Y (n, o)
    slope: Callable  # dL/dh (n, o)
    output: Activation | None  # the matching activation
    of_net_input: Callable | None  # L through it, from A (n, o), finite for A of any size


SQUARED_ERROR = Loss(
    f=lambda H, Y: np.sum((floats(H) - Y) ** 2, axis=-1) / 2,
    slope=lambda H, Y: floats(H) - Y,
    output=IDENTITY,
    of_net_input=lambda A, Y: np.sum((floats(A) - Y) ** 2, axis=-1) / 2,
)
CROSS_ENTROPY = Loss(
    f=lambda H, Y: cross_entropy(Y, H),
    slope=lambda H, Y: Y / np.where(Y > 0, -H, -1.0),  # a class without probability has no slope
    output=SOFTMAX,
    of_net_input=softmax_cross_entropy,
)
BINARY_CROSS_ENTROPY = Loss(
    f=lambda H, Y: cross_entropy(Y, H) + cross_entropy(1 - bits(Y), 1 - H),
    slope=lambda H, Y: (1 - bits(Y)) / np.where(Y < 1, 1 - H, 1.0) - Y / np.where(Y > 0, H, 1.0),
    output=LOGISTIC,
    of_net_input=lambda A, Y: np.sum(log_loss((2 * bits(Y) - 1) * A), axis=1),
)


def one_hot(y, classes):
    """Class c as the unit vector e_c (n, C): 1 in column k where y is the k-th of the `classes`.

    Raises: KeyError for a label that is not one of them.

    >>> one_hot(np.array(["b", "a"]), ["a", "b"])
    array([[0., 1.],
           [1., 0.]])
    """
    column = {c: k for k, c in enumerate(np.asarray(classes).tolist())}
    return np.eye(len(column))[[column[c] for c in np.asarray(y).tolist()]]


# --- The network -----------------------------------------------------------------------


class Network(NamedTuple):
    """A class of functions: widths, activations and loss; the `layers` choose one of them."""

    sizes: tuple  # (d_0, ..., d_l)
    activations: tuple  # (sigma_1, ..., sigma_l)
    loss: Loss


def network(sizes, hidden=RELU, loss=SQUARED_ERROR, output=None):
    """A `Network` with one activation for all `hidden` layers and one for the `output` layer.

    If `output` is None, the loss's matching activation is taken.

    >>> [sigma.name for sigma in network((2, 5, 3), TANH, CROSS_ENTROPY).activations]
    ['tanh', 'softmax']
    """
    output = loss.output if output is None else output
    return Network(tuple(sizes), (hidden,) * (len(sizes) - 2) + (output,), loss)


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
        H.append(sigma.f(net_input(H[-1], W, b)))
    return H


def output_loss(net, A, Y):
    """L (n,) and delta_l = dL/da_l (n, o), from the net inputs A (n, o) of the last layer.

    If the output activation matches the loss, delta_l = h_l - y, and L stays finite where h_l
    rounds to 0 or 1. Otherwise delta_l = dL/dh_l * sigma_l'(a_l).

    >>> output_loss(network((1, 1)), np.array([[3.0]]), np.array([[1.0]]))
    (array([2.]), array([[2.]]))
    """
    loss, sigma, Y = net.loss, net.activations[-1], np.reshape(Y, A.shape)
    H = sigma.f(A)
    if sigma is loss.output:
        return loss.of_net_input(A, Y), H - Y
    return loss.f(H, Y), loss.slope(H, Y) * sigma.slope(H)


def network_risk(net, layers, X, Y, *, alpha=0.0):
    """J = (1/n) sum_i L(f(x_i), y_i) + alpha / (2 n) sum_j ||W_j||^2, a float.

    >>> layers = [(np.array([[2.0]]), np.array([0.0]))]
    >>> network_risk(network((1, 1)), layers, np.array([[1.0], [3.0]]), np.zeros((2, 1)))
    10.0
    """
    layers = tree_map(floats, layers)
    H = forward(layers[:-1], net.activations[:-1], X)
    L, _ = output_loss(net, net_input(H[-1], *layers[-1]), Y)
    return float(L.mean() + alpha / (2 * len(X)) * sum(np.vdot(W, W) for W, _ in layers))


# --- Jacobians -------------------------------------------------------------------------


def mult_jacobian(x, m):
    """D_mult(x) = I_m (x) x^T (m, m d) of the map W -> W x, where W (m, d) is read row by row.

    >>> mult_jacobian(np.array([5.0, 6.0]), m=2)
    array([[5., 6., 0., 0.],
           [0., 0., 5., 6.]])
    """
    return kronecker(np.eye(m), x[None])


def softmax_jacobian(s):
    """D = diag(s) - s s^T (C, C) of the softmax, at the net inputs a whose softmax is s.

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    s = floats(s)
    return np.diag(s) - np.outer(s, s)


def activation_jacobian(sigma, h):
    """D_sigma(a) = diag(f'(a_1), ..., f'(a_m)) of a layer with outputs h: (m, m).

    The activation `sigma` acts on each unit by itself, except the softmax, whose Jacobian is full.

    >>> activation_jacobian(RELU, np.array([0.0, 3.0]))
    array([[0., 0.],
           [0., 1.]])

    Errata: neural_networks-27 (IRHD 5.4 and 5.7 take all Jacobians as diagonal; the softmax's is
    not).
    """
    return softmax_jacobian(h) if sigma is SOFTMAX else np.diag(sigma.slope(h))


def jacobian_rows(net, layers, x, y, j):
    """dL/dW_j (d_j d_{j-1},) and dL/db_j (d_j,) of one sample, as IRHD's product of Jacobians:

        dL/dW_j = D_L(h_l) D_sigma_l(a_l) W_l D_sigma_{l-1}(a_{l-1}) W_{l-1} ...
                  W_{j+1} D_sigma_j(a_j) D_mult(h_{j-1}),

    and dL/db_j is the same product without its last factor. `j` is 1, ..., l.

    >>> layers = [(np.array([[2.0]]), np.array([0.0]))]
    >>> jacobian_rows(network((1, 1)), layers, np.array([3.0]), np.zeros(1), j=1)
    (array([18.]), array([6.]))

    Errata: neural_networks-20 (after J_sigma_{l-1} IRHD prints an undefined "J_{l-1}" for W_{l-1}).
    """
    sigma = net.activations
    h = [H[0] for H in forward(layers, sigma, x[None])]
    row = net.loss.slope(h[-1], y) @ activation_jacobian(sigma[-1], h[-1])
    for k in range(len(layers) - 1, j - 1, -1):
        row = row @ layers[k][0] @ activation_jacobian(sigma[k - 1], h[k])
    return row @ mult_jacobian(h[j - 1], len(row)), row


# --- Backpropagation -------------------------------------------------------------------


def deltas(net, layers, x, y):
    """delta_j = dL/da_j of one sample, unit by unit from the output back, as in MLN:

        delta_i of layer l  =  sum_k dL/dh_k dh_k/da_i   ( = (h_i - y_i) f'(a_i), squared loss )
        delta_i of layer j  =  ( sum_k delta_k of layer j+1  times  w_{k i} )  f'(a_i)

    From them follow dL/dw_{k i} = delta_k of layer j times h_i of layer j-1, and dL/db_k = delta_k.

    Returns: the list of delta_1, ..., delta_l, and the list of h_0, ..., h_l.

    >>> layers = [(np.array([[2.0]]), np.zeros(1)), (np.array([[3.0]]), np.zeros(1))]
    >>> deltas(network((1, 1, 1)), layers, np.ones(1), np.zeros(1))[0]
    [array([18.]), array([6.])]

    Errata: neural_networks-22 (MLN prints the first formula for any layer).
    """
    sigma = net.activations
    h = [H[0] for H in forward(layers, sigma, x[None])]
    slope, D = net.loss.slope(h[-1], y), activation_jacobian(sigma[-1], h[-1])
    units = range(net.sizes[-1])
    delta = [np.array([sum(slope[k] * D[k, i] for k in units) for i in units])]
    for j in range(len(layers) - 1, 0, -1):
        (W, _), above, f_prime = layers[j], delta[0], sigma[j - 1].slope(h[j])
        back = [sum(above[k] * W[k, i] for k in range(len(W))) for i in range(net.sizes[j])]
        delta.insert(0, np.array(back) * f_prime)
    return delta, h


def backpropagate(net, layers, X, Y, *, alpha=0.0):
    """J and its gradient, for all samples at once: forward, then back through the layers.

        Delta_l = (H_l - Y) / n                    (or dL/dA_l / n for another output activation)
        Delta_j = (Delta_{j+1} W_{j+1}) * sigma_j'(A_j),    j = l - 1, ..., 1
        dJ/dW_j = Delta_j^T H_{j-1} + alpha / n W_j,    dJ/db_j = sum of the rows of Delta_j

    Returns: J, and the list of (dJ/dW_j, dJ/db_j).

    >>> X, Y = np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 1))
    >>> backpropagate(network((2, 1)), [(np.ones((1, 2)), np.zeros(1))], X, Y)
    (12.25, [(array([[10.5, 14. ]]), array([3.5]))])
    """
    sigma, n, layers = net.activations, len(X), tree_map(floats, layers)

    H = forward(layers[:-1], sigma[:-1], X)  # forward: H_0, ..., H_{l-1}
    A = net_input(H[-1], *layers[-1])  # net inputs of the output layer
    L, delta = output_loss(net, A, Y)
    J = L.mean() + alpha / (2 * n) * sum(np.vdot(W, W) for W, _ in layers)

    Delta, gradient = delta / n, []  # back: Delta_l, ..., Delta_1
    for j in range(len(layers), 0, -1):
        W, _ = layers[j - 1]  # W_j: a list counts from 0
        gradient.insert(0, (Delta.T @ H[j - 1] + alpha / n * W, Delta.sum(axis=0)))
        if j > 1:
            Delta = (Delta @ W) * sigma[j - 2].slope(H[j - 1])  # Delta_{j-1}
    return float(J), gradient


# --- The gradient check ----------------------------------------------------------------


def pack(layers):
    """theta (p,), the entries of all (W_j, b_j): each W row by row, as IRHD's pi, then its b.

    >>> pack([(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0]))])
    array([1., 2., 3., 4., 5., 6.])
    """
    return np.concatenate([each.ravel() for layer in layers for each in layer])


def unpack(theta, sizes):
    """The list of (W_j, b_j) that theta (p,) holds, as views of theta: the inverse of `pack`.

    >>> unpack(np.arange(6.0), (2, 2))
    [(array([[0., 1.],
           [2., 3.]]), array([4., 5.]))]
    """
    layers = []
    for k, m in zip(sizes[:-1], sizes[1:], strict=True):
        W, b, theta = theta[: m * k], theta[m * k : m * k + m], theta[m * k + m :]
        layers.append((W.reshape(m, k), b))
    return layers


# --- Starting points -------------------------------------------------------------------


def normal_start(sizes, *, rng):
    """Layers with weights from N(0, 1), and biases 0.

    Units of a layer that start with equal weights get equal gradients forever.

    >>> (W, b), = normal_start((3, 1), rng=np.random.default_rng(0))
    >>> W.round(2), b
    (array([[ 0.13, -0.13,  0.64]]), array([0.]))
    """
    widths = zip(sizes[:-1], sizes[1:], strict=True)
    return [(rng.normal(size=(m, k)), np.zeros(m)) for k, m in widths]


def glorot_start(sizes, *, factor=6.0, rng):
    """Layers uniform between -M and M, M = sqrt(factor / (d_{j-1} + d_j)) in layer j, biases too.

    This keeps the size of the outputs and of the deltas from layer to layer. As in scikit-learn,
    training starts here, with `factor` 2 for logistic units.

    >>> (W, b), = glorot_start((1, 1), factor=8.0, rng=np.random.default_rng(0))  # M = 2
    >>> W.round(2), b.round(2)
    (array([[0.55]]), array([-0.92]))
    """
    layers = []
    for k, m in zip(sizes[:-1], sizes[1:], strict=True):
        M = np.sqrt(factor / (k + m))
        layers.append((rng.uniform(-M, M, size=(m, k)), rng.uniform(-M, M, size=m)))
    return layers


# --- Descent ---------------------------------------------------------------------------


def tree_map(f, *trees):
    """f of the arrays at the same place of all `trees`, in the form of the first of them.

    A tree is an array or a list of trees, such as the layers of a network and their gradient.

    >>> tree_map(lambda w, g: w - g / 2, [(8.0, 6.0), (4.0, 2.0)], [(2.0, 2.0), (4.0, 4.0)])
    [(7.0, 5.0), (2.0, 0.0)]
    """
    if isinstance(trees[0], list | tuple):
        return type(trees[0])(tree_map(f, *branches) for branches in zip(*trees, strict=True))
    return f(*trees)


def train_full_batch(net, layers, X, Y, *, eta, alpha=0.0):
    """Gradient descent on all samples: W_j <- W_j - eta dJ/dW_j and b_j <- b_j - eta dJ/db_j.

    Yields: the start, then an `optimization.DescentState` per step, whose x is the layers.

    >>> start = [(np.zeros((1, 1)), np.zeros(1))]
    >>> states = train_full_batch(network((1, 1)), start, np.eye(1), np.array([[4.0]]), eta=0.5)
    >>> [pack(next(states).x).tolist() for _ in range(2)]
    [[0.0, 0.0], [2.0, 2.0]]
    """
    step = np.nan  # no step has led to the start
    while True:
        J, gradient = backpropagate(net, layers, X, Y, alpha=alpha)
        yield DescentState(layers, J, float(np.linalg.norm(pack(gradient))), step)
        layers, step = tree_map(lambda w, g: w - eta * g, layers, gradient), eta


def mini_batches(n, batch_size, rng):
    """One pass over n samples in mini-batches, in random order; in their own order for rng = None.

    Yields: the index arrays, each of `batch_size` indices; the last may have fewer.

    >>> [rows.tolist() for rows in mini_batches(5, 2, None)]
    [[0, 1], [2, 3], [4]]
    """
    order = np.arange(n) if rng is None else rng.permutation(n)
    for start in range(0, n, batch_size):
        yield order[start : start + batch_size]


class Pass(NamedTuple):
    """A stochastic algorithm after a pass over the data."""

    theta: Any  # the parameters, an array or a list of (W_j, b_j)
    objective: float  # mean J of the mini-batches, each computed before its own step
    improvement: float  # the lowest objective before, minus this one; inf at the start


def passes(loss_and_gradient, theta, n, batch_size, rng, step, memory=None):
    """Passes over n samples: (theta, memory) <- step(theta, memory, g) for `batch_size` at a time.

    ``loss_and_gradient(theta, rows)`` returns the mean loss J of the mini-batch and the gradient g.
    The `memory` is what an algorithm keeps from step to step, such as its velocity.

    Yields: the start, with the exact objective, then a `Pass` per pass over the data.

    >>> square = lambda theta, rows: (float(theta @ theta), 2 * theta)
    >>> states = passes(square, np.array([8.0]), 1, 1, None, lambda theta, u, g: (theta - g / 4, u))
    >>> [next(states).theta.tolist() for _ in range(3)]
    [[8.0], [4.0], [2.0]]
    """
    theta, batches = tree_map(floats, theta), mini_batches(n, batch_size, None)
    lowest = sum(len(rows) * loss_and_gradient(theta, rows)[0] for rows in batches) / n
    yield Pass(theta, lowest, np.inf)  # the start
    while True:
        total = 0.0
        for rows in mini_batches(n, batch_size, rng):
            J, g = loss_and_gradient(theta, rows)
            total = total + len(rows) * J  # the loss before the step
            theta, memory = step(theta, memory, g)
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
    eta, mu = learning_rate, momentum

    def accelerate(u, g):
        return mu * u - eta * g

    def step(theta, u, g):
        u = tree_map(accelerate, u, g)
        move = tree_map(accelerate, u, g) if nesterov else u
        return tree_map(np.add, theta, move), u

    zero = tree_map(np.zeros_like, theta)
    return passes(loss_and_gradient, theta, n, batch_size, rng, step, memory=zero)


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

    def step(theta, memory, g):
        m, v, t = memory
        t = t + 1
        m = tree_map(lambda m, g: beta_1 * m + (1 - beta_1) * g, m, g)
        v = tree_map(lambda v, g: beta_2 * v + (1 - beta_2) * g**2, v, g)
        eta_t = learning_rate * np.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        move = tree_map(lambda m, v: eta_t * m / (np.sqrt(v) + epsilon), m, v)
        return tree_map(np.subtract, theta, move), (m, v, t)

    zero = tree_map(np.zeros_like, theta)
    return passes(loss_and_gradient, theta, n, batch_size, rng, step, memory=(zero, zero, 0))


# =======================================================================================
# The estimators
# =======================================================================================

AUTO_BATCH = 200  # the largest mini-batch of batch_size="auto", as in scikit-learn
LOGISTIC_FACTOR = 2.0  # the `factor` of `glorot_start` for logistic units, as in scikit-learn


def hidden_widths(sizes):
    """The hyperparameter hidden_layer_sizes, one number or several, as a tuple.

    Raises: ValueError if these `sizes` are not integers >= 1.

    >>> hidden_widths(100), hidden_widths([30, 1])
    ((100,), (30, 1))
    """
    widths = (sizes,) if isinstance(sizes, Integral) else sizes
    try:
        return tuple(check_number("", m, at_least=1, integer=True) for m in widths)
    except (TypeError, ValueError):
        raise ValueError(f"hidden_layer_sizes must be integers >= 1; got {sizes!r}") from None


@dataclass(eq=False, repr=False, kw_only=True)
class Trainer:
    """The hyperparameters of training by mini-batches.

    Parameters
    ----------
    solver : "adam" or "sgd"
    batch_size : int or "auto", which is 200; at most the number of samples
    learning_rate_init : float; eta, constant throughout
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new order in every pass
    random_state : int, Generator or None; draws the start, the order and the samples held out
    tol : float; training stops when n_iter_no_change + 1 passes in a row have not improved by more
        than tol: the loss on its lowest value, or with early_stopping the score on its highest
    momentum, nesterovs_momentum : float in [0, 1) and bool; of "sgd"
    beta_1, beta_2, epsilon : float; of "adam"
    n_iter_no_change : int; see tol

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

    early_stopping = False  # a hyperparameter of some networks only

    @property
    def coefs_(self):
        """The transposes of the W_j, as scikit-learn stores them."""
        return [W.T for W, _ in self.layers_]

    @property
    def intercepts_(self):
        """The biases b_j."""
        return [b for _, b in self.layers_]

    @property
    def loss_curve_(self):
        """The mean losses of the passes."""
        return self.history_[1:].tolist()

    @property
    def loss_(self):
        """The mean loss of the last pass."""
        return self.loss_curve_[-1]

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
        params = {"batch_size": min(batch_size, n), "learning_rate": self.learning_rate_init}
        params["rng"] = rng if self.shuffle else None
        if self.solver == "sgd":
            params |= {"momentum": self.momentum, "nesterov": self.nesterovs_momentum}
            return sgd(loss_and_gradient, theta, n, **params)
        params |= {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
        return adam(loss_and_gradient, theta, n, **params)

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is refused by name
    def _train(self, states, score=None):
        """Run the passes until n_iter_no_change + 1 in a row are not better by more than tol.

        Better is a lower objective. With early stopping it is a higher ``score(theta)`` on samples
        held out, and the state of the highest score is kept.

        Returns: a `base.Run`, and the scores of the passes.
        """
        history, scores, best, waited = [], [], -np.inf, 0
        for n_iter, state in enumerate(states):
            tree_map(partial(_check_range, n_iter), [state.objective, state.theta])
            value = -state.objective if score is None else score(state.theta)
            waited = 0 if value > best + self.tol else waited + 1
            if score is None or value > best:
                kept = state
            best = max(best, value)
            history.append(state.objective)
            scores.append(value)
            if waited > self.n_iter_no_change or n_iter == self.max_iter:
                break
        converged = waited > self.n_iter_no_change
        return Run(kept, np.array(history), n_iter, converged), scores[1:]

    def _report(self, run):
        """Keep how training ended; warn the caller of `fit` if it was cut."""
        self.history_, self.n_iter_, self.converged_ = run.history, run.n_iter, run.converged
        if not run.converged:
            aim = "raise the score on held-out samples" if self.early_stopping else "lower the loss"
            warnings.warn(
                f"{type(self).__name__} stopped after {run.n_iter} iterations, before "
                f"{self.n_iter_no_change + 1} in a row had failed to {aim} by more than "
                f"tol = {self.tol:g}: see history_, or raise max_iter",
                shared(ConvergenceWarning),
                stacklevel=3,
            )


def _check_range(n_iter, values):
    """Refuse losses or weights beyond `base.LARGEST`, or NaN.

    Of such a loss, the squares of the gradient may not be finite. Adam divides by them: theta would
    stand still, as if it had converged.
    """
    size = np.max(np.abs(values))
    if not size <= LARGEST:
        raise ValueError(
            f"loss and weights must lie within {LARGEST:g}; got {size:.3g} in pass {n_iter}: lower "
            "the learning rate, or scale X and y"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class _Multilayer(Trainer, Estimator):
    """A feed-forward network; the subclasses differ in their predictions and their `_targets`.

    These are the checked y, the targets Y (n, o), the loss, and the classes (None for numbers).
    """

    hidden_layer_sizes: int | tuple = (100,)
    activation: str = "relu"
    alpha: float = 0.0001
    early_stopping: bool = False
    validation_fraction: float = 0.1

    def fit(self, X, y):
        """Train on samples X (n, d) with labels or targets y (n,); return self."""
        samples, widths = check_samples(X), self._check_parameters()
        y, Y, loss, classes = self._targets(y, len(samples))
        rng = check_random_state(self.random_state)
        net = network((samples.shape[1], *widths, Y.shape[1]), ACTIVATIONS[self.activation], loss)
        factor = LOGISTIC_FACTOR if self.activation == "logistic" else 6.0
        start = glorot_start(net.sizes, factor=factor, rng=rng)
        train, score = self._hold_out(samples, y, classes, rng)
        A, B = samples[train], Y[train]

        def loss_and_gradient(layers, rows):
            return backpropagate(net, layers, A[rows], B[rows], alpha=self.alpha)

        run, scores = self._train(self._passes(loss_and_gradient, start, len(A), rng), score)
        self._keep(run.state.theta, classes)
        self.validation_scores_ = scores if self.early_stopping else None
        self._report(run)
        return self._remember(X)

    def _check_parameters(self):
        """Check the hyperparameters; return the hidden widths as a tuple."""
        self._check_training()
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_number("alpha", self.alpha, at_least=0, below=np.inf)
        check_flag("early_stopping", self.early_stopping)
        check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        return hidden_widths(self.hidden_layer_sizes)

    def _hold_out(self, X, y, classes, rng):
        """The samples to train on; for early stopping, also the score of layers on the others."""
        if not self.early_stopping:
            return slice(None), None
        share, labels = self.validation_fraction, None if classes is None else y
        try:
            train, test = train_test_split(
                np.arange(len(y)), test_size=share, random_state=rng, stratify=labels
            )
        except ValueError as error:
            raise ValueError(f"with validation_fraction = {share}, {error}") from None
        model = copy(self)._remember(X)
        return train, lambda layers: model._keep(layers, classes).score(X[test], y[test])

    def _keep(self, layers, classes):
        """Store the fitted layers, and what a prediction needs."""
        self.layers_, self.activation_ = layers, self.activation
        if classes is not None:
            self.classes_ = classes
        return self

    def _net_inputs(self, X):
        """The net inputs of the last layer, (n, o)."""
        X, layers = self._check_fitted(X), self.layers_
        H = forward(layers[:-1], [ACTIVATIONS[self.activation_]] * (len(layers) - 1), X)
        return net_input(H[-1], *layers[-1])


class SoftmaxClassifier(LogProbabilisticClassifier):
    """A classifier by the softmax of the scores (n, C) that its ``_scores`` gives."""

    def predict(self, X):
        """The labels (n,) of the largest scores."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X):
        """Logarithms of the probabilities (n, C), finite even where a probability rounds to 0."""
        f = self._scores(X)
        return f - log_sum_exp(f)[:, None]


@dataclass(eq=False, repr=False)
class MLPClassifier(_Multilayer, SoftmaxClassifier):
    """Classifier by a feed-forward network with softmax output, trained on the cross-entropy.

    As in scikit-learn, two classes have one logistic output, for the second class, and the n of the
    penalty is the size of the mini-batch. Not there are solver="lbfgs", a varying learning rate,
    warm_start, partial_fit and weights of samples.

    Parameters
    ----------
    Those of `Trainer`.
    hidden_layer_sizes : int or sequence of int; widths of the hidden layers, () for none
    activation : "relu", "tanh", "logistic" or "identity"; of the hidden layers
    alpha : float; of the penalty alpha / (2 n) sum_j ||W_j||^2
    early_stopping : bool; keep the parameters with the best score on samples held out
    validation_fraction : float; the share of samples held out

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    layers_ : list of l pairs (W_j, b_j), of shapes (d_j, d_{j-1}) and (d_j,)
    coefs_, intercepts_ : lists of l ndarray; the transposes of the W_j, and the b_j
    activation_ : str; of the hidden layers
    history_ : ndarray of shape (n_iter_ + 1,); the loss at the start, then loss_curve_
    loss_curve_ : list of n_iter_ float; the mean loss of the mini-batches of every pass
    loss_ : float; the last entry of loss_curve_
    validation_scores_ : list of n_iter_ float; None without early_stopping
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

    def _scores(self, X):
        """The net inputs (n, C) of the softmax; a single logistic output has the scores 0 and a."""
        A = self._net_inputs(X)
        return np.hstack([0 * A, A]) if A.shape[1] == 1 else A


@dataclass(eq=False, repr=False, kw_only=True)
class MLPRegressor(_Multilayer, Regressor):
    """Regressor by a feed-forward network with identity output, trained on 1/2 (f(x) - y)^2.

    Its parameters are passed by name: scikit-learn's first one is the loss, which is fixed here.

    Parameters
    ----------
    Those of `MLPClassifier`. Those of `Trainer`.

    Attributes
    ----------
    Those of `MLPClassifier`, without classes_.

    >>> X, model = np.array([[0.0], [1.0]]), MLPRegressor(learning_rate_init=0.01, random_state=0)
    >>> model.fit(X, [2.0, 1.0]).score(X, [2.0, 1.0]) > 0.9
    True
    """

    def _targets(self, y, n):
        y = check_targets(y, n)
        return y, y[:, None], SQUARED_ERROR, None

    def predict(self, X):
        """Outputs f(x), (n,)."""
        return self._net_inputs(X)[:, 0]
