"""The shortest bridges between components, found by boxes: a round of Boruvka's algorithm in two steps.

Each box bridges the components among its own places and a few from all other boxes, which bounds the length of every
component's shortest bridge. Then a place goes to the other boxes that lie within the bound of its component, and each
box bridges its own places and those that came. All of it is the search of one machine, on fewer samples.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances
from kfuse.core.search import Bridges, NeighborSearch
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.climbing import Subclusters
from kfuse.dask.neighbors import Asked, boxes_asked, reach
from kfuse.dask.tasks import Task, results, shared, started, task

SCOUTS = 64  # places of each box that all others see


class Spots(NamedTuple):
    """Some places: their numbers, where they are, and their components."""

    numbers: NDArray[np.int32]
    points: NDArray[np.float64]
    components: NDArray[np.int32]

    def take(self, rows: NDArray[Any]) -> Spots:
        """Return some of them."""
        return Spots(self.numbers[rows], self.points[rows], self.components[rows])


class Bounded(NamedTuple):
    """The shortest bridge known of each component."""

    components: NDArray[np.int32]
    bridges: Bridges


class Table(NamedTuple):
    """Values of some numbers."""

    numbers: NDArray[np.int32]  # ascending
    values: NDArray[Any]

    def of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """Look up the values of numbers that are in the table."""
        return self.values[np.searchsorted(self.numbers, numbers)]


class BridgeSearch(NeighborSearch):
    """The search for bridges among the places of all boxes."""

    def __init__(self, boxes: Boxes, subclusters: Subclusters):
        self._boxes, self._subclusters = boxes, subclusters

    @cached_property
    def _leaves(self) -> list[NDArray[np.int32]]:
        """The sub-clusters in each box: a box does not get to know of others."""
        return results([task(_distinct, labels) for labels in self._subclusters.labels])

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        """Find the shortest bridge of each component to any other."""
        boxes, labels = self._boxes, self._subclusters.labels
        of_leaf = component[self._subclusters.peaks]
        known = [Table(leaves, of_leaf[leaves]) for leaves in self._leaves]
        spots = started([task(_spots, *one) for one in zip(boxes.tasks, labels, known, strict=True)])
        scouts = shared(_joined(results([task(_scouts, one) for one in spots])))
        bounds = _shortest(results([task(_bridge, one, [scouts]) for one in spots]), component.max() + 1)
        present, of_boxes = [np.unique(one.values) for one in known], shared(boxes.bounds)
        limits = [Table(components, bounds.distance[components]) for components in present]
        asked = started([task(_ask, *one, of_boxes, box) for box, one in enumerate(zip(spots, limits, strict=True))])
        others = results([task(boxes_asked, one) for one in asked])
        visitors: list[list[Task]] = [[] for _ in spots]
        for box, reached in enumerate(others):
            for other in reached:
                visitors[other].append(task(_visitors, spots[box], asked[box], other))
        found = [task(_bridge, *one) for one in zip(spots, visitors, strict=True) if one[1]]
        return _shortest([_listed(bounds), *results(found)], component.max() + 1)


def _distinct(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.unique(labels)


def _spots(box: Box, labels: NDArray[np.int32], components: Table) -> Spots:
    numbers = np.arange(box.start, box.start + len(box.points), dtype=np.int32)
    return Spots(numbers, box.points, components.of(labels))


def _scouts(spots: Spots) -> Spots:
    """Return a few places from all over a box: they are in spatial order."""
    return spots.take(np.unique(np.linspace(0, spots.numbers.size - 1, SCOUTS).astype(np.intp)))


def _joined(parts: list[Spots]) -> Spots:
    """Join places by ascending number, each once."""
    together = Spots(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return together.take(np.unique(together.numbers, return_index=True)[1])


def _bridge(own: Spots, others: list[Spots]) -> Bounded:
    """Find the shortest bridge of each component among the places of a box and some others."""
    spots = _joined([own, *others])
    local = np.unique(spots.components, return_inverse=True)[1]
    search = KDTreeSearch(EuclideanDistances(np.ones((1, 1))).at(spots.points))
    found = search.bridges(local.astype(np.int32))
    named = spots.components[found.first]
    return Bounded(named, Bridges(spots.numbers[found.first], spots.numbers[found.second], found.distance))


def _listed(bridges: Bridges) -> Bounded:
    return Bounded(np.arange(bridges.first.size, dtype=np.int32), bridges)


def _shortest(found: list[Bounded], n_components: int) -> Bridges:
    """Keep the shortest bridge of each component; of equal ones, that of the smaller pair of places."""
    components = np.concatenate([one.components for one in found])
    first, second, distance = (np.concatenate(column) for column in zip(*(one.bridges for one in found), strict=True))
    order = np.lexsort((np.maximum(first, second), np.minimum(first, second), distance, components))
    _, kept = np.unique(components[order], return_index=True)
    assert kept.size == n_components  # the scouts of all boxes bound every component
    return Bridges(*(column[order[kept]] for column in (first, second, distance)))


def _ask(spots: Spots, limits: Table, bounds: NDArray[np.float64], box: int) -> Asked:
    return reach(spots.points, limits.of(spots.components), bounds, box)


def _visitors(spots: Spots, asked: Asked, other: int) -> Spots:
    return spots.take(asked.rows_of(other))
