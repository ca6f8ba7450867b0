"""The k nearest candidates seen so far, kept as a heap.

Everything in kFuse orders neighbours by (distance, index): equally distant samples come by ascending index, so
that a result never depends on how the search happened to walk. The heap has the worst candidate on top.
"""

from __future__ import annotations

import numpy as np

from kfuse.core.compiled import kernel


@kernel
def comes_before(distance, index, other_distance, other_index):
    """Whether a candidate precedes another in the order (distance, index)."""
    return distance < other_distance or (distance == other_distance and index < other_index)


@kernel
def sift_down(distances, indices, size, distance, index):
    """Put a candidate in place of the heap's top."""
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        right = child + 1
        if right < size and comes_before(distances[child], indices[child], distances[right], indices[right]):
            child = right
        if not comes_before(distance, index, distances[child], indices[child]):
            break
        distances[slot] = distances[child]
        indices[slot] = indices[child]
        slot = child
    distances[slot] = distance
    indices[slot] = index


@kernel
def offer(distances, indices, distance, index):
    """Keep a candidate if it precedes the worst one kept."""
    if comes_before(distance, index, distances[0], indices[0]):
        sift_down(distances, indices, distances.size, distance, index)


@kernel
def sort_nearest_first(distances, indices):
    """Turn the heap into a list, nearest first."""
    for last in range(distances.size - 1, 0, -1):
        distance, index = distances[last], indices[last]
        distances[last], indices[last] = distances[0], indices[0]
        sift_down(distances, indices, last, distance, index)


@kernel
def select_nearest(block, own, k):
    """Find the k nearest columns of each row of a block of distances; column `own[row]` is the row itself."""
    n_rows, n_columns = block.shape
    distances = np.full((n_rows, k), np.inf)
    indices = np.full((n_rows, k), n_columns, dtype=np.int32)
    if k > 0:
        for row in range(n_rows):
            for column in range(n_columns):
                if column != own[row] and block[row, column] <= distances[row, 0]:
                    offer(distances[row], indices[row], block[row, column], np.int32(column))
            sort_nearest_first(distances[row], indices[row])
    return indices, distances
