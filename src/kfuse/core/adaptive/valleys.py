"""Valleys: how far the density falls on the way from one density peak to a higher one.

The density at scale M is read from r_M, the distance to the M-th nearest neighbour. To walk from one sample to another
over links, one must see as far as the longest of their r_M and of the links' lengths: the gap. The best way between two
peaks is the one with the smallest gap, and a peak is as prominent as the gap on the best way to a higher peak is
larger than its own r_M:

    depth = m log(gap / r_M),

with m the intrinsic dimension at that scale. Merging sub-clusters by ascending gap, as Kruskal's algorithm does, finds
all of them at once: when two pieces meet, the peak of the sparser one ends. Beyond the neighbourhoods, the density is
that of cells of M samples (`cells.py`), and the depth is the difference of their log-densities.

Chance makes peaks, too. In equal density, the volumes that hold M samples around two places differ by a factor of more
than e^depth with the probability P(F(2M, 2M) > e^depth). A peak is the best of many places, so its evidence is

    -log P - A log(n / M) - B,

where A and B are such that e^-evidence is at most about the chance of any peak as prominent in structureless data;
simulation gives them by dimension (`python -m study.calibration`). They are largest in one dimension, where there is no
way around: A is 2 there, since a peak and the saddle before it are each the best of n / M places. Cells are judged as
in one dimension, whatever the data: along a ridge that is about as wide as they are, there is no way around, either.
All scales together share the level of significance, so the logarithm of their number is subtracted as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from kfuse.core.adaptive import cells
from kfuse.core.adaptive.links import Links
from kfuse.core.adaptive.neighborhoods import LEAST_SPREAD
from kfuse.core.adaptive.scales import FIRST_SCALE, TINY, SummedScales, at_least, expected_spread
from kfuse.core.adaptive.significance import NEEDED
from kfuse.core.kernels import kernel
from kfuse.core.order import ascending, find

DIMENSIONS, PLACES, OFFSET = (1.3, 1.8, 2.5, 4.0), (2.0, 1.2, 1.0, 0.8), (1.5, 1.2, 0.5, 0.5)  # A and B
PRIOR = 32.0  # samples: how much the dimension of all weighs in that of a piece
PLACES_OF_A_PIECE = 4.0  # that a scale must have room for, if the dimension there is to count for the piece


class Peaks(NamedTuple):
    """The evidence for the peak of each sub-cluster at each scale."""

    evidence: NDArray[
        np.float64
    ]  # (n_subclusters, n_scales); infinite for the highest peak, minus infinity if not tested
    most: NDArray[np.float64]  # n / M, the number of peaks that each scale has room for


class Selection(NamedTuple):
    """The scales and the dimension of the data at each, from which follows how many places a peak is the best of."""

    counts: NDArray[np.float64]
    dimensions: NDArray[np.float64]
    n_within: int  # the scales within the neighbourhoods; those of cells come after them
    n_samples: int

    @classmethod
    def of(cls, scales: SummedScales, beyond: list[cells.Level], n_samples: int) -> Selection:
        """Put the scales within the neighbourhoods and those beyond into one row."""
        counts = np.append(scales.counts, [level.n_samples for level in beyond])
        dimensions = np.append(scales.dimensions, [level.dimension for level in beyond])
        return cls(counts, dimensions, scales.counts.size, n_samples)


class Pieces(NamedTuple):
    """The pieces while they merge, by root: sums over their samples now, and before the gap at which they last grew."""

    size: NDArray[np.float64]
    spread: NDArray[np.float64]
    grown_at: NDArray[np.float64]
    size_before: NDArray[np.float64]
    spread_before: NDArray[np.float64]


class Ends(NamedTuple):
    """Where each peak ends, nan for the highest."""

    ratio: NDArray[np.float64]  # of the gap to a higher peak and its own r_M
    size: NDArray[np.float64]  # of its piece, before that gap
    mean_spread: NDArray[np.float64]  # over that piece


def evidence_of_peaks(
    links: Links, labels: NDArray[np.intp], scales: SummedScales, log_density: NDArray[np.float64]
) -> Peaks:
    """Compute the evidence for the peak of each sub-cluster, at scales within the neighbourhoods and beyond."""
    n_subclusters, n_scales = int(labels.max()) + 1, scales.counts.size
    if not n_scales:
        return Peaks(np.empty((n_subclusters, 0)), np.empty(0))
    beyond = levels_beyond(links, labels, scales, log_density)
    selection = Selection.of(scales, beyond, labels.size)
    found = [_of_neighborhoods(links, labels, scales, scale, selection) for scale in range(n_scales)]
    found += [_of_cells(level, n_scales + i, n_subclusters, selection) for i, level in enumerate(beyond)]
    return Peaks(np.column_stack(found), labels.size / selection.counts)


def levels_beyond(
    links: Links, labels: NDArray[np.intp], scales: SummedScales, log_density: NDArray[np.float64]
) -> list[cells.Level]:
    """Return the levels of cells at scales beyond the last within the neighbourhoods."""
    last, dimension = int(scales.counts[-1]), float(scales.dimensions[-1])
    return list(cells.levels(links, labels, log_density, scales.radii[:, -1], last, dimension))


def _of_neighborhoods(
    links: Links, labels: NDArray[np.intp], scales: SummedScales, scale: int, selection: Selection
) -> NDArray[np.float64]:
    """Compute the evidence for each sub-cluster at a scale within the neighbourhoods."""
    count, size = int(scales.counts[scale]), np.bincount(labels).astype(np.float64)
    lowest, gap = scales.lowest(labels, scale), np.ascontiguousarray(at_least(links.gap[:, scale], scales.step))
    ends = peaks_end(links.first, links.second, gap, lowest, size, scales.spreads[scale])
    # A small piece has a rim at which distances grow faster, so that its own dimension would come out too small.
    mean_spread = (ends.size * ends.mean_spread + PRIOR * scales.mean_spreads[scale]) / (ends.size + PRIOR)
    dimension = expected_spread(scales.counts[[scale]])[0] / np.maximum(mean_spread, LEAST_SPREAD)
    chance = surprise(dimension * np.log(ends.ratio), count) - corrections(selection, scale, ends.size)
    is_tested = ends.size >= count  # a smaller piece has its M-th neighbour outside
    return np.where(np.isnan(ends.ratio), np.inf, np.where(is_tested, chance, -np.inf))


def _of_cells(level: cells.Level, scale: int, n_subclusters: int, selection: Selection) -> NDArray[np.float64]:
    """Compute the evidence for the peak of each cell, on behalf of the sub-cluster that stands for it."""
    lowest, gap = np.exp(-level.log_density), np.exp(-np.maximum(level.log_density_between, cells.LOWEST))
    ends = peaks_end(level.first, level.second, gap, lowest, level.size, np.zeros(level.size.size))
    chance = surprise(np.log(ends.ratio), level.counted) - corrections(selection, scale, ends.size)
    is_tested = (ends.size >= level.n_samples) & (level.around >= level.n_samples / 2.0)
    evidence = np.full(n_subclusters, -np.inf)
    evidence[level.standing] = np.where(np.isnan(ends.ratio), np.inf, np.where(is_tested, chance, -np.inf))
    return evidence


def peaks_end(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    gap: NDArray[np.float64],
    lowest: NDArray[np.float64],
    size: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> Ends:
    """Find where the peak of each node of a graph ends; `lowest` is the smallest r_M in it."""
    n_nodes = lowest.size
    grown_at, size_before, spread_before = np.zeros((3, n_nodes))
    pieces = Pieces(size.copy(), spread.copy(), grown_at, size_before, spread_before)
    ended = np.full((n_nodes, 3), np.nan)
    end_peaks(first, second, ascending(gap), gap, lowest, pieces, np.arange(n_nodes), ended)
    return Ends(*ended.T)


@kernel
def end_peaks(first, second, order, gap, lowest, pieces, parents, ended):
    """Merge pieces by ascending gap; a root is the node with the highest peak of its piece.

    A sample in a sparse place makes many equal gaps. So a piece is taken as it was before the gap at which it ends,
    whichever of the links with that gap comes first.
    """
    for link in order:
        a, b = find(parents, first[link]), find(parents, second[link])
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


def surprise(depth: NDArray[np.float64], count: int | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -log P(F(2M, 2M) > e^depth), for two neighbourhoods of M samples in equal density."""
    return -np.log(np.maximum(betainc(count, count, 1.0 / (1.0 + np.exp(np.minimum(depth, 500.0)))), TINY))


