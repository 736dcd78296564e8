"""Pictures: one look for all of them, and the same bytes from the same input.

A chapter's script registers its figures and, run by itself, draws them into a folder of its own
name beside it, in SVG or in the formats that it is given (``python figures/svm.py pdf png``):

    @figure("margin", claims=("svm-30",), panels=2)
    def margin(left, right): ...

    if __name__ == "__main__":
        run_script(__file__)

Colours differ in lightness as well, and what they tell apart a marker or a dash does too, so
that the pictures survive a black-and-white printer and a colour-blind reader.

Contents
    Figures of a chapter    figure, LectureFigure, REGISTRY, new_figure, pictures, draw_all,
                            run_script
    The look                use_style, INK, BLUE, ORANGE, GREEN, PURPLE, GREY, SHADE, COLORS,
                            MARKERS, tint
    What chapters draw      set_view, draw_samples, draw_line, draw_strip, draw_regions,
                            draw_contours, draw_ellipse, draw_image, draw_matrix

Symbols
    ax       matplotlib's axes to draw on
    style    matplotlib's names for the look of what is drawn, as color and lw
    X, y     samples (n, 2) and their classes (n,)
    f        a function of points (m, 2)
    w, b     normal (2,) and offset of a line
"""

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = [
    "figure", "LectureFigure", "REGISTRY", "new_figure", "pictures", "draw_all", "run_script",
    "use_style", "INK", "BLUE", "ORANGE", "GREEN", "PURPLE", "GREY", "SHADE", "COLORS", "MARKERS",
    "tint", "set_view", "draw_samples", "draw_line", "draw_strip", "draw_regions",
    "draw_contours", "draw_ellipse", "draw_image", "draw_matrix",
]  # fmt: skip

INK, GREY, SHADE = "#1a1a1a", "#9a9a9a", "#ececec"
BLUE, ORANGE, GREEN, PURPLE = "#1f5a99", "#d97a1f", "#7fbf9b", "#7b3f8f"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
MARKERS = ("o", "s", "^", "D", "v")
PANEL = (3.2, 2.9)  # inches: two panels fill the width of a textbook page
GRID = 300  # points along each side where a function is drawn over the plane
STYLE = {
    "svg.hashsalt": "mlnotes",
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10,
    "axes.labelsize": 11,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "image.cmap": "Greys",
    "contour.negative_linestyle": "solid",
    "savefig.dpi": 200,
}
UNDATED = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


# ---------------------------------------------------------------------------------------
# Figures of a chapter
# ---------------------------------------------------------------------------------------


class LectureFigure(NamedTuple):
    """`draw` takes as many axes as there are panels, row by row; its docstring is the caption."""

    chapter: str
    name: str
    claims: tuple
    panels: tuple  # rows, columns
    size: tuple  # of one panel, in inches
    draw: Callable


REGISTRY = []


def figure(name, *, claims, panels=1, size=PANEL):
    """Register the decorated function as the lecture figure `name`, which draws `claims`.

    `panels` is their number in one row, or (rows, columns); `size` that of one, in inches.
    """
    grid = panels if isinstance(panels, tuple) else (1, panels)

    def register(draw):
        chapter = Path(draw.__code__.co_filename).stem
        REGISTRY.append(LectureFigure(chapter, name, tuple(claims), grid, size, draw))
        return draw

    return register


def new_figure(lecture_figure):
    """The `lecture_figure` drawn, on a matplotlib Figure of its own.

    Every file wants a new one: the layout remembers the resolution of the one before.
    """
    from matplotlib.figure import Figure

    (rows, columns), (width, height) = lecture_figure.panels, lecture_figure.size
    fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
    lecture_figure.draw(*fig.subplots(rows, columns, squeeze=False).flat)
    return fig


def pictures(chapter, formats=("svg",)):
    """The registered figures of a chapter as files.

    Yields: the name and the bytes of each file; the same bytes at every call.
    """
    import matplotlib as mpl

    for kind in formats:
        if kind not in UNDATED:
            raise ValueError(f"a format must be one of {', '.join(UNDATED)}; got {kind!r}")
    for each in [each for each in REGISTRY if each.chapter == chapter]:
        for kind in formats:
            with mpl.rc_context():
                use_style()
                file = BytesIO()
                new_figure(each).savefig(file, format=kind, metadata=UNDATED[kind])
            yield f"{each.name}.{kind}", file.getvalue()


def draw_all(folder, formats=("svg",)):
    """Draw the figures of the chapter that the folder is named after, into it.

    All are drawn before the first is written, and each file is replaced in one step: a script
    that fails leaves every picture as it was. Pictures that no figure draws any more go.
    """
    folder = Path(folder)
    drawn = dict(pictures(folder.name, formats))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in drawn.items():
        part = folder / f".{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)
    for kind in formats:
        for path in folder.glob(f"*.{kind}"):
            if path.name not in drawn:
                path.unlink()


def run_script(script):
    """Draw the figures of the chapter script that is being run, in the formats it was given."""
    try:
        draw_all(Path(script).resolve().with_suffix(""), sys.argv[1:] or ("svg",))
    except ValueError as error:
        sys.exit(f"{Path(script).name}: {error}")


# ---------------------------------------------------------------------------------------
# The look
# ---------------------------------------------------------------------------------------


def use_style():
    """Make matplotlib draw in this book's style, whatever the user's settings."""
    import matplotlib as mpl

    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


