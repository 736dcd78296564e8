"""The kernels chapter: every statement of the notes, checked by a second route."""

import itertools
import re
from collections import Counter
from itertools import islice
from math import comb, factorial, sqrt

import numpy as np
import pytest
from checks import check_gradient, differences

from mlnotes.datasets import make_rings
from mlnotes.discriminant import separator
from mlnotes.kernels import (
    AllSubsets,
    Exponential,
    FeatureKernel,
    FunctionKernel,
    Gaussian,
    KernelRidge,
    Laplacian,
    Linear,
    Polynomial,
    PowerSeries,
    RKHSFunction,
    Sigmoid,
    apply_operator,
    centre,
    centre_new,
    coefficient_loss,
    eigenfunctions,
    empirical_feature_map,
    fourier_features,
    gaussian_frequencies,
    gaussian_map,
    iteration_costs,
    kernel_descent,
    kernel_ridge,
    kernel_squared_distances,
    kernel_svm,
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
    subset_products,
)
from mlnotes.linear_regression import ridge
from mlnotes.optimization import gradient_descent
from mlnotes.perceptron import perceptron

XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, -1, -1])
RANK = 1e-9  # singular values below this share of the largest are rounding


square = Polynomial(p=2)  # (1 + x^T z)^2
bell = Gaussian.of_width(0.8)
city = Laplacian(gamma=1 / 1.3)
ring_kernel = FeatureKernel(ring_map)

BY_THE_BOOK = {  # every kernel of the module, and one value of it as the notes write it
    "linear": (Linear(c=0.7), lambda x, z: x @ z + 0.7),
    "polynomial": (Polynomial(3, gamma=0.5, c=2.0), lambda x, z: (0.5 * (x @ z) + 2.0) ** 3),
    "series": (PowerSeries((1.0, 0.0, 3.0)), lambda x, z: 1 + 3 * (x @ z) ** 2),
    "subsets": (
        AllSubsets(),
        lambda x, z: np.prod([1 + a * b for a, b in zip(x, z, strict=True)]),
    ),
    "gaussian": (bell, lambda x, z: np.exp(-np.sum((x - z) ** 2) / (2 * 0.8**2))),
    "laplacian": (city, lambda x, z: np.exp(-np.abs(x - z).sum() / 1.3)),
    "laplacian, q = 2": (
        Laplacian(gamma=1 / 1.3, q=2),
        lambda x, z: np.exp(-np.linalg.norm(x - z) / 1.3),
    ),
    "exponential": (
        Exponential(1 / (2 * 1.3**2)),
        lambda x, z: np.exp(-np.linalg.norm(x - z) / (2 * 1.3**2)),
    ),
    "sigmoid": (
        Sigmoid(gamma=0.6, c=-0.4),
        lambda x, z: (np.exp(t := 0.6 * (x @ z) - 0.4) - np.exp(-t)) / (np.exp(t) + np.exp(-t)),
    ),
}
TRUE_KERNELS = {name: k for name, (k, _) in BY_THE_BOOK.items() if name != "sigmoid"}


def rank(A):
    s = np.linalg.svd(A, compute_uv=False)
    return int(np.count_nonzero(s > RANK * s[0]))


def assert_psd(K, tol=1e-10):
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -tol * np.abs(values).max()


# ---------------------------------------------------------------------------------------
# Feature maps
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("kernels-01")
def test_no_line_separates_xor_and_a_plane_in_feature_space_does():
    X, y = XOR
    assert separator(X, y) is None
    for a, b, c in itertools.product(np.linspace(-1, 1, 21), repeat=3):  # and by trying
        assert (y * (X @ [a, b] + c)).min() <= 1e-12
    states = list(islice(perceptron(subset_products(X), y), 20))
    w = states[-1].w
    assert states[-1].mistakes == 0
    assert (y * linear_in_features(X, subset_products, w) > 0).all()


@pytest.mark.claims("kernels-01")
def test_a_convex_loss_stays_convex_and_the_same_code_trains(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    A = quadratic_map(X)

    def loss(w):
        return np.sum((A @ w - y) ** 2)

    def slope(w):
        return 2 * A.T @ (A @ w - y)

    H = differences(slope, np.zeros(6))
    np.testing.assert_allclose(H, 2 * A.T @ A, rtol=1e-6, atol=1e-6)
    assert np.linalg.eigvalsh(H)[0] > 0
    eta = 1 / np.linalg.eigvalsh(H)[-1]
    *_, last = islice(gradient_descent(loss, slope, np.zeros(6), eta=eta), 8000)
    best = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(last.x, best, rtol=0, atol=1e-8)
    np.testing.assert_allclose(linear_in_features(X, quadratic_map, best, 2.0), A @ best + 2)


@pytest.mark.claims("kernels-02")
@pytest.mark.parametrize("d", range(1, 13))
def test_there_are_two_to_the_d_products_of_subsets(d):
    x = np.random.default_rng(d).integers(2, 9, size=d).astype(float)
    phi = subset_products(x[None])[0]
    by_size = [list(itertools.combinations(x, j)) for j in range(d + 1)]
    assert len(phi) == 2**d == sum(map(len, by_size))
    assert sorted(phi) == sorted(np.prod(s) for subsets in by_size for s in subsets)
    degrees = np.log2(subset_products(np.full((1, d), 2.0))[0])  # 2 to the number of factors
    assert [np.count_nonzero(degrees == j) for j in range(d + 1)] == [
        comb(d, j) for j in range(d + 1)
    ]


@pytest.mark.claims("kernels-03")
def test_every_conic_is_linear_in_the_quadratic_features(rng):
    np.testing.assert_array_equal(quadratic_map(np.array([[2.0, 3.0]])), [[1, 2, 3, 6, 4, 9]])
    a, b, c, d, e, f = rng.normal(size=6)
    X = rng.normal(size=(100, 2))
    x, z = X.T
    direct = a * x + b * z + c * x * z + d * x**2 + e * z**2 + f
    np.testing.assert_allclose(quadratic_map(X) @ [f, a, b, c, d, e], direct, rtol=0, atol=1e-12)
    T = make_rings(80, radii=(1.0, 2.0), noise=0.3, rng=rng)
    circle = quadratic_map(T.X) @ [-(1.5**2), 0, 0, 0, 1, 1]
    assert (np.sign(circle) == T.y).all() and separator(T.X, T.y) is None


@pytest.mark.claims("kernels-04")
def test_rings_are_separable_on_the_paraboloid(rng):
    X, Z = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    np.testing.assert_allclose(ring_map(X) @ ring_map(Z).T, ring_kernel(X, Z), rtol=0, atol=1e-12)
    T = make_rings(200, radii=(1.0, 2.0), noise=0.4, rng=rng)
    height = ((1.0 + 0.4) ** 2 + (2.0 - 0.4) ** 2) / 2
    assert (np.where(ring_map(T.X)[:, 2] > height, 1, -1) == T.y).all()


@pytest.mark.claims("kernels-06")
@pytest.mark.parametrize(
    "k, phi",
    [(AllSubsets(), subset_products), (square, scaled_quadratic_map), (ring_kernel, ring_map)],
)
def test_a_kernel_is_an_inner_product_of_features(k, phi, rng):
    X, Z = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))
    explicit = np.einsum("ij,ij->i", phi(X), phi(Z))
    K = np.array([k(X[i : i + 1], Z[i : i + 1])[0, 0] for i in range(1000)])
    size = np.linalg.norm(phi(X), axis=1) * np.linalg.norm(phi(Z), axis=1)
    assert (np.abs(K - explicit) <= 1e-12 * size).all()
    np.testing.assert_allclose(k(X[:20], Z[:20]), k(Z[:20], X[:20]).T, rtol=1e-12)


@pytest.mark.claims("kernels-10")
def test_the_square_of_one_plus_the_inner_product_needs_its_roots_of_two(rng):
    X, Z = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))
    explicit = np.sum(scaled_quadratic_map(X) * scaled_quadratic_map(Z), axis=1)
    (a, b), (c, d) = X.T, Z.T
    expanded = 1 + a**2 * c**2 + b**2 * d**2 + 2 * a * c + 2 * b * d + 2 * a * b * c * d
    size = (1 + np.linalg.norm(X, axis=1) * np.linalg.norm(Z, axis=1)) ** 2
    for other in (expanded, (1 + np.sum(X * Z, axis=1)) ** 2):
        assert (np.abs(explicit - other) <= 1e-12 * size).all()
    np.testing.assert_array_equal(scaled_quadratic_map(np.zeros((1, 2))), [[1, 0, 0, 0, 0, 0]])
    one = np.ones((1, 2))
    plain, scaled = quadratic_map(one), scaled_quadratic_map(one)
    assert (plain @ plain.T).item() == 6 and square(one).item() == 9
    assert (scaled @ scaled.T).item() == pytest.approx(9, abs=1e-12)


