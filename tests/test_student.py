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
from mlnotes.reading import check

sys.path.append(str(Path(__file__).parent.parent / "notebooks"))  # where student finds execute

import answers
import student

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\{?,\}?\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
FRACTION = re.compile(r"\\t?frac\{?(\d+)\}?\s*\{?(\d+)\}?|(?<![\w.])(\d+) ?/ ?(\d+)")
TABLE = json.loads(reading.ANSWERS.read_text(encoding="utf-8"))
PARTS = sorted(TABLE)


# --- What the check says ---------------------------------------------------------------


def told(part, answer, capsys):
    check(part, answer)
    return capsys.readouterr().out.strip()


def raw(part):
    """The right answer as the table states it: numbers, bools or words."""
    return given(part)[0]


@cache
def given(part):
    """The right answer of a part, and the typical wrong ones with their hints."""
    return list(answers.CHECKS[part].answers())


def parts_of(chapter):
    """The parts of the exercises of a chapter that have a check."""
    return [part for part in PARTS if part.startswith(f"{chapter}-x")]


def test_the_stored_file_is_what_the_table_writes():
    assert answers.text() == reading.ANSWERS.read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_right_answers_are_right_and_typical_wrong_ones_get_their_hint(chapter, capsys):
    for part in parts_of(chapter):
        right, *wrong = given(part)
        assert told(part, right, capsys) == answers.RIGHT, part
        for answer, hint in wrong:
            assert told(part, answer, capsys) == f"Not right yet. {hint}", part
        assert told(part, ..., capsys) == f"No answer yet: enter {TABLE[part]['enter']}.", part


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_an_answer_within_the_tolerance_is_right_and_one_beyond_it_is_not(chapter, capsys):
    for part in parts_of(chapter):
        kind, tol = TABLE[part]["kind"], TABLE[part]["tol"]
        for sign in (-1, 1) if kind not in ("words", "labels") else ():
            right = np.array(raw(part), dtype=float)
            if kind != "scale":
                assert told(part, right + sign * tol, capsys) == answers.RIGHT, part
            off, factor = right.copy(), 1.5 * np.linalg.norm(right)  # what counts has the length 1
            off.flat[np.abs(off).argmin()] += sign * 2 * tol * (factor if kind == "scale" else 1)
            assert told(part, off, capsys) != answers.RIGHT, part


def forms(numbers):
    yield from (numbers, tuple(numbers), np.array(numbers), np.array(numbers)[:, None])
    yield from (np.array([numbers]), [Fraction(x).limit_denominator(10**6) for x in numbers])
    yield from ([np.float64(x) for x in numbers], np.repeat(numbers, 2)[::2])
    yield np.array(numbers, dtype=object)


def test_an_answer_may_have_any_form_that_means_the_same(capsys):
    for form in forms([1.2, 0.7]):
        assert told("linear_regression-x01a", form, capsys) == "Right."
    for form in (19, 19.0, np.int64(19), Fraction(19), [19], [[19]], np.array(19), True + 18):
        assert told("convolution-x01c", form, capsys) == "Right."
    table = np.asfortranarray(np.array(raw("discriminant-x01c")))
    assert told("discriminant-x01c", table, capsys) == "Right."
    assert told("discriminant-x01c", table.tolist(), capsys) == "Right."
    for form in ([False, True], (0, 1), np.array([False, True])):
        assert told("optimization-x01d", form, capsys) == "Right."


def test_what_is_not_unique_may_be_given_in_any_way(capsys):
    assert told("pca-x02", -np.array(raw("pca-x02")), capsys) == "Right."
    assert told("probability-x05a", [-100, 254], capsys) == "Right."
    assert told("clustering-x01b", {25 / 3, 5 / 3}, capsys) == "Right."
    assert told("clustering-x01a", list("xxxyyy"), capsys) == "Right."
    assert told("clustering-x01a", [7, 7, 7, 7, 2, 2], capsys) == "Not right yet."
    assert told("neighbors-x02a", ["b ", "c", "A"], capsys) == "Right."


