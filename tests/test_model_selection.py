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
from matplotlib.figure import Figure

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
    cross_val_predict,
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
    regularised,
    ridge_bias,
    select_by_cross_validation,
    simulated_decomposition,
    smoother_matrix,
    train_test_split,
    validation_curve,
    win_probability,
)
from mlnotes.neighbors import KNeighborsClassifier, KNeighborsRegressor


def polynomial(x, degree):
    """The rows (1, x, ..., x^degree)."""
    return augment(powers(x, degree))


def within(value, truth, standard_error, times=5):
    assert abs(value - truth) < times * standard_error, (value, truth, standard_error)


def error_of(losses):
    """The standard error of their mean."""
    return np.std(losses, ddof=1) / np.sqrt(len(losses))


def toy_world():
    """Four samples with noise +-1/2: the line fitted to each of the 16 training sets.

    Returns: the predictions (16, 3) at three points, h* (3,) there, and the noise s.
    """
    x, new, s = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-0.5, 1.0, 3.0]), 0.5
    noise = s * (2.0 * all_samples(2, 4) - 1)
    H = (x**2 + noise) @ smoother_matrix(polynomial(x, 1), polynomial(new, 1)).T
    return H, new**2, s


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


# ---------------------------------------------------------------------------------------
# Bias and variance
# ---------------------------------------------------------------------------------------


def test_all_samples_are_all_different_and_in_range():
    samples = all_samples(3, 4)
    assert samples.shape == (81, 4) and len(np.unique(samples, axis=0)) == 81
    assert [tuple(row) for row in samples.tolist()] == list(product(range(3), repeat=4))


@pytest.mark.claims("model_selection-01")
def test_bias_and_variance_of_a_linear_smoother_are_those_of_the_simulation(rng):
    x, sigma, R = np.linspace(-1, 1, 12), 0.7, 4000
    f, A = np.sin(3 * x), polynomial(x, 2)
    S = smoother_matrix(A)
    exact = linear_decomposition(S, f, sigma)
    np.testing.assert_allclose(exact.bias, (S - np.eye(12)) @ f, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        exact.variance, [sigma**2 * a @ np.linalg.inv(A.T @ A) @ a for a in A], rtol=1e-10
    )
    assert exact.noise == sigma**2
    B = polynomial(np.array([-2.0, 0.3, 1.5]), 2)  # other points
    found = linear_decomposition(smoother_matrix(A, B), f, sigma, np.zeros(3))
    np.testing.assert_allclose(
        found.variance, [sigma**2 * b @ np.linalg.inv(A.T @ A) @ b for b in B], rtol=1e-10
    )
    np.testing.assert_allclose(found.bias, B @ np.linalg.lstsq(A, f, rcond=None)[0], rtol=1e-10)
    H = (f + sigma * rng.normal(size=(R, 12))) @ S.T
    found = decomposition(H, f, sigma**2)
    assert (abs(found.bias - exact.bias) < 5 * np.sqrt(exact.variance / R)).all()
    assert (abs(found.variance / exact.variance - 1) < 5 * np.sqrt(2 / R)).all()
    simulated = simulated_decomposition(H, f)
    within(simulated.squared_bias.value, np.mean(exact.bias**2),
           simulated.squared_bias.standard_error)  # fmt: skip
    within(simulated.variance.value, exact.variance.mean(), simulated.variance.standard_error)
    assert 0 < simulated.variance.standard_error < 0.1 * exact.variance.mean()
    y = f + sigma * rng.normal(size=H.shape)
    losses = np.mean((y - H) ** 2, axis=1)
    within(losses.mean(), exact.error.mean(), error_of(losses))


def test_the_simulated_parts_are_unbiased_and_add_up_to_the_excess(rng):
    H, h_star, _ = toy_world()
    exact = decomposition(H, h_star, 0.0)
    triples = [simulated_decomposition(H[list(i)], h_star) for i in rng.integers(16, size=(9, 3))]
    for part in triples:
        assert part.squared_bias.value + part.variance.value == pytest.approx(part.excess.value)
    each = [simulated_decomposition(H[i, None][:, 0], h_star) for i in all_samples(16, 3)]
    squared_bias, variance, _ = np.array(each)[:, :, 0].mean(axis=0)  # over all 16^3 triples
    assert squared_bias == pytest.approx(np.mean(exact.bias**2), abs=1e-12)
    assert variance == pytest.approx(np.mean(exact.variance), abs=1e-12)
    far = simulated_decomposition(H[:5] + 1e9, h_star)  # a large bias
    near = simulated_decomposition(H[:5], h_star)
    assert far.variance.value == pytest.approx(near.variance.value, rel=1e-5)
    assert far.variance.standard_error == pytest.approx(near.variance.standard_error, rel=1e-5)
    with pytest.raises(ValueError, match="a jackknife needs at least 3 training sets; got 2"):
        simulated_decomposition(H[:2], h_star)


def test_the_jackknife_error_of_the_variance_is_that_of_the_textbook(rng):
    H, h_star = toy_world()[0][::2], toy_world()[1]
    whole = simulated_decomposition(H, h_star)
    each = [simulated_decomposition(np.delete(H, i, axis=0), h_star) for i in range(8)]
    for part in ("squared_bias", "variance"):
        left_out = np.array([getattr(s, part).value for s in each])
        book = np.sqrt(7 / 8 * np.sum((left_out - left_out.mean()) ** 2))
        assert getattr(whole, part).standard_error == pytest.approx(book, rel=1e-10)
    R = 400
    spread = [simulated_decomposition(rng.normal(size=(R, 1)), 0.0).variance for _ in range(300)]
    assert np.mean([e.standard_error for e in spread]) == pytest.approx(np.sqrt(2 / R), rel=0.05)
    assert np.std([e.value for e in spread]) == pytest.approx(np.sqrt(2 / R), rel=0.2)


@pytest.mark.claims("model_selection-02")
def test_the_error_is_noise_and_squared_bias_and_variance_exactly():
    H, h_star, s = toy_world()
    parts = decomposition(H, h_star, s**2)
    noise = s * np.array([-1, 1])[:, None, None]  # of a new label
    y, mean = h_star + noise, H.mean(axis=0)
    error = np.mean((y - H) ** 2, axis=(0, 1))
    np.testing.assert_allclose(error, parts.error, rtol=1e-12, atol=1e-12)
    assert error.mean() == pytest.approx(np.mean(parts.bias**2) + np.mean(parts.variance) + s**2)
    np.testing.assert_allclose(
        np.mean((y - h_star) * (h_star - H), axis=(0, 1)), 0, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        np.mean((h_star - mean) * (mean - H), axis=0), 0, rtol=1e-12, atol=1e-12
    )
    dependent = np.mean((h_star + H - mean - H) ** 2, axis=0)  # noise that follows the model
    assert (abs(dependent - parts.error) > 0.1).any()


