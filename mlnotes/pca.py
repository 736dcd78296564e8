"""Principal component analysis: the few directions in which the samples differ most.

The top k eigenvectors of the covariance span the k-dimensional subspace that keeps most of the
variance and loses least when the samples are projected on it.

Contents
    Matrices                   frobenius_product, projector
    Samples from their mean    sample_covariance, standardise, Standardised
    Most variance              kept_variance, first_axis, power_iteration, PowerState
    Least error                approximation, best_coordinates, squared_error, projection_error
    Routes to the axes         signed, Principal, by_covariance, by_svd, by_gram, by_deflation,
                               principal_components, scores, reconstruct
    Low rank                   low_rank, low_rank_log_likelihood, alternating_least_squares, Factors
    How many                   cumulative_share, components_for, kaiser, impute, Imputed
    Whitening                  Whitening, inverse_root, pca_whitening, zca_whitening
    Images                     eigenfaces, Eigenfaces
    Estimators                 check_varies, PCA

Symbols
    X          (n, d)    samples x, one per row; X_c = X - 1 mean^T the centred samples
    mean       (d,)      their mean
    Sigma      (d, d)    covariance X_c^T X_c / n: divisor n in the functions, as in the notes
    V          (d, k)    orthonormal directions v_j in columns; the axes if they are eigenvectors
    lam        (r,)      eigenvalues of Sigma, the variances along the axes, largest first
    Z          (n, k)    scores z_ij = v_j^T (x_i - mean)
    P, s       (n, r)    X_c = P diag(s) V^T, the singular value decomposition: lam = s^2 / n
    U          (n, k)    orthonormal eigenvectors u_j of the Gram matrix X_c X_c^T / n
    Pi         (d, d)    the orthogonal projector on a subspace; Q (d, k) any orthonormal columns
    L          (n, d)    a matrix of rank <= k; A (n, k), B (k, d) factors of it, L = A B
    k          int       how many components; where it may be None, all r = min(n, d)
    J          float     mean squared error, 1/n sum_i ||x_i - x^_i||^2

Notes: MLN "Principal Component Analysis" and the three sections after it; REP "Principal Component
Analysis"; ISML "Feature Extraction" 1 to 5 and Question 4; IRHD 1.1 and 4. MLN calls our V U and
our k m; ISML has A for V; IRHD stores samples in columns, so that its X is our X^T, its U our V.
"""

from dataclasses import KW_ONLY, dataclass
from itertools import islice
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import ROUNDING, Transformer, check_choice, check_flag, check_samples, floats
from mlnotes.estimation import centre, empirical_covariance, empirical_mean
from mlnotes.numerics import symmetric

# =======================================================================================
# The lecture
# =======================================================================================

# --- Matrices --------------------------------------------------------------------------


def frobenius_product(A, B):
    """<A, B> = tr(A^T B) = sum_ij a_ij b_ij of two matrices of one shape.

    >>> frobenius_product([[1, 2], [3, 4]], [[1, 0], [1, 1]])
    np.float64(8.0)
    """
    return np.sum(floats(A) * floats(B))


def projector(A):
    """Pi = A (A^T A)^{-1} A^T = A A^+, the orthogonal projection on the span of A (d, k): (d, d).

    >>> projector(np.array([[2.0], [2.0]])).round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]

    Errata: pca-03 (A A^T is a projection only for orthonormal columns, not for orthogonal ones).
    """
    A = floats(A)
    A = A / np.maximum(np.abs(A).max(axis=0), np.finfo(float).tiny)  # the same span
    return A @ np.linalg.pinv(A)


# --- Samples from their mean -----------------------------------------------------------


