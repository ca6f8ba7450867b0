"""Approximate neighbours: the nearest of those samples that are in the cells around, nearly all of the true ones.

What is approximate is only which samples are looked at: they are measured and sorted as everywhere, by (distance,
index). So the result depends on the seed, and not on the number of threads. In hundreds of dimensions, a sketch may
choose whom to measure; otherwise the result does not depend on how products are rounded either.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances, MetricDistances
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import kernel
from kfuse.core.search.base import Bridges, NeighborBlock
from kfuse.core.search.brute_force import INITIAL_COUNT, BruteForceSearch, sort_rows
from kfuse.core.search.cells import ROWS_AT_A_TIME, Cells, cells_seen, divide, samples_seen
from kfuse.core.search.duplicates import first_at_distance_zero, first_of_equal_rows, merge_vanishing
from kfuse.core.search.nearest import offer
from kfuse.core.search.rows import RowSearch
from kfuse.core.search.screen import Visiting
from kfuse.core.search.sketch import Sketch, sketch_of
from kfuse.core.search.telling import tell_each_other

SEEN_IN_SKETCH = 4  # times as many samples are looked at where a sketch makes that cheap, ...
SIZE_IN_SKETCH = 2  # ... in cells of so many times the size, since going from one to the next costs as much as looking
SHARE_SEARCHED = 0.25  # of all samples; where more would be looked at, looking at all is as fast


class ApproximateSearch(RowSearch):
    """Look into the nearest cells only; for features and any metric."""

    distances: EuclideanDistances | MetricDistances

    def __init__(self, distances: EuclideanDistances | MetricDistances, seed: int, execution: Execution = SERIAL):
        super().__init__(distances)
        self.seed = seed
        self.initial_count: int = min(INITIAL_COUNT, self.most_neighbors)
        self._execution = Execution(execution.n_threads)
        self._cells: Cells | None = None
        self._sketch: Sketch | None = None
        self._building = Lock()
        self.exact = BruteForceSearch(distances) if isinstance(distances, EuclideanDistances) else RowSearch(distances)

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        if self._looks_at_all(k):
            return self.exact.query(rows, k)
        cells = self._cells_for(k)
        found = self._nearest(rows, k, lambda some: cells.visits(some, self._n_seen(k), cells.near[some]))
        block = NeighborBlock(rows, *found)
        too_few = np.isinf(block.distances[:, -1])
        if too_few.any():
            _, block.indices[too_few], block.distances[too_few] = self.exact.query(rows[too_few], k)
        return block

    def complete(self, indices: NDArray[np.int32], distances: NDArray[np.float64], execution: Execution) -> None:
        # Other metrics may not be symmetric to the last bit.
        if isinstance(self.distances, EuclideanDistances) and not self._looks_at_all(indices.shape[1]):
            tell_each_other(indices, distances, execution)

    def order_of_visits(self, k: int) -> NDArray[np.intp]:
        # The samples of a cell have many neighbours in common, which stay in the cache.
        return self.visiting_order if self._looks_at_all(k) else self._cells_for(k).members.astype(np.intp)

    def rows_per_block(self, k: int) -> int:
        return ROWS_AT_A_TIME

    def subset(self, kept: NDArray[np.intp]) -> ApproximateSearch:
        return ApproximateSearch(self.distances.subset(kept), self.seed, self._execution)

    def duplicates(self) -> NDArray[np.intp]:
        points = self.distances.points  # the search itself may miss a duplicate
        first = first_of_equal_rows(points)
        if not self.distances.is_zero_if_identical:
            return first
        return merge_vanishing(points, first, lambda some: first_at_distance_zero(self.exact.subset(some)))

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        return self.exact.bridges(component)

    def _looks_at_all(self, k: int) -> bool:
        return k == 0 or samples_seen(k) > SHARE_SEARCHED * self.distances.n_samples

    def _n_seen(self, k: int) -> int:
        return samples_seen(k) * (1 if self._sketch is None else SEEN_IN_SKETCH)

    @property
    def _times(self) -> int:
        return 1 if self._sketch is None else SIZE_IN_SKETCH

    def _cells_for(self, k: int) -> Cells:
        """Return cells with as many of the nearest leaders noted for each sample as k neighbours need."""
        with self._building:
            if self._cells is None and isinstance(self.distances, EuclideanDistances):
                self._sketch = sketch_of(self.distances.points, self.seed, self._execution)
            n_near = cells_seen(self._n_seen(max(k, self.initial_count)), self._times)
            if self._cells is None or self._cells.near.shape[1] < min(n_near, self._cells.leaders.size):
                self._cells = self._divide(n_near)
            return self._cells

    def _divide(self, n_near: int) -> Cells:
        shuffled = np.random.default_rng(self.seed).permutation(self.distances.n_samples)
        nearest = self._nearest if self._sketch is None else self._sketch.listed
        return divide(shuffled, n_near, nearest, self._execution, self._times)

    def _nearest(
        self, rows: NDArray[np.intp], k: int, visiting: Visiting
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k nearest of what each of `rows` looks at, nearest first; infinitely far where these are too few."""
        if isinstance(self.exact, BruteForceSearch):
            search = self.exact.brute_force.query if self._sketch is None else self._sketch.nearest
            indices, found = search(rows, k, visiting)
            return indices, self.distances.finish(found)  # type: ignore[union-attr]
        points, measure = self.distances.points, self.distances.measure  # type: ignore[union-attr]
        indices = np.full((rows.size, k), self.distances.n_samples, dtype=np.int32)
        found = np.full((rows.size, k), np.inf)
        for visit in visiting(rows):
            block = measure(points[rows[visit.which]], points[visit.columns])
            offer_visited(block, visit, rows, indices, found)
        sort_rows(indices, found)
        return indices, found


@kernel
def offer_visited(block, visit, rows, indices, distances):
    """Let the samples of a visit compete to be among the nearest of its rows."""
    which, columns = visit
    for place in range(which.size):
        row = which[place]
        for j in range(columns.size):
            if columns[j] != rows[row] and block[place, j] <= distances[row, 0]:
                offer(distances[row], indices[row], block[place, j], columns[j])
