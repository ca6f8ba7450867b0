"""Identical samples are one place: the adaptive fusion sees each place once, in spatial order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.order import roots
from kfuse.core.search import NeighborTable
from kfuse.core.search.duplicates import note_zero_distances


class Places(NamedTuple):
    """The distinct samples: the first sample at each place, and the place of every sample."""

    first: NDArray[np.intp]
    place: NDArray[np.intp]


def find_places(neighbors: NeighborTable) -> tuple[Places, NeighborTable]:
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
    place = np.empty(leader.size, dtype=np.intp)
    place[order] = place_of[leader]
    first = np.empty(leaders.size, dtype=np.intp)
    first[place[::-1]] = np.arange(leader.size)[::-1]  # of several samples at a place, the first is written last
    return Places(first, place), neighbors


def _first_at_distance_zero(neighbors: NeighborTable) -> NDArray[np.intp]:
    """Return the first sample at distance zero from each; the table keeps what it found for the next stage."""
    first = np.arange(neighbors.n_samples)
    for block in neighbors.blocks(neighbors.initial_count):
        note_zero_distances(first, *block)
    return roots(first)
