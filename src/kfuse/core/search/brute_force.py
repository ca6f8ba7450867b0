"""The nearest of all samples by matrix products, exact to the last tie.

A matrix product gives all distances many times faster than one sum after another, but rounds them differently. So it
only gives lower bounds here, lowered by what rounding can be worth. The samples with the lowest bounds make a short
list, and have their distances computed as `distances.py` does it. No other sample can be among the k nearest if those
that are not listed have bounds beyond the limit of the k nearest that are. Where this does not hold, as among many
ties, all samples are gone through.

The bound. With z the points moved to their mean, scaled into [-1, 1] and rounded to the precision of the product,

    d(i, j)^2 / 2 = |z_i|^2 / 2 + |z_j|^2 / 2 - z_i . z_j

up to slack * (|z_i|^2 + |z_j|^2): with u the unit roundoff, rounding z is worth 2 u, and a sum of m products m u, in
any order. Each sample has its part in that error. The part of j goes into the product as one more feature, that of i
into the limit:

    |z_j|^2 (1/2 - slack) - z_i . z_j   <=   d(i, j)^2 / 2 - |z_i|^2 (1/2 - slack)
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances
from kfuse.core.execution import one_blas_thread
from kfuse.core.kernels import kernel
from kfuse.core.order import is_shorter
from kfuse.core.search.base import Bridges, NeighborBlock
from kfuse.core.search.nearest import offer, sort_nearest_first
from kfuse.core.search.rows import RowSearch

ROWS_AT_A_TIME = 256  # products with fewer rows are slower
COLUMNS_AT_A_TIME = 4096  # of a block of bounds, so that it stays in the cache
COLUMNS_AT_A_GLANCE = 32  # looked at together: in most cases, none of them is of interest
WORTH_KEEPING = 2**19  # coordinates in all, from which on short lists are kept for the next search, ...
LONGEST_KEPT = 512  # ... this many entries for each sample ...
ENTRIES_KEPT = 2**25  # ... and for all of them together (8 bytes each)
CROWDED = 0.1  # the share of short lists that do not suffice from which on a more precise product pays off


class BruteForceSearch(RowSearch):
    """Look at every sample, but compute few distances; for Euclidean distances in many dimensions."""

    distances: EuclideanDistances
    is_cheap_to_repeat = True  # it keeps short lists

    def __init__(self, distances: EuclideanDistances):
        super().__init__(distances)
        self.brute_force = BruteForce(distances.points)

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        indices, found = self.brute_force.query(rows, k)
        return NeighborBlock(rows, indices, self.distances.finish(found))

    def rows_per_block(self, k: int) -> int:
        return ROWS_AT_A_TIME

    def subset(self, kept: NDArray[np.intp]) -> BruteForceSearch:
        return BruteForceSearch(self.distances.subset(kept))

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        shortest = Bridges.none_yet(component)
        # The other components find their bridges to the largest one as well.
        rows = np.flatnonzero(component != np.bincount(component).argmax())
        for start in range(0, rows.size, ROWS_AT_A_TIME):
            part = rows[start : start + ROWS_AT_A_TIME]
            nearest, length = self.brute_force.nearest_elsewhere(part, component, shortest.distance[component[part]])
            bridge_to_nearest(part, nearest, length, component, *shortest)
        return shortest._replace(distance=self.distances.finish(shortest.distance)).found(component.size)


class BoundLimits(NamedTuple):
    """What it takes to turn a distance into the greatest bound that it can have."""

    own_part: NDArray[np.float64]  # |z_i|^2 (1/2 - slack)
    scale: float  # of z
    margin: float  # relative and ...
    tiny: float  # ... absolute: what rounding the limit, and underflow, can be worth


class ShortLists(NamedTuple):
    """The columns with the lowest bounds, for some rows; the bounds of all others are at least `cut`."""

    bounds: NDArray[Any]
    columns: NDArray[np.int32]
    cut: NDArray[Any]


class BruteForce:
    """Finds the nearest of all samples by (Euclidean distance, index)."""

    def __init__(self, points: NDArray[Any]):
        self.points = points
        self._screen: Screen | None = None
        self._building = Lock()

    def query(self, rows: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k nearest neighbours of the samples `rows`, and their distances, nearest first."""
        indices, distances = self._nobody(rows, k)
        if k == 0:
            return indices, distances
        screen = self._current_screen()
        suffices = np.empty(rows.size, dtype=np.bool_)
        lists = screen.short_lists(rows, k)
        settle(lists, rows, self.points, screen.limits, _buffers_for(lists.bounds), indices, distances, suffices)
        if not suffices.all():
            open_rows = rows[~suffices]
            indices[~suffices], distances[~suffices] = self._go_through_all(screen, open_rows, k)
            if open_rows.size > CROWDED * rows.size:
                self._refine(screen)
        sort_rows(indices, distances)
        return indices, distances

    def nearest_elsewhere(
        self, rows: NDArray[np.intp], component: NDArray[np.int32], at_most: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the nearest sample in another component for each of `rows`; n_samples if none is near enough."""
        screen = self._current_screen()
        indices, distances = self._nobody(rows, 1)
        distances[:, 0] = at_most
        for columns, bounds in screen.blocks(rows):
            bounds[component[rows][:, None] == component[columns]] = np.nan  # which is below no limit
            improve(bounds, columns, rows, self.points, screen.limits, _buffers_for(bounds), indices, distances)
        return indices[:, 0], distances[:, 0]

    def _nobody(self, rows: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.full((rows.size, k), len(self.points), dtype=np.int32), np.full((rows.size, k), np.inf)

    def _go_through_all(
        self, screen: Screen, rows: NDArray[np.intp], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        indices, distances = self._nobody(rows, k)
        for columns, bounds in screen.blocks(rows):
            improve(bounds, columns, rows, self.points, screen.limits, _buffers_for(bounds), indices, distances)
        return indices, distances

    def _current_screen(self) -> Screen:
        with self._building:
            if self._screen is None:
                self._screen = Screen(self.points, np.float32)
            return self._screen

    def _refine(self, screen: Screen) -> None:
        """Go on in float64 if float32 cannot tell the nearest from many others."""
        with self._building:
            if screen is self._screen and screen.factors.dtype == np.float32:
                self._screen = Screen(self.points, np.float64)


class Screen:
    """Lower bounds of the distances between samples, by products in one precision."""

    def __init__(self, points: NDArray[Any], dtype: type[np.floating[Any]]):
        n_samples, n_features = points.shape
        centre = points.mean(axis=0, dtype=np.float64)
        widest = max(np.abs(points.max(axis=0) - centre).max(), np.abs(points.min(axis=0) - centre).max())
        exponent = int(np.frexp(widest)[1])
        unit_roundoff = float(np.finfo(dtype).eps) / 2
        terms = n_features + 8  # a few more pay for all the rest of the rounding, and 2^-53 for that of |z|^2
        slack = terms * (unit_roundoff + 2.0**-53) / (1 - terms * unit_roundoff)
        self.factors = np.empty((n_samples, n_features + 1), dtype=dtype)  # z_j, |z_j|^2 (1/2 - slack)
        own_part = np.empty(n_samples)
        for start in range(0, n_samples, COLUMNS_AT_A_TIME):
            part = slice(start, start + COLUMNS_AT_A_TIME)
            self.factors[part, :-1] = np.ldexp(points[part] - centre, -exponent)
            rounded = self.factors[part, :-1].astype(np.float64)
            own_part[part] = np.einsum("ij,ij->i", rounded, rounded) * (0.5 - slack)
        self.factors[:, -1] = own_part
        margin = 8 * unit_roundoff + 4 * terms * 2.0**-53
        self.limits = BoundLimits(own_part, 2.0**-exponent, margin, 1e-30 if dtype == np.float32 else 1e-80)
        self._kept = self._room_for_lists() if points.size >= WORTH_KEEPING else None
        self._is_kept = np.zeros(n_samples, dtype=np.bool_)

    def _room_for_lists(self) -> ShortLists:
        n_samples = len(self.factors)
        length = min(LONGEST_KEPT, ENTRIES_KEPT // n_samples, n_samples)
        shape, dtype = (n_samples, length), self.factors.dtype
        return ShortLists(np.empty(shape, dtype), np.empty(shape, np.int32), np.empty(n_samples, dtype))

    def blocks(self, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.int32], NDArray[Any]]]:
        """Yield the bounds of one block of columns after the other, in one array that is reused."""
        n_samples = len(self.factors)
        queries = -self.factors[rows]
        queries[:, -1] = 1
        bounds = np.empty((rows.size, min(COLUMNS_AT_A_TIME, n_samples)), dtype=queries.dtype)
        with one_blas_thread():
            for start in range(0, n_samples, COLUMNS_AT_A_TIME):
                columns = np.arange(start, min(start + COLUMNS_AT_A_TIME, n_samples), dtype=np.int32)
                part = bounds.ravel()[: rows.size * columns.size].reshape(rows.size, columns.size)
                np.matmul(queries, self.factors[start : start + columns.size].T, out=part)
                yield columns, part

    def short_lists(self, rows: NDArray[np.intp], k: int) -> ShortLists:
        """List a few more than k columns for each row; longer lists are kept for the next search."""
        length = min(len(self.factors), k + k // 8 + 9)
        kept = self._kept
        if kept is None or kept.bounds.shape[1] < length:
            return self._make_lists(rows, length)
        new = rows[~self._is_kept[rows]]
        if new.size:
            for array, made in zip(kept, self._make_lists(new, kept.bounds.shape[1]), strict=True):
                array[new] = made
            self._is_kept[new] = True
        return ShortLists(*(array[rows] for array in kept))

    def _make_lists(self, rows: NDArray[np.intp], length: int) -> ShortLists:
        shape, dtype = (rows.size, 2 * length + COLUMNS_AT_A_GLANCE), self.factors.dtype
        lists = ShortLists(np.empty(shape, dtype), np.empty(shape, np.int32), np.full(rows.size, np.inf, dtype))
        counts = np.zeros(rows.size, dtype=np.int64)
        for columns, bounds in self.blocks(rows):
            lengthen(lists, counts, columns, bounds, length)
        shorten_all(lists, counts, length)
        return ShortLists(lists.bounds[:, :length].copy(), lists.columns[:, :length].copy(), lists.cut)


def _buffers_for(bounds: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return buffers for the bounds of one row, and their columns."""
    return np.empty_like(bounds[0]), np.empty(bounds.shape[1], dtype=np.int32)


@kernel
def lengthen(lists, counts, columns, bounds, length):
    """Add columns to short lists; a full list is shortened to its length."""
    listed_bounds, listed, cut = lists
    capacity = listed.shape[1] - COLUMNS_AT_A_GLANCE
    for row in range(bounds.shape[0]):
        limit, count = cut[row], counts[row]
        for first in range(0, columns.size, COLUMNS_AT_A_GLANCE):
            glance = bounds[row, first : first + COLUMNS_AT_A_GLANCE]
            if not any_upto(glance, limit):
                continue
            if count > capacity:
                limit = put_lowest_first(listed_bounds[row, :count], listed[row, :count], length)
                count = length
            for place in range(glance.size):
                # Without a branch, which would often be mispredicted: what is not counted is overwritten.
                listed_bounds[row, count], listed[row, count] = glance[place], columns[first + place]
                count += glance[place] < limit
        cut[row], counts[row] = limit, count


@kernel
def any_upto(values, limit):
    """Return whether any value is at most the limit."""
    count = 0
    for place in range(values.size):
        count += values[place] <= limit
    return count > 0


@kernel
def put_lowest_first(bounds, columns, length):
    """Partition so that the `length` smallest bounds come first; return the largest of them."""
    first, last, middle = 0, bounds.size - 1, length - 1
    while first < last:
        pivot = bounds[(first + last) // 2]
        low, high = first, last
        while low <= high:
            while bounds[low] < pivot:
                low += 1
            while bounds[high] > pivot:
                high -= 1
            if low <= high:
                bounds[low], bounds[high] = bounds[high], bounds[low]
                columns[low], columns[high] = columns[high], columns[low]
                low += 1
                high -= 1
        first, last = (low, last) if middle >= low else (first, high) if middle <= high else (middle, middle)
    return bounds[middle]


@kernel
def shorten_all(lists, counts, length):
    """Bring all lists to their length."""
    bounds, columns, cut = lists
    for row in range(counts.size):
        if counts[row] > length:
            cut[row] = put_lowest_first(bounds[row, : counts[row]], columns[row, : counts[row]], length)


@kernel
def settle(lists, rows, points, limits, buffers, indices, distances, suffices):
    """Find the k nearest on each short list, and whether they are the k nearest of all."""
    bounds, columns, cut = lists
    for row in range(rows.size):
        consider(bounds[row], columns[row], rows[row], points, limits, buffers, indices[row], distances[row])
        suffices[row] = bound_limit(distances[row, 0], rows[row], limits) < cut[row]


@kernel
def improve(bounds, columns, rows, points, limits, buffers, indices, distances):
    """Improve the k nearest of each row with some columns."""
    for row in range(rows.size):
        consider(bounds[row], columns, rows[row], points, limits, buffers, indices[row], distances[row])


@kernel
def consider(bounds, columns, own, points, limits, buffers, indices, distances):
    """Improve the k nearest of a sample with those columns whose bounds do not rule them out."""
    near_bounds, near = buffers
    count = copy_within(bounds, columns, bound_limit(distances[0], own, limits), near_bounds, near)
    first = min(count, distances.size + 1)
    if count > first:
        # The lowest bounds go first, as they will lower the limit.
        put_lowest_first(near_bounds[:count], near[:count], first)
    compete(points, own, near[:first], indices, distances)
    near_bounds, near = near_bounds[first:count], near[first:count]
    count = copy_within(near_bounds, near, bound_limit(distances[0], own, limits), near_bounds, near)
    compete(points, own, near[:count], indices, distances)


@kernel
def bound_limit(distance, own, limits):
    """Return the greatest bound that a sample at most this far away can have."""
    own_part, scale, margin, tiny = limits
    half_square = 0.5 * (scale * distance) ** 2
    return half_square - own_part[own] + margin * (half_square + own_part[own]) + tiny


@kernel
def copy_within(bounds, columns, limit, near_bounds, near):
    """Copy the bounds that are at most the limit, and their columns, to another place or to the front; count them."""
    limit = bounds.dtype.type(limit)
    count = 0
    for first in range(0, bounds.size, COLUMNS_AT_A_GLANCE):
        glance = bounds[first : first + COLUMNS_AT_A_GLANCE]
        if any_upto(glance, limit):
            for place in range(glance.size):
                bound = glance[place]
                near_bounds[count], near[count] = bound, columns[first + place]
                count += bound <= limit
    return count


@kernel
def compete(points, own, samples, indices, distances):
    """Let samples compete to be among the nearest of sample `own`.

    Each sum runs over the features in order; four at a time do not wait for each other.
    """
    last = samples.size - 1
    for first in range(0, samples.size, 4):
        point_0, point_1 = points[samples[first]], points[samples[min(first + 1, last)]]
        point_2, point_3 = points[samples[min(first + 2, last)]], points[samples[min(first + 3, last)]]
        total_0 = total_1 = total_2 = total_3 = 0.0
        for feature in range(points.shape[1]):
            coordinate = np.float64(points[own, feature])
            total_0 += (point_0[feature] - coordinate) * (point_0[feature] - coordinate)
            total_1 += (point_1[feature] - coordinate) * (point_1[feature] - coordinate)
            total_2 += (point_2[feature] - coordinate) * (point_2[feature] - coordinate)
            total_3 += (point_3[feature] - coordinate) * (point_3[feature] - coordinate)
        totals = (total_0, total_1, total_2, total_3)
        for place in range(first, min(first + 4, samples.size)):
            if samples[place] != own:
                offer(distances, indices, np.sqrt(totals[place - first]), samples[place])


@kernel
def sort_rows(indices, distances):
    """Turn every row's heap into a list, nearest first."""
    for row in range(distances.shape[0]):
        sort_nearest_first(distances[row], indices[row])


@kernel
def bridge_to_nearest(rows, nearest, length, component, first, second, distance):
    """Improve the shortest bridges with each sample's nearest sample in another component."""
    for row in range(rows.size):
        sample, own = rows[row], component[rows[row]]
        if nearest[row] < component.size and is_shorter(
            length[row], sample, nearest[row], distance[own], first[own], second[own]
        ):
            first[own], second[own], distance[own] = sample, nearest[row], length[row]
