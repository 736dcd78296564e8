"""The svr chapter: every statement of the notes, checked by a second route."""

import warnings
from itertools import combinations, permutations
from math import inf

import numpy as np
import pytest
from checks import differences

from mlnotes import svm
from mlnotes.base import ConvergenceWarning, NotFittedError, iterate
from mlnotes.datasets import load_breast_cancer, load_iris, load_wine
from mlnotes.kernels import make_kernel, scaled_quadratic_map
from mlnotes.linear_regression import augment, qr_solution
from mlnotes.optimization import InfeasibleError, newton, solve_qp
from mlnotes.perceptron import decision
from mlnotes.svm import (
    certify,
    kernel_matrix,
    offset_intervals,
    solve_dual,
)
from mlnotes.svr import (
    L2SVR,
    SVR,
    NuSVR,
    Stacked,
    best_epsilon,
    beta_of,
    dual_value,
    evaluate,
    hard_tube,
    insensitive_loss,
    insensitive_subgradient,
    lagrangian,
    lagrangian_gradients,
    linear_margin,
    narrowest_tube,
    nu_tube,
    nu_tube_dual,
    offset,
    regularised_risk,
    sampled_margin,
    shortest_rise,
    slack,
    soft_tube,
    solve_tube,
    squared_dual,
    squared_dual_value,
    squared_lagrangian,
    squared_offsets,
    squared_tube,
    stack,
    tube_dual,
    unstack,
    without_tube,
)

KERNELS = ("linear", "poly", "rbf", "laplacian", "exponential", "sigmoid")
HAND = np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])  # with epsilon 1/2 and C = 1, w = 3/2


def noisy_line(rng, n=16, d=2, noise=1.0):
    """Samples about a hyperplane that does not go through the origin."""
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1, d + 1) + 3 + noise * rng.normal(size=n)


def balanced(rng, n, C=1.0):
    """Random alpha in its box, with sum_i beta_i = 0."""
    alpha = C * rng.uniform(0.2, 0.8, size=(2, n))
    shift = beta_of(alpha).mean() / 2
    return alpha + [[-shift], [shift]]


def slow_risk(y, f, epsilon):
    """The empirical risk, a sample at a time."""
    return sum(max(abs(a - b) - epsilon, 0) for a, b in zip(y, f, strict=True))


def residuals(X, y, tube):
    return y - X @ tube.w - tube.b


# ---------------------------------------------------------------------------------------
# The insensitive loss
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svr-01")
def test_the_loss_is_zero_in_the_tube_and_the_distance_from_it_outside(rng):
    y, f, epsilon = rng.normal(size=200), rng.normal(size=200), 0.4
    losses = insensitive_loss(f, y, epsilon)
    printed = [
        0.0 if abs(a - b) < epsilon else abs(a - b) - epsilon for a, b in zip(y, f, strict=True)
    ]
    np.testing.assert_allclose(losses, printed, rtol=0, atol=1e-15)
    assert (losses == 0).any() and (losses > 0).any()
    np.testing.assert_array_equal(insensitive_loss(f, y, 0.0), np.abs(y - f))
    edge = insensitive_loss(np.array([-0.4, 0.4]), 0.0, epsilon)
    np.testing.assert_array_equal(edge, 0)  # continuous there
    np.testing.assert_allclose(
        insensitive_loss(np.array([-0.5, 0.4 + 1e-9]), 0.0, 0.4), [0.1, 1e-9]
    )


@pytest.mark.claims("svr-01")
def test_the_loss_has_slopes_of_zero_and_one_and_the_risk_is_convex(rng):
    f, y = np.array([-2.0, 0.0, 3.0]), np.zeros(3)
    slopes = differences(lambda v: insensitive_loss(v, y, 1.0).sum(), f)
    np.testing.assert_allclose(slopes, [-1, 0, 1], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(insensitive_subgradient(f, y, 1.0), [-1, 0, 1])
    np.testing.assert_array_equal(insensitive_subgradient(f[[0, 2]], y[:2], [2.0, 3.0]), 0)
    X, y = noisy_line(rng)

    def risk(theta):
        return insensitive_loss(decision(X, theta[:-1], theta[-1]), y, 0.7).sum()

    for _ in range(50):
        a, b = 4 * rng.normal(size=(2, 3))
        assert risk((a + b) / 2) <= (risk(a) + risk(b)) / 2 + 1e-12
        f, g = decision(X, a[:-1], a[-1]), decision(X, b[:-1], b[-1])
        below = insensitive_loss(f, y, 0.7) + insensitive_subgradient(f, y, 0.7) * (g - f)
        assert (insensitive_loss(g, y, 0.7) >= below - 1e-12).all()


@pytest.mark.claims("svr-05")
def test_the_slack_is_the_least_and_its_sum_the_risk(rng):
    y, f, epsilon = rng.normal(size=100), rng.normal(size=100), 0.3
    xi = slack(f, y, epsilon)
    assert (xi >= 0).all() and (y - f <= epsilon + xi[0] + 1e-15).all()
    assert (f - y <= epsilon + xi[1] + 1e-15).all()
    np.testing.assert_array_equal(xi[0] * xi[1], 0)
    assert xi.sum() == pytest.approx(insensitive_loss(f, y, epsilon).sum(), abs=1e-12)
    for side, beyond in enumerate((y - f - epsilon, f - y - epsilon)):
        positive = xi[side] > 0
        assert 10 < positive.sum() < 90
        assert (beyond[positive] > xi[side][positive] - 1e-9).all()  # any less would not do


# ---------------------------------------------------------------------------------------
# How smooth is f?
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svr-17")
def test_the_margin_of_a_linear_function_is_two_epsilon_by_its_slope(rng):
    for d in (1, 3, 6):
        w, epsilon = rng.normal(size=d), rng.uniform(0.1, 2)
        step = shortest_rise(w, epsilon)
        assert w @ step == pytest.approx(2 * epsilon, rel=1e-12)
        assert np.linalg.norm(step) == pytest.approx(linear_margin(w, epsilon), rel=1e-12)
        others = 5 * rng.normal(size=(5000, d))
        others = others[np.abs(others @ w) >= 2 * epsilon]
        assert len(others) > 100
        assert np.linalg.norm(others, axis=1).min() >= linear_margin(w, epsilon) - 1e-12
    assert linear_margin(np.zeros(2), 0.1) == inf


@pytest.mark.claims("svr-17")
@pytest.mark.parametrize(("k", "epsilon"), [(1.0, 0.3), (3.0, 0.8), (2.0, 1.0)])
def test_the_margin_of_a_sine_is_found_on_a_grid(k, epsilon):
    x = np.linspace(-np.pi / k, np.pi / k, 1401)
    found = sampled_margin(x[:, None], np.sin(k * x), epsilon - 1e-12)
    exact = 2 / k * np.arcsin(epsilon)
    h = x[1] - x[0]
    assert exact - 1e-9 <= found <= exact + 2 * h
    assert found >= 2 * epsilon / k - 1e-9  # k bounds the slope
    assert sampled_margin(x[:, None], np.sin(k * x), 1.01) == inf


@pytest.mark.claims("svr-17")
def test_the_sampled_margin_is_that_of_the_closest_pair(rng):
    X, f = rng.normal(size=(300, 3)), rng.normal(size=300)  # more rows than a block
    pairs = [
        np.linalg.norm(X[i] - X[j])
        for i, j in combinations(range(300), 2)
        if abs(f[i] - f[j]) >= 2 * 1.2
    ]
    assert sampled_margin(X, f, 1.2) == pytest.approx(min(pairs), rel=1e-9)


@pytest.mark.parametrize("s", [1e-100, 1e100])
def test_margins_have_the_units_of_the_samples(rng, s):
    X, f, w = rng.normal(size=(20, 2)), rng.normal(size=20), np.array([3.0, 4.0])
    assert sampled_margin(s * X, f, 0.5) == pytest.approx(s * sampled_margin(X, f, 0.5), rel=1e-12)
    assert linear_margin(w / s, 2.5) == pytest.approx(s, rel=1e-12)
    np.testing.assert_allclose(shortest_rise(w / s, 2.5), [0.6 * s, 0.8 * s], rtol=1e-12)
    assert sampled_margin(np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 1.0, 2.0]), 1.0) == 3
    assert sampled_margin(np.zeros((3, 2)), np.array([0.0, 1.0, 5.0]), 0.5) == 0


@pytest.mark.claims("svr-18")
def test_a_continuous_function_may_have_no_margin():
    epsilon = 0.5
    for t in (1e1, 1e2, 1e3):
        pair = np.array([[t], [t + epsilon / t]])
        f = pair[:, 0] ** 2
        assert f[1] - f[0] >= 2 * epsilon  # x^2 rises by so much on a way that tends to 0
        assert sampled_margin(pair, f, epsilon) == pytest.approx(epsilon / t, rel=1e-6)
    for A in (1.0, 4.0):  # on [-A, A] it is uniformly continuous, of slope 2 A at most
        x = np.linspace(-A, A, 801)
        assert sampled_margin(x[:, None], x**2, epsilon) >= epsilon / A - 1e-12


# ---------------------------------------------------------------------------------------
# The hard tube
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svr-02")
def test_the_hard_tube_holds_all_and_is_the_flattest(rng):
    X, y = noisy_line(rng, noise=0.5)
    least = narrowest_tube(X, y)[2]
    lengths = []
    for epsilon in (1.01 * least, 1.2 * least, 1.5 * least, 2 * least):
        tube = hard_tube(X, y, epsilon)
        r = np.abs(residuals(X, y, tube))
        assert r.max() <= epsilon + 1e-8 and (r >= epsilon - 1e-7).any()
        assert tube.objective == pytest.approx(tube.w @ tube.w / 2, abs=1e-9)
        np.testing.assert_allclose(tube.w, X.T @ beta_of(tube.alpha), rtol=0, atol=1e-7)
        assert beta_of(tube.alpha).sum() == pytest.approx(0, abs=1e-7)
        lengths.append(np.linalg.norm(tube.w))
    assert (np.diff(lengths) < -1e-6).all()
    flat = hard_tube(X, y, (y.max() - y.min()) / 2)
    np.testing.assert_allclose(flat.w, 0, rtol=0, atol=1e-7)
    assert flat.b == pytest.approx((y.max() + y.min()) / 2, abs=1e-6)


