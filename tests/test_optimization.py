"""The optimization chapter: every statement of the notes, checked by a second route."""

import pickle
import re
from functools import partial
from itertools import combinations, islice

import numpy as np
import pytest
from checks import check_gradient, check_hessian, panels

from mlnotes.base import iterate
from mlnotes.decision_theory import absolute_subdifferential
from mlnotes.optimization import (
    InfeasibleError,
    Problem,
    UnboundedError,
    active_set,
    backtrack,
    box,
    closest_points,
    convexity_gap,
    descent_bound,
    dual_function,
    gradient_descent,
    interior_point,
    interior_start,
    interior_step,
    kkt_residuals,
    lagrangian,
    lagrangian_gradient,
    longest_step,
    max_norm,
    newton,
    newton_direction,
    project_ball,
    projected_gradient,
    quadratic_dual,
    quadratic_program,
    relative_kkt_error,
    segment,
    separating_hyperplane,
    smallest_gap,
    solve_qp,
    stochastic_gradient_descent,
    subdifferential,
)

ROUNDING = 1e-12


def log_loss(t):
    return np.logaddexp(0, -t)


def sigmoid(t):
    return (1 + np.tanh(t / 2)) / 2


def logistic(rng, n=40, d=3, ridge=0.1):
    """f, gradient and hessian of a strictly convex loss, and M: log-loss and a ridge."""
    X = rng.normal(size=(n, d))
    Z = X * np.sign(X[:, :1] + 0.5 * rng.normal(size=(n, 1)))

    def f(w):
        return log_loss(Z @ w).sum() + ridge / 2 * w @ w

    def gradient(w):
        return -Z.T @ sigmoid(-Z @ w) + ridge * w

    def hessian(w):
        return (Z.T * (sigmoid(Z @ w) * sigmoid(-Z @ w))) @ Z + ridge * np.eye(d)

    return f, gradient, hessian, np.linalg.norm(Z, ord=2) ** 2 / 4 + ridge


def quadratic(rng, d=5, smallest=0.5, largest=8.0):
    """P with these extreme eigenvalues, q, and f, gradient of 1/2 x^T P x + q^T x."""
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    P = (Q * np.linspace(smallest, largest, d)) @ Q.T
    q = rng.normal(size=d)
    return (P + P.T) / 2, q, lambda x: x @ P @ x / 2 + q @ x, lambda x: P @ x + q


# --- Convexity -------------------------------------------------------------------------


@pytest.mark.claims("optimization-01", "optimization-02")
def test_convexity_gap_of_the_square_is_a_product_and_of_the_absolute_value_0_on_either_side(rng):
    x1, x2, t = rng.normal(size=(2, 100)) * 5, rng.normal(size=(2, 100)), rng.uniform(size=(2, 100))
    gap = convexity_gap(np.square, x1, x2, t)
    np.testing.assert_allclose(gap, t * (1 - t) * (x1 - x2) ** 2, rtol=1e-7, atol=ROUNDING)
    assert gap.min() > 0  # strictly convex
    assert not convexity_gap(np.square, x1, x2, np.round(t)).any()  # as printed, t may be an end
    assert not convexity_gap(np.square, x1, x1, 0.25).round(12).any()  # and x_1 may be x_2
    x1, x2 = np.abs(x1), np.abs(x2)
    np.testing.assert_allclose(convexity_gap(np.abs, x1, x2, t), 0, atol=ROUNDING)
    across = convexity_gap(np.abs, -x1, x2, t)
    np.testing.assert_allclose(across, 2 * np.minimum(t * x2, (1 - t) * x1), atol=ROUNDING)


@pytest.mark.claims("optimization-01", "optimization-03")
def test_smallest_gap_tells_convex_functions_from_others(rng):
    line, positive = np.linspace(-4, 4, 200), np.linspace(0.01, 10, 500)
    for f, X, convex in (
        (np.square, line, True),
        (np.abs, line, True),
        (log_loss, line, True),
        (np.exp, line, True),
        (np.sin, line, False),
        (np.sign, line, False),
        (np.reciprocal, positive, True),
        (np.reciprocal, line, False),  # both signs, but not 0
    ):
        worst = smallest_gap(f, X, rng=rng)
        assert (worst.gap >= -ROUNDING) == convex
        assert worst.gap == convexity_gap(f, worst.x1, worst.x2, worst.t)


@pytest.mark.claims("optimization-01")
def test_smallest_gap_of_0_inside_and_inf_outside_tells_convex_sets_from_others(rng):
    X = rng.uniform(-2, 2, size=(2000, 2))
    for inside, convex in (
        (lambda X: np.linalg.norm(X, axis=-1) <= 1, True),
        (lambda X: X @ [1.0, 2.0] >= 0.5, True),
        (lambda X: np.abs(np.linalg.norm(X, axis=-1) - 1.5) <= 0.5, False),  # a ring
    ):
        _, x1, x2, t = worst = smallest_gap(
            lambda X, inside=inside: np.where(inside(X), 0.0, np.inf), X[inside(X)], rng=rng
        )
        assert worst.gap == (0 if convex else -np.inf)
        assert inside(x1) and inside(x2) and inside(segment(x1, x2, t)) == convex


@pytest.mark.claims("optimization-04", "optimization-05", "optimization-06")
def test_smallest_gap_of_what_the_rules_build_is_not_negative(rng):
    for k in range(10):
        B, (q, a), X = rng.normal(size=(2, 1 + k % 2)), rng.normal(size=(2, 2)), np.zeros((300, 2))
        f, g = lambda X, B=B, q=q: ((X @ B) ** 2).sum(axis=-1) + X @ q, lambda X, a=a: X @ a + 0.3
        X += 3 * rng.normal(size=(300, 2))
        for built in (
            lambda X, f=f, g=g: np.maximum(f(X), g(X)),
            lambda X, f=f, g=g: f(X) + g(X),
            lambda X, f=f: np.exp(f(X) / 20),  # convex and non-decreasing, as the next
            lambda X, f=f: np.maximum(f(X), 0) ** 2,
            lambda X, g=g: log_loss(g(X)),  # g is affine
            lambda X, g=g: np.maximum(0, 1 - g(X)),
        ):
            worst = smallest_gap(built, X, rng=rng)
            assert worst.gap >= -1e-10 * max(1, built(worst.x1), built(worst.x2))


@pytest.mark.claims("optimization-04", "optimization-05", "optimization-06")
def test_convexity_gap_of_what_breaks_a_rule_is_negative():
    for f, chord, gap in (
        (lambda x: np.minimum((x - 1) ** 2, (x + 1) ** 2), (-1.0, 1.0, 0.5), -1),
        (lambda x: x**2 - 2 * x**2, (-1.0, 1.0, 0.5), -1),  # a difference
        (lambda x: (x**2 - 1) ** 2, (-1.0, 1.0, 0.5), -1),  # t^2 falls where x^2 - 1 goes
        (lambda x: np.sqrt(np.abs(x)), (0.0, 1.0, 0.25), -0.25),  # the root is not convex
        (lambda x: log_loss(x**2), (-0.5, 0.5, 0.5), np.log1p(np.exp(-0.25)) - np.log(2)),
    ):
        assert convexity_gap(f, *chord) == pytest.approx(gap) and gap < -0.1


# --- Subgradients ----------------------------------------------------------------------


@pytest.mark.claims("optimization-08")
@pytest.mark.parametrize("n", [1, 9, 10])
def test_subdifferential_holds_0_exactly_at_the_minimisers_of_the_mean_deviation(rng, n):
    for _ in range(10):
        y = rng.integers(0, 12, size=n).astype(float)  # with ties
        grid = np.arange(-4, 53) / 4
        f = np.abs(y[:, None] - grid).mean(axis=0)
        slopes = [subdifferential(lambda c, y=y: np.abs(y - c).mean(), c, h=1e-3) for c in grid]
        exact = [absolute_subdifferential(y, c) for c in grid]
        np.testing.assert_allclose(slopes, exact, rtol=1e-12, atol=1e-12)
        zero_inside = [lower <= 0 <= upper for lower, upper in exact]
        np.testing.assert_array_equal(zero_inside, f <= f.min() + 1e-12)
    for c in (0.1, 123.456, -1e12):  # far from 0, and at an integer
        assert subdifferential(abs, c) == (np.sign(c), np.sign(c))  # and so c is no minimiser
        assert subdifferential(lambda x, c=c: abs(x - c), c) == (-1.0, 1.0)
    assert subdifferential(np.reciprocal, 2) == pytest.approx((-0.25, -0.25), rel=1e-5)


