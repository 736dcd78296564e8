"""Optimization: going downhill, and knowing when one has arrived.

Learning ends in a minimisation. Of a convex function every descent finds the minimum, and there
the gradient vanishes; under constraints it need not, and multipliers say what holds instead
(Lagrange; Karush, Kuhn and Tucker). The multipliers are the variables of a second problem, the
dual, whose value bounds the first from below: where the two values meet, each proves the other
right. The quadratic programs of the later chapters are solved here to that proof, or refused
with a proof that they have no solution.

Contents
    Convexity              segment, convexity_gap, indicator, smallest_gap, Witness
    Subgradients           subdifferential
    Gradient descent       gradient_descent, DescentState, backtrack, descent_bound,
                           stochastic_gradient_descent, StochasticState
    Newton's method        newton, NewtonState, newton_direction
    Projected gradient     projected_gradient, ProjectedState, project_ball, project_sphere
    Constraints            Problem, QuadraticProgram, quadratic_program, constraints, violation,
                           active_set, lagrangian, lagrangian_gradient, kkt_residuals,
                           KKTResiduals
    Duality                dual_function, quadratic_dual
    Quadratic programs     solve_qp, QPSolution, box, interior_point, InteriorState
    Without a solution     infeasibility_certificate, InfeasibleError, unbounded_direction,
                           UnboundedError
    Separation             closest_points, ClosestPoints, separating_hyperplane

Symbols
    x       (d,)         a point (IRHD 8.2 writes z, PRNN w); x0 a start, x_star a minimiser
    f       x -> float   the objective; gradient x -> (d,), hessian x -> (d, d) its derivatives
    t       float        place on the segment from x1 to x2, in [0, 1]
    eta     float        step length
    M       float        Lipschitz constant of the gradient: the largest curvature of f (often
                         called L, which is the Lagrangian here)
    E, I    sets         p equalities c_i(x) = 0 for i in E, m inequalities c_j(x) >= 0 for j in I
    c       (p + m,)     the values of all, E first; J (p + m, d) is its Jacobian
    lam     (p + m,)     their multipliers lambda; >= 0 on I, of either sign on E
    L       float        the Lagrangian L(x, lam) = f(x) - lam^T c(x)
    g       float        the dual function g(lam) = inf_x L(x, lam)
    P, q    (d, d) (d,)  of the quadratic 1/2 x^T P x + q^T x; P positive semi-definite
    A, b    (p, d) (p,)  of equalities A x = b
    G, h    (m, d) (m,)  of inequalities G x >= h, whose slacks are s = G x - h

Notes: IRHD 3 "Interlude: Convexity", 8.2.1, 8.2.2; PRNN 3, 7.1, 7.2.1. PRNN writes its
inequalities a_j^T w + b_j <= 0 and its Lagrangian f + sum_j mu_j (a_j^T w + b_j): with
c_j = -(a_j^T w + b_j) its mu_j are our lam_j. The dual function is its q.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mlnotes.base import ConvergenceWarning, check_number, iterate
from mlnotes.probability import is_psd

__all__ = [
    "segment", "convexity_gap", "indicator", "smallest_gap", "Witness", "subdifferential",
    "gradient_descent", "DescentState", "backtrack",
    "descent_bound", "stochastic_gradient_descent", "StochasticState", "newton", "NewtonState",
    "newton_direction", "projected_gradient", "ProjectedState", "project_ball",
    "project_sphere", "Problem", "QuadraticProgram", "quadratic_program", "constraints",
    "violation", "active_set", "lagrangian", "lagrangian_gradient", "kkt_residuals",
    "KKTResiduals", "dual_function", "quadratic_dual", "solve_qp", "QPSolution", "box",
    "interior_point", "InteriorState", "infeasibility_certificate", "InfeasibleError",
    "unbounded_direction", "UnboundedError", "closest_points", "ClosestPoints",
    "separating_hyperplane",
]  # fmt: skip

EPS = np.finfo(np.float64).eps


# ---------------------------------------------------------------------------------------
# Convexity
# ---------------------------------------------------------------------------------------


def segment(x1, x2, t):
    """t x_2 + (1 - t) x_1: the point between x_1 (t = 0) and x_2 (t = 1).

    A set is convex if with any two points it contains their segment.

    >>> segment(np.array([0.0, 0.0]), np.array([4.0, 8.0]), t=0.25)
    array([1., 2.])
    """
    t = np.asarray(t)
    t = t.reshape(t.shape + (1,) * (np.ndim(x1) - t.ndim))
    return t * x2 + (1 - t) * x1


def convexity_gap(f, x1, x2, t):
    """t f(x_2) + (1 - t) f(x_1) - f(t x_2 + (1 - t) x_1): how far the chord lies above f.

    f is convex if no gap is negative, for all x_1, x_2 and all t in [0, 1]; strictly convex if
    the gap is positive for x_1 != x_2 and 0 < t < 1. IRHD leaves out these two conditions, and
    then no function would be strictly convex: at the ends of a chord the gap is 0
    (optimization-02). Sums and maxima of convex functions are convex, and so is phi(f(x)) for
    convex phi, if f is affine, or f convex and phi non-decreasing; minima and differences need
    not be.

    Many pairs at once are rows of x1 and x2 and entries of t; f maps many points to their values.

    >>> convexity_gap(np.square, -1.0, 3.0, t=np.array([0.0, 0.25]))  # t (1 - t) (x_1 - x_2)^2
    array([0., 3.])

    Claims: optimization-01
    """
    return t * f(x2) + (1 - t) * f(x1) - f(segment(x1, x2, t))


def indicator(inside):
    """0 inside a set and infinity outside: a convex function iff the set is convex.

    Then a pair of its points has gap -inf where the segment between them leaves the set.

    >>> indicator(np.array([True, False]))
    array([ 0., inf])
    """
    return np.where(inside, 0.0, np.inf)


class Witness(NamedTuple):
    """The chord of smallest gap of those tried, from x1 to x2 and at t."""

    gap: float
    x1: np.ndarray  # (d,)
    x2: np.ndarray  # (d,)
    t: float


def smallest_gap(f, X, *, pairs=1000, rng):
    """The smallest convexity gap of f on random `pairs` of the points X (n, d), or X (n,).

    A gap that is negative beyond rounding refutes convexity, and the `Witness` is the proof;
    that none was found proves nothing. `rng` draws the pairs and the t.

    Returns: a `Witness`.

    >>> rng = np.random.default_rng(0)
    >>> smallest_gap(np.sin, np.linspace(0, 3, 50), rng=rng).gap < -0.5
    True
    >>> smallest_gap(np.abs, np.linspace(-3, 3, 50), rng=rng).gap >= -1e-15
    True
    """
    i, j = rng.integers(len(X), size=(2, pairs))
    t = rng.uniform(size=pairs)
    gaps = convexity_gap(f, X[i], X[j], t)
    k = int(np.argmin(gaps))
    return Witness(float(gaps[k]), X[i[k]], X[j[k]], float(t[k]))


# ---------------------------------------------------------------------------------------
# Subgradients
# ---------------------------------------------------------------------------------------


def subdifferential(f, c, *, h=1e-6):
    """An interval around [f'_-(c), f'_+(c)], the slopes of a convex f of one number at c:

        (f(c) - f(c - h)) / h <= f'_-(c) <= f'_+(c) <= (f(c + h) - f(c)) / h ,

    as chords of a convex function grow steeper to the right; beyond |c| = 1, h is a share of |c|.
    Each slope s in between is a subgradient, f(x) >= f(c) + s (x - c) for all x, so that c is a
    minimiser iff s = 0 is one. Of the mean of |y_i - c| the exact one is
    `decision_theory.absolute_subdifferential`: 0 lies in it iff c is a median.

    >>> subdifferential(abs, 0.0)
    (-1.0, 1.0)

    Claims: optimization-08
    """
    step = h * max(1.0, abs(c))
    left, right = c - step, c + step  # as rounded: the chords are divided by what they span
    return float((f(c) - f(left)) / (c - left)), float((f(right) - f(c)) / (right - c))


# ---------------------------------------------------------------------------------------
# Gradient descent
# ---------------------------------------------------------------------------------------

SUFFICIENT = 0.25  # Armijo: a step must lower f by this share of what the slope promises
ROUNDING = 8 * EPS  # by so much of |f(x)| a computed value may be off
SMALLEST_SHIFT = 1e-8  # of the largest entry of a Hessian that is not positive definite


class DescentState(NamedTuple):
    """Gradient descent after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    gradient_norm: float  # ||gradient f(x)||, 0 at a stationary point
    eta: float  # length of the step that led here; nan at the start


