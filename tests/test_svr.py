"""The svr chapter, in the order of its module: statements and functions by a second route."""

from itertools import combinations
from math import inf

import numpy as np
import pytest
from checks import differences, panels

from mlnotes.base import ConvergenceWarning, NotFittedError
from mlnotes.kernels import make_kernel, scaled_quadratic_map
from mlnotes.optimization import InfeasibleError, solve_qp
from mlnotes.perceptron import decision
from mlnotes.svm import GramRows, certify, solve_dual
from mlnotes.svr import (
    L2SVR,
    SVR,
    NuSVR,
    Stacked,
    best_epsilon,
    beta_of,
    evaluate,
    hard_tube,
    insensitive_loss,
    linear_margin,
    narrowest_tube,
    nu_tube,
    shortest_rise,
    soft_tube,
    squared_lagrangian,
    squared_tube,
    squared_tube_dual,
    stacked_dual,
    stacked_nu_dual,
    tube_dual,
    tube_lagrangian,
    tube_slack,
    without_tube,
)

KERNELS = ("linear", "poly", "rbf", "laplacian", "exponential")
HAND = np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])  # with epsilon 1/2 and C = 1, w = 3/2

equal = np.testing.assert_array_equal


def close(actual, expected, atol=1e-7, rtol=0.0):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def noisy_line(rng, n=16, d=2, noise=1.0):
    """Samples about a hyperplane that does not go through the origin."""
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1, d + 1) + 3 + noise * rng.normal(size=n)


def unstack(s):
    """alpha of s = (alpha[0], -alpha[1]), the variables of `stacked_dual`."""
    return s.reshape(2, -1) * [[1], [-1]]


def balanced(rng, n, C=1.0):
    """Random alpha in its box, with sum_i beta_i = 0."""
    alpha = C * rng.uniform(0.2, 0.8, size=(2, n))
    shift = beta_of(alpha).mean() / 2
    return alpha + [[-shift], [shift]]


def best_alpha(K, y, epsilon, C):
    """The multipliers by the general solver; what is at a bound but for rounding is on it."""
    alpha = unstack(solve_dual(np.tile(K, (2, 2)), stacked_dual(y, epsilon, C)).beta)
    return np.where(alpha < 1e-7, 0.0, np.where(alpha > C - 1e-7, C, alpha))


def offset_of(alpha, K, y, epsilon, C):
    """b by `svm.offsets`, as a certificate has it."""
    s = np.concatenate([alpha[0], -alpha[1]])
    return certify(np.tile(K, (2, 2)), stacked_dual(y, epsilon, C), s).offsets[0]


# --- The insensitive loss --------------------------------------------------------------


@pytest.mark.claims("svr-01")
def test_insensitive_loss_is_the_distance_from_the_tube_and_has_a_convex_risk(rng):
    y, f, epsilon = rng.normal(size=200), rng.normal(size=200), 0.4
    printed = [max(abs(a - b) - epsilon, 0) for a, b in zip(y, f, strict=True)]
    close(insensitive_loss(f, y, epsilon), printed, 1e-15)
    assert 0 < np.count_nonzero(printed) < 200
    f = np.array([-2.0, 0.0, 3.0])
    close(differences(lambda v: insensitive_loss(v, 0.0, 1.0).sum(), f), [-1, 0, 1], 1e-9)
    X, y = noisy_line(rng)

    def risk(theta):
        return insensitive_loss(decision(X, theta[:-1], theta[-1]), y, 0.7).sum()

    for a, b in 4 * rng.normal(size=(50, 2, 3)):
        assert risk((a + b) / 2) <= (risk(a) + risk(b)) / 2 + 1e-12


@pytest.mark.claims("svr-05")
def test_tube_slack_is_the_least_and_sums_to_the_risk(rng):
    y, f, epsilon = rng.normal(size=100), rng.normal(size=100), 0.3
    xi = tube_slack(f, y, epsilon)
    equal(xi[0] * xi[1], 0)
    close(xi.sum(axis=0), insensitive_loss(f, y, epsilon), 1e-15)
    for side, beyond in zip(xi, (y - f - epsilon, f - y - epsilon), strict=True):
        assert side.min() == 0 and (beyond <= side + 1e-15).all()
        close(beyond[side > 0], side[side > 0], 1e-9)  # any less would not do


# --- How smooth is f? ------------------------------------------------------------------


@pytest.mark.claims("svr-17")
def test_linear_margin_is_the_length_of_the_shortest_rise(rng):
    for d in (1, 3):
        w, epsilon = rng.normal(size=d), rng.uniform(0.1, 2)
        step = shortest_rise(w, epsilon)
        assert w @ step == pytest.approx(2 * epsilon, rel=1e-12)
        assert np.linalg.norm(step) == pytest.approx(linear_margin(w, epsilon), rel=1e-12)
        others = 5 * rng.normal(size=(5000, d))
        others = others[np.abs(others @ w) >= 2 * epsilon]
        assert len(others) > 100
        assert np.linalg.norm(others, axis=1).min() >= linear_margin(w, epsilon) - 1e-12
    assert linear_margin(np.zeros(2), 0.1) == inf


