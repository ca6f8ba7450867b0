"""Identical samples are one place: the adaptive fusion sees each place once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import kd_tree
from kfuse.core.distances import MetricDistances
from kfuse.core.natural import FIRST_LOOK
from kfuse.core.neighbors import KDTreeSearch, NeighborTable


class Places(NamedTuple):
    """The distinct samples: the first of each, and the place of every sample."""

    first: NDArray[np.intp]
    place: NDArray[np.intp]


def find_places(neighbors: NeighborTable) -> Places:
    """Find the samples that are identical."""
    search = neighbors.search
    distances: Any = search.distances
    crowded = isinstance(search, KDTreeSearch) and kd_tree.has_crowded_leaf(search.tree)
    if crowded or isinstance(distances, MetricDistances):
        # Searching among many duplicates is slow, and a metric may round the distance of two to more than zero.
        return _equal_rows(distances.points)
    return _at_distance_zero(neighbors)


def _equal_rows(X: NDArray[Any]) -> Places:
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(order.size, dtype=np.intp)
    number[order] = np.arange(order.size)
    return Places(first[order], number[place.ravel()])


def _at_distance_zero(neighbors: NeighborTable) -> Places:
    """Compare each sample with its nearest neighbour.

    Neighbours come by (distance, index), so the nearest neighbour of a duplicate is the first of its kind, or the
    second for the first itself. As many neighbours are asked for as the next stage will want.
    """
    leader = np.arange(neighbors.n_samples)
    for block in neighbors.blocks(min(FIRST_LOOK, neighbors.search.most_neighbors)):
        if block.indices.shape[1]:
            twins = block.distances[:, 0] == 0
            leader[block.rows[twins]] = np.minimum(block.rows[twins], block.indices[twins, 0])
    while not np.array_equal(leader, leader[leader]):
        leader = leader[leader]
    first, place = np.unique(leader, return_inverse=True)
    return Places(first, place.ravel())
