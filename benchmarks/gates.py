"""Performance gates, which the engine must pass: ``python -m benchmarks.gates``.

Both sides of a ratio are timed in one run, warm and alternating (A, B, A, B, A, B). The ratio is that of the medians;
the smallest and largest ratio of a round are listed beside it. Peak memory is the largest resident size of a fresh
process, including interpreter, libraries and data. ``--only`` selects gates by name; the table is then printed, and
written only with ``--out FILE``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from numpy.typing import NDArray

from benchmarks import data, growth, machine
from benchmarks.data import N_GAUSSIANS, Facts
from benchmarks.measure import N_WARM, OK, in_fresh_process
from benchmarks.methods import ALL_METHODS
from benchmarks.report import seconds_in_words

RESULTS = Path(__file__).parent / "results" / "gates.md"
ROUNDS = 3
ENOUGH_SECONDS = 150.0  # after which a comparison gets no further round
SECONDS, MEMORY_GB = 900.0, 16.0  # limits of a fit in a fresh process
MILLION = 1_000_000
N_IMPORTS = 7
N_SMALL_FITS = 31
ORACLE_CUTS = (50, 20, 5)  # numbers of clusters
ORACLE_DETAIL = f"cut into {', '.join(map(str, ORACLE_CUTS))} clusters"

Contestants = dict[str, Callable[[], object]]
Times = dict[str, list[float]]


class Row(NamedTuple):
    """One line of the table; `ok` is None where a figure is only reported."""

    gate: str
    must: str
    measured: str
    ok: bool | None
    detail: str = ""


def interleave(contestants: Contestants, rounds: int = ROUNDS, enough: float = ENOUGH_SECONDS) -> Times:
    """Time all contestants in turn, `rounds` times or until `enough` seconds are spent."""
    times: Times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
        if sum(map(sum, times.values())) > enough:
            break
    return times


def ratio_row(gate: str, times: Times, over: tuple[str, str], most: float | None) -> Row:
    """Compare the ratio of two contestants' medians with its upper limit."""
    a, b = (times[name] for name in over)
    ratio = median(a) / median(b)
    by_round = sorted(x / y for x, y in zip(a, b, strict=True))
    detail = (
        f"{seconds_in_words(median(a))} over {seconds_in_words(median(b))}, "
        f"rounds {by_round[0]:.2f} to {by_round[-1]:.2f} ({len(a)})"
    )
    must = "reported" if most is None else f"at most {most:g} x"
    return Row(gate, must, f"{ratio:.2f} x", None if most is None else ratio <= most, detail)


def fit_with(method: str, X: NDArray[Any], n_clusters: int = N_GAUSSIANS) -> Any:
    """Fit a method with the settings of the benchmark."""
    return ALL_METHODS[method](Facts(len(X), n_clusters, eps=float("nan"))).fit(X)


def warm(methods: list[str], X: NDArray[Any], n_clusters: int = N_GAUSSIANS) -> None:
    """Fit a few samples with each method, so that compilation is not timed."""
    for method in methods:
        fit_with(method, X[:N_WARM], n_clusters)


def tree_search(X: NDArray[Any], k: int) -> Callable[[], object]:
    """Return a function that builds scipy's k-d tree on points in tree order and queries k neighbours of each."""
    from scipy.spatial import cKDTree  # noqa: PLC0415

    ordered = X[cKDTree(X).indices]
    return lambda: cKDTree(ordered).query(ordered, k + 1, workers=-1)


