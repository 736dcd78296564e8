"""Autoencoders: networks that learn to give back what they are given.

The target is the input, so that no labels are needed; what is learnt is the code on the way. A code
narrower than the input must keep what the samples have in common, and with linear units that is the
subspace of PCA, though not its axes. Two other ways keep a wide code from passing its input on as
it is: parts of the input are spoilt and have to be restored from the rest, or each sample may use
only a few of the code's units.

Contents
    Linear units          linear_error, linear_gradient, linear_optimum, Pair, recoded,
                          LinearState, descend_linear
    Any units             autoencoder_network, encoder, encode, decode, relu_identity
    Corruption            corrupt, corrupted_moments, Moments, linear_denoiser, denoising_error
    Sparse codes          SPARSITY, active_units, shrunk
    Training              reconstruction_risk, Reconstruction, start_at_mean
    Estimators            Autoencoder

Symbols
    X, X_tilde  (n, d)     samples x, one per row, and the same with their inputs spoilt
    V, W        (k, d),    encoder and decoder of the linear autoencoder, x^ = W V x; k units of
                (d, k)     code, in rows of V and columns of W
    J           float      what is minimised
    Z           (n, k)     codes z = f(x); reconstructions are x^ = g(z)
    net         Network    of chapter 16: d -> ... -> k -> ... -> d
    layers      list       its (W_j, b_j), the code after the first half of them
    activations list       and one activation for each
    theta       (p,)       all of them in one vector, those of the encoder first
    noise       str        "masking" or "gaussian"
    level       float      share q of the entries that masking sets to 0, deviation sigma of
                           Gaussian noise
    S           (d, d)     X^T X / n, the covariance of samples of mean 0
    M           (d, d)     a linear map that restores, x^ = M x~
    alpha       float      weight decay, alpha / (2 n) sum_j ||W_j||^2
    beta        float      of the sparsity penalty
    rng         Generator  source of random numbers

Notes: IRHD 4.4, which has its samples in columns and p for our d; MLN "Auto-Encoder", "Denoising
Autoencoder" and "Sparse Autoencoder", which are words without formulas.
"""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    Transformer,
    check_choice,
    check_flag,
    check_number,
    check_random_state,
    check_samples,
    iterate,
)
from mlnotes.estimation import centre
from mlnotes.neural_networks import (
    ACTIVATIONS,
    AUTO_BATCH,
    IDENTITY,
    LOGISTIC,
    LOGISTIC_FACTOR,
    RELU,
    Loss,
    Network,
    adam,
    backpropagate,
    check_trained,
    forward,
    glorot_start,
    hidden_widths,
    n_parameters,
    network,
    patient,
    sgd,
    unpack,
)
from mlnotes.optimization import gradient_descent
from mlnotes.pca import inner_product

__all__ = [
    "linear_error", "linear_gradient", "Pair", "linear_optimum", "recoded", "LinearState",
    "descend_linear", "autoencoder_network", "encoder", "encode", "decode", "relu_identity",
    "corrupt", "Moments", "corrupted_moments", "linear_denoiser", "denoising_error", "SPARSITY",
    "active_units", "shrunk", "reconstruction_risk", "Reconstruction", "start_at_mean",
    "Autoencoder",
]  # fmt: skip

NOISES = ("masking", "gaussian")
ROUND_OFF = 1e-12  # an eigenvalue that is this share of the largest is 0


# ---------------------------------------------------------------------------------------
# Linear units
# ---------------------------------------------------------------------------------------


def linear_error(X, W, V):
    """J(W, V) = sum_i ||x_i - W V x_i||^2 = ||X - X (W V)^T||_F^2, f(x) = V x and g(z) = W z.

    >>> X, V = np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([[1.0, 0.0]])
    >>> float(linear_error(X, V.T, V))
    5.0
    """
    R = X - X @ V.T @ W.T
    return inner_product(R, R)


