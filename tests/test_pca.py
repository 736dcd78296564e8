"""The pca chapter: every statement of the notes, checked by a second route."""

import os
import re
from itertools import islice

import numpy as np
import pytest
from checks import check_gradient

from mlnotes.datasets import load_digits, load_iris, load_orl_faces, load_wine
from mlnotes.discriminant import principal_axes
from mlnotes.linear_regression import least_squares_hessian
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.numerics import squared_distances
from mlnotes.optimization import gradient_descent
from mlnotes.pca import (
    PCA,
    alternate,
    approximation,
    best_coordinates,
    by_covariance,
    by_deflation,
    by_gram,
    by_svd,
    closest_rotation,
    components_for,
    covariance,
    cumulative_share,
    eigenfaces,
    first_axis,
    impute,
    inner_product,
    inverse_root,
    kaiser,
    kept_variance,
    lagrangian,
    lagrangian_gradient,
    low_rank,
    low_rank_log_likelihood,
    pca_whitening,
    power_iteration,
    principal_components,
    projection_error,
    projector,
    reconstruct,
    restore,
    score_operations,
    scores,
    signed,
    squared_error,
    standardise,
    whitening_distance,
    zca_whitening,
)
from mlnotes.probability import multivariate_normal_log_density

DATA = os.environ.get("MLNOTES_DATA", "")


def samples(rng, n=60, d=5):
    """Correlated samples of distinct variances, far from the origin."""
    return rng.normal(size=(n, d)) * np.arange(1, d + 1) @ random_basis(rng, d) + 7


def random_basis(rng, d, k=None):
    """k orthonormal columns of dimension d, in any direction."""
    Q, R = np.linalg.qr(rng.normal(size=(d, k or d)))
    return Q * np.sign(np.diag(R))


def bases(rng, d, k, count=300):
    """Many orthonormal bases (count, d, k)."""
    return np.linalg.qr(rng.normal(size=(count, d, k)))[0]


def by_the_book(X):
    """The covariance, an outer product at a time."""
    mean = sum(X) / len(X)
    return sum(np.outer(x - mean, x - mean) for x in X) / len(X)


def tail(lam, k):
    return lam[k:].sum()


# ---------------------------------------------------------------------------------------
# Matrices
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-01")
def test_the_inner_product_of_matrices_is_a_trace(rng):
    A, B, C = rng.normal(size=(3, 4, 6))
    loop = sum(A[i, j] * B[i, j] for i in range(4) for j in range(6))
    assert inner_product(A, B) == pytest.approx(loop, rel=1e-12)
    assert inner_product(A, B) == pytest.approx(np.trace(A.T @ B), rel=1e-12)
    assert inner_product(A, A) == pytest.approx(np.linalg.norm(A) ** 2, rel=1e-12)
    assert inner_product(B, A) == pytest.approx(inner_product(A, B), rel=1e-12)
    both = inner_product(2 * A + C, B)
    assert both == pytest.approx(2 * inner_product(A, B) + inner_product(C, B), rel=1e-12)
    D, E, F = rng.normal(size=(3, 4)), rng.normal(size=(4, 6)), rng.normal(size=(6, 3))
    assert np.trace(D @ E @ F) == pytest.approx(np.trace(F @ D @ E), rel=1e-12)
    S = A @ A.T
    assert np.trace(S) == pytest.approx(np.linalg.eigvalsh(S).sum(), rel=1e-12)


