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

from kfuse.core.fusion.agglomerate import Links, Nodes, agglomerate
from kfuse.core.fusion.bridges import pieces, shortest_bridges
from kfuse.core.fusion.graph import links_between
from kfuse.core.neighbors import NeighborBlock, NeighborTable
from kfuse.core.number import strengths
from kfuse.core.tree import FusionTree, tree_of_fusions


def fuse(
    neighbors: NeighborTable, nearest: NeighborBlock, log_density: NDArray[np.float64], labels: NDArray[np.intp]
) -> FusionTree:
    """Fuse sub-clusters, the pair with the largest index first, down to one."""
    links = links_between(nearest, labels, log_density, neighbors.n_threads, neighbors.progress)
    links = with_bridges(links, neighbors, nearest, log_density, labels)
    n_subclusters = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_subclusters).astype(np.float64)
    log_densities = np.bincount(labels, weights=log_density, minlength=n_subclusters).astype(np.float64)
    fused, log_index, log_weight = agglomerate(links, Nodes(sizes, log_densities), neighbors.progress)
    tree = tree_of_fusions(labels, fused[:, 0], fused[:, 1], log_index)
    first, second = tree.sizes[tree.children.T]
    return tree._replace(strength=strengths(log_index, log_weight, first, second))


def with_bridges(
    links: Links,
    neighbors: NeighborTable,
    nearest: NeighborBlock,
    log_density: NDArray[np.float64],
    labels: NDArray[np.intp],
) -> Links:
    """Add links that connect the pieces of the graph of sub-clusters.

    A bridge counts as a link that shares one neighbour. Its level sinks with its length, in units of the reach of the
    neighbourhoods at its ends.
    """
    piece = pieces(links.first, links.second, int(labels.max()) + 1)
    bridges = shortest_bridges(neighbors.search, piece[labels])
    if not bridges.first.size:
        return links
    reach = nearest.distances[:, -1]
    with np.errstate(divide="ignore"):
        reached = np.maximum(reach[bridges.first], reach[bridges.second]) / bridges.distance
    reached = np.clip(reached, np.finfo(float).tiny, 1.0)
    weight = np.full(bridges.first.size, 1.0 / (nearest.indices.shape[1] + 1) ** 2)
    level = np.minimum(log_density[bridges.first], log_density[bridges.second]) + np.log(reached)
    return Links(
        np.concatenate([links.first, labels[bridges.first].astype(np.int32)]),
        np.concatenate([links.second, labels[bridges.second].astype(np.int32)]),
        np.concatenate([links.weight, weight]),
        np.concatenate([links.level, weight * level]),
    )
