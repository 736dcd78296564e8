"""The lecture figures: those committed are what the scripts draw now."""

import importlib
import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import mlnotes
from figures.draw import difference
from mlnotes import plotting

FOLDER = Path(__file__).resolve().parent.parent / "figures"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "draw")

# --- Two pictures compared -------------------------------------------------------------


def drawn(draw):
    """An SVG of what `draw` puts on bare axes."""
    with mpl.rc_context():
        plotting.use_style()
        fig, file = Figure(figsize=(2, 2)), BytesIO()
        draw(fig.subplots())
        fig.savefig(file, format="svg", metadata=plotting.UNDATED["svg"])
    return file.getvalue()


def line(*points, **style):
    """A picture of a line through the points (x, y) in a view of fixed size."""

    def draw(ax):
        ax.set(xlim=(0, 10), ylim=(0, 10))
        for part in points if np.ndim(points) == 3 else [points]:
            ax.plot(*np.transpose(part), **({"color": "C0"} | style))

    return drawn(draw)


def test_rounding_is_not_a_difference(rng):
    x = rng.normal(size=50)
    plain = drawn(lambda ax: ax.plot(x))
    assert difference(plain, drawn(lambda ax: ax.plot(x + 1e-9 * rng.normal(size=50)))) is None
    pixels = rng.random((8, 8))
    image = drawn(lambda ax: ax.imshow(pixels))
    assert difference(image, drawn(lambda ax: ax.imshow(pixels + 1e-9))) is None


def test_points_that_change_no_line_are_not_a_difference():
    whole = line((1, 1), (9, 5))
    assert difference(whole, line((1, 1), (5, 3), (7, 4), (9, 5))) is None
    assert difference(whole, line((9, 5), (1, 1))) is None
    parts = [(1, 1), (9, 5)], [(2, 6), (3, 6)]
    assert difference(line(*parts), line(*parts[::-1])) is None


def test_a_name_that_depends_on_the_content_is_not_a_difference():
    clipped = line((1, 1), (9, 5), lw=2)
    names = {name for name in clipped.decode().split('"') if name.startswith("url(#")}
    (name,) = names
    renamed = clipped.replace(name[5:-1].encode(), b"another")
    assert clipped != renamed and difference(clipped, renamed) is None


@pytest.mark.parametrize(
    "other, what",
    [
        (line((1, 1), (9, 5.1)), "another d of a path"),
        (line((1, 1), (5, 3)), "another d of a path"),
        (line((1, 1), (5, 3.1), (9, 5)), "another d of a path"),
        (line([(1, 1), (9, 5)], [(2, 6), (3, 6)]), "another d of a path"),
        (line([(1, 1), (4, 2.5)], [(5, 3), (9, 5)]), "another d of a path"),
        (line((1, 1), (9, 5), ls="--"), "another style of a path"),
        (line((1, 1), (9, 5), marker="o"), "other elements"),
        (line((1, 1), (9, 5), color="C1"), "another style of a path"),
        (line((1, 1), (9, 5), lw=1.6), "another style of a path"),
        (line((1, 1), (9, 5), alpha=0.9), "another style of a path"),
        (line((1, 1), (9, 5), clip_on=False), "other elements"),
        (b"<svg", "not a picture"),
        (b"<svg><g transform='skewX(3)'/></svg>", "other elements"),
        (b"", "not a picture"),
    ],
)
def test_what_is_seen_is_a_difference(other, what):
    whole = line((1, 1), (9, 5))
    for told in (difference(whole, other), difference(other, whole)):
        assert told.startswith(what)


def test_a_marker_that_moves_and_one_more_are_seen():
    dots = {"marker": "o", "ls": ""}
    two = line((1, 1), (9, 5), **dots)
    assert difference(two, line((1, 1), (9, 5.1), **dots)) == "another y of a use"
    assert difference(two, line((1, 1), (5, 3), (9, 5), **dots)) == "other elements"
    assert difference(two, line((1, 1), (9, 5), marker="s", ls="")) == "another d of a path"


@pytest.mark.parametrize(
    "word, style",
    [("on", {}), ("eno", {}), ("One", {}), ("one", {"color": "C1"}), ("one", {"size": 11.5}),
     ("one", {"x": 0.01}), ("one", {"rotation": 3})],
)  # fmt: skip
def test_a_label_that_changes_is_seen(word, style):
    first, second = (
        drawn(lambda ax, word=word, style=style: ax.set_title(word, **style))
        for word, style in (("one", {}), (word, style))
    )
    assert difference(first, second) is not None


def test_what_covers_what_is_seen():
    wide, thin = (
        ([(1, 1), (9, 5)], {"lw": 5, "color": "C1"}),
        ([(1, 5), (9, 1)], {"lw": 1, "ls": ":"}),
    )

    def cross(first, second):
        return drawn(lambda ax: [ax.plot(*zip(*p, strict=True), **s) for p, s in (first, second)])

    assert difference(cross(wide, thin), cross(thin, wide)) is not None


def test_images_are_compared_by_their_pixels(rng):
    pixels = rng.random((8, 8))
    image = drawn(lambda ax: ax.imshow(pixels))
    assert difference(image, drawn(lambda ax: ax.imshow(pixels.T))) is not None
    assert difference(image, drawn(lambda ax: ax.imshow(pixels[:4]))) is not None


