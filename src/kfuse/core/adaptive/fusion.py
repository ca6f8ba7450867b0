"""Merging the nodes of a weighted graph, best pair first, with the indices updated after every merge (Algorithm 3).

The graph is a list of links, each threaded into the linked lists of both its ends. When b merges into a, b's links move
to a; a link to a node that a is linked to already is added to that link. A heap with one slot per link has the pair
with the largest fusion index on top.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.links import NONE, Links
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import inner_kernel, kernel, records
from kfuse.core.order import merges_before

MERGES_AT_A_TIME = 2**15  # before a keyboard interrupt is handled


class Nodes(NamedTuple):
    """What the fusion index needs to know of each node."""

    size: NDArray[np.float64]
    log_density: NDArray[np.float64]  # the sum over its samples


class Merges(NamedTuple):
    """All merges in the order in which they happen, one entry each."""

    log_index: NDArray[np.float64]  # the logarithm of the fusion index
    lowest_index: NDArray[np.float64]  # the smallest of this and of those of all merges inside the two
    log_weight: NDArray[np.float64]  # the logarithm of the weight of the links between the two
    level: NDArray[np.float64]  # the mean log-density along these links
    size: NDArray[np.float64]  # (n_merges, 2): how many samples the two have
    density: NDArray[np.float64]  # (n_merges, 2): their mean log-densities
    edge: NDArray[np.intp]  # (n_merges, 2): the leaves across with the largest index before any merge


@inner_kernel
def log_fusion_index(log_weight, level, log_size, other_log_size, log_density, other_log_density):
    """Return the logarithm of FI = W / (min(n_i, n_j) sqrt(max(n_i, n_j))) x rho_b / sqrt(rho_i rho_j).

    The first factor is boundary connectivity (Eq. 5), with the weight W of the links across in place of the adjacent
    samples. The second is density similarity (Eq. 6), with the density rho_b along these links: it is small if the
    boundary is sparser than the two sides, that is, if a valley lies between them.
    """
    connectivity = log_weight - min(log_size, other_log_size) - 0.5 * max(log_size, other_log_size)
    return connectivity + level - (log_density + other_log_density) / 2.0


# The fields of a link share one cache line, and so do those of a node: merging jumps around in memory, and each cache
# miss costs as much as a hundred additions.
LINK = np.dtype(
    [
        ("ends", np.int32, (2,)),  # the nodes that it connects
        ("following", np.int32, (2,)),  # the entry after it in the list of each end
        ("slot", np.int64),  # in the queue, NONE once it is removed
        ("weight", np.float64),
        ("level", np.float64),
        ("log_weight", np.float64),
        ("edge", np.int32, (2,)),  # of the links between leaves that it sums up, the one with the largest index ...
        ("edge_index", np.float64),  # ... and that index, before any merge
    ]
)
NODE = np.dtype(
    [
        ("n_samples", np.float64),
        ("log_density", np.float64),  # the sum over its samples
        ("log_size", np.float64),
        ("mean_log_density", np.float64),
        ("head", np.int32),  # of the list of its links: an entry is 2 * link + (0 for its first end, 1 for its second)
        ("known", np.int32),  # the merging node's link to this one, NONE in between
        ("lowest_index", np.float64),  # of all merges inside
    ]
)
QUEUED = np.dtype([("value", np.float64), ("link", np.int64)])


class Graph(NamedTuple):
    """The graph while it merges, and its links by decreasing index; a merged node keeps the smaller number."""

    links: NDArray[np.void]
    nodes: NDArray[np.void]
    queue: NDArray[np.void]  # a heap with four children per slot; ties by the smaller pair of nodes


def agglomerate(links: Links, nodes: Nodes, execution: Execution = SERIAL) -> Merges:
    """Merge the nodes of a connected graph until one is left."""
    n_links, n_nodes = links.first.size, nodes.size.size
    graph = Graph(records(n_links, LINK), records(n_nodes, NODE), records(n_links, QUEUED))
    fill(graph, links, nodes)
    n_merges, n_left = n_nodes - 1, n_links
    merges = Merges(
        log_index=np.empty(n_merges),
        lowest_index=np.empty(n_merges),
        log_weight=np.empty(n_merges),
        level=np.empty(n_merges),
        size=np.empty((n_merges, 2)),
        density=np.empty((n_merges, 2)),
        edge=np.empty((n_merges, 2), dtype=np.intp),
    )
    for begin in range(0, n_merges, MERGES_AT_A_TIME):
        end = min(begin + MERGES_AT_A_TIME, n_merges)
        n_left = merge_best(graph, n_left, begin, end, merges)
        execution.progress.advance(end, n_merges, "merges")
    return merges


@kernel
def fill(graph, links, nodes):
    """Put each link into the lists of both its ends, and all into the queue."""
    for i in range(nodes.size.size):
        node = graph.nodes[i]
        node.n_samples, node.log_density = nodes.size[i], nodes.log_density[i]
        node.head = node.known = NONE
        node.lowest_index = np.inf
        note_node(node)
    for i in range(links.first.size):
        link = graph.links[i]
        link.ends[0], link.ends[1] = links.first[i], links.second[i]
        link.weight, link.level = links.weight[i], links.level[i]
        note_link(link)
        thread(graph, 2 * i, link.ends[0])
        thread(graph, 2 * i + 1, link.ends[1])
        link.edge[0], link.edge[1], link.edge_index = link.ends[0], link.ends[1], value_of(graph, link)
        put(graph, i, i, link.edge_index)
    for slot in range(links.first.size - 1, -1, -1):
        sink(graph, slot, graph.queue[slot].link, graph.queue[slot].value, links.first.size)


@kernel
def merge_best(graph, n_left, begin, end, merges):
    """Merge the best pair, from merge `begin` to merge `end`; return how many links are left."""
    for merge in range(begin, end):
        best = graph.queue[0].link
        ends = graph.links[best].ends
        a, b = min(ends[0], ends[1]), max(ends[0], ends[1])
        record(graph, best, a, b, merge, merges)
        n_left = remove(graph, best, n_left)
        node, other = graph.nodes[a], graph.nodes[b]
        node.n_samples += other.n_samples
        node.log_density += other.log_density
        node.lowest_index = merges.lowest_index[merge]
        note_node(node)
        n_left = take_over(graph, a, b, n_left)
        update_indices(graph, a, n_left)
    return n_left


@inner_kernel
def record(graph, best, a, b, merge, merges):
    """Record what is merged, before it is."""
    link, log_index = graph.links[best], graph.queue[0].value
    merges.log_index[merge], merges.log_weight[merge] = log_index, link.log_weight
    merges.lowest_index[merge] = min(log_index, graph.nodes[a].lowest_index, graph.nodes[b].lowest_index)
    merges.level[merge] = link.level / link.weight
    merges.edge[merge, 0], merges.edge[merge, 1] = link.edge[0], link.edge[1]
    merges.size[merge, 0], merges.size[merge, 1] = graph.nodes[a].n_samples, graph.nodes[b].n_samples
    merges.density[merge, 0] = graph.nodes[a].mean_log_density
    merges.density[merge, 1] = graph.nodes[b].mean_log_density


@inner_kernel
def note_node(node):
    """Compute what the index needs from a node's sums."""
    node.log_size = math.log(node.n_samples)
    node.mean_log_density = node.log_density / node.n_samples