@pytest.mark.claims("model_selection-02")
def test_the_identity_holds_for_the_replications_of_a_simulation(rng):
    x, h_star = np.linspace(0, 1, 15), np.exp(np.linspace(0, 1, 15))
    H = (h_star + 0.3 * rng.normal(size=(40, 15))) @ smoother_matrix(polynomial(x, 4)).T
    parts = decomposition(H, h_star, 0.0)
    np.testing.assert_allclose(
        np.mean((H - h_star) ** 2, axis=0), parts.error, rtol=1e-12, atol=1e-12
    )


def test_training_sets_may_have_unequal_probabilities():
    H, p = np.array([[0.0], [1.0], [5.0]]), np.array([0.5, 0.25, 0.25])
    repeated = decomposition(H[[0, 0, 1, 2]], np.array([2.0]), 0.0)
    weighted = decomposition(H, np.array([2.0]), 0.0, p)
    np.testing.assert_allclose(weighted[:2], repeated[:2])


@pytest.mark.claims("model_selection-03")
def test_the_bias_is_squared_before_it_is_averaged():
    x, w = np.polynomial.legendre.leggauss(5)  # exact for polynomials up to degree 9
    w = w / 2
    A = polynomial(x, 1)
    theta = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * x**2))  # the best line
    bias = decomposition((A @ theta)[None], x**2, 0.0).bias
    np.testing.assert_allclose(bias, 1 / 3 - x**2, rtol=1e-12, atol=1e-12)
    assert w @ bias == pytest.approx(0, abs=1e-14)  # printed: squared, it is 0
    assert w @ bias**2 == pytest.approx(4 / 45)
    assert w @ (x**2 - A @ theta) ** 2 == pytest.approx(w @ bias**2)  # the error, without noise


@pytest.mark.claims("model_selection-04")
def test_the_deviation_is_squared_before_it_is_averaged():
    H, h_star, s = toy_world()
    deviation = H - H.mean(axis=0)
    printed = deviation.mean(axis=0) ** 2
    np.testing.assert_allclose(printed, 0, rtol=1e-13, atol=1e-14)
    parts = decomposition(H, h_star, s**2)
    np.testing.assert_allclose(parts.variance, np.mean(deviation**2, axis=0))
    assert (parts.variance > 0.05).all()
    error = np.mean((h_star - H) ** 2, axis=0) + s**2
    np.testing.assert_allclose(parts.bias**2 + parts.variance + s**2, error)
    assert (error - (parts.bias**2 + printed + s**2) > 0.05).all()


@pytest.mark.claims("model_selection-05")
def test_the_noise_is_that_of_the_label():
    H, h_star, s = toy_world()
    y = h_star + s * np.array([[-1.0], [1.0]])
    np.testing.assert_allclose(
        (y - h_star).mean(axis=0), 0, rtol=1e-13, atol=1e-15
    )  # printed, squared: 0
    np.testing.assert_allclose(np.mean((y - h_star) ** 2, axis=0), s**2)
    parts = decomposition(H, h_star, s**2)
    of_the_model = np.mean((H - h_star) ** 2, axis=0)
    twice = 2 * (parts.bias**2 + parts.variance)
    np.testing.assert_allclose(parts.bias**2 + parts.variance + of_the_model, twice)
    assert (abs(twice - parts.error) > 0.01).all()


@pytest.mark.claims("model_selection-06")
def test_what_rep_calls_bias_is_its_square_and_its_noise_needs_a_random_label():
    b, s, h_star = 3.0, 0.5, np.array([1.0, 2.0])
    parts = decomposition(np.array([h_star + b]), h_star, s**2)
    rep = (parts.bias**2).mean()
    assert rep == b**2 != b
    y = h_star + s * np.array([[-1.0], [1.0]])
    error = np.mean((y - h_star - b) ** 2)
    assert error == pytest.approx(rep + s**2)
    a_function = np.mean((h_star - h_star) ** 2)  # y(x) in place of the label
    assert error - (rep + a_function) == pytest.approx(s**2)


@pytest.mark.claims("model_selection-07")
def test_complexity_lowers_the_bias_and_raises_the_variance_and_samples_lower_both():
    def parts(degree, n):
        x = np.linspace(-1, 1, n)
        S = smoother_matrix(np.polynomial.legendre.legvander(x, degree))
        f, sigma = np.sin(4 * x), 0.5
        found = linear_decomposition(S, f, sigma)
        outside = np.sum(((np.eye(n) - S) @ f) ** 2) / n
        assert np.mean(found.bias**2) == pytest.approx(outside, abs=1e-15)
        assert found.variance.mean() == pytest.approx(sigma**2 * (degree + 1) / n)
        return outside, found.variance.mean()

    bias, variance = np.transpose([parts(degree, 20) for degree in range(12)])
    assert (np.diff(bias) <= 1e-12).all() and bias[0] > 100 * bias[-1]
    assert (np.diff(variance) > 0).all()
    (b0, v0), (b1, v1) = parts(1, 20), parts(5, 2000)
    assert b1 < b0 and v1 < v0


@pytest.mark.claims("model_selection-09")
def test_optimism_grows_with_the_weights_and_shrinks_with_the_samples(rng):
    sigma = 0.8
    for n, p in product((10, 25, 60), (1, 3, 8)):
        S = smoother_matrix(rng.normal(size=(n, p)))
        rest = np.eye(n) - S
        by_traces = sigma**2 * (n + np.trace(S @ S.T) - np.trace(rest.T @ rest)) / n
        assert optimism(S, sigma) == pytest.approx(by_traces, abs=1e-12)
        assert optimism(S, sigma) == pytest.approx(2 * sigma**2 * p / n, abs=1e-12)
        shrunk = smoother_matrix(rng.normal(size=(n, p)), lam=3.0)  # no projection
        rest = np.eye(n) - shrunk
        by_traces = sigma**2 * (n + np.trace(shrunk @ shrunk.T) - np.trace(rest.T @ rest)) / n
        assert optimism(shrunk, sigma) == pytest.approx(by_traces, abs=1e-12)
    f = np.cos(np.arange(60))
    old, new = f + sigma * rng.normal(size=(2, 3000, 60))
    gap = np.mean((new - old @ S.T) ** 2 - (old - old @ S.T) ** 2, axis=1)
    within(gap.mean(), optimism(S, sigma), error_of(gap))


@pytest.mark.claims("model_selection-10")
def test_the_training_error_always_selects_the_largest_model(rng):
    x = np.linspace(-1, 1, 30)
    y = 1 + 2 * x + 0.3 * rng.normal(size=30)  # the truth is a line
    A = np.polynomial.legendre.legvander(x, 10)
    sse = [regularised(A[:, : d + 1], y, 0.0).risk for d in range(11)]
    assert (np.diff(sse) <= 1e-9).all() and np.argmin(sse) == 10
    assert (np.diff(sse) < 0).all()
    useless = np.column_stack([A[:, :3], A[:, 0] - A[:, 2]])  # a column in the span of the others
    assert regularised(useless, y, 0.0).risk == pytest.approx(sse[2])
    fresh = [np.mean((1 + 2 * x - A[:, : d + 1] @ regularised(A[:, : d + 1], y, 0.0).theta) ** 2)
             for d in range(11)]  # fmt: skip
    assert np.argmin(fresh) < 10  # fresh samples choose a smaller model


