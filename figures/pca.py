"""Lecture figures of the pca chapter."""

import numpy as np

from mlnotes.datasets import load_digits, load_wine, make_blobs, make_shifted_digits, place
from mlnotes.pca import (
    components_for,
    cumulative_share,
    eigenfaces,
    pca_whitening,
    power_iteration,
    principal_components,
    reconstruct,
    scores,
    standardise,
    zca_whitening,
)
from mlnotes.plotting import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Take,
    draw_image,
    draw_samples,
    figure,
    film,
    run_script,
    set_view,
)

RED, DARK_GREEN = "#b3261e", "#2f7d5b"


# --- The axes --------------------------------------------------------------------------


def cloud():
    """Samples of a normal distribution with correlated coordinates."""
    Sigma = np.array([[3.0, 1.6], [1.6, 1.4]])
    return make_blobs((60,), [(4.0, 3.0)], Sigma, rng=np.random.default_rng(7)).X


def telling(X, principal):
    """The sample that is far from the mean along both axes."""
    return X[np.abs(scores(X, principal.mean, principal.V)).prod(axis=1).argmax()]


@figure("axes", claims=("pca-20",), panels=3, size=(2.4, 2.6))
def axes(left, middle, right):
    """Left: sixty samples with the first axis (red, solid) and the second (green, dashed). Each
    line reaches two standard deviations to either side of the mean. Middle: every sample goes to
    the nearest point of the first axis. The dotted line is the regression of feature 2 on feature
    1, for comparison. Right: one sample (dot) seen from near by. From the mean, at the top right,
    to the sample runs the black side (total), to its projection the red side (kept), and between
    the two the dashed side (lost). The angle between kept and lost is a right angle. The black side
    is the same for every axis. So the longer the red side, the shorter the dashed one.
    """
    X = cloud()
    principal = principal_components(X)
    for ax in (left, middle, right):
        set_view(ax, X)
        ax.set(xticks=(), yticks=(), xlabel="feature 1", ylabel="feature 2")
    draw_samples(left, X, size=4)
    for j, (color, style) in enumerate(((RED, "-"), (DARK_GREEN, "--"))):
        ends = principal.mean + 2 * np.sqrt(principal.lam[j]) * np.outer((-1, 1), principal.V[:, j])
        left.plot(*ends.T, color=color, ls=style, lw=2.2)
    left.set_title("Two axes")
    v = principal.V[:, :1]
    feet = reconstruct(scores(X, principal.mean, v), principal.mean, v)
    middle.axline(principal.mean, principal.mean + v[:, 0], color=RED, lw=1.4)
    slope = np.polyfit(*X.T, 1)[0]  # of the regression line
    middle.axline(principal.mean, slope=slope, color=DARK_GREEN, lw=1.4, ls=":")
    for x, foot in zip(X, feet, strict=True):
        middle.plot(*np.transpose([x, foot]), color=GREY, lw=0.8)
    draw_samples(middle, X, size=4)
    middle.plot(*feet.T, ".", color=INK, ms=3)
    middle.set_title("Projections")
    triangle(right, telling(X, principal), principal)


NAMES = ("total", "kept", "lost")  # of the sides of the triangle
SHIFTS = ((16, -6), (-12, 9), (-15, -4))  # of their names from the middles of the sides, in points


def triangle(ax, x, principal):
    """The vector, its projection on the first axis, and what is left, seen from near by."""
    v = principal.V[:, :1]
    foot = reconstruct(scores(x[None], principal.mean, v), principal.mean, v)[0]
    ax.axline(principal.mean, principal.mean + v[:, 0], color=RED, lw=0.8)
    sides = ((principal.mean, x, INK, "-"), (principal.mean, foot, RED, "-"), (foot, x, BLUE, "--"))
    for start, end, color, style in sides:
        ax.plot(*np.transpose([start, end]), color=color, ls=style, lw=2)
    ax.plot(*x, "o", color=INK, ms=5)
    corner = [0.12 * (end - foot) / np.linalg.norm(end - foot) for end in (principal.mean, x)]
    ax.plot(*np.transpose([foot + corner[0], foot + sum(corner), foot + corner[1]]), INK, lw=0.8)
    for name, (start, end, color, _), shift in zip(NAMES, sides, SHIFTS, strict=True):
        ax.annotate(name, (start + end) / 2, shift, textcoords="offset points", color=color,
                    ha="center", va="center", fontsize=9)  # fmt: skip
    set_view(ax, [principal.mean, x, foot], margin=0.3)
    ax.set_title("Kept and lost")


