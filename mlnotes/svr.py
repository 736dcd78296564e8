"""Support vector regression: the flattest function in a tube around the targets.

Errors below epsilon are free: the samples may lie anywhere in a tube of that half width around f.
Of all functions that keep them there the one of least ||w|| varies least; slack makes room for
samples that stay outside. The dual is that of the support vector machines with two multipliers per
sample, one for each side of the tube, and the solver is theirs; samples inside the tube have no
part in the solution. Squared slack leads to ridge regression as epsilon goes to 0, and nu chooses
epsilon from the data.

Contents
    The insensitive loss    insensitive_loss, insensitive_subgradient, slack
    How smooth is f?        shortest_rise, linear_margin, sampled_margin
    The hard tube           hard_tube, Tube, narrowest_tube
    The soft tube           soft_tube, regularised_risk, lagrangian, lagrangian_gradients
    The dual                beta_of, stack, unstack, dual_value, tube_dual, evaluate, offset
    Squared slack           squared_tube, squared_lagrangian, squared_dual_value, squared_dual,
                            squared_offsets, without_tube
    The nu tube             best_epsilon, nu_tube, NuTube, nu_tube_dual
    The solver              Doubled
    Estimators              SVR, NuSVR, L2SVR

Symbols
    X        (n, d)    samples x_i, one per row
    y        (n,)      targets
    w, b     (d,)      f(x) = w^T x + b; f (n,) its values
    epsilon  float     half the width of the tube
    C        float     what a unit of slack costs
    nu       float     of the nu tube, which finds epsilon
    xi       (2, n)    slack: xi[0], the xi_i of y_i - f_i <= epsilon + xi_i, for samples above
                       the tube, and xi[1], the xi_i' of f_i - y_i <= epsilon + xi_i', below it
    alpha    (2, n)    multipliers of these constraints: alpha_i in alpha[0], alpha_i' in alpha[1]
    r        (2, n)    multipliers of xi >= 0
    beta     (n,)      beta = alpha[0] - alpha[1], so that w = sum_i beta_i x_i; it has the sign of
                       y_i - f_i
    K        (n, n)    Gram matrix x_i^T x_j or k(x_i, x_j)

MLN writes alpha, alpha' and xi, xi' for the two rows, and m for the number of basis functions as
for that of features. ISML has alpha, alpha* with absolute slack; with squared slack its alpha is
our alpha[1] and its alpha-hat our alpha[0]. MLN's nu machine pays C / n for a unit of slack;
scikit-learn's `NuSVR`, and ours, C. In the notes on ridge regression C multiplies the penalty,
here the loss (svr-24).

Notes: MLN "Support Vector Regression", "v-SVR"; ISML 3 "Support Vector Regression".
"""

from math import inf
from typing import NamedTuple

import numpy as np

from mlnotes.base import (
    Regressor,
    check_number,
    check_samples,
    check_targets,
    check_weights,
    row_blocks,
)
from mlnotes.neighbors import norm
from mlnotes.numerics import squared_distances
from mlnotes.optimization import solve_qp
from mlnotes.perceptron import decision
from mlnotes.svm import (
    Certificate,
    Dual,
    about_mean,
    fill,
    kernel_matrix,
    kernel_parameters,
    kernel_score,
    offsets,
    solve,
    weights_of,
)

__all__ = [
    "insensitive_loss", "insensitive_subgradient", "slack", "shortest_rise", "linear_margin",
    "sampled_margin", "hard_tube", "Tube", "narrowest_tube", "soft_tube", "regularised_risk",
    "lagrangian", "lagrangian_gradients", "beta_of", "stack", "unstack", "dual_value",
    "tube_dual", "evaluate", "offset", "squared_tube", "squared_lagrangian", "squared_dual_value",
    "squared_dual", "squared_offsets", "without_tube", "best_epsilon", "nu_tube", "NuTube",
    "nu_tube_dual", "Doubled", "SVR", "NuSVR", "L2SVR",
]  # fmt: skip


# ---------------------------------------------------------------------------------------
# The insensitive loss
# ---------------------------------------------------------------------------------------


def insensitive_loss(f, y, epsilon):
    """L(y, f) = max(|y - f| - epsilon, 0): 0 in the tube, and beyond it the distance from it.

    Convex in f, and |y - f| for epsilon = 0. The empirical risk is sum_i L(y_i, f_i).

    Returns: (n,).

    >>> insensitive_loss(np.array([0.0, 2.0, 5.0]), np.array([0.5, 5.0, 3.0]), epsilon=1.0)
    array([0., 2., 1.])

    Claims: svr-01
    """
    return np.maximum(np.abs(y - f) - epsilon, 0.0)


def insensitive_subgradient(f, y, epsilon):
    """-1 above the tube (y - f > epsilon), +1 below it, else 0: a subgradient of the loss in f.

    >>> insensitive_subgradient(np.array([0.0, 2.0, 5.0]), np.array([0.5, 5.0, 3.0]), epsilon=1.0)
    array([ 0., -1.,  1.])
    """
    return np.where(np.abs(y - f) > epsilon, np.sign(f - y), 0.0)


def slack(f, y, epsilon):
    """xi_i = max(y_i - f_i - epsilon, 0) and xi_i' = max(f_i - y_i - epsilon, 0).

    The least that y_i - f_i <= epsilon + xi_i and f_i - y_i <= epsilon + xi_i' leave, both >= 0.
    A sample is on one side of the tube only, so that xi_i xi_i' = 0 and xi_i + xi_i' is its loss:
    minimising their sum under these constraints is minimising the empirical risk.

    Returns: (2, n).

    >>> slack(np.array([0.0, 2.0, 5.0]), np.array([0.5, 5.0, 3.0]), epsilon=1.0)
    array([[0., 2., 0.],
           [0., 0., 1.]])
    """
    return np.maximum(_beyond(f, y, epsilon), 0.0)


