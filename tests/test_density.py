"""The density chapter: every statement of the notes, checked by a second route."""

import re
import tracemalloc
from math import gamma, lgamma, log, pi, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.density import (
    KERNELS,
    KernelDensity,
    NormalMixture,
    ball_volume,
    best_bandwidth,
    class_counts,
    count_density,
    gaussian_window,
    histogram_density,
    hypercube,
    inner_product,
    integrated_squared_error,
    kernel_log_density,
    kernel_mixture,
    knn_density,
    knn_joint_density,
    knn_posterior,
    leave_one_out,
    log_kernel_integral,
    log_kernel_sum,
    nearest_samples,
    normal_mise,
    parzen,
    relative_deviation,
    sample_kernel,
    scott,
    silverman,
    squared_lengths,
)
from mlnotes.numerics import exact_squared_distances, squared_distances
from mlnotes.probability import (
    binomial_log_pmf,
    covariance,
    expectation,
    gauss_legendre,
    multivariate_normal_log_density,
    normal_cdf,
    normal_log_density,
)

KERNEL = {  # as a book writes them, functions of the length of u
    "gaussian": lambda r: np.exp(-(r**2) / 2),
    "tophat": lambda r: 1.0 * (r < 1),
    "epanechnikov": lambda r: np.where(r < 1, 1 - r**2, 0),
    "exponential": lambda r: np.exp(-r),
    "linear": lambda r: np.where(r < 1, 1 - r, 0),
    "cosine": lambda r: np.where(r < 1, np.cos(pi * r / 2), 0),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS)


def line(low, high, pieces=200):
    """Nodes (m, 1) and weights (m,) along the line."""
    nodes, weights = gauss_legendre(low, high, pieces)
    return nodes[:, None], weights


def plane(low, high, pieces=40):
    """Nodes (m, 2) and weights (m,) over a square."""
    nodes, weights = gauss_legendre(low, high, pieces, order=8)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    return grid, np.outer(weights, weights).ravel()


def gaussian_estimate(x, X, h):
    return np.exp(kernel_log_density(x, X, h))


# ---------------------------------------------------------------------------------------
# From counts to densities
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("density-01")
@pytest.mark.parametrize("low, high", [(0.3, 0.5), (-2.0, 0.1)])
def test_the_count_in_a_region_is_binomial_with_the_integral_of_the_density(low, high):
    x, w = line(low, high, pieces=4)
    P = w @ np.exp(normal_log_density(x[:, 0], 0.0, 1.0))
    cdf = [float(normal_cdf(end, 0.0, 1.0)) for end in (high, low)]
    assert P == pytest.approx(cdf[0] - cdf[1], abs=1e-10)
    n, k = 17, np.arange(18)
    pmf = np.exp(binomial_log_pmf(k, n, P))
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert pmf @ k == pytest.approx(n * P, abs=1e-12)
    assert pmf @ (k - n * P) ** 2 == pytest.approx(n * P * (1 - P), abs=1e-12)


@pytest.mark.claims("density-01")
def test_counts_of_samples_in_a_region_follow_that_distribution(rng):
    n, runs = 12, 20_000
    k = ((rng.standard_normal((runs, n)) > 0.3) & (rng.standard_normal((runs, n)) > 0.0)).sum(1)
    P = (1 - float(normal_cdf(0.3, 0.0, 1.0))) / 2
    share = np.bincount(k, minlength=n + 1) / runs
    pmf = np.exp(binomial_log_pmf(np.arange(n + 1), n, P))
    assert (np.abs(share - pmf) <= 5 * np.sqrt(pmf * (1 - pmf) / runs) + 1e-4).all()


@pytest.mark.claims("density-01")
@pytest.mark.parametrize("n, k", [(10, 3), (40, 39), (7, 1)])
def test_k_over_n_is_the_most_likely_probability(n, k):
    step = 1e-5
    ahead, at, behind = (float(binomial_log_pmf(k, n, k / n + e)) for e in (step, 0, -step))
    assert (ahead - behind) / (2 * step) == pytest.approx(0, abs=1e-3)
    assert ahead < at > behind
    grid = np.linspace(0.001, 0.999, 999)
    assert grid[np.argmax(binomial_log_pmf(k, n, grid))] == pytest.approx(k / n, abs=1e-3)
    V = 0.25
    assert count_density(k, n, V) == pytest.approx(k / n / V, rel=1e-15)


@pytest.mark.claims("density-01")
@pytest.mark.parametrize("x", [0.0, 0.5, 2.0])
def test_what_a_small_region_smooths_away_falls_with_its_squared_volume(x):
    """P/V - p(x) = V^2 p''(x) / 24 + O(V^4): halving V divides the remainder by 16."""
    p = np.exp(normal_log_density(x, 0.0, 1.0))
    curvature, ratios = (x**2 - 1) * p, []
    for V in (0.4, 0.2, 0.1):
        t, w = line(x - V / 2, x + V / 2, pieces=2)
        bias = w @ np.exp(normal_log_density(t[:, 0], 0.0, 1.0)) / V - p
        ratios.append(bias / (V**2 * curvature / 24))
    assert ratios[-1] == pytest.approx(1, abs=2e-3)
    away = np.abs(np.subtract(ratios, 1))
    np.testing.assert_allclose(away[:-1] / away[1:], 4, rtol=0.05)


@pytest.mark.claims("density-14")
def test_cells_need_a_number_of_samples_that_grows_like_a_power_of_their_dimension():
    m, q, fixed, dimensions = 10, 25, 2_500, range(1, 7)
    enough = [relative_deviation(q * m**d, m**-d) for d in dimensions]
    kept = [relative_deviation(fixed, m**-d) for d in dimensions]
    assert max(enough) < 1 / sqrt(q)
    np.testing.assert_allclose(enough, 1 / sqrt(q), rtol=0.06)
    growth = np.divide(kept[1:], kept[:-1])
    np.testing.assert_allclose(growth, sqrt(m), rtol=0.06)
    np.testing.assert_allclose(growth[2:], sqrt(m), rtol=1e-3)
    assert kept[0] < 0.1 and kept[-1] > 19  # in six dimensions it is noise


@pytest.mark.claims("density-14")
@pytest.mark.parametrize("n, P", [(250, 0.1), (2_500, 0.01), (40, 0.5), (40, 1e-4)])
def test_relative_deviation_is_that_of_the_binomial_distribution(n, P):
    k = np.arange(n + 1)
    pmf = np.exp(binomial_log_pmf(k, n, P))
    mean = pmf @ k
    deviation = sqrt(pmf @ (k - mean) ** 2)
    assert relative_deviation(n, P) == pytest.approx(deviation / mean, rel=1e-9)


@pytest.mark.claims("density-14")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_relative_deviation_is_that_of_histograms_of_uniform_samples(d, rng):
    m, n, runs = 3, 400, 400
    at = np.full((1, d), 0.5)
    heights = [histogram_density(at, rng.random((n, d)), 1 / m).item() for _ in range(runs)]
    expected = relative_deviation(n, m**-d)  # the density is 1
    assert np.mean(heights) == pytest.approx(1, abs=5 * expected / sqrt(runs))
    assert np.std(heights) == pytest.approx(expected, rel=5 / sqrt(2 * runs))


