"""Optimization: how to find a minimum, and how to prove that it is one.

At the minimum of a convex function the gradient vanishes. Under constraints multipliers say what
holds instead. They are the variables of the dual problem, whose value is a lower bound. The solver
of quadratic programs proves each solution by this bound, or proves that there is none.

Contents
    Convexity              segment, convexity_gap, indicator, smallest_gap, Witness,
                           subdifferential
    Gradient descent       gradient_descent, DescentState, backtrack, descent_bound,
                           stochastic_gradient_descent, StochasticState
    Newton's method        newton, NewtonState, newton_direction
    Projected gradient     projected_gradient, ProjectedState, project_ball, project_sphere
    Constraints            Problem, QuadraticProgram, quadratic_program, constraints, violation,
                           active_set, lagrangian, lagrangian_gradient, kkt_residuals,
                           KKTResiduals
    Duality                dual_function, quadratic_dual
    Interior point method  interior_point, InteriorState, interior_step, longest_step
    Quadratic programs     solve_qp, QPSolution, box
    Without a solution     InfeasibleError, UnboundedError
    Separation             closest_points, ClosestPoints, separating_hyperplane

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
    G, h    (m, d) (m,)  of inequalities G x >= h, with slacks s = G x - h

Notes: IRHD 3 "Interlude: Convexity", 8.2.1, 8.2.2; PRNN 3, 7.1, 7.2.1. PRNN writes its
inequalities a_j^T w + b_j <= 0 and its Lagrangian f + sum_j mu_j (a_j^T w + b_j): with
c_j = -(a_j^T w + b_j) its mu_j are our lam_j. The dual function is its q.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mlnotes.base import ConvergenceWarning, check_number, iterate
from mlnotes.numerics import symmetric
from mlnotes.probability import is_psd

EPS = np.finfo(np.float64).eps


# ---------------------------------------------------------------------------------------
# Convexity
# ---------------------------------------------------------------------------------------


def segment(x1, x2, t):
    """t x_2 + (1 - t) x_1: the point between x_1 (t = 0) and x_2 (t = 1).

    >>> segment(np.array([0.0, 0.0]), np.array([4.0, 8.0]), t=0.25)
    array([1., 2.])
    """
    t = np.asarray(t)
    t = t.reshape(t.shape + (1,) * (np.ndim(x1) - t.ndim))
    return t * x2 + (1 - t) * x1


def convexity_gap(f, x1, x2, t):
    """t f(x_2) + (1 - t) f(x_1) - f(t x_2 + (1 - t) x_1): the height of the chord above f.

    f is convex if no gap is negative, for all x_1, x_2 and all t in [0, 1]. It is strictly convex
    if the gap is positive for x_1 != x_2 and 0 < t < 1.

    Many pairs at once are rows of x1 and x2 and entries of t; f maps many points to their values.

    >>> convexity_gap(np.square, -1.0, 3.0, t=np.array([0.0, 0.25]))  # t (1 - t) (x_1 - x_2)^2
    array([0., 3.])

    Errata: optimization-02 (IRHD asks for a positive gap at the ends of the chord, too).
    """
    return t * f(x2) + (1 - t) * f(x1) - f(segment(x1, x2, t))


def indicator(inside):
    """0 inside a set and infinity outside: a convex function iff the set is convex.

    >>> indicator(np.array([True, False]))
    array([ 0., inf])
    """
    return np.where(inside, 0.0, np.inf)


class Witness(NamedTuple):
    """The chord with the smallest gap among those tried: from x1 to x2, at t."""

    gap: float
    x1: np.ndarray  # (d,)
    x2: np.ndarray  # (d,)
    t: float


def smallest_gap(f, X, *, pairs=1000, rng):
    """The smallest convexity gap of f on random `pairs` of the points X (n, d), or X (n,).

    If it is negative beyond rounding, f is not convex, and the `Witness` is the proof. Otherwise
    nothing is proved. `rng` draws the pairs and the t.

    Returns: a `Witness`.

    >>> smallest_gap(np.sin, np.linspace(0, 3, 50), rng=np.random.default_rng(0)).gap < -0.5
    True
    """
    i, j = rng.integers(len(X), size=(2, pairs))
    t = rng.uniform(size=pairs)
    gaps = convexity_gap(f, X[i], X[j], t)
    k = int(np.argmin(gaps))
    return Witness(float(gaps[k]), X[i[k]], X[j[k]], float(t[k]))


def subdifferential(f, c, *, h=1e-6):
    """An interval that contains [f'_-(c), f'_+(c)], for a convex f of one number:

        (f(c) - f(c - h)) / h <= f'_-(c) <= f'_+(c) <= (f(c + h) - f(c)) / h .

    The slopes s from f'_- to f'_+ are the subgradients: f(x) >= f(c) + s (x - c) for all x. c is a
    minimiser iff 0 is one of them. Beyond |c| = 1 the step is h |c|.

    >>> subdifferential(abs, 0.0)
    (-1.0, 1.0)
    """
    step = h * max(1.0, abs(c))
    left, right = c - step, c + step  # c - left and right - c differ a little from the step
    return float((f(c) - f(left)) / (c - left)), float((f(right) - f(c)) / (right - c))


# ---------------------------------------------------------------------------------------
# Gradient descent
# ---------------------------------------------------------------------------------------

SUFFICIENT = 0.25  # Armijo: a step must lower f by this share of what the slope promises
ROUNDING = 8 * EPS  # a computed f(x) may be wrong by this share of |f(x)|
SHIFT = 1e-8  # the first shift of a Hessian that is not positive definite, to its largest entry


class DescentState(NamedTuple):
    """Gradient descent after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    gradient_norm: float  # ||gradient f(x)||, 0 at a stationary point
    eta: float  # size of the step that led here; nan at the start


