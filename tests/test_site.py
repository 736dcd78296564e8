"""The site: it is made once, and what its pages hold is checked without a browser."""

import ast
import base64
import gzip
import html
import json
import os
import re
import subprocess
import sys
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.transforms import Bbox

from mlnotes.__main__ import load_claims, read_citations
from mlnotes.plotting import FILMS, frames
from mlnotes.reading import source

ROOT = Path(__file__).resolve().parent.parent
BUILDER = ROOT / "notebooks" / "site"
TAG = re.compile(r"<[a-zA-Z][^>]*>")
SPLIT = re.compile(r"<(code|pre|script|math)\b.*?</\1>", re.S)
TEX = re.compile(r"\\[a-zA-Z]+|\$|\^\{|_\{|\*\*")
MOST, MOST_FILMS = 30e6, 3e6  # bytes of the whole site, and of all recordings

sys.path.insert(0, str(BUILDER))
import build_site  # noqa: E402
from formulas import ASIDE, visible  # noqa: E402
from recording import AT_REST, choices, scene  # noqa: E402

for chapter in build_site.CHAPTERS:
    build_site.load_figures(chapter)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, made with another order of sets than here."""
    folder = tmp_path_factory.mktemp("site") / "made"
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    subprocess.run(
        [sys.executable, BUILDER / "build_site.py", folder],
        check=True, env=os.environ | {"PYTHONHASHSEED": other, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def pages(site):
    """The text of every page, by its name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(site.glob("*.html"))}


@pytest.fixture(scope="session")
def recorded(site):
    """The recordings, by chapter and name."""
    found = {}
    for path in sorted((site / "films").glob("*.js")):
        name, content = re.fullmatch(
            r'addFilm\("([^"]*)",(.*)\);\n', path.read_text("utf-8"), re.S
        ).groups()
        found[name] = json.loads(content)
    return found


def attributes(text, *names):
    """The values of these attributes in the tags of a page."""
    pattern = re.compile(rf'\s(?:{"|".join(names)})="([^"]*)"')
    return [html.unescape(value) for tag in TAG.findall(text) for value in pattern.findall(tag)]


def broken(pages, folder):
    """The addresses in the pages that lead nowhere, or out of the folder."""
    ids = {name: set(attributes(text, "id")) for name, text in pages.items()}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found = []
    for name, text in pages.items():
        for address in set(attributes(text, "href", "src")):
            file, _, place = address.partition("#")
            there = file or name
            if there not in files | set(pages) or (place and place not in ids[there]):
                found.append((name, address))
    return found


def raw_tex(text):
    """What looks like TeX in the text of a page, outside code, and in its formulas."""
    formulas = [visible(each) for each in re.findall(r"<math\b.*?</math>", text, re.S)]
    prose = html.unescape(TAG.sub("", SPLIT.sub("", text)))
    return TEX.findall(prose) + [
        word for each in formulas for word in re.findall(r"\\(?:[a-zA-Z]+|\W)", each)
    ]


# --- The folder ------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", ["perceptron", "mixture", "trees"])
def test_another_process_makes_the_same_bytes(chapter, site):
    body, outline, files = build_site.chapter_files(chapter)
    name = f"{build_site.file_of(chapter)}.html"
    files |= {name: build_site.chapter_page(chapter, body, outline)}
    files |= {f"module_{chapter}.html": build_site.module_page(chapter)}
    files |= {f"statements_{chapter}.html": build_site.statements_page(chapter)}
    data = {n: each if isinstance(each, bytes) else each.encode() for n, each in files.items()}
    assert [n for n, each in data.items() if each != (site / n).read_bytes()] == []


def test_the_site_and_its_recordings_are_small(site):
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    assert sum(sizes.values()) <= MOST
    assert sum(size for path, size in sizes.items() if path.parent.name == "films") <= MOST_FILMS


def test_every_address_leads_to_a_place_in_the_folder(pages, site):
    assert broken(pages, site) == []
    assert set(re.findall(r"url\(\"?([^)\"]*)", (site / "style.css").read_text())) == {
        "STIXTwoMath.woff2"
    }


def test_a_broken_address_is_seen(site):
    text = '<p id="a"><a href="#a"></a><a href="#b"></a><a href="https://x.org/"></a>'
    text += '<img src="c.svg"></p>'
    assert sorted(address for _, address in broken({"p.html": text}, site)) == [
        "#b",
        "c.svg",
        "https://x.org/",
    ]