# --- A curved surface of images --------------------------------------------------------


def near_by(n=60):
    """The 3 of `make_shifted_digits`, in places and at angles that hardly differ."""
    rng = np.random.default_rng(2)
    truth = make_shifted_digits(1, rng=rng).truth
    moves = zip(rng.uniform(-0.02, 0.02, n), rng.uniform(-0.4, 0.4, (n, 2)), strict=True)
    return np.array(
        [place(truth.image, shape=(100, 100), zoom=truth.zoom, angle=a, shift=s).ravel()
         for a, s in moves]
    )  # fmt: skip


@figure("moved_digits", claims=("pca-39",), panels=(2, 3), size=(2.2, 2.0))
def moved_digits(*panels):
    """Five images of one digit, shifted and turned. They have 10000 pixels, but only three numbers
    change: two shifts and an angle. The last panel shows the variances along the axes, relative to
    the first, on a logarithmic scale. For 60 images that are far apart (squares) they fall slowly.
    For 60 images that hardly differ (dots) they drop sharply after the third. The images lie on a
    curved surface, and only small pieces of it are nearly flat.
    """
    T = make_shifted_digits(60, rng=np.random.default_rng(1))
    for ax, image in zip(panels[:5], T.images, strict=False):
        draw_image(ax, image, cmap="Greys")
        ax.plot((0, 99, 99, 0, 0), (0, 0, 99, 99, 0), color=GREY, lw=0.6)  # a frame
    spectrum = panels[5]
    for X, look, name in ((T.X, {"color": ORANGE, "marker": "s", "ls": "--"}, "far apart"),
                          (near_by(), {"color": BLUE, "marker": "o"}, "near by")):  # fmt: skip
        lam = principal_components(X, 1).lam[:10]
        spectrum.semilogy(np.arange(1, 11), lam / lam[0], ms=3, lw=1.2, label=name, **look)
    spectrum.set(xlabel="axis $j$", xticks=(1, 3, 5, 10))
    spectrum.set_title(r"$\lambda_j / \lambda_1$")
    spectrum.legend(fontsize=8)


# --- Images and their parts ------------------------------------------------------------

COUNTS = (1, 5, 15, 30)


@figure("eigendigits", claims=("pca-42",), panels=(2, 6), size=(1.2, 1.35))
def eigendigits(*panels):
    """Above: the mean of 1797 digits, and the first five axes as pictures: positive entries are
    white, negative ones black, and 0 is grey. Below: one digit, and its reconstruction from the
    mean and the first k axes. With few axes it is blurred, with 30 it is nearly the digit. All 61
    axes along which the digits vary give it back exactly.
    """
    T = load_digits()
    images = T.images.astype(float)
    rank = int(np.linalg.matrix_rank(T.X - T.X.mean(axis=0)))
    mean, faces, Z = eigenfaces(images, rank)
    above, below = panels[:6], panels[6:]
    draw_image(above[0], mean).axes.set_title("mean")
    for j, ax in enumerate(above[1:]):
        reach = np.abs(faces[j]).max()
        draw_image(ax, faces[j], vmin=-reach, vmax=reach).axes.set_title(f"$v_{j + 1}$")
    shown = {"vmin": 0, "vmax": images.max()}
    draw_image(below[0], images[5], **shown).axes.set_title("digit")
    for ax, k in zip(below[1:], (*COUNTS, rank), strict=True):
        part = mean + np.tensordot(Z[5, :k], faces[:k], axes=1)
        draw_image(ax, part, **shown).axes.set_title(f"$k = {k}$")


