"""The graph of shared neighbours between sub-clusters: who touches whom, how much, and across which density.

Two samples are linked if one is among the other's k nearest. The link's weight is the squared share of neighbours that
they have in common, a sample counting as its own neighbour here, and half of that if only one has the other as a
neighbour. A link inside a cluster shares most neighbours, one across a gap few. Its level is the log-density of its
sparser end.

Links are added up as they are found, sub-cluster by sub-cluster, and never held one by one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.fusion.agglomerate import Links
from kfuse.core.fusion.index import link_weight
from kfuse.core.neighbors import NeighborBlock
from kfuse.core.partition import is_within

SAMPLES_PER_PART = 2**15  # whose links one thread adds up at a time


def links_between(
    nearest: NeighborBlock,
    labels: NDArray[np.intp],
    log_density: NDArray[np.float64],
    visiting_order: NDArray[np.intp],
    n_threads: int,
) -> Links:
    """Add up the links between each two sub-clusters."""
    members, starts = _members_in_order(labels, visiting_order)

    def add_up(part: tuple[int, int]) -> Links:
        return add_up_links(members, starts, part[0], part[1], nearest.indices, nearest.distances, labels, log_density)

    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(add_up, _parts(starts)))
    return _both_ways(Links(*(np.concatenate(columns) for columns in zip(*found, strict=True))))


def _members_in_order(
    labels: NDArray[np.intp], visiting_order: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The members of each sub-cluster by ascending index, neighbouring sub-clusters one after the other."""
    n_subclusters = int(labels.max()) + 1
    place = np.full(n_subclusters, labels.size)
    np.minimum.at(place, labels[visiting_order], np.arange(labels.size))
    rank = np.empty(n_subclusters, dtype=np.intp)
    rank[np.argsort(place)] = np.arange(n_subclusters)
    members = np.argsort(rank[labels], kind="stable")
    return members, np.concatenate([[0], np.cumsum(np.bincount(rank[labels], minlength=n_subclusters))])


def _parts(starts: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Ranges of sub-clusters with about as many samples each."""
    n_parts = max(1, int(starts[-1]) // SAMPLES_PER_PART)
    ends = np.unique(np.searchsorted(starts, np.linspace(0, starts[-1], n_parts + 1)))
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)) or [(0, 0)]


@kernel
def add_up_links(members, starts, begin, end, indices, distances, labels, log_density):
    """Add up the links that go out from a range of sub-clusters, each pair of samples on one side only."""
    k = indices.shape[1]
    around = np.full(labels.size, -1, dtype=np.int32)  # the sample whose neighbourhood was marked last
    slot_of = np.full(starts.size, -1)
    room = 1024
    first, second = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    weight, level = np.empty(room), np.empty(room)
    count = 0
    for position in range(begin, end):
        floor = count
        for sample in members[starts[position] : starts[position + 1]]:
            own = labels[sample]
            for rank in range(k):
                other = indices[sample, rank]
                if labels[other] == own:
                    continue
                mutual = is_within(distances[sample, rank], sample, distances[other, k - 1], indices[other, k - 1])
                if mutual and labels[other] < own:
                    continue  # added up on the other side
                amount = link_weight(shared_neighbors(sample, other, indices, around) / (k + 1), mutual)
                slot = slot_of[labels[other]]
                if slot < floor or second[slot] != labels[other]:
                    if count == room:
                        room *= 2
                        first, second = _longer(first, room), _longer(second, room)
                        weight, level = _longer(weight, room), _longer(level, room)
                    slot = count
                    slot_of[labels[other]] = slot
                    first[slot], second[slot], weight[slot], level[slot] = own, labels[other], 0.0, 0.0
                    count += 1
                weight[slot] += amount
                level[slot] += amount * min(log_density[sample], log_density[other])
    return Links(first[:count].copy(), second[:count].copy(), weight[:count].copy(), level[:count].copy())


@kernel
def shared_neighbors(sample, other, indices, around):
    """Count what the neighbourhoods of two samples share, each with the sample itself; `other` is near `sample`."""
    if around[sample] != sample:
        around[sample] = sample
        for near in indices[sample]:
            around[near] = sample
    shared = 1  # `other` itself
    for near in indices[other]:
        shared += around[near] == sample
    return shared


@kernel
def _longer(array, room):
    longer = np.empty(room, dtype=array.dtype)
    longer[: array.size] = array
    return longer


def _both_ways(links: Links) -> Links:
    """Add up what goes from i to j and from j to i; give each pair once, i < j."""
    lower, upper = np.minimum(links.first, links.second), np.maximum(links.first, links.second)
    order = np.lexsort((links.first > links.second, upper, lower))
    lower, upper = lower[order], upper[order]
    starts = np.flatnonzero(np.append(True, (np.diff(lower) != 0) | (np.diff(upper) != 0))) if lower.size else order
    return Links(
        lower[starts],
        upper[starts],
        np.add.reduceat(links.weight[order], starts) if lower.size else links.weight,
        np.add.reduceat(links.level[order], starts) if lower.size else links.level,
    )
