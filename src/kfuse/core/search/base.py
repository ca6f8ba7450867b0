"""The protocol of a neighbour search (Definition 1), which every later stage calls without knowing its kind.

A search answers for samples by number: their k nearest neighbours, which samples are identical, the shortest bridges
between components, and the nearest sample to a new one. A search with a fast path for one of these overrides it; the
others inherit the plain version, which computes whole rows of distances. Nearest always means by (distance, index).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import Distances
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import kernel
from kfuse.core.order import is_shorter
from kfuse.core.search.duplicates import first_of_equal_rows
from kfuse.core.search.spatial import spatial_order

ENTRIES_PER_BLOCK = 2**20  # of distances or neighbours that one thread holds at a time
BRIDGED_ROWS = 64  # whose distances to all samples are held at a time


class NeighborBlock(NamedTuple):
    """The neighbours of some samples: row i belongs to sample rows[i], nearest first."""

    rows: NDArray[np.intp]
    indices: NDArray[np.int32]
    distances: NDArray[np.float64]


class Bridges(NamedTuple):
    """Pairs of samples in different components, and their distance."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    distance: NDArray[np.float64]

    @classmethod
    def none_yet(cls, component: NDArray[np.int32]) -> Bridges:
        """Return an infinitely long bridge for each component."""
        n_samples, n_components = component.size, int(component.max()) + 1
        nobody = np.full(n_components, n_samples, dtype=np.int32)
        return cls(nobody, nobody.copy(), np.full(n_components, np.inf))

    def found(self, n_samples: int) -> Bridges:
        """Return the bridges that were found."""
        found = self.first < n_samples
        return Bridges(self.first[found], self.second[found], self.distance[found])


class NeighborSearch:
    """Find the nearest neighbours of samples, the sample itself excluded."""

    distances: Distances
    visiting_order: NDArray[np.intp]  # the order of samples in which most searches are fastest
    most_neighbors: int  # that can be asked for
    is_cheap_to_repeat = True  # for more neighbours of the same samples
    points_to_measure: NDArray[Any] | None = None  # if distances are as quickly computed again as kept
    initial_count: int | None = None  # neighbours to ask for at first; None to find out

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        """Find the k nearest neighbours of the samples `rows`."""
        raise NotImplementedError

    def fill(self, rows: NDArray[np.intp], indices: NDArray[np.int32], distances: NDArray[np.float64]) -> None:
        """Find the nearest neighbours of the samples `rows` and write them into their rows of a table of all."""
        indices[rows], distances[rows] = self.query(rows, indices.shape[1])[1:]

    def complete(self, indices: NDArray[np.int32], distances: NDArray[np.float64], execution: Execution) -> None:
        """Improve the neighbours of all samples, once they are found; there is nothing to improve in exact ones."""

    def order_of_visits(self, k: int) -> NDArray[np.intp]:
        """Return the order of samples in which a search for k neighbours of all is fastest."""
        return self.visiting_order

    def rows_per_block(self, k: int) -> int:
        """Return how many samples to ask for at a time."""
        return max(1, ENTRIES_PER_BLOCK // max(1, k))

    def subset(self, kept: NDArray[np.intp]) -> NeighborSearch:
        """Return the search among some of the samples."""
        raise NotImplementedError

    def spatial_order(self, execution: Execution = SERIAL) -> NDArray[np.intp]:
        """Return the samples in an order in which near ones come near each other.

        It depends on the points alone, so what is computed in it does not depend on the order of rows. Without
        coordinates, it is the order of rows.
        """
        if self.distances.points is None:
            return np.arange(self.distances.n_samples)
        return spatial_order(self.distances.points, execution).astype(np.intp)

    def reordered(self) -> tuple[NeighborSearch, NDArray[np.intp]]:
        """Return the search with samples numbered in spatial order, and the sample of each number."""
        order = self.spatial_order()
        return (self if self.distances.points is None else self.subset(order)), order

    def duplicates(self) -> NDArray[np.intp] | None:
        """Return the first sample identical to each, or None if a distance of zero identifies them."""
        if self.distances.is_zero_if_identical or self.distances.points is None:
            return None
        return first_of_equal_rows(self.distances.points)

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        """Find the shortest bridge of each component to any other."""
        shortest = Bridges.none_yet(component)
        for start in range(0, component.size, BRIDGED_ROWS):
            rows = np.arange(start, min(start + BRIDGED_ROWS, component.size))
            bridge_by_rows(rows, self.distances.rows(rows), component, *shortest)
        return shortest.found(component.size)

    def keep_for_bridges(self) -> None:
        """Free what `bridges` does not need; nothing else may be called from then on."""

    def nearest(self, queries: NDArray[Any], execution: Execution = SERIAL) -> NDArray[np.intp]:
        """Find the nearest sample to each new sample, the first of several; queries are prepared by the distances."""
        distances: Any = self.distances
        size = max(1, ENTRIES_PER_BLOCK // distances.n_samples)
        found = execution.over_ranges(
            lambda start, stop: np.argmin(distances.between(queries[start:stop]), axis=1), len(queries), size
        )
        return np.concatenate(found)


@kernel
def bridge_by_rows(rows, block, component, first, second, distance):
    """Improve the shortest bridges with a block of distances."""
    for row in range(rows.size):
        sample, own = rows[row], component[rows[row]]
        for other in range(component.size):
            if component[other] != own and is_shorter(
                block[row, other], sample, other, distance[own], first[own], second[own]
            ):
                first[own], second[own], distance[own] = sample, other, block[row, other]