def _beyond(f, y, epsilon):
    """How far above the tube, and how far below it: (2, n); negative within."""
    return np.array([y - f, f - y]) - epsilon


# ---------------------------------------------------------------------------------------
# How smooth is f?
# ---------------------------------------------------------------------------------------


def shortest_rise(w, epsilon):
    """x - x' = 2 epsilon w / ||w||^2: the shortest way on which w^T x + b rises by 2 epsilon.

    Returns: (d,). Raises: ValueError for w = 0, with which f never rises.

    >>> shortest_rise(np.array([3.0, 4.0]), epsilon=2.5)
    array([0.6, 0.8])
    """
    length = norm(w)
    if length == 0:
        raise ValueError("w must not be 0: a constant f never rises; got w = 0")
    return 2 * epsilon * (w / length) / length


def linear_margin(w, epsilon):
    """m(f) = inf {||x - x'||: |f(x) - f(x')| >= 2 epsilon} of a linear f: 2 epsilon / ||w||.

    By Cauchy-Schwarz no way is shorter than `shortest_rise`: small ||w|| is a large margin, and a
    smooth f. Any f with |f(x) - f(x')| <= L ||x - x'|| has m(f) >= 2 epsilon / L. m(f) > 0 for
    all epsilon says that f is *uniformly* continuous; MLN speaks of continuity alone, which x^2
    has, with m = 0 (svr-18). A constant f has m = inf.

    >>> linear_margin(np.array([3.0, 4.0]), epsilon=2.5)
    1.0

    Claims: svr-17
    """
    length = float(norm(w))
    return 2 * epsilon / length if length > 0 else inf


def sampled_margin(X, f, epsilon):
    """min {||x_i - x_j||: |f_i - f_j| >= 2 epsilon}: the margin of f as the samples show it.

    At least that of f, which it tends to as they fill the space; inf if f never differs as much.

    >>> sampled_margin(np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 1.0, 2.0]), epsilon=1.0)
    3.0
    """
    unit = _power_of_two(np.abs(X).max())  # so that no square overflows or vanishes
    far = (D.min() for D in _distances_where_apart(X / unit, f, epsilon))
    return unit * float(np.sqrt(min(far)))


def _power_of_two(size):
    """The largest that is not above `size`: a unit that rounds nothing. 1/2 for 0."""
    return float(np.ldexp(1.0, np.frexp(size)[1] - 1))


def _distances_where_apart(X, f, epsilon, rows=256):
    """Squared distances of all pairs, inf where f differs by less, so many `rows` at a time."""
    for block in row_blocks(len(X), rows):
        D = squared_distances(X[block], X)
        apart = np.abs(f[block, None] - f) >= 2 * epsilon
        yield np.where(apart, D, inf)


# ---------------------------------------------------------------------------------------
# The hard tube
# ---------------------------------------------------------------------------------------


class Tube(NamedTuple):
    """The solution of a primal problem, with the multipliers of the sides of the tube."""

    w: np.ndarray  # (d,)
    b: float
    xi: np.ndarray  # (2, n); 0 of a hard tube
    alpha: np.ndarray  # (2, n)
    objective: float  # of the primal


def hard_tube(X, y, epsilon):
    """min 1/2 ||w||^2 subject to |y_i - w^T x_i - b| <= epsilon for all i, by `solve_qp`.

    The flattest function whose tube holds every sample. Its margin m(f) is the largest, and w = 0
    as soon as epsilon >= (max y - min y) / 2. There is one iff epsilon is at least that of
    `narrowest_tube`; below it takes slack. ISML prints f_i - y_i <= epsilon as the condition, which
    w = 0 and a b far below all targets meets (svr-03).

    Returns: a `Tube`. Raises: `optimization.InfeasibleError` if no such tube holds all samples.

    >>> tube = hard_tube(np.array([[0.0], [4.0]]), np.array([0.0, 6.0]), epsilon=1.0)
    >>> tube.w.round(9), round(tube.b, 9), round(tube.objective, 9)
    (array([1.]), 1.0, 0.5)

    Claims: svr-02
    """
    (n, d), (X, y, means) = X.shape, _about_means(X, y)
    P = np.diag(np.append(np.ones(d), 0.0))
    qp = solve_qp(P, np.zeros(d + 1), G=_sides(X), h=_least(y, epsilon))
    xi, alpha = np.zeros((2, n)), qp.lam.reshape(2, n)
    return Tube(*_in_place(qp.x, means), xi, alpha, qp.objective)


def _about_means(X, y):
    """X and y about their means, and these: no program then loses digits to a far origin."""
    means = X.mean(axis=0), y.mean()
    return X - means[0], y - means[1], means


def _in_place(solution, means):
    """w and b, the first entries of a solution, where samples and targets were before."""
    mean_x, mean_y = means
    w = solution[: len(mean_x)]
    return w, float(solution[len(mean_x)] + mean_y - w @ mean_x)


def _sides(X):
    """The rows (x_i, 1) and (-x_i, -1), whose products with (w, b) are f_i and -f_i."""
    A = np.column_stack([X, np.ones(len(X))])
    return np.vstack([A, -A])


def _least(y, epsilon):
    """What these products must be at least: y_i - epsilon and -y_i - epsilon."""
    return np.concatenate([y, -y]) - epsilon


