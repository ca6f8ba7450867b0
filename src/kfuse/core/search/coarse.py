"""A walk down the k-d tree in single precision that leaves a few candidates, which are then measured exactly.

In more than a few dimensions, a query has to be compared with thousands of samples. In float32, with large leaves, this
is up to four times as fast as in float64. With z the points moved to the centre of their box, scaled into [-1, 1] and
rounded, u the unit roundoff, and s the square of |z_i - z_j| as computed,

    | |z_i - z_j| - scale d(i, j) | <= error        and        | sqrt(s) / |z_i - z_j| - 1 | <= slack

where rounding coordinates is worth u (|z_i| + |z_j|), and a sum of m squares about m u / 2. So if k samples have at
most the square t, the k nearest are at most sqrt(t) (1 + slack) + error away, and whatever is no farther has

    sqrt(s) <= (sqrt(t) (1 + slack) + 2 error) (1 + slack)

Where this keeps too many candidates, as among many ties or far from an outlier, the query is left to `kd_tree.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import inner_kernel, kernel
from kfuse.core.search.nearest import place_sorted
from kfuse.core.search.spatial import LEAF_SIZE, MAX_DEPTH

GROUP_SIZE = 16  # queries that walk down the tree together
LEVELS_JOINED = 3  # of the k-d tree, to make a leaf of up to ...
WIDTH = LEAF_SIZE << LEVELS_JOINED  # ... so many samples
SAMPLES_AT_A_GLANCE = 16  # looked at together: in many cases, none of them is near enough
HALVINGS = 12  # of the range of squares
ROUNDOFF = 2.0**-24
UNDERFLOW = 1e-16  # more than the root of what squares can lose by it
LEFT_OPEN = -1  # in place of a neighbour


class CoarseTree(NamedTuple):
    """The upper nodes of a k-d tree, rounded: node i has the children 2i+1 and 2i+2."""

    bounds: NDArray[np.float32]  # (n_nodes, 2, n_features): the least and greatest coordinates
    leaves: NDArray[np.float32]  # (n_leaves, n_features, WIDTH); NaN, within no limit, where no sample is
    centre: NDArray[np.float64]
    scale: float  # a power of two
    corner: float  # the greatest |z|
    slack: float


class Queries(NamedTuple):
    """A few queries near each other, which walk down the tree together; unused slots accept nothing."""

    points: NDArray[np.float32]  # (n_features, GROUP_SIZE)
    error: NDArray[np.float64]
    limit: NDArray[np.float32]  # candidates with a greater square are not among the k nearest
    n_found: NDArray[np.int64]  # candidates so far, LEFT_OPEN if there were too many, ...
    found: NDArray[np.int32]  # ... where in the tree they are ...
    squares: NDArray[np.float32]  # ... and the squares of their distances
    roots: NDArray[np.float64]  # the exact distances of candidates
    pending: NDArray[np.int64]  # nodes to look into ...
    gaps: NDArray[np.float32]  # ... and how far they are from each query, squared
    in_leaf: NDArray[np.float32]  # squares from a query to each sample of a leaf


def coarse_tree(tree: Any) -> CoarseTree:
    """Round the nodes of a k-d tree, but for its lowest levels."""
    n_features = tree.points.shape[1]
    n_leaves = max(1, (tree.starts.size // 2 + 1) >> LEVELS_JOINED)
    half = tree.bounds[0, 1] / 2 - tree.bounds[0, 0] / 2
    centre = tree.bounds[0, 0] + half
    scale = float(np.ldexp(1.0, -max(-1000, int(np.frexp(half.max())[1]))))
    bounds = np.empty((2 * n_leaves - 1, 2, n_features), dtype=np.float32)
    leaves = np.full((n_leaves, n_features, WIDTH), np.nan, dtype=np.float32)
    fill_coarse_nodes(tree.points, tree.starts, tree.stops, centre, scale, bounds, leaves)
    corner = float(np.sqrt(((half * scale) ** 2).sum()))
    return CoarseTree(bounds, leaves, centre, scale, corner, slack=2 * (n_features + 8) * ROUNDOFF)


@kernel
def fill_coarse_nodes(points, starts, stops, centre, scale, bounds, leaves):
    """Copy the points of the leaves, rounded, and find the bounds of all nodes, from the leaves up."""
    first_leaf = leaves.shape[0] - 1
    for node in range(bounds.shape[0] - 1, -1, -1):
        for feature in range(points.shape[1]):
            if node < first_leaf:
                left, right = 2 * node + 1, 2 * node + 2
                bounds[node, 0, feature] = min(bounds[left, 0, feature], bounds[right, 0, feature])
                bounds[node, 1, feature] = max(bounds[left, 1, feature], bounds[right, 1, feature])
                continue
            column = leaves[node - first_leaf, feature]
            for j in range(stops[node] - starts[node]):
                column[j] = (points[starts[node] + j, feature] - centre[feature]) * scale
            least = greatest = column[0]
            for j in range(1, stops[node] - starts[node]):
                least, greatest = min(least, column[j]), max(greatest, column[j])
            bounds[node, 0, feature], bounds[node, 1, feature] = least, greatest


def write_nearest_coarsely(
    tree: Any,
    coarse: CoarseTree,
    queries: NDArray[Any],
    own: NDArray[np.intp],
    rows: NDArray[np.intp],
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Do what `kd_tree.write_nearest` does; return the queries that are left open."""
    k, n_features = indices.shape[1], queries.shape[1]
    if k == 0:
        return np.empty(0, dtype=np.intp)
    capacity = 2 * (k + 1) + 2 * WIDTH
    group = Queries(
        points=np.zeros((n_features, GROUP_SIZE), dtype=np.float32),
        error=np.zeros(GROUP_SIZE),
        limit=np.empty(GROUP_SIZE, dtype=np.float32),
        n_found=np.empty(GROUP_SIZE, dtype=np.int64),
        found=np.empty((GROUP_SIZE, capacity), dtype=np.int32),
        squares=np.empty((GROUP_SIZE, capacity), dtype=np.float32),
        roots=np.empty(capacity),
        pending=np.empty(MAX_DEPTH, dtype=np.int64),
        gaps=np.empty((MAX_DEPTH, GROUP_SIZE), dtype=np.float32),
        in_leaf=np.empty(WIDTH, dtype=np.float32),
    )
    queries = queries.astype(np.float64, copy=False)
    query(tree, coarse, queries, own.astype(np.int64, copy=False), rows, indices, distances, group)
    return np.flatnonzero(indices[rows, 0] == LEFT_OPEN)


