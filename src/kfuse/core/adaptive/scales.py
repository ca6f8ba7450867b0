"""The scales at which the density is looked at within neighbourhoods: the distances to 8, 16, 32, ... neighbours.

Coordinates in whole multiples of a step h have squared distances in multiples of h^2, so that a distance r stands for
any between sqrt(r^2 - h^2) and sqrt(r^2 + h^2). Without this, the neighbours that share a distance would look like an
edge of the density, the sharper the more of them there are, and data without clusters would have peaks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.neighborhoods import LEAST_SPREAD

FIRST_SCALE = 8
FEWEST_SAMPLES = 16  # that tell the dimension at a scale
TINY = np.finfo(float).tiny
LEAST_RATIO = 1e-300  # of two distances: a metric may be zero between samples that are not identical


class Scales(NamedTuple):
    """The scales at which densities are compared, and the distances that each of them needs."""

    counts: NDArray[np.int64]  # M: 8, 16, 32, ... up to k
    radii: NDArray[np.float64]  # (n_samples, n_scales): r_M
    spreads: NDArray[np.float64]  # (n_samples, n_scales): log(r_M / r_(M/2)), the mean where a gap lies in between
    step: float = 0.0  # that coordinates are multiples of, zero if of none

    @property
    def dimensions(self) -> NDArray[np.float64]:
        """The intrinsic dimension of the data at each scale."""
        return expected_spread(self.counts) / np.maximum(self.spreads.mean(axis=0), LEAST_SPREAD)

    def summed(self, labels: NDArray[np.intp]) -> SummedScales:
        """Add up the spreads in each sub-cluster, so that those of samples need not be kept."""
        totals = [np.bincount(labels, column).astype(np.float64) for column in self.spreads.T]
        means = np.array([column.mean() for column in self.spreads.T])
        return SummedScales(self.counts, self.radii, totals, means, self.dimensions, self.step)


class SummedScales(NamedTuple):
    """The scales as later stages need them."""

    counts: NDArray[np.int64]
    radii: NDArray[np.float64]
    spreads: list[NDArray[np.float64]]  # for each scale, the sum over each sub-cluster
    mean_spreads: NDArray[np.float64]  # over all samples
    dimensions: NDArray[np.float64]
    step: float

    def lowest(self, labels: NDArray[np.intp], scale: int) -> NDArray[np.float64]:
        """Return the smallest r_M of each sub-cluster, as large as it may be before rounding."""
        lowest = np.full(int(labels.max()) + 1, np.inf)
        np.minimum.at(lowest, labels, self.radii[:, scale])
        return at_most(lowest, self.step)


def all_scales(distances: NDArray[np.float64], step: float = 0.0) -> Scales:
    """Return the scales with all spreads, those across a gap included."""
    scales = counts_of_scales(distances.shape[1])
    radii = np.maximum(distances[:, scales - 1], TINY)
    nearer = np.maximum(distances[:, scales // 2 - 1], np.maximum(radii * LEAST_RATIO, TINY))
    spreads = np.log(at_most(radii, step) / nearer)
    return Scales(scales, radii, spreads, step)


def at_most(distances: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Return how long distances may be, between coordinates in whole steps."""
    return np.sqrt(distances * distances + step * step) if step else distances


def at_least(distances: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Return how short distances may be, between coordinates in whole steps."""
    return np.maximum(np.sqrt(np.maximum(distances * distances - step * step, 0.0)), TINY) if step else distances


def counts_of_scales(k: int) -> NDArray[np.int64]:
    """Return the scales, as numbers of neighbours, that k neighbours are enough for."""
    return FIRST_SCALE * 2 ** np.arange(max(0, k // FIRST_SCALE).bit_length())


def without_gaps(scales: Scales, counts: NDArray[np.int32]) -> Scales:
    """Replace the spreads beyond the ends of neighbourhoods by the mean of the others, in place.

    `counts` are the sizes of the neighbourhoods: beyond the gap that ends one, distances tell nothing of the dimension.
    """
    spreads = scales.spreads
    for scale, count in enumerate(scales.counts):
        is_inside = counts >= count
        if not is_inside.all():
            if np.count_nonzero(is_inside) >= FEWEST_SAMPLES:
                mean = spreads[is_inside, scale].mean()
            else:  # no more is known than at the scale before
                mean = spreads[:, scale - 1].mean() if scale else spreads[:, scale].mean()
            spreads[~is_inside, scale] = mean
    return scales


def expected_spread(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of m log(r_M / r_(M/2)) in uniform density: the sum of 1 / i for i from M/2 to M - 1."""
    return np.array([(1.0 / np.arange(count // 2, count)).sum() for count in counts])