@pytest.mark.claims("svr-02")
def test_in_one_dimension_two_samples_hold_the_tube(rng):
    X, y = noisy_line(rng, n=12, d=1)
    epsilon = 1.3 * narrowest_tube(X, y)[2]
    x, lines = X[:, 0], [(0.0, (y.max() + y.min()) / 2)]
    for i, j in permutations(range(12), 2):  # i on the upper edge, j on the lower one
        w = (y[i] - y[j] - 2 * epsilon) / (x[i] - x[j])
        lines.append((w, y[i] - epsilon - w * x[i]))
    feasible = [abs(w) for w, b in lines if np.abs(y - w * x - b).max() <= epsilon + 1e-12]
    assert abs(hard_tube(X, y, epsilon).w[0]) == pytest.approx(min(feasible), abs=1e-8)
    assert min(feasible) > 0.1


@pytest.mark.claims("svr-03")
def test_one_side_of_the_tube_alone_asks_for_nothing(rng):
    X, y = noisy_line(rng)
    epsilon = 1.1 * narrowest_tube(X, y)[2]
    for b in (-1e2, -1e6):  # w = 0: the printed condition holds, the residuals have no bound
        f = decision(X, np.zeros(2), b)
        assert (f - y <= epsilon).all() and np.abs(y - f).max() > -b / 2
    one_sided = np.hstack([-X, -np.ones((16, 1))])
    printed = solve_qp(np.diag([1.0, 1.0, 0.0]), np.zeros(3), G=one_sided, h=-y - epsilon)
    assert printed.objective == pytest.approx(0, abs=1e-9)
    both = hard_tube(X, y, epsilon)
    assert both.objective > 0.1 and np.abs(residuals(X, y, both)).max() <= epsilon + 1e-8


@pytest.mark.claims("svr-04")
def test_the_narrowest_tube_is_the_limit_of_what_is_feasible(rng):
    X, y = noisy_line(rng, n=10, d=1)
    w, b, epsilon = narrowest_tube(X, y)
    x, worst = X[:, 0], 0.0
    for triple in combinations(np.argsort(x), 3):  # equal errors of alternating sign
        (x1, x2, x3), (y1, y2, y3) = x[list(triple)], y[list(triple)]
        worst = max(worst, abs(y2 - y1 - (y3 - y1) * (x2 - x1) / (x3 - x1)) / 2)
    assert epsilon == pytest.approx(worst, rel=1e-8)
    assert np.abs(y - decision(X, w, b)).max() == pytest.approx(epsilon, rel=1e-8)
    with pytest.raises(InfeasibleError):
        hard_tube(X, y, epsilon * (1 - 1e-3))
    tube = hard_tube(X, y, epsilon * (1 + 1e-3))
    assert np.abs(residuals(X, y, tube)).max() <= epsilon * (1 + 1e-3) + 1e-8
    line = hard_tube(X, y, epsilon * (1 + 1e-7))
    np.testing.assert_allclose([*line.w, line.b], [*w, b], rtol=0, atol=1e-5)


@pytest.mark.claims("svr-04")
@pytest.mark.parametrize("d", [2, 4])
def test_below_the_narrowest_tube_slack_is_needed(rng, d):
    X, y = noisy_line(rng, d=d)
    epsilon = narrowest_tube(X, y)[2]
    with pytest.raises(InfeasibleError):
        hard_tube(X, y, epsilon * (1 - 1e-3))
    assert hard_tube(X, y, epsilon * (1 + 1e-3)).objective > 0
    assert soft_tube(X, y, epsilon * (1 - 1e-3), C=100.0).xi.max() > 1e-5
    for _ in range(200):
        b, *w = qr_solution(augment(X), y + 0.3 * rng.normal(size=16))
        assert np.abs(y - decision(X, np.array(w), b)).max() >= epsilon - 1e-9


# ---------------------------------------------------------------------------------------
# The soft tube
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("far", [(2.0**12, 0.0), (0.0, 2.0**12)])
def test_the_programs_keep_their_digits_away_from_the_origin(rng, far):
    X, y = noisy_line(rng)
    X, y = np.round(1024 * X) / 1024, np.round(1024 * y) / 1024
    programs = {
        "hard": lambda X, y: hard_tube(X, y, 2.5),
        "narrowest": narrowest_tube,
        "soft": lambda X, y: soft_tube(X, y, 0.2, 1.0),
        "squared": lambda X, y: squared_tube(X, y, 0.2, 1.0),
        "nu": lambda X, y: nu_tube(X, y, 0.4, 16.0),
    }
    for name, program in programs.items():
        here, there = program(X, y), program(X + far[0], y + far[1])
        np.testing.assert_allclose(there[0], here[0], rtol=0, atol=1e-6, err_msg=name)
        b = there[1] + far[0] * there[0].sum() - far[1]
        assert b == pytest.approx(here[1], abs=1e-3), name
    beta, b = without_tube(X @ X.T, y + far[1], 1.0)
    np.testing.assert_allclose(beta, without_tube(X @ X.T, y, 1.0)[0], rtol=0, atol=1e-9)
    assert b - far[1] == pytest.approx(without_tube(X @ X.T, y, 1.0)[1], abs=1e-3)


