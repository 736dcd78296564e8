"""Lecture figures of the neighbors chapter."""

import numpy as np

from mlnotes.clustering import cluster_means, whiten
from mlnotes.datasets import (
    five_events,
    load_wine,
    make_curve,
    make_moons,
    make_quadrants,
    make_rings,
)
from mlnotes.decision_theory import bayes_error
from mlnotes.neighbors import (
    KNeighborsClassifier,
    asymptotic_error,
    cover_hart_bound,
    knn_classify,
    leave_one_out_errors,
    nearest_neighbors,
    nearest_to_farthest,
    norm_log_density,
    regress,
    smoother,
    voronoi_cell,
    voronoi_edges,
)
from mlnotes.pca import standardise
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    draw_ellipse,
    draw_regions,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)
from mlnotes.probability import gauss_legendre, normal_log_density

BOTTLE = 4  # the wine whose label is put aside


@figure("units", claims=(), panels=2, size=(4.1, 3.4))
def units(left, right):
    """The known bottles, the unknown bottle (cross) and its seven nearest (ringed). Left: by the
    distance of the raw numbers. The seven have nearly the same proline as the cross, and quite
    different colours. Right, enlarged: by the distance of the standardised features. The curve
    joins the places that are as far away as the seventh neighbour. In raw units it is an ellipse.
    """
    wine = load_wine()
    two = wine.X[:, [9, 12]]
    bottle, X, y = two[[BOTTLE]], np.delete(two, BOTTLE, axis=0), np.delete(wine.y, BOTTLE)
    for ax, spread in ((left, np.ones(2)), (right, X.std(axis=0))):
        near = nearest_neighbors(bottle / spread, X / spread, 7)
        draw_samples(ax, X, y, size=4, names=["variety 1", "variety 2", "variety 3"])
        ax.plot(*X[near.index[0]].T, "o", ms=10, mfc="none", mec=INK)
        ax.plot(*bottle.T, "x", ms=9, mew=2, color=INK)
        ax.set(xlabel="colour intensity")
    turn = np.linspace(0, 2 * np.pi, 181)
    rim = bottle + near.distance[0, -1] * spread * np.column_stack([np.cos(turn), np.sin(turn)])
    right.plot(*rim.T, color=INK, lw=0.8)
    left.set(title="distance of the raw numbers", ylabel="proline")
    right.set(title="distance of standardised features", xlim=(2.8, 5.8), ylim=(550, 920))
    left.legend(loc="upper right", fontsize=9)


QUERY = np.array([[0.0, 0.0]])
KS = (1, 3, 7)  # neighbours of the query that are asked
POINTER = {"arrowstyle": "-", "color": GREY, "lw": 0.8, "shrinkA": 1, "shrinkB": 0}


def around_the_query():
    """Ten samples of two classes about the origin, of which 1, 3 and 7 give other answers."""
    lengths = np.array([0.55, 0.8, 0.95, 1.25, 1.4, 1.6, 1.75, 2.25, 2.4, 2.5])
    turn = 2 * np.pi * np.array([0.1, 0.42, 0.8, 0.62, 0.27, 0.99, 0.12, 0.5, 0.72, 0.35])
    X = lengths[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return X, np.array(list("abbaabaabb"))


@figure("neighborhoods", claims=("neighbors-07",), panels=2)
def neighborhoods(left, right):
    """Left: a query (cross) and ten samples of the classes a and b. Each circle holds the k nearest
    samples, and the thick line leads to the nearest one. The answer depends on k: the nearest alone
    says a, three say b, and seven say a again. Right: five samples, numbers y at places x. At x = 4
    the three neighbours (filled) average to 10/3 (line). The only sample at x = 4 itself says 5.
    """
    X, y = around_the_query()
    turn = np.linspace(0, 2 * np.pi, 181)
    for k, (angle, height) in zip(KS, ((-0.5, -0.85), (-0.75, -1.5), (-1.0, -2.15)), strict=True):
        r, index = nearest_neighbors(QUERY, X, k)
        rim = r[0, -1] * np.column_stack([np.cos(turn), np.sin(turn)])
        left.plot(*rim.T, color=INK, lw=0.9, ls="-" if k == 1 else "--")
        (answer,) = knn_classify(QUERY, X, y, k)
        place = r[0, -1] * np.array([np.cos(angle), np.sin(angle)])
        text = left.annotate(
            f"$k={k}$: {answer}", place, (1.95, height), va="center", arrowprops=POINTER
        )
        text.set(fontsize=9)
    link = np.vstack([QUERY, X[nearest_neighbors(QUERY, X, 1).index[0]]])
    left.plot(*link.T, color=INK, lw=1.8)
    left.plot(*QUERY.T, "x", color=INK, ms=7, mew=1.6, zorder=4)
    draw_samples(left, X, y, size=6, names=["class a", "class b"])
    set_view(left, np.vstack([X, -X]), margin=0.05)
    left.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, fontsize=9)
    draw_events(right)


