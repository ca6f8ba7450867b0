"""An order of samples in which near ones come near each other: that of a k-d tree's leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import kernel
from kfuse.core.search.duplicates import ranks_of_rows

LEAF_SIZE = 16
MAX_DEPTH = 64
SPLIT_COLUMNS = 16  # the widest ones: where there are more, these tell points apart well enough
FEW_COLUMNS = 8
ROWS_AT_A_TIME = 2**12
SAMPLES_PER_TASK = 2**16  # that one thread puts in order


def spatial_order(X: NDArray[Any], execution: Execution = SERIAL) -> NDArray[np.int32]:
    """Put samples into that order: halve them at the median of the widest side until LEAF_SIZE or fewer are left.

    It depends on the samples alone, not on the order of rows: points that are equal where a node is split compare by
    all their coordinates, and so do the points of a leaf.
    """
    columns = _columns_to_split(X)
    order = np.arange(len(X), dtype=np.int32)
    levels = n_levels(len(X))
    ranges = [(0, len(X))]

    def split(part: tuple[int, int], levels: int, are_leaves: bool) -> None:
        pending, pivot = np.empty((MAX_DEPTH, 3), dtype=np.int64), np.empty(columns.shape[1])
        halve(columns, order, *part, levels, are_leaves, pending, pivot)

    with execution.workers() as pool:
        while levels > 0 and len(X) // len(ranges) > SAMPLES_PER_TASK:
            list(pool.map(lambda part: split(part, 1, False), ranges))
            ranges = [half for a, b in ranges for half in ((a, (a + b) // 2), ((a + b) // 2, b))]
            levels -= 1
        list(pool.map(lambda part: split(part, levels, True), ranges))
    return order


def _columns_to_split(X: NDArray[Any]) -> NDArray[np.float64]:
    """Copy the widest columns; where they leave samples equal that are not, one more column tells these apart."""
    if X.dtype == np.bool_:
        X = X.view(np.uint8)
    columns = X[:, _widest(X)].astype(np.float64, order="C")
    if X.shape[1] <= SPLIT_COLUMNS:
        return columns
    order = np.lexsort(columns.T)
    follows_equal = (columns[order[1:]] == columns[order[:-1]]).all(axis=1)
    tied = order[np.append(False, follows_equal) | np.append(follows_equal, False)]
    rank = np.zeros(len(X))
    if tied.size:
        rank[tied] = ranks_of_rows(X, tied)
    return np.column_stack([columns, rank])


def _widest(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the widest columns; of equally wide ones, as pixels are, those that split most evenly come first."""
    least, greatest = _least_and_greatest(X)
    with np.errstate(over="ignore", invalid="ignore"):  # samples to predict may lie infinitely far apart
        extents, middles = greatest.astype(np.float64) - least, least / 2.0 + greatest / 2.0
    order = np.argsort(-extents, kind="stable")
    if X.shape[1] <= SPLIT_COLUMNS or extents[order[SPLIT_COLUMNS - 1]] != extents[order[SPLIT_COLUMNS]]:
        return order[:SPLIT_COLUMNS]
    above = np.zeros(X.shape[1], dtype=np.intp)
    for start in range(0, len(X), ROWS_AT_A_TIME):
        above += np.count_nonzero(X[start : start + ROWS_AT_A_TIME] > middles, axis=0)
    return np.lexsort((-np.minimum(above, len(X) - above), -extents))[:SPLIT_COLUMNS]


def _least_and_greatest(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the least and the greatest value of each column; numpy is slow along many rows of few columns."""
    if X.shape[1] <= FEW_COLUMNS:
        least, greatest = (np.array([of(column) for column in X.T], X.dtype) for of in (np.min, np.max))
        return least, greatest
    return X.min(axis=0), X.max(axis=0)


def n_levels(n_samples: int) -> int:
    """Return how often to halve the points until a leaf is small enough."""
    return max(0, int(np.ceil(np.log2(max(1.0, n_samples / LEAF_SIZE)))))


@kernel
def halve(columns, order, start, stop, levels, are_leaves, pending, pivot):
    """Halve a range at the median of its widest column, and its halves, `levels` times; `columns` follow `order`."""
    pending[0, 0], pending[0, 1], pending[0, 2], n_pending = start, stop, levels, 1
    while n_pending > 0:
        n_pending -= 1
        first, last, left = pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2]
        if left == 0:
            if are_leaves:
                sort_leaf(columns, order, first, last, pivot)
            continue
        middle = (first + last) // 2
        place_median(columns, order, first, last - 1, middle, widest_column(columns, first, last), pivot)
        for begin, end in ((first, middle), (middle, last)):
            pending[n_pending, 0], pending[n_pending, 1], pending[n_pending, 2] = begin, end, left - 1
            n_pending += 1


@kernel
def widest_column(columns, first, last):
    """Find the column in which a range of points extends most."""
    best, widest = -1.0, 0
    for column in range(columns.shape[1]):
        least = greatest = columns[first, column]
        for position in range(first + 1, last):
            least = min(least, columns[position, column])
            greatest = max(greatest, columns[position, column])
        if greatest - least > best:
            best, widest = greatest - least, column
    return widest


@kernel
def place_median(columns, order, first, last, middle, column, pivot):
    """Reorder so that points before `middle` come no later, and after it no earlier, than the one there."""
    while first < last:
        center = (first + last) // 2
        for c in range(pivot.size):
            pivot[c] = columns[center, c]
        value, low, high = pivot[column], first, last
        while low <= high:
            while columns[low, column] < value or (columns[low, column] == value and compare(columns, low, pivot) < 0):
                low += 1
            while columns[high, column] > value or (
                columns[high, column] == value and compare(columns, high, pivot) > 0
            ):
                high -= 1
            if low <= high:
                order[low], order[high] = order[high], order[low]
                for c in range(pivot.size):
                    columns[low, c], columns[high, c] = columns[high, c], columns[low, c]
                low += 1
                high -= 1
        if middle <= high:
            last = high
        elif middle >= low:
            first = low
        else:
            return


@kernel
def compare(columns, position, point):
    """Compare the point at a position with another, coordinate by coordinate: -1, 0 or 1."""
    for c in range(point.size):
        if columns[position, c] != point[c]:
            return -1 if columns[position, c] < point[c] else 1
    return 0


@kernel
def sort_leaf(columns, order, first, last, point):
    """Sort the points of a leaf by insertion."""
    for position in range(first + 1, last):
        for c in range(point.size):
            point[c] = columns[position, c]
        sample, place = order[position], position
        while place > first and compare(columns, place - 1, point) > 0:
            order[place] = order[place - 1]
            for c in range(point.size):
                columns[place, c] = columns[place - 1, c]
            place -= 1
        order[place] = sample
        for c in range(point.size):
            columns[place, c] = point[c]
