"""The k nearest candidates seen so far, kept as a heap.

Everything in kFuse orders neighbours by (distance, index): equally distant samples come by ascending index, so
that a result never depends on how the search happened to walk. The heap has the worst candidate on top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.order import comes_before


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


def select_nearest(
    block: NDArray[np.float64], own: NDArray[np.intp], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the k nearest columns of each row of a block of distances; column `own[row]` is the row itself."""
    n_rows, n_columns = block.shape
    indices, distances = np.full((n_rows, k), n_columns, dtype=np.int32), np.full((n_rows, k), np.inf)
    if k > 0:
        offer_all(block, own, indices, distances)
    return indices, distances


@kernel
def offer_all(block, own, indices, distances):
    """Keep the nearest columns of each row of a block of distances, nearest first."""
    for row in range(block.shape[0]):
        for column in range(block.shape[1]):
            if column != own[row] and block[row, column] <= distances[row, 0]:
                offer(distances[row], indices[row], block[row, column], np.int32(column))
        sort_nearest_first(distances[row], indices[row])


@kernel
def keep_nearest(squares, indices, n, k, limit, capacity):
    """Drop candidates that are not among the k nearest, keep a few more; return how many stay, and their limit.

    Candidates come with squared distances, none beyond `limit`. Those that go are farther than k others, even after
    rounding a root.
    """
    farthest = limit
    if limit == np.inf:
        farthest = 0.0
        for j in range(n):
            farthest = max(farthest, squares[j])
    limit = threshold(squares, n, k, farthest) * (1.0 + 1e-15)
    n_kept = 0
    for j in range(n):
        squares[n_kept], indices[n_kept] = squares[j], indices[j]
        n_kept += squares[j] <= limit
    if n_kept < capacity:
        return n_kept, limit
    select(squares, indices, n_kept, k)  # many are equally far
    return k, limit


@kernel
def threshold(squares, n, k, farthest):
    """Find a bound that at least k of n values, and not many more, do not exceed."""
    low, high = 0.0, farthest
    for _ in range(12):
        middle = (low + high) / 2
        count = 0
        for j in range(n):
            count += squares[j] <= middle
        if count < k:
            low = middle
        else:
            high = middle
            if count <= k + k // 8:
                break
    return high


@kernel
def select(squares, indices, n, k):
    """Reorder so that the k nearest of n candidates, by (distance, index), come first."""
    first, last = 0, n - 1
    while first < last:
        pivot, pivot_index = np.sqrt(squares[(first + last) // 2]), indices[(first + last) // 2]
        low, high = first, last
        while low <= high:
            while comes_before(np.sqrt(squares[low]), indices[low], pivot, pivot_index):
                low += 1
            while comes_before(pivot, pivot_index, np.sqrt(squares[high]), indices[high]):
                high -= 1
            if low <= high:
                squares[low], squares[high] = squares[high], squares[low]
                indices[low], indices[high] = indices[high], indices[low]
                low += 1
                high -= 1
        if k - 1 <= high:
            last = high
        elif k - 1 >= low:
            first = low
        else:
            return


@kernel
def place_sorted(distances, indices, n, nearest_distances, nearest_indices):
    """Sort n candidates by (distance, index) and write the first ones out, each at its rank among all.

    Counting ranks has no branches to mispredict, so it is the fastest sort of a few hundred values.
    """
    k, sum_of_ranks = nearest_distances.size, 0
    for i in range(n):
        rank = 0
        for j in range(n):
            rank += distances[j] < distances[i]
        sum_of_ranks += rank
        if rank < k:
            nearest_distances[rank], nearest_indices[rank] = distances[i], indices[i]
    if sum_of_ranks == n * (n - 1) // 2:
        return
    for i in range(n):  # some are equally far: their indices decide
        rank = 0
        for j in range(n):
            rank += (distances[j] < distances[i]) | ((distances[j] == distances[i]) & (indices[j] < indices[i]))
        if rank < k:
            nearest_distances[rank], nearest_indices[rank] = distances[i], indices[i]
