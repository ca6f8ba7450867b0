"""The neighbours of all samples, in blocks, and kept while they are few enough.

No n x n array is made, and an n x k one only while it is small: larger ones are searched block by block, as often as a
stage asks for them. Where distances are as quickly computed as read, only who is whose neighbour is kept, which takes a
third of the memory.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution, one_blas_thread
from kfuse.core.kernels import kernel
from kfuse.core.search.base import ENTRIES_PER_BLOCK, NeighborBlock, NeighborSearch
from kfuse.core.search.choose import ENTRIES_KEPT, initial_neighbor_count

ALL = slice(None)
ROWS_AT_A_TIME = 2**12  # moved together when columns are dropped


class Nearest:
    """The k nearest neighbours of all samples.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, k)
        The neighbours, nearest first.
    distances : ndarray of shape (n_samples, k) or None
        Their distances, if these are kept.
    points : ndarray of shape (n_samples, n_features) or None
        The points to compute Euclidean distances from, if these are not.
    """

    def __init__(
        self,
        indices: NDArray[np.int32],
        distances: NDArray[np.float64] | None = None,
        points: NDArray[Any] | None = None,
    ):
        self.indices, self._distances, self._points = indices, distances, points

    def distances_of(self, rows: slice | NDArray[Any] = ALL, k: int | None = None) -> NDArray[np.float64]:
        """Return the distances of some samples to their first k neighbours, or to all."""
        if self._distances is not None:
            return self._distances[rows, :k]
        samples = np.arange(*rows.indices(len(self.indices))) if isinstance(rows, slice) else rows
        found = np.empty((samples.size, self.indices[:, :k].shape[1]))
        write_distances(self._points, samples, self.indices, found)
        return found

    def up_to(self, k: int) -> Nearest:
        """Return the first k neighbours, as a view."""
        return Nearest(self.indices[:, :k], None if self._distances is None else self._distances[:, :k], self._points)

    def narrowed(self, k: int) -> Nearest:
        """Return the first k neighbours; this object must not be used any more, and its memory is freed."""
        arrays: list[Any] = [self.indices, self._distances]
        self.indices, self._distances = np.empty((0, 0), np.int32), None  # no second reference
        return Nearest(narrowed(arrays, k), None if arrays[0] is None else narrowed(arrays, k), self._points)


class NeighborTable:
    """The k nearest neighbours of all samples, for any k."""

    def __init__(self, search: NeighborSearch, execution: Execution = SERIAL):
        self.search = search
        self.distances = search.distances
        self.n_samples = search.distances.n_samples
        self._execution = execution
        self._kept: Nearest | None = None

    @cached_property
    def initial_count(self) -> int:
        """How many neighbours to ask for at first."""
        return initial_neighbor_count(self.search)

    def subset(self, kept: NDArray[np.intp]) -> NeighborTable:
        """Return the table of the same distances between some of the samples."""
        return NeighborTable(self.search.subset(kept), self._execution)

    def reordered(self) -> tuple[NeighborTable, NDArray[np.intp]]:
        """Return the table with samples numbered in spatial order, and the sample of each number."""
        search, order = self.search.reordered()
        return NeighborTable(search, self._execution), order

    def blocks(self, k: int, with_distances: int | None = None) -> Iterator[NeighborBlock]:
        """Yield the k nearest neighbours of every sample, each sample once, in no particular order.

        The distances are those of the first `with_distances` of them, at least.
        """
        if not self._keeps(k) and self.n_samples * k > ENTRIES_KEPT:
            yield from self._search_blocks(self.search.order_of_visits(k), k)
            return
        kept = self._kept if self._keeps(k) else self.nearest(k)
        size = max(1, ENTRIES_PER_BLOCK // max(1, k))
        for start in range(0, self.n_samples, size):
            rows = slice(start, min(start + size, self.n_samples))
            distances = kept.distances_of(rows, k if with_distances is None else with_distances)  # type: ignore[union-attr]
            yield NeighborBlock(np.arange(rows.start, rows.stop), kept.indices[rows, :k], distances)  # type: ignore[union-attr]

    def blocks_of(self, rows: NDArray[np.intp], k: int) -> Iterator[NeighborBlock]:
        """Yield the k nearest neighbours of some samples, each sample once, in no particular order."""
        if self._keeps(k):
            yield NeighborBlock(rows, self._kept.indices[rows, :k], self._kept.distances_of(rows, k))  # type: ignore[union-attr]
        else:
            asked = np.zeros(self.n_samples, dtype=np.bool_)
            asked[rows] = True
            yield from self._search_blocks(self.search.visiting_order[asked[self.search.visiting_order]], k)

    def collect(self, k: int) -> NeighborBlock:
        """Return the k nearest neighbours of every sample as one block."""
        nearest = self.nearest(k)
        return NeighborBlock(np.arange(self.n_samples), nearest.indices, nearest.distances_of())

    def nearest(self, k: int) -> Nearest:
        """Return the k nearest neighbours of every sample, which are kept in place of what was."""
        if self._keeps(k):
            self._kept = self._kept.narrowed(k)  # type: ignore[union-attr]
        else:
            self._kept = None  # before there is room for more
            self._kept = self._search_all(k)
        return self._kept

    def _search_all(self, k: int) -> Nearest:
        search, indices = self.search, np.empty((self.n_samples, k), dtype=np.int32)
        distances = np.empty((self.n_samples, k)) if search.points_to_measure is None else None
        order = search.order_of_visits(k)

        def fill(start: int, stop: int) -> None:
            rows = order[start:stop]
            if distances is None:
                indices[rows] = search.query(rows, k).indices
            else:
                search.fill(rows, indices, distances)

        with one_blas_thread():
            self._execution.over_ranges(fill, self.n_samples, search.rows_per_block(k))
        if distances is not None:
            search.complete(indices, distances, Execution(self._execution.n_threads))
        return Nearest(indices, distances, search.points_to_measure)

    def _keeps(self, k: int) -> bool:
        return self._kept is not None and self._kept.indices.shape[1] >= k

    def _search_blocks(self, rows: NDArray[np.intp], k: int) -> Iterator[NeighborBlock]:
        """Search block after block, a few ahead of what is used, so that only those are in memory."""
        size = self.search.rows_per_block(k)
        parts = (rows[start : start + size] for start in range(0, len(rows), size))
        n_done = 0
        with one_blas_thread(), self._execution.workers() as pool:
            ahead = deque(
                pool.submit(self.search.query, part, k) for part in islice(parts, 2 * self._execution.n_threads)
            )
            while ahead:
                block = ahead.popleft().result()
                ahead.extend(pool.submit(self.search.query, part, k) for part in islice(parts, 1))
                yield block
                n_done += block.rows.size
                self._execution.progress.advance(n_done, len(rows), "samples")


@kernel
def write_distances(points, samples, indices, distances):
    """Compute the distances from some samples to their first neighbours: sums over the features in order."""
    for row in range(samples.size):
        sample = samples[row]
        for rank in range(distances.shape[1]):
            other, total = indices[sample, rank], 0.0
            for feature in range(points.shape[1]):
                difference = np.float64(points[other, feature]) - points[sample, feature]
                total += difference * difference
            distances[row, rank] = np.sqrt(total)


def narrowed(arrays: list[NDArray[Any]], k: int) -> NDArray[Any]:
    """Take the first of some arrays off their list, and return its first k columns.

    The memory of the others is returned to the system, unless something else refers to the array.
    """
    array = arrays.pop(0)
    n_rows, width = array.shape
    is_shared = array.base is not None or sys.getrefcount(array) > 2  # `array`, and the argument of this call
    if k in (0, width) or is_shared:
        return array[:, :k]
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        part = array[start : start + ROWS_AT_A_TIME, :k].ravel()
        array.reshape(-1)[start * k : start * k + part.size] = part
    array.resize((n_rows, k), refcheck=False)  # the count above was without `part`, which is a copy
    return array
