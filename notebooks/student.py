"""The notebooks without solutions, as one file to hand out: python notebooks/student.py

writes ``_student.zip`` with a folder in which everything is that a student needs: the notebooks,
the pictures that they link, and the package. In a notebook, each exercise that has a check ends in
a cell that asks for the answer. Main text, hints and the outputs of both stay as they are.

The file depends on the repository alone: two builds have the same bytes.
"""

import json
import re
import zipfile
from pathlib import Path

import nbformat
from execute import tidy
from nbformat import v4

from mlnotes.reading import ANCHOR, ANSWERS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "_student.zip"
TOP = "mlnotes-student"  # the folder in the file
DATE = (1980, 1, 1, 0, 0, 0)  # of every file in it: the first that a zip file can hold
EXERCISE = re.compile(r"[a-z_]+-x\d\d")
PICTURE = re.compile(r"\.\./(figures/[\w/]+\.\w+)")
CAPTION = re.compile(r"\A\*\*Figure.*?(?:\n\s*\n|\Z)", re.S)  # at the beginning of a cell
CELL = """from mlnotes.reading import check

answer = ...  # {enter}
check("{exercise}", answer)"""
README = """# mlnotes: notebooks with exercises

In this folder, with Python 3.11 or later:

    python3 -m venv .venv
    .venv/bin/python -m pip install ".[notebooks]"
    .venv/bin/python -m jupyter lab

On Windows, write `py` for `python3` and `.venv\\Scripts\\python` for `.venv/bin/python`. Then open
the folder `notebooks`. Where an exercise has a check, put your answer in the place of the `...` and
run the cell.
"""


def is_solution(cell):
    """Whether a cell belongs to the solution of an exercise."""
    return "solution" in cell.metadata.get("tags", [])


def checks(exercise, entries):
    """The cells that ask for the answers of an exercise, one for each part that has a check."""
    for part, entry in entries.items():
        if EXERCISE.match(part)[0] == exercise:
            yield v4.new_code_cell(CELL.format(enter=entry["enter"], exercise=part))


def without_solutions(notebook, entries):
    """The notebook as a student gets it. What a solution draws goes with its caption."""
    cells, exercise, before = [], None, None
    for cell in notebook.cells:
        if is_solution(cell):
            cells += checks(exercise, entries)
            exercise = None  # its checks stand once
        else:
            if before is not None and is_solution(before):
                cell.source = CAPTION.sub("", cell.source)
            found = [a for a in ANCHOR.findall(cell.source) if EXERCISE.fullmatch(a)]
            exercise = found[-1] if found else exercise
            cells.append(cell)
        before = cell
    student = v4.new_notebook(cells=[cell for cell in cells if cell.source.strip()])
    tidy(student)
    return student


def files(root=ROOT):
    """What the zip file holds: by name, the bytes."""
    entries = json.loads(ANSWERS.read_text(encoding="utf-8"))
    found = {"README.md": README.encode()}
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        student = without_solutions(nbformat.read(path, as_version=4), entries)
        found[f"notebooks/{path.name}"] = (nbformat.writes(student) + "\n").encode()
        text = "\n".join(cell.source for cell in student.cells if cell.cell_type == "markdown")
        found |= {name: (root / name).read_bytes() for name in PICTURE.findall(text)}
    package = [*root.glob("mlnotes/*.py"), *root.glob("mlnotes/data/*.*")]
    for path in (*package, root / "pyproject.toml", root / "LICENSE"):
        found[path.relative_to(root).as_posix()] = path.read_bytes()
    return dict(sorted(found.items()))


def write(path, contents):
    """Write the zip file whole, or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        with zipfile.ZipFile(part, "w") as archive:
            for name, data in contents.items():
                file = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
                file.external_attr = 0o644 << 16
                archive.writestr(file, data, zipfile.ZIP_DEFLATED)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


if __name__ == "__main__":
    write(TARGET, files())
    print(f"{TARGET.name}  written")
