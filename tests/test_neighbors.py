"""The neighbors chapter: every statement of the notes, checked by a second route."""

import os
import re
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import ceil, comb, erf, gamma, pi, sqrt

import numpy as np
import pytest
from matplotlib.figure import Figure

from mlnotes.datasets import five_events, load_digits, load_iris, load_mnist
from mlnotes.decision_theory import bayes_error
from mlnotes.density import class_counts, count_density, knn_joint_density, knn_posterior
from mlnotes.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    asymptotic_error,
    box_cell,
    classify,
    clip,
    cover_hart_bound,
    cube_share,
    distances,
    leave_one_out_errors,
    nearest_distance,
    nearest_neighbors,
    nearest_to_farthest,
    neighbor_weights,
    norm,
    norm_log_density,
    other_neighbors,
    regress,
    relative_frequency,
    sample_ball,
    smoother,
    tail_probability,
    tally,
    voronoi_cell,
    voronoi_edges,
    vote,
)
from mlnotes.numerics import squared_distances
from mlnotes.probability import gauss_legendre, normal_log_density

BOX = np.array([[-3.0, -3.0], [3.0, 3.0]])


def by_sorting(x, X, k, p=2):
    """Neighbours as a book finds them: all distances, one by one, and a sort."""
    index, r = [], []
    for query in x:
        D = [float(np.sum(np.abs(query - sample) ** p) ** (1 / p)) for sample in X]
        order = sorted(range(len(X)), key=lambda i: (D[i], i))[:k]  # noqa: B023
        index.append(order)
        r.append([D[i] for i in order])
    return np.array(r), np.array(index)


def within(values, expected, errors=5):
    """Whether the mean of the values is within so many standard errors of what is expected."""
    return abs(np.mean(values) - expected) <= errors * np.std(values) / sqrt(np.size(values))


# ---------------------------------------------------------------------------------------
# Norms and distances
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-01")
@pytest.mark.parametrize("p", [1, 1.5, 2, 7, np.inf])
def test_norms_keep_the_axioms_and_are_those_of_linear_algebra(rng, p):
    x, y = rng.normal(size=(2, 200, 5))
    a = rng.normal(size=200)
    np.testing.assert_allclose(norm(a[:, None] * x, p), np.abs(a) * norm(x, p), rtol=1e-12)
    assert (norm(x + y, p) <= norm(x, p) + norm(y, p) + 1e-12).all()
    assert (norm(x, p) > 0).all() and norm(np.zeros(5), p) == 0
    np.testing.assert_allclose(norm(x, p), [np.linalg.norm(v, p) for v in x], rtol=1e-12)


@pytest.mark.claims("neighbors-01")
def test_euclidean_norm_is_the_root_of_the_inner_product_and_its_square_is_no_norm(rng):
    x = rng.normal(size=(100, 7))
    loop = [sqrt(sum(float(v) ** 2 for v in row)) for row in x]
    np.testing.assert_allclose(norm(x), loop, rtol=1e-12)
    np.testing.assert_allclose(norm(x), [sqrt(v @ v) for v in x], rtol=1e-12)
    assert not np.allclose(norm(2 * x) ** 2, 2 * norm(x) ** 2)
    largest, middle, total = (norm(x, p) for p in (np.inf, 2, 1))
    assert (largest <= middle).all() and (middle <= total).all()
    assert (total <= sqrt(7) * middle + 1e-12).all()
    np.testing.assert_allclose(norm(np.ones(9), 1), 3 * norm(np.ones(9)))  # equality


@pytest.mark.claims("neighbors-01")
@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_distance_matrix_is_the_loop_and_a_metric(rng, p):
    x, X = rng.normal(size=(15, 4)), rng.normal(size=(12, 4))
    D = distances(x, X, p)
    loop = [[np.linalg.norm(a - b, p) for b in X] for a in x]
    np.testing.assert_allclose(D, loop, rtol=1e-10)
    np.testing.assert_allclose(distances(x, X, lambda a, b: np.linalg.norm(a - b, p)), loop)
    own = distances(X, X, p)
    np.testing.assert_allclose(own, own.T, rtol=1e-12)
    assert (np.diag(own) == 0).all() and (own[~np.eye(12, dtype=bool)] > 0).all()
    assert (own[:, :, None] <= own[:, None] + own.T[None] + 1e-12).all()  # d(i, l) by way of j


@pytest.mark.claims("neighbors-01")
def test_matrix_form_survives_cancellation_and_squares_have_the_same_neighbours(rng):
    X = 1e8 + rng.normal(size=(30, 3))
    D = distances(X, X)
    assert np.isfinite(D).all() and (np.diag(D) == 0).all()
    literal = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(D, literal, rtol=1e-8)
    printed = (X**2).sum(1)[:, None] + (X**2).sum(1) - 2 * X @ X.T  # the formula as it stands
    assert not np.allclose(np.sqrt(np.maximum(printed, 0)), literal, rtol=0.1)
    Y = rng.normal(size=(40, 3))
    np.testing.assert_array_equal(
        np.argsort(squared_distances(Y[:5], Y), axis=1), np.argsort(distances(Y[:5], Y), axis=1)
    )


def test_norms_of_large_vectors_are_right_for_every_order_and_an_order_is_at_least_one():
    for scale, p in product((1e-100, 1.0, 1e150), (1, 2, 3, 50, np.inf)):
        expected = scale * (2 ** (1 / p) if p < np.inf else 1.0)
        np.testing.assert_allclose(norm(scale * np.array([1.0, -1.0]), p), expected, rtol=1e-12)
    assert norm(np.zeros(3), 5) == 0
    for p in (0.5, "2", float("nan")):
        with pytest.raises(ValueError, match=r"p must be a number >= 1: no norm otherwise; got"):
            norm(np.ones(2), p)


# ---------------------------------------------------------------------------------------
# The search
# ---------------------------------------------------------------------------------------

SAMPLES = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "ties": lambda rng, n, d: rng.integers(0, 3, size=(n, d)).astype(float),
    "duplicates": lambda rng, n, d: np.repeat(rng.integers(9, size=(1, d)), n, axis=0) * 1.0,
    "far off": lambda rng, n, d: 1e8 + rng.integers(0, 99, size=(n, d)),
    "one outlier": lambda rng, n, d: np.vstack([np.full((1, d), 2.0**99), rng.normal(size=(n, d))]),
    "constant feature": lambda rng, n, d: rng.normal(size=(n, d)) * (np.arange(d) > 0) + 1,
}


