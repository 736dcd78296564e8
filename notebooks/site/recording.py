"""Films recorded: the states of an algorithm as marks that a page can draw.

A mark is a list of a kind and numbers: ``["path", d, stroke, width, dashes, fill, opacity]``,
``["points", marker, size, fill, edge, width, places]``, ``["text", x, y, words, size, anchor,
color, turn]``, ``["image", x, y, width, height, address]``. Coordinates are tenths of a point, from
the upper left corner. A mark that several frames share is stored once, and so is a place that
several points share.
"""

import ast
import base64
import inspect
import json
from io import BytesIO
from itertools import product

import numpy as np
from matplotlib.axis import Axis
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.image import AxesImage, imsave
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.spines import Spine
from matplotlib.text import Text

from mlnotes.plotting import INK, frames
from mlnotes.reading import source

TENTHS = 10  # units of a point
FAR = 20_000  # a line is cut off at such a distance
DASHES = {"-": "", "--": "40 20", ":": "10 18", "-.": "50 20 10 20"}
MARKERS = "o.sDd^vx+PX*|_<>"  # those that film.js has
SMALL, LABEL = 80, 100  # sizes of the letters
AT_REST = "Nothing moves any more."  # what the words of the last picture end with
GOES_ON = "The film stops here, and the algorithm goes on."
ENDED = "The algorithm has ended."


def choices(film):
    """The values of each setting, numbers by their size."""
    return {
        name: list(values) if any(isinstance(each, str) for each in values) else sorted(values)
        for name, values in film.settings.items()
    }


def record(film):
    """The recording of a film: what its player on the page needs, as a dictionary."""
    marks, places, runs, ends = {}, {}, [], []
    first = inspect.getsourcelines(film.algorithm)[1]
    kept = kept_lines(film.algorithm)
    for values in product(*choices(film).values()):
        run = []
        chosen = dict(zip(film.settings, values, strict=True))
        for ax, state, take, line in frames(film, chosen):
            for mark in (drawn := scene(ax)):
                if mark[0] == "points":
                    mark[-1] = [places.setdefault(place, len(places)) for place in mark[-1]]
            drawn = [marks.setdefault(json.dumps(mark), len(marks)) for mark in drawn]
            value = float(f"{take.value(state):.6g}") if film.measure else None
            where = kept.index(line - first) if line else None
            number = take.number(state) if take.number else len(run)
            run.append([drawn, value, take.words(state), where, number])
        cut = len(run) == take.length and next(iter(take.states), None) is not None
        steps = take.number or run[-1][3] is not None  # and not choices of a parameter
        still = next(k for k, state in enumerate(run) if all(s[0] == state[0] for s in run[k:]))
        at_rest = bool(steps) and still + 1 < len(run)
        runs.append(run[: still + 1] if at_rest else run)
        end = GOES_ON if cut or take.number else ENDED if steps else ""
        ends.append(AT_REST if at_rest else end)
    return {
        "settings": [[name, list(map(str, values))] for name, values in choices(film).items()],
        "measure": film.measure,
        "view": [round(TENTHS * 72 * side) for side in film.size],
        "places": list(places),
        "marks": [json.loads(mark) for mark in marks],
        "runs": runs,
        "ends": ends,
    }


def kept_lines(function):
    """The lines of the function that `source` keeps, counted from 0 at its first line."""
    lines, shown = inspect.getsource(function).splitlines(), source(function).splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    (node,) = ast.parse("\n".join(line[indent:] for line in lines)).body
    skipped = len(lines) - len(shown)
    start = node.body[0].lineno - 1 if skipped else 0
    return [i for i in range(len(lines)) if not start <= i < start + skipped]


def scene(ax):
    """The marks of what is drawn on the axes, from the back to the front."""
    ax.apply_aspect()
    children = [
        child for child in ax.get_children() if child.get_visible() and child is not ax.patch
    ]
    found = [["frame", *_corners(ax)]] if ax.axison else []
    for child in sorted(children, key=lambda each: each.get_zorder()):
        found += _marks(child)
    return found + (_ticks(ax) if ax.axison else [])