@pytest.mark.claims("kernels-10")
def test_unscaled_monomials_span_the_same_functions_and_are_penalised_otherwise(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    A, B = quadratic_map(X), scaled_quadratic_map(X)
    np.testing.assert_allclose(A @ np.linalg.pinv(A), B @ np.linalg.pinv(B), rtol=0, atol=1e-10)
    fits = [F @ np.linalg.solve(F.T @ F + np.eye(6), F.T @ y) for F in (A, B)]
    assert np.abs(fits[0] - fits[1]).max() > 1e-3


@pytest.mark.claims("kernels-11")
def test_the_printed_square_of_feature_products_is_another_kernel():
    one = np.ones((1, 2))
    inner = (scaled_quadratic_map(one) @ scaled_quadratic_map(one).T).item()
    assert square(one).item() == pytest.approx(inner) == pytest.approx(9)
    assert (1 + inner) ** 2 == pytest.approx(100)


@pytest.mark.claims("kernels-12")
@pytest.mark.parametrize("d, p", list(itertools.product((1, 2, 3), range(5))))
def test_polynomial_kernel_is_the_product_of_weighted_monomials(d, p, rng):
    X, Z = rng.normal(size=(15, d)), rng.normal(size=(12, d))
    phi, psi = (polynomial_map(A, p, gamma=0.7, c=1.9) for A in (X, Z))
    assert phi.shape == (15, comb(d + p, p))
    K = Polynomial(p, 0.7, 1.9)(X, Z)
    np.testing.assert_allclose(phi @ psi.T, K, rtol=1e-10, atol=1e-10)
    assert_psd(Polynomial(p, 0.7, 1.9)(X))


@pytest.mark.claims("kernels-12")
@pytest.mark.parametrize("p", range(1, 7))
def test_the_binomial_sum_is_a_power(p, rng):
    X = rng.normal(size=(20, 3))
    K = Polynomial(p)(X)
    a = [comb(p, j) for j in range(p + 1)]
    np.testing.assert_allclose(PowerSeries(a)(X), K, rtol=0, atol=1e-12 * np.abs(K).max())


@pytest.mark.claims("kernels-13")
@pytest.mark.parametrize("d, p, D", [(2, 2, 6), (2, 3, 10), (3, 2, 10)])
def test_the_features_of_a_polynomial_kernel_are_counted_by_a_rank(d, p, D, rng):
    X = rng.uniform(-1, 1, size=(D + 20, d))
    assert rank(Polynomial(p)(X)) == D == comb(d + p, p) == polynomial_map(X, p).shape[1]
    exponents = [e for e in itertools.product(range(p + 1), repeat=d) if sum(e) <= p]
    assert len(exponents) == D


@pytest.mark.claims("kernels-14")
@pytest.mark.parametrize("d, p, D, printed", [(2, 2, 3, 6), (2, 3, 4, 10), (3, 2, 6, 10)])
def test_without_a_constant_the_features_are_fewer(d, p, D, printed, rng):
    X = rng.uniform(-1, 1, size=(30, d))
    assert rank(Polynomial(p, c=0.0)(X)) == D == comb(d + p - 1, p) != printed
    assert rank(Polynomial(p, c=0.5)(X)) == printed == comb(d + p, p)


@pytest.mark.claims("kernels-16")
def test_the_gaussian_series_has_the_error_of_its_next_terms(rng):
    x, z = rng.uniform(-1, 1, size=(2, 50))
    exact = np.exp(-((x[:, None] - z) ** 2))
    inner = gaussian_map(x, sqrt(0.5), 30) @ gaussian_map(z, sqrt(0.5), 30).T
    np.testing.assert_allclose(inner, exact, rtol=0, atol=1e-10)
    t = np.abs(2 * x[:, None] * z)
    for m in range(1, 30):
        error = np.abs(gaussian_map(x, sqrt(0.5), m) @ gaussian_map(z, sqrt(0.5), m).T - exact)
        bound = np.exp(-(x[:, None] ** 2) - z**2) * t**m / factorial(m) * np.exp(t)
        assert (error <= bound + 1e-14).all()
    s, m = 1.7, 6
    literal = [
        [np.exp(-(v**2) / s**2) * sqrt((2 / s**2) ** j / factorial(j)) * v**j for j in range(m)]
        for v in x
    ]
    np.testing.assert_allclose(gaussian_map(x, s / sqrt(2), m), literal, rtol=1e-12)


@pytest.mark.claims("kernels-16")
def test_the_gaussian_series_of_points_far_from_the_origin_has_the_length_one():
    x = np.array([30.0, -30.0, 29.5])  # exp(-x^2) alone is 0
    phi = gaussian_map(x, sqrt(0.5), 3000)
    np.testing.assert_allclose(phi @ phi.T, np.exp(-((x[:, None] - x) ** 2)), rtol=0, atol=1e-10)


@pytest.mark.claims("kernels-16")
@pytest.mark.parametrize("n", [10, 50, 100])
def test_gaussian_gram_matrices_have_full_rank_however_large(n):
    K = Gaussian.of_width(1.0)(2.0 * np.arange(n)[:, None])
    assert np.linalg.matrix_rank(K) == n


@pytest.mark.claims("kernels-17")
def test_fourier_features_have_the_stated_mean_and_variance(rng):
    X, D, draws, sigma = np.array([[0.3, -0.2, 0.5], [-0.4, 0.6, 0.1]]), 5, 2000, 0.9
    k = Gaussian.of_width(sigma)(X)[0, 1]
    found = np.empty(draws)
    for i in range(draws):
        z = fourier_features(X, gaussian_frequencies(D, 3, sigma, rng=rng))
        np.testing.assert_allclose(np.sum(z**2, axis=1), 1, rtol=1e-12)
        found[i] = z[0] @ z[1]
    variance = (1 - k**2) ** 2 / (2 * D)
    assert abs(found.mean() - k) < 4 * np.sqrt(variance / draws)
    squares = (found - k) ** 2
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(draws)
    assert abs(found.mean() - Gaussian.of_width(sigma / sqrt(2))(X)[0, 1]) > 0.05  # s for sigma


# ---------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------


def test_gaussian_matrices_are_symmetric_to_the_last_bit(rng):
    X = rng.normal(size=(300, 4)) + 5.0
    K = Gaussian.of_width(1.3)(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K.diagonal(), 1)
    np.testing.assert_array_equal(Gaussian.of_width(1.3)(X, X), K)
    np.testing.assert_allclose(Gaussian.of_width(1.3)(X, X.copy()), K, rtol=1e-13)
    distances = ((X[:, None] - X) ** 2).sum(axis=-1)
    np.testing.assert_allclose(K, np.exp(-distances / (2 * 1.3**2)), rtol=1e-13)


@pytest.mark.claims("kernels-07", "kernels-15", "kernels-20")
@pytest.mark.parametrize("name", BY_THE_BOOK)
def test_matrices_equal_the_double_loop(name, rng):
    k, one = BY_THE_BOOK[name]
    X, Z = rng.normal(size=(9, 3)), rng.normal(size=(7, 3))
    loop = [[one(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(k(X, Z), loop, rtol=1e-12, atol=1e-14)
    K = k(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diag(K), [one(x, x) for x in X], rtol=1e-12)
    np.testing.assert_array_equal(FunctionKernel(k)(X, Z), k(X, Z))
    long = rng.normal(size=(600, 3))
    np.testing.assert_allclose(k(long)[599, :5], k(long[599:], long[:5])[0], rtol=1e-9, atol=1e-12)


@pytest.mark.claims("kernels-07")
def test_names_have_the_parameters_of_scikit_learn(rng):
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    square_norm = ((X[:, None] - Z) ** 2).sum(axis=2)
    for name, how, expected in (
        ("linear", {}, X @ Z.T),
        ("poly", {"gamma": 0.4, "degree": 2, "coef0": 0.3}, (0.4 * X @ Z.T + 0.3) ** 2),
        ("polynomial", {}, (X @ Z.T / 3 + 1) ** 3),
        ("rbf", {"gamma": 0.4}, np.exp(-0.4 * square_norm)),
        ("rbf", {}, np.exp(-square_norm / 3)),
        ("rbf", {"gamma": "auto"}, np.exp(-square_norm / 3)),
        ("rbf", {"gamma": "scale"}, np.exp(-square_norm / (3 * np.mean((X - X.mean()) ** 2)))),
        ("laplacian", {"gamma": 0.4}, np.exp(-0.4 * np.abs(X[:, None] - Z).sum(axis=2))),
        ("exponential", {"gamma": 0.4}, np.exp(-0.4 * np.sqrt(square_norm))),
        ("sigmoid", {"gamma": 0.4, "coef0": -0.1}, np.tanh(0.4 * X @ Z.T - 0.1)),
        (AllSubsets(), {}, np.prod(1 + X[:, None] * Z, axis=2)),
        (lambda A, B: A[:, :1] + B[:, 1], {}, X[:, :1] + Z[:, 1]),
    ):
        k = kernel_of(X, name, **how)
        np.testing.assert_allclose(k(X, Z), expected, rtol=1e-12, err_msg=str(name))


def kernel_of(X, kernel="rbf", gamma=None, degree=3, coef0=1.0):
    """The kernel of `KernelRidge`, with its defaults."""
    return make_kernel(kernel, gamma, degree, coef0, X)


class Watched(np.ndarray):
    """An array that counts the multiplications of its entries, by how they are done."""

    products = Counter()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **how):
        if out is not None:
            how["out"] = tuple(np.asarray(each) for each in out)
        result = getattr(ufunc, method)(*map(np.asarray, inputs), **how)
        Watched.products[method] += result.size * (ufunc is np.multiply)
        return result.view(Watched)


@pytest.mark.claims("kernels-08")
@pytest.mark.parametrize("d", range(1, 13))
def test_the_product_of_d_factors_is_the_sum_of_two_to_the_d(d, rng):
    X, Z = rng.normal(size=(10, d)), rng.normal(size=(8, d))
    phi, psi = subset_products(X), subset_products(Z)
    size = np.outer(np.linalg.norm(phi, axis=1), np.linalg.norm(psi, axis=1))
    assert (np.abs(AllSubsets()(X, Z) - phi @ psi.T) <= 1e-12 * size).all()

    x, z = (A[:1].view(Watched) for A in (X, Z))
    Watched.products.clear()
    AllSubsets().matrix(x, z)
    assert Watched.products == {"outer": d, "__call__": d}  # the x_k z_k, and those of the factors
    assert phi.shape[1] == 2**d


@pytest.mark.claims("kernels-09")
def test_the_linear_kernel_is_a_linear_model(rng):
    X, c = rng.normal(size=(12, 3)), 0.8
    K = Linear(c)(X)
    np.testing.assert_allclose(K, X @ X.T + c * np.ones((12, 12)), rtol=1e-14)
    A = np.column_stack([X, np.full(12, np.sqrt(c))])
    np.testing.assert_allclose(K, A @ A.T, rtol=0, atol=1e-12)
    y, w, eta = rng.normal(size=12), np.zeros(4), 0.01
    for state in islice(kernel_descent(K, y, eta=eta), 50):
        np.testing.assert_allclose(K @ state.alpha, A @ w, rtol=0, atol=1e-10)
        w = w - eta * 2 * A.T @ (A @ w - y)
    verdict = psd_certificate(Linear(-0.5)(np.zeros((1, 2))))  # at x = 0
    assert not verdict.holds and verdict.smallest == -0.5
    wide = rng.normal(size=(5, 40))
    assert Linear()(wide).size < wide.size and Linear()(X).size > X.size  # n^2 against n d


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.float32])
def test_small_integers_and_single_precision_are_computed_in_double(kind, rng):
    X, Z = (rng.integers(1, 100, size=shape).astype(kind) for shape in ((8, 2), (5, 2)))
    A, B = X.astype(float), Z.astype(float)
    for k, _ in BY_THE_BOOK.values():
        for few, whole in ((k(X, Z), k(A, B)), (k(X), k(A)), (k(X, X), k(A, A))):
            np.testing.assert_array_equal(few, whole)  # the products of integers would wrap
        assert k(X).dtype == np.float64
    maps = subset_products, quadratic_map, ring_map, scaled_quadratic_map
    for phi in (*maps, lambda X: polynomial_map(X, 3), lambda X: gaussian_map(X[:, 0], 9.0, 4)):
        np.testing.assert_array_equal(phi(X), phi(A))
    K = np.array([[100, 90], [90, 100]]).astype(kind)
    for f in (centre, empirical_feature_map, screen):
        np.testing.assert_array_equal(f(K), f(K.astype(float)))
    assert psd_certificate(K).smallest == psd_certificate(K.astype(float)).smallest
    a = kernel_ridge(np.array([[2, 0], [0, 6]], dtype=kind), np.array([5, 13]), 0.5)
    np.testing.assert_allclose(a, [2, 2], rtol=1e-14)
    D = kernel_squared_distances(X @ X.T * 0 + 1, *(np.full(8, 120, dtype=kind),) * 2)
    np.testing.assert_array_equal(D, 238)


def test_large_means_cost_the_gaussian_kernel_no_digits(rng):
    X = np.round(rng.normal(size=(140, 3)), 3)
    far = 1000 * X + 2.0**40
    near = far - 2.0**40  # the same samples, without rounding
    for sigma in (30.0, 1000.0):
        np.testing.assert_allclose(Gaussian.of_width(sigma)(far), Gaussian.of_width(sigma)(near),
                                   rtol=1e-11, atol=1e-300)  # fmt: skip
        np.testing.assert_allclose(Gaussian.of_width(sigma)(far, far + 7),
                                   Gaussian.of_width(sigma)(near, near + 7),
                                   rtol=1e-11, atol=1e-300)  # fmt: skip


def test_samples_far_apart_and_near_each_other_keep_their_digits(rng):
    X = rng.normal(size=(30, 3)) + np.repeat([[1e5], [-1e5]], 15, axis=0)
    exact = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / 2)
    for K in (Gaussian.of_width(1.0)(X), Gaussian.of_width(1.0)(X, X + 0)):
        np.testing.assert_allclose(K, exact, rtol=1e-12, atol=1e-300)
    X = 8 * rng.normal(size=(30, 3))  # of squares that cancel to a little less than 0
    K = Gaussian.of_width(1.0)(X, X + 0)
    assert K.max() <= 1
    np.testing.assert_allclose(K.diagonal(), 1, rtol=1e-12)