def gradient_descent(f, gradient, x0, *, eta=None):
    """Step by step against the gradient: x <- x - eta gradient f(x).

    Among all directions the loss falls fastest along -gradient; IRHD 3 has the gradient itself
    "best minimize mistakes", along which it rises fastest (optimization-09). With eta = 1/M a
    step lowers f by eta/2 ||gradient||^2 or more, and of convex f `descent_bound` tells how far f
    is from its minimum. On a quadratic eta > 2/M diverges. Without eta, each step length is found
    by `backtrack`, from twice the last one on.

    Yields: the start, then a `DescentState` per step. It ends where the gradient is 0 or,
    if backtracking, no step is left that rounding does not undo.

    >>> states = gradient_descent(lambda x: x @ x, lambda x: 2 * x, np.array([8.0]), eta=0.25)
    >>> [float(next(states).x[0]) for _ in range(4)]
    [8.0, 4.0, 2.0, 1.0]
    """
    x, step, before = np.array(x0, dtype=np.float64), np.nan, np.inf
    value = f(x)
    while True:
        slope = gradient(x)
        norm = float(np.linalg.norm(slope))
        yield DescentState(x, float(value), norm, step)
        if eta is None:
            trial = _trial(step, value, norm, before)
            step, x, value = backtrack(f, x, value, -slope, slope, eta=trial)
        else:
            step, x = eta, x - eta * slope
            value = f(x)
        if norm == 0 or step == 0:
            return
        before = norm


def _trial(step, value, norm, before):
    """Twice the last step length; where f no longer tells good steps, what the gradient tells."""
    if np.isnan(step):
        return 1.0
    if step * norm**2 > ROUNDING * abs(value):
        return 2 * step
    return step if norm < before else step / 2


def backtrack(f, x, value, direction, gradient, *, eta=1.0):
    """The first of eta, eta/2, eta/4, ... that lowers f as much as may be asked (Armijo):

        f(x + eta p) <= f(x) + SUFFICIENT eta gradient^T p ,   up to rounding.

    `value` is f(x), `direction` is p, and `gradient` that of f at x.

    Returns: eta, x + eta p and f there; eta = 0 if none of them does before x + eta p is x.

    Raises: ValueError if x or p is not finite.

    >>> backtrack(lambda x: x**2, 3.0, 9.0, direction=-6.0, gradient=6.0)
    (0.5, 0.0, 0.0)
    """
    if not (np.isfinite(x).all() and np.isfinite(direction).all()):
        raise ValueError("x and direction must be finite; they contain NaN or infinity")
    promised, allowed = np.dot(gradient, direction), value + ROUNDING * abs(value)
    while np.any((ahead := x + eta * direction) != x):
        there = f(ahead)
        if there <= allowed + SUFFICIENT * eta * promised:
            return eta, ahead, there
        eta = eta / 2
    return 0.0, x, value


