"""What `pytest --nbval` does not see: every notebook is executed, tidy and about its chapter.

nbval runs the cells and compares what they print. It accepts a notebook without outputs.
"""

import ast
import re
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from mlnotes import CHAPTERS
from mlnotes.__main__ import ID
from mlnotes.reading import ANCHOR, headings, passages
from notebooks.execute import pictures, tidy

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [f"{number:02d}_{chapter}" for number, chapter in enumerate(CHAPTERS, start=1)]
TAGS = {"solution", "raises-exception"}
LAST_SECTION = "Slips in the notes"
LINK = re.compile(r"""(?:\]\(|src=")(?!\w+:)([^)"\s#]+\.[a-z]+)?(?:#([^)"\s]+))?[)"]""")
PNG = "iVBORw0KGgo"  # how a PNG file begins, in base64
UNREPEATABLE = {
    "a memory address": re.compile(r"\b0x[0-9a-f]{6,}"),
    "a process number": re.compile(r"ipykernel_\d+"),
    "an absolute path": re.compile(r"(?<![\w.)])/[\w.]+/[\w.]+"),
    "all digits of a float": re.compile(r"\d\.\d{14,}"),
    "a number of the size of round-off": re.compile(r"\de-1[4-9]\b"),
}


# ---------------------------------------------------------------------------------------------
# The rules: each yields what is wrong
# ---------------------------------------------------------------------------------------------


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(output):
    """What an output says in words: its stream, its plain text and HTML, its error."""
    data = output.get("data", {})
    parts = output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")
    return "\n".join((*parts, output.get("evalue", "")))


def is_source(output):
    """Whether the output is code that `show` displays; it may hold any number."""
    return output.get("data", {}).get("text/markdown", "").startswith("```python\n")


def statements(cell):
    """The statements at the top of a cell, without IPython's own lines."""
    lines = [line for line in cell.source.splitlines() if not line.startswith(("%", "!"))]
    return [ast.unparse(statement) for statement in ast.parse("\n".join(lines)).body]


def not_run(notebook):
    cells = code_cells(notebook)
    counts = [cell.execution_count for cell in cells]
    if not cells or counts != list(range(1, len(cells) + 1)):
        yield f"not executed from the first cell to the last: {counts}"
    for cell in cells:
        starts = [statement.split("(")[0] for statement in statements(cell)]
        if "print" in starts and not any(o.get("name") == "stdout" for o in cell.outputs):
            yield f"{cell.id} prints and stores nothing"
        if "plt.show" in starts and not pictures(cell.outputs):
            yield f"{cell.id} draws and stores no picture"


def wrong_outputs(notebook):
    for cell in code_cells(notebook):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in cell.metadata.get("tags", [])):
            yield f"{cell.id}: an error if, and only if, it is tagged raises-exception"
        for output in cell.outputs:
            if output.get("name") == "stderr":
                yield f"{cell.id} writes to stderr: {output.text!r}"
            if "<Figure" in text_of(output) and not pictures([output]):
                yield f"{cell.id} stores a figure without its picture"
            if not all(picture.startswith(PNG) for picture in pictures([output])):
                yield f"{cell.id} stores a picture that is not a PNG"
            for what, pattern in UNREPEATABLE.items() if not is_source(output) else ():
                if pattern.search(text_of(output)):
                    yield f"{cell.id} stores {what}: {pattern.search(text_of(output))[0]}"


def untidy(notebook):
    tidied = deepcopy(notebook)
    tidy(tidied)
    if tidied != notebook:
        yield "not as `make notebooks` writes it"
    for cell in notebook.cells:
        unknown = set(cell.metadata.get("tags", [])) - TAGS
        if unknown:
            yield f"{cell.id} has the tags {sorted(unknown)}"
    for i, cell in enumerate(code_cells(notebook)):
        if cell.source.rstrip().endswith(";"):
            yield f"{cell.id} ends in a semicolon: nbval shows what it hides"
        if i == 0 and not cell.source.startswith("%matplotlib inline"):
            yield "the first code cell does not begin with %matplotlib inline"


