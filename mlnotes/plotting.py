"""Pictures: one style for all of them, and the same bytes from the same input.

A chapter's script registers its figures and films. The script is also a program that draws them
into the folder of its name beside it, as SVG or in `formats` (``python figures/svm.py pdf gif``):

    @figure("margin", claims=("svm-30",), panels=2)
    def margin(left, right): ...

    if __name__ == "__main__":
        run_script(__file__)

Whatever colours tell apart, lightness and markers or dashes tell apart as well.

Contents
    Figures of a chapter    figure, LectureFigure, REGISTRY, pictures, draw_all, run_script
    Films of a chapter      film, Film, Take, FILMS, frames, counted, number_samples
    The style               use_style, INK, BLUE, ORANGE, GREEN, PURPLE, GREY, SHADE, COLORS,
                            MARKERS, tint
    What chapters draw      set_view, draw_samples, draw_line, draw_strip, draw_regions,
                            draw_contours, draw_ellipse, draw_image, draw_matrix

Symbols
    ax       the axes of matplotlib to draw on
    style    keyword arguments for matplotlib, such as color and lw
    X, y     samples (n, 2) and their classes (n,)
    f        a function of points (m, 2)
    w, b     normal (2,) and offset of a line
"""

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import islice
from operator import eq
from pathlib import Path
from typing import NamedTuple

import numpy as np

INK, GREY, SHADE = "#1a1a1a", "#9a9a9a", "#ececec"
BLUE, ORANGE, GREEN, PURPLE = "#1f5a99", "#d97a1f", "#2f8258", "#7b3f8f"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
MARKERS = ("o", "s", "^", "D", "v")
PANEL = (3.2, 2.9)  # inches; two panels fill the width of a textbook page
PRINT_DPI = 300  # dots per inch of a PNG file, as printers ask for
GRID = 200  # a function of the plane is evaluated at so many points along each side
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
    "pdf.fonttype": 42,  # TrueType, which publishers accept
}
UNDATED = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


# --- Figures of a chapter --------------------------------------------------------------


class LectureFigure(NamedTuple):
    """A figure of a chapter."""

    chapter: str
    name: str
    claims: tuple
    panels: tuple  # rows, columns
    size: tuple  # of one panel, in inches
    draw: Callable  # takes axes for each panel, row by row; its docstring is the caption


REGISTRY = []


def figure(name, *, claims, panels=1, size=PANEL):
    """Register the decorated function as the lecture figure `name`, which draws the `claims`.

    `panels` is their number in one row, or (rows, columns); `size` is that of one, in inches.
    """
    grid = panels if isinstance(panels, tuple) else (1, panels)

    def register(draw):
        chapter = Path(draw.__code__.co_filename).stem
        REGISTRY.append(LectureFigure(chapter, name, tuple(claims), grid, size, draw))
        return draw

    return register


def pictures(chapter, formats=("svg",)):
    """The registered figures of a chapter as files; for the format "gif", its films.

    Yields: the name and the bytes of each file.
    """
    for kind in formats:
        if kind not in (*UNDATED, "gif"):
            raise ValueError(f"a format must be one of {', '.join(UNDATED)}, gif; got {kind!r}")
    for kind in formats:
        for each in FILMS if kind == "gif" else REGISTRY:
            if each.chapter == chapter:
                yield f"{each.name}.{kind}", _gif(each) if kind == "gif" else _file(each, kind)


def _file(lecture_figure, kind):
    """The figure as a file of this `kind`, drawn for it: the layout depends on the resolution."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    (rows, columns), (width, height) = lecture_figure.panels, lecture_figure.size
    with mpl.rc_context():
        use_style()
        fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
        lecture_figure.draw(*fig.subplots(rows, columns, squeeze=False).flat)
        file = BytesIO()
        dpi = PRINT_DPI if kind == "png" else STYLE["savefig.dpi"]  # of the images in the others
        fig.savefig(file, format=kind, dpi=dpi, metadata=UNDATED[kind])
    return file.getvalue()


def draw_all(folder, formats=("svg",), same=eq):
    """Draw the figures of the chapter that the folder is named after, into the folder.

    A script that fails leaves every picture as it was. A file with the `same` bytes stays as it is;
    `same(new, old)` may be another comparison. Pictures that no figure draws any more are deleted.

    Returns: the names of the files.
    """
    folder = Path(folder)
    drawn = dict(pictures(folder.name, formats))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in drawn.items():
        path, part = folder / name, folder / f".{name}.part"
        if not path.exists() or not same(content, path.read_bytes()):
            part.write_bytes(content)
            part.replace(path)
    for kind in formats:
        for path in folder.glob(f"*.{kind}"):
            if path.name not in drawn:
                path.unlink()
    return list(drawn)


def run_script(script):
    """Draw the figures of a chapter's script, in the formats of the command line."""
    try:
        draw_all(Path(script).resolve().with_suffix(""), sys.argv[1:] or ("svg",))
    except ValueError as error:
        sys.exit(f"{Path(script).name}: {error}")