def narrowest_tube(X, y):
    """epsilon_0 = min over w, b of max_i |y_i - w^T x_i - b|: Chebyshev's fit, a linear program.

    Returns: w, b, epsilon_0.

    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 2.0, 0.0])
    >>> w, b, epsilon = narrowest_tube(X, y)
    >>> abs(w.round(9)), round(b, 9), round(epsilon, 9)
    (array([0.]), 1.0, 1.0)
    """
    d, (X, y, means) = X.shape[1], _about_means(X, y)
    G = np.hstack([_sides(X), np.ones((2 * len(X), 1))])
    qp = solve_qp(np.zeros((d + 2, d + 2)), np.append(np.zeros(d + 1), 1.0), G=G, h=_least(y, 0.0))
    return *_in_place(qp.x, means), float(qp.x[d + 1])


# ---------------------------------------------------------------------------------------
# The soft tube
# ---------------------------------------------------------------------------------------


def soft_tube(X, y, epsilon, C):
    """min over w, b, xi of 1/2 ||w||^2 + C sum_i (xi_i + xi_i') subject to

        y_i - f_i <= epsilon + xi_i,   f_i - y_i <= epsilon + xi_i',   xi_i, xi_i' >= 0 ,

    with f(x) = w^T x + b, or w^T phi(x) + b for samples phi(x_i). There is always a solution. The
    units of y set the scale: s y has the solution s w, s b for s epsilon and s C, and epsilon
    cannot be made 1 as the margin of a classifier can (svr-25).

    Returns: a `Tube`. Raises: ValueError unless C > 0 and epsilon >= 0.

    >>> tube = soft_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), epsilon=0.5, C=0.25)
    >>> tube.w.round(9), tube.alpha.round(9).tolist(), round(tube.objective, 9)
    (array([0.5]), [[0.25, 0.0], [0.0, 0.25]], 0.625)

    Claims: svr-07
    """
    _check_tube(epsilon, C)
    (n, d), (X, y, means) = X.shape, _about_means(X, y)
    P = np.diag(np.concatenate([np.ones(d), np.zeros(1 + 2 * n)]))
    q = np.concatenate([np.zeros(d + 1), np.full(2 * n, C)])
    G = np.block([[_sides(X), np.eye(2 * n)], [np.zeros((2 * n, d + 1)), np.eye(2 * n)]])
    qp = solve_qp(P, q, G=G, h=np.concatenate([_least(y, epsilon), np.zeros(2 * n)]))
    xi, alpha = qp.x[d + 1 :].reshape(2, n), qp.lam[: 2 * n].reshape(2, n)
    return Tube(*_in_place(qp.x, means), xi, alpha, qp.objective)


def _check_tube(epsilon, C):
    check_number("epsilon", epsilon, at_least=0, below=inf)
    check_number("C", C, above=0)


def regularised_risk(X, y, w, b, epsilon, C):
    """1/2 ||w||^2 + C sum_i L(y_i, f_i): the soft tube without its constraints.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])
    >>> regularised_risk(X, y, np.array([0.5]), 0.0, epsilon=0.5, C=0.25)
    0.625
    """
    losses = insensitive_loss(decision(X, w, b), y, epsilon)
    return float(w @ w / 2 + np.sum(C * losses))


def lagrangian(X, y, w, b, xi, alpha, r, epsilon, C):
    """L = 1/2 ||w||^2 + C sum_i (xi_i + xi_i') + sum_i alpha_i (y_i - f_i - epsilon - xi_i)

        + sum_i alpha_i' (f_i - y_i - epsilon - xi_i') - sum_i (r_i xi_i + r_i' xi_i') .

    Without its first term, the linear program of the empirical risk, L is linear in w: its infimum
    is -inf unless sum_i beta_i x_i = 0, and no Gram matrix appears. With it the infimum over w is
    at w = sum_i beta_i x_i, and contributes -1/2 beta^T K beta (svr-06).

    >>> lagrangian(np.array([[1.0]]), np.array([2.0]), np.array([0.5]), 0.0, np.zeros((2, 1)),
    ...            alpha=np.array([[1.0], [0.0]]), r=np.zeros((2, 1)), epsilon=0.5, C=1.0)
    1.125
    """
    beyond = _beyond(decision(X, w, b), y, epsilon)
    return float(w @ w / 2 + np.sum(C * xi + alpha * (beyond - xi) - r * xi))


def lagrangian_gradients(X, w, alpha, r, C):
    """The gradients of L in w, b and xi: w - sum_i beta_i x_i, -sum_i beta_i and C - alpha - r.

    All are 0 at the optimum, so that 0 <= alpha <= C.

    Returns: (d,), a float, (2, n).

    >>> alpha = np.array([[1.0], [0.0]])
    >>> lagrangian_gradients(np.array([[2.0]]), np.array([3.0]), alpha, 1.0 - alpha, C=1.0)
    (array([1.]), -1.0, array([[0.],
           [0.]]))
    """
    beta = beta_of(alpha)
    return w - X.T @ beta, -float(beta.sum()), C - alpha - r


# ---------------------------------------------------------------------------------------
# The dual
# ---------------------------------------------------------------------------------------

ROUNDING = 1e-9  # relative to its terms, a sum that is none


def beta_of(alpha):
    """beta = alpha[0] - alpha[1].

    For epsilon > 0 no optimum has both of alpha_i, alpha_i' above 0: taking the smaller from both
    leaves beta and pays 2 epsilon of it. Then beta_i = 0 inside the tube, C sign(y_i - f_i)
    outside, and anything between on its edge: only samples on the tube or outside are support
    vectors.

    Returns: (n,).

    >>> beta_of(np.array([[1.0, 0.0], [0.0, 0.5]]))
    array([ 1. , -0.5])
    """
    return alpha[0] - alpha[1]