# ---------------------------------------------------------------------------------------
# Regularisation
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("model_selection-26")
def test_regularised_risk_is_at_its_minimum_and_traces_a_monotone_path(rng):
    A, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    grid = [0.0, 0.01, 0.1, 1.0, 10.0, 1000.0]
    path = [regularised(A, y, lam) for lam in grid]
    np.testing.assert_allclose(path[0].theta, np.linalg.solve(A.T @ A, A.T @ y), rtol=1e-10)
    assert (np.diff([p.risk for p in path]) > 0).all()
    assert (np.diff([p.penalty for p in path]) < 0).all()
    for lam, found in zip(grid, path, strict=True):
        assert found.risk == pytest.approx(np.sum((y - A @ found.theta) ** 2))
        assert found.penalty == pytest.approx(found.theta @ found.theta)
        for step in 1e-3 * rng.normal(size=(5, 4)):
            other = found.theta + step
            assert np.sum((y - A @ other) ** 2) + lam * other @ other > found.risk + (
                lam * found.penalty
            )
    q = np.array([0.0, 1.0, 1.0, 3.0])  # for any weights the gradient vanishes
    found = regularised(A, y, 2.0, q)
    np.testing.assert_allclose(
        A.T @ (y - A @ found.theta), 2.0 * q * found.theta, rtol=1e-10, atol=1e-10
    )
    assert found.penalty == pytest.approx(q @ found.theta**2)
    message = "lam must be a number >= 0; got -1.0"
    for call in (
        lambda: regularised(A, y, -1.0),
        lambda: smoother_matrix(A, lam=-1.0),
        lambda: ridge_bias(A, y, -1.0),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            call()


@pytest.mark.claims("model_selection-26")
def test_a_free_intercept_follows_the_zero_of_y_and_a_penalised_one_does_not(rng):
    X, y, c = rng.normal(size=(15, 3)), rng.normal(size=15), 100.0
    A = augment(X)
    free = [A @ regularised(A, each, 2.0, [0, 1, 1, 1]).theta for each in (y, y + c)]
    np.testing.assert_allclose(free[1], free[0] + c, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(free[0], Ridge(2.0).fit(X, y).predict(X), rtol=1e-10, atol=1e-10)
    bound = [A @ regularised(A, each, 2.0).theta for each in (y, y + c)]
    assert (abs(bound[1] - bound[0] - c) > 1).all()


@pytest.mark.claims("model_selection-27")
def test_ridge_adds_in_sample_bias_and_takes_variance(rng):
    for n, m in ((12, 3), (8, 8), (5, 9)):
        A, f, lam, sigma = rng.normal(size=(n, m)), rng.normal(size=n), 0.7, 0.4
        parts = ridge_bias(A, f, lam)
        H = A @ np.linalg.solve(A.T @ A + lam * np.eye(m), A.T)
        np.testing.assert_allclose(smoother_matrix(A, lam=lam), H, rtol=1e-9, atol=1e-9)
        direct = np.sum((f - H @ f) ** 2)
        assert parts.outside + parts.shrunk.sum() == pytest.approx(direct, abs=1e-9)
        assert parts.outside == pytest.approx(np.sum((f - A @ np.linalg.pinv(A) @ f) ** 2))
        assert (parts.shrunk >= 0).all() and direct > parts.outside
        s = np.linalg.svd(A, compute_uv=False)
        totals = []
        for each in (0.0, 0.1, 1.0, 10.0):
            S = smoother_matrix(A, lam=each)
            totals.append(linear_decomposition(S, f, sigma).variance.sum())
            expected = sigma**2 * np.sum((s**2 / (s**2 + each)) ** 2)
            assert totals[-1] == pytest.approx(expected, rel=1e-9)
        assert (np.diff(totals) < 0).all()
        in_span = ridge_bias(A, A @ rng.normal(size=m), lam)
        assert in_span.outside < 1e-9 < in_span.shrunk.sum()


@pytest.mark.parametrize("size", [1e-200, 1e-8, 1e200])
def test_the_hat_matrix_does_not_depend_on_the_units_of_the_features(size, rng):
    A, f = rng.normal(size=(6, 2)), rng.normal(size=6)
    H = A @ np.linalg.solve(A.T @ A, A.T)
    np.testing.assert_allclose(smoother_matrix(size * A), H, rtol=1e-12, atol=1e-12)
    twice = np.column_stack([A, A[:, 0] - A[:, 1]])  # a column that adds nothing
    np.testing.assert_allclose(smoother_matrix(size * twice), H, rtol=1e-12, atol=1e-12)
    assert ridge_bias(size * A, f, 0.0).shrunk.tolist() == [0, 0]
    if size == 1e-8:  # lam scales with the square of the unit
        shrunk = ridge_bias(A, f, 3.0).shrunk
        np.testing.assert_allclose(ridge_bias(size * A, f, 3.0 * size**2).shrunk, shrunk)


@pytest.mark.claims("model_selection-27")
def test_in_the_example_least_squares_has_no_bias_at_its_six_points():
    x = np.linspace(-1, 1, 6)
    A = polynomial(x, 6)
    assert ridge_bias(A, 2 * x**2, 0.0).outside < 1e-9
    assert ridge_bias(A, 2 * x**2, 0.1).shrunk.sum() > 1e-3


@pytest.mark.claims("model_selection-28")
def test_off_the_samples_a_penalty_may_lower_the_bias(rng):
    def f(X):
        return np.sin(2 * X[:, 0]) + X[:, 1] ** 2

    new = rng.normal(size=(500, 4))
    inside, gain = [], []
    for _ in range(200):
        A = rng.normal(size=(10, 4))
        bias = [linear_decomposition(smoother_matrix(A, lam=lam), f(A), 1.0).bias
                for lam in (0.0, 3.0)]  # fmt: skip
        inside.append(np.sum(bias[1] ** 2) - np.sum(bias[0] ** 2))
        off = [linear_decomposition(smoother_matrix(A, new, lam), f(A), 1.0, f(new)).bias
               for lam in (0.0, 3.0)]  # fmt: skip
        gain.append(np.mean(off[0] ** 2) - np.mean(off[1] ** 2))
    assert min(inside) >= 0
    assert np.mean(gain) > 5 * error_of(gain)  # printed: it always has more bias


@pytest.mark.claims("model_selection-30")
def test_degree_six_through_six_points_is_a_line_of_minimisers(rng):
    x = np.linspace(-1, 1, 6)
    A, y = polynomial(x, 6), 2 * x**2 + 0.3 * rng.normal(size=6)
    assert np.linalg.matrix_rank(A) == 6 < A.shape[1]
    w, v = regularised(A, y, 0.0).theta, np.linalg.svd(A)[2][-1]
    np.testing.assert_allclose(w, np.linalg.pinv(A) @ y, rtol=1e-9, atol=1e-9)
    for c in (-5.0, 0.3, 40.0):
        np.testing.assert_allclose(A @ (w + c * v), y, rtol=1e-9, atol=1e-9)
        assert np.linalg.norm(w + c * v) > np.linalg.norm(w)
    gaps = [np.linalg.norm(regularised(A, y, lam).theta - w) for lam in (1e-4, 1e-6, 1e-8)]
    np.testing.assert_allclose(np.array(gaps[:-1]) / gaps[1:], 100, rtol=0.1)  # linear in lam


# ---------------------------------------------------------------------------------------
# Hold-out
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("model_selection-11")
def test_hold_out_takes_the_smallest_error_of_the_withheld_part(rng):
    X, y = load_iris()[:]
    train, valid = train_test_split(np.arange(len(X)), test_size=0.3, random_state=1)
    assert np.array_equal(np.sort(np.append(train, valid)), np.arange(150)) and len(valid) == 45
    models = [KNeighborsClassifier(k) for k in (1, 5, 25, 75)]
    found = hold_out(models, X, y, train, valid, zero_one)
    by_hand = [1 - model.fit(X[train], y[train]).score(X[valid], y[valid]) for model in models]
    np.testing.assert_allclose(found.errors, by_hand, rtol=1e-12, atol=1e-12)
    assert found.best == np.argmin(by_hand) and np.ptp(by_hand) > 0.1
    for train, valid in (([0, 1], [1, 2]), ([], [1]), ([1], [])):
        with pytest.raises(ValueError, match="train and valid must be two parts without a common"):
            hold_out(models, X, y, train, valid, zero_one)


def test_a_model_whose_error_is_nan_is_never_the_best():
    class Says(Memory):
        def predict(self, X):
            return np.full(len(X), self.seen)

    X, y, models = np.arange(4.0)[:, None], np.zeros(4), [Says(np.nan), Says(2.0), Says(1.0)]
    found = hold_out(models, X, y, [0, 1], [2, 3], squared)
    assert np.isnan(found.errors[0]) and found.best == 2
    assert select_by_cross_validation(models, X, y, squared, cv=2).best == 2
    assert hold_out(models[1:] + models[1:], X, y, [0], [1], squared).best == 1  # the first
    with pytest.raises(ValueError, match="All-NaN"):
        hold_out(models[:1], X, y, [0, 1], [2, 3], squared)


@pytest.mark.claims("model_selection-11")
def test_the_validation_error_of_a_model_is_unbiased_for_its_risk():
    xs, ys = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 4.0])  # three equally likely points
    fit_to, drawn = np.array([0, 1]), all_samples(3, 2)
    risk = np.mean((ys - LinearRegression().fit(xs[:2, None], ys[:2]).predict(xs[:, None])) ** 2)
    errors = []
    for sample in drawn:
        i = np.append(fit_to, sample)
        errors += list(hold_out([LinearRegression()], xs[i, None], ys[i], [0, 1], [2, 3],
                                squared).errors)  # fmt: skip
    assert np.mean(errors) == pytest.approx(risk, abs=1e-12)
    assert np.std(errors) > 1


