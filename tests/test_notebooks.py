"""What a notebook keeps, beside what `pytest --nbval` sees, which accepts one without outputs.

Every notebook is executed, tidy and about its chapter. Derivations are walked line by line and
checked, the algorithms stand on the page, every figure has a number, a caption and an alternative
text, and every exercise a hint and a solution.
"""

import ast
import re
import shutil
import subprocess
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbformat import v4

from mlnotes import CHAPTERS, reading
from mlnotes import __main__ as index
from mlnotes.reading import ANCHOR, headings, is_solution
from notebooks.execute import alt_text, tidy

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = [f"{number:02d}_{chapter}" for number, chapter in enumerate(CHAPTERS, start=1)]
TAGS = {"solution", "raises-exception"}
LAST_SECTIONS = ["In one minute", "Symbols", "Going further", "Exercises", reading.APPENDIX]
NEEDED_SECTIONS = {"In one minute", "Exercises", reading.APPENDIX}
LONGEST_CELL = 16  # lines of a code cell outside the solutions, without blank lines
SHORTEST_ALT = 20  # letters of an alternative text
FEWEST_EXERCISES = 6
FEWEST_SHOWN = 2
LINK = re.compile(r"""(?:\]\(|src=")(?!\w+:)([^)"\s#]+\.[a-z]+)?(?:#([^)"\s]+))?[)"]""")
WALK_CITED = re.compile(r"\[[^\]]*?[Ww]alk (\d+)[^\]]*\]\((?:\.\./notebooks/)?([\w.]*)#([\w-]+)\)")
CHAPTER_LINK = re.compile(r"\]\((?:\.\./notebooks/)?(\d\d_\w+)\.ipynb")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
EXERCISE = re.compile(r"Exercise (\d+) (★{1,3}) \S.*")
FOLD = "<details><summary>{}</summary>\n\n"  # without the blank line, Markdown is not rendered
PNG = "iVBORw0KGgo"  # how a PNG file begins, in base64
UNREPEATABLE = {
    "a memory address": re.compile(r"\b0x[0-9a-f]{6,}"),
    "a process number": re.compile(r"ipykernel_\d+"),
    "an absolute path": re.compile(r"(?<![\w.)])/[\w.]+/[\w.]+"),
    "all digits of a float": re.compile(r"\d\.\d{14,}"),
    "a number of the size of round-off": re.compile(r"\de-1[4-9]\b"),
}


# --- What a notebook holds -------------------------------------------------------------


class Book(NamedTuple):
    """A notebook, and the chapter that it is about."""

    notebook: object
    number: int
    chapter: str

    @property
    def cells(self):
        return self.notebook.cells

    @property
    def code(self):
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def texts(self):
        return [cell for cell in self.cells if cell.cell_type == "markdown"]

    def claims(self, form):
        claims = index.load_claims().values()
        return [claim for claim in claims if (claim.form, claim.chapter) == (form, self.chapter)]

    def sections(self, level):
        """The (heading, cells) of the sections whose headings have this level."""
        found = []
        for cell in self.cells:
            for depth, heading in headings(cell):
                if depth <= level:
                    found.append((depth, heading, []))
            if found:
                found[-1][2].append(cell)
        return [(heading, cells) for depth, heading, cells in found if depth == level]