@pytest.mark.claims("kernels-15")
def test_gaussian_kernel_and_its_limits(rng):
    X = rng.normal(size=(20, 2))
    K = Gaussian.of_width(0.6)(X)
    np.testing.assert_array_equal(np.diag(K), 1)
    assert (K > 0).all() and (K <= 1).all()
    np.linalg.cholesky(K)
    s = sqrt(2) * 0.6
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(K, np.exp(-D / s**2), rtol=1e-12)
    np.testing.assert_allclose(Gaussian.of_width(1e6)(X), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(Gaussian.of_width(1e-6)(X), np.eye(20), rtol=0, atol=1e-9)
    far = Gaussian.of_width(1.0)(np.array([[1e100], [-1e100]]))
    np.testing.assert_array_equal(far, np.eye(2))


@pytest.mark.claims("kernels-19")
@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_laplacian_and_exponential_kernels_are_positive_definite(d, rng):
    X = rng.normal(size=(25, d))
    for q in (1, 2):
        assert np.linalg.eigvalsh(Laplacian(1 / 1.4, q)(X))[0] > 0
    assert np.linalg.eigvalsh(Exponential(1 / (2 * 0.9**2))(X))[0] > 0
    np.testing.assert_allclose(
        Exponential(1 / (2 * 0.9**2))(X), Laplacian(1 / (2 * 0.9**2), q=2)(X), rtol=1e-12
    )
    single = np.prod([Laplacian(1 / 1.4)(x[:, None]) for x in X.T], axis=0)
    np.testing.assert_allclose(Laplacian(1 / 1.4)(X), single, rtol=1e-12)


@pytest.mark.claims("kernels-20")
def test_sigmoid_is_symmetric_and_bounded_and_not_a_kernel(rng):
    X = 3 * rng.normal(size=(20, 2))
    K = Sigmoid(0.7, 0.2)(X)
    t = 0.7 * X @ X.T + 0.2
    small = np.abs(t) < 5
    e, f = np.exp(t[small]), np.exp(-t[small])
    np.testing.assert_allclose(K[small], (e - f) / (e + f), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert (np.abs(K) <= 1).all()
    assert refute(Sigmoid(0.7, 0.2), [X]).form < 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda X: kernel_of(X, "cubic"), "kernel must be one of 'linear', 'poly'"),
        (lambda X: kernel_of(X, gamma=0), "gamma must be a number > 0 and < inf; got 0"),
        (
            lambda X: kernel_of(X, gamma="big"),
            "gamma must be one of 'scale', 'auto', None; got 'big",
        ),
        (lambda X: kernel_of(X, degree=0), "degree must be an integer >= 1; got 0"),
        (lambda X: kernel_of(X, "poly", coef0=-1), "coef0 must be a number >= 0 and < inf; got -1"),
        (
            lambda X: FunctionKernel(lambda X, Z: X)(X),
            "k(X, Z) must be (3, 3), of all pairs; got (3",
        ),
        (lambda X: psd_certificate(X), "K must be square; got shape (3, 2)"),
        (lambda X: eigenfunctions(np.less.outer, X[:, 0], 1.0), "k must be symmetric"),
        (lambda X: polynomial_map(X, 2, gamma=-1.0), "gamma must be a number >= 0; got -1.0"),
        (lambda X: polynomial_map(X, 1.5), "p must be an integer >= 0; got 1.5"),
        (lambda X: gaussian_map(X[0], 0.0, 3), "sigma must be a number > 0; got 0.0"),
        (lambda X: gaussian_map(X[0], 1.0, 0), "terms must be an integer >= 1; got 0"),
        (lambda X: screen(X[:1]), "K must be square; got shape (1, 2)"),
        (lambda X: screen(X[:2] * np.nan), "K must be finite; it contains NaN or infinity 4 times"),
        (lambda X: psd_certificate(X[:2] / 0.0), "K must be finite; it contains NaN or infinity 4"),
        (lambda X: refute(lambda A, B: A @ B.T * np.nan, [X]), "K must be finite; it contains NaN"),
        (lambda X: kernel_ridge(np.eye(3) * np.nan, X[:, 0], 1.0), "K must be finite; it contains"),
        (lambda X: kernel_svm(np.eye(3), X[:, 0], 1.0), "y must hold -1 and +1, and both; got [0."),
        (
            lambda X: kernel_svm(np.eye(3), np.ones(3), 1.0),
            "y must hold -1 and +1, and both; got [",
        ),
        (lambda X: kernel_svm(np.eye(3), np.array([1, 1, -1]), 0), "C must be a number > 0; got 0"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_wrong_parameters_and_matrices_are_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 3.0]]))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kernel": np.array(["rbf", "rbf"])}, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": Gaussian}, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": None}, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": "linear", "gamma": np.inf}, "gamma must be a number > 0 and < inf; got inf"),
        ({"gamma": np.array([1.0, 2.0])}, "gamma must be a number > 0 and < inf; got array("),
        ({"gamma": float}, "gamma must be a number > 0 and < inf; got <class 'float'>"),
        ({"degree": np.array([2, 3])}, "degree must be an integer >= 1; got array([2, 3])"),
        ({"coef0": [1.0]}, "coef0 must be a number >= 0 and < inf; got [1.0]"),
        ({"kernel": "sigmoid", "coef0": np.nan}, "coef0 must be a number < inf; got nan"),
    ],
)
def test_kernel_parameters_of_a_wrong_type_are_refused_by_name(how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelRidge(**{"kernel": "rbf", **how}).fit(np.eye(3), np.arange(3.0))


def test_the_kernel_of_a_fit_stays_when_a_parameter_is_set_afterwards(rng):
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    model = KernelRidge(kernel="rbf", gamma=0.3).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(gamma=2.0, kernel="linear").predict(X), before)
    by_object = KernelRidge(kernel=Gaussian(0.3)).fit(X, y)
    np.testing.assert_array_equal(by_object.predict(X), before)