@inner_kernel
def note_link(link):
    """Compute what the index needs from a link's sums."""
    link.log_weight = math.log(link.weight)


@inner_kernel
def thread(graph, entry, node):
    """Put an entry at the front of a node's list."""
    graph.links[entry >> 1].following[entry & 1] = graph.nodes[node].head
    graph.nodes[node].head = entry


@kernel
def take_over(graph, a, b, n_left):
    """Move b's links to a, adding up those to a common neighbour; return how many links are left."""
    entry = graph.nodes[a].head
    while entry != NONE:
        link = graph.links[entry >> 1]
        if link.slot != NONE:
            graph.nodes[link.ends[1 - (entry & 1)]].known = entry >> 1
        entry = link.following[entry & 1]
    entry = graph.nodes[b].head
    while entry != NONE:
        link = graph.links[entry >> 1]
        after = link.following[entry & 1]
        if link.slot != NONE:
            known = graph.nodes[link.ends[1 - (entry & 1)]].known
            if known != NONE:
                common = graph.links[known]
                common.weight += link.weight
                common.level += link.level
                note_link(common)
                keep_better_edge(common, link)
                n_left = remove(graph, entry >> 1, n_left)
            else:
                link.ends[entry & 1] = a
                thread(graph, entry, a)
        entry = after
    return n_left


