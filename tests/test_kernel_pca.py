"""The kernel_pca chapter, in the order of its module: each function by a second route."""

import itertools
import re

import numpy as np
import pytest

from mlnotes.base import NotFittedError
from mlnotes.clustering import euclidean
from mlnotes.datasets import load_digits, load_iris, load_wine
from mlnotes.kernel_pca import (
    KernelPCA,
    centring_matrix,
    coefficients,
    dual_pca_scores,
    eigenpairs,
    expansion,
    feature_covariance,
    kernel_pca,
    kernel_scores,
    new_scores,
)
from mlnotes.kernels import (
    FeatureKernel,
    Gaussian,
    Polynomial,
    centre_gram,
    centre_new,
    polynomial_map,
    ring_map,
)
from mlnotes.pca import PCA, by_svd, standardise

close, equal = np.testing.assert_allclose, np.testing.assert_array_equal


def quadratic(X, Z=None):
    """(1 + x^T z)^2."""
    return (1 + X @ (X if Z is None else Z).T) ** 2


def features(X):
    """Those of `quadratic`."""
    return polynomial_map(X, 2)


def near(actual, expected, atol=1e-9):
    close(actual, expected, rtol=0, atol=atol)


def centred(A):
    return A - A.mean(axis=0)


def rings(n, radii=(1.0, 3.0)):
    """n equispaced points on each circle, and the number of the circle."""
    turn = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([r * circle for r in radii]), np.repeat(np.arange(len(radii)), n)


def apart(z, y):
    """Whether a threshold on z tells y = 0 from y = 1."""
    return z[y == 0].max() < z[y == 1].min() or z[y == 1].max() < z[y == 0].min()


def up_to_signs(A, B):
    """B with the signs of A, column by column."""
    return B * np.where(np.sum(A * B, axis=0) < 0, -1.0, 1.0)


# --- In feature space ------------------------------------------------------------------


@pytest.mark.claims("kernel_pca-01")
@pytest.mark.parametrize("sigma", [0.3, 2.0, 10.0])
def test_the_rings_are_separated_by_an_axis_of_any_gaussian_kernel_and_by_no_line(sigma):
    X, y = rings(40)
    K = centre_gram(Gaussian.of_width(sigma)(X))
    indicator = np.where(y == 0, 1.0, -1.0) / np.sqrt(80)
    mu = indicator @ K @ indicator
    near(K @ indicator, mu * indicator, 1e-10)
    assert mu > 1e-3 and np.abs(kernel_pca(Gaussian.of_width(sigma)(X)).mu - mu).min() < 1e-9
    for angle in np.linspace(0, np.pi, 50):
        assert not apart(X @ [np.cos(angle), np.sin(angle)], y)
    for seed in range(20):  # with noise, the first component of the paraboloid
        noisy = X + 0.1 * np.random.default_rng(seed).normal(size=X.shape)
        assert apart(kernel_pca(FeatureKernel(ring_map)(noisy), 1).Z[:, 0], y)
        assert not any(apart(z, y) for z in PCA().fit_transform(noisy).T)


@pytest.mark.claims("kernel_pca-02", "kernel_pca-03")
@pytest.mark.parametrize("n", [4, 30])
def test_feature_covariance_is_a_sum_over_the_samples(rng, n):
    Phi = centred(rng.normal(size=(n, 6)))
    C, rank = feature_covariance(Phi), min(n - 1, 6)
    near(C, sum(np.outer(phi, phi) for phi in Phi) / n, 1e-12)
    near(C, np.cov(Phi.T, ddof=0), 1e-12)
    assert np.linalg.matrix_rank(C) == rank
    first = np.linalg.eigvalsh(Phi @ Phi.T)[::-1][:rank]
    close(n * np.linalg.eigvalsh(C)[::-1][:rank], first, rtol=1e-9)
    printed = np.outer(Phi[0], Phi[0]) / n  # without the sum
    assert np.linalg.matrix_rank(printed) == 1
    assert abs(n * np.linalg.eigvalsh(printed)[-1] - first[0]) > 0.1