# --- Gradient descent ------------------------------------------------------------------


@pytest.mark.claims("optimization-09")
def test_gradient_descent_goes_where_the_loss_falls_fastest(rng):
    f, gradient, *_ = logistic(rng)
    w, h = rng.normal(size=3), 1e-6
    check_gradient(f, gradient, w)
    start, after = islice(gradient_descent(f, gradient, w, eta=h), 2)
    np.testing.assert_allclose(after.x - w, -h * gradient(w), rtol=1e-6)
    units = np.vstack([rng.normal(size=(300, 3)), w - after.x, after.x - w])
    units /= np.linalg.norm(units, axis=1)[:, None]
    slopes = [(f(w + h * u) - f(w - h * u)) / (2 * h) for u in units]
    assert np.argmin(slopes) == 301 and np.argmax(slopes) == 300  # as printed, the step is +g
    assert slopes[301] == pytest.approx(-start.gradient_norm)


def test_gradient_descent_by_hand():
    states = list(gradient_descent(lambda x: (x @ x) / 2, lambda x: x, [4.0, -2.0], eta=1.0))
    np.testing.assert_array_equal([s.x for s in states], [[4, -2], [0, 0]])
    assert [s.objective for s in states] == [10, 0]
    assert [s.gradient_norm for s in states] == [np.sqrt(20), 0]  # and there it ends
    assert np.isnan(states[0].eta) and states[1].eta == 1


@pytest.mark.claims("optimization-07")
def test_gradient_descent_on_a_strictly_convex_function_ends_in_one_point(rng):
    f, gradient, _, M = logistic(rng)
    x0 = 10 * rng.normal(size=(5, 3))
    ways = [gradient_descent(f, gradient, each, eta=1 / M) for each in x0]
    ends = [iterate(way, "gradient_norm", 1e-9, 20_000).state for way in ways]
    np.testing.assert_allclose([s.x for s in ends], [ends[0].x] * 5, rtol=1e-6, atol=1e-6)
    assert min(f(x) for x in ends[0].x + rng.normal(size=(500, 3))) > ends[0].objective


@pytest.mark.parametrize("smallest", [0.01, 0.5])
def test_gradient_descent_with_one_over_the_curvature_keeps_its_promises(rng, smallest):
    P, q, f, gradient = quadratic(rng, smallest=smallest)
    M, x0, x_star = np.linalg.eigvalsh(P)[-1], 5 * rng.normal(size=5), np.linalg.solve(P, -q)
    states = list(islice(gradient_descent(f, gradient, x0, eta=1 / M), 200))
    values = np.array([s.objective for s in states])
    norms = np.array([s.gradient_norm for s in states])
    assert (values[1:] <= values[:-1] - norms[:-1] ** 2 / (2 * M) + 1e-12).all()
    assert (values[1:] - f(x_star) <= descent_bound(M, x0, x_star, np.arange(1, 200))).all()
    distances = np.linalg.norm([s.x - x_star for s in states], axis=1)
    assert (distances <= distances[0] * (1 - smallest / M) ** np.arange(200) + 1e-12).all()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_gradient_descent_with_backtracking_descends_whatever_the_scale(rng, scale):
    P, q, f, gradient = quadratic(rng)
    states = gradient_descent(lambda x: scale * f(x), lambda x: scale * gradient(x), np.zeros(5))
    run = iterate(states, "gradient_norm", 1e-7 * scale, 500)
    assert run.converged and (np.diff(run.history) <= 1e-14 * scale).all()
    np.testing.assert_allclose(run.state.x, np.linalg.solve(P, -q), rtol=1e-6, atol=1e-6)


def test_gradient_descent_starts_each_search_from_twice_the_last_step_size():
    states = islice(gradient_descent(lambda x: x @ x / 128, lambda x: x / 64, [8.0]), 6)
    assert [s.eta for s in states][1:] == [1, 2, 4, 8, 16]
    states = gradient_descent(lambda x: 1e6 + 50 * x @ x, lambda x: 100 * x, [1.0])
    values = np.array([state.objective for state in islice(states, 99)])
    assert (np.diff(values) <= 0).all() and values[-1] == 1e6  # soon f cannot tell steps apart


def test_gradient_descent_ends_where_rounding_undoes_every_step():
    wrong = gradient_descent(lambda x: (x[0] - 0.1) ** 4, lambda x: np.array([1.0]), [0.1])
    run = iterate(wrong, "gradient_norm", 0, 1000)  # a gradient along which f does not fall
    assert run.converged and run.n_iter < 1000
    overflown = gradient_descent(lambda x: x[0] ** 2, lambda x: np.array([np.inf]), [1.0])
    with np.errstate(invalid="ignore"):
        run = iterate(overflown, "gradient_norm", 0, 1000)
    assert np.isnan(run.state.objective) and not run.converged  # no claim of a minimum


def test_backtrack_halves_until_f_falls_by_a_quarter_of_what_the_slope_promises():
    for curvature, eta in ((1.49, 1.0), (1.51, 0.5), (5.9, 0.25), (6.1, 0.125)):

        def f(x, curvature=curvature):
            return 5 + curvature * x**2 / 2 - x  # it falls by eta (1 - curvature eta / 2)

        assert backtrack(f, 0.0, 5.0, 1.0, -1.0) == (eta, eta, f(eta))
        assert backtrack(f, 0.0, 5.0, 0.5, -1.0, eta=2.0)[:2] == (2 * eta, eta)
    assert backtrack(np.cosh, 0.0, 1.0, 1.0, 0.0)[0] < 1e-7  # nowhere to go


def test_backtrack_steps_back_from_where_f_is_not_a_number():
    with np.errstate(invalid="ignore"):
        eta, x, _ = backtrack(lambda x: x - np.log(x), 1.5, 1.5 - np.log(1.5), -8.0, 1 / 3)
    assert 0 < x < 1.5 and eta < 0.25


# --- Stochastic gradient descent -------------------------------------------------------


def test_stochastic_gradient_descent_visits_every_term_once_in_a_pass(rng):
    seen = []

    def gradient(x, rows):
        seen.append(list(rows))
        return np.ones(1)

    options = {"eta": lambda k: 1.0 * k, "batch": 4, "rng": rng}
    states = stochastic_gradient_descent(lambda x: 0.0, gradient, [0.0], 10, **options)
    start, first, second = islice(states, 3)
    assert [len(rows) for rows in seen] == [4, 4, 2, 4, 4, 2]
    assert sorted(sum(seen[:3], [])) == sorted(sum(seen[3:], [])) == list(range(10))
    assert seen[:3] != seen[3:]
    assert first.x == -(1 + 2 + 3) and second.x == -(1 + 2 + 3 + 4 + 5 + 6)
    assert start.moved == np.inf and (first.moved, second.moved) == (6, 15)


# --- Newton's method -------------------------------------------------------------------


def test_newton_solves_a_quadratic_in_one_step(rng):
    P, q, f, gradient = quadratic(rng, smallest=1e-3, largest=1e3)
    start, first = islice(newton(f, gradient, lambda x: P, rng.normal(size=5)), 2)
    np.testing.assert_allclose(first.x, np.linalg.solve(P, -q), rtol=1e-9)
    assert start.decrement**2 / 2 == pytest.approx(start.objective - first.objective)
    assert first.eta == 1 and np.isnan(start.eta)


def test_newton_doubles_the_digits_and_needs_its_line_search(rng):
    f, gradient, hessian, _ = logistic(rng)
    check_hessian(gradient, hessian, rng.normal(size=3))
    run = iterate(newton(f, gradient, hessian, 30 * np.ones(3)), "decrement", 1e-10, 60)
    assert run.converged and run.n_iter < 30 and (np.diff(run.history) <= 1e-9).all()
    tail = [s.decrement for s in islice(newton(f, gradient, hessian, np.zeros(3)), 6)]
    assert all(b < 2 * a**2 for a, b in zip(tail[2:], tail[3:], strict=False) if a > 1e-7)
    x = 30 * np.ones(3)
    for _ in range(3):  # the full steps of IRHD (3.10) leave for ever
        x = x - np.linalg.solve(hessian(x), gradient(x))
    assert f(x) > 5 * f(30 * np.ones(3))


def test_newton_ends_where_rounding_hides_the_fall_of_f():
    for seed in range(30):  # for 16 the full step near the end seems to raise f
        f, gradient, hessian, _ = logistic(np.random.default_rng(seed))
        states = list(newton(f, gradient, hessian, np.ones(3)))
        assert len(states) < 12 and np.linalg.norm(gradient(states[-1].x)) < 1e-12
        assert states[-1].eta == 1
        assert (np.diff([state.objective for state in states]) < 1e-14).all()
        assert all(state.objective == f(state.x) for state in states)


