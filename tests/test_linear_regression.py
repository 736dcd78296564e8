"""The linear regression chapter: every statement of the notes, checked by a second route."""

import importlib
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
from checks import check_gradient, check_hessian, differences, panels

import figures.linear_regression as figures
from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.datasets import make_linear
from mlnotes.linear_regression import (
    Lasso,
    LinearRegression,
    Ridge,
    augment,
    centred_ridge,
    compact_svd,
    coordinate_descent,
    duality_gap,
    eigen_solution,
    gaussian_log_likelihood,
    lasso_bound,
    lasso_objective,
    lasso_path,
    least_squares_cost,
    least_squares_gradient,
    least_squares_hessian,
    lms,
    minimum_norm,
    noise_deviation,
    normal_equations,
    population_solution,
    powers,
    predict,
    qr_solution,
    residual,
    ridge,
    ridge_path,
    shrinkage,
    soft_threshold,
    weight_posterior,
)
from mlnotes.optimization import gradient_descent
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
)
from mlnotes.reading import public_names

EPS = np.finfo(float).eps
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def problem(rng, n=40, d=4):
    """A design matrix (1, X) of columns of unequal scale, targets, and some theta."""
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d) + rng.normal(size=d)
    return augment(X), rng.normal(size=n), rng.normal(size=d + 1)


def exactly(A, y):
    """Least squares in rational numbers: elimination of the normal equations, no rounding."""
    rows = [[Fraction(value) for value in row] for row in np.column_stack([A, y]).tolist()]
    d = len(rows[0]) - 1
    M = [[sum(row[i] * row[j] for row in rows) for j in range(d + 1)] for i in range(d)]
    for i in range(d):
        M[i] = [value / M[i][i] for value in M[i]]
        for k in set(range(d)) - {i}:
            M[k] = [a - M[k][i] * b for a, b in zip(M[k], M[i], strict=True)]
    return np.array([float(M[i][d]) for i in range(d)])


def conditioned(rng, kappa, n=30, d=4):
    """A matrix (n, d) of that condition number, all singular directions mixed."""
    U, V = np.linalg.qr(rng.normal(size=(n, d)))[0], np.linalg.qr(rng.normal(size=(d, d)))[0]
    return U @ np.diag(np.geomspace(1, 1 / kappa, d)) @ V.T


def theta_of(model):
    return np.array([model.intercept_, *model.coef_])


# --- The linear model and its cost -----------------------------------------------------


def test_powers_are_all_products_of_so_many_features(rng):
    X = rng.normal(size=(5, 2))
    u, v = X.T
    by_hand = [u, v, u * u, u * v, v * v, u**3, u * u * v, u * v * v, v**3]
    np.testing.assert_allclose(powers(X, 3), np.transpose(by_hand), rtol=1e-14)
    np.testing.assert_allclose(powers(u, 4), u[:, None] ** np.arange(1, 5), rtol=1e-14)
    assert powers(rng.normal(size=(2, 5)), 6).shape == (2, 461)  # C(11, 6) - 1


@pytest.mark.claims("linear_regression-01")
def test_predict_is_the_sum_over_features_for_samples_of_the_fit_and_new_ones(rng):
    A, _, theta = problem(rng, n=7, d=3)
    X, (b, *w), new = A[:, 1:], theta, rng.normal(size=(5, 3))
    loop = [b + sum(w[j] * X[i, j] for j in range(3)) for i in range(7)]
    for form in (A @ theta, X @ w + b, predict(X, theta)):
        np.testing.assert_allclose(form, loop, rtol=1e-12)
    np.testing.assert_allclose(
        LinearRegression().fit(X, A @ theta).predict(new), predict(new, theta), **CLOSE
    )


@pytest.mark.claims("linear_regression-03")
def test_cost_is_a_sum_a_quadratic_form_and_a_norm(rng):
    A, y, theta = problem(rng)
    e = residual(A, y, theta)
    by_loop = [predict(a[None, 1:], theta)[0] - t for a, t in zip(A, y, strict=True)]
    np.testing.assert_allclose(e, by_loop, **CLOSE)
    expanded = (theta @ A.T @ A @ theta - 2 * y @ A @ theta + y @ y) / 2
    for form in (sum(np.square(by_loop)) / 2, np.linalg.norm(e) ** 2 / 2, expanded):
        assert least_squares_cost(A, y, theta) == pytest.approx(form, rel=1e-10)


@pytest.mark.claims("linear_regression-04")
def test_gradient_follows_from_the_rules_for_traces(rng):
    A, B, C = rng.normal(size=(3, 4, 4)) + 2 * np.eye(4)
    D, R, tr = rng.normal(size=(4, 3)), rng.normal(size=(3, 4)), np.trace
    check_gradient(lambda M: tr(M @ D), lambda M: D.T, R)
    check_gradient(np.linalg.det, lambda M: np.linalg.det(M) * np.linalg.inv(M).T, A)

    def f(M):
        return tr(M @ B @ M.T @ C)

    check_gradient(f, lambda M: C @ M @ B + C.T @ M @ B.T, A)
    check_gradient(lambda T: f(T.T), lambda T: B.T @ T @ C.T + B @ T @ C, A.T)
    assert np.abs(differences(f, A) - (C @ A @ B + C @ A @ B.T)).max() > 0.1  # C for C^T
    A, y, theta = problem(rng)
    B, column = A.T @ A, theta[:, None]  # the rule for tr(theta^T A^T A theta), with C = 1
    by_rule = (B.T @ column + B @ column)[:, 0] / 2 - A.T @ y
    np.testing.assert_allclose(least_squares_gradient(A, y, theta), by_rule, rtol=1e-10)


