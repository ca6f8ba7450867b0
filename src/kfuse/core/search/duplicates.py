"""Which samples are identical: found by equal coordinates, where distances of zero would be slow or unsure to find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.core.order import roots

VANISHING = 1e-140  # different numbers that are not smaller than this differ by something with a square above zero


def first_of_equal_rows(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first row equal to each."""
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def merge_vanishing(
    points: NDArray[Any],
    first: NDArray[np.intp],
    first_at_distance_zero: Callable[[NDArray[np.intp]], NDArray[np.intp]],
) -> NDArray[np.intp]:
    """Merge distinct points whose squared distance underflows to zero.

    `first_at_distance_zero` compares some samples by their distances; only the few that may be so close are compared.
    """
    distinct = np.flatnonzero(first == np.arange(first.size))
    vanishing = np.abs(points[distinct]) < VANISHING
    if not points[distinct][vanishing].any():  # only zeros
        return first
    comparable = np.where(vanishing, 0, points[distinct])
    _, inverse, counts = np.unique(comparable, axis=0, return_inverse=True, return_counts=True)
    unsure = distinct[counts[inverse.ravel()] > 1]
    if unsure.size == 0:
        return first
    merged = np.arange(first.size)
    merged[unsure] = unsure[first_at_distance_zero(unsure)]
    return merged[first]


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
