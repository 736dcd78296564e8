"""The kernel_pca chapter: every statement of the notes, checked by a second route."""

import re

import numpy as np
import pytest

from mlnotes.base import NotFittedError
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


def quadratic(X, Z=None):
    """(1 + x^T z)^2."""
    return (1 + X @ (X if Z is None else Z).T) ** 2


def features(X):
    """Those of `quadratic`."""
    return polynomial_map(X, 2)


def paraboloid(X, Z):
    """x^T z + ||x||^2 ||z||^2."""
    return X @ Z.T + np.multiply.outer(np.sum(X**2, axis=1), np.sum(Z**2, axis=1))


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
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0, 10.0])
def test_the_rings_are_separated_by_an_axis_of_any_gaussian_kernel_and_by_no_line(sigma):
    X, y = rings(40)
    K = centre_gram(Gaussian.of_width(sigma)(X))
    indicator = np.where(y == 0, 1.0, -1.0) / np.sqrt(80)
    mu = indicator @ K @ indicator
    np.testing.assert_allclose(K @ indicator, mu * indicator, rtol=0, atol=1e-10)
    assert mu > 1e-3
    nearest = np.abs(kernel_pca(Gaussian.of_width(sigma)(X)).mu - mu).min()
    assert nearest < 1e-9
    lam = by_svd(X).lam
    assert lam[0] == pytest.approx(lam[1], rel=1e-12)
    for angle in np.linspace(0, np.pi, 50):
        assert not apart(X @ [np.cos(angle), np.sin(angle)], y)


@pytest.mark.claims("kernel_pca-01")
def test_the_first_component_of_the_paraboloid_separates_noisy_rings():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rings(50)
        X = X + 0.1 * rng.normal(size=X.shape)
        assert apart(kernel_pca(paraboloid(X, X), 1).Z[:, 0], y)
        axes = PCA().fit(X).transform(X)
        assert not apart(axes[:, 0], y) and not apart(axes[:, 1], y)