@pytest.mark.claims("svr-18")
def test_linear_margin_of_the_tangent_shows_that_a_square_has_no_margin():
    epsilon = 0.5
    for t in (1e1, 1e2, 1e3):  # x^2 rises by 2 epsilon on a way that tends to 0
        step = linear_margin(np.array([2 * t]), epsilon)
        assert (t + step) ** 2 - t**2 >= 2 * epsilon and step == pytest.approx(epsilon / t)
    for A in (1.0, 4.0):  # on [-A, A] it is uniformly continuous, of slope 2 A at most
        x = np.linspace(-A, A, 801)
        apart = np.abs(x[:, None] ** 2 - x**2) >= 2 * epsilon - 1e-12
        least = np.abs(x[:, None] - x)[apart].min()
        assert least >= linear_margin(np.array([2 * A]), epsilon) - 1e-9


# --- The hard tube ---------------------------------------------------------------------


@pytest.mark.claims("svr-02")
def test_hard_tube_holds_all_and_is_the_flattest(rng):
    X, y = noisy_line(rng, noise=0.5)
    least, lengths = narrowest_tube(X, y)[2], []
    for epsilon in (1.01 * least, 1.2 * least, 2 * least, np.ptp(y) / 2):
        tube = hard_tube(X, y, epsilon)
        r = np.abs(y - decision(X, tube.w, tube.b))
        assert r.max() <= epsilon + 1e-7 and (r >= epsilon - 1e-7).any()
        assert tube.objective == pytest.approx(tube.w @ tube.w / 2, abs=1e-9)
        close(tube.w, X.T @ beta_of(tube.alpha), 1e-6)
        close(beta_of(tube.alpha).sum(), 0, 1e-6)
        assert tube.alpha.min() > -1e-9  # with these conditions no flatter tube holds all
        close(np.abs(beta_of(tube.alpha)) * (epsilon - r), 0, 1e-6)
        lengths.append(np.linalg.norm(tube.w))
    assert (np.diff(lengths) < -1e-6).all()
    close([*tube.w, tube.b], [0, 0, (y.max() + y.min()) / 2], 1e-6)


@pytest.mark.claims("svr-03")
def test_hard_tube_needs_both_of_its_sides(rng):
    X, y = noisy_line(rng)
    epsilon = 1.1 * narrowest_tube(X, y)[2]
    f = decision(X, np.zeros(2), -1e6)  # meets the printed condition, without any fit
    assert (f - y <= epsilon).all() and np.abs(y - f).max() > 1e5
    one_sided = np.hstack([-X, -np.ones((16, 1))])
    printed = solve_qp(np.diag([1.0, 1.0, 0.0]), np.zeros(3), G=one_sided, h=-y - epsilon)
    assert printed.objective == pytest.approx(0, abs=1e-9)
    both = hard_tube(X, y, epsilon)
    assert both.objective > 0.1
    assert np.abs(y - decision(X, both.w, both.b)).max() <= epsilon + 1e-8


@pytest.mark.claims("svr-04")
def test_narrowest_tube_is_chebyshevs_fit_and_the_limit_of_what_is_feasible(rng):
    X, y = noisy_line(rng, n=10, d=1)
    w, b, epsilon = narrowest_tube(X, y)
    x, worst = X[:, 0], 0.0
    for triple in combinations(np.argsort(x), 3):  # equal errors of alternating sign
        (x1, x2, x3), (y1, y2, y3) = x[list(triple)], y[list(triple)]
        worst = max(worst, abs(y2 - y1 - (y3 - y1) * (x2 - x1) / (x3 - x1)) / 2)
    assert epsilon == pytest.approx(worst, rel=1e-8)
    assert np.abs(y - decision(X, w, b)).max() == pytest.approx(epsilon, rel=1e-8)
    line = hard_tube(X, y, epsilon * (1 + 1e-7))
    close([*line.w, line.b], [*w, b], 1e-5)
    with pytest.raises(InfeasibleError):
        hard_tube(X, y, epsilon * (1 - 1e-3))


# --- The soft tube ---------------------------------------------------------------------


@pytest.mark.claims("svr-07")
@pytest.mark.parametrize(("d", "C", "epsilon"), [(1, 0.3, 0.5), (20, 1.0, 0.1)])
def test_soft_tube_is_the_regularised_risk_at_its_least(rng, d, C, epsilon):
    X, y = noisy_line(rng, d=d)
    tube = soft_tube(X, y, epsilon, C)
    f = decision(X, tube.w, tube.b)
    close(tube.xi, tube_slack(f, y, epsilon))
    least = tube.w @ tube.w / 2 + C * insensitive_loss(f, y, epsilon).sum()
    assert least == pytest.approx(tube.objective, rel=1e-8)
    z, beta = y - f, beta_of(tube.alpha)  # 0 is a subgradient: beta_i in C times that of the loss
    close(tube.w, X.T @ beta, 1e-6)
    outside = np.abs(z) > epsilon + 1e-6
    close(beta[outside], C * np.sign(z[outside]), 1e-6)
    close(beta[np.abs(z) < epsilon - 1e-6], 0, 1e-6)
    assert np.abs(beta).max() <= C + 1e-9 and abs(beta.sum()) < 1e-6


@pytest.mark.claims("svr-19")
def test_soft_tube_of_a_small_cost_is_smooth(rng):
    X, y = noisy_line(rng, n=20)
    epsilon, margins, losses = 0.3, [], []
    for C in (1e-3, 1e-2, 0.1, 1.0, 10.0):
        tube = soft_tube(X, y, epsilon, C)
        margins.append(linear_margin(tube.w, epsilon))
        losses.append(insensitive_loss(decision(X, tube.w, tube.b), y, epsilon).sum())
    assert (np.diff(margins) <= 1e-7).all() and (np.diff(losses) <= 1e-7).all()
    assert margins[0] > 10 * margins[-1] and losses[0] > losses[-1] + 1
    tube = soft_tube(X, y, epsilon, 1e-7)
    close(tube.w, 0, 1e-5)
    levels = np.concatenate([y - epsilon, y + epsilon])  # where the risk of a constant bends
    least = min(insensitive_loss(c, y, epsilon).sum() for c in levels)
    assert insensitive_loss(tube.b, y, epsilon).sum() == pytest.approx(least, rel=1e-5)


