"""Algorithm 1: the natural-neighbour search, which finds its own range of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.neighbors import NeighborTable

FIRST_LOOK = 32  # neighbours to ask for at first: data in few dimensions needs no more in any stage


class NaturalNeighbors(NamedTuple):
    """Definition 3 and the counts of Definition 2."""

    natural_value: int  # lambda, the natural characteristic value
    reverse_counts: NDArray[np.int64]  # nb: how many samples have this one among their lambda nearest

    @property
    def n_neighbors(self) -> int:
        """The k of Eq. 1, of representatives and of Algorithm 2: the largest reverse count."""
        return int(self.reverse_counts.max(initial=0))


def search(neighbors: NeighborTable) -> NaturalNeighbors:
    """Widen the range until a round finds no sample that had no reverse neighbour before (Algorithm 1)."""
    n_samples = neighbors.n_samples
    look = min(FIRST_LOOK, neighbors.search.most_neighbors)
    while True:
        natural_value = _stopping_round(_first_rounds(neighbors, look), look)
        if natural_value <= look or look == n_samples - 1:
            break
        # A graph may hold fewer neighbours than the search is after: it says so when asked for one more.
        look = max(look + 1, min(2 * look, neighbors.search.most_neighbors))
    natural_value = min(natural_value, n_samples - 1)
    counts = np.zeros(n_samples, dtype=np.int64)
    for block in neighbors.blocks(natural_value):
        count_reverse_neighbors(block.indices, counts)
    return NaturalNeighbors(natural_value, counts)


def _first_rounds(neighbors: NeighborTable, look: int) -> NDArray[np.int64]:
    """Find the round in which each sample is first somebody's neighbour, look + 1 if in none."""
    rounds = np.full(neighbors.n_samples, look + 1, dtype=np.int64)
    for block in neighbors.blocks(look):
        note_first_rounds(block.indices, rounds)
    return rounds


@kernel
def note_first_rounds(indices, rounds):
    """Lower each neighbour's first round to the rank at which it appears here."""
    for row in range(indices.shape[0]):
        for rank in range(indices.shape[1]):
            rounds[indices[row, rank]] = min(rounds[indices[row, rank]], rank + 1)


@kernel
def count_reverse_neighbors(indices, counts):
    """Count for each sample how often it is a neighbour here (Definition 2)."""
    for row in range(indices.shape[0]):
        for other in indices[row]:
            counts[other] += 1


def _stopping_round(first_rounds: NDArray[np.int64], look: int) -> int:
    """Find the first round that finds nobody new, look + 1 if each of them does.

    Num(r), the samples without a reverse neighbour after round r, is unchanged exactly when no sample is first
    found in round r.
    """
    found_in_round = np.bincount(first_rounds, minlength=look + 2)[1 : look + 1]
    empty = np.flatnonzero(found_in_round == 0)
    return int(empty[0]) + 1 if empty.size else look + 1
