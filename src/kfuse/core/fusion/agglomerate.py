"""Fusing the nodes of a weighted graph, best pair first, each index taken anew after every fusion.

The graph is a list of links, each threaded into the lists of both its ends. When b fuses into a, b's links move to a;
a link to a node that a has a link to already is added to that one. A heap with one place per link has the best on top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.fusion.index import log_fusion_index

NONE = -1


class Links(NamedTuple):
    """The links of a graph, each pair of nodes at most once."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]
    level: NDArray[np.float64]  # the log-density along the link, times the weight, so that it adds up


class Nodes(NamedTuple):
    """What the index needs to know of each node."""

    size: NDArray[np.float64]
    log_density: NDArray[np.float64]  # the sum over its samples


class Graph(NamedTuple):
    """The graph while it fuses: a fused node keeps the smaller number."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]
    level: NDArray[np.float64]
    size: NDArray[np.float64]
    log_density: NDArray[np.float64]
    head: NDArray[np.int64]  # of each node's list; an entry is 2 * link + (0 for its first end, 1 for its second)
    following: NDArray[np.int64]  # the entry after this one
    known: NDArray[np.int64]  # the fusing node's link to each other node, NONE in between


class Queue(NamedTuple):
    """The links by falling index; ties by the smaller pair of nodes."""

    value: NDArray[np.float64]
    heap: NDArray[np.int64]
    place: NDArray[np.int64]  # of each link in the heap, NONE once it is gone


@kernel
def agglomerate(links, nodes):
    """Fuse the nodes of a connected graph until one is left.

    Gives the two nodes of each fusion, where a fused node keeps the smaller number, and the log of the index.
    """
    graph, queue = thread_links(links, nodes), queue_of(links.first.size)
    n_fusions, n_left = nodes.size.size - 1, links.first.size
    for link in range(n_left):
        queue.value[link] = value_of(graph, link)
    for slot in range(n_left // 2 - 1, -1, -1):
        sift_down(graph, queue, slot, n_left)

    fused = np.empty((n_fusions, 2), dtype=np.intp)
    log_index = np.empty(n_fusions)
    for fusion in range(n_fusions):
        best = queue.heap[0]
        a = min(graph.first[best], graph.second[best])
        b = max(graph.first[best], graph.second[best])
        fused[fusion, 0], fused[fusion, 1] = a, b
        log_index[fusion] = queue.value[best]
        n_left = remove(graph, queue, best, n_left)
        graph.size[a] += graph.size[b]
        graph.log_density[a] += graph.log_density[b]
        n_left = take_over(graph, queue, a, b, n_left)
        take_anew(graph, queue, a, n_left)
    return fused, log_index


@kernel
def thread_links(links, nodes):
    """Put each link into the lists of both its ends."""
    n_nodes, n_links = nodes.size.size, links.first.size
    head = np.full(n_nodes, NONE)
    following = np.full(2 * n_links, NONE)
    for link in range(n_links):
        thread(2 * link, links.first[link], head, following)
        thread(2 * link + 1, links.second[link], head, following)
    return Graph(
        links.first.copy(),
        links.second.copy(),
        links.weight.copy(),
        links.level.copy(),
        nodes.size.copy(),
        nodes.log_density.copy(),
        head,
        following,
        np.full(n_nodes, NONE),
    )


@kernel
def thread(entry, node, head, following):
    """Put an entry at the front of a node's list."""
    following[entry] = head[node]
    head[node] = entry


@kernel
def take_over(graph, queue, a, b, n_left):
    """Move b's links to a, adding up those to a common neighbour; return how many links are left."""
    entry = graph.head[a]
    while entry != NONE:
        if queue.place[entry // 2] != NONE:
            graph.known[other_end(graph, entry)] = entry // 2
        entry = graph.following[entry]
    entry = graph.head[b]
    while entry != NONE:
        after, link = graph.following[entry], entry // 2
        if queue.place[link] != NONE:
            common = graph.known[other_end(graph, entry)]
            if common != NONE:
                graph.weight[common] += graph.weight[link]
                graph.level[common] += graph.level[link]
                n_left = remove(graph, queue, link, n_left)
            else:
                ends = graph.first if entry % 2 == 0 else graph.second
                ends[link] = a
                thread(entry, a, graph.head, graph.following)
        entry = after
    return n_left


@kernel
def take_anew(graph, queue, a, n_left):
    """Take the index of each of a's links anew, and drop the links that are gone from its list."""
    entry, before = graph.head[a], NONE
    while entry != NONE:
        after, link = graph.following[entry], entry // 2
        if queue.place[link] != NONE:
            graph.known[other_end(graph, entry)] = NONE
            queue.value[link] = value_of(graph, link)
            sift_up(graph, queue, queue.place[link])
            sift_down(graph, queue, queue.place[link], n_left)
            before = entry
        elif before == NONE:
            graph.head[a] = after
        else:
            graph.following[before] = after
        entry = after


@kernel
def other_end(graph, entry):
    """The node at the far end of an entry's link."""
    return graph.second[entry // 2] if entry % 2 == 0 else graph.first[entry // 2]


@kernel
def value_of(graph, link):
    """The logarithm of the index of a link's two nodes."""
    a, b = graph.first[link], graph.second[link]
    return log_fusion_index(
        graph.weight[link],
        graph.level[link] / graph.weight[link],
        graph.size[a],
        graph.size[b],
        graph.log_density[a] / graph.size[a],
        graph.log_density[b] / graph.size[b],
    )


@kernel
def queue_of(n_links):
    """An unordered queue of all links."""
    return Queue(np.empty(n_links), np.arange(n_links), np.arange(n_links))


@kernel
def precedes(graph, queue, link, other):
    """Whether a link fuses before another: the larger index, then the smaller pair of nodes."""
    if queue.value[link] != queue.value[other]:
        return queue.value[link] > queue.value[other]
    low, high = min(graph.first[link], graph.second[link]), max(graph.first[link], graph.second[link])
    other_low, other_high = min(graph.first[other], graph.second[other]), max(graph.first[other], graph.second[other])
    return low < other_low or (low == other_low and high < other_high)


@kernel
def sift_up(graph, queue, slot):
    """Let the link at a slot rise to its place."""
    link = queue.heap[slot]
    while slot > 0:
        above = (slot - 1) // 2
        if not precedes(graph, queue, link, queue.heap[above]):
            break
        queue.heap[slot] = queue.heap[above]
        queue.place[queue.heap[slot]] = slot
        slot = above
    queue.heap[slot] = link
    queue.place[link] = slot


@kernel
def sift_down(graph, queue, slot, n_left):
    """Let the link at a slot sink to its place."""
    link = queue.heap[slot]
    while True:
        below = 2 * slot + 1
        if below >= n_left:
            break
        if below + 1 < n_left and precedes(graph, queue, queue.heap[below + 1], queue.heap[below]):
            below += 1
        if not precedes(graph, queue, queue.heap[below], link):
            break
        queue.heap[slot] = queue.heap[below]
        queue.place[queue.heap[slot]] = slot
        slot = below
    queue.heap[slot] = link
    queue.place[link] = slot


@kernel
def remove(graph, queue, link, n_left):
    """Take a link out of the queue; return how many are left."""
    slot, last = queue.place[link], queue.heap[n_left - 1]
    queue.place[link] = NONE
    if last != link:
        queue.heap[slot] = last
        queue.place[last] = slot
        sift_up(graph, queue, slot)
        sift_down(graph, queue, queue.place[last], n_left - 1)
    return n_left - 1