@pytest.mark.claims("svr-25")
@pytest.mark.parametrize("s", [0.1, 3.0])
def test_soft_tube_has_an_epsilon_in_units_of_the_targets(rng, s):
    X, y = noisy_line(rng)
    for program, power in ((soft_tube, 1), (squared_tube, 0)):
        tube, scaled = program(X, y, 0.4, 0.6), program(X, s * y, s * 0.4, s**power * 0.6)
        theta = s * np.array([*tube.w, tube.b])
        close([*scaled.w, scaled.b], theta, rtol=1e-6)
        same = program(X, s * y, 0.4, s**power * 0.6)  # with the same epsilon
        assert np.abs([*same.w, same.b] - theta).max() > 1e-3 * s


@pytest.mark.claims("svr-08")
def test_tube_lagrangian_is_stationary_at_the_optimum(rng):
    X, y = noisy_line(rng)
    epsilon, C = 0.4, 0.7
    tube = soft_tube(X, y, epsilon, C)

    def value(theta, alpha, r):
        xi = theta[3:].reshape(2, 16)
        return tube_lagrangian(X, y, theta[:2], theta[2], xi, alpha, r, epsilon, C)

    alpha, r = tube.alpha, C - tube.alpha
    assert (alpha >= -1e-9).all() and (r >= -1e-9).all()
    theta = np.concatenate([tube.w, [tube.b], tube.xi.ravel()])
    close(differences(lambda t: value(t, alpha, r), theta), 0, 1e-6)
    assert value(theta, alpha, r) == pytest.approx(tube.objective, rel=1e-6)
    alpha, r, theta = rng.uniform(size=(2, 16)), rng.uniform(size=(2, 16)), rng.normal(size=35)
    in_w = theta[:2] - X.T @ beta_of(alpha)
    gradient = [*in_w, -beta_of(alpha).sum(), *(C - alpha - r).ravel()]
    close(differences(lambda t: value(t, alpha, r), theta), gradient)


@pytest.mark.claims("svr-06")
def test_tube_lagrangian_without_the_norm_has_no_gram_matrix(rng):
    X, y = noisy_line(rng)
    C, epsilon, b, alpha = 1.0, 0.3, 0.7, balanced(rng, 16)
    xi, beta = rng.uniform(size=(2, 16)), beta_of(alpha)
    pull = X.T @ beta

    def with_norm(w):
        return tube_lagrangian(X, y, w, b, xi, alpha, C - alpha, epsilon, C)

    along = [with_norm(t * pull) - t**2 * (pull @ pull) / 2 for t in (0.0, 1.0, 2.0, 1e6)]
    close(np.diff(along)[:2], -pull @ pull, rtol=1e-9)
    assert along[3] < -1e5  # no lower bound, since sum_i beta_i x_i is not 0
    drop = with_norm(pull) - with_norm(np.zeros(2))
    assert drop == pytest.approx(-beta @ (X @ X.T) @ beta / 2, rel=1e-10)
    assert all(with_norm(pull + rng.normal(size=2)) > with_norm(pull) for _ in range(20))


# --- The dual --------------------------------------------------------------------------


@pytest.mark.claims("svr-09")
def test_tube_dual_is_the_least_of_the_lagrangian_and_never_above_a_primal_value(rng):
    X, y = noisy_line(rng)
    K, epsilon, C = X @ X.T, 0.3, 0.5
    tube = soft_tube(X, y, epsilon, C)
    best = solve_dual(np.tile(K, (2, 2)), stacked_dual(y, epsilon, C))
    assert best.objective == pytest.approx(tube.objective, rel=1e-6)
    assert tube_dual(unstack(best.beta), K, y, epsilon) == pytest.approx(best.objective, rel=1e-9)
    for _ in range(20):
        alpha = balanced(rng, 16, C)
        value, beta = tube_dual(alpha, K, y, epsilon), beta_of(alpha)
        slow = -sum(beta[i] * beta[j] * (X[i] @ X[j]) / 2 for i, j in np.ndindex(16, 16))
        slow += sum(y * beta) - epsilon * sum(alpha[0] + alpha[1])
        assert slow == pytest.approx(value, rel=1e-10) and value <= tube.objective + 1e-9
        b, xi, v = rng.normal(), rng.normal(size=(2, 16)), rng.normal(size=2)
        at = [  # b and xi are of no consequence, w is best at sum_i beta_i x_i
            tube_lagrangian(X, y, w, b, xi, alpha, C - alpha, epsilon, C)
            for w in (X.T @ beta, X.T @ beta + v)
        ]
        assert at[0] == pytest.approx(value, rel=1e-10) and at[1] > value
    assert tube_dual(alpha + [[1e-3], [0.0]], K, y, epsilon) == -inf
    assert tube_dual(0 * alpha, K, y, epsilon) == 0