@contextmanager
def _data_folder(family: str, n_samples: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kfuse-gates-") as folder:
        command = [sys.executable, "-m", "benchmarks.data", family, str(n_samples), folder]
        subprocess.run(command, check=True)
        yield Path(folder)


def memory_row(gate: str, method: str, family: str, n_samples: int, most_gb: float) -> Row:
    """Fit once in a fresh process and compare its peak memory with the limit."""
    with _data_folder(family, n_samples) as folder:
        outcome = in_fresh_process(method, folder, SECONDS, MEMORY_GB)
    must = f"at most {most_gb:g} GB"
    if outcome["status"] != OK:
        return Row(gate, must, f"{outcome['status']}: {outcome['reason']}", False)
    peak = outcome["peak_mb"] / 1024
    detail = f"the fit added {outcome['added_mb'] / 1024:.2f} GB; {seconds_in_words(outcome['seconds'])}"
    return Row(gate, must, f"{peak:.2f} GB", peak <= most_gb, detail)


def million() -> Iterator[Row]:
    """Compare 1,000,000 x 2 with the search, fast_hdbscan and genieclust; check the number found, and memory."""
    X, _ = data.gaussians(MILLION, 2)
    methods = ["kfuse", "kfuse auto", "fast_hdbscan", "Genie"]
    warm(methods, X)
    k = fit_with("kfuse", X).n_neighbors_
    contestants: Contestants = {"search": tree_search(X, k), **{m: partial(fit_with, m, X) for m in methods}}
    times = interleave(contestants, enough=float("inf"))
    yield ratio_row(f"1,000,000 x 2 over the search (k = {k})", times, ("kfuse", "search"), 1.5)
    yield ratio_row("1,000,000 x 2 over fast_hdbscan", times, ("kfuse", "fast_hdbscan"), 0.25)
    yield ratio_row("1,000,000 x 2 over genieclust (aim: 1)", times, ("kfuse", "Genie"), None)
    yield ratio_row("1,000,000 x 2, number found over given", times, ("kfuse auto", "kfuse"), 1.05)
    yield memory_row("1,000,000 x 2, peak memory", "kfuse", "2-D", MILLION, 1.2)


def eight() -> Iterator[Row]:
    """Compare 200,000 x 8 with the search."""
    X, _ = data.gaussians(200_000, 8)
    warm(["kfuse"], X)
    k = fit_with("kfuse", X).n_neighbors_
    times = interleave({"kfuse": partial(fit_with, "kfuse", X), "search": tree_search(X, k)})
    yield ratio_row(f"200,000 x 8 over the search (k = {k})", times, ("kfuse", "search"), 1.4)


def ten_million() -> Iterator[Row]:
    """Check that 10,000,000 x 2 completes."""
    yield memory_row("10,000,000 x 2 completes, peak memory", "kfuse", "2-D", 10 * MILLION, 10.0)


def growing() -> Iterator[Row]:
    """Measure the growth exponent from 100,000 to 1,000,000 samples."""
    sizes = (100_000, MILLION)
    sets = {n: data.gaussians(n, 2)[0] for n in sizes}
    warm(["kfuse"], sets[MILLION])
    times = interleave({str(n): partial(fit_with, "kfuse", X) for n, X in sets.items()})
    small, large = (median(times[str(n)]) for n in sizes)
    power = growth.exponent(sizes[0], small, sizes[1], large)
    detail = f"{seconds_in_words(small)} to {seconds_in_words(large)}"
    yield Row("growth from 100 k to 1 M, 2-D", "exponent at most 1.15", f"{power:.2f}", power <= 1.15, detail)


def digits() -> Iterator[Row]:
    """Compare MNIST with scikit-learn's brute-force search in float32."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    gate = "70,000 x 784"
    try:
        X, _ = data.mnist()
    except data.MissingDataError as missing:
        yield Row(gate, "at most 1.25 x", "not measured", None, str(missing))
        return
    warm(["kfuse"], X, 10)
    k = 0

    def search() -> None:
        NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=-1).fit(X).kneighbors()

    def fit() -> None:
        nonlocal k  # known after the first fit, which precedes the first search
        k = fit_with("kfuse", X, 10).n_neighbors_

    times = interleave({"kfuse": fit, "search": search})
    yield ratio_row(f"{gate} over the brute-force search (k = {k})", times, ("kfuse", "search"), 1.25)
    yield memory_row(f"{gate}, peak memory", "kfuse", data.MNIST, len(X), 3.0)


def paper() -> Iterator[Row]:
    """Compare the printed algorithm with the default, and its labels with those of the slow oracle of the tests."""
    from tests.oracle.paper import Oracle  # noqa: PLC0415

    X, _ = data.gaussians(100_000, 2)
    warm(["kfuse", "kfuse paper"], X)
    times = interleave({method: partial(fit_with, method, X) for method in ("kfuse paper", "kfuse")})
    yield ratio_row('fusion="paper", 100,000 x 2 over the default', times, ("kfuse paper", "kfuse"), 20.0)
    yield memory_row('fusion="paper", 100,000 x 2, peak memory', "kfuse paper", "2-D", 100_000, 2.0)
    X, _ = data.gaussians(2_000, 2)  # the oracle is plain Python and visits all pairs
    model, oracle = fit_with("kfuse paper", X), Oracle(X)
    n_different = sum(int((model.cut(k) != oracle.fuse(k)).sum()) for k in ORACLE_CUTS)
    yield Row(
        'fusion="paper", 2,000 x 2', "the oracle's labels", f"{n_different} differ", n_different == 0, ORACLE_DETAIL
    )


def small() -> Iterator[Row]:
    """Time warm fits of 1,000 x 2."""
    X, _ = data.gaussians(1000, 2)
    warm(["kfuse"], X)
    times = interleave({"kfuse": partial(fit_with, "kfuse", X)}, N_SMALL_FITS)["kfuse"]
    detail = f"fastest {seconds_in_words(min(times))}, slowest {seconds_in_words(max(times))} of {len(times)}"
    yield Row("1,000 x 2, warm", "at most 10 ms", f"{1000 * median(times):.1f} ms", median(times) <= 0.010, detail)


def _run(code: str, **environment: str) -> str:
    """Run code in a fresh process."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    finished = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **environment}, cwd=machine.ROOT
    )
    return finished.stdout.strip()


IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def importing() -> Iterator[Row]:
    """Compare the import time of `KFuse` with that of ``sklearn.cluster``; check that numba is not imported."""
    names = ("kfuse.estimator", "sklearn.cluster")
    for name in names:
        _run(IMPORT.format(name))  # fills the file cache
    seconds: Times = {name: [] for name in names}
    for _ in range(N_IMPORTS):
        for name in names:
            seconds[name].append(float(_run(IMPORT.format(name))))
    medians = [median(seconds[name]) for name in names]
    more = medians[0] - medians[1]
    detail = f"{medians[0]:.2f} s and {medians[1]:.2f} s, medians of {N_IMPORTS}"
    gate = "`from kfuse import KFuse` above `import sklearn.cluster`"
    yield Row(gate, "at most 0.15 s", f"{more:.2f} s", more <= 0.15, detail)
    loaded = _run("import sys; from kfuse import KFuse; print('numba' in sys.modules)") == "True"
    yield Row("`from kfuse import KFuse`", "without numba", "with numba" if loaded else "without numba", not loaded)


# One call for each set of kernels, timed relative to the same call repeated. Prints the seconds of importing numba, of
# the first fit, of all calls, and their processor time, which other load on the machine does not affect.
FIRST_FITS = """
import time
import numpy as np
from kfuse import KFuse
rng = np.random.default_rng(0)
X, wide = rng.random((2000, 2)), rng.random((2000, 40))
def seconds(run):
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return np.array([time.perf_counter() - wall, time.process_time() - processor])
def import_numba():
    import numba
uses = [
    lambda: KFuse().fit(X),
    lambda: KFuse(5).fit(X.astype(np.float32)),
    lambda: KFuse(5).fit(wide),
    lambda: KFuse(5).fit(wide.astype(np.float32)),
    lambda: KFuse(5).fit(np.repeat(X[:1000], 2, axis=0)),
    lambda: KFuse(5, metric="manhattan").fit(X[:500]),
    lambda: KFuse(5, fusion="paper").fit(X),
    lambda: KFuse(5).fit(X[:500]).predict(X[500:]),
]
imported = seconds(import_numba)
each = [seconds(use) - seconds(use) for use in uses]
print(imported[0], each[0][0], *sum(each))
"""


class FirstFits(NamedTuple):
    """The output of `FIRST_FITS`."""

    numba: float
    fit: float
    everything: float
    processor: float


def _first_fits(cache: str) -> FirstFits:
    return FirstFits(*map(float, _run(FIRST_FITS, NUMBA_CACHE_DIR=cache).split()))


def compiling() -> Iterator[Row]:
    """Time the first fits with an empty numba cache, and again in a later process."""
    with tempfile.TemporaryDirectory(prefix="kfuse-numba-") as cache:
        first, later = _first_fits(cache), _first_fits(cache)
    yield Row(
        "first use, compilation of everything",
        "at most 20 s",
        f"{first.everything:.1f} s",
        first.everything <= 20.0,
        f"{first.processor:.1f} s on the processor; the first `KFuse().fit` alone {first.fit:.1f} s",
    )
    from_cache = later.numba + later.fit
    yield Row(
        "first fit in a later process, above a warm one",
        "at most 1 s",
        f"{from_cache:.2f} s",
        from_cache <= 1.0,
        f"{later.numba:.2f} s of it to import numba; everything else {later.everything - later.fit:.2f} s",
    )


GATES: dict[str, Callable[[], Iterator[Row]]] = {
    "import": importing,
    "compile": compiling,
    "small": small,
    "eight": eight,
    "growth": growing,
    "million": million,
    "paper": paper,
    "mnist": digits,
    "ten-million": ten_million,
}


def _verdict(row: Row) -> str:
    return "" if row.ok is None else "yes" if row.ok else "**no**"


def table(rows: list[Row]) -> list[str]:
    """Format the rows as a Markdown table."""
    lines = ["| gate | must | measured | ok | detail |", "|---|---|---|---|---|"]
    return [*lines, *(f"| {r.gate} | {r.must} | {r.measured} | {_verdict(r)} | {r.detail} |" for r in rows)]


def document(rows: list[Row], load: float) -> str:
    """Return the page, with machine, versions and date."""
    heading = "Measured by `python -m benchmarks.gates`; `benchmarks/gates.py` describes how."
    described = machine.in_words(machine.describe(), machine.today(), load)
    return "\n".join(["# Performance gates", "", *described, "", heading, "", *table(rows), ""])


def main() -> None:
    """Measure the selected gates; exit with 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=GATES, metavar="GATE", help=", ".join(GATES))
    parser.add_argument(
        "--out", type=Path, help="file for the table; default: benchmarks/results/gates.md if all gates are measured"
    )
    args = parser.parse_args()
    machine.need("psutil", "fast_hdbscan", "genieclust")
    warnings.simplefilter("ignore")  # deprecations of other packages, and fewer clusters than requested in the warm-up
    load = os.getloadavg()[0]
    rows = []
    for name in args.only or GATES:
        start = time.perf_counter()
        for row in GATES[name]():
            rows.append(row)
            print(f"{row.gate}: {row.measured} (must: {row.must}) {_verdict(row)} {row.detail}", flush=True)
        print(f"  [{name}: {time.perf_counter() - start:.0f} s]", flush=True)
    print("", *table(rows), sep="\n")
    out = args.out or (None if args.only else RESULTS)
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(document(rows, load))
    sys.exit(any(row.ok is False for row in rows))


if __name__ == "__main__":
    main()
