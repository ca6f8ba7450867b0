"""The adaptive fusion: the fusion index taken anew after every fusion, on the graph of shared neighbours.

It keeps the paper's ideas and makes each of them steady:

- natural neighbours set the scale: k = max(nb), as printed, but at most 4 lambda, since hubs make it needlessly large;
- sub-clusters are what climbs to one local density peak along natural neighbours (Definitions 4 to 6), in no order;
- boundary connectivity counts the neighbours shared across the boundary (Definition 8), link by link;
- density similarity compares the density on the boundary with that of both sides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.bridges import pieces, shortest_bridges
from kfuse.core.compiled import kernel
from kfuse.core.fusion.agglomerate import Links, Nodes, agglomerate
from kfuse.core.graph import shared_neighbor_links
from kfuse.core.neighbors import NeighborBlock, NeighborTable
from kfuse.core.number import strengths
from kfuse.core.tree import FusionTree, tree_of_fusions


def fuse(
    neighbors: NeighborTable, nearest: NeighborBlock, log_density: NDArray[np.float64], labels: NDArray[np.intp]
) -> FusionTree:
    """Fuse sub-clusters, the pair with the largest index first, down to one."""
    links = with_bridges(shared_neighbor_links(nearest.indices, log_density), neighbors, nearest, log_density)
    n_subclusters = int(labels.max()) + 1
    between = contract(links, labels, n_subclusters)
    sizes = np.bincount(labels, minlength=n_subclusters).astype(np.float64)
    log_densities = np.bincount(labels, weights=log_density, minlength=n_subclusters).astype(np.float64)
    fused, log_index = agglomerate(between, Nodes(sizes, log_densities))
    tree = tree_of_fusions(labels, fused[:, 0], fused[:, 1], log_index)
    first, second = tree.sizes[tree.children.T]
    return tree._replace(strength=strengths(log_index, first, second))


def with_bridges(
    links: Links, neighbors: NeighborTable, nearest: NeighborBlock, log_density: NDArray[np.float64]
) -> Links:
    """Add links that connect the pieces of the graph.

    A bridge counts as a link that shares one neighbour. Its level sinks with its length, in units of the reach of the
    neighbourhoods at its ends.
    """
    bridges = shortest_bridges(neighbors.search, pieces(links.first, links.second, neighbors.n_samples))
    if not bridges.first.size:
        return links
    reach = nearest.distances[:, -1]
    with np.errstate(divide="ignore"):
        reached = np.maximum(reach[bridges.first], reach[bridges.second]) / bridges.distance
    reached = np.clip(reached, np.finfo(float).tiny, 1.0)
    weight = np.full(bridges.first.size, 1.0 / (nearest.indices.shape[1] + 1) ** 2)
    level = np.minimum(log_density[bridges.first], log_density[bridges.second]) + np.log(reached)
    return Links(
        np.concatenate([links.first, bridges.first]),
        np.concatenate([links.second, bridges.second]),
        np.concatenate([links.weight, weight]),
        np.concatenate([links.level, weight * level]),
    )


@kernel
def contract(links, labels, n_subclusters):
    """Add up the links between each two sub-clusters."""
    n_links = links.first.size
    starts = np.zeros(n_subclusters + 1, dtype=np.int64)
    for link in range(n_links):
        starts[min(labels[links.first[link]], labels[links.second[link]]) + 1] += 1
    starts = np.cumsum(starts)
    by_lower = np.empty(n_links, dtype=np.int64)
    filled = starts[:-1].copy()
    for link in range(n_links):
        lower = min(labels[links.first[link]], labels[links.second[link]])
        by_lower[filled[lower]] = link
        filled[lower] += 1

    first, second = np.empty(n_links, dtype=np.int32), np.empty(n_links, dtype=np.int32)
    weight, level = np.zeros(n_links), np.zeros(n_links)
    slot_of = np.full(n_subclusters, -1)
    count = 0
    for lower in range(n_subclusters):
        begin = count
        for position in range(starts[lower], starts[lower + 1]):
            link = by_lower[position]
            upper = max(labels[links.first[link]], labels[links.second[link]])
            if upper == lower:
                continue
            if slot_of[upper] < begin:
                slot_of[upper] = count
                first[count], second[count] = lower, upper
                count += 1
            weight[slot_of[upper]] += links.weight[link]
            level[slot_of[upper]] += links.level[link]
    return Links(first[:count].copy(), second[:count].copy(), weight[:count].copy(), level[:count].copy())
