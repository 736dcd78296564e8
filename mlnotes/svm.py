"""Support vector machines: the hyperplane that keeps the largest distance from both classes.

Of all hyperplanes that separate two classes one has the largest margin, and a convex quadratic
program finds it. Its dual has one multiplier per sample, most of them 0, and sees the samples
through their inner products alone, so that a kernel may take their place. Slack variables make
room for classes that overlap. What solves the dual is an algorithm of two multipliers a step,
with Newton steps on many where these are faster; and every solution comes with its certificate:
a primal value, a dual value, and the gap between.

Contents
    Hyperplanes             label, project, signed_distance, geometric_margin, canonical
    Separability            separate, Separator, HullsMeet
    Hard margin             hard_margin, hard_lagrangian, hard_lagrangian_gradients, dual_value,
                            support_vectors, recover
    Soft margin             slack, hinge, hinge_subgradient, soft_margin, Machine,
                            soft_lagrangian, kkt_residuals, KKTResiduals, squared_slack_margin
    The nu machine          nu_margin, NuMachine
    The dual problem        Dual, c_dual, nu_dual, fill, solve_dual, DualSolution
    Offset and certificate  offset_intervals, offsets, certify, Certificate
    SMO                     smo, SMOState, second_order, steepest, step_bounds, restrict,
                            chunking
    Newton steps            free_step, smo_with_free_steps, settle, project_onto_sum
    The central path        central_path, PathState
    In passes               in_play, solve, Solved
    The primal              erm_objective, subgradient_descent, SubgradientState
    Kernels                 kernel_parameters, about_mean, LinearGram, KernelRows, kernel_matrix,
                            kernel_score, weights_of
    Estimators              SVC, NuSVC, L2SVC, LinearSVC

Symbols
    X      (n, d)    samples x_i, one per row
    y      (n,)      labels, -1 or +1
    w, b   (d,)      f(x) = w^T x + b, the hyperplane is f = 0; f (n,) the scores of the samples
    xi     (n,)      slack
    C      float     what a unit of slack costs; inf for the hard margin
    nu     float     of the nu machine; rho its margin before scaling
    alpha  (n,)      multipliers; Q_ij = y_i y_j x_i^T x_j
    K      (n, n)    Gram matrix x_i^T x_j or k(x_i, x_j): an array, `LinearGram` or `KernelRows`
    beta   (n,)      signed multipliers, beta_i = alpha_i y_i, so that w = sum_i beta_i x_i
    p      (n,)      linear term of the dual; the gradient is p - K beta
    r      (n,)      multipliers of xi >= 0
    dual             a `Dual`: the problem in beta that all the machines share

The plus sign of b is MLN's, PRNN's, REP's and ISML's; IRHD writes w^T x - b, so that its b is
our -b. REP minimises w^T w + C sum xi, and has half of its C where the others, and we, have C.
scikit-learn has our C in `SVC`; in `LinearSVC`, without the half before the squared slack,
half of it; and in `NuSVC` the box [0, 1] for [0, 1/n].

Notes: MLN "Optimal Hyperplane" to "v-SVM"; REP "Support Vector Machines", "Soft-Margin SVM";
PRNN 7 to 13; ISML "SVM"; IRHD 8.
"""

from functools import partial
from itertools import combinations, pairwise
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Classifier,
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
    row_blocks,
)
from mlnotes.kernels import PLAIN, gram
from mlnotes.linear_regression import augment
from mlnotes.numerics import squared_norms
from mlnotes.optimization import InfeasibleError, box, newton, solve_qp
from mlnotes.perceptron import decision, margin

__all__ = [
    "label", "project", "signed_distance", "geometric_margin", "canonical", "separate",
    "Separator", "HullsMeet", "hard_margin", "hard_lagrangian", "hard_lagrangian_gradients",
    "dual_value", "support_vectors", "recover", "slack", "hinge", "hinge_subgradient",
    "soft_margin", "Machine", "soft_lagrangian", "kkt_residuals", "KKTResiduals",
    "squared_slack_margin", "nu_margin", "NuMachine", "Dual", "c_dual", "nu_dual", "fill",
    "solve_dual", "DualSolution", "offset_intervals", "offsets", "certify", "Certificate", "smo",
    "SMOState", "second_order", "steepest", "step_bounds", "restrict", "chunking", "free_step",
    "smo_with_free_steps", "settle", "project_onto_sum", "central_path", "PathState", "in_play",
    "solve", "Solved", "erm_objective", "subgradient_descent", "SubgradientState",
    "kernel_parameters", "about_mean", "LinearGram", "KernelRows", "kernel_matrix",
    "kernel_score", "weights_of", "SVC", "NuSVC", "L2SVC", "LinearSVC",
]  # fmt: skip


# ---------------------------------------------------------------------------------------
# Hyperplanes
# ---------------------------------------------------------------------------------------


def label(f):
    """h(x) = sign f(x): +1 where f > 0, and -1 elsewhere, the hyperplane f = 0 included.

    f(x) = w^T x + b is `perceptron.decision`. The printed rules put f = 0 on both sides, or count
    it as right for either label (svm-09). b may have either sign: IRHD wants its b >= 0, which
    x = -3 (y = -1), x = -1 (y = +1) already forbids (svm-04). (c w, c b) classifies as (w, b)
    does for c > 0; c < 0 swaps the labels, where REP would have any c that is not 0 (svm-11).

    Returns: (n,).

    >>> label(np.array([0.2, 0.0, -3.0]))
    array([ 1., -1., -1.])

    Claims: svm-01
    """
    return np.where(f > 0, 1.0, -1.0)


def project(X, w, b):
    """x_P = x - (f(x) / ||w||^2) w: the nearest point of the hyperplane.

    Any other r with f(x + r) = 0 is that step plus some r_perp orthogonal to w, and so longer by
    Pythagoras: ||r||^2 = ||lambda w||^2 + ||r_perp||^2. The triangle inequality, which IRHD names,
    bounds ||r|| from above only (svm-03).

    Returns: (n, d).

    >>> project(np.array([[5.0, 5.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([[2., 1.]])
    """
    return X - np.multiply.outer(decision(X, w, b) / (w @ w), w)


def signed_distance(X, w, b):
    """delta = f(x) / ||w||: the distance from the hyperplane, negative on its negative side.

    The same for (c w, c b), c > 0.

    Returns: (n,).

    >>> signed_distance(np.array([[5.0, 5.0], [0.0, 0.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    array([ 5., -2.])

    Claims: svm-02
    """
    return decision(X, w, b) / np.linalg.norm(w)


def geometric_margin(X, w, b):
    """gamma(w, b) = min_i |f(x_i)| / ||w||: what it is from the hyperplane to the closest sample.

    Without the labels it has no maximum: move the hyperplane away from all samples (svm-14).

    >>> geometric_margin(np.array([[5.0, 5.0], [0.0, 0.0]]), w=np.array([3.0, 4.0]), b=-10.0)
    2.0

    Claims: svm-10
    """
    return margin(X, w, b)


def canonical(X, y, w, b):
    """(w, b) / min_i y_i f(x_i), after which y_i f(x_i) >= 1 with equality for some i.

    It classifies as before, its geometric margin is 1 / ||w||, and the slab |f| < 1 is empty: its
    width is 2 / ||w||. PRNN prints f < -1 for class -1, which would leave the equality out, and
    the program below without a minimum (svm-09). The width is neither the distance to the closest
    sample, 1 / ||w||, nor ||w||^-2, nor 2 / ||w||^2 (svm-13).

    Returns: w, b. Raises: ValueError if (w, b) does not separate the classes.

    >>> canonical(np.array([[3.0], [1.0]]), np.array([1, -1]), w=np.array([4.0]), b=-8.0)
    (array([1.]), -2.0)

    Claims: svm-08
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
    """The proof that none does: a point in the convex hulls of both classes."""

    u: np.ndarray  # (n_+,), weights of the samples of class +1; they sum to 1
    v: np.ndarray  # (n_-,), weights of those of class -1, with the same mean


def separate(X, y):
    """Either a hyperplane with y_i f(x_i) > 0 for all i, or the proof that there is none.

    With X_+^T u = X_-^T v for weights u, v >= 0 that sum to 1, w^T X_+^T u + b would be positive
    and negative at once. The weights are what `optimization.solve_qp` proves the program of the
    hard margin infeasible with.

    Returns: a `Separator` (that of largest margin), or `HullsMeet`.

    >>> separate(np.array([[3.0], [1.0]]), np.array([1, -1]))
    Separator(w=array([1.]), b=-2.0)
    >>> XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    >>> separate(XOR, np.array([1, 1, -1, -1])).u.round(9)
    array([0.5, 0.5])

    Claims: svm-05
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
    xi: np.ndarray  # (n,), slack; 0 of a hard margin
    alpha: np.ndarray  # (n,)
    objective: float  # of the primal


def hard_margin(X, y):
    """min 1/2 ||w||^2 subject to y_i (w^T x_i + b) >= 1 for all i, by `optimization.solve_qp`.

    The separator of largest margin 1 / ||w||: maximising 2 / ||w||, minimising ||w|| and
    minimising w^T w have the same solution, though not the same value (svm-16). At the optimum
    samples of both classes are at f = 1 and f = -1, and 2 / ||w|| is the distance of the
    convex hulls. w is unique, and so is b; the multipliers need not be (svm-28).

    Returns: a `Machine`. Raises: `optimization.InfeasibleError` if nothing separates the classes;
    ValueError if the square of X's spread leaves the range of floating point, as do the others.

    >>> machine = hard_margin(np.array([[0.0, 0], [2, 0], [2, 2]]), np.array([-1, 1, 1]))
    >>> machine.w.round(9) + 0.0, round(machine.b, 9), round(machine.objective, 9)
    (array([1., 0.]), -1.0, 0.5)

    Claims: svm-15
    """
    (n, d), (X, centre, unit) = X.shape, _in_units(X)
    P, q = np.diag(np.append(np.ones(d), 0.0)), np.zeros(d + 1)
    qp = solve_qp(P, q, G=_margins(X, y), h=np.ones(n))
    w, b = _in_place(qp.x[:d] / unit, qp.x[d], centre)
    return Machine(w, b, np.zeros(n), qp.lam / unit**2, qp.objective / unit**2)


