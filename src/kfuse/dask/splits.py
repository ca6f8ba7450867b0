"""Splits of space at points: a binary tree whose leaves are boxes, each the home of the points that lie in it.

Points are compared as `core.search.spatial` compares them: by the column of the split, then by all columns. So
identical points always share a box, and any others can be told apart. Columns are in the order of decreasing extent of
the data, the `wide` order, since ties are broken in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.dask.kernels import find_leaves


class Splits(NamedTuple):
    """Node i has the children 2i+1, with the points before its pivot, and 2i+2, with the others."""

    columns: NDArray[np.int64]  # by which the points of each node are compared first
    pivots: NDArray[np.float64]  # (n_nodes, n_features), in wide order
    n_levels: int

    @classmethod
    def none_yet(cls, n_levels: int, n_features: int) -> Splits:
        """Return splits to be filled, level by level."""
        n_nodes = 2**n_levels - 1
        return cls(np.zeros(n_nodes, np.int64), np.zeros((n_nodes, n_features)), n_levels)

    def leaves_of(self, wide: NDArray[np.float64], n_levels: int | None = None) -> NDArray[np.int32]:
        """Return the leaf that each point lies in, or the node of an upper level, counted from the left."""
        leaves = np.empty(len(wide), dtype=np.int32)
        find_leaves(wide, self.columns, self.pivots, self.n_levels if n_levels is None else n_levels, leaves)
        return leaves


def nodes_of_level(level: int) -> slice:
    """Return which nodes a level has."""
    return slice(2**level - 1, 2 ** (level + 1) - 1)


def order_by(wide: NDArray[np.float64], column: int) -> NDArray[np.intp]:
    """Return the order of points by a column, then by all of them."""
    return np.lexsort((*wide.T[::-1], wide[:, column]))


def splits_of_sample(wide: NDArray[np.float64], n_levels: int) -> Splits:
    """Halve a sample at the median of its widest column, again and again: boxes of about equal numbers of points."""
    splits = Splits.none_yet(n_levels, wide.shape[1])
    members = {0: wide}
    for node in range(len(splits.columns)):
        points = members.pop(node)
        if len(points):
            splits.columns[node] = np.argmax(np.ptp(points, axis=0))
            points = points[order_by(points, splits.columns[node])]
            splits.pivots[node] = points[len(points) // 2]
        members[2 * node + 1], members[2 * node + 2] = points[: len(points) // 2], points[len(points) // 2 :]
    return splits