@pytest.mark.claims("model_selection-12")
def test_a_larger_validation_set_finds_the_better_rule_more_often():
    p, q, sizes = 0.2, 0.25, (10, 30, 100, 1000)

    def by_sums(n):
        total = 0.0
        pmf = [[comb(n, j) * e**j * (1 - e) ** (n - j) for j in range(n + 1)] for e in (p, q)]
        for i, j in product(range(n + 1), repeat=2):
            total += pmf[0][i] * pmf[1][j] * (1.0 if i < j else 0.5 if i == j else 0.0)
        return total

    found = [win_probability(p, q, n) for n in sizes]
    assert found[:2] == pytest.approx([by_sums(n) for n in sizes[:2]], abs=1e-12)
    assert (np.diff(found) > 0).all() and found[0] < 0.65 and found[-1] > 0.99
    assert win_probability(q, p, 30) == pytest.approx(1 - found[1])
    assert win_probability(p, p, 30) == pytest.approx(0.5)
    k = np.arange(31)  # Var(errors / n) = p (1 - p) / n, from the distribution itself
    pmf = np.array([comb(30, j) * p**j * (1 - p) ** (30 - j) for j in k])
    assert pmf @ (k / 30 - p) ** 2 == pytest.approx(p * (1 - p) / 30, rel=1e-12)


@pytest.mark.claims("model_selection-13")
def test_the_smallest_of_several_test_errors_is_biased(rng):
    def listed(m, n):
        pmf = [comb(n, j) / 2**n for j in range(n + 1)]
        return sum(np.prod([pmf[j] for j in js]) * min(js) / n
                   for js in product(range(n + 1), repeat=m))  # fmt: skip

    for m, n in ((1, 5), (2, 5), (3, 4)):
        assert expected_minimum(m, n) == pytest.approx(listed(m, n), abs=1e-12)
    found = [expected_minimum(m, 50) for m in (1, 2, 5, 20, 100)]
    assert found[0] == pytest.approx(0.5) and (np.diff(found) < 0).all() and found[-1] < 0.35
    errors = rng.random((2000, 20, 50)) < 0.5
    rates = errors.mean(axis=2)
    best = rates.argmin(axis=1)
    within(rates.min(axis=1).mean(), found[3], error_of(rates.min(axis=1)))
    fresh = (rng.random((2000, 20, 50)) < 0.5).mean(axis=2)[np.arange(2000), best]
    within(fresh.mean(), 0.5, error_of(fresh))


def test_parts_have_the_sizes_asked_for_and_can_be_repeated():
    x = np.arange(10)
    for how, sizes in (
        ({}, (7, 3)),
        ({"test_size": 0.25}, (7, 3)),
        ({"train_size": 0.25}, (2, 8)),
        ({"test_size": 4}, (6, 4)),
        ({"test_size": 2, "train_size": 3}, (3, 2)),
    ):
        a, b = train_test_split(x, random_state=3, **how)
        assert (len(a), len(b)) == sizes and not set(a) & set(b)
        again = train_test_split(x, random_state=3, **how)
        assert np.array_equal(again[0], a) and np.array_equal(again[1], b)
    X, y = x[:, None] * 1.0, [str(i) for i in x]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    assert [str(int(v)) for v in X_train[:, 0]] == y_train and len(y_test) == len(X_test)


