"""The neighbourhood and the density of every place: the stages of `core.adaptive` on boxes and their halos."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import noise
from kfuse.core.adaptive import density, neighborhoods, peaks, places, scales
from kfuse.core.natural import sum_in_order
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.exchange import Halos, View
from kfuse.dask.neighbors import Neighbors
from kfuse.dask.tasks import Task, results_of, shared, started, task


class Rows(NamedTuple):
    """What a box knows of its places, and others may ask for; neighbours by their numbers among all places."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]
    counts: NDArray[np.int32]  # how many of the neighbours are in the neighbourhood
    log_density: NDArray[np.float64]
    radii: NDArray[np.float64]
    weights: NDArray[np.float64]
    spreads: NDArray[np.float64]  # as `core.adaptive.scales` has them, those across a gap included
    levels: NDArray[np.float64]  # the logarithm of the density, as noise is told by


class Weighing(NamedTuple):
    """How the numbers of samples at places become weights: see `core.adaptive.places`."""

    largest: float
    mean: float  # of the weights relative to the largest
    is_weighted: bool

    def weights(self, copies: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the weights of places with so many samples."""
        return places.relative_to_largest(copies.astype(np.float64), self.largest) / self.mean


class Described(NamedTuple):
    """What is known of all places once densities are."""

    rows: list[Task]  # `Rows`, one per box
    density_unit: float
    dimension: float  # intrinsic
    n_neighbors: int  # k


class Ends(NamedTuple):
    """The rank of the first gap of each place, and how many samples are there."""

    ends: NDArray[np.int32]
    copies: NDArray[np.int32]


class Climbing(NamedTuple):
    """What a place needs to know of another to climb to it."""

    indices: NDArray[np.int32]
    counts: NDArray[np.int32]
    log_density: NDArray[np.float64]


def sum_of_spreads(neighbors: list[Task]) -> Task:
    """Add up what tells the dimension of the data: box after box, so that the sum is that of one machine."""
    total: Any = (0.0, 0)
    for one in neighbors:
        total = task(_add_spreads, task(_spreads, one), total)
    return total


def _spreads(neighbors: Neighbors) -> NDArray[np.float64]:
    return neighborhoods.spreads_of(neighbors.distances)


def _add_spreads(spreads: NDArray[np.float64], total: tuple[float, int]) -> tuple[float, int]:
    return neighborhoods.add_spreads(spreads, *total)


def weigh(copies: list[NDArray[np.int32]]) -> Weighing:
    """Find how to weigh places; sums depend on their order, so that the mean is computed on this node."""
    total = np.concatenate(copies).astype(np.float64)
    largest = float(total.max())
    return Weighing(largest, float(places.relative_to_largest(total, largest).mean()), total.min() < largest)


def _copies(box: Box) -> NDArray[np.int32]:
    return box.n_samples


def describe_places(neighbors: list[Task], boxes: Boxes, halos: Halos, k: int, step: float) -> Described:
    """Find the neighbourhood and the density of every place, given its k nearest neighbours; `step` as in `Frame`."""
    copies, reached = [task(_copies, box) for box in boxes.tasks], [task(_farthest, one) for one in neighbors]
    [spreads], copies_of_boxes, farthest_of_boxes = results_of([sum_of_spreads(neighbors)], copies, reached)
    dimension, farthest = neighborhoods.dimension_of_spreads(*spreads), max(farthest_of_boxes)
    weighing = weigh(copies_of_boxes)
    ends = started([task(_find_ends, *one, dimension) for one in zip(neighbors, boxes.tasks, strict=True)])
    found = zip(neighbors, ends, halos.views, halos.fetch(ends), strict=True)
    known = shared((farthest, dimension, weighing, step))
    rows = started([task(_describe, *one, known) for one in found])
    return Described(rows, density.unit_of(farthest), dimension, k)


def _farthest(neighbors: Neighbors) -> float:
    return float(neighbors.distances[:, -1:].max(initial=0.0))


def _find_ends(neighbors: Neighbors, box: Box, dimension: float) -> Ends:
    """End the neighbourhood of each place at its first gap."""
    n_places, k = neighbors.indices.shape
    ends = np.full(n_places, k, dtype=np.int32)
    if k > neighborhoods.FEWEST_NEIGHBORS:
        neighborhoods.find_gaps(neighbors.distances, neighborhoods.widest_ratios(k, dimension), ends)
    return Ends(ends, box.n_samples)


def _describe(
    neighbors: Neighbors, own: Ends, view: View, halo: Ends, known: tuple[float, float, Weighing, float]
) -> Rows:
    """Keep the gaps that neighbours share, and compute the density."""
    (indices, distances), (farthest, dimension, weighing, step) = neighbors, known
    # Positions of own places start at zero, as the kernels want them; the halo follows.
    positions, around = view.own_first(indices), Ends(*(np.concatenate(one) for one in zip(own, halo, strict=True)))
    counts, weights = own.ends.copy(), weighing.weights(around.copies)
    if indices.shape[1] > neighborhoods.FEWEST_NEIGHBORS:
        neighborhoods.keep_shared(positions, around.ends, counts, 0, len(indices))
    rho = density.log_density(sum_in_order(distances), indices.shape[1], farthest).values
    if weighing.is_weighted:
        rho += density.log_mean_weight(positions, weights) / max(dimension, 1.0)
    levels = noise.log_levels(positions, distances, around.copies.astype(np.intp), own.copies, dimension)
    seen = scales.all_scales(distances, step)
    return Rows(indices, distances, counts, rho, seen.radii, weights[: len(indices)], seen.spreads, levels)


def find_representatives(rows: list[Task], halos: Halos, natural_value: int) -> list[Task]:
    """Find the number of the place that each place climbs to."""
    step = peaks.count_of_climbing(natural_value)
    climbing = [task(_climbing, one, step) for one in rows]
    found = zip(climbing, halos.views, halos.fetch(climbing), strict=True)
    return started([task(_climb, *one, natural_value) for one in found])


def _climbing(rows: Rows, step: int) -> Climbing:
    return Climbing(np.ascontiguousarray(rows.indices[:, :step]), rows.counts, rows.log_density)


def _climb(own: Climbing, view: View, halo: Climbing, natural_value: int) -> NDArray[np.int32]:
    indices, counts, log_density = view.around_all(own, halo)
    samples = range(view.own.start, view.own.stop)
    found = peaks.find_representatives(view.positions(indices), counts, log_density, natural_value, samples)
    return view.numbers[found[view.own]]
