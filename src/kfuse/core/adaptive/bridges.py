"""Shortest bridges between the components of a graph that is not connected: Eq. 4 between whole components.

Boruvka's algorithm: every component finds its shortest bridge to another, all of them are built, and what is then
connected is a new component, until one is left. Ties go to the smaller pair of samples, so the bridges do not depend on
the order in which they are found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kfuse.core.adaptive.links import Ends, Links
from kfuse.core.search import Bridges, NeighborSearch


def with_bridges(links: Links, search: NeighborSearch, n_neighbors: int, ends: Ends) -> Links:
    """Add links that connect the components of the graph of sub-clusters.

    A bridge counts as a link that shares one of `n_neighbors`. Its level decreases with its length, in units of the
    larger radius of the neighbourhoods at its ends.
    """
    labels, radius, radii, log_density = ends.labels, ends.radius, ends.radii, ends.log_density
    component = components(links.first, links.second, int(labels.max()) + 1)
    bridges = shortest_bridges(search, component[labels])
    if not bridges.first.size:
        return links
    reach, length = np.maximum(radius[bridges.first], radius[bridges.second]), bridges.distance
    covered = np.divide(reach, length, out=np.ones_like(length), where=length > reach)
    covered = np.maximum(covered, np.finfo(float).tiny)
    root_weights = ends.root_weights
    weight = 1.0 / (n_neighbors + 1) ** 2 * (root_weights[bridges.first] * root_weights[bridges.second])
    level = np.minimum(log_density[bridges.first], log_density[bridges.second]) + np.log(covered)
    gap = np.maximum(np.maximum(radii[bridges.first], radii[bridges.second]), bridges.distance[:, None])
    return Links(
        np.concatenate([links.first, labels[bridges.first].astype(np.int32)]),
        np.concatenate([links.second, labels[bridges.second].astype(np.int32)]),
        np.concatenate([links.weight, weight]),
        np.concatenate([links.level, weight * level]),
        np.concatenate([links.gap, gap]),
    )


def components(first: NDArray[np.int32], second: NDArray[np.int32], n_nodes: int) -> NDArray[np.int32]:
    """Return the number of each node's connected component."""
    links = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(n_nodes, n_nodes))
    return connected_components(links, directed=False)[1]


def shortest_bridges(search: NeighborSearch, component: NDArray[np.int32]) -> Bridges:
    """Connect all components of samples with bridges of least total length."""
    built: list[Bridges] = []
    while component.max(initial=0) > 0:
        shortest = search.bridges(component)
        built.append(shortest)
        merged = components(component[shortest.first], component[shortest.second], int(component.max()) + 1)
        component = merged[component]
    if not built:
        return Bridges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    pairs = np.column_stack([np.concatenate([b.first for b in built]), np.concatenate([b.second for b in built])])
    pairs.sort(axis=1)
    _, kept = np.unique(pairs, axis=0, return_index=True)
    return Bridges(pairs[kept, 0], pairs[kept, 1], np.concatenate([b.distance for b in built])[kept])
