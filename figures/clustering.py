"""Lecture figures of the clustering chapter."""

from itertools import permutations

import numpy as np

from mlnotes.clustering import (
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    SpectralClustering,
    adjusted_rand_index,
    agglomerate,
    cut,
    decode,
    dendrogram,
    euclidean,
    kmeans_plus_plus,
    linkage,
    lloyd,
    loss,
    nearest,
)
from mlnotes.datasets import load_iris, make_blobs, make_moons, to_bits
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
    ax.set(xticks=[], yticks=[])


# ---------------------------------------------------------------------------------------
# Lloyd's algorithm at work
# ---------------------------------------------------------------------------------------

SHOWN = (0, 1, 3, 5)  # steps, and the last one


def lloyd_run():
    """The samples, and the states of Lloyd's algorithm from three samples of one group."""
    T = make_blobs([60, 60, 60], [[0.0, 0.0], [4.0, 0.5], [1.5, 3.5]], rng=np.random.default_rng(2))
    return T.X, list(lloyd(T.X, T.X[[109, 92, 62]]))


def half_steps(X, states):
    """J after every E-step, and after every M-step: the new centers with the labels before."""
    after_m = [
        loss(X, after.centers, before.labels)
        for before, after in zip(states[:-1], states[1:], strict=True)
    ]
    return [state.objective for state in states], after_m


@figure("lloyd", claims=("clustering-16",), panels=(2, 3), size=(2.5, 2.3))
def lloyd_at_work(*axes):
    """K-means with three centers (crosses) that start in one group. Each sample has the colour of
    its nearest center, and so has each point of the plane. Watch two of the centers leave the group
    in which they start. Lower right: J after each half step, with new labels (dots) and with new
    centers (squares). Neither half ever raises J, and the run ends when neither changes anything.
    """
    X, states = lloyd_run()
    steps = [*SHOWN, len(states) - 1]
    *panels, curve = axes
    for ax, t in zip(panels, steps, strict=True):
        draw_clusters(ax, X, states[t].labels)
        draw_regions(ax, lambda x, t=t: nearest(x, states[t].centers)[0], range(3))
        draw_centers(ax, states[t].centers)
        ax.set_anchor("W")
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


# ---------------------------------------------------------------------------------------
# Vector quantisation
# ---------------------------------------------------------------------------------------

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
    return decode(model.labels_, model.cluster_centers_).reshape(image.shape)


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


# ---------------------------------------------------------------------------------------
# The hierarchy of the irises
# ---------------------------------------------------------------------------------------


@figure("dendrogram", claims=(), panels=2)
def iris_hierarchy(flowers, tree):
    """Left: 150 irises in three clusters, by Ward's linkage on their four measurements. Right: all
    149 merges. A bracket joins two clusters at the height of their distance. The dotted line cuts
    the tree into three parts, the clusters on the left. A lower cut would split these further and
    would never mix them.
    """
    X = load_iris().X
    merges = linkage(X)
    labels, n = cut(merges, 3), len(X)
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


# ---------------------------------------------------------------------------------------
# The five limitations
# ---------------------------------------------------------------------------------------


def overlapping():
    """Two groups along a line that overlap."""
    T = make_blobs([100, 100], [[0.0, 0.0], [2.6, 0.0]], rng=np.random.default_rng(3))
    return T.X


def stretched():
    """Two long groups side by side and a small round one, and the group of each sample."""
    centers, long = [[0.0, 0.0], [2.4, -0.4], [-1.2, 2.4]], [[2.0, 1.7], [1.7, 1.6]]
    covariances = [long, long, 0.06 * np.eye(2)]
    return make_blobs([100, 100, 30], centers, covariances, rng=np.random.default_rng(0))[:]


def shapeless():
    """Samples all over a disc: no number of clusters is the right one."""
    rng = np.random.default_rng(6)
    turn, r = rng.uniform(0, 2 * np.pi, size=150), np.sqrt(rng.uniform(size=150))
    return np.column_stack([r * np.cos(turn), r * np.sin(turn)])


def with_outliers():
    """Two groups, and four samples far from either, as group -1."""
    X, y = make_blobs([40, 40], [[0.0, 0.0], [5.0, 0.0]], rng=np.random.default_rng(5))[:]
    far = [[14.0, 7.0], [15.0, 6.3], [14.6, 7.8], [15.5, 7.2]]
    return np.vstack([X, far]), np.append(y, [-1] * 4)


def merged_agreement(coarse, fine):
    """How well the best merge of two of the fine clusters gives the coarse ones."""
    merges = [np.where(fine == a, b, fine) for a, b in permutations(np.unique(fine), 2)]
    return max(adjusted_rand_index(coarse, merged) for merged in merges)


LIMITS = (3.2, 2.3)
MOVE = 0.05  # of a sample, to see what it changes


@figure("limitations", claims=("clustering-23",), panels=(5, 2), size=LIMITS)
def limitations(*axes):
    """K-means at its limits (left) and the remedies (right). The titles of rows 2 to 5 give the
    adjusted Rand index (ARI), which is 1 if the groups are found. Row 1: a sample moves from left
    to right in steps of 0.05. Its label jumps from 0 to 1, but its share in a mixture of Gaussians
    changes by about 0.03 at most in a step. Row 2: of three groups the two long ones are cut up; a
    mixture follows their shapes. Row 3: one disc without groups, in three clusters (colours) and in
    four (markers). With K-means each of the colours has several markers; in a hierarchy the four
    clusters are the three, one of them split. Here the ARI compares the three clusters with the
    four after the best merge of two. Row 4: four outliers (left out of the ARI) get a center of
    their own; medoids (crosses) stay with the two groups. Row 5: half circles are cut straight;
    spectral clustering follows them.
    """
    rows = perturbed, nonspherical, varying, outliers, nonconvex
    for row, left, right in zip(rows, axes[::2], axes[1::2], strict=True):
        row(left, right)