def pngs(cell):
    """The outputs of a cell that are pictures."""
    return [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


def pictures(cell):
    """The (alternative text, file) of what a cell shows; a drawn picture has no file."""
    if cell.cell_type == "markdown":
        return PICTURE.findall(cell.source)
    return [(alt_text(output), "") for output in pngs(cell)]


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


def anchors_in(notebook):
    """The anchors of a notebook, or of the notebook in a file."""
    if isinstance(notebook, Path):
        notebook = nbformat.read(notebook, as_version=4)
    return {anchor for anchor, _ in reading.passages(notebook.cells)}


def walk_numbers(notebook):
    """The numbers of the walks of a notebook, or of the notebook in a file, by their anchors."""
    if isinstance(notebook, Path):
        notebook = nbformat.read(notebook, as_version=4)
    return {
        anchor: walk.number for walk in reading.walks(notebook.cells) for anchor in walk.anchors
    }


@cache
def figure_captions():
    """The caption of every lecture figure, by its file: the docstring of its function."""
    found = {}
    for path in sorted((ROOT / "figures").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for call in getattr(node, "decorator_list", []):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "figure":
                    file = f"../figures/{path.stem}/{ast.literal_eval(call.args[0])}.svg"
                    found[file] = " ".join(ast.get_docstring(node).split())
    return found


# --- The rules: each yields what is wrong ----------------------------------------------


def not_run(book):
    counts = [cell.execution_count for cell in book.code]
    if not counts or counts != list(range(1, len(counts) + 1)):
        yield f"not executed from the first cell to the last: {counts}"
    for cell in book.code:
        starts = [statement.split("(")[0] for statement in statements(cell)]
        if "print" in starts and not any(o.get("name") == "stdout" for o in cell.outputs):
            yield f"{cell.id} prints and stores nothing"
        if {"plt.show", "show_figure"} & set(starts) and not pngs(cell):
            yield f"{cell.id} draws and stores no picture"


def wrong_outputs(book):
    for cell in book.code:
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in cell.metadata.get("tags", [])):
            yield f"{cell.id}: an error if, and only if, it is tagged raises-exception"
        for output in cell.outputs:
            picture = output.get("data", {}).get("image/png", "")
            if output.get("name") == "stderr":
                yield f"{cell.id} writes to stderr: {output.text!r}"
            if "<Figure" in text_of(output) and not picture:
                yield f"{cell.id} stores a figure without its picture"
            if picture and not picture.startswith(PNG):
                yield f"{cell.id} stores a picture that is not a PNG"
            for what, pattern in UNREPEATABLE.items() if not is_source(output) else ():
                if pattern.search(text_of(output)):
                    yield f"{cell.id} stores {what}: {pattern.search(text_of(output))[0]}"


def untidy(book):
    tidied = deepcopy(book.notebook)
    tidy(tidied)
    if tidied != book.notebook:
        yield "not as `make notebooks` writes it"
    for cell in book.cells:
        unknown = set(cell.metadata.get("tags", [])) - TAGS
        if unknown:
            yield f"{cell.id} has the tags {sorted(unknown)}"
        if cell.source.count("<details>") != cell.source.count("</details>"):
            yield f"{cell.id} opens a fold and does not close it"
    for i, cell in enumerate(book.code):
        if cell.source.rstrip().endswith(";"):
            yield f"{cell.id} ends in a semicolon: nbval shows what it hides"
        if i == 0 and not cell.source.startswith("%matplotlib inline"):
            yield "the first code cell does not begin with %matplotlib inline"


def wrong_sections(book):
    titles = [heading for heading, _ in book.sections(1)]
    if not headings(book.cells[0]) or len(titles) != 1 or titles[0][:3] != f"{book.number:02d} ":
        yield f"it does not open with its one title, # {book.number:02d} ...: {titles}"
    for word in ("You will see", "In the notes:", "The code:", f"mlnotes/{book.chapter}.py"):
        if word not in book.cells[0].source:
            yield f"its opening lacks {word!r}"
    opening = "\n".join(cell.source for cell in book.cells[:3])
    for words in ("**You need**", "minutes"):
        if words not in opening:
            yield f"its first cells lack {words!r}"
    if not any("Symbols here and in the notes" in cell.source for cell in book.texts):
        yield "it has no table of symbols"
    names = [heading for heading, _ in book.sections(2)]
    last = names[names.index("In one minute") :] if "In one minute" in names else names[-3:]
    if last != [s for s in LAST_SECTIONS if s in last] or not set(last) >= NEEDED_SECTIONS:
        yield f"its last sections are {last}"


def wrong_links(book):
    for cell in book.texts:
        for target, anchor in LINK.findall(cell.source):
            place = FOLDER / target if target else book.notebook
            if target and not place.exists():
                yield f"{cell.id} links {target}, which is not there"
            elif anchor and anchor not in anchors_in(place):
                yield f"{cell.id} links the anchor {anchor}, which is not in {target or 'it'}"
        for number, target, anchor in WALK_CITED.findall(cell.source):
            cited = walk_numbers(FOLDER / target) if target else walk_numbers(book.notebook)
            if cited.get(anchor, int(number)) != int(number):
                yield f"{cell.id} cites walk {number} for {anchor}, which is walk {cited[anchor]}"
    others = {name for cell in book.texts for name in CHAPTER_LINK.findall(cell.source)}
    if not others - {f"{book.number:02d}_{book.chapter}"}:
        yield "it links no other chapter"


def wrong_anchors(book):
    seen = set()
    for cell in book.texts:
        for anchor in ANCHOR.findall(cell.source):
            if anchor in seen:
                yield f"{cell.id} has the anchor {anchor}, as a cell before it has"
            seen.add(anchor)
        for shown in index.ID.findall(LINK.sub("", ANCHOR.sub("", cell.source))):
            yield f"{cell.id} shows the id {shown}, which belongs in an anchor"


def wrong_figures(book):
    shown = [picture for cell in book.cells for picture in pictures(cell)]
    for alt, file in shown:
        if len(alt) < SHORTEST_ALT:
            yield f"a picture without an alternative text: {alt!r} {file}"
    told = reading.captions(book.cells)
    names = [f"{first}.{second}" for first, second, _ in told]
    if names != [f"{book.number}.{k}" for k in range(1, len(shown) + 1)]:
        yield f"{len(shown)} pictures have the captions {names}"
    for (_, file), name, (_, _, words) in zip(shown, names, told, strict=False):
        if file and words != figure_captions().get(file):
            yield f"the caption of figure {name} is not the docstring of {file}"
        if not words:
            yield f"the caption of figure {name} has no words"


def wrong_walks(book):
    walks = reading.walks(book.cells)
    if [walk.number for walk in walks] != list(range(1, len(walks) + 1)):
        yield f"its walks have the numbers {[walk.number for walk in walks]}"
    for walk in walks:
        for what in walk.lacks:
            yield f"walk {walk.number} lacks: {what}"
    there = {anchor for walk in walks for anchor in walk.anchors}
    for claim in book.claims("walk"):
        if claim.id not in there:
            yield f"no walk has the anchor {claim.id}"


def wrong_code(book):
    shown, there = set(reading.shown(book.cells)), index.algorithms_shown(book.cells)
    if len(shown) < FEWEST_SHOWN:
        yield f"it shows the source of {len(shown)} functions"
    for claim in book.claims("shown"):
        if claim.id not in there:
            yield f"it does not show the function of {claim.id}: {claim.statement}"
    for cell in book.code:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if not is_solution(cell) and len(lines) > LONGEST_CELL:
            yield f"{cell.id} has {len(lines)} lines"


def wrong_exercises(book):
    found = [(h, cells) for h, cells in book.sections(3) if h.startswith("Exercise")]
    matches = [EXERCISE.fullmatch(heading) for heading, _ in found]
    if len(found) < FEWEST_EXERCISES:
        yield f"it has {len(found)} exercises"
    if [match and int(match[1]) for match in matches] != list(range(1, len(found) + 1)):
        yield f"its exercises have the headings {[heading for heading, _ in found]}"
    if {match[2] for match in matches if match} != {"★", "★★", "★★★"}:
        yield "its exercises are not of three grades"
    anchors = dict(reading.passages(book.cells))
    for k, (heading, cells) in enumerate(found, start=1):
        if anchors.get(f"{book.chapter}-x{k:02d}") != heading:
            yield f"exercise {k} lacks the anchor {book.chapter}-x{k:02d}"
        text = "\n".join(cell.source for cell in cells)
        for word in ("Hint", "Solution"):
            if FOLD.format(word) not in text:
                yield f"exercise {k} has no folded {word.lower()}"
        if not any(map(is_solution, cells)):
            yield f"exercise {k} has no cell with the tag solution"


def wrong_solutions(book):
    inside = [
        cell.id for heading, cells in book.sections(2) for cell in cells if "Exerc" in heading
    ]
    for cell in filter(is_solution, book.cells):
        begins = "# " if cell.cell_type == "code" else FOLD.format("Solution")
        if not cell.source.startswith(begins):
            yield f"{cell.id}: a solution is folded and begins with a sentence"
        if cell.id not in inside:
            yield f"{cell.id} is a solution outside of the exercises"


RULES = (
    not_run, wrong_outputs, untidy, wrong_sections, wrong_links, wrong_anchors, wrong_figures,
    wrong_walks, wrong_code, wrong_exercises, wrong_solutions,
)  # fmt: skip


def problems(notebook, name):
    """All that is wrong with the notebook called `name`."""
    book = Book(notebook, int(name[:2]), name[3:])
    return [what for rule in RULES for what in rule(book)]


# --- The notebooks ---------------------------------------------------------------------


def read(name):
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_every_chapter_has_its_notebook_and_no_other_is_there():
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name):
    assert problems(read(name), name) == []


