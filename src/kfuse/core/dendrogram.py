"""The structure of a binary merge tree, numbered as in scipy.

Leaves are 0 to n_leaves - 1; merge t makes node n_leaves + t out of its two children. Merges come in the order in which
they happen, so a child always has a smaller number than its parent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.order import find


def nodes_of_merges(i: NDArray[np.intp], j: NDArray[np.intp]) -> NDArray[np.intp]:
    """Find the two nodes that each merge joins, given a leaf of either."""
    children = np.empty((i.size, 2), dtype=np.intp)
    join_pairs(i, j, np.arange(2 * i.size + 1), children)
    return children


def sizes_of_nodes(children: NDArray[np.intp], leaf_sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Sum up the sizes of all nodes from those of the leaves."""
    sizes = np.append(leaf_sizes, np.zeros(len(children), dtype=np.intp))
    add_up(children, leaf_sizes.size, sizes)
    return sizes


def nodes_after_merges(children: NDArray[np.intp], n_leaves: int) -> NDArray[np.intp]:
    """Find the node that holds each leaf after some merges."""
    holder = np.arange(n_leaves + len(children))
    hand_down(children, n_leaves, holder)
    return holder[:n_leaves]


@kernel
def join_pairs(i, j, parents, children):
    """Join the sets of two leaves, pair after pair, in a node of their own."""
    n_leaves = i.size + 1
    for merge in range(n_leaves - 1):
        a, b = find(parents, i[merge]), find(parents, j[merge])
        children[merge, 0], children[merge, 1] = min(a, b), max(a, b)
        parents[a] = parents[b] = n_leaves + merge


@kernel
def add_up(children, n_leaves, sizes):
    """Set the size of each merged node to the sum of its children's."""
    for merge in range(len(children)):
        sizes[n_leaves + merge] = sizes[children[merge, 0]] + sizes[children[merge, 1]]


@kernel
def hand_down(children, n_leaves, holder):
    """Pass the holder of each merged node down to its children."""
    for merge in range(len(children) - 1, -1, -1):
        for child in children[merge]:
            holder[child] = holder[n_leaves + merge]
