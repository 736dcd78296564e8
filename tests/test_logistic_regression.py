"""The logistic regression chapter: every statement of the notes, checked by a second route."""

import pickle
from itertools import islice, product

import numpy as np
import pytest
from checks import check_gradient, check_hessian, differences
from matplotlib.figure import Figure

import figures.logistic_regression as figures
from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.datasets import load_breast_cancer, load_digits, load_iris, make_blobs, make_separable
from mlnotes.decision_theory import empirical_risk, margin_zero_one, normal_log_odds
from mlnotes.generative import quadratic_log_odds
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import (
    LogisticRegression,
    SeparableError,
    class_0_log_odds,
    cost,
    cross_entropy,
    functional_margins,
    geometric_margin,
    gradient,
    gradient_ascent,
    hessian,
    hessian_product,
    irls,
    label_probability,
    likelihood,
    log_loss,
    log_loss_curvature,
    log_loss_slope,
    max_eta,
    normal_model,
    ray_scale,
    separator,
    sigmoid,
    softmax,
    softmax_cost,
    softmax_gradient,
    softmax_hessian_product,
    softmax_newton,
    stochastic_gradient_ascent,
    working_response,
)
from mlnotes.numerics import conjugate_gradients
from mlnotes.optimization import convexity_gap, separating_hyperplane
from mlnotes.probability import (
    multivariate_normal_log_density,
    normal_cdf,
    sample_multivariate_normal,
)

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
STANDARD_ERRORS = 4


def overlapping(rng, n=80, d=3, b=0.7):
    """A (n, d + 1), y in -1, +1 drawn from the model, and its theta."""
    A = augment(rng.normal(size=(n, d)) * np.arange(1, d + 1))
    theta = np.append(b, rng.normal(size=d) / 2)
    y = np.where(rng.uniform(size=n) < sigmoid(A @ theta), 1.0, -1.0)
    assert separator(A, y) is None
    return A, y, theta


def separated(rng, n=40, d=3, gap=0.3):
    """A, y and a separator theta."""
    T = make_separable(n, d, gap=gap, rng=rng)
    return augment(T.X), T.y, np.append(T.truth.b, T.truth.w)


def minimum(A, y, lam=0.0, theta0=0.0):
    return list(irls(A, y, theta0, lam=lam))[-1].x


def to_bits(y):
    return (y + 1) / 2


# ---------------------------------------------------------------------------------------
# The log-loss
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-01")
def test_number_of_errors_is_flat_and_jumps_and_is_not_convex(rng):
    A, y, _ = overlapping(rng)
    n = len(y)

    def errors(theta):
        return empirical_risk(margin_zero_one, A @ theta, y)

    for theta in rng.normal(size=(50, A.shape[1])):
        np.testing.assert_array_equal(differences(errors, theta), 0)
        assert errors(theta) * n == pytest.approx(round(errors(theta) * n), abs=1e-12)
        assert errors(1e-3 * theta) == errors(theta)
    # and yet it is not constant: on the way from one side to the other it jumps, by 1/n or more
    way = [errors(np.array([b, 0, 0, 0])) for b in (-1e-300, 0.0, 1e-300)]
    assert way[0] == np.mean(y > 0) and way[2] == np.mean(y < 0) and way[1] == 1.0
    x, one = np.array([[1.0]]), np.array([1.0])
    gap = convexity_gap(
        lambda w: empirical_risk(margin_zero_one, x @ w, one),
        np.array([-1.0]),
        np.array([0.5]),
        0.5,
    )
    assert gap == -0.5  # the midpoint, -1/4, is wrong, and only one end is


@pytest.mark.claims("logistic_regression-02")
def test_log_loss_is_the_naive_formula_and_safe_and_strictly_convex(rng):
    t = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(log_loss(t), np.log(1 + np.exp(-t)), rtol=1e-12, atol=1e-14)
    assert log_loss(-1000.0) == 1000 and log_loss(1000.0) == 0 and log_loss(0.0) == np.log(2)
    for point in (-3.0, 0.0, 2.0):
        check_gradient(log_loss, log_loss_slope, point)
        check_gradient(log_loss_slope, log_loss_curvature, point)
    np.testing.assert_allclose(log_loss_slope(t), -1 / (1 + np.exp(t)), rtol=1e-12)
    assert (np.diff(log_loss(t)) < 0).all() and (log_loss_curvature(t) > 0).all()
    tails = np.array([-50.0, 50.0])  # 1 - sigma(50) would be 0
    np.testing.assert_allclose(log_loss_curvature(tails), np.exp(-50), rtol=1e-12)
    np.testing.assert_allclose(log_loss_slope(tails), [-1, -np.exp(-50)], rtol=1e-12)
    assert (convexity_gap(log_loss, t[:-50], t[50:], 0.3) > 0).all()
    w, b, points = rng.normal(size=4), 0.3, rng.normal(size=(2, 4))
    assert abs(convexity_gap(lambda x: x @ w + b, *points, 0.4)) < 1e-12


@pytest.mark.claims("logistic_regression-04")
def test_log_loss_bounds_the_errors_only_over_log_2():
    t = np.union1d(np.linspace(-4, 4, 801), [0.0])
    step = margin_zero_one(t, 1)
    assert (log_loss(t) / np.log(2) >= step).all()
    assert log_loss(0.0) / np.log(2) == 1
    below = log_loss(t) < step
    np.testing.assert_array_equal(below, (t > -np.log(np.e - 1)) & (t <= 0))
    assert 0 < below.sum() < len(t)