def sample_covariance(X):
    """Sigma = 1/n X_c^T X_c = 1/n sum_i (x_i - mean)(x_i - mean)^T: (d, d).

    >>> sample_covariance(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    return empirical_covariance(X, ddof=0)


class Standardised(NamedTuple):
    """Samples in units of the standard deviation of each feature: X = Z sd + mean."""

    Z: np.ndarray  # (n, d)
    mean: np.ndarray  # (d,)
    sd: np.ndarray  # (d,), standard deviations; 0 of a constant feature


def standardise(X, ddof=0):
    """z_ij = (x_ij - mean_j) / sd_j, in which every feature has variance 1: `Standardised`.

    Without it a feature with large values becomes the first axis. Constant features become 0.
    The standard deviation has the divisor n - `ddof`; some courses take n - 1.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).Z.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    X = floats(X)
    mean, sd = X.mean(axis=0), X.std(axis=0, ddof=ddof)
    varies = sd > ROUNDING * np.abs(mean)
    Z = np.where(varies, (X - mean) / np.where(varies, sd, 1.0), 0.0)
    return Standardised(Z, mean, np.where(varies, sd, 0.0))


# --- Most variance ---------------------------------------------------------------------


def kept_variance(Sigma, V):
    """tr(V^T Sigma V) = sum_j v_j^T Sigma v_j: the variance of the samples projected on V.

    Over all orthonormal V the maximum is lam_1 + ... + lam_k, at the top k eigenvectors.

    >>> float(kept_variance(np.diag([4.0, 1.0]), np.array([[0.6], [0.8]])).round(12))
    2.08
    """
    return frobenius_product(V, Sigma @ floats(V))


def first_axis(Sigma):
    """lam_1 and v_1 (d,): max v^T Sigma v with v^T v = 1, where Sigma v = lam v.

    >>> first_axis(np.diag([1.0, 4.0]))
    (np.float64(4.0), array([0., 1.]))

    Errata: pca-12 (a stationary point is not yet a maximum).
    """
    lam, V = np.linalg.eigh(symmetric(Sigma, "Sigma"))
    return lam[-1], signed(V[:, -1:])[:, 0]


class PowerState(NamedTuple):
    """A direction after some steps of the power iteration."""

    v: np.ndarray  # (d,), of length 1
    objective: float  # v^T Sigma v, which never falls
    residual: float  # ||Sigma v - (v^T Sigma v) v||


def power_iteration(Sigma, v0):
    """v <- Sigma v / ||Sigma v||, from the direction `v0` (d,): converges to the first axis.

    In every step the part of v along v_j shrinks by lam_j / lam_1, compared with that along v_1.
    Yields: the start, then a `PowerState` per step; the last, if there is one, is an eigenvector.

    >>> states = power_iteration(np.diag([4.0, 1.0]), np.array([1.0, 1.0]))
    >>> [float((state.v[1] / state.v[0]).round(9)) for state, _ in zip(states, range(3))]
    [1.0, 0.25, 0.0625]
    """
    v = floats(v0) / np.linalg.norm(floats(v0))
    while True:
        image = Sigma @ v
        variance = v @ image
        residual = np.linalg.norm(image - variance * v)
        yield PowerState(v, variance, residual)
        if residual == 0:
            return
        v = image / np.linalg.norm(image)


# --- Least error -----------------------------------------------------------------------


def approximation(V, Z, beta):
    """x^_i = sum_{j <= k} z_ij v_j + sum_{j > k} beta_j v_j (n, d), for an orthonormal V (d, d).

    Each sample has its own coordinates Z (n, k). All samples share `beta` (d - k,).

    >>> approximation(np.eye(2), np.array([[1.0]]), beta=np.array([5.0]))
    array([[1., 5.]])
    """
    V, k = floats(V), Z.shape[1]
    return Z @ V[:, :k].T + V[:, k:] @ beta


def best_coordinates(X, V, k):
    """z_ij = v_j^T x_i (n, k) and beta_j = v_j^T mean (d - k,): J is least for this basis V (d, d).

    >>> best_coordinates(np.array([[1.0, 4.0]]), np.eye(2), 1)
    (array([[1.]]), array([4.]))

    Errata: pca-16 (MLN subtracts the sum over j > k in J, and lets the one over j <= k run to d).
    """
    X = floats(X)
    return X @ V[:, :k], X.mean(axis=0) @ V[:, k:]