@pytest.mark.claims("linear_regression-05")
def test_gradient_and_hessian_are_the_derivatives_of_the_cost(rng):
    A, y, theta = problem(rng)
    cost, gradient = partial(least_squares_cost, A, y), partial(least_squares_gradient, A, y)
    check_gradient(cost, gradient, theta)
    check_hessian(gradient, lambda theta: least_squares_hessian(A), theta)
    np.testing.assert_allclose(gradient(theta), A.T @ A @ theta - A.T @ y, **CLOSE)
    for M in (A, rng.normal(size=(3, 6))):
        assert np.linalg.eigvalsh(least_squares_hessian(M)).min() >= -1e-10


# --- Closed forms ----------------------------------------------------------------------


@pytest.mark.claims("linear_regression-06")
def test_residuals_are_orthogonal_to_every_column_and_sum_to_zero(rng):
    A, y, theta = problem(rng)
    best = qr_solution(A, y)
    r = residual(A, y, best)
    assert np.abs(A.T @ r).max() < 1e-10 < np.abs(A.T @ residual(A, y, theta)).max()
    assert abs(r.sum()) < 1e-10
    assert predict(A[:, 1:].mean(axis=0)[None], best)[0] == pytest.approx(y.mean(), abs=1e-12)


@pytest.mark.claims("linear_regression-07")
def test_all_routes_lead_to_the_least_squares_solution(rng):
    A, y, _ = problem(rng)
    best = np.linalg.lstsq(A, y, rcond=None)[0]
    for route in (normal_equations, qr_solution, eigen_solution, minimum_norm):
        np.testing.assert_allclose(route(A, y), best, **CLOSE)
    np.testing.assert_allclose(theta_of(LinearRegression().fit(A[:, 1:], y)), best, **CLOSE)
    for delta in rng.normal(size=(20, 5)):
        rise = least_squares_cost(A, y, best + delta) - least_squares_cost(A, y, best)
        assert rise == pytest.approx(np.sum((A @ delta) ** 2) / 2, rel=1e-10)


@pytest.mark.claims("linear_regression-08")
def test_normal_equations_are_the_moore_penrose_inverse(rng):
    A, _, _ = problem(rng)
    P = np.column_stack([normal_equations(A, e) for e in np.eye(len(A))])
    for left, right in ((A @ P @ A, A), (P @ A @ P, P), ((A @ P).T, A @ P), ((P @ A).T, P @ A)):
        np.testing.assert_allclose(left, right, **CLOSE)


@pytest.mark.claims("linear_regression-09")
@pytest.mark.parametrize("n", [40, 4], ids=["duplicated column", "fewer samples than weights"])
def test_minimum_norm_is_the_shortest_of_many_minimisers(rng, n):
    A, y, _ = problem(rng, n=n)
    A = np.column_stack([A, A[:, 1]])
    shortest, lowest = minimum_norm(A, y), least_squares_cost(A, y, minimum_norm(A, y))
    cost, slope = (partial(f, A, y) for f in (least_squares_cost, least_squares_gradient))
    states = gradient_descent(cost, slope, np.zeros(6), eta=1 / np.linalg.norm(A, ord=2) ** 2)
    run = iterate(states, "gradient_norm", 1e-10, max_iter=20_000)
    for other in (eigen_solution(A, y), np.linalg.pinv(A) @ y, run.state.x):
        np.testing.assert_allclose(other, shortest, rtol=1e-8, atol=1e-8)
    assert np.abs(least_squares_gradient(A, y, shortest)).max() < 1e-8
    null = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
    assert len(null) == (1 if n == 40 else 2)
    for c in rng.normal(size=(10, len(null))):
        other = shortest + c @ null
        assert least_squares_cost(A, y, other) == pytest.approx(lowest, rel=1e-10, abs=1e-20)
        assert np.linalg.norm(other) > np.linalg.norm(shortest)


def test_rank_is_decided_beside_the_largest_singular_value(rng):
    A = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 5))
    U, s, V = compact_svd(A)
    assert U.shape == (9, 2) and V.shape == (5, 2) and s[0] > s[1] > 0
    np.testing.assert_allclose(U * s @ V.T, A, **CLOSE)
    assert len(compact_svd(A, tol=s[1] / s[0])[1]) == 1 and not len(compact_svd(0 * A)[1])
    A, y = A[:, :2] @ np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1e-4]]), rng.normal(size=9)
    np.testing.assert_allclose(eigen_solution(A, y), minimum_norm(A, y), rtol=1e-6)
    assert not eigen_solution(0 * A, y).any()


@pytest.mark.claims("linear_regression-10")
def test_formula_of_isml_fits_through_the_origin_unless_the_data_are_centred(rng):
    w, X = np.array([2.0, -1.0, 0.5]), rng.normal(size=(30, 3)) + [1.0, 2.0, -3.0]
    y = X @ w + 5
    printed = normal_equations(X, y)
    assert np.linalg.norm(X @ printed - y) > 1 and np.abs(printed - w).max() > 0.1
    centred = normal_equations(X - X.mean(axis=0), y - y.mean())
    b = y.mean() - centred @ X.mean(axis=0)
    for theta in (normal_equations(augment(X), y), [b, *centred], centred_ridge(X, y, 0.0)):
        np.testing.assert_allclose(theta, [5, *w], **CLOSE)
    np.testing.assert_allclose(X.T @ X @ centred, X.T @ (y - b), rtol=1e-10)


# --- Step by step ----------------------------------------------------------------------


@pytest.mark.parametrize("shuffled", [False, True])
def test_lms_visits_every_sample_once_in_a_pass(rng, shuffled):
    A, y, theta = problem(rng)
    given, order = (np.random.default_rng(3) for _ in range(2))
    for state in islice(lms(A, y, theta, eta=0.01, rng=given if shuffled else None), 4):
        np.testing.assert_allclose(state.theta, theta, rtol=1e-12)
        assert state.objective == least_squares_cost(A, y, state.theta)
        slope = least_squares_gradient(A, y, state.theta)
        assert state.gradient_norm == pytest.approx(np.linalg.norm(slope))
        for i in order.permutation(40) if shuffled else range(40):
            theta = theta + 0.01 * (y[i] - A[i] @ theta) * A[i]


# --- The statistical view --------------------------------------------------------------