def wrong_sections(notebook, name):
    number, chapter = name.split("_", 1)
    found = [heading for cell in notebook.cells for heading in headings(cell)]
    titles = [text for level, text in found if level == 1]
    if not headings(notebook.cells[0]) or len(titles) != 1 or titles[0][:3] != f"{number} ":
        yield f"it does not open with its one title, # {number} ...: {titles}"
    for word in ("You will see", "In the notes:", "The code:", f"mlnotes/{chapter}.py"):
        if word not in notebook.cells[0].source:
            yield f"its opening lacks {word!r}"
    if [text for level, text in found if level == 2][-1:] != [LAST_SECTION]:
        yield f"its last section is not {LAST_SECTION!r}"


def wrong_solutions(notebook):
    section, solved = None, False
    for cell in notebook.cells:
        section = ([section] + [text for level, text in headings(cell) if level == 2])[-1]
        if "solution" in cell.metadata.get("tags", []):
            solved = True
            if section != "Exercises":
                yield f"{cell.id} is a solution in {section!r}, not in 'Exercises'"
    if not solved:
        yield "it has no exercise with a solution"


def broken_links(notebook, folder):
    for cell in notebook.cells:
        links = LINK.findall(cell.source) if cell.cell_type == "markdown" else []
        for target, anchor in links:
            if target and not (folder / target).exists():
                yield f"{cell.id} links {target}, which is not there"
            elif anchor and anchor not in anchors_in(folder / target if target else notebook):
                yield f"{cell.id} links the anchor {anchor}, which is not in {target or 'it'}"


def anchors_in(notebook):
    """The anchors of a notebook, or of the notebook in a file."""
    if isinstance(notebook, Path):
        notebook = nbformat.read(notebook, as_version=4)
    return {anchor for anchor, _ in passages(notebook.cells)}


def wrong_anchors(notebook):
    seen = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for anchor in ANCHOR.findall(cell.source):
                if anchor in seen:
                    yield f"{cell.id} has the anchor {anchor}, as a cell before it has"
                seen.add(anchor)
            for shown in ID.findall(LINK.sub("", ANCHOR.sub("", cell.source))):
                yield f"{cell.id} shows the id {shown}, which belongs in an anchor"


