r"""Linear regression: a plane through noisy samples, by least squares.

Normal equations, QR, SVD and descent lead to it: equal on paper, far from equal in floating point.
Ridge and LASSO penalise large weights; LASSO makes some of them exactly zero.

Contents
    The linear model         augment, powers, predict
    The cost                 residual, least_squares_cost, least_squares_gradient,
                             least_squares_hessian
    Closed forms             normal_equations, qr_solution, eigen_solution, compact_svd,
                             minimum_norm
    Sample by sample         lms, LMSState
    The statistical view     population_solution, gaussian_log_likelihood,
                             noise_deviation
    Ridge                    ridge, shrinkage, centred_ridge, ridge_path, weight_posterior,
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
    C       float       LASSO constant > 0: C ||w||_1 is added to the sum of squares
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
from itertools import chain, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    BLOCK,
    ROUNDING,
    Regressor,
    check_flag,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    distribution,
    floats,
    iterate,
    row_blocks,
)
from mlnotes.numerics import squared_norms

# =======================================================================================
# The lecture
# =======================================================================================

# --- The linear model ------------------------------------------------------------------


def augment(X):
    """The design matrix A (n, d + 1) of rows (1, x): theta^T (1, x) = w^T x + b for theta = (b, w).

    >>> augment(np.array([[5.0, 7.0]]))
    array([[1., 5., 7.]])

    Errata: linear_regression-02 (MLN prints (1, x_1, ..., x_n), but there are d features).
    """
    return np.column_stack([np.ones(len(X)), X])


def powers(X, degree):
    """The features x, x^2, ..., x^degree of numbers X (n,): (n, degree).

    Of samples X (n, d) all products of 1 to `degree` features, x_1, x_2, x_1^2, x_1 x_2, x_2^2, ...

    >>> powers(np.array([2.0]), 3), powers(np.array([[2.0, 5.0]]), 2)
    (array([[2., 4., 8.]]), array([[ 2.,  5.,  4., 10., 25.]]))
    """
    columns = floats(X).reshape(len(X), -1).T
    factors = (combinations_with_replacement(columns, k + 1) for k in range(degree))
    products = [np.prod(each, axis=0) for each in chain(*factors)]
    return np.reshape(products, (-1, len(X))).T


def predict(X, theta):
    """The predictions f(x) = theta^T (1, x) = w^T x + b of all rows of X: (n,).

    >>> predict(np.array([[0.0, 0.0], [1.0, 10.0]]), theta=np.array([5.0, 1.0, 2.0]))
    array([ 5., 26.])
    """
    return augment(X) @ theta


# --- The cost --------------------------------------------------------------------------


def residual(A, y, theta):
    """The errors A theta - y = (f(x_i) - y_i): (n,).

    >>> residual(np.array([[1.0, 2.0]]), np.array([4.0]), theta=np.array([0.0, 1.0]))
    array([-2.])
    """
    return A @ floats(theta) - y


def least_squares_cost(A, y, theta):
    """The cost J(theta) = 1/2 (A theta - y)^T (A theta - y) = 1/2 ||A theta - y||^2.

    >>> least_squares_cost(np.array([[1.0], [1.0]]), np.array([0.0, 4.0]), theta=np.array([1.0]))
    np.float64(5.0)
    """
    e = residual(A, y, theta)
    return e @ e / 2


def least_squares_gradient(A, y, theta):
    """The gradient dJ/dtheta = A^T A theta - A^T y = A^T (A theta - y): (m,).

    It is 0 where the residuals are orthogonal to every column of A: the normal equations.

    >>> least_squares_gradient(np.ones((2, 1)), np.array([0.0, 4.0]), theta=np.array([1.0]))
    array([-2.])
    """
    return A.T @ residual(A, y, theta)


def least_squares_hessian(A):
    """The Hessian A^T A (m, m), positive semidefinite: J is convex and a minimum always exists.

    >>> least_squares_hessian(np.array([[1.0], [2.0]]))
    array([[5.]])
    """
    A = floats(A)
    return A.T @ A


# --- Closed forms ----------------------------------------------------------------------


def normal_equations(A, y):
    """The solution theta = (A^T A)^{-1} A^T y (m,), for linearly independent columns.

    It is the cheapest route and the least accurate: A^T A has the square of A's condition number.

    >>> normal_equations(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0]))
    array([1., 2.])

    Errata: linear_regression-10 (ISML's objective has an offset, its solution has X in place of A).
    """
    A = floats(A)
    return np.linalg.solve(A.T @ A, A.T @ y)


def qr_solution(A, y):
    """The same theta (m,) from R theta = Q^T y, where A = Q R: R has A's condition number.

    >>> qr_solution(np.array([[1.0], [2.0]]), np.array([2.0, 4.0])).round(12)
    array([2.])
    """
    Q, R = np.linalg.qr(floats(A))
    return np.linalg.solve(R, Q.T @ y)


def eigen_solution(A, y):
    """The sum over s_j > 0 of v_j v_j^T A^T y / s_j^2 (m,), where A^T A = sum_j s_j^2 v_j v_j^T.

    It is MLN's remedy for a singular A^T A: `minimum_norm`, but with half of the digits.

    >>> eigen_solution(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])
    """
    A = floats(A)
    squares, V = np.linalg.eigh(A.T @ A)
    kept = squares > ROUNDING * squares[-1]
    return V[:, kept] @ (V[:, kept].T @ (A.T @ y) / squares[kept])


def compact_svd(A, tol=ROUNDING):
    """The u_j (n, r), s_j (r,) and v_j (m, r) of A = sum_j s_j u_j v_j^T, where all s_j > 0.

    Singular values up to tol s_1 count as 0: rounding leaves them. So r is the rank of A.

    >>> [part.shape for part in compact_svd(np.ones((3, 2)))]
    [(3, 1), (1,), (2, 1)]
    """
    U, s, Vt = np.linalg.svd(floats(A), full_matrices=False)
    r = np.count_nonzero(s > tol * s[0])
    return U[:, :r], s[:r], Vt[:r].T


def minimum_norm(A, y):
    """The shortest of all minimisers, A^+ y = sum_j v_j u_j^T y / s_j: (m,).

    >>> minimum_norm(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(12)
    array([1., 1.])
    """
    U, s, V = compact_svd(A)
    return V @ (U.T @ y / s)


# --- Sample by sample ------------------------------------------------------------------


class LMSState(NamedTuple):
    """LMS after a pass over the data."""

    theta: np.ndarray  # (m,)
    objective: float  # J(theta)
    gradient_norm: float  # ||dJ/dtheta||, which is 0 where the normal equations hold


def lms(A, y, theta0=0.0, *, eta, rng=None):
    """Descent sample by sample (least mean squares): theta <- theta + eta (y_i - f(x_i)) (1, x_i).

    eta is the learning rate, theta0 the start. With a small eta, theta ends near least squares, but
    converges only if all residuals are 0 there. Yields: the start, then an `LMSState` per pass.

    >>> states = lms(np.array([[1.0]]), np.array([1.0]), eta=0.5)
    >>> [float(next(states).theta[0]) for _ in range(3)]
    [0.0, 0.5, 0.75]
    """
    theta = np.zeros(A.shape[1]) + theta0
    while True:
        slope = least_squares_gradient(A, y, theta)
        yield LMSState(theta, least_squares_cost(A, y, theta), np.linalg.norm(slope))
        order = range(len(A)) if rng is None else rng.permutation(len(A))
        for i in order:
            theta = theta + eta * (y[i] - A[i] @ theta) * A[i]


# --- The statistical view --------------------------------------------------------------


def population_solution(A, y, p):
    """The solution theta* = E[a a^T]^{-1} E[a y] (m,) for k points with probabilities p.

    The points are the rows a = (1, x) of A (k, m) with the targets y (k,). theta* is the best
    linear fit of E[y|x], which is Pr(y = 1 | x) for y in {0, 1}.

    >>> population_solution(np.ones((2, 1)), np.array([0.0, 1.0]), p=np.array([0.25, 0.75]))
    array([0.75])

    Errata: linear_regression-15 (MLN says that it learns Pr(y | x), but it fits only the mean).
    """
    A, p = floats(A), distribution(p)
    return np.linalg.solve(A.T * p @ A, A.T * p @ y)


def gaussian_log_likelihood(A, y, theta, sigma):
    """The log-likelihood l = -n ln(sigma sqrt(2 pi)) - ||A theta - y||^2 / (2 sigma^2).

    It is sum_i ln N(y_i; f(x_i), sigma^2). For every sigma the least-squares theta maximises it.

    >>> gaussian_log_likelihood(np.eye(1), np.array([3.0]), np.array([1.0]), sigma=1.0).round(6)
    np.float64(-2.918939)
    """
    constant = -len(y) * np.log(sigma * np.sqrt(2 * np.pi))
    return constant - least_squares_cost(A, y, theta) / sigma**2


def noise_deviation(A, y, theta):
    """The maximum likelihood estimate sigma_hat = (||A theta - y||^2 / n)^(1/2) of sigma.

    At the least-squares theta its square is too small: E sigma_hat^2 = sigma^2 (n - d - 1)/n.

    >>> noise_deviation(np.array([[1.0], [1.0]]), np.array([0.0, 2.0]), theta=np.array([1.0]))
    np.float64(1.0)
    """
    return np.sqrt(2 * least_squares_cost(A, y, theta) / len(y))


# --- Ridge -----------------------------------------------------------------------------


def ridge(A, y, lam):
    """The solution w (m,) of (A^T A + lam I) w = A^T y, which is unique for lam > 0.

    It minimises 1/2 ||A w - y||^2 + lam/2 ||w||^2. Every weight is penalised, that of a column of
    ones too.

    >>> ridge(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), lam=1.0)
    array([2.])

    Errata: linear_regression-23 (MLN has all eigenvalues above lam, but one may be lam itself).
    """
    A = floats(A)
    return np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T @ y)


def shrinkage(A, y, lam):
    """The same w = sum_j s_j / (s_j^2 + lam) v_j u_j^T y: (m,), or (k, m) if lam is (k,).

    >>> shrinkage(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([2.0, 1.0]), lam=1.0).round(12)
    array([0.8, 0.5])
    """
    U, s, V = compact_svd(A)
    return (s / (s**2 + np.asarray(lam)[..., None]) * (U.T @ y)) @ V.T


def centred_ridge(X, y, lam):
    """Ridge with a free offset, theta = (b, w): w = (X_c^T X_c + lam I)^{-1} X_c^T y_c.

    X_c and y_c are the data less their means, and b = mean(y) - w^T mean(x). `ridge` on the rows
    (1, x) would penalise b. Returns: (d + 1,).

    >>> centred_ridge(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), lam=2.0)
    array([100. ,   0.5])
    """
    X, y = floats(X, y)
    x_mean, y_mean = X.mean(axis=0), y.mean()
    w = ridge(X - x_mean, y - y_mean, lam)
    return np.append(y_mean - w @ x_mean, w)


def ridge_path(X, y, lam):
    """The weights of `centred_ridge` for every entry of lam (k,), from one decomposition: (k, d).

    >>> ridge_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), lam=np.array([2.0]))
    array([[0.5]])
    """
    X, y = floats(X, y)
    return shrinkage(X - X.mean(axis=0), y - y.mean(), lam)


class Posterior(NamedTuple):
    """The posterior distribution of w, which is normal."""

    mean: np.ndarray  # (m,), where the density is largest, too
    precision: np.ndarray  # (m, m), the inverse of the covariance matrix


def weight_posterior(A, y, sigma, beta):
    """The posterior of w for the prior N(0, beta^2 I) and targets y from N(A w, sigma^2 I):

        p(w | y) ~ exp(-||A w - y||^2/(2 sigma^2) - ||w||^2/(2 beta^2)) .

    Its precision is A^T A / sigma^2 + I / beta^2, its mean `ridge` with lam = sigma^2 / beta^2.
    Returns: a `Posterior`.

    >>> weight_posterior(np.array([[1.0], [1.0]]), np.array([2.0, 4.0]), sigma=2.0, beta=2.0)
    Posterior(mean=array([2.]), precision=array([[0.75]]))

    Errata: linear_regression-26 (MLN loses sigma, and has lam = 1 / beta^2), linear_regression-27
    (if w contains b, the constant of the prior has the exponent d + 1).
    """
    A = floats(A)
    precision = A.T @ A / sigma**2 + np.eye(A.shape[1]) / beta**2
    return Posterior(np.linalg.solve(precision, A.T @ y / sigma**2), precision)


# --- LASSO -----------------------------------------------------------------------------


def lasso_objective(X, y, theta, C):
    """The objective sum_i (y_i - w^T x_i - b)^2 + C sum_j |w_j| at theta = (b, w): a number.

    >>> lasso_objective(np.array([[1.0]]), np.array([3.0]), theta=np.array([0.0, 1.0]), C=10.0)
    np.float64(14.0)
    """
    return 2 * least_squares_cost(augment(X), y, theta) + C * np.sum(np.abs(floats(theta)[1:]))


def lasso_bound(X, y):
    """The constant C_max = 2 max_j |x_cj^T y_c|: all weights are 0 exactly for C >= C_max.

    x_cj are the columns of X less their means, and y_c the targets less theirs.

    >>> lasso_bound(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]))
    np.float64(4.0)
    """
    X, y = floats(X, y)
    return 2 * np.max(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())))


def soft_threshold(rho, tau):
    """S(rho, tau) = sign(rho) max(|rho| - tau, 0): rho moves towards 0 by tau, but not beyond 0.

    >>> soft_threshold(np.array([-3.0, 0.5, 3.0]), tau=1.0)
    array([-2.,  0.,  2.])
    """
    rho = floats(rho)
    return np.sign(rho) * np.maximum(np.abs(rho) - tau, 0)


class LassoState(NamedTuple):
    """Coordinate descent after a pass over the weights."""

    w: np.ndarray  # (d,)
    objective: float  # ||y - X w||^2 + C ||w||_1
    gap: float  # an upper bound of its distance from the minimum


def duality_gap(w, r, slope, C):
    """An upper bound of ||r||^2 + C ||w||_1, where r = y - X w, less its minimum over all w:

        (1 - c)^2 ||r||^2 + sum_j (C |w_j| - c g_j w_j),   c = min(1, C / max_j |g_j|) .

    `slope` is g = 2 X^T r (d,). All terms are >= 0, and at the minimum they are 0.

    >>> duality_gap(w=np.array([1.0]), r=np.array([0.5]), slope=np.array([1.0]), C=1.0)
    np.float64(0.0)
    """
    w, r, slope = floats(w, r, slope)
    c = C / max(C, np.abs(slope).max())
    return (1 - c) ** 2 * (r @ r) + np.sum(C * np.abs(w) - c * slope * w)


def coordinate_descent(X, y, C, w0=0.0):
    """The LASSO on centred data, the minimum of ||y - X w||^2 + C ||w||_1, weight by weight:

        w_j <- S(x_j^T r_j, C/2) / ||x_j||^2,   r_j = y - X w + x_j w_j .

    r_j are the residuals without feature j. Yields: the start w0, then a `LassoState` per pass.

    >>> states = coordinate_descent(np.eye(2), np.array([3.0, 0.5]), C=2.0)
    >>> next(states).w, next(states).w
    (array([0., 0.]), array([2., 0.]))
    """
    columns = floats(X).T.copy()  # row j holds feature j of all samples
    squares = np.sum(columns**2, axis=1)  # ||X_j||^2
    w = np.where(squares > 0, floats(w0), 0.0)  # a column of zeros gets no weight
    r = y - w @ columns
    while True:
        slope = 2 * (columns @ r)
        yield LassoState(w.copy(), r @ r + C * np.sum(np.abs(w)), duality_gap(w, r, slope, C))
        for j in np.flatnonzero((w != 0) | (np.abs(slope) > C)):  # the others are at their best
            before = w[j]
            w[j] = soft_threshold(columns[j] @ r + squares[j] * before, C / 2) / squares[j]
            r = r + (before - w[j]) * columns[j]


def lasso_path(X, y, C, tol=1e-8):
    """The LASSO weights for every entry of C (k,), up to a gap of tol ||y_c||^2: (k, d).

    Each run starts where that of the next larger C ended. X and y need not be centred.

    >>> lasso_path(np.array([[-1.0], [1.0]]), np.array([99.0, 101.0]), C=np.array([2.0]))
    array([[0.5]])
    """
    X, y = floats(X, y)
    X, y = X - X.mean(axis=0), y - y.mean()
    W, w = np.zeros((len(C), X.shape[1])), 0.0
    for k in np.argsort(C)[::-1]:
        states = coordinate_descent(X, y, C[k], w)
        w = W[k] = iterate(states, "gap", tol * (y @ y), max_iter=10_000).state.w
    return W


# =======================================================================================
# The estimators
# =======================================================================================

EPS = np.finfo(float).eps  # 2^-52, the relative spacing of floating-point numbers
HALF = 1e8  # up to this condition number, elimination keeps half of the 16 digits


class _Centred(NamedTuple):
    """Samples and targets less their means, times the roots of the weights."""

    M: np.ndarray  # (n, d + 1): A beside z, without the samples of weight 0
    mean: np.ndarray  # (d + 1,), of the samples and of the targets; 0 if there is no offset
    total: float  # sum of the weights, which are divided by the largest
    largest: float  # the largest weight


def _triangle(M):
    """At most d + 1 rows with the same M^T M: the R of M = Q R."""
    m = M.shape[1]
    while len(M) > m:
        blocks = row_blocks(len(M), max(2 * BLOCK // m, 4 * m))
        M = np.vstack([np.linalg.qr(M[rows], mode="r") for rows in blocks])
    return M


def _shortest(data):
    """The shortest w (d,) of least ||A w - z||, and the rank of A, for M = [A z] of a `_Centred`.

    The rank is decided on columns of length 1. A direction v_j counts if s_j is larger than what
    rounding of the samples before centring makes of a 0.
    """
    A, z = np.split(_triangle(data.M), [-1], axis=1)
    length = np.linalg.norm(A, axis=0)
    before = np.hypot(length, np.sqrt(data.total) * data.mean[:-1])  # lengths before centring
    length, before = np.where(length > 0, [length, before], [[1.0], [0.0]])
    V, s, U = compact_svd((A / length).T, 16 * EPS * np.sqrt(len(length)))  # tall: quicker
    counts = s > 2 * EPS * np.linalg.norm((before / length)[:, None] * V, axis=0)
    V, s, U = V[:, counts], s[counts], U[:, counts]
    w = V @ (U.T @ z[:, 0] / s) / length
    if 0 < len(s) < len(w):  # of all minimisers, the nearest to 0
        rows = compact_svd(length[:, None] * V, np.sqrt(EPS))[0]  # they span the rows of A
        step = length * (rows @ (rows.T @ w) - w)
        w = w + (step - V @ (V.T @ step)) / length  # what would change A w is rounding
    return w, len(s)


@dataclass(eq=False, repr=False, kw_only=True)
class _Linear(Regressor):
    """What the three estimators share: the offset, the checks of the input, and the prediction."""

    fit_intercept: bool = True

    def _prepare(self, X, y, sample_weight):
        """The checked data, with the offset eliminated if there is one: a `_Centred`."""
        free = check_flag("fit_intercept", self.fit_intercept)
        X = check_samples(X)
        M, root = np.column_stack([X, check_targets(y, len(X))]), np.ones(len(X))
        mean, largest = np.zeros(M.shape[1]), 1.0
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(X))
            largest = float(weights.max())
            M, root = M[weights > 0], np.sqrt(weights[weights > 0] / largest)
        total = root @ root
        for _ in range(2 * free):  # the second time it is the rounding of the first mean
            shift = root**2 @ M / total
            mean += shift
            M -= shift
        if sample_weight is not None:
            M *= root[:, None]
        flat = np.sqrt(squared_norms(M.T)) <= 2 * EPS * np.sqrt(total) * np.abs(mean)
        M[:, flat] = 0  # what varies by rounding only
        return _Centred(M, mean, total, largest)

    def _store(self, w, mean, X):
        """Keep the plane and end `fit`."""
        self.coef_, self.intercept_ = w, float(mean[-1] - mean[:-1] @ w)
        return self._remember(X)

    def predict(self, X):
        """Targets w^T x + b (n,) of samples X (n, d)."""
        return self._check_fitted(X) @ self.coef_ + self.intercept_


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(_Linear):
    """Least squares by `compact_svd` of the centred features, each of length 1.

    If the features are linearly dependent, w is the shortest minimiser; where their units differ by
    more than 10^7, it is one of the minimisers. y has shape (n,).

    Parameters
    ----------
    fit_intercept : bool; whether there is an offset b

    Attributes
    ----------
    coef_ : ndarray of shape (d,); w
    intercept_ : float; b, or 0.0
    rank_ : int; of the samples, centred if there is an offset
    n_features_in_ : int

    >>> LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).predict([[10.0]]).round(12)
    array([21.])
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and the given weights; return self."""
        data = self._prepare(X, y, sample_weight)
        w, self.rank_ = _shortest(data)
        return self._store(w, data.mean, X)


@dataclass(eq=False, repr=False)
class Ridge(_Linear):
    """Least squares with the penalty alpha ||w||^2, by `ridge` of the centred data.

    The objective is sum_i (y_i - w^T x_i - b)^2 + alpha ||w||^2, twice that of the notes: alpha is
    their lambda and ISML's C. b is not penalised. With fewer samples than features `shrinkage` is
    the route; for a small alpha, least squares with the rows sqrt(alpha) I, too. y has shape (n,).

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
        alpha = float(check_number("alpha", self.alpha, at_least=0, below=np.inf))
        data = self._prepare(X, y, sample_weight)
        lam, A, z = alpha / data.largest, data.M[:, :-1], data.M[:, -1]
        n, d = A.shape
        if n < d and alpha > 0 or HALF * lam == np.inf:
            w = shrinkage(A, z, lam)
        elif squared_norms(A).sum() < HALF * lam:  # it bounds the condition number
            w = ridge(A, z, lam)
        else:
            rows = np.sqrt(lam) * np.eye(d if alpha > 0 else 0, d + 1)
            w = _shortest(data._replace(M=np.vstack([_triangle(data.M), rows])))[0]
        return self._store(w, data.mean, X)


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

    >>> Lasso(alpha=0.5).fit([[-1.0, 1.0], [1.0, 1.0]], [99.0, 101.0]).coef_.round(12)
    array([0.5, 0. ])
    """

    alpha: float = 1.0
    _: KW_ONLY
    max_iter: int = 1000
    tol: float = 1e-6

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and the given weights; return self."""
        alpha = float(check_number("alpha", self.alpha, at_least=0, below=np.inf))
        tol = check_number("tol", self.tol, at_least=0, below=np.inf)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        data = self._prepare(X, y, sample_weight)
        M = data.M / np.sqrt(2 * data.total)
        A, z = M[:, :-1], M[:, -1]
        states, tol = coordinate_descent(A, z, alpha), 2 * tol * (z @ z)
        if alpha == 0:
            w = _shortest(data)[0]
            states = [LassoState(w, 2 * least_squares_cost(A, z, w), 0.0)]
        run = iterate(states, "gap", tol, max_iter)
        self.dual_gap_ = float(run.state.gap)
        self._record(run, "gap", tol)
        return self._store(run.state.w, data.mean, X)