def descent_bound(M, x0, x_star, k):
    """M ||x_0 - x_star||^2 / (2 k), which f(x_k) - f(x_star) never exceeds for eta = 1/M.

    It holds for every convex f after k = 1, 2, ... steps. If all curvatures are >= M / kappa, the
    distance to the minimum shrinks by 1 - 1/kappa or more in a step.

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
    """Descent on f = (1/n) sum_i f_i, a few of the n terms at a time, in random order.

    ``gradient(x, rows)`` is the mean gradient of `batch` terms, those of the indices `rows`: on
    average that of f. If eta is a number, x ends up wandering about the minimiser; if it is a
    function of the number k = 1, 2, ... of the step, with sum_k eta_k = inf and
    sum_k eta_k^2 < inf, such as 1/k, the wandering dies out. `rng` draws the order.

    Yields: the start, then a `StochasticState` per pass over all terms.

    With f_i = (x - y_i)^2 / 2 and eta_k = 1/k, x is the mean of the y_i seen so far:

    >>> y = np.array([1.0, 2.0, 9.0])
    >>> f, gradient = lambda x: np.mean((x - y) ** 2) / 2, lambda x, rows: x - y[rows].mean()
    >>> start, rng = np.array([0.0]), np.random.default_rng(0)
    >>> states = stochastic_gradient_descent(f, gradient, start, 3, eta=lambda k: 1 / k, rng=rng)
    >>> [next(states).x.round(9).tolist() for _ in range(2)]
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


