"""The pca chapter: every statement of the notes, checked by a second route."""

import os
from itertools import islice

import numpy as np
import pytest
from checks import check_gradient

from mlnotes.datasets import load_digits, load_iris, load_orl_faces, load_wine, make_shifted_digits
from mlnotes.discriminant import principal_axes
from mlnotes.linear_regression import least_squares_hessian
from mlnotes.neighbors import KNeighborsClassifier
from mlnotes.numerics import squared_distances
from mlnotes.optimization import gradient_descent
from mlnotes.pca import (
    PCA,
    alternating_least_squares,
    approximation,
    best_coordinates,
    by_covariance,
    by_deflation,
    by_gram,
    by_svd,
    components_for,
    cumulative_share,
    eigenfaces,
    first_axis,
    frobenius_product,
    impute,
    inverse_root,
    kaiser,
    kept_variance,
    low_rank,
    low_rank_log_likelihood,
    pca_whitening,
    power_iteration,
    principal_components,
    projection_error,
    projector,
    reconstruct,
    sample_covariance,
    scores,
    signed,
    squared_error,
    standardise,
    zca_whitening,
)
from mlnotes.probability import multivariate_normal_log_density

DATA = os.environ.get("MLNOTES_DATA", "")


def near(found, expected, atol=1e-10):
    """Both arrays are equal up to `atol`."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def samples(rng, n=60, d=5):
    """Correlated samples of distinct variances, far from the origin."""
    return rng.normal(size=(n, d)) * np.arange(1, d + 1) @ random_basis(rng, d) + 7


def random_basis(rng, d, k=None, count=()):
    """k orthonormal columns of dimension d, in any direction; many of them for a `count`."""
    return np.linalg.qr(rng.normal(size=(*count, d, k or d)))[0]


def by_the_book(X):
    """The covariance, an outer product at a time."""
    mean = sum(X) / len(X)
    return sum(np.outer(x - mean, x - mean) for x in X) / len(X)


def projected(model, X):
    """The samples, projected on the axes of a `PCA`."""
    return model.inverse_transform(model.transform(X))


def spectrum(rng):
    """Samples, their covariance by the book, its eigenvalues and eigenvectors, largest first."""
    X = samples(rng)
    lam, V = np.linalg.eigh(by_the_book(X))
    return X, by_the_book(X), lam[::-1], signed(V[:, ::-1])


# --- Matrices --------------------------------------------------------------------------


@pytest.mark.claims("pca-01")
def test_frobenius_product_is_a_trace_and_a_squared_norm(rng):
    A, B = rng.normal(size=(2, 4, 6))
    loop = sum(A[i, j] * B[i, j] for i in range(4) for j in range(6))
    assert frobenius_product(A, B) == pytest.approx(loop) == pytest.approx(np.trace(A.T @ B))
    assert frobenius_product(A, A) == pytest.approx(np.linalg.norm(A) ** 2)


@pytest.mark.claims("pca-02", "pca-03", "pca-34")
def test_projector_of_any_basis_gives_the_one_closest_point(rng):
    A = rng.normal(size=(6, 3))
    P = projector(A)
    near(P, A @ np.linalg.inv(A.T @ A) @ A.T)
    near(projector(np.column_stack([A, A[:, 0]]) * [1, 1, 1e-20, 1]), P)  # the same span
    for x, y in rng.normal(size=(50, 2, 6)):
        near(A.T @ (x - P @ x), 0)
        gap = np.sum((P @ x - P @ y) ** 2)  # by so much any other point is farther
        assert np.sum((x - P @ y) ** 2) == pytest.approx(np.sum((x - P @ x) ** 2) + gap)
        assert gap > 1e-3
    V = random_basis(rng, 6, 3)
    near(projector(2 * V), V @ V.T)
    printed = (2 * V) @ (2 * V).T  # orthogonal columns are not enough
    near(printed @ printed, 4 * printed)  # no projection
    assert np.linalg.norm(V @ V.T - np.eye(6)) == pytest.approx(np.sqrt(6 - 3))


@pytest.mark.claims("pca-04")
def test_projector_diagonal_is_a_share_of_each_unit_vector(rng):
    for k in range(1, 6):
        P = projector(rng.normal(size=(6, k)))
        p = np.diag(P)
        assert p.sum() == pytest.approx(k) and p.min() > 0 and p.max() < 1
        near(p, np.linalg.norm(P, axis=0) ** 2)
        near(p + np.linalg.norm(np.eye(6) - P, axis=0) ** 2, 1)
    near(np.diag(projector(np.array([[1.0], [0.0]]))), [1, 0])  # either term may be 0


# --- Samples from their mean -----------------------------------------------------------


@pytest.mark.claims("pca-06", "pca-07", "pca-08")
def test_sample_covariance_has_the_divisor_n_and_that_of_projections_is_the_projected_one(rng):
    X, A = samples(rng, n=5), rng.normal(size=(5, 5))
    S, mean, Z = sample_covariance(X), X.mean(axis=0), scores(X, 0, A)
    near(S, by_the_book(X))
    near(Z, [[sum(A[:, j] * x) for j in range(5)] for x in X])
    near(Z.mean(axis=0), A.T @ mean)
    near(sample_covariance(Z), A.T @ S @ A)
    unit = A[:, 0] / np.linalg.norm(A[:, 0])
    near((X - np.outer(X @ unit, unit)) @ unit, 0)
    printed_mean = np.mean(np.sum(A.T * X, axis=1))  # of a_i^T x_i: one index for both
    printed_variance = np.mean(np.sum(A.T * (X - mean), axis=1) ** 2)
    assert np.abs(printed_mean - A.T @ mean).min() > 1e-3
    assert np.abs(printed_variance - np.diag(A.T @ S @ A)).min() > 1e-3


@pytest.mark.claims("pca-09")
def test_standardise_gives_the_correlations_and_goes_back(rng):
    X, others = samples(rng), [0, 1, 3, 4]
    np.testing.assert_array_equal(standardise(0 * X).Z, 0)
    X[:, 2] = 0.1
    X[::2, 2] = np.nextafter(0.1, 1)  # constant but for rounding
    Z, mean, sd = standardise(X)
    near(Z.mean(axis=0), 0)
    near(Z.var(axis=0), [1, 1, 0, 1, 1])
    np.testing.assert_array_equal(Z[:, 2], 0)
    near(by_the_book(Z)[np.ix_(others, others)], np.corrcoef(X[:, others].T))
    near(Z * sd + mean, X)
    near(standardise(X, ddof=1).sd[others], np.sqrt(np.diag(np.cov(X.T))[others]))
    constant = np.full((100_000, 1), 1e10 / 3)  # whose computed mean is another number
    assert constant.mean() != constant[0, 0] and standardise(constant).sd == 0
    axes = principal_components(standardise(X).Z, 4).V
    for c in (1e2, 1e3, 1e4):  # without it the feature of the largest unit is the first axis
        near(principal_components(standardise(X * [c, 1, 1, 1, 1]).Z, 4).V, axes)
        assert 0 < 1 - abs(principal_components(X * [c, 1, 1, 1, 1], 1).V[0, 0]) < 1 / c**2


# --- Most variance ---------------------------------------------------------------------


@pytest.mark.claims("pca-11", "pca-12", "pca-13")
def test_first_axis_has_the_largest_variance_and_no_other_eigenvector_a_maximum(rng):
    X, S, lam, V = spectrum(rng)
    variance, v = first_axis(S)
    units = rng.normal(size=(10_000, 5))
    units /= np.linalg.norm(units, axis=1)[:, None]
    variances = np.sum(units @ S * units, axis=1)
    assert 0.95 * variance < variances.max() <= variance == pytest.approx(v @ S @ v)
    assert lam[-1] <= variances.min()
    for j in range(1, 5):
        for t in (0.01, 0.3, 1.0):
            v = np.cos(t) * V[:, j] + np.sin(t) * V[:, 0]
            assert v @ S @ v == pytest.approx(lam[j] * np.cos(t) ** 2 + variance * np.sin(t) ** 2)
            assert v @ S @ v > lam[j]
    for j in range(1, 4):  # saddle points: below them lies the last axis
        v = np.cos(0.1) * V[:, j] + np.sin(0.1) * V[:, -1]
        assert v @ S @ v < lam[j]
    with pytest.raises(ValueError, match="Sigma must be symmetric"):
        first_axis(np.triu(S))
    printed = np.column_stack([first_axis(S)[1]] * 2)  # printed: each maximised by itself
    assert kept_variance(S, printed) == pytest.approx(2 * lam[0])
    assert kept_variance(S, printed) > kept_variance(S, V[:, :2]) + 1
    near(S @ printed[:, 1], lam[0] * printed[:, 1])
    near(first_axis(S - lam[0] * np.outer(V[:, 0], V[:, 0]))[1], V[:, 1], 1e-8)


@pytest.mark.claims("pca-11")
def test_power_iteration_rises_to_the_first_axis(rng):
    _, S, _, V = spectrum(rng)
    states = list(islice(power_iteration(S, rng.normal(size=5)), 300))
    near(signed(states[-1].v[:, None])[:, 0], V[:, 0], 1e-8)
    assert (np.diff([state.objective for state in states]) >= -1e-12).all()
    assert states[-1].residual < 1e-7 < states[0].residual
    v = states[3].v
    assert np.linalg.norm(v) == pytest.approx(1)
    assert states[3].objective == pytest.approx(v @ S @ v)
    assert states[3].residual == pytest.approx(np.linalg.norm(S @ v - v @ S @ v * v))
    (only,) = power_iteration(np.diag([1.0, 0.0]), np.array([0.0, 1.0]))  # no variance along it
    assert only.objective == only.residual == 0


# --- Least error -----------------------------------------------------------------------


def coordinate_sum(X, V, Z, beta, limit, sign):
    """The expansion of J with the first sum up to `limit` and the `sign` between the sums."""
    k, C = Z.shape[1], X @ V
    padded = np.column_stack([Z, np.zeros((len(X), len(V) - k))])
    first = ((C - padded)[:, :limit] ** 2).sum(axis=1)
    second = ((C[:, k:] - beta) ** 2).sum(axis=1)
    return np.mean(first + sign * second)


@pytest.mark.claims("pca-15", "pca-16")
def test_approximation_error_is_a_sum_over_coordinates_not_a_difference(rng):
    X, V = samples(rng), random_basis(rng, 5)
    Z, beta = rng.normal(size=(60, 2)), rng.normal(size=3)
    X_hat = approximation(V, Z, beta)
    near(X_hat, [sum(z * v for z, v in zip([*row, *beta], V.T, strict=True)) for row in Z])
    J = squared_error(X, X_hat)
    assert J == pytest.approx(np.mean([np.linalg.norm(x) ** 2 for x in X - X_hat]))
    assert J == pytest.approx(coordinate_sum(X, V, Z, beta, 2, +1))
    for limit, sign in ((5, -1), (5, +1), (2, -1)):  # what MLN prints has both slips
        assert abs(coordinate_sum(X, V, Z, beta, limit, sign) - J) > 1
    assert coordinate_sum(X, V, X @ V[:, :2], np.zeros(3), 2, -1) < 0


@pytest.mark.claims("pca-17")
def test_best_coordinates_are_projections_and_the_projected_mean(rng):
    X, V, k = samples(rng, n=8), random_basis(rng, 5), 2
    mean, V_k = X.mean(axis=0), V[:, :k]

    def error(both):
        return squared_error(X, approximation(V, both[:16].reshape(8, 2), both[16:]))

    def gradient(both):
        dZ = -2 / 8 * (X @ V_k - both[:16].reshape(8, 2))
        return np.append(dZ, -2 * (mean @ V[:, k:] - both[16:]))

    check_gradient(error, gradient, rng.normal(size=19))
    Z, beta = best_coordinates(X, V, k)
    near(gradient(np.append(Z, beta)), 0)
    X_hat = approximation(V, Z, beta)
    near(X_hat, reconstruct(scores(X, mean, V_k), mean, V_k))
    near(X - X_hat, sum(np.outer((X - mean) @ v, v) for v in V.T[k:]))


@pytest.mark.claims("pca-14", "pca-18", "pca-19", "pca-21")
def test_projection_error_is_what_is_not_kept_and_least_at_the_singular_vectors(rng):
    X, S, lam, V = spectrum(rng)
    X_c = X - X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X_c, full_matrices=False)
    for k in range(1, 6):
        J = projection_error(X, V[:, :k])
        assert kept_variance(S, V[:, :k]) == pytest.approx(lam[:k].sum())
        assert J == pytest.approx(sum(v @ S @ v for v in V.T[k:])) == pytest.approx(lam[k:].sum())
        assert J == pytest.approx(squared_error(X, approximation(V, *best_coordinates(X, V, k))))
        assert 60 * projection_error(X, Vt[:k].T) == pytest.approx(np.sum(s[k:] ** 2))
        for Q in random_basis(rng, 5, k, (300,)):
            assert projection_error(X, Q) >= J * (1 - 1e-12) - 1e-12
            assert kept_variance(S, Q) <= lam[:k].sum() * (1 + 1e-12)
            assert kept_variance(S, Q) + projection_error(X, Q) == pytest.approx(np.trace(S))
        assert kept_variance(S, Q) == pytest.approx((X @ Q).var(axis=0).sum())
    Q, R = random_basis(rng, 5, 2), random_basis(rng, 2)
    J = 60 * projection_error(X, Q)
    assert J == pytest.approx(sum(np.sum((x - Q @ Q.T @ x) ** 2) for x in X_c))
    assert J == pytest.approx(np.sum(X_c**2) - np.sum((X_c @ Q) ** 2))
    assert J == pytest.approx(60 * projection_error(X, Q @ R))  # of the same subspace
    lam, p = s**2 / 60, np.diag(Vt @ projector(Q) @ Vt.T)
    assert kept_variance(S, Q) == pytest.approx(lam @ p)
    assert p.sum() == pytest.approx(2) and p.min() >= 0 and p.max() <= 1
    corners = np.array([rng.permutation([1, 1, 0, 0, 0]) for _ in range(500)])
    feasible = np.einsum("ij,ijk->ik", rng.dirichlet(np.ones(4), 125), corners.reshape(125, 4, 5))
    assert (feasible @ lam).max() <= lam[:2].sum()  # the linear program


@pytest.mark.claims("pca-22")
def test_kept_variance_erratum_the_cyclic_rule_and_the_count_of_singular_values(rng):
    for n, d in ((7, 4), (4, 7)):
        X, Q = rng.normal(size=(d, n)), random_basis(rng, d, 2)  # samples in columns
        (U, s, _), energy = np.linalg.svd(X), kept_variance(X @ X.T, Q)
        D = np.diag(np.append(s, np.zeros(d - len(s))) ** 2)  # of the features, not of the samples
        assert len(s) == min(n, d)
        assert np.trace(U.T @ Q @ Q.T @ U @ D) == pytest.approx(energy)
        assert abs(np.trace(U.T @ Q @ Q.T @ U.T @ D) - energy) > 1e-3


# --- Routes to the axes ----------------------------------------------------------------


@pytest.mark.claims("pca-10", "pca-25")
def test_by_covariance_is_an_orthonormal_eigenbasis_with_uncorrelated_scores(rng):
    X = samples(rng)
    S, (mean, lam, V) = by_the_book(X), by_covariance(X)
    assert lam.dtype == np.float64 and (np.diff(lam) <= 0).all()
    near(S @ V, V * lam)
    near(V.T @ V, np.eye(5))
    near(mean, X.mean(axis=0))
    assert (V[np.abs(V).argmax(axis=0), np.arange(5)] > 0).all()
    Z = scores(X, mean, V)
    near(by_the_book(Z), np.diag(lam))
    near(squared_distances(Z), squared_distances(X), 1e-9)
    flat = np.column_stack([X[:, :2], X[:, 0] - X[:, 1]])
    for route in (by_svd, by_covariance):
        assert 0 <= route(flat).lam[-1] < 1e-12 * route(flat).lam[0]  # nonnegative, not positive


@pytest.mark.claims("pca-23", "pca-24")
def test_by_covariance_agrees_with_svd_and_with_deflation_and_scores_are_centred(rng):
    X = samples(rng)
    mean, lam, V = by_covariance(X, 3)
    one = by_deflation(X, 1, steps=1, rng=np.random.default_rng(0))
    v = sample_covariance(X) @ np.random.default_rng(0).normal(size=5)
    near(one.V, signed(v[:, None]) / np.linalg.norm(v))
    for other in (by_svd(X, 3), by_deflation(X, 3, rng=rng), principal_components(X, 3)):
        np.testing.assert_allclose(other.lam[:3], lam[:3], rtol=1e-8)
        near(other.V, V, 1e-8)
        near(other.mean, mean, 1e-12)
    near(np.abs(principal_axes(X, 3).T @ V), np.eye(3), 1e-8)
    Z, printed = scores(X, mean, V), X @ V  # A^T X is undefined
    near(Z, [[v @ (x - mean) for v in V.T] for x in X])
    near(printed - Z, np.tile(V.T @ mean, (60, 1)))
    assert np.abs(V.T @ mean).max() > 1
    V = by_covariance(X).V
    near(reconstruct(scores(X, mean, V), mean, V), X)
    assert np.abs(reconstruct(X @ V, mean, V) - X).max() > 1


@pytest.mark.claims("pca-26", "pca-27")
def test_by_svd_gives_axes_variances_and_scores_with_fewer_operations(rng):
    X, k = samples(rng), 3
    mean, lam, V = by_svd(X)
    P, s, _ = np.linalg.svd(X - mean, full_matrices=False)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(by_the_book(X))[::-1])
    near(np.abs(scores(X, mean, V[:, :k])), np.abs(P[:, :k] * s[:k]))
    near((X - mean) @ V @ V.T, X - mean)
    total = np.trace(by_the_book(X))  # singular values are not variances
    assert lam.sum() == pytest.approx(np.sum(s**2 / 60)) == pytest.approx(total)
    assert abs(np.sum(s) - total) > 1
    Z, count = np.zeros((60, k)), 0
    for i, j, m in np.ndindex(60, k, 5):  # a product each, and a sum each but for the first
        Z[i, j], count = Z[i, j] + (X - mean)[i, m] * V[m, j], count + 1 + (m > 0)
    near(scores(X, mean, V[:, :k]), Z)
    assert count == (2 * 5 - 1) * 60 * k > (P[:, :k] * s[:k]).size == 60 * k


@pytest.mark.claims("pca-48", "pca-49", "pca-50")
def test_by_gram_has_the_normalised_axes_of_the_covariance_one_fewer_than_samples(rng):
    n, d = 20, 300
    X = rng.normal(size=(n, d)) * np.linspace(3, 1, d) + 2
    S, X_c = sample_covariance(X), X - X.mean(axis=0)
    gram, full = by_gram(X), by_covariance(X, n - 1)
    assert gram.V.shape == by_gram(X, n).V.shape == (d, n - 1)
    assert gram.lam.shape == full.lam.shape == (n,)
    near(gram.lam, full.lam)
    near(gram.V, full.V, 1e-8)
    near(S @ gram.V, gram.V * gram.lam[:-1])
    u = X_c @ gram.V[:, 0]  # and back
    near(X_c @ (X_c.T @ u) / n, gram.lam[0] * u, 1e-8)
    near(by_gram(X, 4).V, gram.V[:, :4])
    near(by_gram(1e-20 * X).V, gram.V)
    assert by_gram(0 * X).V.shape == (d, 0)
    lam, U = np.linalg.eigh(X_c @ X_c.T / n)
    printed = X_c.T @ U[:, :0:-1]  # without the root
    np.testing.assert_allclose(np.sum(printed**2, axis=0), n * lam[:0:-1], rtol=1e-8)
    assert np.linalg.matrix_rank(X.T @ X, hermitian=True) == n  # centring costs one
    assert np.count_nonzero(np.linalg.eigvalsh(S) < 1e-10) == d - n + 1


@pytest.mark.parametrize("shape, small", [((50, 2), 1e-4), ((50, 2), 1e-9), ((3, 8), 1e-6)])
def test_principal_components_keeps_the_digits_of_small_variances(rng, shape, small):
    left = np.linalg.qr(rng.normal(size=(shape[0], 2)))[0]
    left -= left.mean(axis=0)
    X = left * [1.0, small] @ random_basis(rng, shape[1], 2).T
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:2] ** 2 / len(X)
    np.testing.assert_allclose(principal_components(X, 2).lam[:2], exact, rtol=1e-6)
    assert principal_components(X).V.shape == (shape[1], min(shape))


@pytest.mark.claims("pca-28", "pca-29", "pca-30")
def test_reconstruct_gives_the_nearest_point_and_is_exact_at_the_rank_only(rng):
    X = samples(rng)
    X[:, 4] = X[:, 0] + X[:, 1]  # rank 4
    mean, lam, V = by_svd(X)
    for k in range(1, 6):
        X_hat = reconstruct(scores(X, mean, V[:, :k]), mean, V[:, :k])
        near(X_hat, mean + (X - mean) @ projector(V[:, :k]))
        near((X - X_hat) @ V[:, :k], 0)
        J = squared_error(X, X_hat)
        assert J == pytest.approx(lam[k:].sum(), abs=1e-12)
        assert (J > 0.1) == (k < 4)  # REP prints Y U^T = X for every k
    celsius = 15 + 8 * rng.normal(size=40)
    X = np.column_stack([celsius, 1.8 * celsius + 32])
    mean, lam, V = by_svd(X, 1)
    assert lam[1] < 1e-12 * lam[0]  # nonnegative, not "positive"
    near(V[:, 0], np.array([1, 1.8]) / np.hypot(1, 1.8))
    near(reconstruct(scores(X, mean, V), mean, V), X)
    assert np.abs(low_rank(X, 1) - X).max() > 0.1  # without centring


@pytest.mark.claims("pca-31")
def test_by_svd_sees_mean_and_covariance_only(rng):
    normal, heavy = rng.normal(size=(400, 4)), rng.standard_t(3, size=(400, 4))
    normal = normal @ rng.normal(size=(4, 4)) + 3
    root, white = np.linalg.inv(inverse_root(sample_covariance(normal))), zca_whitening(heavy)
    twin = (heavy - white.mean) @ white.W.T @ root + normal.mean(axis=0)
    a, b = by_svd(normal), by_svd(twin)
    np.testing.assert_allclose(a.lam, b.lam)
    near(a.V, b.V, 1e-9)
    z, w = (scores(X, a.mean, a.V[:, :1]) for X in (normal, twin))
    assert np.mean(w**4) > np.mean(z**4) + np.mean(z**2) ** 2  # they differ


# --- Low rank --------------------------------------------------------------------------


@pytest.mark.claims("pca-32", "pca-33")
def test_low_rank_is_the_nearest_and_the_most_likely_matrix_of_its_rank(rng):
    X, k = rng.normal(size=(9, 6)) + 1, 2  # not centred
    best, (P, s, Vt) = low_rank(X, k), np.linalg.svd(X, full_matrices=False)
    near(best, X @ Vt[:k].T @ Vt[:k])
    near(best, sum(s[j] * np.outer(P[:, j], Vt[j]) for j in range(k)))
    error = np.sum((X - best) ** 2)
    assert error == pytest.approx(np.sum(s[k:] ** 2))
    for Q in random_basis(rng, 6, k, (300,)):
        assert error <= np.sum((X - X @ Q @ Q.T) ** 2)
        L = rng.normal(size=(9, k)) @ Q.T  # its rows lie in a plane
        near(L @ projector(Q), L)
        density = multivariate_normal_log_density(X - L, np.zeros(6), np.eye(6)).sum()
        assert low_rank_log_likelihood(X, L) == pytest.approx(density)
        gain = np.sum((X - L) ** 2) - error
        assert low_rank_log_likelihood(X, best) - density == pytest.approx(gain / 2)


@pytest.mark.claims("pca-33")
def test_alternating_least_squares_falls_to_the_error_of_low_rank(rng):
    X, B = rng.normal(size=(9, 6)) + 1, rng.normal(size=(2, 6))
    states = list(islice(alternating_least_squares(X, B), 400))
    objectives = np.array([state.objective for state in states])
    assert (np.diff(objectives) <= 1e-10).all() and states[0].gain == np.inf
    np.testing.assert_allclose([state.gain for state in states[1:]], -np.diff(objectives))
    assert objectives[-1] == pytest.approx(np.sum((X - low_rank(X, 2)) ** 2), rel=1e-9)
    near(states[0].B, B)
    A, B, objective, _ = states[1]
    assert objective == pytest.approx(np.sum((X - A @ B) ** 2))
    near((X - A @ B) @ B.T, 0)  # the best A for this B
    near(states[0].A.T @ (X - states[0].A @ B), 0)  # the best B for the A before


@pytest.mark.claims("pca-35")
def test_low_rank_denoises_and_a_projection_keeps_k_over_d_of_white_noise(rng):
    n, d, k = 400, 20, 3
    N, Q = rng.normal(size=(n, d)), random_basis(rng, d, k)
    assert abs(np.sum((N @ projector(Q)) ** 2) - n * k) < 4 * np.sqrt(2 * n * k)
    L = 5 * rng.normal(size=(n, k)) @ Q.T
    assert np.sum((low_rank(L + N, k) - L) ** 2) < 0.3 * np.sum(N**2)
    near(low_rank(L, k), L)


# --- How many --------------------------------------------------------------------------


def test_rules_for_the_number_of_components():
    lam = np.array([5.0, 3.0, 1.0, 1.0])
    near(cumulative_share(lam), [0.5, 0.8, 0.9, 1.0])
    assert [components_for(lam, share) for share in (0.1, 0.5, 0.85, 0.95, 1.0)] == [1, 2, 3, 4, 4]
    assert kaiser(lam) == 2 and kaiser([0.7] * 3) == 0  # whose computed mean is below 0.7


@pytest.mark.claims("pca-37")
def test_cumulative_share_is_larger_the_straighter_the_data(rng):
    shares = []
    for a in np.linspace(0.05, np.pi, 20):
        t = a * (2 * (np.arange(4000) + 0.5) / 4000 - 1)
        lam = principal_components(np.column_stack([np.cos(t), np.sin(t)])).lam
        along, across = (1 - np.sin(2 * a) / (2 * a)) / 2, (1 + np.sin(2 * a) / (2 * a)) / 2
        near(lam, np.sort([along, across - (np.sin(a) / a) ** 2])[::-1], 1e-5)
        shares.append(cumulative_share(lam)[0])
    assert (np.diff(shares) < 0).all() and shares[0] > 0.999
    assert shares[-1] == pytest.approx(0.5, abs=1e-6)
    plane = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8))
    assert cumulative_share(by_svd(plane).lam)[1] == pytest.approx(1, abs=1e-12)
    sphere = np.vstack([np.eye(6), -np.eye(6)])
    near(cumulative_share(by_svd(sphere).lam), np.arange(1, 7) / 6)


@pytest.mark.claims("pca-51")
def test_score_and_impute_choose_the_count_and_the_error_of_new_rows_cannot():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        signal = rng.normal(size=(200, 3)) @ random_basis(rng, 20, 3).T
        X = signal + 0.1 * rng.normal(size=signal.shape)
        train, test = X[:140], X[140:]
        missing = rng.random(X.shape) < 0.1
        rows, likelihood, entries = [], [], []
        for k in range(1, 7):
            model = PCA(k).fit(train)
            rows.append(squared_error(test, projected(model, test)))
            likelihood.append(model.score(test))
            filled = next(islice(impute(X, missing, k), 60, None)).X
            entries.append(np.mean((filled - X)[missing] ** 2))
        assert (np.diff(rows) <= 0).all()
        assert np.argmax(likelihood) + 1 == np.argmin(entries) + 1 == 3
        lam, bare = by_svd(X).lam, by_svd(signal).lam
        assert kaiser(lam) == components_for(lam, 0.9) == 3
        assert components_for(lam, 0.95) > 3  # a share depends on the noise
        assert kaiser(bare) == components_for(bare, 0.9) == components_for(bare, 0.95) == 3


def test_impute_finds_the_entries_where_the_rank_is_right(rng):
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 8)) + 3
    missing = rng.random(X.shape) < 0.15
    states = list(islice(impute(np.where(missing, 99.0, X), missing, 2), 300))
    near(states[-1].X[~missing], X[~missing])
    near(states[-1].X[missing], X[missing], 1e-3)
    assert (np.diff([state.objective for state in states]) <= 1e-9).all()
    change = np.abs(states[5].X - states[4].X).max()
    assert states[0].moved == np.inf and states[5].moved == pytest.approx(change)
    guess = projected(PCA(2).fit(states[4].X), states[4].X)
    assert states[4].objective == pytest.approx(np.sum((X - guess)[~missing] ** 2))
    with pytest.raises(TypeError):
        next(impute(X, missing.astype(int), 2))


# --- Whitening -------------------------------------------------------------------------


def denman_beavers(S):
    """S^{-1/2} by a coupled iteration without eigenvectors."""
    Y, M = S, np.eye(len(S))
    for _ in range(60):
        Y, M = (Y + np.linalg.inv(M)) / 2, (M + np.linalg.inv(Y)) / 2
    return M


def test_inverse_root_agrees_with_an_iteration_and_is_0_without_variance(rng):
    S = sample_covariance(samples(rng))
    near(inverse_root(S), denman_beavers(S), 1e-8)
    near(inverse_root(1e-40 * S) * 1e-20, inverse_root(S))  # in another unit
    near(inverse_root(np.diag([4.0, 4e-14, 4e-14])), np.diag([0.5, 0, 0]))
    near(inverse_root(np.diag([4.0, 4e-10])), np.diag([0.5, 5e4]), 1e-6)
    with pytest.raises(ValueError, match="Sigma must be symmetric"):
        inverse_root(np.triu(S))


@pytest.mark.claims("pca-43", "pca-44")
def test_pca_whitening_divides_scores_by_the_root_which_gives_the_identity(rng):
    X, S, lam, V = spectrum(rng)
    white = pca_whitening(X)
    Z = (X - white.mean) @ white.W.T
    near(Z.mean(axis=0), 0)
    near(by_the_book(Z), np.eye(5), 1e-8)
    near(white.W, np.diag(lam**-0.5) @ V.T)
    near(white.W @ S @ white.W.T, np.eye(5))
    printed = (X - white.mean) @ V * np.sqrt(lam)  # multiplied by it
    near(by_the_book(printed), np.diag(lam**2), 1e-8)
    assert np.abs(lam**2 - 1).min() > 0.05
    near(pca_whitening(X, 2).W, white.W[:2])
    near(pca_whitening(1e-20 * X).W * 1e-20, white.W)
    flat = np.column_stack([X, X[:, 0]])
    for white in (pca_whitening(flat), pca_whitening(flat, 6)):  # a direction without variance
        near(by_the_book((flat - white.mean) @ white.W.T), np.eye(5), 1e-8)
    line = np.outer(np.arange(5), [0.1, 0.3])  # up to rounding
    assert pca_whitening(line).W.shape == (1, 2) and pca_whitening(0 * line).W.shape == (0, 2)


@pytest.mark.claims("pca-45")
def test_pca_whitening_lets_gradient_descent_take_one_step(rng):
    X, y = samples(rng), rng.normal(size=60)
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
    near(errors[1], 0)
    H, errors = run(X - X.mean(axis=0), 400)
    _, lam, V = by_covariance(X)
    assert np.linalg.cond(H) == pytest.approx(lam[0] / lam[-1], rel=1e-8)
    last = np.abs(errors @ V[:, -1])
    np.testing.assert_allclose(last[1:] / last[:-1], 1 - lam[-1] / lam[0], rtol=1e-6)


@pytest.mark.claims("pca-46")
def test_zca_whitening_is_closest_to_the_samples(rng):
    X = samples(rng)
    S, lam, (mean, W) = sample_covariance(X), by_covariance(X).lam, zca_whitening(X)
    near(W, W.T)
    X_c, W_pca = X - mean, pca_whitening(X).W
    near(sample_covariance(X_c @ W.T), np.eye(5), 1e-8)
    least = squared_error(X_c @ W.T, X_c)
    assert least == pytest.approx(lam.sum() + 5 - 2 * np.sqrt(lam).sum())
    other = random_basis(rng, 5) @ W_pca
    near(other @ S @ other.T, np.eye(5), 1e-8)
    assert squared_error(X_c @ other.T, X_c) > least
    U, _, Vt = np.linalg.svd(W_pca @ S)  # Procrustes: of all R, R = V U^T has the largest tr(R A)
    near(Vt.T @ U.T @ W_pca, W, 1e-8)


# --- Images ----------------------------------------------------------------------------


@pytest.mark.claims("pca-40", "pca-41")
@pytest.mark.parametrize("load", [load_digits, load_orl_faces])
def test_eigenfaces_add_up_to_the_images_from_coefficients_without_the_mean_face(load):
    images = load().images[:60] / 1.0
    n, h, w = images.shape
    X = images.reshape(n, h * w)
    errors, lam = [], np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / n
    assert (h, w) == ((112, 92) if load is load_orl_faces else (8, 8))
    for k in (1, 5, 15):
        mean, faces, Z = eigenfaces(images, k)
        near(Z.mean(axis=0), 0, 1e-9)
        near(np.einsum("ihw,jhw->ij", faces, faces), np.eye(k), 1e-9)
        shown = mean + np.einsum("nk,khw->nhw", Z, faces)
        errors.append(squared_error(X, shown.reshape(n, -1)))
        assert errors[-1] == pytest.approx(lam[k:].sum(), rel=1e-9)
    assert (np.diff(errors) < 0).all()
    V = faces.reshape(15, -1).T
    near(X @ V - Z, np.tile(V.T @ mean.ravel(), (n, 1)), 1e-9)  # the printed coefficients
    assert np.linalg.norm(V.T @ mean.ravel()) > 5


# --- PCA -------------------------------------------------------------------------------


@pytest.mark.claims("pca-35")
def test_pca_helps_neighbours_where_most_directions_are_noise():
    gains, y, knn = [], np.repeat([0, 1], 60), KNeighborsClassifier(5)
    train = np.arange(120) % 2 == 0
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(120, 82))
        X[:, :2] += 3 * y[:, None]
        Z = PCA(n_components=2).fit(X[train]).transform(X)
        raw, few = (knn.fit(W[train], y[train]).score(W[~train], y[~train]) for W in (X, Z))
        gains.append(few - raw)
    assert np.mean(gains) > 0.02, gains


@pytest.mark.claims("pca-36")
def test_pca_compresses_a_plane_without_loss_and_flattens_the_rest(rng):
    plane = rng.normal(size=(30, 2)) @ random_basis(rng, 50, 2).T + 4
    model = PCA(2).fit(plane)
    Z = model.transform(plane)
    D, E = squared_distances(plane), squared_distances(Z)
    near(E, D)
    np.testing.assert_array_equal(np.argsort(E)[:, :4], np.argsort(D)[:, :4])
    assert Z.size + model.components_.size + model.mean_.size == 30 * 2 + 50 * 2 + 50 < plane.size
    X = samples(rng)
    model, lam = PCA(2).fit(X), by_svd(X).lam
    X_hat = projected(model, X)
    S = by_the_book(X_hat)
    assert abs(np.linalg.det(S)) < 1e-10 and np.trace(S) == pytest.approx(lam[:2].sum())
    assert squared_error(X, X_hat) == pytest.approx(lam[2:].sum())
    assert model.explained_variance_ratio_.sum() == pytest.approx(lam[:2].sum() / lam.sum())


SOLVERS = ["auto", "full", "covariance_eigh"]


@pytest.mark.claims("pca-05")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (7, 7)])
def test_pca_finds_the_same_k_features_and_their_shares_by_every_route(rng, shape, solver):
    X, k, n = samples(rng, *shape), min(shape) - 2, shape[0]
    _, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    model = PCA(k, svd_solver=solver).fit(X)
    near(model.components_, signed(Vt[:k].T).T, 1e-7)
    near(model.transform(X), (X - X.mean(axis=0)) @ signed(Vt[:k].T), 1e-6)
    near(scores(X, 0, np.eye(shape[1])[:, [2, 5]]), X[:, [2, 5]])  # unit vectors select features
    np.testing.assert_allclose(model.explained_variance_, s[:k] ** 2 / (n - 1), rtol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, s[:k] ** 2 / np.sum(s**2))
    np.testing.assert_allclose(model.singular_values_, s[:k], rtol=1e-8)
    assert model.noise_variance_ == pytest.approx(np.mean(s[k:] ** 2) / (n - 1), rel=1e-8)
    assert model.n_components_ == k and model.n_samples_ == n
    whole = PCA(svd_solver=solver).fit(X)
    assert whole.components_.shape == (min(shape), shape[1]) and whole.noise_variance_ == 0
    ratio = np.cumsum(s**2) / np.sum(s**2)
    for share in (0.5, 0.8, 0.95):
        assert PCA(share, svd_solver=solver).fit(X).n_components_ == np.sum(ratio <= share) + 1


def test_pca_whitened_scores_are_white_and_go_back_up_to_the_rank(rng):
    X = samples(rng)
    model = PCA(whiten=True).fit(X)
    Z = model.transform(X)
    near(np.cov(Z.T), np.eye(5))
    near(model.inverse_transform(Z), X)
    with pytest.raises(ValueError, match="X must have 5 components; got 2"):
        model.inverse_transform(X[:, :2])
    flat = np.column_stack([X, X[:, 0]])
    assert PCA(5, whiten=True).fit(flat).n_components_ == 5
    with pytest.raises(ValueError, match="n_components must be at most the rank .* got 6"):
        PCA(whiten=True).fit(flat)


def test_pca_density_is_that_of_a_normal_distribution(rng):
    X = samples(rng)
    for k in (2, 5):
        model = PCA(k).fit(X)
        density = multivariate_normal_log_density(X, model.mean_, model.get_covariance())
        np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-9)
        assert model.score(X) == pytest.approx(density.mean(), rel=1e-9)
    near(model.get_covariance(), np.cov(X.T), 1e-9)
    C = PCA(2).fit(X).get_covariance()
    near(np.linalg.eigvalsh(C)[:3], np.mean(np.linalg.eigvalsh(np.cov(X.T))[:3]), 1e-9)
    flat = np.column_stack([X, X[:, 0]])
    assert np.isfinite(PCA(4).fit(flat).score(flat))
    for k in (5, 6):  # no variance is left, or an axis has none
        with pytest.raises(ValueError, match="C must be regular"):
            PCA(k).fit(flat).score(flat)


def test_pca_refuses_counts_that_do_not_fit_and_samples_that_do_not_vary():
    for bad in (5, 0.0, 1.0):
        with pytest.raises(ValueError, match=f"n_components must be .*= 4, .*; got {bad}"):
            PCA(bad).fit(load_iris().X)
    for X in ([[1.0, 2.0]], np.full((5, 2), 0.1), [[1.0], [1.0 + 2.0**-52]]):
        with pytest.raises(ValueError, match=f"X must vary; got n_samples = {len(X)}"):
            PCA().fit(X)


@pytest.mark.parametrize("solver", SOLVERS)
def test_pca_of_whole_numbers_far_from_zero_loses_no_digits(rng, solver):
    for shape in ((100_000, 3), (4, 100)):
        here = rng.integers(-50, 50, size=shape) * 1.0
        far = PCA(svd_solver=solver).fit(here + 1e12)  # whose sum, and so their mean, is rounded
        model = PCA(svd_solver=solver).fit(here)
        lam = model.explained_variance_
        np.testing.assert_allclose(far.explained_variance_, lam, rtol=1e-10, atol=1e-9)
        near(far.mean_ - 1e12, model.mean_, 2e-4)


def test_pca_finds_no_variance_in_a_large_constant_column(rng):
    n, constant = 100_000, 1e10 / 3
    X = np.column_stack([np.full(n, constant), rng.normal(size=n)])
    assert X.mean(axis=0)[0] != constant
    for solver in SOLVERS:
        model = PCA(svd_solver=solver).fit(X)
        assert model.mean_[0] == constant and model.explained_variance_[1] < 1e-20
        with pytest.raises(ValueError, match="at most the rank"):
            PCA(whiten=True, svd_solver=solver).fit(X)
    stamped = PCA().fit([[1e15, 0.0], [1e15, 1.0], [1e15, 5.0]])
    near(stamped.components_, [[0, 1], [1, 0]])
    near(stamped.explained_variance_, [7, 0])


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("pca-20")
def test_axes_figure_one_sample_has_kept_and_lost_at_a_right_angle():
    from figures.pca import cloud, telling

    X = cloud()
    axes = principal_components(X)
    x, v = telling(X, axes) - axes.mean, axes.V[:, 0]
    kept = v @ x * v
    assert len(X) == 60 and axes.lam[0] > axes.lam[1] and v @ axes.V[:, 1] == pytest.approx(0)
    assert x @ x == pytest.approx(kept @ kept + (x - kept) @ (x - kept))
    assert min(np.linalg.norm(kept), np.linalg.norm(x - kept)) > 0.3


@pytest.mark.claims("pca-38", "pca-39")
def test_moved_digits_figure_has_three_local_directions_and_many_in_all():
    from figures.pca import near_by

    T = make_shifted_digits(60, rng=np.random.default_rng(1))
    np.testing.assert_allclose(T.X.sum(axis=1), T.X.sum(axis=1).mean(), rtol=0.02)  # one digit
    assert T.X.shape == (60, 10_000) and len(np.unique(T.X[:5], axis=0)) == 5
    far, local = by_gram(T.X, 1).lam, by_gram(near_by(), 1).lam
    assert local[2] > 20 * local[3] and far[2] < 2 * far[3]


@pytest.mark.claims("pca-42")
def test_eigendigits_figure_needs_61_axes():
    images = load_digits().images.astype(float)
    mean, faces, Z = eigenfaces(images, 61)
    near(mean, images.mean(axis=0))
    shown = [mean + np.tensordot(Z[5, :k], faces[:k], axes=1) for k in (1, 30, 60, 61)]
    errors = [np.abs(image - images[5]).max() for image in shown]
    assert errors[0] > 8 > 2 > errors[1] > errors[2] > 1e-6 > 1e-9 > errors[3]


@pytest.mark.claims("pca-47")
def test_whitened_figure_zca_pictures_are_like_the_originals_and_pca_pictures_are_not():
    from figures.pca import white_digits

    rows = white_digits()
    X = rows["original"]
    X_c, root = X - X.mean(axis=0), np.sqrt(by_svd(X).lam).sum()
    for name in ("ZCA", "PCA"):
        near(sample_covariance(rows[name]), np.eye(64), 1e-7)
    agreement = {name: frobenius_product(Z, X_c) / len(X) for name, Z in rows.items()}
    assert agreement["ZCA"] == pytest.approx(root)  # tr cov(z, x), the largest there is
    assert abs(agreement["PCA"]) < root / 3


@pytest.mark.claims("pca-52")
def test_scree_figure_needs_8_axes_for_its_share():
    from figures.pca import SHARE

    lam = np.sort(np.linalg.eigvalsh(np.corrcoef(load_wine().X.T)))[::-1]
    near(principal_components(standardise(load_wine().X).Z).lam, lam)
    assert components_for(lam, SHARE) == 8 and cumulative_share(lam)[7] > SHARE
    assert (np.diff(lam) < 0).all()
