"""The optimization chapter: every statement of the notes, checked by a second route."""

import pickle
import re
import warnings
from itertools import combinations, islice, permutations

import numpy as np
import pytest
from checks import check_gradient, check_hessian
from matplotlib.figure import Figure

from mlnotes import optimization
from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.decision_theory import absolute_subdifferential
from mlnotes.optimization import (
    InfeasibleError,
    Problem,
    UnboundedError,
    active_set,
    backtrack,
    box,
    closest_points,
    constraints,
    convexity_gap,
    descent_bound,
    dual_function,
    gradient_descent,
    indicator,
    interior_point,
    kkt_residuals,
    lagrangian,
    lagrangian_gradient,
    newton,
    newton_direction,
    project_ball,
    project_sphere,
    projected_gradient,
    quadratic_dual,
    quadratic_program,
    segment,
    separating_hyperplane,
    smallest_gap,
    solve_qp,
    stochastic_gradient_descent,
    subdifferential,
    violation,
)

ROUNDING = 1e-12


def log_loss(t):
    return np.logaddexp(0, -t)


def sigmoid(t):
    return (1 + np.tanh(t / 2)) / 2


def logistic(rng, n=40, d=3, ridge=0.1):
    """f, gradient and hessian of a strictly convex loss: log-loss of n samples and a ridge."""
    X = rng.normal(size=(n, d))
    Z = X * np.sign(X[:, :1] + 0.5 * rng.normal(size=(n, 1)))

    def f(w):
        return log_loss(Z @ w).sum() + ridge / 2 * w @ w

    def gradient(w):
        return -Z.T @ sigmoid(-Z @ w) + ridge * w

    def hessian(w):
        return (Z.T * (sigmoid(Z @ w) * sigmoid(-Z @ w))) @ Z + ridge * np.eye(d)

    return f, gradient, hessian


def quadratic(rng, d=5, smallest=0.5, largest=8.0):
    """P with these extreme eigenvalues, q, and f, gradient of 1/2 x^T P x + q^T x."""
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    P = (Q * np.linspace(smallest, largest, d)) @ Q.T
    q = rng.normal(size=d)
    return (P + P.T) / 2, q, lambda x: x @ P @ x / 2 + q @ x, lambda x: P @ x + q


# ---------------------------------------------------------------------------------------
# Convexity
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("optimization-01")
def test_gap_of_the_square_is_a_product_and_positive_only_inside(rng):
    x1, x2, t = rng.normal(size=(2, 100)) * 5, rng.normal(size=(2, 100)), rng.uniform(size=(2, 100))
    gap = convexity_gap(np.square, x1, x2, t)
    np.testing.assert_allclose(gap, t * (1 - t) * (x1 - x2) ** 2, rtol=1e-7, atol=ROUNDING)
    assert gap.min() > 0


@pytest.mark.claims("optimization-01")
def test_absolute_value_is_convex_but_not_strictly(rng):
    x1, x2, t = rng.uniform(0, 5, size=(3, 100)) / [[1], [1], [5]]
    np.testing.assert_allclose(convexity_gap(np.abs, x1, x2, t), 0, rtol=1e-7, atol=ROUNDING)
    np.testing.assert_allclose(convexity_gap(np.abs, -x1, -x2, t), 0, rtol=1e-7, atol=ROUNDING)
    across = convexity_gap(np.abs, -x1, x2, t)
    assert across.min() > 0
    np.testing.assert_allclose(
        across, 2 * np.minimum(t * x2, (1 - t) * x1), rtol=1e-7, atol=ROUNDING
    )


@pytest.mark.claims("optimization-01")
@pytest.mark.parametrize(
    "f, convex",
    [(np.square, True), (np.abs, True), (log_loss, True), (np.sin, False), (np.sign, False)],
)
def test_sampled_gaps_tell_convex_functions_from_others(rng, f, convex):
    found = smallest_gap(f, np.linspace(-4, 4, 201), rng=rng)
    assert (found.gap >= -ROUNDING) == convex
    assert found.gap == convexity_gap(f, found.x1, found.x2, found.t)


@pytest.mark.claims("optimization-01")
def test_sampled_segments_tell_convex_sets_from_others(rng):
    X = rng.uniform(-2, 2, size=(2000, 2))
    for inside, convex in (
        (lambda X: np.linalg.norm(X, axis=-1) <= 1, True),
        (lambda X: X @ [1.0, 2.0] >= 0.5, True),
        (lambda X: np.abs(np.linalg.norm(X, axis=-1) - 1.5) <= 0.5, False),
    ):
        found = smallest_gap(lambda X, inside=inside: indicator(inside(X)), X[inside(X)], rng=rng)
        assert found.gap == (0 if convex else -np.inf)
        between = segment(found.x1, found.x2, found.t)
        assert inside(found.x1) and inside(found.x2) and inside(between) == convex


def test_segment_takes_one_t_or_one_for_each_row(rng):
    x1, x2, t = rng.normal(size=(7, 3)), rng.normal(size=(7, 3)), rng.uniform(size=7)
    rows = [(1 - s) * a + s * b for a, b, s in zip(x1, x2, t, strict=True)]
    np.testing.assert_allclose(segment(x1, x2, t), rows)
    np.testing.assert_allclose(segment(x1, x2, 0.3)[4], 0.7 * x1[4] + 0.3 * x2[4])
    np.testing.assert_array_equal(segment(x1, x2, 0.0), x1)
    np.testing.assert_array_equal(segment(x1, x2, 1.0), x2)


@pytest.mark.claims("optimization-02")
def test_strict_inequality_can_hold_only_inside_a_chord_of_two_points():
    x = np.array([-3.0, -0.5, 0.0, 2.0])
    for t in (0.0, 1.0):  # as printed, t may be an end, and the strict inequality fails
        assert (convexity_gap(np.square, x[:, None], x, t) == 0).all()
    for t in (0.25, 0.5):
        gap = convexity_gap(np.square, x[:, None], x, t)
        assert (np.diag(gap) == 0).all()  # as printed, x_1 may be x_2
        assert (gap[~np.eye(4, dtype=bool)] > 0).all()


@pytest.mark.claims("optimization-03")
def test_reciprocal_is_convex_on_the_positive_numbers_alone(rng):
    for x in (0.3, 1.0, 7.0):
        check_gradient(lambda x: 1 / x, lambda x: -1 / x**2, x)
        check_gradient(lambda x: -1 / x**2, lambda x: 2 / x**3, x)
        assert 2 / x**3 > 0
    assert smallest_gap(np.reciprocal, np.linspace(0.01, 10, 500), rng=rng).gap >= -ROUNDING
    gap = convexity_gap(np.reciprocal, -1.0, -3.0, 0.5)
    assert gap == pytest.approx(-1 / 6)  # -1/2 - 1/6 + 1/2
    assert convexity_gap(np.reciprocal, -1.0, 3.0, 0.3) < 0  # a set with both signs


def convex_functions(seed):
    """A quadratic (perhaps singular) and an affine function of the plane, and points of it."""
    rng = np.random.default_rng(seed)
    B, q, a = rng.normal(size=(2, rng.integers(1, 3))), rng.normal(size=2), rng.normal(size=2)
    X = 3 * rng.normal(size=(300, 2))
    return lambda X: ((X @ B) ** 2).sum(axis=-1) + X @ q, lambda X: X @ a + 0.3, X


@pytest.mark.claims("optimization-04")
@pytest.mark.parametrize("seed", range(10))
def test_maximum_and_sum_stay_convex(rng, seed):
    f, g, X = convex_functions(seed)
    assert smallest_gap(lambda X: np.maximum(f(X), g(X)), X, rng=rng).gap >= -1e-10
    assert smallest_gap(lambda X: f(X) + g(X), X, rng=rng).gap >= -1e-10


@pytest.mark.claims("optimization-04")
def test_minimum_and_difference_need_not_be_convex():
    lower = convexity_gap(lambda x: np.minimum((x - 1) ** 2, (x + 1) ** 2), -1.0, 1.0, 0.5)
    assert lower == -1
    assert convexity_gap(lambda x: x**2 - 2 * x**2, -1.0, 1.0, 0.5) == -1


@pytest.mark.claims("optimization-05")
@pytest.mark.parametrize("seed", range(10))
def test_convex_and_non_decreasing_of_convex_is_convex(rng, seed):
    f, _, X = convex_functions(seed)
    for g in (lambda t: np.exp(t / 20), lambda t: np.maximum(t, 0) ** 2):
        outer = [g(f(x)) for x in (X[0], X[1])]
        found = smallest_gap(lambda X, g=g: g(f(X)), X, rng=rng)
        assert found.gap >= -1e-10 * max(1, *outer)


@pytest.mark.claims("optimization-05")
def test_the_composition_needs_both_conditions_on_the_outer_function():
    not_monotone = convexity_gap(lambda x: (x**2 - 1) ** 2, -1.0, 1.0, 0.5)
    assert not_monotone == -1  # t^2 falls on t < 0, where x^2 - 1 goes
    not_convex = convexity_gap(lambda x: np.sqrt(np.abs(x)), 0.0, 1.0, 0.25)
    assert not_convex == -0.25  # 1/4 - 1/2


LOSSES = {  # phi and its second derivative; the hinge has none at its kink
    "log-loss": (log_loss, lambda t: sigmoid(t) * sigmoid(-t)),
    "hinge": (lambda t: np.maximum(0, 1 - t), None),
    "square": (np.square, lambda t: np.full_like(t, 2.0)),
    "exp": (np.exp, np.exp),
}


@pytest.mark.claims("optimization-06")
@pytest.mark.parametrize("name", LOSSES)
def test_convex_of_affine_is_convex(rng, name):
    phi, second = LOSSES[name]
    A, c = rng.normal(size=(6, 3)), rng.normal(size=6)

    def loss(W):
        return phi(W @ A.T + c).sum(axis=-1)

    assert smallest_gap(loss, rng.normal(size=(300, 3)), rng=rng).gap >= -1e-10
    if second is not None:
        w, h = rng.normal(size=3), 1e-3
        H = (A.T * second(A @ w + c)) @ A
        assert np.linalg.eigvalsh(H)[0] > 0
        for v in rng.normal(size=(5, 3)):
            numeric = (loss(w + h * v) - 2 * loss(w) + loss(w - h * v)) / h**2
            assert numeric == pytest.approx(v @ H @ v, rel=1e-3)


@pytest.mark.claims("optimization-06")
def test_log_loss_decreases_and_so_the_rule_of_compositions_does_not_cover_it():
    t = np.linspace(-5, 5, 101)
    assert (np.diff(log_loss(t)) < 0).all()
    h = 1e-4
    second = (log_loss(h**2) - 2 * log_loss(0.0) + log_loss(h**2)) / h**2
    assert second == pytest.approx(-1, rel=1e-6)  # of log_loss(x^2) at 0: 2 (-1/2)
    assert convexity_gap(lambda x: log_loss(x**2), -0.5, 0.5, 0.5) < -0.1


@pytest.mark.claims("optimization-07")
def test_descent_on_a_strictly_convex_function_ends_in_one_point(rng):
    f, gradient, _ = logistic(rng)
    ends = [
        iterate(gradient_descent(f, gradient, 10 * x0), "gradient_norm", 1e-9, 5000).state
        for x0 in rng.normal(size=(10, 3))
    ]
    assert max(end.gradient_norm for end in ends) <= 1e-9
    np.testing.assert_allclose([end.x for end in ends], [ends[0].x] * 10, rtol=1e-6, atol=1e-6)
    assert min(f(x) for x in ends[0].x + rng.normal(size=(500, 3))) > ends[0].objective


@pytest.mark.claims("optimization-07")
def test_a_strictly_convex_function_need_not_have_a_minimum(rng):
    def exp(x):
        return float(np.exp(x[0]))

    assert smallest_gap(np.exp, np.linspace(-5, 5, 99), pairs=200, rng=rng).gap >= 0
    assert convexity_gap(np.exp, -5.0, 5.0, 0.5) > 0
    states = list(islice(newton(exp, np.exp, lambda x: np.exp(x)[:, None], [0.0]), 30))
    np.testing.assert_allclose([s.x[0] for s in states], -np.arange(30.0))  # for ever downhill
    assert all(s.objective > 0 for s in states) and states[-1].objective < 1e-12


