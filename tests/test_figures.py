"""The lecture figures: those committed are what the scripts draw now."""

import base64
import importlib
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import mlnotes
from mlnotes import plotting

FOLDER = Path(__file__).resolve().parent.parent / "figures"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
HASHED = re.compile(r'(?<=["#(])(\w*?)[0-9a-f]{10,12}(?=[")])')  # ids that depend on the content
IMAGE = re.compile(r"data:image/png;base64,([^\"]+)")
POINT = 0.05  # how far a coordinate may move, in points: far less than a printer resolves
GREY_LEVELS = 2.0  # how much an embedded image may differ, root mean square of 255


# ---------------------------------------------------------------------------------------
# Two pictures compared
# ---------------------------------------------------------------------------------------


def difference(ours, theirs):
    """What tells two SVG files apart beyond rounding, in a word; None if nothing does.

    The last bits of a computation depend on the processor, and with them the last digits of
    coordinates and the ids that matplotlib derives from them.
    """
    (text, numbers, images), (text_2, numbers_2, images_2) = parts(ours), parts(theirs)
    if text != text_2 or len(numbers) != len(numbers_2):
        return "other elements"
    if not np.allclose(numbers, numbers_2, rtol=0, atol=POINT):
        return "other coordinates"
    for a, b in zip(images, images_2, strict=True):
        if a.shape != b.shape or np.sqrt(np.mean((a - b) ** 2)) > GREY_LEVELS:
            return "another image"
    return None


def parts(svg):
    """Its text without numbers, its numbers and its embedded images."""
    from PIL import Image

    text = svg.decode("utf-8")
    images = [
        np.asarray(Image.open(BytesIO(base64.b64decode(code))).convert("RGBA"), dtype=float)
        for code in IMAGE.findall(text)
    ]
    seen = {}
    text = HASHED.sub(lambda m: f"{m[1]}{seen.setdefault(m[0], len(seen))}", IMAGE.sub("", text))
    return NUMBER.sub("#", text), [float(n) for n in NUMBER.findall(text)], images


def drawn(draw):
    """An SVG of what `draw` puts on bare axes."""
    with mpl.rc_context():
        plotting.use_style()
        fig, file = Figure(figsize=(2, 2)), BytesIO()
        draw(fig.subplots())
        fig.savefig(file, format="svg", metadata=plotting.UNDATED["svg"])
    return file.getvalue()


def test_rounding_is_no_difference_and_anything_more_is():
    rng = np.random.default_rng(0)
    x, pixels = rng.normal(size=50), rng.random((8, 8))
    line = drawn(lambda ax: ax.plot(x))
    assert difference(line, drawn(lambda ax: ax.plot(x + 1e-9 * rng.normal(size=50)))) is None
    assert difference(line, drawn(lambda ax: ax.plot(x + 1e-2))) is not None
    assert difference(line, drawn(lambda ax: ax.plot(x, "--"))) is not None
    assert difference(line, drawn(lambda ax: ax.plot(x[1:]))) is not None
    image = drawn(lambda ax: ax.imshow(pixels))
    assert difference(image, drawn(lambda ax: ax.imshow(pixels))) is None
    assert difference(image, drawn(lambda ax: ax.imshow(pixels.T))) == "another image"


# ---------------------------------------------------------------------------------------
# The pictures of the book
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", SCRIPTS)
def test_committed_pictures_are_those_that_the_script_draws_now(chapter):
    importlib.import_module(f"figures.{chapter}")
    now = dict(plotting.pictures(chapter))
    committed = {path.name: path.read_bytes() for path in (FOLDER / chapter).glob("*.svg")}
    assert committed.keys() == now.keys(), "run `make figures`"
    for name, picture in now.items():
        assert difference(picture, committed[name]) is None, f"{name}: run `make figures`"


@pytest.mark.parametrize("chapter", SCRIPTS)
def test_figures_have_captions_and_belong_to_their_chapter(chapter):
    importlib.import_module(f"figures.{chapter}")
    own = [each for each in plotting.REGISTRY if each.chapter == chapter]
    assert own and chapter in mlnotes.CHAPTERS
    assert len({each.name for each in own}) == len(own)
    for each in own:
        assert len(each.draw.__doc__ or "") > 40, f"{each.name} has no caption"


def test_every_folder_of_pictures_has_its_script():
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= set(SCRIPTS)


# ---------------------------------------------------------------------------------------
# The scripts
# ---------------------------------------------------------------------------------------

SCRIPT = """
from mlnotes.plotting import figure, run_script

@figure("line", claims=())
def line(ax):
    '''A line.'''
    ax.plot([0, 1])

@figure("pair", claims=(), panels=(2, 1))
def pair(top, bottom):
    '''A pair of lines.'''
    top.plot([0, 1])
    bottom.plot([1, {last}])

if __name__ == "__main__":
    run_script(__file__)
"""


def run(tmp_path, *formats, last="0"):
    script = tmp_path / "lines.py"
    script.write_text(SCRIPT.format(last=last))
    command = [sys.executable, str(script), *formats]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_same_input_same_bytes_in_every_format(tmp_path):
    assert run(tmp_path, "svg", "png", "pdf").returncode == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "lines").iterdir()}
    assert len(first) == 6
    assert run(tmp_path, "svg", "png", "pdf").returncode == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "lines").iterdir()} == first


