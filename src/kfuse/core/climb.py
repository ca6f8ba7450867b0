"""Sub-clusters for the adaptive fusion: what climbs to the same local density peak."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel


class Basins(NamedTuple):
    """The sub-cluster of each sample, and what it climbs to."""

    labels: NDArray[np.intp]
    representatives: NDArray[np.intp]  # the densest natural neighbour, the sample itself for a peak


def climb(indices: NDArray[np.int32], log_density: NDArray[np.float64], natural_value: int) -> Basins:
    """Let each sample follow its representative up to a local density peak (Definitions 4 to 6).

    A sample looks among its sqrt(lambda) nearest: small steps make small, pure sub-clusters; the fusion does the rest.
    """
    step = math.ceil(math.sqrt(natural_value))
    representatives = densest_mutual(indices[:, :step], log_density)
    peaks = representatives
    while not np.array_equal(peaks, peaks[peaks]):
        peaks = peaks[peaks]
    return Basins(np.unique(peaks, return_inverse=True)[1].ravel(), representatives)


def order_of_leaving(basins: Basins, log_density: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the samples in the order in which they leave their sub-clusters: the sparsest first, peaks (-1) never."""
    climbs = np.flatnonzero(basins.representatives != np.arange(log_density.size))
    order = np.full(log_density.size, -1)
    order[climbs[np.argsort(log_density[climbs], kind="stable")]] = np.arange(climbs.size)
    return order


@kernel
def densest_mutual(indices, log_density):
    """Find the densest of each sample and its natural neighbours: those that have it as a neighbour too."""
    representatives = np.arange(indices.shape[0])
    for sample in range(indices.shape[0]):
        for other in indices[sample]:
            if log_density[other] > log_density[representatives[sample]] and np.any(indices[other] == sample):
                representatives[sample] = other
    return representatives