@pytest.mark.claims("optimization-07")
def test_newton_goes_on_for_ever_on_a_strictly_convex_function_without_a_minimum():
    way = newton(lambda x: np.exp(x[0]), np.exp, lambda x: np.exp(x)[:, None], [0.0])
    states = list(islice(way, 30))
    np.testing.assert_allclose([s.x[0] for s in states], -np.arange(30.0))
    assert all(s.objective > 0 for s in states) and states[-1].objective < 1e-12


def test_newton_takes_its_direction_from_solve(rng):
    P, q, f, gradient = quadratic(rng)
    halved = newton(f, gradient, lambda x: 2.0, np.zeros(5), solve=lambda H, g: g / H)
    start, first = islice(halved, 2)
    np.testing.assert_allclose(first.x, -first.eta * q / 2)
    assert start.decrement == pytest.approx(np.sqrt(q @ q / 2))


@pytest.mark.parametrize("H", [np.diag([1.0, -2.0]), np.zeros((2, 2)), np.diag([1.0, 0.0])])
def test_newton_direction_goes_downhill_where_the_hessian_is_not_positive_definite(rng, H):
    for g in rng.normal(size=(20, 2)):
        assert g @ newton_direction(H, g) < 0
    for scale in (1e-9, 1e9):  # the shift is relative to H
        p = newton_direction(scale * H, scale * g) if H.any() else newton_direction(H, g)
        np.testing.assert_allclose(p, newton_direction(H, g), rtol=1e-9)
    with pytest.raises(ValueError, match="H must be symmetric"):
        newton_direction(H + [[0.0, 1.0], [0.0, 0.0]], g)


def test_newton_direction_shifts_by_the_first_power_of_ten_that_is_enough():
    p = newton_direction(np.diag([1.0, -0.03]), np.ones(2))  # 1e-8, ..., 0.01 / 2 are too small
    np.testing.assert_allclose(p, [-1 / 1.1, -1 / 0.07])
    np.testing.assert_allclose(newton_direction(np.zeros((1, 1)), np.ones(1)), [-1e8])


# --- Projected gradient ----------------------------------------------------------------


def test_project_ball_is_the_nearest_point_and_stays(rng):
    others = rng.normal(size=(300, 4))
    others *= 2 * rng.uniform(0.7, 1, size=(300, 1)) / np.linalg.norm(others, axis=1)[:, None]
    for x in 3 * rng.normal(size=(20, 4)):
        nearest = project_ball(x, 2.0)
        assert ((others - nearest) @ (x - nearest) <= 1e-12).all()  # an obtuse angle
        assert np.linalg.norm(nearest) <= 2 + 1e-12
        np.testing.assert_allclose(project_ball(nearest, 2.0), nearest, rtol=1e-12)
    np.testing.assert_array_equal(project_ball(np.array([0.3, 0.0])), [0.3, 0])


def test_projected_gradient_finds_the_nonnegative_least_squares(rng):
    for _ in range(5):
        A, y, x0 = rng.normal(size=(12, 4)), rng.normal(size=12), 5 * rng.normal(size=4)
        problem = quadratic_program(A.T @ A, -A.T @ y)
        eta, positive = 1 / np.linalg.norm(A, ord=2) ** 2, partial(np.maximum, 0)
        way = problem.f, problem.gradient, positive, x0
        start, after = islice(projected_gradient(*way, eta=eta), 2)
        np.testing.assert_array_equal(start.x, positive(x0))
        np.testing.assert_allclose(after.x, positive(start.x - eta * problem.gradient(start.x)))
        assert start.mapping_norm == pytest.approx(np.linalg.norm(after.x - start.x) / eta)
        run = iterate(projected_gradient(*way, eta=eta), "mapping_norm", 1e-10, 5000)
        assert run.converged and (np.diff(run.history) <= 1e-12).all()
        exact, _ = enumerate_qp(problem.P, problem.q, G=np.eye(4), h=np.zeros(4))
        np.testing.assert_allclose(run.state.x, exact, rtol=1e-8, atol=1e-8)


@pytest.mark.claims("optimization-11")
def test_lagrangian_gradient_on_the_sphere_is_0_at_the_eigenvectors_alone(rng):
    B = rng.normal(size=(5, 5))
    S = B @ B.T
    values, vectors = np.linalg.eigh(S)
    sphere = Problem(
        f=lambda w: w @ S @ w,
        gradient=lambda w: 2 * S @ w,
        c=lambda w: np.array([w @ w - 1]),
        jacobian=lambda w: 2 * w[None],
        p=1,
    )
    for value, w in zip(values, vectors.T, strict=True):
        residuals = kkt_residuals(sphere, w, np.array([value]))  # L = w^T S w + lam (1 - w^T w)
        assert max(residuals) < 1e-10 * values[-1]
        assert max_norm(lagrangian_gradient(sphere, w, np.array([value + 0.1]))) > 0.05
    for w in rng.normal(size=(300, 5)):
        w = w / np.linalg.norm(w)
        assert values[0] <= w @ S @ w <= values[-1]
        assert np.linalg.norm(lagrangian_gradient(sphere, w, np.array([w @ S @ w]))) > 1e-3


@pytest.mark.claims("optimization-26")
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_projected_gradient_on_the_ball_finds_the_solution_with_a_penalty(rng, penalty):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    w = np.linalg.solve(X.T @ X + penalty * np.eye(4), X.T @ y)
    k = w @ w if penalty else 1.1 * w @ w  # without penalty, a ball that contains the minimiser
    ball = Problem(
        f=lambda w: np.sum((y - X @ w) ** 2),
        gradient=lambda w: 2 * X.T @ (X @ w - y),
        c=lambda w: np.array([k - w @ w]),
        jacobian=lambda w: -2 * w[None],
    )
    project, eta = partial(project_ball, radius=np.sqrt(k)), 1 / (2 * np.linalg.norm(X, ord=2) ** 2)
    states = projected_gradient(ball.f, ball.gradient, project, np.zeros(4), eta=eta)
    reached = iterate(states, "mapping_norm", 1e-9, 5000).state.x
    np.testing.assert_allclose(reached, w, rtol=1e-5, atol=1e-5)
    assert max(kkt_residuals(ball, w, np.array([penalty]))) < 1e-8  # it is the multiplier
    assert max(kkt_residuals(ball, w, np.array([penalty + 0.1]))) > 1e-3


# --- Constraints -----------------------------------------------------------------------


def stack(P, q, A=None, b=None, G=None, h=None):
    """C and c of the constraints, and how many of them are equalities."""
    _, _, A, b, G, h = quadratic_program(P, q, A, b, G, h)
    return np.vstack([A, G]), np.concatenate([b, h]), len(b)


def enumerate_qp(P, q, A=None, b=None, G=None, h=None, tol=1e-7):
    """The best KKT point (x, lam) of a small quadratic program, over all sets of active rows."""
    C, c, p = stack(P, q, A, b, G, h)
    best, d = (np.inf, None, None), len(q)
    for size in range(min(len(c) - p, d) + 1):  # more rows would depend on each other
        for chosen in combinations(range(p, len(c)), size):
            rows = [*range(p), *chosen]
            K = np.zeros((d + len(rows), d + len(rows)))
            K[:d, :d], K[:d, d:], K[d:, :d] = P, -C[rows].T, C[rows]
            right = np.concatenate([-q, c[rows]])
            point = np.linalg.lstsq(K, right, rcond=1e-11)[0]
            if np.abs(K @ point - right).max() > tol * (1 + np.abs(point).max()):
                continue
            x, lam = point[:d], np.zeros(len(c))
            lam[rows] = point[d:]
            slack = C @ x - c
            if slack[p:].min(initial=0) < -tol or lam[p:].min(initial=0) < -tol:
                continue
            best = min(best, (x @ P @ x / 2 + q @ x, x, lam), key=lambda each: each[0])
    return best[1], best[2]


def random_qp(rng, d=3, p=1, m=5, rank=None, tight=0.3):
    """A program with a solution: P of that rank, a feasible point, a dual feasible one.

    The share `tight` of the inequalities is active at the feasible point.
    """
    B = rng.normal(size=(d, d if rank is None else rank))
    x, A, G = rng.normal(size=d), rng.normal(size=(p, d)), rng.normal(size=(m, d))
    h = G @ x - rng.random(m) * (rng.random(m) >= tight)
    q = -B @ rng.normal(size=B.shape[1]) + A.T @ rng.normal(size=p) + G.T @ rng.random(m)
    return B @ B.T, q, A, A @ x, G, h


