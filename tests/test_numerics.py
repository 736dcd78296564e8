"""The helpers of `numerics` against the plain formulas that they stand for."""

import itertools
import tracemalloc

import numpy as np
import pytest

from mlnotes import numerics
from mlnotes.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from mlnotes.numerics import (
    GramRows,
    at_bounds,
    cholesky_solve,
    kernel_product,
    low_rank_factor,
    low_rank_start,
    newton_in_box,
    relative_squares,
    square,
    squared_distances,
    squared_norms,
    symmetric,
)
from mlnotes.optimization import solve_qp
from mlnotes.svr import Stacked

# ---------------------------------------------------------------------------------------
# Distances
# ---------------------------------------------------------------------------------------


def by_differences(X, Y):
    return ((X[:, None] - Y) ** 2).sum(axis=2)


def test_squared_distances_are_sums_of_squared_differences(rng):
    X, Y = rng.normal(size=(30, 4)) * [1, 5, 0.1, 1], rng.normal(size=(20, 4)) + 3
    looped = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in Y] for x in X]
    np.testing.assert_allclose(squared_distances(X, Y), looped, rtol=1e-12)
    np.testing.assert_allclose(squared_norms(X), [sum(x * x) for x in X], rtol=1e-14)


def test_distances_keep_12_digits_where_the_expanded_square_cancels(rng):
    X = rng.normal(size=(60, 3))
    X[7] = X[3]
    for samples in (X, X + 1e6, np.vstack([X - 1e7, X + 1e7]), X * [1, 1e-6, 1e6], 1e149 * X):
        D, exact = squared_distances(samples), by_differences(samples, samples)
        np.testing.assert_allclose(D, exact, rtol=1e-12)
        np.testing.assert_array_equal(D, D.T)
        assert D[3, 7] == 0 and not D.diagonal().any()
        np.testing.assert_allclose(squared_distances(samples[:9], samples), exact[:9], rtol=1e-12)
    norms = ((X + 1e6) ** 2).sum(axis=1)
    naive = norms[:, None] + norms - 2 * (X + 1e6) @ (X + 1e6).T
    assert np.abs(naive - squared_distances(X)).max() > 1e-4


def test_relative_squares_are_distances_without_the_square_of_the_point(rng):
    X, x = rng.normal(size=(40, 3)) + 100, rng.normal(size=(7, 3)) + 100
    D, squares = relative_squares(X, most=9)(x)
    np.testing.assert_allclose(D + squares, by_differences(x, X), rtol=1e-10)
    np.testing.assert_allclose(squares[:, 0], squared_norms(x - X.mean(axis=0)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "float32"])
def test_small_integers_and_single_precision_are_computed_in_double(kind, rng):
    X = (rng.integers(-100, 100, size=(30, 64)) + 100 * (kind == "uint8")).astype(kind)
    Y = (X + rng.integers(0, 8, size=X.shape)).astype(kind)
    expected = ((X.astype(float)[:, None] - Y.astype(float)) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(squared_norms(X), (X.astype(float) ** 2).sum(axis=1), rtol=1e-13)


def test_repairing_many_pairs_takes_no_more_than_some_blocks_of_memory(rng):
    X = np.repeat([[0.0], [1.0]], 200, axis=0) + 1e-6 * rng.normal(size=(400, 100))
    tracemalloc.start()
    D = squared_distances(X)  # half of the pairs cancel: 64 MB of differences
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6
    np.testing.assert_allclose(D, by_differences(X, X), rtol=1e-12)


def test_points_of_different_dimensions_are_refused():
    message = r"X and Y must be \(n, d\) and \(m, d\); got \(5, 1\) and \(7, 3\)"
    with pytest.raises(ValueError, match=message):
        squared_distances(np.zeros((5, 1)), np.zeros((7, 3)))


# ---------------------------------------------------------------------------------------
# Matrices and scale
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [square, symmetric])
@pytest.mark.parametrize(
    "K, message",
    [
        (np.ones(3), r"S must be square; got shape \(3,\)"),
        (np.ones((2, 3)), r"S must be square; got shape \(2, 3\)"),
        ([[1.0, np.nan], [np.nan, 1.0]], "S must be finite; it contains NaN or infinity 2 times"),
        ([[np.inf, 0.0], [0.0, 1.0]], "S must be finite; it contains NaN or infinity 1 times"),
    ],
)
def test_a_matrix_that_is_not_square_or_not_finite_is_refused(check, K, message):
    with pytest.raises(ValueError, match=message):
        check(K, name="S")


