"""From a table to the numbers to cluster: choose columns, settle missing values, scale."""

from __future__ import annotations

import csv
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.cli.errors import CommandError
from kfuse.cli.options import Choice
from kfuse.cli.reading import Table
from kfuse.cli.words import counted

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")  # in text, in small letters


class Samples(NamedTuple):
    """The rows to cluster, and what was done to get them."""

    X: NDArray[np.float64]  # as they are clustered
    values: NDArray[np.float64]  # the same rows before scaling
    names: list[str]
    used: NDArray[np.bool_]  # of each row of the table, whether it is among them
    missing: dict[str, Any]  # how many values and rows, and what became of them

    @property
    def remark(self) -> str | None:
        """What to say about missing values."""
        if not self.missing["values"]:
            return None
        what = f"{counted(self.missing['values'], 'missing value')} in {counted(self.missing['rows'], 'row')}"
        done = "filled with the median of the column" if self.missing["mode"] == "median" else "these rows get no label"
        return f"{what}: {done}"


def prepare(table: Table, choice: Choice, *, leave_out: str | None = None) -> Samples:
    """Make a table ready for clustering.

    Parameters
    ----------
    table : Table
        The table.
    choice : Choice
        The columns, the handling of missing values, and whether to scale.
    leave_out : str or None, default=None
        One more column that is not clustered by, if it was not asked for.

    Returns
    -------
    Samples
        Finite numbers.
    """
    apart = [name for name in (choice.id, leave_out) if name is not None]
    names = choose(table, choice.columns, choice.exclude, apart)
    X = np.empty((table.frame.height, len(names)))
    for position, name in enumerate(names):
        X[:, position] = _numbers(table, name)
    holes = np.isnan(X)
    _check(table, names, X, holes, choice.missing)
    rows = np.asarray(holes.any(axis=1))
    missing = {"mode": choice.missing, "values": int(holes.sum()), "rows": int(rows.sum())}
    used = ~rows if choice.missing == "drop" else np.full(len(X), True)
    if choice.missing == "median" and rows.any():
        X = np.where(holes, np.nanmedian(X, axis=0), X)
    values = X if used.all() else X[used]
    return Samples(scaled(values, names) if choice.scale else values, values, names, used, missing)


def choose(table: Table, columns: str | None, exclude: str | None, apart: list[str]) -> list[str]:
    """Give the columns to cluster by.

    Parameters
    ----------
    table : Table
        The table.
    columns : str or None
        Names with commas between them; None means all. A name with a comma in it goes in double quotes.
    exclude : str or None
        Names to leave out, written the same way.
    apart : list of str
        Names of columns with another use.

    Returns
    -------
    list of str
        The names, in the order asked for.
    """
    wanted = table.features if columns is None else names_in("--columns", columns)
    dropped = [] if exclude is None else names_in("--exclude", exclude)
    for name in [*wanted, *dropped, *apart]:
        check_column(table, name)
    chosen = [name for name in dict.fromkeys(wanted) if name not in {*dropped, *apart}]
    if not chosen:
        raise CommandError("no column is left to cluster by: exclude fewer columns")
    return chosen


def check_column(table: Table, name: str) -> None:
    """Refuse the name of a column that is not there."""
    if name not in table.frame.columns:
        there = table.frame.columns
        more = f" and {len(there) - 20} more" if len(there) > 20 else ""
        raise CommandError(f"there is no column {name!r}: choose from {', '.join(map(repr, there[:20]))}{more}")


def scaled(X: NDArray[np.float64], names: list[str]) -> NDArray[np.float64]:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    from sklearn.preprocessing import MinMaxScaler  # noqa: PLC0415 - slow to import

    with np.errstate(over="ignore"):
        too_wide = ~np.isfinite(np.ptp(X, axis=0))
    if too_wide.any():
        raise CommandError(
            f"column {names[int(too_wide.argmax())]!r} has values too large to compute with: divide it, or leave it out"
        )
    return MinMaxScaler().fit_transform(X)