def stack(alpha):
    """(alpha[0], -alpha[1]): the multipliers as the 2n variables of a `svm.Dual`.

    >>> stack(np.array([[1.0, 0.0], [0.0, 0.5]]))
    array([ 1. ,  0. , -0. , -0.5])
    """
    return np.concatenate([alpha[0], -alpha[1]])


def unstack(stacked):
    """alpha (2, n) from the 2n variables `stacked`: what undoes `stack`.

    >>> unstack(np.array([1.0, 0.0, 0.0, -0.5])) + 0.0
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    return stacked.reshape(2, -1) * [[1.0], [-1.0]]


def dual_value(alpha, K, y, epsilon):
    """q(alpha) = inf over w, b, xi of L, for alpha in its box: if sum_i beta_i = 0,

        q(alpha) = -1/2 beta^T K beta + sum_i y_i beta_i - epsilon sum_i (alpha_i + alpha_i') ,

    else -inf. In the first term both factors are differences: MLN prints (alpha_i + alpha_i') for
    one of them, which is less by alpha'^T K beta (svr-10). And its sign is a minus, 1/2 ||w||^2 -
    ||w||^2: with the plus of ISML q is convex and not below the primal (svr-11).

    >>> alpha = np.array([[0.75, 0.0], [0.0, 0.75]])
    >>> dual_value(alpha, np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0]), epsilon=0.5)
    1.125

    Claims: svr-09
    """
    beta = beta_of(alpha)
    if abs(beta.sum()) > ROUNDING * alpha.sum():
        return -inf
    return float(y @ beta - beta @ (K @ beta) / 2 - epsilon * alpha.sum())


def tube_dual(y, epsilon, C=inf):
    """The dual of the soft tube as a `svm.Dual` of 2n variables, `stack`ed: max of

        sum_i (y_i - epsilon) alpha_i + sum_i (y_i + epsilon) (-alpha_i') - 1/2 beta^T K beta

    subject to 0 <= alpha_i <= C and -C <= -alpha_i' <= 0, all of them of sum 0. What takes the
    place of K is K four times, see `Doubled`. C = inf is the hard tube; C may be an array.

    Returns: a `Dual`.

    >>> dual = tube_dual(np.array([2.0, -2.0]), epsilon=0.5, C=1.0)
    >>> dual.p, dual.lower, dual.upper
    (array([ 1.5, -2.5,  2.5, -1.5]), array([ 0.,  0., -1., -1.]), array([1., 1., 0., 0.]))
    """
    n = len(y)
    C, none = np.broadcast_to(np.asarray(C, dtype=float), n), np.zeros(n)
    p = np.concatenate([y - epsilon, y + epsilon])
    lower, upper = np.concatenate([none, -C]), np.concatenate([C, none])
    return Dual(p, lower, upper, np.zeros(2 * n), (slice(0, 2 * n),))


def evaluate(K, beta, b):
    """f(z) = sum_i beta_i k(z, x_i) + b, of the K (m, n) of points z and samples.

    Samples enter through k alone, and only those with beta_i != 0. For the Gram matrix itself,
    the values at the samples. `svm.kernel_score` is the sum where K would be large.

    Returns: (m,).

    >>> evaluate(np.array([[2.0, -2.0]]), beta=np.array([0.75, -0.75]), b=1.0)
    array([4.])

    Claims: svr-13
    """
    return K @ beta + b


def offset(alpha, K, y, epsilon, C=inf):
    """b of the soft tube: the mean, over the free multipliers, of

        y_i - (K beta)_i - epsilon  where 0 < alpha_i < C,
        y_i - (K beta)_i + epsilon  where 0 < alpha_i' < C ,

    since a free one has its sample on that edge of the tube. MLN prints + epsilon for both
    (svr-14), and C / n for the bound (svr-15). Without free ones, the middle of the interval that
    the KKT conditions leave, `svm.offset_intervals`.

    >>> alpha = np.array([[0.75, 0.0], [0.0, 0.75]])
    >>> offset(alpha, np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0]), 0.5, C=1.0)
    0.0
    """
    dual = tube_dual(y, epsilon, C)
    gradient = dual.p - np.tile(K @ beta_of(alpha), 2)
    return float(offsets(gradient, dual, stack(alpha))[0])


# ---------------------------------------------------------------------------------------
# Squared slack
# ---------------------------------------------------------------------------------------


def squared_tube(X, y, epsilon, C):
    """min over w, b, xi of 1/2 ||w||^2 + C/2 sum_i (xi_i^2 + xi_i'^2) subject to

        y_i - f_i <= epsilon + xi_i,   f_i - y_i <= epsilon + xi_i' .

    The same as 1/2 ||w||^2 + C/2 sum_i L(y_i, f_i)^2. xi >= 0 need not be asked for: a negative
    one set to 0 costs less. s y has the solution s w, s b for s epsilon and the same C (svr-25).

    Returns: a `Tube`. Raises: ValueError unless C > 0 and epsilon >= 0.

    >>> tube = squared_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), epsilon=0.5, C=1.0)
    >>> tube.w.round(9), tube.xi.round(9).tolist()
    (array([1.]), [[0.5, 0.0], [0.0, 0.5]])

    Claims: svr-20
    """
    _check_tube(epsilon, C)
    (n, d), (X, y, means) = X.shape, _about_means(X, y)
    P = np.diag(np.concatenate([np.ones(d), np.zeros(1), np.full(2 * n, C)]))
    G = np.hstack([_sides(X), np.eye(2 * n)])
    qp = solve_qp(P, np.zeros(d + 1 + 2 * n), G=G, h=_least(y, epsilon))
    xi, alpha = qp.x[d + 1 :].reshape(2, n), qp.lam.reshape(2, n)
    return Tube(*_in_place(qp.x, means), xi, alpha, qp.objective)


def squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C):
    """L = 1/2 ||w||^2 + C/2 sum_i (xi_i^2 + xi_i'^2) + sum_i alpha_i (y_i - f_i - epsilon - xi_i)

        + sum_i alpha_i' (f_i - y_i - epsilon - xi_i') .

    It is stationary where w = sum_i beta_i x_i, xi = alpha / C and, which ISML leaves out, in b:
    sum_i beta_i = 0 (svr-22). So |beta_i| / C is the loss of sample i.

    >>> squared_lagrangian(np.array([[1.0]]), np.array([2.0]), np.array([1.0]), 0.0,
    ...                    np.array([[0.5], [0.0]]), np.array([[0.5], [0.0]]), epsilon=0.5, C=1.0)
    0.625
    """
    beyond = _beyond(decision(X, w, b), y, epsilon)
    return float(w @ w / 2 + np.sum(C * xi**2 / 2 + alpha * (beyond - xi)))


def squared_dual_value(beta, K, y, epsilon, C):
    """q(beta) = -1/2 beta^T (K + I / C) beta + sum_i y_i beta_i - epsilon sum_i |beta_i|

    if sum_i beta_i = 0, else -inf. Here alpha_i alpha_i' = 0 is used: alpha_i + alpha_i' =
    |beta_i|, and alpha_i^2 + alpha_i'^2 = beta_i^2.

    >>> K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0])
    >>> squared_dual_value(np.array([0.5, -0.5]), K, y, epsilon=0.5, C=1.0)
    0.75

    Claims: svr-23
    """
    if abs(beta.sum()) > ROUNDING * np.abs(beta).sum():
        return -inf
    ridged = K @ beta + beta / C
    return float(y @ beta - beta @ ridged / 2 - epsilon * np.abs(beta).sum())


def squared_dual(y, epsilon, C):
    """`tube_dual` for K + I / C, with a bound on the multipliers that none of them reaches.

    There is none in the problem. But beta_i / C = xi_i, and at the optimum C/2 sum_i xi_i^2 is at
    most what it is for w = 0 and b = mean y: the square root of that sum bounds xi. We take twice.

    Returns: a `Dual`.

    >>> squared_dual(np.array([2.0, -2.0]), epsilon=0.5, C=1.0).upper.round(6)
    array([4.242641, 4.242641, 0.      , 0.      ])
    """
    worst = float(norm(insensitive_loss(y.mean(), y, epsilon)))
    return tube_dual(y, epsilon, C * (2 * worst if worst > 0 else 1.0))


def squared_offsets(beta, K, y, epsilon, C):
    """b = y_i - (K beta)_i - epsilon sign(beta_i) - beta_i / C, of every i with beta_i != 0.

    At the optimum all of them are the same.

    Returns: (s,).

    >>> K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0])
    >>> squared_offsets(np.array([0.5, -0.5]), K, y, epsilon=0.5, C=1.0)
    array([0., 0.])
    """
    b = y - K @ beta - epsilon * np.sign(beta) - beta / C
    return b[beta != 0]


def without_tube(K, y, C):
    """The squared tube for epsilon = 0, which is kernel ridge regression with an offset:

        [K + I/C  1] [beta]   [y]
        [1^T      0] [b   ] = [0] .

    With the penalty 1 / C, since here C multiplies the loss; for the linear kernel
    w = (X_c^T X_c + I / C)^-1 X_c^T y_c of centred samples and targets, b = mean y - w^T mean x.

    Returns: beta, b. Raises: ValueError unless C > 0.

    >>> K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0])
    >>> beta, b = without_tube(K, y, C=0.5)
    >>> beta, round(abs(b), 9)
    (array([ 0.5, -0.5]), 0.0)
    """
    check_number("C", C, above=0)
    one, mean = np.ones((len(y), 1)), y.mean()  # far from 0 digits of b and beta are lost
    system = np.block([[K + np.eye(len(y)) / C, one], [one.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y - mean, 0.0))
    return solution[:-1], float(solution[-1] + mean)


# ---------------------------------------------------------------------------------------
# The nu tube
# ---------------------------------------------------------------------------------------


def best_epsilon(f, y, nu):
    """The least epsilon >= 0 that minimises nu epsilon + 1/n sum_i L(y_i, f_i), f being fixed.

    A quantile of |y_i - f_i|: for epsilon > 0 no more than nu n residuals are above it, and no
    fewer are at least as large. For nu >= 1 it is 0.

    Raises: ValueError unless nu >= 0, below which there is none.

    >>> best_epsilon(np.zeros(5), np.array([1.0, -2.0, 3.0, -4.0, 5.0]), nu=0.4)
    3.0
    """
    check_number("nu", nu, at_least=0)
    ordered = np.sort(np.append(np.abs(y - f), 0.0))[::-1]
    return float(ordered[int(min(nu * len(y) * (1 + ROUNDING), len(y)))])


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
    epsilon > 0, nu is at least the share of samples outside the tube and at most that of support
    vectors. `soft_tube` with that epsilon and C / n has the same solution. s y has the solution
    s w, s b, s epsilon for s C.

    Returns: a `NuTube`. Raises: ValueError unless 0 < nu <= 1 and C > 0.

    >>> tube = nu_tube(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0]), nu=0.5, C=1.0)
    >>> tube.w.round(9), round(tube.epsilon, 9), tube.alpha.round(9).tolist()
    (array([0.5]), 1.5, [[0.25, 0.0], [0.0, 0.25]])

    Claims: svr-26
    """
    _check_nu(nu)
    check_number("C", C, above=0)
    (n, d), (X, y, means) = X.shape, _about_means(X, y)
    P = np.diag(np.concatenate([np.ones(d), np.zeros(2 + 2 * n)]))
    q = np.concatenate([np.zeros(d + 1), [C * nu], np.full(2 * n, C / n)])
    sides = np.hstack([_sides(X), np.ones((2 * n, 1)), np.eye(2 * n)])
    G = np.vstack([sides, np.hstack([np.zeros((2 * n + 1, d + 1)), np.eye(2 * n + 1)])])
    qp = solve_qp(P, q, G=G, h=np.concatenate([_least(y, 0.0), np.zeros(2 * n + 1)]))
    xi, alpha = qp.x[d + 2 :].reshape(2, n), qp.lam[: 2 * n].reshape(2, n)
    epsilon = max(0.0, float(qp.x[d + 1]))
    return NuTube(*_in_place(qp.x, means), epsilon, xi, alpha, qp.objective)