def corrections(selection: Selection, scale: int, size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return A log(n / M) + B + log(number of scales) for peaks in pieces of given sizes.

    A and B are those of the smallest dimension that the data has from this scale up to that of the piece.
    """
    counts, smallest = selection.counts[scale:], np.minimum.accumulate(selection.dimensions[scale:])
    reached = np.searchsorted(counts, np.nan_to_num(size) / PLACES_OF_A_PIECE, side="right") - 1
    dimension = smallest[np.maximum(reached, 0)] if scale < selection.n_within else np.ones(size.size)
    places, offset = np.interp(dimension, DIMENSIONS, PLACES), np.interp(dimension, DIMENSIONS, OFFSET)
    return places * np.log(selection.n_samples / counts[0]) + offset + np.log(selection.counts.size)


def count_peaks(peaks: Peaks) -> int:
    """Count the peaks that stand out, beside the highest, at the scale that shows most of them.

    Of K peaks, each must have evidence of at least log(1 / level) - log K, which is the step-up rule of Benjamini and
    Hochberg, as long as the scale has room for K. Where K peaks fill a share of that room, only
    the rest, (room + 1 - K) / room, can hold chance peaks, so the level is divided by it: Storey's adaptive form.
    """
    most = 0
    for column, room in zip(peaks.evidence.T, np.maximum(peaks.most, 1.0), strict=True):
        descending = np.sort(column[np.isfinite(column)])[::-1]
        count = np.clip(np.arange(1, descending.size + 1), 1.0, room)
        needed = NEEDED - np.log(count) + np.log((room + 1.0 - count) / room)
        most = max([most, *(np.flatnonzero(descending >= needed)[-1:] + 1)])
    return int(most)


def evidence_of_merges(children: NDArray[np.intp], sizes: NDArray[np.float64], peaks: Peaks) -> NDArray[np.float64]:
    """Return the evidence that each merge of a tree has a peak on both sides, at the scale that shows it best.

    Where both sides have room for two places and one of them has no peak, that counts against the merge; it is minus
    infinity, and counts neither way, if a side is smaller.
    """
    found = np.full(len(children), -np.inf)
    for column in peaks.evidence.T:
        best = np.append(column, np.empty(len(children)))
        raise_evidence(children, best, found)
    is_tested = peaks.most.size > 0  # at any scale
    has_room = is_tested & (sizes[children].min(axis=1) >= 2 * FIRST_SCALE)
    return np.where(has_room, np.maximum(found, -NEEDED), found)


@kernel
def raise_evidence(children, best, found):
    """Take the best peak of each node from its children; the lesser of the two is that of the merge."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        a, b = best[children[merge, 0]], best[children[merge, 1]]
        found[merge] = max(found[merge], min(a, b))
        best[n_leaves + merge] = max(a, b)