@pytest.mark.claims("svr-10", "svr-11")
def test_tube_dual_has_two_differences_and_a_minus_in_its_quadratic_term(rng):
    X, y = noisy_line(rng)
    K, epsilon, C = X @ X.T, 0.3, 500.0
    tube = soft_tube(X, y, epsilon, C)
    alpha, beta = tube.alpha, beta_of(tube.alpha)
    linear = y @ beta - epsilon * alpha.sum()
    assert linear - beta @ K @ beta / 2 == pytest.approx(tube.objective, rel=1e-6)
    printed = linear - alpha.sum(axis=0) @ K @ beta / 2  # MLN: a sum for a difference
    assert abs(tube.objective - printed) > 1
    vertex = np.zeros((2, 16))  # ISML: a plus, with which weak duality fails
    vertex[0, 2] = vertex[1, 9] = C
    bound = min(C * insensitive_loss(b, y, epsilon).sum() for b in y)  # a primal value
    printed = tube_dual(vertex, -K, y, epsilon)
    assert printed > bound >= tube.objective > tube_dual(vertex, K, y, epsilon)


@pytest.mark.claims("svr-12")
def test_beta_tells_where_a_sample_lies(rng):
    X, y = noisy_line(rng, n=30)
    epsilon, C = 0.6, 0.8
    tube = soft_tube(X, y, epsilon, C)
    model = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, y)
    assert np.max(tube.alpha[0] * tube.alpha[1]) < 1e-10
    z, beta = y - decision(X, tube.w, tube.b), beta_of_model(model, 30)
    close(beta, beta_of(tube.alpha))
    inside, outside = np.abs(z) < epsilon - 1e-6, np.abs(z) > epsilon + 1e-6
    close(beta[inside], 0)
    close(beta[outside], C * np.sign(z[outside]), rtol=1e-7)
    edge = np.abs(beta[~inside & ~outside])
    assert ((edge > 0.01) & (edge < C - 0.01)).any()
    S = beta != 0
    assert 0 < S.sum() < 30
    fewer = soft_tube(X[S], y[S], epsilon, C)
    close([*fewer.w, fewer.b], [*tube.w, tube.b], 1e-5)


