"""The graph of shared neighbours between sub-clusters: who touches whom, how much, and across which density.

Two samples are linked if one is among the other's k nearest. The link's weight is the squared share of neighbours that
they have in common, a sample counting as its own neighbour here, and half of that if only one has the other as a
neighbour. A link inside a cluster shares most neighbours, one across a gap few. Its level is the log-density of its
sparser end.

Links are added up as they are found, sub-cluster by sub-cluster, and never held one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.fusion.agglomerate import Links
from kfuse.core.fusion.index import link_weight
from kfuse.core.neighbors import NeighborBlock
from kfuse.core.partition import is_within
from kfuse.core.progress import SILENT, Progress
from kfuse.core.threads import over_ranges

SAMPLES_PER_PART = 2**15  # whose links one thread adds up at a time


def links_between(
    nearest: NeighborBlock,
    labels: NDArray[np.intp],
    log_density: NDArray[np.float64],
    n_threads: int,
    progress: Progress = SILENT,
) -> Links:
    """Add up the links between each two sub-clusters."""
    if nearest.indices.shape[1] == 0:  # one sample
        return Links(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0))
    members, starts = members_of(labels, int(labels.max()) + 1)
    farthest = nearest.distances[:, -1].copy(), nearest.indices[:, -1].copy()

    def add_up(start: int, stop: int) -> Links:
        begin, end = np.searchsorted(starts[:-1], [start, stop])
        table = nearest.indices, nearest.distances, *farthest
        return add_up_links(members, starts, begin, end, *table, labels, log_density)

    found = over_ranges(add_up, labels.size, max(SAMPLES_PER_PART, labels.size // 64), n_threads, progress)
    return _both_ways(Links(*(np.concatenate(columns) for columns in zip(*found, strict=True))), starts.size - 1)


@kernel
def members_of(labels, n_subclusters):
    """The members of each sub-cluster by ascending index, one sub-cluster after the other, and where each starts."""
    starts = np.zeros(n_subclusters + 1, dtype=np.intp)
    for label in labels:
        starts[label + 1] += 1
    starts = np.cumsum(starts)
    members, filled = np.empty(labels.size, dtype=np.int32), starts.copy()
    for sample in range(labels.size):
        members[filled[labels[sample]]] = sample
        filled[labels[sample]] += 1
    return members, starts


@kernel
def add_up_links(
    members, starts, begin, end, indices, distances, farthest_distances, farthest_indices, labels, log_density
):
    """Add up the links that go out from a range of sub-clusters, each pair of samples on one side only."""
    k = indices.shape[1]
    around = np.full(labels.size, -1, dtype=np.int32)  # the sample whose neighbourhood was marked last
    slot_of = np.full(starts.size, -1)
    room = 1024
    first, second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    weight, level = np.empty(room), np.empty(room)
    count = 0
    for own in range(begin, end):
        floor = count
        for position in range(starts[own], starts[own + 1]):
            sample = members[position]
            for rank in range(k):
                other = indices[sample, rank]
                there = labels[other]
                if there == own:
                    continue
                mutual = is_within(distances[sample, rank], sample, farthest_distances[other], farthest_indices[other])
                if mutual and there < own:
                    continue  # added up on the other side
                amount = link_weight(shared_neighbors(sample, other, indices, around) / (k + 1), mutual)
                slot = slot_of[there]
                if slot < floor:
                    if count == room:
                        room *= 2
                        first, second = _longer(first, room), _longer(second, room)
                        weight, level = _longer(weight, room), _longer(level, room)
                    slot = count
                    slot_of[there] = slot
                    first[slot], second[slot], weight[slot], level[slot] = own, there, 0.0, 0.0
                    count += 1
                weight[slot] += amount
                level[slot] += amount * min(log_density[sample], log_density[other])
    return Links(first[:count].copy(), second[:count].copy(), weight[:count].copy(), level[:count].copy())


@kernel
def shared_neighbors(sample, other, indices, around):
    """Count what the neighbourhoods of two samples share, each with the sample itself; `other` is near `sample`."""
    if around[sample] != sample:
        around[sample] = sample
        for rank in range(indices.shape[1]):
            around[indices[sample, rank]] = sample
    shared = 1  # `other` itself
    for rank in range(indices.shape[1]):
        shared += around[np.uint32(indices[other, rank])] == sample
    return shared


@kernel
def _longer(array, room):
    longer = np.empty(room, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def _both_ways(links: Links, n_subclusters: int) -> Links:
    """Add up what goes from i to j and from j to i; give each pair once, i < j."""
    lower, upper = np.minimum(links.first, links.second), np.maximum(links.first, links.second)
    order = np.argsort(
        lower.astype(np.int64) * n_subclusters + upper, kind="stable"
    )  # what goes out from i stays first
    lower, upper = lower[order], upper[order]
    starts = np.flatnonzero(np.append(True, (np.diff(lower) != 0) | (np.diff(upper) != 0))) if lower.size else order
    return Links(
        lower[starts],
        upper[starts],
        np.add.reduceat(links.weight[order], starts) if lower.size else links.weight,
        np.add.reduceat(links.level[order], starts) if lower.size else links.level,
    )
