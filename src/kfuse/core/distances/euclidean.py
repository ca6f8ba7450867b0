"""Euclidean distances, and cosine distances, which increase with the Euclidean distance between directions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances.base import unit_of
from kfuse.core.kernels import kernel

COLUMNS_AT_A_TIME = 2048  # of a row of distances: they stay in the fastest cache
ENTRIES_AT_A_TIME = 2**20  # of coordinates of pairs


@kernel
def write_euclidean_rows(queries, columns, out):
    """Compute the Euclidean distance from each query to each column of `columns` (features x samples)."""
    n_features, n_samples = columns.shape
    for row in range(queries.shape[0]):
        for start in range(0, n_samples, COLUMNS_AT_A_TIME):
            part = out[row, start : start + COLUMNS_AT_A_TIME]
            part[:] = 0.0
            for feature in range(n_features):
                coordinate = np.float64(queries[row, feature])
                column = columns[feature, start : start + COLUMNS_AT_A_TIME]
                for j in range(part.size):
                    difference = column[j] - coordinate
                    part[j] += difference * difference
            for j in range(part.size):
                part[j] = np.sqrt(part[j])


def identity(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances as they are."""
    return distances


def _half_square(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    return distances * distances / 2


class EuclideanDistances:
    """Euclidean distances, or an increasing function of them."""

    is_zero_if_identical = True
    step = 0.0
    compared_by: Literal["boxes", "stored", "rows"] = "boxes"

    def __init__(self, X: NDArray[Any]):
        self.unit = unit_of(X)
        self.points = self.prepare(X)
        self.n_samples = X.shape[0]
        self.finish: Callable[[NDArray[np.float64]], NDArray[np.float64]] = identity
        self._columns: NDArray[Any] | None = None

    def subset(self, kept: NDArray[np.intp]) -> EuclideanDistances:
        return self.at(self.points[kept])

    def at(self, points: NDArray[Any]) -> EuclideanDistances:
        """Return the same distances between other points, already in this object's unit."""
        part = copy(self)
        part.points, part.n_samples, part._columns = points, len(points), None
        return part

    def prepare(self, X: NDArray[Any]) -> NDArray[Any]:
        """Convert coordinates to this object's unit."""
        if self.unit == 1:
            return X
        with np.errstate(over="ignore"):  # new samples may lie beyond all bounds; they stay infinitely far
            return np.ldexp(X, -int(np.log2(self.unit)))

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.between(self.points[samples])

    def pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        found = np.empty(first.size)
        size = max(1, ENTRIES_AT_A_TIME // max(1, self.points.shape[1]))
        for start in range(0, first.size, size):
            part = slice(start, start + size)
            difference = self.points[first[part]].astype(np.float64) - self.points[second[part]]
            found[part] = np.sqrt((difference * difference).sum(axis=1))
        return self.finish(found)

    def between(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        """Return the distances from points that need not be samples."""
        if self._columns is None:
            self._columns = np.ascontiguousarray(self.points.T)
        found = np.empty((len(queries), self.n_samples))
        write_euclidean_rows(queries, self._columns, found)
        return self.finish(found)


class CosineDistances(EuclideanDistances):
    """1 - cos(angle), which is half the squared Euclidean distance between the directions."""

    def __init__(self, X: NDArray[Any]):
        super().__init__(X)
        self.unit = 1.0
        self.finish = _half_square

    def prepare(self, X: NDArray[Any]) -> NDArray[Any]:
        """Scale each row to length one."""
        largest = np.abs(X).max(axis=1, keepdims=True, initial=0)
        zero_rows = np.flatnonzero(largest == 0)
        if zero_rows.size:
            raise ValueError(
                f"Row {zero_rows[0]} of X is all zeros, so it has no direction and no cosine distance: drop such rows."
            )
        scaled = X / largest
        return scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