# ---------------------------------------------------------------------------------------
# Subgradients
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("optimization-08")
@pytest.mark.parametrize("n", [1, 2, 9, 10])
def test_zero_is_a_subgradient_of_the_mean_deviation_exactly_at_its_minimisers(rng, n):
    for _ in range(20):
        y = rng.integers(0, 12, size=n).astype(float)  # with ties
        grid = np.arange(-4, 53) / 4
        f = np.abs(y[:, None] - grid).mean(axis=0)
        minimisers = f <= f.min() + 1e-12
        intervals = [absolute_subdifferential(y, c) for c in grid]
        zero_inside = np.array([lower <= 0 <= upper for lower, upper in intervals])
        np.testing.assert_array_equal(zero_inside, minimisers)
        assert minimisers[grid == np.median(y)].all()


@pytest.mark.claims("optimization-08")
def test_subdifferential_of_the_mean_deviation_is_its_slopes_to_both_sides(rng):
    y = rng.integers(0, 6, size=15) / 2
    for c in np.arange(-2, 14) / 4:
        slopes = subdifferential(lambda c: np.abs(y - c).mean(), c, h=1e-3)
        np.testing.assert_allclose(absolute_subdifferential(y, c), slopes, rtol=1e-12, atol=1e-12)
        counts = (y < c).sum() - (y >= c).sum(), (y <= c).sum() - (y > c).sum()
        np.testing.assert_allclose(absolute_subdifferential(y, c), np.array(counts) / 15)


@pytest.mark.claims("optimization-08")
@pytest.mark.parametrize("c", [0.1, 123.456, 1e6, -1e12])
def test_one_sided_slopes_far_from_0_are_those_of_the_function(c):
    assert subdifferential(abs, c) == (np.sign(c), np.sign(c))  # and so c is no minimiser
    kink = subdifferential(lambda x: abs(x - c), c)
    assert kink == (-1.0, 1.0)


def test_every_slope_between_the_one_sided_ones_supports_the_function():
    def f(x):
        return max(x**2, 2 - x)  # a kink at 1, with slopes -1 and 2

    lower, upper = subdifferential(f, 1.0, h=1e-7)
    np.testing.assert_allclose([lower, upper], [-1, 2], rtol=1e-6, atol=1e-6)
    x = np.linspace(-3, 4, 57)
    below = [f(1.0) + s * (x - 1.0) for s in np.linspace(-1, 2, 7)]
    assert (np.maximum(x**2, 2 - x) >= np.array(below) - 1e-12).all()
    for steeper in (-1.01, 2.01):
        assert min(f(1 + d) - (f(1.0) + steeper * d) for d in (-1e-3, 1e-3)) < 0


# ---------------------------------------------------------------------------------------
# Gradient descent
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("optimization-09")
def test_the_loss_falls_along_the_negative_gradient_and_fastest_there(rng):
    f, gradient, _ = logistic(rng)
    w, h = rng.normal(size=3), 1e-6
    check_gradient(f, gradient, w)
    g = gradient(w)
    assert f(w + h * g) > f(w) > f(w - h * g)  # as printed, the step is +g
    units = np.vstack([rng.normal(size=(300, 3)), g, -g])
    units /= np.linalg.norm(units, axis=1)[:, None]
    slopes = [(f(w + h * u) - f(w - h * u)) / (2 * h) for u in units]
    assert np.argmin(slopes) == 301 and np.argmax(slopes) == 300
    np.testing.assert_allclose(slopes, units @ g, rtol=1e-6, atol=1e-6)
    assert slopes[301] == pytest.approx(-np.linalg.norm(g))


def test_descent_by_hand():
    states = list(gradient_descent(lambda x: (x @ x) / 2, lambda x: x, [4.0, -2.0], eta=1.0))
    np.testing.assert_array_equal([s.x for s in states], [[4, -2], [0, 0]])
    assert [s.objective for s in states] == [10, 0]
    assert [s.gradient_norm for s in states] == [np.sqrt(20), 0]  # and there it ends
    assert np.isnan(states[0].eta) and states[1].eta == 1


def test_with_one_over_the_curvature_descent_keeps_its_two_promises(rng):
    for smallest in (0.01, 0.5):
        P, q, f, gradient = quadratic(rng, smallest=smallest)
        M, x0, x_star = np.linalg.eigvalsh(P)[-1], 5 * rng.normal(size=5), np.linalg.solve(P, -q)
        states = list(islice(gradient_descent(f, gradient, x0, eta=1 / M), 200))
        values = np.array([s.objective for s in states])
        norms = np.array([s.gradient_norm for s in states])
        assert (values[1:] <= values[:-1] - norms[:-1] ** 2 / (2 * M) + 1e-12).all()
        bound = descent_bound(M, x0, x_star, np.arange(1, 200))
        assert (values[1:] - f(x_star) <= bound).all()
        kappa = M / smallest
        distances = np.linalg.norm([s.x - x_star for s in states], axis=1)
        assert (distances <= distances[0] * (1 - 1 / kappa) ** np.arange(200) + 1e-12).all()


def test_the_bound_of_descent_is_met_by_a_function_that_is_nearly_flat():
    M, k = 1.0, 50  # Huber's function with its kink just where k steps lead

    def f(x):
        return float(x[0] ** 2 / 2 if abs(x[0]) <= delta else delta * abs(x[0]) - delta**2 / 2)

    delta = 1 / (2 * k + 1)
    states = gradient_descent(f, lambda x: np.clip(x, -delta, delta), [1.0], eta=1 / M)
    reached = list(islice(states, k + 1))[-1].objective
    bound = descent_bound(M, np.array([1.0]), np.array([0.0]), k)
    assert 0.4 * bound < reached <= bound


@pytest.mark.parametrize("share, converges", [(1.0, True), (1.9, True), (2.1, False)])
def test_descent_diverges_beyond_twice_one_over_the_curvature(rng, share, converges):
    P, _, f, gradient = quadratic(rng)
    eta = share / np.linalg.eigvalsh(P)[-1]
    *_, last = islice(gradient_descent(f, gradient, np.ones(5), eta=eta), 400)
    assert (last.gradient_norm < 1e-6) == converges
    assert converges or last.gradient_norm > 1e6


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_backtracking_descends_whatever_the_scale(rng, scale):
    P, q, f, gradient = quadratic(rng)
    states = gradient_descent(lambda x: scale * f(x), lambda x: scale * gradient(x), np.zeros(5))
    run = iterate(states, "gradient_norm", 1e-7 * scale, 500)
    assert run.converged and (np.diff(run.history) <= 1e-14 * scale).all()
    np.testing.assert_allclose(run.state.x, np.linalg.solve(P, -q), rtol=1e-6, atol=1e-6)


def test_backtracking_comes_to_rest_where_f_cannot_tell_steps_apart():
    states = gradient_descent(lambda x: 1e6 + 50 * x @ x, lambda x: 100 * x, [1e-8])
    norms = [state.gradient_norm for state in islice(states, 300)]
    assert max(norms) > 1e-5 and norms[-1] < 1e-9  # thrown out at first, for 1e-4^2 is nothing


def test_descent_and_newton_go_on_down_to_rounding(rng):
    f, gradient, hessian = logistic(rng)
    *_, last = islice(gradient_descent(f, gradient, np.ones(3)), 1000)
    assert np.linalg.norm(gradient(last.x)) < 1e-12
    *_, last = newton(f, gradient, hessian, np.ones(3))
    assert np.linalg.norm(gradient(last.x)) < 1e-12


def test_backtracking_ends_where_rounding_undoes_every_step():
    run = iterate(
        gradient_descent(lambda x: (x[0] - 0.1) ** 4, lambda x: np.array([1.0]), [0.1]),
        "gradient_norm",
        0,
        1000,
    )  # a gradient that is wrong: no step goes down
    assert run.converged and run.n_iter < 1000


def test_backtrack_takes_the_first_length_that_lowers_f_enough():
    eta, x, value = backtrack(np.cosh, 2.0, np.cosh(2.0), -10 * np.sinh(2.0), np.sinh(2.0))
    tried = 2.0 ** -np.arange(10)
    fall = np.cosh(2.0) - np.cosh(2.0 - 10 * tried * np.sinh(2.0))
    enough = fall >= optimization.SUFFICIENT * tried * 10 * np.sinh(2.0) ** 2
    assert eta == tried[np.argmax(enough)] < 1
    assert x == 2.0 - 10 * eta * np.sinh(2.0) and value == np.cosh(x)
    assert backtrack(np.cosh, 0.0, 1.0, 1.0, 0.0)[0] < 1e-7  # nowhere to go


def test_backtrack_steps_back_from_where_f_is_not_a_number():
    with np.errstate(invalid="ignore"):
        eta, x, _ = backtrack(lambda x: -np.log(x), 1.0, 0.0, direction=8.0, gradient=-1.0)
        assert (eta, x) == (1.0, 9.0)
        eta, x, _ = backtrack(lambda x: x - np.log(x), 1.5, 1.5 - np.log(1.5), -8.0, 1 / 3)
    assert 0 < x < 1.5 and eta < 0.25


def test_backtracking_refuses_what_is_not_finite():
    overflown = gradient_descent(lambda x: x[0] ** 2, lambda x: np.array([np.inf]), [1.0])
    assert next(overflown).gradient_norm == np.inf
    message = "x and direction must be finite; they contain NaN or infinity"
    with pytest.raises(ValueError, match=message):
        next(overflown)
    for x, direction in ((np.nan, 1.0), (np.array([0.0, 1.0]), np.array([1.0, np.nan]))):
        with pytest.raises(ValueError, match=message):
            backtrack(np.sum, x, 0.0, direction, direction)


def test_stochastic_descent_with_the_whole_batch_is_descent(rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)

    def f(w):
        return np.mean((X @ w - y) ** 2) / 2

    def gradient(w, rows=slice(None)):
        return X[rows].T @ (X[rows] @ w - y[rows]) / len(y[rows])

    whole = stochastic_gradient_descent(f, gradient, np.ones(3), 20, eta=0.1, batch=20, rng=rng)
    plain = gradient_descent(f, gradient, np.ones(3), eta=0.1)
    for a, b in islice(zip(whole, plain, strict=False), 6):
        np.testing.assert_allclose(a.x, b.x, rtol=1e-12)
        assert a.objective == pytest.approx(b.objective)
    one_by_one = np.mean([gradient(np.ones(3), [i]) for i in range(20)], axis=0)
    np.testing.assert_allclose(one_by_one, gradient(np.ones(3)), rtol=1e-12)


def test_stochastic_descent_visits_every_term_once_in_a_pass(rng):
    seen = []

    def gradient(x, rows):
        seen.append(list(rows))
        return np.ones(1)

    states = stochastic_gradient_descent(
        lambda x: 0.0, gradient, [0.0], 10, eta=lambda k: 1.0 * k, batch=4, rng=rng
    )
    start, first, second = islice(states, 3)
    assert [len(rows) for rows in seen] == [4, 4, 2, 4, 4, 2]
    assert sorted(sum(seen[:3], [])) == sorted(sum(seen[3:], [])) == list(range(10))
    assert seen[:3] != seen[3:]
    assert first.x == -(1 + 2 + 3) and second.x == -(1 + 2 + 3 + 4 + 5 + 6)
    assert start.moved == np.inf and (first.moved, second.moved) == (6, 15)


def test_stochastic_descent_rests_with_falling_steps_and_wanders_with_constant_ones(rng):
    y = rng.normal(size=200)

    def distances(eta, passes=30):
        states = stochastic_gradient_descent(
            lambda x: np.mean((x - y) ** 2) / 2,
            lambda x, rows: x - y[rows].mean(),
            [5.0], 200, eta=eta, rng=np.random.default_rng(0),
        )  # fmt: skip
        return [abs(s.x[0] - y.mean()) for s in islice(states, passes)]

    assert distances(lambda k: 1 / k)[-1] < 1e-12  # means of all samples, at the end of a pass
    far, near = (np.mean(distances(eta)[10:]) for eta in (0.4, 0.04))
    assert 1e-3 < near < far / 2