def _check_nu(nu):
    check_number("nu", nu, above=0)
    if nu > 1:
        raise ValueError(f"nu must be <= 1, since a share of the samples; got {nu!r}")


def nu_tube_dual(y, nu, C, weights=None):
    """The dual of the nu tube as a `svm.Dual` of 2n variables, `stack`ed, in two groups:

        max sum_i y_i beta_i - 1/2 beta^T K beta,   0 <= alpha_i, alpha_i' <= C / n,
        sum_i alpha_i = sum_i alpha_i' = C nu / 2 .

    That is sum_i beta_i = 0 and sum_i (alpha_i + alpha_i') = C nu. For the latter MLN's epsilon >=
    0 would leave <= C nu, but for nu <= 1 no negative epsilon is better than 0. The offsets of the
    groups are b + epsilon and b - epsilon. With `weights` (n,) sample i has its share of them in
    the place of 1/n.

    Returns: a `Dual`. Raises: ValueError unless 0 < nu <= 1 and 0 < C < inf.

    >>> nu_tube_dual(np.array([2.0, -2.0]), nu=0.5, C=1.0).start
    array([ 0.25,  0.  , -0.25, -0.  ])
    """
    _check_nu(nu)
    check_number("C", C, above=0, below=inf)
    n = len(y)
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    dual = tube_dual(y, 0.0, C * shares)
    alpha = fill(C * shares, C * nu / 2)
    groups = (slice(0, n), slice(n, 2 * n))
    return dual._replace(start=np.concatenate([alpha, -alpha]), groups=groups)