def gradient_descent(f, gradient, x0, *, eta=None):
    """Step by step against the gradient: x <- x - eta gradient f(x).

    eta = 1/M is safe; beyond 2/M it may diverge. Without eta, `backtrack` finds each step size,
    starting from twice the last one (from the last one, once rounding hides the fall of f).

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
        norm = float(np.linalg.norm(slope))
        yield DescentState(x, float(value), norm, step)
        if norm == 0 or step == 0:
            return
        if eta is not None:  # the same step size always
            step, x = eta, x - eta * slope
            value = f(x)
        else:
            step, x, value = backtrack(f, x, value, -slope, slope, eta=trial)
            fall = step * norm**2  # which the slope promised
            trial = 2 * step if fall > ROUNDING * abs(value) else step


def backtrack(f, x, value, direction, gradient, *, eta=1.0):
    """The first step size among eta, eta/2, eta/4, ... that lowers f enough (Armijo's rule):

        f(x + eta p) <= f(x) + SUFFICIENT eta gradient^T p ,   up to rounding.

    `value` is f(x), `direction` is p, and `gradient` is the gradient of f at x.

    Returns: eta, x + eta p and f there. eta is 0 if no step that changes x lowers f enough.
    Raises: ValueError if x or p is not finite.

    >>> backtrack(lambda x: x**2, 3.0, 9.0, direction=-6.0, gradient=6.0)
    (0.5, 0.0, 0.0)
    """
    _check_direction(x, direction)
    slope = np.dot(gradient, direction)  # negative: f falls along the direction
    allowed = value + ROUNDING * abs(value)
    ahead = x + eta * direction
    while np.any(ahead != x):
        there = f(ahead)
        if there <= allowed + SUFFICIENT * eta * slope:
            return eta, ahead, there
        eta = eta / 2
        ahead = x + eta * direction
    return 0.0, x, value


def _check_direction(x, direction):
    if not (np.isfinite(x).all() and np.isfinite(direction).all()):
        raise ValueError("x and direction must be finite; they contain NaN or infinity")


def descent_bound(M, x0, x_star, k):
    """M ||x_0 - x_star||^2 / (2 k) >= f(x_k) - f(x_star), for convex f, k steps and eta = 1/M.

    >>> descent_bound(M=2.0, x0=np.array([8.0]), x_star=np.array([0.0]), k=np.array([1, 4]))
    array([64., 16.])
    """
    return M * np.sum((x0 - x_star) ** 2) / (2 * k)


class StochasticState(NamedTuple):
    """Stochastic gradient descent after a pass over the terms."""

    x: np.ndarray  # (d,)
    objective: float  # f(x), of all terms
    moved: float  # ||x - x of the pass before||; inf at the start


def stochastic_gradient_descent(f, gradient, x0, n, *, eta, batch=1, rng):
    """Descent on f = (1/n) sum_i f_i that uses a few of the n terms per step, in random order.

    ``gradient(x, rows)`` is the mean gradient of the `batch` terms with the indices `rows`. With a
    number eta, x ends up wandering around the minimiser. With a function of the step's number
    k = 1, 2, ... the wandering dies out if sum_k eta_k = inf and sum_k eta_k^2 < inf, as for 1/k.
    `rng` draws the order.

    Yields: the start, then a `StochasticState` per pass over all terms.

    >>> y, rng = np.array([1.0, 2.0, 9.0]), np.random.default_rng(0)
    >>> f, gradient = lambda x: np.mean((x - y) ** 2) / 2, lambda x, rows: x - y[rows].mean()
    >>> states = stochastic_gradient_descent(f, gradient, [0.0], 3, eta=lambda k: 1 / k, rng=rng)
    >>> [next(states).x.round(9).tolist() for _ in range(2)]  # 4 is the mean of y
    [[0.0], [4.0]]
    """
    x, k, moved = np.array(x0, dtype=np.float64), 0, np.inf
    while True:
        yield StochasticState(x, float(f(x)), moved)
        before, order = x, rng.permutation(n)
        for start in range(0, n, batch):
            k += 1
            step = eta(k) if callable(eta) else eta
            x = x - step * gradient(x, order[start : start + batch])
        moved = float(np.linalg.norm(x - before))


# ---------------------------------------------------------------------------------------
# Newton's method
# ---------------------------------------------------------------------------------------


class NewtonState(NamedTuple):
    """Newton's method after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    decrement: float  # sqrt(gradient^T H^-1 gradient), 0 at a stationary point
    eta: float  # the share of the Newton step that led here; nan at the start


def newton(f, gradient, hessian, x0, *, solve=None):
    """To the minimum of the quadratic that fits f at x: x <- x - eta H^-1 gradient f(x).

    `backtrack` finds eta, which is 1 near the minimiser. There f is about decrement^2 / 2 above its
    minimum. ``solve(H, slope)`` gives H^-1 slope by other means than elimination
    (`newton_direction`); then `hessian` may return what `solve` takes for H.

    Yields: the start, then a `NewtonState` per step. It ends where the gradient is 0 or where
    rounding hides whether a step lowers f.

    >>> states = newton(lambda x: x @ x, lambda x: 2 * x, lambda x: 2 * np.eye(1), np.array([8.0]))
    >>> [state.x.tolist() for state in states]
    [[8.0], [0.0]]
    """
    x, eta, before = np.array(x0, dtype=np.float64), np.nan, np.inf
    value = f(x)
    while True:
        slope = gradient(x)
        H = hessian(x)
        p = newton_direction(H, slope) if solve is None else -solve(H, slope)
        decrement = float(np.sqrt(max(-slope @ p, 0.0)))
        if decrement >= before and decrement**2 <= ROUNDING * abs(value):
            return
        yield NewtonState(x, float(value), decrement, eta)
        eta, x, value = backtrack(f, x, value, p, slope)
        if eta == 0:
            return
        before = decrement


def newton_direction(H, gradient):
    """p = -(H + shift I)^-1 gradient, with shift = 0 if H is positive definite.

    Otherwise -H^-1 gradient may point uphill. Then shift is the first of 1e-8, 1e-7, ... times H's
    largest entry that makes H + shift/2 I positive definite, so that gradient^T p < 0.

    Raises: ValueError if H is not finite.

    >>> newton_direction(np.array([[2.0]]), np.array([8.0]))
    array([-4.])
    """
    if not np.isfinite(H).all():
        raise ValueError("H must be finite; it contains NaN or infinity")
    shift, identity = 0.0, np.eye(len(H))
    while True:
        try:
            np.linalg.cholesky(H + shift / 2 * identity)  # which only a positive definite H has
            return -np.linalg.solve(H + shift * identity, gradient)
        except np.linalg.LinAlgError:
            shift = 10 * shift or SHIFT * _size(H) or SHIFT


# ---------------------------------------------------------------------------------------
# Projected gradient
# ---------------------------------------------------------------------------------------


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
        yield ProjectedState(x, float(f(x)), float(np.linalg.norm(x - ahead) / eta))
        x = ahead


def project_ball(x, radius=1.0):
    """The point of the ball ||x|| <= `radius` nearest to x.

    >>> project_ball(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    return np.array(x) if np.linalg.norm(x) <= radius else project_sphere(x, radius)


def project_sphere(x, radius=1.0):
    """The point of the sphere ||x|| = `radius` nearest to x.

    Raises: ValueError for x = 0, which has the same distance to all points of the sphere.

    >>> project_sphere(np.array([0.3, 0.4]))
    array([0.6, 0.8])
    """
    norm = np.linalg.norm(x)
    if norm == 0:
        raise ValueError("x must not be 0: all points of the sphere are equally near")
    return x * (radius / norm)


# ---------------------------------------------------------------------------------------
# Constraints
# ---------------------------------------------------------------------------------------


def _no_constraint(x):
    return np.zeros(0)


def _no_jacobian(x):
    return np.zeros((0, len(x)))


class Problem(NamedTuple):
    """min f(x) subject to c_i(x) = 0 for i in E and c_j(x) >= 0 for j in I.

    >>> half_line = Problem(f=np.sum, gradient=np.ones_like,
    ...                     inequalities=lambda x: x - 1, inequality_jacobian=lambda x: np.eye(1))
    >>> half_line.inequalities(np.array([3.0]))
    array([2.])
    """

    f: Callable  # of x, as all fields; -> float
    gradient: Callable  # -> (d,)
    equalities: Callable = _no_constraint  # -> (p,)
    equality_jacobian: Callable = _no_jacobian  # -> (p, d)
    inequalities: Callable = _no_constraint  # -> (m,)
    inequality_jacobian: Callable = _no_jacobian  # -> (m, d)


class QuadraticProgram(NamedTuple):
    """The `Problem` with f(x) = 1/2 x^T P x + q^T x and c(x) = C x - c."""

    P: np.ndarray  # (d, d)
    q: np.ndarray  # (d,)
    C: np.ndarray  # (p + m, d), A above G
    c: np.ndarray  # (p + m,), b before h
    p: int  # the first p rows are equalities

    def f(self, x):
        """1/2 x^T P x + q^T x."""
        return float(x @ (self.P @ x) / 2 + self.q @ x)

    def gradient(self, x):
        """P x + q."""
        return self.P @ x + self.q

    def equalities(self, x):
        """A x - b."""
        return self.C[: self.p] @ x - self.c[: self.p]

    def equality_jacobian(self, x):
        """A."""
        return self.C[: self.p]

    def inequalities(self, x):
        """G x - h."""
        return self.C[self.p :] @ x - self.c[self.p :]

    def inequality_jacobian(self, x):
        """G."""
        return self.C[self.p :]


def quadratic_program(P, q, A=None, b=None, G=None, h=None):
    """The problem min 1/2 x^T P x + q^T x subject to A x = b and G x >= h.

    Returns: a `QuadraticProgram`. Raises: ValueError if the parts do not fit together or are not
    finite, there is no variable, or P is not symmetric.

    >>> quadratic_program(np.eye(2), np.zeros(2), A=[[1.0, 1.0]], b=[1.0]).f(np.array([3.0, 4.0]))
    12.5
    """
    P, q = _finite("P", P, 2), _finite("q", q, 1)
    d = len(q)
    if d == 0:
        raise ValueError("q must have an entry for each variable; got none")
    if P.shape != (d, d):
        raise ValueError(f"P must have shape ({d}, {d}), as q has length {d}; got {P.shape}")
    P = symmetric(P, "P")
    A, b = _check_rows("A", A, "b", b, d)
    G, h = _check_rows("G", G, "h", h, d)
    C, c = np.vstack([A, G]), np.concatenate([b, h])
    return QuadraticProgram((P + P.T) / 2, q, C, c, len(b))


def _check_rows(left, C, right, c, d):
    if C is None and c is None:
        return np.zeros((0, d)), np.zeros(0)
    if C is None or c is None:
        raise ValueError(f"{left} and {right} must be given together; got only one of them")
    C, c = _finite(left, C, 2), _finite(right, c, 1)
    if C.shape != (len(c), d):
        raise ValueError(
            f"{left} must have shape ({len(c)}, {d}), as {right} has length {len(c)} and q {d}; "
            f"got {C.shape}"
        )
    return C, c


def _finite(name, values, ndim):
    if np.iscomplexobj(values):
        raise ValueError(f"{name} must be real; got complex numbers")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != ndim:
        raise ValueError(f"{name} must be {ndim}-D; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite; it contains NaN or infinity")
    return values


def constraints(problem, x):
    """c(x) = (c_E(x), c_I(x)), of shape (p + m,).

    Raises: ValueError unless c_E(x) and c_I(x) are vectors; x must be one.

    >>> constraints(quadratic_program([[1.0]], [0.0], A=[[2.0]], b=[1.0]), x=np.array([3.0]))
    array([5.])
    """
    return np.concatenate(_equalities_and_inequalities(problem, x))


def _equalities_and_inequalities(problem, x):
    parts = problem.equalities(x), problem.inequalities(x)
    for name, part in zip(("equalities", "inequalities"), parts, strict=True):
        if np.ndim(part) != 1:  # for a column x, C x - c would be a matrix
            raise ValueError(f"{name}(x) must be a vector, as x; got shape {np.shape(part)}")
    return parts


def violation(problem, x):
    """max(|c_i(x)| on E, -c_j(x) on I, 0): x is feasible iff it is 0.

    >>> violation(quadratic_program(np.eye(1), [0.0], G=[[1.0]], h=[1.0]), np.array([-2.0]))
    3.0
    """
    equalities, inequalities = _equalities_and_inequalities(problem, x)
    return _size(np.append(equalities, np.minimum(inequalities, 0.0)))


def active_set(problem, x, *, tol=1e-8):
    """A(x) = E and {j in I: c_j(x) = 0}: the constraints that hold with equality at x.

    Returns: their positions in c, ascending. A c_j(x) within `tol` of 0 counts as 0.

    >>> active_set(quadratic_program([[1.0]], [0.0], G=[[1.0]], h=[1.0]), x=np.array([1.0]))
    array([0])
    """
    equalities, inequalities = _equalities_and_inequalities(problem, x)
    binding = np.abs(inequalities) <= check_number("tol", tol, at_least=0, below=np.inf)
    return np.flatnonzero(np.append(np.ones(len(equalities), dtype=bool), binding))


def lagrangian(problem, x, lam):
    """L(x, lam) = f(x) - sum_i lam_i c_i(x), over E and I.

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])  # x^2 on x >= 1
    >>> lagrangian(problem, np.array([3.0]), lam=np.array([2.0]))
    5.0
    """
    return float(problem.f(x) - lam @ constraints(problem, x))


def lagrangian_gradient(problem, x, lam):
    """The gradient of L in x: gradient f(x) - J(x)^T lam. (The gradient in lam is -c(x).)

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> lagrangian_gradient(problem, np.array([1.0]), lam=np.array([2.0]))
    array([0.])
    """
    J = np.vstack([problem.equality_jacobian(x), problem.inequality_jacobian(x)])
    return problem.gradient(x) - J.T @ lam


class KKTResiduals(NamedTuple):
    """By how much (x, lam) violates each of the KKT conditions; all 0 if it satisfies them."""

    stationarity: float  # max |gradient_x L|
    equality: float  # max |c_i|, i in E
    inequality: float  # max(-c_j, 0), j in I
    sign: float  # max(-lam_j, 0), j in I
    complementarity: float  # max |lam_i c_i|


def kkt_residuals(problem, x, lam):
    """The Karush-Kuhn-Tucker conditions (8.17)-(8.21) of IRHD, as numbers that should be 0:

        gradient_x L = 0,  c_i = 0 on E,  c_j >= 0 on I,  lam_j >= 0 on I,  lam_i c_i = 0 .

    If the constraints are linear, every minimiser has multipliers that satisfy them. If f is
    convex, too, every point that satisfies them is a minimiser.

    Returns: `KKTResiduals`.

    >>> problem = quadratic_program([[2.0]], [0.0], A=[[1.0]], b=[-1.0])
    >>> max(kkt_residuals(problem, np.array([-1.0]), lam=np.array([-2.0])))
    0.0

    Errata: optimization-23 (IRHD 8.2.2 has lam >= 0 on E, too).
    """
    equalities, inequalities = _equalities_and_inequalities(problem, x)
    return KKTResiduals(
        stationarity=_size(lagrangian_gradient(problem, x, lam)),
        equality=_size(equalities),
        inequality=_size(np.minimum(inequalities, 0.0)),
        sign=_size(np.minimum(lam[len(equalities) :], 0.0)),
        complementarity=_size(lam * np.concatenate([equalities, inequalities])),
    )


def _size(v):
    """The largest absolute entry; 0 if there is none."""
    return float(np.abs(v).max(initial=0.0))


# ---------------------------------------------------------------------------------------
# Duality
# ---------------------------------------------------------------------------------------


def dual_function(problem, lam, points):
    """g(lam) = inf_x L(x, lam), with the infimum over the rows of `points` (k, d).

    If a minimiser of L is among the points, this is g itself; otherwise it is at least g. If
    lam_j >= 0 on I, then g(lam) <= p_star, the infimum of f over the feasible x. For convex f and
    linear constraints the largest g is p_star (strong duality).

    Returns: a number; (l,) for lam (l, p + m). Raises: ValueError if there is no point.

    Errata: optimization-22 (PRNN claims strong duality of every problem), optimization-23 (IRHD
    has lam >= 0 on E, too), optimization-24 (IRHD takes the infimum over all x for p_star).

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])  # x^2 on x >= 1
    >>> dual_function(problem, np.array([[0.0], [2.0], [4.0]]), np.linspace(-5, 5, 101)[:, None])
    array([0., 1., 0.])
    """
    if len(points) == 0:
        raise ValueError("points must have a row or more; got none")
    values = np.array([problem.f(x) for x in points])
    c = np.array([constraints(problem, x) for x in points])
    return (values - np.asarray(lam) @ c.T).min(axis=-1)


def quadratic_dual(lam, P, q, A=None, b=None, G=None, h=None):
    """g(lam) of a quadratic program; C holds the rows of A and G, c the entries of b and h:

        g(lam) = c^T lam - 1/2 r^T P^-1 r,   r = q - C^T lam .

    P^-1 r is any x with P x = r. Without one, or if P has a negative eigenvalue, g(lam) = -inf.

    Raises: ValueError as `quadratic_program`, or if lam does not fit.

    >>> quadratic_dual(np.array([2.0]), [[2.0]], [0.0], G=[[1.0]], h=[1.0])
    1.0
    """
    P, q, C, c, _ = quadratic_program(P, q, A, b, G, h)
    lam = _finite("lam", lam, 1)
    if lam.shape != c.shape:
        raise ValueError(f"lam must have shape {c.shape}, a constraint each; got {lam.shape}")
    diagonal = np.diag(P)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))  # P has the diagonal 1 in x / unit
    P, q, pull = unit[:, None] * P * unit, unit * q, unit * (C.T @ lam)
    r = q - pull
    x = np.linalg.lstsq(P, -r, rcond=None)[0]
    if not is_psd(P, UNSOLVED) or _size(P @ x + r) > UNSOLVED * (_size(q) + _size(pull)):
        return -np.inf
    return float(c @ lam + r @ x / 2)


# ---------------------------------------------------------------------------------------
# Interior point method
# ---------------------------------------------------------------------------------------

STEP = 0.99  # a step goes this share of the way to the boundary lam_j = 0 or s_j = 0
HOLD = 1e-15  # of 1 + its largest entry, added to M's diagonal: M is singular if P and G are
NEAR = 1e-6  # if the residual rises from below this, rounding has taken over
DIVERGED = 1e50  # x or lam grow beyond all bounds if the program has no solution


class InteriorState(NamedTuple):
    """The interior point method after a step."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (m,), positive
    slack: np.ndarray  # (m,), s: positive, tending to G x - h
    objective: float  # 1/2 x^T P x + q^T x
    gap: float  # lam^T s: for feasible x and lam the objective minus the dual objective
    residual: float  # the largest violation of a KKT condition or gap, relative to its terms