def test_a_script_that_fails_leaves_every_picture_as_it_was(tmp_path):
    run(tmp_path)
    first = {path.name: path.read_bytes() for path in (tmp_path / "lines").iterdir()}
    failed = run(tmp_path, last="1 / 0")
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "lines").iterdir()} == first


def test_pictures_that_nothing_draws_any_more_go_and_other_formats_stay(tmp_path):
    run(tmp_path, "pdf")
    (tmp_path / "lines" / "old.svg").write_text("<svg/>")
    run(tmp_path)
    names = {path.name for path in (tmp_path / "lines").iterdir()}
    assert names == {"line.svg", "pair.svg", "line.pdf", "pair.pdf"}


def test_an_unknown_format_is_refused_by_name(tmp_path):
    failed = run(tmp_path, "gif")
    assert failed.returncode == 1
    assert failed.stderr.strip() == "lines.py: a format must be one of svg, png, pdf; got 'gif'"


# ---------------------------------------------------------------------------------------
# The drawing helpers
# ---------------------------------------------------------------------------------------


@pytest.fixture
def ax():
    return Figure().subplots()


def test_samples_are_drawn_in_the_marker_of_their_class(ax, rng):
    X, y = rng.normal(size=(30, 2)), rng.choice(["a", "b", "c"], size=30)
    lines = plotting.draw_samples(ax, X, y)
    assert [line.get_label() for line in lines] == ["a", "b", "c"]
    for line, c in zip(lines, "abc", strict=True):
        np.testing.assert_array_equal(line.get_xydata(), X[y == c])
    assert len({(line.get_marker(), line.get_color()) for line in lines}) >= 3
    positive, negative = plotting.draw_samples(ax, X, np.where(y == "a", 1, -1))
    np.testing.assert_array_equal(positive.get_xydata(), X[y == "a"])
    assert negative.get_label() == "$y = -1$"
    (dots,) = plotting.draw_samples(ax, X)
    assert len(dots.get_xydata()) == 30


def test_every_point_of_a_line_is_on_it(ax):
    w, b = np.array([3.0, -4.0]), 2.0
    line = plotting.draw_line(ax, w, b)
    for point in (line.get_xy1(), line.get_xy2()):
        assert w @ np.array(point) + b == pytest.approx(0, abs=1e-12)


def test_regions_are_tinted_as_their_samples_are_coloured(ax):
    ax.set(xlim=(-1, 1), ylim=(-2, 2))
    plotting.draw_regions(ax, lambda points: np.where(points[:, 0] > 0.3, "b", "a"), ["a", "b"])
    fills = [c for c in ax.collections if c.get_facecolor().size]
    colors = [tuple(c.get_facecolor()[0][:3]) for c in fills]
    assert colors == [pytest.approx(plotting.tint(c)) for c in plotting.COLORS[:2]]
    left, right = (c.get_paths()[0].get_extents() for c in fills)
    assert left.x0 == -1 and right.x1 == 1
    assert left.x1 == pytest.approx(0.3, abs=0.01) and right.x0 == pytest.approx(0.3, abs=0.01)


def test_ellipse_is_the_contour_of_the_normal(ax, rng):
    A = rng.normal(size=(2, 2))
    mean, Sigma = rng.normal(size=2), A @ A.T
    (rim,) = plotting.draw_ellipse(ax, mean, Sigma, radius=1.5)
    D = rim.get_xydata() - mean
    np.testing.assert_allclose(np.sum(D @ np.linalg.inv(Sigma) * D, axis=1), 1.5**2, rtol=1e-9)
    (flat,) = plotting.draw_ellipse(ax, mean, np.diag([1.0, 0.0]))
    assert np.isfinite(flat.get_xydata()).all()


def test_contours_are_where_the_function_has_their_level(ax):
    ax.set(xlim=(-2, 2), ylim=(-2, 2))
    contours = plotting.draw_contours(ax, lambda X: np.sum(X**2, axis=1), levels=[1.0])
    (path,) = contours.get_paths()
    np.testing.assert_allclose(np.linalg.norm(path.vertices, axis=1), 1, atol=1e-3)


def test_matrix_entries_are_written_where_they_belong_and_stay_readable(ax):
    M = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 8.0]])
    plotting.draw_matrix(ax, M, M.astype(int).astype(str))
    for text in ax.texts:
        j, i = text.get_position()
        assert float(text.get_text()) == M[i, j]
    colors = {text.get_text(): text.get_color() for text in ax.texts}
    assert colors["0"] == plotting.INK and colors["8"] == "white"


def test_image_has_no_axes(ax, rng):
    shown = plotting.draw_image(ax, rng.random((4, 5)))
    assert not ax.axison and shown.get_array().shape == (4, 5)


def test_view_shows_all_samples_with_room(ax, rng):
    X = rng.normal(size=(20, 2))
    plotting.set_view(ax, X)
    for (low, high), x in zip((ax.get_xlim(), ax.get_ylim()), X.T, strict=True):
        assert low < x.min() and x.max() < high
    plotting.set_view(ax, np.ones((3, 2)))
    assert np.diff(ax.get_xlim()) > 0


def test_colours_differ_in_lightness_as_well():
    lightness = sorted(np.dot(plotting.tint(c, 1), [0.2126, 0.7152, 0.0722]) for c in
                       (plotting.INK, plotting.BLUE, plotting.ORANGE, plotting.GREEN))  # fmt: skip
    assert min(np.diff(lightness)) > 0.1
