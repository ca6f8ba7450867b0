"""Boxes of places, numbered as one machine numbers them: in the spatial order of all places.

Each box is a node of the k-d tree that one machine would build, so a box has its places in that order by itself, and
the numbers of its places are consecutive.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.search.kd_tree import KDTree, find_bounds, halves, leaves_of
from kfuse.core.search.spatial import MAX_DEPTH, halve, n_levels
from kfuse.dask.medians import halve_exactly
from kfuse.dask.rows import Distinct, Frame, Gathered
from kfuse.dask.splits import Splits
from kfuse.dask.tasks import Task, results, shared, started, task


class Box(NamedTuple):
    """Consecutive places."""

    start: int  # the number of the first
    points: NDArray[np.float64]
    measured: NDArray[np.float64]  # before rounding, of the first sample at each place; without columns if the same
    first: NDArray[np.int64]  # the first sample at each place
    n_samples: NDArray[np.int32]  # how many samples are there
    n_levels: int  # of the k-d tree below this box

    def tree(self) -> KDTree:
        """Return the k-d tree of the points, which are in its order already."""
        starts, stops = halves(len(self.points), self.n_levels)
        bounds = np.empty((starts.size, 2, self.points.shape[1]))
        find_bounds(self.points, starts, stops, bounds)
        leaves = leaves_of(self.points, starts, stops)
        return KDTree(self.points, np.arange(len(self.points), dtype=np.int32), bounds, starts, stops, leaves)


class Boxes(NamedTuple):
    """All boxes, from the first places to the last."""

    tasks: list[Task]  # one Box each
    starts: NDArray[np.int64]  # the number of the first place of each, and of all places
    bounds: NDArray[np.float64]  # (n_boxes, 2, n_features): the least and greatest coordinates
    numbers: list[Task]  # of the distinct points in each of the boxes that they come from

    @property
    def n_places(self) -> int:
        """How many distinct samples there are."""
        return int(self.starts[-1])


def number_places(gathered: Gathered, frame: Frame, places_per_box: int) -> Boxes:
    """Move distinct points to the boxes of the spatial order, and number them."""
    sizes = results([task(_size, one) for one in gathered.distinct])
    n_places = int(sum(sizes))
    most_levels = n_levels(n_places)
    depth = min(most_levels, int(np.ceil(np.log2(max(1.0, n_places / places_per_box)))))
    wide = [task(_points, one) for one in gathered.distinct]
    splits, sizes_of_boxes = halve_exactly(wide, n_places, frame.widest_first.size, depth)
    starts, known, seen = np.append(0, np.cumsum(sizes_of_boxes)), shared(splits), shared(frame)
    counts = np.array(results([task(_count, one, known) for one in gathered.distinct]))
    moved = [task(move, one, known) for one in gathered.distinct]
    settled = [
        task(settle, [moved[origin][box] for origin in np.flatnonzero(counts[:, box])], int(start), seen, depth_left)
        for box, (start, depth_left) in enumerate(zip(starts[:-1], [most_levels - depth] * 2**depth, strict=True))
    ]
    numbers = [
        task(
            _collect_numbers,
            one,
            known,
            [
                task(_numbers_of_piece, settled[box][1], int(np.count_nonzero(counts[:origin, box])))
                for box in np.flatnonzero(counts[origin])
            ],
        )
        for origin, one in enumerate(gathered.distinct)
    ]
    kept = started([*(one[0] for one in settled), *numbers])
    boxes, numbers = kept[: len(settled)], kept[len(settled) :]
    return Boxes(boxes, starts, np.array(results([task(_bounds, box) for box in boxes])), numbers)


def _size(distinct: Distinct) -> int:
    return len(distinct.points)


def _points(distinct: Distinct) -> NDArray[np.float64]:
    return distinct.points


def _count(distinct: Distinct, splits: Splits) -> NDArray[np.intp]:
    return np.bincount(splits.leaves_of(distinct.points), minlength=2**splits.n_levels)


def _bounds(box: Box) -> NDArray[np.float64]:
    return np.array([box.points.min(axis=0), box.points.max(axis=0)])


def move(distinct: Distinct, splits: Splits) -> list[Distinct]:
    """Divide distinct points by their boxes."""
    leaves = splits.leaves_of(distinct.points)
    order = np.argsort(leaves, kind="stable")
    cuts = np.searchsorted(leaves[order], np.arange(1, 2**splits.n_levels))
    columns: tuple[Any, ...] = distinct
    return [Distinct(*(column[rows] for column in columns)) for rows in np.split(order, cuts)]


def settle(pieces: list[Distinct], start: int, frame: Frame, levels: int) -> tuple[Box, list[NDArray[np.int32]]]:
    """Put the places of a box in spatial order; return the numbers of each piece's places as well."""
    wide, measured, first, n_samples = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = np.arange(len(wide), dtype=np.int32)
    pending, pivot = np.empty((MAX_DEPTH, 3), dtype=np.int64), np.empty(wide.shape[1])
    halve(wide, order, 0, len(wide), levels, True, pending, pivot)
    numbers = np.empty(len(wide), dtype=np.int32)
    numbers[order] = np.arange(start, start + len(wide), dtype=np.int32)
    cuts = np.cumsum([len(piece.points) for piece in pieces])[:-1]
    before = measured[order] if frame.rounding is None else frame.as_given(measured[order])
    return Box(start, frame.as_given(wide), before, first[order], n_samples[order], levels), np.split(numbers, cuts)


def _numbers_of_piece(numbers: list[NDArray[np.int32]], position: int) -> NDArray[np.int32]:
    return numbers[position]


def _collect_numbers(distinct: Distinct, splits: Splits, pieces: list[Any]) -> NDArray[np.int32]:
    """Return the number of each distinct point, in the order in which it came."""
    numbers = np.empty(len(distinct.points), dtype=np.int32)
    numbers[np.argsort(splits.leaves_of(distinct.points), kind="stable")] = np.concatenate(
        [np.empty(0, np.int32), *pieces]
    )
    return numbers
