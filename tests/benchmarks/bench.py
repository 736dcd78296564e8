"""mlnotes against scikit-learn: seconds, objectives and memory of every benchmark row.

    python tests/benchmarks/bench.py [CHAPTERS ...]

Rows are the `harness.Row` objects of the files bench_CHAPTER.py in this folder.
"""

import argparse
import importlib.util
import os
import platform
import sys
import traceback
from importlib import metadata
from pathlib import Path
from statistics import geometric_mean

from harness import BUDGET, FEWEST, Row, measure

from mlnotes import CHAPTERS

HERE = Path(__file__).parent
HEAD = f"{'seconds':>9} {'theirs':>9} {'ratio':>6}   {'MB':>6} {'theirs':>6}   objective"
NOTES = f"""
Seconds: the median of {FEWEST} or more repeats, mlnotes and theirs in turn, after a warm-up.
Theirs is scikit-learn unless the row names another. MB: the most that Python and numpy held at
once in a run that is not timed, beyond the data; memory that compiled code takes from the
system by itself is not seen. NOT EQUAL: our objective is worse, the ratio does not count.
"""


def main(arguments=None, folder=HERE):
    """Run the rows of the chapters, print the table; 1 if something failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="all if none is given")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds for a row's repeats")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.chapters if name not in {*CHAPTERS, *chapters_in(folder)}]
    if unknown:
        parser.error(f"no chapter {', '.join(unknown)}; the chapters are {', '.join(CHAPTERS)}")

    loaded = {name: load(name, folder) for name in options.chapters or chapters_in(folder)}
    outcomes = run(loaded, options.budget)
    print_summary([outcome for outcome in outcomes if outcome is not None])
    return int(None in outcomes)


def chapters_in(folder):
    """The chapters that have a file of rows, in reading order."""
    found = [path.stem.removeprefix("bench_") for path in sorted(folder.glob("bench_*.py"))]
    order = list(CHAPTERS)
    return sorted(found, key=lambda name: order.index(name) if name in order else len(order))


def load(name, folder):
    """The rows of a chapter as they stand in its file: none without a file, None if it fails."""
    path = folder / f"bench_{name}.py"
    if not path.exists():
        return []
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception:
        traceback.print_exc()
        return None
    return [value for value in vars(module).values() if isinstance(value, Row)]


def run(loaded, budget):
    """Measure all rows, printing each as it is done; None for what failed."""
    width = max((len(row.name) for rows in loaded.values() for row in rows or []), default=0) + 2
    print(" " * width, HEAD, sep="")
    outcomes = []
    for name, rows in loaded.items():
        print(f"\n{name}")
        if rows is None:
            print(f"  FAILED: bench_{name}.py cannot be imported")
            outcomes.append(None)
        elif not rows:
            print("  no rows")
        for row in rows or []:
            print(f"  {row.name:<{width - 2}}", end="", flush=True)
            outcomes.append(run_row(row, budget))
    return outcomes


def run_row(row, budget):
    """Measure a row and print the rest of its line."""
    try:
        result = measure(row, budget)
    except Exception as error:
        print(f" FAILED: {type(error).__name__}: {error}", flush=True)
        traceback.print_exc()
        return None
    print(*columns(result), sep="", flush=True)
    for who, side in (("mlnotes", result.ours), ("theirs", result.theirs)):
        for warning in side.warned if side else []:
            print(f"      {who} warned: {' '.join(warning.split())}", flush=True)
    return result


def columns(result):
    """The columns of a row, after its name."""
    ours, theirs, row = result.ours, result.theirs, result.row
    if theirs is None:
        yield f"{ours.seconds:9.3g} {'-':>9} {'-':>6}   {ours.peak / 1e6:6.1f} {'-':>6}   "
        yield f"{ours.objective:.7g}   [{row.objective}]   skipped: {result.reason}"
        return
    yield f"{ours.seconds:9.3g} {theirs.seconds:9.3g} {result.ratio:6.2f}   "
    yield f"{ours.peak / 1e6:6.1f} {theirs.peak / 1e6:6.1f}   "
    yield f"{ours.objective:.7g} against {theirs.objective:.7g}: {result.verdict}"
    yield f"   [{row.objective}]" + (f"   exempt: {row.exempt}" if row.exempt else "")


def print_summary(results):
    """What the table comes to, and what it was measured with."""
    compared = [result for result in results if result.counts]
    print()
    if compared:
        worst = max(compared, key=lambda result: result.ratio)
        mean = geometric_mean(result.ratio for result in compared)
        print(f"geometric mean of the ratio, {len(compared)} rows: {mean:.2f}")
        print(f"worst: {worst.ratio:.2f}, {worst.row.name}")
    for result in results:
        if result.verdict == "NOT EQUAL":
            print(f"NOT EQUAL: {result.row.name}")
    print(NOTES)
    print(", ".join([f"Python {platform.python_version()}", *map(version, PACKAGES), threads()]))


PACKAGES = ("mlnotes", "numpy", "scipy", "scikit-learn")


def version(package):
    """The name of a package with its version."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def threads():
    """How many threads the libraries that are loaded may use, as far as one can know."""
    try:
        from threadpoolctl import threadpool_info
    except ModuleNotFoundError:
        allowed = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.endswith("_NUM_THREADS")]
        return " ".join([f"{os.cpu_count()} cores", *allowed])
    pools = {(pool["internal_api"], pool["num_threads"]) for pool in threadpool_info()}
    return "threads: " + " ".join(f"{name} {count}" for name, count in sorted(pools))


if __name__ == "__main__":
    sys.exit(main())
