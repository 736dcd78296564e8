"""Draw the pictures of a chapter, as make does: python figures/draw.py CHAPTER FORMAT

A picture that already shows the same stays as it is, so that another processor, which rounds in
another way, changes no file. ``.stamps/CHAPTER.FORMAT.list`` names, for make, what the pictures
depend on: the modules that were imported to draw them.
"""

import re
import sys
from base64 import b64decode
from importlib import import_module
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from mlnotes import plotting

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.05  # a line may move by so many points of the page: less than a printer resolves
SHADES = 0.01  # numbers of a style may differ by this; so may red, green and blue from 0 to 1
GREY_LEVELS = 2.0  # two images may differ by this root mean square, out of 255
LONGEST = 2000  # lines are compared at every point of the page, but at no more places than this
PNG = b"\x89PNG"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LOOK = re.compile(rf"#[0-9a-f]{{6}}\b|{NUMBER.pattern}")


# --- Two pictures compared -------------------------------------------------------------


def difference(new, old):
    """What is different between the pictures `new` and `old`, as bytes; None if nothing is.

    Two SVG files show the same if they have the same elements in the same order, with the same
    attributes up to rounding. Rounding also changes the number of points in a contour line: each
    line of one must be within TOLERANCE of lines of the other.
    """
    if new == old:
        return None
    try:
        if new.startswith(PNG) and old.startswith(PNG):
            return None if _same_pixels(new, old) else "another image"
        ours, theirs = _elements(new), _elements(old)
    except (ElementTree.ParseError, ValueError) as error:
        return f"not a picture of ours: {error}"
    if [(*each[:2], *each[2]) for each in ours] != [(*each[:2], *each[2]) for each in theirs]:
        return "other elements"
    for (tag, _, a), (_, _, b) in zip(ours, theirs, strict=True):
        for name in a:
            if a[name] != b[name] and not _same(name, a[name], b[name]):
                return f"another {name} of a {tag}"
    return None


def _elements(svg):
    """The (tag, text, attributes) of an SVG file. Names are numbers: they depend on the content.

    Lines of one style that follow one another are one path: it does not matter which comes first.
    """
    root, found = ElementTree.fromstring(svg), []
    named = [each for each in root.iter() if "id" in each.keys() and not each.tag.endswith("}g")]
    numbers = {f"#{each.get('id')}": f"#{k}." for k, each in enumerate(named)}
    for each in root.iter():
        tag, text = each.tag.rpartition("}")[2], (each.text or "").strip()
        looks = {name.rpartition("}")[2]: value for name, value in each.items() if name != "id"}
        for name, value in looks.items():
            looks[name] = re.sub(r"#[\w.-]+", lambda m: numbers.get(m[0], m[0]), value)
        line = tag == "path" and "id" not in each.keys()
        if line and found and found[-1][1:] == (True, tag, text, looks | {"d": ""}):
            found[-1][0].append(looks.get("d", ""))
        elif tag != "g" or looks:
            found.append(([looks.get("d", "")], line, tag, text, looks | {"d": ""}))
    return [(tag, text, looks | {"d": " ".join(d)}) for d, _, tag, text, looks in found]


def _same(name, a, b):
    """Whether the texts a and b mean the same as the attribute `name`."""
    if name == "d":
        return _lie_on(_segments(a), _segments(b)) and _lie_on(_segments(b), _segments(a))
    if name == "href" and a.startswith("data:image/png;base64,"):
        return _same_pixels(*(b64decode(text.partition(",")[2]) for text in (a, b)))
    (ours, x), (theirs, y) = _look(a), _look(b)
    near = SHADES if name == "style" else np.clip(0.01 * np.abs(x), 1e-4, TOLERANCE)
    return ours == theirs and bool(np.all(np.abs(x - y) <= near))


def _look(text):
    """A text without its numbers and colours, and these: of a colour its red, green and blue."""
    found = LOOK.findall(text)
    each = [to_rgb(value) if value.startswith("#") else (float(value),) for value in found]
    return LOOK.sub("#", text), np.array([number for numbers in each for number in numbers])


def _same_pixels(a, b):
    """Whether two PNG files have the same size and nearly the same pixels."""
    a, b = (255.0 * imread(BytesIO(png)) for png in (a, b))
    return a.shape == b.shape and bool(np.sqrt(np.mean((a - b) ** 2)) <= GREY_LEVELS)


def _segments(d):
    """The lines (m, 2, 2) of an SVG path. A curve counts as the lines between its controls."""
    lines = []
    for command, arguments in re.findall(r"([MLCQz])([^MLCQz]*)", d):
        points = np.reshape([float(number) for number in NUMBER.findall(arguments)], (-1, 2))
        if command == "M":
            start = last = points[0]
            lines.append((start, start))
        for point in (start,) if command == "z" else points:
            lines.append((last, point))
            last = point
    return np.reshape(lines, (-1, 2, 2))


def _lie_on(A, B):
    """Whether every point of the segments A (m, 2, 2) is within TOLERANCE of the segments B."""
    if A.shape == B.shape and np.allclose(A, B, rtol=0, atol=TOLERANCE):
        return True
    start, along = B[:, 0], B[:, 1] - B[:, 0]
    squares = np.maximum((along**2).sum(axis=1), np.finfo(float).tiny)
    for a, b in A:
        length = min(np.linalg.norm(b - a), LONGEST)
        points = a + np.linspace(0, 1, int(length) + 2)[:, None, None] * (b - a)
        share = np.clip(((points - start) * along).sum(axis=2) / squares, 0, 1)
        gaps = ((points - start - share[..., None] * along) ** 2).sum(axis=2)
        if not (gaps.min(axis=1, initial=np.inf) <= TOLERANCE**2).all():
            return False
    return True


# --- The pictures of a chapter ---------------------------------------------------------


def imported():
    """The files of the project that have been imported, below its folder."""
    files = {getattr(module, "__file__", None) for module in sys.modules.values()} - {None}
    paths = {Path(file).resolve() for file in files}
    ours = (ROOT / "figures", ROOT / "mlnotes")
    return sorted(path.relative_to(ROOT).as_posix() for path in paths if path.parent in ours)


def draw(chapter, kind):
    """Draw the pictures of a chapter, and write the list of what they depend on."""
    import_module(chapter)  # the script, beside this file
    same = lambda new, old: difference(new, old) is None  # noqa: E731
    names = plotting.draw_all(ROOT / "figures" / chapter, [kind], same)
    files = [*(f"figures/{chapter}/{name}" for name in names), *imported()]
    stamp = f".stamps/{chapter}.{kind}"
    rules = [f"{stamp}: {file}" for file in files] + [f"{file}:" for file in files]
    (ROOT / ".stamps").mkdir(exist_ok=True)
    (ROOT / f"{stamp}.list").write_text("\n".join(rules) + "\n", encoding="utf-8")


if __name__ == "__main__":
    draw(*sys.argv[1:])
