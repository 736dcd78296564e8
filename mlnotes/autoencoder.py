"""Autoencoders: networks that are trained to return their own input.

The target is the input, so that no labels are needed. The code is in the middle of the network. A
narrow code compresses; with linear units it finds the subspace of PCA. A wide code could copy its
input, unless the input is corrupted in training or only a few units may be active.

Contents
    Linear units          linear_error, linear_gradient, linear_optimum, Pair, LinearState,
                          descend_linear
    Any units             autoencoder_network, encoder, encode, decode, relu_identity
    Corruption            corrupt, signal_and_noise, corrupted_moments, Moments, linear_denoiser,
                          denoising_error
    Sparse codes          SPARSITY, active_units, shrunk
    Training              reconstruction_risk, Reconstruction, start_at_mean
    Estimators            Autoencoder

Symbols
    X, X_tilde  (n, d)     samples x, one per row, and the same samples after corruption
    V, W        (k, d),    encoder and decoder of the linear autoencoder, x^ = W V x; the k units of
                (d, k)     the code are the rows of V and the columns of W
    J           float      sum of the squared errors of a linear autoencoder
    F           float      the objective of any network: mean halved squared error, with penalties
    Z           (n, k)     codes z = f(x); reconstructions are x^ = g(z)
    net         Network    of chapter 16: d -> ... -> k -> ... -> d
    layers      list       its (W_j, b_j), all parameters; the first half of them computes the code
    activations list       and one activation for each
    noise       str        "masking" or "gaussian"
    level       float      share q of entries set to 0, or standard deviation sigma of the noise
    S           (d, d)     second moments X^T X / n; the covariance if the samples have mean 0
    U_k         (d, k)     eigenvectors of S for its k largest eigenvalues, in the columns
    S_tilde, C  (d, d)     second moments E[x~ x~^T] and E[x x~^T] of corrupted samples
    M           (d, d)     a linear map that restores, x^ = M x~
    A           (k, k)     any invertible matrix
    eta         float      learning rate
    alpha, beta float      strength of the weight decay and of the sparsity penalty

Notes: IRHD 4.4, which has its samples in columns and p for our d; MLN "Auto-Encoder", "Denoising
Autoencoder" and "Sparse Autoencoder".
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Transformer,
    check_choice,
    check_number,
    check_random_state,
    check_samples,
    floats,
)
from mlnotes.estimation import centre
from mlnotes.neural_networks import (
    ACTIVATIONS,
    IDENTITY,
    LOGISTIC,
    LOGISTIC_FACTOR,
    RELU,
    Loss,
    Network,
    Trainer,
    backpropagate,
    forward,
    glorot_start,
    hidden_widths,
    network,
    tree_map,
)

# =======================================================================================
# The lecture
# =======================================================================================

# --- Linear units ----------------------------------------------------------------------


def linear_error(X, W, V):
    """J(W, V) = sum_i ||x_i - W V x_i||^2 = ||X - X (W V)^T||_F^2, with f(x) = V x, g(z) = W z.

    >>> linear_error(np.array([[3.0, 1.0]]), W=np.array([[1.0], [0.0]]), V=np.array([[1.0, 0.0]]))
    np.float64(1.0)
    """
    X = floats(X)
    return np.sum((X - X @ V.T @ W.T) ** 2)


def linear_gradient(X, W, V):
    """The derivatives of J, in the shapes of W and V, with S = X^T X / n:

        dJ/dW = 2 n (W V - I) S V^T,    dJ/dV = 2 n W^T (W V - I) S .

    >>> linear_gradient(np.array([[3.0]]), W=np.array([[1.0]]), V=np.array([[0.5]]))
    (array([[-4.5]]), array([[-9.]]))
    """
    X, W = floats(X, W)
    Z = X @ V.T  # the codes
    R = Z @ W.T - X  # the residuals: reconstruction minus input
    return 2 * R.T @ Z, 2 * (R @ W).T @ X


class Pair(NamedTuple):
    """A linear decoder and its encoder."""

    W: np.ndarray  # (d, k)
    V: np.ndarray  # (k, d)


def linear_optimum(X, k):
    """W = U_k and V = U_k^T, with the top k right singular vectors of X in U_k (d, k): a `Pair`.

    For k <= min(n, d) it has the smallest J, s_{k+1}^2 + s_{k+2}^2 + ...
    So has (W A, A^{-1} V) for any invertible A: the units of a code need not be uncorrelated.

    >>> W, V = linear_optimum(np.array([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]]), 1)
    >>> ((W @ V).round(12) + 0.0).tolist()
    [[1.0, 0.0], [0.0, 0.0]]

    Errata: autoencoder-05 (IRHD names U_k as the best V, which has the shape of W).
    """
    _, _, Vt = np.linalg.svd(floats(X), full_matrices=False)
    return Pair(Vt[:k].T, Vt[:k])


class LinearState(NamedTuple):
    """A linear autoencoder in training."""

    W: np.ndarray  # (d, k)
    V: np.ndarray  # (k, d)
    objective: float  # J
    gradient_norm: float  # the length of dJ/dW and dJ/dV together


def descend_linear(X, W, V, *, eta):
    """Gradient descent on J: W <- W - eta dJ/dW and V <- V - eta dJ/dV, both at once.

    From almost all starts small steps end at the smallest J; at a saddle point such as W = V = 0
    they rest.
    Yields: the start, then a `LinearState` per step; the last has gradient 0.

    >>> states = descend_linear(np.eye(1), np.eye(1), np.zeros((1, 1)), eta=0.5)
    >>> [next(states).V.item() for _ in range(2)]
    [0.0, 1.0]
    """
    while True:
        dW, dV = linear_gradient(X, W, V)
        norm = np.sqrt(np.sum(dW**2) + np.sum(dV**2))
        yield LinearState(W, V, linear_error(X, W, V), norm)
        if norm == 0:
            return
        W = W - eta * dW  # both gradients are from before the step
        V = V - eta * dV


# --- Any units -------------------------------------------------------------------------


def autoencoder_network(sizes, activation=RELU):
    """The `Network` d -> ... -> k -> ... -> d: an encoder of these `sizes`, and its mirror image.

    All layers have the one `activation`, except the last, which is linear.

    >>> autoencoder_network((64, 16, 2)).sizes
    (64, 16, 2, 16, 64)
    """
    return network((*sizes, *sizes[-2::-1]), activation)


def encoder(net):
    """The half of the network that ends with the code, with the loss `SPARSITY`.

    >>> encoder(autoencoder_network((64, 16, 2))).sizes
    (64, 16, 2)
    """
    half = len(net.activations) // 2
    return Network(net.sizes[: half + 1], net.activations[:half], SPARSITY)


def encode(layers, activations, X):
    """The codes z = f(x), (n, k), computed by the first half of the layers.

    >>> encode(relu_identity(np.eye(1)), [RELU, IDENTITY], np.array([[-2.0]]))
    array([[0., 2.]])
    """
    half = len(layers) // 2
    return forward(layers[:half], activations[:half], X)[-1]  # the last outputs are the code


def decode(layers, activations, Z):
    """The reconstructions x^ = g(z), (n, d), computed by the second half of the layers.

    >>> decode(relu_identity(np.eye(1)), [RELU, IDENTITY], np.array([[0.0, 2.0]]))
    array([[-2.]])
    """
    half = len(layers) // 2
    return forward(layers[half:], activations[half:], Z)[-1]


def relu_identity(A):
    """f(x) = max(0, V x), g(z) = W z with a code of 2 d units that loses nothing:

        V = [A; -A],   W = [A^{-1}, -A^{-1}],   because  max(0, r) - max(0, -r) = r .

    So a wide code can copy its input and learn nothing. If no input is negative, as with pixels,
    d ReLUs copy already: V = W = I. Returns: the two `layers`.

    >>> (V, _), (W, _) = relu_identity(np.array([[2.0]]))
    >>> V.tolist(), W.tolist()
    ([[2.0], [-2.0]], [[0.5, -0.5]])
    """
    A, d = floats(A), len(A)
    inverse = np.linalg.inv(A)
    V = np.vstack([A, -A])  # A above -A
    W = np.hstack([inverse, -inverse])  # side by side
    return [(V, np.zeros(2 * d)), (W, np.zeros(d))]  # the biases are 0


# --- Corruption ------------------------------------------------------------------------


def corrupt(X, noise, level, *, rng):
    """Corrupted samples (n, d); each entry is changed independently of the others:

        masking    x~_ij = 0 with probability q, else x_ij          (the usual choice)
        gaussian   x~_ij = x_ij + sigma e_ij,  e_ij from N(0, 1) .

    >>> corrupt(np.ones((1, 4)), "masking", 0.5, rng=np.random.default_rng(0))
    array([[1., 0., 0., 0.]])
    """
    if noise == "masking":
        return floats(X) * (rng.random(X.shape) >= level)  # it survives with probability 1 - q
    if noise == "gaussian":
        return X + level * rng.normal(size=X.shape)
    raise ValueError(f"noise must be 'masking' or 'gaussian'; got {noise!r}")


def signal_and_noise(S, noise, level):
    """c and v (d,) with x~ = c x + e, where x and the e_j are uncorrelated, with variances v_j:

        masking    c = 1 - q,   v_j = q (1 - q) S_jj
        gaussian   c = 1,       v_j = sigma^2 .

    >>> signal_and_noise(np.diag([4.0, 8.0]), "masking", 0.5)
    (0.5, array([1., 2.]))
    """
    if noise == "masking":
        return 1 - level, level * (1 - level) * np.diag(floats(S))
    if noise == "gaussian":
        return 1.0, np.full(len(S), level**2)
    raise ValueError(f"noise must be 'masking' or 'gaussian'; got {noise!r}")


class Moments(NamedTuple):
    """Second moments of corrupted samples, averaged over the samples and the noise."""

    S_tilde: np.ndarray  # (d, d), E[x~ x~^T]
    C: np.ndarray  # (d, d), E[x x~^T]


def corrupted_moments(S, noise, level):
    """E[x~ x~^T] = c^2 S + diag(v) and E[x x~^T] = c S, for S = E[x x^T]: `Moments`.

        masking    (1 - q)^2 S + q (1 - q) diag(S),   (1 - q) S
        gaussian   S + sigma^2 I,                     S .

    >>> corrupted_moments(np.array([[4.0, 4.0], [4.0, 8.0]]), "masking", 0.5).S_tilde.tolist()
    [[2.0, 1.0], [1.0, 4.0]]
    """
    c, v = signal_and_noise(S, noise, level)
    return Moments(c**2 * S + np.diag(v), c * S)


def linear_denoiser(S, noise, level):
    """The M (d, d) that minimises E||M x~ - x||^2; it satisfies M E[x~ x~^T] = E[x x~^T]:

        masking    M = (1 - q) S [(1 - q)^2 S + q (1 - q) diag(S)]^{-1}
        gaussian   M = S (S + sigma^2 I)^{-1} .

    Under Gaussian noise it is ridge regression of X on itself with the penalty n sigma^2. If
    E[x~ x~^T] is singular, M has minimum norm in units in which all features have one size.

    >>> linear_denoiser(np.diag([1.0, 3.0]), "gaussian", 1.0).round(12).tolist()
    [[0.5, 0.0], [0.0, 0.75]]
    """
    S_tilde, C = corrupted_moments(S, noise, level)
    size = np.sqrt(np.where(np.diag(S_tilde) > 0, np.diag(S_tilde), 1.0))
    units = np.outer(size, size)
    return C @ (np.linalg.pinv(S_tilde / units, ROUNDING, hermitian=True) / units)


def denoising_error(M, S, noise, level):
    """E||M x~ - x||^2 = tr(M S~ M^T) - 2 tr(M C^T) + tr(S), with the moments of corrupted samples.

    With x~ = c x + e of `signal_and_noise` it is a sum of squares:

        tr((c M - I) S (c M - I)^T) + sum_ij M_ij^2 v_j .

    >>> denoising_error(np.diag([0.5, 0.75]), np.diag([1.0, 3.0]), "gaussian", 1.0)
    np.float64(1.25)
    """
    M, (c, v) = floats(M), signal_and_noise(S, noise, level)
    E = c * M - np.eye(len(S))
    return np.trace(E @ S @ E.T) + np.sum(M**2 * v)


# --- Sparse codes ----------------------------------------------------------------------


SPARSITY = Loss(  # ||z||_1 of a code z = h, with the slope sign(z_j): it has no target
    f=lambda Z, _: np.sum(np.abs(Z), axis=-1),
    slope=lambda Z, _: np.sign(Z),
    output=None,
    of_net_input=None,
)


def active_units(Z):
    """The mean number of units of the code that are active for a sample, z_j != 0.

    >>> active_units(np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 0.0]]))
    np.float64(1.0)
    """
    return np.mean(np.count_nonzero(Z, axis=1))


def shrunk(layers, c):
    """The layers of a network whose codes are c > 0 times as large: (c W, c b), and then W / c.

    With ReLUs or linear units nothing else changes. So the sparsity penalty needs alpha > 0.

    >>> shrunk([(np.eye(1), np.ones(1)), (np.eye(1), np.ones(1))], 0.5)
    [(array([[0.5]]), array([0.5])), (array([[2.]]), array([1.]))]
    """
    last = len(layers) // 2 - 1
    (V, b_V), (W, b_W) = layers[last], layers[last + 1]  # before and after the code
    return [*layers[:last], (c * V, c * b_V), (W / c, b_W), *layers[last + 2 :]]


# --- Training --------------------------------------------------------------------------


def reconstruction_risk(net, layers, X, X_tilde=None, *, alpha=0.0, beta=0.0):
    """F and its gradient: reconstruction error, activity of the codes, size of the weights,

        F = 1/n sum_i [1/2 ||g(z_i) - x_i||^2 + beta ||z_i||_1] + alpha / (2 n) sum_j ||W_j||^2,

    with the codes z_i = f(x~_i). The target is the clean x. X_tilde is X if it is not given.
    Returns: F, and the list of (dF/dW_j, dF/db_j).

    >>> net, x = autoencoder_network((1, 1)), np.array([[2.0]])
    >>> layers = [(np.array([[1.0]]), np.zeros(1)), (np.array([[0.5]]), np.zeros(1))]
    >>> reconstruction_risk(net, layers, x, beta=3.0)[0]  # z = 2, x^ = 1
    6.5
    """
    X_tilde = X if X_tilde is None else X_tilde
    F, gradient = backpropagate(net, layers, X_tilde, X, alpha=alpha)  # inputs x~, targets x
    if beta > 0:
        half, depth = encoder(net), len(layers) // 2  # from x~ to z; its loss is ||z||_1
        none = np.zeros((len(X), half.sizes[-1]))  # this loss has no target
        activity, slope = backpropagate(half, layers[:depth], X_tilde, none)
        F = F + beta * activity
        gradient[:depth] = tree_map(lambda g, s: g + beta * s, gradient[:depth], slope)
    return F, gradient


class Reconstruction(NamedTuple):
    """F and its gradient on mini-batches, for `sgd` and `adam`: each visit draws new noise.

    >>> f = Reconstruction(autoencoder_network((1, 1)), np.array([[2.0]]), beta=3.0)
    >>> layers = [(np.array([[1.0]]), np.zeros(1)), (np.array([[0.5]]), np.zeros(1))]
    >>> f(layers, rows=np.array([0]))[0]
    6.5
    """

    net: Network
    X: np.ndarray  # (n, d), clean
    alpha: float = 0.0
    beta: float = 0.0
    noise: str | None = None  # None for clean inputs
    level: float = 0.0
    rng: Any = None  # Generator, draws the noise

    def __call__(self, layers, rows):
        """F and its gradient on the samples `rows`."""
        X = X_tilde = self.X[rows]
        if self.noise is not None:
            X_tilde = corrupt(X, self.noise, self.level, rng=self.rng)
        return reconstruction_risk(self.net, layers, X, X_tilde, alpha=self.alpha, beta=self.beta)


def start_at_mean(net, X, *, rng):
    """Layers by `glorot_start`, with the best constant, the mean of the samples, as the last bias.

    >>> X = np.array([[1.0, 4.0], [3.0, 8.0]])
    >>> start_at_mean(autoencoder_network((2, 1)), X, rng=np.random.default_rng(0))[-1][1]
    array([2., 6.])
    """
    factor = LOGISTIC_FACTOR if net.activations[0] == LOGISTIC else 6.0
    *layers, (W, _) = glorot_start(net.sizes, factor=factor, rng=rng)
    return [*layers, (W, floats(X).mean(axis=0))]


# =======================================================================================
# The estimators
# =======================================================================================


@dataclass(eq=False, repr=False)
class Autoencoder(Trainer, Transformer):
    """Features learnt by a network that reconstructs its input from them.

    A wide code needs `noise` or `sparsity`, otherwise it may copy the input. With sparsity, linear
    units and ReLUs need alpha > 0 as well (see `shrunk`). Scale the features to a size of about 1.

    Parameters
    ----------
    Those of `Trainer`.
    n_components : int; units of the code, k
    hidden_layer_sizes : int or sequence of int; between input and code, reversed in the decoder
    activation : "tanh", "relu", "logistic" or "identity"; of all layers but the last (linear)
    noise : "masking", "gaussian" or None; how the inputs are corrupted in training, drawn anew by
        random_state in every pass
    noise_level : float; share of the entries that are set to 0, or standard deviation
    sparsity : float; beta, of the mean ||z||_1 of the codes
    alpha : float; of the penalty alpha / (2 n) sum_j ||W_j||^2, n being that of a mini-batch

    Attributes
    ----------
    layers_ : list of l pairs (W_j, b_j); the encoder's first
    activation_ : str; that of all layers but the last
    coefs_ : list of l ndarray of shape (n_{j-1}, n_j); transposes of the W_j
    intercepts_ : list of l ndarray of shape (n_j,)
    loss_curve_, loss_ : list of n_iter_ float; history_ without the start; its last entry
    history_ : ndarray of shape (n_iter_ + 1,); F at the start, then per pass the mean F of its
        batches, each before its step
    n_iter_ : int; number of passes
    converged_ : bool; whether training stopped before max_iter
    n_features_in_ : int

    >>> X = np.outer([-2.0, -1.0, 1.0, 2.0], [0.6, 0.8])
    >>> model = Autoencoder(1, activation="identity", alpha=0, learning_rate_init=0.01,
    ...                     tol=0, max_iter=1000, random_state=0).fit(X)
    >>> model.inverse_transform(model.transform([[3.0, 4.0]])).round(3)  # on the same line
    array([[3., 4.]])
    """

    n_components: int = 2
    _: KW_ONLY
    hidden_layer_sizes: int | tuple = ()
    activation: str = "tanh"
    noise: str | None = None
    noise_level: float = 0.3
    sparsity: float = 0.0
    alpha: float = 0.0001

    def fit(self, X, y=None):
        """Train on samples X (n, d); y is not used. Return self."""
        samples, widths = check_samples(X), self._check_parameters()
        rng = check_random_state(self.random_state)
        sizes = (samples.shape[1], *widths, self.n_components)
        net = autoencoder_network(sizes, ACTIVATIONS[self.activation])
        terms = self.alpha, self.sparsity, self.noise, self.noise_level, rng
        f, start = Reconstruction(net, samples, *terms), start_at_mean(net, samples, rng=rng)
        run, _ = self._train(self._passes(f, start, len(samples), rng))
        self.layers_, self.activation_ = run.state.theta, self.activation
        self._report(run)
        return self._remember(X)

    def _check_parameters(self):
        """Check the hyperparameters; return the hidden widths as a tuple."""
        self._check_training()
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_choice("noise", self.noise, (None, "masking", "gaussian"))
        level = check_number("noise_level", self.noise_level, at_least=0, below=np.inf)
        if self.noise == "masking" and level >= 1:
            raise ValueError(f"noise_level must be below 1 for masking; got {level!r}")
        for name in ("alpha", "sparsity"):
            check_number(name, getattr(self, name), at_least=0, below=np.inf)
        check_number("n_components", self.n_components, at_least=1, integer=True)
        return hidden_widths(self.hidden_layer_sizes)

    def _activations(self):
        """The activation of each layer; the last one is linear."""
        hidden = ACTIVATIONS[self.activation_]
        return [hidden] * (len(self.layers_) - 1) + [IDENTITY]

    def transform(self, X):
        """Codes z = f(x), (n, k), of inputs that are not corrupted."""
        X = self._check_fitted(X)
        return encode(self.layers_, self._activations(), X)

    def inverse_transform(self, X):
        """Samples g(z), (n, d), for codes X (n, k)."""
        self._require_fit()
        Z, k = check_samples(X), self.layers_[len(self.layers_) // 2][0].shape[1]
        if Z.shape[1] != k:
            raise ValueError(f"X must have {k} components; got {Z.shape[1]}")
        return decode(self.layers_, self._activations(), Z)

    def score(self, X, y=None):
        """1 - sum_i ||x_i - x^_i||^2 / sum_i ||x_i - mean||^2, the share of the variance kept.

        For samples that are all equal it is 1 if they are reconstructed exactly, else 0.
        """
        X = self._check_fitted(X)
        error = np.sum((X - self.inverse_transform(self.transform(X))) ** 2)
        if not np.ptp(X, axis=0).any():
            return float(error == 0)
        return float(1 - error / np.sum(centre(X) ** 2))