# ---------------------------------------------------------------------------------------
# Newton's method
# ---------------------------------------------------------------------------------------


def test_newton_solves_a_quadratic_in_one_step(rng):
    P, q, f, gradient = quadratic(rng, smallest=1e-3, largest=1e3)
    start, first = islice(newton(f, gradient, lambda x: P, rng.normal(size=5)), 2)
    np.testing.assert_allclose(first.x, np.linalg.solve(P, -q), rtol=1e-9)
    assert start.decrement**2 / 2 == pytest.approx(start.objective - first.objective)
    assert first.eta == 1


def test_newton_doubles_the_digits_and_needs_its_line_search(rng):
    f, gradient, hessian = logistic(rng)
    check_hessian(gradient, hessian, rng.normal(size=3))
    run = iterate(newton(f, gradient, hessian, 30 * np.ones(3)), "decrement", 1e-10, 60)
    assert run.converged and run.n_iter < 30 and (np.diff(run.history) <= 1e-9).all()
    tail = [s.decrement for s in islice(newton(f, gradient, hessian, np.zeros(3)), 6)]
    assert all(b < 2 * a**2 for a, b in zip(tail[2:], tail[3:], strict=False) if a > 1e-7)
    x = 30 * np.ones(3)
    for _ in range(3):  # the full steps of IRHD (3.10) leave for ever
        x = x - np.linalg.solve(hessian(x), gradient(x))
    assert f(x) > 5 * f(30 * np.ones(3))


def test_newton_does_not_mind_a_change_of_coordinates(rng):
    f, gradient, hessian = logistic(rng)
    T = rng.normal(size=(3, 3)) * [1e-3, 1.0, 1e3]
    plain = list(islice(newton(f, gradient, hessian, T @ np.ones(3)), 6))
    other = list(
        islice(
            newton(
                lambda z: f(T @ z),
                lambda z: T.T @ gradient(T @ z),
                lambda z: T.T @ hessian(T @ z) @ T,
                np.ones(3),
            ),
            6,
        )
    )
    np.testing.assert_allclose([T @ s.x for s in other], [s.x for s in plain], rtol=1e-5)
    np.testing.assert_allclose(
        [s.decrement for s in other], [s.decrement for s in plain], rtol=1e-5
    )


@pytest.mark.parametrize("H", [np.diag([1.0, -2.0]), np.zeros((2, 2)), np.diag([1.0, 0.0])])
def test_newton_goes_downhill_where_the_hessian_is_not_positive_definite(rng, H):
    for g in rng.normal(size=(20, 2)):
        assert g @ newton_direction(H, g) < 0
    for scale in (1e-9, 1e9):  # the shift is relative to H
        p = newton_direction(scale * H, scale * g) if H.any() else newton_direction(H, g)
        np.testing.assert_allclose(p, newton_direction(H, g), rtol=1e-9)
    full = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(newton_direction(full, g), -np.linalg.inv(full) @ g)


def test_newton_finds_a_minimum_from_a_saddle_of_a_function_that_is_not_convex():
    def f(x):
        return x[0] ** 4 / 4 - x[0] ** 2 / 2 + x[1] ** 2

    run = iterate(
        newton(
            f,
            lambda x: np.array([x[0] ** 3 - x[0], 2 * x[1]]),
            lambda x: np.diag([3 * x[0] ** 2 - 1, 2.0]),
            [0.1, 3.0],
        ),
        "decrement", 1e-9, 60,
    )  # fmt: skip
    np.testing.assert_allclose(run.state.x, [1, 0], rtol=1e-8, atol=1e-8)


def test_newton_refuses_a_hessian_that_is_not_finite():
    with pytest.raises(ValueError, match="H must be finite; it contains NaN or infinity"):
        newton_direction(np.array([[np.nan]]), np.array([1.0]))


# ---------------------------------------------------------------------------------------
# Projected gradient
# ---------------------------------------------------------------------------------------


def test_projections_are_nearest_points_and_stay(rng):
    for x in 3 * rng.normal(size=(20, 4)):
        others = rng.normal(size=(300, 4))
        others /= np.linalg.norm(others, axis=1)[:, None]
        sphere, ball = project_sphere(x, 2.0), project_ball(x, 2.0)
        assert (np.linalg.norm(x - 2 * others, axis=1) >= np.linalg.norm(x - sphere)).all()
        inner = 2 * others * rng.uniform(size=(300, 1))
        assert (np.linalg.norm(x - inner, axis=1) >= np.linalg.norm(x - ball) - 1e-12).all()
        np.testing.assert_allclose(project_sphere(sphere, 2.0), sphere, rtol=1e-12)
        np.testing.assert_allclose(project_ball(ball, 2.0), ball, rtol=1e-12)
    inside = np.array([0.3, 0.0])
    np.testing.assert_array_equal(project_ball(inside), [0.3, 0.0])
    assert project_ball(inside) is not inside
    np.testing.assert_array_equal(project_ball(np.zeros(2), 0.0), [0, 0])
    for scale in (1e-150, 1e150):
        unit = project_sphere(scale * np.array([3.0, -4.0]), 5.0)
        np.testing.assert_allclose(unit, [3, -4], rtol=1e-12)
    with pytest.raises(ValueError, match="x must not be 0"):
        project_sphere(np.zeros(3))


@pytest.mark.parametrize("seed", range(5))
def test_projected_gradient_finds_the_nonnegative_least_squares(seed):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(12, 4)), rng.normal(size=12)
    P, q = A.T @ A, -A.T @ y
    eta = 1 / np.linalg.eigvalsh(P)[-1]
    states = projected_gradient(
        lambda x: x @ P @ x / 2 + q @ x,
        lambda x: P @ x + q,
        lambda x: np.maximum(x, 0),
        5 * rng.normal(size=4),
        eta=eta,
    )
    run = iterate(states, "mapping_norm", 1e-10, 5000)
    assert run.converged and (np.diff(run.history) <= 1e-12).all()
    exact, _ = enumerate_qp(P, q, G=np.eye(4), h=np.zeros(4))
    np.testing.assert_allclose(run.state.x, exact, rtol=1e-8, atol=1e-8)
    step = np.maximum(5 - eta * (P @ np.full(4, 5.0) + q), 0) - 5
    first = next(
        projected_gradient(
            lambda x: 0, lambda x: P @ x + q, lambda x: np.maximum(x, 0), np.full(4, 5.0), eta=eta
        )
    )
    assert first.mapping_norm == pytest.approx(np.linalg.norm(step) / eta)


@pytest.mark.claims("optimization-11")
def test_eigenvectors_are_the_stationary_points_on_the_sphere(rng):
    B = rng.normal(size=(5, 5))
    S = B @ B.T
    values, vectors = np.linalg.eigh(S)
    sphere = Problem(
        f=lambda w: w @ S @ w,
        gradient=lambda w: 2 * S @ w,
        equalities=lambda w: np.array([w @ w - 1]),
        equality_jacobian=lambda w: 2 * w[None],
    )
    for value, w in zip(values, vectors.T, strict=True):
        residuals = kkt_residuals(sphere, w, np.array([value]))  # L = w^T S w + lam (1 - w^T w)
        assert max(residuals) < 1e-10 * values[-1]
        assert w @ S @ w == pytest.approx(value)
        assert np.abs(lagrangian_gradient(sphere, w, np.array([value + 0.1]))).max() > 0.05
    for w in rng.normal(size=(300, 5)):
        w = w / np.linalg.norm(w)
        assert values[0] <= w @ S @ w <= values[-1]
        assert np.linalg.norm(lagrangian_gradient(sphere, w, np.array([w @ S @ w]))) > 1e-3


@pytest.mark.claims("optimization-11")
@pytest.mark.parametrize("sign, place", [(1, 0), (-1, -1)], ids=["smallest", "largest"])
def test_projected_gradient_on_the_sphere_reaches_the_extreme_eigenpair(rng, sign, place):
    B = rng.normal(size=(5, 5))
    S = B @ B.T
    values, vectors = np.linalg.eigh(S)
    states = projected_gradient(
        lambda w: sign * w @ S @ w,
        lambda w: 2 * sign * S @ w,
        project_sphere,
        rng.normal(size=5),
        eta=1 / (4 * values[-1]),
    )
    run = iterate(states, "mapping_norm", 1e-9, 20_000)
    assert run.converged
    assert sign * run.state.objective == pytest.approx(values[place], abs=1e-6)
    assert abs(run.state.x @ vectors[:, place]) == pytest.approx(1, abs=1e-6)


@pytest.mark.claims("optimization-26")
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_penalty_and_constraint_have_the_same_solution(rng, penalty):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    w = np.linalg.solve(X.T @ X + penalty * np.eye(4), X.T @ y)
    k = w @ w if penalty else 1.1 * w @ w  # without penalty, a ball that contains the minimiser

    def risk(w):
        return np.sum((y - X @ w) ** 2)

    def gradient(w):
        return 2 * X.T @ (X @ w - y)

    states = projected_gradient(
        risk,
        gradient,
        lambda w: project_ball(w, np.sqrt(k)),
        np.zeros(4),
        eta=1 / (2 * np.linalg.norm(X, ord=2) ** 2),
    )
    np.testing.assert_allclose(
        iterate(states, "mapping_norm", 1e-9, 5000).state.x, w, rtol=1e-5, atol=1e-5
    )
    ball = Problem(
        f=risk,
        gradient=gradient,
        inequalities=lambda w: np.array([k - w @ w]),
        inequality_jacobian=lambda w: -2 * w[None],
    )
    assert max(kkt_residuals(ball, w, np.array([penalty]))) < 1e-8
    lam = -gradient(w) @ w / (2 * w @ w)  # from gradient = -2 lam w
    assert lam == pytest.approx(penalty, abs=1e-8)


# ---------------------------------------------------------------------------------------
# Constraints
# ---------------------------------------------------------------------------------------


def stack(A, b, G, h, d):
    """C and c of the constraints, and how many of them are equalities."""
    A, b = (np.zeros((0, d)), np.zeros(0)) if A is None else (A, b)
    G, h = (np.zeros((0, d)), np.zeros(0)) if G is None else (G, h)
    return np.vstack([A, G]), np.concatenate([b, h]), len(b)


def enumerate_qp(P, q, A=None, b=None, G=None, h=None, tol=1e-7):
    """The best KKT point (x, lam) of a small quadratic program, over all sets of active rows."""
    C, c, p = stack(A, b, G, h, len(q))
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
            value = x @ P @ x / 2 + q @ x
            best = min(best, (value, x, lam), key=lambda found: found[0])
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


@pytest.fixture
def solved(rng):
    """Ten small convex programs as (parts, problem, x, lam), solved by enumeration."""
    found = []
    for rank in (3, 3, 3, 3, 3, 2, 2, 1, 1, 0):
        parts = random_qp(rng, rank=rank, m=6, tight=0)
        found.append((parts, quadratic_program(*parts), *enumerate_qp(*parts)))
    return found


@pytest.fixture
def margins(rng):
    """A hard-margin SVM: X (n, 2), y and its program in (w, b), y (X w + b) >= 1."""
    y = np.repeat([1.0, -1.0], 12)
    X = rng.normal(size=(24, 2)) + 3 * y[:, None]
    P, G = np.diag([1.0, 1.0, 0.0]), y[:, None] * np.column_stack([X, np.ones(24)])
    return X, y, quadratic_program(P, np.zeros(3), G=G, h=np.ones(24))


@pytest.mark.claims("optimization-13")
def test_active_set_is_all_equalities_and_the_inequalities_that_bind(rng):
    for _ in range(20):
        P, q, A, _, G, _ = random_qp(rng, p=2, m=6)
        x, slack = rng.normal(size=3), rng.random(6) * (rng.random(6) < 0.5)
        problem = quadratic_program(P, q, A, A @ x, G, G @ x - slack)
        assert violation(problem, x) < 1e-12
        np.testing.assert_array_equal(
            active_set(problem, x), [0, 1, *np.flatnonzero(slack == 0) + 2]
        )
        prnn = -G @ x + (G @ x - slack)  # a_j^T w + b_j <= 0, with a_j = -g_j and b_j = h_j
        np.testing.assert_allclose(constraints(problem, x)[2:], -prnn, rtol=1e-12, atol=1e-12)


