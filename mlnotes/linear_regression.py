r"""Linear regression: a plane through noisy samples, by least squares.

The best plane is found by normal equations, QR, SVD or descent: equal on paper, far from equal in
floating point. Ridge and LASSO penalise large weights; LASSO makes some of them exactly zero.

Contents
    The linear model         augment, powers, predict
    The cost                 residual, cost, gradient, hessian
    Closed forms             normal_equations, qr_solution, eigen_solution, minimum_norm,
                             least_squares, Fit
    Step by step             initial, descend, lms, LMSState
    The statistical view     population_solution, regression_function, log_likelihood,
                             noise_deviation
    Ridge                    ridge_cost, ridge, shrinkage, centred_ridge, ridge_path, posterior,
                             Posterior
    LASSO                    lasso_objective, lasso_bound, soft_threshold, duality_gap,
                             coordinate_descent, LassoState, lasso_path
    Estimators               LinearRegression, Ridge, Lasso

Symbols
    X       (n, d)      samples x, one per row
    y       (n,)        targets
    w, b    (d,), float weights and offset of the plane f(x) = w^T x + b
    A       (n, m)      design matrix: the rows (1, x), m = d + 1; or X itself, with no offset
    theta   (m,)        (b, w), so that f(x) = theta^T (1, x)
    e       (n,)        errors A theta - y, which `residual` returns
    r       (n,)        residuals y - A theta = -e
    s, u, v             A = sum_j s_j u_j v_j^T, the singular value decomposition; A^+ inverts it
    lam     float       ridge constant lambda >= 0: half of it times ||w||^2 is added to the cost
    C       float       LASSO constant >= 0: C ||w||_1 is added to the sum of squares
    sigma   float       standard deviation of the noise
    beta    float       standard deviation of the prior of w, alpha in MLN
    p       (k,)        probabilities of the k points of a discrete distribution of (x, y)
    rng     Generator   draws the order of the samples in every pass (None: as they come)

Notes: MLN "Linear Classifiers/Regression", "Statistical viewpoint of Linear Regression", "Ridge
Regression"; REP "Linear Regression"; ISML "Regression" 1 and 2; IRHD 2.1 and 2.2; PRNN 3. MLN
writes W for our theta and X for (1, x); REP h_theta for f and X for our A; IRHD Theta and p for
our theta and d; ISML m samples of n features; ridge with ISML's C is ours with lam = C.
"""

from dataclasses import KW_ONLY, dataclass
from math import copysign
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
from mlnotes.numerics import refined_least_squares, squared_norms, triangle
from mlnotes.optimization import gradient_descent
from mlnotes.probability import expectation, given_x, normal_log_density, second_moment

EPS = np.finfo(float).eps  # 2^-52, the relative spacing of floating-point numbers
ROUNDING = 16 * EPS  # a bound on the relative error of an entry after centring and QR
TRUSTED = 30  # up to this condition number the normal equations lose three digits at most
HALF = 1e8  # up to this one, elimination keeps half of the 16 digits


# ---------------------------------------------------------------------------------------
# The linear model
# ---------------------------------------------------------------------------------------


def augment(X):
    """The design matrix A (n, d + 1) of rows (1, x): theta^T (1, x) = w^T x + b for theta = (b, w).

    >>> augment(np.array([[5.0, 7.0]]))
    array([[1., 5., 7.]])

    Errata: linear_regression-02 (MLN prints (1, x_1, ..., x_n), but there are d features).
    """
    return np.column_stack([np.ones(len(X)), X])


def powers(x, degree):
    """The features (x, x^2, ..., x^degree) of numbers x (n,): a polynomial is linear in w.

    Returns: (n, degree). Raises: ValueError if x is not 1-D.

    >>> powers(np.array([2.0]), 3)
    array([[2., 4., 8.]])
    """
    x = np.asarray(x, dtype=np.float64)  # high powers of integers would wrap
    if x.ndim != 1:
        raise ValueError(f"x must be 1-D, numbers; got shape {x.shape}")
    return x[:, None] ** np.arange(1, degree + 1)


