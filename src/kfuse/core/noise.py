"""Noise: samples that are sparser than clusters are, and too many to be the tails of these.

In a Gaussian cluster of m dimensions, a share of P(chi2_m > -2 log v) of the samples has a density of less than v times
that at the peak, and most other clusters have shorter tails. So it is known how many samples with a density below f to
expect, at most: E(f), the sum over the clusters. If there are more of them, then something else is there: a background.
Among the samples of density f, a share of

    1 - 1 / g(f),      g = dN / dE, with N(f) the number of samples below f

is noise. The slope g decreases with f, and the best decreasing estimate of it is the slope of the least concave
majorant (Grenander). Each count N is replaced by the least expected count that it is compatible with at the 5 % level,
so that chance makes no noise. A sample is noise if that is more likely than not, g > 2: from a density f* downwards.
Data without a background has an f*, too, at which a single sample would be noise.

Where hardly a sample is expected, its neighbours lie further inside, and the density that they show is higher than f.
So E is multiplied by exp(-1.5 / E), which simulated Gaussians of 1 to 10 dimensions stay below.

Given f*, the score of any sample is f* / (f + f*), the share of a background of density f* at a place of density f. It
is above 1/2 for noise and below it for others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, expit, gammaincinv

from kfuse.core.kernels import kernel
from kfuse.core.natural import sum_in_order
from kfuse.core.result import Surroundings

FEW = 8  # neighbours: a lone sample's density is read from as many, since more of them may belong to a cluster
CORE = 0.05  # the densest share of a cluster, by which its level is known
COMPATIBLE = 0.05  # the least chance of a count, if the expected one is to be compatible with it
MORE_LIKELY = 2.0  # times as many samples as expected: half of them are noise
FEWEST_DIMENSIONS = 2.0  # of a tail: in one, densities vary so little that chance makes most of the difference
RARE = 1.5  # samples: where fewer are expected, the neighbours of one lie in a denser place, and so does it
N_GRID = 2048  # densities at which the expected number of samples is computed


def log_levels(
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
    copies: NDArray[np.float64],
    own: NDArray[Any],
    dimension: float,
) -> NDArray[np.float64]:
    """Compute the logarithm of the density in `dimension` dimensions, the lower of those at two scales.

    `copies` has the number of samples at each place, or their weight, `own` the number where the density is computed.
    """
    totals = sum_in_order(distances[:, :FEW]), sum_in_order(distances)
    return log_levels_of_totals(indices, totals, copies, own, dimension)


def log_levels_of_totals(
    indices: NDArray[np.int32],
    totals: tuple[NDArray[np.float64], NDArray[np.float64]],
    copies: NDArray[np.float64],
    own: NDArray[Any],
    dimension: float,
) -> NDArray[np.float64]:
    """Compute the same from the sums of the distances to the nearest few and to all neighbours."""
    k, lowest = indices.shape[1], np.full(len(indices), np.inf)
    for count, total in {min(FEW, k): totals[0], k: totals[1]}.items():
        if count == 0:  # one place
            break
        mean = total / count
        samples = own + (copies[indices[:, :count]].sum(axis=1) if (copies != 1.0).any() else count)
        level = np.log(samples) - dimension * np.log(np.maximum(mean, np.finfo(float).tiny))
        lowest = np.minimum(lowest, level)
    return np.where(np.isfinite(lowest), lowest, 0.0)


def levels_of_fit(around: Surroundings, dimension: float) -> NDArray[np.float64]:
    """Compute the levels of all samples of a fit."""
    copies = around.copies
    return of_samples(log_levels(around.indices, around.distances, copies, copies, dimension), copies, around.place)


def of_samples(
    levels: NDArray[np.float64], copies: NDArray[np.float64], place: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the level of each sample, given those of the places; places with many copies are as dense as any."""
    return np.where(copies > FEW, levels.max(), levels)[place]


