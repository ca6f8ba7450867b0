"""CSV and TSV: read all values as text, and explain what is wrong with a file that cannot be read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import polars as pl

from kfuse.tables import gate
from kfuse.tables.errors import Setting, TableError
from kfuse.tables.sizes import separated as sizes

COMMA = ","
OTHER_SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}  # that files often have, as messages call them


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


def read(content: bytes, dialect: Dialect, name: str) -> pl.DataFrame:
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
    polars.DataFrame
        One text column per column of the file; without a header they are called column_1, column_2, ...
    """
    content = _text(content, name)
    gate.check_estimate(sizes.estimate(content, dialect.separator or COMMA), name)
    has_header = dialect.header is not False
    try:
        table = pl.read_csv(content, infer_schema=False, has_header=has_header, separator=dialect.separator or COMMA)
    except pl.exceptions.NoDataError:
        raise TableError(f"{name} is empty: provide a CSV file with rows") from None
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{name} cannot be read: ", *_reason(content, dialect, error)) from None
    if has_header:
        table = _without_padding(_with_plain_quotes(table, content, dialect))
    first_line = table.columns if has_header else [value or "" for value in table.row(0)]
    wrong = _other_separator(first_line, dialect)
    if wrong:
        raise TableError(f"{name} ", *wrong)
    if not has_header:
        return table.rename({old: f"column_{i}" for i, old in enumerate(table.columns, start=1)})
    _check_header(table, dialect, name)
    return table


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


def _is_number(name: str) -> bool:
    name = re.sub(r"_duplicated_\d+$", "", name)  # polars appends this to a name that is not unique
    try:
        float(name)
    except ValueError:
        return False
    return "_" not in name


def _text(content: bytes, name: str) -> bytes:
    """Return the content without blank lines around it if it is UTF-8, which polars does not check in headers."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(f"{name} is UTF-16: convert it to UTF-8")
    if b"\0" in content[:4096]:
        raise TableError(f"{name} has zero bytes, as UTF-16 has: convert it to CSV in UTF-8")
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as wrong:
            line = content.count(b"\n", 0, wrong.start) + 1
            raise TableError(
                f"line {line} of {name} is not UTF-8, perhaps Latin-1: convert the file to UTF-8"
            ) from None
    return content.strip(b"\r\n")


def _other_separator(first_line: list[str], dialect: Dialect) -> list[str | Setting] | None:
    """Explain which other separator the only value of the first line contains, unless a separator was given."""
    if dialect.separator is None and len(first_line) == 1:
        for separator, shown in OTHER_SEPARATORS.items():
            if separator in first_line[0]:
                return [f"has {shown} between its columns instead of a comma: use ", Setting("separator", separator)]
    return None


def _reason(content: bytes, dialect: Dialect, error: Exception) -> list[str | Setting]:
    """Explain why polars could not read the file, with the row if there is one."""
    separator = dialect.separator or COMMA
    reason = None
    usual_limit = csv.field_size_limit(max(len(content), csv.field_size_limit()))
    with suppress(csv.Error):
        text = io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")
        reason = _wrong_width(csv.reader(text, delimiter=separator), dialect)
    csv.field_size_limit(usual_limit)
    check = f"check that it is CSV with {separator!r} between values and closed quotes"
    return reason or [f"{str(error).splitlines()[0]}: {check}"]


def _wrong_width(rows: Iterator[list[str]], dialect: Dialect) -> list[str | Setting] | None:
    """Find the first row that is longer than the first line, or another separator in the first line."""
    first = next(rows, [])
    wrong = _other_separator(first, dialect)
    if wrong:
        return ["it ", *wrong]
    above, start = ("first row", 2) if dialect.header is False else ("header", 1)
    for number, row in enumerate(rows, start):
        if len(row) > len(first):
            return [
                f"data row {number} has {len(row)} values, the {above} {len(first)}: "
                f"put values that contain {dialect.separator or COMMA!r} in double quotes"
            ]
    return None