def predict(X, theta):
    """f(x) = theta^T (1, x) = w^T x + b of every row of X, samples of the fit or new ones.

    >>> predict(np.array([[0.0, 0.0], [1.0, 10.0]]), theta=np.array([5.0, 1.0, 2.0]))
    array([ 5., 26.])
    """
    return augment(X) @ theta


# ---------------------------------------------------------------------------------------
# The cost
# ---------------------------------------------------------------------------------------


def residual(A, y, theta):
    """A theta - y, the errors f(x_i) - y_i.

    Raises: ValueError if A, y and theta are not of shapes (n, m), (n,) and (m,).

    >>> residual(np.array([[1.0, 2.0]]), np.array([4.0]), theta=np.array([0.0, 1.0]))
    array([-2.])
    """
    A, y = _doubles(A, y)
    if np.shape(theta) != A.shape[1:]:
        raise ValueError(f"theta must have shape ({A.shape[1]},); got {np.shape(theta)}")
    return A @ theta - y


def _doubles(A, y):
    """A (n, m) and y (n,) in double precision: sums of small integers would wrap."""
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
    """
    e = residual(A, y, theta)
    return float(e @ e / 2)


def gradient(A, y, theta):
    """dJ/dtheta = A^T A theta - A^T y = A^T (A theta - y).

    It is 0 where the residuals are orthogonal to every column of A: the normal equations.

    >>> gradient(np.array([[1.0], [1.0]]), np.array([0.0, 4.0]), theta=np.array([1.0]))
    array([-2.])
    """
    return A.T @ residual(A, y, theta)


def hessian(A):
    """A^T A, positive semidefinite: J is convex and a minimum always exists.

    >>> hessian(np.array([[1.0], [2.0]]))
    array([[5.]])
    """
    A = np.asarray(A, dtype=np.float64)
    return A.T @ A


# ---------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------


def normal_equations(A, y):
    """theta = (A^T A)^{-1} A^T y: the formula as it is printed.

    It is the cheapest route and the least accurate: A^T A has the square of A's condition number.

    Raises: ValueError if the columns of A are linearly dependent.

    >>> normal_equations(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0]))
    array([1., 2.])

    Errata: linear_regression-10 (ISML's objective has an offset, its solution has X in place of A).
    """
    A, y = _independent(A, y)
    return np.linalg.solve(A.T @ A, A.T @ y)


def qr_solution(A, y):
    """R theta = Q^T y with A = Q R: the same theta without squaring the condition number.

    Raises: ValueError if the columns of A are linearly dependent.

    >>> qr_solution(np.array([[1.0], [2.0]]), np.array([2.0, 4.0])).round(12)
    array([2.])
    """
    A, y = _independent(A, y)
    Q, R = np.linalg.qr(A)
    return np.linalg.solve(R, Q.T @ y)


def eigen_solution(A, y):
    """theta = sum_j v_j v_j^T A^T y / s_j^2 over s_j > 0, where A^T A = sum_j s_j^2 v_j v_j^T.

    MLN's remedy for a singular A^T A: `minimum_norm`, but a small s_j has only half of its digits.

    >>> eigen_solution(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])
    """
    A, y = _doubles(A, y)
    values, V = np.linalg.eigh(A.T @ A)
    kept = values > max(A.shape) * EPS * values[-1]
    V = V[:, kept]
    return V @ (V.T @ (A.T @ y) / values[kept])


def minimum_norm(A, y, smallest=None):
    """theta = A^+ y = sum_j v_j u_j^T y / s_j over s_j > 0: the shortest of all minimisers.

    Singular values up to `smallest` count as 0; by default these are the rounding errors.

    >>> minimum_norm(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])
    """
    A, y = _doubles(A, y)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    if smallest is None:
        smallest = max(A.shape) * EPS * s[0]  # what rounding leaves of a zero
    kept = s > smallest
    return Vt[kept].T @ (U[:, kept].T @ y / s[kept])


class Fit(NamedTuple):
    """A plane found by least squares."""

    b: float
    w: np.ndarray  # (d,)
    rank: int  # of the centred samples
    singular: np.ndarray  # (min(n, d),), their singular values


def least_squares(X, y, *, weights=None, fit_intercept=True):
    """Minimise sum_i weights_i (w^T x_i + b - y_i)^2 by the first route that is safe.

    - `normal_equations` of the centred data, if their condition number is small;
    - the R of QR with corrections, which lose no digit: see `numerics.refined_least_squares`;
    - `minimum_norm` of the centred data, if the features are dependent, as far as rounding shows.

    Returns: a `Fit`; b is 0.0 without `fit_intercept`.

    >>> least_squares(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])).w.round(12)
    array([2.])
    """
    X, y = _doubles(X, y)
    A, z, x_mean, y_mean = _centred(X, y, weights, fit_intercept)
    (n, d), G = A.shape, A.T @ A
    if n > d and _condition(G, n) <= TRUSTED:
        w, R = np.linalg.solve(G, A.T @ z), np.linalg.cholesky(G).T
        return Fit(float(y_mean - w @ x_mean), w, d, _singular(R))
    rows, targets = _rows(X, y, weights, fit_intercept)
    R = triangle(rows)
    size, error = np.linalg.norm(R, axis=0), ROUNDING * np.sqrt(rows.size)  # of the columns
    if n >= len(size) and _singular(R / np.where(size > 0, size, 1))[-1] > error:
        theta = refined_least_squares(rows, targets, R)
        b = float(theta[0]) if fit_intercept else 0.0
        return Fit(b, theta[-d:], d, _singular(R[-d:, -d:]))
    s, smallest = _singular(triangle(A)), error * np.linalg.norm(size)
    w = minimum_norm(A, z, smallest)
    return Fit(float(y_mean - w @ x_mean), w, np.count_nonzero(s > smallest), s)


def _singular(R):
    """The singular values of R, the largest first."""
    return np.linalg.svd(R, compute_uv=False)


def _rows(X, y, weights, fit_intercept):
    """The rows (1, x) and the targets y, times the roots of the weights."""
    A = augment(X) if fit_intercept else X
    if weights is None:
        return A, y
    root = np.sqrt(weights)
    return root[:, None] * A, root * y


def _centred(X, y, weights=None, fit_intercept=True):
    """X and y less their means, times the roots of the weights, and the means; 0 without offset."""
    if not fit_intercept:
        A, z, x_mean, y_mean = X, y, np.zeros(X.shape[1]), 0.0
    else:
        x_mean, y_mean = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
        A, z = X - x_mean, y - y_mean
        flat = squared_norms(A.T) <= len(X) * (ROUNDING * x_mean) ** 2  # they vary by rounding
        A[:, flat] = 0
    return *_rows(A, z, weights, False), x_mean, y_mean


def _condition(G, n):
    """The condition number of A (n, m), columns at length 1, from G = A^T A; inf from about 1e7."""
    length = np.sqrt(np.diag(G))
    if not length.all():
        return np.inf
    values = np.linalg.eigvalsh(G / np.outer(length, length))
    return np.sqrt(values[-1] / values[0]) if values[0] > n * EPS else np.inf


def _independent(A, y):
    """A and y in double precision, if the columns of A are linearly independent."""
    A, y = _doubles(A, y)
    if _condition(A.T @ A, len(A)) == np.inf:
        length = np.linalg.norm(A, axis=0)
        rank = np.linalg.matrix_rank(A / np.where(length > 0, length, 1))
        if rank < A.shape[1]:
            raise ValueError(
                f"the columns of A must be linearly independent; got rank {rank} of {A.shape[1]}: "
                "A^T A is singular, minimum_norm solves it"
            )
    return A, y


# ---------------------------------------------------------------------------------------
# Step by step
# ---------------------------------------------------------------------------------------


class LMSState(NamedTuple):
    """LMS after a pass over the data."""

    theta: np.ndarray  # (m,)
    objective: float  # J(theta)
    gradient_norm: float  # ||dJ/dtheta||, which is 0 where the normal equations hold


def initial(A, theta0=None):
    """The start of an algorithm: a copy of theta0 (m,), or 0 if it is None.

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

    With eta = 1 / s_1^2 every step multiplies the error along v_j by 1 - s_j^2 / s_1^2.

    Yields: the start, then a `DescentState` per step.

    >>> [float(state.x[0]) for state in descend(np.array([[2.0]]), np.array([4.0]))]
    [0.0, 2.0]
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

    eta is the learning rate, theta0 the start (0 if None). With a small eta, theta ends near least
    squares, but it converges only if all residuals are 0 there.

    Yields: the start, then an `LMSState` per pass.

    >>> states = lms(np.array([[1.0]]), np.array([1.0]), eta=0.5)
    >>> [float(next(states).theta[0]) for _ in range(3)]
    [0.0, 0.5, 0.75]
    """
    theta = initial(A, theta0)
    while True:
        slope = np.linalg.norm(gradient(A, y, theta))
        yield LMSState(theta, cost(A, y, theta), float(slope))
        order = range(len(A)) if rng is None else rng.permutation(len(A))
        for i in order:
            theta = theta + eta * (y[i] - A[i] @ theta) * A[i]


# ---------------------------------------------------------------------------------------
# The statistical view
# ---------------------------------------------------------------------------------------


def population_solution(A, y, p):
    """theta* = E[a a^T]^{-1} E[a y]: least squares for a discrete distribution of (a, y).

    The points are the rows a = (1, x) of A (k, m) with the targets y (k,), their probabilities p.
    theta* is the best linear fit of E[y|x], which is Pr(y = 1 | x) for y in {0, 1}.

    >>> population_solution(np.ones((2, 1)), np.array([0.0, 1.0]), p=np.array([0.25, 0.75]))
    array([0.75])

    Errata: linear_regression-15 (MLN says that it learns Pr(y | x), but it fits only the mean).
    """
    A, y = _doubles(A, y)
    return np.linalg.solve(second_moment(p, A), expectation(p, A * y[:, None]))


def regression_function(joint, y):
    """f*(x_j) = E[y | x = x_j] (k_x,), which minimises E(f(x) - y)^2 over all functions f.

    The table `joint` (k_y, k_x) has Pr(y = y_i, x = x_j) in row i and column j; y (k_y,).

    >>> regression_function(np.array([[0.25, 0.0], [0.25, 0.5]]), np.array([0.0, 2.0]))
    array([1., 2.])
    """
    return np.array([expectation(given_x(joint, j), y) for j in range(joint.shape[1])])


def log_likelihood(A, y, theta, sigma):
    """l = sum_i ln N(y_i; f(x_i), sigma^2), the log-density of the targets under Gaussian noise.

    For every sigma it is largest at the least-squares theta. The best sigma is `noise_deviation`.

    Raises: ValueError unless sigma > 0 and A, y and theta fit each other.

    >>> round(log_likelihood(np.eye(1), np.array([3.0]), theta=np.array([1.0]), sigma=1.0), 6)
    -2.918939
    """
    check_number("sigma", sigma, above=0, below=np.inf)
    return float(np.sum(normal_log_density(residual(A, y, theta), 0.0, sigma**2)))


def noise_deviation(A, y, theta):
    """sigma_hat = (||A theta - y||^2 / n)^(1/2), where dl/dsigma = 0.

    At the least-squares theta its square is too small: E sigma_hat^2 = sigma^2 (n - d - 1)/n.

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
    """w with (A^T A + lam I) w = A^T y, the minimum of `ridge_cost`: unique for lam > 0.

    Returns: (m,); every weight is penalised, that of a column of ones too.
    Raises: ValueError unless lam is finite and >= 0; for lam = 0, as `normal_equations`.

    >>> ridge(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), lam=1.0)
    array([2.])

    Errata: linear_regression-23 (MLN has all eigenvalues above lam, but one may be lam itself).
    """
    _check_constant("lam", lam)
    A, y = _doubles(A, y) if lam > 0 else _independent(A, y)
    return np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ y)