def interior_point(P, q, G, h):
    """Mehrotra's predictor-corrector method for min 1/2 x^T P x + q^T x subject to G x >= h.

    With slacks s the KKT conditions are

        P x + q - G^T lam = 0,   G x - s = h,   lam_j s_j = 0,   lam >= 0,   s >= 0 .

    A step aims at lam_j s_j = sigma mu, where mu is the mean of the lam_j s_j, and stops short of
    the boundary. The predictor has sigma = 0. If it lowers mu much, sigma is small. The corrector
    uses this sigma, and the products dlam_j ds_j that the predictor left out.

    Yields: the start, then an `InteriorState` per step. It ends where rounding stops it, or where
    x or lam diverge because the program has no solution.

    >>> *_, last = interior_point(np.array([[2.0]]), np.zeros(1), np.eye(1), np.array([3.0]))
    >>> last.x.round(6), last.lam.round(6)  # x^2 on x >= 3
    (array([3.]), array([6.]))
    """
    P, q, G, h = (np.asarray(part, dtype=np.float64) for part in (P, q, G, h))
    program = QuadraticProgram(P, q, G, h, 0)
    x, lam, s = _interior_start(P, q, G, h)
    before = np.inf
    while True:
        residual = _residual(program, x, lam)
        if _stopped(before, residual, x, lam):
            return
        yield InteriorState(x, lam, s, program.f(x), float(lam @ s), residual)
        before, mu = residual, lam @ s / len(h)
        dual = P @ x + q - G.T @ lam  # these two would be 0 at the solution
        primal = G @ x - s - h
        M = P + (lam / s * G.T) @ G
        M = M + HOLD * (1 + M.diagonal().max()) * np.eye(len(q))
        # predictor: aim at lam_j s_j = 0
        _, dlam, ds = interior_step(P, G, M, dual, primal, lam, s, 0.0)
        eta = longest_step(lam, dlam, s, ds)
        sigma = ((lam + eta * dlam) @ (s + eta * ds) / len(h) / mu) ** 3
        # corrector: aim at lam_j s_j = sigma mu
        dx, dlam, ds = interior_step(P, G, M, dual, primal, lam, s, sigma * mu - dlam * ds)
        eta = STEP * longest_step(lam, dlam, s, ds)
        x, lam, s = x + eta * dx, lam + eta * dlam, s + eta * ds


