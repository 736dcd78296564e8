"""The clustering chapter: every statement of the notes, checked by a second route."""

from itertools import combinations, groupby, pairwise, permutations, product
from math import ceil, factorial, log2

import numpy as np
import pytest

from mlnotes.base import ConvergenceWarning
from mlnotes.clustering import (
    LINKAGES,
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    SpectralClustering,
    adjusted_rand_index,
    best_partition,
    build,
    cluster_means,
    cut_dendrogram,
    decode_codes,
    dissimilarities,
    distortion,
    euclidean,
    gower,
    graph_laplacian,
    k_medians,
    k_medoids,
    kmeans_plus_plus,
    linkage,
    lloyd,
    lowest_eigenvectors,
    mahalanobis,
    manhattan,
    nearest,
    nearest_l1,
    nearest_pair,
    one_hot_labels,
    pair_covariance,
    partitions,
    rbf_affinity,
    scatter,
    silhouette,
    spectral_embedding,
    storage,
    whiten,
)
from mlnotes.datasets import make_blobs, make_rings
from mlnotes.numerics import squared_distances
from mlnotes.probability import multivariate_normal_log_density

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])  # of a 4 x 1 rectangle


def three_blobs(rng, n=60):
    """Three overlapping groups of n / 3 in the plane."""
    return make_blobs([n // 3] * 3, [[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]], rng=rng).X


def same_grouping(a, b):
    """Whether two labellings differ in the names of their clusters only."""
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a[:, None] == a, b[:, None] == b)


def last(states):
    *_, state = states
    return state


def least_loss(X, centers):
    return sum(min(sum((x - mu) ** 2) for mu in centers) for x in X)


# --- Dissimilarity ---------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1, 1e-160])
def test_dissimilarities_are_refused_unless_rounding_alone_spoils_them(scale):
    for pairs, rule in (
        ([[0, -1], [-1, 0]], "D must be >= 0; got -1"),
        ([[0, 1], [1, 0.5]], "D must be 0 on the diagonal; got "),
        ([[0, 1], [2, 0]], "D must be symmetric; it differs from its transpose by 1"),
    ):
        D = scale * np.array(pairs)
        for use, *given in ((dissimilarities,), (silhouette, [0, 1]), (linkage, "ward")):
            with pytest.raises(ValueError, match=rule):
                use(D, *given)
    nearly = scale * np.array([[1e-8, -1e-14, 1], [-1e-14, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(dissimilarities(nearly), nearly)


@pytest.mark.claims("clustering-02")
@pytest.mark.parametrize("metric, order", [(euclidean, 2), (manhattan, 1)])
def test_euclidean_and_manhattan_are_those_of_a_loop_and_metrics(rng, metric, order):
    X, Y = 3 * rng.normal(size=(25, 3)) + 7, rng.normal(size=(20, 3))
    X[5] = X[9]
    for Z in (Y, X):
        by_pairs = [[sum(abs(x - z) ** order) ** (1 / order) for z in Z] for x in X]
        np.testing.assert_allclose(metric(X, Z), by_pairs, rtol=1e-10)
    D = metric(X)
    np.testing.assert_array_equal(D, D.T)
    assert D[5, 9] == 0 and np.count_nonzero(D == 0) == 27
    assert (D[:, None, :] <= D[:, :, None] + D[None] + 1e-12).all()  # the triangle inequality


@pytest.mark.claims("clustering-03")
def test_gower_is_the_mean_of_three_kinds_of_difference(rng):
    kinds = "categorical", "ordinal", "quantitative", "quantitative"
    columns = rng.integers(4, size=30), rng.integers(5, size=30), rng.normal(size=30), np.ones(30)
    X = np.column_stack(columns)
    D, ranks = gower(X, kinds), np.searchsorted(np.unique(X[:, 1]), X[:, 1])
    for i, k in product(range(30), repeat=2):
        mismatch = float(X[i, 0] != X[k, 0])
        steps = abs(ranks[i] - ranks[k]) / (len(set(X[:, 1])) - 1)
        share = abs(X[i, 2] - X[k, 2]) / (X[:, 2].max() - X[:, 2].min())
        assert D[i, k] == pytest.approx((mismatch + steps + share + 0) / 4, abs=1e-12)
    names = np.array([7.0, -1.0, 0.5, 3.0])[X[:, 0].astype(int)]
    renamed = np.column_stack([names, np.exp(X[:, 1]), -4 * X[:, 2] + 16, X[:, 3]])
    np.testing.assert_allclose(gower(renamed, kinds), D, rtol=0, atol=1e-12)


@pytest.mark.claims("clustering-04", "clustering-06")
def test_lloyd_survives_rotation_reflection_translation_and_one_scale_for_all_features(rng):
    X = three_blobs(rng)
    Q, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    mirrored = Q * [1, -1]
    assert np.linalg.det(Q) == pytest.approx(-np.linalg.det(mirrored))
    for A, t, c in ((Q, 0, 1), (mirrored, 0, 1), (np.eye(2), [30.0, -5.0], 1), (7 * Q, 3.0, 7)):
        Z = X @ A.T + t
        np.testing.assert_allclose(euclidean(Z), c * euclidean(X), rtol=0, atol=1e-9)
        for a, b in zip(lloyd(X, X[[0, 25, 50]]), lloyd(Z, Z[[0, 25, 50]]), strict=True):
            np.testing.assert_array_equal(a.labels, b.labels)
            assert b.objective == pytest.approx(c**2 * a.objective, rel=1e-10)
    Z = X * [1.0, 7.0]  # what "scaling" must mean
    assert not np.array_equal(last(lloyd(Z, Z[[0, 25, 50]])).labels, a.labels)
    assert np.abs(manhattan(X @ Q.T) - manhattan(X)).max() > 0.1  # L1 does not survive a rotation


@pytest.mark.claims("clustering-05")
def test_best_partition_depends_on_the_scale_of_single_features_unless_standardised(rng):
    X = np.column_stack([np.repeat([0.0, 3.0], 5), np.tile([0.0, 1.0, 0.2, 0.9, 0.4], 2)])
    X += 0.1 * rng.normal(size=X.shape)  # two groups by the first feature
    assert same_grouping(best_partition(X, 2), np.repeat([0, 1], 5))
    stretched = best_partition(X * [1.0, 50.0], 2)
    assert not same_grouping(stretched, np.repeat([0, 1], 5))
    assert same_grouping(stretched, best_partition(X[:, 1:], 2))
    for scales in product([1e-3, 1.0, 1e6], repeat=2):
        Z = X * scales
        Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
        assert same_grouping(best_partition(Z, 2), np.repeat([0, 1], 5))


def test_pair_covariance_of_like_pairs_is_that_within_the_classes(rng):
    X = rng.normal(size=(100, 2)) @ [[2.0, 1.5], [0.0, 0.4]]
    everyone, groups = list(combinations(range(100), 2)), np.repeat([0, 1], 50)
    np.testing.assert_allclose(pair_covariance(X, everyone), np.cov(X.T), rtol=1e-10)
    like = [(i, k) for i, k in everyone if groups[i] == groups[k]]
    apart = pair_covariance(X + 50 * groups[:, None], like)  # what tells groups apart is not seen
    np.testing.assert_allclose(apart, pair_covariance(X, like), rtol=0, atol=1e-9)


def test_mahalanobis_is_euclidean_after_whitening(rng):
    X, Y, C = rng.normal(size=(20, 3)), rng.normal(size=(15, 3)), rng.normal(size=(3, 3))
    by_inverse = [[(x - y) @ np.linalg.inv(C @ C.T) @ (x - y) for y in Y] for x in X]
    np.testing.assert_allclose(mahalanobis(X, Y, C @ C.T) ** 2, by_inverse, rtol=1e-8)
    np.testing.assert_allclose(np.cov(whiten(X, np.cov(X.T)).T), np.eye(3), rtol=0, atol=1e-10)
    with pytest.raises(ValueError, match="Sigma must be symmetric"):
        whiten(X, C @ C.T + np.triu(C, 1))


# --- The loss --------------------------------------------------------------------------


@pytest.mark.claims("clustering-01")
@pytest.mark.parametrize("n, d, K", [(50, 3, 4), (4, 7, 2), (6, 2, 6)])
def test_scatter_total_is_within_plus_between_for_any_labels(rng, n, d, K):
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, size=d) + 100
    labels = rng.permutation(np.arange(n) % K)
    m, mu = X.mean(axis=0), np.array([X[labels == k].mean(axis=0) for k in range(K)])
    total = sum(np.outer(x - m, x - m) for x in X)
    within = sum(np.outer(x - mu[c], x - mu[c]) for x, c in zip(X, labels, strict=True))
    between = sum(np.sum(labels == k) * np.outer(mu[k] - m, mu[k] - m) for k in range(K))
    for named in (labels, np.array(list("xwzvyu"))[labels]):
        S = scatter(X, named)
        for matrix, by_hand in zip(S, (total, within, between), strict=True):
            np.testing.assert_allclose(matrix, by_hand, rtol=0, atol=1e-9)
        np.testing.assert_allclose(S.total, S.within + S.between, rtol=0, atol=1e-9)
    assert np.trace(S.total) == pytest.approx(np.sum((X - m) ** 2), rel=1e-9)
    assert np.trace(S.within) == pytest.approx(distortion(X, mu, labels), rel=1e-9, abs=1e-9)


@pytest.mark.claims("clustering-01")
def test_scatter_between_is_that_of_samples_replaced_by_few_centers(rng):
    X = three_blobs(rng)
    state = last(lloyd(X, X[[0, 25, 50]]))
    S, replaced = scatter(X, state.labels), state.centers[state.labels]
    assert len(np.unique(replaced, axis=0)) == 3 < len(np.unique(X, axis=0))
    spread = np.sum((replaced - replaced.mean(axis=0)) ** 2)
    assert np.trace(S.total) > spread == pytest.approx(np.trace(S.between), rel=1e-9)
    D, together = euclidean(X), state.labels[:, None] == state.labels
    assert D[together].mean() < D[~together].mean()  # more alike within than across


@pytest.mark.claims("clustering-07")
def test_distortion_has_four_equal_forms(rng):
    X, mu = rng.normal(size=(30, 3)), rng.normal(size=(4, 3))
    labels, squares = nearest(X, mu)
    R, J = one_hot_labels(labels, 4), distortion(X, mu, labels)
    assert set(R.ravel()) == {0.0, 1.0} and (R.sum(axis=1) == 1).all()
    loop = sum(R[i, k] * sum((X[i] - mu[k]) ** 2) for i in range(30) for k in range(4))
    for form in (loop, np.linalg.norm(X - R @ mu) ** 2, least_loss(X, mu), squares.sum()):
        assert J == pytest.approx(form, rel=1e-10)
    other = rng.permutation(labels)
    assert J < distortion(X, mu, other) == pytest.approx(np.sum((X - mu[other]) ** 2), rel=1e-10)


@pytest.mark.claims("clustering-08")
def test_distortion_is_not_the_printed_cost_of_one_center(rng):
    mu = np.array([[0.0, 0.0], [9.0, 3.0]])
    X = make_blobs([20, 20], mu, rng=rng).X
    labels, m = np.repeat([0, 1], 20), X.mean(axis=0)
    J = least_loss(X, mu)
    assert distortion(X, mu, nearest(X, mu)[0]) == pytest.approx(J)
    printed = [distortion(X, mu, np.full(40, j)) for j in (0, 1)]
    assert min(printed) > 10 * J  # whichever j is meant, its minimum is missing
    assert distortion(X, m[None], 0 * labels) > 10 * J  # the best single center is no remedy


@pytest.mark.claims("clustering-10")
def test_nearest_and_cluster_means_are_exact_minimisers(rng):
    X, mu = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    every = np.array(list(product(range(3), repeat=6)))
    J = [distortion(X, mu, c) for c in every]
    np.testing.assert_array_equal(every[np.argmin(J)], nearest(X, mu)[0])
    assert min(J) == pytest.approx(nearest(X, mu)[1].sum(), rel=1e-12)
    labels = np.array([0, 0, 1, 2, 2, 2])
    means, R = cluster_means(X, labels, 3), one_hot_labels(labels, 3)
    np.testing.assert_allclose(R.T @ X - R.sum(axis=0)[:, None] * means, 0, rtol=0, atol=1e-12)
    for k, n_k in enumerate([2, 1, 3]):
        delta, moved = rng.normal(size=2), means.copy()
        moved[k] += delta
        rise = distortion(X, moved, labels) - distortion(X, means, labels)
        assert rise == pytest.approx(n_k * delta @ delta, rel=1e-9)


# --- The exact optimum -----------------------------------------------------------------


@pytest.mark.parametrize("n, K", [(1, 1), (5, 5), (7, 3)])
def test_partitions_are_all_different_and_all_there(n, K):
    P = partitions(n, K)
    wanted = {c for c in product(range(K), repeat=n) if len(set(c)) == K}
    groups = {frozenset(frozenset(np.flatnonzero(p == k)) for k in range(K)) for p in P}
    assert len(groups) == len(P) == len(wanted) / factorial(K)
    assert {tuple(p) for p in P} <= wanted


@pytest.mark.parametrize("K", [1, 3, 7])
def test_best_partition_beats_every_assignment(rng, K):
    X = np.round(rng.normal(size=(7, 2)) * 2**10) / 2**10
    best = best_partition(X, K)
    J = distortion(X, cluster_means(X, best, K), best)
    for c in map(np.array, product(range(K), repeat=7) if K < 7 else permutations(range(7))):
        if len(set(c)) == K:
            assert distortion(X, cluster_means(X, c, K), c) >= J - 1e-12
    np.testing.assert_array_equal(best_partition(X + 2.0**40, K), best)


# --- K-means ---------------------------------------------------------------------------


@pytest.mark.claims("clustering-09")
def test_nearest_cuts_space_into_convex_cells(rng):
    mu, points = rng.normal(size=(5, 3)), 3 * rng.normal(size=(400, 3))
    labels, squares = nearest(points, mu)
    D = np.sum((points[:, None] - mu) ** 2, axis=2)
    np.testing.assert_array_equal(labels, D.argmin(axis=1))
    np.testing.assert_allclose(squares, D.min(axis=1), rtol=1e-12)
    level = (np.sum(mu**2, axis=1)[:, None] - np.sum(mu**2, axis=1)) / 2
    inside = np.einsum("nd,kld->nkl", points, mu[:, None] - mu) >= level
    np.testing.assert_array_equal(inside.all(axis=2), one_hot_labels(labels, 5))  # half-spaces
    far, _ = nearest(points + 1e8, mu + 1e8)
    assert (labels != far).mean() < 0.01  # where each number is rounded to 1e-8
    for k in range(5):
        cell = points[labels == k]
        middles = (cell[:, None] + cell).reshape(-1, 3) / 2
        assert len(cell) > 1 and (nearest(middles, mu)[0] == k).all()
    for near in (nearest, nearest_l1):  # a tie goes to the first center
        assert near(np.zeros((1, 1)), np.array([[1.0], [-1.0]]))[0] == 0


@pytest.mark.claims("clustering-02", "clustering-11", "clustering-21")
@pytest.mark.parametrize("run, metric, center", [
    (lloyd, squared_distances, np.mean), (k_medians, manhattan, np.median)
])  # fmt: skip
def test_lloyd_and_k_medians_lower_their_loss_with_either_half_step(rng, run, metric, center):
    X = three_blobs(rng, n=300)
    states = list(run(X, X[:5]))
    assert len(states) > 4 and states[0].moved == np.inf
    np.testing.assert_array_equal(states[0].centers, X[:5])
    for before, after in pairwise(states):
        centers = [center(X[before.labels == k], axis=0) for k in range(5)]
        np.testing.assert_allclose(after.centers, centers, rtol=1e-12)
        step = np.sum((after.centers - before.centers) ** 2)
        assert after.moved == pytest.approx(step, rel=1e-9, abs=1e-18)
        D = metric(X, after.centers)
        np.testing.assert_array_equal(after.labels, D.argmin(axis=1))
        assert after.objective == pytest.approx(D.min(axis=1).sum(), rel=1e-12)
        halfway = D[np.arange(len(X)), before.labels].sum()
        assert after.objective <= halfway + 1e-9 and halfway <= before.objective + 1e-9
    np.testing.assert_allclose(states[-1].centers, states[-2].centers, rtol=0, atol=1e-12)
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 5, 60)] * 2), axis=-1).reshape(-1, 2)
    members = X[states[-1].labels == 0]
    best = metric(members, states[-1].centers[:1]).sum()
    assert best <= metric(members, grid).sum(axis=0).min() + 1e-9


