"""Islands: parts of the data that few nearest neighbours leave or enter, a sign by which clusters are counted.

They are not the components of the graph of links: what no link reaches gets a bridge in `bridges.py`.

In many dimensions distances concentrate, and the density that they show has no valleys even between clusters that are
plain to see. Who is whose neighbour still tells: of the links from each sample to its eight nearest, most stay inside
of a cluster, whatever its shape. In structureless data of m dimensions, a part of s samples has a surface, and

    share = max(links that go out / all links of the part, links that come in / all links of the others)

falls with its size as (8 / s)^(1/m) and not faster. A node of the tree is an island if its share is lower than all but
a few parts of structureless data have in simulation (`python -m study.calibration`). Both directions count, since
nobody in the middle of a crowd names its outskirts.

The dimension is that of the neighbourhoods, or less if the part is longer than a ball of that dimension would be: a
tube has a small surface at its ends. Below three dimensions surfaces are small anyway, and only valleys are looked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.scales import expected_spread
from kfuse.core.distances import Distances
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.kernels import kernel

N_LINKS = 8  # of each sample: to its nearest neighbours
LEAST_DIMENSION = 2.5
LEAST_LONG = 32  # samples of a part whose length is measured
PRIOR = 16.0  # samples: how much the dimension of all weighs in that of a part
DIMENSIONS = (1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0)
LEAST_SHARES = (0.0, 0.005, 0.025, 0.035, 0.04, 0.085, 0.125, 0.14)  # times (8 / s)^(1 / m), by dimension
ONCE_SHOWN = 2.0  # times that limit, once one border is below it
SAMPLES_PER_PART = 2**15


class Parts(NamedTuple):
    """The nodes of a tree, leaves first, and what they are made of."""

    children: NDArray[np.intp]
    labels: NDArray[np.intp]  # the leaf of each sample
    representatives: NDArray[np.intp]  # the densest sample of each leaf
    log_density: NDArray[np.float64]  # of each sample

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum up a value of the samples over each node."""
        sums = np.zeros(2 * len(self.children) + 1)
        np.add.at(sums, self.labels, values)
        add_to_parents(self.children, sums)
        return sums


class Around(NamedTuple):
    """What islands are told by: the eight nearest neighbours of each sample, and how far 8 and 16 of them reach."""

    indices: NDArray[np.int32]
    radii: NDArray[np.float64]  # (n_samples, 2)
    distances: Distances


def can_be_found(k: int, dimension: float) -> bool:
    """Return whether islands are looked for at all, given k neighbours."""
    return k >= 2 * N_LINKS and dimension >= LEAST_DIMENSION


def openness_of_merges(around: Around | None, parts: Parts, execution: Execution = SERIAL) -> NDArray[np.float64]:
    """Compare the shares on both sides of each merge with the limit for islands: the larger, of the best part in each.

    Below 1, there is an island on both sides. It is infinite where a side is too small, and if none are looked for.
    """
    if around is None or not len(parts.children):
        return np.full(len(parts.children), np.inf)
    sizes = parts.sums(np.ones(parts.labels.size))
    smaller = np.minimum(sizes, sizes[-1] - sizes)
    shares = leaving_shares(around.indices, parts, sizes, execution)
    dimensions = dimensions_of_parts(around.radii, around.distances, parts, sizes)
    surface = (N_LINKS / np.maximum(smaller, 1.0)) ** (1.0 / dimensions)
    least = np.interp(dimensions, DIMENSIONS, LEAST_SHARES) * surface
    is_tested = (smaller >= 2 * N_LINKS) & (least > 0.0)
    openness = np.full(len(parts.children), np.inf)
    openness_between(parts.children, np.where(is_tested, shares / np.where(is_tested, least, 1.0), np.inf), openness)
    return openness


def count_islands(openness: NDArray[np.float64]) -> int:
    """Return how many merges have an island on both sides: one less than the number of islands that are clusters."""
    shown = openness.min(initial=np.inf) < 1.0
    return int(np.count_nonzero(openness < ONCE_SHOWN)) if shown else 0


