"""The neighbourhood of each sample: its k nearest neighbours, or fewer where a gap ends it.

One k for all samples links small groups to each other: the k nearest neighbours of a member of a group of fifteen
reach beyond the group. Where the density around a sample is about uniform in m dimensions, the volumes between
successive neighbours are independent, so that

    j m log(r_(j+1) / r_j)

has an exponential distribution with mean 1 for every rank j. The k neighbourhoods around a sample have k ranks each, so
a value above log k^2 would occur by chance less than once in all of them: the first one ends the neighbourhood. A gap
that most of the neighbours before it do not see is not the end of a group, and is ignored.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import kernel
from kfuse.core.search import Nearest

FEWEST_NEIGHBORS = 4  # of a neighbourhood that ends at a gap
LEAST_SPREAD, LARGEST_SPREAD = 1e-3, 10.0  # of the log-distances to the neighbours: the inverse of the dimension
SAMPLES_PER_PART = 2**15


class Neighborhoods(NamedTuple):
    """How many of the k nearest neighbours are in each neighbourhood, and the intrinsic dimension of the data."""

    counts: NDArray[np.int32]
    dimension: float


def own_neighborhoods(nearest: Nearest, spreads: NDArray[np.float64], execution: Execution = SERIAL) -> Neighborhoods:
    """End the neighbourhood of each sample at its first gap, if its neighbours have one, too."""
    n_samples, k = nearest.indices.shape
    dimension = dimension_of_spreads(*add_spreads(spreads))
    ends = np.full(n_samples, k, dtype=np.int32)
    if k <= FEWEST_NEIGHBORS:
        return Neighborhoods(ends, dimension)
    widest = widest_ratios(k, dimension)
    counts = ends.copy()

    def find(start: int, stop: int) -> None:
        find_gaps(nearest.distances_of(slice(start, stop)), widest, ends[start:stop])

    def keep(start: int, stop: int) -> None:
        keep_shared(nearest.indices, ends, counts, start, stop)

    quiet = Execution(execution.n_threads)
    quiet.over_ranges(find, n_samples, SAMPLES_PER_PART)
    quiet.over_ranges(keep, n_samples, SAMPLES_PER_PART)
    return Neighborhoods(counts, dimension)


def intrinsic_dimension(distances: NDArray[np.float64]) -> float:
    """Estimate the dimension of the data at the scale of its neighbourhoods (Levina and Bickel, averaged)."""
    return dimension_of_spreads(*add_spreads(spreads_of(distances)))


def dimension_of_spreads(spread: float, n_used: int) -> float:
    """Return the dimension, given what `add_spreads` found in all samples."""
    return 1.0 / min(max(spread / n_used, LEAST_SPREAD), LARGEST_SPREAD) if n_used else 1.0


def widest_ratios(k: int, dimension: float) -> NDArray[np.float64]:
    """Return the ratio of the distances at successive ranks that is still chance, for each rank."""
    return np.exp(2.0 * math.log(k) / (np.arange(1, k) * dimension))


def spreads_of(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the mean of log(r_last / r_j) of each sample; it is negative, and not used, if it is not known."""
    spreads = np.full(len(distances), -1.0)
    if distances.shape[1] > 1:
        write_spreads(distances, spreads)
    return spreads


def add_spreads(spreads: NDArray[np.float64], total: float = 0.0, n_used: int = 0) -> tuple[float, int]:
    """Add spreads to the total of earlier samples, and count them.

    They are added up one after the other, so that the sum does not depend on how the samples are divided.
    """
    used = spreads[spreads >= 0.0]
    return float(add_to(total, used)), n_used + used.size


@kernel
def write_spreads(distances, spreads):
    """Compute the mean of log(r_last / r_j) of each sample that is not next to an identical one."""
    n_ranks = distances.shape[1]
    for sample in range(distances.shape[0]):
        if distances[sample, 0] > 0.0:
            spread = 0.0
            for rank in range(n_ranks - 1):
                spread += math.log(distances[sample, n_ranks - 1] / distances[sample, rank])
            spreads[sample] = spread / (n_ranks - 1)


@kernel
def add_to(total, values):
    """Add values to a total, one after the other."""
    for value in values:
        total += value
    return total


@kernel
def find_gaps(distances, widest, ends):
    """Find the first rank after which the distance grows by more than chance allows."""
    k = distances.shape[1]
    for sample in range(distances.shape[0]):
        for rank in range(FEWEST_NEIGHBORS, k):
            if distances[sample, rank] > widest[rank - 1] * distances[sample, rank - 1]:
                ends[sample] = rank
                break


@kernel
def keep_shared(indices, ends, counts, start, stop):
    """Keep the gaps that more than half of the neighbours before them have a gap of their own with."""
    k = indices.shape[1]
    for sample in range(start, stop):
        n_ended = 0
        for rank in range(ends[sample]):
            n_ended += ends[indices[sample, rank]] < k
        counts[sample] = ends[sample] if 2 * n_ended > ends[sample] else k
