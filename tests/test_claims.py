"""The contract with the notes: what each chapter delivers, and that the index tells it."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

import mlnotes
from mlnotes import __main__ as index

CLAIMS = index.load_claims()
CITED = index.read_citations()
STATED = {claim.id: claim for claim in CLAIMS.values() if claim.form in index.STATED}
CHAPTERS = (*mlnotes.CHAPTERS, "datasets")


# --- The book --------------------------------------------------------------------------


def test_the_ledger_is_whole():
    assert len(STATED) == 749
    assert sum(claim.kind == "erratum" for claim in STATED.values()) == 173
    assert {claim.chapter for claim in STATED.values()} == set(CHAPTERS)
    for claim in CLAIMS.values():
        assert claim.statement and claim.sources and claim.form in index.FORMS


def test_every_chapter_has_walks_and_algorithms_numbered_in_order():
    for form, letter, total in (("walk", "w", 338), ("shown", "s", 106)):
        ids = [claim.id for claim in CLAIMS.values() if claim.form == form]
        counts = Counter(i.rpartition("-")[0] for i in ids)
        assert set(counts) == set(mlnotes.CHAPTERS) and counts.total() == total
        assert ids == [f"{c}-{letter}{k:02d}" for c in counts for k in range(1, counts[c] + 1)]


def test_walks_and_algorithms_belong_to_statements():
    for claim in CLAIMS.values():
        assert set(claim.of.split()) <= set(STATED), claim.id
        assert not (claim.of and claim.form in index.STATED), claim.id


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_finished_chapter_delivers_every_statement(chapter):
    own = [claim for claim in STATED.values() if claim.chapter == chapter]
    lacking = {claim.id: index.missing(claim, CITED) for claim in own}
    assert not {claim: lack for claim, lack in lacking.items() if lack}


@pytest.mark.parametrize("kind", CITED._fields)
def test_every_citation_names_a_claim(kind):
    assert set(getattr(CITED, kind)) <= set(CLAIMS)


def test_what_is_computed_has_an_owner_in_its_chapter_or_an_earlier_one():
    order = [*mlnotes.CHAPTERS, "datasets"]
    for claim in CLAIMS.values():
        if claim.owner:
            assert claim.form in ("api", "shown"), claim.id
            module, *names = claim.owner.split(".")
            assert order.index(module) <= order.index(claim.chapter), (claim.id, claim.owner)
            found = importlib.import_module(f"mlnotes.{module}")
            for name in names:
                found = vars(found)[name]
            assert found.__module__ == f"mlnotes.{module}", (claim.id, claim.owner)


def test_errata_are_told_where_they_bite():
    """In the module, beside the line it concerns, or in the notebook's list."""
    for claim in CLAIMS.values():
        if claim.kind == "erratum":
            module = (index.PACKAGE / f"{claim.chapter}.py").read_text(encoding="utf-8")
            assert claim.id in module or claim.id in CITED.notebooks, claim.id


# --- The index -------------------------------------------------------------------------


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
    ids = re.findall(r"^probability-([a-z]?)\d\d \(", out, flags=re.M)
    assert Counter(ids) == {"": 21, "w": 13, "s": 5}
    assert "computed by  probability.expectation" in out
    assert "checked by  test_probability.py::" in out
    assert "told in  01_probability.ipynb, A joint table" in out


def test_errata_are_those_of_the_ledger(capsys):
    _, out = printed(capsys, "errata")
    assert len(re.findall(r"^[a-z_]+-\d\d \(erratum\)", out, flags=re.M)) == 173


def test_errata_of_a_chapter_are_its_own(capsys):
    _, out = printed(capsys, "errata svm")
    slips = [i for i, claim in CLAIMS.items() if (claim.chapter, claim.kind) == ("svm", "erratum")]
    assert re.findall(r"^([a-z_]+-\d\d) \(", out, flags=re.M) == slips and len(slips) > 5
    status, out = printed(capsys, "errata quantum")
    assert status.startswith("nothing found") and not out


@pytest.mark.parametrize("query", ["svm", "errata kernels", "IRHD 8.46"])
def test_a_query_prints_what_it_does_with_all_citations(capsys, query, monkeypatch):
    _, quick = printed(capsys, query)
    monkeypatch.setattr(index, "read_citations", lambda *_: CITED)
    assert printed(capsys, query) == (None, quick)


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


@pytest.mark.parametrize(
    "query, titles",
    [
        ("IRHD 4.3", ["equation 4.3", "section 4.3", "theorem 4.3"]),
        ("IRHD eq 4.3", ["equation 4.3"]),
        ("IRHD theorem 4.3", ["theorem 4.3"]),
        ("IRHD (8.46)", ["equation 8.46"]),
        ("IRHD 8", ["section 8"]),
        ("PRNN Kernel SVM", []),
    ],
)
def test_an_equation_a_section_and_a_theorem_of_one_number_are_told_apart(capsys, query, titles):
    status, out = printed(capsys, query)
    assert status is None and re.findall(r"^--- ([^-]*?) -+$", out, flags=re.M) == titles


def test_a_number_has_the_kind_that_its_source_says():
    claim = CLAIMS["pca-33"]._replace(sources="IRHD 4.3 thm 4.2 eq 4.12; PRNN 4.2")
    assert index.matches(claim, "IRHD 4.3") == {"section 4.3"}
    assert index.matches(claim, "IRHD 4.2") == {"theorem 4.2"}
    assert index.matches(claim, "4.2") == {"theorem 4.2", "section 4.2"}
    assert index.matches(claim, "IRHD 4.12") == {"equation 4.12"}
    assert index.matches(claim, "IRHD eq 4.2") == set()
    assert index.matches(claim, "PRNN 4") == {"section 4"}
    assert index.matches(claim, "prnn") == {""}


