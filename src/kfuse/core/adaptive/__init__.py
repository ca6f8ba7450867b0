"""The default, `fusion="adaptive"`: the fusion index updated after every merge, on the graph of shared neighbours.

It keeps the paper's ideas and makes each of them stable:

- natural neighbours set the scale: k = max(nb), as printed, but at most 4 lambda, since hubs make it needlessly large;
- sub-clusters are what climbs to one local density peak along natural neighbours (Definitions 4 to 6), in no order;
- boundary connectivity counts the neighbours shared across the boundary (Definition 8), link by link;
- density similarity compares the density on the boundary with that of both sides.

`fit` is the line of stages, one file each: places, natural neighbours, density, peaks, links, bridges, fusion, the
order in which merges are undone (`borders`), and their strength, from which `n_clusters` reads the number of clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core import natural
from kfuse.core.adaptive import borders, bridges, density, fusion, links, n_clusters, peaks, places
from kfuse.core.dendrogram import nodes_of_merges
from kfuse.core.execution import Execution
from kfuse.core.result import Result
from kfuse.core.search import NeighborBlock, NeighborTable

REACH = 4  # the most neighbours to link a sample with, in units of lambda: hubs make max(nb) needlessly large


def fit(neighbors: NeighborTable, execution: Execution) -> Result:
    """Run all stages on the distinct samples; return what they found for every sample."""
    stage, unit = execution.progress.stage, neighbors.distances.unit
    with stage("neighbours"):
        distinct, neighbors = places.find_places(neighbors)
    with stage("natural neighbours"):
        found = natural.find_natural_neighbors(neighbors, REACH)
        k = min(found.n_neighbors, REACH * found.natural_value, neighbors.n_samples - 1)
        nearest = neighbors.collect(k)
    with stage("density"):
        rho = density.log_density(nearest.distances)
    with stage("sub-clusters"):
        basins = peaks.climb(nearest.indices, rho.values, found.natural_value, execution)
    with stage("merging"):
        merges = merge(neighbors, nearest, rho.values, basins.labels, execution)
    place, height = distinct.place, borders.heights(merges, found.natural_value)
    order = borders.by_height(height)
    return Result(
        natural_value=found.natural_value,
        n_neighbors=k,
        reverse_counts=found.reverse_counts[place],
        density=rho.in_unit_of_data(unit)[place],
        representatives=distinct.first[basins.representatives][place],
        subclusters=basins.labels[place],
        left_out=_without_reverse_neighbors(distinct, found)[place],
        children=nodes_of_merges(*merges.edge[order].T),
        log_index=merges.log_index[order],
        height=height[order],
        strength=n_clusters.strengths(merges)[order],
        leaving=peaks.order_of_leaving(basins, rho.values)[place],
    )


def merge(
    neighbors: NeighborTable,
    nearest: NeighborBlock,
    log_density: NDArray[np.float64],
    labels: NDArray[np.intp],
    execution: Execution,
) -> fusion.Merges:
    """Merge sub-clusters, the pair with the largest index first, down to one."""
    graph = links.links_between(nearest, labels, log_density, execution)
    graph = bridges.with_bridges(graph, neighbors.search, nearest, log_density, labels)
    sizes = np.bincount(labels).astype(np.float64)
    log_densities = np.bincount(labels, weights=log_density).astype(np.float64)
    return fusion.agglomerate(graph, fusion.Nodes(sizes, log_densities), execution)


def _without_reverse_neighbors(distinct: places.Places, found: natural.NaturalNeighbors) -> NDArray[np.bool_]:
    """Find the places of one sample that is among no other sample's lambda nearest neighbours."""
    samples = np.bincount(distinct.place)
    return (found.reverse_counts == 0) & (samples == 1) & (samples.size > 1)
