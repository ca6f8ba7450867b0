"""What input is accepted, and the errors for what is not."""

from __future__ import annotations

import numbers
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

FUSIONS = ("adaptive", "paper")
SEARCHES = ("auto", "kd_tree", "brute", "approximate")
OUTLIERS = ("assign", "label")
COMPLEX = "Complex data not supported: pass real numbers, for example the real and the imaginary parts as two features."
TREE_METRICS = ("euclidean", "l2", "minkowski", "cosine")


def check_parameters(estimator: BaseEstimator) -> None:
    """Check every parameter but those that need the data."""
    _check_choice("fusion", estimator.fusion, FUSIONS)
    if not is_auto(estimator.n_clusters):
        check_n_clusters(estimator.n_clusters, or_auto="'auto' or ")
    elif estimator.fusion != "adaptive":
        raise ValueError(
            f"n_clusters='auto' needs fusion='adaptive', got fusion={estimator.fusion!r}: give a number of clusters."
        )
    _check_choice("neighbors", estimator.neighbors, SEARCHES)
    _check_choice("outliers", estimator.outliers, OUTLIERS)
    _check_metric(estimator.metric)
    suits_tree = isinstance(estimator.metric, str) and estimator.metric in TREE_METRICS
    if estimator.neighbors == "kd_tree" and not suits_tree:
        raise ValueError(
            f"neighbors='kd_tree' works with the metrics 'euclidean' and 'cosine', not with {estimator.metric!r}: "
            "use neighbors='auto'."
        )
    if estimator.neighbors == "approximate" and isinstance(estimator.metric, str) and estimator.metric == "precomputed":
        raise ValueError(
            "neighbors='approximate' searches among features, but with metric='precomputed' there are distances only: "
            "use neighbors='auto'."
        )
    if not (estimator.n_jobs is None or (_is_whole(estimator.n_jobs) and estimator.n_jobs != 0)):
        raise ValueError(f"n_jobs must be None, -1 for all cores, or a number of threads, got {estimator.n_jobs!r}.")
    if not (
        isinstance(estimator.verbose, (bool, np.bool_)) or (_is_whole(estimator.verbose) and estimator.verbose >= 0)
    ):
        raise ValueError(f"verbose must be True or False, got {estimator.verbose!r}.")


def is_auto(n_clusters: Any) -> bool:
    """Whether the number of clusters is to be found."""
    return isinstance(n_clusters, str) and n_clusters == "auto"


def check_n_clusters(n_clusters: Any, or_auto: str = "") -> None:
    """Accept whole numbers from 1."""
    if not _is_whole(n_clusters) or n_clusters < 1:
        raise ValueError(f"n_clusters must be {or_auto}a whole number of at least 1, got {n_clusters!r}.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def _check_metric(metric: Any) -> None:
    from sklearn.neighbors import VALID_METRICS  # noqa: PLC0415 - slow to import

    known = sorted({"precomputed", *VALID_METRICS["brute"]} - {"nan_euclidean"})
    if not (callable(metric) or (isinstance(metric, str) and metric in known)):
        raise ValueError(
            f"metric must be a function of two samples or one of {', '.join(map(repr, known))}, got {metric!r}."
        )


def check_enough_samples(n_samples: int, n_clusters: int) -> None:
    """Refuse to make more clusters than there are samples."""
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_samples} samples in X: ask for at most {n_samples}."
        )


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[Any]:
    """Give X as a finite two-dimensional array of float32 or float64, without changing or (if it can) copying it."""
    if issparse(X):
        raise TypeError(
            "X is a sparse matrix, which only metric='precomputed' takes (as a graph of distances): for features, "
            "pass a dense array, X.toarray(), or reduce the dimension first, as with TruncatedSVD."
        )
    _check_something(X)
    _check_columns(X)
    table = X
    try:
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    except OverflowError as error:
        raise ValueError("X has a number beyond the range of float64: divide its column, or leave it out.") from error
    except (TypeError, ValueError) as error:
        if "Complex data not supported" in str(error):  # sklearn's words are followed by all of X
            raise ValueError(COMPLEX) from error
        is_told = isinstance(error, TypeError) and isinstance(table, np.ndarray)  # in words that sklearn checks
        if lengths := _unequal_lengths(table):
            raise ValueError(f"X must have rows of one length, but {lengths}: fill or drop such rows.") from error
        if not is_told and (where := _first_text(table)):
            raise ValueError(f"X must be numbers, but {where}: encode or drop it first.") from error
        raise
    _check_no_text(table)
    _check_finite(X, _column_names(table), "drop or fill such values first, for example with SimpleImputer")
    metric = getattr(estimator, "metric", "euclidean")
    if isinstance(metric, str) and metric not in TREE_METRICS:
        _check_suits(X, metric)
    return X


