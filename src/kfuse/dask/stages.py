"""The stages on boxes: `core.adaptive.fit`, box by box up to the links, and on one node from there on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import adaptive
from kfuse.core.adaptive import peaks
from kfuse.core.distances.base import unit_of
from kfuse.core.distances.steps import rows_to_guess_from
from kfuse.core.execution import Execution
from kfuse.core.search.duplicates import VANISHING
from kfuse.dask import climbing, columns, fusion, natural, neighbors, rows, steps, surroundings
from kfuse.dask.boxes import Boxes, number_places
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


class Ordered(NamedTuple):
    """The samples in boxes of space."""

    frame: rows.Frame
    boxes: Boxes
    places: list[Task]  # of the rows of each chunk


class Fitted(NamedTuple):
    """What the stages found: for all, on this node; for places, one task per box; for rows, one per chunk."""

    natural_value: int
    n_neighbors: int  # k
    merged: adaptive.Undone
    leaf_labels: NDArray[np.intp]  # of each sample
    leaving: NDArray[np.intp]  # of each sample
    ordered: Ordered
    columns: list[Task]
    leaves: list[Task]  # the sub-clusters in each box


def fit(chunks: Chunks, rows_per_box: int, execution: Execution) -> Fitted:
    """Run all stages."""
    stage = execution.progress.stage
    with stage("order"):
        ordered = put_in_order(chunks, rows_per_box)
        boxes, step = ordered.boxes, ordered.frame.step
    with stage("neighbours"):
        found = natural.find_natural_neighbors(boxes)
        k = adaptive.count_neighbors(found.largest_count, found.natural_value, boxes.n_places)
        nearest = neighbors.nearest_of(found.neighbors, boxes, k)
        found.neighbors.drop()  # the workers' memory is for the next stages
        halos = natural.halos_of([one[0] for one in nearest], boxes)
    with stage("density"):
        described = surroundings.describe_places(nearest, boxes, halos, k, step)
        nearest.clear()
    with stage("sub-clusters"):
        representatives = surroundings.find_representatives(described.rows, halos, found.natural_value)
        subclusters = climbing.follow(representatives, boxes)
    with stage("merging"):
        sent = fusion.send(described, subclusters, boxes)
        here = fusion.gather(sent, boxes)
        # While boxes add up links, this node has time for what does not need them; and they, while it merges.
        looked_at, place = here.looked_at(k, step), np.concatenate(results(ordered.places))
        leaving, leaf_labels = peaks.order_of_leaving(here.basins, here.log_density)[place], here.labels[place]
        graph = fusion.link(here, sent, subclusters, boxes, k)
        unit, counts = ordered.frame.unit_of_distances, found.reverse_counts
        known = started(columns.columns_of_places(boxes, unit, described, subclusters, counts, halos))
        leaves = started([task(columns.leaves_of, one) for one in known])
        merges, found_peaks = adaptive.merge(graph, here.ends, looked_at, execution)
    with stage("number of clusters"):
        merged = fusion.undo(merges, found_peaks, here, described, boxes, found.natural_value, execution)
    return Fitted(found.natural_value, k, merged, leaf_labels, leaving, ordered, known, leaves)


def put_in_order(chunks: Chunks, rows_per_box: int) -> Ordered:
    """Bring the samples into boxes, where identical ones are one place, and number the places."""
    frame, sample = look_at(chunks)
    n_levels = max(0, int(np.ceil(np.log2(max(1, sum(chunks.sizes)) / rows_per_box))))
    gathered = rows.gather(chunks.tasks, frame, sample, chunks.starts, n_levels)
    boxes = number_places(gathered, frame, rows_per_box)
    return Ordered(frame, boxes, started(rows.places_of_chunks(gathered, boxes.numbers, chunks.sizes)))


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
