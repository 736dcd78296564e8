"""Principal component analysis: the few directions in which the samples differ most.

The top k eigenvectors of the covariance span the k-dimensional subspace that keeps most of the
variance and loses least when the samples are projected on it.

Contents
    Matrices                   inner_product, projector
    Samples from their mean    covariance, standardise, restore, Standardised
    Most variance              kept_variance, lagrangian, lagrangian_gradient, first_axis,
                               power_iteration, PowerState
    Least error                approximation, best_coordinates, squared_error, projection_error
    Routes to the axes         signed, Principal, by_covariance, by_svd, by_gram, by_deflation,
                               principal_components, scores, reconstruct, score_operations
    Low rank                   low_rank, low_rank_log_likelihood, alternate, Factors
    How many                   cumulative_share, components_for, kaiser, impute, Imputed
    Whitening                  inverse_root, pca_whitening, zca_whitening, Whitening,
                               closest_rotation, whitening_distance
    Images                     eigenfaces, Eigenfaces
    Estimators                 PCA

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
    k          int       how many components; the routes also take a share of the variance
    J          float     mean squared error, 1/n sum_i ||x_i - x^_i||^2
    rng        Generator source of random numbers

Notes: MLN "Principal Component Analysis" and the three sections after it; REP "Principal Component
Analysis"; ISML "Feature Extraction" 1 to 5 and Question 4; IRHD 1.1 and 4. MLN calls our V U and
our k m; ISML has A for V; IRHD stores samples in columns, so that its X is our X^T, its U our V.
"""

from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
    Transformer,
    by_rows,
    check_choice,
    check_flag,
    check_samples,
    row_blocks,
)
from mlnotes.estimation import empirical_covariance

TRUSTED = 1e-6  # eigenvalues of X_c^T X_c below this share of the largest have lost six digits
ROUND_OFF = 1e-12  # an eigenvalue below this share of the largest counts as 0
FLAT = 1e-13  # a feature whose spread is below this share of its mean counts as constant


# ---------------------------------------------------------------------------------------
# Matrices
# ---------------------------------------------------------------------------------------


def inner_product(A, B):
    """<A, B> = tr(A^T B) = sum_ij a_ij b_ij of two matrices of one shape.

    Raises: ValueError if A and B differ in shape.

    >>> float(inner_product([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [1.0, 1.0]]))
    8.0
    """
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    if A.shape != B.shape:
        raise ValueError(f"A and B must have one shape; got {A.shape} and {B.shape}")
    return np.sum(A * B)


def projector(A):
    """Pi = A (A^T A)^{-1} A^T, the orthogonal projection on the span of the columns of A (d, k).

    Returns: (d, d). Raises: ValueError if the columns are linearly dependent.

    >>> projector(np.array([[2.0], [2.0]])).round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]

    Errata: pca-03 (A A^T is a projection only for orthonormal columns, not for orthogonal ones).
    """
    if np.linalg.matrix_rank(A) < A.shape[1]:
        raise ValueError(f"the {A.shape[1]} columns of A must be linearly independent")
    Q, _ = np.linalg.qr(A)
    return Q @ Q.T


# ---------------------------------------------------------------------------------------
# Samples from their mean
# ---------------------------------------------------------------------------------------


def covariance(X):
    """Sigma = 1/n X_c^T X_c = 1/n sum_i (x_i - mean)(x_i - mean)^T: (d, d).

    >>> covariance(np.array([[1.0, 4.0], [3.0, 8.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    return empirical_covariance(X, ddof=0)


def _mean(X):
    """The mean of the rows; a second pass removes what rounding left of a mean far from 0."""
    mean, blocks = X.mean(axis=0), row_blocks(len(X), BLOCK // X.shape[1])
    return mean + sum((X[rows] - mean).sum(axis=0) for rows in blocks) / len(X)


def _check_varies(X):
    if all(np.ptp(x) <= FLAT * np.abs(x[0]) for x in X.T):  # up to the first feature that does
        raise ValueError("X must vary; every sample is the same, to 13 digits")


class Standardised(NamedTuple):
    """Samples in units of the spread of each feature: X = Z sd + mean."""

    Z: np.ndarray  # (n, d)
    mean: np.ndarray  # (d,)
    sd: np.ndarray  # (d,), standard deviations with the divisor n; 0 of a constant feature


def standardise(X):
    """z_ij = (x_ij - mean_j) / sd_j: every feature with mean 0 and variance 1.

    Without it a feature with large values becomes the first axis. Constant features become 0.

    Returns: `Standardised`, from which `restore` makes X again.

    >>> Z, mean, sd = standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> Z.tolist(), mean, sd
    ([[-1.0, 0.0], [1.0, 0.0]], array([2., 5.]), array([1., 0.]))
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    X_c = X - mean
    sd = np.sqrt(np.mean(X_c**2, axis=0))
    varies = sd > FLAT * np.abs(mean)
    Z = np.where(varies, X_c / np.where(varies, sd, 1), 0)
    return Standardised(Z, mean, np.where(varies, sd, 0))


