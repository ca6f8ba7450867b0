"""The stages of LDP-MST: natural neighbours, local density peaks, their spanning tree, and its cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kfuse.core import natural
from kfuse.core.kernels import array_kernel, kernel
from kfuse.core.natural import NaturalNeighbors, sum_in_order
from kfuse.core.order import is_shorter, roots
from kfuse.core.paper.density import densest, positive_sums
from kfuse.core.search import NeighborTable


class LocalPeaks(NamedTuple):
    """The local density peaks, and the peak of each sample."""

    density: NDArray[np.float64]  # in the distances' unit
    peaks: NDArray[np.intp]  # sample indices, ascending
    labels: NDArray[np.intp]  # for each sample, the position of its peak in `peaks`


class SpanningTree(NamedTuple):
    """The minimum spanning tree of the peaks, grown from the first."""

    order: NDArray[np.intp]  # peaks in the order in which they are added
    parents: NDArray[np.intp]  # the peak each one is joined to; the first peak has itself
    lengths: NDArray[np.float64]  # of the edge to the parent


def natural_neighbors(neighbors: NeighborTable) -> NaturalNeighbors:
    """Search natural neighbours as kFuse does, but stop as soon as every sample is a neighbour of another (step 1).

    kFuse stops at the first round that changes nothing, which is one round later in that case.
    """
    found = natural.find_natural_neighbors(neighbors)
    fewer = found.natural_value - 1
    counts = np.zeros(neighbors.n_samples, dtype=np.int64)
    for block in neighbors.blocks(fewer) if fewer > 0 else ():
        counts += np.bincount(block.indices.ravel(), minlength=counts.size)
    return NaturalNeighbors(fewer, counts) if counts.all() else found


def find_peaks(neighbors: NeighborTable, found: NaturalNeighbors) -> LocalPeaks:
    """Compute densities from max(nb) neighbours; assign samples to peaks by lambda neighbours (steps 2 and 3)."""
    sums = np.empty(neighbors.n_samples)
    for block in neighbors.blocks(found.n_neighbors):
        sums[block.rows] = sum_in_order(block.distances)
    with np.errstate(over="ignore"):  # densities of tiny distances may exceed float64
        density = np.nan_to_num(found.reverse_counts / positive_sums(sums))
    representatives = np.arange(neighbors.n_samples)
    for block in neighbors.blocks(found.natural_value):
        representatives[block.rows] = densest(block.rows, block.indices, density)
    peaks, labels = np.unique(roots(representatives), return_inverse=True)
    return LocalPeaks(density, peaks, labels.ravel())


def spanning_tree(neighbors: NeighborTable, natural_value: int, found: LocalPeaks) -> SpanningTree:
    """Build the minimum spanning tree of the peaks; ties go to the first pair (i, j) (steps 4 and 5).

    Prim's algorithm needs the lengths from one peak at a time, so no matrix of all pairs of peaks is stored.
    """
    counts, densities = _shared(neighbors, natural_value, found)
    between = neighbors.distances.subset(found.peaks)
    unit = neighbors.distances.unit
    n_peaks = found.peaks.size
    farthest = max(float(between.rows(np.array([peak])).max()) for peak in range(n_peaks)) * unit

    tree = SpanningTree(np.zeros(n_peaks, dtype=np.intp), np.arange(n_peaks), np.full(n_peaks, np.inf))
    joined = np.zeros(n_peaks, dtype=np.bool_)
    for step in range(n_peaks - 1):
        peak = tree.order[step]
        joined[peak] = True
        stored = slice(counts.indptr[peak], counts.indptr[peak + 1])
        others = counts.indices[stored]
        with np.errstate(over="ignore"):  # extreme units
            distances = between.rows(np.array([peak]))[0] * unit
            lengths = farthest * (1 + distances)
            lengths[others] = distances[others] / (counts.data[stored] * densities.data[stored]) * unit
        tree.order[step + 1] = next_to_join(peak, lengths, joined, tree.parents, tree.lengths)
    return tree


def _shared(neighbors: NeighborTable, natural_value: int, found: LocalPeaks) -> tuple[csr_array, csr_array]:
    """Count the samples that the neighbourhoods of two peaks share, and sum their densities."""
    rows, samples = [found.labels], [np.arange(neighbors.n_samples)]
    for block in neighbors.blocks(natural_value):
        rows.append(np.repeat(found.labels[block.rows], natural_value))
        samples.append(block.indices.ravel().astype(np.intp))
    shape = found.peaks.size, neighbors.n_samples
    row, column = np.concatenate(rows), np.concatenate(samples)
    within = csr_array((np.ones(row.size), (row, column)), shape=shape)
    within.sum_duplicates()
    within.data[:] = 1
    weighted = within.copy()
    weighted.data = found.density[within.indices]
    transposed = within.T.tocsr()
    counts, densities = csr_array(within @ transposed), csr_array(weighted @ transposed)
    counts.sort_indices()
    densities.sort_indices()
    return counts, densities


@kernel
def next_to_join(
    peak: int,
    lengths: NDArray[np.float64],
    joined: NDArray[np.bool_],
    parents: NDArray[np.intp],
    shortest: NDArray[np.float64],
) -> int:
    """Update the shortest edges with those of the peak added last, and return the peak to add next."""
    best = -1
    for other in range(joined.size):
        if joined[other]:
            continue
        if parents[other] == other or is_shorter(lengths[other], peak, other, shortest[other], parents[other], other):
            parents[other], shortest[other] = peak, lengths[other]
        if best < 0 or is_shorter(shortest[other], parents[other], other, shortest[best], parents[best], best):
            best = other
    return best


def cut(tree: SpanningTree, sizes: NDArray[np.intp], smallest: float, n_clusters: int) -> NDArray[np.intp]:
    """Cut the longest edges first, ties by (i, j), if both sides keep `smallest` samples (step 5)."""
    if sizes.size <= n_clusters:
        return np.arange(sizes.size)
    heads = tree.order[1:]
    ends = np.sort(np.column_stack([heads, tree.parents[heads]]), axis=1)
    longest_first = heads[np.lexsort((ends[:, 1], ends[:, 0], -tree.lengths[heads]))]
    return cut_edges(tree.order, tree.parents, longest_first, sizes, smallest, n_clusters)


@array_kernel
def cut_edges(
    order: NDArray[np.intp],
    parents: NDArray[np.intp],
    heads: NDArray[np.intp],
    sizes: NDArray[np.intp],
    smallest: float,
    n_clusters: int,
) -> NDArray[np.intp]:
    """Cut edges, each given by its head, and number the components."""
    below = sizes.copy()  # samples in the subtree of each peak
    for head in order[:0:-1]:
        below[parents[head]] += below[head]
    is_top = np.zeros(order.size, dtype=np.bool_)
    is_top[order[0]] = True
    n_components = 1
    for head in heads:
        if n_components == n_clusters:
            break
        top = parents[head]
        while not is_top[top]:
            top = parents[top]
        if below[head] >= smallest and below[top] - below[head] >= smallest:
            above = parents[head]
            while above != top:
                below[above] -= below[head]
                above = parents[above]
            below[top] -= below[head]
            is_top[head] = True
            n_components += 1
    components = np.empty(order.size, dtype=np.intp)
    n_numbered = 0
    for peak in order:
        if is_top[peak]:
            components[peak] = n_numbered
            n_numbered += 1
        else:
            components[peak] = components[parents[peak]]
    return components
