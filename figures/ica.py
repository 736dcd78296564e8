"""Lecture figures of the ica chapter."""

import numpy as np

from mlnotes import datasets
from mlnotes.ica import (
    FastICA,
    best_rotation,
    contrast,
    fixed_point,
    rotated_kurtosis,
    rotation,
)
from mlnotes.pca import PCA, pca_whitening
from mlnotes.plotting import (
    BLUE,
    COLORS,
    GREEN,
    GREY,
    INK,
    ORANGE,
    Take,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)

MIXING = np.array([[1.0, 0.7], [0.2, 0.8]])


SCANS = np.array([[0.7, 0.3], [0.4, 0.6]])  # the weights of the two scans of the sheet


def two_pages(count, rng):
    """The ink on the front and on the back of a sheet with `count` digits on each side."""
    digits, pages = datasets.load_digits().X, []
    for _ in range(2):
        page = np.zeros((80, 80))
        for digit in rng.choice(digits, size=count, replace=False):
            row, column = rng.integers(0, 73, size=2)
            place = page[row : row + 8, column : column + 8]
            place[:] = np.maximum(place, digit.reshape(8, 8))
        pages.append(page.ravel() / page.std())
    return np.column_stack(pages)


def dots(ax, points, color):
    """Points as one path, which makes a small file."""
    gaps = np.full(len(points), np.nan)
    x, y = np.column_stack([points, points + [0.01, 0], gaps, gaps]).reshape(-1, 2).T
    ax.plot(x, y, color=color, lw=2.4, solid_capstyle="round")


def mixed(n=700):
    """Two uniform sources, mixed."""
    return np.random.default_rng(27).uniform(-1, 1, size=(n, 2)) @ MIXING.T