# ---------------------------------------------------------------------------------------
# The histogram
# ---------------------------------------------------------------------------------------


def test_histogram_is_numpys_in_one_two_and_three_dimensions(rng):
    for d in (1, 2, 3):
        X, x = rng.normal(size=(80, d)), 2 * rng.normal(size=(50, d))
        h, origin = 0.7, np.linspace(0.1, 0.3, d)
        edges = [o + h * np.arange(-20, 21) for o in origin]
        heights, _ = np.histogramdd(X, edges, density=True)
        cells = tuple(np.searchsorted(edges[j], x[:, j], side="right") - 1 for j in range(d))
        ours = histogram_density(x, X, h, origin)
        np.testing.assert_allclose(ours, heights[cells], rtol=0, atol=1e-14)
        assert (ours > 0).any() and (ours == 0).any()


def test_histogram_has_half_open_cells_and_depends_on_its_origin():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    at = np.array([[0.0], [0.999], [1.0], [2.0], [-0.001]])
    np.testing.assert_array_equal(histogram_density(at, X, 1.0), [0.25, 0.25, 0.5, 0.25, 0.0])
    shifted = histogram_density(at, X, 1.0, origin=0.5)
    np.testing.assert_array_equal(shifted, [0.25, 0.5, 0.5, 0.25, 0.25])


def test_an_origin_is_a_number_or_one_point():
    X = np.array([[0.1], [0.2], [1.2]])
    message = re.escape("origin must be a number or a point (1,); got (3,)")
    with pytest.raises(ValueError, match=message):  # of three features, or one for each sample
        histogram_density(X, X, 1.0, origin=np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(
        histogram_density(X, X, 1.0, origin=np.array([0.0])), histogram_density(X, X, 1.0)
    )


# ---------------------------------------------------------------------------------------
# Parzen windows
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("density-02")
def test_the_window_is_the_closed_unit_cube(rng):
    u = rng.uniform(-1, 1, size=(500, 3))
    np.testing.assert_array_equal(hypercube(u), np.linalg.norm(u, ord=np.inf, axis=1) <= 0.5)
    np.testing.assert_array_equal(hypercube(u), hypercube(-u))
    assert 0 < hypercube(u).mean() < 1
    faces = np.array([[0.5, 0.1], [-0.5, 0.5], [0.5 + 1e-12, 0.0], [0.0, -0.5 - 1e-12]])
    np.testing.assert_array_equal(hypercube(faces), [1, 1, 0, 0])
    assert hypercube(np.zeros((4, 5, 2))).shape == (4, 5)


@pytest.mark.claims("density-02")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_window_has_volume_h_to_the_d(d):
    h, step = 0.6, 1 / 32
    centre = np.linspace(0.2, -0.1, d)
    along = []
    for j in range(d):  # the points of the axis through the centre that are inside
        t = np.tile(centre, (20_001, 1))
        t[:, j] = np.linspace(-2, 2, 20_001)
        inside = t[hypercube((t - centre) / h) > 0, j]
        along.append(inside.max() - inside.min())
    assert np.prod(along) == pytest.approx(h**d, rel=5e-3)
    axis = np.arange(-1, 1, step) + step / 2
    grid = np.stack(np.meshgrid(*[axis] * d), axis=-1)
    volume = hypercube((grid - centre) / h).sum() * step**d
    assert volume == pytest.approx(h**d, abs=2 * d * step * h ** (d - 1))


@pytest.mark.claims("density-03")
@pytest.mark.parametrize("d", [1, 2, 5])
def test_parzen_estimate_three_ways(d, rng):
    X, x, h, n = rng.normal(size=(60, d)), rng.normal(size=(25, d)), 1.3, 60
    looped = [sum(float(hypercube((at - x_i) / h)) for x_i in X) / (n * h**d) for at in x]
    counts = (np.abs(x[:, None] - X).max(axis=2) <= h / 2).sum(axis=1)
    ours = parzen(x, X, h)
    np.testing.assert_allclose(ours, looped, rtol=1e-13)
    np.testing.assert_allclose(ours, count_density(counts, n, h**d), rtol=1e-13)
    assert (ours >= 0).all() and ours.max() > 0


@pytest.mark.claims("density-03")
def test_parzen_estimate_integrates_to_one_exactly(rng):
    X, h = rng.normal(size=(30, 2)), 0.8
    breaks = [np.sort(np.concatenate([c - h / 2, c + h / 2])) for c in X.T]
    middles, lengths = zip(*[((b[1:] + b[:-1]) / 2, np.diff(b)) for b in breaks], strict=True)
    steps = parzen(middles[0][:, None], X[:, :1], h)
    assert steps @ lengths[0] == pytest.approx(1, abs=1e-12)
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    boxes = parzen(grid, X, h).reshape(59, 59)
    assert lengths[0] @ boxes @ lengths[1] == pytest.approx(1, abs=1e-12)


@pytest.mark.claims("density-04")
@pytest.mark.parametrize("d", [1, 2])
def test_windows_at_the_centres_of_cells_are_the_histogram_and_between_them_not(d, rng):
    X, h = rng.normal(size=(200, d)), 0.5
    axis = h * (np.arange(-8, 8) + 0.5)
    centres = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    bars = histogram_density(centres, X, h)
    np.testing.assert_allclose(parzen(centres, X, h), bars, rtol=0, atol=1e-15)
    assert len(np.unique(bars)) > 5
    off = centres + h / 3
    assert np.abs(parzen(off, X, h) - histogram_density(off, X, h)).max() > 0.05


def test_any_density_will_do_for_a_window(rng):
    X, h = rng.normal(size=(7, 1)), 0.9
    x, w = line(-12, 12)

    def triangle(u):
        return np.maximum(0, 1 - np.abs(u[..., 0]))

    p = parzen(x, X, h, triangle)
    assert w @ p == pytest.approx(1, abs=1e-4)
    centred = (x[:, 0] - w @ (p * x[:, 0])) ** 2
    assert w @ (p * centred) == pytest.approx(X.var() + h**2 / 6, abs=1e-4)


def test_cubes_may_be_too_small_or_too_large_for_a_number():
    X = np.zeros((3, 400))
    at = np.vstack([X[:1], X[:1] + 99])
    for estimate in (histogram_density, parzen):
        np.testing.assert_array_equal(estimate(at, X, 0.1), [np.inf, 0])  # h^d = 1e-400
        np.testing.assert_array_equal(estimate(at, X, 10.0), [0, 0])  # h^d = 1e400


# ---------------------------------------------------------------------------------------
# Balls and distances
# ---------------------------------------------------------------------------------------


def test_balls_have_their_volumes(rng):
    for d in range(1, 9):
        by_the_book = pi ** (d / 2) / gamma(d / 2 + 1) * 1.7**d
        assert ball_volume(1.7, d) == pytest.approx(by_the_book, rel=1e-12)
    u = rng.uniform(-1, 1, size=(40_000, 3))
    share = np.mean((u**2).sum(axis=1) <= 1)
    assert share * 8 == pytest.approx(ball_volume(1.0, 3), abs=5 * 8 * sqrt(0.25 / 40_000))
    assert 0 < ball_volume(1.0, 400) < 1e-100  # Gamma(201) by itself would be inf


@pytest.mark.parametrize("d", [500, 784])
def test_balls_of_many_dimensions_have_their_volumes_too(d, rng):
    """V_d is beyond the range of floating point there, and so is r^d: their product is not."""
    r = sqrt(d / (2 * pi * np.e))
    V = ball_volume(r, d)
    assert log(V) == pytest.approx(d / 2 * log(pi) - lgamma(d / 2 + 1) + d * log(r), abs=1e-10)
    X = r / sqrt(2 * d) * rng.normal(size=(30, d))
    x, k = X[:3], 4
    _, radius = nearest_samples(x, X, k)
    expected = np.log(k / 30) - (log(V) + d * np.log(radius / r))
    np.testing.assert_allclose(np.log(knn_density(x, X, k)), expected, rtol=1e-10)
    joint = knn_joint_density(x, X, np.arange(30) % 2, k)
    np.testing.assert_allclose(joint.sum(axis=1), knn_density(x, X, k), rtol=1e-12)
    far = knn_density(1e3 * x, X, k), knn_joint_density(1e3 * x, X, np.arange(30) % 2, k)
    assert not far[0].any() and not far[1].any()


@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "float32"])
def test_estimates_do_not_depend_on_the_type_that_holds_the_numbers(kind, rng):
    X = rng.integers(-100, 100, size=(30, 64)) + 100 * (kind == "uint8")
    Y = X + rng.integers(-8, 8, size=X.shape).clip(-27, 27)
    X, Y = X.astype(kind) / (3 if kind == "float32" else 1), Y.astype(kind)
    X = X.astype(kind)
    x, S = X.astype(float), Y.astype(float)
    for f in (histogram_density, parzen, kernel_log_density):
        np.testing.assert_array_equal(f(X, Y, 17.0), f(x, S, 17.0))
    np.testing.assert_array_equal(nearest_samples(X, Y, 3)[1], nearest_samples(x, S, 3)[1])