@pytest.mark.claims("kernel_pca-04", "kernel_pca-05")
@pytest.mark.parametrize("n", [7, 40])
def test_expansion_makes_axes_of_samples_and_no_null_vectors(rng, n):
    Phi = centred(features(rng.normal(size=(n, 3))))  # D = 10
    lam, V = np.linalg.eigh(feature_covariance(Phi))
    kept = lam > 1e-10
    assert np.count_nonzero(kept) == min(n - 1, 9)  # the constant feature has no variance
    for one, v in zip(lam[kept], V[:, kept].T, strict=True):
        near(Phi.T @ expansion(Phi, v, one), v, 1e-8)
    for v in V[:, ~kept].T:  # printed: combinations, too; but the nearest one is 0
        near(Phi.T @ np.linalg.lstsq(Phi.T, v, rcond=None)[0], 0, 1e-10)
        near(Phi @ v, 0, 1e-10)


# --- Through inner products ------------------------------------------------------------


@pytest.mark.claims("kernel_pca-06", "kernel_pca-07")
@pytest.mark.parametrize("n", [6, 20])
def test_eigenpairs_solve_the_equation_in_inner_products(rng, n):
    Phi = centred(features(rng.normal(size=(n, 3))))
    K, (lam, V) = Phi @ Phi.T, np.linalg.eigh(feature_covariance(Phi))
    mu, B = eigenpairs(K)
    lam, V, rank = lam[::-1], V[:, ::-1], min(n - 1, 9)
    close(mu[:rank] / n, lam[:rank], rtol=1e-8)
    near(np.append(mu[rank:], lam[rank:]), 0, 1e-10)
    near(B.T @ B, np.eye(n), 1e-12)
    for i in range(rank):
        a = expansion(Phi, V[:, i], lam[i])
        left = [sum(K[i] * [sum(a * K[j]) for j in range(n)]) for i in range(n)]
        near(left, K @ K @ a, 1e-9)
        near(left, n * lam[i] * (K @ a), 1e-8)
        near(K @ B[:, i], mu[i] * B[:, i], 1e-8)
        assert np.abs(K**2 @ a - n * lam[i] * (K @ a)).max() > 0.1  # the entries squared, K_lp^2
    for few, axes in (eigenpairs(K, 1), eigenpairs(K, 3)):
        near(few, mu[: len(few)])
        near(axes, B[:, : len(few)])


@pytest.mark.claims("kernel_pca-07")
def test_null_vectors_change_the_coefficients_and_not_the_axis(rng):
    X = rng.normal(size=(8, 3))
    X[5] = X[2]
    Phi = centred(features(X))
    K = Phi @ Phi.T
    mu, B = eigenpairs(K)
    null = np.zeros(8)
    null[[2, 5]] = 1, -1
    near(K @ null, 0, 1e-12)
    a = B[:, 0] + 0.7 * null
    near(K @ K @ a, mu[0] * (K @ a), 1e-8)
    assert np.abs(K @ a - mu[0] * a).max() > 0.1
    near(Phi.T @ a, Phi.T @ B[:, 0], 1e-8)


@pytest.mark.claims("kernel_pca-08", "kernel_pca-09")
def test_coefficients_make_axes_of_length_one_on_which_scores_need_no_features(rng):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    Phi, Phi_new = centred(features(X)), features(new) - features(X).mean(axis=0)
    mu, B, _ = kernel_pca(quadratic(X))
    A = coefficients(mu, B)
    V = Phi.T @ A
    near(V.T @ V, np.eye(len(mu)), 1e-10)
    close(mu * np.sum(A**2, axis=0), 1, rtol=1e-10)
    K_new = Phi_new @ Phi.T
    loop = [[sum(A[j, i] * row[j] for j in range(20)) for i in range(9)] for row in K_new]
    near(kernel_scores(K_new, A), loop, 1e-8)
    near(loop, Phi_new @ V, 1e-8)


