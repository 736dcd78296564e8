"""Lecture figures of the discriminant chapter."""

import numpy as np

from mlnotes.clustering import rbf_affinity
from mlnotes.datasets import load_wine, make_blobs, make_moons, make_rings
from mlnotes.decision_theory import best_cut
from mlnotes.discriminant import (
    between_scatter,
    class_means,
    discriminants,
    fisher_direction,
    fisher_ratio,
    local_scatters,
    mean_direction,
    principal_axes,
    project_on_line,
    projected_scatters,
    threshold_rule,
    trace_criterion,
    within_scatter,
)
from mlnotes.plotting import (
    COLORS,
    GREY,
    INK,
    Take,
    draw_line,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)

ANGLES = np.pi * np.arange(360) / 360
EQUAL = np.array([0.5, 0.5])


def square_view(ax, X):
    """Show all samples in a square of equal units."""
    low, high = X.min(axis=0), X.max(axis=0)
    reach = 0.55 * (high - low).max()
    set_view(ax, (low + high) / 2 + reach * np.array([[-1, -1], [1, 1]]), margin=0)


# --- The line to project on ------------------------------------------------------------


def slanted_classes():
    """Two classes whose means lie side by side and whose samples stretch obliquely."""
    Sigma = np.array([[2.0, 1.7], [1.7, 2.0]])
    return make_blobs((60, 60), [(-1.2, 0), (1.2, 0)], Sigma, rng=np.random.default_rng(4))


@figure("directions", claims=("discriminant-20",), panels=(2, 2), size=(3.2, 2.5))
def directions(left, right, below_left, below_right):
    """The same two classes (discs and squares, made up for this) twice. Above: a direction w
    (dashed, drawn through the mean of all samples) and the decision line (solid), that is, all
    points that are projected halfway between the projected means. Below: how many samples of each
    class have which projection. A number b is added, so that the decision line is at 0. Left (mean
    difference): w joins the class means (plus), and the projections overlap. Right: along Fisher's
    direction the projected means (plus, below) are closer together, but the projections overlap far
    less. The number J in the titles says how far apart the projections are; it is defined below.
    """
    T = slanted_classes()
    mu = class_means(T.X, T.y)
    naive, (fisher, b) = mean_direction(mu), threshold_rule(T.X, T.y, EQUAL)
    one_direction(left, below_left, T, naive, -naive @ mu.mean(axis=0))
    one_direction(right, below_right, T, fisher, b)
    left.set_title(f"Mean difference, {criterion(T, naive)}")
    right.set_title(f"Fisher, {criterion(T, fisher)}")


def criterion(T, w):
    """The J of the classes along w, as a title has it."""
    return f"$J = {fisher_ratio(T.X, T.y, w):.3f}$"


def one_direction(above, below, T, w, b):
    """The classes, the line of w and the decision line above; the projections on w below."""
    length = np.linalg.norm(w)
    w, b = w / length, b / length
    square_view(above, T.X)
    middle = T.X.mean(axis=0)
    across = np.array([-w[1], w[0]])
    draw_line(above, w, b, color=INK, lw=1.6)
    draw_line(above, across, -across @ middle, color=GREY, lw=1.2, ls="--")
    draw_samples(above, T.X, T.y, size=4)
    above.plot(*class_means(T.X, T.y).T, "P", mfc=INK, mec="white", ms=8, zorder=4)
    above.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-4, 0, 4), yticks=(-4, 0, 4))
    z = project_on_line(T.X, w) + b
    edges = np.linspace(-np.abs(z).max(), np.abs(z).max(), 25)
    for c, color in enumerate(COLORS[:2]):
        below.hist(z[T.y == c], edges, histtype="stepfilled", fc=(*tint(color, 0.6), 0.6),
                   ec=color, lw=1.2, hatch=("", "////")[c])  # fmt: skip
        below.plot(z[T.y == c].mean(), 0, "P", mfc=INK, mec="white", ms=8, zorder=4, clip_on=False)
    below.axvline(0, color=INK, lw=1.6)
    below.set(xlabel="$w^T x + b$,  $||w|| = 1$", ylabel="samples", xlim=(-5, 5))


@figure("whitened", claims=("discriminant-17",), panels=2, size=(3.2, 2.8))
def whitened(left, right):
    """Fisher's direction in two pictures. Left: the classes of Figure 13.1 and their means
    (plus). The direction from mean to mean (dashed) is not orthogonal to the decision line
    (solid). Right: the same samples whitened, so that the scatter within the classes is the
    identity matrix. Both clouds are nearly round there, and the decision line is orthogonal to
    the direction from mean to mean.
    """
    T = slanted_classes()
    L = np.linalg.cholesky(within_scatter(T.X, T.y))
    means_and_line(left, T.X, T.y)
    means_and_line(right, np.linalg.solve(L, T.X.T).T, T.y)
    left.set(title="as measured", xlabel="$x_1$", ylabel="$x_2$")
    right.set(title="whitened", xlabel="$(L^{-1} x)_1$", ylabel="$(L^{-1} x)_2$")


