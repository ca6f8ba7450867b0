"""Cells: the density at scales beyond the neighbourhoods.

A shallow valley between thousands of samples shows only if the density is averaged over hundreds. So linked
sub-clusters are paired up to cells, cells to larger cells, and so on, each level with about half as many cells as the
one before. The density of a cell is the mean over its samples and those of the cells around it: M samples in all, so
that its relative error is about 1 / sqrt(M), as that of a neighbourhood of M samples is. Pairs are chosen by how much
the two touch for their size, so that cells are compact; averaging over the cells around removes most of what depends on
where their borders happen to lie.

What does remain is an error that more samples do not reduce: across a ring about as wide as its cells, the density of a
cell depends on how much of the rim is in it. It shows as roughness. Where the density is smooth, a cell differs from
the mean of those next to it by about the same amount everywhere; where cells are as wide as the structures in the data,
by ever other amounts, of more variance than M samples make by chance. Then M counts as less, in the same proportion.

Two cells are next to each other at scale M if the gap between them, as far as one must see to cross it, is no wider
than M samples reach. In one dimension a cell has two others next to it, in a plane five or six: the number tells the
dimension of the data at that scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.links import NONE, Links
from kfuse.core.kernels import kernel
from kfuse.core.order import ascending, members_of

FEWEST_PLACES = 4.0  # of M samples each, for two peaks and a saddle between them
LEAST_PAIRED = 0.05  # the share of cells below which pairing up has come to an end
SIDES_OF_A_LINE, SIDES_PER_DIMENSION = 2.0, 2.5  # how many cells are next to one, on average
ROUGHNESS = 0.4  # M times the variance of a cell's difference from those next to it: at most, if the density is smooth
LOWEST = -600.0  # of log-densities: e to the power of this is still a number


class Cells(NamedTuple):
    """The cells of one level, and the links between them, each pair once."""

    size: NDArray[np.float64]
    mass: NDArray[np.float64]  # the sum of the densities of the samples
    standing: NDArray[np.intp]  # the sub-cluster that stands for each cell: the one with the most mass ...
    standing_mass: NDArray[np.float64]  # ... and that mass
    log_radius: NDArray[np.float64]  # the sum over the samples
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weight: NDArray[np.float64]
    gap: NDArray[np.float64]  # the logarithm of the narrowest between the two


class Level(NamedTuple):
    """The density of cells at one scale."""

    n_samples: float  # M: the median number in a cell and those next to it
    dimension: float  # of the data at this scale
    standing: NDArray[np.intp]  # the sub-cluster of each cell that stands for it: the one with the most mass
    size: NDArray[np.float64]
    around: NDArray[np.float64]  # the samples of a cell and of those next to it
    counted: NDArray[np.float64]  # how many independent samples these are worth: at most M
    log_density: NDArray[np.float64]  # of each cell, and of those next to it
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    log_density_between: NDArray[np.float64]  # of each pair of linked cells: what is left on the way across


def levels(
    links: Links,
    labels: NDArray[np.intp],
    log_density: NDArray[np.float64],
    radii: NDArray[np.float64],
    count: int,
    dimension: float,
) -> Iterator[Level]:
    """Yield levels of ever larger cells, each at a scale of at least twice the samples of the one before.

    `radii` are the distances to the neighbour number `count` of each sample, and `dimension` is that of the data there.
    """
    cells = _smallest_cells(links, labels, dimension * (log_density - log_density.max()), np.log(radii))
    least, most = 2.0 * count, labels.size / FEWEST_PLACES
    while True:
        is_next = cells.gap <= _reach(cells, least / count, dimension)
        level = _level(cells, is_next, count, dimension)
        if level.n_samples > most:
            return
        if level.n_samples >= least:
            yield level
            least = 2.0 * level.n_samples
        pair = _pair_up(cells, is_next)
        if pair.max() + 1 > (1.0 - LEAST_PAIRED) * pair.size:
            return
        cells = _merge(cells, pair)


def _smallest_cells(
    links: Links, labels: NDArray[np.intp], log_density: NDArray[np.float64], log_radius: NDArray[np.float64]
) -> Cells:
    """Return every sub-cluster as a cell."""
    size = np.bincount(labels).astype(np.float64)
    mass = _sums(labels, np.exp(np.maximum(log_density, LOWEST)))
    sums, gap = _sums(labels, log_radius), np.log(links.gap[:, -1])
    return Cells(size, mass, np.arange(size.size), mass, sums, links.first, links.second, links.weight, gap)


def _reach(cells: Cells, growth: float, dimension: float) -> NDArray[np.float64]:
    """Return how far one sees from either end of each link, as a logarithm, with `growth` times the samples."""
    log_radius = cells.log_radius / cells.size
    return np.maximum(log_radius[cells.first], log_radius[cells.second]) + np.log(growth) / dimension


def _level(cells: Cells, is_next: NDArray[np.bool_], count: int, dimension: float) -> Level:
    """Average the density over each cell and those next to it."""
    a, b = cells.first[is_next], cells.second[is_next]

    def with_those_next(values: NDArray[np.float64]) -> NDArray[np.float64]:
        n_cells = values.size
        return values + _sums(a, values[b], n_cells) + _sums(b, values[a], n_cells)

    around = with_those_next(cells.size)
    density = np.log(with_those_next(cells.mass) / around)
    median = float(np.median(around))
    too_wide = np.maximum(0.0, cells.gap - _reach(cells, max(1.0, median / count), dimension))
    between = np.minimum(density[cells.first], density[cells.second]) - dimension * too_wide
    sides = np.bincount(a, minlength=around.size) + np.bincount(b, minlength=around.size)
    of_sides = 1.0 + (np.average(sides, weights=cells.size) - SIDES_OF_A_LINE) / SIDES_PER_DIMENSION
    return Level(
        median,
        float(np.clip(of_sides, 1.0, max(1.0, dimension))),
        cells.standing,
        cells.size,
        around,
        np.minimum(around, median) * ROUGHNESS / max(ROUGHNESS, median * _roughness(density, a, b, sides)),
        density,
        cells.first,
        cells.second,
        between,
    )


def _roughness(
    density: NDArray[np.float64], a: NDArray[np.int32], b: NDArray[np.int32], sides: NDArray[np.intp]
) -> float:
    """Return the variance of the difference between a cell and the mean of those next to it, over the denser half.

    In the sparser half, cells grow outwards, and these differences with them, whether the density is smooth or not.
    """
    beside = (_sums(a, density[b], density.size) + _sums(b, density[a], density.size)) / np.maximum(sides, 1)
    return float(np.var((density - beside)[density >= np.median(density)]))


def _pair_up(cells: Cells, is_next: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the number of each cell's pair, those that touch most for their size first."""
    links = np.flatnonzero(is_next)
    touching = cells.weight / (cells.size[cells.first] * cells.size[cells.second])
    mates = np.arange(cells.size.size)
    take_mates(cells.first, cells.second, links[ascending(-touching[links])], mates)
    return np.unique(np.minimum(mates, np.arange(mates.size)), return_inverse=True)[1]


