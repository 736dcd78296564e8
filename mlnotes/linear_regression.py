r"""Linear regression: a plane through noisy samples, by least squares.

The chapter in which everything has a closed form: the best plane is a projection, and there are
four ways to compute it (normal equations, QR, SVD, descent), equal on paper and far from equal
in floating point. The statistical view says what is being estimated, and under which law of the
noise least squares is maximum likelihood. Ridge and LASSO then pay for fit with size: ridge
keeps the closed form, LASSO trades it for coefficients that are exactly zero.

Contents
    The linear model         augment, powers, predict
    The cost                 residual, cost, gradient, hessian
    Closed forms             normal_equations, qr_solution, eigen_solution, minimum_norm
    Every digit              least_squares, Fit
    Step by step             initial, descend, lms, LMSState
    The statistical view     population_solution, regression_function, log_likelihood,
                             noise_deviation
    Ridge                    ridge_cost, ridge, shrinkage, centred_ridge, ridge_path, posterior,
                             Posterior
    LASSO                    lasso_objective, lasso_bound, soft_threshold, duality_gap, sweep,
                             coordinate_descent, LassoState, lasso_path
    Estimators               LinearRegression, Ridge, Lasso

Symbols
    X       (n, d)      samples x, one per row
    y       (n,)        targets
    w, b    (d,), float weights and offset of the plane f(x) = w^T x + b
    A       (n, m)      design matrix: the rows (1, x), m = d + 1; or X itself, with no offset
    theta   (m,)        (b, w), so that f(x) = theta^T (1, x)
    r       (n,)        residuals y - A theta
    s, u, v             A = sum_j s_j u_j v_j^T, the singular value decomposition; A^+ inverts it
    lam     float       ridge constant lambda >= 0: half of it times ||w||^2 is added to the cost
    C       float       LASSO constant >= 0: C ||w||_1 is added to the sum of squares
    sigma   float       standard deviation of the noise
    alpha   float       standard deviation of the prior of w, as in MLN; in the estimators it is
                        scikit-learn's name for the strength of the penalty
    p       (k,)        weights of the k atoms of a finite law of (x, y)
    rng     Generator   visits the samples in a new order in every pass (None: as they come)

Notes: MLN "Linear Classifiers/Regression", "Statistical viewpoint of Linear Regression", "Ridge
Regression"; REP "Linear Regression"; ISML "Regression" 1 and 2; IRHD 2.1 and 2.2; PRNN 3. MLN
writes W for our theta and X for (1, x); REP h_theta for f and X for our A; IRHD Theta and p for
our theta and d; ISML m samples of n features; ridge with ISML's C is ours with lam = C.
"""

from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Regressor,
    check_flag,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    iterate,
)
from mlnotes.optimization import gradient_descent
from mlnotes.probability import expectation, given_x, normal_log_density, second_moment

__all__ = [
    "augment", "powers", "predict", "residual", "cost", "gradient", "hessian",
    "normal_equations", "qr_solution", "eigen_solution", "minimum_norm", "least_squares", "Fit",
    "initial", "descend", "lms", "LMSState", "population_solution", "regression_function",
    "log_likelihood", "noise_deviation", "ridge_cost", "ridge", "shrinkage", "centred_ridge",
    "ridge_path", "posterior", "Posterior", "lasso_objective", "lasso_bound", "soft_threshold",
    "duality_gap", "sweep", "coordinate_descent", "LassoState", "lasso_path",
    "LinearRegression", "Ridge", "Lasso",
]  # fmt: skip

EPS = np.finfo(float).eps  # 2^-52, the relative spacing of floating-point numbers
LARGEST = np.finfo(float).max  # of them


# ---------------------------------------------------------------------------------------
# The linear model
# ---------------------------------------------------------------------------------------


def augment(X):
    """Samples (1, x), so that theta^T (1, x) = w^T x + b for theta = (b, w).

    MLN prints them as (1, x_1, ..., x_n); there are d features (linear_regression-02).

    Returns: the design matrix A (n, d + 1).

    >>> augment(np.array([[5.0, 7.0]]))
    array([[1., 5., 7.]])
    """
    return np.column_stack([np.ones(len(X)), X])


def powers(x, degree):
    """The features (x, x^2, ..., x^degree) of numbers x (n,): a polynomial is linear in w.

    Returns: (n, degree).

    Raises: ValueError if x is not 1-D.

    >>> powers(np.array([2.0, 3.0]), 3)
    array([[ 2.,  4.,  8.],
           [ 3.,  9., 27.]])
    """
    x = np.asarray(x, dtype=np.float64)  # high powers of integers would wrap
    if x.ndim != 1:
        raise ValueError(f"x must be 1-D, numbers; got shape {x.shape}")
    return x[:, None] ** np.arange(1, degree + 1)


def predict(X, theta):
    """f(x) = theta^T (1, x) = w^T x + b of every row of X, samples of the fit or new ones.

    >>> predict(np.array([[0.0, 0.0], [1.0, 10.0]]), theta=np.array([5.0, 1.0, 2.0]))
    array([ 5., 26.])

    Claims: linear_regression-01
    """
    return augment(X) @ theta


# ---------------------------------------------------------------------------------------
# The cost
# ---------------------------------------------------------------------------------------


def residual(A, y, theta):
    """A theta - y: how far f(x_i) is above y_i.

    Raises: ValueError if A, y and theta are not of shapes (n, m), (n,) and (m,).

    >>> residual(np.array([[1.0, 2.0]]), np.array([4.0]), theta=np.array([0.0, 1.0]))
    array([-2.])
    """
    A, y = _doubles(A, y)
    if np.shape(theta) != A.shape[1:]:
        raise ValueError(f"theta must have shape ({A.shape[1]},); got {np.shape(theta)}")
    return A @ theta - y


