"""Optimization: how to find a minimum, and how to prove that it is one.

At the minimum of a convex function the gradient vanishes. Under constraints multipliers say what
holds instead. They are the variables of the dual problem, whose value is a lower bound.

Contents
    Convexity              segment, convexity_gap, smallest_gap, Witness, subdifferential
    Gradient descent       gradient_descent, DescentState, backtrack, descent_bound,
                           stochastic_gradient_descent, StochasticState
    Newton's method        newton, NewtonState, newton_direction
    Projected gradient     projected_gradient, ProjectedState, project_ball
    Constraints            Problem, QuadraticProgram, quadratic_program, box, active_set,
                           lagrangian, lagrangian_gradient, kkt_residuals, KKTResiduals, max_norm
    Duality                dual_function, quadratic_dual, relative_kkt_error
    Interior point method  interior_point, InteriorState, interior_start, interior_step,
                           longest_step
    Separation             closest_points, ClosestPoints, separating_hyperplane
    The solver             solve_qp, QPSolution, InfeasibleError, UnboundedError

Symbols
    x       (d,)         a point (IRHD 8.2 writes z, PRNN w); x0 a start, x_star a minimiser
    f       x -> float   the objective; gradient x -> (d,), hessian x -> (d, d) its derivatives
    t       float        place on the segment from x1 to x2, in [0, 1]
    eta     float        step size
    M       float        Lipschitz constant of the gradient: the largest curvature of f
    E, I    sets         p equalities c_i(x) = 0 for i in E, m inequalities c_j(x) >= 0 for j in I
    c       (p + m,)     the values of all constraints, E first; J (p + m, d) is their Jacobian
    lam     (p + m,)     their multipliers lambda; >= 0 on I, of either sign on E
    L       float        the Lagrangian L(x, lam) = f(x) - lam^T c(x)
    g       float        the dual function g(lam) = inf_x L(x, lam)
    P, q    (d, d) (d,)  of the quadratic 1/2 x^T P x + q^T x; P positive semi-definite
    A, b    (p, d) (p,)  of equalities A x = b
    G, h    (m, d) (m,)  of inequalities G x >= h
    s       (m,)         their slacks G x - h

Notes: IRHD 3 "Interlude: Convexity", 8.2.1, 8.2.2; PRNN 3, 7.1, 7.2.1. PRNN writes its
inequalities a_j^T w + b_j <= 0 and its Lagrangian f + sum_j mu_j (a_j^T w + b_j): with
c_j = -(a_j^T w + b_j) its mu_j are our lam_j. The dual function is its q.
"""

from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from mlnotes.base import ROUNDING, floats, iterate
from mlnotes.numerics import symmetric
from mlnotes.probability import is_psd

# =======================================================================================
# The lecture
# =======================================================================================

# --- Convexity -------------------------------------------------------------------------


def segment(x1, x2, t):
    """The point t x_2 + (1 - t) x_1 between x_1 (t = 0) and x_2 (t = 1): (d,).

    Many at once are rows of x1 and x2 and entries of t.

    >>> segment(np.array([0.0, 0.0]), np.array([4.0, 8.0]), t=0.25)
    array([1., 2.])
    """
    x1, x2, t = floats(x1, x2, t)
    t = np.reshape(t, t.shape + (1,) * (x1.ndim - t.ndim))
    return t * x2 + (1 - t) * x1


def convexity_gap(f, x1, x2, t):
    """The height t f(x_2) + (1 - t) f(x_1) - f(t x_2 + (1 - t) x_1) of the chord above f.

    f is convex if no gap is negative, for all x_1, x_2 and all t in [0, 1]. It is strictly convex
    if the gap is positive for x_1 != x_2 and 0 < t < 1. Many at once: as in `segment`.

    >>> convexity_gap(np.square, -1.0, 3.0, t=np.array([0.0, 0.25]))  # t (1 - t) (x_1 - x_2)^2
    array([0., 3.])

    Errata: optimization-02 (IRHD asks for a positive gap at the ends of the chord, too).
    """
    x1, x2, t = floats(x1, x2, t)
    return t * f(x2) + (1 - t) * f(x1) - f(segment(x1, x2, t))


class Witness(NamedTuple):
    """The chord with the smallest gap among those tried: from x1 to x2, at t."""

    gap: float
    x1: np.ndarray  # (d,)
    x2: np.ndarray  # (d,)
    t: float


def smallest_gap(f, X, *, rng):
    """The smallest convexity gap of f on 1000 random pairs of the points X (n, d): a `Witness`.

    Negative beyond rounding, it proves that f is not convex; otherwise it proves nothing. X may be
    numbers (n,). `rng` draws the pairs and the t.

    >>> smallest_gap(np.sin, np.linspace(0, 3, 50), rng=np.random.default_rng(0)).gap < -0.5
    np.True_
    """
    i, j = rng.integers(len(X), size=(2, 1000))
    t = rng.uniform(size=1000)
    gaps = convexity_gap(f, X[i], X[j], t)
    k = np.argmin(gaps)
    return Witness(gaps[k], X[i[k]], X[j[k]], t[k])


