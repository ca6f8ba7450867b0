"""A k-d tree whose answers are exact to the last tie.

The points are kept in tree order, so that neighbouring queries touch the same memory. Each leaf also holds its
coordinates feature by feature: so the distances to all of its points are computed at once, each still a sum over the
features in order.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances
from kfuse.core.distances.euclidean import identity
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import fast_kernel, inner_kernel, kernel
from kfuse.core.search.base import ENTRIES_PER_BLOCK, Bridges, NeighborBlock, NeighborSearch
from kfuse.core.search.coarse import CoarseTree, coarse_tree, write_nearest_coarsely
from kfuse.core.search.duplicates import first_at_distance_zero, first_of_equal_rows, merge_vanishing
from kfuse.core.search.nearest import keep_nearest, place_sorted
from kfuse.core.search.spatial import LEAF_SIZE, MAX_DEPTH, n_levels, spatial_order
from kfuse.core.search.tree_bridges import bridge_by_tree, list_departures, note_components_of_nodes

GROUP_SIZE = 8  # queries that walk down the tree together
CROWDED = 0.1  # the share of queries that single precision leaves open from which on it does not pay off
FEW_COORDINATES = 16  # from which a distance is about as quickly computed as read
SAMPLES_AT_A_TIME = 2**14  # whose nearest samples are found before a keyboard interrupt is handled
LARGEST_DEPARTURE, DEPARTURES_AT_A_TIME = 2**10, 2**6  # samples of a node, and nodes, whose bridges are, too


class KDTree(NamedTuple):
    """Node i has the children 2i+1 and 2i+2, each with half of its points."""

    points: NDArray[np.float64]  # in tree order
    order: NDArray[np.int32]  # order[t] is the sample at tree position t
    bounds: NDArray[np.float64]  # (n_nodes, 2, n_features): the least and greatest coordinates
    starts: NDArray[np.int64]  # node i holds the tree positions starts[i] to stops[i]
    stops: NDArray[np.int64]
    leaves: NDArray[np.float64]  # (n_leaves, n_features, LEAF_SIZE): the points again, where the search needs them


class KDTreeSearch(NeighborSearch):
    """Look only where a neighbour can be; for Euclidean distances in few dimensions."""

    distances: EuclideanDistances
    is_cheap_to_repeat = False

    def __init__(
        self,
        distances: EuclideanDistances,
        execution: Execution = SERIAL,
        tree: KDTree | None = None,
        coarse: CoarseTree | None = None,
    ):
        self.distances = distances
        self._execution = execution  # for building the tree
        self.tree = build(distances.points, execution, has_leaves=False) if tree is None else tree
        self._building = Lock()
        self._coarse: CoarseTree | None = coarse_tree(self.tree) if coarse is None else coarse
        self.visiting_order = self.tree.order.astype(np.intp)
        self.most_neighbors = distances.n_samples - 1

    @property
    def points_to_measure(self) -> NDArray[Any] | None:  # type: ignore[override]
        """The points, if they have few coordinates."""
        points = self.distances.points
        return points if points.shape[1] <= FEW_COORDINATES and self.distances.finish is identity else None

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        indices, found = np.empty((rows.size, k), dtype=np.int32), np.empty((rows.size, k))
        self._write_nearest(self.distances.points[rows], rows, np.arange(rows.size), indices, found)
        return NeighborBlock(rows, indices, self.distances.finish(found))

    def fill(self, rows: NDArray[np.intp], indices: NDArray[np.int32], distances: NDArray[np.float64]) -> None:
        self._write_nearest(self.distances.points[rows], rows, rows, indices, distances)
        if self.distances.finish is not identity:
            distances[rows] = self.distances.finish(distances[rows])

    def rows_per_block(self, k: int) -> int:
        return max(1, ENTRIES_PER_BLOCK // (8 * max(1, k)))

    def subset(self, kept: NDArray[np.intp]) -> KDTreeSearch:
        return KDTreeSearch(self.distances.subset(kept), self._execution)

    def spatial_order(self, execution: Execution = SERIAL) -> NDArray[np.intp]:
        return self.visiting_order

    def reordered(self) -> tuple[KDTreeSearch, NDArray[np.intp]]:
        tree = self.tree._replace(order=np.arange(self.tree.order.size, dtype=np.int32))
        return KDTreeSearch(self.distances.at(tree.points), self._execution, tree, self._coarse), self.visiting_order

    def duplicates(self) -> NDArray[np.intp] | None:
        if not has_crowded_leaf(self.tree):
            return None
        points = self.distances.points  # searching among many duplicates would be slow
        return merge_vanishing(
            points, first_of_equal_rows(points), lambda some: first_at_distance_zero(self.subset(some))
        )

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        shortest = Bridges.none_yet(component)
        of_position = component[self.tree.order]
        of_node = np.empty(self.tree.starts.size, dtype=np.int32)
        note_components_of_nodes(self.tree.starts, self.tree.stops, of_position, of_node)
        pending, departures = np.empty((2 * MAX_DEPTH, 2), dtype=np.int64), np.empty(of_node.size, dtype=np.int64)
        n_found = list_departures(self.tree.starts, self.tree.stops, of_node, LARGEST_DEPARTURE, departures)
        for begin in range(0, n_found, DEPARTURES_AT_A_TIME):
            some = departures[begin : min(begin + DEPARTURES_AT_A_TIME, n_found)]
            bridge_by_tree(self.tree, some, of_position, of_node, shortest, pending)
        return shortest._replace(distance=self.distances.finish(shortest.distance)).found(component.size)

    def keep_for_bridges(self) -> None:
        self._coarse, self.visiting_order = None, np.empty(0, dtype=np.intp)
        self.tree = self.tree._replace(leaves=self.tree.leaves[:0].copy())

    def nearest(self, queries: NDArray[Any], execution: Execution = SERIAL) -> NDArray[np.intp]:
        order = spatial_order(queries, execution)
        found = np.empty(len(queries), dtype=np.intp)

        def find(start: int, stop: int) -> None:
            part = order[start:stop]
            nearest_one, distance = np.empty((part.size, 1), dtype=np.int32), np.empty((part.size, 1))
            own = np.full(part.size, -1)
            self._write_nearest(queries[part], own, np.arange(part.size), nearest_one, distance)
            found[part] = nearest_one[:, 0]

        execution.over_ranges(find, len(queries), SAMPLES_AT_A_TIME)
        return found

    def _write_nearest(
        self,
        queries: NDArray[Any],
        own: NDArray[np.intp],
        rows: NDArray[np.intp],
        indices: NDArray[np.int32],
        distances: NDArray[np.float64],
    ) -> None:
        """Do what `write_nearest` does, in single precision as far as that suffices."""
        left_open, coarse = np.arange(rows.size), self._coarse
        if coarse is not None:
            left_open = write_nearest_coarsely(self.tree, coarse, queries, own, rows, indices, distances)
            if left_open.size > CROWDED * rows.size:
                self._coarse = None
        if left_open.size:
            write_nearest(
                self._tree_with_leaves(), queries[left_open], own[left_open], rows[left_open], indices, distances
            )

    def _tree_with_leaves(self) -> KDTree:
        with self._building:
            if len(self.tree.leaves) == 0:
                self.tree = self.tree._replace(leaves=leaves_of(self.tree.points, self.tree.starts, self.tree.stops))
            return self.tree


def build(X: NDArray[Any], execution: Execution = SERIAL, *, has_leaves: bool = True) -> KDTree:
    """Put the points in spatial order, and compute the bounds of each node."""
    order = spatial_order(X, execution)
    points = X[order].astype(np.float64, copy=False)
    levels = n_levels(len(X))
    starts, stops = halves(len(X), levels)
    bounds = np.empty((starts.size, 2, X.shape[1]))
    find_bounds(points, starts, stops, bounds)
    leaves = leaves_of(points, starts, stops) if has_leaves else np.empty((0, X.shape[1], LEAF_SIZE))
    return KDTree(points, order, bounds, starts, stops, leaves)


def leaves_of(points: NDArray[np.float64], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.float64]:
    """Copy the points of each leaf, feature by feature."""
    leaves = np.zeros((starts.size // 2 + 1, points.shape[1], LEAF_SIZE))
    fill_leaves(points, starts, stops, leaves)
    return leaves


def halves(n_samples: int, levels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the nodes start and stop: all samples, their halves, the halves of these, and so on."""
    edges = [np.array([0, n_samples])]
    for _ in range(levels):
        whole = edges[-1]
        edges.append(np.append(np.column_stack([whole[:-1], (whole[:-1] + whole[1:]) // 2]).ravel(), n_samples))
    return np.concatenate([e[:-1] for e in edges]), np.concatenate([e[1:] for e in edges])


@kernel
def find_bounds(points, starts, stops, bounds):
    """Find the bounds of all nodes, from the leaves up."""
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
                least, greatest = min(least, points[position, feature]), max(greatest, points[position, feature])
            bounds[node, 0, feature], bounds[node, 1, feature] = least, greatest


@kernel
def fill_leaves(points, starts, stops, leaves):
    """Copy the points of all leaves."""
    first_leaf = len(starts) // 2
    for node in range(first_leaf, len(starts)):
        for position in range(starts[node], stops[node]):
            for feature in range(points.shape[1]):
                leaves[node - first_leaf, feature, position - starts[node]] = points[position, feature]


def has_crowded_leaf(tree: KDTree) -> bool:
    """Return whether some leaf holds one point many times."""
    leaves = tree.bounds[len(tree.bounds) // 2 :]
    crowded = (leaves[:, 0] == leaves[:, 1]).all(axis=1)
    return bool((crowded & (tree.stops - tree.starts > 1)[len(tree.bounds) // 2 :]).any())


class Group(NamedTuple):
    """A few queries near each other, which walk down the tree together."""

    points: NDArray[np.float64]
    box: NDArray[np.float64]  # their least and greatest coordinates
    own: NDArray[np.int64]  # the samples that they are, -1 for none
    limit: NDArray[np.float64]  # candidates beyond this squared distance are not among the k nearest
    n_found: NDArray[np.int64]  # candidates so far ...
    found: NDArray[np.int32]  # ... which samples they are ...
    squares: NDArray[np.float64]  # ... and their squared distances
    pending: NDArray[np.int64]  # nodes to look into ...
    gaps: NDArray[np.float64]  # ... and how far they are from the box, squared
    squares_in_leaf: NDArray[np.float64]  # squared distances from a query to each sample of a leaf


def nearest(
    tree: KDTree,
    queries: NDArray[Any],
    k: int,
    own: NDArray[np.intp] | None = None,
    coarse: CoarseTree | None = None,
    into: tuple[NDArray[np.int32], NDArray[np.float64]] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the k nearest samples to each query, and their distances; `own` are the samples that the queries are.

    It is fast if queries that follow each other are near each other, and with a coarse tree in several dimensions.
    With `into`, the results are written to the first rows of these two arrays.
    """
    rows = np.arange(len(queries))
    room = (np.empty((rows.size, k), dtype=np.int32), np.empty((rows.size, k))) if into is None else into
    indices, distances = room[0][: rows.size], room[1][: rows.size]
    own, left_open = np.full(rows.size, -1) if own is None else own, rows
    if coarse is not None:
        left_open = write_nearest_coarsely(tree, coarse, queries, own, rows, indices, distances)
    if left_open.size:
        write_nearest(tree, queries[left_open], own[left_open], left_open, indices, distances)
    return indices, distances


def write_nearest(
    tree: KDTree,
    queries: NDArray[Any],
    own: NDArray[np.intp],
    rows: NDArray[np.intp],
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
) -> None:
    """Write the nearest samples to each query, as many as there are columns, into row `rows[query]` of two arrays.

    Sample `own[query]` is not its own neighbour.
    """
    k, n_features = indices.shape[1], queries.shape[1]
    capacity = 2 * k + 2 * LEAF_SIZE
    group = Group(
        points=np.zeros((GROUP_SIZE, n_features)),
        box=np.empty((2, n_features)),
        own=np.empty(GROUP_SIZE, dtype=np.int64),
        limit=np.empty(GROUP_SIZE),
        n_found=np.empty(GROUP_SIZE, dtype=np.int64),
        found=np.empty((GROUP_SIZE, capacity), dtype=np.int32),
        squares=np.empty((GROUP_SIZE, capacity)),
        pending=np.empty(MAX_DEPTH, dtype=np.int64),
        gaps=np.empty(MAX_DEPTH),
        squares_in_leaf=np.empty(LEAF_SIZE),
    )
    if k > 0:
        queries = queries.astype(np.float64, copy=False)
        query(tree, queries, own.astype(np.int64, copy=False), rows, indices, distances, group)


@kernel
def query(tree, queries, own, rows, indices, distances, group):
    """Find and write the nearest samples to all queries, one group after the other."""
    for first in range(0, queries.shape[0], GROUP_SIZE):
        size = min(GROUP_SIZE, queries.shape[0] - first)
        gather(group, queries, own, first, size)
        walk(tree, group, indices.shape[1])
        write_candidates(group, rows, first, size, indices, distances)


@kernel
def gather(group, queries, own, first, size):
    """Make a group of the next queries; unused slots accept nothing."""
    for member in range(GROUP_SIZE):
        group.n_found[member] = 0
        group.own[member] = own[first + member] if member < size else -1
        group.limit[member] = np.inf if member < size else -1.0
    for feature in range(queries.shape[1]):
        least = greatest = queries[first, feature]
        for member in range(size):
            value = queries[first + member, feature]
            group.points[member, feature] = value
            least, greatest = min(least, value), max(greatest, value)
        group.box[0, feature], group.box[1, feature] = least, greatest


@kernel
def walk(tree, group, k):
    """Look into all leaves within the limit of the group, in the nearer half of the tree first."""
    first_leaf, pending, gaps = tree.starts.size // 2, group.pending, group.gaps
    rounding = rounding_of_gaps(group.points.shape[1])
    pending[0], gaps[0], n_pending, limit = 0, 0.0, 1, np.inf
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        if gaps[n_pending] * rounding > limit:
            continue
        if node < first_leaf:
            left = 2 * node + 1
            to_left, to_right = gap_between(group.box, tree.bounds, left), gap_between(group.box, tree.bounds, left + 1)
            near = left if to_left <= to_right else left + 1
            pending[n_pending], gaps[n_pending] = 2 * left + 1 - near, max(to_left, to_right)
            pending[n_pending + 1], gaps[n_pending + 1] = near, min(to_left, to_right)
            n_pending += 2
        elif look_into(tree, node, group, k):
            limit = 0.0
            for member in range(GROUP_SIZE):
                limit = max(limit, group.limit[member])


@inner_kernel
def look_into(tree, leaf, group, k):
    """Add the samples of a leaf to the candidates of the queries that it is near to; return whether a limit shrank.

    Candidates gather until there are twice as many as needed; then the farther ones are dropped, and the limit shrinks.
    """
    squares = group.squares_in_leaf
    start, size = tree.starts[leaf], tree.stops[leaf] - tree.starts[leaf]
    capacity, rounding = group.found.shape[1] - LEAF_SIZE, rounding_of_gaps(group.points.shape[1])
    has_shrunk = False
    for member in range(GROUP_SIZE):
        limit = group.limit[member]
        if limit < 0.0 or gap_to(group.points, member, tree.bounds, leaf) * rounding > limit:
            continue
        squared_distances(group.points, member, tree.leaves, leaf - tree.starts.size // 2, squares)
        count, own = group.n_found[member], group.own[member]
        for j in range(size):
            # Without a branch, which would often be mispredicted: what is not counted is overwritten.
            sample = tree.order[start + j]
            group.found[member, count], group.squares[member, count] = sample, squares[j]
            count += (squares[j] <= limit) & (sample != own)
        if count >= capacity or (limit == np.inf and count >= k + LEAF_SIZE):
            count, group.limit[member] = keep_nearest(
                group.squares[member], group.found[member], count, k, limit, capacity
            )
            has_shrunk = True
        group.n_found[member] = count
    return has_shrunk


@kernel
def write_candidates(group, rows, first, size, indices, distances):
    """Write the nearest candidates of each query, sorted."""
    k, capacity = indices.shape[1], group.found.shape[1] - LEAF_SIZE
    for member in range(size):
        found, squares, row = group.found[member], group.squares[member], rows[first + member]
        count, _ = keep_nearest(squares, found, group.n_found[member], k, group.limit[member], capacity)
        for j in range(count):
            squares[j] = np.sqrt(squares[j])
        place_sorted(squares, found, count, distances[row], indices[row])


@inner_kernel
def rounding_of_gaps(n_features):
    """Return the factor by which a squared gap may come out too large."""
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