def _doubles(A, y):
    """A (n, m) and y (n,) in double precision, in which sums of small integers do not wrap."""
    A, y = np.asarray(A, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if A.ndim != 2:
        raise ValueError(f"samples must be a 2-D array, one per row; got shape {A.shape}")
    if y.shape != A.shape[:1]:
        raise ValueError(f"y must have shape ({len(A)},), a target per row; got {y.shape}")
    return A, y


def cost(A, y, theta):
    """J(theta) = 1/2 (A theta - y)^T (A theta - y) = 1/2 ||A theta - y||^2.

    >>> cost(np.array([[1.0], [1.0]]), np.array([0.0, 4.0]), theta=np.array([1.0]))
    5.0

    Claims: linear_regression-03
    """
    e = residual(A, y, theta)
    return float(e @ e / 2)


def gradient(A, y, theta):
    """dJ/dtheta = A^T A theta - A^T y = A^T (A theta - y).

    J = 1/2 (theta^T A^T A theta - 2 y^T A theta + y^T y), and the trace rule with B = A^T A and
    C = I gives 2 A^T A theta for the gradient of tr(theta^T A^T A theta). It is 0 where the
    residuals are orthogonal to every column of A: the normal equations.

    >>> gradient(np.array([[1.0], [1.0]]), np.array([0.0, 4.0]), theta=np.array([1.0]))
    array([-2.])

    Claims: linear_regression-05
    """
    return A.T @ residual(A, y, theta)


def hessian(A):
    """A^T A, positive semidefinite: J is convex and a minimum always exists.

    >>> hessian(np.array([[1.0, 2.0], [1.0, 3.0]]))
    array([[ 2.,  5.],
           [ 5., 13.]])
    """
    A = np.asarray(A, dtype=np.float64)
    return A.T @ A


# ---------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------


def normal_equations(A, y):
    """theta = (A^T A)^{-1} A^T y, by elimination: the formula as it is printed.

    It minimises J, for J(theta + delta) - J(theta) = 1/2 ||A delta||^2. Cheap, and the worst of
    the routes in floating point: A^T A has the square of A's condition number.

    ISML prints it with X for A under an objective that has an offset b. That holds if X carries
    a column of ones or the data are centred; else it fits through 0 (linear_regression-10).

    Raises: ValueError if the columns of A are linearly dependent.

    >>> normal_equations(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0]))
    array([1., 2.])

    Claims: linear_regression-07
    """
    A, y = _independent(A, y)
    return np.linalg.solve(A.T @ A, A.T @ y)


def qr_solution(A, y):
    """R theta = Q^T y with A = Q R: the same theta without squaring anything.

    Raises: ValueError if the columns of A are linearly dependent.

    >>> A, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> qr_solution(A, y).round(12)
    array([1., 2.])
    """
    A, y = _independent(A, y)
    Q, R = np.linalg.qr(A)
    return np.linalg.solve(R, Q.T @ y)  # elimination finds R done: this substitutes back


def eigen_solution(A, y):
    """theta = sum_j v_j v_j^T A^T y / s_j^2 over s_j > 0, where A^T A = sum_j s_j^2 v_j v_j^T.

    MLN's remedy for a singular A^T A, and `minimum_norm` by another road; but an eigenvalue s_j^2
    is known to rounding relative to the largest only, hence half of the digits of s_j.

    >>> eigen_solution(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])
    """
    A, y = _doubles(A, y)
    values, V = np.linalg.eigh(A.T @ A)
    kept = values > max(A.shape) * EPS * values[-1]
    V = V[:, kept]
    return V @ (V.T @ (A.T @ y) / values[kept])


def minimum_norm(A, y):
    """theta = A^+ y = sum_j v_j u_j^T y / s_j over s_j > 0: of all minimisers the shortest.

    The normal equations can always be solved. If A^T A is singular, theta plus any null vector
    of A is as good, and A^+ y is the only one that has no part in the null space.

    >>> minimum_norm(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])

    Claims: linear_regression-09
    """
    return _shortest(*_doubles(A, y)).w


def _independent(A, y):
    """A and y in double precision; the columns of A, brought to equal length, have full rank."""
    A, y = _doubles(A, y)
    length = np.linalg.norm(A, axis=0)
    rank = np.linalg.matrix_rank(A / np.where(length > 0, length, 1))
    if rank < A.shape[1]:
        raise ValueError(
            f"the columns of A must be linearly independent; got rank {rank} of {A.shape[1]}: "
            "A^T A is singular, minimum_norm solves it"
        )
    return A, y


# ---------------------------------------------------------------------------------------
# Every digit
# ---------------------------------------------------------------------------------------

TRUSTED = 100  # up to this condition number a correction makes up for the Gram matrix
TINY = np.finfo(float).tiny / EPS  # squares below it have lost digits to underflow
MOST_CORRECTIONS = 10  # two or three do, unless the condition number comes near 1 / EPS
ROUNDING = 16 * EPS  # rows that are known to EPS, and as much as QR ever added to that, and more
PRECISION = 53  # bits of a floating-point number
BLOCK = 2**18  # numbers in a block of rows, which then fits into a processor's cache


class Fit(NamedTuple):
    """What least squares found."""

    b: float
    w: np.ndarray  # (d,)
    rank: int  # of the centred samples; this and the next are meant for lam = 0
    factor: np.ndarray | None  # a small matrix that has their singular values, but for zeros


def least_squares(X, y, *, lam=0.0, weights=None, fit_intercept=True):
    """Minimise sum_i weights_i (w^T x_i + b - y_i)^2 + lam ||w||^2, to the digits that X allows.

    On paper `centred_ridge`, or for lam = 0 `minimum_norm` of the centred data. In floating
    point, the first of three roads that is safe:

    - R^T R = A^T A + lam I by Cholesky, then one correction R^{-1} R^{-T} A^T (y - A theta). The
      Gram matrix is cheap and loses twice the digits of QR; where the condition number, with the
      columns at equal length, is at most TRUSTED, the correction brings them back, all but two.
    - otherwise A = Q R, and corrections from residuals in twice the precision until they no
      longer matter: no digit is lost at condition numbers where QR alone keeps few.
    - fewer samples than weights, or columns dependent to rounding: the shortest of all
      minimisers, by the SVD.

    Rows are taken in blocks: nothing of the size of X is allocated, unless n <= d.

    Returns: a `Fit`; b is 0.0 without `fit_intercept`.

    Raises: ValueError unless X (n, d) and y (n,) are finite, and lam finite and >= 0.

    >>> least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])).w.round(12)
    array([2.])
    """
    X, y = _doubles(X, y)
    _check_constant("lam", lam)
    unit = _units("y", y)
    problem = _Problem(X, y / unit, lam, weights, int(fit_intercept))
    if len(X) < X.shape[1] + fit_intercept:
        fit = _by_svd(problem)
    else:
        fit = _by_gram(problem) or _by_qr(problem)
    return fit._replace(b=float(fit.b * unit), w=fit.w * unit)


class _Problem(NamedTuple):
    """The rows (1, (x - x0) / scale) against y - y0, each times the root of its weight."""

    X: np.ndarray
    y: np.ndarray
    lam: float
    weights: np.ndarray | None
    ones: int  # columns of ones: 1, or 0 without an offset
    x0: np.ndarray | float = 0.0  # (d,)
    y0: float = 0.0
    scale: np.ndarray | None = None  # (d,), powers of two: dividing by them is exact

    @property
    def rounding(self):
        """A bound on the norm of what rounding may do to the matrix A, its entries about 1."""
        total = len(self.X) if self.weights is None else self.weights.sum()
        return ROUNDING * np.sqrt(total * (self.ones + self.X.shape[1]))

    def blocks(self):
        """The rows (A, y), BLOCK numbers at a time, and at last the rows of the penalty."""
        n, d = self.X.shape
        size = max(BLOCK // (d + 2), 4 * (d + 2))
        for start in range(0, n, size):
            yield self._rows(slice(start, start + size))
        if self.lam > 0:
            penalty = np.full(d, np.sqrt(self.lam))
            penalty = np.diag(penalty if self.scale is None else penalty / self.scale)
            yield np.column_stack([np.zeros((d, self.ones)), penalty, np.zeros(d)])

    def _rows(self, some):
        X = self.X[some]
        B = np.empty((len(X), self.ones + X.shape[1] + 1))
        B[:, : self.ones] = 1
        np.subtract(X, self.x0, out=B[:, self.ones : -1])
        if self.scale is not None:
            B[:, self.ones : -1] /= self.scale
        np.subtract(self.y[some], self.y0, out=B[:, -1])
        if self.weights is not None:
            B *= np.sqrt(self.weights[some])[:, None]
        return B

    def fit(self, theta, factor):
        """The Fit that theta stands for."""
        w = theta[self.ones :] if self.scale is None else theta[self.ones :] / self.scale
        b = theta[0] + self.y0 - np.sum(self.x0 * w) if self.ones else 0.0
        return Fit(b, w, len(w), factor)


def _by_gram(problem):
    """Least squares by Cholesky and a correction; None where that cannot be trusted.

    The shift x0 is a sample: a constant column becomes exactly 0. G_jj (G^{-1})_jj is the variance
    inflation factor of a column, and the sum of them all is at least the square of the condition
    number that is left when the columns are scaled to equal length, over their number.
    """
    X, ones = problem.X, problem.ones
    problem = problem._replace(x0=X[0] * ones, y0=problem.y[0] * ones)
    with np.errstate(over="ignore", invalid="ignore"):
        G, c = np.split(sum(B.T @ B for B in problem.blocks())[:-1], [-1], axis=1)
    if not (np.isfinite(G).all() and np.isfinite(c).all() and G.diagonal().min() > TINY):
        return None
    length = np.sqrt(G.diagonal())
    try:
        R = np.linalg.cholesky(G / np.outer(length, length)).T * length
    except np.linalg.LinAlgError:
        return None
    S = np.linalg.inv(R)  # G^{-1} = S S^T
    inflation = G.diagonal() * np.sum(S**2, axis=1)
    centred = R[ones:, ones:]  # the factor of the data centred at their mean, penalty included
    constant = np.linalg.norm(centred, axis=0) <= problem.rounding * np.abs(problem.x0)
    if inflation.sum() > TRUSTED**2 or constant.any():
        return None
    theta = S @ (S.T @ c[:, 0])
    theta = theta + S @ (S.T @ _direction(problem, theta))
    return problem.fit(theta, centred)


def _by_qr(problem):
    """Least squares by QR and exact residuals, or by the SVD of R if R is singular."""
    ones = problem.ones
    problem = problem._replace(scale=_units("X", problem.X))
    triangles = [np.linalg.qr(B, mode="r") for B in problem.blocks()]
    T = np.linalg.qr(np.vstack(triangles), mode="r")
    m = T.shape[1] - 1
    R, z = T[:m, :m], T[:m, m]
    centred = R[ones:, ones:]
    if np.linalg.svd(R, compute_uv=False)[-1] <= problem.rounding:
        fit = _shortest(centred, z[ones:], problem.scale, problem.rounding)
        b = (z[0] - R[0, 1:] @ (fit.w * problem.scale)) / R[0, 0] if ones else 0.0
        return fit._replace(b=b)
    theta = _corrected(problem, R, np.linalg.solve(R, z))
    return problem.fit(theta, centred * problem.scale)


def _by_svd(problem):
    """Least squares of few samples in many dimensions, by the SVD of the centred data."""
    X, y, lam, weights, ones = problem[:5]
    scale = _units("X", X)
    A, z, x_mean, y_mean = _centre(X, y, weights, ones)
    if lam > 0:
        fit = Fit(0.0, shrinkage(A, z, lam), X.shape[1], None)
    else:
        fit = _shortest(A / scale, z, scale, problem.rounding)
    return fit._replace(b=y_mean - np.sum(x_mean * fit.w))


def _centre(X, y, weights, ones):
    """The data less their means, times the roots of the weights, and the means; 0 without ones."""
    root = None if weights is None else np.sqrt(weights)
    weights = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    x_mean, y_mean = (_mean(Z, weights) * ones for Z in (X, y))
    A, z = X - x_mean, y - y_mean
    if root is not None:
        A *= root[:, None]
        z *= root
    return A, z, x_mean, y_mean


def _mean(Z, weights):
    """weights^T Z; of a constant column the constant itself, in spite of rounding."""
    mean = weights @ Z
    near = np.abs(mean - Z[0]) <= len(Z) * EPS * np.abs(Z[0])
    return np.where(near, Z[0], mean)


def _shortest(A, y, scale=1.0, rounding=None):
    """The shortest w among the minimisers of ||A (scale w) - y||, and what it tells of A.

    The rank is counted in A = sum_j s_j u_j v_j^T, where `rounding` is the same for all columns.
    With V = (v_j) and scale V = Q T, the matrix that w sees is U (s T^T) Q^T. A scale below the
    root of EPS of the largest is raised to that: else rounding in it would fill the null space.
    """
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.sum(s > (max(A.shape) * EPS * s[0] if rounding is None else rounding)))
    raised = np.maximum(scale, np.sqrt(EPS) * np.max(scale))
    Q, T = np.linalg.qr((Vt[:rank] * raised).T)
    w = Q @ np.linalg.solve(s[:rank, None] * T.T, U[:, :rank].T @ y) * (raised / scale)
    factor = s[:rank, None] * np.linalg.qr((Vt[:rank] * scale).T, mode="r").T
    return Fit(0.0, w, rank, factor)


def _units(name, values):
    """For each column of finite values, the power of two next below its largest size."""
    largest = np.maximum(values.max(axis=0), -values.min(axis=0))
    if not np.isfinite(largest).all():
        raise ValueError(f"{name} must be finite; it contains NaN or infinity")
    return _power_of_two(largest)


def _power_of_two(size):
    """The power of two next below each size, or 1 for 0."""
    return np.where(size > 0, np.ldexp(1.0, np.frexp(size)[1] - 1), 1.0)


def _correction(R, g):
    """R^{-1} R^{-T} g: what the gradient -g asks of theta."""
    return np.linalg.solve(R, np.linalg.solve(R.T, g))


def _direction(problem, theta):
    """A^T (y - A theta), block by block."""
    return sum(B[:, :-1].T @ (B[:, -1] - B[:, :-1] @ theta) for B in problem.blocks())


def _corrected(problem, R, theta):
    """theta after corrections from exact residuals, until they stop halving or do not matter.

    theta is kept to twice the precision, too: rounding it alone would move A theta too far.
    """
    rest, last = np.zeros_like(theta), np.inf
    for _ in range(MOST_CORRECTIONS):
        step = _correction(R, _exact_direction(problem, theta, rest))
        size = np.linalg.norm(R @ step)
        if not size < last / 2:
            break
        theta, rest = _two_sum(theta, rest + step)
        last = size
        if (np.abs(step) <= EPS * np.abs(theta)).all():
            break
    return theta


def _exact_direction(problem, theta, rest):
    """A^T (y - A (theta + rest)) as if computed in twice the precision, then rounded."""
    total, error = 0.0, 0.0
    for B in problem.blocks():
        A, y = B[:, :-1], B[:, -1]
        bits = int(PRECISION - np.ceil(np.log2(max(B.shape)))) // 2
        slices = _slices(A, bits)
        r, r_rest = _exact_sum([y, *_exact_product(slices, -theta, bits), -(A @ rest)])
        g, g_rest = _exact_sum(_exact_product([S.T for S in slices], r, bits))
        total, lost = _two_sum(total, g)
        error = error + lost + g_rest + A.T @ r_rest
    return total + error


def _slices(A, bits):
    """A = A_1 + A_2 + A_3: `bits` bits below the largest entry, `bits` more, and the rest.

    Products of the first two with such slices of a vector have no rounding error at all.
    """
    unit, parts = 2 * _power_of_two(np.abs(A).max()), []
    for k in (1, 2):
        grid = 1.5 * unit * 2.0 ** (PRECISION - 1 - k * bits)
        parts.append((A + grid) - grid)  # rounded to multiples of unit 2^(-k bits)
        A = A - parts[-1]
    return [*parts, A]


def _exact_product(slices, v, bits):
    """Vectors that sum to A v, for A in slices."""
    V = np.column_stack(_slices(v, bits))
    return [column for S in slices for column in (S @ V).T]


def _exact_sum(terms):
    """The sum of the terms, rounded, and what rounding has left over."""
    total, rest = 0.0, 0.0
    for term in terms:
        total, error = _two_sum(total, term)
        rest = rest + error
    return _two_sum(total, rest)


def _two_sum(a, b):
    """a + b rounded, and the rounding error (Knuth): added up exactly they are a + b."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


# ---------------------------------------------------------------------------------------
# Step by step
# ---------------------------------------------------------------------------------------


class LMSState(NamedTuple):
    """LMS after a pass over the data."""

    theta: np.ndarray  # (m,)
    objective: float  # J(theta)
    gradient_norm: float  # ||dJ/dtheta||, which is 0 where the normal equations hold


def initial(A, theta0=None):
    """Where an algorithm starts: a copy of theta0 (m,), or 0 if it is None.

    Raises: ValueError if theta0 is of another shape.

    >>> initial(np.array([[1.0, 5.0], [1.0, 7.0]]))
    array([0., 0.])
    """
    start = np.zeros(A.shape[1]) if theta0 is None else np.array(theta0, dtype=np.float64)
    if start.shape != A.shape[1:]:
        raise ValueError(f"the start must have shape ({A.shape[1]},); got {start.shape}")
    return start


def descend(A, y, theta0=None):
    """Gradient descent on J from theta0 (0 if None): theta <- theta - eta A^T (A theta - y).

    With eta = 1 / s_1^2, one over the largest eigenvalue of the Hessian, every step lowers J, and
    the part of the error along v_j shrinks by 1 - s_j^2 / s_1^2: not at all where s_j = 0, so that
    from 0 it ends in `minimum_norm`, after the more steps the larger the condition number.

    Yields: the start, then a `DescentState` per step.

    >>> states = descend(np.array([[2.0]]), np.array([4.0]))
    >>> [(float(state.x[0]), state.objective) for state in states]
    [(0.0, 8.0), (2.0, 0.0)]
    """
    curvature = np.linalg.norm(A, ord=2) ** 2
    return gradient_descent(
        lambda theta: cost(A, y, theta),
        lambda theta: gradient(A, y, theta),
        initial(A, theta0),
        eta=1 / curvature if curvature > 0 else 1.0,
    )


def lms(A, y, theta0=None, *, eta, rng=None):
    """Descent sample by sample (least mean squares): theta <- theta + eta (y_i - f(x_i)) (1, x_i).

    Each step is that of `descend` for one term of J; eta is the learning rate, theta0 the start
    (0 if None). A constant eta leads into a neighbourhood of least squares, the smaller the
    smaller eta, and no further, unless all the residuals are 0 there.

    Yields: the start, then an `LMSState` per pass.

    >>> states = lms(np.array([[1.0]]), np.array([1.0]), eta=0.5)
    >>> [float(next(states).theta[0]) for _ in range(4)]
    [0.0, 0.5, 0.75, 0.875]
    """
    theta = initial(A, theta0)
    while True:
        slope = np.linalg.norm(gradient(A, y, theta))
        yield LMSState(theta, cost(A, y, theta), float(slope))
        for i in range(len(A)) if rng is None else rng.permutation(len(A)):
            theta = theta + eta * (y[i] - A[i] @ theta) * A[i]


# ---------------------------------------------------------------------------------------
# The statistical view
# ---------------------------------------------------------------------------------------


def population_solution(A, y, p):
    """theta* = E[a a^T]^{-1} E[a y], least squares of a finite law: atoms (a, y) of weights p.

    From E[a (a^T theta - y)] = 0, the gradient of 1/2 E(a^T theta - y)^2; a = (1, x) are rows of A,
    and y (k,). For p_i = 1/n on the samples it is `normal_equations`.

    With y in {0, 1} it is the best linear fit of the posterior q_1(x) = Pr(y = 1 | x), with y in
    {-1, +1} of 2 q_1(x) - 1 (linear_regression-14): of E[y|x] in any case. MLN has it learn the
    conditional distribution, but laws of equal means give equal fits (linear_regression-15).

    >>> A, y = np.array([[1.0], [1.0]]), np.array([0.0, 1.0])
    >>> population_solution(A, y, p=np.array([0.25, 0.75]))
    array([0.75])

    Claims: linear_regression-11
    """
    A, y = _doubles(A, y)
    return np.linalg.solve(second_moment(p, A), expectation(p, A * y[:, None]))


def regression_function(joint, y):
    """f*(x_j) = E[y | x = x_j], which minimises E(f(x) - y)^2 over all functions f.

    Whatever f, E(f(x) - y)^2 = E(f(x) - f*(x))^2 + E Var(y | x). The table `joint` (k_y, k_x) has
    Pr(y = y_i, x = x_j) in row i and column j; y (k_y,).

    Returns: (k_x,).

    >>> regression_function(np.array([[0.25, 0.0], [0.25, 0.5]]), np.array([0.0, 2.0]))
    array([1., 2.])

    Claims: linear_regression-13
    """
    return np.array([expectation(given_x(joint, j), y) for j in range(joint.shape[1])])


def log_likelihood(A, y, theta, sigma):
    """l = sum_i ln N(y_i; f(x_i), sigma^2), the log-density of the targets under Gaussian noise.

    That is -n ln(sigma sqrt(2 pi)) - ||A theta - y||^2 / (2 sigma^2).

    Noise that is Gaussian makes least squares maximum likelihood, whatever sigma; noise of
    another law asks for another loss (linear_regression-18). In sigma, `noise_deviation` is best.

    Raises: ValueError unless sigma > 0 and A, y and theta fit each other.

    >>> A, y, theta = np.array([[1.0]]), np.array([3.0]), np.array([1.0])
    >>> round(log_likelihood(A, y, theta, sigma=1.0), 6)  # -2 - 1/2 ln(2 pi)
    -2.918939

    Claims: linear_regression-17
    """
    check_number("sigma", sigma, above=0, below=np.inf)
    return float(np.sum(normal_log_density(residual(A, y, theta), 0.0, sigma**2)))


def noise_deviation(A, y, theta):
    """sigma_hat = (||A theta - y||^2 / n)^(1/2), where dl/dsigma = 0.

    At the least-squares theta its square is too small: E sigma_hat^2 = sigma^2 (n - d - 1)/n, for
    d + 1 of the n residuals' degrees of freedom went into theta (linear_regression-16).

    >>> noise_deviation(np.array([[1.0], [1.0]]), np.array([0.0, 2.0]), theta=np.array([1.0]))
    1.0
    """
    return float(np.sqrt(2 * cost(A, y, theta) / len(y)))


# ---------------------------------------------------------------------------------------
# Ridge
# ---------------------------------------------------------------------------------------


def ridge_cost(A, y, w, lam):
    """J(w) = 1/2 ||A w - y||^2 + lam/2 ||w||^2.

    >>> ridge_cost(np.array([[1.0]]), np.array([3.0]), w=np.array([1.0]), lam=4.0)
    4.0
    """
    return cost(A, y, w) + lam * float(w @ w) / 2


def ridge(A, y, lam):
    """(A^T A + lam I) w = A^T y, which makes the gradient A^T (A w - y) + lam w vanish.

    The eigenvalues of the matrix are s_j^2 + lam >= lam: MLN prints above lam, but a singular
    A^T A has the eigenvalue lam itself, and lam > 0 is needed (linear_regression-23). Of the mean
    of the squares in place of half their sum, with the penalty unchanged, lam is n times this.

    Returns: (m,); every weight is penalised, that of a column of ones too.

    Raises: ValueError unless lam is finite and >= 0; for lam = 0, as `normal_equations`.

    >>> ridge(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), lam=1.0)
    array([2.])

    Claims: linear_regression-21
    """
    _check_constant("lam", lam)
    A, y = _doubles(A, y) if lam > 0 else _independent(A, y)
    return np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ y)


def _check_constant(name, values):
    """A constant of a penalty, or several."""
    wrong = [value for value in np.ravel(values).tolist() if not 0 <= value < np.inf]
    if wrong:
        raise ValueError(f"{name} must be finite and >= 0; got {wrong[0]!r}")


def shrinkage(A, y, lam):
    """w = sum_j s_j / (s_j^2 + lam) v_j u_j^T y over s_j > 0: ridge, direction by direction.

    Of A^+ y, the share s_j^2 / (s_j^2 + lam) is left along v_j: little where the data say little.

    Returns: (m,); (k, m), a row for each, if lam is (k,). Raises: ValueError unless lam is finite
    and >= 0.

    >>> shrinkage(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0]), lam=1.0).round(12)
    array([0.8, 0.5])
    """
    A, y = _doubles(A, y)
    _check_constant("lam", lam)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > max(A.shape) * EPS * s[0]  # of the others, rounding has made all that u_j^T y says
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    with np.errstate(over="ignore"):  # lam / s_j = inf leaves nothing along v_j
        return (U.T @ y / (s + np.asarray(lam)[..., None] / s)) @ Vt


def centred_ridge(X, y, lam):
    """w = (X_c^T X_c + lam I)^{-1} X_c^T y_c and b = mean(y) - w^T mean(x): b is not penalised.

    X_c and y_c are the data less their means. If b were penalised, as by `ridge` on the rows
    (1, x) (MLN), the fit would depend on where y has its zero.

    Returns: theta = (b, w).

    >>> X, y = np.array([[-1.0], [1.0]]), np.array([99.0, 101.0])
    >>> centred_ridge(X, y, lam=2.0), ridge(augment(X), y, lam=2.0)
    (array([100. ,   0.5]), array([50. ,  0.5]))

    Claims: linear_regression-28
    """
    X_c, y_c, x_mean, y_mean = _centre(*_doubles(X, y), None, ones=1)
    w = ridge(X_c, y_c, lam)
    return np.append(y_mean - w @ x_mean, w)


def ridge_path(X, y, lam):
    """The weights of `centred_ridge` for every entry of lam (k,), by one decomposition for all.

    Returns: (k, d).

    >>> ridge_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), lam=np.array([0.0, 2.0]))
    array([[1. ],
           [0.5]])
    """
    X_c, y_c, *_ = _centre(*_doubles(X, y), None, ones=1)
    return shrinkage(X_c, y_c, lam)


class Posterior(NamedTuple):
    """The law of w after the data: normal."""

    mean: np.ndarray  # (m,), which is also where its density is largest
    precision: np.ndarray  # (m, m), the inverse of the covariance matrix


def posterior(A, y, sigma, alpha):
    """Of the prior N(0, alpha^2 I) and y from N(A w, sigma^2 I), the posterior of w:

        p(w | y) ~ exp(-||A w - y||^2/(2 sigma^2) - ||w||^2/(2 alpha^2)),

    normal with precision A^T A / sigma^2 + I / alpha^2. Its maximum is `ridge` with
    lam = sigma^2 / alpha^2. MLN loses sigma on taking the logarithm, which leaves 1 / alpha^2
    (linear_regression-26); the prior's constant has the exponent d + 1 if w holds b, not d
    (linear_regression-27).

    Returns: a `Posterior`. Raises: ValueError unless sigma > 0 and alpha > 0.

    >>> posterior(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), sigma=2.0, alpha=2.0)
    Posterior(mean=array([2.]), precision=array([[0.75]]))

    Claims: linear_regression-24
    """
    check_number("sigma", sigma, above=0, below=np.inf)
    check_number("alpha", alpha, above=0, below=np.inf)
    A, y = _doubles(A, y)
    precision = A.T @ A / sigma**2 + np.eye(A.shape[1]) / alpha**2
    return Posterior(np.linalg.solve(precision, A.T @ y / sigma**2), precision)


# ---------------------------------------------------------------------------------------
# LASSO
# ---------------------------------------------------------------------------------------

SWEEPS = 10  # a look at all the slopes costs as much as several sweeps over those that matter
NEWCOMERS = 32  # so many weights may leave 0 in one iteration, or as many as have left it before


def lasso_objective(X, y, theta, C):
    """sum_i (y_i - w^T x_i - b)^2 + C sum_j |w_j| of theta = (b, w): b is not penalised.

    w = 0 is optimal from C = `lasso_bound` on.

    >>> X, y, theta = np.array([[1.0], [2.0]]), np.array([2.0, 2.0]), np.array([0.0, 1.0])
    >>> lasso_objective(X, y, theta, C=10.0)
    11.0

    Claims: linear_regression-30
    """
    return 2 * cost(augment(X), y, theta) + C * float(np.sum(np.abs(theta[1:])))


def lasso_bound(X, y):
    """C_max = 2 max_j |x_cj^T y_c|, of the centred columns: from it on all weights are 0.

    At w = 0 the sum of squares falls along w_j at the rate 2 |x_cj^T y_c|, the penalty rises at C.

    >>> lasso_bound(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]))
    4.0
    """
    X_c, y_c, *_ = _centre(*_doubles(X, y), None, ones=1)
    return float(2 * np.max(np.abs(X_c.T @ y_c)))


def soft_threshold(a, t):
    """S(a, t) = sign(a) max(|a| - t, 0): towards 0 by t >= 0, and no further.

    >>> soft_threshold(np.array([-3.0, 0.5, 3.0]), t=1.0)
    array([-2.,  0.,  2.])
    """
    a = np.asarray(a, dtype=np.float64)
    return np.sign(a) * np.maximum(np.abs(a) - t, 0.0)


class LassoState(NamedTuple):
    """Coordinate descent after an iteration."""

    w: np.ndarray  # (d,)
    objective: float  # ||y - X w||^2 + C ||w||_1
    gap: float  # by so much at most the objective is above its minimum


def duality_gap(w, r, q, C):
    """||y - X w||^2 + C ||w||_1 less a bound from below; r = y - X w and q = X^T r.

    Fenchel's bound is the dual 2 s r^T y - s^2 ||r||^2, for any s with 2 s |q_j| <= C for all j;
    with s = min(1, C / (2 max_j |q_j|)) the gap vanishes at the minimum. As y = r + X w it is

        (1 - s)^2 ||r||^2 + sum_j (C |w_j| - 2 s q_j w_j),

    a sum of terms >= 0, which loses no digits. For C = 0 it is ||r||^2, which says nothing.

    >>> duality_gap(w=np.array([1.0]), r=np.array([0.5]), q=np.array([0.5]), C=1.0)
    0.0
    """
    steepest = 2 * np.max(np.abs(q))
    s = C / steepest if steepest > C else 1.0
    return float((1 - s) ** 2 * (r @ r) + np.sum(C * np.abs(w) - 2 * s * q * w))


def sweep(G, q, w, C):
    """One pass: for j = 1, ..., d, w_j <- S(x_j^T r_j, C/2) / ||x_j||^2.

    r_j = r + x_j w_j is the residual without x_j. All that is needed of X is G = X^T X (d, d) and
    q = X^T r: x_j^T r_j = q_j + G_jj w_j, and a step of delta in w_j takes delta G_j off q.

    Returns: (d,).

    >>> sweep(np.array([[2.0, 2.0], [2.0, 4.0]]), np.array([5.0, 7.0]), np.zeros(2), C=2.0)
    array([2. , 0.5])
    """
    q, w, t = q.copy(), w.tolist(), C / 2
    for j, (row, length) in enumerate(zip(G, G.diagonal().tolist(), strict=True)):
        a = q.item(j) + length * w[j]
        shrunk = a - t if a > t else a + t if a < -t else 0.0  # S(a, t), in plain floats
        target = shrunk / length if length > 0 else 0.0
        if target != w[j]:
            q -= (target - w[j]) * row
            w[j] = target
    return np.array(w)


def coordinate_descent(X, y, C, w0=None):
    """Minimise ||y - X w||^2 + C ||w||_1 (centred data: no offset), one weight at a time.

    Each step of a `sweep` is exact: 2 x_j^T r = C sign(w_j), or w_j = 0 and |2 x_j^T r| <= C. An
    iteration looks at all slopes X^T r, which gives the gap as well, and then takes SWEEPS sweeps
    over the weights that are not at rest; a w_j = 0 with |2 x_j^T r| <= C would stay there. Of
    those that want to leave 0 the steepest come first, NEWCOMERS or as many as have left it:
    most of the others will have no reason to. w0 is the start (0 if None).

    Yields: the start, then a `LassoState` per iteration. Raises: ValueError unless C is finite
    and >= 0, and X, y and w0 fit each other.

    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([3.0, 0.5])
    >>> states = coordinate_descent(X, y, C=2.0)
    >>> start, after = next(states), next(states)
    >>> start.w, after.w, after.objective, after.gap
    (array([0., 0.]), array([2., 0.]), 5.25, 0.0)

    Claims: linear_regression-31
    """
    X, y = _doubles(X, y)
    _check_constant("C", C)
    w = initial(X, w0)
    r = y - X @ w
    while True:
        q = X.T @ r
        yield LassoState(w, float(r @ r + C * np.sum(np.abs(w))), duality_gap(w, r, q, C))
        j = _restless(w, q, C)
        Z, v = X[:, j], w[j]
        G = Z.T @ Z
        for _ in range(SWEEPS):
            v = sweep(G, q[j] - G @ (v - w[j]), v, C)
        w, r = w.copy(), y - Z @ v
        w[j] = v


def _restless(w, q, C):
    """The weights that the next sweeps are to move, in their order."""
    moved = np.flatnonzero(w)
    new = np.flatnonzero((w == 0) & (2 * np.abs(q) > C))
    steepest = np.argsort(-np.abs(q[new]), kind="stable")
    return np.sort(np.append(moved, new[steepest[: max(NEWCOMERS, len(moved))]]))


def lasso_path(X, y, C, *, tol=1e-8, max_iter=10_000):
    """The LASSO weights for every entry of C (k,), each run started where the larger C ended.

    The data are centred first; a run ends at a gap of at most `tol` times the sum of squares
    about the mean, or after `max_iter` iterations.

    Returns: (k, d). Raises: ValueError unless every C is finite and >= 0.

    >>> lasso_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), C=np.array([2.0, 4.0]))
    array([[0.5],
           [0. ]])
    """
    C = np.asarray(C)
    _check_constant("C", C)
    X, y, *_ = _centre(*_doubles(X, y), None, ones=1)
    W, w = np.zeros((len(C), X.shape[1])), None
    for k in np.argsort(-C, kind="stable"):
        states = _lasso_states(X, y, float(C[k]), w)
        w = W[k] = iterate(states, "gap", tol * (y @ y), max_iter).state.w
    return W


def _lasso_states(X, y, C, w0=None):
    """`coordinate_descent`; for C = 0, where its gap says nothing, least squares at once."""
    if C > 0:
        return coordinate_descent(X, y, C, w0)
    w = least_squares(X, y, fit_intercept=False).w
    return iter([LassoState(w, 2 * cost(X, y, w), 0.0)])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _Linear(Regressor):
    """A plane: what the three estimators share."""

    def _check(self, X, y, sample_weight):
        """Checked X, y and weights; None for no weights, which saves the time of ones."""
        check_flag("fit_intercept", self.fit_intercept)
        X = check_samples(X)
        y = check_targets(y, len(X))
        weights = None if sample_weight is None else check_weights(sample_weight, len(X))
        return X, y, weights

    def predict(self, X):
        """Targets w^T x + b (n,) of samples X (n, d)."""
        return self._check_fitted(X) @ self.coef_ + self.intercept_


class LinearRegression(_Linear):
    """Least squares, to the digits that the data allow: see `least_squares`.

    Columns of whatever scale, offsets large against the spread and high powers cost no digits.
    Where scikit-learn drops directions with singular values below its `tol`, this drops those
    that rounding cannot tell from 0, columns taken at their scale; of the solutions that are left
    it takes the shortest too. y has one target per sample: shape (n,).

    Parameters
    ----------
    fit_intercept : bool; whether there is an offset b

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    rank_ : int; of the samples, centred if there is an offset
    singular_ : ndarray of shape (min(n, d),); their singular values
    n_features_in_ : int

    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[10.0]]).round(12)
    array([21.])
    """

    def __init__(self, *, fit_intercept=True):
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) of the given weights; return self."""
        samples, y, weights = self._check(X, y, sample_weight)
        fit = least_squares(samples, y, weights=weights, fit_intercept=self.fit_intercept)
        self.coef_, self.intercept_ = fit.w, fit.b
        self.rank_, self.singular_ = fit.rank, np.zeros(min(samples.shape))
        self.singular_[: len(fit.factor)] = np.linalg.svd(fit.factor, compute_uv=False)
        return self._remember(X)


