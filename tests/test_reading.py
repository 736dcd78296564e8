"""What notebooks show of the package, and what the index reads in a notebook."""

import ast
import importlib
import inspect
from functools import cache

import IPython.display
import numpy as np
import pytest
from matplotlib import pyplot as plt

from mlnotes import CHAPTERS, mixture, reading

# --- Code on the page ------------------------------------------------------------------


@cache
def documented(x):
    """Gone."""

    # a comment that stays
    return x + 1


class Pair:
    """Gone too.

    With this line.
    """

    size = 2

    def first(self):
        """And this."""
        return "a string that stays"

    def nothing(self):
        """This is all."""


@pytest.fixture
def displayed(monkeypatch):
    calls = []
    monkeypatch.setattr(IPython.display, "display", lambda *a, **k: calls.append((a, k)))
    return calls


def public_definitions():
    """The functions of every chapter; the classes of one only, since Python finds them slowly."""
    for chapter in CHAPTERS:
        module = importlib.import_module(f"mlnotes.{chapter}")
        for name in reading.public_names(module):
            value = getattr(module, name)
            if inspect.isfunction(value) or (chapter == "mixture" and inspect.isclass(value)):
                yield f"{chapter}.{name}", value


def without_docstrings(text):
    """The syntax of a program without its docstrings, as text."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return ast.dump(tree)


def test_the_source_keeps_decorators_and_comments_and_drops_docstrings():
    assert reading.source(documented) == (
        "@cache\ndef documented(x):\n    # a comment that stays\n    return x + 1"
    )
    assert reading.source(Pair) == (
        "class Pair:\n    size = 2\n\n    def first(self):\n"
        '        return "a string that stays"\n\n    def nothing(self):\n        ...'
    )
    assert reading.source(Pair.first) == (
        'def first(self):\n    return "a string that stays"'
    )  # fmt: skip


def spaced(
    x,
):  # fmt: skip
    return [x,   1]  # a comment that stays  # fmt: skip


def test_the_source_shows_no_word_to_the_formatter():
    assert reading.source(spaced) == (
        "def spaced(\n    x,\n):\n    return [x,   1]  # a comment that stays"
    )


def test_the_source_of_what_is_public_is_the_code_that_runs():
    seen = dict(public_definitions())
    for name, value in seen.items():
        shown, whole = reading.source(value), inspect.getsource(value)
        assert ast.dump(ast.parse(shown)) == without_docstrings(whole), name
    assert len(seen) > 300 and inspect.isclass(seen["mixture.GaussianMixture"])


def test_the_source_without_docstrings_computes_the_same():
    scope = dict(vars(mixture))
    exec(reading.source(mixture.mixture_log_likelihood), scope)
    weights, components = (
        np.array([0.5, 0.5]),
        mixture.gaussians([[0.0], [2.0]], np.ones((2, 1, 1))),
    )
    X = np.array([[0.0], [1.0], [5.0]])
    theirs = scope["mixture_log_likelihood"](X, weights, components)
    assert theirs == mixture.mixture_log_likelihood(X, weights, components)


def test_show_displays_markdown_and_plain_text_of_the_same_code(displayed):
    assert reading.show(documented, Pair) is None
    ((data,), how) = displayed[0]
    code = data["text/plain"]
    assert how == {"raw": True} and data["text/markdown"] == f"```python\n{code}\n```"
    assert code == f"{reading.source(documented)}\n\n\n{reading.source(Pair)}"


# --- Figures ---------------------------------------------------------------------------


def test_a_figure_is_displayed_once_with_its_alternative_text(displayed):
    fig, _ = plt.subplots()
    reading.show_figure(fig, "An empty pair of axes.")
    assert displayed == [((fig,), {"metadata": {"image/png": {"alt": "An empty pair of axes."}}})]
    assert not plt.fignum_exists(fig.number)


def test_a_figure_without_words_is_refused(displayed):
    fig, _ = plt.subplots()
    with pytest.raises(ValueError, match="alt must say what the figure shows"):
        reading.show_figure(fig, " ")
    assert displayed == []
    plt.close(fig)


# --- A notebook read -------------------------------------------------------------------


def markdown(text):
    return {"cell_type": "markdown", "source": text}


def code(text):
    return {"cell_type": "code", "source": text.splitlines(keepends=True)}


def test_an_anchor_belongs_to_the_heading_beside_it_or_before_it():
    cells = [
        markdown('<a id="a"></a>\n\n# One\nText <a id="b"></a>of one.\n\n<a id="c"></a>\n## Two'),
        code('"<a id=no></a>"'),
        markdown('<a id="d"></a><a id="e"></a>Still two.\n\n### <a id="f"></a>Three\n\nEnd.'),
        markdown('```\n# (1) a comment\n```\n<a id="g"></a>Still three.'),
    ]
    expected = {"a": "One", "b": "One", "c": "Two", "d": "Two", "e": "Two", "f": "Three"}
    assert dict(reading.passages(cells)) == {**expected, "g": "Three"}


LINES = "&(1) & a &= b && \\text{given} \\\\\n&(2) & &= c\n&& \\text{so} \\\\\n&(3) & &= d"
HEADING = '<a id="w1"></a>\n### Walk 1. Why\n\n'


def test_a_walk_has_an_anchor_numbered_lines_and_a_check():
    cells = [markdown(HEADING + LINES), code("a = b  # (2)"), markdown("Then."), markdown("## On")]
    (walk,) = reading.walks(cells)
    assert walk == (1, "Why", ("w1",), (1, 2, 3), 2, {2}) and walk.lacks == []


def test_a_walk_may_go_on_in_the_next_cells():
    first, second = LINES.split("\n&(3)")
    cells = [markdown(HEADING + first), code("a  # (1)"), markdown(f"&(3){second}"), code("# (3)")]
    assert reading.walks(cells)[0].lacks == [] and reading.walks(cells)[0].checked == {1, 3}


@pytest.mark.parametrize(
    "after",
    [
        [],
        [code("a = b  # (4)")],
        [code("a = b")],
        [markdown("## Next"), code("a = b  # (2)")],
        [markdown("Words.")] * 4 + [code("a = b  # (2)")],
        [markdown("a = b  # (2)")],
    ],
)
def test_a_check_names_a_line_and_is_near(after):
    (walk,) = reading.walks([markdown(HEADING + LINES), *after])
    assert walk.lacks == ["cell that checks its lines"]


def test_two_walks_of_one_cell_have_their_own_lines():
    other = LINES.replace("&(3) & &= d", "") + HEADING.replace("1", "2")
    cells = [markdown(HEADING + other + LINES), markdown("&(4) & &= e"), code("# (1)")]
    first, second = reading.walks(cells)
    assert first.lines == (1, 2) and second.lines == (1, 2, 3, 4)
    assert first.anchors == ("w1",) and second.anchors == ("w2",)


def test_a_walk_in_the_appendix_or_under_another_level_does_not_count():
    cells = [markdown(HEADING.replace("###", "##") + LINES), code("# (1)")]
    assert reading.walks(cells) == []
    cells = [markdown(f"## {reading.APPENDIX}"), markdown(HEADING + LINES), code("# (1)")]
    assert reading.walks(cells) == []


def test_shown_functions_are_found_under_every_name_of_theirs():
    cells = [
        code("%matplotlib inline\nfrom mlnotes.mixture import em as algorithm, maximise"),
        code("from mlnotes import svm\nfrom mlnotes.reading import show"),
        code("show(algorithm, maximise)\nshow(svm.smo)\nprint(show)"),
        code("this is not Python"),
        markdown("show(nothing)"),
    ]
    assert reading.shown(cells) == ["mixture.em", "mixture.maximise", "svm.smo"]


def test_captions_have_numbers_and_end_with_their_paragraph():
    cells = [
        markdown("Text.\n\n**Figure 6.3.** One\nline. **Figure 6.9.** no.\n\nMore."),
        markdown("**Figure 6.4** (drawn by the next cell). Two.\n\n</details>"),
        code("**Figure 6.5.** not a caption"),
    ]
    words = (6, 3, "One line. **Figure 6.9.** no."), (6, 4, "(drawn by the next cell). Two.")
    assert reading.captions(cells) == [*words]