def squared_error(X, X_hat):
    """J = 1/n sum_i ||x_i - x^_i||^2, for approximations `X_hat` (n, d) of the samples.

    >>> squared_error(np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 1.0]]))
    np.float64(4.5)
    """
    return np.sum((floats(X) - floats(X_hat)) ** 2) / len(X)


def projection_error(X, V):
    """J(V) = 1/n sum_i ||(I - V V^T)(x_i - mean)||^2 = tr Sigma - tr(V^T Sigma V).

    The minimum is lam_{k+1} + ... + lam_d. V must have orthonormal columns.

    >>> projection_error(np.array([[3, 1], [-3, 1], [0, -2]]), np.array([[1.0], [0.0]]))
    np.float64(2.0)
    """
    X_c = centre(X)
    return squared_error(X_c, X_c @ V @ V.T)


# --- Routes to the axes ----------------------------------------------------------------


def signed(V):
    """The columns of V, each times +1 or -1, so that its entry of largest size is positive: (d, k).

    >>> signed(np.array([[0.6, 0.8], [-0.8, 0.6]])).tolist()
    [[-0.6, 0.8], [0.8, 0.6]]
    """
    largest = np.abs(V).argmax(axis=0)
    return V * np.where(V[largest, np.arange(V.shape[1])] < 0, -1.0, 1.0)


class Principal(NamedTuple):
    """The principal axes of samples and the variances along them."""

    mean: np.ndarray  # (d,)
    lam: np.ndarray  # (r,), all r = min(n, d) variances, with the divisor n, largest first
    V: np.ndarray  # (d, k), the axes


def by_covariance(X, k=None):
    """The k top eigenvectors v_j of Sigma = X_c^T X_c / n, with Sigma v_j = lam_j v_j: `Principal`.

    >>> by_covariance(np.array([[0, 0], [4, 0], [2, 3], [2, -3]])).lam
    array([4.5, 2. ])

    Errata: pca-24 (ISML prints A^T X for the scores, without centring).
    """
    X, r = floats(X), min(X.shape)
    mean = X.mean(axis=0)
    X_c = X - mean  # 1. centre
    Sigma = X_c.T @ X_c / len(X)  # 2. covariance
    lam, V = np.linalg.eigh(Sigma)  # 3. eigenvectors, smallest eigenvalue first
    lam, V = lam[::-1][:r], V[:, ::-1][:, :r]  # 4. largest first
    return Principal(mean, np.maximum(lam, 0), signed(V[:, :k]))  # rounding may leave lam = -1e-17


def by_svd(X, k=None):
    """The k top right singular vectors of X_c = P diag(s) V^T, lam_j = s_j^2 / n: `Principal`.

    It works for any shape, and takes no squares: small variances keep their digits.

    >>> by_svd(np.array([[0, 0], [4, 0], [2, 3], [2, -3]])).lam.round(12)
    array([4.5, 2. ])

    Errata: pca-27 (IRHD writes D both for the s_j and for the lam_j = s_j^2 / n).
    """
    X = floats(X)
    mean = X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)  # X_c = P diag(s) V^T
    return Principal(mean, s**2 / len(X), signed(Vt[:k].T))  # the rows of V^T are the axes


def by_gram(X, k=None):
    """v_j = X_c^T u_j / sqrt(n lam_j), with eigenvectors u_j of X_c X_c^T / n (n, n): `Principal`.

    At most n - 1 of the lam_j are not 0. Where lam_j = 0 there is no axis: V has fewer columns.

    >>> by_gram(np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).lam.round(12)
    array([2., 0.])

    Errata: pca-49 (MLN leaves out the root), pca-50 (MLN counts n nonzero eigenvalues).
    """
    X, r = floats(X), min(X.shape)
    mean = X.mean(axis=0)
    X_c = X - mean
    lam, U = np.linalg.eigh(X_c @ X_c.T / len(X))  # (n, n) in the place of (d, d)
    lam, U = np.maximum(lam[::-1][:r], 0), U[:, ::-1][:, :r]  # largest first
    k = np.count_nonzero(lam[:k] > ROUNDING * lam[0])  # not 0, up to rounding
    V = X_c.T @ U[:, :k] / np.sqrt(len(X) * lam[:k])  # each column has length 1
    return Principal(mean, lam, signed(V))


