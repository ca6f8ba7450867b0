"""Algorithm 1: the natural-neighbour search, which finds its own range of neighbours; shared by both algorithms."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.search import NeighborTable

MOST_WIDENING = 4  # of the number of neighbours, from one search to the next
ENOUGH = 8  # neighbours in a graph, if it does not hold as many as needed
PLENTY = 32  # neighbours to ask for if a graph has fewer than `ENOUGH`, too few to tell: mostly, no more are needed
MARGIN = 1.1  # the next search asks for a little more than it expects to need


class NaturalNeighbors(NamedTuple):
    """Definition 3 and the counts of Definition 2."""

    natural_value: int  # lambda, the natural characteristic value
    reverse_counts: NDArray[np.integer]  # nb: how many samples have this one among their lambda nearest
    n_wanted: int = 0  # neighbours that the search would have gone on with, where a graph holds fewer

    @property
    def n_neighbors(self) -> int:
        """The k of Eq. 1, of representatives and of Algorithm 2: the largest reverse count."""
        return int(self.reverse_counts.max(initial=0))


def find_natural_neighbors(
    neighbors: NeighborTable,
    most_per_lambda: float = math.inf,
    *,
    is_last: bool = False,
    most_rounds: float = math.inf,
) -> NaturalNeighbors:
    """Widen the range until a round in which no sample gains its first reverse neighbour (Algorithm 1).

    Lambda is that round, as printed, or with `is_last` the one before it, the last that found a sample: in groups of
    five samples, a fifth neighbour is one of another group. Later stages will need as many neighbours as the largest
    reverse count, but at most `most_per_lambda` * lambda. With `is_last`, the search also ends with the last neighbours
    that a graph holds, if these are `ENOUGH`. It ends after `most_rounds` in any case.
    """
    last, n_wanted = int(min(neighbors.n_samples - 1, most_rounds)), 0
    k = neighbors.initial_count
    while True:
        found_in_round = np.bincount(_first_rounds(neighbors, k), minlength=k + 2)[1 : k + 1]
        natural_value = stopping_round(found_in_round)
        if natural_value <= k or k >= last:
            break
        needed = _neighbors_needed(neighbors, found_in_round, most_per_lambda)
        # A graph may hold fewer neighbours than needed: when all of them do not suffice, and are too few to go on with,
        # it raises, and tells how many to build it with.
        most = neighbors.search.most_neighbors
        needed = max(needed, PLENTY) if k >= most and most < ENOUGH else needed
        if is_last and k >= most >= ENOUGH:
            n_wanted = min(needed, last)
            break
        k = min(max(k + 1, needed if k >= most else min(needed, most)), last)
    natural_value = min(max(1, natural_value - is_last), last)
    return NaturalNeighbors(natural_value, _reverse_counts(neighbors, natural_value), n_wanted)


def _reverse_counts(neighbors: NeighborTable, k: int) -> NDArray[np.int32]:
    """Count for each sample the samples that have it among their k nearest (Definition 2)."""
    counts = np.zeros(neighbors.n_samples, dtype=np.int32)
    for block in neighbors.blocks(k, with_distances=0):
        count_reverse_neighbors(block.indices, counts)
    return counts


def _neighbors_needed(neighbors: NeighborTable, found_in_round: NDArray[np.int64], most_per_lambda: float) -> int:
    """Estimate how many neighbours all stages will need, so that the table is not searched again and again.

    The samples found in a round decrease as a power of the round, and the first round without one is likely where the
    probabilities of that add up to one. The largest reverse count grows in proportion to the round.
    """
    k = found_in_round.size
    if k == 0:  # a sample of a graph has no neighbour
        return 1
    early, late = found_in_round[k // 4 : k // 2].sum(), found_in_round[k // 2 :].sum()
    power = 1.0 + math.log2(max(1.0, early / late))
    rounds = np.arange(k + 1, MOST_WIDENING * k + 1)
    expected = late / k * 2.0 * (0.75 * k / rounds) ** power
    empty = np.cumsum(np.exp(-expected)) >= 1.0
    natural_value = int(rounds[empty.argmax()]) if empty.any() else int(rounds[-1])
    largest_count = float(_reverse_counts(neighbors, k).max()) / k
    return math.ceil(natural_value * max(1.0, min(most_per_lambda, largest_count * MARGIN)))


def _first_rounds(neighbors: NeighborTable, k: int) -> NDArray[np.int32]:
    """Find the round in which each sample is first another one's neighbour, k + 1 if in none."""
    rounds = np.full(neighbors.n_samples, k + 1, dtype=np.int32)
    for block in neighbors.blocks(k, with_distances=0):
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


def stopping_round(found_in_round: NDArray[np.int64]) -> int:
    """Find the first round that finds no new sample; the one after the last if every round does.

    Num(r), the samples without a reverse neighbour after round r, is unchanged exactly when no sample is first
    found in round r.
    """
    empty = np.flatnonzero(found_in_round == 0)
    return int(empty[0]) + 1 if empty.size else found_in_round.size + 1


def sum_in_order(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum each row of distances from the nearest on, so that equal rows have equal sums."""
    sums = np.zeros(distances.shape[0])
    add_in_order(distances, sums)
    return sums


@kernel
def add_in_order(distances, sums):
    """Add the entries of each row to its sum, one after the other."""
    for row in range(distances.shape[0]):
        for rank in range(distances.shape[1]):
            sums[row] += distances[row, rank]
