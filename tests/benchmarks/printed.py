"""The book and the slides, read back: skipped where pandoc and typst are not installed.

pip install --editable ".[book]" pypdf
python -m pytest -q tests/benchmarks/printed.py
"""

import re
import sys
import zipfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("pypandoc", reason="needs the extra `book`")
pytest.importorskip("typst", reason="needs the extra `book`")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "notebooks" / "site"))

import book  # noqa: E402
import slides  # noqa: E402

from mlnotes import CHAPTERS  # noqa: E402
from mlnotes.__main__ import load_claims  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    book.make(list(CHAPTERS), "a4", folder)
    return folder


@pytest.fixture(scope="module")
def pdf(folder):
    reader = pytest.importorskip("pypdf").PdfReader(folder / "_book.pdf")
    return reader, " ".join(page.extract_text() for page in reader.pages)


def test_the_files_of_the_epub_are_well_formed_and_its_links_lead_somewhere(folder):
    with zipfile.ZipFile(folder / "_book.epub") as file:
        pages = {n: file.read(n).decode() for n in file.namelist() if n.endswith(".xhtml")}
        names = set(file.namelist())
    ids = {name: set(re.findall(r'\bid="([^"]*)"', text)) for name, text in pages.items()}
    missing, formulas, links = [], 0, 0
    for name, text in pages.items():
        ElementTree.fromstring(text)
        formulas += text.count("<math")
        for to in re.findall(r'(?:href|src)="([^"]*)"', text):
            file, _, place = unescape(to).partition("#")
            path = (Path(name).parent / file).as_posix() if file else name
            path = re.sub(r"[^/]+/\.\./", "", path)
            links += 1
            if not to.startswith("http") and (
                path not in names or place and place not in ids[path]
            ):
                missing.append((name, to))
    assert missing == []
    assert formulas > 14_000 and links > 1_500


def test_the_pdf_has_all_chapters_statements_and_solutions(pdf):
    reader, text = pdf
    titles = [each.title for each in reader.outline if not isinstance(each, list)]
    assert [title.split()[0] for title in titles[: len(CHAPTERS)]] == [
        str(k) for k in range(1, len(CHAPTERS) + 1)
    ]
    assert titles[-3:] == ["Solutions", "What the notes state", "Index of terms"]
    stated = [c.id for c in load_claims().values() if c.form not in ("walk", "shown")]
    stated = [name for name in stated if not name.startswith("datasets")]  # no chapter
    assert [name for name in stated if name not in text] == []
    assert text.count("Back") >= 200
    assert not re.search(r"\\(?:alpha|frac|top|sum)\b", text)


@pytest.mark.parametrize("chapter", ["clustering", "svm"])
def test_a_deck_has_the_walks_and_figures_of_the_main_line(chapter, tmp_path):
    pypdf = pytest.importorskip("pypdf")
    slides.make(chapter, tmp_path / "deck.pdf")
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(tmp_path / "deck.pdf").pages)
    assert text.count("Walk ") >= 5 and text.count("Figure ") >= 5 and "def " in text
