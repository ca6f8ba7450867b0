"""The search in a precomputed graph: its stored neighbours, sorted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import GraphDistances
from kfuse.core.search.base import NeighborBlock, NeighborSearch


class GraphSearch(NeighborSearch):
    """Look up the neighbours that a precomputed graph holds."""

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
                f"this data needs about {k}: build the graph with n_neighbors={k} or more, not counting duplicates."
            )
        positions = self.distances.indptr[rows][:, None] + np.arange(k)
        return NeighborBlock(rows, self._indices[positions], self._data[positions])

    def subset(self, kept: NDArray[np.intp]) -> GraphSearch:
        return GraphSearch(self.distances.subset(kept))
