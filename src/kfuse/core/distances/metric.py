"""Any other metric that scikit-learn knows, or a function of two samples."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

PAIRS_AT_A_TIME = 16  # for a named metric, which compares many samples as fast as two


class MetricDistances:
    """Distances by a named metric or a function."""

    unit = 1.0
    is_zero_if_identical = False
    step = 0.0
    compared_by: Literal["boxes", "stored", "rows"] = "rows"

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
        """Convert coordinates to what this metric takes."""
        is_boolean = isinstance(self.metric, str) and self.metric in PAIRWISE_BOOLEAN_FUNCTIONS
        return X != 0 if is_boolean else X

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.between(self.points[samples])

    def pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        size = PAIRS_AT_A_TIME if isinstance(self.metric, str) else 1
        found = np.empty(first.size)
        for start in range(0, first.size, size):
            part = slice(start, start + size)
            found[part] = self.measure(self.points[first[part]], self.points[second[part]]).diagonal()
        return found

    def between(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        """Return the distances from points that need not be samples."""
        return self.measure(queries, self.points)

    def measure(self, queries: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
        """Return the distances from some points to others, one row each."""
        distances = pairwise_distances(queries, points, metric=self.metric, n_jobs=1, **self.params)
        distances = np.ascontiguousarray(distances, dtype=np.float64)
        if not (distances.min(initial=0) >= 0 and np.isfinite(distances).all()):
            name = self.metric if isinstance(self.metric, str) else getattr(self.metric, "__name__", "the function")
            raise ValueError(
                f"metric={name!r} gives a negative, infinite or undefined distance for some pairs of samples: drop "
                "constant or dependent rows and columns, or choose another metric."
            )
        return distances


def _metric_params(X: NDArray[Any], metric: str | Callable[..., float]) -> dict[str, Any]:
    """Return what a metric needs from the data as a whole; scikit-learn would estimate it per block."""
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