def beta_of_model(model, n):
    """The beta_i of all samples."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


@pytest.mark.claims("svr-13", "svr-14")
def test_evaluate_needs_inner_products_only_and_every_free_multiplier_tells_b(rng):
    X, y = noisy_line(rng, n=25)
    Z, epsilon, C = rng.normal(size=(9, 2)), 0.5, 0.7
    for phi in (lambda X: X, scaled_quadratic_map):
        A, tube = phi(X), soft_tube(phi(X), y, epsilon, C)
        K, alpha = A @ A.T, best_alpha(A @ A.T, y, epsilon, C)
        beta, b = beta_of(alpha), offset_of(alpha, K, y, epsilon, C)
        close([*A.T @ beta, b], [*tube.w, tube.b], 1e-5)
        close(evaluate(phi(Z) @ A.T, beta, b), decision(phi(Z), tube.w, tube.b), 1e-4)
        free, without_b = (alpha > 0) & (alpha < C), y - A @ tube.w
        assert free[0].any() and free[1].any()
        close(without_b[free[0]] - epsilon, b, 1e-5)  # a minus for samples above,
        close(without_b[free[1]] + epsilon, b, 1e-5)  # a plus for those below: not twice a plus


@pytest.mark.claims("svr-15")
def test_soft_tube_has_the_cost_itself_as_the_bound_of_its_multipliers():
    X, y = HAND
    epsilon, C, n = 0.5, 1.0, 2
    tube = soft_tube(X, y, epsilon, C)
    close(tube.w, [1.5])
    close(tube.alpha, [[0.75, 0], [0, 0.75]])
    assert not ((tube.alpha[0] > 1e-6) & (tube.alpha[0] < C / n)).any()  # the printed rule
    assert offset_of(tube.alpha.round(9), X @ X.T, y, epsilon, C) == pytest.approx(0, abs=1e-8)
    averaged = soft_tube(X, y, epsilon, 4.0 / n)  # with C / n in the primal, C / n bounds alpha
    assert 0 < averaged.alpha[0, 0] < 4.0 / n


def test_stacked_is_the_matrix_of_four_blocks(rng):
    X = rng.normal(size=(9, 3))
    kernel, chosen = make_kernel("rbf", 0.7, 3, 0.0, X), np.array([4, 14, 7, 2])
    K = kernel(X)
    whole = np.block([[K, K], [K, K]])
    for form in (Stacked(K), Stacked(GramRows(X, kernel, capacity=2))):
        for place in (17, chosen):
            close(form[place], whole[place], 1e-13, rtol=1e-12)
        close(form.diagonal(), whole.diagonal(), 0, rtol=1e-13)
        close(form @ (beta := rng.normal(size=18)), whole @ beta, 1e-12, rtol=1e-12)


# --- Squared slack ---------------------------------------------------------------------


@pytest.mark.claims("svr-20", "svr-21")
@pytest.mark.parametrize(("d", "C", "epsilon"), [(3, 5.0, 0.0), (20, 1.0, 0.3)])
def test_squared_tube_is_a_smooth_problem_and_its_slack_multiplier_by_cost(rng, d, C, epsilon):
    X, y = noisy_line(rng, d=d)
    w, b, xi, alpha, objective = squared_tube(X, y, epsilon, C)
    f = decision(X, w, b)
    loss, slack = insensitive_loss(f, y, epsilon), tube_slack(f, y, epsilon)
    close(w, C * X.T @ beta_of(slack), 1e-6)  # the gradient of a convex function is 0
    close(beta_of(slack).sum(), 0, 1e-6)
    assert objective == pytest.approx(w @ w / 2 + C / 2 * loss @ loss, rel=1e-8)
    close(xi, slack)
    assert xi.min() >= -1e-10 and np.max(xi[0] * xi[1]) < 1e-12  # unasked
    close(alpha / C, xi)

    def at(theta):
        w, b, xi = theta[:d], theta[d], theta[d + 1 :].reshape(2, 16)
        return squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C)

    theta = np.concatenate([w, [b], xi.ravel()])
    assert at(theta) == pytest.approx(objective, rel=1e-7)
    close(differences(at, theta), 0, 1e-5)


@pytest.mark.claims("svr-22")
def test_squared_lagrangian_has_a_derivative_in_b_that_balances_the_dual(rng):
    X, y = noisy_line(rng)
    epsilon, C = 0.4, 0.7
    alpha, xi, w = rng.uniform(size=(2, 16)), rng.normal(size=(2, 16)), rng.normal(size=2)
    slope = differences(lambda b: squared_lagrangian(X, y, w, b, xi, alpha, epsilon, C), 0.3)
    assert slope == pytest.approx(-beta_of(alpha).sum(), abs=1e-8)
    tube = squared_tube(X, y, epsilon, C)
    assert abs(beta_of(tube.alpha).sum()) < 1e-8
    M = np.tile(X @ X.T, (2, 2)) + np.diag(np.full(32, 1 / C))
    signs = np.repeat([1.0, -1.0], 16)
    q = epsilon - signs * np.tile(y, 2)
    printed = solve_qp(signs[:, None] * M * signs, q, G=np.eye(32), h=np.zeros(32))  # no sum
    assert -printed.objective > tube.objective + 1
    w = X.T @ beta_of(printed.x.reshape(2, 16))
    losses = insensitive_loss(X @ w, y, epsilon)  # it is the dual of a tube without b
    assert -printed.objective == pytest.approx(w @ w / 2 + C / 2 * losses @ losses, rel=1e-7)


@pytest.mark.claims("svr-23")
def test_squared_tube_dual_is_a_ridge_on_the_gram_matrix(rng):
    X, y = noisy_line(rng, n=10)
    K, epsilon, C = X @ X.T, 0.5, 0.2
    M, tube = K + np.eye(10) / C, squared_tube(X, y, epsilon, C)
    beta = beta_of(unstack(solve_dual(np.tile(M, (2, 2)), stacked_dual(y, epsilon)).beta))
    beta -= beta.mean()  # rounding
    value = squared_tube_dual(beta, K, y, epsilon, C)
    assert value == pytest.approx(tube.objective, rel=1e-8)
    close(beta, beta_of(tube.alpha))
    S = np.abs(beta) > 1e-6
    assert 3 <= S.sum() < 10
    b = y - K @ beta - epsilon * np.sign(beta) - beta / C
    close(b[S], tube.b, 1e-6)
    alpha = tube.alpha  # with two multipliers each: L at its least in w, b, xi
    L = squared_lagrangian(X, y, X.T @ beta_of(alpha), 0.0, alpha / C, alpha, epsilon, C)
    assert L == pytest.approx(value, rel=1e-7)
    for _ in range(20):
        other = beta + (v := 0.3 * rng.normal(size=10)) - v.mean()
        assert squared_tube_dual(other, K, y, epsilon, C) < tube.objective
    assert squared_tube_dual(beta + 0.1, K, y, epsilon, C) == -inf
    assert squared_tube_dual(0 * beta, K, y, epsilon, C) == 0


@pytest.mark.claims("svr-24")
@pytest.mark.parametrize("C", [0.2, 3.0])
def test_without_tube_is_ridge_regression_with_a_free_offset(rng, C):
    X, y = noisy_line(rng, d=3)
    beta, b = without_tube(X @ X.T, y, C)
    tube = squared_tube(X, y, 0.0, C)
    close(beta, beta_of(tube.alpha))
    X_c, y_c = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(X_c.T @ X_c + np.eye(3) / C, X_c.T @ y_c)
    close(X.T @ beta, w, 1e-10)
    assert b == pytest.approx(y.mean() - w @ X.mean(axis=0), abs=1e-10)
    close([*tube.w, tube.b], [*w, b])
    clashing = np.linalg.solve(X_c.T @ X_c + C * np.eye(3), X_c.T @ y_c)
    assert np.abs(clashing - w).max() > 1e-3  # C on the penalty is another thing
    model = L2SVR(kernel="linear", C=C, epsilon=0.0, tol=1e-9).fit(X, y)
    close(model.coef_[0], w)
    far, b_far = without_tube(X @ X.T, y + 2.0**40, C)
    close([*far, b_far - 2.0**40], [*beta, b], 1e-3)


# --- The nu tube -----------------------------------------------------------------------


@pytest.mark.claims("svr-26")
@pytest.mark.parametrize("nu", [0.1, 0.77, 9.0])
def test_best_epsilon_is_a_quantile_of_the_residuals(rng, nu):
    n = 23
    f, y = rng.normal(size=n), rng.normal(size=n)

    def cost(epsilon):
        return nu * epsilon + insensitive_loss(f, y, epsilon).mean()

    epsilon, z = best_epsilon(f, y, nu), np.abs(y - f)
    assert cost(epsilon) == pytest.approx(min(map(cost, [0.0, *z])), abs=1e-12)
    assert epsilon in (0.0, *z) and (epsilon > 0) == (nu < 1)
    if epsilon > 0:
        assert (z > epsilon).sum() <= nu * n <= (z >= epsilon).sum()
    assert best_epsilon(np.zeros(100), np.arange(1.0, 101), 0.29) == 71  # 0.29 * 100 < 29


@pytest.mark.claims("svr-26", "svr-27")
@pytest.mark.parametrize("nu", [0.1, 0.8])
def test_nu_tube_finds_its_width_by_the_shares_of_errors_and_of_support_vectors(rng, nu):
    n, C = 30, 20.0
    X, y = noisy_line(rng, n=n)
    w, b, epsilon, xi, _, objective = nu_tube(X, y, nu, C)
    f, K = decision(X, w, b), X @ X.T
    for width in (epsilon, best_epsilon(f, y, nu)):
        losses = nu * width + insensitive_loss(f, y, width).mean()
        assert w @ w / 2 + C * losses == pytest.approx(objective, rel=1e-7)
    assert epsilon > 0.01
    close(xi, tube_slack(f, y, epsilon))
    best = solve_dual(np.tile(K, (2, 2)), stacked_nu_dual(y, nu, C))
    alpha = unstack(best.beta)
    assert best.objective == pytest.approx(objective, rel=1e-6)
    beta = beta_of(alpha)
    assert y @ beta - beta @ K @ beta / 2 == pytest.approx(best.objective, rel=1e-9)
    assert abs(beta.sum()) < 1e-7 and alpha.sum() == pytest.approx(C * nu, rel=1e-8)
    assert alpha.min() > -1e-9 and alpha.max() < C / n + 1e-9
    outside = xi.max(axis=0) > 1e-6
    assert outside.mean() <= nu + 1e-12 <= (alpha.max(axis=0) > 1e-7).mean() + 1e-9
    same = soft_tube(X, y, epsilon, C / n)
    close([*same.w, same.b], [*w, b], 1e-5)


@pytest.mark.claims("svr-27")
def test_nu_svr_has_the_edges_of_the_tube_as_offsets_of_its_groups(rng):
    n, nu, C = 40, 0.4, 0.5
    X, y = noisy_line(rng, n=n)
    model = NuSVR(kernel="linear", nu=nu, C=C, tol=1e-10).fit(X, y)
    tube = nu_tube(X, y, nu, n * C)  # MLN's C
    fitted = [*model.coef_[0], *model.intercept_, model.epsilon_]
    close(fitted, [*tube.w, tube.b, tube.epsilon], 1e-6)
    above, below = model.certificate_.offsets
    assert (above - below) / 2 == model.epsilon_
    same = SVR(kernel="linear", C=C, epsilon=model.epsilon_, tol=1e-10).fit(X, y)
    close(same.predict(X), model.predict(X), 1e-6)


def test_nu_tube_may_have_no_width(rng):
    X = rng.normal(size=(9, 2))  # nor one below 0, by rounding or where the run stops early
    y = X @ [1.0, 2.0] + rng.normal(size=9)
    assert 0 <= nu_tube(X, y, 0.99, C=1.0).epsilon < 1e-12
    coarse = NuSVR(kernel="linear", nu=0.9, C=1e2, tol=0.1).fit(X, X @ [1.0, 2.0])
    assert 0 <= coarse.epsilon_ <= 0.1 * np.abs(X @ [1.0, 2.0]).max()
    every = NuSVR(kernel="linear", nu=1.0, tol=1e-9).fit(X, y)  # every epsilon > 0 costs
    close(every.coef_, SVR(kernel="linear", epsilon=0.0, tol=1e-9).fit(X, y).coef_, 1e-6)


# --- The optimum and its certificate ---------------------------------------------------


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


def machines(C, epsilon, nu, **params):
    """The three estimators, alike."""
    params = {"tol": 1e-6, "degree": 2, "coef0": 1.0} | params
    soft, squared = (kind(C=C, epsilon=epsilon, **params) for kind in (SVR, L2SVR))
    return soft, NuSVR(C=C, nu=nu, **params), squared


def stated(model, X, y):
    """The matrix and the dual of a model's problem, and its primal value at the f it predicts."""
    K = make_kernel(model.kernel, model.gamma, model.degree, model.coef0, X)(X)
    n, C, f, beta = len(X), model.C, model.predict(X), beta_of_model(model, len(X))
    square = beta @ K @ beta / 2
    if isinstance(model, NuSVR):
        losses = insensitive_loss(f, y, model.epsilon_).sum() + model.nu * n * model.epsilon_
        return K, stacked_nu_dual(y, model.nu, C * n), square + C * losses
    losses = insensitive_loss(f, y, model.epsilon)
    if isinstance(model, L2SVR):
        ridged = K + np.eye(n) / C
        return ridged, stacked_dual(y, model.epsilon), square + C / 2 * losses @ losses
    return K, stacked_dual(y, model.epsilon, C), square + C * losses.sum()