@pytest.mark.claims("kernel_pca-10", "kernel_pca-12")
@pytest.mark.parametrize(("n", "d"), [(20, 4), (5, 12)])
def test_dual_pca_scores_of_any_vector_need_inner_products_only(rng, n, d):
    X = centred(rng.normal(size=(n, d)) * np.arange(1, d + 1))
    new, rank, k = rng.normal(size=(6, d)), min(d, n - 1), 3
    P, s, Vt = np.linalg.svd(X)  # P (n, n), V (d, d)
    mu, B = eigenpairs(X @ X.T)
    close(mu[:rank], s[:rank] ** 2, rtol=1e-9)
    near(mu[rank:], 0, 1e-10)
    near(up_to_signs(P[:, :rank], B[:, :rank]), P[:, :rank], 1e-7)
    expected = new @ Vt[:rank].T
    near(up_to_signs(expected, dual_pca_scores(X @ X.T, new @ X.T, rank)), expected, 1e-7)
    S = np.zeros((n, d))
    S[np.arange(len(s)), np.arange(len(s))] = s
    for stage in (
        P[:, :k].T @ P @ S @ Vt @ new[0],
        np.eye(k, n) @ S @ Vt @ new[0],
        np.eye(k, d) * s[:k, None] @ Vt @ new[0],
        np.diag(s[:k]) @ Vt[:k] @ new[0],
    ):
        near(stage, P[:, :k].T @ X @ new[0], 1e-10)


@pytest.mark.claims("kernel_pca-11")
def test_erratum_the_eigendecomposition_is_not_unique(rng):
    turn = 2 * np.pi * np.arange(3) / 3
    X = np.column_stack([np.cos(turn), np.sin(turn)])  # equilateral: mu_1 = mu_2
    K, (mu, B) = X @ X.T, eigenpairs(X @ X.T)
    assert mu[0] == pytest.approx(mu[1], rel=1e-12)
    angle, rotation = 0.7, np.eye(3)
    rotation[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    for other in (B * [1, -1, 1], B @ rotation):
        near(other * mu @ other.T, K, 1e-12)
        near(other.T @ other, np.eye(3), 1e-12)
        scores = other[:, :2] * np.sqrt(mu[:2])
        assert np.abs(scores - B[:, :2] * np.sqrt(mu[:2])).max() > 0.1
        near(scores @ scores.T, K, 1e-12)
    X = rng.normal(size=(3, 2)) * [1, 3]  # of different eigenvalues, a rotation is not one
    K, (mu, B) = X @ X.T, eigenpairs(X @ X.T)
    assert np.abs(B @ rotation * mu @ (B @ rotation).T - K).max() > 0.1


# --- Centring --------------------------------------------------------------------------


@pytest.mark.claims("kernel_pca-13")
def test_centring_matrix_is_one_of_four_routes(rng):
    n, X = 8, rng.normal(size=(8, 3)) + 1
    K, H, A = quadratic(X), centring_matrix(8), np.full((8, 8), 1 / 8)
    entries = [
        [
            K[j, m] - K[j].sum() / n - K[:, m].sum() / n + K.sum() / n**2
            for m in range(n)
        ]
        for j in range(n)
    ]  # fmt: skip
    Phi = centred(features(X))
    for route in (entries, K - A @ K - K @ A + A @ K @ A, Phi @ Phi.T, centre_gram(K)):
        near(H @ K @ H, route, 1e-10)
    equal(H, H.T)
    near(H @ H, H, 1e-15)
    near(H @ np.ones(n), 0, 1e-15)
    near(H @ X, centred(X), 1e-12)


@pytest.mark.claims("kernel_pca-14")
def test_features_of_centred_inputs_are_not_centred(rng):
    X = centred(rng.normal(size=(15, 2)))
    Phi = features(X)
    length = np.sum(Phi.mean(axis=0) ** 2)
    assert np.abs(X.mean(axis=0)).max() < 1e-12 < 1 < length
    assert quadratic(X).sum() == pytest.approx(15**2 * length, rel=1e-12)
    assert Gaussian.of_width(1.0)(X).sum() > 15  # every k(x, z) > 0: more than the diagonal
    b = np.linalg.eigh(quadratic(X))[1][:, -1]
    assert abs(b @ kernel_pca(quadratic(X), 1).B[:, 0]) < 0.9  # without centring it is another


# --- The algorithm ---------------------------------------------------------------------


@pytest.mark.claims("kernel_pca-15")
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_kernel_pca_is_pca_of_the_features(rng, c):
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(6, 3))
    Phi, Phi_new = polynomial_map(X, 2, c=c), polynomial_map(new, 2, c=c)
    K, K_new = (c + X @ X.T) ** 2, (c + new @ X.T) ** 2
    mu, B, Z = kernel_pca(K)
    explicit, k = by_svd(Phi), len(mu)
    assert k == (6 if c == 0 else 9)
    close(mu / 40, explicit.lam[:k], rtol=1e-8)
    train = (Phi - explicit.mean) @ explicit.V[:, :k]
    near(up_to_signs(train, Z), train, 1e-6)
    signs = np.sign(np.sum(train * Z, axis=0))
    test = (Phi_new - explicit.mean) @ explicit.V[:, :k]
    near(signs * new_scores(K_new, K, mu, B), test, 1e-6)
    near(new_scores(K, K, mu, B), Z, 1e-8)
    near(Z.T @ Z, np.diag(mu), 1e-8)
    near(kernel_pca(K, 2).Z, Z[:, :2], 1e-12)