@pytest.mark.claims("neighbors-03")
@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("n, d, k", [(1, 1, 1), (9, 1, 9), (60, 2, 5), (70, 3, 69), (12, 30, 4)])
def test_search_is_the_sort_with_ties_to_the_first(rng, kind, n, d, k):
    X = SAMPLES[kind](rng, n, d)
    x = np.vstack([X[: n // 2], SAMPLES[kind](rng, 8, d)])
    r, index = nearest_neighbors(x, X, k)
    r_2, index_2 = by_sorting(x, X, k)
    np.testing.assert_array_equal(index, index_2)
    np.testing.assert_allclose(r, r_2, rtol=1e-12)


@pytest.mark.parametrize("p", [1, 3, np.inf])
def test_search_by_other_norms_is_the_sort(rng, p):
    X, x = rng.integers(0, 5, size=(50, 2)) * 1.0, rng.integers(0, 5, size=(9, 2)) * 1.0
    r, index = nearest_neighbors(x, X, 6, p)
    D = np.array([[np.linalg.norm(a - b, p) for b in X] for a in x])
    D = D.round(9) if p == 3 else D
    if p != 3:  # whose ties depend on rounding
        np.testing.assert_array_equal(index, np.argsort(D, axis=1, kind="stable")[:, :6])
    np.testing.assert_allclose(r, np.sort(D, axis=1)[:, :6], rtol=1e-8)


def test_search_over_several_blocks_of_samples_and_queries(rng):
    X = rng.integers(0, 40, size=(20_000, 3)) * 1.0
    x = rng.integers(0, 40, size=(300, 3)) * 1.0
    near = nearest_neighbors(x, X, 9)
    for i in (0, 255, 256, 299):
        D = ((x[i] - X) ** 2).sum(axis=1)
        order = np.argsort(D, kind="stable")[:9]
        np.testing.assert_array_equal(near.index[i], order)
        np.testing.assert_array_equal(near.distance[i], np.sqrt(D[order]))
    whole = nearest_neighbors(x[:3], X, 9_000)  # more than a block holds
    D = ((x[:3, None] - X) ** 2).sum(axis=2)
    np.testing.assert_array_equal(whole.index, np.argsort(D, axis=1, kind="stable")[:, :9000])


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_search_at_any_accepted_scale(rng, scale):
    X, x = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    near, scaled = nearest_neighbors(x, X, 4), nearest_neighbors(scale * x, scale * X, 4)
    np.testing.assert_array_equal(near.index, scaled.index)
    np.testing.assert_allclose(scaled.distance / scale, near.distance, rtol=1e-12)
    model = KNeighborsRegressor(4).fit(scale * X, X[:, 0])
    np.testing.assert_allclose(model.predict(scale * x), X[near.index, 0].mean(axis=1), rtol=1e-12)
    with pytest.raises(ValueError, match="X must lie within -1e.150 and 1e.150"):
        KNeighborsRegressor(4).fit(1e151 * X, X[:, 0])


def test_memory_is_bounded_whatever_the_number_of_queries_and_samples(rng):
    for d, p in ((4, 2), (6, 2), (4, 1)):
        X, x = rng.normal(size=(40_000, d)), rng.normal(size=(3000, d))
        tracemalloc.start()
        nearest_neighbors(x[: 3000 if p == 2 else 60], X, 3, p)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6 < 8 * len(x) * len(X) / 20


def test_search_refuses_what_it_cannot_answer():
    X = np.zeros((3, 2))
    for k in (0, 4):
        with pytest.raises(ValueError, match=f"k must be between 1 and the 3 samples; got {k}"):
            nearest_neighbors(X, X, k)
    with pytest.raises(ValueError, match=r"queries and samples must be .*; got \(3, 1\), \(3, 2\)"):
        nearest_neighbors(X[:, :1], X, 1)
    for bad in (-1.0, np.nan):
        with pytest.raises(ValueError, match=f"a distance must be a number >= 0; got {bad:g}"):
            nearest_neighbors(X, X, 1, lambda a, b: bad)  # noqa: B023


def test_of_many_duplicates_the_first_are_found_wherever_the_search_begins(rng):
    X = np.repeat([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [9, 6000, 9], axis=0)
    X = X[rng.permutation(len(X))]
    first = np.flatnonzero((X == 0).all(axis=1))[:5]
    np.testing.assert_array_equal(nearest_neighbors(np.zeros((1, 2)), X, 5).index, [first])
    X = np.repeat([[0.0], [1.0]], 6000, axis=0)[rng.permutation(12_000)]
    x = np.array([[0.0], [1.0], [1.0]])  # begun where 0 ends
    firsts = [np.flatnonzero(X[:, 0] == value)[:5] for value in x[:, 0]]
    np.testing.assert_array_equal(nearest_neighbors(x, X, 5).index, firsts)


def test_every_function_searches_by_the_norm_it_is_given():
    X, y = np.array([[0.0, 0.0], [3.0, 0.0], [2.0, 2.0], [9.0, 9.0]]), np.arange(4.0)
    x = X[:1]  # by p = 1 its other neighbours are 1, 2, 3, by p = 2 they are 2, 1, 3
    for p, nearest in ((1, 1), (2, 2), (np.inf, 2)):
        assert regress(x, X[1:], y[1:], 1, p)[0] == y[nearest]
        assert classify(x, X[1:], y[1:], 1, p)[0] == y[nearest]
        assert smoother(x, X[1:], 1, p)[0, nearest - 1] == 1
        assert other_neighbors(X, 1, p).index[0, 0] == nearest
        assert leave_one_out_errors(X, [0, 0, 1, 1], [1], p)[0] == (0.25 if p == 1 else 0.75)
        assert nearest_to_farthest(x, X[1:], p)[0] == pytest.approx(
            norm(X[nearest], p) / norm(X[3], p)
        )
        model = KNeighborsRegressor(1, p=p).fit(X, y)
        assert model.kneighbors(n_neighbors=1)[1][0, 0] == nearest


def test_others_are_all_but_the_sample_itself(rng):
    X = rng.integers(0, 3, size=(30, 2)) * 1.0  # duplicates
    _, index = other_neighbors(X, 4)
    for i in range(30):
        others = np.delete(np.arange(30), i)
        expected = others[np.argsort(((X[i] - X[others]) ** 2).sum(axis=1), kind="stable")[:4]]
        np.testing.assert_array_equal(index[i], expected)
    np.testing.assert_array_equal(
        other_neighbors(np.zeros((4, 1)), 2).index, [[1, 2], [0, 2], [0, 1], [0, 1]]
    )
    for k in (0, 4):
        with pytest.raises(
            ValueError, match=f"k must be between 1 and the 3 other samples; got {k}"
        ):
            leave_one_out_errors(np.zeros((4, 1)), np.array([0, 0, 1, 1]), [k])


# ---------------------------------------------------------------------------------------
# Regression
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-03")
def test_regression_is_the_average_of_the_k_nearest(rng):
    X, y, x = rng.normal(size=(40, 3)), rng.normal(size=40), rng.normal(size=(12, 3))
    for k in (1, 4, 40):
        _, index = by_sorting(x, X, k)
        np.testing.assert_allclose(regress(x, X, y, k), [y[i].mean() for i in index], rtol=1e-12)
        D = np.sqrt(((x[:, None] - X) ** 2).sum(axis=2))
        for row, chosen in zip(D, nearest_neighbors(x, X, k).index, strict=True):
            assert len(set(chosen)) == k
            outside = np.delete(row, chosen)
            assert row[chosen].max() <= outside.min(initial=np.inf)
    np.testing.assert_array_equal(regress(X, X, y, 1), y)
    np.testing.assert_allclose(regress(x, X, y, 40), np.full(12, y.mean()), rtol=1e-12)


@pytest.mark.claims("neighbors-02")
def test_relative_frequency_is_neighbours_at_distance_zero_for_discrete_x(rng):
    X, y = rng.integers(0, 4, size=(60, 2)) * 1.0, rng.normal(size=60)
    for x in np.unique(X, axis=0)[:, None]:
        k = int((X == x).all(axis=1).sum())
        average = relative_frequency(x, X, y)
        np.testing.assert_allclose(average, y[(X == x).all(axis=1)].mean())
        np.testing.assert_allclose(average, regress(x, X, y, k), rtol=1e-12)
        assert nearest_neighbors(x, X, k).distance.max() == 0


@pytest.mark.claims("neighbors-02")
def test_relative_frequency_has_nothing_to_say_of_a_continuous_x(rng):
    X, y, x = rng.normal(size=(500, 1)), rng.normal(size=500), rng.normal(size=(1, 1))
    assert not (X == x).all(axis=1).any()
    with pytest.raises(ValueError, match="x must be among the samples to average their y; got"):
        relative_frequency(x, X, y)
    assert np.isfinite(regress(x, X, y, 5)).all()


def test_memory_of_relative_frequencies_is_bounded(rng):
    X = rng.integers(0, 2, size=(20_000, 9)) * 1.0
    tracemalloc.start()
    average = relative_frequency(X[:200], X, X[:, 3])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(average, X[:200, 3])
    assert peak < 200 * X.size / 20


@pytest.mark.claims("neighbors-05")
def test_three_neighbours_of_the_five_events_average_to_ten_thirds():
    T, x = five_events(), np.array([[Fraction(4)]])
    assert regress(x, T.X, T.y, 3)[0] == Fraction(10, 3) == Fraction(2 + 3 + 5, 3)
    assert sorted(T.y[nearest_neighbors(x, T.X, 3).index[0]]) == [2, 3, 5]
    assert relative_frequency(x, T.X, T.y)[0] == 5


@pytest.mark.claims("neighbors-06")
def test_the_printed_pairs_are_y_and_x():
    printed = [(1, 1), (2, 5), (3, 3), (4, 1), (5, 4)]
    x = np.array([[Fraction(4)]])
    for order, exact, average in ((0, 1, Fraction(8, 3)), (1, 5, Fraction(10, 3))):
        X = np.array([[Fraction(pair[order])] for pair in printed])
        y = np.array([Fraction(pair[1 - order]) for pair in printed])
        assert relative_frequency(x, X, y)[0] == exact
        assert regress(x, X, y, 3)[0] == average


@pytest.mark.claims("neighbors-06")
def test_the_five_is_a_relative_frequency_and_no_expectation(rng):
    """More events of the same kind at x = 4 change it."""
    T = five_events()
    more = np.vstack([T.X, [[Fraction(4)]]]), np.append(T.y, Fraction(1))
    assert relative_frequency(np.array([[Fraction(4)]]), *more)[0] == 3 != 5


@pytest.mark.claims("neighbors-08")
def test_variance_is_sigma2_over_k_and_bias_is_that_of_the_region(rng):
    X, x, sigma = np.linspace(0, 1, 50)[:, None], np.array([[0.31], [0.97]]), 0.3
    f = np.sin(6 * X[:, 0])
    noise = sigma * rng.normal(size=(4000, 50))
    for k in (1, 5, 20):
        S = smoother(x, X, k)
        np.testing.assert_allclose(S @ f, regress(x, X, f, k), rtol=1e-12)
        np.testing.assert_allclose(sigma**2 * (S**2).sum(axis=1), sigma**2 / k, rtol=1e-12)
        draws = np.array([regress(x, X, f + e, k) for e in noise[: 400 if k > 1 else 100]])
        bias = [f[by_sorting(q[None], X, k)[1][0]].mean() - np.sin(6 * q[0]) for q in x]
        np.testing.assert_allclose(S @ f - np.sin(6 * x[:, 0]), bias, rtol=0, atol=1e-12)
        for j in range(2):
            assert within(draws[:, j] - np.sin(6 * x[j, 0]), bias[j])
            squared = (draws[:, j] - draws[:, j].mean()) ** 2
            assert within(squared, sigma**2 / k)
    biases = [abs(float(smoother(x[:1], X, k)[0] @ f - np.sin(6 * 0.31))) for k in (1, 20, 50)]
    assert biases[0] < biases[1] < biases[2]


@pytest.mark.claims("neighbors-08")
def test_where_the_function_is_locally_constant_there_is_no_bias():
    X, x = np.linspace(0, 1, 50)[:, None], np.array([[0.2]])
    step = (X[:, 0] > 0.5) * 1.0
    assert regress(x, X, step, 15)[0] == 0
    assert regress(x, X, step, 40)[0] > 0.2  # the region has outgrown the step


@pytest.mark.claims("neighbors-09")
def test_mean_squared_error_vanishes_if_k_grows_and_its_share_shrinks():
    sigma2, rules = (
        0.25,
        {"sqrt": lambda n: ceil(sqrt(n)), "one": lambda n: 1, "half": lambda n: n // 2},
    )
    errors = {name: [] for name in rules}
    for n in (10**2, 10**3, 10**4, 10**5, 10**6):
        X = (np.arange(n) / n)[:, None]
        for name, rule in rules.items():
            k, x = rule(n), np.array([[0.25]])
            bias = regress(x, X, np.square(X[:, 0]), k)[0] - 0.25**2
            errors[name].append(bias**2 + sigma2 / k)
    assert all(b < a / 2 for a, b in pairwise(errors["sqrt"])) and errors["sqrt"][-1] < 3e-4
    np.testing.assert_allclose(errors["one"], sigma2, rtol=1e-3)
    limit = (1 / 12 - 1 / 16) ** 2  # the mean of x^2 over [0, 1/2] less that at 1/4
    assert errors["half"][-1] == pytest.approx(limit, rel=0.01)


@pytest.mark.claims("neighbors-09")
@pytest.mark.parametrize("d", [1, 3, 10])
def test_nearest_distance_falls_as_the_d_th_root_of_n(d):
    n = np.array([1e2, 1e4, 1e6, 1e8])
    r = np.array([nearest_distance(m, d) for m in n])
    np.testing.assert_allclose((1 - r**d) ** n, 0.5, rtol=1e-6)
    slope = np.diff(np.log(r)) / np.diff(np.log(n))
    np.testing.assert_allclose(slope, -1 / d, rtol=0, atol=0.002)
    rng = np.random.default_rng(d)
    nearest = [norm(sample_ball(100, d, rng=rng)).min() for _ in range(400)]
    for share in (0.2, 0.5, 0.9):
        assert within(np.array(nearest) <= nearest_distance(100, d, share), share)


# ---------------------------------------------------------------------------------------
# Classification
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-04")
def test_vote_is_the_count_and_for_odd_k_the_sign_of_the_average(rng):
    X, x = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1, -1)
    for k in (1, 3, 7, 59):
        _, index = by_sorting(x, X, k)
        counted = [Counter(y[i].tolist()).most_common(1)[0][0] for i in index]
        np.testing.assert_array_equal(classify(x, X, y, k), counted)
        np.testing.assert_array_equal(classify(x, X, y, k), np.sign(regress(x, X, y * 1.0, k)))
    majority = 1 if y.sum() > 0 else -1
    assert y.sum() != 0 and (classify(x, X, y, 60) == majority).all()


@pytest.mark.claims("neighbors-04")
def test_even_k_ties_go_to_class_0_as_in_prnn():
    X, x = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[0.0]])
    y = np.array([1, 0, 1, 0])
    assert classify(x, X, y, 2) == classify(x, X, y, 4) == 0
    assert classify(x, X, y, 2, ties="nearest") == 1
    for k_0, k_1 in product(range(5), repeat=2):
        if k_0 + k_1:
            labels = np.array([[1] * k_1 + [0] * k_0])
            assert vote(labels, 2)[0] == (1 if k_1 > k_0 else 0)


@pytest.mark.claims("neighbors-13")
def test_one_neighbour_repeats_the_training_labels_whatever_they_are(rng):
    X, y = rng.normal(size=(80, 2)), rng.integers(3, size=80)
    np.testing.assert_array_equal(classify(X, X, y, 1), y)
    second = nearest_neighbors(X, X, 2).index[:, 1]
    assert leave_one_out_errors(X, y, [1])[0] == np.mean(y[second] != y)
    each = [classify(X[i : i + 1], np.delete(X, i, 0), np.delete(y, i), 5)[0] for i in range(80)]
    one, five = np.mean(y[second] != y), np.mean(np.array(each) != y)
    assert leave_one_out_errors(X, y, [5, 1]).tolist() == [five, one]
    assert leave_one_out_errors(X, y, [1, 5]).tolist() == [one, five] and one != five
    assert leave_one_out_errors(X, y, [1])[0] > 0.5


@pytest.mark.claims("neighbors-13")
def test_on_a_bootstrap_sample_it_errs_only_on_what_was_left_out(rng):
    n, errors = 50, []
    for _ in range(300):
        X, y, drawn = rng.normal(size=(n, 2)), rng.integers(2, size=n), rng.integers(n, size=n)
        wrong = classify(X, X[drawn], y[drawn], 1) != y
        assert not wrong[drawn].any()
        errors.append(wrong.mean())
    assert within(errors, 0.5 * (1 - 1 / n) ** n)


@pytest.mark.claims("neighbors-14")
@pytest.mark.parametrize("ties", ["first", "nearest"])
def test_equal_samples_of_different_labels_cannot_both_be_right(ties):
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    for y in ([0, 1, 0, 1], [1, 0, 0, 1]):
        wrong = classify(X, X, np.array(y), 1, ties=ties) != y
        assert wrong.mean() == 1 / 4  # printed: "always" 0
    assert (classify(X[1:], X[1:], np.array([1, 0, 1]), 1, ties=ties) == [1, 0, 1]).all()


@pytest.mark.claims("neighbors-15")
def test_odd_k_leaves_no_tie_of_two_classes_but_one_of_three():
    for k in (1, 3, 5, 7):
        for labels in product(range(2), repeat=k):
            counts = tally(np.array([labels]), 2)[0]
            assert counts[0] != counts[1]
    for labels in permutations(range(3)):
        assert (tally(np.array([labels]), 3) == 1).all()  # printed: odd k is enough
        assert vote(np.array([labels]), 3)[0] == 0
        assert vote(np.array([labels]), 3, ties="nearest")[0] == labels[0]
    assert vote(np.array([[2, 1, 0, 1, 2]]), 3, ties="nearest")[0] == 2
    assert vote(np.array([[2, 1, 0, 1, 0]]), 3, ties="nearest")[0] == 1
    assert vote(np.array([[2, 1, 1]]), 3, ties="nearest")[0] == 1  # no tie


def test_weighted_votes_and_unknown_rules():
    labels, w = np.array([[0, 1, 1]]), np.array([[1.0, 0.25, 0.25]])
    assert vote(labels, 2)[0] == 1 and vote(labels, 2, w)[0] == 0
    np.testing.assert_array_equal(tally(labels, 3, w), [[1.0, 0.5, 0.0]])
    with pytest.raises(ValueError, match="ties must be one of 'first', 'nearest'; got 'last'"):
        vote(labels, 2, ties="last")


@pytest.mark.claims("neighbors-16")
def test_all_neighbours_give_the_majority_everywhere(rng):
    X, x = rng.normal(size=(8, 2)), 5 * rng.normal(size=(100, 2))
    y = np.array(["green"] * 5 + ["red"] * 3)
    assert set(classify(x, X, y, 8)) == {"green"}
    assert set(classify(x, X, y, 1)) == {"green", "red"}


@pytest.mark.claims("neighbors-16")
def test_a_wrong_label_is_an_island_that_five_neighbours_repair(rng):
    grid = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    X = grid + 0.1 * rng.uniform(-1, 1, size=grid.shape)
    y = np.where(X[:, 0] > 4.5, 1, 0)
    center = int(np.argmin(norm(X - [2.0, 4.0])))
    flipped = np.where(np.arange(81) == center, 1 - y, y)
    x = rng.uniform(0.5, 3.5, size=(3000, 2)) + [0, 2]
    changed = classify(x, X, flipped, 1) != classify(x, X, y, 1)
    own = np.argmin(((x[:, None] - X) ** 2).sum(axis=2), axis=1) == center
    np.testing.assert_array_equal(changed, own)
    assert own.any()
    np.testing.assert_array_equal(classify(x, X, flipped, 5), classify(x, X, y, 5))


@pytest.mark.claims("neighbors-16")
def test_more_neighbours_change_their_mind_less_often():
    changes = {1: [], 15: []}
    line = np.linspace(0, 1, 400)[:, None]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(100, 1))
        y = (rng.uniform(size=100) < 0.2 + 0.6 * (X[:, 0] > 0.5)).astype(int)
        for k, found in changes.items():
            found.append(np.count_nonzero(np.diff(classify(line, X, y, k))))
    assert np.mean(changes[15]) < 0.5 * np.mean(changes[1])


@pytest.mark.claims("neighbors-18")
def test_vote_is_the_bayes_rule_with_the_k_nn_density(rng):
    n, k = 90, 7
    X, x = rng.normal(size=(n, 2)), rng.normal(size=(40, 2))
    y = rng.integers(3, size=n)
    joint = knn_joint_density(x, X, y, k)
    np.testing.assert_array_equal(classify(x, X, y, k), joint.argmax(axis=1))
    np.testing.assert_array_equal(classify(x, X, y, k), knn_posterior(x, X, y, k).argmax(axis=1))
    r = nearest_neighbors(x, X, k).distance[:, -1]
    V, n_i, k_i = pi * r**2, np.bincount(y), class_counts(x, X, y, k)
    labels = y[nearest_neighbors(x, X, k).index]
    np.testing.assert_array_equal(tally(labels, 3), k_i)
    for i in range(3):
        prior, density = n_i[i] / n, count_density(k_i[:, i], n_i[i], V)
        np.testing.assert_allclose(prior * density, joint[:, i], rtol=1e-10)


def test_weights_by_distance_are_the_inverse_distances_and_count_only_hits(rng):
    r = np.sort(rng.uniform(0.1, 2, size=(20, 6)), axis=1)
    w = neighbor_weights(r, "distance")
    np.testing.assert_allclose(w / w.sum(1, keepdims=True), 1 / r / (1 / r).sum(1, keepdims=True))
    np.testing.assert_array_equal(
        neighbor_weights(np.array([[0.0, 0.0, 2.0]]), "distance"), [[1, 1, 0]]
    )
    np.testing.assert_array_equal(neighbor_weights(r), np.ones((20, 6)))
    np.testing.assert_array_equal(neighbor_weights(r, np.exp), np.exp(r))
    for bad in (np.negative, lambda r: r[0], lambda r: 0 * r, lambda r: r / 0):
        with pytest.raises(ValueError, match="weights must give finite numbers >= 0"):
            with np.errstate(divide="ignore"):
                neighbor_weights(r, bad)


# ---------------------------------------------------------------------------------------
# Voronoi cells
# ---------------------------------------------------------------------------------------


def inside(points, polygon):
    """Whether points are in a counter-clockwise convex polygon, by cross products."""
    steps = np.roll(polygon, -1, axis=0) - polygon
    to = points[:, None] - polygon
    return (steps[:, 0] * to[..., 1] - steps[:, 1] * to[..., 0] >= -1e-9).all(axis=1)


def area(polygon):
    x, y = polygon.T
    return (x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@pytest.mark.claims("neighbors-10")
def test_cells_are_where_their_sample_is_nearest_and_the_half_planes_meet(rng):
    X, x = rng.uniform(-2.5, 2.5, size=(25, 2)), rng.uniform(-3, 3, size=(2000, 2))
    nearest = np.argmin(((x[:, None] - X) ** 2).sum(axis=2), axis=1)
    squares = (X**2).sum(axis=1)
    for i in range(25):
        cell = voronoi_cell(X, i, BOX)
        member = inside(x, cell.vertices)
        np.testing.assert_array_equal(member, nearest == i)
        halves = 2 * (X - X[i]) @ x.T <= (squares - squares[i])[:, None]
        np.testing.assert_array_equal(halves.all(axis=0), nearest == i)
        own = x[member]
        middle = (own[:, None] + own).reshape(-1, 2) / 2
        assert inside(middle, cell.vertices).all() and inside(X[i][None], cell.vertices)[0]
    areas = [area(voronoi_cell(X, i, BOX).vertices) for i in range(25)]
    assert sum(areas) == pytest.approx(36, rel=1e-12) and min(areas) > 0


@pytest.mark.claims("neighbors-10")
def test_cells_of_a_grid_are_its_squares():
    X = np.stack(np.meshgrid([-2.0, 0.0, 2.0], [-2.0, 0.0, 2.0]), axis=-1).reshape(-1, 2)
    cell = voronoi_cell(X, 4, BOX)
    corners = {tuple(v) for v in cell.vertices.round(12)}
    assert corners == {(-1, -1), (1, -1), (1, 1), (-1, 1)}
    assert area(cell.vertices) == pytest.approx(4)
    alone = voronoi_cell(X[:1], 0, BOX)
    np.testing.assert_array_equal(alone.vertices, box_cell(BOX).vertices)
    assert area(voronoi_cell(X + [7.0, 0.0], 0, BOX).vertices) > 0  # sites beyond the box
    assert len(voronoi_cell(X + [9.0, 0.0], 2, BOX).vertices) == 0


@pytest.mark.claims("neighbors-10")
def test_an_edge_faces_the_sample_across_at_equal_distance(rng):
    X = rng.uniform(-2.5, 2.5, size=(30, 2))
    for i in range(30):
        vertices, across = voronoi_cell(X, i, BOX)
        middles = (vertices + np.roll(vertices, -1, axis=0)) / 2
        for point, j in zip(middles, across, strict=True):
            r, index = nearest_neighbors(point[None], X, 2)
            if j >= 0:
                assert r[0, 0] == pytest.approx(r[0, 1], abs=1e-8)
                assert set(index[0]) == {i, j}
            else:
                assert np.abs(point).max() == pytest.approx(3) and index[0, 0] == i


def test_clipping_keeps_the_part_inside_through_corners_too():
    square = box_cell([[0, 0], [1, 1]])
    diagonal = clip(square, np.array([1.0, -1.0]), 0.0, site=5)  # along the diagonal
    np.testing.assert_array_equal(diagonal.vertices, [[0, 0], [1, 1], [0, 1]])
    np.testing.assert_array_equal(diagonal.across, [5, -1, -1])
    nothing = clip(square, np.array([1.0, 0.0]), -1.0, site=5)
    assert nothing.vertices.shape == (0, 2) and nothing.across.shape == (0,)
    whole = clip(square, np.array([1.0, 0.0]), 1.0, site=5)  # touches an edge
    np.testing.assert_array_equal(whole.vertices, square.vertices)
    np.testing.assert_array_equal(whole.across, square.across)  # nothing is cut off
    with pytest.raises(ValueError, match=r"box must be \(left, bottom\), \(right, top\); got"):
        box_cell([[1, 0], [0, 1]])


def test_edges_come_once_and_want_distinct_samples(rng):
    X = rng.uniform(-2.5, 2.5, size=(20, 2))
    segments, sites = voronoi_edges(X, BOX)
    assert (sites[:, 0] < sites[:, 1]).all()
    assert len({tuple(pair) for pair in sites}) == len(sites) == len(segments)
    both = sum(int((voronoi_cell(X, i, BOX).across >= 0).sum()) for i in range(20))
    assert both == 2 * len(sites)
    message = "samples must be distinct to have cells of their own; got [1.0, 1.0] 2 times"
    with pytest.raises(ValueError, match=re.escape(message)):
        voronoi_edges(np.vstack([X, np.ones((2, 2))]), BOX)


@pytest.mark.claims("neighbors-11")
def test_the_boundary_is_the_edges_between_classes(rng):
    X = rng.uniform(-2.5, 2.5, size=(30, 2))
    y = rng.integers(2, size=30)
    ends = rng.uniform(-3, 3, size=(400, 2, 2))
    first, second = (classify(ends[:, t], X, y, 1) for t in (0, 1))
    a, b = ends[first != second, 0], ends[first != second, 1]
    label = first[first != second]
    assert len(a) > 50
    for _ in range(60):
        middle = (a + b) / 2
        same = classify(middle, X, y, 1) == label
        a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
    r, index = nearest_neighbors(a, X, 2)
    np.testing.assert_allclose(r[:, 0], r[:, 1], rtol=0, atol=1e-8)
    assert (y[index[:, 0]] != y[index[:, 1]]).all()
    edges = {tuple(pair) for pair in voronoi_edges(X, BOX).sites}
    assert {tuple(sorted(pair)) for pair in index.tolist()} <= edges


@pytest.mark.claims("neighbors-11")
def test_crossing_an_edge_changes_the_prediction_only_between_classes(rng):
    X = rng.uniform(-2.5, 2.5, size=(30, 2))
    y = rng.integers(2, size=30)
    segments, sites = voronoi_edges(X, BOX)
    long = norm(segments[:, 1] - segments[:, 0]) > 1e-3
    middles, (i, j) = segments[long].mean(axis=1), sites[long].T
    step = 1e-6 * (X[j] - X[i])
    before, after = classify(middles - step, X, y, 1), classify(middles + step, X, y, 1)
    np.testing.assert_array_equal(before, y[i])
    np.testing.assert_array_equal(before != after, y[i] != y[j])
    assert {True, False} == set((y[i] != y[j]).tolist())


# ---------------------------------------------------------------------------------------
# How often 1-NN errs
# ---------------------------------------------------------------------------------------

POINTS, DX = gauss_legendre(-12, 18, 400)


def normal_classes(shift, scale=1.0):
    pairs = ((0.0, 1.0), (shift, scale**2))
    return np.column_stack([normal_log_density(POINTS, *pair) for pair in pairs])


@pytest.mark.claims("neighbors-19")
@pytest.mark.parametrize("prior", [0.5, 0.7, 0.95])
def test_asymptotic_error_is_between_the_bayes_error_and_its_bound(prior):
    both = np.array([prior, 1 - prior])
    for shift, scale in product((0.3, 1.0, 2.0, 5.0), (1.0, 2.0)):
        log_p = normal_classes(shift, scale)
        R, R_NN = bayes_error(log_p, both, DX), asymptotic_error(log_p, both, DX)
        assert R - 1e-9 <= R_NN <= cover_hart_bound(R) + 1e-9 <= 2 * R + 2e-9
        a, b = prior * np.exp(log_p[:, 0]), (1 - prior) * np.exp(log_p[:, 1])
        assert R_NN == pytest.approx(DX @ (2 * a * b / (a + b)), rel=1e-9)


@pytest.mark.claims("neighbors-19")
def test_the_bound_is_reached_where_the_posterior_is_constant():
    for q in (0.5, 0.7, 0.9):
        both = np.array([q, 1 - q])
        R_NN = asymptotic_error(normal_classes(0.0), both, DX)
        assert R_NN == pytest.approx(2 * q * (1 - q)) == pytest.approx(cover_hart_bound(1 - q))
    rest = np.array([0.6, 0.2, 0.2])  # the other classes equal: reached for K = 3
    flat = np.zeros((1, 3))
    assert asymptotic_error(flat, rest, np.ones(1)) == pytest.approx(cover_hart_bound(0.4, K=3))


@pytest.mark.claims("neighbors-19")
def test_where_no_sample_can_be_nothing_is_added_to_the_asymptotic_error():
    """Uniform on [0, 2] and [1, 3]: the labels are a toss on [1, 2], and certain elsewhere."""
    x, dx = gauss_legendre(-1, 5, 6)
    with np.errstate(divide="ignore"):
        log_p = np.log(np.column_stack([(x > 0) & (x < 2), (x > 1) & (x < 3)]) / 2)
    assert asymptotic_error(log_p, np.full(2, 0.5), dx) == pytest.approx(0.5 * 0.5, rel=1e-12)


@pytest.mark.claims("neighbors-19")
@pytest.mark.parametrize("n", [1, 3, 20])
def test_with_a_constant_posterior_the_error_is_that_of_the_limit_for_every_n(rng, n):
    q, wrong = 0.8, []
    for _ in range(200):
        X, x = rng.normal(size=(n, 2)), rng.normal(size=(50, 2))
        y, truth = (rng.random(size) < q for size in (n, 50))
        wrong.append(np.mean(classify(x, X, y, 1) != truth))
    assert within(wrong, 2 * q * (1 - q))


@pytest.mark.claims("neighbors-20")
def test_for_finite_n_the_bound_fails_where_the_bayes_error_is_zero():
    """Two classes far apart: only a class that is missing from the sample is got wrong."""
    errors = []
    for n in range(1, 9):
        total = Fraction(0)
        for labels in product((0, 1), repeat=n):
            y = np.array(labels)
            X = 100.0 * y[:, None] + np.arange(n)[:, None] / n
            answer = classify(np.array([[0.5], [100.5]]), X, y, 1)
            total += Fraction(int((answer != [0, 1]).sum()), 2)
        errors.append(total / 2**n)
        assert errors[-1] == Fraction(1, 2**n) > 2 * 0  # printed: at most twice the Bayes error
    assert all(b == a / 2 for a, b in pairwise(errors))


# ---------------------------------------------------------------------------------------
# Practice
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-21")
def test_standardised_features_make_the_units_irrelevant(rng):
    X, x = rng.normal(size=(100, 3)), rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    units = np.array([2.0**12, 2.0**-7, 1.0])  # powers of 2: nothing is rounded
    center, spread = X.mean(axis=0), X.std(axis=0)
    plain = classify((x - center) / spread, (X - center) / spread, y, 5)
    center_2, spread_2 = (units * X).mean(axis=0), (units * X).std(axis=0)
    moved = (units * x - center_2) / spread_2, (units * X - center_2) / spread_2
    np.testing.assert_array_equal(classify(*moved, y, 5), plain)
    assert (classify(units * x, units * X, y, 5) != classify(x, X, y, 5)).any()


@pytest.mark.claims("neighbors-21")
def test_the_feature_of_largest_range_decides_alone(rng):
    X, x = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))
    alone = nearest_neighbors(x[:, :1], X[:, :1], 5).index
    shares = []
    for scale in (1.0, 10.0, 1e6):
        index = nearest_neighbors(x * [scale, 1], X * [scale, 1], 5).index
        shares.append(np.mean([len({*a} & {*b}) / 5 for a, b in zip(index, alone, strict=True)]))
    assert shares[0] < shares[1] < shares[2] == 1


