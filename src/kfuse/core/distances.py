"""What a distance is: one class per kind of input, each giving rows of distances on demand.

A distance between two samples has one value, whichever search asks for it and in whichever block: Euclidean sums
run over the features in order, in float64. So ties between equal distances are real ties, in every code path.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from kfuse.core.compiled import kernel

# Squares of coordinates beyond these leave the range of float64.
LARGEST, SMALLEST = 1e150, 1e-100
COLUMNS_AT_A_TIME = 2048  # of a row of distances: they stay in the fastest cache


class Distances(Protocol):
    """Distances from some samples to all.

    They are in units of `unit`: multiply by it to get the distance in the data's own unit. It is 1 unless the data
    is so large or small that squares would overflow.
    """

    n_samples: int
    unit: float

    @property
    def points(self) -> NDArray[Any] | None:
        """The samples, where they have coordinates."""

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        """Distances from `samples` to every sample, one row each."""

    def subset(self, kept: NDArray[np.intp]) -> Distances:
        """The same distances between some of the samples."""


@kernel
def write_euclidean_rows(queries, columns, out):
    """Find the Euclidean distance from each query to each column of `columns` (features x samples)."""
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
    """Leave distances as they are."""
    return distances


def _half_square(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    return distances * distances / 2


class EuclideanDistances:
    """Euclidean distances, or an increasing function of them."""

    def __init__(self, X: NDArray[Any]):
        self.unit = _unit_of(X)
        self.points = self.prepare(X)
        self.n_samples = X.shape[0]
        self.finish: Callable[[NDArray[np.float64]], NDArray[np.float64]] = identity
        self._columns: NDArray[Any] | None = None

    def subset(self, kept: NDArray[np.intp]) -> EuclideanDistances:
        return self.at(self.points[kept])

    def at(self, points: NDArray[Any]) -> EuclideanDistances:
        """The same distances between other points, already in this object's unit."""
        part = copy(self)
        part.points, part.n_samples, part._columns = points, len(points), None
        return part

    def prepare(self, X: NDArray[Any]) -> NDArray[Any]:
        """Bring coordinates to this object's unit."""
        if self.unit == 1:
            return X
        with np.errstate(over="ignore"):  # new points may lie beyond all bounds; they stay infinitely far
            return np.ldexp(X, -int(np.log2(self.unit)))

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.between(self.points[samples])

    def between(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        """Distances from points that need not be samples."""
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
        return directions(X)


def directions(X: NDArray[Any]) -> NDArray[Any]:
    """Scale each row to length one."""
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0)
    zero_rows = np.flatnonzero(largest == 0)
    if zero_rows.size:
        raise ValueError(
            f"Row {zero_rows[0]} of X is all zeros, so it has no direction and no cosine distance: drop such rows."
        )
    scaled = X / largest
    return scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))