@pytest.mark.claims("clustering-12")
def test_lloyd_terminates_without_seeing_an_assignment_twice(rng):
    steps = []
    for _ in range(100):
        X = rng.normal(size=(9, 2))
        states = list(lloyd(X, X[rng.choice(9, 3, replace=False)]))
        J = np.array([state.objective for state in states])
        assert (np.diff(J)[:-1] < 0).all() and J[-1] == pytest.approx(J[-2], rel=1e-12)
        path = [labels for labels, _ in groupby(tuple(state.labels) for state in states)]
        assert len(set(path)) == len(path)
        steps.append(len(path))
    assert 1 < max(steps) <= len(partitions(9, 3)) == 3025
    for _ in range(300):  # equal samples, ties, and centers that rounding moves for ever
        X = rng.integers(4, size=(10, 2)) / 10
        states = list(lloyd(X, X[rng.integers(10, size=4)]))
        assert len(states) < 20 and states[-1].moved < 1e-30


@pytest.mark.claims("clustering-13")
def test_lloyd_may_end_at_a_fixed_point_that_is_no_optimum():
    long_side, short_side = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    start, end = lloyd(CORNERS, cluster_means(CORNERS, long_side, 2))
    assert end.moved == 0 and start.objective == end.objective == 16
    np.testing.assert_array_equal(end.labels, long_side)
    J = {tuple(c): distortion(CORNERS, cluster_means(CORNERS, c, 2), c) for c in partitions(4, 2)}
    assert min(J.values()) == J[tuple(short_side)] == 1
    np.testing.assert_array_equal(best_partition(CORNERS, 2), short_side)