@pytest.mark.parametrize("name", BY_THE_BOOK)
def test_sets_with_different_numbers_of_features_are_refused(name):
    k, _ = BY_THE_BOOK[name]
    for Z in (np.ones((4, 2)), np.ones((4, 1))):
        with pytest.raises(ValueError):
            k(np.ones((4, 3)), Z)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda c: kernel_squared_distances(np.eye(3), c[:, 0], c),
         "K, k_x and k_z must be (n, m), (n,) and (m,); got (3, 3), (3,) and (3, 1)"),
        (lambda c: centre_new(c, np.eye(3)),
         "K_new and K must be (m, n) and (n, n); got (3, 1) and (3, 3)"),
        (lambda c: centre(np.ones((2, 3))), "K must be square; got shape (2, 3)"),
        (lambda c: RKHSFunction(Linear(), np.eye(3), c), "alpha must have shape (3,); got (3, 1)"),
        (lambda c: apply_operator(np.minimum.outer, c, c[:, 0], 1.0), "f must have shape (3,);"),
        (lambda c: sample_coefficients(np.eye(3), c, c[:, 0]), "y must have shape (3,); got (3, 1"),
        (lambda c: coefficient_loss(np.eye(3), c, c[:, 0]), "y must have shape (3,); got (3, 1"),
        (lambda c: next(kernel_descent(np.eye(3), c, eta=1.0)), "y must have shape (3,); got ("),
        (lambda c: kernel_ridge(np.eye(3), c, 1.0), "y must have shape (3,); got (3, 1)"),
        (lambda c: kernel_ridge(np.eye(3), c[:, 0], 1.0, c), "weights must have shape (3,); got"),
        (lambda c: kernel_svm(np.eye(3), c, 1.0), "y must have shape (3,); got (3, 1)"),
    ],
)  # fmt: skip
def test_columns_are_refused_where_vectors_are_wanted(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(np.ones((3, 1)))


# ---------------------------------------------------------------------------------------
# The kernel trick
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("kernels-21")
@pytest.mark.parametrize("k, phi", [(Linear(), lambda X: X), (square, scaled_quadratic_map)])
def test_kernelised_methods_are_the_originals_on_features(k, phi, rng):
    X, Z, y = rng.normal(size=(25, 2)), rng.normal(size=(15, 2)), rng.normal(size=25)
    A, B = phi(X), phi(Z)
    D = kernel_squared_distances(k(Z, X), np.diag(k(Z)), np.diag(k(X)))
    explicit = ((B[:, None] - A) ** 2).sum(axis=2)
    np.testing.assert_allclose(D, explicit, rtol=0, atol=1e-10 * explicit.max())
    np.testing.assert_array_equal(D.argmin(axis=1), explicit.argmin(axis=1))  # nearest neighbour
    a = kernel_ridge(k(X), y, 0.5)
    np.testing.assert_allclose(k(Z, X) @ a, B @ ridge(A, y, 0.5), rtol=0, atol=1e-8)
    values, V = np.linalg.eigh(centre(k(X)))  # PCA
    C = A - A.mean(axis=0)
    r = A.shape[1] - (phi is scaled_quadratic_map)  # a constant feature has no variance
    np.testing.assert_allclose(values[::-1][:r], np.linalg.svd(C)[1][:r] ** 2, rtol=1e-8)
    top = np.linalg.eigh(C.T @ C)[1][:, -1]
    score = centre_new(k(Z, X), k(X)) @ V[:, -1] / np.sqrt(values[-1])
    np.testing.assert_allclose(np.abs(score), np.abs((B - A.mean(axis=0)) @ top), rtol=0, atol=1e-8)


@pytest.mark.claims("kernels-29", "kernels-21")
@pytest.mark.parametrize("k, phi", [(Linear(), lambda X: X), (square, scaled_quadratic_map)])
def test_a_kernel_machine_is_the_linear_machine_on_features(k, phi, rng):
    X = rng.normal(size=(30, 2))
    y, C, Z = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=30) > 0, 1, -1), 2.0, X[:7] + 0.1
    machine = kernel_svm(k(X), y, C)
    A = phi(X)
    on_features = kernel_svm(A @ A.T, y, C)
    assert machine.objective == pytest.approx(on_features.objective, rel=1e-8)
    w = A.T @ (machine.alpha * y)
    f = k(Z, X) @ (machine.alpha * y) + machine.b
    w_explicit = A.T @ (on_features.alpha * y)
    np.testing.assert_allclose(f, phi(Z) @ w_explicit + on_features.b, rtol=0, atol=1e-6)
    assert abs(machine.alpha @ y) < 1e-8 and machine.residual < 1e-6 > on_features.residual
    assert machine.alpha.min() >= -1e-9 and machine.alpha.max() <= C + 1e-9
    margin = y * (A @ w + machine.b)  # the KKT conditions, written out
    assert (margin[machine.alpha < 1e-6] >= 1 - 1e-6).all()
    assert (margin[machine.alpha > C - 1e-6] <= 1 + 1e-6).all()
    primal = w @ w / 2 + C * np.maximum(0, 1 - margin).sum()
    assert machine.objective == pytest.approx(primal, rel=1e-7)


@pytest.mark.claims("kernels-30")
def test_without_its_equality_the_dual_is_that_of_a_machine_without_offset(rng):
    from mlnotes.optimization import box, solve_qp

    X = rng.normal(size=(20, 2)) + [6.0, 6.0]  # far from the origin: the offset matters
    y, C = np.where(X[:, 0] > 6.5, 1, -1), 1.0
    K = Linear()(X)
    machine = kernel_svm(K, y, C)
    w = X.T @ (machine.alpha * y)
    primal = w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + machine.b)).sum()
    assert machine.objective == pytest.approx(primal, rel=1e-6)
    G, h = box(np.zeros(20), np.full(20, C))
    printed = solve_qp(K * np.outer(y, y), -np.ones(20), G=G, h=h)
    assert abs(printed.x @ y) > 0.05
    assert abs(-printed.objective - primal) > 0.01 * primal
    w = X.T @ (printed.x * y)
    without = w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w)).sum()
    assert -printed.objective == pytest.approx(without, rel=1e-6)


@pytest.mark.parametrize("y", [[1, -1, -1, 1], [-1, 1, 1, -1]])
def test_offset_minimises_the_primal_where_no_multiplier_is_free(y):
    X, y, C = np.array([[0.0], [0.0], [0.1], [0.3]]), np.array(y), 0.1
    machine = kernel_svm(Linear()(X), y, C)
    w = X.T @ (machine.alpha * y)

    def primal(offset):
        return np.maximum(0, 1 - y * (X @ w + offset)).sum()

    assert primal(machine.b) == pytest.approx(min(primal(t) for t in np.linspace(-3, 3, 6001)))