def by_deflation(X, k, *, steps=1000, rng):
    """The k axes one after another, each by `steps` of `power_iteration`: `Principal`.

    Each axis is then taken out: Sigma <- Sigma - lam v v^T. It is slow for nearly equal lam.
    Only the first k variances are returned. The Generator `rng` draws the starts.

    >>> X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])
    >>> by_deflation(X, 2, rng=np.random.default_rng(0)).lam.round(9)
    array([4.5, 2. ])
    """
    Sigma, lam, axes = sample_covariance(X), [], []
    for _ in range(k):
        states = power_iteration(Sigma, rng.normal(size=len(Sigma)))  # from a random direction
        *_, last = islice(states, steps + 1)
        lam.append(last.objective)
        axes.append(last.v)
        Sigma = Sigma - last.objective * np.outer(last.v, last.v)  # take the axis out
    return Principal(empirical_mean(X), np.array(lam), signed(np.column_stack(axes)))


def principal_components(X, k=None):
    """The first k axes, `by_covariance` for n >= d and `by_gram` for n < d: `Principal`.

    Both square the samples, which costs small variances half of their digits. Where the k-th
    variance suffers, `by_svd` is taken.

    >>> principal_components(np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]), 1).V.round(4).ravel()
    array([ 0.    ,  0.7071, -0.7071])
    """
    (n, d), k = X.shape, min(X.shape) if k is None else k
    axes = by_covariance(X, k) if n >= d else by_gram(X, k)
    accurate = axes.lam[k - 1] > np.sqrt(ROUNDING) * axes.lam[0]
    return axes if accurate else by_svd(X, k)


def scores(X, mean, V):
    """Z = (X - 1 mean^T) V, (n, k): z_ij = v_j^T (x_i - mean), uncorrelated, with variances lam_j.

    >>> scores(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[1.2]])

    Errata: pca-41 (ISML prints v_j^T x_i for faces; every score would be off by v_j^T mean).
    """
    return (floats(X) - mean) @ V


def reconstruct(Z, mean, V):
    """x^_i = mean + V z_i, the point of the affine subspace that is nearest to x_i: (n, d).

    It equals x_i if k reaches the rank of X_c. For a smaller k, J = sum_{j > k} lam_j.

    >>> reconstruct(np.array([[2.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[2.2, 2.6]])

    Errata: pca-29 (REP prints equality for every k).
    """
    return mean + floats(Z) @ V.T


# --- Low rank --------------------------------------------------------------------------


def low_rank(X, k):
    """L = P_k diag(s_1, ..., s_k) V_k^T = X V_k V_k^T: the matrix of rank <= k nearest to X.

    ||X - L||_F^2 = s_{k+1}^2 + s_{k+2}^2 + ..., with the singular values s_j of X, not of X_c.

    >>> low_rank(np.array([[3.0, 0.0], [0.0, 1.0]]), 1).tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """
    P, s, Vt = np.linalg.svd(floats(X), full_matrices=False)
    return P[:, :k] * s[:k] @ Vt[:k]


def low_rank_log_likelihood(X, L):
    """ln p(X | L) = -||X - L||_F^2 / 2 - (n d / 2) ln 2 pi, for X = L + noise from N(0, 1).

    Among all L (n, d) of rank <= k it is largest at `low_rank`.

    >>> low_rank_log_likelihood(np.zeros((1, 2)), np.zeros((1, 2))).round(4)
    np.float64(-1.8379)
    """
    return -len(X) * squared_error(X, L) / 2 - X.size / 2 * np.log(2 * np.pi)


class Factors(NamedTuple):
    """A product A B of rank <= k after some rounds of alternating least squares."""

    A: np.ndarray  # (n, k)
    B: np.ndarray  # (k, d)
    objective: float  # ||X - A B||_F^2, which never grows
    gain: float  # the decrease of the objective in this round; inf at the start


