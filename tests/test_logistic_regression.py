"""The logistic regression chapter: every statement of the notes, checked by a second route."""

import pickle
from itertools import islice, pairwise, product

import numpy as np
import pytest
from checks import check_gradient, check_hessian, differences
from matplotlib.figure import Figure

import figures.logistic_regression as figures
from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.datasets import load_breast_cancer, load_iris, make_blobs, make_separable
from mlnotes.decision_theory import empirical_risk, margin_zero_one, normal_log_odds
from mlnotes.linear_regression import augment
from mlnotes.logistic_regression import (
    LogisticRegression,
    SeparableError,
    bernoulli_likelihood,
    binary_cross_entropy,
    class_0_log_odds,
    conjugate_gradients,
    functional_margins,
    geometric_margin,
    gradient_ascent,
    irls,
    label_probability,
    log_loss,
    log_loss_curvature,
    logistic_cost,
    logistic_gradient,
    logistic_hessian,
    logistic_max_eta,
    ray_scale,
    separating_theta,
    sigmoid,
    softmax,
    softmax_cost,
    softmax_gradient,
    softmax_hessian_product,
    softmax_newton,
    stochastic_gradient_ascent,
    working_response,
)
from mlnotes.optimization import convexity_gap
from mlnotes.probability import multivariate_normal_log_density

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
STANDARD_ERRORS = 4


def close(actual, desired, tol=1e-12):
    np.testing.assert_allclose(actual, desired, rtol=tol, atol=tol)


def overlapping(rng, n=80, d=3, b=0.7):
    """A (n, d + 1), y in -1, +1 drawn from the model, and its theta."""
    A = augment(rng.normal(size=(n, d)) * np.arange(1, d + 1))
    theta = np.append(b, rng.normal(size=d) / 2)
    y = np.where(rng.uniform(size=n) < sigmoid(A @ theta), 1.0, -1.0)
    assert separating_theta(A, y) is None
    return A, y, theta


def separated(rng, n=40, d=3, gap=0.3):
    """A, y and a theta that separates them."""
    T = make_separable(n, d, gap=gap, rng=rng)
    return augment(T.X), T.y, np.append(T.truth.b, T.truth.w)


def minimum(A, y, lam=0.0, theta0=0.0):
    return list(irls(A, y, theta0, lam=lam))[-1].x


def to_bits(y):
    return (y + 1) / 2


@pytest.mark.parametrize("f", [binary_cross_entropy, bernoulli_likelihood])
def test_labels_of_minus_1_are_refused_where_bits_are_meant(f):
    with pytest.raises(ValueError, match="z must hold labels 0 and 1; got -1"):
        f(np.array([-1, 1]), np.full(2, 0.5))


# --- The log-loss ----------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-01")
def test_number_of_errors_is_flat_and_jumps_and_is_not_convex(rng):
    A, y, _ = overlapping(rng)

    def errors(theta):
        return empirical_risk(margin_zero_one, A @ theta, y)

    for theta in rng.normal(size=(20, A.shape[1])):
        np.testing.assert_array_equal(differences(errors, theta), 0)
        assert errors(1e-3 * theta) == errors(theta)
    way = [errors(np.array([b, 0, 0, 0])) for b in (-1e-300, 0.0, 1e-300)]
    assert way == [np.mean(y > 0), 1.0, np.mean(y < 0)]  # it is not constant: it jumps
    gap = convexity_gap(lambda t: margin_zero_one(t, 1), -1.0, 0.5, 0.5)
    assert gap == -0.5  # the midpoint, -1/4, is wrong, and only one end is


@pytest.mark.claims("logistic_regression-02")
def test_log_loss_is_the_naive_formula_and_safe_and_strictly_convex():
    t = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(log_loss(t), np.log(1 + np.exp(-t)), rtol=1e-12, atol=1e-14)
    assert log_loss(-1000.0) == 1000 and log_loss(1000.0) == 0
    assert log_loss(40.0) == pytest.approx(np.exp(-40), rel=1e-12, abs=0)
    for point in (-3.0, 0.0, 2.0):
        check_gradient(log_loss, lambda t: -1 / (1 + np.exp(t)), point)
        check_gradient(lambda t: -sigmoid(-t), log_loss_curvature, point)
    tails = log_loss_curvature(np.array([-50.0, 50.0]))  # 1 - sigma(50) would be 0
    np.testing.assert_allclose(tails, np.exp(-50), rtol=1e-12)
    assert (convexity_gap(log_loss, t[:-50], t[50:], 0.3) > 0).all()


@pytest.mark.claims("logistic_regression-04")
def test_log_loss_bounds_the_errors_only_over_log_2():
    t = np.union1d(np.linspace(-4, 4, 801), [0.0])
    step = margin_zero_one(t, 1)
    assert (log_loss(t) / np.log(2) >= step).all() and log_loss(0.0) / np.log(2) == 1
    below = log_loss(t) < step
    np.testing.assert_array_equal(below, (t > -np.log(np.e - 1)) & (t <= 0))
    assert 0 < below.sum() < len(t)


