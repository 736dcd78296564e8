"""Support vector regression: the flattest function in a tube around the targets.

Errors up to epsilon cost nothing: the samples may lie anywhere in a tube of that half width around
f. Slack makes room for samples outside the tube.

Contents
    The insensitive loss    insensitive_loss, tube_slack
    How smooth is f?        shortest_rise, linear_margin
    The hard tube           hard_tube, Tube, narrowest_tube
    The soft tube           soft_tube, tube_lagrangian
    The dual                beta_of, tube_dual, evaluate
    The dual as a svm.Dual  stacked_dual
    Squared slack           squared_tube, squared_lagrangian, squared_tube_dual, without_tube
    The nu tube             best_epsilon, nu_tube, NuTube, stacked_nu_dual
    Solving to a tolerance  Stacked, solve_tube
    Estimators              SVR, NuSVR, L2SVR

Symbols
    X        (n, d)    samples x_i, one per row
    y        (n,)      targets
    w, b     (d,)      f(x) = w^T x + b; f (n,) its values
    epsilon  float     half the width of the tube
    C        float     cost of a unit of slack
    nu       float     parameter of the nu tube, which finds epsilon
    xi       (2, n)    slack: xi[0] holds the xi_i, above the tube, and xi[1] the xi_i', below it
    alpha    (2, n)    multipliers of the tube's sides: alpha_i in alpha[0], alpha_i' in alpha[1]
    r        (2, n)    multipliers of xi >= 0
    beta     (n,)      beta = alpha[0] - alpha[1], so that w = sum_i beta_i x_i
    K        (n, n)    Gram matrix x_i^T x_j or k(x_i, x_j)

ISML has alpha, alpha* with absolute slack; with squared slack its alpha is our alpha[1] and its
alpha-hat our alpha[0]. In its ridge regression C multiplies the penalty, here the loss (svr-24).

Notes: MLN "Support Vector Regression", "v-SVR"; ISML 3 "Support Vector Regression".
"""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Regressor,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    floats,
)
from mlnotes.kernels import Linear, make_kernel
from mlnotes.numerics import kernel_product
from mlnotes.optimization import solve_qp
from mlnotes.perceptron import decision
from mlnotes.svm import (
    Dual,
    KernelMachine,
    about_mean,
    fill,
    kernel_matrix,
    solve,
    weights_of,
)

# =======================================================================================
# The lecture
# =======================================================================================

# --- The insensitive loss --------------------------------------------------------------


def insensitive_loss(f, y, epsilon):
    """loss(y, f) = max(|y - f| - epsilon, 0), the distance from the tube, 0 inside it: (n,).

    >>> insensitive_loss(np.array([0.0, 2.0, 5.0]), np.array([0.5, 5.0, 3.0]), epsilon=1.0)
    array([0., 2., 1.])
    """
    f, y = floats(f, y)
    return np.maximum(np.abs(y - f) - epsilon, 0.0)