def finite_distribution(rng, k=12, d=2):
    """Points (1, x) and y of a joint law, and their probabilities."""
    return augment(rng.normal(size=(k, d))), rng.normal(size=k), rng.dirichlet(np.ones(k))


@pytest.mark.claims("linear_regression-11")
def test_population_solution_is_weighted_least_squares_and_that_of_a_sample_its_fit(rng):
    A, y, p = finite_distribution(rng)
    best, root = population_solution(A, y, p), np.sqrt(p)
    np.testing.assert_allclose(best, qr_solution(root[:, None] * A, root * y), rtol=1e-11)
    by_hand = [sum(p[i] * A[i, j] * (A[i] @ best - y[i]) for i in range(12)) for j in range(3)]
    np.testing.assert_allclose(by_hand, 0, atol=1e-12)
    equal = population_solution(A, y, np.full(12, 1 / 12))
    np.testing.assert_allclose(equal, normal_equations(A, y), rtol=1e-10)


@pytest.mark.claims("linear_regression-12")
def test_least_squares_tends_to_the_population_solution(rng):
    A, y, p = finite_distribution(rng)
    rows = rng.choice(12, size=30, p=p)
    outer = sum(np.outer(a, a) for a in A[rows])
    np.testing.assert_allclose(least_squares_hessian(A[rows]), outer, rtol=1e-12)
    by_sum = sum(a * t for a, t in zip(A[rows], y[rows], strict=True))
    np.testing.assert_allclose(normal_equations(A[rows], y[rows]), np.linalg.solve(outer, by_sum))

    def error(n):
        counts = rng.multinomial(n, p) / n  # n draws; only how often each point came matters
        return np.linalg.norm(population_solution(A, y, counts) - population_solution(A, y, p))

    sizes = 10 ** np.arange(2, 6)
    errors = [np.mean([error(n) for _ in range(200)]) for n in sizes]
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(-0.5, abs=0.05)


@pytest.mark.claims("linear_regression-14")
def test_least_squares_on_labels_fits_the_posterior(rng):
    A, p_x, q_1 = augment(rng.normal(size=(6, 2))), rng.dirichlet(np.ones(6)), rng.uniform(size=6)
    both, p = np.vstack([A, A]), np.append(p_x * (1 - q_1), p_x * q_1)
    bits = np.repeat([0.0, 1.0], 6)
    theta = population_solution(both, bits, p)
    np.testing.assert_allclose(theta, population_solution(A, q_1, p_x), **CLOSE)
    for t in (theta, rng.normal(size=3)):
        on_labels, on_posterior = p @ (both @ t - bits) ** 2, p_x @ (A @ t - q_1) ** 2
        assert on_labels - on_posterior == pytest.approx(p_x @ (q_1 * (1 - q_1)), rel=1e-12)
    by_signs = population_solution(both, 2 * bits - 1, p)
    np.testing.assert_allclose(by_signs, population_solution(A, 2 * q_1 - 1, p_x), **CLOSE)
    A, y, _ = problem(rng)  # on every sample, too
    by_signs, by_bits = qr_solution(A, np.sign(y)), qr_solution(A, (np.sign(y) + 1) / 2)
    np.testing.assert_allclose(by_signs, 2 * by_bits - [1, 0, 0, 0, 0], **CLOSE)


@pytest.mark.claims("linear_regression-15")
def test_least_squares_sees_the_conditional_mean_not_the_distribution(rng):
    A, means, p_x = finite_distribution(rng, k=6)
    both, p, fits, spreads = np.vstack([A, A]), np.append(p_x, p_x) / 2, [], []
    for spread in (0.1, rng.uniform(1, 5, size=6)):  # two points y for each x, around its mean
        y = np.append(means - spread, means + spread)
        fits.append(population_solution(both, y, p))
        spreads.append(p @ residual(both, y, fits[-1]) ** 2)
    np.testing.assert_allclose(*fits, **CLOSE)
    assert spreads[1] > 2 * spreads[0]  # the laws do differ
    moved = population_solution(A, means + A[:, 1] ** 2, p_x)
    assert np.abs(moved - fits[0]).max() > 0.01  # as does the fit of another mean


@pytest.mark.claims("linear_regression-16")
def test_training_error_falls_short_of_the_noise_by_the_degrees_of_freedom(rng):
    n, d, sigma = 25, 4, 0.7
    A, _, theta = problem(rng, n=n, d=d)
    hat = np.column_stack([A @ qr_solution(A, e) for e in np.eye(n)])
    assert np.trace(np.eye(n) - hat) == pytest.approx(n - d - 1, abs=1e-10)
    noise = sigma * rng.normal(size=(4000, n))
    errors = np.mean((noise - noise @ hat) ** 2, axis=1)
    y = A @ theta + noise[0]
    assert noise_deviation(A, y, qr_solution(A, y)) ** 2 == pytest.approx(errors[0])
    standard_error = errors.std() / np.sqrt(len(errors))
    assert abs(errors.mean() - sigma**2 * (n - d - 1) / n) < 4 * standard_error
    assert abs(errors.mean() - sigma**2) > 20 * standard_error


@pytest.mark.claims("linear_regression-16")
def test_least_squares_recovers_the_weights_and_in_the_end_the_noise():
    T = make_linear(50_000, [2.0, -1.0, 0.5], b=3.0, sigma=0.5, rng=np.random.default_rng(4))
    theta = theta_of(LinearRegression().fit(T.X, T.y))
    np.testing.assert_allclose(theta, [3, 2, -1, 0.5], atol=0.01)
    assert noise_deviation(augment(T.X), T.y, theta) == pytest.approx(0.5, rel=0.01)