@pytest.mark.claims("kernel_pca-15")
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_the_linear_kernel_is_pca_on_real_samples(load):
    X = load().X[:200]
    scores = PCA(n_components=3).fit(X).transform(X)
    model = KernelPCA(n_components=3).fit(X)
    near(up_to_signs(scores, model.transform(X)), scores, 1e-7 * X.max())
    close(model.eigenvalues_, kernel_pca(X @ X.T, 3).mu, rtol=1e-9)


@pytest.mark.claims("kernel_pca-16", "kernel_pca-17")
def test_new_scores_are_centred_by_the_samples(rng):
    n, X, new = 12, rng.normal(size=(12, 3)) + 1, rng.normal(size=(5, 3))
    K, K_new, H, one = quadratic(X), quadratic(new, X), centring_matrix(12), np.ones(12)
    Phi, Phi_new = centred(features(X)), features(new) - features(X).mean(axis=0)
    for k, row in zip(K_new, Phi_new @ Phi.T, strict=True):
        entries = [
            k[j] - k.sum() / n - K[j].sum() / n + K.sum() / n**2 for j in range(n)
        ]  # fmt: skip
        matrix = k - np.outer(one, one) @ k / n - K @ one / n
        matrix = matrix + np.outer(one, one) @ K @ one / n**2
        for route in (entries, matrix, H @ (k - K @ one / n), centre_new(k[None], K)[0]):
            near(route, row, 1e-10)
    mu, B, Z = kernel_pca(K)
    A, scores = coefficients(mu, B), new_scores(K_new, K, mu, B)
    near(scores, Phi_new @ Phi.T @ A, 1e-8)
    near((K_new - K.mean(axis=0)) @ B / np.sqrt(mu), scores)  # without H
    near(B.T @ H, B.T, 1e-10)
    near(new_scores(K[[4]], K, mu, B)[0], Z[4], 1e-8)  # a sample keeps its score
    few = K[:4] - K[:4].mean(axis=0)  # centred by the mean of the new points
    assert np.abs(few @ B / np.sqrt(mu) - Z[:4]).max() > 0.1
    constant = one @ K @ A / n  # by which the printed projection, not centred, is off
    assert np.abs(constant).max() > 0.1
    near(kernel_scores(K_new, A) - scores, np.tile(constant, (5, 1)))
    near(new_scores(K, K, mu, B).mean(axis=0), 0, 1e-10)


