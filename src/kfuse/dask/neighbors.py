"""The exact k nearest neighbours of every place, in two rounds.

A box searches among its own places, which bounds the distance to the k-th neighbour. Then only those boxes are asked
that lie within this distance of a place, and only for that place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.search.coarse import coarse_tree
from kfuse.core.search.kd_tree import nearest
from kfuse.core.search.table import write_distances
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.kernels import list_boxes, merge_sorted
from kfuse.dask.tasks import Task, results, shared, started, task

QUERIES_AT_A_TIME = 2**14


class Neighbors(NamedTuple):
    """The neighbours of the places of a box, nearest first, by their numbers among all places."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]


class Own(NamedTuple):
    """The nearest places in the same box: which of its places they are, -1 if there are too few.

    Their distances are as quickly computed as read, so that only the last of them is kept.
    """

    indices: NDArray[np.int32]
    farthest: NDArray[np.float64]  # infinite if there are too few

    def distances(self, box: Box, rows: NDArray[np.intp], k: int) -> NDArray[np.float64]:
        """Return the distances of some places to the k nearest; infinite ones if there are too few."""
        n_found = min(k, len(self.indices) - 1)
        found = np.empty((rows.size, n_found))
        write_distances(box.points, rows, self.indices, found)
        return found if n_found == k else np.pad(found, ((0, 0), (0, k - n_found)), constant_values=np.inf)


class Across(NamedTuple):
    """All neighbours of those places of a box that may have some in other boxes: few, where dimensions are."""

    rows: NDArray[np.intp]  # ascending
    indices: NDArray[np.int32]
    distances: NDArray[np.float64]


class Found(NamedTuple):
    """The neighbours of all places: those in the own box and, for places near others, those of all boxes.

    They stay apart until it is known how many of them are needed: to copy them is as much work as to look at them.
    """

    boxes: list[Task]
    own: list[Task]
    across: list[Task]
    n_neighbors: int

    def nearest(self, k: int) -> list[Task]:
        """Return the k nearest of them, as `Neighbors`."""
        return [task(_nearest, *one, k) for one in zip(self.boxes, self.own, self.across, strict=True)]

    def drop(self) -> None:
        """Let workers forget what nobody else refers to."""
        self.own.clear()
        self.across.clear()


class Asked(NamedTuple):
    """Which places of a box ask which other boxes, in the order of these boxes."""

    rows: NDArray[np.int32]
    boxes: NDArray[np.int32]

    def rows_of(self, box: int) -> NDArray[np.int32]:
        """Return the places that ask a box."""
        return self.rows[slice(*np.searchsorted(self.boxes, [box, box + 1]))]


class Answer(NamedTuple):
    """What a box found for the places that ask it, one after the other."""

    counts: NDArray[np.int32]
    indices: NDArray[np.int32]
    distances: NDArray[np.float64]


def find_neighbors(boxes: Boxes, k: int) -> list[Task]:
    """Find the k nearest neighbours of all places, the place itself excluded; one task of `Neighbors` per box."""
    return started(search(boxes, k).nearest(k))


def search(boxes: Boxes, k: int) -> Found:
    """Find the k nearest neighbours of all places, the place itself excluded."""
    bounds = shared(boxes.bounds)
    own = started([task(search_box, box, k) for box in boxes.tasks])
    asked = started(
        [task(ask, box, found, bounds, i) for i, (box, found) in enumerate(zip(boxes.tasks, own, strict=True))]
    )
    others = results([task(boxes_asked, one) for one in asked])
    merged = []
    for i, reached in enumerate(others):
        answers = [
            task(answer, boxes.tasks[j], task(questions, boxes.tasks[i], own[i], asked[i], j), k) for j in reached
        ]
        merged.append(task(merge, boxes.tasks[i], own[i], asked[i], reached, answers))
    return Found(boxes.tasks, own, started(merged), k)