def _corners(ax):
    """The corners of the axes: left, top, right and bottom."""
    (left, bottom), (right, top) = ax.get_window_extent().get_points()
    return [*_page(ax, left, top), *_page(ax, right, bottom)]


def _page(artist, x, y):
    return _places(artist, [(x, y)])[0].tolist()


def _places(artist, points):
    """The places on the page of an (n, 2) array of points."""
    height = artist.get_figure().bbox.height
    down = TENTHS * (np.array([0, height]) + np.array([1, -1]) * np.asarray(points))
    return np.clip(down, -FAR, FAR).round().astype(int)


def _marks(artist):
    if isinstance(artist, Line2D):
        return [*_line(artist), *_markers(artist)]
    if isinstance(artist, PathCollection):
        return _dots(artist)
    if isinstance(artist, Collection):
        return _shapes(artist)
    if isinstance(artist, Patch) and not isinstance(artist, Spine):
        edge = artist.get_edgecolor()
        path = artist.get_transform().transform_path(artist.get_path())
        width = artist.get_linewidth()
        return _path(artist, path, edge, width, "", artist.get_facecolor(), artist.get_alpha())
    if isinstance(artist, AxesImage):
        return _image(artist)
    if isinstance(artist, Text) and artist.get_text():
        return _text(artist)
    if isinstance(artist, (Spine, Axis, Text)):  # the frame is a mark of its own
        return []
    raise TypeError(f"a film cannot draw {artist!r}")


def _color(color):
    """The colour as text; "" if it is transparent."""
    if isinstance(color, str) and color == "none" or len(color) == 4 and color[3] == 0:
        return ""
    return to_hex(color)


def _path(artist, path, stroke, width, dashes, fill, opacity=None):
    """One path mark; none if it has no points."""
    d, last = [], (0, 0)
    clean = path.cleaned(simplify=not _color(fill), curves=False)
    seen = np.isfinite(clean.vertices).all(axis=1)
    places = _places(artist, np.where(seen[:, None], clean.vertices, 0)).tolist()
    lifted = True  # a piece begins at the start, and after a point that is not finite
    for (x, y), code, finite in zip(places, clean.codes, seen, strict=True):
        if code == Path.CLOSEPOLY:
            d.append("z")
        elif code in (Path.MOVETO, Path.LINETO):
            if finite and (lifted or code == Path.MOVETO):
                d.append(f"M{x} {y}")
            elif finite and (x, y) != last:
                d.append(f"l{x - last[0]} {y - last[1]}")
            lifted, last = not finite, (x, y)
    stroke = _color(stroke) if width else ""
    width = round(TENTHS * width)
    opacity = 1 if opacity is None else round(float(opacity), 2)
    return [["path", "".join(d), stroke, width, dashes, _color(fill), opacity]] if d else []


def _line(line):
    style = line.get_linestyle()
    if style in ("None", "none", "", " ") or not line.get_linewidth():
        return []
    path = line.get_transform().transform_path(line.get_path())
    width, dashes = line.get_linewidth(), DASHES[style]
    return _path(line, path, line.get_color(), width, dashes, "none", line.get_alpha())


def _markers(line):
    marker = str(line.get_marker())
    if marker in ("None", "none", "", " ") or not len(line.get_xdata()):
        return []
    if marker not in MARKERS:
        raise TypeError(f"a film cannot draw the marker {marker!r}")
    points = line.get_transform().transform(line.get_xydata())
    return _points(
        line, marker, line.get_markersize(), line.get_markerfacecolor(),
        line.get_markeredgecolor(), line.get_markeredgewidth(), points,
    )  # fmt: skip


