"""Lecture figures of the clustering chapter."""

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from mlnotes.clustering import (
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    SpectralClustering,
    adjusted_rand_index,
    agglomerate,
    cut_dendrogram,
    decode_codes,
    distortion,
    euclidean,
    graph_laplacian,
    kmeans_plus_plus,
    linkage,
    lloyd,
    lowest_eigenvectors,
    nearest,
    rbf_affinity,
    silhouette,
)
from mlnotes.datasets import load_iris, load_wine, make_blobs, make_moons, to_bits
from mlnotes.mixture import GaussianMixture
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    Take,
    draw_ellipse,
    draw_image,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)


def draw_centers(ax, centers, **style):
    """The centers as black crosses with a white rim."""
    ax.plot(*centers.T, "P", **({"color": INK, "mec": "white", "ms": 9, "zorder": 6} | style))


def draw_clusters(ax, X, labels, size=3.5):
    """The samples by cluster, on equal scales without ticks."""
    draw_samples(ax, X, labels, size=size)
    set_view(ax, X)
    ax.set(xticks=[], yticks=[], anchor="W")


# --- The wines -------------------------------------------------------------------------


def standardised(X):
    """Every feature with mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


@figure("wines", claims=(), size=(4.4, 3.1))
def wines(ax):
    """Two measurements of 178 wines, standardised. The cloud is thicker at the lower left, in the
    middle below, and at the upper right. But there are no clear gaps. Where would you draw borders?
    """
    draw_samples(ax, standardised(load_wine().X)[:, [6, 12]], size=5)
    ax.set(xlabel="flavanoids (standardised)", ylabel="proline (standardised)")


@figure("units", claims=("clustering-05",), panels=2, size=(3.4, 2.8))
def units(*axes):
    """Three clusters of the wines, drawn in the units of measurement. Left: computed as measured.
    The borders are almost horizontal: proline alone decides, because its numbers vary hundreds of
    times as much. Right: standardised. Both features count.
    """
    raw = load_wine().X[:, [6, 12]]
    for ax, X, name in zip(
        axes, (raw, standardised(raw)), ("as measured", "standardised"), strict=True
    ):
        draw_samples(ax, raw, k_means(3).fit(X).labels_, size=3.5)
        ax.set(title=f"K-means, {name}", xlabel="flavanoids", ylabel="proline")


def curves(X, starts):
    """J and the mean silhouette for K = 2 to 5: (2, 4)."""
    models = [KMeans(K, n_init=starts, random_state=0).fit(X) for K in range(2, 6)]
    s = [silhouette(euclidean(X), model.labels_).mean() for model in models]
    return np.array([[model.inertia_ for model in models], s])


@figure("choosing_k", claims=("clustering-14",), panels=2, size=(3.6, 2.5))
def choosing_k(*axes):
    """Choosing the number of clusters for the 13 measurements of the wines (circles). The squares
    are 19 tables from one normal distribution with the covariances of the wines. Left: the loss of
    the wines bends at K = 3. From 2 to 3 it falls more steeply than all others, from 3 to 4 less
    steeply than all others. Right: the mean silhouette of the wines is largest at 3, and larger
    than that of every other table.
    """
    Z, rng = standardised(load_wine().X), np.random.default_rng(0)
    tables = [rng.multivariate_normal(np.zeros(13), np.cov(Z.T), size=178) for _ in range(19)]
    others, of_wines = [curves(standardised(X), 40) for X in tables], curves(Z, 40)
    for k, ax in enumerate(axes):
        for other in others:
            ax.plot(range(2, 6), other[k], "s--", color=ORANGE, ms=2.5, lw=0.6)
        ax.plot(range(2, 6), of_wines[k], "o-", color=BLUE, ms=5)
        ax.set(xlabel="$K$", ylabel=("$J$", "mean silhouette")[k], ylim=0, xticks=range(2, 6))


# --- Lloyd's algorithm at work ---------------------------------------------------------

SHOWN = (0, 1, 3, 5)  # steps, and the last one


def lloyd_run():
    """The samples, and the states of Lloyd's algorithm from three samples of one group."""
    T = make_blobs([60, 60, 60], [[0.0, 0.0], [4.0, 0.5], [1.5, 3.5]], rng=np.random.default_rng(2))
    return T.X, list(lloyd(T.X, T.X[[109, 92, 62]]))


