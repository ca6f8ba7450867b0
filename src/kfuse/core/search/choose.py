"""Which search to use, and how many neighbours to ask it for at first: by rule, or by timing a few samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kfuse.core.distances import EuclideanDistances, GraphDistances, distances_for
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.search.approximate import ApproximateSearch
from kfuse.core.search.base import NeighborSearch
from kfuse.core.search.brute_force import BruteForceSearch
from kfuse.core.search.graph import GraphSearch
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch

ENTRIES_KEPT = 350_000_000  # of the neighbour table (12 bytes each); larger ones are searched again instead
KD_TREE_DIMENSIONS = 12  # above, brute force is about as fast on few samples
TIMED_DIMENSIONS = range(7, 129)  # where either search can be many times faster, so that both are timed, ...
TIMED_SAMPLES = 10_000  # ... given this many samples, ...
STRETCHES_TIMED, ROWS_TIMED = 8, 16  # ... on a few of them, in stretches of near ones
INITIAL_COUNT = 32  # neighbours asked for at first: data in few dimensions needs no more in any stage, ...
LONG_COUNT = 64  # ... and the default method never needs more than this; ...
LITTLE_LONGER = 2.0  # ... ask for that many if it takes at most this times as long, ...
FEW_DIMENSIONS = 3  # ... which it never does in so few dimensions


def choose_search(
    X: Any,
    metric: str | Callable[..., float],
    how: str,
    execution: Execution = SERIAL,
    seed: int = 0,
    *,
    steps: bool = False,
) -> NeighborSearch:
    """Return the search for an input, a metric and the requested kind.

    The seed is that of an approximate search; with `steps`, rounded data is measured in the steps of its rounding.
    """
    distances = distances_for(X, metric, steps=steps, execution=execution)
    if isinstance(distances, GraphDistances):
        return GraphSearch(distances)
    if how == "approximate":
        return ApproximateSearch(distances, seed, execution)
    if not isinstance(distances, EuclideanDistances):
        return RowSearch(distances)
    if how == "auto":
        return faster_search(distances, execution)
    return KDTreeSearch(distances, execution) if how == "kd_tree" else BruteForceSearch(distances)


def faster_search(distances: EuclideanDistances, execution: Execution = SERIAL) -> NeighborSearch:
    """Choose between the two exact searches, which find the same neighbours, by the time that a few samples take."""
    n_samples, n_features = distances.points.shape
    if n_samples < TIMED_SAMPLES or n_features not in TIMED_DIMENSIONS:
        return KDTreeSearch(distances, execution) if suits_kd_tree(distances) else BruteForceSearch(distances)
    searches: list[NeighborSearch] = [KDTreeSearch(distances, execution), BruteForceSearch(distances)]
    return min(searches, key=_trial_time)


def suits_kd_tree(distances: EuclideanDistances) -> bool:
    """Return whether the k-d tree is likely to be the faster search, as it is in few dimensions."""
    return distances.points.shape[1] <= KD_TREE_DIMENSIONS


def initial_neighbor_count(search: NeighborSearch) -> int:
    """Return how many neighbours to ask for at first.

    In many dimensions, most of the time goes into looking where neighbours might be, however many are asked for.
    """
    if search.initial_count is not None:
        return search.initial_count
    count, points = INITIAL_COUNT, search.distances.points
    if (
        points is not None
        and points.shape[1] > FEW_DIMENSIONS
        and not search.is_cheap_to_repeat
        and TIMED_SAMPLES <= search.distances.n_samples <= ENTRIES_KEPT // LONG_COUNT
    ):
        few, many = (min(_trial_time(search, k) for _ in range(3)) for k in (INITIAL_COUNT, LONG_COUNT))
        count = LONG_COUNT if many <= LITTLE_LONGER * few else INITIAL_COUNT
    return min(count, search.most_neighbors)


def _trial_time(search: NeighborSearch, k: int = INITIAL_COUNT) -> float:
    """Return the seconds that this thread works, not waits, on a few samples from all over the data."""
    starts = np.linspace(0, len(search.visiting_order) - ROWS_TIMED, STRETCHES_TIMED, dtype=np.intp)
    rows = search.visiting_order[(starts[:, None] + np.arange(ROWS_TIMED)).ravel()]
    search.query(rows[:2], k)  # compiles
    start = time.thread_time()
    search.query(rows, k)
    return time.thread_time() - start
