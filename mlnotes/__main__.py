"""The index of the book: what the notes state, where it is computed and where it is checked.

    python -m mlnotes                  the contents page
    python -m mlnotes mixture          a chapter: each statement, its function and its test
    python -m mlnotes errata           every slip of the notes
    python -m mlnotes "IRHD 1.10"      the statements that come from an equation or a section
    python -m mlnotes "mistake bound"  the statements that speak of something
    python -m mlnotes claims           how much of each chapter is delivered, and what is missing

The statements are in ``data/claims.csv``. What delivers them is read from the sources: the line
``Claims:`` of a docstring, the marker of a test, the registration of a figure, the anchor
``<a id="svm-40"></a>`` in the text of a notebook. Tests, figures and notebooks are there only in a
checkout of the repository.
"""

import ast
import csv
import json
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from mlnotes import CHAPTERS, IN_WORK

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
ID = re.compile(r"\b[a-z_]+-\d{2}\b")
NUMBER = re.compile(r"\d+(?:\.\d+)+")
ANCHOR = re.compile(r'<a id="([^"]*)"></a>')
RANGE = re.compile(r"\b(\d+)\.(\d+)-(?:\1\.)?(\d+)\b")
WIDTH = 96


# ---------------------------------------------------------------------------------------
# What the notes state
# ---------------------------------------------------------------------------------------


class Claim(NamedTuple):
    """One statement of the notes."""

    id: str
    kind: str
    form: str  # how it is delivered: api, test, figure, notebook or note
    statement: str
    sources: str

    @property
    def chapter(self):
        """The chapter that it belongs to."""
        return self.id.rpartition("-")[0]


@cache
def load_claims():
    """All claims by id, in the order of the chapters."""
    with (PACKAGE / "data" / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = [Claim(**row) for row in csv.DictReader(file)]
    return {claim.id: claim for claim in claims}


def is_written(chapter):
    """Whether the chapter has a module."""
    return (PACKAGE / f"{chapter}.py").exists()


def matches(claim, query):
    """Whether one of the claim's sources has every word of the query; numbers are whole ones.

    So "IRHD 1.1" finds section 1.1 and equation (1.1) of IRHD, and not equation (1.10).
    """
    return any(all(_has(source, word) for word in query.split()) for source in _sources(claim))


def _sources(claim):
    return [source.strip() for source in claim.sources.split(";")]


def _has(source, word):
    if NUMBER.fullmatch(word):
        spans = [(a, range(int(b), int(c) + 1)) for a, b, c in RANGE.findall(source)]
        return word in NUMBER.findall(source) + [f"{a}.{k}" for a, span in spans for k in span]
    return word.lower() in source.lower()


# ---------------------------------------------------------------------------------------
# What delivers it
# ---------------------------------------------------------------------------------------


class Citations(NamedTuple):
    """Who cites a claim: by id, the list of their names."""

    owners: dict  # functions and classes whose docstring has it in its line "Claims:"
    tests: dict
    figures: dict
    notebooks: dict


@cache
def read_citations(root=ROOT):
    """The citations in the sources below `root`."""
    return Citations(
        _collect(root.glob("mlnotes/*.py"), _owned),
        _collect(root.glob("tests/test_*.py"), _marked),
        _collect(root.glob("figures/*.py"), _registered),
        _collect(root.glob("notebooks/*.ipynb"), _anchored),
    )


def missing(claim, citations):
    """What the claim still lacks to be delivered in its form, as a list of words."""
    needed = {
        "api": ("owners", "tests"),
        "test": ("tests",),
        "figure": ("figures", "tests"),
        "notebook": ("notebooks",),
        "note": ("notebooks",),
    }[claim.form]
    return [each.removesuffix("s") for each in needed if claim.id not in getattr(citations, each)]


def _collect(paths, read):
    """Who cites what, by id, as `read` finds it in each file."""
    found = defaultdict(list)
    for path in sorted(paths):
        for name, ids in read(path):
            for claim_id in ids:
                found[claim_id].append(name)
    return dict(found)


def _owned(path):
    """(name, ids) of every docstring of a module that has a line "Claims:"."""
    for name, node in _definitions(ast.parse(path.read_text(encoding="utf-8")), f"{path.stem}."):
        _, line, ids = (ast.get_docstring(node) or "").rpartition("\nClaims: ")
        if line:
            yield name, ID.findall(ids)


def _definitions(tree, prefix):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, f"{prefix}{node.name}.")