def leaving_shares(
    indices: NDArray[np.int32], parts: Parts, sizes: NDArray[np.float64], execution: Execution
) -> NDArray[np.float64]:
    """Return the larger of the shares of links that go out of each node and that come in."""
    n_samples, n_links = indices.shape
    parents, times = union_by_size(parts.children)

    def count(start: int, stop: int) -> NDArray[np.float64]:
        inside = np.zeros(2 * len(parts.children) + 1)
        count_inside(indices, parts.labels, parents, times, inside, start, stop)
        return inside

    counted = Execution(execution.n_threads).over_ranges(count, n_samples, max(SAMPLES_PER_PART, n_samples // 8))
    inside = np.sum(counted, axis=0)
    add_to_parents(parts.children, inside)
    named = parts.sums(np.bincount(indices.ravel(), minlength=n_samples).astype(np.float64))
    out = (n_links * sizes - inside + 0.5) / (n_links * sizes)
    come = (named - inside + 0.5) / (n_links * np.maximum(n_samples - sizes, 1.0))
    return np.maximum(out, come)


def union_by_size(children: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a forest over the leaves in which every path is short, and the merge that hung each leaf below its parent.

    The merge at which two leaves meet is the last one on the path between them.
    """
    n_leaves = len(children) + 1
    parents, times = np.arange(n_leaves), np.full(n_leaves, len(children))
    roots, counts = np.arange(n_leaves + len(children)), np.ones(n_leaves, dtype=np.intp)
    hang_smaller_below(children, roots, counts, parents, times)
    return parents, times


@kernel
def hang_smaller_below(children, roots, counts, parents, times):
    """Hang the root of the node with fewer leaves below the other's."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        a, b = roots[children[merge, 0]], roots[children[merge, 1]]
        if counts[b] > counts[a]:
            a, b = b, a
        parents[b], times[b] = a, merge
        counts[a] += counts[b]
        roots[n_leaves + merge] = a


@kernel
def count_inside(indices, labels, parents, times, inside, start, stop):
    """Count each link at the smallest node that holds both of its ends."""
    n_leaves = parents.size
    for sample in range(start, stop):
        for rank in range(indices.shape[1]):
            a, b = labels[sample], labels[indices[sample, rank]]
            node = a
            while a != b:  # climb on the side that is hung lower
                if times[a] > times[b]:
                    a, b = b, a
                node = n_leaves + times[a]
                a = parents[a]
            inside[node] += 1.0


@kernel
def add_to_parents(children, values):
    """Add the values of both children to each node."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        values[n_leaves + merge] += values[children[merge, 0]] + values[children[merge, 1]]


def dimensions_of_parts(
    radii: NDArray[np.float64], distances: Distances, parts: Parts, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the dimension of each node: of its neighbourhoods, or less if it is longer than a ball would be."""
    tiny = np.finfo(float).tiny
    log_radius = np.log(radii[:, 0])
    spread = np.log(radii[:, 1]) - log_radius
    mean_spread = (parts.sums(spread) + PRIOR * spread.mean()) / (sizes + PRIOR)
    local = expected_spread(np.array([2 * N_LINKS]))[0] / np.maximum(mean_spread, 1e-3)
    log_extent = np.log(np.maximum(extents(distances, parts, sizes), tiny))
    of_ball = dimension_of_ball(log_extent - parts.sums(log_radius) / sizes, sizes)
    return np.where((sizes >= LEAST_LONG) & np.isfinite(log_extent), np.minimum(local, of_ball), local)


def extents(distances: Distances, parts: Parts, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the root mean square distance of the samples of each node from its middle, from its densest samples alone.

    When two parts of n_a and n_b samples merge, the sum of squares grows by n_a n_b / (n_a + n_b) times the squared
    distance between their middles, for which the densest samples stand. Infinite where distances are not known.
    """
    middles = np.append(parts.representatives, np.zeros(len(parts.children), np.intp))
    hand_up_densest(parts.children, parts.log_density, middles)
    a, b = parts.children.T
    growth = sizes[a] * sizes[b] / (sizes[a] + sizes[b]) * distances.pairs(middles[a], middles[b]) ** 2
    squares = np.append(np.zeros(parts.representatives.size), growth)
    add_to_parents(parts.children, squares)
    return np.sqrt(squares / sizes)


@kernel
def hand_up_densest(children, log_density, middles):
    """Give each node the denser of its children's middles; of equal ones, that with the smaller number."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        a, b = middles[children[merge, 0]], middles[children[merge, 1]]
        is_first = log_density[a] > log_density[b] or (log_density[a] == log_density[b] and a < b)
        middles[n_leaves + merge] = a if is_first else b


def dimension_of_ball(log_length: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Solve s / 8 = (R sqrt((m + 2) / m) / r_8)^m for m, with log(R / r_8) given: m of a ball with s samples."""
    dimension = np.full(sizes.size, 2.0)
    log_ratio = np.log(np.maximum(sizes, 2.0 * N_LINKS) / N_LINKS)
    for _ in range(30):  # halfway to the next guess each time, which converges
        log_radius = log_length + np.log((dimension + 2.0) / dimension) / 2.0
        dimension = (dimension + np.clip(log_ratio / np.maximum(log_radius, 1e-3), 0.5, 60.0)) / 2.0
    return dimension


@kernel
def openness_between(children, lowest, openness):
    """Take the lowest ratio inside of each node from its children; the larger of the two is that of the merge."""
    n_leaves = len(children) + 1
    for merge in range(len(children)):
        a, b = lowest[children[merge, 0]], lowest[children[merge, 1]]
        openness[merge] = max(a, b)
        lowest[n_leaves + merge] = min(lowest[n_leaves + merge], a, b)
