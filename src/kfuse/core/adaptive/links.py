"""The graph of shared neighbours between sub-clusters: which ones touch, how much, and at which density.

Two samples are linked if one is in the other's neighbourhood. The link's weight is the squared share that their
neighbourhoods have in common, of the smaller of the two, where a sample counts as its own neighbour; and half of that
if only one has the other as a neighbour. A link inside a cluster shares most neighbours, one across a gap few. Its
level is the log-density of its sparser end. Places of weight w count as w samples: their link counts sqrt(w w') times.

Links are added up as they are found, sub-cluster by sub-cluster, and never held one by one. A component that no link
connects to the others gets a bridge: `bridges.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import inner_kernel, kernel
from kfuse.core.order import is_within, members_of
from kfuse.core.search import Nearest

NONE = -1
SAMPLES_PER_PART = 2**15  # whose distances are computed at a time
SAMPLES_LINKED = 2**13  # whose links one thread adds up at a time, ...
MOST_PARTS = 256  # ... or more of them, so that there are not too many parts to join


class Links(NamedTuple):
    """The links between sub-clusters, each pair at most once."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]
    level: NDArray[np.float64]  # the log-density along the link, times the weight, so that it adds up
    gap: NDArray[np.float64]  # (n_links, n_scales): how far one must see to cross, see `valleys`


class Ends(NamedTuple):
    """What links take from the places that they connect."""

    labels: NDArray[np.intp]  # the sub-cluster
    log_density: NDArray[np.float64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int32]  # the size of the neighbourhood
    radius: NDArray[np.float64]  # of the neighbourhood: the distance of its last member
    radii: NDArray[np.float64]  # (n_places, n_scales): the distance to the M-th neighbour

    @property
    def root_weights(self) -> NDArray[np.float64]:
        """The square roots of the weights, which are the weights themselves if all are 1."""
        return self.weights if (self.weights == 1.0).all() else np.sqrt(self.weights)


class NeighborLists(NamedTuple):
    """The neighbourhood of each sample, and its last member once more, where it is quickly found."""

    counts: NDArray[np.int32]  # how many of the neighbours below are in the neighbourhood
    indices: NDArray[np.int32]
    farthest_indices: NDArray[np.int32]
    farthest_distances: NDArray[np.float64]
    radii: NDArray[np.float64]  # (n_samples, n_scales): the distance to the M-th neighbour
    root_weights: NDArray[np.float64]  # the square root of the weight of each place


class Marks(NamedTuple):
    """What a thread notes while it adds up links; it serves for one range of sub-clusters after the other."""

    around: NDArray[np.int32]  # for each place, the sample that it was last a neighbour of
    link_to: NDArray[np.intp]  # for each sub-cluster, the last link to it in this range
    others: NDArray[np.int64]  # the samples to link a sample with, and ...
    lengths: NDArray[np.float64]  # ... how far away they are

    @classmethod
    def blank(cls, n_places: int, n_subclusters: int, k: int) -> Marks:
        """Return marks without a note."""
        around, link_to = np.full(n_places, NONE, np.int32), np.full(n_subclusters, NONE)
        return cls(around, link_to, np.empty(k + 1, np.int64), np.empty(k + 1))


