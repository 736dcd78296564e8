"""The contract with the notes: what each chapter delivers, and that the index tells it."""

import json
import re
from collections import Counter

import pytest

import mlnotes
from mlnotes import __main__ as index

CLAIMS = index.load_claims()
CITED = index.read_citations()
WRITTEN = [c for c in (*mlnotes.CHAPTERS, "datasets") if index.is_written(c)]


# ---------------------------------------------------------------------------------------
# The book
# ---------------------------------------------------------------------------------------


def test_the_ledger_is_whole():
    assert len(CLAIMS) == 749
    assert sum(claim.kind == "erratum" for claim in CLAIMS.values()) == 173
    assert {claim.chapter for claim in CLAIMS.values()} == {*mlnotes.CHAPTERS, "datasets"}
    for claim in CLAIMS.values():
        assert claim.statement and claim.sources


@pytest.mark.parametrize("chapter", [c for c in WRITTEN if c not in mlnotes.IN_WORK])
def test_a_finished_chapter_delivers_every_claim(chapter):
    own = [claim for claim in CLAIMS.values() if claim.chapter == chapter]
    lacking = {claim.id: index.missing(claim, CITED) for claim in own}
    assert not {claim: lack for claim, lack in lacking.items() if lack}


def test_chapters_in_work_exist():
    assert set(mlnotes.IN_WORK) <= set(WRITTEN)


@pytest.mark.parametrize("kind", CITED._fields)
def test_every_citation_names_a_claim(kind):
    assert set(getattr(CITED, kind)) <= set(CLAIMS)


def test_what_is_computed_has_one_owner_in_its_chapter():
    for claim, owners in CITED.owners.items():
        assert len(owners) == 1, (claim, owners)
        assert CLAIMS[claim].form == "api" and owners[0].startswith(CLAIMS[claim].chapter + ".")


def test_errata_are_told_where_they_bite():
    """In the module, beside the line it concerns, or in the notebook's list."""
    for claim in CLAIMS.values():
        if claim.kind == "erratum" and claim.chapter in set(WRITTEN) - set(mlnotes.IN_WORK):
            module = (index.PACKAGE / f"{claim.chapter}.py").read_text(encoding="utf-8")
            assert claim.id in module or claim.id in CITED.notebooks, claim.id


# ---------------------------------------------------------------------------------------
# The index
# ---------------------------------------------------------------------------------------


def printed(capsys, query=""):
    status = index.main(query)
    return status, capsys.readouterr().out


def test_contents_page_names_every_chapter(capsys):
    status, out = printed(capsys)
    assert status is None
    assert all(re.search(rf"^ *\d+  {chapter} ", out, flags=re.M) for chapter in mlnotes.CHAPTERS)
    assert 'python -m mlnotes "IRHD 1.10"' in out


def test_a_chapter_lists_its_claims_with_function_and_test(capsys):
    _, out = printed(capsys, "probability")
    assert Counter(re.findall(r"^(\w+)-\d\d \(", out, flags=re.M)) == {"probability": 21}
    assert "computed by  probability.expectation" in out
    assert "checked by  test_probability.py::" in out


def test_errata_are_those_of_the_ledger(capsys):
    _, out = printed(capsys, "errata")
    assert len(re.findall(r"^[a-z_]+-\d\d \(erratum\)", out, flags=re.M)) == 173


@pytest.mark.parametrize(
    "query, claim",
    [
        ("IRHD 1.10", "probability-09"),
        ("IRHD 8.19", "optimization-15"),  # in the range 8.17-8.21
        ("eq 8.45", "svm-41"),
        ("table 1.1", "probability-15"),
        ("Chebyshev", "probability-20"),
        ("svm-41", "svm-41"),
    ],
)
def test_an_equation_a_section_or_a_word_finds_its_statements(capsys, query, claim):
    status, out = printed(capsys, query)
    assert status is None and f"{claim} (" in out


def test_numbers_are_whole_numbers(capsys):
    _, out = printed(capsys, "IRHD 8.4")
    assert "svm-41" not in out  # eq 8.44 to 8.46
    assert not index.matches(CLAIMS["probability-09"], "IRHD 1.2.1")


def test_nothing_found_is_said_and_fails(capsys):
    status, out = printed(capsys, "no such thing")
    assert status.startswith("nothing found for 'no such thing'") and not out


def test_progress_counts_and_names_what_is_missing(capsys, monkeypatch):
    claim = CLAIMS["probability-02"]
    without = CITED._replace(tests={k: v for k, v in CITED.tests.items() if k != claim.id})
    assert index.missing(claim, CITED) == [] and index.missing(claim, without) == ["test"]
    index.print_progress(CLAIMS, without)
    out = capsys.readouterr().out
    assert re.search(r"^probability +20 /  21$", out, flags=re.M)
    assert "probability-02 lacks test" in out
    monkeypatch.setattr(index, "IN_WORK", ("probability",))
    index.print_progress(CLAIMS, CITED)
    assert "chapters in work: probability" in capsys.readouterr().out


def test_citations_are_read_as_the_contract_says(tmp_path):
    fit = '    def fit(self):\n        """Fit.\n\n        Claims: svm-01, svm-02\n        """\n'
    cells = [
        {"cell_type": "markdown", "source": ['<a id="svm-04"></a><a id="svm', '-05"></a>As it']},
        {"cell_type": "markdown", "source": ['[svm-06], svm-07 and <a id="svm-x01"></a>Exercise']},
        {"cell_type": "code", "source": ['<a id="svm-08"></a>']},
    ]
    for name, text in {
        "mlnotes/svm.py": f"class SVC:\n{fit}",
        "tests/test_svm.py": "@pytest.mark.claims('svm-01')\ndef test_it():\n    assert True\n",
        "figures/svm.py": "@figure('margin', claims=('svm-03',))\ndef margin(ax):\n    pass\n",
        "notebooks/19_svm.ipynb": json.dumps({"cells": cells}),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert index.read_citations(tmp_path) == (
        {"svm-01": ["svm.SVC.fit"], "svm-02": ["svm.SVC.fit"]},
        {"svm-01": ["test_svm.py::test_it"]},
        {"svm-03": ["svm/margin"]},
        {"svm-04": ["19_svm.ipynb"], "svm-05": ["19_svm.ipynb"]},
    )
