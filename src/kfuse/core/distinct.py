"""Identical samples are one place: the adaptive fusion sees each place once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.natural import FIRST_LOOK
from kfuse.core.neighbors import NeighborTable


class Places(NamedTuple):
    """The distinct samples: the first of each, and the place of every sample."""

    first: NDArray[np.intp]
    place: NDArray[np.intp]


def find_places(neighbors: NeighborTable) -> Places:
    """Find the samples at distance zero from each other.

    Neighbours come by (distance, index), so the nearest neighbour of a duplicate is the first of its kind, or the
    second for the first itself.
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