def restore(Z, mean, sd):
    """X = Z sd + mean undoes `standardise`; `sd` (d,) are the standard deviations.

    >>> restore(np.array([[-1.0, 0.0]]), np.array([2.0, 5.0]), np.array([1.0, 0.0]))
    array([[1., 5.]])
    """
    return Z * sd + mean


# ---------------------------------------------------------------------------------------
# Most variance
# ---------------------------------------------------------------------------------------


def kept_variance(Sigma, V):
    """tr(V^T Sigma V) = sum_j v_j^T Sigma v_j: the variance of the samples projected on V.

    Over all orthonormal V the maximum is lam_1 + ... + lam_k, at the top k eigenvectors.

    >>> float(kept_variance(np.diag([4.0, 1.0]), np.array([[0.6], [0.8]])).round(12))
    2.08
    """
    return inner_product(V, Sigma @ V)


def lagrangian(v, lam, Sigma):
    """L(v, lam) = v^T Sigma v + lam (1 - v^T v): one direction v, of length 1.

    >>> float(lagrangian(np.array([2.0, 0.0]), 4.0, np.diag([4.0, 1.0])))
    4.0

    Errata: pca-13 (ISML omits v_i^T v_j = 0 for several directions: each would be the first axis).
    """
    return v @ Sigma @ v + lam * (1 - v @ v)


def lagrangian_gradient(v, lam, Sigma):
    """dL/dv = 2 (Sigma v - lam v), (d,): it is 0 at every eigenvector of Sigma.

    >>> lagrangian_gradient(np.array([0.0, 1.0]), 1.0, np.diag([4.0, 1.0]))
    array([0., 0.])
    """
    return 2 * (Sigma @ v - lam * v)


def first_axis(Sigma):
    """max v^T Sigma v with v^T v = 1: Sigma v = lam v, so that v^T Sigma v = lam.

    Returns: lam_1 and v_1 (d,).

    >>> first_axis(np.diag([1.0, 4.0]))
    (np.float64(4.0), array([0., 1.]))

    Errata: pca-12 (a stationary point is not yet a maximum).
    """
    values, vectors = np.linalg.eigh(Sigma)
    return values[-1], signed(vectors[:, -1:])[:, 0]


class PowerState(NamedTuple):
    """A direction after some steps of the power iteration."""

    v: np.ndarray  # (d,), of length 1
    objective: float  # v^T Sigma v, which never falls
    residual: float  # ||Sigma v - (v^T Sigma v) v||


def power_iteration(Sigma, v0):
    """v <- Sigma v / ||Sigma v||, from the direction `v0` (d,): converges to the first axis.

    In every step the part of v along v_j shrinks by lam_j / lam_1, compared with that along v_1.

    Yields: `PowerState`, the start first, without end; the caller stops it.
    Raises: ValueError if v0 or Sigma v is 0.

    >>> states = power_iteration(np.diag([4.0, 1.0]), np.array([1.0, 1.0]))
    >>> [float((state.v[1] / state.v[0]).round(9)) for state, _ in zip(states, range(3))]
    [1.0, 0.25, 0.0625]
    """
    _check_direction(v0)
    v = v0 / np.linalg.norm(v0)
    while True:
        image = Sigma @ v
        variance = v @ image
        yield PowerState(v, float(variance), float(np.linalg.norm(image - variance * v)))
        _check_image(image)
        v = image / np.linalg.norm(image)


