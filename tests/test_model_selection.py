"""Model selection: exact where all training sets can be listed, within standard errors where not.

Most of the second routes are enumerations: all labels, all noise patterns, all bootstrap sets.
"""

import re
from fractions import Fraction
from itertools import product
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from checks import panels

import figures.model_selection as script
from mlnotes.base import DataConversionWarning
from mlnotes.datasets import load_breast_cancer, load_iris, make_curve
from mlnotes.decision_theory import squared, zero_one
from mlnotes.linear_regression import LinearRegression, Ridge, augment, centred_ridge, powers
from mlnotes.model_selection import (
    KFold,
    LeaveOneOut,
    StandardScaler,
    StratifiedKFold,
    absent,
    all_samples,
    bootstrap_error,
    bootstrap_indices,
    bootstrap_losses,
    clone,
    cross_val_score,
    cross_validation_error,
    decomposition,
    expected_minimum,
    hold_out,
    inclusion_probability,
    leave_one_out_bootstrap,
    leave_one_out_shortcut,
    linear_decomposition,
    nearest_neighbor_bootstrap,
    optimism,
    point632,
    regularised_least_squares,
    ridge_bias,
    select_by_cross_validation,
    smoother_matrix,
    train_test_split,
    validation_curve,
    win_probability,
)
from mlnotes.neighbors import KNeighborsClassifier, KNeighborsRegressor


def polynomial(x, degree):
    """The rows (1, x, ..., x^degree)."""
    return augment(powers(x, degree))


def within(values, truth):
    """Whether the mean of independent values is within 5 standard errors of the truth."""
    return abs(np.mean(values) - truth) < 5 * np.std(values, ddof=1) / np.sqrt(len(values))


class Memory:
    """A foreign estimator: it predicts the mean of y and keeps what it has seen."""

    def __init__(self, seen=()):
        self.seen = seen

    def get_params(self, deep=True):
        return {"seen": self.seen} | ({"seen__inner": None} if deep else {})

    def fit(self, X, y):
        self.rows, self.mean = set(X[:, 0].tolist()), np.mean(y)
        return self

    def predict(self, X):
        assert not self.rows & set(X[:, 0].tolist()), "it has seen them"
        return np.full(len(X), self.mean)


class Says(Memory):
    """It predicts its parameter."""

    def predict(self, X):
        return np.full(len(X), self.seen)


def mean_square(model, X, y):
    return np.mean((model.predict(X) - y) ** 2)


# --- Bias and variance -----------------------------------------------------------------


def test_all_samples_are_all_tuples_of_indices():
    assert [tuple(row) for row in all_samples(3, 4).tolist()] == list(product(range(3), repeat=4))


@pytest.mark.claims("model_selection-01")
def test_linear_decomposition_is_that_of_simulated_training_sets(rng):
    x, sigma, R = np.linspace(-1, 1, 12), 0.7, 4000
    f, S = np.sin(3 * x), smoother_matrix(polynomial(x, 2))
    exact = linear_decomposition(S, f, sigma)
    H = (f + sigma * rng.normal(size=(R, 12))) @ S.T
    found = decomposition(H, f, sigma**2)
    assert (abs(found.bias - exact.bias) < 5 * np.sqrt(exact.variance / R)).all()
    assert (abs(found.variance / exact.variance - 1) < 5 * np.sqrt(2 / R)).all()
    y = f + sigma * rng.normal(size=H.shape)
    assert within(np.mean((y - H) ** 2, axis=1), exact.error.mean())


@pytest.mark.claims(
    "model_selection-02", "model_selection-04", "model_selection-05", "model_selection-06"
)
def test_decomposition_adds_up_to_the_error_exactly_and_as_printed_it_does_not():
    x, new, s = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-0.5, 1.0, 3.0]), 0.5
    noise, h_star = s * (2.0 * all_samples(2, 4) - 1), new**2  # 16 training sets, each with a line
    H = (x**2 + noise) @ smoother_matrix(polynomial(x, 1), polynomial(new, 1)).T
    bias, variance, noise = parts = decomposition(H, h_star, s**2)
    y, mean = h_star + s * np.array([-1, 1])[:, None, None], H.mean(axis=0)
    np.testing.assert_allclose(np.mean((y - H) ** 2, axis=(0, 1)), parts.error, rtol=1e-12)
    np.testing.assert_allclose(np.mean((y - h_star) * (h_star - H), axis=(0, 1)), 0, atol=1e-12)
    np.testing.assert_allclose(np.mean((h_star - mean) * (mean - H), axis=0), 0, atol=1e-12)
    dependent = np.mean((h_star + H - mean - H) ** 2, axis=0)  # noise that follows the model
    assert (abs(dependent - parts.error) > 0.1).any()
    np.testing.assert_allclose((H - mean).mean(axis=0) ** 2, 0, atol=1e-14)  # PRNN's variance
    assert (variance > 0.05).all()
    with_h = bias**2 + variance + np.mean((H - h_star) ** 2, axis=0)  # PRNN's noise: h for y
    assert (abs(with_h - parts.error) > 0.01).all()
    np.testing.assert_allclose(np.mean((y - h_star) ** 2, axis=(0, 1)), noise)  # REP: y(x) has none
    np.testing.assert_allclose(bias, mean - h_star)
    assert (abs(bias + variance + noise - parts.error) > 0.1).any()  # REP's "Bias" is the square


