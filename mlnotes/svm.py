"""Support vector machines: the hyperplane that keeps the largest distance from both classes.

A convex quadratic program finds it. Its dual has one multiplier per sample, most of them 0, and
sees inner products alone, for which a kernel can stand. Slack makes room for classes that overlap.

Contents
    Hyperplanes             project_on_hyperplane, signed_distance, canonical
    Separability            separate, HullsMeet
    Hard margin             hard_margin, Machine, hard_lagrangian, soft_margin_dual,
                            support_vectors, recover
    Soft margin             hinge, soft_margin, soft_lagrangian, soft_margin_kkt, SoftMarginKKT,
                            squared_slack_margin
    The primal              erm_objective, subgradient_descent, SubgradientState, primal_newton
    The nu machine          nu_margin, NuMachine
    The dual problem        Dual, c_dual, nu_dual, fill, solve_dual, DualSolution
    Offset and certificate  offset_intervals, offsets, certify, OptimalityBounds
    SMO                     smo, SMOState, violating_pair, state_at
    Chunking                chunking, chunk_dual
    Several classes         pair_votes
    Solving to a tolerance  solve, Solved, smo_with_newton, newton_on_free, newton_step, on_bounds,
                            until_hulls_meet
    Kernel matrices         about_mean, kernel_matrix, GramRows, weights_of
    Estimators              KernelMachine, SVC, NuSVC, L2SVC, LinearSVC

Symbols
    X      (n, d)    samples x_i, one per row
    y      (n,)      labels, -1 or +1
    w, b   (d,)      f(x) = w^T x + b, the hyperplane is f = 0; f (n,) the scores of the samples
    xi     (n,)      slack
    C      float     cost of a unit of slack; inf for the hard margin
    nu     float     parameter of the nu machine; rho is its margin before scaling
    alpha  (n,)      multipliers; Q_ij = y_i y_j x_i^T x_j
    K      (n, n)    Gram matrix x_i^T x_j or k(x_i, x_j): an array or `GramRows`
    beta   (n,)      signed multipliers, beta_i = alpha_i y_i, so that w = sum_i beta_i x_i
    p      (n,)      linear term of the dual; its gradient is g = p - K beta
    r      (n,)      multipliers of xi >= 0
    dual             a `Dual`: the problem in beta that all the machines share
    F      (m,)      the places of some multipliers, in ascending order

MLN, PRNN, REP and ISML add b; IRHD writes w^T x - b, so that its b is our -b. REP minimises
w^T w + C sum xi, so that its C is twice ours. scikit-learn's `SVC` has our C. Its `LinearSVC` has
no factor 1/2 before the squared slack, so that its C is half of ISML's; `NuSVC` has the box
[0, 1] for our [0, 1/n].

Notes: MLN "Optimal Hyperplane" to "v-SVM"; REP "Support Vector Machines", "Soft-Margin SVM";
PRNN 7 to 13; ISML "SVM"; IRHD 8.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, count
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    ROUNDING,
    Classifier,
    Estimator,
    LinearClassifier,
    Run,
    check_choice,
    check_flag,
    check_labels,
    check_number,
    check_samples,
    check_weights,
    floats,
    iterate,
    one_vs_rest,
    row_blocks,
    signs,
)
from mlnotes.kernels import FunctionKernel, Gaussian, Linear, make_kernel
from mlnotes.linear_regression import augment
from mlnotes.numerics import kernel_product, squared_norms, symmetric
from mlnotes.optimization import InfeasibleError, box, newton, solve_qp
from mlnotes.perceptron import decision

# =======================================================================================
# The lecture
# =======================================================================================

# --- Hyperplanes -----------------------------------------------------------------------


def project_on_hyperplane(X, w, b):
    """x_P = x - (f(x) / ||w||^2) w, the nearest point of the hyperplane for every sample: (n, d).

    >>> project_on_hyperplane(np.array([[5.0, 5.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([[2., 1.]])

    Errata: svm-03 (IRHD's proof names the triangle inequality; it takes Pythagoras).
    """
    X, w = floats(X, w)
    return X - np.multiply.outer(decision(X, w, b) / (w @ w), w)


def signed_distance(X, w, b):
    """delta = f(x) / ||w||, the distance from the hyperplane, negative on its negative side: (n,).

    >>> signed_distance(np.array([[0.0, 0.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([-2.])
    """
    return decision(X, w, b) / np.linalg.norm(floats(w))


def canonical(X, y, w, b):
    """(w, b) / min_i y_i f(x_i), after which y_i f(x_i) >= 1 with equality for some i.

    The geometric margin is then 1 / ||w||, and the slab |f| < 1 without samples is 2 / ||w|| wide.
    The result is NaN if (w, b) does not separate the classes.

    >>> canonical(np.array([[3.0], [1.0]]), np.array([1, -1]), w=np.array([4.0]), b=-8.0)
    (array([1.]), -2.0)

    Errata: svm-09 (PRNN has f < -1 for class -1); svm-13 (printed width: 1 / ||w||, 2 / ||w||^2).
    """
    smallest = float(np.min(signs(y) * decision(X, w, b)))
    scale = smallest if smallest > 0 else nan
    return w / scale, float(b / scale)


# --- Separability ----------------------------------------------------------------------


class HullsMeet(NamedTuple):
    """The proof that no hyperplane separates: a point in the convex hulls of both classes."""

    u: np.ndarray  # (n_+,), weights of the samples of class +1; they sum to 1
    v: np.ndarray  # (n_-,), weights of the samples of class -1, with the same mean


def separate(X, y):
    """The `hard_margin`, or if nothing separates the classes `HullsMeet` with X_+^T u = X_-^T v.

    >>> separate(np.array([[3.0], [1.0], [2.0]]), np.array([1, 1, -1]))
    HullsMeet(u=array([0.5, 0.5]), v=array([1.]))
    """
    try:
        return hard_margin(X, y)
    except InfeasibleError as error:
        u, v = error.certificate[y > 0], error.certificate[y < 0]
        return HullsMeet(u / u.sum(), v / v.sum())


# --- Hard margin -----------------------------------------------------------------------


class Machine(NamedTuple):
    """The solution of a primal problem, with the multipliers of its margins."""

    w: np.ndarray  # (d,)
    b: float
    xi: np.ndarray  # (n,), slack; 0 for a hard margin
    alpha: np.ndarray  # (n,)
    objective: float  # of the primal


def hard_margin(X, y):
    """The `Machine` of min 1/2 ||w||^2 subject to y_i (w^T x_i + b) >= 1 for all i.

    Its margin 1 / ||w|| is the largest.
    Raises: `optimization.InfeasibleError` if nothing separates the classes.

    >>> machine = hard_margin(np.array([[0.0, 0], [2, 0], [2, 2]]), np.array([-1, 1, 1]))
    >>> machine.w.round(9) + 0.0, round(machine.b, 9), round(machine.objective, 9)
    (array([1., 0.]), -1.0, 0.5)

    Errata: svm-16 (REP writes max 1 / ||w|| = min w^T w); svm-28 (unique are w and b, not alpha).
    """
    (n, d), y = X.shape, signs(y)
    P = np.diag([1.0] * d + [0.0])  # 1/2 ||w||^2, for the variables (w, b)
    margins = np.column_stack([y[:, None] * X, y])  # times (w, b): y_i f(x_i) >= 1
    qp = solve_qp(P, np.zeros(d + 1), G=margins, h=np.ones(n))
    return Machine(qp.x[:d], float(qp.x[d]), np.zeros(n), qp.lam, qp.objective)


def hard_lagrangian(X, y, w, b, alpha):
    """L(w, b, alpha) = 1/2 ||w||^2 - sum_i alpha_i [y_i (w^T x_i + b) - 1], alpha >= 0.

    >>> hard_lagrangian(np.array([[2.0]]), np.array([1]), np.array([3.0]), -1.0, np.array([0.5]))
    2.5

    Errata: svm-22 (the dual is the max over alpha of the min over w, b: IRHD prints min for both,
    ISML the max alone; PRNN assumes sum_i alpha_i y_i = 0, which follows).
    """
    return float(w @ w / 2 - alpha @ (signs(y) * decision(X, w, b) - 1))


def soft_margin_dual(alpha, K, y):
    """The dual function q(alpha), the least L over w and b: with Q = diag(y) K diag(y),

        q(alpha) = sum_i alpha_i - 1/2 alpha^T Q alpha   if sum_i alpha_i y_i = 0, else -inf .

    q(alpha) <= 1/2 ||w||^2 for every separator. With a box for alpha, it is that of a soft margin.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    >>> soft_margin_dual(np.array([0.5, 0.5]), X @ X.T, y)
    0.5
    """
    beta = alpha * signs(y)
    balanced = abs(beta.sum()) <= ROUNDING * np.abs(beta).sum()
    return float(alpha.sum() - beta @ (K @ beta) / 2) if balanced else -inf


def support_vectors(alpha):
    """S = {i: alpha_i > 0}, ascending: the samples that determine w.

    >>> support_vectors(np.array([0.0, 0.3, 0.3]))
    array([1, 2])

    Errata: svm-46 (PRNN and IRHD put every support vector of a soft margin on the margin); svm-28
    (a sample on the margin need not be a support vector).
    """
    return np.flatnonzero(alpha > 0)


def recover(X, y, alpha):
    """w = sum_{i in S} alpha_i y_i x_i and, for a hard margin, b: the mean of y_j - w^T x_j over S.

    >>> recover(np.array([[3.0], [1.0]]), np.array([1, -1]), np.array([0.5, 0.5]))
    (array([1.]), -2.0)
    """
    S, y = support_vectors(alpha), signs(y)
    w = (alpha[S] * y[S]) @ X[S]
    return w, float(np.mean(y[S] - X[S] @ w))


# --- Soft margin -----------------------------------------------------------------------


def hinge(f, y):
    """The slack xi_i = max(0, 1 - y_i f_i), the least xi_i >= 0 with y_i f_i >= 1 - xi_i: (n,).

    It is convex in f, at least the 0-1 loss, and has the subgradient -y where y f < 1, else 0.

    >>> hinge(np.array([2.0, 0.5, 0.0, -1.0]), np.array([1, 1, 1, 1]))
    array([0. , 0.5, 1. , 2. ])

    Errata: svm-85 (PRNN keeps the constraints after xi has gone, and has a stray label in l).
    """
    return np.maximum(0.0, 1 - signs(y) * f)


def soft_margin(X, y, C):
    """The `Machine` of min over w, b, xi of 1/2 ||w||^2 + C sum_i xi_i, C > 0, subject to

        y_i (w^T x_i + b) >= 1 - xi_i,   xi_i >= 0 .

    C = inf allows no slack and gives the `hard_margin`.

    >>> machine = soft_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> machine.w.round(9), machine.alpha.round(9), round(machine.objective, 9)
    (array([0.5]), array([0.25, 0.25]), 0.375)

    Errata: svm-35 (REP's C is twice ours); svm-36 (REP sets the slack to 0 for C = 0; it is free).
    """
    if C == inf:
        return hard_margin(X, y)
    (n, d), y = X.shape, signs(y)
    P = np.diag([1.0] * d + [0.0] * (1 + n))  # 1/2 ||w||^2, for the variables (w, b, xi)
    costs = np.array([0.0] * (d + 1) + [C] * n)  # C sum_i xi_i
    margins = np.column_stack([y[:, None] * X, y, np.eye(n)])  # y_i f(x_i) + xi_i >= 1
    slacks = np.column_stack([np.zeros((n, d + 1)), np.eye(n)])  # xi_i >= 0
    least = np.array([1.0] * n + [0.0] * n)
    qp = solve_qp(P, costs, G=np.vstack([margins, slacks]), h=least)
    return Machine(qp.x[:d], float(qp.x[d]), qp.x[d + 1 :], qp.lam[:n], qp.objective)


def soft_lagrangian(X, y, w, b, xi, alpha, r, C):
    """L = 1/2 ||w||^2 + C sum_i xi_i - sum_i alpha_i [y_i f_i - 1 + xi_i] - sum_i r_i xi_i .

    >>> soft_lagrangian(np.array([[2.0]]), np.array([1]), np.array([3.0]), -1.0,
    ...                 np.array([1.0]), alpha=np.array([0.5]), r=np.array([1.5]), C=2.0)
    2.5

    Errata: svm-40 (ISML prints -sum_i alpha_i for +sum_i alpha_i, PRNN no sign before the last
    sum); svm-42 (a positive C - alpha_i - r_i makes the infimum -inf as well).
    """
    return hard_lagrangian(X, y, w, b, alpha) + float((C - alpha - r) @ xi)


class SoftMarginKKT(NamedTuple):
    """The violation of each of the KKT conditions; all are 0 at the optimum, and only there."""

    weights: float  # max |w - sum_i alpha_i y_i x_i|
    balance: float  # |sum_i alpha_i y_i|
    margins: float  # max(1 - xi_i - y_i f_i, 0)
    slack: float  # max(-xi_i, 0)
    box: float  # max(-alpha_i, alpha_i - C, 0)
    on_the_margin: float  # max |alpha_i (y_i f_i - 1 + xi_i)|
    at_the_bound: float  # max |(C - alpha_i) xi_i|; the largest |xi_i| for C = inf


def soft_margin_kkt(X, y, w, b, xi, alpha, C=inf):
    """The `SoftMarginKKT` of the soft margin, numbers that should be 0, by the conditions

        w = sum_i alpha_i y_i x_i,  sum_i alpha_i y_i = 0,  alpha_i + r_i = C,  alpha_i, r_i >= 0,
        y_i f_i >= 1 - xi_i,  xi_i >= 0,  alpha_i (y_i f_i - 1 + xi_i) = 0,  r_i xi_i = 0 ,

    with r = C - alpha. C = inf stands for the hard margin, where xi = 0.

    >>> X, y, half = np.array([[1.0], [-1.0]]), np.array([1, -1]), np.array([0.5, 0.5])
    >>> max(soft_margin_kkt(X, y, np.array([0.5]), 0.0, xi=half, alpha=half / 2, C=0.25))
    np.float64(0.0)

    Errata: svm-47 (IRHD prints y_i f_i + 1 = 0 for a free multiplier); svm-45 (a sample with
    alpha_i = C may be on the right side, even on the margin).
    """
    y, xi, alpha = signs(y), *floats(xi, alpha)
    above = y * decision(X, w, b) - 1 + xi
    r = C - alpha if C < inf else np.ones(len(y))
    return SoftMarginKKT(
        weights=np.abs(w - X.T @ (alpha * y)).max(),
        balance=abs(alpha @ y),
        margins=np.maximum(-above, 0).max(),
        slack=np.maximum(-xi, 0).max(),
        box=np.maximum(-np.minimum(alpha, r), 0).max(),
        on_the_margin=np.abs(alpha * above).max(),
        at_the_bound=np.abs(r * xi).max(),
    )


def squared_slack_margin(X, y, C):
    """The `Machine` of min 1/2 ||w||^2 + C/2 sum_i xi_i^2 subject to y_i f_i >= 1 - xi_i, C > 0.

    At the optimum xi = alpha / C >= 0. The dual is that of the hard margin with K + I / C. Its
    alpha is unique and has no upper bound. C = inf allows no slack.

    >>> machine = squared_slack_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.5)
    >>> machine.w.round(9), machine.xi.round(9), machine.alpha.round(9)
    (array([0.5]), array([0.5, 0.5]), array([0.25, 0.25]))

    Errata: svm-60 (ISML loses labels and squares when it substitutes).
    """
    if C == inf:
        return hard_margin(X, y)
    (n, d), y = X.shape, signs(y)
    P = np.diag([1.0] * d + [0.0] + [C] * n)  # for (w, b, xi)
    margins = np.column_stack([y[:, None] * X, y, np.eye(n)])
    qp = solve_qp(P, np.zeros(d + 1 + n), G=margins, h=np.ones(n))
    return Machine(qp.x[:d], float(qp.x[d]), qp.x[d + 1 :], qp.lam, qp.objective)


# --- The primal ------------------------------------------------------------------------


def erm_objective(X, y, w, b, C):
    """1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i): n C times the risk with lambda = 1 / (n C).

    >>> erm_objective(np.array([[1.0], [-1.0]]), np.array([1, -1]), np.array([0.5]), 0.0, C=0.25)
    0.375

    Errata: svm-56 (PRNN prints the sum for the mean; the same C then regularises less as n grows).
    """
    return float(w @ w / 2 + np.sum(C * hinge(decision(X, w, b), y)))


class SubgradientState(NamedTuple):
    """The state of subgradient descent after a step."""

    w: np.ndarray  # (d,)
    b: float
    objective: float  # it may rise
    best: float  # the least objective so far
    moved: float  # the length of the last step; inf at the start


def subgradient_descent(X, y, C):
    """Descent on `erm_objective` along subgradients, with the size 1 / step at step 1, 2, ...:

        w <- w - (w - C sum_in y_i x_i) / step,   b <- b + C sum_in y_i / step ,

    where sum_in runs over the samples with y_i f_i < 1.
    Yields: a `SubgradientState`, the start w = 0, b = 0 included.

    >>> states = subgradient_descent(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> [next(states).objective for _ in range(2)]
    [0.5, 0.375]
    """
    w, b, best, moved = np.zeros(X.shape[1]), 0.0, inf, inf
    for step in count(1):
        objective = erm_objective(X, y, w, b, C)
        best = min(best, objective)
        yield SubgradientState(w, b, objective, best, moved)
        inside = y * decision(X, w, b) < 1  # the samples that pay hinge loss
        slope_w = w - C * y[inside] @ X[inside]
        slope_b = -C * float(y[inside].sum())
        w, b = w - slope_w / step, b - slope_b / step
        moved = float(np.hypot(np.linalg.norm(slope_w), slope_b)) / step


def primal_newton(A, y, C, penalty):
    """Newton's method on the squared hinge loss, in the primal:

        F(theta) = 1/2 sum_j penalty_j theta_j^2 + sum_i C_i max(0, 1 - y_i theta^T a_i)^2 .

    A (n, m) holds the samples, with a column of ones for b, whose penalty is 0, and C (n,) their
    costs. Yields: an `optimization.NewtonState`, the start theta = 0 included.

    >>> A, y = np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([-1.0, 1.0])
    >>> *_, last = primal_newton(A, y, np.full(2, 0.25), np.array([0.0, 1.0]))
    >>> last.x, last.objective
    (array([0. , 0.5]), 0.25)
    """

    def objective(theta):
        return float(penalty @ theta**2 / 2 + C @ hinge(A @ theta, y) ** 2)

    def gradient(theta):
        return penalty * theta - 2 * A.T @ (C * y * hinge(A @ theta, y))

    def hessian(theta):
        inside = y * (A @ theta) < 1
        return np.diag(penalty) + 2 * (A[inside].T * C[inside]) @ A[inside]

    return newton(objective, gradient, hessian, np.zeros(A.shape[1]))


# --- The nu machine --------------------------------------------------------------------


class NuMachine(NamedTuple):
    """The solution of the primal problem of the nu machine."""

    w: np.ndarray  # (d,)
    b: float
    rho: float  # y_i f_i >= rho - xi_i; >= 0
    xi: np.ndarray  # (n,)
    alpha: np.ndarray  # (n,), of the margins; their sum is nu
    objective: float


def nu_margin(X, y, nu):
    """The `NuMachine` of min over w, b, rho, xi of 1/2 ||w||^2 - nu rho + 1/n sum_i xi_i subject to

        y_i (w^T x_i + b) >= rho - xi_i,   xi_i >= 0 .

    If rho > 0, then nu is at least the share of samples with xi_i > 0 and at most the share of
    support vectors. Divided by rho, the solution is that of `soft_margin` with C = 1 / (rho n).
    Raises: `optimization.UnboundedError` if nu > 2 min(n_+, n_-) / n.

    >>> machine = nu_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), nu=0.5)
    >>> machine.w.round(9), round(machine.rho, 9), round(machine.objective, 9)
    (array([0.5]), 0.5, -0.125)

    Errata: svm-77 (MLN's "upper bounded on the fractions" reads backwards); svm-79 (MLN prints "the
    same solution", but w is divided by rho); svm-80 (MLN has b outside the bracket of y_i).
    """
    (n, d), y = X.shape, signs(y)
    P = np.diag([1.0] * d + [0.0] * (2 + n))  # 1/2 ||w||^2, for the variables (w, b, rho, xi)
    q = np.array([0.0] * (d + 1) + [-nu] + [1 / n] * n)  # -nu rho + 1/n sum_i xi_i
    margins = np.column_stack([y[:, None] * X, y, -np.ones(n), np.eye(n)])
    slacks = np.column_stack([np.zeros((n, d + 2)), np.eye(n)])
    qp = solve_qp(P, q, G=np.vstack([margins, slacks]), h=np.zeros(2 * n))
    w, b, rho, xi = qp.x[:d], float(qp.x[d]), float(qp.x[d + 1]), qp.x[d + 2 :]
    return NuMachine(w, b, rho, xi, qp.lam[:n], qp.objective)


# --- The dual problem ------------------------------------------------------------------


class Dual(NamedTuple):
    """max over beta of p^T beta - 1/2 beta^T K beta subject to lower <= beta <= upper.

    The sum of beta over each group must stay what it is at the start.
    """

    p: np.ndarray  # (n,)
    lower: np.ndarray  # (n,)
    upper: np.ndarray  # (n,)
    start: np.ndarray  # (n,), a feasible beta
    groups: np.ndarray  # (groups, n), True for the multipliers of each group

    def free(self, beta):
        """Which multipliers are strictly inside their box: (n,)."""
        return (beta > self.lower) & (beta < self.upper)


def c_dual(y, C=inf):
    """The `Dual` of the soft margin, in beta_i = alpha_i y_i: p = y and one group of sum 0,

        max y^T beta - 1/2 beta^T K beta,   0 <= y_i beta_i <= C,   sum_i beta_i = 0 .

    C = inf gives the hard margin. C may be an array, with a bound per sample.

    >>> c_dual(np.array([1.0, -1.0]), C=2.0)[1:3]
    (array([ 0., -2.]), array([2., 0.]))

    Errata: svm-43 (PRNN prints the box without the sum: the dual of a machine without b).
    """
    y, one_group = signs(y), np.ones((1, len(y)), dtype=bool)
    return Dual(y, np.minimum(y * C, 0), np.maximum(y * C, 0), np.zeros(len(y)), one_group)


def nu_dual(y, nu, shares=None):
    """The `Dual` of the nu machine, in beta_i = alpha_i y_i: p = 0 and a group for each class,

        max -1/2 beta^T K beta,   0 <= alpha_i <= 1/n,   sum_i alpha_i = nu/2 in both classes .

    `shares` (n,) of sum 1 replace 1/n. A nu > 2 min(n_+, n_-) / n has no feasible alpha.

    >>> nu_dual(np.array([1.0, 1.0, -1.0, -1.0]), nu=0.75).start
    array([ 0.25 ,  0.125, -0.25 , -0.125])
    """
    y, n = signs(y), len(y)
    most = np.full(n, 1 / n) if shares is None else shares
    groups = np.array([y > 0, y < 0])
    start = y * sum(fill(group * most, nu / 2) for group in groups)
    return Dual(np.zeros(n), np.minimum(y * most, 0), np.maximum(y * most, 0), start, groups)


def fill(most, total):
    """Numbers from 0 to `most` (n,) with this sum, the first ones as large as possible: (n,).

    >>> fill(np.array([2.0, 2.0, 2.0, 2.0]), total=5.0)
    array([2., 2., 1., 0.])
    """
    return np.clip(total - (np.cumsum(most) - most), 0.0, most)


class DualSolution(NamedTuple):
    """The solution of a `Dual` by the general solver."""

    beta: np.ndarray  # (n,)
    objective: float


def solve_dual(K, dual):
    """The `DualSolution` of a `Dual` by `optimization.solve_qp`, for an array K and small n.

    Raises: `optimization.UnboundedError` if C = inf and the hulls meet.

    >>> solve_dual(np.eye(2), c_dual(np.array([1.0, -1.0]))).beta.round(9)
    array([ 1., -1.])
    """
    A, (G, h) = dual.groups.astype(float), box(dual.lower, dual.upper)
    finite = np.isfinite(h)
    qp = solve_qp(np.asarray(K, float), -dual.p, A, A @ dual.start, G[finite], h[finite])
    return DualSolution(qp.x, -qp.objective)


# --- Offset and certificate ------------------------------------------------------------


def offset_intervals(gradient, dual, beta):
    """The offsets b that the KKT conditions allow for each group, from g = p - K beta: (groups, 2).

        max {g_i: beta_i < upper_i} <= b <= min {g_i: beta_i > lower_i} .

    A free multiplier makes the interval one point. If the left end exceeds the right one, beta is
    not optimal.

    >>> y = np.array([1.0, -1.0])
    >>> offset_intervals(y, c_dual(y), beta=np.zeros(2))  # g = y for beta = 0
    array([[ 1., -1.]])
    """
    low = np.where(dual.groups & (beta < dual.upper), gradient, -inf)
    high = np.where(dual.groups & (beta > dual.lower), gradient, inf)
    return np.column_stack([low.max(axis=1), high.min(axis=1)])


def offsets(gradient, dual, beta):
    """b of each group, the mean of g = p - K beta over its free multipliers: (groups,).

    A group without a free one gets the middle of its `offset_intervals`, the only finite end, or 0.

    >>> X, y = np.array([[3.0], [1.0]]), np.array([1.0, -1.0])
    >>> offsets(y - X @ X.T @ (0.5 * y), c_dual(y), 0.5 * y)
    array([-2.])

    Errata: svm-49 (ISML and IRHD average the support vectors at the bound, too).
    """
    b = []
    for group, ends in zip(dual.groups, offset_intervals(gradient, dual, beta), strict=True):
        free = group & dual.free(beta)
        terms = gradient[free] if free.any() else ends[np.isfinite(ends)]
        b.append(terms.mean() if len(terms) else 0.0)
    return np.array(b)


class OptimalityBounds(NamedTuple):
    """The proof that a beta is good: two bounds with the optimum between them."""

    dual: float  # the objective of beta
    primal: float  # that of w = sum_i beta_i phi(x_i) with the `offsets`
    violation: float  # by how much a left end exceeds its right one in `offset_intervals`; >= 0
    offsets: np.ndarray  # (groups,)
    gap = property(lambda self: self.primal - self.dual, doc="primal - dual, and 0 at the optimum.")


def certify(K, dual, beta):
    """The `OptimalityBounds` of a feasible beta: the optimum of the dual lies between them.

    For any offset b of each group, with s the sum of the group and l, u for lower and upper,

        1/2 beta^T K beta + sum_i max(u_i (g_i - b), l_i (g_i - b)) + sum b s

    bounds the dual from above if K is positive semidefinite. For the soft margin it is the primal.

    >>> certify(np.eye(2), c_dual(np.array([1.0, -1.0])), np.array([1.0, -1.0]))[:3]
    (1.0, 1.0, 0.0)
    """
    beta = floats(beta)
    g = dual.p - K @ beta
    b, (low, high) = offsets(g, dual, beta), offset_intervals(g, dual, beta).T
    above = g - b @ dual.groups
    bound = np.where(above > 0, dual.upper, dual.lower)[above != 0]  # which may be infinite
    quadratic = float(beta @ (dual.p - g) / 2)
    primal = quadratic + float(bound @ above[above != 0] + b @ (dual.groups @ dual.start))
    value = float(dual.p @ beta) - quadratic
    return OptimalityBounds(value, primal, max(float((low - high).max()), 0.0), b)


# --- SMO -------------------------------------------------------------------------------


class SMOState(NamedTuple):
    """The state of SMO after a step."""

    beta: np.ndarray  # (n,)
    gradient: np.ndarray  # (n,), p - K beta
    pair: tuple  # the multipliers that the last step moved; () at the start
    objective: float  # of the dual; it never falls
    violation: float  # of the worst pair: g_i - g_j, where beta_i may rise and beta_j fall


def violating_pair(g, dual, beta):
    """The pair of a group that violates the KKT conditions most: g_i - g_j, i and j.

    Of those of the group that may rise i has the largest g_i, and of those that may fall j has the
    smallest g_j. Nothing can be gained if g_i - g_j is not above 0.

    >>> y = np.array([1.0, -1.0])
    >>> violating_pair(y, c_dual(y), beta=np.zeros(2))  # g = y for beta = 0
    (2.0, 0, 1)
    """
    rising = np.where(dual.groups & (beta < dual.upper), g, -inf)
    falling = np.where(dual.groups & (beta > dual.lower), g, inf)
    pairs = []
    for up, down in zip(rising, falling, strict=True):  # one for each group
        i, j = int(up.argmax()), int(down.argmin())
        pairs.append((float(up[i] - down[j]), i, j))
    return max(pairs)


def state_at(K, dual, beta, pair=()):
    """The `SMOState` of a feasible beta (n,), computed afresh; the step moved the `pair`.

    >>> state_at(np.eye(2), c_dual(np.array([1.0, -1.0])), np.zeros(2)).violation
    2.0
    """
    beta = floats(beta)
    g = dual.p - K @ beta
    return SMOState(beta, g, pair, float(beta @ (dual.p + g) / 2), violating_pair(g, dual, beta)[0])


def smo(K, dual, start=None):
    """Sequential minimal optimisation: the best step on two multipliers at a time.

    Moving to beta_i + t and beta_j - t changes the objective by t (g_i - g_j) - t^2 eta / 2, with
    eta = K_ii + K_jj - 2 K_ij. It is largest at t = (g_i - g_j) / eta, clipped where either
    multiplier meets its bound. `start` is a state from which to go on.
    Yields: `SMOState`, the start included. It ends at an optimum, where rounding hides a step, and
    where a step has no end because nothing separates the classes.

    >>> [state.beta.tolist() for state in smo(np.eye(2), c_dual(np.array([1.0, -1.0])))]
    [[0.0, 0.0], [1.0, -1.0]]
    """
    beta, g, pair, objective, _ = start or state_at(K, dual, dual.start)
    while True:
        violation, i, j = violating_pair(g, dual, beta)
        yield SMOState(beta, g, pair, objective, violation)
        K_i, K_j = np.asarray(K[i], float), np.asarray(K[j], float)
        eta = float(K_i[i] + K_j[j] - 2 * K_i[j])
        up, down = dual.upper[i] - beta[i], beta[j] - dual.lower[j]  # the room of both
        t = min(violation / eta if eta > 0 else inf, up, down)
        if violation <= 0 or t == inf:
            return
        pair, before, beta = (i, j), beta, beta.copy()
        beta[i] = dual.upper[i] if t == up else beta[i] + t
        beta[j] = dual.lower[j] if t == down else beta[j] - t
        if beta[i] == before[i] and beta[j] == before[j]:
            return
        objective += float(t * (violation - t * eta / 2))
        g = g - t * (K_i - K_j)


# --- Chunking --------------------------------------------------------------------------


def chunk_dual(K, dual, state, F):
    """K_FF (m, m) and the `Dual` of the multipliers F (m,) alone, the others as in `state`.

    >>> K, dual = np.eye(2), c_dual(np.array([1.0, -1.0]))
    >>> chunk_dual(K, dual, state_at(K, dual, dual.start), np.array([1]))[1].p
    array([-1.])
    """
    (K_FF, beta), groups = floats(K[F][:, F], state.beta[F]), dual.groups[:, F]
    p = state.gradient[F] + K_FF @ beta
    return K_FF, Dual(p, dual.lower[F], dual.upper[F], beta, groups[groups.any(axis=1)])


def chunking(K, dual, size, *, rng):
    """Again and again the optimum over a random chunk of `size` multipliers, the others fixed.

    Yields: `SMOState`; its pair holds the chunk.

    >>> dual, rng = c_dual(np.array([1.0, -1.0]), C=2.0), np.random.default_rng(0)
    >>> states = chunking(np.eye(2), dual, size=2, rng=rng)
    >>> [round(next(states).objective, 9) for _ in range(2)]
    [0.0, 1.0]
    """
    state = state_at(K, dual, dual.start)
    while True:
        yield state
        F = np.sort(rng.choice(len(dual.p), size, replace=False))
        K_FF, part = chunk_dual(K, dual, state, F)
        beta = state.beta.copy()
        beta[F] = np.clip(solve_dual(K_FF, part).beta, part.lower, part.upper)
        state = state_at(K, dual, beta, tuple(F.tolist()))


# --- Several classes -------------------------------------------------------------------


def pair_votes(scores, classes):
    """One against one: how many of the machines of two classes vote for each class: (n, classes).

    `scores` (n, pairs), of the pairs (0, 1), (0, 2), ..., (1, 2), ... of so many `classes`, are
    positive for the first class of a pair.

    >>> pair_votes(np.array([[-1.0, 2.0, 3.0]]), classes=3)
    array([[1., 2., 0.]])
    """
    votes = np.zeros((len(scores), classes))
    for f, (first, second) in zip(scores.T, combinations(range(classes), 2), strict=True):
        votes[:, first] += f >= 0
        votes[:, second] += f < 0
    return votes


# =======================================================================================
# The estimators
# =======================================================================================

# --- Solving to a tolerance ------------------------------------------------------------


def on_bounds(dual, beta):
    """beta (n,) with those multipliers exactly on a bound that only rounding keeps from it.

    >>> on_bounds(c_dual(np.array([1.0, -1.0]), C=2.0), np.array([1.0, -2.0 + 1e-15]))
    array([ 1., -2.])
    """
    near = ROUNDING * np.abs(beta).max(initial=0.0)
    beta = np.where(beta <= dual.lower + near, dual.lower, beta)
    return np.where(beta >= dual.upper - near, dual.upper, beta)


DAMPING = 1e-9  # of the largest entry of K: more samples than features make K_FF singular


def newton_step(K, dual, beta):
    """beta (n,) after Newton's step on its free multipliers F, cut at the first bound they meet.

    Over the free multipliers the objective is largest at beta_F + v:

        [K_FF   ones^T] [v]   [g_F]
        [ones   0     ] [b] = [ 0 ],   ones the rows that sum the groups.

    >>> newton_step(np.eye(2), c_dual(np.array([1.0, -1.0])), np.array([0.1, -0.1])).round(6)
    array([ 1., -1.])
    """
    F = np.flatnonzero(dual.free(beta))
    g, K_FF, ones = (dual.p - K @ beta)[F], K[F][:, F], dual.groups[:, F]
    ones = ones[ones.any(axis=1)]  # a row for each group that F has a part in
    damped = K_FF + DAMPING * (np.abs(K_FF).max(initial=0.0) or 1.0) * np.eye(len(F))
    H = np.block([[damped, ones.T], [ones, np.zeros((len(ones), len(ones)))]])
    v = np.linalg.solve(H, np.append(g, np.zeros(len(ones))))[: len(F)]
    v -= (ones @ v / ones.sum(axis=1)) @ ones  # the sums stay, whatever rounding did
    slope, curvature = g @ v, v @ K_FF @ v
    if not slope > 0:
        return beta
    room = np.where(v > 0, dual.upper[F], dual.lower[F]) - beta[F]
    best = slope / max(curvature, DAMPING * slope)  # 1, or more along a flat direction
    after, t = beta.copy(), np.min(room[v != 0] / v[v != 0], initial=best)
    after[F] += t * v
    return on_bounds(dual, after)


def newton_on_free(K, dual, state, most):
    """The `SMOState` after Newton's steps on `most` free multipliers until none meets a bound.

    They are evenly spread over the free ones of `state`. The violation is inf, not computed.

    >>> K, dual = np.eye(2), c_dual(np.array([1.0, -1.0]))
    >>> newton_on_free(K, dual, state_at(K, dual, 0.1 * dual.p), most=9).beta.round(6)
    array([ 1., -1.])
    """
    F = np.flatnonzero(dual.free(state.beta))
    F = F[np.linspace(0, len(F) - 1, min(most, len(F))).astype(int)]
    K_FF, part = chunk_dual(K, dual, state, F)
    new, free, before = part.start, len(F), inf
    while 0 < free < before:
        new, before = newton_step(K_FF, part, new), free
        free = np.count_nonzero(part.free(new))
    beta, change = state.beta.copy(), new - part.start
    beta[F], gradient = new, state.gradient - change @ K[F]
    rise = change @ (state.gradient[F] + gradient[F]) / 2
    return SMOState(beta, gradient, tuple(F.tolist()), float(state.objective + rise), inf)


def smo_with_newton(K, dual, start=None):
    """`smo`, with `newton_on_free` after every 128 steps, first on 50 multipliers.

    While no free multiplier meets a bound any more, the next call is on twice as many, up to 800.
    Yields: `SMOState`, the start included. It ends where `smo` does.

    >>> [state.objective for state in smo_with_newton(np.eye(2), c_dual(np.array([1.0, -1.0])))]
    [0.0, 1.0]
    """
    most = few = 50
    while True:
        for step, state in enumerate(smo(K, dual, start)):
            yield state
            if step == 128:
                break
        if step < 128:
            return
        start = newton_on_free(K, dual, state, most)
        free = [np.count_nonzero(dual.free(each.beta)) for each in (state, start)]
        most = min(2 * most, 800) if free[0] == free[1] else few


class Solved(NamedTuple):
    """The end of `solve`."""

    run: Run  # the violation of its last state is that of the certificate
    certificate: OptimalityBounds
    beta = property(lambda self: self.run.state.beta, doc="The multipliers: (n,).")


def solve(K, dual, tol, max_iter):
    """`Solved`: the optimum of a `Dual` by `smo_with_newton`, to a violation of at most `tol`.

    Where the certificate disagrees, the run goes on from a state computed afresh. It has converged
    if the violation of the certificate is at most `tol`. It ends after `max_iter` steps; -1 stands
    for 10^7, or 100 n if that is more. C = inf also ends it where nothing separates the classes.

    >>> solution = solve(np.eye(2), c_dual(np.array([1.0, -1.0])), tol=1e-3, max_iter=-1)
    >>> solution.beta, solution.certificate.gap, solution.run.converged
    (array([ 1., -1.]), 0.0, True)
    """
    left = max(10**7, 100 * len(dual.p)) if max_iter == -1 else max_iter
    beta, history, violation = dual.start, np.zeros(0), inf
    while True:
        start = state_at(K, dual, beta)
        states = until_hulls_meet(smo_with_newton(K, dual, start), K, dual)
        run = iterate(states, "violation", tol, left)
        beta, left = on_bounds(dual, run.state.beta), left - run.n_iter
        certificate, before = certify(K, dual, beta), violation
        violation = certificate.violation
        history = np.concatenate([history[:-1], run.history[:-1], [certificate.dual]])
        if violation <= tol or run.n_iter == 0 or left == 0 or violation >= before:
            state = SMOState(beta, *run.state[1:3], certificate.dual, violation)
            reason = "nothing separates the classes" if certificate.primal == inf else run.reason
            done = Run(state, history, len(history) - 1, violation <= tol, reason)
            return Solved(done, certificate)


def until_hulls_meet(states, K, dual):
    """The `states` of SMO; if a multiplier has no upper bound, only until the convex hulls meet.

    alpha / (sum_i alpha_i / 2) holds the weights of a point in each hull, and their distance is
    ||w|| / (sum_i alpha_i / 2). Hulls count as meeting at 1e-6 of the spread of the samples.
    Yields: the `states`.

    >>> X, dual = np.array([[0.0], [2.0], [1.0]]), c_dual(np.array([1.0, 1.0, -1.0]))
    >>> len(list(until_hulls_meet(smo(X @ X.T, dual), X @ X.T, dual)))
    3
    """
    unbounded, spread = np.isinf(dual.upper - dual.lower).any(), sqrt(np.abs(K.diagonal()).max())
    for state in states:
        yield state
        if unbounded:
            length = sqrt(max(2 * (dual.p @ state.beta - state.objective), 0.0))  # ||w||
            half = np.abs(state.beta).sum() / 2
            if half > 0 and length <= 1e-6 * spread * half:
                return


# --- Kernel matrices -------------------------------------------------------------------

SMALL = 64  # samples whose Gram matrix is computed for its diagonal
EXPONENT = 1e3  # norms decide exponents up to this size with an error below 1e-12


def about_mean(X, kernel):
    """X - mean and the mean (d,) for the `kernels.Linear` kernel; X (n, d) and 0 for the others.

    Far from the origin the products x_i^T x_j lose digits; another origin changes b alone.

    >>> about_mean(np.array([[5.0, 7.0]]), Linear())
    (array([[0., 0.]]), array([5., 7.]))
    """
    mean = X.mean(axis=0) if isinstance(kernel, Linear) else np.zeros(X.shape[1])
    return X - mean, mean


def kernel_matrix(X, kernel, megabytes, ridge=0.0):
    """The Gram matrix of X: an array if it fits into so many `megabytes`, else `GramRows`.

    `kernel` is a `kernels.Kernel`, and `ridge`, a number or (n,), is added to the diagonal.
    Raises: ValueError if k(x, z) overflows, or the array of a function k(X, Z) is not symmetric.

    >>> kernel_matrix(np.array([[2.0]]), Linear(), megabytes=1, ridge=0.5)
    array([[4.5]])
    """
    capacity = int(megabytes * 2**20 / (8 * len(X)))  # rows
    if capacity < len(X):
        K = GramRows(X, kernel, capacity, ridge)
    else:
        K = symmetric(kernel(X)) if isinstance(kernel, FunctionKernel) else kernel(X)
        K[np.diag_indices(len(X))] += ridge
    if not np.isfinite(K.diagonal()).all():  # and k(x, z)^2 <= k(x, x) k(z, z)
        raise ValueError("K must be finite; k(x, z) overflows: scale the features of X")
    return K


class GramRows:
    """The Gram matrix of X; only the `capacity` rows used last, at least two, are in memory.

    `kernel` is a function k(X, Z), and `ridge` is added to the diagonal. The rows of a Gaussian
    kernel come from norms computed once, 12 times as fast for d = 784.

    >>> K = GramRows(np.array([[1.0], [2.0]]), lambda X, Z: X @ Z.T, capacity=1)
    >>> K[1], K.diagonal(), K @ np.array([1.0, 1.0])
    (array([2., 4.]), array([1., 4.]), array([3., 6.]))
    """

    def __init__(self, X, kernel, capacity, ridge=0.0):
        self.X, self.kernel, self.ridge = X, kernel, ridge
        self.capacity, self.rows = max(2, capacity), {}  # first the row unused for longest
        self.centred = X - X.mean(axis=0)
        self.norms = squared_norms(self.centred)
        gaussian = isinstance(kernel, Gaussian)
        self.by_norms = gaussian and 2 * kernel.gamma * self.norms.max() <= EXPONENT
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
                row = np.exp(-self.kernel.gamma * np.maximum(D, 0.0))
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


def weights_of(beta, X):
    """w = sum_i beta_i x_i, (d,) or (k, d), for X (s, d) and beta (s,) or (k, s) of sum 0.

    The differences from one sample keep their digits far from the origin.

    >>> weights_of(np.array([0.5, -0.5]), np.array([[3.0], [1.0]]))
    array([1.])
    """
    X = floats(X)
    return beta @ (X - X[:1])


# --- Kernel machines -------------------------------------------------------------------


@dataclass(eq=False, repr=False, kw_only=True)
class KernelMachine(Estimator):
    """The hyperparameters that all kernel machines share, for classes and for targets."""

    kernel: str | Callable = "rbf"
    degree: int = 3
    gamma: float | str | None = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    cache_size: float = 800
    max_iter: int = -1

    def _check_parameters(self):
        check_number("tol", self.tol, above=0)
        check_number("cache_size", self.cache_size, above=0)
        if self.max_iter != -1:
            check_number("max_iter", self.max_iter, at_least=1, integer=True)

    def _ridge(self, weights):
        return 0.0  # what is added to the diagonal of K: 1 / C_i for squared slack

    def _check_linear(self):
        self._require_fit()
        if not isinstance(self._kernel, Linear):
            raise AttributeError("coef_ must have kernel='linear'; other kernels have no such w")


@dataclass(eq=False, repr=False, kw_only=True)
class _OneVersusOne(KernelMachine, Classifier):
    """A kernel machine for every pair of classes; subclasses differ in `_solve`, the training."""

    decision_function_shape: str = "ovr"

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with labels y (n,) and optional weights (n,); return self."""
        self._check_parameters()
        samples = check_samples(X)
        y, weights = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        used = np.flatnonzero(weights)  # a sample of weight 0 is absent
        how = self.kernel, self.gamma, self.degree, self.coef0
        self._kernel = make_kernel(*how, samples[used], weights[used] / weights.max())
        self.classes_, k = np.unique(check_labels(y[used], len(used)), return_inverse=True)
        order = used[np.argsort(k, kind="stable")]  # class by class
        machines = self._machines(samples[order], np.sort(k), weights[order])
        runs, self.certificates_, beta, self._b = map(list, zip(*machines, strict=True))
        self._record(runs, "violation", self.tol)
        beta, self._b = np.array(beta), np.array(self._b)
        support = beta.any(axis=0)
        self._beta, self.support_ = beta[:, support], order[support].astype(np.int32)
        self.support_vectors_ = samples[self.support_]
        n_k = np.bincount(np.sort(k)[support], minlength=len(self.classes_))
        self.n_support_ = n_k.astype(np.int32)
        return self._remember(X)

    def _machines(self, X, k, weights):
        """Run, certificate, beta (n,) and b for every pair of the classes k (n,) of X (n, d)."""
        A, mean = about_mean(np.ascontiguousarray(X), self._kernel)
        ridge, machines = np.broadcast_to(self._ridge(weights), len(A)), []
        K = kernel_matrix(A, self._kernel, self.cache_size, ridge)
        ends = np.searchsorted(k, range(len(self.classes_) + 1))
        for first, second in self._pairs():
            p, q = slice(*ends[[first, first + 1]]), slice(*ends[[second, second + 1]])
            rows = np.r_[p, q]
            if len(rows) == len(A):
                K_pair = K
            elif isinstance(K, np.ndarray):
                K_pair = np.hstack([K[rows, p], K[rows, q]])
            else:  # if not all of K fits into memory, the matrix of a pair may
                K_pair = kernel_matrix(A[rows], self._kernel, self.cache_size, ridge[rows])
            y = np.where(k[rows] == first, 1.0, -1.0)
            run, certificate = self._solve(K_pair, y, weights[rows])
            offsets = certificate.offsets - weights_of(run.state.beta, A[rows]) @ mean
            rho, beta = self._rho(offsets), np.zeros(len(A))
            beta[rows] = run.state.beta / rho
            certificate = certificate._replace(offsets=offsets)
            machines.append((run, certificate, beta, offsets.mean() / rho))
        return machines

    def _check_parameters(self):
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        super()._check_parameters()

    def _rho(self, offsets):
        return 1.0  # by which a machine is divided, so that its margins are at f = 1 and -1

    def _pairs(self):
        return list(combinations(range(len(self.classes_)), 2))

    @property
    def _sign(self):
        self._require_fit()
        return -1.0 if len(self.classes_) == 2 else 1.0  # of two the second counts as positive

    @property
    def intercept_(self):
        """b of every pair: (pairs,)."""
        return self._sign * self._b

    @property
    def dual_coef_(self):
        """beta_i in the machines against the other classes: (K - 1, s), as LIBSVM has them."""
        sign, coef = self._sign, np.zeros((len(self.classes_) - 1, len(self.support_)))
        k = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        for beta, (first, second) in zip(self._beta, self._pairs(), strict=True):
            coef[second - 1, k == first] = sign * beta[k == first]
            coef[first, k == second] = sign * beta[k == second]
        return coef

    @property
    def coef_(self):
        """The weights w of every pair, (pairs, d), of a linear kernel."""
        self._check_linear()
        return self._sign * weights_of(self._beta, self.support_vectors_)

    def _pair_scores(self, X):
        """f of every pair's machine: (n, pairs), positive for the first class of a pair."""
        X = self._check_fitted(X)
        if isinstance(self._kernel, Linear):
            return X @ weights_of(self._beta, self.support_vectors_).T + self._b
        return kernel_product(self._kernel, X, self.support_vectors_, self._beta.T) + self._b

    def decision_function(self, X):
        """Scores (n,) for the second of two classes; of more classes (n, K) or (n, pairs).

        "ovo" gives f of every pair, positive for its first class. "ovr" gives the votes for a
        class, plus a number between -1/3 and 1/3 that breaks ties by the sum of its scores.
        """
        F = self._pair_scores(X)
        if len(self.classes_) == 2:
            return -F[:, 0]
        if self.decision_function_shape == "ovo":
            return F
        total = np.zeros((len(F), len(self.classes_)))
        for f, (first, second) in zip(F.T, self._pairs(), strict=True):
            total[:, first] += f
            total[:, second] -= f
        return pair_votes(F, len(self.classes_)) + total / (3 * (np.abs(total) + 1))

    def predict(self, X):
        """Labels (n,): the class with the most votes of the pairs, the first one among equals."""
        votes = pair_votes(self._pair_scores(X), len(self.classes_))
        return self.classes_[votes.argmax(axis=1)]


@dataclass(eq=False, repr=False, kw_only=True)
class SVC(_OneVersusOne):
    """The soft margin with a kernel, by `solve`: `smo`, with Newton steps now and then.

    It follows scikit-learn's SVC, with these differences: the solution comes with its certificate;
    there are more kernels, but no precomputed ones; gamma "scale" counts the weights of samples;
    f = 0 counts as the first class of a pair; there are no class weights and no probabilities.
    K classes take K (K - 1) / 2 machines.

    Parameters
    ----------
    C : float; cost of a unit of slack, inf for the hard margin
    kernel : str, `kernels.Kernel` or function k(X, Z); see `kernels.make_kernel`
    degree : int; of "poly", 1 or more
    gamma : "scale", "auto", None or float; 1 / (d Var X), 1 / d for the next two, or the number
    coef0 : float; of "poly", 0 or more, and of "sigmoid"
    tol : float; the largest violation of the KKT conditions at the end
    cache_size : float; MiB for a Gram matrix; of a larger one only the rows in use are kept
    max_iter : int; steps per pair of classes; -1 for 10^7 or 100 n, whichever is more
    decision_function_shape : "ovr" or "ovo"; for several classes, a score per class or per pair

    Attributes
    ----------
    classes_ : ndarray of shape (K,); the labels, sorted
    support_ : ndarray of shape (s,); the places of the support vectors in X, class by class
    support_vectors_ : ndarray of shape (s, d)
    n_support_ : ndarray of shape (K,); the number of support vectors of each class
    dual_coef_ : ndarray of shape (K - 1, s); beta_i in the machines against the other classes
    intercept_ : ndarray of shape (pairs,); b of every pair of classes
    certificates_ : list of `OptimalityBounds` of the pairs; with "sigmoid" they prove nothing
    history_ : list of ndarrays; the dual objective after every step, for every pair
    n_iter_ : int; steps of the pair that took most
    converged_ : bool
    n_features_in_ : int

    >>> model = SVC(kernel="linear", C=10.0).fit([[1.0], [3.0]], ["low", "high"])
    >>> model.dual_coef_, model.intercept_, model.predict([[2.1]])
    (array([[-0.5,  0.5]]), array([2.]), array(['high'], dtype='<U4'))
    """

    C: float = 1.0

    def _check_parameters(self):
        check_number("C", self.C, above=0)
        super()._check_parameters()

    def _solve(self, K, y, weights):
        run, certificate = solve(K, c_dual(y, self.C * weights), self.tol, self.max_iter)
        if self.C == inf:
            certificate = _scaled_to_separate(run.state, y, certificate)
        return run, certificate


def _scaled_to_separate(state, y, certificate):
    """The certificate of a hard margin: 1/2 ||w||^2 of the `canonical` machine, if it separates."""
    product = y - state.gradient
    smallest = (y * (product + certificate.offsets[0])).min()
    primal = float(state.beta @ product / 2 / smallest**2) if smallest > 0 else inf
    return certificate._replace(primal=primal)


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVC(_OneVersusOne):
    """The nu machine with a kernel, by `solve`.

    As in scikit-learn the solution is divided by rho, so that the margins are at f = 1 and -1; the
    certificate is that of the undivided problem. If nu is too small for the overlap of the classes,
    rho and w are 0, and the labels are rounding errors. `tol` is in units of max |K_ii| / n.

    Parameters
    ----------
    nu : float; see `nu_margin`; in (0, 2 min(n_+, n_-) / n] for every pair of classes
    kernel, degree, gamma, coef0, tol, cache_size, max_iter, decision_function_shape : as in `SVC`

    Attributes
    ----------
    Those of `SVC`.

    >>> model = NuSVC(kernel="linear").fit([[1.0], [3.0]], ["low", "high"])
    >>> model.dual_coef_.round(9), model.intercept_.round(9), model.rho_.round(9)
    (array([[-0.5,  0.5]]), array([2.]), array([0.5]))
    """

    nu: float = 0.5

    def _check_parameters(self):
        check_number("nu", self.nu, above=0)
        super()._check_parameters()

    def _solve(self, K, y, weights):
        shares = weights / weights.sum()
        limit = 2 * min(shares[y > 0].sum(), shares[y < 0].sum())
        if self.nu > limit * (1 + ROUNDING):
            rule = f"nu must be <= 2 min(n_+, n_-) / n = {limit:g} here"
            raise ValueError(f"{rule}: the specified nu is infeasible; got {self.nu!r}")
        unit = (np.abs(K.diagonal()).max() or 1.0) / len(y)  # of g = -K beta, with beta of 1 / n
        run, certificate = solve(K, nu_dual(y, self.nu, shares), self.tol * unit, self.max_iter)
        state = run.state._replace(violation=run.state.violation / unit)
        return run._replace(state=state), certificate

    def _rho(self, offsets):
        rho = np.diff(offsets)[0] / 2  # they are b - rho and b + rho
        return rho if rho > ROUNDING * np.abs(offsets).max() else 1.0

    @property
    def rho_(self):
        """The margin of every pair before it is scaled to 1: (pairs,)."""
        self._require_fit()
        return np.array([np.diff(found.offsets)[0] / 2 for found in self.certificates_])


@dataclass(eq=False, repr=False, kw_only=True)
class L2SVC(SVC):
    """The soft margin with squared slack and a kernel, by `solve`: the hard margin with K + I / C.

    It minimises 1/2 ||w||^2 + C/2 sum_i xi_i^2.

    Parameters
    ----------
    C : float; twice the cost of a unit of squared slack, inf for the hard margin
    kernel, degree, gamma, coef0, tol, cache_size, max_iter, decision_function_shape : as in `SVC`

    Attributes
    ----------
    Those of `SVC`.

    >>> model = L2SVC(kernel="linear", C=0.5).fit([[-1.0], [1.0]], ["low", "high"])
    >>> model.dual_coef_, model.predict([[0.1]])
    (array([[-0.25,  0.25]]), array(['high'], dtype='<U4'))
    """

    def _ridge(self, weights):
        return 1 / (self.C * weights)

    def _solve(self, K, y, weights):
        C = self.C * weights
        most = np.sqrt(C) * sqrt(C.sum())  # w = 0 costs sum C_i / 2, so that C_i xi_i^2 <= sum C_i
        run, certificate = solve(K, c_dual(y, most), self.tol, self.max_iter)
        if self.C == inf:
            return run, _scaled_to_separate(run.state, y, certificate)
        beta = run.state.beta
        product = y - run.state.gradient - beta / C  # with K alone
        losses = hinge(product + certificate.offsets[0], y)
        primal = float(beta @ product / 2 + C @ losses**2 / 2)
        return run, certificate._replace(primal=primal)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearClassifier):
    """The linear machine with squared slack, trained in the primal by `primal_newton`:

        min over w, b of 1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i)^2 ,

    for each class against the rest, and for two classes only for the second. C is half of ISML's,
    as in scikit-learn. b is not penalised; scikit-learn's is.

    Parameters
    ----------
    tol : float; the largest Newton decrement at the end, in units of the root of max C_i
    C : float; cost of a unit of squared slack, not inf
    fit_intercept : bool; whether there is a b
    max_iter : int; the most Newton steps

    Attributes
    ----------
    classes_ : ndarray of shape (K,); the labels, sorted
    coef_ : ndarray of shape (1, d) or (K, d); the weights w
    intercept_ : ndarray of shape (1,) or (K,); the offsets b
    history_ : list of ndarrays; the objective after every step, for every class
    n_iter_ : int; steps of the class that took most
    converged_ : bool
    n_features_in_ : int

    >>> model = LinearSVC(C=0.25).fit([[-1.0], [1.0]], ["low", "high"])
    >>> model.coef_.round(9), model.predict([[0.1]])
    (array([[-0.5]]), array(['high'], dtype='<U4'))
    """

    tol: float = 1e-4
    C: float = 1.0
    fit_intercept: bool = True
    max_iter: int = 1000

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with labels y (n,) and optional weights (n,); return self."""
        tol = check_number("tol", self.tol, above=0)
        C = check_number("C", self.C, above=0, below=inf)
        check_number("max_iter", self.max_iter, at_least=1, integer=True)
        first = 0 if check_flag("fit_intercept", self.fit_intercept) else 1
        samples = check_samples(X)
        y, costs = check_labels(y, len(samples)), C * check_weights(sample_weight, len(samples))
        used = np.flatnonzero(costs)  # a sample of weight 0 is absent
        self.classes_ = np.unique(check_labels(y[used], len(used)))
        centre = samples[used].mean(axis=0) * (1 - first)  # only b depends on the origin
        A = augment(samples[used] - centre)[:, first:]
        penalty = np.append(0.0, np.ones(samples.shape[1]))[first:]
        runs, theta = self._newton(A, one_vs_rest(y[used], self.classes_).T, costs[used], penalty)
        self._record(runs, "decrement", tol)
        theta = np.pad(theta, ((0, 0), (first, 0)))
        self.coef_, self.intercept_ = theta[:, 1:], theta[:, 0] - theta[:, 1:] @ centre
        return self._remember(X)

    def _newton(self, A, Y, costs, penalty):
        """Runs and theta for every row of Y, with columns and costs in units of their largest."""
        unit, most = np.where(A.any(axis=0), np.abs(A).max(axis=0), 1.0), costs.max()
        each = [primal_newton(A / unit, y, costs / most, penalty / unit**2 / most) for y in Y]
        runs = [iterate(states, "decrement", self.tol, self.max_iter) for states in each]
        theta = np.array([run.state.x / unit for run in runs])
        return [run._replace(history=most * run.history) for run in runs], theta
