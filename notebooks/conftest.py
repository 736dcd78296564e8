"""``pytest --nbval`` compares no pictures, alternative texts and checks. This file does.

It also gives each kernel sockets of its own: kernels that start together may race for a TCP port.
"""

import importlib.util
import tempfile

import nbval.kernel
import pytest
from execute import kernel_settings, kept_metadata, pictures, same_metadata, same_picture
from jupyter_client.manager import KernelManager

collect_ignore = [  # what `make book` alone installs
    name
    for name in ("site/book.py", "site/slides.py")
    if importlib.util.find_spec("pypandoc") is None
]
SOCKETS = tempfile.TemporaryDirectory(prefix="mlnotes-")


def kernel_manager(**how):
    """The manager of one kernel, as nbval asks for it."""
    return KernelManager(config=kernel_settings(tempfile.mkdtemp(dir=SOCKETS.name)), **how)


nbval.kernel.KernelManager = kernel_manager


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A cell that printed what is stored must also have drawn what is stored."""
    result = yield
    if hasattr(item, "test_outputs"):  # a cell of a notebook, and what it has just put out
        drawn, stored = pictures(item.test_outputs), pictures(item.cell.outputs)
        if len(drawn) != len(stored):
            item.raise_cell_error(f"{len(drawn)} pictures drawn, {len(stored)} stored")
        if not all(map(same_picture, drawn, stored)):
            item.raise_cell_error("a picture differs from the one that is stored")
        fresh, kept = (
            [kept_metadata(o) for o in outputs if kept_metadata(o)]
            for outputs in (item.test_outputs, item.cell.outputs)
        )
        if not same_metadata(fresh, kept):
            item.raise_cell_error("an alternative text or a check differs from the stored one")
    return result
