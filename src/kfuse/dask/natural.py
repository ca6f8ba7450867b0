"""Algorithm 1 on boxes: reverse neighbours are counted where they are found, and added up where they belong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import adaptive
from kfuse.core.natural import count_reverse_neighbors, note_first_rounds, stopping_round
from kfuse.dask.boxes import Box, Boxes
from kfuse.dask.exchange import Halos, View, view_of
from kfuse.dask.neighbors import Across, Found, Own, search
from kfuse.dask.tasks import Task, results, started, task

FIRST_COUNT = 32  # neighbours asked for at first; data in few dimensions needs no more


class Natural(NamedTuple):
    """Lambda, nb, and the neighbours found on the way."""

    natural_value: int
    reverse_counts: list[Task]
    largest_count: int
    neighbors: Found


def find_natural_neighbors(boxes: Boxes) -> Natural:
    """Widen the range until a round in which no place gains its first reverse neighbour (Algorithm 1)."""
    most = min(adaptive.MOST_NEIGHBORS, boxes.n_places - 1)
    k = min(FIRST_COUNT, most)
    while True:
        found = search(boxes, k)
        views = started([task(_view, *one) for one in zip(boxes.tasks, found.across, strict=True)])
        halos = Halos.of(views, boxes.starts)
        neighbors = list(zip(found.own, found.across, views, strict=True))
        rounds = _reduced(halos, [task(_first_rounds, *one) for one in neighbors], np.minimum)
        found_in_round = sum(results([task(_count_rounds, one, k) for one in rounds]))
        natural_value = stopping_round(found_in_round)
        if natural_value <= k or k == most:
            break
        k = min(2 * k, most)
    natural_value = min(max(1, natural_value - 1), most)
    counted = [task(_reverse_counts, *one, natural_value) for one in neighbors]
    counts = started(_reduced(halos, counted, np.add))
    return Natural(natural_value, counts, max(results([task(_largest, one) for one in counts])), found)


def halos_of(neighbors: list[Task], boxes: Boxes) -> Halos:
    """Return what each box sees: the neighbours of its places."""
    views = started([task(view_of, *one) for one in zip(neighbors, boxes.starts[:-1].tolist(), strict=True)])
    return Halos.of(views, boxes.starts)


def _view(box: Box, across: Across) -> View:
    """Return what a box sees; only places that may have neighbours in other boxes see more than the box."""
    start, stop = box.start, box.start + len(box.points)
    return View(start, stop, np.unique(across.indices[(across.indices < start) | (across.indices >= stop)]))


def _positions(own: Own, across: Across, view: View, k: int) -> NDArray[np.int32]:
    """Return the positions of the k nearest neighbours of each place."""
    positions = own.indices[:, :k] + np.int32(view.low)
    positions[across.rows] = view.positions(across.indices[:, :k])
    return positions


def _first_rounds(own: Own, across: Across, view: View) -> NDArray[np.int64]:
    """Find the round in which each place seen is first another one's neighbour, k + 1 if in none here."""
    k = own.indices.shape[1]
    rounds = np.full(view.numbers.size, k + 1, dtype=np.int64)
    note_first_rounds(_positions(own, across, view, k), rounds)
    return rounds


def _reverse_counts(own: Own, across: Across, view: View, k: int) -> NDArray[np.int64]:
    """Count how often each place seen is a neighbour here."""
    counts = np.zeros(view.numbers.size, dtype=np.int64)
    count_reverse_neighbors(_positions(own, across, view, k), counts)
    return counts


def _reduced(halos: Halos, seen: list[Task], how: np.ufunc) -> list[Task]:
    """Bring values of the places that boxes see to the boxes that these places belong to."""
    return [
        task(
            _reduce,
            seen[box],
            view,
            [task(_values_for, seen[i], halos.views[i], view) for i in halos.seen_by(box)],
            how,
        )
        for box, view in enumerate(halos.views)
    ]


def _values_for(values: NDArray[np.int64], view: View, other: View) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the values of another box's places, and which of its places these are."""
    first, last = np.searchsorted(view.halo, [other.start, other.stop])
    of_halo = np.concatenate([values[: view.low], values[view.own.stop :]])
    return view.halo[first:last] - other.start, of_halo[first:last]


def _reduce(values: NDArray[np.int64], view: View, others: list[Any], how: np.ufunc) -> NDArray[np.int64]:
    """Reduce the values of the own places with those found by other boxes."""
    own = values[view.own].copy()
    for rows, found in others:
        own[rows] = how(own[rows], found)
    return own


def _count_rounds(rounds: NDArray[np.int64], k: int) -> NDArray[np.intp]:
    return np.bincount(rounds, minlength=k + 2)[1 : k + 1]


def _largest(counts: NDArray[np.int64]) -> int:
    return int(counts.max(initial=0))
