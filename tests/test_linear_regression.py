"""The linear regression chapter: every statement of the notes, checked by a second route."""

import importlib
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from matplotlib.figure import Figure

import figures.linear_regression as figures
import mlnotes
import mlnotes.linear_regression as module
from mlnotes.base import ConvergenceWarning, iterate
from mlnotes.datasets import make_linear
from mlnotes.linear_regression import (
    Lasso,
    LinearRegression,
    Ridge,
    augment,
    centred_ridge,
    coordinate_descent,
    cost,
    descend,
    duality_gap,
    eigen_solution,
    gradient,
    hessian,
    lasso_bound,
    lasso_objective,
    lasso_path,
    least_squares,
    lms,
    log_likelihood,
    minimum_norm,
    noise_deviation,
    normal_equations,
    population_solution,
    posterior,
    powers,
    predict,
    qr_solution,
    regression_function,
    residual,
    ridge,
    ridge_cost,
    ridge_path,
    shrinkage,
    soft_threshold,
)
from mlnotes.optimization import solve_qp
from mlnotes.probability import (
    gauss_legendre,
    multivariate_normal_log_density,
    normal_log_density,
)
from mlnotes.reading import public_names

EPS = np.finfo(float).eps


def problem(rng, n=40, d=4):
    """A design matrix (1, X) of columns of unequal scale, targets, and some theta."""
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d) + rng.normal(size=d)
    return augment(X), rng.normal(size=n), rng.normal(size=d + 1)


def differences(f, x, h=1e-6):
    """Central differences of f, a number or an array, in every entry of the array x."""
    steps = [h * e.reshape(x.shape) for e in np.eye(x.size)]
    slopes = [(f(x + step) - f(x - step)) / (2 * h) for step in steps]
    return np.array(slopes).reshape(x.shape + np.shape(slopes[0]))


def exactly(A, y):
    """Least squares in rational numbers: elimination of the normal equations, no rounding."""
    rows = [[Fraction(value) for value in row] for row in np.column_stack([A, y]).tolist()]
    d = len(rows[0]) - 1
    M = [[sum(row[i] * row[j] for row in rows) for j in range(d + 1)] for i in range(d)]
    for i in range(d):
        M[i] = [value / M[i][i] for value in M[i]]
        for k in range(d):
            if k != i:
                M[k] = [a - M[k][i] * b for a, b in zip(M[k], M[i], strict=True)]
    return np.array([float(M[i][d]) for i in range(d)])


def digits(theta, exact):
    """Decimal digits to which the worst entry of theta is right."""
    return -np.log10(np.max(np.abs((theta - exact) / exact)) + EPS)


def conditioned(rng, kappa, n=30, d=4):
    """A matrix (n, d) of that condition number, all singular directions mixed."""
    U, V = np.linalg.qr(rng.normal(size=(n, d)))[0], np.linalg.qr(rng.normal(size=(d, d)))[0]
    return U @ np.diag(np.geomspace(1, 1 / kappa, d)) @ V.T


def theta_of(fit):
    """(b, w) of a `Fit` or a fitted estimator."""
    return np.array([fit.b, *fit.w] if hasattr(fit, "w") else [fit.intercept_, *fit.coef_])


# ---------------------------------------------------------------------------------------
# The linear model and its cost
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("linear_regression-01")
def test_model_is_the_same_as_sum_product_and_augmented_product(rng):
    A, _, theta = problem(rng, n=7, d=3)
    X, (b, *w) = A[:, 1:], theta
    loop = [b + sum(w[j] * X[i, j] for j in range(3)) for i in range(7)]
    assert A.shape == (7, 4) and (A[:, 0] == 1).all()
    np.testing.assert_allclose(A @ theta, loop, rtol=1e-12)
    np.testing.assert_allclose(X @ w + b, loop, rtol=1e-12)
    np.testing.assert_allclose(predict(X, theta), loop, rtol=1e-12)
    np.testing.assert_allclose(
        differences(lambda x: predict(x[None], theta)[0], X[0]), w, rtol=1e-7
    )


@pytest.mark.claims("linear_regression-01")
def test_new_samples_are_predicted_from_their_own_rows(rng):
    A, _, theta = problem(rng)
    new = rng.normal(size=(5, 4))
    model = LinearRegression().fit(A[:, 1:], A @ theta)
    np.testing.assert_allclose(model.predict(new), predict(new, theta), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict(new[::-1])[::-1], model.predict(new), rtol=1e-12)


@pytest.mark.claims("linear_regression-03")
def test_cost_is_a_sum_a_quadratic_form_and_a_norm(rng):
    A, y, theta = problem(rng)
    e = residual(A, y, theta)
    np.testing.assert_allclose(
        e, [predict(a[None, 1:], theta)[0] - t for a, t in zip(A, y, strict=True)]
    )
    by_loop = 0.5 * sum((theta @ a - t) ** 2 for a, t in zip(A, y, strict=True))
    assert cost(A, y, theta) == pytest.approx(by_loop, rel=1e-12)
    assert cost(A, y, theta) == pytest.approx(0.5 * (A @ theta - y).T @ (A @ theta - y), rel=1e-12)
    assert cost(A, y, theta) == pytest.approx(0.5 * np.linalg.norm(e) ** 2, rel=1e-12)


@pytest.mark.claims("linear_regression-04")
def test_matrix_calculus_rules(rng):
    A, B, C = rng.normal(size=(3, 4, 4)) + 2 * np.eye(4)
    R = rng.normal(size=(3, 4))  # of another shape than its transpose
    D = rng.normal(size=(4, 3))
    tr, det = np.trace, np.linalg.det
    close = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(differences(lambda M: tr(M @ D), R), D.T, **close)
    np.testing.assert_allclose(differences(det, A), det(A) * np.linalg.inv(A).T, **close)

    def f(M):
        return tr(M @ B @ M.T @ C)

    by_a = C @ A @ B + C.T @ A @ B.T
    by_at = differences(lambda T: f(T.T), A.T)
    np.testing.assert_allclose(differences(f, A), by_a, **close)
    np.testing.assert_allclose(by_at, differences(f, A).T, **close)
    np.testing.assert_allclose(by_at, B.T @ A.T @ C.T + B @ A.T @ C, **close)
    np.testing.assert_allclose(by_a.T, B.T @ A.T @ C.T + B @ A.T @ C, rtol=1e-12)
    assert np.abs(differences(f, A) - (C @ A @ B + C @ A @ B.T)).max() > 0.1  # C for its transpose


@pytest.mark.claims("linear_regression-05")
def test_gradient_and_hessian_are_the_derivatives_of_the_cost(rng):
    A, y, theta = problem(rng)
    expanded = 0.5 * (theta @ A.T @ A @ theta - 2 * y @ A @ theta + y @ y)
    assert cost(A, y, theta) == pytest.approx(expanded, rel=1e-10)
    numeric = differences(lambda t: cost(A, y, t), theta)
    np.testing.assert_allclose(gradient(A, y, theta), numeric, rtol=1e-6)
    B, C, column = A.T @ A, np.eye(1), theta[:, None]
    by_trace_rule = 0.5 * (B.T @ column @ C.T + B @ column @ C)[:, 0] - A.T @ y
    np.testing.assert_allclose(gradient(A, y, theta), by_trace_rule, rtol=1e-10)
    second = differences(lambda t: gradient(A, y, t), theta)
    np.testing.assert_allclose(hessian(A), second, rtol=1e-6)
    assert np.linalg.eigvalsh(hessian(A)).min() >= 0
    wide = rng.normal(size=(3, 6))
    assert np.linalg.eigvalsh(hessian(wide)).min() >= -1e-10


# ---------------------------------------------------------------------------------------
# Closed forms
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("linear_regression-06")
def test_residuals_are_orthogonal_to_every_column_and_sum_to_zero(rng):
    A, y, theta = problem(rng)
    best = qr_solution(A, y)
    r = y - A @ best
    assert np.abs(A.T @ r).max() < 1e-10 < np.abs(A.T @ (y - A @ theta)).max()
    assert abs(r.sum()) < 1e-10
    assert predict(A[:, 1:].mean(axis=0)[None], best)[0] == pytest.approx(y.mean(), abs=1e-12)
    origin = qr_solution(A[:, 1:], y)  # without a constant nothing makes them cancel
    assert abs((y - A[:, 1:] @ origin).sum()) > 0.1