def _check_constant(name, values):
    """Refuse constants of a penalty that are negative or not finite."""
    wrong = [value for value in np.ravel(values).tolist() if not 0 <= value < np.inf]
    if wrong:
        raise ValueError(f"{name} must be finite and >= 0; got {wrong[0]!r}")


def shrinkage(A, y, lam):
    """w = sum_j s_j / (s_j^2 + lam) v_j u_j^T y over s_j > 0: ridge, direction by direction.

    It shrinks the directions most in which the data vary least.

    Returns: (m,); (k, m), a row for each, if lam is (k,).
    Raises: ValueError unless lam is finite and >= 0.

    >>> shrinkage(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0]), lam=1.0).round(12)
    array([0.8, 0.5])
    """
    A, y = _doubles(A, y)
    _check_constant("lam", lam)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > max(A.shape) * EPS * s[0]  # the others are rounding errors
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    return (U.T @ y * s / (s**2 + np.asarray(lam)[..., None])) @ Vt


def centred_ridge(X, y, lam):
    """theta = (b, w): w = (X_c^T X_c + lam I)^{-1} X_c^T y_c and b = mean(y) - w^T mean(x).

    X_c and y_c are the data less their means. `ridge` on the rows (1, x) would penalise b.

    >>> centred_ridge(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), lam=2.0)
    array([100. ,   0.5])
    """
    X, y = _doubles(X, y)
    X_c, y_c, x_mean, y_mean = _centred(X, y)
    w = ridge(X_c, y_c, lam)
    b = y_mean - w @ x_mean
    return np.append(b, w)