def means_and_line(ax, X, y):
    """Two classes, the line through their means and the decision line for equal priors."""
    mu = class_means(X, y)
    square_view(ax, X)
    across = np.array([mu[0, 1] - mu[1, 1], mu[1, 0] - mu[0, 0]])
    draw_line(ax, across, -across @ mu[0], color=GREY, lw=1.2, ls="--")
    draw_line(ax, *threshold_rule(X, y, EQUAL), color=INK, lw=1.6)
    draw_samples(ax, X, y, size=3.5)
    ax.plot(*mu.T, "P", mfc=INK, mec="white", ms=8, zorder=4)


# --- Where every line fails ------------------------------------------------------------


def at_one_place(X, y):
    """The samples with the mean of each class moved to the origin."""
    means = class_means(X, y)
    return X - means[y]


def hard_sets():
    """Four sets of two classes that overlap on every line, by their names."""
    rng = np.random.default_rng(8)
    rings = make_rings(160, radii=(0.4, 2.0), noise=0.35, rng=rng)
    crossed = make_blobs((80, 80), np.zeros((2, 2)), [np.diag([4.0, 0.1]), np.diag([0.1, 4.0])],
                         rng=rng)  # fmt: skip
    corners, y = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]]), np.repeat([0, 0, 1, 1], 40)
    xor = np.repeat(corners, 40, axis=0) + np.tile(0.2 * rng.normal(size=(40, 2)), (4, 1))
    moons = make_moons(160, noise=0.1, rng=rng)
    ring = (rings.y > 0).astype(int)
    return {
        "Ring": (at_one_place(rings.X, ring), ring),
        "Cross": (at_one_place(crossed.X, crossed.y), crossed.y),
        "XOR": (xor, y),
        "Moons": (moons.X, (moons.y > 0).astype(int)),
    }


def error_on_lines(X, y):
    """The error of the best cut of the projections, at every one of the ANGLES."""
    W = np.array([np.cos(ANGLES), np.sin(ANGLES)])
    return np.array([best_cut(z, y).errors / len(y) for z in project_on_line(X, W).T])


@figure("failures", claims=("discriminant-24",), panels=(2, 4), size=(1.75, 1.75))
def failures(*axes):
    """Above: four pairs of classes, made up for this. In the first three, both classes have the
    same mean (plus), and J = 0 for every direction. In the cross the classes overlap in the
    middle. In the other three a simple curve separates them. A straight line separates none of the
    four. Below: for each angle of w, the error of the best cut of the projections. The lowest
    errors are 1/4 or more for the first three, and 0.1 for the moons.
    """
    for k, (name, (X, y)) in enumerate(hard_sets().items()):
        above, below = axes[k], axes[4 + k]
        square_view(above, X)
        draw_samples(above, X, y, size=2.5)
        if name in ("Ring", "Cross", "XOR"):
            above.plot(*class_means(X, y).T, "P", mfc=INK, mec="white", ms=8, zorder=4)
            name += ", $J = 0$"
        above.set(title=name, xticks=(), yticks=())
        below.plot(np.degrees(ANGLES), error_on_lines(X, y), color=INK, lw=1.2)
        below.set(xlim=(0, 180), ylim=(0, 0.5), xticks=(0, 90, 180), xlabel="angle of $w$")
        below.set_xticklabels(("0°", "90°", "180°"))
        below.set_yticks((0, 0.25, 0.5), ("0", "1/4", "1/2") if k == 0 else ("", "", ""))
        below.axhline(0.25, color=GREY, lw=0.7, ls=":")
    axes[4].set_ylabel("error")


# --- Too few samples -------------------------------------------------------------------


@figure("few", claims=(), size=(4.0, 2.6))
def few(ax):
    """Three samples in the plane: d = 2 and n = 3, fewer than d + C = 4. The direction h (dashed)
    is orthogonal to the segment (dotted) between the two samples of class 0 (discs). So both have
    the same projection on h (black disc), and the sample of class 1 has another one (black square).
    Any three samples that are not on one line have such an h, even if chance decides which two form
    class 0.
    """
    X, y = np.array([[0.0, 0.0], [2.0, 1.0], [3.6, 0.4]]), np.array([0, 0, 1])
    h = np.array([1.0, -2.0]) / np.sqrt(5)
    origin = np.array([1.0, 0.5]) + 0.8 * h[[1, 0]] * [1, -1]
    feet = origin + project_on_line(X - origin, h)[:, None] * h
    along = np.array([-h[1], h[0]])
    draw_line(ax, along, -along @ origin, color=GREY, lw=1.2, ls="--")
    for x, foot in zip(X, feet, strict=True):
        ax.plot(*np.transpose([x, foot]), color=GREY, lw=1.0, ls=":")
    draw_samples(ax, X, y, size=7)
    for foot, marker in zip(feet[1:], "os", strict=True):
        ax.plot(*foot, marker, ms=6, color=INK, zorder=4)
    set_view(ax, np.vstack([X, feet]), margin=0.2)
    ax.annotate("$h$", feet[2], (8, -10), textcoords="offset points")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(), yticks=())


