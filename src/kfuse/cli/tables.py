"""Tables: read them, choose their columns, scale them, write labels."""

from __future__ import annotations

import csv
import io
import signal
import sys
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.cli.errors import CommandError

STREAM = Path("-")


def read_table(path: Path) -> pl.DataFrame:
    """Read a CSV file, every value as text.

    Text keeps the values as they were written, so that they can be handed on unchanged.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.

    Returns
    -------
    polars.DataFrame
        One text column per column of the file.
    """
    content = _standard_input() if path == STREAM else path.read_bytes()
    name = name_of(path)
    try:
        table = pl.read_csv(content, infer_schema=False)
    except pl.exceptions.NoDataError:
        raise CommandError(f"{name} is empty: give a CSV file with a header and rows") from None
    except pl.exceptions.PolarsError as error:
        raise CommandError(f"{name} cannot be read: {_reason(content, error)}") from None
    if table.height == 0:
        raise CommandError(f"{name} has a header but no rows: add rows, or add a header if the only row is data")
    return table


def name_of(path: Path) -> str:
    """Name the file in messages."""
    return "standard input" if path == STREAM else str(path)


def choose_columns(table: pl.DataFrame, columns: str | None, exclude: str | None) -> list[str]:
    """Give the columns to cluster by.

    Parameters
    ----------
    table : polars.DataFrame
        The table.
    columns : str or None
        Names with commas between them; None means all. A name with a comma in it goes in double quotes.
    exclude : str or None
        Names to leave out, written the same way.

    Returns
    -------
    list of str
        The names, in the order asked for.
    """
    wanted = _names(columns) if columns else table.columns
    dropped = _names(exclude) if exclude else []
    for name in [*wanted, *dropped]:
        if name not in table.columns:
            raise CommandError(f"there is no column {name!r}: choose from {', '.join(map(repr, table.columns))}")
    chosen = [name for name in dict.fromkeys(wanted) if name not in dropped]
    if not chosen:
        raise CommandError("no column is left to cluster by: exclude fewer columns")
    return chosen


def numbers(table: pl.DataFrame, columns: list[str]) -> NDArray[np.float64]:
    """Turn columns of text into numbers.

    Parameters
    ----------
    table : polars.DataFrame
        The table, as text.
    columns : list of str
        The columns to turn.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The numbers, all finite.
    """
    X = np.empty((table.height, len(columns)))
    for position, name in enumerate(columns):
        X[:, position] = _column_numbers(table[name])
    return X


def scale(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    from sklearn.preprocessing import MinMaxScaler  # noqa: PLC0415 - slow to import

    return MinMaxScaler().fit_transform(X)


def to_csv(table: pl.DataFrame) -> bytes:
    """Write a table as CSV."""
    buffer = io.BytesIO()
    table.write_csv(buffer)
    return buffer.getvalue()


def _standard_input() -> bytes:
    # Importing polars makes a waiting read go on after Ctrl-C; this makes it stop again.
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
    return sys.stdin.buffer.read()


def _column_numbers(values: pl.Series) -> NDArray[np.float64]:
    text = values.str.strip_chars()
    parsed = text.cast(pl.Float64, strict=False)
    empty = text.is_null() | (text == "").fill_null(True)
    words = parsed.is_null() & ~empty
    if words.any():
        row = int(words.arg_max() or 0)
        raise CommandError(
            f"column {values.name!r} is not numeric (row {row + 1} below the header has {values[row]!r}): "
            f"choose columns with --columns a,b or leave it out with --exclude {_quoted(values.name)}"
        )
    missing = ~parsed.is_finite().fill_null(False)
    if missing.any():
        row = int(missing.arg_max() or 0)
        what = f"has {text[row]!r}" if not empty[row] else "has no value"
        raise CommandError(
            f"column {values.name!r} {what} in row {row + 1} below the header: fill it, delete the row, "
            f"or leave the column out with --exclude {_quoted(values.name)}"
        )
    return parsed.to_numpy()


def _names(text: str) -> list[str]:
    return next(csv.reader([text], skipinitialspace=True))


def _quoted(name: str) -> str:
    """Write a column's name so that `--exclude` reads it and a shell hands it on."""
    if "," in name or '"' in name:
        name = '"' + name.replace('"', '""') + '"'
    return name if name.replace("_", "").isalnum() else "'" + name.replace("'", "'\\''") + "'"


def _reason(content: bytes, error: Exception) -> str:
    """Say why polars could not read the file, with the row if there is one."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        return f"line {line} is not UTF-8: save the file as UTF-8"
    rows = csv.reader(io.StringIO(text, newline=""))
    width = len(next(rows, []))
    for number, row in enumerate(rows, start=1):
        if len(row) > width:
            return (
                f"row {number} below the header has {len(row)} values, the header {width}: "
                "put values that contain a comma in double quotes"
            )
    return f"{str(error).splitlines()[0]}: check that it is CSV with commas and closed quotes"