@pytest.mark.claims("model_selection-03")
def test_decomposition_squares_the_bias_before_it_is_averaged():
    x, w = np.polynomial.legendre.leggauss(5)  # exact for polynomials up to degree 9
    w, A = w / 2, polynomial(x, 1)
    theta = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * x**2))  # the best line
    bias = decomposition((A @ theta)[None], x**2, 0.0).bias
    assert w @ bias == pytest.approx(0, abs=1e-14)  # printed: squared, it is 0
    assert w @ bias**2 == pytest.approx(4 / 45)
    assert w @ (x**2 - A @ theta) ** 2 == pytest.approx(4 / 45)  # the error, without noise


@pytest.mark.claims("model_selection-07")
def test_linear_decomposition_complexity_lowers_bias_raises_variance_and_samples_lower_both():
    def parts(degree, n):
        x = np.linspace(-1, 1, n)
        S = smoother_matrix(np.polynomial.legendre.legvander(x, degree))
        found = linear_decomposition(S, np.sin(4 * x), 0.5)
        assert found.variance.mean() == pytest.approx(0.5**2 * (degree + 1) / n)
        return np.mean(found.bias**2), found.variance.mean()

    bias, variance = np.transpose([parts(degree, 20) for degree in range(12)])
    assert (np.diff(bias) <= 1e-12).all() and bias[0] > 100 * bias[-1]
    assert (np.diff(variance) > 0).all()
    (b0, v0), (b1, v1) = parts(1, 20), parts(5, 2000)
    assert b1 < b0 and v1 < v0


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_smoother_matrix_does_not_depend_on_the_units_of_the_features(size, rng):
    A = rng.normal(size=(6, 2))
    H, twice = A @ np.linalg.solve(A.T @ A, A.T), np.column_stack([A, A[:, 0] - A[:, 1]])
    np.testing.assert_allclose(smoother_matrix(size * twice), H, rtol=1e-12, atol=1e-12)


@pytest.mark.claims("model_selection-09")
def test_optimism_grows_with_the_weights_and_shrinks_with_the_samples(rng):
    sigma = 0.8
    for n, p, lam in product((10, 60), (1, 8), (0.0, 3.0)):
        S = smoother_matrix(rng.normal(size=(n, p)), lam=lam)
        rest = np.eye(n) - S
        by_traces = sigma**2 * (n + np.trace(S @ S.T) - np.trace(rest.T @ rest)) / n
        assert optimism(S, sigma) == pytest.approx(by_traces, abs=1e-12)
        if lam == 0:
            assert optimism(S, sigma) == pytest.approx(2 * sigma**2 * p / n, abs=1e-12)
    f = np.cos(np.arange(60))
    old, new = f + sigma * rng.normal(size=(2, 3000, 60))
    gaps = np.mean((new - old @ S.T) ** 2 - (old - old @ S.T) ** 2, axis=1)
    assert within(gaps, optimism(S, sigma))


# --- Regularisation --------------------------------------------------------------------


@pytest.mark.claims("model_selection-10")
def test_regularised_least_squares_without_penalty_always_prefers_the_largest_model(rng):
    x = np.linspace(-1, 1, 30)
    y = 1 + 2 * x + 0.3 * rng.normal(size=30)  # the truth is a line
    A = np.polynomial.legendre.legvander(x, 10)
    fits = [regularised_least_squares(A[:, : d + 1], y, 0.0) for d in range(11)]
    sse = [fit.risk for fit in fits]
    assert (np.diff(sse) < 0).all()
    useless = np.column_stack([A[:, :3], A[:, 0] - A[:, 2]])  # a column in the span of the others
    assert regularised_least_squares(useless, y, 0.0).risk == pytest.approx(sse[2])
    fresh = [np.mean((1 + 2 * x - A[:, : d + 1] @ fits[d].theta) ** 2) for d in range(11)]
    assert np.argmin(fresh) < 10  # fresh samples choose a smaller model


@pytest.mark.claims("model_selection-26")
def test_regularised_least_squares_is_at_the_minimum_and_traces_a_monotone_path(rng):
    A, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    grid = [0.0, 0.01, 0.1, 1.0, 10.0, 1000.0]
    path = [regularised_least_squares(A, y, lam) for lam in grid]
    np.testing.assert_allclose(path[0].theta, np.linalg.solve(A.T @ A, A.T @ y), rtol=1e-10)
    assert (np.diff([p.risk for p in path]) > 0).all()
    assert (np.diff([p.penalty for p in path]) < 0).all()
    for lam, found in zip(grid, path, strict=True):
        assert found.risk == pytest.approx(np.sum((y - A @ found.theta) ** 2))
        assert found.penalty == pytest.approx(found.theta @ found.theta)
        for other in found.theta + 1e-3 * rng.normal(size=(5, 4)):
            risk = np.sum((y - A @ other) ** 2)
            assert risk + lam * other @ other > found.risk + lam * found.penalty


