"""The density chapter: every statement of the notes, checked by a second route."""

import tracemalloc
from math import gamma, lgamma, log, pi, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.density import (
    WINDOWS,
    KernelDensity,
    NormalMixture,
    ball_volume,
    best_bandwidth,
    class_counts,
    count_density,
    exact_squared_distances,
    gaussian_window,
    histogram_density,
    hypercube,
    kernel_log_density,
    knn_density,
    knn_posterior,
    leave_one_out,
    mixture_inner_product,
    nearest_samples,
    normal_mise,
    parzen,
    relative_deviation,
    sample_kernel,
    scott,
    silverman,
    window_log_density,
)
from mlnotes.numerics import squared_distances
from mlnotes.probability import (
    binomial_log_pmf,
    covariance,
    expectation,
    gauss_legendre,
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
each_kernel = pytest.mark.parametrize("kernel", WINDOWS)


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


# --- From counts to densities ----------------------------------------------------------


@pytest.mark.claims("density-01")
def test_count_density_has_a_binomial_count_with_the_integral_of_the_density(rng):
    n, k, runs = 17, np.arange(18), 20_000
    x, w = line(0.3, 0.5, pieces=4)
    P = w @ np.exp(normal_log_density(x[:, 0], 0.0, 1.0))
    assert P == pytest.approx(float(normal_cdf(0.5, 0, 1) - normal_cdf(0.3, 0, 1)), abs=1e-10)
    pmf = np.exp(binomial_log_pmf(k, n, P))
    assert pmf @ count_density(k, n, 0.2) == pytest.approx(P / 0.2, abs=1e-12)
    grid = np.linspace(0.001, 0.999, 999)
    for count in (3, 16):  # the likelihood is largest at the probability p V of the estimate
        likeliest = grid[np.argmax(binomial_log_pmf(count, n, grid))]
        assert likeliest == pytest.approx(count_density(count, n, 0.2) * 0.2, abs=1e-3)
    X = rng.standard_normal((runs, n))
    share = np.bincount(((X > 0.3) & (X < 0.5)).sum(axis=1), minlength=n + 1) / runs
    assert (np.abs(share - pmf) <= 5 * np.sqrt(pmf * (1 - pmf) / runs) + 1e-4).all()


@pytest.mark.claims("density-01")
@pytest.mark.parametrize("x", [0.0, 0.5])
def test_count_density_has_a_bias_that_falls_with_the_squared_volume(x):
    """P/V - p(x) = V^2 p''(x) / 24 + O(V^4): halving V divides the remainder by 16."""
    p, away = np.exp(normal_log_density(x, 0.0, 1.0)), []
    for V in (0.4, 0.2, 0.1):
        t, w = line(x - V / 2, x + V / 2, pieces=2)
        P = w @ np.exp(normal_log_density(t[:, 0], 0.0, 1.0))
        away.append((count_density(P, 1, V) - p) / (V**2 * (x**2 - 1) * p / 24) - 1)
    assert away[-1] == pytest.approx(0, abs=2e-3)
    np.testing.assert_allclose(np.divide(away[:-1], away[1:]), 4, rtol=0.05)


@pytest.mark.claims("density-14")
def test_relative_deviation_needs_a_number_of_samples_that_is_a_power_of_the_dimension():
    m, q, fixed, dimensions = 10, 25, 2_500, range(1, 7)
    enough = [relative_deviation(q * m**d, m**-d) for d in dimensions]
    kept = [relative_deviation(fixed, m**-d) for d in dimensions]
    np.testing.assert_allclose(enough, 1 / sqrt(q), rtol=0.06)
    np.testing.assert_allclose(np.divide(kept[1:], kept[:-1]), sqrt(m), rtol=0.06)
    assert kept[0] < 0.1 and kept[-1] > 19  # in six dimensions it is noise
    k = np.arange(251)
    pmf = np.exp(binomial_log_pmf(k, 250, 0.1))
    deviation = sqrt(pmf @ (k - pmf @ k) ** 2)
    assert relative_deviation(250, 0.1) == pytest.approx(deviation / (pmf @ k), rel=1e-9)


# --- The histogram ---------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3])
def test_histogram_density_is_numpys(d, rng):
    X, x = rng.normal(size=(80, d)), 2 * rng.normal(size=(50, d))
    h, origin = 0.7, np.linspace(0.1, 0.3, d)
    edges = [o + h * np.arange(-20, 21) for o in origin]
    heights, _ = np.histogramdd(X, edges, density=True)
    cells = tuple(np.searchsorted(edges[j], x[:, j], side="right") - 1 for j in range(d))
    ours = histogram_density(x, X, h, origin)
    np.testing.assert_allclose(ours, heights[cells], rtol=0, atol=1e-14)
    assert (ours > 0).any() and (ours == 0).any()


def test_histogram_density_has_half_open_cells_and_depends_on_its_origin():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    at = np.array([[0.0], [0.999], [1.0], [2.0], [-0.001]])
    np.testing.assert_array_equal(histogram_density(at, X, 1.0), [0.25, 0.25, 0.5, 0.25, 0.0])
    shifted = histogram_density(at, X, 1.0, origin=0.5)
    np.testing.assert_array_equal(shifted, [0.25, 0.5, 0.5, 0.25, 0.25])


# --- Parzen windows --------------------------------------------------------------------


@pytest.mark.claims("density-02")
@pytest.mark.parametrize("d", [1, 3])
def test_hypercube_is_the_closed_cube_of_volume_h_to_the_d(d, rng):
    u = rng.uniform(-1, 1, size=(500, d))
    np.testing.assert_array_equal(hypercube(u), np.linalg.norm(u, ord=np.inf, axis=1) <= 0.5)
    faces = 0.5 * np.eye(d)[:1] * [[1], [-1], [1 + 1e-12], [-1 - 1e-12]]
    np.testing.assert_array_equal(hypercube(faces), [1, 1, 0, 0])
    assert hypercube(np.full((1, d), -128, dtype=np.int8)) == 0  # of which abs would be -128
    h, step, centre = 0.6, 1 / 32, np.linspace(0.2, -0.1, d)
    axis = np.arange(-1, 1, step) + step / 2
    grid = np.stack(np.meshgrid(*[axis] * d), axis=-1)
    volume = hypercube((grid - centre) / h).sum() * step**d
    assert volume == pytest.approx(h**d, abs=2 * d * step * h ** (d - 1))


@pytest.mark.claims("density-03")
@pytest.mark.parametrize("d", [1, 4])
def test_parzen_is_a_sum_over_windows_and_a_count(d, rng):
    X, x, h, n = rng.normal(size=(60, d)), rng.normal(size=(25, d)), 1.3, 60
    looped = [sum(float(hypercube((at - x_i) / h)) for x_i in X) / (n * h**d) for at in x]
    counts = (np.abs(x[:, None] - X).max(axis=2) <= h / 2).sum(axis=1)
    ours = parzen(x, X, h)
    np.testing.assert_allclose(ours, looped, rtol=1e-13)
    np.testing.assert_allclose(ours, count_density(counts, n, h**d), rtol=1e-13)
    assert ours.max() > 0


@pytest.mark.claims("density-03")
def test_parzen_integrates_to_one_exactly(rng):
    X, h = rng.normal(size=(30, 2)), 0.8
    breaks = [np.sort(np.concatenate([c - h / 2, c + h / 2])) for c in X.T]
    middles, lengths = zip(*[((b[1:] + b[:-1]) / 2, np.diff(b)) for b in breaks], strict=True)
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    boxes = parzen(grid, X, h).reshape(59, 59)
    assert lengths[0] @ boxes @ lengths[1] == pytest.approx(1, abs=1e-12)


@pytest.mark.claims("density-04")
@pytest.mark.parametrize("d", [1, 2])
def test_parzen_is_the_histogram_at_the_centres_of_cells_only(d, rng):
    X, h = rng.normal(size=(200, d)), 0.5
    axis = h * (np.arange(-8, 8) + 0.5)
    centres = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
    bars = histogram_density(centres, X, h)
    np.testing.assert_allclose(parzen(centres, X, h), bars, rtol=0, atol=1e-15)
    assert len(np.unique(bars)) > 5
    off = centres + h / 3
    assert np.abs(parzen(off, X, h) - histogram_density(off, X, h)).max() > 0.05


@pytest.mark.claims("density-07")
@pytest.mark.parametrize("d", [1, 2])
def test_gaussian_window_keeps_the_mean_and_the_printed_one_is_no_density_and_moves_it(d, rng):
    u_0 = np.array([0.8, -0.3])[:d]

    def printed(u):
        return np.exp(-np.sum((u - u_0) ** 2, axis=-1))

    u, w = line(-9, 9) if d == 1 else plane(-9, 9)
    assert w @ printed(u) == pytest.approx(pi ** (d / 2), abs=1e-6)
    assert w @ gaussian_window(u) == pytest.approx(1, abs=1e-6)
    pairs = np.stack([u[:9]] * 4)  # with any axes before the last
    np.testing.assert_array_equal(gaussian_window(pairs), [gaussian_window(u[:9])] * 4)
    X, h = rng.normal(size=(5, d)), 0.7
    shifted = w * parzen(u, X, h, printed) / pi ** (d / 2)
    assert shifted.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(expectation(shifted, u) - X.mean(axis=0), h * u_0, rtol=0, atol=1e-8)
    centred = w * parzen(u, X, h, gaussian_window)
    np.testing.assert_allclose(expectation(centred, u), X.mean(axis=0), rtol=0, atol=1e-8)


# --- Balls -----------------------------------------------------------------------------


def test_ball_volume_is_the_closed_form_and_in_range_where_its_factors_are_not():
    for d in (1, 2, 3, 8):
        by_the_book = pi ** (d / 2) / gamma(d / 2 + 1) * 1.7**d
        assert ball_volume(1.7, d) == pytest.approx(by_the_book, rel=1e-12)
    d, r = 784, 7.0  # V_d is 0 in floating point, and r^d is inf
    log_V = d / 2 * log(pi) - lgamma(d / 2 + 1) + d * log(r)
    assert log(ball_volume(r, d)) == pytest.approx(log_V, abs=1e-10)


# --- Round windows ---------------------------------------------------------------------


@each_kernel
def test_windows_are_those_of_the_book_and_their_integrals_in_every_dimension(kernel):
    r = np.array([[0.0, 0.3, 0.7, 0.999, 1.0, 1.5, 4.0]]).T
    K = np.exp(WINDOWS[kernel].log_sum(r**2))
    np.testing.assert_allclose(K, KERNEL[kernel](r[:, 0]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.exp(WINDOWS[kernel].log_sum(r.T**2)), K.sum(), rtol=1e-13)
    assert ((K == 0) == (r[:, 0] >= WINDOWS[kernel].reach)).all()
    for d in (1, 2, 40):
        r, w = gauss_legendre(0, 1 if WINDOWS[kernel].reach == 1 else 40 + 8 * d, pieces=400)
        volume = ball_volume(1.0, d) * d * (w @ (r ** (d - 1) * KERNEL[kernel](r)))
        assert WINDOWS[kernel].log_integral(d) == pytest.approx(log(volume), rel=1e-10, abs=1e-10)


@each_kernel
@pytest.mark.parametrize("d", [1, 5])
def test_sample_kernel_has_the_lengths_of_the_window_and_no_direction(kernel, d, rng):
    n = 20_000
    u = sample_kernel(n, d, kernel, rng=rng)
    length, reach = np.linalg.norm(u, axis=1), WINDOWS[kernel].reach
    assert u.shape == (n, d) and length.max() < reach
    r, w = gauss_legendre(0, min(reach, 60.0), pieces=600)
    p = w * r ** (d - 1) * KERNEL[kernel](r)
    p /= p.sum()
    below = np.cumsum(p)
    for level in (0.1, 0.4, 0.7, 0.95):
        at = np.searchsorted(below, level)
        assert np.mean(length <= r[at]) == pytest.approx(below[at], abs=2.5 / sqrt(n) + 2e-3)
    variance = p @ r**2 / d
    assert np.abs(u.mean(axis=0)).max() < 5 * sqrt(variance * d / n)
    tolerance = 5 * variance * sqrt(6 / n)  # the heaviest, in one dimension: E[u^4] = 6 E[u^2]^2
    np.testing.assert_allclose(np.cov(u.T, ddof=0), variance * np.eye(d), rtol=0, atol=tolerance)


# --- The kernel estimate ---------------------------------------------------------------


@pytest.mark.claims("density-05")
@pytest.mark.parametrize("d", [1, 6])
def test_kernel_log_density_by_the_book_and_by_windows(d, rng):
    X, x, h = rng.normal(size=(40, d)), 2 * rng.normal(size=(15, d)), 0.7
    factor = (h * sqrt(2 * pi)) ** -d
    by_the_book = [
        np.mean([factor * np.exp(-sum((at - x_i) ** 2) / (2 * h**2)) for x_i in X]) for at in x
    ]
    ours = kernel_log_density(x, X, h)
    np.testing.assert_allclose(ours, np.log(by_the_book), rtol=1e-12)
    np.testing.assert_allclose(np.exp(ours), parzen(x, X, h, gaussian_window), rtol=1e-11)


@pytest.mark.claims("density-05", "density-06")
@pytest.mark.parametrize("d", [1, 2])
def test_kernel_log_density_is_a_density_with_its_moments_and_the_printed_one_is_none(d, rng):
    X, h = rng.normal(size=(6, d)), 0.6
    x, w = line(-9, 9) if d == 1 else plane(-8, 8)
    p = w * gaussian_estimate(x, X, h)
    assert p.sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(expectation(p, x), X.mean(axis=0), rtol=0, atol=1e-5)
    widened = np.cov(X.T, ddof=0) + h**2 * np.eye(d)
    np.testing.assert_allclose(covariance(p, x), widened, rtol=0, atol=1e-4)
    bells = w * np.exp(-exact_squared_distances(x, X) / (2 * h**2)).mean(axis=1)
    printed = bells / (h * sqrt(2) * pi) ** d
    assert printed.sum() == pytest.approx(pi ** (-d / 2), abs=1e-6)


def test_kernel_log_density_knows_points_that_are_too_far_for_the_density(rng):
    X, far = np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[1e6, 0.0], [-4000.0, 3.0]])
    nearest = np.array([(1e6 - 3) ** 2, 4000.0**2 + 9])
    expected = -nearest / (2 * 0.5**2) - log(2) - 2 * log(0.5 * sqrt(2 * pi))
    np.testing.assert_allclose(kernel_log_density(far, X, 0.5), expected, rtol=1e-12)
    assert parzen(far, X, 0.5, gaussian_window).max() == 0  # the sum itself has lost them
    wide = kernel_log_density(np.zeros((1, 2000)), rng.normal(size=(30, 2000)), 1.0)
    assert np.isfinite(wide) and wide < -1000