# ---------------------------------------------------------------------------------------
# The solver
# ---------------------------------------------------------------------------------------

LATEST = 256  # rows of 2n that are kept


class Doubled:
    """The matrix [[K, K], [K, K]] of the 2n variables, of which only K is held.

    K is an array or `svm.KernelRows`. For SMO this is an array: rows [i] and [[i, j]], the
    diagonal, and products with (2n,). The latest rows are kept, since SMO comes back to them.

    >>> K = Doubled(np.array([[1.0, 2.0], [2.0, 5.0]]))
    >>> K[3], K.diagonal(), K @ np.array([1.0, 0.0, 0.0, -1.0])
    (array([2., 5., 2., 5.]), array([1., 5., 1., 5.]), array([-1., -3., -1., -3.]))
    """

    def __init__(self, K):
        self.K, self.n, self.rows = K, len(K.diagonal()), {}

    def __getitem__(self, i):
        """Row i (2n,), or the rows of an array of indices."""
        if isinstance(i, np.ndarray):
            rows = self.K[i % self.n]
            return np.concatenate([rows, rows], axis=1)
        i %= self.n
        if i not in self.rows:
            if len(self.rows) == LATEST:
                del self.rows[next(iter(self.rows))]  # the first of a dict came first
            row = self.K[i]
            self.rows[i] = np.concatenate([row, row])
        return self.rows[i]

    def block(self, chunk):
        """The rows and columns of a chunk; None if they are more than K, or K is not in memory."""
        if len(chunk) > self.n:
            return None
        own = chunk % self.n
        return self.K[np.ix_(own, own)] if isinstance(self.K, np.ndarray) else self.K.block(own)

    def factor(self):
        """[X, X] if K is X X^T, and a ridge of 0; else None."""
        factor = None if isinstance(self.K, np.ndarray) else self.K.factor()
        if factor is None or factor[1] > 0:
            return None
        return np.vstack([factor[0], factor[0]]), 0.0

    def diagonal(self):
        """K_ii, twice: (2n,)."""
        return np.tile(self.K.diagonal(), 2)

    def __matmul__(self, stacked):
        """K beta, twice: (2n,)."""
        beta = stacked[: self.n] + stacked[self.n :]
        product = self.K @ beta if beta.any() else np.zeros_like(beta)
        return np.concatenate([product, product])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