@pytest.mark.claims("linear_regression-17")
def test_log_likelihood_is_that_of_normal_noise_and_sigma_hat_its_maximiser(rng):
    A, y, theta = problem(rng, n=15)
    density = np.exp(-((y - A @ theta) ** 2) / (2 * 0.8**2)) / (0.8 * np.sqrt(2 * np.pi))
    by_product = np.log(np.prod(density))
    assert gaussian_log_likelihood(A, y, theta, 0.8) == pytest.approx(by_product, rel=1e-10)
    best = noise_deviation(A, y, theta)
    assert best**2 == pytest.approx(np.mean(residual(A, y, theta) ** 2), rel=1e-12)
    for s in best * np.array([0.5, 0.999, 1.001, 2]):
        lower = gaussian_log_likelihood(A, y, theta, s)
        assert lower < gaussian_log_likelihood(A, y, theta, best)


@pytest.mark.claims("linear_regression-18")
def test_maximum_likelihood_is_least_squares_for_every_sigma_but_not_under_laplace_noise(rng):
    A, y, _ = problem(rng)
    for sigma in (0.1, 10.0):
        best = gaussian_log_likelihood(A, y, qr_solution(A, y), sigma)
        for delta in 0.1 * rng.normal(size=(20, 5)):
            assert gaussian_log_likelihood(A, y, qr_solution(A, y) + delta, sigma) < best
    y = rng.exponential(size=101) ** 2  # skewed: mean and median apart
    grid = np.linspace(0, 6, 60_001)
    laplace = -np.abs(y - grid[:, None]).sum(axis=1)  # the log-likelihood up to its constants
    assert grid[laplace.argmax()] == pytest.approx(np.median(y), abs=1e-4)
    assert normal_equations(np.ones((101, 1)), y)[0] - np.median(y) > 0.5


# --- Ridge -----------------------------------------------------------------------------


@pytest.mark.claims("linear_regression-21")
@pytest.mark.parametrize("n, lam", [(30, 1e-3), (30, 50.0), (3, 1.0)])
def test_ridge_by_normal_equations_stacked_rows_and_shrinkage(rng, n, lam):
    A, y = rng.normal(size=(n, 5)), rng.normal(size=n)
    w = ridge(A, y, lam)
    stacked = np.vstack([A, np.sqrt(lam) * np.eye(5)]), np.append(y, np.zeros(5))
    model = Ridge(alpha=lam, fit_intercept=False).fit(A, y)
    for other in (qr_solution(*stacked), shrinkage(A, y, lam), model.coef_):
        np.testing.assert_allclose(w, other, **CLOSE)
    for objective in (
        lambda v: least_squares_cost(A, y, v) + lam * v @ v / 2,
        lambda v: np.mean((A @ v - y) ** 2) / 2 + lam / n * v @ v / 2,  # the mean risk
        lambda v: sum((A @ v - y) ** 2) + lam * v @ v,  # ISML
    ):
        check_gradient(objective, np.zeros_like, w, atol=1e-6)


@pytest.mark.claims("linear_regression-22", "linear_regression-23")
@pytest.mark.parametrize("shape", ["tall", "wide", "duplicated"])
def test_ridge_lifts_every_eigenvalue_by_lambda_and_steadies_the_solution(rng, shape):
    A = rng.normal(size=(4 if shape == "wide" else 30, 6))
    A = np.column_stack([A, A[:, 0]]) if shape == "duplicated" else A
    m, values, conditions = A.shape[1], np.linalg.eigvalsh(least_squares_hessian(A)), []
    for lam in np.geomspace(1e-3, 1e3, 7):
        lifted = np.linalg.eigvalsh(least_squares_hessian(A) + lam * np.eye(m))
        np.testing.assert_allclose(lifted, values + lam, rtol=1e-12, atol=1e-10)
        is_lambda = abs(lifted.min() - lam) < 1e-10  # not above lambda, as printed
        assert is_lambda == (shape != "tall") and lifted.min() > lam - 1e-10
        conditions.append(lifted.max() / lifted.min())
        for y, other in rng.normal(size=(5, 2, len(A))):
            moved = np.linalg.norm(ridge(A, y, lam) - ridge(A, other, lam))
            assert moved <= np.linalg.norm(y - other) / (2 * np.sqrt(lam)) + 1e-12
    assert (np.diff(conditions) < 0).all()


def test_ridge_path_with_a_tiny_lambda_does_not_magnify_rounding(rng):
    X, y = rng.normal(size=(4, 6)), np.array([1.0, 3.0, -2.0, 5.0])
    X[3] = X[0]  # two targets for one sample: their mean is all that can be fitted
    expected = minimum_norm(X - X.mean(axis=0), np.array([3.0, 3.0, -2.0, 3.0]))
    for lam in (0.0, 1e-300, 1e-30, 1e-13):
        np.testing.assert_allclose(ridge_path(X, y, [lam])[0], expected, **CLOSE)
        np.testing.assert_allclose(Ridge(alpha=lam).fit(X, y).coef_, expected, **CLOSE)


@pytest.mark.parametrize("shape", [(40, 4), (4, 9)])
def test_ridge_path_is_centred_ridge_at_every_lambda(rng, shape):
    X, y, lam = rng.normal(size=shape) + 3, rng.normal(size=shape[0]), np.array([10.0, 0.01, 1.0])
    expected = [centred_ridge(X, y, each)[1:] for each in lam]
    np.testing.assert_allclose(ridge_path(X, y, lam), expected, **CLOSE)


@pytest.mark.claims("linear_regression-28")
def test_a_free_offset_moves_with_the_targets_and_a_penalised_one_lags(rng):
    A, y, _ = problem(rng)
    X, lam, c = A[:, 1:], 3.0, 10.0
    theta, moved = centred_ridge(X, y, lam), centred_ridge(X, y + c, lam)
    np.testing.assert_allclose(predict(X, moved) - predict(X, theta), c, rtol=1e-10)
    shift = np.mean(A @ ridge(A, y + c, lam) - A @ ridge(A, y, lam))  # as MLN augments
    assert 0.1 < shift < c - 0.1
    free = np.linalg.solve(A.T @ A + lam * np.diag([0.0, 1, 1, 1, 1]), A.T @ y)
    for other in (free, theta_of(Ridge(alpha=lam).fit(X, y))):
        np.testing.assert_allclose(theta, other, **CLOSE)