def _in_units(X):
    """X centred and divided by its largest entry, so that no program depends on units or origin.

    Returns: X, the centre (d,), and the unit. Raises: ValueError if the square of the unit leaves
    the range of floating point.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centre = X.mean(axis=0)
        unit = float(np.abs(X - centre).max(initial=0.0)) or 1.0
    if not sqrt(SMALLEST) <= unit <= 1 / sqrt(SMALLEST):
        raise ValueError(
            f"X must spread by {sqrt(SMALLEST):.1e} to {1 / sqrt(SMALLEST):.1e}; got {unit:.1e}: "
            "scale the features of X"
        )
    return (X - centre) / unit, centre, unit


def _cost_in_units(C, unit):
    """C unit^2: what slack costs beside w, if neither is lost beside the other."""
    cost, (low, high) = C * unit**2, COSTS
    if not low <= cost <= high:
        raise ValueError(
            f"C must be {low:g} to {high:g} times {unit**-2:.1e} for this X, or inf; got {C!r}"
        )
    return cost


def _in_place(w, b, centre):
    """w and the offset b of a machine of centred samples where they were before."""
    return w, float(b - w @ centre)


def _margins(X, y):
    """The rows y_i (x_i, 1), whose products with (w, b) are y_i f(x_i): (n, d + 1)."""
    return y[:, None] * np.column_stack([X, np.ones(len(X))])


def hard_lagrangian(X, y, w, b, alpha):
    """L(w, b, alpha) = 1/2 ||w||^2 - sum_i alpha_i [y_i (w^T x_i + b) - 1], alpha >= 0.

    max over alpha of min over w, b: at a saddle point both orders give the same. IRHD prints the
    minimum over alpha as well, which is -inf, ISML the maximum alone, which is +inf, and PRNN has
    sum_i alpha_i y_i = 0 as something to put in, where it comes out (svm-22).

    >>> hard_lagrangian(np.array([[2.0]]), np.array([1]), np.array([3.0]), -1.0, np.array([0.5]))
    2.5

    Claims: svm-21
    """
    return float(w @ w / 2 - alpha @ (y * decision(X, w, b) - 1))


def hard_lagrangian_gradients(X, y, w, alpha):
    """The gradients of L in w and in b: w - sum_i alpha_i y_i x_i, and -sum_i alpha_i y_i.

    >>> X, y = np.array([[2.0], [1.0]]), np.array([1, -1])
    >>> hard_lagrangian_gradients(X, y, w=np.array([3.0]), alpha=np.array([1.0, 1.0]))
    (array([2.]), -0.0)
    """
    return w - X.T @ (alpha * y), -float(alpha @ y)


def dual_value(alpha, K, y):
    """q(alpha) = inf over w, b of L: with Q = diag(y) K diag(y),

        q(alpha) = sum_i alpha_i - 1/2 alpha^T Q alpha   if sum_i alpha_i y_i = 0, else -inf .

    L is linear in b, which is why the multipliers of the classes must balance; w = sum_i alpha_i
    y_i x_i. Q is positive semidefinite, q concave, and q(alpha) <= 1/2 ||w||^2 of every separator.
    A sum beyond the rounding of its terms counts as not 0.

    >>> dual_value(np.array([0.5, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1, -1]))
    0.5
    >>> dual_value(np.array([0.5, 0.0]), np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1, -1]))
    -inf

    Claims: svm-25
    """
    beta = alpha * y
    if abs(beta.sum()) > ROUNDING * np.abs(beta).sum():
        return -inf
    return float(alpha.sum() - beta @ (K @ beta) / 2)


ROUNDING = 1e-9  # relative to its terms, a sum that is none
SMALLEST = float(np.finfo(float).tiny)  # what one may divide 1 by
EPS = float(np.finfo(float).eps)
COSTS = 1e-40, 1e24  # C in units of X: beyond, w is lost beside the slack, or the slack beside w


def support_vectors(alpha):
    """S = {i: alpha_i > 0}, ascending: the samples that make up w, and alone determine it.

    Of a hard margin all of them have y_i f(x_i) = 1; of a soft one those with alpha_i < C, the
    free ones, and not, as PRNN and IRHD print, every one (svm-46). Nor is every sample on the
    margin among them (svm-28).

    >>> support_vectors(np.array([0.0, 0.3, 0.3]))
    array([1, 2])

    Claims: svm-24
    """
    return np.flatnonzero(alpha > 0)


def recover(X, y, alpha):
    """w = sum_{i in S} alpha_i y_i x_i, and b = y_j - w^T x_j of a hard margin, for j in S.

    Any j does, for exact alpha; the mean over them is what is returned.

    Returns: w, b. Raises: ValueError if S is empty.

    >>> recover(np.array([[3.0], [1.0]]), np.array([1, -1]), np.array([0.5, 0.5]))
    (array([1.]), -2.0)

    Claims: svm-27
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
    """xi_i = max(0, 1 - y_i f_i): the least that makes y_i f_i >= 1 - xi_i, xi_i >= 0.

    0 beyond the margin, below 1 inside it on the right side, 1 on the hyperplane, above 1 on the
    wrong side. From its own margin line the sample is xi_i / ||w|| away.

    >>> slack(np.array([2.0, 0.5, 0.0, -1.0]), np.array([1, 1, 1, 1]))
    array([0. , 0.5, 1. , 2. ])

    Claims: svm-33
    """
    return hinge(f, y)


def hinge(f, y):
    """l(f, y) = max(0, 1 - y f): convex in f, at least the 0-1 loss, and 0 iff y f >= 1.

    It is the slack of the program without its constraints. PRNN keeps them after xi is gone, and
    has a stray label in l (svm-85).

    >>> hinge(np.array([1.0, 0.0]), np.array([1, -1]))
    array([0., 1.])

    Claims: svm-54
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

    by `optimization.solve_qp`. There is always a solution. C = 0 makes slack free, so that w = 0:
    it does not, as REP has it, make the slack itself 0 (svm-36). REP minimises w^T w + C sum xi,
    for which C stands for our C / 2 (svm-35). C = inf leaves no slack: the `hard_margin`.

    Returns: a `Machine`. Raises: ValueError unless C > 0, or if C is so large or small that
    rounding would decide.

    >>> machine = soft_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> machine.w.round(9), machine.alpha.round(9), round(machine.objective, 9)
    (array([0.5]), array([0.25, 0.25]), 0.375)

    Claims: svm-34
    """
    check_number("C", C, above=0)
    if C == inf:
        return hard_margin(X, y)
    (n, d), (X, centre, unit) = X.shape, _in_units(X)
    cost = _cost_in_units(C, unit)
    P = np.diag(np.concatenate([np.full(d, 1 / cost), np.zeros(1 + n)]))
    q = np.concatenate([np.zeros(d + 1), np.ones(n)])  # all of it divided by C
    G = np.block([[_margins(X, y), np.eye(n)], [np.zeros((n, d + 1)), np.eye(n)]])
    qp = solve_qp(P, q, G=G, h=np.concatenate([np.ones(n), np.zeros(n)]))
    w, b = _in_place(qp.x[:d] / unit, qp.x[d], centre)
    return Machine(w, b, qp.x[d + 1 :], C * qp.lam[:n], C * qp.objective)


def soft_lagrangian(X, y, w, b, xi, alpha, r, C):
    """L = 1/2 ||w||^2 + C sum_i xi_i - sum_i alpha_i [y_i f_i - 1 + xi_i] - sum_i r_i xi_i .

    ISML prints -sum_i alpha_i for +sum_i alpha_i when it expands the bracket, and PRNN no sign
    before the last sum (svm-40). In xi_i, which is free here, L is linear: its infimum is -inf
    unless alpha_i + r_i = C, for a positive C - alpha_i - r_i too (svm-42). With r = C - alpha xi
    goes, and what is left is the dual of the hard margin with alpha_i <= C.

    >>> soft_lagrangian(np.array([[2.0]]), np.array([1]), np.array([3.0]), -1.0,
    ...                 np.array([1.0]), alpha=np.array([0.5]), r=np.array([1.5]), C=2.0)
    2.5
    """
    return hard_lagrangian(X, y, w, b, alpha) + float((C - alpha - r) @ xi)


class KKTResiduals(NamedTuple):
    """How far from each of the KKT conditions; all 0 at the optimum, and only there."""

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

    with r = C - alpha; C = inf for the hard margin, where xi = 0. So alpha_i = 0 has y_i f_i >= 1;
    0 < alpha_i < C has y_i f_i = 1 (IRHD prints + 1 = 0, svm-47); and alpha_i = C has
    y_i f_i <= 1, on the wrong side or not, on the margin even (svm-45).

    Returns: `KKTResiduals`.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    >>> max(kkt_residuals(X, y, np.array([0.5]), 0.0, np.array([0.5, 0.5]), np.full(2, 0.25), 0.25))
    0.0

    Claims: svm-39
    """
    above = y * decision(X, w, b) - 1 + xi
    r = C - alpha if C < inf else np.ones(len(y))
    return KKTResiduals(
        weights=_size(w - X.T @ (alpha * y)),
        balance=abs(float(alpha @ y)),
        margins=_size(np.minimum(above, 0)),
        slack=_size(np.minimum(xi, 0)),
        box=_size(np.minimum(np.minimum(alpha, r), 0)),
        on_the_margin=_size(alpha * above),
        at_the_bound=_size(r * xi),
    )


def _size(v):
    """The largest absolute entry; 0 if there is none."""
    return float(np.abs(v).max(initial=0.0))


def squared_slack_margin(X, y, C):
    """min over w, b, xi of 1/2 ||w||^2 + C/2 sum_i xi_i^2 subject to y_i f_i >= 1 - xi_i .

    xi_i >= 0 need not be asked for: a negative one set to 0 costs less. xi = alpha / C, and the
    dual is that of the hard margin with K + I / C, whose alpha is unique and has no upper bound:

        max sum_i alpha_i - 1/2 alpha^T Q alpha - 1/(2C) sum_i alpha_i^2,  sum_i alpha_i y_i = 0 .

    ISML loses labels and squares on the way there (svm-60). C = inf leaves no slack.

    Returns: a `Machine`. Raises: ValueError unless C > 0, or if rounding would decide.

    >>> machine = squared_slack_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.5)
    >>> machine.w.round(9), machine.xi.round(9), machine.alpha.round(9)
    (array([0.5]), array([0.5, 0.5]), array([0.25, 0.25]))

    Claims: svm-58
    """
    check_number("C", C, above=0)
    if C == inf:
        return hard_margin(X, y)
    (n, d), (X, centre, unit) = X.shape, _in_units(X)
    cost = _cost_in_units(C, unit)
    least = min(1.0, cost)  # all of it is divided by that, and by unit^-2
    P = np.diag(np.concatenate([np.full(d, 1 / least), np.zeros(1), np.full(n, cost / least)]))
    qp = solve_qp(P, np.zeros(d + 1 + n), G=np.hstack([_margins(X, y), np.eye(n)]), h=np.ones(n))
    w, b = _in_place(qp.x[:d] / unit, qp.x[d], centre)
    scale = least / unit**2
    return Machine(w, b, qp.x[d + 1 :], scale * qp.lam, scale * qp.objective)


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

    If rho > 0, nu is at least the share of samples with xi_i > 0 and at most that of support
    vectors, which no C controls (svm-77). Divided by rho the solution is that of `soft_margin`
    with C = 1 / (rho n), which MLN prints as 1 / rho n, "with the same solution" (svm-79); the
    classifier is the same, the numbers are not. In its Lagrangian MLN has b outside the bracket
    of y_i, which makes it unbounded in b (svm-80).

    Returns: a `NuMachine`. Raises: ValueError unless 0 < nu <= 2 min(n_+, n_-) / n: beyond, b,
    rho and xi can grow together for ever.

    >>> machine = nu_margin(np.array([[1.0], [-1.0]]), np.array([1, -1]), nu=0.5)
    >>> machine.w.round(9), round(machine.rho, 9), round(machine.objective, 9)
    (array([0.5]), 0.5, -0.125)

    Claims: svm-75
    """
    _check_nu(y, nu, _shares(y, None))
    (n, d), (X, centre, unit) = X.shape, _in_units(X)
    P = np.diag(np.concatenate([np.ones(d), np.zeros(2 + n)]))
    q = np.concatenate([np.zeros(d + 1), [-nu], np.full(n, 1 / n)])
    above = np.hstack([_margins(X, y), np.full((n, 1), -1.0), np.eye(n)])
    G = np.vstack([above, np.hstack([np.zeros((n, d + 2)), np.eye(n)])])
    qp = solve_qp(P, q, G=G, h=np.zeros(2 * n))
    scale = unit**2  # of f, rho and xi
    w, b = _in_place(qp.x[:d] * unit, qp.x[d] * scale, centre)
    rho, xi = float(qp.x[d + 1]) * scale, qp.x[d + 2 :] * scale
    return NuMachine(w, b, rho, xi, qp.lam[:n], qp.objective * scale)


def _check_nu(y, nu, shares):
    """0 < nu <= twice the share of the smaller class."""
    check_number("nu", nu, above=0)
    limit = 2 * min(shares[y > 0].sum(), shares[y < 0].sum())
    if nu > limit * (1 + ROUNDING):
        raise ValueError(
            f"nu must be <= 2 min(n_+, n_-) / n = {limit:g} here: the specified nu is infeasible; "
            f"got {nu!r}"
        )


