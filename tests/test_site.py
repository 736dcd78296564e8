"""The site: it is made once, and what its pages hold is checked without a browser."""

import ast
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
from formulas import mathml  # noqa: E402
from recording import scene  # noqa: E402

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
    formulas = [TAG.sub("", each) for each in re.findall(r"<math\b.*?</math>", text, re.S)]
    prose = html.unescape(TAG.sub("", SPLIT.sub("", text)))
    return TEX.findall(prose) + [
        word for each in formulas for word in re.findall(r"\\(?:[a-zA-Z]+|\W)", each)
    ]


# --- The folder ------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", ["perceptron", "mixture", "trees"])
def test_another_process_makes_the_same_bytes(chapter, site):
    number = list(build_site.CHAPTERS).index(chapter) + 1
    made, files = build_site.chapter_files(number, chapter)
    files[f"module_{chapter}.html"] = build_site.module_page(chapter)
    files[f"statements_{chapter}.html"] = build_site.statements_page(chapter)
    assert [n for n, text in files.items() if text != (site / n).read_text("utf-8")] == []
    pictures = made.pictures.items()
    assert [n for n, data in pictures if data != (site / "pictures" / n).read_bytes()] == []


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


def test_brackets_of_a_given_size_hold_what_is_between_them():
    element = mathml(r"\Bigl\lVert \sum_i x_i \Bigr\rVert^2 = \bigl(A + B\bigr)^\top x")
    assert "\\" not in element and "minsize" not in element
    assert re.search(
        r"<msup><mrow><mo[^>]*>‖</mo>.*<mo[^>]*>‖</mo></mrow><mn>2</mn></msup>", element
    )
    alone = mathml(r"\begin{aligned} a &= \bigl( b \\ &+ c \bigr) \end{aligned}")
    assert alone.count("minsize") == 2  # no pair within a cell


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
            for c in html.unescape(re.sub(r"<[^>]*>", "", each))}  # fmt: skip
    assert sorted(c for c in used if ord(c) not in letters) == []


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
    assert pages["errata.html"].count("<tr id=") == len(slips)


def test_the_search_knows_equations_by_their_numbers(site):
    text = (site / "search.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("addIndex(").removesuffix(");\n"))
    kinds = [kind for kind, *_ in entries]
    assert [kind for i, kind in enumerate(kinds) if kind not in kinds[:i]] == [
        "statement",
        "chapter",
        "code",
        "figure",
    ]
    assert any("irhd 8.46" in words for kind, _, words, _ in entries if kind == "statement")
    assert [title for _, title, *_ in entries if "$" in title] == []


# --- Films -----------------------------------------------------------------------------


def name_of(film):
    return f"{film.chapter}/{film.name}"


def chosen(film, which):
    """The first or last value of every setting (0 or -1)."""
    return {name: values[which] for name, values in film.settings.items()}


def test_every_film_is_recorded_and_shown(recorded, pages):
    assert set(recorded) == {name_of(film) for film in FILMS}
    shown = [name for text in pages.values() for name in attributes(text, "data-film")]
    assert sorted(shown) == sorted(recorded)


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
    for (ax, state, take, _), (marks, value, words, _) in zip(
        frames(film, chosen(film, which)), run, strict=True
    ):
        assert take.words(state) == words
        if film.measure:
            assert value == float(f"{take.value(state):.6g}")
        drawn = [list(recording["marks"][k]) for k in marks]
        for mark in drawn:
            if mark[0] == "points":
                mark[-1] = [recording["places"][k] for k in mark[-1]]
        assert json.loads(json.dumps(scene(ax))) == drawn


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
        line for run in recorded[name_of(film)]["runs"] for *_, line in run if line is not None
    }
    assert [line for line in lines if not any(a <= line < b for a, b in spans)] == []