def test_every_lecture_figure_has_a_caption():
    captions = figure_captions()
    there = {f"../figures/{path.parent.name}/{path.name}" for path in ROOT.glob("figures/*/*.svg")}
    assert set(captions) == there and all(captions.values())


# --- Negative controls: each rule sees a notebook that breaks it -----------------------

SOUND = "12_perceptron"


def wrong_in(change):
    """What is wrong with a sound notebook after the `change`."""
    notebook = read(SOUND)
    change(notebook)
    return "\n".join(problems(notebook, SOUND))


def draws(cell):
    return pngs(cell) and not is_solution(cell)


def prints(cell):
    return any(output.get("name") == "stdout" for output in cell.get("outputs", []))


def shows(cell):
    return any(map(is_source, cell.get("outputs", [])))


def put(which, **fields):
    """The change of the first cell of a kind."""
    return lambda notebook: next(filter(which, notebook.cells)).update(fields)


def say(text, name="stdout"):
    return put(prints, outputs=[v4.new_output("stream", text=text, name=name)])


def drop(which):
    def change(notebook):
        notebook.cells = [cell for cell in notebook.cells if not which(cell)]

    return change


def swap(old, new):
    """The change of a text, in the first cell that has it."""

    def change(notebook):
        cell = next(cell for cell in notebook.cells if old in cell.source)
        cell.source = cell.source.replace(old, new, 1)

    return change