def check_optimal(model, X, y):
    """The optimum of the second route, the certificate, the primal at f, and the KKT interval."""
    (M, dual, primal), z = stated(model, X, y), np.abs(y - np.median(y))
    tol = model.tol * (np.median(z[z > 0]) if isinstance(model, NuSVR) and z.any() else 1.0)
    exact = solve_dual(np.tile(M, (2, 2)), dual).objective if np.ptp(y) else 0.0
    size = max(abs(exact), 1e-9 * max(1.0, model.C) * np.abs(y).sum())
    c, beta = model.certificate_, beta_of_model(model, len(X))
    assert model.converged_ and c.violation <= tol
    assert abs(c.dual - exact) <= 1e-6 * size
    assert exact - 1e-6 * size <= c.primal <= exact + 1e-6 * size + len(y) * model.C * tol
    clipped = 0.0  # a width that came out below 0, by less than tol, is 0 in the model
    if isinstance(model, NuSVR):
        clipped = max(0.0, c.offsets[1] - c.offsets[0]) / 2
        assert clipped <= tol
    most = 1e-6 * size + clipped * model.C * len(X)
    assert primal == pytest.approx(c.primal, rel=1e-6, abs=most)
    assert abs(beta.sum()) <= 1e-9 * max(1e-300, np.abs(beta).sum())
    assert model.history_[-1] == pytest.approx(c.dual, rel=1e-9, abs=1e-9 * size)
    assert (np.diff(model.history_) >= -1e-9 * size).all()