# --- The error of an estimate ----------------------------------------------------------


def density_of(p, x):
    return sum(w * np.exp(normal_log_density(x, mu, s2)) for w, mu, s2 in zip(*p, strict=True))


def test_mixture_inner_product_by_quadrature(rng):
    p = NormalMixture(np.array([0.5, 0.3, 0.2]), rng.normal(size=3), rng.uniform(0.1, 2, size=3))
    q = NormalMixture(np.array([0.6, 0.4]), rng.normal(size=2), rng.uniform(0.1, 2, size=2))
    x, w = gauss_legendre(-20, 20, pieces=400)
    by_quadrature = w @ (density_of(p, x) * density_of(q, x))
    assert mixture_inner_product(p, q) == pytest.approx(by_quadrature, rel=1e-12)


@pytest.mark.parametrize("h, n", [(0.2, 15), (1.4, 60)])
def test_normal_mise_is_squared_bias_and_variance_by_quadrature(h, n):
    """E p(x) = N(x; 0, 1 + h^2); E of the squared kernel is a normal density too."""
    x, w = gauss_legendre(-15, 15, pieces=300)
    mean = np.exp(normal_log_density(x, 0.0, 1 + h**2))
    squared = np.exp(normal_log_density(x, 0.0, 1 + h**2 / 2)) / (2 * h * sqrt(pi))
    bias = mean - np.exp(normal_log_density(x, 0.0, 1.0))
    expected = w @ (bias**2 + (squared - mean**2) / n)
    assert normal_mise(h, n) == pytest.approx(expected, rel=1e-10)


