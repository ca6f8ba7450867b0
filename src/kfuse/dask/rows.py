"""The rows of X: what a chunk holds, and its way to the boxes of space.

A sample of all rows gives splits, and each row goes to its box, identical rows to the same. There, identical rows
become one place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.dask.splits import Splits, splits_of_sample
from kfuse.dask.steps import Rounding
from kfuse.dask.tasks import Task, shared, started, task


class Described(NamedTuple):
    """What one pass over a chunk tells."""

    least: NDArray[np.float64]
    greatest: NDArray[np.float64]
    smallest: float  # magnitude that is not zero
    bad: tuple[int, int, float] | None  # the first value that is not finite: its row, its column, and what it is
    sample: NDArray[np.float64]
    few: NDArray[np.float64]  # the rows from which steps are guessed


class Frame(NamedTuple):
    """How coordinates are seen: in which unit, a power of two, in which steps, and which columns extend most."""

    unit: float
    rounding: Rounding | None
    widest_first: NDArray[np.intp]

    @property
    def unit_of_distances(self) -> float:
        """The unit of what `wide` returns."""
        return self.unit * ((self.rounding.unit if self.rounding else 0.0) or 1.0)

    @property
    def step(self) -> float:
        """What the coordinates are whole multiples of, in that unit; zero if of nothing."""
        return float(self.rounding is not None and self.rounding.unit > 0.0)

    def wide(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows in this unit, the widest column first; there is one zero."""
        points = in_unit(X, self.unit)
        written = points if self.rounding is None else self.rounding.written(points)
        return np.ascontiguousarray(written[:, self.widest_first] + 0.0)

    def measured(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows as they are, before rounding, the widest column first; without columns if that is `wide`."""
        columns = self.widest_first[: 0 if self.rounding is None else None]
        return np.ascontiguousarray(in_unit(X, self.unit)[:, columns])

    def as_given(self, wide: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns in their own order."""
        points = np.empty_like(wide)
        points[:, self.widest_first] = wide
        return points


def in_unit(X: NDArray[Any], unit: float) -> NDArray[np.float64]:
    """Return numbers in multiples of a power of two."""
    points = np.asarray(X, dtype=np.float64)
    return points if unit == 1 else np.ldexp(points, -int(np.log2(unit)))


class Piece(NamedTuple):
    """The rows of one chunk that lie in one box."""

    rows: NDArray[np.intp]  # of the chunk
    points: NDArray[np.float64]  # in wide order
    measured: NDArray[np.float64]


class Distinct(NamedTuple):
    """The distinct points of a box, and how many samples each of them stands for."""

    points: NDArray[np.float64]
    measured: NDArray[np.float64]  # of the first sample at each place
    first: NDArray[np.int64]  # the first sample at each place
    n_samples: NDArray[np.int32]


class Gathered(NamedTuple):
    """The rows of all chunks in their boxes."""

    distinct: list[Task]  # one per box
    kinds: list[Task]  # one per box: for each chunk, which of the distinct points its rows are
    rows: list[Task]  # one per chunk: for each box, which rows of the chunk these are


def describe(X: NDArray[Any], step: int, few: NDArray[np.intp]) -> Described:
    """Find the extent of a chunk, what is wrong with it, a sample of its rows, and a few given ones."""
    X = np.asarray(X, dtype=np.float64)
    if len(X) == 0:
        nothing = np.full(X.shape[1], np.inf)
        return Described(nothing, -nothing, np.inf, None, X, X)
    bad = np.argwhere(~np.isfinite(X)) if not np.isfinite(X.sum()) else np.empty((0, 2), np.intp)
    where = (int(bad[0, 0]), int(bad[0, 1]), float(X[tuple(bad[0])])) if len(bad) else None
    smallest = np.min(np.abs(X), where=X != 0, initial=np.inf)
    return Described(X.min(axis=0), X.max(axis=0), float(smallest), where, X[::step], X[few])


def gather(chunks: list[Task], frame: Frame, sample: NDArray[np.float64], starts: list[int], n_levels: int) -> Gathered:
    """Bring the rows of all chunks into boxes; `starts` are the numbers of the chunks' first rows."""
    splits, seen, n_boxes = shared(splits_of_sample(frame.wide(sample), n_levels)), shared(frame), 2**n_levels
    sent = [task(send, chunk, seen, splits) for chunk in chunks]
    arrived = [task(arrive, [one[box] for one in sent], shared(starts)) for box in range(n_boxes)]
    kept = started([*(one[0] for one in arrived), *(one[1] for one in arrived), *(task(_rows, one) for one in sent)])
    return Gathered(kept[:n_boxes], kept[n_boxes : 2 * n_boxes], kept[2 * n_boxes :])


def _rows(pieces: list[Piece]) -> list[NDArray[np.intp]]:
    return [piece.rows for piece in pieces]


def send(X: NDArray[Any], frame: Frame, splits: Splits) -> list[Piece]:
    """Divide a chunk by the boxes that its rows lie in."""
    wide, measured = frame.wide(X), frame.measured(X)
    box = splits.leaves_of(wide)
    order = np.argsort(box, kind="stable")
    cuts = np.searchsorted(box[order], np.arange(1, 2**splits.n_levels))
    return [Piece(rows, wide[rows], measured[rows]) for rows in np.split(order, cuts)]


def arrive(pieces: list[Piece], starts: list[int]) -> tuple[Distinct, list[NDArray[np.int32]]]:
    """Find the distinct points among the rows of a box, and for each chunk which of them its rows are."""
    points = np.concatenate([piece.points for piece in pieces])
    samples = np.concatenate([start + piece.rows for start, piece in zip(starts, pieces, strict=True)])
    order = _identical_together(points)
    points = points[order]
    is_new = np.ones(len(points), dtype=bool)
    is_new[1:] = (points[1:] != points[:-1]).any(axis=1)
    kind = np.empty(len(points), dtype=np.int32)
    kind[order] = np.cumsum(is_new) - 1
    where = np.flatnonzero(is_new)
    n_samples = np.diff(np.append(where, len(points))).astype(np.int32)
    cuts = np.cumsum([len(piece.rows) for piece in pieces])[:-1]
    measured = np.concatenate([piece.measured for piece in pieces])
    return Distinct(points[where], measured[order[where]], samples[order[where]], n_samples), np.split(kind, cuts)


def _identical_together(points: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order in which identical points follow each other, the first of them first."""
    order = np.argsort(points[:, 0])  # this is fast since equals stay in no order, and mostly, there are none
    values = points[order, 0]
    return np.lexsort(points.T) if (values[1:] == values[:-1]).any() else order


def places_of_chunks(gathered: Gathered, numbers: list[Task], sizes: list[int]) -> list[Task]:
    """Return the number of the place of every row, chunk by chunk."""
    return [
        task(
            _places,
            size,
            of_chunk,
            [task(_numbers_of, *one, chunk) for one in zip(numbers, gathered.kinds, strict=True)],
        )
        for chunk, (size, of_chunk) in enumerate(zip(sizes, gathered.rows, strict=True))
    ]


def _numbers_of(numbers: NDArray[np.int32], kinds: list[NDArray[np.int32]], chunk: int) -> NDArray[np.int32]:
    return numbers[kinds[chunk]]


def _places(size: int, rows: list[NDArray[np.intp]], numbers: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    places = np.empty(size, dtype=np.int32)
    for where, found in zip(rows, numbers, strict=True):
        places[where] = found
    return places
