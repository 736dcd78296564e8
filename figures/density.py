"""Lecture figures of the density chapter."""

import numpy as np

from mlnotes.datasets import load_iris, make_moons
from mlnotes.density import (
    best_bandwidth,
    gaussian_window,
    histogram_density,
    hypercube,
    kernel_log_density,
    knn_density,
    knn_posterior,
    leave_one_out,
    nearest_samples,
    normal_mise,
    parzen,
)
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SHADE,
    Take,
    draw_contours,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
    tint,
)
from mlnotes.probability import normal_cdf, normal_log_density

N = 60  # samples of N(0, 1)
BANDWIDTHS = np.geomspace(0.05, 3, 400)
BEST = BANDWIDTHS[np.argmin(normal_mise(BANDWIDTHS, N))]
CHOSEN = {"too small": 0.08, "the best": BEST, "too large": 1.2}
BOX = np.sqrt(12)  # a box of this side has a standard deviation of 1, as the Gaussian has
SPAN = np.linspace(-8, 8, 801)


def lecture_sample():
    """N samples of N(0, 1), (N, 1)."""
    return np.random.default_rng(4).standard_normal((N, 1))


@figure("windows", claims=("density-08",), panels=(2, 3), size=(2.2, 2.0))
def parzen_windows(*axes):
    """Estimates (blue) from the same 60 samples of N(0, 1) (ticks); the true density is dashed.
    Top: the box window, and a histogram with cells of the same side (grey). Bottom: the Gaussian
    window. In each column the two windows have the same standard deviation h, so the box has the
    side sqrt(12) h. Left, the estimates show every accident of the sample: large variance. Right,
    they are too flat: large bias. The h in the middle has the smallest mean integrated squared
    error of the Gaussian window; the best cells have the side 0.9.
    """
    X = lecture_sample()
    for ax, (name, h) in zip(axes[:3], CHOSEN.items(), strict=True):
        box_and_histogram(ax, X, BOX * h)
        ax.set_title(f"{name}: box of side {BOX * h:.2f}")
    for ax, h in zip(axes[3:], CHOSEN.values(), strict=True):
        ax.plot(SPAN, np.exp(kernel_log_density(SPAN[:, None], X, h)), color=BLUE, lw=1.4)
        ax.set_title(f"Gaussian, $h = {h:.2f}$")
        ax.set_xlabel("$x$")
    for ax in axes:
        truth = np.exp(normal_log_density(SPAN, 0.0, 1.0))
        ax.plot(SPAN, truth, "--", color=INK, lw=0.9)
        ax.plot(X[:, 0], np.full(N, -0.03), "|", color=INK, ms=4, mew=0.5)
        ax.set(xlim=(-4.2, 4.2), ylim=(-0.06, 0.65), xticks=(-3, 0, 3), yticks=(0, 0.2, 0.4, 0.6))
    for ax in (axes[0], axes[3]):
        ax.set_ylabel("density")


def box_and_histogram(ax, X, side):
    """The Parzen estimate with boxes of that side, as the step function that it is, on the bars."""
    edges = side * np.arange(np.floor(X.min() / side), np.ceil(X.max() / side) + 1)
    heights = histogram_density((edges[:-1, None] + edges[1:, None]) / 2, X, side)
    ax.stairs(heights, edges, fill=True, color=SHADE, ec=GREY, lw=0.6)
    jumps = np.sort(np.concatenate([X[:, 0] - side / 2, X[:, 0] + side / 2]))
    between = parzen((jumps[:-1, None] + jumps[1:, None]) / 2, X, side)
    ends = [-8.0, *jumps, 8.0], [0.0, *between, 0.0, 0.0]
    ax.plot(*ends, color=BLUE, lw=1.1, drawstyle="steps-post")


