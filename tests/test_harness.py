"""The benchmark harness on rows whose times, results and mishaps are known; no scikit-learn."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))  # where the rows find harness

import bench
import harness
from harness import FEWEST, MOST, PAUSE, Side, measure, row


class Clock:
    """A clock that only `work` moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds, result=1.0):
        self.now += seconds
        return result


@pytest.fixture(autouse=True)
def naps(monkeypatch):
    """Pauses, which take no time here."""
    naps = []
    monkeypatch.setattr(harness, "sleep", naps.append)
    return naps


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(harness, "perf_counter", clock)
    return clock


def fake(ours, theirs, objective=float, **how):
    """A row of these two calls."""
    return row("fake", objective="f", **how)(lambda: (ours, theirs, objective))


def reaching(ours, theirs, **how):
    """The verdict on these two objectives."""
    return measure(fake(lambda: ours, lambda: theirs, **how), budget=0).verdict


# ---------------------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------------------


def test_the_ratio_is_that_of_the_median_seconds_in_turn_after_a_warm_up(clock):
    calls = []

    def spent(name, seconds):
        times = iter([1000, *seconds, 0])  # the warm-up, the repeats, the run for the memory
        return lambda: calls.append(name) or clock.work(next(times))

    result = measure(fake(spent("a", [1, 50, 3]), spent("b", [4, 6, 70])), budget=0)
    assert (result.ours.seconds, result.theirs.seconds, result.ratio) == (3, 6, 0.5)
    assert "".join(calls) == "ab" + "ab" * FEWEST + "ab"


def test_each_repeat_waits_for_the_threads_of_the_last(naps):
    measure(fake(lambda: naps.append("a"), lambda: naps.append("b"), lambda _: 1.0), budget=0)
    assert naps == ["a", "b", *[PAUSE, "a", PAUSE, "b"] * FEWEST, "a", "b"]


@pytest.mark.parametrize(
    ("budget", "repeats"), [(0, FEWEST), (9, FEWEST), (26.5, 9), (10000, MOST)]
)
def test_repeats_fill_the_budget_between_the_fewest_and_the_most(clock, budget, repeats):
    result = measure(fake(lambda: clock.work(1), lambda: clock.work(2)), budget)
    assert result.repeats == repeats


def test_making_the_data_is_neither_timed_nor_part_of_the_memory(clock):
    def make():
        X = np.ones(1_000_000 * clock.work(500, result=1))
        return lambda: clock.work(1) * X[:250_000].copy(), "no peer", np.sum

    result = measure(row("fake", objective="f")(make), budget=0)
    assert result.ours.seconds == 1 and result.ours.objective == 250_000
    assert 2e6 <= result.ours.peak < 8e6


def test_peak_memory_is_that_of_each():
    def needs(n):
        return lambda: np.ones(n).sum()

    result = measure(fake(needs(100_000), needs(1_000_000), smaller_is_better=False), budget=0)
    assert result.ours.peak == pytest.approx(8e5, rel=0.1)
    assert result.theirs.peak == pytest.approx(8e6, rel=0.1)


def test_objectives_are_equal_better_or_not_equal():
    assert reaching(10.0, 10.0) == reaching(10.000001, 10.0) == "equal"
    assert reaching(10.001, 10.0) == "NOT EQUAL" and reaching(9.9, 10.0) == "better"
    assert reaching(-9.9, -10.0) == "NOT EQUAL" and reaching(-10.1, -10.0) == "better"
    assert reaching(10.001, 10.0, rtol=1e-3) == "equal" and reaching(0.0, 0.0) == "equal"
    assert reaching(9.9, 10.0, smaller_is_better=False) == "NOT EQUAL"
    assert reaching(10.1, 10.0, smaller_is_better=False) == "better"
    for other in (9.9, 10.1):
        assert reaching(other, 10.0, smaller_is_better=None) == "NOT EQUAL"


@pytest.mark.parametrize("smaller", [True, False, None])
def test_a_nan_is_never_as_good(smaller):
    assert reaching(np.nan, 1.0, smaller_is_better=smaller) == "NOT EQUAL"
    assert reaching(1.0, np.nan, smaller_is_better=smaller) == "NOT EQUAL"


def test_only_a_fair_ratio_counts():
    def counts(ours, theirs, **how):
        return measure(fake(lambda: ours, theirs, **how), budget=0).counts

    assert counts(1.0, lambda: 1.0) and counts(0.5, lambda: 1.0)
    assert not counts(2.0, lambda: 1.0)
    assert not counts(1.0, lambda: 1.0, exempt="a loop over samples")
    assert not counts(1.0, "no peer")


def test_a_competitor_that_is_not_installed_is_a_reason():
    def theirs():
        import not_installed.at_all  # noqa: F401

    result = measure(fake(lambda: 1.0, theirs), budget=0)
    assert isinstance(result.ours, Side) and result.theirs is None and result.ratio is None
    assert result.reason == "not_installed is not installed" and result.repeats == FEWEST
    assert measure(fake(lambda: 1.0, "it has none"), budget=0).reason == "it has none"