def draw_events(ax):
    """IRHD's figure 2.2: the events, the query, the neighbours and their average."""
    T = five_events()
    X, y, query = T.X.astype(float), T.y, np.array([[4.0]])
    chosen = nearest_neighbors(query, X, 3).index[0]
    (level,) = regress(query, X, y, 3)
    reach = X[chosen, 0].min(), X[chosen, 0].max()
    ax.axvspan(*reach, color=SHADE, lw=0, zorder=0)
    ax.plot(X[:, 0], y.astype(float), "o", mfc="white", mec=BLUE, ms=7, mew=1.3, zorder=3)
    ax.plot(X[chosen, 0], y[chosen].astype(float), "o", color=BLUE, ms=7, zorder=4)
    ax.plot(reach, [float(level)] * 2, color=ORANGE, lw=1.8)
    ax.plot(4.0, float(level), "x", color=INK, ms=7, mew=1.6, zorder=4)
    ax.annotate(r"$f_3(4) = 10/3$", (2.9, float(level)), ha="right", va="center")
    ax.set(xlim=(0.5, 5.5), ylim=(0.5, 5.5), xlabel="$x$", ylabel="$y$", aspect="equal")


@figure("averages", claims=(), panels=3, size=(2.8, 2.5))
def averages(*axes):
    """Sixty noisy samples (dots), the true function (dashed) and the average of k neighbours
    (solid). With one neighbour the curve goes through every sample, noise included. With thirty it
    is too flat: the neighbours of a peak reach down to where the sine is 0, and near the ends the
    neighbours stay the same. k = 8 is in between.
    """
    T = make_curve(60, lambda x: np.sin(2 * np.pi * x), sigma=0.3, rng=np.random.default_rng(5))
    x = np.union1d(np.linspace(0, 1, 201), T.X[:, 0])  # with the places of the samples
    for ax, k in zip(axes, (1, 8, 30), strict=True):
        ax.plot(T.X[:, 0], T.y, "o", ms=3, color=GREY, mew=0)
        ax.plot(x, np.sin(2 * np.pi * x), "--", color=INK, lw=0.9)
        ax.plot(x, regress(x[:, None], T.X, T.y, k), color=BLUE, lw=1.4)
        ax.set(title=f"$k = {k}$", xlabel="$x$", xticks=(0, 0.5, 1), ylim=(-1.8, 1.8))
    axes[0].set_ylabel("$y$")


@figure("spread_at_one_place", claims=(), size=(4.4, 2.5))
def spread_at_one_place(ax):
    """How the average of k neighbours at x = 0.2 is distributed over the noise, at the same places
    as in the check. The dashed line is the true f(0.2). One neighbour is nearly right on average,
    but widely spread. Thirty are hardly spread, and far off: this distance is the bias. Eight have
    little of both.
    """

    def f(x):
        return np.sin(2 * np.pi * x)

    X = make_curve(60, f, sigma=0.3, rng=np.random.default_rng(5)).X
    for k, color in ((1, GREY), (8, BLUE), (30, ORANGE)):
        mean, spread = smoother(np.array([[0.2]]), X, k)[0] @ f(X[:, 0]), 0.3 / np.sqrt(k)
        values = mean + spread * np.linspace(-3.5, 3.5, 43)
        density = np.exp(normal_log_density(values, mean, spread**2))
        ax.fill(values, density, fc=tint(color, 0.25), ec=color, lw=1.4)
        ax.annotate(f"$k={k}$", (values[29], density[29]), (4, 3), textcoords="offset points")
    ax.axvline(f(0.2), ls="--", color=INK, lw=0.9)
    ax.set(xlim=(0.1, 1.9), ylim=(0, 8), xlabel="average at $x = 0.2$", ylabel="density")
    ax.set(xticks=(0.5, 1, 1.5), yticks=(0, 4, 8))