class MetricDistances:
    """Any other metric that scikit-learn knows, or a function of two samples."""

    unit = 1.0

    def __init__(self, X: NDArray[Any], metric: str | Callable[..., float]):
        self.metric = metric
        self.points = self.prepare(X)
        self.n_samples = X.shape[0]
        self.params = _metric_params(X, metric)

    def subset(self, kept: NDArray[np.intp]) -> MetricDistances:
        part = copy(self)
        part.points, part.n_samples = self.points[kept], kept.size
        return part

    def prepare(self, X: NDArray[Any]) -> NDArray[Any]:
        """Take coordinates as this metric does."""
        is_boolean = isinstance(self.metric, str) and self.metric in PAIRWISE_BOOLEAN_FUNCTIONS
        return X != 0 if is_boolean else X

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.between(self.points[samples])

    def between(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        """Distances from points that need not be samples."""
        return self.measure(queries, self.points)

    def measure(self, queries: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
        """Distances from some points to others, one row each."""
        distances = pairwise_distances(queries, points, metric=self.metric, n_jobs=1, **self.params)
        distances = np.ascontiguousarray(distances, dtype=np.float64)
        if not (distances.min(initial=0) >= 0 and np.isfinite(distances).all()):
            name = self.metric if isinstance(self.metric, str) else getattr(self.metric, "__name__", "the function")
            raise ValueError(
                f"metric={name!r} gives a negative, infinite or undefined distance for some pairs of samples: drop "
                "constant or dependent rows and columns, or choose another metric."
            )
        return distances


class MatrixDistances:
    """A square matrix of distances that the caller computed."""

    points = None

    def __init__(self, matrix: NDArray[Any], kept: NDArray[np.intp] | None = None, unit: float | None = None):
        self.matrix, self.kept = matrix, kept
        self.unit = _unit_of(matrix) if unit is None else unit
        self.n_samples = matrix.shape[0] if kept is None else kept.size

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        rows = self.matrix[samples] if self.kept is None else self.matrix[self.kept[samples]][:, self.kept]
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        return rows if self.unit == 1 else rows / self.unit

    def subset(self, kept: NDArray[np.intp]) -> MatrixDistances:
        return MatrixDistances(self.matrix, kept if self.kept is None else self.kept[kept], self.unit)


class GraphDistances:
    """A sparse graph of distances to some neighbours; a pair that it does not hold is infinitely far apart.

    A distance that is stored in one direction holds in both.
    """

    points = None

    def __init__(self, graph: csr_array):
        self.n_samples = graph.shape[0]
        self.samples = np.arange(self.n_samples)  # their numbers in the graph that was given
        self.stored_counts = np.diff(graph.indptr)  # up to here, a row's nearest entries are its neighbours
        heads = np.repeat(np.arange(self.n_samples), self.stored_counts)
        rows, columns = np.concatenate([heads, graph.indices]), np.concatenate([graph.indices, heads])
        self.unit = _unit_of(graph.data)
        data = np.tile(graph.data / self.unit, 2)
        order = np.lexsort((data, columns, rows))
        rows, columns, data = rows[order], columns[order], data[order]
        first = np.ones(rows.size, dtype=np.bool_)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        self.indices, self.data = columns[first], data[first]
        self.indptr = np.searchsorted(rows[first], np.arange(self.n_samples + 1))

    def subset(self, kept: NDArray[np.intp]) -> GraphDistances:
        heads = np.repeat(np.arange(self.n_samples), np.diff(self.indptr))
        number = np.full(self.n_samples, -1)
        number[kept] = np.arange(kept.size)
        stays = (number[heads] >= 0) & (number[self.indices] >= 0)
        part = copy(self)
        part.n_samples, part.samples = kept.size, self.samples[kept]
        part.indices, part.data = number[self.indices[stays]], self.data[stays]
        part.indptr = np.searchsorted(number[heads[stays]], np.arange(kept.size + 1))
        nearest_first = np.lexsort((self.indices, self.data, heads))
        rank = np.arange(heads.size) - self.indptr[heads]
        known = nearest_first[rank < self.stored_counts[heads]]
        part.stored_counts = np.bincount(heads[known], weights=stays[known], minlength=self.n_samples)[kept].astype(int)
        return part

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        out = np.full((len(samples), self.n_samples), np.inf)
        for row, sample in zip(out, samples, strict=True):
            stored = slice(self.indptr[sample], self.indptr[sample + 1])
            row[self.indices[stored]] = self.data[stored]
        return out


EUCLIDEAN_KINDS: dict[Any, type[EuclideanDistances]] = {
    "euclidean": EuclideanDistances,
    "l2": EuclideanDistances,
    "minkowski": EuclideanDistances,  # its power is 2 unless said otherwise
    "cosine": CosineDistances,
}


def distances_for(X: Any, metric: str | Callable[..., float]) -> Any:
    """Choose the kind of distances for an input and a metric."""
    if isinstance(metric, str) and metric == "precomputed":
        return GraphDistances(X) if issparse(X) else MatrixDistances(X)
    if isinstance(metric, str) and metric in EUCLIDEAN_KINDS:
        return EUCLIDEAN_KINDS[metric](X)
    return MetricDistances(X, metric)


def _unit_of(X: NDArray[Any]) -> float:
    """The power of two that brings extreme data into the range where squares are safe, else 1."""
    largest = max(float(X.max(initial=0)), -float(X.min(initial=0)))
    if largest in (0, np.inf) or SMALLEST < largest < LARGEST or X.dtype == np.float32:
        return 1.0
    return float(2.0 ** (np.frexp(largest)[1] - 1))


def _metric_params(X: NDArray[Any], metric: str | Callable[..., float]) -> dict[str, Any]:
    """What a metric takes from the data as a whole; scikit-learn would take it from each block anew."""
    if not isinstance(metric, str):
        return {}
    if metric == "seuclidean":
        return {"V": np.var(X, axis=0, ddof=1) if len(X) > 1 else np.ones(X.shape[1])}
    if metric == "mahalanobis":
        try:
            if len(X) == 1:
                raise np.linalg.LinAlgError
            return {"VI": np.linalg.inv(np.atleast_2d(np.cov(X.T))).T}
        except np.linalg.LinAlgError:
            raise ValueError(
                "metric='mahalanobis' needs features of which none is constant or a sum of others: drop such features."
            ) from None
    return {}
