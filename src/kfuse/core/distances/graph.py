"""A sparse graph of distances to some neighbours of each sample, in scipy's compressed rows."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kfuse.core.distances.base import unit_of


class GraphDistances:
    """Distances stored in a graph; a pair that it does not store is infinitely far apart.

    A distance that is stored in one direction holds in both.
    """

    points = None
    is_zero_if_identical = True
    step = 0.0
    compared_by: Literal["boxes", "stored", "rows"] = "stored"

    def __init__(self, graph: csr_array):
        self.n_samples = graph.shape[0]
        self.samples = np.arange(self.n_samples)  # their numbers in the caller's graph
        self.stored_counts = np.diff(graph.indptr)  # up to here, a row's nearest entries are its neighbours
        self.given_counts = self.stored_counts  # of the caller's graph, in which samples may be identical
        heads = np.repeat(np.arange(self.n_samples), self.stored_counts)
        rows, columns = np.concatenate([heads, graph.indices]), np.concatenate([graph.indices, heads])
        self.unit = unit_of(graph.data)
        data = np.tile(graph.data / self.unit, 2)
        order = np.lexsort((data, columns, rows))
        rows, columns, data = rows[order], columns[order], data[order]
        first = np.ones(rows.size, dtype=np.bool_)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        self.indices, self.data = columns[first], data[first]
        self.indptr = np.searchsorted(rows[first], np.arange(self.n_samples + 1))

    def subset(self, kept: NDArray[np.intp]) -> GraphDistances:
        heads = np.repeat(np.arange(self.n_samples), np.diff(self.indptr))
        number = np.full(self.n_samples, -1)
        number[kept] = np.arange(kept.size)
        stays = (number[heads] >= 0) & (number[self.indices] >= 0)
        part = copy(self)
        part.n_samples, part.samples, part.given_counts = kept.size, self.samples[kept], self.given_counts[kept]
        part.indices, part.data = number[self.indices[stays]], self.data[stays]
        part.indptr = np.searchsorted(number[heads[stays]], np.arange(kept.size + 1))
        nearest_first = np.lexsort((self.indices, self.data, heads))
        rank = np.arange(heads.size) - self.indptr[heads]
        known = nearest_first[rank < self.stored_counts[heads]]
        part.stored_counts = np.bincount(heads[known], weights=stays[known], minlength=self.n_samples)[kept].astype(int)
        return part

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        out = np.full((len(samples), self.n_samples), np.inf)
        for row, sample in zip(out, samples, strict=True):
            stored = slice(self.indptr[sample], self.indptr[sample + 1])
            row[self.indices[stored]] = self.data[stored]
        return out

    def pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.full(first.size, np.inf)  # few are stored


def nearest_stored(graph: Any) -> NDArray[np.intp]:
    """Return the column of the nearest stored entry of each row, the first of several."""
    counts = np.diff(graph.indptr)
    if counts.min(initial=1) == 0:
        raise ValueError(f"Row {counts.argmin()} of the graph holds no distance: give each row at least one.")
    rows = np.repeat(np.arange(graph.shape[0]), counts)
    nearest_first = np.lexsort((graph.indices, graph.data, rows))
    return graph.indices[nearest_first][graph.indptr[:-1]].astype(np.intp)
