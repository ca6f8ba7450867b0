"""The stages of WANN-DPC: close neighbours and density, centres, and three ways of propagating labels.

Some details that the published description leaves open are decided here: at least two neighbours are considered (one
with two samples); a label is never changed; ties go to the lower sample index, then to the earlier centre. The
conditions for spreading labels, and the additional neighbours before and after it, follow the authors' implementation.
"""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.baselines.pairs import Pairs
from kfuse.core.execution import Execution
from kfuse.core.kernels import array_kernel, kernel
from kfuse.core.search import NeighborTable, choose_search
from kfuse.core.search.base import ENTRIES_PER_BLOCK

UNLABELLED = -1
WIDENED = 4  # neighbour counts grow twice, each time by less than a factor of two


class CloseNeighbors(NamedTuple):
    """Each sample's neighbours, nearest first, of which the first `counts` are close."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]
    counts: NDArray[np.intp]
    found_counts: NDArray[np.intp]  # the counts before widening
    density: NDArray[np.float64]


def find(X: NDArray[Any], n_threads: int, most: int) -> CloseNeighbors:
    """Split each sample's neighbours at the largest gap, and compute the density from both parts."""
    n_samples, n_features = X.shape
    wanted = int(min(0.1 * n_samples, 10 + n_features * math.log(n_features + 1), most))
    n_considered = min(n_samples - 1, max(2, wanted))  # T
    table = NeighborTable(choose_search(X, "euclidean", "auto"), Execution(n_threads))
    nearest = table.collect(min(len(X) - 1, WIDENED * n_considered))
    with np.errstate(over="ignore"):  # extreme units
        distances = nearest.distances * table.distances.unit
    counts, density = split_at_gap(distances, n_considered)
    return CloseNeighbors(nearest.indices, distances, counts, counts.copy(), density)


