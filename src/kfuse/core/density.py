"""Eq. 1 and Definitions 5 and 6: density, representatives, local density peaks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.natural import NaturalNeighbors
from kfuse.core.neighbors import NeighborTable

SMALLEST_FLOAT = 5e-324  # above zero


class Density(NamedTuple):
    """The density of every sample, and who is the densest around it."""

    values: NDArray[np.float64]  # rho, Eq. 1
    representatives: NDArray[np.intp]  # Rep, Definition 5: a sample is a local density peak if it is its own
    farthest_distances: NDArray[np.float64]  # of the last of a sample's k neighbours
    farthest_indices: NDArray[np.int32]


def estimate(neighbors: NeighborTable, natural: NaturalNeighbors) -> Density:
    """Compute densities and representatives over the k = max(nb) nearest neighbours."""
    n_samples, k = neighbors.n_samples, natural.n_neighbors
    sums = np.zeros(n_samples)
    farthest_distances = np.full(n_samples, -1.0)
    farthest_indices = np.full(n_samples, -1, dtype=np.int32)
    for block in neighbors.blocks(k) if k > 0 else ():
        sums[block.rows] = sum_in_order(block.distances)
        farthest_distances[block.rows] = block.distances[:, -1]
        farthest_indices[block.rows] = block.indices[:, -1]
    with np.errstate(over="ignore"):  # distances near the smallest float have densities beyond the largest
        values = np.nan_to_num(natural.reverse_counts / positive_sums(sums))
    representatives = np.arange(n_samples)
    for block in neighbors.blocks(k):
        representatives[block.rows] = densest(block.rows, block.indices, values)
    return Density(values, representatives, farthest_distances, farthest_indices)


class LogDensity(NamedTuple):
    """The logarithm of the density of every sample, for distances in a unit of their own."""

    values: NDArray[np.float64]
    unit: float  # a power of two, so that data measured in another such unit has the same values, to the last bit

    def in_unit_of_data(self) -> NDArray[np.float64]:
        """The densities themselves."""
        with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
            return np.exp(self.values) / self.unit


def log_density(distances: NDArray[np.float64]) -> LogDensity:
    """The logarithm of 1 / (mean distance to the neighbours), for the adaptive fusion.

    Eq. 1 without the reverse counts: these are the larger, the more a sample is a hub, whatever the density.
    """
    n_samples, k = distances.shape
    if k == 0:
        return LogDensity(np.zeros(n_samples), 1.0)
    unit = float(np.ldexp(1.0, int(np.frexp(distances[:, -1].max())[1]) - 1))
    means = sum_in_order(distances) / k / unit
    return LogDensity(-np.log(np.maximum(means, np.finfo(float).tiny)), unit)


def positive_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace sums of zero, which belong to a sample with k duplicates, by something smaller than all others.

    The smallest positive sum over n makes any density with a reverse neighbour larger than those of samples with
    room around them, keeps it finite, and scales with the data's unit.
    """
    positive = sums[sums > 0]
    least = max(positive.min() / sums.size, SMALLEST_FLOAT) if positive.size else 1.0
    return np.where(sums > 0, sums, least)


def sum_in_order(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum each row from the nearest on, so that equal rows have equal sums."""
    sums = np.zeros(distances.shape[0])
    add_in_order(distances, sums)
    return sums


@kernel
def add_in_order(distances, sums):
    """Add the entries of each row to its sum, one after the other."""
    for row in range(distances.shape[0]):
        for rank in range(distances.shape[1]):
            sums[row] += distances[row, rank]


def densest(rows: NDArray[np.intp], indices: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Definition 5: the densest of a sample and its neighbours; on ties the sample itself, then the nearer."""
    representatives = rows.copy()
    find_densest(representatives, indices, values)
    return representatives


@kernel
def find_densest(representatives, indices, values):
    """Replace each representative by the densest in its row, if that is denser."""
    for row in range(representatives.size):
        for rank in range(indices.shape[1]):
            if values[indices[row, rank]] > values[representatives[row]]:
                representatives[row] = indices[row, rank]
