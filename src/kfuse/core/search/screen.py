"""Lower bounds of Euclidean distances by matrix products, and the short lists of samples that they leave.

A matrix product gives all distances many times faster than one sum after another, but rounds them differently. So it
only gives lower bounds here, lowered by what rounding can be worth. With z the points moved to their mean, scaled into
[-1, 1] and rounded to the precision of the product,

    d(i, j)^2 / 2 = |z_i|^2 / 2 + |z_j|^2 / 2 - z_i . z_j

up to slack * (|z_i|^2 + |z_j|^2): with u the unit roundoff, rounding z is worth 2 u, and a sum of m products m u, in
any order. Each sample has its part in that error. The part of j goes into the product as one more feature, that of i
into the limit:

    |z_j|^2 (1/2 - slack) - z_i . z_j   <=   d(i, j)^2 / 2 - |z_i|^2 (1/2 - slack)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import one_blas_thread
from kfuse.core.kernels import kernel

COLUMNS_AT_A_TIME = 4096  # of a block of bounds, so that it stays in the cache
COLUMNS_AT_A_GLANCE = 32  # looked at together: in most cases, none of them is of interest
HALVINGS = 16  # of the range of bounds


class Visit(NamedTuple):
    """Some rows of a query, by position, that look at some samples; both ascend."""

    which: NDArray[np.intp]
    columns: NDArray[np.int32]


Visiting = Callable[[NDArray[np.intp]], Iterable[Visit]]  # what the samples of a query look at


class BoundLimits(NamedTuple):
    """What it takes to turn a distance into the greatest bound that it can have."""

    own_part: NDArray[np.float64]  # |z_i|^2 (1/2 - slack)
    scale: float  # of z
    margin: float  # relative and ...
    tiny: float  # ... absolute: what rounding the limit, and underflow, can be worth


class ShortLists(NamedTuple):
    """The columns with the lowest bounds, for some rows; the bounds of all others are at least `cut`."""

    bounds: NDArray[Any]
    columns: NDArray[np.int32]
    cut: NDArray[Any]


class Products:
    """What matrix products tell of the distances between samples, up to a part that is the same for a whole row.

    Parameters
    ----------
    factors : ndarray of shape (n_samples, n_directions + 1)
        Coordinates, and half the square of the length.
    """

    def __init__(self, factors: NDArray[Any]):
        self.factors = factors

    def blocks(self, rows: NDArray[np.intp], visits: Iterable[Visit]) -> Iterator[tuple[Visit, NDArray[Any]]]:
        """Yield the bounds of one visit after the other, in one array that is reused."""
        queries = -self.factors[rows]
        queries[:, -1] = 1
        room = np.empty(0, dtype=queries.dtype)
        with one_blas_thread():
            for visit in visits:
                shape = visit.which.size, visit.columns.size
                if room.size < shape[0] * shape[1]:
                    room = np.empty(shape[0] * shape[1], dtype=queries.dtype)
                bounds = room[: shape[0] * shape[1]].reshape(shape)
                np.matmul(_taken(queries, visit.which), _taken(self.factors, visit.columns).T, out=bounds)
                yield visit, bounds

    def all_columns(self, rows: NDArray[np.intp]) -> Iterator[Visit]:
        """Let all rows look at all samples."""
        n_samples, which = len(self.factors), np.arange(rows.size)
        for start in range(0, n_samples, COLUMNS_AT_A_TIME):
            yield Visit(which, np.arange(start, min(start + COLUMNS_AT_A_TIME, n_samples), dtype=np.int32))

    def short_lists(self, rows: NDArray[np.intp], k: int, visiting: Visiting | None = None) -> ShortLists:
        """List a few more than k columns for each row, or all that it visits."""
        n_samples = len(self.factors)
        least, most = min(n_samples, k + 1), min(n_samples, k + k // 8 + 9)
        shape, dtype = (rows.size, 2 * most + COLUMNS_AT_A_GLANCE), self.factors.dtype
        lists = ShortLists(np.empty(shape, dtype), np.empty(shape, np.int32), np.full(rows.size, np.inf, dtype))
        counts = np.zeros(rows.size, dtype=np.int64)
        for visit, bounds in self.blocks(rows, (visiting or self.all_columns)(rows)):
            lengthen(lists, counts, visit, bounds, least, most)
        shorten_all(lists, counts, least, most)
        return ShortLists(lists.bounds[:, :most].copy(), lists.columns[:, :most].copy(), lists.cut)


class Screen(Products):
    """Lower bounds of the distances between samples, by products in one precision."""

    def __init__(self, points: NDArray[Any], dtype: type[np.floating[Any]]):
        n_samples, n_features = points.shape
        centre = points.mean(axis=0, dtype=np.float64)
        widest = max(np.abs(points.max(axis=0) - centre).max(), np.abs(points.min(axis=0) - centre).max())
        exponent = int(np.frexp(widest)[1])
        unit_roundoff = float(np.finfo(dtype).eps) / 2
        terms = n_features + 8  # a few more pay for all the rest of the rounding, and 2^-53 for that of |z|^2
        slack = terms * (unit_roundoff + 2.0**-53) / (1 - terms * unit_roundoff)
        super().__init__(np.empty((n_samples, n_features + 1), dtype=dtype))  # z_j, |z_j|^2 (1/2 - slack)
        own_part = np.empty(n_samples)
        for start in range(0, n_samples, COLUMNS_AT_A_TIME):
            part = slice(start, start + COLUMNS_AT_A_TIME)
            self.factors[part, :-1] = np.ldexp(points[part] - centre, -exponent)
            rounded = self.factors[part, :-1].astype(np.float64)
            own_part[part] = np.einsum("ij,ij->i", rounded, rounded) * (0.5 - slack)
        self.factors[:, -1] = own_part
        margin = 8 * unit_roundoff + 4 * terms * 2.0**-53
        self.limits = BoundLimits(own_part, 2.0**-exponent, margin, 1e-30 if dtype == np.float32 else 1e-80)


def _taken(array: NDArray[Any], ascending: NDArray[Any]) -> NDArray[Any]:
    """Take rows of an array; without a copy if they follow each other."""
    first, last = ascending[0], ascending[-1] + 1
    return array[first:last] if last - first == ascending.size else array[ascending]


@kernel
def lengthen(lists, counts, visit, bounds, least, length):
    """Add columns to the short lists of the rows of a visit; a full list is shortened."""
    listed_bounds, listed, cut = lists
    which, columns = visit
    capacity = listed.shape[1] - COLUMNS_AT_A_GLANCE
    for place in range(which.size):
        row = which[place]
        limit, count = cut[row], counts[row]
        for first in range(0, columns.size, COLUMNS_AT_A_GLANCE):
            glance = bounds[place, first : first + COLUMNS_AT_A_GLANCE]
            if not any_upto(glance, limit):
                continue
            if count > capacity:
                count, limit = keep_lowest(listed_bounds[row], listed[row], count, least, length)
            for j in range(glance.size):
                # Without a branch, which would often be mispredicted: what is not counted is overwritten.
                listed_bounds[row, count], listed[row, count] = glance[j], columns[first + j]
                count += glance[j] < limit
        cut[row], counts[row] = limit, count


@kernel
def any_upto(values, limit):
    """Return whether any value is at most the limit."""
    count = 0
    for place in range(values.size):
        count += values[place] <= limit
    return count > 0


@kernel
def keep_lowest(bounds, columns, count, least, most):
    """Keep `least` to `most` of the lowest bounds, and their columns; return how many, and a bound of the rest.

    Halving the range of the bounds until about as many are below has no branches to mispredict, unlike a selection.
    """
    low = high = bounds[0]
    for j in range(count):
        low, high = min(low, bounds[j]), max(high, bounds[j])
    for _ in range(HALVINGS):
        middle = low + (high - low) / bounds.dtype.type(2.0)
        n_below = 0
        for j in range(count):
            n_below += bounds[j] <= middle
        if n_below < least:
            low = middle
        else:
            high = middle
            if n_below <= most:
                break
    n_kept = 0
    for j in range(count):
        bounds[n_kept], columns[n_kept] = bounds[j], columns[j]
        n_kept += bounds[n_kept] <= high
    if n_kept > most:  # many are equal, or nearly so
        high, n_kept = put_lowest_first(bounds[:n_kept], columns[:n_kept], most), most
    return n_kept, high


@kernel
def put_lowest_first(bounds, columns, length):
    """Partition so that the `length` smallest bounds come first; return the largest of them."""
    first, last, middle = 0, bounds.size - 1, length - 1
    while first < last:
        pivot = bounds[(first + last) // 2]
        low, high = first, last
        while low <= high:
            while bounds[low] < pivot:
                low += 1
            while bounds[high] > pivot:
                high -= 1
            if low <= high:
                bounds[low], bounds[high] = bounds[high], bounds[low]
                columns[low], columns[high] = columns[high], columns[low]
                low += 1
                high -= 1
        first, last = (low, last) if middle >= low else (first, high) if middle <= high else (middle, middle)
    return bounds[middle]


@kernel
def shorten_all(lists, counts, least, length):
    """Bring all lists to their length; one that is shorter ends with bounds that are below no limit."""
    bounds, columns, cut = lists
    for row in range(counts.size):
        if counts[row] > length:
            counts[row], cut[row] = keep_lowest(bounds[row], columns[row], counts[row], least, length)
        bounds[row, counts[row] : length] = np.nan


@kernel
def bound_limit(distance, own, limits):
    """Return the greatest bound that a sample at most this far away can have."""
    own_part, scale, margin, tiny = limits
    half_square = 0.5 * (scale * distance) ** 2
    return half_square - own_part[own] + margin * (half_square + own_part[own]) + tiny


@kernel
def copy_within(bounds, columns, limit, near_bounds, near):
    """Copy the bounds that are at most the limit, and their columns, to another place or to the front; count them."""
    limit = bounds.dtype.type(limit)
    count = 0
    for first in range(0, bounds.size, COLUMNS_AT_A_GLANCE):
        glance = bounds[first : first + COLUMNS_AT_A_GLANCE]
        if any_upto(glance, limit):
            for place in range(glance.size):
                bound = glance[place]
                near_bounds[count], near[count] = bound, columns[first + place]
                count += bound <= limit
    return count