def test_a_stratified_split_keeps_the_shares():
    y = np.repeat(["a", "b", "c"], (50, 30, 20))
    train, test = train_test_split(np.arange(100), test_size=0.3, stratify=y, random_state=0)
    assert [np.sum(y[test] == c) for c in "abc"] == [15, 9, 6]
    assert [np.sum(y[train] == c) for c in "abc"] == [35, 21, 14]
    assert len(np.union1d(train, test)) == 100
    few, rest = train_test_split(np.arange(100), test_size=10, train_size=10, stratify=y)
    assert len(few) == len(rest) == 10 and not set(few) & set(rest)
    y = np.repeat([0, 1, 2], (7, 5, 3))  # shares of 4: 1.87, 1.33 and 0.8
    train, test = train_test_split(y, test_size=4, stratify=y, random_state=0)
    assert np.bincount(test).tolist() == [2, 1, 1] and np.bincount(train).tolist() == [5, 4, 2]
    for sizes in product((2, 3, 4, 9), repeat=3):
        y = np.repeat([0, 1, 2], sizes)
        parts = train_test_split(np.arange(len(y)), test_size=3, stratify=y, random_state=0)
        assert sorted(np.concatenate(parts)) == list(range(len(y)))  # the rest is in the other
    with pytest.raises(ValueError, match="got 1 in the smallest, 5 to train, 3 to test"):
        train_test_split(np.arange(8), test_size=3, stratify=np.arange(8) == 0)


def test_every_class_may_come_first_in_the_parts_of_a_stratified_split():
    """Each place of a part has the same chance of each sample: the first tenth keeps the shares."""
    y = np.repeat([0, 1], (90, 10))
    early = np.zeros(2)
    for seed in range(300):
        parts = train_test_split(y, test_size=0.5, stratify=y, random_state=seed)
        early += [part[:5].mean() for part in parts]
    standard_error = np.sqrt(0.1 * 0.9 / (5 * 300))
    assert (np.abs(early / 300 - 0.1) < 4 * standard_error).all()


@pytest.mark.parametrize(
    "how, message",
    [
        ({"test_size": 1.5}, "test_size must be None, a share in (0, 1) or an integer >= 1"),
        ({"train_size": True}, "train_size must be None, a share in (0, 1) or an integer >= 1"),
        ({"test_size": 4}, "both parts must hold a sample, and together at most n = 4; got 0"),
        ({"test_size": 3, "train_size": 2}, "both parts must hold a sample"),
        ({"stratify": [0, 0, 1, 1]}, "got 2 in the smallest, 3 to train, 1 to test"),
        ({"shuffle": False, "stratify": [0, 0, 1, 1]}, "stratify must be None without shuffle"),
        ({"stratify": [0, 1, 1]}, "stratify must hold a label for each of 4 samples; got 3"),
        ({"stratify": [0, 0, 1, 1, 1]}, "stratify must hold a label for each of 4 samples; got 5"),
        ({"stratify": [0, 0, 0, 1]}, "stratify must have 2 samples of each class"),
        ({"shuffle": "no"}, "shuffle must be True or False; got 'no'"),
    ],
)
def test_invalid_splits_are_refused(how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        train_test_split(np.arange(4), **how)
    with pytest.raises(ValueError, match=re.escape("arrays must have one length; got [3, 4]")):
        train_test_split(np.arange(4), np.arange(3))
    with pytest.raises(ValueError, match=re.escape("arrays must have one length; got []")):
        train_test_split()


# ---------------------------------------------------------------------------------------
# Cross-validation
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, K", [(10, 3), (10, 10), (7, 2), (12, 4)])
@pytest.mark.parametrize("how", [{}, {"shuffle": True, "random_state": 0}])
def test_folds_are_a_partition_into_nearly_equal_parts(n, K, how):
    splits = list(KFold(K, **how).split(np.zeros(n)))
    assert len(splits) == K and np.ptp([len(test) for _, test in splits]) <= 1
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(n))
    for train, test in splits:
        assert np.array_equal(np.sort(np.append(train, test)), np.arange(n))
    again = list(KFold(K, **how).split(np.zeros(n)))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))


@pytest.mark.parametrize("how", [{}, {"shuffle": True, "random_state": 0}])
def test_stratified_folds_hold_every_class_in_its_share(how):
    y = np.random.default_rng(0).permutation(np.repeat(["a", "b", "c"], (31, 12, 7)))
    splits = list(StratifiedKFold(5, **how).split(y, y))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(50))
    for c, n_k in zip("abc", (31, 12, 7), strict=True):
        counts = [np.sum(y[test] == c) for _, test in splits]
        assert sum(counts) == n_k and np.ptp(counts) <= 1
    assert np.ptp([len(test) for _, test in splits]) <= 1


def test_stratified_folds_are_dealt_class_by_class_as_they_appear():
    y = list("bbbba")
    assert StratifiedKFold(3).folds(y, y).tolist() == [0, 0, 1, 2, 1]  # a is in one part only
    y = np.repeat([0, 1], 30)
    dealt = [StratifiedKFold(3, shuffle=True, random_state=s).folds(y, y) for s in (0, 0, 1)]
    assert (dealt[0] == dealt[1]).all() and (dealt[0] != dealt[2]).any()
    assert (np.diff(StratifiedKFold(3).folds(y, y)[:30]) >= 0).all()


def test_invalid_folds_are_refused():
    for call, message in (
        (lambda: KFold(1), "n_splits must be an integer >= 2; got 1"),
        (lambda: KFold(3, random_state=0), "random_state must be None without shuffle; got 0"),
        (lambda: list(KFold(3).split([1, 2])), "n_splits must be at most the number of samples, 2"),
        (lambda: list(LeaveOneOut().split([1])), "n_splits must be an integer >= 2; got 1"),
        (lambda: list(StratifiedKFold(3).split([1, 2, 3], [0, 0, 1])), "the largest class, 2"),
        (lambda: list(StratifiedKFold(2).split([1, 2], [0])), "same length; got 2 and 1"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            call()
    assert KFold(3).get_n_splits() == 3 and LeaveOneOut().get_n_splits([1, 2]) == 2
    assert repr(KFold(3)) == "KFold(n_splits=3, shuffle=False, random_state=None)"
    assert repr(LeaveOneOut()) == "LeaveOneOut()"


@pytest.mark.claims("model_selection-16")
def test_every_sample_is_predicted_once_by_a_model_that_did_not_see_it(rng):
    X, y = rng.permutation(np.arange(12.0))[:, None], rng.normal(size=12)
    memory = Memory()
    predicted = cross_val_predict(memory, X, y, cv=KFold(4, shuffle=True, random_state=0))
    assert vars(memory) == {"seen": ()}  # a copy is trained
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        np.testing.assert_allclose(predicted[test], y[train].mean())
    found = cross_validation_error(memory, X, y, squared, cv=4)  # equal parts
    assert found.error == pytest.approx(found.fold_errors.mean(), abs=1e-15)
    assert found.fold_sizes.tolist() == [3, 3, 3, 3]
    one_out = cross_validation_error(memory, X, y, squared, cv=12).error
    by_hand = np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(12)])
    assert one_out == pytest.approx(by_hand, abs=1e-12)
    same = cross_validation_error(memory, X, y, squared, cv=LeaveOneOut())
    assert same.error == pytest.approx(one_out)

    class Told(Memory):
        """A classifier by scikit-learn's tags only."""

        def __sklearn_tags__(self):
            return SimpleNamespace(estimator_type=self.seen)

    labels = np.repeat([0, 1], (4, 8))
    for kind, cv in (("classifier", StratifiedKFold(3)), ("regressor", KFold(3))):
        said = cross_val_predict(Told(kind), X, labels, cv=3)
        np.testing.assert_allclose(said, cross_val_predict(memory, X, labels, cv=cv))
    for cv in ([([0], [1])], [([0], np.arange(1, 12)), ([1], [1])]):
        with pytest.raises(ValueError, match="cv must test every sample once"):
            cross_val_predict(memory, X, y, cv=cv)


