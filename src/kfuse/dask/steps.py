"""Rounded data in the steps of its rounding: the decision of `core.distances.steps`, over all chunks.

A few rows, the extremes and the values around the median tell most columns. Only where these show a step, or are not
sure, the distinct values of the column come to this node, where the code of one machine decides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import steps
from kfuse.core.distances.steps import Recorded
from kfuse.dask.tasks import Task, results, shared, task

FIRST_MARGIN = 1.5  # of the bracket around the median, times the root of the size of the sample
PARTS_AT_A_TIME = 16  # that one task joins


class Rounding(NamedTuple):
    """How each column was recorded, and the unit of all of them; zero is the data's own."""

    columns: list[Recorded]
    unit: float

    def written(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows as they were recorded."""
        columns = zip(self.columns, points.T, strict=True)
        return np.column_stack([column.values(np.ascontiguousarray(values), self.unit) for column, values in columns])


class Seen(NamedTuple):
    """What one pass over all rows tells."""

    chunks: list[Task]  # the rows as numbers in a safe unit
    n_samples: int
    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    few: NDArray[np.float64]  # the rows from which steps are guessed
    sample: NDArray[np.float64]


class Band(NamedTuple):
    """How many values lie below a bracket, and the distinct ones inside, with their numbers."""

    n_below: int
    values: NDArray[np.float64]
    counts: NDArray[np.int64]


def find_rounding(seen: Seen) -> Rounding | None:
    """Find how the data was recorded, or None if it stays as it is."""
    guessed = Guessed(seen)
    spread = [SpreadColumn(guessed, number) for number in range(seen.least.size)]
    columns = steps.how_recorded(spread)
    unit = None if columns is None else steps.unit_of_steps(columns)
    if columns is None or unit is None:
        return None
    rounding = Rounding(columns, unit)
    if any(column.chains for column in columns):
        known = shared(rounding)
        places = reduced([task(_few_places, chunk, known) for chunk in seen.chunks], _few_of_all)
        return None if len(places) < steps.FEWEST_PLACES else rounding
    return rounding


class Guessed:
    """The steps that a few rows show, and the distinct values of the columns that are in these steps."""

    def __init__(self, seen: Seen):
        self.seen = seen
        columns = list(zip(seen.few.T, seen.least, seen.greatest, strict=True))
        found = [steps.guessed_step(*column) for column in columns]
        extents = seen.greatest - seen.least
        self.steps = [
            step if steps.has_room(step, extent, seen.n_samples) else 0.0
            for step, extent in zip(found, extents, strict=True)
        ]

    @cached_property
    def distinct(self) -> list[NDArray[np.float64] | None]:
        """The distinct values of each column; None if it is not in its step."""
        known = shared((self.seen.least, self.steps))
        return reduced([task(_distinct_in_steps, chunk, known) for chunk in self.seen.chunks], _distinct_of_all)


class SpreadColumn:
    """A column whose values are spread over chunks."""

    def __init__(self, guessed: Guessed, number: int):
        self._guessed, self._number, self._seen = guessed, number, guessed.seen

    @property
    def _extent(self) -> float:
        return float(self._seen.greatest[self._number] - self._seen.least[self._number])

    @cached_property
    def _distinct(self) -> NDArray[np.float64]:
        return reduced([task(_distinct, chunk, self._number) for chunk in self._seen.chunks], _joined)

    def in_guessed_step(self) -> Recorded | None:
        """Return how the column is recorded in the step that a few rows show, or None."""
        step = self._guessed.steps[self._number]
        if self._extent == 0.0:
            return Recorded(float(self._seen.least[self._number]), 0.0)
        distinct = self._guessed.distinct[self._number] if step else None
        return None if distinct is None else steps.in_multiples(distinct, step, self._seen.n_samples)

    def in_multiples(self, step: float) -> Recorded | None:
        """Return how the column is recorded in a step, or None."""
        return steps.in_multiples(self._distinct, step, self._seen.n_samples)

    def sorted_out(self) -> Recorded | None:
        """Find how the column was recorded from all its distinct values, or None."""
        return steps.sorted_out(self._distinct)

    def is_continuous(self) -> bool:
        """Return whether the values around the median show that there are no steps."""
        return self._seen.n_samples > steps.WINDOW and steps.is_continuous(self._window(), self._extent)

    def _window(self) -> NDArray[np.float64]:
        """Return the distinct values around the median, which are inside of a bracket that a sample gives."""
        n_samples, sample = self._seen.n_samples, np.sort(self._seen.sample[:, self._number])
        first, margin, middle = steps.first_of_window(n_samples), FIRST_MARGIN, sample.size // 2
        while True:
            reach = int(margin * np.sqrt(sample.size)) + steps.WINDOW * sample.size // n_samples + 1
            low = sample[middle - reach] if reach <= middle else -np.inf
            high = sample[middle + reach] if middle + reach < sample.size else np.inf
            known = shared((self._number, float(low), float(high)))
            band = reduced([task(_band, chunk, known) for chunk in self._seen.chunks], _bands_of_all)
            ends = band.n_below + np.cumsum(band.counts)
            if band.n_below <= first and ends.size and ends[-1] >= first + steps.WINDOW:
                return band.values[(ends > first) & (ends - band.counts < first + steps.WINDOW)]
            margin *= 4


def reduced(parts: list[Task], join: Callable[[list[Any]], Any]) -> Any:
    """Join parts, a few in each task, down to one, and return it."""
    while len(parts) > 1:
        groups = range(0, len(parts), PARTS_AT_A_TIME)
        parts = [task(join, parts[start : start + PARTS_AT_A_TIME]) for start in groups]
    return results(parts)[0]


def _few_places(points: NDArray[np.float64], rounding: Rounding) -> NDArray[np.float64]:
    return _few_of_all([rounding.written(points)])


def _few_of_all(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.unique(np.concatenate(parts), axis=0)[: steps.FEWEST_PLACES]


def _distinct(points: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    return np.unique(points[:, number])


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.unique(np.concatenate(parts))


def _distinct_in_steps(points: NDArray[np.float64], known: tuple[Any, list[float]]) -> list[Any]:
    return [
        np.unique(values) if step and steps.are_multiples(values, least, step) else None
        for values, least, step in zip(points.T, *known, strict=True)
    ]


def _distinct_of_all(parts: list[list[Any]]) -> list[Any]:
    columns = zip(*parts, strict=True)
    return [None if any(values is None for values in column) else _joined(list(column)) for column in columns]


def _band(points: NDArray[np.float64], bracket: tuple[int, float, float]) -> Band:
    number, low, high = bracket
    values = points[:, number]
    inside = values[(values >= low) & (values <= high)]
    return Band(int(np.count_nonzero(values < low)), *np.unique(inside, return_counts=True))


def _bands_of_all(parts: list[Band]) -> Band:
    n_below, values, counts = zip(*parts, strict=True)
    distinct, inverse = np.unique(np.concatenate(values), return_inverse=True)
    total = np.zeros(distinct.size, np.int64)
    np.add.at(total, inverse, np.concatenate(counts))
    return Band(sum(n_below), distinct, total)