def test_points_and_samples_of_different_dimensions_are_refused():
    x, X = np.zeros((5, 1)), np.zeros((7, 3))
    message = re.escape("points and samples must be (m, d) and (n, d); got (5, 1) and (7, 3)")
    for f in (histogram_density, parzen, kernel_log_density):
        with pytest.raises(ValueError, match=message):
            f(x, X, 1.0)
    with pytest.raises(ValueError, match=message):
        knn_density(x, X, 2)


def test_points_and_samples_that_are_no_numbers_are_refused():
    X, spoilt = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [np.nan], [1.0]])
    estimates = [lambda x, X, f=f: f(x, X, 1.0) for f in (histogram_density, parzen)]
    estimates += [lambda x, X, c=c: kernel_log_density(x, X, 1.0, c) for c in ("tophat", "cosine")]
    for f in (*estimates, lambda x, X: knn_density(x, X, 2)):
        with pytest.raises(ValueError, match="X must be finite; it contains NaN or infinity 1"):
            f(X, spoilt)
        with pytest.raises(ValueError, match="x must hold points; it contains NaN 1 times"):
            f(spoilt, X)
        with pytest.raises(ValueError, match="X has no sample"):
            f(X, X[:0])
        assert f(X[:0], X).shape == (0,)
        assert f(np.array([[np.inf]]), X) in (0, -np.inf)  # a limit: nothing is there
    with pytest.raises(ValueError, match="X must be finite"):
        best_bandwidth(spoilt, [0.01, 1.0, 100.0])


# ---------------------------------------------------------------------------------------
# The Gaussian kernel
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("density-05")
@pytest.mark.parametrize("d", [1, 2, 6])
def test_gaussian_estimate_by_the_book_by_windows_and_as_a_mixture(d, rng):
    X, x, h = rng.normal(size=(40, d)), 2 * rng.normal(size=(15, d)), 0.7
    by_the_book = [
        np.mean(
            [(h * sqrt(2 * pi)) ** -d * np.exp(-sum((at - x_i) ** 2) / (2 * h**2)) for x_i in X]
        )
        for at in x
    ]
    normals = [multivariate_normal_log_density(x, x_i, h**2 * np.eye(d)) for x_i in X]
    ours = kernel_log_density(x, X, h)
    np.testing.assert_allclose(ours, np.log(by_the_book), rtol=1e-12)
    np.testing.assert_allclose(np.exp(ours), np.mean(np.exp(normals), axis=0), rtol=1e-11)
    np.testing.assert_allclose(np.exp(ours), parzen(x, X, h, gaussian_window), rtol=1e-11)


@pytest.mark.claims("density-05")
def test_gaussian_estimate_is_a_density_with_the_samples_mean_and_their_variance_and_more(rng):
    X, h = rng.normal(size=(12, 2)), 0.5
    x, w = line(-9, 9)
    p = w * gaussian_estimate(x, X[:, :1], h)
    assert p.sum() == pytest.approx(1, abs=1e-8)
    assert expectation(p, x) == pytest.approx(X[:, 0].mean(), abs=1e-8)
    assert covariance(p, x) == pytest.approx(X[:, 0].var() + h**2, abs=1e-6)
    x, w = plane(-8, 8)
    p = w * gaussian_estimate(x, X, h)
    assert p.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(expectation(p, x), X.mean(axis=0), rtol=0, atol=1e-5)
    widened = np.cov(X.T, ddof=0) + h**2 * np.eye(2)
    np.testing.assert_allclose(covariance(p, x), widened, rtol=0, atol=1e-4)


@pytest.mark.claims("density-06")
@pytest.mark.parametrize("d", [1, 2])
def test_the_printed_normaliser_leaves_out_a_root_of_pi(d, rng):
    X, h = rng.normal(size=(6, d)), 0.6
    x, w = line(-9, 9) if d == 1 else plane(-8, 8)
    bells = np.exp(-exact_squared_distances(x, X) / (2 * h**2)).mean(axis=1)
    printed, correct = bells / (h * sqrt(2) * pi) ** d, bells / (h * sqrt(2 * pi)) ** d
    assert w @ printed == pytest.approx(pi ** (-d / 2), abs=1e-6)
    assert w @ correct == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(gaussian_estimate(x, X, h), correct, rtol=1e-9)


@pytest.mark.claims("density-07")
@pytest.mark.parametrize("d", [1, 2])
def test_the_printed_window_is_no_density_and_moves_the_estimate(d, rng):
    u_0 = np.array([0.8, -0.3])[:d]

    def printed(u):
        return np.exp(-np.sum((u - u_0) ** 2, axis=-1))

    u, w = line(-9, 9) if d == 1 else plane(-9, 9)
    assert w @ printed(u) == pytest.approx(pi ** (d / 2), abs=1e-6)
    assert w @ gaussian_window(u) == pytest.approx(1, abs=1e-6)
    X, h = rng.normal(size=(5, d)), 0.7
    assert w @ parzen(u, X, h, printed) == pytest.approx(pi ** (d / 2), abs=1e-6)
    shifted = w * parzen(u, X, h, printed) / pi ** (d / 2)
    np.testing.assert_allclose(expectation(shifted, u) - X.mean(axis=0), h * u_0, rtol=0, atol=1e-8)
    centred = w * parzen(u, X, h, gaussian_window)
    np.testing.assert_allclose(expectation(centred, u), X.mean(axis=0), rtol=0, atol=1e-8)


