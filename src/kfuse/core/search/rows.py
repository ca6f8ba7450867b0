"""The search that computes every distance, for any metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import Distances
from kfuse.core.search.base import ENTRIES_PER_BLOCK, NeighborBlock, NeighborSearch
from kfuse.core.search.nearest import select_nearest


class RowSearch(NeighborSearch):
    """Compute the distances of a sample to all others, and select the nearest."""

    is_cheap_to_repeat = False

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