def problems(notebook, name, folder=ROOT / "notebooks"):
    """All that is wrong with the notebook called `name`."""
    if name not in NAMES:
        return [f"{name} is not the number and the name of a chapter"]
    return [
        *not_run(notebook), *wrong_outputs(notebook), *untidy(notebook),
        *wrong_sections(notebook, name), *wrong_solutions(notebook),
        *broken_links(notebook, folder), *wrong_anchors(notebook),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------
# The notebooks
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    assert problems(nbformat.read(path, as_version=4), path.stem) == []


def test_every_written_chapter_has_its_notebook():
    written = [n for n in NAMES if (ROOT / "mlnotes" / f"{n[3:]}.py").exists()]
    there = [path.stem for path in NOTEBOOKS]
    assert [n for n in written if n not in there] == []


# ---------------------------------------------------------------------------------------------
# Negative controls: each rule sees a notebook that breaks it
# ---------------------------------------------------------------------------------------------

OPENING = "# 12 The perceptron\n**You will see** ... **In the notes:** ... **The code:** {}"
FIGURE = {"text/plain": "<Figure size 1x1>", "image/png": PNG + "x"}


def sound_notebook(folder):
    """A notebook without a fault: opening, a cell that prints, a picture, a solution, slips."""
    (folder / "there.svg").touch()
    other = v4.new_notebook(cells=[v4.new_markdown_cell('<a id="perceptron-w01"></a>There')])
    nbformat.write(other, folder / "12_it.ipynb")
    cells = [
        v4.new_markdown_cell(OPENING.format("`mlnotes/perceptron.py`")),
        v4.new_code_cell("%matplotlib inline\nprint(1)", outputs=[v4.new_output("stream")]),
        v4.new_markdown_cell(
            '## <a id="here"></a>Pictures\n![Its words.](there.svg) [home](https://x.org/a.html) '
            "[here](#here) [there](12_it.ipynb#perceptron-w01)"
        ),
        v4.new_code_cell("plt.show()", outputs=[v4.new_output("display_data", FIGURE)]),
        v4.new_markdown_cell("## Exercises"),
        v4.new_code_cell("2 + 2", metadata={"tags": ["solution"]}),
        v4.new_markdown_cell("## Slips in the notes"),
    ]
    notebook = v4.new_notebook(cells=cells)
    for count, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = count
    tidy(notebook)
    return notebook


def change(number, **fields):
    return lambda notebook: notebook.cells[number].update(fields)


def say(text, name="stdout"):
    return change(1, outputs=[v4.new_output("stream", text=text, name=name)])


def draw(**data):
    return change(3, outputs=[v4.new_output("display_data", data)])


BROKEN = {
    "not executed": change(1, execution_count=None),
    "first cell to the last": change(5, execution_count=7),
    "prints and stores nothing": change(1, outputs=[]),
    "draws and stores no picture": change(3, outputs=[]),
    "a figure without its picture": draw(**{"text/plain": "<Figure size 1x1>"}),
    "not a PNG": draw(**{"image/png": "R0lGODlh"}),
    "if, and only if": change(1, outputs=[v4.new_output("error", ename="E", evalue="")]),
    "raises-exception": change(1, metadata={"tags": ["raises-exception"]}),
    "writes to stderr": say("careful", name="stderr"),
    "a memory address: 0x7f3a5c": say("<object at 0x7f3a5c>"),
    "a process number": say("in ipykernel_417/3.py"),
    "an absolute path: /home/ada": say("/home/ada/mlnotes"),
    "all digits of a float": say("0.30000000000000004"),
    "the size of round-off": say("residual 2.2e-16"),
    "as `make notebooks` writes it": change(2, id="x"),
    "make notebooks": lambda notebook: notebook.metadata.update(author="Ada"),
    "has the tags ['skip']": change(1, metadata={"tags": ["skip"]}),
    "ends in a semicolon": change(3, source="plt.show();"),
    "%matplotlib inline": change(1, source="print(1)"),
    "its one title": change(0, source="# 13 Another"),
    "one title": change(2, source="# A second title"),
    "opening lacks 'The code:'": change(0, source="# 12 The perceptron"),
    "opening lacks 'mlnotes/perceptron.py'": change(0, source=OPENING.format("`svm`")),
    "its last section is not": change(6, source="## The end"),
    "not in 'Exercises'": change(4, source="## Results"),
    "no exercise with a solution": change(5, metadata={}),
    "links gone.svg, which is not there": change(2, source="![Its words.](gone.svg)"),
    "links the anchor here, which is not in it": change(2, source="[this](#here)"),
    "anchor x, which is not in 12_it.ipynb": change(2, source="[that](12_it.ipynb#x)"),
    "has the anchor perceptron-04, as": change(2, source=2 * '<a id="perceptron-04"></a>'),
    "shows the id perceptron-04": change(2, source="As [perceptron-04] says"),
}


def test_the_sound_notebook_is_sound(tmp_path):
    assert problems(sound_notebook(tmp_path), "12_perceptron", tmp_path) == []


@pytest.mark.parametrize("complaint", BROKEN)
def test_a_broken_notebook_is_seen(complaint, tmp_path):
    notebook = sound_notebook(tmp_path)
    BROKEN[complaint](notebook)
    assert complaint in "\n".join(problems(notebook, "12_perceptron", tmp_path))


@pytest.mark.parametrize("name", ["13_perceptron", "12_quantum", "perceptron"])
def test_a_notebook_of_no_chapter_is_seen(name, tmp_path):
    assert "is not the number" in problems(sound_notebook(tmp_path), name, tmp_path)[0]


def test_the_source_of_a_function_may_hold_any_number(tmp_path):
    code = "TOLERANCE = 1e-15"
    shown = {"text/plain": code, "text/markdown": f"```python\n{code}\n```"}
    notebook = sound_notebook(tmp_path)
    notebook.cells[1].outputs.append(v4.new_output("display_data", shown))
    assert problems(notebook, "12_perceptron", tmp_path) == []
    del shown["text/markdown"]
    notebook.cells[1].outputs[-1] = v4.new_output("display_data", shown)
    assert "the size of round-off" in problems(notebook, "12_perceptron", tmp_path)[0]


def test_a_cell_may_fail_where_it_says_so(tmp_path):
    notebook = sound_notebook(tmp_path)
    error = v4.new_output("error", ename="ValueError", evalue="no")
    notebook.cells[1].update(
        source="%matplotlib inline\n1 / 0", outputs=[error], metadata={"tags": ["raises-exception"]}
    )
    assert problems(notebook, "12_perceptron", tmp_path) == []


# ---------------------------------------------------------------------------------------------
# Execution, of real kernels: execute.py and conftest.py beside notebooks of our own
# ---------------------------------------------------------------------------------------------

DRAWING = "%matplotlib inline\nfrom matplotlib import pyplot as plt\nplt.plot([1, {}])\nplt.show()"


def write_notebook(path, *sources):
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources]), path)


