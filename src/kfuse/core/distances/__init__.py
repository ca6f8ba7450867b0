"""Distances between samples: Euclidean and cosine, any metric, a matrix, a graph.

A new metric with distances of its own is a new file here, a line in `distances_for`, and its name in
`_validation.parameters.check_metric`. For a search that is faster than computing every distance, it also needs a file
in `core/search`, and a line in `core/search/choose.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.sparse import issparse

from kfuse.core.distances.base import Distances
from kfuse.core.distances.euclidean import CosineDistances, EuclideanDistances
from kfuse.core.distances.graph import GraphDistances
from kfuse.core.distances.matrix import MatrixDistances
from kfuse.core.distances.metric import MetricDistances
from kfuse.core.distances.steps import in_steps
from kfuse.core.execution import SERIAL, Execution

__all__ = [
    "CosineDistances",
    "Distances",
    "EuclideanDistances",
    "GraphDistances",
    "MatrixDistances",
    "MetricDistances",
    "distances_for",
]

EUCLIDEAN_KINDS: dict[Any, type[EuclideanDistances]] = {
    "euclidean": EuclideanDistances,
    "l2": EuclideanDistances,
    "minkowski": EuclideanDistances,  # its power is 2 unless stated otherwise
    "cosine": CosineDistances,
}


def distances_for(
    X: Any, metric: str | Callable[..., float], *, steps: bool = False, execution: Execution = SERIAL
) -> Any:
    """Return the distances of an input by a metric; with `steps`, Euclidean ones of rounded data are exact: `steps`."""
    if isinstance(metric, str) and metric == "precomputed":
        return GraphDistances(X) if issparse(X) else MatrixDistances(X)
    if isinstance(metric, str) and metric in EUCLIDEAN_KINDS:
        distances = EUCLIDEAN_KINDS[metric](X)
        return in_steps(distances, execution) if steps and type(distances) is EuclideanDistances else distances
    return MetricDistances(X, metric)