# --- Choosing the bandwidth ------------------------------------------------------------


def test_silverman_is_the_best_bandwidth_for_more_and_more_normal_samples():
    ratios = []
    for n in (10**2, 10**5, 10**8):
        h = silverman(n, 1) * np.linspace(0.9, 1.3, 40_001)
        ratios.append(h[np.argmin(normal_mise(h, n))] / silverman(n, 1))
    assert (np.diff(np.abs(np.subtract(ratios, 1))) < 0).all()
    assert ratios[-1] == pytest.approx(1, abs=2e-3)
    for n, d in ((50, 1), (300, 4)):
        assert scott(n, d) == pytest.approx(n ** (-1 / (d + 4)))
        assert silverman(n, d) / scott(n, d) == pytest.approx((4 / (d + 2)) ** (1 / (d + 4)))


def test_leave_one_out_is_the_estimate_from_the_others(rng):
    X, h = rng.normal(size=(25, 2)), 1.2
    others = [kernel_log_density(X[[i]], np.delete(X, i, axis=0), h) for i in range(25)]
    np.testing.assert_allclose(leave_one_out(X, h), np.concatenate(others), rtol=1e-9)


def test_best_bandwidth_needs_samples_that_are_left_out_and_not_all_twins(rng):
    X, bandwidths = rng.standard_normal((80, 1)), np.geomspace(1e-3, 10, 60)
    within = [kernel_log_density(X, X, h).sum() for h in bandwidths]
    assert np.argmax(within) == 0  # a spike at every sample
    h, best = best_bandwidth(X, bandwidths), bandwidths[np.argmin(normal_mise(bandwidths, 80))]
    assert h in bandwidths and best / 2 < h < 2 * best
    assert leave_one_out(X, h).sum() == max(leave_one_out(X, g).sum() for g in bandwidths)
    twins = np.repeat(X[:10], 2, axis=0)
    assert best_bandwidth(twins, bandwidths) == bandwidths[0]
    assert best_bandwidth(twins[:-1], bandwidths) > 1e-3  # one sample alone forbids it