@pytest.mark.claims("svr-07")
@pytest.mark.parametrize(("d", "C", "epsilon"), [(1, 0.3, 0.5), (3, 2.0, 0.2), (20, 1.0, 0.1)])
def test_the_soft_tube_is_the_regularised_risk_at_its_least(rng, d, C, epsilon):
    X, y = noisy_line(rng, d=d)
    tube = soft_tube(X, y, epsilon, C)
    f = decision(X, tube.w, tube.b)
    np.testing.assert_allclose(tube.xi, slack(f, y, epsilon), rtol=0, atol=1e-7)
    risk = regularised_risk(X, y, tube.w, tube.b, epsilon, C)
    assert risk == pytest.approx(tube.objective, rel=1e-8)
    slow = tube.w @ tube.w / 2 + C * slow_risk(y, f, epsilon)
    assert slow == pytest.approx(risk, rel=1e-12)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            v = size * rng.normal(size=d + 1)
            assert regularised_risk(X, y, tube.w + v[1:], tube.b + v[0], epsilon, C) >= risk - 1e-8
    K, beta = X @ X.T, beta_of(tube.alpha)
    assert dual_value(rebalanced(tube.alpha), K, y, epsilon) == pytest.approx(risk, rel=1e-6)
    z = y - f  # 0 is a subgradient: w = sum_i beta_i x_i, beta_i in C times that of the loss
    np.testing.assert_allclose(tube.w, X.T @ beta, rtol=0, atol=1e-6)
    outside = np.abs(z) > epsilon + 1e-6
    np.testing.assert_allclose(beta[outside], C * np.sign(z[outside]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(beta[np.abs(z) < epsilon - 1e-6], 0, rtol=0, atol=1e-6)
    assert np.abs(beta).max() <= C + 1e-9 and abs(beta.sum()) < 1e-6


def snapped(alpha, C):
    """The multipliers that are at a bound but for rounding, at it."""
    return np.where(alpha < 1e-7, 0.0, np.where(alpha > C - 1e-7, C, alpha))


def rebalanced(alpha):
    """The rounding of sum_i beta_i taken out of the largest multiplier."""
    alpha = np.array(alpha)
    alpha[0, alpha[0].argmax()] -= beta_of(alpha).sum()
    return alpha


@pytest.mark.claims("svr-07")
def test_functions_of_the_samples_take_their_place(rng):
    x = np.sort(rng.uniform(-1, 1, size=20))
    phi = np.column_stack([x, x**2, x**3])
    y = np.sin(3 * x)
    tube = soft_tube(phi, y, 0.05, C=100.0)
    np.testing.assert_allclose(
        decision(phi, tube.w, tube.b), np.polyval([*tube.w[::-1], tube.b], x), rtol=0, atol=1e-12
    )
    assert np.abs(y - decision(phi, tube.w, tube.b)).max() < 0.2


@pytest.mark.claims("svr-08")
def test_at_the_optimum_the_lagrangian_is_stationary(rng):
    X, y = noisy_line(rng)
    epsilon, C = 0.4, 0.7
    tube = soft_tube(X, y, epsilon, C)
    r = C - tube.alpha
    assert (tube.alpha >= -1e-9).all() and (r >= -1e-9).all()

    def at(theta):
        w, b, xi = theta[:2], theta[2], theta[3:].reshape(2, 16)
        return lagrangian(X, y, w, b, xi, tube.alpha, r, epsilon, C)

    theta = np.concatenate([tube.w, [tube.b], tube.xi.ravel()])
    np.testing.assert_allclose(differences(at, theta), 0, rtol=0, atol=1e-6)
    assert at(theta) == pytest.approx(tube.objective, rel=1e-6)
    np.testing.assert_allclose(X.T @ beta_of(tube.alpha), tube.w, rtol=0, atol=1e-5)
    alpha, r, w = rng.uniform(size=(2, 16)), rng.uniform(size=(2, 16)), rng.normal(size=2)
    by_differences = differences(
        lambda t: lagrangian(X, y, t[:2], t[2], t[3:].reshape(2, 16), alpha, r, epsilon, C),
        np.concatenate([w, [0.3], rng.normal(size=32)]),
    )
    in_w, in_b, in_xi = lagrangian_gradients(X, w, alpha, r, C)
    np.testing.assert_allclose([*in_w, in_b, *in_xi.ravel()], by_differences, rtol=0, atol=1e-7)


@pytest.mark.claims("svr-06")
def test_without_the_norm_the_dual_has_no_gram_matrix(rng):
    X, y = noisy_line(rng)
    C, epsilon, b = 1.0, 0.3, 0.7
    alpha = balanced(rng, 16)
    xi, pull = rng.uniform(size=(2, 16)), X.T @ beta_of(alpha)

    def linear_program(w):
        L = lagrangian(X, y, w, b, xi, alpha, C - alpha, epsilon, C)
        return L - w @ w / 2

    along = [linear_program(t * pull) for t in (0.0, 1.0, 2.0, 1e6)]
    assert along[1] - along[0] == pytest.approx(-pull @ pull, rel=1e-9)
    assert along[2] - along[1] == pytest.approx(-pull @ pull, rel=1e-9)
    assert along[3] < -1e5  # no lower bound, since sum_i beta_i x_i is not 0

    def with_norm(w):
        return lagrangian(X, y, w, b, xi, alpha, C - alpha, epsilon, C)

    drop = with_norm(pull) - with_norm(np.zeros(2))
    assert drop == pytest.approx(-pull @ pull / 2, rel=1e-10)
    K, beta = X @ X.T, beta_of(alpha)
    assert drop == pytest.approx(-beta @ K @ beta / 2, rel=1e-10)
    assert all(with_norm(pull + rng.normal(size=2)) > with_norm(pull) for _ in range(20))


@pytest.mark.claims("svr-06")
def test_the_multipliers_of_the_linear_program_leave_no_weights(rng):
    X, y = noisy_line(rng)
    A = np.column_stack([X, np.ones(16)])
    G = np.block([
        [np.vstack([A, -A]), np.eye(32)],
        [np.zeros((32, 3)), np.eye(32)],
    ])  # fmt: skip
    h = np.concatenate([y - 0.3, -y - 0.3, np.zeros(32)])
    lp = solve_qp(np.zeros((35, 35)), np.append(np.zeros(3), np.ones(32)), G=G, h=h)
    beta = lp.lam[:16] - lp.lam[16:32]
    np.testing.assert_allclose(X.T @ beta, 0, rtol=0, atol=1e-7)
    assert np.abs(beta).max() > 0.5 and np.linalg.norm(lp.x[:2]) > 0.5
    soft = soft_tube(X, y, 0.3, 1.0)
    assert np.linalg.norm(X.T @ beta_of(soft.alpha)) > 0.5


@pytest.mark.claims("svr-19")
def test_a_small_cost_buys_a_smooth_function(rng):
    X, y = noisy_line(rng, n=20)
    epsilon, lengths, losses = 0.3, [], []
    for C in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        tube = soft_tube(X, y, epsilon, C)
        lengths.append(np.linalg.norm(tube.w))
        losses.append(insensitive_loss(decision(X, tube.w, tube.b), y, epsilon).sum())
    assert (np.diff(lengths) >= -1e-7).all() and (np.diff(losses) <= 1e-7).all()
    margins = [linear_margin(np.array([length]), epsilon) for length in lengths]
    assert margins[0] > 10 * margins[-1] and losses[0] > losses[-1] + 1
    tube = soft_tube(X, y, epsilon, 1e-7)
    np.testing.assert_allclose(tube.w, 0, rtol=0, atol=1e-5)
    flat = insensitive_loss(tube.b, y, epsilon).sum()
    levels = np.concatenate([y - epsilon, y + epsilon])  # where its slope changes
    assert flat == pytest.approx(
        min(insensitive_loss(c, y, epsilon).sum() for c in levels), rel=1e-5
    )


@pytest.mark.claims("svr-25")
@pytest.mark.parametrize("s", [0.1, 3.0])
def test_epsilon_has_the_units_of_the_targets(rng, s):
    X, y = noisy_line(rng)
    soft, scaled = soft_tube(X, y, 0.4, 0.6), soft_tube(X, s * y, s * 0.4, s * 0.6)
    np.testing.assert_allclose([*scaled.w, scaled.b], s * np.array([*soft.w, soft.b]), rtol=1e-6)
    square, scaled = squared_tube(X, y, 0.4, 0.6), squared_tube(X, s * y, s * 0.4, 0.6)
    np.testing.assert_allclose(
        [*scaled.w, scaled.b], s * np.array([*square.w, square.b]), rtol=1e-6
    )
    same_epsilon = squared_tube(X, s * y, 0.4, 0.6)
    assert np.abs(same_epsilon.w - s * square.w).max() > 1e-3 * s
    same_epsilon = soft_tube(X, s * y, 0.4, s * 0.6)
    assert np.abs([*(same_epsilon.w - s * soft.w), same_epsilon.b - s * soft.b]).max() > 1e-3 * s


# ---------------------------------------------------------------------------------------
# The dual
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svr-09")
@pytest.mark.parametrize("seed", range(4))
def test_no_dual_value_is_above_a_primal_one_and_the_best_are_equal(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy_line(rng, d=1 + seed)
    K, epsilon, C = X @ X.T, 0.3, 0.5
    tube = soft_tube(X, y, epsilon, C)
    best = solve_dual(np.tile(K, (2, 2)), tube_dual(y, epsilon, C))
    assert best.objective == pytest.approx(tube.objective, rel=1e-6)
    assert dual_value(unstack(best.beta), K, y, epsilon) == pytest.approx(best.objective, rel=1e-9)
    for _ in range(30):
        alpha = balanced(rng, 16, C)
        assert (alpha >= 0).all() and (alpha <= C).all()
        assert dual_value(alpha, K, y, epsilon) <= tube.objective + 1e-9


@pytest.mark.claims("svr-09")
def test_the_dual_value_is_the_least_of_the_lagrangian(rng):
    X, y = noisy_line(rng)
    K, epsilon, C = X @ X.T, 0.3, 0.5
    alpha = balanced(rng, 16, C)
    value, w = dual_value(alpha, K, y, epsilon), X.T @ beta_of(alpha)
    for _ in range(20):  # b and xi are of no consequence, w is best at sum_i beta_i x_i
        b, xi = rng.normal(), rng.normal(size=(2, 16))
        L = lagrangian(X, y, w, b, xi, alpha, C - alpha, epsilon, C)
        assert L == pytest.approx(value, rel=1e-10)
        other = lagrangian(X, y, w + rng.normal(size=2), b, xi, alpha, C - alpha, epsilon, C)
        assert other > value
    b_i, g_i = beta_of(alpha), 0.0
    for i, j in np.ndindex(16, 16):
        g_i -= b_i[i] * b_i[j] * (X[i] @ X[j]) / 2
    g_i += sum(y * b_i) - epsilon * sum(alpha[0] + alpha[1])
    assert g_i == pytest.approx(value, rel=1e-10)
    assert dual_value(alpha + [[1e-3], [0.0]], K, y, epsilon) == -inf


@pytest.mark.claims("svr-10")
def test_both_factors_of_the_quadratic_term_are_differences(rng):
    X, y = noisy_line(rng)
    K, epsilon, C = X @ X.T, 0.3, 0.5

    def printed(alpha):
        linear = y @ beta_of(alpha) - epsilon * alpha.sum()
        return linear - alpha.sum(axis=0) @ K @ beta_of(alpha) / 2

    for _ in range(20):
        alpha = balanced(rng, 16, C)
        less = dual_value(alpha, K, y, epsilon) - printed(alpha)
        assert less == pytest.approx(alpha[1] @ K @ beta_of(alpha), rel=1e-9, abs=1e-10)
    tube = soft_tube(X, y, epsilon, C)
    alpha, f = rebalanced(tube.alpha), decision(X, tube.w, tube.b)
    assert dual_value(alpha, K, y, epsilon) == pytest.approx(tube.objective, rel=1e-6)
    gap = tube.objective - printed(alpha)
    assert gap == pytest.approx(alpha[1] @ (f - tube.b), rel=1e-5) and abs(gap) > 0.1


@pytest.mark.claims("svr-11")
def test_a_plus_before_the_quadratic_term_breaks_weak_duality(rng):
    X, y = noisy_line(rng)
    K, epsilon, C = X @ X.T, 0.3, 500.0

    def printed(alpha):
        beta = beta_of(alpha)
        return beta @ K @ beta / 2 - epsilon * alpha.sum() + y @ beta

    i, j = 2, 9
    vertex = np.zeros((2, 16))
    vertex[0, i] = vertex[1, j] = C
    value = C**2 / 2 * np.sum((X[i] - X[j]) ** 2) + C * (y[i] - y[j]) - 2 * epsilon * C
    assert printed(vertex) == pytest.approx(value, rel=1e-12)
    bound = min(C * insensitive_loss(b, y, epsilon).sum() for b in y)
    tube = soft_tube(X, y, epsilon, C)
    assert printed(vertex) > bound >= tube.objective  # above a primal value
    assert dual_value(vertex, K, y, epsilon) < tube.objective
    alpha = rebalanced(tube.alpha)
    assert dual_value(alpha, K, y, epsilon) == pytest.approx(tube.objective, rel=1e-6)
    assert abs(printed(alpha) - tube.objective) > 1


@pytest.mark.claims("svr-12")
@pytest.mark.parametrize("seed", range(3))
def test_only_samples_on_the_tube_or_outside_support_it(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy_line(rng, n=30)
    epsilon, C = 0.6, 0.8
    tube = soft_tube(X, y, epsilon, C)
    model = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, y)
    beta = np.zeros(30)
    beta[model.support_] = model.dual_coef_[0]
    assert np.max(tube.alpha[0] * tube.alpha[1]) < 1e-10
    z = residuals(X, y, tube)
    inside, outside = np.abs(z) < epsilon - 1e-6, np.abs(z) > epsilon + 1e-6
    for found in (beta, beta_of(tube.alpha)):
        np.testing.assert_allclose(found[inside], 0, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found[outside], C * np.sign(z[outside]), rtol=1e-7)
    edge = ~inside & ~outside
    assert edge.any() and ((np.abs(beta[edge]) > 0.01) & (np.abs(beta[edge]) < C - 0.01)).any()
    S = np.abs(beta) > 0
    assert 0 < S.sum() < 30
    fewer = soft_tube(X[S], y[S], epsilon, C)
    np.testing.assert_allclose([*fewer.w, fewer.b], [*tube.w, tube.b], rtol=0, atol=1e-5)
    wide = SVR(kernel="linear", epsilon=(y.max() - y.min()) / 2).fit(X, y)
    assert len(wide.support_) == 0 and wide.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(wide.predict(X), (y.max() + y.min()) / 2)


@pytest.mark.claims("svr-13")
def test_a_prediction_needs_inner_products_only(rng):
    X, y = noisy_line(rng, n=25)
    Z, epsilon, C = rng.normal(size=(9, 2)), 0.5, 0.7
    best = solve_dual(np.tile(X @ X.T, (2, 2)), tube_dual(y, epsilon, C))
    alpha = snapped(unstack(best.beta), C)
    beta, b = beta_of(alpha), offset(alpha, X @ X.T, y, epsilon, C)
    w = X.T @ beta
    np.testing.assert_allclose(evaluate(Z @ X.T, beta, b), Z @ w + b, rtol=0, atol=1e-10)
    S = beta != 0
    np.testing.assert_allclose(evaluate(Z @ X[S].T, beta[S], b), Z @ w + b, rtol=0, atol=1e-12)
    tube = soft_tube(X, y, epsilon, C)
    np.testing.assert_allclose([*w, b], [*tube.w, tube.b], rtol=0, atol=1e-5)
    free = (alpha > 1e-6) & (alpha < C - 1e-6)
    each = np.array([y - X @ w - epsilon, y - X @ w + epsilon])
    assert free[0].any() and free[1].any()
    np.testing.assert_allclose(each[free], b, rtol=0, atol=1e-6)


@pytest.mark.claims("svr-13")
def test_a_kernel_is_the_inner_product_of_its_features(rng):
    X, y = rng.normal(size=(25, 2)), rng.normal(size=25)
    phi = scaled_quadratic_map(X)
    K = phi @ phi.T
    tube = soft_tube(phi, y, 0.3, 0.5)
    best = snapped(unstack(solve_dual(np.tile(K, (2, 2)), tube_dual(y, 0.3, 0.5)).beta), 0.5)
    f = evaluate(K, beta_of(best), offset(best, K, y, 0.3, 0.5))
    np.testing.assert_allclose(f, decision(phi, tube.w, tube.b), rtol=0, atol=1e-5)


@pytest.mark.claims("svr-14")
def test_the_offset_has_a_minus_for_samples_above_and_a_plus_for_those_below(rng):
    X, y = noisy_line(rng, n=25)
    epsilon, C = 0.5, 0.7
    tube = soft_tube(X, y, epsilon, C)
    free = (tube.alpha > 1e-6) & (tube.alpha < C - 1e-6)
    assert free[0].any() and free[1].any()
    without_b = y - X @ tube.w
    np.testing.assert_allclose(without_b[free[0]] - epsilon, tube.b, rtol=0, atol=1e-6)
    np.testing.assert_allclose(without_b[free[1]] + epsilon, tube.b, rtol=0, atol=1e-6)
    printed = without_b[free[0]] + epsilon
    np.testing.assert_allclose(printed - tube.b, 2 * epsilon, rtol=0, atol=1e-6)


@pytest.mark.claims("svr-15")
def test_the_box_of_this_primal_is_the_cost_itself():
    X, y = HAND
    epsilon, C, n = 0.5, 1.0, 2
    tube = soft_tube(X, y, epsilon, C)
    np.testing.assert_allclose(tube.w, [1.5], rtol=0, atol=1e-8)
    np.testing.assert_allclose(tube.alpha, [[0.75, 0], [0, 0.75]], rtol=0, atol=1e-8)
    assert not ((tube.alpha[0] > 1e-6) & (tube.alpha[0] < C / n)).any()  # the printed rule
    assert offset(tube.alpha.round(9), X @ X.T, y, epsilon, C) == pytest.approx(0, abs=1e-8)
    printed = y[0] - X[0] @ tube.w + epsilon
    assert printed == pytest.approx(1.0, abs=1e-8)  # 2 epsilon from b = 0
    averaged = soft_tube(X, y, epsilon, 4.0 / n)  # with C / n in the primal, C / n bounds alpha
    assert 0 < averaged.alpha[0, 0] < 4.0 / n


def test_the_offset_without_free_multipliers_is_the_middle_of_its_interval():
    X, y = HAND
    alpha = np.array([[0.25, 0.0], [0.0, 0.25]])  # both at the bound: w = 1/2
    dual = tube_dual(y, 0.5, 0.25)
    (interval,) = offset_intervals(dual.p - np.tile(X @ X.T @ [0.25, -0.25], 2), dual, stack(alpha))
    np.testing.assert_allclose(interval, [-1.0, 1.0])
    assert offset(alpha, X @ X.T, y, 0.5, C=0.25) == 0
    risks = [regularised_risk(X, y, np.array([0.5]), b, 0.5, 0.25) for b in (-1, 0, 0.9, 1, 1.1)]
    np.testing.assert_allclose(risks[:4], 0.625)
    assert risks[4] > 0.64


def test_the_two_rows_and_the_2n_variables_are_the_same(rng):
    alpha = rng.uniform(size=(2, 5))
    np.testing.assert_array_equal(unstack(stack(alpha)), alpha)
    assert stack(alpha).sum() == pytest.approx(beta_of(alpha).sum())
    dual, K = tube_dual(rng.normal(size=5), 0.3, 1.0), rng.normal(size=(5, 5))
    K, beta = K @ K.T, stack(alpha)
    y = (dual.p[:5] + dual.p[5:]) / 2
    value = dual.p @ beta - beta @ np.tile(K, (2, 2)) @ beta / 2
    fair = y @ beta_of(alpha) - beta_of(alpha) @ K @ beta_of(alpha) / 2 - 0.3 * alpha.sum()
    assert value == pytest.approx(fair, rel=1e-12)
    costs = np.arange(1.0, 6)
    np.testing.assert_array_equal(tube_dual(y, 0.1, costs).upper[:5], costs)
    np.testing.assert_array_equal(tube_dual(y, 0.1, costs).lower[5:], -costs)


# ---------------------------------------------------------------------------------------
# Squared slack
# ---------------------------------------------------------------------------------------


def smooth(X, y, epsilon, C):
    """w, b of 1/2 ||w||^2 + C/2 sum_i L^2 by Newton's method, without any constraint."""
    A = np.column_stack([X, np.ones(len(X))])
    P = np.diag(np.append(np.ones(X.shape[1]), 0.0))

    def f(t):
        return float(t @ P @ t / 2 + C / 2 * np.sum(insensitive_loss(A @ t, y, epsilon) ** 2))

    def gradient(t):
        z = A @ t
        losses = insensitive_loss(z, y, epsilon)
        return P @ t + C * A.T @ (losses * insensitive_subgradient(z, y, epsilon))

    def hessian(t):
        out = A[insensitive_loss(A @ t, y, epsilon) > 0]
        return P + C * out.T @ out + 1e-10 * np.eye(len(t))

    for state in newton(f, gradient, hessian, np.zeros(X.shape[1] + 1)):
        if np.linalg.norm(gradient(state.x)) < 1e-11:
            break
    return state.x[:-1], state.x[-1], state.objective


@pytest.mark.claims("svr-20")
@pytest.mark.parametrize(("d", "C", "epsilon"), [(1, 0.3, 0.5), (3, 5.0, 0.0), (20, 1.0, 0.3)])
def test_squared_slack_is_a_smooth_problem(rng, d, C, epsilon):
    X, y = noisy_line(rng, d=d)
    tube = squared_tube(X, y, epsilon, C)
    w, b, least = smooth(X, y, epsilon, C)
    np.testing.assert_allclose([*tube.w, tube.b], [*w, b], rtol=0, atol=1e-7)
    assert tube.objective == pytest.approx(least, rel=1e-8)
    np.testing.assert_allclose(tube.xi, slack(decision(X, w, b), y, epsilon), rtol=0, atol=1e-7)
    assert tube.xi.min() >= -1e-10 and np.max(tube.xi[0] * tube.xi[1]) < 1e-12


@pytest.mark.claims("svr-20")
def test_squared_slack_need_not_be_told_to_be_positive(rng):
    X, y = noisy_line(rng)
    tube = squared_tube(X, y, 0.4, 0.7)
    A = np.column_stack([X, np.ones(16)])
    G = np.vstack([np.hstack([np.vstack([A, -A]), np.eye(32)]), np.eye(35)[3:]])
    h = np.concatenate([y - 0.4, -y - 0.4, np.zeros(32)])
    P = np.diag(np.concatenate([[1.0, 1.0, 0.0], np.full(32, 0.7)]))
    told = solve_qp(P, np.zeros(35), G=G, h=h)
    np.testing.assert_allclose(told.x[:3], [*tube.w, tube.b], rtol=0, atol=1e-7)
    assert told.objective == pytest.approx(tube.objective, rel=1e-8)


@pytest.mark.claims("svr-21")
def test_the_slack_is_its_multiplier_by_the_cost(rng):
    X, y = noisy_line(rng)
    epsilon, C = 0.4, 0.7
    tube = squared_tube(X, y, epsilon, C)
    beta = beta_of(tube.alpha)
    np.testing.assert_allclose(X.T @ beta, tube.w, rtol=0, atol=1e-7)
    np.testing.assert_allclose(tube.alpha / C, tube.xi, rtol=0, atol=1e-7)
    losses = insensitive_loss(decision(X, tube.w, tube.b), y, epsilon)
    np.testing.assert_allclose(np.abs(beta) / C, losses, rtol=0, atol=1e-7)
    L = squared_lagrangian(X, y, tube.w, tube.b, tube.xi, tube.alpha, epsilon, C)
    assert L == pytest.approx(tube.objective, rel=1e-7)
    for _ in range(50):
        w, b, alpha = rng.normal(size=2), rng.normal(), rng.uniform(size=(2, 16))
        xi = slack(decision(X, w, b), y, epsilon) + rng.uniform(0, 0.1, size=(2, 16))
        primal = w @ w / 2 + C / 2 * np.sum(xi**2)
        assert squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C) <= primal + 1e-12


@pytest.mark.claims("svr-22")
def test_the_derivative_in_the_offset_is_the_balance_of_the_dual(rng):
    X, y = noisy_line(rng)
    epsilon, C, K = 0.4, 0.7, X @ X.T
    alpha = rng.uniform(size=(2, 16))
    xi, w = rng.normal(size=(2, 16)), rng.normal(size=2)
    slope = differences(lambda b: squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C), 0.3)
    assert slope == pytest.approx(-beta_of(alpha).sum(), abs=1e-8)
    tube = squared_tube(X, y, epsilon, C)
    assert abs(beta_of(tube.alpha).sum()) < 1e-8
    M = np.tile(K, (2, 2)) + np.diag(np.full(32, 1 / C))
    signs = np.repeat([1.0, -1.0], 16)
    P = signs[:, None] * M * signs
    q = epsilon - signs * np.tile(y, 2)
    printed = solve_qp(P, q, G=np.eye(32), h=np.zeros(32))  # without the sum
    assert -printed.objective > tube.objective + 1
    w = X.T @ (printed.x[:16] - printed.x[16:])
    losses = insensitive_loss(X @ w, y, epsilon)
    assert -printed.objective == pytest.approx(w @ w / 2 + C / 2 * losses @ losses, rel=1e-7)


def soft_threshold(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0)


def proximal(M, y, epsilon, steps=300):
    """max y^T beta - 1/2 beta^T M beta - epsilon ||beta||_1, sum 0, by projected thresholding."""
    t, beta = 1 / np.linalg.eigvalsh(M)[-1], np.zeros(len(y))
    for _ in range(steps):
        v = beta + t * (y - M @ beta)
        low, high = v.min() - t * epsilon, v.max() + t * epsilon
        for _ in range(60):
            shift = (low + high) / 2
            over = soft_threshold(v - shift, t * epsilon).sum() > 0
            low, high = (shift, high) if over else (low, shift)
        beta = soft_threshold(v - shift, t * epsilon)
    return beta


@pytest.mark.claims("svr-23")
def test_squared_slack_is_a_ridge_on_the_dual(rng):
    X, y = noisy_line(rng, n=10)
    K, epsilon, C = X @ X.T, 0.5, 0.2
    tube = squared_tube(X, y, epsilon, C)
    best = solve_dual(np.tile(K + np.eye(10) / C, (2, 2)), squared_dual(y, epsilon, C))
    beta = beta_of(unstack(best.beta))
    beta -= beta.mean()  # rounding
    assert squared_dual_value(beta, K, y, epsilon, C) == pytest.approx(tube.objective, rel=1e-8)
    np.testing.assert_allclose(beta, beta_of(tube.alpha), rtol=0, atol=1e-7)
    slow = proximal(K + np.eye(10) / C, y, epsilon)
    np.testing.assert_allclose(slow, beta, rtol=0, atol=1e-7)
    assert (slow == 0).any() and (slow != 0).sum() >= 3
    offsets = squared_offsets(slow, K, y, epsilon, C)
    np.testing.assert_allclose(offsets, tube.b, rtol=0, atol=1e-6)
    alpha = tube.alpha  # with two multipliers each: L at its least in w, b, xi
    L = squared_lagrangian(X, y, X.T @ beta_of(alpha), 0.0, alpha / C, alpha, epsilon, C)
    assert L == pytest.approx(squared_dual_value(beta, K, y, epsilon, C), rel=1e-7)
    for _ in range(20):
        other = beta + (v := 0.3 * rng.normal(size=10)) - v.mean()
        assert squared_dual_value(other, K, y, epsilon, C) < tube.objective
    assert squared_dual_value(beta + 0.1, K, y, epsilon, C) == -inf


def test_no_multiplier_of_the_squared_tube_meets_its_bound(rng):
    for C in (1e-2, 1.0, 1e4):
        X, y = noisy_line(rng)
        dual = squared_dual(y, 0.2, C)
        assert beta_of(squared_tube(X, y, 0.2, C).alpha).max() < dual.upper.max() / 1.9
        worst = 2 * C * np.sqrt(np.sum(insensitive_loss(y.mean(), y, 0.2) ** 2))
        assert dual.upper.max() == pytest.approx(worst, rel=1e-12)
    assert squared_dual(np.full(3, 5.0), 0.1, C=4.0).upper.max() == 4.0


@pytest.mark.claims("svr-24")
def test_without_a_tube_it_is_ridge_regression_with_a_free_offset(rng):
    X, y = noisy_line(rng, d=3)
    K = X @ X.T
    for C in (0.2, 3.0):
        beta, b = without_tube(K, y, C)
        tube = squared_tube(X, y, 0.0, C)
        np.testing.assert_allclose(beta, beta_of(tube.alpha), rtol=0, atol=1e-7)
        X_c, y_c = X - X.mean(axis=0), y - y.mean()
        w = np.linalg.solve(X_c.T @ X_c + np.eye(3) / C, X_c.T @ y_c)
        np.testing.assert_allclose(X.T @ beta, w, rtol=0, atol=1e-10)
        assert b == pytest.approx(y.mean() - w @ X.mean(axis=0), abs=1e-10)
        np.testing.assert_allclose([*tube.w, tube.b], [*w, b], rtol=0, atol=1e-7)
        clashing = np.linalg.solve(X_c.T @ X_c + C * np.eye(3), X_c.T @ y_c)
        assert np.abs(clashing - w).max() > 1e-3  # C on the penalty is another thing
        model = L2SVR(kernel="linear", C=C, epsilon=0.0, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-7)
    theta = qr_solution(augment(X), y)
    beta, b = without_tube(K, y, 1e7)
    np.testing.assert_allclose([b, *X.T @ beta], theta, rtol=0, atol=1e-4)
    beta, b = without_tube(K, y, 1e-9)
    np.testing.assert_allclose([b, *X.T @ beta], [y.mean(), 0, 0, 0], rtol=0, atol=1e-6)


# ---------------------------------------------------------------------------------------
# The nu tube
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("svr-26")
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5, 0.77, 1.0, 1.2, 9.0])
def test_the_best_epsilon_is_a_quantile_of_the_residuals(rng, nu):
    n = 23
    f, y = rng.normal(size=n), rng.normal(size=n)

    def cost(epsilon):
        return nu * epsilon + insensitive_loss(f, y, epsilon).mean()

    epsilon = best_epsilon(f, y, nu)
    z = np.abs(y - f)
    assert cost(epsilon) == pytest.approx(min(map(cost, [0.0, *z])), abs=1e-12)
    if epsilon > 0:
        assert (z > epsilon).sum() <= nu * n <= (z >= epsilon).sum()
    assert epsilon in (0.0, *z)
    assert epsilon == 0 or nu < 1


