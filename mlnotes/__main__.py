"""The index of the book: what the notes state, where it is computed and where it is checked.

    python -m mlnotes                  the contents page
    python -m mlnotes mixture          a chapter: each statement, its function, test and passage
    python -m mlnotes errata           every slip of the notes; errata svm, those of a chapter
    python -m mlnotes "IRHD 1.10"      the statements of an equation, a section or a theorem
    python -m mlnotes "mistake bound"  the statements that contain these words
    python -m mlnotes claims           how much of each chapter is delivered, and what is missing

The statements are in ``data/claims.csv``, with the derivations that the notebooks walk through and
the algorithms that they show. What delivers them is read from the sources (see `Citations`) in a
clone of the repository. An installed package has no tests, figures and notebooks.
"""

import ast
import csv
import errno
import json
import os
import re
import sys
from collections import defaultdict
from functools import cache
from itertools import zip_longest
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from mlnotes import CHAPTERS
from mlnotes.reading import passages, shown, walks

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
ID = re.compile(r"\b[a-z_]+-[ws]?\d{2}\b")  # svm-40; its walk svm-w12; its algorithm svm-s03
NAME = 'name = "mlnotes"'  # how the project's own pyproject.toml is known
NUMBER = re.compile(r"\d+(?:\.\d+)*")
FORMULA = re.compile(r'\$[^$]*\$|"[^"]*"')  # or a quotation: its numbers are no places
KINDS = {  # what the sources write before a number; without it, the number is a section's
    "section": "section",
    "eq": "equation", "eqs": "equation", "equation": "equation", "equations": "equation",
    "thm": "theorem", "theorem": "theorem",
    "lem": "lemma", "lemma": "lemma",
    "def": "definition", "definition": "definition",
    "ex": "example", "example": "example",
    "fig": "figure", "figure": "figure",
    "table": "table",
    "footnote": "footnote",
    "step": "step",
}  # fmt: skip
TOKEN = re.compile(
    rf"(?<![\w.$^])(?:({NUMBER.pattern})(?:-({NUMBER.pattern}))?|([a-z]+))(?!\w)", re.I
)
WIDTH = 96


# --- What the notes state --------------------------------------------------------------


class Claim(NamedTuple):
    """One statement of the notes, one derivation to walk through, or one algorithm to show."""

    id: str
    kind: str
    form: str  # how it is delivered: a key of `FORMS`
    statement: str  # in Markdown, with formulas in TeX; of a slip, what is printed
    correct: str  # of a slip, what holds; "" for what is no slip
    sources: str
    of: str  # ids of the statements that a walk derives, or that an algorithm computes
    owner: str  # the function or class that computes it, such as "svm.smo", or ""

    @property
    def chapter(self):
        """The chapter that the claim belongs to."""
        return self.id.rpartition("-")[0]


