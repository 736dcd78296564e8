"""How a benchmark row is written and measured; `bench.py` runs the rows and prints the table.

The rows of a chapter live in ``bench_CHAPTER.py``, one function each:

    @row("ridge, 100,000 x 100", objective="1/2 ||y - X w - b||^2 + 1/2 ||w||^2")
    def ridge_regression():
        rng = np.random.default_rng(0)
        X, y = ...                                 # made here, outside of what is timed

        def ours():
            return Ridge().fit(X, y)

        def theirs():
            from sklearn.linear_model import Ridge  # the warm-up pays for the import

            return Ridge().fit(X, y)

        def objective(model):                      # of what ours and theirs return
            return ...

        return ours, theirs, objective

Where nothing is to be compared with, `theirs` is the reason, a string. Both calls must do the
same work each time: give them the same start, or a seed. An import of something that is not
installed belongs into `theirs`: it becomes the reason, and ours is timed all the same.

Contents
    Writing a row       row, Row
    Measuring it        measure, Result, Side
"""

import statistics
import tracemalloc
import warnings
from collections.abc import Callable
from time import perf_counter, sleep
from typing import NamedTuple

EQUAL = 1e-6  # relative difference up to which two objectives are the same
BUDGET = 10.0  # seconds in which the repeats of a row should be done
FEWEST, MOST = 3, 25  # repeats of a row, however slow or fast it is
PAUSE = 0.1  # seconds before each: threads of a pool busy-wait so long for more work


# --- Writing a row ---------------------------------------------------------------------


class Row(NamedTuple):
    """A workload and how its two results are compared."""

    name: str  # what is computed, and the size
    make: Callable  # () -> ours, theirs or the reason why there is none, objective
    objective: str  # its formula
    smaller_is_better: bool | None  # None: neither is better, the two must agree
    rtol: float  # how much worse ours may be, relative to the larger of the two
    exempt: str  # why the ratio does not count in the mean; "" where it does


def row(name, *, objective, smaller_is_better=True, rtol=EQUAL, exempt=""):
    """Make the decorated function a `Row`; say why where you give `rtol` or `exempt`."""
    return lambda make: Row(name, make, objective, smaller_is_better, rtol, exempt)


# --- Measuring it ----------------------------------------------------------------------


class Side(NamedTuple):
    """What one of the two took, and what it reached."""

    seconds: float  # median of the repeats
    objective: float
    peak: int  # bytes
    warned: list[str]


class Result(NamedTuple):
    """A row, measured."""

    row: Row
    ours: Side
    theirs: Side | None
    reason: str  # why there is no `theirs`
    repeats: int

    @property
    def ratio(self):
        """Seconds of ours per second of theirs: below 1, ours is faster."""
        return self.ours.seconds / self.theirs.seconds if self.theirs else None

    @property
    def verdict(self):
        """Our objective against theirs: equal, better or NOT EQUAL (which NaN is, too)."""
        if self.theirs is None:
            return ""
        a, b = self.ours.objective, self.theirs.objective
        worse = {True: a - b, False: b - a, None: abs(a - b)}[self.row.smaller_is_better]
        if abs(a - b) <= self.row.rtol * max(abs(a), abs(b)):
            return "equal"
        return "better" if worse < 0 else "NOT EQUAL"

    @property
    def counts(self):
        """Whether the ratio compares like with like, and is not exempt."""
        return self.verdict in ("equal", "better") and not self.row.exempt


def measure(row, budget=BUDGET):
    """Warm up, repeat ours and theirs in turn, and run each once more for its peak memory.

    What raises, raises here, except for the import that `theirs` misses.
    """
    ours, theirs, objective = row.make()
    started, reason = [_warm_up(ours, objective)], ""
    try:
        started += [_warm_up(theirs, objective)] if callable(theirs) else []
        reason = "" if callable(theirs) else theirs
    except ModuleNotFoundError as missing:
        reason = _not_installed(missing)
    calls = [ours, theirs][: len(started)]
    seconds = _in_turn(calls, budget)
    sides = [
        Side(statistics.median(taken), reached, _peak(call), warned)
        for taken, (reached, warned), call in zip(seconds, started, calls, strict=True)
    ]
    return Result(row, sides[0], sides[1] if len(sides) == 2 else None, reason, len(seconds[0]))


def _warm_up(call, objective):
    """The objective that a first call reaches, and its warnings; imports and caches are paid."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reached = float(objective(call()))
    return reached, sorted({f"{w.category.__name__}: {w.message}" for w in caught})


def _not_installed(missing):
    """The reason, or the error itself where it is ours."""
    package = missing.name.partition(".")[0]
    if package == "mlnotes":
        raise missing
    return f"{package} is not installed"


def _in_turn(calls, budget):
    """Seconds of every repeat of every call, in turn: a slow spell of the machine hits all."""
    seconds = [[] for _ in calls]
    end = perf_counter() + budget
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `_warm_up` has told them
        while len(seconds[0]) < FEWEST or (len(seconds[0]) < MOST and perf_counter() < end):
            for call, taken in zip(calls, seconds, strict=True):
                taken.append(_seconds(call))
    return seconds


def _seconds(call):
    """What a call takes once the threads of the last one, of another library's, are asleep."""
    sleep(PAUSE)
    start = perf_counter()
    result = call()
    stop = perf_counter()
    del result  # freeing it is not timed
    return stop - start


def _peak(call):
    """Most bytes that the call held at once of Python's and numpy's memory.

    What compiled code takes from the system by itself, as a LIBSVM cache, is not seen.
    """
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