@figure("bias_and_variance", claims=(), size=(6.4, 2.7))
def bias_and_variance(ax):
    """The two errors of k / (n V) at x = 0.5, for 100 samples of N(0, 1) and the interval of length
    V about x, computed exactly. A short interval has a large variance (dotted), a long one a large
    bias (dashed). The vertical line is the best compromise. Near it the valley is flat.
    """
    x, n, V = 0.5, 100, np.geomspace(0.05, 6, 400)
    P = normal_cdf(x + V / 2, 0.0, 1.0) - normal_cdf(x - V / 2, 0.0, 1.0)
    squared_bias = (P / V - np.exp(normal_log_density(x, 0.0, 1.0))) ** 2
    variance = P * (1 - P) / (n * V**2)
    ax.plot(V, squared_bias, "--", color=ORANGE, label="squared bias")
    ax.plot(V, variance, ":", color=BLUE, label="variance")
    ax.plot(V, squared_bias + variance, color=INK, label="their sum, the MSE")
    ax.axvline(V[(squared_bias + variance).argmin()], color=GREY, lw=0.8)
    ax.set(xscale="log", yscale="log", xlim=(0.05, 6), ylim=(1e-6, 1))
    ax.set(xlabel="length $V$ of the interval")
    ax.legend(loc="lower left")


@figure("piles", claims=(), panels=(2, 4), size=(2.1, 1.6))
def piles(*axes):
    """The estimate from the samples 1, 2, 2.5 and 5 (ticks), built up one sample at a time. Each
    sample adds a block of side 2 (top) or a Gaussian bump of the same standard deviation (bottom),
    of area 1/4 (grey). The last column is the estimate.
    """
    X, points = np.array([[1.0], [2.0], [2.5], [5.0]]), np.linspace(-2, 8, 401)
    for i, (top, bottom) in enumerate(zip(axes[:4], axes[4:], strict=True), start=1):
        for ax, window, h in ((top, hypercube, 2.0), (bottom, gaussian_window, 2 / BOX)):
            pile = i / 4 * parzen(points[:, None], X[:i], h, window)
            block = parzen(points[:, None], X[i - 1 : i], h, window) / 4
            ax.fill_between(points, block, where=block > 1e-4, color=SHADE)
            ax.plot(points, pile, color=BLUE, lw=1.3)
            ax.plot(X[:i, 0], np.full(i, -0.02), "|", color=INK, ms=5)
            ax.set(xlim=(-1, 7), ylim=(-0.04, 0.42), xticks=(0, 2, 4, 6), yticks=(0, 0.2, 0.4))
    for ax in (axes[0], axes[4]):
        ax.set_ylabel("density")


@figure("origin", claims=(), panels=3, size=(2.8, 2.3))
def where_cells_begin(*axes):
    """The petal lengths of the 150 irises three times. Left and middle: histograms with cells of
    0.8 cm that begin at different places. One has an empty cell in the gap, the other has not.
    Right: the Parzen window, which has no such choice.
    """
    X, points = load_iris().X[:, 2:3], np.linspace(0.0025, 7.9975, 1600)[:, None]
    for ax, origin in zip(axes[:2], (0.05, 0.45), strict=True):
        edges = np.arange(origin - 0.8, 8.5, 0.8)
        heights = histogram_density((edges[:-1, None] + edges[1:, None]) / 2, X, 0.8, origin)
        ax.stairs(heights, edges, fill=True, color=SHADE, ec=GREY, lw=0.8)
        ax.set_title(f"cells begin at {origin} cm")
    axes[2].plot(points[:, 0], parzen(points, X, 0.8), color=BLUE, lw=1.1)
    axes[2].set_title("a window about every point")
    for ax in axes:
        ax.plot(X[:, 0], np.full(150, -0.015), "|", color=INK, ms=5, mew=0.5)
        ax.set(xlim=(0, 8), ylim=(-0.03, 0.46), xlabel="petal length (cm)")
    axes[0].set_ylabel("density")