@pytest.mark.claims("model_selection-16")
def test_the_model_with_the_lowest_cross_validation_error_is_taken(rng):
    T = make_curve(40, np.cos, high=6.0, sigma=0.2, rng=rng)
    models = [KNeighborsRegressor(k) for k in (1, 4, 30)]
    cv = KFold(5, shuffle=True, random_state=0)
    found = select_by_cross_validation(models, T.X, T.y, squared, cv=cv)
    each = [np.mean((cross_val_predict(m, T.X, T.y, cv=cv) - T.y) ** 2) for m in models]
    np.testing.assert_allclose(found.errors, each)
    assert found.best == np.argmin(each) == 1


@pytest.mark.claims("model_selection-17")
def test_parts_of_unequal_sizes_need_their_weights():
    y, n, sizes = np.arange(10.0) ** 2, 10, (4, 3, 3)
    X = np.arange(10.0)[:, None]
    found = cross_validation_error(Memory(), X, y, squared, cv=3)
    assert tuple(found.fold_sizes) == sizes
    assert np.sum(found.fold_sizes / n * found.fold_errors) == pytest.approx(found.error, rel=1e-15)
    exact, point = [], Fraction(0)
    for train, test in KFold(3).split(X):
        mean = Fraction(sum(int(v) for v in y[train]), len(train))
        exact.append(sum((int(v) - mean) ** 2 for v in y[test]) / len(test))
        point += exact[-1] * len(test) / n
    gap = sum((Fraction(1, 3) - Fraction(s, n)) * e for s, e in zip(sizes, exact, strict=True))
    assert found.error == pytest.approx(float(point), rel=1e-14)
    printed = found.fold_errors.mean()
    assert printed - found.error == pytest.approx(float(gap), rel=1e-10) and abs(gap) > 1


@pytest.mark.parametrize("lam", [0.0, 2.5])
def test_the_shortcut_is_leave_one_out(lam, rng):
    A, y = polynomial(rng.normal(size=14), 3), rng.normal(size=14)
    losses = []
    for i in range(14):
        rest = np.arange(14) != i
        theta = regularised(A[rest], y[rest], lam).theta
        losses.append((y[i] - A[i] @ theta) ** 2)
    S = smoother_matrix(A, lam=lam)
    assert leave_one_out_shortcut(S, y) == pytest.approx(np.mean(losses), rel=1e-10)
    with pytest.raises(ValueError, match="S_ii must be < 1"):
        leave_one_out_shortcut(np.eye(3), np.ones(3))


def test_scores_are_those_of_the_models_fitted_by_hand():
    T = load_breast_cancer()
    found = cross_val_score(KNeighborsClassifier(3), T.X, T.y, cv=4)
    splits = list(StratifiedKFold(4).split(T.X, T.y))  # the default for a classifier
    by_hand = [KNeighborsClassifier(3).fit(T.X[i], T.y[i]).score(T.X[j], T.y[j]) for i, j in splits]
    np.testing.assert_array_equal(found, by_hand)
    assert len(cross_val_score(KNeighborsClassifier(3), T.X, T.y)) == 5

    def errors(model, X, y):
        return np.sum(model.predict(X) != y)

    counted = cross_val_score(KNeighborsClassifier(3), T.X, T.y, cv=splits, scoring=errors)
    np.testing.assert_allclose(
        counted, [(1 - s) * len(j) for s, (_, j) in zip(by_hand, splits, strict=True)]
    )
    model, grid = KNeighborsClassifier(3), {"param_name": "n_neighbors", "param_range": [1]}
    message = "scoring must be None or a function (estimator, X, y) -> number; got 'accuracy'"
    for call in (cross_val_score, validation_curve):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(model, T.X, T.y, scoring="accuracy", **(grid if call is validation_curve else {}))
    lost = validation_curve(model, T.X, T.y, cv=splits, scoring=errors, **grid)
    assert (lost[0] == 0).all() and lost[1].sum() > 10


def test_a_model_that_needs_no_labels_is_scored_without_them(rng):
    class Center(Memory):
        def fit(self, X):
            self.mean = X.mean()
            return self

        def score(self, X):
            return -np.mean((X - self.mean) ** 2)

    X = rng.normal(size=(6, 1))
    found = cross_val_score(Center(), X, cv=2)
    assert found[0] == pytest.approx(-np.mean((X[:3] - X[3:].mean()) ** 2))


def test_a_validation_curve_has_both_scores_of_every_value():
    X, y = load_iris()[:]
    how = {"param_name": "n_neighbors", "param_range": [1, 10, 60], "cv": 3}
    model = KNeighborsClassifier(7)
    train, valid = validation_curve(model, X, y, **how)
    assert train.shape == valid.shape == (3, 3) and model.n_neighbors == 7
    np.testing.assert_array_equal(valid[1], cross_val_score(KNeighborsClassifier(10), X, y, cv=3))
    assert (train[0] == 1).all()
    i, _ = list(StratifiedKFold(3).split(X, y))[2]
    assert train[2, 2] == KNeighborsClassifier(60).fit(X[i], y[i]).score(X[i], y[i])


def test_a_clone_shares_nothing_with_its_original():
    inner, state = Ridge(3.0).fit([[0.0], [1.0]], [0.0, 1.0]), np.random.default_rng(0)
    nested = Memory(seen=[("ridge", inner), (state, [1, 2])])
    copy = clone(nested)
    (_, ridge), (rng, listed) = copy.seen
    assert ridge is not inner and ridge.alpha == 3.0 and not hasattr(ridge, "coef_")
    assert rng is not state and listed == [1, 2] and listed is not nested.seen[1][1]


class Frame:
    """The part of a data frame that is used: rows by position, without X[i]."""

    def __init__(self, X):
        self.X = X
        self.iloc = self

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i]


def test_frames_and_lists_are_split_as_arrays_are(rng):
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    expected = cross_val_score(Ridge(), X, y, cv=3)
    np.testing.assert_allclose(cross_val_score(Ridge(), Frame(X), list(y), cv=3), expected)
    np.testing.assert_allclose(cross_val_score(Ridge(), X.tolist(), y, cv=3), expected)


