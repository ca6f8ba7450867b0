"""Algorithm 3 as printed: sub-clusters merge in the order of their initial fusion indices (Eq. 7).

Merging pairs in decreasing order of an index, skipping those already together, is Kruskal's algorithm: only the edges
of the maximum spanning tree ever merge anything. So a first tree is built from the pairs that share samples, and
improved with those of the others whose index may be large enough. The table of all pairs is never held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from kfuse.core.execution import Execution
from kfuse.core.kernels import kernel
from kfuse.core.paper.boundary import (
    adjacent_sample_counts,
    augmented_subclusters,
    distances_from,
    log_connectivity,
)
from kfuse.core.paper.least_distances import LeastDistances, least_distances_stored
from kfuse.core.paper.similarity import DensityMoments, density_moments, log_similarity
from kfuse.core.paper.spanning import (
    NO_EDGES,
    PAIRS_AT_A_TIME,
    Edges,
    SubClusters,
    pairs_that_may_improve,
    spanning_tree,
)
from kfuse.core.paper.subclusters import Partition
from kfuse.core.search import NeighborTable


def merges(
    neighbors: NeighborTable,
    density: NDArray[np.float64],
    partition: Partition,
    natural_value: int,
    execution: Execution,
) -> Edges:
    """Merge sub-clusters in decreasing order of their fusion index, down to one (Algorithm 3)."""
    if partition.n_subclusters == 1:
        return NO_EDGES
    indices = FusionIndices(neighbors, density, partition, natural_value)
    return SPANNING_EDGES[neighbors.distances.compared_by](indices, execution)


class FusionIndices:
    """The logarithm of the fusion index (Eq. 7), of some pairs or of one sub-cluster with all."""

    def __init__(
        self, neighbors: NeighborTable, density: NDArray[np.float64], partition: Partition, natural_value: int
    ):
        self.search = neighbors.search
        self.distances: Any = neighbors.distances
        self.labels = partition.labels
        self.n_subclusters = partition.n_subclusters
        self.sizes = np.bincount(self.labels, minlength=self.n_subclusters)
        self.moments: DensityMoments = density_moments(density, self.labels, partition.left_out)
        augmented = augmented_subclusters(neighbors, self.labels, natural_value)
        self.adjacent = adjacent_sample_counts(augmented.table)
        self.radius = self._in_unit_of_data(augmented.radius)
        by_label = np.argsort(self.labels, kind="stable")
        self._members = np.split(by_label, np.cumsum(self.sizes)[:-1])

    def __getitem__(self, subcluster: int) -> NDArray[np.float64]:
        nearest = distances_from(self.distances, self._members[subcluster], self.labels, self.n_subclusters)
        row, others = np.full(self.n_subclusters, subcluster), np.arange(self.n_subclusters)
        return self.of(row, others, nearest, self.adjacent[[subcluster]].toarray()[0])

    def of(
        self,
        i: NDArray[np.intp],
        j: NDArray[np.intp],
        nearest: NDArray[np.float64],
        n_adjacent: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the indices of pairs with least distances `nearest`; without `n_adjacent`, they share no samples."""
        if n_adjacent is None:
            n_adjacent = np.zeros(i.size, dtype=np.int64)
        indices = np.empty(i.size)
        lengths = self._in_unit_of_data(nearest)
        write_log_fusion_indices(i, j, n_adjacent, lengths, self.sizes, *self.moments, indices)
        return indices

    def _in_unit_of_data(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # a distance beyond the range of numbers is infinite
            return distances * self.distances.unit

    def pairs_with(self, numbers: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
        """Return i and j of the pairs in `numbers` and of those that share samples, and how many they share.

        The number of a pair i < j is i x n_subclusters + j.
        """
        shared = triu(self.adjacent, k=1, format="coo")
        sharing = shared.row.astype(np.intp) * self.n_subclusters + shared.col
        numbers = np.unique(np.concatenate([numbers, sharing]))
        n_adjacent = np.zeros(numbers.size, dtype=np.int64)
        n_adjacent[np.searchsorted(numbers, sharing)] = shared.data
        i, j = np.divmod(numbers, self.n_subclusters)
        return i, j, n_adjacent


@kernel
def write_log_fusion_indices(i, j, n_adjacent, nearest, sizes, means, variances, indices):
    """Compute the logarithm of FI = Con x Sim (Eq. 7) of each pair."""
    for pair in range(i.size):
        a, b = i[pair], j[pair]
        connectivity = log_connectivity(n_adjacent[pair], nearest[pair], sizes[a], sizes[b])
        indices[pair] = connectivity + log_similarity(means[a], means[b], variances[a], variances[b])


def _from_boxes(indices: FusionIndices, execution: Execution) -> Edges:
    """Build a tree from the pairs that share samples, then improve it with the others that may belong into it.

    Sub-cluster 0 pairs with every other, so that the first tree is connected. A pair that shares samples may come again
    as if it shared none; then its index is too small, and it comes after its own, true edge.
    """
    n = indices.n_subclusters
    least = LeastDistances(indices.search, indices.labels, execution)
    i, j, n_adjacent = indices.pairs_with(np.arange(1, n))
    tree = spanning_tree(n, Edges(i, j, indices.of(i, j, least.between(i, j), n_adjacent)))
    subclusters = SubClusters(indices.sizes, *indices.moments, indices.radius)
    for only_best in (True, False):  # the best pairs lift the tree, and a higher tree leaves fewer of all pairs
        better = tree
        for pairs in pairs_that_may_improve(tree, subclusters, only_best):
            near = indices.of(pairs.i, pairs.j, least.at_least(pairs.i, pairs.j)) >= pairs.log_index
            i, j, _ = pairs.only(near)
            better = spanning_tree(n, better, Edges(i, j, indices.of(i, j, least.between(i, j))))
        tree = better
    return tree


def _from_stored(indices: FusionIndices, _: Execution) -> Edges:
    """Build the tree from all pairs that a precomputed graph connects, or that share samples.

    All other pairs have index zero and come last, in the order of (i, j): those with sub-cluster 0 before any other.
    """
    n = indices.n_subclusters
    numbers, least = least_distances_stored(indices.distances, indices.labels)
    i, j, n_adjacent = indices.pairs_with(np.concatenate([numbers, np.arange(1, n)]))
    nearest = np.full(i.size, np.inf)
    nearest[np.searchsorted(i * n + j, numbers)] = least
    return spanning_tree(n, Edges(i, j, indices.of(i, j, nearest, n_adjacent)))


def _from_rows(indices: FusionIndices, _: Execution) -> Edges:
    """Build the tree from every pair, some rows of the table at a time."""
    n, tree = indices.n_subclusters, NO_EDGES
    rows_at_a_time = max(1, PAIRS_AT_A_TIME // n)
    for start in range(0, n - 1, rows_at_a_time):
        rows = range(start, min(start + rows_at_a_time, n - 1))
        others = [np.arange(row + 1, n) for row in rows]
        found = [Edges(np.full(j.size, i), j, indices[i][j]) for i, j in zip(rows, others, strict=True)]
        tree = spanning_tree(n, tree, *found)
    return tree


SPANNING_EDGES = {"boxes": _from_boxes, "stored": _from_stored, "rows": _from_rows}