VIEW = np.array([[-3.0, -2.4], [3.0, 2.4]])


def labelled_sites():
    """Thirty samples of two classes that a slanted line separates, but for three."""
    rng = np.random.default_rng(12)
    X = rng.uniform(0.95 * VIEW[0], 0.95 * VIEW[1], size=(30, 2))
    y = np.where(X @ [1.0, 0.6] > 0, "b", "a")
    odd = [4, 13, 22]
    y[odd] = np.where(y[odd] == "a", "b", "a")
    return X, y


@figure("voronoi", claims=("neighbors-12",), size=(4.2, 3.5))
def voronoi_diagram(ax):
    """Thirty samples of two classes with their Voronoi cells. The answer of 1-NN changes on the
    bold edges, between cells of different classes. It does not change on the thin edges. Three
    samples lie among the other class. One makes an island. The other two share an island, which the
    frame cuts.
    """
    X, y = labelled_sites()
    segments, sites = voronoi_edges(X, VIEW)
    ax.set(xlim=VIEW[:, 0], ylim=VIEW[:, 1], xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.set(xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    draw_fill(ax, X, y)
    for segment, (i, j) in zip(segments, sites, strict=True):
        look = {"lw": 0.6, "color": GREY} if y[i] == y[j] else {"lw": 2.2, "color": INK}
        ax.plot(*segment.T, solid_capstyle="round", zorder=2, **look)
    draw_samples(ax, X, y, size=5)


def draw_fill(ax, X, y):
    """The cells of X, tinted by class."""
    for i in range(len(X)):
        color = BLUE if y[i] == "a" else ORANGE
        ax.fill(*voronoi_cell(X, i, VIEW).vertices.T, color=tint(color, 0.2), lw=0, zorder=0)


ASKED = (1, 5, 15, 80)


def noisy_moons():
    """80 samples to learn from and 2000 to test on; one label in ten is wrong in both."""
    sets = []
    for n, seed in ((80, 3), (2000, 4)):
        rng = np.random.default_rng(seed)
        T = make_moons(n, noise=0.2, rng=rng)
        sets.append((T.X, np.where(rng.random(n) < 0.1, -T.y, T.y)))
    return sets


@figure("decision_maps", claims=("neighbors-17",), panels=(2, 2), size=(3.1, 2.35))
def decision_maps(*axes):
    """The answers of k-NN for 80 samples of two classes, of which about one label in ten is wrong.
    With k = 1 every sample is believed: some wrong labels make islands, others make bays. With
    k = 5 and 15 the islands are gone and the boundary is smoother. The specks are new: there the
    vote is nearly even. With k = n the answer is the same everywhere. The titles give the share of
    errors on the samples and on 2000 new ones, of which one label in ten is wrong, too. So no rule
    can get much below 0.1 there.
    """
    (X, y), (X_new, y_new) = noisy_moons()
    for ax, k in zip(axes, ASKED, strict=True):
        model = KNeighborsClassifier(n_neighbors=k).fit(X, y)
        set_view(ax, X, margin=0.06)
        draw_regions(ax, model.predict, [1, -1])
        draw_samples(ax, X, y, size=3.2)
        errors = 1 - model.score(X, y), 1 - model.score(X_new, y_new)
        ax.set_title(f"$k = {k}$: train {errors[0]:.2f}, test {errors[1]:.2f}")
        ax.set(xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1))
    for ax in axes[2:]:
        ax.set_xlabel("$x_1$")
    for ax in axes[::2]:
        ax.set_ylabel("$x_2$")


@figure("shapes", claims=(), panels=3, size=(2.9, 2.8))
def shapes(*axes):
    """Four quadrants (XOR), two rings and two moons, 400 samples each, and the answers of k-NN
    (tint). The boundary follows the samples. The titles give the chosen k and the error on 400 new
    samples.
    """
    makers = {
        "XOR": lambda rng: make_quadrants(400, rng=rng),
        "rings": lambda rng: make_rings(400, noise=0.4, rng=rng),
        "moons": lambda rng: make_moons(400, noise=0.25, rng=rng),
    }
    for ax, (name, make) in zip(axes, makers.items(), strict=True):
        A, B = make(np.random.default_rng(1)), make(np.random.default_rng(2))
        k = 1 + 2 * np.argmin(leave_one_out_errors(A.X, A.y, ks=range(1, 30, 2)))
        model = KNeighborsClassifier(n_neighbors=k).fit(A.X, A.y)
        set_view(ax, A.X)
        draw_regions(ax, model.predict, [1, -1])
        draw_samples(ax, A.X, A.y, size=2.5)
        ax.set_title(f"{name}: $k = {k}$, error {1 - model.score(B.X, B.y):.4f}")
        ax.set_xlabel("$x_1$")
    axes[0].set_ylabel("$x_2$")


T, DT = gauss_legendre(-14, 18, 320)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def normal_classes(shift):
    """The log-densities of N(0, 1) and N(shift, 1) at the points T."""
    return np.column_stack([normal_log_density(T, mu, 1.0) for mu in (0.0, shift)])


def one_nn_error(n, shift, runs, rng):
    """The error of 1-NN on n samples of two normal classes, and its standard error."""
    y, y_new = rng.integers(2, size=(runs, n)), rng.integers(2, size=(runs, 100))
    X, X_new = shift * y + rng.normal(size=y.shape), shift * y_new + rng.normal(size=y_new.shape)
    pairs = zip(X[..., None], y, X_new[..., None], y_new, strict=True)
    wrong = [np.mean(knn_classify(b, a, labels, 1) != truth) for a, labels, b, truth in pairs]
    return np.mean(wrong), np.std(wrong, ddof=1) / np.sqrt(runs)


@figure("one_place", claims=(), size=(4.6, 2.9))
def one_place(ax):
    """The error at a place where class 1 has the posterior q. The Bayes classifier errs with
    probability m (lower tent), one neighbour in the limit with 2 q (1 - q) (parabola). At every q
    the parabola is in the grey region between m and 2 m. Three neighbours (dotted, Exercise 6) lie
    between the parabola and m.
    """
    q = np.linspace(0, 1, 201)
    m = np.minimum(q, 1 - q)
    ax.fill_between(q, m, 2 * m, color=SHADE, lw=0)
    ax.plot(q, 2 * m, "--", color=GREY, lw=0.9)
    ax.plot(q, 2 * q * (1 - q), color=BLUE)
    ax.plot(q, m + (3 * m**2 - 2 * m**3) * (1 - 2 * m), ":", color=BLUE)
    ax.plot(q, m, color=INK)
    ax.annotate("$2m$", (0.56, 0.93), fontsize=9)
    ax.annotate("$2q(1-q)$", (0.5, 0.54), ha="center", fontsize=9)
    ax.annotate("$m$", (0.5, 0.41), ha="center", fontsize=9)
    ax.set(xlim=(0, 1), ylim=(0, 1.05), xlabel="posterior $q$ of class 1")
    ax.set(ylabel="probability of an error", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


@figure("cover_hart", claims=(), panels=2)
def cover_hart(left, right):
    """Left: the error of 1-NN for n to infinity against the Bayes error R*. Each mark is a pair of
    normal classes, and the legend gives the prior of one of them. All marks lie in the grey region
    between R* and 2 R* (1 - R*). Right: the error for finite n (dots, with two standard errors),
    for one such pair with equal priors. For few samples it is above 2 R*: the bound holds in the
    limit.
    """
    R = np.linspace(0, 0.5, 101)
    left.fill_between(R, R, cover_hart_bound(R), color=SHADE, lw=0)
    left.plot(R, R, color=INK, lw=1.1)
    left.plot(R, cover_hart_bound(R), color=INK, lw=1.1)
    left.plot(R, 2 * R, "--", color=GREY, lw=0.9)
    for prior, marker in ((0.5, "o"), (0.7, "s"), (0.9, "^")):
        both = np.array([prior, 1 - prior])
        laws = [normal_classes(shift) for shift in (0.0, 0.5, 1, 1.5, 2, 3, 4)]
        dots = [(bayes_error(p, both, DT), asymptotic_error(p, both, DT)) for p in laws]
        left.plot(*np.transpose(dots), marker, ms=4, mfc="white", mec=BLUE, label=f"{prior}")
    left.legend(title="prior", loc="upper left", fontsize=9, handletextpad=0.1)
    left.annotate("upper curve $2R^*(1-R^*)$\nlower line $R^*$", (0.22, 0.06), fontsize=9)
    left.annotate("$2R^*$", (0.245, 0.46), fontsize=9)
    left.set(xlim=(0, 0.51), ylim=(0, 0.51), xlabel="Bayes error $R^*$", ylabel="error of 1-NN")
    left.set(xticks=(0, 0.25, 0.5), yticks=(0, 0.25, 0.5))
    rng, half, p = np.random.default_rng(1), np.array([0.5, 0.5]), normal_classes(3.0)
    found = np.array([one_nn_error(n, 3.0, 1200 // n + 60, rng) for n in SIZES])
    right.errorbar(SIZES, found[:, 0], 2 * found[:, 1], fmt="o", color=BLUE, ms=4, lw=1)
    best, limit = bayes_error(p, half, DT), asymptotic_error(p, half, DT)
    for level, text, up in ((best, "$R^*$", -11), (limit, "$R_{NN}$", 2), (2 * best, "$2R^*$", 2)):
        right.axhline(level, color=INK if level == limit else GREY, lw=0.9)
        right.annotate(text, (320, level), (0, up), textcoords="offset points", fontsize=9)
    right.set(xscale="log", xlim=(0.8, 700), ylim=(0, 0.55), xlabel="samples $n$")
    right.set(ylabel="error of 1-NN", xticks=(1, 10, 100), xticklabels=("1", "10", "100"))


@figure("directions", claims=(), panels=2)
def directions(left, right):
    """Left: samples in a slanted cloud. From the cross, a and b are equally far by the Euclidean
    distance (dashed circle). By the Mahalanobis distance a and the whole ellipse are at 1, and b
    is at 3. Right: the whitened samples. There these are the Euclidean distances.
    """
    cosine, sine = np.cos(np.pi / 6), np.sin(np.pi / 6)
    axes = np.array([[cosine, sine], [-sine, cosine]])  # along the cloud and across it
    root = axes.T @ np.diag([1.8, 0.6]) @ axes
    drawn = np.random.default_rng(3).normal(size=(200, 2))
    drawn = whiten(drawn - drawn.mean(axis=0), np.cov(drawn.T))  # its covariance is I
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    Sigma, ab = root @ root, 1.8 * axes
    white = whiten(ab, Sigma)
    left.plot(*(1.8 * circle).T, "--", color=INK, lw=0.9)
    left.plot(*(circle @ root).T, color=INK, lw=1.2)
    right.plot(*circle.T, color=INK, lw=1.2)
    for ax, X, points in ((left, drawn @ root, ab), (right, whiten(drawn @ root, Sigma), white)):
        ax.plot(*X.T, "o", ms=2.5, color=GREY, mew=0, zorder=0)
        ax.plot(0, 0, "x", ms=8, mew=2, color=INK)
        for name, point, color in zip("ab", points, (BLUE, ORANGE), strict=True):
            ax.plot(*point.T, "o", ms=7, color=color, zorder=3)
            ax.annotate(name, point, (7, 4), textcoords="offset points")
        ax.set(aspect="equal", xlim=(-5, 5), ylim=(-4, 4))
    left.set(title="the samples", xlabel="$x_1$", ylabel="$x_2$")
    right.set(title="whitened", xlabel="first entry of $L^{-1}x$", ylabel="second entry")


@figure("whitened", claims=(), panels=2)
def whitened(left, right):
    """The 178 wines, drawn in the two directions in which all of them together are spread most.
    Left: standardised. A few wines of variety 2 lie among those of the other two. Right: whitened
    with the covariance within the varieties. The varieties stand apart.
    """
    wine = load_wine()
    means = cluster_means(wine.X, wine.y - 1, 3)
    white = whiten(wine.X, np.cov((wine.X - means[wine.y - 1]).T))
    for ax, Z in ((left, standardise(wine.X).Z), (right, white - white.mean(axis=0))):
        directions = np.linalg.eigh(np.cov(Z.T))[1][:, :-3:-1]  # the largest variance first
        plane = Z @ directions
        plane *= np.sign([plane[wine.y == 3, 0].mean(), plane[wine.y == 2, 1].mean()])
        draw_samples(ax, plane, wine.y, size=4, names=["variety 1", "variety 2", "variety 3"])
        ax.set(xlabel="first direction", aspect="equal")
    left.set(title="standardised", ylabel="second direction")
    right.set(title="whitened within the varieties")
    right.legend(loc="upper right", fontsize=9)


@figure("useless", claims=(), panels=2, size=(3.2, 3.2))
def useless(left, right):
    """Left: one feature separates two classes (dashed line). The three samples nearest to the cross
    (ringed) are on its side. Right: the same samples with a second feature that has nothing to do
    with the class. Two of the three nearest are now on the wrong side. The circle goes
    through the third.
    """
    useful = np.array([-1.5, -1.2, -0.9, -0.7, -0.5, -0.2, 0.2, 0.35, 0.6, 0.9, 1.1, 1.5])
    noise = np.array([0.9, -1.6, 1.7, -0.7, 0.4, 0.1, 1.5, -1.3, 2.0, -1.3, 1.1, -1.8])
    y, query = np.repeat(["a", "b"], 6), np.array([[0.47, 0.2]])
    for ax, scale in ((left, 0.0), (right, 1.0)):
        x, X = query * [1, scale], np.column_stack([useful, scale * noise])
        r, near = (part[0] for part in nearest_neighbors(x, X, 3))
        if scale:
            draw_ellipse(ax, x[0], np.eye(2), r[-1], lw=0.8)
        ax.axvline(0, color=GREY, lw=0.9, ls="--")
        draw_samples(ax, X, y, size=5, names=["class a", "class b"])
        ax.plot(*X[near].T, "o", ms=9, mfc="none", mec=INK)
        ax.plot(*x.T, "x", ms=8, mew=2, color=INK)
        ax.set(ylim=(-2.4, 2.4), xlabel="useful feature")
    left.set(title="one feature", xlim=(-1.7, 1.7), xticks=(-1, 0, 1), yticks=())
    right.set(title="the same and a useless feature", ylabel="useless feature")
    right.set(xlim=(-2.4, 2.4), xticks=(-2, 0, 2), yticks=(-2, 0, 2), aspect="equal")
    left.legend(loc="upper left", fontsize=9)


DIMENSIONS = (2, 10, 40, 100)


@figure("where_the_mass_is", claims=("neighbors-28",), panels=2)
def where_the_mass_is(left, right):
    """Left: in one dimension, 68 % of the normal distribution is within one standard deviation of
    the mean (shaded). Right: the density of the distance ||x|| from the mean in d dimensions. The
    more dimensions, the farther from the mean the samples are. The hills stand over sqrt(d - 1)
    (ticks) and hardly get wider.
    """
    x = np.linspace(-4, 4, 401)
    density = np.exp(normal_log_density(x, 0.0, 1.0))
    near = np.abs(x) <= 1
    left.fill_between(x[near], density[near], color=tint(BLUE, 0.35), lw=0)
    left.plot(x, density, color=BLUE, lw=1.5)
    left.annotate("68 %", (0, 0.15), ha="center")
    left.set(xlim=(-4, 4), ylim=(0, 0.66), xlabel="$x$", ylabel="density")
    r = np.linspace(0, 13, 1302)[1:]
    for d, dash in zip(DIMENSIONS, (":", "-.", "--", "-"), strict=True):
        density = np.exp(norm_log_density(r, d))
        right.plot(r, density, dash, color=BLUE, lw=1.4)
        mode = np.sqrt(d - 1)
        right.plot([mode, mode], [0, 0.02], color=INK, lw=1)
        right.annotate(f"$d={d}$", (mode, density.max() + 0.01), ha="center")
    right.set(xlim=(0, 13), ylim=(0, 0.7), xticks=(0, 3, 6, 9, 12), xlabel=r"$\|x\|$")


@figure("share_of_ball", claims=(), size=(4.2, 2.9))
def share_of_ball(ax):
    """The share of a unit ball that is within r of its centre, in d dimensions. At the dots the
    share is 0.01. They are at r = 0.01, 0.10, 0.63 and 0.95.
    """
    r = np.linspace(0, 1, 401)
    for d, place in ((1, (0.44, 0.48)), (2, (0.54, 0.34)), (10, (0.8, 0.18)), (100, (0.95, 0.05))):
        ax.plot(r, r**d, color=BLUE, lw=1.2)
        ax.plot(0.01 ** (1 / d), 0.01, "o", color=INK, ms=5, clip_on=False, zorder=3)
        ax.annotate(f"$d = {d}$", place, ha="right", fontsize=9)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="distance $r$ from the centre")
    ax.set(ylabel="share $r^d$", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


@figure("nothing_is_near", claims=(), size=(3.6, 2.7))
def nothing_is_near(ax):
    """The distance to the nearest of 500 normal samples, divided by the distance to the farthest,
    in d dimensions: the median over 200 queries (dots) and the middle nine tenths (grey). In 1000
    dimensions the nearest sample is about nine tenths as far away as the farthest.
    """
    dimensions = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    shares = []
    for d in dimensions:
        rng = np.random.default_rng(d)
        X, x = rng.normal(size=(500, d)), rng.normal(size=(200, d))
        shares.append(np.quantile(nearest_to_farthest(x, X), (0.05, 0.5, 0.95)))
    low, middle, high = np.transpose(shares)
    ax.fill_between(dimensions, low, high, color=SHADE, lw=0)
    ax.plot(dimensions, middle, "o-", color=BLUE, ms=4, lw=1.2)
    ax.set(xscale="log", ylim=(0, 1), xlabel="dimensions $d$", ylabel="nearest / farthest")
    ax.set(xticks=(1, 10, 100, 1000), xticklabels=("1", "10", "100", "1000"))


# --- Films -----------------------------------------------------------------------------


@film("regions", knn_classify, measure="error", wrong=("10 %", "0 %", "25 %"))
def regions_film(wrong):
    """The answers of k-NN at every point, as k grows, with some labels of the 80 samples wrong. For
    k = 1 wrong labels make islands and bays. These vanish as k grows, and the boundary becomes
    smooth. In the end the shape of the classes is lost. The curve is the error on 400 new samples,
    with as many wrong labels.
    """
    sets, share = [], int(wrong.split()[0]) / 100
    for n, seed in ((80, 3), (400, 4)):
        rng = np.random.default_rng(seed)
        T = make_moons(n, noise=0.2, rng=rng)
        sets.append((T.X, np.where(rng.random(n) < share, -T.y, T.y)))
    (X, y), (X_new, y_new) = sets
    columns, rows = np.linspace(-1.6, 2.6, 57), np.linspace(-1.2, 1.7, 41)
    grid = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
    side = (columns[1] - columns[0]) / 2
    extent = (-1.6 - side, 2.6 + side, -1.2 - side, 1.7 + side)

    def draw(ax, state):
        k, answers = state
        tints = np.where((answers == 1)[:, None], tint(BLUE), tint(ORANGE))
        ax.imshow(
            tints.reshape(len(rows), len(columns), 3)[::-1], extent=extent, aspect="auto", zorder=0
        )
        draw_samples(ax, X, y, size=4)
        ax.set(xlim=extent[:2], ylim=extent[2:], xlabel="x₁", ylabel="x₂", title=f"k = {k}")
        ax.set(xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1))

    def error(state):
        return np.mean(knn_classify(X_new, X, y, state[0]) != y_new)

    def words(state):
        own = np.mean(knn_classify(X, X, y, state[0]) != y)
        errors = f"{100 * own:.0f} % on the samples, {100 * error(state):.0f} % on new ones"
        return f"The errors for k = {state[0]}: {errors}."

    ks = (1, 3, 5, 7, 9, 13, 19, 25, 35, 47, 63, 79)
    return Take(((k, knn_classify(grid, X, y, k)) for k in ks), draw, words, error)


@film("averages", regress, measure="error", noise=(0.3, 0.1, 0.6))
def averages_film(noise):
    """The average of the k nearest targets (blue), as k grows, for 60 samples of a wave (dashed).
    For k = 1 it runs through every sample, noise and all. With a larger k the noise averages out,
    until the average cuts off the hills as well. The curve is the distance from the wave (root mean
    square): the more noise, the larger the best k.
    """
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 6, size=(60, 1)), axis=0)
    y = np.sin(2 * X[:, 0]) + noise * rng.normal(size=60)
    grid = np.union1d(np.linspace(0, 6, 301), X[:, 0])[:, None]  # with the places of the samples
    wave = np.sin(2 * grid[:, 0])

    def draw(ax, state):
        k, f = state
        ax.plot(X[:, 0], y, "o", color=GREY, ms=3.5, mew=0)
        ax.plot(grid[:, 0], wave, "--", color=INK, lw=1)
        ax.plot(grid[:, 0], f, color=BLUE, lw=1.6)
        ax.set(xlim=(0, 6), ylim=(-2.2, 2.2), xlabel="x", ylabel="y", title=f"k = {k}")

    def error(state):
        return np.sqrt(np.mean((state[1] - wave) ** 2))

    def words(state):
        return f"For k = {state[0]} the average is {error(state):.2f} away from the wave."

    ks = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60)
    return Take(((k, regress(grid, X, y, k)) for k in ks), draw, words, error)


if __name__ == "__main__":
    run_script(__file__)
