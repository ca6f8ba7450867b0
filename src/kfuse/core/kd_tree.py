"""A k-d tree whose answers are exact to the last tie.

The points are kept in tree order, so that a leaf is one stretch of memory and neighbouring queries touch the same
ones. The lower bound of a box adds the same terms in the same order as a distance does, and rounding is monotone:
so a box is left out only if no sample in it could enter the answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.nearest import offer, sort_nearest_first

LEAF_SIZE = 16
MAX_DEPTH = 64


class KDTree(NamedTuple):
    """Node i has the children 2i+1 and 2i+2, each with half of its points."""

    points: NDArray[Any]  # in tree order
    order: NDArray[np.int32]  # order[t] is the sample at tree position t
    bounds: NDArray[Any]  # (n_nodes, 2, n_features): the least and greatest coordinates
    starts: NDArray[np.int64]  # node i holds the tree positions starts[i] to stops[i]
    stops: NDArray[np.int64]


def build(X: NDArray[Any]) -> KDTree:
    """Split at the median of the widest side until a leaf holds at most LEAF_SIZE points."""
    n_samples = X.shape[0]
    depth = max(0, int(np.ceil(np.log2(max(1.0, n_samples / LEAF_SIZE)))))
    n_nodes = 2 ** (depth + 1) - 1
    order = np.arange(n_samples, dtype=np.int32)
    bounds = np.empty((n_nodes, 2, X.shape[1]), dtype=X.dtype)
    starts = np.zeros(n_nodes, dtype=np.int64)
    stops = np.full(n_nodes, n_samples, dtype=np.int64)
    split_nodes(X, order, bounds, starts, stops)
    return KDTree(X[order], order, bounds, starts, stops)


def has_crowded_leaf(tree: KDTree) -> bool:
    """Whether some leaf holds one point many times."""
    leaves = tree.bounds[len(tree.bounds) // 2 :]
    crowded = (leaves[:, 0] == leaves[:, 1]).all(axis=1)
    return bool((crowded & (tree.stops - tree.starts > 1)[len(tree.bounds) // 2 :]).any())


@kernel
def split_nodes(X, order, bounds, starts, stops):
    """Fill the nodes from the root down, putting `order` into tree order."""
    n_nodes = starts.size
    for node in range(n_nodes):
        start, stop = starts[node], stops[node]
        for feature in range(X.shape[1]):
            least = greatest = X[order[start], feature]
            for position in range(start + 1, stop):
                least = min(least, X[order[position], feature])
                greatest = max(greatest, X[order[position], feature])
            bounds[node, 0, feature] = least
            bounds[node, 1, feature] = greatest
        left = 2 * node + 1
        if left < n_nodes:
            widest = np.argmax(bounds[node, 1] - bounds[node, 0])
            middle = (start + stop) // 2
            place_median(X[:, widest], order, start, stop - 1, middle)
            starts[left], stops[left] = start, middle
            starts[left + 1], stops[left + 1] = middle, stop


@kernel
def place_median(values, order, first, last, middle):
    """Reorder so that values before `middle` are no greater, and after it no smaller, than the one there."""
    while first < last:
        pivot = values[order[(first + last) // 2]]
        low, high = first, last
        while low <= high:
            while values[order[low]] < pivot:
                low += 1
            while values[order[high]] > pivot:
                high -= 1
            if low <= high:
                order[low], order[high] = order[high], order[low]
                low += 1
                high -= 1
        if middle <= high:
            last = high
        elif middle >= low:
            first = low
        else:
            return


@kernel
def squared_distance_to_box(point, box):
    """Compute the least squared distance from a point to anything in a box."""
    total = 0.0
    for feature in range(point.size):
        outside = max(np.float64(box[0, feature]) - point[feature], point[feature] - np.float64(box[1, feature]))
        if outside > 0.0:
            total += outside * outside
    return total


@kernel
def query(tree, queries, own, k):
    """Find the k nearest samples to each query; sample `own[row]` is not its own neighbour (-1: none is)."""
    points, order, bounds, starts, stops = tree
    n_nodes, n_features = starts.size, points.shape[1]
    distances = np.full((queries.shape[0], k), np.inf)
    indices = np.full((queries.shape[0], k), order.size, dtype=np.int32)
    pending = np.empty(MAX_DEPTH, dtype=np.int64)
    least = np.empty(MAX_DEPTH)
    point = np.empty(n_features)
    for row in range(queries.shape[0] if k > 0 else 0):
        point[:] = queries[row]
        best_distances, best_indices = distances[row], indices[row]
        reach = np.inf  # squared distances beyond this cannot enter
        pending[0], least[0], n_pending = 0, 0.0, 1
        while n_pending > 0:
            n_pending -= 1
            node = pending[n_pending]
            if least[n_pending] > reach:
                continue
            left = 2 * node + 1
            if left < n_nodes:
                to_left = squared_distance_to_box(point, bounds[left])
                to_right = squared_distance_to_box(point, bounds[left + 1])
                near, far = (left, left + 1) if to_left <= to_right else (left + 1, left)
                pending[n_pending], least[n_pending] = far, max(to_left, to_right)
                pending[n_pending + 1], least[n_pending + 1] = near, min(to_left, to_right)
                n_pending += 2
                continue
            for position in range(starts[node], stops[node]):
                total = 0.0
                for feature in range(n_features):
                    difference = points[position, feature] - point[feature]
                    total += difference * difference
                if total <= reach and order[position] != own[row]:
                    offer(best_distances, best_indices, np.sqrt(total), order[position])
                    # The square of a rounded root may fall short of what was rooted.
                    reach = best_distances[0] * best_distances[0] * (1.0 + 1e-15)
        sort_nearest_first(best_distances, best_indices)
    return indices, distances