@pytest.mark.claims("svr-26")
@pytest.mark.parametrize("nu", [0.15, 0.4, 0.8])
def test_the_nu_tube_finds_its_width(rng, nu):
    X, y = noisy_line(rng)
    C = 5.0
    tube = nu_tube(X, y, nu, C)
    f = decision(X, tube.w, tube.b)

    def cost(w, b, epsilon):
        return w @ w / 2 + C * (
            nu * epsilon + insensitive_loss(decision(X, w, b), y, epsilon).mean()
        )

    least = cost(tube.w, tube.b, tube.epsilon)
    assert least == pytest.approx(tube.objective, rel=1e-7)
    assert cost(tube.w, tube.b, best_epsilon(f, y, nu)) == pytest.approx(least, rel=1e-7)
    for size in (1e-2, 0.3):
        for _ in range(30):
            v = size * rng.normal(size=4)
            assert cost(tube.w + v[:2], tube.b + v[2], max(0, tube.epsilon + v[3])) >= least - 1e-8
    z = np.abs(y - f)
    assert tube.epsilon > 0.01
    assert (z > tube.epsilon + 1e-6).sum() <= nu * 16 + 1e-9
    assert nu * 16 <= (z >= tube.epsilon - 1e-6).sum() + 1e-9
    for s in (0.2, 4.0):
        scaled = nu_tube(X, s * y, nu, s * C)
        ours = np.array([*scaled.w, scaled.b, scaled.epsilon])
        np.testing.assert_allclose(ours, s * np.array([*tube.w, tube.b, tube.epsilon]), rtol=1e-5)