def nearest_of(found: Found, boxes: Boxes, k: int) -> list[Task]:
    """Return the k nearest neighbours, of those found already if there are as many."""
    return find_neighbors(boxes, k) if k > found.n_neighbors else started(found.nearest(k))


def _nearest(box: Box, own: Own, across: Across, k: int) -> Neighbors:
    """Return the k nearest neighbours of all places of a box."""
    indices, distances = own.indices[:, :k] + np.int32(box.start), own.distances(box, np.arange(len(box.points)), k)
    indices[across.rows], distances[across.rows] = across.indices[:, :k], across.distances[:, :k]
    return Neighbors(indices, distances)


def search_box(box: Box, k: int) -> Own:
    """Find the nearest neighbours among the places of a box."""
    m, found = len(box.points), min(k, len(box.points) - 1)
    indices, farthest = np.full((m, k), -1, np.int32), np.full(m, -1.0 if k == 0 else np.inf)
    tree, shape = box.tree(), (min(m, QUERIES_AT_A_TIME), found)
    coarse, room = coarse_tree(tree), (np.empty(shape, np.int32), np.empty(shape))  # for one block after the other
    for start in range(0, m, QUERIES_AT_A_TIME):
        rows = np.arange(start, min(start + QUERIES_AT_A_TIME, m))
        local, distances = nearest(tree, box.points[rows], found, rows, coarse, into=room)
        indices[rows, :found] = local
        if 0 < found == k:
            farthest[rows] = distances[:, -1]
    return Own(indices, farthest)


def ask(box: Box, own: Own, bounds: NDArray[np.float64], own_box: int) -> Asked:
    """Find the other boxes that may hold a nearer neighbour of each place."""
    return reach(box.points, own.farthest, bounds, own_box)


def reach(points: NDArray[np.float64], limits: NDArray[np.float64], bounds: NDArray[np.float64], own_box: int) -> Asked:
    """Find the other boxes within a limit of each point."""
    counts = np.zeros(len(points) + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    list_boxes(points, limits, bounds, own_box, counts, nothing, nothing)
    starts = np.append(0, np.cumsum(counts[:-1]))
    rows, boxes = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    list_boxes(points, limits, bounds, own_box, starts, rows, boxes)
    order = np.argsort(boxes, kind="stable")
    return Asked(rows[order], boxes[order])


def boxes_asked(asked: Asked) -> list[int]:
    """Return the boxes that are asked by any place."""
    return [int(box) for box in np.unique(asked.boxes)]


def questions(box: Box, own: Own, asked: Asked, other: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the places that ask another box, and how far their neighbours can be."""
    rows = asked.rows_of(other)
    return box.points[rows], own.farthest[rows]


def answer(box: Box, asked: tuple[NDArray[np.float64], NDArray[np.float64]], k: int) -> Answer:
    """Find the neighbours in this box of places in another one, up to the distance that they ask for."""
    points, limits = asked
    found = min(k, len(box.points))
    tree, parts = box.tree(), []
    coarse = coarse_tree(tree)
    for start in range(0, len(points), QUERIES_AT_A_TIME):
        block = slice(start, start + QUERIES_AT_A_TIME)
        indices, distances = nearest(tree, points[block], found, coarse=coarse)
        near = distances <= limits[block, None]
        parts.append(Answer(near.sum(axis=1).astype(np.int32), indices[near] + np.int32(box.start), distances[near]))
    return Answer(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def merge(box: Box, own: Own, asked: Asked, others: list[int], answers: list[Answer]) -> Across:
    """Merge what other boxes answered into the neighbours of the places that asked."""
    rows = np.unique(asked.rows).astype(np.intp)
    indices, k = own.indices[rows] + np.int32(box.start), own.indices.shape[1]
    distances = own.distances(box, rows, k)
    room = np.empty(k, np.int32), np.empty(k)
    for other, found in zip(others, answers, strict=True):
        merge_sorted(np.searchsorted(rows, asked.rows_of(other)), found, indices, distances, *room)
    return Across(rows, indices, distances)
