"""The line of stages on boxes: `core.adaptive.fit`, box by box up to the links, and on one node from there on."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import adaptive
from kfuse.core.adaptive import REACH, bridges, islands, links, peaks, scales
from kfuse.core.distances import EuclideanDistances
from kfuse.core.distances.base import unit_of
from kfuse.core.distances.steps import rows_to_guess_from
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborBlock
from kfuse.core.search.duplicates import VANISHING
from kfuse.dask import climbing, natural, neighbors, rows, steps, surroundings
from kfuse.dask.boxes import Box, Boxes, number_places
from kfuse.dask.bridges import BridgeSearch
from kfuse.dask.links import links_between
from kfuse.dask.tasks import Task, results, started, task

SAMPLE_SIZE = 2**16  # rows from which boxes are estimated


class Chunks(NamedTuple):
    """The rows of X, chunk by chunk."""

    tasks: list[Task]
    sizes: list[int]
    n_features: int

    @property
    def starts(self) -> list[int]:
        """The number of the first row of each chunk."""
        return [0, *np.cumsum(self.sizes)[:-1].tolist()]

    def split(self, numbers: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """Divide ascending numbers of rows by the chunks that these are in."""
        return np.split(numbers, np.searchsorted(numbers, self.starts[1:]))


class Fitted(NamedTuple):
    """What the stages found: for all, on this node; for places, one task per box; for rows, one per chunk."""

    natural_value: int
    n_neighbors: int
    merged: adaptive.Undone
    leaf_labels: NDArray[np.intp]  # of each sample
    leaving: NDArray[np.intp]  # of each sample
    frame: rows.Frame
    boxes: Boxes
    subclusters: list[Task]
    rows: list[Task]
    representatives: list[Task]
    reverse_counts: list[Task]
    places: list[Task]  # of the rows of each chunk
    density_unit: float


class OnOneNode(NamedTuple):
    """What the fusion needs of every place, from all boxes."""

    labels: NDArray[np.intp]
    representatives: NDArray[np.intp]
    log_density: NDArray[np.float64]
    counts: NDArray[np.int32]  # of the neighbourhood
    weights: NDArray[np.float64]
    radius: NDArray[np.float64]  # of the neighbourhood
    radii: NDArray[np.float64]
    spreads: NDArray[np.float64]

    @property
    def ends(self) -> links.Ends:
        """What links take from the places."""
        return links.Ends(self.labels, self.log_density, self.weights, self.counts, self.radius, self.radii)

    def looked_at(self, k: int) -> scales.Scales:
        """Return the distances at each scale, without those beyond a gap."""
        # A mean depends on the order in memory: one machine has these column by column.
        every = scales.Scales(scales.counts_of_scales(k), self.radii, np.asfortranarray(self.spreads))
        return scales.without_gaps(every, self.counts)


def fit(chunks: Chunks, rows_per_box: int, execution: Execution) -> Fitted:
    """Run all stages."""
    stage = execution.progress.stage
    with stage("order"):
        frame, boxes, places = _divide(chunks, rows_per_box)
    with stage("neighbours"):
        found, k, nearest = _find_nearest(boxes)
        halos = natural.halos_of(nearest, boxes)
    with stage("density"):
        dimension = surroundings.intrinsic_dimension(nearest)
        described, unit = surroundings.describe_places(nearest, boxes, halos, dimension, surroundings.weigh(boxes))
        nearest.clear()
    with stage("sub-clusters"):
        representatives = surroundings.find_representatives(described, halos, found.natural_value)
        subclusters = climbing.follow(representatives, boxes)
    with stage("merging"):
        here = gather(described, representatives, subclusters.labels)
        graph = _linked(here, described, subclusters, boxes, k)
        merges = adaptive.merge(graph, here.ends, execution)
    with stage("number of clusters"):
        basins, rho = peaks.Basins(here.labels, here.representatives), here.log_density
        openness = partial(_openness, described, boxes, dimension, k, execution)
        merged = adaptive.undo(merges, graph, basins, here.looked_at(k), rho, found.natural_value, dimension, openness)
        place = np.concatenate(results(places))
        leaving = peaks.order_of_leaving(basins, rho)[place]
    return Fitted(
        natural_value=found.natural_value,
        n_neighbors=k,
        merged=merged,
        leaf_labels=here.labels[place],
        leaving=leaving,
        frame=frame,
        boxes=boxes,
        subclusters=subclusters.labels,
        rows=described,
        representatives=representatives,
        reverse_counts=found.reverse_counts,
        places=places,
        density_unit=unit,
    )


def _divide(chunks: Chunks, rows_per_box: int) -> tuple[rows.Frame, Boxes, list[Task]]:
    """Divide the rows into boxes of places; return how to see them, the boxes, and the places of each chunk's rows."""
    frame, sample = look_at(chunks)
    n_levels = max(0, int(np.ceil(np.log2(max(1, sum(chunks.sizes)) / rows_per_box))))
    gathered = rows.gather(chunks.tasks, frame, sample, chunks.starts, n_levels)
    boxes = number_places(gathered, frame, rows_per_box)
    return frame, boxes, started(rows.places_of_chunks(gathered, boxes.numbers, chunks.sizes))