def test_a_matrix_is_symmetric_up_to_the_rounding_of_its_precision(rng):
    A = rng.normal(size=(5, 5))
    S = A + A.T
    for size in (1e-100, 1.0, 1e100):
        nearly = size * (S + 1e-14 * A)
        np.testing.assert_array_equal(symmetric(nearly), nearly)
        with pytest.raises(ValueError, match="K must be symmetric; it differs from its transpose"):
            symmetric(size * (S + 1e-8 * A))
    single = (S + 1e-7 * A).astype(np.float32)
    assert symmetric(single).dtype == np.float64
    with pytest.raises(ValueError, match="K must be symmetric"):
        symmetric((S + 1e-3 * A).astype(np.float32))
    assert symmetric(np.array([[2, 1], [1, 2]], dtype=np.int8)).dtype == np.float64


# ---------------------------------------------------------------------------------------
# Lanczos
# ---------------------------------------------------------------------------------------


def spectrum(rng, mu):
    """A symmetric matrix with the eigenvalues mu."""
    Q, _ = np.linalg.qr(rng.normal(size=(len(mu), len(mu))))
    K = Q * mu @ Q.T
    return (K + K.T) / 2


def certified(K, found, k):
    """The first k eigenvalues found, after a check of what comes with them."""
    mu, B, residual = found
    np.testing.assert_allclose(B.T @ B, np.eye(k), rtol=0, atol=1e-13)
    worst = np.linalg.norm(K @ B - B * mu[:k], axis=0).max() / (np.abs(mu).max() or 1.0)
    assert residual == pytest.approx(worst, rel=1e-3, abs=1e-13)
    return mu[:k]


# ---------------------------------------------------------------------------------------
# Cholesky
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 127, 128, 129, 300])
def test_cholesky_solve_solves_the_equations(rng, n):
    A = rng.normal(size=(n, n))
    M = A @ A.T + n * np.eye(n)
    L = np.linalg.cholesky(M)
    for y in (rng.normal(size=n), rng.normal(size=(n, 3)), np.arange(n)):
        before = y.copy()
        a = cholesky_solve(L, y)
        np.testing.assert_allclose(a, np.linalg.solve(M, y), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(y, before)


# ---------------------------------------------------------------------------------------
# Boxes
# ---------------------------------------------------------------------------------------


def test_numbers_near_a_bound_are_on_it_and_others_stay(rng):
    x = np.concatenate([rng.uniform(-1, 2, size=200), [1e-13, 1 - 1e-13, 1e-3, 0.0, 1.0]])
    for near in (0.0, 1e-12, 0.1):
        boxed = at_bounds(x, 0.0, 1.0, near)
        for before, after in zip(x, boxed, strict=True):  # the plain form, one by one
            clipped = min(max(before, 0.0), 1.0)
            expected = 1.0 if 1 - clipped <= near else 0.0 if clipped <= near else clipped
            assert after == pytest.approx(expected, rel=0, abs=1e-15)
    assert at_bounds(np.array([3.0]), 0.0, np.inf, 1e-9)[0] == 3.0  # no bound above


# ---------------------------------------------------------------------------------------


# ---------------------------------------------------------------------------------------
# Gram matrices that are not in memory
# ---------------------------------------------------------------------------------------

KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), Gaussian(0.7), Laplacian(0.4), Sigmoid(2.0, -1.0)]


