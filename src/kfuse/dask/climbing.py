"""Sub-clusters across boxes: every box follows its places as far as it can; the few ways that leave it are joined.

Density peaks are numbered from the first box to the last, so each box owns a range of sub-clusters: those whose peaks
it holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.order import roots
from kfuse.dask.boxes import Boxes
from kfuse.dask.tasks import Task, results, results_of, started, task


class Subclusters(NamedTuple):
    """The sub-cluster of each place, and those that each box owns."""

    climbed: list[Task]  # what each place climbs to
    labels: list[Task]
    starts: NDArray[np.int64]  # the first sub-cluster of each box, and the number of all
    peaks: NDArray[np.int32]  # the number of the place of each peak


def follow(representatives: list[Task], boxes: Boxes) -> Subclusters:
    """Follow representatives up to density peaks, across boxes."""
    starts = boxes.starts[:-1].tolist()
    ends = started([task(_follow_inside, *one) for one in zip(representatives, starts, strict=True)])
    known = list(zip(ends, starts, strict=True))
    peaks, left_each = results_of([task(_peaks, *one) for one in known], [task(_outside, *one) for one in known])
    first = np.append(0, np.cumsum([one.size for one in peaks]))
    left = np.unique(np.concatenate(left_each))
    cuts = np.split(left, np.searchsorted(left, boxes.starts[1:-1]))
    lookups = [task(_look_up, end, start, some) for end, start, some in zip(ends, starts, cuts, strict=True)]
    numbers = np.concatenate(peaks)
    of_left = _labels_of_ends(left, np.concatenate(results(lookups)), numbers)
    # A box gets what it needs alone, so that it does not hold more the more boxes there are.
    of_each = [(some, of_left[np.searchsorted(left, some)]) for some in left_each]
    labels = [task(_label, *one) for one in zip(ends, starts, first[:-1].tolist(), of_each, strict=True)]
    return Subclusters(representatives, started(labels), first, numbers)


def _labels_of_ends(left: NDArray[np.int32], ends: NDArray[np.int32], peaks: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the sub-clusters of places where ways leave a box; each leads to a peak, or to another of them."""
    is_peak = peaks[np.minimum(np.searchsorted(peaks, ends), peaks.size - 1)] == ends
    parents = np.where(is_peak, left.size + np.searchsorted(peaks, ends), np.searchsorted(left, ends))
    return roots(np.append(parents, left.size + np.arange(peaks.size)))[: left.size] - left.size


def _follow_inside(representatives: NDArray[np.int32], start: int) -> NDArray[np.int32]:
    """Return where the way of each place ends or leaves the box."""
    stop = start + representatives.size
    outside = np.unique(representatives[(representatives < start) | (representatives >= stop)])
    numbers = np.concatenate([np.arange(start, stop, dtype=np.int32), outside])
    is_inside = (representatives >= start) & (representatives < stop)
    parents = np.where(
        is_inside, representatives - start, representatives.size + np.searchsorted(outside, representatives)
    )
    return numbers[roots(np.append(parents, np.arange(representatives.size, numbers.size)))[: representatives.size]]


def _peaks(ends: NDArray[np.int32], start: int) -> NDArray[np.int32]:
    own = np.arange(start, start + ends.size, dtype=np.int32)
    return own[ends == own]


def _outside(ends: NDArray[np.int32], start: int) -> NDArray[np.int32]:
    return np.unique(ends[(ends < start) | (ends >= start + ends.size)])


def _look_up(ends: NDArray[np.int32], start: int, places: NDArray[np.int32]) -> NDArray[np.int32]:
    return ends[places - start]


def _label(
    ends: NDArray[np.int32], start: int, first: int, known: tuple[NDArray[np.int32], NDArray[np.intp]]
) -> NDArray[np.int32]:
    """Return the sub-cluster of each place, given where its way ends or leaves the box; `first` is the box's first."""
    left, labels = known
    found = first + np.searchsorted(_peaks(ends, start), ends)
    is_left = np.flatnonzero((ends < start) | (ends >= start + ends.size))
    found[is_left] = labels[np.searchsorted(left, ends[is_left])]
    return found.astype(np.int32)
