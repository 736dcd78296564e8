"""Numerical helpers that no lecture derives and that several chapters need.

A chapter holds what its lecture teaches. What only makes that exact or fast on a computer stands
here, once: arrays go in and arrays come out. Each routine says why it exists, and
``tests/test_numerics.py`` compares it with the plain formula that it stands for.

Contents
    Distances        squared_norms, squared_distances, nearest_rows, exact_squared_distances
    Matrices         square, symmetric
    Lanczos          leading_eigenpairs
    Cholesky         positive_cholesky, cholesky_solve
    Scale            power_of_two
    QR               triangle
    Least squares    refined_least_squares

Symbols
    X, Y    (n, d), (m, d)    points, one per row
    K       (n, n)            a square matrix, `name` in messages
    L       (n, n)            a lower triangular matrix
    size    float             a number >= 0
    A, y    (n, m), (n,)      a linear system A theta = y to be solved by least squares
"""

from math import frexp, ldexp, sqrt

import numpy as np

from mlnotes.base import row_blocks

__all__ = [
    "squared_norms", "squared_distances", "nearest_rows", "exact_squared_distances", "square",
    "symmetric", "leading_eigenpairs", "positive_cholesky", "cholesky_solve", "power_of_two",
    "triangle", "refined_least_squares",
]  # fmt: skip