def test_violation_is_the_largest_violation_of_a_constraint():
    problem = quadratic_program(np.eye(2), np.zeros(2), [[1.0, 0]], [1.0], np.eye(2), [0.0, 2.0])
    assert violation(problem, np.array([1.0, 2.0])) == 0
    assert violation(problem, np.array([-3.0, 9.0])) == 4
    assert violation(problem, np.array([6.0, 9.0])) == 5
    assert violation(problem, np.array([1.0, -3.0])) == 5


def test_a_point_that_is_not_a_number_is_not_feasible():
    G = {"G": np.eye(2), "h": np.ones(2)}
    for more in ({}, {"A": [[1.0, 0.0]], "b": [5.0]}):
        problem = quadratic_program(np.eye(2), np.zeros(2), **more, **G)
        for x in ([np.nan, 5.0], [5.0, np.nan]):
            assert np.isnan(violation(problem, np.array(x)))


@pytest.mark.parametrize(
    "function",
    [constraints, violation, active_set, lambda *given: kkt_residuals(*given, np.ones(2))],
)
def test_a_column_is_not_a_point(function):
    problem = quadratic_program(np.eye(2), np.zeros(2), G=np.eye(2), h=np.ones(2))
    function(problem, np.ones(2))
    with pytest.raises(ValueError, match=r"must be a vector, as x; got shape \("):
        function(problem, np.ones((2, 1)))


def test_active_set_needs_a_tolerance():
    problem = quadratic_program(np.eye(1), np.zeros(1), G=np.eye(1), h=[1.0])
    assert list(active_set(problem, np.array([1.5]), tol=0.5)) == [0]
    assert list(active_set(problem, np.array([0.5]), tol=0.5)) == [0]
    assert list(active_set(problem, np.array([1.6]), tol=0.5)) == []
    assert list(active_set(problem, np.array([0.4]), tol=0.5)) == []  # violated is not active
    for tol in (np.nan, -1.0, np.inf):
        with pytest.raises(ValueError, match="tol must be a number >= 0 and < inf; got"):
            active_set(problem, np.ones(1), tol=tol)


@pytest.mark.claims("optimization-13")
def test_active_constraints_of_an_svm_are_the_samples_on_the_margin_hyperplanes(margins):
    X, y, problem = margins
    solution = solve_qp(problem.P, problem.q, G=problem.C, h=problem.c)
    w, b = solution.x[:2], solution.x[2]
    distances = np.abs(X @ w + b) / np.linalg.norm(w)
    on_margin = np.flatnonzero(np.isclose(distances, 1 / np.linalg.norm(w), rtol=1e-9))
    np.testing.assert_array_equal(active_set(problem, solution.x), on_margin)
    assert 2 <= len(on_margin) <= 3 and distances.min() == pytest.approx(1 / np.linalg.norm(w))
    assert set(np.flatnonzero(solution.lam)) <= set(on_margin)
    assert solution.lam @ y == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(w, (solution.lam * y) @ X, rtol=1e-9, atol=1e-9)


@pytest.mark.claims("optimization-14")
@pytest.mark.parametrize("seed", range(10))
def test_lagrangian_is_the_sum_of_the_notes_in_either_sign(seed):
    rng = np.random.default_rng(seed)
    P, q, A, b, G, h = random_qp(rng, p=2, m=4)
    problem = quadratic_program(P, q, A, b, G, h)
    x, lam = rng.normal(size=3), rng.normal(size=6)
    f = sum(P[i, j] * x[i] * x[j] / 2 for i in range(3) for j in range(3)) + q @ x
    irhd = f - sum(lam[i] * (A[i] @ x - b[i]) for i in range(2))
    irhd -= sum(lam[2 + j] * (G[j] @ x - h[j]) for j in range(4))
    a, beta = -G, h  # PRNN: a_j^T w + b_j <= 0
    prnn = f - lam[:2] @ (A @ x - b) + sum(lam[2 + j] * (a[j] @ x + beta[j]) for j in range(4))
    assert lagrangian(problem, x, lam) == pytest.approx(irhd)
    assert prnn == pytest.approx(irhd)
    check_gradient(
        lambda x: lagrangian(problem, x, lam), lambda x: lagrangian_gradient(problem, x, lam), x
    )
    check_gradient(
        lambda lam: lagrangian(problem, x, lam), lambda lam: -constraints(problem, x), lam
    )


@pytest.mark.claims("optimization-14")
def test_lagrangian_lies_below_f_on_the_feasible_set(rng, solved):
    for (_, _, A, _, G, h), problem, x, _ in solved:
        lam = np.concatenate([rng.normal(size=1), rng.exponential(size=6)])
        near = feasible_points(rng, A, G, h, x)
        assert len(near) >= 3
        for z in near:
            assert violation(problem, z) < 1e-9
            assert lagrangian(problem, z, lam) <= problem.f(z) + 1e-9
            assert lagrangian(problem, z, -lam) >= problem.f(z) - 1e-9  # an inadmissible one


@pytest.mark.claims("optimization-15")
def test_solutions_by_enumeration_meet_the_kkt_conditions(rng, solved):
    for _, problem, x, lam in solved:
        assert max(kkt_residuals(problem, x, lam)) < 1e-8
        inactive = np.setdiff1d(np.arange(len(lam)), active_set(problem, x))
        assert len(inactive) and not lam[inactive].any()


@pytest.mark.claims("optimization-15")
def test_each_kkt_residual_measures_its_own_condition(rng, solved):
    for (P, q, A, b, G, h), problem, x, lam in solved:
        z, mu = x + rng.normal(size=3), lam + rng.normal(size=len(lam))
        residuals = kkt_residuals(problem, z, mu)
        assert residuals.stationarity == pytest.approx(
            np.abs(P @ z + q - A.T @ mu[:1] - G.T @ mu[1:]).max()
        )
        assert residuals.equality == pytest.approx(np.abs(A @ z - b).max(), abs=1e-12)
        assert residuals.inequality == pytest.approx(max(0, (h - G @ z).max()))
        assert residuals.sign == max(0, -mu[1:].min())
        values = np.concatenate([A @ z - b, G @ z - h])
        assert residuals.complementarity == pytest.approx(np.abs(mu * values).max())


@pytest.mark.claims("optimization-15", "optimization-23")
def test_a_multiplier_of_an_equality_may_be_negative():
    problem = quadratic_program(2 * np.eye(2), np.zeros(2), [[1.0, 1.0]], [-1.0])
    x, lam = np.array([-0.5, -0.5]), np.array([-1.0])
    assert max(kkt_residuals(problem, x, lam)) == 0
    assert solve_qp(2 * np.eye(2), np.zeros(2), [[1.0, 1.0]], [-1.0]).lam == pytest.approx(-1)


@pytest.mark.claims("optimization-16")
def test_without_a_constraint_qualification_a_solution_has_no_multiplier():
    problem = Problem(
        f=lambda x: x[0],
        gradient=lambda x: np.ones(1),
        inequalities=lambda x: -(x**2),
        inequality_jacobian=lambda x: -2 * x[None],
    )
    assert violation(problem, np.zeros(1)) == 0 and violation(problem, np.array([0.1])) > 0
    for lam in np.linspace(-100, 100, 11):  # x = 0 is the only feasible point
        assert kkt_residuals(problem, np.zeros(1), np.array([lam])).stationarity == 1


@pytest.mark.claims("optimization-16")
def test_linear_constraints_have_multipliers_which_need_not_be_unique():
    twice = quadratic_program([[2.0]], [0.0], G=[[1.0], [1.0]], h=[1.0, 1.0])  # x^2 on x >= 1
    for share in np.linspace(0, 1, 11):
        assert max(kkt_residuals(twice, np.ones(1), 2 * np.array([share, 1 - share]))) < 1e-15
    assert max(kkt_residuals(twice, np.ones(1), np.array([2.5, -0.5]))) == 0.5
    solution = solve_qp([[2.0]], [0.0], G=[[1.0], [1.0]], h=[1.0, 1.0])
    assert solution.lam.sum() == pytest.approx(2) and solution.lam.min() >= 0


def least_stationarity(problem, x):
    """min ||gradient f - J^T lam|| over multipliers of the active constraints, >= 0 on I."""
    rows = active_set(problem, x, tol=1e-9)
    J, g = problem.C[rows], problem.gradient(x)
    free = np.sum(rows < problem.p)
    best = np.linalg.norm(g)
    for size in range(len(rows) - free + 1):
        for chosen in combinations(range(free, len(rows)), size):
            used = J[[*range(free), *chosen]]
            lam = np.linalg.lstsq(used.T, g, rcond=None)[0]
            if lam[free:].min(initial=0) >= 0:
                best = min(best, np.linalg.norm(g - used.T @ lam))
    return best


@pytest.mark.claims("optimization-17")
def test_a_kkt_point_of_a_convex_problem_is_a_minimum_and_no_other_point_is_one(rng, solved):
    for (_, _, A, _, G, h), problem, x, _ in solved:
        assert least_stationarity(problem, x) < 1e-8
        near = feasible_points(rng, A, G, h, x)
        values = np.array([problem.f(z) for z in near])
        assert values.min() >= problem.f(x) - 1e-9
        for z in near[values > problem.f(x) + 1e-2][:20]:
            assert least_stationarity(problem, z) > 1e-4


@pytest.mark.claims("optimization-17")
def test_without_convexity_a_kkt_point_may_be_a_maximum():
    hill = quadratic_program([[-2.0]], [0.0], G=[[1.0], [-1.0]], h=[-1.0, -1.0])  # -x^2 on [-1, 1]
    assert max(kkt_residuals(hill, np.zeros(1), np.zeros(2))) == 0
    x = np.linspace(-1, 1, 21)
    assert max(hill.f(np.array([z])) for z in x) == hill.f(np.zeros(1)) == 0 > hill.f(np.ones(1))


@pytest.mark.claims("optimization-18")
@pytest.mark.parametrize(
    "bound, x, lam, c",
    [(1.0, 1.0, 2.0, 0.0), (-1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0)],
    ids=["active", "inactive", "both zero"],
)
def test_a_constraint_is_active_or_has_multiplier_zero_or_both(bound, x, lam, c):
    solution = solve_qp([[2.0]], [0.0], G=[[1.0]], h=[bound])  # x^2 on x >= bound
    problem = quadratic_program([[2.0]], [0.0], G=[[1.0]], h=[bound])
    assert solution.x[0] == pytest.approx(x, abs=1e-9)
    assert solution.lam[0] == pytest.approx(lam, abs=1e-9)
    assert constraints(problem, solution.x)[0] == pytest.approx(c, abs=1e-9)
    assert max(kkt_residuals(problem, np.array([x]), np.array([lam]))) == 0


# ---------------------------------------------------------------------------------------
# Duality
# ---------------------------------------------------------------------------------------

GRID = np.linspace(-3, 3, 6001)[:, None]
WELLS = Problem(  # x^4 - 2 x^2 + 0.3 x on x >= 0
    f=lambda x: x[0] ** 4 - 2 * x[0] ** 2 + 0.3 * x[0],
    gradient=lambda x: 4 * x**3 - 4 * x + 0.3,
    inequalities=lambda x: x,
    inequality_jacobian=lambda x: np.eye(1),
)


@pytest.fixture(scope="module")
def wells():
    """The primal value of WELLS, by the roots of its derivative."""
    roots = np.roots([4, 0, -4, 0.3]).real
    return min(0.0, *(WELLS.f([x]) for x in roots if x >= 0))