@pytest.mark.claims("logistic_regression-05")
def test_sigmoid_and_its_identities():
    f = np.linspace(-30, 30, 601)
    s = sigmoid(f)
    np.testing.assert_allclose(s, 1 / (1 + np.exp(-f)), rtol=1e-12)
    close(sigmoid(-f), 1 - s)
    close(s, (1 + np.tanh(f / 2)) / 2)
    close(np.log(s), -log_loss(f))
    close(np.log(sigmoid(-f)), -np.logaddexp(0, f))
    assert sigmoid(0.0) == 0.5 and (s > 0).all() and (s < 1).all()
    check_gradient(sigmoid, lambda a: sigmoid(a) * (1 - sigmoid(a)), 0.7)
    np.testing.assert_array_equal(sigmoid(np.array([-1000.0, 1000.0, -np.inf])), [0, 1, 0])


@pytest.mark.claims("logistic_regression-03")
def test_losses_drawn_are_the_step_and_the_two_curves():
    ax = Figure().subplots()
    figures.losses(ax)
    curves = [line.get_xydata() for line in ax.lines]

    def drawn(loss):
        """How many curves are the loss at all of their points."""
        return sum(np.allclose(curve[:, 1], loss(curve[:, 0])) for curve in curves)

    assert drawn(lambda t: np.log(1 + np.exp(-t))) == 1
    assert drawn(lambda t: np.log2(1 + np.exp(-t))) == 2  # and the dot at (0, 1), where it touches
    assert drawn(lambda t: np.where(t <= 0, 1, 0)) == 3  # both parts of the step, and the dot
    assert drawn(lambda t: -t) == 1


# --- The model -------------------------------------------------------------------------


def log_densities(X, mu, covariances):
    pairs = zip(mu, covariances, strict=True)
    return np.column_stack([multivariate_normal_log_density(X, m, S) for m, S in pairs])


@pytest.mark.claims("logistic_regression-06", "logistic_regression-07")
def test_class_0_log_odds_make_the_posterior_a_logistic_and_as_the_score_swap_the_labels(rng):
    f, prior = rng.uniform(0.01, 5, size=(200, 2)), np.array([0.65, 0.35])
    xi = class_0_log_odds(np.log(f), prior)
    q_0, q_1 = (f * prior).T / (f @ prior)
    close(xi, np.log(q_0 / q_1))
    close(sigmoid(xi), q_0)  # printed as q_1
    close(sigmoid(-xi), q_1)
    assert np.abs(sigmoid(xi) - q_1).max() > 0.9
    joint = rng.dirichlet(np.ones(10)).reshape(5, 2)  # of x and y in {0, 1}
    prior = joint.sum(axis=0)
    conditional_mean = joint @ [0, 1] / joint.sum(axis=1)
    close(sigmoid(-class_0_log_odds(np.log(joint / prior), prior)), conditional_mean)
    xi = class_0_log_odds(np.array([[0.0, -np.inf], [-np.inf, 0.0]]), prior)
    np.testing.assert_array_equal(xi, [np.inf, -np.inf])


@pytest.mark.claims("logistic_regression-08")
def test_class_0_log_odds_of_normal_classes_are_affine_iff_they_share_the_covariance(rng):
    R, mu, prior = rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), np.array([0.3, 0.7])
    X, Sigma = rng.normal(size=(200, 3)), R @ R.T + np.eye(3)
    P = np.linalg.inv(Sigma)
    w, b = normal_log_odds(mu, Sigma, prior)
    close(X @ w + b, -class_0_log_odds(log_densities(X, mu, [Sigma, Sigma]), prior), 1e-10)
    close(w, P @ (mu[1] - mu[0]), 1e-10)
    close(b, (mu[0] @ P @ mu[0] - mu[1] @ P @ mu[1]) / 2 + np.log(prior[1] / prior[0]), 1e-10)

    other = Sigma + np.diag([1.0, 2.0, 3.0])
    odds, A = -class_0_log_odds(log_densities(X, mu, [Sigma, other]), prior), augment(X)
    assert np.abs(odds - A @ np.linalg.lstsq(A, odds)[0]).max() > 0.1
    conic = np.column_stack([A, *(X[:, [j]] * X for j in range(3))])  # with all products
    close(conic @ np.linalg.lstsq(conic, odds)[0], odds, 1e-10)


@pytest.mark.claims("logistic_regression-09")
def test_label_probability_in_both_codings(rng):
    f = 3 * rng.normal(size=100)
    for y, h in ((-1, 1 - sigmoid(f)), (1, sigmoid(f))):
        close(label_probability(y, f), np.exp(-log_loss(y * f)))
        close(label_probability(y, f), 1 / (1 + np.exp(-y * f)))
        close(label_probability(y, f), h)
    hinge = sum(np.exp(-np.maximum(0, 1 - y * f)) for y in (-1, 1))
    assert np.abs(hinge - 1).max() > 0.1  # not every loss comes from probabilities