NOISE = 2.0  # of the digits' 16 grey levels, so that pixels at the border vary too


def white_digits():
    """Digits with some noise, and both whitenings of them, by name."""
    digits = load_digits().X
    X = digits + NOISE * np.random.default_rng(0).normal(size=digits.shape)
    return {"original": X, "ZCA": X @ zca_whitening(X).W.T, "PCA": X @ pca_whitening(X).W.T}


@figure("whitened", claims=("pca-47",), panels=(3, 6), size=(1.0, 1.1))
def whitened(*panels):
    """Six digits with some noise (first row), whitened by ZCA (second row) and by PCA whitening
    (third row). ZCA turns the white scores back to the pixels, and a trace of the strokes can
    still be seen. PCA whitening leaves the scores in the order of the axes, which has nothing to do
    with places in the picture. The mean is not subtracted here: it adds the same pattern to each
    picture of a row.
    """
    for row, (name, Z) in enumerate(white_digits().items()):
        for ax, z in zip(panels[6 * row : 6 * row + 6], Z, strict=False):
            draw_image(ax, z.reshape(8, 8))
        panels[6 * row].set_title(name)


# --- How many --------------------------------------------------------------------------

SHARE = 0.9


@figure("scree", claims=("pca-52",), size=(4.2, 2.9))
def scree(ax):
    """Scree plot of the 13 standardised features of wine. Bars: the share of the variance along
    each axis. Dots: the share of the first k axes together. The ring marks the first k with more
    than 0.9 (dashed line), which is 8. The bars flatten over several places, so it is hard to say
    where they bend.
    """
    lam = principal_components(standardise(load_wine().X).Z).lam
    j, share, k = np.arange(1, len(lam) + 1), cumulative_share(lam), components_for(lam, SHARE)
    ax.bar(j, lam / lam.sum(), color=BLUE, width=0.7)
    ax.plot(j, share, "o-", color=INK, ms=4, lw=1.2)
    ax.axhline(SHARE, color=GREY, lw=0.8, ls="--")
    ax.plot(k, share[k - 1], "o", ms=11, mfc="none", mec=ORANGE, mew=2)
    ax.set(xlabel="axis $j$", ylabel="share of the variance", ylim=(0, 1.05), xticks=j)


# --- Films -----------------------------------------------------------------------------


@film(
    "power_iteration",
    power_iteration,
    measure="variance along v",
    start=(100, 140, 170),
    ratio=(3, 1.2),
)
def power_film(start, ratio):
    """The power iteration. The line is the direction v. Each step multiplies v by the covariance
    matrix and gives it the length 1 again. It turns towards the direction of largest variance
    (grey), quickly if the two variances are very different. The start is an angle in degrees.
    """
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    X = np.random.default_rng(7).normal(size=(60, 2)) * np.sqrt([ratio, 1.0]) @ turn.T
    Sigma = np.cov(X.T, bias=True)
    axis = np.linalg.eigh(Sigma)[1][:, -1]
    angle = np.deg2rad(start)

    def draw(ax, state):
        ax.plot(*(X - X.mean(axis=0)).T, "o", ms=3.5, color=GREY, mew=0)
        ax.plot(*np.outer([-4, 4], axis).T, color=GREY, lw=4, alpha=0.5)
        ax.plot(*np.outer([-4, 4], state.v).T, color=BLUE, lw=1)
        ax.plot(*np.outer([0, 1], state.v).T, color=ORANGE, lw=3)
        ax.set(xlim=(-4.5, 4.5), ylim=(-4, 4), aspect="equal", xlabel="x₁", ylabel="x₂")

    def words(state):
        cosine = min(1.0, abs(float(state.v @ axis)))
        return f"v is {np.rad2deg(np.arccos(cosine)):.1f} degrees from the first axis."

    states = power_iteration(Sigma, np.array([np.cos(angle), np.sin(angle)]))
    return Take(states, draw, words, length=16)


if __name__ == "__main__":
    run_script(__file__)
