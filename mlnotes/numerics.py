"""Numerical helpers that no lecture derives and that several chapters need.

What only makes a chapter exact or fast on a computer stands here. Each routine says why it exists,
and ``tests/test_numerics.py`` compares it with the plain formula that it stands for.

Contents
    Distances and kernels    squared_norms, squared_distances, kernel_product
    Linear algebra           square, symmetric, leading_eigenpairs

Symbols
    X, Y    (n, d), (m, d)    points, one per row
    K       (n, n)            a square matrix, `name` in messages
"""

from itertools import combinations_with_replacement
from math import isqrt

import numpy as np

from mlnotes.base import BLOCK, ROUNDING, floats, row_blocks

CANCELLED = 1e-3  # a difference this small beside its terms has lost 3 of its 16 digits
ASYMMETRY = 1e-10  # rounding leaves the two halves of a symmetric matrix this close
ASYMMETRY_SINGLE = 1e-5  # and this close in single precision
ENTRIES = 2**20  # entries of a kernel matrix that a product computes at a time: 8 MiB


# --- Distances and kernels -------------------------------------------------------------


def squared_norms(X):
    """||x||^2 of every row x of X: (n,).

    >>> squared_norms(np.array([[3.0, 4.0]]))
    array([25.])
    """
    X = np.asarray(X, dtype=np.float64)  # the squares of small integers would wrap
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X, Y=None):
    """||x - y||^2 = ||x||^2 - 2 x^T y + ||y||^2 for every row x of X and y of Y (X if None).

    One matrix product gives all pairs, 10 to 20 times as fast as differences of rows.

    Returns: (n, m), good to 12 digits, never < 0; symmetric for Y = None.

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.]])
    """
    one = Y is None or Y is X
    X, Y = _same_columns(X, X if one else Y)
    origin = min(X, Y, key=len).mean(axis=0)  # no distance depends on it; the terms are smaller
    A = X - origin
    B = A if one else Y - origin
    D, aa, bb = A @ B.T, squared_norms(A), squared_norms(B)
    for rows in row_blocks(len(X), BLOCK // len(Y)):
        D[rows] *= -2
        D[rows] += aa[rows, None] + bb  # in place: half the time of a new array
        small = np.flatnonzero(D[rows] < CANCELLED * (aa[rows].max() + bb.max()))
        for part in row_blocks(len(small), BLOCK // X.shape[1]):
            i, j = np.divmod(small[part], len(Y))
            lost = D[rows][i, j] < CANCELLED * (aa[rows][i] + bb[j])  # there x - y is squared
            i, j = i[lost], j[lost]
            D[rows][i, j] = squared_norms(X[rows][i] - Y[j])
    return D


def _same_columns(X, Y):
    """X (n, d) and Y (m, d) in double precision: differences of small integers would wrap."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must be (n, d) and (m, d); got {X.shape} and {Y.shape}")
    return X, Y


def kernel_product(kernel, Z, X, beta):
    """The sums sum_i beta_i k(z, x_i) for every row z of Z, in blocks of bounded memory.

    Z (m, d) are the points, X (s, d) the samples with their coefficients beta (s,) or (s, k).
    `kernel` is a function k(Z, X) (m, s). Returns: (m,) or (m, k).

    >>> X, Z = np.array([[1.0], [2.0]]), np.array([[3.0]])
    >>> kernel_product(lambda Z, X: Z @ X.T, Z, X, np.array([1.0, -1.0]))
    array([-3.])
    """
    Z, X, beta = floats(Z, X, beta)
    if not len(X):
        return np.zeros((len(Z), *beta.shape[1:]))
    blocks = row_blocks(len(Z), ENTRIES // len(X))
    return np.concatenate([kernel(Z[rows], X) @ beta for rows in blocks])


# --- Linear algebra --------------------------------------------------------------------


def square(K, name="K"):
    """K in double precision.

    Raises: ValueError if it is not square or not finite.

    >>> square([[1]])
    array([[1.]])
    """
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be square; got shape {K.shape}")
    K = K.astype(np.float64, copy=False)
    if not np.isfinite([K.min(initial=0.0), K.max(initial=0.0)]).all():
        bad = np.count_nonzero(~np.isfinite(K))
        raise ValueError(f"{name} must be finite; it contains NaN or infinity {bad} times")
    return K


def symmetric(K, name="K"):
    """K in double precision, if it is symmetric up to rounding.

    `numpy.linalg.eigh` and `cholesky` read one half only, and miss that the other is different.

    Raises: ValueError if K is not square, not finite or not symmetric.

    >>> symmetric([[1, 2], [0, 1]], name="Sigma")
    Traceback (most recent call last):
    ValueError: Sigma must be symmetric; it differs from its transpose by 2
    """
    single = np.asarray(K).dtype == np.float32
    K = square(K, name)
    tiles = row_blocks(len(K), isqrt(BLOCK))
    pairs = combinations_with_replacement(tiles, 2)
    off = max((np.abs(K[p, q] - K[q, p].T).max() for p, q in pairs), default=0.0)
    size = max(K.max(initial=0.0), -K.min(initial=0.0))
    if off > (ASYMMETRY_SINGLE if single else ASYMMETRY) * size:
        raise ValueError(f"{name} must be symmetric; it differs from its transpose by {off:g}")
    return K


def leading_eigenpairs(S, k):
    """The k largest eigenvalues (k,), largest first, and eigenvectors (n, k) of a symmetric S.

    `numpy.linalg.eigh` finds all n. For few of them the rows w, w S, w S^2, ... of some random w
    soon span a space that holds their eigenvectors: a block Krylov space. The best approximations
    in it are found by `eigh` of a small matrix, and taken when S v = lambda v up to rounding. More
    rows than k let equal eigenvalues be found, too. `eigh` does what needs more than n / 4 rows.

    >>> values, V = leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), k=2)
    >>> values, np.abs(V[:, 0])
    (array([3., 2.]), array([0., 1., 0.]))
    """
    S, n, width = floats(S), len(S), k + 4
    size = np.abs(S).max() or 1.0
    W = np.random.default_rng(0).normal(size=(width, n))
    B = BS = np.zeros((0, n))  # orthonormal rows that span the space, and B S
    for step in range(n // 4 // width):
        for _ in range(2):  # what the first time leaves of B in W is rounding
            W = np.linalg.qr((W - W @ B.T @ B).T)[0].T
        WS = W @ S / size  # rows: S W^T takes longer
        B, BS, W = np.vstack([B, W]), np.vstack([BS, WS]), WS
        if step % 4 == 0:
            values, U = np.linalg.eigh(BS @ B.T)
            leading, V, SV = values[::-1][:k], B.T @ U[:, ::-1][:, :k], BS.T @ U[:, ::-1][:, :k]
            residuals = np.linalg.norm(SV - V * leading, axis=0)
            if residuals.max() <= ROUNDING * np.abs(values).max():
                return size * leading, V
    values, V = np.linalg.eigh(S)
    return values[::-1][:k], V[:, ::-1][:, :k]