def ridge_path(X, y, lam):
    """The weights (k, d) of `centred_ridge` for every entry of lam (k,), from one decomposition.

    >>> ridge_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), lam=np.array([2.0]))
    array([[0.5]])
    """
    X_c, y_c, *_ = _centred(*_doubles(X, y))
    return shrinkage(X_c, y_c, lam)


class Posterior(NamedTuple):
    """The posterior distribution of w, which is normal."""

    mean: np.ndarray  # (m,), where the density is largest, too
    precision: np.ndarray  # (m, m), the inverse of the covariance matrix


def posterior(A, y, sigma, beta):
    """The posterior of w for the prior N(0, beta^2 I) and targets y from N(A w, sigma^2 I):

        p(w | y) ~ exp(-||A w - y||^2/(2 sigma^2) - ||w||^2/(2 beta^2)) .

    It is normal with the precision A^T A / sigma^2 + I / beta^2.

    Returns: a `Posterior`; its mean is `ridge` with lam = sigma^2 / beta^2.
    Raises: ValueError unless sigma > 0 and beta > 0.

    >>> posterior(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), sigma=2.0, beta=2.0)
    Posterior(mean=array([2.]), precision=array([[0.75]]))

    Errata: linear_regression-26 (MLN loses sigma, and has lam = 1 / beta^2), linear_regression-27
    (if w contains b, the constant of the prior has the exponent d + 1).
    """
    check_number("sigma", sigma, above=0, below=np.inf)
    check_number("beta", beta, above=0, below=np.inf)
    A, y = _doubles(A, y)
    precision = A.T @ A / sigma**2 + np.eye(A.shape[1]) / beta**2
    return Posterior(np.linalg.solve(precision, A.T @ y / sigma**2), precision)


