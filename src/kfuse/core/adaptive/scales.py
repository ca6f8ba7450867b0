"""The scales at which the density is looked at within neighbourhoods: the distances to 8, 16, 32, ... neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FIRST_SCALE = 8
FEWEST_SAMPLES = 16  # that tell the dimension at a scale
TINY = np.finfo(float).tiny


class Scales(NamedTuple):
    """The scales at which densities are compared, and the distances that each of them needs."""

    counts: NDArray[np.int64]  # M: 8, 16, 32, ... up to k
    radii: NDArray[np.float64]  # (n_samples, n_scales): r_M
    spreads: NDArray[np.float64]  # (n_samples, n_scales): log(r_M / r_(M/2)), the mean where a gap lies in between

    @property
    def dimensions(self) -> NDArray[np.float64]:
        """The intrinsic dimension of the data at each scale."""
        return expected_spread(self.counts) / np.maximum(self.spreads.mean(axis=0), TINY)

    def summed(self, labels: NDArray[np.intp]) -> SummedScales:
        """Add up the spreads in each sub-cluster, so that those of samples need not be kept."""
        totals = [np.bincount(labels, column).astype(np.float64) for column in self.spreads.T]
        means = np.array([column.mean() for column in self.spreads.T])
        return SummedScales(self.counts, self.radii, totals, means, self.dimensions)


class SummedScales(NamedTuple):
    """The scales as later stages need them."""

    counts: NDArray[np.int64]
    radii: NDArray[np.float64]
    spreads: list[NDArray[np.float64]]  # for each scale, the sum over each sub-cluster
    mean_spreads: NDArray[np.float64]  # over all samples
    dimensions: NDArray[np.float64]


def all_scales(distances: NDArray[np.float64]) -> Scales:
    """Return the scales with all spreads, those across a gap included."""
    scales = counts_of_scales(distances.shape[1])
    radii = np.maximum(distances[:, scales - 1], TINY)
    return Scales(scales, radii, np.log(radii / np.maximum(distances[:, scales // 2 - 1], TINY)))


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