@pytest.mark.claims("neighbors-23")
def test_fit_stores_the_samples_and_a_query_costs_n_distances(rng):
    calls = []

    def counting(a, b):
        calls.append(1)
        return np.abs(a - b).sum()

    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    model = KNeighborsClassifier(metric=counting).fit(X, y)
    assert not calls
    np.testing.assert_array_equal(model.samples_, X)
    np.testing.assert_array_equal(model.classes_[model.targets_], y)
    answers = model.predict(X[:4])
    assert len(calls) == 4 * 30
    manhattan = KNeighborsClassifier(metric="manhattan").fit(X, y)
    np.testing.assert_array_equal(answers, manhattan.predict(X[:4]))


@pytest.mark.claims("neighbors-23")
def test_an_eager_learner_can_forget_the_data_and_a_lazy_one_cannot(rng):
    X, x = rng.normal(size=(50, 2)), rng.normal(size=(20, 2))
    y = np.where(X @ [1.0, 2.0] > 0, 1, -1)
    w = np.linalg.lstsq(X, y, rcond=None)[0]  # d numbers instead of n d
    model = KNeighborsClassifier().fit(X, y)
    before, lazy = np.sign(x @ w), model.predict(x)
    X[:], y[:] = 0, 1  # the model keeps its own copy ...
    np.testing.assert_array_equal(model.predict(x), lazy)
    np.testing.assert_array_equal(np.sign(x @ w), before)
    model.samples_[:] = 0  # ... without which it knows nothing
    assert len(set(model.predict(x))) == 1 < len(set(lazy))


