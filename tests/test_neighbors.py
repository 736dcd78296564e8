"""The neighbors chapter: every statement of the notes, checked by a second route."""

import os
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import ceil, comb, erf, gamma, pi, sqrt

import numpy as np
import pytest
from checks import panels

from mlnotes.clustering import euclidean
from mlnotes.datasets import five_events, load_iris, load_mnist
from mlnotes.decision_theory import bayes_error
from mlnotes.density import knn_posterior
from mlnotes.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    asymptotic_error,
    box_cell,
    clip,
    cover_hart_bound,
    cube_share,
    distances,
    knn_classify,
    leave_one_out_errors,
    nearest_distance,
    nearest_neighbors,
    nearest_to_farthest,
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
from mlnotes.probability import gauss_legendre, normal_log_density

BOX = np.array([[-3.0, -3.0], [3.0, 3.0]])


def by_sorting(x, X, k, p=2):
    """Neighbours as a book finds them: all distances, one by one, and a sort."""
    index, r = [], []
    for query in x:
        D = [float(np.linalg.norm(query - sample, p)) for sample in X]
        index.append(sorted(range(len(X)), key=lambda i: (D[i], i))[:k])  # noqa: B023
        r.append([D[i] for i in index[-1]])
    return np.array(r), np.array(index)


def within(values, expected, errors=5):
    """Whether the mean of the values is within so many standard errors of what is expected."""
    return abs(np.mean(values) - expected) <= errors * np.std(values) / sqrt(np.size(values))


# --- Norms and distances ---------------------------------------------------------------


@pytest.mark.claims("neighbors-01")
@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
def test_norm_keeps_the_axioms(rng, p):
    x, y = rng.normal(size=(2, 200, 5))
    a = rng.normal(size=200)
    np.testing.assert_allclose(norm(a[:, None] * x, p), np.abs(a) * norm(x, p), rtol=1e-12)
    assert (norm(x + y, p) <= norm(x, p) + norm(y, p) + 1e-12).all()
    assert (norm(x, p) > 0).all() and norm(np.zeros(5), p) == 0
    np.testing.assert_allclose(norm(x, p), [np.linalg.norm(v, p) for v in x], rtol=1e-12)
    assert not np.allclose(norm(2 * x, p) ** 2, 2 * norm(x, p) ** 2)  # the square is no norm


def test_norm_of_large_vectors_and_small_integers_is_right_for_every_order():
    for scale, p in product((1e-100, 1.0, 1e150), (1, 2, 3, 50, np.inf)):
        expected = scale * (2 ** (1 / p) if p < np.inf else 1.0)
        np.testing.assert_allclose(norm(scale * np.array([1.0, -1.0]), p), expected, rtol=1e-12)
        assert distances(np.uint8([[0]]), np.uint8([[200]]), p) == pytest.approx(200)
    assert norm(np.array([-128, 0], dtype=np.int8)) == 128


@pytest.mark.claims("neighbors-01")
@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_distances_are_the_loop_and_a_metric_and_for_p_2_the_matrix_form(rng, p):
    x, X = rng.normal(size=(15, 4)), rng.normal(size=(12, 4))
    loop = [[np.linalg.norm(a - b, p) for b in X] for a in x]
    np.testing.assert_allclose(distances(x, X, p), loop, rtol=1e-10)
    np.testing.assert_allclose(distances(x, X, lambda a, b: np.linalg.norm(a - b, p)), loop)
    D = distances(X, X, p)
    assert (np.diag(D) == 0).all() and (D[~np.eye(12, dtype=bool)] > 0).all()
    assert (D[:, :, None] <= D[:, None] + D.T[None] + 1e-12).all()  # d(i, l) by way of j
    for mean in (0.0, 1e8):
        A = X + mean
        squares = (A**2).sum(axis=1)
        printed = squares[:, None] + squares - 2 * A @ A.T  # as it stands, it cancels far off
        assert np.allclose(printed, distances(A, A, p) ** 2) == (p == 2 and mean == 0)
        assert np.allclose(euclidean(A), distances(A, A, p), rtol=1e-8) == (p == 2)


# --- The nearest samples ---------------------------------------------------------------

SAMPLES = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "ties": lambda rng, n, d: rng.integers(0, 3, size=(n, d)).astype(float),
    "duplicates": lambda rng, n, d: np.repeat(rng.integers(9, size=(1, d)), n, axis=0) * 1.0,
    "far off": lambda rng, n, d: 1e8 + rng.integers(0, 99, size=(n, d)),
    "one outlier": lambda rng, n, d: np.vstack([np.full((1, d), 2.0**99), rng.normal(size=(n, d))]),
    "small": lambda rng, n, d: 1e-140 * rng.normal(size=(n, d)),
    "large": lambda rng, n, d: 1e140 * rng.normal(size=(n, d)),
}


