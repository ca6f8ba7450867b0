"""Eq. 6: how alike two sub-clusters are in density."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel


class DensityMoments(NamedTuple):
    """Mean and (population) variance of density, one entry per sub-cluster."""

    means: NDArray[np.float64]
    variances: NDArray[np.float64]


def density_moments(
    density: NDArray[np.float64], labels: NDArray[np.intp], left_out: NDArray[np.bool_]
) -> DensityMoments:
    """Compute mean and variance of density over each sub-cluster, without the samples that Algorithm 2 left out."""
    density, labels = density[~left_out], labels[~left_out]
    counts = np.bincount(labels)
    means = np.bincount(labels, weights=density) / counts
    with np.errstate(over="ignore"):  # the square of a density may be beyond the largest float
        squares = (density - means[labels]) ** 2
    return DensityMoments(means, np.bincount(labels, weights=squares) / counts)


@kernel
def smaller_over_larger(a, b, both_zero):
    """Divide the smaller by the larger; `both_zero` replaces 0/0."""
    return min(a, b) / max(a, b) if max(a, b) > 0.0 else both_zero


@kernel
def log_similarity(mean, other_mean, variance, other_variance):
    """Return the logarithm of Sim = min/max of the mean densities x (1 + min/max of their variances) (Eq. 6)."""
    means = smaller_over_larger(mean, other_mean, 1.0)
    variances = smaller_over_larger(variance, other_variance, 0.0)
    similarity = means * (1.0 + variances)
    return math.log(similarity) if similarity > 0.0 else -np.inf
