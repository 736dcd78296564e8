"""The report of how the package reads, on modules whose figures are known."""

import re

import pytest
import style

MODULE = '''
"""A module.

Of four lines.
"""

import numpy as np

FIRST, NAME = 1e-9, "word"
SECOND = -2 * FIRST
THIRD = 100 * np.finfo(float).eps
LIST = [1, 2]
FLAG = True


def long(x):
    """Nine.

    Not counted.
    """
    # nor this

    with np.errstate(all="ignore"):
        for y in x:
            if y:
                np.add(x, y, out=x)
    return """two
    lines"""


def short():
    LOCAL = 3
    return LOCAL
'''


def test_the_figures_of_a_module():
    figures = dict(zip(style.HEAD, style.measure(MODULE), strict=False))
    assert figures == {
        "lines": 33, "functions": 2, "median": "4", "p90": "6", "max": 6, "docstrings": "24%",
        "nesting": "3", "constants": 3, "errstate": 1, "out=": 1,
    }  # fmt: skip


def test_numbers_of_a_module_are_constants_and_nothing_else_is():
    tree = style.ast.parse(MODULE)
    assert style.numeric_constants(tree) == ["FIRST", "SECOND", "THIRD"]


PROGRAM = {
    "base": """
class Estimator:
    def check(self):
        return self
    """,
    "first": '''
from mlnotes.base import Estimator

def shared(x):
    """A docstring.

    Of three lines.
    """
    return _helper(x)

def _helper(x):
    return _helper(x - 1) if x else _other(x)

def _other(x):
    return shared(x)

def never():
    return shared(1)

class _Machine(Estimator):
    def fit(self, X):
        self._prepare(X)
        return self.solve(X)

    def _prepare(self, X):
        return self.check()

    def solve(self, X):
        raise NotImplementedError
    ''',
    "second": """
from mlnotes.first import _Machine, shared as common

class Model:
    def __init__(self):
        self._x = 1

class Straight(_Machine):
    def solve(self, X):
        model = Model()
        steps = [common, common]
        return steps[0](X)

class Flat(_Machine):
    def solve(self, X):
        return X

class Plain:
    def predict(self, X):
        return X
    """,
}


@pytest.fixture
def program(tmp_path):
    for name, text in PROGRAM.items():
        (tmp_path / f"{name}.py").write_text(text)
    return style.read_program(tmp_path)


def test_estimators_are_the_public_classes_with_a_fit(program):
    assert style.estimators(program) == [("second", "Straight"), ("second", "Flat")]


def test_a_fit_reaches_what_it_calls_here_inherited_and_imported(program):
    # fit 2 lines, _prepare 1, solve 3, Model.__init__ 1, shared 1, _helper 1, _other 1
    straight = style.reach(program, ("second", "Straight"))
    assert straight == ("second.Straight", 5, 3, 10)  # fit, solve, shared, _helper, _other
    assert style.reach(program, ("second", "Flat")) == ("second.Flat", 2, 1, 4)


def test_what_is_beyond_an_aim_is_far():
    near = style.Reach("svm.SVC", style.DEEPEST, style.MOST_PRIVATE, style.MOST_REACHED)
    assert not near.is_far
    for field in ("depth", "private", "lines"):
        assert near._replace(**{field: getattr(near, field) + 1}).is_far


def test_the_report_has_a_line_for_every_chapter(capsys):
    style.main()
    out = capsys.readouterr().out
    head, *lines = out.splitlines()
    assert head.split() == ["module", *style.HEAD]
    assert re.search(r"^svm +\d+ +\d+ .* \d+ +\d+ +\d+$", out, flags=re.M)
    assert re.search(r"^\d+ of \d+ estimators are beyond an aim$", out, flags=re.M)
    assert sum(len(line.split()) == 14 for line in lines) > 15  # the chapters with estimators
