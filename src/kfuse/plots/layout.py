"""Where the branches of the fusion tree stand in a dendrogram that a reader can take in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kfuse.core.tree import FusionTree


class Branches(NamedTuple):
    """The top of a fusion tree, with the fusions below folded into its leaves.

    Nodes are numbered as in the tree: the leaves first, by their number in the whole tree, then one per fusion.
    """

    children: NDArray[np.intp]  # (n_leaves - 1, 2)
    height: NDArray[np.float64]  # of each node; a folded leaf has the height of its last fusion
    place: NDArray[np.float64]  # of each node from left to right, leaves at 0, 1, ...
    sizes: NDArray[np.intp]  # samples in each node
    nodes: NDArray[np.intp]  # the number of each node in the whole tree

    @property
    def n_leaves(self) -> int:
        """The number of leaves after folding."""
        return len(self.children) + 1


def branches(tree: FusionTree, most_leaves: int) -> Branches:
    """Fold the tree to its last fusions and lay them out, the larger branch to the left."""
    n_leaves = max(1, min(tree.n_leaves, most_leaves))
    first = tree.n_leaves - n_leaves  # the first fusion to show
    whole = tree.children[first:]
    fused = np.arange(tree.n_leaves + first, 2 * tree.n_leaves - 1)
    leaves = np.setdiff1d(whole, fused) if len(whole) else np.array([2 * tree.n_leaves - 2])
    nodes = np.concatenate([leaves, fused])
    heights = np.concatenate([np.zeros(tree.n_leaves), tree.to_linkage()[:, 2]])
    sizes = tree.sizes[nodes]
    children = np.searchsorted(nodes, whole).astype(np.intp)
    return Branches(children, heights[nodes], _places(children, sizes), sizes, nodes)


def _places(children: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give leaves 0, 1, ... from left to right without crossing branches, fusions the middle of what they join."""
    n_leaves = len(children) + 1
    below = np.ones(2 * n_leaves - 1, dtype=np.intp)
    for fusion, pair in enumerate(children):
        below[n_leaves + fusion] = below[pair].sum()
    start = np.zeros(2 * n_leaves - 1)
    for fusion in range(n_leaves - 2, -1, -1):
        left, right = sorted(children[fusion], key=lambda node: -sizes[node])
        start[left] = start[n_leaves + fusion]
        start[right] = start[left] + below[left]
    place = start
    for fusion, pair in enumerate(children):
        place[n_leaves + fusion] = place[pair].mean()
    return place


def labels_of_nodes(tree: FusionTree, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give each node of the whole tree the label of its samples; the largest one, where it has several."""
    of_node = np.full(2 * tree.n_leaves - 1, -1, dtype=np.intp)
    np.maximum.at(of_node, tree.leaf_labels, labels)
    for fusion, pair in enumerate(tree.children):
        of_node[tree.n_leaves + fusion] = of_node[pair].max()
    return of_node