@figure("knn_petals", claims=(), panels=2, size=(3.8, 2.3))
def knn_petals(*axes):
    """The k-NN estimate of the petal lengths (orange), and the Gaussian kernel estimate with the
    left-out bandwidth (dashed). It has spikes where petals crowd. For k = 10 it is infinite at 1.4
    and 1.5 cm, which more than ten flowers share; the picture cuts it off. A larger k is smoother.
    """
    X, points = load_iris().X[:, 2:3], np.linspace(0, 8, 801)[:, None]
    smooth = np.exp(kernel_log_density(points, X, best_bandwidth(X, np.geomspace(0.02, 2, 41))))
    for ax, k in zip(axes, (10, 30), strict=True):
        ax.plot(points[:, 0], np.minimum(knn_density(points, X, k), 2), color=ORANGE, lw=1.1)
        ax.plot(points[:, 0], smooth, "--", color=BLUE, lw=1.1)
        ax.set(title=f"$k = {k}$", xlim=(0, 8), ylim=(0, 1.2), xlabel="petal length (cm)")
    axes[0].set_ylabel("density")


@figure("bandwidth", claims=(), panels=2)
def choosing_the_bandwidth(left, right):
    """Left: the exact mean integrated squared error for n samples of N(0, 1). From circle to circle
    n grows tenfold, and the best h is divided by 1.68 and by 1.62 (for large n by 1.58). Right: the
    mean of ln p over 60 samples. If each sample is among those that predict it (dashed), it grows
    without end as h becomes small. If it is left out (solid), there is a maximum (circle), here not
    far from the h of the smallest error (dotted).
    """
    for n, look in ((20, ":"), (200, "--"), (2000, "-")):
        error = normal_mise(BANDWIDTHS, n)
        left.plot(BANDWIDTHS, error, look, color=INK, lw=1.1)
        left.annotate(f"$n = {n}$", (0.055, 1.25 * error[0]), fontsize=9)
        left.plot(BANDWIDTHS[error.argmin()], error.min(), "o", color=BLUE, ms=6)
    left.set(xscale="log", yscale="log", xlim=(0.05, 3), ylim=(4e-4, 1))
    left.set(xlabel="bandwidth $h$", ylabel="mean integrated squared error")
    X, tried = lecture_sample(), BANDWIDTHS[::8]
    without = [leave_one_out(X, h).mean() for h in tried]
    within = [kernel_log_density(X, X, h).mean() for h in tried]
    right.plot(tried, without, color=BLUE, lw=1.4, label="left out")
    right.plot(tried, within, "--", color=ORANGE, lw=1.4, label="included")
    h = best_bandwidth(X, tried)
    right.plot(h, leave_one_out(X, h).mean(), "o", color=BLUE, ms=6)
    right.axvline(BEST, color=GREY, lw=0.8, ls=":")
    right.annotate("smallest error", (0.93 * BEST, -2.55), color=GREY, rotation=90, ha="right")
    right.set(xscale="log", xlim=(0.05, 3), ylim=(-2.6, -0.6), xlabel="bandwidth $h$")
    right.set(ylabel="mean of $\\ln p$ at the samples")
    right.legend(loc="upper right")


K = 5
QUERIES = np.array([[-0.95, 0.3], [0.8, -0.05], [1.65, -0.75], [1.6, 0.85]])


def two_classes():
    """Sixty samples of two classes that bend around each other."""
    return make_moons(60, noise=0.2, rng=np.random.default_rng(2))