# ---------------------------------------------------------------------------------------
# LASSO
# ---------------------------------------------------------------------------------------


def lasso_objective(X, y, theta, C):
    """sum_i (y_i - w^T x_i - b)^2 + C sum_j |w_j| for theta = (b, w): b is not penalised.

    >>> lasso_objective(np.array([[1.0]]), np.array([3.0]), theta=np.array([0.0, 1.0]), C=10.0)
    14.0
    """
    return 2 * cost(augment(X), y, theta) + C * float(np.sum(np.abs(theta[1:])))


def lasso_bound(X, y):
    """C_max = 2 max_j |x_cj^T y_c| with the centred columns x_cj: for C >= C_max all weights are 0.

    >>> lasso_bound(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]))
    4.0
    """
    X_c, y_c, *_ = _centred(*_doubles(X, y))
    return float(2 * np.max(np.abs(X_c.T @ y_c)))


def soft_threshold(rho, tau):
    """S(rho, tau) = sign(rho) max(|rho| - tau, 0): rho moves towards 0 by tau, but not beyond 0.

    >>> soft_threshold(np.array([-3.0, 0.5, 3.0]), tau=1.0)
    array([-2.,  0.,  2.])
    """
    rho = np.asarray(rho, dtype=np.float64)
    return np.sign(rho) * np.maximum(np.abs(rho) - tau, 0.0)