def test_what_is_no_answer_is_named(capsys):
    say = "Not right yet: expected 2 numbers, got "
    for answer, what in (
        (3, "one number"), ([1, 2, 3], "3 numbers"), ([], "0 numbers"), ("1.2", "something else"),
        (np.eye(2), "an array of shape (2, 2)"), ([1.2, [0.7]], "something else"),
        ([1.2, ...], "something else"), ([1.2, 0.7j], "something else"), (check, "something else"),
        (["1.2", "0.7"], "something else"),
    ):  # fmt: skip
        assert told("linear_regression-x01a", answer, capsys) == f"{say}{what}."
    assert "NaN" in told("linear_regression-x01a", [1.2, np.nan], capsys)
    assert told("linear_regression-x01a", [1e300, -1e300], capsys) == "Not right yet."
    flat = told("discriminant-x01c", [4, 2, 2, 4], capsys)
    assert flat == "Not right yet: expected an array of shape (2, 2), got 4 numbers."
    assert told("neighbors-x02a", [1, 2, 3], capsys) == "Not right yet."


def test_an_exercise_without_a_check_is_an_error_that_names_the_others():
    with pytest.raises(ValueError, match="'perceptron-x06' has no check; .*perceptron-x01a"):
        check("perceptron-x06", 1)
    with pytest.raises(ValueError, match="no exercise of a chapter 'perzeptron'"):
        check("perzeptron-x01", 1)


# --- The answers agree with the solutions, and nothing gives them away -----------------


def numbers_in(text):
    """The numbers and the fractions that a text states."""
    found = [float(re.sub(r"[{},]", "", number)) for number in NUMBER.findall(text)]
    for a, b, c, d in FRACTION.findall(text):
        if int(b or d):
            found.append(int(a or c) / int(b or d))
    return np.array(found)


def states(text, numbers, tol):
    """Which of the numbers a text states, up to the tolerance; as a percentage, too."""
    there = numbers_in(text)
    gaps = np.abs(np.ravel(numbers)[:, None] - np.concatenate([there, there / 100]))
    return (gaps <= 1.001 * tol).any(axis=1)


def gives_away(text, part):
    """Whether a text states all the numbers of the right answer of a part."""
    numbers = np.array(raw(part), dtype=float)
    return bool(states(text, numbers, TABLE[part]["tol"]).all())


@cache
def notebook(chapter):
    number = list(CHAPTERS).index(chapter) + 1
    path = ROOT / "notebooks" / f"{number:02d}_{chapter}.ipynb"
    return nbformat.read(path, as_version=4)


@cache
def exercises(chapter):
    """Of each exercise of a chapter what its solution says and prints."""
    found, exercise = {}, None
    for cell in notebook(chapter).cells:
        ids = [a for a in reading.ANCHOR.findall(cell.source) if student.EXERCISE.fullmatch(a)]
        exercise = ids[-1] if ids else exercise
        if student.is_solution(cell):
            printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
            found[exercise] = found.get(exercise, "") + f"{cell.source}\n{printed}\n"
    return found


OTHERWISE = {  # the solution states them otherwise: by a formula, a root or a word
    "probability-x04", "estimation-x06", "density-x05b", "clustering-x05a", "kernels-x01c",
    "learning_theory-x03b", "learning_theory-x07b", "kernel_pca-x04",
}  # fmt: skip


