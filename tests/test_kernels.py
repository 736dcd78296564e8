"""The kernels chapter, in the order of its module: each function by a second route."""

import itertools
import re
from itertools import islice
from math import comb, factorial, prod, sqrt

import numpy as np
import pytest
from checks import check_gradient, differences, panels

from mlnotes.kernels import (
    AllSubsets,
    FeatureKernel,
    Gaussian,
    KernelRidge,
    Laplacian,
    Linear,
    Polynomial,
    PowerSeries,
    RKHSFunction,
    Sigmoid,
    apply_operator,
    centre_gram,
    centre_new,
    coefficient_loss,
    eigenfunctions,
    empirical_feature_map,
    fourier_features,
    gaussian_frequencies,
    gaussian_map,
    kernel_descent,
    kernel_ridge,
    kernel_squared_distances,
    linear_in_features,
    make_kernel,
    mercer_sum,
    polynomial_map,
    psd_certificate,
    quadratic_map,
    refute,
    ring_map,
    sample_coefficients,
    scaled_quadratic_map,
    screen,
    semidefinite,
    subset_products,
)
from mlnotes.linear_regression import augment, ridge
from mlnotes.logistic_regression import separating_theta
from mlnotes.optimization import box, gradient_descent, solve_qp
from mlnotes.perceptron import perceptron
from mlnotes.svm import SVC

bell, square, city = Gaussian.of_width(0.8), Polynomial(p=2), Laplacian(gamma=1 / 1.3)

BY_THE_BOOK = {  # every kernel of the module, and one value of it as the notes write it
    Linear(c=0.7): lambda x, z: x @ z + 0.7,
    Polynomial(3, gamma=0.5, c=2.0): lambda x, z: (0.5 * (x @ z) + 2.0) ** 3,
    PowerSeries((1.0, 0.0, 3.0)): lambda x, z: 1 + 3 * (x @ z) ** 2,
    AllSubsets(): lambda x, z: np.prod([1 + a * b for a, b in zip(x, z, strict=True)]),
    bell: lambda x, z: np.exp(-np.sum((x - z) ** 2) / (2 * 0.8**2)),
    city: lambda x, z: np.exp(-np.abs(x - z).sum() / 1.3),
    Laplacian(gamma=1 / 1.3, q=2): lambda x, z: np.exp(-np.linalg.norm(x - z) / 1.3),
    Sigmoid(0.6, c=-0.4): lambda x, z: 1 - 2 / (np.exp(2 * (0.6 * (x @ z) - 0.4)) + 1),
}


def close(a, b, atol=1e-10):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


# --- Feature maps ----------------------------------------------------------------------


@pytest.mark.claims("kernels-01")
def test_no_line_separates_xor_and_a_plane_in_feature_space_does():
    X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, -1, -1])
    assert separating_theta(augment(X), y) is None
    last = list(islice(perceptron(subset_products(X), y), 20))[-1]
    assert last.mistakes == 0
    assert (y * linear_in_features(X, subset_products, last.w) > 0).all()