@pytest.mark.claims("kernel_pca-02")
def test_the_covariance_of_features_and_their_gram_matrix(rng):
    X = rng.normal(size=(12, 3))
    Phi = features(X)
    np.testing.assert_allclose(quadratic(X), Phi @ Phi.T, rtol=0, atol=1e-12)
    Phi = centred(Phi)
    C = feature_covariance(Phi)
    np.testing.assert_allclose(C, sum(np.outer(phi, phi) for phi in Phi) / 12, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(C, C.T)
    assert np.linalg.eigvalsh(C).min() > -1e-12
    np.testing.assert_allclose(C, np.cov(Phi.T, ddof=0), rtol=0, atol=1e-12)


@pytest.mark.claims("kernel_pca-03")
@pytest.mark.parametrize("n", [4, 30])
def test_erratum_without_the_sum_the_covariance_has_rank_one(rng, n):
    Phi = rng.normal(size=(n, 6))
    printed = np.outer(Phi[0], Phi[0]) / n
    assert np.linalg.matrix_rank(printed) == 1
    C = feature_covariance(Phi)
    assert np.linalg.matrix_rank(C) == min(n, 6)
    first = np.linalg.eigvalsh(Phi @ Phi.T)[::-1][: min(n, 6)]
    np.testing.assert_allclose(n * np.linalg.eigvalsh(C)[::-1][: min(n, 6)], first, rtol=1e-9)
    assert abs(n * np.linalg.eigvalsh(printed)[-1] - first[0]) > 0.1


@pytest.mark.claims("kernel_pca-04")
@pytest.mark.parametrize("n", [7, 40])
def test_axes_are_combinations_of_the_samples(rng, n):
    Phi = centred(features(rng.normal(size=(n, 3))))  # D = 10
    lam, V = np.linalg.eigh(feature_covariance(Phi))
    kept = lam > 1e-10
    assert np.count_nonzero(kept) == min(n - 1, 9)  # the constant feature has no variance
    for one, v in zip(lam[kept], V[:, kept].T, strict=True):
        np.testing.assert_allclose(Phi.T @ expansion(Phi, v, one), v, rtol=0, atol=1e-8)


@pytest.mark.claims("kernel_pca-05")
def test_erratum_null_vectors_are_not_combinations_of_the_samples(rng):
    for Phi, rank in ((rng.normal(size=(4, 6)), 4), (centred(rng.normal(size=(4, 6))), 3)):
        lam, V = np.linalg.eigh(feature_covariance(Phi))
        assert np.count_nonzero(lam > 1e-10) == rank
        v = V[:, 0]  # printed: a combination too; but the nearest one is 0
        best, *_ = np.linalg.lstsq(Phi.T, v, rcond=None)
        assert np.linalg.norm(Phi.T @ best) < 1e-10
        np.testing.assert_allclose(Phi @ v, 0, rtol=0, atol=1e-10)
        v = V[:, -1]
        np.testing.assert_allclose(Phi.T @ expansion(Phi, v, lam[-1]), v, rtol=0, atol=1e-10)


# --- Through inner products ------------------------------------------------------------


@pytest.mark.claims("kernel_pca-06")
def test_the_eigenvalue_equation_in_inner_products(rng):
    n, X = 9, rng.normal(size=(9, 3))
    Phi = centred(features(X))
    K = Phi @ Phi.T
    lam, V = np.linalg.eigh(feature_covariance(Phi))
    for one, v in zip(lam[lam > 1e-10], V[:, lam > 1e-10].T, strict=True):
        a = expansion(Phi, v, one)
        left = [
            sum(K[i, j] * sum(a[p] * K[j, p] for p in range(n)) for j in range(n))
            for i in range(n)
        ]  # fmt: skip
        np.testing.assert_allclose(left, K @ K @ a, rtol=0, atol=1e-9)
        np.testing.assert_allclose(left, n * one * (K @ a), rtol=0, atol=1e-8)
        assert np.abs(K**2 @ a - n * one * (K @ a)).max() > 0.1  # the entries squared, K_lp^2


@pytest.mark.claims("kernel_pca-07")
@pytest.mark.parametrize("n", [6, 40])
def test_eigenpairs_of_the_gram_matrix_are_n_times_the_variances(rng, n):
    Phi = centred(features(rng.normal(size=(n, 3))))
    mu, B = eigenpairs(Phi @ Phi.T)
    lam = np.linalg.eigvalsh(feature_covariance(Phi))[::-1]
    rank = np.count_nonzero(mu > 1e-9)
    np.testing.assert_allclose(mu[:rank] / n, lam[:rank], rtol=1e-8)
    np.testing.assert_allclose(lam[rank:], 0, rtol=0, atol=1e-10)
    K = Phi @ Phi.T
    for one, b in zip(mu[:rank], B.T, strict=False):
        np.testing.assert_allclose(K @ K @ b, one * (K @ b), rtol=0, atol=1e-8 * mu[0])


@pytest.mark.claims("kernel_pca-07")
def test_null_vectors_change_the_coefficients_and_not_the_axis(rng):
    X = rng.normal(size=(8, 3))
    X[5] = X[2]
    Phi = centred(features(X))
    K = Phi @ Phi.T
    mu, B = eigenpairs(K)
    null = np.zeros(8)
    null[[2, 5]] = 1, -1
    np.testing.assert_allclose(K @ null, 0, rtol=0, atol=1e-12)
    a = B[:, 0] + 0.7 * null
    np.testing.assert_allclose(K @ K @ a, mu[0] * (K @ a), rtol=0, atol=1e-8)
    assert np.abs(K @ a - mu[0] * a).max() > 0.1
    np.testing.assert_allclose(Phi.T @ a, Phi.T @ B[:, 0], rtol=0, atol=1e-8)


@pytest.mark.claims("kernel_pca-08")
def test_coefficients_make_axes_of_length_one_and_right_angles(rng):
    X = rng.normal(size=(20, 3))
    Phi = centred(features(X))
    mu, B, _ = kernel_pca(quadratic(X))
    A = coefficients(mu, B)
    V = Phi.T @ A
    np.testing.assert_allclose(V.T @ V, np.eye(len(mu)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(mu * np.sum(A**2, axis=0), 1, rtol=1e-10)
    np.testing.assert_allclose(np.diag(A.T @ centre_gram(quadratic(X)) @ A), 1, rtol=1e-9)


@pytest.mark.claims("kernel_pca-08")
@pytest.mark.parametrize("k", [quadratic, Gaussian(0.5)])
def test_kernel_pca_of_duplicates_adds_no_axes(rng, k):
    X = rng.normal(size=(5, 2))[[0, 1, 2, 3, 4, 0, 0, 3, 3, 3]]
    K = k(X)
    assert len(kernel_pca(K).mu) == np.linalg.matrix_rank(centre_gram(K)) == 4
    np.testing.assert_allclose(kernel_pca(K).Z[0], kernel_pca(K).Z[5], rtol=0, atol=1e-12)


@pytest.mark.claims("kernel_pca-09")
def test_kernel_scores_need_no_features(rng):
    X, new = rng.normal(size=(25, 3)), rng.normal(size=(7, 3))
    Phi, mean = centred(features(X)), features(X).mean(axis=0)
    mu, B = eigenpairs(Phi @ Phi.T)
    A = coefficients(mu[:9], B[:, :9])
    K_new = (features(new) - mean) @ Phi.T
    expected = (features(new) - mean) @ (Phi.T @ A)
    np.testing.assert_allclose(kernel_scores(K_new, A), expected, rtol=0, atol=1e-8)
    loop = [[sum(A[j, i] * row[j] for j in range(25)) for i in range(9)] for row in K_new]
    np.testing.assert_allclose(kernel_scores(K_new, A), loop, rtol=0, atol=1e-8)


@pytest.mark.claims("kernel_pca-09")
def test_kernel_scores_of_the_linear_kernel_are_those_of_pca(rng):
    X, new = rng.normal(size=(25, 3)) * [1, 2, 3], rng.normal(size=(7, 3))
    X, new = X - X.mean(axis=0), new - X.mean(axis=0)
    mu, B = eigenpairs(X @ X.T)
    V = by_svd(X).V
    scores = kernel_scores(new @ X.T, coefficients(mu[:3], B[:, :3]))
    np.testing.assert_allclose(up_to_signs(new @ V, scores), new @ V, rtol=0, atol=1e-9)


@pytest.mark.claims("kernel_pca-10")
@pytest.mark.parametrize(("n", "d"), [(20, 4), (5, 12)])
def test_dual_pca_scores_are_those_of_pca(rng, n, d):
    X = centred(rng.normal(size=(n, d)) * np.arange(1, d + 1))
    P, s, Vt = np.linalg.svd(X, full_matrices=False)
    mu, B = eigenpairs(X @ X.T)
    rank = min(d, n - 1)
    np.testing.assert_allclose(mu[:rank], s[:rank] ** 2, rtol=1e-9)
    np.testing.assert_allclose(mu[rank:], 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        up_to_signs(P[:, :rank], B[:, :rank]), P[:, :rank], rtol=0, atol=1e-7
    )
    np.testing.assert_allclose(X @ X.T @ np.ones(n), 0, rtol=0, atol=1e-10)
    new = rng.normal(size=(6, d))
    scores = dual_pca_scores(X @ X.T, new @ X.T, rank)
    expected = new @ Vt[:rank].T
    np.testing.assert_allclose(up_to_signs(expected, scores), expected, rtol=0, atol=1e-7)


@pytest.mark.claims("kernel_pca-11")
def test_erratum_the_eigendecomposition_is_not_unique(rng):
    turn = 2 * np.pi * np.arange(3) / 3
    X = np.column_stack([np.cos(turn), np.sin(turn)])  # equilateral: mu_1 = mu_2
    K, (mu, B) = X @ X.T, eigenpairs(X @ X.T)
    assert mu[0] == pytest.approx(mu[1], rel=1e-12)
    angle, rotation = 0.7, np.eye(3)
    rotation[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    for other in (B * [1, -1, 1], B @ rotation):
        assert np.abs(other - B).max() > 0.1
        np.testing.assert_allclose(other * mu @ other.T, K, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.T @ other, np.eye(3), rtol=0, atol=1e-12)
        scores = other[:, :2] * np.sqrt(mu[:2])
        assert np.abs(scores - B[:, :2] * np.sqrt(mu[:2])).max() > 0.1
        np.testing.assert_allclose(scores @ scores.T, K, rtol=0, atol=1e-12)
    X = rng.normal(size=(3, 2)) * [1, 3]  # of different eigenvalues, a rotation is not one
    K, (mu, B) = X @ X.T, eigenpairs(X @ X.T)
    assert np.abs(B @ rotation * mu @ (B @ rotation).T - K).max() > 0.1


@pytest.mark.claims("kernel_pca-12")
@pytest.mark.parametrize(("n", "d"), [(9, 4), (5, 8)])
def test_scores_of_any_vector_need_inner_products_only(rng, n, d):
    X, y, k = centred(rng.normal(size=(n, d))), rng.normal(size=d), 3
    P, s, Vt = np.linalg.svd(X)  # P (n, n), V (d, d)
    S = np.zeros((n, d))
    S[np.arange(len(s)), np.arange(len(s))] = s
    stages = [
        P[:, :k].T @ X @ y,
        P[:, :k].T @ P @ S @ Vt @ y,
        np.eye(k, n) @ S @ Vt @ y,
        np.eye(k, d) * s[:k, None] @ Vt @ y,
        np.diag(s[:k]) @ Vt[:k] @ y,
    ]
    for stage in stages[1:]:
        np.testing.assert_allclose(stage, stages[0], rtol=0, atol=1e-10)
    products = np.array([x @ y for x in X])
    np.testing.assert_allclose(P[:, :k].T @ products / s[:k], Vt[:k] @ y, rtol=0, atol=1e-9)
    found = dual_pca_scores(X @ X.T, products[None], k)[0]
    np.testing.assert_allclose(np.abs(found), np.abs(Vt[:k] @ y), rtol=0, atol=1e-9)


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
        np.testing.assert_allclose(H @ K @ H, route, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(H, H.T)
    np.testing.assert_allclose(H @ H, H, rtol=0, atol=1e-15)
    np.testing.assert_allclose(H @ np.ones(n), 0, rtol=0, atol=1e-15)
    np.testing.assert_allclose((H @ K @ H).sum(axis=0), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose((H @ K @ H).sum(axis=1), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(H @ X, centred(X), rtol=0, atol=1e-12)


@pytest.mark.claims("kernel_pca-14")
def test_features_of_centred_inputs_are_not_centred(rng):
    X = centred(rng.normal(size=(15, 2)))
    Phi = features(X)
    length = np.sum(Phi.mean(axis=0) ** 2)
    assert np.abs(X.mean(axis=0)).max() < 1e-12 < 1 < length
    assert quadratic(X).sum() == pytest.approx(15**2 * length, rel=1e-12)
    assert Gaussian.of_width(1.0)(X).sum() > 15  # every k(x, z) > 0: more than the diagonal
    _, V = np.linalg.eigh(feature_covariance(centred(Phi)))
    found = kernel_pca(quadratic(X), 1)
    explicit = centred(Phi) @ V[:, -1]
    np.testing.assert_allclose(up_to_signs(explicit, found.Z[:, 0]), explicit, rtol=0, atol=1e-9)
    b = np.linalg.eigh(quadratic(X))[1][:, -1]
    assert abs(b @ found.B[:, 0]) < 0.9  # without centring it is another vector


# --- The algorithm ---------------------------------------------------------------------


@pytest.mark.claims("kernel_pca-15")
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_kernel_pca_is_pca_of_the_features(rng, c):
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(6, 3))
    Phi, Phi_new = polynomial_map(X, 2, c=c), polynomial_map(new, 2, c=c)
    K, K_new = (c + X @ X.T) ** 2, (c + new @ X.T) ** 2
    mu, B, Z = kernel_pca(K)
    explicit = by_svd(Phi)
    k = len(mu)
    assert k == (6 if c == 0 else 9)
    np.testing.assert_allclose(mu / 40, explicit.lam[:k], rtol=1e-8)
    train = (Phi - explicit.mean) @ explicit.V[:, :k]
    np.testing.assert_allclose(up_to_signs(train, Z), train, rtol=0, atol=1e-6)
    signs = np.sign(np.sum(train * Z, axis=0))
    test = (Phi_new - explicit.mean) @ explicit.V[:, :k]
    np.testing.assert_allclose(signs * new_scores(K_new, K, mu, B), test, rtol=0, atol=1e-6)
    np.testing.assert_allclose(new_scores(K, K, mu, B), Z, rtol=0, atol=1e-8)
    np.testing.assert_allclose(Z.T @ Z, np.diag(mu), rtol=0, atol=1e-8)
    np.testing.assert_allclose(kernel_pca(K, 2).Z, Z[:, :2], rtol=0, atol=1e-12)


@pytest.mark.claims("kernel_pca-15")
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_the_linear_kernel_is_pca_on_real_samples(load):
    X = load().X[:200]
    scores = PCA(n_components=3).fit(X).transform(X)
    found = kernel_pca(X @ X.T, 3)
    np.testing.assert_allclose(up_to_signs(scores, found.Z), scores, rtol=0, atol=1e-7 * X.max())
    model = KernelPCA(n_components=3).fit(X)
    np.testing.assert_allclose(model.transform(X), found.Z, rtol=0, atol=1e-7 * X.max())
    np.testing.assert_allclose(model.eigenvalues_, found.mu, rtol=1e-9)


@pytest.mark.claims("kernel_pca-16")
def test_new_points_are_centred_by_the_samples(rng):
    n, X, new = 12, rng.normal(size=(12, 3)), rng.normal(size=(5, 3)) + 1
    K, K_new, H, one = quadratic(X), quadratic(new, X), centring_matrix(12), np.ones(12)
    mean = features(X).mean(axis=0)
    explicit = (features(new) - mean) @ centred(features(X)).T
    for k, row in zip(K_new, explicit, strict=True):
        entries = [
            k[j] - k.sum() / n - K[j].sum() / n + K.sum() / n**2 for j in range(n)
        ]  # fmt: skip
        matrix = k - np.outer(one, one) @ k / n - K @ one / n
        matrix = matrix + np.outer(one, one) @ K @ one / n**2
        for route in (entries, matrix, H @ (k - K @ one / n), centre_new(k[None], K)[0]):
            np.testing.assert_allclose(route, row, rtol=0, atol=1e-10)
    mu, B, _ = kernel_pca(K)
    without_H = (K_new - K.mean(axis=0)) @ B / np.sqrt(mu)
    np.testing.assert_allclose(new_scores(K_new, K, mu, B), without_H, rtol=0, atol=1e-9)
    np.testing.assert_allclose(B.T @ H, B.T, rtol=0, atol=1e-10)


@pytest.mark.claims("kernel_pca-16")
def test_a_sample_given_as_new_keeps_its_score(rng):
    X = rng.normal(size=(12, 3)) + 2
    K = quadratic(X)
    mu, B, Z = kernel_pca(K)
    one = new_scores(K[[4]], K, mu, B)[0]
    np.testing.assert_allclose(one, Z[4], rtol=0, atol=1e-8)
    few = K[:4] - K[:4].mean(axis=0)  # centred by the mean of the new points
    assert np.abs(few @ B / np.sqrt(mu) - Z[:4]).max() > 0.1
    linear = X @ X.T
    x = np.array([[1.0, -2.0, 3.0]])
    np.testing.assert_allclose(
        centre_new(x @ X.T, linear)[0], centred(X) @ (x[0] - X.mean(axis=0)), rtol=0, atol=1e-10
    )


@pytest.mark.claims("kernel_pca-17")
def test_erratum_uncentred_projection_is_off_by_a_constant(rng):
    n, X, new = 15, rng.normal(size=(15, 2)), rng.normal(size=(6, 2))
    K, K_new = quadratic(X), quadratic(new, X)
    mu, B, Z = kernel_pca(K)
    A = coefficients(mu, B)
    np.testing.assert_allclose(A.sum(axis=0), 0, rtol=0, atol=1e-10)
    constant = np.ones(n) @ K @ A / n
    assert np.abs(constant).max() > 0.1
    off = kernel_scores(K_new, A) - new_scores(K_new, K, mu, B)
    np.testing.assert_allclose(off, np.tile(constant, (6, 1)), rtol=0, atol=1e-9)
    assert np.abs(kernel_scores(K, A).mean(axis=0)).max() > 0.1
    np.testing.assert_allclose(new_scores(K, K, mu, B).mean(axis=0), 0, rtol=0, atol=1e-10)
    V = centred(features(X)).T @ A
    expected = (features(new) - features(X).mean(axis=0)) @ V
    np.testing.assert_allclose(new_scores(K_new, K, mu, B), expected, rtol=0, atol=1e-8)


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
    Phi = centred(features(X))
    mu, B, _ = kernel_pca(quadratic(X))
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
    for z in rng.normal(size=(20, 10)):
        form = (z - z.mean()) @ K @ (z - z.mean())
        assert z @ centre_gram(K) @ z == pytest.approx(form, rel=1e-9) and form > 0
    squares = -np.sum((X[:, None] - X) ** 2, axis=2) / 2  # indefinite along 1 alone
    assert np.linalg.eigvalsh(squares)[0] < -1
    found = kernel_pca(squares)
    np.testing.assert_allclose(found.Z @ found.Z.T, centred(X) @ centred(X).T, rtol=0, atol=1e-10)


@pytest.mark.claims("kernel_pca-20")
def test_erratum_a_symmetric_function_with_a_nonnegative_diagonal_need_not_be_a_kernel(rng):
    def distance(X, Z):
        return np.sqrt(np.sum((X[:, None] - Z) ** 2, axis=2))

    pair = rng.normal(size=(2, 3))
    K = distance(pair, pair)
    np.testing.assert_array_equal(K, K.T)
    assert (np.diag(K) >= 0).all()  # all that is printed
    np.testing.assert_allclose(np.linalg.eigvalsh(K), [-K[0, 1], K[0, 1]], rtol=1e-12)
    assert K[0, 1] ** 2 > K[0, 0] * K[1, 1]  # Cauchy and Schwarz
    X = rng.normal(size=(20, 3))
    for attempt in (
        lambda: kernel_pca(distance(X, X)),
        lambda: KernelPCA(kernel=distance).fit(X),
    ):
        with pytest.raises(ValueError, match="the centred K must have no negative eigenvalue"):
            attempt()
    assert (kernel_pca(Gaussian.of_width(1.0)(X)).mu > 0).all()


def test_kernel_pca_refuses_what_is_no_gram_matrix():
    with pytest.raises(ValueError, match="K must be symmetric; it differs from its transpose by 1"):
        kernel_pca(np.array([[1.0, 2.0], [3.0, 4.0]]))
    K = np.eye(3)
    K[0, 1] = K[1, 0] = np.nan
    with pytest.raises(ValueError, match="K must be finite; it contains NaN or infinity 2"):
        kernel_pca(K)


def test_kernel_pca_has_scores_0_beyond_the_rank(rng):
    X = rng.normal(size=(6, 2))
    mu, B, Z = kernel_pca(X @ X.T, 4)
    assert (mu[:2] > 0).all() and not mu[2:].any() and not Z[:, 2:].any()
    np.testing.assert_allclose(B.T @ B, np.eye(4), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(kernel_pca(X @ X.T).mu, mu[:2])


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_kernel_pca_takes_rounding_relative_to_the_largest_entry_for_zero(unit):
    H = np.array([[0.5, -0.5, 0, 0], [-0.5, 0.5, 0, 0], [0, 0, 0.5, -0.5], [0, 0, -0.5, 0.5]])
    for small, rank in ((1e-11, 2), (1e-13, 1)):
        K = unit * H * [1, 1, small, small]
        np.testing.assert_allclose(kernel_pca(K).mu, unit * np.array([1, small])[:rank], rtol=1e-4)
        assert len(kernel_pca(K + 100 * unit).mu) == 1  # its rounding is larger
    kernel_pca(unit * H * [1, 1, -4e-7, -4e-7])
    for q in (None, 1):
        with pytest.raises(ValueError, match="the centred K must have no negative eigenvalue; got"):
            kernel_pca(unit * H * [1, 1, -2e-6, -2e-6], q)


# --- Estimators ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params, kernel_of",
    [
        ({"kernel": "rbf", "gamma": 0.1}, lambda d: Gaussian(0.1)),
        ({"kernel": "poly", "degree": 2}, lambda d: Polynomial(2, gamma=1 / d)),
    ],
)
def test_estimator_runs_the_functions(params, kernel_of):
    X = standardise(load_wine().X).Z
    train, test = X[::2], X[1::2]
    model = KernelPCA(4, **params).fit(train)
    k = kernel_of(X.shape[1])
    K = k(train)
    mu, B, Z = kernel_pca(K, 4)
    np.testing.assert_allclose(model.eigenvalues_, mu, rtol=1e-10)
    np.testing.assert_allclose(model.eigenvectors_, B, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.fit_transform(train), Z, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.transform(train), Z, rtol=0, atol=1e-8)
    expected = new_scores(k(test, train), K, mu, B)
    np.testing.assert_allclose(model.transform(test), expected, rtol=0, atol=1e-8)
    largest = np.abs(model.eigenvectors_).argmax(axis=0)
    assert (model.eigenvectors_[largest, range(4)] > 0).all()
    assert model.gamma_ == params.get("gamma", 1 / X.shape[1])
    kept = model.transform(test)
    np.testing.assert_array_equal(model.set_params(kernel="linear").transform(test), kept)


def test_components_beyond_the_rank_are_zero_or_left_out(rng):
    X = rng.normal(size=(10, 3))
    model = KernelPCA(6).fit(X)
    Z = model.transform(X)
    assert Z.shape == (10, 6) and not model.eigenvalues_[3:].any() and not Z[:, 3:].any()
    np.testing.assert_allclose(KernelPCA().fit_transform(X), Z[:, :3], rtol=0, atol=1e-10)
    assert KernelPCA(99).fit(X).eigenvalues_.shape == (10,)


def test_pre_images_are_ridge_regression_on_the_scores(rng):
    X, new = load_iris().X, rng.normal(size=(4, 2)) * 0.1
    model = KernelPCA(2, kernel="rbf", gamma=0.5, alpha=0.1, fit_inverse_transform=True).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(model.X_transformed_fit_, Z, rtol=0, atol=1e-10)
    K = np.exp(-0.5 * np.sum((Z[:, None] - Z) ** 2, axis=2))
    W = np.linalg.inv(K + 0.1 * np.eye(150)) @ X
    K_new = np.exp(-0.5 * np.sum((new[:, None] - Z) ** 2, axis=2))
    np.testing.assert_allclose(model.inverse_transform(new), K_new @ W, rtol=1e-7)
    gradient = 2 * K @ (K @ model.dual_coef_ - X) + 2 * 0.1 * K @ model.dual_coef_
    np.testing.assert_allclose(gradient, 0, rtol=0, atol=1e-8)


def test_projecting_and_returning_removes_noise():
    X = load_digits().X[:400] / 16
    noisy = X + 0.25 * np.random.default_rng(0).normal(size=X.shape)
    model = KernelPCA(40, kernel="rbf", gamma=0.02, alpha=0.01, fit_inverse_transform=True)
    cleaned = model.fit(X[:300]).inverse_transform(model.transform(noisy[300:]))
    assert np.mean((cleaned - X[300:]) ** 2) < 0.7 * np.mean((noisy - X)[300:] ** 2)


def test_a_way_back_that_was_not_learnt_is_refused():
    model = KernelPCA(2, fit_inverse_transform=True).fit(load_iris().X)
    with pytest.raises(ValueError, match="X must have 2 components; got 3"):
        model.inverse_transform(np.ones((1, 3)))
    model.set_params(fit_inverse_transform=False).fit(load_iris().X)
    with pytest.raises(NotFittedError, match="needs fit_inverse_transform=True"):
        model.inverse_transform(np.ones((1, 2)))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_samples_that_do_not_vary_are_refused(kernel):
    for X in (np.full((5, 2), 0.1), [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="X must have samples that vary; got n_samples = "):
            KernelPCA(kernel=kernel).fit(X)


@pytest.mark.parametrize("mean, rtol", [(1e4, 1e-9), (1e6, 1e-5)])
def test_rounding_of_large_means_gives_no_component(rng, mean, rtol):
    X = rng.normal(size=(300, 2)) * [2, 1] + mean
    exact = np.linalg.svd(centred(X), compute_uv=False) ** 2
    np.testing.assert_allclose(KernelPCA(2).fit(X).eigenvalues_, exact, rtol=rtol)
    np.testing.assert_allclose(KernelPCA().fit(X).eigenvalues_[:2], exact, rtol=rtol)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_linear_kernel_has_the_unit_of_the_samples(rng, unit):
    X = rng.normal(size=(12, 2)) * [2, 1]
    expected = unit * np.abs(PCA().fit_transform(X))
    np.testing.assert_allclose(np.abs(KernelPCA().fit_transform(unit * X)), expected, rtol=1e-6)


def test_precomputed_matrices_and_functions_are_the_kernel(rng):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    named, k = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X), Gaussian(0.3)
    K, K_new = k(X), k(new, X)
    K.setflags(write=False)
    expected = named.transform(new)
    matrix = KernelPCA(3, kernel="precomputed").fit(K)
    np.testing.assert_allclose(matrix.transform(K_new), expected, rtol=0, atol=1e-10)
    called = KernelPCA(3, kernel=lambda X, Z: k(X, Z)).fit(X)
    np.testing.assert_allclose(called.transform(new), expected, rtol=0, atol=1e-12)
    for bad, message in (
        (K_new, "K must be (4, 4), of all pairs; got (4, 20)"),
        (np.triu(K), "K must be symmetric"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            KernelPCA(kernel="precomputed").fit(bad)


def test_precomputed_matrices_of_single_precision_are_accepted(rng):
    K = Polynomial(3, gamma=1 / 3)(rng.normal(size=(20, 3)) + 3)
    E = rng.uniform(-1, 1, size=K.shape)
    for matrix in (K * (1 + 1e-14 * E), (K * (1 + 1e-7 * E)).astype(np.float32)):
        assert (matrix != matrix.T).any()
        model = KernelPCA(3, kernel="precomputed").fit(matrix)
        np.testing.assert_allclose(model.eigenvalues_, kernel_pca(K, 3).mu, rtol=1e-4)
    with pytest.raises(ValueError, match="K must be symmetric; it differs from its transpose by"):
        KernelPCA(kernel="precomputed").fit(K * (1 + 1e-7 * E))


def test_a_sigmoid_with_negative_eigenvalues_is_refused(rng):
    with pytest.raises(ValueError, match="no negative eigenvalue; got -"):
        KernelPCA(2, kernel="sigmoid", gamma=1.0).fit(3 * rng.normal(size=(30, 2)))


def test_new_points_in_blocks_are_the_same(rng, monkeypatch):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(17, 3))
    model = KernelPCA(kernel="rbf", gamma=0.1).fit(X)
    whole = model.transform(new)
    monkeypatch.setattr("mlnotes.kernel_pca.BLOCK", 1)
    np.testing.assert_allclose(model.transform(new), whole, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("params", "rule"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1; got 0"),
        ({"kernel": "cosine"}, "kernel must be one of 'linear', "),
        ({"gamma": 0.0}, "gamma must be a number > 0 and < inf; got 0.0"),
        ({"alpha": -1}, "alpha must be a number >= 0 and < inf; got -1"),
        ({"fit_inverse_transform": 1}, "fit_inverse_transform must be True or False; got 1"),
    ],
)
def test_wrong_parameters_are_refused(params, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        KernelPCA(**params).fit(load_iris().X)


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
        np.testing.assert_allclose(np.r_[plus, minus].var(axis=0), lam, rtol=1e-9)
    assert "sigma = 1$" in axes[0, 2].get_title()
    for sigma in (0.7, 2.0):  # the outcome depends on it
        assert not apart(kernel_pca(Gaussian.of_width(sigma)(T.X), 1).Z[:, 0], T.y > 0)
    for ax in axes[1]:
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), T.X[T.y > 0])
        np.testing.assert_array_equal(ax.lines[1].get_xydata(), T.X[T.y < 0])
    for above, below, spread in zip(axes[0, 1:], axes[1, 1:], (0.2, 1.0), strict=True):
        (contours,), threshold = below.collections, above.lines[0].get_xdata()[0]
        at = list(contours.levels).index(threshold)
        edge = contours.get_paths()[at].vertices  # a closed curve between the rings
        radius = np.linalg.norm(edge, axis=1)
        assert 1.3 < radius.min() < radius.max() < 2.75 and np.ptp(radius) < spread
        assert np.linalg.norm(edge[0] - edge[-1]) < 0.1
        assert contours.get_linewidths()[at] == max(contours.get_linewidths())