@pytest.mark.claims("svr-27")
@pytest.mark.parametrize("nu", [0.1, 0.25, 0.5, 0.9])
def test_nu_is_between_the_shares_of_errors_and_of_support_vectors(rng, nu):
    n, C = 30, 20.0
    X, y = noisy_line(rng, n=n)
    tube = nu_tube(X, y, nu, C)
    K, dual = X @ X.T, nu_tube_dual(y, nu, C)
    best = solve_dual(np.tile(K, (2, 2)), dual)
    alpha = unstack(best.beta)
    assert best.objective == pytest.approx(tube.objective, rel=1e-6)
    beta = beta_of(alpha)
    assert y @ beta - beta @ K @ beta / 2 == pytest.approx(best.objective, rel=1e-9)
    assert abs(beta.sum()) < 1e-7 and alpha.sum() == pytest.approx(C * nu, rel=1e-8)
    assert alpha.min() > -1e-9 and alpha.max() < C / n + 1e-9
    outside = slack(decision(X, tube.w, tube.b), y, tube.epsilon).max(axis=0) > 1e-6
    assert tube.epsilon > 1e-3
    assert outside.mean() <= nu + 1e-12 <= (alpha.max(axis=0) > 1e-7).mean() + 1e-9
    same = soft_tube(X, y, tube.epsilon, C / n)
    np.testing.assert_allclose([*same.w, same.b], [*tube.w, tube.b], rtol=0, atol=1e-5)
    free = (alpha > 1e-6) & (alpha < C / n - 1e-6)
    without_b = y - X @ tube.w
    if free[0].any() and free[1].any():
        epsilon = (without_b[free[0]].mean() - without_b[free[1]].mean()) / 2
        assert epsilon == pytest.approx(tube.epsilon, abs=1e-6)


