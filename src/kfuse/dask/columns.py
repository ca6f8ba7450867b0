"""What there is to know of each place, as attributes of a fit show it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import noise
from kfuse.core.adaptive.density import LogDensity
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.climbing import Subclusters
from kfuse.dask.exchange import Halos, View
from kfuse.dask.surroundings import Described, Rows
from kfuse.dask.tasks import Task, task


class Columns(NamedTuple):
    """What there is to know of each place."""

    subcluster: NDArray[np.intp]
    density: NDArray[np.float64]  # in the unit of the data
    representative: NDArray[np.intp]  # as a sample
    reverse_count: NDArray[np.int64]
    level: NDArray[np.float64]  # the logarithm of the density, as noise is told by


class First(NamedTuple):
    """The first sample at each place."""

    first: NDArray[np.int64]


def columns_of_places(
    boxes: Boxes, unit: float, described: Described, subclusters: Subclusters, reverse_counts: list[Task], halos: Halos
) -> list[Task]:
    """Return the columns of the places of each box; `unit` is that of their distances."""
    rows, first = described.rows, [task(_first, box) for box in boxes.tasks]
    known = task(_known, described.density_unit, unit, [task(_highest, one) for one in rows])
    stages = boxes.tasks, rows, subclusters.labels, subclusters.climbed, reverse_counts
    # What a place climbs to is one of its neighbours, so it is in the halo of these.
    of_box = zip(*stages, halos.views, halos.fetch(first), strict=True)
    return [task(_columns, *one, known) for one in of_box]


def leaves_of(columns: Columns) -> NDArray[np.intp]:
    """Return the sub-clusters that places of a box belong to."""
    return np.unique(columns.subcluster)


def _known(unit_of_density: float, unit: float, highest: list[float]) -> tuple[float, float, float]:
    return unit_of_density, unit, max(highest)


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
