"""Shortest bridges between the pieces of a graph that falls apart: Eq. 4 between whole pieces.

Boruvka's algorithm: every piece finds its shortest bridge to another, all of them are built, and what is then connected
is a new piece, until one is left. Ties go to the smaller pair of samples, so the bridges are the same in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kfuse.core import brute_force
from kfuse.core.compiled import kernel
from kfuse.core.kd_tree import squared_distance_to_box
from kfuse.core.neighbors import ApproximateSearch, BruteForceSearch, KDTreeSearch, NeighborSearch
from kfuse.core.spatial import MAX_DEPTH

ROWS_AT_A_TIME = 64  # of distances
SAMPLES_AT_A_TIME = 2**14  # between two looks at the keyboard


class Bridges(NamedTuple):
    """Pairs of samples in different pieces, and their distance."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    distance: NDArray[np.float64]


def pieces(first: NDArray[np.int32], second: NDArray[np.int32], n_samples: int) -> NDArray[np.int32]:
    """Number the connected pieces of a graph; give the piece of each sample."""
    links = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(n_samples, n_samples))
    return connected_components(links, directed=False)[1]


def shortest_bridges(search: NeighborSearch, piece: NDArray[np.int32]) -> Bridges:
    """Connect all pieces with bridges of least total length."""
    built: list[Bridges] = []
    while piece.max(initial=0) > 0:
        shortest = _shortest_of_each(search, piece)
        built.append(shortest)
        merged = pieces(piece[shortest.first], piece[shortest.second], int(piece.max()) + 1)
        piece = merged[piece]
    if not built:
        return Bridges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    pairs = np.column_stack([np.concatenate([b.first for b in built]), np.concatenate([b.second for b in built])])
    pairs.sort(axis=1)
    _, kept = np.unique(pairs, axis=0, return_index=True)
    return Bridges(pairs[kept, 0], pairs[kept, 1], np.concatenate([b.distance for b in built])[kept])


def _shortest_of_each(search: NeighborSearch, piece: NDArray[np.int32]) -> Bridges:
    """Find each piece's shortest bridge to any other piece."""
    n_pieces = int(piece.max()) + 1
    first = np.full(n_pieces, piece.size, dtype=np.int32)
    second = np.full(n_pieces, piece.size, dtype=np.int32)
    distance = np.full(n_pieces, np.inf)
    if isinstance(search, ApproximateSearch):
        search = search.exact
    if isinstance(search, KDTreeSearch):
        tree_piece = piece[search.tree.order]
        node_piece = np.empty(search.tree.starts.size, dtype=np.int32)
        note_pieces_of_nodes(search.tree.starts, search.tree.stops, tree_piece, node_piece)
        pending = np.empty(MAX_DEPTH, dtype=np.int64)
        for begin in range(0, piece.size, SAMPLES_AT_A_TIME):
            end = min(begin + SAMPLES_AT_A_TIME, piece.size)
            bridge_by_tree(search.tree, begin, end, tree_piece, node_piece, first, second, distance, pending)
        distance = search.distances.finish(distance)
    elif isinstance(search, BruteForceSearch):
        # The other pieces find bridges to the largest one as well.
        rows = np.flatnonzero(piece != np.bincount(piece).argmax())
        for start in range(0, rows.size, brute_force.ROWS_AT_A_TIME):
            part = rows[start : start + brute_force.ROWS_AT_A_TIME]
            nearest, length = search.brute_force.nearest_elsewhere(part, piece, distance[piece[part]])
            bridge_to_nearest(part, nearest, length, piece, first, second, distance)
        distance = search.distances.finish(distance)
    else:
        for start in range(0, piece.size, ROWS_AT_A_TIME):
            rows = np.arange(start, min(start + ROWS_AT_A_TIME, piece.size))
            bridge_by_rows(rows, search.distances.rows(rows), piece, first, second, distance)
    found = first < piece.size
    return Bridges(first[found], second[found], distance[found])


@kernel
def is_shorter(distance, sample, other, best_distance, best_first, best_second):
    """Whether a bridge comes before another: by length, then by its smaller and its larger sample."""
    if distance != best_distance:
        return distance < best_distance
    low, high = min(sample, other), max(sample, other)
    best_low, best_high = min(best_first, best_second), max(best_first, best_second)
    return low < best_low or (low == best_low and high < best_high)


@kernel
def bridge_to_nearest(rows, nearest, length, piece, first, second, distance):
    """Improve the shortest bridges with each sample's nearest sample of another piece."""
    for row in range(rows.size):
        sample, own = rows[row], piece[rows[row]]
        if nearest[row] < piece.size and is_shorter(
            length[row], sample, nearest[row], distance[own], first[own], second[own]
        ):
            first[own], second[own], distance[own] = sample, nearest[row], length[row]


@kernel
def bridge_by_rows(rows, block, piece, first, second, distance):
    """Improve the shortest bridges with a block of distances."""
    for row in range(rows.size):
        sample, own = rows[row], piece[rows[row]]
        for other in range(piece.size):
            if piece[other] != own and is_shorter(
                block[row, other], sample, other, distance[own], first[own], second[own]
            ):
                first[own], second[own], distance[own] = sample, other, block[row, other]


@kernel
def note_pieces_of_nodes(starts, stops, tree_piece, node_piece):
    """Note the piece that all samples of a node belong to, -1 if there are several."""
    for node in range(starts.size):
        node_piece[node] = tree_piece[starts[node]]
        for position in range(starts[node] + 1, stops[node]):
            if tree_piece[position] != node_piece[node]:
                node_piece[node] = -1
                break


@kernel
def bridge_by_tree(tree, begin, end, tree_piece, node_piece, first, second, distance, pending):
    """Improve the shortest bridges from a range of samples, looking only into boxes that can hold a shorter one."""
    points, order, bounds, starts, stops, _ = tree
    n_nodes, n_features = starts.size, points.shape[1]
    for position in range(begin, end):
        point = points[position]
        sample, own = order[position], tree_piece[position]
        pending[0], n_pending = 0, 1
        while n_pending > 0:
            n_pending -= 1
            node = pending[n_pending]
            reach = distance[own] * distance[own] * (1.0 + 1e-15)
            if node_piece[node] == own or squared_distance_to_box(point, bounds[node]) > reach:
                continue
            left = 2 * node + 1
            if left < n_nodes:
                # The nearer child is looked into first.
                to_left = squared_distance_to_box(point, bounds[left])
                to_right = squared_distance_to_box(point, bounds[left + 1])
                pending[n_pending] = left + 1 if to_left <= to_right else left
                pending[n_pending + 1] = left if to_left <= to_right else left + 1
                n_pending += 2
                continue
            for there in range(starts[node], stops[node]):
                if tree_piece[there] == own:
                    continue
                total = 0.0
                for feature in range(n_features):
                    difference = points[there, feature] - point[feature]
                    total += difference * difference
                length = np.sqrt(total)
                if is_shorter(length, sample, order[there], distance[own], first[own], second[own]):
                    first[own], second[own], distance[own] = sample, order[there], length
