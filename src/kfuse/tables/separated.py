"""CSV and TSV: read all values as text, and explain what is wrong with a file that cannot be read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import polars as pl

from kfuse.tables import compression, gate
from kfuse.tables.errors import Setting, TableError
from kfuse.tables.sizes import separated as sizes
from kfuse.tables.written import COMMA, OTHERS, as_utf8, separator_in, without_blank_lines

COMMENT = b"#"
NO_COMMENTS = "if it is a comment, remove such lines"
_REPEATED = re.compile(r"^(.*)_duplicated_(\d+)$")  # how polars names columns whose name was taken


class Read(NamedTuple):
    """A table as text, the separator of its values, and what was not as expected about the file."""

    frame: pl.DataFrame
    separator: str
    notes: tuple[str, ...]


class Dialect(NamedTuple):
    """How a file is written; None where it is not known."""

    separator: str | None = None
    header: bool | None = None


def separator_of(text: str | None) -> str | None:
    """Return a separator as the character that polars expects: "tab" stands for a tab.

    Parameters
    ----------
    text : str or None
        The separator as a user writes it; None is returned as it is.

    Returns
    -------
    str or None
        One ASCII character.

    Raises
    ------
    TableError
        If `text` cannot separate values.
    """
    if text is None or (len(text) == 1 and text.isascii() and text not in '"\r\n\0'):
        return text
    if text in {"tab", "\\t"}:
        return "\t"
    raise TableError(
        f"{text!r} cannot separate values: use one ASCII character, such as ",
        *(Setting("separator", ";"), " or ", Setting("separator", "tab")),
    )


def read(content: bytes, dialect: Dialect, name: str) -> Read:
    """Read a table with every value as text, so that values can be written again unchanged.

    Parameters
    ----------
    content : bytes
        The content of the file.
    dialect : Dialect
        How the file is written.
    name : str
        The name of the file in messages.

    Returns
    -------
    Read
        One text column per column of the file; without a header they are called column_1, column_2, ... Blank lines are
        no rows.
    """
    text = as_utf8(content, name)
    lines = without_blank_lines(text.content)
    separator = separator_in(lines) if dialect.separator is None else dialect.separator
    notes = [] if text.note is None else [text.note]
    if lines.startswith(COMMENT + b" "):
        notes.append(f"the first line of {name} begins with '#': {NO_COMMENTS}")
    if dialect.separator is None and separator != COMMA:
        notes.append(f"{name} has {OTHERS[separator]} between its columns")
    frame = _frame(lines, Dialect(separator, dialect.header), name)
    return Read(frame, separator, tuple(notes))


def _frame(content: bytes, dialect: Dialect, name: str) -> pl.DataFrame:
    gate.check_estimate(sizes.estimate(content, dialect.separator or COMMA), name)
    has_header = dialect.header is not False
    try:
        text = compression.marked(content)
        table = pl.read_csv(text, infer_schema=False, has_header=has_header, separator=dialect.separator or COMMA)
    except pl.exceptions.NoDataError:
        raise TableError(f"{name} is empty: provide a CSV file with rows") from None
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{name} cannot be read: ", *_reason(content, dialect, error)) from None
    if not has_header:
        return table.rename({old: f"column_{i}" for i, old in enumerate(table.columns, start=1)})
    table = _without_padding(_with_plain_quotes(table, content, dialect))
    _check_header(table, dialect, name)
    return _with_own_names(table)


def _check_header(table: pl.DataFrame, dialect: Dialect, name: str) -> None:
    """Reject a first line that looks like data, and a header without rows."""
    without = Setting("header", False)
    if dialect.header is None and all(map(_is_number, table.columns)):
        raise TableError(
            f"every column name of {name} is a number, so the first line may be data: use ",
            *(without, " if it is, or ", Setting("header", True), " if it is not"),
        )
    if table.height == 0:
        raise TableError(f"{name} has a header but no rows: add rows, or use ", without, " if the only line is data")


def _with_plain_quotes(table: pl.DataFrame, content: bytes, dialect: Dialect) -> pl.DataFrame:
    """Unescape doubled quotes in column names, which polars does not."""
    if not any('""' in name for name in table.columns):
        return table
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    names = next(csv.reader(text, delimiter=dialect.separator or COMMA))
    return table.rename(
        {old: new for old, new in zip(table.columns, names, strict=False) if '""' in old and new not in table.columns}
    )


def _without_padding(table: pl.DataFrame) -> pl.DataFrame:
    """Strip spaces around column names, as in files whose columns are aligned, unless two names would be the same."""
    names = [name.strip() for name in table.columns]
    if names == table.columns or len(set(names)) < len(names):
        return table
    return table.rename(dict(zip(table.columns, names, strict=True)))


def _with_own_names(table: pl.DataFrame) -> pl.DataFrame:
    """Name the second of two columns called x "x (2)", and further columns without a name by their positions."""
    renamed = {}
    for position, name in enumerate(table.columns, start=1):
        repeated = _REPEATED.match(name)
        if repeated and repeated[1] in table.columns:
            own = f"{repeated[1]} ({int(repeated[2]) + 2})" if repeated[1] else f"column_{position}"
            renamed[name] = own
    names = [renamed.get(name, name) for name in table.columns]
    return table.rename(renamed) if len(set(names)) == len(names) else table


def _is_number(name: str) -> bool:
    name = _REPEATED.sub(r"\1", name)
    try:
        float(name)
    except ValueError:
        return False
    return "_" not in name


def _reason(content: bytes, dialect: Dialect, error: Exception) -> list[str | Setting]:
    """Explain why polars could not read the file, with the row if there is one."""
    separator = dialect.separator or COMMA
    reason = None
    usual_limit = csv.field_size_limit(max(len(content), csv.field_size_limit()))
    with suppress(csv.Error):
        text = io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")
        reason = _wrong_width(csv.reader(text, delimiter=separator), dialect)
    if reason and content.startswith(COMMENT):
        reason = [f"the first line begins with '#': {NO_COMMENTS}"]
    csv.field_size_limit(usual_limit)
    check = f"check that it is CSV with {separator!r} between values and closed quotes"
    return reason or [f"{str(error).splitlines()[0]}: {check}"]


def _wrong_width(rows: Iterator[list[str]], dialect: Dialect) -> list[str | Setting] | None:
    """Find the first row that is longer than the first line."""
    first = next(rows, [])
    above, start = ("first row", 2) if dialect.header is False else ("header", 1)
    for number, row in enumerate(rows, start):
        if len(row) > len(first):
            return [
                f"data row {number} has {len(row)} values, the {above} {len(first)}: "
                f"put values that contain {dialect.separator or COMMA!r} in double quotes"
            ]
    return None