def interior_step(P, G, M, dual, primal, lam, s, aim):
    """Newton's step (dx, dlam, ds) towards lam_j s_j = `aim`, from the three equations

        P dx - G^T dlam         = -dual ,           dual   = P x + q - G^T lam
        G dx             -  ds  = -primal ,         primal = G x - s - h
             s_j dlam_j + lam_j ds_j = aim_j - lam_j s_j .

    M = P + G^T diag(lam / s) G is the matrix of dx once ds and dlam are eliminated. Two more rounds
    solve for what rounding has left: near the boundary lam / s has very large and small entries.

    >>> P, G, M = np.array([[2.0]]), np.array([[1.0]]), np.array([[3.0]])  # x^2 on x >= 3, x = 4
    >>> interior_step(P, G, M, np.array([7.0]), np.zeros(1), np.ones(1), np.ones(1), aim=0.0)
    (array([-2.66666667]), array([1.66666667]), array([-2.66666667]))
    """
    w = lam / s
    dx, dlam = np.zeros(len(dual)), np.zeros(len(lam))
    for _ in range(3):
        first = -dual - P @ dx + G.T @ dlam  # what is left of the first equation
        second = aim / lam - s - primal - G @ dx - dlam / w  # and of the second
        more = np.linalg.solve(M, G.T @ (w * second) + first)
        dx, dlam = dx + more, dlam + w * (second - G @ more)
    return dx, dlam, (aim - s * dlam) / lam - s