def feasible_points(rng, A, G, h, x, n=400):
    """Random points on feasible segments that start at the feasible point x."""
    N = np.linalg.svd(A, full_matrices=True)[2][np.linalg.matrix_rank(A) :]
    V = rng.normal(size=(n, len(N))) @ N
    steps, room = -V @ G.T, np.maximum(G @ x - h, 0)
    reach = np.where(steps > 0, room / np.where(steps > 0, steps, 1), 5.0).min(axis=1)
    V, reach = V[reach > 1e-6], reach[reach > 1e-6]
    return x + (rng.random(len(V)) * np.minimum(reach, 5.0))[:, None] * V


def violation(problem, x):
    residuals = kkt_residuals(problem, x, np.zeros(len(problem.c(x))))
    return max(residuals.equality, residuals.inequality)


@pytest.fixture
def solved(rng):
    """Ten small convex programs as (program, x, lam), solved by enumeration."""
    programs = [
        quadratic_program(*random_qp(rng, rank=rank, m=6, tight=0))
        for rank in (3, 3, 3, 3, 3, 2, 2, 1, 1, 0)
    ]
    return [(program, *enumerate_qp(*program)) for program in programs]


@pytest.mark.claims("optimization-13")
def test_active_set_is_all_equalities_and_the_inequalities_that_bind(rng):
    for _ in range(20):
        P, q, A, _, G, _ = random_qp(rng, p=2, m=6)
        x, slack = rng.normal(size=3), rng.random(6) * (rng.random(6) < 0.5)
        problem = quadratic_program(P, q, A, A @ x, G, G @ x - slack)
        active = active_set(problem, x)
        np.testing.assert_array_equal(active, [0, 1, *np.flatnonzero(slack == 0) + 2])
        np.testing.assert_allclose(problem.c(x), [0, 0, *slack], atol=1e-12)
    one = quadratic_program(np.eye(1), np.zeros(1), G=np.eye(1), h=[1.0])
    near = [list(active_set(one, np.array([x]))) for x in (0.9, 1 - 9e-9, 1 + 9e-9, 1.1)]
    assert near == [[], [0], [0], []]  # violated is not active


@pytest.mark.claims("optimization-14")
def test_lagrangian_is_the_sum_of_the_notes_in_either_sign(rng):
    problem, x, lam = quadratic_program(*random_qp(rng, p=2, m=4)), *rng.normal(size=(2, 6))
    (P, q, A, b, G, h), x = problem, x[:3]
    f = sum(P[i, j] * x[i] * x[j] / 2 for i in range(3) for j in range(3)) + q @ x
    irhd = f - sum(lam[i] * (A[i] @ x - b[i]) for i in range(2))
    irhd -= sum(lam[2 + j] * (G[j] @ x - h[j]) for j in range(4))
    prnn = f - lam[:2] @ (A @ x - b) + sum(lam[2 + j] * (h[j] - G[j] @ x) for j in range(4))
    assert lagrangian(problem, x, lam) == pytest.approx(irhd) == pytest.approx(prnn)
    in_x, in_lam = lagrangian_gradient(problem, x, lam), -problem.c(x)
    check_gradient(lambda x: lagrangian(problem, x, lam), lambda _: in_x, x)
    check_gradient(lambda v: lagrangian(problem, x, v), lambda _: in_lam, lam)


@pytest.mark.claims("optimization-15")
def test_kkt_residuals_measure_a_condition_each(rng, solved):
    for problem, x, lam in solved:
        assert max(kkt_residuals(problem, x, lam)) < 1e-8
        assert not np.delete(lam, active_set(problem, x)).any()
        P, q, A, b, G, h = problem
        z, mu = x + rng.normal(size=3), lam + rng.normal(size=len(lam))
        residuals = kkt_residuals(problem, z, mu)
        stationarity = np.abs(P @ z + q - A.T @ mu[:1] - G.T @ mu[1:]).max()
        assert residuals.stationarity == pytest.approx(stationarity)
        assert residuals.equality == pytest.approx(np.abs(A @ z - b).max(), abs=1e-12)
        assert residuals.inequality == pytest.approx(max(0, (h - G @ z).max()))
        assert residuals.sign == max(0, -mu[1:].min())
        values = np.concatenate([A @ z - b, G @ z - h])
        assert residuals.complementarity == pytest.approx(np.abs(mu * values).max())


@pytest.mark.claims("optimization-16")
def test_kkt_residuals_are_never_0_without_a_constraint_qualification_and_0_for_many_linear_ones():
    problem = Problem(
        f=lambda x: x[0],
        gradient=lambda x: np.ones(1),
        c=lambda x: -(x**2),
        jacobian=lambda x: -2 * x[None],
    )
    assert violation(problem, np.zeros(1)) == 0 and violation(problem, np.array([0.1])) > 0
    for lam in np.linspace(-100, 100, 11):  # x = 0 is the only feasible point
        assert kkt_residuals(problem, np.zeros(1), np.array([lam])).stationarity == 1
    twice = quadratic_program([[2.0]], [0.0], G=[[1.0], [1.0]], h=[1.0, 1.0])  # x^2 on x >= 1
    for share in np.linspace(0, 1, 11):
        assert max(kkt_residuals(twice, np.ones(1), 2 * np.array([share, 1 - share]))) < 1e-15
    assert max(kkt_residuals(twice, np.ones(1), np.array([2.5, -0.5]))) == 0.5
    lam = solve_qp(*twice).lam
    assert lam.sum() == pytest.approx(2) and lam.min() >= 0


def least_stationarity(problem, x):
    """min ||gradient f - J^T lam|| over multipliers of the active constraints, >= 0 on I."""
    rows = active_set(problem, x)
    J, g = problem.jacobian(x)[rows], problem.gradient(x)
    signed = np.eye(len(rows))[rows >= problem.p]
    lam, _ = enumerate_qp(J @ J.T, -J @ g, None, None, signed, np.zeros(len(signed)))
    return np.linalg.norm(g - J.T @ lam)


@pytest.mark.claims("optimization-14", "optimization-17")
def test_a_kkt_point_of_a_convex_problem_is_its_minimum_and_lagrangians_lie_below_f(rng, solved):
    for problem, x, _ in solved:
        assert least_stationarity(problem, x) < 1e-8
        near = feasible_points(rng, problem.A, problem.G, problem.h, x)
        values = np.array([problem.f(z) for z in near])
        assert len(near) >= 3 and values.min() >= problem.f(x) - 1e-9
        for z in near[values > problem.f(x) + 1e-2][:20]:
            assert least_stationarity(problem, z) > 1e-4  # and no other point is one
        lam = np.concatenate([rng.normal(size=1), rng.exponential(size=6)])
        for z, value in zip(near, values, strict=True):
            assert violation(problem, z) < 1e-9
            assert lagrangian(problem, z, lam) <= value + 1e-9
            assert lagrangian(problem, z, -lam) >= value - 1e-9  # an inadmissible one


@pytest.mark.claims("optimization-17", "optimization-22")
def test_a_kkt_point_without_convexity_may_be_a_maximum_and_dual_functions_minus_infinity(rng):
    hill = quadratic_program([[-2.0]], [0.0], G=[[1.0], [-1.0]], h=[-1.0, -1.0])  # -x^2 on [-1, 1]
    values = [hill.f(np.array([x])) for x in np.linspace(-1, 1, 21)]
    assert max(kkt_residuals(hill, np.zeros(1), np.zeros(2))) == 0
    assert max(values) == hill.f(np.zeros(1)) == 0
    assert min(values) == -1  # PRNN: d* = p* = -1, without further hypotheses
    multipliers = rng.exponential(size=(50, 2))
    for reach in (10, 1e6):  # but every g(lam) is an infimum that is -inf
        g = dual_function(hill, multipliers, np.array([[-reach], [reach]]))
        assert (g < -0.5 * reach**2).all()
    assert all(quadratic_dual(lam, *hill) == -np.inf for lam in multipliers)


@pytest.mark.claims("optimization-18")
def test_a_constraint_is_active_or_has_multiplier_zero_or_both():
    for bound, x, lam, c in ((1, 1, 2, 0), (-1, 0, 0, 1), (0, 0, 0, 0)):  # x^2 on x >= bound
        program = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[bound])
        solution = solve_qp(*program)
        assert [solution.x[0], solution.lam[0]] == pytest.approx([x, lam], abs=1e-9)
        assert program.c(solution.x) == pytest.approx(c, abs=1e-9)
        assert max(kkt_residuals(program, np.array([x]), np.array([lam]))) == 0