@cache
def load_claims():
    """All claims by id, in the order of the chapters."""
    with (PACKAGE / "data" / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = [Claim(**row) for row in csv.DictReader(file)]
    return {claim.id: claim for claim in claims}


def places(source):
    """The numbers in a source, each with its kind: a set of texts.

    A number has the kind that is written before it, and so have the others of a list. A number
    that stands before a kind is a section's.

    >>> sorted(places("IRHD 3 eq 3.2-3.3, 3.5, 3.2 eq 3.15"))
    ['equation 3.15', 'equation 3.2', 'equation 3.3', 'equation 3.5', 'section 3', 'section 3.2']
    """
    found, kind, named = set(), "section", False  # named: a kind stands right before
    tokens = TOKEN.findall(FORMULA.sub(" ", source))
    for (first, last, word), following in zip_longest(tokens, tokens[1:], fillvalue=("", "", "")):
        if word.lower() in KINDS:
            kind, named = KINDS[word.lower()], True
        elif first:
            before_kind = following[2].lower() in KINDS
            own = "section" if before_kind and not named else kind
            found |= {f"{own} {number}" for number in _numbers(first, last or first)}
            named = False
    return found


def _numbers(first, last):
    """The numbers from first to last; they count in their last place."""
    stem, dot, low = first.rpartition(".")
    high = last.rpartition(".")[2]
    return [first, *(f"{stem}{dot}{k}" for k in range(int(low) + 1, int(high) + 1))]


def matches(claim, query):
    """The places in the sources of the claim that the query asks for: a set of texts.

    One source must have every word of the query. "IRHD 1.1" finds section 1.1 and equation 1.1 of
    IRHD (not 1.10), "IRHD eq 1.1" only the equation, "IRHD 1" also the sections of chapter 1. If
    the query has no number, a source that matches is the place "".
    """
    words = query.split()
    numbers = [word.strip("()") for word in words if NUMBER.fullmatch(word.strip("()"))]
    kinds = {KINDS[word.lower()] for word in words if numbers and word.lower() in KINDS}
    texts = [w.lower() for w in words if w.strip("()") not in numbers]
    texts = [text for text in texts if not (kinds and text in KINDS)]
    found = set()
    for source in claim.sources.split(";"):
        if all(text in source.lower() for text in texts):
            hits = [_asked(source, number, kinds) for number in numbers]
            found |= set().union(*hits) if all(hits) else set()
            found |= set() if numbers else {""}
    return found


def _asked(source, number, kinds):
    """The places of the source with this number: as equation, as section, and so on."""
    found = {place.split()[0] for place in places(source) if place.split()[1] == number}
    if "." not in number and any(f"section {number}." in place for place in places(source)):
        found.add("section")
    return {f"{kind} {number}" for kind in found if not kinds or kind in kinds}


# --- What delivers it ------------------------------------------------------------------

STATED = {  # the forms of the notes' statements, with the citations that deliver them
    "api": ("owner", "tests"),
    "test": ("tests",),
    "figure": ("figures", "tests"),
    "notebook": ("notebooks",),
    "note": ("notebooks",),
}
FORMS = STATED | {"walk": ("walks",), "shown": ("shown",)}


class Citations(NamedTuple):
    """What delivers the claims: for each id, a list of names."""

    tests: dict  # tests with its marker
    figures: dict  # figures that are registered with it
    notebooks: dict  # passages where its anchor stands, <a id="svm-40"></a>
    walks: dict  # passages that walk through it: with numbered lines, and a cell that checks them
    shown: dict  # notebooks that show the source of its function


@cache
def read_citations(root=ROOT, chapters=()):
    """The citations in the sources below `root`, of all claims or of these `chapters` at least.

    A folder without the ``pyproject.toml`` of this project has none.
    """
    project = root / "pyproject.toml"
    if not (project.is_file() and NAME in project.read_text(encoding="utf-8")):
        return Citations({}, {}, {}, {}, {})
    words = [f"{chapter}-" for chapter in chapters] or [""]
    return Citations(
        _collect(root.glob("tests/test_*.py"), _marked, words),
        _collect(root.glob("figures/*.py"), _registered, words),
        _collect(root.glob("notebooks/*.ipynb"), _anchored, words),
        _collect(root.glob("notebooks/*.ipynb"), _walked, words),
        _collect(root.glob("notebooks/*.ipynb"), _shown, ["show("]),
    )


def missing(claim, citations):
    """What is missing to deliver the claim in its form: a list of kinds of citations."""
    cited = citations._asdict() | {"owner": {claim.id} if claim.owner else set()}
    return [each.removesuffix("s") for each in FORMS[claim.form] if claim.id not in cited[each]]


def _collect(paths, read, words):
    """The citations that `read` finds in files with one of the `words`: by id, a list of names."""
    found = defaultdict(list)
    for path in sorted(paths):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            for name, ids in read(path.name, text):
                for claim_id in ids:
                    found[claim_id].append(name)
    return dict(found)


def _marked(file, text):
    """(name, ids) of every test of a file that is marked with claims."""
    for function, call in _decorators(text, "claims"):
        yield f"{file}::{function.name}", ID.findall(ast.unparse(call))


def _registered(file, text):
    """(name, ids) of every figure that a script registers."""
    for _, call in _decorators(text, "figure"):
        ids = [ast.unparse(k.value) for k in call.keywords if k.arg == "claims"]
        yield f"{file.removesuffix('.py')}/{call.args[0].value}", ID.findall(" ".join(ids))


def _decorators(text, name):
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] == name:
                    yield node, call


def _anchored(file, text):
    """(passage, ids) of every anchor of a claim in a notebook."""
    for anchor, section in passages(_cells(text)):
        if ID.fullmatch(anchor):
            yield f"{file}, {section}", [anchor]


def _walked(file, text):
    """(passage, ids) of every walk of a notebook that lacks nothing."""
    for walk in walks(_cells(text)):
        if not walk.lacks:
            ids = [anchor for anchor in walk.anchors if ID.fullmatch(anchor)]
            yield f"{file}, Walk {walk.number}. {walk.title}", ids


def _shown(file, text):
    """(name, ids) of the algorithms that a notebook shows."""
    yield file, algorithms_shown(_cells(text))


def algorithms_shown(cells):
    """The ids of the algorithms whose functions the cells of a notebook show.

    The function is the owner of the algorithm itself, or of a statement that it computes.
    """
    names, claims = shown(cells), load_claims()
    found = []
    for claim in claims.values():
        if claim.form == "shown":
            owners = {claims[i].owner for i in (claim.id, *claim.of.split())} - {""}
            if any(f"{name}.".startswith(f"{owner}.") for owner in owners for name in names):
                found.append(claim.id)
    return found


@cache
def _cells(text):
    return json.loads(text)["cells"]


# --- What is printed -------------------------------------------------------------------


