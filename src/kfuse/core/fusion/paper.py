"""Algorithm 3 as printed: sub-clusters fuse in the order of their initial fusion indices (Eq. 7).

Fusing pairs in falling order of an index, skipping those already together, is Kruskal's algorithm: only the edges of
the maximum spanning tree ever fuse anything. Prim's algorithm finds that same tree from one row of indices at a
time, so that the table of all pairs is never held. Ties go to the pair (i, j) that comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.fusion.boundary import (
    adjacent_sample_counts,
    augmented_subclusters,
    distances_from,
    log_connectivity,
)
from kfuse.core.fusion.similarity import DensityMoments, density_moments, log_similarity
from kfuse.core.neighbors import NeighborTable
from kfuse.core.partition import Partition
from kfuse.core.tree import FusionTree, tree_of_fusions

NONE = -1


class FusionRows:
    """The logarithm of the fusion index (Eq. 7), one sub-cluster against all at a time."""

    def __init__(
        self, neighbors: NeighborTable, density: NDArray[np.float64], partition: Partition, natural_value: int
    ):
        self.distances = neighbors.distances
        self.labels = partition.labels
        self.n_subclusters = partition.n_subclusters
        self.sizes = np.bincount(self.labels, minlength=self.n_subclusters)
        self.moments: DensityMoments = density_moments(density, self.labels, partition.left_out, self.n_subclusters)
        self.adjacent = adjacent_sample_counts(augmented_subclusters(neighbors, self.labels, natural_value))
        by_label = np.argsort(self.labels, kind="stable")
        self._members = np.split(by_label, np.cumsum(self.sizes)[:-1])

    def __getitem__(self, subcluster: int) -> NDArray[np.float64]:
        nearest = distances_from(self.distances, self._members[subcluster], self.labels, self.n_subclusters)
        n_adjacent = self.adjacent[[subcluster]].toarray()[0]
        return log_fusion_indices(subcluster, n_adjacent, nearest * self.distances.unit, self.sizes, *self.moments)


@kernel
def log_fusion_indices(subcluster, n_adjacent, nearest, sizes, means, variances):
    """Eq. 7, its logarithm: FI = Con x Sim, of one sub-cluster with each."""
    indices = np.empty(sizes.size)
    for other in range(sizes.size):
        connectivity = log_connectivity(n_adjacent[other], nearest[other], sizes[subcluster], sizes[other])
        similarity = log_similarity(means[subcluster], means[other], variances[subcluster], variances[other])
        indices[other] = connectivity + similarity
    return indices


class Edges(NamedTuple):
    """Pairs i < j of sub-clusters and the logarithm of their fusion index, best first."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    log_index: NDArray[np.float64]


def fuse(
    neighbors: NeighborTable, density: NDArray[np.float64], partition: Partition, natural_value: int
) -> FusionTree:
    """Fuse sub-clusters in falling order of their fusion index, down to one (Algorithm 3)."""
    edges = _spanning_edges(FusionRows(neighbors, density, partition, natural_value))
    return tree_of_fusions(partition.labels, edges.i, edges.j, edges.log_index)


def _spanning_edges(rows: FusionRows) -> Edges:
    """Find the edges of the maximum spanning tree (Prim), in the order in which they fuse."""
    n = rows.n_subclusters
    best, partner = np.full(n, -np.inf), np.full(n, NONE)
    outside = np.ones(n, dtype=np.bool_)
    i, j, log_index = np.empty(n - 1, dtype=np.intp), np.empty(n - 1, dtype=np.intp), np.empty(n - 1)
    newest = 0
    for edge in range(n - 1):
        outside[newest] = False
        chosen = grow_tree(newest, rows[newest], outside, best, partner)
        i[edge], j[edge] = sorted((chosen, partner[chosen]))
        log_index[edge] = best[chosen]
        newest = chosen
    order = np.lexsort((j, i, -log_index))
    return Edges(i[order], j[order], log_index[order])


@kernel
def fuses_before(log_index, i, j, other_log_index, other_i, other_j):
    """Whether pair (i, j) fuses before another: the larger index, then the smaller pair."""
    if log_index != other_log_index:
        return log_index > other_log_index
    first, other_first = min(i, j), min(other_i, other_j)
    if first != other_first:
        return first < other_first
    return max(i, j) < max(other_i, other_j)


@kernel
def grow_tree(newest, row, outside, best, partner):
    """Let the newest member improve each outsider's best edge; return the outsider that joins next."""
    chosen = NONE
    for node in range(outside.size):
        if not outside[node]:
            continue
        if partner[node] == NONE or fuses_before(row[node], newest, node, best[node], partner[node], node):
            best[node], partner[node] = row[node], newest
        if chosen == NONE or fuses_before(best[node], node, partner[node], best[chosen], chosen, partner[chosen]):
            chosen = node
    return chosen
