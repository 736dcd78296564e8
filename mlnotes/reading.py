"""What a notebook shows of the package, and what the index reads in a notebook.

Contents
    Code on the page      source, show, public_names
    Figures               show_figure
    Exercises             check, equivalents, fingerprint
    A notebook read       passages, walks, Walk, shown, captions, headings

Symbols
    functions    Python functions or classes, defined in a file
    fig          a figure of matplotlib
    alt          a sentence that says what the figure shows, for readers who cannot see it
    exercise     the id of an exercise or of a part of it, such as "svm-x01a"
    cells        the cells of a notebook, as dictionaries
"""

import ast
import inspect
import json
import re
from functools import cache
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple
from zlib import crc32

import numpy as np

ANSWERS = Path(__file__).resolve().parent / "data" / "answers.json"  # notebooks/answers.py
APPENDIX = "Slips in the notes"  # the last section of every notebook
NEAR = 4  # a walk is checked within so many cells after the one with its heading
FEWEST_LINES = 3  # a derivation with fewer lines is not a walk
ANCHOR = re.compile(r'<a id="([^"]*)"></a>')
FENCED = re.compile(r"^```.*?^```", re.M | re.S)  # code in markdown: its comments are not headings
HEADING = re.compile(r'(?:<a id="[^"]*"></a>\s*)*^(#+) +(.*?) *$', re.M)  # and anchors above it
MARK = re.compile(f"{HEADING.pattern}|{ANCHOR.pattern}", re.M)
FORMATTER = re.compile(r" *# fmt: skip$")
WALK = re.compile(r"Walk (\d+)\. +(\S.*)")
LINE = re.compile(r"^ *&\((\d+)\) *&(.*?)(?=^ *&\(\d+\)|\\end\{|\Z)", re.M | re.S)
LINE_CHECKED = re.compile(r"# \((\d+)\)")
CAPTION = re.compile(r"^\*\*Figure (\d+)\.(\d+)\.?\*\*(.*?)(?=\n\s*\n|\Z)", re.M | re.S)


# --- Code on the page ------------------------------------------------------------------


def source(function):
    """The source text of a function or class, without docstrings and marks for a formatter.

    >>> print(source(source).splitlines()[0])
    def source(function):
    """
    text = dedent(inspect.getsource(function))
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            end = first.end_lineno
            while end < len(lines) and not lines[end].strip():
                end += 1
            stays = "" if len(node.body) > 1 else " " * first.col_offset + "..."
            lines[first.lineno - 1 : end] = [stays or None] + [None] * (end - first.lineno)
    return "\n".join(FORMATTER.sub("", line) for line in lines if line is not None)


def show(*functions):
    """Display the source of the `functions` as one block of Python code in a notebook."""
    from IPython.display import display

    code = "\n\n\n".join(source(function) for function in functions)
    display({"text/markdown": f"```python\n{code}\n```", "text/plain": code}, raw=True)


def public_names(module):
    """The names that a module offers, in the order of the contents list of its docstring.

    >>> import mlnotes.ica
    >>> public_names(mlnotes.ica)[-1]
    'FastICA'

    Raises: ValueError if the module has no contents list.
    """
    _, there, rest = (module.__doc__ or "").partition("\nContents\n")
    if not there:
        raise ValueError(f"{module.__name__} must have a contents list in its docstring")
    lines = rest.partition("\n\n")[0].splitlines()
    ends = [line.strip().rpartition("  ")[2] for line in lines]  # without the title of a section
    return [name for end in ends for name in re.findall(r"\w+", end)]


# --- Figures ---------------------------------------------------------------------------


def show_figure(fig, alt):
    """Display the figure once, with `alt` as the alternative text of its picture.

    Raises: ValueError if `alt` has no words.
    """
    from IPython.display import display
    from matplotlib import pyplot as plt

    if not alt.strip():
        raise ValueError("alt must say what the figure shows")
    display(fig, metadata={"image/png": {"alt": alt}})
    plt.close(fig)  # otherwise the notebook would display it again at the end of the cell


# --- Exercises -------------------------------------------------------------------------