@pytest.mark.claims("optimization-19")
@pytest.mark.parametrize("seed", range(10))
def test_closed_form_of_the_dual_is_the_minimum_of_the_lagrangian(seed):
    rng = np.random.default_rng(seed)
    parts, lam = random_qp(rng, p=2, m=4), 3 * rng.normal(size=6)
    problem = quadratic_program(*parts)
    states = newton(
        lambda x: lagrangian(problem, x, lam),
        lambda x: lagrangian_gradient(problem, x, lam),
        lambda x: problem.P,
        rng.normal(size=3),
    )
    run = iterate(states, "decrement", 1e-10, 20)
    g = quadratic_dual(lam, *parts)
    assert g == pytest.approx(run.state.objective, rel=1e-8)
    assert dual_function(problem, lam, [run.state.x]) == pytest.approx(g, rel=1e-8)
    assert dual_function(problem, lam, rng.normal(size=(50, 3))) > g


@pytest.mark.claims("optimization-19")
def test_the_dual_is_minus_infinity_where_the_lagrangian_has_no_bound(rng):
    program = {"P": np.zeros((2, 2)), "q": np.array([1.0, 2.0]), "G": np.eye(2), "h": np.zeros(2)}
    assert quadratic_dual(np.array([1.0, 2.0]), **program) == 0  # q = G^T lam: dual feasible
    assert quadratic_dual(np.array([1.0, 1.9]), **program) == -np.inf
    assert quadratic_dual(np.array([0.0, 0.0]), **program) == -np.inf
    P = np.diag([1.0, 0.0])
    assert quadratic_dual(np.zeros(1), P, [1.0, 0.0], G=[[0.0, 1.0]], h=[5.0]) == -0.5
    assert quadratic_dual(np.ones(1), P, [1.0, 0.0], G=[[0.0, 1.0]], h=[5.0]) == -np.inf


@pytest.mark.claims("optimization-19")
@pytest.mark.parametrize("rank", [3, 1])
def test_units_of_the_variables_do_not_change_the_dual(rng, rank):
    B, unit = rng.normal(size=(3, rank)), np.array([1e-8, 1.0, 1e10])
    P, q, lam = B @ B.T, B @ rng.normal(size=rank), np.zeros(0)
    other = unit[:, None] * P * unit, unit * q
    assert quadratic_dual(lam, *other) == pytest.approx(quadratic_dual(lam, P, q), rel=1e-9)
    assert rank == 3 or quadratic_dual(lam, other[0], other[1] + [0, 1, 0]) == -np.inf


@pytest.mark.parametrize(
    "lam, message",
    [
        (np.ones(3), "lam must have shape (2,), a constraint each; got (3,)"),
        (np.ones((2, 1)), "lam must be 1-D; got shape (2, 1)"),
        (np.array([np.nan, 1.0]), "lam must be finite; it contains NaN or infinity"),
        (np.array([np.inf, 1.0]), "lam must be finite; it contains NaN or infinity"),
    ],
)
def test_multipliers_that_do_not_fit_are_refused(lam, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        quadratic_dual(lam, np.eye(2), np.zeros(2), G=np.eye(2), h=np.ones(2))


def test_the_dual_function_needs_a_point():
    with pytest.raises(ValueError, match="points must have a row or more; got none"):
        dual_function(WELLS, np.ones(1), np.zeros((0, 1)))


@pytest.mark.claims("optimization-19")
def test_the_dual_is_concave_even_of_a_problem_that_is_not_convex(rng):
    lam = rng.uniform(-20, 20, size=(2, 200, 1))
    ends, middle = dual_function(WELLS, lam, GRID), dual_function(WELLS, lam.mean(axis=0), GRID)
    assert (middle - ends.mean(axis=0)).min() >= -1e-12
    assert np.isfinite(ends).all()
    assert convexity_gap(lambda x: WELLS.f([x]), -1.0, 1.0, 0.5) == -1  # f itself is not convex


@pytest.mark.claims("optimization-19")
@pytest.mark.parametrize("seed", range(3))
def test_projected_ascent_on_the_dual_reaches_the_primal_value(seed):
    rng = np.random.default_rng(seed)
    parts = quadratic(rng, d=5)[0], *random_qp(rng, d=5, p=1, m=3)[1:]
    problem, inverse = quadratic_program(*parts), np.linalg.inv(parts[0])

    def gradient(lam):  # of -g: it is c(x), at the x that minimises L(x, lam)
        return constraints(problem, inverse @ (problem.C.T @ lam - problem.q))

    check_gradient(lambda lam: -quadratic_dual(lam, *parts), gradient, rng.normal(size=4))
    states = projected_gradient(
        lambda lam: -quadratic_dual(lam, *parts),
        gradient,
        lambda lam: np.concatenate([lam[:1], np.maximum(lam[1:], 0)]),
        np.zeros(4),
        eta=1 / np.linalg.norm(problem.C @ inverse @ problem.C.T, ord=2),
    )
    run = iterate(states, "mapping_norm", 1e-7, 5000)
    x, _ = enumerate_qp(*parts)
    assert run.converged and -run.state.objective == pytest.approx(problem.f(x), abs=1e-6)


@pytest.mark.claims("optimization-20")
def test_no_admissible_multiplier_beats_the_primal_value(rng, solved, wells):
    for parts, problem, x, _ in solved:
        lam = np.column_stack([rng.normal(size=(100, 1)), rng.exponential(size=(100, 6))])
        g = np.array([quadratic_dual(each, *parts) for each in 3 * lam])
        assert g.max() <= problem.f(x) + 1e-9
    g = dual_function(WELLS, np.linspace(0, 30, 301)[:, None], GRID)
    assert g.max() <= wells


@pytest.mark.claims("optimization-20")
def test_a_multiplier_of_the_wrong_sign_can_beat_it():
    g = quadratic_dual(np.array([-1.0]), [[2.0]], [0.0], G=[[1.0]], h=[-1.0])  # x^2 on x >= -1
    assert g == 0.75 > 0  # = p*, at x = 0


@pytest.mark.claims("optimization-21")
def test_strong_duality_and_the_saddle_point(rng, solved, margins):
    svm = margins[2]
    solution = solve_qp(svm.P, svm.q, G=svm.C, h=svm.c)
    svm_parts = (svm.P, svm.q, None, None, svm.C, svm.c)
    for parts, problem, x, lam in [*solved, (svm_parts, svm, solution.x, solution.lam)]:
        value, scale = problem.f(x), 1 + abs(problem.f(x))
        assert violation(problem, x) < 1e-8 and lam[problem.p :].min() >= -1e-8
        g = quadratic_dual(lam, *parts)
        nearby = x + 0.1 * rng.normal(size=(200, len(x)))
        lowest = dual_function(problem, lam, np.vstack([x, nearby]))
        four = [value, lagrangian(problem, x, lam), lowest, g]
        np.testing.assert_allclose(four, value, rtol=1e-7, atol=1e-7 * scale)
        for z in nearby:  # L(x*, lam) <= L(x*, lam*) <= L(x, lam*)
            assert lagrangian(problem, z, lam) >= value - 1e-8 * scale
        for other in rng.exponential(size=(200, len(lam))):
            assert lagrangian(problem, x, other) <= value + 1e-7 * scale
        worse = lam + np.abs(rng.normal(size=len(lam)))
        assert quadratic_dual(worse, *parts) < value - 1e-6


@pytest.mark.claims("optimization-22")
def test_without_convexity_the_dual_value_can_be_minus_infinity(rng):
    hill = quadratic_program([[-2.0]], [0.0], G=[[1.0], [-1.0]], h=[-1.0, -1.0])  # -x^2 on [-1, 1]
    feasible = [hill.f(np.array([x])) for x in np.linspace(-1, 1, 201)]
    assert min(feasible) == -1  # PRNN: d* = p* = -1, without further hypotheses
    multipliers = rng.exponential(size=(50, 2))
    for reach in (10, 1000, 1e6):  # but every g(lam) is an infimum that is -inf
        g = dual_function(hill, multipliers, np.array([[-reach], [reach]]))
        assert (g < -0.5 * reach**2).all()
    for lam in multipliers:
        assert quadratic_dual(lam, hill.P, hill.q, G=hill.C, h=hill.c) == -np.inf


@pytest.mark.claims("optimization-23")
def test_forcing_the_sign_of_an_equality_multiplier_opens_a_gap():
    program = {"P": [[2.0]], "q": [0.0], "A": [[1.0]], "b": [-1.0]}  # x^2 on x + 1 = 0: p* = 1
    lam = np.linspace(-5, 5, 101)
    g = np.array([quadratic_dual(np.array([each]), **program) for each in lam])
    np.testing.assert_allclose(g, -(lam**2) / 4 - lam, rtol=1e-12, atol=1e-12)
    assert g.max() == pytest.approx(1) and lam[g.argmax()] == pytest.approx(-2)
    assert g[lam >= 0].max() == pytest.approx(0)  # as printed, lam_i >= 0 for all i
    assert solve_qp(**program).lam == pytest.approx(-2)


@pytest.mark.claims("optimization-24")
def test_the_primal_value_is_an_infimum_over_feasible_points_only(rng):
    for _ in range(5):
        x1, x2 = rng.normal(size=(2, 3))
        G = np.array([[*x1, 1.0], [*-x2, -1.0]])  # y (w^T x + b) >= 1, two samples
        solution = solve_qp(np.diag([1.0, 1, 1, 0]), np.zeros(4), G=G, h=np.ones(2))
        value = 2 / np.sum((x1 - x2) ** 2)
        assert solution.objective == pytest.approx(value) and abs(solution.gap) < 1e-9 * value
        unconstrained = solve_qp(np.diag([1.0, 1, 1, 0]), np.zeros(4))
        assert unconstrained.objective == 0 < value  # IRHD's inf_z f(z)


@pytest.mark.claims("optimization-25")
def test_a_problem_that_is_not_convex_can_have_a_gap(wells):
    lam = np.linspace(0, 2, 2001)
    g = dual_function(WELLS, lam[:, None], GRID)
    assert g.max() == pytest.approx(-1, abs=1e-6) and lam[g.argmax()] == pytest.approx(0.3)
    assert dual_function(WELLS, np.array([0.3]), [[-1.0], [1.0]]) == -1  # both wells at once
    assert wells == pytest.approx(-0.706, abs=1e-3) and wells - g.max() > 0.29
    x = np.linspace(0, 3, 30_001)
    assert wells == pytest.approx(np.min(x**4 - 2 * x**2 + 0.3 * x), abs=1e-6)


# ---------------------------------------------------------------------------------------
# Quadratic programs
# ---------------------------------------------------------------------------------------

TOLERANCE = 1e-9


def size(*arrays):
    return max(np.abs(a).max(initial=0.0) for a in arrays)


def assert_optimal(parts, solution, tol=TOLERANCE):
    """The KKT conditions and the gap, computed afresh and relative to the terms they sum."""
    P, q, A, b, G, h = parts
    C, c, p = stack(A, b, G, h, len(q))
    x, lam = solution.x, solution.lam
    terms = np.abs(P) @ np.abs(x) + np.abs(q) + np.abs(C.T) @ np.abs(lam)
    assert size(P @ x + q - C.T @ lam) <= tol * size(terms)
    rows = np.abs(C) @ np.abs(x) + np.abs(c)
    assert (np.abs(C @ x - c)[:p] <= tol * rows[:p]).all()
    assert (
        (c - C @ x)[p:] <= tol * np.maximum(rows[p:], size(x) * np.abs(C[p:]).max(axis=1))
    ).all()
    assert (lam[p:] >= 0).all()
    f, g = x @ P @ x / 2 + q @ x, c @ lam - x @ P @ x / 2
    weight = abs(q) @ abs(x) + abs(c) @ abs(lam) + abs(x) @ abs(P) @ abs(x)
    assert abs(f - g) <= tol * (abs(f) + 1e-3 * weight)
    assert solution.objective == pytest.approx(f, rel=1e-9, abs=1e-12 * weight)
    assert abs(solution.gap - (f - g)) <= 1e-12 * weight
    assert solution.residual <= tol


def in_other_units(parts, columns, rows, cost):
    """The program in y = x / columns, its constraints times rows and its objective times cost."""
    P, q, A, b, G, h = parts
    C, c, p = stack(A, b, G, h, len(q))
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


def one_variable(rng):
    P, q, _, _, G, h = random_qp(rng, d=1, p=0, m=rng.integers(1, 5))
    return P, q, None, None, G, h


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
    "one variable": one_variable,
    "as many equalities as variables": lambda rng: random_qp(rng, p=3),
    "soft margin": lambda rng: svm_dual(rng, n=4, C=10 ** rng.uniform(-6, 4)),
}


