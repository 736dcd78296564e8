"""Principal component analysis: the few directions in which the samples differ most.

Which k-dimensional subspace keeps most of the variance? Which loses least when the samples are
projected on it? Which is the most likely, if all else is noise? It is one subspace, spanned by the
top eigenvectors of the covariance, or the singular vectors of the centred samples, or what a small
Gram matrix of the samples gives. Divided by its standard deviation each component becomes white.

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
    X          (n, d)    samples x, one per row; X_c = X - 1 mean^T the centred ones
    mean       (d,)      their mean
    Sigma      (d, d)    covariance X_c^T X_c / n: divisor n in the functions, as in the notes
    V          (d, k)    orthonormal directions v_j in columns, the axes if they are eigenvectors
    lam        (r,)      eigenvalues of Sigma, the variances along the axes, largest first
    Z          (n, k)    scores z_ij = v_j^T (x_i - mean)
    P, s       (n, r)    X_c = P diag(s) V^T, the singular value decomposition: lam = s^2 / n
    k          int       how many components
    J          float     mean squared error, 1/n sum_i ||x_i - x^_i||^2
    rng        Generator source of random numbers

Notes: MLN "Principal Component Analysis" and the three sections after it; REP "Principal Component
Analysis"; ISML "Feature Extraction" 1 to 5 and Question 4; IRHD 1.1 and 4. MLN calls our V U and
our k m; ISML has A for V; IRHD stores samples in columns, so that its X is our X^T, its U our V.
"""

from itertools import islice
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from mlnotes.base import Transformer, check_choice, check_flag, check_samples, row_blocks
from mlnotes.estimation import centre, empirical_covariance

__all__ = [
    "inner_product", "projector", "covariance", "Standardised", "standardise", "restore",
    "kept_variance", "lagrangian", "lagrangian_gradient", "first_axis", "PowerState",
    "power_iteration", "approximation", "best_coordinates", "squared_error", "projection_error",
    "signed", "Principal", "by_covariance", "by_svd", "by_gram", "by_deflation",
    "principal_components", "scores", "reconstruct", "score_operations", "low_rank",
    "low_rank_log_likelihood", "Factors", "alternate", "cumulative_share", "components_for",
    "kaiser", "Imputed", "impute", "inverse_root", "Whitening", "pca_whitening", "zca_whitening",
    "closest_rotation", "whitening_distance", "Eigenfaces", "eigenfaces", "PCA",
]  # fmt: skip

TRUSTED = 1e-6  # an eigenvalue of X_c^T X_c of this share of the largest has lost six digits
ROUND_OFF = 1e-12  # an eigenvalue that is this share of the largest is 0
SQUARABLE = 1e-140, 1e140  # sums of squares of numbers in between are neither 0 nor infinite
BLOCK = 2**17  # numbers that are centred at a time: they stay in the cache
PROBE = 64  # samples that tell how large the variances are beside the means
FAR = 1e3  # a mean that is so many times the range of a feature is worth a second look
FLAT = 1e-13  # a feature that strays from its mean by this share of it is constant


# ---------------------------------------------------------------------------------------
# Matrices
# ---------------------------------------------------------------------------------------


def inner_product(A, B):
    """<A, B> = tr(A^T B) = sum_ij a_ij b_ij of two matrices of one shape.

    <A, A> = ||A||_F^2. The sum of the products needs no matrix product.
    Raises: ValueError if A and B differ in shape.

    >>> A, B = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> float(inner_product(A, B)), float(np.trace(A.T @ B))
    (8.0, 8.0)

    Claims: pca-01
    """
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    if A.shape != B.shape:
        raise ValueError(f"A and B must have one shape; got {A.shape} and {B.shape}")
    return np.sum(A * B)


def projector(A):
    """P = A (A^T A)^{-1} A^T, the orthogonal projection on the span of the columns of A (d, k).

    It is Q Q^T for orthonormal columns Q of the same span, here by A = Q R. A A^T itself is a
    projection only if the columns of A are orthonormal, not merely orthogonal (pca-03).

    Returns: (d, d). Raises: ValueError if the columns are linearly dependent.

    >>> projector(np.array([[2.0], [2.0]])).round(12)
    array([[0.5, 0.5],
           [0.5, 0.5]])

    Claims: pca-02
    """
    if np.linalg.matrix_rank(A) < A.shape[1]:
        raise ValueError(f"the {A.shape[1]} columns of A must be linearly independent")
    Q, _ = np.linalg.qr(A)
    return Q @ Q.T


# ---------------------------------------------------------------------------------------
# Samples from their mean
# ---------------------------------------------------------------------------------------


def covariance(X):
    """Sigma = 1/n X_c^T X_c = 1/n sum_i (x_i - mean)(x_i - mean)^T.

    IRHD has its samples in columns, and 1/n X_c X_c^T for the same matrix.

    >>> covariance(np.array([[1.0, 4.0], [3.0, 8.0]]))
    array([[1., 2.],
           [2., 4.]])

    Claims: pca-06
    """
    return empirical_covariance(X, ddof=0)