def test_box_is_two_rows_for_each_finite_pair_of_bounds(rng):
    lower, upper = np.array([0.0, -np.inf, 1.0]), np.array([np.inf, np.inf, 4.0])
    G, h = box(lower, upper)
    assert G.shape == (3, 3)
    for x in 3 * rng.normal(size=(300, 3)):
        assert (G @ x >= h).all() == ((lower <= x) & (x <= upper)).all()
    for nonsense in (np.nan, np.inf):  # as a lower bound: no row must not be the answer
        with pytest.raises(ValueError, match="h must be finite"):
            solve_qp(np.eye(1), np.zeros(1), None, None, *box([nonsense], [np.inf]))


# --- Duality ---------------------------------------------------------------------------

GRID = np.linspace(-3, 3, 6001)[:, None]
WELLS = Problem(  # x^4 - 2 x^2 + 0.3 x on x >= 0
    f=lambda x: x[0] ** 4 - 2 * x[0] ** 2 + 0.3 * x[0],
    gradient=lambda x: 4 * x**3 - 4 * x + 0.3,
    c=lambda x: x,
    jacobian=lambda x: np.eye(1),
)
LOWEST = min(WELLS.f([x]) for x in np.roots([4, 0, -4, 0.3]).real if x >= 0)  # f' = 0, f < f(0)


@pytest.mark.claims("optimization-19")
def test_quadratic_dual_is_the_minimum_of_the_lagrangian(rng):
    for _ in range(10):
        problem, lam = quadratic_program(*random_qp(rng, p=2, m=4)), 3 * rng.normal(size=6)
        f, gradient = partial(lagrangian, problem), partial(lagrangian_gradient, problem)
        x = rng.normal(size=3)
        x = x - np.linalg.solve(problem.P, gradient(x, lam))  # Newton's step
        np.testing.assert_allclose(gradient(x, lam), 0, atol=1e-8)
        g = quadratic_dual(lam, *problem)
        assert g == pytest.approx(f(x, lam), rel=1e-8)
        assert dual_function(problem, lam, [x]) == pytest.approx(g, rel=1e-8)
        assert dual_function(problem, lam, rng.normal(size=(50, 3))) > g


@pytest.mark.claims("optimization-19")
def test_quadratic_dual_is_minus_infinity_where_the_lagrangian_has_no_bound():
    linear = {"P": np.zeros((2, 2)), "q": [1.0, 2.0], "G": np.eye(2), "h": np.zeros(2)}
    partly = {"P": np.diag([1.0, 0.0]), "q": [1.0, 0.0], "G": [[0.0, 1.0]], "h": [5.0]}
    for program, lam, g in (  # finite for q = G^T lam along what P sends to 0
        (linear, [1.0, 2.0], 0),
        (linear, [1.0, 1.9], -np.inf),
        (partly, [0.0], -0.5),
        (partly, [1.0], -np.inf),
    ):
        assert quadratic_dual(np.array(lam), **program) == g


@pytest.mark.claims("optimization-19")
@pytest.mark.parametrize("rank", [3, 1])
def test_quadratic_dual_does_not_depend_on_the_units_of_the_variables(rng, rank):
    B, unit = rng.normal(size=(3, rank)), np.array([1e-8, 1.0, 1e10])
    P, q, G, lam = B @ B.T, B @ rng.normal(size=rank), rng.normal(size=(1, rank)) @ B.T, np.ones(1)
    plain = quadratic_dual(lam, P, q, G=G, h=[0.5])
    P, q, G = unit[:, None] * P * unit, unit * q, unit * G
    assert quadratic_dual(lam, P, q, G=G, h=[0.5]) == pytest.approx(plain, rel=1e-9)
    assert rank == 3 or quadratic_dual(lam, P, q + [0, 1, 0], G=G, h=[0.5]) == -np.inf


@pytest.mark.claims("optimization-19")
def test_dual_function_is_concave_even_of_a_problem_that_is_not_convex(rng):
    lam = rng.uniform(-20, 20, size=(2, 200, 1))
    ends, middle = dual_function(WELLS, lam, GRID), dual_function(WELLS, lam.mean(axis=0), GRID)
    assert (middle - ends.mean(axis=0)).min() >= -1e-12
    assert np.isfinite(ends).all()
    assert convexity_gap(lambda x: WELLS.f([x]), -1.0, 1.0, 0.5) == -1  # f itself is not convex


@pytest.mark.claims("optimization-20")
def test_dual_functions_of_admissible_multipliers_stay_below_the_primal_value(rng, solved):
    for problem, x, _ in solved:
        lam = np.column_stack([rng.normal(size=(100, 1)), rng.exponential(size=(100, 6))])
        assert max(quadratic_dual(each, *problem) for each in 3 * lam) <= problem.f(x) + 1e-9
    assert dual_function(WELLS, np.linspace(0, 30, 301)[:, None], GRID).max() <= LOWEST
    wrong_sign = quadratic_dual(np.array([-1.0]), [[2.0]], [0.0], G=[[1.0]], h=[-1.0])
    assert wrong_sign == 0.75 > 0  # p* of x^2 on x >= -1


@pytest.mark.claims("optimization-21")
def test_strong_duality_and_the_saddle_point(rng, solved):
    for problem, x, lam in solved:
        value, scale = problem.f(x), 1 + abs(problem.f(x))
        assert violation(problem, x) < 1e-8 and lam[len(problem.b) :].min() >= -1e-8
        nearby = x + 0.1 * rng.normal(size=(200, len(x)))
        lowest = dual_function(problem, lam, np.vstack([x, nearby]))
        four = [value, lagrangian(problem, x, lam), lowest, quadratic_dual(lam, *problem)]
        np.testing.assert_allclose(four, value, rtol=1e-7, atol=1e-7 * scale)
        for z in nearby:  # L(x*, lam) <= L(x*, lam*) <= L(x, lam*)
            assert lagrangian(problem, z, lam) >= value - 1e-8 * scale
        for other in rng.exponential(size=(200, len(lam))):
            assert lagrangian(problem, x, other) <= value + 1e-7 * scale
        worse = lam + np.abs(rng.normal(size=len(lam)))
        assert quadratic_dual(worse, *problem) < value - 1e-6


def test_relative_kkt_error_is_the_largest_of_three_quotients(rng, solved):
    for program, x, lam in solved:
        assert relative_kkt_error(program, x, lam) < 1e-10
        P, q, A, b, G, h = program
        C, c, _ = stack(*program)
        z, mu = x + rng.normal(size=3) / 9, lam + rng.random(size=7) / 9
        pull = np.abs(P) @ abs(z) + abs(q) + np.abs(C).T @ abs(mu)
        stationarity = max_norm(P @ z + q - C.T @ mu) / max(pull)
        outside = np.append(A @ z - b, np.minimum(G @ z - h, 0))
        infeasible = max_norm(outside) / max(np.abs(C) @ abs(z) + abs(c))
        gap = abs(z @ P @ z + q @ z - c @ mu) / (abs(z @ P @ z) + abs(q @ z) + abs(c @ mu))
        largest = max(stationarity, infeasible, gap)
        assert relative_kkt_error(program, z, mu) == pytest.approx(largest, rel=1e-3)


@pytest.mark.claims("optimization-15", "optimization-23")
def test_a_multiplier_of_an_equality_may_be_negative_or_the_dual_has_a_gap():
    program = quadratic_program([[2.0]], [0.0], A=[[1.0]], b=[-1.0])  # x^2 on x + 1 = 0: p* = 1
    lam = np.linspace(-5, 5, 101)
    g = np.array([quadratic_dual(np.array([each]), *program) for each in lam])
    np.testing.assert_allclose(g, -(lam**2) / 4 - lam, rtol=1e-12, atol=1e-12)
    assert g.max() == pytest.approx(1) and lam[g.argmax()] == pytest.approx(-2)
    assert g[lam >= 0].max() == pytest.approx(0)  # as printed, lam_i >= 0 for all i
    assert max(kkt_residuals(program, -np.ones(1), np.array([-2.0]))) == 0
    assert solve_qp(*program).lam == pytest.approx(-2)