# ---------------------------------------------------------------------------------------
# Many dimensions
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-25")
def test_noise_adds_up_over_the_dimensions(rng):
    sigma, d = 0.7, 40
    e = sigma * rng.normal(size=(4000, d))
    squares = norm(e) ** 2
    assert within(squares, d * sigma**2)
    assert within((squares - d * sigma**2) ** 2, 2 * d * sigma**4)
    spread = [np.std(s) / np.mean(s) for s in (e[:, 0] ** 2, squares)]
    np.testing.assert_allclose(spread, [sqrt(2), sqrt(2 / d)], rtol=0.1)
    between = norm(rng.normal(size=(4000, d)) - rng.normal(size=(4000, d))) ** 2
    assert within(between, 2 * d) and within((between - 2 * d) ** 2, 8 * d)


@pytest.mark.claims("neighbors-25")
def test_one_component_in_a_tail_is_enough():
    for alpha, d in product((0.01, 0.05, 0.3), (1, 2, 10)):
        union = sum((-1) ** (j + 1) * comb(d, j) * alpha**j for j in range(1, d + 1))
        assert tail_probability(alpha, d) == pytest.approx(union, rel=1e-10)
    assert tail_probability(0.05, 10) == pytest.approx(0.401, abs=5e-4)
    assert tail_probability(1e-20, 100) == pytest.approx(1e-18)


