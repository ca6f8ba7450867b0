"""Algorithm 2: sub-clusters grown from representatives along natural neighbours, and the samples left out.

Algorithm 2 floods from one representative after the other, in ascending order, and only representatives pass the
flood on. So a flood covers exactly the representatives that are connected by mutual neighbours, and any other sample
goes to the first flood that reaches it. This states the result without an order of visits: sub-clusters are the
connected components of representatives, numbered by their smallest member; another sample joins the component of
lowest number among its mutual neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.kernels import kernel
from kfuse.core.order import find, is_within, roots
from kfuse.core.paper.density import Density
from kfuse.core.search import NeighborTable

UNLABELLED = -1


class Partition(NamedTuple):
    """The sub-clusters, numbered from 0."""

    labels: NDArray[np.intp]
    left_out: NDArray[np.bool_]  # samples that no flood reached; they joined their nearest labelled sample

    @property
    def n_subclusters(self) -> int:
        """How many sub-clusters there are."""
        return int(self.labels.max(initial=-1)) + 1


def divide(neighbors: NeighborTable, density: Density, k: int) -> Partition:
    """Divide the samples into sub-clusters (Algorithm 2), then assign the samples that are left out."""
    is_representative = np.zeros(neighbors.n_samples, dtype=np.bool_)
    is_representative[density.representatives] = True
    representatives = np.flatnonzero(is_representative)
    farthest = density.farthest_distances, density.farthest_indices

    parents = np.arange(neighbors.n_samples)
    for block in neighbors.blocks_of(representatives, k):
        join_representatives(*block, *farthest, is_representative, parents)
    labels = np.full(neighbors.n_samples, UNLABELLED, dtype=np.intp)
    # A component's root is its smallest member, so ascending roots are the order of its number.
    labels[representatives] = np.unique(roots(parents)[representatives], return_inverse=True)[1].ravel()
    for block in neighbors.blocks_of(representatives, k):
        reach_others(*block, *farthest, is_representative, labels)

    left_out = labels == UNLABELLED
    _assign_left_out(neighbors, k, labels, np.flatnonzero(left_out))
    return Partition(labels, left_out)


@kernel
def join_representatives(rows, indices, distances, farthest_distances, farthest_indices, is_representative, parents):
    """Connect mutual neighbours that are both representatives."""
    for row in range(rows.size):
        for rank in range(indices.shape[1]):
            other = indices[row, rank]
            if is_representative[other] and is_within(
                distances[row, rank], rows[row], farthest_distances[other], farthest_indices[other]
            ):
                a, b = find(parents, rows[row]), find(parents, other)
                parents[max(a, b)] = min(a, b)


@kernel
def reach_others(rows, indices, distances, farthest_distances, farthest_indices, is_representative, labels):
    """Assign each other sample the lowest sub-cluster number among the representatives that it is mutual with."""
    for row in range(rows.size):
        for rank in range(indices.shape[1]):
            other = indices[row, rank]
            if (
                not is_representative[other]
                and (labels[other] == UNLABELLED or labels[rows[row]] < labels[other])
                and is_within(distances[row, rank], rows[row], farthest_distances[other], farthest_indices[other])
            ):
                labels[other] = labels[rows[row]]


def _assign_left_out(neighbors: NeighborTable, k: int, labels: NDArray[np.intp], left_out: NDArray[np.intp]) -> None:
    """Assign left-out samples to the sub-cluster of their nearest labelled sample."""
    assigned = np.full(left_out.size, UNLABELLED, dtype=np.intp)
    start = 0
    for block in neighbors.blocks_of(left_out, k):
        stop = start + block.rows.size
        read_first_label(block.indices, labels, assigned[start:stop])
        start = stop
    for position in np.flatnonzero(assigned == UNLABELLED):
        distances = neighbors.distances.rows(left_out[position : position + 1])[0]
        distances[labels == UNLABELLED] = np.inf
        nearest = np.argmin(distances) if np.isfinite(distances).any() else np.argmax(labels != UNLABELLED)
        assigned[position] = labels[nearest]
    labels[left_out] = assigned


@kernel
def read_first_label(indices, labels, found):
    """Read the label of each row's nearest labelled neighbour, if it has one."""
    for row in range(indices.shape[0]):
        for rank in range(indices.shape[1]):
            if labels[indices[row, rank]] != UNLABELLED:
                found[row] = labels[indices[row, rank]]
                break