@pytest.mark.claims("model_selection-26")
def test_regularised_least_squares_leaves_weights_with_q_0_free(rng):
    X, y, c = rng.normal(size=(15, 3)), rng.normal(size=15), 100.0
    A, q = augment(X), np.array([0, 1, 1, 3])
    found = regularised_least_squares(A, y, 2.0, q)
    gradient = -A.T @ (y - A @ found.theta) + 2.0 * q * found.theta
    np.testing.assert_allclose(gradient, 0, atol=1e-10)
    assert found.penalty == pytest.approx(q @ found.theta**2)
    q = np.array([0, 1, 1, 1])  # a free intercept follows the zero of y
    free = [A @ regularised_least_squares(A, each, 2.0, q).theta for each in (y, y + c)]
    np.testing.assert_allclose(free[1], free[0] + c, rtol=1e-10)
    np.testing.assert_allclose(free[0], Ridge(2.0).fit(X, y).predict(X), rtol=1e-10)
    bound = [A @ regularised_least_squares(A, each, 2.0).theta for each in (y, y + c)]
    assert (abs(bound[1] - bound[0] - c) > 1).all()


@pytest.mark.claims("model_selection-30")
def test_regularised_least_squares_of_degree_six_through_six_points_is_the_least_norm(rng):
    x = np.linspace(-1, 1, 6)
    A, y = polynomial(x, 6), 2 * x**2 + 0.3 * rng.normal(size=6)
    assert np.linalg.matrix_rank(A) == 6 < A.shape[1]
    w, v = regularised_least_squares(A, y, 0.0).theta, np.linalg.svd(A)[2][-1]
    np.testing.assert_allclose(w, np.linalg.pinv(A) @ y, rtol=1e-9, atol=1e-9)
    for c in (-5.0, 0.3, 40.0):  # a line of minimisers
        np.testing.assert_allclose(A @ (w + c * v), y, rtol=1e-9, atol=1e-9)
        assert np.linalg.norm(w + c * v) > np.linalg.norm(w)
    fits = [regularised_least_squares(A, y, lam).theta for lam in (1e-4, 1e-6, 1e-8)]
    gaps = np.linalg.norm(fits - w, axis=1)
    np.testing.assert_allclose(gaps[:-1] / gaps[1:], 100, rtol=0.1)  # linear in lam


@pytest.mark.claims("model_selection-27")
@pytest.mark.parametrize("n, m", [(12, 3), (8, 8), (5, 9)])
def test_ridge_bias_is_added_and_variance_taken(n, m, rng):
    A, f, lam, sigma = rng.normal(size=(n, m)), rng.normal(size=n), 0.7, 0.4
    parts = ridge_bias(A, f, lam)
    at, inverse = rng.normal(size=(4, m)), np.linalg.inv(A.T @ A + lam * np.eye(m))
    H = A @ inverse @ A.T
    np.testing.assert_allclose(smoother_matrix(A, lam=lam), H, rtol=1e-9, atol=1e-9)
    there = smoother_matrix(A, at, lam)
    np.testing.assert_allclose(there, at @ inverse @ A.T, rtol=1e-9, atol=1e-9)
    direct = np.sum((f - H @ f) ** 2)
    assert parts.outside + parts.shrunk.sum() == pytest.approx(direct, abs=1e-9)
    assert parts.outside == pytest.approx(np.sum((f - A @ np.linalg.pinv(A) @ f) ** 2), abs=1e-9)
    assert (parts.shrunk >= 0).all() and direct > parts.outside
    s, totals = np.linalg.svd(A, compute_uv=False), []
    for each in (0.0, 0.1, 1.0, 10.0):
        totals.append(linear_decomposition(smoother_matrix(A, lam=each), f, sigma).variance.sum())
        expected = sigma**2 * np.sum((s**2 / (s**2 + each)) ** 2)
        assert totals[-1] == pytest.approx(expected, rel=1e-9)
    assert (np.diff(totals) < 0).all()
    x = np.linspace(-1, 1, 6)  # the example: least squares has no bias
    free = ridge_bias(polynomial(x, 6), 2 * x**2, 0.0)
    assert free.outside < 1e-9 and not free.shrunk.any()


@pytest.mark.claims("model_selection-28")
def test_ridge_bias_may_be_smaller_off_the_samples(rng):
    def f(X):
        return np.sin(2 * X[:, 0]) + X[:, 1] ** 2

    def bias(A, B, lam):
        return smoother_matrix(A, B, lam) @ f(A) - f(B)

    new, more = rng.normal(size=(500, 4)), []
    for A in rng.normal(size=(200, 10, 4)):
        more.append([np.mean(bias(A, B, 3.0) ** 2 - bias(A, B, 0.0) ** 2) for B in (A, new)])
    inside, outside = np.transpose(more)
    assert min(inside) >= 0
    assert np.mean(outside) < 0 and not within(outside, 0)  # printed: it always has more bias


# --- Hold-out --------------------------------------------------------------------------


@pytest.mark.claims("model_selection-11")
def test_hold_out_takes_the_smallest_error_of_the_withheld_part():
    X, y = load_iris()[:]
    train, valid = train_test_split(np.arange(len(X)), test_size=0.3, random_state=1)
    models = [KNeighborsClassifier(k) for k in (1, 5, 25, 75)]
    found = hold_out(models, X, y, train, valid, zero_one)
    by_hand = [1 - model.fit(X[train], y[train]).score(X[valid], y[valid]) for model in models]
    np.testing.assert_allclose(found.errors, by_hand, rtol=1e-12, atol=1e-12)
    assert found.best == np.argmin(by_hand) and np.ptp(by_hand) > 0.1