def reword(notebook):
    """The change of the caption of a lecture figure."""
    cell = next(cell for cell in notebook.cells if ".svg)" in cell.source)
    cell.source = re.sub(r"(\*\*Figure [\d.]+\*\*)", r"\1 So", cell.source)


def drawn(alt):
    return v4.new_output("display_data", {"image/png": PNG}, metadata={"image/png": {"alt": alt}})


CHANGES = [  # at least one for each rule
    (put(prints, execution_count=None), "not executed from the first"),
    (put(prints, outputs=[]), "prints and stores nothing"),
    (put(draws, outputs=[]), "draws and stores no picture"),
    (put(prints, metadata={"tags": ["raises-exception"]}), "if, and only if"),
    (say("careful", name="stderr"), "writes to stderr"),
    (say("<object at 0x7f3a5c>"), "a memory address: 0x7f3a5c"),
    (say("/home/ada/mlnotes"), "an absolute path: /home/ada"),
    (say("0.30000000000000004"), "all digits of a float"),
    (say("residual 2.2e-16"), "the size of round-off"),
    (put(prints, id="x"), "not as `make notebooks` writes it"),
    (put(draws, source="plt.show();"), "ends in a semicolon"),
    (swap("</details>", ""), "opens a fold and does not close it"),
    (swap("# 12", "# 13"), "its one title"),
    (swap("**You need**", "Bring"), "its first cells lack '**You need**'"),
    (swap("## In one minute", "## In short"), "its last sections are"),
    (swap(f"## {reading.APPENDIX}", "## The end"), "its last sections are"),
    (swap("## Exercises", "## Slips in the notes\n\n## Exercises"), "its last sections are"),
    (swap(".svg)", ".gone)"), ".gone, which is not there"),
    (swap("## Exercises", "[there](#nowhere)\n\n## Exercises"), "the anchor nowhere"),
    (
        swap("## Exercises", "[walk 7](#perceptron-w01)\n\n## Exercises"),
        "cites walk 7 for perceptron-w01, which is walk 1",
    ),
    (swap("## Exercises", "As [perceptron-04] says"), "shows the id perceptron-04"),
    (put(draws, outputs=[drawn("A curve")]), "without an alternative text: 'A curve'"),
    (swap("**Figure 12.2.", "**Figure 12.3."), "pictures have the captions ['12.1', '12.3'"),
    (reword, "is not the docstring of"),
    (swap('<a id="perceptron-w02"></a>', ""), "no walk has the anchor perceptron-w02"),
    (drop(lambda cell: "# (" in cell.source), "lacks: cell that checks"),
    (drop(shows), "it does not show the function of perceptron-s01"),
    (put(prints, source="a = 1\n" * 17), "has 17 lines"),
    (drop(lambda cell: "### Exercise" in cell.source), "it has 0 exercises"),
    (swap("perceptron-x02", "perceptron-x22"), "exercise 2 lacks the anchor perceptron-x02"),
    (swap("<summary>Hint</summary>", "<summary>Help</summary>"), "exercise 1 has no folded hint"),
    (drop(is_solution), "exercise 1 has no cell with the tag solution"),
    (put(is_solution, source="It is 1."), "a solution is folded and begins with a sentence"),
]