def test_no_point_is_too_far_and_no_dimension_too_high(rng):
    X = np.array([[0.0, 0.0], [3.0, 0.0]])
    far = np.array([[1e6, 0.0], [-4000.0, 3.0]])
    nearest = np.array([(1e6 - 3) ** 2, 4000.0**2 + 9])
    expected = -nearest / (2 * 0.5**2) - log(2) - 2 * log(0.5 * sqrt(2 * pi))
    np.testing.assert_allclose(kernel_log_density(far, X, 0.5), expected, rtol=1e-12)
    assert parzen(far, X, 0.5, gaussian_window).max() == 0  # the naive route has lost them
    d = 2000
    wide = kernel_log_density(np.zeros((1, d)), rng.normal(size=(30, d)), 1.0)
    assert np.isfinite(wide) and wide < -1000
    with np.errstate(over="raise", invalid="raise"):
        assert kernel_log_density(np.array([[1e200, 0.0]]), X, 0.5) == -np.inf


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("end", [1e160, 1e200, np.inf])
def test_a_point_at_the_end_of_the_range_leaves_the_others_alone(kernel, end):
    X = np.array([[1.0], [2.0], [2.5], [5.0]])
    own = kernel_log_density(np.array([[1.5]]), X, 1.0, kernel)
    both = kernel_log_density(np.array([[1.5], [end]]), X, 1.0, kernel)
    np.testing.assert_allclose(both, [own[0], -np.inf], rtol=1e-14, atol=0)


def test_rescaled_samples_have_the_rescaled_density(rng):
    X, x = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    expected = kernel_log_density(x, X, 0.8)
    for scale in (1e-140, 1e-8, 1e8, 1e140):
        ours = kernel_log_density(scale * x, scale * X, 0.8 * scale)
        np.testing.assert_allclose(ours + 3 * log(scale), expected, rtol=0, atol=1e-9)


def test_a_large_mean_costs_no_digits(rng):
    X = rng.normal(size=(50, 3)) + 1e9
    x = X[:9] + 0.01  # what is left of the samples, less their mean, is exact
    for kernel in KERNELS:
        ours = kernel_log_density(x, X, 0.03, kernel)
        near = kernel_log_density(x - 1e9, X - 1e9, 0.03, kernel)
        np.testing.assert_allclose(ours, near, rtol=1e-11)
        assert np.isfinite(ours).all()


@pytest.mark.parametrize("distance", [1e4, 1e5, 1e7])
def test_what_the_matrix_product_would_lose_is_computed_without_it(distance, rng):
    X = rng.normal(size=(40, 3))
    x, alone = X[:10] + 0.1, kernel_log_density(X[:10] + 0.1, X, 0.5)
    apart = np.vstack([X, X + distance])  # the other group is out of reach
    ours = kernel_log_density(x, apart, 0.5)
    np.testing.assert_allclose(ours, alone - log(2), rtol=0, atol=1e-10)
    a, b = x - apart.mean(axis=0), apart - apart.mean(axis=0)
    naive = (a**2).sum(axis=1)[:, None] - 2 * a @ b.T + (b**2).sum(axis=1)
    lossy = np.exp(-naive / (2 * 0.5**2)).sum(axis=1)
    assert np.abs(np.log(lossy / 80) - 3 * log(0.5 * sqrt(2 * pi)) - ours).max() > 1e-9


def test_memory_is_bounded_whatever_the_numbers_of_points_and_samples(rng):
    X, x = rng.normal(size=(20_000, 3)), rng.normal(size=(1_000, 3))
    pairs = 8 * len(x) * len(X)  # bytes of all distances
    for estimate in (
        lambda: kernel_log_density(x, X, 0.5),
        lambda: kernel_log_density(x[:200], X, 0.5, "linear"),
        lambda: parzen(x[:200], X, 0.5),
        lambda: knn_density(x[:200], X, 5),
    ):
        tracemalloc.start()
        estimate()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < pairs / 10


def test_windows_take_a_block_of_memory_in_many_dimensions_too(rng):
    X = rng.normal(size=(1_000, 40))
    tracemalloc.start()
    parzen(X[:300], X, 5.0, gaussian_window)  # 96 MB of differences
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_blocks_are_cut_without_a_seam(rng, monkeypatch):
    X, x, y = rng.normal(size=(30, 2)), rng.normal(size=(23, 2)), rng.integers(3, size=30)
    X[7] = X[3]

    def results():
        yield parzen(x, X, 0.9)
        yield kernel_log_density(x, X, 0.9)
        yield kernel_log_density(x, X, 0.9, "epanechnikov")
        yield leave_one_out(X, 0.9)
        yield knn_density(x, X, 4)
        yield knn_posterior(x, X, y, 4)

    whole = list(results())
    for block in (1, 30 * 5, 30 * 23):  # a row at a time; five; all and one more
        monkeypatch.setattr("mlnotes.density.BLOCK", block)
        for ours, expected in zip(results(), whole, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-12)


# ---------------------------------------------------------------------------------------
# The other kernels
# ---------------------------------------------------------------------------------------


@each_kernel
def test_kernels_are_those_of_the_book(kernel):
    r, one = np.array([[0.0, 0.3, 0.7, 0.999, 1.0, 1.5, 4.0]]).T, np.ones(1)
    K = np.exp(log_kernel_sum(r**2, one, kernel))
    np.testing.assert_allclose(K, KERNEL[kernel](r[:, 0]), rtol=0, atol=1e-15)
    assert log_kernel_sum(np.array([[1e300]]), one, kernel) < -1e3
    np.testing.assert_allclose(np.exp(log_kernel_sum(r.T**2, r[:, 0], kernel)), r[:, 0] @ K)


@each_kernel
@pytest.mark.parametrize("d", [1, 2, 3, 8, 40])
def test_kernels_are_normalised_in_every_dimension(kernel, d):
    """V_d d int r^{d-1} K(r) dr, by quadrature."""
    ends = (0, 1) if KERNELS[kernel].reach == 1 else (0, 40 + 8 * d)
    r, w = gauss_legendre(*ends, pieces=400)
    volume = ball_volume(1.0, d) * d * (w @ (r ** (d - 1) * KERNEL[kernel](r)))
    assert log_kernel_integral(d, kernel) == pytest.approx(log(volume), rel=1e-10, abs=1e-10)


def test_the_cosine_is_normalised_where_nearly_all_of_it_is_at_the_rim():
    d = 300
    r, w = gauss_legendre(0.9, 1, pieces=400)  # below 0.9, r^299 < 1e-13
    volume = log(d * (w @ (r ** (d - 1) * np.cos(pi * r / 2))))
    expected = d / 2 * log(pi) - lgamma(d / 2 + 1) + volume
    assert log_kernel_integral(d, "cosine") == pytest.approx(expected, abs=1e-9)