@pytest.mark.parametrize("C", [0.01, 1e-8])
def test_offset_is_the_middle_of_its_interval_where_no_multiplier_is_free(C):
    X, y = np.array([[1.0], [7.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1])
    machine = kernel_svm(Linear()(X), y, C)  # all at C: w = 12 C, y (w x + b) <= 1
    np.testing.assert_allclose(machine.alpha, C, rtol=1e-6)
    low, high = -1 + 12 * C * 3, 1 - 12 * C * 7
    assert machine.b == pytest.approx((low + high) / 2, rel=1e-6)


def test_squared_distances_of_features_are_never_negative():
    over = np.array([[1.0 + 1e-15]])
    np.testing.assert_array_equal(kernel_squared_distances(over, np.ones(1), np.ones(1)), 0)


def test_centred_features_have_mean_zero(rng):
    X, Z = rng.normal(size=(12, 2)), rng.normal(size=(5, 2))
    A, B = scaled_quadratic_map(X), scaled_quadratic_map(Z)
    mean = A.mean(axis=0)
    np.testing.assert_allclose(centre(square(X)), (A - mean) @ (A - mean).T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        centre_new(square(Z, X), square(X)), (B - mean) @ (A - mean).T, rtol=0, atol=1e-10
    )
    H = np.eye(12) - 1 / 12
    np.testing.assert_allclose(centre(bell(X)), H @ bell(X) @ H, rtol=0, atol=1e-12)


def test_features_with_a_mean_far_from_zero_are_centred_to_the_last_digits(rng):
    x = rng.normal(size=50)
    K_c = centre(np.outer(x, x) + 1e9 / 3)
    np.testing.assert_allclose(
        K_c.sum(axis=0), 0, rtol=0, atol=1e-12
    )  # once, and 1e-5 would be left
    np.testing.assert_allclose(K_c, np.outer(x - x.mean(), x - x.mean()), rtol=0, atol=1e-7)


# ---------------------------------------------------------------------------------------
# Least squares in coefficients
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("kernels-23")
def test_the_gradient_is_a_combination_of_the_samples(rng):
    X, w = rng.normal(size=(4, 9)), rng.normal(size=9)
    y = np.array([1.0, -1.0, 1.0, 1.0])
    check_gradient(
        lambda v: np.sum((X @ v - y) ** 2), lambda v: X.T @ sample_coefficients(X, y, v), w
    )
    outside = np.eye(9) - np.linalg.pinv(X) @ X
    for loss in (
        lambda f: (f - y) ** 2,
        lambda f: np.log1p(np.exp(-y * f)),
        lambda f: np.maximum(0, 1 - y * f),
        lambda f: np.maximum(0, -y * f),
    ):
        slope = differences(loss, X @ w).sum(axis=1)  # l'(f_i), which is all that it depends on
        numeric = differences(lambda v, loss=loss: loss(X @ v).sum(), w)
        np.testing.assert_allclose(numeric, X.T @ slope, rtol=0, atol=1e-8)
        assert np.abs(outside @ X.T @ slope).max() < 1e-12 and np.abs(slope).max() > 0


@pytest.mark.claims("kernels-23", "kernels-26")
def test_descent_in_coefficients_is_descent_in_weights(rng):
    X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    K, A = AllSubsets()(X), subset_products(X)
    for kernel, features in ((X @ X.T, X), (K, A)):
        top = np.linalg.eigvalsh(kernel)[-1]
        eta, w, total = 0.9 / top, np.zeros(features.shape[1]), np.zeros(8)
        losses = []
        for state in islice(kernel_descent(kernel, y, eta=eta), 200):
            np.testing.assert_allclose(features.T @ state.alpha, w, rtol=0, atol=1e-10)
            np.testing.assert_allclose(state.alpha, -eta * total, rtol=0, atol=1e-12)
            gamma = sample_coefficients(features, y, w)
            assert state.gradient_norm == pytest.approx(
                np.linalg.norm(features.T @ gamma), rel=1e-6, abs=1e-6
            )
            losses.append(state.objective)
            total, w = total + gamma, w - eta * features.T @ gamma
        assert (np.diff(losses) <= 1e-12).all() and losses[0] == pytest.approx(y @ y)
        *_, away = islice(kernel_descent(kernel, y, eta=1.1 / top), 200)
        assert away.objective > 1e3 * losses[0]


@pytest.mark.claims("kernels-24")
def test_what_is_orthogonal_to_the_samples_stays_for_ever(rng):
    X, y, start = rng.normal(size=(3, 5)), rng.normal(size=3), rng.normal(size=5)
    eta, limits = 0.5 / np.linalg.eigvalsh(X @ X.T)[-1], []
    for w in (np.zeros(5), start):
        for _ in range(5000):
            w = w - eta * X.T @ sample_coefficients(X, y, w)
        limits.append(w)
        np.testing.assert_allclose(X @ w, y, rtol=0, atol=1e-10)  # both have zero loss
    shortest = np.linalg.pinv(X) @ y
    np.testing.assert_allclose(limits[0], shortest, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        limits[1], shortest + start - np.linalg.pinv(X) @ X @ start, rtol=0, atol=1e-8
    )
    assert np.linalg.norm(limits[1] - limits[0]) > 0.1  # the printed "does not depend" fails


@pytest.mark.claims("kernels-25")
@pytest.mark.parametrize("k, phi", [(Linear(), lambda X: X), (AllSubsets(), subset_products)])
def test_loss_and_predictions_need_coefficients_only(k, phi, rng):
    X, Z, y, alpha = (rng.normal(size=s) for s in ((10, 4), (6, 4), 10, 10))
    K, w = k(X), phi(X).T @ alpha
    np.testing.assert_allclose(K @ alpha, phi(X) @ w, rtol=0, atol=1e-12 * np.abs(K).sum())
    assert coefficient_loss(K, y, alpha) == pytest.approx(np.sum((phi(X) @ w - y) ** 2), rel=1e-10)
    np.testing.assert_allclose(RKHSFunction(k, X, alpha)(Z), phi(Z) @ w, rtol=0, atol=1e-10)


@pytest.mark.claims("kernels-26")
def test_the_residual_shrinks_by_a_known_matrix_and_the_fit_is_exact(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    K = Gaussian.of_width(0.4)(X)
    eta = 0.9 / np.linalg.eigvalsh(K)[-1]
    step, r = np.eye(6) - 2 * eta * K, -y
    for state in islice(kernel_descent(K, y, eta=eta), 60):
        np.testing.assert_allclose(K @ state.alpha - y, r, rtol=0, atol=1e-12)
        r = step @ r
    *_, last = islice(kernel_descent(K, y, eta=eta), 6000)
    np.testing.assert_allclose(last.alpha, np.linalg.solve(K, y), rtol=0, atol=1e-8)
    np.testing.assert_allclose(kernel_ridge(K, y, 0.0), last.alpha, rtol=0, atol=1e-8)
    slope = differences(lambda a: coefficient_loss(K, y, a), last.alpha + 1)
    r = K @ (last.alpha + 1) - y
    np.testing.assert_allclose(
        slope, 2 * K @ r, rtol=0, atol=1e-6
    )  # not the direction 2 r of the steps
    assert np.abs(slope - 2 * r).max() > 0.1


def test_kernel_ridge_leaves_its_matrix_alone(rng):
    K, y = bell(rng.normal(size=(5, 2))), rng.normal(size=5)
    before = K.copy()
    kernel_ridge(K, y, 1.0)
    kernel_ridge(K, y, 1.0, np.arange(1.0, 6.0))
    np.testing.assert_array_equal(K, before)


def test_states_of_descent_are_snapshots(rng):
    K, y = bell(rng.normal(size=(5, 2))), rng.normal(size=5)
    kept = [(s.alpha, s.alpha.copy()) for s in islice(kernel_descent(K, y, eta=0.1), 10)]
    for now, then in kept:
        np.testing.assert_array_equal(now, then)


@pytest.mark.claims("kernels-27")
def test_the_printed_parenthesis_leads_to_half_the_targets(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    K = Gaussian.of_width(0.4)(X)
    eta, printed = 0.4 / np.linalg.eigvalsh(K)[-1], np.zeros(6)
    for _ in range(8000):
        printed = printed - eta * (2 * (K @ printed) - y)
    *_, correct = islice(kernel_descent(K, y, eta=eta), 8000)
    np.testing.assert_allclose(K @ printed, y / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(K @ correct.alpha, y, rtol=0, atol=1e-8)


@pytest.mark.claims("kernels-28")
@pytest.mark.parametrize("d", [3, 7, 12])
def test_the_kernel_wins_below_two_to_the_d_samples(d):
    for n in (2**d - 1, 2**d, 2**d + 1):
        by_kernel, by_features = iteration_costs(n, d)
        assert by_kernel == np.broadcast_to(0.0, (n, n)).size
        assert by_features == n * subset_products(np.ones((1, d))).size
        assert np.sign(by_kernel - by_features) == np.sign(n - 2**d)
    for n in (100, 1000):
        assert Gaussian(0.5)(np.zeros((n, 1))).nbytes == 8 * n**2


# ---------------------------------------------------------------------------------------
# Is it a kernel?
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("kernels-31")
def test_certificates_agree_with_eigenvalues_and_quadratic_forms(rng):
    for seed in range(30):
        A = rng.normal(size=(6, 6))
        K = A + A.T + 2.0 * (seed % 6) * np.eye(6)
        verdict = psd_certificate(K)
        values = np.linalg.eigvalsh(K)
        assert verdict.holds == (values[0] >= 0)
        assert verdict.q @ K @ verdict.q == pytest.approx(verdict.smallest, abs=1e-10)
        assert (
            verdict.smallest == pytest.approx(values[0])
            and abs(np.linalg.norm(verdict.q) - 1) < 1e-12
        )
        forms = [q @ K @ q / (q @ q) for q in rng.normal(size=(300, 6))]
        assert min(forms) >= verdict.smallest
        assert verdict.largest == pytest.approx(np.abs(values).max())


@pytest.mark.claims("kernels-31")
@pytest.mark.parametrize("name", TRUE_KERNELS)
def test_no_point_set_refutes_a_kernel(name, rng):
    sets = (rng.normal(size=(rng.integers(2, 15), rng.integers(1, 5))) for _ in range(100))
    assert refute(TRUE_KERNELS[name], sets) is None


@pytest.mark.claims("kernels-31")
def test_point_sets_refute_functions_that_are_not_kernels(rng):
    sets = [rng.normal(size=(8, 2)) for _ in range(100)]
    for k in (
        lambda X, Z: -np.linalg.norm(X[:, None] - Z, axis=2),
        lambda X, Z: -(np.linalg.norm(X[:, None] - Z, axis=2) ** 2),
        Sigmoid(),
    ):
        found = refute(k, sets)
        assert found.form < -1e-8
        assert found.q @ k(found.X, found.X) @ found.q == pytest.approx(found.form)
    X = rng.normal(size=(12, 3))
    assert rank(Linear()(X)) == 3 and psd_certificate(Linear()(X)).holds
    assert psd_certificate(bell(X)).smallest > 0


@pytest.mark.claims("kernels-32")
def test_one_psd_matrix_or_continuity_and_symmetry_are_not_enough_for_a_kernel(rng):
    X = rng.normal(size=(2, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)  # ||x - z||: continuous and symmetric
    np.testing.assert_allclose(np.linalg.eigvalsh(D), [-D[0, 1], D[0, 1]], rtol=1e-12)
    assert not psd_certificate(D).holds
    assert psd_certificate(Sigmoid()(X[:1])).holds  # PSD on one set,
    assert refute(Sigmoid(), [np.array([[1.0], [4.0]])]) is not None  # and no kernel
    many = rng.normal(size=(10, 3))
    assert rank(Linear()(many)) == 3  # singular, so not positive definite, and yet a kernel
    assert psd_certificate(Linear()(many)).holds


@pytest.mark.claims("kernels-33")
def test_every_psd_matrix_is_a_gram_matrix(rng):
    X = rng.normal(size=(10, 2))
    twice = np.vstack([X, X[:4]])  # duplicates: a singular K
    for K, r in ((bell(X), 10), (bell(twice), 10), (Linear()(X), 2)):
        phi = empirical_feature_map(K)
        assert phi.shape[1] <= r
        np.testing.assert_allclose(phi @ phi.T, K, rtol=0, atol=1e-8)
        for q in rng.normal(size=(5, len(K))):
            assert q @ K @ q == pytest.approx(np.sum((phi.T @ q) ** 2), rel=1e-8)
    A = subset_products(X)
    q = rng.normal(size=10)
    assert q @ AllSubsets()(X) @ q == pytest.approx(np.sum((A.T @ q) ** 2), rel=1e-10)
    with pytest.raises(ValueError, match="K must have no negative eigenvalue; got -1"):
        empirical_feature_map(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.claims("kernels-34")
def test_a_nonnegative_form_without_symmetry_is_not_a_gram_matrix(rng):
    A = np.array([[1.0, 1.0], [-1.0, 1.0]])
    for q in rng.normal(size=(20, 2)):
        assert q @ A @ q == pytest.approx(q @ q)  # as the printed condition asks
    for refused in (psd_certificate, empirical_feature_map):
        with pytest.raises(
            ValueError, match="K must be symmetric; it differs from its transpose by 2"
        ):
            refused(A)
    V = rng.normal(size=(2, 2))
    assert not np.allclose(V @ V.T, A) and np.allclose(V @ V.T, (V @ V.T).T)
    K, S = V @ V.T, np.array([[0.0, 3.0], [-3.0, 0.0]])
    for q in rng.normal(size=(20, 2)):
        assert q @ (K + S) @ q == pytest.approx(q @ K @ q)


@pytest.mark.claims("kernels-35")
def test_necessary_conditions_are_necessary_and_not_sufficient(rng):
    X = rng.normal(size=(5, 2))
    norm, D = np.linalg.norm(X, axis=1), np.linalg.norm(X[:, None] - X, axis=2)
    skew = np.exp(-D - norm)  # exp(-||x - z|| - ||z||)
    assert screen(skew).startswith("k(x, z) differs from k(z, x) for samples 0 and")
    np.testing.assert_allclose(skew / skew.T, np.exp(norm[:, None] - norm), rtol=1e-12)
    assert screen(np.array([[-1.0]])) == "k(x, x) < 0 for sample 0"  # ||x|| ||z|| - 1 at x = 0
    assert screen(np.outer([0.0, 2.0], [0.0, 2.0]) - 1) == "k(x, x) < 0 for sample 0"
    pair = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert screen(pair) == "k(x, z)^2 > k(x, x) k(z, z) for samples 0 and 1"
    assert psd_certificate(pair).smallest == pytest.approx(-1)
    three = np.full((3, 3), -0.9) + 1.9 * np.eye(3)
    assert screen(three) is None
    assert psd_certificate(three).smallest == pytest.approx(-0.8)
    for scale in (1e-200, 1e200):
        assert screen(scale * pair) == screen(pair) and screen(scale * three) is None
    assert screen(np.zeros((2, 2))) is None
    assert screen(np.diag([1.0, -1e-13])) is None  # for rounding
    assert screen(np.diag([1.0, -1e-9])) == "k(x, x) < 0 for sample 1"
    assert screen(-(D**2)) is not None and screen(bell(X)) is None and screen(square(X)) is None


@pytest.mark.claims("kernels-37")
def test_kernels_scale_add_and_multiply(rng):
    X, c = rng.normal(size=(8, 2)), 1.7
    k_1, k_2 = square, AllSubsets()
    A, B = scaled_quadratic_map(X), subset_products(X)
    pairs = np.einsum("ni,nj->nij", A, B).reshape(8, -1)
    for k, features in (
        (c * k_1, sqrt(c) * A),
        (k_1 * c, sqrt(c) * A),
        (c + k_1, np.column_stack([A, np.full(8, sqrt(c))])),
        (k_1 + c, np.column_stack([A, np.full(8, sqrt(c))])),
        (k_1 + k_2, np.hstack([A, B])),
        (k_1 * k_2, pairs),
    ):
        K = k(X)
        np.testing.assert_allclose(K, features @ features.T, rtol=0, atol=1e-10 * np.abs(K).max())
        np.testing.assert_allclose(k(X[:3], X[2:]), K[:3, 2:], rtol=1e-12)
        assert_psd(K)
    smallest = [psd_certificate(k(X)).smallest for k in (k_1, k_2, k_1 + k_2)]
    assert smallest[2] >= smallest[0] + smallest[1] - 1e-10  # Weyl
    np.testing.assert_allclose(
        np.linalg.eigvalsh((c * k_2)(X)), c * np.linalg.eigvalsh(k_2(X)), rtol=0, atol=1e-10
    )
    assert psd_certificate((bell * square)(X)).smallest > 0


@pytest.mark.claims("kernels-37")
def test_a_product_of_two_values_has_rank_one(rng):
    X = rng.normal(size=(7, 2))

    def f(X):
        return np.sin(X[:, :1]) - X[:, 1:] ** 3

    K = FeatureKernel(f)(X)
    expected = np.zeros(7)
    expected[-1] = np.sum(f(X) ** 2)
    np.testing.assert_allclose(np.linalg.eigvalsh(K), expected, rtol=0, atol=1e-10)
    assert np.linalg.matrix_rank(FeatureKernel(lambda X: 0 * X)(X)) == 0


@pytest.mark.claims("kernels-38")
@pytest.mark.parametrize("p", range(5))
def test_negative_coefficients_are_counted_by_negative_eigenvalues(p, rng):
    X = rng.normal(size=(12, 3))
    for _ in range(10):
        assert_psd(PowerSeries(rng.uniform(0, 2, size=p + 1))(X))
    points = np.linspace(-1.5, 2, p + 1)[:, None]
    for signs in itertools.product((-1, 1), repeat=p + 1):
        a = np.array(signs) * rng.uniform(0.5, 2, size=p + 1)
        K = PowerSeries(a)(points)
        V = np.vander(points[:, 0], p + 1, increasing=True)
        np.testing.assert_allclose(K, V @ np.diag(a) @ V.T, rtol=0, atol=1e-10)
        assert np.count_nonzero(np.linalg.eigvalsh(K) < 0) == signs.count(-1)


@pytest.mark.claims("kernels-39")
def test_fractional_exponents_do_not_give_kernels():
    def smallest(p, m):
        return np.linalg.eigvalsh(Polynomial(p)(np.arange(float(m))[:, None]))[0]

    for p, m in ((0.5, 3), (1.5, 4), (2.5, 5)):
        assert smallest(p, m) < -1e-4 and smallest(p, m - 1) > -1e-10
    for p in (1, 2, 3):
        for m in range(2, 8):
            X = np.arange(m, dtype=float)[:, None]
            assert_psd(Polynomial(p)(X))
            assert np.allclose(Polynomial(p)(X), (1 + X @ X.T) ** p)
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.float64(-1.0) ** 0.5)


@pytest.mark.claims("kernels-40")
def test_sigmoid_fails_on_a_line_at_the_origin_and_on_every_circle():
    for c in range(7):  # two points of a line
        X = np.array([[1.0], [4.0]])
        K = Sigmoid(1.0, c)(X)
        assert K[0, 0] * K[1, 1] < K[0, 1] ** 2
        assert not psd_certificate(K, tol=0.0).holds
    assert psd_certificate(Sigmoid(c=-0.1)(np.zeros((1, 2)))).smallest < 0
    turn = 2 * np.pi * np.arange(64) / 64
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    for gamma, c in itertools.product((0.01, 0.1, 0.5, 1.0, 3.0, 10.0), np.linspace(-2, 5, 9)):
        row = Sigmoid(gamma, c)(circle[:1], circle)[0]
        assert np.fft.fft(row).real.min() < -1e-12, (gamma, c)  # the eigenvalues: K is circulant
    values = np.linalg.eigvalsh(Sigmoid(1.0, 1.0)(circle))
    row = np.fft.fft(Sigmoid(1.0, 1.0)(circle[:1], circle)[0]).real
    np.testing.assert_allclose(values, np.sort(row), rtol=0, atol=1e-10)


# ---------------------------------------------------------------------------------------
# Functions
# ---------------------------------------------------------------------------------------


def expansion(k, rng, n=5, d=2):
    return RKHSFunction(k, rng.normal(size=(n, d)), rng.normal(size=n))


@pytest.mark.claims("kernels-41")
@pytest.mark.parametrize("k", [bell, square, city])
def test_finite_expansions_are_a_space_with_an_inner_product(k, rng):
    f, g, h = (expansion(k, rng, n) for n in (5, 3, 4))
    X = rng.normal(size=(9, 2))
    literal = [sum(a * k(x[None], z[None])[0, 0] for a, z in zip(f.alpha, f.X, strict=True))
               for x in X]  # fmt: skip
    np.testing.assert_allclose(f(X), literal, rtol=0, atol=1e-12 * k(X, f.X).max() * 10)
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((2.5 * f)(X), 2.5 * f(X), rtol=1e-12)
    np.testing.assert_allclose((f - g)(X), f(X) - g(X), rtol=1e-9, atol=1e-11)
    inner = f.inner(g)
    assert inner == pytest.approx(g.alpha @ f(g.X)) == pytest.approx(f.alpha @ g(f.X))
    assert inner == pytest.approx(g.inner(f))
    assert (f + 2.0 * h).inner(g) == pytest.approx(inner + 2 * h.inner(g))
    assert f.inner(f) > 0 and f.norm() == pytest.approx(sqrt(f.inner(f)))
    assert (f(X) ** 2 <= np.diag(k(X)) * f.inner(f) * (1 + 1e-12)).all()
    section = RKHSFunction(k, X[:1], np.ones(1))
    assert section(X[:1])[0] ** 2 == pytest.approx(k(X[:1])[0, 0] * section.inner(section))


@pytest.mark.claims("kernels-41")
def test_the_inner_product_does_not_depend_on_the_expansion(rng):
    X = rng.normal(size=(5, 2))  # dependent: five points of the plane
    alpha = rng.normal(size=5)
    null = np.linalg.svd(X.T)[2][-1]
    f, same = RKHSFunction(Linear(), X, alpha), RKHSFunction(Linear(), X, alpha + 3 * null)
    g = expansion(Linear(), rng)
    assert np.abs(f.alpha - same.alpha).max() > 0.1
    assert f.inner(g) == pytest.approx(same.inner(g), abs=1e-10)
    assert (f - same).inner(f - same) == pytest.approx(0, abs=1e-10)
    other = expansion(square, rng)
    for together in (f.inner, f.__add__, f.__sub__):
        with pytest.raises(ValueError, match="f and g must have one kernel; got Linear"):
            together(other)


@pytest.mark.claims("kernels-42")
@pytest.mark.parametrize("k", [bell, square, city])
def test_a_section_reproduces_values(k, rng):
    f, points = expansion(k, rng), rng.normal(size=(6, 2))
    sections = [RKHSFunction(k, x[None], np.ones(1)) for x in points]
    np.testing.assert_allclose([f.inner(s) for s in sections], f(points), rtol=0, atol=1e-10)
    G = [[s.inner(t) for t in sections] for s in sections]
    np.testing.assert_allclose(G, k(points), rtol=0, atol=1e-10)


# ---------------------------------------------------------------------------------------
# Mercer
# ---------------------------------------------------------------------------------------


def midpoints(n):
    return (np.arange(n) + 0.5) / n


def exact(x, r):
    """Eigenvalues and eigenfunctions of min(x, y) on [0, 1]."""
    i = np.arange(1, r + 1) - 0.5
    return 1 / (i * np.pi) ** 2, np.sqrt(2) * np.sin(np.pi * np.outer(x, i))


@pytest.mark.claims("kernels-44")
def test_eigenfunctions_of_the_minimum_are_sines():
    errors = []
    for n in (500, 1000):
        x = midpoints(n)
        values, functions = eigenfunctions(np.minimum.outer, x, 1 / n, leading=5)
        lam, phi = exact(x, 5)
        np.testing.assert_allclose(functions.T @ functions / n, np.eye(5), rtol=0, atol=1e-12)
        signs = np.sign(np.sum(functions * phi, axis=0))
        T1 = apply_operator(np.minimum.outer, np.ones(n), x, 1 / n)
        residual = apply_operator(np.minimum.outer, phi[:, 0], x, 1 / n) - lam[0] * phi[:, 0]
        errors.append([
            np.abs(values / lam - 1).max(), np.abs(functions * signs - phi).max(),
            np.abs(residual).max(), np.abs(T1 - (x - x**2 / 2)).max(),
        ])  # fmt: skip
        each = [apply_operator(np.minimum.outer, f, x, 1 / n) for f in functions.T]
        np.testing.assert_allclose(np.transpose(each), values * functions, rtol=0, atol=1e-12)
        assert values.min() > 0
    first, second = np.array(errors)
    assert first[0] < 2e-4 and second[0] < 5e-5
    keen = first > 1e-12  # the functions are exact at midpoints
    np.testing.assert_allclose(first[keen] / second[keen], 4, rtol=0.05)  # O(h^2)
    assert keen[0] and keen[2] and keen[3]


@pytest.mark.claims("kernels-45")
def test_the_double_integral_distinguishes_kernels_from_other_functions(rng):
    n = 200
    x, h = midpoints(n), 1 / n
    for k in (
        lambda x, y: Gaussian.of_width(0.3)(x[:, None], y[:, None]),
        lambda x, y: Polynomial(3)(x[:, None], y[:, None]),
    ):
        for g in rng.normal(size=(30, n)):
            form = h * g @ apply_operator(k, g, x, h)
            K = k(x, x)
            assert form == pytest.approx(sum(h * h * a * (K[i] @ g) for i, a in enumerate(g)))
            assert form >= -1e-10 * np.abs(K).max()
    one, spike = np.ones(n), np.where(x < 0.1, 1.0, 0.0)
    distance = h * one @ apply_operator(lambda x, y: -np.abs(x[:, None] - y), one, x, h)
    assert distance == pytest.approx(-1 / 3, abs=1e-4)  # - int int |x - y| = -1/3
    at_0 = h * spike @ apply_operator(lambda x, y: np.tanh(np.outer(x, y) - 1), spike, x, h)
    assert at_0 == pytest.approx(0.01 * np.tanh(-1), rel=0.01)


@pytest.mark.claims("kernels-46")
def test_the_kernel_is_the_sum_of_its_eigenfunctions():
    n = 60
    x = midpoints(n)
    K = np.minimum.outer(x, x)
    values, functions = eigenfunctions(np.minimum.outer, x, 1 / n)
    np.testing.assert_allclose(mercer_sum(values, functions, functions), K, rtol=0, atol=1e-12)
    assert values.sum() == pytest.approx(np.trace(K) / n) == pytest.approx(0.5)
    grid = np.linspace(0, 1, 41)
    worst = []
    for m in (5, 10, 20, 40, 80):
        lam, phi = exact(grid, m)
        error = np.abs(np.minimum.outer(grid, grid) - mercer_sum(lam, phi, phi))
        rest = 0.5 - lam.sum()  # int k(x, x) dx = 1/2
        assert error.max() <= 2 * rest + 1e-12
        assert error[-1, -1] == pytest.approx(2 * rest, abs=1e-12)
        worst.append(error.max())
    np.testing.assert_allclose(np.divide(worst[:-1], worst[1:]), 2, rtol=0.01)  # like 1/m


@pytest.mark.claims("kernels-47")
def test_without_continuity_the_expansion_misses_the_diagonal():
    for n in (50, 500):
        x = midpoints(n)
        values, functions = eigenfunctions(np.equal.outer, x, 1 / n)
        np.testing.assert_allclose(values, 1 / n)  # all tend to 0: T = 0
        assert psd_certificate(np.equal.outer(x, x) * 1.0).holds
        few = mercer_sum(values[:5], functions[:, :5], functions[:, :5])
        off = ~np.eye(n, dtype=bool)
        assert np.abs(few[off]).max() < 1e-12 and np.equal.outer(x, x)[off].sum() == 0
        assert np.count_nonzero(np.diag(few) < 0.5) >= n - 5  # while k(x, x) = 1
    smooth = eigenfunctions(np.minimum.outer, x, 1 / n, leading=5)
    near = mercer_sum(smooth.values, smooth.functions, smooth.functions)
    assert np.abs(np.diag(near) - x).max() < 0.05  # the correct statement: k continuous


@pytest.mark.claims("kernels-48")
@pytest.mark.parametrize("n", [3, 10, 40])
def test_a_linear_operator_may_have_no_eigenvalue(n, rng):
    x = midpoints(n)

    def volterra(x, y):
        return (y < x[:, None]).astype(float)

    f, g = rng.normal(size=(2, n))

    def integrated(f):
        return apply_operator(volterra, f, x, 1 / n)

    together = 2 * integrated(f) + integrated(g)
    np.testing.assert_allclose(integrated(2 * f + g), together, rtol=0, atol=1e-12)  # linear
    M = volterra(x, x)
    assert not np.linalg.matrix_power(M, n).any() and np.linalg.matrix_power(M, n - 1).any()
    for _ in range(n):
        f = integrated(f)
    assert not f.any()  # T^n f = 0: no f has T f = lambda f with lambda other than 0
    with pytest.raises(ValueError, match="k must be symmetric; it differs from its transpose by 1"):
        eigenfunctions(volterra, x, 1 / n)
    values, functions = eigenfunctions(np.minimum.outer, x, 1 / n)
    assert np.isrealobj(values)
    np.testing.assert_allclose(functions.T @ functions / n, np.eye(n), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------
# Kernel ridge
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 127, 128, 129, 300])
def test_kernel_ridge_solves_its_equations(n, rng):
    X, y, weights = rng.normal(size=(n, 3)), rng.normal(size=n), rng.uniform(0.5, 2, size=n)
    K = bell(X)
    np.testing.assert_allclose(
        (K + 0.3 * np.eye(n)) @ kernel_ridge(K, y, 0.3), y, rtol=0, atol=1e-10
    )
    a = kernel_ridge(K, y, 0.3, weights)

    def objective(a):
        return weights @ (K @ a - y) ** 2 + 0.3 * a @ K @ a

    for step in 1e-3 * rng.normal(size=(10, n)):
        assert objective(a + step) > objective(a)
    np.testing.assert_allclose(K @ (weights * (K @ a - y) + 0.3 * a), 0, rtol=0, atol=1e-10)


def test_kernel_ridge_is_ridge_on_features_and_shrinks(rng):
    X, y, Z = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(9, 2))
    for how, phi in (
        ({"kernel": "linear"}, lambda X: X),
        ({"kernel": "poly", "gamma": 1.0, "degree": 2}, scaled_quadratic_map),
        ({"kernel": AllSubsets()}, subset_products),
    ):
        for alpha in (0.1, 10.0):
            model = KernelRidge(alpha, **how).fit(X, y)
            expected = phi(Z) @ ridge(phi(X), y, alpha)
            np.testing.assert_allclose(model.predict(Z), expected, rtol=0, atol=1e-8)
    weights = rng.integers(1, 4, size=30)
    model = KernelRidge(0.7, kernel="rbf").fit(X, y, sample_weight=weights)
    again = KernelRidge(0.7, kernel="rbf").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(model.predict(Z), again.predict(Z), rtol=0, atol=1e-8)
    none = KernelRidge(0.7, kernel="rbf").fit(X, y, sample_weight=np.arange(30) > 4)
    np.testing.assert_allclose(
        none.predict(Z),
        KernelRidge(0.7, kernel="rbf").fit(X[5:], y[5:]).predict(Z),
        rtol=0,
        atol=1e-10,
    )
    np.testing.assert_array_equal(none.dual_coef_[:5], 0)


def test_kernel_ridge_of_a_singular_matrix_is_the_shortest_solution(rng):
    X, w = rng.normal(size=(20, 3)), np.array([1.0, -2.0, 0.5])
    model = KernelRidge(alpha=0).fit(X, X @ w)  # K has rank 3
    np.testing.assert_allclose(model.X_fit_.T @ model.dual_coef_, w, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.pinv(X @ X.T) @ X @ w, rtol=0, atol=1e-8)
    for seed in (49, 51, 144, 173):  # the last pivots are rounding errors above 0
        few, w = np.random.default_rng(seed).normal(size=(6, 3)), np.array([1.0, -2.0, 0.5])
        shortest = np.linalg.pinv(few @ few.T) @ few @ w
        np.testing.assert_allclose(
            kernel_ridge(few @ few.T, few @ w, 0), shortest, rtol=0, atol=1e-8
        )
    twice = np.vstack([X[:5], X[:5]])
    model = KernelRidge(alpha=0, kernel="rbf").fit(twice, np.tile(np.arange(5.0), 2))
    np.testing.assert_allclose(model.predict(X[:5]), np.arange(5), rtol=0, atol=1e-6)


def test_predictions_are_made_in_blocks(rng, monkeypatch):
    from mlnotes import numerics

    X, y, Z = rng.normal(size=(20, 2)), rng.normal(size=20), rng.normal(size=(50, 2))
    sizes = []

    def watched(A, B):
        sizes.append(len(A))
        return bell(A, B)

    model = KernelRidge(kernel=watched).fit(X, y)
    whole = model.predict(Z)
    np.testing.assert_allclose(whole, bell(Z, X) @ model.dual_coef_, rtol=1e-9)
    monkeypatch.setattr(numerics, "ENTRIES", 70)
    sizes.clear()
    np.testing.assert_allclose(model.predict(Z), whole, rtol=1e-10, atol=1e-12)
    assert sizes == [3] * 16 + [2]  # 70 entries, of 20 samples


def test_kernel_ridge_refuses_matrices_without_a_minimum(rng):
    X = 3 * rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"K \+ alpha I must have no negative eigenvalue; got -"):
        KernelRidge(alpha=0, kernel="sigmoid").fit(X, X[:, 0])
    with (
        pytest.warns(RuntimeWarning, match="overflow"),
        pytest.raises(ValueError, match="K must be finite; it contains NaN or infinity 400 times"),
    ):
        KernelRidge(kernel="poly").fit(1e120 * (1 + np.abs(X)), X[:, 0])
    with pytest.raises(ValueError, match="alpha must be a number >= 0 and < inf; got inf"):
        KernelRidge(alpha=np.inf).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="K must be symmetric; it differs from its transpose"):
        kernel_ridge(np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2), 1.0)