@pytest.mark.claims("optimization-24")
def test_the_primal_value_is_an_infimum_over_feasible_points_only(rng):
    x1, x2 = rng.normal(size=(2, 3))
    P, G = np.diag([1.0, 1, 1, 0]), [[*x1, 1.0], [*-x2, -1.0]]  # y (w^T x + b) >= 1, two samples
    solution, value = solve_qp(P, np.zeros(4), G=G, h=np.ones(2)), 2 / np.sum((x1 - x2) ** 2)
    assert solution.objective == pytest.approx(value) and abs(solution.gap) < 1e-9 * value
    assert solve_qp(P, np.zeros(4)).objective == 0 < value  # inf_z f(z)


@pytest.mark.claims("optimization-25")
def test_dual_function_of_a_problem_that_is_not_convex_can_leave_a_gap():
    lam = np.linspace(0, 2, 2001)
    g = dual_function(WELLS, lam[:, None], GRID)
    assert g.max() == pytest.approx(-1, abs=1e-6) and lam[g.argmax()] == pytest.approx(0.3)
    assert dual_function(WELLS, np.array([0.3]), [[-1.0], [1.0]]) == -1  # both wells at once
    assert pytest.approx(-0.706, abs=1e-3) == LOWEST


# --- Interior point method -------------------------------------------------------------


def test_interior_point_follows_the_path_to_the_solution(rng):
    P, q, _, _, G, h = random_qp(rng, d=6, m=12)
    states, solution = list(interior_point(P, q, G, h)), solve_qp(P, q, G=G, h=h)
    program = quadratic_program(P, q, G=G, h=h)
    for state in states:
        assert state.lam.min() > 0 and state.slack.min() > 0
        assert state.objective == pytest.approx(state.x @ P @ state.x / 2 + q @ state.x)
        assert state.residual == relative_kkt_error(program, state.x, state.lam)
    assert len(states) < 25 and states[-1].residual < 1e-10
    np.testing.assert_allclose(states[-1].x, solution.x, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(states[-1].lam, solution.lam, rtol=1e-6, atol=1e-6)
    late = states[6]  # it meets the linear equations, and so the gap is that of the dual
    exact = quadratic_dual(late.lam, P, q, G=G, h=h)
    assert late.objective - exact == pytest.approx(late.gap, abs=1e-3)
    spread = [s.lam * s.slack for s in states[3:-2]]  # near the central path: no product lags
    assert all(products.min() > 1e-4 * products.mean() for products in spread)


def newton_by_the_book(P, q, G, h, x, lam, slack, aim):
    """The three Newton equations of the interior point method as one system in dx, dlam, ds."""
    m, d = G.shape
    K = np.zeros((d + 2 * m, d + 2 * m))
    K[:d, :d], K[:d, d : d + m] = P, -G.T
    K[d : d + m, :d], K[d : d + m, d + m :] = G, -np.eye(m)
    K[d + m :, d : d + m], K[d + m :, d + m :] = np.diag(slack), np.diag(lam)
    right = [-(P @ x + q - G.T @ lam), -(G @ x - slack - h), aim - lam * slack]
    return np.split(np.linalg.solve(K, np.concatenate(right)), [d, d + m])


def test_interior_point_takes_the_steps_of_mehrotra():
    for seed in range(5):
        P, q, _, _, G, h = random_qp(np.random.default_rng(seed), d=4, m=9, rank=2)
        states = list(islice(interior_point(P, q, G, h), 6))
        for before, after in zip(states, states[1:], strict=False):
            now = (before.x, before.lam, before.slack)
            _, lam, s = now
            _, dlam, ds = affine = newton_by_the_book(P, q, G, h, *now, 0.0)
            ours = interior_step(P, q, G, h, *now, aim=0.0)
            for a, b in zip(ours, affine, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
            eta = longest_step(lam, dlam, s, ds)
            mu, shrunk = np.mean(lam * s), np.mean((lam + eta * dlam) * (s + eta * ds))
            steps = newton_by_the_book(P, q, G, h, *now, (shrunk / mu) ** 3 * mu - dlam * ds)
            eta = 0.99 * longest_step(lam, steps[1], s, steps[2])
            for old, step, new in zip(now, steps, after, strict=False):
                np.testing.assert_allclose(new, old + eta * step, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("inside", [True, False])
def test_interior_start_is_the_penalised_minimum_pushed_inside(rng, inside):
    P, q, _, _, G, h = random_qp(rng, m=7)
    h = h - 100 * inside
    x, lam, s = interior_start(P, q, G, h)
    np.testing.assert_allclose(P @ x + q + G.T @ (G @ x - h), 0, atol=1e-8)
    for pushed, plain in ((lam, h - G @ x), (s, G @ x - h)):
        shift = 0 if plain.min() > 0 else 1 - plain.min()
        np.testing.assert_allclose(pushed, plain + shift, rtol=1e-9)
    _, lam, s = interior_start(np.zeros((1, 1)), np.zeros(1), np.ones((1, 1)), np.zeros(1))
    assert lam == 1 and s == 1  # also where the boundary would do
    _, lam, s = interior_start(2 * np.eye(1), np.zeros(1), np.eye(1), -np.ones(1))
    assert lam == 1 and s == pytest.approx(2 / 3)  # inside: it stays


def test_longest_step_stops_at_the_boundary_and_at_1():
    lam, s = np.array([1.0, 2.0]), np.array([4.0, 1.0])
    assert longest_step(lam, np.array([-2.0, 0.0]), s, np.array([-5.0, 3.0])) == 0.5
    assert longest_step(lam, np.array([0.5, -1.0]), s, np.array([-10.0, 0.0])) == 0.4
    assert longest_step(lam, np.array([0.5, -1.0]), s, np.zeros(2)) == 1


@pytest.mark.parametrize("unit", [1, 1e9])
def test_interior_point_ends_without_a_constraint_that_binds(unit):
    states = list(interior_point([[2 * unit]], [0], [[1]], [-1]))  # unit x^2 on x >= -1
    assert len(states) < 25 and states[-1].x == pytest.approx(0, abs=1e-12)


# --- The solver ------------------------------------------------------------------------


def assert_optimal(parts, solution, tol=1e-9):
    """The KKT conditions and the gap, computed afresh and relative to the terms they sum."""
    (P, q, *_), (C, c, p) = parts, stack(*parts)
    x, lam = solution.x, solution.lam
    terms = np.abs(P) @ np.abs(x) + np.abs(q) + np.abs(C.T) @ np.abs(lam)
    assert max_norm(P @ x + q - C.T @ lam) <= tol * max_norm(terms)
    rows = np.abs(C) @ np.abs(x) + np.abs(c)
    assert (np.abs(C @ x - c)[:p] <= tol * rows[:p]).all()
    room = np.maximum(rows[p:], max_norm(x) * np.abs(C[p:]).max(axis=1))
    assert ((c - C @ x)[p:] <= tol * room).all()
    assert (lam[p:] >= 0).all()
    f, g = x @ P @ x / 2 + q @ x, c @ lam - x @ P @ x / 2
    weight = abs(q) @ abs(x) + abs(c) @ abs(lam) + abs(x) @ abs(P) @ abs(x)
    assert abs(f - g) <= tol * (abs(f) + 1e-3 * weight)
    assert solution.objective == pytest.approx(f, rel=1e-9, abs=1e-12 * weight)
    assert abs(solution.gap - (f - g)) <= 1e-12 * weight
    assert solution.residual <= tol


def in_other_units(parts, columns, rows, cost):
    """The program in y = x / columns, its constraints times rows and its objective times cost."""
    (P, q, *_), (C, c, p) = parts, stack(*parts)
    C, c = rows[:, None] * C * columns, rows * c
    return cost * columns[:, None] * P * columns, cost * columns * q, C[:p], c[:p], C[p:], c[p:]


def degenerate_qp(rng, rank=0, d=3, m=8):
    """Nearly all inequalities active at a solution, few of them with a multiplier."""
    B, x = rng.normal(size=(d, rank)), rng.normal(size=d)
    A, G = rng.normal(size=(1, d)), rng.normal(size=(m, d))
    lam = np.where(rng.random(m) < 0.3, rng.random(m), 0)
    h = G @ x - np.where(lam > 0, 0, rng.random(m) * (rng.random(m) < 0.2))
    return B @ B.T, A.T @ rng.normal(size=1) + G.T @ lam - B @ B.T @ x, A, A @ x, G, h


def repeated_rows(rng):
    P, q, A, b, G, h = random_qp(rng, d=4, p=2, m=4, rank=2)
    mix = rng.normal(size=(2, 2))
    A, b = np.vstack([A, A, mix @ A, np.zeros((1, 4))]), np.concatenate([b, b, mix @ b, [0.0]])
    return P, q, A, b, np.vstack([G, G[:2]]), np.concatenate([h, h[:2]])


def equalities_as_pairs(rng):
    P, q, A, b, G, h = random_qp(rng, d=3, p=1, m=4, rank=2)
    return P, q, None, None, np.vstack([G, A, -A]), np.concatenate([h, b, -b])


def svm_dual(rng, n=7, C=1.0, gamma=None, repeats=False):
    """The dual of a soft margin in the plane, linear or with a Gaussian kernel."""
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1.0, -1.0)
    X = X + 0.5 * y[:, None]
    if repeats:
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], y[: n - n // 2]
    squared = ((X[:, None] - X) ** 2).sum(axis=-1)
    K = X @ X.T if gamma is None else np.exp(-gamma * squared)
    G, h = box(np.zeros(n), np.full(n, C))
    return y[:, None] * K * y, -np.ones(n), y[None], np.zeros(1), G, h


SMALL = {
    "strictly convex": random_qp,
    "singular": lambda rng: random_qp(rng, rank=1, m=6),
    "linear": lambda rng: random_qp(rng, rank=0, m=7),
    "degenerate vertex": degenerate_qp,
    "degenerate and curved": lambda rng: degenerate_qp(rng, rank=2),
    "repeated rows": repeated_rows,
    "equalities as pairs": equalities_as_pairs,
    "one variable": lambda rng: random_qp(rng, d=1, p=0, m=rng.integers(1, 5)),
    "as many equalities as variables": lambda rng: random_qp(rng, p=3),
    "soft margin": lambda rng: svm_dual(rng, n=4, C=10 ** rng.uniform(-6, 4)),
}


@pytest.mark.claims("optimization-15")
@pytest.mark.parametrize("kind", SMALL)
def test_solve_qp_finds_what_enumeration_finds(kind):
    for seed in range(30):
        parts = SMALL[kind](np.random.default_rng(seed))
        solution = solve_qp(*parts)
        assert_optimal(parts, solution)
        x, _ = enumerate_qp(*parts)
        value = x @ parts[0] @ x / 2 + parts[1] @ x
        assert solution.objective == pytest.approx(value, rel=1e-6, abs=1e-9)


LARGE = {
    "strictly convex": lambda rng: random_qp(rng, d=200, p=20, m=300),
    "linear, degenerate": lambda rng: degenerate_qp(rng, d=60, m=150),
    "soft margin, wide": lambda rng: svm_dual(rng, n=200, C=1e6),
    "flat kernel": lambda rng: svm_dual(rng, n=200, C=100.0, gamma=1e-3),
    "kernel, repeated samples": lambda rng: svm_dual(rng, n=200, C=10.0, gamma=1.0, repeats=True),
}


@pytest.mark.claims("optimization-15", "optimization-21")
@pytest.mark.parametrize("kind", LARGE)
def test_solve_qp_solves_for_hundreds_of_variables(kind):
    parts = LARGE[kind](np.random.default_rng(0))
    assert_optimal(parts, solve_qp(*parts))


@pytest.mark.parametrize("rank", [3, 2, 0])
def test_solve_qp_does_not_depend_on_the_units_of_variables_constraints_and_cost(rank):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        parts = random_qp(rng, rank=rank, m=7)
        columns, rows, cost = (10.0 ** rng.uniform(-4, 4, size) for size in (3, 8, None))
        other = in_other_units(parts, columns, rows, cost)
        plain, scaled = solve_qp(*parts), solve_qp(*other)
        assert_optimal(other, scaled)
        assert scaled.objective == pytest.approx(cost * plain.objective, rel=1e-9)
        if rank == 3:  # and so unique
            np.testing.assert_allclose(columns * scaled.x, plain.x, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e-12, 1e150])
def test_solve_qp_finds_a_solution_far_from_1(unit):
    at = solve_qp([[2.0]], [0.0], G=[[1.0]], h=[unit])  # x^2 on x >= unit
    np.testing.assert_allclose([at.x[0], at.lam[0]], [unit, 2 * unit], rtol=1e-12)
    free = solve_qp([[1.0]], [-unit], G=[[1.0]], h=[unit / 2])
    np.testing.assert_allclose(free.x, unit, rtol=1e-12)
    assert free.lam == 0
    small = solve_qp([[2.0]], [0.0], G=[[1 / unit]], h=[1.0])
    np.testing.assert_allclose(small.x, unit, rtol=1e-12)


@pytest.mark.parametrize("ridge", [1e-12, 1e-16, 1e-100])
def test_solve_qp_of_a_linear_program_with_a_slight_ridge_is_that_without(ridge):
    for seed in range(10):
        P, q, *rest = random_qp(np.random.default_rng(seed), p=seed % 2, m=7, rank=0)
        solution = solve_qp(P + ridge * np.eye(3), q, *rest)
        assert_optimal((P + ridge * np.eye(3), q, *rest), solution)
        assert solution.objective == pytest.approx(solve_qp(P, q, *rest).objective, rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1e-17, 1e-12, 1e-8])