@kernel
def query(tree, coarse, queries, own, rows, indices, distances, group):
    """Find and write the nearest samples to all queries, one group after the other."""
    wanted = indices.shape[1] + 1  # a query that is a sample finds itself
    for first in range(0, queries.shape[0], GROUP_SIZE):
        size = min(GROUP_SIZE, queries.shape[0] - first)
        gather(coarse, group, queries, first, size)
        walk(tree, coarse, group, wanted)
        for member in range(size):
            row = rows[first + member]
            write_candidates(
                tree, coarse, group, member, queries[first + member], own[first + member], indices[row], distances[row]
            )


@kernel
def gather(coarse, group, queries, first, size):
    """Make a group of the next queries."""
    for member in range(GROUP_SIZE):
        group.n_found[member] = 0
        group.limit[member] = np.inf if member < size else -1.0
    for member in range(size):
        total = 0.0
        for feature in range(queries.shape[1]):
            coordinate = (queries[first + member, feature] - coarse.centre[feature]) * coarse.scale
            group.points[feature, member] = coordinate
            total += coordinate * coordinate
        group.error[member] = 2.0 * ROUNDOFF * (np.sqrt(total) + coarse.corner) + UNDERFLOW


@kernel
def walk(tree, coarse, group, k):
    """Look into all leaves within the limit of a query, in the nearer half of the tree first."""
    first_leaf, pending, gaps = coarse.leaves.shape[0] - 1, group.pending, group.gaps
    pending[0], n_pending = 0, 1
    gaps[0, :] = 0.0
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending]
        if not any_within(gaps, n_pending, group.limit):
            continue
        if node >= first_leaf:
            look_into(tree.starts[node], coarse, node - first_leaf, group, n_pending, k)
            continue
        left = 2 * node + 1
        to_left = write_gaps(group.points, coarse, left, gaps, n_pending)
        to_right = write_gaps(group.points, coarse, left + 1, gaps, n_pending + 1)
        pending[n_pending], pending[n_pending + 1] = left, left + 1
        if to_left <= to_right:
            pending[n_pending], pending[n_pending + 1] = left + 1, left
            for member in range(gaps.shape[1]):
                gap = gaps[n_pending, member]
                gaps[n_pending, member], gaps[n_pending + 1, member] = gaps[n_pending + 1, member], gap
        n_pending += 2


@inner_kernel
def any_within(gaps, place, limit):
    """Return whether a node is near enough to any query."""
    count = 0
    for member in range(limit.size):
        count += gaps[place, member] <= limit[member]
    return count > 0


@inner_kernel
def write_gaps(points, coarse, node, gaps, place):
    """Compute the least squares that a sample in the box of a node can have, but for rounding; return their sum."""
    size, zero = gaps.shape[1], np.float32(0.0)  # not as constants, or else the loops are not run several at a time
    for member in range(size):
        gaps[place, member] = zero
    for feature in range(points.shape[0]):
        least, greatest = coarse.bounds[node, 0, feature], coarse.bounds[node, 1, feature]
        for member in range(size):
            coordinate = points[feature, member]
            outside = max(least - coordinate, coordinate - greatest, zero)
            gaps[place, member] += outside * outside
    total, rounding = zero, np.float32(1.0 - 2.0 * coarse.slack)
    for member in range(size):
        total += gaps[place, member]
        gaps[place, member] *= rounding
    return total