def newton(f, gradient, hessian, x0):
    """To the minimum of the quadratic that fits f at x: x <- x - eta H^-1 gradient f(x).

    Far from the minimiser `backtrack` takes a share eta of the step; near it eta = 1, and every
    step doubles the number of correct digits. f lies about decrement^2 / 2 above its minimum.

    Yields: the start, then a `NewtonState` per step. It ends where the gradient is 0 or
    rounding hides whether a step goes down.

    >>> states = newton(lambda x: x @ x, lambda x: 2 * x, lambda x: 2 * np.eye(1), np.array([8.0]))
    >>> [state.x.tolist() for state in states]
    [[8.0], [0.0]]
    """
    x, eta, before = np.array(x0, dtype=np.float64), np.nan, np.inf
    value = f(x)
    while True:
        slope = gradient(x)
        p = newton_direction(hessian(x), slope)
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

    Otherwise -H^-1 gradient may point uphill, or not exist. Then shift is the first of 1e-8, 1e-7,
    ... of H's largest entry that makes H + shift/2 I positive definite, and so gradient^T p < 0.

    Raises: ValueError if H is not finite.

    >>> newton_direction(np.array([[2.0]]), np.array([8.0]))
    array([-4.])
    """
    shift, smallest = 0.0, SMALLEST_SHIFT * np.abs(H).max() or SMALLEST_SHIFT
    if not np.isfinite(smallest):
        raise ValueError("H must be finite; it contains NaN or infinity")
    while True:
        try:
            np.linalg.cholesky(H + shift / 2 * np.eye(len(H)))
            return -np.linalg.solve(H + shift * np.eye(len(H)), gradient)
        except np.linalg.LinAlgError:  # rounding may hide from the one what the other sees
            shift = max(10 * shift, smallest)


# ---------------------------------------------------------------------------------------
# Projected gradient
# ---------------------------------------------------------------------------------------


class ProjectedState(NamedTuple):
    """Projected gradient descent after a step."""

    x: np.ndarray  # (d,)
    objective: float  # f(x)
    mapping_norm: float  # ||x - project(x - eta gradient)|| / eta: 0 where no step helps


def projected_gradient(f, gradient, project, x0, *, eta):
    """Downhill, and back to the set: x <- project(x - eta gradient f(x)).

    `project` maps a point to the nearest one of the set. Where x stays, it is stationary on the
    set: a minimiser, if f and the set are convex. f falls at every step if eta <= 1/M.

    Yields: the start, projected, then a `ProjectedState` per step.

    >>> def project(x):
    ...     return np.maximum(x, 1.0)
    >>> states = projected_gradient(lambda x: x @ x, lambda x: 2 * x, project, [5.0], eta=0.25)
    >>> [next(states).x.tolist() for _ in range(4)]
    [[5.0], [2.5], [1.25], [1.0]]
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

    The sphere is not convex: a stationary point on it can be a maximum.

    Raises: ValueError for x = 0, to which all its points are as near.

    >>> project_sphere(np.array([0.3, 0.4]))
    array([0.6, 0.8])
    """
    largest = _size(x)
    if largest == 0:
        raise ValueError("x must not be 0: all points of the sphere are as near to it")
    x = x / largest  # whose squares neither overflow nor vanish
    return x * (radius / np.linalg.norm(x))


# ---------------------------------------------------------------------------------------
# Constraints
# ---------------------------------------------------------------------------------------


def _no_constraint(x):
    return np.zeros(0)


def _no_jacobian(x):
    return np.zeros((0, len(x)))


class Problem(NamedTuple):
    """min f(x) subject to c_i(x) = 0 for i in E and c_j(x) >= 0 for j in I.

    All fields are functions of x. PRNN writes its inequalities a_j^T w + b_j <= 0, for which
    c_j(w) = -(a_j^T w + b_j).

    >>> half_line = Problem(
    ...     f=lambda x: x[0] ** 2, gradient=lambda x: 2 * x,
    ...     inequalities=lambda x: x - 1, inequality_jacobian=lambda x: np.eye(1))
    >>> half_line.inequalities(np.array([3.0]))
    array([2.])
    """

    f: Callable  # -> float
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

    Returns: a `QuadraticProgram`.

    Raises: ValueError if the parts do not fit each other or are not finite, there is no
    variable, or P is not symmetric.

    >>> program = quadratic_program(np.eye(2), np.zeros(2), A=[[1.0, 1.0]], b=[1.0])
    >>> program.f(np.array([3.0, 4.0])), program.equalities(np.array([3.0, 4.0]))
    (12.5, array([6.]))
    """
    P, q = _finite("P", P, 2), _finite("q", q, 1)
    d = len(q)
    if d == 0:
        raise ValueError("q must have an entry for each variable; got none")
    if P.shape != (d, d):
        raise ValueError(f"P must have shape ({d}, {d}), as q has length {d}; got {P.shape}")
    if _size(P - P.T) > UNSOLVED * _size(P):
        raise ValueError(f"P must be symmetric; got |P - P^T| up to {_size(P - P.T):.3g}")
    A, b = _check_rows("A", A, "b", b, d)
    G, h = _check_rows("G", G, "h", h, d)
    C, c = np.vstack([A, G]), np.concatenate([b, h])
    return QuadraticProgram(P / 2 + P.T / 2, q, C, c, len(b))


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

    Raises: ValueError unless x, and with it each part, is a vector.

    >>> problem = quadratic_program(np.eye(1), [0.0], A=[[1.0]], b=[1.0], G=[[2.0]], h=[0.0])
    >>> constraints(problem, np.array([3.0]))
    array([2., 6.])
    """
    return np.concatenate(_equalities_and_inequalities(problem, x))


def _equalities_and_inequalities(problem, x):
    parts = problem.equalities(x), problem.inequalities(x)
    for name, part in zip(("equalities", "inequalities"), parts, strict=True):
        if np.ndim(part) != 1:  # of a column x, C x - c would be a matrix
            raise ValueError(f"{name}(x) must be a vector, as x; got shape {np.shape(part)}")
    return parts


def _jacobian(problem, x):
    return np.vstack([problem.equality_jacobian(x), problem.inequality_jacobian(x)])


def violation(problem, x):
    """max(|c_i(x)| on E, -c_j(x) on I, 0): x is feasible iff it is 0.

    >>> violation(quadratic_program(np.eye(1), [0.0], G=[[1.0]], h=[1.0]), np.array([-2.0]))
    3.0
    """
    equalities, inequalities = _equalities_and_inequalities(problem, x)
    return _size(np.append(equalities, np.minimum(inequalities, 0.0)))


def active_set(problem, x, *, tol=1e-8):
    """A(x) = E and {j in I: c_j(x) = 0}: the constraints that hold with equality at x.

    A c_j(x) within `tol` of 0 counts as 0.

    Returns: their places in c, ascending.

    >>> problem = quadratic_program(np.eye(2), np.zeros(2), G=np.eye(2), h=[1.0, 1.0])
    >>> active_set(problem, np.array([5.0, 1.0]))
    array([1])

    Claims: optimization-13
    """
    equalities, inequalities = _equalities_and_inequalities(problem, x)
    binding = np.abs(inequalities) <= check_number("tol", tol, at_least=0, below=np.inf)
    return np.flatnonzero(np.append(np.ones(len(equalities), dtype=bool), binding))


def lagrangian(problem, x, lam):
    """L(x, lam) = f(x) - sum_i lam_i c_i(x), over E and I.

    At a feasible x it is at most f(x), if lam_j >= 0 on I. For x^2 on x >= 1:

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> lagrangian(problem, np.array([3.0]), lam=np.array([2.0]))
    5.0

    Claims: optimization-14
    """
    return float(problem.f(x) - lam @ constraints(problem, x))


def lagrangian_gradient(problem, x, lam):
    """The gradient of L in x: gradient f(x) - J(x)^T lam. (That in lam is -c(x).)

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> lagrangian_gradient(problem, np.array([1.0]), lam=np.array([2.0]))
    array([0.])
    """
    return problem.gradient(x) - _jacobian(problem, x).T @ lam


class KKTResiduals(NamedTuple):
    """How far (x, lam) is from each of the KKT conditions; all 0 if it meets them."""

    stationarity: float  # max |gradient_x L|
    equality: float  # max |c_i|, i in E
    inequality: float  # max(-c_j, 0), j in I
    sign: float  # max(-lam_j, 0), j in I
    complementarity: float  # max |lam_i c_i|


def kkt_residuals(problem, x, lam):
    """The Karush-Kuhn-Tucker conditions (8.17)-(8.21) of IRHD, as numbers that should be 0:

        gradient_x L = 0,  c_i = 0 on E,  c_j >= 0 on I,  lam_j >= 0 on I,  lam_i c_i = 0 .

    A minimiser has multipliers that meet them if the constraints are linear, or regular in some
    other way: that of x on -x^2 >= 0 has none. Conversely, who meets them is a minimiser if f is
    convex and the constraints are linear. On E the sign of lam is free; with lam >= 0 there too,
    as IRHD 8.2.2 wants it, x^2 on x + 1 = 0 would have no minimiser (optimization-23).

    Returns: `KKTResiduals`.

    >>> problem = quadratic_program([[2.0]], [0.0], A=[[1.0]], b=[-1.0])
    >>> max(kkt_residuals(problem, np.array([-1.0]), lam=np.array([-2.0])))
    0.0

    Claims: optimization-15
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
    """g(lam) = inf_x L(x, lam), the infimum taken over the rows of `points` (k, d).

    That is g itself if they hold a minimiser of L, and at least g if not. The least of functions
    f(x) - lam^T c(x), each affine in lam, is concave, whatever f.

    Weak duality, for any f: if lam_j >= 0 on I, g(lam) <= p_star, the infimum of f over the
    feasible x. IRHD prints inf_x f(x), over all x, which in general is less (optimization-24);
    and lam_i >= 0 for all i, which can keep the largest g from reaching p_star
    (optimization-23). Strong duality, that it does reach it, PRNN claims of every problem; it
    takes convex f and linear constraints (optimization-22).

    Returns: a number; (l,) for l multipliers, the rows of lam (l, p + m). Raises: ValueError if
    there is no point.

    For x^2 on x >= 1, where p_star = 1:

    >>> problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[1.0])
    >>> dual_function(problem, np.array([[0.0], [2.0], [4.0]]), np.linspace(-5, 5, 101)[:, None])
    array([0., 1., 0.])
    """
    if len(points) == 0:
        raise ValueError("points must have a row or more; got none")
    values = np.array([problem.f(x) for x in points])
    c = np.array([constraints(problem, x) for x in points])
    return (values - np.asarray(lam) @ c.T).min(axis=-1)


