"""Neighbours in many dimensions, exact and approximate: ``python -m benchmarks.many_dimensions``.

On Gaussians, MNIST and its first 50 principal components, all in float32, in one process and one run: the time of
scikit-learn's brute-force search, of both searches of kfuse and of pynndescent for the same number of neighbours, and
the share of true neighbours that is found; then the time of whole fits, with approximate neighbours and exact ones, and
of fast_hdbscan, which searches approximately in more than 30 dimensions. In 8 dimensions, fits with exact neighbours
are compared with Genie. Beside the time there is that of the processor, over all cores, which other load on the machine
changes less. ``--only 8-D 50-D`` selects data sets.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, machine
from benchmarks.gates import fit_with
from benchmarks.report import seconds_in_words

RESULTS = Path(__file__).parent / "results" / "many_dimensions.md"
N_NEIGHBORS = 64  # the most that a fit needs
N_CHECKED = 2000  # samples whose true neighbours are compared
N_WARM = 12_000  # samples, enough for the approximate search not to be exact


class Outcome(NamedTuple):
    """What one method took and found."""

    seconds: float
    processor_seconds: float
    quality: float


class DataSet(NamedTuple):
    """A data set, what to compare on it, and the number of clusters."""

    name: str
    make: Callable[[], NDArray[np.float32]]
    n_clusters: int
    has_searches: bool
    fits: tuple[str, ...]  # the first is exact, the last is what others are compared with


def gaussians(n_samples: int, n_features: int) -> NDArray[np.float32]:
    """Return the Gaussians of the benchmark in float32."""
    return data.gaussians(n_samples, n_features)[0].astype(np.float32)


APPROXIMATE_FITS = ("kfuse", "kfuse approximate", "fast_hdbscan")
SETS = {
    "8-D": DataSet(
        "Gaussians, 200,000 x 8", partial(gaussians, 200_000, 8), data.N_GAUSSIANS, False, ("kfuse", "Genie")
    ),
    "large": DataSet(
        "Gaussians, 1,000,000 x 8", partial(gaussians, 1_000_000, 8), data.N_GAUSSIANS, False, ("kfuse", "Genie")
    ),
    "50-D": DataSet(
        "Gaussians, 100,000 x 50", partial(gaussians, 100_000, 50), data.N_GAUSSIANS, True, APPROXIMATE_FITS
    ),
    "MNIST": DataSet("MNIST, 70,000 x 784", lambda: data.mnist()[0], 10, True, APPROXIMATE_FITS),
    "PCA": DataSet("MNIST, 70,000 x 50 (PCA)", lambda: data.principal(data.mnist()[0], 50), 10, True, APPROXIMATE_FITS),
}


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds that a call takes, those of the processor, and its result."""
    start, processor = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - start, time.process_time() - processor, result


def kfuse_search(X: NDArray[Any], how: str) -> NDArray[np.int32]:
    """Search with kfuse, on all cores."""
    from kfuse.core.execution import Execution  # noqa: PLC0415
    from kfuse.core.search import NeighborTable, choose_search  # noqa: PLC0415

    execution = Execution(os.cpu_count() or 1)
    table, order = NeighborTable(choose_search(X, "euclidean", how, execution), execution).reordered()
    indices = np.empty((len(X), N_NEIGHBORS), dtype=np.int32)
    indices[order] = order[table.collect(N_NEIGHBORS).indices]
    return indices


def sklearn_search(X: NDArray[Any]) -> NDArray[np.intp]:
    """Search with scikit-learn's brute force."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute", n_jobs=-1).fit(X)
    found: NDArray[np.intp] = nearest.kneighbors(return_distance=False)
    return found


def pynndescent_search(X: NDArray[Any]) -> NDArray[np.int32]:
    """Search with pynndescent; each sample is its own first neighbour there."""
    from pynndescent import NNDescent  # noqa: PLC0415

    found: NDArray[np.int32] = NNDescent(X, n_neighbors=N_NEIGHBORS + 1, random_state=0).neighbor_graph[0]
    return found


SEARCHES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "scikit-learn, brute force": sklearn_search,
    "kfuse, exact": lambda X: kfuse_search(X, "brute"),
    "kfuse, approximate": lambda X: kfuse_search(X, "approximate"),
    "pynndescent": pynndescent_search,
}


def compare_searches(X: NDArray[Any]) -> dict[str, Outcome]:
    """Time all searches, and compare what they find with the first, which is exact."""
    some = np.random.default_rng(0).choice(len(X), N_CHECKED, replace=False)
    outcomes, true = {}, np.empty(0)
    for name, search in SEARCHES.items():
        seconds, processor, found = timed(lambda search=search: search(X))
        true = found[some] if not outcomes else true
        shares = [np.isin(a, b).mean() for a, b in zip(true, found[some], strict=True)]
        outcomes[name] = Outcome(seconds, processor, float(np.mean(shares)))
    return outcomes


def compare_fits(X: NDArray[Any], n_clusters: int, fits: tuple[str, ...]) -> dict[str, Outcome]:
    """Time all fits, and compare their labels with the first, whose neighbours are exact."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415

    outcomes, exact = {}, np.empty(0)
    for name in fits:
        seconds, processor, model = timed(lambda name=name: fit_with(name, X, n_clusters))
        exact = model.labels_ if not outcomes else exact
        outcomes[name] = Outcome(seconds, processor, float(adjusted_rand_score(exact, model.labels_)))
    return outcomes


def table(outcomes: dict[str, Outcome], over: str, quality: str) -> list[str]:
    """Format outcomes as a Markdown table, with the ratios to one of them."""
    lines = [f"| | time | processor time | time, processor time over {over} | {quality} |", "|---|---:|---:|---:|---:|"]
    for name, (seconds, processor, found) in outcomes.items():
        ratios = f"{seconds / outcomes[over].seconds:.2f} x, {processor / outcomes[over].processor_seconds:.2f} x"
        times = f"{seconds_in_words(seconds)} | {seconds_in_words(processor)}"
        lines.append(f"| {name} | {times} | {ratios} | {found:.3f} |")
    return lines


def compare(one: DataSet) -> list[str]:
    """Compare everything on one data set, after an untimed round on a few samples."""
    X = one.make()
    some = X[:N_WARM]
    lines = ["", f"## {one.name}"]
    if one.has_searches:
        compare_searches(some)
        lines += ["", *table(compare_searches(X), "scikit-learn, brute force", "neighbours found")]
    compare_fits(some, one.n_clusters, one.fits)
    outcomes = compare_fits(X, one.n_clusters, one.fits)
    return [*lines, "", *table(outcomes, one.fits[-1], f"ARI to {one.fits[0]}")]


def main() -> None:
    """Measure everything once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the tables")
    parser.add_argument("--only", nargs="+", choices=SETS, metavar="SET", help=", ".join(SETS))
    args = parser.parse_args()
    machine.need("pynndescent", "fast_hdbscan", "genieclust")
    warnings.simplefilter("ignore")
    words = machine.in_words(machine.describe(), machine.today(), os.getloadavg()[0])
    lines = [f"Measured by `python -m benchmarks.many_dimensions`, {N_NEIGHBORS} neighbours, once each."]
    for name in args.only or SETS:
        try:
            found = compare(SETS[name])
        except data.MissingDataError as missing:
            found = ["", str(missing)]
        lines += found
        print(*found, sep="\n", flush=True)
        args.out.write_text("\n".join(["# Many dimensions", "", *words, "", *lines, ""]))


if __name__ == "__main__":
    main()