def _shares(y, weights):
    """What every sample counts: 1/n, or its part of the weights."""
    return np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()


# ---------------------------------------------------------------------------------------
# The dual problem
# ---------------------------------------------------------------------------------------


class Dual(NamedTuple):
    """max over beta of p^T beta - 1/2 beta^T K beta subject to lower <= beta <= upper, and

    the sum of beta over each group being what it is at the start.
    """

    p: np.ndarray  # (n,)
    lower: np.ndarray  # (n,)
    upper: np.ndarray  # (n,)
    start: np.ndarray  # (n,), a feasible beta
    groups: tuple  # slices, none empty, that share out the n multipliers


def c_dual(y, C=inf):
    """The dual of the soft margin, in beta_i = alpha_i y_i: p = y and one group of sum 0,

        max y^T beta - 1/2 beta^T K beta,   0 <= y_i beta_i <= C,   sum_i beta_i = 0 .

    That is max sum_i alpha_i - 1/2 alpha^T Q alpha. C is in the box alone; C = inf leaves
    the dual of the hard margin, whose optimum 1/2 ||w||^2 is 1/2 sum_i alpha_i. With C above the
    largest alpha_i of the hard margin the two are the same. PRNN prints the box without the
    sum, the dual of a machine without b (svm-43). C may be an array, a bound per sample.

    Returns: a `Dual`.

    >>> c_dual(np.array([1.0, -1.0]), C=2.0)[1:3]
    (array([ 0., -2.]), array([2., 0.]))

    Claims: svm-26, svm-41, svm-61
    """
    C = np.broadcast_to(np.asarray(C, dtype=float), len(y))
    lower, upper = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return Dual(y.astype(float), lower, upper, np.zeros(len(y)), (slice(0, len(y)),))


def nu_dual(y, nu, weights=None):
    """The dual of the nu machine, in beta_i = alpha_i y_i: p = 0 and a group for each class,

        max -1/2 beta^T K beta,   0 <= alpha_i <= 1/n,   sum_i alpha_i = nu/2 in both classes .

    The same as sum_i alpha_i y_i = 0 and sum_i alpha_i = nu. With `weights` (n,) the box of
    sample i is its share of them in the place of 1/n. Groups are slices: the samples of a class
    must follow each other.

    Returns: a `Dual`. Raises: ValueError for nu out of range, or a y that changes more than once.

    >>> nu_dual(np.array([1.0, 1.0, -1.0, -1.0]), nu=0.75).start
    array([ 0.25 ,  0.125, -0.25 , -0.125])
    """
    shares = _shares(y, weights)
    _check_nu(y, nu, shares)
    changes = np.flatnonzero(np.diff(y)) + 1
    if len(changes) != 1:
        raise ValueError(f"y must hold one class after the other; it changes {len(changes)} times")
    groups = slice(0, int(changes[0])), slice(int(changes[0]), len(y))
    start = np.concatenate([y[group] * fill(shares[group], nu / 2) for group in groups])
    lower, upper = np.where(y > 0, 0.0, -shares), np.where(y > 0, shares, 0.0)
    return Dual(np.zeros(len(y)), lower, upper, start, groups)


def fill(most, total):
    """Numbers between 0 and `most` (n,) that sum to `total`: the first as large as they may be.

    >>> fill(np.array([2.0, 2.0, 2.0, 2.0]), total=5.0)
    array([2., 2., 1., 0.])
    """
    return np.clip(total - (np.cumsum(most) - most), 0.0, most)


class DualSolution(NamedTuple):
    """The solution of a `Dual` by the general solver."""

    beta: np.ndarray  # (n,)
    objective: float
    residual: float  # the largest violation of a KKT condition, relative to its terms


def solve_dual(K, dual):
    """The maximiser of a `Dual` by `optimization.solve_qp`: the second route, for small n.

    It knows nothing of pairs: an interior point method on all multipliers at once. K is an array.

    Returns: a `DualSolution`. Raises: `optimization.UnboundedError` for C = inf and classes that
    nothing separates.

    >>> solution = solve_dual(np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0])))
    >>> solution.beta.round(9), round(solution.objective, 9)
    (array([ 0.5, -0.5]), 0.5)

    Claims: svm-68
    """
    n = len(dual.p)
    A = np.zeros((len(dual.groups), n))
    for row, group in zip(A, dual.groups, strict=True):
        row[group] = 1.0
    G, h = box(dual.lower, dual.upper)
    finite = np.isfinite(h)
    qp = solve_qp(np.asarray(K, float), -dual.p, A, A @ dual.start, G[finite], h[finite])
    return DualSolution(qp.x, -qp.objective, qp.residual)


# ---------------------------------------------------------------------------------------
# Offset and certificate
# ---------------------------------------------------------------------------------------


def offset_intervals(gradient, dual, beta):
    """Of each group the offsets b that the KKT conditions allow, g = p - K beta the gradient:

        max {g_i: beta_i < upper_i} <= b <= min {g_i: beta_i > lower_i} .

    For the soft margin g_i = y_i - w^T x_i. A free multiplier is in both sets and leaves one b;
    without any there may be a whole interval of optimal ones. Away from the optimum the left end
    is above the right one, and their distance is what SMO makes small.

    Returns: (groups, 2).

    >>> X, y = np.array([[0.0], [1.0], [0.5], [1.5]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> beta = 0.1 * y
    >>> offset_intervals(y - X @ X.T @ beta, c_dual(y, C=0.1), beta)
    array([[-1.  ,  0.85]])

    Claims: svm-50
    """
    low = np.where(beta < dual.upper, gradient, -inf)
    high = np.where(beta > dual.lower, gradient, inf)
    return np.array([[low[group].max(), high[group].min()] for group in dual.groups])


def _middles(ends):
    """Amid the ends (k, 2) of intervals: (k,). Where one is infinite the other; of two, 0."""
    ends = np.where(np.isfinite(ends), ends, ends[:, ::-1])
    return np.where(np.isfinite(ends), ends, 0.0).mean(axis=1)


def _is_free(dual, beta):
    """Which multipliers are strictly inside their box: (n,)."""
    return (beta > dual.lower) & (beta < dual.upper)


def offsets(gradient, dual, beta):
    """b of each group: the mean of g over its free multipliers, else amid `offset_intervals`.

    For the soft margin b = y_j - w^T x_j, averaged over 0 < alpha_j < C. Support vectors at the
    bound have b + y_j xi_j there, and do not belong in the mean, as ISML and IRHD have it
    (svm-49).

    Returns: (groups,).

    >>> X, y = np.array([[3.0], [1.0]]), np.array([1.0, -1.0])
    >>> offsets(y - X @ X.T @ (0.5 * y), c_dual(y), 0.5 * y)
    array([-2.])

    Claims: svm-48
    """
    free = _is_free(dual, beta)
    b = _middles(offset_intervals(gradient, dual, beta))
    for k, group in enumerate(dual.groups):
        if free[group].any():
            b[k] = gradient[group][free[group]].mean()
    return b


class Certificate(NamedTuple):
    """What proves how good a beta is."""

    dual: float  # the objective of beta
    primal: float  # that of w = sum_i beta_i phi(x_i) and `offsets`
    gap: float  # primal - dual: no less than what either is from the optimum
    violation: float  # the largest distance of the ends of `offset_intervals`, if they are swapped
    offsets: np.ndarray  # (groups,)


def certify(K, dual, beta):
    """The certificate of a feasible beta, from K beta computed afresh.

    For any offset b of each group, s its sum, and l, u for lower and upper,

        1/2 beta^T K beta + sum_i max(u_i (g_i - b), l_i (g_i - b)) + sum b s

    bounds the dual from above if K is positive semidefinite, and for no other K need it do so. For
    the soft margin it is 1/2 ||w||^2 + C sum_i xi_i. It is inf where a bound is and a margin is
    missed. With b between the ends of `offset_intervals` each i contributes at most the violation
    times its box to the gap.

    Returns: a `Certificate`.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]), C=2.0)
    >>> certify(K, dual, np.array([0.5, -0.5]))[:4]
    (0.5, 0.5, 0.0, 0.0)

    Claims: svm-62
    """
    return _certified(dual, beta, dual.p - K @ beta)


def _certified(dual, beta, gradient):
    b = offsets(gradient, dual, beta)
    quadratic = beta @ (dual.p - gradient) / 2
    primal = quadratic
    for group, offset in zip(dual.groups, b, strict=True):
        above = gradient[group] - offset
        bound = np.where(above > 0, dual.upper[group], dual.lower[group])
        primal += np.sum(bound[above != 0] * above[above != 0]) + offset * dual.start[group].sum()
    low, high = offset_intervals(gradient, dual, beta).T
    value = float(dual.p @ beta - quadratic)
    return Certificate(
        value, float(primal), float(primal - value), max(float((low - high).max()), 0.0), b
    )


# ---------------------------------------------------------------------------------------
# SMO
# ---------------------------------------------------------------------------------------

FLAT = 1e-12  # relative to the largest, a curvature or a change that counts as none


class SMOState(NamedTuple):
    """SMO after a step."""

    beta: np.ndarray  # (n,)
    gradient: np.ndarray  # (n,), p - K beta
    pair: tuple  # the multipliers that the last step moved; () at the start
    objective: float  # of the dual; it never falls
    violation: float  # of the worst pair: g_i - g_j, where beta_i may rise and beta_j fall


def steepest(excess, curvature):
    """The partner j that violates the KKT conditions most: the largest g_i - g_j.

    `excess` (n,) holds g_i - g_j, `curvature` (n,) K_ii + K_jj - 2 K_ij; of both only the
    j that may fall matter, the others have an excess of -inf.

    >>> steepest(np.array([3.0, 2.0]), np.array([9.0, 1.0]))
    0
    """
    return int(excess.argmax())


def second_order(excess, curvature):
    """The partner j with which the objective rises most, excess^2 / curvature (see `steepest`).

    >>> second_order(np.array([3.0, 2.0]), np.array([9.0, 1.0]))
    1
    """
    rise = np.maximum(excess, 0.0)
    step = rise / curvature  # a square could overflow
    rise *= step
    return int(rise.argmax())


def step_bounds(dual, beta, i, j):
    """The ends of the segment that a step on the pair i, j may move beta_i on.

    The sum of the two stays; the box cuts the line that this leaves.

    Returns: L, H.

    >>> dual = c_dual(np.array([1.0, -1.0]), C=2.0)
    >>> step_bounds(dual, np.array([0.5, -0.5]), i=0, j=1)
    (0.0, 2.0)
    """
    total = beta[i] + beta[j]
    low = max(dual.lower[i], total - dual.upper[j])
    return float(low), float(min(dual.upper[i], total - dual.lower[j]))