# --- Films of a chapter ----------------------------------------------------------------


class Film(NamedTuple):
    """A film of an algorithm: its states are drawn one after the other."""

    chapter: str
    name: str
    algorithm: Callable  # the function of the package whose states are shown
    measure: str  # what the curve below the picture shows; empty for no curve
    settings: dict  # name: the values to choose from
    size: tuple  # of the picture, in inches
    make: Callable  # takes a value of each setting, returns a `Take`; its docstring is the caption
    after: Callable  # the film follows the cell that shows this function, or first calls it


class Take(NamedTuple):
    """One run of the algorithm, with one choice of the settings."""

    states: Iterable
    draw: Callable  # draw(ax, state) draws a state, with the limits of the axes
    words: Callable  # words(state) says in a sentence what has happened
    value: Callable = lambda state: state.objective  # the point of the curve for a state
    length: int = 60  # states; a run that goes on is cut here
    number: Callable | None = None  # number(state) counts the steps; None: each state is one


FILMS = []
FRAME = 0.7  # seconds for a state in a GIF


def film(name, algorithm, *, after=None, measure="", size=PANEL, **settings):
    """Register the decorated function as the film `name` of the `algorithm`.

    `after`, the algorithm itself if it is not given, `measure`, `size` and `settings` are those of
    the `Film`; it starts with the first values of the settings.
    """

    def register(make):
        chapter = Path(make.__code__.co_filename).stem
        one = Film(chapter, name, algorithm, measure, settings, size, make, after or algorithm)
        FILMS.append(one)
        return make

    return register


def frames(one_film, values):
    """The states of `one_film` for these `values` of its settings, each drawn on the same axes.

    Yields: (ax, state, take, line). The axes hold the picture until the next one is asked for.
    `line` is the source line that yielded the state; None unless the algorithm itself was called.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    take = one_film.make(**values)
    runs = getattr(take.states, "gi_code", None) is getattr(one_film.algorithm, "__code__", 0)
    with mpl.rc_context():
        use_style()
        mpl.rcParams["font.family"] = [STYLE["font.family"], "DejaVu Sans"]  # which has x₁
        ax = Figure(figsize=one_film.size, dpi=72).add_axes((0.16, 0.17, 0.81, 0.76))
        bare = ax.get_children()
        for state in islice(take.states, take.length):
            _wipe(ax, bare)
            take.draw(ax, state)
            yield ax, state, take, take.states.gi_frame.f_lineno if runs else None


def counted(n, noun, plural=""):
    """A number n with its noun in words; the `plural` is the noun with an s if it is not given.

    >>> counted(1, "leaf", "leaves"), counted(2, "tree")
    ('1 leaf', '2 trees')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def number_samples(ax, X, which):
    """Write their numbers beside the samples `which` of X (n, 2)."""
    from matplotlib.transforms import offset_copy

    beside = offset_copy(ax.transData, ax.figure, x=7, y=5, units="points")
    for i in which:
        ax.text(*X[i], str(i), transform=beside, fontsize=9, color=INK, zorder=7)


def _wipe(ax, bare):
    """Take away what is drawn on the axes, whose own children are `bare`; limits and titles stay.

    `ax.clear()` would also make all ticks anew, which takes longer than most pictures.
    """
    for artist in ax.get_children():
        if artist not in bare:
            artist.remove()
    ax.set_prop_cycle(None)
    ax.relim()


def _gif(one_film):
    """The film as the bytes of a GIF, for the first value of each setting."""
    from PIL import Image

    first, pages = {name: values[0] for name, values in one_film.settings.items()}, []
    for ax, *_ in frames(one_film, first):
        file = BytesIO()
        ax.figure.savefig(file, format="png", dpi=STYLE["savefig.dpi"])
        pages.append(Image.open(file).convert("P"))
    file = BytesIO()
    pages[0].save(file, "GIF", save_all=True, append_images=pages[1:], duration=1000 * FRAME)
    return file.getvalue()


