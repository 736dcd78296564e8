"""The clustering chapter: every statement of the notes, checked by a second route."""

import sys
from functools import partial
from itertools import combinations, groupby, pairwise, permutations, product
from math import ceil, comb, factorial, log2

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mlnotes.base import ConvergenceWarning, NotFittedError
from mlnotes.clustering import (
    LINKAGES,
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    SpectralClustering,
    adjusted_rand_index,
    agglomerate,
    alternate,
    best_partition,
    build,
    cluster_means,
    cut,
    decode,
    dendrogram,
    encode,
    euclidean,
    fill_empty,
    gower,
    k_medians,
    k_medoids,
    kmeans_plus_plus,
    laplacian,
    linkage,
    lloyd,
    loss,
    lowest_eigenvectors,
    mahalanobis,
    manhattan,
    nearest,
    neighbor_affinity,
    pair_covariance,
    partitions,
    rbf_affinity,
    responsibilities,
    scatter,
    silhouette,
    spectral_embedding,
    storage,
    whiten,
)
from mlnotes.datasets import load_iris, make_blobs, make_moons, make_rings
from mlnotes.numerics import exact_squared_distances, squared_distances
from mlnotes.probability import multivariate_normal_log_density

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])  # of a 4 x 1 rectangle
MEAN = partial(np.mean, axis=0)


