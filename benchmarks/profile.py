"""Profile one fit by stages: ``python -m benchmarks.profile --samples 1000000 --features 2``.

The stages are those of `kfuse.core.adaptive` or `kfuse.core.paper`. The floor is the time to build scipy's k-d tree on
points in tree order and query the same neighbours, in the same run; in many dimensions, that of scikit-learn's
brute-force search.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, machine
from benchmarks.gates import tree_search
from benchmarks.measure import N_WARM, peak_mb
from benchmarks.report import seconds_in_words
from kfuse.core.execution import Progress

TREE_DIMENSIONS = 20  # in more dimensions, the floor is the brute-force search


class Stages(Progress):
    """Records the time of each stage and by how much it raised peak memory."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, float, float]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Record one stage."""
        memory, start = peak_mb(), time.perf_counter()
        yield
        self.notes.append((name, time.perf_counter() - start, peak_mb() - memory))


def staged_fit(X: NDArray[Any], fusion: str, n_clusters: int | None, stages: Stages) -> int:
    """Do what `KFuse.fit` does and record the stages; return the number of neighbours."""
    from kfuse.core import adaptive, paper  # noqa: PLC0415
    from kfuse.core.execution import Execution  # noqa: PLC0415
    from kfuse.core.search import NeighborTable, choose_search  # noqa: PLC0415
    from kfuse.tree import FusionTree  # noqa: PLC0415

    execution = Execution(os.cpu_count() or 1, stages)
    with stages.stage("order"):
        search = choose_search(X, "euclidean", "auto", execution)
    algorithm = {"adaptive": adaptive, "paper": paper}[fusion]
    result = algorithm.fit(NeighborTable(search, execution), execution)
    with stages.stage("labels"):
        tree = FusionTree.of(result)
        tree.cut(tree.suggest(1)[0].n_clusters if n_clusters is None else n_clusters)
    return result.n_neighbors


def _search(X: NDArray[Any], k: int) -> Callable[[], object]:
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    if X.shape[1] <= TREE_DIMENSIONS:
        return tree_search(X, k)
    return lambda: NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=-1).fit(X).kneighbors()


def table(notes: list[tuple[str, float, float]], k: int, floor: float | None) -> list[str]:
    """Format the stages as a Markdown table."""
    total = sum(seconds for _, seconds, _ in notes)
    lines = ["| stage | time | share | peak memory raised by |", "|---|---:|---:|---:|"]
    for name, seconds, memory in notes:
        lines.append(f"| {name} | {seconds_in_words(seconds)} | {seconds / total:.0%} | {memory:,.0f} MB |")
    raised = sum(memory for _, _, memory in notes)
    lines.append(f"| **all** | {seconds_in_words(total)} | | {raised:,.0f} MB |")
    if floor is not None:
        lines += [
            "",
            f"The search for {k} neighbours alone: {seconds_in_words(floor)}. Ratio: {total / floor:.2f} x.",
        ]
    return lines


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=2)
    parser.add_argument("--mnist", action="store_true", help="instead of Gaussians")
    parser.add_argument("--fusion", choices=("adaptive", "paper"), default="adaptive")
    parser.add_argument("--clusters", type=int, help="default: found by the fit; 50 with --fusion paper")
    parser.add_argument("--no-floor", action="store_true", help="do not time the search alone")
    parser.add_argument("--out", type=Path, help="file for the table, with machine and versions")
    return parser


def main() -> None:
    """Profile one warm fit."""
    args = _parser().parse_args()
    X = data.mnist()[0] if args.mnist else data.gaussians(args.samples, args.features)[0]
    clusters = args.clusters or (data.N_GAUSSIANS if args.fusion == "paper" else None)
    staged_fit(X[:N_WARM], args.fusion, clusters, Stages())
    stages = Stages()
    k = staged_fit(X, args.fusion, clusters, stages)
    floor = None
    if not args.no_floor:
        search = _search(X, k)
        start = time.perf_counter()
        search()
        floor = time.perf_counter() - start
    what = f'fusion="{args.fusion}", {len(X):,} x {X.shape[1]}, {np.dtype(X.dtype).name}'
    lines = [what, "", *table(stages.notes, k, floor)]
    print(*lines, sep="\n")
    if args.out:
        words = machine.in_words(machine.describe(), machine.today())
        args.out.write_text("\n".join(["# Profile of a fit", "", *words, "", *lines, ""]))


if __name__ == "__main__":
    main()