def print_contents():
    """Print the contents page."""
    print("mlnotes: five sets of machine learning lecture notes in numpy, a module per chapter\n")
    for number, (chapter, line) in enumerate(CHAPTERS.items(), start=1):
        print(f"{number:3}  {chapter:20} {line}")
    print("     datasets             data to learn from, real and made\n")
    print(__doc__.split("\n\n")[1])


def print_claims(claims, citations):
    """Print every claim with its sources and with what computes, checks, draws and tells it."""
    walked = _walks_of(citations)
    for claim in claims:
        title = f"{claim.id} ({claim.kind}) "
        said = " Correct: ".join(filter(None, (claim.statement, claim.correct)))
        print(fill(title + said, WIDTH, subsequent_indent="    "))
        print(fill(claim.sources, WIDTH, initial_indent="    in  ", subsequent_indent="        "))
        for how, names in {
            "computed by": [claim.owner] if claim.owner else [],
            "checked by": citations.tests.get(claim.id),
            "drawn by": citations.figures.get(claim.id),
            "told in": citations.notebooks.get(claim.id),
            "walked in": walked.get(claim.id),
            "shown in": citations.shown.get(claim.id),
        }.items():
            for name in dict.fromkeys(names or ()):
                print(f"    {how}  {name}")
        print()


def _walks_of(citations):
    """The passages that walk through a statement of the notes, by the statement's id."""
    passages_of = defaultdict(list)
    for claim in load_claims().values():
        if claim.form == "walk":
            for stated in claim.of.split():
                passages_of[stated] += citations.walks.get(claim.id, ())
    return passages_of


def print_progress(claims, citations):
    """Print what each chapter delivers, and what is missing.

    Missing walks and algorithms are listed only for a chapter that has at least one of them.
    """
    every = list(claims.values())
    lacking = {claim.id: missing(claim, citations) for claim in every}
    for chapter in dict.fromkeys(claim.chapter for claim in every):
        own = [claim for claim in every if claim.chapter == chapter]
        print(_counts(chapter, own, lacking))
        begun = any(not lacking[claim.id] for claim in own if claim.form not in STATED)
        for claim in own:
            if lacking[claim.id] and (begun or claim.form in STATED):
                print(f"    {claim.id} lacks {', '.join(lacking[claim.id])}")
    print(_counts("delivered", every, lacking))


def _counts(title, claims, lacking):
    """A line with delivered / total of the statements, the walks and the algorithms."""
    groups = {"": tuple(STATED), "   walks ": ("walk",), "   shown ": ("shown",)}
    line = f"{title:20} "
    for name, forms in groups.items():
        own = [claim.id for claim in claims if claim.form in forms]
        line += f"{name}{sum(not lacking[i] for i in own):4} / {len(own):3}"
    return line


def find(claims, query):
    """The claims that the query asks for.

    Returns: a list of (title, claims). A title is a place as "theorem 8.2", or "" without a number.
    """
    every = list(claims.values())
    word, _, chapter = query.partition(" ")
    if word == "errata" and chapter in ("", *(claim.chapter for claim in every)):
        slips = [claim for claim in every if claim.kind == "erratum"]
        return [("", [claim for claim in slips if chapter in ("", claim.chapter)])]
    found = [claim for claim in every if query in (claim.chapter, claim.id)]
    if found:
        return [("", found)]
    groups = defaultdict(list)
    for claim in every:
        for place in matches(claim, query):
            groups[place].append(claim)
    if groups:
        return sorted(groups.items())
    found = [c for c in every if query.lower() in f"{c.statement} {c.correct}".lower()]
    return [("", found)] if found else []


def main(query=""):
    """Print the answer to a query.

    Returns: None, or a line of help for the exit status if nothing is found.
    """
    if not query:
        return print_contents()
    claims = load_claims()
    if query == "claims":
        return print_progress(claims, read_citations())
    groups = find(claims, query)
    if not groups:
        return f"nothing found for {query!r}: try a chapter, a source as 'IRHD 1.10', or a word"
    asked = {claim.id for _, found in groups for claim in found}
    cited = [c for c in claims.values() if c.id in asked or asked & set(c.of.split())]
    citations = read_citations(ROOT, frozenset(claim.chapter for claim in cited))
    for title, found in groups:
        if title:
            print(f"--- {title} {'-' * (WIDTH - len(title) - 5)}\n")
        print_claims(found, citations)
    return None


def run():
    """Answer the query of the command line, and exit."""
    try:
        status = main(" ".join(sys.argv[1:]))
        sys.stdout.flush()
    except OSError as error:  # a reader such as head may close the pipe before the end
        if error.errno not in (errno.EPIPE, errno.EINVAL):  # EINVAL: a closed pipe on Windows
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        status = None
    sys.exit(status)


if __name__ == "__main__":
    run()