def typed(table: Table, names: list[str]) -> pl.DataFrame:
    """Give the table with numbers in the columns clustered by, if it is text; other columns stay as written."""
    if not table.is_text:
        return table.frame
    return table.frame.with_columns(_as_numbers(table, name) for name in names)


def _as_numbers(table: Table, name: str) -> pl.Series:
    numbers = pl.Series(name, _numbers(table, name), nan_to_null=True)
    whole = table.frame[name].str.strip_chars().cast(pl.Int64, strict=False)
    return whole if whole.null_count() == numbers.null_count() else numbers


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Give a column as numbers, NaN where there is none."""
    column = table.frame[name]
    if table.is_text:
        numbers, is_word = _parsed(column)
    elif column.dtype.is_numeric() or column.dtype in {pl.Boolean, pl.Null}:
        numbers, is_word = column.cast(pl.Float64), None
    else:
        numbers, is_word = pl.Series([None], dtype=pl.Float64).new_from_index(0, column.len()), column.is_not_null()
    if is_word is not None and is_word.any():
        row = int(is_word.arg_max() or 0)
        raise CommandError(
            f"column {name!r} is not numeric (data row {row + 1} has {_shown(column[row])}): "
            f"choose columns with --columns NAME,NAME or leave it out with --exclude {quoted(name)}"
        )
    return numbers.fill_null(float("nan")).to_numpy()


def _parsed(column: pl.Series) -> tuple[pl.Series, pl.Series | None]:
    """Read text as numbers, and mark what is neither a number nor a word for a missing one."""
    numbers = column.cast(pl.Float64, strict=False)
    if not numbers.null_count():  # most columns, and the rest takes as long again
        return numbers, None
    column = column.str.strip_chars()
    numbers = column.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & ~_says_missing(column)


def _says_missing(column: pl.Series) -> pl.Series:
    return column.is_null() | column.str.to_lowercase().is_in(MISSING_WORDS).fill_null(True)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _check(table: Table, names: list[str], X: NDArray[np.float64], holes: NDArray[np.bool_], mode: str) -> None:
    """Refuse infinity always, missing values unless something is to be done about them."""
    for position, name in enumerate(names):
        infinite = np.isinf(X[:, position])
        if infinite.any():
            row = int(infinite.argmax())
            raise CommandError(
                f"column {name!r} has infinity in data row {row + 1}: put a number there, delete the row, "
                f"or leave the column out with --exclude {quoted(name)}"
            )
        here = holes[:, position]
        if here.all() and mode != "refuse":
            raise CommandError(f"column {name!r} has no value at all: leave it out with --exclude {quoted(name)}")
        if here.any() and mode == "refuse":
            raise CommandError(_missing_words(table, name, here))
    if mode == "drop" and holes.any(axis=1).all():
        raise CommandError(f"every row of {table.name} has a missing value: fill them in with --missing median")


def _missing_words(table: Table, name: str, here: NDArray[np.bool_]) -> str:
    row, more = int(here.argmax()), int(here.sum()) - 1
    value = table.frame[name][row]
    what = "has no value" if value is None or not str(value).strip() else f"has {_shown(value)}"
    others = f" and {counted(more, 'other')}" if more else ""
    return (
        f"column {name!r} {what} in data row {row + 1}{others}: give --missing drop or --missing median, "
        f"or leave the column out with --exclude {quoted(name)}"
    )


def names_in(option: str, text: str) -> list[str]:
    """Split what was given to an option at its commas; double quotes protect those in a name."""
    try:
        return next(csv.reader([text], skipinitialspace=True)) or [""]
    except csv.Error:
        raise CommandError(
            f"{option} {text!r} has a line break between names: put commas there, "
            "or put a name that has a line break in double quotes"
        ) from None


def quoted(name: str) -> str:
    """Write a column's name so that `--exclude` reads it and a shell hands it on."""
    if any(character in name for character in ',"\r\n') or name.startswith(" "):
        name = '"' + name.replace('"', '""') + '"'
    return name if name.replace("_", "").isalnum() else "'" + name.replace("'", "'\\''") + "'"