@pytest.mark.parametrize("seed", range(45))
def test_fit_solves_random_problems_to_six_digits(seed):
    X, y, kernel, C, epsilon, nu = problem(seed)
    for model in machines(C, epsilon, nu, kernel=kernel):
        check_optimal(model.fit(X, y), X, y)


def test_fit_stores_what_its_attributes_say():
    X, y = HAND
    model = SVR(kernel="linear", C=1.0, epsilon=0.5)
    for name in ("coef_", "n_support_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    model.fit(X, y)
    assert model.certificate_.dual == model.certificate_.primal == 1.125
    equal(model.support_, [0, 1])
    equal(model.n_support_, [2])
    np.testing.assert_allclose(model.set_params(kernel="rbf").coef_, [[1.5]])  # of the fit
    with pytest.raises(AttributeError, match="coef_ must have kernel='linear'"):
        model.fit(X, y).coef_  # noqa: B018


# --- Data and their units --------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fit_loses_no_digits_of_data_far_from_zero(rng, kernel):
    X, y = (np.round(1024 * each) / 1024 for each in noisy_line(rng, n=24))  # exact far away, too
    for model in machines(1.0, 0.2, 0.4, kernel=kernel):
        beta, near, b = model.fit(X, y).dual_coef_, model.certificate_, model.intercept_
        model.fit(X, y + 2.0**40)
        equal(model.dual_coef_, beta)
        close(model.intercept_ - 2.0**40, b, 1e-3)
        assert model.certificate_[:3] == near[:3]
        close(model.certificate_.offsets - 2.0**40, near.offsets, 1e-3)
        if kernel == "linear":
            f, far = model.fit(X, y).predict(X), X + 2.0 ** np.array([24, 30])
            close(model.fit(far, y).dual_coef_, beta, 1e-9)
            close(model.predict(far), f, 1e-5)
            assert model.intercept_[0] == model.certificate_.offsets.mean()
    y[0] = -(2.0**40)  # nor of other targets than an outlier
    model = SVR(kernel=kernel, epsilon=0.2, tol=1e-6)
    near, far = model.fit(X, y).dual_coef_, model.fit(X, y + 2.0**40).dual_coef_
    close(far, near, 1e-9)


def test_nu_svr_has_a_tolerance_that_no_outlier_makes_coarse(rng):
    X, y = noisy_line(rng)
    y[0] = 1e9
    assert NuSVR(gamma=1.0, C=10.0).fit(X, y).certificate_.violation < 0.01


def test_fit_predicts_a_constant_where_nothing_else_can_be_learnt(rng):
    X = np.arange(8.0).reshape(4, 2)
    for model in machines(1.0, 0.1, 0.5):
        close(model.fit(X, np.full(4, 1e15 / 3)).predict(X), 1e15 / 3)
        assert model.certificate_[:3] == (0, 0, 0) and model.converged_
        assert model.fit([[1.0, 2.0]], [7.0]).predict([[0.0, 0.0]])[0] == pytest.approx(7.0)
        model.set_params(kernel="linear", tol=1e-3).fit(np.zeros((310, 2)), rng.normal(size=310))
        assert model.converged_ and model.certificate_.gap < 1
        equal(model.predict([[5.0, 5.0]]), model.intercept_)
    y = np.array([1.0, 7.0, 2.0, 3.0])  # a tube that is wide enough for all is flat
    for epsilon in (4.0, 1e3):
        for model in (SVR(epsilon=epsilon), L2SVR(epsilon=epsilon)):
            equal(model.fit(X, y).predict(X), 4.0)
            assert model.certificate_[:3] == (0, 0, 0) and model.dual_coef_.shape == (1, 0)


@pytest.mark.parametrize("C", [1e-9, 1e9])
def test_fit_takes_huge_and_tiny_costs(rng, C):
    X, y = noisy_line(rng, n=12)
    for model in machines(C, 0.3, 0.5, kernel="rbf"):
        model.fit(X, y)
        assert model.converged_ and np.isfinite(model.certificate_.primal)
        if C < 1:
            close(model.predict(X), model.intercept_[0], 1e-6)
        elif not isinstance(model, NuSVR):  # the kernel matrix is regular: the tube holds all
            assert np.abs(model.predict(X) - y).max() <= 0.3 + 1e-5


def test_fit_gives_the_places_of_the_support_vectors_among_all_samples(rng):
    X, y = noisy_line(rng)
    weights = np.arange(16) % 3  # weight 0 means absence
    for model in machines(0.5, 0.3, 0.4):
        model.fit(X, y, sample_weight=weights)
        assert (weights[model.support_] > 0).all()
        equal(X[model.support_], model.support_vectors_)


def test_fit_of_a_matrix_that_does_not_fit_gives_the_same_solution(rng):
    X, y = noisy_line(rng, n=60)
    for model in machines(1.0, 0.2, 0.4, tol=1e-8):
        whole = model.fit(X, y).predict(X)
        close(model.set_params(cache_size=0.01).fit(X, y).predict(X), whole, 1e-6)


def test_fit_that_is_cut_short_says_so_in_the_unit_of_its_tolerance(rng):
    X, y = noisy_line(rng)
    z = 64 * np.abs(y - np.median(y))
    for model in machines(10.0, 0.01, 0.5, max_iter=2):
        with pytest.warns(ConvergenceWarning, match="stopped after 2 iter") as warned:
            model.fit(X, 64 * y)
        unit = np.median(z[z > 0]) if isinstance(model, NuSVR) else 1.0
        violation = model.certificate_.violation / unit
        assert f"violation = {violation:.3g}, and" in str(warned[0].message)
        assert not model.converged_ and model.n_iter_ == 2 and len(model.history_) == 3
        assert model.certificate_.gap > 0


@pytest.mark.filterwarnings("ignore::mlnotes.base.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fit_ends_whatever_its_tolerance(rng, kernel):
    X, y = noisy_line(rng)
    for model in machines(1.0, 0.1, 0.5, kernel=kernel, tol=1e3):  # met at the start
        assert model.fit(X, y).converged_ and model.n_iter_ == 0
        equal(model.predict(X), model.intercept_[0])
    for model in machines(1.0, 0.1, 0.5, kernel=kernel, tol=1e-25):  # below rounding
        if model.fit(X, y).converged_:
            assert model.certificate_.violation == 0
        assert model.n_iter_ < 10**4 and abs(model.certificate_.gap) < 1e-9


def test_what_has_no_tube_is_refused():
    with pytest.raises(ValueError, match=r"nu must be <= 1, .*; got 1\.2"):
        NuSVR(nu=1.2).fit([[0.0], [1.0]], [0.0, 1.0])
    for model in machines(inf, 0.1, 0.5):
        with pytest.raises(ValueError, match="C must be a number > 0 and < inf; got inf"):
            model.fit([[0.0], [1.0]], [0.0, 1.0])


# --- The lecture figures ---------------------------------------------------------------


def circled(ax):
    """The samples that a panel circles: (k, 2)."""
    circles = [line.get_xydata() for line in ax.lines if line.get_markerfacecolor() == "none"]
    return np.reshape(circles, (-1, 2))


@pytest.mark.claims("svr-28")
def test_the_figure_of_the_tubes_shows_all_inside_and_three_outside():
    from figures.svr import EPSILON, ORANGE, C, near_a_line, tube

    (X, y), (_, y_far) = near_a_line(), near_a_line(far=((3, 1.4), (7, -1.5), (12, 1.2)))
    tubes = (hard_tube(X, y, EPSILON), y, 0), (soft_tube(X, y_far, EPSILON, C), y_far, 3)
    *pictures, right = panels(tube, 1, 3)
    for ax, (fitted, y, outside) in zip(pictures, tubes, strict=True):
        f = decision(X, fitted.w, fitted.b)
        xi = tube_slack(f, y, EPSILON).max(axis=0)
        bars = [line.get_xydata() for line in ax.lines if line.get_color() == ORANGE]
        assert len(bars) == outside == np.sum(xi > 1e-6)
        drawn = np.reshape([(bar[0, 0], np.ptp(bar[:, 1])) for bar in bars], (-1, 2))
        close(drawn, np.column_stack([X[:, 0], xi])[xi > 1e-6], 1e-9)
        held = np.abs(y - f) >= EPSILON - 1e-6
        equal(circled(ax), np.column_stack([X[held, 0], y[held]]))
    (loss,) = [line for line in right.lines if line.get_label() == "$\\ell_\\epsilon$"]
    equal(loss.get_ydata(), insensitive_loss(0, loss.get_xdata(), 1.0))


@pytest.mark.claims("svr-29")
def test_the_figure_of_the_sine_circles_ten_where_the_tube_bends():
    from figures.svr import bent_tube, fits, sine

    T, errors = sine(), []
    for ax, model in zip(panels(bent_tube, 1, 2), fits().values(), strict=True):
        errors.append(np.sqrt(np.mean((T.y - model.predict(T.X)) ** 2)))
        S = np.sort(model.support_)
        assert f"error {errors[-1]:.2f}, {len(S)} circled" in ax.get_title()
        equal(circled(ax), np.column_stack([T.X[S, 0], T.y[S]]))
    assert len(S) == 10 and errors[1] < errors[0] / 2


def test_the_figure_of_the_wrong_targets_shows_one_curve_that_stays():
    from figures.svr import ORANGE, two_curves, wrong_targets

    X, y, ridge, tube = two_curves(wrong=10)
    right = two_curves(wrong=0)
    equal(y, right[1] * np.where(np.arange(118) < 10, 10, 1))
    for ax in panels(wrong_targets, 1, 2):
        (wrong,) = [line for line in ax.lines if line.get_color() == ORANGE]
        equal(wrong.get_xydata(), np.column_stack([X[:10, 0], y[:10]]))
    assert np.abs(tube(X) - right[3](X)).mean() < 0.1
    assert (ridge(X) - right[2](X)).mean() > 1