@pytest.mark.claims("model_selection-11")
def test_hold_out_error_of_a_model_is_unbiased_for_its_risk():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 0.0, 4.0])  # equally likely points
    risk = np.mean((y - LinearRegression().fit(X[:2], y[:2]).predict(X)) ** 2)
    samples = [np.append([0, 1], sample) for sample in all_samples(3, 2)]
    found = [hold_out([LinearRegression()], X[i], y[i], [0, 1], [2, 3], squared) for i in samples]
    errors = [each.errors[0] for each in found]
    assert np.mean(errors) == pytest.approx(risk, abs=1e-12) and np.std(errors) > 1


def test_hold_out_and_cross_validation_never_choose_an_error_that_is_nan():
    X, y, models = np.arange(4.0)[:, None], np.zeros(4), [Says(np.nan), Says(2.0), Says(1.0)]
    found = hold_out(models, X, y, [0, 1], [2, 3], squared)
    assert np.isnan(found.errors[0]) and found.best == 2
    assert select_by_cross_validation(models, X, y, squared, np.arange(4) % 2).best == 2
    assert hold_out(models[1:] + models[1:], X, y, [0], [1], squared).best == 1  # the first


@pytest.mark.claims("model_selection-12")
def test_win_probability_grows_with_the_validation_set():
    p, q, sizes = 0.2, 0.25, (10, 30, 100, 1000)

    def by_sums(n):
        pmf = [[comb(n, j) * e**j * (1 - e) ** (n - j) for j in range(n + 1)] for e in (p, q)]
        pairs = product(range(n + 1), repeat=2)
        return sum(pmf[0][i] * pmf[1][j] * ((i < j) + (i == j) / 2) for i, j in pairs)

    found = [win_probability(p, q, n) for n in sizes]
    assert found[:2] == pytest.approx([by_sums(n) for n in sizes[:2]], abs=1e-12)
    assert (np.diff(found) > 0).all() and found[0] < 0.65 and found[-1] > 0.99
    assert win_probability(q, p, 30) == pytest.approx(1 - found[1])


@pytest.mark.claims("model_selection-13")
def test_expected_minimum_of_several_test_errors_is_biased(rng):
    def listed(m, n, p):
        pmf = [comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]
        cases = product(range(n + 1), repeat=m)
        return sum(np.prod([pmf[j] for j in js]) * min(js) / n for js in cases)

    for m, n, p in ((1, 5, 0.5), (2, 5, 0.5), (3, 4, 0.2)):
        assert expected_minimum(m, n, p) == pytest.approx(listed(m, n, p), abs=1e-12)
    found = [expected_minimum(m, 50) for m in (1, 2, 5, 20, 100)]
    assert found[0] == pytest.approx(0.5) and (np.diff(found) < 0).all() and found[-1] < 0.35
    rates, again = rng.binomial(50, 0.5, size=(2, 2000, 20)) / 50
    assert within(rates.min(axis=1), found[3])
    assert within(again[np.arange(2000), rates.argmin(axis=1)], 0.5)  # fresh samples


# --- Cross-validation ------------------------------------------------------------------


@pytest.mark.claims("model_selection-16")
def test_cross_validation_error_comes_from_models_that_did_not_see_the_sample(rng):
    X, y = rng.permutation(np.arange(12.0))[:, None], rng.normal(size=12)
    memory, rho = Memory(), KFold(4, shuffle=True, random_state=0).folds(X)
    found = cross_validation_error(memory, X, y[:, None], squared, rho)  # a column, too
    assert vars(memory) == {"seen": ()}  # a copy is trained
    by_hand = [np.mean((y[rho == k] - y[rho != k].mean()) ** 2) for k in range(4)]
    np.testing.assert_allclose(found.fold_errors, by_hand)
    assert found.error == pytest.approx(np.mean(by_hand), abs=1e-15)  # equal parts
    one_out = cross_validation_error(memory, X, y, squared, np.arange(12)).error
    by_hand = np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(12)])
    assert one_out == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.claims("model_selection-17")
def test_cross_validation_error_weights_parts_of_unequal_sizes():
    X, y = np.arange(10.0)[:, None], np.arange(10.0) ** 2
    found = cross_validation_error(Memory(), X, y, squared, KFold(3).folds(X))
    assert found.fold_sizes.tolist() == [4, 3, 3]
    splits = KFold(3).split(X)
    exact = [np.mean((y[test] - y[train].mean()) ** 2) for train, test in splits]
    assert found.error == pytest.approx(np.dot(exact, [0.4, 0.3, 0.3]), rel=1e-14)
    assert abs(found.fold_errors.mean() - found.error) > 1  # as printed


