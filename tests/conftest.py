"""What the tests of all chapters share."""

import numpy as np
import pytest

from mlnotes import CHAPTERS

collect_ignore = ["conftest.py"]  # no doctests here, and notebooks has a module of this name, too


@pytest.fixture
def rng(request):
    """A source of random numbers, the same in every run: its seed is the chapter's number."""
    chapter = request.module.__name__.removeprefix("test_")
    return np.random.default_rng([*CHAPTERS, chapter].index(chapter) + 1)
