"""The comparisons by which ties are broken, each once, disjoint sets, and the members of labels in order.

Neighbours are ordered by (distance, index), pairs of samples or sub-clusters by (value, smaller index, larger index).
Sorts elsewhere use the same keys. All orders are total, so no result depends on how a search happened to walk or on the
number of threads.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import inner_kernel, kernel

Integer = TypeVar("Integer", bound=np.integer)
BITS_PER_DIGIT = 11  # of a radix sort
DIGITS = 2**BITS_PER_DIGIT
NEGATIVE_ZERO, ALL_BUT_THE_SIGN = -(2**63), 2**63 - 1  # the bits of a float64 as an integer
KEY_OF_ZERO = 2**31  # so that no key is negative
MOST_MOVES = 16  # per value, up to which sorting nearly equal ones by insertion is faster than sorting all


@inner_kernel
def comes_before(distance, index, other_distance, other_index):
    """Return whether a neighbour precedes another: by distance, then by index."""
    return distance < other_distance or (distance == other_distance and index < other_index)


@inner_kernel
def is_within(distance, index, farthest_distance, farthest_index):
    """Return whether a sample comes no later than another's farthest neighbour, by (distance, index)."""
    return (distance < farthest_distance) | ((distance == farthest_distance) & (index <= farthest_index))


@inner_kernel
def pair_comes_before(a, b, other_a, other_b):
    """Return whether an unordered pair precedes another: by its smaller index, then by its larger one."""
    low, other_low = min(a, b), min(other_a, other_b)
    return low < other_low or (low == other_low and max(a, b) < max(other_a, other_b))


@kernel
def is_shorter(distance, a, b, other_distance, other_a, other_b):
    """Return whether a bridge precedes another: the smaller distance, then the smaller pair of samples."""
    if distance != other_distance:
        return distance < other_distance
    return pair_comes_before(a, b, other_a, other_b)


@kernel
def merges_before(log_index, a, b, other_log_index, other_a, other_b):
    """Return whether a pair merges before another: the larger fusion index, then the smaller pair of nodes."""
    if log_index != other_log_index:
        return log_index > other_log_index
    return pair_comes_before(a, b, other_a, other_b)


@kernel
def find(parents, member):
    """Find the root of a member's set, halving the path; the caller decides which root remains in a union."""
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member


def ascending(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order of ascending values, equal ones by their position.

    It is that of numpy's stable sort. A radix sort by the upper half of each number, and an insertion sort of what is
    left, take a third to a fifth of the time: the upper half tells apart what differs by a millionth.
    """
    if values.size < 2 or np.isnan(ends := np.array([values.min(), values.max()])).any():
        return np.argsort(values, kind="stable")
    entries, by_digit, key_of_ends = (np.empty(size, dtype=np.uint64) for size in (values.size, values.size, 2))
    write_entries(ends.view(np.int64), np.int64(0), key_of_ends)
    least, greatest = (key >> np.uint64(32) for key in key_of_ends)
    write_entries(np.ascontiguousarray(values).view(np.int64), np.int64(least), entries)
    counts = np.empty(DIGITS, dtype=np.int64)
    for shift in range(32, 32 + int(greatest - least).bit_length(), BITS_PER_DIGIT):
        sort_by_digit(entries, np.uint64(shift), counts, by_digit)
        entries, by_digit = by_digit, entries
    entries &= np.uint64(2**32 - 1)
    order = entries.view(np.int64).astype(np.intp, copy=False)
    return order if settle_order(values, order) else np.argsort(values, kind="stable")


@kernel
def write_entries(bits, least, entries):
    """Write the key of each number, the upper half of an integer that ascends with it, above its position."""
    for position in range(bits.size):
        number = bits[position] if bits[position] != NEGATIVE_ZERO else 0
        key = ((number ^ ((number >> 63) & ALL_BUT_THE_SIGN)) >> 32) + KEY_OF_ZERO - least
        entries[position] = (key << 32) | position


@kernel
def sort_by_digit(entries, shift, counts, by_digit):
    """Sort entries by one digit, those with equal digits as they come."""
    counts[:] = 0
    last = np.uint64(counts.size - 1)
    for place in range(entries.size):
        counts[(entries[place] >> shift) & last] += 1
    start = 0
    for digit in range(counts.size):
        count = counts[digit]
        counts[digit] = start
        start += count
    for place in range(entries.size):
        digit = (entries[place] >> shift) & last
        by_digit[counts[digit]] = entries[place]
        counts[digit] += 1


@kernel
def settle_order(values, order):
    """Sort the nearly sorted positions of values by insertion; return whether that was done, or would take long."""
    n_moves = MOST_MOVES * order.size
    for place in range(1, order.size):
        position, slot = order[place], place
        value = values[position]
        while slot > 0 and comes_before(value, position, values[order[slot - 1]], order[slot - 1]):
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = position
        n_moves -= place - slot
        if n_moves < 0:
            return False
    return True


def roots(parents: NDArray[Integer]) -> NDArray[Integer]:
    """Find the root of every member by pointer jumping; a root is its own parent."""
    while not np.array_equal(parents, jumped := parents[parents]):
        parents = jumped
    return parents


def weights_of_places(
    place: NDArray[np.integer], sample_weight: NDArray[np.float64] | None, n_places: int
) -> NDArray[np.float64]:
    """Sum up the weights of the samples at each place, or count them.

    The smallest weight comes first, so that the sums are the same to the last bit in any order of the samples.
    """
    if sample_weight is None:
        return np.bincount(place, minlength=n_places).astype(np.float64)
    ascending_weight = np.argsort(sample_weight)
    return np.bincount(place[ascending_weight], sample_weight[ascending_weight], n_places).astype(np.float64)


def labels_by_size(labels: NDArray[np.intp], weights: NDArray[np.float64] | None = None) -> NDArray[np.intp]:
    """Renumber labels 0, 1, ... by decreasing size, then by smallest sample index; negative labels stay.

    With weights, the size is the weight of a cluster, and samples without weight do not count.
    """
    kept = np.flatnonzero(labels >= 0)
    counted = kept if weights is None else kept[weights[kept] > 0.0]
    sizes = np.bincount(labels[counted], None if weights is None else weights[counted])
    first = np.zeros(sizes.size, dtype=np.intp)
    first[labels[counted[::-1]]] = counted[::-1]  # of several samples, the first is written last
    used = np.flatnonzero(sizes)
    rank = np.empty(sizes.size, dtype=np.intp)
    rank[used[np.lexsort((first[used], -sizes[used]))]] = np.arange(used.size)
    renumbered = labels.astype(np.intp)
    renumbered[kept] = rank[labels[kept]]
    return renumbered


def members_of(labels: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the members of each label by ascending index, one label after the other, and where each begins."""
    starts = np.append(0, np.cumsum(np.bincount(labels)))
    members = np.empty(labels.size, dtype=np.int32)
    put_together(labels, starts.copy(), members)
    return members, starts


@kernel
def put_together(labels, positions, members):
    """Put each member at the next position for its label."""
    for member in range(labels.size):
        members[positions[labels[member]]] = member
        positions[labels[member]] += 1
