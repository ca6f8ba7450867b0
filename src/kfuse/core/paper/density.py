"""Eq. 1 and Definitions 5 and 6: density, representatives, local density peaks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.natural import NaturalNeighbors, sum_in_order
from kfuse.core.search import NeighborTable

SMALLEST_FLOAT = 5e-324  # above zero


class Density(NamedTuple):
    """The density of every sample, and the densest sample around it."""

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


def positive_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace sums of zero, which belong to samples with k duplicates, by something smaller than all others.

    The smallest positive sum over n makes any density with a reverse neighbour larger than those of samples with
    room around them, keeps it finite, and scales with the data's unit.
    """
    positive = sums[sums > 0]
    least = max(positive.min() / sums.size, SMALLEST_FLOAT) if positive.size else 1.0
    return np.where(sums > 0, sums, least)


def densest(rows: NDArray[np.intp], indices: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Find the densest of each sample and its neighbours (Definition 5); on ties the sample itself, then the nearer."""
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
