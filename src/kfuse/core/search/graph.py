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
            fewest = self.distances.stored_counts.argmin()
            sample, n_given = self.distances.samples[fewest], int(self.distances.given_counts[fewest])
            s = "" if self.most_neighbors == 1 else "s"
            raise ValueError(
                f"The precomputed graph has only {self.most_neighbors} distinct neighbour{s} for sample {sample}, but "
                f"this data needs about {k}{remedy(self.most_neighbors, n_given, k)}."
            )
        positions = self.distances.indptr[rows][:, None] + np.arange(k)
        return NeighborBlock(rows, self._indices[positions], self._data[positions])

    def subset(self, kept: NDArray[np.intp]) -> GraphSearch:
        return GraphSearch(self.distances.subset(kept))


def remedy(n_distinct: int, n_given: int, n_needed: int) -> str:
    """Return how a message ends about a graph with too few distinct neighbours, of `n_given` that a sample has."""
    if n_given <= n_distinct:
        return f": build the graph with n_neighbors={n_needed} or more"
    return (
        f"; identical samples fill the lists of {n_given}, so build the graph on the distinct samples, with "
        f"n_neighbors={n_needed} or more, and pass how often each occurs as sample_weight"
    )
