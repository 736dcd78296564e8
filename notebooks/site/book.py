"""Make the book to take along, as PDF and as EPUB, from the notebooks and the ledger.

    python notebooks/site/book.py [--form a4|tablet] [CHAPTER ...]

It writes ``_book.pdf`` and ``_book.epub`` with all chapters, or with those that are named. Films
are left out. The solutions of the exercises stand at the end, and links lead there and back. An
appendix lists the statements and slips of the notes, and an index the terms in bold type. pandoc
reads the text, and typst sets the pages.
"""

import argparse
import base64
import re
import tempfile
from pathlib import Path

import pypandoc
import typst
from build_site import LABELS, cells_of, file_of, title_of

from mlnotes import CHAPTERS
from mlnotes.__main__ import load_claims
from mlnotes.reading import is_solution

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
READ = "markdown-auto_identifiers-raw_tex-implicit_figures-fancy_lists-startnum"
READ += "-subscript-superscript"
NAMES = {" sect ": " inter ", "times.circle": "times.o", "dot.circle": "dot.o"}  # of typst's signs
FOLD = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.S)
TERM = re.compile(r"\*\*([a-zA-Z][a-zA-Z' -]{2,40})\*\*")


class Book:
    """The text of the book while it is gathered: Markdown, and the pictures in a folder."""

    def __init__(self, chapters, folder):
        self.chapters, self.folder = chapters, folder
        self.text, self.solutions, self.terms = [], [], {}
        for chapter in chapters:
            self.solutions.append(f"\n## Chapter {title_of(chapter)}\n")
            self.add_chapter(chapter)
        self.text.append("\n# Solutions\n")
        self.text += self.solutions
        self.add_statements()

    def add_chapter(self, chapter):
        """The cells of a notebook; those of a solution go to the end of the book."""
        exercise, told = None, []
        for i, cell in enumerate(cells_of(chapter)):
            source = cell["source"]
            if cell["cell_type"] == "markdown":
                text = self.markdown(source, chapter)
            else:
                text = self.code(source, cell["outputs"], f"{chapter}_{i:03d}")
            if not is_solution(cell):
                found = re.search(r"^### .*?(Exercise \d+)", text, re.M)
                exercise = found[1] if found else exercise
                self.text.append(text)
                continue
            to = f"{chapter}-{exercise.lower().replace(' ', '-')}"
            if to not in told:
                told.append(to)
                self.text.append(f"\n[]{{#{to}}}[Solution](#solution-{to})\n")
                self.solutions.append(f"\n### {exercise} {{#solution-{to}}}\n\n[Back](#{to})\n")
            self.solutions.append(re.sub(r"^\*\*Solution\.\*\* *", "", text.lstrip()))

    def markdown(self, source, chapter):
        """A cell of text in pandoc's Markdown."""
        text = FOLD.sub(lambda m: f"\n**{m[1].strip()}.**{m[2]}", source)
        text = re.sub(
            r"^# (\d+) (.*)$",
            rf"# {int(file_of(chapter)[:2])} \2 {{#chapter-{chapter}}}",
            text,
            flags=re.M,
        )
        text = re.sub(r'(?:<a id="[^"]*"></a>\s*)+(?=^#+ .*$)', headed, text, flags=re.M)
        text = re.sub(r'<a id="([^"]*)"></a>', r"[]{#\1}", text)
        text = re.sub(r"\]\((?:\.\./notebooks/)?\d\d_(\w+)\.ipynb\)", r"](#chapter-\1)", text)
        text = re.sub(r"\]\((?:\.\./notebooks/)?\d\d_\w+\.ipynb#", "](#", text)
        text = re.sub(r"\]\(\.\./figures/", f"]({ROOT.as_posix()}/figures/", text)
        text = text.replace(r"\tbinom", r"\binom").replace("$$", "\n$$\n")
        text = re.sub(
            r"\n\$\$\n(.*?)\n\$\$\n", lambda m: f"\n$${m[1].strip()}$$\n", text, flags=re.S
        )
        return "\n" + TERM.sub(self.term, text) + "\n"

    def term(self, found):
        """The first use of a term, with a mark to which the index leads."""
        word = found[1]
        if (
            word in LABELS
            or word[-1] in ".:"
            or word.lower() in self.terms
            or len(word.split()) > 4
        ):
            return found[0]
        mark = self.terms[word.lower()] = "term-" + re.sub(r"\W+", "-", word.lower())
        return f"[]{{#{mark}}}{found[0]}"

    def code(self, source, outputs, name):
        """A cell of code with what it printed, showed and drew."""
        found = []
        if not (source.startswith("%matplotlib") or "show(" in source and "\n" not in source):
            found.append(f"```python\n{source}\n```")
        for k, output in enumerate(outputs):
            data = output.get("data", {})
            if "image/png" in data:
                picture = self.folder / f"{name}_{k}.png"
                picture.write_bytes(base64.b64decode("".join(data["image/png"])))
                alt = output["metadata"].get("image/png", {}).get("alt", "")
                found.append(f"![{alt}]({picture.as_posix()})")
            elif "text/markdown" in data:
                found.append(f"```python\n{''.join(data['text/plain'])}\n```")
            else:
                text = output.get("text") or data.get("text/plain") or output.get("traceback", ())
                found.append(f"```\n{''.join(text)}\n```")
        return "\n" + "\n\n".join(found) + "\n"

    def add_statements(self):
        """The appendix: what the notes state, by chapter, with the slips beside what is correct."""
        self.text.append("\n# What the notes state\n")
        for chapter in self.chapters:
            self.text.append(f"\n## Chapter {title_of(chapter)}\n")
            for claim in load_claims().values():
                if claim.chapter == chapter and claim.form not in ("walk", "shown"):
                    said = claim.statement
                    if claim.correct:
                        said = f"Printed: {said} *Correct:* {claim.correct}"
                    self.text.append(f"\n**{claim.id}** ({claim.sources}) {said}\n")

    def index(self, pages):
        """The index: a link to the first use of each term; with `pages`, the page as well."""
        columns = ["`#columns(2)[`{=typst}", "`]`{=typst}"] if pages else ["", ""]
        lines = ["\n# Index of terms\n", columns[0], ""]
        for word, mark in sorted(self.terms.items()):
            page = f"`#context counter(page).at(<{mark}>).first()`{{=typst}}" if pages else ""
            lines.append(f"[{word}](#{mark}) {page}\n")
        return "\n".join([*lines, columns[1]])

    def whole(self, pages):
        """All of the text; the `pages` of the PDF have numbers for the index."""
        return self.linked("\n".join([*self.text, self.index(pages)]), pages)

    def linked(self, text, pages=True):
        """The text without links that lead nowhere in this choice of chapters."""
        if pages:  # a mark of typst needs something to which it belongs
            text = re.sub(r"\[\]\{#([\w.-]+)\}", r"`#metadata(none)<\1>`{=typst}", text)
        marks = re.findall(r"\{#([\w.-]+)\}|#metadata\(none\)<([\w.-]+)>", text)
        ids = {one or other for one, other in marks}
        text = re.sub(r"(?<!!)\[([^][]*)\]\((?!#|http)[^)]*\)", r"\1", text)
        inside = re.compile(r"(?<!!)\[([^][]*)\]\(#([\w.-]+)\)")
        return inside.sub(lambda m: m[0] if m[2] in ids else m[1], text)