class _Tube(Regressor):
    """A kernel machine for regression; what `_solve` does with K is all the kinds differ in."""

    def fit(self, X, y, sample_weight=None):
        """Fit to samples X (n, d) with targets y (n,) of the given weights; return self."""
        self._check_numbers()
        samples = check_samples(X)
        how = kernel_parameters(samples, self.kernel, self.gamma, self.degree, self.coef0)
        y = check_targets(y, len(samples))
        weights = check_weights(sample_weight, len(samples))
        counted = np.flatnonzero(weights)
        z, centre, unit = _in_units(y[counted], self.C)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            A, mean = about_mean(samples[counted], how)
            K = kernel_matrix(A, how, self.cache_size, self._ridge(), self.C != inf)
            solved = self._solve(K, z, weights[counted], unit)
            beta = beta_of(unstack(solved.beta)) * unit
            support, beta = counted[beta != 0], beta[beta != 0]
            f_mean = weights_of(beta, samples[support]) @ mean if mean.any() else 0.0
            run, self.certificate_ = _in_units_of_y(solved, centre - f_mean, unit)
        self._record(run, "violation", self.tol)
        self._how = how
        self._keep(samples, support, beta)
        return self._remember(X)

    def _check_numbers(self):
        check_number("tol", self.tol, above=0)
        check_number("cache_size", self.cache_size, above=0)
        if self.max_iter != -1:
            check_number("max_iter", self.max_iter, at_least=1, integer=True)

    def _ridge(self):
        return 0.0

    def _keep(self, X, support, beta):
        """The support vectors, and what is theirs."""
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = X[support]
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self.dual_coef_ = beta[None]
        self.intercept_ = np.array([self._offset()])

    def _offset(self):
        return self.certificate_.offsets[0]

    @property
    def coef_(self):
        """The weights w, (1, d), of a linear kernel."""
        self._require_fit()
        if self._how["kernel"] != "linear":
            raise AttributeError("coef_ must have kernel='linear'; other kernels have no such w")
        return weights_of(self.dual_coef_, self.support_vectors_)

    def predict(self, X):
        """f(x) = sum_i beta_i k(x_i, x) + b: (n,)."""
        X = self._check_fitted(X)
        if self._how["kernel"] == "linear":
            return decision(X, self.coef_[0], self.intercept_[0])
        f = kernel_score(X, self.support_vectors_, self.dual_coef_[0], self._how)
        return f + self.intercept_[0]


FAR = 2.0**1000  # C in units that are no farther from it neither overflows nor vanishes