def background(
    levels: NDArray[np.float64],
    labels: NDArray[np.intp],
    dimension: float,
    sample_weight: NDArray[np.float64] | None = None,
) -> float:
    """Find the log-density below which samples are noise; labels are 0, 1, ... without gaps."""
    weight = np.ones(levels.size) if sample_weight is None else sample_weight
    order = np.argsort(levels, kind="stable")
    order = order[weight[order] > 0]
    ascending, n_below = levels[order], np.cumsum(weight[order])
    sizes = np.bincount(labels, weight).astype(np.float64)
    alone = gammaincinv(1, COMPATIBLE) / MORE_LIKELY  # so few are expected where a single sample is noise
    grid, expected = _expected_below(_cores(ascending, weight[order], labels[order], sizes), sizes, dimension, alone)
    counts = np.exp(np.interp(ascending, grid, np.log(expected)))
    n_sparse = int(np.searchsorted(counts, n_below[-1] / MORE_LIKELY))
    least = gammaincinv(n_below[:n_sparse], COMPATIBLE)
    n_noise = count_steeper(counts[:n_sparse], least, np.empty(n_sparse + 1, dtype=np.intp), MORE_LIKELY)
    lowest = np.interp(np.log(alone), np.log(expected), grid)
    return float(max(lowest, (ascending[n_noise - 1] + ascending[n_noise]) / 2.0) if n_noise else lowest)


def _cores(
    ascending: NDArray[np.float64], weight: NDArray[np.float64], labels: NDArray[np.intp], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the level of each cluster that a share of `CORE` of its samples exceeds."""
    by_label = np.argsort(labels, kind="stable")
    cores = np.empty(sizes.size)
    for label, members in enumerate(np.split(by_label, np.cumsum(np.bincount(labels))[:-1])):
        rank = max(0.0, sizes[label] - 1.0 - np.floor(CORE * sizes[label]))
        position = np.searchsorted(np.cumsum(weight[members]), rank, side="right")
        cores[label] = ascending[members[min(position, members.size - 1)]]
    return cores


def _expected_below(
    cores: NDArray[np.float64], sizes: NDArray[np.float64], dimension: float, fewest: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a grid of log-densities, and the number of samples of all clusters to expect below each.

    It begins where no more than `fewest` are expected. `cores` are the log-densities that a share of `CORE` exceeds.
    """
    dimension = max(dimension, FEWEST_DIMENSIONS)
    in_core = chdtri(dimension, 1.0 - CORE)  # twice the drop from the peak that this share stays above
    lowest = cores.min() - chdtri(dimension, fewest / sizes.sum()) / 2.0
    grid = np.linspace(lowest, cores.max() + in_core, N_GRID)
    expected = np.zeros(N_GRID)
    for core, size in zip(cores, sizes, strict=True):
        expected += size * chdtrc(dimension, np.maximum(2.0 * (core - grid) + in_core, 0.0))
    rare = np.exp(-RARE / np.maximum(expected, np.finfo(float).tiny))
    return grid, np.maximum(expected * rare, np.finfo(float).tiny)


@kernel
def count_steeper(x, y, hull, least_slope):
    """Count the points below the part of their least concave majorant from (0, 0) that is at least so steep.

    The points are in ascending order; `hull` is room for the numbers of its corners, from 1.
    """
    n_corners = 0
    hull[0] = 0
    for point in range(1, x.size + 1):
        while n_corners > 0:
            before, last = hull[n_corners - 1], hull[n_corners]
            x0, y0 = (x[before - 1], y[before - 1]) if before > 0 else (0.0, 0.0)
            if (y[point - 1] - y0) * (x[last - 1] - x0) < (y[last - 1] - y0) * (x[point - 1] - x0):
                break
            n_corners -= 1
        n_corners += 1
        hull[n_corners] = point
    x0, y0, count = 0.0, 0.0, 0
    for corner in range(1, n_corners + 1):
        point = hull[corner]
        if y[point - 1] - y0 < least_slope * (x[point - 1] - x0):
            break
        x0, y0, count = x[point - 1], y[point - 1], point
    return count


def scores(levels: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Compute f* / (f + f*) from the logarithms of f and f*."""
    return expit(threshold - levels)