def check_distances(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[Any] | csr_array:
    """Give a precomputed matrix (dense) or graph (sparse) of distances, checked."""
    _check_something(X)
    _check_columns(X)
    if issparse(X):
        _check_structure(X)
    table = X
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
        _check_no_text(table)
    if reset and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"metric='precomputed' needs a square matrix of distances, got shape {X.shape}: pass the distances "
            "between all pairs, or choose another metric for features."
        )
    if issparse(X):
        return _check_graph(csr_array(X), square=reset)
    _check_finite(X, None, "give every pair a distance, or use a sparse graph")
    _check_not_negative(X)
    if reset:
        _check_symmetric(X)
    return X


def _check_structure(graph: Any) -> None:
    """Refuse a graph with entries outside of it: scipy would read and write memory that is not its own."""
    try:
        if graph.format in ("csr", "csc", "bsr"):
            copy(graph).check_format(full_check=True)
            if (np.diff(graph.indptr) < 0).any():  # scipy does not look at this where nothing is stored
                raise ValueError("index pointer values must not fall")
        elif graph.format == "coo":
            coo_array((graph.data, (graph.row, graph.col)), shape=graph.shape)
    except ValueError as error:
        raise ValueError(f"The precomputed graph is damaged ({error}): build it anew.") from error


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
    return csr_array((graph.data[others].astype(np.float64), graph.indices[others], indptr), shape=graph.shape)


def _check_stored(graph: csr_array, bad: NDArray[np.bool_], what: str, remedy: str) -> None:
    if bad.any():
        position = int(bad.argmax())
        row = int(np.searchsorted(graph.indptr, position, side="right")) - 1
        where = f"({row}, {graph.indices[position]})"
        raise ValueError(f"The precomputed graph contains {what} for the pair {where}: {remedy}.")


def _check_finite(X: NDArray[Any], names: list[Any] | None, remedy: str) -> None:
    # The sum is finite for most data that is, and takes no memory.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return
    for start in range(0, X.shape[0], 1024):
        bad = np.argwhere(~np.isfinite(X[start : start + 1024]))
        if bad.size:
            row, column = start + bad[0, 0], bad[0, 1]
            where = f"row {row}, column {names[column]!r}" if names else f"row {row}, column {column}"
            if np.isnan(X[row, column]):
                raise ValueError(f"Input X contains NaN ({where}): {remedy}.")
            raise ValueError(f"Input X contains infinity ({where}): put a finite number there, or drop the row.")


def _check_suits(X: NDArray[Any], metric: str) -> None:
    if metric == "haversine" and X.shape[1] != 2:
        raise ValueError(
            f"metric='haversine' takes two features, latitude and longitude in radians, but X has {X.shape[1]}: pass "
            "these two, or choose another metric."
        )
    _check_not_too_large(X, metric)


