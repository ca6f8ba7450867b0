"""From places back to the samples of X: Dask arrays with the chunks of X."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from kfuse.core import noise
from kfuse.core.search.kd_tree import nearest
from kfuse.dask.boxes import Box
from kfuse.dask.columns import Columns
from kfuse.dask.rows import Frame, in_unit
from kfuse.dask.tasks import Task, graph_of, shared, task
from kfuse.memberships import NOISE


def spread(of_places: list[Task], places: list[Task], starts: NDArray[np.int64]) -> list[Task]:
    """Return values of the samples of each chunk, given those of the places of each box."""
    known = shared(starts)
    return [
        task(
            _assembled, of_chunk, known, [task(_picked, one, of_chunk, known, box) for box, one in enumerate(of_places)]
        )
        for of_chunk in places
    ]


def _picked(values: NDArray[Any], places: NDArray[np.int32], starts: NDArray[np.int64], box: int) -> NDArray[Any]:
    return values[places[(places >= starts[box]) & (places < starts[box + 1])] - starts[box]]


def _assembled(places: NDArray[np.int32], starts: NDArray[np.int64], pieces: list[NDArray[Any]]) -> NDArray[Any]:
    values = np.concatenate(pieces)
    values[np.argsort(np.searchsorted(starts, places, side="right"), kind="stable")] = values.copy()
    return values


def array_of(tasks: list[Task], sizes: list[int], dtype: Any, n_columns: int | None = None) -> da.Array:
    """Return a Dask array whose chunks are the results of tasks; it has one dimension, or two with `n_columns`."""
    name = f"kfuse-{tasks[0].key}"
    inner, more = ((), ()) if n_columns is None else ((0,), ((n_columns,),))
    graph = {**graph_of(tasks), **{(name, i, *inner): one.key for i, one in enumerate(tasks)}}
    return da.Array(graph, name, (tuple(sizes), *more), dtype=dtype, meta=np.empty((0,) * (1 + len(inner)), dtype))


def clusters_of_leaves(columns: Columns, leaves: NDArray[np.intp], clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the cluster of each place, given those of the sub-clusters in its box."""
    return clusters[np.searchsorted(leaves, columns.subcluster)]


def scores(columns: Columns, clusters: NDArray[np.intp], n_clusters: int, background: float) -> NDArray[np.float64]:
    """Return how much of an outlier each place is; one that is in none of the clusters is nothing else."""
    return np.where(clusters == n_clusters, 1.0, noise.scores(columns.level, background))


def is_noise(columns: Columns, clusters: NDArray[np.intp], n_clusters: int, background: float) -> NDArray[np.bool_]:
    """Return which places are noise."""
    return scores(columns, clusters, n_clusters, background) > 0.5


def label(columns: Columns, clusters: NDArray[np.intp], n_clusters: int, background: float) -> NDArray[np.intp]:
    """Label places by their clusters, and those that are noise as such."""
    return np.where(is_noise(columns, clusters, n_clusters, background), NOISE, clusters)


class Nearest(NamedTuple):
    """The nearest sample of a box to each new sample, the first of several, and its label."""

    distance: NDArray[np.float64]
    sample: NDArray[np.int64]
    label: NDArray[np.intp]


def nearest_in_box(X: NDArray[Any], frame: Frame, box: Box, labels: NDArray[np.intp]) -> Nearest:
    """Find the nearest sample of a box to each new sample."""
    if not np.isfinite(X).all():
        raise ValueError("Input X contains NaN or infinity: drop such rows, or fill in numbers, before predicting.")
    # Samples of a box in their own order, so that the first of equally near ones is found.
    by_sample = np.argsort(box.first)
    rank = np.empty(by_sample.size, dtype=np.int32)
    rank[by_sample] = np.arange(by_sample.size)
    # Predictions measure distances before rounding. Any order of points makes a tree, though not the best one.
    tree = (box._replace(points=box.measured) if frame.rounding else box).tree()._replace(order=rank)
    with np.errstate(over="ignore"):  # new samples may lie beyond all bounds; they stay infinitely far
        found, distances = nearest(tree, in_unit(X, frame.unit) + 0.0, 1)
    place = by_sample[found[:, 0]]
    return Nearest(distances[:, 0], box.first[place], labels[place])


def nearest_label(found: list[Nearest]) -> NDArray[np.intp]:
    """Return the labels of the nearest samples, of all boxes."""
    distance, sample, labels = (np.array(column) for column in zip(*found, strict=True))
    best = np.lexsort((sample, distance), axis=0)[0]
    return labels[best, np.arange(best.size)]