def test_ids_are_unique_on_a_page(pages):
    for name, text in pages.items():
        ids = attributes(text, "id")
        assert len(ids) == len(set(ids)), (
            name,
            sorted({each for each in ids if ids.count(each) > 1}),
        )


def test_every_figure_of_the_gallery_leads_to_its_caption_in_the_chapter(pages):
    found = re.findall(r'<figure id="(\w+?)-\w+">.*?</figure>', pages["figures.html"], re.S)
    links = re.findall(
        r'<figcaption><a href="(\d\d_\w+)\.html#figure-(\d+)-\d+">Figure (\d+)\.',
        pages["figures.html"],
    )
    assert len(links) == len(found) > 200
    for chapter, (page, number, said) in zip(found, links, strict=True):
        assert page == f"{number:0>2}_{chapter}" and said == number


# --- Formulas --------------------------------------------------------------------------


def test_the_page_of_a_module_has_a_heading_for_each_ruled_line():
    headings = re.findall("<h2 [^>]*>(.*?)</h2>", build_site.module_page("mixture"))
    sections = ["The mixture", "The likelihood", "E-step", "M-step", "EM"]
    assert headings == ["The lecture", *sections, "The estimators"]


def test_no_tex_is_left(pages):
    assert [(name, found) for name, text in pages.items() if (found := raw_tex(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        r"<p>the \alpha of it</p>",
        "<p>$x$</p>",
        r"<math><mi>\arg</mi></math>",
        r"<math><mo>\|</mo></math>",
    ],
)
def test_tex_is_seen(text):
    assert raw_tex(text) and not raw_tex(f"<pre>{text}</pre>".replace("math", "code"))


def test_the_walks_are_tables_of_lines(pages):
    walks = [
        each
        for text in pages.values()
        for each in re.findall(r'<math class="aligned".*?</math>', text, re.S)
    ]
    assert len(walks) > 300
    assert [each for each in walks if "<mtr>" not in each or "<mo>&amp;</mo>" in each] == []


def test_the_font_has_every_character_of_the_formulas(pages, site):
    ttlib = pytest.importorskip("fontTools.ttLib")
    pytest.importorskip("brotli")
    letters = ttlib.TTFont(site / "STIXTwoMath.woff2").getBestCmap().keys()
    used = {c for text in pages.values() for each in re.findall(r"<math\b.*?</math>", text, re.S)
            for c in html.unescape(visible(each))}  # fmt: skip
    choice = "\ufe00"  # asks for the first form of a letter, and is not drawn
    assert sorted(c for c in used - {choice} if ord(c) not in letters) == []


# --- Statements ------------------------------------------------------------------------


def test_every_statement_and_its_passage_lead_to_each_other(pages):
    cited, links = read_citations(), {}
    for name, text in pages.items():
        links[name] = set(attributes(text, "href"))
    for claim in load_claims().values():
        entry = f"statements_{claim.chapter}.html"
        assert f'<article id="{claim.id}">' in pages[entry]
        for told in (cited.notebooks, cited.walks, cited.shown):
            for passage in told.get(claim.id, ()):
                chapter = passage.partition(",")[0].replace(".ipynb", ".html")
                assert f"{chapter}#{claim.id}" in links[entry]
                assert f"{entry}#{claim.id}" in links[chapter]


def test_every_slip_stands_in_the_errata(pages):
    slips = [claim.id for claim in load_claims().values() if claim.kind == "erratum"]
    assert [name for name in slips if f'<tr id="{name}">' not in pages["errata.html"]] == []
    assert len(re.findall(r'<tr id="[a-z_]+-\d+"', pages["errata.html"])) == len(slips)


def test_the_page_shows_what_the_ledger_stores(pages):
    """The formulas of a statement are its TeX, and the rest of it are its words."""
    for claim in load_claims().values():
        page = pages[f"statements_{claim.chapter}.html"]
        shown = page.partition(f'<article id="{claim.id}">')[2].partition("<dl>")[0]
        formulas = re.findall(r"<math.*?</math>", shown, re.S)
        found = [re.search(r'^<math[^>]* alttext="([^"]*)"', each) for each in formulas]
        tex = [
            html.unescape(f[1] if f else visible(m)) for f, m in zip(found, formulas, strict=True)
        ]
        stored = f"{claim.statement} {claim.correct}"
        written = [(m[1] or m[2]).strip() for m in ASIDE.finditer(stored) if m[1] or m[2]]
        assert ["".join(each.split()) for each in tex] == [
            "".join(each.split()) for each in written
        ]
        said = html.unescape(visible(re.sub(r"<h2>.*?</h2>|<math.*?</math>|</p>", " ", shown)))
        words = re.sub("[`*]", "", ASIDE.sub(lambda m: " " if m[1] or m[2] else m[0], stored))
        said = re.sub("Printed: |Correct: |[*]", "", said)
        assert said.split() == words.split(), claim.id


def test_the_search_knows_equations_by_their_numbers(site):
    text = (site / "documents.js").read_text(encoding="utf-8")
    packed = base64.b64decode(text.removeprefix('addDocuments("').removesuffix('");\n'))
    documents = json.loads(gzip.decompress(packed))
    kinds = {"chapter", "section", "walk", "exercise", "slip", "statement", "code", "figure",
             "page", "summary", "term", "symbol"}  # fmt: skip
    assert {kind for kind, *_ in documents} == kinds
    stated = [text for kind, *_, text in documents if kind == "statement"]
    assert any("IRHD 8.46" in text for text in stated)
    assert [title for _, title, *_ in documents if "$" in title] == []


# --- Films -----------------------------------------------------------------------------


def name_of(film):
    return f"{film.chapter}/{film.name}"


def chosen(film, which):
    """The first or last value of every setting (0 or -1)."""
    return {name: values[which] for name, values in choices(film).items()}


def test_every_film_is_recorded_and_shown(recorded, pages):
    assert set(recorded) == {name_of(film) for film in FILMS}
    shown = [name for text in pages.values() for name in attributes(text, "data-film")]
    assert set(shown) == set(recorded)  # one of them also on the first page
    for text in pages.values():  # a film stands where its algorithm is told
        assert 'data-film="' not in text.partition('id="exercises"')[2]


def test_no_words_are_drawn_twice_in_the_same_place(recorded):
    for recording in recorded.values():
        marks = recording["marks"]
        for state in (state for run in recording["runs"] for state in run):
            words = [tuple(marks[k][1:4]) for k in state[0] if marks[k][0] == "text"]
            assert len(set(words)) == len(words)


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize("film", FILMS, ids=name_of)
def test_a_recording_is_what_the_algorithm_does(film, which, recorded):
    recording = recorded[name_of(film)]
    run = recording["runs"][which]
    for k, (ax, state, take, _) in enumerate(frames(film, chosen(film, which))):
        marks, value, words, _, number = run[min(k, len(run) - 1)]
        drawn = [list(recording["marks"][each]) for each in marks]
        for mark in drawn:
            if mark[0] == "points":
                mark[-1] = [recording["places"][each] for each in mark[-1]]
        assert json.loads(json.dumps(scene(ax))) == drawn
        if k < len(run):
            assert take.words(state) == words
            assert take.number is None or take.number(state) == number
            assert not film.measure or value == float(f"{take.value(state):.6g}")
    assert (k >= len(run)) == (recording["ends"][which] == AT_REST)


def redrawn(marks, view):
    """What the marks of a state look like: an axes of matplotlib in units of the marks."""
    ax = Figure(figsize=(view[0] / 720, view[1] / 720), dpi=72).add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, view[0]), ylim=(view[1], 0))
    ax.axis("off")
    box = next((mark[1:] for mark in marks if mark[0] == "frame"), (0, 0, *view))
    area = ax.transData.transform([(box[0], box[3]), (box[2], box[1])])
    for order, (kind, *rest) in enumerate(marks):
        if kind == "frame":
            ax.plot([box[0], box[0], box[2]], [box[1], box[3], box[3]], "k", lw=0.7, zorder=order)
        elif kind == "path":
            d, stroke, width, dashes, fill, opacity = rest
            patch = PathPatch(outline(d), fc=fill or "none", ec=stroke or "none", lw=width / 10,
                              alpha=opacity, zorder=order, capstyle="butt")  # fmt: skip
            if dashes:
                dash = [float(each) / width for each in dashes.split()]
                patch.set_linestyle((0, dash))
            ax.add_patch(patch)
            if width != 7:
                patch.set_clip_box(Bbox.from_extents(*area.ravel()))
        elif kind == "points":
            marker, size, fill, edge, width, places = rest
            ax.plot(*zip(*places, strict=True), marker, ms=size / 10, mfc=fill or "none",
                    mec=edge or "none", mew=width / 10, zorder=order)  # fmt: skip
        elif kind == "text":
            x, y, words, size, anchor, color, turn = rest
            side = {"start": "left", "middle": "center", "end": "right"}[anchor]
            ax.text(x, y, words, size=size / 10, ha=side, va="baseline", color=color,
                    rotation=-turn, rotation_mode="anchor", zorder=order)  # fmt: skip
        else:
            x, y, width, height, address = rest
            pixels = imread(BytesIO(base64.b64decode(address.partition(",")[2])))
            ax.imshow(pixels, extent=(x, x + width, y + height, y), aspect="auto",
                      interpolation="nearest", zorder=order)  # fmt: skip
    ax.set(xlim=(0, view[0]), ylim=(view[1], 0))
    return ax


