"""Memberships: how sure each sample is of its cluster, as the chance that a walk from it reaches that cluster first.

Where two clusters overlap, labels change at the border between them at once, but what a sample there belongs to is
uncertain. Let a walker start at the sample and step from neighbour to neighbour, the more readily the denser it is,
until it comes to the core of a cluster; the membership in a cluster is the chance that it is that one's. The walk is an
electric network of the sub-clusters, whose links conduct with

    rho^(m + 2)      (rho one over the mean distance to the neighbours, m the dimension)

each. In the limit of many samples the chances then solve div(f^2 grad u) = 0 for the density f, whatever the number of
neighbours. For two Gaussians, u rises from one core to the other as the integral of 1 / f^2, which is close to the
posterior; where f is a product, u depends on the coordinate across the border only, as the posterior does.

The core of a cluster is the half of it that is deepest: the most steps away from other clusters, and of equally many,
with the fewest neighbours there. A cluster that no other one touches is all core, and its samples have membership 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from kfuse.core.result import Surroundings

CORE = 0.5  # the share of a cluster
SMALLEST_EXPONENT = -300.0  # of a conductance: less would underflow
FEW_NODES = 400  # that are solved for at once, as a dense system
TOLERANCE, MOST_STEPS = 1e-5, 1000  # of conjugate gradients
NEGLIGIBLE = 1e-6  # membership
ENTRIES_PER_BLOCK = 2**22  # of memberships that are held at a time
MARGIN = 1e-9  # by which a sample's own cluster leads over others


class Network(NamedTuple):
    """The sub-clusters, or what a cut leaves of them, and how well the links between them conduct."""

    node: NDArray[np.intp]  # of each place
    labels: NDArray[np.intp]  # of each node
    sizes: NDArray[np.intp]
    foreign: NDArray[np.float64]  # the share of a node's links that lead to other clusters
    conductance: csr_array


def build_network(
    around: Surroundings, dimension: float, leaves: NDArray[np.intp], labels: NDArray[np.intp]
) -> Network:
    """Sum up the links between the nodes: the places with the same leaf and label."""
    pairs, node = np.unique(leaves * (labels.max() + 1) + labels, return_inverse=True)
    (n_places, k), shape = around.indices.shape, (pairs.size, pairs.size)
    mean = np.maximum(around.distances.mean(axis=1), np.finfo(float).tiny) if k else np.ones(n_places)
    ease = -(dimension + 2.0) / 2.0 * np.log(mean)  # each end has half of the logarithm of a conductance
    ease -= ease.max()
    conductance, foreign = csr_array(shape), np.zeros(pairs.size)
    for rows in blocks_of_rows(n_places, k):
        heads, others = np.repeat(node[rows], k), around.indices[rows].ravel()
        exponents = np.repeat(ease[rows], k) + ease[others]
        conducts = np.exp(np.maximum(exponents, SMALLEST_EXPONENT)) * (heads != node[others])
        conductance = conductance + coo_array((conducts, (heads, node[others])), shape).tocsr()
        foreign += np.bincount(heads, weights=np.repeat(labels[rows], k) != labels[others], minlength=pairs.size)
    conductance = csr_array(conductance + conductance.T)
    conductance.eliminate_zeros()
    sizes = np.bincount(node)
    return Network(node, pairs % (labels.max() + 1), sizes, foreign / np.maximum(sizes * k, 1), conductance)


def memberships_of_nodes(network: Network, n_columns: int) -> csr_array:
    """Compute the chance that a walk from each node comes to each cluster first, one row per node."""
    shape = network.labels.size, n_columns
    is_core = _find_cores(network)
    cores, free = np.flatnonzero(is_core), np.flatnonzero(~is_core)
    known = coo_array((np.ones(cores.size), (cores, network.labels[cores])), shape).tocsr()
    inside, towards = network.conductance[free][:, free], network.conductance[free] @ known
    rows, columns, values = [cores], [network.labels[cores]], [np.ones(cores.size)]
    for part in _connected_parts(inside):
        reached, chances = _solve(inside[part][:, part], towards[part], network.labels[free[part]])
        row, column = np.nonzero(chances > NEGLIGIBLE)
        rows.append(free[part[row]])
        columns.append(reached[column])
        values.append(chances[row, column])
    found = coo_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape).tocsr()
    found.data /= np.repeat(found.sum(axis=1), np.diff(found.indptr))  # what is negligible would count as noise
    return found


def _find_cores(network: Network) -> NDArray[np.bool_]:
    """Find the nodes of the deepest half of each cluster."""
    depth = _depths(network)
    order = np.lexsort((-depth, network.labels))
    sizes = network.sizes[order]
    ends = np.cumsum(np.bincount(network.labels, weights=network.sizes))
    before = np.cumsum(sizes) - sizes - np.append(0, ends[:-1])[network.labels[order]]
    enough = CORE * np.diff(ends, prepend=0)[network.labels[order]]
    least = np.full(ends.size, np.inf)
    taken = before < enough
    np.minimum.at(least, network.labels[order[taken]], depth[order[taken]])
    return depth >= least[network.labels]


def _depths(network: Network) -> NDArray[np.float64]:
    """Count the steps from each node to another cluster, less the share of its links that leads to others."""
    links, labels = network.conductance.tocoo(), network.labels
    is_border = labels[links.row] != labels[links.col]
    front = np.bincount(links.row, weights=is_border, minlength=labels.size) > 0
    steps, n_steps = np.where(front, 0.0, np.inf), 0
    reach = csr_array((np.ones(links.data.size), (links.row, links.col)), network.conductance.shape)
    while front.any():
        front = (reach @ front > 0) & np.isinf(steps)
        n_steps += 1
        steps[front] = n_steps
    return steps - network.foreign


def _connected_parts(links: csr_array) -> list[NDArray[np.intp]]:
    if not links.shape[0]:
        return []
    n_parts, part = connected_components(links, directed=False)
    return np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=n_parts))[:-1])


def _solve(
    inside: csr_array, towards: csr_array, labels: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Solve the network between the cores; return the clusters that can be reached, and the chance of each.

    What is connected to no core belongs to its own cluster.
    """
    reached = np.unique(towards.nonzero()[1])
    if not reached.size:
        reached = np.unique(labels)
        return reached, (labels[:, None] == reached).astype(np.float64)
    ends = towards[:, reached].toarray()
    scale = 1.0 / np.sqrt(inside.sum(axis=1) + ends.sum(axis=1))  # so that the system has ones on its diagonal
    links = inside.tocoo()
    links = csr_array((links.data * scale[links.row] * scale[links.col], (links.row, links.col)), links.shape)
    if labels.size <= FEW_NODES:
        solved = np.linalg.solve(np.eye(labels.size) - links.toarray(), scale[:, None] * ends)
    else:
        solved = _conjugate_gradients(links, scale[:, None] * ends)
    chances = np.clip(scale[:, None] * solved, 0.0, 1.0)
    total = chances.sum(axis=1, keepdims=True)
    return reached, np.where(total > 0.0, chances / np.maximum(total, np.finfo(float).tiny), 1.0 / reached.size)


