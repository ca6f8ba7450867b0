"""Neighbours in many dimensions, exact and approximate: ``python -m benchmarks.many_dimensions``.

On Gaussians, MNIST and its first 50 principal components, all in float32, in one process and one run: the time of
scikit-learn's brute-force search, of both searches of kfuse and of pynndescent for the same number of neighbours, and
the share of true neighbours that is found; then the time of whole fits, with approximate neighbours and exact ones, and
of fast_hdbscan, which searches approximately in more than 30 dimensions.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, machine
from benchmarks.gates import fit_with
from benchmarks.report import seconds_in_words

RESULTS = Path(__file__).parent / "results" / "many_dimensions.md"
N_NEIGHBORS = 100
N_CHECKED = 2000  # samples whose true neighbours are compared
N_WARM = 12_000  # samples, enough for the approximate search not to be exact


class Outcome(NamedTuple):
    """What one method took and found."""

    seconds: float
    quality: float


def sets() -> dict[str, tuple[NDArray[np.float32], int]]:
    """Return the data sets that are available, each with its number of clusters."""
    found = {"Gaussians, 100,000 x 50": (data.gaussians(100_000, 50)[0].astype(np.float32), data.N_GAUSSIANS)}
    try:
        X, _ = data.mnist()
    except data.MissingDataError as missing:
        print(missing)
        return found
    return {**found, "MNIST, 70,000 x 784": (X, 10), "MNIST, 70,000 x 50 (PCA)": (data.principal(X, 50), 10)}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


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
FITS = ("kfuse", "kfuse approximate", "fast_hdbscan")


def compare_searches(X: NDArray[Any]) -> dict[str, Outcome]:
    """Time all searches, and compare what they find with the first, which is exact."""
    some = np.random.default_rng(0).choice(len(X), N_CHECKED, replace=False)
    outcomes, true = {}, np.empty(0)
    for name, search in SEARCHES.items():
        seconds, found = timed(lambda search=search: search(X))
        true = found[some] if not outcomes else true
        shares = [np.isin(a, b).mean() for a, b in zip(true, found[some], strict=True)]
        outcomes[name] = Outcome(seconds, float(np.mean(shares)))
    return outcomes


def compare_fits(X: NDArray[Any], n_clusters: int) -> dict[str, Outcome]:
    """Time all fits, and compare their labels with the first, whose neighbours are exact."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415

    outcomes, exact = {}, np.empty(0)
    for name in FITS:
        seconds, model = timed(lambda name=name: fit_with(name, X, n_clusters))
        exact = model.labels_ if not outcomes else exact
        outcomes[name] = Outcome(seconds, float(adjusted_rand_score(exact, model.labels_)))
    return outcomes


def table(outcomes: dict[str, Outcome], over: str, quality: str) -> list[str]:
    """Format outcomes as a Markdown table, with the ratio to one of them."""
    lines = [f"| | time | over {over} | {quality} |", "|---|---:|---:|---:|"]
    for name, (seconds, found) in outcomes.items():
        ratio = seconds / outcomes[over].seconds
        lines.append(f"| {name} | {seconds_in_words(seconds)} | {ratio:.2f} x | {found:.3f} |")
    return lines


def main() -> None:
    """Measure everything once, after an untimed round on a few samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the tables")
    args = parser.parse_args()
    machine.need("pynndescent", "fast_hdbscan")
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]
    warm = data.gaussians(N_WARM, 50)[0].astype(np.float32)
    compare_searches(warm)
    compare_fits(warm, data.N_GAUSSIANS)
    words = machine.in_words(machine.describe(), machine.today(), load)
    lines = [f"Measured by `python -m benchmarks.many_dimensions`, {N_NEIGHBORS} neighbours, once each."]
    for name, (X, n_clusters) in sets().items():
        searches = table(compare_searches(X), "scikit-learn, brute force", "neighbours found")
        fits = table(compare_fits(X, n_clusters), "fast_hdbscan", "ARI to exact neighbours")
        lines += ["", f"## {name}", "", *searches, "", *fits]
        print(*lines[-len(searches) - len(fits) - 4 :], sep="\n", flush=True)
        args.out.write_text("\n".join(["# Many dimensions", "", *words, "", *lines, ""]))


if __name__ == "__main__":
    main()