def quadratic_dual(lam, P, q, A=None, b=None, G=None, h=None):
    """g(lam) of a quadratic program; C holds the rows of A and G, c those of b and h:

        g(lam) = c^T lam - 1/2 r^T P^-1 r,   r = q - C^T lam ,

    which is L(x, lam) where P x = -r. If no x solves that (for P = 0, none unless r = 0), or P has
    a negative eigenvalue, L has no lower bound and g(lam) = -inf.

    Raises: ValueError as `quadratic_program`, or if lam does not fit.

    >>> quadratic_dual(np.array([2.0]), [[2.0]], [0.0], G=[[1.0]], h=[1.0])
    1.0
    >>> quadratic_dual(np.array([2.0]), [[0.0]], [1.0], G=[[1.0]], h=[1.0])
    -inf

    Claims: optimization-19
    """
    P, q, C, c, _ = quadratic_program(P, q, A, b, G, h)
    lam = _finite("lam", lam, 1)
    if lam.shape != c.shape:
        raise ValueError(f"lam must have shape {c.shape}, a constraint each; got {lam.shape}")
    unit = 1 / _root(np.diag(P))  # in x / unit, the diagonal of P is 1 or 0
    P, q, pull = unit[:, None] * P * unit, unit * q, unit * (C.T @ lam)
    r = q - pull
    x = np.linalg.lstsq(P, -r, rcond=None)[0]
    if not is_psd(P, UNSOLVED) or _size(P @ x + r) > UNSOLVED * (_size(q) + _size(pull)):
        return -np.inf
    return float(c @ lam + r @ x / 2)


# ---------------------------------------------------------------------------------------
# Quadratic programs
# ---------------------------------------------------------------------------------------

UNSOLVED = 1e-9  # relative to its terms, a residual that rounding does not explain
SUSPECT = 1e6  # a scaled solution as large as that may be on its way to infinity
SLIGHT_BOUND = 1e-8  # a scaled c as small as that may be of another unit than the minimum
NO_BOUND = 1e-200  # one as small as that is 0: in its unit squares would overflow
CLEANER = 1e-2  # of tol: what the interior point is to reach before the last digits


class QPSolution(NamedTuple):
    """The minimiser of a quadratic program, with the multipliers that prove it."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (p + m,), those of A x = b first
    objective: float  # 1/2 x^T P x + q^T x
    gap: float  # the objective less the dual objective
    residual: float  # the largest violation of a KKT condition or gap, relative to its terms
    n_iter: int  # steps of the interior point method


def solve_qp(P, q, A=None, b=None, G=None, h=None, *, tol=1e-9, max_iter=100):
    """min 1/2 x^T P x + q^T x subject to A x = b and G x >= h, P positive semi-definite.

    The program is scaled; again, if the solution turns out to be of another size. The equalities
    go: x = x_0 + N u, with N a basis of the null space of A, whose rows may repeat each other.
    `interior_point` finds u, and with it which inequalities are active; solving for these alone
    gives the last digits, and lam_j = 0 exactly on the others. P may be singular, or 0 (a linear
    program).

    Returns: a `QPSolution`. If its residual is above `tol`, after at most `max_iter` steps, a
    ConvergenceWarning says so.

    Raises: InfeasibleError or UnboundedError if there is no solution, with the proof; ValueError
    if P is not positive semi-definite, or what is given does not fit together.

    >>> solution = solve_qp(2 * np.eye(2), [0.0, 0.0], A=[[1.0, 1.0]], b=[1.0])
    >>> solution.x.round(9), solution.lam.round(9), round(solution.objective, 9)
    (array([0.5, 0.5]), array([1.]), 0.5)
    """
    check_number("tol", tol, at_least=0, below=np.inf)
    check_number("max_iter", max_iter, at_least=0, integer=True)
    program = quadratic_program(P, q, A, b, G, h)
    scaled, columns, rows = _scale(program)
    _check_psd(program, scaled)
    x, lam, residual, n_iter = _solve_in_two_units(scaled, tol, max_iter)
    if not residual <= tol or max(_size(x), _size(lam)) > SUSPECT:
        _refuse(scaled, columns, rows)
    if not residual <= tol:
        warnings.warn(
            f"solve_qp stopped after {n_iter} iterations with residual = {residual:.3g} > {tol:g}",
            ConvergenceWarning,
            stacklevel=2,
        )
    x, lam = columns * x, rows * lam
    Px = program.P @ x
    objective, gap = x @ Px / 2 + program.q @ x, x @ Px + program.q @ x - program.c @ lam
    return QPSolution(x, lam, float(objective), float(gap), residual, n_iter)


def _check_psd(program, scaled):
    if not is_psd(scaled.P, UNSOLVED):
        lowest = np.linalg.eigvalsh(program.P)[0]
        raise ValueError(f"P must be positive semi-definite; got an eigenvalue {lowest:.3g}")


def _solve_in_two_units(program, tol, max_iter):
    """x, lam, their residual and the steps taken, of a scaled program.

    Where c is next to nothing, x may be too: minima without constraints are far away if P is a
    slight ridge. Then the residual is taken in the unit of c, and if it is large so is x.
    """
    x, lam, n_iter = _solve(program, tol, max_iter)
    unit = _size(program.c)
    if not NO_BOUND < unit < SLIGHT_BOUND:
        return x, lam, _residual(program, x, lam), n_iter
    program, cost = _in_unit(program, unit)
    residual = _residual(program, x / unit, lam / cost)
    if not residual <= tol:
        near, near_lam, steps = _solve(program, tol, max_iter)
        near_residual = _residual(program, near, near_lam)
        if not residual <= near_residual:
            return unit * near, cost * near_lam, near_residual, steps
    return x, lam, residual, n_iter


def _solve(program, tol, max_iter):
    """x, lam and the steps taken, of a scaled program, cleaned up."""
    P, q, C, c, p = program
    G, h = C[p:], c[p:]
    x, N, inverse = _eliminate(C[:p], c[:p])
    lam, n_iter = np.zeros(len(h)), 0
    if len(h) and N.shape[1]:
        states = interior_point(N.T @ P @ N, N.T @ (q + P @ x), G @ N, h - G @ x)
        run = iterate(states, "residual", CLEANER * tol, max_iter)
        x, lam, n_iter = x + N @ run.state.x, run.state.lam, run.n_iter
    lam_equalities = inverse.T @ (P @ x + q - G.T @ lam)
    return *_clean_up(program, x, np.concatenate([lam_equalities, lam])), n_iter


def _eliminate(A, b):
    """x_0 and N (d, d - rank), so that x_0 + N u are the solutions of A x = b; A's inverse."""
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = np.count_nonzero(s > max(A.shape) * EPS * s.max(initial=0.0))
    inverse = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T
    return inverse @ b, Vt[rank:].T, inverse