@pytest.mark.claims("kernels-01")
def test_a_convex_loss_stays_convex_and_the_same_code_trains(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    A = quadratic_map(X)

    def loss(w):
        return np.sum((linear_in_features(X, quadratic_map, w, 2.0) - y) ** 2)

    def slope(w):
        return 2 * A.T @ (A @ w + 2.0 - y)

    check_gradient(loss, slope, rng.normal(size=6))
    curvature = np.linalg.eigvalsh(differences(slope, np.zeros(6)))
    assert curvature[0] > 0
    *_, last = islice(gradient_descent(loss, slope, np.zeros(6), eta=1 / curvature[-1]), 8000)
    close(last.x, np.linalg.lstsq(A, y - 2.0, rcond=None)[0], 1e-8)


@pytest.mark.claims("kernels-02")
@pytest.mark.parametrize("d", [1, 7])
def test_subset_products_are_two_to_the_d(d):
    x = np.random.default_rng(d).integers(2, 9, size=d).astype(float)
    by_size = [[np.prod(s) for s in itertools.combinations(x, j)] for j in range(d + 1)]
    phi = subset_products(x[None])[0]
    assert sorted(phi) == sorted(itertools.chain(*by_size))
    assert len(phi) == 2**d == sum(comb(d, j) for j in range(d + 1))


@pytest.mark.claims("kernels-03")
def test_every_conic_is_linear_in_the_quadratic_map(rng):
    a, b, c, d, e, f = rng.normal(size=6)
    X = rng.normal(size=(100, 2))
    x, z = X.T
    direct = a * x + b * z + c * x * z + d * x**2 + e * z**2 + f
    close(quadratic_map(X) @ [f, a, b, c, d, e], direct)


@pytest.mark.claims("kernels-04", "kernels-06", "kernels-08", "kernels-10")
@pytest.mark.parametrize(
    "phi, kernel",
    [
        (ring_map, lambda x, z: x @ z + (x @ x) * (z @ z)),
        (subset_products, lambda x, z: np.prod(1 + x * z)),
        (scaled_quadratic_map, lambda x, z: (1 + x @ z) ** 2),
    ],
)
def test_feature_maps_have_inner_products_that_need_no_features(phi, kernel, rng):
    X, Z = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    K = np.array([[kernel(x, z) for z in Z] for x in X])
    for values in (phi(X) @ phi(Z).T, FeatureKernel(phi)(X, Z)):
        np.testing.assert_allclose(values, K, rtol=0, atol=1e-12 * np.abs(K).max())


@pytest.mark.claims("kernels-10", "kernels-11")
def test_scaled_quadratic_map_needs_its_roots_of_two(rng):
    one = np.ones((1, 2))
    plain, scaled = quadratic_map(one), scaled_quadratic_map(one)
    assert (plain @ plain.T).item() == 6 and square(one).item() == 9
    assert (scaled @ scaled.T).item() == pytest.approx(9)
    assert (1 + scaled @ scaled.T).item() ** 2 == pytest.approx(100)  # as MLN prints it
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    A, B = quadratic_map(X), scaled_quadratic_map(X)
    close(A @ np.linalg.pinv(A), B @ np.linalg.pinv(B))  # they span the same functions,
    assert np.abs(A @ ridge(A, y, 1.0) - B @ ridge(B, y, 1.0)).max() > 1e-3  # penalised otherwise


@pytest.mark.claims("kernels-12")
@pytest.mark.parametrize("d, p", [(1, 4), (2, 0), (2, 3), (3, 2)])
def test_polynomial_map_has_the_weighted_monomials_of_the_kernel(d, p, rng):
    X, Z, k = rng.normal(size=(15, d)), rng.normal(size=(12, d)), Polynomial(p, 0.7, 1.9)
    phi, psi = (polynomial_map(A, p, gamma=0.7, c=1.9) for A in (X, Z))
    assert phi.shape == (15, comb(d + p, p))
    np.testing.assert_allclose(phi @ psi.T, k(X, Z), rtol=1e-10, atol=1e-10)
    binomial = [comb(p, j) * 1.9 ** (p - j) * 0.7**j for j in range(p + 1)]
    np.testing.assert_allclose(PowerSeries(binomial)(X), k(X), rtol=0, atol=1e-12 * k(X).max())
    assert psd_certificate(k(X)).holds


@pytest.mark.claims("kernels-13", "kernels-14")
@pytest.mark.parametrize("d, p, D, without", [(2, 2, 6, 3), (2, 3, 10, 4), (3, 2, 10, 6)])
def test_the_features_of_a_polynomial_kernel_are_counted_by_a_rank(d, p, D, without, rng):
    X = rng.uniform(-1, 1, size=(D + 20, d))
    exponents = [e for e in itertools.product(range(p + 1), repeat=d) if sum(e) <= p]
    rank = np.linalg.matrix_rank
    assert rank(Polynomial(p, c=0.5)(X)) == D == comb(d + p, p) == len(exponents)
    assert rank(Polynomial(p, c=0.0)(X)) == without == comb(d + p - 1, p) != D


@pytest.mark.claims("kernels-16")
def test_gaussian_map_has_the_error_of_its_next_terms(rng):
    x, z = rng.uniform(-1, 1, size=(2, 50))
    exact, t = np.exp(-((x[:, None] - z) ** 2)), np.abs(2 * x[:, None] * z)
    for m in (1, 3, 8, 30):
        error = np.abs(gaussian_map(x, sqrt(0.5), m) @ gaussian_map(z, sqrt(0.5), m).T - exact)
        bound = np.exp(-(x[:, None] ** 2) - z**2) * t**m / factorial(m) * np.exp(t)
        assert (error <= bound + 1e-14).all()
    s = 1.7  # as the notes write it
    literal = [np.exp(-(x**2) / s**2) * sqrt((2 / s**2) ** j / factorial(j)) * x**j
               for j in range(6)]  # fmt: skip
    np.testing.assert_allclose(gaussian_map(x, s / sqrt(2), 6).T, literal, rtol=1e-12)
    x = 2.0 * np.arange(100)[:, None]
    assert np.linalg.matrix_rank(Gaussian.of_width(1.0)(x)) == 100  # full, however many points
    phi = gaussian_map(np.array([30.0, 29.5]), sqrt(0.5), 3000)  # exp(-x^2) alone is 0
    close(phi[0] @ phi[1], np.exp(-0.25))


@pytest.mark.claims("kernels-17")
def test_fourier_features_have_the_stated_mean_and_variance(rng):
    X, D, draws, sigma = np.array([[0.3, -0.2, 0.5], [-0.4, 0.6, 0.1]]), 5, 2000, 0.9
    k, found = Gaussian.of_width(sigma)(X)[0, 1], np.empty(draws)
    for i in range(draws):
        z = fourier_features(X, gaussian_frequencies(D, 3, sigma, rng=rng))
        np.testing.assert_allclose(np.sum(z**2, axis=1), 1, rtol=1e-12)
        found[i] = z[0] @ z[1]
    variance = (1 - k**2) ** 2 / (2 * D)
    assert abs(found.mean() - k) < 4 * np.sqrt(variance / draws)
    squares = (found - k) ** 2
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(draws)
    assert abs(found.mean() - Gaussian.of_width(sigma / sqrt(2))(X)[0, 1]) > 0.05  # s for sigma


# --- Kernels ---------------------------------------------------------------------------


@pytest.mark.claims("kernels-07", "kernels-15", "kernels-20")
@pytest.mark.parametrize("k", BY_THE_BOOK)
def test_kernels_equal_the_double_loop(k, rng):
    X, Z = rng.normal(size=(9, 3)), rng.normal(size=(7, 3))
    loop = [[BY_THE_BOOK[k](x, z) for z in Z] for x in X]
    np.testing.assert_allclose(k(X, Z), loop, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(k(X), k(X, X.copy()), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(k(X), k(X).T)
    for other in (np.ones((4, 2)), np.ones((4, 1))):  # of another number of features
        with pytest.raises(ValueError):
            k(X, other)
    whole = np.array([[100.0, 90.0], [7.0, 120.0]])
    for kind in (np.int8, np.float32):  # the products of small integers would wrap
        np.testing.assert_array_equal(k(whole.astype(kind)), k(whole))
        np.testing.assert_array_equal(k(whole, whole.astype(kind)), k(whole, whole.copy()))


@pytest.mark.claims("kernels-08", "kernels-28")
def test_all_subsets_needs_none_of_its_features_and_fewer_entries_for_few_samples(rng):
    x, z = rng.uniform(-1, 1, size=(2, 900))  # 2^900 features, of which d factors tell all
    by_factors = prod((1 + x * z).tolist())
    assert AllSubsets()(x[None], z[None]).item() == pytest.approx(by_factors, rel=1e-11)
    for n in (15, 16, 17):  # a step of descent multiplies every entry once
        K, Phi = AllSubsets()(np.ones((n, 4))), subset_products(np.ones((n, 4)))
        assert np.sign(K.size - Phi.size) == np.sign(n - 2**4) and Phi.size == n * 2**4


@pytest.mark.claims("kernels-09")
def test_linear_kernels_have_no_constant_below_0_and_n_squared_numbers(rng):
    assert psd_certificate(Linear(-0.5)(np.zeros((1, 2)))).smallest == -0.5  # not at x = 0
    for n, d in ((5, 40), (12, 3)):
        X = rng.normal(size=(n, d))
        assert np.sign(X.size - Linear()(X).size) == np.sign(d - n)


@pytest.mark.claims("kernels-15")
def test_gaussian_kernels_lie_between_all_ones_and_the_identity(rng):
    X = rng.normal(size=(20, 2))
    K, D = Gaussian.of_width(0.6)(X), ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(K, np.exp(-D / (sqrt(2) * 0.6) ** 2), rtol=1e-12)  # three notes' s
    np.testing.assert_array_equal(np.diag(K), 1)
    assert (K > 0).all() and (K <= 1).all() and np.linalg.eigvalsh(K)[0] > 0
    close(Gaussian.of_width(1e6)(X), 1, 1e-9)
    close(Gaussian.of_width(1e-6)(X), np.eye(20), 1e-9)
    np.testing.assert_array_equal(Gaussian(1.0)(np.array([[1e100], [-1e100]])), np.eye(2))


@pytest.mark.claims("kernels-19")
@pytest.mark.parametrize("d", [1, 5, 20])
def test_laplacian_and_exponential_kernels_are_positive_definite(d, rng):
    X = rng.normal(size=(25, d))
    for k in (Laplacian(1 / 1.4, q=1), Laplacian(1 / 1.4, q=2), Laplacian(1 / (2 * 0.9**2), q=2)):
        assert np.linalg.eigvalsh(k(X))[0] > 0


@pytest.mark.claims("kernels-37")
def test_kernels_scale_add_and_multiply(rng):
    X, c = rng.normal(size=(8, 2)), 1.7
    A, B = scaled_quadratic_map(X), subset_products(X)
    pairs = np.einsum("ni,nj->nij", A, B).reshape(8, -1)
    for k, features in (
        (c * square, sqrt(c) * A),
        (c + square, np.column_stack([A, np.full(8, sqrt(c))])),
        (square + AllSubsets(), np.hstack([A, B])),
        (square * AllSubsets(), pairs),
    ):
        np.testing.assert_allclose(k(X), features @ features.T, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(k(X[:3], X[2:]), k(X)[:3, 2:], rtol=1e-12)
        assert psd_certificate(k(X)).holds
    assert psd_certificate((bell * square)(X)).smallest > 0
    f = X[:, :1] - X[:, 1:] ** 3  # f(x) f(z) has rank 1
    values = np.linalg.eigvalsh(FeatureKernel(lambda X: X[:, :1] - X[:, 1:] ** 3)(X))
    close(values, np.append(np.zeros(7), np.sum(f**2)))


@pytest.mark.claims("kernels-38")
@pytest.mark.parametrize("p", [0, 1, 4])
def test_negative_coefficients_of_a_series_are_counted_by_negative_eigenvalues(p, rng):
    for a in rng.uniform(0, 2, size=(10, p + 1)):
        assert psd_certificate(PowerSeries(a)(rng.normal(size=(12, 3)))).holds
    points = np.linspace(-1.5, 2, p + 1)[:, None]
    V = np.vander(points[:, 0], p + 1, increasing=True)
    for signs in itertools.product((-1, 1), repeat=p + 1):
        a = np.array(signs) * rng.uniform(0.5, 2, size=p + 1)
        K = PowerSeries(a)(points)
        close(K, V @ np.diag(a) @ V.T)
        assert np.count_nonzero(np.linalg.eigvalsh(K) < 0) == signs.count(-1)


@pytest.mark.claims("kernels-39")
def test_fractional_exponents_do_not_give_kernels():
    def smallest(p, m):
        return psd_certificate(Polynomial(p)(np.arange(float(m))[:, None])).smallest

    for p, m in ((0.5, 3), (1.5, 4), (2.5, 5)):
        assert smallest(p, m) < -1e-4 and smallest(p, m - 1) > -1e-10
    for p, m in itertools.product((1, 2, 3), range(2, 8)):
        assert psd_certificate(Polynomial(p)(np.arange(float(m))[:, None])).holds
    with np.errstate(invalid="ignore"):
        assert np.isnan(Polynomial(0.5)(np.array([[2.0]]), np.array([[-1.0]]))).all()


@pytest.mark.claims("kernels-40")
def test_sigmoid_fails_on_a_line_at_the_origin_and_on_every_circle():
    for c in range(7):  # two points of a line
        K = Sigmoid(1.0, c)(np.array([[1.0], [4.0]]))
        assert K[0, 0] * K[1, 1] < K[0, 1] ** 2 and not psd_certificate(K).holds
    assert psd_certificate(Sigmoid(c=-0.1)(np.zeros((1, 2)))).smallest < 0
    turn = 2 * np.pi * np.arange(64) / 64
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for gamma, c in itertools.product((0.01, 0.1, 0.5, 1.0, 3.0, 10.0), np.linspace(-2, 5, 9)):
        row = Sigmoid(gamma, c)(circle[:1], circle)[0]
        assert np.fft.fft(row).real.min() < -1e-12, (gamma, c)  # the eigenvalues: K is circulant
    row = np.fft.fft(Sigmoid(1.0, 1.0)(circle[:1], circle)[0]).real
    close(np.linalg.eigvalsh(Sigmoid(1.0, 1.0)(circle)), np.sort(row))


# --- Is it a kernel? -------------------------------------------------------------------


@pytest.mark.claims("kernels-35")
def test_screen_tests_conditions_that_are_necessary_and_not_sufficient(rng):
    X = rng.normal(size=(5, 2))
    norm, D = np.linalg.norm(X, axis=1), np.linalg.norm(X[:, None] - X, axis=2)
    skew = np.exp(-D - norm)  # exp(-||x - z|| - ||z||)
    np.testing.assert_allclose(skew / skew.T, np.exp(norm[:, None] - norm), rtol=1e-12)
    assert screen(skew) == "k(x, z) = k(z, x)"
    assert screen(np.outer([0.0, 2.0], [0.0, 2.0]) - 1) == "k(x, x) >= 0"  # ||x|| ||z|| - 1 at 0
    pair = np.array([[1.0, 2.0], [2.0, 1.0]])
    three = np.full((3, 3), -0.9) + 1.9 * np.eye(3)
    assert psd_certificate(three).smallest == pytest.approx(-0.8)
    for scale in (1e-200, 1.0, 1e200):
        assert screen(scale * pair) == "k(x, z)^2 <= k(x, x) k(z, z)"
        assert screen(scale * three) is None
    assert screen(np.zeros((2, 2))) is None and screen(np.int8([[-100, 0], [0, 90]])) is not None
    assert screen(np.diag([1e6, -1e-9])) is None  # for rounding, relative to the largest entry
    assert screen(np.diag([1.0, -1e-9])) == "k(x, x) >= 0"
    assert screen(bell(X)) is None and screen(square(X)) is None


@pytest.mark.claims("kernels-31")
def test_psd_certificate_agrees_with_eigenvalues_and_quadratic_forms(rng):
    for shift in (0.0, 4.0, 10.0):
        A = rng.normal(size=(6, 6))
        K = A + A.T + shift * np.eye(6)
        holds, smallest, q = psd_certificate(K)
        assert smallest == pytest.approx(np.linalg.eigvalsh(K)[0]) and holds == (smallest >= 0)
        assert q @ K @ q == pytest.approx(smallest) and np.linalg.norm(q) == pytest.approx(1)
        assert min(v @ K @ v / (v @ v) for v in rng.normal(size=(300, 6))) >= smallest
    for K in (np.diag([1.0, -1e-15]), np.zeros((2, 2))):  # for rounding
        assert psd_certificate(K).holds
    assert not psd_certificate(np.diag([1.0, -1e-9])).holds


@pytest.mark.claims("kernels-31", "kernels-32")
def test_refute_finds_point_sets_for_what_is_no_kernel_and_none_for_kernels(rng):
    sets = [rng.normal(size=(rng.integers(2, 15), 2)) for _ in range(100)]
    for k in BY_THE_BOOK:
        assert isinstance(k, Sigmoid) or refute(k, sets) is None
    for k in (  # continuous and symmetric, and the Sigmoid is PSD on one point
        lambda X, Z: -np.linalg.norm(X[:, None] - Z, axis=2),
        lambda X, Z: np.linalg.norm(X[:, None] - Z, axis=2),
        Sigmoid(),
    ):
        found = refute(k, sets)
        assert found.q @ k(found.X, found.X) @ found.q == pytest.approx(found.form)
        first = next(X for X in sets if np.linalg.eigvalsh(k(X, X))[0] < -1e-9)
        assert found.form < -1e-8 and found.X is first
    assert refute(Sigmoid(), [X[:1] for X in sets]) is None
    assert (
        np.linalg.matrix_rank(Linear()(sets[0])) <= 2
    )  # singular, so not positive definite, and yet a kernel


@pytest.mark.claims("kernels-33")
def test_empirical_feature_map_makes_every_psd_matrix_a_gram_matrix(rng):
    X = rng.normal(size=(10, 2))
    one = Linear()(X[:, :1])
    for K, r in ((bell(X), 10), (bell(np.vstack([X, X[:4]])), 10), (Linear()(X), 2), (one, 1)):
        phi = empirical_feature_map(K)
        assert phi.shape == (len(K), r)
        close(phi @ phi.T, K, 1e-12)
        assert empirical_feature_map(1e-100 * K).shape == phi.shape  # in any unit
        for q in rng.normal(size=(5, len(K))):
            assert q @ K @ q == pytest.approx(np.sum((phi.T @ q) ** 2), rel=1e-8)
    assert empirical_feature_map(np.zeros((2, 2))).shape == (2, 0)
    A, q = subset_products(X), rng.normal(size=10)
    assert q @ AllSubsets()(X) @ q == pytest.approx(np.sum((A.T @ q) ** 2), rel=1e-10)


@pytest.mark.claims("kernels-34")
def test_a_nonnegative_form_without_symmetry_is_not_a_gram_matrix(rng):
    A, K = np.array([[1.0, 1.0], [-1.0, 1.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    for q in rng.normal(size=(20, 2)):
        assert q @ A @ q == pytest.approx(q @ q)  # as the printed condition asks
    for refused in (psd_certificate, empirical_feature_map, lambda A: kernel_ridge(A, A[0], 1.0)):
        with pytest.raises(ValueError, match="K must be symmetric; it differs .* by 2"):
            refused(A)
    for call, message in (
        (lambda: semidefinite(K, "S"), "S must have no negative eigenvalue; got -1"),
        (lambda: kernel_ridge(K, K[0], 0.5), "K . alpha I must have no negative .*; got -0.5"),
        (lambda: refute(lambda X, Z: K * np.nan, [K]), "K must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# --- Distances and means ---------------------------------------------------------------


@pytest.mark.claims("kernels-21")
def test_distances_and_ridge_by_kernel_are_those_of_the_features(rng):
    X, Z, y = rng.normal(size=(25, 2)), rng.normal(size=(15, 2)), rng.normal(size=25)
    A, B, K = scaled_quadratic_map(X), scaled_quadratic_map(Z), square(Z, X)
    D = kernel_squared_distances(K, np.diag(square(Z)), np.diag(square(X)))
    explicit = ((B[:, None] - A) ** 2).sum(axis=2)
    close(D, explicit, 1e-10 * explicit.max())
    close(K @ kernel_ridge(square(X), y, 0.5), B @ ridge(A, y, 0.5), 1e-8)
    assert kernel_squared_distances(np.array([[1.0 + 1e-15]]), np.ones(1), np.ones(1)) == 0


@pytest.mark.claims("kernels-29")
def test_the_dual_of_the_soft_margin_by_kernel_is_that_of_the_features(rng):
    X, Z, C = rng.normal(size=(25, 2)), rng.normal(size=(15, 2)), 2.0
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=25) > 0, 1, -1)
    A, B = scaled_quadratic_map(X), scaled_quadratic_map(Z)
    G, h = box(np.zeros(25), np.full(25, C))
    dual = solve_qp(square(X) * np.outer(y, y), -np.ones(25), y[None], [0.0], G, h)
    on_features = SVC(C=C, kernel="linear", tol=1e-8).fit(A, y)
    w, b = on_features.coef_[0], on_features.intercept_[0]
    primal = w @ w / 2 + C * np.maximum(0, 1 - y * (A @ w + b)).sum()
    assert -dual.objective == pytest.approx(primal, rel=1e-6)
    close(square(Z, X) @ (dual.x * y) + b, B @ w + b, 1e-5)
    close(SVC(C=C, kernel=square, tol=1e-8).fit(X, y).decision_function(Z), B @ w + b, 1e-5)


@pytest.mark.claims("kernels-30")
def test_without_its_equality_the_dual_is_that_of_a_machine_without_offset(rng):
    X = rng.normal(size=(20, 2)) + [6.0, 6.0]  # far from the origin: the offset matters
    y = np.where(X[:, 0] > 6.5, 1, -1)
    G, h = box(np.zeros(20), np.ones(20))
    printed = solve_qp(Linear()(X) * np.outer(y, y), -np.ones(20), G=G, h=h)
    assert abs(printed.x @ y) > 0.05
    w = X.T @ (printed.x * y)
    without = w @ w / 2 + np.maximum(0, 1 - y * (X @ w)).sum()
    assert -printed.objective == pytest.approx(without, rel=1e-6)
    machine = SVC(C=1.0, kernel=Linear(), tol=1e-8).fit(X, y)
    w = X[machine.support_].T @ machine.dual_coef_[0]
    with_b = w @ w / 2 + np.maximum(0, 1 - y * machine.decision_function(X)).sum()
    assert with_b < 0.99 * without


def test_centred_features_have_mean_zero(rng):
    X, Z = rng.normal(size=(12, 2)), rng.normal(size=(5, 2))
    A, B, K = scaled_quadratic_map(X), scaled_quadratic_map(Z), square(X)
    mean, H = A.mean(axis=0), np.eye(12) - 1 / 12
    close(centre_gram(K), (A - mean) @ (A - mean).T)
    close(centre_gram(bell(X)), H @ bell(X) @ H)
    for known in (K, K.mean(axis=0)):
        close(centre_new(square(Z, X), known), (B - mean) @ (A - mean).T)
    far = centre_gram(bell(X) + 1e9)
    np.testing.assert_array_equal(far, far.T)  # to the last bit
    close(centre_gram(far), H @ bell(X) @ H, 1e-6)


# --- Least squares ---------------------------------------------------------------------


@pytest.mark.claims("kernels-23")
def test_sample_coefficients_combine_the_samples_to_the_gradient(rng):
    X, w, y = rng.normal(size=(4, 9)), rng.normal(size=9), np.array([1.0, -1.0, 1.0, 1.0])
    check_gradient(
        lambda v: np.sum((X @ v - y) ** 2), lambda v: X.T @ sample_coefficients(X, y, v), w
    )
    for loss in (lambda f: np.log1p(np.exp(-y * f)), lambda f: np.maximum(0, 1 - y * f)):
        slope = differences(loss, X @ w).sum(axis=1)  # l'(f_i), which is all that it depends on
        numeric = differences(lambda v, loss=loss: loss(X @ v).sum(), w)
        close(numeric, X.T @ slope, 1e-8)
        assert np.abs(slope).max() > 0


@pytest.mark.claims("kernels-09", "kernels-23", "kernels-25", "kernels-26")
@pytest.mark.parametrize(
    "k, phi",
    [
        (Linear(0.8), lambda X: np.column_stack([X, np.full(len(X), np.sqrt(0.8))])),
        (AllSubsets(), subset_products),
    ],
)
def test_kernel_descent_is_descent_in_weights(k, phi, rng):
    X, Z, y = rng.normal(size=(8, 3)), rng.normal(size=(6, 3)), rng.normal(size=8)
    K, A = k(X), phi(X)
    close(K, A @ A.T)
    top = np.linalg.eigvalsh(A.T @ A)[-1]
    eta, w, total, losses = 0.9 / top, np.zeros(A.shape[1]), np.zeros(8), []
    for state in islice(kernel_descent(K, y, eta=eta), 200):
        close(A.T @ state.alpha, w)
        close(state.alpha, -eta * total, 1e-12)
        delta = sample_coefficients(A, y, w)
        assert state.gradient_norm == pytest.approx(np.linalg.norm(A.T @ delta), rel=1e-6, abs=1e-6)
        assert state.objective == pytest.approx(coefficient_loss(K, y, state.alpha))
        assert state.objective == pytest.approx(np.sum((A @ w - y) ** 2))
        losses.append(state.objective)
        total, w = total + delta, w - eta * A.T @ delta
    close(RKHSFunction(k, X, state.alpha)(Z), phi(Z) @ (A.T @ state.alpha))
    assert (np.diff(losses) <= 1e-12).all() and losses[0] == pytest.approx(y @ y)
    *_, away = islice(kernel_descent(K, y, eta=1.1 / top), 200)
    assert away.objective > 1e3 * losses[0]


@pytest.mark.claims("kernels-24")
def test_what_is_orthogonal_to_the_samples_stays_for_ever(rng):
    X, y, start = rng.normal(size=(3, 5)), rng.normal(size=3), rng.normal(size=5)
    eta, shortest = 0.5 / np.linalg.eigvalsh(X @ X.T)[-1], np.linalg.pinv(X) @ y
    for begin in (np.zeros(5), start):
        w, across = begin, begin - np.linalg.pinv(X) @ X @ begin
        for _ in range(5000):
            w = w - eta * X.T @ sample_coefficients(X, y, w)
        close(X @ w, y)  # both have zero loss
        close(w, shortest + across, 1e-8)
    assert np.linalg.norm(across) > 0.1  # the printed "does not depend" fails


@pytest.mark.claims("kernels-26", "kernels-27")
def test_the_residual_shrinks_by_a_known_matrix_and_the_fit_is_exact(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    K = Gaussian.of_width(0.4)(X)
    eta = 0.4 / np.linalg.eigvalsh(K)[-1]
    step, r = np.eye(6) - 2 * eta * K, -y
    for state in islice(kernel_descent(K, y, eta=eta), 60):
        close(K @ state.alpha - y, r, 1e-12)
        r = step @ r
    *_, last = islice(kernel_descent(K, y, eta=eta), 8000)
    close(last.alpha, np.linalg.solve(K, y), 1e-8)
    close(kernel_ridge(K, y, 0.0), last.alpha, 1e-8)
    r, printed = K @ (last.alpha + 1) - y, np.zeros(6)
    slope = differences(lambda a: coefficient_loss(K, y, a), last.alpha + 1)
    close(slope, 2 * K @ r, 1e-6)  # not the direction 2 r of the steps
    assert np.abs(slope - 2 * r).max() > 0.1
    for _ in range(8000):
        printed = printed - eta * (2 * (K @ printed) - y)  # with the printed parenthesis
    close(K @ printed, y / 2, 1e-8)


@pytest.mark.parametrize("n", [1, 300])
def test_kernel_ridge_minimises_its_loss(n, rng):
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    K = bell(X)
    alpha = kernel_ridge(K, y, 0.3)

    def penalised(alpha):
        return coefficient_loss(K, y, alpha) + 0.3 * alpha @ K @ alpha

    for step in 1e-3 * rng.normal(size=(10, n)):
        assert penalised(alpha + step) > penalised(alpha)
    close((K + 0.3 * np.eye(n)) @ alpha, y)


def test_kernel_ridge_of_a_singular_matrix_is_the_solution_of_least_norm():
    for seed in (0, 49, 51, 144, 173):  # the last pivots of some are rounding errors above 0
        X, w = np.random.default_rng(seed).normal(size=(6, 3)), np.array([1.0, -2.0, 0.5])
        K = X @ X.T  # of rank 3
        for unit in (1.0, 1e100):
            alpha = unit * kernel_ridge(unit * K, X @ w, 0)
            close(alpha, np.linalg.pinv(K, hermitian=True) @ X @ w, 1e-8)


# --- Functions -------------------------------------------------------------------------


@pytest.mark.claims("kernels-41", "kernels-42")
@pytest.mark.parametrize("k", [bell, square, city])
def test_finite_expansions_are_a_space_with_an_inner_product_that_reproduces_values(k, rng):
    f, g, h = (RKHSFunction(k, rng.normal(size=(n, 2)), rng.normal(size=n)) for n in (5, 3, 4))
    X = rng.normal(size=(9, 2))
    literal = [sum(a * k(x[None], z[None])[0, 0] for a, z in zip(f.alpha, f.X, strict=True))
               for x in X]  # fmt: skip
    close(f(X), literal)
    close((f + 2.5 * g - h)(X), f(X) + 2.5 * g(X) - h(X))
    inner = f.inner(g)
    assert inner == pytest.approx(g.alpha @ f(g.X)) == pytest.approx(f.alpha @ g(f.X))
    assert (f + 2.0 * h).inner(g) == pytest.approx(inner + 2 * h.inner(g))
    assert f.inner(f) > 0 and f.norm() == pytest.approx(sqrt(f.inner(f)))
    assert (f(X) ** 2 <= np.diag(k(X)) * f.inner(f) * (1 + 1e-12)).all()
    sections = [RKHSFunction(k, x[None], np.ones(1)) for x in X]
    close([f.inner(s) for s in sections], f(X))
    close([[s.inner(t) for t in sections] for s in sections], k(X))


@pytest.mark.claims("kernels-41")
def test_the_inner_product_does_not_depend_on_the_expansion(rng):
    X, alpha = rng.normal(size=(5, 2)), rng.normal(size=5)  # dependent: five points of the plane
    null = np.linalg.svd(X.T)[2][-1]
    f, same = RKHSFunction(Linear(), X, alpha), RKHSFunction(Linear(), X, alpha + 3 * null)
    g = RKHSFunction(Linear(), rng.normal(size=(5, 2)), rng.normal(size=5))
    assert f.inner(g) == pytest.approx(same.inner(g), abs=1e-10)
    close((f - same).norm(), 0, 1e-6)


# --- Mercer ----------------------------------------------------------------------------


def midpoints(n):
    return (np.arange(n) + 0.5) / n


def exact(x, r):
    """Eigenvalues and eigenfunctions of min(x, y) on [0, 1]."""
    i = np.arange(1, r + 1) - 0.5
    return 1 / (i * np.pi) ** 2, np.sqrt(2) * np.sin(np.pi * np.outer(x, i))


@pytest.mark.claims("kernels-44")
def test_eigenfunctions_of_the_minimum_are_sines():
    errors = []
    for n in (200, 400):
        x = midpoints(n)
        values, functions = eigenfunctions(np.minimum.outer, x, 1 / n, leading=5)
        lam, phi = exact(x, 5)
        close(functions.T @ functions / n, np.eye(5), 1e-12)
        each = [apply_operator(np.minimum.outer, f, x, 1 / n) for f in functions.T]
        close(np.transpose(each), values * functions, 1e-12)
        signs = np.sign(np.sum(functions * phi, axis=0))
        close(functions * signs, phi, 1e-10)  # exact at midpoints
        T1 = apply_operator(np.minimum.outer, np.ones(n), x, np.full(n, 1 / n))
        errors.append([np.abs(values / lam - 1).max(), np.abs(T1 - (x - x**2 / 2)).max()])
        assert values.min() > 0
    first, second = np.array(errors)
    assert second.max() < 4e-4
    np.testing.assert_allclose(first / second, 4, rtol=0.05)  # O(h^2)


@pytest.mark.claims("kernels-45")
def test_the_double_integral_distinguishes_kernels_from_other_functions(rng):
    x, h = midpoints(200), 1 / 200
    for k in (Gaussian.of_width(0.3), Polynomial(3)):
        K = k(x[:, None])
        for g in rng.normal(size=(30, 200)):
            form = h * g @ apply_operator(lambda x, y, k=k: k(x[:, None], y[:, None]), g, x, h)
            assert form == pytest.approx(np.sum(h * h * np.outer(g, g) * K))
            assert form >= -1e-10 * K.max()
    one, spike = np.ones(200), np.where(x < 0.1, 1.0, 0.0)
    distance = h * one @ apply_operator(lambda x, y: -np.abs(x[:, None] - y), one, x, h)
    assert distance == pytest.approx(-1 / 3, abs=1e-4)  # - int int |x - y| = -1/3
    at_0 = h * spike @ apply_operator(lambda x, y: np.tanh(np.outer(x, y) - 1), spike, x, h)
    assert at_0 == pytest.approx(0.01 * np.tanh(-1), rel=0.01)


@pytest.mark.claims("kernels-46")
def test_mercer_sum_of_all_eigenfunctions_is_the_kernel():
    x, grid = midpoints(60), np.linspace(0, 1, 41)
    K = np.minimum.outer(x, x)
    values, functions = eigenfunctions(np.minimum.outer, x, 1 / 60)
    close(mercer_sum(values, functions, functions), K, 1e-12)
    assert values.sum() == pytest.approx(np.trace(K) / 60) == pytest.approx(0.5)
    worst = []
    for m in (5, 10, 20, 40, 80):
        lam, phi = exact(grid, m)
        error = np.abs(np.minimum.outer(grid, grid[::2]) - mercer_sum(lam, phi, phi[::2]))
        rest = 0.5 - lam.sum()  # int k(x, x) dx = 1/2
        assert error.max() <= 2 * rest + 1e-12
        assert error[-1, -1] == pytest.approx(2 * rest, abs=1e-12)
        worst.append(error.max())
    np.testing.assert_allclose(np.divide(worst[:-1], worst[1:]), 2, rtol=0.01)  # like 1/m


@pytest.mark.claims("kernels-47")
def test_without_continuity_the_expansion_misses_the_diagonal():
    for n in (50, 200):
        x = midpoints(n)
        values, functions = eigenfunctions(np.equal.outer, x, 1 / n)
        np.testing.assert_allclose(values, 1 / n)  # all tend to 0: T = 0
        few = mercer_sum(values[:5], functions[:, :5], functions[:, :5])
        close(few - np.diag(np.diag(few)), 0, 1e-12)
        assert np.count_nonzero(np.diag(few) < 0.5) >= n - 5  # while k(x, x) = 1
    smooth = eigenfunctions(np.minimum.outer, x, 1 / n, leading=5)
    near = mercer_sum(smooth.values, smooth.functions, smooth.functions)
    assert np.abs(np.diag(near) - x).max() < 0.05  # the correct statement: k continuous


@pytest.mark.claims("kernels-48")
@pytest.mark.parametrize("n", [3, 10, 40])
def test_a_linear_operator_may_have_no_eigenvalue(n, rng):
    x, (f, g) = midpoints(n), rng.normal(size=(2, n))

    def volterra(x, y):
        return (y < x[:, None]).astype(float)

    def integrated(f):
        return apply_operator(volterra, f, x, 1 / n)

    close(integrated(2 * f + g), 2 * integrated(f) + integrated(g), 1e-12)  # linear
    assert np.linalg.matrix_power(volterra(x, x), n - 1).any()
    for _ in range(n):
        f = integrated(f)
    assert not f.any()  # T^n f = 0: no f has T f = lambda f with lambda other than 0
    with pytest.raises(ValueError, match="k must be symmetric; it differs from its transpose by 1"):
        eigenfunctions(volterra, x, 1 / n)


# --- The estimators --------------------------------------------------------------------


def kernel_of(X, kernel="rbf", gamma=None, degree=3, coef0=1.0, weights=None):
    return make_kernel(kernel, gamma, degree, coef0, X, weights)


@pytest.mark.claims("kernels-07")
def test_make_kernel_reads_the_names_and_parameters_of_scikit_learn(rng):
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    D = ((X[:, None] - Z) ** 2).sum(axis=2)
    spread = 3 * np.mean((X - X.mean()) ** 2)
    for name, how, expected in (
        ("linear", {}, X @ Z.T),
        ("poly", {"gamma": 0.4, "degree": 2, "coef0": 0.3}, (0.4 * X @ Z.T + 0.3) ** 2),
        ("polynomial", {}, (X @ Z.T / 3 + 1) ** 3),
        ("rbf", {}, np.exp(-D / 3)),
        ("rbf", {"gamma": "auto"}, np.exp(-D / 3)),
        ("rbf", {"gamma": "scale"}, np.exp(-D / spread)),
        ("laplacian", {"gamma": 0.4}, np.exp(-0.4 * np.abs(X[:, None] - Z).sum(axis=2))),
        ("exponential", {"gamma": 0.4}, np.exp(-0.4 * np.sqrt(D))),
        ("sigmoid", {"gamma": 0.4, "coef0": -0.1}, np.tanh(0.4 * X @ Z.T - 0.1)),
        (AllSubsets(), {}, np.prod(1 + X[:, None] * Z, axis=2)),
        (lambda A, B: A[:, :1] + B[:, 1], {}, X[:, :1] + Z[:, 1]),
    ):
        np.testing.assert_allclose(kernel_of(X, name, **how)(X, Z), expected, rtol=1e-12)
    ones = np.ones((6, 6))
    kernel_of(X, lambda A, B: ones)(X)[:] = 0
    assert ones.all() and kernel_of(X, bell) is bell
    assert kernel_of(np.full((7, 3), 0.1), gamma="scale") == Gaussian(1.0)  # no variance
    weighted = kernel_of(X, gamma="scale", weights=np.arange(6.0) / 5)
    repeated = kernel_of(np.repeat(X, np.arange(6), axis=0), gamma="scale")
    assert weighted.gamma == pytest.approx(repeated.gamma, rel=1e-12)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kernel": Gaussian}, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": "sigmoid", "coef0": np.nan}, "coef0 must be a number < inf; got nan"),
        ({"kernel": lambda X, Z: X}, "k(X, Z) must be (3, 3), of all pairs; got (3, 2)"),
    ],
)
def test_fit_refuses_wrong_kernels(how, message):
    X = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 3.0]])
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelRidge(**{"kernel": "rbf", **how}).fit(X, np.arange(3.0))


def test_fit_runs_kernel_ridge(rng):
    X, y, Z = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(9, 2))
    for name, k in (("linear", Linear()), ("poly", Polynomial(3, 0.5)), (city, city)):
        model = KernelRidge(0.7, kernel=name).fit(X, y)
        np.testing.assert_array_equal(model.dual_coef_, kernel_ridge(k(X), y, 0.7))
        close(model.predict(Z), k(Z, X) @ model.dual_coef_)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("kernels-05")
