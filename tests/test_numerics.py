"""The helpers of `numerics` against the plain formulas that they stand for."""

import tracemalloc

import numpy as np
import pytest

from mlnotes.numerics import (
    exact_squared_distances,
    power_of_two,
    square,
    squared_distances,
    squared_norms,
    symmetric,
)

# ---------------------------------------------------------------------------------------
# Distances
# ---------------------------------------------------------------------------------------


def test_squared_distances_are_sums_of_squared_differences(rng):
    X, Y = rng.normal(size=(30, 4)) * [1, 5, 0.1, 1], rng.normal(size=(20, 4)) + 3
    looped = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in Y] for x in X]
    np.testing.assert_allclose(squared_distances(X, Y), looped, rtol=1e-12)
    np.testing.assert_allclose(exact_squared_distances(X, Y), looped, rtol=1e-14)
    np.testing.assert_allclose(squared_norms(X), [sum(x * x) for x in X], rtol=1e-14)


def test_distances_keep_12_digits_where_the_expanded_square_cancels(rng):
    X = rng.normal(size=(60, 3))
    X[7] = X[3]
    for samples in (X, X + 1e6, np.vstack([X - 1e7, X + 1e7]), X * [1, 1e-6, 1e6], 1e149 * X):
        D, exact = squared_distances(samples), exact_squared_distances(samples, samples)
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
    np.testing.assert_allclose(exact_squared_distances(X, Y), expected, rtol=1e-13)
    np.testing.assert_allclose(squared_norms(X), (X.astype(float) ** 2).sum(axis=1), rtol=1e-13)


def test_repairing_many_pairs_takes_no_more_than_some_blocks_of_memory(rng):
    X = np.repeat([[0.0], [1.0]], 200, axis=0) + 1e-6 * rng.normal(size=(400, 100))
    tracemalloc.start()
    D = squared_distances(X)  # half of the pairs cancel: 64 MB of differences
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6
    np.testing.assert_allclose(D, exact_squared_distances(X, X), rtol=1e-12)


def test_exact_distances_keep_duplicates_and_ties():
    X = np.array([[1e9, 0.1], [1e9, 0.1], [-1e9, 0.4], [1e9, 0.2]])
    D = exact_squared_distances(X, X)
    assert D[0, 1] == 0 and D[0, 3] == (0.1 - 0.2) ** 2 and D[0, 3] == D[1, 3]
    assert (D == D.T).all()


@pytest.mark.parametrize("distances", [squared_distances, exact_squared_distances])
def test_points_of_different_dimensions_are_refused(distances):
    message = r"X and Y must be \(n, d\) and \(m, d\); got \(5, 1\) and \(7, 3\)"
    with pytest.raises(ValueError, match=message):
        distances(np.zeros((5, 1)), np.zeros((7, 3)))


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


@pytest.mark.parametrize("size", [1e-300, 0.3, 0.5, 1.0, 1.5, 2.0, 1e10, 1e150])
def test_the_power_of_two_below_a_number_divides_it_without_rounding(size):
    unit = power_of_two(size)
    assert unit <= size < 2 * unit
    assert np.frexp(unit)[0] == 0.5 and (size / unit) * unit == size
    assert power_of_two(0.0) == 1.0
