"""The kernels that boxes need beside those of `core`."""

from __future__ import annotations

import numpy as np

from kfuse.core.kernels import inner_kernel, kernel
from kfuse.core.order import comes_before
from kfuse.core.search.spatial import compare


@inner_kernel
def side_of(wide, point, column, pivot):
    """Compare a point with a pivot: -1 if it comes before, 0 if it is the same, 1 if it comes after."""
    if wide[point, column] != pivot[column]:
        return -1 if wide[point, column] < pivot[column] else 1
    return compare(wide, point, pivot)


@kernel
def find_leaves(wide, columns, pivots, n_levels, leaves):
    """Walk each point down a number of levels."""
    for point in range(len(wide)):
        node = 0
        for _ in range(n_levels):
            side = side_of(wide, point, columns[node], pivots[node])
            node = 2 * node + 1 if side < 0 else 2 * node + 2
        leaves[point] = node - (2**n_levels - 1)


@kernel
def find_bands(wide, nodes, columns, lows, highs, sides):
    """Compare each point with the band of its node: -1 below it, 0 inside, 1 above."""
    for point in range(len(wide)):
        node = nodes[point]
        if side_of(wide, point, columns[node], lows[node]) < 0:
            sides[point] = -1
        elif side_of(wide, point, columns[node], highs[node]) > 0:
            sides[point] = 1
        else:
            sides[point] = 0


@kernel
def widen(points, nodes, bounds):
    """Widen the bounds of nodes by their points."""
    for point in range(len(points)):
        node = nodes[point]
        for feature in range(points.shape[1]):
            bounds[0, node, feature] = min(bounds[0, node, feature], points[point, feature])
            bounds[1, node, feature] = max(bounds[1, node, feature], points[point, feature])


@kernel
def list_boxes(points, limits, bounds, own_box, positions, rows, boxes):
    """Count the boxes within the limit of each point or, given room for them, list them from its position on."""
    n_features = points.shape[1]
    rounding = 1.0 - 1e-15 * (n_features + 10)  # by which a squared distance to a box may come out too large
    for row in range(len(points)):
        limit = limits[row] * limits[row]
        for box in range(len(bounds)):
            total = 0.0
            for feature in range(n_features):
                outside = max(
                    bounds[box, 0, feature] - points[row, feature], points[row, feature] - bounds[box, 1, feature]
                )
                total += max(outside, 0.0) ** 2
            if box != own_box and limits[row] >= 0.0 and total * rounding <= limit:
                if rows.size:
                    rows[positions[row]], boxes[positions[row]] = row, box
                positions[row] += 1


@kernel
def merge_sorted(rows, found, indices, distances, room, room_of_distances):
    """Merge sorted neighbours into the sorted rows of a table, and keep the nearest."""
    k, start = indices.shape[1], 0
    for position in range(rows.size):
        row, stop = rows[position], start + found.counts[position]
        own, other = 0, start
        for rank in range(k):
            takes_other = other < stop and comes_before(
                found.distances[other], found.indices[other], distances[row, own], indices[row, own]
            )
            if takes_other:
                room[rank], room_of_distances[rank] = found.indices[other], found.distances[other]
                other += 1
            else:
                room[rank], room_of_distances[rank] = indices[row, own], distances[row, own]
                own += 1
        for rank in range(k):
            indices[row, rank], distances[row, rank] = room[rank], room_of_distances[rank]
        start = stop


@kernel
def find_positions(numbers, start, stop, halo, offsets, positions):
    """Write the position of each place; `offsets` are those of own places, and of the halo before and after them."""
    of_own, of_before, of_after = offsets
    for i in range(numbers.size):
        number = numbers[i]
        if start <= number < stop:
            positions[i] = number - start + of_own
            continue
        where = np.searchsorted(halo, number)
        is_seen = where < halo.size and halo[where] == number
        offset = of_before if number < start else of_after
        positions[i] = where + offset if is_seen else halo.size + stop - start
