"""The graph of shared neighbours: who is linked to whom, how strongly, and across which density.

Two samples are linked if one is among the other's k nearest. The link's weight is the squared share of neighbours that
they have in common, a sample counting as its own neighbour here, and half of that if only one has the other as a
neighbour. A link inside a cluster shares most neighbours, one across a gap few. Its level is the log-density of its
sparser end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.fusion.agglomerate import Links


def shared_neighbor_links(indices: NDArray[np.int32], log_density: NDArray[np.float64]) -> Links:
    """Link the samples whose lists of k nearest neighbours are the rows of `indices`."""
    first, second, weight = link_neighbors(indices, np.sort(indices, axis=1))
    return Links(first, second, weight, weight * np.minimum(log_density[first], log_density[second]))


@kernel
def link_neighbors(indices, by_index):
    """Give each pair of neighbours once, with its weight; `by_index` has the lists in ascending order."""
    n_samples, k = indices.shape
    first = np.empty(n_samples * k, dtype=np.int32)
    second = np.empty(n_samples * k, dtype=np.int32)
    weight = np.empty(n_samples * k)
    count = 0
    for sample in range(n_samples):
        for other in indices[sample]:
            shared, is_mutual = count_shared(sample, other, by_index)
            if is_mutual and other < sample:
                continue  # this pair was met from the other side
            share = shared / (k + 1)
            first[count], second[count] = sample, other
            weight[count] = share * share if is_mutual else share * share / 2.0
            count += 1
    return first[:count].copy(), second[:count].copy(), weight[:count].copy()


@kernel
def count_shared(sample, other, by_index):
    """Count what the lists of two samples share, each with itself added, where other is in sample's list."""
    k = by_index.shape[1]
    shared = 1  # `other`: in one list, and itself
    is_mutual = False
    i = j = 0
    while i < k and j < k:
        mine, theirs = by_index[sample, i], by_index[other, j]
        if theirs == sample:
            is_mutual = True
        if mine == theirs:
            shared += 1
            i += 1
            j += 1
        elif mine < theirs:
            i += 1
        else:
            j += 1
    while j < k and not is_mutual:
        is_mutual = by_index[other, j] == sample
        j += 1
    return shared + is_mutual, is_mutual