@pytest.mark.claims("model_selection-16")
def test_select_by_cross_validation_takes_the_lowest_error(rng):
    T = make_curve(40, np.cos, high=6.0, sigma=0.2, rng=rng)
    models, cv = [KNeighborsRegressor(k) for k in (1, 4, 30)], KFold(5)
    found = select_by_cross_validation(models, T.X, T.y, squared, cv.folds(T.X))
    each = [cross_val_score(m, T.X, T.y, cv=cv, scoring=mean_square).mean() for m in models]
    np.testing.assert_allclose(found.errors, each)
    assert found.best == np.argmin(each) == 1


@pytest.mark.parametrize("lam", [0.0, 2.5])
def test_leave_one_out_shortcut_is_the_mean_of_the_refits(lam, rng):
    A, y = polynomial(rng.normal(size=14), 3), rng.normal(size=14)
    losses = []
    for i in range(14):
        rest = np.arange(14) != i
        losses.append((y[i] - A[i] @ regularised_least_squares(A[rest], y[rest], lam).theta) ** 2)
    S = smoother_matrix(A, lam=lam)
    assert leave_one_out_shortcut(S, y) == pytest.approx(np.mean(losses), rel=1e-10)


def test_leave_one_out_shortcut_is_nan_where_a_sample_fixes_a_weight_alone(rng):
    A = np.column_stack([rng.normal(size=9), np.arange(9) == 4])
    assert np.isnan(leave_one_out_shortcut(smoother_matrix(A), rng.normal(size=9)))


# --- Bootstrap -------------------------------------------------------------------------


@pytest.mark.claims("model_selection-21")
def test_bootstrap_error_is_the_double_mean_over_sets_drawn_evenly(rng):
    n, B = 20, 2000
    sets = bootstrap_indices(n, B, rng=rng)
    counts = np.bincount(sets.ravel(), minlength=n)
    assert sets.shape == (B, n) and (abs(counts - B) < 5 * np.sqrt(B * (1 - 1 / n))).all()
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    L = bootstrap_losses(Ridge(), X, y, sets[:6], squared)
    by_hand = [(y - augment(X) @ centred_ridge(X[b], y[b], lam=1.0)) ** 2 for b in sets[:6]]
    np.testing.assert_allclose(L, by_hand, rtol=1e-9)
    assert bootstrap_error(L) == pytest.approx(np.sum(by_hand) / (6 * n), rel=1e-12)


@pytest.mark.claims("model_selection-22")
def test_inclusion_probability_is_that_of_all_sets_and_tends_to_0632():
    for n in range(1, 6):
        every = [set(s) for s in product(range(n), repeat=n)]
        with_it = Fraction(sum(0 in s for s in every), len(every))
        distinct = Fraction(sum(len(s) for s in every), n * len(every))
        assert with_it == distinct == 1 - (1 - Fraction(1, n)) ** n
        assert inclusion_probability(n) == pytest.approx(float(with_it), abs=1e-15)
        np.testing.assert_allclose((~absent(all_samples(n, n))).mean(axis=0), float(with_it))
    values = [inclusion_probability(n) for n in (*range(2, 50), 10**6)]
    assert (np.diff(values) < 0).all()
    assert 1 / 2 < values[-1] < 2 / 3  # between the shares of 2-fold and 3-fold
    assert values[-1] == pytest.approx(1 - (1 - 0.5e-6) / np.e, rel=1e-9)


@pytest.mark.claims("model_selection-24")
def test_nearest_neighbor_bootstrap_is_the_mean_over_all_sets_and_labels():
    X, sets = np.array([[0.0], [1.0], [3.0], [7.0]]), all_samples(4, 4)
    inside = ~absent(sets)
    near = np.array([KNeighborsRegressor(1).fit(X[i], i).predict(X) for i in sets]).astype(int)
    labels = all_samples(2, 4)
    L = labels[:, near] != labels[:, None, :]  # (labellings, sets, samples)
    assert not L[:, inside].any()  # right inside the set
    np.testing.assert_allclose(L.mean(axis=0)[~inside], 0.5)
    assert bootstrap_error(L) == nearest_neighbor_bootstrap(4) == 81 / 512
    printed = 0.5 * inclusion_probability(4)
    assert printed == pytest.approx(175 / 512, rel=1e-15) and bootstrap_error(L) < printed / 2
    assert nearest_neighbor_bootstrap(200) == pytest.approx(0.1835, abs=5e-5)


@pytest.mark.claims("model_selection-25")
def test_leave_one_out_bootstrap_uses_only_models_that_did_not_see_the_sample(rng):
    n, B = 8, 5
    L, sets = rng.random((B, n)), bootstrap_indices(n, B, rng=rng)
    sets[:, 0] = 3  # sample 3 is in every set, and is skipped
    outside = [[b for b in range(B) if i not in sets[b]] for i in range(n)]
    each = [np.mean(L[bs, i]) for i, bs in enumerate(outside) if bs]
    assert len(each) < n
    inside = np.where(absent(sets), L, np.nan)  # seen samples do not count
    assert leave_one_out_bootstrap(inside, sets) == pytest.approx(np.mean(each), rel=1e-14)