# ---------------------------------------------------------------------------------------
# Bootstrap
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("model_selection-21")
def test_bootstrap_sets_are_drawn_evenly_and_the_naive_error_is_the_double_mean(rng):
    n, B = 20, 2000
    I = bootstrap_indices(n, B, rng=rng)  # noqa: E741
    assert I.shape == (B, n) and I.min() == 0 and I.max() == n - 1
    counts = np.bincount(I.ravel(), minlength=n)
    assert (abs(counts - B) < 5 * np.sqrt(B * (1 - 1 / n))).all()
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    L = bootstrap_losses(Ridge(), X, y, I[:6], squared)
    total = 0.0
    for b in range(6):
        offset, *w = centred_ridge(X[I[b]], y[I[b]], lam=1.0)
        for i in range(n):
            loss = (y[i] - X[i] @ w - offset) ** 2
            assert L[b, i] == pytest.approx(loss, rel=1e-9)
            total += L[b, i]
    assert bootstrap_error(L) == pytest.approx(total / (6 * n), rel=1e-15)


@pytest.mark.claims("model_selection-22")
def test_a_bootstrap_set_holds_a_sample_with_probability_near_0632(rng):
    for n in range(1, 6):
        every = [set(s) for s in product(range(n), repeat=n)]
        with_it = Fraction(sum(0 in s for s in every), len(every))
        distinct = Fraction(sum(len(s) for s in every), n * len(every))
        assert with_it == distinct == 1 - (1 - Fraction(1, n)) ** n
        assert inclusion_probability(n) == pytest.approx(float(with_it), abs=1e-15)
        listed = ~absent(all_samples(n, n))
        np.testing.assert_allclose(listed.mean(axis=0), float(with_it))
    assert inclusion_probability(10) == pytest.approx(0.6513, abs=5e-5)
    for n in (10**8, 10**17):  # (1 - 1/n)^n = 1/e (1 - 1/2n - ...)
        limit = 1 - (1 - 1 / (2 * n)) / np.e
        assert inclusion_probability(n) == pytest.approx(limit, rel=1e-14)
    values = [inclusion_probability(n) for n in range(2, 50)]
    assert (np.diff(values) < 0).all() and 1 / 2 < 1 - 1 / np.e < 2 / 3
    assert len(list(LeaveOneOut().split(np.zeros(9)))) == 9  # models


def random_label_losses(n, B, rng):
    """1-NN on n points with fair coins for labels: losses and sets."""
    X, y = rng.normal(size=(n, 2)), rng.integers(2, size=n).astype(float)
    I = bootstrap_indices(n, B, rng=rng)  # noqa: E741
    return bootstrap_losses(KNeighborsRegressor(1), X, y, I, zero_one), I


@pytest.mark.claims("model_selection-24")
def test_one_nearest_neighbour_on_random_labels_is_right_inside_the_set():
    X, I = np.array([[0.0], [1.0], [3.0], [7.0]]), all_samples(4, 4)  # noqa: E741
    inside = ~absent(I)
    near = np.array([KNeighborsRegressor(1).fit(X[i], i).predict(X) for i in I]).astype(int)
    labels = all_samples(2, 4)
    L = labels[:, near] != labels[:, None, :]  # (labellings, sets, samples)
    assert not L[:, inside].any()
    np.testing.assert_allclose(L.mean(axis=0)[~inside], 0.5)
    assert bootstrap_error(L) == 81 / 512 == 0.158203125
    assert nearest_neighbor_bootstrap(4) == pytest.approx(81 / 512, rel=1e-15)
    printed = 0.5 * inclusion_probability(4)
    assert printed == pytest.approx(175 / 512, rel=1e-15) and bootstrap_error(L) < printed / 2
    assert nearest_neighbor_bootstrap(200) == pytest.approx(0.1835, abs=5e-5)
    one = bootstrap_losses(KNeighborsRegressor(1), X, labels[5].astype(float), I, zero_one)
    np.testing.assert_array_equal(one, L[5])


@pytest.mark.claims("model_selection-24")
def test_the_simulated_error_is_the_corrected_one(rng):
    found = [bootstrap_error(random_label_losses(15, 4, rng)[0]) for _ in range(150)]
    within(np.mean(found), nearest_neighbor_bootstrap(15), error_of(found))
    assert abs(np.mean(found) - 0.5 * inclusion_probability(15)) > 5 * error_of(found)


@pytest.mark.claims("model_selection-25")
def test_the_leave_one_out_bootstrap_uses_only_models_that_did_not_see_the_sample(rng):
    n, B = 8, 5
    L, I = rng.random((B, n)), bootstrap_indices(n, B, rng=rng)  # noqa: E741
    I[:, 0] = 3  # sample 3 is in every set, and is skipped
    each = []
    for i in range(n):
        outside = [b for b in range(B) if i not in I[b]]
        if outside:
            each.append(np.mean([L[b, i] for b in outside]))
    assert len(each) < n
    assert leave_one_out_bootstrap(L, I) == pytest.approx(np.mean(each), rel=1e-14)
    for seen in (1e9, np.inf, np.nan):
        inside = np.where(absent(I), L, seen)  # seen samples do not count
        assert leave_one_out_bootstrap(inside, I) == pytest.approx(np.mean(each), rel=1e-14)
    with pytest.raises(ValueError, match="every sample is in every bootstrap set"):
        leave_one_out_bootstrap(np.zeros((1, 2)), np.array([[0, 1]]))


@pytest.mark.claims("model_selection-25")
def test_samples_without_a_model_are_as_frequent_as_they_should_be(rng):
    n, B, runs = 10, 3, 4000
    empty = [not absent(bootstrap_indices(n, B, rng=rng))[:, 0].any() for _ in range(runs)]
    within(np.mean(empty), inclusion_probability(n) ** B, error_of(empty))
    all_of_them = ~absent(all_samples(3, 3))[:, 0]  # two sets, both from all 27
    both = np.mean(all_of_them[:, None] & all_of_them)
    assert both == pytest.approx(inclusion_probability(3) ** 2)


@pytest.mark.claims("model_selection-25")
def test_on_random_labels_it_finds_one_half_and_point632_lies_between(rng):
    found = [leave_one_out_bootstrap(*random_label_losses(20, 15, rng)) for _ in range(60)]
    within(np.mean(found), 0.5, error_of(found))
    assert np.mean(found) > 0.4
    assert point632(0.0, 0.5) == pytest.approx(0.5 * (1 - 1 / np.e))
    assert point632(0.3, 0.3) == pytest.approx(0.3) and point632(1.0, 0.0) < 0.37


# ---------------------------------------------------------------------------------------
# Scaling
# ---------------------------------------------------------------------------------------


def test_scaled_samples_have_mean_zero_and_spread_one_whatever_their_scale(rng):
    X = rng.normal(size=(30, 4)) * [1e-100, 1.0, 1e6, 1e100] + [0.0, 5.0, -1e6, 0.0]
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-10)
    np.testing.assert_allclose(scaler.inverse_transform(Z), X, rtol=1e-9)
    np.testing.assert_allclose(scaler.scale_[1:3], X[:, 1:3].std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaler.var_[1:3], X[:, 1:3].var(axis=0), rtol=1e-12)
    new = rng.normal(size=(2, 4))
    np.testing.assert_allclose(scaler.transform(new)[:, 1], (new[:, 1] - X[:, 1].mean()) /
                               X[:, 1].std())  # fmt: skip