@pytest.mark.claims("logistic_regression-11")
def test_bernoulli_likelihood_is_a_distribution_of_the_labels(rng):
    h, z = rng.uniform(0.05, 0.95, size=6), np.array([1, 0, 1, 1, 0, 0])
    assert bernoulli_likelihood(z, h) == pytest.approx(np.prod(h**z * (1 - h) ** (1 - z)))
    assert bernoulli_likelihood(np.array([1]), h[:1]) == h[0]
    total = sum(bernoulli_likelihood(np.array(labels), h) for labels in product((0, 1), repeat=6))
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.claims("logistic_regression-12")
def test_binary_cross_entropy_is_minus_the_log_likelihood_and_safe(rng):
    f, z = 3 * rng.normal(size=15), rng.integers(2, size=15)
    h, value = 1 / (1 + np.exp(-f)), binary_cross_entropy(z, f)
    close(value, -np.sum(z * np.log(h) + (1 - z) * np.log(1 - h)), 1e-10)
    close(value, np.sum(np.log(1 + np.exp(f)) - z * f), 1e-10)
    close(value, -np.log(bernoulli_likelihood(z, h)), 1e-10)
    assert binary_cross_entropy(np.array([1, 0, 1]), np.array([-800.0, 800.0, 800.0])) == 1600
    small = binary_cross_entropy(np.array([1]), np.array([40.0]))
    assert small == pytest.approx(np.exp(-40), rel=1e-12, abs=0)  # it is not rounded away


@pytest.mark.claims("logistic_regression-13")
def test_binary_cross_entropy_without_its_brackets_is_unbounded_below(rng):
    f, z = rng.normal(size=20), rng.integers(2, size=20)

    def printed(f):
        return -np.sum(z * np.log(sigmoid(f))) + np.sum((1 - z) * np.log(sigmoid(-f)))

    difference = 2 * np.sum((1 - z) * np.log(sigmoid(-f)))
    close(printed(f) - binary_cross_entropy(z, f), difference, 1e-10)
    values = [printed(f + b) for b in (0, 5, 10, 30)]
    assert abs(difference) > 1 and (np.diff(values) < 0).all() and values[-1] < -20 * np.sum(z == 0)


@pytest.mark.claims("logistic_regression-14")
def test_increasing_functions_of_the_likelihood_have_its_maximiser(rng):
    A, y, _ = overlapping(rng, n=20, d=1)
    grid = [np.array(p) for p in product(np.linspace(-2, 3, 21), np.linspace(-2, 3, 21))]
    L = np.array([bernoulli_likelihood(to_bits(y), sigmoid(A @ theta)) for theta in grid])
    costs = [logistic_cost(A, y, theta) for theta in grid]
    assert len(set(map(np.argmax, (L, np.log(L), L**3)))) == 1
    assert np.argmax(L) == np.argmin(costs)
    assert np.argmax(-((L - np.median(L)) ** 2)) != np.argmax(L)  # not increasing


# --- The cost --------------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-15")
def test_logistic_cost_in_both_codings_and_its_minimum_by_two_routes(rng):
    A, y, _ = overlapping(rng, n=30, d=1)
    for theta in rng.normal(size=(5, 2)):
        by_hand = sum(np.log(1 + np.exp(-y[i] * (theta @ A[i]))) for i in range(30))
        close(logistic_cost(A, y, theta), by_hand)
        close(binary_cross_entropy(to_bits(y), A @ theta), by_hand)
        close(np.sum(log_loss(functional_margins(A, y, theta))), by_hand)
    small = np.array([[100], [0]], dtype=np.int8)  # whose squares would wrap
    assert logistic_cost(A, y, small[:, 0], 1.0) - logistic_cost(A, y, small[:, 0]) == 10_000
    assert softmax_cost(A, A, small, 1.0) - softmax_cost(A, A, small) == 10_000
    best = minimum(A, y)
    grid = best + np.array(list(product(np.linspace(-1e-3, 1e-3, 21), repeat=2)))
    close(grid[np.argmin([logistic_cost(A, y, g) for g in grid])], best, 1e-6)


@pytest.mark.claims("logistic_regression-17")
def test_logistic_gradient_in_three_forms(rng):
    A, y, theta = overlapping(rng)
    z, h = to_bits(y), 1 / (1 + np.exp(-A @ theta))
    loop = sum((h_i - z_i) * a_i for h_i, z_i, a_i in zip(h, z, A, strict=True))
    margins = -np.sum((y / (1 + np.exp(y * (A @ theta))))[:, None] * A, axis=0)
    for form in (loop, A.T @ (h - z), margins):
        close(logistic_gradient(A, y, theta), form)
    weights, lam = rng.integers(3, size=len(y)), np.arange(4.0)  # a penalty for each weight
    F = logistic_cost(A, y, theta, lam, weights)
    repeated = logistic_cost(np.repeat(A, weights, axis=0), np.repeat(y, weights), theta)
    assert F == pytest.approx(repeated + lam @ theta**2, rel=1e-12)
    slope = differences(lambda t: logistic_cost(A, y, t, lam, weights), theta)
    close(logistic_gradient(A, y, theta, lam, weights), slope, 1e-6)