EPS = float(np.finfo(float).eps)  # 2^-52, the relative spacing of floating-point numbers
BLOCK = 2**17  # numbers worked on at a time: one megabyte stays in a processor's cache
CANCELLED = 1e-3  # a difference this small beside its terms has lost 3 of its 16 digits
ASYMMETRY = 1e-10  # rounding leaves the two halves of a symmetric matrix this close
ASYMMETRY_SINGLE = 1e-5  # and this close in single precision
SPARE = 3  # directions that the Lanczos method searches beyond those asked for
LOOK = 4  # blocks that join its basis between two looks at the eigenpairs
ROUNDS = 9  # of orthogonalisation, at most
PANEL = 128  # unknowns for which a triangular system is solved at a time


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
        D[rows] *= -2
        D[rows] += terms  # in place: half the time of a new array
        pairs = np.flatnonzero(D[rows] < CANCELLED * terms)
        for part in row_blocks(len(pairs), BLOCK // X.shape[1]):
            i, j = np.divmod(pairs[part], len(Y))
            D[rows][i, j] = squared_norms(X[rows][i] - Y[j])
    return D


def nearest_rows(X, Y):
    """argmin_k ||x - y_k||^2 for every row x of X, the first of several, and that minimum.

    ||x||^2 is the same for all k, so that the largest x^T y_k - ||y_k||^2 / 2 decides. This takes
    half the time of `squared_distances`. Rows whose minimum is a small difference of large terms
    are compared by `squared_distances` after all.

    Returns: (n,) and (n,).

    >>> nearest_rows(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0]]))
    (array([0, 1]), array([1., 4.]))
    """
    k, least = np.empty(len(X), dtype=int), np.empty(len(X))
    origin = Y.mean(axis=0)  # distances do not depend on it, but the terms are smaller
    B = Y - origin
    half = squared_norms(B) / 2
    for rows in row_blocks(len(X), BLOCK // sum(Y.shape)):
        A = X[rows] - origin
        k[rows] = (A @ B.T - half).argmax(axis=1)
        least[rows] = squared_norms(X[rows] - Y[k[rows]])
        lost = rows.start + np.flatnonzero(least[rows] < CANCELLED**2 * squared_norms(A))
        if len(lost):
            D = squared_distances(X[lost], Y)
            k[lost], least[lost] = D.argmin(axis=1), D.min(axis=1)
    return k, least


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
    blocks = row_blocks(len(K), BLOCK // max(1, len(K)))
    difference = max((np.abs(K[rows] - K[:, rows].T).max() for rows in blocks), default=0.0)
    if difference > (ASYMMETRY_SINGLE if single else ASYMMETRY) * np.abs(K).max(initial=0.0):
        raise ValueError(
            f"{name} must be symmetric; it differs from its transpose by {difference:g}"
        )
    return K


# ---------------------------------------------------------------------------------------
# Lanczos
# ---------------------------------------------------------------------------------------


def leading_eigenpairs(K, k, *, tol=0.0, rng):
    """The k largest eigenpairs of a symmetric K without all the others: block Lanczos.

    The basis Q begins with random orthonormal rows. The image of its latest block under K, minus
    the part within the span of Q, is the next block. The eigenpairs (mu, s) of the small matrix
    Q K Q^T give the best approximations (mu, Q^T s) that the span of Q contains.

    For 5 to 20 eigenpairs of 2,000 it takes a tenth to a third of the time of `numpy.linalg.eigh`.
    Where the eigenvalues are so hard to tell apart that Q would grow beyond n / 2, `eigh` is the
    faster method, and is used.

    Returns: all eigenvalues of the small matrix, largest first (m,), so that the last shows a
    negative eigenvalue of K if there is one; B (n, k), the eigenvectors for the first k of them;
    and the certificate max_i ||K b_i - mu_i b_i|| / max_i |mu_i|, at most max(tol, n epsilon).

    >>> K = np.diag(np.arange(100.0))
    >>> mu, B, residual = leading_eigenpairs(K, 2, rng=np.random.default_rng(0))
    >>> mu[:2].round(9), residual < 1e-13
    (array([99., 98.]), True)
    """
    n, tol = len(K), max(tol, len(K) * EPS)
    block = np.linalg.qr(rng.normal(size=(n, min(n, k + SPARE))))[0].T
    Q, image = block, block @ K
    QK = image
    while True:
        mu, S = np.linalg.eigh(QK @ Q.T)
        mu, S = mu[::-1], S[:, ::-1][:, :k]
        B = Q.T @ S
        residual = np.linalg.norm(QK.T @ S - B * mu[:k], axis=0).max() / (np.abs(mu).max() or 1.0)
        if residual <= tol:
            return mu, B, float(residual)
        if len(Q) + LOOK * len(block) > n / 2:
            break
        for _ in range(LOOK):
            block = _orthonormal(image, Q)
            image = block @ K
            Q, QK = np.vstack([Q, block]), np.vstack([QK, image])
    mu, B = np.linalg.eigh(K)
    mu, B = mu[::-1], B[:, ::-1][:, :k]
    residual = np.linalg.norm(K @ B - B * mu[:k], axis=0).max() / (np.abs(mu).max() or 1.0)
    return mu, B, float(residual)


def _orthonormal(block, Q):
    """Orthonormal rows that are orthogonal to those of Q, with the span of block and Q.

    The second round removes what rounding left of the first. A block of lower rank leaves rows of
    rounding errors, which may lie in the span of Q several times over: it takes four rounds.
    """
    for _ in range(ROUNDS):
        block = np.linalg.qr(block.T)[0].T
        inside = block @ Q.T
        block = block - inside @ Q
        if np.abs(inside).max() <= sqrt(EPS):
            break
    return block


# ---------------------------------------------------------------------------------------
# Cholesky
# ---------------------------------------------------------------------------------------


def positive_cholesky(M):
    """L with M = L L^T, or None unless M (n, n) is positive definite by more than rounding.

    A singular matrix may have last pivots of 1e-17 in the place of 0: numpy returns an L for it,
    and everything solved with that L would be noise.

    >>> positive_cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    >>> print(positive_cholesky(np.ones((2, 2))))
    None
    """
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    pivots = L.diagonal() ** 2
    return L if pivots.min() > len(M) * EPS * pivots.max() else None


def cholesky_solve(L, y):
    """The solution a of L L^T a = y, for a lower triangular L.

    numpy has no solver for triangular systems, and its general one takes 15 times as long for
    2,000 unknowns. Here only small diagonal blocks go through it; the rest are products.

    Returns: the shape of y, (n,) or (n, m).

    >>> cholesky_solve(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([4.0, 3.0]))
    array([0.5, 1. ])
    """
    a = np.array(y, dtype=np.float64)
    panels = row_blocks(len(L), PANEL)
    for p in panels:  # L b = y
        a[p] = np.linalg.solve(L[p, p], a[p] - L[p, : p.start] @ a[: p.start])
    for p in reversed(panels):  # L^T a = b
        a[p] = np.linalg.solve(L[p, p].T, a[p] - L[p.stop :, p].T @ a[p.stop :])
    return a


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


# ---------------------------------------------------------------------------------------
# QR of many rows
# ---------------------------------------------------------------------------------------


def triangle(A):
    """R of A = Q R, from the R of blocks of rows: these stay in the cache, 3 times as fast.

    Returns: (min(n, m), m).

    >>> abs(triangle(np.array([[3.0], [4.0]]))).round(12)
    array([[5.]])
    """
    blocks = row_blocks(len(A), max(BLOCK // A.shape[1], 4 * A.shape[1]))
    return np.linalg.qr(np.vstack([np.linalg.qr(A[b], mode="r") for b in blocks]), mode="r")


# ---------------------------------------------------------------------------------------
# Least squares with the exact residual
# ---------------------------------------------------------------------------------------

BITS = 53  # of a floating-point number
CORRECTIONS = 10  # at most; two or three suffice unless the condition number comes near 1 / EPS


def refined_least_squares(A, y, R):
    """The theta that minimises ||A theta - y||^2, with all digits that A and y determine.

    QR loses as many digits as the condition number of A has. Here theta starts at 0, and each
    step adds R^-1 R^-T A^T (y - A theta), the least-squares fit of what is left over. As the
    residual is computed in twice the precision, the steps take back the rounding errors of R:
    Wampler's five problems of NIST come out exact, where QR keeps 6 to 12 digits.

    R (m, m) is the `triangle` of A, whose columns must be linearly independent. Returns: (m,).

    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> refined_least_squares(A, np.array([1.0, 3.0, 5.0]), triangle(A))
    array([1., 2.])
    """
    unit = np.exp2(np.ceil(np.log2(np.abs(A).max(axis=0))))  # a division by it is exact
    A, R, last = A / unit, R / unit, np.inf
    theta = rest = np.zeros(A.shape[1])  # theta + rest has twice the digits of theta
    for _ in range(CORRECTIONS):
        step = np.linalg.solve(R, np.linalg.solve(R.T, _exact_gradient(A, y, theta, rest)))
        size = np.linalg.norm(R @ step)
        if not size < last / 2:
            break
        (theta, rest), last = _exact_sum([theta, rest + step]), size
        if (np.abs(step) <= EPS * np.abs(theta)).all():
            break
    return theta / unit


def _exact_gradient(A, y, theta, rest):
    """A^T (y - A (theta + rest)) as if computed in twice the precision."""
    terms = []
    for rows in row_blocks(len(A), max(BLOCK // A.shape[1], 1)):
        bits = (BITS - int(np.ceil(np.log2(max(A[rows].shape))))) // 2
        parts = _slices(A[rows], bits)
        r, error = _exact_sum([y[rows], *_products(parts, -theta, bits), -(A[rows] @ rest)])
        terms += [*_products([part.T for part in parts], r, bits), A[rows].T @ error]
    return _exact_sum(terms)[0]


def _slices(A, bits):
    """A = A_1 + A_2 + A_3 with so few bits in A_1 and A_2 that their products are exact."""
    unit, parts = np.exp2(np.ceil(np.log2(np.abs(A).max() or 1.0))), []
    for k in (1, 2):
        grid = 1.5 * unit * 2.0 ** (BITS - 1 - k * bits)
        parts.append((A + grid) - grid)  # rounded to multiples of unit 2^(-k bits)
        A = A - parts[-1]
    return [*parts, A]


def _products(parts, v, bits):
    """Vectors that sum to A v, for A = the sum of its parts."""
    V = np.column_stack(_slices(v, bits))
    return [column for part in parts for column in (part @ V).T]


def _exact_sum(terms):
    """The sum of the terms, rounded, and what rounding leaves over (Knuth)."""
    total, rest = 0.0, 0.0
    for term in terms:
        before, total = total, total + term
        part = total - before
        rest = rest + ((before - (total - part)) + (term - part))
    return total + rest, rest - ((total + rest) - total)