def _sums(groups: NDArray[Any], values: NDArray[np.float64], n_groups: int = 0) -> NDArray[np.float64]:
    """Sum up values by group."""
    return np.bincount(groups, values, n_groups).astype(np.float64)


@kernel
def take_mates(first, second, order, mates):
    """Pair up the ends of links that are both still alone."""
    for link in order:
        a, b = first[link], second[link]
        if mates[a] == a and mates[b] == b:
            mates[a], mates[b] = b, a


def _merge(cells: Cells, pair: NDArray[np.intp]) -> Cells:
    """Return the pairs as cells."""
    n_pairs = int(pair.max()) + 1
    heaviest_last = ascending(cells.standing_mass)
    standing = np.empty(n_pairs, dtype=np.intp)
    standing[pair[heaviest_last]] = heaviest_last
    sizes = _sums(pair, cells.size), _sums(pair, cells.mass)
    stand_for = cells.standing[standing], cells.standing_mass[standing]
    return Cells(*sizes, *stand_for, _sums(pair, cells.log_radius), *_join_links(cells, pair, n_pairs))


def _join_links(cells: Cells, pair: NDArray[np.intp], n_pairs: int) -> tuple[NDArray[Any], ...]:
    """Return the links between pairs, each once: the ends, the sum of the weights and the narrowest gap."""
    a, b = pair[cells.first].astype(np.int32), pair[cells.second].astype(np.int32)
    links = np.flatnonzero(a != b)
    lower, upper = np.minimum(a, b)[links], np.maximum(a, b)[links]
    joined = np.empty(links.size, np.int32), np.empty(links.size, np.int32), np.empty(links.size), np.empty(links.size)
    by_lower, weight, gap = members_of(lower)[0], cells.weight[links], cells.gap[links]
    count = join_links(by_lower, lower, upper, weight, gap, np.full(n_pairs, NONE), *joined)
    return tuple(column[:count] for column in joined)


@kernel
def join_links(order, lower, upper, weight, gap, known, first, second, weights, gaps):
    """Add up links with the same ends, and count them; `order` puts those with the same lower end together."""
    count = floor = 0
    for position in range(order.size):
        link = order[position]
        if position > 0 and lower[link] != lower[order[position - 1]]:
            floor = count
        joined = known[upper[link]]
        if joined < floor:
            joined = known[upper[link]] = count
            first[joined], second[joined], weights[joined], gaps[joined] = lower[link], upper[link], 0.0, np.inf
            count += 1
        weights[joined] += weight[link]
        gaps[joined] = min(gaps[joined], gap[link])
    return count