def half_steps(X, states):
    """J after every E-step, and after every M-step: the new centers with the labels before."""
    after_m = [
        distortion(X, after.centers, before.labels)
        for before, after in zip(states[:-1], states[1:], strict=True)
    ]
    return [state.objective for state in states], after_m


@figure("lloyd", claims=("clustering-16",), panels=(2, 3), size=(2.5, 2.3))
def lloyd_at_work(*axes):
    """Three round groups of 60 samples. K-means has three centers (crosses) that start in one
    group. Each sample has the colour of its nearest center, and so has each point of the plane.
    Watch two of the centers leave the group in which they start. Lower right: J after each half
    step, with new labels (dots) and with new centers (squares).
    """
    X, states = lloyd_run()
    steps = [*SHOWN, len(states) - 1]
    *panels, curve = axes
    for ax, t in zip(panels, steps, strict=True):
        draw_clusters(ax, X, states[t].labels)
        draw_regions(ax, lambda x, t=t: nearest(x, states[t].centers)[0], range(3))
        draw_centers(ax, states[t].centers)
        ax.set_title(f"step {t}: $J = {states[t].objective:.0f}$")
    after_e, after_m = half_steps(X, states)
    draw_half_steps(curve, after_e, after_m)


def draw_half_steps(ax, after_e, after_m):
    """J after each half step."""
    t = np.arange(len(after_e))
    both = np.column_stack([after_e, [*after_m, after_e[-1]]]).ravel()[:-1]
    ax.plot(np.arange(len(both)) / 2, both, color=GREY, lw=1)
    ax.plot(t, after_e, "o", color=BLUE, ms=5, label="new labels")
    ax.plot(t[:-1] + 0.5, after_m, "s", mec=ORANGE, mfc="white", ms=5, label="new centers")
    ax.set(title="$J$ after each half step", xlabel="step", ylim=0, xticks=t[::3])
    ax.legend(loc="upper right", handletextpad=0.2)


# --- Where K-means ends ----------------------------------------------------------------


@figure("rectangle", claims=("clustering-13",), panels=2, size=(3.4, 1.5))
def rectangle(stuck, best):
    """Two groupings of the corners of a rectangle, with their centers (crosses). Left: each corner
    is 2 away from its center and farther from the other (dotted), so nothing moves. Right: each
    corner is 1/2 away from its center.
    """
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
    for ax, labels in ((stuck, [0, 1, 0, 1]), (best, [0, 0, 1, 1])):
        centers = np.array([corners[np.equal(labels, k)].mean(axis=0) for k in (0, 1)])
        for corner, own in zip(corners, centers[labels], strict=True):
            ax.plot(*np.transpose([corner, own]), color=GREY, lw=1, zorder=1)
        draw_samples(ax, corners, labels, size=6)
        draw_centers(ax, centers)
        ax.set(xlim=(-0.3, 4.3), ylim=(-0.35, 1.35), aspect="equal", xticks=[], yticks=[])
        ax.set_title(f"$J = {distortion(corners, centers, np.array(labels)):.0f}$")
    stuck.plot([0, 2], [0, 1], ":", color=INK, lw=1, zorder=1)
    stuck.text(0.75, 0.52, r"$\sqrt{5}$", ha="center")
    stuck.text(1.0, -0.05, "2", ha="center", va="top")
    best.text(0.12, 0.25, "1/2", va="center")


@figure("landscape", claims=("clustering-13",), size=(4.0, 3.4))
def landscape(ax):
    """J for all positions of two centers on a line with the numbers 0, 2, 8, 14, 15, 16, as contour
    lines, darker where J is smaller. Exchanging the centers changes nothing, so the picture is
    symmetric. Each path is a run of K-means, and its dots are the steps. All 15 runs start above
    the diagonal, and each ends in one of two hollows (crosses). The upper hollow is deeper.
    """
    row, axis = np.array([[0.0], [2], [8], [14], [15], [16]]), np.linspace(-1, 18, 191)
    squares = (row - axis) ** 2
    J = np.minimum(squares[:, None], squares[:, :, None]).sum(axis=0)
    levels = [38, 43, *np.geomspace(50, 1100, 12)]  # 38 rings the upper hollow, 43 both
    ax.contour(axis, axis, J, levels=levels, cmap="Blues_r", linewidths=1)
    for pair in combinations(range(6), 2):
        path = np.array([state.centers.ravel() for state in lloyd(row, row[list(pair)])])
        ax.plot(*path.T, ".-", color=ORANGE, lw=1.2, ms=5)
        draw_centers(ax, path[-1])
    ax.set(xlabel=r"$\mu_0$", ylabel=r"$\mu_1$", aspect="equal")