@each_kernel
def test_estimates_integrate_to_one_and_keep_the_mean(kernel, rng):
    X, h = rng.normal(size=(9, 1)), 0.8
    weights = rng.random(9)
    x, w = line(-30, 30, pieces=3000)
    p = w * np.exp(kernel_log_density(x, X, h, kernel, weights))
    assert p.sum() == pytest.approx(1, abs=1e-3)  # windows have a rim, where quadrature errs
    assert p @ x == pytest.approx(weights @ X / weights.sum(), abs=1e-3)


@each_kernel
def test_estimates_are_means_of_kernels(kernel, rng):
    X, x, h = rng.normal(size=(40, 3)), rng.normal(size=(20, 3)), 1.1
    weights = rng.random(40)
    lengths = np.linalg.norm(x[:, None] - X, axis=2) / h
    K = KERNEL[kernel](lengths) / (h**3 * np.exp(log_kernel_integral(3, kernel)))
    with np.errstate(divide="ignore"):
        equal, weighted = np.log(K.mean(axis=1)), np.log(K @ weights / weights.sum())
    np.testing.assert_allclose(kernel_log_density(x, X, h, kernel), equal, rtol=1e-10)
    ours = kernel_log_density(x, X, h, kernel, weights)
    np.testing.assert_allclose(ours, weighted, rtol=1e-10)


def test_lengths_at_the_rim_of_a_window_are_exact(rng):
    X = np.stack(np.meshgrid(range(9), range(9)), axis=-1).reshape(-1, 2) / 10 + [1e3, -7.0]
    x = np.vstack([X[::5], X.mean(axis=0) + rng.normal(size=(9, 2))])
    exact, confused = exact_squared_distances(x, X), 0
    for h in (0.1, 0.3, sqrt(0.1**2 + 0.1**2), sqrt(exact[3, 8])):
        t = squared_lengths(x, X, h, "tophat")
        np.testing.assert_array_equal(t < 1, exact / h**2 < 1)
        near = np.abs(exact - h**2) < 5e-10 * h**2
        assert near.any()
        np.testing.assert_array_equal(t[near], exact[near] / h**2)
        np.testing.assert_allclose(t, exact / h**2, rtol=1e-12)
        confused += np.sum((squared_distances(x, X) / h**2 < 1) != (exact / h**2 < 1))
    assert confused > 0  # a product alone does not know the rim
    small = squared_lengths(np.array([[1]], dtype=np.uint8), np.array([[21]], dtype=np.uint8), 20.0)
    assert small == 1  # integers do not wrap


def test_many_samples_at_the_rim_take_no_more_than_some_blocks_of_memory(rng):
    X = np.eye(200)[rng.integers(200, size=1000)]  # different ones are at a distance of sqrt(2)
    tracemalloc.start()
    log_p = kernel_log_density(X[:100], X, sqrt(2), "epanechnikov")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isfinite(log_p).all() and peak < 20e6


def test_the_rim_of_a_window_is_outside_and_a_duplicate_is_at_its_tip(rng):
    X = 3.0 * np.stack(np.meshgrid(range(6), range(6)), axis=-1).reshape(-1, 2)
    X[0] = -5.0, 0.0  # the mean, which a product starts from, is no short number
    at = X + [1.0, 0.0]  # at a distance of 1 from one sample, of more from the others
    for kernel in ("tophat", "epanechnikov", "linear", "cosine"):
        assert (kernel_log_density(at, X, 1.0, kernel) == -np.inf).all()
        assert np.isfinite(kernel_log_density(at, X, 1.0 + 1e-9, kernel)).all()
    for h in (3, 5.0, 7):  # also where x / h - x_i / h is less than 1, as for 8, 5 and 3
        for x_i in np.arange(20.0).reshape(-1, 1, 1):
            for kernel in ("tophat", "linear"):
                rim = kernel_log_density(np.vstack([x_i - h, x_i + h]), x_i, h, kernel)
                assert (rim == -np.inf).all()
    assert kernel_log_density(np.array([[0.7]]), np.zeros((1, 1)), 0.7, "tophat") == -np.inf
    assert kernel_log_density(X[:1] + [9.0, 12.0], X[:1], 15.0, "tophat") == -np.inf
    X = rng.normal(size=(200, 3))
    tips = kernel_log_density(X, X, 1e-3, "exponential")  # no sample reaches another
    expected = -log(200) - 3 * log(1e-3) - log_kernel_integral(3, "exponential")
    np.testing.assert_allclose(tips, expected, rtol=1e-12)
    near = kernel_log_density(X, X, 1.0, "exponential")  # here a product would look sharp enough
    K = np.exp(-np.linalg.norm(X[:, None] - X, axis=2)).mean(axis=1)
    by_the_book = np.log(K) - log_kernel_integral(3, "exponential")
    np.testing.assert_allclose(near, by_the_book, rtol=1e-12)


@each_kernel
@pytest.mark.parametrize("d", [1, 2, 5])
def test_draws_of_a_kernel_have_its_lengths_and_no_direction(kernel, d, rng):
    n = 20_000
    u = sample_kernel(n, d, kernel, rng=rng)
    assert u.shape == (n, d)
    length = np.linalg.norm(u, axis=1)
    reach = KERNELS[kernel].reach
    assert length.max() < reach or reach == np.inf
    r, w = gauss_legendre(0, min(reach, 60.0), pieces=600)
    density = w * r ** (d - 1) * KERNEL[kernel](r)
    density /= density.sum()
    below = np.cumsum(density)
    for level in (0.1, 0.4, 0.7, 0.95):
        at = np.searchsorted(below, level)
        assert np.mean(length <= r[at]) == pytest.approx(below[at], abs=2.5 / sqrt(n) + 2e-3)
    spread = sqrt(density @ r**2 / n)
    assert np.abs(u.mean(axis=0)).max() < 5 * spread
    variance = density @ r**2 / d
    tolerance = 5 * variance * sqrt(6 / n)  # the heaviest, in one dimension: E[u^4] = 6 E[u^2]^2
    np.testing.assert_allclose(np.cov(u.T, ddof=0), variance * np.eye(d), rtol=0, atol=tolerance)


@pytest.mark.parametrize("kernel", ["box", None, 3])
def test_an_unknown_kernel_is_refused_by_name(kernel, rng):
    message = f"kernel must be one of 'gaussian', 'tophat', .*; got {kernel!r}"
    with pytest.raises(ValueError, match=message):
        log_kernel_sum(np.zeros((1, 1)), np.ones(1), kernel)
    with pytest.raises(ValueError, match=message):
        sample_kernel(1, 1, kernel, rng=rng)


@pytest.mark.parametrize("h", [0.0, -1.0, np.inf, np.nan, "wide"])
def test_a_bandwidth_that_is_no_width_is_refused(h):
    X = np.zeros((3, 2))
    for f in (histogram_density, parzen, kernel_log_density):
        with pytest.raises(
            ValueError, match=re.escape(f"h must be a finite number > 0; got {h!r}")
        ):
            f(X, X, h)
    with pytest.raises(ValueError, match="h must be a finite number > 0"):
        leave_one_out(X, h)
    with pytest.raises(ValueError, match="h must be a finite number > 0"):
        kernel_mixture(X[:, :1], h)


# ---------------------------------------------------------------------------------------
# How far from the truth
# ---------------------------------------------------------------------------------------