# --- Nearest neighbours ----------------------------------------------------------------


@pytest.mark.claims("density-09")
@pytest.mark.parametrize("d", [1, 4])
def test_knn_density_by_the_book_and_by_a_ball_that_grows(d, rng):
    X, x, n, k = rng.normal(size=(50, d)), 2 * rng.normal(size=(20, d)), 50, 7
    radius = [sorted(sqrt(sum((at - x_i) ** 2)) for x_i in X)[k - 1] for at in x]
    V = [pi ** (d / 2) / gamma(d / 2 + 1) * r**d for r in radius]
    np.testing.assert_allclose(knn_density(x, X, k), k / (n * np.array(V)), rtol=1e-10)
    index, r = nearest_samples(x, X, k)
    np.testing.assert_allclose(r, radius, rtol=1e-13)
    for at, indices, rim in zip(x, index, r, strict=True):
        lengths = np.linalg.norm(X - at, axis=1)
        np.testing.assert_array_equal(indices, np.flatnonzero(lengths <= rim * (1 + 1e-12)))
        grown = 0.0
        while np.sum(lengths <= grown) < k:
            grown += 1e-3
        assert rim <= grown < rim + 2e-3


def test_nearest_samples_settle_ties_by_their_order_and_are_no_more_than_all():
    X, origin = np.array([[2.0], [-2.0], [1.0], [2.0], [-1.0]]), np.zeros((1, 1))
    index, r = nearest_samples(origin, X, 3)
    assert index.tolist() == [[0, 2, 4]] and r == 2
    assert nearest_samples(origin, X[::-1], 4)[0].tolist() == [[0, 1, 2, 3]]
    at = np.array([[2.0], [1.0]])  # two samples coincide with the first point
    np.testing.assert_allclose(knn_density(at, X, 2), [np.inf, 2 / (5 * 2 * 1.0)])
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        nearest_samples(origin, X, 6)