def test_pictures_of_pixels_are_compared_by_them(tmp_path):
    run(tmp_path, "png")
    first = (tmp_path / "lines" / "line.png").read_bytes()
    other = (tmp_path / "lines" / "pair.png").read_bytes()
    assert difference(first, first + b"more") is None
    assert difference(first, other) == "another image"


# --- The pictures of the book ----------------------------------------------------------


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


# --- The scripts -----------------------------------------------------------------------

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


@pytest.fixture
def project(tmp_path):
    """A folder with a package and the script of one chapter, which imports one of two modules."""
    for name in ("mlnotes/__init__.py", "mlnotes/plotting.py", "figures/draw.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(FOLDER.parent / name, tmp_path / name)
    for name in ("used", "unused"):
        (tmp_path / "mlnotes" / f"{name}.py").touch()
    script = f"import mlnotes.used\n{SCRIPT.format(last=0)}"
    (tmp_path / "figures" / "lines.py").write_text(script)
    return tmp_path


def draw(project, *arguments):
    command = [sys.executable, "figures/draw.py", *arguments]
    subprocess.run(command, cwd=project, env=os.environ | {"PYTHONPATH": str(project)}, check=True)


def test_a_file_that_shows_the_same_is_left_alone(project):
    draw(project, "lines", "svg")
    line, pair = (project / "figures" / "lines" / f"{name}.svg" for name in ("line", "pair"))
    rounded = line.read_bytes().replace(b'.8"', b'.800001"')
    assert rounded != line.read_bytes()
    line.write_bytes(rounded)
    pair.write_bytes(pair.read_bytes()[:-20])
    draw(project, "lines", "svg")
    assert line.read_bytes() == rounded
    assert pair.read_bytes().rstrip().endswith(b"</svg>")


def test_the_list_for_make_has_the_pictures_and_what_was_imported(project):
    draw(project, "lines", "pdf")
    lines = (project / ".stamps" / "lines.pdf.list").read_text().splitlines()
    files = [
        "figures/lines/line.pdf", "figures/lines/pair.pdf", "figures/draw.py", "figures/lines.py",
        "mlnotes/__init__.py", "mlnotes/plotting.py", "mlnotes/used.py",
    ]  # fmt: skip
    assert lines == [f".stamps/lines.pdf: {file}" for file in files] + [f"{f}:" for f in files]


def test_pictures_that_nothing_draws_any_more_go_and_other_formats_stay(tmp_path):
    run(tmp_path, "pdf")
    (tmp_path / "lines" / "old.svg").write_text("<svg/>")
    run(tmp_path)
    names = {path.name for path in (tmp_path / "lines").iterdir()}
    assert names == {"line.svg", "pair.svg", "line.pdf", "pair.pdf"}


def test_an_unknown_format_is_refused_by_name(tmp_path):
    failed = run(tmp_path, "bmp")
    assert failed.returncode == 1
    assert (
        failed.stderr.strip() == "lines.py: a format must be one of svg, png, pdf, gif; got 'bmp'"
    )


# --- The drawing helpers ---------------------------------------------------------------


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


# --- Films -----------------------------------------------------------------------------


def halving(x):
    """A generator to film: x, x/2, x/4, x/8."""
    for _ in range(4):
        yield x
        x = x / 2


@pytest.fixture
def short_film(monkeypatch):
    """A film of `halving` that is registered for one test."""
    monkeypatch.setattr(plotting, "FILMS", [])

    @plotting.film("halving", halving, measure="x", start=(8.0, 1.0))
    def draw_halving(start):
        """A point moves halfway to 0."""

        def draw(ax, x):
            ax.plot([x], [0], "o")
            ax.set(xlim=(-1, 9), ylim=(-1, 1))

        return plotting.Take(halving(start), draw, lambda x: f"x = {x}", lambda x: x)

    return plotting.FILMS[0]


def test_a_film_is_registered_with_its_chapter_and_settings(short_film):
    assert short_film[:4] == ("test_figures", "halving", halving, "x")
    assert short_film.settings == {"start": (8.0, 1.0)}


def test_frames_show_every_state_and_the_line_that_yielded_it(short_film):
    code = halving.__code__
    seen = [(x, take.words(x), take.value(x), line, float(ax.lines[0].get_xdata()[0]))
            for ax, x, take, line in plotting.frames(short_film, {"start": 8.0})]  # fmt: skip
    assert seen == [(x, f"x = {x}", x, code.co_firstlineno + 3, x) for x in (8.0, 4.0, 2.0, 1.0)]


def test_no_line_is_named_for_states_that_are_not_a_call_of_the_algorithm(short_film):
    make = lambda start: short_film.make(start)._replace(states=[start])  # noqa: E731
    frames = plotting.frames(short_film._replace(make=make), {"start": 1.0})
    assert [line for *_, line in frames] == [None]


def test_a_film_that_goes_on_is_cut_at_its_length(short_film):
    make = lambda start: short_film.make(start)._replace(length=2)  # noqa: E731
    frames = plotting.frames(short_film._replace(make=make), {"start": 8.0})
    assert [state for _, state, *_ in frames] == [8.0, 4.0]


def test_a_gif_has_a_page_for_each_state_and_the_same_bytes_again(short_film):
    from PIL import Image

    ((name, content),) = plotting.pictures("test_figures", ["gif"])
    assert name == "halving.gif" and Image.open(BytesIO(content)).n_frames == 4
    assert list(plotting.pictures("test_figures", ["gif"])) == [(name, content)]
