"""From a data table to features: choose columns, parse numbers, handle missing values, scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.tables.errors import Setting, TableError
from kfuse.tables.reading import Table
from kfuse.wording import counted

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")  # in text, in lower case
MOST_NAMES = 20  # that a message lists

MissingMode = Literal["refuse", "drop", "median"]


class Missing(NamedTuple):
    """How many values were missing, in how many rows, and how they were handled."""

    mode: MissingMode
    values: int
    rows: int


class Features(NamedTuple):
    """The samples to cluster, and how they were obtained from a table."""

    X: NDArray[np.float64]  # as they are clustered
    values: NDArray[np.float64]  # the same samples before scaling
    names: list[str]  # of the features
    used: NDArray[np.bool_]  # for each row of the table, whether it is a sample
    missing: Missing


def to_features(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    missing: MissingMode = "refuse",
    scale: bool = True,
) -> Features:
    """Turn a data table into finite features.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str or None, default=None
        The columns to cluster by; None takes all features of the table.
    exclude : sequence of str, default=()
        Columns to leave out.
    missing : {"refuse", "drop", "median"}, default="refuse"
        Whether missing values are an error, their rows are dropped, or the median of the column replaces them.
    scale : bool, default=True
        Whether to scale each column to [0, 1].

    Returns
    -------
    Features
        The samples.

    Raises
    ------
    TableError
        If a column does not exist or is not numeric, or if a value is infinite or missing.
    """
    names = choose(table, columns, exclude)
    X = np.empty((table.frame.height, len(names)))
    for position, name in enumerate(names):
        X[:, position] = _numbers(table, name)
    is_missing = np.isnan(X)
    _check(table, names, X, is_missing, missing)
    rows = np.asarray(is_missing.any(axis=1))
    used = ~rows if missing == "drop" else np.full(len(X), True)
    if missing == "median" and rows.any():
        X = np.where(is_missing, np.nanmedian(X, axis=0), X)
    values = X if used.all() else X[used]
    found = Missing(missing, int(is_missing.sum()), int(rows.sum()))
    return Features(scaled(values, names) if scale else values, values, names, used, found)


def choose(table: Table, columns: Sequence[str] | None, exclude: Sequence[str]) -> list[str]:
    """Choose the columns to cluster by.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str or None
        Their names; None takes all features of the table.
    exclude : sequence of str
        Names to leave out.

    Returns
    -------
    list of str
        The names, in the order of `columns`.
    """
    wanted = table.features if columns is None else columns
    for name in [*wanted, *exclude]:
        check_column(table, name)
    chosen = [name for name in dict.fromkeys(wanted) if name not in exclude]
    if not chosen:
        raise TableError("no column is left to cluster by: exclude fewer columns")
    return chosen


def check_column(table: Table, name: str) -> None:
    """Reject the name of a column that does not exist."""
    existing = table.frame.columns
    if name not in existing:
        more = f" and {len(existing) - MOST_NAMES} more" if len(existing) > MOST_NAMES else ""
        listed = ", ".join(map(repr, existing[:MOST_NAMES]))
        raise TableError(f"there is no column {name!r}: choose from {listed}{more}")


def scaled(X: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    from sklearn.preprocessing import MinMaxScaler  # noqa: PLC0415 - slow to import

    with np.errstate(over="ignore"):
        too_wide = ~np.isfinite(np.ptp(X, axis=0))
    if too_wide.any():
        raise TableError(
            f"column {names[int(too_wide.argmax())]!r} has values too large to compute with: divide it, or leave it out"
        )
    return MinMaxScaler().fit_transform(X)


def typed(table: Table, names: Sequence[str]) -> pl.DataFrame:
    """Return the frame of a table, with the named columns parsed as numbers if it is text; others stay as written."""
    if not table.is_text:
        return table.frame
    return table.frame.with_columns(_as_numbers(table, name) for name in names)


def _as_numbers(table: Table, name: str) -> pl.Series:
    """Parse a text column as integers if all its numbers are, else as floats."""
    numbers = pl.Series(name, _numbers(table, name), nan_to_null=True)
    integers = table.frame[name].str.strip_chars().cast(pl.Int64, strict=False)
    return integers if integers.null_count() == numbers.null_count() else numbers


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where a value is missing."""
    column = table.frame[name]
    if table.is_text:
        numbers, is_word = _parsed(column)
    elif column.dtype.is_numeric() or column.dtype in {pl.Boolean, pl.Null}:
        numbers, is_word = column.cast(pl.Float64), None
    else:
        numbers, is_word = pl.Series([None], dtype=pl.Float64).new_from_index(0, column.len()), column.is_not_null()
    if is_word is not None and is_word.any():
        row = int(is_word.arg_max() or 0)
        raise TableError(
            f"column {name!r} is not numeric (data row {row + 1} has {_shown(column[row])}): choose columns with ",
            *(Setting("columns"), " or leave it out with ", _without(name)),
        )
    return numbers.fill_null(float("nan")).to_numpy()


def _parsed(column: pl.Series) -> tuple[pl.Series, pl.Series | None]:
    """Parse text as numbers, and mark what is neither a number nor a word for a missing value."""
    numbers = column.cast(pl.Float64, strict=False)
    if not numbers.null_count():  # as in most columns; the rest doubles the time
        return numbers, None
    column = column.str.strip_chars()
    numbers = column.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & ~_says_missing(column)


def _says_missing(column: pl.Series) -> pl.Series:
    return column.is_null() | column.str.to_lowercase().is_in(MISSING_WORDS).fill_null(True)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _without(name: str) -> Setting:
    return Setting("exclude", [name])


def _check(
    table: Table, names: list[str], X: NDArray[np.float64], is_missing: NDArray[np.bool_], mode: MissingMode
) -> None:
    """Reject infinities, missing values if they are to be refused, and columns or tables that are all missing."""
    for position, name in enumerate(names):
        infinite = np.isinf(X[:, position])
        if infinite.any():
            row = int(infinite.argmax())
            raise TableError(
                f"column {name!r} has infinity in data row {row + 1}: put a number there, delete the row, "
                "or leave the column out with ",
                _without(name),
            )
        here = is_missing[:, position]
        if here.all() and mode != "refuse":
            raise TableError(f"column {name!r} has no value at all: leave it out with ", _without(name))
        if here.any() and mode == "refuse":
            raise _missing_error(table, name, here)
    if mode == "drop" and is_missing.any(axis=1).all():
        raise TableError(
            f"every row of {table.name} has a missing value: fill them in with ", Setting("missing", "median")
        )


def _missing_error(table: Table, name: str, here: NDArray[np.bool_]) -> TableError:
    row, more = int(here.argmax()), int(here.sum()) - 1
    value = table.frame[name][row]
    what = "has no value" if value is None or not str(value).strip() else f"has {_shown(value)}"
    others = f" and {counted(more, 'other')}" if more else ""
    return TableError(
        f"column {name!r} {what} in data row {row + 1}{others}: use ",
        *(Setting("missing", "drop"), " or ", Setting("missing", "median")),
        *(", or leave the column out with ", _without(name)),
    )