@pytest.mark.claims("density-10")
@pytest.mark.parametrize("k", [1, 4])
def test_knn_density_has_an_integral_that_grows_like_a_logarithm(k, rng):
    n = 20
    X = np.sort(rng.normal(size=(n, 1)), axis=0)
    a, kth = X[-1, 0] + 1, X[n - k, 0]
    integrals = []
    for L in a + 10.0 ** np.arange(2, 7):
        s, w = gauss_legendre(0, log((L - kth) / (a - kth)), pieces=40)  # x - kth = e^s (a - kth)
        x = kth + (a - kth) * np.exp(s)
        p = knn_density(x[:, None], X, k)
        np.testing.assert_allclose(p, k / (2 * n * (x - kth)), rtol=1e-12)
        integrals.append(w @ (p * (x - kth)))
        assert integrals[-1] == pytest.approx(k / (2 * n) * log((L - kth) / (a - kth)), abs=1e-6)
    np.testing.assert_allclose(np.diff(integrals)[1:], k / (2 * n) * log(10), rtol=1e-2)
    x, w = line(-40, 40, pieces=600)  # the kernel estimate has the integral 1
    assert w @ gaussian_estimate(x, X, 0.5) == pytest.approx(1, abs=1e-6)


@pytest.mark.claims("density-11")
def test_knn_posterior_is_the_joint_density_divided_by_its_sum(rng):
    X, x, k = rng.normal(size=(60, 2)), rng.normal(size=(25, 2)), 9
    y = rng.choice(["ash", "birch", "cedar"], size=60, p=[0.6, 0.3, 0.1])
    counts = class_counts(x, X, y, k)
    posterior = knn_posterior(x, X, y, k)
    nearest = np.argsort(np.linalg.norm(x[:, None] - X, axis=2), axis=1)[:, :k]
    for i, name in enumerate(["ash", "birch", "cedar"]):
        np.testing.assert_array_equal(counts[:, i], (y[nearest] == name).sum(axis=1))
    _, r = nearest_samples(x, X, k)
    joint = counts / (60 * pi * r**2)[:, None]  # p(x, i) = k_i / (n V)
    np.testing.assert_allclose(joint.sum(axis=1), knn_density(x, X, k), rtol=1e-12)
    np.testing.assert_allclose(posterior, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    for V in (pi * r**2, (2 * r) ** 2, 7 * r):  # ball, cube, nonsense: it cancels
        of_V = count_density(counts, 60, V[:, None])
        np.testing.assert_allclose(of_V / of_V.sum(axis=1, keepdims=True), posterior, rtol=1e-12)


# --- KernelDensity ---------------------------------------------------------------------


@each_kernel
def test_kernel_density_is_the_function_and_its_score_the_sum(kernel, rng):
    X, x = rng.normal(size=(3000, 2)), rng.normal(size=(50, 2))  # several blocks of points
    model = KernelDensity(bandwidth=2.5, kernel=kernel).fit(X)
    expected = window_log_density(x, X, 2.5, kernel)
    X *= 7
    np.testing.assert_allclose(model.score_samples(x), expected, rtol=1e-12)
    assert model.score(x) == pytest.approx(expected.sum(), rel=1e-12)


def test_kernel_density_has_a_number_or_a_rule_as_bandwidth(rng):
    X = rng.normal(size=(40, 3))
    for bandwidth, value in ((0.7, 0.7), ("scott", scott(40, 3)), ("silverman", silverman(40, 3))):
        assert KernelDensity(bandwidth=bandwidth).fit(X).bandwidth_ == value


def test_kernel_density_loses_no_digits_far_from_0(rng):
    X = rng.normal(size=(50, 3))
    far = X + 1e9
    at = far[:9] + 0.01
    for kernel in WINDOWS:
        model = KernelDensity(bandwidth=0.03, kernel=kernel)
        ours, near = (model.fit(far - m).score_samples(at - m) for m in (0, 1e9))
        np.testing.assert_allclose(ours, near, rtol=1e-11)
    both, alone = (KernelDensity(bandwidth=0.5).fit(A) for A in (np.vstack([X, X + 1e7]), X))
    expected = alone.score_samples(X) - log(2)  # the two halves are out of each other's reach
    np.testing.assert_allclose(both.score_samples(X), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", ["tophat", "linear"])
def test_kernel_density_has_its_rim_outside_whatever_rounding_says(kernel):
    X = np.stack(np.meshgrid(range(9), range(9)), axis=-1).reshape(-1, 2) / 10 + [1e3, -7.0]
    confused = 0
    for h in (0.1, 0.3, sqrt(0.1**2 + 0.1**2)):
        inside = ((X[:, None] - X) ** 2).sum(axis=2) / h**2 < 1
        confused += np.sum((squared_distances(X, X) / h**2 < 1) != inside)
        tophat = KernelDensity(bandwidth=h, kernel="tophat").fit(X).score_samples(X)
        np.testing.assert_allclose(np.exp(tophat) * 81 * pi * h**2, inside.sum(axis=1))
    assert confused > 0  # a product alone does not know the rim
    for h in (3, 5.0, 7, 0.7):
        at = KernelDensity(bandwidth=h, kernel=kernel).fit([[0.0]]).score_samples([[h], [-h]])
        assert (at == -np.inf).all()


def test_kernel_density_takes_blocks_of_memory(rng):
    X = rng.normal(size=(20_000, 3))
    for kernel in ("gaussian", "linear"):
        model = KernelDensity(bandwidth=0.5, kernel=kernel).fit(X)
        tracemalloc.start()
        model.score_samples(X[:200])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * 200 * len(X) / 5  # bytes of all distances


@pytest.mark.parametrize("kernel", ["gaussian", "cosine"])
def test_kernel_density_samples_have_the_mean_and_covariance_of_the_estimate(kernel, rng):
    X, n = rng.normal(size=(25, 2)) * [1, 4], 20_000
    drawn = KernelDensity(bandwidth=0.9, kernel=kernel).fit(X).sample(n, random_state=3)
    of_kernel = np.cov(sample_kernel(n, 2, kernel, rng=rng).T, ddof=0)
    Sigma = np.cov(X.T, ddof=0) + 0.9**2 * of_kernel
    spread = np.sqrt(np.diag(Sigma))
    assert (np.abs(drawn.mean(axis=0) - X.mean(axis=0)) <= 5 * spread / sqrt(n)).all()
    tolerance = 5 * sqrt(3 / n) * spread.max() ** 2
    np.testing.assert_allclose(np.cov(drawn.T, ddof=0), Sigma, rtol=0, atol=tolerance)
    one = KernelDensity(bandwidth=1e-9, kernel=kernel).fit([[3.0, 4.0]])
    np.testing.assert_allclose(one.sample(random_state=0), [[3.0, 4.0]], rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1; got 0"):
        one.sample(0)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("density-08")
def test_figure_of_windows_has_densities_and_the_box_jumps_where_the_gaussian_does_not():
    from figures.density import BEST, BOX, CHOSEN, N, lecture_sample, parzen_windows

    axes = Figure().subplots(2, 3).ravel()
    parzen_windows(*axes)
    X = lecture_sample()
    around = [normal_mise(h, N) for h in (BEST * 0.98, BEST, BEST * 1.02)]
    assert min(around) == around[1] and list(CHOSEN.values()) == sorted(CHOSEN.values())
    errors = []
    for top, bottom, h in zip(axes[:3], axes[3:], CHOSEN.values(), strict=True):
        x, p = top.lines[0].get_data()
        assert np.sum(np.diff(x) * p[:-1]) == pytest.approx(1, abs=1e-3)
        jumps = np.abs(np.diff(p))
        jumps = jumps[jumps > 1e-12]
        assert jumps.min() >= (1 - 1e-9) / (N * BOX * h) and len(jumps) >= 2 * N - 5
        heights, edges, _ = top.patches[0].get_data()
        np.testing.assert_allclose(heights, np.histogram(X, edges, density=True)[0])
        x, p = bottom.lines[0].get_data()
        assert np.diff(x) @ (p[:-1] + p[1:]) / 2 == pytest.approx(1, abs=1e-3)
        np.testing.assert_allclose(p, gaussian_estimate(x[:, None], X, h))
        finer = gaussian_estimate(np.linspace(-8, 8, 16 * len(x))[:, None], X, h)
        assert np.abs(np.diff(finer)).max() < np.abs(np.diff(p)).max() / 10
        errors.append(np.sum((p - np.exp(normal_log_density(x, 0.0, 1.0))) ** 2))
    assert np.argmin(errors) == 1


@pytest.mark.claims("density-12")
def test_figure_of_growing_balls_has_k_samples_in_each_and_their_shares():
    from figures.density import QUERIES, K, growing_balls, two_classes

    left, middle, right = Figure().subplots(1, 3)
    growing_balls(left, middle, right)
    T = two_classes()
    rims = [line.get_xydata() for line in left.lines if len(line.get_xdata()) == 121]
    for query, rim, text in zip(QUERIES, rims, left.texts, strict=True):
        radii = np.linalg.norm(rim - query, axis=1)
        np.testing.assert_allclose(radii, radii[0], rtol=1e-12)
        inside = np.linalg.norm(T.X - query, axis=1) <= radii[0] * (1 + 1e-12)
        assert inside.sum() == K
        assert text.get_text() == f"{np.sum(T.y[inside] == np.unique(T.y)[0])}/{K}"
    share = right.images[0].get_array()
    np.testing.assert_allclose(np.unique(share), np.arange(K + 1) / K)
    low, high, bottom, top = middle.images[0].get_extent()
    log_p = middle.images[0].get_array()
    rows, columns = log_p.shape
    at = [np.linspace(low, high, columns)[[10, 90]], np.linspace(bottom, top, rows)[[50, 120]]]
    r = np.sort(np.linalg.norm(np.transpose(at)[:, None] - T.X, axis=2), axis=1)[:, K - 1]
    expected = np.log(K / (len(T) * pi * r**2))
    np.testing.assert_allclose(log_p[[50, 120], [10, 90]], expected, rtol=1e-10)
