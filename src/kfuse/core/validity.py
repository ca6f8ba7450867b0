"""How valid a density-based clustering is: whether its clusters hold together at higher densities than they meet at.

To step from one sample to another, one must see as far as the gap between them: the largest of their distance and of
the distances of both to their eighth neighbour. A cluster holds together at the least gap that connects nearly all of
it, and it meets the others at the least gap across. Its validity is

    (meets - holds) / max(meets, holds),

from -1 to 1, as in DBCV (Moulavi et al., 2014), where a few outliers of a cluster decide and a single one has no value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.bridges import components, shortest_bridges
from kfuse.core.kernels import kernel
from kfuse.core.order import find
from kfuse.core.search import NeighborTable

N_LINKS = 8  # of each sample: to its nearest neighbours
NEARLY_ALL = 0.95  # of a cluster, which it holds together with


def validities(neighbors: NeighborTable, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Compute the validity of each cluster; labels are 0, 1, ..., without noise. A single cluster has validity 0."""
    sizes = np.bincount(labels)
    if sizes.size == 1:
        return np.zeros(1)
    by_label = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    holds = np.array([_gap_within(neighbors.subset(members)) for members in by_label])
    meets = _gaps_across(neighbors, labels)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num((meets - holds) / np.maximum(meets, holds))


def _gap_within(neighbors: NeighborTable) -> float:
    """Return the least gap that connects nearly all samples of a cluster."""
    n_samples = neighbors.n_samples
    if n_samples == 1:
        return 0.0
    first, second, gap = _links(neighbors)
    bridges = shortest_bridges(neighbors.search, components(first, second, n_samples))
    first, second = np.append(first, bridges.first), np.append(second, bridges.second)
    gap = np.append(gap, bridges.distance)  # longer than any link
    order = np.argsort(gap, kind="stable")
    enough = int(np.ceil(NEARLY_ALL * n_samples))
    return float(connects_at(first, second, gap, order, np.arange(n_samples), np.ones(n_samples, np.intp), enough))


def _gaps_across(neighbors: NeighborTable, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the least gap from each cluster to another: over links, or over the shortest way if there are none."""
    first, second, gap = _links(neighbors)
    is_across = labels[first] != labels[second]
    least = np.full(int(labels.max()) + 1, np.inf)
    for ends in (first, second):
        np.minimum.at(least, labels[ends[is_across]], gap[is_across])
    if np.isinf(least).any():
        bridges = neighbors.search.bridges(labels.astype(np.int32))
        for ends in (bridges.first, bridges.second):
            is_open = np.isinf(least)[labels[ends]]
            shortest = np.full(least.size, np.inf)
            np.minimum.at(shortest, labels[ends[is_open]], bridges.distance[is_open])
            least = np.minimum(least, shortest)
    return least


def _links(neighbors: NeighborTable) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the links of all samples to their nearest neighbours, and the gap of each."""
    nearest = neighbors.collect(min(N_LINKS, neighbors.n_samples - 1))
    first = np.repeat(np.arange(neighbors.n_samples, dtype=np.int32), nearest.indices.shape[1])
    second, radius = nearest.indices.ravel(), nearest.distances[:, -1]
    return first, second, np.maximum(np.maximum(radius[first], radius[second]), nearest.distances.ravel())


@kernel
def connects_at(first, second, gap, order, parents, sizes, enough):
    """Connect samples by ascending gap until one piece has enough of them; return the last gap."""
    for link in order:
        a, b = find(parents, first[link]), find(parents, second[link])
        if a != b:
            a, b = min(a, b), max(a, b)
            parents[b] = a
            sizes[a] += sizes[b]
        if sizes[a] >= enough:
            return gap[link]
    return np.inf
