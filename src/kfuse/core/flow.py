"""The line of stages from neighbours to the fusion tree, for each way of fusing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import climb, density, distinct, natural, partition
from kfuse.core.fusion import adaptive, paper
from kfuse.core.neighbors import NeighborTable
from kfuse.core.tree import FusionTree

REACH = 4  # the most neighbours to link a sample with, in units of lambda: hubs make max(nb) needlessly large


class Flow(NamedTuple):
    """What each stage found, one entry per sample."""

    natural: natural.NaturalNeighbors
    n_neighbors: int
    density: NDArray[np.float64]
    representatives: NDArray[np.intp]
    subclusters: NDArray[np.intp]
    left_out: NDArray[np.bool_]
    tree: FusionTree


def fuse_as_printed(neighbors: NeighborTable) -> Flow:
    """Follow the paper, Algorithms 1 to 3."""
    stage = neighbors.progress.stage
    with stage("natural neighbours"):
        found = natural.search(neighbors)
    with stage("density"):
        rho = density.estimate(neighbors, found)
    with stage("sub-clusters"):
        parts = partition.divide(neighbors, rho, found.n_neighbors)
    with stage("fusion"):
        tree = paper.fuse(neighbors, rho.values, parts, found.natural_value)
    return Flow(found, found.n_neighbors, rho.values, rho.representatives, parts.labels, parts.left_out, tree)


def fuse_adaptively(neighbors: NeighborTable) -> Flow:
    """Follow the default: the same stages, on distinct samples, with an index that follows the fusions."""
    stage = neighbors.progress.stage
    with stage("neighbours"):
        places, neighbors = distinct.find_places(neighbors)
    with stage("natural neighbours"):
        found = natural.search(neighbors, REACH)
        k = min(found.n_neighbors, REACH * found.natural_value, neighbors.n_samples - 1)
        nearest = neighbors.collect(k)
    with stage("density"):
        rho = density.log_density(nearest.distances)
    with stage("sub-clusters"):
        basins = climb.climb(nearest.indices, rho.values, found.natural_value, neighbors.n_threads)
    with stage("fusion"):
        tree = adaptive.fuse(neighbors, nearest, rho.values, basins.labels)
    return _at_all_samples(places, found, k, rho, basins, tree)


def _at_all_samples(
    places: distinct.Places,
    found: natural.NaturalNeighbors,
    k: int,
    rho: density.LogDensity,
    basins: climb.Basins,
    tree: FusionTree,
) -> Flow:
    """Give every sample what was found for its place."""
    place = places.place
    leaving = climb.order_of_leaving(basins, rho.values)
    leaf_sizes = np.bincount(basins.labels[place], minlength=tree.n_leaves)
    return Flow(
        natural=found._replace(reverse_counts=found.reverse_counts[place]),
        n_neighbors=k,
        density=rho.in_unit_of_data()[place],
        representatives=places.first[basins.representatives][place],
        subclusters=basins.labels[place],
        left_out=_nobodys_neighbors(places, found)[place],
        tree=tree.with_samples(basins.labels[place], leaf_sizes, leaving[place]),
    )


def _nobodys_neighbors(places: distinct.Places, found: natural.NaturalNeighbors) -> NDArray[np.bool_]:
    """The places of one sample that is not a natural neighbour of any other."""
    samples = np.bincount(places.place)
    return (found.reverse_counts == 0) & (samples == 1) & (samples.size > 1)


FLOWS: dict[str, Callable[[NeighborTable], Flow]] = {"adaptive": fuse_adaptively, "paper": fuse_as_printed}
