"""The one nearest sample of a fit to each new sample, for its label, by a search that is built once and kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kfuse.core.distances import EuclideanDistances, distances_for
from kfuse.core.distances.graph import nearest_stored
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.search.base import NeighborSearch
from kfuse.core.search.choose import suits_kd_tree
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch


class NearestSamples:
    """Find the nearest sample of a fit, the first of several; a new sample that equals one of the fit finds that one.

    The search is built when it is first needed, and not pickled. Threads that need it at the same time may each build
    one; they are the same, and one is kept.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features) or None
        The samples of the fit, which must not change; None with ``metric="precomputed"``.
    metric : str or callable
        The metric of the fit.
    counted : ndarray or None, default=None
        The samples to choose from, ascending; None for all.
    """

    counted: NDArray[np.intp] | None = None  # in pickles of before, too

    def __init__(
        self,
        samples: NDArray[Any] | None,
        metric: str | Callable[..., float],
        counted: NDArray[np.intp] | None = None,
    ):
        self.samples, self.metric, self.counted = samples, metric, counted

    def __getstate__(self) -> dict[str, Any]:
        return {"samples": self.samples, "metric": self.metric, "counted": self.counted}

    def __call__(self, X: Any, execution: Execution = SERIAL) -> NDArray[np.intp]:
        """Return the nearest sample for each row of X, which holds distances with ``metric="precomputed"``."""
        if self.counted is None:
            return self._nearest(X, execution)
        return self.counted[self._nearest(X[:, self.counted] if self.samples is None else X, execution)]

    def _nearest(self, X: Any, execution: Execution) -> NDArray[np.intp]:
        """Return which of the samples to choose from is nearest."""
        if self.samples is None:
            return nearest_stored(X) if issparse(X) else np.argmin(X, axis=1)
        with execution.progress.stage("order"):
            search = self._search
        distances: Any = search.distances
        with execution.progress.stage("prediction"):
            queries = distances.prepare(X)
            nearest = search.nearest(queries, execution)
        if distances.is_zero_if_identical:
            return nearest
        return np.where((equal := self._samples_by_row.find(queries)) >= 0, equal, nearest)

    @cached_property
    def _search(self) -> NeighborSearch:
        samples = self.samples if self.counted is None or self.samples is None else self.samples[self.counted]
        distances = distances_for(samples, self.metric)
        is_tree = isinstance(distances, EuclideanDistances) and suits_kd_tree(distances)
        return KDTreeSearch(distances) if is_tree else RowSearch(distances)

    @cached_property
    def _samples_by_row(self) -> SortedRows:
        return SortedRows(self._search.distances.points)


class SortedRows:
    """Rows of an array, to be found by equality: where rounding leaves a distance to itself, another may be nearer."""

    def __init__(self, X: Any):
        rows = _as_bytes(X)
        self.order = np.argsort(rows, kind="stable")
        self.rows = rows[self.order]

    def find(self, X: NDArray[Any]) -> NDArray[np.intp]:
        """Return the first row that equals each row of X, -1 where there is none."""
        wanted = _as_bytes(X)
        position = np.searchsorted(self.rows, wanted)
        position[position == self.rows.size] = 0
        return np.where(self.rows[position] == wanted, self.order[position], -1)


def _as_bytes(X: NDArray[Any]) -> NDArray[np.void]:
    """Return each row as one value, equal if the numbers are: zero has one sign, and every float has eight bytes."""
    X = np.ascontiguousarray(X if X.dtype == np.bool_ else X.astype(np.float64) + 0.0)
    return X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
