"""Tables: read them, choose their columns, scale them, write labels."""

from __future__ import annotations

import csv
import gzip
import io
import re
import signal
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.cli.errors import CommandError

STREAM = Path("-")
COMMA = ","
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # how such files start
OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'"}  # and how to give them to --separator


class Form(NamedTuple):
    """How a file is written, None where nobody said."""

    separator: str | None = None
    header: bool | None = None


def separator_of(text: str | None) -> str | None:
    """Turn what was given to ``--separator`` into the character that polars takes."""
    if text is None or (len(text) == 1 and text.isascii() and text not in '"\r\n\0'):
        return text
    if text in {"tab", "\\t"}:
        return "\t"
    raise CommandError(f"--separator {text!r} is not a character that can separate: give one such as ';', or tab")


def read_table(path: Path, form: Form) -> pl.DataFrame:
    """Read a CSV file, every value as text.

    Text keeps the values as they were written, so that they can be handed on unchanged.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    form : Form
        How it is written.

    Returns
    -------
    polars.DataFrame
        One text column per column of the file; without a header, they are column_1, column_2, ...
    """
    name = name_of(path)
    content = _text(_standard_input() if path == STREAM else path.read_bytes(), name)
    has_header = form.header is not False
    try:
        table = pl.read_csv(content, infer_schema=False, has_header=has_header, separator=form.separator or COMMA)
    except pl.exceptions.NoDataError:
        raise CommandError(f"{name} is empty: give a CSV file with rows") from None
    except pl.exceptions.PolarsError as error:
        raise CommandError(f"{name} cannot be read: {_reason(content, form, error)}") from None
    first_line = table.columns if has_header else [value or "" for value in table.row(0)]
    found = _other_separator(first_line, form)
    if found:
        raise CommandError(f"{name} {found}")
    if not has_header:
        return table.rename({old: f"column_{i}" for i, old in enumerate(table.columns, start=1)})
    if form.header is None and all(map(_is_number, table.columns)):
        raise CommandError(
            f"every column name of {name} is a number, as if the first line were data: "
            "give --no-header if it is, or --header if it is not"
        )
    if table.height == 0:
        raise CommandError(f"{name} has a header but no rows: add rows, or give --no-header if the only line is data")
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
    wanted = table.columns if columns is None else _names("--columns", columns)
    dropped = [] if exclude is None else _names("--exclude", exclude)
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


def to_csv(table: pl.DataFrame, separator: str = COMMA) -> bytes:
    """Write a table as CSV."""
    buffer = io.BytesIO()
    table.write_csv(buffer, separator=separator)
    return buffer.getvalue()


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise CommandError("standard input is closed: name a file, or pipe the table in")
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
            f"column {values.name!r} is not numeric (data row {row + 1} has {values[row]!r}): "
            f"choose columns with --columns a,b or leave it out with --exclude {_quoted(values.name)}"
        )
    missing = ~parsed.is_finite().fill_null(False)
    if missing.any():
        row = int(missing.arg_max() or 0)
        what = f"has {text[row]!r}" if not empty[row] else "has no value"
        raise CommandError(
            f"column {values.name!r} {what} in data row {row + 1}: fill it, delete the row, "
            f"or leave the column out with --exclude {_quoted(values.name)}"
        )
    return parsed.to_numpy()


def _names(option: str, text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True)) or [""]
    except csv.Error:
        raise CommandError(
            f"{option} {text!r} has a line break between names: put commas there, "
            "or put a name that has a line break in double quotes"
        ) from None


def _quoted(name: str) -> str:
    """Write a column's name so that `--exclude` reads it and a shell hands it on."""
    if any(character in name for character in ',"\r\n') or name.startswith(" "):
        name = '"' + name.replace('"', '""') + '"'
    return name if name.replace("_", "").isalnum() else "'" + name.replace("'", "'\\''") + "'"


def _is_number(name: str) -> bool:
    name = re.sub(r"_duplicated_\d+$", "", name)  # polars appends this to a name that is there already
    try:
        float(name)
    except ValueError:
        return False
    return "_" not in name


def _text(content: bytes, name: str) -> bytes:
    """Give the content without empty lines at its start if it is UTF-8 text, which polars does not check in headers."""
    if content.startswith(ZSTANDARD):
        return content  # polars unpacks it
    if content.startswith(GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise CommandError(f"{name} is gzip, but broken: compress the file again") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CommandError(f"{name} is UTF-16: convert it to UTF-8")
    if b"\0" in content[:4096]:
        raise CommandError(f"{name} has zero bytes, as UTF-16 has: convert it to CSV in UTF-8")
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as wrong:
            line = content.count(b"\n", 0, wrong.start) + 1
            raise CommandError(
                f"line {line} of {name} is not UTF-8, perhaps Latin-1: convert the file to UTF-8"
            ) from None
    return content.lstrip(b"\r\n")


def _other_separator(first_line: list[str], form: Form) -> str | None:
    """Say which separator the only value of the first line has in it, if nobody said what the separator is."""
    if form.separator is None and len(first_line) == 1:
        for separator, option in OTHER_SEPARATORS.items():
            if separator in first_line[0]:
                shown = "a tab" if separator == "\t" else repr(separator)
                return f"has {shown} between its columns instead of a comma: give --separator {option}"
    return None


def _reason(content: bytes, form: Form, error: Exception) -> str:
    """Say why polars could not read the file, with the row if there is one."""
    separator = form.separator or COMMA
    reason = None
    usual_limit = csv.field_size_limit(max(len(content), csv.field_size_limit()))
    with suppress(csv.Error):
        text = io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")
        reason = _wrong_width(csv.reader(text, delimiter=separator), form)
    csv.field_size_limit(usual_limit)
    check = f"check that it is CSV with {separator!r} between values and closed quotes"
    return reason or f"{str(error).splitlines()[0]}: {check}"


def _wrong_width(rows: Iterator[list[str]], form: Form) -> str | None:
    """Say which row is longer than the first, or that the first is not separated as thought."""
    first = next(rows, [])
    found = _other_separator(first, form)
    if found:
        return f"it {found}"
    above, start = ("first row", 2) if form.header is False else ("header", 1)
    for number, row in enumerate(rows, start):
        if len(row) > len(first):
            return (
                f"data row {number} has {len(row)} values, the {above} {len(first)}: "
                f"put values that contain {form.separator or COMMA!r} in double quotes"
            )
    return None