@pytest.mark.claims("linear_regression-24")
def test_posterior_is_proportional_to_prior_times_likelihood(rng):
    A, y, sigma, beta = rng.normal(size=(12, 3)), rng.normal(size=12), 0.6, 1.7
    mean, precision = weight_posterior(A, y, sigma, beta)
    W = rng.normal(size=(50, 3))
    prior = multivariate_normal_log_density(W, np.zeros(3), beta**2 * np.eye(3))
    likelihood = [gaussian_log_likelihood(A, y, w, sigma) for w in W]
    post = multivariate_normal_log_density(W, mean, np.linalg.inv(precision))
    exponent = [-least_squares_cost(A, y, w) / sigma**2 - w @ w / (2 * beta**2) for w in W]
    assert np.ptp(prior + likelihood - post) < 1e-9 and np.ptp(post - exponent) < 1e-9


@pytest.mark.claims("linear_regression-25", "linear_regression-26")
@pytest.mark.parametrize("sigma, beta", [(1.0, 1.0), (0.3, 2.0), (5.0, 0.1)])
def test_maximum_a_posteriori_is_ridge_with_the_noise_that_mln_has_lost(rng, sigma, beta):
    A, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    w, printed = ridge(A, y, sigma**2 / beta**2), ridge(A, y, 1 / beta**2)
    np.testing.assert_allclose(weight_posterior(A, y, sigma, beta).mean, w, **CLOSE)

    def log_posterior(w):
        return gaussian_log_likelihood(A, y, w, sigma) + normal_log_density(w, 0.0, beta**2).sum()

    scale = np.abs(A.T @ y).max() / sigma**2
    assert np.abs(differences(log_posterior, w)).max() < 1e-5 * scale
    off = np.abs(differences(log_posterior, printed)).max()
    assert (off > 1e-2 * scale) == (sigma != 1)  # MLN's is right for sigma = 1


@pytest.mark.claims("linear_regression-27")
def test_prior_of_augmented_weights_needs_one_more_factor():
    beta, d = 1.3, 1
    x, weight = gauss_legendre(-12 * beta, 12 * beta, pieces=16)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)  # w in R^(d + 1)
    shape = np.exp(-np.sum(grid**2, axis=1) / (2 * beta**2))
    printed = (1 / (beta * np.sqrt(2 * np.pi))) ** d * shape
    mass = np.outer(weight, weight).ravel()
    assert mass @ printed == pytest.approx(beta * np.sqrt(2 * np.pi), abs=1e-8)
    correct = np.exp(multivariate_normal_log_density(grid, np.zeros(2), beta**2 * np.eye(2)))
    assert mass @ correct == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(correct, printed / (beta * np.sqrt(2 * np.pi)), rtol=1e-10)


# --- LASSO -----------------------------------------------------------------------------


def sparse(rng, n=60, d=12):
    """Centred samples, correlated and of unequal scale, whose targets need three of the columns."""
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.2 * rng.normal(size=(d, d)))
    y = X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=n)
    return X - X.mean(axis=0), y - y.mean()


def orthonormal(rng, n=20, d=6):
    """Orthonormal centred columns, and centred targets."""
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    return np.linalg.qr(X - X.mean(axis=0))[0], y - y.mean()


def lasso(X, y, C, tol=1e-12):
    """The weights of coordinate descent run to a tiny gap."""
    run = iterate(coordinate_descent(X, y, C), "gap", tol * (y @ y), max_iter=20_000)
    assert run.converged and (np.diff(run.history) <= 1e-9).all()
    return run.state.w


def by_the_book(X, y, C, passes):
    """Coordinate descent with its loops: every weight in turn, from its partial residual."""
    w = np.zeros(X.shape[1])
    for _ in range(passes):
        for j in range(len(w)):
            partial = y - X @ w + X[:, j] * w[j]
            w[j] = soft_threshold(X[:, j] @ partial, C / 2) / (X[:, j] @ X[:, j])
    return w


@pytest.mark.claims("linear_regression-30")
def test_lasso_bound_is_the_constant_from_which_all_weights_vanish(rng):
    X, y = sparse(rng)
    X, y = X + 2, y + 5
    top = lasso_bound(X, y)
    by_hand = max(abs(np.sum((x - x.mean()) * (y - y.mean()))) for x in X.T)
    assert top == pytest.approx(2 * by_hand, rel=1e-12)
    W = lasso_path(X, y, top * np.array([1e-9, 0.99, 1, 2]), tol=1e-12)
    np.testing.assert_allclose(W[0], qr_solution(augment(X), y)[1:], rtol=1e-6, atol=1e-6)
    assert np.count_nonzero(W[1]) == 1 and not W[2:].any()


@pytest.mark.claims("linear_regression-30")
def test_lasso_objective_adds_absolute_weights_and_is_least_at_the_path_with_an_offset(rng):
    X, y = sparse(rng)
    X, y = X + 2, y + 5
    w = lasso_path(X, y, [40.0], tol=1e-12)[0]
    best = np.append(y.mean() - w @ X.mean(axis=0), w)
    for theta in best + 0.01 * rng.normal(size=(50, 13)):
        literal = sum((y[i] - sum(theta[1:] * X[i]) - theta[0]) ** 2 for i in range(60))
        literal += 40 * sum(abs(weight) for weight in theta[1:])
        assert lasso_objective(X, y, best, 40.0) < literal
        assert lasso_objective(X, y, theta, 40.0) == pytest.approx(literal, rel=1e-12)