@pytest.mark.claims("neighbors-25")
def test_nearest_and_farthest_become_equally_far(rng):
    ratios = []
    for d in (2, 10, 100, 1000):
        X, x = rng.normal(size=(200, d)), rng.normal(size=(50, d))
        share = nearest_to_farthest(x, X)
        loop = [min(norm(X - q)) / max(norm(X - q)) for q in x]
        np.testing.assert_allclose(share, loop, rtol=1e-9)
        ratios.append(np.median(share))
    assert all(a < b for a, b in pairwise(ratios))
    assert ratios[0] < 0.1 and ratios[-1] > 0.8


@pytest.mark.claims("neighbors-26")
@pytest.mark.parametrize("d", [1, 2, 5, 10])
def test_radius_in_the_ball_is_the_d_th_root_of_a_uniform_number(d):
    rng = np.random.default_rng(d)
    r = np.sort(norm(sample_ball(5000, d, rng=rng)))
    steps = np.arange(5001) / 5000
    gap = max(np.abs(steps[1:] - r**d).max(), np.abs(steps[:-1] - r**d).max())
    assert gap < 5 / sqrt(5000) / 2
    roots = np.sort(rng.uniform(size=5000)) ** (1 / d)
    assert np.abs(np.searchsorted(r, roots) / 5000 - roots**d).max() < 5 / sqrt(5000)