@figure("stranded", claims=(), size=(4.4, 3.5))
def stranded(ax):
    """Twenty groups, and the end of a run from 20 random samples: centers (crosses)
    and the borders of their cells. Three groups have two centers each (blue), and three centers
    serve two groups each (orange). All orange samples are nearest to the center that they share.
    """
    grid = [[8.0 * (k // 5), 8.0 * (k % 5)] for k in range(20)]
    X, y = make_blobs([15] * 20, grid, rng=np.random.default_rng(2))[:]
    *_, end = lloyd(X, X[np.random.default_rng(15).choice(300, 20, replace=False)])
    table = np.array([np.bincount(end.labels[y == g], minlength=20) for g in np.unique(y)]) > 0
    two_centers = table.sum(axis=1) > 1  # of each group
    shared = (table & (table.sum(axis=0) > 1)).any(axis=1)
    for of, color in ((~two_centers & ~shared, GREY), (shared, ORANGE), (two_centers, BLUE)):
        ax.plot(*X[np.repeat(of, 15)].T, ".", color=color, ms=3)
    set_view(ax, X)
    for x, height, lead in leads(ax, end.centers, points=161):
        ax.contour(x, height, lead, levels=[0], colors=[GREY], linewidths=0.4)
    draw_centers(ax, end.centers, ms=7)
    ax.set(xticks=[], yticks=[])


@figure("far_apart", claims=(), panels=3, size=(2.6, 2.4))
def far_apart(*axes):
    """k-means++ draws three centers (crosses) from three groups of 20 samples. The area of a disc
    shows the probability that this sample is the next center. In the first two panels, groups
    without a center have most of the probability. In the last each group has a center, and about a
    third of the probability.
    """
    X = make_blobs([20] * 3, [[0, 0], [6, 0], [3, 5]], rng=np.random.default_rng(0)).X
    start = kmeans_plus_plus(X, 3, np.random.default_rng(12))
    for t, ax in enumerate(axes, start=1):
        squares = nearest(X, start[:t])[1]
        ax.scatter(*X.T, s=2500 * squares / squares.sum(), color=tint(BLUE, 0.5))
        ax.plot(*X.T, ".", color=GREY, ms=2)
        draw_centers(ax, start[:t])
        set_view(ax, X, margin=0.12)
        ax.set(title=f"{t} drawn", xticks=[], yticks=[])


@figure("cells", claims=("clustering-09",), size=(3.4, 2.8))
def cells(ax):
    """Five centers (crosses) and their cells: each point of the plane has the colour of its nearest
    center. Every border is straight, halfway between two centers.
    """
    centers = np.array([[-1.5, -1.2], [0.2, 1.4], [1.6, -0.9], [-1.9, 1.6], [2.2, 1.5]])
    set_view(ax, np.array([[-3.0, -2.5], [3.0, 2.5]]), margin=0)
    for k, (x, y, lead) in enumerate(leads(ax, centers)):
        ax.contourf(x, y, lead, levels=[0, np.inf], colors=[tint(COLORS[k])], zorder=0)
        ax.contour(x, y, lead, levels=[0], colors=[INK], linewidths=0.6)
    draw_centers(ax, centers)
    ax.set(xticks=[], yticks=[])


def leads(ax, centers, points=201):
    """The lead of each center over all others: positive in its cell, and linear at each border."""
    x, y = np.linspace(*ax.get_xlim(), points), np.linspace(*ax.get_ylim(), points)
    shifts = np.stack(np.meshgrid(x, y), axis=-1)[:, :, None] - centers
    squares = np.sum(shifts**2, axis=-1)
    for k in range(len(centers)):
        yield x, y, np.delete(squares, k, axis=-1).min(axis=-1) - squares[..., k]


# --- Vector quantisation ---------------------------------------------------------------

PALETTES = (2, 4, 8, 16)  # numbers of colours
PAINTS = np.array(
    [
        [0.62, 0.80, 0.93],  # sky
        [0.99, 0.84, 0.25],  # sun
        [0.93, 0.95, 0.97],  # cloud
        [0.30, 0.52, 0.33],  # hill
        [0.13, 0.33, 0.55],  # sea
        [0.90, 0.78, 0.56],  # beach
        [0.47, 0.22, 0.14],  # hull
        [0.85, 0.25, 0.20],  # sail
    ]
)


def painted(height=60, width=90):
    """A picture with eight regions: which paint each pixel has, (height, width)."""
    v, u = np.mgrid[0 : 1 : 1j * height, 0 : 1.5 : 1j * width]
    regions = np.zeros((height, width), dtype=int)
    regions[(u - 1.2) ** 2 + (v - 0.18) ** 2 < 0.11**2] = 1
    cloud = ((u - 0.42) / 0.2) ** 2 + ((v - 0.17) / 0.07) ** 2 < 1
    regions[cloud] = 2
    regions[v > 0.48 + 0.6 * (u - 0.35) ** 2] = 3
    regions[v > 0.52] = 4
    regions[v > 0.80 + 0.06 * np.cos(4 * u)] = 5
    regions[(v > 0.62) & (v < 0.70) & (np.abs(u - 0.95) < 0.26 - 1.2 * (v - 0.62))] = 6
    regions[(v > 0.28) & (v < 0.60) & (u > 0.95) & (u < 0.95 + 0.7 * (v - 0.28))] = 7
    return regions


def photographed(noise=0.03):
    """The picture in colours, with some noise: (height, width, 3) in [0, 1]."""
    pixels = PAINTS[painted()]
    return np.clip(pixels + noise * np.random.default_rng(0).normal(size=pixels.shape), 0, 1)


def quantised(image, K):
    """The image in K colours, those that K-means finds among its pixels."""
    pixels = image.reshape(-1, 3)
    model = KMeans(K, n_init=10, random_state=0).fit(pixels)
    return decode_codes(model.labels_, model.cluster_centers_).reshape(image.shape)


@figure("segmentation", claims=("clustering-18",), panels=(1, 5), size=(2.0, 1.7))
def segmentation(original, *panels):
    """A noisy picture of eight flat regions, and the same picture in K colours that K-means finds
    among its pixels. With 8 colours the clusters are the regions, the noise is gone, and a pixel
    takes 3 bits. With fewer, regions of similar colours run together. With 16, the additional
    colours are spent on the noise.
    """
    image = photographed()
    draw_image(original, image)
    original.set_title("original")
    for ax, K in zip(panels, PALETTES, strict=True):
        draw_image(ax, quantised(image, K))
        ax.set_title(f"$K = {K}$")


# --- The hierarchy of the irises -------------------------------------------------------


class Dendrogram(NamedTuple):
    """A drawing of a hierarchy: samples side by side, and a bracket over each two that merge."""

    order: np.ndarray  # (n,), the samples from left to right, at x = 0, ..., n - 1
    brackets: np.ndarray  # (n - 1, 4, 2), the corners (x, height) of each merge


def dendrogram(merges):
    """The `Dendrogram` in which no brackets cross: samples of a cluster stand side by side."""
    n = len(merges) + 1
    pairs, samples = merges[:, :2].astype(int), [[i] for i in range(n)]
    for a, b in pairs:
        samples.append(samples[a] + samples[b])
    order = np.array(samples[-1])
    x, top = np.argsort(order).astype(float), np.append(np.zeros(n), merges[:, 2])
    for a, b in pairs:
        x = np.append(x, (x[a] + x[b]) / 2)
    a, b = pairs.T
    corners = [(x[a], top[a]), (x[a], top[n:]), (x[b], top[n:]), (x[b], top[b])]
    return Dendrogram(order, np.moveaxis(np.array(corners), 2, 0))


@figure("dendrogram", claims=(), panels=2)
def iris_hierarchy(flowers, tree):
    """Left: 150 irises in three clusters, by Ward's linkage on their four measurements, two of
    which are drawn. Right: all 149 merges. A bracket joins two clusters at the height of their
    distance. The dotted line cuts the tree into three parts, the clusters on the left. A lower cut
    can only split these further, and never mixes them.
    """
    X = load_iris().X
    merges = linkage(euclidean(X), "ward")
    labels, n = cut_dendrogram(merges, 3), len(X)
    draw_samples(flowers, X[:, 2:], labels, size=4)
    flowers.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    order, brackets = dendrogram(merges)
    parts = np.array(cut_of_each_merge(merges, labels))
    for part in range(-1, 3):  # one color after the other: merges of equal height have any order
        for bracket in brackets[parts == part]:
            tree.plot(*bracket.T, color=INK if part < 0 else COLORS[part], lw=1)
    tree.axhline(merges[-3:-1, 2].mean(), color=GREY, lw=1, ls=":")
    for k in range(3):
        place = np.flatnonzero(labels[order] == k)
        marker = {"marker": MARKERS[k], "mec": COLORS[k], "mfc": (COLORS[k], "white")[k % 2]}
        tree.plot(place.mean(), -0.06 * merges[-1, 2], ms=5, clip_on=False, **marker)
    tree.set(xlim=(-1, n), ylim=0, xticks=[], ylabel="height", xlabel=" ")
    tree.spines.bottom.set_visible(False)


def cut_of_each_merge(merges, labels):
    """The cluster that each merge takes place in; -1 above the cut."""
    part = list(labels)
    for a, b in merges[:, :2].astype(int):
        part.append(part[a] if part[a] == part[b] else -1)
    return part[len(labels) :]


# --- The five limitations --------------------------------------------------------------


def stretched():
    """Two long groups side by side and a small round one, and the group of each sample."""
    centers, long = [[0.0, 0.0], [2.4, -0.4], [-1.2, 2.4]], [[2.0, 1.7], [1.7, 1.6]]
    covariances = [long, long, 0.06 * np.eye(2)]
    return make_blobs([100, 100, 30], centers, covariances, rng=np.random.default_rng(0))[:]


def with_outliers():
    """Two groups, and four samples far from either, as group -1."""
    X, y = make_blobs([40, 40], [[0.0, 0.0], [5.0, 0.0]], rng=np.random.default_rng(5))[:]
    far = [[14.0, 7.0], [15.0, 6.3], [14.6, 7.8], [15.5, 7.2]]
    return np.vstack([X, far]), np.append(y, [-1] * 4)


def half_circles():
    """Two half circles, and the half circle of each sample."""
    X, y = make_moons(240, noise=0.06, rng=np.random.default_rng(0))[:]
    return X, to_bits(y)


def k_means(K):
    """K-means, the best of ten starts."""
    return KMeans(K, n_init=10, random_state=0)


def found(data):
    """Samples, true groups (-1 is none), and the models that K-means and its remedy give."""
    X, y = data()
    K, remedy = {
        stretched: (3, GaussianMixture(3, n_init=5, random_state=0)),
        with_outliers: (2, KMedoids(2)),
        half_circles: (
            2,
            SpectralClustering(2, gamma=30.0, normalized=False, random_state=0),
        ),
    }[data]
    return X, y, k_means(K).fit(X), remedy.fit(X)


def agreement(labels, y):
    """The adjusted Rand index of the clusters and the true groups, without group -1."""
    return adjusted_rand_index(labels[y >= 0], y[y >= 0])


SHAPES = {stretched: "mixture", with_outliers: "K-medoids", half_circles: "spectral"}


def draw_found(axes, data):
    """K-means (left) and its remedy (right), with the agreement in the titles: both models."""
    X, y, means, remedy = found(data)
    labels = getattr(remedy, "labels_", None)
    labels = remedy.predict(X) if labels is None else labels
    words = "K-means", SHAPES[data]
    for ax, title, c in zip(axes, words, (means.labels_, labels), strict=True):
        draw_clusters(ax, X, c)
        ax.set_title(f"{title}: ARI {agreement(c, y):.2f}")
    return means, remedy


@figure("long_groups", claims=("clustering-23",), panels=2, size=(3.2, 1.9))
def long_groups(left, right):
    """Two long groups and a round one. Left: K-means cuts the long ones up. Right: the
    ellipses of a mixture follow their shapes. The titles give the adjusted Rand index (ARI).
    """
    _, mixture = draw_found((left, right), stretched)
    for mu, Sigma in zip(mixture.means_, mixture.covariances_, strict=True):
        draw_ellipse(right, mu, Sigma, lw=1)


@figure("outliers", claims=("clustering-23",), panels=2, size=(3.2, 1.9))
def outliers(left, right):
    """Two groups, and four outliers that the ARI does not count. Left: with K-means, one of the two
    centers (crosses) goes to the outliers. Right: the medoids (crosses) stay with the two groups.
    """
    means, medoids = draw_found((left, right), with_outliers)
    draw_centers(left, means.cluster_centers_)
    draw_centers(right, medoids.cluster_centers_)


@figure("half_circles", claims=("clustering-23",), panels=2, size=(3.2, 1.9))
def bent_groups(left, right):
    """Two half circles. Left: K-means cuts them straight. Right: the four steps of spectral
    clustering, with the scale 30, follow them.
    """
    draw_found((left, right), half_circles)


def overlapping():
    """Two groups along a line that overlap."""
    T = make_blobs([100, 100], [[0.0, 0.0], [2.6, 0.0]], rng=np.random.default_rng(3))
    return T.X


MOVE = 0.05  # of a sample, to see what it changes


def moving_sample():
    """A sample on the way from center to center: its places (m, 2), its labels, its shares."""
    X = overlapping()
    means, mixture = k_means(2).fit(X), GaussianMixture(2, covariance_type="diag")
    mixture = mixture.set_params(random_state=0).fit(X)
    a, b = means.cluster_centers_[np.argsort(means.cluster_centers_[:, 0])]
    share = np.linspace(-0.6, 1.6, 1 + round(2.2 * np.linalg.norm(b - a) / MOVE))
    path = a + share[:, None] * (b - a)
    label = (means.predict(path) == means.predict([b])).astype(float)
    return path, label, mixture.predict_proba(path)[:, mixture.means_[:, 0].argmax()]


def shapeless():
    """Samples all over a disc: no number of clusters is the right one."""
    rng = np.random.default_rng(6)
    turn, r = rng.uniform(0, 2 * np.pi, size=150), np.sqrt(rng.uniform(size=150))
    return np.column_stack([r * np.cos(turn), r * np.sin(turn)])


def three_and_four(method):
    """The labels of three and of four clusters of the disc."""
    X = shapeless()
    return [method(K).fit(X).labels_ for K in (3, 4)]


def merged_agreement(coarse, fine):
    """How well the best merge of two of the fine clusters gives the coarse ones."""
    merges = [np.where(fine == a, b, fine) for a, b in permutations(np.unique(fine), 2)]
    return max(adjusted_rand_index(coarse, merged) for merged in merges)


@figure("instability", claims=("clustering-23",), panels=(2, 2), size=(3.2, 2.2))
def instability(label_axes, share_axes, left, right):
    """Small changes that change much for K-means (left), and less for its remedies (right). Row 1:
    a sample moves from left to right in steps of 0.05. Its label jumps from 0 to 1, but its share
    in a mixture of Gaussians changes by at most 0.032 in a step. Row 2: one disc without groups, in
    three clusters (colours) and in four (markers). With K-means each of the colours has several
    markers; in a hierarchy the four clusters are the three, one of them split. The ARI compares the
    three clusters with the four, after those two of the four are merged that make it largest.
    """
    path, label, share = moving_sample()
    for ax, y, word in ((label_axes, label, "label"), (share_axes, share, "share")):
        style = "steps" if word == "label" else "default"
        ax.plot(path[:, 0], y, color=INK, lw=1.4, drawstyle=style)
        ax.plot(overlapping()[:, 0], np.full(200, -0.12), "|", color=GREY, ms=5, mew=0.7)
        ax.set(xlabel="$x_1$ of the sample", ylim=(-0.2, 1.1), yticks=(0, 0.5, 1))
        ax.set_title(f"{word}: up to {np.abs(np.diff(y)).max():.2f} per move")
    X = shapeless()
    for ax, name, method in (
        (left, "K-means", k_means),
        (right, "hierarchy", AgglomerativeClustering),
    ):
        three, four = three_and_four(method)
        for k, marker in enumerate(MARKERS[:4]):
            for c, color in enumerate(COLORS[:3]):
                both = (four == k) & (three == c)
                ax.plot(*X[both].T, marker, ls="", mfc=color, mec=color, ms=3.5)
        set_view(ax, X)
        ax.set(xticks=[], yticks=[], anchor="W", xlabel="colours: 3 clusters; markers: 4")
        ax.set_title(f"{name}: ARI {merged_agreement(three, four):.2f}")


@figure("second_eigenvector", claims=("clustering-22",), panels=2, size=(3.7, 2.5))
def second_eigenvector(graph, values):
    """The heights with the least sum on two half circles, of length 1 and adding up to 0. Left: the
    links with a similarity above 0.3 at the scale 30 (grey), and the heights as colour: one half
    circle is up, the other down. Right: the heights in order, with a jump between the two.
    """
    X, y = make_moons(240, noise=0.08, rng=np.random.default_rng(4))[:]
    W = rbf_affinity(X, gamma=30.0)
    v = lowest_eigenvectors(graph_laplacian(W), 2)[1][:, 1]
    v = v * np.sign(v @ y)  # an eigenvector has no sign of its own
    i, j = np.nonzero(np.triu(W) > 0.3)
    links = np.stack([X[i], X[j], np.full((len(i), 2), np.nan)], axis=1)  # nan ends a line
    graph.plot(*links.reshape(-1, 2).T, color=GREY, lw=0.4, zorder=1)
    drawn = graph.scatter(*X.T, c=v, s=12, cmap="coolwarm", zorder=2)
    graph.figure.colorbar(drawn, ax=graph)
    graph.set(title="links, and heights as colour", aspect="equal", xticks=[], yticks=[])
    values.plot(np.sort(v), ".", color=INK, ms=3)
    values.set(title="heights, sorted", xlabel="samples, from the lowest to the highest")


def three_arcs():
    """Three half circles, each of which grips the next, and the half circle of each sample."""
    rng, y = np.random.default_rng(0), np.repeat(range(3), 100)
    turn, up = np.pi * rng.uniform(size=300), np.where(y == 1, -1, 1)
    X = np.column_stack([1.3 * y + np.cos(turn), np.where(y == 1, 0.4, 0) + up * np.sin(turn)])
    return X + 0.06 * rng.normal(size=X.shape), y


@figure("rows", claims=("clustering-22",), panels=2, size=(3.7, 2.4))
def rows(plane, embedded):
    """Three half circles in the clusters that the four steps find at the scale 30. Left: in the
    plane no flat border separates the middle one from a neighbour. Right: what step 4 sees. Each
    sample has become a point, drawn at its entries of the second and the third eigenvector. All
    links are positive, so the first is constant, and tells nothing. The half circles have become
    three knots, which the flat borders of K-means separate.
    """
    X, y = three_arcs()
    F = lowest_eigenvectors(graph_laplacian(rbf_affinity(X, gamma=30.0)), 3)[1][:, 1:]
    F = F * np.sign(F[y == 2].sum(axis=0))  # an eigenvector has no sign of its own
    ends = k_means(3).fit(F).cluster_centers_
    centers = ends[np.argsort(ends[:, 0])]  # from left to right
    labels = nearest(F, centers)[0]
    draw_clusters(plane, X, labels)
    plane.set(title="samples", anchor="C")
    draw_samples(embedded, F, labels, size=3.5)
    set_view(embedded, F, margin=0.25)
    draw_regions(embedded, lambda x: nearest(x, centers)[0], range(3))
    embedded.set(title="rows of $F$", xlabel="$v_2$", ylabel="$v_3$", xticks=[], yticks=[])


# --- Films -----------------------------------------------------------------------------


@film("lloyd", lloyd, measure="J", K=(3, 2, 4, 5), start=(0, 1, 2, 3))
def lloyd_film(K, start):
    """K-means at work. Each step gives every sample the colour of its nearest center (crosses), and
    moves each center to the mean of its samples. J never rises. Other starts may end elsewhere.
    """
    T = make_blobs([40, 40, 40], [[0.0, 0.0], [4.0, 0.5], [1.5, 3.5]], rng=np.random.default_rng(2))
    centers = T.X[np.random.default_rng(start).choice(len(T.X), K, replace=False)]

    def draw(ax, state):
        draw_samples(ax, T.X, state.labels, size=4)
        draw_centers(ax, state.centers)
        set_view(ax, T.X)

    def words(state):
        sizes = ", ".join(map(str, np.bincount(state.labels, minlength=K)))
        return f"J = {state.objective:.1f}. The clusters have {sizes} samples."

    return Take(lloyd(T.X, centers), draw, words)


def five_groups():
    """Five groups of 16 samples."""
    centers = [[0.0, 0.0], [5.0, 0.5], [2.5, 4.0], [7.5, 4.5], [-1.5, 5.0]]
    return make_blobs([16] * 5, centers, 0.4 * np.eye(2), rng=np.random.default_rng(2)).X


DISTANCES = (0.0, 0.7, 1.5, 3.0, 5.0, np.inf)  # to the nearest center: one size of dots for each


@film("plus_plus", kmeans_plus_plus, measure="J", trials=(1, 3), seed=(0, 1, 2))
def plus_plus_film(trials, seed):
    """K-means++ draws centers to start from, far apart. The larger a dot, the farther the sample is
    from its nearest center, and the likelier it is drawn next. So most draws fall into a group that
    has no center yet. Of several trials the best is kept.
    """
    X = five_groups()

    def loss(centers):
        return nearest(X, centers)[1].sum()

    def draw(ax, centers):
        distance = np.sqrt(nearest(X, centers)[1])
        for low, high, size in zip(DISTANCES, DISTANCES[1:], (2, 3.5, 5, 7.5, 11), strict=False):
            of = (distance >= low) & (distance < high)
            ax.plot(*X[of].T, "o", ms=size, color=tint(BLUE, 0.5), mec=BLUE, mew=0.6)
        draw_centers(ax, centers[:-1])
        draw_centers(ax, centers[-1:], color=ORANGE, ms=12)
        set_view(ax, X)

    def words(centers):
        K = len(centers)
        if K == 1:
            return f"The first center is drawn at random. J = {loss(centers):.1f}."
        _, squares = nearest(X, centers[:-1])
        drawn = np.sum((centers[-1] - nearest_center(centers)) ** 2)
        share = drawn / squares.mean()
        return (
            f"Center {K} (orange) is drawn: J = {loss(centers):.1f}. It was {share:.1f} times "
            "as likely as the average sample."
        )

    def nearest_center(centers):
        return centers[:-1][nearest(centers[-1:], centers[:-1])[0][0]]

    states = (
        kmeans_plus_plus(X, K, trials=trials, rng=np.random.default_rng(seed)) for K in range(1, 9)
    )
    return Take(states, draw, words, loss)


@film("agglomerate", agglomerate, measure="distance", linkage=("average", "single", "complete"))
def agglomerate_film(linkage):
    """Single samples grow to one tree. Each step merges the two nearest of all clusters (blue and
    orange); a grey line joins the means of two clusters that were merged. The distance never falls.
    Single linkage makes chains; complete linkage makes compact clusters.
    """
    from matplotlib.collections import LineCollection

    T = make_moons(24, noise=0.12, rng=np.random.default_rng(3))
    merges = list(agglomerate(euclidean(T.X), linkage))
    members = [[i] for i in range(len(T.X))]
    for a, b in (merge.pair for merge in merges):
        members.append(members[a] + members[b])
    means = np.array([T.X[each].mean(axis=0) for each in members])
    links = means[[merge.pair for merge in merges]]

    def draw(ax, merge):
        done = merges.index(merge)
        ax.add_collection(LineCollection(links[:done], colors=GREY, linewidths=0.8, zorder=1))
        ax.plot(*links[done].T, color=INK, lw=1.8, zorder=1)
        draw_samples(ax, T.X, size=5)
        groups = [members[k] for k in merge.pair]
        draw_samples(ax, T.X[sum(groups, [])], np.repeat([0, 1], list(map(len, groups))))
        set_view(ax, T.X)
        ax.set(xticks=(-1, 0, 1, 2), yticks=(-0.5, 0, 0.5, 1))

    def words(merge):
        a, b = (len(members[k]) for k in merge.pair)
        left = len(T.X) - 1 - merges.index(merge)
        return (
            f"Clusters of {a} and {b} samples at distance {merge.height:.2f} become one. "
            f"{left} {'cluster is' if left == 1 else 'clusters are'} left."
        )

    states = agglomerate(euclidean(T.X), linkage)
    return Take(states, draw, words, lambda merge: merge.height)


if __name__ == "__main__":
    run_script(__file__)
