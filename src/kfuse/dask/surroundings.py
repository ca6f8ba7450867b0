"""The neighbourhood and the density of every place: the stages of `core.adaptive` on boxes and their halos."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive import density, neighborhoods, peaks, valleys
from kfuse.dask.exchange import Halos, View
from kfuse.dask.neighbors import Neighbors
from kfuse.dask.tasks import Task, results, started, task


class Rows(NamedTuple):
    """What a box knows of its places, and others may ask for; neighbours by their numbers among all places."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]
    counts: NDArray[np.int32]  # how many of the neighbours are in the neighbourhood
    log_density: NDArray[np.float64]
    radii: NDArray[np.float64]


class Ends(NamedTuple):
    """The rank of the first gap of each place."""

    ends: NDArray[np.int32]


class Climbing(NamedTuple):
    """What a place needs to know of another to climb to it."""

    indices: NDArray[np.int32]
    counts: NDArray[np.int32]
    log_density: NDArray[np.float64]


def intrinsic_dimension(neighbors: list[Task]) -> float:
    """Estimate the dimension of the data: box after box, so that the sum is that of one machine to the last bit."""
    total: Any = (0.0, 0)
    for one in neighbors:
        total = task(_add_spreads, one, total)
    return neighborhoods.dimension_of_spreads(*results([total])[0])


def _add_spreads(neighbors: Neighbors, total: tuple[float, int]) -> tuple[float, int]:
    return neighborhoods.sum_spreads(neighbors.distances, *total)


def describe_places(neighbors: list[Task], halos: Halos, dimension: float) -> tuple[list[Task], float]:
    """Return the `Rows` of each box, and the unit of the densities."""
    farthest = max(results([task(_farthest, one) for one in neighbors]))
    ends = started([task(_find_ends, one, dimension) for one in neighbors])
    found = zip(neighbors, ends, halos.views, halos.fetch(ends), strict=True)
    unit = density.log_density(np.full((1, int(farthest > 0)), farthest)).unit
    return started([task(_describe, *one, farthest) for one in found]), unit


def _farthest(neighbors: Neighbors) -> float:
    return float(neighbors.distances[:, -1:].max(initial=0.0))


def _find_ends(neighbors: Neighbors, dimension: float) -> Ends:
    """End the neighbourhood of each place at its first gap."""
    n_places, k = neighbors.indices.shape
    ends = np.full(n_places, k, dtype=np.int32)
    if k > neighborhoods.FEWEST_NEIGHBORS:
        neighborhoods.find_gaps(neighbors.distances, neighborhoods.widest_ratios(k, dimension), ends, 0, n_places)
    return Ends(ends)


def _describe(neighbors: Neighbors, own: Ends, view: View, halo: Ends, farthest: float) -> Rows:
    """Keep the gaps that neighbours share, and compute the density."""
    indices, distances = neighbors
    counts = own.ends.copy()
    if indices.shape[1] > neighborhoods.FEWEST_NEIGHBORS:
        # Positions of own places start at zero, as the kernel wants them; the halo follows.
        ends = np.concatenate([own.ends, halo.ends])
        neighborhoods.keep_shared(own_first(view, indices), ends, counts, 0, len(indices))
    rho = density.log_density(distances, farthest)
    return Rows(indices, distances, counts, rho.values, valleys.choose_scales(distances).radii)


def own_first(view: View, indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return positions of neighbours where own places come first, and then the halo."""
    low, n_own, positions = view.low, view.stop - view.start, view.positions(indices)
    in_halo = np.where(positions < low, positions + n_own, positions)
    return np.where((positions >= low) & (positions < low + n_own), positions - low, in_halo).astype(np.int32)


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