@pytest.mark.claims("neighbors-26")
def test_the_ball_is_empty_near_its_centre_and_fills_little_of_its_cube(rng):
    assert 0.9**10 == pytest.approx(0.3487, abs=5e-5) and 0.9**10 < 0.35
    assert within(norm(sample_ball(20_000, 10, rng=rng)) < 0.9, 0.9**10)
    volume = {0: 1.0, 1: 2.0}
    for d in range(2, 21):
        volume[d] = volume[d - 2] * 2 * pi / d
        assert cube_share(d) * 2**d == pytest.approx(volume[d], rel=1e-12)
        assert cube_share(d) == pytest.approx(pi ** (d / 2) / (2**d * gamma(d / 2 + 1)), rel=1e-12)
    assert cube_share(1) == pytest.approx(1)
    for d in range(2, 7):
        assert within(norm(rng.uniform(-1, 1, size=(20_000, d))) <= 1, cube_share(d))
    assert cube_share(10) == pytest.approx(0.0025, abs=5e-5)


@pytest.mark.claims("neighbors-27")
def test_on_the_sphere_no_point_is_near_and_in_the_ball_a_third_is(rng):
    z = rng.normal(size=(20_000, 10))
    sphere = z / norm(z)[:, None]
    np.testing.assert_allclose(norm(sphere), 1, rtol=1e-12)
    assert np.mean(norm(sphere) < 0.9) == 0  # printed: "sphere", and a probability of 0.9^10
    assert within(norm(sample_ball(20_000, 10, rng=rng)) < 0.9, 0.9**10)