def density_of(p, x):
    return sum(w * np.exp(normal_log_density(x, mu, s2)) for w, mu, s2 in zip(*p, strict=True))


def random_mixture(rng, k):
    weights = rng.random(k)
    return NormalMixture(weights / weights.sum(), rng.normal(size=k), rng.uniform(0.1, 2, size=k))


def test_integrals_of_products_by_quadrature(rng):
    p, q = random_mixture(rng, 3), random_mixture(rng, 2)
    x, w = gauss_legendre(-20, 20, pieces=400)
    by_quadrature = w @ (density_of(p, x) * density_of(q, x))
    assert inner_product(p, q) == pytest.approx(by_quadrature, rel=1e-12)
    assert inner_product(q, p) == pytest.approx(by_quadrature, rel=1e-12)
    error = w @ (density_of(p, x) - density_of(q, x)) ** 2
    assert integrated_squared_error(p, q) == pytest.approx(error, rel=1e-10)
    assert integrated_squared_error(p, p) == pytest.approx(0, abs=1e-14)


def test_a_squared_error_is_never_negative(rng):
    for _ in range(50):
        X = rng.normal(size=(6, 1))
        p, q = kernel_mixture(X, 0.5), kernel_mixture(X + 1e-9, 0.5)
        assert 0 <= integrated_squared_error(p, q) < 1e-14


def test_an_estimate_is_a_mixture_of_normals(rng):
    X, h, x = rng.normal(size=(20, 1)), 0.4, np.linspace(-3, 3, 50)
    p = kernel_mixture(X, h)
    np.testing.assert_allclose(density_of(p, x), gaussian_estimate(x[:, None], X, h), rtol=1e-10)
    with pytest.raises(ValueError, match=re.escape("X must have one column; got shape (4, 2)")):
        kernel_mixture(np.zeros((4, 2)), h)


@pytest.mark.parametrize("h, n", [(0.2, 15), (0.5, 60), (1.4, 15)])
def test_mean_error_is_squared_bias_and_variance_by_quadrature(h, n):
    """E p(x) = N(x; 0, 1 + h^2); E of the squared kernel is a normal density too."""
    x, w = gauss_legendre(-15, 15, pieces=300)
    mean = np.exp(normal_log_density(x, 0.0, 1 + h**2))
    squared = np.exp(normal_log_density(x, 0.0, 1 + h**2 / 2)) / (2 * h * sqrt(pi))
    bias = mean - np.exp(normal_log_density(x, 0.0, 1.0))
    variance = (squared - mean**2) / n
    assert normal_mise(h, n) == pytest.approx(w @ (bias**2 + variance), rel=1e-10)


def test_errors_of_samples_average_to_the_mean_error(rng):
    n, h, truth = 30, 0.6, NormalMixture(np.ones(1), np.zeros(1), np.ones(1))
    errors = [
        integrated_squared_error(kernel_mixture(rng.standard_normal((n, 1)), h), truth)
        for _ in range(300)
    ]
    assert abs(np.mean(errors) - normal_mise(h, n)) <= 5 * np.std(errors) / sqrt(300)


# ---------------------------------------------------------------------------------------
# Choosing the bandwidth
# ---------------------------------------------------------------------------------------


def test_silvermans_rule_is_the_best_bandwidth_for_normal_samples_as_they_grow_in_number():
    ratios = []
    for n in (10**2, 10**4, 10**6, 10**8):
        h = silverman(n, 1) * np.linspace(0.9, 1.3, 40_001)
        ratios.append(h[np.argmin(normal_mise(h, n))] / silverman(n, 1))
    assert (np.diff(np.abs(np.subtract(ratios, 1))) < 0).all()
    assert ratios[-1] == pytest.approx(1, abs=2e-3)
    for n, d in ((50, 1), (300, 4)):
        assert scott(n, d) == pytest.approx(n ** (-1 / (d + 4)))
        assert silverman(n, d) / scott(n, d) == pytest.approx((4 / (d + 2)) ** (1 / (d + 4)))


@each_kernel
def test_leaving_one_out_is_estimating_from_the_others(kernel, rng):
    X, h = rng.normal(size=(25, 2)), 1.2
    others = [kernel_log_density(X[[i]], np.delete(X, i, axis=0), h, kernel) for i in range(25)]
    np.testing.assert_allclose(leave_one_out(X, h, kernel), np.concatenate(others), rtol=1e-9)


def test_the_sample_itself_must_be_left_out(rng):
    X = rng.standard_normal((80, 1))
    bandwidths = np.geomspace(1e-3, 10, 60)
    within = [kernel_log_density(X, X, h).sum() for h in bandwidths]
    assert np.argmax(within) == 0  # a spike at every sample
    h = best_bandwidth(X, bandwidths)
    best = bandwidths[np.argmin(normal_mise(bandwidths, 80))]
    assert best / 2 < h < 2 * best
    assert h in bandwidths
    assert leave_one_out(X, h).sum() == max(leave_one_out(X, g).sum() for g in bandwidths)


def test_duplicates_of_all_samples_ask_for_no_bandwidth_at_all(rng):
    X = np.repeat(rng.standard_normal((10, 1)), 2, axis=0)
    bandwidths = np.geomspace(1e-6, 1, 20)
    assert best_bandwidth(X, bandwidths) == bandwidths[0]
    assert np.diff([leave_one_out(X, h).sum() for h in bandwidths]).max() < 0
    assert best_bandwidth(X[:-1], bandwidths) > 1e-3  # one sample alone forbids it


def test_bandwidths_that_do_not_reach_are_refused():
    X = np.array([[0.0], [1.0], [5.0]])
    with pytest.raises(ValueError, match="a bandwidth must reach every sample from another"):
        best_bandwidth(X, [0.5, 2.0], "tophat")
    with pytest.raises(ValueError, match=re.escape("every sample from another; got []")):
        best_bandwidth(X, [])
    assert best_bandwidth(X, [0.5, 4.5, 50.0], "tophat") == 4.5
    with pytest.raises(ValueError, match="to leave one out takes at least 2 samples; got 1"):
        leave_one_out(X[:1], 1.0)


# ---------------------------------------------------------------------------------------
# Nearest neighbours
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("density-09")
@pytest.mark.parametrize("d", [1, 2, 4])
def test_neighbour_density_three_ways(d, rng):
    X, x, n, k = rng.normal(size=(50, d)), 2 * rng.normal(size=(20, d)), 50, 7
    radius = [sorted(sqrt(sum((at - x_i) ** 2)) for x_i in X)[k - 1] for at in x]
    V = [pi ** (d / 2) / gamma(d / 2 + 1) * r**d for r in radius]
    np.testing.assert_allclose(knn_density(x, X, k), k / (n * np.array(V)), rtol=1e-10)
    index, r = nearest_samples(x, X, k)
    np.testing.assert_allclose(r, radius, rtol=1e-13)
    for at, found, own in zip(x, index, r, strict=True):
        inside = np.flatnonzero(np.linalg.norm(X - at, axis=1) <= own * (1 + 1e-12))
        np.testing.assert_array_equal(found, inside)  # exactly k of them, in rising order