def longest_step(lam, dlam, s, ds):
    """The largest eta <= 1 with lam + eta dlam >= 0 and s + eta ds >= 0.

    >>> longest_step(np.array([1.0]), np.array([-4.0]), np.array([1.0]), np.array([5.0]))
    0.25
    """
    v, dv = np.concatenate([lam, s]), np.concatenate([dlam, ds])
    return float((-v[dv < 0] / dv[dv < 0]).min(initial=1.0))


def _stopped(before, residual, x, lam):
    """Whether rounding lets the residual rise again, or x or lam diverge."""
    return before <= min(residual, NEAR) or not _size(np.append(x, lam)) <= DIVERGED


def _interior_start(P, q, G, h):
    """The x that minimises f(x) + 1/2 ||G x - h||^2, and lam and s pushed above 0."""
    x = np.linalg.lstsq(P + G.T @ G, G.T @ h - q, rcond=None)[0]
    s = G @ x - h
    return x, _push(-s), _push(s)


def _push(v):
    """v if all of it is positive; otherwise v shifted so that its smallest entry is 1."""
    return v if v.min() > 0 else v + (1 - v.min())


# ---------------------------------------------------------------------------------------
# Quadratic programs
# ---------------------------------------------------------------------------------------

UNSOLVED = 1e-9  # relative to its terms, a residual that rounding does not explain
SLIGHT = 1e-10  # relative to its terms, a violation that rounding explains
CANCELLED = 1e-6  # terms that cancel to less than this share of their size count as this share
TINY = 1e-20  # in a scaled program, a number below this may be 0
LARGE = 1e6  # a scaled solution larger than this may be on its way to infinity
SWEEPS = 10  # of scaling: each brings the largest entries of rows and columns nearer to 1
ROUNDS = 6  # guesses of the active constraints