def test_density_of_the_norm_is_that_of_normal_draws(rng):
    r, dr = gauss_legendre(0, 40, 80)
    for d in (1, 2, 3, 17, 200):
        p = np.exp(norm_log_density(r, d))
        assert dr @ p == pytest.approx(1, rel=1e-9)
        assert dr @ (p * r**2) == pytest.approx(d, rel=1e-9)
    near = np.mean(norm(rng.normal(size=(20_000, 3))) < 1.5)
    inner = dr[r < 1.5] @ np.exp(norm_log_density(r[r < 1.5], 3))
    assert near == pytest.approx(inner, abs=0.02)


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-04")
@pytest.mark.parametrize("weights", ["uniform", "distance", np.reciprocal])
def test_classifier_is_the_weighted_vote_loop(rng, weights):
    T = load_iris()
    order = rng.permutation(150)
    train, test = order[:100], order[100:]
    x = T.X[test] + 1e-3 * rng.normal(size=(50, 4))
    model = KNeighborsClassifier(n_neighbors=7, weights=weights).fit(T.X[train], T.y[train])
    r, index = by_sorting(x, T.X[train], 7)
    w = np.ones_like(r) if weights == "uniform" else 1 / r
    shares = [[sum(w[i][T.y[train][index[i]] == c]) for c in model.classes_] for i in range(50)]
    shares = np.array(shares) / w.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(x), shares, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(x), model.classes_[shares.argmax(axis=1)])
    assert model.score(x, T.y[test]) > 0.9


@pytest.mark.claims("neighbors-03")
def test_regressor_is_the_weighted_average(rng):
    X, y, x = rng.normal(size=(50, 2)), rng.normal(size=50), rng.normal(size=(20, 2))
    for metric, p in (("minkowski", 3), ("euclidean", 2), ("manhattan", 1)):
        r, index = by_sorting(x, X, 4, p)
        plain = KNeighborsRegressor(4, metric=metric, p=3).fit(X, y)
        np.testing.assert_allclose(plain.predict(x), y[index].mean(axis=1), rtol=1e-9)
        near = KNeighborsRegressor(4, metric=metric, p=3, weights="distance").fit(X, y)
        expected = (y[index] / r).sum(axis=1) / (1 / r).sum(axis=1)
        np.testing.assert_allclose(near.predict(x), expected, rtol=1e-9)
        np.testing.assert_array_equal(near.predict(X), y)


def test_chebyshev_is_the_limit_of_minkowski(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    models = [
        KNeighborsRegressor(3, **how).fit(X, y)
        for how in ({"metric": "chebyshev"}, {"p": np.inf}, {"p": 2000})
    ]
    distance, index = zip(*(model.kneighbors(X[:9] + 0.1) for model in models), strict=True)
    np.testing.assert_array_equal(index[0], index[1])
    np.testing.assert_array_equal(index[0], index[2])
    np.testing.assert_allclose(distance[0], distance[2], rtol=1e-2)


def test_kneighbors_of_the_samples_leaves_each_out(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = KNeighborsClassifier(3).fit(X, y)
    distance, index = model.kneighbors()
    assert (index != np.arange(20)[:, None]).all() and (distance > 0).all()
    near, first = model.kneighbors(X)
    np.testing.assert_array_equal(first[:, 0], np.arange(20))
    np.testing.assert_allclose(distance[:, :2], near[:, 1:], rtol=1e-12)
    alone = model.kneighbors(X, n_neighbors=20, return_distance=False)
    assert alone.shape == (20, 20) and model.kneighbors(n_neighbors=19)[1].shape == (20, 19)
    for X_new, k, n in ((None, 20, 19), (X, 21, 20)):
        message = f"n_neighbors must be at most the {n} samples to choose from; got {k}"
        with pytest.raises(ValueError, match=message):
            model.kneighbors(X_new, n_neighbors=k)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1; got 0"),
        ({"n_neighbors": 5}, "n_neighbors must be at most the 4 samples to choose from; got 5"),
        ({"weights": "square"}, "weights must be one of 'uniform', 'distance'; got 'square'"),
        ({"p": 0.5}, "p must be a number >= 1; got 0.5"),
        ({"metric": "cosine"}, "metric must be one of 'minkowski', 'euclidean', 'manhattan', "),
    ],
)
@pytest.mark.parametrize("estimator", [KNeighborsClassifier, KNeighborsRegressor])
def test_hyperparameters_out_of_range_are_refused(estimator, wrong, message):
    with pytest.raises(ValueError, match=message):
        estimator(**{"n_neighbors": 2} | wrong).fit(np.arange(4.0)[:, None], [0, 1, 0, 1])