def _in_units(y, C):
    """(y - centre) / unit: targets about 0 and of size 1, whose squares do not overflow.

    The dual does not see the centre, since sum_i beta_i = 0, and far targets lose digits in it. The
    unit is a power of 2, which rounds nothing; epsilon, tol and the C of absolute slack are divided
    by it too (svr-25).

    Returns: the targets, the centre and the unit. Raises: ValueError if their range overflows.
    """
    ordered, n = np.sort(y), len(y)
    centre = float(ordered[(n - 1) // 2] / 2 + ordered[n // 2] / 2)
    with np.errstate(over="ignore"):
        size = float(np.abs(ordered[[0, -1]] - centre).max())
    if size == inf:
        raise ValueError(f"y must have a finite range; got {ordered[0]:g} to {ordered[-1]:g}")
    if inf > C:
        size = min(max(size, C / FAR), C * FAR)
    unit = _power_of_two(size)
    return (y - centre) / unit, centre, unit


def _in_units_of_y(solved, centre, unit):
    """The run and the certificate where y was before: objectives have the square of its unit.

    Raises: ValueError if they overflow.
    """
    run, certificate = solved
    dual, primal, gap, violation, offsets = certificate
    dual, primal, gap = dual * unit * unit, primal * unit * unit, gap * unit * unit
    violation, offsets = violation * unit, offsets * unit + centre
    if not np.isfinite([dual, primal, *offsets]).all():
        raise ValueError(f"the objective must be finite; got {primal:g}: scale y, or lower C")
    state, history = run.state._replace(violation=violation), run.history * unit * unit
    run = run._replace(state=state, history=history)
    return run, Certificate(dual, primal, gap, violation, offsets)


class SVR(_Tube):
    """The soft tube with a kernel, by `svm.solve`.

    As scikit-learn's, with these differences: the solution comes with its certificate; more
    kernels, but no precomputed ones; C = inf is the hard tube, whose certificate is that of the
    narrowest tube not below epsilon that holds all samples.

    Parameters
    ----------
    kernel : str; "rbf", "linear", "poly", "sigmoid", "laplacian" or "exponential"
    degree : int; of "poly", 1 or more
    gamma : "scale", "auto" or float; of the kernel, 1 / (d Var X), 1 / d or itself
    coef0 : float; of "poly", 0 or more, and of "sigmoid"
    tol : float; how large a violation of the KKT conditions may stay, in units of y
    C : float; what a unit of slack costs, inf for the hard tube
    epsilon : float; half the width of the tube, in units of y
    cache_size : float; MiB that a Gram matrix may take, above which only rows in use are kept
    max_iter : int; steps, -1 for 10^7 or 200 n, whichever is more

    Attributes
    ----------
    support_ : ndarray of shape (s,); the support vectors' places in X
    support_vectors_ : ndarray of shape (s, d)
    n_support_ : ndarray of shape (1,); s
    dual_coef_ : ndarray of shape (1, s); their beta_i
    intercept_ : ndarray of shape (1,); b
    certificate_ : `svm.Certificate`; primal, dual, and the gap between
    history_ : ndarray of shape (n_iter_ + 1,); the dual objective after every step
    n_iter_ : int; steps
    converged_ : bool
    n_features_in_ : int

    >>> model = SVR(kernel="linear", C=1.0, epsilon=0.5).fit([[1.0], [-1.0]], [2.0, -2.0])
    >>> model.dual_coef_, model.intercept_, model.predict([[2.0]])
    (array([[ 0.75, -0.75]]), array([0.]), array([3.]))
    """

    def __init__(
        self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3, C=1.0, epsilon=0.1,
        cache_size=800, max_iter=-1,
    ):  # fmt: skip
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.cache_size = cache_size
        self.max_iter = max_iter

    def _check_numbers(self):
        _check_tube(self.epsilon, self.C)
        super()._check_numbers()

    def _width(self, y, unit):
        """epsilon in these units; all that are wider than the range of y do the same."""
        return min(self.epsilon / unit, float(np.ptp(y)))

    def _solve(self, K, y, weights, unit):
        epsilon = self._width(y, unit)
        dual = tube_dual(y, epsilon, self.C / unit * weights)
        solved = solve(Doubled(K), dual, self.tol / unit, self.max_iter)
        if self.C == inf:
            solved = solved._replace(certificate=_around_all(dual, y, epsilon, solved))
        return solved


def _around_all(dual, y, epsilon, solved):
    """The certificate of a hard tube, made as wide as the largest residual if it is narrower."""
    alpha, certificate = unstack(solved.beta), solved.certificate
    beta = beta_of(alpha)
    product = (dual.p - solved.run.state.gradient)[: len(y)]
    widest = max(epsilon, float(np.abs(y - product - certificate.offsets[0]).max()))
    primal = float(beta @ product / 2)
    value = certificate.dual - (widest - epsilon) * float(alpha.sum())
    return certificate._replace(primal=primal, dual=value, gap=primal - value)


class NuSVR(_Tube):
    """The nu tube with a kernel, by `svm.solve`: nu in the place of epsilon.

    nu is at most the share of support vectors and, if `epsilon_` > 0, at least that of samples
    outside the tube. As in scikit-learn C is what a unit of slack costs, n times less than MLN's
    in `nu_tube`. For the rest see `SVR`.

    Parameters
    ----------
    nu : float; above 0, and at most 1
    C : float; what a unit of slack costs, finite
    kernel, degree, gamma, coef0, tol, cache_size, max_iter : as in `SVR`

    Attributes
    ----------
    Those of `SVR`. `epsilon_` is a property: half the width of the tube that nu has chosen.

    >>> model = NuSVR(kernel="linear", nu=0.5, C=0.5).fit([[1.0], [-1.0]], [2.0, -2.0])
    >>> model.dual_coef_, model.intercept_, model.epsilon_
    (array([[ 0.25, -0.25]]), array([0.]), 1.5)
    """

    def __init__(
        self, *, nu=0.5, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0, tol=1e-3,
        cache_size=800, max_iter=-1,
    ):  # fmt: skip
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter

    def _check_numbers(self):
        _check_nu(self.nu)
        check_number("C", self.C, above=0, below=inf)
        super()._check_numbers()

    def _solve(self, K, y, weights, unit):
        dual = nu_tube_dual(y, self.nu, self.C / unit * weights.sum(), weights)
        return solve(Doubled(K), dual, self.tol / unit, self.max_iter)

    def _offset(self):
        return self.certificate_.offsets.mean()

    @property
    def epsilon_(self):
        """Half the width of the tube that nu has chosen."""
        above, below = self.certificate_.offsets
        return max(0.0, float(above - below) / 2)


class L2SVR(SVR):
    """The squared tube with a kernel, by `svm.solve`: the soft tube with K + I / C, and no box.

    It minimises 1/2 ||w||^2 + C/2 sum_i L(y_i, f_i)^2, whose solution is unique. The certificate
    is that of this problem. For epsilon = 0 it is kernel ridge regression of penalty 1 / C with an
    offset, for which `without_tube` is faster. scikit-learn has nothing of the kind.

    Parameters
    ----------
    C : float; twice what a unit of squared slack costs, finite
    epsilon : float; half the width of the tube, in units of y
    kernel, degree, gamma, coef0, tol, cache_size, max_iter : as in `SVR`

    Attributes
    ----------
    Those of `SVR`.

    >>> model = L2SVR(kernel="linear", C=1.0, epsilon=0.5).fit([[1.0], [-1.0]], [2.0, -2.0])
    >>> model.dual_coef_, model.intercept_, model.predict([[2.0]])
    (array([[ 0.5, -0.5]]), array([0.]), array([2.]))
    """

    def fit(self, X, y):
        """Fit to samples X (n, d) with targets y (n,); return self."""
        return super().fit(X, y)

    def _check_numbers(self):
        check_number("C", self.C, above=0, below=inf)
        if 1 / self.C == inf:
            raise ValueError(f"C must not be so small that 1 / C overflows; got {self.C!r}")
        super()._check_numbers()

    def _ridge(self):
        return 1 / self.C

    def _solve(self, K, y, weights, unit):
        epsilon = self._width(y, unit)
        dual = squared_dual(y, epsilon, self.C)
        solved = solve(Doubled(K), dual, self.tol / unit, self.max_iter)
        beta, certificate = beta_of(unstack(solved.beta)), solved.certificate
        gradient = solved.run.state.gradient
        product = (dual.p - gradient)[: len(y)] - beta / self.C
        losses = insensitive_loss(product + certificate.offsets[0], y, epsilon)
        primal = float(beta @ product / 2 + self.C * losses @ losses / 2)
        certificate = certificate._replace(primal=primal, gap=primal - certificate.dual)
        return solved._replace(certificate=certificate)
