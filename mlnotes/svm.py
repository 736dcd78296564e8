"""Support vector machines: the hyperplane that keeps the largest distance from both classes.

A convex quadratic program finds it. Its dual has one multiplier per sample, most of them 0, and it
contains the samples only in inner products, so that a kernel can take the place of these. Slack
variables make room for classes that overlap. `solve` maximises the dual, and certifies its solution
by the gap to a primal value.

Contents
    Hyperplanes             label, project, signed_distance, geometric_margin, canonical
    Separability            separate, Separator, HullsMeet
    Hard margin             hard_margin, hard_lagrangian, hard_lagrangian_gradients, dual_value,
                            support_vectors, recover
    Soft margin             slack, hinge, hinge_subgradient, soft_margin, Machine,
                            soft_lagrangian, kkt_residuals, KKTResiduals, squared_slack_margin
    The nu machine          nu_margin, NuMachine
    The dual problem        Dual, c_dual, nu_dual, fill, solve_dual, DualSolution
    Offset and certificate  offset_intervals, is_free, offsets, certify, Certificate
    SMO                     smo, SMOState, violating_pair, step_bounds, chunking
    The solver              newton_step, newton_on_free, smo_with_newton, first_state, solve,
                            Solved, until_hulls_meet
    The primal              erm_objective, subgradient_descent, SubgradientState, primal_newton
    Kernels                 about_mean, kernel_matrix, kernel_score, weights_of
    Estimators              pair_votes, KernelMachine, SVC, NuSVC, L2SVC, LinearSVC

Symbols
    X      (n, d)    samples x_i, one per row
    y      (n,)      labels, -1 or +1
    w, b   (d,)      f(x) = w^T x + b, the hyperplane is f = 0; f (n,) the scores of the samples
    xi     (n,)      slack
    C      float     cost of a unit of slack; inf for the hard margin
    nu     float     parameter of the nu machine; rho is its margin before scaling
    alpha  (n,)      multipliers; Q_ij = y_i y_j x_i^T x_j
    K      (n, n)    Gram matrix x_i^T x_j or k(x_i, x_j): an array or `numerics.GramRows`
    beta   (n,)      signed multipliers, beta_i = alpha_i y_i, so that w = sum_i beta_i x_i
    p      (n,)      linear term of the dual; its gradient is g = p - K beta
    r      (n,)      multipliers of xi >= 0
    dual             a `Dual`: the problem in beta that all the machines share

MLN, PRNN, REP and ISML add b; IRHD writes w^T x - b, so that its b is our -b. REP minimises
w^T w + C sum xi, so that its C is twice ours. scikit-learn's `SVC` has our C. Its `LinearSVC` has
no factor 1/2 before the squared slack, so that its C is half of ISML's; `NuSVC` has the box
[0, 1] for our [0, 1/n].

Notes: MLN "Optimal Hyperplane" to "v-SVM"; REP "Support Vector Machines", "Soft-Margin SVM";
PRNN 7 to 13; ISML "SVM"; IRHD 8.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations, count
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
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
    iterate,
    one_vs_rest,
)
from mlnotes.kernels import Gaussian, Linear, make_kernel
from mlnotes.linear_regression import augment
from mlnotes.numerics import (
    GramRows,
    at_bounds,
    kernel_product,
    low_rank_start,
    newton_in_box,
)
from mlnotes.optimization import InfeasibleError, box, newton, solve_qp
from mlnotes.perceptron import decision, margin

ROUNDING = 1e-9  # a sum this small beside its terms counts as 0
HIDDEN = 1e-12  # a number this small beside those it was computed from may be rounding error alone


# ---------------------------------------------------------------------------------------
# Hyperplanes
# ---------------------------------------------------------------------------------------


def label(f):
    """h(x) = sign f(x): +1 where f > 0, and -1 elsewhere, the hyperplane f = 0 included.

    Returns: (n,).

    >>> label(np.array([0.2, 0.0, -3.0]))
    array([ 1., -1., -1.])

    Errata: svm-09 (the printed rules put f = 0 on both sides); svm-04 (IRHD asks for b >= 0);
    svm-11 (REP scales (w, b) by any c that is not 0, but c < 0 changes all labels).
    """
    return np.where(f > 0, 1.0, -1.0)


def project(X, w, b):
    """x_P = x - (f(x) / ||w||^2) w: the nearest point of the hyperplane.

    Returns: (n, d).

    >>> project(np.array([[5.0, 5.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([[2., 1.]])

    Errata: svm-03 (IRHD's proof names the triangle inequality; it takes Pythagoras).
    """
    return X - np.multiply.outer(decision(X, w, b) / (w @ w), w)


def signed_distance(X, w, b):
    """delta = f(x) / ||w||: the distance from the hyperplane, negative on its negative side.

    Returns: (n,).

    >>> signed_distance(np.array([[5.0, 5.0], [0.0, 0.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([ 5., -2.])
    """
    return decision(X, w, b) / np.linalg.norm(w)


def geometric_margin(X, w, b):
    """gamma(w, b) = min_i |f(x_i)| / ||w||: the distance from the hyperplane to the closest sample.

    >>> geometric_margin(np.array([[5.0, 5.0], [0.0, 0.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    2.0

    Errata: svm-14 (without the labels it has no maximum: the hyperplane can move away from all).
    """
    return margin(X, w, b)


def canonical(X, y, w, b):
    """(w, b) / min_i y_i f(x_i), after which y_i f(x_i) >= 1 with equality for some i.

    The geometric margin is then 1 / ||w||, and the slab |f| < 1 without samples is 2 / ||w|| wide.

    Returns: w, b. Raises: ValueError if (w, b) does not separate the classes.

    >>> canonical(np.array([[3.0], [1.0]]), np.array([1, -1]), w=np.array([4.0]), b=-8.0)
    (array([1.]), -2.0)

    Errata: svm-09 (PRNN has f < -1 for class -1); svm-13 (printed width: 1 / ||w||, 2 / ||w||^2).
    """
    smallest = (y * decision(X, w, b)).min()
    if not smallest > 0:
        raise ValueError(f"w and b must separate the classes; got min_i y_i f(x_i) = {smallest:g}")
    return w / smallest, float(b / smallest)


# ---------------------------------------------------------------------------------------
# Separability
# ---------------------------------------------------------------------------------------


class Separator(NamedTuple):
    """A hyperplane that separates the classes: y_i (w^T x_i + b) >= 1."""

    w: np.ndarray  # (d,)
    b: float


class HullsMeet(NamedTuple):
    """The proof that no hyperplane separates: a point in the convex hulls of both classes."""

    u: np.ndarray  # (n_+,), weights of the samples of class +1; they sum to 1
    v: np.ndarray  # (n_-,), weights of the samples of class -1, with the same mean


def separate(X, y):
    """Either a hyperplane with y_i f(x_i) > 0 for all i, or the proof that there is none.

    The proof is a common point of the convex hulls, X_+^T u = X_-^T v.

    Returns: a `Separator`, the one of largest margin, or `HullsMeet`.

    >>> separate(np.array([[3.0], [1.0]]), np.array([1, -1]))
    Separator(w=array([1.]), b=-2.0)
    """
    try:
        machine = hard_margin(X, y)
    except InfeasibleError as error:
        weights = np.maximum(error.certificate, 0.0)  # rounding may leave -1e-33
        u, v = weights[y > 0], weights[y < 0]
        return HullsMeet(u / u.sum(), v / v.sum())
    return Separator(machine.w, machine.b)


# ---------------------------------------------------------------------------------------
# Hard margin
# ---------------------------------------------------------------------------------------


class Machine(NamedTuple):
    """The solution of a primal problem, with the multipliers of its margins."""

    w: np.ndarray  # (d,)
    b: float
    xi: np.ndarray  # (n,), slack; 0 for a hard margin
    alpha: np.ndarray  # (n,)
    objective: float  # of the primal


def hard_margin(X, y):
    """The largest margin 1 / ||w||: min 1/2 ||w||^2 subject to y_i (w^T x_i + b) >= 1 for all i.

    Returns: a `Machine`. Raises: `optimization.InfeasibleError` if nothing separates the classes.

    >>> machine = hard_margin(np.array([[0.0, 0], [2, 0], [2, 2]]), np.array([-1, 1, 1]))
    >>> machine.w.round(9) + 0.0, round(machine.b, 9), round(machine.objective, 9)
    (array([1., 0.]), -1.0, 0.5)

    Errata: svm-16 (REP writes max 1 / ||w|| = min w^T w); svm-28 (unique are w and b, not alpha).
    """
    n, d = X.shape
    P = np.zeros((d + 1, d + 1))
    P[:d, :d] = np.eye(d)  # 1/2 ||w||^2, for the variables (w, b)
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
    return float(w @ w / 2 - alpha @ (y * decision(X, w, b) - 1))


def hard_lagrangian_gradients(X, y, w, alpha):
    """The gradients of L in w and in b: w - sum_i alpha_i y_i x_i, and -sum_i alpha_i y_i.

    >>> hard_lagrangian_gradients(np.array([[2.0]]), np.array([1]), np.array([3.0]), np.ones(1))
    (array([1.]), -1.0)
    """
    return w - X.T @ (alpha * y), -float(alpha @ y)


def dual_value(alpha, K, y):
    """q(alpha) = inf over w, b of L: with Q = diag(y) K diag(y),

        q(alpha) = sum_i alpha_i - 1/2 alpha^T Q alpha   if sum_i alpha_i y_i = 0, else -inf .

    q(alpha) <= 1/2 ||w||^2 for every separator.

    >>> dual_value(np.array([0.5, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1, -1]))
    0.5
    """
    beta = alpha * y
    if abs(beta.sum()) > ROUNDING * np.abs(beta).sum():
        return -inf
    return float(alpha.sum() - beta @ (K @ beta) / 2)


def support_vectors(alpha):
    """S = {i: alpha_i > 0}, ascending: the samples that determine w.

    In a hard margin all have y_i f(x_i) = 1, in a soft margin those with alpha_i < C.

    >>> support_vectors(np.array([0.0, 0.3, 0.3]))
    array([1, 2])

    Errata: svm-46 (PRNN and IRHD put every support vector of a soft margin on the margin); svm-28
    (a sample on the margin need not be a support vector).
    """
    return np.flatnonzero(alpha > 0)


def recover(X, y, alpha):
    """w = sum_{i in S} alpha_i y_i x_i and, for a hard margin, b: the mean of y_j - w^T x_j over S.

    Returns: w, b. Raises: ValueError if S is empty.

    >>> recover(np.array([[3.0], [1.0]]), np.array([1, -1]), np.array([0.5, 0.5]))
    (array([1.]), -2.0)
    """
    S = support_vectors(alpha)
    if not len(S):
        raise ValueError("alpha must have entries > 0; got none")
    w = (alpha[S] * y[S]) @ X[S]
    return w, float(np.mean(y[S] - X[S] @ w))


# ---------------------------------------------------------------------------------------
# Soft margin
# ---------------------------------------------------------------------------------------


def slack(f, y):
    """xi_i = max(0, 1 - y_i f_i): the least xi_i >= 0 with y_i f_i >= 1 - xi_i. It is the `hinge`.

    It is 0 beyond the margin, 1 on the hyperplane, and above 1 on the wrong side.

    >>> slack(np.array([2.0, 0.5, 0.0, -1.0]), np.array([1, 1, 1, 1]))
    array([0. , 0.5, 1. , 2. ])
    """
    return hinge(f, y)


def hinge(f, y):
    """l(f, y) = max(0, 1 - y f): convex in f, at least the 0-1 loss, and 0 iff y f >= 1.

    >>> hinge(np.array([1.0, 0.0]), np.array([1, -1]))
    array([0., 1.])

    Errata: svm-85 (PRNN keeps the constraints after xi has gone, and has a stray label in l).
    """
    return np.maximum(0.0, 1 - y * f)


def hinge_subgradient(f, y):
    """-y where y f < 1, else 0: a subgradient of the hinge loss in f.

    >>> hinge_subgradient(np.array([0.5, 1.0, 0.0]), np.array([1, 1, -1]))
    array([-1.,  0.,  1.])
    """
    return np.where(y * f < 1, -y, 0) + 0.0


def soft_margin(X, y, C):
    """min over w, b, xi of 1/2 ||w||^2 + C sum_i xi_i subject to

        y_i (w^T x_i + b) >= 1 - xi_i,   xi_i >= 0 ,

    by `optimization.solve_qp`. C = inf allows no slack and gives the `hard_margin`.

    Returns: a `Machine`. Raises: ValueError unless C > 0.

    >>> machine = soft_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> machine.w.round(9), machine.alpha.round(9), round(machine.objective, 9)
    (array([0.5]), array([0.25, 0.25]), 0.375)

    Errata: svm-35 (REP's C is twice ours); svm-36 (REP sets the slack to 0 for C = 0; it is free).
    """
    check_number("C", C, above=0)
    if C == inf:
        return hard_margin(X, y)
    n, d = X.shape
    P = np.zeros((d + 1 + n, d + 1 + n))
    P[:d, :d] = np.eye(d)  # 1/2 ||w||^2, for the variables (w, b, xi)
    costs = np.concatenate([np.zeros(d + 1), np.full(n, C)])  # C sum_i xi_i
    margins = np.column_stack([y[:, None] * X, y, np.eye(n)])  # y_i f(x_i) + xi_i >= 1
    slacks = np.column_stack([np.zeros((n, d + 1)), np.eye(n)])  # xi_i >= 0
    least = np.concatenate([np.ones(n), np.zeros(n)])
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


class KKTResiduals(NamedTuple):
    """The violation of each of the KKT conditions; all are 0 at the optimum, and only there."""

    weights: float  # max |w - sum_i alpha_i y_i x_i|
    balance: float  # |sum_i alpha_i y_i|
    margins: float  # max(1 - xi_i - y_i f_i, 0)
    slack: float  # max(-xi_i, 0)
    box: float  # max(-alpha_i, alpha_i - C, 0)
    on_the_margin: float  # max |alpha_i (y_i f_i - 1 + xi_i)|
    at_the_bound: float  # max |(C - alpha_i) xi_i|; the largest |xi_i| for C = inf


def kkt_residuals(X, y, w, b, xi, alpha, C=inf):
    """The Karush-Kuhn-Tucker conditions of the soft margin, as numbers that should be 0:

        w = sum_i alpha_i y_i x_i,  sum_i alpha_i y_i = 0,  alpha_i + r_i = C,  alpha_i, r_i >= 0,
        y_i f_i >= 1 - xi_i,  xi_i >= 0,  alpha_i (y_i f_i - 1 + xi_i) = 0,  r_i xi_i = 0 ,

    with r = C - alpha. C = inf stands for the hard margin, where xi = 0.

    Returns: `KKTResiduals`.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    >>> max(kkt_residuals(X, y, np.array([0.5]), 0.0, np.array([0.5, 0.5]), np.full(2, 0.25), 0.25))
    0.0

    Errata: svm-47 (IRHD prints y_i f_i + 1 = 0 for a free multiplier); svm-45 (a sample with
    alpha_i = C may be on the right side, even on the margin).
    """
    above = y * decision(X, w, b) - 1 + xi
    r = C - alpha if C < inf else np.ones(len(y))
    return KKTResiduals(
        weights=_largest(w - X.T @ (alpha * y)),
        balance=abs(float(alpha @ y)),
        margins=_largest(np.minimum(above, 0)),
        slack=_largest(np.minimum(xi, 0)),
        box=_largest(np.minimum(np.minimum(alpha, r), 0)),
        on_the_margin=_largest(alpha * above),
        at_the_bound=_largest(r * xi),
    )


def _largest(v):
    """The largest absolute entry; 0 if there is none."""
    return float(np.abs(v).max(initial=0.0))


def squared_slack_margin(X, y, C):
    """min over w, b, xi of 1/2 ||w||^2 + C/2 sum_i xi_i^2 subject to y_i f_i >= 1 - xi_i .

    C = inf allows no slack. At the optimum xi = alpha / C >= 0. The dual is that of the hard margin
    with K + I / C. Its alpha is unique and has no upper bound.

    Returns: a `Machine`. Raises: ValueError unless C > 0.

    >>> machine = squared_slack_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.5)
    >>> machine.w.round(9), machine.xi.round(9), machine.alpha.round(9)
    (array([0.5]), array([0.5, 0.5]), array([0.25, 0.25]))

    Errata: svm-60 (ISML loses labels and squares when it substitutes).
    """
    check_number("C", C, above=0)
    if C == inf:
        return hard_margin(X, y)
    n, d = X.shape
    P = np.diag(np.concatenate([np.ones(d), [0.0], np.full(n, C)]))  # for (w, b, xi)
    margins = np.column_stack([y[:, None] * X, y, np.eye(n)])
    qp = solve_qp(P, np.zeros(d + 1 + n), G=margins, h=np.ones(n))
    return Machine(qp.x[:d], float(qp.x[d]), qp.x[d + 1 :], qp.lam, qp.objective)


# ---------------------------------------------------------------------------------------
# The nu machine
# ---------------------------------------------------------------------------------------


class NuMachine(NamedTuple):
    """The solution of the primal problem of the nu machine."""

    w: np.ndarray  # (d,)
    b: float
    rho: float  # y_i f_i >= rho - xi_i; >= 0
    xi: np.ndarray  # (n,)
    alpha: np.ndarray  # (n,), of the margins; their sum is nu
    objective: float


def nu_margin(X, y, nu):
    """min over w, b, rho, xi of 1/2 ||w||^2 - nu rho + 1/n sum_i xi_i subject to

        y_i (w^T x_i + b) >= rho - xi_i,   xi_i >= 0 .

    If rho > 0, then nu is at least the share of samples with xi_i > 0 and at most the share of
    support vectors. Divided by rho, the solution is that of `soft_margin` with C = 1 / (rho n).

    Returns: a `NuMachine`. Raises: ValueError unless 0 < nu <= 2 min(n_+, n_-) / n.

    >>> machine = nu_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), nu=0.5)
    >>> machine.w.round(9), round(machine.rho, 9), round(machine.objective, 9)
    (array([0.5]), 0.5, -0.125)

    Errata: svm-77 (MLN's "upper bounded on the fractions" reads backwards); svm-79 (MLN prints "the
    same solution", but w is divided by rho); svm-80 (MLN has b outside the bracket of y_i).
    """
    _check_nu(y, nu, np.full(len(y), 1 / len(y)))
    n, d = X.shape
    P = np.zeros((d + 2 + n, d + 2 + n))
    P[:d, :d] = np.eye(d)  # 1/2 ||w||^2, for the variables (w, b, rho, xi)
    q = np.concatenate([np.zeros(d + 1), [-nu], np.full(n, 1 / n)])
    margins = np.column_stack([y[:, None] * X, y, -np.ones(n), np.eye(n)])
    positive = np.column_stack([np.zeros((n, d + 2)), np.eye(n)])
    qp = solve_qp(P, q, G=np.vstack([margins, positive]), h=np.zeros(2 * n))
    w, b, rho, xi = qp.x[:d], float(qp.x[d]), float(qp.x[d + 1]), qp.x[d + 2 :]
    return NuMachine(w, b, rho, xi, qp.lam[:n], qp.objective)


def _check_nu(y, nu, shares):
    """0 < nu <= twice the share of the smaller class."""
    check_number("nu", nu, above=0)
    limit = 2 * min(shares[y > 0].sum(), shares[y < 0].sum())
    if nu > limit * (1 + ROUNDING):
        rule = f"nu must be <= 2 min(n_+, n_-) / n = {limit:g} here: the specified nu is infeasible"
        raise ValueError(f"{rule}; got {nu!r}")


# ---------------------------------------------------------------------------------------
# The dual problem
# ---------------------------------------------------------------------------------------


class Dual(NamedTuple):
    """max over beta of p^T beta - 1/2 beta^T K beta subject to lower <= beta <= upper.

    The sum of beta over each group must stay what it is at the start.
    """

    p: np.ndarray  # (n,)
    lower: np.ndarray  # (n,)
    upper: np.ndarray  # (n,)
    start: np.ndarray  # (n,), a feasible beta
    groups: tuple  # slices, none empty, which together hold all n multipliers

    @property
    def sums(self):
        """(groups, n): a row of ones and zeros for each group; sums beta holds the sums."""
        rows = np.zeros((len(self.groups), len(self.p)))
        for row, group in zip(rows, self.groups, strict=True):
            row[group] = 1.0
        return rows


def c_dual(y, C=inf):
    """The dual of the soft margin, in beta_i = alpha_i y_i: p = y and one group of sum 0,

        max y^T beta - 1/2 beta^T K beta,   0 <= y_i beta_i <= C,   sum_i beta_i = 0 .

    C = inf is the dual of the hard margin. C may be an array, with a bound per sample.

    Returns: a `Dual`.

    >>> c_dual(np.array([1.0, -1.0]), C=2.0)[1:3]
    (array([ 0., -2.]), array([2., 0.]))

    Errata: svm-43 (PRNN prints the box without the sum: the dual of a machine without b).
    """
    y, n = y.astype(float), len(y)
    return Dual(y, np.minimum(y * C, 0), np.maximum(y * C, 0), np.zeros(n), (slice(0, n),))


def nu_dual(y, nu, weights=None):
    """The dual of the nu machine, in beta_i = alpha_i y_i: p = 0 and a group for each class,

        max -1/2 beta^T K beta,   0 <= alpha_i <= 1/n,   sum_i alpha_i = nu/2 in both classes .

    With `weights` (n,) the bound of sample i is its share of them instead of 1/n. Groups are
    slices, so that y must hold one class after the other.

    Returns: a `Dual`. Raises: ValueError for nu out of range, or a y that changes more than once.

    >>> nu_dual(np.array([1.0, 1.0, -1.0, -1.0]), nu=0.75).start
    array([ 0.25 ,  0.125, -0.25 , -0.125])
    """
    n = len(y)
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    _check_nu(y, nu, shares)
    changes = np.flatnonzero(np.diff(y)) + 1
    if len(changes) != 1:
        raise ValueError(f"y must hold one class after the other; it changes {len(changes)} times")
    groups = slice(0, int(changes[0])), slice(int(changes[0]), n)
    start = np.concatenate([y[group] * fill(shares[group], nu / 2) for group in groups])
    return Dual(np.zeros(n), np.minimum(y * shares, 0), np.maximum(y * shares, 0), start, groups)


def fill(most, total):
    """Numbers from 0 to `most` (n,) with the sum `total`: the first ones as large as possible.

    >>> fill(np.array([2.0, 2.0, 2.0, 2.0]), total=5.0)
    array([2., 2., 1., 0.])
    """
    return at_bounds(total - (np.cumsum(most) - most), 0.0, most, ROUNDING * most)


class DualSolution(NamedTuple):
    """The solution of a `Dual` by the general solver."""

    beta: np.ndarray  # (n,)
    objective: float
    residual: float  # the largest violation of a KKT condition, relative to its terms


def solve_dual(K, dual):
    """The maximiser of a `Dual` by `optimization.solve_qp`, for an array K and small n.

    Returns: a `DualSolution`. Raises: `optimization.UnboundedError` if C = inf and the hulls meet.

    >>> solve_dual(np.eye(2), c_dual(np.array([1.0, -1.0]))).beta.round(9)
    array([ 1., -1.])
    """
    A, (G, h) = dual.sums, box(dual.lower, dual.upper)
    finite = np.isfinite(h)
    qp = solve_qp(np.asarray(K, float), -dual.p, A, A @ dual.start, G[finite], h[finite])
    return DualSolution(qp.x, -qp.objective, qp.residual)


# ---------------------------------------------------------------------------------------
# Offset and certificate
# ---------------------------------------------------------------------------------------


def offset_intervals(gradient, dual, beta):
    """The offsets b that the KKT conditions allow for each group, with g = p - K beta:

        max {g_i: beta_i < upper_i} <= b <= min {g_i: beta_i > lower_i} .

    A free multiplier leaves a single b. Away from the optimum the left end is above the right end.

    Returns: (groups, 2).

    >>> y = np.array([1.0, -1.0])
    >>> offset_intervals(y, c_dual(y), beta=np.zeros(2))  # g = y for beta = 0
    array([[ 1., -1.]])
    """
    low = np.where(beta < dual.upper, gradient, -inf)
    high = np.where(beta > dual.lower, gradient, inf)
    return np.array([[low[group].max(), high[group].min()] for group in dual.groups])


def is_free(dual, beta):
    """Which multipliers are strictly inside their box: (n,).

    >>> is_free(c_dual(np.array([1.0, 1.0, -1.0]), C=2.0), np.array([0.0, 1.0, -2.0]))
    array([False,  True, False])
    """
    return (beta > dual.lower) & (beta < dual.upper)


def offsets(gradient, dual, beta):
    """b of each group: the mean of g = p - K beta over its free multipliers.

    A group without a free one gets the middle of its `offset_intervals`, or the only finite end.

    Returns: (groups,).

    >>> X, y = np.array([[3.0], [1.0]]), np.array([1.0, -1.0])
    >>> offsets(y - X @ X.T @ (0.5 * y), c_dual(y), 0.5 * y)
    array([-2.])

    Errata: svm-49 (ISML and IRHD average the support vectors at the bound, too).
    """
    free, b = is_free(dual, beta), []
    for group, ends in zip(dual.groups, offset_intervals(gradient, dual, beta), strict=True):
        found = gradient[group][free[group]]
        if not len(found):
            found = ends[np.isfinite(ends)]
        b.append(found.mean() if len(found) else 0.0)
    return np.array(b)


class Certificate(NamedTuple):
    """The proof that a beta is good: two bounds with the optimum between them."""

    dual: float  # the objective of beta
    primal: float  # the objective of w = sum_i beta_i phi(x_i) with the `offsets`
    gap: float  # primal - dual; neither is farther from the optimum than this
    violation: float  # how far the ends of an `offset_intervals` are swapped, at most
    offsets: np.ndarray  # (groups,)


def certify(K, dual, beta):
    """The certificate of a feasible beta, from K beta computed afresh.

    For any offset b of each group, with s the sum of the group and l, u for lower and upper,

        1/2 beta^T K beta + sum_i max(u_i (g_i - b), l_i (g_i - b)) + sum b s

    bounds the dual from above if K is positive semidefinite. For the soft margin it is the primal.

    Returns: a `Certificate`.

    >>> certify(np.eye(2), c_dual(np.array([1.0, -1.0])), np.array([1.0, -1.0]))[:4]
    (1.0, 1.0, 0.0, 0.0)
    """
    return _certified(dual, beta, dual.p - K @ beta)


def _certified(dual, beta, gradient):
    b, quadratic = offsets(gradient, dual, beta), float(beta @ (dual.p - gradient) / 2)
    primal = quadratic
    for group, offset in zip(dual.groups, b, strict=True):
        above = gradient[group] - offset
        bound = np.where(above > 0, dual.upper[group], dual.lower[group])
        primal += float(bound[above != 0] @ above[above != 0] + offset * dual.start[group].sum())
    low, high = offset_intervals(gradient, dual, beta).T
    value = float(dual.p @ beta) - quadratic
    return Certificate(value, primal, primal - value, max(float((low - high).max()), 0.0), b)


# ---------------------------------------------------------------------------------------
# SMO
# ---------------------------------------------------------------------------------------


class SMOState(NamedTuple):
    """The state of SMO after a step."""

    beta: np.ndarray  # (n,)
    gradient: np.ndarray  # (n,), p - K beta
    pair: tuple  # the multipliers that the last step moved; () at the start
    objective: float  # of the dual; it never falls
    violation: float  # of the worst pair: g_i - g_j, where beta_i may rise and beta_j fall


def smo(K, dual, start=None):
    """Sequential minimal optimisation: the best step on two multipliers at a time.

    Let g = p - K beta. Moving to beta_i + t and beta_j - t changes the objective by

        t (g_i - g_j) - t^2 eta / 2,   eta = K_ii + K_jj - 2 K_ij,

    which is largest at t = (g_i - g_j) / eta, clipped where either multiplier meets its bound.
    `violating_pair` chooses i and j. A step costs O(n). After a step that is not clipped, g_i and
    g_j are set equal, so that the next pair does not depend on rounding.

    K is an array or `numerics.GramRows`. `start` is a state from which to go on; None stands for
    the start of `dual`.

    Yields: `SMOState`, the start included. It ends at an optimum, or where rounding hides a step.

    >>> [state.beta.tolist() for state in smo(np.eye(2), c_dual(np.array([1.0, -1.0])))]
    [[0.0, 0.0], [1.0, -1.0]]
    """
    beta, g, pair, objective, _ = _start(K, dual) if start is None else start
    lower, upper, diagonal = (each.tolist() for each in (dual.lower, dual.upper, K.diagonal()))
    least_eta = HIDDEN * max(map(abs, diagonal)) or HIDDEN  # equal samples have eta = 0
    no_rise = np.where(beta < dual.upper, 0.0, -inf)  # -inf where beta_i may not rise
    no_fall = np.where(beta > dual.lower, 0.0, inf)  # inf where beta_j may not fall
    while True:
        high, low = g + no_rise, g + no_fall
        violation, i, j = max([violating_pair(high, low, group) for group in dual.groups])
        yield SMOState(beta, g, pair, objective, violation)
        if violation <= 0:
            return
        row_i, row_j, beta_i, beta_j = K[i], K[j], beta.item(i), beta.item(j)
        eta = diagonal[i] + diagonal[j] - 2 * row_i.item(j)
        top = violation / max(eta, least_eta)
        t = min(top, upper[i] - beta_i, beta_j - lower[j])
        near = HIDDEN * (abs(beta_i) + abs(beta_j) + t)  # a bound so near is met but for rounding
        risen = upper[i] if upper[i] - beta_i - t <= near else beta_i + t
        fallen = lower[j] if beta_j - t - lower[j] <= near else beta_j - t
        if risen == beta_i and fallen == beta_j:
            return  # rounding hides the step
        beta = beta.copy()
        for moved, value in ((i, risen), (j, fallen)):
            beta[moved] = value
            no_rise[moved] = 0.0 if value < upper[moved] else -inf
            no_fall[moved] = 0.0 if value > lower[moved] else inf
        objective += t * (violation - t * eta / 2)
        g = g - t * (row_i - row_j)
        if t == top and eta > least_eta:
            g[j] = g[i]  # equal at the top, without rounding
        pair = i, j


def _start(K, dual):
    """The state in which SMO begins."""
    beta = at_bounds(dual.start, dual.lower, dual.upper, HIDDEN * np.abs(dual.start).max())
    product = K @ beta if beta.any() else np.zeros(len(beta))
    return SMOState(beta, dual.p - product, (), float(beta @ (dual.p - product / 2)), inf)


def violating_pair(high, low, group):
    """The pair of a group that violates the KKT conditions most.

    `high` (n,) holds g_i where beta_i may rise, else -inf. `low` (n,) holds g_j where beta_j may
    fall, else inf. i has the largest `high` of the group, and j the smallest `low`.

    Returns: g_i - g_j, i, j. Nothing can be gained if the first is not above 0.

    >>> violating_pair(np.array([1.0, -np.inf]), np.array([np.inf, -2.0]), slice(0, 2))
    (3.0, 0, 1)
    """
    i = group.start + int(high[group].argmax())
    j = group.start + int(low[group].argmin())
    return high.item(i) - low.item(j), i, j


def step_bounds(dual, beta, i, j):
    """The ends of the segment on which a step on the pair i, j may move beta_i.

    Returns: L, H.

    >>> step_bounds(c_dual(np.array([1.0, -1.0]), C=2.0), np.array([0.5, -0.5]), i=0, j=1)
    (0.0, 2.0)
    """
    total = beta[i] + beta[j]
    low = max(dual.lower[i], total - dual.upper[j])
    return float(low), float(min(dual.upper[i], total - dual.lower[j]))


def chunking(K, dual, size, *, rng):
    """Optimise over a random chunk of `size` multipliers, the others fixed; again and again.

    The problem of a chunk is again a `Dual`, which `solve_dual` maximises.

    Yields: `SMOState`; its pair holds the chunk.

    >>> dual, rng = c_dual(np.array([1.0, -1.0]), C=2.0), np.random.default_rng(0)
    >>> states = chunking(np.eye(2), dual, size=2, rng=rng)
    >>> [round(next(states).objective, 9) for _ in range(2)]
    [0.0, 1.0]
    """
    beta, chunk = dual.start.astype(float), np.array([], dtype=int)
    while True:
        g = dual.p - K @ beta
        low, high = offset_intervals(g, dual, beta).T
        objective = float(beta @ (dual.p + g) / 2)
        yield SMOState(beta, g, tuple(chunk.tolist()), objective, float((low - high).max()))
        chunk = np.sort(rng.choice(len(beta), size, replace=False))
        K_chunk = K[chunk][:, chunk]
        p = g[chunk] + K_chunk @ beta[chunk]  # p less what the others contribute
        lower, upper, groups = dual.lower[chunk], dual.upper[chunk], _groups_in(dual, chunk)
        part = Dual(p, lower, upper, beta[chunk], groups)
        beta = beta.copy()
        beta[chunk] = np.clip(solve_dual(K_chunk, part).beta, lower, upper)


def _groups_in(dual, chunk):
    """The groups of the sorted places `chunk`, as slices of the chunk."""
    ends = [np.searchsorted(chunk, [group.start, group.stop]) for group in dual.groups]
    return tuple(slice(*end) for end in ends if end[0] < end[1])


# ---------------------------------------------------------------------------------------
# The solver
# ---------------------------------------------------------------------------------------

FEW = 30  # free multipliers on which a Newton step costs no more than a dozen steps of SMO
MANY = 1000  # on which one takes a tenth of a second
SETTLED = 0.05  # the share of the free multipliers that may differ from those of the last try
MEET = 1e-6  # hulls that are closer than this share of the spread of the samples count as meeting


def newton_step(K, dual, state, F, clip=False):
    """Newton's step on the free multipliers F (m,), cut at the first bound that it meets.

    Over the free multipliers the objective is largest at beta_F + v:

        [K_FF   ones^T] [v]   [g_F]
        [ones   0     ] [b] = [ 0 ],   ones the rows that sum the groups.

    With `clip` multipliers that would leave their box stop at its bound, and the others are solved
    for again (`numerics.newton_in_box`). The step then ends where the objective is largest along v.

    Returns: a `SMOState`; the same one if nothing is gained. Its violation is not computed: inf.

    >>> state = SMOState(np.array([0.1, -0.1]), np.array([0.9, -0.9]), (), 0.19, 1.8)
    >>> newton_step(np.eye(2), c_dual(np.array([1.0, -1.0])), state, np.array([0, 1])).beta.round(6)
    array([ 1., -1.])
    """
    beta, g, _, objective, _ = state
    K_F, low, high = K[F], dual.lower[F] - beta[F], dual.upper[F] - beta[F]
    K_FF = K_F[:, F]
    ones = dual.sums[:, F]
    ones = ones[ones.any(axis=1)]  # a row for each group that F has a part in
    v = newton_in_box(K_FF, g[F], ones, *((low, high) if clip else (-inf, inf)))
    slope, curvature = g[F] @ v, v @ K_FF @ v
    t = np.min(np.where(v > 0, high, low)[v != 0] / v[v != 0], initial=1.0)  # the first bound
    t = min(t, slope / curvature) if slope < curvature else t
    rise = t * slope - t**2 * curvature / 2
    if not (t > 0 and objective + rise > objective):
        return state
    near = HIDDEN * np.abs(np.append(beta[F], t * v)).max()
    beta = beta.copy()
    beta[F] = at_bounds(beta[F] + t * v, dual.lower[F], dual.upper[F], near)
    return SMOState(beta, g - t * v @ K_F, tuple(F.tolist()), float(objective + rise), inf)


def newton_on_free(K, dual, state, before):
    """Newton steps on the free multipliers, where they are worth their time.

    There is one on all of them if they are nearly those that were free at the last try, `before`
    (n,): then SMO has found out which ones they are. Other steps are on up to `FEW` of them, one
    after the other as long as a multiplier meets its bound.

    Returns: a `SMOState`; the same one if nothing is gained.

    >>> state = SMOState(np.array([0.1, -0.1]), np.array([0.9, -0.9]), (), 0.19, 1.8)
    >>> newton_on_free(np.eye(2), c_dual(np.array([1.0, -1.0])), state, np.zeros(2)).beta.round(6)
    array([ 1., -1.])
    """
    free = is_free(dual, state.beta)
    m = np.count_nonzero(free)
    if 0 < m <= MANY and np.count_nonzero(free != before) <= SETTLED * m:
        state = newton_step(K, dual, state, np.flatnonzero(free), clip=True)
    while True:
        F = np.flatnonzero(is_free(dual, state.beta))
        if not len(F):
            return state
        some = F[np.linspace(0, len(F) - 1, min(len(F), FEW)).astype(int)]
        state = newton_step(K, dual, state, some)
        if is_free(dual, state.beta)[some].all():
            return state


def smo_with_newton(K, dual, start=None):
    """`smo`, and `newton_on_free` after every n/4 steps, or 64 if that is more.

    Yields: `SMOState`, the start included. It ends where `smo` does.

    >>> [state.objective for state in smo_with_newton(np.eye(2), c_dual(np.array([1.0, -1.0])))]
    [0.0, 1.0]
    """
    every, before = max(64, len(dual.p) // 4), np.zeros(len(dual.p))
    while True:
        for step, state in enumerate(smo(K, dual, start), start=1):
            yield state
            start = state
            if step % every == 0:
                start = newton_on_free(K, dual, state, before)
                before = is_free(dual, state.beta)
            if start is not state:
                break
        else:
            return


def first_state(K, dual):
    """The state in which `solve` begins: the start of `dual`, or a better one for a K of low rank.

    Returns: a `SMOState`.

    >>> first_state(np.eye(2), c_dual(np.array([1.0, -1.0]))).objective
    0.0
    """
    near = low_rank_start(K, dual.p, dual.lower, dual.upper, dual.start, dual.sums)
    return _start(K, dual._replace(start=near))


class Solved(NamedTuple):
    """The end of `solve`."""

    run: Run  # its last state has the gradient p - K beta, computed afresh
    certificate: Certificate

    @property
    def beta(self):
        """(n,)."""
        return self.run.state.beta


def solve(K, dual, tol, max_iter):
    """The optimum of a `Dual`, to a violation of at most `tol`, with its certificate.

    After `smo_with_newton` the certificate is computed afresh. If it disagrees, because rounding
    errors have added up, the run goes on from there. Without an upper bound it also stops when the
    classes turn out not to be separable. There are at most `max_iter` steps; -1 stands for 10^7, or
    100 n if that is more.

    Returns: a `Solved`; it has converged if the violation of the certificate is at most `tol`.

    >>> solution = solve(np.eye(2), c_dual(np.array([1.0, -1.0])), tol=1e-3, max_iter=-1)
    >>> solution.beta, solution.certificate.gap, solution.run.converged
    (array([ 1., -1.]), 0.0, True)
    """
    left = max(10**7, 100 * len(dual.p)) if max_iter == -1 else max_iter
    start, history, violation = first_state(K, dual), np.zeros(1), inf
    while True:
        states = smo_with_newton(K, dual, start)
        if np.isinf(dual.upper - dual.lower).any():
            states = until_hulls_meet(states, K, dual)
        run = iterate(states, "violation", tol, left)
        start = _start(K, dual._replace(start=run.state.beta))
        certificate = _certified(dual, start.beta, start.gradient)
        before, violation, left = violation, certificate.violation, left - run.n_iter
        start = start._replace(violation=violation)
        history = np.concatenate([history[:-1], run.history[:-1], [start.objective]])
        if violation <= tol or run.n_iter == 0 or left == 0 or violation >= before:
            return Solved(Run(start, history, len(history) - 1, violation <= tol), certificate)


def until_hulls_meet(states, K, dual):
    """The states of SMO without an upper bound, until the convex hulls of the classes meet.

    alpha / (sum_i alpha_i / 2) holds the weights of a point in each hull, and their distance is
    ||w|| / (sum_i alpha_i / 2). If nothing separates the classes, alpha grows without end.

    Yields: the `states`, until the hulls meet.

    >>> K, dual = np.ones((2, 2)), c_dual(np.array([1.0, -1.0]))  # two equal samples
    >>> len(list(until_hulls_meet(smo(K, dual), K, dual)))
    2
    """
    spread = sqrt(np.abs(K.diagonal()).max())
    for state in states:
        yield state
        length = sqrt(max(2 * (dual.p @ state.beta - state.objective), 0.0))  # ||w||
        half = np.abs(state.beta).sum() / 2
        if half > 0 and length <= MEET * spread * half:
            return


# ---------------------------------------------------------------------------------------
# The primal
# ---------------------------------------------------------------------------------------


def erm_objective(X, y, w, b, C):
    """1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i): the soft margin without its constraints.

    Divided by n C it is the regularised empirical risk of the hinge loss, with lambda = 1 / (n C).

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

    where sum_in runs over the samples with y_i f_i < 1. Errors shrink like 1 / step.

    Yields: a `SubgradientState`, the start w = 0, b = 0 included.

    >>> states = subgradient_descent(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> [(next(states).objective) for _ in range(2)]
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

    A (n, m) holds the samples, with a column of ones for b, whose penalty is 0. y holds -1 and +1,
    C (n,) the cost of each sample.

    Yields: an `optimization.NewtonState`, the start theta = 0 included.

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


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------

MEBIBYTE = 2**20


def about_mean(X, kernel):
    """X - mean and the mean for the linear kernel; X and 0 for the others.

    Another origin only changes b, by w^T mean. But far from the origin the products x_i^T x_j lose
    the digits in which the samples differ. `kernel` is a `kernels.Kernel`.

    Returns: X (n, d), mean (d,).

    >>> about_mean(np.array([[5.0, 7.0]]), Linear())
    (array([[0., 0.]]), array([5., 7.]))
    """
    mean = X.mean(axis=0) if isinstance(kernel, Linear) else np.zeros(X.shape[1])
    return X - mean, mean


def kernel_matrix(X, kernel, megabytes, ridge=0.0):
    """The Gram matrix of X: an array if it fits into so many `megabytes`, else `GramRows`.

    `kernel` is a `kernels.Kernel`, and `ridge` is added to the diagonal.

    Raises: ValueError if k(x, z) overflows.

    >>> kernel_matrix(np.array([[2.0]]), Linear(), megabytes=1, ridge=0.5)
    array([[4.5]])
    """
    capacity = int(megabytes * MEBIBYTE / (8 * len(X)))  # rows
    if capacity < len(X):
        gamma = kernel.gamma if isinstance(kernel, Gaussian) else None
        K = GramRows(X, kernel, capacity, ridge, gamma)
    else:
        K = kernel(X)
        K[np.diag_indices(len(X))] += ridge
    if not np.isfinite(K.diagonal()).all():  # and k(x, z)^2 <= k(x, x) k(z, z)
        raise ValueError("K must be finite; k(x, z) overflows: scale the features of X")
    return K


def kernel_score(Z, X, beta, kernel):
    """f(z) = sum_i beta_i k(x_i, z), without its offset, in blocks of bounded memory.

    Z (m, d) are the points, X (s, d) the support vectors with their beta (s,) or (s, k), and
    `kernel` is a `kernels.Kernel`.

    Returns: (m,) or (m, k).

    >>> kernel_score(np.array([[3.0]]), np.array([[2.0]]), np.array([-1.0]), Linear())
    array([-6.])
    """
    return kernel_product(kernel, Z, X, beta)


def weights_of(beta, X):
    """w = sum_i beta_i x_i, by the differences from one sample, since sum_i beta_i = 0.

    X (s, d) are the support vectors with their beta (s,) or (k, s). Returns: (d,) or (k, d).

    >>> weights_of(np.array([0.5, -0.5]), np.array([[3.0], [1.0]]))
    array([1.])
    """
    return beta @ (X - X[:1])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def pair_votes(scores, classes):
    """One against one: how many of the machines of two classes vote for each class.

    `scores` (n, pairs) are those of the pairs (0, 1), (0, 2), ..., (1, 2), ... of so many
    `classes`, positive for the first class of a pair. The class with most votes is predicted.

    Returns: (n, classes).

    >>> pair_votes(np.array([[-1.0, 2.0, 3.0]]), classes=3)
    array([[1., 2., 0.]])
    """
    votes = np.zeros((len(scores), classes))
    for f, (first, second) in zip(scores.T, combinations(range(classes), 2), strict=True):
        votes[:, first] += f >= 0
        votes[:, second] += f < 0
    return votes


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

    def _ridge(self):
        """The number added to the diagonal of K: 1 / C for squared slack."""
        return 0.0

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
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, samples)
        y, weights = check_labels(y, len(samples)), check_weights(sample_weight, len(samples))
        self.classes_ = np.unique(check_labels(y[weights > 0], np.count_nonzero(weights)))
        parts = [np.flatnonzero((y == c) & (weights > 0)) for c in self.classes_]
        order, ends = np.concatenate(parts), np.cumsum([0, *map(len, parts)])  # class by class
        A, mean = about_mean(np.ascontiguousarray(samples[order]), kernel)
        matrix = partial(
            kernel_matrix, kernel=kernel, megabytes=self.cache_size, ridge=self._ridge()
        )
        K = matrix(A) if len(parts) > 2 else None  # once, for all pairs
        coef = np.zeros((len(parts) - 1, len(order)))
        runs, self.certificates_, offsets = [], [], []
        for a, b in combinations(range(len(parts)), 2):
            p, q = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            rows = np.r_[p, q]
            if isinstance(K, np.ndarray):
                K_ab = np.hstack([K[rows, p], K[rows, q]])
            else:  # if not all of K fits into memory, the matrix of a pair may
                K_ab = matrix(A[rows])
            signs = np.where(rows < ends[a + 1], 1.0, -1.0)
            run, certificate = self._solve(K_ab, signs, weights[order[rows]])
            found = certificate.offsets - weights_of(run.state.beta, A[rows]) @ mean
            rho = self._rho(found)
            coef[b - 1, p], coef[a, q] = np.split(run.state.beta / rho, [len(parts[a])])
            runs.append(run)
            self.certificates_.append(certificate._replace(offsets=found))
            offsets.append(found.mean() / rho)
        self._record(runs, "violation", self.tol)
        self._kernel = kernel
        support = np.flatnonzero(coef.any(axis=0))
        sign = -1.0 if len(parts) == 2 else 1.0  # of two classes the second one is positive
        self.support_ = order[support].astype(np.int32)
        self.support_vectors_ = samples[self.support_]
        self.n_support_ = np.diff(np.searchsorted(support, ends)).astype(np.int32)
        self.dual_coef_ = sign * coef[:, support]
        self.intercept_ = sign * np.array(offsets)
        return self._remember(X)

    def _check_parameters(self):
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        super()._check_parameters()

    def _rho(self, offsets):
        """The number by which a machine is divided, so that its margins are at f = 1 and -1."""
        return 1.0

    def _pairs(self):
        return list(combinations(range(len(self.classes_)), 2))

    def _pair_coefs(self):
        """For each pair of classes the places of its support vectors, and their beta_i."""
        ends = np.cumsum([0, *self.n_support_])
        for a, b in self._pairs():
            own, other = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            beta = np.concatenate([self.dual_coef_[b - 1, own], self.dual_coef_[a, other]])
            yield np.r_[own, other], beta

    @property
    def coef_(self):
        """The weights w of every pair, (pairs, d), of a linear kernel."""
        self._check_linear()
        return np.array(
            [weights_of(beta, self.support_vectors_[rows]) for rows, beta in self._pair_coefs()]
        )

    def _pair_scores(self, X):
        """f of every pair's machine: (n, pairs), positive for the first class of a pair."""
        X = self._check_fitted(X)
        if isinstance(self._kernel, Linear):
            F = X @ self.coef_.T
        else:
            beta = np.zeros((len(self.support_), len(self.intercept_)))
            for column, (rows, own) in zip(beta.T, self._pair_coefs(), strict=True):
                column[rows] = own
            F = kernel_score(X, self.support_vectors_, beta, self._kernel)
        F = F + self.intercept_
        return -F if len(self.classes_) == 2 else F

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
        votes = pair_votes(F, len(self.classes_))
        total = np.zeros(votes.shape)
        for f, (a, b) in zip(F.T, self._pairs(), strict=True):
            total[:, a] += f
            total[:, b] -= f
        return votes + total / (3 * (np.abs(total) + 1))

    def predict(self, X):
        """Labels (n,): the class with the most votes of the pairs, the first one among equals."""
        votes = pair_votes(self._pair_scores(X), len(self.classes_))
        return self.classes_[votes.argmax(axis=1)]


@dataclass(eq=False, repr=False, kw_only=True)
class SVC(_OneVersusOne):
    """The soft margin with a kernel, by `solve`: `smo`, with a Newton step now and then.

    It follows scikit-learn's SVC, with these differences: the solution comes with its certificate;
    there are more kernels, but no precomputed ones; f = 0 counts as the first class of a pair;
    there are no class weights and no probabilities; `n_iter_` is one number, that of the pair that
    took most steps.

    K classes take K (K - 1) / 2 machines, so that many classes take long. `LinearSVC` needs only K.

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
    certificates_ : list of `Certificate`; of every pair, in the order (0, 1), (0, 2), ..., (1, 2);
        with "sigmoid", which is not a kernel, it proves nothing
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
    return certificate._replace(primal=primal, gap=primal - certificate.dual)


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVC(_OneVersusOne):
    """The nu machine with a kernel, by `solve`.

    As in scikit-learn the solution is divided by rho, so that the margins are at f = 1 and -1; the
    certificate is that of the undivided problem. If nu is too small for the overlap of the classes,
    rho is 0 and w is 0, and the labels are rounding errors. `tol` bounds n times the violation, as
    for scikit-learn's box [0, 1]. For the rest see `SVC`.

    Parameters
    ----------
    nu : float; see `nu_margin`; in (0, 2 min(n_+, n_-) / n] for every pair of classes
    kernel, degree, gamma, coef0, tol, cache_size, max_iter, decision_function_shape : as in `SVC`

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_ : as in `SVC`
    certificates_, history_, n_iter_, converged_, n_features_in_ : as in `SVC`

    >>> model = NuSVC(kernel="linear").fit([[1.0], [3.0]], ["low", "high"])
    >>> model.dual_coef_.round(9), model.intercept_.round(9), model.rho_.round(9)
    (array([[-0.5,  0.5]]), array([2.]), array([0.5]))
    """

    nu: float = 0.5

    def _solve(self, K, y, weights):
        run, certificate = solve(K, nu_dual(y, self.nu, weights), self.tol / len(y), self.max_iter)
        state = run.state._replace(violation=len(y) * run.state.violation)  # in the unit of tol
        return run._replace(state=state), certificate

    def _rho(self, offsets):
        rho = np.diff(offsets)[0] / 2  # they are b - rho and b + rho
        return rho if rho > SMALLEST else 1.0

    @property
    def rho_(self):
        """The margin of every pair before it is scaled to 1: (pairs,)."""
        self._require_fit()
        return np.array([np.diff(found.offsets)[0] / 2 for found in self.certificates_])


SMALLEST = 1e-300  # a smaller rho counts as 0: one cannot divide by it


@dataclass(eq=False, repr=False, kw_only=True)
class L2SVC(SVC):
    """The soft margin with squared slack and a kernel, by `solve`: the hard margin with K + I / C.

    It minimises 1/2 ||w||^2 + C/2 sum_i xi_i^2. scikit-learn has no such machine with a kernel.

    Parameters
    ----------
    C : float; twice the cost of a unit of squared slack, inf for the hard margin
    kernel, degree, gamma, coef0, tol, cache_size, max_iter, decision_function_shape : as in `SVC`

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_ : as in `SVC`
    certificates_, history_, n_iter_, converged_, n_features_in_ : as in `SVC`

    >>> model = L2SVC(kernel="linear", C=0.5).fit([[-1.0], [1.0]], ["low", "high"])
    >>> model.dual_coef_, model.predict([[0.1]])
    (array([[-0.25,  0.25]]), array(['high'], dtype='<U4'))
    """

    def fit(self, X, y):
        """Fit to samples X (n, d) with labels y (n,); return self."""
        return super().fit(X, y)

    def _ridge(self):
        return 1 / self.C

    def _solve(self, K, y, weights):
        most = self.C * sqrt(len(y))  # w = 0 costs n C / 2: no xi_i = alpha_i / C is above sqrt(n)
        run, certificate = solve(K, c_dual(y, most), self.tol, self.max_iter)
        if self.C == inf:
            return run, _scaled_to_separate(run.state, y, certificate)
        beta = run.state.beta
        product = y - run.state.gradient - beta / self.C  # with K alone
        losses = hinge(product + certificate.offsets[0], y)
        primal = float(beta @ product / 2 + self.C / 2 * losses @ losses)
        return run, certificate._replace(primal=primal, gap=primal - certificate.dual)


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearClassifier):
    """The linear machine with squared slack, trained in the primal by `primal_newton`:

        min over w, b of 1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i)^2 ,

    for each class against the rest, and for two classes only for the second. No Gram matrix is
    needed. C is half of ISML's, as in scikit-learn. b is not penalised; scikit-learn's is.

    Parameters
    ----------
    tol : float; the largest Newton decrement at the end
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
        intercept = check_flag("fit_intercept", self.fit_intercept)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        costs = C * check_weights(sample_weight, len(samples))
        centre = samples.mean(axis=0) if intercept else 0.0  # only b depends on the origin
        A = augment(samples - centre) if intercept else samples
        penalty = np.ones(A.shape[1])
        penalty[0] = 0.0 if intercept else 1.0
        self.classes_ = np.unique(y)
        runs = [
            iterate(primal_newton(A, column, costs, penalty), "decrement", tol, max_iter)
            for column in one_vs_rest(y, self.classes_).T
        ]
        self._record(runs, "decrement", tol)
        theta = np.array([run.state.x for run in runs])
        self.coef_ = theta[:, 1:] if intercept else theta
        self.intercept_ = theta[:, 0] - self.coef_ @ centre if intercept else np.zeros(len(runs))
        return self._remember(X)
