"""The printed algorithm evaluated plainly: every distance, every pair of sub-clusters, in blocks of rows.

It follows docs/algorithm.md line by line and shares no code with the package. Time grows with the square of the number
of samples; memory with samples times neighbours plus the square of the number of sub-clusters, so that 20,000 samples
are within reach.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

ENTRIES_PER_BLOCK = 2**22
FIRST_WIDTH = 64  # neighbours to keep at first; doubled until Algorithm 1 and k = max(nb) need no more

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Lists(NamedTuple):
    """The nearest neighbours of every sample, by (distance, index), and their distances."""

    indices: Ints
    distances: Floats


def paper_labels(X: Floats, n_clusters: int) -> Ints:
    """Give the labels of Algorithms 1 to 3, numbered by falling size, then by smallest sample."""
    lists, natural_value, nb = _natural_neighbors(X)
    k = int(nb.max())
    rho, representatives = _density(lists, nb, k)
    labels = _divide(lists.indices[:, :k], representatives)
    means, variances = _moments(rho, labels)
    labels = _with_left_out(X, labels)
    log_index = _log_fusion_indices(X, lists.indices[:, :natural_value], labels, means, variances)
    return _by_size(_fuse(log_index, n_clusters)[labels])


def _blocks(X: Floats, of_block: Callable[[Ints, Floats], Any]) -> Iterator[Any]:
    """Apply a function to (rows, their distances to all samples), block by block, in order."""
    height = max(1, ENTRIES_PER_BLOCK // len(X))

    def one(start: int) -> Any:
        rows = np.arange(start, min(start + height, len(X)))
        return of_block(rows, _distances(X, rows))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(one, range(0, len(X), height))


def _distances(X: Floats, rows: Ints) -> Floats:
    """Distances of some samples to all, summed over the features in order."""
    total = np.zeros((len(rows), len(X)))
    for feature in X.T:
        total += (feature[rows][:, None] - feature) ** 2
    return np.sqrt(total)


def _lists(X: Floats, width: int) -> Lists:
    """Definition 1: sort every row of distances."""

    def nearest(rows: Ints, block: Floats) -> Lists:
        block[np.arange(len(rows)), rows] = -1.0  # so that the sample itself comes first, also among duplicates
        order = np.argsort(block, axis=1, kind="stable")[:, 1 : width + 1]
        return Lists(order, np.take_along_axis(block, order, axis=1))

    parts = list(_blocks(X, nearest))
    return Lists(np.concatenate([p.indices for p in parts]), np.concatenate([p.distances for p in parts]))


def _natural_neighbors(X: Floats) -> tuple[Lists, int, Ints]:
    """Algorithm 1: the natural value and nb."""
    n, width = len(X), min(FIRST_WIDTH, len(X) - 1)
    while True:
        lists = _lists(X, width)
        nb, natural_value, unnamed_before = np.zeros(n, dtype=np.intp), 0, n
        for r in range(1, width + 1):
            nb += np.bincount(lists.indices[:, r - 1], minlength=n)
            natural_value = r
            unnamed = int((nb == 0).sum())
            stopped = unnamed == unnamed_before
            if stopped:
                break
            unnamed_before = unnamed
        if (stopped and nb.max() <= width) or width == n - 1:
            return lists, natural_value, nb
        width = min(2 * width, n - 1)


def _density(lists: Lists, nb: Ints, k: int) -> tuple[Floats, Ints]:
    """Eq. 1 and Definition 5."""
    sums = np.zeros(len(nb))
    for distances in lists.distances[:, :k].T:
        sums += distances
    positive = sums[sums > 0]
    instead_of_zero = positive.min() / len(nb) if positive.size else 1.0
    rho = nb / np.where(sums > 0, sums, instead_of_zero)
    candidates = np.column_stack([np.arange(len(nb)), lists.indices[:, :k]])
    best = rho[candidates].argmax(axis=1)  # the first of equals: the sample itself, then the nearer
    return rho, candidates[np.arange(len(nb)), best]


def _divide(neighbors: Ints, representatives: Ints) -> Ints:
    """Algorithm 2; -1 for samples that are left out."""
    as_sets = [set(row) for row in neighbors.tolist()]
    Rs = sorted(set(representatives.tolist()))
    is_representative = set(Rs)
    labels, n_labels = [-1] * len(neighbors), 0
    for r in Rs:
        if labels[r] != -1:
            continue
        labels[r] = n_labels
        n_labels += 1
        queue = deque([r])
        while queue:
            head = queue.popleft()
            for other in neighbors[head].tolist():
                if labels[other] == -1 and head in as_sets[other]:
                    labels[other] = labels[head]
                    if other in is_representative:
                        queue.append(other)
    return np.array(labels)


def _moments(rho: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Mean and population variance of density, without left-out samples."""
    rho, labels = rho[labels >= 0], labels[labels >= 0]
    counts = np.bincount(labels)
    means = np.bincount(labels, rho) / counts
    return means, np.bincount(labels, (rho - means[labels]) ** 2) / counts