@figure("four_views", claims=(), panels=4, size=(2.0, 2.2))
def four_views(sources, mixtures, whitened, components):
    """The same 700 samples four times. Two independent uniform sources fill a square. A mixing
    matrix, another than that of the sheet, makes a parallelogram of it. Whitening makes its sides
    nearly perpendicular and equal again, but the square is turned. One rotation $W$ is missing:
    the numbers $y = W z$, called components, are the sources. The colours are the quarters of the
    first square: follow them. Order and signs may change on the way.
    """
    S = np.sqrt(3) * np.random.default_rng(27).uniform(-1, 1, size=(700, 2))
    X = S @ MIXING.T
    model = FastICA(random_state=0).fit(X)
    Z = (X - model.mean_) @ model.whitening_.T
    quarter = 2 * (S[:, 0] > 0) + (S[:, 1] > 0)
    names = ("sources s", "samples x = A s", "white samples z", "components y = W z")
    panels = (sources, mixtures, whitened, components)
    for ax, points, name in zip(panels, (S, X, Z, model.transform(X)), names, strict=True):
        for q in range(4):
            ax.plot(*points[quarter == q].T, "o", ms=1.8, mew=0, color=COLORS[q])
        ax.set(title=name, xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal", xticks=(), yticks=())


@figure("sums", claims=(), panels=3, size=(2.4, 2.2))
def sums(one, two, eight):
    """Histograms of equal mixtures of 1, 2 and 8 uniform sources, and the normal density (line).
    All have variance 1.
    """
    rng, line = np.random.default_rng(0), np.linspace(-3.5, 3.5, 200)
    for ax, k in ((one, 1), (two, 2), (eight, 8)):
        y = rng.uniform(-np.sqrt(3), np.sqrt(3), size=(50_000, k)).sum(axis=1) / np.sqrt(k)
        ax.hist(y, bins=60, density=True, histtype="stepfilled", color=BLUE, alpha=0.5)
        ax.plot(line, np.exp(-(line**2) / 2) / np.sqrt(2 * np.pi), color=INK)
        ax.set(title=f"{k} mixed", xlabel="$y$", xticks=(-2, 0, 2), ylim=(0, 0.45))


@figure("rays", claims=(), panels=2, size=(3.2, 2.9))
def rays(scans, white):
    """Left: the pixels of the sheet. The black square is white paper. Pixels with ink only on the
    front (blue) lie on one ray, those with ink only on the back (orange) on another. The rays
    point along the columns of $A$. Pixels with ink on both sides (green) lie between. Right: the
    same pixels, whitened. The rays point along the columns of $R = K A$, nearly at right angles.
    The lines through the mean are the two rows of the best $W$, nearly parallel to the rays.
    """
    sides = two_pages(30, np.random.default_rng(27))
    X = sides @ SCANS.T
    mean, K = pca_whitening(X)
    Z = (X - mean) @ K.T
    front, back = (sides > 0).T
    groups = ((front & back, GREEN), (front & ~back, BLUE), (back & ~front, ORANGE))
    for ax, points in ((scans, X), (white, Z)):
        for some, color in groups:
            dots(ax, np.unique(points[some].round(6), axis=0), color)  # ink has only 16 shades
        ax.plot(*points[~(front | back)][0], "s", ms=6, color=INK)
    for w in best_rotation(Z):
        white.plot(*np.outer([-2, 6], w * np.sign(w @ K.sum(axis=1))).T, color=INK, lw=0.9)
    for some, name, down in (
        (front & ~back, "column 1 of $R$", 1),
        (back & ~front, "column 2 of $R$", -1),
    ):
        end = Z[some][np.argmax(np.linalg.norm(Z[some], axis=1))]
        white.annotate(
            name,
            end,
            (-6, -6 * down),
            textcoords="offset points",
            ha="right",
            va="center",
            size="small",
        )
    scans.set(xlabel="scan 1", ylabel="scan 2", xticks=(), yticks=(), aspect="equal")
    white.set(xlabel="$z_1$", ylabel="$z_2$", xticks=(), yticks=(), aspect="equal")


@figure("objective", claims=(), panels=2, size=(3.3, 2.1))
def objective(left, right):
    """The objective of log cosh at every angle, for one sheet each. The grey line is 0. The dashed
    lines are the two pages. A right angle is subtracted from one of them, so the two lines nearly
    agree. Left, 60 digits: the pages are on the higher hill, and a mixture on a very low one, near
    7 degrees. Right, 80 digits: the pages are in a valley, and the hill is a mixture.
    """
    for ax, count in ((left, 60), (right, 80)):
        rng = np.random.default_rng([count, 0])
        X = two_pages(count, rng) @ SCANS.T
        X = X + 0.05 * rng.normal(size=X.shape)
        mean, K = pca_whitening(X)
        turns = [(X - mean) @ K.T @ rotation(t).T for t in np.radians(range(91))]
        ax.plot(range(91), [np.sum(contrast(Y).distance ** 2) for Y in turns], color=BLUE)
        for column in (K @ SCANS).T:  # the two pages, in white coordinates
            ax.axvline(np.degrees(np.arctan2(column[1], column[0])) % 90, color=GREY, ls="--")
        ax.axhline(0, color=GREY, lw=0.8)
        ax.set(title=f"{count} digits", xlabel="degrees", xticks=(0, 45, 90), yticks=())


@figure("axes_and_angles", claims=("ica-04",), panels=2, size=(3.4, 3.0))
def axes_and_angles(left, right):
    """Left: two uniform sources, mixed, fill a parallelogram. The principal axes (blue, dashed)
    are at right angles. The independent axes (orange) lie along the sides. Right: the kurtosis of
    the 700 white samples along a direction, against its angle. The grey curve is the formula of
    walk 2 for exactly independent sources; the samples stray from it. The circles are the two
    directions that FastICA found, at right angles. There the kurtosis is farthest from the 0 of a
    normal distribution, or nearly so.
    """
    X = mixed()
    pca, ica = PCA().fit(X), FastICA(fun="cube", tol=1e-10, random_state=0).fit(X)
    draw_samples(left, X, size=3)
    for axis, spread in zip(pca.components_, np.sqrt(pca.explained_variance_), strict=True):
        arrow(left, pca.mean_, 2 * spread * axis, color=BLUE, ls="--", label="principal")
    for column in ica.mixing_.T:
        arrow(left, ica.mean_, np.sqrt(3) * column, color=ORANGE, ls="-", label="independent")
    set_view(left, X)
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    handles, labels = left.get_legend_handles_labels()
    left.legend(handles[1:3], labels[1:3], loc="lower right")
    Z, degrees = (X - ica.mean_) @ ica.whitening_.T, np.linspace(0, 180, 361)
    right.plot(degrees, rotated_kurtosis(Z, np.radians(degrees)), color=INK, lw=1.4)
    source = ica.whitening_ @ MIXING[:, 0]  # the first source, in white coordinates
    t = np.radians(degrees) - np.arctan2(source[1], source[0])
    right.plot(degrees, -6 / 5 * (np.cos(t) ** 4 + np.sin(t) ** 4), color=GREY, lw=1.4)
    right.axhline(0, color=GREY, lw=0.8, ls="--")
    right.text(178, -0.03, "normal", color=INK, ha="right", va="top")
    W = ica.components_ @ np.linalg.pinv(ica.whitening_)
    chosen = np.arctan2(W[:, 1], W[:, 0]) % np.pi
    style = {"ms": 9, "mfc": "none", "mec": ORANGE, "mew": 2}
    right.plot(np.degrees(chosen), rotated_kurtosis(Z, chosen), "o", **style)
    right.set(xlabel="angle in degrees", ylabel="kurtosis", xticks=(0, 45, 90, 135, 180))


def arrow(ax, start, along, **style):
    """A line from the mean, with a head."""
    ax.plot(*np.transpose([start, start + along]), lw=2.2, **style)
    head = {"arrowstyle": "-|>", "color": style["color"], "lw": 0}
    ax.annotate("", start + along, start + 0.85 * along, arrowprops=head)


# --- Films -----------------------------------------------------------------------------


@film(
    "fixed_point",
    fixed_point,
    measure="distance from normal",
    start=(20, 40),
    fun=("logcosh", "cube"),
)
def fixed_point_film(start, fun):
    """FastICA turns two directions in the white samples. Their order and signs do not matter. They
    come to rest at the sides of the square, where the components are farthest from normal. The
    start is an angle in degrees.
    """
    X = mixed(150)
    model = FastICA(random_state=0).fit(X)
    Z = (X - model.mean_) @ model.whitening_.T

    def draw(ax, state):
        ax.plot(*Z.T, "o", ms=2, color=GREY, mew=0)
        for w, color in zip(state.W, (BLUE, ORANGE), strict=True):
            ax.plot(*np.outer([-2.6, 2.6], w).T, color=color, lw=0.8)
            ax.plot(*np.outer([0, 1], w).T, color=color, lw=3)
        ax.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8), aspect="equal", xlabel="z₁", ylabel="z₂")

    def words(state):
        angles = np.rad2deg(np.arctan2(state.W[:, 1], state.W[:, 0])) % 180
        return f"The directions are at {angles[0]:.1f} and {angles[1]:.1f} degrees."

    return Take(fixed_point(Z, rotation(np.deg2rad(start)), fun=fun), draw, words, length=9)


if __name__ == "__main__":
    run_script(__file__)