def _check_direction(v0):
    if not np.linalg.norm(v0) > 0:
        raise ValueError(f"v0 must be a direction; its length is {np.linalg.norm(v0)}")


def _check_image(image):
    if not image.any():
        raise ValueError("there must be variance along the start; Sigma v = 0")


# ---------------------------------------------------------------------------------------
# Least error
# ---------------------------------------------------------------------------------------


def approximation(V, Z, beta):
    """x^_i = sum_{j <= k} z_ij v_j + sum_{j > k} beta_j v_j, for a k-dimensional subspace: (n, d).

    V (d, d) is a whole orthonormal basis. Each sample has its own coordinates Z (n, k); all samples
    share `beta` (d - k,).

    >>> approximation(np.eye(2), np.array([[1.0]]), beta=np.array([5.0]))
    array([[1., 5.]])
    """
    k = Z.shape[1]
    return Z @ V[:, :k].T + V[:, k:] @ beta


def best_coordinates(X, V, k):
    """z_ij = v_j^T x_i for j <= k and beta_j = v_j^T mean for j > k: J is least for this basis.

    Returns: Z (n, k), uncentred, and beta (d - k,).

    >>> best_coordinates(np.array([[1.0, 4.0]]), np.eye(2), 1)
    (array([[1.]]), array([4.]))

    Errata: pca-16 (MLN subtracts the sum over j > k in J, and lets the one over j <= k run to d).
    """
    return X @ V[:, :k], X.mean(axis=0) @ V[:, k:]


def squared_error(X, X_hat):
    """J = 1/n sum_i ||x_i - x^_i||^2, for approximations `X_hat` (n, d) of the samples.

    Raises: ValueError if their shapes differ.

    >>> float(squared_error(np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])))
    4.5
    """
    if np.shape(X) != np.shape(X_hat):
        raise ValueError(
            f"X and X_hat must have one shape; got {np.shape(X)} and {np.shape(X_hat)}"
        )
    error = np.asarray(X, dtype=float) - X_hat
    return inner_product(error, error) / len(X)


def projection_error(X, V):
    """J(V) = 1/n sum_i ||(I - V V^T)(x_i - mean)||^2 = tr Sigma - tr(V^T Sigma V).

    The minimum is lam_{k+1} + ... + lam_d. V must have orthonormal columns.

    >>> X = np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, -2.0]])
    >>> float(projection_error(X, np.array([[1.0], [0.0]])))
    2.0
    """
    X_c = X - _mean(X)
    return squared_error(X_c, X_c @ V @ V.T)


# ---------------------------------------------------------------------------------------
# Routes to the axes
# ---------------------------------------------------------------------------------------


def signed(V):
    """Columns whose entry of largest size is positive, as in scikit-learn: (d, k).

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
    """The k top eigenvectors v_j of Sigma = X_c^T X_c / n, with Sigma v_j = lam_j v_j; for n >= d.

    Returns: `Principal`, with all min(n, d) axes if k is not given.
    Raises: ValueError if k is not between 1 and min(n, d).

    >>> mean, lam, V = by_covariance(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]]))
    >>> mean, lam, V.tolist()
    (array([2., 0.]), array([4.5, 2. ]), [[0.0, 1.0], [1.0, 0.0]])

    Errata: pca-24 (ISML prints A^T X for the scores, without centring).
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    X_c = X - mean  # 1. centre
    Sigma = X_c.T @ X_c / len(X)  # 2. covariance
    lam, V = np.linalg.eigh(Sigma)  # 3. eigenvectors, smallest first
    lam, V = lam[::-1][: min(X.shape)], V[:, ::-1]  # 4. largest first
    lam = np.maximum(lam, 0)  # rounding may leave -1e-17 where there is no variance
    k = _count(k, lam)
    return Principal(mean, lam, signed(V[:, :k]))