def test_rings_are_parted_by_a_plane_and_by_no_line():
    from figures.kernels import lifted_rings, ring_plane, rings

    left, _, right = panels(lifted_rings, columns=3)
    T, (w, b) = rings(), ring_plane()
    assert (np.sign(ring_map(T.X) @ w + b) == T.y).all()
    assert separating_theta(augment(T.X), T.y) is None
    curve = np.vstack([path.vertices for c in right.collections for path in c.get_paths()])
    assert len(curve) > 50
    close(ring_map(curve) @ w + b, 0, 1e-3)  # the conic is where the plane cuts the paraboloid
    assert int(re.search(r"\d+", left.get_title())[0]) > 0


@pytest.mark.claims("kernels-22")
def test_the_trick_leads_from_inner_products_to_a_kernel():
    from figures.kernels import kernel_trick

    (ax,) = panels(kernel_trick)
    at = {text.get_text(): text.get_position()[0] for text in ax.texts}
    before, label, after = sorted(filter(None, at), key=at.get)
    assert "x_i^\\top x_l" in before and "k(x_i, x_l)" in after and "replace" in label


@pytest.mark.claims("kernels-49")
def test_machines_have_the_errors_of_their_titles_from_islands_to_a_line():
    from figures.kernels import MACHINES, WIDE, machine, machines, moons

    T, axes = moons(), panels(machines, 2, 3)
    f = {name: machine(name)(T.X) for name in MACHINES}
    errors = {name: int(np.count_nonzero(np.sign(f[name]) != T.y)) for name in MACHINES}
    assert [ax.get_title() for ax in axes] == [f"{n}: {m} errors" for n, m in errors.items()]
    narrow, good, wide = (f"Gaussian, $\\sigma = {s}$" for s in ("0.03", "0.5", "30"))
    assert errors[narrow] == errors[good] == 0 < errors["linear"]
    assert np.median(MACHINES[narrow][0](T.X) - np.eye(80)) < 1e-6  # K near the identity: islands
    gap = np.abs(f[wide] - f["linear"]).max()
    assert gap < 0.05 * np.abs(f["linear"]).max()
    kernel = Gaussian.of_width(10 * WIDE)
    nearer = SVC(C=10 * (10 * WIDE) ** 2, kernel=kernel, tol=1e-6).fit(T.X, T.y)
    assert np.abs(nearer.decision_function(T.X) - f["linear"]).max() < 0.1 * gap
