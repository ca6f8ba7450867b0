"""From places back to the samples of X: Dask arrays with the chunks of X."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from kfuse.core import noise
from kfuse.core.adaptive.density import LogDensity
from kfuse.core.search.kd_tree import nearest
from kfuse.dask.boxes import Box
from kfuse.dask.exchange import Halos, View, view_of
from kfuse.dask.line import Fitted
from kfuse.dask.rows import Frame, in_unit
from kfuse.dask.surroundings import Rows
from kfuse.dask.tasks import Task, graph_of, results, shared, task

NOISE = -1


class Columns(NamedTuple):
    """What there is to know of each place, or of each sample."""

    subcluster: NDArray[np.intp]
    density: NDArray[np.float64]  # in the unit of the data
    representative: NDArray[np.intp]  # as a sample
    reverse_count: NDArray[np.int64]
    level: NDArray[np.float64]  # the logarithm of the density, as noise is told by


class First(NamedTuple):
    """The first sample at each place."""

    first: NDArray[np.int64]


def columns_of_places(found: Fitted) -> list[Task]:
    """Return the columns of the places of each box."""
    starts = found.boxes.starts
    climbed = [task(_view, *one) for one in zip(found.representatives, starts[:-1].tolist(), strict=True)]
    halos = Halos.of(climbed, starts)
    first = [task(_first, box) for box in found.boxes.tasks]
    highest = max(results([task(_highest, one) for one in found.rows]))
    known = shared((found.density_unit, found.frame.unit_of_distances, highest))
    stages = (found.boxes.tasks, found.rows, found.subclusters, found.representatives, found.reverse_counts)
    of_box = zip(*stages, halos.views, halos.fetch(first), strict=True)
    return [task(_columns, *one, known) for one in of_box]


def _view(representatives: NDArray[np.int32], start: int) -> View:
    return view_of(representatives, start)


def _highest(rows: Rows) -> float:
    return float(rows.levels.max())


def _first(box: Box) -> First:
    return First(box.first)


def _columns(
    box: Box,
    rows: Rows,
    subclusters: NDArray[np.int32],
    representatives: NDArray[np.int32],
    reverse_counts: NDArray[np.int64],
    view: View,
    halo: First,
    known: tuple[float, float, float],
) -> Columns:
    unit_of_density, unit, highest = known
    first = view.around(box.first, halo.first)
    return Columns(
        subclusters.astype(np.intp),
        LogDensity(rows.log_density, unit_of_density).in_unit_of_data(unit),
        first[view.positions(representatives)].astype(np.intp),
        reverse_counts,
        np.where(box.n_samples > noise.FEW, highest, rows.levels),
    )


def columns_of_samples(columns: list[Task], places: list[Task], starts: NDArray[np.int64]) -> list[Task]:
    """Return the columns of the samples of each chunk, given those of the places of each box."""
    known = shared(starts)
    return [
        task(_assembled, of_chunk, known, [task(_picked, one, of_chunk, known, box) for box, one in enumerate(columns)])
        for of_chunk in places
    ]


def _picked(columns: Columns, places: NDArray[np.int32], starts: NDArray[np.int64], box: int) -> Columns:
    rows = places[(places >= starts[box]) & (places < starts[box + 1])] - starts[box]
    return Columns(*(column[rows] for column in columns))


def _assembled(places: NDArray[np.int32], starts: NDArray[np.int64], pieces: list[Columns]) -> Columns:
    order = np.argsort(np.searchsorted(starts, places, side="right"), kind="stable")
    found = []
    for column in zip(*pieces, strict=True):
        values = np.concatenate(column)
        values[order] = values.copy()
        found.append(values)
    return Columns(*found)


def array_of(tasks: list[Task], sizes: list[int], dtype: Any) -> da.Array:
    """Return a Dask array whose chunks are the results of tasks."""
    name = f"kfuse-{tasks[0].key}"
    graph = {**graph_of(tasks), **{(name, i): one.key for i, one in enumerate(tasks)}}
    return da.Array(graph, name, chunks=(tuple(sizes),), dtype=dtype, meta=np.empty(0, dtype))


def label(columns: Columns, of_leaf: NDArray[np.intp], background: float | None) -> NDArray[np.intp]:
    """Label samples as their sub-clusters are labelled, and those sparser than a background as noise."""
    labels = of_leaf[columns.subcluster]
    return labels if background is None else np.where(is_noise(columns, background), NOISE, labels)


def scores(columns: Columns, background: float) -> NDArray[np.float64]:
    """Return how much of an outlier each sample is."""
    return noise.scores(columns.level, background)


def is_noise(columns: Columns, background: float) -> NDArray[np.bool_]:
    """Return which samples are noise."""
    return scores(columns, background) > 0.5


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
