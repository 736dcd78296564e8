"""The helpers of `numerics` against the plain formulas that they stand for."""

import tracemalloc

import numpy as np
import pytest

from mlnotes import numerics
from mlnotes.numerics import (
    kernel_product,
    leading_eigenpairs,
    square,
    squared_distances,
    squared_norms,
    symmetric,
)

# --- Distances -------------------------------------------------------------------------


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


# --- Matrices and scale ----------------------------------------------------------------


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


def with_eigenvalues(values, rng):
    """A symmetric matrix with these eigenvalues, its eigenvectors turned at random."""
    Q = np.linalg.qr(rng.normal(size=(len(values),) * 2))[0]
    return Q * values @ Q.T


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize(
    "values",
    [
        np.r_[5.0, 4.0, 3.0, np.linspace(0.5, -0.5, 397)],
        np.r_[np.full(6, 4.0), np.linspace(0.5, 0, 394)],  # equal ones
        np.r_[3.0, 1.0, np.zeros(398)],  # of rank 2
        np.zeros(400),
        np.r_[np.zeros(398), -1.0, -2.0],
    ],
    ids=["distinct", "equal", "rank 2", "zero", "negative"],
)
def test_leading_eigenpairs_are_those_of_eigh_without_it(values, unit, rng, monkeypatch):
    S, eigh, sizes = unit * with_eigenvalues(values, rng), np.linalg.eigh, []
    exact, top = np.sort(np.linalg.eigvalsh(S))[::-1], np.abs(values).max()
    monkeypatch.setattr(np.linalg, "eigh", lambda H: sizes.append(len(H)) or eigh(H))
    for k in (1, 3):
        lam, V = leading_eigenpairs(S, k)
        np.testing.assert_allclose(lam / unit, exact[:k] / unit, rtol=0, atol=1e-12 * top)
        np.testing.assert_allclose(V.T @ V, np.eye(k), rtol=0, atol=1e-13)
        np.testing.assert_allclose(S @ V / unit, V * lam / unit, rtol=0, atol=2e-12 * top)
        np.testing.assert_array_equal(leading_eigenpairs(S, k)[1], V)  # no chance in it
    assert max(sizes) < 100


@pytest.mark.parametrize(("n", "k"), [(1, 1), (40, 40), (40, 7), (400, 2)])
def test_leading_eigenpairs_of_many_or_close_eigenvalues_are_those_of_eigh(n, k, rng):
    S = with_eigenvalues(np.linspace(1, 0, n) ** 0.1, rng)  # the largest differ least
    values, V = np.linalg.eigh(S)
    lam, found = leading_eigenpairs(S, k)
    np.testing.assert_array_equal(lam, values[::-1][:k])
    np.testing.assert_array_equal(found, V[:, ::-1][:, :k])