@pytest.mark.claims("svr-27")
def test_the_offsets_of_the_two_groups_are_the_edges_of_the_tube(rng):
    n, nu, C = 40, 0.4, 0.5
    X, y = noisy_line(rng, n=n)
    model = NuSVR(kernel="linear", nu=nu, C=C, tol=1e-10).fit(X, y)
    tube = nu_tube(X, y, nu, n * C)  # MLN's C
    np.testing.assert_allclose(model.coef_[0], tube.w, rtol=0, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(tube.b, abs=1e-6)
    assert model.epsilon_ == pytest.approx(tube.epsilon, abs=1e-6)
    above, below = model.certificate_.offsets
    assert (above - below) / 2 == model.epsilon_
    same = SVR(kernel="linear", C=C, epsilon=model.epsilon_, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(same.predict(X), model.predict(X), rtol=0, atol=1e-6)


def test_a_perfect_fit_leaves_no_tube():
    X = np.arange(6.0)[:, None]
    model = NuSVR(kernel="linear", nu=0.5, C=1e3, tol=1e-9).fit(X, 2 * X[:, 0] + 1)
    assert model.epsilon_ == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(model.predict(X), 2 * X[:, 0] + 1, rtol=0, atol=1e-7)
    for seed in range(5):  # nor one of a width below 0, where the run stops early
        Z = np.random.default_rng(seed).normal(size=(9, 2))
        coarse = NuSVR(kernel="linear", nu=0.9, C=1e2, tol=0.1).fit(Z, Z @ [1.0, 2.0])
        assert 0 <= coarse.epsilon_ <= coarse.tol
    assert best_epsilon(np.zeros(3), np.zeros(3), 0.5) == 0
    assert best_epsilon(np.zeros(100), np.arange(1.0, 101), 0.29) == 71  # 0.29 * 100 < 29


@pytest.mark.parametrize("nu", [0.99, 1.0])
def test_a_tube_of_no_width_is_one_of_the_soft_tubes(nu):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(9, 2))
        y = X @ [1.0, 2.0] + rng.normal(size=9)
        tube = nu_tube(X, y, nu, C=1.0)
        assert 0 <= tube.epsilon < 1e-12  # rounding leaves none below 0, which is no tube
        soft = soft_tube(X, y, tube.epsilon, C=1.0 / 9)
        assert soft.objective == pytest.approx(tube.objective, rel=1e-9)


def test_every_sample_outside_leaves_no_tube(rng):
    X, y = noisy_line(rng)
    model = NuSVR(kernel="linear", nu=1.0, tol=1e-9).fit(X, y)
    median = SVR(kernel="linear", epsilon=0.0, tol=1e-9).fit(X, y)  # every epsilon > 0 costs
    np.testing.assert_allclose(model.coef_, median.coef_, rtol=0, atol=1e-6)
    assert model.epsilon_ == pytest.approx(0, abs=0.2)


# ---------------------------------------------------------------------------------------
# Estimators: the optimum, its certificate and its offset
# ---------------------------------------------------------------------------------------


def problem(seed):
    """A small set, a kernel and the three parameters; every third set is an ugly one."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 22)), int(rng.integers(1, 5))
    X, y = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2), rng.normal(size=n)
    if seed % 3 == 1:
        X[n // 2 :], X[:, 0] = X[: n - n // 2], 3.0  # every sample twice, a constant feature
    if seed % 9 == 5:
        y[:] = 2.0
    y *= 10.0 ** rng.integers(-1, 2)
    C, nu = 10.0 ** rng.integers(-2, 3), rng.uniform(0.05, 1)
    return X, y, KERNELS[seed % 5], C, (0.0, 0.03, 0.2)[seed % 3] * np.ptp(y), nu


def machines(C, epsilon, nu, **how):
    """The three estimators, alike."""
    how = {"tol": 1e-6, "degree": 2, "coef0": 1.0} | how
    return SVR(C=C, epsilon=epsilon, **how), NuSVR(C=C, nu=nu, **how), L2SVR(
        C=C, epsilon=epsilon, **how
    )  # fmt: skip


def program(model, X, y):
    """The model's K and its dual; the former without the ridge, the latter for K with it."""
    k = make_kernel(model.kernel, model.gamma, model.degree, model.coef0, X)
    K, n = kernel_matrix(X, k, 100), len(X)
    if isinstance(model, NuSVR):
        return K, K, nu_tube_dual(y, model.nu, model.C * n)
    if isinstance(model, L2SVR):
        return K, K + np.eye(n) / model.C, squared_dual(y, model.epsilon, model.C)
    return K, K, tube_dual(y, model.epsilon, model.C)


def primal_value(model, K, X, y):
    """The primal objective, written as the chapter states it, at the f that the model predicts."""
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    norm, f = beta @ K @ beta, model.predict(X)
    if isinstance(model, NuSVR):
        z = insensitive_loss(f, y, model.epsilon_)
        return norm / 2 + model.C * (model.nu * len(X) * model.epsilon_ + z.sum())
    z = insensitive_loss(f, y, model.epsilon)
    return norm / 2 + (model.C / 2 * z @ z if isinstance(model, L2SVR) else model.C * z.sum())


def check_optimal(model, X, y):
    """The optimum of the second route, the certificate, the primal at f, and the KKT interval."""
    K, M, dual = program(model, X, y)
    exact = solve_dual(np.tile(M, (2, 2)), dual).objective if np.ptp(y) else 0.0
    size = max(abs(exact), 1e-9 * max(1.0, model.C) * np.abs(y).sum())
    c = model.certificate_
    assert model.converged_ and c.violation <= model.tol
    assert abs(c.dual - exact) <= 1e-6 * size
    assert exact - 1e-6 * size <= c.primal <= exact + 1e-6 * size + len(y) * model.C * model.tol
    assert c.gap == pytest.approx(c.primal - c.dual, abs=1e-12 * size)
    primal = primal_value(model, K, X, y)
    clipped = 0.0  # a width that came out below 0, by less than tol, is 0 in the model
    if isinstance(model, NuSVR):
        clipped = max(0.0, c.offsets[1] - c.offsets[0]) / 2
        assert clipped <= model.tol
    clipped *= model.C * len(X)
    assert primal == pytest.approx(c.primal, rel=1e-6, abs=1e-6 * size + clipped)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    assert abs(beta.sum()) <= 1e-9 * max(1e-300, np.abs(beta).sum())
    assert model.history_[-1] == pytest.approx(c.dual, rel=1e-9, abs=1e-9 * size)
    assert (np.diff(model.history_) >= -1e-9 * size).all()
    check_offset(model, K, X, y, beta)


def check_offset(model, K, X, y, beta):
    """y - f is at most epsilon where beta may rise, at least where it may fall, but for tol."""
    epsilon = model.epsilon_ if isinstance(model, NuSVR) else model.epsilon
    z, most = y - K @ beta - model.intercept_[0], 2 * model.tol + 1e-9 * np.abs(y).max()
    if isinstance(model, L2SVR):
        np.testing.assert_allclose(
            beta / model.C, np.sign(z) * np.maximum(np.abs(z) - epsilon, 0), rtol=0, atol=most
        )
        return
    C = model.C
    may_rise, may_fall = beta < C * (1 - 1e-9), beta > -C * (1 - 1e-9)
    assert (z[may_rise] <= epsilon + most).all() and (z[may_fall] >= -epsilon - most).all()
    assert (z[beta > 0] >= epsilon - most).all() and (z[beta < 0] <= -epsilon + most).all()


@pytest.mark.parametrize("seed", range(54))
def test_random_problems_are_solved_to_six_digits(seed):
    X, y, kernel, C, epsilon, nu = problem(seed)
    for model in machines(C, epsilon, nu, kernel=kernel):
        check_optimal(model.fit(X, y), X, y)


@pytest.mark.parametrize("seed", range(6))
def test_an_indefinite_gram_matrix_gives_a_point_that_meets_the_conditions(seed):
    X, y, _, C, epsilon, nu = problem(seed)
    for model in machines(C, epsilon, nu, kernel="sigmoid")[:2]:
        model.fit(X, y)
        K, _, dual = program(model, X, y)
        c = model.certificate_
        assert model.converged_ and c.violation <= model.tol
        assert abs(c.gap) <= 2 * len(X) * C * model.tol + 1e-9 * abs(c.dual)
        beta = np.zeros(len(X))
        beta[model.support_] = model.dual_coef_[0]
        check_offset(model, K, X, y, beta)
    X = np.random.default_rng(seed).normal(size=(20, 2))
    K = program(machines(1.0, 0.1, 0.5, kernel="sigmoid")[0], X, y)[0]
    assert np.linalg.eigvalsh(K)[0] < -1e-3


def regression_sets():
    """A feature of a real set, to be told from the others in units of their spread."""
    for load, column in ((load_iris, 3), (load_wine, 0), (load_breast_cancer, 2)):
        X = load().X[:70]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        yield np.delete(X, column, axis=1), X[:, column]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_real_sets_are_solved_to_six_digits(kernel):
    for X, y in regression_sets():
        for model in machines(1.0, 0.1, 0.4, kernel=kernel):
            check_optimal(model.fit(X, y), X, y)
            assert model.score(X, y) > 0.5


def test_the_hand_case():
    X, y = HAND
    model = SVR(kernel="linear", C=1.0, epsilon=0.5).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.5]])
    np.testing.assert_allclose(model.set_params(kernel="rbf").coef_, [[1.5]])  # of the fit
    with pytest.raises(NotFittedError):
        _ = SVR(kernel="linear").coef_
    assert model.certificate_.dual == model.certificate_.primal == 1.125
    np.testing.assert_array_equal(model.support_, [0, 1])
    np.testing.assert_array_equal(model.n_support_, [2])


def test_an_infinite_cost_is_the_hard_tube(rng):
    X, y = noisy_line(rng)
    epsilon = 1.2 * narrowest_tube(X, y)[2]
    model = SVR(kernel="linear", C=inf, epsilon=epsilon, tol=1e-8).fit(X, y)
    tube = hard_tube(X, y, epsilon)
    np.testing.assert_allclose(
        [*model.coef_[0], model.intercept_[0]], [*tube.w, tube.b], rtol=0, atol=1e-6
    )
    assert model.certificate_.primal == pytest.approx(tube.objective, rel=1e-6)
    assert abs(model.certificate_.gap) < 1e-5
    with pytest.warns(ConvergenceWarning, match="SVR stopped after"):
        narrow = SVR(kernel="linear", C=inf, epsilon=epsilon / 2).fit(X, y)
    assert not narrow.converged_ and narrow.certificate_.gap > 1


