"""What is shipped and imported, and the commands: a pure wheel, numpy alone, earlier chapters."""

import ast
import re
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from flit_core.buildapi import build_wheel

from mlnotes import CHAPTERS, __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mlnotes"
ORDER = list(CHAPTERS)
WRITTEN = [chapter for chapter in ORDER if (PACKAGE / f"{chapter}.py").exists()]
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__"))
IMPORT = """
import sys
import numpy.random  # registers Cython's runtime, a package of no one
before = set(sys.modules)
import {module}
print(*sorted(set(sys.modules) - before))
"""


# --- The wheel -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build_wheel(str(folder))


def test_the_wheel_is_pure_python(wheel):
    assert wheel.name == f"mlnotes-{__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    info = f"mlnotes-{__version__}.dist-info/"
    assert [name for name in names if not name.startswith(("mlnotes/", info))] == []
    assert [name for name in names if name.endswith((".so", ".pyd", ".pyc", ".part"))] == []


def test_the_wheel_holds_every_module_and_all_data(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("mlnotes/")}
    files = [*PACKAGE.glob("*.py"), *(path for path in PACKAGE.glob("data/*") if path.is_file())]
    assert names == {path.relative_to(ROOT).as_posix() for path in files}


def test_the_wheel_depends_on_numpy_alone(wheel):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(f"mlnotes-{__version__}.dist-info/METADATA").decode()
    needed = message_from_string(metadata).get_all("Requires-Dist")
    always = [requirement for requirement in needed if "extra ==" not in requirement]
    assert [requirement.split(">")[0].strip() for requirement in always] == ["numpy"]


def test_the_wheel_works_where_it_is_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = "from mlnotes import datasets as d; print(d.__file__, len(d.load_iris()))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, text=True, capture_output=True, check=True
    )
    assert done.stdout.split() == [str(tmp_path / "mlnotes" / "datasets.py"), "150"]


# --- What an import pulls in, measured in a fresh interpreter --------------------------


def imported_by(module, folder=ROOT):
    """The modules that `import module` loads."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(module=module)],
        cwd=folder, text=True, capture_output=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def foreign(modules):
    """The packages among the modules that are neither numpy, nor ours, nor Python's own."""
    packages = {name.partition(".")[0] for name in modules}
    return packages - set(sys.stdlib_module_names) - {"mlnotes", "numpy"}


def test_the_package_imports_no_chapter():
    loaded = imported_by("mlnotes")
    assert {name for name in loaded if name.startswith("mlnotes")} == {"mlnotes"}
    assert foreign(loaded) == set()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_numpy_and_python_alone(module):
    assert foreign(imported_by(f"mlnotes.{module}")) == set()


def test_a_foreign_import_is_seen(tmp_path):
    (tmp_path / "chapter.py").write_text("import numpy\nimport json\nimport pytest\n")
    assert "pytest" in foreign(imported_by("chapter", tmp_path))


# --- The order of the chapters, read from the sources ----------------------------------