def _conjugate_gradients(links: csr_array, sides: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve x - links @ x = side for each column of `sides`."""
    solved, residual = np.zeros_like(sides), sides
    direction, square = residual, (residual * residual).sum(axis=0)
    enough = TOLERANCE**2 * square
    for _ in range(MOST_STEPS):
        if (square <= enough).all():
            break
        image = direction - links @ direction
        length = square / np.maximum((direction * image).sum(axis=0), np.finfo(float).tiny)
        solved, residual = solved + length * direction, residual - length * image
        square, before = (residual * residual).sum(axis=0), square
        direction = residual + square / np.maximum(before, np.finfo(float).tiny) * direction
    return solved


def average(nodes: NDArray[np.intp], of_nodes: csr_array) -> NDArray[np.float64]:
    """Return the mean membership over the nodes of each row: those of a sample and of its neighbours."""
    n_rows, count = nodes.shape
    starts = np.arange(0, n_rows * count + 1, count)
    chosen = csr_array((np.full(nodes.size, 1.0 / count), nodes.ravel(), starts), (n_rows, of_nodes.shape[0]))
    return (chosen @ of_nodes).toarray()


def lead(shares: NDArray[np.float64], own: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the nearest shares with the same sum in which the own column of each row has the largest value.

    Larger values of other columns are lowered to a common one, and the own is raised to it, and a trace above it.
    """
    rows = np.flatnonzero(shares[np.arange(own.size), own] < shares.max(axis=1))
    found = shares.copy()
    if rows.size:
        others, column = shares[rows], (np.arange(rows.size), own[rows])
        mine = others[column]
        others[column] = np.inf
        descending = -np.sort(-others, axis=1)
        descending[:, 0] = mine
        means = np.cumsum(descending, axis=1) / np.arange(1, others.shape[1] + 1)
        following = np.append(descending[:, 1:], np.full((rows.size, 1), -np.inf), axis=1)
        level = means[np.arange(rows.size), (means >= following).argmax(axis=1)]
        found[rows] = np.minimum(shares[rows], level[:, None])
        found[rows, own[rows]] = level
    found[np.arange(own.size), own] *= 1.0 + MARGIN
    return found / (found.sum(axis=1) / shares.sum(axis=1))[:, None]


def blocks_of_rows(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield ranges of rows of which a block of so many columns is not too large."""
    size = max(1, ENTRIES_PER_BLOCK // max(1, n_columns))
    return (slice(start, start + size) for start in range(0, n_rows, size))