def test_the_certificate_of_a_hard_tube_is_that_of_a_tube_that_holds_all(rng):
    X, y = noisy_line(rng)
    epsilon = 1.2 * narrowest_tube(X, y)[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVR(kernel="linear", C=inf, epsilon=epsilon, max_iter=8).fit(X, y)
    z, c = np.abs(y - model.predict(X)).max(), model.certificate_
    assert z > epsilon and c.gap > 1e-6
    exact = hard_tube(X, y, z).objective
    assert c.dual <= exact + 1e-9 and exact <= c.primal + 1e-9
    assert c.primal == pytest.approx(model.coef_[0] @ model.coef_[0] / 2, rel=1e-9)


def on_a_grid(rng, n=24):
    """Samples and targets that stay exact when a power of 2 below 2^40 is added."""
    X, y = noisy_line(rng, n=n)
    return np.round(1024 * X) / 1024, np.round(1024 * y) / 1024


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_targets_far_from_zero_lose_no_digits(rng, kernel):
    X, y = on_a_grid(rng)
    for model in machines(1.0, 0.2, 0.4, kernel=kernel):
        beta, near = model.fit(X, y).dual_coef_, model.certificate_
        b, iterations = model.intercept_, model.n_iter_
        model.fit(X, y + 2.0**40)
        np.testing.assert_array_equal(model.dual_coef_, beta)
        np.testing.assert_allclose(model.intercept_ - 2.0**40, b, rtol=0, atol=1e-3)
        assert model.certificate_[:4] == near[:4] and model.n_iter_ == iterations
        np.testing.assert_allclose(
            model.certificate_.offsets - 2.0**40, near.offsets, rtol=0, atol=1e-3
        )
    (nu,) = (m for m in machines(1.0, 0.2, 0.4) if isinstance(m, NuSVR))
    assert nu.fit(X, np.full(24, 1e15 / 3)).certificate_[:4] == (0, 0, 0, 0)


def test_an_outlier_does_not_hide_the_differences_of_other_targets(rng):
    X, y = on_a_grid(rng)
    y[0] = -(2.0**40)
    model = SVR(kernel="linear", epsilon=0.2, tol=1e-6)
    near, far = model.fit(X, y).coef_, model.fit(X, y + 2.0**40).coef_
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-9)


def test_samples_far_from_zero_lose_no_digits(rng):
    X, y = on_a_grid(rng)
    far = X + 2.0 ** np.array([24, 30])
    for model in machines(1.0, 0.2, 0.4, kernel="linear"):
        w, c, f = model.fit(X, y).coef_, model.certificate_, model.predict(X)
        model.fit(far, y)
        assert model.converged_
        np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.certificate_[:2], c[:2], rtol=1e-9)
        np.testing.assert_allclose(model.predict(far), f, rtol=0, atol=1e-5)
        assert model.intercept_[0] == model.certificate_.offsets.mean()
        shift = model.coef_[0] @ 2.0 ** np.array([24, 30])
        assert model.intercept_[0] + shift == pytest.approx(f[0] - w[0] @ X[0], abs=1e-5)


def test_one_feature_may_have_no_mean(rng):
    X, y = np.array([[-1.0, 5.0], [1.0, 6.0], [-1.0, 7.0], [1.0, 9.0]]), np.array([1.0, 2, 3, 4])
    tube = soft_tube(X, y, 0.1, 1.0)
    model = SVR(kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.predict(X), decision(X, tube.w, tube.b), rtol=0, atol=1e-7)


@pytest.mark.claims("svr-25")
@pytest.mark.parametrize("exponent", [-100, -10, 10, 100])
def test_the_estimators_do_not_depend_on_the_units_of_the_targets(rng, exponent):
    X, y = on_a_grid(rng)
    s = 2.0**exponent
    for model, scaled in zip(
        machines(0.7, 0.2, 0.4), machines(0.7 * s, 0.2 * s, 0.4, tol=1e-6 * s), strict=True
    ):
        if isinstance(model, L2SVR):
            scaled.set_params(C=0.7)
        c = model.fit(X, y).certificate_
        scaled.fit(X, s * y)
        np.testing.assert_array_equal(scaled.dual_coef_, s * model.dual_coef_)
        np.testing.assert_array_equal(scaled.intercept_, s * model.intercept_)
        np.testing.assert_array_equal(scaled.support_, model.support_)
        np.testing.assert_array_equal(scaled.history_, s * s * model.history_)
        assert scaled.certificate_[:3] == tuple(s * s * np.array(c[:3]))
        assert scaled.certificate_.violation == s * c.violation and scaled.converged_


@pytest.mark.parametrize("s", [1e-100, 1e100])
@pytest.mark.parametrize("C", [1e-20, 1e-9, 1.0, 1e5])
def test_targets_of_any_size_have_their_fit(rng, s, C):
    X, y = on_a_grid(rng)
    model = SVR(C=C, epsilon=0.0, tol=1e-5 * s).fit(X, s * y)
    c, f = model.certificate_, model.predict(X)
    assert model.converged_ and np.isfinite([c.primal, *f, *model.history_]).all()
    assert abs(c.gap) <= 1e-9 * abs(c.primal) + 24 * C * model.tol
    if s < 1:  # all errors are too dear
        np.testing.assert_allclose(f, s * y, rtol=0, atol=2 * model.tol)
    else:  # and here none is: one of the best constants, between the middle targets
        low, high = s * np.sort(y)[[11, 12]]
        assert ((low <= f) & (f <= high)).all()
        np.testing.assert_allclose(np.abs(model.dual_coef_), C, rtol=1e-12)


def test_a_tube_wider_than_all_targets_is_flat_and_in_the_middle():
    X, y = np.arange(4.0)[:, None], np.array([1.0, 7.0, 2.0, 3.0])
    for epsilon in (4.0, 1e3):
        for model in (SVR(epsilon=epsilon), SVR(epsilon=epsilon, C=inf), L2SVR(epsilon=epsilon)):
            np.testing.assert_array_equal(model.fit(X, y).predict(X), 4.0)
            assert model.certificate_[:4] == (0, 0, 0, 0) and len(model.support_) == 0


@pytest.mark.parametrize("C", [1e-9, 1e9])
def test_huge_and_tiny_costs(rng, C):
    X, y = noisy_line(rng, n=12)
    for model in machines(C, 0.3, 0.5, kernel="rbf"):
        model.fit(X, y)
        assert model.converged_ and np.isfinite(model.certificate_.primal)
        assert np.isfinite(model.predict(X)).all()
        if C < 1:
            np.testing.assert_allclose(model.predict(X), model.intercept_[0], rtol=0, atol=1e-6)
        elif not isinstance(model, NuSVR):  # the kernel matrix is regular: the tube holds all
            assert np.abs(model.predict(X) - y).max() <= 0.3 + 1e-5


def test_a_constant_target_is_predicted():
    X = np.arange(8.0).reshape(4, 2)
    for model in machines(1.0, 0.1, 0.5):
        model.fit(X, np.full(4, 5.0))
        np.testing.assert_allclose(model.predict(X), 5.0)
        assert model.certificate_.gap == 0 and model.converged_


def test_one_sample_is_predicted():
    for model in machines(1.0, 0.1, 0.5):
        assert model.fit([[1.0, 2.0]], [7.0]).predict([[0.0, 0.0]])[0] == pytest.approx(7.0)


