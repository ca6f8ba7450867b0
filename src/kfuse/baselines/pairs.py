"""Computations on the distances of all pairs of samples, recomputed in each pass, a block of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances
from kfuse.core.execution import Execution
from kfuse.core.kernels import array_kernel, kernel
from kfuse.core.search.base import ENTRIES_PER_BLOCK

# Non-negative floats have the same order as their bits read as integers. Counts for 16 bits fit into the CPU cache.
DIGIT_BITS = 16
DIGITS = 4

Visit = Callable[[NDArray[np.intp], NDArray[np.float64]], None]


class Ascent(NamedTuple):
    """The nearest denser sample of each sample."""

    order: NDArray[np.intp]  # samples by decreasing density, then by index
    parents: NDArray[np.intp]  # the nearest denser sample, on ties the first in `order`; the first sample has itself
    heights: NDArray[np.float64]  # the distance to it, 0 for the first sample
    largest: float  # distance between any two samples


class Pairs:
    """All pairs of samples, visited in blocks of rows by several threads."""

    def __init__(self, X: NDArray[Any], n_threads: int):
        self.distances = EuclideanDistances(X)
        self.n_samples = X.shape[0]
        self.n_threads = n_threads
        self._rows_per_block = max(1, ENTRIES_PER_BLOCK // self.n_samples)
        # Computed before threads start, because the first call prepares shared data; a single block is not recomputed.
        self._first_block = self.distances.rows(np.arange(min(self.n_samples, self._rows_per_block)))

    def visit(self, visit: Visit) -> None:
        """Call ``visit(rows, block)`` once for each block of rows of the distance matrix."""

        def task(start: int, stop: int) -> None:
            rows = np.arange(start, stop)
            visit(rows, self._first_block if start == 0 else self.distances.rows(rows))

        Execution(self.n_threads).over_ranges(task, self.n_samples, self._rows_per_block)

    def order_statistic(self, position: int) -> float:
        """Return the distance at a 1-based position among the sorted distances of all pairs.

        A radix selection: each pass counts the next 16-bit digit of the distances that share the digits found so far.
        The result is exact, and takes four passes for any data.
        """
        prefix = 0
        for digit in reversed(range(DIGITS)):
            counts = np.zeros(1 << DIGIT_BITS, dtype=np.int64)
            self.visit(partial(_count, prefix, digit * DIGIT_BITS, counts, Lock()))
            up_to = counts.cumsum()
            found = int(np.searchsorted(up_to, position))
            position -= int(up_to[found - 1]) if found else 0
            prefix = prefix << DIGIT_BITS | found
        return float(np.array(prefix, dtype=np.int64).view(np.float64))

    def ascent(self, density: NDArray[np.float64]) -> Ascent:
        """Find the nearest denser sample of each sample."""
        order = np.argsort(-density, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        parents, heights, farthest = np.arange(order.size), np.zeros(order.size), np.zeros(order.size)

        def climb(rows: NDArray[np.intp], block: NDArray[np.float64]) -> None:
            parents[rows], heights[rows] = nearest_before(rows, block, rank)
            farthest[rows] = block.max(axis=1)

        self.visit(climb)
        return Ascent(order, parents, heights, float(farthest.max()))


def _count(
    prefix: int,
    shift: int,
    counts: NDArray[np.int64],
    lock: Lock,
    rows: NDArray[np.intp],
    block: NDArray[np.float64],
) -> None:
    in_block = count_digits(rows, block.view(np.int64), prefix, shift)
    with lock:
        counts += in_block


@array_kernel
def count_digits(rows: NDArray[np.intp], bits: NDArray[np.int64], prefix: int, shift: int) -> NDArray[np.int64]:
    """Count the values of the next digit among the distances to later samples that start with `prefix`."""
    counts = np.zeros(1 << DIGIT_BITS, dtype=np.int64)
    for row in range(rows.size):
        for column in range(rows[row] + 1, bits.shape[1]):
            start = bits[row, column] >> shift
            if start >> DIGIT_BITS == prefix:
                counts[start & ((1 << DIGIT_BITS) - 1)] += 1
    return counts


@array_kernel
def nearest_before(
    rows: NDArray[np.intp], block: NDArray[np.float64], rank: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the nearest sample of lower rank, on ties the one of lowest rank."""
    parents, heights = rows.copy(), np.zeros(rows.size)
    for row in range(rows.size):
        own = rank[rows[row]]
        best, best_rank = np.inf, own
        for column in range(block.shape[1]):
            distance = block[row, column]
            if rank[column] < own and (distance < best or (distance == best and rank[column] < best_rank)):
                best, best_rank = distance, rank[column]
                parents[row], heights[row] = column, distance
    return parents, heights


@array_kernel
def gaussian_density(rows: NDArray[np.intp], block: NDArray[np.float64], cutoff: float) -> NDArray[np.float64]:
    """Sum exp(-(d / cutoff)^2) over the other samples."""
    density = np.zeros(rows.size)
    for row in range(rows.size):
        for column in range(block.shape[1]):
            if column != rows[row]:
                ratio = block[row, column] / cutoff
                density[row] += math.exp(-ratio * ratio)
    return density


@array_kernel
def cutoff_density(rows: NDArray[np.intp], block: NDArray[np.float64], cutoff: float) -> NDArray[np.float64]:
    """Count the other samples closer than `cutoff`."""
    density = np.zeros(rows.size)
    for row in range(rows.size):
        for column in range(block.shape[1]):
            if column != rows[row] and block[row, column] < cutoff:
                density[row] += 1
    return density


@array_kernel
def border_density(
    rows: NDArray[np.intp],
    block: NDArray[np.float64],
    cutoff: float,
    density: NDArray[np.float64],
    labels: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Find the largest mean density of each sample and one of another cluster within `cutoff`; 0 if there is none."""
    border = np.zeros(rows.size)
    for row in range(rows.size):
        own = rows[row]
        for column in range(block.shape[1]):
            if labels[column] != labels[own] and block[row, column] <= cutoff:
                border[row] = max(border[row], (density[own] + density[column]) / 2)
    return border


@kernel
def follow_parents(order: NDArray[np.intp], parents: NDArray[np.intp], labels: NDArray[np.intp]) -> None:
    """Copy the label of the parent to each unlabelled (-1) sample, in an order in which parents come first."""
    for sample in order:
        if labels[sample] < 0:
            labels[sample] = labels[parents[sample]]