def smo(K, dual, select=second_order, start=None):
    """Sequential minimal optimisation: the best step on two multipliers at a time.

    One alone cannot move, since the sum of its group must stay; two of a group can, and the best
    step is a fraction: with g = p - K beta the objective rises by t (g_i - g_j) - t^2 eta / 2 for
    beta_i + t and beta_j - t, where eta = K_ii + K_jj - 2 K_ij, so that

        t = (g_i - g_j) / eta,   cut where either leaves its box.

    i is the multiplier of its group that may rise with the largest g_i. j is one of the group
    that may fall: the one that `select` picks, from the excess g_i - g_j and eta. An eta of 0 or
    less (equal samples, or a K that is no Gram matrix) is taken as tiny: the step goes to the
    box. g is kept up to date with two rows of K: a step costs O(n), and needs no others.

    `start` is a state to go on from; None begins with the start of `dual`.

    Yields: `SMOState`, the start included. It ends at an optimum, or where rounding hides a step.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]))
    >>> [(state.beta.tolist(), state.objective) for state in smo(K, dual)]
    [([0.0, 0.0], 0.0), ([0.5, -0.5], 0.5)]

    Claims: svm-71
    """
    K = K.astype(float, copy=False) if isinstance(K, np.ndarray) else K
    beta, gradient, pair, objective, _ = _start(K, dual) if start is None else start
    lower, upper = dual.lower.tolist(), dual.upper.tolist()  # single numbers are faster in lists
    diagonal, each = K.diagonal().copy(), K.diagonal().tolist()
    no_rise = np.where(beta < dual.upper, 0.0, -inf)  # added to the gradient, they rule out
    no_fall = np.where(beta > dual.lower, 0.0, inf)  # what cannot rise or fall
    excess, curvature = np.empty(len(beta)), np.empty(len(beta))
    groups = [(g, excess[g], curvature[g], diagonal[g]) for g in dual.groups]
    flat = FLAT * _spread(K)
    while True:
        risers = _pairs(K, each, gradient, no_rise, no_fall, groups, excess, curvature, flat)
        yield SMOState(beta, gradient, pair, objective, excess.item(excess.argmax()))
        j = select(excess, curvature)
        i = next(i for i, (group, *_) in zip(risers, groups, strict=True) if j < group.stop)
        beta_i, beta_j, g = beta.item(i), beta.item(j), excess.item(j)
        room_i, room_j = upper[i] - beta_i, beta_j - lower[j]
        t = min(g / curvature.item(j), room_i, room_j)
        after_i = upper[i] if t == room_i else beta_i + t
        after_j = lower[j] if t == room_j else beta_j - t
        if not g > 0 or (after_i == beta_i and after_j == beta_j):
            return
        row = K[i]
        objective += t * (g - t * (each[i] + each[j] - 2 * row.item(j)) / 2)
        beta = beta.copy()
        beta[i], beta[j], pair = after_i, after_j, (i, j)
        change = row - K[j]
        change *= -t
        change += gradient
        gradient = change
        for k, after in zip(pair, (after_i, after_j), strict=True):
            no_rise[k] = 0.0 if after < upper[k] else -inf
            no_fall[k] = 0.0 if after > lower[k] else inf


def _spread(K):
    """The largest squared distance from the first sample, whatever the origin; 1 if all are 0."""
    each = K.diagonal()
    return float(np.abs(each + each[0] - 2.0 * K[0]).max()) or 1.0


def _start(K, dual):
    """The state that SMO begins with."""
    beta = dual.start.astype(float)
    product = K @ beta if beta.any() else np.zeros(len(beta))
    return SMOState(beta, dual.p - product, (), float(beta @ (dual.p - product / 2)), inf)


def _pairs(K, each, gradient, no_rise, no_fall, groups, excess, curvature, flat):
    """Of each group its first multiplier i; for all j the excess and the curvature with it."""
    np.add(gradient, no_rise, out=excess)
    risers = [group.start + int(own.argmax()) for group, own, _, _ in groups]
    bests = [excess.item(i) for i in risers]  # -inf if nothing of the group can rise
    np.add(gradient, no_fall, out=excess)
    for i, best, (group, own, bend, diagonal) in zip(risers, bests, groups, strict=True):
        np.subtract(best, own, out=own)
        np.multiply(K[i][group], -2.0, out=bend)
        bend += diagonal
        bend += each[i]
    np.maximum(curvature, flat, out=curvature)
    return risers


def restrict(gradient, dual, beta, chunk, K_chunk):
    """The `Dual` of the multipliers of a `chunk`, the others fixed at beta.

    K_chunk (m, m) is their matrix. What the others contribute to the `gradient` p - K beta goes
    into p, and the sums of the groups are what the chunk, in ascending order, has now.

    Returns: a `Dual`.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]), C=2.0)
    >>> beta = np.array([0.25, -0.25])
    >>> part = restrict(dual.p - K @ beta, dual, beta, np.array([1]), np.array([[1.0]]))
    >>> part.p, part.start, part.groups
    (array([-0.75]), array([-0.25]), (slice(0, 1, None),))
    """
    start = beta[chunk]
    ends = [np.searchsorted(chunk, [group.start, group.stop]) for group in dual.groups]
    groups = tuple(slice(*map(int, end)) for end in ends if end[0] < end[1])
    p = gradient[chunk] + K_chunk @ start
    return Dual(p, dual.lower[chunk], dual.upper[chunk], start, groups)


def chunking(K, dual, size, *, rng):
    """Optimise over a random chunk of `size` multipliers, the others fixed; again and again.

    That is a `Dual` again (`restrict`), which `solve_dual` maximises.

    Yields: `SMOState`; its pair holds the chunk.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]), C=2.0)
    >>> states = chunking(K, dual, size=2, rng=np.random.default_rng(0))
    >>> [round(next(states).objective, 9) for _ in range(2)]
    [0.0, 0.5]

    Claims: svm-70
    """
    state = _start(K, dual)
    while True:
        low, high = offset_intervals(state.gradient, dual, state.beta).T
        yield state._replace(violation=float((low - high).max()))
        chunk = np.sort(rng.choice(len(dual.p), size, replace=False))
        beta, rows = state.beta.copy(), K[chunk]
        K_chunk = rows[:, chunk]
        part = restrict(state.gradient, dual, beta, chunk, K_chunk)
        better = np.clip(solve_dual(K_chunk, part).beta, part.lower, part.upper)
        beta[chunk] = better
        gradient = state.gradient - (better - part.start) @ rows
        objective = float(beta @ (dual.p + gradient) / 2)
        state = SMOState(beta, gradient, tuple(chunk.tolist()), objective, inf)


# ---------------------------------------------------------------------------------------
# Newton steps on many multipliers
# ---------------------------------------------------------------------------------------

ROOM = 2**22  # entries of the rows of K that a free step may copy
MOST = 40  # free multipliers that a step moves together where all are too many
CROWD, ROUGH = 300, 0.01  # where conjugate gradients are faster than elimination; what they leave


def free_step(K, dual, state, most=MOST):
    """The free multipliers at once: Newton's step on them, cut where one meets its bound.

    Among multipliers strictly inside their box the constraints are the sums alone, and

        [K_FF  A^T] [d]   [g_F]
        [A      0 ] [b] = [ 0 ],   A the rows that sum the groups,

    maximises the objective at beta_F + d. K_FF, singular when there are more of them than
    features, gets a little on its diagonal. If there are more than `most`, some `MOST` take part.

    Returns: a `SMOState`; the same if nothing can be gained. Its violation is not computed: inf.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]))
    >>> state = SMOState(np.array([0.1, -0.1]), np.array([0.8, -0.8]), (), 0.18, 1.6)
    >>> free_step(K, dual, state).beta.round(6)
    array([ 0.5, -0.5])
    """
    F = np.flatnonzero(_is_free(dual, state.beta))
    if len(F) > most:
        F = F[np.linspace(0, len(F) - 1, MOST).astype(int)]
    rows, A = K[F], _sums(dual, F)
    K_FF, g = rows[:, F], _centred(state.gradient[F], A)
    d, _ = _free_solution(K_FF, A, g)
    slope, curvature = float(g @ d), float(d @ K_FF @ d)
    if not slope > ROUNDING**2 * abs(state.objective):
        return state
    room, end = _room(dual, state.beta, F, d)
    t = room.min(initial=slope / curvature if curvature > 0 else inf)
    if t == inf:
        return state
    beta = state.beta.copy()
    beta[F] = np.where(room == t, end, np.clip(beta[F] + t * d, dual.lower[F], dual.upper[F]))
    gradient = state.gradient - (t * d) @ rows
    objective = state.objective + t * (slope - t * curvature / 2)
    return SMOState(beta, gradient, tuple(F.tolist()), objective, inf)


def _free_solution(K_FF, A, g, ridge=0.0):
    """d and b of the system of a Newton step on free multipliers, with a ridge relative to K_ii.

    If there is a ridge and they are many, d is by `_conjugate_gradients`.
    """
    m, means = len(g), A @ g / A.sum(axis=1)
    g = _centred(g, A)
    delta = (ridge + ROUNDING) * (np.abs(K_FF.diagonal()).max(initial=0.0) or 1.0)
    d = _conjugate_gradients(K_FF, A, g, delta) if ridge > 0 and m >= CROWD else None
    if d is not None:
        return d, means + A @ (g - K_FF @ d - delta * d) / A.sum(axis=1)
    size = m + len(A)
    system = np.zeros((size, size))
    system[:m, :m], system[:m, m:], system[m:, :m] = K_FF, A.T, A
    system.flat[: m * size : size + 1] += delta
    solution = np.linalg.solve(system, np.append(g, np.zeros(len(A))))
    return _centred(solution[:m], A), means + solution[m:]


