"""CSV and TSV: read as text, and say what is wrong with a file that cannot be."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import polars as pl

from kfuse.cli.errors import CommandError

COMMA = ","
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # how such files start
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


def read(content: bytes, form: Form, name: str) -> pl.DataFrame:
    """Read a table, every value as text.

    Text keeps the values as they were written, so that they can be handed on unchanged.

    Parameters
    ----------
    content : bytes
        What is in the file.
    form : Form
        How it is written.
    name : str
        What to call it in messages.

    Returns
    -------
    polars.DataFrame
        One text column per column of the file; without a header, they are column_1, column_2, ...
    """
    content = _text(content, name)
    has_header = form.header is not False
    try:
        table = pl.read_csv(content, infer_schema=False, has_header=has_header, separator=form.separator or COMMA)
    except pl.exceptions.NoDataError:
        raise CommandError(f"{name} is empty: give a CSV file with rows") from None
    except pl.exceptions.PolarsError as error:
        raise CommandError(f"{name} cannot be read: {_reason(content, form, error)}") from None
    if has_header:
        table = _with_plain_quotes(table, content, form)
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


def _with_plain_quotes(table: pl.DataFrame, content: bytes, form: Form) -> pl.DataFrame:
    """Take doubled quotes out of the names, where polars leaves them."""
    if not any('""' in name for name in table.columns):
        return table
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    names = next(csv.reader(text, delimiter=form.separator or COMMA))
    return table.rename(
        {old: new for old, new in zip(table.columns, names, strict=False) if '""' in old and new not in table.columns}
    )


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
    return content.strip(b"\r\n")


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