def test_digits_vote_loop_is_the_vectorised_prediction():
    T = load_digits()
    X, y, x, truth = T.X[:600], T.y[:600], T.X[600:700], T.y[600:700]
    model = KNeighborsClassifier(3).fit(X, y)
    for i in range(100):
        order = np.argsort(((x[i] - X) ** 2).sum(axis=1), kind="stable")[:3]
        counts = np.bincount(y[order], minlength=10)
        assert model.predict(x[i : i + 1])[0] == counts.argmax()
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1 and model.score(x, truth) > 0.9


@pytest.mark.skipif("MLNOTES_DATA" not in os.environ, reason="MLNOTES_DATA does not name a folder")
def test_one_neighbour_errs_on_309_of_the_digits_of_mnist():
    """Grey levels are whole numbers, 0 to 255: distances are exact, and equal ones are equal."""
    train, test = load_mnist(os.path.join(os.environ["MLNOTES_DATA"], "mnist"))
    X, x = np.rint(255 * train.X), np.rint(255 * test.X)
    wrong = classify(x, X, train.y, 1) != test.y
    assert np.count_nonzero(wrong) == 309


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("neighbors-07")
def test_circles_drawn_hold_exactly_k_samples_that_answer_differently():
    from figures.neighbors import KS, around_the_query, neighborhoods

    left, right = Figure().subplots(1, 2)
    neighborhoods(left, right)
    X, y = around_the_query()
    D, answers = np.sqrt((X**2).sum(axis=1)), []
    circles = [line.get_xydata() for line in left.lines if len(line.get_xdata()) > 100]
    for k, circle in zip(KS, circles, strict=True):
        radius = norm(circle)
        np.testing.assert_allclose(radius, radius[0])
        assert np.count_nonzero(D <= radius[0] + 1e-9) == k
        assert np.count_nonzero(D < radius[0] - 1e-9) == k - 1
        answers.append(Counter(y[D <= radius[0] + 1e-9]).most_common(1)[0][0])
    assert [t.get_text() for t in left.texts] == [
        f"$k={k}$: {a}" for k, a in zip(KS, answers, strict=True)
    ]
    assert answers == ["a", "b", "a"]
    link = next(line.get_xydata() for line in left.lines if len(line.get_xdata()) == 2)
    np.testing.assert_array_equal(link, [[0, 0], X[np.argmin(D)]])
    events, chosen, level, cross = right.lines
    assert {tuple(p) for p in events.get_xydata()} == {(1, 1), (5, 2), (3, 3), (1, 4), (4, 5)}
    assert {tuple(p) for p in chosen.get_xydata()} == {(3, 3), (4, 5), (5, 2)}
    np.testing.assert_allclose(level.get_ydata(), 10 / 3)
    np.testing.assert_allclose(cross.get_xydata(), [[4, 10 / 3]])


@pytest.mark.claims("neighbors-12")
def test_diagram_drawn_is_equidistant_and_bold_between_classes():
    from figures.neighbors import labelled_sites, voronoi_diagram

    ax = Figure().subplots()
    voronoi_diagram(ax)
    X, y = labelled_sites()
    edges = [line for line in ax.lines if line.get_marker() == "None"]
    weights = sorted({line.get_linewidth() for line in edges})
    assert len(weights) == 2 and len(edges) > 50
    for line in edges:
        a, b = line.get_xydata()
        points = a + np.linspace(0.1, 0.9, 5)[:, None] * (b - a)
        r, index = nearest_neighbors(points, X, 2)
        np.testing.assert_allclose(r[:, 0], r[:, 1], rtol=0, atol=1e-8)
        bold = y[index[0, 0]] != y[index[0, 1]]
        assert line.get_linewidth() == weights[int(bold)]
        across = X[index[0, 1]] - X[index[0, 0]]
        sides = np.vstack([points[2] - 1e-6 * across, points[2] + 1e-6 * across])
        assert (len(set(classify(sides, X, y, 1))) == 2) == bold
    for i, patch in enumerate(ax.patches):
        assert inside(X[i][None], patch.get_xy()[:-1])[0]
    assert len(ax.patches) == len(X)


@pytest.mark.claims("neighbors-17")
def test_maps_drawn_are_the_predictions_and_titles_their_errors():
    from figures.neighbors import ASKED, decision_maps, noisy_moons

    axes = Figure().subplots(2, 2).ravel()
    decision_maps(*axes)
    (X, y), (X_new, y_new) = noisy_moons()
    for ax, k in zip(axes, ASKED, strict=True):
        train = np.mean(classify(X, X, y, k) != y)
        test = np.mean(classify(X_new, X, y, k) != y_new)
        assert ax.get_title() == f"$k = {k}$: train {train:.2f}, test {test:.2f}"
        fills = {tuple(c.get_facecolor()[0][:3]): c for c in ax.collections if c.get_fill()}
        assert len(fills) == len(set(classify(X_new, X, y, k)))
        probes = X_new[nearest_neighbors(X_new, X, 1).distance[:, 0] < 0.2][:200]
        low, high = X.min(axis=0), X.max(axis=0)
        probes = probes[((probes > low) & (probes < high)).all(axis=1)]
        for color, fill in fills.items():
            drawn = fill.get_paths()[0].contains_points(probes)
            label = 1 if color[2] > color[0] else -1  # blue or orange
            agree = drawn == (classify(probes, X, y, k) == label)
            assert agree.mean() > 0.97  # but for the width of a pixel
    assert (classify(X, X, y, 1) == y).all() and axes[0].get_title().startswith(
        "$k = 1$: train 0.00"
    )


@pytest.mark.claims("neighbors-28")
def test_mass_drawn_is_near_the_mean_in_one_dimension_and_away_from_it_in_many():
    from figures.neighbors import DIMENSIONS, where_the_mass_is

    left, right = Figure().subplots(1, 2)
    where_the_mass_is(left, right)
    corners = left.collections[0].get_paths()[0].vertices
    upper = corners[corners[:, 1] > 0]
    upper = upper[np.argsort(upper[:, 0])]
    x, keep = np.unique(upper[:, 0], return_index=True)
    assert np.trapezoid(upper[keep, 1], x) == pytest.approx(erf(1 / sqrt(2)), abs=1e-3)
    curves = [line for line in right.lines if len(line.get_xdata()) > 2]
    ticks = [line for line in right.lines if len(line.get_xdata()) == 2]
    for d, curve, tick in zip(DIMENSIONS, curves, ticks, strict=True):
        r, p = curve.get_data()
        assert np.trapezoid(p, r) == pytest.approx(1, abs=2e-3)
        assert r[np.argmax(p)] == pytest.approx(sqrt(d - 1), abs=0.01)
        np.testing.assert_allclose(tick.get_xdata(), sqrt(d - 1))
        chi = r ** (d - 1) * np.exp(-(r**2) / 2) / (2 ** (d / 2 - 1) * gamma(d / 2))
        np.testing.assert_allclose(p, chi, rtol=1e-9, atol=1e-300)


def test_errors_drawn_lie_between_the_bounds():
    from figures.neighbors import cover_hart

    left, right = Figure().subplots(1, 2)
    cover_hart(left, right)
    dots = np.vstack([line.get_xydata() for line in left.lines if line.get_marker() != "None"])
    R, R_NN = dots.T
    assert len(dots) == 21 and (R_NN <= 2 * R * (1 - R) + 1e-9).all() and (R <= R_NN + 1e-9).all()
