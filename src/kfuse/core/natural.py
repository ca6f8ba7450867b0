"""Algorithm 1: the natural-neighbour search, which finds its own range of neighbours."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.neighbors import NeighborTable

MOST_WIDENING = 4  # of a look, for the next one
MARGIN = 1.1  # the next look asks for a little more than it expects to need


class NaturalNeighbors(NamedTuple):
    """Definition 3 and the counts of Definition 2."""

    natural_value: int  # lambda, the natural characteristic value
    reverse_counts: NDArray[np.int64]  # nb: how many samples have this one among their lambda nearest

    @property
    def n_neighbors(self) -> int:
        """The k of Eq. 1, of representatives and of Algorithm 2: the largest reverse count."""
        return int(self.reverse_counts.max(initial=0))


def search(neighbors: NeighborTable, reach: float = math.inf) -> NaturalNeighbors:
    """Widen the range until a round finds no sample that had no reverse neighbour before (Algorithm 1).

    Later stages will want as many neighbours as the largest reverse count, but at most `reach` * lambda.
    """
    n_samples = neighbors.n_samples
    look = neighbors.first_look
    while True:
        found_in_round = np.bincount(_first_rounds(neighbors, look), minlength=look + 2)[1 : look + 1]
        natural_value = _stopping_round(found_in_round)
        if natural_value <= look or look == n_samples - 1:
            break
        wanted = _neighbors_wanted(neighbors, found_in_round, reach)
        # A graph may hold fewer neighbours than the search is after: it says so when asked for one more.
        look = max(look + 1, min(wanted, neighbors.search.most_neighbors))
    natural_value = min(natural_value, n_samples - 1)
    return NaturalNeighbors(natural_value, _reverse_counts(neighbors, natural_value))


def _reverse_counts(neighbors: NeighborTable, k: int) -> NDArray[np.int64]:
    """Count for each sample the samples that have it among their k nearest (Definition 2)."""
    counts = np.zeros(neighbors.n_samples, dtype=np.int64)
    for block in neighbors.blocks(k):
        count_reverse_neighbors(block.indices, counts)
    return counts


def _neighbors_wanted(neighbors: NeighborTable, found_in_round: NDArray[np.int64], reach: float) -> int:
    """Guess how many neighbours all stages will want, so that the table is not searched again and again.

    The samples found in a round become fewer as a power of the round, and the first round without one is likely where
    the chances of that add up to one. The largest reverse count grows in proportion to the round.
    """
    look = found_in_round.size
    if look == 0:  # a sample of a graph has no neighbour
        return 1
    early, late = found_in_round[look // 4 : look // 2].sum(), found_in_round[look // 2 :].sum()
    power = 1.0 + math.log2(max(1.0, early / late))
    rounds = np.arange(look + 1, MOST_WIDENING * look + 1)
    expected = late / look * 2.0 * (0.75 * look / rounds) ** power
    empty = np.cumsum(np.exp(-expected)) >= 1.0
    natural_value = int(rounds[empty.argmax()]) if empty.any() else int(rounds[-1])
    largest_count = float(_reverse_counts(neighbors, look).max()) / look
    return math.ceil(natural_value * max(1.0, min(reach, largest_count * MARGIN)))


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


def _stopping_round(found_in_round: NDArray[np.int64]) -> int:
    """Find the first round that finds nobody new; the one after the last if each of them does.

    Num(r), the samples without a reverse neighbour after round r, is unchanged exactly when no sample is first
    found in round r.
    """
    empty = np.flatnonzero(found_in_round == 0)
    return int(empty[0]) + 1 if empty.size else found_in_round.size + 1