def tube_slack(f, y, epsilon):
    """xi_i = max(y_i - f_i - epsilon, 0) and xi_i' = max(f_i - y_i - epsilon, 0): (2, n).

    >>> tube_slack(np.array([2.0, 5.0]), np.array([5.0, 3.0]), epsilon=1.0).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    f, y = floats(f, y)
    return np.maximum(np.array([y - f, f - y]) - epsilon, 0.0)


# --- How smooth is f? ------------------------------------------------------------------


def shortest_rise(w, epsilon):
    """x - x' = 2 epsilon w / ||w||^2, the shortest step along which f rises by 2 epsilon: (d,).

    >>> shortest_rise(np.array([3.0, 4.0]), epsilon=2.5)
    array([0.6, 0.8])
    """
    w = floats(w)
    return 2 * epsilon * w / (w @ w)


def linear_margin(w, epsilon):
    """m(f) = inf {||x - x'||: |f(x) - f(x')| >= 2 epsilon}; for a linear f it is 2 epsilon / ||w||.

    A large margin means a smooth f. A constant f has m = inf.

    >>> linear_margin(np.array([3.0, 4.0]), epsilon=2.5)
    1.0

    Errata: svr-18 (MLN says that m > 0 if f is continuous; x^2 is continuous and has m = 0).
    """
    length = float(np.linalg.norm(floats(w)))
    return 2 * epsilon / length if length > 0 else inf


# --- The hard tube ---------------------------------------------------------------------


class Tube(NamedTuple):
    """The solution of a primal problem, with the multipliers of the sides of the tube."""

    w: np.ndarray  # (d,)
    b: float
    xi: np.ndarray  # (2, n); 0 for a hard tube
    alpha: np.ndarray  # (2, n)
    objective: float  # of the primal


def hard_tube(X, y, epsilon):
    """The flattest tube that holds all samples: min 1/2 ||w||^2 subject to |y_i - f_i| <= epsilon.

    Returns: a `Tube`. Raises: `optimization.InfeasibleError` if no such tube holds all samples.

    >>> hard_tube(np.array([[0.0], [4.0]]), np.array([0.0, 6.0]), epsilon=1.0).w.round(9)
    array([1.])

    Errata: svr-03 (ISML prints f_i - y_i <= epsilon alone, which w = 0 with a very low b meets).
    """
    X, y = floats(X, y)
    n, d = X.shape
    P = np.diag(np.append(np.ones(d), 0.0))  # 1/2 ||w||^2, for the variables (w, b)
    A = np.column_stack([X, np.ones(n)])  # A (w, b) = f
    h = np.concatenate([y - epsilon, -y - epsilon])
    qp = solve_qp(P, np.zeros(d + 1), G=np.vstack([A, -A]), h=h)
    return Tube(qp.x[:d], float(qp.x[d]), np.zeros((2, n)), qp.lam.reshape(2, n), qp.objective)


def narrowest_tube(X, y):
    """epsilon_0 = min over w, b of max_i |y_i - w^T x_i - b|: Chebyshev's fit, a linear program.

    Returns: w, b, epsilon_0.

    >>> round(narrowest_tube(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 0.0]))[2], 9)
    1.0
    """
    X, y = floats(X, y)
    n, d = X.shape
    A, ones = np.column_stack([X, np.ones(n)]), np.ones((n, 1))
    G = np.block([[A, ones], [-A, ones]])  # f + epsilon >= y and -f + epsilon >= -y
    q = np.append(np.zeros(d + 1), 1.0)  # epsilon, the last of the variables (w, b, epsilon)
    qp = solve_qp(np.zeros((d + 2, d + 2)), q, G=G, h=np.concatenate([y, -y]))
    return qp.x[:d], float(qp.x[d]), float(qp.x[d + 1])


# --- The soft tube ---------------------------------------------------------------------


def soft_tube(X, y, epsilon, C):
    """min over w, b, xi of 1/2 ||w||^2 + C sum_i (xi_i + xi_i') subject to

        y_i - f_i <= epsilon + xi_i,   f_i - y_i <= epsilon + xi_i',   xi_i, xi_i' >= 0 ,

    for C > 0. Returns: a `Tube`.

    >>> soft_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), 0.5, C=0.25).w.round(9)
    array([0.5])

    Errata: svr-25 (epsilon cannot be scaled to 1, as the margin of a classifier can).
    """
    X, y = floats(X, y)
    n, d = X.shape
    P = np.diag(np.concatenate([np.ones(d), np.zeros(1 + 2 * n)]))  # 1/2 ||w||^2
    costs = np.concatenate([np.zeros(d + 1), np.full(2 * n, C)])  # C sum_i (xi_i + xi_i')
    A = np.column_stack([X, np.ones(n)])  # A (w, b) = f
    sides = np.hstack([np.vstack([A, -A]), np.eye(2 * n)])  # f + xi and -f + xi'
    slacks = np.hstack([np.zeros((2 * n, d + 1)), np.eye(2 * n)])  # xi and xi'
    least = np.concatenate([y - epsilon, -y - epsilon, np.zeros(2 * n)])
    qp = solve_qp(P, costs, G=np.vstack([sides, slacks]), h=least)  # for (w, b, xi, xi')
    xi, alpha = qp.x[d + 1 :].reshape(2, n), qp.lam[: 2 * n].reshape(2, n)
    return Tube(qp.x[:d], float(qp.x[d]), xi, alpha, qp.objective)


def tube_lagrangian(X, y, w, b, xi, alpha, r, epsilon, C):
    """L = 1/2 ||w||^2 + C sum_i (xi_i + xi_i') + sum_i alpha_i (y_i - f_i - epsilon - xi_i)

        + sum_i alpha_i' (f_i - y_i - epsilon - xi_i') - sum_i (r_i xi_i + r_i' xi_i') .

    Its gradients in w, b and xi are w - sum_i beta_i x_i, -sum_i beta_i and C - alpha - r.

    >>> tube_lagrangian(np.array([[1.0]]), np.array([2.0]), np.array([0.5]), 0.0, np.zeros((2, 1)),
    ...                 alpha=np.array([[1.0], [0.0]]), r=np.zeros((2, 1)), epsilon=0.5, C=1.0)
    1.125
    """
    X, y, w, xi, alpha, r = floats(X, y, w, xi, alpha, r)
    z = y - decision(X, w, b)
    sides = np.array([z, -z]) - epsilon - xi  # <= 0 where the constraints hold
    return float(w @ w / 2 + np.sum(C * xi + alpha * sides - r * xi))


# --- The dual --------------------------------------------------------------------------


def beta_of(alpha):
    """beta = alpha[0] - alpha[1], the pulls of the samples: (n,).

    At the optimum beta_i = 0 inside the tube, and beta_i = C sign(y_i - f_i) outside. On the edge
    it is in between. Only samples on the edge or outside are support vectors.

    >>> beta_of(np.array([[1.0, 0.0], [0.0, 0.5]]))
    array([ 1. , -0.5])
    """
    above, below = floats(alpha)
    return above - below


def tube_dual(alpha, K, y, epsilon):
    """The dual function q(alpha), the least L over w, b and xi, for alpha in its box:

        q(alpha) = -1/2 beta^T K beta + sum_i y_i beta_i - epsilon sum_i (alpha_i + alpha_i')

    if sum_i beta_i = 0, else -inf.

    >>> tube_dual(np.eye(2), np.eye(2), np.array([2.0, -2.0]), epsilon=0.5)
    2.0

    Errata: svr-10 (MLN prints alpha_i + alpha_i' for a beta_i); svr-11 (ISML: + 1/2 beta^T K beta).
    """
    K, y, beta, size = *floats(K, y), beta_of(alpha), np.sum(alpha, dtype=float)
    value = float(y @ beta - beta @ (K @ beta) / 2 - epsilon * size)
    return value if abs(beta.sum()) <= ROUNDING * size else -inf


def evaluate(K, beta, b):
    """f(z) = sum_i beta_i k(z, x_i) + b, from the matrix K (m, n) of the k(z, x_i): (m,).

    Every free multiplier tells b: it is y_i - (K beta)_i - epsilon where 0 < alpha_i < C, and
    y_i - (K beta)_i + epsilon where 0 < alpha_i' < C. `svm.offsets` takes their mean.

    >>> evaluate(np.array([[2.0, -2.0]]), beta=np.array([0.75, -0.75]), b=1.0)
    array([4.])

    Errata: svr-14 (MLN prints + epsilon for both); svr-15 (MLN prints C / n for the bound).
    """
    K, beta = floats(K, beta)
    return K @ beta + b


# --- The dual as a svm.Dual ------------------------------------------------------------


def stacked_dual(y, epsilon, C=inf):
    """The dual of the soft tube as a `svm.Dual` in s = (alpha[0], -alpha[1]): max of

        sum_i (y_i - epsilon) alpha_i + sum_i (y_i + epsilon) (-alpha_i') - 1/2 beta^T K beta

    subject to 0 <= alpha_i, alpha_i' <= C and sum_i beta_i = 0. Its matrix is [[K, K], [K, K]].
    C = inf is the hard tube. C may be an array, with a bound per sample.

    >>> stacked_dual(np.array([2.0, -2.0]), epsilon=0.5, C=1.0).p
    array([ 1.5, -2.5,  2.5, -1.5])
    """
    y, n = floats(y), len(y)
    most, zeros = np.full(n, C, dtype=float), np.zeros(n)
    p = np.concatenate([y - epsilon, y + epsilon])
    lower, upper = np.concatenate([zeros, -most]), np.concatenate([most, zeros])
    one_group = np.ones((1, 2 * n), dtype=bool)
    return Dual(p, lower, upper, start=np.zeros(2 * n), groups=one_group)


# --- Squared slack ---------------------------------------------------------------------


def squared_tube(X, y, epsilon, C):
    """min over w, b, xi of 1/2 ||w||^2 + C/2 sum_i (xi_i^2 + xi_i'^2) subject to

        y_i - f_i <= epsilon + xi_i,   f_i - y_i <= epsilon + xi_i' .

    Its w and b minimise 1/2 ||w||^2 + C/2 sum_i loss(y_i, f_i)^2. At the optimum xi >= 0.
    Returns: a `Tube`.

    >>> squared_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), 0.5, C=1.0).w.round(9)
    array([1.])
    """
    X, y = floats(X, y)
    n, d = X.shape
    P = np.diag(np.concatenate([np.ones(d), [0.0], np.full(2 * n, C)]))  # for (w, b, xi, xi')
    A = np.column_stack([X, np.ones(n)])
    sides = np.hstack([np.vstack([A, -A]), np.eye(2 * n)])
    h = np.concatenate([y - epsilon, -y - epsilon])
    qp = solve_qp(P, np.zeros(d + 1 + 2 * n), G=sides, h=h)
    xi, alpha = qp.x[d + 1 :].reshape(2, n), qp.lam.reshape(2, n)
    return Tube(qp.x[:d], float(qp.x[d]), xi, alpha, qp.objective)


def squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C):
    """L = 1/2 ||w||^2 + C/2 sum_i (xi_i^2 + xi_i'^2) + sum_i alpha_i (y_i - f_i - epsilon - xi_i)

        + sum_i alpha_i' (f_i - y_i - epsilon - xi_i') .

    >>> squared_lagrangian(np.eye(2), np.ones(2), np.ones(2), 0.0, np.eye(2), np.eye(2), 0.5, C=1.0)
    -1.0

    Errata: svr-22 (ISML leaves out the derivative in b, and with it sum_i beta_i = 0).
    """
    without_cost = tube_lagrangian(X, y, w, b, xi, alpha, np.zeros_like(xi), epsilon, C=0.0)
    return without_cost + float(C * np.sum(floats(xi) ** 2) / 2)


def squared_tube_dual(beta, K, y, epsilon, C):
    """q(beta) = -1/2 beta^T (K + I / C) beta + sum_i y_i beta_i - epsilon sum_i |beta_i|

    if sum_i beta_i = 0, else -inf. It uses alpha_i alpha_i' = 0, which holds at the optimum. There
    every beta_i != 0 tells b = y_i - (K beta)_i - epsilon sign(beta_i) - beta_i / C.

    >>> squared_tube_dual(np.array([0.5, -0.5]), np.eye(2), np.array([2.0, -2.0]), 0.5, C=1.0)
    1.0
    """
    beta = floats(beta)
    alpha = np.maximum([beta, -beta], 0.0)
    return tube_dual(alpha, K + np.eye(len(beta)) / C, y, epsilon)


def without_tube(K, y, C):
    """The squared tube for epsilon = 0: kernel ridge regression with an offset, penalty 1 / C:

        [K + I/C  1] [beta]   [y]
        [1^T      0] [b   ] = [0] .

    Returns: beta, b.

    >>> without_tube(np.eye(2), np.array([3.0, -1.0]), C=1.0)
    (array([ 1., -1.]), 1.0)
    """
    one, mean = np.ones((len(y), 1)), y.mean()  # a large mean would cost b and beta digits
    system = np.block([[K + np.eye(len(y)) / C, one], [one.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y - mean, 0.0))
    return solution[:-1], float(solution[-1] + mean)


# --- The nu tube -----------------------------------------------------------------------


def best_epsilon(f, y, nu):
    """The least epsilon >= 0 that minimises nu epsilon + 1/n sum_i loss(y_i, f_i) for fixed f.

    At most nu n of the |y_i - f_i| are larger.

    >>> best_epsilon(np.zeros(5), np.array([1.0, -2.0, 3.0, -4.0, 5.0]), nu=0.4)
    3.0
    """
    f, y = floats(f, y)
    sizes = np.sort(np.abs(y - f))[::-1]  # the largest residual first
    outside = int(nu * len(y) * (1 + ROUNDING))  # so many may be larger
    return float(sizes[outside]) if outside < len(y) else 0.0


class NuTube(NamedTuple):
    """The solution of the primal problem of the nu tube."""

    w: np.ndarray  # (d,)
    b: float
    epsilon: float
    xi: np.ndarray  # (2, n)
    alpha: np.ndarray  # (2, n)
    objective: float


def nu_tube(X, y, nu, C):
    """min over w, b, epsilon, xi of 1/2 ||w||^2 + C (nu epsilon + 1/n sum_i (xi_i + xi_i'))

    subject to y_i - f_i <= epsilon + xi_i, f_i - y_i <= epsilon + xi_i', xi, epsilon >= 0. If
    epsilon > 0, then nu is at least the share of samples outside the tube and at most the share of
    support vectors. `soft_tube` with this epsilon and C / n has the same solution.
    Returns: a `NuTube`.

    >>> round(nu_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), nu=0.5, C=1.0).epsilon, 9)
    1.5
    """
    X, y = floats(X, y)
    n, d = X.shape
    P = np.diag(np.concatenate([np.ones(d), np.zeros(2 + 2 * n)]))  # for (w, b, epsilon, xi, xi')
    q = np.concatenate([np.zeros(d + 1), [C * nu], np.full(2 * n, C / n)])
    A = np.column_stack([X, np.ones(n)])
    sides = np.hstack([np.vstack([A, -A]), np.ones((2 * n, 1)), np.eye(2 * n)])
    positive = np.hstack([np.zeros((2 * n + 1, d + 1)), np.eye(2 * n + 1)])
    h = np.concatenate([y, -y, np.zeros(2 * n + 1)])
    qp = solve_qp(P, q, G=np.vstack([sides, positive]), h=h)
    xi, alpha = qp.x[d + 2 :].reshape(2, n), qp.lam[: 2 * n].reshape(2, n)
    epsilon = max(0.0, float(qp.x[d + 1]))
    return NuTube(qp.x[:d], float(qp.x[d]), epsilon, xi, alpha, qp.objective)


def stacked_nu_dual(y, nu, C, shares=None):
    """The dual of the nu tube as a `svm.Dual` in s = (alpha[0], -alpha[1]), a group for each side:

        max sum_i y_i beta_i - 1/2 beta^T K beta,   0 <= alpha_i, alpha_i' <= C / n,
        sum_i alpha_i = sum_i alpha_i' = C nu / 2 .

    The offsets of the groups are b + epsilon and b - epsilon. `shares` (n,) of sum 1 replace 1/n.

    >>> stacked_nu_dual(np.array([2.0, -2.0]), nu=0.5, C=1.0).start
    array([ 0.25,  0.  , -0.25, -0.  ])
    """
    n = len(y)
    most = C * (np.full(n, 1 / n) if shares is None else shares)
    alpha = fill(most, C * nu / 2)
    sides = np.repeat(np.eye(2, dtype=bool), n, axis=1)
    return stacked_dual(y, 0.0, most)._replace(start=np.concatenate([alpha, -alpha]), groups=sides)


# =======================================================================================
# The estimators
# =======================================================================================

# --- Solving to a tolerance ------------------------------------------------------------


class Stacked:
    """The matrix [[K, K], [K, K]] of `stacked_dual`, with only K or [K, K] in memory.

    K (n, n) is an array, or makes its rows as `svm.GramRows` does.

    >>> Stacked(np.array([[1.0, 2.0], [2.0, 5.0]]))[3]
    array([2., 5., 2., 5.])
    """

    def __init__(self, K):
        self.K, self.n = floats(K) if isinstance(K, np.ndarray) else K, len(K.diagonal())
        self.upper = np.hstack([self.K, self.K]) if isinstance(K, np.ndarray) else None

    def __getitem__(self, i):
        """Row i (2n,), or for an array of m indices their rows (m, 2n)."""
        if self.upper is not None:
            return self.upper[i % self.n]
        row = self.K[i % self.n]
        return np.concatenate([row, row], axis=-1)

    def __matmul__(self, beta):
        """K (beta_1 + beta_2), twice, of the halves of beta: (2n,)."""
        return np.tile(self.K @ (beta[: self.n] + beta[self.n :]), 2)

    def diagonal(self):
        """k(x_i, x_i), twice: (2n,)."""
        return np.tile(self.K.diagonal(), 2)


def solve_tube(K, y, epsilon, C=inf, tol=1e-3, max_iter=-1):
    """The optimum of `stacked_dual`, by `svm.solve`, to a violation of at most `tol`.

    K (n, n) is an array or `svm.GramRows`. There are at most `max_iter` steps; -1 stands for 10^7,
    or 200 n if that is more. Returns: a `svm.Solved`. Its beta is s; its certificate has one b.

    >>> solve_tube(np.eye(2), np.array([3.0, -1.0]), epsilon=0.5, C=2.0).beta
    array([ 1.5,  0. ,  0. , -1.5])
    """
    return solve(Stacked(K), stacked_dual(y, epsilon, C), tol, max_iter)


# --- Machines --------------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class _Tube(KernelMachine, Regressor):
    """A kernel machine for regression. Subclasses differ in `_solve`, which finds the multipliers.

    The dual sees targets and samples only up to a shift, because sum_i beta_i = 0. So it is solved
    for y - median y, which keeps the digits of targets that are far from 0.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) and optional weights (n,); return self."""
        self._check_parameters()
        samples = check_samples(X)
        y, weights = check_targets(y, len(samples)), check_weights(sample_weight, len(samples))
        used = np.flatnonzero(weights)  # a sample of weight 0 is absent
        how = self.kernel, self.gamma, self.degree, self.coef0
        kernel = make_kernel(*how, samples[used], weights[used] / weights.max())
        (A, mean), centre = about_mean(samples[used], kernel), np.median(y[used])
        K = kernel_matrix(A, kernel, self.cache_size, self._ridge(weights[used]))
        run, certificate = self._solve(K, y[used] - centre, weights[used])
        beta = run.state.beta.reshape(2, -1).sum(axis=0)
        b = certificate.offsets + (centre - weights_of(beta, A) @ mean)
        self.certificate_ = certificate._replace(offsets=b)
        self._record(run, "violation", self.tol)
        self._kernel, self.support_ = kernel, used[beta != 0].astype(np.int32)
        self.support_vectors_ = samples[self.support_]
        self.dual_coef_, self.intercept_ = beta[beta != 0][None], b.mean(keepdims=True)
        return self._remember(X)

    @property
    def n_support_(self):
        """The number of support vectors: (1,)."""
        self._require_fit()
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def coef_(self):
        """The weights w, (1, d), of a linear kernel."""
        self._check_linear()
        return weights_of(self.dual_coef_, self.support_vectors_)

    def predict(self, X):
        """f(x) = sum_i beta_i k(x_i, x) + b: (n,)."""
        X = self._check_fitted(X)
        if isinstance(self._kernel, Linear):
            return decision(X, self.coef_[0], self.intercept_[0])
        f = kernel_product(self._kernel, X, self.support_vectors_, self.dual_coef_[0])
        return f + self.intercept_[0]


@dataclass(eq=False, repr=False, kw_only=True)
class SVR(_Tube):
    """The soft tube with a kernel, by `solve_tube`: SMO on two multipliers per sample.

    It follows scikit-learn's SVR, with more kernels but no precomputed ones, and gamma "scale"
    counts the weights of samples.

    Parameters
    ----------
    C : float; cost of a unit of slack, finite
    epsilon : float; half the width of the tube, in units of y
    tol : float; the largest violation of the KKT conditions at the end, in units of y
    max_iter : int; steps, -1 for 10^7 or 200 n, whichever is more
    kernel, degree, gamma, coef0, cache_size : as in `svm.SVC`

    Attributes
    ----------
    support_ : ndarray of shape (s,); the places of the support vectors in X
    support_vectors_ : ndarray of shape (s, d)
    n_support_ : ndarray of shape (1,), a property; s
    dual_coef_ : ndarray of shape (1, s); their beta_i
    intercept_ : ndarray of shape (1,); b
    certificate_ : `svm.OptimalityBounds`; primal, dual, and the gap between
    history_ : ndarray of shape (n_iter_ + 1,); the dual objective after every step
    n_iter_ : int; steps
    converged_ : bool
    n_features_in_ : int

    >>> SVR(kernel="linear", epsilon=0.5).fit([[1.0], [-1.0]], [2.0, -2.0]).predict([[2.0]])
    array([3.])
    """

    C: float = 1.0
    epsilon: float = 0.1

    def _check_parameters(self):
        check_number("epsilon", self.epsilon, at_least=0, below=inf)
        check_number("C", self.C, above=0, below=inf)
        super()._check_parameters()

    def _solve(self, K, y, weights):
        return solve_tube(K, y, self.epsilon, self.C * weights, self.tol, self.max_iter)


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVR(_Tube):
    """The nu tube with a kernel, by `svm.solve`: nu takes the place of epsilon.

    As in scikit-learn C is the cost of a unit of slack; MLN's C in `nu_tube` is n times as large.
    No epsilon tells the scale of the targets here, so `tol` is in units of the median of those
    |y_i - median y| that are not 0.

    Parameters
    ----------
    nu : float; above 0, and at most 1; the larger, the narrower the tube: see `nu_tube`
    C : float; cost of a unit of slack, finite
    kernel, degree, gamma, coef0, tol, cache_size, max_iter : as in `SVR`

    Attributes
    ----------
    Those of `SVR`. `epsilon_` is a property: half the width of the tube that nu has chosen.

    >>> NuSVR(kernel="linear", nu=0.5, C=0.5).fit([[1.0], [-1.0]], [2.0, -2.0]).epsilon_
    1.5
    """

    nu: float = 0.5
    C: float = 1.0

    def _check_parameters(self):
        check_number("nu", self.nu, above=0)
        if self.nu > 1:
            raise ValueError(f"nu must be <= 1, since a share of the samples; got {self.nu!r}")
        check_number("C", self.C, above=0, below=inf)
        super()._check_parameters()

    def _solve(self, K, y, weights):
        unit = float(np.median(np.abs(y[y != 0]))) if y.any() else 1.0  # y has median 0
        total = weights.sum()
        dual = stacked_nu_dual(y, self.nu, self.C * total, weights / total)
        run, certificate = solve(Stacked(K), dual, self.tol * unit, self.max_iter)
        state = run.state._replace(violation=run.state.violation / unit)
        return run._replace(state=state), certificate

    @property
    def epsilon_(self):
        """Half the width of the tube that nu has chosen."""
        self._require_fit()
        above, below = self.certificate_.offsets
        return max(0.0, float(above - below) / 2)


@dataclass(eq=False, repr=False, kw_only=True)
class L2SVR(SVR):
    """The squared tube with a kernel, by `svm.solve`: the soft tube with K + I / C and no box.

    It minimises 1/2 ||w||^2 + C/2 sum_i loss(y_i, f_i)^2. For epsilon = 0 `without_tube` is faster.

    Parameters
    ----------
    C : float; twice the cost of a unit of squared slack, finite
    epsilon : float; half the width of the tube, in units of y
    kernel, degree, gamma, coef0, tol, cache_size, max_iter : as in `SVR`

    Attributes
    ----------
    Those of `SVR`.

    >>> L2SVR(kernel="linear", epsilon=0.5).fit([[1.0], [-1.0]], [2.0, -2.0]).dual_coef_
    array([[ 0.5, -0.5]])
    """

    def _ridge(self, weights):
        return 1 / (self.C * weights)

    def _solve(self, K, y, weights):
        C = self.C * weights
        worst = float(np.linalg.norm(np.sqrt(C) * insensitive_loss(0.0, y, self.epsilon)))
        most = 2 * np.sqrt(C) * (worst or 1.0)  # f = 0 costs worst^2 / 2, so sqrt(C) xi <= worst
        run, certificate = solve_tube(K, y, self.epsilon, most, self.tol, self.max_iter)
        beta = run.state.beta.reshape(2, -1).sum(axis=0)
        product = (y - self.epsilon) - run.state.gradient[: len(y)] - beta / C  # with K alone
        losses = insensitive_loss(product + certificate.offsets[0], y, self.epsilon)
        primal = float(beta @ product / 2 + C @ losses**2 / 2)
        return run, certificate._replace(primal=primal)