def _check_not_too_large(X: NDArray[Any], metric: str) -> None:
    """Refuse values whose squares or sums may overflow; Euclidean and cosine distances choose a unit instead."""
    largest = np.sqrt(np.finfo(X.dtype).max) / 100
    if max(X.max(), -X.min()) > largest:
        row, column = np.unravel_index(np.argmax(np.abs(X)), X.shape)
        raise ValueError(
            f"X[{row}, {column}] is {X[row, column]:.3g}, too large to compute metric={metric!r} in {X.dtype}: "
            f"divide X so that its values are below {largest:.0e}."
        )


def _check_something(X: Any) -> None:
    """Refuse nothing in place of samples: scikit-learn's words are about dimensions, and it takes off masks."""
    if X is None:
        raise ValueError("X is None: pass the samples, an array of shape (n_samples, n_features).")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which holds no values yet: pass X.collect().")
    if np.ma.is_masked(X):
        raise ValueError("X has masked values: drop or fill them first, as with X.filled().")
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError("X is empty: pass at least one sample, in an array of shape (n_samples, n_features).")


def _check_columns(X: Any) -> None:
    """Refuse frames of which columns share a name, and types that are no numbers."""
    names = _column_names(X)
    if names == []:
        raise ValueError("X has no columns: pass a frame with at least one.")
    names = names or []
    seen: list[Any] = []
    for name in names:
        if name in seen:
            raise ValueError(f"X has more than one column {name!r}: rename or drop all but one.")
        seen.append(name)
    dtypes = X.dtypes if names and hasattr(X, "dtypes") else ()
    for name, dtype in zip(names, dtypes, strict=False):
        _check_type(f"column {name!r} has", dtype)
    if not names and isinstance(getattr(X, "dtype", None), np.dtype):
        _check_type("it has", X.dtype)


def _check_type(subject: str, dtype: Any) -> None:
    """Refuse types that would be made numbers without a word: sparse ones, complex ones, dates, and lists."""
    if type(dtype).__name__ == "SparseDtype":
        raise TypeError(f"X must be dense, but {subject} the type {dtype}: make it so, as with X.sparse.to_dense().")
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError(COMPLEX)
    if kind in ("m", "M") or (hasattr(dtype, "is_nested") and (dtype.is_nested() or dtype.is_temporal())):
        raise ValueError(f"X must be numbers, but {subject} the type {dtype}: encode or drop it first.")


def _check_no_text(X: Any) -> None:
    """Refuse numbers that are written as text, which numpy would read: they may be codes, or have units elsewhere."""
    names = _column_names(X)
    for position, part in enumerate([X] if names is None else [X[name] for name in names]):
        if np.asarray(part).dtype.kind not in "OUST":
            continue
        for index, value in np.ndenumerate(np.asarray(part, dtype=object)):
            if isinstance(value, (str, bytes)):
                where = f"column {index[-1]}" if names is None else f"column {names[position]!r}"
                raise ValueError(
                    f"X must be numbers, but {where} has the text {value!r} in row {index[0]}: "
                    "turn it into numbers first, for example with X.astype(float)."
                )


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


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _unequal_lengths(X: Any) -> str | None:
    """Say which rows of a list of lists have different lengths, if some do."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return None
    row = next((number for number, row in enumerate(X) if len(row) != len(X[0])), None)
    return None if row is None else f"row 0 has {len(X[0])} values and row {row} has {len(X[row])}"


def _first_text(X: Any) -> str | None:
    """Say where the first value is that is not a number, if there is one."""
    names = _column_names(X)
    for position, part in enumerate([X] if names is None else [X[name] for name in names]):
        try:
            values = np.asarray(part, dtype=object)
        except (TypeError, ValueError):  # rows of different lengths
            continue
        for index, value in np.ndenumerate(values) if values.ndim in (1, 2) else ():
            if not _is_number(value):
                column = f"column {index[-1]}" if names is None else f"column {names[position]!r}"
                lone = names is None and values.ndim == 1
                return f"entry {index[0]} is {value!r}" if lone else f"{column} has {value!r} in row {index[0]}"
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