@pytest.mark.claims("logistic_regression-18", "logistic_regression-19")
def test_logistic_gradient_split_by_class_and_the_sign_before_b(rng):
    A, y, _ = overlapping(rng)
    plus, minus, w = A[y > 0, 1:], A[y < 0, 1:], rng.normal(size=3)
    for b in (0.7, 0.0):  # without b both signs are right
        first = np.sum(-plus / (1 + np.exp(plus @ w + b))[:, None], axis=0)
        right = first + np.sum(minus / (1 + np.exp(-(minus @ w + b)))[:, None], axis=0)
        printed = first + np.sum(minus / (1 + np.exp(-minus @ w + b))[:, None], axis=0)
        close(right, logistic_gradient(A, y, np.append(b, w))[1:])
        assert np.abs(printed - right).max() > 1 if b else (printed == right).all()


@pytest.mark.claims("logistic_regression-20")
def test_logistic_gradient_is_driven_by_mistakes(rng):
    A, y, theta = overlapping(rng)
    f = A @ theta
    each = np.array([logistic_gradient(A[[i]], y[[i]], theta) for i in range(len(y))])
    pull, right = np.linalg.norm(each, axis=1) / np.linalg.norm(A, axis=1), y * f > 0
    close(pull, 1 - label_probability(y, f))
    assert (pull[right] <= np.exp(-np.abs(f[right]))).all() and (pull[right] < 0.5).all()
    assert (pull[~right] >= 0.5).all() and (~right).any()


@pytest.mark.claims("logistic_regression-21")
def test_logistic_hessian_in_its_forms(rng):
    A, y, theta = overlapping(rng)
    H, h = logistic_hessian(A, theta), 1 / (1 + np.exp(-A @ theta))
    B = h * (1 - h)
    close(H, sum(B_i * np.outer(a, a) for B_i, a in zip(B, A, strict=True)))
    close(H, A.T @ np.diag(B) @ A)
    weights, lam = rng.uniform(size=len(y)), np.arange(4.0)
    for labels in (y, -y):  # both codings have one Hessian
        check_hessian(
            lambda t, s=labels: logistic_gradient(A, s, t, lam, weights),
            lambda t: logistic_hessian(A, t, lam, weights),
            theta,
        )


@pytest.mark.claims("logistic_regression-33")
@pytest.mark.parametrize("data", [overlapping, separated])
def test_logistic_cost_with_a_penalty_has_one_bounded_minimiser(rng, data):
    A, y, _ = data(rng)
    norms, theta = [], rng.normal(size=A.shape[1])
    for lam in (1e-3, 0.1, 10.0):
        penalty = logistic_cost(A, y, theta, lam) - logistic_cost(A, y, theta)
        assert penalty == pytest.approx(lam * np.sum(theta**2), rel=1e-9)
        assert np.linalg.eigvalsh(logistic_hessian(A, theta, lam))[0] >= 2 * lam * (1 - 1e-12)
        end, *others = [minimum(A, y, lam, start) for start in (0.0, theta, -5 * theta)]
        for other in others:
            close(other, end, 1e-8)
        assert np.linalg.norm(logistic_gradient(A, y, end, lam)) < 1e-8
        assert end @ end <= len(y) * np.log(2) / lam
        norms.append(np.linalg.norm(end))
    assert (np.diff(norms) < 0).all()


# --- The algorithms --------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-23")
def test_gradient_ascent_is_monotone_and_ends_where_newton_does(rng):
    A, y, _ = overlapping(rng)
    most = logistic_max_eta(A)
    assert most == pytest.approx(2 / (np.linalg.eigvalsh(A.T @ A)[-1] / 4))
    F = [s.objective for s in islice(gradient_ascent(A, y, eta=0.95 * most), 300)]
    assert (np.diff(F) <= 1e-12).all() and F[0] == pytest.approx(len(y) * np.log(2))
    one, both = np.ones((2, 1)), np.array([1.0, -1.0])  # beyond the bound F may rise
    states = gradient_ascent(one, both, 0.01, eta=1.1 * logistic_max_eta(one))
    assert (np.diff([s.objective for s in islice(states, 9)]) > 0).all()
    run = iterate(gradient_ascent(A, y), "gradient_norm", 1e-8, 20_000)
    assert run.converged and run.state.eta == most / 2
    close(run.state.x, minimum(A, y), 1e-6)
    theta, z, eta = np.zeros(4), to_bits(y), 0.01
    for state in islice(gradient_ascent(A, y, eta=eta), 20):
        close(state.x, theta, 1e-13)
        slope = A.T @ (z - 1 / (1 + np.exp(-A @ theta)))
        assert state.gradient_norm == pytest.approx(np.linalg.norm(slope))
        theta = theta + eta * slope