def _find_nearest(boxes: Boxes) -> tuple[natural.Natural, int, list[Task]]:
    """Find natural neighbours, how many neighbours the next stages use, and these."""
    found = natural.find_natural_neighbors(boxes)
    k = min(found.largest_count, REACH * found.natural_value, boxes.n_places - 1)
    nearest = started(neighbors.nearest_of(found.neighbors, boxes, k, found.n_neighbors))
    found.neighbors.clear()  # the workers' memory is for the next stages
    return found, k, nearest


def look_at(chunks: Chunks) -> tuple[rows.Frame, NDArray[np.float64]]:
    """Check all rows in one pass; return how to see them, and a sample."""
    n_samples = sum(chunks.sizes)
    step, wanted = max(1, n_samples // SAMPLE_SIZE), rows_to_guess_from(n_samples)
    few = [part - start for part, start in zip(chunks.split(wanted), chunks.starts, strict=True)]
    described: list[rows.Described] = results(
        [task(rows.describe, chunk, step, part) for chunk, part in zip(chunks.tasks, few, strict=True)]
    )
    for start, one in zip(chunks.starts, described, strict=True):
        if one.bad is not None:
            row, column, value = one.bad
            raise ValueError(
                f"Input X contains {'NaN' if np.isnan(value) else 'infinity'} (row {start + row}, column {column}): "
                "drop such rows, or fill in numbers, before clustering."
            )
    least, greatest = np.min([d.least for d in described], axis=0), np.max([d.greatest for d in described], axis=0)
    unit = unit_of(np.array([least, greatest]))
    sample = np.concatenate([one.sample for one in described])
    in_unit = (
        rows.in_unit(part, unit) for part in (least, greatest, np.concatenate([one.few for one in described]), sample)
    )
    prepared = [task(rows.in_unit, chunk, unit) for chunk in chunks.tasks]
    rounding = steps.find_rounding(steps.Seen(prepared, n_samples, *in_unit))
    is_whole = rounding is not None and rounding.unit > 0
    if not is_whole and min(one.smallest for one in described) / unit < VANISHING:
        raise ValueError(
            f"X has values below {VANISHING * unit:.0e} beside much larger ones, so that distances vanish: "
            "set such values to zero."
        )
    bounds = rows.in_unit(np.array([least, greatest]), unit)
    least, greatest = bounds if rounding is None else rounding.written(bounds)
    return rows.Frame(unit, rounding, np.argsort(-(greatest - least), kind="stable")), sample


def gather(described: list[Task], representatives: list[Task], labels: list[Task]) -> OnOneNode:
    """Bring what the fusion needs of every place to this node."""
    found = [task(_for_fusion, *one) for one in zip(described, representatives, labels, strict=True)]
    return OnOneNode(*(np.concatenate(column) for column in zip(*results(found), strict=True)))


def _for_fusion(one: surroundings.Rows, representatives: NDArray[np.int32], labels: NDArray[np.int32]) -> OnOneNode:
    looked_at, radius = scales.all_scales(one.distances), links.radius_of(one.distances, one.counts)
    of_place = labels.astype(np.intp), representatives.astype(np.intp), one.log_density, one.counts, one.weights
    return OnOneNode(*of_place, radius, looked_at.radii, looked_at.spreads)


def _linked(
    here: OnOneNode, described: list[Task], subclusters: climbing.Subclusters, boxes: Boxes, k: int
) -> links.Links:
    """Link the sub-clusters, so that all of them are connected."""
    if k == 0:  # one place
        nobody = NeighborBlock(np.arange(1), np.empty((1, 0), np.int32), np.empty((1, 0)))
        return links.links_between(nobody, here.ends)
    graph = links_between(described, subclusters, boxes)
    search = BridgeSearch(boxes, subclusters)
    return bridges.with_bridges(graph, search, k, here.ends)


def _openness(
    described: list[Task], boxes: Boxes, dimension: float, k: int, execution: Execution, parts: islands.Parts
) -> NDArray[np.float64]:
    """Look for islands on this node, with the nearest neighbours of all places, if there can be any."""
    if k < 2 * islands.N_LINKS or dimension < islands.LEAST_DIMENSION or not len(parts.children):
        return np.full(len(parts.children), np.inf)
    found = results([task(_nearest_few, *one) for one in zip(described, boxes.tasks, strict=True)])
    indices, distances, points = (np.concatenate(column) for column in zip(*found, strict=True))
    block = NeighborBlock(np.arange(len(indices)), indices, distances)
    points_of = EuclideanDistances(np.ones((1, 1))).at(points)
    return islands.openness_of_merges(block, points_of, parts, dimension, execution)


def _nearest_few(found: surroundings.Rows, box: Box) -> tuple[Any, Any, Any]:
    few = 2 * islands.N_LINKS
    return found.indices[:, :few], found.distances[:, :few], box.points