def by_svd(X, k=None):
    """The first k right singular vectors of X_c = P diag(s) V^T, with lam_j = s_j^2 / n.

    It works for any shape, and takes no squares: small variances keep their digits.

    Returns: `Principal`, with all min(n, d) axes if k is not given.
    Raises: ValueError if k is not between 1 and min(n, d).

    >>> by_svd(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])).lam.round(12)
    array([4.5, 2. ])

    Errata: pca-27 (IRHD writes D both for the s_j and for the lam_j = s_j^2 / n).
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)  # X_c = P diag(s) V^T
    lam = s**2 / len(X)
    k = _count(k, lam)
    return Principal(mean, lam, signed(Vt[:k].T))  # the rows of V^T are the axes


def by_gram(X, k=None):
    """v_j = X_c^T u_j / sqrt(n lam_j), with the eigenvectors u_j of X_c X_c^T / n (n, n).

    It pays for d >> n. At most n - 1 of the lam_j are not 0; where lam_j = 0 there is no axis.

    Returns: `Principal`, with all axes along which there is variance if k is not given.
    Raises: ValueError if k is not between 1 and the rank of X_c.

    >>> mean, lam, V = by_gram(np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 2.0, 0.0, 0.0]]))
    >>> lam.round(12), V.round(4).ravel()
    (array([2., 0.]), array([ 0.    ,  0.7071, -0.7071,  0.    ]))

    Errata: pca-49 (MLN leaves out the root), pca-50 (MLN counts n nonzero eigenvalues).
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    X_c = X - mean
    lam, U = np.linalg.eigh(X_c @ X_c.T / len(X))  # (n, n) in the place of (d, d)
    lam, U = np.maximum(lam[::-1], 0)[: min(X.shape)], U[:, ::-1]  # largest first
    k = _count(k, lam[: _rank(lam)], "the rank of X_c")
    V = X_c.T @ U[:, :k] / np.sqrt(len(X) * lam[:k])  # each column has length 1
    return Principal(mean, lam, signed(V))


def _count(k, lam, most="min(n, d)"):
    """The number of components: k itself, as many as a share k needs, or all for None."""
    if k is None:
        return len(lam)
    return _check_count(k, len(lam), most) if isinstance(k, Integral) else components_for(lam, k)


def _check_count(k, limit, most="min(n, d)"):
    if not 1 <= k <= limit:
        raise ValueError(f"k must be between 1 and {most}, {limit}; got {k}")
    return k


def _rank(lam):
    """How many of the eigenvalues are not 0, up to rounding."""
    return int(np.count_nonzero(lam > ROUND_OFF * lam[0]))


def by_deflation(X, k, *, steps=1000, rng):
    """The axes one after another, each by `steps` of `power_iteration` from a random direction.

    Each axis found is taken out: Sigma <- Sigma - lam v v^T. It is slow for nearly equal lam.

    Returns: `Principal`, with the first k variances only.
    Raises: ValueError if k is not between 1 and min(n, d), or if no variance is left for an axis.

    >>> X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])
    >>> by_deflation(X, 2, rng=np.random.default_rng(0)).lam.round(9)
    array([4.5, 2. ])
    """
    X = np.asarray(X, dtype=float)
    k = _check_count(k, min(X.shape))
    Sigma, lam, axes = covariance(X), [], []
    for _ in range(k):
        states = power_iteration(Sigma, rng.normal(size=len(Sigma)))
        last = next(islice(states, steps, None))  # the state after so many steps
        lam.append(last.objective)
        axes.append(last.v)
        Sigma = Sigma - lam[-1] * np.outer(last.v, last.v)  # take the axis out
    return Principal(_mean(X), np.array(lam), signed(np.column_stack(axes)))


def principal_components(X, k=None):
    """The first k axes, by the route that suits the shape of X.

    `by_covariance` for n >= d and `by_gram` for n < d. Both square the samples, which costs small
    variances half of their digits: where the k-th variance suffers, `by_svd`.

    Returns: `Principal`, with k = min(n, d) if it is not given.
    Raises: ValueError if k is not between 1 and min(n, d).

    >>> principal_components(np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]), 1).V.round(4).ravel()
    array([ 0.    ,  0.7071, -0.7071])
    """
    n, d = np.shape(X)
    k = min(n, d) if k is None else k
    with suppress(ValueError):  # there is no k-th axis by this route
        found = by_covariance(X, k) if n >= d else by_gram(X, k)
        if found.lam[found.V.shape[1] - 1] > TRUSTED * found.lam[0]:
            return found
    return by_svd(X, k)