def test_duality_gap_bounds_the_way_to_the_minimum_and_vanishes_there(rng):
    X, y = sparse(rng)
    C = 0.2 * lasso_bound(X, y)
    best = lasso(X, y, C, tol=1e-14)
    minimum = lasso_objective(X, y, np.append(0, best), C)
    for scale in (1.0, 0.1, 1e-3):
        w = best + scale * rng.normal(size=12)
        r = y - X @ w
        above = lasso_objective(X, y, np.append(0, w), C) - minimum
        s = min(1, C / (2 * np.abs(X.T @ r).max()))
        gap = duality_gap(w, r, 2 * X.T @ r, C)
        assert 0 < above <= gap
        assert gap == pytest.approx(minimum + above - (2 * s * r @ y - s**2 * r @ r), rel=1e-8)
    assert duality_gap(np.zeros(12), y, 2 * X.T @ y, lasso_bound(X, y)) == 0
    assert duality_gap(np.zeros(2), np.zeros(3), np.zeros(2), 1.0) == 0


@pytest.mark.claims("linear_regression-31")
@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
def test_coordinate_descent_ends_where_the_conditions_hold(rng, share):
    X, y = sparse(rng)
    C = share * lasso_bound(X, y)
    w = lasso(X, y, C, tol=1e-13)
    slope, active = 2 * X.T @ (y - X @ w), w != 0
    np.testing.assert_allclose(slope[active], C * np.sign(w[active]), rtol=1e-5, atol=1e-5)
    assert (np.abs(slope[~active]) <= C + 1e-5).all() and active.any()


@pytest.mark.claims("linear_regression-31")
def test_coordinate_descent_makes_the_passes_of_the_book(rng):
    X, y = sparse(rng)
    for k, state in enumerate(islice(coordinate_descent(X, y, C=1e-9), 4)):
        np.testing.assert_allclose(state.w, by_the_book(X, y, 1e-9, passes=k), **CLOSE)
    Q, y = orthonormal(rng)
    state = next(islice(coordinate_descent(Q, y, 0.6), 1, None))  # done in one pass
    np.testing.assert_allclose(state.w, soft_threshold(Q.T @ y, 0.3), **CLOSE)
    assert state.gap < 1e-12


def test_coordinate_descent_states_are_exact_from_any_start(rng):
    X, y = sparse(rng, d=100)  # more features than samples
    X[:, 4] = 0
    start = 3 * rng.normal(size=100)
    states = list(islice(coordinate_descent(X, y, 5.0, start), 30))
    np.testing.assert_array_equal(states[0].w, np.where(np.arange(100) == 4, 0, start))
    assert (np.diff([state.objective for state in states]) < 0).all()
    for w, objective, gap in states:
        assert w[4] == 0
        assert objective == pytest.approx(lasso_objective(X, y, np.append(0, w), 5.0))
        r = y - X @ w
        assert gap == pytest.approx(duality_gap(w, r, 2 * X.T @ r, 5.0))


@pytest.mark.claims("linear_regression-32")
def test_lasso_sets_weights_to_zero_and_ridge_only_shrinks(rng):
    Q, y = orthonormal(rng)
    C, c = np.median(2 * np.abs(Q.T @ y)), Q.T @ y
    np.testing.assert_array_equal(lasso(Q, y, C) == 0, np.abs(c) <= C / 2)
    np.testing.assert_allclose(ridge(Q, y, C), c / (1 + C), **CLOSE)
    X, y = sparse(rng)
    C = np.geomspace(1e-4, 1, 20) * lasso_bound(X, y)
    counts = np.count_nonzero(lasso_path(X, y, C), axis=1)
    assert counts[0] == 12 and counts[-1] == 0 and len(set(counts)) > 5
    assert ridge_path(X, y, C).all()


def test_lasso_path_has_the_minimiser_of_every_constant_up_to_the_gap(rng):
    X, y = sparse(rng)
    C = np.array([1.0, 30.0, 5.0])
    W = [lasso(X, y, each) for each in C]
    np.testing.assert_allclose(lasso_path(X + 3, y - 1, C, tol=1e-12), W, rtol=1e-5, atol=1e-5)
    for w, c in zip(lasso_path(X + 3, y - 1, C), C, strict=True):
        r = y - X @ w
        assert duality_gap(w, r, 2 * X.T @ r, c) <= 1e-8 * (y @ y)
    assert not lasso_path(X, y, C, tol=1e9).any()  # any gap will do, even that of the start


# --- The estimators --------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [1.0, 1e6, 1e12])
def test_linear_regression_loses_no_more_digits_than_the_condition_number_says(rng, kappa):
    X, y = conditioned(rng, kappa), rng.normal(size=30)
    weights = 4.0 ** rng.integers(-2, 3, size=30)  # with exact roots
    root = np.sqrt(weights)[:, None]
    for free, A in ((True, augment(X)), (False, X)):
        model = LinearRegression(fit_intercept=free).fit(X, y, sample_weight=weights)
        theta = theta_of(model)[0 if free else 1 :]
        exact = exactly(root * A, root[:, 0] * y)
        norm = np.linalg.norm(exact)
        assert np.linalg.norm(theta - exact) < 1e-14 * kappa * norm + 1e-13 * norm
        assert free or model.intercept_ == 0


def test_linear_regression_fits_powers_far_from_zero(rng):
    x = rng.uniform(-9, -4, size=60)  # as in NIST's problem of Filippelli
    X, y = powers(x, 10), np.sin(x) + 0.01 * rng.normal(size=60)
    exact, model = exactly(augment(X), y), LinearRegression().fit(X, y)
    assert np.linalg.cond(augment(X)) > 1e15 and model.rank_ == 10
    np.testing.assert_allclose(theta_of(model), exact, rtol=1e-4)
    np.testing.assert_allclose(model.predict(X), augment(X) @ exact, rtol=1e-6)


MORE_THAN_SAMPLES = np.random.default_rng(0).normal(size=(4, 6))