def tint(color, share=0.25):
    """The `color` mixed with white, of which it keeps the `share`: (r, g, b) in [0, 1].

    >>> [round(float(c), 2) for c in tint("#000000", 0.25)]
    [0.75, 0.75, 0.75]
    """
    from matplotlib.colors import to_rgb

    return tuple(1 - share * (1 - np.array(to_rgb(color))))


# ---------------------------------------------------------------------------------------
# What chapters draw
# ---------------------------------------------------------------------------------------


def set_view(ax, X, margin=0.08, equal=True):
    """Show all of the samples X with a `margin` around them, that share of their range.

    With `equal`, one unit is as long on both axes: distances look as they are.
    """
    low, high = np.min(X, axis=0), np.max(X, axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = low - room, high + room
    ax.set(xlim=(left, right), ylim=(bottom, top))
    if equal:
        ax.set_aspect("equal")


def draw_samples(ax, X, y=None, *, size=5, names=None):
    """The samples X (n, 2), a marker and a colour for each class of y; grey dots without y.

    Every second class is drawn open. Of labels -1 and +1 the positive comes first. `names` are
    what the legend calls the classes, in their order; `size` is that of a marker in points.
    """
    X = np.asarray(X)
    if y is None:
        return ax.plot(*X.T, "o", ms=0.7 * size, color=GREY, mew=0)
    y = np.asarray(y)
    classes = list(np.unique(y))
    if names is None:
        names = [str(c) for c in classes]
        if set(classes) == {-1, 1}:
            classes, names = [1, -1], ["$y = +1$", "$y = -1$"]
    lines = []
    for k, (c, name) in enumerate(zip(classes, names, strict=True)):
        color, marker = COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]
        fill = color if k % 2 == 0 else "white"
        look = {"marker": marker, "mfc": fill, "mec": color, "ms": size, "mew": 1.1, "zorder": 3}
        lines += ax.plot(*X[y == c].T, ls="", label=name, **look)
    return lines


def draw_line(ax, w, b=0.0, **style):
    """The line w^T x + b = 0, through its point nearest to the origin."""
    nearest = -b * w / (w @ w)
    return ax.axline(nearest, nearest + np.array([-w[1], w[0]]), **style)


def draw_strip(ax, w, b=0.0, *, gamma):
    """The strip of all points within `gamma` of the line w^T x + b = 0, as far as the view goes."""
    normal = w / np.linalg.norm(w)
    nearest = -b * w / (w @ w)
    view = ax.axis()
    reach = np.linalg.norm(np.abs(view).reshape(2, 2).max(axis=1)) + np.linalg.norm(nearest)
    along, across = reach * np.array([-normal[1], normal[0]]), gamma * normal
    corners = [nearest + s * along + t * across for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    (strip,) = ax.fill(*np.transpose(corners), color=SHADE, lw=0, zorder=0)
    ax.axis(view)
    return strip


def _over_view(ax, f):
    """The values of f, which takes points (m, 2), on a grid over what the axes show."""
    x, y = np.linspace(*ax.get_xlim(), GRID), np.linspace(*ax.get_ylim(), GRID)
    points = np.stack(np.meshgrid(x, y), axis=-1)
    return x, y, np.asarray(f(points.reshape(-1, 2))).reshape(GRID, GRID)


def draw_regions(ax, predict, classes):
    """Tint the view by the class that `predict` gives to points (m, 2), with a line between.

    `classes` are in the order of `draw_samples`, so that a region has its samples' colour.
    """
    x, y, Z = _over_view(ax, predict)
    for k, c in enumerate(classes):
        inside = (Z == c).astype(float)
        if inside.any():
            color = tint(COLORS[k % len(COLORS)])
            ax.contourf(x, y, inside, levels=[0.5, 1.5], colors=[color], zorder=0)
        if inside.any() and not inside.all():
            ax.contour(x, y, inside, levels=[0.5], colors=[INK], linewidths=0.6, zorder=1)


def draw_contours(ax, f, levels=8, **style):
    """Contour lines of f over the view, at the given `levels` or at so many."""
    style = {"colors": [GREY], "linewidths": 0.8, "zorder": 1} | style
    return ax.contour(*_over_view(ax, f), levels=levels, **style)


def draw_ellipse(ax, mean, covariance, radius=2.0, **style):
    """The points x with (x - mean)^T covariance^{-1} (x - mean) = radius^2."""
    lengths, axes = np.linalg.eigh(covariance)
    turn = np.linspace(0, 2 * np.pi, 201)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    rim = mean + radius * circle * np.sqrt(np.maximum(lengths, 0)) @ axes.T
    return ax.plot(*rim.T, **({"color": INK, "lw": 1.2} | style))


def draw_image(ax, pixels, **style):
    """An image of `pixels` (height, width), grey, or (height, width, 3), coloured; no axes."""
    ax.set_axis_off()
    return ax.imshow(pixels, **({"cmap": "gray", "interpolation": "nearest"} | style))


def draw_matrix(ax, M, text=None, **style):
    """A matrix M as a heat map, the larger the darker, each entry with its `text` if given."""
    shown = ax.imshow(M, **({"cmap": "Greys", "interpolation": "nearest"} | style))
    ax.tick_params(length=0)
    for (i, j), entry in np.ndenumerate(np.asarray(text)) if text is not None else ():
        light = shown.norm(M[i][j]) < 0.5
        ax.text(j, i, entry, ha="center", va="center", color=INK if light else "white")
    return shown