@pytest.mark.claims("optimization-15")
@pytest.mark.parametrize("kind", SMALL)
def test_solver_against_enumeration(kind):
    for seed in range(50):
        parts = SMALL[kind](np.random.default_rng(seed))
        solution = solve_qp(*parts)
        assert_optimal(parts, solution)
        x, _ = enumerate_qp(*parts)
        value = x @ parts[0] @ x / 2 + parts[1] @ x
        assert solution.objective == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rank", [3, 2, 0])
def test_units_of_variables_constraints_and_cost_do_not_matter(rank):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        parts = random_qp(rng, rank=rank, m=7)
        columns, rows, cost = (10.0 ** rng.uniform(-4, 4, size) for size in (3, 8, None))
        other = in_other_units(parts, columns, rows, cost)
        plain, scaled = solve_qp(*parts), solve_qp(*other)
        assert_optimal(other, scaled)
        assert scaled.objective == pytest.approx(cost * plain.objective, rel=1e-9)
        if rank == 3:  # and so unique
            np.testing.assert_allclose(columns * scaled.x, plain.x, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("shrink", [1e-12, 1e-6, 1e6, 1e12])
def test_a_program_of_tiny_or_huge_numbers_is_solved_as_well(shrink):
    for seed in range(50):
        P, q, A, b, G, h = random_qp(np.random.default_rng(seed), rank=seed % 4, m=7)
        parts = P, shrink * q, A, shrink * b, G, shrink * h
        solution = solve_qp(*parts)
        assert_optimal(parts, solution)
        value = solve_qp(P, q, A, b, G, h).objective
        assert solution.objective == pytest.approx(shrink**2 * value, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1e30, 1e150])
def test_a_solution_far_from_1_is_found(unit):
    at = {"G": [[1.0]], "h": [unit]}
    solution = solve_qp([[2.0]], [0.0], **at)  # x^2 on x >= unit
    np.testing.assert_allclose([solution.x[0], solution.lam[0]], [unit, 2 * unit], rtol=1e-12)
    free = solve_qp([[1.0]], [-unit], G=[[1.0]], h=[unit / 2])
    np.testing.assert_allclose(free.x, unit, rtol=1e-12)
    assert free.lam == 0
    small = solve_qp([[2.0]], [0.0], G=[[1 / unit]], h=[1.0])
    np.testing.assert_allclose(small.x, unit, rtol=1e-12)


def test_the_symmetric_part_of_a_rounded_matrix_is_taken():
    program = quadratic_program([[2.0, 1e-10], [0.0, 2.0]], np.zeros(2))
    np.testing.assert_array_equal(program.P, [[2, 5e-11], [5e-11, 2]])  # x^T P x is the same


@pytest.mark.parametrize("ridge", [1e-12, 1e-16, 1e-20, 1e-30, 1e-100])
def test_a_slight_ridge_does_not_move_the_solution_of_a_linear_program(ridge):
    corner = solve_qp(ridge * np.eye(2), [1.0, 2.0], [[1.0, 1.0]], [1.0], np.eye(2), np.zeros(2))
    np.testing.assert_allclose(corner.x, [1, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(corner.lam, [1 + ridge, 0, 1 - ridge], rtol=1e-9, atol=1e-9)
    for seed in range(10):
        P, q, *rest = random_qp(np.random.default_rng(seed), p=seed % 2, m=7, rank=0)
        solution = solve_qp(P + ridge * np.eye(3), q, *rest)
        assert_optimal((P + ridge * np.eye(3), q, *rest), solution)
        assert solution.objective == pytest.approx(solve_qp(P, q, *rest).objective, rel=1e-9)


def projection_on_a_cone(seed, unit, noise):
    """min ||x - point||^2 on G x >= h, in some unit; h would be 0 but for the noise."""
    rng = np.random.default_rng(seed)
    G, point, moved = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=5)
    G *= np.sign(G.sum(axis=1))[:, None]  # (1, 1, 1) is inside
    nearest, _ = enumerate_qp(np.eye(3), -point, None, None, G, np.zeros(5))
    return (np.eye(3), -unit * point, None, None, G, unit * noise * moved), unit * nearest


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_a_point_is_projected_on_a_cone_in_any_unit(unit):
    for seed in range(10):
        parts, nearest = projection_on_a_cone(seed, unit, noise=0.0)
        np.testing.assert_allclose(solve_qp(*parts).x, nearest, rtol=1e-7, atol=1e-9 * unit)


@pytest.mark.parametrize("noise", [1e-17, 1e-12, 1e-8])
def test_numbers_too_far_apart_give_the_right_answer_or_none(noise):
    answers = 0
    for seed in range(20):
        parts, nearest = projection_on_a_cone(seed, 1.0, noise)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                x = solve_qp(*parts).x
            except (ConvergenceWarning, ValueError) as refusal:
                assert re.search("solve_qp stopped after 100|must be of similar size", str(refusal))
                continue
        np.testing.assert_allclose(x, nearest, rtol=0, atol=1e-7)
        answers += 1
    assert answers > 3


LARGE = {
    "strictly convex": lambda rng: random_qp(rng, d=200, p=20, m=300),
    "singular": lambda rng: random_qp(rng, d=200, p=20, m=300, rank=40),
    "linear": lambda rng: random_qp(rng, d=100, p=10, m=250, rank=0),
    "linear, degenerate": lambda rng: degenerate_qp(rng, d=60, m=150),
    "soft margin": lambda rng: svm_dual(rng, n=200),
    "soft margin, wide": lambda rng: svm_dual(rng, n=200, C=1e6),
    "soft margin, narrow": lambda rng: svm_dual(rng, n=200, C=1e-8),
    "kernel": lambda rng: svm_dual(rng, n=200, C=10.0, gamma=1.0),
    "flat kernel": lambda rng: svm_dual(rng, n=200, C=100.0, gamma=1e-3),
    "kernel, repeated samples": lambda rng: svm_dual(rng, n=200, C=10.0, gamma=1.0, repeats=True),
    "repeated samples": lambda rng: svm_dual(rng, n=200, repeats=True),
}


@pytest.mark.claims("optimization-15", "optimization-21")
@pytest.mark.parametrize("kind", LARGE)
def test_solver_on_hundreds_of_variables(kind):
    parts = LARGE[kind](np.random.default_rng(0))
    assert_optimal(parts, solve_qp(*parts))


def test_multipliers_off_the_active_set_are_exactly_zero(rng):
    parts = svm_dual(rng, n=60, gamma=1.0)
    solution = solve_qp(*parts)
    alpha, lower, upper = solution.x, solution.lam[1:61], solution.lam[61:]
    assert not (lower * upper).any()
    inside = (alpha > 1e-9) & (alpha < 1 - 1e-9)
    assert 2 < inside.sum() < 58 and not lower[inside].any() and not upper[inside].any()
    assert (lower[alpha < 1e-9] > 0).all() and (upper[alpha > 1 - 1e-9] > 0).all()


def test_soft_margin_has_the_same_value_in_its_primal_and_its_dual_program(rng):
    n, C = 40, 2.0
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1.0, -1.0)
    X = X + 0.5 * y[:, None]
    Z = y[:, None] * X
    dual = solve_qp(Z @ Z.T, -np.ones(n), y[None], np.zeros(1), *box(np.zeros(n), np.full(n, C)))
    P = np.zeros((3 + n, 3 + n))  # w, b, xi
    P[0, 0] = P[1, 1] = 1
    G = np.block([[Z, y[:, None], np.eye(n)], [np.zeros((n, 3)), np.eye(n)]])
    q = np.concatenate([np.zeros(3), C * np.ones(n)])
    primal = solve_qp(P, q, G=G, h=np.concatenate([np.ones(n), np.zeros(n)]))
    assert primal.objective == pytest.approx(-dual.objective, rel=1e-9)
    np.testing.assert_allclose(Z.T @ dual.x, primal.x[:2], rtol=1e-8)
    assert dual.lam[0] == pytest.approx(-primal.x[2], rel=1e-8)  # the offset, up to its sign
    np.testing.assert_allclose(primal.lam[:n], dual.x, rtol=1e-8, atol=1e-8)


def test_assignment_is_a_linear_program(rng):
    cost = rng.integers(0, 9, size=(4, 4)).astype(float)
    A = np.vstack([np.kron(np.eye(4), np.ones(4)), np.kron(np.ones(4), np.eye(4))])  # rank 7 of 8
    solution = solve_qp(np.zeros((16, 16)), cost.ravel(), A, np.ones(8), np.eye(16), np.zeros(16))
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))
    assert solution.objective == pytest.approx(best, abs=1e-9)


def test_without_inequalities_the_program_is_a_linear_system(rng):
    for rank in (6, 3):
        P, q, A, b, _, _ = random_qp(rng, d=6, p=2, m=0, rank=rank)
        solution = solve_qp(P, q, A, b)
        K = np.block([[P, -A.T], [A, np.zeros((2, 2))]])
        right = np.concatenate([-q, b])
        np.testing.assert_allclose(K @ [*solution.x, *solution.lam], right, rtol=1e-9, atol=1e-9)
        assert solution.n_iter == 0
    P, q, *_ = random_qp(rng, d=6)
    np.testing.assert_allclose(solve_qp(P, q).x, np.linalg.solve(P, -q), rtol=1e-9)


def test_order_and_repetition_of_constraints_do_not_matter(rng):
    P, q, A, b, G, h = random_qp(rng, d=5, p=2, m=8)
    plain = solve_qp(P, q, A, b, G, h)
    order = rng.permutation(8)
    other = solve_qp(P, q, A[::-1], b[::-1], G[order], h[order])
    np.testing.assert_allclose(other.x, plain.x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.lam[2:], plain.lam[2:][order], rtol=1e-8, atol=1e-10)
    idle = solve_qp(P, q, A, b, np.vstack([G, np.zeros(5), G]), np.concatenate([h, [-1.0], h - 1]))
    np.testing.assert_allclose(idle.x, plain.x, rtol=1e-9, atol=1e-12)
    assert not idle.lam[10:].any()


def test_solution_of_many_minimisers_is_one_of_them():
    flat = solve_qp(np.zeros((2, 2)), [1.0, 1.0], G=[[1.0, 1.0], [1.0, 0], [0, 1.0]], h=[1.0, 0, 0])
    assert flat.objective == pytest.approx(1) and flat.x.min() >= 0
    nothing = solve_qp(np.zeros((2, 2)), np.zeros(2), G=np.eye(2), h=np.ones(2))
    assert nothing.objective == 0 and nothing.x.min() >= 1 and not nothing.lam.any()
    quadrant = solve_qp(np.zeros((2, 2)), np.zeros(2), G=np.eye(2), h=np.zeros(2))
    assert quadrant.objective == 0 and quadrant.x.min() >= 0 and not quadrant.lam.any()
    idle = solve_qp([[0.0]], [0.0], G=[[0.0]], h=[-1.0])  # 0 >= -1, and no other number
    assert idle.objective == 0 and idle.lam == 0


def test_box_is_two_rows_for_each_finite_pair_of_bounds(rng):
    lower, upper = np.array([0.0, -np.inf, 1.0]), np.array([np.inf, np.inf, 4.0])
    G, h = box(lower, upper)
    assert G.shape == (3, 3)
    for x in 3 * rng.normal(size=(300, 3)):
        assert (G @ x >= h).all() == ((lower <= x) & (x <= upper)).all()
    for nonsense in (np.nan, np.inf):  # as a lower bound: no row must not be the answer
        with pytest.raises(ValueError, match="h must be finite"):
            solve_qp(np.eye(1), np.zeros(1), None, None, *box([nonsense], [np.inf]))