@figure("growing_balls", claims=("density-12",), panels=3, size=(3.0, 2.35))
def growing_balls(left, middle, right):
    """Sixty samples of two classes. Left: about each of four points (crosses) a ball has grown
    until it holds k = 5 samples. It is small where samples are dense. The number beside it is the
    share of the first class (filled marks) in the ball. Middle: the k-NN density; darker is denser.
    Right: the share $k_1 / k$, from 0 (white) to 1 (darkest). The black line is where it passes
    1/2: on either side the vote of the neighbours goes to another class.
    """
    T = two_classes()
    first = np.unique(T.y)[0]
    for ax in (left, middle, right):
        set_view(ax, T.X, margin=0.17)
        ax.set(xlabel="$x_1$", xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1))
    left.set_ylabel("$x_2$")
    _, radii = nearest_samples(QUERIES, T.X, K)
    shares = knn_posterior(QUERIES, T.X, T.y, K)[:, 0]
    for query, r, share in zip(QUERIES, radii, shares, strict=True):
        ball(left, query, r, f"{share * K:.0f}/{K}")
    shade(middle, lambda x: np.log(knn_density(x, T.X, K)), cmap="Greys", vmin=-4, vmax=2)
    levels = [tint(BLUE, share) for share in np.linspace(0, 0.75, K + 1)]
    shade(right, lambda x: knn_posterior(x, T.X, T.y, K)[:, 0], levels)
    draw_contours(right, lambda x: knn_posterior(x, T.X, T.y, K)[:, 0], [0.5], colors=[INK])
    for ax in (left, middle, right):
        draw_samples(ax, T.X, np.where(T.y == first, 1, 2), size=3.5)


def ball(ax, query, r, text):
    """The circle of radius r about the query, and its text."""
    turn = np.linspace(0, 2 * np.pi, 121)
    rim = query + r * np.column_stack([np.cos(turn), np.sin(turn)])
    ax.fill(*rim.T, color=SHADE, zorder=0)
    ax.plot(*rim.T, color=INK, lw=0.8)
    ax.plot(*query, "+", color=INK, ms=6, zorder=4)
    ax.annotate(text, query + [r, 0], (2, -3), textcoords="offset points", fontsize=9)


def shade(ax, f, colors=None, **style):
    """An image over the view of f, which takes points (m, 2); colors of its levels 0 to 1."""
    from matplotlib.colors import ListedColormap

    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x1, x2 = np.linspace(left, right, 160), np.linspace(bottom, top, 140)
    points = np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2)
    if colors is not None:
        style |= {"cmap": ListedColormap(colors), "vmin": 0, "vmax": 1}
    values = f(points).reshape(len(x2), len(x1))
    look = {"origin": "lower", "zorder": 0, "interpolation": "none"}  # its pixels as they are
    ax.imshow(values, extent=(left, right, bottom, top), **look, **style)


# --- Films -----------------------------------------------------------------------------


WIDTHS = np.geomspace(0.05, 2.0, 20)  # bandwidths of the films


@film("bumps", parzen, window=("Gaussian", "box"))
def bumps_film(window):
    """The Parzen estimate (black) is the sum of one bump for each of eight samples (ticks), each of
    the same width h. When h is small, every sample has a peak of its own. As h grows the bumps
    overlap and melt into one hill. Boxes make jumps, and Gaussian windows do not.
    """
    X = np.array([[-2.1], [-1.7], [-0.4], [-0.1], [0.2], [0.9], [2.0], [2.3]])
    phi = gaussian_window if window == "Gaussian" else hypercube

    def draw(ax, state):
        h, p, bumps = state
        for bump in bumps:
            ax.plot(grid[:, 0], bump, color=BLUE, lw=0.9)
        ax.plot(grid[:, 0], p, color=INK, lw=1.6)
        ax.plot(X[:, 0], np.full(len(X), -0.025), "|", color=INK, ms=6)
        ax.set(xlim=(-4, 4), ylim=(-0.05, 0.8), xlabel="x", ylabel="density", title=f"h = {h:.2f}")

    def words(state):
        h, p, _ = state
        inner = p[1:-1]
        peaks = np.sum((inner > p[:-2] * (1 + 1e-9)) & (inner >= p[2:] * (1 + 1e-9)))
        note = f" It has {peaks} peak{'' if peaks == 1 else 's'}." if window == "Gaussian" else ""
        return f"With h = {h:.2f} the highest density is {p.max():.2f}.{note}"

    grid = np.linspace(-4, 4, 321)[:, None]
    states = (
        (h, parzen(grid, X, h, phi), [parzen(grid, x[None], h, phi) / len(X) for x in X])
        for h in (WIDTHS if window == "Gaussian" else 2 * WIDTHS).round(2)[3:]
    )
    return Take(states, draw, words)


