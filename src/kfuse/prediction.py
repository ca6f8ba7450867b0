"""Labels for new points: that of the nearest sample of the fit, the first of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kfuse.core import kd_tree
from kfuse.core.distances import EuclideanDistances, distances_for
from kfuse.core.neighbors import ENTRIES_PER_BLOCK, suits_kd_tree
from kfuse.core.spatial import spatial_order


def nearest_samples(fitted: Any, X: Any, metric: str | Callable[..., float]) -> NDArray[np.intp]:
    """Find the nearest sample of the fit for each row of X."""
    if isinstance(metric, str) and metric == "precomputed":
        return _nearest_in_graph(X) if issparse(X) else np.argmin(X, axis=1)
    distances = distances_for(fitted, metric)
    queries = distances.prepare(X)
    nearest = np.empty(len(queries), dtype=np.intp)
    if isinstance(distances, EuclideanDistances) and suits_kd_tree(distances):
        order = spatial_order(queries)
        nearest[order] = kd_tree.nearest(kd_tree.build(distances.points), queries[order], 1)[0][:, 0]
        return nearest
    rows_at_a_time = max(1, ENTRIES_PER_BLOCK // distances.n_samples)
    for start in range(0, len(queries), rows_at_a_time):
        block = slice(start, start + rows_at_a_time)
        nearest[block] = np.argmin(distances.between(queries[block]), axis=1)
    return nearest


def _nearest_in_graph(graph: Any) -> NDArray[np.intp]:
    """Read the nearest stored entry of each row."""
    counts = np.diff(graph.indptr)
    if counts.min(initial=1) == 0:
        raise ValueError(f"Row {counts.argmin()} of the graph holds no distance: give each row at least one.")
    rows = np.repeat(np.arange(graph.shape[0]), counts)
    nearest_first = np.lexsort((graph.indices, graph.data, rows))
    return graph.indices[nearest_first][graph.indptr[:-1]].astype(np.intp)
