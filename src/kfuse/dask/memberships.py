"""Memberships of the samples of a fit: neighbours are found again, the network is solved on one node.

One machine adds up the links of the network block by block. So does this node, with the neighbours of one block at a
time, which come from the boxes; what a box then needs to know of the solution goes back to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kfuse.core.memberships import blocks_of_rows, build_network, memberships_of_nodes
from kfuse.core.result import Surroundings
from kfuse.dask import samples
from kfuse.dask.boxes import Boxes
from kfuse.dask.columns import Columns
from kfuse.dask.exchange import View, view_of
from kfuse.dask.neighbors import Neighbors, find_neighbors
from kfuse.dask.tasks import Task, results, shared, started, task
from kfuse.memberships import NOISE, MembershipMixin, Memberships


class Around(NamedTuple):
    """What each box has around its places."""

    indices: list[Task]  # the nearest places
    views: list[Task]
    mean_distance: NDArray[np.float64]  # of all places, on this node


class Surrounded(NamedTuple):
    """All places with what is around them."""

    boxes: Boxes
    around: Around
    k: int
    dimension: float


class Rule(NamedTuple):
    """The clusters of a cut, and how noise is told and labelled."""

    n_clusters: int
    background: float
    outliers: str


def look_around(boxes: Boxes, k: int) -> Around:
    """Find the k nearest neighbours of all places again."""
    found, starts = find_neighbors(boxes, k), boxes.starts[:-1].tolist()
    mean = np.concatenate(results([task(_mean_distance, one) for one in found]))
    indices = started([task(_indices, one) for one in found])
    return Around(indices, started([task(view_of, *one) for one in zip(indices, starts, strict=True)]), mean)


def _mean_distance(found: Neighbors) -> NDArray[np.float64]:
    return found.distances.mean(axis=1) if found.distances.shape[1] else np.ones(len(found.distances))


def _indices(found: Neighbors) -> NDArray[np.int32]:
    return found.indices


class RowsOfBoxes:
    """Rows of neighbours as an array on this node would have them, but fetched when they are asked for."""

    def __init__(self, places: Surrounded):
        self._indices, self._starts = places.around.indices, places.boxes.starts
        self.shape = places.boxes.n_places, places.k

    def __getitem__(self, rows: slice) -> NDArray[np.int32]:
        start, stop, _ = rows.indices(self.shape[0])
        first, last = np.searchsorted(self._starts, [start, stop - 1], side="right") - 1
        found = []
        for box in range(first, last + 1):
            begin = int(self._starts[box])
            found.append(task(_some_rows, self._indices[box], max(start - begin, 0), stop - begin))
        return np.concatenate(results(found))


def _some_rows(indices: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int32]:
    return indices[start:stop]


class MeansOfBoxes(NamedTuple):
    """The distances to neighbours, of which the mean is known."""

    means: NDArray[np.float64]

    def mean(self, axis: int) -> NDArray[np.float64]:
        """Return the mean of each row."""
        return self.means


def shares_of_places(places: Surrounded, columns: list[Task], clusters: list[Task], rule: Rule) -> list[Task]:
    """Return the memberships of the places of each box in every cluster."""
    around, leaves = places.around, np.concatenate(results([one[0] for one in columns]))
    indices: Any = RowsOfBoxes(places)
    distances: Any = MeansOfBoxes(around.mean_distance)
    seen = Surroundings(np.empty(0, np.intp), indices, distances, 1.0)
    network = build_network(seen, places.dimension, leaves, np.concatenate(results(clusters)))
    of_nodes = memberships_of_nodes(network, rule.n_clusters + 1)
    known = started([shared(_part_of(network.node, of_nodes, view)) for view in results(around.views)])
    in_boxes = zip(around.indices, around.views, columns, clusters, known, strict=True)
    return [task(_shares, *one, rule) for one in in_boxes]


def _part_of(node: NDArray[np.intp], of_nodes: csr_array, view: View) -> Memberships:
    """Return what a box needs of the memberships."""
    names, local = np.unique(node[view.numbers], return_inverse=True)
    return Memberships(local, of_nodes[names])


class BoxModel(MembershipMixin):
    """One box as a model of its own, of which one machine's code takes memberships."""

    def __init__(self, known: Memberships, rule: Rule):
        self._known, self.n_clusters_, self.outliers = known, rule.n_clusters, rule.outliers

    def shares(
        self, places: NDArray[np.intp], scores: NDArray[np.float64], labels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the memberships, given the places around each, its outlier score and its label."""
        return self._shares(places, scores, labels)

    def _memberships(self) -> Memberships:
        return self._known


def _shares(
    indices: NDArray[np.int32],
    view: View,
    columns: Columns,
    clusters: NDArray[np.intp],
    known: Memberships,
    rule: Rule,
) -> NDArray[np.float64]:
    model, shares = BoxModel(known, rule), np.empty((len(indices), rule.n_clusters))
    scores = samples.scores(columns, clusters, rule.n_clusters, rule.background)
    labels = clusters if rule.outliers == "assign" else np.where(scores > 0.5, NOISE, clusters)
    own = np.arange(view.own.start, view.own.stop)
    for rows in blocks_of_rows(len(own), max(rule.n_clusters + 1, indices.shape[1])):
        places = np.column_stack([own[rows], view.positions(indices[rows])])
        shares[rows] = model.shares(places, scores[rows], labels[rows])
    return shares


def own_shares(shares: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the membership of each place in its own cluster, 0 for noise."""
    own = shares[np.arange(labels.size), np.maximum(labels, 0)]
    return np.where(labels == NOISE, 0.0, own)