def linear_gradient(X, W, V):
    """The derivatives of J, with M = X^T X:

        dJ/dW = 2 (W V - I) M V^T,    dJ/dV = 2 W^T (W V - I) M .

    Both vanish not only at the best pair: for any k of the principal axes, in columns of Q, they
    do at W = Q, V = Q^T. All but the top k are saddle points. M (d, d) is never formed here.

    Returns: arrays of the shapes of W and V.

    >>> X, V = np.array([[3.0, 1.0]]), np.array([[1.0, 0.0]])
    >>> dW, dV = linear_gradient(X, V.T, V)
    >>> dW.tolist(), dV.tolist()
    ([[0.0], [-6.0]], [[0.0, 0.0]])

    Claims: autoencoder-02
    """
    Z = X @ V.T
    R = Z @ W.T - X
    return 2 * R.T @ Z, 2 * (R @ W).T @ X


class Pair(NamedTuple):
    """A linear decoder and the encoder that it belongs to."""

    W: np.ndarray  # (d, k)
    V: np.ndarray  # (k, d)


def linear_optimum(X, k):
    """V = Q_k^T and W = Q_k, of the top k right singular vectors of X in columns of Q_k (d, k).

    rank(W V) <= k, so that X (W V)^T can be no nearer to X than the best matrix of that rank, and
    X Q_k Q_k^T is just that (`pca.low_rank`): J = s_{k+1}^2 + s_{k+2}^2 + ... Of centred samples
    Q_k holds the principal axes. IRHD names U_k itself as the best V: that is W's shape
    (autoencoder-05); and it is not the only one (`recoded`).

    Returns: a `Pair`. Raises: ValueError if k is no integer between 1 and min(n, d).

    >>> W, V = linear_optimum(np.array([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]]), 1)
    >>> (W @ V).round(12) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    if not (isinstance(k, Integral) and 1 <= k <= min(X.shape)):
        raise ValueError(f"k must be an integer between 1 and min(n, d), {min(X.shape)}; got {k}")
    _, _, Vt = np.linalg.svd(X, full_matrices=False)
    return Pair(Vt[:k].T, Vt[:k])


def recoded(W, V, A):
    """(W A, A^{-1} V): the same reconstructions from other codes, z' = A^{-1} z.

    J depends on the product W V alone, and at its minimum that is the projector Q_k Q_k^T (the
    only one, if s_k > s_{k+1}). The units of a trained code span the principal subspace but need
    not be the components: not orthogonal, not uncorrelated, in no order. `A` (k, k) is regular.

    Returns: a `Pair`. Raises: ValueError if A is not square or, up to rounding, singular.

    >>> W, V = recoded(np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]), np.array([[2.0]]))
    >>> W.tolist(), V.tolist()
    ([[2.0], [0.0]], [[0.5, 0.0]])
    """
    _check_regular(A)
    return Pair(W @ A, np.linalg.solve(A, V))


def _check_regular(A):
    rank = np.linalg.matrix_rank(A)
    if A.shape != (rank, rank):
        raise ValueError(f"A must be regular; got shape {A.shape} of rank {rank}")


class LinearState(NamedTuple):
    """A linear autoencoder in training."""

    W: np.ndarray  # (d, k)
    V: np.ndarray  # (k, d)
    objective: float  # J
    gradient_norm: float  # the length of dJ/dW and dJ/dV together


def descend_linear(X, W, V, *, eta=None):
    """Gradient descent on J from (W, V), both at once: steps of `eta`, or as a line search finds.

    J is not convex, but it has no minima other than the best: descent ends there, if it does not
    start at a saddle point, as W = 0, V = 0 is one.

    Yields: `LinearState`, the start first.

    >>> x, one = np.array([[1.0]]), np.array([[1.0]])
    >>> states = descend_linear(x, one, 0 * one, eta=0.5)
    >>> [next(states).V.item() for _ in range(2)]
    [0.0, 1.0]
    """
    cut, shapes = W.size, (W.shape, V.shape)

    def split(theta):
        return theta[:cut].reshape(shapes[0]), theta[cut:].reshape(shapes[1])

    states = gradient_descent(
        lambda theta: linear_error(X, *split(theta)),
        lambda theta: np.concatenate([g.ravel() for g in linear_gradient(X, *split(theta))]),
        np.concatenate([W.ravel(), V.ravel()]),
        eta=eta,
    )
    for state in states:
        yield LinearState(*split(state.x), state.objective, state.gradient_norm)


# ---------------------------------------------------------------------------------------
# Any units
# ---------------------------------------------------------------------------------------


def autoencoder_network(sizes, activation=RELU):
    """The network d -> ... -> k -> ... -> d: an encoder f, and the decoder g that mirrors it.

    `sizes` are the widths of the encoder, (d, ..., k). All layers have the one `activation` but
    the last, which is linear: x has no bounds. Trained on 1/2 ||g(f(x)) - x||^2, with the input for
    target, by whatever trains a network.

    Returns: a `Network`.

    >>> autoencoder_network((64, 16, 2)).sizes
    (64, 16, 2, 16, 64)
    """
    return network((*sizes, *sizes[-2::-1]), activation)


def encoder(net):
    """The half of the network that ends with the code, to be trained on `SPARSITY`.

    >>> encoder(autoencoder_network((64, 16, 2))).sizes
    (64, 16, 2)
    """
    half = len(net.activations) // 2
    return Network(net.sizes[: half + 1], net.activations[:half], SPARSITY)


def encode(layers, activations, X):
    """z = f(x), what the first half of the layers makes of x.

    Returns: (n, k).

    >>> layers = relu_identity(np.array([[1.0]]))
    >>> encode(layers, [RELU, IDENTITY], np.array([[3.0], [-2.0]]))
    array([[3., 0.],
           [0., 2.]])
    """
    half = len(layers) // 2
    return forward(layers[:half], activations[:half], X)[-1]


def decode(layers, activations, Z):
    """x^ = g(z), what the second half of the layers makes of z.

    Returns: (n, d).

    >>> layers = relu_identity(np.array([[1.0]]))
    >>> decode(layers, [RELU, IDENTITY], np.array([[3.0, 0.0], [0.0, 2.0]]))
    array([[ 3.],
           [-2.]])
    """
    half = len(layers) // 2
    return forward(layers[half:], activations[half:], Z)[-1]


def relu_identity(A):
    """f(x) = max(0, V x), g(z) = W z with 2 d units of code that lose nothing:

        V = [A; -A],   W = [A^{-1}, -A^{-1}],   as  max(0, t) - max(0, -t) = t .

    Where V x > 0 ReLUs are linear units; with fewer of them there is no closed form, and
    `reconstruction_risk` goes downhill. A code as wide as this one may learn nothing but to copy:
    hence corruption and sparsity. `A` (d, d) is regular.

    Returns: the two `layers`. Raises: ValueError if A is not square or, up to rounding, singular.

    >>> (V, _), (W, _) = relu_identity(np.array([[2.0]]))
    >>> V.tolist(), W.tolist()
    ([[2.0], [-2.0]], [[0.5, -0.5]])

    Claims: autoencoder-06
    """
    _check_regular(A)
    d, inverse = len(A), np.linalg.inv(A)
    return [(np.vstack([A, -A]), np.zeros(2 * d)), (np.hstack([inverse, -inverse]), np.zeros(d))]


# ---------------------------------------------------------------------------------------
# Corruption
# ---------------------------------------------------------------------------------------


def corrupt(X, noise, level, *, rng):
    """The samples with their entries spoilt, each by itself:

        masking    x~_ij = 0 with probability q, else x_ij          (what is often done)
        gaussian   x~_ij = x_ij + sigma e_ij,  e_ij from N(0, 1) .

    Returns: (n, d), not X itself. Raises: ValueError if there is no such noise or level.

    >>> corrupt(np.ones((2, 4)), "masking", 0.5, rng=np.random.default_rng(0))
    array([[1., 0., 0., 0.],
           [1., 1., 1., 1.]])

    Claims: autoencoder-07
    """
    _check_noise(noise, level)
    if noise == "masking":
        return X * (rng.random(X.shape) >= level)
    return X + level * rng.normal(size=X.shape)


def _check_noise(noise, level, name="level"):
    check_choice("noise", noise, NOISES)
    check_number(name, level, at_least=0, below=np.inf)
    if noise == "masking" and level >= 1:
        raise ValueError(f"{name} must be below 1 for masking, to leave something; got {level!r}")


class Moments(NamedTuple):
    """Second moments of spoilt samples, over samples and noise."""

    A: np.ndarray  # (d, d), E[x~ x~^T]
    C: np.ndarray  # (d, d), E[x x~^T]


def corrupted_moments(S, noise, level):
    """E[x~ x~^T] and E[x x~^T], from S = E[x x^T]:

        masking    (1 - q)^2 S + q (1 - q) diag(S),   (1 - q) S
        gaussian   S + sigma^2 I,                     S .

    Two entries both survive a mask with probability (1 - q)^2, but an entry and itself with 1 - q.

    Returns: `Moments`. Raises: ValueError if there is no such noise or level.

    >>> A, C = corrupted_moments(np.array([[4.0, 4.0], [4.0, 8.0]]), "masking", 0.5)
    >>> A.tolist(), C.tolist()
    ([[2.0, 1.0], [1.0, 4.0]], [[2.0, 2.0], [2.0, 4.0]])
    """
    kept, added = _spoilt(S, noise, level)
    return Moments(kept**2 * S + np.diag(added), kept * S)


def _spoilt(S, noise, level):
    """The share of x that is in x~ on average, and the variances of the rest (d,)."""
    _check_noise(noise, level)
    if noise == "masking":
        return 1 - level, level * (1 - level) * np.diag(S)
    return 1, np.full(len(S), level**2)


def linear_denoiser(S, noise, level, k=None):
    """The M that minimises E||M x~ - x||^2, by E[x x~^T] = M E[x~ x~^T]:

        masking    M = (1 - q) S [(1 - q)^2 S + q (1 - q) diag(S)]^{-1}
        gaussian   M = S (S + sigma^2 I)^{-1} .

    To undo the corruption M must know how features depend on one another: it is diagonal iff they
    are uncorrelated (for regular S, and any noise at all). Under Gaussian noise it shrinks along
    the axes of S by lam / (lam + sigma^2), as ridge regression of X on itself with the penalty
    n sigma^2 does; under masking, (1 - q) M is ridge with every weight penalised by the variance of
    its own feature, q / (1 - q) times. For a code of `k` units M is followed by the projector on
    the top k eigenvectors of E[M x~ (M x~)^T]: those of S under Gaussian noise, under masking in
    general not.

    Returns: (d, d). Raises: ValueError as `corrupted_moments`, and if k is no integer from 1 to d.

    >>> linear_denoiser(np.diag([1.0, 3.0]), "gaussian", 1.0)
    array([[0.5 , 0.  ],
           [0.  , 0.75]])
    """
    A, C = corrupted_moments(S, noise, level)
    size = np.sqrt(np.where(np.diag(A) > 0, np.diag(A), 1.0))  # so that units do not matter
    inverse = np.linalg.pinv(A / np.outer(size, size), rcond=ROUND_OFF, hermitian=True)
    M = C / size @ inverse / size
    if k is None:
        return M
    if not (isinstance(k, Integral) and 1 <= k <= len(S)):
        raise ValueError(f"k must be an integer between 1 and d, {len(S)}; got {k}")
    _, vectors = np.linalg.eigh(M @ C.T)
    Q = vectors[:, -k:]
    return Q @ Q.T @ M


def denoising_error(M, S, noise, level):
    """E||M x~ - x||^2 = tr(M A M^T) - 2 tr(M C^T) + tr(S): the input spoilt, the target clean.

    A and C are the `corrupted_moments`. M = I leaves the corruption as it is, d sigma^2 or q tr(S).
    Where little is lost these terms cancel, and so the same is computed as a sum of squares,

        tr((c M - I) S (c M - I)^T) + sum_ij M_ij^2 v_j,    x~ = c x + e,  c = 1 - q or 1,

    as the entries of e, of variances v_j, are uncorrelated with x and with one another.

    >>> S = np.diag([1.0, 3.0])
    >>> float(denoising_error(np.eye(2), S, "gaussian", 1.0))
    2.0
    >>> float(denoising_error(np.diag([0.5, 0.75]), S, "gaussian", 1.0))
    1.25

    Claims: autoencoder-08
    """
    kept, added = _spoilt(S, noise, level)
    E = kept * M - np.eye(len(S))
    return inner_product(E @ S, E) + np.sum(M**2 * added)


# ---------------------------------------------------------------------------------------
# Sparse codes
# ---------------------------------------------------------------------------------------

SPARSITY = Loss(
    "sparsity",
    lambda H, Y: np.sum(np.abs(H), axis=-1),
    lambda H, Y: np.sign(H),
    None,
    None,
)  # ||z||_1 of a code, a loss without a target


def active_units(Z, above=0.0):
    """How many units of the code are active for a sample, |z_j| > `above`, on average.

    >>> active_units(np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 0.0]]))
    1.0
    """
    return float(np.mean(np.count_nonzero(np.abs(Z) > above, axis=1)))


def shrunk(layers, c):
    """The same network with its codes times `c` > 0: (c W, c b) up to the code, W / c after it.

    With ReLU or linear units nothing else changes, and ||z||_1 can be as small as one likes: by
    itself the penalty has no minimum. The decay of the weights, alpha > 0, holds against it.

    Returns: the list of layers. Raises: ValueError unless c > 0 is finite.

    >>> shrunk([(np.eye(1), np.ones(1)), (np.eye(1), np.ones(1))], 0.5)
    [(array([[0.5]]), array([0.5])), (array([[2.]]), array([1.]))]
    """
    check_number("c", c, above=0, below=np.inf)
    last = len(layers) // 2 - 1
    (V, b), (W, a) = layers[last], layers[last + 1]
    return [*layers[:last], (c * V, c * b), (W / c, a), *layers[last + 2 :]]


# ---------------------------------------------------------------------------------------
# Training
# ---------------------------------------------------------------------------------------


def reconstruction_risk(net, theta, X, X_tilde=None, *, alpha=0.0, beta=0.0):
    """J and its gradient: errors of the reconstruction, activity of the codes, size of the weights.

        J = 1/n sum_i [1/2 ||g(z_i) - x_i||^2 + beta ||z_i||_1] + alpha / (2 n) sum_j ||W_j||^2,

    with the codes z_i = f(x~_i) of what may be spoilt inputs.

    The first term has the clean x for its target. The second wants few units active at a time, and
    the code may then be wider than x. It is a loss of the encoder alone, a network whose theta is
    the first part of the whole; both gradients are `backpropagate`'s. X_tilde is X if not given.

    Returns: J, and its gradient (p,).

    >>> net, x = autoencoder_network((1, 1)), np.array([[2.0]])
    >>> theta = np.array([1.0, 0.0, 0.5, 0.0])  # z = 2, x^ = 1
    >>> reconstruction_risk(net, theta, x, beta=3.0)
    (6.5, array([ 5. ,  2.5, -2. , -1. ]))

    Claims: autoencoder-09
    """
    X_tilde = X if X_tilde is None else X_tilde
    value, gradient = backpropagate(net, theta, X_tilde, X, alpha=alpha)
    if beta:
        half = encoder(net)
        p = n_parameters(half.sizes)
        penalty, slope = backpropagate(half, theta[:p], X_tilde, None)
        value += beta * penalty
        gradient[:p] += beta * slope
    return value, gradient


class Reconstruction(NamedTuple):
    """J and its gradient on mini-batches, for `sgd` and `adam`: every visit spoils them anew.

    >>> f = Reconstruction(autoencoder_network((1, 1)), np.array([[2.0]]), beta=3.0)
    >>> f(np.array([1.0, 0.0, 0.5, 0.0]), rows=np.array([0]))[0]
    6.5
    """

    net: Network
    X: np.ndarray  # (n, d), clean
    alpha: float = 0.0
    beta: float = 0.0
    noise: str | None = None  # None for clean inputs
    level: float = 0.0
    rng: Any = None  # Generator, draws the noise

    def __call__(self, theta, rows):
        """J and its gradient (p,) on the samples of the indices `rows`."""
        X, spoilt = self.X[rows], None
        if self.noise is not None:
            spoilt = corrupt(X, self.noise, self.level, rng=self.rng)
        return reconstruction_risk(self.net, theta, X, spoilt, alpha=self.alpha, beta=self.beta)


def start_at_mean(net, X, *, rng):
    """theta as `glorot_start` has it, but the last bias is the mean, the best constant answer.

    >>> theta = start_at_mean(autoencoder_network((2, 1)), np.array([[1.0, 4.0], [3.0, 8.0]]),
    ...                       rng=np.random.default_rng(0))
    >>> theta[-2:]
    array([2., 6.])
    """
    factor = {"factor": LOGISTIC_FACTOR} if net.activations[0] == LOGISTIC else {}
    theta = glorot_start(net.sizes, **factor, rng=rng)
    theta[-net.sizes[-1] :] = X.mean(axis=0)
    return theta


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class Autoencoder(Transformer):
    """Features learnt by a network that has to give back its input from them.

    A narrow code compresses; a wide one needs `noise` or `sparsity`, or it may copy. `transform`
    gives the codes, `inverse_transform` samples for codes. Names are those of `PCA` and
    `MLPRegressor`. Features should be of the order of 1: scale them first. With sparsity, units
    that are linear or ReLUs need alpha > 0 as well (see `shrunk`).

    Parameters
    ----------
    n_components : int; units of the code, k
    hidden_layer_sizes : int, or sequence of them; widths of the layers between input and code, in
        this order; the decoder has them too, in the reverse order
    activation : "tanh", "relu", "logistic" or "identity"; of the code and the hidden layers, the
        output is linear
    noise : "masking", "gaussian" or None; how the inputs are spoilt in training
    noise_level : float; share of the entries that are set to 0, or standard deviation
    sparsity : float; beta, of the mean ||z||_1 of the codes
    solver : "adam" or "sgd"
    alpha : float; of the penalty alpha / (2 n) sum_j ||W_j||^2, n being that of a mini-batch
    batch_size : int or "auto", which is 200; no more than there are samples
    learning_rate_init : float; constant throughout
    max_iter : int; largest number of passes over the data
    shuffle : bool; visit the samples in a new order in every pass
    random_state : int, Generator or None; draws the start, the order and the noise
    tol : float; stops once J has not fallen below its lowest value by more than this in
        n_iter_no_change + 1 passes in a row
    momentum : float; of "sgd", in [0, 1)
    nesterovs_momentum : bool; of "sgd"
    n_iter_no_change : int

    Attributes
    ----------
    coefs_ : list of l ndarray of shape (n_{j-1}, n_j); the transposes of the W_j, first the
        encoder's, then as many of the decoder
    intercepts_ : list of l ndarray of shape (n_j,)
    n_layers_ : int; l + 1, as the input counts
    loss_curve_ : list of n_iter_ float; the mean J of the mini-batches of every pass, each before
        its own step
    loss_ : float; the last of them
    history_ : ndarray of shape (n_iter_ + 1,); J at the start, then loss_curve_
    n_iter_ : int; passes
    converged_ : bool; whether training stopped by itself
    n_features_in_ : int

    >>> X = np.outer([-2.0, -1.0, 1.0, 2.0], [0.6, 0.8])
    >>> model = Autoencoder(1, activation="identity", alpha=0, learning_rate_init=0.01,
    ...                     tol=0, max_iter=1000, random_state=0).fit(X)
    >>> model.inverse_transform(model.transform([[3.0, 4.0]])).round(3)  # on the same line
    array([[3., 4.]])

    Claims: autoencoder-01
    """

    def __init__(
        self, n_components=2, *, hidden_layer_sizes=(), activation="tanh", noise=None,
        noise_level=0.3, sparsity=0.0, solver="adam", alpha=0.0001, batch_size="auto",
        learning_rate_init=0.001, max_iter=200, shuffle=True, random_state=None, tol=1e-4,
        momentum=0.9, nesterovs_momentum=True, n_iter_no_change=10,
    ):  # fmt: skip
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.noise = noise
        self.noise_level = noise_level
        self.sparsity = sparsity
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.n_iter_no_change = n_iter_no_change

    def fit(self, X, y=None):
        """Train on samples X (n, d); y is not used. Return self."""
        samples, hidden = check_samples(X), self._check_parameters()
        rng = check_random_state(self.random_state)
        sizes = (samples.shape[1], *hidden, self.n_components)
        net = autoencoder_network(sizes, ACTIVATIONS[self.activation])
        spoils = {"noise": self.noise, "level": self.noise_level, "rng": rng}
        f = Reconstruction(net, samples, self.alpha, self.sparsity, **spoils)
        passes = self._passes(f, start_at_mean(net, samples, rng=rng), len(samples), rng)
        states = patient(passes, self.n_iter_no_change)
        with np.errstate(over="ignore", invalid="ignore"):
            run = iterate(states, "improvement", self.tol, self.max_iter)
        check_trained(run)
        layers = unpack(run.state.theta, net.sizes)
        self.coefs_ = [W.T.copy() for W, _ in layers]
        self.intercepts_ = [b.copy() for _, b in layers]
        self.n_layers_ = len(net.sizes)
        self.loss_curve_, self.loss_ = run.history[1:].tolist(), float(run.history[-1])
        self._record(run, "improvement", self.tol)
        return self._remember(X)

    def _check_parameters(self):
        """Refuse what is no value of its hyperparameter; the hidden widths as a tuple."""
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_choice("solver", self.solver, ("adam", "sgd"))
        check_choice("noise", self.noise, (None, *NOISES))
        _check_noise(self.noise or "gaussian", self.noise_level, "noise_level")
        if not (isinstance(self.batch_size, str) and self.batch_size == "auto"):
            check_number("batch_size", self.batch_size, at_least=1, integer=True)
        for name in ("alpha", "sparsity", "tol"):
            check_number(name, getattr(self, name), at_least=0, below=np.inf)
        check_number("momentum", self.momentum, at_least=0, below=1)
        check_number("learning_rate_init", self.learning_rate_init, above=0, below=np.inf)
        for name in ("n_components", "max_iter", "n_iter_no_change"):
            check_number(name, getattr(self, name), at_least=1, integer=True)
        for name in ("shuffle", "nesterovs_momentum"):
            check_flag(name, getattr(self, name))
        check_random_state(self.random_state)
        return hidden_widths(self.hidden_layer_sizes)

    def _passes(self, f, theta, n, rng):
        """The passes of the solver on n samples."""
        auto = isinstance(self.batch_size, str)
        how = {
            "batch_size": min(AUTO_BATCH if auto else self.batch_size, n),
            "learning_rate": self.learning_rate_init,
            "rng": rng if self.shuffle else None,
        }
        if self.solver == "adam":
            return adam(f, theta, n, **how)
        return sgd(f, theta, n, momentum=self.momentum, nesterov=self.nesterovs_momentum, **how)

    def _network(self):
        """The fitted layers, and their activations."""
        layers = [(V.T, b) for V, b in zip(self.coefs_, self.intercepts_, strict=True)]
        return layers, [ACTIVATIONS[self.activation]] * (len(layers) - 1) + [IDENTITY]

    def transform(self, X):
        """Codes z = f(x), (n, k), of clean inputs."""
        X = self._check_fitted(X)
        return encode(*self._network(), X)

    def inverse_transform(self, X):
        """Samples g(z), (n, d), for codes X (n, k)."""
        self._require_fit()
        Z, k = check_samples(X), self.coefs_[len(self.coefs_) // 2].shape[0]
        if Z.shape[1] != k:
            raise ValueError(f"X must have {k} components; got {Z.shape[1]}")
        return decode(*self._network(), Z)

    def score(self, X, y=None):
        """1 - sum_i ||x_i - x^_i||^2 / sum_i ||x_i - mean||^2, the share of the variance kept.

        It is at most 1, and 1 or 0 for samples that do not vary; y is not used.
        """
        X = self._check_fitted(X)
        errors, X_c = X - self.inverse_transform(self.transform(X)), centre(X)
        if not np.ptp(X, axis=0).any():
            return float(not errors.any())
        size = np.abs(X_c).max()  # of which squares neither overflow nor underflow
        return float(1 - inner_product(errors / size, errors / size) / np.sum((X_c / size) ** 2))
