"""The nearest of all samples by matrix products, exact to the last tie.

Products give lower bounds of all distances: `screen.py`. The samples with the lowest bounds make a short list, and have
their distances computed as `core/distances` does it. No other sample can be among the k nearest if those that are not
listed have bounds beyond the limit of the k nearest that are. Where this does not hold, as among many ties, all samples
are gone through.

Not all samples need to be looked at: `visiting` says which, and the answer is exact among them.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances
from kfuse.core.kernels import kernel
from kfuse.core.order import is_shorter
from kfuse.core.search.base import Bridges, NeighborBlock
from kfuse.core.search.nearest import offer, sort_nearest_first
from kfuse.core.search.rows import RowSearch
from kfuse.core.search.screen import Screen, Visiting, bound_limit, copy_within, put_lowest_first

ROWS_AT_A_TIME = 256  # products with fewer rows are slower
INITIAL_COUNT = 64  # neighbours asked for at first: most of the time goes into looking, however many are asked for
CROWDED = 0.1  # the share of short lists that do not suffice from which on a more precise product pays off


class BruteForceSearch(RowSearch):
    """Look at every sample, but compute few distances; for Euclidean distances in many dimensions."""

    distances: EuclideanDistances

    def __init__(self, distances: EuclideanDistances):
        super().__init__(distances)
        self.initial_count: int = min(INITIAL_COUNT, self.most_neighbors)
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


class BruteForce:
    """Finds the nearest of all samples by (Euclidean distance, index)."""

    def __init__(self, points: NDArray[Any]):
        self.points = points
        self._screen: Screen | None = None
        self._building = Lock()

    def query(
        self, rows: NDArray[np.intp], k: int, visiting: Visiting | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k nearest neighbours of the samples `rows`, and their distances, nearest first.

        With `visiting`, they are the nearest of what it lets each of them look at; where that are fewer than k, the
        last distances are infinite.
        """
        indices, distances = self._nobody(rows, k)
        if k == 0:
            return indices, distances
        screen = self._current_screen()
        suffices = np.empty(rows.size, dtype=np.bool_)
        lists = screen.short_lists(rows, k, visiting)
        settle(lists, rows, self.points, screen.limits, _buffers_for(lists.bounds), indices, distances, suffices)
        if not suffices.all():
            open_rows = rows[~suffices]
            indices[~suffices], distances[~suffices] = self._go_through_all(screen, open_rows, k, visiting)
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
        for visit, bounds in screen.blocks(rows, screen.all_columns(rows)):
            bounds[component[rows[visit.which]][:, None] == component[visit.columns]] = (
                np.nan
            )  # which is below no limit
            improve(bounds, visit, rows, self.points, screen.limits, _buffers_for(bounds), indices, distances)
        return indices[:, 0], distances[:, 0]

    def _nobody(self, rows: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.full((rows.size, k), len(self.points), dtype=np.int32), np.full((rows.size, k), np.inf)

    def _go_through_all(
        self, screen: Screen, rows: NDArray[np.intp], k: int, visiting: Visiting | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        indices, distances = self._nobody(rows, k)
        for visit, bounds in screen.blocks(rows, (visiting or screen.all_columns)(rows)):
            improve(bounds, visit, rows, self.points, screen.limits, _buffers_for(bounds), indices, distances)
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


def _buffers_for(bounds: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return buffers for the bounds of one row, and their columns."""
    return np.empty_like(bounds[0]), np.empty(bounds.shape[1], dtype=np.int32)


@kernel
def settle(lists, rows, points, limits, buffers, indices, distances, suffices):
    """Find the k nearest on each short list, and whether they are the k nearest of all."""
    bounds, columns, cut = lists
    for row in range(rows.size):
        consider(bounds[row], columns[row], rows[row], points, limits, buffers, indices[row], distances[row])
        suffices[row] = bound_limit(distances[row, 0], rows[row], limits) < cut[row]


@kernel
def improve(bounds, visit, rows, points, limits, buffers, indices, distances):
    """Improve the k nearest of the rows of a visit with its columns."""
    which, columns = visit
    for place in range(which.size):
        row = which[place]
        consider(bounds[place], columns, rows[row], points, limits, buffers, indices[row], distances[row])


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