@pytest.mark.claims("model_selection-25")
def test_leave_one_out_bootstrap_of_random_labels_is_one_half_and_point632_lies_below(rng):
    found = []
    for X in rng.normal(size=(60, 20, 2)):  # 1-NN on fair coins
        y, sets = rng.integers(2, size=20), rng.integers(20, size=(15, 20))
        losses = bootstrap_losses(KNeighborsClassifier(1), X, y, sets, zero_one)
        found.append(leave_one_out_bootstrap(losses, sets))
    assert within(found, 0.5) and np.mean(found) > 0.4
    assert point632(0.0, 0.5) == pytest.approx(0.5 * (1 - 1 / np.e))
    assert point632(0.3, 0.3) == pytest.approx(0.3) and point632(1.0, 0.0) < 0.37


# --- Copies and parts ------------------------------------------------------------------


def test_clone_shares_nothing_with_its_original():
    inner, state = Ridge(3.0).fit([[0.0], [1.0]], [0.0, 1.0]), np.random.default_rng(0)
    nested = Memory(seen=[("ridge", inner), (state, [1, 2])])
    (_, ridge), (rng, listed) = clone(nested).seen
    assert ridge is not inner and ridge.alpha == 3.0 and not hasattr(ridge, "coef_")
    assert rng is not state and listed == [1, 2] and listed is not nested.seen[1][1]


@pytest.mark.parametrize(
    "params, sizes", [({}, (7, 3)), ({"test_size": 1}, (9, 1)), ({"test_size": 0.9}, (1, 9))]
)
def test_train_test_split_has_the_sizes_asked_for_and_keeps_rows_together(params, sizes):
    X, y = np.arange(10.0)[:, None], [str(i) for i in range(10)]
    a, b, y_a, y_b = train_test_split(X, y, random_state=3, **params)
    assert (len(a), len(b)) == sizes and not set(y_a) & set(y_b)
    assert [str(int(v)) for v in (*a[:, 0], *b[:, 0])] == y_a + y_b != sorted(y_a + y_b)
    again = train_test_split(X, random_state=3, **params)
    assert np.array_equal(again[0], a) and np.array_equal(again[1], b)


def test_train_test_split_stratified_keeps_the_shares():
    y = np.repeat(["a", "b", "c"], (50, 30, 20))
    train, test = train_test_split(np.arange(100), test_size=0.3, stratify=y, random_state=0)
    assert [np.sum(y[test] == c) for c in "abc"] == [15, 9, 6]
    assert sorted([*train, *test]) == list(range(100))
    few = train_test_split(y, test_size=10, stratify=y[:, None])[1]
    assert [np.sum(few == c) for c in "abc"] == [5, 3, 2]
    assert sorted(train_test_split([0, 0, 1, 1], test_size=0.5, stratify=[0, 0, 1, 1])[1]) == [0, 1]
    y = np.repeat([0, 1, 2], (7, 5, 3))  # shares of 4: 1.87, 1.33 and 0.8
    train, test = train_test_split(y, test_size=4, stratify=y, random_state=0)
    assert np.bincount(test).tolist() == [2, 1, 1] and np.bincount(train).tolist() == [5, 4, 2]


def test_train_test_split_stratified_gives_each_place_the_same_chance_of_each_sample():
    y = np.repeat([0, 1], (90, 10))
    early = np.zeros(2)
    for seed in range(300):  # the first tenth keeps the shares
        parts = train_test_split(y, test_size=0.5, stratify=y, random_state=seed)
        early += [part[:5].mean() for part in parts]
    standard_error = np.sqrt(0.1 * 0.9 / (5 * 300))
    assert (np.abs(early / 300 - 0.1) < 4 * standard_error).all()


@pytest.mark.parametrize(
    "params, message",
    [
        ({"test_size": np.float64(1.5)}, "a share in (0, 1) or an integer >= 1; got 1.5"),
        ({"test_size": 0}, "test_size must be a share in (0, 1) or an integer >= 1; got 0"),
        ({"test_size": True}, "test_size must be a share in (0, 1) or an integer >= 1; got True"),
        ({"test_size": 4}, "both parts must hold a sample; got 4 of 4 to test"),
        ({"stratify": [0, 0, 1, 1]}, "got 2 in the smallest, 3 to train, 1 to test"),
        ({"stratify": [0, 0, 1, 1], "test_size": 3}, "in the smallest, 1 to train, 3 to test"),
        ({"stratify": [0, 0, 0, 1], "test_size": 2}, "got 1 in the smallest, 2 to train"),
        ({"stratify": [0, 1, 1]}, "one length; got [3, 4]"),
    ],
)
def test_train_test_split_refuses_what_cannot_be_split(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        train_test_split(np.arange(4), **params)


@pytest.mark.parametrize("n, K", [(10, 3), (10, 10)])
def test_kfold_is_a_partition_into_nearly_equal_parts(n, K):
    for cv in (KFold(K), KFold(K, shuffle=True, random_state=0)):
        splits = list(cv.split(np.zeros(n)))
        assert len(splits) == K and np.ptp([len(test) for _, test in splits]) <= 1
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(n))
        assert all(sorted([*train, *test]) == list(range(n)) for train, test in splits)
    assert not np.array_equal(cv.folds(np.zeros(n)), KFold(K).folds(np.zeros(n)))
    assert cv.get_n_splits() == K and LeaveOneOut().get_n_splits(np.zeros(n)) == n