def _conjugate_gradients(K_FF, A, g, delta):
    """d with (K_FF + delta I) d = g, up to a 100th of g; all without their means over the groups.

    None if it takes so many products with K_FF that elimination is as fast, or K_FF is indefinite.
    """
    unit = np.abs(g).max() or 1.0  # the squares below could overflow
    d, rest = np.zeros(len(g)), g / unit
    direction, length = rest, rest @ rest
    enough = ROUGH**2 * length
    for _ in range(len(g) // 10):
        bent = _centred(K_FF @ direction, A) + delta * direction
        curvature = direction @ bent
        if not curvature > 0:
            break
        t = length / curvature
        d, rest = d + t * direction, rest - t * bent
        length, before = rest @ rest, length
        if length <= enough:
            return unit * _centred(d, A)
        direction = rest + length / before * direction
    return None


def _centred(v, A):
    """v less its mean over each group, whose rounding a long step would make a sum that moves."""
    return v - (A @ v / A.sum(axis=1)) @ A


def _room(dual, beta, F, d):
    """How far along d each of the multipliers F can go, and the bound that it meets."""
    end = np.where(d > 0, dual.upper[F], dual.lower[F])
    room = np.full(len(F), inf)
    np.divide(end - beta[F], d, out=room, where=np.abs(d) > FLAT * np.abs(d).max(initial=0.0))
    return room, end


HIDDEN = 1e-14  # relative to K_ii |beta_i|, a violation that may be rounding error alone
FEW, RARE = 64, 400  # steps of SMO before the free multipliers have their turn
PATIENCE = 64  # times the work of a phase of SMO that free steps may take as long as they pay
PER_STEP = 20.0  # passes over n numbers that a step of SMO makes
DENSE = 10.0  # times as fast as in these passes are the operations that solve a system
CALLS = 3e4  # the time of its calls, in operations; a free step has about three times as many


def smo_with_free_steps(K, dual, start=None):
    """`smo`, and now and then `free_step`s that cost about as much.

    When SMO has found out which multipliers are free, as few as d + 1 with a linear kernel, it
    still takes many steps to solve for these: pairs are then slower than all of them at once. As
    long as free steps raise the objective as much for their cost they come after every `FEW`
    steps of SMO, and more of them every time; otherwise ever more rarely, up to `RARE`. All free
    multipliers take part if that costs no more than the steps of SMO in between; or than an eighth
    of these, if one of those last moved met its bound.

    `start` is a state to go on from, as for `smo`.

    Yields: `SMOState`; of the free steps the violation is inf. It ends where `smo` does, or where
    free steps gain nothing and the violation is no more than rounding errors.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]))
    >>> [state.objective for state in smo_with_free_steps(K, dual)]
    [0.0, 0.5]
    """
    state, work = start, CALLS + PER_STEP * len(dual.p)
    noise = HIDDEN * np.abs(K.diagonal()).max()
    phase, patience, uncut = max(FEW, len(dual.p) // 2), 1, True
    while True:
        began = None
        for steps, before in enumerate(smo(K, dual, start=state)):
            began = before.objective if steps == 0 else began
            yield before
            if steps == phase:
                break
        else:
            return
        state, spent, budget = before, 0.0, phase * work / (1 if uncut else 8)
        most = max(MOST, min(round((DENSE * budget) ** (1 / 3)), ROOM // len(dual.p)))
        while spent < patience * phase * work:
            after = free_step(K, dual, state, most)
            if after is state:
                break
            uncut = _is_free(dual, after.beta)[list(after.pair)].all()
            most = most if uncut else MOST
            spent += _cost(len(after.pair), len(dual.p))
            if state is not before:
                yield state
            state = after
        if state is before and before.violation <= noise * np.abs(before.beta).max():
            return  # nothing is left that rounding does not hide
        paid = state.objective - before.objective
        if paid > (before.objective - began) / (phase * work) * spent:
            phase, patience = FEW, min(2 * patience, PATIENCE)
        else:
            phase, patience = min(2 * phase, RARE), 1


def _cost(m, n):
    """Of a free step on m multipliers, in operations: the system, its rows, and the calls."""
    return m**3 / DENSE + 3 * m * n + 3 * CALLS


SOLVES, MISSES = 16, 3  # after so many, and so many in turn without a gain, `settle` gives up
RIDGE, FALL = 0.1, 3.0  # the first ridge of `settle`, relative to K_ii; its fall at each solve
CALM = 0.08  # the share of the free multipliers that may change where no ridge is needed


def settle(K, dual, state, tol):
    """Newton's method on the free multipliers, which it guesses: as a rule the optimum, if near.

    Boxes must be finite. Were it known which multipliers F are free at the optimum, one system
    would give them, and the offsets b of the groups:

        [K_FF + delta I  A^T] [d]   [g_F]
        [A               0  ] [b] = [ 0 ],   delta = 0,   A the rows that sum the groups,

    d what is missing of beta_F and g the gradient p - K beta. Those that are free now, or else
    all, are the guess. What leaves its box then is set to the bound; what is at a bound, and
    would raise the objective inside, is made free; and again. With delta = 0 that may go round
    for ever. A ridge delta > 0 holds beta back: it falls as long as the objective rises, and is
    dropped as soon as hardly any multiplier changes. Until then, if many are free, the system is
    solved nearly, by conjugate gradients.

    Returns: a `SMOState`, of a violation of at most `tol` or the best there was; the same if
    nothing was gained, or if a group has no free multiplier and others have.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]), C=2.0)
    >>> state = SMOState(np.array([0.1, -0.1]), np.array([0.8, -0.8]), (), 0.18, 1.6)
    >>> settle(K, dual, state, tol=1e-9).beta.round(6)
    array([ 0.5, -0.5])
    """
    free, best, fixed = _is_free(dual, state.beta), state, dual.lower == dual.upper
    free |= not free.any()
    least = ROUNDING * np.abs(dual.p).max(initial=0.0)
    ridge, misses = RIDGE, 0
    for _ in range(SOLVES):
        F = np.flatnonzero(free)
        A, K_FF = _sums(dual, F), _block(K, F)
        if len(A) < len(dual.groups) or K_FF is None:
            break
        d, b = _free_solution(K_FF, A, state.gradient[F], ridge)
        target = state.beta.copy()
        target[F] += d
        gradient = state.gradient - K @ (target - state.beta)
        beta, pull = target, gradient.copy()
        if ((target < dual.lower) | (target > dual.upper)).any():
            beta = _feasible(dual, target, free)
            gradient = state.gradient - K @ (beta - state.beta)
        inside = free & _is_free(dual, beta)
        for group, offset in zip(dual.groups, b, strict=True):
            pull[group] -= offset
        inward = np.where(target == dual.lower, pull > least, pull < -least) & ~(free | fixed)
        objective, before = float(beta @ (dual.p + gradient) / 2), state.violation
        violation, gained = _violation(dual, beta, gradient), objective >= best.objective
        state = SMOState(beta, gradient, tuple(F.tolist()), objective, violation)
        best, misses = (state, 0) if gained else (best, misses + 1)
        changes = np.count_nonzero(free & ~inside) + np.count_nonzero(inward)
        if ridge == 0 and violation <= tol:
            return state
        stuck = ridge == 0 and changes == 0 and (violation >= before or not gained)
        if stuck or misses > MISSES:  # the system is singular, or what is left is rounding
            break
        ridge = 0.0 if changes <= CALM * len(F) else ridge / FALL if gained else ridge
        free = inside | inward
    return best


def _sums(dual, F):
    """The rows that sum the multipliers F by groups, of the groups that have some."""
    A = np.array([(group.start <= F) & (group.stop > F) for group in dual.groups], dtype=float)
    return A[A.any(axis=1)]


def _feasible(dual, beta, free):
    """The nearest point whose sums are those of the start, only the `free` ones moved."""
    beta = beta.copy()
    for group in dual.groups:
        F = group.start + np.flatnonzero(free[group])
        if not len(F):
            continue
        total = dual.start[group].sum() - (beta[group].sum() - beta[F].sum())
        beta[F] = project_onto_sum(beta[F], dual.lower[F], dual.upper[F], total)
    return beta


def project_onto_sum(x, lower, upper, total):
    """The nearest point to x (m,) in a box, of those whose sum is `total`: x + t, cut at the box.

    The sum rises with t from that of `lower` to that of `upper`, along straight pieces that end
    where an entry begins or ceases to move. The box is finite; a sum out of its reach ends at the
    nearest corner.

    Returns: (m,).

    >>> project_onto_sum(np.array([0.0, 2.0, 9.0]), np.zeros(3), np.full(3, 3.0), total=7.0)
    array([1., 3., 3.])
    """
    ends = np.concatenate([lower - x, upper - x])
    order = ends.argsort()
    ends, moving = ends[order], np.where(order < len(x), 1.0, -1.0).cumsum()
    rises = moving[:-1] * (ends[1:] - ends[:-1])
    sums = np.concatenate([[0.0], rises]).cumsum() + lower.sum()
    nearest = np.clip(x + np.interp(total, sums, ends), lower, upper)
    for _ in range(3):  # what x + t has rounded, first by those inside
        rest = total - nearest.sum()
        if abs(rest) <= EPS * np.abs(nearest).sum():
            break
        moves = (nearest > lower) & (nearest < upper)
        if not moves.any():
            moves = nearest < upper if rest > 0 else nearest > lower
        share = rest / max(1, np.count_nonzero(moves))
        nearest = np.clip(nearest + np.where(moves, share, 0.0), lower, upper)
    return nearest


# ---------------------------------------------------------------------------------------
# The central path: linear kernels
# ---------------------------------------------------------------------------------------

INTERIOR = 0.01  # of the way to where all have the same share of their box, the least
STEP = 0.99  # of the way to the nearest bound that a step on the central path goes
SIDES = np.array([[1.0], [-1.0]])  # of a step: how the room to the bounds changes with it


class PathState(NamedTuple):
    """`central_path` after a step."""

    beta: np.ndarray  # (n,), strictly inside its box
    offsets: np.ndarray  # (groups,)
    room: np.ndarray  # (2, n): beta - lower, upper - beta
    multipliers: np.ndarray  # (2, n), positive, of the two bounds
    objective: float  # of the dual
    gap: float  # the sum of room times multipliers, by which the optimum may be better


def central_path(X, ridge, dual):
    """The interior point method for K = X X^T + ridge I, in O(n d^2) a step: K is not formed.

    With multipliers z >= 0 of the lower and z' >= 0 of the upper bounds, and w = X^T beta, beta
    is optimal where

        p - ridge beta - X w - A^T b + z - z' = 0,   z (beta - lower) = z' (upper - beta) = mu

    for mu = 0, A the rows that sum the groups. The path to there is followed by Newton's method
    as mu falls, by what a predictor says, as in `optimization.interior_point`. z, z' and beta meet
    in diagonal matrices only. So the system of a step is one for w and the offsets b:

        (M^T D^-1 M + I_w) d = M^T D^-1 r,   M = [X  A^T],
        D = ridge + z / (beta - lower) + z' / (upper - beta),   step of beta = D^-1 (r - M d),

    r what is missing of the first equation once the other two are put into it.

    Yields: `PathState`, the start included: the best beta on the way from that of `dual` to where
    all of a group have the same share of their box. It ends where the gap falls no more.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    >>> for _, state in zip(range(12), central_path(X, 0.0, c_dual(y, C=2.0))):
    ...     last = state
    >>> last.beta.round(6), last.offsets.round(6)
    (array([ 0.5, -0.5]), array([0.]))
    """
    A = _sums(dual, np.arange(len(dual.p)))
    M, own = np.hstack([X, A.T]), np.append(np.ones(X.shape[1]), np.zeros(len(A)))
    beta = _inner_point(X, ridge, dual, A)
    gradient = dual.p - X @ (X.T @ beta) - ridge * beta
    b = A @ gradient / A.sum(axis=1)
    rest = gradient - b @ A
    z = np.maximum(-SIDES * rest, 0.0) + (np.abs(rest).mean() or 1.0)
    room = SIDES * (beta - np.stack([dual.lower, dual.upper]))
    products, gap = z * room, inf
    while (room > 0).all() and (z > 0).all() and products.sum() < gap:
        objective, gap = float(beta @ (dual.p + gradient) / 2), float(products.sum())
        yield PathState(beta, b, room, z, objective, gap)
        D = ridge + (z / room).sum(axis=0)
        scaled = M / D[:, None]
        system = M.T @ scaled
        system.flat[:: len(own) + 1] += own
        rest = gradient - b @ A + z[0] - z[1]
        towards = partial(_path_step, M, D, scaled, system, rest, room, z)
        step, _, change = towards(-products)
        t = _reach(room, SIDES * step, z, change)
        left = ((z + t * change) * (room + t * SIDES * step)).mean() / products.mean()
        aim = left**3 * products.mean()
        step, d, change = towards(aim - products - change * SIDES * step)
        t = STEP * _reach(room, SIDES * step, z, change)
        beta, b, z = beta + t * step, b + t * d[X.shape[1] :], z + t * change
        gradient = dual.p - X @ (X.T @ beta) - ridge * beta
        room = SIDES * (beta - np.stack([dual.lower, dual.upper]))
        products = z * room


def _share(dual, A):
    """Of each group how far its sum is on the way from the least to the most."""
    return A @ (dual.start - dual.lower) / (A @ (dual.upper - dual.lower))


def _inner_point(X, ridge, dual, A):
    """The best beta on the way from the start to where all of a group have a share of their box."""
    way = dual.lower + (_share(dual, A) @ A) * (dual.upper - dual.lower) - dual.start
    score = X.T @ way
    slope = way @ (dual.p - ridge * dual.start) - score @ (X.T @ dual.start)
    curvature = score @ score + ridge * way @ way
    t = slope / curvature if curvature > 0 else 1.0
    return dual.start + np.clip(t, INTERIOR, 1.0) * way


def _path_step(M, D, scaled, system, rest, room, z, aim):
    """The steps of beta, (w, b) and z for which the products of z and the room change by `aim`."""
    r = rest + (SIDES * aim / room).sum(axis=0)
    d = np.linalg.solve(system, r @ scaled)
    step = (r - M @ d) / D
    return step, d, (aim - z * SIDES * step) / room


def _reach(room, change, z, change_z):
    """The largest t <= 1 for which room + t change and z + t change_z are not negative."""
    return 1.0 / max(1.0, -float((change / room).min()), -float((change_z / z).min()))


# ---------------------------------------------------------------------------------------
# In passes
# ---------------------------------------------------------------------------------------


def in_play(gradient, dual, beta, margin=0.0):
    """The multipliers that matter now: the free ones, and those that a step would move, or nearly.

    With b amid `offset_intervals` the latter are the beta_i below their upper bound with
    g_i > b - margin, and those above the lower one with g_i < b + margin, g the `gradient`. At the
    optimum, without a margin, they are those of the samples on the margin lines.

    Returns: (m,), ascending.

    >>> dual = c_dual(np.array([1.0, 1.0, -1.0]))
    >>> in_play(np.array([2.0, -1.0, 0.0]), dual, dual.start)
    array([0, 2])
    """
    moves = _is_free(dual, beta)
    middles = _middles(offset_intervals(gradient, dual, beta))
    for group, b in zip(dual.groups, middles, strict=True):
        g, here = gradient[group], beta[group]
        moves[group] |= (here < dual.upper[group]) & (g > b - margin)
        moves[group] |= (here > dual.lower[group]) & (g < b + margin)
    return np.flatnonzero(moves)


LARGE = 200  # multipliers from which on it pays to leave some out
SHARE = 0.5  # of all, in play, above which a matrix of their own does not pay
NARROW, PASSES = 14.0, 24  # the violation falls so many times in a pass; the most passes
LATE = 1 / NARROW  # of the first violation, where `settle` may help; then of that of the last try
LITTLE = 5.0  # times the last pass of SMO: what the first of some solves may take
HEAVY = 1200  # multipliers in play that a pass of SMO brings nearer in less time than a solve
CLOSE = 1e-5  # of what tol times the boxes is, the gap where `central_path` is left
ALONG = 100  # the most steps on it; who allows no more gets those of SMO, which never lose
MEET = 1e-6  # of the spread of the samples, a distance at which hulls are taken to meet


class Solved(NamedTuple):
    """How `solve` ended."""

    run: Run  # its last state has the gradient p - K beta, computed afresh
    certificate: Certificate

    @property
    def beta(self):
        """(n,)."""
        return self.run.state.beta


def solve(K, dual, tol, max_iter):
    """The optimum of a `Dual`, to a violation of at most `tol`, with its certificate.

    It goes in passes, and after each the gradient is computed afresh. The first pass of a
    `LinearGram` follows the `central_path`, which leaves little to do. All others are SMO, until
    the violation is a 14th of what it was; of a large problem on those `in_play` alone, since
    soon most multipliers are at the bound where they will end. Whenever the violation has fallen
    that far a pass may be to `settle`, if that promises to be faster.

    There are `max_iter` steps, a settlement being one; -1 stands for 10^7, or 100 n if that is
    more. With a C of inf SMO also stops when the convex hulls of the classes are no farther apart
    than a millionth of the samples' spread: nothing separates them then.

    Returns: a `Solved`; it has converged if the certificate says so.

    >>> K, dual = np.array([[1.0, -1.0], [-1.0, 1.0]]), c_dual(np.array([1.0, -1.0]))
    >>> solution = solve(K, dual, tol=1e-3, max_iter=-1)
    >>> solution.beta, solution.certificate.gap, solution.run.converged
    (array([ 0.5, -0.5]), 0.0, True)
    """
    left = max(10**7, 100 * len(dual.p)) if max_iter == -1 else max_iter
    state = _start(K, dual)
    history, rises = [state.objective], []
    violation = _violation(dual, state.beta, state.gradient)
    near = LATE * violation
    for k in range(PASSES):
        if violation <= tol or left == 0:
            break
        if k == 0 and left > ALONG and _has_path(K, dual):
            beta, rises = _path_pass(K, dual, state, tol)
            near = inf
        else:
            after = state
            if violation <= near and _worth(K, dual, state, len(rises), violation / near):
                after = settle(K, dual, state, tol)
                near = LATE * violation if after is not state else 0.0
            beta, rises = after.beta, [after.objective - state.objective]
            if after is state:
                beta, rises = _smo_pass(K, dual, state, max(tol, violation / NARROW), left)
        if not len(rises):
            break
        left, dual = left - len(rises), dual._replace(start=beta)
        state = _start(K, dual)
        violation = _violation(dual, state.beta, state.gradient)
        history.extend(history[-1] + np.cumsum(rises))
        history[-1] = state.objective
    certificate = _certified(dual, state.beta, state.gradient)
    state = state._replace(violation=certificate.violation)
    converged = bool(certificate.violation <= tol)
    run = Run(state, np.array(history), len(history) - 1, converged)
    return Solved(run, certificate)


def _violation(dual, beta, gradient):
    """How far the ends of `offset_intervals` are swapped."""
    low, high = offset_intervals(gradient, dual, beta).T
    return float((low - high).max())


def _is_bounded(dual):
    """Whether every box is finite."""
    return bool(np.isfinite(dual.upper - dual.lower).all())


def _has_path(K, dual):
    """Whether `central_path` is for this K: the sums together 0, and each with a choice."""
    if isinstance(K, np.ndarray) or K.factor() is None or not _is_bounded(dual):
        return False
    if (dual.lower == dual.upper).any():  # nothing is inside such a box
        return False
    A = _sums(dual, np.arange(len(dual.p)))
    share, size = _share(dual, A), (dual.upper - dual.lower).sum()
    choice = (share > ROUNDING) & (share < 1 - ROUNDING)
    return bool(choice.all() and abs(dual.start.sum()) <= ROUNDING * size)


def _path_pass(K, dual, state, tol):
    """beta where `central_path` ends, and what the objective rose by with each of its steps.

    On its bound is what is nearer to it than its multiplier is to 0, in shares of the box and of
    the largest multiplier. If the others cannot make up the sums, beta stays inside.
    """
    goal = CLOSE * tol * (dual.upper - dual.lower).sum()
    X, ridge = K.factor()
    states = central_path(X - X.mean(axis=0), ridge, dual)  # the sum of beta is 0
    run = iterate(states, "gap", goal, ALONG)
    width, largest = dual.upper - dual.lower, run.state.multipliers.max()
    low, high = run.state.room / width < run.state.multipliers / largest
    beta = np.where(low, dual.lower, np.where(high, dual.upper, run.state.beta))
    beta = _feasible(dual, beta, ~(low | high))
    A = _sums(dual, np.arange(len(beta)))
    exact = np.abs(A @ (beta - dual.start)) <= FLAT * (A @ np.abs(beta))
    if not exact.all():
        beta = _feasible(dual, run.state.beta, np.ones(len(beta), dtype=bool))
    rises = np.diff(np.append(state.objective, run.history))
    return beta, rises


def _worth(K, dual, state, steps, share):
    """Whether to `settle`: if a solve takes little more time than the steps of the last pass.

    With `HEAVY` systems not before SMO, faster then, has made the violation a small share.
    """
    m = len(in_play(state.gradient, dual, state.beta))
    in_memory = _block(K, np.arange(1)) is not None
    affordable = m**3 / DENSE <= LITTLE * steps * (CALLS + PER_STEP * m)
    late = m <= HEAVY or share <= LATE
    return in_memory and affordable and late and _is_bounded(dual)


def _smo_pass(K, dual, state, goal, left):
    """beta after SMO, if it pays on what is in play alone, and what every step raised."""
    n, chunk, K_chunk = len(dual.p), (), None
    if n >= LARGE and _is_bounded(dual):
        chunk = in_play(state.gradient, dual, state.beta, goal)
        K_chunk = _block(K, chunk) if len(chunk) <= SHARE * n else None
    if K_chunk is None:
        return _smo_until(K, dual, goal, left, state)
    part = restrict(state.gradient, dual, state.beta, chunk, K_chunk)
    beta = state.beta.copy()
    beta[chunk], rises = _smo_until(K_chunk, part, goal, left)
    return beta, rises


def _smo_until(K, dual, goal, left, start=None):
    """beta and the rises of SMO, until the violation is at the goal."""
    states = smo_with_free_steps(K, dual, start)
    if not _is_bounded(dual):
        states = _while_apart(states, dual, _spread(K))
    run = iterate(states, "violation", goal, left)
    return run.state.beta, np.diff(run.history)


def _block(K, chunk):
    """The rows and columns of K of a chunk; None if they are not in memory."""
    return K[chunk[:, None], chunk] if isinstance(K, np.ndarray) else K.block(chunk)


def _while_apart(states, dual, spread):
    """The states, until ||w|| / (sum_i alpha_i / 2) is hardly any part of samples of that spread.

    It is the distance of a point of one hull from one of the other. What finite boxes may hold of
    the sum is not counted: it proves nothing.
    """
    width = dual.upper - dual.lower
    held = width[np.isfinite(width)].sum()
    for state in states:
        yield state
        mass = np.abs(state.beta).sum() / 2 - held
        length = 2 * (dual.p @ state.beta - state.objective)
        if mass > 0 and sqrt(max(length, 0.0)) <= MEET * sqrt(spread) * mass:
            return


# ---------------------------------------------------------------------------------------
# The primal
# ---------------------------------------------------------------------------------------


def erm_objective(X, y, w, b, C):
    """1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i): the soft margin without its constraints.

    n C times (lambda/2) ||w||^2 + (1/n) sum_i max(0, 1 - y_i f_i), lambda = 1 / (n C): regularised
    empirical risk with the hinge loss. PRNN prints the sum for the mean, with which the same C
    regularises ever less as n grows (svm-56).

    >>> erm_objective(np.array([[1.0], [-1.0]]), np.array([1, -1]), np.array([0.5]), 0.0, C=0.25)
    0.375

    Claims: svm-55
    """
    return float(w @ w / 2 + np.sum(C * hinge(decision(X, w, b), y)))


class SubgradientState(NamedTuple):
    """Subgradient descent after a step."""

    w: np.ndarray  # (d,)
    b: float
    objective: float  # it may rise
    best: float  # the least objective so far
    moved: float  # the length of the last step; inf at the start


def subgradient_descent(X, y, C):
    """Descent on `erm_objective` along subgradients: at step t = 1, 2, ... with eta = 1 / t,

        w <- w - eta (w - C sum_i {y_i : y_i f_i < 1} x_i),   b <- b + eta C sum_i {...} y_i .

    The step of Pegasos, on all samples. It needs no dual, and comes near the optimum slowly: what
    it gains shrinks like 1 / t.

    Yields: a `SubgradientState`, the start w = 0, b = 0 included.

    >>> states = subgradient_descent(np.array([[1.0], [-1.0]]), np.array([1, -1]), C=0.25)
    >>> [(next(states).objective) for _ in range(2)]
    [0.5, 0.375]
    """
    w, b, t, best, moved = np.zeros(X.shape[1]), 0.0, 0, inf, inf
    while True:
        f = decision(X, w, b)
        objective = float(w @ w / 2 + np.sum(C * hinge(f, y)))
        best = min(best, objective)
        yield SubgradientState(w, b, objective, best, moved)
        t += 1
        pull = C * hinge_subgradient(f, y)
        slope_w, slope_b = w + pull @ X, float(pull.sum())
        w, b = w - slope_w / t, b - slope_b / t
        moved = float(np.hypot(np.linalg.norm(slope_w), slope_b)) / t


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------

BLOCK = 2**20  # entries of a kernel matrix that are computed at a time
SMALL = 64  # samples whose Gram matrix is computed for its diagonal
MEBIBYTE = 2**20
MANY, THIN = 500, 4  # samples, and samples for a feature, for which X X^T is not formed


def kernel_parameters(X, kernel="rbf", gamma="scale", degree=3, coef0=0.0):
    """What `kernels.gram` needs to know, from what scikit-learn's machines are given.

    gamma "scale" is 1 / (d Var X), Var over all entries of X, "auto" 1 / d; `kernel`, `degree`
    and `coef0` are passed on. The linear kernel has no gamma, and gets 1.

    Returns: a dict. Raises: ValueError for a gamma that is neither of them nor a number > 0, or
    if Var X leaves the range of floating point.

    >>> kernel_parameters(np.array([[0.0, 2.0]]), "rbf", "scale")
    {'kernel': 'rbf', 'gamma': 0.5, 'degree': 3, 'coef0': 0.0}
    """
    check_choice("kernel", kernel, ("linear", "poly", "rbf", "sigmoid", "laplacian", "exponential"))
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
        gamma = 1.0 if kernel == "linear" else _gamma(X) if gamma == "scale" else 1 / X.shape[1]
    check_number("gamma", gamma, above=0)
    check_number("degree", degree, at_least=1, integer=True)
    check_number("coef0", coef0, at_least=-inf if kernel == "sigmoid" else 0)
    return {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}


def _gamma(X):
    """1 / (d Var X); 1 if X is constant, where rounding may leave a variance."""
    if X.min() == X.max():
        return 1.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        spread = X.var()
        gamma = float(1 / (X.shape[1] * spread))
    if not 0 < gamma < inf:
        raise ValueError(
            "gamma='scale' must find a variance of X in the range of floating point; "
            f"got {spread:g}: scale the features of X"
        )
    return gamma


def about_mean(X, how):
    """X - mean, and the mean, for the linear kernel; X and 0 for the others.

    The sum of beta is 0, so that the origin changes b alone, by w^T mean. But far from it the
    products x_i^T x_j are rounded by more than the samples differ. `how` is what
    `kernel_parameters` returns.

    Returns: X (n, d), mean (d,).

    >>> about_mean(np.array([[1e9], [1e9 + 1]]), {"kernel": "linear"})
    (array([[-0.5],
           [ 0.5]]), array([1.e+09]))
    """
    if how["kernel"] != "linear":
        return X, np.zeros(X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):  # `kernel_matrix` tells
        mean = X.mean(axis=0)
        return X - mean, mean


class LinearGram:
    """The Gram matrix X X^T + ridge I, of which X alone is in memory. For SMO it is an array.

    >>> K = LinearGram(np.array([[1.0], [2.0]]))
    >>> K[1], K.diagonal(), K @ np.array([1.0, 1.0])
    (array([2., 4.]), array([1., 4.]), array([3., 6.]))
    """

    def __init__(self, X, ridge=0.0):
        X = np.asarray(X, dtype=float)
        self.X, self.ridge, self.own = X, ridge, squared_norms(X) + ridge

    def __getitem__(self, i):
        """Row i (n,), or the rows of an array of indices."""
        rows = self.X[i] @ self.X.T
        own = (np.arange(len(i)), i) if np.ndim(i) else i
        rows[own] += self.ridge
        return rows

    def block(self, chunk):
        """The rows and columns of a chunk."""
        X = self.X[chunk]
        return X @ X.T + self.ridge * np.eye(len(chunk))

    def factor(self):
        """X and the ridge."""
        return self.X, self.ridge

    def diagonal(self):
        """||x_i||^2 + ridge: (n,)."""
        return self.own

    def __matmul__(self, beta):
        """K beta, of one (n,) or several (n, k)."""
        return self.X @ (self.X.T @ beta) + self.ridge * beta


class KernelRows:
    """A Gram matrix of which only the rows in use are in memory, the latest `capacity` of them.

    For SMO it is an array: rows K[i] and K[[i, j]], the diagonal, and K @ beta. `ridge` is
    added to the diagonal.

    >>> K = KernelRows(np.array([[1.0], [2.0]]), {"kernel": "linear"}, capacity=1)
    >>> K[1], K.diagonal(), K @ np.array([1.0, 1.0])
    (array([2., 4.]), array([1., 4.]), array([3., 6.]))
    """

    def __init__(self, X, how, capacity, ridge=0.0):
        self.X, self.how, self.capacity, self.ridge = X, how, max(2, capacity), ridge
        self.rows = {}  # the longest unused first
        with np.errstate(over="ignore", invalid="ignore"):
            self.centred = X - X.mean(axis=0)
            self.squares = squared_norms(self.centred)
            near = how["kernel"] == "rbf" and 2 * how["gamma"] * self.squares.max() <= PLAIN
        self.by_norms = near  # of far samples the difference would be rounding
        squares = (gram(X[rows], X[rows], **how) for rows in row_blocks(len(X), SMALL))
        self.own = np.concatenate([np.diagonal(K) for K in squares]) + ridge

    def __getitem__(self, i):
        """Row i (n,), or the rows of an array of indices, computed if they are not here."""
        if np.ndim(i):
            return np.array([self[k] for k in i]).reshape(len(i), len(self.X))
        row = self.rows.pop(i, None)
        if row is None:
            if len(self.rows) == self.capacity:
                del self.rows[next(iter(self.rows))]
            row = self._row(i)
            row[i] = self.own[i]
        self.rows[i] = row
        return row

    def _row(self, i):
        """k(x_i, x_j) for all j; of the Gaussian kernel by the norms at hand, if these will do."""
        if not self.by_norms:
            return gram(self.X[i : i + 1], self.X, **self.how)[0]
        D = self.centred @ self.centred[i]
        D *= -2
        D += self.squares
        D += self.squares[i]
        np.maximum(D, 0, out=D)
        D *= -self.how["gamma"]
        return np.exp(D, out=D)

    def block(self, chunk):
        """None: the entries of the chunk are not all in memory."""
        return None

    def factor(self):
        """None: there may be none."""
        return None

    def diagonal(self):
        """k(x_i, x_i): (n,)."""
        return self.own

    def __matmul__(self, beta):
        """K beta: (n,)."""
        S = np.flatnonzero(beta)
        return kernel_score(self.X, self.X[S], beta[S], self.how) + self.ridge * beta


def kernel_matrix(X, how, megabytes, ridge=0.0, bounded=True):
    """The Gram matrix of X, whole if it fits into so many `megabytes`, else as `KernelRows`.

    That of many samples of few features with the linear kernel is a `LinearGram`, if the
    multipliers are `bounded`. `how` is what `kernel_parameters` returns; `ridge` is added to the
    diagonal.

    Raises: ValueError if k(x, z) overflows.

    >>> kernel_matrix(np.array([[1.0], [2.0]]), {"kernel": "linear"}, megabytes=1, ridge=0.5)
    array([[1.5, 2. ],
           [2. , 4.5]])
    """
    row_size = 8 * len(X)
    with np.errstate(over="ignore", invalid="ignore"):
        if bounded and how["kernel"] == "linear" and len(X) >= max(MANY, THIN * X.shape[1]):
            K = LinearGram(X, ridge)
        elif row_size * len(X) > megabytes * MEBIBYTE:
            K = KernelRows(X, how, int(megabytes * MEBIBYTE / row_size), ridge)
        else:
            copy = None if how["kernel"] == "rbf" else X.copy()  # numpy is slow at X times itself
            K = gram(X, copy, **how)
            K.flat[:: len(X) + 1] += ridge
        # k(x, z)^2 <= k(x, x) k(z, z), but for the sigmoid, which is finite if x^T z is
        largest = squared_norms(X) if how["kernel"] == "sigmoid" else K.diagonal()
    if not np.isfinite(largest).all():
        raise ValueError("K must be finite; k(x, z) overflows: scale the features of X")
    return K


def kernel_score(Z, X, beta, how):
    """f(z) = sum_i beta_i k(x_i, z), without its offset, in blocks of bounded memory.

    Z (m, d) are the points, X (s, d) the support vectors with their beta (s,) or (s, k), `how`
    what `kernel_parameters` returns. It is all a machine has to keep. With alpha_i = 1/n for
    every sample it is the difference of two Parzen estimates (svm-67).

    Returns: (m,) or (m, k).

    >>> X, Z = np.array([[1.0], [2.0]]), np.array([[3.0]])
    >>> kernel_score(Z, X, np.array([1.0, -1.0]), {"kernel": "linear"})
    array([-3.])
    """
    if not len(X):
        return np.zeros((len(Z), *beta.shape[1:]))
    blocks = row_blocks(len(Z), BLOCK // len(X))
    return np.concatenate([gram(Z[rows], X, **how) @ beta for rows in blocks])


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


class _OneVersusOne(Classifier):
    """A kernel machine for two classes, made one for several by a machine for each pair.

    What `_solve` does on the Gram matrix of a pair is all that the kinds differ in.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with labels y (n,) of the given weights; return self."""
        self._check_numbers()
        samples = np.ascontiguousarray(check_samples(X))  # the same rounding for any layout
        how = self._kernel(samples)
        y = check_labels(y, len(samples))
        weights = check_weights(sample_weight, len(samples))
        classes = np.unique(y[weights > 0])
        if len(classes) < 2:
            raise ValueError(
                f"y must hold at least 2 classes of weight > 0; got 1 class: {classes[0]!r}"
            )
        parts = [np.flatnonzero((y == c) & (weights > 0)) for c in classes]
        A, mean = about_mean(samples[np.concatenate(parts)], how)
        runs, self.certificates_, offsets = [], [], []
        coef = np.zeros((len(samples), len(classes) * (len(classes) - 1) // 2))
        for pair, (rows, signs, K) in enumerate(self._problems(A, how, parts)):
            solved = self._solve(K, signs, weights[rows])
            certificate = solved.certificate
            if mean.any():
                moved = weights_of(solved.beta, samples[rows]) @ mean
                certificate = certificate._replace(offsets=certificate.offsets - moved)
            scale, b = self._scale_and_offset(certificate)
            coef[rows, pair] = scale * solved.beta
            runs.append(solved.run)
            self.certificates_.append(certificate)
            offsets.append(b)
        self._record(runs, "violation", self.tol)
        self._how = how
        self._keep(samples, y, classes, coef, np.array(offsets))
        return self._remember(X)

    def _problems(self, X, how, parts):
        """Of each pair of classes its places, their signs and Gram matrix; X by class."""
        whole = self._gram(X, how)
        places = [slice(*both) for both in pairwise(np.cumsum([0, *map(len, parts)]))]
        for (p, a), (q, b) in combinations(zip(parts, places, strict=True), 2):
            if len(parts) == 2:
                K = whole
            elif isinstance(whole, np.ndarray):
                K, n = np.empty((len(p) + len(q),) * 2), len(p)
                K[:n, :n], K[:n, n:] = whole[a, a], whole[a, b]
                K[n:, :n], K[n:, n:] = whole[b, a], whole[b, b]
            else:
                K = self._gram(np.vstack([X[a], X[b]]), how)
            yield np.concatenate([p, q]), np.repeat([1.0, -1.0], [len(p), len(q)]), K

    def _check_numbers(self):
        check_number("tol", self.tol, above=0)
        check_number("cache_size", self.cache_size, above=0)
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        if self.max_iter != -1:
            check_number("max_iter", self.max_iter, at_least=1, integer=True)

    def _kernel(self, X):
        return kernel_parameters(X, self.kernel, self.gamma, self.degree, self.coef0)

    def _gram(self, X, how):
        return kernel_matrix(X, how, self.cache_size, self._ridge(), self._is_bounded())

    def _is_bounded(self):
        return True

    def _ridge(self):
        return 0.0

    def _scale_and_offset(self, certificate):
        return 1.0, certificate.offsets[0]

    def _keep(self, X, y, classes, coef, offsets):
        """The support vectors, by class and then as they came, and what is theirs."""
        support = np.flatnonzero(coef.any(axis=1))
        support = support[np.argsort(y[support], kind="stable")]
        k = np.searchsorted(classes, y[support])
        self.classes_ = classes
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = X[support]
        self.n_support_ = np.bincount(k, minlength=len(classes)).astype(np.int32)
        sign = -1.0 if len(classes) == 2 else 1.0  # of two classes the second is the positive one
        self.intercept_ = sign * offsets
        self._pair_coef = sign * coef[support]
        self.dual_coef_ = np.zeros((len(classes) - 1, len(support)))
        for pair, (first, second) in enumerate(combinations(range(len(classes)), 2)):
            for own, other in ((first, second), (second, first)):
                of_own = k == own
                row = other - (other > own)
                self.dual_coef_[row, of_own] = self._pair_coef[of_own, pair]

    @property
    def coef_(self):
        """The weights w of every pair, (pairs, d), of a linear kernel."""
        self._require_fit()
        if self._how["kernel"] != "linear":
            raise AttributeError("coef_ must have kernel='linear'; other kernels have no such w")
        return weights_of(self._pair_coef.T, self.support_vectors_)

    def _pair_scores(self, X):
        """f of every pair's machine: (n, pairs), positive for the first class of a pair."""
        X = self._check_fitted(X)
        if self._how["kernel"] == "linear":
            F = X @ self.coef_.T
        else:
            F = kernel_score(X, self.support_vectors_, self._pair_coef, self._how)
        F += self.intercept_
        return -F if len(self.classes_) == 2 else F

    def decision_function(self, X):
        """Scores (n,) for the second of two classes; of more, (n, K) or (n, pairs).

        "ovo" has f of every pair, positive for the first of it. "ovr" has the votes of a class,
        and, for what ties, a share of less than 1/3 that rises with the sum of its scores.
        """
        F = self._pair_scores(X)
        if len(self.classes_) == 2:
            return -F[:, 0]
        if self.decision_function_shape == "ovo":
            return F
        votes, total = self._votes(F), np.zeros((len(F), len(self.classes_)))
        for f, (first, second) in zip(F.T, self._pairs(), strict=True):
            total[:, first] += f
            total[:, second] -= f
        return votes + total / (3 * (np.abs(total) + 1))

    def predict(self, X):
        """Labels (n,): the class that most pairs vote for, the first of those that tie."""
        votes = self._votes(self._pair_scores(X))
        return self.classes_[votes.argmax(axis=1)]

    def _pairs(self):
        return combinations(range(len(self.classes_)), 2)

    def _votes(self, F):
        """How many pairs' machines are for each class: (n, K)."""
        votes = np.zeros((len(F), len(self.classes_)))
        for f, (first, second) in zip(F.T, self._pairs(), strict=True):
            votes[:, first] += f >= 0
            votes[:, second] += f < 0
        return votes


class SVC(_OneVersusOne):
    """The soft margin with a kernel, by `solve`.

    As scikit-learn's, with these differences: the solution comes with its certificate; more
    kernels, but no precomputed ones; f = 0 counts as the first class of a pair; no class weights
    and no probabilities; `n_iter_` is one number, that of the pair that took most steps.

    Parameters
    ----------
    C : float; what a unit of slack costs, inf for the hard margin
    kernel : str; "rbf", "linear", "poly", "sigmoid", "laplacian" or "exponential"
    degree : int; of "poly", 1 or more
    gamma : "scale", "auto" or float; of the kernel, 1 / (d Var X), 1 / d or itself
    coef0 : float; of "poly", 0 or more, and of "sigmoid"
    tol : float; how large a violation of the KKT conditions may stay
    cache_size : float; MiB that a Gram matrix may take, above which only rows in use are kept
    max_iter : int; steps per pair of classes, -1 for 10^7 or 100 n, whichever is more
    decision_function_shape : "ovr" or "ovo"; of several classes, a score per class or per pair

    Attributes
    ----------
    classes_ : ndarray of shape (K,); the labels, sorted
    support_ : ndarray of shape (s,); the support vectors' places in X, by class
    support_vectors_ : ndarray of shape (s, d)
    n_support_ : ndarray of shape (K,); how many are of each class
    dual_coef_ : ndarray of shape (K - 1, s); beta_i in the machines against the other classes
    intercept_ : ndarray of shape (pairs,); b of every pair of classes
    certificates_ : list of `Certificate`; of every pair, in the order (0, 1), (0, 2), ..., (1, 2);
        no proof with "sigmoid", which is no kernel
    history_ : list of ndarrays; the dual objective after every step, of every pair
    n_iter_ : int; steps of the pair that took most
    converged_ : bool
    n_features_in_ : int

    >>> model = SVC(kernel="linear", C=10.0).fit([[1.0], [3.0]], ["low", "high"])
    >>> model.dual_coef_, model.intercept_, model.predict([[2.1]])
    (array([[-0.5,  0.5]]), array([2.]), array(['high'], dtype='<U4'))
    """

    def __init__(
        self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3,
        cache_size=800, max_iter=-1, decision_function_shape="ovr",
    ):  # fmt: skip
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape

    def _is_bounded(self):
        return self.C != inf

    def _check_numbers(self):
        check_number("C", self.C, above=0)
        super()._check_numbers()

    def _solve(self, K, y, weights):
        solved = solve(K, c_dual(y, self.C * weights), self.tol, self.max_iter)
        if self.C == inf:
            solved = solved._replace(certificate=_scaled_to_separate(y, solved))
        return solved


def _scaled_to_separate(y, solved):
    """The certificate of a hard margin: 1/2 ||w||^2 of the `canonical` machine, if it separates."""
    beta, certificate = solved.beta, solved.certificate
    product = y - solved.run.state.gradient
    smallest = (y * (product + certificate.offsets[0])).min()
    primal = float(beta @ product / 2 / smallest**2) if smallest > 0 else inf
    return certificate._replace(primal=primal, gap=primal - certificate.dual)


class NuSVC(_OneVersusOne):
    """The nu machine with a kernel, by `solve`.

    nu is at least the share of margin errors and at most that of support vectors. The solution is
    divided by rho, as in scikit-learn, so that margins are at f = 1 and -1; the certificate is
    that of the undivided problem. Where rho is 0, nu being too small for the overlap, w is 0, and
    the labels are rounding. tol is for violations in the unit 1 / n, which makes it the one of
    scikit-learn's box [0, 1]. For the rest see `SVC`.

    Parameters
    ----------
    nu : float; above 0, and at most 2 min(n_+, n_-) / n of every pair of classes
    kernel, degree, gamma, coef0, tol, cache_size, max_iter, decision_function_shape : as in `SVC`

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_ : as in `SVC`
    certificates_, history_, n_iter_, converged_, n_features_in_ : as in `SVC`

    >>> model = NuSVC(kernel="linear").fit([[1.0], [3.0]], ["low", "high"])
    >>> model.dual_coef_.round(9), model.intercept_.round(9), model.rho_.round(9)
    (array([[-0.5,  0.5]]), array([2.]), array([0.5]))
    """

    def __init__(
        self, *, nu=0.5, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3,
        cache_size=800, max_iter=-1, decision_function_shape="ovr",
    ):  # fmt: skip
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape

    def _check_numbers(self):
        check_number("nu", self.nu, above=0)
        super()._check_numbers()

    def _solve(self, K, y, weights):
        n = len(y)
        solved = solve(K, nu_dual(y, self.nu, weights), self.tol / n, self.max_iter)
        in_unit = solved.run.state._replace(violation=n * solved.run.state.violation)
        return solved._replace(run=solved.run._replace(state=in_unit))  # where tol is

    def _scale_and_offset(self, certificate):
        rho, b = _margin_and_offset(certificate)
        scale = 1 / rho if rho >= SMALLEST else 1.0
        return scale, scale * b

    @property
    def rho_(self):
        """The margin of every pair before it is scaled to 1: (pairs,)."""
        self._require_fit()
        return np.array([_margin_and_offset(c)[0] for c in self.certificates_])


def _margin_and_offset(certificate):
    """rho and b of the nu machine: the classes' offsets are b - rho and b + rho."""
    positive, negative = certificate.offsets
    return (negative - positive) / 2, (negative + positive) / 2


class L2SVC(SVC):
    """The soft margin with squared slack and a kernel, by `solve`: the hard margin with K + I / C.

    It minimises 1/2 ||w||^2 + C/2 sum_i xi_i^2, and always has a solution, which is unique. The
    certificate is that of this problem. scikit-learn has nothing of the kind.

    Parameters
    ----------
    C : float; twice what a unit of squared slack costs, inf for the hard margin
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

    def _check_numbers(self):
        super()._check_numbers()
        check_number("C", self.C, at_least=SMALLEST)

    def _ridge(self):
        return 1 / self.C

    def _solve(self, K, y, weights):
        most = self.C * sqrt(len(y))  # w = 0 costs n C / 2: no xi_i = alpha_i / C is above sqrt(n)
        solved = solve(K, c_dual(y, most), self.tol, self.max_iter)
        beta, certificate, ridge = solved.beta, solved.certificate, self._ridge()
        if ridge == 0:
            return solved._replace(certificate=_scaled_to_separate(y, solved))
        product = y - solved.run.state.gradient - ridge * beta
        losses = hinge(product + certificate.offsets[0], y)
        primal = float(beta @ product / 2 + losses @ losses / (2 * ridge))
        certificate = certificate._replace(primal=primal, gap=primal - certificate.dual)
        return solved._replace(certificate=certificate)


class LinearSVC(LinearClassifier):
    """The linear machine with squared slack, trained in the primal by Newton's method:

        min over w, b of 1/2 ||w||^2 + C sum_i max(0, 1 - y_i f_i)^2 ,

    for each class against the rest; of two, for the second. Time grows with n d^2, and no Gram
    matrix is needed. The loss is scikit-learn's, without the 1/2 of ISML's squared slack: C here
    is C / 2 there. b is not penalised, where scikit-learn's is.

    Parameters
    ----------
    tol : float; the largest Newton decrement at the end
    C : float; what a unit of squared slack costs, not inf
    fit_intercept : bool; whether there is a b
    max_iter : int; the most Newton steps

    Attributes
    ----------
    classes_ : ndarray of shape (K,); the labels, sorted
    coef_ : ndarray of shape (1, d) or (K, d); the weights w
    intercept_ : ndarray of shape (1,) or (K,); the offsets b
    history_ : list of ndarrays; the objective after every step, of every class
    n_iter_ : int; steps of the class that took most
    converged_ : bool
    n_features_in_ : int

    >>> model = LinearSVC(C=0.25).fit([[-1.0], [1.0]], ["low", "high"])
    >>> model.coef_.round(9), model.predict([[0.1]])
    (array([[-0.5]]), array(['high'], dtype='<U4'))
    """

    def __init__(self, *, tol=1e-4, C=1.0, fit_intercept=True, max_iter=1000):
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with labels y (n,) of the given weights; return self."""
        tol = check_number("tol", self.tol, above=0)
        C = check_number("C", self.C, above=0, below=inf)
        intercept = check_flag("fit_intercept", self.fit_intercept)
        max_iter = check_number("max_iter", self.max_iter, at_least=1, integer=True)
        samples = check_samples(X)
        y = check_labels(y, len(samples))
        weights = check_weights(sample_weight, len(samples))
        with np.errstate(over="ignore", invalid="ignore"):
            costs = C * weights
            centre = samples.mean(axis=0) if intercept else 0.0  # only b depends on the origin
            A = augment(samples - centre) if intercept else samples
            trace = costs @ squared_norms(A)
        if not isfinite(trace):
            raise ValueError("C ||x||^2 must have a finite sum; scale the features of X")
        self.classes_ = np.unique(y)
        runs = [
            iterate(_primal_newton(A, column, costs, intercept), "decrement", tol, max_iter)
            for column in one_vs_rest(y, self.classes_).T
        ]
        self._record(runs, "decrement", tol)
        theta = np.array([run.state.x for run in runs])
        self.coef_ = theta[:, 1:] if intercept else theta
        self.intercept_ = theta[:, 0] - self.coef_ @ centre if intercept else np.zeros(len(runs))
        return self._remember(X)


def _primal_newton(A, y, costs, intercept):
    """Newton's method on 1/2 ||w||^2 + sum_i costs_i max(0, 1 - y_i theta^T a_i)^2."""
    penalty = np.ones(A.shape[1])
    penalty[0] = 0.0 if intercept else 1.0

    def f(theta):
        losses = hinge(A @ theta, y)
        return float(penalty @ theta**2 / 2 + costs @ losses**2)

    def gradient(theta):
        return penalty * theta - 2 * A.T @ (costs * y * hinge(A @ theta, y))

    def hessian(theta):
        inside = y * (A @ theta) < 1
        return np.diag(penalty) + 2 * (A[inside] * costs[inside, None]).T @ A[inside]

    return newton(f, gradient, hessian, np.zeros(A.shape[1]))