def three_blobs(rng, n=60, spread=1.0):
    """Three overlapping groups of n / 3 in the plane, and the group of each sample."""
    T = make_blobs([n // 3] * 3, [[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]], rng=rng)
    return T.truth.centers[T.y] + spread * (T.X - T.truth.centers[T.y]), T.y


def by_the_book(X, centers):
    """REP's two loops over samples and clusters, until the labels stop changing: all (mu, c)."""
    mu, c, path = [np.array(m, dtype=float) for m in centers], None, []
    while True:
        before, c = c, []
        for x in X:
            c.append(min(range(len(mu)), key=lambda j: sum((x - mu[j]) ** 2)))
        path.append((np.array(mu), np.array(c)))
        if c == before:
            return path
        for j in range(len(mu)):
            mu[j] = sum(x for x, k in zip(X, c, strict=True) if k == j) / c.count(j)


def same_grouping(a, b):
    """Whether two labellings differ in the names of their clusters only."""
    a, b = np.asarray(a), np.asarray(b)
    return np.array_equal(a[:, None] == a, b[:, None] == b)


def last(states):
    *_, state = states
    return state


# ---------------------------------------------------------------------------------------
# Dissimilarity
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("clustering-02")
@pytest.mark.parametrize(
    "dissimilarity, of_a_pair",
    [
        (euclidean, lambda x, y: np.sqrt(sum((x - y) ** 2))),
        (manhattan, lambda x, y: sum(abs(x - y))),
        (squared_distances, lambda x, y: sum((x - y) ** 2)),
    ],
    ids=["euclidean", "manhattan", "squared"],
)
def test_dissimilarities_are_those_of_a_loop(rng, dissimilarity, of_a_pair):
    X, Y = 3 * rng.normal(size=(40, 3)) + 7, rng.normal(size=(30, 3))
    X[5] = X[9]
    pairs = np.array([[of_a_pair(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(dissimilarity(X, Y), pairs, rtol=1e-10)
    D = dissimilarity(X)
    np.testing.assert_allclose(D, [[of_a_pair(x, y) for y in X] for x in X], rtol=1e-10)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any() and D[5, 9] == 0
    assert np.count_nonzero(D == 0) == 42


@pytest.mark.claims("clustering-02")
@pytest.mark.parametrize("metric", [euclidean, manhattan])
def test_distances_satisfy_the_triangle_inequality(rng, metric):
    D = metric(rng.normal(size=(25, 4)))
    assert (D[:, None, :] <= D[:, :, None] + D[None] + 1e-12).all()
    square = squared_distances(np.array([[0.0], [1.0], [2.0]]))
    assert square[0, 2] > square[0, 1] + square[1, 2]  # which is why the root is taken


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_small_distances_keep_their_digits_however_far_out_the_data_are(rng, offset):
    X = offset + np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0 + 2**-20], [1e6, 3.0]])
    direct = np.sum((X[:, None] - X) ** 2, axis=2)
    np.testing.assert_allclose(squared_distances(X), direct, rtol=1e-12)
    np.testing.assert_allclose(squared_distances(X, X[1:]), direct[:, 1:], rtol=1e-12)
    naive = np.add.outer(np.sum(X**2, axis=1), np.sum(X**2, axis=1)) - 2 * X @ X.T
    assert offset == 0 or np.abs(naive - direct).max() > 1e-6


def test_distances_in_blocks_are_all_distances(rng):
    X, Y = rng.normal(size=(700, 2)), rng.normal(size=(500, 2))
    assert 700 * 500 > 5 * 2**16
    np.testing.assert_allclose(
        squared_distances(X, Y), np.sum((X[:, None] - Y) ** 2, axis=2), rtol=1e-10
    )
    np.testing.assert_allclose(manhattan(X, Y), np.abs(X[:, None] - Y).sum(axis=2), rtol=1e-12)


MIXED = ("categorical", "ordinal", "quantitative", "quantitative")


def mixed_samples(rng, n=30):
    return np.column_stack(
        [rng.integers(4, size=n), rng.integers(5, size=n), rng.normal(size=n), np.full(n, 3.0)]
    ).astype(float)


@pytest.mark.claims("clustering-03")
def test_gower_is_the_mean_of_three_kinds_of_difference(rng):
    X = mixed_samples(rng)
    D = gower(X, MIXED)
    ranks = np.searchsorted(np.unique(X[:, 1]), X[:, 1])
    for i, k in product(range(30), repeat=2):
        mismatch = float(X[i, 0] != X[k, 0])
        steps = abs(ranks[i] - ranks[k]) / (len(set(X[:, 1])) - 1)
        share = abs(X[i, 2] - X[k, 2]) / (X[:, 2].max() - X[:, 2].min())
        assert D[i, k] == pytest.approx((mismatch + steps + share + 0) / 4, abs=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any() and D.min() == 0 and 0.5 < D.max() <= 1
    everything = np.array([[0.0, 1.0, -3.0, 5.0], [1.0, 2.0, 8.0, 6.0]])
    assert gower(everything, MIXED)[0, 1] == 1


@pytest.mark.claims("clustering-03")
def test_gower_does_not_know_units_or_names(rng):
    X = mixed_samples(rng)
    renamed = X.copy()
    renamed[:, 0] = np.array([7.0, -1.0, 0.5, 3.0])[X[:, 0].astype(int)]  # in another order
    renamed[:, 1] = np.exp(X[:, 1])  # any growing function keeps ranks
    renamed[:, 2] = -4 * X[:, 2] + 16  # by powers of two: exact but for the shift
    np.testing.assert_allclose(gower(renamed, MIXED), gower(X, MIXED), rtol=0, atol=1e-12)
    as_numbers = ("quantitative",) * 4
    assert np.abs(gower(renamed, as_numbers) - gower(X, as_numbers)).max() > 0.1


def test_gower_refuses_what_it_does_not_know():
    X = np.zeros((2, 2))
    with pytest.raises(ValueError, match="kinds must name one kind per feature; got 1 for 2"):
        gower(X, ["ordinal"])
    with pytest.raises(ValueError, match="a kind must be one of .*; got 'nominal'"):
        gower(X, ["ordinal", "nominal"])


@pytest.mark.claims("clustering-04")
@pytest.mark.parametrize("mirrored", [False, True])
def test_clusters_survive_rotation_reflection_and_translation(rng, mirrored):
    X, _ = three_blobs(rng)
    Q, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    Q[:, 0] *= np.sign(np.linalg.det(Q)) * (-1 if mirrored else 1)
    assert np.linalg.det(Q) == pytest.approx(-1 if mirrored else 1)
    moved = X @ Q.T + [30.0, -5.0]
    np.testing.assert_allclose(euclidean(moved), euclidean(X), rtol=0, atol=1e-10)
    start = X[[0, 25, 50]]
    for a, b in zip(lloyd(X, start), lloyd(moved, start @ Q.T + [30.0, -5.0]), strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
        assert a.objective == pytest.approx(b.objective, rel=1e-10)
    turned = np.abs(manhattan(X @ Q.T) - manhattan(X)).max()
    assert turned > 0.1  # the L1 distance does not survive a rotation


def two_pairs_of_columns(rng):
    """Ten samples that fall into two groups by their first feature; the second is a nuisance."""
    X = np.column_stack([np.repeat([0.0, 3.0], 5), np.tile([0.0, 1.0, 0.2, 0.9, 0.4], 2)])
    return X + 0.1 * rng.normal(size=X.shape)


@pytest.mark.claims("clustering-05")
def test_clusters_depend_on_the_scale_of_single_features(rng):
    X = two_pairs_of_columns(rng)
    by_first = np.repeat([0, 1], 5)
    assert same_grouping(best_partition(X, 2), by_first)
    stretched = best_partition(X * [1.0, 50.0], 2)
    assert not same_grouping(stretched, by_first)
    assert same_grouping(stretched, best_partition(X[:, 1:], 2))


@pytest.mark.claims("clustering-05")
def test_standardising_removes_that_dependence(rng):
    X = two_pairs_of_columns(rng)

    def standardised(X):
        return (X - X.mean(axis=0)) / X.std(axis=0)

    expected = best_partition(standardised(X), 2)
    for scales in product([1e-3, 1.0, 50.0, 1e6], repeat=2):
        np.testing.assert_array_equal(best_partition(standardised(X * scales), 2), expected)


@pytest.mark.claims("clustering-06")
def test_clusters_survive_one_scale_for_all_features(rng):
    X, _ = three_blobs(rng)
    start = X[[0, 25, 50]]
    for a, b in zip(lloyd(X, start), lloyd(7 * X, 7 * start), strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
        assert b.objective == pytest.approx(49 * a.objective, rel=1e-10)
    np.testing.assert_allclose(euclidean(7 * X), 7 * euclidean(X), rtol=1e-10)
    ends = [last(lloyd(X * s, start * s)).labels for s in ([1.0, 1.0], [1.0, 7.0])]
    assert not np.array_equal(*ends)  # what the printed "scaling" must mean


def test_like_pairs_teach_the_covariance_of_a_class(rng):
    A = np.array([[2.0, 0.0], [1.5, 0.4]])
    X = rng.normal(size=(400, 2)) @ A.T
    everyone = list(combinations(range(400), 2))
    Sigma = pair_covariance(X, everyone)
    np.testing.assert_allclose(Sigma, np.cov(X.T), rtol=1e-10)  # 1/2 E (x - x')^2 = variance
    groups = np.repeat(np.arange(4), 100)
    far = X + 50 * groups[:, None]
    like = [(i, k) for i, k in everyone if groups[i] == groups[k]]
    np.testing.assert_allclose(
        pair_covariance(far, like), pair_covariance(X, like), rtol=0, atol=1e-9
    )  # what tells groups apart does not enter


def test_mahalanobis_distance_is_euclidean_after_whitening(rng):
    X, Y, C = rng.normal(size=(20, 3)), rng.normal(size=(15, 3)), rng.normal(size=(3, 3))
    Sigma = C @ C.T
    by_inverse = [[(x - y) @ np.linalg.inv(Sigma) @ (x - y) for y in Y] for x in X]
    np.testing.assert_allclose(mahalanobis(X, Y, Sigma) ** 2, by_inverse, rtol=1e-8)
    np.testing.assert_allclose(np.cov(whiten(X, np.cov(X.T)).T), np.eye(3), rtol=0, atol=1e-10)


# ---------------------------------------------------------------------------------------
# The loss
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("clustering-01")
@pytest.mark.parametrize("n, d, K", [(50, 3, 4), (4, 7, 2), (6, 2, 6), (5, 2, 1)])
def test_total_scatter_is_within_plus_between_for_any_labels(rng, n, d, K):
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, size=d) + 100
    labels = rng.permutation(np.arange(n) % K)
    m, mu = X.mean(axis=0), np.array([X[labels == k].mean(axis=0) for k in range(K)])
    total = sum(np.outer(x - m, x - m) for x in X)
    within = sum(np.outer(x - mu[c], x - mu[c]) for x, c in zip(X, labels, strict=True))
    between = sum(np.sum(labels == k) * np.outer(mu[k] - m, mu[k] - m) for k in range(K))
    S = scatter(X, labels)
    for matrix, by_hand in zip(S, (total, within, between), strict=True):
        np.testing.assert_allclose(matrix, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(S.total, S.within + S.between, rtol=0, atol=1e-9)
    squares = np.sum((X - m) ** 2), np.sum((X - mu[labels]) ** 2)
    assert squares[0] == pytest.approx(squares[1] + np.trace(between), rel=1e-9)
    assert np.trace(S.within) == pytest.approx(loss(X, mu, labels), rel=1e-9, abs=1e-9)
    wrong = sum(np.outer(mu[k] - m, mu[k] - m) for k in range(K))  # without n_k
    assert K in (1, n) or np.abs(within + wrong - total).max() > 0.1


@pytest.mark.claims("clustering-01")
def test_replacing_samples_by_centers_keeps_the_between_part_on_few_points(rng):
    X, _ = three_blobs(rng)
    state = last(lloyd(X, X[[0, 25, 50]]))
    S, replaced = scatter(X, state.labels), state.centers[state.labels]
    assert len(np.unique(replaced, axis=0)) == 3 < len(np.unique(X, axis=0))
    spread = np.sum((replaced - replaced.mean(axis=0)) ** 2)
    assert spread == pytest.approx(np.trace(S.between), rel=1e-9)
    assert spread < np.trace(S.total)
    D = euclidean(X)
    together = state.labels[:, None] == state.labels
    assert D[together].mean() < D[~together].mean()  # more alike within than across


@pytest.mark.parametrize("make", ["plain", "shifted", "pairs", "outlier", "tight", "ties"])
def test_nearest_centers_are_those_of_all_exact_distances(make, rng):
    X = rng.normal(size=(3000, 3))
    X = {
        "plain": X,
        "shifted": X + 1e9,
        "pairs": 1e-6 * X + 100 * np.sign(X),
        "outlier": np.vstack([X, [[1e12, 0.0, 0.0]]]),
        "tight": 1e-9 * X + np.sign(X),
        "ties": np.round(X),
    }[make]
    Y = np.vstack([X[rng.choice(3000, 39, replace=False)], X[-1:], X[-1:]])
    k, least = nearest(X, Y)
    D = exact_squared_distances(X, Y)
    np.testing.assert_allclose(least, D.min(axis=1), rtol=1e-9, atol=0)
    gap = np.partition(D, 1, axis=1)
    clear = gap[:, 1] > gap[:, 0] * (1 + 1e-9)
    np.testing.assert_array_equal(k[clear], D.argmin(axis=1)[clear])
    assert k[-1] in (40 - 1, *range(39)) and least[-1] == 0  # of equal rows the first


@pytest.mark.claims("clustering-07")
def test_loss_has_four_equal_forms(rng):
    X, mu = rng.normal(size=(30, 3)), rng.normal(size=(4, 3))
    labels, least = nearest(X, mu)
    R = responsibilities(labels, 4)
    assert set(R.ravel()) == {0.0, 1.0} and (R.sum(axis=1) == 1).all()
    J = loss(X, mu)
    loop = sum(R[i, k] * sum((X[i] - mu[k]) ** 2) for i in range(30) for k in range(4))
    closest = [min(sum((x - m) ** 2) for m in mu) for x in X]
    assert J == pytest.approx(loop, rel=1e-10)
    assert J == pytest.approx(np.linalg.norm(X - R @ mu) ** 2, rel=1e-10)
    assert J == pytest.approx(sum(closest), rel=1e-10) == pytest.approx(sum(least), rel=1e-10)
    other = rng.permutation(labels)
    assert loss(X, mu, other) == pytest.approx(np.sum((X - mu[other]) ** 2), rel=1e-10)
    assert loss(X, mu, other) > J  # the nearest centers are the best labels
    w = rng.integers(4, size=30)
    assert loss(X, mu, sample_weight=w) == pytest.approx(loss(np.repeat(X, w, axis=0), mu))


@pytest.mark.claims("clustering-07")
def test_responsibilities_count_and_average(rng):
    labels = np.array([0, 2, 1, 2])
    R = responsibilities(labels, 3)  # ISML's example
    np.testing.assert_array_equal(R, [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(R.sum(axis=0), [1, 1, 2])
    X = rng.normal(size=(4, 2))
    means = [X[labels == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(R.T @ X / R.sum(axis=0)[:, None], means, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cluster_means(X, labels, 3), means, rtol=0, atol=1e-12)
    w = np.array([1.0, 3.0, 2.0, 1.0])
    weighted = np.average(X[[1, 3]], axis=0, weights=w[[1, 3]])
    np.testing.assert_allclose(cluster_means(X, labels, 3, w)[2], weighted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0], [0.5, 1.0]])
def test_labels_of_no_cluster_are_refused(labels):
    message = r"labels must be 0, ..., K - 1 for K = 3; got \["
    with pytest.raises(ValueError, match=message):
        responsibilities(np.array(labels), 3)
    with pytest.raises(ValueError, match=message):
        cluster_means(np.zeros((2, 1)), np.array(labels), 3)


@pytest.mark.claims("clustering-08")
def test_printed_cost_is_that_of_one_center(rng):
    X, y = three_blobs(rng, spread=0.3)
    X, mu = X[y < 2], np.array([[0.0, 0.0], [3.0, 1.0]])  # two clusters and their centers
    J = loss(X, mu)
    assert J == pytest.approx(sum(min(sum((x - m) ** 2) for m in mu) for x in X))
    printed = [sum(sum((x - mu_j) ** 2) for x in X) for mu_j in mu]
    assert min(printed) > 10 * J  # whichever j is meant, its minimum is missing
    m, better = X.mean(axis=0), cluster_means(X, y[y < 2], 2)
    for delta in 0.3 * rng.normal(size=(20, 2)):
        assert np.sum((X - m - delta) ** 2) > np.sum((X - m) ** 2)  # best in between, where no
        assert loss(X, better + delta) > loss(X, better)  # sample is; the right one best at both
    assert np.sum((X - m) ** 2) > 10 * loss(X, better)


@pytest.mark.claims("clustering-10")
def test_each_half_step_is_an_exact_minimum(rng):
    X, mu = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    assignments = np.array(list(product(range(3), repeat=6)))
    J = [loss(X, mu, c) for c in assignments]
    labels, _ = nearest(X, mu)
    assert min(J) == pytest.approx(loss(X, mu), rel=1e-12)
    np.testing.assert_array_equal(assignments[np.argmin(J)], labels)
    labels = np.array([0, 0, 1, 2, 2, 2])
    means, R = cluster_means(X, labels, 3), responsibilities(labels, 3)
    gradient = [-2 * sum(R[i, k] * (X[i] - means[k]) for i in range(6)) for k in range(3)]
    np.testing.assert_allclose(gradient, 0, rtol=0, atol=1e-10)
    for k, n_k in enumerate([2, 1, 3]):
        delta = rng.normal(size=2)
        moved = means + delta * (np.arange(3) == k)[:, None]
        rise = loss(X, moved, labels) - loss(X, means, labels)
        assert rise == pytest.approx(n_k * delta @ delta, rel=1e-9)


@pytest.mark.claims("clustering-15")
def test_an_empty_cluster_has_no_mean():
    with pytest.raises(ValueError, match=r"every cluster must have a sample; got n_k = \[2. 0.\]"):
        cluster_means(np.zeros((2, 1)), np.array([0, 0]), 2)


# ---------------------------------------------------------------------------------------
# The exact optimum
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, K", [(1, 1), (4, 2), (5, 5), (7, 3)])
def test_partitions_are_all_different_and_all_there(n, K):
    P = partitions(n, K)
    wanted = {c for c in product(range(K), repeat=n) if len(set(c)) == K}
    groups = {frozenset(frozenset(np.flatnonzero(p == k)) for k in range(K)) for p in P}
    assert len(groups) == len(P) == len(wanted) / factorial(K)
    assert {tuple(p) for p in P} <= wanted


def test_too_many_partitions_are_refused():
    with pytest.raises(ValueError, match="at most 1000000 partitions of 30 samples into 3"):
        partitions(30, 3)
    assert len(partitions(13, 2, most=comb(13, 1) * 400)) == 2**12 - 1
    assert len(partitions(13, 2, most=4095)) == 4095
    with pytest.raises(ValueError, match="at most 4094"):
        partitions(13, 2, most=4094)


def test_partitions_into_nearly_single_samples_take_no_more_room_than_they_are():
    pairs = partitions(40, 39)  # any two of 40; there are over 1e34 into at most 39
    assert pairs.shape == (comb(40, 2), 40)
    assert {tuple(np.bincount(p)[np.bincount(p) > 1]) for p in pairs} == {(2,)}


@pytest.mark.parametrize("K", [1, 2, 3, 7])
def test_best_partition_beats_every_assignment(rng, K):
    X = rng.normal(size=(7, 2))
    best = best_partition(X, K)
    J = loss(X, cluster_means(X, best, K), best)
    for c in product(range(K), repeat=7):
        if len(set(c)) == K:
            c = np.array(c)
            assert loss(X, cluster_means(X, c, K), c) >= J - 1e-12
    near = np.round(X * 2**10) / 2**10
    np.testing.assert_array_equal(best_partition(near + 2.0**40, K), best_partition(near, K))


# ---------------------------------------------------------------------------------------
# K-means
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("clustering-09")
def test_centers_cut_space_into_convex_cells(rng):
    mu, points = rng.normal(size=(5, 3)), 3 * rng.normal(size=(400, 3))
    labels, _ = nearest(points, mu)
    assert len(set(labels)) == 5
    halfway = points @ (mu[:, None] - mu).reshape(-1, 3).T
    level = (np.sum(mu**2, axis=1)[:, None] - np.sum(mu**2, axis=1)).ravel() / 2
    inside = (halfway >= level).reshape(-1, 5, 5).all(axis=2)  # of all half-spaces of cell k
    np.testing.assert_array_equal(inside, responsibilities(labels, 5))
    for k in range(5):
        cell = points[labels == k]
        middles = (cell[:, None] + cell).reshape(-1, 3) / 2
        assert (nearest(middles, mu)[0] == k).all()
    to_plane = (level.reshape(5, 5)[0, 1] - points @ (mu[0] - mu[1])) / sum((mu[0] - mu[1]) ** 2)
    D = squared_distances(points + to_plane[:, None] * (mu[0] - mu[1]), mu)
    np.testing.assert_allclose(D[:, 0], D[:, 1], rtol=0, atol=1e-10)


@pytest.mark.claims("clustering-11")
@pytest.mark.parametrize("seed", range(20))
def test_lloyd_is_the_loop_over_samples_and_clusters(seed):
    rng = np.random.default_rng(seed)
    n, d, K = rng.integers(8, 120), rng.integers(1, 6), rng.integers(1, 7)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 9, size=d) + rng.normal() * 50
    start = X[rng.choice(n, K, replace=False)]
    path, states = by_the_book(X, start), list(lloyd(X, start))
    assert states[0].moved == np.inf and states[-1].moved == 0
    for (mu, c), state in zip(path, states, strict=False):
        np.testing.assert_allclose(state.centers, mu, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(state.labels, c)
        assert state.objective == pytest.approx(loss(X, mu, c), rel=1e-10)
    assert len(states) == len(path) or np.array_equal(path[-1][1], states[-1].labels)
    for before, after in pairwise(states):
        step = np.sum((after.centers - before.centers) ** 2)
        assert after.moved == pytest.approx(step, rel=1e-9, abs=1e-18)


@pytest.mark.claims("clustering-11")
@pytest.mark.parametrize("seed", range(5))
def test_lloyd_ends_where_both_conditions_hold_and_no_half_step_raises_the_loss(seed):
    rng = np.random.default_rng(seed)
    X, _ = three_blobs(rng, n=600)
    states = list(lloyd(X, X[rng.choice(600, 6, replace=False)]))
    *_, end = states
    np.testing.assert_array_equal(end.labels, squared_distances(X, end.centers).argmin(axis=1))
    np.testing.assert_allclose(end.centers, cluster_means(X, end.labels, 6), rtol=0, atol=1e-12)
    for before, after in pairwise(states):
        between = loss(X, after.centers, before.labels)
        assert after.objective <= between + 1e-9 and between <= before.objective + 1e-9


@pytest.mark.claims("clustering-02", "clustering-11")
@pytest.mark.parametrize("n, K", [(3000, 9), (400, 1), (20, 20)])
def test_lloyd_is_alternate_with_squared_distances_and_means(rng, n, K):
    X = rng.normal(size=(n, 4)) * [1, 2, 3, 30]
    start = X[:K]
    for a, b in zip(lloyd(X, start), alternate(X, start, squared_distances, MEAN), strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
        np.testing.assert_allclose(a.centers, b.centers, rtol=1e-9, atol=1e-9)
        assert a.objective == pytest.approx(b.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("make", ["outlier", "far", "tight"])
def test_lloyd_keeps_its_word_on_badly_scaled_data(rng, make):
    X = rng.normal(size=(3000, 3))
    X = {
        "outlier": np.vstack([X, [[1e9, 0.0, 0.0], [0.0, -1e11, 0.0]]]),
        "far": X + 1e7,
        "tight": X * 1e-4 + 100 * np.sign(X),
    }[make]
    start = X[[*range(4), -1]]
    states = list(lloyd(X, start))
    for state in states:
        np.testing.assert_allclose(state.objective, loss(X, state.centers), rtol=1e-9)
    *_, end = states
    means = [X[end.labels == k].mean(axis=0) for k in range(5)]
    scale = np.array([np.abs(X[end.labels == k]).max() for k in range(5)])
    assert (np.abs(end.centers - means).max(axis=1) <= 1e-12 * scale).all()
    np.testing.assert_array_equal(end.labels, squared_distances(X, end.centers).argmin(axis=1))
    J = np.array([state.objective for state in states])
    assert (np.diff(J) <= 1e-12 * J[:-1]).all()


@pytest.mark.claims("clustering-12")
def test_lloyd_terminates_without_seeing_an_assignment_twice():
    most, steps = len(partitions(9, 3)), []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(9, 2))
        states = list(lloyd(X, X[rng.choice(9, 3, replace=False)]))
        J = np.array([state.objective for state in states])
        assert (np.diff(J) <= 1e-12).all()
        path = [labels for labels, _ in groupby(tuple(state.labels) for state in states)]
        assert len(set(path)) == len(path) <= len(states) - 1  # it rests, or goes on to new ones
        steps.append(len(path))
    assert 1 < max(steps) <= most == 3025


@pytest.mark.claims("clustering-13")
def test_a_long_split_of_a_rectangle_is_a_fixed_point_and_no_optimum():
    long_side, short_side = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    start, end = lloyd(CORNERS, cluster_means(CORNERS, long_side, 2))
    assert end.moved == 0 and start.objective == end.objective == 16
    np.testing.assert_array_equal(end.labels, long_side)
    J = {tuple(c): loss(CORNERS, cluster_means(CORNERS, c, 2), c) for c in partitions(4, 2)}
    assert min(J.values()) == J[tuple(short_side)] == 1
    np.testing.assert_array_equal(best_partition(CORNERS, 2), short_side)
    assert KMeans(2, init="random", random_state=0).fit(CORNERS).inertia_ == 1  # of ten starts


@pytest.mark.claims("clustering-15")
def test_an_empty_cluster_gets_a_sample_and_the_loss_still_falls(rng):
    X, _ = three_blobs(rng)
    start = np.vstack([X[:2], [[1e6, 1e6], [-1e6, 0.0]]])
    states = list(lloyd(X, start))
    J = np.array([state.objective for state in states])
    assert np.isfinite(J).all() and (np.diff(J) <= 1e-12).all()
    assert np.bincount(states[0].labels, minlength=4)[2:].tolist() == [0, 0]
    assert (np.bincount(states[-1].labels, minlength=4) > 0).all()
    np.testing.assert_allclose(
        states[-1].centers, cluster_means(X, states[-1].labels, 4), rtol=0, atol=1e-12
    )
    assert J[-1] < 0.8 * last(lloyd(X, start[:2])).objective  # the two were worth having


@pytest.mark.claims("clustering-15")
def test_the_sample_given_is_the_one_that_adds_most(rng):
    X, centers = np.array([[0.0], [4.5], [6.0], [20.0]]), np.array([[1.0], [5.0], [90.0], [91.0]])
    labels, _ = nearest(X, centers)
    np.testing.assert_array_equal(labels, [0, 1, 1, 1])
    np.testing.assert_array_equal(fill_empty(X, centers, labels), [0, 1, 3, 2])
    heavy = np.array([1.0, 1000.0, 1.0, 1.0])  # 1000 (4.5 - 5)^2 > (20 - 5)^2
    np.testing.assert_array_equal(fill_empty(X, centers, labels, heavy), [0, 2, 1, 3])
    unseen = np.array([1.0, 1.0, 1.0, 0.0])
    assert fill_empty(X, centers, labels, unseen)[3] == 1  # weight 0 adds nothing
    alone = fill_empty(X, centers[:2], labels=np.array([1, 1, 1, 0]), sample_weight=unseen)
    np.testing.assert_array_equal(alone, [0, 1, 1, 0])  # and makes no cluster
    twice = fill_empty(X, centers, labels=np.array([0, 1, 1, 0]))
    np.testing.assert_array_equal(twice, [0, 1, 3, 2])  # 0 would be farther, but is alone by now
    np.testing.assert_array_equal(labels, [0, 1, 1, 1])


@pytest.mark.claims("clustering-15")
@pytest.mark.parametrize("n", [9, 40, 300])
def test_fewer_distinct_samples_than_clusters_leave_some_empty(n):
    points = [[0.1, 1.7], [5.3, 5.0], [9.0, 1.2]]  # of which a mean differs by rounding
    X = np.repeat(points, n // 3, axis=0)
    start = np.vstack([X[[0, 0, 0]], [[50.0, 50.0], [3.0, 3.0]]])
    *_, end = lloyd(X, start)
    assert end.objective == pytest.approx(0, abs=1e-25) and np.isfinite(end.centers).all()
    assert len(set(end.labels)) == 3
    for K in (4, 5):
        with pytest.warns(ConvergenceWarning, match="KMeans found 3 clusters, fewer than n_clust"):
            model = KMeans(K, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(0, abs=1e-25)


def test_a_sample_alone_in_its_cluster_stays():
    X, centers = np.array([[0.0], [9.0]]), np.array([[0.0], [5.0], [99.0]])
    labels = np.array([0, 1])
    np.testing.assert_array_equal(fill_empty(X, centers, labels), labels)
    alone = last(lloyd(X, centers))
    assert alone.objective == 0 and alone.centers[2] == 99


def test_ties_go_to_the_first_center():
    X = np.array([[-2.0], [0.0], [2.0]])
    for centers, expected in (([-1.0, 1.0], [0, 0, 1]), ([1.0, -1.0], [1, 0, 0])):
        start = next(lloyd(X, np.reshape(centers, (2, 1))))
        np.testing.assert_array_equal(start.labels, expected)
        np.testing.assert_array_equal(nearest(X, np.reshape(centers, (2, 1)))[0], expected)


def test_weights_of_samples_count_them(rng):
    X, _ = three_blobs(rng)
    w = rng.integers(4, size=len(X)).astype(float)
    repeated, start = np.repeat(X, w.astype(int), axis=0), X[[0, 25, 50]]
    for a, b in zip(lloyd(X, start, w), lloyd(repeated, start), strict=True):
        np.testing.assert_allclose(a.centers, b.centers, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(np.repeat(a.labels, w.astype(int)), b.labels)
        assert a.objective == pytest.approx(b.objective, rel=1e-10)
    far = np.vstack([start[:2], [[1e6, 1e6]]])
    first, second, *_ = lloyd(X, far, w)  # weights count in what the empty cluster gets, too
    adds_most = np.argmax(w * squared_distances(X, far).min(axis=1))
    assert adds_most != np.argmax(squared_distances(X, far).min(axis=1))
    np.testing.assert_allclose(second.centers[2], X[adds_most], rtol=1e-12)
    fractions = list(lloyd(X, start, 0.1 * w))
    np.testing.assert_array_equal(fractions[-1].labels, last(lloyd(X, start, w)).labels)


def test_weights_that_empty_a_cluster_by_rounding_do_not_leave_a_ghost():
    X = np.array([[0.0], [1.0], [1.1], [10.0]])
    w = np.array([0.1, 0.2, 0.3, 0.7])
    for start in product([0.0, 0.9, 1.05, 5.0, 30.0], repeat=3):
        states = list(lloyd(X, np.reshape(start, (3, 1)), w))
        J = [state.objective for state in states]
        assert np.isfinite(states[-1].centers).all() and J[-1] <= J[0] + 1e-12
        assert 0 <= states[-1].centers.min() or len(set(start)) < 3
    for seed in range(250, 300):  # more samples, of which few change when a cluster empties
        rng = np.random.default_rng(seed)
        X = rng.choice([0.1, 1, 3], size=(24, 1)) * rng.normal(size=(24, 1))
        w = rng.integers(1, 8, size=24)
        start = 3 * rng.normal(size=(6, 1))
        for tenths, whole in zip(lloyd(X, start, w / 10), lloyd(X, start, 1.0 * w), strict=True):
            np.testing.assert_allclose(tenths.centers, whole.centers, rtol=0, atol=1e-9)


@pytest.mark.parametrize("states", ["lloyd", "medians", "medoids"])
def test_states_are_snapshots(rng, states):
    X, _ = three_blobs(rng, n=300)
    D = euclidean(X)
    run = {
        "lloyd": lambda: lloyd(X, X[:5]),
        "medians": lambda: k_medians(X, X[:5]),
        "medoids": lambda: k_medoids(D, np.arange(5)),
    }[states]()
    pairs = [(state, [np.copy(part) for part in state]) for state in run]
    assert len(pairs) > 3
    for state, as_yielded in pairs:
        for part, copy in zip(state, as_yielded, strict=True):
            np.testing.assert_array_equal(part, copy)


# ---------------------------------------------------------------------------------------
# The start
# ---------------------------------------------------------------------------------------


def test_further_centers_are_drawn_by_squared_distance(rng):
    X, w = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([1.0, 2.0, 1.0, 4.0])
    drawn = np.array(
        [kmeans_plus_plus(X, 3, sample_weight=w, trials=1, rng=rng) for _ in range(6000)]
    )
    first = (drawn[:, 0] == X.T).mean(axis=0)
    np.testing.assert_allclose(first, w / 8, rtol=0, atol=0.03)
    for i, j in permutations(range(4), 2):
        after_i = drawn[(drawn[:, 0] == X[i]).ravel()]
        share = w * (X - X[i]).ravel() ** 2
        found = (after_i[:, 1] == X[j]).mean()
        assert found == pytest.approx(share[j] / share.sum(), abs=0.06)
        after_j = after_i[(after_i[:, 1] == X[j]).ravel()]
        share = w * np.minimum((X - X[i]).ravel() ** 2, (X - X[j]).ravel() ** 2)
        if len(after_j) > 300:
            found = (after_j[:, 2] == X.T).mean(axis=0)
            np.testing.assert_allclose(found, share / share.sum(), rtol=0, atol=0.08)


def test_of_several_trials_the_center_that_leaves_the_smallest_loss_is_kept(rng):
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    pairs = np.array([kmeans_plus_plus(X, 2, trials=2, rng=rng).ravel() for _ in range(4000)])
    for x in X:
        share = (X - x).ravel() ** 2 / np.sum((X - x) ** 2)
        after = np.minimum((X - x) ** 2, (X - X.T) ** 2).sum(axis=0)
        wins = after[:, None] < after
        expected = share * (share + 2 * wins @ share)  # twice the same, or better than the other
        found = (pairs[pairs[:, 0] == x, 1:] == X.T).mean(axis=0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.06)
    for K, trials in ((2, 2), (3, 3), (8, 4), (21, 5)):  # 2 + ln K, as a default
        X = rng.normal(size=(40, 2))
        default, given = (
            kmeans_plus_plus(X, K, trials=number, rng=np.random.default_rng(0))
            for number in (None, trials)
        )
        np.testing.assert_array_equal(default, given)


def test_k_means_does_not_depend_on_the_order_of_samples_or_on_repetition(rng):
    X, _ = three_blobs(rng)
    w = rng.integers(1, 4, size=len(X))
    order = rng.permutation(len(X))
    for how in ({"n_clusters": 5}, {"n_clusters": 8, "n_init": 3}):
        plain, weighted = (
            KMeans(random_state=1, **how).fit(Z, sample_weight=v)
            for Z, v in ((np.repeat(X, w, axis=0), None), (X[order], w[order].astype(float)))
        )
        np.testing.assert_allclose(
            plain.cluster_centers_, weighted.cluster_centers_, rtol=1e-12, atol=1e-12
        )


def test_starts_are_far_apart_and_distinct_samples(rng):
    X, y = three_blobs(rng, spread=0.1)
    for seed in range(30):
        centers = kmeans_plus_plus(X, 3, rng=np.random.default_rng(seed))
        assert all((x == X).all(axis=1).any() for x in centers)
        assert len(set(y[nearest(centers, X)[0]])) == 3  # one in every group
    few = np.array([[5.0], [1.0], [1.0], [1.0]])
    for seed in range(30):  # no sample is left at a distance, but for one of weight 0
        w, draws = np.array([0.0, 1.0, 1.0, 1.0]), np.random.default_rng(seed)
        assert (kmeans_plus_plus(few, 3, sample_weight=w, rng=draws) == 1).all()
    unseen = np.where(y == 0, 0.0, 1.0)
    drawn = [kmeans_plus_plus(X, 2, sample_weight=unseen, rng=rng) for _ in range(30)]
    assert not (y[nearest(np.vstack(drawn), X)[0]] == 0).any()
    assert len(kmeans_plus_plus(np.ones((4, 2)), 3, rng=rng)) == 3


@pytest.mark.parametrize("where", ["beside an outlier", "in two places"])
def test_starts_are_told_apart_however_close_they_are(rng, where):
    near = 1e-9 * rng.normal(size=(20, 2))
    X = {
        "beside an outlier": np.vstack([near, [[1e3, 0.0]]]),
        "in two places": near + np.repeat([[1.0], [-1.0]], 10, axis=0),
    }[where]
    for seed in range(30):
        centers = kmeans_plus_plus(X, 12, rng=np.random.default_rng(seed))
        assert len(np.unique(centers, axis=0)) == 12


@pytest.mark.parametrize(
    "function",
    [
        lambda K: kmeans_plus_plus(CORNERS, K, rng=np.random.default_rng(0)),
        lambda K: best_partition(CORNERS, K),
        lambda K: build(euclidean(CORNERS), K),
        lambda K: cut(linkage(CORNERS), K),
    ],
    ids=["kmeans_plus_plus", "best_partition", "build", "cut"],
)
def test_more_clusters_than_samples_are_refused(function):
    with pytest.raises(ValueError, match=r"K must be at most n_samples; got 5 for 4 sample\(s\)"):
        function(5)
    with pytest.raises(ValueError, match="K must be an integer >= 1; got 0"):
        function(0)
    function(4)


# ---------------------------------------------------------------------------------------
# Vector quantisation
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("clustering-17")
def test_distortion_of_codes_is_the_loss_and_decoding_is_a_right_inverse(rng):
    X, _ = three_blobs(rng)
    state = last(lloyd(X, X[::12]))
    codes = encode(X, state.centers)
    np.testing.assert_array_equal(codes, state.labels)
    restored = decode(codes, state.centers)
    assert np.sum((X - restored) ** 2) == pytest.approx(state.objective, rel=1e-10)
    assert len(np.unique(restored, axis=0)) <= 5
    every = np.array([4, 0, 3, 1, 2])
    np.testing.assert_array_equal(encode(decode(every, state.centers), state.centers), every)
    worse = (codes + 1) % 5
    assert np.sum((X - decode(worse, state.centers)) ** 2) > state.objective


@pytest.mark.claims("clustering-17")
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 255, 256, 257])
def test_storage_counts_bits(K):
    n, d = 1000, 3
    coded, plain = storage(n, d, K, bits=8)
    assert coded == n * ceil(log2(K)) + K * d * 8 and plain == n * d * 8
    words = {np.binary_repr(code, width=ceil(log2(K))) for code in range(K)}
    assert len(words) == K and (K == 1 or {len(word) for word in words} == {ceil(log2(K))})


@pytest.mark.claims("clustering-17")
def test_more_codes_never_distort_more(rng):
    X, J = rng.normal(size=(8, 2)), []
    for K in range(1, 9):
        labels = best_partition(X, K)
        J.append(loss(X, cluster_means(X, labels, K), labels))
    assert (np.diff(J) <= 1e-12).all() and J[-1] == pytest.approx(0, abs=1e-20)
    assert J[0] == pytest.approx(np.trace(scatter(X, np.zeros(8)).total))


# ---------------------------------------------------------------------------------------
# Another loss (robust)
# ---------------------------------------------------------------------------------------


@pytest.mark.claims("clustering-19")
def test_a_label_flips_where_a_responsibility_hardly_changes():
    mu, sigma, step = np.array([[0.0, 0.0], [6.0, 8.0]]), 2.0, 1e-6
    along = (mu[1] - mu[0]) / 10
    middle = mu.mean(axis=0)
    moved = np.array([middle - step * along, middle, middle + step * along])
    np.testing.assert_array_equal(nearest(moved, mu)[0][[0, 2]], [0, 1])
    log_p = [multivariate_normal_log_density(moved, m, sigma**2 * np.eye(2)) for m in mu]
    r = 1 / (1 + np.exp(log_p[0] - log_p[1]))  # of two components of equal weight
    slope = np.linalg.norm(mu[1] - mu[0]) / (4 * sigma**2)
    np.testing.assert_allclose(np.diff(r), slope * step, rtol=1e-6)
    far = middle + np.linspace(-5, 5, 2001)[:, None] * along
    log_p = [multivariate_normal_log_density(far, m, sigma**2 * np.eye(2)) for m in mu]
    r = 1 / (1 + np.exp(log_p[0] - log_p[1]))
    assert (np.abs(np.diff(r)) <= slope * 0.005 * (1 + 1e-9)).all()  # nowhere steeper
    assert np.abs(np.diff(nearest(far, mu)[0])).max() == 1


@pytest.mark.claims("clustering-21")
@pytest.mark.parametrize("n", [2, 5, 8])
def test_an_outlier_takes_the_mean_along_and_not_the_median(rng, n):
    clean = rng.normal(size=(n, 3))
    direction = np.array([2.0, -1.0, 2.0]) / 3

    def center(states):
        return last(states).centers[0]

    for R in (1e1, 1e3, 1e6):
        X = np.vstack([clean, clean[0] + R * direction])
        shift = center(lloyd(X, X[:1])) - np.vstack([clean, clean[:1]]).mean(axis=0)
        np.testing.assert_allclose(shift, R / (n + 1) * direction, rtol=1e-9, atol=1e-9)
        median = center(k_medians(X, X[:1]))
        if n > 2:
            assert (clean.min(axis=0) <= median).all() and (median <= clean.max(axis=0)).all()
    swamped = np.vstack([clean, clean + 1e6 * direction, [[1e6, 0.0, 0.0]]])
    assert np.abs(center(k_medians(swamped, clean[:1]))).max() > 1e5  # more than half: no help


@pytest.mark.claims("clustering-02", "clustering-21")
@pytest.mark.parametrize("K", [1, 2, 4])
def test_k_medians_lowers_its_loss_with_either_half_step(rng, K):
    X, _ = three_blobs(rng)
    states = list(k_medians(X, X[:K]))
    for before, after in pairwise(states):
        medians = [np.median(X[before.labels == k], axis=0) for k in range(K)]
        np.testing.assert_array_equal(after.centers, medians)
        D = manhattan(X, after.centers)
        np.testing.assert_array_equal(after.labels, D.argmin(axis=1))
        halfway = D[np.arange(len(X)), before.labels].sum()
        assert after.objective <= halfway + 1e-9 and halfway <= before.objective + 1e-9
    assert states[-1].moved == 0
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 5, 60)] * 2), axis=-1).reshape(-1, 2)
    members = X[states[-1].labels == 0]
    least = manhattan(members, states[-1].centers[:1]).sum()
    assert least <= manhattan(members, grid).sum(axis=0).min() + 1e-9


def test_alternate_leaves_an_empty_cluster_its_center():
    X = np.array([[0.0], [1.0], [2.0]])
    *_, end = k_medians(X, np.array([[0.0], [50.0]]))
    np.testing.assert_array_equal(end.centers, [[1.0], [50.0]])


@pytest.mark.claims("clustering-21")
@pytest.mark.parametrize("K", [1, 2, 3, 8])
def test_medoids_are_the_best_samples_of_all(rng, K):
    X = rng.normal(size=(8, 2))
    D = manhattan(X) ** 0.7  # no metric that any mean would minimise

    def total(medoids):
        return D[:, list(medoids)].min(axis=1).sum()

    best = min(map(total, combinations(range(8), K)))
    ends = [last(k_medoids(D, np.array(start))) for start in combinations(range(8), K)]
    assert min(end.objective for end in ends) == pytest.approx(best, rel=1e-12)
    assert last(k_medoids(D, build(D, K))).objective == pytest.approx(best, rel=1e-12)
    for end in ends:
        assert end.objective == pytest.approx(total(end.medoids)) and len(set(end.medoids)) == K
        for k, j in product(range(K), range(8)):  # no swap is left
            swapped = [*end.medoids[:k], j, *end.medoids[k + 1 :]]
            assert total(swapped) >= end.objective - 1e-12


@pytest.mark.claims("clustering-21")
def test_every_swap_is_the_best_one_and_says_what_it_gains(rng):
    D = euclidean(rng.normal(size=(15, 2)))
    states = list(k_medoids(D, np.arange(4)))
    assert states[0].gain == np.inf and len(states) > 2
    for before, after in pairwise(states):
        losses = {
            (k, j): D[:, [*before.medoids[:k], j, *before.medoids[k + 1 :]]].min(axis=1).sum()
            for k, j in product(range(4), range(15))
        }
        assert after.objective == pytest.approx(min(losses.values()), rel=1e-12)
        assert after.gain == pytest.approx(before.objective - after.objective, rel=1e-9)
        assert np.sum(after.medoids != before.medoids) == 1
        np.testing.assert_array_equal(after.labels, D[:, after.medoids].argmin(axis=1))


def test_build_takes_the_best_next_medoid_every_time(rng):
    D, chosen = euclidean(rng.normal(size=(20, 3))), []
    for k, medoid in enumerate(build(D, 6)):
        losses = [D[:, [*chosen, j]].min(axis=1).sum() for j in range(20)]
        assert losses[medoid] == pytest.approx(min(losses), rel=1e-12)
        chosen.append(medoid)
        assert len(set(chosen)) == k + 1
    assert sorted(build(np.zeros((4, 4)), 4)) == [0, 1, 2, 3]


# ---------------------------------------------------------------------------------------
# Another K (hierarchical)
# ---------------------------------------------------------------------------------------


BETWEEN = {  # two clusters of samples, by definition
    "single": lambda A, B: min(np.linalg.norm(a - b) for a in A for b in B),
    "complete": lambda A, B: max(np.linalg.norm(a - b) for a in A for b in B),
    "average": lambda A, B: np.mean([np.linalg.norm(a - b) for a in A for b in B]),
    "ward": lambda A, B: np.sqrt(2 * (squares(np.vstack([A, B])) - squares(A) - squares(B))),
}


def squares(A):
    return np.sum((A - A.mean(axis=0)) ** 2)


def members(merges):
    """The samples of every cluster of a hierarchy, the single ones first."""
    groups = [[i] for i in range(len(merges) + 1)]
    for a, b in merges[:, :2].astype(int):
        groups.append(sorted(groups[a] + groups[b]))
    return groups


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("data", ["normal", "grid", "line", "few"])
def test_every_merge_is_of_the_two_nearest_clusters(rng, method, data):
    X = {
        "normal": rng.normal(size=(24, 2)),
        "grid": np.array(list(product(range(4), range(5))), dtype=float),  # ties everywhere
        "line": 1.3 ** np.arange(15)[:, None],  # each merge waits for the one before
        "few": np.array([[0.0], [1.0]]),
    }[data]
    n, merges = len(X), linkage(X, method)
    assert merges.shape == (n - 1, 4)
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
    assert (np.diff(merges[:, 2]) >= 0).all()


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("n", [2, 3, 60, 300])
def test_single_linkage_heights_are_the_minimum_spanning_tree(rng, n):
    X = rng.normal(size=(n, 3))
    D, tree, component = euclidean(X), [], np.arange(n)
    for i, k in zip(*np.unravel_index(np.argsort(D, axis=None), D.shape), strict=True):
        if component[i] != component[k]:  # Kruskal: the shortest edge that closes no circle
            tree.append(D[i, k])
            component[component == component[i]] = component[k]
    merges = linkage(X, "single")
    assert len(merges) == len(tree) == n - 1
    np.testing.assert_allclose(merges[:, 2], tree, rtol=1e-12)


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
def test_cuts_are_nested_for_every_number_of_clusters(rng, method):
    X, _ = three_blobs(rng)
    merges = linkage(X, method)
    cuts = [cut(merges, K) for K in range(1, 61)]
    for K, labels in enumerate(cuts, start=1):
        assert len(set(labels)) == K
        _, first = np.unique(labels, return_index=True)
        assert (np.diff(first) > 0).all()  # numbered as they first appear
    for coarse, fine in pairwise(cuts):
        parents = [set(coarse[fine == k]) for k in set(fine)]
        assert all(len(parent) == 1 for parent in parents)
    groups = members(merges)
    for K, labels in zip((2, 5), (cuts[1], cuts[4]), strict=True):
        merged = {tuple(groups[c]) for c in range(120 - K)}
        assert {tuple(np.flatnonzero(labels == k)) for k in range(K)} <= merged


@pytest.mark.claims("clustering-20")
def test_clusters_of_k_means_need_not_be_nested():
    X = np.arange(6.0)[:, None]
    coarse, fine = best_partition(X, 2), best_partition(X, 3)
    np.testing.assert_array_equal(coarse, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(fine, [0, 0, 1, 1, 2, 2])  # {2, 3} lies in neither half
    X, _ = three_blobs(np.random.default_rng(0), n=300, spread=2)
    three, four = (KMeans(K, n_init=10, random_state=0).fit(X).labels_ for K in (3, 4))
    assert any(len(set(three[four == k])) > 1 for k in range(4))


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
def test_the_chain_of_nearest_neighbours_brings_the_merges_of_the_nearest_pairs(rng, method):
    D, n = squared_distances(rng.normal(size=(150, 3))), 150
    groups, found = [{i} for i in range(n)], {}
    for t, (pair, height, size) in enumerate(agglomerate(D, method)):
        a, b = pair
        assert a < b < n + t
        groups.append(groups[a] | groups[b])
        assert len(groups[-1]) == size == len(groups[a]) + len(groups[b])
        found[frozenset(groups[-1])] = height
    assert len(groups) == 2 * n - 1
    expected = one_merge_at_a_time(D, method)
    assert found.keys() == expected.keys()
    for group, height in expected.items():
        assert found[group] == pytest.approx(height, rel=1e-9)


def one_merge_at_a_time(D, method):
    """The height of every cluster made, the distances of each following from the last ones."""
    groups, D, heights = [frozenset([i]) for i in range(len(D))], D.copy(), {}
    while len(groups) > 1:
        np.fill_diagonal(D, np.inf)
        a, b = sorted(np.unravel_index(D.argmin(), D.shape))
        n_a, n_b, n_c = len(groups[a]), len(groups[b]), np.array([len(c) for c in groups])
        heights[groups[a] | groups[b]] = h = D[a, b]
        new = {
            "single": np.minimum(D[a], D[b]),
            "complete": np.maximum(D[a], D[b]),
            "average": (n_a * D[a] + n_b * D[b]) / (n_a + n_b),
            "ward": ((n_a + n_c) * D[a] + (n_b + n_c) * D[b] - n_c * h) / (n_a + n_b + n_c),
        }[method]
        D[a] = D[:, a] = new
        groups[a] = groups[a] | groups[b]
        D = np.delete(np.delete(D, b, axis=0), b, axis=1)
        del groups[b]
    return heights


@pytest.mark.parametrize("data", ["normal", "tight", "far out"])
def test_wards_heights_are_those_of_the_means(rng, data):
    X = rng.normal(size=(150, 3))
    if data == "tight":
        X = 1e-5 * X + np.sign(X)  # groups that are points beside their distances
    if data == "far out":
        X = np.vstack([X, [[1e9, 0.0, 0.0], [0.0, 1e11, 0.0]]])
    merges = linkage(X)
    groups = members(merges)
    for a, b, height, _ in merges:
        (n_a, mu_a), (n_b, mu_b) = (
            (len(g), X[g].mean(axis=0)) for g in (groups[int(a)], groups[int(b)])
        )
        rise = n_a * n_b / (n_a + n_b) * np.sum((mu_a - mu_b) ** 2)
        assert height**2 == pytest.approx(2 * rise, rel=1e-8)


def lines_run(function, code):
    """How many lines of the function `code` run while `function` is called."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if frame.f_code is not code.__code__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
def test_merging_takes_a_number_of_steps_proportional_to_n_for_any_data(rng, method):
    """A step works on O(n) numbers, so that the whole takes O(n^2)."""
    n = 300
    path = np.concatenate([[0.0], np.cumsum(np.arange(n - 1, 0.0, -1))])[:, None]
    grid = np.array(list(product(range(15), range(20))), dtype=float)
    growing, triples = 1.02 ** np.arange(n)[:, None], rng.normal(size=(3, 2)).repeat(100, axis=0)
    normal, equal = rng.normal(size=(n, 2)), np.zeros((n, 2))
    for X in (equal, path, path[::-1], growing, grid, triples, normal):
        D = squared_distances(X)
        assert lines_run(lambda: list(agglomerate(D, method)), agglomerate) < 40 * n  # noqa: B023


def test_equal_samples_merge_at_height_zero(rng):
    X = np.repeat(rng.normal(size=(12, 4)) + 1e6, 5, axis=0)
    for method in LINKAGES:
        merges = linkage(X, method)
        assert (merges[:48, 2] == 0).all() and (merges[48:, 2] > 0).all()
        assert same_grouping(cut(merges, 12), np.repeat(np.arange(12), 5))
        assert not linkage(np.zeros((9, 2)), method)[:, 2].any()
    assert linkage(X[:1]).shape == (0, 4) and cut(linkage(X[:1]), 1) == [0]


def test_a_circle_of_equal_distances_does_not_lead_round_for_ever():
    corners = np.exp(2j * np.pi * np.arange(7) / 7)
    X = np.column_stack([corners.real, corners.imag])
    D = np.round(euclidean(X), 6)  # every corner has two nearest
    for method in ("single", "complete", "average"):
        assert len(linkage(D, method, "precomputed")) == 6
    ones = np.ones((40, 40)) - np.eye(40)
    np.testing.assert_array_equal(linkage(ones, "average", "precomputed")[:, 2], 1)


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method, of", [("single", np.min), ("complete", np.max),
                                        ("average", np.mean)])  # fmt: skip
def test_ties_that_lead_round_in_a_circle_are_broken_at_the_nearest_pair(method, of):
    for seed in (*range(10), 55, 59, 71, 84, 131):  # of the last, with "complete", a circle is left
        rng = np.random.default_rng(seed)
        n = rng.integers(3, 14)
        D = np.triu(rng.integers(1, 4, size=(n, n)), 1).astype(float)
        D += D.T
        merges = linkage(D, method, "precomputed")
        groups, alive = members(merges), set(range(n))
        for t, (a, b, height, _) in enumerate(merges):
            between = [of(D[np.ix_(groups[i], groups[k])]) for i, k in combinations(alive, 2)]
            own = of(D[np.ix_(groups[int(a)], groups[int(b)])])
            assert own == pytest.approx(min(between)) == pytest.approx(height)
            alive = alive - {a, b} | {n + t}


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize("height", [0.1, 1 / 3, 0.7])
def test_a_cluster_is_made_before_it_is_merged_though_all_heights_are_equal(n, height):
    D = height * (1 - np.eye(n))
    hierarchies = [
        linkage(D, method, "precomputed") for method in ("single", "complete", "average")
    ]
    for merges in [*hierarchies, linkage(height * np.eye(n))]:
        assert (merges[:, :2] < n + np.arange(n - 1)[:, None]).all()
        assert len(np.unique(merges[:, :2])) == 2 * n - 2  # each is merged once
        assert sorted(members(merges)[-1]) == list(range(n))
        sizes = [len(group) for group in members(merges)[n:]]
        np.testing.assert_array_equal(merges[:, 3], sizes)


def test_linkage_takes_other_distances_where_they_make_sense(rng):
    X = rng.normal(size=(30, 3))
    by_name, by_matrix = (
        linkage(X, "average", "l1"),
        linkage(manhattan(X), "average", "precomputed"),
    )
    np.testing.assert_allclose(by_name, by_matrix, rtol=1e-12)
    with pytest.raises(ValueError, match="metric must be one of 'euclidean', 'l2'; got 'l1'"):
        linkage(X, "ward", "l1")
    with pytest.raises(ValueError, match="linkage must be one of 'single', .*; got 'median'"):
        linkage(X, "median")
    with pytest.raises(ValueError, match=r"precomputed X must be square; got shape \(30, 3\)"):
        linkage(X, "single", "precomputed")


def test_a_matrix_of_pairs_is_symmetric_in_any_unit(rng):
    D = euclidean(rng.normal(size=(8, 2)))
    crooked = D.copy()
    crooked[0, 1] *= 2
    for unit in (1e-12, 1.0, 1e12):
        nearly = D * (1 + 1e-12 * rng.normal(size=D.shape))
        np.testing.assert_allclose(
            linkage(nearly * unit, "average", "precomputed")[:, 2],
            linkage(D, "average", "precomputed")[:, 2] * unit,
            rtol=1e-6,
        )
        with pytest.raises(
            ValueError, match="precomputed X must be symmetric; it differs from its transpose"
        ):
            linkage(crooked * unit, "average", "precomputed")


def test_agglomerate_knows_four_methods():
    with pytest.raises(ValueError, match="method must be one of 'single', .*; got 'median'"):
        next(agglomerate(np.zeros((2, 2)), "median"))


@pytest.mark.claims("clustering-20")
@pytest.mark.parametrize("method", LINKAGES)
def test_dendrogram_has_a_bracket_per_merge_and_crosses_nothing(rng, method):
    merges = linkage(rng.normal(size=(40, 2)), method)
    tree = dendrogram(merges)
    assert sorted(tree.order) == list(range(40)) and tree.brackets.shape == (39, 4, 2)
    place = np.argsort(tree.order)
    x, top = [*place.astype(float)], [0.0] * 40
    for (a, b, height, _), bracket in zip(merges, tree.brackets, strict=True):
        a, b = int(a), int(b)
        np.testing.assert_allclose(
            bracket, [(x[a], top[a]), (x[a], height), (x[b], height), (x[b], top[b])]
        )
        x.append((x[a] + x[b]) / 2)
        top.append(height)
    for a, b in merges[:, :2].astype(int):
        assert x[a] < x[b]  # the one of the smaller number on the left
    for group in members(merges):  # every cluster stands together
        assert np.ptp(place[group]) == len(group) - 1


# ---------------------------------------------------------------------------------------
# Another shape (spectral)
# ---------------------------------------------------------------------------------------


@pytest.fixture
def graph(rng):
    W = rng.uniform(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.5)
    return W + W.T


@pytest.mark.claims("clustering-22")
def test_quadratic_form_of_the_laplacian_sums_differences(rng, graph):
    L, normalized = laplacian(graph), laplacian(graph, normalized=True)
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_allclose(L.sum(axis=1), 0, rtol=0, atol=1e-12)
    W = graph - np.diag(np.diag(graph))
    degrees = W.sum(axis=1)
    np.testing.assert_allclose(L, np.diag(degrees) - W, rtol=0, atol=1e-12)
    for f in rng.normal(size=(20, 12)):
        pairs = [(i, k) for i in range(12) for k in range(12)]
        form = sum(graph[i, k] * (f[i] - f[k]) ** 2 for i, k in pairs) / 2
        assert f @ L @ f == pytest.approx(form, rel=1e-10)
        g = f / np.sqrt(degrees)
        form = sum(graph[i, k] * (g[i] - g[k]) ** 2 for i, k in pairs) / 2
        assert f @ normalized @ f == pytest.approx(form, rel=1e-10)


@pytest.mark.claims("clustering-22")
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("sizes", [[7], [3, 4], [1, 5, 2], [1, 1, 1]])
def test_eigenvalue_zero_counts_connected_components(rng, sizes, normalized):
    n, start = sum(sizes), 0
    W = np.zeros((n, n))
    for size in sizes:
        block = slice(start, start + size)
        W[block, block] = rng.uniform(0.1, 1, size=(size, size))
        start += size
    order = rng.permutation(n)
    W = (W + W.T)[np.ix_(order, order)]
    values, vectors = np.linalg.eigh(laplacian(W, normalized))
    assert np.sum(np.abs(values) < 1e-10) == len(sizes)
    assert values[0] > -1e-10  # positive semi-definite
    component = np.repeat(np.arange(len(sizes)), sizes)[order]
    rows = spectral_embedding(W, len(sizes), normalized=normalized)
    D = euclidean(rows)
    together = component[:, None] == component
    assert D[together].max() < 1e-7 and (len(sizes) == 1 or D[~together].min() > 1e-2)


@pytest.mark.parametrize("dtype", [int, np.uint8, bool])
@pytest.mark.parametrize("normalized", [False, True])
def test_laplacian_of_a_graph_in_whole_numbers(dtype, normalized):
    W = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0]])
    L = laplacian(W.astype(dtype), normalized)
    np.testing.assert_array_equal(L, laplacian(W.astype(float), normalized))
    root = np.sqrt([1, 2, 1]) if normalized else np.ones(3)
    expected = np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / np.outer(root, root)
    np.testing.assert_allclose(L, expected, rtol=1e-12)


def test_a_sample_hardly_like_the_others_is_embedded_with_its_component(rng):
    W = rbf_affinity(np.array([[0.0], [0.5], [7.0]]))
    assert 0 < W[2, :2].sum() < 1e-16 * W[2, 2]  # lost beside what the sample is to itself
    rows = spectral_embedding(W, 1)
    np.testing.assert_allclose(rows, np.tile(rows[0], (3, 1)), rtol=1e-5)  # one component


def rings():
    return make_rings(300, radii=(1.0, 3.0), noise=0.2, rng=np.random.default_rng(1))


@pytest.mark.claims("clustering-22")
@pytest.mark.parametrize("normalized", [False, True])
def test_rings_are_separated_exactly_by_a_disconnected_graph(normalized):
    T = rings()
    W = neighbor_affinity(T.X, 10)
    values, _ = lowest_eigenvectors(laplacian(W), 3)
    assert (np.abs(values) < 1e-9).sum() == 2
    model = SpectralClustering(
        2, affinity="nearest_neighbors", normalized=normalized, random_state=0
    ).fit(T.X)
    assert adjusted_rand_index(model.labels_, T.y) == 1
    np.testing.assert_array_equal(model.affinity_matrix_, W)


@pytest.mark.claims("clustering-22")
def test_no_two_centers_can_separate_the_rings():
    T = rings()
    inner, outer = T.X[T.y < 0], T.X[T.y > 0]
    turn = np.argsort(np.arctan2(outer[:, 1], outer[:, 0]))
    triangle = outer[turn[[0, 50, 100]]]
    corners = np.vstack([triangle.T, np.ones(3)])
    weights = np.linalg.solve(corners, [*inner[0], 1.0])
    assert (weights > 0).all()  # a mean of outer samples: whatever half-plane holds these, holds it
    assert adjusted_rand_index(KMeans(2, n_init=10, random_state=0).fit(T.X).labels_, T.y) < 0.1
    angles = np.linspace(0, np.pi, 181)
    for normal in np.column_stack([np.cos(angles), np.sin(angles)]):
        assert (outer @ normal).min() < (inner @ normal).min()
        assert (inner @ normal).max() < (outer @ normal).max()


def test_affinities_are_what_they_say(rng):
    X = rng.normal(size=(25, 2))
    W = rbf_affinity(X, gamma=0.7)
    pairs = [[np.exp(-0.7 * sum((x - y) ** 2)) for y in X] for x in X]
    np.testing.assert_allclose(W, pairs, rtol=1e-10)
    k = 6
    ranks = np.argsort(np.argsort(euclidean(X), axis=1), axis=1)  # 0 for the sample itself
    np.testing.assert_array_equal(neighbor_affinity(X, k), ((ranks < k) + 0.0 + (ranks < k).T) / 2)
    twins = neighbor_affinity(np.zeros((4, 2)), 1)
    np.testing.assert_array_equal(twins, np.eye(4))  # each is its own nearest
    with pytest.raises(ValueError, match="n_neighbors must be <= n_samples; got 26 for 25"):
        neighbor_affinity(X, 26)


@pytest.mark.parametrize("n, K", [(30, 1), (400, 3), (500, 7)])
@pytest.mark.parametrize("normalized", [False, True])
def test_lowest_eigenvectors_are_those_of_the_whole_matrix(rng, n, K, normalized):
    L = laplacian(rbf_affinity(rng.normal(size=(n, 2))), normalized)
    values, vectors = lowest_eigenvectors(L, K)
    np.testing.assert_allclose(
        values, np.linalg.eigvalsh(L)[:K], rtol=0, atol=1e-10 * np.linalg.norm(L, 2)
    )
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(K), rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        L @ vectors, vectors * values, rtol=0, atol=1e-8 * np.linalg.norm(L, 2)
    )


def test_equal_eigenvalues_and_clustered_ones_are_all_found(rng):
    L = np.kron(np.eye(5), laplacian(np.ones((80, 80))))
    values, vectors = lowest_eigenvectors(L, 5)
    np.testing.assert_allclose(values, 0, rtol=0, atol=1e-9)
    assert np.linalg.matrix_rank(vectors) == 5
    path = np.diag(np.full(399, 1.0), 1)  # eigenvalues 2 - 2 cos(pi k / n), of the order 1e-4
    values, _ = lowest_eigenvectors(laplacian(path + path.T), 3)
    np.testing.assert_allclose(
        values, 2 - 2 * np.cos(np.pi * np.arange(3) / 400), rtol=0, atol=1e-12
    )
    assert not lowest_eigenvectors(np.zeros((300, 300)), 2)[0].any()


# ---------------------------------------------------------------------------------------
# Judging groupings
# ---------------------------------------------------------------------------------------


def test_silhouettes_are_those_of_a_loop(rng):
    X, labels = rng.normal(size=(30, 2)), rng.integers(4, size=30)
    labels[0] = 9  # alone in its cluster
    D = manhattan(X)
    s = silhouette(D, labels)
    for i in range(30):
        mates = [k for k in range(30) if labels[k] == labels[i] and k != i]
        if not mates:
            assert s[i] == 0
            continue
        own = np.mean(D[i, mates])
        other = min(np.mean(D[i, labels == c]) for c in set(labels) - {labels[i]})
        assert s[i] == pytest.approx((other - own) / max(own, other), rel=1e-12)
    assert (np.abs(s) <= 1).all()
    np.testing.assert_allclose(silhouette(7 * D, labels), s, rtol=1e-12, atol=1e-14)  # no unit


def test_silhouettes_of_equal_samples_are_zero_and_one_cluster_is_refused():
    assert silhouette(np.zeros((4, 4)), [0, 0, 1, 1]).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="there must be at least two"):
        silhouette(np.ones((3, 3)), [5, 5, 5])


def test_adjusted_rand_index_counts_pairs(rng):
    for _ in range(20):
        a, b = rng.integers(4, size=15), rng.integers(3, size=15)
        pairs = list(combinations(range(15), 2))
        in_a = {p for p in pairs if a[p[0]] == a[p[1]]}
        in_b = {p for p in pairs if b[p[0]] == b[p[1]]}
        expected = len(in_a) * len(in_b) / len(pairs)
        index = (len(in_a & in_b) - expected) / ((len(in_a) + len(in_b)) / 2 - expected)
        assert adjusted_rand_index(a, b) == pytest.approx(index, abs=1e-12)
        assert adjusted_rand_index(b, a) == pytest.approx(index, abs=1e-12)
        assert adjusted_rand_index(a, np.array(list("wxyz"))[a]) == 1


def test_adjusted_rand_index_of_random_groupings_is_zero_on_average(rng):
    a = np.repeat([0, 1, 2], 20)
    shuffled = [adjusted_rand_index(a, rng.permutation(a)) for _ in range(400)]
    assert abs(np.mean(shuffled)) < 4 * np.std(shuffled) / 20
    assert adjusted_rand_index([0], [5]) == 1
    assert adjusted_rand_index([0, 0, 0], [1, 1, 1]) == adjusted_rand_index(range(3), range(3)) == 1
    assert adjusted_rand_index([0, 0, 0], [1, 2, 3]) == 0
    many = np.arange(50_000)  # a table of all pairs of clusters would take 20 GB
    assert adjusted_rand_index(many, many[::-1]) == 1
    with pytest.raises(ValueError, match="labels and others must have the same length; got 3, 1"):
        adjusted_rand_index([0, 0, 1], [0])


# ---------------------------------------------------------------------------------------
# Estimators
# ---------------------------------------------------------------------------------------


def test_k_means_keeps_the_best_of_its_starts(rng):
    X, _ = three_blobs(rng, n=120)
    inertia = [
        KMeans(8, n_init=R, init="random", random_state=3).fit(X).inertia_ for R in range(1, 15)
    ]
    assert (np.diff(inertia) <= 0).all() and inertia[-1] < inertia[0]
    for init, R in (("k-means++", 1), ("random", 10)):
        auto, given = (
            KMeans(8, n_init=n_init, init=init, random_state=3).fit(X) for n_init in ("auto", R)
        )
        np.testing.assert_array_equal(auto.labels_, given.labels_)


def test_k_means_is_lloyd_with_a_tolerance(rng):
    X, _ = three_blobs(rng, n=900)
    start, unit = X[:6], X.var(axis=0).mean()
    states = list(lloyd(X, start))
    for tol in (0.0, 1e-4, 1e-2):
        model = KMeans(6, init=start, tol=tol).fit(X)
        steps = next(t for t, state in enumerate(states) if state.moved <= tol * unit)
        assert model.n_iter_ == steps and model.converged_
        np.testing.assert_array_equal(model.cluster_centers_, states[steps].centers)
        np.testing.assert_array_equal(model.labels_, states[steps].labels)
        np.testing.assert_array_equal(
            model.history_, [state.objective for state in states[: steps + 1]]
        )
        assert model.inertia_ == pytest.approx(loss(X, model.cluster_centers_), rel=1e-12)


def test_tolerance_of_k_means_is_relative_to_the_mean_variance_of_what_has_weight(rng):
    X, _ = three_blobs(rng, n=300)
    X, w = np.vstack([X, [[1e3, -1e3]]]), np.append(np.ones(300), 0.0)
    states, unit = list(lloyd(X, X[:5], w)), X[:-1].var(axis=0).mean()
    moved = np.array([state.moved for state in states])
    assert len(states) > 6
    for step in moved[1:-1]:
        for tol, expected in ((1.001, moved <= step * 1.001), (0.999, moved <= step * 0.999)):
            model = KMeans(5, init=X[:5], tol=tol * step / unit).fit(X, sample_weight=w)
            assert model.n_iter_ == np.argmax(expected)


def test_k_means_from_given_centers_is_one_run(rng, monkeypatch):
    X, _ = three_blobs(rng)
    runs = []

    def counted(*arguments):
        runs.append(arguments)
        return lloyd(*arguments)

    monkeypatch.setattr("mlnotes.clustering.lloyd", counted)
    KMeans(3, init=X[:3], n_init=7).fit(X)
    assert len(runs) == 1
    KMeans(3, init="random", n_init=7, random_state=0).fit(X)
    assert len(runs) == 8


def test_random_starts_are_different_samples_drawn_by_weight():
    X, w = np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 5.0])
    rng = np.random.default_rng(0)
    how = {"init": "random", "n_init": 1, "random_state": rng}
    first = [KMeans(1, **how).fit(X, sample_weight=w).history_[0] for _ in range(2000)]
    J = [loss(X, x[None], sample_weight=w) for x in X]  # which tell where it started
    shares = np.isclose(np.array(first)[:, None], J).mean(axis=0)
    np.testing.assert_allclose(shares, w / 8, rtol=0, atol=0.05)
    first = [KMeans(3, **how).fit(X, sample_weight=w).history_[0] for _ in range(20)]
    np.testing.assert_allclose(first, 0, rtol=0, atol=1e-12)  # one at each


def test_k_means_answers(rng):
    X, _ = three_blobs(rng)
    model, new = KMeans(4, random_state=0).fit(X), rng.normal(size=(30, 2))
    D = model.transform(new)
    np.testing.assert_allclose(D, euclidean(new, model.cluster_centers_), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), D.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.score(new) == pytest.approx(-np.sum(D.min(axis=1) ** 2))
    assert model.score(X) == pytest.approx(-model.inertia_)
    w = rng.uniform(size=30)
    assert model.score(new, sample_weight=w) == pytest.approx(-w @ D.min(axis=1) ** 2)
    again = KMeans(4, random_state=0)
    np.testing.assert_array_equal(again.fit_predict(X), model.labels_)
    np.testing.assert_allclose(again.fit_transform(X), model.transform(X), rtol=1e-12)


def test_k_means_cut_short_says_so(rng):
    X, _ = three_blobs(rng, n=300)
    message = r"KMeans stopped after 1 iterations with moved = \S+ > \S+: see history_"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = KMeans(5, max_iter=1, random_state=0).fit(X)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not model.converged_ and model.n_iter_ == 1 and len(model.history_) == 2
    np.testing.assert_array_equal(model.labels_, model.predict(X))  # as far as it came


def test_weighted_k_means_does_not_see_samples_of_weight_zero(rng):
    X, _ = three_blobs(rng)
    noise = 100 * rng.normal(size=(10, 2))
    w = np.repeat([1.0, 0.0], [60, 10])
    for init in ("k-means++", "random"):
        model = KMeans(3, init=init, n_init=3, random_state=1)
        blind = model.fit(np.vstack([X, noise]), sample_weight=w).cluster_centers_
        assert np.abs(blind).max() < 10
    plain = KMeans(3, random_state=1).fit(X)
    weighted = KMeans(3, random_state=1).fit(np.vstack([X, noise]), sample_weight=w)
    np.testing.assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, rtol=1e-12)
    assert weighted.n_iter_ == plain.n_iter_


@pytest.mark.parametrize(
    "how, message",
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1; got 0"),
        ({"n_clusters": 9}, r"n_clusters must be at most n_samples; got 9 for 4 sample\(s\)"),
        ({"init": "best"}, "init must be one of 'k-means\\+\\+', 'random'; got 'best'"),
        ({"init": [[0.0, 0.0]]}, r"init must be .* an array of shape \(2, 2\); got \(1, 2\)"),
        ({"init": [[0, np.nan], [1, 1]]}, "must be finite"),
        ({"n_init": 0}, "n_init must be an integer >= 1; got 0"),
        ({"tol": -1}, "tol must be a number >= 0; got -1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1; got 0"),
    ],
)
def test_k_means_refuses_what_is_out_of_range(how, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**{"n_clusters": 2} | how).fit(CORNERS)


def test_k_means_wants_as_many_weighted_samples_as_clusters():
    with pytest.raises(ValueError, match="n_clusters must be at most n_samples; got 3 for 2"):
        KMeans(3).fit(CORNERS, sample_weight=[1, 0, 0, 2])


def test_k_medoids_with_and_without_features(rng):
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(10, 3))
    model = KMedoids(3, metric="l1").fit(X)
    np.testing.assert_array_equal(X[model.medoid_indices_], model.cluster_centers_)
    blind = KMedoids(3, metric="precomputed").fit(manhattan(X))
    np.testing.assert_array_equal(blind.medoid_indices_, model.medoid_indices_)
    np.testing.assert_array_equal(blind.labels_, model.labels_)
    np.testing.assert_allclose(blind.transform(manhattan(new, X)), model.transform(new))
    np.testing.assert_array_equal(blind.predict(manhattan(new, X)), model.predict(new))
    assert model.inertia_ == pytest.approx(model.transform(X).min(axis=1).sum())
    assert not hasattr(blind, "cluster_centers_")
    assert not hasattr(model.set_params(metric="precomputed").fit(manhattan(X)), "cluster_centers_")
    with pytest.raises(ValueError, match="precomputed X must be symmetric"):
        blind.fit(rng.uniform(size=(5, 5)))


def test_k_medoids_cut_short_says_so(rng):
    X = make_moons(60, rng=rng).X
    steps = KMedoids(8).fit(X).n_iter_
    assert steps > 1
    with pytest.warns(ConvergenceWarning, match="KMedoids stopped after 1 iterations with gain"):
        assert not KMedoids(8, max_iter=1).fit(X).converged_


def test_robust_centers_find_the_groups_that_outliers_hide_from_means(rng):
    X, y = three_blobs(rng, n=90, spread=0.5)
    outliers = np.array([[300.0, 0.0], [0.0, -250.0], [-400.0, 100.0]])
    both = np.vstack([X, outliers])
    assert adjusted_rand_index(KMedoids(3).fit(X).labels_, y) > 0.9
    for R in (2, 4):
        far = np.vstack([X, outliers / 100 * R])
        assert adjusted_rand_index(KMedoids(3).fit(far).labels_[:90], y) > 0.9
    assert adjusted_rand_index(KMeans(3, n_init=10, random_state=0).fit(both).labels_[:90], y) < 0.1


@pytest.mark.parametrize("method", LINKAGES)
def test_agglomerative_clustering_is_a_cut(rng, method):
    X, _ = three_blobs(rng)
    merges = linkage(X, method)
    model = AgglomerativeClustering(4, linkage=method, compute_distances=True).fit(X)
    np.testing.assert_array_equal(model.labels_, cut(merges, 4))
    np.testing.assert_array_equal(model.children_, merges[:, :2])
    np.testing.assert_array_equal(model.distances_, merges[:, 2])
    assert (model.n_clusters_, model.n_leaves_, model.n_connected_components_) == (4, 60, 1)
    threshold = model.distances_[-3]  # the last three merges are at least so high
    by_height = AgglomerativeClustering(None, linkage=method, distance_threshold=threshold).fit(X)
    assert by_height.n_clusters_ == 4
    np.testing.assert_array_equal(by_height.distances_, model.distances_)  # kept in any case
    np.testing.assert_array_equal(by_height.labels_, model.labels_)
    everything = AgglomerativeClustering(None, linkage=method, distance_threshold=1e9).fit(X)
    assert everything.n_clusters_ == 1 and not everything.labels_.any()
    assert not hasattr(model.set_params(compute_distances=False).fit(X), "distances_")


def test_wards_heights_are_the_rise_of_the_loss(rng):
    X, _ = three_blobs(rng)
    merges = linkage(X)
    J = [np.trace(scatter(X, cut(merges, K)).within) for K in range(60, 0, -1)]
    np.testing.assert_allclose(np.diff(J), merges[:, 2] ** 2 / 2, rtol=1e-9)


@pytest.mark.parametrize(
    "how, message",
    [
        ({"n_clusters": None}, "one of n_clusters and distance_threshold must be None"),
        ({"distance_threshold": 1.0}, "must be None and the other must not; got 2 and 1.0"),
        ({"n_clusters": 5}, "n_clusters must be at most n_samples; got 5 for 4"),
        ({"metric": "l1"}, "metric must be one of 'euclidean', 'l2'; got 'l1'"),
        ({"linkage": "centroid"}, "linkage must be one of .*; got 'centroid'"),
        ({"compute_distances": 1}, "compute_distances must be True or False; got 1"),
        (
            {"n_clusters": None, "distance_threshold": -1},
            "distance_threshold must be a number >= 0; got -1",
        ),
    ],
)
def test_agglomerative_clustering_refuses_what_is_out_of_range(how, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**how).fit(CORNERS)


def test_spectral_clustering_takes_a_graph(rng):
    T = make_moons(200, noise=0.05, rng=rng)
    model = SpectralClustering(2, gamma=30.0, random_state=0).fit(T.X)
    W = rbf_affinity(T.X, 30.0)
    given = SpectralClustering(2, affinity="precomputed", random_state=0).fit(W)
    np.testing.assert_array_equal(given.labels_, model.labels_)
    assert given.affinity_matrix_ is not W
    assert adjusted_rand_index(model.labels_, T.y) == 1
    assert adjusted_rand_index(KMeans(2, random_state=0).fit(T.X).labels_, T.y) < 0.7
    more = SpectralClustering(2, n_components=4, gamma=30.0, random_state=0).fit(T.X)
    assert len(set(more.labels_)) == 2


@pytest.mark.parametrize(
    "how, message",
    [
        ({"n_clusters": 5}, "n_clusters must be at most n_samples; got 5 for 4"),
        ({"n_components": 5}, "n_components must be at most n_samples; got 5 for 4"),
        ({"n_init": 0}, "n_init must be an integer >= 1; got 0"),
        ({"n_init": "auto"}, "n_init must be an integer >= 1; got 'auto'"),
        ({"gamma": 0}, "gamma must be a number > 0; got 0"),
        ({"affinity": "cosine"}, "affinity must be one of .*; got 'cosine'"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1; got 0"),
        ({"affinity": "nearest_neighbors"}, "n_neighbors must be <= n_samples; got 10 for 4"),
        ({"affinity": "precomputed"}, r"precomputed X must be square; got shape \(4, 2\)"),
        ({"normalized": "yes"}, "normalized must be True or False; got 'yes'"),
    ],
)
def test_spectral_clustering_refuses_what_is_out_of_range(how, message):
    with pytest.raises(ValueError, match=message):
        SpectralClustering(**{"n_clusters": 2} | how).fit(CORNERS)


def test_normalising_keeps_a_single_sample_from_being_a_cluster(rng):
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + [3.5, 0], [[0.0, 6.5]]])
    halves, alone = np.repeat([0, 1, 0], [60, 60, 1]), np.repeat([0, 1], [120, 1])
    balanced, plain = (
        SpectralClustering(2, gamma=0.5, normalized=normalized, random_state=0).fit(X).labels_
        for normalized in (True, False)
    )
    assert adjusted_rand_index(balanced, halves) > 0.7 and same_grouping(plain, alone)


def test_spectral_clustering_wants_similarities():
    with pytest.raises(ValueError, match="precomputed similarities must be >= 0; got -1"):
        SpectralClustering(2, affinity="precomputed").fit([[0.0, -1.0], [-1.0, 0.0]])


@pytest.mark.parametrize("estimator", [KMeans(2, n_init=5, random_state=0), KMedoids(2),
                                       AgglomerativeClustering(2)], ids=repr)  # fmt: skip
def test_samples_of_any_size_are_clustered_or_refused_by_name(estimator):
    for scale in (1e-140, 1e149):
        assert same_grouping(estimator.fit(CORNERS * scale).labels_, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="X must lie within -1e.150 and 1e.150"):
        estimator.fit(CORNERS * 1e150)


@pytest.mark.parametrize("estimator", [KMeans(3, random_state=0), KMedoids(3),
                                       AgglomerativeClustering(3)], ids=repr)  # fmt: skip
def test_irises_fall_into_their_species(estimator):
    T = load_iris()
    assert adjusted_rand_index(estimator.fit_predict(T.X), T.y) > 0.7
    with pytest.raises(NotFittedError):
        type(estimator)()._check_fitted(T.X)


# ---------------------------------------------------------------------------------------
# The lecture figures
# ---------------------------------------------------------------------------------------


def drawn_labels(ax, X):
    """Which of the groups of markers on the axes each sample of X is drawn in."""
    groups = [line.get_xydata() for line in ax.lines if line.get_marker() not in ("P", "None")]
    at = {tuple(x): k for k, group in enumerate(groups) for x in group}
    assert sum(map(len, groups)) == len(X) == len(at)
    return np.array([at[tuple(x)] for x in X])


def crosses(ax):
    """The centers drawn."""
    return np.vstack([line.get_xydata() for line in ax.lines if line.get_marker() == "P"])


@pytest.mark.claims("clustering-16")
def test_cells_are_drawn_in_the_colour_of_their_samples():
    from figures.clustering import SHOWN, lloyd_at_work, lloyd_run
    from mlnotes.plotting import tint

    axes = Figure().subplots(2, 3).ravel()
    lloyd_at_work(*axes)
    X, states = lloyd_run()
    for ax, t in zip(axes[:-1], [*SHOWN, len(states) - 1], strict=True):
        centers = crosses(ax)
        np.testing.assert_array_equal(centers, states[t].centers)
        D = np.sum((X[:, None] - centers) ** 2, axis=2)
        np.testing.assert_array_equal(drawn_labels(ax, X), D.argmin(axis=1))
        groups = [line for line in ax.lines if line.get_marker() != "P"]
        cells = [each for each in ax.collections if each.filled]
        for k, (group, cell) in enumerate(zip(groups, cells, strict=True)):
            colour = tint(to_rgb(group.get_markeredgecolor()))
            np.testing.assert_allclose(cell.get_facecolor()[0, :3], colour, rtol=0, atol=1e-9)
            margin = np.delete(D, k, axis=1).min(axis=1) - D[:, k]
            clear = np.abs(margin) > 0.5  # the border is drawn on a grid
            inside = np.any([path.contains_points(X) for path in cell.get_paths()], axis=0)
            np.testing.assert_array_equal(inside[clear], margin[clear] > 0)
        assert ax.get_title() == f"step {t}: $J = {D.min(axis=1).sum():.0f}$"


@pytest.mark.claims("clustering-16")
def test_curve_drawn_never_rises_and_rests_in_the_end():
    from figures.clustering import lloyd_at_work, lloyd_run

    axes = Figure().subplots(2, 3).ravel()
    lloyd_at_work(*axes)
    X, states = lloyd_run()
    line, after_e, after_m = axes[-1].lines
    t, J = line.get_data()
    np.testing.assert_array_equal(t, np.arange(len(J)) / 2)
    np.testing.assert_array_equal(after_e.get_data(), [t[::2], J[::2]])
    np.testing.assert_array_equal(after_m.get_data(), [t[1::2], J[1::2]])
    assert after_e.get_markeredgecolor() != after_m.get_markeredgecolor()
    assert (np.diff(J) <= 1e-9).all() and J[-1] == pytest.approx(J[-2], rel=1e-12)
    for i, value in enumerate(J):
        labels, centers = states[i // 2].labels, states[(i + 1) // 2].centers
        assert value == pytest.approx(np.sum((X - centers[labels]) ** 2), rel=1e-10)


@pytest.mark.claims("clustering-18")
def test_images_drawn_have_as_many_colours_as_they_say():
    from figures.clustering import PALETTES, photographed, segmentation

    axes = Figure().subplots(1, 5)
    segmentation(*axes)
    original, *images = [ax.images[0].get_array() for ax in axes]
    np.testing.assert_array_equal(original, photographed())
    error = []
    for K, image, ax in zip(PALETTES, images, axes[1:], strict=True):
        colours = np.unique(image.reshape(-1, 3), axis=0)
        assert len(colours) == K and ax.get_title() == f"$K = {K}$"
        D = np.sum((original.reshape(-1, 1, 3) - colours) ** 2, axis=2)
        np.testing.assert_array_equal(colours[D.argmin(axis=1)], image.reshape(-1, 3))
        error.append(D.min(axis=1).sum())
    assert (np.diff(error) < 0).all()


@pytest.mark.claims("clustering-18")
def test_regions_of_a_picture_are_found_at_their_number_of_colours():
    from figures.clustering import PAINTS, painted, photographed, quantised

    regions, image = painted(), photographed(noise=0)
    assert set(regions.ravel()) == set(range(8))
    restored = quantised(image, 8)
    assert np.sum((restored - image) ** 2) < 1e-20  # J = 0
    D = np.sum((restored[:, :, None] - PAINTS) ** 2, axis=3)
    np.testing.assert_array_equal(D.argmin(axis=2), regions)
    noisy = quantised(photographed(), 8).reshape(-1, 3)
    assert same_grouping(np.unique(noisy, axis=0, return_inverse=True)[1].ravel(), regions.ravel())
    assert np.sum((quantised(image, 4) - image) ** 2) > 1


def rand_by_pairs(a, b):
    """The adjusted Rand index by counting pairs of samples."""
    in_a, in_b = ((c[:, None] == c)[np.triu_indices(len(c), 1)] for c in (a, b))
    expected = in_a.sum() * in_b.sum() / len(in_a)
    return ((in_a & in_b).sum() - expected) / ((in_a.sum() + in_b.sum()) / 2 - expected)


@pytest.fixture
def limits():
    from figures.clustering import limitations

    axes = Figure().subplots(5, 2)
    limitations(*axes.ravel())
    return axes, np.array([[float(ax.get_title().split()[-1]) for ax in row] for row in axes])


@pytest.mark.claims("clustering-23")
@pytest.mark.parametrize("row, data", [(1, "stretched"), (3, "with_outliers"), (4, "moons")])
def test_titles_give_the_agreement_with_the_groups_drawn(limits, row, data):
    import figures.clustering

    X, y = (
        make_moons(240, noise=0.06, rng=np.random.default_rng(0))[:]
        if data == "moons"
        else getattr(figures.clustering, data)()
    )
    ours = y >= 0 if data == "with_outliers" else np.full(len(y), True)
    for ax, shown in zip(limits[0][row], limits[1][row], strict=True):
        index = rand_by_pairs(drawn_labels(ax, X)[ours], y[ours])
        assert shown == pytest.approx(index, abs=0.005)
    left, right = limits[1][row]
    assert right >= 0.9 > 0.5 > left


@pytest.mark.claims("clustering-23")
def test_the_hierarchy_drawn_is_nested_and_the_two_runs_of_k_means_are_not(limits):
    for ax, shown in zip(limits[0][2], limits[1][2], strict=True):
        X, three, four = [], [], []
        for line in ax.lines:
            X += line.get_xydata().tolist()
            three += [line.get_mfc()] * len(line.get_xydata())
            four += [line.get_marker()] * len(line.get_xydata())
        three, four = (np.unique(c, return_inverse=True)[1] for c in (three, four))
        assert len(X) == 150 and (three.max(), four.max()) == (2, 3)
        best = max(
            rand_by_pairs(three, np.where(four == a, b, four)) for a, b in combinations(range(4), 2)
        )
        assert shown == pytest.approx(best, abs=0.005)
        nested = all(len(set(three[four == k])) == 1 for k in range(4))
        assert nested == (shown == 1)
    left, right = limits[1][2]
    assert left < right == 1


@pytest.mark.claims("clustering-19", "clustering-23")
def test_the_label_drawn_jumps_and_the_share_does_not(limits):
    from figures.clustering import MOVE

    (left, right), shown = limits[0][0], limits[1][0]
    (x, label), (x_too, share) = left.lines[0].get_data(), right.lines[0].get_data()
    np.testing.assert_array_equal(x, x_too)
    assert np.diff(x).max() <= MOVE * 1.05 and set(label) == {0, 1}
    assert np.count_nonzero(np.diff(label)) == 1 and (np.diff(share) > 0).all()
    np.testing.assert_allclose(
        shown, [np.diff(label).max(), np.diff(share).max()], rtol=0, atol=0.005
    )
    assert shown[1] < 0.1 and share[0] < 0.05 and share[-1] > 0.95


def test_dendrogram_drawn_has_every_merge_and_the_cut_between_the_last_three():
    from figures.clustering import iris_hierarchy

    flowers, tree = Figure().subplots(1, 2)
    iris_hierarchy(flowers, tree)
    X = load_iris().X
    merges = linkage(X)
    labels = cut(merges, 3)
    brackets = [line.get_xydata() for line in tree.lines if len(line.get_xydata()) == 4]
    expected = [bracket.tolist() for bracket in dendrogram(merges).brackets]
    assert sorted(bracket.tolist() for bracket in brackets) == sorted(expected)
    (level,) = {y for line in tree.lines if line.get_ls() == ":" for y in line.get_ydata()}
    assert np.sum(merges[:, 2] > level) == 2
    sizes = [len(line.get_xydata()) for line in flowers.lines]
    assert sizes == np.bincount(labels).tolist()