def test_the_fitted_model_does_not_change_with_the_array_it_was_given(rng):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    model = KernelRidge(kernel="rbf").fit(X, X[:, 0])
    before = model.predict(new)
    X *= 2
    np.testing.assert_array_equal(model.predict(new), before)


def test_one_sample_and_constant_features(rng):
    model = KernelRidge(alpha=1.0, kernel="rbf").fit([[2.0]], [4.0])
    assert model.predict([[2.0]])[0] == pytest.approx(2.0)
    X = np.column_stack([rng.normal(size=10), np.full(10, 1e9)])
    model = KernelRidge(alpha=0, kernel="rbf", gamma=1.0).fit(X, X[:, 0])
    np.testing.assert_allclose(model.predict(X), X[:, 0], rtol=0, atol=1e-6)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure().subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def points_of(ax):
    return [line.get_xydata() for line in ax.lines if not hasattr(line, "get_xy1")]


@pytest.mark.claims("kernels-05")
def test_rings_are_drawn_on_the_paraboloid_and_parted_by_plane_and_conic():
    from figures.kernels import from_the_side, lifted_rings, ring_plane, rings

    left, middle, right = panels(lifted_rings, 1, 3)
    T, (w, b) = rings(), ring_plane()
    for ax in (left, right):
        for drawn, sign in zip(points_of(ax), (1, -1), strict=True):
            np.testing.assert_array_equal(drawn, T.X[T.y == sign])
    for drawn, sign in zip(points_of(middle), (1, -1), strict=True):
        x_1, x_2 = T.X[T.y == sign].T
        np.testing.assert_allclose(drawn[:, 0], x_1 + 0.35 * x_2)
        np.testing.assert_allclose(drawn[:, 1] - 0.3 * x_2, x_1**2 + x_2**2)
    assert (np.sign(ring_map(T.X) @ w + b) == T.y).all()
    corners = middle.patches[0].get_xy()
    heights = -(2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ w[:2] + b) / w[2]
    square_of = 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    np.testing.assert_allclose(
        corners[:4], from_the_side(np.column_stack([square_of, heights])), rtol=0, atol=1e-12
    )
    curve = np.vstack([path.vertices for c in right.collections for path in c.get_paths()])
    assert len(curve) > 50
    np.testing.assert_allclose(ring_map(curve) @ w + b, 0, rtol=0, atol=1e-3)
    (line,) = [line for line in left.lines if hasattr(line, "get_xy1")]
    p, q = np.array(line.get_xy1()), np.array(line.get_xy2())
    side = (T.X - p) @ np.array([q[1] - p[1], p[0] - q[0]])
    wrong = np.count_nonzero(np.sign(side) != T.y)
    printed = int(re.search(r"\d+", title_of(left))[0])
    assert printed in (wrong, len(T.y) - wrong) and printed > 0
    assert separator(T.X, T.y) is None  # no line does without errors