def test_duplicates_count_as_a_weight_of_two(rng):
    X, y = noisy_line(rng)
    twice = np.vstack([X, X]), np.concatenate([y, y])
    for model in machines(0.5, 0.3, 0.4, tol=1e-9, gamma=0.3)[:2]:
        a = model.fit(*twice).predict(X)
        b = model.fit(X, y, sample_weight=np.full(16, 2.0)).predict(X)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def test_weights_are_costs_and_a_weight_of_zero_removes_a_sample(rng):
    X, y = noisy_line(rng)
    weights = rng.integers(0, 4, size=16).astype(float)
    assert (weights == 0).any()
    rows = np.repeat(np.arange(16), weights.astype(int))
    for model in machines(0.5, 0.3, 0.4, tol=1e-9, kernel="linear")[:2]:
        repeated = model.fit(X[rows], y[rows]).predict(X)
        model.fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(model.predict(X), repeated, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
        assert (weights[model.support_] > 0).all()
    epsilon = 1.2 * narrowest_tube(X[rows], y[rows])[2]
    hard = SVR(kernel="linear", C=inf, epsilon=epsilon, tol=1e-9).fit(X, y, sample_weight=weights)
    tube = hard_tube(X[rows], y[rows], epsilon)
    assert hard.converged_ and np.isfinite(hard.certificate_.gap)
    np.testing.assert_allclose(
        [*hard.coef_[0], *hard.intercept_], [*tube.w, tube.b], rtol=0, atol=1e-6
    )
    s = 2.0**-60
    tiny = SVR(kernel="linear", C=inf, epsilon=epsilon * s, tol=1e-9 * s)
    tiny.fit(X, y * s, sample_weight=weights)
    np.testing.assert_array_equal(tiny.dual_coef_, s * hard.dual_coef_)


def test_a_matrix_that_does_not_fit_gives_the_same_solution(rng):
    X, y = noisy_line(rng, n=60)
    for model in machines(1.0, 0.2, 0.4, tol=1e-8):
        whole = model.fit(X, y).predict(X)
        few = model.set_params(cache_size=0.01).fit(X, y)
        np.testing.assert_allclose(few.predict(X), whole, rtol=0, atol=1e-6)


def test_the_dual_is_solved_to_the_tube_of_the_primal(rng):
    X, y = noisy_line(rng)
    for epsilon, C in ((0.3, 1.0), (0.0, 0.1), (1.5, 20.0)):
        tube, solved = soft_tube(X, y, epsilon, C), solve_tube(X @ X.T, y, epsilon, C, tol=1e-9)
        np.testing.assert_allclose(X.T @ beta_of(unstack(solved.beta)), tube.w, atol=1e-6)
        assert solved.certificate.dual == pytest.approx(tube.objective, abs=1e-6)
        assert solved.certificate.gap == pytest.approx(0, abs=1e-6) and solved.run.converged
    costs = rng.uniform(0.1, 1.0, size=16)  # a bound per sample
    alpha = unstack(solve_tube(X @ X.T, y, 0.3, costs, tol=1e-9).beta)
    assert (alpha >= 0).all() and (alpha <= costs).all() and (alpha == costs).any()


def test_the_steps_are_the_same_with_the_whole_matrix(rng):
    X, y = noisy_line(rng)
    K, dual = X @ X.T, tube_dual(y, 0.3, 1.0)
    steps = zip(
        svm.smo(Stacked(K), dual), svm.smo(np.tile(K, (2, 2)), dual), range(40), strict=False
    )
    for ours, theirs, _ in steps:
        assert ours.pair == theirs.pair and ours.objective == pytest.approx(theirs.objective)
        assert ours.beta.sum() == pytest.approx(0, abs=1e-12)
        again = certify(Stacked(K), dual, ours.beta)
        assert again.dual == pytest.approx(ours.objective, abs=1e-9)


def test_a_run_that_is_cut_short_says_so(rng):
    X, y = noisy_line(rng)
    for model in machines(10.0, 0.01, 0.5, max_iter=2):
        name = type(model).__name__
        with pytest.warns(ConvergenceWarning, match=f"{name} stopped after 2 iter") as warned:
            model.fit(X, 64 * y)
        assert f"violation = {model.certificate_.violation:.3g} >" in str(warned[0].message)
        assert not model.converged_ and model.n_iter_ == 2 and len(model.history_) == 3
        assert model.certificate_.gap > 0


def large_problem(rng, n=240):
    """Samples of a smooth function with noise: most multipliers end at a bound."""
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.2 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_newton_steps_change_the_way_and_not_the_end(rng, kernel):
    X, y = large_problem(rng)
    for model in machines(1.0, 0.1, 0.4, kernel=kernel):
        K, M, dual = program(model.fit(X, y), X, y)
        whole = iterate(svm.smo(Stacked(M), dual), "violation", 1e-6, 10**5)
        c = model.certificate_
        assert whole.converged and c.dual == pytest.approx(whole.state.objective, rel=1e-6)
        assert c.gap < 1e-3 and c.violation <= 1e-6 and model.converged_
        assert primal_value(model, K, X, y) == pytest.approx(c.primal, rel=1e-7)
        assert len(model.history_) == model.n_iter_ + 1
        assert (np.diff(model.history_) > -1e-9).all()
        start = dual.start @ (dual.p - np.tile(M @ beta_of(unstack(dual.start)), 2) / 2)
        assert model.history_[0] == pytest.approx(start, abs=1e-6 * abs(c.dual))
        assert model.history_[-1] == pytest.approx(c.dual, rel=1e-9)
    bests = []
    for most in (1, 40, 100):
        with pytest.warns(ConvergenceWarning, match=f"after {most} iterations"):
            cut = SVR(kernel=kernel, tol=1e-6, max_iter=most).fit(X, y)
        assert len(cut.history_) == most + 1
        bests.append(cut.certificate_.dual)
    assert bests[0] < bests[1] < bests[2] < SVR(kernel=kernel).fit(X, y).certificate_.primal


def test_many_equal_samples_have_a_constant_for_their_machine():
    y = np.random.default_rng(0).normal(size=310)
    for model in machines(1.0, 0.1, 0.5, kernel="linear", tol=1e-3):
        model.fit(np.zeros((310, 2)), y)
        assert model.converged_ and model.certificate_.gap < 1
        np.testing.assert_array_equal(model.predict([[5.0, 5.0]]), model.intercept_)


def test_squared_slack_in_large_units(rng):
    X, y = large_problem(rng)
    model = L2SVR(kernel="linear", C=0.01).fit(100 * X, y)
    _, _, least = smooth(100 * X, y, 0.1, 0.01)
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(least, rel=1e-6)
    assert model.certificate_.dual == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(C=0.0), r"C must be a number > 0; got 0\.0"),
        (SVR(epsilon=-0.1), r"epsilon must be a number >= 0 and < inf; got -0\.1"),
        (SVR(kernel="precomputed"), "kernel must be one of 'linear', .*; got 'precomputed'"),
        (SVR(tol=0), "tol must be a number > 0; got 0"),
        (SVR(max_iter=0), "max_iter must be an integer >= 1; got 0"),
        (SVR(max_iter=-2), "max_iter must be an integer >= 1; got -2"),
        (SVR(cache_size=0), "cache_size must be a number > 0; got 0"),
        (NuSVR(nu=1.2), r"nu must be <= 1, since a share of the samples; got 1\.2"),
        (NuSVR(nu=0), "nu must be a number > 0; got 0"),
        (NuSVR(C=inf), "C must be a number > 0 and < inf; got inf"),
        (L2SVR(C=inf), "C must be a number > 0 and < inf; got inf"),
        (SVR(gamma=[0.1, 0.2]), r"gamma must be a number > 0 and < inf; got \[0.1, 0.2\]"),
        (SVR(gamma=np.ones(2)), "gamma must be a number > 0 and < inf; got array"),
        (NuSVR(kernel=SVR), "kernel must be one of 'linear', .*; got <class"),
        (SVR(epsilon=inf), "epsilon must be a number >= 0 and < inf; got inf"),
        (L2SVR(epsilon=-1), "epsilon must be a number >= 0 and < inf; got -1"),
    ],
)
def test_bad_hyperparameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], [0.0, 1.0])


def test_functions_refuse_bad_parameters():
    X, y = HAND
    for tube in (soft_tube, squared_tube):
        with pytest.raises(ValueError, match="C must be a number > 0; got 0"):
            tube(X, y, 0.1, 0)
        with pytest.raises(ValueError, match="epsilon must be a number >= 0 and < inf; got -1"):
            tube(X, y, -1, 1.0)
    with pytest.raises(ValueError, match="nu must be <= 1"):
        nu_tube(X, y, 1.5, 1.0)
    with pytest.raises(ValueError, match="nu must be a number > 0; got 0"):
        nu_tube_dual(y, 0, 1.0)
    with pytest.raises(ValueError, match="C must be a number > 0 and < inf; got inf"):
        nu_tube_dual(y, 0.5, inf)
    with pytest.raises(ValueError, match="C must be a number > 0; got -1"):
        nu_tube(X, y, 0.5, -1)
    with pytest.raises(ValueError, match="C must be a number > 0; got 0"):
        without_tube(X @ X.T, y, 0)
    with pytest.raises(ValueError, match="nu must be a number >= 0; got -1"):
        best_epsilon(y, y, -1)
    with pytest.raises(ValueError, match="w must not be 0: a constant f never rises"):
        shortest_rise(np.zeros(2), 0.1)
    with pytest.raises(AttributeError, match="coef_ must have kernel='linear'"):
        SVR().fit(X, y).coef_  # noqa: B018


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, columns):
    """The axes that a figure was drawn on."""
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, columns)
    draw(*axes)
    return axes


def drawn_tube(ax):
    """x and f, and the two edges, of the lines that `draw_tube` draws first."""
    x, f = ax.lines[0].get_data()
    return x, f, ax.lines[1].get_ydata(), ax.lines[2].get_ydata()


def drawn_points(ax):
    """The samples, and those that are circled."""
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    return [np.column_stack(line.get_data()) for line in dots]


@pytest.mark.claims("svr-28")
def test_the_tubes_drawn_hold_their_samples_or_show_the_slack():
    from figures.svr import EPSILON, tube

    left, middle, right = panels(tube, 3)
    for ax in (left, middle):
        x, f, upper, lower = drawn_tube(ax)
        np.testing.assert_allclose(upper - lower, 2 * EPSILON, rtol=0, atol=1e-12)
        np.testing.assert_allclose((upper + lower) / 2, f, rtol=0, atol=1e-12)
        samples, circled = drawn_points(ax)
        at = f[0] + (samples[:, 0] - x[0]) * (f[1] - f[0]) / (x[1] - x[0])
        z = samples[:, 1] - at
        np.testing.assert_array_equal(samples[np.abs(z) >= EPSILON - 1e-6], circled)
        assert (ax is left) == (np.abs(z).max() <= EPSILON + 1e-6)
        bars = [line for line in ax.lines if line.get_marker() != "o"][3:]
        losses = np.maximum(np.abs(z) - EPSILON, 0)
        shown = {line.get_xdata()[0]: np.abs(np.diff(line.get_ydata()))[0] for line in bars}
        wanted = {c: v for c, v in zip(samples[:, 0], losses, strict=True) if v > 1e-6}
        assert shown.keys() == wanted.keys()
        np.testing.assert_allclose(
            [shown[c] for c in wanted], list(wanted.values()), rtol=0, atol=1e-9
        )
        assert len(wanted) == (0 if ax is left else 3)
        names = [text.get_text() for text in ax.texts if "xi" in text.get_text()]
        signs = [z[samples[:, 0] == c][0] > 0 for c in shown]
        assert names == ["$\\xi$" if above else "$\\xi'$" for above in signs]
    z, loss = right.lines[1].get_data()
    np.testing.assert_array_equal(loss, np.maximum(np.abs(z) - 1, 0))
    np.testing.assert_array_equal(z[1:-1:2], [-1, 1])  # its kinks
    assert [t.get_text() for t in right.get_xticklabels()] == ["$-\\epsilon$", "0", "$\\epsilon$"]
    np.testing.assert_array_equal(right.get_xticks(), [-1, 0, 1])


@pytest.mark.claims("svr-29")
def test_the_tube_that_bends_fits_the_sine_and_the_straight_one_does_not():
    from figures.svr import WIDTH, bent_tube, sine

    T, errors = sine(), []
    for ax in panels(bent_tube, 2):
        x, f, upper, lower = drawn_tube(ax)
        np.testing.assert_allclose([upper - f, f - lower], WIDTH, rtol=0, atol=1e-12)
        samples, circled = drawn_points(ax)
        np.testing.assert_array_equal(samples, np.column_stack([T.X[:, 0], T.y]))
        z = T.y - np.interp(T.X[:, 0], x, f)
        errors.append(np.sqrt(np.mean(z**2)))
        assert f"error {errors[-1]:.2f}, {len(circled)} circled" in ax.get_title()
        near = np.abs(np.abs(z) - WIDTH) < 2e-3  # what the grid of x cannot tell
        held = (samples[:, None] == circled).all(axis=2).any(axis=1)
        np.testing.assert_array_equal(held[~near], np.abs(z[~near]) > WIDTH)
        assert held[near].any()
    assert errors[1] < errors[0] / 2
