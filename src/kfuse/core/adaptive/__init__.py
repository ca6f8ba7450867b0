"""The default, `fusion="adaptive"`: the fusion index updated after every merge, on the graph of shared neighbours.

It keeps the paper's ideas and makes each of them stable:

- natural neighbours set the scale: k = max(nb), as printed, but at most 2 lambda, since hubs make it needlessly large,
  and at most 64; each neighbourhood ends where a gap ends it;
- sub-clusters are what climbs to one local density peak along natural neighbours (Definitions 4 to 6), in no order;
- boundary connectivity counts the neighbours shared across the boundary (Definition 8), link by link;
- density similarity compares the density on the boundary with that of both sides.

`fit` is the line of stages, one file each: places, natural neighbours, neighbourhoods, density, peaks, links, bridges,
fusion, the order in which merges are undone (`heights`), and what `n_clusters` reads the number of clusters from: the
strength of merges, `valleys` of the density, and `islands` in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import natural, noise
from kfuse.core.adaptive import (
    bridges,
    density,
    fusion,
    heights,
    islands,
    links,
    n_clusters,
    neighborhoods,
    peaks,
    places,
    profiles,
    scales,
    valleys,
)
from kfuse.core.dendrogram import nodes_of_merges
from kfuse.core.execution import SERIAL, Execution, return_freed_memory
from kfuse.core.order import ascending, weights_of_places
from kfuse.core.result import Borders, Result, Surroundings
from kfuse.core.search import Nearest, NeighborSearch, NeighborTable

REACH = 2  # the most neighbours to link a sample with, in units of lambda: hubs make max(nb) needlessly large
FEWEST = 2 * scales.FIRST_SCALE  # neighbours that no cap goes below: enough for two scales of the density
WORTH_A_THREAD = 2**15  # links: with fewer, two threads would mostly wait for the interpreter lock
MOST_NEIGHBORS = 8 * scales.FIRST_SCALE  # and rounds of Algorithm 1: enough for four scales; more take time alone


def fit(neighbors: NeighborTable, execution: Execution, sample_weight: NDArray[np.float64] | None = None) -> Result:
    """Run all stages on the distinct samples; return what they found for every sample.

    Weights are positive; a sample of weight w counts as w identical ones.
    """
    stage, unit = execution.progress.stage, neighbors.distances.unit
    with stage("neighbours"):
        distinct, neighbors = places.find_places(neighbors, sample_weight)
    with stage("natural neighbours"):
        found = natural.find_natural_neighbors(neighbors, REACH, is_last=True, most_rounds=MOST_NEIGHBORS)
        n_wanted = count_neighbors(found.n_neighbors, found.natural_value, neighbors.n_samples)
        most = neighbors.search.most_neighbors
        k = n_wanted if most < natural.ENOUGH else min(n_wanted, most)
        nearest = neighbors.nearest(k)
        neighbors.search.keep_for_bridges()
        return_freed_memory(neighbors.n_samples)
    with stage("density"):
        step = neighbors.distances.step
        own, rho, looked_at, radius, levels = describe(nearest, step, distinct, sample_weight, execution)
    with stage("sub-clusters"):
        basins = peaks.climb(nearest.indices, own.counts, rho.values, found.natural_value, execution)
        summed = looked_at.summed(basins.labels)
        del looked_at
        return_freed_memory(basins.labels.size)
    with stage("merging"):
        ends = links.Ends(basins.labels, rho.values, distinct.weight, own.counts, radius, summed.radii)
        one_way = links.links_one_way(nearest, ends, execution)
        kept = what_is_kept(nearest, neighbors, distinct, summed, own.dimension, sample_weight)
        search = neighbors.search
        del nearest, neighbors  # joining and merging need the memory
        graph = connect(one_way, search, k, ends)
        del search
        return_freed_memory(basins.labels.size)
        merges, found_peaks = merge(graph, ends, summed, execution)
    with stage("number of clusters"):
        openness_of = partial(islands.openness_of_merges, kept.for_islands, execution=execution)
        tree = undo(merges, found_peaks, basins, ends, found.natural_value, own.dimension, openness_of)
    place = distinct.place
    return Result(
        natural_value=found.natural_value,
        n_neighbors=k,
        n_missing=max(0, found.n_wanted - k, n_wanted - k),
        reverse_counts=found.reverse_counts[place].astype(np.int64),
        density=rho.in_unit_of_data(unit)[place],
        representatives=distinct.first[basins.representatives][place].astype(np.intp),
        subclusters=basins.labels[place],
        left_out=_without_reverse_neighbors(distinct, found)[place],
        **tree._asdict(),
        around=kept.around,
        levels=levels,
        leaving=peaks.order_of_leaving(basins, rho.values)[place],
    )


def count_neighbors(largest_count: int, natural_value: int, n_samples: int) -> int:
    """Return k, the most neighbours to link a sample with: max(nb), capped."""
    return min(largest_count, max(REACH * natural_value, FEWEST), MOST_NEIGHBORS, n_samples - 1)


class Described(NamedTuple):
    """What is known of each place from its neighbours."""

    own: neighborhoods.Neighborhoods
    log_density: density.LogDensity
    looked_at: scales.Scales
    radius: NDArray[np.float64]  # of the neighbourhood
    levels: NDArray[np.float64]  # of each sample: the log-density as noise is told by


def describe(
    nearest: Nearest,
    step: float,
    distinct: places.Places,
    sample_weight: NDArray[np.float64] | None,
    execution: Execution,
) -> Described:
    """Find the neighbourhood and the density of every place."""
    n_places, k = nearest.indices.shape
    read = profiles.read_profiles(nearest, step, execution)
    own = neighborhoods.own_neighborhoods(nearest, read.spread, execution)
    rho = density.log_density(read.total, k, float(read.farthest.max()))
    if distinct.is_weighted:
        rho.values[:] += density.log_mean_weight(nearest.indices, distinct.weight) / max(own.dimension, 1.0)
    seen = scales.Scales(scales.counts_of_scales(k), read.radii, read.spreads, step)
    looked_at = scales.without_gaps(seen, own.counts)
    radius = links.radii_of_neighborhoods(nearest, read.farthest, own.counts)
    copies = weights_of_places(distinct.place, sample_weight, n_places)
    levels = np.empty(n_places)

    def find_levels(start: int, stop: int) -> None:
        part, totals = slice(start, stop), (read.total_of_few[start:stop], read.total[start:stop])
        levels[part] = noise.log_levels_of_totals(nearest.indices[part], totals, copies, copies[part], own.dimension)

    Execution(execution.n_threads).over_ranges(find_levels, n_places, profiles.SAMPLES_PER_PART)
    return Described(own, rho, looked_at, radius, noise.of_samples(levels, copies, distinct.place))


def connect(one_way: list[links.Links], search: NeighborSearch, n_neighbors: int, ends: links.Ends) -> links.Links:
    """Join the links that go out from the sub-clusters, and add bridges, so that all of these are connected."""
    graph = links.both_ways(one_way)
    return graph if n_neighbors == 0 else bridges.with_bridges(graph, search, n_neighbors, ends)


def merge(
    graph: links.Links, ends: links.Ends, looked_at: scales.SummedScales, execution: Execution
) -> tuple[fusion.Merges, valleys.Peaks]:
    """Merge sub-clusters, the pair with the largest index first, down to one, and find the density peaks meanwhile.

    Merging is sequential, so a second thread is free for the peaks.
    """
    sizes = np.bincount(ends.labels, weights=ends.weights).astype(np.float64)
    log_densities = np.bincount(ends.labels, weights=ends.weights * ends.log_density).astype(np.float64)
    together = execution if graph.first.size > WORTH_A_THREAD else SERIAL
    return together.side_by_side(
        lambda: fusion.agglomerate(graph, fusion.Nodes(sizes, log_densities), execution),
        lambda: valleys.evidence_of_peaks(graph, ends.labels, looked_at, ends.log_density),
    )


class Kept(NamedTuple):
    """What is kept of the neighbours when sub-clusters merge."""

    for_islands: islands.Around | None
    around: Surroundings | None  # if they cannot be found again from the samples alone


def what_is_kept(
    nearest: Nearest,
    neighbors: NeighborTable,
    distinct: places.Places,
    looked_at: scales.SummedScales,
    dimension: float,
    sample_weight: NDArray[np.float64] | None,
) -> Kept:
    """Keep what later stages need."""
    distances, k = neighbors.distances, nearest.indices.shape[1]
    for_islands = around = None
    if islands.can_be_found(k, dimension):
        few = nearest.indices[:, : islands.N_LINKS].copy()
        for_islands = islands.Around(few, looked_at.radii[:, :2], distances)
    if distances.points is None or sample_weight is not None:
        around = Surroundings(distinct.place, nearest.indices, nearest.distances_of(), distances.unit, sample_weight)
    return Kept(for_islands, around)


class Undone(NamedTuple):
    """The merges in the order in which they are undone, last first; `Result` explains the fields."""

    children: NDArray[np.intp]
    edges: NDArray[np.intp]
    log_index: NDArray[np.float64]
    height: NDArray[np.float64]
    borders: Borders


def undo(
    merges: fusion.Merges,
    found_peaks: valleys.Peaks,
    basins: peaks.Basins,
    ends: links.Ends,
    natural_value: int,
    dimension: float,
    openness_of: Callable[[islands.Parts], NDArray[np.float64]],
) -> Undone:
    """Order the merges by how much of a border each of them is, and collect what tells the number of clusters."""
    height = heights.heights(merges, natural_value, dimension)
    order = ascending(height)
    children = nodes_of_merges(*merges.edge[order].T)
    parts = islands.Parts(children, basins.labels, basins.peaks, ends.log_density)
    openness = openness_of(parts)
    seen = Borders(
        strength=n_clusters.strengths(merges)[order],
        is_valley=n_clusters.is_valley(merges)[order],
        evidence=valleys.evidence_of_merges(children, parts.sums(np.ones(basins.labels.size)), found_peaks),
        dimension=dimension,
        n_peaks=valleys.count_peaks(found_peaks),
        n_islands=islands.count_islands(openness),
        openness=openness,
        separation=np.zeros(height.size),
    )
    seen = seen._replace(n_steps=n_clusters.count_below_step(seen))
    again, seen = _shown_last(seen, height[order], merges.edge[order], parts, ends.weights)
    edges = merges.edge[order[again]]
    return Undone(nodes_of_merges(*edges.T), edges, merges.log_index[order[again]], height[order], seen)


def _shown_last(
    seen: Borders,
    height: NDArray[np.float64],
    edges: NDArray[np.intp],
    parts: islands.Parts,
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.intp], Borders]:
    """Put the borders that the data shows last, by what they separate; return the order, and `seen` in that order."""
    is_shown = n_clusters.shown(seen)
    order = np.argsort(is_shown, kind="stable")
    children = nodes_of_merges(*edges[order].T)
    sizes = parts._replace(children=children).sums(weights)
    separation = heights.separations(height[order], children, sizes, int(np.count_nonzero(is_shown)))
    by_separation = ascending(separation)
    order = order[by_separation]
    return order, seen.in_order(order)._replace(separation=separation[by_separation])


def _without_reverse_neighbors(distinct: places.Places, found: natural.NaturalNeighbors) -> NDArray[np.bool_]:
    """Find the places of least weight that are among no other place's lambda nearest neighbours."""
    return (found.reverse_counts == 0) & distinct.is_rarest & (distinct.weight.size > 1)