def run(folder, *command):
    """The exit status of a Python command in `folder`, and what it prints."""
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, text=True, capture_output=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A folder with notebooks that execute.py has run, one of which fails; what it said."""
    folder = tmp_path_factory.mktemp("notebooks")
    for name in ("execute.py", "conftest.py"):
        shutil.copy(ROOT / "notebooks" / name, folder)
    write_notebook(folder / "01_drawing.ipynb", "print(1)\nprint(2)", DRAWING.format(2))
    write_notebook(folder / "02_another.ipynb", "print(1)", DRAWING.format(3))
    write_notebook(folder / "03_failing.ipynb", "print(1)", "1 / 0", "print(2)")
    before = (folder / "03_failing.ipynb").read_bytes()
    return folder, before, run(folder, "execute.py")


def test_execution_writes_clean_notebooks(executed):
    folder, _, (_, said) = executed
    assert said.count("  written") == 2
    notebook = nbformat.read(folder / "01_drawing.ipynb", as_version=4)
    assert [*not_run(notebook), *wrong_outputs(notebook)] == []
    assert notebook.cells[0].outputs == [v4.new_output("stream", text="1\n2\n")]
    tidied = deepcopy(notebook)
    tidy(tidied)
    assert tidied == notebook


def test_tidying_keeps_alternative_texts_and_folds_the_code_of_solutions(tmp_path):
    notebook = sound_notebook(tmp_path)
    notebook.cells[3].outputs[0].metadata.update({"image/png": {"alt": "A", "width": 3}, "x": 1})
    tidy(notebook)
    assert notebook.cells[3].outputs[0].metadata == {"image/png": {"alt": "A"}}
    assert notebook.cells[5].metadata.jupyter == {"outputs_hidden": True, "source_hidden": True}
    assert "jupyter" not in notebook.cells[3].metadata


def test_a_failing_notebook_is_named_and_left_alone(executed):
    folder, before, (status, said) = executed
    assert status == 1
    assert re.search(r"03_failing +\d+\.\d s  FAILED\ncell-001 fails\n", said)
    assert "ZeroDivisionError: division by zero" in said
    assert (folder / "03_failing.ipynb").read_bytes() == before
    assert sorted(path.name for path in folder.glob("*.part")) == []


def test_a_check_tells_stale_from_fresh_and_writes_nothing(executed):
    folder, *_ = executed
    fresh, stale = folder / "01_drawing.ipynb", folder / "04_stale.ipynb"
    stale.write_text(fresh.read_text().replace("print(2)", "print(3)"))
    before = fresh.read_bytes(), stale.read_bytes()
    status, said = run(folder, "execute.py", "1", "stale", "--check")
    stale_after = stale.read_bytes()
    stale.unlink()
    assert (status, said.count("  unchanged"), said.count("  STALE")) == (1, 1, 1)
    assert (fresh.read_bytes(), stale_after) == before


def test_an_unknown_notebook_is_an_error(executed):
    there = "there are: 01_drawing, 02_another, 03_failing"
    assert run(executed[0], "execute.py", "quantum") == (1, f"no notebook quantum ({there})\n")


def test_nbval_sees_a_picture_and_an_alternative_text_that_changed(executed):
    folder, *_ = executed
    sound, other = (folder / f"{name}.ipynb" for name in ("01_drawing", "02_another"))
    notebook, donor = (nbformat.read(path, as_version=4) for path in (sound, other))
    words = deepcopy(notebook)
    words.cells[1].outputs[0].metadata["image/png"] = {"alt": "Two lines."}
    notebook.cells[1].outputs = donor.cells[1].outputs
    changed = {"05_changed.ipynb": notebook, "06_words.ipynb": words}
    for name, content in changed.items():
        nbformat.write(content, folder / name)
    status, said = run(folder, "-m", "pytest", "-q", "--nbval", sound.name, *changed)
    for name in changed:
        (folder / name).unlink()
    assert status == 1
    assert "a picture differs from the one that is stored" in said
    assert "an alternative text differs from the one that is stored" in said
    assert re.search(r"2 failed, 4 passed", said)
