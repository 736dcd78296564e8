"""Make a deck of slides for each chapter: python notebooks/site/slides.py [CHAPTER ...]

It writes ``_slides/05_clustering.pdf`` and so on, for all chapters or for those that are named. A
slide has a walk, a figure with its caption, or the code that the notebook prints.
"""

import re
import sys
import tempfile
from pathlib import Path

from book import ROOT, Book, to_pdf
from build_site import file_of

from mlnotes import CHAPTERS

PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
CAPTION = re.compile(r"\*\*Figure \d+\.\d+\.?\*\*.*?(?=\n\s*\n|\Z)")
BLOCK = re.compile(r"\n\$\$\\begin\{aligned\}.*?\n?\$\$\n", re.S)


def slides(cells):
    """The slides of the main line as Markdown: what a lecturer shows of each cell."""
    heading, picture = "", ""  # a picture waits for its caption, which may stand in the next cell
    for text in cells:
        found = re.findall(r"^##+ (.*?)(?: \{#.*\})?$", text, re.M)
        heading = found[-1] if found else heading
        if heading == "Going further":
            return
        parts = []
        if found and heading.startswith("Walk"):
            given = re.search(r"\*\*Given.*?(?=\n\n\n|\n\$\$)", text, re.S)
            parts.append("\n\n".join([given[0] if given else "", *BLOCK.findall(text)]))
        parts += [part for part in re.findall(r"```python\n.*?\n```", text, re.S) if "def " in part]
        for part in re.findall(f"{PICTURE.pattern}|{CAPTION.pattern}", text, re.S):
            if part.startswith("!"):
                picture = part
            else:
                parts.append(f"{picture}\n\n{part}")
                picture = ""
        for part in parts:
            yield f"\n# {heading}\n\n{part}\n"


def make(chapter, target):
    """Write the deck of a chapter."""
    with tempfile.TemporaryDirectory() as name:
        book = Book([], Path(name).resolve())
        book.text.clear()
        book.add_chapter(chapter)
        title = re.search(r"^# (.*?) \{", book.text[0], re.M)[1]
        text = f"# {title}\n\n" + "".join(slides(book.text))
        to_pdf(book.linked(text), "slides", book.folder, target)


if __name__ == "__main__":
    (ROOT / "_slides").mkdir(exist_ok=True)
    for each in sys.argv[1:] or CHAPTERS:
        make(each, ROOT / "_slides" / f"{file_of(each)}.pdf")
        print(f"_slides/{file_of(each)}.pdf  written")