def _points(artist, marker, size, fill, edge, width, points):
    places = [tuple(place) for place in _places(artist, points).tolist()]
    fill, edge = _color(fill), _color(edge)
    return [["points", marker, round(TENTHS * size), fill, edge, round(TENTHS * width), places]]


def _dots(dots):
    """The points of a scatter plot as circles, each with its own colour and size."""
    points = dots.get_offset_transform().transform(dots.get_offsets())
    fills, edges, sizes = dots.get_facecolors(), dots.get_edgecolors(), dots.get_sizes()
    found = []
    for i, point in enumerate(points):
        fill = fills[i % len(fills)] if len(fills) else "none"
        edge = edges[i % len(edges)] if len(edges) else "none"
        width = dots.get_linewidth()[0]
        found += _points(dots, "o", sizes[i % len(sizes)] ** 0.5, fill, edge, width, [point])
    return found


def _shapes(shapes):
    """The lines or areas of a collection, such as contours."""
    fills, edges = shapes.get_facecolor(), shapes.get_edgecolor()
    widths, styles, found = shapes.get_linewidth(), shapes.get_linestyle(), []
    for i, path in enumerate(shapes.get_paths()):
        found += _path(
            shapes,
            shapes.get_transform().transform_path(path),
            edges[i % len(edges)] if len(edges) else "none",
            widths[i % len(widths)],
            " ".join(str(round(TENTHS * dash)) for dash in styles[i % len(styles)][1] or ()),
            fills[i % len(fills)] if len(fills) else "none",
            shapes.get_alpha(),
        )
    return found


def _image(image):
    """An image with one pixel for each entry."""
    file = BytesIO()
    colors = image.to_rgba(image.get_array(), bytes=True, norm=True)
    imsave(file, colors, format="png", origin=image.origin, metadata={"Software": None})
    left, right, low, high = image.get_extent()
    ends = image.axes.transData.transform([(left, high), (right, low)])
    (x1, y1), (x2, y2) = (_page(image, *end) for end in ends)
    address = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    return [["image", min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1), address]]


def _text(text):
    x, y = _page(text, *text.get_transform().transform(text.get_position()))
    size, color = round(TENTHS * text.get_fontsize()), _color(text.get_color())
    anchor = {"left": "start", "center": "middle", "right": "end"}[text.get_horizontalalignment()]
    y += {"top": size * 3 // 4, "center": size // 3}.get(text.get_verticalalignment(), 0)
    return [["text", x, y, text.get_text(), size, anchor, color, -round(text.get_rotation())]]


def _ticks(ax):
    """The ticks with their numbers, and the names of the axes."""
    left, top, right, bottom = _corners(ax)
    found = []
    for axis, low, high in ((ax.xaxis, *ax.get_xlim()), (ax.yaxis, *ax.get_ylim())):
        places = axis.get_majorticklocs()
        for place, words in zip(
            places, axis.get_major_formatter().format_ticks(places), strict=True
        ):
            if min(low, high) - 1e-9 <= place <= max(low, high) + 1e-9:
                x, y = _page(ax, *ax.transData.transform((place, place)))
                words = words.replace("$\\mathdefault{", "").replace("}$", "")
                if axis is ax.xaxis:
                    found.append(["path", f"M{x} {bottom}l0 30", INK, 7, "", "", 1])
                    found.append(["text", x, bottom + 125, words, SMALL, "middle", INK, 0])
                else:
                    found.append(["path", f"M{left} {y}l-30 0", INK, 7, "", "", 1])
                    found.append(["text", left - 45, y + 28, words, SMALL, "end", INK, 0])
    middle = (left + right) // 2, (top + bottom) // 2
    names = [
        ["text", middle[0], bottom + 250, ax.get_xlabel(), LABEL, "middle", INK, 0],
        ["text", 110, middle[1], ax.get_ylabel(), LABEL, "middle", INK, -90],
    ]
    return found + [name for name in names if name[3]]
