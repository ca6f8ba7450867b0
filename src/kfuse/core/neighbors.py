"""Definition 1: the k nearest neighbours of every sample, in blocks.

No array of n x n is made, and one of n x k only while it is small: larger ones are searched block by block, as often
as a stage asks for them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kfuse.core import kd_tree
from kfuse.core.approximate import SHARE_SEARCHED, SHORTEST_LIST, Candidates
from kfuse.core.brute_force import ROWS_AT_A_TIME, BruteForce, one_blas_thread
from kfuse.core.distances import Distances, EuclideanDistances, GraphDistances, MetricDistances, distances_for, identity
from kfuse.core.nearest import select_nearest
from kfuse.core.progress import SILENT, Progress
from kfuse.core.spatial import spatial_order
from kfuse.core.threads import over_ranges, workers

ENTRIES_KEPT = 350_000_000  # of the table of neighbours (12 bytes each) before it is searched anew instead
KD_TREE_DIMENSIONS = 12  # above, looking at every sample is about as fast if there are few
TRIED_DIMENSIONS = range(7, 129)  # where either search can be many times the faster, so that both are tried, ...
TRIED_SAMPLES = 10_000  # ... if there are so many samples, ...
STRETCHES_TRIED, ROWS_TRIED = 8, 16  # ... on a few of them, in stretches of near ones
FIRST_LOOK = 32  # neighbours to ask for at first: data in few dimensions needs no more in any stage, ...
LONG_LOOK = 160  # ... and few data needs more than this; ...
LITTLE_LONGER = 2.0  # ... ask for so many if they take at most this times as long, ...
FEW_DIMENSIONS = 3  # ... which they never do in so few dimensions
ENTRIES_PER_BLOCK = 2**20  # of distances or neighbours that one thread holds at a time


class NeighborBlock(NamedTuple):
    """The neighbours of some samples: row i belongs to sample rows[i], nearest first."""

    rows: NDArray[np.intp]
    indices: NDArray[np.int32]
    distances: NDArray[np.float64]


class NeighborSearch(Protocol):
    """Finds the k nearest neighbours of some samples, by (distance, index), the sample itself left out."""

    visiting_order: NDArray[np.intp]  # the order of samples in which a search is fastest
    most_neighbors: int  # that can be asked for
    asks_again_cheaply: bool = True  # for more neighbours of the same samples
    distances: Distances  # what it searches by

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        """Find the k nearest neighbours of the samples `rows`."""

    def fill(self, rows: NDArray[np.intp], indices: NDArray[np.int32], distances: NDArray[np.float64]) -> None:
        """Find the nearest neighbours of the samples `rows` and write them into their rows of a table of all."""
        indices[rows], distances[rows] = self.query(rows, indices.shape[1])[1:]

    def rows_per_block(self, k: int) -> int:
        """How many samples to ask for at a time."""

    def subset(self, kept: NDArray[np.intp]) -> NeighborSearch:
        """The search among some of the samples."""

    def in_spatial_order(self) -> tuple[NeighborSearch, NDArray[np.intp]]:
        """The search with samples numbered so that near ones come near each other, and the sample of each number.

        That order depends on the points alone, so what is computed in it does not depend on the order of rows. Where
        there are no points, it is the order of rows.
        """


class RowSearch(NeighborSearch):
    """Computes every distance; for any metric."""

    asks_again_cheaply = False

    def __init__(self, distances: Distances):
        self.distances = distances
        self.visiting_order = np.arange(distances.n_samples)
        self.most_neighbors = distances.n_samples - 1

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        return NeighborBlock(rows, *select_nearest(self.distances.rows(rows), rows, k))

    def rows_per_block(self, k: int) -> int:
        return max(1, ENTRIES_PER_BLOCK // (self.distances.n_samples + k))

    def subset(self, kept: NDArray[np.intp]) -> RowSearch:
        return RowSearch(self.distances.subset(kept))

    def in_spatial_order(self) -> tuple[RowSearch, NDArray[np.intp]]:
        if self.distances.points is None:
            return self, self.visiting_order
        order = spatial_order(self.distances.points).astype(np.intp)
        return self.subset(order), order


class BruteForceSearch(RowSearch):
    """Looks at every sample, but computes few distances; for Euclidean distances in many dimensions."""

    distances: EuclideanDistances
    asks_again_cheaply = True  # it keeps short lists

    def __init__(self, distances: EuclideanDistances):
        super().__init__(distances)
        self.brute_force = BruteForce(distances.points)

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        indices, found = self.brute_force.query(rows, k)
        return NeighborBlock(rows, indices, self.distances.finish(found))

    def rows_per_block(self, k: int) -> int:
        return ROWS_AT_A_TIME

    def subset(self, kept: NDArray[np.intp]) -> BruteForceSearch:
        return BruteForceSearch(self.distances.subset(kept))


class KDTreeSearch(NeighborSearch):
    """Looks only where a neighbour can be; for Euclidean distances in few dimensions."""

    distances: EuclideanDistances
    asks_again_cheaply = False

    def __init__(self, distances: EuclideanDistances, n_threads: int = 1, tree: kd_tree.KDTree | None = None):
        self.distances = distances
        self.n_threads = n_threads
        self.tree = kd_tree.build(distances.points, n_threads) if tree is None else tree
        self.visiting_order = self.tree.order.astype(np.intp)
        self.most_neighbors = distances.n_samples - 1

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        indices, found = kd_tree.nearest(self.tree, self.distances.points[rows], k, rows)
        return NeighborBlock(rows, indices, self.distances.finish(found))

    def fill(self, rows: NDArray[np.intp], indices: NDArray[np.int32], distances: NDArray[np.float64]) -> None:
        kd_tree.write_nearest(self.tree, self.distances.points[rows], rows, rows, indices, distances)
        if self.distances.finish is not identity:
            distances[rows] = self.distances.finish(distances[rows])

    def rows_per_block(self, k: int) -> int:
        return max(1, ENTRIES_PER_BLOCK // (8 * max(1, k)))

    def subset(self, kept: NDArray[np.intp]) -> KDTreeSearch:
        return KDTreeSearch(self.distances.subset(kept), self.n_threads)

    def in_spatial_order(self) -> tuple[KDTreeSearch, NDArray[np.intp]]:
        tree = self.tree._replace(order=np.arange(self.tree.order.size, dtype=np.int32))
        return KDTreeSearch(self.distances.at(tree.points), self.n_threads, tree), self.visiting_order


class ApproximateSearch(RowSearch):
    """Looks at likely neighbours only; for features, and metrics that pynndescent knows."""

    distances: EuclideanDistances | MetricDistances
    asks_again_cheaply = True  # it keeps lists, too

    def __init__(self, distances: EuclideanDistances | MetricDistances, seed: int):
        super().__init__(distances)
        self.seed = seed
        self.candidates = Candidates(distances, seed)
        self.exact = BruteForceSearch(distances) if isinstance(distances, EuclideanDistances) else RowSearch(distances)

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        if k == 0 or max(k, SHORTEST_LIST) > SHARE_SEARCHED * self.distances.n_samples:
            return self.exact.query(rows, k)
        indices, found = self.candidates.query(rows, k)
        too_few = np.isinf(found).any(axis=1)
        if too_few.any():
            _, indices[too_few], found[too_few] = self.exact.query(rows[too_few], k)
        return NeighborBlock(rows, indices, found)

    def rows_per_block(self, k: int) -> int:
        return self.exact.rows_per_block(k)

    def subset(self, kept: NDArray[np.intp]) -> ApproximateSearch:
        return ApproximateSearch(self.distances.subset(kept), self.seed)


class GraphSearch(NeighborSearch):
    """Looks up the neighbours that a precomputed graph holds."""

    distances: GraphDistances

    def __init__(self, distances: GraphDistances):
        self.distances = distances
        self.visiting_order = np.arange(distances.n_samples)
        heads = np.repeat(self.visiting_order, np.diff(distances.indptr))
        nearest_first = np.lexsort((distances.indices, distances.data, heads))
        self.most_neighbors = int(distances.stored_counts.min())
        self._indices = distances.indices[nearest_first].astype(np.int32)
        self._data = distances.data[nearest_first]

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        if k > self.most_neighbors:
            sample = self.distances.samples[self.distances.stored_counts.argmin()]
            raise ValueError(
                f"The precomputed graph has only {self.most_neighbors} distinct neighbours for sample {sample}, but "
                f"this data needs at least {k}: build the graph with n_neighbors={k} or more, not counting duplicates."
            )
        positions = self.distances.indptr[rows][:, None] + np.arange(k)
        return NeighborBlock(rows, self._indices[positions], self._data[positions])

    def rows_per_block(self, k: int) -> int:
        return max(1, ENTRIES_PER_BLOCK // max(1, k))

    def subset(self, kept: NDArray[np.intp]) -> GraphSearch:
        return GraphSearch(self.distances.subset(kept))

    def in_spatial_order(self) -> tuple[GraphSearch, NDArray[np.intp]]:
        return self, self.visiting_order


def suits_kd_tree(distances: EuclideanDistances) -> bool:
    """Whether the tree is likely to be the faster of the two: it is in few dimensions."""
    return distances.points.shape[1] <= KD_TREE_DIMENSIONS


def faster_search(distances: EuclideanDistances, n_threads: int) -> NeighborSearch:
    """Choose between the two exact searches, which find the same, by the time that a few samples take."""
    n_samples, n_features = distances.points.shape
    if n_samples < TRIED_SAMPLES or n_features not in TRIED_DIMENSIONS:
        return KDTreeSearch(distances, n_threads) if suits_kd_tree(distances) else BruteForceSearch(distances)
    searches: list[NeighborSearch] = [KDTreeSearch(distances, n_threads), BruteForceSearch(distances)]
    return min(searches, key=_time_of_a_try)


def _time_of_a_try(search: NeighborSearch, k: int = FIRST_LOOK) -> float:
    """The seconds that this thread works, not waits, on a few samples from all over the data."""
    starts = np.linspace(0, len(search.visiting_order) - ROWS_TRIED, STRETCHES_TRIED, dtype=np.intp)
    rows = search.visiting_order[(starts[:, None] + np.arange(ROWS_TRIED)).ravel()]
    search.query(rows[:2], k)  # compiles
    start = time.thread_time()
    search.query(rows, k)
    return time.thread_time() - start


def choose_search(
    X: Any, metric: str | Callable[..., float], how: str, n_threads: int = 1, seed: int = 0
) -> NeighborSearch:
    """Choose the search for an input, a metric and the way asked for; the seed is that of an approximate search."""
    distances = distances_for(X, metric)
    if isinstance(distances, GraphDistances):
        return GraphSearch(distances)
    if how == "approximate":
        return ApproximateSearch(distances, seed)
    if not isinstance(distances, EuclideanDistances):
        return RowSearch(distances)
    if how == "auto":
        return faster_search(distances, n_threads)
    return KDTreeSearch(distances, n_threads) if how == "kd_tree" else BruteForceSearch(distances)


class NeighborTable:
    """The neighbours of all samples, for any k, in blocks and with several threads."""

    def __init__(self, search: NeighborSearch, n_threads: int = 1, progress: Progress = SILENT):
        self.search = search
        self.progress = progress
        self.distances = search.distances
        self.n_samples = search.distances.n_samples
        self.n_threads = n_threads
        self._kept: NeighborBlock | None = None

    @cached_property
    def first_look(self) -> int:
        """How many neighbours to ask for at first.

        In many dimensions, most of the time goes into looking where neighbours might be, however many they are.
        """
        look, points = FIRST_LOOK, self.distances.points
        if (
            points is not None
            and points.shape[1] > FEW_DIMENSIONS
            and not self.search.asks_again_cheaply
            and TRIED_SAMPLES <= self.n_samples <= ENTRIES_KEPT // LONG_LOOK
        ):
            few, many = (min(_time_of_a_try(self.search, k) for _ in range(3)) for k in (FIRST_LOOK, LONG_LOOK))
            look = LONG_LOOK if many <= LITTLE_LONGER * few else FIRST_LOOK
        return min(look, self.search.most_neighbors)

    def blocks(self, k: int) -> Iterator[NeighborBlock]:
        """Give the k nearest neighbours of every sample, each sample once, in no particular order."""
        if self._kept is not None and self._kept.indices.shape[1] >= k:
            yield from self._slices_of_kept(k)
        elif self.n_samples * k <= ENTRIES_KEPT:
            self._kept = self.collect(k)
            yield from self._slices_of_kept(k)
        else:
            yield from self.search_blocks(self.search.visiting_order, k)

    def of(self, rows: NDArray[np.intp], k: int) -> Iterator[NeighborBlock]:
        """Give the k nearest neighbours of some samples, each sample once, in no particular order."""
        if self._kept is not None and self._kept.indices.shape[1] >= k:
            yield NeighborBlock(rows, self._kept.indices[rows, :k], self._kept.distances[rows, :k])
        else:
            asked = np.zeros(self.n_samples, dtype=np.bool_)
            asked[rows] = True
            yield from self.search_blocks(self.search.visiting_order[asked[self.search.visiting_order]], k)

    def search_blocks(self, rows: NDArray[np.intp], k: int) -> Iterator[NeighborBlock]:
        """Search block after block, a few ahead of what is used, so that only those are in memory."""
        size = self.search.rows_per_block(k)
        parts = (rows[start : start + size] for start in range(0, len(rows), size))
        n_done = 0
        with one_blas_thread(), workers(self.n_threads) as pool:
            ahead = deque(pool.submit(self.search.query, part, k) for part in islice(parts, 2 * self.n_threads))
            while ahead:
                block = ahead.popleft().result()
                ahead.extend(pool.submit(self.search.query, part, k) for part in islice(parts, 1))
                yield block
                n_done += block.rows.size
                self.progress.advance(n_done, len(rows), "samples")

    def subset(self, kept: NDArray[np.intp]) -> NeighborTable:
        """The table of the same distances between some of the samples."""
        return NeighborTable(self.search.subset(kept), self.n_threads, self.progress)

    def in_spatial_order(self) -> tuple[NeighborTable, NDArray[np.intp]]:
        """The table with samples numbered in an order of their own, and the sample of each number."""
        search, order = self.search.in_spatial_order()
        return NeighborTable(search, self.n_threads, self.progress), order

    def collect(self, k: int) -> NeighborBlock:
        """Give the k nearest neighbours of every sample as one block."""
        if self._kept is not None and self._kept.indices.shape[1] >= k:
            kept = self._kept
            return NeighborBlock(kept.rows, kept.indices[:, :k], kept.distances[:, :k])
        indices = np.empty((self.n_samples, k), dtype=np.int32)
        distances = np.empty((self.n_samples, k))

        def fill(start: int, stop: int) -> None:
            self.search.fill(self.search.visiting_order[start:stop], indices, distances)

        with one_blas_thread():
            over_ranges(fill, self.n_samples, self.search.rows_per_block(k), self.n_threads, self.progress)
        return NeighborBlock(np.arange(self.n_samples), indices, distances)

    def _slices_of_kept(self, k: int) -> Iterator[NeighborBlock]:
        kept = self._kept
        assert kept is not None
        size = max(1, ENTRIES_PER_BLOCK // max(1, k))
        for start in range(0, self.n_samples, size):
            part = slice(start, start + size)
            yield NeighborBlock(kept.rows[part], kept.indices[part, :k], kept.distances[part, :k])