@pytest.mark.claims("linear_regression-07")
def test_all_routes_lead_to_the_least_squares_solution(rng):
    A, y, _ = problem(rng)
    best = np.linalg.lstsq(A, y, rcond=None)[0]
    for route in (normal_equations, qr_solution, eigen_solution, minimum_norm):
        np.testing.assert_allclose(route(A, y), best, rtol=1e-12, atol=1e-12)
    run = iterate(descend(A, y), "gradient_norm", 1e-10, max_iter=5000)
    assert run.converged and (np.diff(run.history) <= 1e-12).all()
    np.testing.assert_allclose(run.state.x, best, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(theta_of(least_squares(A[:, 1:], y)), best, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("linear_regression-07")
def test_cost_rises_by_half_the_squared_length_of_a_delta(rng):
    A, y, _ = problem(rng)
    best = normal_equations(A, y)
    for delta in rng.normal(size=(20, 5)):
        rise = cost(A, y, best + delta) - cost(A, y, best)
        assert rise == pytest.approx(np.sum((A @ delta) ** 2) / 2, rel=1e-10)


@pytest.mark.claims("linear_regression-08")
def test_left_inverse_is_the_moore_penrose_inverse(rng):
    A, _, _ = problem(rng)
    columns = np.eye(len(A))
    P = np.column_stack([normal_equations(A, e) for e in columns])
    np.testing.assert_allclose(
        P, np.column_stack([minimum_norm(A, e) for e in columns]), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(A @ P @ A, A, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(P @ A @ P, P, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((A @ P).T, A @ P, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((P @ A).T, P @ A, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(P, np.linalg.pinv(A), rtol=1e-12, atol=1e-12)


@pytest.mark.claims("linear_regression-09")
@pytest.mark.parametrize("n", [40, 4], ids=["duplicated column", "fewer samples than weights"])
def test_rank_deficient_problems_are_solved_by_the_shortest_minimiser(rng, n):
    A, y, _ = problem(rng, n=n)
    A = np.column_stack([A, A[:, 1]])
    shortest = minimum_norm(A, y)
    for other in (eigen_solution(A, y), np.linalg.pinv(A) @ y):
        np.testing.assert_allclose(other, shortest, rtol=1e-8, atol=1e-8)
    assert np.abs(gradient(A, y, shortest)).max() < 1e-8
    _, _, Vt = np.linalg.svd(A)
    null = Vt[np.linalg.matrix_rank(A) :]
    assert len(null) == (1 if n == 40 else 2)
    for c in rng.normal(size=(10, len(null))):
        other = shortest + c @ null
        assert cost(A, y, other) == pytest.approx(cost(A, y, shortest), rel=1e-10, abs=1e-20)
        assert np.linalg.norm(other) > np.linalg.norm(shortest)
    run = iterate(descend(A, y), "gradient_norm", 1e-10, max_iter=20_000)
    np.testing.assert_allclose(run.state.x, shortest, rtol=1e-8, atol=1e-8)


@pytest.mark.claims("linear_regression-09")
@pytest.mark.parametrize("route", [normal_equations, qr_solution])
def test_routes_that_need_full_rank_say_so(rng, route):
    A, y, _ = problem(rng)
    message = r"columns of A must be linearly independent; got rank 5 of 6: .*minimum_norm"
    with pytest.raises(ValueError, match=message):
        route(np.column_stack([A, A[:, 1] + A[:, 2]]), y)
    with pytest.raises(ValueError, match="got rank 4 of 5"):
        route(A[:4], y[:4])
    np.testing.assert_allclose(route(1e-100 * A, y) / 1e100, route(A, y), rtol=1e-9)


@pytest.mark.claims("linear_regression-10")
def test_formula_of_isml_fits_through_the_origin_unless_the_data_are_centred(rng):
    w, X = np.array([2.0, -1.0, 0.5]), rng.normal(size=(30, 3)) + [1.0, 2.0, -3.0]
    y = X @ w + 5
    printed = normal_equations(X, y)
    assert np.linalg.norm(X @ printed - y) > 1 and np.abs(printed - w).max() > 0.1
    np.testing.assert_allclose(normal_equations(augment(X), y), [5, *w], rtol=1e-10, atol=1e-10)
    x_mean, y_mean = X.mean(axis=0), y.mean()
    centred = normal_equations(X - x_mean, y - y_mean)
    np.testing.assert_allclose(
        [y_mean - centred @ x_mean, *centred], [5, *w], rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(X.T @ X @ centred, X.T @ (y - 5), rtol=1e-10)
    noisy = y + rng.normal(size=30)
    lstsq = np.linalg.lstsq(augment(X), noisy, rcond=None)[0]
    np.testing.assert_allclose(normal_equations(augment(X), noisy), lstsq, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(centred_ridge(X, noisy, lam=0.0), lstsq, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.float32])
def test_sums_of_small_integers_do_not_wrap_and_singles_are_computed_as_doubles(rng, kind):
    A, y = rng.integers(0, 128, size=(20, 3)).astype(kind), rng.integers(0, 128, size=20)
    y = y.astype(kind)
    B, z, theta = A.astype(float), y.astype(float), np.array([1, 2, 1], dtype=kind)
    if kind is np.float32:
        A, y, theta = A / kind(3), y / kind(7), theta / kind(3)
        B, z = A.astype(float), y.astype(float)
    t, p = theta.astype(float), np.full(20, 1 / 20)
    pairs = [
        (residual(A, y, theta), B @ t - z),
        (cost(A, y, theta), np.sum((B @ t - z) ** 2) / 2),
        (gradient(A, y, theta), B.T @ (B @ t - z)),
        (hessian(A), B.T @ B),
        (population_solution(A, y, p), np.linalg.lstsq(B, z, rcond=None)[0]),
        (ridge(A, y, 0.5), np.linalg.solve(B.T @ B + np.eye(3) / 2, B.T @ z)),
        (shrinkage(A, y, 0.5), np.linalg.solve(B.T @ B + np.eye(3) / 2, B.T @ z)),
        (posterior(A, y, 2.0, 1.0).mean, np.linalg.solve(B.T @ B + 4 * np.eye(3), B.T @ z)),
        (centred_ridge(A, y, 0.5), centred_ridge(B, z, 0.5)),
        (ridge_path(A, y, [0.5]), ridge_path(B, z, [0.5])),
        (theta_of(least_squares(A, y)), theta_of(least_squares(B, z))),
        (theta_of(least_squares(A[:2], y[:2])), theta_of(least_squares(B[:2], z[:2]))),
        (lasso_bound(A, y), lasso_bound(B, z)),
        (lasso_path(A, y, [9.0]), lasso_path(B, z, [9.0])),
        (soft_threshold(y, kind(100)), soft_threshold(z, 100)),
        (next(coordinate_descent(A, y, 1.0))[1:], next(coordinate_descent(B, z, 1.0))[1:]),
    ]
    for route in (normal_equations, qr_solution, eigen_solution, minimum_norm):
        pairs.append((route(A, y), np.linalg.lstsq(B, z, rcond=None)[0]))
    for ours, expected in pairs:
        np.testing.assert_allclose(ours, expected, rtol=1e-11)


def test_high_powers_of_integers_do_not_wrap():
    np.testing.assert_array_equal(powers(np.array([10, -3]), 20)[:, 19], [1e20, 3.0**20])
    with pytest.raises(ValueError, match=r"x must be 1-D, numbers; got shape \(3, 1\)"):
        powers(np.ones((3, 1)), 2)


COLUMN = r"y must have shape \(6,\), a target per row; got \(6, 1\)"


@pytest.mark.parametrize(
    "function, others",
    [
        (residual, (np.zeros(3),)),
        (cost, (np.zeros(3),)),
        (gradient, (np.zeros(3),)),
        (log_likelihood, (np.zeros(3), 1.0)),
        (noise_deviation, (np.zeros(3),)),
        (lasso_objective, (np.zeros(4), 1.0)),
        (normal_equations, ()),
        (minimum_norm, ()),
        (least_squares, ()),
        (population_solution, (np.full(6, 1 / 6),)),
        (ridge, (1.0,)),
        (shrinkage, (1.0,)),
        (centred_ridge, (1.0,)),
        (posterior, (1.0, 1.0)),
        (lasso_bound, ()),
        (lasso_path, ([1.0],)),
        (lambda X, y: next(coordinate_descent(X, y, 1.0)), ()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_column_of_targets_is_not_broadcast(rng, function, others):
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    function(X, y, *others)
    with pytest.raises(ValueError, match=COLUMN):
        function(X, y[:, None], *others)
    with pytest.raises(ValueError, match=r"samples must be a 2-D array, one per row; got shape"):
        residual(y, y, np.zeros(3))


@pytest.mark.parametrize("theta", [np.zeros((3, 1)), np.zeros(2), np.zeros(1)], ids=np.shape)
def test_a_theta_of_another_shape_is_refused(rng, theta):
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    with pytest.raises(ValueError, match=r"theta must have shape \(3,\); got \("):
        cost(X, y, theta)
    for states in (coordinate_descent(X, y, 1.0, theta), lms(X, y, theta, eta=0.1)):
        with pytest.raises(ValueError, match=r"the start must have shape \(3,\); got \("):
            next(states)


# ---------------------------------------------------------------------------------------
# Least squares by the first route that is safe
# ---------------------------------------------------------------------------------------


def powers_near_minus_seven(seed, n=60, degree=10):
    """Raw powers of x between -9 and -4, and a smooth curve with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-9, -4, size=n)
    return powers(x, degree), np.sin(x) + 0.01 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
def test_raw_powers_near_minus_seven_keep_every_digit(seed):
    X, y = powers_near_minus_seven(seed)
    A = augment(X)
    exact = exactly(A, y)
    assert np.linalg.cond(A) > 1e15
    assert digits(theta_of(least_squares(X, y)), exact) > 13
    model = LinearRegression().fit(X, y)
    assert digits([model.intercept_, *model.coef_], exact) > 13 and model.rank_ == 10
    assert digits(normal_equations(A, y), exact) < 1
    assert digits(np.linalg.lstsq(A, y, rcond=None)[0], exact) < 1
    assert 3 < digits(qr_solution(A, y), exact) < 11


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kappa", 10.0 ** np.array([0, 2, 4, 7, 10, 13]))
def test_digits_do_not_depend_on_the_condition_number(rng, kappa, weighted):
    X, y = conditioned(rng, kappa), rng.normal(size=30)
    weights = 4.0 ** rng.integers(-2, 3, size=30) if weighted else None  # with exact roots
    root = np.ones((30, 1)) if weights is None else np.sqrt(weights)[:, None]
    exact = exactly(root * augment(X), root[:, 0] * y)
    np.testing.assert_allclose(theta_of(least_squares(X, y, weights=weights)), exact, rtol=1e-12)
    exact = exactly(root * X, root[:, 0] * y)
    fit = least_squares(X, y, weights=weights, fit_intercept=False)
    assert fit.b == 0
    np.testing.assert_allclose(fit.w, exact, rtol=1e-12)


def test_normal_equations_are_the_route_of_well_conditioned_features(rng, monkeypatch):
    taken, y = [], rng.normal(size=30)
    for name in ("refined_least_squares", "minimum_norm"):
        route = getattr(module, name)
        spy = lambda *given, f=route, name=name: taken.append(name) or f(*given)  # noqa: E731
        monkeypatch.setattr(module, name, spy)
    for kappa in (1, 10, 1e4, 1e8):
        X = conditioned(rng, kappa)
        shifted = X + [1000.0, 0, 0, 0]  # the condition number is that of centred samples
        scaled = X * [1.0, 2.0**60, 2.0**-60, 32.0]  # with columns of equal length
        for samples in (X, shifted, scaled):
            fit, before = least_squares(samples, y), len(taken)
            if kappa <= 10:
                A = samples - samples.mean(axis=0)
                np.testing.assert_array_equal(fit.w, normal_equations(A, y - y.mean()))
                assert before == 0
    least_squares(X[:3], y[:3])
    least_squares(X[:, [0, 0]], y)
    assert taken == ["refined_least_squares"] * 6 + ["minimum_norm"] * 2


def test_scale_of_the_columns_costs_nothing(rng):
    A, y, _ = problem(rng)
    X = A[:, 1:]
    fit = least_squares(X, y)
    for exponents in ([0, 60, -60, 5], [0, 300, -300, 1], [0, -400, 0, 1], [480, -480, 0, 0]):
        scaled = least_squares(np.ldexp(X, exponents), y)
        np.testing.assert_allclose(np.ldexp(scaled.w, exponents), fit.w, rtol=1e-12)
        assert scaled.rank == 4 and scaled.b == pytest.approx(fit.b, rel=1e-12)
    G = np.ldexp(X, [0, 60, -60, 5])
    with pytest.raises(AssertionError):  # while A^T A has lost the small columns
        w = np.linalg.lstsq(augment(G).T @ augment(G), augment(G).T @ y, rcond=None)[0][1:]
        np.testing.assert_allclose(np.ldexp(w, [0, 60, -60, 5]), fit.w, rtol=1e-3)
    ill = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1] ** 2])
    for Z in (X, ill):
        high = least_squares(Z, np.ldexp(y, 480))
        np.testing.assert_array_equal(np.ldexp(high.w, -480), least_squares(Z, y).w)


def test_an_offset_far_from_zero_costs_nothing(rng):
    X = np.round(rng.normal(size=(50, 3)), 6) + 0.0
    far = X * 2**20 // 1 / 2**20 + [
        2**26,
        -(2**20),
        0,
    ]  # the sum is exact, and so is its difference
    X, y = far - [2**26, -(2**20), 0], rng.normal(size=50)
    np.testing.assert_allclose(least_squares(far, y).w, least_squares(X, y).w, rtol=1e-12)
    np.testing.assert_allclose(least_squares(far, y).w, exactly(augment(X), y)[1:], rtol=1e-12)


@pytest.mark.parametrize("kappa", [1e2, 1e9])
def test_as_many_samples_as_weights_are_interpolated(rng, kappa):
    X, y = conditioned(rng, kappa, n=6, d=5), rng.normal(size=6)
    np.testing.assert_allclose(theta_of(least_squares(X, y)), exactly(augment(X), y), rtol=1e-12)


def test_an_outlier_costs_no_digits(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    X[0] = 1e6
    np.testing.assert_allclose(theta_of(least_squares(X, y)), exactly(augment(X), y), rtol=1e-11)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("estimator", [LinearRegression, Ridge])
def test_weights_are_repetitions_and_weight_zero_is_absence(rng, estimator, fit_intercept):
    kind = estimator(fit_intercept=fit_intercept)
    for d in (3, 12, 30):  # more samples than weights; only with the absent ones; fewer
        X, y, weights = rng.normal(size=(20, d)), rng.normal(size=20), rng.integers(0, 3, size=20)
        weighted = theta_of(kind.fit(X, y, sample_weight=weights.astype(float)))
        repeated = kind.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_allclose(weighted, theta_of(repeated), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("unit", [4.0**-60, 4.0**60])
@pytest.mark.parametrize("n", [20, 4])
def test_unit_of_the_weights_does_not_matter(rng, n, unit):
    X, y, weights = rng.normal(size=(n, 5)), rng.normal(size=n), rng.uniform(0.5, 2, size=n)
    X[:, 4] = X[:, 0] + X[:, 1]
    for Z in (X, X + [0, 0, 0, 0, 1e-4] * rng.normal(size=5), np.full((n, 2), 0.1)):
        fit = least_squares(Z, y, weights=weights)
        other = least_squares(Z, y, weights=unit * weights)
        assert other.rank == fit.rank
        np.testing.assert_allclose(theta_of(other), theta_of(fit), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "X, rank",
    [
        ([[1.0, 2.0, 3.0]], 0),
        ([[0.1, 0.3], [0.1, 0.3], [0.1, 0.3], [0.1, 0.3]], 0),
        ([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0], [0.1, 3.0]], 1),
        ([[1.0, 2.0, 0.3], [2.0, 4.0, 0.6], [3.0, 6.0, 0.9], [5.0, 10.0, 1.5]], 1),
        ([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], 1),  # dummies: they sum to a constant
        ([[1.0, 1e-9], [2.0, 2e-9], [3.0, 5e-9], [4.0, 1e-9]], 2),
        ([[1.0, 0.3], [2.0, 0.1 + 0.2], [4.0, 0.3], [3.0, 0.1 + 0.2]], 1),
        ([[1.0, 2.0], [3.0, 5.0]], 1),
        ([[1.0, 2.0, 0.1], [3.0, 5.0, 0.1], [2.0, 7.0, 0.1]], 2),
    ],
    ids=[
        "one sample",
        "constants",
        "a constant",
        "multiples",
        "dummies",
        "small, not dependent",
        "constant but for rounding",
        "as many features",
        "as many features, one constant",
    ],
)
def test_ugly_samples_get_their_rank_and_the_shortest_weights(X, rank):
    X, y = np.array(X), np.array([1.0, 5.0, 2.0, 3.0])[: len(X)]
    model = LinearRegression().fit(X, y)
    centred = X - X.mean(axis=0)
    assert model.rank_ == rank and len(model.singular_) == min(X.shape)
    expected = np.linalg.svd(centred, compute_uv=False)
    np.testing.assert_allclose(model.singular_, expected, rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(
        model.coef_, np.linalg.pinv(centred, rcond=1e-12) @ y, rtol=1e-6, atol=1e-6
    )
    assert model.predict(X.mean(axis=0)[None])[0] == pytest.approx(y.mean())


def test_few_samples_are_interpolated_by_the_shortest_weights(rng):
    X, y, units = rng.normal(size=(4, 6)), rng.normal(size=4), [1.0, 1e3, 1e-4, 1.0, 1e4, 2.0]
    for Z in (X, X * units):
        fit = least_squares(Z, y)
        assert fit.rank == 3
        np.testing.assert_allclose(Z @ fit.w + fit.b, y, rtol=1e-9)
        np.testing.assert_allclose(fit.w, np.linalg.pinv(Z - Z.mean(axis=0)) @ y, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-3, 1e-6])
def test_dependent_features_in_other_units_get_the_shortest_weights(rng, unit):
    X = rng.normal(size=(30, 2))
    X, y = np.column_stack([X[:, 0], 10 * X[:, 0], unit * X[:, 1]]), X @ [3.0, 4.0]
    model, expected = LinearRegression().fit(X, y), np.array([3 / 101, 30 / 101, 4 / unit])
    assert model.rank_ == 2
    assert np.linalg.norm(model.coef_ - expected) < 1e-9 * np.linalg.norm(expected)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-7, atol=1e-7)


def test_dependence_that_rounding_hides_is_dependence(rng):
    X, y = rng.normal(size=(50, 2)) + 1e6, rng.normal(size=50)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])  # rounded to 1e-10
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 2 and np.abs(model.coef_).max() < 10
    best = LinearRegression().fit(X[:, :2], y)
    np.testing.assert_allclose(model.predict(X), best.predict(X[:, :2]), rtol=1e-6, atol=1e-6)


# ---------------------------------------------------------------------------------------
# Step by step
# ---------------------------------------------------------------------------------------


def test_descent_forgets_each_direction_at_the_rate_of_its_singular_value(rng):
    A, y, theta = problem(rng)
    _, s, Vt = np.linalg.svd(A)
    errors = [Vt @ (state.x - qr_solution(A, y)) for state in islice(descend(A, y, theta), 6)]
    for before, after in zip(errors[:-1], errors[1:], strict=True):
        np.testing.assert_allclose(after, (1 - s**2 / s[0] ** 2) * before, rtol=1e-10, atol=1e-10)


def test_lms_increments_average_to_the_descent_direction(rng):
    A, y, theta = problem(rng)
    after = [
        list(islice(lms(a[None], t[None], theta, eta=0.1), 2))[1].theta
        for a, t in zip(A, y, strict=True)
    ]
    mean = np.mean(np.array(after) - theta, axis=0)
    np.testing.assert_allclose(mean, -0.1 * gradient(A, y, theta) / len(y), rtol=1e-10)


@pytest.mark.parametrize("shuffled", [False, True])
def test_lms_visits_every_sample_once_in_a_pass(rng, shuffled):
    A, y, theta = problem(rng)
    given, order = (np.random.default_rng(3) for _ in range(2))
    for state in islice(lms(A, y, theta, eta=0.01, rng=given if shuffled else None), 4):
        np.testing.assert_allclose(state.theta, theta, rtol=1e-12)
        for i in order.permutation(40) if shuffled else range(40):
            theta = theta + 0.01 * (y[i] - A[i] @ theta) * A[i]


def test_lms_stays_near_least_squares_the_nearer_the_smaller_eta(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    best = normal_equations(X, y)

    def distance(eta):
        states = islice(lms(X, y, eta=eta, rng=np.random.default_rng(0)), 200, 400)
        return np.mean([np.linalg.norm(state.theta - best) for state in states])

    assert 0.001 < distance(0.01) < distance(0.04) / 1.7 < 0.2


def test_lms_state_tells_cost_and_slope_and_finds_a_solution_without_noise(rng):
    A, y, theta = problem(rng, n=20, d=2)
    states = list(islice(lms(A, A @ theta, eta=0.02), 400))
    np.testing.assert_allclose(states[-1].theta, theta, rtol=1e-8, atol=1e-8)
    for state in states[::100]:
        assert state.objective == cost(A, A @ theta, state.theta)
        slope = np.linalg.norm(gradient(A, A @ theta, state.theta))
        assert state.gradient_norm == pytest.approx(slope)


def test_descent_on_a_cost_that_is_flat_stays_where_it_starts():
    (state,) = descend(np.zeros((3, 2)), np.ones(3), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(state.x, [1, 2])
    assert state.gradient_norm == 0


# ---------------------------------------------------------------------------------------
# The statistical view
# ---------------------------------------------------------------------------------------


def finite_distribution(rng, k=12, d=2):
    """Atoms (1, x) and y of a joint law, and their weights."""
    return augment(rng.normal(size=(k, d))), rng.normal(size=k), rng.dirichlet(np.ones(k))


@pytest.mark.claims("linear_regression-11")
def test_population_solution_is_weighted_least_squares_on_the_atoms(rng):
    A, y, p = finite_distribution(rng)
    best = population_solution(A, y, p)
    root = np.sqrt(p)
    weighted = np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    np.testing.assert_allclose(best, weighted, rtol=1e-11)
    slope = differences(lambda t: sum(p * (A @ t - y) ** 2) / 2, best)
    np.testing.assert_allclose(slope, 0, rtol=1e-8, atol=1e-8)
    by_hand = [sum(p[i] * A[i, j] * (A[i] @ best - y[i]) for i in range(12)) for j in range(3)]
    np.testing.assert_allclose(by_hand, 0, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("linear_regression-11")
def test_population_solution_of_a_sample_is_its_least_squares_fit(rng):
    A, y, _ = problem(rng)
    empirical = population_solution(A, y, np.full(len(y), 1 / len(y)))
    np.testing.assert_allclose(empirical, normal_equations(A, y), rtol=1e-10)
    np.testing.assert_allclose(empirical, theta_of(least_squares(A[:, 1:], y)), rtol=1e-10)


@pytest.mark.claims("linear_regression-12")
def test_sums_are_sample_averages_and_the_fit_tends_to_the_population_solution(rng):
    A, y, p = finite_distribution(rng)
    rows = rng.choice(12, size=30, p=p)
    outer = sum(np.outer(a, a) for a in A[rows])
    np.testing.assert_allclose(hessian(A[rows]), outer, rtol=1e-12)
    by_sum = sum(a * t for a, t in zip(A[rows], y[rows], strict=True))
    np.testing.assert_allclose(
        -gradient(A[rows], y[rows], np.zeros(3)), by_sum, rtol=1e-12, atol=1e-12
    )

    best, sizes = population_solution(A, y, p), 10 ** np.arange(2, 6)

    def error(n):
        counts = rng.multinomial(n, p) / n  # n draws; only how often each atom came matters
        return np.linalg.norm(population_solution(A, y, counts) - best)

    errors = [np.mean([error(n) for _ in range(200)]) for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


@pytest.mark.claims("linear_regression-13")
def test_conditional_mean_is_best_by_pythagoras(rng):
    joint, y = rng.dirichlet(np.ones(20)).reshape(5, 4), rng.normal(size=5)
    best = regression_function(joint, y)
    by_hand = [sum(joint[:, j] * y) / sum(joint[:, j]) for j in range(4)]
    np.testing.assert_allclose(best, by_hand, rtol=1e-12)
    p_x = joint.sum(axis=0)
    variance = sum((joint[:, j] * (y - best[j]) ** 2).sum() for j in range(4))  # E Var(y | x)

    def risk(f):
        return sum(joint[i, j] * (f[j] - y[i]) ** 2 for i in range(5) for j in range(4))

    assert risk(best) == pytest.approx(variance, rel=1e-12)
    for f in rng.normal(size=(50, 4)):
        assert risk(f) == pytest.approx(p_x @ (f - best) ** 2 + variance, rel=1e-12)
        assert risk(f) > risk(best)


def labelled_distribution(rng, k=6):
    """Atoms (1, x), twice: with label 0 and with label 1, of posterior q_1; weights of all."""
    A, p_x, q_1 = augment(rng.normal(size=(k, 2))), rng.dirichlet(np.ones(k)), rng.uniform(size=k)
    return A, p_x, q_1, np.vstack([A, A]), np.append(p_x * (1 - q_1), p_x * q_1)


@pytest.mark.claims("linear_regression-14")
def test_least_squares_on_labels_fits_the_posterior(rng):
    A, p_x, q_1, both, p = labelled_distribution(rng)
    bits = np.repeat([0.0, 1.0], 6)
    theta = population_solution(both, bits, p)
    np.testing.assert_allclose(theta, population_solution(A, q_1, p_x), rtol=1e-12, atol=1e-12)
    for t in (theta, rng.normal(size=3)):
        on_labels, on_posterior = p @ (both @ t - bits) ** 2, p_x @ (A @ t - q_1) ** 2
        assert on_labels - on_posterior == pytest.approx(p_x @ (q_1 * (1 - q_1)), rel=1e-12)
    signs = population_solution(both, 2 * bits - 1, p)
    np.testing.assert_allclose(
        signs, population_solution(A, 2 * q_1 - 1, p_x), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(signs, 2 * theta - [1, 0, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.claims("linear_regression-14")
def test_fit_to_signs_is_twice_that_to_bits_less_one_on_every_sample(rng):
    A, y, _ = problem(rng)
    bits = (y > 0).astype(float)
    signs = qr_solution(A, 2 * bits - 1)
    np.testing.assert_allclose(
        signs, 2 * qr_solution(A, bits) - [1, 0, 0, 0, 0], rtol=1e-12, atol=1e-12
    )


@pytest.mark.claims("linear_regression-15")
def test_least_squares_sees_the_conditional_mean_not_the_distribution(rng):
    A, means, p_x = finite_distribution(rng, k=6)

    def law(spread):
        """Two atoms of y for each x, `spread` above and below the mean."""
        twice = np.vstack([A, A]), np.append(means - spread, means + spread)
        return *twice, np.append(p_x, p_x) / 2

    narrow, wide = law(0.1), law(rng.uniform(1, 5, size=6))
    fits = [population_solution(*each) for each in (narrow, wide)]
    np.testing.assert_allclose(*fits, rtol=1e-12, atol=1e-12)
    spreads = [p @ (y - A @ fit) ** 2 for (A, y, p), fit in zip((narrow, wide), fits, strict=True)]
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
    residuals = noise - noise @ hat
    for xi, r in zip(noise[:5], residuals[:5], strict=True):
        fit = qr_solution(A, A @ theta + xi)
        assert 2 * cost(A, A @ theta + xi, fit) == pytest.approx(xi @ (xi - hat @ xi), rel=1e-10)
        assert noise_deviation(A, A @ theta + xi, fit) == pytest.approx(np.sqrt(r @ r / n))
    errors = np.mean(residuals**2, axis=1)
    standard_error = errors.std() / np.sqrt(len(errors))
    assert abs(errors.mean() - sigma**2 * (n - d - 1) / n) < 4 * standard_error
    assert abs(errors.mean() - sigma**2) > 20 * standard_error


@pytest.mark.claims("linear_regression-16")
def test_least_squares_recovers_the_weights_and_in_the_end_the_noise():
    truth, errors = np.array([2.0, -1.0, 0.5]), []
    for n in (50, 50_000):
        T = make_linear(n, truth, b=3.0, sigma=0.5, rng=np.random.default_rng(4))
        A, theta = augment(T.X), theta_of(least_squares(T.X, T.y))
        errors.append(np.abs(theta - [3, *truth]).max())
    assert errors[1] < 0.01 < errors[0]
    assert noise_deviation(A, T.y, theta) == pytest.approx(0.5, rel=0.01)


@pytest.mark.claims("linear_regression-17")
def test_log_likelihood_is_the_log_of_the_product_and_sigma_hat_its_maximiser(rng):
    A, y, theta = problem(rng, n=15)
    sigma = 0.8
    density = np.exp(-((y - A @ theta) ** 2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi))
    assert log_likelihood(A, y, theta, sigma) == pytest.approx(np.log(np.prod(density)), rel=1e-10)
    closed = -15 * np.log(sigma * np.sqrt(2 * np.pi)) - cost(A, y, theta) / sigma**2
    assert log_likelihood(A, y, theta, sigma) == pytest.approx(closed, rel=1e-12)
    best = noise_deviation(A, y, theta)
    assert best**2 == pytest.approx(np.mean((A @ theta - y) ** 2), rel=1e-12)
    slope = differences(lambda s: log_likelihood(A, y, theta, s[0]), np.array([best]))
    assert abs(slope[0]) < 1e-7
    for s in best * np.array([0.5, 0.99, 1.01, 2]):
        assert log_likelihood(A, y, theta, s) < log_likelihood(A, y, theta, best)


@pytest.mark.claims("linear_regression-17")
def test_noise_model_is_a_density_around_the_plane():
    a, theta, sigma = np.array([[1.0, 2.0, -1.0]]), np.array([0.5, 1.0, 3.0]), 0.6
    mean = float(a[0] @ theta)
    y, weight = gauss_legendre(mean - 12 * sigma, mean + 12 * sigma, pieces=16)
    density = np.exp([log_likelihood(a, np.array([t]), theta, sigma) for t in y])
    assert weight @ density == pytest.approx(1, abs=1e-8)
    assert weight @ (density * y) == pytest.approx(mean, abs=1e-8)
    assert weight @ (density * (y - mean) ** 2) == pytest.approx(sigma**2, abs=1e-8)


@pytest.mark.claims("linear_regression-18")
@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_maximum_likelihood_under_gaussian_noise_is_least_squares_for_every_sigma(rng, sigma):
    A, y, theta = problem(rng)
    slope = differences(lambda t: log_likelihood(A, y, t, sigma), theta, h=1e-4)
    np.testing.assert_allclose(slope, -gradient(A, y, theta) / sigma**2, rtol=1e-6)
    newton = theta + np.linalg.solve(hessian(A) / sigma**2, -gradient(A, y, theta) / sigma**2)
    np.testing.assert_allclose(newton, qr_solution(A, y), rtol=1e-10, atol=1e-10)
    best = log_likelihood(A, y, newton, sigma)
    for delta in 0.1 * rng.normal(size=(20, 5)):
        assert log_likelihood(A, y, newton + delta, sigma) < best


@pytest.mark.claims("linear_regression-18")
def test_under_laplace_noise_the_maximum_is_at_least_absolute_deviations(rng):
    y = rng.exponential(size=101) ** 2  # skewed: mean and median apart
    constant, grid = np.ones((101, 1)), np.linspace(0, 6, 60_001)
    laplace = -np.abs(y - grid[:, None]).sum(axis=1)  # the log-likelihood up to its constants
    assert grid[laplace.argmax()] == pytest.approx(np.median(y), abs=1e-4)
    gauss = -((y - grid[:, None]) ** 2).sum(axis=1)
    mean = normal_equations(constant, y)[0]
    assert grid[gauss.argmax()] == pytest.approx(mean, abs=1e-4) and mean == pytest.approx(y.mean())
    assert mean - np.median(y) > 0.5


# ---------------------------------------------------------------------------------------
# Ridge
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("linear_regression-21")
@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("n", [30, 3])
def test_three_routes_to_ridge(rng, n, lam):
    A, y = rng.normal(size=(n, 5)), rng.normal(size=n)
    w = ridge(A, y, lam)
    stacked = np.vstack([A, np.sqrt(lam) * np.eye(5)]), np.append(y, np.zeros(5))
    np.testing.assert_allclose(w, np.linalg.lstsq(*stacked, rcond=None)[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(w, shrinkage(A, y, lam), rtol=1e-10, atol=1e-10)
    model = Ridge(alpha=lam, fit_intercept=False).fit(A, y)
    np.testing.assert_allclose(w, model.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient(A, y, w) + lam * w, 0, rtol=1e-10, atol=1e-10)
    numeric = differences(lambda v: ridge_cost(A, y, v, lam), w)
    np.testing.assert_allclose(numeric, 0, rtol=1e-6, atol=1e-6)
    literal = sum((A @ w - y) ** 2) / 2 + lam / 2 * sum(w**2)
    assert ridge_cost(A, y, w, lam) == pytest.approx(literal, rel=1e-12)


@pytest.mark.claims("linear_regression-21")
def test_constants_of_ridge_for_mean_and_doubled_risk(rng):
    A, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    lam, w = 0.7, rng.normal(size=3)
    mean_risk = differences(lambda v: np.mean((A @ v - y) ** 2) / 2 + lam / 2 * v @ v, w)
    np.testing.assert_allclose(mean_risk, (gradient(A, y, w) + 30 * lam * w) / 30, rtol=1e-6)
    isml = differences(lambda v: sum((A @ v - y) ** 2) + lam * v @ v, w)
    np.testing.assert_allclose(isml, 2 * (gradient(A, y, w) + lam * w), rtol=1e-6)


@pytest.mark.claims("linear_regression-21")
def test_ridge_tends_to_the_shortest_least_squares_solution(rng):
    A, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    A = np.column_stack([A, A[:, 0]])
    gaps = [np.linalg.norm(shrinkage(A, y, lam) - minimum_norm(A, y)) for lam in (1e-2, 1e-4, 1e-6)]
    assert gaps[1] < gaps[0] / 50 and gaps[2] < gaps[1] / 50
    slight, none = (Ridge(alpha=lam).fit(A, y).coef_ for lam in (1e-40, 0))
    np.testing.assert_allclose(slight, none, rtol=1e-8, atol=1e-10)


@pytest.mark.claims("linear_regression-22")
@pytest.mark.parametrize("shape", ["tall", "wide", "duplicated"])
def test_ridge_lifts_every_eigenvalue_and_steadies_the_solution(rng, shape):
    A = rng.normal(size=(4 if shape == "wide" else 30, 6))
    A = np.column_stack([A, A[:, 0]]) if shape == "duplicated" else A
    m, values = A.shape[1], np.linalg.eigvalsh(A.T @ A)
    conditions = []
    for lam in np.geomspace(1e-3, 1e3, 7):
        lifted = np.linalg.eigvalsh(A.T @ A + lam * np.eye(m))
        np.testing.assert_allclose(lifted, values + lam, atol=1e-10, rtol=1e-12)
        assert lifted.min() >= lam - 1e-12
        conditions.append(lifted.max() / lifted.min())
        for y, other in rng.normal(size=(10, 2, len(A))):
            moved = np.linalg.norm(ridge(A, y, lam) - ridge(A, other, lam))
            assert moved <= np.linalg.norm(y - other) / (2 * np.sqrt(lam)) + 1e-12
    assert (np.diff(conditions) < 0).all()


@pytest.mark.claims("linear_regression-23")
def test_smallest_eigenvalue_can_be_lambda_itself(rng):
    A = rng.normal(size=(20, 3))
    A = np.column_stack([A, A[:, 0]])
    smallest = np.linalg.eigvalsh(A.T @ A + 0.5 * np.eye(4)).min()
    assert smallest == pytest.approx(0.5, abs=1e-10)  # not above, as printed
    null = np.array([1.0, 0, 0, -1])
    np.testing.assert_allclose(
        (A.T @ A + 0.5 * np.eye(4)) @ null, 0.5 * null, rtol=1e-12, atol=1e-12
    )
    y, zero = rng.normal(size=20), np.linalg.eigvalsh(A.T @ A).min()
    assert abs(zero) < 1e-10  # lam = 0 leaves it singular
    np.testing.assert_allclose(ridge(A, y, 0.5) @ null, 0, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("linear_regression-24")
def test_posterior_is_proportional_to_prior_times_likelihood(rng):
    A, y, sigma, alpha = rng.normal(size=(12, 3)), rng.normal(size=12), 0.6, 1.7
    mean, precision = posterior(A, y, sigma, alpha)
    W = rng.normal(size=(50, 3))
    prior = multivariate_normal_log_density(W, np.zeros(3), alpha**2 * np.eye(3))
    by_coordinates = normal_log_density(W, 0.0, alpha**2).sum(axis=1)
    np.testing.assert_allclose(prior, by_coordinates, rtol=1e-12)
    likelihood = [log_likelihood(A, y, w, sigma) for w in W]
    post = multivariate_normal_log_density(W, mean, np.linalg.inv(precision))
    assert np.ptp(prior + likelihood - post) < 1e-9
    exponent = [-cost(A, y, w) / sigma**2 - w @ w / (2 * alpha**2) for w in W]
    assert np.ptp(post - exponent) < 1e-9
    np.testing.assert_allclose(precision, A.T @ A / sigma**2 + np.eye(3) / alpha**2)


def log_posterior(A, y, w, sigma, alpha):
    """Up to its constant."""
    return log_likelihood(A, y, w, sigma) + normal_log_density(w, 0.0, alpha**2).sum()


@pytest.mark.claims("linear_regression-25")
@pytest.mark.parametrize("sigma, alpha", [(1.0, 1.0), (0.3, 2.0), (5.0, 0.1)])
def test_maximum_a_posteriori_is_ridge(rng, sigma, alpha):
    A, y, start = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=3)
    w = ridge(A, y, sigma**2 / alpha**2)
    mean, precision = posterior(A, y, sigma, alpha)
    np.testing.assert_allclose(mean, w, rtol=1e-10, atol=1e-10)
    slope = -gradient(A, y, start) / sigma**2 - start / alpha**2
    numeric = differences(lambda v: log_posterior(A, y, v, sigma, alpha), start, h=1e-5)
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-5)
    newton = start + np.linalg.solve(precision, slope)
    np.testing.assert_allclose(newton, w, rtol=1e-10, atol=1e-10)


@pytest.mark.claims("linear_regression-26")
def test_log_posterior_of_mln_has_lost_the_noise(rng):
    A, y, sigma, alpha = rng.normal(size=(20, 3)), rng.normal(size=20), 0.7, 0.8

    def slope(w):
        return differences(lambda v: log_posterior(A, y, v, sigma, alpha), w, h=1e-4)

    def printed(w):
        return differences(lambda v: -cost(A, y, v) - v @ v / (2 * alpha**2), w)

    correct, wrong = ridge(A, y, sigma**2 / alpha**2), ridge(A, y, 1 / alpha**2)
    exact = -gradient(A, y, correct) / sigma**2 - correct / alpha**2
    np.testing.assert_allclose(exact, 0, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(slope(correct), 0, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        printed(wrong), 0, rtol=1e-5, atol=1e-5
    )  # its maximum is another point
    assert np.abs(slope(wrong)).max() > 0.1
    assert np.abs(posterior(A, y, 1.0, alpha).mean - wrong).max() < 1e-12  # right for sigma = 1


@pytest.mark.claims("linear_regression-27")
def test_prior_of_augmented_weights_needs_one_more_factor():
    alpha, d = 1.3, 1
    x, weight = gauss_legendre(-12 * alpha, 12 * alpha, pieces=16)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)  # w in R^(d + 1)
    weights = np.outer(weight, weight).ravel()
    shape = np.exp(-np.sum(grid**2, axis=1) / (2 * alpha**2))
    printed = (1 / (alpha * np.sqrt(2 * np.pi))) ** d
    assert weights @ (printed * shape) == pytest.approx(alpha * np.sqrt(2 * np.pi), abs=1e-8)
    correct = np.exp(multivariate_normal_log_density(grid, np.zeros(2), alpha**2 * np.eye(2)))
    assert weights @ correct == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(correct, printed ** (d + 1) * shape, rtol=1e-10, atol=1e-300)


@pytest.mark.claims("linear_regression-28")
def test_a_free_offset_moves_with_the_targets_and_a_penalised_one_lags(rng):
    A, y, _ = problem(rng)
    X, lam, c = A[:, 1:], 3.0, 10.0
    theta, moved = centred_ridge(X, y, lam), centred_ridge(X, y + c, lam)
    np.testing.assert_allclose(predict(X, moved) - predict(X, theta), c, rtol=1e-10)
    shift = np.mean(A @ ridge(A, y + c, lam) - A @ ridge(A, y, lam))  # as MLN augments
    assert 0.1 < shift < c - 0.1
    penalty = lam * np.diag([0.0, 1, 1, 1, 1])
    np.testing.assert_allclose(
        theta, np.linalg.solve(A.T @ A + penalty, A.T @ y), rtol=1e-10, atol=1e-10
    )
    model = Ridge(alpha=lam).fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], theta, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1.0])
def test_ridge_of_nearly_dependent_features_loses_no_more_digits_than_they_have(rng, lam):
    X, y = conditioned(rng, kappa=1e5), rng.normal(size=30)
    rows = np.vstack([augment(X), np.sqrt(lam) * np.eye(5)[1:]])
    exact = exactly(rows, np.append(y, np.zeros(4)))
    np.testing.assert_allclose(theta_of(Ridge(alpha=lam).fit(X, y)), exact, rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 4), (4, 9)])
def test_ridge_path_is_ridge_at_every_lambda(rng, shape):
    X, y = rng.normal(size=shape) + 3, rng.normal(size=shape[0])
    lam = np.array([10.0, 0.01, 1.0])
    expected = [centred_ridge(X, y, each)[1:] for each in lam]
    np.testing.assert_allclose(ridge_path(X, y, lam), expected, rtol=1e-10, atol=1e-10)
    shortest = minimum_norm(X - X.mean(axis=0), y)
    np.testing.assert_allclose(ridge_path(X, y, [0.0])[0], shortest, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(40, 4), (4, 9)])
def test_ridge_of_weighted_samples_minimises_the_weighted_cost(rng, shape):
    X, y, weights = rng.normal(size=shape), rng.normal(size=shape[0]), rng.uniform(size=shape[0])
    model = Ridge(alpha=0.4).fit(X, y, sample_weight=weights)

    def objective(theta):
        return weights @ (predict(X, theta) - y) ** 2 + 0.4 * theta[1:] @ theta[1:]

    theta = np.array([model.intercept_, *model.coef_])
    np.testing.assert_allclose(differences(objective, theta), 0, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("lam", [0.0, 1e-300, 1e-30, 1e-20, 1e-13])
def test_a_small_penalty_does_not_magnify_rounding(rng, lam):
    X, y = rng.normal(size=(4, 6)), np.array([1.0, 3.0, -2.0, 5.0])
    X[3] = X[0]  # two targets for one sample: their mean is all that can be fitted
    expected = minimum_norm(X, np.array([3.0, 3.0, -2.0, 3.0]))
    np.testing.assert_allclose(shrinkage(X, y, lam), expected, rtol=1e-11, atol=1e-11)
    Z = X - X.mean(axis=0)
    expected = minimum_norm(Z, np.array([3.0, 3.0, -2.0, 3.0]))
    np.testing.assert_allclose(Ridge(alpha=lam).fit(X, y).coef_, expected, rtol=1e-10, atol=1e-10)
    assert not shrinkage(np.zeros((3, 2)), y[:3], lam).any()


def test_constant_columns_have_no_weight_however_small_the_penalty(rng):
    X, y = np.column_stack([np.full(20, 0.1), rng.normal(size=20)]), rng.normal(size=20)
    expected = [0, centred_ridge(X[:, 1:], y, 0.0)[1]]
    assert (X[:, 0] - X[:, 0].mean()).any()  # their mean is rounded
    np.testing.assert_allclose(
        ridge_path(X, y, [0.0, 1e-40]), [expected, expected], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        lasso_path(X, y, [0.0, 1e-40]), [expected, expected], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(centred_ridge(X, y, 1e-40)[1:], expected, rtol=1e-12, atol=1e-12)
    assert not ridge_path(X[:, [0, 0]], y, [0.0]).any() and lasso_bound(X[:, :1], y) == 0
    with pytest.raises(ValueError, match="columns of A must be linearly independent; got rank 1"):
        centred_ridge(X, y, 0.0)


def test_ridge_without_a_penalty_is_least_squares_or_says_why_not(rng):
    A, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    np.testing.assert_allclose(ridge(A, y, 0.0), qr_solution(A, y), rtol=1e-10)
    A = np.column_stack([A, A[:, 0]])
    with pytest.raises(ValueError, match=r"must be linearly independent; got rank 3 of 4"):
        ridge(A, y, 0.0)
    np.testing.assert_allclose(shrinkage(A, y, 0.0), minimum_norm(A, y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_constants_of_the_penalties_are_finite_and_not_negative(rng, wrong):
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    for call, name in (
        (lambda: ridge(X, y, wrong), "lam"),
        (lambda: shrinkage(X, y, wrong), "lam"),
        (lambda: centred_ridge(X, y, wrong), "lam"),
        (lambda: ridge_path(X, y, [1.0, wrong]), "lam"),
        (lambda: lasso_path(X, y, [1.0, wrong]), "C"),
        (lambda: next(coordinate_descent(X, y, wrong)), "C"),
    ):
        with pytest.raises(ValueError, match=rf"^{name} must be finite and >= 0; got {wrong}$"):
            call()


@pytest.mark.parametrize("wrong", [0, -1.0, np.nan, np.inf])
def test_deviations_are_positive(rng, wrong):
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)
    message = f"must be a number > 0 and < inf; got {wrong}"
    with pytest.raises(ValueError, match=f"sigma {message}"):
        log_likelihood(X, y, np.zeros(3), wrong)
    with pytest.raises(ValueError, match=f"sigma {message}"):
        posterior(X, y, wrong, 1.0)
    with pytest.raises(ValueError, match=f"beta {message}"):
        posterior(X, y, 1.0, wrong)


# ---------------------------------------------------------------------------------------
# LASSO
# ---------------------------------------------------------------------------------------


def sparse(rng, n=60, d=12):
    """Centred samples, correlated and of unequal scale, whose targets need three of the columns."""
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.2 * rng.normal(size=(d, d)))
    y = X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=n)
    return X - X.mean(axis=0), y - y.mean()


def orthonormal(rng, n=20, d=6):
    X = rng.normal(size=(n, d))
    return np.linalg.qr(X - X.mean(axis=0))[0]


def lasso(X, y, C, tol=1e-12):
    """The weights of coordinate descent run to a tiny gap."""
    run = iterate(coordinate_descent(X, y, C), "gap", tol * (y @ y), max_iter=20_000)
    assert run.converged
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
def test_lasso_objective_and_the_constant_from_which_all_weights_vanish(rng):
    X, y = sparse(rng)
    X, y, theta, C = X + 2, y + 5, rng.normal(size=13), 3.0
    literal = sum((y[i] - sum(theta[1:] * X[i]) - theta[0]) ** 2 for i in range(60))
    literal += C * sum(abs(weight) for weight in theta[1:])
    assert lasso_objective(X, y, theta, C) == pytest.approx(literal, rel=1e-12)
    top = lasso_bound(X, y)
    by_hand = max(abs(np.sum((x - x.mean()) * (y - y.mean()))) for x in X.T)
    assert top == pytest.approx(2 * by_hand, rel=1e-12)
    W = lasso_path(X, y, [0.0, 1e-7, 0.99 * top, top, 2 * top], tol=1e-12)
    np.testing.assert_allclose(W[:2], [qr_solution(augment(X), y)[1:]] * 2, rtol=1e-6, atol=1e-6)
    assert np.count_nonzero(W[2]) == 1 and not W[3:].any()


@pytest.mark.claims("linear_regression-30")
def test_a_penalised_offset_would_be_another_problem(rng):
    X, y = sparse(rng)
    y = y + 7
    theta = np.append(y.mean(), lasso(X, y - y.mean(), C=40.0))
    best = lasso_objective(X, y, theta, 40.0)
    for delta in 0.01 * rng.normal(size=(50, 13)):
        assert lasso_objective(X, y, theta + delta, 40.0) > best
    lower = theta - np.append(0.1, np.zeros(12))  # which a penalty on b would pay for
    assert lasso_objective(X, y, lower, 40.0) + 40 * abs(lower[0]) < best + 40 * abs(theta[0])


@pytest.mark.claims("linear_regression-31")
def test_orthonormal_columns_are_done_in_one_pass(rng):
    Q, C = orthonormal(rng), 0.6
    y = rng.normal(size=20)
    y -= y.mean()
    state = next(islice(coordinate_descent(Q, y, C), 1, None))
    np.testing.assert_allclose(state.w, soft_threshold(Q.T @ y, C / 2), rtol=1e-12, atol=1e-12)
    assert state.gap < 1e-12


@pytest.mark.claims("linear_regression-31")
@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
def test_coordinate_descent_ends_where_the_conditions_hold(rng, share):
    X, y = sparse(rng)
    C = share * lasso_bound(X, y)
    run = iterate(coordinate_descent(X, y, C), "gap", 1e-13 * (y @ y), max_iter=20_000)
    w = run.state.w
    slope, active = 2 * X.T @ (y - X @ w), w != 0
    np.testing.assert_allclose(slope[active], C * np.sign(w[active]), rtol=1e-5, atol=1e-5)
    assert (np.abs(slope[~active]) <= C + 1e-5).all()
    assert (np.diff(run.history) <= 1e-9).all()
    np.testing.assert_allclose(w, by_the_book(X, y, C, passes=300), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(active, by_the_book(X, y, C, passes=300) != 0)


@pytest.mark.claims("linear_regression-31")
def test_passes_are_those_of_the_book_if_all_weights_move(rng):
    X, y = sparse(rng)
    for k, state in enumerate(islice(coordinate_descent(X, y, C=1e-9), 4)):
        np.testing.assert_allclose(state.w, by_the_book(X, y, 1e-9, passes=k), rtol=1e-9, atol=1e-9)


@pytest.mark.claims("linear_regression-31")
def test_no_pass_raises_the_objective(rng):
    X, y = sparse(rng)
    start = 3 * rng.normal(size=12)
    states = list(islice(coordinate_descent(X, y, 30.0, start), 200))
    objectives = [lasso_objective(X, y, np.append(0, state.w), 30.0) for state in states]
    np.testing.assert_array_equal(states[0].w, start)
    assert (np.diff(objectives) <= 1e-10).all() and objectives[-1] < objectives[3] < objectives[0]
    np.testing.assert_allclose(states[-1].w, lasso(X, y, 30.0), rtol=1e-6, atol=1e-6)


def test_columns_of_zeros_have_no_weight_and_weights_at_rest_are_left_alone(rng):
    X, y = sparse(rng)
    X[:, 4] = 0
    states = list(islice(coordinate_descent(X, y, 9.0, np.ones(12)), 3))
    assert all(state.w[4] == 0 and np.isfinite(state.objective) for state in states)
    at_rest = 2 * np.abs(X.T @ y) <= 60
    first = next(islice(coordinate_descent(X, y, 60.0), 1, None))
    assert at_rest.any() and not first.w[at_rest].any() and first.w.any()


def test_lasso_agrees_with_the_quadratic_program(rng):
    X, y = sparse(rng, n=30, d=5)
    C = 0.2 * lasso_bound(X, y)
    both = np.hstack([X, -X])  # w = u - v with u, v >= 0, sum_j (u_j + v_j) = ||w||_1
    solution = solve_qp(
        2 * both.T @ both, C - 2 * both.T @ y, G=np.eye(10), h=np.zeros(10), tol=1e-11
    )
    np.testing.assert_allclose(
        lasso(X, y, C), solution.x[:5] - solution.x[5:], rtol=1e-6, atol=1e-6
    )


def test_gap_bounds_the_way_to_the_minimum_and_vanishes_there(rng):
    X, y = sparse(rng)
    C = 0.2 * lasso_bound(X, y)
    best = np.append(0, lasso(X, y, C, tol=1e-14))
    minimum = lasso_objective(X, y, best, C)
    for scale in (1.0, 0.1, 1e-3):
        w = best[1:] + scale * rng.normal(size=12)
        r = y - X @ w
        above = lasso_objective(X, y, np.append(0, w), C) - minimum
        gap = duality_gap(w, r, X.T @ r, C)
        assert 0 < above <= gap
        s = min(1, C / (2 * np.abs(X.T @ r).max()))
        dual = 2 * s * r @ y - s**2 * r @ r
        assert gap == pytest.approx(minimum + above - dual, rel=1e-8)
    assert duality_gap(np.zeros(12), y, X.T @ y, lasso_bound(X, y)) == 0
    assert duality_gap(np.zeros(2), np.zeros(3), np.zeros(2), 1.0) == 0
    assert duality_gap(np.zeros(12), y, X.T @ y, 0.0) == pytest.approx(y @ y)


def test_states_of_coordinate_descent_are_right_and_are_snapshots(rng):
    X, y = sparse(rng, d=100)  # more features than samples
    states = list(islice(coordinate_descent(X, y, C=1.0), 30))
    copies = [state.w.copy() for state in islice(coordinate_descent(X, y, C=1.0), 30)]
    for state, w in zip(states, copies, strict=True):
        np.testing.assert_array_equal(state.w, w)
        assert state.objective == pytest.approx(lasso_objective(X, y, np.append(0, w), 1.0))
        r = y - X @ w
        assert state.gap == pytest.approx(duality_gap(w, r, X.T @ r, 1.0), abs=1e-9 * (y @ y))


def test_no_state_is_the_start_that_was_given(rng):
    X, y, start = rng.normal(size=(6, 2)), rng.normal(size=6), np.array([3.0, 4.0])
    for states in (
        coordinate_descent(X, y, 1.0, start),
        lms(X, y, start, eta=1e-3),
        descend(X, y, start),
    ):
        first = next(states)[0]
        np.testing.assert_array_equal(first, start)
        assert not np.shares_memory(first, start)


@pytest.mark.claims("linear_regression-32")
def test_lasso_sets_weights_to_zero_and_ridge_only_shrinks(rng):
    Q, C = orthonormal(rng), 0.9
    y = Q @ [2.0, -1.0, 0.5, 0.4, -0.3, 0.1] + 0.1 * rng.normal(size=20)
    y -= y.mean()
    c = Q.T @ y
    by_lasso, by_ridge = lasso(Q, y, C), ridge(Q, y, C)
    np.testing.assert_array_equal(by_lasso == 0, np.abs(c) <= C / 2)
    assert 0 < np.count_nonzero(by_lasso) < 6
    np.testing.assert_allclose(by_ridge, c / (1 + C), rtol=1e-12, atol=1e-12)
    assert by_ridge.all()


@pytest.mark.claims("linear_regression-32")
def test_paths_of_lasso_have_exact_zeros_and_those_of_ridge_none(rng):
    X, y = sparse(rng)
    C = np.geomspace(1e-4, 1, 20) * lasso_bound(X, y)
    W, R = lasso_path(X, y, C), ridge_path(X, y, C)
    counts = np.count_nonzero(W, axis=1)
    assert counts[0] == 12 and counts[-1] == 0 and len(set(counts)) > 5
    assert (R != 0).all()
    np.testing.assert_array_equal(W, lasso_path(X, y, C[::-1])[::-1])
    for each, w in zip(C[::5], W[::5], strict=True):
        np.testing.assert_allclose(w, lasso(X, y, each), atol=1e-4)
    np.testing.assert_array_equal(1024 * W, lasso_path(X, 1024 * y, 1024 * C))


def test_runs_of_a_path_start_where_that_of_the_next_larger_constant_ended(rng, monkeypatch):
    X, y = sparse(rng)
    C, runs, states = np.array([1.0, 30.0, 5.0]), [], module._lasso_states
    monkeypatch.setattr(
        module, "_lasso_states", lambda *given: runs.append(given[2:]) or states(*given)
    )
    W = lasso_path(X, y, C)
    assert [given for given, _ in runs] == [30, 5, 1] and runs[0][1] is None
    np.testing.assert_array_equal([start for _, start in runs[1:]], W[[1, 2]])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lasso_alpha_is_the_notes_constant_over_twice_the_samples(rng, fit_intercept):
    X, y = sparse(rng)
    X, y = X + rng.normal(size=12), y + 4
    alpha = 0.3
    model = Lasso(alpha=alpha, fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000).fit(X, y)
    means = (X.mean(axis=0), y.mean()) if fit_intercept else (0, 0)
    w = lasso(X - means[0], y - means[1], C=2 * 60 * alpha)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-6, atol=1e-6)
    theta = np.array([model.intercept_, *model.coef_])
    assert model.history_[-1] == pytest.approx(lasso_objective(X, y, theta, 120 * alpha) / 120)
    assert model.history_[0] == pytest.approx(np.sum((y - means[1]) ** 2) / 120)
    assert model.converged_ and len(model.history_) == model.n_iter_ + 1
    assert model.dual_gap_ <= 1e-12 * np.sum((y - means[1]) ** 2) / 60
    rough = Lasso(alpha=alpha, fit_intercept=fit_intercept, tol=0.5).fit(X, y)
    A, r = X - means[0], y - means[1] - (X - means[0]) @ rough.coef_
    gap = duality_gap(rough.coef_, r, A.T @ r, C=120 * alpha) / 120
    assert rough.dual_gap_ == pytest.approx(gap, rel=1e-6) and gap > 1e-3
    assert (model.intercept_ == 0) == (not fit_intercept)


def test_weighted_lasso_is_that_of_repeated_samples(rng):
    X, y = sparse(rng)
    weights = rng.integers(0, 4, size=60)
    tight = {"tol": 1e-12, "max_iter": 10_000}
    weighted = Lasso(0.2, **tight).fit(X, y, sample_weight=weights)
    repeated = Lasso(0.2, **tight).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-6)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-6)
    assert weighted.history_[-1] == pytest.approx(repeated.history_[-1])


def test_lasso_without_a_penalty_is_least_squares_at_once(rng):
    X, y = powers_near_minus_seven(0)
    model = Lasso(alpha=0).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-6, atol=1e-6
    )
    assert model.n_iter_ == 0 and model.dual_gap_ == 0 and model.converged_
    assert model.history_ == pytest.approx(np.sum((model.predict(X) - y) ** 2) / (2 * len(y)))


def test_lasso_that_is_stopped_says_by_how_much_it_may_be_off(rng):
    X, y = sparse(rng)
    message = (
        r"Lasso stopped after 2 iterations with gap = \S+ > \S+: see history_, or raise max_iter"
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = Lasso(alpha=1e-3, max_iter=2, tol=1e-14).fit(X, y)
    assert len(caught) == 1 and caught[0].filename == __file__
    best = Lasso(alpha=1e-3, tol=1e-13).fit(X, y)
    assert not model.converged_
    assert 0 < model.history_[-1] - best.history_[-1] <= model.dual_gap_


@pytest.mark.parametrize("alpha", [1e100, 9e299])
def test_lasso_of_a_huge_penalty_is_zero(rng, alpha):
    X, y = rng.normal(size=(20, 3)), 1e-9 * rng.normal(size=20)
    model = Lasso(alpha=alpha).fit(X, y)
    assert not model.coef_.any() and model.converged_ and model.dual_gap_ == 0
    weighted = Lasso(alpha=alpha).fit(X, y, sample_weight=np.full(20, 2.0))
    assert not weighted.coef_.any() and weighted.intercept_ == pytest.approx(y.mean())


def test_lasso_of_constant_targets_and_columns_is_zero():
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    x = np.arange(11.0)
    assert Lasso(alpha=0).fit(np.column_stack([x, 0 * x + 0.1]), x**2).coef_[1] == 0
    model = Lasso(alpha=1e-12).fit(X, [0.1, 0.1, 0.1])
    assert not model.coef_.any() and model.intercept_ == pytest.approx(0.1)
    assert Lasso(alpha=1e-12).fit(X, [1.0, 2.0, 4.0]).coef_ == pytest.approx([0, 1])


def test_estimators_run_the_functions_of_the_chapter(rng):
    X, y, weights = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(size=30)
    for free in (True, False):
        model = LinearRegression(fit_intercept=free).fit(X, y, sample_weight=weights)
        fit = least_squares(X, y, weights=weights, fit_intercept=free)
        np.testing.assert_array_equal(theta_of(model), theta_of(fit))
        np.testing.assert_allclose(model.predict(X), X @ fit.w + fit.b, rtol=1e-12)
    np.testing.assert_array_equal(theta_of(LinearRegression().fit(X, y))[1:], normal_equations(
        X - X.mean(axis=0), y - y.mean()
    ))  # fmt: skip
    np.testing.assert_array_equal(theta_of(Ridge(2.0).fit(X, y)), centred_ridge(X, y, 2.0))
    np.testing.assert_array_equal(
        Ridge(1e-9, fit_intercept=False).fit(X, y).coef_, shrinkage(X, y, 1e-9)
    )


def test_singular_values_are_those_of_the_centred_samples(rng):
    X, y = rng.normal(size=(30, 4)) + 5, rng.normal(size=30)
    for free, Z in ((True, X - X.mean(axis=0)), (False, X)):
        model = LinearRegression(fit_intercept=free).fit(X, y)
        np.testing.assert_allclose(model.singular_, np.linalg.svd(Z, compute_uv=False), rtol=1e-12)
    ill = conditioned(rng, kappa=1e6) * 100
    expected = np.linalg.svd(ill - ill.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(LinearRegression().fit(ill, y).singular_, expected, rtol=1e-8)
    wide = LinearRegression().fit(X[:3], y[:3])
    expected = np.linalg.svd(X[:3] - X[:3].mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(wide.singular_, expected, rtol=1e-12, atol=1e-12)
    assert wide.rank_ == 2 and model.rank_ == 4


def test_defaults_are_those_of_scikit_learn():
    assert LinearRegression().get_params() == {"fit_intercept": True}
    assert Ridge().get_params() == {"alpha": 1.0, "fit_intercept": True}
    lasso = {"alpha": 1.0, "fit_intercept": True, "max_iter": 1000, "tol": 1e-4}
    assert Lasso().get_params() == lasso


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(), Lasso()], ids=repr)
def test_targets_are_one_column(rng, estimator):
    with pytest.raises(ValueError, match=r"y should be a 1d array; got shape \(5, 2\)"):
        estimator.fit(rng.normal(size=(5, 3)), rng.normal(size=(5, 2)))


@pytest.mark.parametrize(
    "estimator, message",
    [
        (Ridge(alpha=-1), "alpha must be a number >= 0 and < inf; got -1"),
        (Lasso(alpha=-0.1), r"alpha must be a number >= 0 and < 1e\+300; got -0.1"),
        (Lasso(tol=-1), "tol must be a number >= 0 and < inf; got -1"),
        (Ridge(alpha=np.inf), "alpha must be a number >= 0 and < inf; got inf"),
        (Lasso(alpha=np.inf), r"alpha must be a number >= 0 and < 1e\+300; got inf"),
        (Lasso(tol=np.inf), "tol must be a number >= 0 and < inf; got inf"),
        (Lasso(max_iter=0), "max_iter must be an integer >= 1; got 0"),
        (LinearRegression(fit_intercept=1), "fit_intercept must be True or False; got 1"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_hyperparameters_out_of_range_are_refused(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit([[0.0], [1.0]], [0.0, 1.0])


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(n):
    """As many bare axes."""
    return Figure().subplots(1, n)


def drawn(ax):
    """The points of all curves on the axes, one array each; infinite lines apart."""
    return [line.get_xydata() for line in ax.lines if not hasattr(line, "get_xy1")]


def infinite(ax):
    """The one infinite line on the axes: a point of it and its direction."""
    (line,) = [line for line in ax.lines if hasattr(line, "get_xy1")]
    start = np.array(line.get_xy1())
    if line.get_slope() is not None:
        return start, np.array([1, line.get_slope()])
    return start, np.array(line.get_xy2()) - start


@pytest.mark.claims("linear_regression-33")
def test_overview_is_drawn_by_the_methods_that_it_names():
    left, middle, right = axes = panels(3)
    figures.three_tasks(*axes)
    T = figures.two_groups()
    *groups, centers = drawn(left)
    assert sorted(map(len, groups)) == [24, 26] and sum(map(len, drawn(middle))) == 50
    for group, center in zip(sorted(groups, key=len), sorted(centers, key=sum)[::-1], strict=True):
        np.testing.assert_allclose(group.mean(axis=0), center)
        distances = np.linalg.norm(group[:, None] - centers, axis=2)
        assert (distances.min(axis=1) == np.linalg.norm(group - center, axis=1)).all()
    start, along = infinite(middle)
    across = np.array([-along[1], along[0]])
    sides = [np.sign((points - start) @ across) for points in drawn(middle)]
    assert [len(set(side)) for side in sides] == [1, 1] and sides[0][0] == -sides[1][0]
    start, along = infinite(right)
    slope, offset = np.polyfit(*T.X.T, 1)
    np.testing.assert_allclose([along[1] / along[0], start[1]], [slope, offset])
    np.testing.assert_array_equal(drawn(right)[0], T.X)
    for ax, (task, methods) in zip(axes, figures.METHODS.items(), strict=True):
        assert ax.get_title(loc="left") + ax.get_title() == task.capitalize()
        assert ax.get_xlabel().replace("\n", " ").split(", ") == [m for m in methods]


@pytest.mark.claims("linear_regression-33")
def test_methods_of_the_overview_are_in_the_chapters_they_are_said_to_be_in():
    places = [place for methods in figures.METHODS.values() for place in methods.values()]
    written = 0
    for place in places:
        chapter, name = place.split(".")
        assert chapter in mlnotes.CHAPTERS
        if importlib.util.find_spec(f"mlnotes.{chapter}") is not None:
            assert name in public_names(importlib.import_module(f"mlnotes.{chapter}"))
            written += 1
    assert len(places) == 8 and written >= 2


@pytest.mark.claims("linear_regression-34")
def test_line_drawn_passes_through_the_mean_and_its_residuals_cancel():
    left, right = panels(2)
    figures.residuals_and_the_bowl(left, right)
    X, y = figures.few_samples()
    (x_0, y_0), (_, slope) = infinite(left)
    assert y_0 + slope * (X.mean() - x_0) == pytest.approx(y.mean(), abs=1e-12)
    samples, mean = drawn(left)
    np.testing.assert_array_equal(samples, np.column_stack([X, y]))
    np.testing.assert_allclose(mean[0], [X.mean(), y.mean()])
    ends = np.array(left.collections[0].get_segments())  # (n, 2, 2)
    np.testing.assert_array_equal(ends[:, 0], samples)
    np.testing.assert_array_equal(ends[:, 1, 0], X[:, 0])  # vertical
    np.testing.assert_allclose(ends[:, 1, 1], y_0 + slope * (X[:, 0] - x_0))
    lengths = ends[:, 1, 1] - ends[:, 0, 1]
    assert abs(lengths.sum()) < 1e-10
    title = left.get_title(loc="left") + left.get_title()
    assert title == f"sum of squares {np.sum(lengths**2):.2f}"
    assert np.sum(lengths**2) == pytest.approx(2 * cost(augment(X), y, np.array([y_0, slope])))
    *levels, steps, best = drawn(right)
    assert all(np.ptp([cost(augment(X), y, point) for point in level]) < 1e-9 for level in levels)
    np.testing.assert_allclose(best[0], [y_0, slope])
    assert (np.diff([cost(augment(X), y, step) for step in steps]) < 0).all()
    np.testing.assert_allclose(steps[-1], best[0], atol=0.05)


@pytest.mark.claims("linear_regression-35")
def test_paths_of_lasso_drawn_end_at_zero_one_by_one_and_those_of_ridge_do_not():
    left, right = panels(2)
    figures.coefficient_paths(left, right)
    X, y = figures.wine()
    best, top = qr_solution(augment(X), y)[1:], lasso_bound(X, y)
    by_lasso, by_ridge = ([curve for curve in drawn(ax) if len(curve) > 2] for ax in (left, right))
    for curves in (by_lasso, by_ridge):
        assert len(curves) == len(figures.SHOWN)
        np.testing.assert_allclose([curve[0] for curve in curves], [[0, w] for w in best])
    C, touched = by_lasso[0][:, 0], []
    for curve in by_lasso:
        zeros = np.flatnonzero(curve[:, 1] == 0)
        touched.append(C[zeros[0]])
        np.testing.assert_array_equal(zeros, np.arange(zeros[0], len(C)))  # and it stays there
    assert len(set(touched)) >= 4 and max(touched) == top
    ends = np.array([curve[-1, 1] for curve in by_ridge])
    assert all(curve[:, 1].all() for curve in by_ridge)
    assert np.abs(ends).max() < 0.06 * np.abs(best).max()
    for k in (20, 100):
        expected = centred_ridge(X, y, C[k])[1:]
        np.testing.assert_allclose([curve[k, 1] for curve in by_ridge], expected, rtol=1e-8)


def test_corners_drawn_touch_the_contour_of_their_solution():
    left, right = panels(2)
    figures.corners(left, right)
    X, y = figures.two_weights()
    for ax, p in ((left, 1), (right, 2)):
        *levels, (best,), (w,) = drawn(ax)
        np.testing.assert_allclose(best, qr_solution(X, y))
        for k, level in enumerate(levels):
            costs = [cost(X, y, point) for point in level]
            assert np.ptp(costs) < 1e-9 and (abs(costs[0] - cost(X, y, w)) < 1e-9) == (k == 2)
        edge = ax.patches[0].get_xy()
        length = np.linalg.norm(w, ord=p)
        np.testing.assert_allclose(np.linalg.norm(edge, ord=p, axis=1), length)
        inside = np.random.default_rng(0).normal(size=(2000, 2))
        inside *= length / np.linalg.norm(inside, ord=p, axis=1)[:, None]
        costs = [cost(X, y, point) for point in inside]
        assert cost(X, y, w) <= min(costs) + 1e-6
        assert (w[1] == 0) == (p == 1)


@pytest.mark.claims("linear_regression-06")
def test_the_error_drawn_is_perpendicular_to_the_plane_and_ends_at_the_fit():
    left, right = panels(2)
    figures.projection(left, right)
    A, y = augment(figures.THREE_X[:, None]), figures.THREE_Y
    fitted = A @ qr_solution(A, y)
    np.testing.assert_allclose(A.T @ (y - fitted), 0, atol=1e-12)
    ends = np.array(left.collections[0].get_segments())
    np.testing.assert_allclose(ends[:, :, 1], np.column_stack([y, fitted]))
    error, *_ = drawn(right)
    np.testing.assert_allclose(error, figures.seen([fitted, y]))
    basis = figures.seen(np.eye(3))  # an orthographic view: two orthonormal directions
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
