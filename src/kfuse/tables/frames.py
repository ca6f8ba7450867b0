"""Accept a table as `read` returns it, or a data frame of polars, pandas or pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from kfuse.tables.errors import TableError
from kfuse.tables.reading import Table

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = Table | pl.DataFrame | pd.DataFrame

NAME = "the table"  # of a frame, in messages


def as_table(frame: Any) -> Table:
    """Return a frame as a table.

    Parameters
    ----------
    frame : Table, polars.DataFrame, polars.LazyFrame, pandas.DataFrame, pyarrow.Table or pyarrow.RecordBatch
        The data; the index of a pandas frame is not part of it.

    Returns
    -------
    Table
        The table, with at least one row.

    Raises
    ------
    TableError
        If it has no rows or no columns.
    TypeError
        If it is something else.
    """
    if isinstance(frame, Table):
        return frame
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if type(frame).__module__.partition(".")[0] == "pyarrow":
        frame = pl.from_arrow(frame)
    if not isinstance(frame, pl.DataFrame):
        if not (hasattr(frame, "dtypes") and hasattr(frame, "columns") and hasattr(frame, "iloc")):
            raise TypeError(
                f"a table must be a data frame of polars, pandas or pyarrow, got {type(frame).__name__}: convert it, "
                "or give KFuse an array of numbers."
            )
        frame = _from_pandas(frame)
    frame = frame.with_columns(_inferred(column) for column in frame if column.dtype == pl.Object)
    if frame.is_empty():
        raise TableError(f"{NAME} has no rows: provide a table with rows")
    return Table(frame, frame.columns, is_text=False, name=NAME)


def _inferred(column: pl.Series) -> pl.Series:
    """Give a column of Python objects, as polars makes of an object array, the type of its values, or text."""
    values = column.to_list()
    try:
        return pl.Series(column.name, values)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(column.name, [None if value is None else str(value) for value in values], pl.String)


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    """Convert column by column, which needs no pyarrow; duplicate names get a suffix, as in CSV."""
    columns: dict[str, pl.Series] = {}
    for position, label in enumerate(frame.columns):
        name = original = "" if label is None else str(label)
        repeat = 1
        while name in columns:
            repeat += 1
            name = f"{original} ({repeat})"
        columns[name] = _series(name, frame.iloc[:, position])
    return pl.DataFrame(columns)


def _series(name: str, column: pd.Series) -> pl.Series:
    kind = column.dtype
    if hasattr(kind, "categories") and hasattr(kind, "ordered"):
        texts = [None if missing else str(value) for value, missing in zip(column, column.isna(), strict=True)]
        levels = list(map(str, kind.categories))
        return pl.Series(name, texts, pl.Enum(levels) if kind.ordered else pl.String)
    if getattr(kind, "kind", "O") in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return pl.Series(name, values, nan_to_null=True).cast(pl.Boolean if kind.kind == "b" else pl.Float64)
    if getattr(kind, "kind", "O") in "mM":
        dates = column.dt.tz_localize(None) if getattr(kind, "tz", None) is not None else column
        return pl.Series(name, dates.to_numpy().astype(f"{kind.kind}8[ms]"))
    known = [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]
    if all(value is None or isinstance(value, bool) for value in known):
        return pl.Series(name, known, pl.Boolean)
    return pl.Series(name, [None if value is None else str(value) for value in known], pl.String)
