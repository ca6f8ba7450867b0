"""Maximum spanning trees of sub-clusters, and which pairs can improve one.

Pairs come in decreasing order of their fusion index; of equal ones, the smaller pair (i, j) first. So the
tree is unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.dendrogram import nodes_of_merges, sizes_of_nodes
from kfuse.core.kernels import kernel
from kfuse.core.order import find, merges_before
from kfuse.core.paper.boundary import log_connectivity
from kfuse.core.paper.similarity import log_similarity

PAIRS_AT_A_TIME = 2**18  # that are found
LOOKS_AT_A_TIME = 2**26  # at pairs, found or not: so that Ctrl-C is heard
LOG_2 = np.log(2.0) + 1e-9  # the similarity of two densities is at most 2; more than enough for rounding


class Edges(NamedTuple):
    """Pairs i < j of sub-clusters and the logarithm of their fusion index."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    log_index: NDArray[np.float64]

    def only(self, which: Any) -> Edges:
        """Return some of the edges."""
        return Edges(self.i[which], self.j[which], self.log_index[which])


NO_EDGES = Edges(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))


class SubClusters(NamedTuple):
    """What bounds the fusion index of two sub-clusters that share no samples."""

    sizes: NDArray[np.intp]
    means: NDArray[np.float64]  # of density
    variances: NDArray[np.float64]
    radius: NDArray[np.float64]  # no distance to a sub-cluster that shares no samples is smaller


class Stretches(NamedTuple):
    """Leaves from start to middle merge with those from middle to stop, one entry per merge."""

    starts: NDArray[np.intp]
    middles: NDArray[np.intp]
    stops: NDArray[np.intp]


def spanning_tree(n_nodes: int, *edges: Edges) -> Edges:
    """Find the edges of the maximum spanning tree (Kruskal), in the order in which they merge."""
    together = Edges(*(np.concatenate(columns) for columns in zip(*edges, strict=True)))
    ordered = together.only(np.lexsort((together.j, together.i, -together.log_index)))
    connects = np.empty(ordered.i.size, dtype=np.bool_)
    find_connecting(ordered.i, ordered.j, np.arange(n_nodes), connects)
    return ordered.only(connects)


@kernel
def find_connecting(i, j, parents, connects):
    """Find which edges connect what the ones before them do not."""
    for edge in range(i.size):
        a, b = find(parents, i[edge]), find(parents, j[edge])
        parents[max(a, b)] = min(a, b)
        connects[edge] = a != b


def pairs_that_may_improve(tree: Edges, subclusters: SubClusters, only_best: bool) -> Iterator[Edges]:
    """Yield the pairs that may belong into the tree, by what bounds their index if they share no samples.

    A pair belongs into the tree only if it comes before the merge of the tree that brings its two sides together.
    Each pair is seen once: at that merge. With `only_best`, a sub-cluster names at most one pair for each merge.
    The edges hold the index that a pair has to exceed, and are overwritten by the next ones.
    """
    if tree.i.size == 0:
        return
    leaves, stretches = _leaves_in_order(tree)
    sizes, means, variances, radius = subclusters
    ordered = SubClusters(sizes[leaves], means[leaves], variances[leaves], radius[leaves])
    most = np.log(1.0 / ordered.sizes) + LOG_2
    capacity = max(PAIRS_AT_A_TIME, leaves.size)
    found = Edges(np.empty(capacity, dtype=np.intp), np.empty(capacity, dtype=np.intp), np.empty(capacity))
    merge = row = 0
    while merge < tree.i.size:
        merge, row, n_found = pairs_across(
            merge, row, LOOKS_AT_A_TIME, only_best, tree, stretches, leaves, most, ordered, found
        )
        yield found.only(slice(n_found))


def _leaves_in_order(tree: Edges) -> tuple[NDArray[np.intp], Stretches]:
    """Put the leaves in an order in which every merge joins one stretch of them to the next."""
    n_merges = tree.i.size
    children = nodes_of_merges(tree.i, tree.j)
    n_leaves = sizes_of_nodes(children, np.ones(n_merges + 1, dtype=np.intp))
    starts = np.zeros(n_leaves.size, dtype=np.intp)
    for merge in range(n_merges - 1, -1, -1):
        first, second = children[merge]
        starts[first] = starts[n_merges + 1 + merge]
        starts[second] = starts[first] + n_leaves[first]
    first, second = children.T
    stretches = Stretches(starts[first], starts[second], starts[second] + n_leaves[second])
    return np.argsort(starts[: n_merges + 1]), stretches


@kernel
def pairs_across(merge, first_row, most_looks, only_best, tree, stretches, leaves, most, subclusters, found):
    """Look for pairs across each merge, until `found` may lack space for a row or many were seen.

    Sub-clusters are in the order of leaves. `most` bounds the index by the size alone, which rules out most pairs.
    """
    n_found = np.int64(0)  # a literal 0 would have `pairs_of` compiled twice
    n_looks = 0
    while merge < tree.i.size:
        start, middle, stop = stretches.starts[merge], stretches.middles[merge], stretches.stops[merge]
        left = middle - start <= stop - middle  # the shorter stretch gives the rows
        rows_start, rows_stop = (start, middle) if left else (middle, stop)
        start, stop = (middle, stop) if left else (start, middle)
        highest = -np.inf
        for column in range(start, stop):
            highest = max(highest, most[column])
        for row in range(max(first_row, rows_start), rows_stop):
            if n_found + stop - start > found.i.size or n_looks > most_looks:
                return merge, row, n_found
            n_looks += stop - start
            if max(most[row], highest) - subclusters.radius[row] >= tree.log_index[merge]:
                n_found = pairs_of(row, start, stop, merge, only_best, tree, leaves, most, subclusters, found, n_found)
        merge += 1
        first_row = 0
    return merge, first_row, n_found


@kernel
def pairs_of(row, start, stop, merge, only_best, tree, leaves, most, subclusters, found, n_found):
    """Add the pairs of one sub-cluster with a stretch of others that may come before a merge."""
    sizes, means, variances, radius = subclusters
    bar, bar_i, bar_j = tree.log_index[merge], tree.i[merge], tree.j[merge]
    n_before = n_found
    for column in range(start, stop):
        distance = max(radius[row], radius[column])
        if max(most[row], most[column]) - distance < bar:
            continue
        bound = log_connectivity(0, distance, sizes[row], sizes[column])
        bound += log_similarity(means[row], means[column], variances[row], variances[column])
        i, j = min(leaves[row], leaves[column]), max(leaves[row], leaves[column])
        if merges_before(bound, i, j, bar, bar_i, bar_j):
            if only_best:
                n_found = n_before
                bar, bar_i, bar_j = bound, i, j
            found.i[n_found], found.j[n_found], found.log_index[n_found] = i, j, tree.log_index[merge]
            n_found += 1
    return n_found