def of_numbers(part):
    return TABLE[part]["kind"] not in ("words", "labels") and not isinstance(
        np.ravel(raw(part))[0], bool | np.bool_
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_solutions_state_the_right_answers(chapter):
    for part in filter(of_numbers, parts_of(chapter)):
        if part not in OTHERWISE:
            said = exercises(chapter)[student.EXERCISE.match(part)[0]].replace("-", " ")
            right = np.abs(np.ravel(np.array(raw(part), dtype=float)))  # signs stand apart in TeX
            stated = states(said, right, TABLE[part]["tol"])
            assert stated.all(), f"{part}: {right[~stated]} of {right}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_neither_the_question_nor_a_hint_states_the_right_answer(chapter):
    for part in filter(of_numbers, parts_of(chapter)):
        for said in (TABLE[part]["enter"], *(said for _, _, said in TABLE[part]["known"])):
            assert not gives_away(said, part), (part, said)


def test_the_file_has_nothing_but_words_and_fingerprints():
    for part, entry in TABLE.items():
        assert set(entry) == {"enter", "kind", "tol", "shape", "known"}, part
        for phases, digest, said in entry["known"]:
            assert re.fullmatch("[0-3]*", phases) and len(phases) == np.prod(
                entry["shape"], dtype=int
            )
            assert re.fullmatch("[0-9a-f]{32}", digest) and said.endswith((".", "?"))
        assert len({digest for _, digest, _ in entry["known"]}) == len(entry["known"]), part


def test_the_same_answer_has_another_fingerprint_in_another_exercise():
    prints = [digest for entry in TABLE.values() for _, digest, _ in entry["known"]]
    assert len(set(prints)) == len(prints)


def test_every_check_belongs_to_an_exercise():
    there = {exercise for chapter in CHAPTERS for exercise in exercises(chapter)}
    assert {student.EXERCISE.match(part)[0] for part in PARTS} <= there
    assert list(answers.CHECKS) == list(TABLE)


def test_a_text_that_gives_an_answer_away_is_seen():
    assert gives_away("It is 26.", "perceptron-x01b") and gives_away("52/2", "perceptron-x01b")
    assert gives_away("2600 %", "perceptron-x01b") and not gives_away("2.6", "perceptron-x01b")


def test_a_number_that_rounding_would_decide_is_refused():
    with pytest.raises(AssertionError, match="choose other digits"):
        answers.phases([0.375 * 0.05], 0.05)


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


def pairs(unpacked):
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        yield nbformat.read(path, as_version=4), unpacked / "notebooks" / path.name


def lines_of(cell):
    """The lines of what a cell says and prints."""
    printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
    return {line.strip() for line in f"{cell.source}\n{printed}".splitlines()}


def leaks(whole, lines):
    """The longer lines of the solutions of a notebook that are among some lines."""
    solutions = [cell for cell in whole.cells if student.is_solution(cell)]
    others = [cell for cell in whole.cells if not student.is_solution(cell)]
    own = set().union(*map(lines_of, solutions)) - set().union(*map(lines_of, others))
    return [line for line in own if len(line) > 15 and line in lines]


def test_no_solution_is_handed_out(unpacked):
    seen = 0
    for whole, path in pairs(unpacked):
        cells = nbformat.read(path, as_version=4).cells
        assert leaks(whole, set().union(*map(lines_of, cells))) == []
        pictures = [o["data"]["image/png"] for c in cells for o in c.get("outputs", [])
                    if "image/png" in o.get("data", {})]  # fmt: skip
        for cell in filter(student.is_solution, whole.cells):
            seen += 1
            assert cell.source not in path.read_text(encoding="utf-8")
            for output in cell.get("outputs", []):
                assert output.get("data", {}).get("image/png") not in pictures
        assert not any(student.is_solution(cell) for cell in cells)
    assert seen > 200


def test_a_leak_is_seen():
    cells = notebook("perceptron").cells
    assert len(leaks(notebook("perceptron"), set().union(*map(lines_of, cells)))) > 20


def test_everything_but_the_solutions_is_handed_out(unpacked):
    for whole, path in pairs(unpacked):
        given = nbformat.read(path, as_version=4)
        nbformat.validate(given)
        kept = [cell for cell in whole.cells if not student.is_solution(cell)]
        asked = [cell for cell in given.cells if cell.source.startswith(student.CELL[:33])]
        rest = [cell for cell in given.cells if cell not in asked]
        assert anchors_in(given) == anchors_in(nbformat.v4.new_notebook(cells=kept))
        assert [c.get("outputs") for c in rest if c.cell_type == "code"] == [
            c.get("outputs") for c in kept if c.cell_type == "code"
        ]
        gone = [c.source for c in kept if c.source not in {each.source for each in rest}]
        assert all(source.startswith("**Figure") for source in gone)
        chapter = path.stem[3:]
        parts = [re.search(r'check\("([^"]+)"', cell.source)[1] for cell in asked]
        assert parts == [part for part in TABLE if part.startswith(f"{chapter}-x")]


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
        kept = [cell for cell in code if not student.is_solution(cell)]
        lost = names([c for c in code if student.is_solution(c)], ast.Store) - names(
            kept, ast.Store
        )
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