@pytest.mark.claims("clustering-15")
def test_lloyd_leaves_an_empty_cluster_its_center(rng):
    X = three_blobs(rng)
    start = np.vstack([X[:2], [[1e6, 1e6], [-1e6, 0.0]]])
    for run in (lloyd, k_medians):
        states = list(run(X, start))
        J = np.array([state.objective for state in states])
        assert np.isfinite(J).all() and (np.diff(J) <= 1e-12).all() and J[-1] < J[0]
        assert np.bincount(states[-1].labels, minlength=4)[2:].tolist() == [0, 0]
        assert all((state.centers[2:] == start[2:]).all() for state in states)
        found, alone = states[-1].centers[:2], last(run(X, start[:2])).centers
        np.testing.assert_allclose(found, alone, rtol=1e-12)


@pytest.mark.parametrize("trials", [1, 2])
def test_kmeans_plus_plus_draws_by_squared_distance_and_keeps_the_best_trial(rng, trials):
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    pairs = np.array([kmeans_plus_plus(X, 2, rng, trials).ravel() for _ in range(4000)])
    np.testing.assert_allclose((pairs[:, 0] == X).mean(axis=1), 1 / 4, rtol=0, atol=0.04)
    for x in X:
        share = (X - x).ravel() ** 2 / np.sum((X - x) ** 2)
        after = np.minimum((X - x) ** 2, (X - X.T) ** 2).sum(axis=0)
        wins = after[:, None] < after  # twice the same, or better than the other
        expected = share if trials == 1 else share * (share + 2 * wins @ share)
        found = (pairs[pairs[:, 0] == x, 1] == X).mean(axis=1)
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.06)
    third = [set(kmeans_plus_plus(X[:3], 3, rng).ravel()) for _ in range(50)]
    assert third == 50 * [{0.0, 1.0, 3.0}]  # D(x) is the distance to the nearest of all before
    assert len(kmeans_plus_plus(np.ones((4, 2)), 3, rng)) == 3  # no sample is left at a distance