@figure("spectra", claims=(), size=(5.2, 2.6))
def spectra(ax):
    """The eigenvalues of the scatter within the classes that are not 0, numbered from the largest:
    medians over the 50 draws of Figure 13.8. At the end of each curve stand the samples per class.
    With 4 only six eigenvalues are not 0. With 11, at the peak, the smallest of the 20 is 0.011.
    """
    Sigma, centers = np.eye(20), np.zeros((2, 20))
    Sigma[:2, :2], centers[1, 0] = [[2.0, 1.2], [1.2, 2.0]], 4
    for size, style in ((4, "--"), (11, "-"), (20, "-.")):
        values = np.zeros((50, 20))
        for seed in range(50):
            T = make_blobs((size, size), centers, Sigma, rng=np.random.default_rng(seed))
            values[seed] = np.linalg.eigvalsh(within_scatter(T.X, T.y))[::-1]
        count = min(2 * size - 2, 20)
        middle = np.median(values[:, :count], axis=0)
        ax.semilogy(np.arange(1, count + 1), middle, style, lw=1.6)
        ax.annotate(f"{size}", (count, middle[-1]), (5, -3), textcoords="offset points")
    ax.set(xlabel="number", ylabel="eigenvalue", xticks=(1, 10, 20))
    ax.set_yticks((0.01, 1, 100), ("0.01", "1", "100"))
    ax.minorticks_off()


# --- With and without the labels -------------------------------------------------------


def flat_classes():
    """Two classes, one above the other, that vary most from side to side."""
    Sigma = np.diag([3.0, 0.2])
    return make_blobs((60, 60), [(0, 1.0), (0, -1.0)], Sigma, rng=np.random.default_rng(2))


def wines():
    """The wine samples with every feature in units of its standard deviation."""
    T = load_wine()
    return (T.X - T.X.mean(axis=0)) / T.X.std(axis=0), T.y


def axes_of(X, y, m):
    """The first m principal axes and the first m discriminants, each with its criterion."""
    _, n_k = np.unique(y, return_counts=True)
    S_B, S_W = between_scatter(n_k, class_means(X, y)), within_scatter(X, y)
    P, W = principal_axes(X, m), discriminants(S_B, S_W, m).W
    return [(each, trace_criterion(each, S_B, S_W)) for each in (P, W)]


@figure("reduction", claims=("discriminant-31",), panels=3, size=(2.6, 2.6))
def reduction(plane, by_pca, by_lda):
    """Two ways to reduce the number of features. Left: PCA takes the direction of largest variance
    (grey dashes), on which the two classes overlap almost entirely. LDA knows the labels and takes
    another direction (black dashes). Middle and right: 178 wines of three kinds (colours) with 13
    features, each in units of its standard deviation, reduced to two features by PCA and by LDA. On
    the discriminants the groups stand further apart; tr is the trace criterion.
    """
    T = flat_classes()
    (P, pca), (W, lda) = axes_of(T.X, T.y, 1)
    square_view(plane, T.X)
    draw_samples(plane, T.X, T.y, size=3.5)
    for direction, color in ((P[:, 0], GREY), (W[:, 0], INK)):
        across = np.array([-direction[1], direction[0]])
        draw_line(plane, across, color=color, lw=1.8, ls="--")
    plane.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-4, 0, 4), yticks=(-4, 0, 4))
    plane.set(title=f"PCA tr {pca:.2f}, LDA tr {lda:.2f}")
    X, y = wines()
    for ax, (A, value), name, axis in zip(
        (by_pca, by_lda), axes_of(X, y, 2), ("PCA", "LDA"), ("axis", "discriminant"), strict=True
    ):
        Z = project_on_line(X, A)
        draw_samples(ax, Z, y, size=3.5)
        ax.set(title=f"{name} tr {value:.2f}", xlabel=f"{axis} 1", ylabel=f"{axis} 2")
        ax.set(xticks=(), yticks=())


# --- A class in two clumps -------------------------------------------------------------


