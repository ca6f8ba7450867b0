"""The links between sub-clusters: each box adds up those that go out from the sub-clusters it owns.

Sums of floating-point numbers depend on their order, so a sub-cluster is never added up in parts: its owner fetches the
members that lie in other boxes, and all neighbours, and runs the kernel of one machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.links import Links, Marks, NeighborLists, links_from
from kfuse.core.order import members_of
from kfuse.dask.boxes import Boxes
from kfuse.dask.climbing import Subclusters
from kfuse.dask.exchange import Halos, View
from kfuse.dask.surroundings import Rows
from kfuse.dask.tasks import Task, results, shared, started, task


class Linked(NamedTuple):
    """A place with its neighbourhood and its sub-cluster; columns of `Rows`, and one more."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]
    counts: NDArray[np.int32]
    log_density: NDArray[np.float64]
    radii: NDArray[np.float64]
    weights: NDArray[np.float64]
    labels: NDArray[np.int32]


class Members(NamedTuple):
    """Members of sub-clusters that another box owns: their numbers, and those of their neighbours."""

    numbers: NDArray[np.int32]
    indices: NDArray[np.int32]


def start_links(rows: list[Task], subclusters: Subclusters, boxes: Boxes) -> list[Task]:
    """Start to sum up the links that go out from the sub-clusters of each box."""
    owned, starts = shared(subclusters.starts), boxes.starts.tolist()
    linked = [task(_linked, *one) for one in zip(rows, subclusters.labels, strict=True)]
    owners = results([task(_owners, labels, owned) for labels in subclusters.labels])
    views = []
    for box, own in enumerate(linked):
        abroad = [i for i, found in enumerate(owners) if box in found and i != box]
        members = [task(_members_of_owner, linked[i], starts[i], owned, box) for i in abroad]
        views.append(task(_view, own, starts[box], members))
    halos = Halos.of(started(views), boxes.starts)
    found = zip(linked, halos.views, halos.fetch(linked), strict=True)
    return started([task(_add_up, *one, owned, box) for box, one in enumerate(found)])


def _linked(rows: Rows, labels: NDArray[np.int32]) -> Linked:
    return Linked(*rows[:6], labels)


def _owners(labels: NDArray[np.int32], owned: NDArray[np.int64]) -> list[int]:
    return [int(box) for box in np.unique(np.searchsorted(owned, labels, side="right") - 1)]


def _members_of_owner(linked: Linked, start: int, owned: NDArray[np.int64], owner: int) -> Members:
    rows = np.flatnonzero((linked.labels >= owned[owner]) & (linked.labels < owned[owner + 1]))
    return Members((start + rows).astype(np.int32), linked.indices[rows])


def _view(own: Linked, start: int, members: list[Members]) -> View:
    """Return what a box needs to see: members of its sub-clusters, neighbours of these and of its own places."""
    stop = start + len(own.indices)
    needed = np.concatenate([own.indices.ravel(), *(column.ravel() for one in members for column in one)])
    return View(start, stop, np.unique(needed[(needed < start) | (needed >= stop)]))


def _add_up(own: Linked, view: View, halo: Linked, owned: NDArray[np.int64], box: int) -> Links:
    """Sum up the links that go out from the sub-clusters of a box."""
    seen = Linked(*view.around_all(own, halo))
    last = np.arange(seen.counts.size), seen.counts - 1
    # A farthest neighbour that is not seen is only compared: the position of the last one before it will do.
    farthest = np.searchsorted(view.numbers, seen.indices[last], side="right") - 1
    lists = NeighborLists(
        seen.counts,
        view.positions(seen.indices),
        farthest.astype(np.int32),
        seen.distances[last],
        seen.radii,
        np.sqrt(seen.weights),
    )
    names, labels = np.unique(seen.labels, return_inverse=True)
    labels = np.append(labels, names.size)  # of all places that are not seen
    begin, end = np.searchsorted(names, owned[box : box + 2])
    members, starts = members_of(labels)
    lengths = seen.distances[members[starts[begin] : starts[end]]]
    marks = Marks.blank(labels.size, starts.size, lists.indices.shape[1])
    found = links_from(members, starts, int(begin), int(end), lists, lengths, labels, seen.log_density, marks)
    return found._replace(first=names[found.first], second=names[found.second])