@pytest.mark.claims("kernel_pca-18")
@pytest.mark.parametrize("k", [1, 3])
def test_scores_are_the_best_approximation_of_their_rank(rng, k):
    X = rng.normal(size=(12, 2))
    K = centre_gram(Gaussian.of_width(1.0)(X))
    mu, Z = kernel_pca(Gaussian.of_width(1.0)(X)).mu, kernel_pca(Gaussian.of_width(1.0)(X), k).Z
    tail = np.sum(mu[k:] ** 2)
    assert np.sum((K - Z @ Z.T) ** 2) == pytest.approx(tail, rel=1e-8)
    lost = (np.trace(K) - np.sum(Z**2)) / 12
    assert lost == pytest.approx(mu[k:].sum() / 12, rel=1e-8)
    for Q in np.linalg.qr(rng.normal(size=(300, 12, k)))[0]:
        assert np.sum((K - Q @ Q.T @ K @ Q @ Q.T) ** 2) >= tail
    Phi, (mu, B, _) = centred(features(X)), kernel_pca(quadratic(X))
    V = Phi.T @ coefficients(mu[:k], B[:, :k])
    lost = np.sum((Phi - Phi @ V @ V.T) ** 2) / 12
    assert lost == pytest.approx(mu[k:].sum() / 12, rel=1e-8)


@pytest.mark.claims("kernel_pca-19")
def test_erratum_it_is_the_centred_matrix_that_must_be_psd(rng):
    X = rng.normal(size=(10, 3))
    K = quadratic(X)
    plain, mu = np.linalg.eigvalsh(K)[::-1], np.linalg.eigvalsh(centre_gram(K))[::-1]
    assert plain[0] > 1.1 * mu[0]
    assert (mu <= plain + 1e-9).all() and (plain[1:] <= mu[:-1] + 1e-9).all()
    assert np.abs(mu).min() < 1e-12 * mu[0]
    squares = -np.sum((X[:, None] - X) ** 2, axis=2) / 2  # indefinite along 1 alone
    assert np.linalg.eigvalsh(squares)[0] < -1
    found = kernel_pca(squares)
    near(found.Z @ found.Z.T, centred(X) @ centred(X).T, 1e-10)


@pytest.mark.claims("kernel_pca-20")
def test_erratum_a_symmetric_function_with_a_nonnegative_diagonal_need_not_be_a_kernel(rng):
    pair, X = rng.normal(size=(2, 3)), rng.normal(size=(20, 3))
    K = euclidean(pair, pair)
    equal(K, K.T)
    assert (np.diag(K) >= 0).all()  # all that is printed
    close(np.linalg.eigvalsh(K), [-K[0, 1], K[0, 1]], rtol=1e-12)
    assert K[0, 1] ** 2 > K[0, 0] * K[1, 1]  # Cauchy and Schwarz
    for kernel in (euclidean, "sigmoid"):
        with pytest.raises(ValueError, match="the centred K must have no negative eigenvalue"):
            KernelPCA(2, kernel=kernel, gamma=1.0).fit(3 * X)


def test_kernel_pca_has_scores_0_beyond_the_rank(rng):
    X = rng.normal(size=(6, 2))
    mu, B, Z = kernel_pca(X @ X.T, 4)
    assert (mu[:2] > 0).all() and not mu[2:].any() and not Z[:, 2:].any()
    near(B.T @ B, np.eye(4), 1e-12)
    near(new_scores(X @ X.T, X @ X.T, mu, B), Z)
    model = KernelPCA(4).fit(X)
    near(model.transform(X), Z)
    near(KernelPCA().fit_transform(X), Z[:, :2], 1e-10)
    assert KernelPCA(99).fit(X).eigenvalues_.shape == (6,)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_kernel_pca_takes_rounding_relative_to_the_largest_entry_for_zero(unit):
    H = np.array([[0.5, -0.5, 0, 0], [-0.5, 0.5, 0, 0], [0, 0, 0.5, -0.5], [0, 0, -0.5, 0.5]])
    for small, rank in ((1e-11, 2), (1e-13, 1)):
        K = unit * H * [1, 1, small, small]
        close(kernel_pca(K).mu, unit * np.array([1, small])[:rank], rtol=1e-4)
        assert len(kernel_pca(K + 100 * unit).mu) == 1  # its rounding is larger
    kernel_pca(unit * H * [1, 1, -4e-7, -4e-7])
    for q in (None, 1):
        with pytest.raises(ValueError, match="the centred K must have no negative eigenvalue; got"):
            kernel_pca(unit * H * [1, 1, -2e-6, -2e-6], q)