@pytest.mark.claims("logistic_regression-24")
def test_stochastic_steps_add_up_to_the_batch_and_settle(rng):
    A, y, theta = overlapping(rng, d=2)
    z, eta, steps = to_bits(y), 0.3, []
    for i in range(len(y)):
        start, end = islice(stochastic_gradient_ascent(A[[i]], y[[i]], theta, eta=eta, rng=rng), 2)
        steps.append(end.x - start.x)
        close(steps[-1], eta * (z[i] - sigmoid(theta @ A[i])) * A[i], 1e-13)
        assert start.moved == np.inf and end.moved == np.linalg.norm(steps[-1])
    close(np.sum(steps, axis=0), -eta * logistic_gradient(A, y, theta))
    best = logistic_cost(A, y, minimum(A, y)) / len(y)
    states = stochastic_gradient_ascent(A, y, eta=lambda k: 1 / (10 + k) ** 0.75, rng=rng)
    F = [state.objective for state in islice(states, 150)]
    assert F[0] == pytest.approx(np.log(2))
    assert F[-1] - best < 1e-3 < F[0] - best
    wandering = stochastic_gradient_ascent(A, y, eta=1.0, rng=rng)
    assert min(s.objective for s in islice(wandering, 150, 160)) - best > F[-1] - best


@pytest.mark.claims("logistic_regression-25")
def test_irls_converges_quadratically(rng):
    A, y, _ = overlapping(rng)
    start, *rest = states = list(irls(A, y))
    best = states[-1].x
    assert np.linalg.norm(logistic_gradient(A, y, best)) < 1e-10
    errors = [np.linalg.norm(state.x - best) for state in states]
    late = [(e, after) for e, after in pairwise(errors) if 1e-7 < e < 1e-1]
    assert len(late) >= 2 and all(after < 10 * e**2 for e, after in late)
    step = np.linalg.solve(logistic_hessian(A, start.x), logistic_gradient(A, y, start.x))
    close(rest[0].x, start.x - step)


@pytest.mark.claims("logistic_regression-25")
def test_irls_refuses_separable_data_and_names_a_separator(rng):
    A, y, _ = separated(rng)
    with pytest.raises(SeparableError, match="must not be linearly separable") as caught:
        list(irls(A, y))
    assert functional_margins(A, y, caught.value.separator).min() > 0
    copy = pickle.loads(pickle.dumps(caught.value))  # it crosses processes
    assert str(copy) == str(caught.value)
    np.testing.assert_array_equal(copy.separator, caught.value.separator)
    A, y, weights = np.vstack([A, A[:1]]), np.append(y, -y[0]), np.append(np.ones(len(y)), 0)
    with pytest.raises(SeparableError):  # a wrong label that does not count hides nothing
        list(irls(A, y, weights=weights))


@pytest.mark.claims("logistic_regression-26")
def test_working_response_makes_a_newton_step_a_weighted_least_squares_problem(rng):
    A, y, _ = overlapping(rng)
    z, states = to_bits(y), list(islice(irls(A, y), 6))
    for state, after in pairwise(states):
        r, B = working_response(A, y, state.x)
        h = sigmoid(A @ state.x)
        close(r, A @ state.x - (h - z) / (h * (1 - h)), 1e-10)
        close(B, h * (1 - h))
        assert after.eta == 1
        close(after.x, np.linalg.lstsq(np.sqrt(B)[:, None] * A, np.sqrt(B) * r)[0], 1e-10)


def test_algorithms_start_at_a_copy_of_the_start(rng):
    A, y, _ = overlapping(rng)
    start = np.arange(4) / 4
    stochastic = stochastic_gradient_ascent(A, y, start, eta=0.1, rng=rng)
    for states in (irls(A, y, start), gradient_ascent(A, y, start), stochastic):
        first = next(states).x
        np.testing.assert_array_equal(first, start)
        assert not np.shares_memory(first, start)  # which the caller may well change


# --- Separable data --------------------------------------------------------------------


@pytest.mark.claims("logistic_regression-29", "discriminant-02")
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_separating_theta_tells_separable_data_from_others_at_any_scale(rng, scale):
    A, y, _ = separated(rng)
    assert functional_margins(scale * A, y, separating_theta(scale * A, y)).min() > 0
    A, y, _ = overlapping(rng)
    assert separating_theta(scale * A, y) is None
    assert separating_theta(scale * augment(XOR[0]), XOR[1]) is None


