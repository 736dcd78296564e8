"""The notebooks to hand out: python notebooks/student.py [CHAPTER ...]

writes ``_student.zip`` and ``_instructor.zip``, with all chapters or with those that are named.
Each has a folder with everything that one needs: the notebooks, the pictures that they link, and
the package. The students' notebooks have no solutions. In place of a solution that says what the
answer is, a cell asks for it. Main text, hints and the outputs of both stay as they are.

The files depend on the repository alone: two builds have the same bytes.
"""

import re
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import nbformat
from execute import tidy
from nbformat import v4

from mlnotes.reading import checks, is_solution

ROOT = Path(__file__).resolve().parent.parent
TOP = "mlnotes"  # the folder in the file
DATE = (1980, 1, 1, 0, 0, 0)  # of every file in it: the first that a zip file can hold
PICTURE = re.compile(r"\.\./(figures/[\w/]+\.\w+)")
CAPTION = re.compile(r"\A\*\*Figure.*?(?:\n\s*\n|\Z)", re.S)  # at the beginning of a cell
CELL = """from mlnotes.reading import check

answer = ...  # {words}
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


def asking(exercise, entry):
    """The cell that asks for an answer; its metadata hold what the check needs."""
    source = CELL.format(words=entry["words"], exercise=exercise)
    return v4.new_code_cell(source, metadata={"check": {exercise: entry}})


def without_solutions(notebook):
    """The notebook as a student gets it. What a solution draws goes with its caption."""
    cells, before = [], None
    for cell in notebook.cells:
        if is_solution(cell):
            cells += [asking(*item) for item in checks(cell).items()]
        else:
            if before is not None and is_solution(before):
                cell.source = CAPTION.sub("", cell.source)
            cells.append(cell)
        before = cell
    student = v4.new_notebook(cells=[cell for cell in cells if cell.source.strip()])
    tidy(student)
    return student


def files(chapters=(), solutions=False, root=ROOT):
    """What the zip file of these chapters holds, all if none is named: by name, the bytes.

    Raises: ValueError if there is no such chapter.
    """
    found, paths = {"README.md": README.encode()}, sorted((root / "notebooks").glob("*.ipynb"))
    names = [path.stem.partition("_")[2] for path in paths]
    if not set(chapters) <= set(names):
        raise ValueError(f"chapters must be of {', '.join(names)}; got {' '.join(chapters)}")
    for path, name in zip(paths, names, strict=True):
        if chapters and name not in chapters:
            continue
        notebook = nbformat.read(path, as_version=4)
        if not solutions:
            notebook = without_solutions(notebook)
        found[f"notebooks/{path.name}"] = (nbformat.writes(notebook) + "\n").encode()
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        found |= {name: (root / name).read_bytes() for name in PICTURE.findall(text)}
    package = [*root.glob("mlnotes/*.py"), *root.glob("mlnotes/data/*.*")]
    for path in (*package, root / "pyproject.toml", root / "LICENSE"):
        found[path.relative_to(root).as_posix()] = path.read_bytes()
    return dict(sorted(found.items()))


def packed(contents):
    """The bytes of the zip file."""
    with zipfile.ZipFile(file := BytesIO(), "w") as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(f"{TOP}/{name}", DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


def write(path, contents):
    """Write the zip file whole, or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(packed(contents))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


if __name__ == "__main__":
    for edition in ("student", "instructor"):
        write(ROOT / f"_{edition}.zip", files(sys.argv[1:], solutions=edition == "instructor"))
        print(f"_{edition}.zip  written")