# --- The estimators --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "kernel_of"),
    [
        ({"kernel": "rbf", "gamma": 0.1}, lambda d: Gaussian(0.1)),
        ({"kernel": "poly", "degree": 2}, lambda d: Polynomial(2, gamma=1 / d)),
    ],
)
def test_fit_runs_the_functions(params, kernel_of):
    X = standardise(load_wine().X).Z
    train, test, d = X[::2], X[1::2], X.shape[1]
    k, model = kernel_of(d), KernelPCA(4, **params).fit(train)
    mu, B, Z = kernel_pca(k(train), 4)
    near(model.eigenvalues_, mu)
    near(model.eigenvectors_, B)
    near(model.fit_transform(train), Z)
    near(model.transform(train), Z, 1e-8)
    near(model.transform(test), new_scores(k(test, train), k(train), mu, B), 1e-8)
    largest = np.abs(model.eigenvectors_).argmax(axis=0)
    assert (model.eigenvectors_[largest, range(4)] > 0).all()
    assert model.gamma_ == params.get("gamma", 1 / d)
    assert KernelPCA().fit(train).gamma_ == 1 / d


def test_inverse_transform_is_ridge_regression_on_the_scores(rng):
    X, new = load_iris().X, rng.normal(size=(4, 2)) * 0.1
    model = KernelPCA(2, kernel="rbf", gamma=0.5, alpha=0.1, fit_inverse_transform=True).fit(X)
    Z, k = model.transform(X), Gaussian(0.5)
    W = np.linalg.inv(k(Z) + 0.1 * np.eye(150)) @ centred(X)
    close(model.inverse_transform(new), X.mean(axis=0) + k(new, Z) @ W, rtol=1e-7)
    with pytest.raises(ValueError, match="X must have 2 components; got 3"):
        model.inverse_transform(np.ones((1, 3)))
    with pytest.raises(NotFittedError, match="needs fit_inverse_transform=True"):
        model.set_params(fit_inverse_transform=False).fit(X).inverse_transform(new)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fit_refuses_samples_that_do_not_vary(kernel):
    for X, q in itertools.product((np.full((5, 2), 0.1), [[1.0, 2.0]]), (None, 1)):
        with pytest.raises(ValueError, match="X must have samples that vary; got n_samples = "):
            KernelPCA(q, kernel=kernel).fit(X)
    assert KernelPCA(1, kernel=kernel).fit([[1.0], [2.0]]).eigenvalues_[0] > 0


def test_rounding_of_large_means_gives_no_component(rng):
    for mean, route, rtol in (
        (1e6, lambda X, q: KernelPCA(q).fit(X).eigenvalues_, 1e-12),
        (1e6, lambda X, q: kernel_pca(X @ X.T, q).mu, 1e-5),
        (1e4, lambda X, q: kernel_pca(X @ X.T, q).mu, 1e-9),
    ):
        X = rng.normal(size=(300, 2)) * [2, 1] + mean
        exact = np.linalg.svd(centred(X), compute_uv=False) ** 2
        close(route(X, 2), exact, rtol=rtol)
        close(route(X, None)[:2], exact, rtol=rtol)