def _with_left_out(X: Floats, labels: Ints) -> Ints:
    """Let left-out samples join the sub-cluster of their nearest labelled sample."""
    labelled = labels >= 0
    assigned = labels.copy()
    for sample in np.flatnonzero(~labelled):
        distances = np.where(labelled, _distances(X, np.array([sample]))[0], np.inf)
        assigned[sample] = labels[distances.argmin()]
    return assigned


def _log_fusion_indices(X: Floats, neighbors: Ints, labels: Ints, means: Floats, variances: Floats) -> Floats:
    """Eqs. 2 to 7, the logarithm of FI for all pairs."""
    sizes = np.bincount(labels)
    share = (_adjacent_counts(neighbors, labels) + 1) / np.minimum.outer(sizes, sizes)
    similarity = _ratios(means, 1.0) * (1 + _ratios(variances, 0.0))
    with np.errstate(divide="ignore"):
        return np.log(share) - _least_distances(X, labels) + np.log(similarity)


def _adjacent_counts(neighbors: Ints, labels: Ints) -> NDArray[np.int64]:
    """Eqs. 2 and 3: the number of samples that two augmented sub-clusters share."""
    n, width = neighbors.shape
    samples = np.concatenate([np.arange(n), neighbors.ravel()])
    owners = np.concatenate([labels, np.repeat(labels, width)])
    augmented = csr_array((np.ones(len(samples), dtype=np.int64), (owners, samples)), shape=(labels.max() + 1, n))
    augmented.data[:] = 1  # a sample is in a set once, however many members name it
    return (augmented @ augmented.T).toarray()


def _least_distances(X: Floats, labels: Ints) -> Floats:
    """Eq. 4: the least distance of two samples, for all pairs of sub-clusters."""
    by_label = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_label], np.arange(labels.max() + 1))
    least = np.full((len(starts), len(starts)), np.inf)

    def to_subclusters(rows: Ints, block: Floats) -> tuple[Ints, Floats]:
        return rows, np.minimum.reduceat(block[:, by_label], starts, axis=1)

    for rows, found in _blocks(X, to_subclusters):
        np.minimum.at(least, labels[rows], found)
    return least


def _ratios(values: Floats, both_zero: float) -> Floats:
    """The smaller over the larger, for all pairs; `both_zero` is what 0/0 counts."""
    larger = np.maximum.outer(values, values)
    with np.errstate(invalid="ignore"):
        return np.where(larger > 0, np.minimum.outer(values, values) / larger, both_zero)


def _fuse(log_index: Floats, n_clusters: int) -> Ints:
    """Algorithm 3: go down the sorted pairs; the cluster of each sub-cluster."""
    i, j = np.triu_indices(len(log_index), 1)
    cluster, n_left = np.arange(len(log_index)), len(log_index)
    for pair in np.lexsort((j, i, -log_index[i, j])):
        if n_left <= n_clusters:
            break
        a, b = cluster[i[pair]], cluster[j[pair]]
        if a != b:
            cluster[cluster == b] = a
            n_left -= 1
    return cluster


def _by_size(labels: Ints) -> Ints:
    """Number clusters by falling size, then by smallest sample."""
    _, first, inverse, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(counts), dtype=np.intp)
    number[np.lexsort((first, -counts))] = np.arange(len(counts))
    return number[inverse]