class QPSolution(NamedTuple):
    """The minimiser of a quadratic program, with the multipliers that prove it."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (p + m,), those of A x = b first
    objective: float  # 1/2 x^T P x + q^T x
    gap: float  # the objective minus the dual objective
    residual: float  # the largest violation of a KKT condition or gap, relative to its terms
    n_iter: int  # steps of the interior point method


def solve_qp(P, q, A=None, b=None, G=None, h=None, *, tol=1e-9, max_iter=100):
    """min 1/2 x^T P x + q^T x subject to A x = b and G x >= h, P positive semi-definite.

    After scaling, `interior_point` solves for what the equalities leave free. Then the linear KKT
    equations of the active inequalities give the last digits, and lam_j = 0 exactly for the others.
    The rows of A and G may repeat each other. P may be singular, or 0 (a linear program).

    Returns: a `QPSolution`. A ConvergenceWarning says if its residual is > `tol` after `max_iter`.

    Raises: InfeasibleError or UnboundedError if there is no solution, with the proof; ValueError
    if the parts do not fit together, if P is not positive semi-definite, or if the numbers of the
    program differ so much in size that rounding keeps the residual above `tol`.

    >>> solution = solve_qp(2 * np.eye(2), [0.0, 0.0], A=[[1.0, 1.0]], b=[1.0])
    >>> solution.x.round(9), solution.lam.round(9), round(solution.objective, 9)
    (array([0.5, 0.5]), array([1.]), 0.5)
    """
    check_number("tol", tol, at_least=0, below=np.inf)
    check_number("max_iter", max_iter, at_least=0, integer=True)
    program = quadratic_program(P, q, A, b, G, h)
    scaled, columns, rows = _scale(program)
    if not is_psd(scaled.P, UNSOLVED):
        lowest = np.linalg.eigvalsh(program.P)[0]
        raise ValueError(f"P must be positive semi-definite; got an eigenvalue {lowest:.3g}")
    x, lam, n_iter = _minimise(scaled, tol, max_iter)
    residual = _residual(scaled, x, lam)
    if residual > tol or max(_size(x), _size(lam)) > LARGE:
        _refuse(scaled, columns, rows)
    _check_solved(residual, tol, n_iter, max_iter)
    x, lam = columns * x, rows * lam
    gap = x @ program.gradient(x) - program.c @ lam
    return QPSolution(x, lam, program.f(x), float(gap), residual, n_iter)


def _check_solved(residual, tol, n_iter, max_iter):
    if residual > tol and n_iter < max_iter:
        raise ValueError(
            "the numbers of the program must be of similar size; rounding stopped solve_qp at "
            f"residual = {residual:.3g} > {tol:g}: measure variables and constraints in other units"
        )
    if residual > tol:
        warnings.warn(
            f"solve_qp stopped after {n_iter} iterations with residual = {residual:.3g} > {tol:g}",
            ConvergenceWarning,
            stacklevel=3,
        )


def box(lower, upper):
    """G and h of lower <= x <= upper. A bound of -inf or inf gives no row.

    Raises: ValueError if the bounds are not vectors of one length.

    >>> box(np.array([0.0, -np.inf]), np.array([np.inf, 5.0]))
    (array([[ 1.,  0.],
           [-0., -1.]]), array([ 0., -5.]))
    """
    lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if lower.ndim != 1 or lower.shape != upper.shape:
        raise ValueError(f"bounds must be (d,) and (d,); got {lower.shape} and {upper.shape}")
    identity = np.eye(len(lower))
    G, h = np.vstack([identity, -identity]), np.concatenate([lower, -upper])
    bound = h != -np.inf
    return G[bound], h[bound]


def _minimise(program, tol, max_iter):
    """x, lam and the number of steps, for a scaled program."""
    P, q, C, c, p = program
    A, b, G, h = C[:p], c[:p], C[p:], c[p:]
    x, N, inverse = _eliminate(A, b)
    lam, n_iter = np.zeros(len(h)), 0
    if len(h) and N.shape[1]:
        states = interior_point(N.T @ P @ N, N.T @ (q + P @ x), G @ N, h - G @ x)
        run = iterate(states, "residual", tol / 100, max_iter)
        x, lam, n_iter = x + N @ run.state.x, run.state.lam, run.n_iter
    lam = np.concatenate([inverse.T @ (P @ x + q - G.T @ lam), lam])
    return *_last_digits(program, x, lam), n_iter


def _eliminate(A, b):
    """x_0 and N (d, d - rank): the solutions of A x = b are x_0 + N u. And A's pseudo-inverse."""
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = np.count_nonzero(s > max(A.shape) * EPS * s.max(initial=0.0))
    inverse = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T
    return inverse @ b, Vt[rank:].T, inverse


