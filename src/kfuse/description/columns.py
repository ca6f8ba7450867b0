"""Columns of any data frame or array, as the positions of their values among the distinct ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NUMBER, DATE, DURATION, YES_NO, CATEGORY = "number", "date", "duration", "yes/no", "category"
ORDERED = (NUMBER, DATE, DURATION)
WIDE = {"i": np.int64, "u": np.uint64, "f": np.float64}  # in which differences of that kind do not overflow
WIDEST = 4  # the range of whole numbers, in multiples of their count, that is counted instead of sorted
MISSING = -1  # the code of a missing value
KINDS = {"b": YES_NO, "i": NUMBER, "u": NUMBER, "f": NUMBER, "M": DATE, "m": DURATION}  # by the kind of the dtype


class Column(NamedTuple):
    """A column as codes: the position of each value in `values`."""

    name: str
    kind: str  # NUMBER, DATE, DURATION, YES_NO or CATEGORY
    codes: NDArray[np.int32]  # of each row; MISSING where there is no value
    values: NDArray[Any]  # the distinct values, ascending; text unless the column is ordered

    @property
    def is_ordered(self) -> bool:
        """Whether intervals of values mean something."""
        return self.kind in ORDERED

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values as numbers, dates as microseconds, yes as 1 and no as 0; NaN where there is none."""
        if self.kind == CATEGORY:
            raise TypeError(f"Column {self.name!r} has categories, not numbers.")
        values = self.values == "True" if self.kind == YES_NO else self.values
        return np.append(values.astype(np.float64), np.nan)[self.codes]

    @property
    def is_constant(self) -> bool:
        """Whether all rows are alike, missing values included."""
        return self.values.size + bool((self.codes == MISSING).any()) < 2


