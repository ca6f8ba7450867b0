"""The density of the adaptive fusion: Eq. 1 without the reverse neighbour counts, as a logarithm.

Reverse neighbour counts grow with how much of a hub a sample is, whatever the density around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.natural import sum_in_order


class LogDensity(NamedTuple):
    """The logarithm of the density of every sample, for distances in multiples of `unit`."""

    values: NDArray[np.float64]
    unit: float  # a power of two, so that data measured in another such unit has the same values, to the last bit

    def in_unit_of_data(self, unit: float) -> NDArray[np.float64]:
        """Return the densities in the data's unit; `unit` is that of the distances given to `log_density`."""
        with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
            return np.nan_to_num(np.exp(self.values) / self.unit / unit)


def log_density(distances: NDArray[np.float64], farthest: float | None = None) -> LogDensity:
    """Compute the logarithm of 1 / (mean distance to the neighbours).

    `farthest` is the distance of the farthest neighbour of all samples, if these are some of them.
    """
    n_samples, k = distances.shape
    if k == 0:
        return LogDensity(np.zeros(n_samples), 1.0)
    farthest = distances[:, -1].max() if farthest is None else farthest
    unit = float(np.ldexp(1.0, int(np.frexp(farthest)[1]) - 1))
    means = sum_in_order(distances) / k / unit
    return LogDensity(-np.log(np.maximum(means, np.finfo(float).tiny)), unit)