# --- Vector quantisation ---------------------------------------------------------------


@pytest.mark.claims("clustering-17")
def test_decode_codes_distorts_by_the_loss_and_is_a_right_inverse(rng):
    X = three_blobs(rng)
    state = last(lloyd(X, X[::12]))
    codes, _ = nearest(X, state.centers)
    np.testing.assert_array_equal(codes, state.labels)
    restored = decode_codes(codes, state.centers)
    assert np.sum((X - restored) ** 2) == pytest.approx(state.objective, rel=1e-10)
    assert len(np.unique(restored, axis=0)) <= 5
    every = np.array([4, 0, 3, 1, 2])
    again = nearest(decode_codes(every, state.centers), state.centers)[0]
    np.testing.assert_array_equal(again, every)
    assert np.sum((X - decode_codes((codes + 1) % 5, state.centers)) ** 2) > state.objective


@pytest.mark.claims("clustering-17")
@pytest.mark.parametrize("K", [1, 256, 257])
def test_storage_counts_bits(K):
    coded, plain = storage(1000, 3, K, bits=8)
    assert coded == 1000 * ceil(log2(K)) + K * 3 * 8 and plain == 1000 * 3 * 8
    words = {np.binary_repr(code, width=ceil(log2(K))) for code in range(K)}
    assert len(words) == K and (K == 1 or {len(word) for word in words} == {ceil(log2(K))})


# --- Another loss (robust) -------------------------------------------------------------