@pytest.mark.claims("pca-02")
def test_the_projector_of_any_basis_leaves_a_residual_orthogonal_to_it(rng):
    A, x = rng.normal(size=(6, 3)), rng.normal(size=6)
    P = projector(A)
    np.testing.assert_allclose(P, A @ np.linalg.inv(A.T @ A) @ A.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(P, P.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(P @ P, P, rtol=0, atol=1e-12)
    np.testing.assert_allclose(P @ A, A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(A.T @ (x - P @ x), 0, rtol=0, atol=1e-12)
    assert np.linalg.matrix_rank(P) == 3
    V = random_basis(rng, 6, 3)
    np.testing.assert_allclose(projector(V), V @ V.T, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="the 2 columns of A must be linearly independent"):
        projector(np.ones((3, 2)))


@pytest.mark.claims("pca-03")
def test_erratum_orthogonal_columns_are_not_enough(rng):
    V = random_basis(rng, 6, 3)
    A = 2 * V
    printed = A @ A.T
    np.testing.assert_allclose(printed @ printed, 4 * printed, rtol=0, atol=1e-12)
    assert np.abs(printed @ printed - printed).max() > 0.1
    np.testing.assert_allclose(projector(A), V @ V.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(3), rtol=0, atol=1e-12)
    assert np.linalg.norm(V @ V.T - np.eye(6)) == pytest.approx(np.sqrt(6 - 3), rel=1e-12)


@pytest.mark.claims("pca-04")
def test_the_diagonal_of_a_projector_is_a_share_of_each_unit_vector(rng):
    for k in range(1, 6):
        P = projector(rng.normal(size=(6, k)))
        p = np.diag(P)
        assert np.trace(P) == pytest.approx(k, abs=1e-12)
        np.testing.assert_allclose(p, np.diag(P @ P), rtol=0, atol=1e-12)
        np.testing.assert_allclose(p, np.linalg.norm(P, axis=0) ** 2, rtol=0, atol=1e-12)
        rest = np.linalg.norm(np.eye(6) - P, axis=0) ** 2
        np.testing.assert_allclose(p + rest, 1, rtol=0, atol=1e-12)
        assert p.min() > 0 and p.max() < 1
    axis = projector(np.array([[1.0], [0.0]]))  # one of the two terms is 0, each in turn
    np.testing.assert_allclose(np.diag(axis), [1, 0], rtol=0, atol=1e-15)
    oblique = np.outer([3.0, 2.0], [1.0, -1.0])
    np.testing.assert_array_equal(oblique @ oblique, oblique)
    assert oblique[0, 0] > 1 and oblique[0, 0] != pytest.approx(np.sum(oblique[:, 0] ** 2))


# ---------------------------------------------------------------------------------------
# Samples from their mean
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-05")
def test_pca_maps_to_k_features_without_labels_and_explains_a_share():
    X = load_wine().X
    shares = []
    for k in range(1, 14):
        model = PCA(n_components=k).fit(X)
        assert model.transform(X).shape == (len(X), k)
        shares.append(model.explained_variance_ratio_.sum())
    lam = np.sort(np.linalg.eigvalsh(by_the_book(X)))[::-1]
    np.testing.assert_allclose(shares, np.cumsum(lam) / lam.sum(), rtol=1e-9)
    assert np.all(np.diff(shares) >= 0) and shares[-1] == pytest.approx(1, abs=1e-12)
    selection = np.eye(13)[:, [2, 5]]  # unit vectors for directions select features
    np.testing.assert_array_equal(scores(X, 0, selection), X[:, [2, 5]])


@pytest.mark.claims("pca-06")
def test_the_covariance_has_the_divisor_n(rng):
    X = samples(rng)
    S = covariance(X)
    np.testing.assert_allclose(S, by_the_book(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(S, np.cov(X.T, bias=True), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(S, S.T)
    assert np.linalg.eigvalsh(S).min() >= 0
    columns = X.T  # as IRHD stores them
    centred = columns - columns.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(centred.sum(axis=1), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(centred @ centred.T / columns.shape[1], S, rtol=1e-10, atol=1e-12)


@pytest.mark.claims("pca-07")
def test_projections_have_the_projected_mean_and_covariance(rng):
    X, v, A = samples(rng), rng.normal(size=5), rng.normal(size=(5, 3))
    S, Z = by_the_book(X), scores(X, 0, A)
    assert (X @ v).mean() == pytest.approx(v @ X.mean(axis=0), rel=1e-10)
    assert (X @ v).var() == pytest.approx(v @ S @ v, rel=1e-10)
    np.testing.assert_allclose(covariance(Z), A.T @ S @ A, rtol=1e-10)
    loop = [[sum(a * b for a, b in zip(A[:, j], x, strict=True)) for j in range(3)] for x in X]
    np.testing.assert_allclose(Z, loop, rtol=1e-10)
    unit = v / np.linalg.norm(v)
    np.testing.assert_allclose((X - np.outer(X @ unit, unit)) @ unit, 0, rtol=0, atol=1e-10)


@pytest.mark.claims("pca-08")
def test_erratum_one_index_for_direction_and_sample(rng):
    X = samples(rng, n=5)
    A, S, mean = rng.normal(size=(5, 5)), by_the_book(X), X.mean(axis=0)
    printed_mean = np.mean([a @ x for a, x in zip(A.T, X, strict=True)])
    D = X - mean
    printed_variance = np.mean([(a @ e) ** 2 for a, e in zip(A.T, D, strict=True)])
    Z = X @ A
    np.testing.assert_allclose(Z.mean(axis=0), A.T @ mean, rtol=1e-10)
    np.testing.assert_allclose(Z.var(axis=0), np.diag(A.T @ S @ A), rtol=1e-10)
    assert np.abs(printed_mean - A.T @ mean).min() > 1e-3
    assert np.abs(printed_variance - np.diag(A.T @ S @ A)).min() > 1e-3


@pytest.mark.claims("pca-09")
def test_standardised_samples_have_the_correlations_and_go_back(rng):
    X = samples(rng)
    X[:, 2] = 0.1
    X[::2, 2] = np.nextafter(0.1, 1)  # constant but for rounding
    Z, mean, sd = standardise(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(Z.var(axis=0), [1, 1, 0, 1, 1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(Z[:, 2], 0)
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(covariance(Z)[np.ix_(others, others)],
                               np.corrcoef(X[:, others].T), rtol=0, atol=1e-12)  # fmt: skip
    assert np.trace(covariance(Z)) == pytest.approx(4, abs=1e-12)
    found = principal_components(Z)
    again = reconstruct(scores(Z, found.mean, found.V), found.mean, found.V)
    np.testing.assert_allclose(restore(again, mean, sd), X, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        X - restore(again, 0, sd), np.tile(mean, (60, 1)), rtol=0, atol=1e-10
    )


@pytest.mark.claims("pca-09")
def test_large_units_dominate_unless_features_are_standardised(rng):
    X, off = samples(rng), []
    V = principal_components(standardise(X).Z).V
    for c in (1e2, 1e3, 1e4):
        scaled = X * [c, 1, 1, 1, 1]
        np.testing.assert_allclose(
            principal_components(standardise(scaled).Z).V, V, rtol=0, atol=1e-10
        )
        off.append(1 - abs(principal_components(scaled, 1).V[0, 0]))
    np.testing.assert_allclose(off[0] / np.array(off[1:]), [1e2, 1e4], rtol=0.05)


# ---------------------------------------------------------------------------------------
# Most variance
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-10")
def test_a_covariance_has_an_orthonormal_eigenbasis(rng):
    X = samples(rng)
    S, found = covariance(X), by_covariance(X)
    lam, V = found.lam, found.V
    assert lam.dtype == np.float64
    np.testing.assert_allclose(S @ V, V * lam, rtol=0, atol=1e-10)
    np.testing.assert_allclose(V.T @ V, np.eye(5), rtol=0, atol=1e-12)
    np.testing.assert_allclose(V * lam @ V.T, S, rtol=0, atol=1e-10)
    np.testing.assert_allclose(S @ (3 * V[:, 1]), lam[1] * (3 * V[:, 1]), rtol=0, atol=1e-10)
    others = by_deflation(X, 5, steps=3000, rng=rng)
    np.testing.assert_allclose(others.lam, lam, rtol=1e-9)
    np.testing.assert_allclose(others.V, V, rtol=0, atol=1e-7)


@pytest.mark.claims("pca-11")
def test_the_first_axis_is_the_stationary_point_of_largest_variance(rng):
    X = samples(rng)
    S, (_, lam, V) = covariance(X), by_covariance(X)
    variance, v = first_axis(S)
    assert variance == pytest.approx(lam[0], rel=1e-12)
    np.testing.assert_allclose(v, V[:, 0], rtol=0, atol=1e-12)
    for j in range(5):
        at = lagrangian_gradient(V[:, j], lam[j], S)
        np.testing.assert_allclose(at, 0, rtol=0, atol=1e-8)
        assert lagrangian(V[:, j], lam[j], S) == pytest.approx(lam[j], rel=1e-10)
        assert (X @ V[:, j]).var() == pytest.approx(lam[j], rel=1e-10)
    u = rng.normal(size=5)
    check_gradient(lambda v: lagrangian(v, 1.7, S), lambda v: lagrangian_gradient(v, 1.7, S), u)
    units = rng.normal(size=(10_000, 5))
    units /= np.linalg.norm(units, axis=1)[:, None]
    variances = np.einsum("ij,jk,ik->i", units, S, units)
    assert lam[-1] <= variances.min() and variances.max() <= lam[0]
    states = list(islice(power_iteration(S, u), 300))
    np.testing.assert_allclose(signed(states[-1].v[:, None])[:, 0], v, rtol=0, atol=1e-8)
    assert np.all(np.diff([state.objective for state in states]) >= -1e-12)
    assert states[-1].residual < 1e-7 < states[0].residual
    with pytest.raises(ValueError, match="there must be variance along the start"):
        list(islice(power_iteration(np.diag([1.0, 0.0]), np.array([0.0, 1.0])), 2))


@pytest.mark.claims("pca-12")
def test_erratum_any_eigenvector_but_the_first_can_be_improved_upon(rng):
    X = samples(rng)
    S, (_, lam, V) = covariance(X), by_covariance(X)
    for j in range(1, 5):
        for t in (0.01, 0.3, 1.0):
            v = np.cos(t) * V[:, j] + np.sin(t) * V[:, 0]
            mixture = lam[j] * np.cos(t) ** 2 + lam[0] * np.sin(t) ** 2
            assert v @ S @ v == pytest.approx(mixture, rel=1e-10)
            assert v @ S @ v > lam[j]
    for j in range(1, 4):  # saddle points: below them lies the last axis
        v = np.cos(0.1) * V[:, j] + np.sin(0.1) * V[:, -1]
        assert v @ S @ v < lam[j]


@pytest.mark.claims("pca-13")
def test_erratum_without_orthogonality_every_direction_is_the_first_axis(rng):
    X = samples(rng)
    S, (_, lam, V) = covariance(X), by_covariance(X)
    printed = np.column_stack([first_axis(S)[1], first_axis(S)[1]])  # each maximised by itself
    assert kept_variance(S, printed) == pytest.approx(2 * lam[0], rel=1e-10)
    assert kept_variance(S, printed) > lam[0] + lam[1] + 1
    for v in printed.T:  # stationary for the printed function
        np.testing.assert_allclose(lagrangian_gradient(v, lam[0], S), 0, rtol=0, atol=1e-10)
    _, second = first_axis(S - lam[0] * np.outer(V[:, 0], V[:, 0]))
    np.testing.assert_allclose(second, V[:, 1], rtol=0, atol=1e-8)
    assert kept_variance(S, V[:, :2]) == pytest.approx(lam[0] + lam[1], rel=1e-10)


@pytest.mark.claims("pca-14")
def test_the_top_eigenvectors_keep_most_variance(rng):
    X = samples(rng)
    S, (_, lam, V) = covariance(X), by_covariance(X)
    for k in range(1, 6):
        assert kept_variance(S, V[:, :k]) == pytest.approx(lam[:k].sum(), rel=1e-10)
        kept = [kept_variance(S, Q) for Q in bases(rng, 5, k)]
        assert max(kept) <= lam[:k].sum() * (1 + 1e-12)
    Q = random_basis(rng, 5, 2)
    assert kept_variance(S, Q) == pytest.approx((X @ Q).var(axis=0).sum(), rel=1e-10)


# ---------------------------------------------------------------------------------------
# Least error
# ---------------------------------------------------------------------------------------


def coordinate_sum(X, V, Z, beta, limit, sign):
    """The expansion of J with the first sum up to `limit` and the `sign` between the sums."""
    k, C = Z.shape[1], X @ V
    padded = np.column_stack([Z, np.zeros((len(X), len(V) - k))])
    first = ((C - padded)[:, :limit] ** 2).sum(axis=1)
    second = ((C[:, k:] - beta) ** 2).sum(axis=1)
    return np.mean(first + sign * second)


@pytest.mark.claims("pca-15")
def test_the_error_of_any_approximation_is_a_sum_over_coordinates(rng):
    X, V = samples(rng), random_basis(rng, 5)
    np.testing.assert_allclose(X, sum(np.outer(X @ v, v) for v in V.T), rtol=0, atol=1e-12)
    Z, beta = rng.normal(size=(60, 2)), rng.normal(size=3)
    X_hat = approximation(V, Z, beta)
    by_hand = [sum(z * v for z, v in zip([*row, *beta], V.T, strict=True)) for row in Z]
    np.testing.assert_allclose(X_hat, by_hand, rtol=0, atol=1e-12)
    direct = np.mean([np.linalg.norm(a - b) ** 2 for a, b in zip(X, X_hat, strict=True)])
    assert squared_error(X, X_hat) == pytest.approx(direct, rel=1e-12)
    assert coordinate_sum(X, V, Z, beta, 2, +1) == pytest.approx(direct, rel=1e-10)
    assert np.linalg.matrix_rank(X_hat - X_hat[0]) == 2


@pytest.mark.claims("pca-16")
def test_erratum_the_two_sums_of_the_error_are_added_and_the_first_ends_at_k(rng):
    X, V = samples(rng), random_basis(rng, 5)
    Z, beta = rng.normal(size=(60, 2)), rng.normal(size=3)
    J = squared_error(X, approximation(V, Z, beta))
    for limit, sign in ((5, -1), (5, +1), (2, -1)):
        assert abs(coordinate_sum(X, V, Z, beta, limit, sign) - J) > 1
    assert coordinate_sum(X, V, Z, beta, 2, +1) == pytest.approx(J, rel=1e-12)
    zero = np.zeros(3)
    negative = coordinate_sum(X, V, X @ V[:, :2], zero, 2, -1)
    assert negative == pytest.approx(-np.mean(((X @ V[:, 2:]) ** 2).sum(axis=1)), rel=1e-12)
    assert negative < 0


@pytest.mark.claims("pca-17")
def test_the_best_coordinates_are_projections_and_the_projected_mean(rng):
    X, V, k = samples(rng, n=8), random_basis(rng, 5), 2
    mean = X.mean(axis=0)

    def error(parts):
        return squared_error(X, approximation(V, parts[:16].reshape(8, 2), parts[16:]))

    def gradient(parts):
        dZ = -2 / 8 * (X @ V[:, :k] - parts[:16].reshape(8, 2))
        return np.append(dZ, -2 * (mean @ V[:, k:] - parts[16:]))

    check_gradient(error, gradient, rng.normal(size=19))
    Z, beta = best_coordinates(X, V, k)
    best = np.append(Z, beta)
    np.testing.assert_allclose(gradient(best), 0, rtol=0, atol=1e-12)
    assert error(best) < min(error(best + 0.1 * rng.normal(size=19)) for _ in range(20))
    X_hat = approximation(V, Z, beta)
    V_k = V[:, :k]
    np.testing.assert_allclose(
        X_hat, reconstruct(scores(X, mean, V_k), mean, V_k), rtol=0, atol=1e-12
    )
    lost = sum(np.outer((X - mean) @ v, v) for v in V.T[k:])
    np.testing.assert_allclose(X - X_hat, lost, rtol=0, atol=1e-12)
    np.testing.assert_allclose((X - X_hat) @ V_k, 0, rtol=0, atol=1e-12)


@pytest.mark.claims("pca-18")
def test_the_least_error_is_the_sum_of_the_variances_left_out(rng):
    X = samples(rng)
    S, (_, lam, V) = covariance(X), by_covariance(X)
    for k in range(1, 5):
        X_hat = approximation(V, *best_coordinates(X, V, k))
        J = squared_error(X, X_hat)
        assert J == pytest.approx(sum(v @ S @ v for v in V.T[k:]), rel=1e-10)
        assert J == pytest.approx(tail(lam, k), rel=1e-10)
        others = [projection_error(X, Q) for Q in bases(rng, 5, k)]
        assert min(others) >= J * (1 - 1e-12)
        whole = projector(V[:, :k]) + projector(V[:, k:])
        np.testing.assert_allclose(whole, np.eye(5), rtol=0, atol=1e-12)


@pytest.mark.claims("pca-19")
def test_kept_variance_and_error_add_up_to_the_total_on_every_subspace(rng):
    X = samples(rng)
    S = covariance(X)
    for k in range(1, 5):
        for Q in bases(rng, 5, k, 20):
            total = kept_variance(S, Q) + projection_error(X, Q)
            assert total == pytest.approx(np.trace(S), rel=1e-10)
    P, x = projector(rng.normal(size=(5, 2))), X[0]
    assert np.sum((x - P @ x) ** 2) == pytest.approx(x @ x - x @ P @ x, rel=1e-10)
    plane, angles = X[:, :2], np.pi * np.arange(360) / 360
    lines = np.column_stack([np.cos(angles), np.sin(angles)])[:, :, None]
    kept = [kept_variance(covariance(plane), v) for v in lines]
    lost = [projection_error(plane, v) for v in lines]
    assert np.argmax(kept) == np.argmin(lost)
    cosine = abs(lines[np.argmax(kept), :, 0] @ first_axis(covariance(plane))[1])
    assert np.arccos(min(cosine, 1)) <= np.pi / 720 + 1e-9


@pytest.mark.claims("pca-21")
def test_the_error_depends_on_the_subspace_and_is_least_at_the_singular_vectors(rng):
    X, k, n = samples(rng), 2, 60
    X_c = X - X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X_c, full_matrices=False)
    V, Q, R = Vt.T, random_basis(rng, 5, k), random_basis(rng, k)
    J = n * projection_error(X, Q)
    assert J == pytest.approx(sum(np.sum((x - Q @ Q.T @ x) ** 2) for x in X_c), rel=1e-10)
    assert J == pytest.approx(np.sum(X_c**2) - np.sum((X_c @ Q) ** 2), rel=1e-10)
    assert n * projection_error(X, Q @ R) == pytest.approx(J, rel=1e-10)
    least = n * projection_error(X, V[:, :k])
    assert least == pytest.approx(np.sum(s[k:] ** 2), rel=1e-10)
    assert least <= min(n * projection_error(X, B) for B in bases(rng, 5, k))
    lam = s**2 / n
    p = np.diag(V.T @ projector(Q) @ V)
    energy = kept_variance(covariance(X), Q)
    assert energy == pytest.approx(np.trace(V.T @ Q @ Q.T @ V @ np.diag(lam)), rel=1e-10)
    assert energy == pytest.approx(lam @ p, rel=1e-10)
    assert p.sum() == pytest.approx(k) and p.min() >= 0 and p.max() <= 1
    block = V.T @ V[:, :k] @ V[:, :k].T @ V
    np.testing.assert_allclose(block, np.diag([1, 1, 0, 0, 0]), rtol=0, atol=1e-12)
    corners = np.array([rng.permutation([1, 1, 0, 0, 0]) for _ in range(500)])
    feasible = np.einsum("ij,ijk->ik", rng.dirichlet(np.ones(4), 125), corners.reshape(125, 4, 5))
    assert (feasible @ lam).max() <= lam[:k].sum()


@pytest.mark.claims("pca-22")
def test_erratum_the_cyclic_rule_and_the_count_of_singular_values(rng):
    for n, d in ((7, 4), (4, 7)):
        X = rng.normal(size=(d, n))  # samples in columns, as IRHD has them
        U, s, _ = np.linalg.svd(X)
        assert len(s) == min(n, d)
        D = np.diag(np.append(s, np.zeros(d - len(s))) ** 2)
        assert D.shape == (d, d)  # of the features, not of the samples
        Q = random_basis(rng, d, 2)
        energy = np.trace(Q.T @ X @ X.T @ Q)
        assert np.trace(U.T @ Q @ Q.T @ U @ D) == pytest.approx(energy, rel=1e-10)
        assert abs(np.trace(U.T @ Q @ Q.T @ U.T @ D) - energy) > 1e-3


# ---------------------------------------------------------------------------------------
# Routes to the axes
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-23")
def test_the_steps_of_pca_agree_with_svd_and_with_deflation(rng):
    X = samples(rng)
    mean, lam, V = by_covariance(X, 3)
    for other in (by_svd(X, 3), by_deflation(X, 3, rng=rng), principal_components(X, 3)):
        np.testing.assert_allclose(other.lam[:3], lam[:3], rtol=1e-8)
        np.testing.assert_allclose(other.V, V, rtol=0, atol=1e-8)
        np.testing.assert_array_equal(other.mean, mean)
    np.testing.assert_allclose(np.abs(principal_axes(X, 3).T @ V), np.eye(3), rtol=0, atol=1e-8)
    assert np.all(np.diff(lam) <= 0) and lam.sum() == pytest.approx(np.trace(by_the_book(X)))
    Z = scores(X, mean, V)
    loop = [[v @ (x - mean) for v in V.T] for x in X]
    np.testing.assert_allclose(Z, loop, rtol=0, atol=1e-10)
    moved = by_covariance(X + 100, 3)
    np.testing.assert_allclose(moved.V, V, rtol=0, atol=1e-8)
    np.testing.assert_allclose(scores(X + 100, moved.mean, moved.V), Z, rtol=0, atol=1e-8)


@pytest.mark.claims("pca-24")
def test_erratum_scores_are_of_centred_samples_from_the_right(rng):
    X = samples(rng)
    mean, _, V = by_covariance(X)
    with pytest.raises(ValueError, match="matmul"):
        V.T @ X
    Z, printed = scores(X, mean, V), X @ V
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(printed.mean(axis=0), V.T @ mean, rtol=0, atol=1e-10)
    assert np.abs(V.T @ mean).max() > 1
    np.testing.assert_allclose(covariance(printed), covariance(Z), rtol=0, atol=1e-8)
    np.testing.assert_allclose(reconstruct(Z, mean, V), X, rtol=0, atol=1e-10)
    assert np.abs(reconstruct(printed, mean, V) - X).max() > 1


@pytest.mark.claims("pca-25")
def test_scores_are_uncorrelated_and_distances_are_kept(rng):
    X = samples(rng)
    mean, lam, V = principal_components(X)
    Z = scores(X, mean, V)
    np.testing.assert_allclose(by_the_book(Z), np.diag(lam), rtol=0, atol=1e-10 * lam.sum())
    np.testing.assert_allclose(V.T @ by_the_book(X) @ V, np.cov(Z.T, bias=True), rtol=0, atol=1e-10)
    np.testing.assert_allclose(V.T @ V, np.eye(5), rtol=0, atol=1e-12)
    np.testing.assert_allclose(squared_distances(Z), squared_distances(X), rtol=0, atol=1e-9)
    assert np.all(np.diff(lam) <= 0) and lam.sum() == pytest.approx(np.trace(covariance(X)))
    flat = np.column_stack([X[:, :2], X[:, 0] - X[:, 1]])
    assert by_svd(flat).lam[-1] < 1e-12 * by_svd(flat).lam[0]  # nonnegative, not positive


@pytest.mark.claims("pca-26")
def test_the_svd_gives_axes_variances_and_scores(rng):
    X, k = samples(rng), 3
    mean, lam, V = by_svd(X)
    X_c = X - mean
    P, s, _ = np.linalg.svd(X_c, full_matrices=False)
    np.testing.assert_allclose(lam, s**2 / 60, rtol=1e-12)
    eigen = by_covariance(X)
    np.testing.assert_allclose(lam, eigen.lam, rtol=1e-10)
    np.testing.assert_allclose(V, eigen.V, rtol=0, atol=1e-8)
    Z = scores(X, mean, V[:, :k])
    np.testing.assert_allclose(np.abs(Z), np.abs(P[:, :k] * s[:k]), rtol=0, atol=1e-10)
    P = X_c @ V / s
    np.testing.assert_allclose(P * s @ V.T, X_c, rtol=0, atol=1e-12 * s[0])
    np.testing.assert_allclose(P @ (V * s).T, X_c, rtol=0, atol=1e-12 * s[0])  # the other loadings


@pytest.mark.claims("pca-26")
def test_score_operations_are_the_counted_ones(rng):
    A, V, P, s = (rng.normal(size=shape) for shape in ((6, 4), (4, 2), (6, 2), 2))
    Z, count = np.zeros((6, 2)), 0
    for i in range(6):
        for j in range(2):
            Z[i, j], count = A[i, 0] * V[0, j], count + 1
            for m in range(1, 4):
                Z[i, j], count = Z[i, j] + A[i, m] * V[m, j], count + 2
    np.testing.assert_allclose(Z, A @ V, rtol=0, atol=1e-12)
    assert score_operations(6, 4, 2) == (count, (P * s).size)


@pytest.mark.claims("pca-27")
def test_erratum_singular_values_are_not_variances(rng):
    X = samples(rng)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(s**2 / 60, by_covariance(X).lam, rtol=1e-10)
    total = np.trace(covariance(X))
    assert np.sum(s**2 / 60) == pytest.approx(total, rel=1e-10)
    assert abs(np.sum(s) - total) > 1


@pytest.mark.claims("pca-28", "pca-29")
def test_reconstruction_is_the_nearest_point_and_exact_at_the_rank_only(rng):
    X = samples(rng)
    X[:, 4] = X[:, 0] + X[:, 1]  # rank 4
    mean, lam, V = by_svd(X)
    for k in range(1, 6):
        V_k = V[:, :k]
        Z = scores(X, mean, V_k)
        X_hat = reconstruct(Z, mean, V_k)
        np.testing.assert_allclose(X_hat, mean + (X - mean) @ projector(V_k), rtol=0, atol=1e-10)
        np.testing.assert_allclose((X - X_hat) @ V_k, 0, rtol=0, atol=1e-10)
        J = squared_error(X, X_hat)
        assert J == pytest.approx(tail(lam, k), rel=1e-9, abs=1e-12)
        assert (J > 0.1) == (k < 4)  # REP prints Y U^T = X for every k
        if k >= 4:
            np.testing.assert_allclose(X_hat, X, rtol=0, atol=1e-10)


@pytest.mark.claims("pca-30")
def test_celsius_and_fahrenheit_are_one_variable(rng):
    celsius = 15 + 8 * rng.normal(size=40)
    X = np.column_stack([celsius, 1.8 * celsius + 32])
    mean, lam, V = by_svd(X, 1)
    assert abs(np.linalg.det(covariance(X))) < 1e-12 * lam[0] ** 2
    assert lam[1] < 1e-12 * lam[0]  # nonnegative, not "positive"
    np.testing.assert_allclose(V[:, 0], np.array([1, 1.8]) / np.hypot(1, 1.8), rtol=0, atol=1e-10)
    np.testing.assert_allclose(reconstruct(scores(X, mean, V), mean, V), X, rtol=0, atol=1e-10)
    assert np.abs(low_rank(X, 1) - X).max() > 0.1  # without centring


@pytest.mark.claims("pca-31")
def test_pca_sees_mean_and_covariance_only(rng):
    normal, heavy = rng.normal(size=(400, 4)), rng.standard_t(3, size=(400, 4))
    normal = normal @ rng.normal(size=(4, 4)) + 3
    root = np.linalg.inv(inverse_root(covariance(normal)))
    white = zca_whitening(heavy)
    twin = (heavy - white.mean) @ white.W.T @ root + normal.mean(axis=0)
    a, b = by_svd(normal), by_svd(twin)
    np.testing.assert_allclose(a.lam, b.lam, rtol=1e-10)
    np.testing.assert_allclose(a.V, b.V, rtol=0, atol=1e-9)

    def kurtosis(X):
        z = scores(X, a.mean, a.V[:, :1])[:, 0]
        return np.mean(z**4) / np.mean(z**2) ** 2

    assert kurtosis(twin) > kurtosis(normal) + 1


# ---------------------------------------------------------------------------------------
# Low rank
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-32")
def test_the_most_likely_matrix_of_low_rank_is_the_nearest(rng):
    X, k = rng.normal(size=(8, 5)), 2
    candidates = [rng.normal(size=(8, k)) @ rng.normal(size=(k, 5)) for _ in range(50)]
    for L, M in zip(candidates, candidates[1:], strict=False):
        assert np.linalg.matrix_rank(L) == k
        basis = np.linalg.svd(L)[2][:k].T
        np.testing.assert_allclose(L @ basis @ basis.T, L, rtol=0, atol=1e-12)
        more = low_rank_log_likelihood(X, L) - low_rank_log_likelihood(X, M)
        squares = np.sum((X - M) ** 2) - np.sum((X - L) ** 2)
        assert more == pytest.approx(squares / 2, abs=1e-9)
    density = multivariate_normal_log_density(X - L, np.zeros(5), np.eye(5)).sum()
    assert low_rank_log_likelihood(X, L) == pytest.approx(density, rel=1e-10)
    best = low_rank_log_likelihood(X, low_rank(X, k))
    assert best > max(low_rank_log_likelihood(X, L) for L in candidates)
    assert np.linalg.matrix_rank(X) == 5 and np.linalg.matrix_rank(X[:3]) == 3


@pytest.mark.claims("pca-33")
def test_the_truncated_svd_is_the_best_of_its_rank(rng):
    X, k = rng.normal(size=(9, 6)) + 1, 2  # not centred
    L, (P, s, Vt) = low_rank(X, k), np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(L, X @ Vt[:k].T @ Vt[:k], rtol=0, atol=1e-10)
    np.testing.assert_allclose(L, sum(s[j] * np.outer(P[:, j], Vt[j]) for j in range(k)))
    error = np.sum((X - L) ** 2)
    assert error == pytest.approx(np.sum(s[k:] ** 2), rel=1e-10)
    assert error <= min(np.sum((X - X @ Q @ Q.T) ** 2) for Q in bases(rng, 6, k))
    for _ in range(3):
        states = list(islice(alternate(X, rng.normal(size=(k, 6))), 400))
        objectives = np.array([state.objective for state in states])
        assert np.all(np.diff(objectives) <= 1e-10) and states[0].gain == np.inf
        assert objectives.min() >= error * (1 - 1e-12)
        assert objectives[-1] == pytest.approx(error, rel=1e-5)
        np.testing.assert_allclose([a.gain for a in states[1:]], -np.diff(objectives))
    with pytest.raises(ValueError, match=re.escape("k must be between 1 and min(n, d), 6; got 7")):
        low_rank(X, 7)


@pytest.mark.claims("pca-34")
def test_erratum_replacing_by_the_projection_strictly_lessens_the_error(rng):
    P = projector(rng.normal(size=(6, 2)))
    for _ in range(50):
        x, l = rng.normal(size=6), P @ rng.normal(size=6)  # noqa: E741
        gap = np.sum((P @ x - l) ** 2)
        assert np.sum((x - l) ** 2) == pytest.approx(np.sum((x - P @ x) ** 2) + gap, rel=1e-10)
        assert gap > 1e-3 and np.sum((x - l) ** 2) > np.sum((x - P @ x) ** 2)


# ---------------------------------------------------------------------------------------
# What it is good for
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-35")
def test_projection_keeps_the_share_k_over_d_of_white_noise(rng):
    n, d, k = 400, 20, 3
    N, Q = rng.normal(size=(n, d)), random_basis(rng, d, k)
    assert abs(np.sum((N @ Q) ** 2) - n * k) < 4 * np.sqrt(2 * n * k)
    L = 5 * rng.normal(size=(n, k)) @ Q.T
    assert np.sum((low_rank(L + N, k) - L) ** 2) < 0.3 * np.sum(N**2)
    np.testing.assert_allclose(low_rank(L, k), L, rtol=0, atol=1e-10)


@pytest.mark.claims("pca-35")
def test_neighbours_do_better_without_the_noise_directions():
    gains = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 60)
        X = np.hstack([rng.normal(size=(120, 2)) + 3 * y[:, None], rng.normal(size=(120, 80))])
        train = np.arange(120) % 2 == 0
        model = PCA(n_components=2).fit(X[train])
        knn = KNeighborsClassifier(5)
        raw = knn.fit(X[train], y[train]).score(X[~train], y[~train])
        Z = model.transform(X)
        gains.append(knn.fit(Z[train], y[train]).score(Z[~train], y[~train]) - raw)
    assert np.mean(gains) > 0.02, gains


@pytest.mark.claims("pca-36")
def test_compression_keeps_a_plane_whole_and_flattens_the_rest(rng):
    plane = rng.normal(size=(30, 2)) @ random_basis(rng, 50, 2).T + 4
    mean, lam, V = principal_components(plane, 2)
    Z = scores(plane, mean, V)
    D, E = squared_distances(plane), squared_distances(Z)
    np.testing.assert_allclose(E, D, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(np.argsort(E)[:, :4], np.argsort(D)[:, :4])
    assert Z.size + V.size + mean.size == 30 * 2 + 50 * 2 + 50 < plane.size
    X = samples(rng)
    mean, lam, V = principal_components(X, 2)
    X_hat = reconstruct(scores(X, mean, V), mean, V)
    S = by_the_book(X_hat)
    assert abs(np.linalg.det(S)) < 1e-10 and np.trace(S) == pytest.approx(lam[:2].sum(), rel=1e-10)
    assert squared_error(X, X_hat) == pytest.approx(tail(lam, 2), rel=1e-10)
    shown = PCA(n_components=2).fit(X).explained_variance_ratio_.sum()
    assert shown == pytest.approx(lam[:2].sum() / np.trace(covariance(X)), rel=1e-10)


@pytest.mark.claims("pca-37")
def test_pca_explains_more_the_straighter_the_data(rng):
    shares = []
    for a in np.linspace(0.05, np.pi, 30):
        t = a * (2 * (np.arange(4000) + 0.5) / 4000 - 1)
        lam = principal_components(np.column_stack([np.cos(t), np.sin(t)])).lam
        along, across = (1 - np.sin(2 * a) / (2 * a)) / 2, (1 + np.sin(2 * a) / (2 * a)) / 2
        expected = np.sort([along, across - (np.sin(a) / a) ** 2])[::-1]
        np.testing.assert_allclose(lam, expected, rtol=0, atol=1e-5)
        shares.append(cumulative_share(lam)[0])
    assert np.all(np.diff(shares) < 0) and shares[0] > 0.999
    assert shares[-1] == pytest.approx(0.5, abs=1e-6)
    plane = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8))
    assert cumulative_share(by_svd(plane).lam)[1] == pytest.approx(1, abs=1e-12)
    sphere = np.vstack([np.eye(6), -np.eye(6)])
    np.testing.assert_allclose(cumulative_share(by_svd(sphere).lam), np.arange(1, 7) / 6)


@pytest.mark.claims("pca-38")
def test_erratum_moved_images_span_far_more_than_their_degrees_of_freedom(rng):
    p = rng.normal(size=16)
    shifts = np.array([np.roll(p, m) for m in range(16)])  # one degree of freedom
    lam = by_svd(shifts).lam
    power = np.abs(np.fft.fft(p))[1:] ** 2 / 16
    np.testing.assert_allclose(lam[:-1], np.sort(power)[::-1], rtol=1e-9, atol=1e-12)
    assert np.linalg.matrix_rank(shifts - shifts.mean(axis=0)) == 15


def moved_blobs(size, n=40):
    """A smooth pattern under n small shifts and rotations of this size, as (n, 400)."""
    rng = np.random.default_rng(5)
    moves = size * rng.uniform(-1, 1, size=(n, 3))
    v, u = (np.indices((20, 20)) - 9.5) / 10
    pictures = []
    for dx, dy, angle in moves:
        x = np.cos(angle) * (u - dx) + np.sin(angle) * (v - dy)
        y = -np.sin(angle) * (u - dx) + np.cos(angle) * (v - dy)
        pictures.append(np.exp(-12 * x**2 - 3 * (y - 0.2) ** 2 - x * y).ravel())
    return np.array(pictures)


@pytest.mark.claims("pca-38")
def test_slightly_moved_images_lie_near_three_dimensions():
    lams = [by_svd(moved_blobs(size)).lam for size in (0.1, 0.05, 0.025, 0.0125)]
    ratios = np.array([lam[3] / lam[2] for lam in lams])
    np.testing.assert_allclose(ratios[1:-1] / ratios[2:], 4, rtol=0.1)
    left = 1 - np.array([cumulative_share(lam)[2] for lam in lams])
    np.testing.assert_allclose(left[1:-1] / left[2:], 4, rtol=0.1)
    assert left[-1] < 1e-3
    spread = by_svd(moved_blobs(1.0)).lam
    assert cumulative_share(spread)[2] < 0.9


# ---------------------------------------------------------------------------------------
# Images
# ---------------------------------------------------------------------------------------


def check_eigenfaces(images):
    n, h, w = images.shape
    X = images.reshape(n, h * w)
    np.testing.assert_array_equal(X.reshape(images.shape), images)
    errors, lam = [], np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / n
    assert np.count_nonzero(lam > 1e-12 * lam[0]) <= n - 1
    for k in (1, 5, 15):
        mean, faces, Z = eigenfaces(images, k)
        np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            np.einsum("ihw,jhw->ij", faces, faces), np.eye(k), rtol=0, atol=1e-9
        )
        shown = mean + np.einsum("nk,khw->nhw", Z, faces)
        errors.append(squared_error(X, shown.reshape(n, -1)))
        assert errors[-1] == pytest.approx(tail(lam, k), rel=1e-9)
    assert np.all(np.diff(errors) < 0)


@pytest.mark.claims("pca-40")
def test_eigenfaces_of_digits_and_of_drawn_faces():
    check_eigenfaces(load_digits().images[:200] / 1.0)
    images = load_orl_faces().images[:40]
    assert 112 * 92 == 10304 == images[0].size
    check_eigenfaces(images)


@pytest.mark.claims("pca-40")
@pytest.mark.skipif(
    not os.path.exists(os.path.join(DATA, "orl.npz")),
    reason="MLNOTES_DATA names no folder with orl.npz",
)
def test_eigenfaces_of_the_orl_faces():
    check_eigenfaces(load_orl_faces(DATA).images[:60])


@pytest.mark.claims("pca-41")
def test_erratum_the_mean_face_is_taken_out_of_the_coefficients_too():
    X = load_digits().X[:300]
    mean, _, V = principal_components(X, 10)
    printed, corrected = X @ V, scores(X, mean, V)
    np.testing.assert_allclose(corrected.mean(axis=0), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(printed.mean(axis=0), V.T @ mean, rtol=0, atol=1e-10)
    off = reconstruct(printed, mean, V) - reconstruct(corrected, mean, V)
    np.testing.assert_allclose(off, np.tile(V @ V.T @ mean, (300, 1)), rtol=0, atol=1e-9)
    assert np.linalg.norm(V @ V.T @ mean) > 5


# ---------------------------------------------------------------------------------------
# Whitening
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-43")
def test_pca_whitening_gives_the_identity(rng):
    X = samples(rng)
    mean, lam, V = by_covariance(X)
    white = pca_whitening(X)
    Z = (X - white.mean) @ white.W.T
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_the_book(Z), np.eye(5), rtol=0, atol=1e-8)
    root = np.diag(lam**-0.5)
    np.testing.assert_allclose(white.W, root @ V.T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(root @ V.T @ covariance(X) @ V @ root, np.eye(5), rtol=0, atol=1e-10)
    flat = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="k must be between 1 and the rank of X_c, 5; got 6"):
        pca_whitening(flat, 6)
    for W in (pca_whitening(flat, 5), pca_whitening(flat)):
        np.testing.assert_allclose(
            by_the_book((flat - W.mean) @ W.W.T), np.eye(5), rtol=0, atol=1e-8
        )
    with pytest.raises(ValueError, match="Sigma must be regular"):
        zca_whitening(flat)


@pytest.mark.claims("pca-44")
def test_erratum_scores_are_divided_by_the_root(rng):
    X = samples(rng)
    mean, lam, V = by_covariance(X)
    Z = scores(X, mean, V)
    np.testing.assert_allclose(by_the_book(Z * np.sqrt(lam)), np.diag(lam**2), rtol=0, atol=1e-8)
    np.testing.assert_allclose(by_the_book(Z / np.sqrt(lam)), np.eye(5), rtol=0, atol=1e-8)
    assert np.abs(lam**2 - 1).min() > 0.05


@pytest.mark.claims("pca-45")
def test_gradient_descent_takes_one_step_on_whitened_inputs(rng):
    X = samples(rng)
    y = rng.normal(size=60)
    y -= y.mean()

    def run(Z, steps):
        H = least_squares_hessian(Z)
        eta = 1 / np.linalg.eigvalsh(H)[-1]
        value = lambda w: np.sum((Z @ w - y) ** 2) / 2  # noqa: E731
        states = gradient_descent(value, lambda w: Z.T @ (Z @ w - y), np.zeros(5), eta=eta)
        best = np.linalg.lstsq(Z, y, rcond=None)[0]
        return H, np.array([state.x - best for state in islice(states, steps)])

    white = pca_whitening(X)
    H, errors = run((X - white.mean) @ white.W.T, 2)
    assert np.linalg.cond(H) == pytest.approx(1, rel=1e-8)
    assert np.linalg.norm(errors[0]) > 0.01
    np.testing.assert_allclose(errors[1], 0, rtol=0, atol=1e-10)
    H, errors = run(X - X.mean(axis=0), 400)
    _, lam, V = by_covariance(X)
    assert np.linalg.cond(H) == pytest.approx(lam[0] / lam[-1], rel=1e-8)
    last = np.abs(errors @ V[:, -1])
    np.testing.assert_allclose(last[1:] / last[:-1], 1 - lam[-1] / lam[0], rtol=1e-6)


def newton_schulz(S):
    """S^{-1/2} by the coupled iteration of Denman and Beavers."""
    Y, M = S, np.eye(len(S))
    for _ in range(60):
        Y, M = (Y + np.linalg.inv(M)) / 2, (M + np.linalg.inv(Y)) / 2
    return M


@pytest.mark.claims("pca-46")
def test_zca_is_the_whitening_closest_to_the_samples(rng):
    X = samples(rng)
    S, lam = covariance(X), by_covariance(X).lam
    mean, W = zca_whitening(X)
    np.testing.assert_allclose(W, newton_schulz(S), rtol=0, atol=1e-8)
    np.testing.assert_allclose(W, W.T, rtol=0, atol=1e-12)
    X_c = X - mean
    least = np.mean(np.sum((X_c @ W.T - X_c) ** 2, axis=1))
    assert least == pytest.approx(lam.sum() + 5 - 2 * np.sqrt(lam).sum(), rel=1e-8)
    assert whitening_distance(W, S) == pytest.approx(least, rel=1e-8)
    W_pca = pca_whitening(X).W
    for _ in range(100):
        other = random_basis(rng, 5) @ W_pca
        np.testing.assert_allclose(other @ S @ other.T, np.eye(5), rtol=0, atol=1e-8)
        assert whitening_distance(other, S) > least
        R = W @ np.linalg.inv(other)
        np.testing.assert_allclose(R @ R.T, np.eye(5), rtol=0, atol=1e-8)
    np.testing.assert_allclose(closest_rotation(W_pca @ S) @ W_pca, W, rtol=0, atol=1e-8)


# ---------------------------------------------------------------------------------------
# d >> n
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("pca-48")
def test_the_gram_matrix_has_the_axes_too(rng):
    n, d = 20, 500
    X = rng.normal(size=(n, d)) * np.linspace(3, 1, d) + 2
    S, X_c = covariance(X), X - X.mean(axis=0)
    gram, full = by_gram(X), by_covariance(X, n - 1)
    assert gram.V.shape == (d, n - 1)
    np.testing.assert_allclose(gram.lam[:-1], full.lam[:-1], rtol=1e-8)
    np.testing.assert_allclose(gram.V, full.V, rtol=0, atol=1e-8)
    np.testing.assert_allclose(S @ gram.V, gram.V * gram.lam[:-1], rtol=0, atol=1e-8)
    G = X_c @ X_c.T / n
    u = X_c @ gram.V[:, 0]  # and back
    np.testing.assert_allclose(G @ u, gram.lam[0] * u, rtol=0, atol=1e-8 * np.linalg.norm(u))
    np.testing.assert_allclose(principal_components(X, 4).V, gram.V[:, :4], rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="k must be between 1 and the rank of X_c, 19; got 20"):
        by_gram(X, 20)


@pytest.mark.claims("pca-49")
def test_erratum_the_axes_from_the_gram_matrix_are_to_be_normalised(rng):
    X = samples(rng, n=6, d=20)
    X_c = X - X.mean(axis=0)
    lam, U = np.linalg.eigh(X_c @ X_c.T / 6)
    lam, U = lam[:0:-1], U[:, :0:-1]
    printed = X_c.T @ U
    np.testing.assert_allclose(np.sum(printed**2, axis=0), 6 * lam, rtol=1e-8)
    axes = signed(printed / np.sqrt(6 * lam))
    np.testing.assert_allclose(axes, by_covariance(X, 5).V, rtol=0, atol=1e-8)
    np.testing.assert_allclose(axes, by_gram(X).V, rtol=0, atol=1e-10)
    found = by_the_book(X_c @ printed)
    np.testing.assert_allclose(found, np.diag(6 * lam**2), rtol=0, atol=1e-8 * found.max())


@pytest.mark.claims("pca-50")
def test_erratum_centring_costs_one_rank(rng):
    X = rng.normal(size=(6, 20)) + 3
    X_c = X - X.mean(axis=0)
    np.testing.assert_allclose(X_c.T @ np.ones(6), 0, rtol=0, atol=1e-12)
    assert np.linalg.matrix_rank(covariance(X), hermitian=True) == 5
    assert np.linalg.matrix_rank(X.T @ X, hermitian=True) == 6
    assert by_gram(X).V.shape[1] == 5
    zeros = np.count_nonzero(np.linalg.eigvalsh(covariance(X)) < 1e-10)
    assert zeros == 20 - 6 + 1


# ---------------------------------------------------------------------------------------
# How many
# ---------------------------------------------------------------------------------------


def test_rules_for_the_number_of_components():
    lam = np.array([5.0, 3.0, 1.0, 1.0])
    np.testing.assert_allclose(cumulative_share(lam), [0.5, 0.8, 0.9, 1.0])
    assert [components_for(lam, share) for share in (0.1, 0.5, 0.85, 0.95, 1.0)] == [1, 2, 3, 4, 4]
    assert kaiser(lam) == 2 and kaiser(np.ones(3)) == 0


@pytest.mark.claims("pca-51")
def test_held_out_rows_cannot_choose_but_likelihood_and_held_out_entries_can():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        signal = rng.normal(size=(200, 3)) @ random_basis(rng, 20, 3).T
        X = signal + 0.1 * rng.normal(size=signal.shape)
        train, test = X[:140], X[140:]
        missing = rng.random(X.shape) < 0.1
        rows, likelihood, entries = [], [], []
        for k in range(1, 7):
            model = PCA(k).fit(train)
            rows.append(squared_error(test, model.inverse_transform(model.transform(test))))
            likelihood.append(model.score(test))
            filled = next(islice(impute(X, missing, k), 60, None)).X
            entries.append(np.mean((filled - X)[missing] ** 2))
        assert np.all(np.diff(rows) <= 0)
        assert np.argmax(likelihood) + 1 == np.argmin(entries) + 1 == 3
        lam, bare = by_svd(X).lam, by_svd(signal).lam
        assert kaiser(lam) == components_for(lam, 0.9) == 3
        assert components_for(lam, 0.95) > 3  # a share depends on the noise
        assert kaiser(bare) == components_for(bare, 0.9) == components_for(bare, 0.95) == 3


def test_imputed_entries_are_found_where_the_rank_is_right(rng):
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 8)) + 3
    missing = rng.random(X.shape) < 0.15
    states = list(islice(impute(np.where(missing, 99.0, X), missing, 2), 300))
    np.testing.assert_allclose(states[-1].X[~missing], X[~missing])
    np.testing.assert_allclose(states[-1].X[missing], X[missing], rtol=0, atol=1e-3)
    objectives = [state.objective for state in states]
    assert np.all(np.diff(objectives) <= 1e-9) and states[0].moved == np.inf
    with pytest.raises(ValueError, match="every column must have an entry that is known"):
        next(impute(X, np.ones_like(missing), 1))


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def panels(draw, rows, columns):
    """The axes that a figure was drawn on, row by row."""
    from matplotlib.figure import Figure

    axes = list(Figure().subplots(rows, columns, squeeze=False).flat)
    draw(*axes)
    return axes


def lines_of(ax):
    return [line.get_xydata() for line in ax.lines if not hasattr(line, "get_xy1")]


def pixels(ax):
    return np.asarray(ax.images[0].get_array())


@pytest.mark.claims("pca-20")
def test_axes_projections_and_triangle_are_drawn_at_right_angles():
    from figures.pca import axes, cloud

    left, middle, right = panels(axes, 1, 3)
    X = cloud()
    lam, V = np.linalg.eigh(by_the_book(X))
    drawn, long, short = lines_of(left)
    np.testing.assert_array_equal(drawn, X)
    long, short = long[1] - long[0], short[1] - short[0]
    assert long @ short == pytest.approx(0, abs=1e-9)
    ratio = np.linalg.norm(long) / np.linalg.norm(short)
    assert ratio == pytest.approx(np.sqrt(lam[1] / lam[0]), rel=1e-9) and ratio > 1
    assert abs(long @ V[:, 0]) < 1e-9
    segments = [line for line in lines_of(middle) if len(line) == 2]
    assert len(segments) == len(X)
    for x, (start, foot) in zip(X, segments, strict=True):
        np.testing.assert_array_equal(start, x)
        assert (start - foot) @ V[:, 1] == pytest.approx(0, abs=1e-9)
        assert (foot - X.mean(axis=0)) @ V[:, 0] == pytest.approx(0, abs=1e-9)
    whole, kept, lost = (np.sum((line[1] - line[0]) ** 2) for line in lines_of(right)[:3])
    assert whole == pytest.approx(kept + lost, rel=1e-9) and min(kept, lost) > 0.1
    for ax in (left, middle, right):
        assert ax.get_aspect() == 1  # right angles look right


@pytest.mark.claims("pca-39")
def test_images_of_one_digit_have_three_local_directions_and_many_in_all():
    from figures.pca import moved_digits, near_by

    *images, spectrum = panels(moved_digits, 2, 3)
    masses = [pixels(ax).sum() for ax in images]
    np.testing.assert_allclose(masses, np.mean(masses), rtol=0.02)
    assert len({pixels(ax).tobytes() for ax in images}) == 5
    far, near = (line[:, 1] for line in lines_of(spectrum))
    X = near_by()
    lam = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:10] ** 2
    np.testing.assert_allclose(near, lam / lam[0], rtol=1e-6)
    assert near[2] > 20 * near[3] and far[2] < 2 * far[3]


@pytest.mark.claims("pca-42")
def test_digits_are_built_up_from_mean_and_axes():
    from figures.pca import eigendigits

    drawn = panels(eigendigits, 2, 6)
    T = load_digits()
    np.testing.assert_allclose(pixels(drawn[0]).ravel(), T.X.mean(axis=0))
    faces = np.array([pixels(ax).ravel() for ax in drawn[1:6]])
    np.testing.assert_allclose(faces @ faces.T, np.eye(5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.abs(faces), np.abs(by_svd(T.X, 5).V.T), rtol=0, atol=1e-8)
    for ax in drawn[1:6]:
        low, high = ax.images[0].get_clim()
        assert -low == high >= np.abs(pixels(ax)).max() and ax.images[0].get_cmap().name == "gray"
    digit = pixels(drawn[6])
    errors = [np.sum((pixels(ax) - digit) ** 2) for ax in drawn[7:]]
    assert np.all(np.diff(errors) <= 0) and errors[0] > 100 and errors[-1] < 1e-9


@pytest.mark.claims("pca-47")
def test_zca_pictures_are_like_the_originals_and_pca_pictures_are_not():
    from figures.pca import white_digits, whitened

    drawn = panels(whitened, 3, 6)
    rows = white_digits()
    for row, Z in enumerate(rows.values()):
        for i in range(6):
            np.testing.assert_array_equal(pixels(drawn[6 * row + i]).ravel(), Z[i])
    X = rows["original"]
    X_c, root = X - X.mean(axis=0), np.sqrt(by_svd(X).lam).sum()
    agreement = {}
    for name in ("ZCA", "PCA"):
        np.testing.assert_allclose(covariance(rows[name]), np.eye(64), rtol=0, atol=1e-7)
        agreement[name] = inner_product(rows[name], X_c) / len(X)  # tr cov(z, x)
    assert agreement["ZCA"] == pytest.approx(root, rel=1e-8)
    assert abs(agreement["PCA"]) < root / 3
    A = np.linalg.svd(rows["PCA"].T @ X_c / len(X), compute_uv=False).sum()
    assert A == pytest.approx(root, rel=1e-8)  # the maximum over all rotations


@pytest.mark.claims("pca-52")
def test_scree_plot_falls_and_the_share_rises_to_one():
    from figures.pca import SHARE, scree

    (ax,) = panels(scree, 1, 1)
    bars = np.array([bar.get_height() for bar in ax.patches])
    lam = np.sort(np.linalg.eigvalsh(np.corrcoef(load_wine().X.T)))[::-1]
    np.testing.assert_allclose(bars, lam / lam.sum(), rtol=1e-9)
    assert np.all(np.diff(bars) < 0)
    curve, _, mark = lines_of(ax)
    np.testing.assert_allclose(curve[:, 1], np.cumsum(bars))
    assert curve[-1, 1] == pytest.approx(1)
    first = np.flatnonzero(curve[:, 1] > SHARE)[0]
    np.testing.assert_array_equal(mark[0], curve[first])
    assert mark[0][0] == 8  # as the caption says


# ---------------------------------------------------------------------------------------
# The estimator
# ---------------------------------------------------------------------------------------


def test_a_share_is_kept_by_every_route_where_features_are_many(rng):
    X = samples(rng, 12, 60)
    for solver in ("auto", "full", "covariance_eigh", "gram"):
        model = PCA(0.8, svd_solver=solver).fit(X)
        ratio = PCA(svd_solver="full").fit(X).explained_variance_ratio_.cumsum()
        assert model.n_components_ == np.flatnonzero(ratio > 0.8)[0] + 1 < 11
        np.testing.assert_allclose(model.components_ @ model.components_.T,
                                   np.eye(model.n_components_), rtol=0, atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (7, 7)])
def test_all_solvers_find_the_same(rng, shape):
    X = samples(rng, *shape)
    k = min(shape) - 2
    models = [PCA(k, svd_solver=s).fit(X) for s in ("auto", "full", "covariance_eigh", "gram")]
    n = shape[0]
    for model in models:
        np.testing.assert_allclose(model.components_, models[1].components_, rtol=0, atol=1e-7)
        np.testing.assert_allclose(model.transform(X), models[1].transform(X), rtol=0, atol=1e-6)
        variances = model.transform(X).var(axis=0, ddof=1)
        np.testing.assert_allclose(model.explained_variance_, variances, rtol=1e-8)
        s = np.linalg.norm(model.transform(X), axis=0)
        np.testing.assert_allclose(model.singular_values_, s, rtol=1e-8)
        lam = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (n - 1)
        assert model.noise_variance_ == pytest.approx(lam[k:].mean(), rel=1e-8)
        np.testing.assert_allclose(model.explained_variance_ratio_, lam[:k] / lam.sum())
        largest = np.abs(model.components_).argmax(axis=1)
        assert (model.components_[np.arange(k), largest] > 0).all()


def test_whitened_scores_are_white_and_go_back(rng):
    X = samples(rng)
    model = PCA(whiten=True).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(5), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(Z), X, rtol=0, atol=1e-10)
    np.testing.assert_allclose(PCA(whiten=True).fit_transform(X), Z)
    flat = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="at most the rank 5 of X_c to whiten; got 6"):
        PCA(whiten=True).fit(flat)
    with pytest.raises(ValueError, match="k must be between 1 and the rank of X_c, 5; got 6"):
        PCA(6, svd_solver="gram").fit(flat)
    assert PCA(svd_solver="gram").fit(flat).n_components_ == 5
    with pytest.raises(ValueError, match="X must have 5 components; got 2"):
        model.inverse_transform(X[:, :2])


def test_the_density_is_that_of_a_normal_distribution(rng):
    X = samples(rng)
    for k in (2, 5):
        model = PCA(k).fit(X)
        C = model.get_covariance()
        density = multivariate_normal_log_density(X, model.mean_, C)
        np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-9)
        assert model.score(X) == pytest.approx(density.mean(), rel=1e-9)
        np.testing.assert_allclose(model.get_precision() @ C, np.eye(5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(C, np.cov(X.T), rtol=0, atol=1e-9)


def test_a_singular_covariance_has_a_density_on_its_subspace(rng):
    x = rng.normal(size=50)
    model = PCA().fit(np.column_stack([x, x]))
    on, off = model.score_samples([[1.0, 1.0], [1.0, -1.0]])
    z, variance = np.sqrt(2) * (1 - x.mean()), 2 * x.var(ddof=1)
    assert on == pytest.approx(-(z**2 / variance + np.log(2 * np.pi * variance)) / 2, rel=1e-9)
    assert off == -np.inf
    with pytest.raises(ValueError, match="the covariance must be regular"):
        model.get_precision()


@pytest.mark.parametrize("bad", [0, 5, -1, 1.0, 2.5, 0.0, True, "mle", np.nan])
def test_impossible_numbers_of_components_are_refused(bad):
    rule = "n_components must be None, an integer from 1 to min(n_samples, n_features) = 4, or a "
    rule = re.escape(f"{rule}share between 0 and 1; got {bad!r}")
    with pytest.raises(ValueError, match=rule):
        PCA(bad).fit(load_iris().X)


def test_a_share_of_the_variance_picks_the_count():
    X = load_iris().X
    ratio = PCA().fit(X).explained_variance_ratio_.cumsum()
    for share in (0.5, 0.95, 0.99, 0.9999):
        model = PCA(share).fit(X)
        assert model.n_components_ == np.flatnonzero(ratio > share)[0] + 1


def test_ugly_samples(rng):
    with pytest.raises(ValueError, match="X must vary; every sample is the same"):
        PCA().fit(np.full((5, 2), 0.1))
    with pytest.raises(ValueError, match="2 samples at least, for a variance; got n_samples = 1"):
        PCA().fit([[1.0, 2.0]])
    for unit in (1e-100, 1e100):
        ratio = PCA().fit(unit * load_iris().X).explained_variance_ratio_
        np.testing.assert_allclose(ratio, PCA().fit(load_iris().X).explained_variance_ratio_)
    two = PCA().fit([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
    np.testing.assert_allclose(two.components_[0], [0.6, 0.8, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(two.components_ @ two.components_.T, np.eye(2), rtol=0, atol=1e-12)
    stamped = PCA().fit([[1e15, 0.0], [1e15, 1.0], [1e15, 5.0]])  # the one column alone varies
    np.testing.assert_allclose(stamped.components_, [[0, 1], [1, 0]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(stamped.explained_variance_, [7, 0], rtol=1e-12)
    repeated = PCA(1).fit(np.repeat([[0.0, 1.0], [2.0, 1.0]], 4, axis=0))
    np.testing.assert_allclose(repeated.components_, [[1, 0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("far", [0.0, 0.9, 1.1, 1e5])
def test_large_means_cost_no_digits(rng, far):
    spread = np.array([5.0, 4.0, 3.0, 1.0, 1e-2])
    X = rng.normal(size=(640, 5)) * spread + far * spread
    lam, exact = by_covariance(X).lam, by_svd(X).lam
    np.testing.assert_allclose(lam, exact, rtol=1e-12, atol=1e-14 * exact[0])


@pytest.mark.parametrize("shape", [(100_000, 3), (4, 100)])
def test_whole_numbers_far_from_zero_lose_no_digits(rng, shape):
    near = rng.integers(-50, 50, size=shape) * 1.0
    far, n = near + 1e12, len(near)  # n times 1e12 is rounded, and so is a mean of it
    routes = (by_svd, principal_components, by_covariance if n > 4 else by_gram)
    for route in routes:
        np.testing.assert_allclose(route(far).lam, route(near).lam, rtol=1e-10, atol=1e-9)
    variance = PCA().fit(far).explained_variance_
    np.testing.assert_allclose(variance, PCA().fit(near).explained_variance_, rtol=1e-10, atol=1e-9)
    Z, mean, sd = standardise(far)
    np.testing.assert_allclose(Z, standardise(near).Z, rtol=0, atol=1e-5)  # ... of 4 decimals
    np.testing.assert_allclose(mean - 1e12, near.mean(axis=0), rtol=0, atol=1e-4)
    if n > 4:
        np.testing.assert_array_equal(zca_whitening(far).mean, mean)
        np.testing.assert_array_equal(by_deflation(far[:9], 1, rng=rng).mean, by_svd(far[:9]).mean)


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_a_large_constant_column_has_no_variance(rng, solver):
    n, constant = 100_000, 1e10 / 3  # whose sum is rounded n times, and its mean not 1e10 / 3
    X = np.column_stack([np.full(n, constant), rng.normal(size=n)])
    model = PCA(svd_solver=solver).fit(X)
    assert X.mean(axis=0)[0] != constant == model.mean_[0]
    assert model.explained_variance_[1] < 1e-20
    assert standardise(X).sd[0] == 0
    with pytest.raises(ValueError, match="at most the rank 1 of X_c to whiten; got 2"):
        PCA(whiten=True, svd_solver=solver).fit(X)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.float32])
@pytest.mark.parametrize("shape", [(200, 3), (3, 20)])
def test_small_integers_and_single_precision_are_computed_in_double(rng, kind, shape):
    low = 0 if kind is np.uint8 else -100
    few = rng.integers(low, 100, size=shape).astype(kind)
    few[0] = 1
    if kind is np.float32:
        few = (few / 3 + 100).astype(kind)
    X = few.astype(float)
    functions = [by_svd, lambda X: by_gram(X, 2), lambda X: principal_components(X, 2),
                 standardise, lambda X: pca_whitening(X, 2), lambda X: low_rank(X, 2),
                 lambda X: squared_error(X, X[::-1]), lambda X: inner_product(X, X),
                 lambda X: low_rank_log_likelihood(X, X[::-1]),
                 lambda X: by_covariance(X, 2), lambda X: eigenfaces(X[..., None], 2),
                 lambda X: next(impute(X, X == X[1, 1], 1)),
                 lambda X: PCA(2).fit(X).explained_variance_]  # fmt: skip
    for f in functions:
        found, expected = f(few), f(X)
        if not isinstance(found, tuple):
            found, expected = (found,), (expected,)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.float64


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda X: inner_product(X, X[0]), "A and B must have one shape; got (4, 3) and (3,)"),
        (lambda X: squared_error(X, X[:1]), "X and X_hat must have one shape; got (4, 3) and (1"),
        (lambda X: low_rank_log_likelihood(X, X[:1]), "X and X_hat must have one shape; got"),
        (lambda X: next(power_iteration(np.eye(3), np.zeros(3))), "v0 must be a direction; its"),
        (lambda X: next(power_iteration(np.eye(3), X[0] * np.nan)), "v0 must be a direction;"),
        (lambda X: cumulative_share(np.zeros(3)), "lam must have a sum > 0; got 0.0"),
        (lambda X: components_for(np.array([1.0, np.nan]), 0.5), "lam must have a sum > 0; got"),
        (lambda X: components_for(np.ones(3), 1.5), "share must be between 0 and 1; got 1.5"),
        (lambda X: next(impute(X, X[0] > 1, 1)),
         "missing must be True or False for each entry of X (4, 3); got bool (3,)"),
        (lambda X: next(impute(X, np.zeros((4, 3)), 1)), "got float64 (4, 3)"),
        (lambda X: by_deflation(X, 4, rng=None), "k must be between 1 and min(n, d), 3; got 4"),
        (lambda X: by_svd(X, 0), "k must be between 1 and min(n, d), 3; got 0"),
        (lambda X: low_rank(X, 0), "k must be between 1 and min(n, d), 3; got 0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(np.arange(1.0, 13.0).reshape(4, 3))


def test_deflation_takes_the_given_number_of_steps(rng):
    X = samples(rng)
    one = by_deflation(X, 1, steps=1, rng=np.random.default_rng(0))
    v = covariance(X) @ np.random.default_rng(0).normal(size=5)
    np.testing.assert_allclose(one.V[:, 0], signed(v[:, None])[:, 0] / np.linalg.norm(v))


def test_small_variances_keep_their_digits(rng):
    X = rng.normal(size=(50, 2)) * [1.0, 1e-9]
    lam = PCA().fit(X).explained_variance_
    assert lam[1] == pytest.approx(1e-18, rel=0.5)  # squares alone would leave nothing of it
    for small in (1e-4, 1e-6, 1e-7):  # whose square is some digits of 1, but not all
        X = rng.normal(size=(50, 2)) * [1.0, small]
        np.testing.assert_allclose(principal_components(X).lam, by_svd(X).lam, rtol=1e-8)
    far = PCA().fit(rng.normal(size=(50, 2)) * [1, 2] + 1e8)
    assert far.explained_variance_[0] == pytest.approx(4, rel=0.5)


def test_samples_that_vary_only_in_their_last_digit_are_refused():
    with pytest.raises(ValueError, match="X must vary; every sample is the same, to 13 digits"):
        PCA().fit([[1.0], [1.0 + 2.0**-52]])


def test_scores_of_samples_far_from_0_keep_their_digits(rng):
    X = rng.normal(size=(200, 3)) + 1e8
    for whiten in (False, True):
        model = PCA(2, whiten=whiten).fit(X)
        Z = scores(X, model.mean_, model.components_.T)
        Z /= np.sqrt(model.explained_variance_) if whiten else 1.0
        np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(PCA(2, whiten=whiten).fit_transform(X), model.transform(X))


def test_variances_that_are_rounding_errors_count_as_0(rng):
    with pytest.raises(ValueError, match="Sigma must be regular"):
        inverse_root(np.diag([1.0, 1e-14]))
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 4))
    model = PCA(2).fit(X)
    lam, Z = model.explained_variance_, model.transform(X)
    expected = -((Z**2 / lam).sum(axis=1) + np.log(2 * np.pi * lam).sum()) / 2
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-10)