@pytest.mark.claims("logistic_regression-29")
def test_separating_theta_of_classes_that_touch_or_nearly_so():
    A = augment(np.array([[-2.0], [-1.0], [0.0], [0.0], [1.0], [2.0]]))
    assert separating_theta(A, np.array([-1, -1, -1, 1, 1, 1])) is None  # both labels are at 0
    assert separating_theta(A[[0, 1, 2, 4, 5]], np.array([-1, -1, -1, 1, 1])) is not None
    X, y = np.array([[0.0], [1e-4]]), np.array([-1, 1])
    b, *w = separating_theta(augment(X), y)
    nearest = np.abs(X[:, 0] + b / w[0]).min()  # to the point where w x + b = 0
    assert geometric_margin(X, y, w, b) == pytest.approx(nearest, rel=1e-9)
    assert separating_theta(augment(X), y, tol=1e-2) is None  # a margin below the tolerance
    assert geometric_margin(*XOR, np.array([3.0, 4.0]), -3.0) == pytest.approx(-4 / 5)


@pytest.mark.claims("logistic_regression-30")
def test_ray_scale_is_from_where_the_cost_of_separable_data_is_below_eps(rng):
    A, y, theta = separated(rng)
    n, t = len(y), functional_margins(A, y, theta)
    assert all(logistic_cost(A, y, 10 * point) > 0 for point in rng.normal(size=(50, 4)))
    for s in (0.1, 1.0, 10.0, 50.0):
        F = logistic_cost(A, y, s * theta)
        assert F == pytest.approx(np.sum(np.log1p(np.exp(-s * t))), rel=1e-12)
        assert F <= n * np.exp(-s * t.min())
    for eps in (1.0, 1e-2, 1e-6):
        start = ray_scale(t, eps)
        assert start == pytest.approx(-np.log(np.exp(eps / n) - 1) / t.min(), rel=1e-6)
        assert all(logistic_cost(A, y, s * theta) < eps for s in start * np.array([1 + 1e-9, 10]))
    assert ray_scale(t, n * np.log(2)) == ray_scale(t, 3 * n) == 0  # F(0), which no s >= 0 exceeds
    same = np.full(n, 0.4)  # the constant is sharp: if all margins are equal, F = eps at that s
    assert np.sum(log_loss(ray_scale(same, 0.01) * same)) == pytest.approx(0.01, rel=1e-12)
    for t in ([2.0, -0.5], [1.0, 0.0], [np.nan]):  # of no separator
        assert ray_scale(np.array(t), 0.1) == np.inf

    A, y, _ = overlapping(rng)  # the negative control: F has a minimum, and it is not near 0
    best = minimum(A, y)
    others = best + rng.normal(size=(200, 4)) * rng.choice([1e-3, 1, 10], size=(200, 1))
    least = logistic_cost(A, y, best)
    assert min(logistic_cost(A, y, other) for other in others) >= least > np.log(2)


@pytest.mark.claims("logistic_regression-31")
def test_any_separator_is_improved_by_enlarging_it(rng):
    X, y, (best, bad) = figures.separable_set()
    A = augment(X)
    assert geometric_margin(X, y, bad[1:], bad[0]) < geometric_margin(X, y, best[1:], best[0])
    for theta in (best, bad, separating_theta(A, y)):
        t = functional_margins(A, y, theta)
        for s in (0.1, 1.0, 10.0):
            slope = -np.sum(t / (1 + np.exp(s * t)))
            assert t.min() > 0 > slope
            assert slope == pytest.approx(logistic_gradient(A, y, s * theta) @ theta, rel=1e-9)
    A, y, _ = overlapping(rng)  # a line that separates nothing may well be made worse
    theta = minimum(A, y)
    assert logistic_gradient(A, y, 3 * theta) @ theta > 0


# --- Several classes, conjugate gradients ----------------------------------------------


def test_softmax_of_two_scores_is_the_logistic(rng):
    f = 3 * rng.normal(size=50)
    close(softmax(np.column_stack([np.zeros(50), f]))[:, 1], sigmoid(f))
    F = rng.normal(size=(20, 4))
    close(softmax(F), np.exp(F) / np.exp(F).sum(axis=1)[:, None])
    close(softmax(F + 1e4), softmax(F), 1e-10)


def test_softmax_cost_has_its_gradient_and_its_hessian(rng):
    A, lam = augment(rng.normal(size=(30, 2))), np.array([[0.0], [0.4], [1.1]])
    Z = rng.integers(3, size=(30, 3)).astype(float)  # some samples have no label, some several
    theta, V = rng.normal(size=(2, 3, 3))

    def literal(theta):
        P = softmax(A @ theta)
        each = [-Z[i, k] * np.log(P[i, k]) for i in range(30) for k in range(3)]
        return np.sum(each) + np.sum(lam * theta**2)

    assert softmax_cost(A, Z, theta, lam) == pytest.approx(literal(theta), rel=1e-12)
    close(softmax_gradient(A, Z, theta, lam), differences(literal, theta), 1e-6)
    ends = [softmax_gradient(A, Z, theta + h * V, lam) for h in (1e-5, -1e-5)]
    along = softmax_hessian_product(A, Z, softmax(A @ theta), V, lam)
    close(along, (ends[0] - ends[1]) / 2e-5, 1e-6)