def perturbed(left, right):
    """The label and the responsibility of a sample against its place."""
    X = overlapping()
    model = KMeans(2, n_init=10, random_state=0).fit(X)
    order = np.argsort(model.cluster_centers_[:, 0])
    mixture = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    second = mixture.means_[:, 0].argmax()
    a, b = model.cluster_centers_[order]
    share = np.linspace(-0.6, 1.6, 1 + round(2.2 * np.linalg.norm(b - a) / MOVE))
    path = a + share[:, None] * (b - a)
    label = np.argsort(order)[model.predict(path)]
    r = mixture.predict_proba(path)[:, second]
    for ax, y, name, word in ((left, label, "K-means", "label"), (right, r, "mixture", "share")):
        ax.plot(path[:, 0], y, color=INK, lw=1.4, drawstyle="steps" if ax is left else "default")
        ax.plot(X[:, 0], np.full(len(X), -0.12), "|", color=GREY, ms=5, mew=0.7)
        ax.set(xlabel="$x_1$ of the sample", ylabel=word, ylim=(-0.2, 1.1), yticks=(0, 0.5, 1))
        ax.set_title(f"{name}: a move changes the {word} by {np.abs(np.diff(y)).max():.2f}")


def nonspherical(left, right):
    """Long groups: K-means, and a mixture of Gaussians with its ellipses."""
    X, y = stretched()
    mixture = GaussianMixture(3, n_init=5, random_state=0).fit(X)
    compare(left, X, y, KMeans(3, n_init=10, random_state=0).fit(X).labels_, "K-means")
    compare(right, X, y, mixture.predict(X), "mixture")
    for mu, Sigma in zip(mixture.means_, mixture.covariances_, strict=True):
        draw_ellipse(right, mu, Sigma, lw=1)


def varying(left, right):
    """Three and four clusters: by K-means, and by Ward's linkage."""
    X = shapeless()
    for ax, method, name in (
        (left, lambda K: KMeans(K, n_init=10, random_state=0), "K-means"),
        (right, AgglomerativeClustering, "hierarchy"),
    ):
        three, four = (method(K).fit(X).labels_ for K in (3, 4))
        for k, marker in enumerate(MARKERS[:4]):
            for c, color in enumerate(COLORS[:3]):
                both = (four == k) & (three == c)
                ax.plot(*X[both].T, marker, ls="", mfc=color, mec=color, ms=3.5)
        set_view(ax, X)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name}: ARI {merged_agreement(three, four):.2f}")


def outliers(left, right):
    """Two groups with outliers: K-means, and K-medoids, with their centers."""
    X, y = with_outliers()
    for ax, model, name in (
        (left, KMeans(2, n_init=10, random_state=0), "K-means"),
        (right, KMedoids(2), "K-medoids"),
    ):
        compare(ax, X, y, model.fit(X).labels_, name)
        draw_centers(ax, model.cluster_centers_)


def nonconvex(left, right):
    """Half circles: K-means, and spectral clustering."""
    X, y = make_moons(240, noise=0.06, rng=np.random.default_rng(0))[:]
    spectral = SpectralClustering(2, affinity="nearest_neighbors", random_state=0)
    compare(left, X, to_bits(y), KMeans(2, n_init=10, random_state=0).fit(X).labels_, "K-means")
    compare(right, X, to_bits(y), spectral.fit(X).labels_, "spectral")


def compare(ax, X, y, labels, name):
    """The clusters found, and how they agree with the groups y; -1 is none."""
    draw_clusters(ax, X, labels)
    ax.set_title(f"{name}: ARI {adjusted_rand_index(labels[y >= 0], y[y >= 0]):.2f}")


# ---------------------------------------------------------------------------------------
# Films
# ---------------------------------------------------------------------------------------


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
            return f"The first center is drawn at random. J = {loss(X, centers):.1f}."
        _, squares = nearest(X, centers[:-1])
        drawn = np.sum((centers[-1] - nearest_center(centers)) ** 2)
        share = drawn / squares.mean()
        return (
            f"Center {K} (orange) is drawn: J = {loss(X, centers):.1f}. It was {share:.1f} times "
            "as likely as the average sample."
        )

    def nearest_center(centers):
        return centers[:-1][nearest(centers[-1:], centers[:-1])[0][0]]

    states = (
        kmeans_plus_plus(X, K, trials=trials, rng=np.random.default_rng(seed)) for K in range(1, 9)
    )
    return Take(states, draw, words, lambda centers: loss(X, centers))


@film("agglomerate", agglomerate, measure="distance", linkage=("average", "single", "complete"))
def agglomerate_film(linkage):
    """Single samples grow to one tree. Each step merges two clusters that are each other's nearest
    (blue and orange); a grey line joins the means of two clusters that were merged. Merges are made
    in the order in which they are found, so the distance does not always rise. Single linkage makes
    chains; complete linkage makes compact clusters.
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
