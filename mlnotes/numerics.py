"""Numerical helpers that no lecture derives and that several chapters need.

What only makes a chapter exact or fast on a computer stands here. Each routine says why it exists,
and ``tests/test_numerics.py`` compares it with the plain formula that it stands for.

Contents
    Distances and kernels    squared_norms, squared_distances, relative_squares, GramRows,
                             kernel_product
    Linear algebra           square, symmetric, positive_cholesky, cholesky_solve
    Quadratic programs       at_bounds, newton_in_box, low_rank_factor, low_rank_start

Symbols
    X, Y    (n, d), (m, d)    points, one per row
    K       (n, n)            a square matrix, `name` in messages
"""

from itertools import combinations_with_replacement
from math import isqrt, sqrt

import numpy as np

from mlnotes.base import BLOCK, row_blocks

EPS = float(np.finfo(float).eps)  # 2^-52, the relative spacing of floating-point numbers
CANCELLED = 1e-3  # a difference this small beside its terms has lost 3 of its 16 digits
ASYMMETRY = 1e-10  # rounding leaves the two halves of a symmetric matrix this close
ASYMMETRY_SINGLE = 1e-5  # and this close in single precision
PANEL = 128  # unknowns for which a triangular system is solved at a time
ENTRIES = 2**20  # entries of a kernel matrix that a product computes at a time: 8 MiB
SMALL = 64  # samples whose Gram matrix is computed for its diagonal
LARGE, LOW = 500, 64  # numbers of multipliers, and ranks, that count as large and as low
RANK = 1e-12  # of the largest diagonal entry: what a full factor leaves by rounding
GAP, PATH = 1e-7, 100  # an interior point is near enough, relative to the objective; its most steps
INSIDE = 0.99  # of the way to the next bound
SIDES = np.array([[1.0], [-1.0]])  # of a box: the room grows with beta, and falls with it
NEAR_BOUND = 1e-3, 1e-8  # of the width of a box; the second if the first moves beta too far
DAMPING = 1e-9  # of the largest diagonal entry, added to a matrix that may be singular
EXPONENT = 1e3  # norms decide exponents up to this size with an error below 1e-12


# ---------------------------------------------------------------------------------------
# Distances and kernels
# ---------------------------------------------------------------------------------------


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


def relative_squares(X, most):
    """||x - x_i||^2 - ||x||^2 = ||x_i||^2 - 2 x^T x_i for every row x_i of X, a function of x.

    Up to rounding, they order the rows of X by distance from x, in a third of the time of
    `squared_distances`. Returns: the function of x (m, d), m <= `most`. It returns these numbers
    (m, n), which the next call overwrites, and ||x||^2 (m, 1). For them 0 is the mean of X.

    >>> relative_squares(np.array([[-1.0], [1.0]]), most=5)(np.array([[3.0]]))  # of 16 and 4
    (array([[ 7., -5.]]), array([[9.]]))
    """
    origin, D = X.mean(axis=0), np.empty((most, len(X)))
    columns = np.vstack([(X - origin).T, squared_norms(X - origin)])

    def squares(x):
        A = x - origin
        rows = np.column_stack([-2 * A, np.ones(len(A))])
        return np.matmul(rows, columns, out=D[: len(A)]), squared_norms(A)[:, None]

    return squares


class GramRows:
    """The Gram matrix of X; only the `capacity` rows used last, at least two, are in memory.

    The matrix of 20,000 samples takes 3 GiB, and SMO uses few of its rows. `kernel` is a function
    k(X, Z), and `ridge` is added to the diagonal. With `gamma` the kernel must be the Gaussian
    exp(-gamma ||x - z||^2); its rows come from norms computed once, 12 times as fast for d = 784.

    >>> K = GramRows(np.array([[1.0], [2.0]]), lambda X, Z: X @ Z.T, capacity=1)
    >>> K[1], K.diagonal(), K @ np.array([1.0, 1.0])
    (array([2., 4.]), array([1., 4.]), array([3., 6.]))
    """

    def __init__(self, X, kernel, capacity, ridge=0.0, gamma=None):
        self.X, self.kernel, self.ridge, self.gamma = X, kernel, ridge, gamma
        self.capacity, self.rows = max(2, capacity), {}  # first the row unused for longest
        self.centred = X - X.mean(axis=0)
        self.norms = squared_norms(self.centred)
        self.by_norms = gamma is not None and 2 * gamma * self.norms.max() <= EXPONENT
        squares = (kernel(X[rows], X[rows]) for rows in row_blocks(len(X), SMALL))
        self.own = np.concatenate([np.diagonal(K) for K in squares]) + ridge

    def __getitem__(self, i):
        """Row i (n,), or for an array of m indices their rows (m, n)."""
        if np.ndim(i):
            return np.array([self[k] for k in i]).reshape(len(i), len(self.X))
        row = self.rows.pop(i, None)
        if row is None:
            if len(self.rows) == self.capacity:
                del self.rows[next(iter(self.rows))]
            if self.by_norms:
                D = self.norms + self.norms[i] - 2 * (self.centred @ self.centred[i])
                row = np.exp(-self.gamma * np.maximum(D, 0.0))
            else:
                row = self.kernel(self.X[[i]], self.X)[0]
            row[i] = self.own[i]
        self.rows[i] = row
        return row

    def __matmul__(self, beta):
        """K beta: (n,)."""
        S = np.flatnonzero(beta)
        return kernel_product(self.kernel, self.X, self.X[S], beta[S]) + self.ridge * beta

    def diagonal(self):
        """k(x_i, x_i) + ridge: (n,)."""
        return self.own