@pytest.mark.claims("density-09")
def test_an_interval_that_grows_until_it_holds_k_samples(rng):
    X, x, k, step = rng.normal(size=(30, 1)), rng.normal(size=(6, 1)), 4, 1e-4
    for at in x:
        half = 0.0
        while np.sum(np.abs(X - at) <= half) < k:
            half += step
        assert knn_density(at[None], X, k).item() == pytest.approx(k / (30 * 2 * half), rel=5e-3)


def test_ties_at_the_rim_are_settled_by_the_order_of_the_samples():
    X = np.array([[2.0], [-2.0], [1.0], [2.0], [-1.0]])
    index, r = nearest_samples(np.zeros((1, 1)), X, 3)
    assert index.tolist() == [[0, 2, 4]] and r == 2
    index, _ = nearest_samples(np.zeros((1, 1)), X[::-1], 4)
    assert index.tolist() == [[0, 1, 2, 3]]
    index, r = nearest_samples(np.zeros((1, 1)), np.zeros((4, 1)), 2)
    assert index.tolist() == [[0, 1]] and r == 0


def test_all_samples_may_be_the_neighbours():
    X = np.array([[0.0], [4.0], [1.0]])
    index, r = nearest_samples(np.array([[1.0]]), X, 3)
    assert index.tolist() == [[0, 1, 2]] and r == 3
    assert knn_density(np.array([[1.0]]), X, 3) == pytest.approx(1 / 6)


def test_density_at_k_coinciding_samples_is_infinite():
    X, y = np.array([[1.0], [1.0], [2.0]]), np.array(["a", "a", "b"])
    at = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(knn_density(at, X, 2), [np.inf, 2 / (3 * 2 * 1.0)])
    joint = knn_joint_density(at, X, y, 2)
    np.testing.assert_array_equal(joint[0], [np.inf, 0.0])
    np.testing.assert_array_equal(knn_posterior(at, X, y, 2), [[1, 0], [0.5, 0.5]])


@pytest.mark.claims("density-10")
@pytest.mark.parametrize("k", [1, 4])
def test_the_integral_of_the_neighbour_density_grows_like_a_logarithm(k, rng):
    n = 20
    X = np.sort(rng.normal(size=(n, 1)), axis=0)
    a, kth = X[-1, 0] + 1, X[n - k, 0]
    decades = a + 10.0 ** np.arange(2, 7)
    integrals = []
    for L in decades:
        s, w = gauss_legendre(0, log((L - kth) / (a - kth)), pieces=40)  # x - kth = e^s (a - kth)
        x = kth + (a - kth) * np.exp(s)
        p = knn_density(x[:, None], X, k)
        np.testing.assert_allclose(p, k / (2 * n * (x - kth)), rtol=1e-12)
        integrals.append(w @ (p * (x - kth)))
        assert integrals[-1] == pytest.approx(k / (2 * n) * log((L - kth) / (a - kth)), abs=1e-6)
    np.testing.assert_allclose(np.diff(integrals)[1:], k / (2 * n) * log(10), rtol=1e-2)
    x, w = line(-40, 40, pieces=600)
    assert w @ gaussian_estimate(x, X, 0.5) == pytest.approx(1, abs=1e-6)
    assert gaussian_estimate(decades[:1, None], X, 0.5) == 0


@pytest.mark.claims("density-11")
def test_joint_densities_sum_to_the_density_and_divide_to_the_posterior(rng):
    X, x, k = rng.normal(size=(60, 2)), rng.normal(size=(25, 2)), 9
    y = rng.choice(["ash", "birch", "cedar"], size=60, p=[0.6, 0.3, 0.1])
    counts, joint = class_counts(x, X, y, k), knn_joint_density(x, X, y, k)
    posterior = knn_posterior(x, X, y, k)
    nearest = np.argsort(np.linalg.norm(x[:, None] - X, axis=2), axis=1)[:, :k]
    for i, name in enumerate(["ash", "birch", "cedar"]):
        np.testing.assert_array_equal(counts[:, i], (y[nearest] == name).sum(axis=1))
        np.testing.assert_allclose(posterior[:, i], (y[nearest] == name).mean(axis=1), rtol=1e-13)
    np.testing.assert_allclose(joint.sum(axis=1), knn_density(x, X, k), rtol=1e-12)
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-14)
    by_bayes = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior, by_bayes, rtol=1e-12)
    _, r = nearest_samples(x, X, k)
    for V in (pi * r**2, (2 * r) ** 2, 7 * r):  # ball, cube, nonsense: it cancels
        of_V = counts / (60 * V[:, None])
        np.testing.assert_allclose(of_V / of_V.sum(axis=1, keepdims=True), posterior, rtol=1e-12)


def test_number_of_neighbours_and_of_labels_must_fit():
    X = np.zeros((3, 1))
    for k in (0, 4, 1.5, np.nan):
        with pytest.raises(
            ValueError, match=f"k must be an integer between 1 and the 3 samples; got {k}"
        ):
            nearest_samples(X, X, k)
    with pytest.raises(
        ValueError, match=re.escape("y must have shape (3,), a label a sample; got (2,)")
    ):
        class_counts(X, X, np.zeros(2), 1)
    with pytest.raises(ValueError, match=re.escape("y must have shape (3,), a label a sample")):
        class_counts(X, X, np.zeros((3, 1)), 3)  # a column would be spread over the points


# ---------------------------------------------------------------------------------------
# Estimator
# ---------------------------------------------------------------------------------------


@each_kernel
def test_estimator_is_the_function_and_its_score_their_sum(kernel, rng):
    X, x, weights = rng.normal(size=(30, 2)), rng.normal(size=(10, 2)), rng.random(30)
    model = KernelDensity(bandwidth=2.5, kernel=kernel).fit(X, sample_weight=weights)
    expected = kernel_log_density(x, X, 2.5, kernel, weights)
    np.testing.assert_allclose(model.score_samples(x), expected, rtol=1e-12)
    assert model.score(x) == pytest.approx(expected.sum(), rel=1e-12)
    assert model.weights_.sum() == pytest.approx(1)
    whole = rng.integers(0, 4, size=30)
    repeated = KernelDensity(bandwidth=2.5, kernel=kernel).fit(np.repeat(X, whole, axis=0))
    model.fit(X, sample_weight=whole)
    np.testing.assert_allclose(model.score_samples(x), repeated.score_samples(x), rtol=1e-12)


def test_bandwidth_is_a_number_or_a_rule(rng):
    X = rng.normal(size=(40, 3))
    for bandwidth, value in ((0.7, 0.7), ("scott", scott(40, 3)), ("silverman", silverman(40, 3))):
        assert KernelDensity(bandwidth=bandwidth).fit(X).bandwidth_ == value
    for bad in (0, -1.0, np.nan, np.inf, "wide", None):
        message = f"bandwidth must be a finite number > 0, 'scott' or 'silverman'; got {bad!r}"
        with pytest.raises(ValueError, match=re.escape(message)):
            KernelDensity(bandwidth=bad).fit(X)