def test_softmax_newton_of_two_classes_is_irls(rng):
    A, y, _ = overlapping(rng)
    Z, lam = np.column_stack([y < 0, y > 0]).astype(float), 0.3
    *_, last = softmax_newton(A, Z, lam=2 * lam)
    theta = last.x.reshape(4, 2)  # (-theta / 2, theta / 2) has half the penalty
    close(theta.sum(axis=1), 0, 1e-10)
    best = minimum(A, y, lam)
    close(theta[:, 1] - theta[:, 0], best, 1e-7)
    assert last.objective == pytest.approx(logistic_cost(A, y, best, lam), rel=1e-10)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 100.0])
def test_conjugate_gradients_solve_as_accurately_as_newtons_method_needs(rng, size):
    M, g = rng.normal(size=(30, 20)) * np.geomspace(0.1, 1, 20), rng.normal(size=20)
    H = M.T @ M + np.eye(20)
    g *= size / np.linalg.norm(g)
    p = conjugate_gradients(lambda v: H @ v, g)
    assert np.linalg.norm(g - H @ p) <= (min(0.25, np.sqrt(size)) + 1e-12) * size
    assert g @ p > 0
    assert not conjugate_gradients(lambda v: H @ v, 0 * g).any()
    flat = np.diag([2.0, 0.0])
    np.testing.assert_array_equal(conjugate_gradients(lambda v: flat @ v, 2 * flat[0]), [2, 0])


# --- The estimator ---------------------------------------------------------------------


def penalised(X, k, theta, C, weights):
    """sum_i s_i l_i + ||W||^2 / (2 C) as the book writes it, with theta (K, d + 1)."""
    total = 0.0
    for i in range(len(X)):
        scores = [row[0] + row[1:] @ X[i] for row in theta]
        p = np.exp(scores[k[i]]) / sum(np.exp(score) for score in scores)
        total -= weights[i] * np.log(p)
    return total + np.sum(theta[:, 1:] ** 2) / (2 * C)


def fitted_theta(model):
    return np.column_stack([model.intercept_, model.coef_])


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_fit_of_several_classes_is_at_the_penalised_minimum(rng, C):
    T = load_iris()
    X, k = T.X[::5], np.searchsorted(np.unique(T.y), T.y[::5])
    weights = rng.uniform(0.5, 2, size=len(k))
    model = LogisticRegression(C=C, tol=1e-11).fit(X, k, sample_weight=weights)
    least = penalised(X, k, fitted_theta(model), C, weights)
    assert model.history_[-1] * weights.sum() == pytest.approx(least, rel=1e-10)
    close(model.coef_.sum(axis=0), 0)  # no class is the reference
    slopes = differences(lambda t: penalised(X, k, t, C, weights), fitted_theta(model))
    assert np.abs(slopes).max() < 1e-6  # and the objective is convex


def test_fit_of_two_classes_is_what_irls_finds_by_elimination(rng):
    A, y, _ = overlapping(rng)
    X, weights = A[:, 1:], rng.uniform(0.5, 2, size=len(y))
    model = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-12).fit(X, y)
    close(model.coef_[0], minimum(X, y, lam=1 / 0.6), 1e-9)
    assert model.intercept_ == 0
    for C in (np.inf, 1 / 3):
        *_, exact = irls(A, y, lam=np.array([0, 1, 1, 1]) / (2 * C), weights=weights)
        model = LogisticRegression(C=C, max_iter=9, random_state=3).fit(X, y, weights)
        assert model.converged_
        close(fitted_theta(model)[0], exact.x, 1e-8)
        for constant in (np.full(80, 0.1), 7 + 2.0**-50 * (y > 0)):  # one but for rounding
            flat = LogisticRegression(C=C).fit(np.column_stack([X, constant]), y, weights)
            close(fitted_theta(flat)[0], [*exact.x, 0], 1e-7)


@pytest.mark.parametrize("K, C", [(2, np.inf), (3, np.inf), (3, 1.0)])
@pytest.mark.parametrize("seed", [2, 5])
def test_fit_has_eight_right_digits_by_default(K, C, seed):
    rng = np.random.default_rng(seed)
    marks = 60 + 20 * rng.normal(size=(200, 2))  # as those of an examination
    grade = 0.2 * marks.sum(axis=1) + 2 * rng.logistic(size=200)
    k = np.digitize(grade, np.quantile(grade, np.arange(1, K) / K))
    exact = LogisticRegression(C=C, tol=1e-13).fit(marks, k)
    off = fitted_theta(LogisticRegression(C=C).fit(marks, k)) - fitted_theta(exact)
    assert (np.abs(off).max(axis=0) <= 1e-8 * np.abs(fitted_theta(exact)).max(axis=0)).all()