@by_rows
def scores(X, mean, V):
    """Z = (X - 1 mean^T) V, (n, k): z_ij = v_j^T (x_i - mean), uncorrelated, with variances lam_j.

    >>> scores(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[1.2]])

    Errata: pca-41 (ISML prints v_j^T x_i for faces; every score would be off by v_j^T mean).
    """
    return (X - mean) @ V


def reconstruct(Z, mean, V):
    """x^_i = mean + V z_i, the point of the affine subspace that is nearest to x_i: (n, d).

    It equals x_i if k reaches the rank of X_c. For a smaller k, J = sum_{j > k} lam_j.

    >>> reconstruct(np.array([[2.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[2.2, 2.6]])

    Errata: pca-29 (REP prints equality for every k).
    """
    return mean + Z @ V.T


def score_operations(n, d, k):
    """Additions and multiplications for the scores by X_c V_k, and by P_k diag(s) after an SVD.

    >>> score_operations(n=10, d=4, k=2)
    (140, 20)
    """
    return (2 * d - 1) * n * k, n * k


# ---------------------------------------------------------------------------------------
# Low rank
# ---------------------------------------------------------------------------------------


def low_rank(X, k):
    """L = P_k diag(s_1, ..., s_k) V_k^T = X V_k V_k^T: the matrix of rank <= k nearest to X.

    ||X - L||_F^2 = s_{k+1}^2 + s_{k+2}^2 + ..., with the singular values s_j of X, not of X_c.

    Returns: (n, d). Raises: ValueError if k is not between 1 and min(n, d).

    >>> low_rank(np.array([[3.0, 0.0], [0.0, 1.0]]), 1).tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """
    _check_count(k, min(X.shape))
    P, s, Vt = np.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)
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


def alternate(X, B):
    """A <- argmin ||X - A B||_F, then B <- argmin ||X - A B||_F: alternating least squares.

    From `B` (k, d) on, A = X B^+ and B = A^+ X, with pseudo-inverses. The error never grows.

    Yields: `Factors`, the start first, without end; the caller stops it.

    >>> states = alternate(np.diag([3.0, 1.0]), np.array([[1.0, 1.0]]))
    >>> [round(next(states).objective, 6) for _ in range(3)]
    [5.0, 1.097561, 1.001219]
    """
    A, before = X @ np.linalg.pinv(B), np.inf
    while True:
        objective = float(np.sum((X - A @ B) ** 2))
        yield Factors(A, B, objective, before - objective)
        B = np.linalg.pinv(A) @ X  # the best B for this A
        A, before = X @ np.linalg.pinv(B), objective  # the best A for this B


# ---------------------------------------------------------------------------------------
# How many
# ---------------------------------------------------------------------------------------


def cumulative_share(lam):
    """(lam_1 + ... + lam_k) / (lam_1 + ... + lam_r) for every k: the share that k axes explain.

    Returns: (r,). Raises: ValueError unless the sum is > 0.

    >>> cumulative_share(np.array([6.0, 3.0, 1.0]))
    array([0.6, 0.9, 1. ])
    """
    total = np.sum(lam)
    if not total > 0:
        raise ValueError(f"lam must have a sum > 0; got {total}")
    return np.cumsum(lam) / total