class LassoState(NamedTuple):
    """Coordinate descent after a pass over the weights."""

    w: np.ndarray  # (d,)
    objective: float  # ||y - X w||^2 + C ||w||_1
    gap: float  # an upper bound of its distance from the minimum


def duality_gap(w, r, pull, C):
    """||y - X w||^2 + C ||w||_1 less a lower bound of its minimum; r = y - X w, pull = X^T r.

        (1 - c)^2 ||r||^2 + sum_j (C |w_j| - 2 c pull_j w_j),   c = min(1, C / (2 max_j |pull_j|))

    All its terms are >= 0: nothing cancels. For C = 0 it is ||r||^2, which is no help.

    >>> duality_gap(w=np.array([1.0]), r=np.array([0.5]), pull=np.array([0.5]), C=1.0)
    0.0
    """
    steepest = 2 * np.max(np.abs(pull))
    c = C / steepest if steepest > C else 1.0
    return float((1 - c) ** 2 * (r @ r) + np.sum(C * np.abs(w) - 2 * c * pull * w))


def coordinate_descent(X, y, C, w0=None):
    """Minimise ||y - X w||^2 + C ||w||_1 (centred data: no offset), one weight at a time:

        w_j <- S(x_j^T r_j, C/2) / ||x_j||^2,   r_j = y - X w + x_j w_j .

    r_j is the residual without feature j. A weight that is 0, with |2 x_j^T r| <= C when a pass
    begins, is not visited in it. w0 is the start (0 if None).

    Yields: the start, then a `LassoState` per pass.
    Raises: ValueError unless C is finite and >= 0, and X, y and w0 fit each other.

    >>> states = coordinate_descent(np.eye(2), np.array([3.0, 0.5]), C=2.0)
    >>> next(states).w, next(states).w
    (array([0., 0.]), array([2., 0.]))
    """
    _check_constant("C", C)
    X, y = _doubles(X, y)
    columns = np.ascontiguousarray(X.T)  # row j holds feature j of all samples
    squares = np.sum(X**2, axis=0)  # ||X_j||^2
    w = np.where(squares > 0, initial(X, w0), 0.0)  # a column of zeros gets no weight
    r, squares = y - X @ w, squares.tolist()
    while True:
        pull = columns @ r  # X_j^T r for every j
        objective = float(r @ r + C * np.sum(np.abs(w)))
        yield LassoState(w, objective, duality_gap(w, r, pull, C))
        w = w.copy()
        for j in np.flatnonzero((w != 0) | (2 * np.abs(pull) > C)):  # the others stay at 0
            x, before = columns[j], float(w[j])
            rho = float(x.dot(r)) + squares[j] * before  # x_j^T (r + x_j w_j)
            w[j] = copysign(max(abs(rho) - C / 2, 0.0), rho) / squares[j]
            r = r + (before - w[j]) * x


def lasso_path(X, y, C, *, tol=1e-8, max_iter=10_000):
    """The LASSO weights for every entry of C (k,); each run starts where the next larger C ended.

    X and y are centred. A run ends when the gap is at most tol ||y||^2, or after max_iter passes.

    Returns: (k, d). Raises: ValueError unless every C is finite and >= 0.

    >>> lasso_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), C=np.array([2.0]))
    array([[0.5]])
    """
    C = np.asarray(C)
    _check_constant("C", C)
    X, y, *_ = _centred(*_doubles(X, y))
    W, w = np.zeros((len(C), X.shape[1])), None
    for k in np.argsort(-C, kind="stable"):
        states = _lasso_states(X, y, float(C[k]), w)
        w = W[k] = iterate(states, "gap", tol * (y @ y), max_iter).state.w
    return W