def outline(d):
    """The path of an SVG path with the commands M, l and z."""
    points, codes = [], []
    for command, numbers in re.findall("([Mlz])([^Mlz]*)", d):
        x, y = map(float, numbers.split()) if numbers else (0.0, 0.0)
        last = points[-1] if points else (0.0, 0.0)
        points.append((x + last[0], y + last[1]) if command == "l" else (x, y))
        codes.append({"M": Outline.MOVETO, "l": Outline.LINETO, "z": Outline.CLOSEPOLY}[command])
        if command == "z":
            points[-1] = last
    return Outline(points, codes)


def picture(ax, box):
    """The grey values of what is drawn inside the box, in pixels, on a coarse grid."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    left, top, right, bottom = (round(each / 10) for each in box)
    grey = np.asarray(canvas.buffer_rgba())[top:bottom, left:right, :3].mean(axis=2) / 255
    rows, columns = (side // 6 for side in grey.shape)
    return grey[: 6 * rows, : 6 * columns].reshape(rows, 6, columns, 6).mean(axis=(1, 3))


def unlike(ax, marks, view):
    """The largest difference of a grey value between the axes and the marks of their recording."""
    box = next((mark[1:] for mark in marks if mark[0] == "frame"), (0, 0, *view))
    return np.abs(picture(ax, box) - picture(redrawn(marks, view), box)).max()


def marks_of(recording, state):
    marks = [list(recording["marks"][k]) for k in state[0]]
    for mark in marks:
        if mark[0] == "points":
            mark[-1] = [recording["places"][k] for k in mark[-1]]
    return marks


@pytest.mark.parametrize("film", FILMS, ids=name_of)
def test_a_recording_looks_like_matplotlib_s_own_picture(film, recorded):
    recording = recorded[name_of(film)]
    run = recording["runs"][0]
    for k, (ax, *_) in enumerate(frames(film, chosen(film, 0))):
        if k in (0, 1, len(run) // 2, len(run) - 1):
            assert unlike(ax, marks_of(recording, run[k]), recording["view"]) < 0.2, k


def test_a_recording_upside_down_or_without_a_mark_is_seen(recorded):
    film = next(film for film in FILMS if name_of(film) == "ensemble/forest")
    recording, view = recorded[name_of(film)], recorded[name_of(film)]["view"]
    (ax, *_) = next(islice(frames(film, chosen(film, 0)), 8, None))
    marks = marks_of(recording, recording["runs"][0][8])
    k = next(k for k, mark in enumerate(marks) if mark[0] == "image")
    (x, y, width, height, address), others = marks[k][1:], marks[:k] + marks[k + 1 :]
    assert unlike(ax, others, view) > 0.2
    assert unlike(ax, [*others, ["image", x, y + height, width, -height, address]], view) > 0.2


def test_what_a_recording_cannot_draw_is_refused():
    ax = Figure().add_subplot()
    ax.annotate("here", (0, 0), (1, 1), arrowprops={"arrowstyle": "->"})
    ax.table([["1"]])
    with pytest.raises(TypeError, match="cannot draw"):
        scene(ax)


@pytest.mark.parametrize("film", FILMS, ids=name_of)
def test_the_states_come_from_the_algorithm(film, recorded):
    ran = set()
    sys.setprofile(lambda frame, *_: ran.add(frame.f_code))
    try:
        take = film.make(**chosen(film, 0))
        next(iter(take.states))
    finally:
        sys.setprofile(None)
    assert film.algorithm.__module__.startswith("mlnotes.")
    assert film.algorithm.__code__ in ran


@pytest.mark.parametrize("film", FILMS, ids=name_of)
def test_the_marked_line_is_the_one_that_yielded(film, recorded):
    nodes = ast.walk(ast.parse(source(film.algorithm)))
    yields = [node for node in nodes if isinstance(node, ast.Yield | ast.YieldFrom)]
    spans = [(node.lineno - 1, node.end_lineno) for node in yields]
    lines = {
        line for run in recorded[name_of(film)]["runs"] for *_, line, _ in run if line is not None
    }
    assert [line for line in lines if not any(a <= line < b for a, b in spans)] == []