def test_constant_features_and_single_samples_are_not_divided_by_zero():
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    scaler = StandardScaler().fit(X)
    assert scaler.scale_[0] == 1 and scaler.var_[0] == 0
    np.testing.assert_allclose(scaler.transform(X)[:, 0], 0, rtol=1e-13, atol=1e-15)
    assert StandardScaler().fit_transform([[3.0]]) == [[0.0]]
    X = np.tile(np.random.default_rng(0).normal(size=300), (11, 1))  # some means are rounded
    assert (X.std(axis=0) > 0).any() and (StandardScaler().fit(X).scale_ == 1).all()


def test_mean_and_spread_can_be_kept_and_weights_are_repetitions():
    X, weights = np.array([[0.0], [2.0], [8.0]]), [1, 2, 1]
    assert StandardScaler(with_std=False).fit_transform(X).ravel() == pytest.approx(
        X.ravel() - 10 / 3
    )
    assert StandardScaler(with_mean=False).fit_transform(X).ravel() == pytest.approx(
        X.ravel() / X.std()
    )
    neither = StandardScaler(with_mean=False, with_std=False).fit(X)
    assert neither.mean_ is None and neither.var_ is None and neither.scale_ is None
    assert np.array_equal(neither.transform(X), X) and neither.transform(X) is not X
    assert np.array_equal(neither.inverse_transform(X), X)
    assert neither.inverse_transform(X) is not X
    weighted, repeated = (
        StandardScaler().fit(X, sample_weight=weights),
        StandardScaler().fit(np.repeat(X, weights, axis=0)),
    )
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X))
    assert (weighted.n_samples_seen_, repeated.n_samples_seen_) == (4.0, 4)
    outlier = [[1.0], [5.0], [1e20]]  # its weight is 0
    scaler = StandardScaler().fit(outlier, sample_weight=[0.5, 0.5, 0.0])
    assert (scaler.mean_, scaler.scale_, scaler.n_samples_seen_) == (3.0, 2.0, 1.0)
    assert StandardScaler(with_mean=False).fit(X).mean_ == pytest.approx(10 / 3)  # and not used


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def drawn(name, count):
    """The axes on which the figure has drawn."""
    import figures.model_selection as script

    axes = Figure().subplots(1, count, squeeze=False)[0]
    getattr(script, name)(*axes)
    return axes


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


@pytest.mark.claims("model_selection-14")
def test_the_selection_curves_are_drawn_with_their_minimum():
    by_degree, by_k = drawn("curves", 2)
    found = lines(by_degree)
    degrees, training = found["training"].T
    validation, best = found["validation"][:, 1], found["best"]
    np.testing.assert_array_equal(degrees, np.arange(len(degrees)))
    assert (np.diff(training) <= 1e-9).all()
    np.testing.assert_array_equal(best, [[validation.argmin(), validation.min()]])
    assert 0 < validation.argmin() < len(degrees) - 1  # under- and overfit on either side
    gap = validation - training
    assert gap[-1] > 3 * gap[validation.argmin()]
    found = lines(by_k)
    assert found["training"][found["training"][:, 0] == 1, 1] == 0  # every sample is its own
    k, validation = found["validation"].T
    np.testing.assert_array_equal(found["best"], [[k[validation.argmin()], validation.min()]])
    assert 1 < k[validation.argmin()] < k.max()
    assert by_k.get_xlim()[0] > by_k.get_xlim()[1]  # complexity grows to the right here too
    for ax in (by_degree, by_k):
        assert [t.get_text() for t in ax.texts] == ["underfit", "overfit"]


@pytest.mark.claims("model_selection-15")
def test_the_wiggly_boundary_makes_no_training_error_and_more_new_ones():
    import figures.model_selection as script

    axes, errors = drawn("fish", 2), []
    T, new = script.fish_samples()
    for ax, k in zip(axes, (1, script.SMOOTH), strict=True):
        model = KNeighborsClassifier(k).fit(*T)
        training, test = (np.mean(model.predict(X) != y) for X, y in (T, new))
        assert f"training {training:.0%}, new {test:.0%}".replace("%", " %") in ax.get_title()
        errors.append((training, test))
        assert len(ax.get_lines()) == 2 and len(ax.collections) >= 3  # classes; regions, boundary
        X = np.vstack([line.get_xydata() for line in ax.get_lines()])
        assert {tuple(x) for x in X} == {tuple(x) for x in T[0]}
    (wiggly, wiggly_new), (smooth, smooth_new) = errors
    assert wiggly == 0 < smooth and smooth_new < wiggly_new - 0.02


@pytest.mark.claims("model_selection-19")
def test_the_parts_are_drawn_to_scale_and_each_fold_is_tested_once():
    import figures.model_selection as script

    parts, folds = drawn("splits", 2)
    index = script.three_parts()
    assert np.array_equal(np.sort(np.concatenate(index)), np.arange(script.N))
    bars = parts.patches
    widths = [bar.get_width() for bar in bars]
    np.testing.assert_allclose(np.array(widths) / sum(widths), [len(i) / script.N for i in index])
    edges = np.cumsum([0.0, *widths])
    np.testing.assert_allclose([bar.get_x() for bar in bars], edges[:-1])  # one beside the other
    shaded = np.array([bar.get_hatch() is not None for bar in folds.patches]).reshape(5, 5)
    assert (shaded.sum(axis=0) == 1).all() and (shaded.sum(axis=1) == 1).all()
    boxes = {(round(b.get_x()), round(b.get_y())) for b in folds.patches}
    assert len(boxes) == 25


@pytest.mark.claims("model_selection-29")
def test_the_example_of_the_notes_is_drawn_and_the_penalty_holds_the_curve_back():
    import figures.model_selection as script

    curves, path = drawn("penalty", 2)
    found, (x, y) = lines(curves), script.six_points()
    points = next(v for k, v in found.items() if k == "samples")
    np.testing.assert_array_equal(points, np.column_stack([x, y]))
    dense, truth = found["truth"].T
    np.testing.assert_allclose(truth, script.CURVATURE * dense**2)
    interpolant = found["$\\lambda = 0$"]
    for point in points:
        at = abs(interpolant[:, 0] - point[0]).argmin()
        np.testing.assert_allclose(interpolant[at], point, rtol=1e-6, atol=1e-6)
    A = polynomial(x, 6)
    for lam in script.PENALTIES:
        curve = found[f"$\\lambda = {lam:g}$"]
        theta = regularised(A, y, lam).theta
        np.testing.assert_allclose(
            curve[:, 1], polynomial(curve[:, 0], 6) @ theta, rtol=1e-8, atol=1e-8
        )
    found = lines(path)
    assert (np.diff(found["residual"][:, 1]) > 0).all()
    assert (np.diff(found["size"][:, 1]) < 0).all()
