"""The notebooks without solutions, and the check that says whether an answer is right."""

import ast
import io
import json
import re
import sys
import zipfile
from fractions import Fraction
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
from test_notebooks import LINK, anchors_in

from mlnotes import CHAPTERS, reading
from mlnotes.reading import answer, check, checks, is_solution

sys.path.append(str(Path(__file__).parent.parent / "notebooks"))  # where student finds execute

import student

ROOT = Path(__file__).resolve().parent.parent
EXERCISE = re.compile(r"([a-z_]+)-x\d\d")


@cache
def notebook(chapter):
    number = list(CHAPTERS).index(chapter) + 1
    path = ROOT / "notebooks" / f"{number:02d}_{chapter}.ipynb"
    return nbformat.read(path, as_version=4)


def entries(notebook):
    """What the solutions of a notebook say of their answers, by exercise or part, in order."""
    found = {}
    for cell in filter(is_solution, notebook.cells):
        found |= checks(cell)
    return found


# --- What the check says ---------------------------------------------------------------


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    """A function that asks for an answer in a notebook of its own, and tells what check says."""
    monkeypatch.chdir(tmp_path)

    def ask(right, *given, digits=1, words="the answer", **how):
        shown = []
        monkeypatch.setattr("IPython.display.display", lambda *a, **k: shown.append(k["metadata"]))
        answer("ica-x09", right, digits, words, **how)
        cell = {"cell_type": "code", "metadata": shown[0], "source": ""}
        (tmp_path / "27_ica.ipynb").write_text(json.dumps({"cells": [cell]}))
        said = []
        for each in given:
            check("ica-x09", each)
            said.append(capsys.readouterr().out.strip())
        return said

    return ask


def test_check_takes_what_rounds_to_the_right_answer_and_nothing_beyond(asked):
    for right in (0.25, -1.7, [0.2, 31.4], np.eye(2) / 3):
        right = np.array(right)
        off = right.copy()
        off.flat[0] += 0.0011
        near, beyond = right + 0.0005, off
        assert asked(right, right, near, digits=3, words="it") == ["Right.", "Right."]
        assert asked(right, beyond, digits=3)[0].startswith("Not right yet: this is close")
        assert asked(right, right + 0.3, digits=3) == ["Not right yet."]


def forms(numbers):
    yield from (numbers, tuple(numbers), np.array(numbers), np.array(numbers)[:, None])
    yield from (np.array([numbers]), [Fraction(x).limit_denominator(10**6) for x in numbers])
    yield from ([np.float64(x) for x in numbers], np.repeat(numbers, 2)[::2])
    yield np.array(numbers, dtype=object)


def test_check_takes_every_form_that_means_the_same(asked):
    assert set(asked([1.2, 0.7], *forms([1.2, 0.7]))) == {"Right."}
    numbers = (19, 19.0, np.int64(19), Fraction(19), [19], [[19]], np.array(19), True + 18)
    assert set(asked(19, *numbers)) == {"Right."}
    table = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert set(asked(table, np.asfortranarray(table), table.tolist())) == {"Right."}
    assert set(asked([False, True], [0, 1], np.array([False, True]))) == {"Right."}


@pytest.mark.parametrize(
    "kind, right, same, other",
    [
        ("sign", [0.6, -0.8], [-0.6, 0.8], [0.6, 0.8]),
        ("scale", [3, -4], [-6, 8], [4, -3]),
        ("order", [1, 2, 3], {3, 1, 2}, [1, 2, 4]),
        ("labels", [0, 0, 1], list("xxy"), [1, 0, 1]),
        ("words", ["a", "B"], [" A", "b"], ["b", "a"]),
    ],
)
def test_check_takes_what_is_not_unique_in_any_way(asked, kind, right, same, other):
    said = asked(right, same, other, digits=2, kind=kind)
    assert said[0] == "Right." and said[1].startswith("Not right yet")


def test_check_tells_a_typical_mistake_by_its_hint(asked):
    said = asked(2, 4, 3, wrong={4: "This is the square."})
    assert said == ["Not right yet. This is the square.", "Not right yet."]
    pairs = [([2, 2], "Both are twice as large.")]
    assert asked([1, 1], [2, 2], wrong=pairs) == ["Not right yet. Both are twice as large."]


def test_check_names_what_is_missing(asked):
    two = [1.234, 0.7]
    for given, said in (
        (3, "expected 2 numbers, got one number."),
        ([1, 2, 3], "expected 2 numbers, got 3 numbers."),
        ("1.234", "expected 2 numbers, got text."),
        (["1.234", "0.7"], "expected 2 numbers, got text."),
        (np.eye(2), "expected 2 numbers, got an array of shape (2, 2)."),
        ([1.2, [0.7]], "expected 2 numbers, got something else."),
        ([1.234, 0.7j], "expected 2 numbers, got something else."),
        (check, "expected 2 numbers, got something else."),
        ([1.234, np.nan], "there is a NaN or an infinite number in your answer."),
        ([0.7, 1.234], "the numbers are right, and their order is reversed."),
        ([1.23, 0.7], "this is close, and a digit is missing or wrong."),
    ):
        assert asked(two, given, digits=3) == [f"Not right yet: {said}"]
    assert (
        asked(two, None, ..., digits=3) == ["No answer yet: enter the answer, to 3 decimals."] * 2
    )
    assert asked([[1, 2], [3, 4]], [[1, 3], [2, 4]]) == [
        "Not right yet: rows and columns are exchanged."
    ]