def _last_digits(program, x, lam):
    """The best of x, lam and the solutions for a few guesses of the active constraints."""
    P, q, C, c, p = program
    equality = np.arange(len(c)) < p
    best, smallest = (x, lam), _residual(program, x, lam)
    active = equality | (lam > C @ x - c)
    for _ in range(ROUNDS):
        x, lam = _solve_active(program, x, lam, active)
        wrong = ~equality & (lam < 0)
        lam = np.where(wrong, 0.0, lam)
        residual = _residual(program, x, lam)
        if residual < smallest:
            best, smallest = (x, lam), residual
        violated = C @ x - c < -SLIGHT * (_size(x) + np.abs(c))
        guess = active & ~wrong | violated
        if np.array_equal(guess, active):
            break
        active = guess
    return best


def _solve_active(program, x, lam, active):
    """The solution of P x + q = C^T lam, C x = c on the active rows that is nearest to x, lam."""
    P, q, C, c, _ = program
    C, c, multipliers = C[active], c[active], lam[active]
    K = np.block([[P, -C.T], [C, np.zeros((len(c), len(c)))]])
    error = np.concatenate([P @ x + q - C.T @ multipliers, C @ x - c])
    step = np.linalg.lstsq(K, -error, rcond=None)[0]
    lam = np.zeros(len(lam))
    lam[active] = multipliers + step[len(q) :]
    return x + step[: len(q)], lam


def _residual(program, x, lam):
    """The largest violation of a KKT condition, or the gap, relative to the terms it sums."""
    P, q, C, c, p = program
    stationarity, short = P @ x + q - C.T @ lam, C @ x - c
    short[p:] = np.minimum(short[p:], 0.0)
    xPx, qx, cl = x @ P @ x, q @ x, c @ lam
    X, Y = np.abs(x), np.abs(lam)
    pull = np.abs(P) @ X + np.abs(q) + np.abs(C).T @ Y
    terms = abs(xPx) + abs(qx) + abs(cl) + CANCELLED * (X @ pull + Y @ np.abs(c))
    parts = (
        _size(stationarity) / (TINY + _size(pull)),
        _size(short) / (TINY + _size(np.abs(C) @ X + np.abs(c))),
        abs(xPx + qx - cl) / (TINY + terms),
    )
    return float(max(parts))


def _scale(program):
    """The same program with numbers of size 1, for x' and lam': x = columns x', lam = rows lam'.

    The rows and columns of the KKT matrix K are divided by the roots of their largest entries. Then
    x' is divided by the size of c (without c, of the free minimum), and the objective by its own.
    """
    P, q, C, c, p = program
    d, m = len(q), len(c)
    K, unit = np.abs(np.block([[P, C.T], [C, np.zeros((m, m))]])), np.ones(d + m)
    for _ in range(SWEEPS):
        largest = (unit[:, None] * K * unit).max(axis=0)
        unit = unit / np.sqrt(np.where(largest > 0, largest, 1.0))
    columns, rows = unit[:d], unit[d:]
    P, q = columns[:, None] * P * columns, columns * q
    C, c = rows[:, None] * C * columns, rows * c
    length = _size(c) or _size(q) / (_size(P) or np.inf) or 1.0
    cost = max(length * _size(P), _size(q)) or 1.0
    scaled = QuadraticProgram(length * P / cost, q / cost, C, c / length, p)
    return scaled, length * columns, cost * rows


