"""Identical samples are one place: the adaptive fusion sees each place once, in an order of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import kd_tree
from kfuse.core.distances import MetricDistances
from kfuse.core.neighbors import ApproximateSearch, KDTreeSearch, NeighborTable

VANISHING = 1e-140  # two different numbers of which none is smaller differ by something that has a square above zero


class Places(NamedTuple):
    """The distinct samples: the first sample at each place, and the place of every sample."""

    first: NDArray[np.intp]
    place: NDArray[np.intp]


def find_places(neighbors: NeighborTable) -> tuple[Places, NeighborTable]:
    """Find the samples that are identical; give their places in spatial order, and the neighbours of each place."""
    neighbors, order = neighbors.in_spatial_order()
    leader = _leaders(neighbors)
    leaders = np.flatnonzero(leader == np.arange(leader.size))
    place_of = np.arange(leader.size)
    if leaders.size < leader.size:
        neighbors, order_of_leaders = neighbors.subset(leaders).in_spatial_order()
        place_of[leaders[order_of_leaders]] = np.arange(leaders.size)
    place = np.empty(leader.size, dtype=np.intp)
    place[order] = place_of[leader]
    first = np.empty(leaders.size, dtype=np.intp)
    first[place[::-1]] = np.arange(leader.size)[::-1]  # of several samples at a place, the first is written last
    return Places(first, place), neighbors


def _leaders(neighbors: NeighborTable) -> NDArray[np.intp]:
    """Find the first sample that is identical to each."""
    search = neighbors.search
    distances: Any = search.distances
    crowded = isinstance(search, KDTreeSearch) and kd_tree.has_crowded_leaf(search.tree)
    if crowded or isinstance(distances, MetricDistances) or isinstance(search, ApproximateSearch):
        # Searching among many duplicates is slow, a metric may round the distance of two to more than zero, and an
        # approximate search may not find them.
        leader = _by_equal_rows(distances.points)
        return leader if isinstance(distances, MetricDistances) else _join_vanishing(neighbors, leader)
    return _by_distance_zero(neighbors)


def _join_vanishing(neighbors: NeighborTable, leader: NDArray[np.intp]) -> NDArray[np.intp]:
    """Let those lead together that are not equal, but so near one another that the square of their distance is zero."""
    search: Any = neighbors.search
    leaders = np.flatnonzero(leader == np.arange(leader.size))
    points = search.distances.points[leaders]
    vanishing = np.abs(points) < VANISHING
    if not points[vanishing].any():  # none but zeros
        return leader
    _, inverse, counts = np.unique(np.where(vanishing, 0, points), axis=0, return_inverse=True, return_counts=True)
    unsure = leaders[counts[inverse.ravel()] > 1]
    if unsure.size == 0:
        return leader
    exact = search.exact if isinstance(search, ApproximateSearch) else search
    merged = np.arange(leader.size)
    merged[unsure] = unsure[_by_distance_zero(NeighborTable(exact.subset(unsure), neighbors.n_threads))]
    return merged[leader]


def _by_equal_rows(X: NDArray[Any]) -> NDArray[np.intp]:
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def _by_distance_zero(neighbors: NeighborTable) -> NDArray[np.intp]:
    """Compare each sample with its nearest neighbour.

    Neighbours come by (distance, index), so the nearest neighbour of a duplicate is the first of its kind, or the
    second for the first itself. As many neighbours are asked for as the next stage will want.
    """
    leader = np.arange(neighbors.n_samples)
    for block in neighbors.blocks(neighbors.first_look):
        if block.indices.shape[1]:
            twins = block.distances[:, 0] == 0
            leader[block.rows[twins]] = np.minimum(block.rows[twins], block.indices[twins, 0])
    while not np.array_equal(leader, leader[leader]):
        leader = leader[leader]
    return leader