def components_for(lam, share):
    """The least k that explains more than this `share` of the variance; r if no k does.

    Raises: ValueError unless the share is between 0 and 1.

    >>> components_for(np.array([6.0, 3.0, 1.0]), 0.8)
    2
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be between 0 and 1; got {share}")
    return min(int(np.searchsorted(cumulative_share(lam), share, side="right")) + 1, len(lam))


def kaiser(lam):
    """The number of variances that are above their average.

    >>> kaiser(np.array([6.0, 3.0, 1.0]))
    1
    """
    return int(np.count_nonzero(lam > np.mean(lam)))


class Imputed(NamedTuple):
    """Samples whose missing entries are filled with guesses."""

    X: np.ndarray  # (n, d)
    objective: float  # squared error of the rank-k fit on the known entries
    moved: float  # the largest change of a guess; inf at the start


def impute(X, missing, k):
    """Fill missing entries by the fit of k components, again and again; known entries stay.

    `missing` (n, d) is True where an entry is unknown. First guesses are means of known entries.

    Yields: `Imputed`, the start first, without end; the caller stops it.
    Raises: ValueError if a column has no known entry, or `missing` is not boolean of X's shape.

    >>> X = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 0.0]])
    >>> float(next(impute(X, missing=X == 0, k=1)).X[2, 1])
    4.0
    """
    _check_missing(X, missing)
    X = np.asarray(X, dtype=float)
    means = np.sum(X, axis=0, where=~missing) / np.count_nonzero(~missing, axis=0)
    full, moved = np.where(missing, means, X), np.inf  # first guess: means of the columns
    while True:
        mean, _, V = principal_components(full, k)
        guess = reconstruct(scores(full, mean, V), mean, V)
        yield Imputed(full, float(np.sum((X - guess) ** 2, where=~missing)), moved)
        moved = float(np.abs(guess - full).max(where=missing, initial=0.0))
        full = np.where(missing, guess, X)  # new guesses; known entries stay


def _check_missing(X, missing):
    if missing.shape != X.shape or missing.dtype != bool:
        got = f"{missing.dtype} {missing.shape}"
        raise ValueError(f"missing must be True or False for each entry of X {X.shape}; got {got}")
    if missing.all(axis=0).any():
        raise ValueError("every column must have an entry that is known")


# ---------------------------------------------------------------------------------------
# Whitening
# ---------------------------------------------------------------------------------------


class Whitening(NamedTuple):
    """The map x -> W (x - mean) that makes the covariance of the samples I."""

    mean: np.ndarray  # (d,)
    W: np.ndarray  # (k, d)


def inverse_root(Sigma):
    """Sigma^{-1/2} = V diag(lam)^{-1/2} V^T, the symmetric inverse square root.

    Returns: (d, d). Raises: ValueError if Sigma is singular.

    >>> inverse_root(np.diag([4.0, 16.0])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    lam, V = np.linalg.eigh(Sigma)
    _check_regular(lam)
    return (V / np.sqrt(lam)) @ V.T  # column j of V is divided by the root of lam_j


def _check_regular(lam):
    if not lam[0] > ROUND_OFF * lam[-1]:
        raise ValueError("Sigma must be regular; along some direction there is no variance")


def pca_whitening(X, k=None):
    """W = diag(lam)^{-1/2} V^T, z = W (x - mean): every score divided by its standard deviation.

    Returns: `Whitening`, with all components that have variance if k is not given.
    Raises: ValueError if k is not between 1 and the rank of X_c, or if all samples are the same.

    >>> pca_whitening(np.array([[0.0, 2.0], [4.0, 2.0]])).W
    array([[0.5, 0. ]])

    Errata: pca-44 (MLN multiplies by the root of lam, which gives the covariance diag(lam)^2).
    """
    X = np.asarray(X, dtype=float)
    _check_varies(X)
    mean, lam, V = principal_components(X, k)
    k = _count_to_whiten(k, lam, V)
    return Whitening(mean, (V[:, :k] / np.sqrt(lam[:k])).T)  # row j is v_j^T / sqrt(lam_j)


def _count_to_whiten(k, lam, V):
    """The number of axes in V, which must have variance; without a k those that have."""
    rank = _rank(lam)
    return min(rank, V.shape[1]) if k is None else _check_count(V.shape[1], rank, "the rank of X_c")


def zca_whitening(X):
    """W = Sigma^{-1/2} = V diag(lam)^{-1/2} V^T, z = W (x - mean): closest to the samples.

    Of all whitenings it has the least E||z - (x - mean)||^2 = tr Sigma + d - 2 tr Sigma^{1/2}.

    Returns: `Whitening`. Raises: ValueError if Sigma is singular.

    >>> zca_whitening(np.array([[2, 0], [-2, 0], [0, 4], [0, -4]])).W.round(4).tolist()
    [[0.7071, 0.0], [0.0, 0.3536]]
    """
    X = np.asarray(X, dtype=float)
    return Whitening(_mean(X), inverse_root(covariance(X)))


def closest_rotation(A):
    """The orthogonal R with the largest tr(R A), for A (d, d): R = V U^T with A = U diag(s) V^T.

    For a whitening W, the R for A = W Sigma brings R W (x - mean) closest to the samples.

    >>> (closest_rotation(np.array([[0.0, 2.0], [-3.0, 0.0]])) + 0.0).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    U, _, Vt = np.linalg.svd(A)
    return Vt.T @ U.T


def whitening_distance(W, Sigma):
    """E||W x - x||^2 = tr((W - I) Sigma (W - I)^T), for centred x and `W` (d, d).

    >>> float(whitening_distance(np.diag([0.5, 1.0]), np.diag([4.0, 1.0])))
    1.0
    """
    change = W - np.eye(len(W))
    return inner_product(change, change @ Sigma)


# ---------------------------------------------------------------------------------------
# Images
# ---------------------------------------------------------------------------------------


class Eigenfaces(NamedTuple):
    """Images as a mean image and a few faces: image_i = mean + sum_j z_ij face_j."""

    mean: np.ndarray  # (height, width)
    faces: np.ndarray  # (k, height, width), of norm 1 and orthogonal
    Z: np.ndarray  # (n, k)


def eigenfaces(images, k):
    """The principal axes of `images` (n, height, width), which are pictures themselves.

    Each image is read as a vector of grey levels. n images have at most n - 1 axes with variance.

    Returns: `Eigenfaces`. Raises: ValueError if k is not between 1 and min(n, height width).

    >>> mean, faces, Z = eigenfaces(np.array([[[0.0, 1.0]], [[2.0, 1.0]]]), 1)
    >>> mean, faces, Z.ravel()
    (array([[1., 1.]]), array([[[1., 0.]]]), array([-1.,  1.]))
    """
    n, height, width = images.shape
    X = np.asarray(images, dtype=float).reshape(n, height * width)  # each image becomes a row
    mean, _, V = principal_components(X, k)
    faces = V.T.reshape(-1, height, width)  # each axis becomes an image
    return Eigenfaces(mean.reshape(height, width), faces, scores(X, mean, V))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

_ROUTES = {
    "auto": principal_components, "full": by_svd, "covariance_eigh": by_covariance, "gram": by_gram,
}  # fmt: skip


@dataclass(eq=False, repr=False)
class PCA(Transformer):
    """Principal component analysis: k uncorrelated features that keep most of the variance.

    Names and results are scikit-learn's, signs and the divisor n - 1 included. The differences: no
    "arpack", "randomized" or "mle"; a solver "gram"; whitening refuses directions without variance.

    Parameters
    ----------
    n_components : int, float or None; how many components, or between 0 and 1 the share of the
        variance that they must exceed; None for min(n, d)
    whiten : bool; whether `transform` divides every score by its standard deviation
    svd_solver : "auto", "full", "covariance_eigh" or "gram"; the route: `principal_components`,
        `by_svd`, `by_covariance` or `by_gram`, whose None means all axes with variance

    Attributes
    ----------
    components_ : ndarray of shape (k, d); the axes V^T, the largest entry of each positive
    explained_variance_ : ndarray of shape (k,)
    explained_variance_ratio_ : ndarray of shape (k,); their shares of the whole variance
    singular_values_ : ndarray of shape (k,)
    mean_ : ndarray of shape (d,)
    n_components_ : int
    n_samples_ : int
    noise_variance_ : float; the mean of the other min(n, d) - k variances
    n_features_in_ : int

    >>> X = [[0, 0], [4, 0], [2, 3], [2, -3]]
    >>> model = PCA(n_components=1).fit(X)
    >>> model.components_, model.explained_variance_, model.transform([[7, 2]])
    (array([[0., 1.]]), array([6.]), array([[2.]]))
    """

    n_components: int | float | None = None
    _: KW_ONLY
    whiten: bool = False
    svd_solver: str = "auto"

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d); y is not used. Return self."""
        check_flag("whiten", self.whiten)
        route = _ROUTES[check_choice("svd_solver", self.svd_solver, tuple(_ROUTES))]
        samples = check_samples(X)
        n, d = samples.shape
        self._check_components(min(n, d))
        if n < 2:
            raise ValueError(f"X must have 2 samples at least, for a variance; got n_samples = {n}")
        _check_varies(samples)
        mean, lam, V = route(samples, self.n_components)
        k, rank = V.shape[1], _rank(lam)
        if self.whiten and k > rank:
            raise ValueError(
                f"n_components must be at most the rank {rank} of X_c to whiten; got {k}"
            )
        variance = lam * n / (n - 1)
        self.mean_, self.components_ = mean, V.T
        self.explained_variance_ = variance[:k]
        self.explained_variance_ratio_ = lam[:k] / lam.sum()
        self.singular_values_ = np.sqrt(n * lam[:k])
        self.noise_variance_ = float(variance[k:].mean()) if k < len(lam) else 0.0
        self.n_components_, self.n_samples_ = k, n
        return self._remember(X)

    def _check_components(self, most):
        k = self.n_components
        count = isinstance(k, Integral) and not isinstance(k, bool) and 1 <= k <= most
        share = isinstance(k, Real) and not isinstance(k, Integral) and 0 < k < 1
        if not (k is None or count or share):
            raise ValueError(
                "n_components must be None, an integer from 1 to "
                f"min(n_samples, n_features) = {most}, or a share between 0 and 1; got {k!r}"
            )

    def _unit(self):
        """The unit of every score: its standard deviation if `whiten`."""
        return np.sqrt(self.explained_variance_) if self.whiten else 1.0

    def transform(self, X):
        """Z = (X - mean) V, divided by the standard deviations if `whiten`: (n, k)."""
        return scores(self._check_fitted(X), self.mean_, self.components_.T) / self._unit()

    def inverse_transform(self, X):
        """mean + V z, for scores X (n, k): (n, d)."""
        self._require_fit()
        Z = check_samples(X)
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"X must have {self.n_components_} components; got {Z.shape[1]}")
        return reconstruct(Z * self._unit(), self.mean_, self.components_.T)

    def get_covariance(self):
        """V diag(lam) V^T + sigma^2 (I - V V^T), with sigma^2 the `noise_variance_`: (d, d)."""
        self._require_fit()
        V, sigma2 = self.components_.T, self.noise_variance_
        return V * (self.explained_variance_ - sigma2) @ V.T + sigma2 * np.eye(len(V))

    def get_precision(self):
        """The inverse of `get_covariance`, V diag(1/lam) V^T + 1/sigma^2 (I - V V^T): (d, d).

        Raises: ValueError if the covariance is singular.
        """
        self._require_fit()
        lam, V, sigma2 = self._support()
        if V.shape[1] < len(V) and sigma2 == 0:
            raise ValueError("the covariance must be regular; along some direction it is 0")
        rest = 1 / sigma2 if sigma2 > 0 else 0.0
        return V * (1 / lam - rest) @ V.T + rest * np.eye(len(V))

    def score_samples(self, X):
        """ln p(x) of N(mean, C) with C from `get_covariance`, probabilistic PCA: (n,).

        Where C is singular, it is the density on the affine subspace that holds all probability,
        and -infinity outside of it.
        """
        X = self._check_fitted(X)
        lam, V, sigma2 = self._support()
        Z = scores(X, self.mean_, V)
        outside = np.sum((X - reconstruct(Z, self.mean_, V)) ** 2, axis=1)
        squares, spread = np.sum(Z**2 / lam, axis=1), np.log(2 * np.pi * lam).sum()
        if sigma2 == 0:
            return np.where(outside > ROUND_OFF * lam[0], -np.inf, -(squares + spread) / 2)
        squares = squares + outside / sigma2
        spread = spread + (X.shape[1] - len(lam)) * np.log(2 * np.pi * sigma2)
        return -(squares + spread) / 2

    def score(self, X, y=None):
        """The mean of `score_samples`; y is not used."""
        return float(self.score_samples(X).mean())

    def _support(self):
        """The variances along axes that have one, these axes, and the noise variance or 0."""
        lam, sigma2 = self.explained_variance_, self.noise_variance_
        kept = lam > ROUND_OFF * lam[0]
        noisy = self.n_components_ < self.n_features_in_ and sigma2 > ROUND_OFF * lam[0]
        return lam[kept], self.components_[kept].T, sigma2 if noisy else 0.0
