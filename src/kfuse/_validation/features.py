"""Features as input: an array or data frame of numbers, and the errors for anything else."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from kfuse._validation.containers import as_table, check_container, shown
from kfuse._validation.parameters import TREE_METRICS

GIANT = 1e156  # times what is typical: squares of distances vanish beside it, or are about to
WIDE_INTEGERS = ("Int128", "UInt128")  # of polars
COMPLEX = "Complex data not supported: pass real numbers, for example the real and the imaginary parts as two features."


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[Any]:
    """Return X as a finite two-dimensional array of float32 or float64, unchanged and, if possible, not copied."""
    if issparse(X):
        raise TypeError(
            "X is a sparse matrix, which only metric='precomputed' takes (as a graph of distances): for features, "
            "pass a dense array, X.toarray(), or reduce the dimension first, as with TruncatedSVD."
        )
    X = as_table(X)
    check_given(X)
    check_columns(X)
    table = X
    try:
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    except OverflowError as error:
        raise ValueError("X has a number beyond the range of float64: divide its column, or leave it out.") from error
    except (TypeError, ValueError) as error:
        if "Complex data not supported" in str(error):  # scikit-learn's message ends with all of X
            raise ValueError(COMPLEX) from error
        is_told = isinstance(error, TypeError) and isinstance(table, np.ndarray)  # as its checks expect
        if lengths := _unequal_lengths(table):
            raise ValueError(f"X must have rows of one length, but {lengths}: fill or drop such rows.") from error
        if not is_told and (where := _first_text(table)):
            raise ValueError(f"X must be numbers, but {where}: encode or drop it first.") from error
        raise
    check_no_text(table)
    check_finite(X, _column_names(table), "drop or fill such values first, for example with SimpleImputer")
    metric = getattr(estimator, "metric", "euclidean")
    if isinstance(metric, str) and metric not in TREE_METRICS:
        _check_suits(X, metric)
    if reset:
        _warn_of_giants(X, _column_names(table))
    return X


def own_copy(data: NDArray[Any], X: Any) -> NDArray[Any]:
    """Return checked data as an array that nobody else can change: a copy, unless checking X made one anyway."""
    is_ours = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and not np.may_share_memory(data, X))
    return data if is_ours else data.copy()


def check_given(X: Any) -> None:
    """Reject None, empty, lazy or masked input: scikit-learn would report dimensions, or silently drop the mask."""
    if X is None:
        raise ValueError("X is None: pass the samples, an array of shape (n_samples, n_features).")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which holds no values yet: pass X.collect().")
    check_container(X)
    if np.ma.is_masked(X):
        raise ValueError("X has masked values: drop or fill them first, as with X.filled().")
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError("X is empty: pass at least one sample, in an array of shape (n_samples, n_features).")


def check_columns(X: Any) -> None:
    """Reject frames with duplicate column names, and column types that are not numbers."""
    names = _column_names(X)
    if names == []:
        raise ValueError("X has no columns: pass a frame with at least one.")
    names = names or []
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"X has more than one column {shown(name)}: rename or drop all but one.")
        seen.add(name)
    dtypes = X.dtypes if names and hasattr(X, "dtypes") else ()
    for name, dtype in zip(names, dtypes, strict=False):
        _check_type(f"column {shown(name)} has", dtype)
    if not names and isinstance(getattr(X, "dtype", None), np.dtype):
        _check_type("it has", X.dtype)


def _check_type(subject: str, dtype: Any) -> None:
    """Reject types that would silently be converted to numbers: sparse, complex, dates, and lists."""
    if type(dtype).__name__ == "SparseDtype":
        raise TypeError(f"X must be dense, but {subject} the type {dtype}: make it so, as with X.sparse.to_dense().")
    if str(dtype) in WIDE_INTEGERS:
        raise TypeError(
            f"X has numbers of 128 bits, which NumPy does not have, as {subject} the type {dtype}: cast it."
        )
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError(COMPLEX)
    if kind in ("m", "M") or (hasattr(dtype, "is_nested") and (dtype.is_nested() or dtype.is_temporal())):
        raise ValueError(f"X must be numbers, but {subject} the type {dtype}: encode or drop it first.")


def check_no_text(X: Any) -> None:
    """Reject numbers stored as text, which numpy would parse: they may be codes, or have units elsewhere."""
    names = _column_names(X)
    for position, part in enumerate([X] if names is None else [X[name] for name in names]):
        if np.asarray(part).dtype.kind not in "OUST":
            continue
        for index, value in np.ndenumerate(np.asarray(part, dtype=object)):
            if isinstance(value, (str, bytes)):
                where = f"column {index[-1]}" if names is None else f"column {shown(names[position])}"
                raise ValueError(
                    f"X must be numbers, but {where} has the text {shown(value)} in row {index[0]}: "
                    "turn it into numbers first, for example with X.astype(float)."
                )


def check_finite(X: NDArray[Any], names: list[Any] | None, remedy: str) -> None:
    # The sum is finite for most finite data, and takes no memory.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return
    for start in range(0, X.shape[0], 1024):
        bad = np.argwhere(~np.isfinite(X[start : start + 1024]))
        if bad.size:
            row, column = start + bad[0, 0], bad[0, 1]
            where = f"row {row}, column {shown(names[column])}" if names else f"row {row}, column {column}"
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
    """Reject values whose squares or sums may overflow; Euclidean and cosine distances choose a unit instead."""
    largest = np.sqrt(np.finfo(X.dtype).max) / 100
    if max(X.max(), -X.min()) > largest:
        row, column = np.unravel_index(np.argmax(np.abs(X)), X.shape)
        raise ValueError(
            f"X[{row}, {column}] is {X[row, column]:.3g}, too large to compute metric={metric!r} in {X.dtype}: "
            f"divide X so that its values are below {largest:.0e}."
        )


def _warn_of_giants(X: NDArray[Any], names: list[Any] | None) -> None:
    """Warn of a value next to which most rows are one point: the squares of their distances vanish."""
    largest = max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))
    if largest < GIANT:  # without looking at every row
        return
    sizes = np.maximum(X.max(axis=1), -X.min(axis=1))
    typical, row = float(np.partition(sizes, sizes.size // 2)[sizes.size // 2]), int(sizes.argmax())
    if largest / GIANT <= typical:
        return
    column = int(np.abs(X[row]).argmax())
    where = f"row {row}, column {shown(names[column]) if names else column}"
    warnings.warn(
        f"X has the value {X[row, column]:.3g} ({where}), next to which most rows are indistinguishable: if it marks a "
        "missing value, drop the row or replace it.",
        UserWarning,
        stacklevel=5,
    )


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _unequal_lengths(X: Any) -> str | None:
    """Describe which rows of a list of lists have different lengths, if any."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return None
    row = next((number for number, row in enumerate(X) if len(row) != len(X[0])), None)
    return None if row is None else f"row 0 has {len(X[0])} values and row {row} has {len(X[row])}"


@contextmanager
def explained_text(X: Any) -> Iterator[None]:
    """Name the first value that is not a number, where numpy only says that it could not convert it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if isinstance(X, np.ndarray) or issparse(X) or not (where := _first_text(X)):
            raise
        raise ValueError(f"X must be numbers, but {where}: encode or drop it first.") from error


def _first_text(X: Any) -> str | None:
    """Describe where the first value is that is not a number, if there is one."""
    names = _column_names(X)
    for position, part in enumerate([X] if names is None else [X[name] for name in names]):
        try:
            values = np.asarray(part, dtype=object)
        except (TypeError, ValueError):  # rows of different lengths
            continue
        for index, value in np.ndenumerate(values) if values.ndim in (1, 2) else ():
            if not _is_number(value):
                column = f"column {index[-1]}" if names is None else f"column {shown(names[position])}"
                lone = names is None and values.ndim == 1
                return (
                    f"entry {index[0]} is {shown(value)}" if lone else f"{column} has {shown(value)} in row {index[0]}"
                )
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