@pytest.mark.claims("clustering-19")
def test_nearest_flips_where_a_responsibility_hardly_changes():
    mu, sigma = np.array([[0.0, 0.0], [6.0, 8.0]]), 2.0
    middle, along = mu.mean(axis=0), (mu[1] - mu[0]) / 10  # a unit vector
    slope = np.linalg.norm(mu[1] - mu[0]) / (4 * sigma**2)

    def share(x):
        log_p = [multivariate_normal_log_density(x, m, sigma**2 * np.eye(2)) for m in mu]
        return 1 / (1 + np.exp(log_p[0] - log_p[1]))  # of two components of equal weight

    near = middle + np.array([[-1e-6], [1e-6]]) * along
    np.testing.assert_array_equal(nearest(near, mu)[0], [0, 1])
    np.testing.assert_allclose(np.diff(share(near)), slope * 2e-6, rtol=1e-6)
    far = middle + np.linspace(-5, 5, 2001)[:, None] * along
    assert (np.abs(np.diff(share(far))) <= slope * 0.005 * (1 + 1e-9)).all()  # nowhere steeper
    assert np.abs(np.diff(nearest(far, mu)[0])).max() == 1


@pytest.mark.claims("clustering-21")
@pytest.mark.parametrize("n", [2, 5, 8])
def test_k_medians_bounds_what_an_outlier_moves_and_lloyd_does_not(rng, n):
    clean, direction = rng.normal(size=(n, 3)), np.array([2.0, -1.0, 2.0]) / 3
    for R in (1e1, 1e3, 1e6):
        X = np.vstack([clean, clean[0] + R * direction])
        shift = last(lloyd(X, X[:1])).centers[0] - np.vstack([clean, clean[:1]]).mean(axis=0)
        np.testing.assert_allclose(shift, R / (n + 1) * direction, rtol=1e-9, atol=1e-9)
        median = last(k_medians(X, X[:1])).centers[0]
        assert (clean.min(axis=0) <= median).all() and (median <= clean.max(axis=0)).all()
    swamped = np.vstack([clean, clean + 1e6 * direction, [[1e6, 0.0, 0.0]]])
    assert np.abs(last(k_medians(swamped, clean[:1])).centers).max() > 1e5  # more than half


@pytest.mark.claims("clustering-21")
@pytest.mark.parametrize("K", [1, 3, 8])
def test_k_medoids_makes_the_best_swap_until_none_helps(rng, K):
    D = manhattan(rng.normal(size=(8, 2))) ** 0.7  # no metric that any mean would minimise

    def total(medoids):
        return D[:, list(medoids)].min(axis=1).sum()

    def after_swaps(medoids):
        swaps = product(range(K), range(8))
        return [total([*medoids[:k], j, *medoids[k + 1 :]]) for k, j in swaps]

    best = min(map(total, combinations(range(8), K)))
    assert last(k_medoids(D, build(D, K))).objective == pytest.approx(best, rel=1e-12)
    ends = []
    for start in combinations(range(8), K):
        states = list(k_medoids(D, np.array(start)))
        assert states[0].gain == np.inf and states[0].objective == pytest.approx(total(start))
        for before, after in pairwise(states):
            assert after.objective == pytest.approx(min(after_swaps(before.medoids)), rel=1e-12)
            fall = before.objective - after.objective
            assert after.gain == pytest.approx(fall, rel=1e-9, abs=1e-12)
            np.testing.assert_array_equal(after.labels, D[:, after.medoids].argmin(axis=1))
        ends.append(states[-1].objective)
        assert min(after_swaps(states[-1].medoids)) >= ends[-1] - 1e-12
        assert len(set(states[-1].medoids)) == K
    assert min(ends) == pytest.approx(best, rel=1e-12)


def test_build_takes_the_best_next_medoid_every_time(rng):
    D, chosen = euclidean(rng.normal(size=(20, 3))), []
    for medoid in build(D, 6):
        losses = [D[:, [*chosen, j]].min(axis=1).sum() for j in range(20)]
        assert medoid not in chosen and losses[medoid] == pytest.approx(min(losses), rel=1e-12)
        chosen.append(medoid)
    assert sorted(build(np.zeros((4, 4)), 4)) == [0, 1, 2, 3]


# --- Another K (hierarchical) ----------------------------------------------------------


def squares(A):
    return np.sum((A - A.mean(axis=0)) ** 2)


BETWEEN = {  # two clusters of samples, by definition
    "single": lambda A, B: euclidean(A, B).min(),
    "complete": lambda A, B: euclidean(A, B).max(),
    "average": lambda A, B: euclidean(A, B).mean(),
    "ward": lambda A, B: np.sqrt(2 * (squares(np.vstack([A, B])) - squares(A) - squares(B))),
}


def members(merges):
    """The samples of every cluster of a hierarchy, the single ones first."""
    groups = [[i] for i in range(len(merges) + 1)]
    for a, b in merges[:, :2].astype(int):
        groups.append(sorted(groups[a] + groups[b]))
    return groups


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("data", ["tight", "grid", "line"])
def test_linkage_merges_the_two_nearest_clusters(rng, method, data):
    X = {
        "tight": 1e-5 * rng.normal(size=(24, 2)) + rng.integers(3, size=(24, 1)),  # and far apart
        "grid": np.array(list(product(range(4), range(5))), dtype=float),  # ties everywhere
        "line": 1.3 ** np.arange(15)[:, None],  # each merge waits for the one before
    }[data]
    n, merges = len(X), linkage(euclidean(X), method)
    assert merges.shape == (n - 1, 4) and (np.diff(merges[:, 2]) >= -1e-12).all()
    groups, alive = members(merges), set(range(n))
    for t, (a, b, height, size) in enumerate(merges):
        between = {
            frozenset((i, k)): BETWEEN[method](X[groups[i]], X[groups[k]])
            for i, k in combinations(alive, 2)
        }
        assert height == pytest.approx(between[frozenset((a, b))], rel=1e-9)
        assert height == pytest.approx(min(between.values()), rel=1e-9)
        assert a < b and size == len(groups[n + t])
        alive = alive - {a, b} | {n + t}
    assert alive == {2 * n - 2}


