"""Exact medians of points that are spread over tasks: the upper levels of the spatial order of one machine.

`core.search.spatial` halves the points at the median of the widest column, again and again. Here, a sample of the
points brackets each median; a pass over the data counts the points below the bracket and fetches those inside, among
which the median is. If it is not, the bracket was too narrow, and a wider one is tried.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.dask.kernels import find_bands, widen
from kfuse.dask.splits import Splits, nodes_of_level, order_by
from kfuse.dask.tasks import Task, results, shared, task

SAMPLE_SIZE = 2**16  # points from which medians are estimated
FIRST_MARGIN = 1.5  # of a bracket, times the root of the sample of a node


class Band(NamedTuple):
    """What a part of the data has below and inside of the brackets of some nodes."""

    n_below: NDArray[np.int64]
    nodes: NDArray[np.int32]  # of each point inside
    points: NDArray[np.float64]


def halve_exactly(parts: list[Task], n_points: int, n_features: int, n_levels: int) -> tuple[Splits, NDArray[Any]]:
    """Return the splits of distinct points into 2^n_levels boxes, and how many points each box has.

    Parameters
    ----------
    parts : list of Task
        Distinct points in wide order, in any division.
    n_points, n_features, n_levels : int
        How many points there are in all, their features, and how often to halve.

    Returns
    -------
    tuple of Splits and ndarray
        The same halves as those of all points on one machine.
    """
    splits, sizes = Splits.none_yet(n_levels, n_features), np.array([n_points])
    if n_levels == 0:
        return splits, sizes
    step = max(1, n_points // SAMPLE_SIZE)
    sample = np.concatenate(results([task(_every, part, step) for part in parts]))
    for level in range(n_levels):
        nodes, known = nodes_of_level(level), shared(splits)
        bounds = np.array(results([task(bounds_of_nodes, part, known, level) for part in parts]))
        least, greatest = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
        splits.columns[nodes] = np.argmax(greatest - least, axis=1)
        splits.pivots[nodes] = _medians(parts, splits, level, sizes, sample)
        sizes = np.column_stack([sizes // 2, sizes - sizes // 2]).ravel()
    return splits, sizes


def _every(points: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    return points[::step]


def bounds_of_nodes(points: NDArray[np.float64], splits: Splits, level: int) -> NDArray[np.float64]:
    """Return the least and greatest coordinates of the points in each node of a level."""
    nodes = splits.leaves_of(points, level)
    bounds = np.empty((2, 2**level, points.shape[1]))
    bounds[0], bounds[1] = np.inf, -np.inf
    widen(points, nodes, bounds)
    return bounds


def _medians(
    parts: list[Task], splits: Splits, level: int, sizes: NDArray[Any], sample: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find the point in the middle of each node of a level."""
    columns = splits.columns[nodes_of_level(level)]
    of_sample = splits.leaves_of(sample, level)
    by_node = [sample[of_sample == node] for node in range(2**level)]
    by_node = [points[order_by(points, column)] for points, column in zip(by_node, columns, strict=True)]
    medians, margin = np.full((2**level, sample.shape[1]), np.nan), FIRST_MARGIN
    while np.isnan(medians[:, 0]).any():
        pending = np.isnan(medians[:, 0])
        lows, highs = zip(
            *(_bracket(one, is_on, margin) for one, is_on in zip(by_node, pending, strict=True)), strict=True
        )
        brackets = shared((splits, level, columns, np.array(lows), np.array(highs)))
        found: list[Band] = results([task(band_of, part, brackets) for part in parts])
        n_below = np.sum([band.n_below for band in found], axis=0)
        nodes, points = np.concatenate([b.nodes for b in found]), np.concatenate([b.points for b in found])
        for node in np.flatnonzero(pending):
            inside, rank = points[nodes == node], sizes[node] // 2 - n_below[node]
            if 0 <= rank < len(inside):
                medians[node] = inside[order_by(inside, columns[node])[rank]]
        margin *= 4
    return medians


def _bracket(points: NDArray[np.float64], is_on: bool, margin: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two points of a sorted sample around its median; nothing is between those of a node that is not on."""
    anything = np.full(points.shape[1], np.inf)
    if not is_on:
        return anything, -anything
    reach = int(margin * np.sqrt(len(points))) + 1
    low, high = len(points) // 2 - reach, len(points) // 2 + reach
    return points[low] if low >= 0 else -anything, points[high] if high < len(points) else anything


def band_of(points: NDArray[np.float64], brackets: tuple[Splits, int, Any, Any, Any]) -> Band:
    """Count the points below the bracket of each node, and return those inside."""
    splits, level, columns, lows, highs = brackets
    nodes, sides = splits.leaves_of(points, level), np.empty(len(points), dtype=np.int8)
    find_bands(points, nodes, columns, lows, highs, sides)
    inside = sides == 0
    return Band(np.bincount(nodes[sides < 0], minlength=2**level), nodes[inside], points[inside])