@pytest.mark.parametrize(
    "X, rank",
    [
        ([[1.0, 2.0, 3.0]], 0),  # a single sample
        ([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0], [0.1, 3.0]], 1),
        ([[1.0, 2.0, 0.3], [2.0, 4.0, 0.6], [3.0, 6.0, 0.9], [5.0, 10.0, 1.5]], 1),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], 1),  # dummies: their sum is constant
        ([[1.0, 1e-9], [2.0, 2e-9], [3.0, 5e-9], [4.0, 1e-9]], 2),
        ([[1.0, 0.3], [2.0, 0.1 + 0.2], [4.0, 0.3], [3.0, 0.1 + 0.2]], 1),
        ([[1.0, 2.0, 0.1], [3.0, 5.0, 0.1], [2.0, 7.0, 0.1]], 2),
        (MORE_THAN_SAMPLES, 3),
        (MORE_THAN_SAMPLES * [1.0, 1e3, 1e-2, 1.0, 1e3, 2.0], 3),
    ],
)
def test_linear_regression_of_ugly_samples_has_their_rank_and_the_shortest_weights(X, rank):
    X, y = np.array(X), np.array([1.0, 5.0, 2.0, 3.0])[: len(X)]
    model = LinearRegression().fit(X, y)
    assert model.rank_ == rank
    shortest = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-12) @ y
    np.testing.assert_allclose(model.coef_, shortest, rtol=1e-6, atol=1e-6)
    assert model.predict(X.mean(axis=0)[None])[0] == pytest.approx(y.mean())
    assert rank < len(X) - 1 or model.score(X, y) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1e-9), Lasso(1e-12)], ids=repr)
def test_without_an_offset_constant_features_and_targets_are_like_others(rng, model):
    X, y = np.column_stack([np.ones(9), rng.normal(size=9)]), np.full(9, 2.0)
    model.set_params(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, [2, 0], atol=1e-6)


def test_linear_regression_of_dependent_features_predicts_the_same_in_every_unit(rng):
    a, b = rng.normal(size=(2, 20))
    y = 2 * a + b
    for unit in 10.0 ** np.array([-14, -3, 0, 8, 17]):
        for X in (np.column_stack([a, b, (a + b) * unit]), np.column_stack([a, 10 * a, unit * b])):
            for model in (LinearRegression(), LinearRegression(fit_intercept=False), Ridge(0)):
                np.testing.assert_allclose(model.fit(X, y).predict(X), y, atol=1e-13)
            assert LinearRegression().fit(X, y).rank_ == 2
    X = np.column_stack([a, 10 * a, 1e-6 * b])
    shortest = np.array([2 / 101, 20 / 101, 1e6])
    error = np.linalg.norm(LinearRegression().fit(X, y).coef_ - shortest)
    assert error < 1e-9 * np.linalg.norm(shortest)


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_linear_regression_sees_dependence_that_rounding_hides(rng, far):
    X, y = rng.normal(size=(50, 2)) + far, rng.normal(size=50)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])  # the sum is rounded
    model, best = LinearRegression().fit(X, y), LinearRegression().fit(X[:, :2], y)
    assert model.rank_ == 2 and np.abs(model.coef_).max() < 10
    np.testing.assert_allclose(model.predict(X), best.predict(X[:, :2]), atol=1e-14 * far)


def test_linear_regression_sees_what_a_feature_far_from_0_does_not_touch(rng):
    a, b, c = rng.normal(size=(3, 200))
    model = LinearRegression().fit(np.column_stack([a, a + 1e-5 * b, c + 1e12]), b)
    assert model.rank_ == 3
    np.testing.assert_allclose(model.coef_, [-1e5, 1e5, 0], rtol=1e-8, atol=1e-8)
    spike = 1e15 + 8 * (np.arange(10_000) == 0)  # of which rounding leaves nothing
    a = rng.normal(size=10_000)
    np.testing.assert_allclose(LinearRegression().fit(np.column_stack([a, spike]), a).coef_, [1, 0])


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1e-9), Lasso(0)], ids=repr)
def test_units_of_features_and_weights_whose_products_overflow_do_not_matter(rng, model):
    X, y, weights = rng.normal(size=(20, 2)), rng.normal(size=20), rng.uniform(size=20)
    coef = model.fit(X, y, sample_weight=weights).coef_
    model.fit(1e80 * X, y, sample_weight=1e149 * weights)
    np.testing.assert_allclose(1e80 * model.coef_, coef, rtol=1e-7)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1e-9), Lasso(0)], ids=repr)
def test_steps_of_1_are_seen_far_from_zero(model):
    for far in (1e14, 1e15):
        coef = model.fit([[far], [far + 1], [far + 2]], [0.0, 1.0, 2.0]).coef_
        np.testing.assert_allclose(coef, 1, rtol=1e-8)


@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1.0])
def test_ridge_of_nearly_dependent_features_loses_no_more_digits_than_they_have(rng, lam):
    X, y = conditioned(rng, kappa=1e5, n=200), rng.normal(size=200)
    rows = np.vstack([augment(X), np.sqrt(lam) * np.eye(5)[1:]])
    exact = exactly(rows, np.append(y, np.zeros(4)))
    np.testing.assert_allclose(theta_of(Ridge(alpha=lam).fit(X, y)), exact, rtol=1e-8)
    scaled = Ridge(alpha=1e-60 * lam).fit(X * [1, 1e-15, 1, 1], y)  # no feature is lost
    np.testing.assert_allclose(
        scaled.predict(X * [1, 1e-15, 1, 1]), Ridge(alpha=0).fit(X, y).predict(X), rtol=1e-8
    )


@pytest.mark.parametrize("d", [4, 60])
def test_ridge_minimises_the_weighted_cost_with_any_number_of_features(rng, d):
    X, y, weights = rng.normal(size=(40, d)), rng.normal(size=40), 3 * rng.uniform(size=40)
    theta = theta_of(Ridge(alpha=0.4).fit(X, y, sample_weight=weights))
    slope = augment(X).T @ (weights * residual(augment(X), y, theta))
    np.testing.assert_allclose(slope, -0.4 * np.append(0, theta[1:]), atol=1e-11)
    assert not Ridge(alpha=1e200).fit(X, y, sample_weight=1e-149 * weights).coef_.any()
    assert not Ridge(alpha=0).fit(np.ones((40, d)), y).coef_.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lasso_alpha_is_the_notes_constant_over_twice_the_samples(rng, fit_intercept):
    X, y = sparse(rng)
    X, y = X + rng.normal(size=12), y + 4
    model = Lasso(0.3, tol=1e-12, fit_intercept=fit_intercept).fit(X, y)
    Z, z = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    np.testing.assert_allclose(model.coef_, lasso(Z, z, C=120 * 0.3), rtol=1e-6, atol=1e-6)
    objective = lasso_objective(X, y, theta_of(model), 120 * 0.3) / 120
    assert model.history_[[0, -1]] == pytest.approx([z @ z / 120, objective])