@pytest.mark.claims("kernels-22")
def test_the_trick_is_two_boxes_and_a_labelled_arrow():
    from figures.kernels import kernel_trick

    (ax,) = panels(kernel_trick, 1, 1)
    boxed = [text for text in ax.texts if text.get_bbox_patch() is not None]
    (arrow,) = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    (label,) = [text for text in ax.texts if text not in boxed and text is not arrow]
    before, after = sorted(boxed, key=lambda text: text.get_position()[0])
    assert "x_i^\\top x_l" in before.get_text() and "k(x_i, x_l)" in after.get_text()
    assert label.get_text().startswith("replace") and "k(x_i, x_l)" in label.get_text()
    assert before.get_position()[0] < arrow.xyann[0] < arrow.xy[0] < after.get_position()[0]


@pytest.mark.claims("kernels-49")
def test_machines_are_drawn_with_their_errors_from_islands_to_a_line():
    from figures.kernels import MACHINES, WIDE, machine, machines, moons

    T, axes = moons(), panels(machines, 2, 3)
    errors = {}
    for ax, name in zip(axes, MACHINES, strict=True):
        errors[name] = np.count_nonzero(np.sign(machine(name)(T.X)) != T.y)
        assert title_of(ax) == f"{name}: {errors[name]} errors"
        for drawn, sign in zip(points_of(ax), (1, -1), strict=True):
            np.testing.assert_array_equal(drawn, T.X[T.y == sign])
    names = list(MACHINES)
    k, _ = MACHINES[names[3]]
    assert errors[names[3]] == 0 and np.median(k(T.X) - np.eye(80)) < 1e-6  # K near identity
    assert errors[names[0]] > 0 == errors[names[2]]
    wide, straight = machine(names[5])(T.X), machine(names[0])(T.X)
    assert np.abs(wide - straight).max() < 0.05 * np.abs(straight).max()
    nearer = kernel_svm(Gaussian.of_width(10 * WIDE)(T.X), T.y, (10 * WIDE) ** 2)
    f = Gaussian.of_width(10 * WIDE)(T.X) @ (nearer.alpha * T.y) + nearer.b
    assert np.abs(f - straight).max() < 0.1 * np.abs(wide - straight).max()
    crossed = [len([c for c in ax.collections if not c.get_facecolor().size]) for ax in axes]
    islands = sum(
        int(np.count_nonzero(path.codes == 1)) for c in axes[3].collections
        if not c.get_facecolor().size for path in c.get_paths()
    )  # fmt: skip
    assert min(crossed) > 0 and islands > 8