@pytest.mark.parametrize("K", [2, 3])
def test_fit_of_columns_far_from_0_is_as_good(rng, K):
    X, k = rng.integers(-40, 40, size=(60, 2)) / 8, np.arange(60) % K
    X[:, 0] += 3 * k
    weights, far = rng.uniform(0.5, 2, size=60), 1e8  # X + far is exact
    near = LogisticRegression(tol=1e-9).fit(X, k, sample_weight=weights)
    model = LogisticRegression(tol=1e-9).fit(X + [far, -far], k, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=1e-6)
    close(model.decision_function(X + [far, -far]), near.decision_function(X), 1e-6)
    assert model.history_[-1] == pytest.approx(near.history_[-1], rel=1e-9)
    assert near.score(X, k) > 1 / K + 0.1


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_fit_of_real_data_unscaled_is_right_to_the_last_digits(load):
    T = load()
    model = LogisticRegression(tol=1e-10).fit(T.X, T.y)
    assert model.converged_ and model.n_iter_ < 20 and model.score(T.X, T.y) > 0.95
    residual = (model.predict_proba(T.X) - (T.y[:, None] == model.classes_))[:, -len(model.coef_) :]
    slope = np.column_stack([residual.sum(axis=0), residual.T @ T.X + model.coef_])
    assert np.linalg.norm(slope) / len(T) < 1e-8
    assert (np.diff(model.history_) <= 1e-15).all()


@pytest.mark.parametrize("K", [2, 3])
def test_fit_reports_separable_classes_without_a_penalty(rng, K):
    T = make_blobs([15] * K, [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]][:K], rng=rng)
    with pytest.warns(ConvergenceWarning, match="found the classes linearly separable") as caught:
        model = LogisticRegression(C=np.inf).fit(T.X, T.y)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not model.converged_ and model.score(T.X, T.y) == 1
    assert LogisticRegression(C=1e6).fit(T.X, T.y).converged_  # a penalty, however small, mends it
    X, y = np.vstack([T.X, T.X]), np.append(T.y, np.roll(T.y, 1))  # some labels are wrong
    assert LogisticRegression(C=np.inf).fit(X, y).converged_


def test_fit_without_a_penalty_is_rescaled_with_one_feature(rng):
    A, y, _ = overlapping(rng)
    unit = np.array([1e-8, 1.0, 1e8])
    one, scaled = (LogisticRegression(C=np.inf).fit(X, y) for X in (A[:, 1:], A[:, 1:] * unit))
    np.testing.assert_allclose(scaled.coef_ * unit, one.coef_, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_fit_of_twins_and_constants_and_few_samples(rng, K):
    X, k = rng.normal(size=(6 * K, 20)), np.arange(6 * K) % K
    X[:, 3], X[:, 4], X[:, 5] = 7.0, 0.0, X[:, 6]
    model = LogisticRegression().fit(X, k)
    assert model.converged_ and np.isfinite(model.coef_).all()
    close(model.coef_[:, 3:5], 0, 1e-7)  # b is free, and does it for less
    close(model.coef_[:, 5], model.coef_[:, 6], 1e-8)


@pytest.mark.claims("logistic_regression-10")
def test_predict_is_the_sign_and_its_probability_sigma_of_the_distance(rng):
    A, y, _ = overlapping(rng, n=200)
    names = np.where(y > 0, "yes", "no")
    model = LogisticRegression().fit(A[:, 1:], names)
    f, P = model.decision_function(A[:, 1:]), model.predict_proba(A[:, 1:])
    predicted = model.predict(A[:, 1:])
    np.testing.assert_array_equal(predicted, model.classes_[(P[:, 1] > 0.5).astype(int)])
    np.testing.assert_array_equal(predicted == "yes", f > 0)
    close(sigmoid(np.abs(f)), P.max(axis=1))
    assert (P.max(axis=1) >= 0.5).all() and 0.5 < np.mean(predicted == names) < 1


@pytest.mark.claims("logistic_regression-10")
def test_probabilities_are_calibrated_on_labels_from_the_model(rng):
    A, y, _ = overlapping(rng, n=10_000)
    model = LogisticRegression(C=np.inf).fit(A[:5_000, 1:], y[:5_000])
    X, y = A[5_000:, 1:], y[5_000:]
    sure, right = model.predict_proba(X).max(axis=1), model.predict(X) == y
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        inside = (sure >= low) & (sure < low + 0.1)
        error = np.sqrt(np.sum(sure[inside] * (1 - sure[inside]))) / inside.sum()
        assert inside.sum() > 100
        assert abs(right[inside].mean() - sure[inside].mean()) < STANDARD_ERRORS * error + 0.01


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_are_safe_at_any_scale(rng, K):
    T = make_blobs([20] * K, [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]][:K], rng=rng)
    model = LogisticRegression().fit(T.X, T.y)
    far = 1e6 * np.vstack([np.eye(2), -np.eye(2)])
    P, log_P = model.predict_proba(far), model.predict_log_proba(far)
    close(P.sum(axis=1), 1)
    assert ((P >= 0) & (P <= 1)).all() and np.isfinite(log_P).all() and log_P.min() < -1e5
    near = rng.normal(size=(50, 2))
    close(model.predict_log_proba(near), np.log(model.predict_proba(near)))