def alternating_least_squares(X, B):
    """A <- argmin ||X - A B||_F, then B <- argmin ||X - A B||_F, in turn, from `B` (k, d) on.

    A = X B^+ and B = A^+ X, with pseudo-inverses. The error never grows.
    Yields: the start, then `Factors` after every round, without end.

    >>> states = alternating_least_squares(np.diag([3.0, 1.0]), np.array([[1.0, 1.0]]))
    >>> [round(next(states).objective, 6) for _ in range(3)]
    [5.0, 1.097561, 1.001219]
    """
    X, B = floats(X, B)
    A, before = X @ np.linalg.pinv(B), np.inf
    while True:
        objective = float(np.sum((X - A @ B) ** 2))
        yield Factors(A, B, objective, before - objective)
        B = np.linalg.pinv(A) @ X  # the best B for this A
        A, before = X @ np.linalg.pinv(B), objective  # the best A for this B


# --- How many --------------------------------------------------------------------------


def cumulative_share(lam):
    """(lam_1 + ... + lam_k) / (lam_1 + ... + lam_r) for every k, the share of k axes: (r,).

    >>> cumulative_share(np.array([6.0, 3.0, 1.0]))
    array([0.6, 0.9, 1. ])
    """
    return np.cumsum(floats(lam)) / np.sum(floats(lam))


def components_for(lam, share):
    """The least k that explains more than this `share` of the variance; r if no k does.

    >>> components_for(np.array([6.0, 3.0, 1.0]), 0.8)
    2
    """
    return min(int(np.searchsorted(cumulative_share(lam), share, side="right")) + 1, len(lam))


def kaiser(lam):
    """The number of variances that are above their average.

    >>> kaiser(np.array([6.0, 3.0, 1.0]))
    1
    """
    return int(np.count_nonzero(lam > (1 + ROUNDING) * np.mean(floats(lam))))


class Imputed(NamedTuple):
    """Samples whose missing entries are filled with guesses."""

    X: np.ndarray  # (n, d)
    objective: float  # squared error of the rank-k fit on the known entries
    moved: float  # the largest change of a guess; inf at the start


def impute(X, missing, k):
    """Fill missing entries by the fit of k components, again and again; known entries stay.

    `missing` (n, d) is True where an entry is unknown. First guesses are means of known entries.
    Yields: the start, then an `Imputed` per round, without end.

    >>> X = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 0.0]])
    >>> float(next(impute(X, missing=X == 0, k=1)).X[2, 1])
    4.0
    """
    X, moved = floats(X), np.inf
    full = np.where(missing, np.mean(X, axis=0, where=~missing), X)  # first guess: column means
    while True:
        mean, _, V = principal_components(full, k)
        guess = reconstruct(scores(full, mean, V), mean, V)
        yield Imputed(full, np.sum((X - guess) ** 2, where=~missing), moved)
        moved = np.max(np.abs(guess - full), where=missing, initial=0.0)
        full = np.where(missing, guess, X)  # new guesses; known entries stay


# --- Whitening -------------------------------------------------------------------------


class Whitening(NamedTuple):
    """The map x -> W (x - mean) that makes the covariance of the samples I."""

    mean: np.ndarray  # (d,)
    W: np.ndarray  # (k, d)


