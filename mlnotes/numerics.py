"""Numerical helpers that no lecture derives and that several chapters need.

A chapter holds what its lecture teaches. What only makes that exact or fast on a computer stands
here, once: arrays go in and arrays come out. Each routine says why it exists, and
``tests/test_numerics.py`` compares it with the plain formula that it stands for.

Contents
    Distances    squared_norms, squared_distances, exact_squared_distances
    Matrices     square, symmetric
    Scale        power_of_two

Symbols
    X, Y    (n, d), (m, d)    points, one per row
    K       (n, n)            a square matrix, `name` in messages
    size    float             a number >= 0
"""

from math import frexp, ldexp

import numpy as np

from mlnotes.base import row_blocks

__all__ = [
    "squared_norms", "squared_distances", "exact_squared_distances", "square", "symmetric",
    "power_of_two",
]  # fmt: skip

BLOCK = 2**17  # numbers worked on at a time: one megabyte stays in a processor's cache
CANCELLED = 1e-3  # a difference this small beside its terms has lost 3 of its 16 digits
ASYMMETRY = 1e-10  # rounding leaves the two halves of a symmetric matrix this close
ASYMMETRY_SINGLE = 1e-5  # and this close in single precision


# ---------------------------------------------------------------------------------------
# Distances
# ---------------------------------------------------------------------------------------


def squared_norms(X):
    """||x||^2 of every row x of X.

    Returns: (n,).

    >>> squared_norms(np.array([[3.0, 4.0]]))
    array([25.])
    """
    X = np.asarray(X, dtype=np.float64)  # the squares of small integers would wrap
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X, Y=None):
    """||x - y||^2 = ||x||^2 - 2 x^T y + ||y||^2 for every row x of X and y of Y (X if None).

    One matrix product gives all pairs at once, 10 to 20 times as fast as differences of rows.
    Where the three terms nearly cancel, x - y itself is squared, so that every entry is good to
    12 digits, equal rows have distance 0, and no entry is negative.

    Returns: (n, m); symmetric for Y = None.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """
    one = Y is None or Y is X
    X, Y = _same_columns(X, X if one else Y)
    origin = Y.mean(axis=0)  # distances do not depend on it, but the terms are smaller
    A = X - origin
    B = A if one else Y - origin
    D, aa, bb = A @ B.T, squared_norms(A), squared_norms(B)
    for rows in row_blocks(len(X), BLOCK // len(Y)):
        terms = aa[rows, None] + bb
        D[rows] = terms - 2 * D[rows]
        i, j = np.nonzero(D[rows] < CANCELLED * terms)
        for part in row_blocks(len(i), BLOCK // X.shape[1]):
            D[rows][i[part], j[part]] = squared_norms(X[rows][i[part]] - Y[j[part]])
    return D


def exact_squared_distances(X, Y):
    """||x - y||^2 = sum_j (x_j - y_j)^2 for every row x of X and y of Y, coordinate by coordinate.

    Slower than `squared_distances` and exact to the last digit or two: points at equal distances
    stay tied, and a point on the rim of a ball stays on it.

    Returns: (n, m).

    >>> exact_squared_distances(np.array([[1e9, 3.0]]), np.array([[1e9, 3.0], [1e9, 5.0]]))
    array([[0., 4.]])
    """
    X, Y = _same_columns(X, Y)
    return sum((x[:, None] - y) ** 2 for x, y in zip(X.T, Y.T, strict=True))


def _same_columns(X, Y):
    """X (n, d) and Y (m, d) in double precision: differences of small integers would wrap."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must be (n, d) and (m, d); got {X.shape} and {Y.shape}")
    return X, Y


# ---------------------------------------------------------------------------------------
# Matrices
# ---------------------------------------------------------------------------------------


def square(K, name="K"):
    """K in double precision.

    Raises: ValueError if it is not square or not finite.

    >>> square([[1, 2], [0, 1]])
    array([[1., 2.],
           [0., 1.]])
    """
    K = np.asarray(K)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be square; got shape {K.shape}")
    K = K.astype(np.float64, copy=False)
    bad = np.count_nonzero(~np.isfinite(K))
    if bad:
        raise ValueError(f"{name} must be finite; it contains NaN or infinity {bad} times")
    return K


def symmetric(K, name="K"):
    """K in double precision, if it is symmetric up to rounding.

    `numpy.linalg.eigh` and `cholesky` read one half of a matrix only: of one that is not
    symmetric they give a wrong answer without a word.

    Raises: ValueError if K is not square, not finite or not symmetric.

    >>> symmetric([[1, 2], [0, 1]], name="Sigma")
    Traceback (most recent call last):
    ValueError: Sigma must be symmetric; it differs from its transpose by 2
    """
    single = np.asarray(K).dtype == np.float32
    K = square(K, name)
    difference = np.abs(K - K.T).max(initial=0.0)
    if difference > (ASYMMETRY_SINGLE if single else ASYMMETRY) * np.abs(K).max(initial=0.0):
        raise ValueError(
            f"{name} must be symmetric; it differs from its transpose by {difference:g}"
        )
    return K


# ---------------------------------------------------------------------------------------
# Scale
# ---------------------------------------------------------------------------------------


def power_of_two(size):
    """The largest power of two that is not above `size`, and 1 for 0.

    Numbers that are divided by a power of two keep all their digits.

    >>> power_of_two(5.0), power_of_two(0.3), power_of_two(0.0)
    (4.0, 0.25, 1.0)
    """
    return ldexp(1.0, frexp(size)[1] - 1) if size > 0 else 1.0
