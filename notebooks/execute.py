"""Execute notebooks in place, in a fresh kernel of the Python that runs this file.

    python notebooks/execute.py [NAME ...] [--check]

A name is a notebook (``05_clustering``), its number (``5``) or its chapter (``clustering``);
without one, all are executed. What is written depends on the cells alone: no timings, no versions,
ids by position. A file is written only where it changed, and never in part: a cell that fails
leaves its notebook as it was. ``--check`` writes nothing and fails where something would change.
"""

import argparse
import asyncio
import base64
import io
import math
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import numpy as np
from jupyter_client.kernelspec import NoSuchKernel
from matplotlib.image import imread
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parent
AT_A_TIME = 2
TIMEOUT = 300  # seconds for one cell
CLOSE = 2.0  # root mean square difference of two pictures, of 255, that the eye does not see
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
FOLDED = {"outputs_hidden": True, "source_hidden": True}  # in JupyterLab, until it is clicked
COLOR_CODES = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """A notebook that does not run: the message says which cell and why."""


# --- Pictures --------------------------------------------------------------------------


def pictures(outputs):
    """The PNG pictures among a cell's outputs, as base64 text and in order."""
    return [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]


def alt_text(output):
    """The alternative text of an output's picture; empty if it has none."""
    return output.get("metadata", {}).get("image/png", {}).get("alt", "")


def kept_metadata(output):
    """What stays of an output's metadata: the alternative text, and the check of an exercise."""
    alt, metadata = alt_text(output), output.get("metadata", {})
    kept = {"image/png": {"alt": alt}} if alt else {}
    return kept | {key: metadata[key] for key in ("check",) if key in metadata}


def same_metadata(a, b):
    """Whether two metadata are the same, but for the rounding of their numbers.

    >>> same_metadata({"tol": [0.1, 1]}, {"tol": [0.1 + 1e-16, 1]}), same_metadata([0.1], [0.2])
    (True, False)
    """
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_metadata, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_metadata(a[key], b[key]) for key in a)
    return a == b


def same_picture(a, b):
    """Whether two PNG pictures, as base64 text, look the same: equal size, RMS <= CLOSE.

    >>> same_picture("not a picture", "not a picture")
    True
    >>> same_picture("not a picture", "nor this")
    False
    """
    if a.strip() == b.strip():
        return True
    try:
        a, b = (255.0 * imread(io.BytesIO(base64.b64decode(text))) for text in (a, b))
    except (ValueError, OSError, SyntaxError):  # not base64, not a PNG, a damaged PNG
        return False
    return a.shape == b.shape and bool(np.sqrt(np.mean((a - b) ** 2)) <= CLOSE)


def keep_same(new, old):
    """Put the stored picture and metadata back wherever the fresh ones are the same."""
    for cell, before in zip(new.cells, old.cells, strict=True):
        fresh, stored = cell.get("outputs", []), before.get("outputs", [])
        drawn = [output for output in fresh if "image/png" in output.get("data", {})]
        for output, picture in zip(drawn, pictures(stored), strict=False):
            if same_picture(output["data"]["image/png"], picture):
                output["data"]["image/png"] = picture
        for output, other in zip(fresh, stored, strict=False):
            if same_metadata(kept_metadata(output), kept_metadata(other)) and "metadata" in other:
                output["metadata"] = other["metadata"]


# --- One notebook ----------------------------------------------------------------------


def tidy(notebook):
    """Drop what depends on the run, name the cells by position, and fold the code of solutions.

    Tags, alternative texts of pictures and the checks of exercises stay.
    """
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for i, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{i:03d}"
        tags = cell.metadata.get("tags")
        metadata = {"tags": tags} if tags else {}
        metadata |= {"check": cell.metadata["check"]} if "check" in cell.metadata else {}
        if cell.cell_type == "code" and "solution" in metadata.get("tags", []):
            metadata["jupyter"] = FOLDED
        cell.metadata = nbformat.from_dict(metadata)
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output["metadata"] = nbformat.from_dict(kept_metadata(output))


def kernel_settings(folder):
    """Unix sockets in `folder`, where there are any: two kernels may race for one TCP port."""
    if os.name != "posix":
        return Config()
    socket = str(Path(folder) / "kernel")
    manager = {"transport": "ipc", "ip": socket, "connection_file": f"{socket}.json"}
    return Config(KernelManager=manager)


async def run_cells(notebook):
    """Execute the cells in a fresh kernel, from first to last; NotebookError where one fails."""
    place, i = {"metadata": {"path": str(FOLDER)}}, None
    with tempfile.TemporaryDirectory(prefix="mlnotes-") as sockets:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=TIMEOUT,
            record_timing=False,
            coalesce_streams=True,
            resources=place,
            config=kernel_settings(sockets),
        )
        try:
            async with client.async_setup_kernel():
                for i, cell in enumerate(notebook.cells):
                    await client.async_execute_cell(cell, i)
        except NoSuchKernel as error:
            raise NotebookError(f"{error}: install the extra `notebooks`") from None
        except (CellExecutionError, CellControlSignal, DeadKernelError, RuntimeError) as error:
            where = "the kernel did not start" if i is None else f"cell-{i:03d} fails"
            raise NotebookError(f"{where}\n{COLOR_CODES.sub('', str(error))}") from None


async def fresh_text(path):
    """The text of the notebook file at `path` as it is now, and as it is after execution."""
    text = path.read_text(encoding="utf-8")
    try:
        old, new = (nbformat.reads(text, as_version=4) for _ in range(2))
    except (ValueError, nbformat.ValidationError) as error:
        raise NotebookError(f"not a notebook: {error}") from None
    await run_cells(new)
    tidy(new)
    keep_same(new, old)
    return text, nbformat.writes(new) + "\n"


def write(path, text):
    """Replace the file at `path` whole, or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


# --- All of them -----------------------------------------------------------------------


async def execute(path, turn, check):
    """Execute one notebook when it is its turn; print a line; return whether all is well."""
    async with turn:
        start = time.perf_counter()
        try:
            old, new = await fresh_text(path)
            verdict = "unchanged" if old == new else "STALE" if check else "written"
        except NotebookError as error:
            old, new, verdict = None, None, f"FAILED\n{error}"
        print(f"{path.stem:24s} {time.perf_counter() - start:6.1f} s  {verdict}", flush=True)
    if verdict == "written":
        write(path, new)
    return verdict in ("unchanged", "written")


async def execute_all(paths, check):
    """Execute the notebooks, AT_A_TIME of them at once; return whether all is well."""
    turn = asyncio.Semaphore(AT_A_TIME)
    return all(await asyncio.gather(*(execute(path, turn, check) for path in paths)))


def find(names):
    """The notebooks that the names mean: 05_clustering, 5 or clustering; all for no name."""
    paths = sorted(FOLDER.glob("*.ipynb"))
    if not names:
        return paths
    known = {}
    for path in paths:
        number, _, chapter = path.stem.partition("_")
        known |= dict.fromkeys((path.stem, number, number.lstrip("0"), chapter), path)
    stems = [Path(name).name.removesuffix(".ipynb") for name in names]
    unknown = [stem for stem in stems if stem not in known]
    if unknown:
        there = ", ".join(path.stem for path in paths) or "none"
        sys.exit(f"no notebook {', '.join(unknown)} (there are: {there})")
    return sorted({known[stem] for stem in stems})


def main():
    """Read the command line, execute, and exit 1 where something failed or is stale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    os.environ.pop("MPLBACKEND", None)  # set, it would keep the kernels from drawing
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two kernels share the processors
    well = asyncio.run(execute_all(find(options.names), options.check))
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