def radius_of(distances: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the distance of the last member of each neighbourhood."""
    if distances.shape[1] == 0:  # one place
        return np.zeros(counts.size)
    return np.asarray(distances[np.arange(counts.size), counts - 1])


def radii_of_neighborhoods(
    nearest: Nearest, farthest: NDArray[np.float64], counts: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the distance of the last member of each neighbourhood; `farthest` are those of the k-th neighbours."""
    radius, ended = farthest.copy(), np.flatnonzero(counts < nearest.indices.shape[1])
    for start in range(0, ended.size, SAMPLES_PER_PART):
        rows = ended[start : start + SAMPLES_PER_PART]
        radius[rows] = radius_of(nearest.distances_of(rows), counts[rows])
    return radius


def links_between(nearest: Nearest, ends: Ends, execution: Execution = SERIAL) -> Links:
    """Sum up the links between each two sub-clusters."""
    return both_ways(links_one_way(nearest, ends, execution))


def links_one_way(nearest: Nearest, ends: Ends, execution: Execution = SERIAL) -> list[Links]:
    """Sum up the links that go out from the sub-clusters, a range of these at a time.

    These are all that is needed of the neighbours, whose memory can be freed before the links are joined.
    """
    if nearest.indices.shape[1] == 0:  # one place
        return [_link_buffers(0, ends.radii.shape[1])]
    members, starts = members_of(ends.labels)
    n_places = ends.labels.size
    farthest = nearest.indices[np.arange(n_places), ends.counts - 1], ends.radius
    lists = NeighborLists(ends.counts, nearest.indices, *farthest, ends.radii, ends.root_weights)

    spare: list[Marks] = []

    def add_up(start: int, stop: int) -> Links:
        begin, end = np.searchsorted(starts[:-1], [start, stop])
        lengths = nearest.distances_of(members[starts[begin] : starts[end]])
        try:
            marks = spare.pop()
        except IndexError:  # one thread for each
            marks = Marks.blank(n_places, starts.size, lists.indices.shape[1])
        found = links_from(members, starts, begin, end, lists, lengths, ends.labels, ends.log_density, marks)
        spare.append(marks)
        return found

    return execution.over_ranges(add_up, n_places, max(SAMPLES_LINKED, n_places // MOST_PARTS))


def links_from(
    members: NDArray[np.int32],
    starts: NDArray[np.int64],
    begin: int,
    end: int,
    lists: NeighborLists,
    lengths: NDArray[np.float64],
    labels: NDArray[np.intp],
    log_density: NDArray[np.float64],
    marks: Marks,
) -> Links:
    """Sum up the links that go out from a range of sub-clusters; `members` and `starts` are as `members_of` has them.

    The lists need to be complete for these members, and for their neighbours; `lengths` are the distances from these
    members, one row each, to their neighbours.
    """
    k, n_scales = lists.indices.shape[1], lists.radii.shape[1]
    links = _link_buffers(int(starts[end] - starts[begin]) * k, n_scales)
    marks.link_to.fill(NONE)  # numbers of links begin again
    count = add_up_links(members, starts, begin, end, lists, lengths, labels, log_density, links, marks)
    return Links(*(column[:count].copy() for column in links))


def _link_buffers(count: int, n_scales: int) -> Links:
    """Return buffers that take memory only where they are written."""
    ends = np.empty(count, np.int32), np.empty(count, np.int32)
    return Links(*ends, np.empty(count), np.empty(count), np.empty((count, n_scales)))


@kernel
def add_up_links(members, starts, begin, end, lists, distances, labels, log_density, links, marks):
    """Add up the links that go out from a range of sub-clusters, each pair of samples on one side only."""
    around, link_to, others, lengths = marks
    count = 0
    for own in range(begin, end):
        floor = count
        for member in range(starts[own], starts[own + 1]):
            sample = members[member]
            n_others = list_links(sample, lists, distances[member - starts[begin]], labels, others, lengths)
            if n_others > 0:
                mark_neighborhood(sample, lists, around)
            for position in range(n_others):
                other, is_mutual = others[position] >> 1, (others[position] & 1) == 1
                shared = shared_neighbors(sample, other, lists, around)
                n_around = min(lists.counts[sample], lists.counts[other]) + 1
                root_weight = lists.root_weights[sample] * lists.root_weights[other]
                amount = link_weight(shared / n_around, is_mutual) * root_weight
                there = labels[other]
                link = link_to[there]
                if link < floor:
                    link = link_to[there] = count
                    links.first[link], links.second[link], links.weight[link], links.level[link] = own, there, 0.0, 0.0
                    links.gap[link] = np.inf
                    count += 1
                links.weight[link] += amount
                links.level[link] += amount * min(log_density[sample], log_density[other])
                narrow_gap(links.gap[link], lists.radii[sample], lists.radii[other], lengths[position])
    return count


@inner_kernel
def narrow_gap(gap, radii, other_radii, length):
    """Take a link between two samples into account: at each scale, the shortest way across counts."""
    for scale in range(gap.size):
        gap[scale] = min(gap[scale], max(length, radii[scale], other_radii[scale]))


@kernel
def list_links(sample, lists, distances, labels, others, lengths):
    """List the samples to link a sample with, as 2 * sample + (1 if each is a neighbour of the other), and count them.

    They are its neighbours in other sub-clusters, but for those that list the sample themselves.
    """
    counts, indices, farthest_indices, farthest_distances = lists[:4]
    own, count = labels[sample], 0
    for rank in range(counts[sample]):
        other = indices[sample, rank]
        is_mutual = is_within(distances[rank], sample, farthest_distances[other], farthest_indices[other])
        # Without a branch, which would often be mispredicted: what is not counted is overwritten.
        others[count], lengths[count] = 2 * other + is_mutual, distances[rank]
        count += (labels[other] > own) | ((labels[other] < own) & (not is_mutual))
    return count


@inner_kernel
def link_weight(share, is_mutual):
    """Return the weight of a link, given the share of neighbours that its ends have in common."""
    return share * share if is_mutual else share * share / 2.0


@inner_kernel
def mark_neighborhood(sample, lists, around):
    """Mark a sample and its neighbours."""
    around[sample] = sample
    for rank in range(lists.counts[sample]):
        around[lists.indices[sample, rank]] = sample


@inner_kernel
def shared_neighbors(sample, other, lists, around):
    """Count what the neighbourhoods of two samples share, each with the sample itself; `other` is near `sample`."""
    shared = 1  # `other` itself
    for rank in range(lists.counts[other]):
        shared += around[np.uint32(lists.indices[other, rank])] == sample
    return shared


def both_ways(found: list[Links]) -> Links:
    """Add up what goes from i to j and from j to i; give each pair once, i < j.

    `found` are the links that go out from successive ranges of sub-clusters; it is emptied, to free their memory.
    """
    columns = list(zip(*found, strict=True))
    found.clear()
    links = Links(*(np.concatenate(columns.pop(0)) for _ in range(len(columns))))  # each is freed when it is joined
    lower, upper = np.minimum(links.first, links.second), np.maximum(links.first, links.second)
    by_upper = members_of(upper.astype(np.intp))[0]
    order = by_upper[members_of(lower[by_upper].astype(np.intp))[0]]  # what goes out from i stays first
    added = _link_buffers(order.size, links.gap.shape[1])
    n_pairs: int = add_up_both_ways(links, order, added)
    first, second, weight, level, gap = added
    return Links(first[:n_pairs], second[:n_pairs], weight[:n_pairs], level[:n_pairs], gap[:n_pairs])


@kernel
def add_up_both_ways(links, order, added):
    """Add up links of the same pair of sub-clusters, which follow each other in `order`; return how many pairs."""
    count = 0
    for link in order:
        lower, upper = min(links.first[link], links.second[link]), max(links.first[link], links.second[link])
        if count == 0 or lower != added.first[count - 1] or upper != added.second[count - 1]:
            added.first[count], added.second[count] = lower, upper
            added.weight[count], added.level[count] = 0.0, 0.0
            added.gap[count] = np.inf
            count += 1
        added.weight[count - 1] += links.weight[link]
        added.level[count - 1] += links.level[link]
        for scale in range(links.gap.shape[1]):
            added.gap[count - 1, scale] = min(added.gap[count - 1, scale], links.gap[link, scale])
    return count
