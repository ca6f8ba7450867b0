"""A k-d tree whose answers are exact to the last tie.

The points are kept in tree order, so that neighbouring queries touch the same memory. Each leaf also holds its
coordinates feature by feature: so the distances to all of its points are computed at once, each still a sum over the
features in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import fast_kernel, inner_kernel, kernel
from kfuse.core.nearest import keep_nearest, place_sorted
from kfuse.core.spatial import LEAF_SIZE, MAX_DEPTH, n_levels, spatial_order

GROUP_SIZE = 8  # queries that walk down the tree together


class KDTree(NamedTuple):
    """Node i has the children 2i+1 and 2i+2, each with half of its points."""

    points: NDArray[np.float64]  # in tree order
    order: NDArray[np.int32]  # order[t] is the sample at tree position t
    bounds: NDArray[np.float64]  # (n_nodes, 2, n_features): the least and greatest coordinates
    starts: NDArray[np.int64]  # node i holds the tree positions starts[i] to stops[i]
    stops: NDArray[np.int64]
    leaves: NDArray[np.float64]  # (n_leaves, n_features, LEAF_SIZE): the points again, for the search


def build(X: NDArray[Any], n_threads: int = 1) -> KDTree:
    """Put the points in spatial order, and note the bounds of each node."""
    order = spatial_order(X, n_threads)
    points = X[order].astype(np.float64, copy=False)
    levels = n_levels(len(X))
    starts, stops = halves(len(X), levels)
    bounds = np.empty((starts.size, 2, X.shape[1]))
    leaves = np.zeros((2**levels, X.shape[1], LEAF_SIZE))
    fill_nodes(points, starts, stops, bounds, leaves)
    return KDTree(points, order, bounds, starts, stops, leaves)


def halves(n_samples: int, levels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give where the nodes start and stop: all samples, their halves, the halves of these, and so on."""
    edges = [np.array([0, n_samples])]
    for _ in range(levels):
        whole = edges[-1]
        edges.append(np.append(np.column_stack([whole[:-1], (whole[:-1] + whole[1:]) // 2]).ravel(), n_samples))
    return np.concatenate([e[:-1] for e in edges]), np.concatenate([e[1:] for e in edges])


@kernel
def fill_nodes(points, starts, stops, bounds, leaves):
    """Find the bounds of all nodes, from the leaves up, and copy the points of the leaves."""
    first_leaf = len(starts) // 2
    for node in range(len(starts) - 1, -1, -1):
        for feature in range(points.shape[1]):
            if node < first_leaf:
                left, right = 2 * node + 1, 2 * node + 2
                bounds[node, 0, feature] = min(bounds[left, 0, feature], bounds[right, 0, feature])
                bounds[node, 1, feature] = max(bounds[left, 1, feature], bounds[right, 1, feature])
                continue
            least = greatest = points[starts[node], feature]
            for position in range(starts[node], stops[node]):
                value = points[position, feature]
                least, greatest = min(least, value), max(greatest, value)
                leaves[node - first_leaf, feature, position - starts[node]] = value
            bounds[node, 0, feature], bounds[node, 1, feature] = least, greatest


def has_crowded_leaf(tree: KDTree) -> bool:
    """Whether some leaf holds one point many times."""
    leaves = tree.bounds[len(tree.bounds) // 2 :]
    crowded = (leaves[:, 0] == leaves[:, 1]).all(axis=1)
    return bool((crowded & (tree.stops - tree.starts > 1)[len(tree.bounds) // 2 :]).any())


@kernel
def squared_distance_to_box(point, box):
    """Compute the least squared distance from a point to anything in a box."""
    total = 0.0
    for feature in range(point.size):
        outside = max(box[0, feature] - point[feature], point[feature] - box[1, feature])
        if outside > 0.0:
            total += outside * outside
    return total


class Group(NamedTuple):
    """A few queries near each other, which walk down the tree together."""

    points: NDArray[np.float64]
    box: NDArray[np.float64]  # their least and greatest coordinates
    own: NDArray[np.int64]  # the samples that they are, -1 for none
    reach: NDArray[np.float64]  # candidates beyond this squared distance are not among the k nearest
    n_found: NDArray[np.int64]  # candidates so far ...
    found: NDArray[np.int32]  # ... which samples they are ...
    squares: NDArray[np.float64]  # ... and their squared distances
    pending: NDArray[np.int64]  # nodes to look into ...
    gaps: NDArray[np.float64]  # ... and how far they are from the box, squared
    squares_in_leaf: NDArray[np.float64]  # squared distances from a query to each sample of a leaf


def nearest(
    tree: KDTree, queries: NDArray[Any], k: int, own: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the k nearest samples to each query, and their distances; `own` are the samples that the queries are.

    It is fast if queries that follow each other are near each other.
    """
    n_queries = len(queries)
    indices, distances = np.empty((n_queries, k), dtype=np.int32), np.empty((n_queries, k))
    own = np.full(n_queries, -1) if own is None else own
    write_nearest(tree, queries, own, np.arange(n_queries), indices, distances)
    return indices, distances


def write_nearest(
    tree: KDTree,
    queries: NDArray[Any],
    own: NDArray[np.intp],
    places: NDArray[np.intp],
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
) -> None:
    """Write the nearest samples to each query, as many as there is room for, into row `places[query]` of two arrays.

    Sample `own[query]` is not its own neighbour.
    """
    k, n_features = indices.shape[1], queries.shape[1]
    room = 2 * k + 2 * LEAF_SIZE
    group = Group(
        points=np.zeros((GROUP_SIZE, n_features)),
        box=np.empty((2, n_features)),
        own=np.empty(GROUP_SIZE, dtype=np.int64),
        reach=np.empty(GROUP_SIZE),
        n_found=np.empty(GROUP_SIZE, dtype=np.int64),
        found=np.empty((GROUP_SIZE, room), dtype=np.int32),
        squares=np.empty((GROUP_SIZE, room)),
        pending=np.empty(MAX_DEPTH, dtype=np.int64),
        gaps=np.empty(MAX_DEPTH),
        squares_in_leaf=np.empty(LEAF_SIZE),
    )
    if k > 0:
        queries = queries.astype(np.float64, copy=False)
        query(tree, queries, own.astype(np.int64, copy=False), places, indices, distances, group)


@kernel
def query(tree, queries, own, places, indices, distances, group):
    """Find and write the nearest samples to all queries, one group after the other."""
    for first in range(0, queries.shape[0], GROUP_SIZE):
        size = min(GROUP_SIZE, queries.shape[0] - first)
        gather(group, queries, own, first, size)
        walk(tree, group, indices.shape[1])
        write_candidates(group, places, first, size, indices, distances)


@kernel
def gather(group, queries, own, first, size):
    """Make a group of the next queries; the places that are left reach nothing."""
    for member in range(GROUP_SIZE):
        group.n_found[member] = 0
        group.own[member] = own[first + member] if member < size else -1
        group.reach[member] = np.inf if member < size else -1.0
    for feature in range(queries.shape[1]):
        least = greatest = queries[first, feature]
        for member in range(size):
            value = queries[first + member, feature]
            group.points[member, feature] = value
            least, greatest = min(least, value), max(greatest, value)
        group.box[0, feature], group.box[1, feature] = least, greatest


@kernel
def walk(tree, group, k):
    """Look into all leaves that are within reach of the group, in the nearer half of the tree first."""
    first_leaf, pending, gaps = tree.starts.size // 2, group.pending, group.gaps
    rounding = rounding_of_gaps(group.points.shape[1])
    pending[0], gaps[0], n_pending, reach = 0, 0.0, 1, np.inf
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        if gaps[n_pending] * rounding > reach:
            continue
        if node < first_leaf:
            left = 2 * node + 1
            to_left, to_right = gap_between(group.box, tree.bounds, left), gap_between(group.box, tree.bounds, left + 1)
            near = left if to_left <= to_right else left + 1
            pending[n_pending], gaps[n_pending] = 2 * left + 1 - near, max(to_left, to_right)
            pending[n_pending + 1], gaps[n_pending + 1] = near, min(to_left, to_right)
            n_pending += 2
        elif look_into(tree, node, group, k):
            reach = 0.0
            for member in range(GROUP_SIZE):
                reach = max(reach, group.reach[member])


@inner_kernel
def look_into(tree, leaf, group, k):
    """Add the samples of a leaf to the candidates of those that reach it; give whether someone's reach shrank.

    Candidates gather until there are twice as many as needed; then the farther ones go, and the reach shrinks.
    """
    squares = group.squares_in_leaf
    start, size = tree.starts[leaf], tree.stops[leaf] - tree.starts[leaf]
    room, rounding = group.found.shape[1] - LEAF_SIZE, rounding_of_gaps(group.points.shape[1])
    has_shrunk = False
    for member in range(GROUP_SIZE):
        reach = group.reach[member]
        if reach < 0.0 or gap_to(group.points, member, tree.bounds, leaf) * rounding > reach:
            continue
        squared_distances(group.points, member, tree.leaves, leaf - tree.starts.size // 2, squares)
        count, own = group.n_found[member], group.own[member]
        for j in range(size):
            # Without a branch, which would often be mispredicted: what is not counted is overwritten.
            sample = tree.order[start + j]
            group.found[member, count], group.squares[member, count] = sample, squares[j]
            count += (squares[j] <= reach) & (sample != own)
        if count >= room or (reach == np.inf and count >= k + LEAF_SIZE):
            count, group.reach[member] = keep_nearest(group.squares[member], group.found[member], count, k, reach, room)
            has_shrunk = True
        group.n_found[member] = count
    return has_shrunk


@kernel
def write_candidates(group, places, first, size, indices, distances):
    """Write the nearest candidates of each query, sorted."""
    k, room = indices.shape[1], group.found.shape[1] - LEAF_SIZE
    for member in range(size):
        found, squares, place = group.found[member], group.squares[member], places[first + member]
        count, _ = keep_nearest(squares, found, group.n_found[member], k, group.reach[member], room)
        for j in range(count):
            squares[j] = np.sqrt(squares[j])
        place_sorted(squares, found, count, distances[place], indices[place])


@inner_kernel
def rounding_of_gaps(n_features):
    """The factor by which a squared gap may come out too large."""
    return 1.0 - 1e-15 * (n_features + 10)


@fast_kernel
def gap_between(box, bounds, node):
    """Compute the least squared distance between two boxes, but for rounding."""
    total = 0.0
    for feature in range(box.shape[1]):
        outside = max(bounds[node, 0, feature] - box[1, feature], box[0, feature] - bounds[node, 1, feature])
        total += max(outside, 0.0) ** 2
    return total


@fast_kernel
def gap_to(points, member, bounds, node):
    """Compute the least squared distance from a point to the box of a node, but for rounding."""
    total = 0.0
    for feature in range(points.shape[1]):
        coordinate = points[member, feature]
        outside = max(bounds[node, 0, feature] - coordinate, coordinate - bounds[node, 1, feature])
        total += max(outside, 0.0) ** 2
    return total


@inner_kernel
def squared_distances(points, member, leaves, leaf, squares):
    """Compute the squared distances from a point to all of a leaf."""
    size = squares.size  # not as a constant, or else the loops are unrolled instead of run several at a time
    for j in range(size):
        squares[j] = 0.0
    for feature in range(points.shape[1]):
        coordinate = points[member, feature]
        for j in range(size):
            difference = leaves[leaf, feature, j] - coordinate
            squares[j] += difference * difference
