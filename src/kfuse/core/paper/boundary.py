"""Definitions 7 and 8, Eqs. 2 to 5: how far two sub-clusters touch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kfuse.core.distances import Distances
from kfuse.core.kernels import kernel
from kfuse.core.search import NeighborTable
from kfuse.core.search.base import ENTRIES_PER_BLOCK


class Augmented(NamedTuple):
    """The augmented sub-clusters, and the least radius of each sub-cluster's neighbourhoods."""

    table: csr_array  # samples x sub-clusters, 1 where the sample is in the augmented one
    radius: NDArray[np.float64]  # the least distance from a member to its lambda-th neighbour


def augmented_subclusters(neighbors: NeighborTable, labels: NDArray[np.intp], natural_value: int) -> Augmented:
    """Build AS (Eq. 2, Definition 7): S_c and the lambda nearest neighbours of its members."""
    n_samples, n_subclusters = labels.size, int(labels.max()) + 1
    positions = []  # of the ones beyond a sample's own sub-cluster, as row x number of columns + column
    radius = np.full(n_subclusters, np.inf)
    for block in neighbors.blocks(natural_value):
        own = labels[block.rows]
        row, rank = np.nonzero(labels[block.indices] != own[:, None])
        positions.append(np.unique(block.indices[row, rank].astype(np.int64) * n_subclusters + own[row]))
        np.minimum.at(radius, own, block.distances[:, -1])
    samples, subclusters = np.divmod(np.unique(np.concatenate(positions)), n_subclusters)
    samples = np.concatenate([np.arange(n_samples), samples])
    subclusters = np.concatenate([labels, subclusters])
    ones = np.ones(samples.size, dtype=np.int64)
    return Augmented(csr_array((ones, (samples, subclusters)), shape=(n_samples, n_subclusters)), radius)


def adjacent_sample_counts(augmented: csr_array) -> csr_array:
    """Count |ADS| (Eq. 3, Definition 8), the samples that two augmented sub-clusters share."""
    return (augmented.T @ augmented).tocsr()


def distances_from(
    distances: Distances, members: NDArray[np.intp], labels: NDArray[np.intp], n_subclusters: int
) -> NDArray[np.float64]:
    """Find DC (Eq. 4) from the sub-cluster of `members` to every other: the least distance of two samples."""
    nearest = np.full(n_subclusters, np.inf)
    rows_at_a_time = max(1, ENTRIES_PER_BLOCK // labels.size)
    for start in range(0, members.size, rows_at_a_time):
        lower_to_nearest(distances.rows(members[start : start + rows_at_a_time]), labels, nearest)
    return nearest


@kernel
def lower_to_nearest(block, labels, nearest):
    """Lower the distance to each sub-cluster to the least one in a block of distances."""
    for row in range(block.shape[0]):
        for column in range(block.shape[1]):
            nearest[labels[column]] = min(nearest[labels[column]], block[row, column])


@kernel
def log_connectivity(n_adjacent, distance, size, other_size):
    """Return the logarithm of Con = (|ADS| + 1) e^(-DC) / min(|S_i|, |S_j|) (Eq. 5)."""
    return math.log((n_adjacent + 1) / min(size, other_size)) - distance