def test_a_precomputed_matrix_and_a_function_are_the_kernel(rng):
    X, new, k = rng.normal(size=(20, 3)), rng.normal(size=(4, 3)), Gaussian(0.3)
    expected = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X).transform(new)
    matrix = KernelPCA(3, kernel="precomputed").fit(k(X))
    near(matrix.transform(k(new, X)), expected, 1e-10)
    called = KernelPCA(3, kernel=lambda X, Z: k(X, Z)).fit(X)
    near(called.transform(new), expected, 1e-12)
    for bad, message in (
        (k(new, X), "K must be (4, 4), of all pairs; got (4, 20)"),
        (np.triu(k(X)), "K must be symmetric"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            KernelPCA(kernel="precomputed").fit(bad)


def test_precomputed_matrices_of_single_precision_are_accepted(rng):
    K = Polynomial(3, gamma=1 / 3)(rng.normal(size=(20, 3)) + 3)
    E = rng.uniform(-1, 1, size=K.shape)
    for matrix in (K * (1 + 1e-14 * E), (K * (1 + 1e-7 * E)).astype(np.float32)):
        assert (matrix != matrix.T).any()
        model = KernelPCA(3, kernel="precomputed").fit(matrix)
        close(model.eigenvalues_, kernel_pca(K, 3).mu, rtol=1e-4)
    with pytest.raises(ValueError, match="K must be symmetric; it differs from its transpose by"):
        KernelPCA(kernel="precomputed").fit(K * (1 + 1e-7 * E))


def test_transform_works_on_blocks_of_points(rng, monkeypatch):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(17, 3))
    model = KernelPCA(kernel="rbf", gamma=0.1).fit(X)
    whole = model.transform(new)
    monkeypatch.setattr("mlnotes.kernel_pca.BLOCK", 1)
    near(model.transform(new), whole)


# --- The lecture figure ----------------------------------------------------------------


@pytest.mark.claims("kernel_pca-21")
def test_kernels_unfold_the_rings_that_are_drawn():
    from matplotlib.figure import Figure

    from figures.kernel_pca import rings, unfolded_rings

    T = rings()
    axes = Figure().subplots(2, 3)
    unfolded_rings(*axes.flat)
    expected = [by_svd(T.X).lam[:2]]
    expected += [kernel_pca(k(T.X), 2).mu / 200 for k in (FeatureKernel(ring_map), Gaussian(0.5))]
    for ax, errors, lam in zip(axes[0], (59, 0, 0), expected, strict=True):
        cut, plus, minus = (line.get_xydata() for line in ax.lines)
        (threshold,) = set(cut[:, 0])
        wrong = np.r_[plus[:, 0] > threshold, minus[:, 0] < threshold]
        assert min(wrong.sum(), 200 - wrong.sum()) == errors
        assert ax.get_title().endswith(f": {errors} errors")
        close(np.r_[plus, minus].var(axis=0), lam, rtol=1e-9)
    assert "sigma = 1$" in axes[0, 2].get_title()
    for sigma in (0.7, 2.0):  # the outcome depends on it
        assert not apart(kernel_pca(Gaussian.of_width(sigma)(T.X), 1).Z[:, 0], T.y > 0)
    for ax in axes[1]:
        equal(ax.lines[0].get_xydata(), T.X[T.y > 0])
        equal(ax.lines[1].get_xydata(), T.X[T.y < 0])
    for above, below, spread in zip(axes[0, 1:], axes[1, 1:], (0.2, 1.0), strict=True):
        (contours,), threshold = below.collections, above.lines[0].get_xdata()[0]
        at = list(contours.levels).index(threshold)
        edge = contours.get_paths()[at].vertices  # a closed curve between the rings
        radius = np.linalg.norm(edge, axis=1)
        assert 1.3 < radius.min() < radius.max() < 2.75 and np.ptp(radius) < spread
        assert np.linalg.norm(edge[0] - edge[-1]) < 0.1
        assert contours.get_linewidths()[at] == max(contours.get_linewidths())