def box(lower, upper):
    """G and h of lower <= x <= upper, of which -inf and inf give no row.

    Raises: ValueError if the bounds are not vectors of one length.

    >>> G, h = box(np.array([0.0, 0.0]), np.array([5.0, np.inf]))
    >>> G, h
    (array([[ 1.,  0.],
           [ 0.,  1.],
           [-1., -0.]]), array([ 0.,  0., -5.]))
    """
    lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if lower.ndim != 1 or lower.shape != upper.shape:
        raise ValueError(f"bounds must be (d,) and (d,); got {lower.shape} and {upper.shape}")
    identity = np.eye(len(lower))
    G, h = np.vstack([identity, -identity]), np.concatenate([lower, -upper])
    bound = h != -np.inf
    return G[bound], h[bound]


# The interior point method

STEP = 0.99  # of the way to the first lam_j or s_j = 0, how much a step goes
PROXIMAL = 1e-13  # how strongly a step holds on to x and lam: no system is singular
MET_ROUNDING = 1e-6  # when it rises from less than that, the residual is rounding


class InteriorState(NamedTuple):
    """The interior point method after a step."""

    x: np.ndarray  # (d,)
    lam: np.ndarray  # (m,), positive
    slack: np.ndarray  # (m,), positive, tending to G x - h
    objective: float  # 1/2 x^T P x + q^T x
    gap: float  # lam^T slack, for feasible x and lam the objective less the dual objective
    residual: float  # the largest violation of a KKT condition or gap, relative to its terms


def interior_point(P, q, G, h):
    """Mehrotra's method for min 1/2 x^T P x + q^T x subject to G x >= h, of one row or more.

    With slacks s the KKT conditions are

        P x + q - G^T lam = 0,   G x - s = h,   lam_j s_j = 0,   lam >= 0,   s >= 0 .

    Newton's method on the equations would run into the boundary lam_j = 0 or s_j = 0 and stay
    there. So each step aims at lam_j s_j = sigma mu > 0, with mu their mean before it, and ends
    short of the boundary. How small a sigma will do, a first solution with sigma = 0 tells (the
    predictor); the second makes up for the term dlam_j ds_j that the first has left out (the
    corrector). For x^2 on x >= 3:

    >>> *_, last = interior_point(np.array([[2.0]]), np.zeros(1), np.eye(1), np.array([3.0]))
    >>> last.x.round(6), last.lam.round(6)
    (array([3.]), array([6.]))

    Yields: the start, then an `InteriorState` per step. Of a program with a solution it ends when
    rounding stops it; else it need not end. Raises: ValueError if the parts do not fit each
    other or are not finite, or there is no row.
    """
    P, q = _finite("P", P, 2), _finite("q", q, 1)
    G, h = _check_rows("G", G, "h", h, len(q))
    if len(h) == 0 or P.shape != (len(q), len(q)):
        raise ValueError(f"P must be (d, d), G of one row or more; got {P.shape} and {G.shape}")
    program, before = QuadraticProgram(P, q, G, h, 0), np.inf
    x, lam, slack = _interior_start(P, q, G, h)
    while True:
        residual = _residual(program, x, lam)
        if not residual < before and (before < MET_ROUNDING or np.isnan(residual)):
            return
        objective = float(x @ (P @ x) / 2 + q @ x)
        yield InteriorState(x, lam, slack, objective, float(lam @ slack), residual)
        if residual <= EPS:
            return
        before = residual
        dx, dlam, dslack = _mehrotra(P, q, G, h, x, lam, slack)
        x, lam, slack = x + dx, lam + dlam, slack + dslack


def _interior_start(P, q, G, h):
    """The x of least f(x) + 1/2 ||G x - h||^2, or nearly; lam and slack pushed above 0."""
    K = P + G.T @ G
    x = np.linalg.solve(K + PROXIMAL * (_size(K) or 1.0) * np.eye(len(K)), G.T @ h - q)
    slack = G @ x - h
    return x, _push(-slack), _push(slack)


def _push(v):
    return v if v.min() > 0 else v + (1 - v.min())


def _mehrotra(P, q, G, h, x, lam, slack):
    """The step dx, dlam, ds: predictor, corrector, and as far as lam and s stay positive."""
    newton_step = _newton_system(P, G, P @ x + q - G.T @ lam, G @ x - slack - h, lam, slack)
    mu = lam @ slack / len(h)
    _, dlam, dslack = newton_step(lam * slack)
    eta = _longest(lam, dlam, slack, dslack)
    sigma = ((lam + eta * dlam) @ (slack + eta * dslack) / len(h) / mu) ** 3
    dx, dlam, dslack = newton_step(lam * slack + dlam * dslack - sigma * mu)
    eta = STEP * _longest(lam, dlam, slack, dslack)
    return eta * dx, eta * dlam, eta * dslack


def _longest(lam, dlam, slack, dslack):
    """The largest eta <= 1 with lam + eta dlam >= 0 and slack + eta dslack >= 0."""
    v, dv = np.concatenate([lam, slack]), np.concatenate([dlam, dslack])
    return min(1.0, (-v[dv < 0] / dv[dv < 0]).min(initial=np.inf))


