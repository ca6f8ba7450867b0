"""Encode columns as features: scaled numbers, categories one-hot, places on the sphere.

Rows have neighbours by their numbers, so it is among neighbours that a category has to count as much as a number: if it
counted as much as the whole range of a number, every combination of categories would be a cluster of its own. The unit
of categories is therefore what one number contributes to the distance of a row to its nearest neighbours. A column
without numbers beside it has no such unit, and counts from 0 to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.tables import positions, scales
from kfuse.tables.positions import Position
from kfuse.tables.roles import Column
from kfuse.tables.scales import Scale

NEIGHBOR = 5  # whose distance is that of neighbours
MOST_QUERIES = 1000  # rows whose neighbours are searched for the unit of categories
DISCRETE = {"ordered category": "steps", "yes/no": "0 and 1", "constant": "min-max"}  # how these are scaled, in words
OWN_CATEGORY = "(missing)"

Floats = NDArray[np.float64]


class Block(NamedTuple):
    """The features that one column, or a pair of columns, becomes."""

    columns: list[str]  # where they come from
    names: list[str]
    values: Floats  # before scaling, one row per sample
    X: Floats
    scaling: str  # in words
    is_discrete: bool  # whether X is still to be multiplied by the unit of categories


def number(column: Column, values: Floats, scale: Scale) -> Block:
    """Encode a number, an ordered category or a flag; `values` are finite."""
    is_discrete = column.role in DISCRETE and scale != "none"
    used: Scale = scale if scale != "auto" and not is_discrete else "minmax" if is_discrete else scales.choose(values)
    scaled = scales.scaled(values, used)
    title = DISCRETE[column.role] if is_discrete else scales.TITLES[used]
    return Block([column.name], [column.name], values[:, None], scaled[:, None], title, is_discrete)


def category(column: Column, values: pl.Series) -> Block:
    """Encode a category one-hot; a missing value is a category of its own. Two that differ are at distance one."""
    filled = values.fill_null(OWN_CATEGORY)
    levels = sorted(filled.unique().to_list())
    codes = filled.replace_strict(levels, list(range(len(levels))), return_dtype=pl.Int64).to_numpy()
    flags = np.zeros((len(codes), len(levels)))
    flags[np.arange(len(codes)), codes] = 1
    names = [f"{column.name} = {level}" for level in levels]
    return Block([column.name] * len(levels), names, flags, flags / np.sqrt(2), "one-hot", is_discrete=True)


def place(pair: Position, latitude: Floats, longitude: Floats, scale: Scale) -> Block:
    """Encode a place as a point on the sphere, with one factor so that the longest side of all places is one."""
    points = positions.on_the_sphere(latitude, longitude)
    width = np.ptp(points, axis=0).max() if len(points) else 0.0
    names = [f"{pair.latitude}, {pair.longitude} ({axis})" for axis in "xyz"]
    X = points if scale == "none" or width == 0 else (points - points.min(axis=0)) / width
    return Block([pair.latitude, pair.longitude, pair.longitude], names, points, X, "on the sphere", is_discrete=False)


def radians(pair: Position, latitude: Floats, longitude: Floats) -> Block:
    """Encode a place as radians, for the haversine distance."""
    values = np.column_stack([latitude, longitude])
    return Block([*pair], [*pair], values, np.radians(values), "in radians", is_discrete=False)


def joined(blocks: list[Block]) -> Floats:
    """Join blocks into the samples, with discrete features in the unit of categories.

    Parameters
    ----------
    blocks : list of Block
        At least one.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The samples.
    """
    continuous = [block for block in blocks if not block.is_discrete]
    unit = 1.0
    if continuous and len(continuous) < len(blocks):
        unit = neighbor_unit(np.hstack([block.X for block in continuous]), len(continuous))
    return np.hstack([block.X * unit if block.is_discrete else block.X for block in blocks])


def neighbor_unit(X: Floats, n_columns: int) -> float:
    """Return what one column contributes to the distance to a near neighbour.

    It is the median distance of rows to their `NEIGHBOR`-th nearest distinct neighbour, divided by the square root of
    the number of columns; of more than `MOST_QUERIES` rows, as many are taken at even steps of their sorted order.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The scaled numbers.
    n_columns : int
        The number of columns that they come from.

    Returns
    -------
    float
        The unit, 1 if there are too few distinct rows.
    """
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 - slow to import

    distinct = np.unique(X, axis=0)
    if len(distinct) <= NEIGHBOR:
        return 1.0
    queries = distinct[np.linspace(0, len(distinct) - 1, min(len(distinct), MOST_QUERIES)).round().astype(np.intp)]
    search = NearestNeighbors(n_neighbors=NEIGHBOR + 1).fit(distinct)
    return float(np.median(search.kneighbors(queries)[0][:, NEIGHBOR]) / np.sqrt(n_columns))