def test_solve_qp_of_numbers_too_far_apart_gives_the_right_answer_or_none(noise):
    answers = 0
    for seed in range(20):  # the nearest point of a cone G x >= 0, but for the noise
        rng = np.random.default_rng(seed)
        G, point, moved = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=5)
        G *= np.sign(G.sum(axis=1))[:, None]  # (1, 1, 1) is inside
        nearest, _ = enumerate_qp(np.eye(3), -point, None, None, G, np.zeros(5))
        try:
            x = solve_qp(np.eye(3), -point, None, None, G, noise * moved).x
        except ValueError as refusal:
            assert "the numbers of the program must be of similar size" in str(refusal)
            continue
        np.testing.assert_allclose(x, nearest, rtol=0, atol=1e-7)
        answers += 1
    assert answers > 3 and (noise or answers == 20)


def test_solve_qp_has_multipliers_exactly_0_off_the_active_set(rng):
    solution = solve_qp(*svm_dual(rng, n=60, gamma=1.0))
    alpha, lower, upper = solution.x, solution.lam[1:61], solution.lam[61:]
    assert not (lower * upper).any()
    inside = (alpha > 1e-9) & (alpha < 1 - 1e-9)
    assert 2 < inside.sum() < 58 and not lower[inside].any() and not upper[inside].any()
    assert (lower[alpha < 1e-9] > 0).all() and (upper[alpha > 1 - 1e-9] > 0).all()


