"""The neighbours of the samples of a fit, found again for the questions that come after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.places import find_places
from kfuse.core.natural import sum_in_order
from kfuse.core.result import Surroundings
from kfuse.core.search import NeighborTable


def find_surroundings(neighbors: NeighborTable, k: int) -> Surroundings:
    """Find the k nearest neighbours of every place."""
    unit = neighbors.distances.unit
    distinct, neighbors = find_places(neighbors)
    nearest = neighbors.collect(min(k, neighbors.n_samples - 1, neighbors.search.most_neighbors))
    return Surroundings(distinct.place, nearest.indices, nearest.distances, unit)


def log_density(
    distances: NDArray[np.float64], unit: float, copies: NDArray[np.float64], around: NDArray[np.intp], dimension: float
) -> NDArray[np.float64]:
    """Compute the logarithm of one over the mean distance to the neighbours, in the data's unit.

    Where places differ in how many `copies` they have, as many times as there are on average, over the places `around`.
    """
    if distances.shape[1] == 0:
        return np.zeros(len(distances))
    mean = sum_in_order(distances) / distances.shape[1]
    values = -np.log(np.maximum(mean, np.finfo(float).tiny)) - np.log(unit)
    if (copies != copies[0]).any():
        values += np.log(copies[around].mean(axis=1) / copies.mean()) / max(dimension, 1.0)
    return np.asarray(values)