def clumps():
    """Class 0 in two clumps, with class 1 between them."""
    y = np.repeat([0, 0, 1], 40)
    centers = np.repeat([[-4.0, 0.0], [4.0, 0.0], [0.0, 0.0]], 40, axis=0)
    return centers + np.random.default_rng(3).normal(size=(120, 2)) * [0.4, 2.0], y


def two_directions(X, y):
    """Fisher's direction, and the one with pairs weighted by exp(-||x - x'||^2 / 2)."""
    mu = class_means(X, y)
    fisher = fisher_direction(within_scatter(X, y), mu)
    local = discriminants(*local_scatters(X, y, rbf_affinity(X, gamma=0.5)), 1).W[:, 0]
    return fisher, local


@figure("clumps", claims=("discriminant-36",), panels=3, size=(2.6, 2.6))
def two_clumps(plane, below_fisher, below_local):
    """Left: class 0 in two clumps (blue) and class 1 between them, with Fisher's direction (grey)
    and the direction of local Fisher discriminant analysis (black). Middle and right: the samples
    projected on each. On Fisher's direction the classes lie on top of each other. On the local one
    the three clumps are apart.
    """
    X, y = clumps()
    square_view(plane, X)
    draw_samples(plane, X, y, size=3)
    plane.set(xlabel="$x_1$", ylabel="$x_2$", xticks=(-4, 0, 4), yticks=(-4, 0, 4))
    rows = zip(two_directions(X, y), (below_fisher, below_local), ("Fisher", "local"), strict=True)
    for w, below, name in rows:
        w = w / np.linalg.norm(w)
        color = INK if name == "local" else GREY
        draw_line(plane, np.array([-w[1], w[0]]), color=color, lw=1.8, ls="--")
        z = project_on_line(X, w)
        edges = np.linspace(z.min(), z.max(), 31)
        for c, color in enumerate(COLORS[:2]):
            below.hist(z[y == c], edges, histtype="stepfilled", fc=(*tint(color, 0.6), 0.6),
                       ec=color, lw=1.2, hatch=("", "////")[c])  # fmt: skip
        below.set(title=name, xlabel="$w^T x$", ylabel="samples")


# --- Films -----------------------------------------------------------------------------


@film("turning", fisher_ratio, measure="J", classes=("slanted", "round"))
def turning_film(classes):
    """Two classes are projected on a line that turns by half a circle. J is the squared distance of
    the projected means (large marks), divided by the scatter of the projections about them. For
    slanted classes J is largest where the means are not farthest apart, because the spread is small
    there. For round classes both directions agree. The dotted line is Fisher's direction.
    """
    Sigma = np.array([[2.0, 1.7], [1.7, 2.0]]) if classes == "slanted" else 0.9 * np.eye(2)
    T = make_blobs((30, 30), [(-1.2, 0), (1.2, 0)], Sigma, rng=np.random.default_rng(4))
    turns = ((np.cos(a), np.sin(a)) for a in np.pi * np.arange(25) / 24)
    states = ((np.array(w), fisher_ratio(T.X, T.y, np.array(w))) for w in turns)
    mu = class_means(T.X, T.y)
    best, middle = fisher_direction(within_scatter(T.X, T.y), mu), T.X.mean(axis=0)

    def on_line(X, w):
        return middle + project_on_line(X - middle, w)[:, None] * w

    def draw(ax, state):
        w, _ = state
        across = np.array([-w[1], w[0]])
        for c, color in enumerate(COLORS[:2]):
            ax.plot(*T.X[T.y == c].T, "o", ms=3, color=tint(color, 0.45), mew=0)
        over = np.array([-best[1], best[0]])
        draw_line(ax, over, -over @ middle, color=GREY, lw=1.2, ls=":")
        draw_line(ax, across, -across @ middle, color=INK, lw=1.0)
        for c, color in enumerate(COLORS[:2]):
            feet = on_line(T.X[T.y == c], w) + (0.12 if c else -0.12) * across
            ends = np.full((len(feet), 3, 2), np.nan)
            ends[:, 0], ends[:, 1] = feet - 0.12 * across, feet + 0.12 * across
            ax.plot(*ends.reshape(-1, 2).T, color=color, lw=0.8)
            ax.plot(*on_line(mu[[c]], w).T, "o", ms=8, color=color, mec="white", zorder=5)
        square_view(ax, T.X)
        ax.set(xlabel="x₁", ylabel="x₂", xticks=(-4, 0, 4), yticks=(-4, 0, 4))

    def words(state):
        w, J = state
        apart = abs(project_on_line(mu[1] - mu[0], w))
        spread = projected_scatters(T.X, T.y, w).sum()
        return (
            f"J = {J:.3f}. The projected means are {apart:.2f} apart, the scatter is {spread:.0f}."
        )

    return Take(states, draw, words, lambda state: state[1])


if __name__ == "__main__":
    run_script(__file__)