def kernel_product(kernel, Z, X, beta):
    """The sums sum_i beta_i k(z, x_i) for every row z of Z, in blocks of bounded memory.

    Z (m, d) are the points, X (s, d) the samples with their coefficients beta (s,) or (s, k).
    `kernel` is a function k(Z, X) (m, s). Returns: (m,) or (m, k).

    >>> X, Z = np.array([[1.0], [2.0]]), np.array([[3.0]])
    >>> kernel_product(lambda Z, X: Z @ X.T, Z, X, np.array([1.0, -1.0]))
    array([-3.])
    """
    if not len(X):
        return np.zeros((len(Z), *beta.shape[1:]))
    blocks = row_blocks(len(Z), ENTRIES // len(X))
    return np.concatenate([kernel(Z[rows], X) @ beta for rows in blocks])


# ---------------------------------------------------------------------------------------
# Linear algebra
# ---------------------------------------------------------------------------------------


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


def positive_cholesky(M):
    """L with M = L L^T, or None unless M (n, n) is positive definite by more than rounding.

    For a singular M, numpy may return an L with a pivot of 1e-17. Its solutions would be noise.

    >>> positive_cholesky(np.array([[4.0]])), positive_cholesky(np.ones((2, 2)))
    (array([[2.]]), None)
    """
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return None
    pivots = L.diagonal() ** 2
    return L if pivots.min() > len(M) * EPS * pivots.max() else None


def cholesky_solve(L, y):
    """The solution a, (n,) or (n, m) as y, of L L^T a = y, for a lower triangular L.

    numpy has no triangular solver, and its general one takes 15 times as long for 2,000 unknowns.

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
# Quadratic programs
# ---------------------------------------------------------------------------------------


def at_bounds(x, lower, upper, near):
    """x in its box [lower, upper]; what is at most `near` off a bound is put on it.

    >>> at_bounds(np.array([-0.1, 0.5, 0.999]), 0.0, 1.0, near=0.01)
    array([0. , 0.5, 1. ])
    """
    return np.where(x >= upper - near, upper, np.where(x <= lower + near, lower, x))


def newton_in_box(K, g, sums, low, high):
    """The v that maximises g^T v - 1/2 v^T K v subject to sums v = 0, kept within a box.

    Entries that leave low <= v <= high are put on the bound that they cross, and the others are
    found again, until none leaves. Those on a bound stay, even if the maximum has them inside.
    With it, support vector regression to six digits needs 0.6 of the steps of SMO.

    K (m, m) is positive semidefinite. `sums` (k, m) has a row of ones and zeros for each sum.

    Returns: (m,). If half of the entries leave, or all of one sum, it is the first v, outside.

    >>> K, g, one = np.eye(3), np.array([3.0, 0.0, 0.0]), np.ones(3)
    >>> newton_in_box(K, g, one[None], -one, one).round(6)
    array([ 1. , -0.5, -0.5])
    """
    v, first, inside, k = np.zeros(len(g)), None, np.ones(len(g), dtype=bool), len(sums)
    damped = K + DAMPING * (np.abs(K.diagonal()).max() or 1.0) * np.eye(len(g))
    while inside.mean() > 0.5 and sums[:, inside].any(axis=1).all():
        v = np.where(inside, 0.0, np.clip(v, low, high))
        S, rest, m = sums[:, inside], -sums @ v, np.count_nonzero(inside)
        system = np.zeros((m + k, m + k))
        system[:m, :m], system[:m, m:], system[m:, :m] = damped[inside][:, inside], S.T, S
        u = np.linalg.solve(system, np.append((g - K @ v)[inside], rest))[:m]
        v[inside] = u - S.T @ ((S @ u - rest) / S.sum(axis=1))  # rounding changes the sums
        leave = (v < low) | (v > high)
        if not leave.any():
            return v
        first = v if first is None else first
        inside &= ~leave
    return first


def low_rank_factor(K, most):
    """Z (n, r) with K = Z Z^T up to rounding, or None if Z would have more than `most` columns.

    It is a Cholesky factor whose next row has most left on the diagonal. It is None, too, if half
    of the columns do not explain half of the trace. K is an array or has its rows, as `GramRows`.

    >>> low_rank_factor(np.array([[1.0, -1.0], [-1.0, 1.0]]), most=2).T
    array([[ 1., -1.]])
    """
    left = K.diagonal()
    total, largest, Z = left.sum(), left.max(), np.zeros((len(left), most))
    for r in range(most + 1):
        i = int(left.argmax())
        if left[i] <= RANK * largest:
            return Z[:, :r]
        if r == most or (r == most // 2 and left.sum() > total / 2):
            return None
        Z[:, r] = (K[i] - Z[:, :r] @ Z[i, :r]) / sqrt(left[i])
        left = left - Z[:, r] ** 2


def low_rank_start(K, p, lower, upper, start, sums, large=LARGE):
    """A point near the maximum of p^T beta - 1/2 beta^T K beta over a box, for K of low rank.

    The box is `lower` <= beta <= `upper`, and `sums` beta stays that of the `start`; `sums` (k, n)
    has a row of ones and zeros for each sum. An interior point method finds the point, in O(n r^2)
    a step for the rank r: each step aims at a smaller gap, less so after a short one. SMO takes 4
    to 30 times as long to find out which few multipliers are strictly inside the box.

    Returns: (n,); the `start` itself if n < `large`, if `low_rank_factor` finds no r <= LOW, if a
    side of the box has the length 0 or inf, or if no better point with these sums was found.

    >>> K, p, one = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0]), np.ones(2)
    >>> low_rank_start(K, p, -one, one, np.zeros(2), one[None], large=2).round(6)
    array([ 0.5, -0.5])
    """
    width = upper - lower
    fits = len(p) >= large and np.isfinite(width).all() and width.all()
    Z = low_rank_factor(K, LOW) if fits else None
    if Z is None:
        return start
    M, own = np.hstack([Z, sums.T]), np.append(np.ones(Z.shape[1]), np.zeros(len(sums)))
    beta = lower + (sums @ (start - lower) / (sums @ width)) @ sums * width
    gradient = p - Z @ (Z.T @ beta)
    b = sums @ gradient / sums.sum(axis=1)
    rest = gradient - b @ sums
    z = np.maximum(-SIDES * rest, 0) + (np.abs(rest).mean() or 1.0)  # multipliers of the bounds
    t = 0.0  # the share of the last step that was taken
    for _ in range(PATH):
        room = np.array([beta - lower, upper - beta])
        gap = float(np.sum(z * room))
        if gap <= GAP * np.abs(beta) @ np.abs(p + gradient) or not (room > 0).all():
            break
        aim = (1 - t) * gap / z.size - z * room  # a short step makes room for the next
        D = np.sum(z / room, axis=0)
        rest = gradient - b @ sums + np.sum(SIDES * (z + aim / room), axis=0)
        system = M.T @ (M / D[:, None])
        system += np.diag(own + len(own) * EPS * np.trace(system))  # M may have dependent columns
        d = np.linalg.solve(system, M.T @ (rest / D))
        change = (rest - M @ d) / D
        change_z = (aim - z * SIDES * change) / room
        t = INSIDE / max(1.0, np.max(-SIDES * change / room), np.max(-change_z / z))
        beta, b, z = beta + t * change, b + t * d[Z.shape[1] :], z + t * change_z
        gradient = p - Z @ (Z.T @ beta)
    for near in NEAR_BOUND:
        point = at_bounds(beta, lower, upper, near * width)
        free = sums * ((point > lower) & (point < upper))
        point += sums @ (start - point) / np.maximum(free.sum(axis=1), 1) @ free
        kept = np.allclose(sums @ point, sums @ start, rtol=1e-12, atol=1e-12 * np.abs(point).sum())
        rise = p @ (point - start) - np.sum((Z.T @ point) ** 2 - (Z.T @ start) ** 2) / 2
        if kept and rise > 0 and (lower <= point).all() and (point <= upper).all():
            return point
    return start
