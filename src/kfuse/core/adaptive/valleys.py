"""Valleys: how far the density falls on the way from one density peak to a higher one.

The density at scale M is read from r_M, the distance to the M-th nearest neighbour. To walk from one sample to another
over links, one must see as far as the longest of their r_M and of the links' lengths: the gap. The best way between two
peaks is the one with the smallest gap, and a peak is as prominent as the gap on the best way to a higher peak is
larger than its own r_M:

    depth = m log(gap / r_M),

with m the intrinsic dimension at that scale. Merging sub-clusters by ascending gap, as Kruskal's algorithm does, finds
all of them at once: when two pieces meet, the peak of the sparser one ends.

Chance makes peaks, too. In equal density, the volumes that hold M samples around two places differ by a factor of more
than e^depth with the probability P(F(2M, 2M) > e^depth). A peak is the best of many places, so its evidence is

    -log P - A log(n / M) - B,

where A and B are such that e^-evidence is at most about the chance of any peak as prominent in structureless data;
simulation gives them by dimension (`python -m study.calibration`). They are largest in one dimension, where there is no
way around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from kfuse.core.adaptive.links import Links
from kfuse.core.kernels import kernel
from kfuse.core.order import find

FIRST_SCALE = 8
LEVEL = 0.05  # of significance: how often structureless data may show more than one cluster
DIMENSIONS, PLACES, OFFSET = (1.3, 1.8, 2.5, 4.0), (2.0, 1.2, 1.0, 0.8), (1.5, 1.2, 0.5, 0.5)  # A and B
TINY = np.finfo(float).tiny


class Scales(NamedTuple):
    """The scales at which densities are compared, and the distances that each of them needs."""

    counts: NDArray[np.int64]  # M: 8, 16, 32, ... up to k
    radii: NDArray[np.float64]  # (n_samples, n_scales): r_M
    spreads: NDArray[np.float64]  # (n_samples, n_scales): log(r_M / r_(M/2))

    @property
    def dimensions(self) -> NDArray[np.float64]:
        """The intrinsic dimension of the data at each scale."""
        return expected_spread(self.counts) / np.maximum(self.spreads.mean(axis=0), TINY)


class Pieces(NamedTuple):
    """The pieces while they merge, by root: sums over their samples now, and before the gap at which they last grew."""

    size: NDArray[np.float64]
    spread: NDArray[np.float64]
    grown_at: NDArray[np.float64]
    size_before: NDArray[np.float64]
    spread_before: NDArray[np.float64]


def choose_scales(distances: NDArray[np.float64]) -> Scales:
    """Return the scales that the distances to the nearest neighbours are enough for."""
    counts = counts_of_scales(distances.shape[1])
    radii = np.maximum(distances[:, counts - 1], TINY)
    return Scales(counts, radii, np.log(radii / np.maximum(distances[:, counts // 2 - 1], TINY)))


def counts_of_scales(k: int) -> NDArray[np.int64]:
    """Return the scales, as numbers of neighbours, that k neighbours are enough for."""
    return FIRST_SCALE * 2 ** np.arange(max(0, k // FIRST_SCALE).bit_length())


def expected_spread(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of m log(r_M / r_(M/2)) in uniform density: the sum of 1 / i for i from M/2 to M - 1."""
    return np.array([(1.0 / np.arange(count // 2, count)).sum() for count in counts])


def evidence_of_peaks(links: Links, labels: NDArray[np.intp], scales: Scales) -> NDArray[np.float64]:
    """Compute the evidence for the peak of each sub-cluster at each scale.

    It is infinite for the highest peak, and minus infinity for a peak that ends in a piece too small to be tested.
    """
    n_subclusters, n_samples = int(labels.max()) + 1, labels.size
    sizes = np.bincount(labels, minlength=n_subclusters).astype(np.float64)
    evidence = np.full((n_subclusters, scales.counts.size), -np.inf)
    for scale, count in enumerate(scales.counts):
        lowest = np.full(n_subclusters, np.inf)
        np.minimum.at(lowest, labels, scales.radii[:, scale])
        spread = np.bincount(labels, weights=scales.spreads[:, scale], minlength=n_subclusters).astype(np.float64)
        grown_at, size_before, spread_before = np.zeros((3, n_subclusters))
        pieces = Pieces(sizes.copy(), spread, grown_at, size_before, spread_before)
        ended = np.full((n_subclusters, 3), np.nan)  # where each peak ends: gap / r, size and mean spread of its piece
        gap = np.ascontiguousarray(links.gap[:, scale])
        end_peaks(links, np.argsort(gap, kind="stable"), gap, lowest, pieces, np.arange(n_subclusters), ended)
        ratio, size, mean_spread = ended.T
        dimension = expected_spread(np.array([count]))[0] / np.maximum(mean_spread, 1e-9)
        is_tested = size >= count  # a smaller piece has its M-th neighbour outside
        chance = surprise(dimension * np.log(ratio), count) - corrections(scales, scale, size, n_samples)
        evidence[:, scale] = np.where(np.isnan(ratio), np.inf, np.where(is_tested, chance, -np.inf))
    return evidence


@kernel
def end_peaks(links, order, gap, lowest, pieces, parents, ended):
    """Merge pieces by ascending gap; a root is the sub-cluster with the highest peak of its piece.

    A sample in a sparse place makes many equal gaps. So a piece is taken as it was before the gap at which it ends,
    whichever of the links with that gap comes first.
    """
    for link in order:
        a, b = find(parents, links.first[link]), find(parents, links.second[link])
        if a == b:
            continue
        if lowest[b] < lowest[a] or (lowest[b] == lowest[a] and b < a):
            a, b = b, a
        for root in (a, b):
            if pieces.grown_at[root] < gap[link]:
                pieces.grown_at[root] = gap[link]
                pieces.size_before[root], pieces.spread_before[root] = pieces.size[root], pieces.spread[root]
        size = pieces.size_before[b]
        ended[b, 0], ended[b, 1], ended[b, 2] = gap[link] / lowest[b], size, pieces.spread_before[b] / size
        parents[b] = a
        pieces.size[a] += pieces.size[b]
        pieces.spread[a] += pieces.spread[b]


def surprise(depth: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return -log P(F(2M, 2M) > e^depth), for two neighbourhoods of M samples in equal density."""
    return -np.log(np.maximum(betainc(count, count, 1.0 / (1.0 + np.exp(np.minimum(depth, 500.0)))), TINY))


def corrections(scales: Scales, scale: int, size: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
    """Return A log(n / M) + B, for the smallest dimension that the data has from this scale up to that of the piece."""
    smallest = np.minimum.accumulate(scales.dimensions[scale:])
    reached = np.searchsorted(scales.counts[scale:], 2.0 * np.nan_to_num(size), side="right") - 1
    dimension = smallest[np.clip(reached, 0, smallest.size - 1)]
    places = np.interp(dimension, DIMENSIONS, PLACES)
    return places * np.log(n_samples / scales.counts[scale]) + np.interp(dimension, DIMENSIONS, OFFSET)


def count_peaks(evidence: NDArray[np.float64]) -> int:
    """Count the peaks that stand out, beside the highest, at the scale that shows most of them.

    Of K peaks, each must have evidence of at least log(1 / level) - log K, which is the step-up rule of Benjamini and
    Hochberg; the scales share the level of significance.
    """
    n_scales, most = evidence.shape[1], 0
    for column in evidence.T:
        descending = np.sort(column[np.isfinite(column)])[::-1]
        needed = np.log(n_scales / LEVEL) - np.log(np.arange(1, descending.size + 1))
        most = max([most, *(np.flatnonzero(descending >= needed)[-1:] + 1)])
    return int(most)


def evidence_of_merges(children: NDArray[np.intp], peaks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence that each merge of a tree has a peak on both sides, at the scale that shows it best."""
    found = np.full(len(children), -np.inf)
    for column in peaks.T:
        best = np.append(column, np.empty(len(children)))
        raise_evidence(children, best, found)
    return found


@kernel
def raise_evidence(children, best, found):
    """Take the best peak of each node from its children; the lesser of the two is that of the merge."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        a, b = best[children[merge, 0]], best[children[merge, 1]]
        found[merge] = max(found[merge], min(a, b))
        best[n_leaves + merge] = max(a, b)