def _newton_system(P, G, dual, primal, lam, slack):
    """Newton's equations at residuals dual (d,), primal (m,), as a function of the third:

        P dx - G^T dlam = -dual,   G dx - ds = -primal,   lam ds + s dlam = -complementarity .

    ds is eliminated, and where w = lam / s <= 1 so is dlam, which adds w G^T G to P. Where w > 1
    the constraint is about to be active, and its row stays: no entry grows beyond those of P and
    G, and what they tend to is the system of the active constraints alone.
    """
    w, d = lam / slack, len(P)
    near, far = w > 1, w <= 1
    K = np.zeros((d + near.sum(), d + near.sum()))
    K[:d, :d] = P + (G[far].T * w[far]) @ G[far]
    K[d:, :d], K[:d, d:] = G[near], G[near].T
    hold = PROXIMAL * max(1.0, _size(P), _size(G))
    K[np.diag_indices(len(K))] += np.concatenate([np.full(d, hold), -1 / w[near] - hold])

    def newton_step(complementarity):
        pull = (complementarity + lam * primal) / slack
        toward = -complementarity[near] / lam[near] - primal[near]
        solution = np.linalg.solve(K, np.concatenate([-dual - G[far].T @ pull[far], toward]))
        dx, dlam = solution[:d], np.empty(len(lam))
        dslack = G @ dx + primal
        dlam[far], dlam[near] = -pull[far] - w[far] * (G[far] @ dx), -solution[d:]
        return dx, dlam, dslack

    return newton_step


# Scaling, and what residuals are relative to

SWEEPS = 10  # of scaling: each brings the largest entries of rows and columns nearer to 1
TINY = 1e-20  # what is smaller, in a scaled program, may be 0
CANCELLED = 1e-6  # of terms that cancel so much may be left: 1e-15 at a tolerance of 1e-9


def _scale(program):
    """The program with entries of size 1 in x' and lam': x = columns x', lam = rows lam'.

    Rows and columns are divided by the root of their largest entries, again and again; then x by
    its likely size, that of c or of the minimum without constraints; then the cost.
    """
    P, q, C, c, p = program
    columns, rows = np.ones(len(q)), np.ones(len(c))
    for _ in range(SWEEPS):
        P_now, C_now = np.abs(columns[:, None] * P * columns), np.abs(rows[:, None] * C * columns)
        columns = columns / _root(np.vstack([P_now, C_now]).max(axis=0))
        rows = rows / _root(C_now.max(axis=1))
    P, q, C, c = columns[:, None] * P * columns, columns * q, rows[:, None] * C * columns, rows * c
    unit = max(_size(c), _size(q) / (_size(P) or np.inf)) or 1.0
    scaled, cost = _in_unit(QuadraticProgram(P, q, C, c, p), unit)
    return scaled, unit * columns, cost * rows


def _in_unit(program, unit):
    """The program in x' = x / unit with a cost of size 1, and that cost: lam = cost lam'."""
    P, q, C, c, p = program
    cost = max(unit * _size(P), _size(q)) or 1.0  # over the unit, whose square has another range
    return QuadraticProgram(unit * P / cost, q / cost, C, c / unit, p), cost


def _root(largest):
    return np.sqrt(np.where(largest > 0, largest, 1.0))


def _residual(program, x, lam):
    """The largest of stationarity, infeasibility and gap, relative to the terms they sum.

    Where those cancel, what rounding leaves of them counts as nothing.
    """
    P, q, C, c, p = program
    Px, Cx, Cl = P @ x, C @ x, C.T @ lam
    xPx, qx, cl = x @ Px, q @ x, c @ lam
    short = Cx - c
    short[p:] = np.minimum(short[p:], 0.0)
    X, Y, P, C = np.abs(x).sum(), np.abs(lam).sum(), _size(P), _size(C)
    value, dual, terms = abs(xPx / 2 + qx), abs(cl - xPx / 2), (P * X + _size(q)) * X + _size(c) * Y
    parts = (
        _relative(_size(Px + q - Cl), max(_size(Px), _size(q), _size(Cl)), P * X + C * Y),
        _relative(_size(short), max(_size(Cx), _size(c)), C * X),
        _relative(abs(xPx + qx - cl), min(value, dual), terms),
    )
    return float(np.max(parts))  # NaN, if one is


def _relative(error, size, terms):
    return error / (TINY + max(size, CANCELLED * terms))


# The last digits

ROUNDS = 6  # guesses of the active constraints
REFINEMENTS = 2  # solutions for each, the second of what the first has left
SLIGHT = 1e-10  # relative to its terms, a violation that rounding explains


def _clean_up(program, x, lam):
    """The best of x, lam and the solutions on a few guesses of the active constraints.

    The first guess is lam_j > s_j. Constraints of negative multiplier leave, violated ones join.
    """
    C, c, p = program.C, program.c, program.p
    equality = np.arange(len(c)) < p
    best, best_residual = (x, lam), _residual(program, x, lam)
    active = equality | (lam > C @ x - c)
    for _ in range(ROUNDS):
        x, lam = _solve_on(program, x, lam, active)
        wrong = ~equality & (lam < 0)
        lam = np.where(wrong, 0.0, lam)
        residual = _residual(program, x, lam)
        if residual < best_residual:
            best, best_residual = (x, lam), residual
        now, active = active, active & ~wrong | (C @ x - c < -SLIGHT * (_size(x) + np.abs(c)))
        if np.array_equal(now, active):
            break
    return best


def _solve_on(program, x, lam, active):
    """The x, lam nearest to those given that minimise with C x = c on the active rows alone."""
    P, q, C, c, _ = program
    C, c, d = C[active], c[active], len(q)
    values, V = np.linalg.eigh(np.block([[P, C.T], [C, np.zeros((len(C), len(C)))]]))
    kept = np.abs(values) > len(values) * EPS * _size(values)
    values, V = values[kept], V[:, kept]
    multipliers = lam[active]
    for _ in range(REFINEMENTS):
        error = np.concatenate([P @ x + q - C.T @ multipliers, C @ x - c])
        correction = V @ ((V.T @ error) / values)
        x, multipliers = x - correction[:d], multipliers + correction[d:]
    lam = np.zeros(len(lam))
    lam[active] = multipliers
    return x, lam


# ---------------------------------------------------------------------------------------
# Without a solution
# ---------------------------------------------------------------------------------------

CERTAIN = 1e-10  # relative to its terms, a certificate errs less and proves more


class InfeasibleError(ValueError):
    """No point satisfies the constraints.

    `certificate` (p + m,) proves it: see `infeasibility_certificate`.
    """

    def __init__(self, message, certificate):
        super().__init__(message)
        self.certificate = certificate