def headed(found):
    """The anchors above a heading, with the empty line that a heading needs before it."""
    return found[0].rstrip() + "\n\n"


def to_pdf(text, form, folder, target):
    """Set the text in a form of `FORMS`: the pictures are in the folder or in ``figures``."""
    text = pypandoc.convert_text(text, "typst", READ, extra_args=["--wrap=none"])
    for old, new in NAMES.items():
        text = text.replace(old, new)
    text = text.replace(f"{ROOT.as_posix()}/", "/").replace(f"{folder.as_posix()}/", "/")
    opening = f'#let form = "{form}"\n' + (HERE / "book.typ").read_text(encoding="utf-8")
    (folder / "book.typ").write_text(opening + text, encoding="utf-8")
    (folder / "figures").symlink_to(ROOT / "figures")
    typst.compile(str(folder / "book.typ"), output=str(target), root=str(folder))


def make(chapters, form, folder=ROOT):
    """Write the book as PDF in this form, and as EPUB."""
    with tempfile.TemporaryDirectory() as name:
        book = Book(chapters, Path(name).resolve())
        to_pdf(book.whole(pages=True), form, book.folder, folder / "_book.pdf")
        pypandoc.convert_text(
            book.whole(pages=False), "epub", READ, outputfile=str(folder / "_book.epub"),
            extra_args=["--mathml", "--toc", "--toc-depth=2", "--split-level=1", "--metadata",
                        "title=mlnotes", "--metadata", "lang=en"],
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="all if none is named")
    parser.add_argument("--form", choices=("a4", "tablet"), default="a4")
    options = parser.parse_args()
    make(options.chapters or list(CHAPTERS), options.form)