def check(exercise, answer):
    """Print whether `answer` is right, in one sentence; `...` stands for no answer yet.

    A number may be an int, a float, a fraction or a bool, and several may be a list, a tuple or an
    array. A typical mistake gets a hint. The package holds only a `fingerprint` of each answer.

    Raises: ValueError if the exercise has no check.

    >>> check("perceptron-x01b", [1, 2])
    Not right yet: expected one number, got 2 numbers.
    """
    known = _entries()
    if exercise not in known:
        chapter = str(exercise).partition("-x")[0]
        others = [other for other in known if other.startswith(f"{chapter}-x")]
        there = ", ".join(others) or f"no exercise of a chapter {chapter!r}"
        raise ValueError(f"{exercise!r} has no check; those that have one: {there}")
    print(_verdict(exercise, answer, known[exercise]))  # noqa: T201


@cache
def _entries():
    """What the file holds, by exercise."""
    return json.loads(ANSWERS.read_text(encoding="utf-8"))


def equivalents(answer, kind=""):
    """The forms of an answer that mean the same, as a list of arrays of numbers.

    Axes of length 1 are dropped. The `kind` says in which respect an answer is not unique: "sign",
    "scale" (a factor other than 0), "order" of the numbers, or "labels" (names of groups). A word
    of the kind "words" becomes a number that depends on its letters.

    Raises: TypeError or ValueError if the answer does not consist of numbers.

    >>> equivalents([[0], [2]], "scale")
    [array([0., 1.]), array([-0., -1.])]
    """
    array = np.asarray(list(answer) if isinstance(answer, set) else answer).squeeze()
    if kind in ("labels", "words"):
        return [np.reshape(_NUMBERED[kind](array.ravel().tolist()), array.shape)]
    if array.dtype.kind in "USmMc":  # numpy would make real numbers of these
        raise TypeError("text, dates or complex numbers")
    numbers = array.astype(float)
    if kind == "order":
        return [np.sort(numbers, axis=None)]
    if kind == "scale":
        numbers = numbers / (np.linalg.norm(numbers) or 1.0)
    return [numbers, -numbers] if kind in ("sign", "scale") else [numbers]


def fingerprint(exercise, numbers, tol, phases):
    """A hash by which an answer is recognised and from which it is not read off.

    The numbers are rounded to a grid with the step 3 `tol`, shifted by a quarter of a step times
    the phase 0, 1, 2 or 3 of each number. The phases are chosen for the right numbers: what is off
    by `tol` or less has the same fingerprint, and what is off by 2 `tol` or more has another one.

    >>> fingerprint("svm-x01", [0.5, 2], 0.1, "33") == fingerprint("svm-x01", [0.6, 1.9], 0.1, "33")
    True
    """
    shifts = np.array([int(phase) for phase in phases]) / 4
    cells = np.rint(np.ravel(numbers) / (3 * tol) - shifts) + 0.0  # + 0.0 turns -0 into 0
    text = ",".join([exercise, *(f"{cell:.0f}" for cell in cells)])
    return sha256(text.encode()).hexdigest()[:32]


def _verdict(exercise, answer, entry):
    """What `check` prints, given the entry of the exercise in the file."""
    if answer is ... or answer is None:
        return f"No answer yet: enter {entry['enter']}."
    noun = "word" if entry["kind"] == "words" else "number"
    expected = _in_words(entry["shape"], noun)
    try:
        forms = equivalents(answer, entry["kind"])
    except (TypeError, ValueError):
        return f"Not right yet: expected {expected}, got something else."
    if list(forms[0].shape) != entry["shape"]:
        return f"Not right yet: expected {expected}, got {_in_words(forms[0].shape, noun)}."
    if not np.isfinite(forms[0]).all():
        return "Not right yet: there is a NaN or an infinite number in your answer."
    for phases, digest, said in entry["known"]:
        if any(fingerprint(exercise, form, entry["tol"], phases) == digest for form in forms):
            return said
    return "Not right yet."


def _in_words(shape, noun):
    """A shape in words, such as "3 numbers"."""
    if len(shape) > 1:
        return f"an array of shape {tuple(shape)}"
    return f"{shape[0]} {noun}s" if len(shape) else f"one {noun}"


_NUMBERED = {  # what stands for labels, and for words
    "labels": lambda labels: [float(labels.index(label)) for label in labels],
    "words": lambda words: [float(crc32(str(word).strip().casefold().encode())) for word in words],
}


# --- A notebook read -------------------------------------------------------------------


