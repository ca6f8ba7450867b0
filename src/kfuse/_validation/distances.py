"""Precomputed distances as input: a square matrix or a sparse graph, and the errors for anything else."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from kfuse._validation.containers import as_table
from kfuse._validation.features import (
    check_columns,
    check_finite,
    check_given,
    check_no_text,
    explained_text,
)
from kfuse.wording import counted

ROUNDING = 10  # times the root of the precision: what differences of squares leave in place of zero


def check_distances(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[Any] | csr_array:
    """Return a precomputed matrix (dense) or graph (sparse) of distances, checked."""
    X = as_table(X)
    check_given(X)
    check_columns(X)
    if issparse(X):
        _check_structure(X)
    table = X
    with explained_text(table):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr",
            ensure_all_finite=False,
        )
    if not issparse(X):
        check_no_text(table)
    if reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances, got shape {X.shape}: pass the distances "
            "between all pairs, or choose another metric for features."
        )
    if issparse(X):
        return _check_graph(csr_array(X), square=reset)
    check_finite(X, None, "give every pair a distance, or use a sparse graph")
    if reset:
        _check_diagonal(X)
    _check_not_negative(X)
    if reset:
        _check_symmetric(X)
    return X


def _check_structure(graph: Any) -> None:
    """Reject a graph with out-of-bounds entries: scipy would read and write memory that is not its own."""
    try:
        if graph.format in ("csr", "csc", "bsr"):
            copy(graph).check_format(full_check=True)
            if (np.diff(graph.indptr) < 0).any():  # scipy does not look at this where nothing is stored
                raise ValueError("index pointer values must not decrease")
        elif graph.format == "coo":
            coo_array((graph.data, (graph.row, graph.col)), shape=graph.shape)
    except ValueError as error:
        raise ValueError(f"The precomputed graph is damaged ({error}): build it again.") from error


def _check_graph(graph: csr_array, *, square: bool) -> csr_array:
    _check_stored(graph, ~np.isfinite(graph.data), "NaN or infinity", "leave such pairs out of the graph")
    _check_stored(graph, graph.data < 0, "a negative distance", "distances are at least 0")
    if not graph.has_canonical_format:
        graph = graph.copy()
        graph.sum_duplicates()
    if not square:
        return graph
    heads = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    others = heads != graph.indices  # a sample is not its own neighbour
    counts = np.bincount(heads[others], minlength=graph.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    _warn_of_connectivity(graph.data[others], graph.shape[0])
    return csr_array((graph.data[others].astype(np.float64), graph.indices[others], indptr), shape=graph.shape)


def _warn_of_connectivity(data: NDArray[Any], n_samples: int) -> None:
    """Warn of a graph that only says who is a neighbour, as scikit-learn makes it by default."""
    if data.size > n_samples and (data == 1).all():
        warnings.warn(
            "All distances of the precomputed graph are 1, so that no density can be told: if it was built with "
            "mode='connectivity', build it with mode='distance'.",
            UserWarning,
            stacklevel=5,
        )


def warn_of_parts(graph: csr_array, n_clusters: int) -> None:
    """Warn of fewer clusters than the graph has parts without a link between them: nothing says which are near."""
    n_parts = connected_components(graph, directed=False, return_labels=False)
    if n_clusters < n_parts:
        warnings.warn(
            f"The precomputed graph has {n_parts} parts that no neighbour connects, so it does not tell which of them "
            f"belong together in {counted(n_clusters, 'cluster')}: add neighbours until it is connected, or cluster "
            "the features.",
            UserWarning,
            stacklevel=3,
        )


def _check_stored(graph: csr_array, bad: NDArray[np.bool_], what: str, remedy: str) -> None:
    if bad.any():
        position = int(bad.argmax())
        row = int(np.searchsorted(graph.indptr, position, side="right")) - 1
        where = f"({row}, {graph.indices[position]})"
        raise ValueError(f"The precomputed graph contains {what} for the pair {where}: {remedy}.")


def _check_diagonal(X: NDArray[Any]) -> None:
    """Reject a matrix in which samples have a distance to themselves, beyond what rounding leaves."""
    diagonal = np.abs(X.diagonal())
    sample = int(diagonal.argmax())
    if diagonal[sample] <= ROUNDING * np.sqrt(np.finfo(X.dtype).eps) * X.max():
        return
    start = f"metric='precomputed' needs distances, which are 0 on the diagonal, but X[{sample}, {sample}] is"
    if (X.diagonal() >= X.max(axis=1)).all():
        raise ValueError(
            f"{start} {X[sample, sample]}, the largest value of its row, which looks like similarities: pass "
            "distances, for example X.max() - X."
        )
    raise ValueError(f"{start} {X[sample, sample]}: if that is intended, pass a copy after np.fill_diagonal(X, 0).")


def _check_not_negative(X: NDArray[Any]) -> None:
    if X.min(initial=0) < 0:
        row, column = np.unravel_index(np.argmin(X), X.shape)
        raise ValueError(
            f"metric='precomputed' needs distances of at least 0, but X[{row}, {column}] is {X[row, column]}."
        )


def _check_symmetric(X: NDArray[Any]) -> None:
    for start in range(0, X.shape[0], 256):
        part, mirrored = X[start : start + 256], X[:, start : start + 256].T
        bad = np.argwhere(~np.isclose(part, mirrored, rtol=1e-5, atol=0))
        if bad.size:
            row, column = start + bad[0, 0], bad[0, 1]
            raise ValueError(
                f"metric='precomputed' needs a symmetric matrix, but X[{row}, {column}] is {X[row, column]} and "
                f"X[{column}, {row}] is {X[column, row]}: average it with its transpose if that is intended."
            )
