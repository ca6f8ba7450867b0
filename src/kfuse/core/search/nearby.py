"""The k nearest places of a fit to new samples, for memberships and noise, by a search that is built once and kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial import cKDTree

from kfuse.core.distances import EuclideanDistances, distances_for
from kfuse.core.distances.base import LARGEST
from kfuse.core.search.base import ENTRIES_PER_BLOCK, NeighborBlock
from kfuse.core.search.choose import suits_kd_tree


class PlacesNearby:
    """Find the nearest places of a fit to new samples, by a search that is built when it is first needed.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features) or None
        The samples of the fit; None with ``metric="precomputed"``.
    metric : str or callable
        The metric of the fit.
    first : ndarray of shape (n_places,)
        The first sample at each place.
    """

    def __init__(self, samples: NDArray[Any] | None, metric: Any, first: NDArray[np.intp]):
        self.samples, self.metric, self.first = samples, metric, first

    def query(self, X: Any, k: int) -> NeighborBlock:
        """Return the k nearest places to each row of X, which holds distances with ``metric="precomputed"``.

        Distances are in multiples of the unit of those of the fit. A row of a graph that holds fewer than k has its
        last one repeated.
        """
        rows = np.arange(X.shape[0])
        if self.samples is None:
            return NeighborBlock(rows, *(_stored(X, self.first, k) if issparse(X) else _smallest(X[:, self.first], k)))
        queries = self._distances.prepare(X)
        if isinstance(self._distances, EuclideanDistances) and suits_kd_tree(self._distances):
            # Beyond all bounds is as far as one can tell; float32 does not hold the bounds.
            within = np.clip(queries.astype(np.float64, copy=False), -LARGEST, LARGEST)
            distances, indices = self._tree.query(within, np.arange(1, k + 1))
            return NeighborBlock(rows, indices.astype(np.int32), self._distances.finish(distances))
        size = max(1, ENTRIES_PER_BLOCK // self._distances.n_samples)
        parts = [queries[start : start + size] for start in range(0, len(queries), size)]
        found = [_smallest(self._distances.between(part), k) for part in parts]
        return NeighborBlock(rows, *(np.concatenate(columns) for columns in zip(*found, strict=True)))

    @cached_property
    def _distances(self) -> Any:
        return distances_for(self.samples, self.metric).subset(self.first)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._distances.points)


def _smallest(block: NDArray[Any], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the columns of the k smallest values of each row, and these, in ascending order."""
    columns = np.argpartition(block, k - 1, axis=1)[:, :k] if k < block.shape[1] else np.argsort(block, axis=1)
    values = np.take_along_axis(block, columns, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    found = np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)
    return found[0].astype(np.int32), found[1].astype(np.float64)


def _stored(graph: Any, first: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the k nearest stored entries of each row of a graph, the last one repeated where there are fewer."""
    part = graph[:, first].tocsr()
    counts = np.diff(part.indptr)
    if counts.min(initial=1) == 0:
        raise ValueError(f"Row {counts.argmin()} of the graph holds no distance: give each row at least one.")
    nearest_first = np.lexsort((part.indices, part.data, np.repeat(np.arange(part.shape[0]), counts)))
    ranks = np.minimum(np.arange(k), counts[:, None] - 1)
    chosen = nearest_first[part.indptr[:-1, None] + ranks]
    return part.indices[chosen].astype(np.int32), part.data[chosen].astype(np.float64)