def inverse_root(Sigma):
    """Sigma^{-1/2} = V diag(lam)^{-1/2} V^T, the symmetric inverse square root: (d, d).

    Directions without variance, lam_j = 0, are mapped to 0.

    >>> inverse_root(np.diag([4.0, 16.0])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    lam, V = np.linalg.eigh(symmetric(Sigma, "Sigma"))
    positive = lam > ROUNDING * lam[-1]  # not 0, up to rounding
    V, lam = V[:, positive], lam[positive]
    return (V / np.sqrt(lam)) @ V.T  # column j of V is divided by the root of lam_j


def pca_whitening(X, k=None):
    """W = diag(lam)^{-1/2} V^T, z = W (x - mean): every score divided by its standard deviation.

    Directions without variance are left out: W may have fewer than k rows. Returns: `Whitening`.

    >>> pca_whitening(np.array([[0.0, 2.0], [4.0, 2.0]])).W
    array([[0.5, 0. ]])

    Errata: pca-44 (MLN multiplies by the root of lam, which gives the covariance diag(lam)^2).
    """
    mean, lam, V = principal_components(X, k)
    k = np.count_nonzero(lam[:k] > ROUNDING * lam[0])  # not 0, up to rounding
    return Whitening(mean, (V[:, :k] / np.sqrt(lam[:k])).T)  # row j is v_j^T / sqrt(lam_j)


def zca_whitening(X):
    """W = Sigma^{-1/2} = V diag(lam)^{-1/2} V^T, z = W (x - mean): closest to the samples.

    Of all whitenings it has the least E||z - (x - mean)||^2 = tr Sigma + d - 2 tr Sigma^{1/2}.
    Returns: `Whitening`.

    >>> zca_whitening(np.array([[2, 0], [-2, 0], [0, 4], [0, -4]])).W.round(4).tolist()
    [[0.7071, 0.0], [0.0, 0.3536]]
    """
    return Whitening(empirical_mean(X), inverse_root(sample_covariance(X)))


# --- Images ----------------------------------------------------------------------------


class Eigenfaces(NamedTuple):
    """Images as a mean image and a few faces: image_i = mean + sum_j z_ij face_j."""

    mean: np.ndarray  # (height, width)
    faces: np.ndarray  # (k, height, width), of norm 1 and orthogonal
    Z: np.ndarray  # (n, k)


def eigenfaces(images, k):
    """The principal axes of `images` (n, height, width), which are pictures: `Eigenfaces`.

    Each image is read as a vector of grey levels. n images have at most n - 1 axes with variance.

    >>> eigenfaces(np.array([[[0.0, 1.0]], [[2.0, 1.0]]]), 1).faces
    array([[[1., 0.]]])
    """
    n, height, width = images.shape
    X = images.reshape(n, height * width)  # each image becomes a row
    mean, _, V = principal_components(X, k)
    faces = V.T.reshape(-1, height, width)  # each axis becomes an image
    return Eigenfaces(mean.reshape(height, width), faces, scores(X, mean, V))


# =======================================================================================
# The estimators
# =======================================================================================


def check_varies(X):
    """Refuse samples X (n, d) that are all the same, up to rounding: they have no axes.

    >>> check_varies(np.array([[0.1, 2.0]]))
    Traceback (most recent call last):
    ValueError: X must vary; got n_samples = 1, all the same to 12 digits
    """
    if (np.ptp(X, axis=0) <= ROUNDING * np.abs(X[0])).all():
        raise ValueError(f"X must vary; got n_samples = {len(X)}, all the same to 12 digits")


_ROUTES = {"auto": principal_components, "full": by_svd, "covariance_eigh": by_covariance}


@dataclass(eq=False, repr=False)
class PCA(Transformer):
    """Principal component analysis: k uncorrelated features that keep most of the variance.

    Names and results are scikit-learn's, signs and the divisor n - 1 included. The differences: no
    "arpack", "randomized" or "mle"; whitening and densities refuse directions without variance.

    Parameters
    ----------
    n_components : int, float or None; how many components, or between 0 and 1 the share of the
        variance that they must exceed; None for min(n, d)
    whiten : bool; whether `transform` divides every score by its standard deviation
    svd_solver : "auto", "full" or "covariance_eigh"; the route: `principal_components`, `by_svd` or
        `by_covariance`

    Attributes
    ----------
    components_ : ndarray of shape (k, d); the axes V^T, the largest entry of each positive
    explained_variance_ : ndarray of shape (k,)
    explained_variance_ratio_ : ndarray of shape (k,); their shares of the whole variance
    singular_values_ : ndarray of shape (k,); the s_j of X_c = P diag(s) V^T
    mean_ : ndarray of shape (d,)
    n_components_ : int
    n_samples_ : int
    noise_variance_ : float; the mean of the other min(n, d) - k variances
    n_features_in_ : int

    >>> model = PCA(n_components=1).fit([[0, 0], [4, 0], [2, 3], [2, -3]])
    >>> model.components_, model.explained_variance_, model.transform([[7, 2]])
    (array([[0., 1.]]), array([6.]), array([[2.]]))
    """

    n_components: int | float | None = None
    _: KW_ONLY
    whiten: bool = False
    svd_solver: str = "auto"

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d); y is not used. Return self."""
        samples = check_samples(X)
        check_flag("whiten", self.whiten)
        route = _ROUTES[check_choice("svd_solver", self.svd_solver, tuple(_ROUTES))]
        check_varies(samples)
        mean, n = samples.mean(axis=0), len(samples)
        X_c = samples - mean  # up to the rounding of a mean far from 0, which the route removes
        k = self._count(X_c, route)
        rest, lam, V = route(X_c, k)
        if self.whiten and not lam[k - 1] > ROUNDING * lam[0]:
            raise ValueError(f"n_components must be at most the rank of X_c to whiten; got {k}")
        self.mean_, self.components_ = mean + rest, V.T
        self.n_components_, self.n_samples_ = k, n
        self.explained_variance_ = lam[:k] * n / (n - 1)
        self.singular_values_ = np.sqrt(n * lam[:k])
        self.explained_variance_ratio_ = lam[:k] / lam.sum()
        self.noise_variance_ = float(np.mean(lam[k:]) * n / (n - 1)) if k < len(lam) else 0.0
        self._unit = np.sqrt(self.explained_variance_) if self.whiten else 1.0  # of every score
        return self._remember(X)

    def _count(self, X_c, route):
        """The number of axes: as given, all of them for None, or as many as a share needs."""
        k, most = self.n_components, min(X_c.shape)
        if k is None:
            return most
        if isinstance(k, Integral) and not isinstance(k, bool) and 1 <= k <= most:
            return int(k)
        if isinstance(k, Real) and not isinstance(k, Integral) and 0 < k < 1:
            return components_for(route(X_c, 1).lam, k)
        raise ValueError(
            "n_components must be None, an integer from 1 to "
            f"min(n_samples, n_features) = {most}, or a share between 0 and 1; got {k!r}"
        )

    def transform(self, X):
        """Z = (X - mean) V, divided by the standard deviations if `whiten`: (n, k)."""
        return scores(self._check_fitted(X), self.mean_, self.components_.T) / self._unit

    def inverse_transform(self, X):
        """mean + V z, for scores X (n, k): (n, d)."""
        self._require_fit()
        Z = check_samples(X)
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"X must have {self.n_components_} components; got {Z.shape[1]}")
        return reconstruct(Z * self._unit, self.mean_, self.components_.T)

    def get_covariance(self):
        """C = V diag(lam) V^T + sigma^2 (I - V V^T), with sigma^2 the `noise_variance_`: (d, d)."""
        self._require_fit()
        V, sigma2 = self.components_.T, self.noise_variance_
        return V * (self.explained_variance_ - sigma2) @ V.T + sigma2 * np.eye(len(V))

    def score_samples(self, X):
        """ln p(x) of N(mean, C) with C from `get_covariance`, probabilistic PCA: (n,).

        Raises: ValueError if C is singular.
        """
        X = self._check_fitted(X)
        V, (k, d) = self.components_.T, self.components_.shape
        lam = np.append(self.explained_variance_, np.full(d - k, self.noise_variance_))  # of C
        if not lam.min() > ROUNDING * lam.max():
            raise ValueError("C must be regular; along some direction it is 0: lower n_components")
        Z = scores(X, self.mean_, V)
        outside = np.sum((X - reconstruct(Z, self.mean_, V)) ** 2, axis=1)  # 0 if k = d
        squares = np.sum(Z**2 / lam[:k], axis=1) + outside / lam[-1]
        return -(squares + np.log(2 * np.pi * lam).sum()) / 2

    def score(self, X, y=None):
        """The mean of `score_samples`; y is not used."""
        return float(self.score_samples(X).mean())
