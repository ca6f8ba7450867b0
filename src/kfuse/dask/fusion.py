"""The stages that run on one node: what each box knows of its places comes here, and sub-clusters merge."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import adaptive
from kfuse.core.adaptive import bridges, islands, links, peaks, scales
from kfuse.core.adaptive.fusion import Merges
from kfuse.core.adaptive.valleys import Peaks
from kfuse.core.distances import EuclideanDistances
from kfuse.core.execution import Execution
from kfuse.core.search import Nearest
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.bridges import BridgeSearch
from kfuse.dask.climbing import Subclusters
from kfuse.dask.links import start_links
from kfuse.dask.surroundings import Described, Rows
from kfuse.dask.tasks import Task, results, started, task


class OnOneNode(NamedTuple):
    """What the fusion needs of every place, from all boxes."""

    labels: NDArray[np.intp]
    representatives: NDArray[np.int32]
    log_density: NDArray[np.float64]
    counts: NDArray[np.int32]  # of the neighbourhood
    weights: NDArray[np.float64]
    radius: NDArray[np.float64]  # of the neighbourhood
    radii: NDArray[np.float64]
    spreads: NDArray[np.float64]

    @property
    def basins(self) -> peaks.Basins:
        """The sub-cluster of each place, and what it climbs to."""
        return peaks.Basins(self.labels, self.representatives)

    @property
    def ends(self) -> links.Ends:
        """What links take from the places."""
        return links.Ends(self.labels, self.log_density, self.weights, self.counts, self.radius, self.radii)

    def looked_at(self, k: int, step: float) -> scales.SummedScales:
        """Return the distances at each scale, without those beyond a gap; the spreads are changed in place."""
        found = scales.Scales(scales.counts_of_scales(k), self.radii, self.spreads, step)
        return scales.without_gaps(found, self.counts).summed(self.labels)


class Sent(NamedTuple):
    """What boxes find for this node, one task per box."""

    of_places: list[Task]  # `OnOneNode`
    links: list[Task]  # that go out from the sub-clusters of the box


def send(described: Described, subclusters: Subclusters, boxes: Boxes) -> Sent:
    """Let boxes find what the fusion needs: that of places first, which comes here while links are added up."""
    known = zip(described.rows, subclusters.climbed, subclusters.labels, strict=True)
    of_places = started([task(_for_fusion, *one) for one in known])
    return Sent(of_places, start_links(described.rows, subclusters, boxes) if described.n_neighbors else [])


def gather(sent: Sent, boxes: Boxes) -> OnOneNode:
    """Bring what the fusion needs of every place to this node, box after box, so that it is here once."""
    columns: list[NDArray[Any]] = []
    for start in boxes.starts[:-1]:
        part = results([sent.of_places.pop(0)])[0]
        # A mean depends on the order in memory: one machine has the spreads column by column.
        columns = columns or [_room_for(boxes.n_places, column, is_last=column is part[-1]) for column in part]
        for whole, column in zip(columns, part, strict=True):
            whole[start : start + len(column)] = column
    return OnOneNode(*columns)


def _room_for(n_places: int, column: NDArray[Any], *, is_last: bool) -> NDArray[Any]:
    return np.empty((n_places, *column.shape[1:]), column.dtype, order="F" if is_last else "C")


def _for_fusion(one: Rows, representatives: NDArray[np.int32], labels: NDArray[np.int32]) -> OnOneNode:
    radius = links.radius_of(one.distances, one.counts)
    of_place = labels.astype(np.intp), representatives, one.log_density, one.counts, one.weights
    return OnOneNode(*of_place, radius, one.radii, one.spreads)


def link(here: OnOneNode, sent: Sent, subclusters: Subclusters, boxes: Boxes, k: int) -> links.Links:
    """Link the sub-clusters, so that all of them are connected."""
    if k == 0:  # one place
        nobody = Nearest(np.empty((1, 0), np.int32), np.empty((1, 0)))
        return links.links_between(nobody, here.ends)
    found = results(sent.links)
    sent.links.clear()
    return bridges.with_bridges(links.both_ways(found), BridgeSearch(boxes, subclusters), k, here.ends)


def undo(
    merges: Merges,
    found_peaks: Peaks,
    here: OnOneNode,
    found: Described,
    boxes: Boxes,
    natural_value: int,
    execution: Execution,
) -> adaptive.Undone:
    """Order the merges, and collect what tells the number of clusters."""
    openness = partial(_openness, here, found, boxes, execution)
    return adaptive.undo(merges, found_peaks, here.basins, here.ends, natural_value, found.dimension, openness)


def _openness(
    here: OnOneNode, found: Described, boxes: Boxes, execution: Execution, parts: islands.Parts
) -> NDArray[np.float64]:
    """Look for islands on this node, with the nearest neighbours of all places, if there can be any."""
    around = None
    if islands.can_be_found(found.n_neighbors, found.dimension):
        nearest = results([task(_nearest_few, *one) for one in zip(found.rows, boxes.tasks, strict=True)])
        indices, points = (np.concatenate(column) for column in zip(*nearest, strict=True))
        around = islands.Around(indices, here.radii[:, :2], EuclideanDistances(np.ones((1, 1))).at(points))
    return islands.openness_of_merges(around, parts, execution)


def _nearest_few(found: Rows, box: Box) -> tuple[Any, Any]:
    return found.indices[:, : islands.N_LINKS], box.points