@pytest.mark.parametrize("params", [{}, {"shuffle": True, "random_state": 0}])
def test_stratified_kfold_has_every_class_in_its_share(params):
    y = np.random.default_rng(0).permutation(np.repeat(["a", "b", "c"], (31, 12, 7)))
    rho = StratifiedKFold(5, **params).folds(y, y)
    for c in "abc":
        assert np.ptp(np.bincount(rho[y == c], minlength=5)) <= 1
    assert np.ptp(np.bincount(rho)) <= 1


def test_stratified_kfold_deals_class_by_class_as_they_appear():
    y = np.array(list("bbbbaac"))
    for labels in (y, y[:, None], y.tolist()):  # a column is read as y.ravel()
        assert StratifiedKFold(3).folds(labels, labels).tolist() == [0, 0, 1, 2, 1, 2, 0]
    y = np.repeat([0, 1], 30)
    dealt = [StratifiedKFold(3, shuffle=True, random_state=s).folds(y, y) for s in (0, 0, 1)]
    assert (dealt[0] == dealt[1]).all() and (dealt[0] != dealt[2]).any()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: KFold(1), "n_splits must be an integer >= 2; got 1"),
        (lambda: KFold(3, random_state=0), "random_state must be None without shuffle; got 0"),
        (lambda: list(KFold(3).split([1, 2])), "at most the number of samples, 2; got 3"),
        (lambda: StratifiedKFold(3).folds([1, 2, 3], [0, 0, 1]), "largest class, 2; got 3"),
        (lambda: StratifiedKFold(2).folds([1, 2], [0]), "same length; got 2 and 1"),
        (lambda: StratifiedKFold(3).folds("aaab", list("aaab")), "class 'b' has 1 sample, fewer"),
    ],
)
def test_folds_refuse_what_cannot_be_dealt(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


# --- Scores ----------------------------------------------------------------------------


def test_cross_val_score_stratifies_for_classifiers_of_scikit_learn_too():
    class Told(Memory):
        def __sklearn_tags__(self):
            return SimpleNamespace(estimator_type=self.seen)

    X, labels, how = np.arange(12.0)[:, None], np.repeat([0, 1], (4, 8)), {"scoring": mean_square}
    for kind, cv in (("classifier", StratifiedKFold(3)), ("regressor", KFold(3))):
        expected = cross_val_score(Memory(), X, labels, cv=cv, **how)
        assert (cross_val_score(Told(kind), X, labels, cv=3, **how) == expected).all()


def test_cross_val_score_is_that_of_the_models_fitted_by_hand():
    T, model = load_breast_cancer(), KNeighborsClassifier(3)
    splits = list(StratifiedKFold(4).split(T.X, T.y))  # the default for a classifier
    by_hand = [clone(model).fit(T.X[i], T.y[i]).score(T.X[j], T.y[j]) for i, j in splits]
    np.testing.assert_array_equal(cross_val_score(model, T.X, T.y, cv=4), by_hand)
    assert len(cross_val_score(model, T.X, T.y)) == 5

    def errors(model, X, y):
        return np.sum(model.predict(X) != y)

    counted = cross_val_score(model, T.X, T.y, cv=splits, scoring=errors)
    wrong = [(1 - s) * len(j) for s, (_, j) in zip(by_hand, splits, strict=True)]
    np.testing.assert_allclose(counted, wrong)
    with pytest.raises(ValueError, match="scoring must be None or a function .* got 'accuracy'"):
        cross_val_score(model, T.X, T.y, scoring="accuracy")


class Frame:
    """The part of a data frame that is used: rows by position, without X[i]."""

    def __init__(self, X):
        self.X = X
        self.iloc = self

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i]


def test_cross_val_score_takes_frames_and_lists_and_columns_as_arrays(rng):
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    expected = cross_val_score(KNeighborsClassifier(1), X, y, cv=3)
    with pytest.warns(DataConversionWarning, match="read as y.ravel"):
        assert (cross_val_score(KNeighborsClassifier(1), X, y[:, None], cv=3) == expected).all()
    for one, labels in ((Frame(X), y.tolist()), (X.tolist(), y)):
        assert (cross_val_score(KNeighborsClassifier(1), one, labels, cv=3) == expected).all()


def test_validation_curve_has_both_scores_of_every_value():
    X, y = load_iris()[:]
    model, splits = KNeighborsClassifier(7), iter(list(StratifiedKFold(3).split(X, y)))
    train, valid = validation_curve(
        model, X, y, param_name="n_neighbors", param_range=[1, 10, 60], cv=splits
    )
    assert train.shape == valid.shape == (3, 3) and model.n_neighbors == 7
    np.testing.assert_array_equal(valid[1], cross_val_score(KNeighborsClassifier(10), X, y, cv=3))
    assert (train[0] == 1).all()
    i, _ = list(StratifiedKFold(3).split(X, y))[2]
    assert train[2, 2] == KNeighborsClassifier(60).fit(X[i], y[i]).score(X[i], y[i])


# --- Scaling ---------------------------------------------------------------------------