@film("bandwidth", kernel_log_density, measure="mean ln p", samples=(60, 20, 200))
def bandwidth_film(samples):
    """The Gaussian kernel estimate (blue) of N(0, 1) (dashed) from the samples (ticks), as the
    bandwidth h grows. A small h shows every accident of the sample; a large one blurs the hill. The
    curve is the mean of ln p at samples that are left out: its maximum chooses h.
    """
    X = np.random.default_rng(4).standard_normal((samples, 1))
    grid = np.linspace(-4, 4, 241)[:, None]

    def draw(ax, state):
        h, log_p = state
        ax.plot(grid[:, 0], np.exp(normal_log_density(grid[:, 0], 0.0, 1.0)), "--", color=INK, lw=1)
        ax.plot(grid[:, 0], np.exp(log_p), color=BLUE, lw=1.6)
        ax.plot(X[:, 0], np.full(samples, -0.025), "|", color=INK, ms=5, mew=0.5)
        ax.set(xlim=(-4, 4), ylim=(-0.05, 0.8), xlabel="x", ylabel="density", title=f"h = {h:.2f}")

    def value(state):
        return leave_one_out(X, state[0]).mean()

    def words(state):
        note = " No other h of this film does better." if state[0] == best else ""
        return f"h = {state[0]:.2f}: the mean of ln p is {value(state):.2f}.{note}"

    best = best_bandwidth(X, WIDTHS[4:])
    states = ((h, kernel_log_density(grid, X, h)) for h in WIDTHS[4:])
    return Take(states, draw, words, value)


@film("knn_density", knn_density, samples=(60, 20, 200))
def knn_density_film(samples):
    """The k-NN density (blue) of N(0, 1) (dashed) from the samples (ticks), as k grows. The bar
    reaches from x = 1 to its k-th nearest sample on both sides: the shorter, the denser. Small k
    gives spikes at the samples. Large k is smooth, but too high far away, where the tails fall
    slowly.
    """
    X = np.random.default_rng(4).standard_normal((samples, 1))
    grid, query = np.linspace(-4, 4, 401)[:, None], np.array([[1.0]])

    def draw(ax, state):
        k, p, r = state
        ax.plot(grid[:, 0], np.exp(normal_log_density(grid[:, 0], 0.0, 1.0)), "--", color=INK, lw=1)
        ax.plot(grid[:, 0], np.minimum(p, 3.0), color=BLUE, lw=1.3)
        ax.plot(X[:, 0], np.full(samples, -0.025), "|", color=INK, ms=5, mew=0.5)
        ax.plot([1 - r, 1 + r], [0.75, 0.75], color=ORANGE, lw=2.5, solid_capstyle="butt")
        ax.plot(1, 0.75, "o", color=ORANGE, ms=5)
        ax.set(xlim=(-4, 4), ylim=(-0.05, 0.8), xlabel="x", ylabel="density", title=f"k = {k}")

    def words(state):
        k, _, r = state
        (p,) = knn_density(query, X, k)
        return f"The bar for k = {k} reaches {r:.2g} to each side, so the density is {p:.2f}."

    ks = np.unique(np.geomspace(1, 0.75 * samples, 16).round().astype(int)).tolist()
    states = ((k, knn_density(grid, X, k), nearest_samples(query, X, k)[1][0]) for k in ks)
    return Take(states, draw, words)


if __name__ == "__main__":
    run_script(__file__)
