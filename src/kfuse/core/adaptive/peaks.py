"""Sub-clusters of the adaptive fusion: the samples that climb to the same local density peak (Definitions 4 to 6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import inner_kernel, kernel
from kfuse.core.order import ascending, roots

SAMPLES_PER_PART = 2**15


class Basins(NamedTuple):
    """The sub-cluster of each sample, and the sample that it climbs to."""

    labels: NDArray[np.intp]
    representatives: NDArray[np.int32]  # the densest natural neighbour; the sample itself for a peak

    @property
    def peaks(self) -> NDArray[np.intp]:
        """The local density peaks, by ascending index: one for each sub-cluster."""
        return np.flatnonzero(self.representatives == np.arange(self.representatives.size))


def climb(
    indices: NDArray[np.int32],
    counts: NDArray[np.int32],
    log_density: NDArray[np.float64],
    natural_value: int,
    execution: Execution = SERIAL,
) -> Basins:
    """Follow each sample's representative up to a local density peak."""
    n_samples = indices.shape[0]
    representatives = find_representatives(indices, counts, log_density, natural_value, range(n_samples), execution)
    number = np.cumsum(representatives == np.arange(n_samples)) - 1
    return Basins(number[roots(representatives)], representatives)


def find_representatives(
    indices: NDArray[np.int32],
    counts: NDArray[np.int32],
    log_density: NDArray[np.float64],
    natural_value: int,
    samples: range,
    execution: Execution = SERIAL,
) -> NDArray[np.int32]:
    """Find the densest natural neighbour of some samples; the others stay their own representatives.

    A sample looks among its sqrt(lambda) nearest, inside of its neighbourhood: short steps make small, pure
    sub-clusters, and merging does the rest.
    """
    step = count_of_climbing(natural_value)
    representatives, nearest = np.arange(indices.shape[0], dtype=np.int32), np.minimum(counts, step)

    def find(start: int, stop: int) -> None:
        first, last = samples.start + start, samples.start + stop
        densest_mutual(indices[:, :step], nearest, log_density, representatives, first, last)

    Execution(execution.n_threads).over_ranges(find, len(samples), SAMPLES_PER_PART)
    return representatives


def count_of_climbing(natural_value: int) -> int:
    """Return among how many of its nearest neighbours a sample looks for its representative."""
    return math.ceil(math.sqrt(natural_value))


def order_of_leaving(basins: Basins, log_density: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each sample in leaving its sub-cluster: the sparsest first, peaks (-1) never."""
    climbs = np.flatnonzero(basins.representatives != np.arange(log_density.size))
    order = np.full(log_density.size, -1)
    order[climbs[ascending(log_density[climbs])]] = np.arange(climbs.size)
    return order


@kernel
def densest_mutual(indices, counts, log_density, representatives, start, stop):
    """Find the densest of each sample and its natural neighbours: those that have it as a neighbour too."""
    for sample in range(start, stop):
        best = sample
        for rank in range(counts[sample]):
            other = indices[sample, rank]
            if log_density[other] > log_density[best] and contains(indices[other], counts[other], sample):
                best = other
        representatives[sample] = best


@inner_kernel
def contains(neighbors, count, sample):
    """Return whether a sample is among the first neighbours."""
    found = False
    for rank in range(count):
        found |= neighbors[rank] == sample
    return found