def _marked(path):
    """(name, ids) of every test of a file that is marked with claims."""
    for function, call in _decorators(path, "claims"):
        yield f"{path.name}::{function.name}", ID.findall(ast.unparse(call))


def _registered(path):
    """(name, ids) of every figure that a script registers."""
    for _, call in _decorators(path, "figure"):
        ids = [ast.unparse(k.value) for k in call.keywords if k.arg == "claims"]
        yield f"{path.stem}/{call.args[0].value}", ID.findall(" ".join(ids))


def _decorators(path, name):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == name:
                    yield node, call


def _anchored(path):
    """(name, ids) of the markdown cells of a notebook with the anchors of claims."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            anchors = ANCHOR.findall("".join(cell["source"]))
            yield path.name, [anchor for anchor in anchors if ID.fullmatch(anchor)]


# ---------------------------------------------------------------------------------------
# What is printed
# ---------------------------------------------------------------------------------------


def print_contents():
    """The contents page."""
    print("mlnotes: five sets of machine learning lecture notes in numpy, a module per chapter\n")
    for number, (chapter, line) in enumerate(CHAPTERS.items(), start=1):
        print(f"{number:3}  {chapter:20} {line}{'' if is_written(chapter) else '  (to come)'}")
    print("     datasets             data to learn from, real and made\n")
    print(__doc__.split("\n\n")[1])


def print_claims(claims, citations):
    """Every claim with its sources, and who computes, checks, draws or works it."""
    for claim in claims:
        title = f"{claim.id} ({claim.kind}) "
        print(fill(title + claim.statement, WIDTH, subsequent_indent="    "))
        print(fill(claim.sources, WIDTH, initial_indent="    in  ", subsequent_indent="        "))
        for verb, names in zip(("computed", "checked", "drawn", "worked"), citations, strict=True):
            for name in dict.fromkeys(names.get(claim.id, ())):
                print(f"    {verb} by  {name}")
        print()


def print_progress(claims, citations):
    """A line per written chapter: what is delivered, and what each missing claim lacks."""
    every = [claim for claim in claims.values() if is_written(claim.chapter)]
    lacking = {claim.id: missing(claim, citations) for claim in every}
    for chapter in dict.fromkeys(claim.chapter for claim in every):
        own = [claim.id for claim in every if claim.chapter == chapter]
        print(f"{chapter:20} {sum(not lacking[i] for i in own):4} / {len(own):3}")
        for i in own:
            if lacking[i]:
                print(f"    {i} lacks {', '.join(lacking[i])}")
    print(f"{'delivered':20} {sum(not lack for lack in lacking.values()):4} / {len(every):3}")
    if IN_WORK:
        print("chapters in work:", ", ".join(IN_WORK))
    to_come = [chapter for chapter in CHAPTERS if not is_written(chapter)]
    if to_come:
        rest = len(claims) - len(every)
        print(f"{len(to_come)} chapters with {rest} more claims are to come: {', '.join(to_come)}")


def main(query=""):
    """Answer the query; a line of help, as the exit status, if there is no answer."""
    if not query:
        return print_contents()
    claims, citations = load_claims(), read_citations()
    if query == "claims":
        return print_progress(claims, citations)
    if query == "errata":
        found = [claim for claim in claims.values() if claim.kind == "erratum"]
    else:
        found = [claim for claim in claims.values() if query in (claim.chapter, claim.id)]
    found = found or [claim for claim in claims.values() if matches(claim, query)]
    found = found or [c for c in claims.values() if query.lower() in c.statement.lower()]
    if not found:
        return f"nothing found for {query!r}: try a chapter, a source as 'IRHD 1.10', or a word"
    return print_claims(found, citations)


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
