"""Every cluster of every cut that the slider can reach, described once.

A cluster is known by its smallest row and its size: two clusters of one tree that share a row are nested, so that equal
sizes mean equal clusters. The page looks a cluster up by these two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.description.clusters import NOISE, describe_rows
from kfuse.description.columns import MISSING, Column
from kfuse.description.separation import Totals
from kfuse.report.packing import numbers_of

N_TYPICAL = 3
SHARES = (0.25, 0.5, 0.75)


def clusters_of_cuts(model: Any, most: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the label, 0 or -1 for noise, and the rows of each distinct cluster of the cuts into 1 to `most` clusters.

    The clusters of the finest cut are merged one pair at a time, which makes all coarser ones.
    """
    from kfuse.core.dendrogram import nodes_after_merges  # noqa: PLC0415 - numba is slow to import

    tree = model.tree_
    n_kept = max(0, tree.n_leaves - most)
    nodes = nodes_after_merges(tree.children[:n_kept], tree.n_leaves)[tree.leaf_labels]
    if model._used.outliers == "label":
        nodes = np.where(model.outlier_mask_, NOISE, nodes)
    rows = dict(_rows_by_label(nodes))
    if NOISE in rows:
        yield NOISE, rows.pop(NOISE)
    yield from ((0, own) for own in rows.values())
    for merge, pair in enumerate(tree.children[n_kept:].tolist(), start=tree.n_leaves + n_kept):
        parts = [rows.pop(node) for node in pair if node in rows]  # none if all its rows are noise
        if parts:
            rows[merge] = np.concatenate(parts)
            yield 0, rows[merge]
    for number in range(tree.n_leaves + 1, most + 1):  # samples leave their sub-clusters
        yield from ((min(label, 0), own) for label, own in _rows_by_label(model.cut(number)))


def _rows_by_label(labels: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    return list(zip(present.tolist(), np.split(order, starts[1:]), strict=True))


def describe_all(model: Any, columns: list[Column], shown: list[Column], most: int) -> list[dict[str, Any]]:
    """Describe each distinct cluster: its sentence, density and typical rows, and what `shown` columns have in it.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    columns : list of Column
        The columns that sentences are about.
    shown : list of Column
        The columns of the table.
    most : int
        The largest number of clusters.

    Returns
    -------
    list of dict
        One per cluster.
    """
    totals = [Totals.of(column) for column in columns if not column.is_constant]
    numbers = [_distinct_numbers(column) if column.is_ordered else None for column in shown]
    relative = model.density_ / np.median(model.density_)
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for label, rows in clusters_of_cuts(model, most):
        key = (int(rows.min()), rows.size)
        if key not in found:
            found[key] = {
                "first": key[0],
                "size": key[1],
                "sentence": describe_rows(totals, rows, label).sentence,
                "density": float(np.median(relative[rows])),
                "typical": _densest(rows, relative[rows]).tolist(),
                "columns": [_inside(*pair, rows) for pair in zip(shown, numbers, strict=True)],
            }
    return list(found.values())


def _distinct_numbers(column: Column) -> NDArray[np.float64]:
    return numbers_of(column._replace(codes=np.arange(column.values.size, dtype=np.int32)))


def _densest(rows: NDArray[np.intp], density: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the densest rows, of equal ones the first, without sorting all."""
    least = np.partition(density, -N_TYPICAL)[-N_TYPICAL] if rows.size > N_TYPICAL else -np.inf
    candidates = np.flatnonzero(density >= least)
    return rows[candidates[np.lexsort([rows[candidates], -density[candidates]])[:N_TYPICAL]]]


def _inside(column: Column, numbers: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> list[Any] | None:
    """Return the quartiles of an ordered column, or the most frequent value of another one and its count.

    None if no row has a value; the number of missing values comes last.
    """
    codes = column.codes[rows]
    codes = codes[codes != MISSING]
    n_missing = int(rows.size - codes.size)
    if not codes.size:
        return None
    if numbers is None:
        counts = np.bincount(codes)
        return [int(counts.argmax()), int(counts.max()), n_missing]
    positions = np.array(SHARES) * (codes.size - 1)
    low, high = np.floor(positions).astype(np.intp), np.ceil(positions).astype(np.intp)
    places = np.unique([*low, *high])
    ranked = dict(zip(places.tolist(), np.partition(codes, places)[places].tolist(), strict=True))
    below, above = (numbers[[ranked[int(i)] for i in ends]] for ends in (low, high))
    with np.errstate(invalid="ignore"):  # infinite values
        quartiles = np.where(low == high, below, below + (above - below) * (positions - low))
    return [*(float(value) if np.isfinite(value) else None for value in quartiles), n_missing]