@pytest.mark.parametrize("change, complaint", CHANGES, ids=[words for _, words in CHANGES])
def test_a_notebook_that_breaks_a_rule_is_seen(change, complaint):
    assert complaint in wrong_in(change)


def test_the_source_of_a_function_may_hold_any_number():
    code = "TOLERANCE = 1e-15"
    for how in (f"```python\n{code}\n```", code):
        data = {"text/plain": code, "text/markdown": how}
        shown = v4.new_output("display_data", data)
        said = wrong_in(
            lambda notebook, o=shown: next(filter(shows, notebook.cells)).outputs.append(o)
        )
        assert ("the size of round-off" in said) == (how == code)


# --- Execution, of real kernels: execute.py and conftest.py beside notebooks of our own

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
    book = Book(notebook, 1, "drawing")
    assert [*not_run(book), *wrong_outputs(book)] == []
    assert notebook.cells[0].outputs == [v4.new_output("stream", text="1\n2\n")]
    tidied = deepcopy(notebook)
    tidy(tidied)
    assert tidied == notebook


def test_tidying_keeps_alternative_texts_and_folds_the_code_of_solutions():
    picture = v4.new_output("display_data", {}, metadata={"image/png": {"alt": "A", "width": 3}})
    cells = [
        v4.new_code_cell("1", outputs=[picture]),
        v4.new_code_cell("2", metadata={"tags": ["solution"], "x": 1}),
    ]
    notebook = v4.new_notebook(cells=cells)
    tidy(notebook)
    first, second = notebook.cells
    assert first.outputs[0].metadata == {"image/png": {"alt": "A"}} and first.metadata == {}
    assert second.metadata.jupyter == {"outputs_hidden": True, "source_hidden": True}


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
    assert "an alternative text or a check differs from the stored one" in said
    assert re.search(r"2 failed, 4 passed", said)