def subdifferential(f, c, *, h=1e-6):
    """An interval that contains [f'_-(c), f'_+(c)], for a convex f of one number: two slopes,

        (f(c) - f(c - h)) / h <= f'_-(c) <= f'_+(c) <= (f(c + h) - f(c)) / h .

    The subgradients s, f(x) >= f(c) + s (x - c) for all x, are the slopes from f'_- to f'_+. c is a
    minimiser iff 0 is one of them. Beyond |c| = 1 the step is h |c|.

    >>> subdifferential(abs, 0.0)
    (-1.0, 1.0)
    """
    c = float(c)
    step = h * max(1.0, abs(c))
    left, right = c - step, c + step
    return (f(c) - f(left)) / (c - left), (f(right) - f(c)) / (right - c)


# --- Gradient descent ------------------------------------------------------------------


class DescentState(NamedTuple):
    """Gradient descent after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    gradient_norm: float  # ||gradient f(x)||, 0 at a stationary point
    eta: float  # size of the step that led here; nan at the start


def gradient_descent(f, gradient, x0, *, eta=None):
    """Step by step against the gradient: x <- x - eta gradient f(x).

    eta = 1/M is safe; beyond 2/M it may diverge. Without eta, `backtrack` finds each step size,
    starting from twice the last one.

    Yields: the start, then a `DescentState` per step. It ends where the gradient is 0 or, with
    backtracking, where no step changes x.

    >>> states = gradient_descent(lambda x: x @ x, lambda x: 2 * x, np.array([8.0]), eta=0.25)
    >>> [float(next(states).x[0]) for _ in range(4)]
    [8.0, 4.0, 2.0, 1.0]

    Errata: optimization-09 (IRHD follows the gradient itself, along which f rises fastest).
    """
    x, step = np.array(x0, dtype=np.float64), np.nan
    value, trial = f(x), 1.0
    while True:
        slope = gradient(x)
        norm = np.linalg.norm(slope)
        yield DescentState(x, value, norm, step)
        if norm == 0 or step == 0:
            return
        if eta is not None:  # the same step size always
            step, x = eta, x - eta * slope
            value = f(x)
        else:
            step, x, value = backtrack(f, x, value, -slope, slope, eta=trial)
            trial = 2 * step


def backtrack(f, x, value, direction, gradient, *, eta=1.0):
    """The first step size among eta, eta/2, eta/4, ... that lowers f enough (Armijo's rule):

        f(x + eta p) <= f(x) + 1/4 eta gradient^T p .

    `value` is f(x), `direction` is p, and `gradient` is that of f at x. Returns: eta, x + eta p and
    f there; eta = 0 if no step that changes x lowers f enough.

    >>> backtrack(lambda x: x**2, 3.0, 9.0, direction=-6.0, gradient=6.0)
    (0.5, 0.0, 0.0)
    """
    slope = np.dot(*floats(gradient, direction))  # negative: f falls along the direction
    ahead = x + eta * direction
    while eta > 0 and np.any(ahead != x):
        there = f(ahead)
        if there <= value + eta / 4 * slope:
            return eta, ahead, there
        eta = eta / 2
        ahead = x + eta * direction
    return 0.0, ahead, f(ahead)


def descent_bound(M, x0, x_star, k):
    """The bound M ||x_0 - x_star||^2 / (2 k) >= f(x_k) - f(x_star), for convex f and eta = 1/M.

    >>> descent_bound(M=2.0, x0=np.array([8.0]), x_star=np.array([0.0]), k=np.array([1, 4]))
    array([64., 16.])
    """
    x0, x_star, k = floats(x0, x_star, k)
    return M * np.sum((x0 - x_star) ** 2) / (2 * k)


class StochasticState(NamedTuple):
    """Stochastic gradient descent after a pass over the terms."""

    x: np.ndarray  # (d,)
    objective: float  # f(x), of all terms
    moved: float  # ||x - x of the pass before||; inf at the start


def stochastic_gradient_descent(f, gradient, x0, n, *, eta, batch=1, rng):
    """Descent on f = (1/n) sum_i f_i that uses a few of the n terms per step, in random order.

    ``gradient(x, rows)`` is the mean gradient of the `batch` terms with the indices `rows`. With a
    number eta, x ends up wandering around the minimiser. With a function eta of k = 1, 2, ... this
    dies out if sum_k eta_k = inf and sum_k eta_k^2 < inf, as for 1/k. `rng` draws the order.

    Yields: the start, then a `StochasticState` per pass over all terms.

    >>> y, rng = np.array([1.0, 2.0, 9.0]), np.random.default_rng(0)
    >>> f, gradient = lambda x: np.mean((x - y) ** 2) / 2, lambda x, rows: x - y[rows].mean()
    >>> states = stochastic_gradient_descent(f, gradient, [0.0], 3, eta=lambda k: 1 / k, rng=rng)
    >>> [next(states).x.round(9).tolist() for _ in range(2)]  # 4 is the mean of y
    [[0.0], [4.0]]
    """
    x, k, moved = np.array(x0, dtype=np.float64), 0, np.inf
    while True:
        yield StochasticState(x, f(x), moved)
        before, order = x, rng.permutation(n)
        for start in range(0, n, batch):
            k += 1
            step = eta(k) if callable(eta) else eta
            x = x - step * gradient(x, order[start : start + batch])
        moved = np.linalg.norm(x - before)


# --- Newton's method -------------------------------------------------------------------


class NewtonState(NamedTuple):
    """Newton's method after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    decrement: float  # sqrt(gradient^T H^-1 gradient), 0 at a stationary point
    eta: float  # the share of the Newton step that led here; nan at the start


def newton(f, gradient, hessian, x0, *, solve=None):
    """To the minimum of the quadratic that fits f at x: x <- x - eta H^-1 gradient f(x).

    `backtrack` finds eta. Near the minimiser eta is 1, and f is about decrement^2 / 2 above its
    minimum. ``solve(H, slope)`` gives H^-1 slope in place of `newton_direction`; then `hessian` may
    return what `solve` takes for H.

    Yields: the start, then a `NewtonState` per step. It ends where the gradient is 0. Where f no
    longer falls, a last step has eta = 1: rounding hides the fall of f before that of the gradient.

    >>> states = newton(lambda x: x @ x, lambda x: 2 * x, lambda x: 2 * np.eye(1), np.array([8.0]))
    >>> [state.x.tolist() for state in states]
    [[8.0], [0.0]]
    """
    x, eta, falls = np.array(x0, dtype=np.float64), np.nan, True
    value = f(x)
    while True:
        slope, H = gradient(x), hessian(x)
        p = newton_direction(H, slope) if solve is None else -solve(H, slope)
        yield NewtonState(x, value, np.sqrt(abs(slope @ p)), eta)
        if not falls or not slope.any():
            return
        eta, ahead, there = backtrack(f, x, value, p, slope)
        falls = there < value
        if not falls:  # rounding hides the fall: a last, full step
            eta, ahead, there = 1.0, x + p, f(x + p)
        x, value = ahead, there


def newton_direction(H, gradient):
    """The step p = -(H + shift I)^-1 gradient, with shift = 0 if H is positive definite: (d,).

    Otherwise -H^-1 gradient may point uphill. Then shift is the first of 1e-8, 1e-7, ... times H's
    largest entry that makes H + shift/2 I positive definite, so that gradient^T p < 0.

    >>> newton_direction(np.array([[2.0]]), np.array([8.0]))
    array([-4.])
    """
    H, gradient = symmetric(H, "H"), floats(gradient)
    identity, shift = np.eye(len(H)), 0.0
    while True:
        try:
            np.linalg.cholesky(H + shift / 2 * identity)  # which only a positive definite H has
            return -np.linalg.solve(H + shift * identity, gradient)
        except np.linalg.LinAlgError:
            shift = 10 * shift or 1e-8 * (max_norm(H) or 1.0)


# --- Projected gradient ----------------------------------------------------------------


class ProjectedState(NamedTuple):
    """Projected gradient descent after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    mapping_norm: float  # ||x - project(x - eta gradient)|| / eta: 0 where no step helps


def projected_gradient(f, gradient, project, x0, *, eta):
    """A step downhill, then back to the set: x <- project(x - eta gradient f(x)).

    `project` maps a point to the nearest point of the set. f falls at every step if eta <= 1/M.

    Yields: the projected start, then a `ProjectedState` per step.

    >>> f, gradient, project = np.sum, np.ones_like, lambda x: np.maximum(x, 1.0)
    >>> states = projected_gradient(f, gradient, project, [5.0], eta=3.0)
    >>> [next(states).x.tolist() for _ in range(3)]
    [[5.0], [2.0], [1.0]]
    """
    x = project(np.array(x0, dtype=np.float64))
    while True:
        ahead = project(x - eta * gradient(x))
        yield ProjectedState(x, f(x), np.linalg.norm(x - ahead) / eta)
        x = ahead


def project_ball(x, radius=1.0):
    """The point of the ball ||x|| <= `radius` nearest to x: (d,).

    >>> project_ball(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    x = floats(x)
    return x * (radius / np.maximum(radius, np.linalg.norm(x)))


# --- Constraints -----------------------------------------------------------------------


class Problem(NamedTuple):
    """min f(x) subject to c_i(x) = 0 for the first p constraints, E, and c_j(x) >= 0 for I.

    >>> Problem(f=np.sum, gradient=np.ones_like, c=lambda x: x - 1, jacobian=np.diag).c(3.0)
    2.0
    """

    f: Callable  # of x, as the next three; -> float
    gradient: Callable  # -> (d,)
    c: Callable  # -> (p + m,)
    jacobian: Callable  # of c; -> (p + m, d)
    p: int = 0


class QuadraticProgram(NamedTuple):
    """The `Problem` min 1/2 x^T P x + q^T x subject to A x = b and G x >= h."""

    P: np.ndarray  # (d, d)
    q: np.ndarray  # (d,)
    A: np.ndarray  # (p, d)
    b: np.ndarray  # (p,)
    G: np.ndarray  # (m, d)
    h: np.ndarray  # (m,)

    def f(self, x):
        """1/2 x^T P x + q^T x."""
        x = floats(x)
        return x @ self.P @ x / 2 + self.q @ x

    def gradient(self, x):
        """P x + q."""
        return self.P @ floats(x) + self.q

    def c(self, x):
        """A x - b, then G x - h."""
        x = floats(x)
        return np.concatenate([self.A @ x - self.b, self.G @ x - self.h])

    def jacobian(self, x):
        """A above G."""
        return np.vstack([self.A, self.G])

    @property
    def p(self):
        """The number of equalities."""
        return len(self.b)


def quadratic_program(P, q, A=None, b=None, G=None, h=None):
    """The program min 1/2 x^T P x + q^T x subject to A x = b and G x >= h: a `QuadraticProgram`.

    >>> quadratic_program(np.eye(2), np.zeros(2), A=[[1.0, 1.0]], b=[1.0]).f(np.array([3.0, 4.0]))
    np.float64(12.5)
    """
    P, q = symmetric(P, "P"), floats(q)
    A, G = (np.zeros((0, len(q))) if C is None else floats(C) for C in (A, G))
    b, h = (np.zeros(0) if c is None else floats(c) for c in (b, h))
    return QuadraticProgram(P, q, A, b, G, h)


def box(lower, upper):
    """G (m, d) and h (m,) of lower <= x <= upper. A bound of -inf or inf gives no row.

    >>> box(np.array([0.0, -np.inf]), np.array([np.inf, 5.0]))
    (array([[ 1.,  0.],
           [-0., -1.]]), array([ 0., -5.]))
    """
    lower, upper = floats(lower, upper)
    identity = np.eye(len(lower))
    G, h = np.vstack([identity, -identity]), np.concatenate([lower, -upper])
    return G[h != -np.inf], h[h != -np.inf]


def active_set(problem, x):
    """The positions in c of E and {j in I: |c_j(x)| <= 1e-8}, what holds with equality: (k,).

    >>> active_set(quadratic_program([[1.0]], [0.0], G=[[1.0]], h=[1.0]), x=np.array([1.0]))
    array([0])
    """
    c = problem.c(x)
    return np.flatnonzero((np.arange(len(c)) < problem.p) | (np.abs(c) <= 1e-8))


def lagrangian(problem, x, lam):
    """The Lagrangian L(x, lam) = f(x) - sum_i lam_i c_i(x), over E and I: a number.

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])  # x^2 on x >= 1
    >>> lagrangian(problem, np.array([3.0]), lam=np.array([2.0]))
    np.float64(5.0)
    """
    return problem.f(x) - lam @ problem.c(x)


def lagrangian_gradient(problem, x, lam):
    """The gradient of L in x, gradient f(x) - J(x)^T lam: (d,). That in lam is -c(x).

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> lagrangian_gradient(problem, np.array([1.0]), lam=np.array([2.0]))
    array([0.])
    """
    return problem.gradient(x) - problem.jacobian(x).T @ floats(lam)


class KKTResiduals(NamedTuple):
    """By how much (x, lam) violates each of the KKT conditions; all 0 if it satisfies them."""

    stationarity: float  # max |gradient_x L|
    equality: float  # max |c_i|, i in E
    inequality: float  # max(-c_j, 0), j in I
    sign: float  # max(-lam_j, 0), j in I
    complementarity: float  # max |lam_i c_i|


def kkt_residuals(problem, x, lam):
    """The violations of the Karush-Kuhn-Tucker conditions, (8.17)-(8.21) of IRHD: `KKTResiduals`.

        gradient_x L = 0,  c_i = 0 on E,  c_j >= 0 on I,  lam_j >= 0 on I,  lam_i c_i = 0 .

    If the constraints are linear, every minimiser has multipliers that satisfy them. If f is
    convex, too, every point that satisfies them is a minimiser.

    >>> problem = quadratic_program([[2.0]], [0.0], A=[[1.0]], b=[-1.0])
    >>> max(kkt_residuals(problem, np.array([-1.0]), lam=np.array([-2.0])))
    0.0

    Errata: optimization-23 (IRHD 8.2.2 has lam >= 0 on E, too).
    """
    lam, c, p = floats(lam), problem.c(x), problem.p
    return KKTResiduals(
        stationarity=max_norm(lagrangian_gradient(problem, x, lam)),
        equality=max_norm(c[:p]),
        inequality=max_norm(np.minimum(c[p:], 0.0)),
        sign=max_norm(np.minimum(lam[p:], 0.0)),
        complementarity=max_norm(lam * c),
    )


def max_norm(v):
    """The largest absolute entry max_j |v_j| of v; 0 if there is none.

    >>> max_norm(np.array([1.0, -3.0]))
    3.0
    """
    return float(np.abs(floats(v)).max(initial=0.0))


# --- Duality ---------------------------------------------------------------------------


def dual_function(problem, lam, points):
    """The dual function g(lam) = inf_x L(x, lam), the infimum over `points` (k, d): a number.

    If a minimiser of L is among the points, this is g itself; otherwise it is at least g. If
    lam_j >= 0 on I, then g(lam) <= f_star, the infimum of f over the feasible x. By strong duality
    the largest g is f_star for convex f and linear constraints. Rows of lam give (l,).

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])  # x^2 on x >= 1
    >>> dual_function(problem, np.array([[0.0], [2.0], [4.0]]), np.linspace(-5, 5, 101)[:, None])
    array([0., 1., 0.])

    Errata: optimization-22 (PRNN claims strong duality of every problem), optimization-23 (IRHD
    has lam >= 0 on E, too), optimization-24 (IRHD takes the infimum over all x for f_star).
    """
    values = np.array([problem.f(x) for x in points])
    c = np.array([problem.c(x) for x in points])
    return (values - np.asarray(lam) @ c.T).min(axis=-1)


def quadratic_dual(lam, P, q, A=None, b=None, G=None, h=None):
    """The dual function of a quadratic program, with C = A above G and c = b before h: a number.

        g(lam) = c^T lam - 1/2 r^T P^-1 r,   r = q - C^T lam .

    P^-1 r is any x with P x = r. Without one, or if P has a negative eigenvalue, g(lam) = -inf.

    >>> quadratic_dual(np.array([2.0]), [[2.0]], [0.0], G=[[1.0]], h=[1.0])
    np.float64(1.0)
    """
    P, q, A, b, G, h = quadratic_program(P, q, A, b, G, h)
    pull = np.vstack([A, G]).T @ lam
    unit = 1 / np.sqrt(np.where(np.diag(P) > 0, np.diag(P), 1.0))  # of x, so that P has the
    P, q, pull = unit[:, None] * P * unit, unit * q, unit * pull  # diagonal 1 in any other unit
    r = q - pull
    x = np.linalg.lstsq(P, -r, rcond=None)[0]
    bounded = is_psd(P, 1e-9) and max_norm(P @ x + r) <= 1e-9 * (max_norm(q) + max_norm(pull))
    return np.concatenate([b, h]) @ lam + r @ x / 2 if bounded else -np.inf


def relative_kkt_error(program, x, lam):
    """The largest of three errors, each divided by the sizes of the terms that it sums: a number.

        P x + q - C^T lam,   the violations of A x = b and G x >= h,   x^T P x + q^T x - c^T lam .

    C is A above G, c is b before h. If all are 0 and lam >= 0 on I, then x is a minimiser: the last
    one is f(x) - g(lam). A millionth of what cancels in its terms counts. Below ROUNDING all is 0.

    >>> program = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> relative_kkt_error(program, np.array([1.0]), np.array([2.0]))
    0.0
    """
    P, q, A, b, G, h, x, lam = floats(*program, x, lam)
    C, c, X, Y = np.vstack([A, G]), np.concatenate([b, h]), np.abs(x), np.abs(lam)
    violation = np.append(A @ x - b, np.minimum(G @ x - h, 0.0))
    pull, rows = np.abs(P) @ X + np.abs(q) + np.abs(C).T @ Y, np.abs(C) @ X + np.abs(c)
    gap = np.array([x @ P @ x, q @ x, -c @ lam])
    errors = (
        (P @ x + q - C.T @ lam, pull),
        (violation, rows),
        (gap.sum(), np.abs(gap).sum() + 1e-6 * (X @ pull + Y @ np.abs(c))),
    )
    return max(max_norm(error) / (max_norm(terms) + ROUNDING) for error, terms in errors)


# --- Interior point method -------------------------------------------------------------

RESOLUTION = 8 * np.finfo(np.float64).eps  # a relative difference this small is only rounding


class InteriorState(NamedTuple):
    """The interior point method after a step."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (m,), positive
    slack: np.ndarray  # (m,), s: positive, tending to G x - h
    objective: float  # 1/2 x^T P x + q^T x
    residual: float  # the `relative_kkt_error` of x and lam

    @property
    def gap(self):
        """lam^T s: for feasible x and lam the objective minus the dual objective."""
        return self.lam @ self.slack


def interior_point(P, q, G, h):
    """Mehrotra's predictor-corrector method for min 1/2 x^T P x + q^T x subject to G x >= h.

    A step aims at lam_j s_j = sigma mu, where mu is the mean of the lam_j s_j, and goes 99 % of the
    way to the boundary lam_j = 0 or s_j = 0. The predictor has sigma = 0. The more it lowers mu,
    the smaller is sigma of the corrector, which has the products that the predictor left out.

    Yields: the start, then an `InteriorState` per step. It ends where the residual, once below
    1e-6, no longer falls: rounding has taken over.

    >>> *_, last = interior_point(np.array([[2.0]]), np.zeros(1), np.eye(1), np.array([3.0]))
    >>> last.x.round(6), last.lam.round(6)  # x^2 on x >= 3
    (array([3.]), array([6.]))
    """
    program = quadratic_program(P, q, G=G, h=h)
    P, q, _, _, G, h = program
    x, lam, s = interior_start(P, q, G, h)
    before, residual = np.inf, relative_kkt_error(program, x, lam)
    while before > RESOLUTION and (residual < before or before > 1e-6):
        yield InteriorState(x, lam, s, program.f(x), residual)
        mu = np.mean(lam * s)
        _, dlam, ds = interior_step(P, q, G, h, x, lam, s, aim=0.0)  # the predictor
        eta = longest_step(lam, dlam, s, ds)
        sigma = (np.mean((lam + eta * dlam) * (s + eta * ds)) / mu) ** 3
        aim = sigma * mu - dlam * ds
        dx, dlam, ds = interior_step(P, q, G, h, x, lam, s, aim)  # the corrector
        eta = 0.99 * longest_step(lam, dlam, s, ds)
        x, lam, s = x + eta * dx, lam + eta * dlam, s + eta * ds
        before, residual = residual, relative_kkt_error(program, x, lam)


def interior_start(P, q, G, h):
    """The x that minimises f(x) + 1/2 ||G x - h||^2, and lam and s that are positive.

    s is G x - h and lam is -s, shifted so that the smallest entry is 1 unless all are positive.

    >>> interior_start(np.array([[2.0]]), np.zeros(1), np.eye(1), np.array([3.0]))
    (array([1.]), array([2.]), array([1.]))
    """
    P, q, G, h = floats(P, q, G, h)
    x = np.linalg.lstsq(P + G.T @ G, G.T @ h - q, rcond=None)[0]
    s = G @ x - h
    lam, s = (v if v.min() > 0 else v + 1 - v.min() for v in (-s, s))
    return x, lam, s


def interior_step(P, q, G, h, x, lam, s, aim):
    """Newton's step (dx, dlam, ds) towards lam_j s_j = `aim`, from the three equations

        P dx - G^T dlam         = -(P x + q - G^T lam)
        G dx             -  ds  = -(G x - s - h)
             s_j dlam_j + lam_j ds_j = aim_j - lam_j s_j .

    The third gives ds, then the second dlam, and the first is a linear system for dx alone.

    >>> P, q, G, h = np.array([[2.0]]), np.zeros(1), np.eye(1), np.array([3.0])  # x^2 on x >= 3
    >>> interior_step(P, q, G, h, np.array([4.0]), np.ones(1), np.ones(1), aim=0.0)
    (array([-2.66666667]), array([1.66666667]), array([-2.66666667]))
    """
    P, q, G, h, x, lam, s = floats(P, q, G, h, x, lam, s)
    ratio = lam / s
    omega = aim / lam - G @ x + h
    K = P + (ratio * G.T) @ G
    K = K + RESOLUTION * (1 + K.max()) * np.eye(len(q))  # P and G may send the same p to 0
    dx = np.linalg.solve(K, G.T @ (ratio * omega + lam) - P @ x - q)
    dlam = ratio * (omega - G @ dx)
    return dx, dlam, (aim - s * dlam) / lam - s


def longest_step(lam, dlam, s, ds):
    """The largest eta <= 1 with lam + eta dlam >= 0 and s + eta ds >= 0: a number.

    >>> longest_step(np.array([1.0]), np.array([-4.0]), np.array([1.0]), np.array([5.0]))
    np.float64(0.25)
    """
    v, dv = floats(np.concatenate([lam, s]), np.concatenate([dlam, ds]))
    return (-v[dv < 0] / dv[dv < 0]).min(initial=1.0)


# --- Separation ------------------------------------------------------------------------

TOUCHING = 1e-9  # of the points' extent: the distance of hulls that meet is computed up to this


class ClosestPoints(NamedTuple):
    """The closest points of two polytopes."""

    u: np.ndarray  # (d,), in the convex hull of X
    v: np.ndarray  # (d,), in the convex hull of Y
    distance: float  # ||u - v||, 0 if the hulls meet


def closest_points(X, Y):
    """The closest points of the convex hulls of X (n, d) and Y (k, d): `ClosestPoints`.

        min 1/2 ||X^T alpha - Y^T beta||^2  subject to
        sum_i alpha_i = sum_j beta_j = 1,  alpha, beta >= 0 .

    >>> u, v, distance = closest_points(np.array([[1.0, 0.0], [1.0, 4.0]]), np.array([[3.0, 2.0]]))
    >>> u.round(9), v.round(9), float(distance.round(9))
    (array([1., 2.]), array([3., 2.]), 2.0)
    """
    X, Y = floats(X, Y)
    center, n, k = (X.mean(axis=0) + Y.mean(axis=0)) / 2, len(X), len(Y)
    Z = np.vstack([X - center, center - Y])  # far from 0, digits would be lost
    A = np.array([[1.0] * n + [0.0] * k, [0.0] * n + [1.0] * k])
    weights = solve_qp(Z @ Z.T, np.zeros(n + k), A, np.ones(2), np.eye(n + k), np.zeros(n + k)).x
    u, v = weights[:n] @ Z[:n], -weights[n:] @ Z[n:]
    if np.linalg.norm(u - v) <= TOUCHING * max_norm(Z):
        u = v = (u + v) / 2
    return ClosestPoints(center + u, center + v, np.linalg.norm(u - v))


def separating_hyperplane(X, Y):
    """The hyperplane w^T x + b = 0 midway between the closest points u, v of two polytopes: w, b.

        w = u - v,   b = -w^T (u + v) / 2 .

    w^T x + b >= ||w||^2 / 2 on the hull of X (n, d), and <= -||w||^2 / 2 on the hull of Y (k, d).
    No other hyperplane has a larger margin, the distance from both hulls.

    Raises: ValueError if the hulls meet.

    >>> w, b = separating_hyperplane(np.array([[4.0, 3.0]]), np.array([[3.0, 0.0], [1.0, 2.0]]))
    >>> w.round(9), float(b.round(9))
    (array([2., 2.]), -10.0)
    """
    u, v, distance = closest_points(X, Y)
    if distance == 0:
        raise ValueError("X and Y must have convex hulls without a common point; theirs meet")
    w = u - v
    return w, -w @ (u + v) / 2


# =======================================================================================
# The estimators
# =======================================================================================

# This chapter has no estimator. Here stands the solver that those of other chapters call: what
# makes `interior_point` hold in any unit, to the last digit, and without a solution.

# --- Quadratic programs ----------------------------------------------------------------

LARGE = 1e6  # a solution of the scaled program beyond this may be on its way to infinity
TOLERANCE = 1e-9  # the largest residual of a solution


class QPSolution(NamedTuple):
    """The minimiser of a quadratic program, with the multipliers that prove it."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (p + m,), those of A x = b first
    objective: float  # 1/2 x^T P x + q^T x
    gap: float  # the objective minus the dual objective
    residual: float  # `relative_kkt_error` of x and lam, in the scaled program


def solve_qp(P, q, A=None, b=None, G=None, h=None):
    """min 1/2 x^T P x + q^T x subject to A x = b and G x >= h, P positive semi-definite.

    After scaling, `interior_point` solves for what the equalities leave free. Then the linear KKT
    equations of the active inequalities give the last digits, and lam_j = 0 exactly for the others.
    The rows of A and G may repeat each other. P may be singular, or 0 for a linear program.

    Returns: a `QPSolution`, with a residual of at most 1e-9.

    Raises: InfeasibleError or UnboundedError if there is no solution, with the proof; ValueError
    if the parts do not fit together, if P is not positive semi-definite, or if the numbers of the
    program differ so much in size that rounding keeps the residual above 1e-9.

    >>> solution = solve_qp(2 * np.eye(2), [0.0, 0.0], A=[[1.0, 1.0]], b=[1.0])
    >>> solution.x.round(9), solution.lam.round(9), round(solution.objective, 9)
    (array([0.5, 0.5]), array([1.]), 0.5)
    """
    program = _check_program(quadratic_program(P, q, A, b, G, h))
    scaled, columns, rows = _scale(program)
    if not is_psd(scaled.P, 1e-9):
        lowest = np.linalg.eigvalsh(program.P)[0]
        raise ValueError(f"P must be positive semi-definite; got an eigenvalue {lowest:.3g}")
    x, lam = _minimise(scaled)
    residual = relative_kkt_error(scaled, x, lam)
    if residual > TOLERANCE or max(max_norm(x), max_norm(lam)) > LARGE:
        _refuse(scaled, columns, rows)
    if residual > TOLERANCE:
        raise ValueError(
            "the numbers of the program must be of similar size; rounding stopped solve_qp with "
            f"residual = {residual:.3g}: measure variables and constraints in other units"
        )
    x, lam = columns * x, rows * lam
    gap = x @ program.gradient(x) - lam @ np.concatenate([program.b, program.h])
    return QPSolution(x, lam, float(program.f(x)), float(gap), residual)


def _check_program(program):
    d, p, m = (len(part) for part in (program.q, program.b, program.h))
    shapes = ((d, d), (d,), (p, d), (p,), (m, d), (m,))
    for name, part, shape in zip(program._fields, program, shapes, strict=True):
        if part.shape != shape:
            raise ValueError(f"{name} must have shape {shape}; got {part.shape}")
        if not np.isfinite(part).all():
            raise ValueError(f"{name} must be finite; it contains NaN or infinity")
    return program


def _stacked(program):
    """C and c: A above G, and b before h."""
    return np.vstack([program.A, program.G]), np.concatenate([program.b, program.h])


def _scale(program):
    """The same program with numbers of size 1, for x' and lam': x = columns x', lam = rows lam'.

    The rows and columns of C are divided by the roots of their largest entries, ten times. Then x'
    is divided by the size of c (without c, of the free minimum), and the objective by its own. So
    the units of the variables, the constraints and the objective change nothing.
    """
    P, q, p, (C, c) = program.P, program.q, len(program.b), _stacked(program)
    rows, columns, size = np.ones(len(c)), np.ones(len(q)), np.abs(C)
    for _ in range(10):
        across, down = size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)
        rows, columns = rows / np.sqrt(_or_one(across)), columns / np.sqrt(_or_one(down))
        size = rows[:, None] * np.abs(C) * columns
    free = ~C.any(axis=0)  # variables that no constraint holds
    columns[free] = 1 / np.sqrt(_or_one(np.abs(np.diag(P)[free])))
    P, q = columns[:, None] * P * columns, columns * q
    C, c = rows[:, None] * C * columns, rows * c
    length = max_norm(c) or max_norm(q) / (max_norm(P) or np.inf) or 1.0
    cost = max(length * max_norm(P), max_norm(q)) or 1.0
    P, q, c = length * P / cost, q / cost, c / length
    return QuadraticProgram(P, q, C[:p], c[:p], C[p:], c[p:]), length * columns, cost * rows


def _or_one(sizes):
    """The sizes, with 1 for 0."""
    return np.where(sizes > 0, sizes, 1.0)


def _minimise(program):
    """x and lam of a scaled program, as good as rounding lets them be."""
    P, q, A, b, G, h = program
    U, s, Vt = np.linalg.svd(A)
    rank = np.count_nonzero(s > ROUNDING * s.max(initial=0.0))
    inverse = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T  # of A
    x, N = inverse @ b, Vt[rank:].T  # the solutions of A x = b are x + N u
    lam = np.zeros(len(h))
    if len(h) and N.shape[1]:
        R = N.T @ P @ N
        states = interior_point((R + R.T) / 2, N.T @ (q + P @ x), G @ N, h - G @ x)
        # without a solution x or lam diverges
        sane = takewhile(lambda state: max_norm(np.append(state.x, state.lam)) < LARGE**8, states)
        last = iterate(sane, "residual", TOLERANCE / 100, 100).state
        x, lam = x + N @ last.x, last.lam
    lam = np.concatenate([inverse.T @ (P @ x + q - G.T @ lam), lam])
    return _last_digits(program, x, lam)


def _last_digits(program, x, lam):
    """The best of x, lam and the solutions for up to six guesses of the active constraints."""
    P, q, (C, c) = program.P, program.q, _stacked(program)
    equality = np.arange(len(c)) < len(program.b)
    candidates, active = [(x, lam)], equality | (lam > C @ x - c)
    for _ in range(6):
        D, near, lam = C[active], lam[active], np.zeros(len(c))
        K = np.block([[P, -D.T], [D, np.zeros((len(D), len(D)))]])
        error = np.concatenate([P @ x + q - D.T @ near, D @ x - c[active]])
        dx, dlam = np.split(np.linalg.lstsq(K, -error, rcond=None)[0], [len(q)])
        x, lam[active] = x + dx, near + dlam  # P x + q = D^T lam, D x = c, and the nearest of these
        wrong = ~equality & (lam < 0)
        lam = np.where(wrong, 0.0, lam)
        candidates.append((x, lam))
        violated = C @ x - c < -ROUNDING * (max_norm(x) + np.abs(c))
        before, active = active, active & ~wrong | violated
        if np.array_equal(active, before):
            break
    return min(candidates, key=lambda each: relative_kkt_error(program, *each))


# --- Without a solution ----------------------------------------------------------------


class InfeasibleError(ValueError):
    """No point satisfies the constraints.

    Its `certificate` y (p + m,) has A^T y_E + G^T y_I = 0, y_I >= 0 and b^T y_E + h^T y_I > 0. An x
    with A x = b and G x >= h would give 0 = (A^T y_E + G^T y_I)^T x >= b^T y_E + h^T y_I > 0.
    """

    def __init__(self, message, certificate=None):
        super().__init__(message)
        self.certificate = certificate


class UnboundedError(ValueError):
    """The objective falls without bound on the feasible set.

    Its `direction` v (d,) has P v = 0, A v = 0, G v >= 0 and q^T v < 0: from a feasible x the
    objective falls along x + t v for all t >= 0.
    """

    def __init__(self, message, direction=None):
        super().__init__(message)
        self.direction = direction


def _refuse(scaled, columns, rows):
    """Raise the error that says why there is no solution, if there is a proof."""
    P, q, A, _, G, _ = scaled
    C, c = _stacked(scaled)
    certificate = _certificate(c, C.T, np.eye(len(c))[len(A) :], rows)
    if certificate is not None:
        message = "the constraints must have a common point; the certificate proves that none is"
        raise InfeasibleError(message, certificate)
    P = P / (max_norm(P) or 1.0)  # P v = 0 in any unit of the objective
    direction = _certificate(-q, np.vstack([P, A]), G, columns)
    if direction is not None:
        message = "the objective must be bounded below; along the direction it falls without end"
        raise UnboundedError(message, direction)


def _certificate(v, M, N, unit):
    """A y with M y = 0, N y >= 0 and v^T y > 0, times `unit`, of length 1; None if there is none.

    y is the point of the cone M y = 0, N y >= 0 nearest to v. It has v^T y = ||y||^2.
    """
    if not len(v):
        return None
    cone = quadratic_program(np.eye(len(v)), -v, M, np.zeros(len(M)), N, np.zeros(len(N)))
    scaled, columns, _ = _scale(cone)
    y = columns * _minimise(scaled)[0]
    y = np.where(np.abs(y) > ROUNDING * max_norm(y), y, 0.0)
    error = max(max_norm(M @ y), max_norm(np.minimum(N @ y, 0.0)))
    if error > 1e-10 * max_norm(y) or v @ y <= 1e-10 * (np.abs(v) @ np.abs(y)):
        return None
    return unit * y / np.linalg.norm(unit * y)