def test_the_model_does_not_change_with_the_array_it_was_fitted_to(rng):
    X = rng.normal(size=(20, 2))
    model = KernelDensity().fit(X)
    before = model.score_samples(X[:3].copy())
    at = X[:3].copy()
    X *= 7
    np.testing.assert_array_equal(model.score_samples(at), before)


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "cosine"])
def test_samples_of_the_estimate_have_its_mean_and_covariance(kernel, rng):
    X, weights, n = rng.normal(size=(25, 2)) * [1, 4], rng.random(25), 20_000
    model = KernelDensity(bandwidth=0.9, kernel=kernel).fit(X, sample_weight=weights)
    drawn = model.sample(n, random_state=3)
    np.testing.assert_array_equal(drawn, model.sample(n, random_state=3))
    assert drawn.shape == (n, 2)
    of_kernel = np.cov(sample_kernel(n, 2, kernel, rng=rng).T, ddof=0)
    share = weights / weights.sum()
    Sigma = covariance(share, X) + 0.9**2 * of_kernel
    spread = np.sqrt(np.diag(Sigma))
    assert (np.abs(drawn.mean(axis=0) - expectation(share, X)) <= 5 * spread / sqrt(n)).all()
    np.testing.assert_allclose(
        np.cov(drawn.T, ddof=0), Sigma, rtol=0, atol=5 * sqrt(3 / n) * spread.max() ** 2
    )


def test_sampling_asks_for_a_fitted_model_and_a_number():
    with pytest.raises(ValueError, match="This KernelDensity is not fitted yet"):
        KernelDensity().sample()
    model = KernelDensity(bandwidth=1e-9).fit([[3.0, 4.0]])
    np.testing.assert_allclose(model.sample(random_state=0), [[3.0, 4.0]], rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1; got 0"):
        model.sample(0)
    with pytest.raises(ValueError, match="random_state must be None, an int or a numpy Generator"):
        model.sample(random_state="seed")


def test_one_sample_a_constant_feature_and_more_features_than_samples(rng):
    one = KernelDensity(bandwidth=2.0).fit([[5.0, 1.0]])
    expected = multivariate_normal_log_density(
        np.zeros((1, 2)), np.array([5.0, 1.0]), 4 * np.eye(2)
    )
    np.testing.assert_allclose(one.score_samples([[0.0, 0.0]]), expected, rtol=1e-12)
    X = np.column_stack([rng.normal(size=8), np.full(8, 1e6)])
    flat = KernelDensity().fit(X).score_samples(X)
    alone = KernelDensity().fit(X[:, :1]).score_samples(X[:, :1])
    np.testing.assert_allclose(flat, alone - log(sqrt(2 * pi)), rtol=1e-12)
    wide = rng.normal(size=(3, 50))
    assert np.isfinite(KernelDensity().fit(wide).score(wide))


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("density-08")
def test_windows_drawn_are_densities_and_the_box_jumps_where_the_gaussian_does_not():
    from figures.density import BOX, CHOSEN, lecture_sample, parzen_windows

    axes = Figure().subplots(2, 3).ravel()
    parzen_windows(*axes)
    X, n = lecture_sample(), len(lecture_sample())
    for ax, h in zip(axes[:3], CHOSEN.values(), strict=True):
        x, p = ax.lines[0].get_data()
        assert np.sum(np.diff(x) * p[:-1]) == pytest.approx(1, abs=1e-3)
        jumps = np.abs(np.diff(p))
        assert jumps[jumps > 1e-12].min() >= (1 - 1e-9) / (n * BOX * h)
        assert len(jumps[jumps > 1e-12]) >= 2 * n - 5
        (bars,) = ax.patches
        heights, edges, _ = bars.get_data()
        assert heights @ np.diff(edges) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(heights, np.histogram(X, edges, density=True)[0])
    for ax, h in zip(axes[3:], CHOSEN.values(), strict=True):
        x, p = ax.lines[0].get_data()
        assert np.diff(x) @ (p[:-1] + p[1:]) / 2 == pytest.approx(1, abs=1e-3)
        np.testing.assert_allclose(p, gaussian_estimate(x[:, None], X, h))
        finer = gaussian_estimate(np.linspace(-8, 8, 16 * len(x))[:, None], X, h)
        assert np.abs(np.diff(finer)).max() < np.abs(np.diff(p)).max() / 10
    truth = axes[4].lines[1].get_ydata()
    error = [np.sum((ax.lines[0].get_ydata() - truth) ** 2) for ax in axes[3:]]
    assert min(error) == error[1]


@pytest.mark.claims("density-08")
def test_the_middle_bandwidth_drawn_has_the_smallest_mean_error():
    from figures.density import BEST, CHOSEN, N, choosing_the_bandwidth

    tiny = 1e-3
    assert CHOSEN["the best"] == BEST
    around = [normal_mise(h, N) for h in (BEST * (1 - 0.02), BEST, BEST * (1 + 0.02))]
    assert min(around) == around[1]
    assert CHOSEN["too small"] < BEST - tiny < BEST + tiny < CHOSEN["too large"]
    left, right = Figure().subplots(1, 2)
    choosing_the_bandwidth(left, right)
    for curve, mark, n in zip(left.lines[::2], left.lines[1::2], (20, 200, 2000), strict=True):
        h, error = curve.get_data()
        np.testing.assert_allclose(error, normal_mise(h, n))
        assert mark.get_xdata() == h[error.argmin()] and mark.get_ydata() == error.min()
    without, within, mark, _ = right.lines
    assert mark.get_ydata() == pytest.approx(without.get_ydata().max())
    assert within.get_ydata().argmax() == 0 < without.get_ydata().argmax()


@pytest.mark.claims("density-12")
def test_balls_drawn_hold_k_samples_and_shares_are_whole_numbers_of_them():
    from figures.density import QUERIES, K, growing_balls, two_classes

    axes = Figure().subplots(1, 3)
    growing_balls(*axes)
    left, middle, right = axes
    T = two_classes()
    first = np.unique(T.y)[0]
    rims = [line.get_xydata() for line in left.lines if len(line.get_xdata()) == 121]
    assert len(rims) == len(QUERIES) == len(left.texts)
    for query, rim, text in zip(QUERIES, rims, left.texts, strict=True):
        radii = np.linalg.norm(rim - query, axis=1)
        r = radii[0]
        np.testing.assert_allclose(radii, r, rtol=1e-12)
        inside = np.linalg.norm(T.X - query, axis=1) <= r * (1 + 1e-12)
        assert inside.sum() == K
        assert text.get_text() == f"{np.sum(T.y[inside] == first)}/{K}"
    assert len({text.get_text() for text in left.texts}) >= 3
    share = right.images[0].get_array()
    np.testing.assert_allclose(np.unique(share), np.arange(K + 1) / K)
    low, high, bottom, top = middle.images[0].get_extent()
    log_p = middle.images[0].get_array()
    rows, columns = log_p.shape
    x = np.linspace(low, high, columns)[[10, 90]]
    at = np.column_stack([x, np.linspace(bottom, top, rows)[[50, 120]]])
    r = np.sort(np.linalg.norm(at[:, None] - T.X, axis=2), axis=1)[:, K - 1]
    expected = np.log(K / (len(T) * pi * r**2))
    np.testing.assert_allclose(log_p[[50, 120], [10, 90]], expected, rtol=1e-10)
