"""The neighbours of all samples, in blocks, and kept while they are few enough.

No n x n array is made, and an n x k one only while it is small: larger ones are searched block by block, as often as a
stage asks for them.
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
from kfuse.core.search.base import ENTRIES_PER_BLOCK, NeighborBlock, NeighborSearch
from kfuse.core.search.choose import ENTRIES_KEPT, initial_neighbor_count

ROWS_AT_A_TIME = 2**12  # moved together when columns are dropped


class NeighborTable:
    """The k nearest neighbours of all samples, for any k."""

    def __init__(self, search: NeighborSearch, execution: Execution = SERIAL):
        self.search = search
        self.distances = search.distances
        self.n_samples = search.distances.n_samples
        self._execution = execution
        self._kept: NeighborBlock | None = None

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

    def blocks(self, k: int) -> Iterator[NeighborBlock]:
        """Yield the k nearest neighbours of every sample, each sample once, in no particular order."""
        if self._keeps(k):
            yield from self._slices_of_kept(k)
        elif self.n_samples * k <= ENTRIES_KEPT:
            self.collect(k)
            yield from self._slices_of_kept(k)
        else:
            yield from self._search_blocks(self.search.visiting_order, k)

    def blocks_of(self, rows: NDArray[np.intp], k: int) -> Iterator[NeighborBlock]:
        """Yield the k nearest neighbours of some samples, each sample once, in no particular order."""
        if self._keeps(k):
            yield NeighborBlock(rows, self._kept.indices[rows, :k], self._kept.distances[rows, :k])  # type: ignore[union-attr]
        else:
            asked = np.zeros(self.n_samples, dtype=np.bool_)
            asked[rows] = True
            yield from self._search_blocks(self.search.visiting_order[asked[self.search.visiting_order]], k)

    def collect(self, k: int) -> NeighborBlock:
        """Return the k nearest neighbours of every sample as one block, which is kept in place of what was."""
        if self._keeps(k):
            rows, *rest = self._kept  # type: ignore[misc]
            columns: list[Any] = rest
            self._kept = None
            self._kept = NeighborBlock(rows, narrowed(columns, k), narrowed(columns, k))
            return self._kept
        self._kept = None  # before there is room for more
        indices = np.empty((self.n_samples, k), dtype=np.int32)
        distances = np.empty((self.n_samples, k))

        def fill(start: int, stop: int) -> None:
            self.search.fill(self.search.visiting_order[start:stop], indices, distances)

        with one_blas_thread():
            self._execution.over_ranges(fill, self.n_samples, self.search.rows_per_block(k))
        self._kept = NeighborBlock(np.arange(self.n_samples), indices, distances)
        return self._kept

    def _keeps(self, k: int) -> bool:
        return self._kept is not None and self._kept.indices.shape[1] >= k

    def _slices_of_kept(self, k: int) -> Iterator[NeighborBlock]:
        assert self._kept is not None
        rows, indices, distances = self._kept
        size = max(1, ENTRIES_PER_BLOCK // max(1, k))
        for start in range(0, self.n_samples, size):
            part = slice(start, start + size)
            yield NeighborBlock(rows[part], indices[part, :k], distances[part, :k])

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