@pytest.mark.parametrize("ridge", [0.0, 0.25])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_and_stacked_matrices_are_those_of_the_array(rng, kernel, ridge):
    X = rng.normal(size=(9, 3))
    K = kernel(X) + ridge * np.eye(9)
    gamma = kernel.gamma if isinstance(kernel, Gaussian) else None
    rows = GramRows(X, kernel, capacity=2, ridge=ridge, gamma=gamma)
    for i in (3, 0, 3, 8, 1, 0):
        np.testing.assert_allclose(rows[i], K[i], rtol=1e-12, atol=1e-13)
        assert len(rows.rows) <= 2
    stacked, chosen = np.block([[K, K], [K, K]]), np.array([4, 14, 7, 2])
    for form, whole in ((rows, K), (Stacked(K), stacked), (Stacked(rows), stacked)):
        n = len(whole)
        np.testing.assert_allclose(form[n - 1], whole[n - 1], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(form[chosen % n], whole[chosen % n], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(form.diagonal(), whole.diagonal(), rtol=1e-13)
        for beta in (rng.normal(size=n), np.eye(n)[5], np.zeros(n)):
            np.testing.assert_allclose(form @ beta, whole @ beta, rtol=1e-12, atol=1e-12)
    assert rows[np.array([], dtype=int)].shape == (0, 9)


def test_the_row_unused_for_longest_goes_first(rng):
    computed = []

    def counting(Z, X):
        computed.append(len(Z))
        return Z @ X.T

    K = GramRows(rng.normal(size=(5, 2)), counting, capacity=2)
    computed.clear()  # what the diagonal took
    for i, count in [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4), (0, 4), (2, 5)]:
        K[i]
        assert len(computed) == count, i  # 0 is never dropped, because it is used in between
    assert set(K.rows) == {0, 2}
    assert GramRows(np.eye(3), counting, capacity=0).capacity == 2


def test_gaussian_rows_by_norms_keep_their_digits_or_are_not_used(rng):
    X = rng.normal(size=(40, 2))
    for shift, gamma, by_norms in ((1e6, 0.5, True), (0.0, 1e4, False)):
        Z = X + shift
        K = GramRows(Z, Gaussian(gamma), capacity=2, gamma=gamma)
        assert K.by_norms == by_norms
        exact = np.exp(-gamma * np.sum((Z[3] - Z) ** 2, axis=1))
        np.testing.assert_allclose(K[3], exact, rtol=0, atol=1e-12)


def test_kernel_products_take_blocks_of_rows(monkeypatch, rng):
    X, Z, beta = rng.normal(size=(7, 2)), rng.normal(size=(11, 2)), rng.normal(size=(7, 3))
    seen = []

    def counting(Z, X):
        seen.append(len(Z))
        return Z @ X.T

    monkeypatch.setattr(numerics, "ENTRIES", 21)
    np.testing.assert_allclose(kernel_product(counting, Z, X, beta), Z @ X.T @ beta, rtol=1e-12)
    assert seen == [3, 3, 3, 2]
    assert not kernel_product(counting, Z, X[:0], beta[:0]).any()


# ---------------------------------------------------------------------------------------
# Quadratic programs of low rank
# ---------------------------------------------------------------------------------------


def programs_in_a_box(seed):
    """K, g, the sums of two sets of entries, and a box around 0."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(30, 40))
    sums = np.repeat(np.eye(2), (12, 18), axis=1)
    g, low, high = rng.normal(size=30), *np.abs(rng.normal(size=(2, 30))) * [[-0.4], [0.4]]
    return A @ A.T + 4 * np.eye(30), g, sums, low, high


@pytest.mark.parametrize("seed", range(6))
def test_newtons_step_without_a_box_is_the_optimum_with_these_sums(seed):
    K, g, sums, _, _ = programs_in_a_box(seed)
    v = newton_in_box(K, g, sums, -np.inf, np.inf)
    np.testing.assert_allclose(v, solve_qp(K, -g, sums, np.zeros(2)).x, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_newtons_step_in_a_box_is_best_for_the_entries_inside(seed):
    K, g, sums, low, high = programs_in_a_box(seed)
    v = newton_in_box(K, g, sums, low, high)
    inside = (v > low) & (v < high)
    assert (low <= v).all() and (v <= high).all() and inside.any() and not inside.all()
    np.testing.assert_allclose(sums @ v, 0, rtol=0, atol=1e-12 * np.abs(v).sum())
    gradient = g - K @ v
    for own in sums == 1:  # no change of two of them gains anything
        same = gradient[own & inside]
        np.testing.assert_allclose(same, same.mean(), rtol=0, atol=1e-6 * np.abs(g).max())


def test_newtons_step_leaves_the_box_where_half_of_the_entries_would():
    K, g, sums, low, high = programs_in_a_box(0)
    whole = newton_in_box(K, g, sums, -np.inf, np.inf)
    np.testing.assert_array_equal(newton_in_box(K, g, sums, low / 1e9, high / 1e9), whole)


def test_a_matrix_of_low_rank_is_the_product_of_its_factor(rng):
    X = rng.normal(size=(80, 5)) * [1e3, 1.0, 1.0, 1e-2, 0.0]
    Z = low_rank_factor(X @ X.T, most=10)
    assert Z.shape == (80, 4)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, rtol=0, atol=1e-11 * np.abs(X @ X.T).max())
    stacked = low_rank_factor(Stacked(X @ X.T), most=10)
    np.testing.assert_allclose(stacked @ stacked.T, np.tile(Z @ Z.T, (2, 2)), rtol=0, atol=1e-5)
    assert low_rank_factor(X @ X.T, most=4).shape == (80, 4)
    assert low_rank_factor(X @ X.T, most=3) is None
    assert low_rank_factor(Gaussian(1.0)(X[:, :3]), most=10) is None


def random_box(rng, n, r, groups):
    """A program of rank r over a box, with a start inside and so many sums to keep."""
    Z, p = rng.normal(size=(n, r)), rng.normal(size=n)
    lower, upper = -rng.random(n), rng.random(n)
    start = lower + rng.random(n) * (upper - lower)
    ends = np.linspace(0, n, groups + 1).astype(int)
    sums = [np.isin(np.arange(n), np.arange(*end)) for end in itertools.pairwise(ends)]
    return Z @ Z.T, p, lower, upper, start, np.array(sums, dtype=float)


@pytest.mark.parametrize("r, groups", [(1, 1), (3, 1), (3, 2), (12, 2)])
def test_the_start_in_a_box_is_near_the_optimum_of_the_quadratic_program(r, groups, rng):
    K, p, lower, upper, start, sums = random_box(rng, 60, r, groups)
    beta = low_rank_start(K, p, lower, upper, start, sums, large=60)
    exact = solve_qp(
        K, -p, A=sums, b=sums @ start, G=np.vstack([np.eye(60), -np.eye(60)]),
        h=np.concatenate([lower, -upper]),
    ).x  # fmt: skip

    def objective(x):
        return p @ x - x @ K @ x / 2

    assert (beta >= lower).all() and (beta <= upper).all()
    np.testing.assert_allclose(sums @ beta, sums @ start, rtol=1e-12, atol=1e-12)
    assert objective(exact) - objective(beta) < 1e-4 * (objective(exact) - objective(start))
    free = (beta > lower) & (beta < upper)
    assert free.sum() <= r + groups  # an optimum at a vertex of the other multipliers
    np.testing.assert_allclose(beta[~free], exact[~free], rtol=0, atol=1e-6)


def test_the_start_stays_with_few_multipliers_a_high_rank_or_a_box_without_an_end(rng):
    K, p, lower, upper, start, sums = random_box(rng, 90, 2, 1)
    assert low_rank_start(K, p, lower, upper, start, sums, large=90) is not start
    assert low_rank_start(K, p, lower, upper, start, sums, large=91) is start
    assert low_rank_start(np.eye(90), p, lower, upper, start, sums, large=90) is start
    for end in (np.inf, lower[3]):
        other = np.where(np.arange(90) == 3, end, upper)
        assert low_rank_start(K, p, lower, other, start, sums, large=90) is start


@pytest.mark.parametrize("K", [np.zeros((60, 60)), np.ones((60, 60))], ids=["zero", "one"])
@pytest.mark.parametrize("size", [0.0, 1e-6, 1.0])
def test_the_start_of_a_constant_kernel_is_a_vertex_of_the_linear_program(K, size, rng):
    p, one = size * rng.normal(size=60), np.ones(60)
    beta = low_rank_start(K, p, -one, one, np.zeros(60), one[None], large=60)
    best = np.where(p > np.median(p), 1.0, -1.0)  # sum_i beta_i = 0, so that K beta = 0
    np.testing.assert_allclose(beta, best if size else np.zeros(60), rtol=1e-12)


@pytest.mark.parametrize("seed", range(10, 30))
def test_the_start_does_not_mind_columns_that_depend_on_each_other(seed):
    rng = np.random.default_rng(seed)
    X, sign = rng.normal(size=(500, 2)), np.repeat([1.0, -1.0], 250)
    lower, upper = np.minimum(sign, 0) / 500, np.maximum(sign, 0) / 500  # of the nu machine
    start, sums = 0.999 * sign / 1000, np.repeat(np.eye(2), 250, axis=1)
    beta = low_rank_start(1 + 1e-13 * X @ X.T, np.zeros(500), lower, upper, start, sums)
    assert (lower <= beta).all() and (beta <= upper).all()
    np.testing.assert_allclose(beta.reshape(2, -1).sum(axis=1), [0.24975, -0.24975], rtol=1e-12)


def test_the_start_is_found_for_a_high_price_of_large_samples():
    rng, C = np.random.default_rng(0), 1e6
    X, zero = 1e3 * rng.normal(size=(600, 3)), np.zeros(600)
    y = np.where(X[:, 0] + 1e3 * rng.normal(size=600) > 0, 1.0, -1.0)
    box = np.minimum(0, C * y), np.maximum(0, C * y)
    beta = low_rank_start(X @ X.T, y, *box, zero, np.ones((1, 600)))
    assert y @ beta - np.sum((X.T @ beta) ** 2) / 2 > 3.5e8  # SMO is at 2.5e6 after 100,000 steps