@inner_kernel
def keep_better_edge(link, other):
    """Keep the edge that would merge first of two links that are added up."""
    if merges_before(other.edge_index, other.edge[0], other.edge[1], link.edge_index, link.edge[0], link.edge[1]):
        link.edge[0], link.edge[1], link.edge_index = other.edge[0], other.edge[1], other.edge_index


@kernel
def update_indices(graph, a, n_left):
    """Update the index of each of a's links, and drop removed links from its list."""
    entry, before = graph.nodes[a].head, NONE
    while entry != NONE:
        link = graph.links[entry >> 1]
        after = link.following[entry & 1]
        if link.slot != NONE:
            graph.nodes[link.ends[1 - (entry & 1)]].known = NONE
            settle(graph, link.slot, entry >> 1, value_of(graph, link), n_left)
            before = entry
        elif before == NONE:
            graph.nodes[a].head = after
        else:
            graph.links[before >> 1].following[before & 1] = after
        entry = after


@inner_kernel
def value_of(graph, link):
    """Return the logarithm of the fusion index of a link's two nodes."""
    a, b = graph.nodes[link.ends[0]], graph.nodes[link.ends[1]]
    return log_fusion_index(
        link.log_weight, link.level / link.weight, a.log_size, b.log_size, a.mean_log_density, b.mean_log_density
    )


@kernel
def precedes(graph, value, link, other_value, other):
    """Return whether a link merges before another."""
    if value != other_value:  # decided without loading the links, which are seldom in the cache
        return value > other_value
    ends, other_ends = graph.links[link].ends, graph.links[other].ends
    return merges_before(value, ends[0], ends[1], other_value, other_ends[0], other_ends[1])


@inner_kernel
def put(graph, slot, link, value):
    """Put a link into a slot of the queue."""
    graph.queue[slot].link = link
    graph.queue[slot].value = value
    graph.links[link].slot = slot


@kernel
def settle(graph, slot, link, value, n_left):
    """Let a link with a new value rise or sink from a slot to its place."""
    while slot > 0:
        above = graph.queue[(slot - 1) >> 2]
        if not precedes(graph, value, link, above.value, above.link):
            break
        put(graph, slot, above.link, above.value)
        slot = (slot - 1) >> 2
    sink(graph, slot, link, value, n_left)


@kernel
def sink(graph, slot, link, value, n_left):
    """Let a link sink from a slot to its place."""
    while 4 * slot + 1 < n_left:
        best = 4 * slot + 1
        for below in range(best + 1, min(best + 4, n_left)):
            if precedes(
                graph,
                graph.queue[below].value,
                graph.queue[below].link,
                graph.queue[best].value,
                graph.queue[best].link,
            ):
                best = below
        if not precedes(graph, graph.queue[best].value, graph.queue[best].link, value, link):
            break
        put(graph, slot, graph.queue[best].link, graph.queue[best].value)
        slot = best
    put(graph, slot, link, value)


@kernel
def remove(graph, link, n_left):
    """Take a link out of the queue; return how many are left."""
    slot, last = graph.links[link].slot, graph.queue[n_left - 1]
    graph.links[link].slot = NONE
    if last.link != link:
        settle(graph, slot, last.link, last.value, n_left - 1)
    return n_left - 1
