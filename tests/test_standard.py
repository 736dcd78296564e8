"""What a notebook keeps once it is rewritten to teach, that is, once it has its summary.

Derivations are walked line by line and checked, the algorithms stand on the page, every figure has
a number, a caption and an alternative text, and every exercise a hint and a solution.
"""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from mlnotes import __main__ as index
from mlnotes import reading
from notebooks.execute import alt_text

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = "## In one minute"
REWRITTEN = [
    path.stem
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    if SUMMARY in path.read_text(encoding="utf-8")
]
LAST_SECTIONS = ["In one minute", "Exercises", reading.APPENDIX]
LONGEST_CELL = 16  # lines of a code cell outside the solutions, without blank lines
SHORTEST_ALT = 20  # letters of an alternative text
FEWEST_EXERCISES = 6
FEWEST_SHOWN = 2
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
EXERCISE = re.compile(r"Exercise (\d+) (★{1,3}) \S.*")
FOLD = "<details><summary>{}</summary>\n\n"  # without the blank line, Markdown is not rendered


# ---------------------------------------------------------------------------------------------
# What a notebook holds
# ---------------------------------------------------------------------------------------------


def is_solution(cell):
    return "solution" in cell.metadata.get("tags", [])


def pictures(cell):
    """The (alternative text, file) of what a cell shows; a drawn picture has no file."""
    if cell.cell_type == "markdown":
        return PICTURE.findall(cell.source)
    drawn = [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    return [(alt_text(output), "") for output in drawn]


def sections(notebook, level):
    """The (heading, cells) of the sections whose headings have this level."""
    found = []
    for cell in notebook.cells:
        for depth, heading in reading.headings(cell):
            if depth <= level:
                found.append((depth, heading, []))
        if found:
            found[-1][2].append(cell)
    return [(heading, cells) for depth, heading, cells in found if depth == level]


@cache
def figure_captions(folder=ROOT / "figures"):
    """The caption of every lecture figure, by its file: the docstring of its function."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for call in getattr(node, "decorator_list", []):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "figure":
                    file = f"../figures/{path.stem}/{ast.literal_eval(call.args[0])}.svg"
                    found[file] = " ".join(ast.get_docstring(node).split())
    return found


# ---------------------------------------------------------------------------------------------
# The rules: each yields what is wrong
# ---------------------------------------------------------------------------------------------


def wrong_figures(notebook, chapter, number, captions):
    shown = [picture for cell in notebook.cells for picture in pictures(cell)]
    for alt, file in shown:
        if len(alt) < SHORTEST_ALT:
            yield f"a picture without an alternative text: {alt!r} {file}"
    told = reading.captions(notebook.cells)
    names = [f"{first}.{second}" for first, second, _ in told]
    if names != [f"{number}.{k}" for k in range(1, len(shown) + 1)]:
        yield f"{len(shown)} pictures have the captions {names}"
    for (_, file), name, (_, _, words) in zip(shown, names, told, strict=False):
        if file and words != captions.get(file):
            yield f"the caption of figure {name} is not the docstring of {file}"
        if not words:
            yield f"the caption of figure {name} has no words"


def wrong_sections(notebook, chapter, number, captions):
    found = [heading for heading, _ in sections(notebook, 2)]
    if found[-len(LAST_SECTIONS) :] != LAST_SECTIONS:
        yield f"its last sections are {found[-len(LAST_SECTIONS) :]}"
    opening = "\n".join(cell.source for cell in notebook.cells[:3])
    for words in ("**You need**", "minutes", "**Symbols here and in the notes"):
        if words not in opening:
            yield f"its first cells lack {words!r}"


def wrong_walks(notebook, chapter, number, captions):
    walks = reading.walks(notebook.cells)
    if [walk.number for walk in walks] != list(range(1, len(walks) + 1)):
        yield f"its walks have the numbers {[walk.number for walk in walks]}"
    for walk in walks:
        for what in walk.lacks:
            yield f"walk {walk.number} lacks: {what}"
    there = {anchor for walk in walks for anchor in walk.anchors}
    for claim in index.load_claims().values():
        if (claim.form, claim.chapter) == ("walk", chapter) and claim.id not in there:
            yield f"no walk has the anchor {claim.id}"


def wrong_code(notebook, chapter, number, captions):
    if len(set(reading.shown(notebook.cells))) < FEWEST_SHOWN:
        yield f"it shows the source of {len(set(reading.shown(notebook.cells)))} functions"
    there = index.algorithms_shown(notebook.cells)
    for claim in index.load_claims().values():
        if (claim.form, claim.chapter) == ("shown", chapter) and claim.id not in there:
            yield f"it does not show the function of {claim.id}: {claim.statement}"
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if cell.cell_type == "code" and not is_solution(cell) and len(lines) > LONGEST_CELL:
            yield f"{cell.id} has {len(lines)} lines"


def wrong_exercises(notebook, chapter, number, captions):
    found = [(EXERCISE.fullmatch(h), h, cells) for h, cells in sections(notebook, 3)]
    found = [(match, h, cells) for match, h, cells in found if h.startswith("Exercise")]
    numbers = [int(match[1]) if match else None for match, _, _ in found]
    if len(numbers) < FEWEST_EXERCISES:
        yield f"it has {len(numbers)} exercises"
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"its exercises have the headings {[h for _, h, _ in found]}"
    if {match[2] for match, _, _ in found if match} != {"★", "★★", "★★★"}:
        yield "its exercises are not of three grades"
    anchors = dict(reading.passages(notebook.cells))
    for k, (_, heading, cells) in enumerate(found, start=1):
        if anchors.get(f"{chapter}-x{k:02d}") != heading:
            yield f"exercise {k} lacks the anchor {chapter}-x{k:02d}"
        text = "\n".join(cell.source for cell in cells)
        for word in ("Hint", "Solution"):
            if FOLD.format(word) not in text:
                yield f"exercise {k} has no folded {word.lower()}"
        if not any(is_solution(cell) for cell in cells):
            yield f"exercise {k} has no cell with the tag solution"
    for cell in filter(is_solution, notebook.cells):
        begins = "# " if cell.cell_type == "code" else FOLD.format("Solution")
        if not cell.source.startswith(begins):
            yield f"{cell.id}: a solution is folded and begins with a sentence"
    for cell in notebook.cells:
        if cell.source.count("<details>") != cell.source.count("</details>"):
            yield f"{cell.id} opens a fold and does not close it"


def wrong_links(notebook, chapter, number, captions):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    others = set(re.findall(r"\]\((?:\.\./notebooks/)?(\d\d_\w+)\.ipynb", text))
    if not others - {f"{number:02d}_{chapter}"}:
        yield "it links no other chapter"


RULES = (wrong_figures, wrong_sections, wrong_walks, wrong_code, wrong_exercises, wrong_links)


def problems(notebook, name, captions=None):
    """All that the notebook called `name` lacks."""
    number, chapter = name.split("_", 1)
    captions = figure_captions() if captions is None else captions
    return [what for rule in RULES for what in rule(notebook, chapter, int(number), captions)]


# ---------------------------------------------------------------------------------------------
# The notebooks
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_rewritten_notebook_keeps_the_standard(name):
    assert problems(nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4), name) == []


def test_every_lecture_figure_has_a_caption():
    captions = figure_captions()
    there = {f"../figures/{path.parent.name}/{path.name}" for path in ROOT.glob("figures/*/*.svg")}
    assert set(captions) == there and all(captions.values())


# ---------------------------------------------------------------------------------------------
# Negative controls: each rule sees a notebook that breaks it
# ---------------------------------------------------------------------------------------------

FIGURE = "../figures/perceptron/tilt.svg"
OPENING = "# 12\n**You need** a pencil and 30 minutes.\n\n**Symbols here and in the notes.** None."
LINES = """$$\\begin{{aligned}}
&(1) & a &= b && \\text{{given}} \\\\
&(2) & &= c && \\text{{sum rule}} \\\\
&(3) & &= d
\\end{{aligned}}$$"""
WALK = '<a id="perceptron-w{0:02d}"></a>\n### Walk {0}. A title\n\n' + LINES
HINT = FOLD.format("Hint") + "Think.\n\n</details>"
SOLVED = FOLD.format("Solution") + "It is 1.\n\n</details>"


def sound_notebook():
    """A notebook of the perceptron without a fault; its cells by name."""
    claims = [claim for claim in index.load_claims().values() if claim.chapter == "perceptron"]
    walks = sum(claim.form == "walk" for claim in claims)
    owner = {claim.id: claim.owner for claim in claims}
    shown = [owner[i] for c in claims if c.form == "shown" for i in (c.id, c.of) if owner.get(i)]
    show = [f"from mlnotes.perceptron import {name.split('.')[1]}" for name in shown]
    show += [f"show({name.split('.')[1]})" for name in shown]
    cells = {
        "opening": v4.new_markdown_cell(OPENING),
        "linked": v4.new_markdown_cell(
            f"![A line that tilts with every mistake.]({FIGURE})\n\n**Figure 12.1.** A line\ntilts."
        ),
        "drawn": v4.new_code_cell("plt.show()", outputs=[drawn("A curve that falls to zero.")]),
        "caption": v4.new_markdown_cell(
            "**Figure 12.2.** A curve.\n\nSee [05](05_clustering.ipynb)."
        ),
        "shown": v4.new_code_cell("\n".join(show)),
    }
    for k in range(1, walks + 1):
        cells[f"walk {k}"] = v4.new_markdown_cell(WALK.format(k))
        cells[f"check {k}"] = v4.new_code_cell("a = 1  # (2)")
    cells["summary"] = v4.new_markdown_cell("## In one minute\n\n## Exercises")
    for k in range(1, 7):
        heading = f'<a id="perceptron-x{k:02d}"></a>\n### Exercise {k} {"★" * (1 + k % 3)} A title'
        cells[f"exercise {k}"] = v4.new_markdown_cell(f"{heading}\n\n{HINT}")
        cells[f"solution {k}"] = v4.new_markdown_cell(SOLVED, metadata={"tags": ["solution"]})
    cells["code"] = v4.new_code_cell("# It is 1.\n1", metadata={"tags": ["solution"]})
    cells["slips"] = v4.new_markdown_cell(f"## {reading.APPENDIX}")
    return cells


def drawn(alt):
    metadata = {"image/png": {"alt": alt}} if alt else {}
    return v4.new_output("display_data", {"image/png": "x"}, metadata=metadata)


def wrong_in(cells):
    notebook = v4.new_notebook(cells=list(cells.values()))
    return problems(notebook, "12_perceptron", {FIGURE: "A line tilts."})


def replace(name, old, new):
    def change(cells):
        assert old in cells[name].source, "the control changes nothing"
        cells[name].source = cells[name].source.replace(old, new)

    return change


def without(*names):
    return lambda cells: [cells.pop(name) for name in names]


BROKEN = {
    "without an alternative text: ''": lambda cells: cells["drawn"].update(outputs=[drawn("")]),
    "without an alternative text: 'A line' ": replace(
        "linked", "A line that tilts with every mistake.", "A line"
    ),
    "2 pictures have the captions ['12.1']": without("caption"),
    "2 pictures have the captions ['12.1', '11.2']": replace("caption", "12.2", "11.2"),
    "2 pictures have the captions ['12.2', '12.2']": replace("linked", "12.1", "12.2"),
    f"figure 12.1 is not the docstring of {FIGURE}": replace("linked", "tilts.", "turns."),
    "figure 12.2 has no words": replace("caption", "** A curve.", "**"),
    "its last sections are ['In short', 'Exercises'": replace(
        "summary", "In one minute", "In short"
    ),
    "its last sections are ['In one minute', 'Exercises', 'Ends']": replace(
        "slips", reading.APPENDIX, "Ends"
    ),
    "its first cells lack '**You need**'": replace("opening", "**You need**", "Bring"),
    "its first cells lack 'minutes'": replace("opening", "minutes", "hours"),
    "its first cells lack '**Symbols here": replace("opening", "**Symbols here", "**Letters here"),
    "its walks have the numbers [1, 3": replace("walk 2", "Walk 2", "Walk 3"),
    "no walk has the anchor perceptron-w02": replace("walk 2", "perceptron-w02", "here"),
    "walk 2 lacks: anchor": replace("walk 2", '<a id="perceptron-w02"></a>', ""),
    "walk 2 lacks: 3 lines or more": replace("walk 2", "&(3) & &= d", ""),
    "walk 2 lacks: 3 lines or more, numbered from 1": replace("walk 2", "&(3)", "&(4)"),
    "walk 2 lacks: reasons": replace("walk 2", "&& \\text{sum rule}", ""),
    "walk 2 lacks: cell that checks": replace("check 2", "# (2)", "# two"),
    "walk 1 lacks: cell that checks": without("check 1"),
    "no walk has the anchor perceptron-w01": lambda cells: cells.update(
        {"walk 1": v4.new_markdown_cell("x"), "late": v4.new_markdown_cell(WALK.format(1))}
    ),
    "it shows the source of 0 functions": without("shown"),
    "it does not show the function of perceptron-s01": replace("shown", "perceptron)", "sweep)"),
    "has 17 lines": lambda cells: cells["check 1"].update(source="a = 1  # (2)\n" * 17),
    "it has 5 exercises": without("exercise 6", "solution 6"),
    "its exercises have the headings": replace("exercise 2", "Exercise 2", "Exercise 3"),
    "its exercises have the headings ['Exercise 1 A title'": replace("exercise 1", "★★ ", ""),
    "not of three grades": lambda cells: [
        replace(f"exercise {k}", "★★★", "★")(cells) for k in (2, 5)
    ],
    "exercise 2 lacks the anchor perceptron-x02": replace("exercise 2", "x02", "x22"),
    "exercise 2 has no folded hint": replace("exercise 2", "Hint", "Help"),
    "exercise 2 has no folded solution": without("solution 2"),
    "exercise 3 has no folded hint": replace("exercise 3", "</summary>\n\n", "</summary>\n"),
    "exercise 2 has no cell with the tag solution": lambda cells: cells["solution 2"].update(
        metadata={}
    ),
    "a solution is folded and begins with a sentence": replace("code", "# It is 1.\n", ""),
    "opens a fold and does not close it": replace("exercise 2", "</details>", ""),
    "it links no other chapter": replace("caption", "05_clustering", "12_perceptron"),
}


def test_the_sound_notebook_keeps_the_standard():
    assert wrong_in(sound_notebook()) == []


@pytest.mark.parametrize("complaint", BROKEN)
def test_a_broken_notebook_is_seen(complaint):
    cells = sound_notebook()
    BROKEN[complaint](cells)
    assert complaint in "\n".join(wrong_in(cells))


def test_a_solution_may_be_long():
    cells = sound_notebook()
    cells["code"].source += "\n1" * 20
    assert wrong_in(cells) == []