def test_the_chapter_number_finds_the_sections_below_it(capsys):
    _, out = printed(capsys, "IRHD 8")
    assert "optimization-15 (" in out and "svm-41 (" in out and "trees" not in out


def test_a_statement_names_the_passages_that_tell_and_walk_through_it(capsys):
    cited = CITED._replace(
        notebooks={"svm-41": ["19_svm.ipynb, Slack"]},
        walks={"svm-w12": ["19_svm.ipynb, Walk 12. The dual"]},
        shown={"svm-41": ["19_svm.ipynb"]},
    )
    index.print_claims([CLAIMS["svm-41"]], cited)
    out = capsys.readouterr().out
    assert "    told in  19_svm.ipynb, Slack\n" in out
    assert "    walked in  19_svm.ipynb, Walk 12. The dual\n" in out
    assert "    shown in  19_svm.ipynb\n" in out


def test_nothing_found_is_said_and_fails(capsys):
    status, out = printed(capsys, "no such thing")
    assert status.startswith("nothing found for 'no such thing'") and not out


def test_progress_counts_and_names_what_is_missing(capsys):
    claim = CLAIMS["probability-02"]
    without = CITED._replace(tests={k: v for k, v in CITED.tests.items() if k != claim.id})
    assert index.missing(claim, CITED) == [] and index.missing(claim, without) == ["test"]
    index.print_progress(CLAIMS, without)
    out = capsys.readouterr().out
    count = r"^probability +20 /  21   walks +\d+ /  13   shown +\d+ /   5$"
    assert re.search(count, out, flags=re.M)
    assert re.search(
        r"^delivered +748 / 749   walks +\d+ / 338   shown +\d+ / 106$", out, flags=re.M
    )
    assert "probability-02 lacks test" in out


def test_progress_names_the_walks_a_chapter_lacks_once_it_has_one(capsys):
    for walks, told in (({}, False), ({"svm-w01": ["here"]}, True)):
        index.print_progress(CLAIMS, CITED._replace(walks=walks, shown={}))
        out = capsys.readouterr().out
        assert ("svm-w02 lacks walk" in out) == told
        assert "svr-w01 lacks" not in out and "svm-w01 lacks" not in out


def test_a_reader_may_close_the_pipe():
    command = [sys.executable, "-m", "mlnotes", "svm"]
    with subprocess.Popen(
        command, cwd=index.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()  # long before the first line
        said = process.stderr.read()
    assert (process.wait(), said) == (0, "")


def test_citations_are_read_as_the_contract_says(tmp_path):
    walk = """<a id="svm-w01"></a>
### Walk 1. The width

&(1) & a &= b && \\text{because} \\\\
&(2) & &= c && \\text{and} \\\\
&(3) & &= d && \\text{so}
"""
    cells = [
        {
            "cell_type": "markdown",
            "source": ["## Tw", 'o\n<a id="svm-04"></a><a id="svm-05"></a>As it'],
        },
        {"cell_type": "markdown", "source": ['[svm-06], svm-07 and <a id="svm-x01"></a>Exercise']},
        {"cell_type": "code", "source": ["'<a id=\"svm-08\"></a>'"]},
        {"cell_type": "markdown", "source": [walk]},
        {
            "cell_type": "code",
            "source": ["a = 1  # (1)\n", "from mlnotes import svm\n", "show(svm.smo)"],
        },
        {"cell_type": "markdown", "source": [walk.replace("w01", "w02")]},
    ]
    for name, text in {
        "pyproject.toml": '[project]\nname = "mlnotes"\n',
        "tests/test_svm.py": "@pytest.mark.claims('svm-01')\ndef test_it():\n    assert True\n",
        "figures/svm.py": "@figure('margin', claims=('svm-03',))\ndef margin(ax):\n    pass\n",
        "notebooks/19_svm.ipynb": json.dumps({"cells": cells}),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    two, heading = "19_svm.ipynb, Two", "19_svm.ipynb, Walk 1. The width"
    assert index.read_citations(tmp_path) == (
        {"svm-01": ["test_svm.py::test_it"]},
        {"svm-03": ["svm/margin"]},
        {"svm-04": [two], "svm-05": [two], "svm-w01": [heading], "svm-w02": [heading]},
        {"svm-w01": [heading]},  # nothing checks the lines of the other
        {"svm-s03": ["19_svm.ipynb"]},
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\n')
    index.read_citations.cache_clear()
    assert index.read_citations(tmp_path) == ({}, {}, {}, {}, {})


def test_an_installed_package_reads_no_file_of_others(tmp_path):
    shutil.copytree(index.PACKAGE, tmp_path / "mlnotes", ignore=shutil.ignore_patterns("*.pyc"))
    (tmp_path / "tests").mkdir()
    marked = "@pytest.mark.claims('svm-41')\ndef test_foreign():\n    print 'Python 2'\n"
    (tmp_path / "tests" / "test_old.py").write_text(marked)
    done = subprocess.run(
        [sys.executable, "-m", "mlnotes", "svm-41"], cwd=tmp_path, text=True, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, check=True,
    )  # fmt: skip
    assert "svm-41 (" in done.stdout and "computed by" in done.stdout
    assert "checked by" not in done.stdout


def test_the_contents_page_loads_no_chapter_and_no_ledger():
    program = """import sys, runpy
sys.argv = ["mlnotes"]
try:
    runpy.run_module("mlnotes", run_name="__main__")
except SystemExit:
    loaded = {name for name in sys.modules if name.startswith("mlnotes")}
    assert loaded <= {"mlnotes", "mlnotes.reading", "mlnotes.__main__"}, loaded
"""
    subprocess.run([sys.executable, "-c", program], cwd=index.ROOT, check=True)
