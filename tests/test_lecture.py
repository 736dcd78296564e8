"""The lecture's half of a chapter holds what stands on the blackboard, and nothing else."""

import ast
import re
from collections import Counter

import measures
import pytest
from contract import modules

from mlnotes import CHAPTERS, reading

RULED = "# " + "=" * 87
MODULE = f"""
def check_X(X): ...

{RULED}
# The lecture
{RULED}

def mean(X{{parameter}}):
    {{line}}
    return X.mean(axis=0)

{RULED}
# The estimators
{RULED}

class Mean:
    def fit(self, X, sample_weight=None):
        _ = check_X(X)
"""


def guards(source):
    """What the lecture's half of a source holds that no blackboard does.

    Checks of shapes and parameters, private names, weights of samples, and what silences or saves
    memory belong to the estimators.
    """
    half = measures.lecture(source)
    for node in ast.walk(ast.parse(source)):
        if getattr(node, "lineno", 0) in half:
            names = [getattr(node, field, None) for field in ("id", "name", "arg")]
            for name in filter(None, names):
                if re.match(r"check_|_[a-z]|sample_weight$|out$", str(name)):
                    if name != "out" or isinstance(node, ast.keyword):
                        yield f"{name} in line {node.lineno}"
            if isinstance(node, ast.Attribute) and node.attr == "errstate":
                yield f"errstate in line {node.lineno}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_lecture_stands_alone(chapter):
    source = (measures.PACKAGE / f"{chapter}.py").read_text(encoding="utf-8")
    assert list(guards(source)) == []


@pytest.mark.parametrize(
    "parameter, line, seen",
    [
        ("", "X = check_X(X)", "check_X"),
        ("", "X = _centred(X)", "_centred"),
        (", _centre=0", "...", "_centre"),
        (", sample_weight=None", "...", "sample_weight"),
        ("", "with np.errstate(all='ignore'): X = X / 0", "errstate"),
        ("", "np.exp(X, out=X)", "out"),
        ("", "from mlnotes.base import check_y", "check_y"),
    ],
)
def test_what_does_not_stand_on_a_blackboard_is_seen(parameter, line, seen):
    found = list(guards(MODULE.format(parameter=parameter, line=line)))
    assert [each.split()[0] for each in found] == [seen]


def test_the_other_half_may_hold_it():
    assert list(guards(MODULE.format(parameter=", weights=None", line="out = _ = X @ X.T"))) == []


def test_a_public_name_means_one_thing_in_the_whole_package():
    counts = Counter(name for module in modules() for name in reading.public_names(module))
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_measures_count_code_and_no_docstring():
    source = '"""A module."""\n\nA, B = 1, -2.5  # two\nC = "3"\n\n\ndef f(x):\n    """Doc."""\n'
    source += "    # a comment\n    y = [\n        x,\n    ]\n    return y\n"
    assert measures.code_lines(source) == {3, 4, 7, 10, 11, 12, 13}
    assert list(measures.functions(source)) == [("f", 4)]
    assert list(measures.constants(source)) == ["A", "B"]


def test_every_measure_is_printed_beside_its_aim(capsys):
    measures.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 and all("(aim " in line for line in lines)