@pytest.mark.parametrize("tol", [1e-12, 0.01])
def test_lasso_stops_where_its_dual_gap_is_a_share_of_the_squared_targets(rng, tol):
    X, y = sparse(rng)
    model = Lasso(0.3, tol=tol, fit_intercept=False).fit(X, y)
    r = y - X @ model.coef_
    gap = duality_gap(model.coef_, r, 2 * X.T @ r, C=120 * 0.3) / 120
    assert model.dual_gap_ == pytest.approx(gap, rel=1e-6, abs=1e-15)
    assert gap <= tol * (y @ y) / 60 and (tol < 1e-4 or gap > 1e-4 * (y @ y) / 60)


def test_lasso_by_default_is_at_least_as_exact_as_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = importlib.import_module("sklearn.datasets").load_diabetes(return_X_y=True)
    for alpha, rows in ((1.0, 150), (0.1, 442)):
        ours, theirs = (
            kind(alpha=alpha).fit(X[:rows], y[:rows]) for kind in (Lasso, linear_model.Lasso)
        )
        assert ours.dual_gap_ < 1.001 * theirs.dual_gap_


def test_lasso_without_a_penalty_is_least_squares_at_once(rng):
    X, y = conditioned(rng, kappa=1e6), rng.normal(size=30)
    model, best = Lasso(alpha=0).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(theta_of(model), theta_of(best), rtol=1e-9)
    assert model.n_iter_ == 0 and model.dual_gap_ == 0 and model.converged_
    assert model.history_ == pytest.approx(np.mean((best.predict(X) - y) ** 2) / 2)


def test_dual_gap_of_a_stopped_lasso_bounds_how_far_it_is_off(rng):
    X, y = sparse(rng)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations, .*; gap = "):
        model = Lasso(alpha=1e-3, max_iter=2, tol=1e-14).fit(X, y)
    best = Lasso(alpha=1e-3, tol=1e-13).fit(X, y)
    assert 0 < model.history_[-1] - best.history_[-1] <= model.dual_gap_


def test_lasso_of_huge_penalties_constant_targets_and_constant_columns_is_zero(rng):
    X, y = np.column_stack([np.full(20, 0.1), rng.normal(size=20)]), 1e-9 * rng.normal(size=20)
    model = Lasso(alpha=9e299).fit(X, y, sample_weight=np.full(20, 2.0))
    assert not model.coef_.any() and model.converged_ and model.dual_gap_ == 0
    assert model.intercept_ == pytest.approx(y.mean())
    model = Lasso(alpha=1e-12).fit(X, np.full(20, 0.1))
    assert not model.coef_.any() and model.intercept_ == pytest.approx(0.1)
    for model in (Lasso(alpha=0), Lasso(alpha=1e-12), Ridge(alpha=0), Ridge(alpha=1e-40)):
        assert model.fit(X, y).coef_[0] == 0 != model.coef_[1]


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("linear_regression-33")
def test_overview_names_methods_of_the_chapters_they_are_said_to_be_in():
    axes = panels(figures.three_tasks, columns=3)
    for ax, (task, methods) in zip(axes, figures.METHODS.items(), strict=True):
        assert task.capitalize() in ax.get_title(loc="left") + ax.get_title()
        assert ax.get_xlabel().replace("\n", " ").split(", ") == [*methods]
        for chapter, name in (place.split(".") for place in methods.values()):
            assert name in public_names(importlib.import_module(f"mlnotes.{chapter}"))


@pytest.mark.claims("linear_regression-34")
def test_residuals_drawn_are_vertical_cancel_and_add_up_to_the_title():
    left, right = panels(figures.residuals_and_the_bowl, columns=2)
    x, y = figures.few_samples()
    theta = qr_solution(augment(x), y)
    ends = np.concatenate([np.array(lines.get_segments()) for lines in left.collections])
    np.testing.assert_array_equal(ends[..., 0], np.hstack([x, x]))
    np.testing.assert_allclose(ends[..., 1], np.column_stack([y, predict(x, theta)]))
    lengths = np.diff(ends[..., 1])
    assert abs(lengths.sum()) < 1e-10
    title = left.get_title(loc="left") + left.get_title()
    assert title == f"sum of squares {np.sum(lengths**2):.2f}"


@pytest.mark.claims("linear_regression-35")
def test_paths_of_lasso_drawn_end_at_zero_one_by_one_and_those_of_ridge_do_not():
    left, right = panels(figures.coefficient_paths, columns=2)
    X, y, _ = figures.wine(*figures.SHOWN)
    X = figures.standardised(X)
    best, top = qr_solution(augment(X), y)[1:], lasso_bound(X, y)
    names = [name.replace("_", " ") for name in figures.SHOWN]
    for ax in (left, right):
        curves = {line.get_label(): line.get_xydata() for line in ax.lines}
        curves = [curves[name] for name in names]
        np.testing.assert_allclose([curve[0] for curve in curves], [[0, w] for w in best])
        grows = [np.abs(curve[:, 1]).max() > 1.01 * abs(curve[0, 1]) for curve in curves]
        first_zero = {curve[curve[:, 1] == 0, 0].min(initial=np.inf) for curve in curves}
        if ax is left:
            assert grows[names.index("proline")]
            assert len(first_zero) >= 4 and max(first_zero) == top
        else:
            assert sum(grows) == 2 and first_zero == {np.inf}
            assert max(abs(curve[-1, 1]) for curve in curves) < 0.06 * np.abs(best).max()