class Ridge(_Linear):
    """Least squares with the penalty alpha ||w||^2, b free: see `least_squares`.

    The objective is sum_i (y_i - w^T x_i - b)^2 + alpha ||w||^2, of which the notes take half, so
    that alpha is their lambda (and ISML's C), and sigma^2 over the square of MLN's alpha.
    y has one target per sample: shape (n,).

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for none
    fit_intercept : bool; whether there is an offset b

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    n_features_in_ : int

    >>> model = Ridge(alpha=2.0).fit([[-1.0], [1.0]], [99.0, 101.0])
    >>> model.coef_.round(12), round(model.intercept_, 12)
    (array([0.5]), 100.0)
    """

    def __init__(self, alpha=1.0, *, fit_intercept=True):
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) of the given weights; return self."""
        lam = check_number("alpha", self.alpha, at_least=0, below=np.inf)
        samples, y, weights = self._check(X, y, sample_weight)
        how = {"weights": weights, "fit_intercept": self.fit_intercept}
        fit = least_squares(samples, y, lam=lam, **how)
        self.coef_, self.intercept_ = fit.w, fit.b
        return self._remember(X)


class Lasso(_Linear):
    """Least squares with the penalty alpha ||w||_1, by coordinate descent: some w_j are 0.

    The objective is 1/(2n) ||y - X w - b||^2 + alpha ||w||_1, as scikit-learn has it: that of ISML
    over 2 n, with C = 2 n alpha (for n the sum of the weights, if there are any). It is within
    `dual_gap_` of its minimum. y has one target per sample: shape (n,).

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for least squares
    fit_intercept : bool; whether there is an offset b
    max_iter : int; largest number of iterations, of some sweeps each: see `coordinate_descent`
    tol : float; stops where the gap is at most this times ||y||^2 / n, of the centred y

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    dual_gap_ : float; by so much at most the objective is above its minimum
    n_iter_ : int; iterations
    history_ : ndarray of shape (n_iter_ + 1,); the objective of every iteration and of the start
    converged_ : bool; whether the gap became that small
    n_features_in_ : int

    >>> model = Lasso(alpha=0.5).fit([[-1.0, 1.0], [1.0, 1.0]], [99.0, 101.0])
    >>> model.coef_, model.intercept_
    (array([0.5, 0. ]), 100.0)
    """

    def __init__(self, alpha=1.0, *, fit_intercept=True, max_iter=1000, tol=1e-4):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) of the given weights; return self."""
        alpha = check_number("alpha", self.alpha, at_least=0, below=np.inf)
        tol = check_number("tol", self.tol, at_least=0, below=np.inf)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        samples, y, weights = self._check(X, y, sample_weight)
        total = len(y) if weights is None else float(weights.sum())
        C = min(2 * total * float(alpha), LARGEST)
        A, z, x_mean, y_mean = _centre(samples, y, weights, self.fit_intercept)
        states = (
            LassoState(w, objective / (2 * total), gap / (2 * total))
            for w, objective, gap in _lasso_states(A, z, C)
        )
        run = iterate(states, "gap", tol * (z @ z) / total, max_iter)
        self.coef_, self.dual_gap_ = run.state.w, run.state.gap
        self.intercept_ = float(y_mean - np.sum(x_mean * self.coef_))
        self._record(run, "gap", tol * (z @ z) / total)
        return self._remember(X)