@pytest.mark.claims("neighbors-03")
@pytest.mark.parametrize("kind", SAMPLES)
def test_neighbors_and_their_averages_are_those_of_the_sort_with_ties_to_the_first(rng, kind):
    for (n, d, k), p in product([(1, 1, 1), (60, 2, 5), (70, 3, 69), (12, 30, 4)], (2, 1)):
        X = SAMPLES[kind](rng, n, d)
        x, y = np.vstack([X[: n // 2], SAMPLES[kind](rng, 8, d)]), rng.normal(size=len(X))
        r, index = by_sorting(x, X, k, p)
        model = KNeighborsRegressor(k, p=p).fit(X, y)
        for near in (nearest_neighbors(x, X, k, p), model.kneighbors(x)):
            np.testing.assert_array_equal(near[1], index)
            np.testing.assert_allclose(near[0], r, rtol=1e-12)
        for f in (regress(x, X, y, k, p), smoother(x, X, k, p) @ y, model.predict(x)):
            np.testing.assert_allclose(f, y[index].mean(axis=1), rtol=1e-9, atol=1e-12)
    with pytest.raises(IndexError):  # n samples have no n + 1 nearest
        regress(x, X, y, len(X) + 1)


def test_other_neighbors_are_the_nearest_of_all_but_the_sample_itself(rng):
    X = rng.integers(0, 3, size=(30, 2)) * 1.0  # duplicates
    r, index = other_neighbors(nearest_neighbors(X, X, 5))
    for i in range(30):
        others = np.delete(np.arange(30), i)
        r_i, nearest = by_sorting(X[i : i + 1], X[others], 4)
        np.testing.assert_array_equal(index[i], others[nearest[0]])
        np.testing.assert_array_equal(r[i], r_i[0])
    equal = np.zeros((4, 1))
    index = other_neighbors(nearest_neighbors(equal, equal, 3)).index
    np.testing.assert_array_equal(index, [[1, 2], [0, 2], [0, 1], [0, 1]])


# --- Regression ------------------------------------------------------------------------


@pytest.mark.claims("neighbors-02")
def test_relative_frequency_is_an_average_over_neighbours_at_distance_zero(rng):
    X, y = rng.integers(0, 4, size=(60, 2)) * 1.0, rng.normal(size=60)
    for x in np.unique(X, axis=0)[:, None]:
        same = (X == x).all(axis=1)
        np.testing.assert_allclose(relative_frequency(x, X, y), y[same].mean())
        np.testing.assert_allclose(regress(x, X, y, same.sum()), y[same].mean(), rtol=1e-12)
        assert nearest_neighbors(x, X, same.sum()).distance.max() == 0
    x = rng.normal(size=(1, 2))  # of a continuous variable: no sample equals it
    assert np.isnan(relative_frequency(x, X, y)).all()  # and no warning: pytest makes it an error
    assert np.isfinite(regress(x, X, y, 5)).all()


@pytest.mark.claims("neighbors-05", "neighbors-06")
def test_the_five_events_are_pairs_of_y_and_x():
    printed = [(1, 1), (2, 5), (3, 3), (4, 1), (5, 4)]  # "for (X, Y)"
    x, T = np.array([[Fraction(4)]]), five_events()
    for order, exact, average in ((0, 1, Fraction(8, 3)), (1, 5, Fraction(10, 3))):
        X = np.array([[Fraction(pair[order])] for pair in printed])
        y = np.array([Fraction(pair[1 - order]) for pair in printed])
        assert relative_frequency(x, X, y)[0] == exact
        assert regress(x, X, y, 3)[0] == average
    assert regress(x, T.X, T.y, 3)[0] == Fraction(2 + 3 + 5, 3)
    assert sorted(T.y[nearest_neighbors(x, T.X, 3).index[0]]) == [2, 3, 5]
    assert relative_frequency(x, T.X, T.y)[0] == 5
    X, y = np.vstack([T.X, x]), np.append(T.y, Fraction(1))  # a sixth event at x = 4
    assert relative_frequency(x, X, y)[0] == 3 != 5  # 5 is no expectation


@pytest.mark.claims("neighbors-08")
def test_smoother_has_variance_sigma2_over_k_and_the_bias_of_the_region(rng):
    X, x, sigma = np.linspace(0, 1, 50)[:, None], np.array([[0.31], [0.97]]), 0.3
    f, truth, biases = np.sin(6 * X[:, 0]), np.sin(6 * x[:, 0]), []
    for k in (1, 20, 50):
        S = smoother(x, X, k)
        np.testing.assert_allclose(sigma**2 * (S**2).sum(axis=1), sigma**2 / k, rtol=1e-12)
        biases.append(f[by_sorting(x, X, k)[1]].mean(axis=1) - truth)
        np.testing.assert_allclose(S @ f - truth, biases[-1], rtol=0, atol=1e-12)
        draws = regress(x, X, f[:, None] + sigma * rng.normal(size=(50, 4000)), k)
        for j in range(2):
            assert within(draws[j] - truth[j], biases[-1][j])
            assert within((draws[j] - draws[j].mean()) ** 2, sigma**2 / k)
    assert (np.diff(np.abs(biases), axis=0) > 0).all()  # a larger region


@pytest.mark.claims("neighbors-09")
def test_mean_squared_error_vanishes_if_k_grows_and_its_share_shrinks():
    def errors(rule, sigma2=0.25):
        for n in (10**2, 10**3, 10**4, 10**5):
            X, k = (np.arange(n) / n)[:, None], rule(n)
            bias = regress(np.array([[0.25]]), X, np.square(X[:, 0]), k)[0] - 0.25**2
            yield bias**2 + sigma2 / k

    root = list(errors(lambda n: ceil(sqrt(n))))
    assert all(b < a / 2 for a, b in pairwise(root)) and root[-1] < 1e-3
    np.testing.assert_allclose(list(errors(lambda n: 1)), 0.25, rtol=1e-3)  # k does not grow
    limit = (1 / 12 - 1 / 16) ** 2  # the mean of x^2 over [0, 1/2] less that at 1/4
    assert list(errors(lambda n: n // 2))[-1] == pytest.approx(limit, rel=0.1)


# --- Classification --------------------------------------------------------------------


@pytest.mark.claims("neighbors-04")
def test_knn_classify_is_the_count_and_for_odd_k_the_sign_of_the_average(rng):
    X, x = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1, -1)
    for k in (1, 7, 59):
        _, index = by_sorting(x, X, k)
        counted = [Counter(y[i].tolist()).most_common(1)[0][0] for i in index]
        np.testing.assert_array_equal(knn_classify(x, X, y, k), counted)
        np.testing.assert_array_equal(knn_classify(x, X, y, k), np.sign(regress(x, X, y, k)))


@pytest.mark.claims("neighbors-04", "neighbors-15")
def test_vote_breaks_ties_which_an_odd_k_prevents_for_two_classes_only():
    for k in range(1, 8):
        for labels in product(range(2), repeat=k):
            k_0, k_1 = tally(np.array([labels]), 2)[0]
            assert k_0 + k_1 == k and (k_0 != k_1 or k % 2 == 0)
            assert vote(np.array([labels]), 2)[0] == (1 if k_1 > k_0 else 0)  # as in PRNN
    for labels in permutations(range(3)):
        assert (tally(np.array([labels]), 3) == 1).all()  # printed: odd k is enough
        assert vote(np.array([labels]), 3)[0] == 0
        assert vote(np.array([labels]), 3, ties="nearest")[0] == labels[0]
    labels = np.array([[2, 1, 0, 1, 2], [2, 1, 0, 1, 0], [2, 1, 1, 1, 0]])  # the last is no tie
    np.testing.assert_array_equal(vote(labels, 3, ties="nearest"), [2, 1, 1])
    with pytest.raises(KeyError, match="nearst"):
        vote(labels, 3, ties="nearst")


@pytest.mark.claims("neighbors-13", "neighbors-14")
@pytest.mark.parametrize("p", [1, 2])
def test_one_neighbour_repeats_any_labels_and_leaving_one_out_does_not(rng, p):
    X, y = rng.normal(size=(80, 2)), rng.integers(3, size=80)
    np.testing.assert_array_equal(knn_classify(X, X, y, 1, p), y)
    rest = [(X[i : i + 1], np.delete(X, i, 0), np.delete(y, i)) for i in range(80)]
    errors = [np.mean([knn_classify(*each, k, p)[0] for each in rest] != y) for k in (5, 1)]
    assert leave_one_out_errors(X, y, [5, 1], p).tolist() == errors and errors[1] > 0.5
    wrong = []
    for _ in range(300):  # bootstrap samples of labels without meaning
        X, y, drawn = rng.normal(size=(50, 2)), rng.integers(2, size=50), rng.integers(50, size=50)
        wrong.append(knn_classify(X, X[drawn], y[drawn], 1, p) != y)
        assert not wrong[-1][drawn].any()
    assert within(np.mean(wrong, axis=1), 0.5 * (1 - 1 / 50) ** 50)
    X = np.array([[0.0], [0.0], [1.0], [2.0]])  # of equal samples one is wrong
    for y, ties in product(([0, 1, 0, 1], [1, 0, 0, 1]), ("first", "nearest")):
        assert np.mean(knn_classify(X, X, np.array(y), 1, p, ties) != y) == 1 / 4  # printed: 0


@pytest.mark.claims("neighbors-16")
def test_a_wrong_label_is_an_island_that_five_neighbours_repair_and_all_see_no_classes(rng):
    X = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    X += 0.1 * rng.uniform(-1, 1, size=X.shape)
    y, center = np.where(X[:, 0] > 4.5, 1, 0), int(np.argmin(norm(X - [2.0, 4.0])))
    flipped = np.where(np.arange(81) == center, 1 - y, y)
    x = rng.uniform(0.5, 3.5, size=(1000, 2)) + [0, 2]
    changed = knn_classify(x, X, flipped, 1) != knn_classify(x, X, y, 1)
    cell = np.argmin(((x[:, None] - X) ** 2).sum(axis=2), axis=1) == center
    np.testing.assert_array_equal(changed, cell)
    assert cell.any()
    np.testing.assert_array_equal(knn_classify(x, X, flipped, 5), knn_classify(x, X, y, 5))
    X, x, y = rng.normal(size=(8, 2)), 5 * rng.normal(size=(100, 2)), np.array(list("gggggrrr"))
    assert set(knn_classify(x, X, y, 8)) == {"g"} and set(knn_classify(x, X, y, 1)) == {"g", "r"}


@pytest.mark.claims("neighbors-18")
def test_knn_classify_is_the_bayes_rule_with_the_k_nn_density(rng):
    X, x, y = rng.normal(size=(90, 2)), rng.normal(size=(40, 2)), rng.integers(3, size=90)
    r, index = nearest_neighbors(x, X, 7)
    posterior = knn_posterior(x, X, y, 7)
    expected = tally(y[index], 3) / (90 * pi * r[:, -1:] ** 2)  # k_i / (n V)
    np.testing.assert_array_equal(knn_classify(x, X, y, 7), expected.argmax(axis=1))
    np.testing.assert_array_equal(knn_classify(x, X, y, 7), posterior.argmax(axis=1))


# --- Voronoi cells ---------------------------------------------------------------------


def inside(points, polygon):
    """Whether points are in a counter-clockwise convex polygon, by cross products."""
    steps = np.roll(polygon, -1, axis=0) - polygon
    to = points[:, None] - polygon
    return (steps[:, 0] * to[..., 1] - steps[:, 1] * to[..., 0] >= -1e-9).all(axis=1)


def area(polygon):
    x, y = polygon.T
    return (x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def test_clip_keeps_the_part_inside_through_corners_too():
    square = box_cell([[0, 0], [1, 1]])
    diagonal = clip(square, np.array([1.0, -1.0]), 0.0, site=5)  # along the diagonal
    np.testing.assert_array_equal(diagonal.vertices, [[0, 0], [1, 1], [0, 1]])
    np.testing.assert_array_equal(diagonal.across, [5, -1, -1])
    nothing = clip(square, np.array([1.0, 0.0]), -1.0, site=5)
    assert nothing.vertices.shape == (0, 2) and nothing.across.shape == (0,)
    whole = clip(square, np.array([1.0, 0.0]), 1.0, site=5)  # touches an edge
    np.testing.assert_array_equal(whole.vertices, square.vertices)
    np.testing.assert_array_equal(whole.across, square.across)  # nothing is cut off


@pytest.mark.claims("neighbors-10")
def test_voronoi_cells_are_where_their_sample_is_nearest_and_the_half_planes_meet(rng):
    X, x = rng.uniform(-2.5, 2.5, size=(25, 2)), rng.uniform(-3, 3, size=(2000, 2))
    nearest = np.argmin(((x[:, None] - X) ** 2).sum(axis=2), axis=1)
    squares = (X**2).sum(axis=1)
    for i in range(25):
        vertices, across = voronoi_cell(X, i, BOX)
        np.testing.assert_array_equal(inside(x, vertices), nearest == i)
        halves = 2 * (X - X[i]) @ x.T <= (squares - squares[i])[:, None]
        np.testing.assert_array_equal(halves.all(axis=0), nearest == i)
        for point, j in zip((vertices + np.roll(vertices, -1, axis=0)) / 2, across, strict=True):
            r, index = nearest_neighbors(point[None], X, 2)
            rim = np.abs(point).max() == pytest.approx(3)
            across_it = set(index[0]) == {i, j} and r[0, 0] == pytest.approx(r[0, 1], abs=1e-8)
            assert across_it if j >= 0 else rim and index[0, 0] == i


@pytest.mark.claims("neighbors-10")
def test_voronoi_cells_of_a_grid_are_its_squares():
    X = np.stack(np.meshgrid([-2, 0, 2], [-2, 0, 2]), axis=-1).reshape(-1, 2)
    corners = {tuple(v) for v in voronoi_cell(X, 4, BOX).vertices.round(12)}
    assert corners == {(-1, -1), (1, -1), (1, 1), (-1, 1)}
    np.testing.assert_array_equal(voronoi_cell(X[:1], 0, BOX).vertices, box_cell(BOX).vertices)
    assert len(voronoi_cell(X + [9, 0], 2, BOX).vertices) == 0  # beyond the box
    np.testing.assert_array_equal(
        voronoi_cell(np.vstack([X[4], X]), 5, BOX).vertices, voronoi_cell(X, 4, BOX).vertices
    )  # an equal sample cuts nothing off


@pytest.mark.claims("neighbors-11")
def test_voronoi_edges_between_classes_are_the_decision_boundary_of_one_neighbour(rng):
    X, y = rng.uniform(-2.5, 2.5, size=(30, 2)), rng.integers(2, size=30)
    segments, sites = voronoi_edges(X, BOX)
    edges = {tuple(pair) for pair in sites}
    assert (sites[:, 0] < sites[:, 1]).all() and len(edges) == len(sites) == len(segments)
    assert sum((voronoi_cell(X, i, BOX).across >= 0).sum() for i in range(30)) == 2 * len(sites)
    i, j = sites[norm(segments[:, 1] - segments[:, 0]) > 1e-3].T
    middles = segments[norm(segments[:, 1] - segments[:, 0]) > 1e-3].mean(axis=1)
    step = 1e-6 * (X[j] - X[i])  # across an edge
    before, after = (knn_classify(middles + s, X, y, 1) for s in (-step, step))
    np.testing.assert_array_equal([before, after], [y[i], y[j]])
    a = rng.uniform(-3, 3, size=(400, 2))  # any step across the boundary crosses such an edge
    pairs = np.sort([knn_classify(a + s, X, np.arange(30), 1) for s in (0, 1e-3)], axis=0).T
    changes = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
    assert {tuple(pair) for pair in changes.tolist()} <= edges


# --- The error of 1-NN -----------------------------------------------------------------

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
    x, dx = gauss_legendre(-1, 5, 6)  # uniform on [0, 2] and [1, 3]: certain but on [1, 2]
    with np.errstate(divide="ignore"):
        log_p = np.log(np.column_stack([(x > 0) & (x < 2), (x > 1) & (x < 3)]) / 2)
    assert asymptotic_error(log_p, both, dx) == pytest.approx(prior * (1 - prior), rel=1e-12)


@pytest.mark.claims("neighbors-19")
def test_cover_hart_bound_is_reached_where_the_posterior_is_constant():
    for q in (0.5, 0.7, 0.9):
        R_NN = asymptotic_error(normal_classes(0.0), np.array([q, 1 - q]), DX)
        assert R_NN == pytest.approx(2 * q * (1 - q)) == pytest.approx(cover_hart_bound(1 - q))
    rest = np.array([0.6, 0.2, 0.2])  # the other classes equal: reached for K = 3
    R_NN = asymptotic_error(np.zeros((1, 3)), rest, np.ones(1))
    assert R_NN == pytest.approx(cover_hart_bound(0.4, K=3))


@pytest.mark.claims("neighbors-20")
def test_cover_hart_bound_fails_for_finite_n_where_the_bayes_error_is_zero():
    """Two classes far apart: only a class that is missing from the sample is got wrong."""
    for n in range(1, 8):
        wrong = 0
        for labels in product((0, 1), repeat=n):
            X = 100.0 * np.array(labels)[:, None] + np.arange(n)[:, None] / n
            answer = knn_classify(np.array([[0.5], [100.5]]), X, labels, 1)
            wrong += int((answer != [0, 1]).sum())
        error = Fraction(wrong, 2 * 2**n)
        assert error == Fraction(1, 2**n) > 2 * 0  # printed: at most twice the Bayes error


# --- Many dimensions -------------------------------------------------------------------


@pytest.mark.claims("neighbors-25")
def test_noise_adds_up_over_the_dimensions_and_so_do_tails(rng):
    squares = norm(0.7 * rng.normal(size=(4000, 40))) ** 2
    assert within(squares, 40 * 0.7**2)
    assert within((squares - 40 * 0.7**2) ** 2, 2 * 40 * 0.7**4)
    for alpha, d in product((0.01, 0.05, 0.3), (1, 2, 10)):
        union = sum((-1) ** (j + 1) * comb(d, j) * alpha**j for j in range(1, d + 1))
        assert tail_probability(alpha, d) == pytest.approx(union, rel=1e-10)
    assert tail_probability(1e-20, 100) == pytest.approx(1e-18)


@pytest.mark.claims("neighbors-25")
def test_nearest_to_farthest_rises_with_the_dimensions(rng):
    ratios = []
    for d in (2, 10, 100, 1000):
        X, x = rng.normal(size=(200, d)), rng.normal(size=(50, d))
        loop = [min(norm(X - q, 1)) / max(norm(X - q, 1)) for q in x]
        np.testing.assert_allclose(nearest_to_farthest(x, X, 1), loop, rtol=1e-9)
        ratios.append(np.median(loop))
    assert ratios == sorted(ratios) and ratios[0] < 0.1 and ratios[-1] > 0.8


@pytest.mark.claims("neighbors-26", "neighbors-27")
def test_sample_ball_is_uniform_and_the_sphere_is_its_rim(rng):
    for d in (1, 2, 10):
        x = sample_ball(5000, d, rng=rng)
        r, steps = np.sort(norm(x)), np.arange(5001) / 5000
        gap = max(np.abs(steps[1:] - r**d).max(), np.abs(steps[:-1] - r**d).max())
        assert gap < 5 / sqrt(5000) / 2
        assert all(within(x[:, j], 0) for j in range(d))
    assert within(r**10 < 0.9**10, 0.9**10) and within(norm(x) < 0.9, 0.3487)
    sphere = x / norm(x)[:, None]
    assert np.mean(norm(sphere) < 0.9) == 0  # printed: "sphere", and a probability of 0.9^10


@pytest.mark.claims("neighbors-26")
def test_cube_share_is_the_volume_of_the_ball_over_that_of_its_cube(rng):
    volume = {0: 1.0, 1: 2.0}
    for d in range(2, 21):
        volume[d] = volume[d - 2] * 2 * pi / d
        assert cube_share(d) * 2**d == pytest.approx(volume[d], rel=1e-12)
        assert cube_share(d) == pytest.approx(pi ** (d / 2) / (2**d * gamma(d / 2 + 1)), rel=1e-12)
    assert cube_share(10) == pytest.approx(0.0025, abs=5e-5)
    assert within(norm(rng.uniform(-1, 1, size=(20_000, 4))) <= 1, cube_share(4))


@pytest.mark.claims("neighbors-09")
@pytest.mark.parametrize("d", [1, 3, 10])
def test_nearest_distance_falls_as_the_d_th_root_of_n(rng, d):
    n = np.array([1e2, 1e4, 1e6, 1e8])
    r = np.array([nearest_distance(m, d) for m in n])
    np.testing.assert_allclose((1 - r**d) ** n, 0.5, rtol=1e-6)
    slope = np.diff(np.log(r)) / np.diff(np.log(n))
    np.testing.assert_allclose(slope, -1 / d, rtol=0, atol=0.002)
    nearest = np.array([norm(sample_ball(100, d, rng=rng)).min() for _ in range(400)])
    assert within(nearest <= nearest_distance(100, d, 0.2), 0.2)


def test_norm_log_density_integrates_to_1_with_the_mean_square_d():
    r, dr = gauss_legendre(0, 40, 80)
    for d in (1, 2, 3, 17, 200):
        p = np.exp(norm_log_density(r, d))
        assert dr @ p == pytest.approx(1, rel=1e-9)
        assert dr @ (p * r**2) == pytest.approx(d, rel=1e-9)


# --- The estimators --------------------------------------------------------------------


@pytest.mark.parametrize("p, m", [(2, 2000), (1, 60)])
def test_kneighbors_in_blocks_are_those_of_the_sort_and_memory_is_bounded(rng, p, m):
    X, x = (rng.integers(0, 40, size=(n, 3)) * 1.0 for n in (40_000, m))
    model = KNeighborsRegressor(9, p=p).fit(X, X[:, 0])
    tracemalloc.start()
    r, index = model.kneighbors(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6 < 8 * 2000 * 40_000 / 10
    for i in (0, 25, 26, 59):  # on both sides of a rim
        D = (np.abs(x[i] - X) ** p).sum(axis=1)  # whole numbers
        np.testing.assert_array_equal(index[i], np.argsort(D, kind="stable")[:9])
        np.testing.assert_array_equal(r[i], np.sort(D)[:9] ** (1 / p))


@pytest.mark.claims("neighbors-04")
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classifier_is_the_weighted_vote_loop(rng, weights):
    T, order = load_iris(), rng.permutation(150)
    X, y, x = T.X[order[:100]], T.y[order[:100]], T.X[order[100:]] + 1e-3 * rng.normal(size=(50, 4))
    model = KNeighborsClassifier(n_neighbors=7, weights=weights).fit(X, y)
    r, index = by_sorting(x, X, 7)
    w = np.ones_like(r) if weights == "uniform" else 1 / r
    shares = [[sum(w[i][y[index[i]] == c]) for c in model.classes_] for i in range(50)]
    shares = np.array(shares) / w.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(x), shares, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(x), model.classes_[shares.argmax(axis=1)])
    assert model.score(x, T.y[order[100:]]) > 0.9


@pytest.mark.claims("neighbors-03")
@pytest.mark.parametrize(
    "metric, p", [("minkowski", 3), ("euclidean", 2), ("manhattan", 1), ("chebyshev", np.inf)]
)
def test_regressor_is_the_weighted_average(rng, metric, p):
    X, y, x = rng.normal(size=(50, 2)), rng.normal(size=50), rng.normal(size=(20, 2))
    r, index = by_sorting(x, X, 4, p)
    plain = KNeighborsRegressor(4, metric=metric, p=3).fit(X, y)
    np.testing.assert_allclose(plain.predict(x), y[index].mean(axis=1), rtol=1e-9)
    near = KNeighborsRegressor(4, metric=metric, p=3, weights="distance").fit(X, y)
    expected = (y[index] / r).sum(axis=1) / (1 / r).sum(axis=1)
    np.testing.assert_allclose(near.predict(x), expected, rtol=1e-9)
    np.testing.assert_array_equal(near.predict(X), y)


def test_kneighbors_of_the_samples_leaves_each_out(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = KNeighborsClassifier(3).fit(X, y)
    for ours, whole in zip(model.kneighbors(), model.kneighbors(X, n_neighbors=4), strict=True):
        np.testing.assert_array_equal(ours, whole[:, 1:])
    assert model.kneighbors(n_neighbors=19, return_distance=False).shape == (20, 19)
    for X_new, k, n in ((None, 20, 19), (X, 21, 20)):
        message = f"n_neighbors must be at most the {n} samples to choose from; got {k}"
        with pytest.raises(ValueError, match=message):
            model.kneighbors(X_new, n_neighbors=k)


@pytest.mark.parametrize("estimator", [KNeighborsClassifier, KNeighborsRegressor])
def test_too_many_neighbors_and_distances_that_are_none_are_refused(estimator):
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="at most the 4 samples to choose from; got 5"):
        estimator(5).fit(X, y)
    with pytest.raises(ValueError, match="a distance must be a number >= 0; got nan"):
        estimator(2, metric=lambda a, b: np.nan).fit(X, y).predict(X)


@pytest.mark.skipif("MLNOTES_DATA" not in os.environ, reason="MLNOTES_DATA does not name a folder")
def test_one_neighbour_errs_on_309_of_the_digits_of_mnist():
    """Grey levels are whole numbers, 0 to 255: distances are exact, and equal ones are equal."""
    train, test = load_mnist(os.path.join(os.environ["MLNOTES_DATA"], "mnist"))
    model = KNeighborsClassifier(1).fit(np.rint(255 * train.X), train.y)
    assert np.count_nonzero(model.predict(np.rint(255 * test.X)) != test.y) == 309


@pytest.mark.claims("neighbors-21")
def test_the_feature_of_largest_range_decides_alone_unless_standardised(rng):
    X, x = rng.normal(size=(100, 3)), rng.normal(size=(60, 3))
    alone = nearest_neighbors(x[:, :1], X[:, :1], 5).index
    shares, standardised = [], []
    for units in ([1.0, 1.0, 1.0], [2.0**12, 2.0**-7, 1.0]):  # powers of 2: nothing is rounded
        A, a = units * X, units * x
        index = nearest_neighbors(a, A, 5).index
        shares.append(np.mean([len({*i} & {*j}) / 5 for i, j in zip(index, alone, strict=True)]))
        mean, spread = A.mean(axis=0), A.std(axis=0)
        standardised.append(nearest_neighbors((a - mean) / spread, (A - mean) / spread, 5).index)
    assert shares[0] < 0.5 and shares[1] > 0.95
    np.testing.assert_array_equal(*standardised)


@pytest.mark.claims("neighbors-23")
def test_fit_stores_the_samples_and_a_query_costs_n_distances(rng):
    calls = []

    def counting(a, b):
        calls.append(1)
        return np.abs(a - b).sum()

    X, x, y = rng.normal(size=(30, 3)), rng.normal(size=(9, 3)), rng.integers(2, size=30)
    model = KNeighborsClassifier(metric=counting).fit(X, y)
    assert not calls
    np.testing.assert_array_equal(model.samples_, X)
    np.testing.assert_array_equal(model.classes_[model.targets_], y)
    lazy = knn_classify(x, X, y, 5, p=1)
    X[:], y[:] = 0, 1  # the model keeps a copy ...
    np.testing.assert_array_equal(model.predict(x), lazy)
    assert len(calls) == 9 * 30
    model.samples_[:] = 0  # ... without which it knows nothing; an eager learner would
    assert len(set(model.predict(x))) == 1 < len(set(lazy))


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("neighbors-07")
def test_circles_drawn_hold_k_samples_that_answer_differently():
    from figures.neighbors import KS, around_the_query, neighborhoods

    left, right = panels(neighborhoods, 1, 2)
    X, y = around_the_query()
    r = np.sort(norm(X))
    counts = [Counter(y[norm(X) <= r[k - 1]]).most_common(1)[0][0] for k in KS]
    assert counts == ["a", "b", "a"]
    written = [f"$k={k}$: {answer}" for k, answer in zip(KS, counts, strict=True)]
    assert [text.get_text() for text in left.texts] == written
    lines = [line.get_xydata() for line in left.lines]
    radii = [norm(line) for line in lines if len(line) > 100]
    np.testing.assert_allclose([[a.min(), a.max()] for a in radii], [[r[k - 1]] * 2 for k in KS])
    assert any(np.array_equal(line, [[0, 0], X[norm(X).argmin()]]) for line in lines)
    drawn = [sorted(line.get_xydata().tolist()) for line in right.lines]
    for points in ([[1, 1], [1, 4], [3, 3], [4, 5], [5, 2]], [[3, 3], [4, 5], [5, 2]]):
        assert points in drawn
    assert [[4, 10 / 3]] in drawn


@pytest.mark.claims("neighbors-12")
def test_edges_drawn_are_equidistant_and_bold_between_classes():
    from figures.neighbors import labelled_sites, voronoi_diagram

    (ax,) = panels(voronoi_diagram)
    X, y = labelled_sites()
    edges = [line for line in ax.lines if line.get_marker() == "None"]
    thin, bold = sorted({line.get_linewidth() for line in edges})
    assert len(edges) > 50
    for line in edges:
        a, b = line.get_xydata()
        r, index = nearest_neighbors(a + np.array([[0.1], [0.5], [0.9]]) * (b - a), X, 2)
        np.testing.assert_allclose(r[:, 0], r[:, 1], rtol=0, atol=1e-8)
        differ = len(set(y[index[1]])) == 2
        assert line.get_linewidth() == (bold if differ else thin)


@pytest.mark.claims("neighbors-17")
def test_maps_drawn_are_the_predictions_and_titles_their_errors():
    from figures.neighbors import ASKED, decision_maps, noisy_moons

    axes = panels(decision_maps, 2, 2)
    (X, y), (X_new, y_new) = noisy_moons()
    x = X_new[((X_new > X.min(axis=0)) & (X_new < X.max(axis=0))).all(axis=1)][:300]
    for ax, k in zip(axes, ASKED, strict=True):
        train, test = (np.mean(knn_classify(Z, X, y, k) != t) for Z, t in ((X, y), (X_new, y_new)))
        assert ax.get_title() == f"$k = {k}$: train {train:.2f}, test {test:.2f}"
        for fill in (c for c in ax.collections if c.get_fill()):
            red, _, blue = fill.get_facecolor()[0][:3]
            drawn = fill.get_paths()[0].contains_points(x)
            agree = drawn == (knn_classify(x, X, y, k) == (1 if blue > red else -1))
            assert agree.mean() > 0.95  # but for the width of a pixel
    assert axes[0].get_title().startswith("$k = 1$: train 0.00")


def test_three_wines_lie_among_another_variety_before_whitening_and_none_after():
    from figures.neighbors import whitened

    for ax, wrong in zip(panels(whitened, 1, 2), (3, 0), strict=True):
        groups = [np.column_stack(line.get_data()) for line in ax.lines]
        assert [len(group) for group in groups] == [59, 71, 48]
        X, y = np.vstack(groups), np.repeat([1, 2, 3], [59, 71, 48])
        votes = y[other_neighbors(nearest_neighbors(X, X, 6)).index]
        assert np.sum((y == 2) & (np.sum(votes == 1, axis=1) > 2)) == wrong


@pytest.mark.claims("neighbors-28")
def test_mass_drawn_is_near_the_mean_in_one_dimension_and_away_from_it_in_many():
    from figures.neighbors import DIMENSIONS, where_the_mass_is

    left, right = panels(where_the_mass_is, 1, 2)
    (shaded,) = left.collections
    assert abs(area(shaded.get_paths()[0].vertices)) == pytest.approx(erf(1 / sqrt(2)), abs=1e-3)
    curves = [line.get_data() for line in right.lines if len(line.get_xdata()) > 2]
    ticks = [line.get_xdata() for line in right.lines if len(line.get_xdata()) == 2]
    for d, (r, p), tick in zip(DIMENSIONS, curves, ticks, strict=True):
        chi = r ** (d - 1) * np.exp(-(r**2) / 2) / (2 ** (d / 2 - 1) * gamma(d / 2))
        np.testing.assert_allclose(p, chi, rtol=1e-9, atol=1e-300)
        assert tick[0] == pytest.approx(sqrt(d - 1)) == pytest.approx(r[p.argmax()], abs=0.01)
