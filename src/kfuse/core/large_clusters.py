"""Cuts of a tree into clusters of a least size.

The merges are undone from the highest on, as in any cut, but only those with a large enough part on both sides. A
smaller part stays with the leaf that its edge links it to, and counts towards the size of what that leaf is in; or it
is dropped. Leaves are numbered so that those of every node are consecutive: then a Fenwick tree adds up what stays with
the leaves of a node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kfuse.core.kernels import kernel

KEPT, UNDONE, DROPS = 0, 1, 2  # what becomes of a merge; one that drops a part is undone, too


def cut_large(
    children: NDArray[np.intp],
    edges: NDArray[np.intp],
    sizes: NDArray[np.intp],
    least_size: int,
    most_clusters: int,
    *,
    lowest: int = 0,
    drops: bool = False,
) -> NDArray[np.intp]:
    """Return a number for each leaf, the same for those of one cluster; it is -1 for those of dropped parts.

    The cut has at most `most_clusters`, and undoes no merge before the merge `lowest`. `sizes` are those of all nodes.
    """
    n_leaves = len(children) + 1
    start, stop = np.zeros((2, 2 * n_leaves - 1), dtype=np.intp)
    number_leaves(children, sizes.size, start, stop)
    fate, small = np.zeros(len(children), dtype=np.int8), np.zeros(len(children), dtype=np.intp)
    room = np.zeros(n_leaves + 1, dtype=np.intp)
    decide(children, edges, sizes, start, stop, least_size, most_clusters, lowest, drops, room, fate, small)
    together = edges[fate == KEPT]
    links = coo_array((np.ones(len(together), dtype=np.int8), tuple(together.T)), (n_leaves, n_leaves))
    labels = connected_components(links, directed=False)[1].astype(np.intp)
    return np.where(np.isin(labels, labels[small[fate == DROPS]]), -1, labels)


@kernel
def number_leaves(children, n_nodes, start, stop):
    """Give numbers to the leaves, so that those of a node are start[node] to stop[node] - 1."""
    n_leaves = len(children) + 1
    for leaf in range(n_leaves):
        stop[leaf] = 1  # for now, how many leaves a node has
    for merge in range(n_leaves - 1):
        stop[n_leaves + merge] = stop[children[merge, 0]] + stop[children[merge, 1]]
    for node in range(n_nodes - 1, n_leaves - 1, -1):
        first, second = children[node - n_leaves]
        start[first], start[second] = start[node], start[node] + stop[first]
        stop[node] += start[node]
    for leaf in range(n_leaves):
        stop[leaf] = start[leaf] + 1


@kernel
def decide(children, edges, sizes, start, stop, least_size, most_clusters, lowest, drops, room, fate, small):
    """Decide what becomes of each merge, the highest first; `small` is the leaf at whose side a part is dropped."""
    n_leaves, n_clusters, last = len(children) + 1, 1, len(children)
    for merge in range(len(children) - 1, lowest - 1, -1):
        if n_clusters == most_clusters:
            break
        first, second = children[merge]
        size = sizes[first] + added(room, start[first], stop[first])
        other_size = sizes[second] + added(room, start[second], stop[second])
        if min(size, other_size) >= least_size:
            fate[merge], last = UNDONE, merge
            n_clusters += 1
        elif max(size, other_size) >= least_size:
            lesser = first if size < other_size else second
            ends = edges[merge]
            is_first_end = start[lesser] <= start[ends[0]] < stop[lesser]
            if drops:
                fate[merge], small[merge] = DROPS, ends[0] if is_first_end else ends[1]
            else:
                add(room, start[ends[1] if is_first_end else ends[0]], min(size, other_size))
    if n_clusters < most_clusters and lowest > 0:
        last = lowest
    for merge in range(min(last, n_leaves - 1)):
        fate[merge] = KEPT


@kernel
def add(room, position, amount):
    """Leave an amount at a leaf."""
    position += 1
    while position < room.size:
        room[position] += amount
        position += position & -position


@kernel
def added(room, start, stop):
    """Add up what was left at a range of leaves."""
    total = 0
    while stop > start:
        total += room[stop]
        stop -= stop & -stop
    while start > stop:
        total -= room[start]
        start -= start & -start
    return total
