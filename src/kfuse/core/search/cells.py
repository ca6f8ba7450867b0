"""Cells: every sample belongs to the nearest of some leaders, which are samples drawn at random.

Most of the nearest neighbours of a sample are in the few cells whose leaders are nearest to it. So the nearest leaders
are found first, then the nearest samples in their cells. Where there are many leaders, they have cells and leaders
themselves, and so on. Everything is found exactly among what is looked at, so chance decides nothing but who leads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution
from kfuse.core.search.screen import COLUMNS_AT_A_TIME, Visit, Visiting

CELL_SIZE = 64  # samples, on average
FEWEST_SEEN, SEEN_PER_NEIGHBOR = 1536, 16  # samples to look at: nineteen in twenty neighbours are found
MOST_LEADERS = 4096  # all of which are looked at
ENTRIES_AT_A_TIME = 2**20  # of a block of bounds
ROWS_AT_A_TIME = 8192  # whose visits are put together, so that many go to the same cell

Nearest = Callable[[NDArray[np.intp], int, Visiting], tuple[NDArray[np.int32], NDArray[np.float64]]]


class Cells:
    """The cells of some samples.

    Parameters
    ----------
    samples : ndarray of int
        The samples to divide.
    leaders : ndarray of int
        Those that lead, in ascending order.
    above : Cells or None
        The cells of the leaders; None to look at all leaders.
    n_near : int
        How many of the nearest leaders to note for each sample.
    nearest : callable
        Finds the nearest of what a sample looks at.
    """

    def __init__(
        self,
        samples: NDArray[np.intp],
        leaders: NDArray[np.intp],
        above: Cells | None,
        n_near: int,
        nearest: Nearest,
        execution: Execution = SERIAL,
    ):
        self.samples, self.leaders, self.above = samples, leaders, above
        self._nearest = nearest
        found = execution.over_ranges(
            lambda start, stop: self.nearest_leaders(samples[start:stop], n_near), samples.size, ROWS_AT_A_TIME
        )
        self.near = np.concatenate(found)  # by number, nearest first
        own = self.near[:, 0]
        self.members = samples[np.argsort(own, kind="stable")].astype(np.int32)
        self.sizes = np.bincount(own, minlength=leaders.size)
        self.starts = np.append(0, np.cumsum(self.sizes))

    def nearest_leaders(self, rows: NDArray[np.intp], count: int) -> NDArray[np.int32]:
        """Return the numbers of the nearest leaders of some samples, nearest first; -1 where none was looked at.

        A leader's nearest one is itself.
        """
        count = min(count, self.leaders.size)
        near = np.full((rows.size, count + 1), -1, dtype=np.int32)
        looked_at = self._all_leaders if self.above is None else partial(self.above.visits, count=samples_seen(count))
        most = min(count, self.leaders.size - 1)  # but itself
        found, distances = self._nearest(rows, most, looked_at)
        number = np.searchsorted(self.leaders, np.where(np.isinf(distances), 0, found))
        near[:, 1 : most + 1] = np.where(np.isinf(distances), -1, number)
        own = np.minimum(np.searchsorted(self.leaders, rows), self.leaders.size - 1)
        leads = self.leaders[own] == rows
        near[leads, 0] = own[leads]
        near[~leads, :-1] = near[~leads, 1:]
        return near[:, :count]

    def _all_leaders(self, rows: NDArray[np.intp]) -> Iterator[Visit]:
        for start in range(0, self.leaders.size, COLUMNS_AT_A_TIME):
            columns = self.leaders[start : start + COLUMNS_AT_A_TIME].astype(np.int32)
            yield from _in_blocks(np.arange(rows.size), columns)

    def visits(self, rows: NDArray[np.intp], count: int, near: NDArray[np.int32] | None = None) -> Iterator[Visit]:
        """Let each of `rows` look into the nearest cells until it has seen `count` samples; `near` are those cells."""
        near = self.nearest_leaders(rows, cells_seen(count)) if near is None else near
        sizes = np.where(near < 0, 0, self.sizes[near])
        looks = (np.cumsum(sizes, axis=1) - sizes < count) & (near >= 0)
        which, cell = np.nonzero(looks)[0], near[looks]
        by_cell = np.argsort(cell, kind="stable")
        which, cell = which[by_cell], cell[by_cell]
        edges = np.append(np.flatnonzero(np.append(True, cell[1:] != cell[:-1])), cell.size) if cell.size else [0]
        for first, last in pairwise(edges):
            members = self.members[self.starts[cell[first]] : self.starts[cell[first] + 1]]
            for start in range(0, members.size, COLUMNS_AT_A_TIME):
                yield from _in_blocks(which[first:last], members[start : start + COLUMNS_AT_A_TIME])


def divide(
    shuffled: NDArray[np.intp], n_near: int, nearest: Nearest, execution: Execution = SERIAL, times: int = 1
) -> Cells:
    """Divide all samples into cells, and the leaders of these, until they are few; the first of `shuffled` lead.

    Cells have `times` as many samples as usual.
    """
    groups = [np.sort(shuffled)]
    while len(groups) == 1 or groups[-1].size > MOST_LEADERS:
        groups.append(np.sort(shuffled[: -(-groups[-1].size // (times * CELL_SIZE))]))
    cells = None
    for level in range(len(groups) - 2, 0, -1):
        cells = Cells(groups[level], groups[level + 1], cells, 1, nearest, execution)
    return Cells(groups[0], groups[1], cells, n_near, nearest, execution)


def _in_blocks(which: NDArray[np.intp], columns: NDArray[np.int32]) -> Iterator[Visit]:
    """Split a visit by rows, so that a block of bounds does not grow too large."""
    size = max(1, ENTRIES_AT_A_TIME // columns.size)
    for start in range(0, which.size, size):
        yield Visit(which[start : start + size], columns)


def samples_seen(k: int) -> int:
    """Return how many samples to look at for the k nearest."""
    return FEWEST_SEEN + SEEN_PER_NEIGHBOR * k


def cells_seen(n_samples: int, times: int = 1) -> int:
    """Return how many cells to look into to see this many samples, about."""
    return -(-n_samples // (times * CELL_SIZE))
