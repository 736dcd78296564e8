"""What a notebook shows of the package, and what the index reads in a notebook.

Contents
    Code on the page      source, show, public_names
    Figures               show_figure
    Exercises             answer, check, equivalents, fingerprint
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

RIGHT, NOT_YET = "Right.", "Not right yet."
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


def answer(exercise, right, digits=1, words="", wrong=(), *, kind="", inputs=None):
    """Say in the solution of an exercise what its answer is, and print "Right.".

    `right` counts rounded to `digits` decimals; 1 is enough for whole numbers. The `words` say what
    to enter. `wrong` has typical mistakes with a hint each: a dictionary, or a list of pairs where
    a mistake is an array. For `kind` see `equivalents`. Where a function is asked for, `right` and
    the mistakes are functions, and `inputs` are tuples of arguments that no student sees.

    The metadata of the output hold what `check` needs: a `fingerprint` of each answer, the hints.

    Raises: ValueError if rounding decides, or if an answer does not get the sentence meant for it.

    """
    from IPython.display import display

    pairs = wrong.items() if isinstance(wrong, dict) else wrong
    known = [(right, RIGHT), *((each, f"{NOT_YET} {hint}") for each, hint in pairs)]
    if inputs is None:
        entry = _entry(exercise, known, digits, kind)
    else:
        lists = [[np.asarray(each).tolist() for each in arguments] for arguments in inputs]
        cases = [
            _entry(exercise, [(f(*_arrays(each)), said) for f, said in known], digits, kind)
            for each in lists
        ]
        entry = {"kind": "function", "inputs": lists, "cases": cases}
    entry["words"] = words + entry.pop("precision", "")
    for value, said in known:
        got = _verdict(exercise, value, entry)
        if got != said:
            raise ValueError(f"{exercise}: the answer {value!r} gets {got!r}; meant is {said!r}")
    display({"text/plain": RIGHT}, raw=True, metadata={"check": {exercise: entry}})


def check(exercise, answer):
    """Print whether `answer` is right, in one sentence; `...` stands for no answer yet.

    A number may be an int, a float, a fraction or a bool, and several may be a list, a tuple or an
    array. A typical mistake gets a hint. What is compared stands in the metadata of the cells of
    the notebooks in the working folder, as `make student` writes them.

    Raises: ValueError if no notebook there has the exercise.
    """
    entries = {}
    for path in sorted(Path().glob(f"*_{str(exercise).partition('-x')[0]}.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            entries |= cell["metadata"].get("check", {})
    if exercise not in entries:
        there = ", ".join(entries) or "no check at all"
        raise ValueError(f"no check of {exercise!r} in the notebook of its chapter: {there}")
    print(_verdict(exercise, answer, entries[exercise]))  # noqa: T201


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


def _entry(exercise, known, digits, kind):
    """What is kept of an answer that is no function; `known` has pairs (answer, what is said)."""
    numbers = [equivalents(value, kind)[0] for value, _ in known]
    right, tol = numbers[0], float(f"5e{-digits - 1}")
    if any(each.shape != right.shape for each in numbers):
        raise ValueError(f"{exercise}: the right answer and the mistakes differ in their shapes")
    prints = [
        [*_print(exercise, each, tol), said] for each, (_, said) in zip(numbers, known, strict=True)
    ]
    whole = np.allclose(right, np.rint(right), rtol=0, atol=1e-9) or kind in ("scale", "words")
    entry = {"kind": kind, "tol": tol, "shape": list(right.shape), "known": prints}
    if not whole and digits >= 0:
        entry["coarse"] = _print(exercise, right, 10 * tol)
        entry["precision"] = (
            f", to {digits} decimal{'s' * (digits > 1)}" if digits else ", to whole numbers"
        )
    return entry


def _print(exercise, numbers, tol):
    """The phases and the fingerprint of an answer."""
    quarters = 4 * np.ravel(numbers) / (3 * tol)
    phases = "".join(str(int(phase)) for phase in np.rint(quarters) % 4)
    if np.any(np.abs(quarters % 1 - 0.5) <= 1e-4):
        raise ValueError(f"{exercise}: rounding decides; choose other digits")
    return [phases, fingerprint(exercise, numbers, tol, phases)]


def _verdict(exercise, answer, entry):
    """What `check` prints, given the `entry` of the exercise."""
    if answer is ... or answer is None:
        return f"No answer yet: enter {entry['words']}."
    if entry["kind"] == "function":
        return _verdict_on_function(exercise, answer, entry)
    noun = "word" if entry["kind"] == "words" else "number"
    expected = f"Not right yet: expected {_in_words(entry['shape'], noun)}, got"
    try:
        forms = equivalents(answer, entry["kind"])
    except (TypeError, ValueError):
        text = any(isinstance(each, str) for each in np.asarray(answer, dtype=object).ravel())
        return f"{expected} {'text' if text else 'something else'}."
    if list(forms[0].shape) != entry["shape"]:
        return f"{expected} {_in_words(forms[0].shape, noun)}."
    if not np.isfinite(forms[0]).all():
        return "Not right yet: there is a NaN or an infinite number in your answer."

    for phases, digest, said in entry["known"]:
        if any(fingerprint(exercise, form, entry["tol"], phases) == digest for form in forms):
            return said
    return _near_miss(exercise, forms, entry)


def _near_miss(exercise, forms, entry):
    """What `check` prints of numbers that are neither right nor a typical mistake."""

    def agrees(numbers, tol, phases, digest):
        return fingerprint(exercise, numbers, tol, phases) == digest

    right, tol = entry["known"][0][:2], entry["tol"]
    if any(agrees(form[::-1], tol, *right) for form in forms if form.ndim == 1):
        return "Not right yet: the numbers are right, and their order is reversed."
    if any(form.T.shape == form.shape and agrees(form.T, tol, *right) for form in forms):
        return "Not right yet: rows and columns are exchanged."
    if "coarse" in entry and any(agrees(form, 10 * tol, *entry["coarse"]) for form in forms):
        return "Not right yet: this is close, and a digit is missing or wrong."
    return NOT_YET


def _verdict_on_function(exercise, function, entry):
    """What `check` prints where a function is asked for: the first thing that is not right."""
    if not callable(function):
        return "Not right yet: expected a function; enter its name without brackets."
    for arguments, case in zip(entry["inputs"], entry["cases"], strict=True):
        try:
            value = function(*_arrays(arguments))
        except Exception as error:  # of the student's code
            return f"Not right yet: your function raises {type(error).__name__}: {error}"
        if value is None or value is ...:
            return "Not right yet: your function returns nothing."
        said = _verdict(exercise, value, case)
        if said != RIGHT:
            return said.replace("your answer", "what your function returns")
    return RIGHT


def _arrays(lists):
    """The arguments of a function from lists of numbers."""
    return [np.array(each) if isinstance(each, list) else each for each in lists]


def _in_words(shape, noun):
    """A shape in words, such as "3 numbers"."""
    if len(shape) > 1:
        return f"an array of shape {tuple(shape)}"
    return f"{shape[0]} {noun}s" if len(shape) and shape[0] != 1 else f"one {noun}"


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


def is_solution(cell):
    """Whether a cell belongs to the solution of an exercise.

    >>> is_solution({"metadata": {"tags": ["solution"]}})
    True
    """
    return "solution" in cell["metadata"].get("tags", ())


def checks(cell):
    """What the `answer` calls of a solution's cell leave for `check`: a dict by exercise.

    >>> checks({"outputs": [{"metadata": {"check": {"svm-x01a": {"words": "the margin"}}}}]})
    {'svm-x01a': {'words': 'the margin'}}
    """
    found = {}
    for output in cell.get("outputs", ()):
        found |= output.get("metadata", {}).get("check", {})
    return found


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