class UnboundedError(ValueError):
    """The objective falls without bound on the feasible set.

    `direction` (d,) proves it: see `unbounded_direction`.
    """

    def __init__(self, message, direction):
        super().__init__(message)
        self.direction = direction


def infeasibility_certificate(A=None, b=None, G=None, h=None):
    """y with A^T y_E + G^T y_I = 0, y_I >= 0 and b^T y_E + h^T y_I > 0, if there is one.

    An x with A x = b and G x >= h would give 0 = (A^T y_E + G^T y_I)^T x >= b^T y_E + h^T y_I:
    there is none. And if there is no such x, there is such a y (Farkas): the point of the cone
    A^T y_E + G^T y_I = 0, y_I >= 0 that is nearest to (b, h), all scaled.

    Returns: y (p + m,), of length 1, or None if the constraints are feasible.

    >>> infeasibility_certificate(G=[[3.0], [-4.0]], h=[3.0, 0.0]).round(9)  # x >= 1, x <= 0
    array([0.8, 0.6])
    """
    given = [rows for rows in (A, G) if rows is not None]
    d = np.shape(given[0])[-1] if given else 1
    scaled, _, rows = _scale(quadratic_program(np.zeros((d, d)), np.zeros(d), A, b, G, h))
    return _infeasible(scaled, rows)


def unbounded_direction(P, q, A=None, G=None):
    """v with P v = 0, A v = 0, G v >= 0 and q^T v < 0, if there is one.

    From a feasible x the ray x + t v, t >= 0, is feasible, and the objective changes along it by
    t q^T v: it has no minimum. A feasible program without such a v has one. It is found as the
    point of the cone P v = 0, A v = 0, G v >= 0 that is nearest to -q, all scaled.

    Returns: v (d,), of length 1, or None. Raises: ValueError if P is not positive semi-definite,
    or the parts do not fit each other.

    >>> unbounded_direction(np.zeros((1, 1)), [2.0], G=[[-1.0]]).round(9)  # 2 x on x <= h
    array([-1.])
    """
    b, h = (None if rows is None else np.zeros(len(rows)) for rows in (A, G))
    program = quadratic_program(P, q, A, b, G, h)
    scaled, columns, _ = _scale(program)
    _check_psd(program, scaled)
    return _unbounded(scaled, columns)


def _infeasible(scaled, rows):
    C, c, p = scaled.C, scaled.c, scaled.p
    return _certificate(c, C.T, np.eye(len(c))[p:], rows)


def _unbounded(scaled, columns):
    P, q, C, _, p = scaled
    return _certificate(-q, np.vstack([P, C[:p]]), C[p:], columns)


def _certificate(v, M, N, unit):
    """unit y of length 1, for the y nearest to v in the cone M y = 0, N y >= 0; None if y = 0.

    The nearest point of a cone has v^T y = ||y||^2: if it is not 0, then v^T y > 0.
    """
    if not len(v):
        return None
    C, cone = np.vstack([M, N]), len(M)
    nearest, columns, _ = _scale(QuadraticProgram(np.eye(len(v)), -v, C, np.zeros(len(C)), cone))
    y = columns * _solve(nearest, UNSOLVED, max_iter=100)[0]
    error = max(_size(M @ y), _size(np.minimum(N @ y, 0.0)))
    if error > CERTAIN * _size(y) or v @ y <= CERTAIN * (np.abs(v) @ np.abs(y)):
        return None
    return unit * y / np.linalg.norm(unit * y)


def _refuse(scaled, columns, rows):
    """Raise the error that says why there is no solution, if there is a proof."""
    certificate = _infeasible(scaled, rows)
    if certificate is not None:
        raise InfeasibleError(
            "the constraints must have a common point; A x = b and G x >= h contradict each "
            "other, as the certificate of this error proves",
            certificate,
        )
    direction = _unbounded(scaled, columns)
    if direction is not None:
        raise UnboundedError(
            "the objective must be bounded below on the constraints; it falls for ever along "
            "the direction of this error",
            direction,
        )


# ---------------------------------------------------------------------------------------
# Separation
# ---------------------------------------------------------------------------------------

TOUCHING = 1e-9  # relative to the points' extent, a distance that is none


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
    center = (X.mean(axis=0) + Y.mean(axis=0)) / 2
    unit = max(_size(X - center), _size(Y - center)) or 1.0  # whose square may be out of range
    X, Y = (X - center) / unit, (Y - center) / unit
    Z, n = np.vstack([X, -Y]), len(X)
    A = np.zeros((2, len(Z)))
    A[0, :n], A[1, n:] = 1.0, 1.0
    weights = solve_qp(Z @ Z.T, np.zeros(len(Z)), A, np.ones(2), *_nonnegative(len(Z))).x
    u, v = X.T @ weights[:n], Y.T @ weights[n:]
    distance = float(np.linalg.norm(u - v))
    if distance <= TOUCHING:
        u, v, distance = (u + v) / 2, (u + v) / 2, 0.0
    return ClosestPoints(center + unit * u, center + unit * v, unit * distance)


def _nonnegative(n):
    return np.eye(n), np.zeros(n)


def separating_hyperplane(X, Y):
    """The hyperplane w^T x + b = 0 midway between the closest points u, v of two polytopes:

        w = u - v,   b = -w^T (u + v) / 2 .

    On the hull of X, w^T (x - u) >= 0, else one could move from u to a point nearer to v; so
    w^T x + b >= ||w||^2 / 2 there, and <= -||w||^2 / 2 on the hull of Y. No other hyperplane
    keeps as far from both: it is the one of largest margin.

    Returns: w (d,) and b.

    Raises: ValueError if the hulls of X (n, d) and Y (k, d) meet.

    >>> w, b = separating_hyperplane(np.array([[4.0, 3.0]]), np.array([[3.0, 0.0], [1.0, 2.0]]))
    >>> w.round(9), round(b, 9)
    (array([2., 2.]), -10.0)

    Claims: optimization-12
    """
    u, v, distance = closest_points(X, Y)
    if distance == 0:
        raise ValueError("X and Y must have convex hulls without a common point; theirs meet")
    w = u - v
    return w, float(-w @ (u + v) / 2)