@pytest.mark.parametrize("rank", [6, 3])
def test_solve_qp_without_inequalities_solves_a_linear_system(rng, rank):
    P, q, A, b, _, _ = random_qp(rng, d=6, p=2, m=0, rank=rank)
    solution = solve_qp(P, q, A, b)
    np.testing.assert_allclose(P @ solution.x + q, A.T @ solution.lam, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(A @ solution.x, b, rtol=1e-9, atol=1e-9)


def test_solve_qp_gives_one_of_many_minimisers():
    flat = solve_qp(np.zeros((2, 2)), [1.0, 1.0], G=[[1.0, 1.0], [1.0, 0], [0, 1.0]], h=[1.0, 0, 0])
    assert flat.objective == pytest.approx(1) and flat.x.min() >= 0
    for h in (1.0, 0.0):
        nothing = solve_qp(np.zeros((2, 2)), np.zeros(2), G=np.eye(2), h=np.full(2, h))
        assert nothing.objective == 0 and nothing.x.min() >= h and not nothing.lam.any()
    idle = solve_qp([[0.0]], [0.0], G=[[0.0]], h=[-1.0])  # 0 >= -1, and no other number
    assert idle.objective == 0 and idle.lam == 0


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"P": [[1.0, 0.0], [0.0, -1e-12]]}, "got an eigenvalue -1e-12"),  # whatever x_2's unit
        ({"q": [np.nan, 1.0]}, "q must be finite"),
        ({"G": [[1.0, 1.0]]}, "G must have shape (0, 2); got (1, 2)"),  # without h
    ],
)
def test_solve_qp_refuses_what_does_not_fit(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        solve_qp(**({"P": np.eye(2), "q": np.zeros(2)} | wrong))


# --- Without a solution ----------------------------------------------------------------


def infeasible_qp(rng, d=3, p=1, m=6):
    """y is drawn first, then constraints that it contradicts: C^T y = 0, c^T y > 0."""
    C, c = rng.normal(size=(p + m, d)), rng.normal(size=p + m)
    y = np.concatenate([rng.normal(size=p), rng.random(m) * (rng.random(m) < 0.7)])
    y[-1] = 1.0
    C[-1] -= C.T @ y
    c[-1] += 10 ** rng.uniform(-3, 1) - c @ y
    B = rng.normal(size=(d, rng.integers(0, d + 1)))
    return B @ B.T, rng.normal(size=d), C[:p], c[:p], C[p:], c[p:]


def unbounded_qp(rng, d=4, p=1, m=5):
    """v is drawn first, then a program that falls along it."""
    v, x = rng.normal(size=d), rng.normal(size=d)
    B, A, G = rng.normal(size=(d, 1)), rng.normal(size=(p, d)), rng.normal(size=(m, d))
    B, A = B - np.outer(v, v @ B) / (v @ v), A - np.outer(A @ v, v) / (v @ v)
    G *= np.where(G @ v < 0, -1, 1)[:, None]
    q = rng.normal(size=d)
    q -= v * (q @ v + 10 ** rng.uniform(-3, 1)) / (v @ v)
    return B @ B.T, q, A, A @ x, G, G @ x - rng.random(m)


def in_random_units(make, decades):
    """Thirty programs, their variables and constraints measured in units of up to that size."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        parts = make(rng)
        columns = 10.0 ** rng.uniform(-decades, decades, len(parts[1]))
        rows = 10.0 ** rng.uniform(0, decades, len(parts[3]) + len(parts[5]))
        yield in_other_units(parts, columns, rows, 1.0)


@pytest.mark.parametrize("decades", [0, 3])
def test_solve_qp_proves_that_constraints_contradict_each_other(decades):
    for parts in in_random_units(infeasible_qp, decades):
        with pytest.raises(InfeasibleError, match="must have a common point") as e:
            solve_qp(*parts)
        C, c, p = stack(*parts)
        y = e.value.certificate
        assert np.linalg.norm(y) == pytest.approx(1) and y[p:].min() >= -1e-12
        assert (np.abs(C.T @ y) <= 1e-9 * (np.abs(C.T) @ np.abs(y))).all()
        assert c @ y > 1e-9 * (np.abs(c) @ np.abs(y))


@pytest.mark.parametrize("decades", [0, 3])
def test_solve_qp_proves_that_the_objective_has_no_bound(decades):
    for P, q, A, b, G, h in in_random_units(unbounded_qp, decades):
        with pytest.raises(UnboundedError, match="the objective must be bounded below") as e:
            solve_qp(P, q, A, b, G, h)
        v = e.value.direction
        assert np.linalg.norm(v) == pytest.approx(1) and q @ v < 0
        for M in (P, A):
            assert (np.abs(M @ v) <= 1e-9 * (np.abs(M) @ np.abs(v))).all()
        assert (G @ v >= -1e-9 * (np.abs(G) @ np.abs(v))).all()


def test_solve_qp_without_inequalities_proves_that_there_is_no_solution(rng):
    A = rng.normal(size=(2, 4))
    with pytest.raises(InfeasibleError) as e:
        solve_qp(np.eye(4), np.zeros(4), np.vstack([A, A[0] + A[1]]), [1.0, 1.0, 2.5])
    y = e.value.certificate
    np.testing.assert_allclose(y / y[2], [-1, -1, 1], rtol=1e-9, atol=1e-9)
    with pytest.raises(UnboundedError) as e:
        solve_qp(np.diag([1.0, 0.0]), [0.0, 3.0])
    np.testing.assert_allclose(e.value.direction, [0, -1], rtol=1e-12, atol=1e-12)
    with pytest.raises(InfeasibleError):  # no point at all comes first
        solve_qp(np.zeros((2, 2)), [0.0, 1.0], A=[[1.0, 0.0], [1.0, 0.0]], b=[0.0, 1.0])


def test_solve_qp_recognises_a_slight_contradiction_and_its_proof_goes_to_another_process():
    for P, overlap in ((0.0, 1e-8), (1.0, 1e-8), (0.0, 1e-6), (1.0, 1e-6)):
        with pytest.raises(InfeasibleError) as e:
            solve_qp([[P]], [0.0], G=[[1.0], [-1.0]], h=[1.0 + overlap, -1.0])
        copy = pickle.loads(pickle.dumps(e.value))
        np.testing.assert_allclose(copy.certificate, np.sqrt([0.5, 0.5]), rtol=1e-9)
        assert str(copy) == str(e.value)


# --- Separation ------------------------------------------------------------------------


def assert_in_hull(points, u):
    """Whether u is a convex combination of the points, of which few are given."""
    M = np.vstack([points.T, np.ones(len(points))])
    weights = np.linalg.lstsq(M, np.append(u, 1), rcond=None)[0]
    np.testing.assert_allclose(M @ weights, np.append(u, 1), rtol=1e-8, atol=1e-8)
    assert weights.min() >= -1e-8


@pytest.mark.claims("optimization-12")
@pytest.mark.parametrize("d", [1, 2, 6])
def test_separating_hyperplane_at_the_closest_points_separates_the_hulls(rng, d):
    for _ in range(10):
        apart, X, Y = rng.normal(size=d), rng.normal(size=(9, d)), rng.normal(size=(7, d))
        overlap = np.max(Y @ apart) - np.min(X @ apart)
        X = X + (overlap + 0.5) / (apart @ apart) * apart
        (u, v, distance), (w, b) = closest_points(X, Y), separating_hyperplane(X, Y)
        assert distance == pytest.approx(np.linalg.norm(u - v)) and distance > 0
        np.testing.assert_allclose(w, u - v)
        for points, nearest in ((X, u), (Y, v)):
            assert_in_hull(points[np.abs((points - nearest) @ w) < 1e-7], nearest)
        assert (X @ w + b >= w @ w / 2 - 1e-9).all() and (Y @ w + b <= -w @ w / 2 + 1e-9).all()
        shifted = closest_points(X + 1e6, Y + 1e6)
        assert shifted.distance == pytest.approx(distance, rel=1e-6)


@pytest.mark.claims("optimization-12")
def test_closest_points_of_hulls_that_meet_have_distance_0_and_no_hyperplane():
    triangle = np.array([[0.0, 0], [4, 0], [0, 4]])
    for other in ([[1.0, 1.0]], [[2.0, 2.0], [5, 5]], triangle[::-1], triangle / 2):
        u, v, distance = closest_points(triangle, np.array(other))
        assert distance == 0
        np.testing.assert_array_equal(u, v)
        assert u.min() >= -1e-7 and u.sum() <= 4 + 1e-7  # in the triangle
        assert len(other) > 1 or u == pytest.approx([1, 1])
        with pytest.raises(ValueError, match="convex hulls without a common point"):
            separating_hyperplane(triangle, np.array(other))
    far = closest_points(triangle, np.array([[2.0, 2.0 + 1e-6]]))
    assert far.distance == pytest.approx(1e-6 / np.sqrt(2), rel=1e-6)


@pytest.mark.claims("optimization-12")
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_closest_points_do_not_depend_on_the_unit(scale):
    X, Y = np.array([[1.0, 0], [1, 4]]), np.array([[3.0, 2]])
    u, v, distance = closest_points(scale * X, scale * Y)
    np.testing.assert_allclose([u / scale, v / scale], [[1, 2], [3, 2]], rtol=1e-9)
    assert distance / scale == pytest.approx(2)
    assert closest_points(100 * X.astype(np.int16), Y.astype(np.int16)).u.dtype == np.float64


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("optimization-27")
def test_contour_drawn_touches_the_disc_at_the_ridge_solution():
    from figures.optimization import PENALTY, regression, touching_the_disc

    (ax,) = panels(touching_the_disc)
    X, y = regression()
    w = np.linalg.solve(X.T @ X + PENALTY * np.eye(2), X.T @ y)
    dots = [line.get_xydata()[0] for line in ax.lines]
    assert min(np.linalg.norm(dot - w) for dot in dots) < 1e-9
    rim = ax.patches[0].get_xy()
    np.testing.assert_allclose(np.linalg.norm(rim, axis=1), np.linalg.norm(w), rtol=1e-9)
    least = np.sum((y - X @ w) ** 2)
    assert ((y - rim @ X.T) ** 2).sum(axis=1).min() >= least - 1e-9  # the disc is outside
    contours = [path.vertices for lines in ax.collections for path in lines.get_paths()]
    touching = min(contours, key=lambda path: np.linalg.norm(path - w, axis=1).min())
    np.testing.assert_allclose(((y - touching @ X.T) ** 2).sum(axis=1), least, rtol=1e-2)
    assert np.linalg.norm(touching - w, axis=1).min() < 0.02
    gradient = 2 * X.T @ (X @ w - y)  # from the contact to the centre
    assert gradient @ w == pytest.approx(-np.linalg.norm(gradient) * np.linalg.norm(w))
