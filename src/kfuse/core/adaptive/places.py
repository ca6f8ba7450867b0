"""Identical samples are one place: the adaptive fusion sees each place once, in spatial order, with a weight.

How often a value occurs is density, so a place has the weight of all samples there. Only ratios count: weights are in
multiples of their mean, so that repeating every sample changes nothing, and places of one sample each weigh exactly 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.order import roots, weights_of_places
from kfuse.core.search import NeighborTable
from kfuse.core.search.duplicates import note_zero_distances

LEAST_WEIGHT = 2.0**-40  # of the largest: what weighs less would not be seen anyway


class Places(NamedTuple):
    """The distinct samples: the first sample at each place, its weight, and the place of every sample."""

    first: NDArray[np.int32]
    place: NDArray[np.int32]
    weight: NDArray[np.float64]  # of each place, with mean 1
    is_rarest: NDArray[np.bool_]  # whether no place has less weight

    @property
    def is_weighted(self) -> bool:
        """Whether places differ in weight."""
        return not self.is_rarest.all()


def find_places(
    neighbors: NeighborTable, sample_weight: NDArray[np.float64] | None = None
) -> tuple[Places, NeighborTable]:
    """Find the samples that are identical; return their places in spatial order, and the neighbours of each place."""
    neighbors, order = neighbors.reordered()
    leader = neighbors.search.duplicates()
    if leader is None:
        leader = _first_at_distance_zero(neighbors)
    leaders = np.flatnonzero(leader == np.arange(leader.size))
    place_of = np.arange(leader.size)
    if leaders.size < leader.size:
        neighbors, order_of_leaders = neighbors.subset(leaders).reordered()
        place_of[leaders[order_of_leaders]] = np.arange(leaders.size)
    place = np.empty(leader.size, dtype=np.int32)
    place[order] = place_of[leader]
    first = np.empty(leaders.size, dtype=np.int32)
    first[place[::-1]] = np.arange(leader.size)[::-1]  # of several samples at a place, the first is written last
    total = weights_of_places(place, sample_weight, leaders.size)
    return Places(first, place, relative_weights(total), total == total.min()), neighbors


def relative_weights(total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights in multiples of their mean.

    Dividing by one of them first makes the result the same to the last bit if all are multiplied by a whole number.
    """
    relative = relative_to_largest(total, total.max())
    return relative / relative.mean()


def relative_to_largest(total: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Return weights as shares of the largest, but not too small ones."""
    return np.maximum(total / largest, LEAST_WEIGHT)


def _first_at_distance_zero(neighbors: NeighborTable) -> NDArray[np.intp]:
    """Return the first sample at distance zero from each; the table keeps what it found for the next stage."""
    first = np.arange(neighbors.n_samples)
    for block in neighbors.blocks(neighbors.initial_count, with_distances=1):
        note_zero_distances(first, *block)
    return roots(first)
