"""Which samples are identical: found by equal coordinates, where distances of zero would be slow or unsure to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.order import roots

ROWS_AT_A_TIME = 2**10  # whose bits are copied together
VANISHING = 1e-140  # different numbers that are not smaller than this differ by something with a square above zero


def first_of_equal_rows(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first row equal to each; only rows with equal sums are compared in full."""
    sums = np.concatenate([_sums(X[i : i + ROWS_AT_A_TIME]) for i in range(0, len(X), ROWS_AT_A_TIME)])
    _, inverse, counts = np.unique(sums, return_inverse=True, return_counts=True)
    first, some = np.arange(len(X)), np.flatnonzero(counts[inverse] > 1)
    if some.size:
        _, earliest, rank = np.unique(ranks_of_rows(X, some), return_index=True, return_inverse=True)
        first[some] = some[earliest[rank]]
    return first


def _sums(X: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a weighted sum of the bits of each row, as an integer, so that rounding cannot tell equal rows apart."""
    weights = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    sums: NDArray[np.uint64] = _bits(X).astype(np.uint64, copy=False) @ weights
    return sums


def ranks_of_rows(X: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rank of some rows in the order of their numbers, from the first number on; equal rows share one."""
    keys = np.concatenate([_sortable(X[rows[i : i + ROWS_AT_A_TIME]]) for i in range(0, rows.size, ROWS_AT_A_TIME)])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    ranks = np.empty(rows.size, dtype=np.intp)
    ranks[order] = np.append(0, np.cumsum(keys[1:] != keys[:-1]))
    return ranks


def _sortable(X: NDArray[Any]) -> NDArray[np.void]:
    """Return each row as one value, which sorts by its bytes as the row does by its numbers."""
    bits = _bits(X)
    if bits.dtype != np.uint8:
        last = bits.dtype.type(8 * bits.dtype.itemsize - 1)
        bits ^= (bits >> last) * ~bits.dtype.type(0) | (bits.dtype.type(1) << last)  # all bits of negative numbers
    bits = bits.astype(bits.dtype.newbyteorder(">"), order="C")
    return bits.view(np.dtype((np.void, bits.dtype.itemsize * bits.shape[1]))).ravel()


def _bits(X: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of the bits of numbers as integers; zero has one sign."""
    if X.dtype == np.bool_:
        return X.astype(np.uint8)
    bits: NDArray[Any] = np.ascontiguousarray(X + X.dtype.type(0)).view(f"u{X.dtype.itemsize}")
    return bits


def merge_vanishing(
    points: NDArray[Any],
    first: NDArray[np.intp],
    first_at_distance_zero: Callable[[NDArray[np.intp]], NDArray[np.intp]],
) -> NDArray[np.intp]:
    """Merge distinct points whose squared distance underflows to zero.

    `first_at_distance_zero` compares some samples by their distances; only the few that may be so close are compared.
    """
    if not any_vanishing(points):
        return first
    distinct = np.flatnonzero(first == np.arange(first.size))
    vanishing = np.abs(points[distinct]) < VANISHING
    comparable = np.where(vanishing, 0, points[distinct])
    _, inverse, counts = np.unique(comparable, axis=0, return_inverse=True, return_counts=True)
    unsure = distinct[counts[inverse.ravel()] > 1]
    if unsure.size == 0:
        return first
    merged = np.arange(first.size)
    merged[unsure] = unsure[first_at_distance_zero(unsure)]
    return merged[first]


@kernel
def any_vanishing(points):
    """Return whether a coordinate is not zero, but so small that its square may be."""
    for row in range(points.shape[0]):
        count = 0
        for feature in range(points.shape[1]):
            size = abs(np.float64(points[row, feature]))
            count += (size < VANISHING) & (size > 0.0)
        if count > 0:
            return True
    return False


def note_zero_distances(
    first: NDArray[np.intp], rows: NDArray[np.intp], indices: NDArray[np.int32], distances: NDArray[np.float64]
) -> None:
    """Point each sample of a block to its nearest neighbour if that is at distance zero and comes first.

    Neighbours come by (distance, index), so the nearest neighbour of a duplicate is the first of its kind, or the
    second for the first itself.
    """
    if indices.shape[1]:
        twins = distances[:, 0] == 0
        first[rows[twins]] = np.minimum(rows[twins], indices[twins, 0])


def first_at_distance_zero(search: Any) -> NDArray[np.intp]:
    """Return the first sample at distance zero from each sample of a search."""
    n_samples = search.distances.n_samples
    first, size = np.arange(n_samples), search.rows_per_block(1)
    for start in range(0, n_samples, size):
        note_zero_distances(first, *search.query(np.arange(start, min(start + size, n_samples)), 1))
    return roots(first)