def test_standard_scaler_gives_mean_zero_and_spread_one_whatever_the_unit(rng):
    X = rng.normal(size=(30, 4)) * [1e-100, 1.0, 1e6, 1e100] + [0.0, 5.0, -1e6, 0.0]
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    np.testing.assert_allclose([Z.mean(axis=0), Z.std(axis=0)], [[0] * 4, [1] * 4], atol=1e-10)
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, rtol=1e-9)
    np.testing.assert_allclose(scaler.var_[1:3], X[:, 1:3].var(axis=0), rtol=1e-12)
    new = rng.normal(size=(2, 4))
    expected = (new[:, 1] - X[:, 1].mean()) / X[:, 1].std()  # by the training samples
    np.testing.assert_allclose(scaler.transform(new)[:, 1], expected)


def test_standard_scaler_divides_constant_features_by_one():
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0), 0.1 + 0.2 * (np.arange(10) % 2 * 0)])
    scaler = StandardScaler().fit(X)
    assert scaler.scale_[[0, 2]].tolist() == [1, 1] and scaler.var_[[0, 2]].tolist() == [0, 0]
    np.testing.assert_allclose(scaler.transform(X)[:, 0], 0, atol=1e-15)
    assert StandardScaler().fit([[0.3], [0.1 + 0.2]]).scale_ == 1  # equal but for rounding
    for far in (1e6, 1e14):  # not constant
        near = StandardScaler().fit(far + far / 1e14 * np.arange(3.0)[:, None])
        assert near.scale_[0] == pytest.approx(far / 1e14 * np.sqrt(2 / 3), rel=1e-2)


@pytest.mark.parametrize("with_mean, with_std", [(True, False), (False, True), (False, False)])
def test_standard_scaler_can_keep_mean_and_spread(with_mean, with_std):
    X = np.array([[0.0], [2.0], [8.0]])
    scaler = StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    Z = scaler.transform(X)
    np.testing.assert_allclose(Z, (X - with_mean * X.mean()) / (X.std() if with_std else 1))
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, atol=1e-15)
    assert (scaler.mean_ is None) == (not with_mean and not with_std)
    assert (scaler.scale_ is None) == (scaler.var_ is None) == (not with_std)


# --- The lecture figures ---------------------------------------------------------------


def drawn(name):
    """The two axes on which the figure has drawn."""
    return panels(getattr(script, name), 1, 2)


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


@pytest.mark.claims("model_selection-14")
def test_figure_curves_has_its_minimum_between_underfit_and_overfit():
    for ax in drawn("curves"):
        found = lines(ax)
        complexity, validation = found["validation"].T
        best = validation.argmin()
        np.testing.assert_array_equal(found["best"], [[complexity[best], validation[best]]])
        assert 0 < best < len(validation) - 1
        assert [text.get_text() for text in ax.texts] == ["underfit", "overfit"]
        richest = 0 if ax.get_xscale() == "log" else -1  # one neighbour; the highest degree
        gap = validation - found["training"][:, 1]
        assert gap[richest] > 3 * gap[best]
        if ax.get_xscale() == "log":
            assert found["training"][0].tolist() == [1, 0]  # every sample is its own neighbour
            assert ax.get_xlim()[0] > ax.get_xlim()[1]  # complexity grows to the right here too
        else:
            assert (np.diff(found["training"][:, 1]) <= 1e-9).all()


@pytest.mark.claims("model_selection-15")
def test_figure_fish_wiggly_boundary_makes_no_training_error_and_more_new_ones():
    T, new = script.fish_samples()
    models = [KNeighborsClassifier(k).fit(*T) for k in (1, script.SMOOTH)]
    (wiggly, wiggly_new), (smooth, smooth_new) = [(m.score(*T), m.score(*new)) for m in models]
    assert wiggly == 1 > smooth and smooth_new > wiggly_new + 0.02


@pytest.mark.claims("model_selection-19")
def test_figure_splits_is_to_scale_and_each_fold_is_tested_once():
    parts, folds = drawn("splits")
    index = script.three_parts()
    assert np.array_equal(np.sort(np.concatenate(index)), np.arange(script.N))
    widths = [bar.get_width() for bar in parts.patches]
    np.testing.assert_allclose(widths, [len(i) for i in index])
    tested = {(bar.get_x(), bar.get_y()) for bar in folds.patches if bar.get_hatch()}
    assert len(tested) == len({x for x, _ in tested}) == len({y for _, y in tested}) == 5


@pytest.mark.claims("model_selection-29")
def test_figure_penalty_interpolates_without_penalty_and_is_held_back_with_it():
    curves, path = drawn("penalty")
    found, (x, y) = lines(curves), script.six_points()
    np.testing.assert_array_equal(found["samples"], np.column_stack([x, y]))
    dense, truth = found["truth"].T
    np.testing.assert_allclose(truth, script.CURVATURE * dense**2)
    for lam in (0.0, *script.PENALTIES):
        theta = regularised_least_squares(polynomial(x, 6), y, lam).theta
        curve = found[f"$\\lambda = {lam:g}$"]
        np.testing.assert_allclose(curve[:, 1], polynomial(dense, 6) @ theta, rtol=1e-8, atol=1e-8)
        assert np.allclose(polynomial(x, 6) @ theta, y) == (lam == 0)
    found = lines(path)
    assert (np.diff(found["residual"][:, 1]) > 0).all()
    assert (np.diff(found["size"][:, 1]) < 0).all()
