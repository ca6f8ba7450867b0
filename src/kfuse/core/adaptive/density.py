"""The density of the adaptive fusion: Eq. 1 without the reverse neighbour counts, as a logarithm.

Reverse neighbour counts grow with how much of a hub a sample is, whatever the density around it. Where places differ in
weight, the ball of the k nearest holds the more, the heavier they are: the density in m dimensions grows by the mean
weight in it, and its m-th root, which is what one over a distance is, by the m-th root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel


class LogDensity(NamedTuple):
    """The logarithm of the density of every sample, for distances in multiples of `unit`."""

    values: NDArray[np.float64]
    unit: float  # a power of two, so that data measured in another such unit has the same values, to the last bit

    def in_unit_of_data(self, unit: float) -> NDArray[np.float64]:
        """Return the densities in the data's unit; `unit` is that of the distances given to `log_density`."""
        with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
            return np.nan_to_num(np.exp(self.values) / self.unit / unit)


def log_density(total: NDArray[np.float64], k: int, farthest: float) -> LogDensity:
    """Compute the logarithm of 1 / (mean distance to the neighbours), given the sums of these distances.

    `farthest` is the distance of the farthest neighbour of all samples, also if these are some of them.
    """
    unit = unit_of(farthest)
    if k == 0:  # one place
        return LogDensity(np.zeros(total.size), unit)
    return LogDensity(-np.log(np.maximum(total / k / unit, np.finfo(float).tiny)), unit)


def unit_of(farthest: float) -> float:
    """Return the unit for distances up to the farthest."""
    return 1.0 if farthest == 0.0 else float(np.ldexp(1.0, int(np.frexp(farthest)[1]) - 1))


def log_mean_weight(indices: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the logarithm of the mean weight of each place and its neighbours.

    If the places are some of all, their weights come first.
    """
    sums = weights[: len(indices)].copy()
    add_weights(indices, weights, sums)
    return np.log(sums / (indices.shape[1] + 1))


@kernel
def add_weights(indices, weights, sums):
    """Add the weights of the neighbours, one after the other."""
    for row in range(indices.shape[0]):
        for rank in range(indices.shape[1]):
            sums[row] += weights[indices[row, rank]]