@pytest.mark.claims("logistic_regression-05")
def test_logistic_function_and_its_identities():
    a = np.linspace(-30, 30, 601)
    s = sigmoid(a)
    np.testing.assert_allclose(s, 1 / (1 + np.exp(-a)), rtol=1e-12)
    np.testing.assert_allclose(sigmoid(-a), 1 - s, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(s, (1 + np.tanh(a / 2)) / 2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.log(s), -log_loss(a), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.log(sigmoid(-a)), -np.logaddexp(0, a), rtol=1e-12, atol=1e-12)
    assert sigmoid(0.0) == 0.5 and (s > 0).all() and (s < 1).all()
    check_gradient(sigmoid, lambda a: sigmoid(a) * (1 - sigmoid(a)), 0.7)
    np.testing.assert_array_equal(sigmoid(np.array([-1000.0, 1000.0, -np.inf])), [0, 1, 0])


@pytest.mark.claims("logistic_regression-03")
def test_losses_drawn_are_the_step_and_the_two_curves():
    ax = Figure().subplots()
    figures.losses(ax)
    wrong, right, touch, asymptote, natural, scaled = (line.get_xydata() for line in ax.lines)
    assert (wrong[:, 1] == 1).all() and wrong[-1, 0] == 0  # t = 0 is an error
    assert (right[:, 1] == 0).all() and (right[:, 0] > 0).all()
    np.testing.assert_array_equal(touch, [[0, 1]])
    np.testing.assert_array_equal(asymptote[:, 1], -asymptote[:, 0])
    t = natural[:, 0]
    np.testing.assert_allclose(natural[:, 1], np.log(1 + np.exp(-t)))
    np.testing.assert_allclose(scaled[:, 1] * np.log(2), natural[:, 1])
    at_zero = np.flatnonzero(np.abs(t) < 1e-12)
    assert natural[at_zero, 1] == pytest.approx(np.log(2)) and scaled[at_zero, 1] == 1
    assert abs(natural[0, 1] + t[0]) < 0.05 and natural[-1, 1] < 0.05


def test_logistic_function_drawn_is_symmetric_and_steepest_at_0():
    axes = Figure().subplots(1, 2)
    figures.logistic(*axes)
    f, value = next(line.get_xydata().T for line in axes[0].lines if len(line.get_xdata()) > 100)
    np.testing.assert_allclose(value, 1 / (1 + np.exp(-f)))
    np.testing.assert_allclose(value + value[::-1], 1)
    slope = axes[1].lines[1].get_ydata()
    np.testing.assert_allclose(slope, value * (1 - value), atol=1e-15)
    assert slope.max() == 0.25 and f[slope.argmax()] == 0


# ---------------------------------------------------------------------------------------
# The posterior and the model
# ---------------------------------------------------------------------------------------


def normal_classes(rng, d=3):
    """Two means, a covariance and a prior."""
    R = rng.normal(size=(d, d))
    return rng.normal(size=(2, d)), R @ R.T + np.eye(d), np.array([0.3, 0.7])


def log_densities(X, mu, covariances):
    pairs = zip(mu, covariances, strict=True)
    return np.column_stack([multivariate_normal_log_density(X, m, S) for m, S in pairs])


@pytest.mark.claims("logistic_regression-06")
def test_posterior_is_the_logistic_of_the_log_odds(rng):
    f, p_1 = rng.uniform(0.01, 5, size=(200, 2)), 0.35
    prior = np.array([1 - p_1, p_1])
    xi = class_0_log_odds(np.log(f), prior)
    q_0 = f[:, 0] * prior[0] / (f[:, 0] * prior[0] + f[:, 1] * prior[1])
    np.testing.assert_allclose(
        xi, np.log(f[:, 0] * prior[0] / (f[:, 1] * prior[1])), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(sigmoid(xi), q_0, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sigmoid(-xi), 1 - q_0, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(xi > 0, f[:, 0] * prior[0] > f[:, 1] * prior[1])  # Bayes' rule
    joint = rng.dirichlet(np.ones(10)).reshape(5, 2)  # of x and y in {0, 1}
    conditional_mean = joint @ [0, 1] / joint.sum(axis=1)
    prior = joint.sum(axis=0)
    xi = class_0_log_odds(np.log(joint / prior), prior)
    np.testing.assert_allclose(sigmoid(-xi), conditional_mean, rtol=1e-12, atol=1e-12)
    never = -np.inf
    xi = class_0_log_odds(np.array([[0.0, never], [never, 0.0]]), prior)
    np.testing.assert_array_equal(xi, [np.inf, -np.inf])
    with pytest.raises(ValueError, match="possible"):
        class_0_log_odds(np.array([[never, never]]), prior)


@pytest.mark.claims("logistic_regression-07")
def test_taking_the_class_0_odds_for_the_score_swaps_the_labels(rng):
    mu, Sigma, prior = normal_classes(rng)
    X = 2 * rng.normal(size=(300, 3))
    joint = np.exp(log_densities(X, mu, [Sigma, Sigma])) * prior
    q_1 = joint[:, 1] / joint.sum(axis=1)
    xi = class_0_log_odds(log_densities(X, mu, [Sigma, Sigma]), prior)
    np.testing.assert_allclose(sigmoid(-xi), q_1, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sigmoid(xi), 1 - q_1, rtol=1e-12, atol=1e-12)  # printed as q_1
    assert np.abs(sigmoid(xi) - q_1).max() > 0.9
    y = rng.uniform(size=300) < q_1
    np.testing.assert_array_equal((xi > 0) == y, (-xi > 0) != y)
    np.testing.assert_allclose(
        augment(X) @ normal_model(mu, Sigma, prior), -xi, rtol=1e-10, atol=1e-10
    )


@pytest.mark.claims("logistic_regression-08")
def test_log_odds_of_normal_classes_are_affine_iff_they_share_the_covariance(rng):
    mu, Sigma, prior = normal_classes(rng)
    X = rng.normal(size=(200, 3))
    b, *w = normal_model(mu, Sigma, prior)
    log_p = log_densities(X, mu, [Sigma, Sigma])
    odds = log_p[:, 1] - log_p[:, 0] + np.log(prior[1] / prior[0])
    np.testing.assert_allclose(X @ w + b, odds, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(w, np.linalg.inv(Sigma) @ (mu[1] - mu[0]), rtol=1e-10, atol=1e-10)
    halves = [m @ np.linalg.inv(Sigma) @ m / 2 for m in mu]
    assert b == pytest.approx(halves[0] - halves[1] + np.log(prior[1] / prior[0]), abs=1e-10)

    other = Sigma + np.diag([1.0, 2.0, 3.0])
    log_p = log_densities(X, mu, [Sigma, other])
    odds = log_p[:, 1] - log_p[:, 0] + np.log(prior[1] / prior[0])
    A = augment(X)
    assert np.abs(odds - A @ np.linalg.lstsq(A, odds)[0]).max() > 0.1
    squares = np.einsum("ni,nj->nij", X, X)[:, *np.triu_indices(3)]
    Q = np.hstack([A, squares])
    np.testing.assert_allclose(Q @ np.linalg.lstsq(Q, odds)[0], odds, rtol=1e-10, atol=1e-10)
    Q_2, w_2, b_2 = quadratic_log_odds(mu, np.array([Sigma, other]), prior)
    np.testing.assert_allclose(
        np.einsum("ni,ij,nj->n", X, Q_2, X) + X @ w_2 + b_2, odds, rtol=1e-10, atol=1e-10
    )


@pytest.mark.claims("logistic_regression-09")
def test_both_codings_of_the_model_agree_and_sum_to_1(rng):
    X, w, b = rng.normal(size=(100, 3)), 3 * rng.normal(size=3), 0.7
    f = X @ w + b
    plus, minus = label_probability(1, f), label_probability(-1, f)
    np.testing.assert_allclose(plus + minus, 1, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(plus, sigmoid(f), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(minus, 1 - sigmoid(f), rtol=1e-13, atol=1e-15)
    for y in (-1, 1):
        np.testing.assert_allclose(
            label_probability(y, f), np.exp(-log_loss(y * f)), rtol=1e-13, atol=1e-15
        )
        np.testing.assert_allclose(
            label_probability(y, f), 1 / (1 + np.exp(-y * f)), rtol=1e-13, atol=1e-15
        )
    on_it = X - np.outer(f, w) / (w @ w)
    np.testing.assert_allclose(sigmoid(on_it @ w + b), 0.5, rtol=1e-13, atol=1e-13)
    assert label_probability(1, 0.0) == label_probability(-1, 0.0) == 0.5
    np.testing.assert_allclose(sigmoid(augment(X) @ np.append(b, w)), plus, rtol=1e-13, atol=1e-14)
    hinge = sum(np.exp(-np.maximum(0, 1 - y * f)) for y in (-1, 1))
    assert np.abs(hinge - 1).max() > 0.1


@pytest.mark.claims("logistic_regression-11")
def test_likelihood_is_a_distribution_of_the_labels_and_the_samples_follow_it(rng):
    h = rng.uniform(0.05, 0.95, size=6)
    z = np.array([1, 0, 1, 1, 0, 0])
    by_hand = 1.0
    for z_i, h_i in zip(z, h, strict=True):
        by_hand *= h_i**z_i * (1 - h_i) ** (1 - z_i)
    assert likelihood(z, h) == pytest.approx(by_hand, rel=1e-14)
    assert likelihood(np.array([1]), h[:1]) == h[0]
    assert likelihood(np.array([0]), h[:1]) == 1 - h[0]
    total = sum(likelihood(np.array(labels), h) for labels in product((0, 1), repeat=6))
    assert total == pytest.approx(1, abs=1e-12)
    n = 20_000
    drawn = rng.uniform(size=(n, 6)) < h
    error = np.sqrt(h * (1 - h) / n)
    assert (np.abs(drawn.mean(axis=0) - h) < STANDARD_ERRORS * error).all()
    first_two = np.mean((drawn[:, :2] == [True, False]).all(axis=1))  # independence
    p = likelihood(np.array([1, 0]), h[:2])
    assert abs(first_two - p) < STANDARD_ERRORS * np.sqrt(p * (1 - p) / n)


@pytest.mark.claims("logistic_regression-12")
def test_cross_entropy_is_minus_the_log_likelihood_and_safe(rng):
    a, z = 3 * rng.normal(size=15), rng.integers(2, size=15)
    h = 1 / (1 + np.exp(-a))
    printed = -np.sum(z * np.log(h) + (1 - z) * np.log(1 - h))
    assert cross_entropy(z, a) == pytest.approx(printed, abs=1e-10)
    assert cross_entropy(z, a) == pytest.approx(np.sum(np.log(1 + np.exp(a)) - z * a), abs=1e-10)
    assert cross_entropy(z, a) == pytest.approx(-np.log(likelihood(z, h)), abs=1e-10)
    assert cross_entropy(np.array([1, 0, 1]), np.array([-800.0, 800.0, 800.0])) == 1600
    # what is left of a small loss is not rounded away
    small = cross_entropy(np.array([1]), np.array([40.0]))
    assert small == pytest.approx(np.exp(-40), rel=1e-12, abs=0)


@pytest.mark.claims("logistic_regression-13")
def test_without_its_brackets_the_cost_is_unbounded_below(rng):
    a, z = rng.normal(size=20), rng.integers(2, size=20)

    def printed(a):
        h = sigmoid(a)
        return -np.sum(z * np.log(h)) + np.sum((1 - z) * np.log(1 - h))

    h = sigmoid(a)
    assert cross_entropy(z, a) == pytest.approx(-np.log(likelihood(z, h)), abs=1e-10)
    difference = 2 * np.sum((1 - z) * np.log(1 - h))
    assert printed(a) - cross_entropy(z, a) == pytest.approx(difference, abs=1e-10)
    assert abs(difference) > 1
    values = [printed(a + b) for b in (0, 5, 10, 30)]
    assert (np.diff(values) < 0).all() and values[-1] < -20 * np.sum(z == 0)


@pytest.mark.claims("logistic_regression-14")
def test_increasing_functions_of_the_likelihood_have_its_maximiser(rng):
    A, y, _ = overlapping(rng, n=20, d=1)
    grid = [np.array(p) for p in product(np.linspace(-2, 3, 41), np.linspace(-2, 3, 41))]
    L = np.array([likelihood(to_bits(y), sigmoid(A @ theta)) for theta in grid])
    costs = [cost(A, y, theta) for theta in grid]
    assert len(set(map(np.argmax, (L, np.log(L), L**3)))) == 1
    assert np.argmax(L) == np.argmin(costs)
    assert np.argmax(-((L - np.median(L)) ** 2)) != np.argmax(L)  # not increasing


# ---------------------------------------------------------------------------------------
# The cost and its derivatives
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-15")
def test_cost_in_both_codings_and_its_minimum_by_three_routes(rng):
    A, y, _ = overlapping(rng, n=30, d=1)
    for theta in rng.normal(size=(20, 2)):
        by_hand = sum(
            np.log(1 + np.exp(-y_i * (theta @ a_i))) for a_i, y_i in zip(A, y, strict=True)
        )
        assert cost(A, y, theta) == pytest.approx(by_hand, abs=1e-12)
        assert cost(A, y, theta) == pytest.approx(cross_entropy(to_bits(y), A @ theta), abs=1e-12)
        mean = np.mean(log_loss(functional_margins(A, y, theta)))
        assert cost(A, y, theta) == pytest.approx(len(y) * mean, abs=1e-12)
        twice = np.vstack([A, A]), np.concatenate([y, y])
        assert cost(*twice, theta) / len(twice[1]) == pytest.approx(mean, abs=1e-12)
        assert cost(A, y, 100 * theta) > 0
    best = minimum(A, y)
    descent = iterate(gradient_ascent(A, y), "gradient_norm", 1e-9, 20_000)
    assert descent.converged
    np.testing.assert_allclose(descent.state.x, best, rtol=1e-6, atol=1e-6)
    grid = best + np.array(list(product(np.linspace(-1e-3, 1e-3, 21), repeat=2)))
    np.testing.assert_allclose(
        grid[np.argmin([cost(A, y, g) for g in grid])], best, rtol=1e-6, atol=1e-6
    )


@pytest.mark.claims("logistic_regression-17")
def test_gradient_in_three_forms(rng):
    A, y, _ = overlapping(rng)
    z = to_bits(y)
    for theta in rng.normal(size=(5, 4)):
        h = 1 / (1 + np.exp(-A @ theta))
        loop = sum((h_i - z_i) * a_i for h_i, z_i, a_i in zip(h, z, A, strict=True))
        signs = -np.sum((y / (1 + np.exp(y * (A @ theta))))[:, None] * A, axis=0)
        for form in (loop, A.T @ (h - z), signs):
            np.testing.assert_allclose(gradient(A, y, theta), form, rtol=1e-12, atol=1e-12)
        check_gradient(lambda t: cost(A, y, t), lambda t: gradient(A, y, t), theta)


def split_gradient(X, y, w, b, bias_sign):
    """grad_w F by class, with +b or the printed -b in the exponent of the samples of label -1."""
    plus, minus = X[y > 0], X[y < 0]
    return (
        np.sum(-plus / (1 + np.exp(plus @ w + b))[:, None], axis=0)
        + np.sum(minus / (1 + np.exp(-(minus @ w) - bias_sign * b))[:, None], axis=0)
    )  # fmt: skip


@pytest.mark.claims("logistic_regression-18")
def test_gradient_split_by_class(rng):
    A, y, _ = overlapping(rng)
    w, b = rng.normal(size=3), -0.4
    unsplit = gradient(A, y, np.append(b, w))[1:]
    np.testing.assert_allclose(
        split_gradient(A[:, 1:], y, w, b, +1), unsplit, rtol=1e-12, atol=1e-12
    )


@pytest.mark.claims("logistic_regression-19")
def test_sign_before_b_in_the_split_gradient(rng):
    A, y, _ = overlapping(rng)
    X, w = A[:, 1:], rng.normal(size=3)
    numeric = differences(lambda w: cost(A, y, np.append(0.7, w)), w)
    np.testing.assert_allclose(split_gradient(X, y, w, 0.7, +1), numeric, rtol=1e-7, atol=1e-7)
    assert np.abs(split_gradient(X, y, w, 0.7, -1) - numeric).max() > 1  # as printed
    np.testing.assert_array_equal(
        split_gradient(X, y, w, 0.0, -1), split_gradient(X, y, w, 0.0, +1)
    )


@pytest.mark.claims("logistic_regression-20")
def test_mistakes_drive_the_gradient(rng):
    A, y, theta = overlapping(rng)
    f = A @ theta
    each = np.array([gradient(A[[i]], y[[i]], theta) for i in range(len(y))])
    np.testing.assert_allclose(each.sum(axis=0), gradient(A, y, theta), rtol=1e-12, atol=1e-12)
    pull = np.linalg.norm(each, axis=1) / np.linalg.norm(A, axis=1)
    np.testing.assert_allclose(pull, 1 - label_probability(y, f), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pull, label_probability(-y, f), rtol=1e-12, atol=1e-12)
    right = y * f > 0
    assert (pull[right] <= np.exp(-np.abs(f[right]))).all() and (pull[right] < 0.5).all()
    assert (pull[~right] >= 0.5).all() and (~right).any()


@pytest.mark.claims("logistic_regression-21")
def test_hessian_in_its_forms(rng):
    A, y, _ = overlapping(rng)
    for theta in rng.normal(size=(3, 4)):
        H = hessian(A, theta)
        h = 1 / (1 + np.exp(-A @ theta))
        P = h * (1 - h)
        loop = sum(p * np.outer(a, a) for p, a in zip(P, A, strict=True))
        np.testing.assert_allclose(H, loop, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(H, A.T @ np.diag(P) @ A, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(H, H.T, rtol=1e-13, atol=1e-13)
        for labels in (y, -y):
            check_hessian(lambda t, s=labels: gradient(A, s, t), lambda t: hessian(A, t), theta)
        v = rng.normal(size=4)
        assert v @ H @ v == pytest.approx(np.sum((np.sqrt(P) * (A @ v)) ** 2), rel=1e-12)
    twin = np.column_stack([A, A[:, -1]])
    assert np.linalg.eigvalsh(hessian(twin, np.zeros(5)))[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.claims("logistic_regression-33")
@pytest.mark.parametrize("data", [overlapping, separated])
def test_penalised_cost_has_one_bounded_minimiser(rng, data):
    A, y, _ = data(rng)
    m, norms = A.shape[1], []
    for lam in (1e-3, 0.1, 10.0):
        theta = rng.normal(size=m)
        penalty = lam * np.sum(theta**2)
        assert cost(A, y, theta, lam) == pytest.approx(cost(A, y, theta) + penalty, rel=1e-12)
        np.testing.assert_allclose(
            gradient(A, y, theta, lam) - gradient(A, y, theta),
            2 * lam * theta,
            rtol=1e-12,
            atol=1e-12,
        )
        check_hessian(
            lambda t, c=lam: gradient(A, y, t, c), lambda t, c=lam: hessian(A, t, c), theta
        )
        assert np.linalg.eigvalsh(hessian(A, theta, lam))[0] >= 2 * lam * (1 - 1e-12)
        ends = [minimum(A, y, lam, start) for start in (0.0, theta, -5 * theta)]
        for end in ends[1:]:
            np.testing.assert_allclose(end, ends[0], rtol=1e-8, atol=1e-8)
        assert np.linalg.norm(gradient(A, y, ends[0], lam)) < 1e-8
        assert ends[0] @ ends[0] <= len(y) * np.log(2) / lam
        norms.append(np.linalg.norm(ends[0]))
    assert (np.diff(norms) < 0).all()


# ---------------------------------------------------------------------------------------
# The algorithms
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-23")
def test_gradient_ascent_is_monotone_and_ends_where_newton_does(rng):
    A, y, _ = overlapping(rng)
    assert max_eta(A) == pytest.approx(2 / (np.linalg.eigvalsh(A.T @ A)[-1] / 4))
    F = [s.objective for s in islice(gradient_ascent(A, y, eta=1.9 / 2 * max_eta(A)), 300)]
    assert (np.diff(F) <= 1e-12).all() and F[0] == pytest.approx(len(y) * np.log(2))
    run = iterate(gradient_ascent(A, y), "gradient_norm", 1e-8, 20_000)
    np.testing.assert_allclose(run.state.x, minimum(A, y), rtol=1e-5, atol=1e-5)
    theta, z, eta = np.zeros(4), to_bits(y), 0.01
    for state in islice(gradient_ascent(A, y, eta=eta), 20):
        np.testing.assert_allclose(state.x, theta, rtol=1e-13, atol=1e-13)
        theta = theta + eta * A.T @ (z - 1 / (1 + np.exp(-A @ theta)))


def test_beyond_max_eta_gradient_ascent_need_not_be_monotone():
    A, y = np.ones((2, 1)), np.array([1.0, -1.0])
    F = [s.objective for s in islice(gradient_ascent(A, y, [0.01], eta=1.1 * max_eta(A)), 20)]
    assert (np.diff(F) > 0).all()


@pytest.mark.claims("logistic_regression-24")
def test_stochastic_steps_add_up_to_the_batch_and_settle(rng):
    A, y, theta = overlapping(rng, d=2)
    z, eta = to_bits(y), 0.3
    steps = []
    for i in range(len(y)):
        run = stochastic_gradient_ascent(A[[i]], y[[i]], theta, eta=eta, rng=rng)
        steps.append(list(islice(run, 2))[1].x - theta)
        by_hand = eta * (z[i] - sigmoid(theta @ A[i])) * A[i]
        np.testing.assert_allclose(steps[-1], by_hand, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        np.sum(steps, axis=0), -eta * gradient(A, y, theta), rtol=1e-12, atol=1e-12
    )
    best = cost(A, y, minimum(A, y)) / len(y)
    states = stochastic_gradient_ascent(A, y, eta=lambda k: 1 / (10 + k) ** 0.75, rng=rng)
    F = [state.objective for state in islice(states, 150)]
    assert F[0] == pytest.approx(np.log(2))
    assert F[-1] - best < 1e-3 < F[0] - best
    wandering = stochastic_gradient_ascent(A, y, eta=1.0, rng=rng)
    assert min(s.objective for s in islice(wandering, 150, 160)) - best > F[-1] - best


@pytest.mark.claims("logistic_regression-25")
def test_newton_converges_quadratically_and_refuses_separable_data(rng):
    A, y, _ = overlapping(rng)
    states = list(islice(irls(A, y), 10))
    norms = [np.linalg.norm(gradient(A, y, state.x)) for state in states]
    assert min(norms) < 1e-10
    best = states[-1].x
    errors = np.array([np.linalg.norm(state.x - best) for state in states])
    late = [(e, after) for e, after in zip(errors, errors[1:], strict=False) if 1e-7 < e < 1e-1]
    assert len(late) >= 2 and all(after < 10 * e**2 for e, after in late)
    run = iterate(gradient_ascent(A, y), "gradient_norm", 1e-9, 20_000)
    np.testing.assert_allclose(run.state.x, best, rtol=1e-6, atol=1e-6)
    step = states[0].x - np.linalg.solve(hessian(A, states[0].x), gradient(A, y, states[0].x))
    assert states[1].eta == 1
    np.testing.assert_allclose(states[1].x, step, rtol=1e-12, atol=1e-12)

    A, y, _ = separated(rng)
    with pytest.raises(SeparableError, match="must not be linearly separable") as caught:
        list(irls(A, y))
    assert str(caught.value) == (
        "the data must not be linearly separable for the cost to have a minimum; the error's "
        "separator has a positive margin on every sample: give lam > 0"
    )
    assert functional_margins(A, y, caught.value.separator).min() > 0
    copy = pickle.loads(pickle.dumps(caught.value))  # it crosses processes
    assert str(copy) == str(caught.value)
    np.testing.assert_array_equal(copy.separator, caught.value.separator)
    assert list(irls(A, y, lam=0.1))  # a penalty mends it


@pytest.mark.claims("logistic_regression-26")
def test_a_newton_step_is_a_weighted_least_squares_problem(rng):
    A, y, _ = overlapping(rng)
    z = to_bits(y)
    states = list(islice(irls(A, y), 6))
    assert all(state.eta == 1 for state in states[1:])
    for state, after in zip(states, states[1:], strict=False):
        r, P = working_response(A, y, state.x)
        h = sigmoid(A @ state.x)
        printed = A @ state.x - (h - z) / (h * (1 - h))
        np.testing.assert_allclose(r, printed, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(P, h * (1 - h), rtol=1e-13, atol=1e-14)
        normal = np.linalg.solve(A.T @ (P[:, None] * A), A.T @ (P * r))
        rows = np.linalg.lstsq(np.sqrt(P)[:, None] * A, np.sqrt(P) * r)[0]
        for solution in (normal, rows):
            np.testing.assert_allclose(after.x, solution, rtol=1e-10, atol=1e-10)


def test_lines_drawn_are_weighted_least_squares_lines_through_the_responses():
    tumours, axes = load_breast_cancer(), Figure().subplots(1, 3)
    radius = tumours.X[:, tumours.feature_names.index("worst radius")]
    for x, label in zip(figures.RADII, figures.MALIGNANT, strict=True):
        assert tumours.y[np.argmin(np.abs(radius - x))] == ("malignant" if label > 0 else "benign")
        assert np.abs(radius - x).min() < 1e-9
    figures.reweighted_lines(*axes)
    ends = []
    for ax in axes:
        old, new = (np.polyfit(*line.get_data(), deg=1) for line in ax.lines)
        x, r = np.vstack([part.get_offsets() for part in ax.collections]).T
        size = np.concatenate([part.get_sizes() for part in ax.collections])
        h = sigmoid(np.polyval(old, x))
        np.testing.assert_allclose(size / 240, h * (1 - h))
        np.testing.assert_allclose(new, np.polyfit(x, r, deg=1, w=np.sqrt(size)))
        malignant = np.arange(len(x)) < 4
        np.testing.assert_array_equal(r > np.polyval(old, x), malignant)
        low, high = ax.get_ylim()
        assert (r > low).all() and (r < high).all()
        ends.append((old, new))
    np.testing.assert_allclose(ends[0][0], 0)
    np.testing.assert_allclose(ends[1][0], ends[0][1])
    assert ends[0][1][0] < ends[1][1][0] < ends[2][1][0]  # steeper and steeper


def test_algorithms_start_where_they_are_told(rng):
    A, y, _ = overlapping(rng)
    start = np.arange(4) / 4
    for states in (
        irls(A, y, start),
        gradient_ascent(A, y, start),
        stochastic_gradient_ascent(A, y, start, eta=0.1, rng=rng),
    ):
        first = next(states)[0]
        np.testing.assert_array_equal(first, start)
        assert not np.shares_memory(first, start)  # which the caller may well change
    assert list(islice(gradient_ascent(A, y), 2))[1].eta == max_eta(A) / 2


def test_states_are_snapshots(rng):
    A, y, _ = overlapping(rng)
    Z = np.column_stack([y < 0, y > 0]).astype(float)
    several = softmax_newton(A, Z, lam=0.01, solve=conjugate_gradients)
    for states in (irls(A, y), gradient_ascent(A, y), several):
        kept = [(state[0], state[0].copy()) for state in islice(states, 5)]
        assert len(kept) > 3 and all(np.array_equal(now, then) for now, then in kept)


# ---------------------------------------------------------------------------------------
# Separable data
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-29")
def test_separable_data_are_told_from_others_and_the_margin_is_a_distance(rng):
    for _ in range(5):
        A, y, truth = separated(rng)
        theta = separator(A, y)
        assert functional_margins(A, y, theta).min() > 0
        w, b = theta[1:], theta[0]
        feet = A[:, 1:] - np.outer((A @ theta) / (w @ w), w)  # projections on the plane
        np.testing.assert_allclose(feet @ w + b, 0, rtol=1e-10, atol=1e-10)
        nearest = np.linalg.norm(A[:, 1:] - feet, axis=1).min()
        assert geometric_margin(A[:, 1:], y, w, b) == pytest.approx(nearest, abs=1e-12)
        assert geometric_margin(A[:, 1:], y, truth[1:], truth[0]) >= 0.3 - 1e-12
    X, y = XOR
    assert separator(augment(X), y) is None
    assert geometric_margin(X, y, np.array([1.0, 1.0]), -0.5) < 0
    assert separator(*overlapping(rng)[:2]) is None


@pytest.mark.claims("logistic_regression-29")
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6])
def test_separability_does_not_depend_on_the_scale(rng, scale):
    A, y, _ = separated(rng)
    assert functional_margins(scale * A, y, separator(scale * A, y)).min() > 0
    A, y, _ = overlapping(rng)
    assert separator(scale * A, y) is None


@pytest.mark.claims("logistic_regression-29")
def test_a_margin_below_the_tolerance_is_none():
    A, y = augment(np.array([[0.0], [1e-4]])), np.array([-1, 1])
    assert functional_margins(A, y, separator(A, y)).min() > 0
    assert separator(A, y, tol=1e-2) is None


def test_touching_classes_are_not_separable():
    """A sample of each label at 0: separated weakly, but by no hyperplane."""
    A = augment(np.array([[-2.0], [-1.0], [0.0], [0.0], [1.0], [2.0]]))
    assert separator(A, np.array([-1, -1, -1, 1, 1, 1])) is None
    assert separator(A[[0, 1, 2, 4, 5]], np.array([-1, -1, -1, 1, 1])) is not None


@pytest.mark.claims("logistic_regression-30")
def test_separable_data_have_no_minimum_and_the_theorem_says_from_where(rng):
    A, y, theta = separated(rng)
    n, xi = len(y), functional_margins(A, y, theta)
    assert all(cost(A, y, 10 * point) > 0 for point in rng.normal(size=(50, 4)))
    for h in (0.1, 1.0, 10.0, 50.0):
        terms = [np.log1p(np.exp(-h * x)) for x in xi]
        assert cost(A, y, h * theta) == pytest.approx(sum(terms), rel=1e-12)
        assert cost(A, y, h * theta) <= n * np.exp(-h * xi.min())
    for eps in (1.0, 1e-2, 1e-6):
        start = ray_scale(xi, eps)
        assert start == pytest.approx(-np.log(np.exp(eps / n) - 1) / xi.min(), rel=1e-6)
        assert all(cost(A, y, h * theta) < eps for h in start * np.array([1 + 1e-9, 2, 10]))
    assert ray_scale(xi, n * np.log(2)) == 0  # F(0), which no h >= 0 exceeds
    assert ray_scale(xi, 3 * n) == 0 and all(cost(A, y, h * theta) < 3 * n for h in (0.0, 0.1))
    # the constant is sharp: if all margins are equal, F(h theta) = eps at that h
    same, eps = np.full(n, 0.4), 1e-2
    assert np.sum(log_loss(ray_scale(same, eps) * same)) == pytest.approx(eps, rel=1e-12)

    A, y, _ = overlapping(rng)
    best = minimum(A, y)
    others = best + rng.normal(size=(200, 4)) * rng.choice([1e-3, 1, 10], size=(200, 1))
    assert min(cost(A, y, other) for other in others) >= cost(A, y, best)
    assert cost(A, y, best) > np.log(2)


def test_the_ray_must_be_that_of_a_separator():
    for xi in (np.array([2.0, -0.5]), np.array([1.0, 0.0]), np.array([np.nan])):
        with pytest.raises(ValueError, match="t must be positive, as the margins of a separator"):
            ray_scale(xi, 0.1)


@pytest.mark.claims("logistic_regression-31")
def test_any_separator_is_improved_by_enlarging_it(rng):
    X, y, (best, bad) = figures.separable_set()
    A = augment(X)
    assert geometric_margin(X, y, bad[1:], bad[0]) < geometric_margin(X, y, best[1:], best[0])
    for theta in (best, bad, separator(A, y)):
        xi = functional_margins(A, y, theta)
        assert xi.min() > 0
        for h in (0.1, 0.5, 1.0, 3.0, 10.0):
            slope = -np.sum(xi / (1 + np.exp(h * xi)))
            assert slope < 0
            assert slope == pytest.approx(gradient(A, y, h * theta) @ theta, rel=1e-9)
            check_gradient(lambda h, t=theta: cost(A, y, h * t), lambda h, s=slope: s, h)
    # a line that separates nothing may well be made worse
    A, y, _ = overlapping(rng)
    theta = minimum(A, y)
    assert gradient(A, y, 3 * theta) @ theta > 0


def test_rays_drawn_fall_below_any_eps_from_the_dots_on():
    axes = Figure().subplots(1, 3)
    figures.without_a_minimum(*axes)
    X, y, separators = figures.separable_set()
    rays = axes[1].lines[:4]
    for theta, ray, dot in zip(separators, rays[::2], rays[1::2], strict=True):
        h, F = ray.get_data()
        ((start,), (eps,)) = dot.get_data()
        assert (np.diff(F) < 0).all() and (F[h > start] < eps).all() and (F > 0).all()
        assert start == ray_scale(functional_margins(augment(X), y, theta), eps)
    norm, F = (line.get_ydata() for line in axes[2].lines)
    assert (np.diff(norm) > 0).all() and (np.diff(F) < 0).all()
    np.testing.assert_allclose(  # the first is the one of largest margin
        separators[0][1:], (w := separating_hyperplane(X[y > 0], X[y < 0])[0]) / np.linalg.norm(w)
    )


# ---------------------------------------------------------------------------------------
# Several classes, and the estimator
# ---------------------------------------------------------------------------------------


def one_hot(k):
    return (k[:, None] == np.unique(k)).astype(float)


def penalised(X, k, theta, C, weights=None):
    """sum_i s_i l_i + ||W||^2 / (2 C) as the book writes it, with theta (K, d + 1)."""
    total = 0.0
    for i in range(len(X)):
        scores = [row[0] + row[1:] @ X[i] for row in theta]
        p = np.exp(scores[k[i]]) / sum(np.exp(score) for score in scores)
        total -= (1.0 if weights is None else weights[i]) * np.log(p)
    return total + np.sum(theta[:, 1:] ** 2) / (2 * C)


def test_softmax_of_two_scores_is_the_logistic(rng):
    f = 3 * rng.normal(size=50)
    P = softmax(np.column_stack([np.zeros(50), f]))
    np.testing.assert_allclose(P[:, 1], sigmoid(f), rtol=1e-13, atol=1e-14)
    F = rng.normal(size=(20, 4))
    np.testing.assert_allclose(
        softmax(F), np.exp(F) / np.exp(F).sum(axis=1)[:, None], rtol=1e-13, atol=1e-14
    )
    np.testing.assert_allclose(softmax(F + 1e4), softmax(F), rtol=1e-10, atol=1e-10)


def fitted_theta(model):
    return np.column_stack([model.intercept_, model.coef_])


def above_minimum(X, k, theta, C, weights):
    """g^T H^-1 g / 2: how far the objective is above its minimum, by its derivatives at theta."""
    A, inside = augment(X), np.append(0.0, np.full(X.shape[1], 1 / C))  # b is not penalised
    P = softmax(A @ theta.T)
    g = (weights[:, None] * (P - one_hot(k))).T @ A + inside * theta
    blocks = weights[:, None, None] * (
        P[:, :, None] * np.eye(P.shape[1]) - P[:, :, None] * P[:, None]
    )
    H = np.einsum("ijk,il,im->jlkm", blocks, A, A).reshape(g.size, g.size)
    H += np.diag(np.tile(inside, len(g)))
    return g.ravel() @ np.linalg.lstsq(H, g.ravel(), rcond=1e-12)[0] / 2


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_fit_of_several_classes_is_at_the_penalised_minimum(rng, C):
    T = load_iris()
    X, k = T.X[::5], np.searchsorted(np.unique(T.y), T.y[::5])
    weights = rng.uniform(0.5, 2, size=len(k))
    model = LogisticRegression(C=C, tol=1e-11).fit(X, k, sample_weight=weights)
    slopes = differences(lambda t: penalised(X, k, t, C, weights), fitted_theta(model))
    assert np.abs(slopes).max() < 1e-6
    least = penalised(X, k, fitted_theta(model), C, weights)
    assert model.history_[-1] * weights.sum() == pytest.approx(least, rel=1e-10)
    rounding = np.finfo(float).eps * least  # of the objective, which hides what is less
    assert above_minimum(X, k, fitted_theta(model), C, weights) < rounding
    moved = fitted_theta(model) + 1e-6 * rng.normal(size=(3, 5))
    assert above_minimum(X, k, moved, C, weights) > 100 * rounding


def test_fit_of_two_classes_is_what_irls_finds(rng):
    A, y, _ = overlapping(rng)
    X, C = A[:, 1:], 0.3
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], minimum(X, y, lam=1 / (2 * C)), rtol=1e-9, atol=1e-9)
    assert model.intercept_ == 0
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(fitted_theta(model)[0], minimum(A, y), rtol=1e-8, atol=1e-8)
    model = LogisticRegression(C=C, tol=1e-12).fit(X, y)
    theta = fitted_theta(model)[0]
    slope = C * gradient(A, y, theta) + np.append(0, theta[1:])
    assert np.linalg.norm(slope) < 1e-8


@pytest.mark.parametrize("weighted", [False, True])
def test_cost_of_several_classes_has_its_gradient_and_its_hessian(rng, weighted):
    A, k, lam = augment(rng.normal(size=(30, 2))), np.arange(30) % 3, np.array([0.0, 0.4, 1.1])
    weights = rng.uniform(0.5, 2, size=30) if weighted else 1.0
    theta, V = rng.normal(size=(2, 3, 3))
    how = {"lam": lam, "weights": weights}

    def literal(theta):
        each = [-np.log(softmax(A[[i]] @ theta)[0, k[i]]) for i in range(30)]
        return np.sum(weights * np.array(each)) + np.sum(lam[:, None] * theta**2)

    Z = one_hot(k)
    assert softmax_cost(A, Z, theta, **how) == pytest.approx(literal(theta), rel=1e-12)
    slope = softmax_gradient(A, Z, theta, **how)
    np.testing.assert_allclose(slope, differences(literal, theta), rtol=1e-6, atol=1e-6)
    h = 1e-5
    ends = [softmax_gradient(A, Z, theta + t * V, **how) for t in (h, -h)]
    along = softmax_hessian_product(A, softmax(A @ theta), V, **how)
    np.testing.assert_allclose(along, (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-6)


def test_products_with_the_hessian_are_those_of_the_matrix(rng):
    A, y, theta = overlapping(rng)
    lam, weights = np.array([0.0, 1.0, 2.0, 3.0]), rng.uniform(size=len(y))
    H = hessian(A, theta, lam, weights)
    P = weights * log_loss_curvature(A @ theta)
    columns = [hessian_product(A, P, e, lam) for e in np.eye(4)]
    np.testing.assert_allclose(columns, H, rtol=1e-12, atol=1e-12)
    numeric = differences(lambda t: gradient(A, y, t, lam, weights), theta)
    np.testing.assert_allclose(H, numeric, rtol=1e-6, atol=1e-6)
    slope = differences(lambda t: cost(A, y, t, lam, weights), theta)
    np.testing.assert_allclose(gradient(A, y, theta, lam, weights), slope, rtol=1e-6, atol=1e-6)


def test_two_classes_are_a_special_case_of_several(rng):
    A, y, _ = overlapping(rng)
    Z, lam = np.column_stack([y < 0, y > 0]).astype(float), 0.3
    *_, last = softmax_newton(A, Z, lam=2 * lam, solve=conjugate_gradients)
    theta = last.x.reshape(4, 2)  # (-theta / 2, theta / 2) has half the penalty
    np.testing.assert_allclose(theta.sum(axis=1), 0, rtol=1e-10, atol=1e-10)
    best = minimum(A, y, lam)
    np.testing.assert_allclose(theta[:, 1] - theta[:, 0], best, rtol=1e-7, atol=1e-9)
    assert last.objective == pytest.approx(cost(A, y, best, lam), rel=1e-10)


def test_conjugate_gradients_find_the_minimum_that_elimination_finds(rng):
    A, y, _ = overlapping(rng)
    *_, last = irls(A, y, lam=0.1, solve=conjugate_gradients)
    np.testing.assert_allclose(last.x, minimum(A, y, 0.1), rtol=1e-8, atol=1e-9)
    exact, nearly = (list(islice(irls(A, y, solve=s), 2))[1].x for s in (None, conjugate_gradients))
    assert 1e-6 < np.linalg.norm(exact - nearly) < np.linalg.norm(exact)  # it is no full solution


def test_no_class_is_the_reference_though_nothing_but_rounding_is_left_to_mend():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = LogisticRegression(tol=0).fit(rng.normal(size=(40, 3)), rng.integers(3, size=40))
        assert abs(model.intercept_.sum()) < 1e-12 > np.abs(model.coef_.sum(axis=0)).max()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("far", [1e5, 1e7, 1e8])
def test_columns_far_from_0_are_fitted_as_well(rng, K, far):
    X, k = rng.integers(-40, 40, size=(60, 2)) / 8, np.arange(60) % K  # X + far is exact
    X[:, 0] += 3 * k
    weights = rng.uniform(0.5, 2, size=60)
    near = LogisticRegression(tol=1e-9).fit(X, k, sample_weight=weights)
    model = LogisticRegression(tol=1e-9).fit(X + [far, -far], k, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X + [far, -far]), near.decision_function(X), rtol=1e-6, atol=1e-6
    )
    assert near.score(X, k) == model.score(X + [far, -far], k) > 1 / K + 0.1
    assert model.history_[-1] == pytest.approx(near.history_[-1], rel=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_real_data_unscaled_are_fitted_to_the_last_digits(load):
    T = load()
    model = LogisticRegression(tol=1e-10).fit(T.X, T.y)
    assert model.converged_ and model.n_iter_ < 20
    F = model.decision_function(T.X)
    P = model.predict_proba(T.X)
    residual = P - one_hot(np.searchsorted(model.classes_, T.y))
    W = np.vstack([0 * model.coef_, model.coef_]) if F.ndim == 1 else model.coef_
    residual = residual[:, -len(model.coef_) :]
    slope = np.column_stack([residual.sum(axis=0), residual.T @ T.X + W[-len(model.coef_) :]])
    assert np.linalg.norm(slope) / len(T) < 1e-8
    assert model.score(T.X, T.y) > 0.95
    assert (np.diff(model.history_) <= 1e-15).all()


def test_digits_are_fitted_in_a_few_steps_and_held_out_digits_read():
    T = load_digits()
    train = np.arange(len(T)) % 3 > 0
    model = LogisticRegression(tol=1e-8).fit(T.X[train] / 16, T.y[train])
    assert model.converged_ and model.n_iter_ <= 10 and model.coef_.shape == (10, 64)
    assert model.score(T.X[~train] / 16, T.y[~train]) > 0.95
    np.testing.assert_allclose(
        model.coef_.sum(axis=0), 0, rtol=1e-8, atol=1e-8
    )  # no class is the reference


@pytest.mark.claims("logistic_regression-10")
def test_prediction_is_the_sign_and_its_probability_sigma_of_the_distance(rng):
    A, y, _ = overlapping(rng, n=200)
    names = np.where(y > 0, "yes", "no")
    model = LogisticRegression().fit(A[:, 1:], names)
    f, P = model.decision_function(A[:, 1:]), model.predict_proba(A[:, 1:])
    predicted = model.predict(A[:, 1:])
    assert set(predicted) == {"no", "yes"}
    np.testing.assert_array_equal(predicted, model.classes_[(P[:, 1] > 0.5).astype(int)])
    np.testing.assert_array_equal(predicted == "yes", f > 0)
    np.testing.assert_allclose(sigmoid(np.abs(f)), P.max(axis=1), rtol=1e-13, atol=1e-15)
    assert (P.max(axis=1) >= 0.5).all()


@pytest.mark.claims("logistic_regression-10")
def test_probabilities_are_calibrated_on_labels_from_the_model(rng):
    A, y, _ = overlapping(rng, n=20_000)
    model = LogisticRegression(C=np.inf).fit(A[:10_000, 1:], y[:10_000])
    X, y = A[10_000:, 1:], y[10_000:]
    sure = model.predict_proba(X).max(axis=1)
    right = model.predict(X) == y
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        inside = (sure >= low) & (sure < low + 0.1)
        error = np.sqrt(np.sum(sure[inside] * (1 - sure[inside]))) / inside.sum()
        assert inside.sum() > 100
        assert abs(right[inside].mean() - sure[inside].mean()) < STANDARD_ERRORS * error + 0.01


@pytest.mark.claims("logistic_regression-10")
def test_error_of_the_fitted_line_approaches_the_bayes_error(rng):
    mu, Sigma, prior = np.array([[0.0, 0.0], [1.5, 1.0]]), np.diag([1.0, 2.0]), np.array([0.4, 0.6])

    def error(w, b):  # by the normal distribution of w^T x + b in each class
        return prior @ normal_cdf((mu @ w + b) * [1, -1], 0.0, w @ Sigma @ w)

    bayes, excess = error(*normal_log_odds(mu, Sigma, prior)), []
    for n in (50, 50_000):
        T = make_blobs([int(0.4 * n), int(0.6 * n)], mu, Sigma, rng=rng)
        model = LogisticRegression(C=np.inf).fit(T.X, T.y)
        excess.append(error(model.coef_[0], model.intercept_[0]) - bayes)
    assert 0 <= excess[1] < 1e-4 and excess[1] < excess[0]


def test_fit_recovers_the_model_that_normal_classes_obey(rng):
    mu, Sigma, prior = normal_classes(rng, d=2)
    n = np.array([12_000, 28_000])
    draws = [sample_multivariate_normal(m, c, Sigma, rng=rng) for m, c in zip(n, mu, strict=True)]
    X, y = np.vstack(draws), np.repeat([-1.0, 1.0], n)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    theta = fitted_theta(model)[0]
    error = np.sqrt(np.diag(np.linalg.inv(hessian(augment(X), theta))))
    truth = normal_model(mu, Sigma, prior)
    assert (np.abs(theta - truth) < STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("K", [2, 3])
def test_separable_classes_without_a_penalty_are_reported(rng, K):
    T = make_blobs([15] * K, [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]][:K], rng=rng)
    with pytest.warns(ConvergenceWarning, match="found the classes linearly separable") as caught:
        model = LogisticRegression(C=np.inf).fit(T.X, T.y)
    assert len(caught) == 1 and not model.converged_ and model.score(T.X, T.y) == 1
    objective = LogisticRegression(C=1e6).fit(T.X, T.y)  # a penalty, however small, mends it
    assert objective.converged_


def test_too_few_steps_are_reported(rng):
    A, y, _ = overlapping(rng)
    message = r"LogisticRegression stopped after 1 iterations with decrement = .* > 1e-12"
    with pytest.warns(ConvergenceWarning, match=message):
        model = LogisticRegression(tol=1e-12, max_iter=1).fit(A[:, 1:], y)
    assert not model.converged_ and model.n_iter_ == [1]


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_are_safe_at_any_scale(rng, K):
    T = make_blobs([20] * K, [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]][:K], rng=rng)
    model = LogisticRegression().fit(T.X, T.y)
    far = 1e6 * np.vstack([np.eye(2), -np.eye(2)])
    P, log_P = model.predict_proba(far), model.predict_log_proba(far)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-13, atol=1e-15)
    assert ((P >= 0) & (P <= 1)).all() and np.isfinite(log_P).all() and log_P.min() < -1e5
    near = rng.normal(size=(50, 2))
    np.testing.assert_allclose(
        model.predict_log_proba(near), np.log(model.predict_proba(near)), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_scale_of_the_features_only_rescales_an_unpenalised_fit(rng, factor):
    A, y, _ = overlapping(rng)
    X = A[:, 1:]
    one = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    scaled = LogisticRegression(C=np.inf, tol=1e-10 * min(factor, 1)).fit(factor * X, y)
    np.testing.assert_allclose(scaled.coef_ * factor, one.coef_, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_ugly_data(rng, K):
    """Fewer samples than features, twins, constants; weights are repetitions."""
    X = rng.normal(size=(6 * K, 20))
    X[:, 3], X[:, 4], X[:, 5] = 7.0, 0.0, X[:, 6]
    k, weights = np.arange(6 * K) % K, rng.integers(0, 3, size=6 * K)
    weights[:K] = 1
    model = LogisticRegression(tol=1e-10).fit(X, k, sample_weight=weights)
    assert model.converged_ and np.isfinite(model.coef_).all()
    np.testing.assert_allclose(model.coef_[:, 4], 0, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(
        model.coef_[:, 3], 0, rtol=1e-7, atol=1e-7
    )  # b is free, and does it for less
    np.testing.assert_allclose(model.coef_[:, 5], model.coef_[:, 6], rtol=1e-8, atol=1e-8)
    repeated = LogisticRegression(tol=1e-10).fit(
        np.repeat(X, weights, axis=0), np.repeat(k, weights)
    )
    np.testing.assert_allclose(model.coef_, repeated.coef_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, repeated.intercept_, rtol=1e-7, atol=1e-7)


def test_bad_values_are_named():
    X, y = [[0.0], [1.0]], [0, 1]
    for params, message in (
        ({"C": 0}, "C must be a number > 0; got 0"),
        ({"C": np.nan}, "C must be a number > 0; got nan"),
        ({"tol": -1}, "tol must be a number >= 0; got -1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False; got 'no'"),
    ):
        with pytest.raises(ValueError, match=message):
            LogisticRegression(**params).fit(X, y)