def _mean(X):
    return _mean_and_spread(X)[0]


def _mean_and_spread(X):
    """The mean, and how far each feature strays from it, at least: (d,) and (d,).

    A few samples tell how far, but of features that hardly vary there, and of huge ones. Where the
    mean is large, rounding has moved it: by the mean of what it leaves it is moved back.
    """
    few = X[:: max(1, len(X) // PROBE)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean, low, high = np.ones(len(X)) @ X / len(X), few.min(axis=0), few.max(axis=0)
        far = np.abs(mean) >= FAR * (high - low)
        if far.any() or not np.vdot(X, X) < SQUARABLE[1]:
            low, high = X.min(axis=0), X.max(axis=0)
            if (np.abs(mean) > FAR * (high - low)).any():
                mean = mean + (X - mean).mean(axis=0)
        spread = np.maximum(high - mean, mean - low)
    if not np.isfinite(mean).all():
        raise ValueError("X must be finite, and so must be the sum of its rows")
    return mean, spread


class Standardised(NamedTuple):
    """Samples in units of the spread of each feature: X = Z sd + mean."""

    Z: np.ndarray  # (n, d)
    mean: np.ndarray  # (d,)
    sd: np.ndarray  # (d,), standard deviations with the divisor n; 0 of a constant feature


def standardise(X):
    """z_ij = (x_ij - mean_j) / sd_j: every feature with mean 0 and variance 1.

    Otherwise a feature in small units, and so of large numbers, is the first axis by itself.
    Constant features, as pixels at the border of images, are left at 0.

    Returns: `Standardised`, from which `restore` makes X again.

    >>> Z, mean, sd = standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> Z, mean, sd
    (array([[-1.,  0.],
           [ 1.,  0.]]), array([2., 5.]), array([1., 0.]))

    Claims: pca-09
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    X_c = X - mean
    _, e = np.frexp(np.abs(X_c).max(axis=0))  # 2^e is a unit that has squares
    sd = np.ldexp(np.sqrt(np.mean(np.ldexp(X_c, -e) ** 2, axis=0)), e)
    sd[sd <= FLAT * np.abs(mean)] = 0
    return Standardised(np.divide(X_c, sd, out=np.zeros_like(X_c), where=sd > 0), mean, sd)


def restore(Z, mean, sd):
    """Z sd + mean: what `standardise` began with, for `sd` (d,) the standard deviations.

    >>> restore(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([2.0, 5.0]), np.array([1.0, 0.0]))
    array([[1., 5.],
           [3., 5.]])
    """
    return Z * sd + mean


# ---------------------------------------------------------------------------------------
# Most variance
# ---------------------------------------------------------------------------------------


def kept_variance(Sigma, V):
    """tr(V^T Sigma V) = sum_j v_j^T Sigma v_j, the variance of the samples projected on V.

    Over all orthonormal V it is at most lam_1 + ... + lam_k, and that at the top k eigenvectors.

    >>> float(kept_variance(np.diag([4.0, 1.0]), np.array([[0.6], [0.8]])).round(12))
    2.08

    Claims: pca-14
    """
    return inner_product(V, Sigma @ V)


def lagrangian(v, lam, Sigma):
    """L(v, lam) = v^T Sigma v + lam (1 - v^T v), of one direction and its one constraint.

    Several directions need v_i^T v_j = 0 too, which ISML leaves out: without it every one of
    them is the first axis (pca-13).

    >>> float(lagrangian(np.array([2.0, 0.0]), 4.0, np.diag([4.0, 1.0])))
    4.0
    """
    return v @ Sigma @ v + lam * (1 - v @ v)


def lagrangian_gradient(v, lam, Sigma):
    """dL/dv = 2 (Sigma v - lam v): 0 at every eigenvector, not at the best only (pca-12).

    >>> lagrangian_gradient(np.array([0.0, 1.0]), 1.0, np.diag([4.0, 1.0]))
    array([0., 0.])
    """
    return 2 * (Sigma @ v - lam * v)


def first_axis(Sigma):
    """max v^T Sigma v with v^T v = 1: Sigma v = lam v, so that v^T Sigma v = lam.

    The stationary points are the eigenvectors; only that of the largest eigenvalue is the
    maximum, the last is the minimum, all others are saddle points (pca-12).

    Returns: lam_1 and v_1 (d,).

    >>> variance, v = first_axis(np.diag([1.0, 4.0]))
    >>> float(variance), v
    (4.0, array([0., 1.]))

    Claims: pca-11
    """
    values, vectors = np.linalg.eigh(Sigma)
    return values[-1], signed(vectors[:, -1:])[:, 0]


class PowerState(NamedTuple):
    """A direction on its way to the first axis."""

    v: np.ndarray  # (d,), of length 1
    objective: float  # v^T Sigma v, which never falls
    residual: float  # ||Sigma v - (v^T Sigma v) v||


def power_iteration(Sigma, v0):
    """v <- Sigma v / ||Sigma v||, from the direction `v0` (d,): to the first axis.

    What v0 has of v_j shrinks against its part of v_1 as (lam_j / lam_1)^steps. For ever; the
    caller stops it.

    Yields: `PowerState`, the start first. Raises: ValueError if v0 or Sigma v is 0.

    >>> states = power_iteration(np.diag([4.0, 1.0]), np.array([1.0, 1.0]))
    >>> [float((state.v[1] / state.v[0]).round(9)) for state, _ in zip(states, range(3))]
    [1.0, 0.25, 0.0625]
    """
    length = _length(v0)
    if not length > 0:  # NaN, too
        raise ValueError(f"v0 must be a direction; it has the length {length}")
    v = v0 / length
    while True:
        image = Sigma @ v
        variance = v @ image
        yield PowerState(v, float(variance), _length(image - variance * v))
        length = _length(image)
        if length == 0:
            raise ValueError("there must be variance along the start; Sigma v = 0")
        v = image / length


def _length(v):
    """||v||, by squares of numbers that have them."""
    _, e = np.frexp(np.abs(v).max())
    return float(np.ldexp(np.linalg.norm(np.ldexp(v, -e)), e))


# ---------------------------------------------------------------------------------------
# Least error
# ---------------------------------------------------------------------------------------


def approximation(V, Z, beta):
    """x^_i = sum_{j <= k} z_ij v_j + sum_{j > k} beta_j v_j, in a k-dimensional affine subspace.

    V (d, d) is a whole orthonormal basis here; Z (n, k) are coordinates of every sample, `beta`
    (d - k,) those that all samples share.

    >>> approximation(np.eye(2), np.array([[1.0], [3.0]]), beta=np.array([5.0]))
    array([[1., 5.],
           [3., 5.]])
    """
    k = Z.shape[1]
    return Z @ V[:, :k].T + V[:, k:] @ beta


def best_coordinates(X, V, k):
    """z_ij = v_j^T x_i for j <= k and beta_j = v_j^T mean for j > k: J is least for this basis.

    With Z = X V_k, J = 1/n sum_i [sum_{j <= k} (v_j^T x_i - z_ij)^2 + sum_{j > k} (v_j^T x_i -
    beta_j)^2]. MLN prints a minus between the sums and lets the first run to d (pca-16).

    Returns: Z (n, k), uncentred, and beta (d - k,).

    >>> best_coordinates(np.array([[1.0, 4.0], [3.0, 6.0]]), np.eye(2), 1)
    (array([[1.],
           [3.]]), array([5.]))
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

    What is not kept is lost, so that least error is most variance. Only the subspace matters, and
    the least is the sum of the lam_j, j > k. V must have orthonormal columns.

    >>> X = np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, -2.0]])
    >>> float(projection_error(X, np.array([[1.0], [0.0]])))
    2.0
    """
    X_c = centre(X)
    return squared_error(X_c, X_c @ V @ V.T)


# ---------------------------------------------------------------------------------------
# Routes to the axes
# ---------------------------------------------------------------------------------------


def signed(V):
    """Columns with the sign that makes the entry of largest size positive, as scikit-learn has it.

    Axes are lines: v and -v are both right, and a rule makes results repeat.

    >>> signed(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    largest = np.abs(V).argmax(axis=0)
    return V * np.where(V[largest, np.arange(V.shape[1])] < 0, -1.0, 1.0)


class Principal(NamedTuple):
    """The principal axes of samples and the variances along them."""

    mean: np.ndarray  # (d,)
    lam: np.ndarray  # (r,), all r = min(n, d) variances, the divisor n, largest first
    V: np.ndarray  # (d, k), the axes


def by_covariance(X, k=None):
    """The k top eigenvectors of Sigma: for n >= d. All d, if k is not given and n >= d.

    1. mean, X_c = X - 1 mean^T;  2. Sigma = X_c^T X_c / n;  3. Sigma V = V diag(lam);
    4. largest first;  5. Z = X_c V_k. ISML prints A^T X for the last, of uncentred rows (pca-24).

    Returns: `Principal`. Raises: ValueError if k is not between 1 and min(n, d).

    >>> mean, lam, V = by_covariance(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]]))
    >>> mean, lam, V
    (array([2., 0.]), array([4.5, 2. ]), array([[0., 1.],
           [1., 0.]]))

    Claims: pca-23
    """
    return _principal(X, k, _by_eigh)


def by_svd(X, k=None):
    """The right singular vectors of X_c = P diag(s) V^T, with lam_j = s_j^2 / n: for any shape.

    No squares are taken, and small variances keep their digits. The scores are X_c V_k, or
    P_k diag(s_1, ..., s_k) without a further product. The loadings are V here, V diag(s) elsewhere.
    IRHD writes D for the s and for the lam, which are s^2 / n (pca-27).

    Returns: `Principal`. Raises: ValueError if k is not between 1 and min(n, d).

    >>> by_svd(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])).lam.round(12)
    array([4.5, 2. ])

    Claims: pca-26
    """
    return _principal(X, k, _by_svd)


def by_gram(X, k=None):
    """v_j = X_c^T u_j / sqrt(n lam_j), of the eigenvectors u_j of X_c X_c^T / n (n, n): for d >> n.

    Both matrices have the same nonzero eigenvalues, and n^3 steps do for d^3. MLN leaves the root
    out: ||X_c^T u_j||^2 = n lam_j (pca-49). X_c^T 1 = 0, so that at most n - 1 of the lam are
    not 0, where MLN has n (pca-50); where lam_j = 0 this makes no axis.

    Returns: `Principal`, with k = the rank of X_c if it is not given.
    Raises: ValueError if k is not between 1 and that rank.

    >>> mean, lam, V = by_gram(np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 2.0, 0.0, 0.0]]))
    >>> lam.round(12), V.round(4).ravel()
    (array([2., 0.]), array([ 0.    ,  0.7071, -0.7071,  0.    ]))

    Claims: pca-48
    """
    X = np.asarray(X, dtype=float)
    mean = _mean(X)
    lam, axes = _by_gram(X, mean, k)
    k = _checked_count(k, np.count_nonzero(lam > ROUND_OFF * lam[0]), "the rank of X_c")
    return Principal(mean, lam, signed(axes(k)))


def by_deflation(X, k, *, steps=1000, rng):
    """The axes one after another, by `power_iteration` of so many `steps`, each from a random v.

    An axis that is found is taken out, Sigma <- Sigma - lam v v^T, and the next is the first of
    what is left. The second route, slow where two variances are nearly equal.

    Returns: `Principal`, with the first k variances only.
    Raises: ValueError if k is not between 1 and min(n, d), or nothing is left for an axis.

    >>> X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])
    >>> by_deflation(X, 2, rng=np.random.default_rng(0)).lam.round(9)
    array([4.5, 2. ])
    """
    Sigma, found = covariance(X), []
    for _ in range(_checked_count(k, min(X.shape), "min(n, d)")):
        states = power_iteration(Sigma, rng.normal(size=len(Sigma)))
        *_, last = islice(states, steps + 1)
        found.append(last)
        Sigma = Sigma - last.objective * np.outer(last.v, last.v)
    V = np.column_stack([state.v for state in found])
    lam = np.array([state.objective for state in found])
    return Principal(_mean(np.asarray(X, dtype=float)), lam, signed(V))


def principal_components(X, k=None):
    """The axes by the route that is fastest for the shape and exact to its digits.

    Of the smaller of Sigma and the Gram matrix; if the squares have cost the k-th variance its
    digits, by the singular values.

    Returns: `Principal`, with k = min(n, d) if it is not given.
    Raises: ValueError if k is not between 1 and min(n, d).

    >>> principal_components(np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]), 1).V.round(4).ravel()
    array([ 0.    ,  0.7071, -0.7071])
    """
    return _principal(X, k, _by_shape)


def _principal(X, k, route):
    X, k = np.asarray(X, dtype=float), _checked_count(k, min(X.shape), "min(n, d)")
    mean = _mean(X)
    lam, axes = route(X, mean, k)
    return Principal(mean, lam, signed(axes(k)))


def _checked_count(k, most, what):
    """k, or `most` for None."""
    k = most if k is None else k
    if not 1 <= k <= most:
        raise ValueError(f"k must be between 1 and {what}, {most}; got {k}")
    return k


def _by_eigh(X, mean, k):
    """All min(n, d) variances, and what makes the first axes; how many are asked is no matter."""
    lam, V = np.linalg.eigh(_scatter(X, mean) / len(X))
    return np.maximum(lam[::-1], 0)[: min(X.shape)], lambda k: V[:, ::-1][:, :k]


def _scatter(X, mean):
    """X_c^T X_c, as X^T X - n mean mean^T if that cancels no more than a bit of any variance.

    That saves a copy of X. Whether it may do, a few samples tell beforehand, and the result.
    """
    few = X[:: max(1, len(X) // PROBE)]
    if (mean**2 <= few.var(axis=0)).all():
        S = X.T @ X
        squares = S.diagonal() / 2
        S -= np.outer(len(X) * mean, mean)
        if (S.diagonal() >= squares).all():
            return S
    X_c = X - mean
    return X_c.T @ X_c


def _by_svd(X, mean, k):
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    return s**2 / len(X), lambda k: Vt[:k].T


def _by_gram(X, mean, k):
    n, X_c = len(X), X - mean
    lam, U = np.linalg.eigh(X_c @ X_c.T / n)
    lam, U = np.maximum(lam[::-1], 0)[: min(X_c.shape)], U[:, ::-1]
    return lam, lambda k: X_c.T @ (U[:, :k] / np.sqrt(n * lam[:k]))


def _by_shape(X, mean, k):
    """By the smaller matrix, but by the singular values where k, a count or a share, asks more."""
    n, d = X.shape
    lam, axes = _by_eigh(X, mean, k) if n >= d else _by_gram(X, mean, k)
    last = k if isinstance(k, Integral) else components_for(lam, k)
    return (lam, axes) if lam[last - 1] > TRUSTED * lam[0] else _by_svd(X, mean, k)


def scores(X, mean, V):
    """Z = (X - 1 mean^T) V: z_ij = v_j^T (x_i - mean), uncorrelated with the variances lam_j.

    ISML has v_j^T x_i for faces, though the mean is taken out: every z_ij would carry v_j^T mean
    (pca-41).

    >>> scores(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[1.2]])
    """
    return (X - mean) @ V


def reconstruct(Z, mean, V):
    """x^_i = mean + V z_i, the point of the affine subspace nearest to x_i.

    Z V^T is X only if k reaches the rank; else it is an approximation with J = sum_{j > k} lam_j,
    where REP prints equality (pca-29).

    >>> reconstruct(np.array([[2.0]]), np.array([1.0, 1.0]), np.array([[0.6], [0.8]]))
    array([[2.2, 2.6]])

    Claims: pca-28
    """
    return mean + Z @ V.T


def score_operations(n, d, k):
    """Additions and multiplications for the scores: by X_c V_k, and by P_k diag(s) after an SVD.

    Each of the n k entries of the product takes d multiplications and d - 1 additions; `d` is the
    number of features, `n` that of samples.

    >>> score_operations(n=10, d=4, k=2)
    (140, 20)
    """
    return (2 * d - 1) * n * k, n * k


# ---------------------------------------------------------------------------------------
# Low rank
# ---------------------------------------------------------------------------------------


def low_rank(X, k):
    """L = P_k diag(s_1, ..., s_k) V_k^T = X V_k V_k^T: of rank <= k and the nearest to X.

    Eckart and Young: ||X - L||_F^2 = s_{k+1}^2 + ..., of the singular values of X itself, which
    need not be centred.

    Returns: (n, d). Raises: ValueError if k is not between 1 and min(n, d).

    >>> low_rank(np.array([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]]), 1).round(12) + 0.0
    array([[3., 0.],
           [0., 0.],
           [4., 0.]])

    Claims: pca-33
    """
    k = _checked_count(k, min(X.shape), "min(n, d)")
    P, s, Vt = np.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)
    return P[:, :k] * s[:k] @ Vt[:k]


def low_rank_log_likelihood(X, L):
    """ln p(X | L) = -||X - L||_F^2 / 2 - (n d / 2) ln 2 pi, if X = L + N and N is N(0, 1) noise.

    Over the L (n, d) of rank <= k it is largest where ||X - L||_F is least: at `low_rank`.

    >>> low_rank_log_likelihood(np.zeros((1, 2)), np.zeros((1, 2))).round(4)
    np.float64(-1.8379)
    """
    return -len(X) * squared_error(X, L) / 2 - X.size / 2 * np.log(2 * np.pi)


class Factors(NamedTuple):
    """A matrix A B of rank <= k on its way to X."""

    A: np.ndarray  # (n, k)
    B: np.ndarray  # (k, d)
    objective: float  # ||X - A B||_F^2, which never grows
    gain: float  # by how much the step lessened it; inf at the start


def alternate(X, B):
    """A <- argmin ||X - A B||_F, then B <- argmin ||X - A B||_F: alternating least squares.

    From `B` (k, d) on. It nears the best rank-k approximation and cannot pass it.

    Yields: `Factors`, for ever; the caller stops it.

    >>> states = alternate(np.diag([3.0, 1.0]), np.array([[1.0, 1.0]]))
    >>> [round(next(states).objective, 6) for _ in range(3)]
    [5.0, 1.097561, 1.001219]
    """
    A, before = X @ np.linalg.pinv(B), np.inf
    while True:
        objective = float(np.sum((X - A @ B) ** 2))
        yield Factors(A, B, objective, before - objective)
        B = np.linalg.pinv(A) @ X
        A, before = X @ np.linalg.pinv(B), objective


# ---------------------------------------------------------------------------------------
# How many
# ---------------------------------------------------------------------------------------


def cumulative_share(lam):
    """(lam_1 + ... + lam_k) / sum_j lam_j for every k: what so many components explain.

    Returns: (r,). Raises: ValueError unless the sum is > 0.

    >>> cumulative_share(np.array([6.0, 3.0, 1.0]))
    array([0.6, 0.9, 1. ])
    """
    total = np.sum(lam)
    if not total > 0:  # NaN, too
        raise ValueError(f"lam must have a sum > 0; got {total}")
    return np.cumsum(lam) / total


def components_for(lam, share):
    """The least k that explains more than this `share` of the variance, or all, if none does.

    Raises: ValueError unless the share is between 0 and 1.

    >>> components_for(np.array([6.0, 3.0, 1.0]), 0.8)
    2
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be between 0 and 1; got {share}")
    return min(int(np.searchsorted(cumulative_share(lam), share, side="right")) + 1, len(lam))


def kaiser(lam):
    """How many variances are above their average.

    >>> kaiser(np.array([6.0, 3.0, 1.0]))
    1
    """
    return int(np.count_nonzero(lam > np.mean(lam)))


class Imputed(NamedTuple):
    """Samples with a guess where an entry is missing."""

    X: np.ndarray  # (n, d)
    objective: float  # squared error of the rank-k fit on the entries that are known
    moved: float  # the largest change of a guess; inf at the start


def impute(X, missing, k):
    """Guess missing entries by k components, again and again; the known entries stay.

    `missing` (n, d) is true where X is not to be looked at. The start has the mean of the known
    entries of each column. Fits to entries that were hidden can choose k, unlike errors of hidden
    rows, which never grow with k.

    Yields: `Imputed`, for ever; the caller stops it.
    Raises: ValueError if a column is all missing, or `missing` is not true or false of every entry.

    >>> X, missing = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 0.0]]), np.zeros((3, 2), dtype=bool)
    >>> missing[2, 1] = True
    >>> states = impute(X, missing, 1)
    >>> next(states).X[2, 1], [state for state, _ in zip(states, range(20))][-1].X[2, 1].round(6)
    (np.float64(4.0), np.float64(4.0))
    """
    if missing.shape != X.shape or missing.dtype != bool:
        got = f"{missing.dtype} {missing.shape}"
        raise ValueError(f"missing must be true or false of every entry of X {X.shape}; got {got}")
    X = np.asarray(X, dtype=float)
    if missing.all(axis=0).any():
        raise ValueError("every column must have an entry that is known")
    means = np.sum(X, axis=0, where=~missing) / np.count_nonzero(~missing, axis=0)
    full, moved = np.where(missing, means, X), np.inf
    while True:
        found = principal_components(full, k)
        guess = reconstruct(scores(full, found.mean, found.V), found.mean, found.V)
        yield Imputed(full, float(np.sum((X - guess) ** 2, where=~missing)), moved)
        moved = float(np.abs(guess - full).max(where=missing, initial=0.0))
        full = np.where(missing, guess, X)


# ---------------------------------------------------------------------------------------
# Whitening
# ---------------------------------------------------------------------------------------


class Whitening(NamedTuple):
    """z = W (x - mean), of covariance I."""

    mean: np.ndarray  # (d,)
    W: np.ndarray  # (k, d)


def inverse_root(Sigma):
    """Sigma^{-1/2} = V diag(lam)^{-1/2} V^T, symmetric.

    Raises: ValueError if Sigma is singular.

    >>> inverse_root(np.diag([4.0, 16.0]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    lam, V = np.linalg.eigh(Sigma)
    if not lam[0] > ROUND_OFF * lam[-1]:
        raise ValueError("Sigma must be regular; along some direction there is no variance")
    return (V / np.sqrt(lam)) @ V.T


def pca_whitening(X, k=None):
    """z = diag(lam)^{-1/2} V^T (x - mean): every score divided by its standard deviation.

    The covariance is diag(lam)^{-1/2} V^T Sigma V diag(lam)^{-1/2} = I. MLN says that each
    component is scaled by the root of its eigenvalue; times it, the covariance is diag(lam)^2
    (pca-44).

    Returns: `Whitening`, of k components, min(n, d) if it is not given.
    Raises: ValueError if there is no variance along one of them.

    >>> W = pca_whitening(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, -3.0]])).W
    >>> (W**2).round(6)
    array([[0.      , 0.222222],
           [0.5     , 0.      ]])

    Claims: pca-43
    """
    mean, lam, V = principal_components(X, k)
    rank = np.count_nonzero(lam > ROUND_OFF * lam[0])
    if V.shape[1] > rank:
        raise ValueError(f"k must be at most the rank of X_c, {rank}; got {V.shape[1]}")
    return Whitening(mean, (V / np.sqrt(lam[: V.shape[1]])).T)


def zca_whitening(X):
    """z = Sigma^{-1/2} (x - mean) = V diag(lam)^{-1/2} V^T (x - mean): the closest to the samples.

    With W whitening so is R W, for every orthogonal R; R = V turns the axes of the components back
    to those of the features. E||z - (x - mean)||^2 = tr Sigma + d - 2 tr Sigma^{1/2}, the least.

    Returns: `Whitening`. Raises: ValueError if Sigma is singular.

    >>> zca_whitening(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 4.0], [2.0, -4.0]])).W.round(4)
    array([[0.7071, 0.    ],
           [0.    , 0.3536]])

    Claims: pca-46
    """
    X = np.asarray(X, dtype=float)
    return Whitening(_mean(X), inverse_root(covariance(X)))


def closest_rotation(A):
    """The orthogonal R with the largest tr(R A), for square `A`: R = V U^T of A = U diag(s) V^T.

    That is orthogonal Procrustes. Of a whitening W, R W comes nearest to the samples for the R
    of A = W Sigma.

    >>> closest_rotation(np.array([[0.0, 2.0], [-3.0, 0.0]])).round(12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    U, _, Vt = np.linalg.svd(A)
    return Vt.T @ U.T


def whitening_distance(W, Sigma):
    """E||W x - x||^2 = tr((W - I) Sigma (W - I)^T) for centred x, with `W` (d, d).

    >>> float(whitening_distance(np.diag([0.5, 1.0]), np.diag([4.0, 1.0])))
    1.0
    """
    change = W - np.eye(len(W))
    return inner_product(change, change @ Sigma)


# ---------------------------------------------------------------------------------------
# Images
# ---------------------------------------------------------------------------------------


class Eigenfaces(NamedTuple):
    """Images as a mean and a few pictures, image_i = mean + sum_j z_ij face_j."""

    mean: np.ndarray  # (h, w)
    faces: np.ndarray  # (k, h, w), of norm 1 and orthogonal
    Z: np.ndarray  # (n, k)


def eigenfaces(images, k):
    """The principal axes of `images` (n, h, w), seen as pictures themselves.

    An image is a vector of h w grey levels, 10304 of a face of 112 x 92; of n images at most n - 1
    axes carry any variance.

    Returns: `Eigenfaces`. Raises: ValueError if k is not between 1 and min(n, h w).

    >>> images = np.array([[[0.0, 1.0]], [[2.0, 1.0]]])
    >>> mean, faces, Z = eigenfaces(images, 1)
    >>> mean, faces, Z
    (array([[1., 1.]]), array([[[1., 0.]]]), array([[-1.],
           [ 1.]]))

    Claims: pca-40
    """
    n, *shape = images.shape
    X = np.asarray(images, dtype=float).reshape(n, -1)
    mean, _, V = principal_components(X, k)
    return Eigenfaces(mean.reshape(shape), V.T.reshape(-1, *shape), scores(X, mean, V))


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------

_ROUTES = {"auto": _by_shape, "full": _by_svd, "covariance_eigh": _by_eigh, "gram": _by_gram}


class PCA(Transformer):
    """Principal component analysis: k uncorrelated features that keep most of the variance.

    As scikit-learn's, variances with the divisor n - 1 and signs included; labels have no part in
    it. Every solver is exact: "arpack", "randomized" and the count "mle" are not there, "gram" is
    added. Whitening refuses directions without variance, and leaves the law of x what it is.

    Parameters
    ----------
    n_components : int, float or None; how many components, or between 0 and 1 the share of the
        variance that they must exceed; None for min(n, d)
    whiten : bool; whether `transform` divides every score by its standard deviation
    svd_solver : "auto", "full", "covariance_eigh" or "gram"; "full" by the singular values of X_c,
        the others by the eigenvectors of Sigma (d, d) and of the Gram matrix (n, n); "auto" by
        the smaller of the two, and by "full" where their squares would cost too many digits

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
    >>> model.components_, model.explained_variance_
    (array([[0., 1.]]), array([6.]))
    >>> model.transform([[7, 2]])
    array([[2.]])

    Claims: pca-05
    """

    def __init__(self, n_components=None, *, whiten=False, svd_solver="auto"):
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver

    def fit(self, X, y=None):
        """Find the axes of samples X (n, d); y is not used. Return self."""
        whiten = check_flag("whiten", self.whiten)
        solver = check_choice("svd_solver", self.svd_solver, tuple(_ROUTES))
        samples = check_samples(X)
        n, d = samples.shape
        asked = self._asked(min(n, d))
        if n < 2:
            raise ValueError(f"X must have 2 samples at least, for a variance; got n_samples = {n}")
        mean, spread = _mean_and_spread(samples)
        self._check_spread(spread, mean)
        lam, axes = _ROUTES[solver](samples, mean, asked)
        rank = np.count_nonzero(lam > ROUND_OFF * lam[0])
        k = asked if isinstance(asked, Integral) else components_for(lam, asked)
        if k > rank and (whiten or solver == "gram"):
            why = "to whiten" if whiten else "with the solver 'gram'"
            raise ValueError(f"n_components must be at most the rank {rank} of X_c {why}; got {k}")
        self._keep(mean, lam, signed(axes(k)), n)
        return self._remember(X)

    def _asked(self, most):
        """The count, or the share of the variance."""
        k = self.n_components
        if k is None:
            return most
        count = isinstance(k, Integral) and not isinstance(k, bool) and 1 <= k <= most
        share = isinstance(k, Real) and not isinstance(k, Integral) and 0 < k < 1
        if not (count or share):
            raise ValueError(
                "n_components must be None, an integer from 1 to "
                f"min(n_samples, n_features) = {most}, or a share between 0 and 1; got {k!r}"
            )
        return k

    @staticmethod
    def _check_spread(spread, mean):
        """Refuse samples of which none differs, or which have no variance in floating point."""
        if (spread <= FLAT * np.abs(mean)).all():
            raise ValueError("X must vary; every sample is the same, to 13 digits")
        most = spread.max()
        if not SQUARABLE[0] < most < SQUARABLE[1]:
            raise ValueError(f"X must be in other units, to have squares; it varies by {most:.3g}")

    def _keep(self, mean, lam, V, n):
        k = V.shape[1]
        variance = lam * (n / (n - 1))
        self.mean_, self.components_ = mean, np.ascontiguousarray(V.T)
        self.explained_variance_ = variance[:k]
        self.explained_variance_ratio_ = lam[:k] / lam.sum()
        self.singular_values_ = np.sqrt(n * lam[:k])
        self.noise_variance_ = float(variance[k:].mean()) if k < len(lam) else 0.0
        self.n_components_, self.n_samples_ = int(k), n

    def _scale(self):
        """The unit of every score."""
        return np.sqrt(self.explained_variance_) if self.whiten else 1.0

    def fit_transform(self, X, y=None):
        """Fit to X and transform it; y is not used."""
        return self.fit(X)._project(np.asarray(X, dtype=float))

    def transform(self, X):
        """Z = (X - mean) V, divided by the standard deviations if `whiten`: (n, k)."""
        return self._project(self._check_fitted(X))

    def _project(self, X):
        """`scores`, as X V - mean^T V if that cancels no more than a bit: no copy of X is made."""
        mean, V = self.mean_, self.components_.T
        if mean @ mean <= self.explained_variance_.sum():
            Z = X @ V - mean @ V
        else:
            blocks = row_blocks(len(X), BLOCK // X.shape[1])
            Z = np.concatenate([scores(X[rows], mean, V) for rows in blocks])
        return Z / self._scale() if self.whiten else Z

    def inverse_transform(self, X):
        """mean + V z, for scores (n, k): (n, d)."""
        self._require_fit()
        Z = check_samples(X)
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"X must have {self.n_components_} components; got {Z.shape[1]}")
        return reconstruct(Z * self._scale(), self.mean_, self.components_.T)

    def get_covariance(self):
        """V diag(lam) V^T + sigma^2 (I - V V^T), with sigma^2 the `noise_variance_`: (d, d)."""
        self._require_fit()
        V, sigma2 = self.components_.T, self.noise_variance_
        return V * (self.explained_variance_ - sigma2) @ V.T + sigma2 * np.eye(len(V))

    def get_precision(self):
        """The inverse of `get_covariance`, V diag(1/lam) V^T + 1/sigma^2 (I - V V^T): (d, d).

        Raises: ValueError if that is singular.
        """
        self._require_fit()
        lam, V, sigma2 = self._support()
        if V.shape[1] < len(V) and sigma2 == 0:
            raise ValueError("the covariance must be regular; along some direction it is 0")
        rest = 1 / sigma2 if sigma2 > 0 else 0.0
        return V * (1 / lam - rest) @ V.T + rest * np.eye(len(V))

    def score_samples(self, X):
        """ln p(x) of N(mean, C) with C from `get_covariance`, probabilistic PCA: (n,).

        Where C is singular, the density on the affine subspace that has all probability, and
        -infinity off it.
        """
        X = self._check_fitted(X)
        lam, V, sigma2 = self._support()
        Z = scores(X, self.mean_, V)
        outside = np.sum((X - reconstruct(Z, self.mean_, V)) ** 2, axis=1)
        squares, spread = np.sum(Z**2 / lam, axis=1), np.log(2 * np.pi * lam).sum()
        if sigma2 == 0:
            return np.where(outside > ROUND_OFF * lam[0], -np.inf, -(squares + spread) / 2)
        squares += outside / sigma2
        spread += (X.shape[1] - len(lam)) * np.log(2 * np.pi * sigma2)
        return -(squares + spread) / 2

    def score(self, X, y=None):
        """The mean of `score_samples`; y is not used."""
        return float(self.score_samples(X).mean())

    def _support(self):
        """The axes with variance, the variances along them, and that along all others or 0."""
        lam, sigma2 = self.explained_variance_, self.noise_variance_
        kept = lam > ROUND_OFF * lam[0]
        noisy = self.n_components_ < self.n_features_in_ and sigma2 > ROUND_OFF * lam[0]
        return lam[kept], self.components_[kept].T, sigma2 if noisy else 0.0