def test_check_runs_a_function_on_inputs_that_its_writer_does_not_see(asked):
    inputs = [(np.array([3.0, 4.0]), 2), (np.array([1.0, -2.0]), 1)]

    def norm(x, p):
        return np.sum(np.abs(x) ** p) ** (1 / p)

    def always_two(x, p):
        return np.sqrt(x @ x)

    def fails(x, p):
        return x[2]

    hints = [(always_two, "The power p is not always 2.")]
    said = asked(norm, norm, always_two, fails, lambda x, p: None, lambda x, p: x, 5.0,
                 digits=3, inputs=inputs, wrong=hints)  # fmt: skip
    assert said == [
        "Right.",
        "Not right yet. The power p is not always 2.",
        "Not right yet: your function raises IndexError: "
        "index 2 is out of bounds for axis 0 with size 2",
        "Not right yet: your function returns nothing.",
        "Not right yet: expected one number, got 2 numbers.",
        "Not right yet: expected a function; enter its name without brackets.",
    ]


def test_answer_refuses_what_rounding_would_decide_and_a_hint_that_nobody_gets(asked):
    with pytest.raises(ValueError, match="ica-x09: rounding decides; choose other digits"):
        asked(0.375 * 0.05, digits=1)
    with pytest.raises(ValueError, match="gets 'Right.'; meant is 'Not right yet. Too many"):
        asked(2, wrong={2.01: "Too many."})
    with pytest.raises(ValueError, match="differ in their shapes"):
        asked(2, wrong=[([2, 3], "Two.")])


def test_a_check_that_no_notebook_has_is_an_error_that_names_the_others(asked):
    asked(1)
    with pytest.raises(ValueError, match="no check of 'ica-x07' .*: ica-x09"):
        check("ica-x07", 1)
    with pytest.raises(ValueError, match="no check of 'perzeptron-x01' .*: no check at all"):
        check("perzeptron-x01", 1)


# --- The answers of the notebooks ------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_answers_of_a_chapter_belong_to_its_exercises_and_are_only_fingerprints(chapter):
    found, exercise = entries(notebook(chapter)), None
    for cell in notebook(chapter).cells:
        ids = [a for a in reading.ANCHOR.findall(cell.source) if EXERCISE.fullmatch(a)]
        exercise = ids[-1] if ids else exercise
        if is_solution(cell):
            assert all(part.startswith(exercise) for part in checks(cell)), exercise
    assert len(found) >= 4
    for part, entry in found.items():
        answers = {}  # a wrong function may be right in some cases
        for case in entry.get("cases", [entry]):
            for phases, digest, said in case["known"]:
                assert re.fullmatch("[0-3]*", phases) and re.fullmatch("[0-9a-f]{32}", digest)
                assert said.endswith((".", "?"))
                answers.setdefault(said, []).append(digest)
        assert len(set(map(tuple, answers.values()))) == len(answers), part


# --- The notebooks to hand out ---------------------------------------------------------


@pytest.fixture(scope="module")
def handed_out():
    return student.files()