# --- The style -------------------------------------------------------------------------


def use_style():
    """Make matplotlib draw in the style of the book, whatever the settings of the user are."""
    import matplotlib as mpl

    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


def tint(color, share=0.25):
    """The `color` mixed with white: (r, g, b) in [0, 1], with this `share` of the color.

    >>> [round(float(c), 2) for c in tint("#000000", 0.25)]
    [0.75, 0.75, 0.75]
    """
    from matplotlib.colors import to_rgb

    return tuple(1 - share * (1 - np.array(to_rgb(color))))


# --- What chapters draw ----------------------------------------------------------------


def set_view(ax, X, margin=0.08, equal=True):
    """Show all samples X, with a `margin` around them that is a share of their range.

    With `equal`, a unit has the same length on both axes.
    """
    low, high = np.min(X, axis=0), np.max(X, axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = low - room, high + room
    ax.set(xlim=(left, right), ylim=(bottom, top))
    if equal:
        ax.set_aspect("equal")


def draw_samples(ax, X, y=None, *, size=5, names=None):
    """Draw the samples X (n, 2), with a marker and a colour for each class; grey dots without y.

    If the labels are -1 and +1, the positive class comes first. `names` are those of the classes in
    the legend, in their order; `size` is that of a marker in points.
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
    """Draw the line w^T x + b = 0."""
    nearest = -b * w / (w @ w)
    return ax.axline(nearest, nearest + np.array([-w[1], w[0]]), **style)


def draw_strip(ax, w, b=0.0, *, gamma):
    """Shade the points of the view within the distance `gamma` of the line w^T x + b = 0."""
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
    """The values of f, a function of points (m, 2), on a grid over the view."""
    x, y = np.linspace(*ax.get_xlim(), GRID), np.linspace(*ax.get_ylim(), GRID)
    points = np.stack(np.meshgrid(x, y), axis=-1)
    return x, y, np.asarray(f(points.reshape(-1, 2))).reshape(GRID, GRID)


def draw_regions(ax, predict, classes):
    """Tint the view by the class that `predict` gives to points (m, 2), with lines in between.

    `classes` must be in the order of `draw_samples`: a region has the colour of its samples.
    """
    x, y, Z = _over_view(ax, predict)
    for k, c in enumerate(classes):
        inside = (Z == c).astype(float)
        if inside.any():
            color = tint(COLORS[k % len(COLORS)])
            ax.contourf(x, y, inside, levels=[0.5, 1.5], colors=[color], zorder=0)
        if inside.any() and not inside.all() and k < len(classes) - 1:  # each line at least once
            ax.contour(x, y, inside, levels=[0.5], colors=[INK], linewidths=0.6, zorder=1)


def draw_contours(ax, f, levels=8, **style):
    """Draw the contour lines of f over the view. `levels` are the levels, or their number."""
    style = {"colors": [GREY], "linewidths": 0.8, "zorder": 1} | style
    return ax.contour(*_over_view(ax, f), levels=levels, **style)


def draw_ellipse(ax, mean, covariance, radius=2.0, **style):
    """Draw the points x with (x - mean)^T covariance^{-1} (x - mean) = radius^2."""
    lengths, axes = np.linalg.eigh(covariance)
    turn = np.linspace(0, 2 * np.pi, 201)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    rim = mean + radius * circle * np.sqrt(np.maximum(lengths, 0)) @ axes.T
    return ax.plot(*rim.T, **({"color": INK, "lw": 1.2} | style))


def draw_image(ax, pixels, **style):
    """Draw an image of `pixels`, (height, width) or (height, width, 3) in colour, without axes."""
    ax.set_axis_off()
    return ax.imshow(pixels, **({"cmap": "gray", "interpolation": "nearest"} | style))


def draw_matrix(ax, M, text=None, **style):
    """Draw a matrix M as a heat map, dark where it is large, with the `text` of each entry."""
    shown = ax.imshow(M, **({"cmap": "Greys", "interpolation": "nearest"} | style))
    ax.tick_params(length=0)
    for (i, j), entry in np.ndenumerate(np.asarray(text)) if text is not None else ():
        light = shown.norm(M[i][j]) < 0.5
        ax.text(j, i, entry, ha="center", va="center", color=INK if light else "white")
    return shown