def imports(source):
    """The full names that a module of the package imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = ".".join(filter(None, ["mlnotes" if node.level else "", node.module]))
            inside = [f"mlnotes.{alias.name}" for alias in node.names]
            yield from inside if home == "mlnotes" else [home]


def out_of_order(source, chapter):
    """The imports of a chapter's source beyond Python's own, numpy, base and earlier chapters."""
    earlier = {"base", "numerics", *ORDER[: ORDER.index(chapter)]}
    for name in imports(source):
        package, _, rest = name.partition(".")
        ours = package == "mlnotes" and rest.partition(".")[0] in earlier
        if not (ours or package == "numpy" or package in sys.stdlib_module_names):
            yield name


@pytest.mark.parametrize("chapter", WRITTEN)
def test_a_chapter_imports_earlier_ones_only(chapter):
    source = (PACKAGE / f"{chapter}.py").read_text(encoding="utf-8")
    assert list(out_of_order(source, chapter)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import math, itertools\nfrom collections.abc import Callable",
        "import numpy as np\nfrom numpy.linalg import svd",
        "from mlnotes.base import Clusterer\nfrom .base import check_X",
        "import mlnotes.clustering\nfrom mlnotes import probability\nfrom . import density",
    ],
)
def test_an_import_in_order_is_allowed(source):
    assert list(out_of_order(source, "mixture")) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from mlnotes.pca import PCA", "mlnotes.pca"),
        ("from mlnotes import svm", "mlnotes.svm"),
        ("from . import base, trees", "mlnotes.trees"),
        ("from .ensemble import bagging", "mlnotes.ensemble"),
        ("import mlnotes.mixture", "mlnotes.mixture"),
        ("from mlnotes import datasets", "mlnotes.datasets"),
        ("from mlnotes.plotting import draw_line", "mlnotes.plotting"),
        ("def fit(X):\n    from scipy.linalg import expm", "scipy.linalg"),
        ("import sklearn", "sklearn"),
        ("import matplotlib.pyplot as plt", "matplotlib.pyplot"),
    ],
)
def test_an_import_out_of_order_is_seen(source, name):
    assert list(out_of_order(source, "mixture")) == [name]


# --- The commands of the Makefile, the README and the workflow -------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")


def plain_commands():
    """The commands of the README that need no make, without the path of Python and comments."""
    section = README.partition("## Without make")[2]
    lines = re.findall(r"^    \.venv/bin/python (.*?)(?:  +#.*)?$", section, flags=re.M)
    return [line.strip() for line in lines]


def test_every_target_of_make_has_its_plain_command():
    targets = set(re.findall(r"^([a-z]+):.*## ", MAKEFILE, flags=re.M)) - {"help", "clean"}
    assert len(targets) > 7
    without = README.partition("## Without make")[2]
    assert [target for target in targets if not re.search(rf"# {target}\b", without)] == []


def test_the_commands_are_the_same_everywhere():
    (test,) = [command for command in plain_commands() if "--nbval " in command]
    assert f"$(STEADY) {test}\n" in MAKEFILE and "make test" in WORKFLOW
    lint = [command for command in plain_commands() if "ruff" in command or "measures" in command]
    assert len(lint) == 3
    for command in lint:
        assert f"$(PY) {command}\n" in MAKEFILE and f"python {command}\n" in WORKFLOW


def test_the_workflow_covers_three_systems_and_every_python():
    assert "[ubuntu-latest, macos-latest, windows-latest]" in WORKFLOW
    assert '["3.11", "3.12", "3.13", "3.14"]' in WORKFLOW
    oldest = re.search(r'requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert oldest[1] == "3.11"


def test_the_workflow_leaves_out_what_needs_more_than_the_package():
    """The tests that import what only notebooks and site need run once, in the job `book`."""
    needing = re.compile(
        r"^ *(?:import|from) (?:nbformat|IPython|build_site|test_notebooks)\b", re.M
    )
    tests = {f"tests/{path.name}": path.read_text("utf-8") for path in ROOT.glob("tests/test_*.py")}
    left_out = re.findall(r"--ignore (\S+)", WORKFLOW)
    assert left_out == sorted(name for name, text in tests.items() if needing.search(text))


def test_jupyterlab_is_started_where_it_finds_the_pictures():
    """The notebooks link ../figures: the folder that is served must be that of the repository."""
    (lab,) = [command for command in plain_commands() if "jupyter lab" in command]
    assert lab == "-m jupyter lab"
    assert "jupyter lab --ServerApp.root_dir=. " in MAKEFILE


def test_the_programs_of_the_readme_run(capsys):
    scope = {}
    for program in re.findall(r"```python\n(.*?)```", README, flags=re.S):
        exec(program, scope)
    assert len(scope["labels"]) == 150 and len(capsys.readouterr().out.split()) > 1