def _lasso_states(X, y, C, w0=None):
    """`coordinate_descent`; for C = 0, where its gap is no help, least squares itself."""
    if C > 0:
        return coordinate_descent(X, y, C, w0)
    w = least_squares(X, y, fit_intercept=False).w
    return iter([LassoState(w, 2 * cost(X, y, w), 0.0)])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class _Linear(Regressor):
    """What the three estimators share: the offset, the checks of the input, and the prediction."""

    fit_intercept: bool = True

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


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(_Linear):
    """Least squares by the first route that is safe: see `least_squares`.

    If the features are linearly dependent, w is the shortest minimiser. y has shape (n,).

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

    >>> LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).predict([[10.0]]).round(12)
    array([21.])
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and the given weights; return self."""
        samples, y, weights = self._check(X, y, sample_weight)
        fit = least_squares(samples, y, weights=weights, fit_intercept=self.fit_intercept)
        self.intercept_, self.coef_, self.rank_, self.singular_ = fit
        return self._remember(X)


@dataclass(eq=False, repr=False)
class Ridge(_Linear):
    """Least squares with the penalty alpha ||w||^2, by `ridge` of the centred data.

    The objective is sum_i (y_i - w^T x_i - b)^2 + alpha ||w||^2, twice that of the notes: alpha is
    their lambda (and ISML's C). b is not penalised. Where a small alpha leaves A^T A + alpha I
    badly conditioned, `shrinkage` is the route. y has shape (n,).

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for none
    fit_intercept : bool; whether there is an offset b

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    n_features_in_ : int

    >>> Ridge(alpha=2.0).fit([[-1.0], [1.0]], [99.0, 101.0]).coef_.round(12)
    array([0.5])
    """

    alpha: float = 1.0

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and the given weights; return self."""
        lam = check_number("alpha", self.alpha, at_least=0, below=np.inf)
        samples, y, weights = self._check(X, y, sample_weight)
        if lam == 0:
            fit = least_squares(samples, y, weights=weights, fit_intercept=self.fit_intercept)
            self.intercept_, self.coef_ = fit.b, fit.w
            return self._remember(X)
        A, z, x_mean, y_mean = _centred(samples, y, weights, self.fit_intercept)
        well = A.shape[0] >= A.shape[1] and np.vdot(A, A) <= HALF * lam  # it bounds the condition
        self.coef_ = ridge(A, z, lam) if well else shrinkage(A, z, lam)
        self.intercept_ = float(y_mean - self.coef_ @ x_mean)
        return self._remember(X)


@dataclass(eq=False, repr=False)
class Lasso(_Linear):
    """Least squares with the penalty alpha ||w||_1, by `coordinate_descent`: some w_j are 0.

    The objective is 1/(2n) ||y - X w - b||^2 + alpha ||w||_1, as in scikit-learn. It is ISML's
    divided by 2 n, with C = 2 n alpha; with sample weights, n is their sum. y has shape (n,).

    Parameters
    ----------
    alpha : float; strength of the penalty, 0 for least squares
    fit_intercept : bool; whether there is an offset b
    max_iter : int; largest number of passes over the weights
    tol : float; stops when the gap is at most this times ||y||^2 / n, for the centred y

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    dual_gap_ : float; an upper bound of the objective's distance from its minimum
    n_iter_ : int; passes
    history_ : ndarray of shape (n_iter_ + 1,); the objective at the start and after every pass
    converged_ : bool; whether the gap became that small
    n_features_in_ : int

    >>> Lasso(alpha=0.5).fit([[-1.0, 1.0], [1.0, 1.0]], [99.0, 101.0]).coef_
    array([0.5, 0. ])
    """

    alpha: float = 1.0
    _: KW_ONLY
    max_iter: int = 1000
    tol: float = 1e-4

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and the given weights; return self."""
        alpha = check_number("alpha", self.alpha, at_least=0, below=1e300)
        tol = check_number("tol", self.tol, at_least=0, below=np.inf)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        samples, y, weights = self._check(X, y, sample_weight)
        A, z, x_mean, y_mean = _centred(samples, y, weights, self.fit_intercept)
        n = len(z) if weights is None else float(weights.sum())
        states = (
            LassoState(w, objective / (2 * n), gap / (2 * n))
            for w, objective, gap in _lasso_states(A, z, 2 * n * float(alpha))
        )
        tol = tol * float(z @ z) / n
        run = iterate(states, "gap", tol, max_iter)
        self.coef_, self.dual_gap_ = run.state.w, run.state.gap
        self.intercept_ = float(y_mean - x_mean @ self.coef_)
        self._record(run, "gap", tol)
        return self._remember(X)