def read(frame: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Read all columns that hold plain values; columns of lists, structures or other objects are left out.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or array-like of shape (n_rows, n_columns)
        The table.
    names : sequence of str or None, default=None
        The names of the columns of an array; None uses numbers.

    Returns
    -------
    list of Column
        The columns, in the order of the table.
    """
    kind = type(frame).__module__.partition(".")[0]
    read_one: Callable[[Any], tuple[NDArray[np.bool_], Any]]
    if kind == "pandas" and hasattr(frame, "iloc"):
        series, read_one = [frame.iloc[:, i] for i in range(frame.shape[1])], _from_pandas
    elif kind == "polars" and hasattr(frame, "get_columns"):
        series, read_one = frame.get_columns(), _from_polars
    elif kind == "pyarrow" and hasattr(frame, "column_names"):
        series, read_one = [np.asarray(one) for one in frame.columns], _from_array
        names = frame.column_names if names is None else names
    else:
        array = np.asarray(frame)
        if array.ndim != 2:
            raise ValueError(f"frame must be a data frame or an array with two dimensions, got {array.ndim}.")
        series, read_one = list(array.T), _from_array  # views, copied one at a time
    titles = _titles(frame, series, names)
    found = (_column(title, *read_one(one)) for title, one in zip(titles, series, strict=True))
    return [column for column in found if column is not None]


def _titles(frame: Any, series: list[Any], names: Sequence[str] | None) -> list[str]:
    given = list(names) if names is not None else list(getattr(frame, "columns", ()))
    if not given:
        return [f"feature {i}" for i in range(len(series))]
    if len(given) != len(series):
        raise ValueError(f"names has {len(given)} entries, but there are {len(series)} columns: pass one per column.")
    return [str(name) for name in given]


def _column(name: str, present: NDArray[np.bool_], values: Any) -> Column | None:
    """Build a column from the values of the rows that have one: an array, or codes and their texts."""
    if values is None:
        return None
    codes = np.full(present.size, MISSING, dtype=np.int32)
    if isinstance(values, tuple):
        kind, (inside, distinct) = CATEGORY, values
        order = np.argsort(distinct)  # so that nothing depends on the order of the rows
        inside, distinct = np.argsort(order)[inside], distinct[order]
    else:
        kind = KINDS[values.dtype.kind]
        distinct, inside = _distinct(values)
        distinct = distinct if kind in ORDERED else distinct.astype(str).astype(object)
    codes[present] = inside
    return Column(name, kind, codes, distinct)


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values, ascending, and the position of each value; without sorting whole numbers."""
    if values.size and values.dtype.kind in WIDE and _is_narrow(values):
        wide = values.astype(WIDE[values.dtype.kind])
        steps = (wide - wide.min()).astype(np.intp)
        occurs = np.zeros(steps.max() + 1, dtype=bool)
        occurs[steps] = True
        distinct = np.flatnonzero(occurs).astype(wide.dtype) + wide.min()
        return distinct.astype(values.dtype), (np.cumsum(occurs) - 1)[steps]
    distinct, inside = np.unique(values, return_inverse=True)
    return distinct, inside.ravel()


def _is_narrow(values: NDArray[Any]) -> bool:
    """Return whether values are whole numbers of a range that is not much longer than their list."""
    width = values.max().item() - values.min().item()
    return width <= WIDEST * values.size and (values.dtype.kind != "f" or np.array_equal(values, np.trunc(values)))


def _plain(values: NDArray[Any]) -> tuple[NDArray[np.bool_], Any]:
    """Return which of the values are there, and those; NaN and NaT are missing."""
    if values.dtype.kind not in KINDS:
        return np.zeros(values.size, dtype=bool), None
    present = ~np.isnat(values) if values.dtype.kind in "mM" else values == values  # noqa: PLR0124 - NaN is not
    return present, values[present]


def _from_array(values: NDArray[Any]) -> tuple[NDArray[np.bool_], Any]:
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "US":
        return np.ones(values.size, dtype=bool), _factorized(values.astype(object), str)
    return _from_objects(values) if values.dtype.kind == "O" else _plain(values)


def _from_objects(values: NDArray[Any]) -> tuple[NDArray[np.bool_], Any]:
    """Read Python objects: numbers and dates if all are, else text; a column of containers has no plain values."""
    from datetime import date, timedelta  # noqa: PLC0415 - rarely needed
    from decimal import Decimal  # noqa: PLC0415
    from numbers import Real  # noqa: PLC0415

    present = np.array([not _is_missing(value) for value in values], dtype=bool)
    there = values[present]
    kinds = set(map(type, there.tolist()))
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return present, there.astype(bool)
    if all(issubclass(kind, (Real, Decimal)) for kind in kinds):
        return present, there.astype(np.float64)
    if all(issubclass(kind, date | timedelta) for kind in kinds) and len({issubclass(k, date) for k in kinds}) == 1:
        unit = "datetime64[us]" if issubclass(next(iter(kinds)), date) else "timedelta64[us]"
        return present, np.array([_without_zone(one) for one in there], dtype=unit)
    if any(issubclass(kind, list | dict | set | tuple | np.ndarray) for kind in kinds):
        return present, None
    return present, _factorized(there, str)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and bool(value != value)  # noqa: PLR0124


def _without_zone(value: Any) -> Any:
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value


def _factorized(values: NDArray[Any], text: Callable[[Any], str]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the position of each text among the distinct ones, and these."""
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(text(value), len(places)) for value in values.tolist()], dtype=np.intp)
    return codes, np.array([*places, None], dtype=object)[:-1]


def _from_pandas(series: Any) -> tuple[NDArray[np.bool_], Any]:
    import pandas as pd  # noqa: PLC0415 - optional, and here by now

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    dtype = series.dtype
    present = series.notna().to_numpy(dtype=bool)
    there = series[present]
    if pd.api.types.is_bool_dtype(dtype):
        return present, there.to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(dtype):
        return _combined(present, there.to_numpy())
    if pd.api.types.is_datetime64_any_dtype(dtype):
        there = there.dt.tz_localize(None) if getattr(there.dt, "tz", None) is not None else there
        return present, there.to_numpy(dtype="datetime64[us]")
    if pd.api.types.is_timedelta64_dtype(dtype):
        return present, there.to_numpy(dtype="timedelta64[us]")
    if dtype.kind == "O" and isinstance(dtype, np.dtype):
        return _from_objects(series.to_numpy(dtype=object))
    codes, distinct = pd.factorize(there)
    texts = _factorized(np.array([*distinct.tolist(), None], dtype=object)[:-1], str)
    return present, (texts[0][codes], texts[1])


def _combined(present: NDArray[np.bool_], there: NDArray[Any]) -> tuple[NDArray[np.bool_], Any]:
    """Drop NaN among values that count as there, as in Arrow's columns; objects are numbers here."""
    inside, values = _plain(there.astype(np.float64) if there.dtype.kind == "O" else there)
    if values is None:
        return present, None
    both = present.copy()
    both[present] = inside
    return both, values


def _from_polars(series: Any) -> tuple[NDArray[np.bool_], Any]:
    import polars as pl  # noqa: PLC0415 - optional, and here by now

    dtype = series.dtype
    present = series.is_not_null().to_numpy()
    there = series.drop_nulls()
    if dtype.is_numeric():
        return _combined(present, (there.cast(pl.Float64) if dtype.is_decimal() else there).to_numpy())
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = there.cast(pl.String)
        distinct = texts.unique().sort()
        return present, (texts.cast(pl.Enum(distinct)).to_physical().to_numpy(), distinct.to_numpy().astype(object))
    if dtype in (pl.Date, pl.Datetime):
        there = there.cast(pl.Datetime("us", getattr(dtype, "time_zone", None))).dt.replace_time_zone(None)
    elif dtype == pl.Duration:
        there = there.cast(pl.Duration("us"))
    elif dtype == pl.Time:
        there = (there.cast(pl.Int64) // 1000).cast(pl.Duration("us"))
    elif dtype != pl.Boolean:
        return present, None
    return present, there.to_numpy()
