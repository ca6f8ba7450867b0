"""The layout of a dendrogram: the top of the fusion tree, with everything below it folded into its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kfuse.tree import FusionTree


class Branches(NamedTuple):
    """The top of a fusion tree, with the merges below folded into its leaves.

    Nodes are numbered as in scipy's linkage: first the leaves, in the order of their numbers in the whole tree, then
    one node per merge.
    """

    children: NDArray[np.intp]  # (n_leaves - 1, 2)
    height: NDArray[np.float64]  # of each node; a folded leaf has the height of its last merge
    x: NDArray[np.float64]  # of each node from left to right, leaves at 0, 1, ...
    sizes: NDArray[np.intp]  # samples in each node
    nodes: NDArray[np.intp]  # the number of each node in the whole tree

    @property
    def n_leaves(self) -> int:
        """The number of leaves after folding."""
        return len(self.children) + 1

    def segments(self) -> Segments:
        """Return the lines of the dendrogram: for each child of a merge a stem, and its half of the crossbar."""
        merges = np.repeat(np.arange(self.n_leaves, len(self.nodes)), 2)
        children, top = self.children.ravel(), self.height[merges]
        stems = np.column_stack([self.x[children], self.height[children], self.x[children], top])
        bars = np.column_stack([self.x[children], top, self.x[merges], top])
        ends = np.stack([stems, bars], axis=1).reshape(-1, 4)
        return Segments(ends, np.column_stack([children, merges]).ravel())


class Segments(NamedTuple):
    """The lines of a dendrogram."""

    ends: NDArray[np.float64]  # (n_segments, 4): x and y of the start, x and y of the end
    nodes: NDArray[np.intp]  # the node whose colour each line has


def branches(tree: FusionTree, most_leaves: int) -> Branches:
    """Fold the tree to its last merges and lay them out, the larger branch to the left."""
    n_leaves = max(1, min(tree.n_leaves, most_leaves))
    first = tree.n_leaves - n_leaves  # the first merge to show
    whole = tree.children[first:]
    merged = np.arange(tree.n_leaves + first, 2 * tree.n_leaves - 1)
    leaves = np.setdiff1d(whole, merged) if len(whole) else np.array([2 * tree.n_leaves - 2])
    nodes = np.concatenate([leaves, merged])
    heights = np.concatenate([np.zeros(tree.n_leaves), tree.to_linkage()[:, 2]])
    sizes = tree.sizes[nodes]
    children = np.searchsorted(nodes, whole).astype(np.intp)
    return Branches(children, heights[nodes], _positions(children, sizes), sizes, nodes)


def _positions(children: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Place leaves at 0, 1, ... so that no branches cross, and each merge halfway between its children."""
    n_leaves = len(children) + 1
    leaves_below = np.ones(2 * n_leaves - 1, dtype=np.intp)
    for merge, pair in enumerate(children):
        leaves_below[n_leaves + merge] = leaves_below[pair].sum()
    x = np.zeros(2 * n_leaves - 1)  # of the leftmost leaf of each node, to begin with
    for merge in range(n_leaves - 2, -1, -1):
        left, right = sorted(children[merge], key=lambda node: -sizes[node])
        x[left] = x[n_leaves + merge]
        x[right] = x[left] + leaves_below[left]
    for merge, pair in enumerate(children):
        x[n_leaves + merge] = x[pair].mean()
    return x


def labels_of_nodes(tree: FusionTree, labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the label of the samples in each node of the whole tree; the largest label if there are several."""
    of_node = np.full(2 * tree.n_leaves - 1, -1, dtype=np.intp)
    np.maximum.at(of_node, tree.leaf_labels, labels)
    for merge, pair in enumerate(tree.children):
        of_node[tree.n_leaves + merge] = of_node[pair].max()
    return of_node


def cut_height(tree: FusionTree, n_clusters: int) -> float:
    """Return a height between the merges that a number of clusters keeps and those that it undoes."""
    heights = tree.to_linkage()[:, 2]
    kept = max(0, tree.n_leaves - n_clusters)
    below = heights[kept - 1] if kept else 0.0
    above = heights[kept] if kept < heights.size else below + max(1.0, 0.06 * below)
    return float((below + above) / 2)