@pytest.mark.parametrize("who", ["ours", "theirs", "mlnotes"])
def test_every_other_error_is_one(who):
    def missing():
        if who == "mlnotes":
            import mlnotes.not_a_chapter  # noqa: F401
        import not_installed  # noqa: F401

    calls = (missing, lambda: 1.0) if who == "ours" else (lambda: 1.0, missing)
    calls = (lambda: 1.0, lambda: 1 / 0) if who == "theirs" else calls
    with pytest.raises((ModuleNotFoundError, ZeroDivisionError)):
        measure(fake(*calls), budget=0)


def test_warnings_are_kept_once():
    def ours():
        warnings.warn("not converged", stacklevel=1)
        return 1.0

    result = measure(fake(ours, lambda: 1.0), budget=0)
    assert result.ours.warned == ["UserWarning: not converged"] and result.theirs.warned == []


# ---------------------------------------------------------------------------------------
# The table
# ---------------------------------------------------------------------------------------

ROWS = """
import warnings
import numpy as np
from harness import row

@row("as good", objective="||w||^2")
def as_good():
    return lambda: np.full(125_000, 2.0), lambda: np.full(250_000, 2.0), lambda w: w[0]

@row("worse", objective="loss", exempt="reads its samples one by one")
def worse():
    return lambda: 2.0, lambda: 1.0, float

@row("alone", objective="loss")
def alone():
    return lambda: warnings.warn("not\\nconverged") or 3.0, "nobody else has it", float
"""
FAILING = """
from harness import row

@row("fails", objective="loss")
def fails():
    return lambda: 1 / 0, lambda: 1.0, float

@row("stands", objective="loss")
def stands():
    return lambda: 1.0, lambda: 1.0, float
"""


@pytest.fixture
def table(tmp_path, capsys):
    """Runs the bench on files of rows: its exit code, the lines by their first word, stderr."""

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"bench_{name}.py").write_text(text)
        code = bench.main([*arguments, "--budget", "0"], folder=tmp_path)
        out, err = capsys.readouterr()
        return code, out.splitlines(), err

    return run


def line_of(name, lines):
    (line,) = [line for line in lines if line.startswith(f"  {name} ")]
    return line


def test_the_table_says_all(table):
    code, lines, err = table(perceptron=ROWS)
    assert code == 0 and err == ""
    good = line_of("as good", lines)
    seconds, theirs, ratio, ours_mb, theirs_mb = good.split()[2:7]
    assert float(ratio) == pytest.approx(float(seconds) / float(theirs), rel=0.02, abs=0.01)
    assert (ours_mb, theirs_mb) == ("1.0", "2.0")
    assert good.endswith("2 against 2: equal   [||w||^2]")
    worse = line_of("worse", lines)
    assert "2 against 1: NOT EQUAL   [loss]   exempt: reads its samples one by one" in worse
    assert line_of("alone", lines).endswith("3   [loss]   skipped: nobody else has it")
    assert "      mlnotes warned: UserWarning: not converged" in lines
    assert f"geometric mean of the ratio, 1 rows: {ratio}" in lines
    assert f"worst: {ratio}, as good" in lines and "NOT EQUAL: worse" in lines
    assert f"numpy {np.__version__}" in lines[-1] and lines[-1].startswith("Python 3.")


def test_a_failure_is_told_and_the_other_rows_still_run(table):
    broken = "from harness import no_such_thing"
    code, lines, err = table(perceptron=FAILING, svm=broken, pca=ROWS)
    assert code == 1
    assert line_of("fails", lines).endswith("FAILED: ZeroDivisionError: division by zero")
    assert "  FAILED: bench_svm.py cannot be imported" in lines
    assert "in fails" not in err and "no_such_thing" in err and "1 / 0" in err
    assert "1 against 1: equal" in line_of("stands", lines) and line_of("as good", lines)


def test_chapters_run_in_reading_order_or_as_asked_for(table):
    every = [line for line in table(svm=ROWS, clustering=ROWS, pca=ROWS)[1] if line.isidentifier()]
    assert every == ["clustering", "svm", "pca"]
    asked = table("pca", "ica")
    assert asked[0] == 0 and "svm" not in asked[1] and "clustering" not in asked[1]
    assert asked[1][asked[1].index("ica") + 1] == "  no rows"


def test_a_chapter_that_does_not_exist_is_refused(table, capsys):
    with pytest.raises(SystemExit, match="2"):
        table("pcaa")
    assert "no chapter pcaa; the chapters are probability, " in capsys.readouterr().err


def test_what_is_missing_is_told(monkeypatch):
    assert bench.version("no-such-package") == "no no-such-package"
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert "OPENBLAS_NUM_THREADS=3" in bench.threads() and "cores" in bench.threads()