@kernel
def look_into(start, coarse, leaf, group, place, k):
    """Add the samples of a leaf, the first of which is at `start`, to the candidates of the queries it is near to.

    Candidates gather until there are twice as many as needed; then the farther ones are dropped, and the limit shrinks.
    """
    squares, capacity = group.in_leaf, group.found.shape[1] - WIDTH
    for member in range(group.limit.size):
        limit = group.limit[member]
        if group.gaps[place, member] > limit:
            continue
        write_squares(group.points, member, coarse.leaves, leaf, squares)
        count = group.n_found[member]
        for first in range(0, squares.size, SAMPLES_AT_A_GLANCE):
            if not any_upto(squares[first : first + SAMPLES_AT_A_GLANCE], limit):
                continue
            for j in range(first, first + SAMPLES_AT_A_GLANCE):
                # Without a branch, which would often be mispredicted: what is not counted is overwritten.
                group.found[member, count], group.squares[member, count] = start + j, squares[j]
                count += squares[j] <= limit
        if count >= capacity or (limit == np.inf and count >= k + WIDTH // 2):
            count, group.limit[member] = keep_near(coarse, group, member, count, k)
        group.n_found[member] = count


@kernel
def write_squares(points, member, leaves, leaf, squares):
    """Compute the squared distances from a query to all of a leaf, several features at a time."""
    size, n_features = squares.size, points.shape[0]
    for j in range(size):
        squares[j] = 0.0
    for f in range(0, n_features - 3, 4):
        a, b, c, d = points[f, member], points[f + 1, member], points[f + 2, member], points[f + 3, member]
        for j in range(size):
            to_a, to_b = leaves[leaf, f, j] - a, leaves[leaf, f + 1, j] - b
            to_c, to_d = leaves[leaf, f + 2, j] - c, leaves[leaf, f + 3, j] - d
            squares[j] += to_a * to_a + to_b * to_b + (to_c * to_c + to_d * to_d)
    for f in range(n_features - n_features % 4, n_features):
        a = points[f, member]
        for j in range(size):
            squares[j] += (leaves[leaf, f, j] - a) * (leaves[leaf, f, j] - a)


@kernel
def any_upto(values, limit):
    """Return whether any value is at most the limit."""
    count = 0
    for place in range(values.size):
        count += values[place] <= limit
    return count > 0


@kernel
def keep_near(coarse, group, member, n, k):
    """Drop candidates of a query that cannot be among its k nearest; return how many stay, and the new limit.

    Halving the range of squares until about k are below has no branches to mispredict, unlike a selection.
    """
    squares, found, limit = group.squares[member], group.found[member], group.limit[member]
    low, high = np.float32(0.0), limit
    if limit == np.inf:
        high = low
        for j in range(n):
            high = max(high, squares[j])
    for _ in range(HALVINGS):
        middle = (low + high) * np.float32(0.5)
        count = 0
        for j in range(n):
            count += squares[j] <= middle
        if count < k:
            low = middle
        else:
            high = middle
            if count <= k + k // 8:
                break
    root = (np.sqrt(np.float64(high)) * (1.0 + coarse.slack) + 2.0 * group.error[member]) * (1.0 + coarse.slack)
    limit = min(limit, np.float32(root * root * (1.0 + 4.0 * ROUNDOFF)))
    n_kept = 0
    for j in range(n):
        squares[n_kept], found[n_kept] = squares[j], found[j]
        n_kept += squares[j] <= limit
    return (n_kept, limit) if n_kept < squares.size - WIDTH else (LEFT_OPEN, np.float32(-1.0))


@kernel
def write_candidates(tree, coarse, group, member, point, own, indices, distances):
    """Measure the candidates of a query as everywhere, and write the nearest of them, sorted."""
    found, roots, count = group.found[member], group.roots, group.n_found[member]
    if count != LEFT_OPEN:
        count, _ = keep_near(coarse, group, member, count, indices.size + 1)
    if count == LEFT_OPEN:
        indices[0] = LEFT_OPEN
        return
    n_others = 0
    for j in range(count):
        total = 0.0
        for feature in range(point.size):
            difference = tree.points[found[j], feature] - point[feature]
            total += difference * difference
        sample = tree.order[found[j]]
        roots[n_others], found[n_others] = np.sqrt(total), sample
        n_others += sample != own
    place_sorted(roots, found, n_others, distances, indices)