class Walk(NamedTuple):
    """A derivation that a notebook carries out line by line, under a heading ``### Walk n. ...``.

    The numbered lines have the form ``&(1) & left &= right && \\text{reason}``.
    """

    number: int
    title: str
    anchors: tuple  # those in the heading or directly above it
    lines: tuple  # the numbers of its lines
    reasons: int  # how many of its lines have a reason
    checked: frozenset  # the lines that are named in a code cell soon after, as ``# (2)``

    @property
    def lacks(self):
        """What it lacks to count as a walk, as a list of words."""
        count = len(self.lines)
        found = {
            "anchor": bool(self.anchors),
            f"{FEWEST_LINES} lines or more, numbered from 1": (
                count >= FEWEST_LINES and self.lines == tuple(range(1, count + 1))
            ),
            "reasons beside its lines": self.reasons >= count - 1,  # the last may be the result
            "cell that checks its lines": bool(self.checked & set(self.lines)),
        }
        return [what for what, there in found.items() if not there]


def headings(cell):
    """The headings of a markdown cell: a list of (level, text), without anchors.

    >>> headings({"cell_type": "markdown", "source": "# A title\\n\\n## A section"})
    [(1, 'A title'), (2, 'A section')]
    """
    return [(len(m[1]), _plain(m[2])) for m in HEADING.finditer(_markdown(cell))]


def passages(cells):
    """Where the anchors of a notebook stand.

    Yields: (anchor, the text of the heading that it belongs to), in order.
    """
    section = ""
    for cell in cells:
        for mark in MARK.finditer(_markdown(cell)):
            section = _plain(mark[2]) if mark[1] else section
            yield from ((anchor, section) for anchor in ANCHOR.findall(mark[0]))


def walks(cells):
    """The walks of a notebook before its appendix, in order: a list of `Walk`."""
    cells = list(takewhile(lambda cell: (2, APPENDIX) not in headings(cell), cells))
    found = []
    for i, cell in enumerate(cells):
        text = _markdown(cell)
        for heading in HEADING.finditer(text):
            walk = WALK.fullmatch(_plain(heading[2]))
            if walk and len(heading[1]) == 3:
                own, *later = HEADING.split(text[heading.end() :], maxsplit=1)
                following = list(takewhile(lambda cell: not headings(cell), cells[i + 1 :]))
                told = [own, *([] if later else map(_markdown, following))]
                lines = LINE.findall("\n".join(told))
                checks = "\n".join(_code(each) for each in following[:NEAR])
                found.append(
                    Walk(
                        number=int(walk[1]),
                        title=walk[2],
                        anchors=tuple(ANCHOR.findall(heading[0])),
                        lines=tuple(int(number) for number, _ in lines),
                        reasons=sum("&&" in line for _, line in lines),
                        checked=frozenset(map(int, LINE_CHECKED.findall(checks))),
                    )
                )
    return found


def shown(cells):
    """The functions whose source a notebook shows, each as ``chapter.name``.

    >>> cell = "from mlnotes.mixture import em\\nfrom mlnotes.reading import show\\nshow(em)"
    >>> shown([{"cell_type": "code", "source": cell}])
    ['mixture.em']
    """
    homes, names = {}, []
    for cell in cells:
        brought, here = _brought_and_shown(_code(cell))
        homes |= brought
        names += here
    parts = [name.partition(".") for name in names]
    return [homes.get(first, first) + dot + rest for first, dot, rest in parts]


def captions(cells):
    """The captions of a notebook, ``**Figure 6.3.** ...``: a list of (chapter, number, words).

    >>> captions([{"cell_type": "markdown", "source": "**Figure 6.3.** A curve\\nand a line."}])
    [(6, 3, 'A curve and a line.')]
    """
    found = [match for cell in cells for match in CAPTION.findall(_markdown(cell))]
    return [(int(chapter), int(k), " ".join(words.split())) for chapter, k, words in found]


def _markdown(cell):
    return FENCED.sub("", "".join(cell["source"])) if cell["cell_type"] == "markdown" else ""


def _code(cell):
    """The Python of a code cell, without IPython's own lines; nothing for another cell."""
    lines = "".join(cell["source"]).splitlines() if cell["cell_type"] == "code" else []
    return "\n".join(line for line in lines if not line.startswith(("%", "!")))


@cache
def _brought_and_shown(code):
    """The names that the code imports, with what they are, and the names that it shows."""
    homes, names = {}, []
    if "mlnotes" not in code and "show(" not in code:
        return homes, names
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a cell that shows an error
        return homes, names
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            home = node.module.removeprefix("mlnotes").removeprefix(".")
            for alias in node.names:
                homes[alias.asname or alias.name] = f"{home}.{alias.name}".removeprefix(".")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "show":
            names += [ast.unparse(argument) for argument in node.args]
    return homes, names


def _plain(heading):
    return ANCHOR.sub("", heading).strip()