@pytest.fixture(scope="module")
def unpacked(handed_out, tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    student.write(folder / "student.zip", handed_out)
    zipfile.ZipFile(folder / "student.zip").extractall(folder)
    return folder / student.TOP


def test_chapters_are_chosen_and_solutions_stay_in_the_instructor_s_edition():
    chosen, whole = student.files(["svm"]), student.files(["svm"], solutions=True)
    assert [name for name in chosen if name.endswith(".ipynb")] == ["notebooks/19_svm.ipynb"]
    source = (ROOT / "notebooks" / "19_svm.ipynb").read_bytes()
    assert whole["notebooks/19_svm.ipynb"] == source != chosen["notebooks/19_svm.ipynb"]
    with pytest.raises(ValueError, match="chapters must be of .*svm.*; got vsm"):
        student.files(["vsm"])


def pairs(unpacked):
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        yield nbformat.read(path, as_version=4), unpacked / "notebooks" / path.name


def lines_of(cell):
    """The lines of what a cell says and prints."""
    printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
    return {line.strip() for line in f"{cell.source}\n{printed}".splitlines()}


def leaks(whole, lines):
    """The longer lines of the solutions of a notebook that are among some lines."""
    solutions = [cell for cell in whole.cells if is_solution(cell)]
    others = [cell for cell in whole.cells if not is_solution(cell)]
    own = set().union(*map(lines_of, solutions)) - set().union(*map(lines_of, others))
    return [line for line in own if len(line) > 15 and line in lines]


def test_no_solution_is_handed_out(unpacked):
    seen = 0
    for whole, path in pairs(unpacked):
        cells = nbformat.read(path, as_version=4).cells
        assert leaks(whole, set().union(*map(lines_of, cells))) == []
        pictures = [o["data"]["image/png"] for c in cells for o in c.get("outputs", [])
                    if "image/png" in o.get("data", {})]  # fmt: skip
        for cell in filter(is_solution, whole.cells):
            seen += 1
            assert cell.source not in path.read_text(encoding="utf-8")
            for output in cell.get("outputs", []):
                assert output.get("data", {}).get("image/png") not in pictures
        assert not any(is_solution(cell) for cell in cells)
    assert seen > 200


def test_a_leak_is_seen():
    cells = notebook("perceptron").cells
    assert len(leaks(notebook("perceptron"), set().union(*map(lines_of, cells)))) > 20


def test_everything_but_the_solutions_is_handed_out(unpacked):
    for whole, path in pairs(unpacked):
        given = nbformat.read(path, as_version=4)
        nbformat.validate(given)
        kept = [cell for cell in whole.cells if not is_solution(cell)]
        asked = [cell for cell in given.cells if "check" in cell.metadata]
        rest = [cell for cell in given.cells if cell not in asked]
        assert anchors_in(given) == anchors_in(nbformat.v4.new_notebook(cells=kept))
        assert [c.get("outputs") for c in rest if c.cell_type == "code"] == [
            c.get("outputs") for c in kept if c.cell_type == "code"
        ]
        gone = [c.source for c in kept if c.source not in {each.source for each in rest}]
        assert all(source.startswith("**Figure") for source in gone)
        parts = [re.search(r'check\("([^"]+)"', cell.source)[1] for cell in asked]
        assert [*entries(whole)] == parts == [part for c in asked for part in c.metadata["check"]]


def test_each_figure_that_is_handed_out_has_its_caption_and_no_other_has_one(unpacked):
    for _, path in pairs(unpacked):
        cells = nbformat.read(path, as_version=4).cells
        drawn = sum("image/png" in o.get("data", {}) for c in cells for o in c.get("outputs", []))
        linked = sum(len(re.findall(r"!\[", c.source)) for c in cells if c.cell_type == "markdown")
        assert len(reading.captions(cells)) == drawn + linked, path.stem


def test_every_link_leads_somewhere(unpacked):
    for _, path in pairs(unpacked):
        given = nbformat.read(path, as_version=4)
        for cell in given.cells:
            for target, anchor in LINK.findall(cell.source) if cell.cell_type == "markdown" else []:
                there = path.parent / target if target else given
                assert not target or there.exists(), (path.stem, target)
                assert not anchor or anchor in anchors_in(there), (path.stem, target, anchor)


def test_no_cell_that_is_handed_out_needs_a_solution(unpacked):
    """Names that only solutions define are not used outside of them."""
    for whole, path in pairs(unpacked):
        code = [cell for cell in whole.cells if cell.cell_type == "code"]
        kept = [cell for cell in code if not is_solution(cell)]
        lost = names([c for c in code if is_solution(c)], ast.Store) - names(kept, ast.Store)
        assert not lost & names(kept, ast.Load), path.stem


def test_a_name_that_only_a_solution_defines_is_seen():
    cell = nbformat.v4.new_code_cell("%matplotlib inline\nfrom a import b as c\nd = c(e)")
    assert names([cell], ast.Store) == {"c", "d"} and names([cell], ast.Load) == {"c", "e"}


def names(cells, context):
    """The names that cells load, or that they bind by an assignment, an import or a definition."""
    source = "\n".join(
        line for c in cells for line in c.source.splitlines() if line[:1] not in "%!"
    )
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        elif context is ast.Store and isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif context is ast.Store and isinstance(node, ast.FunctionDef | ast.ClassDef | ast.arg):
            found.add(getattr(node, "name", None) or node.arg)
    return found


def test_the_package_is_handed_out_whole_and_without_its_tests(handed_out):
    package = {f"mlnotes/{path.name}" for path in (ROOT / "mlnotes").glob("*.py")}
    assert package <= set(handed_out) and "pyproject.toml" in handed_out and "LICENSE" in handed_out
    folders = {name.split("/")[0] for name in handed_out if "/" in name}
    assert folders == {"mlnotes", "notebooks", "figures"}
    assert [
        name for name in handed_out if "notebooks/" in name and not name.endswith(".ipynb")
    ] == []


def test_two_builds_are_the_same_file_and_nothing_else_is_left(handed_out, tmp_path):
    for name in ("a.zip", "b.zip"):
        student.write(tmp_path / name, student.files() if name == "b.zip" else handed_out)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "b.zip"]
    names = zipfile.ZipFile(io.BytesIO((tmp_path / "a.zip").read_bytes())).namelist()
    assert names == [f"{student.TOP}/{name}" for name in sorted(handed_out)]


def test_a_build_that_fails_leaves_the_file_as_it_was(tmp_path):
    target = tmp_path / "student.zip"
    target.write_bytes(b"before")
    with pytest.raises(TypeError):
        student.write(target, {"fine": b"1", "broken": None})
    assert target.read_bytes() == b"before" and len(list(tmp_path.iterdir())) == 1
