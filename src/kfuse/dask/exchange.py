"""What a box sees of its surroundings: the neighbours that its places have in other boxes, its halo.

Numbers of places are global in what boxes exchange. Kernels want positions in arrays, so a box numbers its own places
and its halo by position; positions increase with numbers, so that ties are broken the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.dask.kernels import find_positions
from kfuse.dask.tasks import Task, results, shared, task


class View(NamedTuple):
    """The places that a box sees, by ascending number: its own, and its halo."""

    start: int  # its own places: from this number ...
    stop: int  # ... up to this one
    halo: NDArray[np.int32]  # the numbers of the others

    @property
    def low(self) -> int:
        """The position of the first own place."""
        return int(np.searchsorted(self.halo, self.start))

    @property
    def own(self) -> slice:
        """The positions of the own places."""
        return slice(self.low, self.low + self.stop - self.start)

    @property
    def numbers(self) -> NDArray[np.int32]:
        """The numbers of all places seen."""
        return self.around(np.arange(self.start, self.stop, dtype=np.int32), self.halo)

    def around(self, own: NDArray[Any], halo: NDArray[Any]) -> NDArray[Any]:
        """Return values of the own places and of the halo by position."""
        return np.concatenate([halo[: self.low], own, halo[self.low :]])

    def around_all(self, own: tuple[Any, ...], halo: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return several columns of the own places and of the halo by position."""
        return tuple(self.around(*columns) for columns in zip(own, halo, strict=True))

    def positions(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the positions of places; those that are not seen come after all others."""
        return self._placed(numbers, (self.low, 0, self.stop - self.start))

    def own_first(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the positions of places where own ones come first, and then the halo."""
        n_own = self.stop - self.start
        return self._placed(numbers, (0, n_own, n_own))

    def _placed(self, numbers: NDArray[np.int32], offsets: tuple[int, int, int]) -> NDArray[np.int32]:
        found = np.empty(numbers.shape, dtype=np.int32)
        find_positions(numbers.ravel(), self.start, self.stop, self.halo, offsets, found.ravel())
        return found


def view_of(indices: NDArray[np.int32], start: int) -> View:
    """Return the view of a box whose places have these neighbours."""
    stop = start + len(indices)
    return View(start, stop, np.unique(indices[(indices < start) | (indices >= stop)]))


class Halos(NamedTuple):
    """The views of all boxes, and which boxes each of them looks into."""

    views: list[Task]
    seen: list[list[int]]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, views: list[Task], starts: NDArray[np.int64]) -> Halos:
        """Find out which boxes each one looks into."""
        known = shared(starts)
        return cls(views, results([task(owners, view, known) for view in views]), starts)

    def fetch(self, columns: list[Task]) -> list[Task]:
        """Return the columns of each box's halo, given those of each box; a row for each place."""
        return [
            task(stacked, [task(rows_of, columns[other], self.views[box], int(self.starts[other])) for other in others])
            if others
            else task(no_rows, columns[box])
            for box, others in enumerate(self.seen)
        ]

    def seen_by(self, box: int) -> list[int]:
        """Return the boxes that look into a box."""
        return [other for other, boxes in enumerate(self.seen) if box in boxes]


def owners(view: View, starts: NDArray[np.int64]) -> list[int]:
    """Return the boxes that a view looks into."""
    return [int(box) for box in np.unique(np.searchsorted(starts, view.halo, side="right") - 1)]


def rows_of(columns: Any, view: View, start: int) -> Any:
    """Return the rows of a box that another one sees; `columns` is a named tuple of arrays."""
    first, last = np.searchsorted(view.halo, [start, start + len(columns[0])])
    rows = view.halo[first:last] - start
    return type(columns)(*(column[rows] for column in columns))


def stacked(pieces: list[Any]) -> Any:
    """Stack the rows of several boxes, which come in ascending order."""
    return type(pieces[0])(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def no_rows(columns: Any) -> Any:
    """Return the columns without rows."""
    return type(columns)(*(column[:0] for column in columns))