@pytest.mark.parametrize("method", LINKAGES)
def test_linkage_merges_equal_samples_at_height_zero(rng, method):
    X = np.repeat(rng.normal(size=(12, 4)) + 1e6, 5, axis=0)
    merges = linkage(euclidean(X), method)
    assert (merges[:48, 2] == 0).all() and (merges[48:, 2] > 0).all()
    assert same_grouping(cut_dendrogram(merges, 12), np.repeat(np.arange(12), 5))
    assert linkage(np.zeros((1, 1)), method).shape == (0, 4)
    assert cut_dendrogram(np.zeros((0, 4)), 1) == [0]


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
def test_cut_dendrogram_is_nested_for_every_number_of_clusters(rng, method):
    merges = linkage(euclidean(three_blobs(rng)), method)
    cuts = [cut_dendrogram(merges, K) for K in range(1, 61)]
    for K, labels in enumerate(cuts, start=1):
        _, first = np.unique(labels, return_index=True)
        assert len(first) == K and (np.diff(first) > 0).all()  # numbered as they first appear
    for coarse, fine in pairwise(cuts):
        assert all(len(set(coarse[fine == k])) == 1 for k in set(fine))
    made = {tuple(group) for group in members(merges)[: 120 - 5]}
    assert {tuple(np.flatnonzero(cuts[4] == k)) for k in range(5)} <= made
    for K in (0, 61):
        with pytest.raises(ValueError, match=f"K must be from 1 to 60, .*; got {K}"):
            cut_dendrogram(merges, K)
    X = np.arange(6.0)[:, None]  # the best clusters of K-means are not: {2, 3} is in neither half
    np.testing.assert_array_equal(best_partition(X, 2), [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(best_partition(X, 3), [0, 0, 1, 1, 2, 2])


def test_nearest_pair_is_the_smallest_entry_for_any_lower_bounds(rng):
    D = euclidean(rng.normal(size=(12, 2))) + np.diag(np.full(12, np.inf))
    for slack in (0.0, 0.1, 9.0):
        least = D.min(axis=1) - slack * rng.uniform(size=12)
        before = least.copy()
        assert nearest_pair(D, least) == np.unravel_index(D.argmin(), D.shape)
        assert np.all((least == before) | (least == D.min(axis=1)))


# --- Another shape (spectral) ----------------------------------------------------------


def test_rbf_affinity_is_that_of_a_loop_without_the_samples_themselves(rng):
    X = rng.normal(size=(25, 2))
    pairs = [[np.exp(-0.7 * sum((x - y) ** 2)) for y in X] for x in X]
    np.testing.assert_allclose(rbf_affinity(X, 0.7), pairs - np.eye(25), rtol=1e-10)


def random_graph(rng, sizes):
    """Similarities of a graph with a component of each size, in random order, and these."""
    component = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    W = rng.uniform(0.1, 1, size=2 * [sum(sizes)]) * (component[:, None] == component)
    return W + W.T - np.diag(2 * W.diagonal()), component


@pytest.mark.claims("clustering-22")
def test_graph_laplacian_sums_differences(rng):
    W, _ = random_graph(rng, [7, 5])
    L = graph_laplacian(W)
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_allclose(L, np.diag(W.sum(axis=1)) - W, rtol=0, atol=1e-12)
    for f in rng.normal(size=(20, 12)):
        form = sum(W[i, k] * (f[i] - f[k]) ** 2 for i, k in product(range(12), repeat=2)) / 2
        assert f @ L @ f == pytest.approx(form, rel=1e-10)
    np.testing.assert_allclose(graph_laplacian(W + np.eye(12)), L, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="W must be symmetric"):
        graph_laplacian(np.triu(W))


@pytest.mark.claims("clustering-22")
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("sizes", [[7], [1, 5, 2], [1, 1, 1]])
def test_spectral_embedding_gives_each_component_one_row(rng, sizes, normalized):
    W, component = random_graph(rng, sizes)
    values, _ = lowest_eigenvectors(graph_laplacian(W), sum(sizes))
    assert np.sum(np.abs(values) < 1e-10) == len(sizes) and values[0] > -1e-10
    D = euclidean(spectral_embedding(W, len(sizes), normalized))
    together = component[:, None] == component
    assert D[together].max() < 1e-7 and (len(sizes) == 1 or D[~together].min() > 1e-2)


@pytest.mark.parametrize("normalized", [False, True])
def test_spectral_embedding_solves_its_eigenproblem(rng, normalized):
    W, _ = random_graph(rng, [12])
    L, g = graph_laplacian(W), W.sum(axis=1) if normalized else np.ones(12)
    F = spectral_embedding(W, 4, normalized)
    values = np.sort(np.linalg.eigvals(L / g[:, None]).real)[:4]
    np.testing.assert_allclose(L @ F, g[:, None] * F * values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(F.T @ (g[:, None] * F), np.eye(4), rtol=0, atol=1e-12)


# --- Judging groupings -----------------------------------------------------------------


def test_silhouette_is_that_of_a_loop_and_has_no_unit(rng):
    X, labels = rng.normal(size=(30, 2)), rng.integers(4, size=30)
    labels[0] = 9  # alone in its cluster
    D = manhattan(X)
    s = silhouette(D, labels)
    for i in range(1, 30):
        a = np.mean([D[i, k] for k in range(30) if labels[k] == labels[i] and k != i])
        b = min(np.mean(D[i, labels == c]) for c in set(labels) - {labels[i]})
        assert s[i] == pytest.approx((b - a) / max(a, b), rel=1e-12)
    assert s[0] == 0 and not silhouette(0 * D, labels).any()
    np.testing.assert_allclose(silhouette(1e-140 * D, labels), s, rtol=1e-12)


def rand_by_pairs(a, b):
    """The adjusted Rand index by counting pairs of samples."""
    in_a, in_b = ((c[:, None] == c)[np.triu_indices(len(c), 1)] for c in (a, b))
    expected = in_a.sum() * in_b.sum() / len(in_a)
    return ((in_a & in_b).sum() - expected) / ((in_a.sum() + in_b.sum()) / 2 - expected)


def test_adjusted_rand_index_counts_pairs(rng):
    for _ in range(20):
        a, b = rng.integers(4, size=15), rng.integers(3, size=15)
        assert adjusted_rand_index(a, b) == pytest.approx(rand_by_pairs(a, b), abs=1e-12)
        assert adjusted_rand_index(a, np.array(list("wxyz"))[a]) == 1
    for a, b in (([], []), ([0], [5]), ([0, 0, 0], [1, 1, 1]), ([0, 1, 2], [2, 1, 0])):
        assert adjusted_rand_index(a, b) == 1  # there are no pairs, or all are alike
    assert adjusted_rand_index([0, 0, 0], [1, 2, 3]) == 0
    a = np.repeat([0, 1, 2], 20)
    shuffled = [adjusted_rand_index(a, rng.permutation(a)) for _ in range(400)]
    assert abs(np.mean(shuffled)) < 4 * np.std(shuffled) / 20


# --- KMeans ----------------------------------------------------------------------------


def test_k_means_is_lloyd_with_a_tolerance_and_answers_by_the_nearest_center(rng):
    X, new = three_blobs(rng, n=900), rng.normal(size=(30, 2))
    X -= X.mean(axis=0)
    start, unit = X[:6], X.var(axis=0).mean()
    states = list(lloyd(X, start))
    for tol in (0.0, 1e-4, 0.6 * states[2].moved / unit):
        model = KMeans(6, init=start, tol=tol).fit(X)
        steps = [state.moved <= tol * unit for state in states] + [True]
        t = min(steps.index(True), len(states) - 1)
        assert model.n_iter_ == t and model.converged_
        np.testing.assert_allclose(model.cluster_centers_, states[t].centers, rtol=1e-9)
        np.testing.assert_array_equal(model.labels_, states[t].labels)
        J = [state.objective for state in states[: t + 1]]
        np.testing.assert_allclose(model.history_, J, rtol=1e-12)
        assert model.inertia_ == pytest.approx(least_loss(X, model.cluster_centers_), rel=1e-12)
    D = np.linalg.norm(new[:, None] - model.cluster_centers_, axis=2)
    np.testing.assert_allclose(model.transform(new), D, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), D.argmin(axis=1))
    assert model.score(new) == pytest.approx(-np.sum(D.min(axis=1) ** 2))


@pytest.mark.claims("clustering-13")
def test_k_means_keeps_the_best_of_its_starts(rng):
    X = three_blobs(rng, n=120)
    how = {"init": "random", "random_state": 3}
    inertia = [KMeans(8, n_init=R, **how).fit(X).inertia_ for R in range(1, 11)]
    assert (np.diff(inertia) <= 0).all() and inertia[-1] < inertia[0]
    assert KMeans(8, **how).fit(X).inertia_ == inertia[-1]  # "auto" is 10
    assert KMeans(2, init="random", random_state=0).fit(CORNERS).inertia_ == 1
    first = {KMeans(3, **how, n_init=1).fit(CORNERS[:3]).history_[0] for _ in range(9)}
    assert max(first) < 1e-24  # from three different samples
    plus = [KMeans(8, n_init=R, random_state=3).fit(X).inertia_ for R in ("auto", 1, 5)]
    assert plus[0] == plus[1] >= plus[2]


def test_k_means_of_fewer_distinct_samples_than_clusters_says_so():
    X = np.repeat([[0.1, 1.7], [5.3, 5.0], [9.0, 1.2]], 100, axis=0)  # means differ by rounding
    with pytest.warns(ConvergenceWarning, match="fewer than n_clusters = 5 distinct") as caught:
        model = KMeans(5, random_state=0).fit(X)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert model.inertia_ == pytest.approx(0, abs=1e-25) and len(set(model.labels_)) == 3


# --- KMedoids, AgglomerativeClustering, SpectralClustering -----------------------------


def test_k_medoids_estimator_answers_with_and_without_features(rng):
    X, new = rng.integers(4, size=(40, 3)), rng.normal(size=(10, 3))  # many ties
    model = KMedoids(3, metric="manhattan").fit(X)
    np.testing.assert_array_equal(X[model.medoid_indices_], model.cluster_centers_)
    D = np.abs(new[:, None] - model.cluster_centers_).sum(axis=2)
    np.testing.assert_allclose(model.transform(new), D, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), D.argmin(axis=1))
    assert model.inertia_ == pytest.approx(model.transform(X).min(axis=1).sum())
    blind = KMedoids(3, metric="precomputed").fit(manhattan(X))
    assert blind.cluster_centers_ is None
    np.testing.assert_array_equal(blind.labels_, model.labels_)
    np.testing.assert_array_equal(blind.predict(manhattan(new, X)), model.predict(new))


def test_k_medoids_estimator_goes_on_while_a_swap_gains_anything(rng):
    D = 1e-3 * manhattan(rng.normal(size=(60, 3)))
    J = [state.objective for state in k_medoids(D, build(D, 8))]
    model = KMedoids(8, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.history_, J, rtol=1e-12)
    assert model.n_iter_ > 1


@pytest.mark.parametrize("method", LINKAGES)
def test_agglomerative_clustering_is_a_cut(rng, method):
    X = three_blobs(rng)
    merges, model = linkage(euclidean(X), method), AgglomerativeClustering(4, linkage=method).fit(X)
    np.testing.assert_array_equal(model.labels_, cut_dendrogram(merges, 4))
    np.testing.assert_array_equal(model.children_, merges[:, :2])
    np.testing.assert_array_equal(model.distances_, merges[:, 2])


@pytest.mark.claims("clustering-22")
@pytest.mark.parametrize("normalized", [False, True])
def test_spectral_clustering_separates_rings_that_no_two_centers_can(normalized):
    T = make_rings(300, radii=(1.0, 3.0), noise=0.2, rng=np.random.default_rng(1))
    how = {"gamma": 5.0, "normalized": normalized, "random_state": 0}
    model = SpectralClustering(2, **how).fit(T.X)
    np.testing.assert_array_equal(model.affinity_matrix_, rbf_affinity(T.X, 5.0))
    assert adjusted_rand_index(model.labels_, T.y) == 1
    assert adjusted_rand_index(KMeans(2, n_init=10, random_state=0).fit(T.X).labels_, T.y) < 0.1
    inner, outer = T.X[T.y < 0], T.X[T.y > 0]
    angles = np.linspace(0, np.pi, 181)  # every half-plane that holds the outer ring has the inner
    for normal in np.column_stack([np.cos(angles), np.sin(angles)]):
        assert (outer @ normal).min() < (inner @ normal).min()
        assert (inner @ normal).max() < (outer @ normal).max()


def test_estimators_refuse_what_does_not_fit():
    for estimator, message in (
        (KMeans(2, init=[[0.0, 0.0]]), r"init must .* shape \(2, 2\); got \(1, 2\)"),
        (KMeans(2, init=[[0, np.nan], [1, 1]]), "must be finite"),
        (KMedoids(2, metric="precomputed"), r"precomputed X must be square; got shape \(4, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            estimator.fit(CORNERS)


# --- The lecture figures ---------------------------------------------------------------


@pytest.mark.claims("clustering-16")
def test_lloyd_figure_shows_a_run_whose_half_steps_never_raise_the_loss():
    from figures.clustering import SHOWN, half_steps, lloyd_run

    X, states = lloyd_run()
    after_e, after_m = half_steps(X, states)
    both = np.column_stack([after_e[:-1], after_m]).ravel()
    assert (np.diff(both) <= 1e-9).all() and both[-1] == pytest.approx(after_e[-1], rel=1e-12)
    for before, after, J in zip(states[:-1], states[1:], after_m, strict=True):
        assert J == pytest.approx(np.sum((X - after.centers[before.labels]) ** 2), rel=1e-12)
    start = cluster_means(X, np.arange(180) // 60, 3)  # of the three groups that were drawn
    assert len(set(nearest(states[0].centers, start)[0])) == 1  # all three start in one
    assert len(set(nearest(states[-1].centers, start)[0])) == 3 and max(SHOWN) < len(states) - 1


@pytest.mark.claims("clustering-18")
def test_segmentation_figure_finds_the_regions_at_their_number_of_colours():
    from figures.clustering import PAINTS, PALETTES, painted, photographed, quantised

    regions, error = painted(), []
    for K in PALETTES:
        image = quantised(photographed(), K)
        names = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)[1].ravel()
        assert names.max() + 1 == K and same_grouping(names, regions.ravel()) == (K == 8)
        error.append(np.sum((image - photographed()) ** 2))
    assert (np.diff(error) < 0).all()
    clean = quantised(photographed(noise=0), 8)
    np.testing.assert_allclose(clean, PAINTS[regions], rtol=0, atol=1e-12)  # J = 0


@pytest.mark.claims("clustering-23")
@pytest.mark.parametrize("data", ["stretched", "with_outliers", "half_circles"])
def test_limitations_figure_groups_are_found_by_the_remedy_and_not_by_k_means(data):
    import figures.clustering as script

    X, y, means, remedy = script.found(getattr(script, data))
    labels = remedy.labels_ if hasattr(remedy, "labels_") else remedy.predict(X)
    ours = y >= 0
    assert script.agreement(labels, y) == pytest.approx(rand_by_pairs(labels[ours], y[ours]))
    assert script.agreement(labels, y) >= 0.9 > 0.5 > script.agreement(means.labels_, y)


@pytest.mark.claims("clustering-19", "clustering-23")
def test_instability_figure_shares_change_little_and_hierarchies_are_nested():
    from figures.clustering import MOVE, k_means, merged_agreement, moving_sample, three_and_four

    path, label, share = moving_sample()
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() <= MOVE * 1.05
    assert set(label) == {0, 1} and np.count_nonzero(np.diff(label)) == 1
    assert (np.diff(share) > 0).all() and share[0] < 0.05 and share[-1] > 0.95
    assert np.diff(share).max() == pytest.approx(0.03, abs=0.005)
    for method, nested in ((k_means, False), (AgglomerativeClustering, True)):
        three, four = three_and_four(method)
        assert all(len(set(three[four == k])) == 1 for k in range(4)) == nested
        merges = [np.where(four == a, b, four) for a, b in combinations(range(4), 2)]
        best = max(rand_by_pairs(three, merged) for merged in merges)
        assert merged_agreement(three, four) == pytest.approx(best) and nested == (best == 1)