# ---------------------------------------------------------------------------------------
# Without a solution
# ---------------------------------------------------------------------------------------

CERTAIN = 1e-10  # relative to its terms, a certificate is wrong by less and proves more


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


def _certificate(v, M, N, unit):
    """unit y of length 1, for the y nearest to v in the cone M y = 0, N y >= 0; None if y = 0.

    The nearest point of a cone has v^T y = ||y||^2. If it is not 0, then v^T y > 0.
    """
    if not len(v):
        return None
    C = np.vstack([M, N])
    nearest = QuadraticProgram(np.eye(len(v)), -v, C, np.zeros(len(C)), len(M))
    scaled, columns, _ = _scale(nearest)
    y = columns * _minimise(scaled, UNSOLVED, max_iter=100)[0]
    y = np.where(np.abs(y) > EPS * _size(y), y, 0.0)  # rounding
    error = max(_size(M @ y), _size(np.minimum(N @ y, 0.0)))
    if error > CERTAIN * _size(y) or v @ y <= CERTAIN * (np.abs(v) @ np.abs(y)):
        return None
    return unit * y / np.linalg.norm(unit * y)


def _refuse(scaled, columns, rows):
    """Raise the error that says why there is no solution, if there is a proof."""
    P, q, C, c, p = scaled
    certificate = _certificate(c, C.T, np.eye(len(c))[p:], rows)
    if certificate is not None:
        raise InfeasibleError(
            "the constraints must have a common point; A x = b and G x >= h contradict each "
            "other, as the certificate of this error proves",
            certificate,
        )
    P = P / (_size(P) or 1.0)  # P v = 0 in any unit of the objective
    direction = _certificate(-q, np.vstack([P, C[:p]]), C[p:], columns)
    if direction is not None:
        raise UnboundedError(
            "the objective must be bounded below on the constraints; it falls without end along "
            "the direction of this error",
            direction,
        )


# ---------------------------------------------------------------------------------------
# Separation
# ---------------------------------------------------------------------------------------

TOUCHING = 1e-9  # hulls nearer than this share of the points' extent count as touching


class ClosestPoints(NamedTuple):
    """The closest points of two polytopes."""

    u: np.ndarray  # (d,), in the convex hull of X
    v: np.ndarray  # (d,), in the convex hull of Y
    distance: float  # ||u - v||, 0 if the hulls meet


def closest_points(X, Y):
    """The closest points of the convex hulls of the rows of X (n, d) and of Y (k, d):

        min 1/2 ||X^T alpha - Y^T beta||^2  subject to
        sum_i alpha_i = sum_j beta_j = 1,  alpha, beta >= 0 .

    Returns: `ClosestPoints`. Raises: ValueError unless both hold finite points of one dimension.

    >>> u, v, distance = closest_points(np.array([[1.0, 0.0], [1.0, 4.0]]), np.array([[3.0, 2.0]]))
    >>> u.round(9), v.round(9), round(distance, 9)
    (array([1., 2.]), array([3., 2.]), 2.0)
    """
    X, Y = _finite("X", X, 2), _finite("Y", Y, 2)
    if 0 in X.shape or 0 in Y.shape or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must be points (n, d) and (k, d); got {X.shape} and {Y.shape}")
    center, n, k = (X.mean(axis=0) + Y.mean(axis=0)) / 2, len(X), len(Y)
    X, Y = X - center, Y - center
    Z = np.vstack([X, -Y])
    A = np.array([[1.0] * n + [0.0] * k, [0.0] * n + [1.0] * k])
    nonnegative = box(np.zeros(n + k), np.full(n + k, np.inf))
    weights = solve_qp(Z @ Z.T, np.zeros(n + k), A, np.ones(2), *nonnegative).x
    u, v = X.T @ weights[:n], Y.T @ weights[n:]
    distance = float(np.linalg.norm(u - v))
    if distance <= TOUCHING * _size(Z):
        u, v, distance = (u + v) / 2, (u + v) / 2, 0.0
    return ClosestPoints(center + u, center + v, distance)


def separating_hyperplane(X, Y):
    """The hyperplane w^T x + b = 0 midway between the closest points u, v of two polytopes:

        w = u - v,   b = -w^T (u + v) / 2 .

    w^T x + b >= ||w||^2 / 2 on the hull of X, and <= -||w||^2 / 2 on the hull of Y. No other
    hyperplane has a larger distance from both hulls: it has the largest margin.

    Returns: w (d,) and b. Raises: ValueError if the hulls of X (n, d) and Y (k, d) meet.

    >>> w, b = separating_hyperplane(np.array([[4.0, 3.0]]), np.array([[3.0, 0.0], [1.0, 2.0]]))
    >>> w.round(9), round(b, 9)
    (array([2., 2.]), -10.0)
    """
    u, v, distance = closest_points(X, Y)
    if distance == 0:
        raise ValueError("X and Y must have convex hulls without a common point; theirs meet")
    w = u - v
    return w, float(-w @ (u + v) / 2)