@array_kernel
def split_at_gap(distances: NDArray[np.float64], n_considered: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Count the neighbours before the first largest gap, and compute the density."""
    counts = np.empty(distances.shape[0], dtype=np.intp)
    density = np.empty(distances.shape[0])
    for row in range(distances.shape[0]):
        n_close, gap = 1, -1.0
        for rank in range(1, n_considered):
            if distances[row, rank] - distances[row, rank - 1] > gap:
                n_close, gap = rank, distances[row, rank] - distances[row, rank - 1]
        counts[row] = n_close
        share = n_close / n_considered
        density[row] = share / (1 + mean_of(distances[row, :n_close]))
        if n_close < n_considered:
            n_far = n_considered - n_close
            density[row] += n_far / n_considered / (1 + mean_of(distances[row, n_close:n_considered]))
    return counts, density


@kernel
def mean_of(values: NDArray[np.float64]) -> float:
    """Return the mean, summed in order."""
    total = 0.0
    for value in values:
        total += value
    return total / values.size


def choose_centers(
    pairs: Pairs, near: CloseNeighbors, delta: NDArray[np.float64], n_clusters: int, correction: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Choose the centres one by one; each absorbs the samples around it.

    Decision values are compared as logarithms, which do not overflow.
    """
    labels = np.full(pairs.n_samples, UNLABELLED, dtype=np.intp)
    nearest_labelled = np.full(pairs.n_samples, np.inf)
    with np.errstate(divide="ignore"):  # the distance between duplicates is 0
        value = np.log(near.density) + np.log(delta)
    centers: list[int] = []
    center = int(near.density.argmax())
    while True:
        absorbed = absorb(near.indices, near.distances, near.counts, near.density, center, labels, len(centers))
        centers.append(center)
        free = np.flatnonzero(labels == UNLABELLED)
        if len(centers) == n_clusters or free.size == 0:
            return np.array(centers), labels
        _lower_to(pairs, np.array(absorbed), nearest_labelled)
        with np.errstate(over="ignore"):  # extreme units
            decision = value[free] + correction * (nearest_labelled[free] * pairs.distances.unit)
        center = int(free[decision.argmax()])


@array_kernel
def absorb(
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
    counts: NDArray[np.intp],
    density: NDArray[np.float64],
    center: int,
    labels: NDArray[np.intp],
    label: int,
) -> list[int]:
    """Label the samples that are connected to a centre by close neighbours that are near and dense enough."""
    radius = mean_of(distances[center, : counts[center]])
    floor = density[indices[center, 0]]
    for other in indices[center, : counts[center]]:
        floor = min(floor, density[other])
    labels[center] = label
    queue = [center]
    for head in queue:
        for rank in range(counts[head]):
            other = np.intp(indices[head, rank])
            if labels[other] == UNLABELLED and distances[head, rank] <= radius and density[other] >= floor:
                labels[other] = label
                queue.append(other)
    return queue


def _lower_to(pairs: Pairs, samples: NDArray[np.intp], nearest: NDArray[np.float64]) -> None:
    """Update the distances in `nearest` to the nearest of some additional samples."""
    size = max(1, ENTRIES_PER_BLOCK // pairs.n_samples)
    for start in range(0, samples.size, size):
        np.minimum(nearest, pairs.distances.rows(samples[start : start + size]).min(axis=0), out=nearest)


def widen(near: CloseNeighbors) -> CloseNeighbors:
    """Add the mean number of close neighbours to samples that have fewer."""
    mean = int(near.counts.mean())
    wider = np.where(near.counts < mean, near.counts + mean, near.counts)
    return near._replace(counts=np.minimum(wider, near.indices.shape[1]))


def spread(near: CloseNeighbors, centers: NDArray[np.intp], labels: NDArray[np.intp]) -> None:
    """Spread labels breadth-first along close neighbours, from the labelled samples in order (first allocation)."""
    for center in centers:
        around = near.indices[center, : near.counts[center]]
        free = around[(labels[around] == UNLABELLED) & (near.density[around] < near.density[center])]
        labels[free] = labels[center]
    blocked = spread_breadth_first(near.indices, near.distances, near.counts, near.density, labels)
    near.counts[:] = np.minimum(near.counts + blocked, near.indices.shape[1])
    for head in np.flatnonzero(blocked):
        around = near.indices[head, : near.counts[head]]
        labels[around[labels[around] == UNLABELLED]] = labels[head]


@array_kernel
def spread_breadth_first(
    indices: NDArray[np.int32],
    distances: NDArray[np.float64],
    counts: NDArray[np.intp],
    density: NDArray[np.float64],
    labels: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Spread labels to close neighbours of at least mean density that are within their own mean neighbour distance.

    Returns for each sample the number of close neighbours that only their density kept from getting its label.
    """
    usual = np.empty(counts.size)
    for sample in range(counts.size):
        usual[sample] = mean_of(distances[sample, : counts[sample]])
    floor = mean_of(density)
    blocked = np.zeros(counts.size, dtype=np.intp)
    queue = [sample for sample in range(counts.size) if labels[sample] != UNLABELLED]
    for head in queue:
        for rank in range(counts[head]):
            other = int(indices[head, rank])
            if labels[other] != UNLABELLED or distances[head, rank] > usual[other]:
                continue
            if density[other] >= floor:
                labels[other] = labels[head]
                queue.append(other)
            else:
                blocked[head] += 1
    return blocked


def join_by_membership(near: CloseNeighbors, labels: NDArray[np.intp], n_clusters: int) -> None:
    """Assign the sample with the highest membership to its cluster, then the next (second allocation).

    A sample's membership in a cluster is the fraction of its close neighbours in that cluster, times exp(-their mean
    distance).
    """
    free = np.flatnonzero(labels == UNLABELLED)
    close_to: dict[int, list[int]] = {}  # the unlabelled samples with this one as a close neighbour
    waiting: list[tuple[float, int, int]] = []

    def measure(sample: int) -> tuple[float, int]:
        part = slice(near.counts[sample])
        return best_membership(near.indices[sample, part], near.distances[sample, part], labels, n_clusters)

    def wait(sample: int) -> None:
        membership, cluster = measure(sample)
        if cluster != UNLABELLED:
            heapq.heappush(waiting, (-membership, sample, cluster))

    for sample in free.tolist():
        for other in near.indices[sample, : near.counts[sample]].tolist():
            close_to.setdefault(other, []).append(sample)
        wait(sample)
    while waiting:
        membership, sample, cluster = heapq.heappop(waiting)
        if labels[sample] != UNLABELLED or measure(sample) != (-membership, cluster):
            continue  # already assigned, or in the queue again with its current membership
        labels[sample] = cluster
        for other in close_to.get(sample, ()):
            if labels[other] == UNLABELLED:
                wait(other)


@array_kernel
def best_membership(
    indices: NDArray[np.int32], distances: NDArray[np.float64], labels: NDArray[np.intp], n_clusters: int
) -> tuple[float, int]:
    """Find the cluster with the highest membership, and that membership; none if no neighbour has a label."""
    counts, totals = np.zeros(n_clusters), np.zeros(n_clusters)
    for rank in range(indices.size):
        label = labels[indices[rank]]
        if label != UNLABELLED:
            counts[label] += 1
            totals[label] += distances[rank]
    best, cluster = -1.0, UNLABELLED
    for label in range(n_clusters):
        if counts[label] > 0:
            membership = counts[label] / indices.size * math.exp(-totals[label] / counts[label])
            if membership > best:
                best, cluster = membership, label
    return best, cluster