def test_box_refuses_bounds_that_do_not_fit_and_counts_small_integers_as_numbers():
    for lower, upper in (([0, 0], [1]), ([0], [1, 1]), ([0, 0], 1), (0, 1), ([[0]], [[1]])):
        with pytest.raises(ValueError, match=r"bounds must be \(d,\) and \(d,\); got \("):
            box(np.array(lower), np.array(upper))
    _, h = box(np.zeros(1, dtype=np.uint8), np.ones(1, dtype=np.uint8))
    np.testing.assert_array_equal(h, [0, -1])


def test_solver_says_when_it_was_stopped(rng):
    parts = random_qp(rng, d=20, p=2, m=40)
    with pytest.warns(
        ConvergenceWarning, match=r"solve_qp stopped after 2 iterations with residual = .* > 1e-09"
    ) as caught:
        stopped = solve_qp(*parts, max_iter=2)
    assert caught[0].filename == __file__  # the warning is of the line that asked
    assert stopped.n_iter == 2 and stopped.residual > 1e-9
    assert solve_qp(*parts).residual < 1e-9


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"P": [[1.0, 0.0]]}, "P must have shape (2, 2), as q has length 2; got (1, 2)"),
        (
            {"P": [[1.0, 1.0], [0.0, 1.0]]},
            "P must be symmetric; it differs from its transpose by 1",
        ),
        (
            {"P": [[1.0, 0.0], [0.0, -2.0]]},
            "P must be positive semi-definite; got an eigenvalue -2",
        ),
        (
            {"P": [[1.0, 0.0], [0.0, -1e-12]]},  # concave, whatever the unit of x_2
            "P must be positive semi-definite; got an eigenvalue -1e-12",
        ),
        ({"q": [1j, 1.0]}, "q must be real; got complex numbers"),
        ({"P": np.zeros((0, 0)), "q": []}, "q must have an entry for each variable; got none"),
        ({"tol": np.nan}, "tol must be a number >= 0 and < inf; got nan"),
        ({"tol": np.inf}, "tol must be a number >= 0 and < inf; got inf"),
        ({"tol": -1.0}, "tol must be a number >= 0 and < inf; got -1.0"),
        ({"max_iter": 2.5}, "max_iter must be an integer >= 0; got 2.5"),
        ({"max_iter": -1}, "max_iter must be an integer >= 0; got -1"),
        ({"P": [1.0, 1.0]}, "P must be 2-D; got shape (2,)"),
        ({"q": [[1.0, 1.0]]}, "q must be 1-D; got shape (1, 2)"),
        ({"q": [np.nan, 1.0]}, "q must be finite; it contains NaN or infinity"),
        ({"G": [[1.0, 1.0]]}, "G and h must be given together; got only one of them"),
        ({"b": [1.0]}, "A and b must be given together; got only one of them"),
        (
            {"A": [[1.0, 1.0]], "b": [1.0, 2.0]},
            "A must have shape (2, 2), as b has length 2 and q 2; got (1, 2)",
        ),
        ({"G": [[1.0]], "h": [1.0]}, "G must have shape (1, 2), as h has length 1 and q 2; got"),
        ({"G": [[1.0, 1.0]], "h": [-np.inf]}, "h must be finite; it contains NaN or infinity"),
    ],
)
def test_solver_refuses_what_does_not_fit(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        solve_qp(**({"P": np.eye(2), "q": np.zeros(2)} | wrong))


def test_interior_point_follows_the_path_to_the_solution(rng):
    P, q, _, _, G, h = random_qp(rng, d=6, m=12)
    states = list(interior_point(P, q, G, h))
    x, lam = (getattr(solve_qp(P, q, G=G, h=h), part) for part in ("x", "lam"))
    for state in states:
        assert state.lam.min() > 0 and state.slack.min() > 0
        assert state.objective == pytest.approx(state.x @ P @ state.x / 2 + q @ state.x)
        assert state.gap == pytest.approx(state.lam @ state.slack)
    residuals = [state.residual for state in states]
    assert len(states) < 25 and residuals[-1] == min(residuals) < 1e-10
    np.testing.assert_allclose(states[-1].x, x, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(states[-1].lam, lam, rtol=1e-6, atol=1e-6)
    last = states[-1]
    exact = quadratic_dual(last.lam, P, q, G=G, h=h)
    assert last.objective - exact == pytest.approx(last.gap, abs=1e-8)
    spread = [s.lam * s.slack for s in states[3:-2]]  # near the central path: no product lags
    assert all(products.min() > 1e-4 * products.mean() for products in spread)


def test_interior_point_method_ends_where_its_states_diverge():
    with np.errstate(all="ignore"):  # x and lam leave for infinity
        states = list(islice(interior_point([[0.0]], [-1.0], [[1.0]], [0.0]), 500))
    assert len(states) < 500 and np.isfinite([state.residual for state in states]).all()


def test_interior_point_method_starts_inside_even_where_the_boundary_would_do():
    start = next(interior_point([[0.0]], [0.0], [[1.0]], [0.0]))
    assert start.lam > 0 and start.slack > 0


def test_interior_point_method_computes_in_double_precision():
    P, q, G, h = np.eye(2), np.array([3.0, -5.0]), 100 * np.eye(2), np.array([100.0, 50.0])
    for kind in (np.int8, np.float32, int):
        first, second = (
            list(interior_point(*parts))
            for parts in ((P, q, G, h), (each.astype(kind) for each in (P, q, G, h)))
        )
        np.testing.assert_array_equal(first[0].x, second[0].x)
        np.testing.assert_array_equal(first[-1].x, second[-1].x)


def newton_by_the_book(P, G, x_part, slack_part, complementarity, lam, slack):
    """The three Newton equations of the interior point method as one system in dx, dlam, ds."""
    m, d = G.shape
    K = np.block(
        [
            [P, -G.T, np.zeros((d, m))],
            [G, np.zeros((m, m)), -np.eye(m)],
            [np.zeros((m, d)), np.diag(slack), np.diag(lam)],
        ]
    )
    return np.linalg.solve(K, -np.concatenate([x_part, slack_part, complementarity]))


@pytest.mark.parametrize("seed", range(5))
def test_every_interior_point_step_is_that_of_mehrotra(seed):
    P, q, _, _, G, h = random_qp(np.random.default_rng(seed), d=4, m=9, rank=2)
    states = list(interior_point(P, q, G, h))
    start = states[0]
    for pushed, residual in ((start.slack, G @ start.x - h), (start.lam, h - G @ start.x)):
        if residual.min() <= 0:
            residual = residual + 1 - residual.min()
        np.testing.assert_allclose(pushed, residual, rtol=1e-9)
    for before, after in list(zip(states, states[1:], strict=False))[:7]:
        x, lam, s = before.x, before.lam, before.slack
        mu = np.mean(lam * s)
        parts = P @ x + q - G.T @ lam, G @ x - s - h

        def longest(step, lam=lam, s=s):
            v, dv = np.concatenate([lam, s]), step[4:]
            return min(1.0, *(-v[dv < 0] / dv[dv < 0]))

        predictor = newton_by_the_book(P, G, *parts, lam * s, lam, s)
        dlam, ds = predictor[4:13], predictor[13:]
        eta = longest(predictor)
        sigma = (np.mean((lam + eta * dlam) * (s + eta * ds)) / mu) ** 3
        corrector = newton_by_the_book(P, G, *parts, lam * s + dlam * ds - sigma * mu, lam, s)
        step = optimization.STEP * longest(corrector) * corrector
        moved = np.concatenate([after.x - x, after.lam - lam, after.slack - s])
        np.testing.assert_allclose(moved, step, rtol=1e-4, atol=1e-7 * np.abs(step).max())


def test_states_are_snapshots(rng):
    f, gradient, hessian = logistic(rng)
    P, q, _, _, G, h = random_qp(rng)
    x0 = np.ones(3)
    for states in (
        gradient_descent(f, gradient, x0),
        gradient_descent(f, gradient, x0, eta=0.01),
        newton(f, gradient, hessian, x0),
        projected_gradient(f, gradient, project_ball, x0, eta=0.01),
        stochastic_gradient_descent(f, lambda x, rows: gradient(x), x0, 5, eta=0.01, rng=rng),
        interior_point(P, q, G, h),
    ):
        pairs = [(state, state.x.copy()) for state in islice(states, 6)]
        assert len(pairs) > 3
        for state, as_yielded in pairs:
            np.testing.assert_array_equal(state.x, as_yielded)
            assert not np.shares_memory(state.x, x0)  # which the caller may well change


# ---------------------------------------------------------------------------------------
# Without a solution
# ---------------------------------------------------------------------------------------


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


def assert_contradiction(y, A, b, G, h, d):
    C, c, p = stack(A, b, G, h, d)
    assert np.linalg.norm(y) == pytest.approx(1) and y[p:].min(initial=0) >= -1e-12
    assert (np.abs(C.T @ y) <= 1e-9 * (np.abs(C.T) @ np.abs(y)) + 1e-300).all()
    assert c @ y > 1e-9 * (np.abs(c) @ np.abs(y))


def assert_descends_for_ever(v, P, q, A, G):
    assert np.linalg.norm(v) == pytest.approx(1) and q @ v < 0
    for M in (P, A):
        assert (np.abs(M @ v) <= 1e-9 * (np.abs(M) @ np.abs(v))).all()
    assert (G @ v >= -1e-9 * (np.abs(G) @ np.abs(v))).all()


@pytest.mark.parametrize("decades", [0, 3])
def test_contradicting_constraints_are_recognised_and_proved(decades):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        columns, rows = (
            10.0 ** rng.uniform(-decades, decades, 3),
            10.0 ** rng.uniform(0, decades, 7),
        )
        P, q, *rest = in_other_units(infeasible_qp(rng), columns, rows, 1.0)
        with pytest.raises(InfeasibleError, match="the constraints must have a common point") as e:
            solve_qp(P, q, *rest)
        assert_contradiction(e.value.certificate, *rest, 3)


@pytest.mark.parametrize("decades", [0, 3])
def test_objectives_without_bound_are_recognised_and_proved(decades):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        columns, rows = (
            10.0 ** rng.uniform(-decades, decades, 4),
            10.0 ** rng.uniform(0, decades, 6),
        )
        P, q, A, b, G, h = in_other_units(unbounded_qp(rng), columns, rows, 1.0)
        with pytest.raises(UnboundedError, match="the objective must be bounded below") as e:
            solve_qp(P, q, A, b, G, h)
        assert_descends_for_ever(e.value.direction, P, q, A, G)


def test_a_program_with_a_solution_is_not_refused():
    for kind in SMALL.values():
        for seed in range(3):
            program = quadratic_program(*kind(np.random.default_rng(seed)))
            optimization._refuse(*optimization._scale(program))  # raises nothing


def test_inconsistent_equalities_alone_are_a_contradiction(rng):
    A = rng.normal(size=(2, 4))
    A = np.vstack([A, A[0] + A[1]])
    with pytest.raises(InfeasibleError) as e:
        solve_qp(np.eye(4), np.zeros(4), A, [1.0, 1.0, 2.5])
    y = e.value.certificate
    np.testing.assert_allclose(y / y[2], [-1, -1, 1], rtol=1e-9, atol=1e-9)
    for b in ([1.0, -1.5], [1.5, -1.0]):  # whatever side of both is the nearest x
        with pytest.raises(InfeasibleError):
            solve_qp([[1.0]], [0.0], [[1.0], [-1.0]], b)


@pytest.mark.parametrize("overlap", [1e-8, 1e-6])
def test_a_slight_contradiction_is_one(overlap):
    for P in (0.0, 1.0):
        with pytest.raises(InfeasibleError) as e:
            solve_qp([[P]], [0.0], G=[[1.0], [-1.0]], h=[1.0 + overlap, -1.0])
        np.testing.assert_allclose(e.value.certificate, np.sqrt([0.5, 0.5]), rtol=1e-9)


def test_separable_classes_decide_whether_the_hard_margin_is_feasible(rng):
    X, y = rng.normal(size=(20, 2)), np.where(np.arange(20) % 2, 1.0, -1.0)
    apart, mixed = (
        y[:, None] * np.column_stack([X + distance * y[:, None], np.ones(20)])
        for distance in (5.0, 0.0)
    )
    P, q = np.diag([1.0, 1.0, 0.0]), np.zeros(3)
    assert solve_qp(P, q, G=apart, h=np.ones(20)).objective > 0
    with pytest.raises(InfeasibleError) as e:
        solve_qp(P, q, G=mixed, h=np.ones(20))
    certificate = e.value.certificate
    weights = certificate / certificate[y > 0].sum()  # a common point of both convex hulls
    np.testing.assert_allclose(
        weights[y > 0] @ X[y > 0], weights[y < 0] @ X[y < 0], rtol=1e-9, atol=1e-9
    )
    assert weights[y < 0].sum() == pytest.approx(1)


def test_the_proof_goes_with_an_error_to_another_process():
    for error in (
        InfeasibleError("the constraints contradict", np.array([0.6, 0.8])),
        UnboundedError("the objective falls", np.array([0.0, -1.0])),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and str(copy) == str(error)
        for name in ("certificate", "direction"):
            if hasattr(error, name):
                np.testing.assert_array_equal(getattr(copy, name), getattr(error, name))


def test_unbounded_without_any_constraint():
    with pytest.raises(UnboundedError) as e:
        solve_qp(np.diag([1.0, 0.0]), [0.0, 3.0])
    np.testing.assert_allclose(e.value.direction, [0, -1], rtol=1e-12, atol=1e-12)
    both = {"A": [[1.0, 0.0], [1.0, 0.0]], "b": [0.0, 1.0]}  # no point at all comes first
    with pytest.raises(InfeasibleError):
        solve_qp(np.zeros((2, 2)), [0.0, 1.0], **both)


# ---------------------------------------------------------------------------------------
# Separation
# ---------------------------------------------------------------------------------------


def nearest_by_sampling(rng, X, Y, n=20_000):
    """The least distance of random points of the two hulls, edges and vertices among them."""
    alpha, beta = rng.dirichlet(np.full(len(X), 0.2), n), rng.dirichlet(np.full(len(Y), 0.2), n)
    return np.linalg.norm(alpha @ X - beta @ Y, axis=1).min()


def assert_in_hull(points, u):
    """Whether u is a convex combination of the points, of which few are given."""
    M = np.vstack([points.T, np.ones(len(points))])
    weights = np.linalg.lstsq(M, np.append(u, 1), rcond=None)[0]
    np.testing.assert_allclose(M @ weights, np.append(u, 1), rtol=1e-8, atol=1e-8)
    assert weights.min() >= -1e-8


@pytest.mark.claims("optimization-12")
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_hyperplane_at_the_closest_points_separates_the_hulls(rng, d):
    for _ in range(10):
        apart = rng.normal(size=d)
        X, Y = rng.normal(size=(9, d)), rng.normal(size=(7, d))
        overlap = np.max(Y @ apart) - np.min(X @ apart)
        X = X + (overlap + 0.5) / (apart @ apart) * apart
        (u, v, distance), (w, b) = closest_points(X, Y), separating_hyperplane(X, Y)
        assert distance == pytest.approx(np.linalg.norm(u - v)) and distance > 0
        np.testing.assert_allclose(w, u - v)
        assert ((X - u) @ w >= -1e-9).all() and ((Y - v) @ w <= 1e-9).all()
        for points, nearest in ((X, u), (Y, v)):
            assert_in_hull(points[np.abs((points - nearest) @ w) < 1e-7], nearest)
        assert (X @ w + b >= w @ w / 2 - 1e-9).all() and (Y @ w + b <= -w @ w / 2 + 1e-9).all()
        assert distance <= nearest_by_sampling(rng, X, Y, 2000) + 1e-9
        shifted = closest_points(X + 1e6, Y + 1e6)
        assert shifted.distance == pytest.approx(distance, rel=1e-6)


@pytest.mark.claims("optimization-12")
def test_closest_points_by_hand_and_by_sampling(rng):
    square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    triangle = np.array([[2.0, 2], [3, 0.5], [4, 4]])
    u, v, distance = closest_points(square, triangle)
    edge = triangle[1] - triangle[0]
    foot = triangle[0] + ((square[3] - triangle[0]) @ edge) / (edge @ edge) * edge
    np.testing.assert_allclose([u, v], [square[3], foot], rtol=1e-9, atol=1e-9)
    assert distance == pytest.approx(np.linalg.norm(foot - square[3]))
    assert distance <= nearest_by_sampling(rng, square, triangle) <= distance + 0.05


@pytest.mark.claims("optimization-12")
def test_hulls_that_meet_have_distance_zero_and_no_hyperplane(rng):
    triangle = np.array([[0.0, 0], [4, 0], [0, 4]])
    for other in (
        np.array([[1.0, 1.0]]),
        np.array([[2.0, 2.0], [5, 5]]),
        triangle[::-1],
        triangle / 2,
    ):
        u, v, distance = closest_points(triangle, other)
        assert distance == 0
        np.testing.assert_array_equal(u, v)
        with pytest.raises(
            ValueError, match="X and Y must have convex hulls without a common point"
        ):
            separating_hyperplane(triangle, other)
    same = closest_points(triangle[1:2], triangle[[1, 1]])
    np.testing.assert_array_equal([same.u, same.v, [same.distance] * 2], [[4, 0], [4, 0], [0, 0]])
    far = closest_points(triangle, np.array([[2.0, 2.0 + 1e-6]]))
    assert far.distance == pytest.approx(1e-6 / np.sqrt(2), rel=1e-6)


@pytest.mark.claims("optimization-12")
@pytest.mark.parametrize("scale", [1e-150, 1e-70, 1e70, 1e150])
def test_closest_points_of_any_scale(scale):
    X, Y = np.array([[1.0, 0], [1, 4]]), np.array([[3.0, 2]])
    u, v, distance = closest_points(scale * X, scale * Y)
    np.testing.assert_allclose([u / scale, v / scale], [[1, 2], [3, 2]], rtol=1e-9)
    assert distance / scale == pytest.approx(2)


def test_closest_points_are_computed_in_double_precision(rng):
    X, Y = rng.normal(size=(2, 6, 3)).astype(np.float32)
    single, double = closest_points(X, Y + 5), closest_points(X.astype(float), Y.astype(float) + 5)
    assert single.distance == pytest.approx(double.distance, rel=1e-6)
    single = closest_points(X, np.float32(5) * Y[:1])
    double = closest_points(X.astype(float), (np.float32(5) * Y[:1]).astype(float))
    assert single.u.dtype == np.float64 and single.distance == double.distance


@pytest.mark.parametrize(
    "X, Y, message",
    [
        (np.ones((2, 1)), np.zeros((2, 3)), "and (k, d); got (2, 1) and (2, 3)"),
        (np.ones((2, 2)), np.zeros((2, 3)), "and (k, d); got (2, 2) and (2, 3)"),
        (np.ones((0, 2)), np.zeros((2, 2)), "and (k, d); got (0, 2) and (2, 2)"),
        (np.ones((2, 2)), np.zeros((0, 2)), "and (k, d); got (2, 2) and (0, 2)"),
        (np.ones(2), np.zeros((2, 2)), "X must be 2-D; got shape (2,)"),
        (np.ones((2, 2)), np.full((1, 2), np.nan), "Y must be finite; it contains NaN or inf"),
    ],
)
def test_closest_points_refuse_arrays_that_are_not_points(X, Y, message):
    for function in (closest_points, separating_hyperplane):
        with pytest.raises(ValueError, match=re.escape(message)):
            function(X, Y)


@pytest.mark.claims("optimization-12")
def test_the_separating_hyperplane_is_the_hard_margin(rng, margins):
    X, y, problem = margins
    w, b = separating_hyperplane(X[y > 0], X[y < 0])
    svm = solve_qp(problem.P, problem.q, G=problem.C, h=problem.c).x
    np.testing.assert_allclose([*w, b], svm * 2 / (svm[:2] @ svm[:2]), rtol=1e-8)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("optimization-27")
def test_contour_drawn_touches_the_disc_at_the_ridge_solution():
    from figures.optimization import PENALTY, regression, touching_the_disc

    ax = Figure().subplots()
    touching_the_disc(ax)
    X, y = regression()
    solution, least_squares = (line.get_xydata()[0] for line in ax.lines)
    ridge = np.linalg.solve(X.T @ X + PENALTY * np.eye(2), X.T @ y)
    np.testing.assert_allclose(solution, ridge, rtol=1e-9)
    np.testing.assert_allclose(least_squares, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-9)
    (disc,) = ax.patches
    rim = disc.get_xy()
    np.testing.assert_allclose(np.linalg.norm(rim, axis=1), np.linalg.norm(ridge), rtol=1e-9)
    risk = ((y - rim @ X.T) ** 2).sum(axis=1)
    touching = ax.collections[-1]
    assert risk.min() >= np.sum((y - X @ ridge) ** 2) - 1e-9  # the disc is outside its contour
    contour = touching.get_paths()[0].vertices
    np.testing.assert_allclose(
        ((y - contour @ X.T) ** 2).sum(axis=1), np.sum((y - X @ ridge) ** 2), rtol=1e-2
    )
    assert np.linalg.norm(contour - ridge, axis=1).min() < 0.02


@pytest.mark.claims("optimization-27")
def test_gradient_drawn_points_from_the_contact_to_the_centre():
    from figures.optimization import regression, touching_the_disc

    ax = Figure().subplots()
    touching_the_disc(ax)
    X, y = regression()
    w = ax.lines[0].get_xydata()[0]
    (arrow,) = (text for text in ax.texts if text.arrow_patch)
    along = np.array(arrow.get_position() if arrow.xy is None else arrow.xy) - w
    gradient = 2 * X.T @ (X @ w - y)
    for v in (along, gradient):
        assert v @ w / (np.linalg.norm(v) * np.linalg.norm(w)) == pytest.approx(-1, abs=1e-9)


def test_arrows_drawn_at_the_solution_add_up():
    from figures.optimization import ROOM, multipliers

    left, right = Figure().subplots(1, 2)
    multipliers(left, right)
    total, *parts = [(c.U[0], c.V[0]) for c in left.collections if hasattr(c, "U")]
    assert len(parts) == 2
    np.testing.assert_allclose(total, np.sum(parts, axis=0), rtol=1e-9, atol=1e-9)
    corner = left.patches[0].get_xy()
    assert (corner @ ROOM.C.T >= ROOM.c - 1e-9).all()


def test_dual_functions_drawn_stay_below_the_dashed_line():
    from figures.optimization import dual_functions

    left, right = Figure().subplots(1, 2)
    dual_functions(left, right)
    for ax, gap in ((left, 0.0), (right, 0.29)):
        g, value = ax.lines[0].get_ydata(), ax.lines[1].get_ydata()[0]
        assert (np.diff(g, 2) <= 1e-12).all()
        assert value - g.max() == pytest.approx(gap, abs=5e-3)


def test_paths_drawn_multiply_each_coordinate_by_its_factor():
    from figures.optimization import STEPS, step_sizes

    axes = Figure().subplots(1, 3)
    step_sizes(*axes)
    for ax, (_, eta) in zip(axes, STEPS, strict=True):
        path = ax.lines[0].get_xydata()
        factors = 1 - eta * np.array([1.0, 25.0])
        np.testing.assert_allclose(path, [9.0, 1.0] * factors ** np.arange(11)[:, None], rtol=1e-9)
    assert np.all(np.diff(np.abs(path[:, 1])) > 0)  # the last step size is beyond the limit


def test_valley_drawn_leads_to_the_minimum_and_stays_below_its_bound():
    from figures.optimization import loss_gradient, valley

    left, right = Figure().subplots(1, 2)
    valley(left, right)
    places = np.array([line.get_xydata()[0] for line in left.lines])
    slow, fast = places[:3], places[3:]
    norms = [np.linalg.norm(loss_gradient(w)) for w in fast]
    assert np.all(np.diff(norms) < 0)  # each step of Newton's method comes nearer to the minimum
    assert np.linalg.norm(loss_gradient(slow[-1])) > norms[-1]
    height, bound = right.lines[0].get_xydata(), right.lines[-1].get_xydata()
    assert np.all(np.interp(bound[:, 0], *height.T) <= bound[:, 1])
