"""Eq. 4 for some pairs of sub-clusters: their least distance, found without visiting all pairs of samples.

The members of a sub-cluster are kept in short runs of samples near one another, each run in a box. Samples of two runs
are compared only if their boxes are nearer than the nearest samples so far. The distance of two boxes adds the same
terms in the same order as that of two samples does, and rounding is monotone: so the result is exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import Execution
from kfuse.core.kernels import kernel
from kfuse.core.search import NeighborSearch
from kfuse.core.search.boxes import squared_distance_of_boxes

RUN_LENGTH = 16
WORK_PER_PART = 2**24  # pairs of samples that one thread has before it at a time


class Runs(NamedTuple):
    """Stretches of members of one sub-cluster."""

    points: NDArray[Any]  # of all samples, sub-cluster by sub-cluster, neighbours near one another
    starts: NDArray[np.intp]  # run r holds the points starts[r] to starts[r + 1]
    boxes: NDArray[Any]  # (n_runs, 2, n_features): the least and greatest coordinates
    firsts: NDArray[np.intp]  # sub-cluster c has the runs firsts[c] to firsts[c + 1]


class LeastDistances:
    """Least distances between sub-clusters, for Euclidean distances and what increases with them."""

    def __init__(self, search: NeighborSearch, labels: NDArray[np.intp], execution: Execution):
        distances: Any = search.distances
        self.finish = distances.finish
        self._execution = execution
        self.sizes = np.bincount(labels)
        members = search.spatial_order(execution)
        members = members[np.argsort(labels[members], kind="stable")]
        self.runs = _cut_into_runs(distances.points[members], self.sizes)
        self.boxes = _boxes(self.runs.points, _offsets(self.sizes))

    def at_least(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return lower bounds of `between`, quickly."""
        found = np.empty(i.size)
        write_box_distances(i, j, self.boxes, found)
        return self.finish(found)

    def between(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> NDArray[np.float64]:
        """Find the least distance of a sample of each sub-cluster i to one of each j."""
        work = np.cumsum(self.sizes[i] * self.sizes[j])
        cuts = np.searchsorted(work, np.arange(WORK_PER_PART, work.max(initial=0), WORK_PER_PART))
        found = np.empty(i.size)
        parts = (np.split(array, np.unique(cuts)) for array in (i, j, found))
        with self._execution.workers() as pool:
            list(pool.map(lambda i, j, found: write_least_distances(i, j, *self.runs, found), *parts))
        return self.finish(found)


def least_distances_stored(distances: Any, labels: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the least distance of each pair i < j of sub-clusters that a graph connects, with its number: i x n + j."""
    heads = labels[np.repeat(np.arange(distances.n_samples), np.diff(distances.indptr))]
    tails = labels[distances.indices]
    across = heads < tails  # a graph holds each distance in both directions
    numbers = heads[across] * (int(labels.max()) + 1) + tails[across]
    nearest_first = np.lexsort((distances.data[across], numbers))
    numbers, first = np.unique(numbers[nearest_first], return_index=True)
    return numbers, distances.data[across][nearest_first][first]


def _offsets(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(sizes)])


def _cut_into_runs(points: NDArray[Any], sizes: NDArray[np.intp]) -> Runs:
    """Cut the members of each sub-cluster into runs of at most RUN_LENGTH."""
    n_runs = -(-sizes // RUN_LENGTH)
    firsts = _offsets(n_runs)
    rank = np.arange(firsts[-1]) - np.repeat(firsts[:-1], n_runs)
    starts = np.append(np.repeat(_offsets(sizes)[:-1], n_runs) + RUN_LENGTH * rank, len(points))
    return Runs(points, starts, _boxes(points, starts), firsts)


def _boxes(points: NDArray[Any], starts: NDArray[np.intp]) -> NDArray[Any]:
    """Enclose each stretch of points."""
    return np.stack([np.minimum.reduceat(points, starts[:-1]), np.maximum.reduceat(points, starts[:-1])], axis=1)


@kernel
def write_box_distances(i, j, boxes, distances):
    """Find the distance of each pair of boxes."""
    for pair in range(i.size):
        distances[pair] = np.sqrt(squared_distance_of_boxes(boxes[i[pair]], boxes[j[pair]]))


@kernel
def write_least_distances(i, j, points, starts, boxes, firsts, distances):
    """Find the least distance of two samples of each pair of sub-clusters."""
    for pair in range(i.size):
        nearest = np.inf
        for run in range(firsts[i[pair]], firsts[i[pair] + 1]):
            for other in range(firsts[j[pair]], firsts[j[pair] + 1]):
                if squared_distance_of_boxes(boxes[run], boxes[other]) < nearest:
                    here, there = points[starts[run] : starts[run + 1]], points[starts[other] : starts[other + 1]]
                    nearest = least_squared_distance(here, there, nearest)
        distances[pair] = np.sqrt(nearest)


@kernel
def least_squared_distance(here, there, nearest):
    """Find the least squared distance of two samples, or `nearest` if none is nearer."""
    for sample in range(len(here)):
        for other in range(len(there)):
            total = 0.0
            for feature in range(here.shape[1]):
                difference = np.float64(here[sample, feature]) - np.float64(there[other, feature])
                total += difference * difference
                if total >= nearest:
                    break
            else:
                nearest = total
    return nearest
