"""Read a data table of any format from a file or from bytes."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl

from kfuse.tables import arrays, foreign, gate, separated
from kfuse.tables.compression import decompressed, without_mark
from kfuse.tables.errors import TableError
from kfuse.tables.formats import ARROW_STREAM, Readable, format_of
from kfuse.tables.panics import reason_of, silent_panics
from kfuse.tables.sizes import arrow, objects, parquet

PANDAS_INDEX = "__index_level_"  # how pandas names an unnamed index in Parquet


class Table(NamedTuple):
    """A data table, and what is known about its columns."""

    frame: pl.DataFrame
    features: list[str]  # the columns to cluster by unless others are chosen
    is_text: bool  # whether every value is text as written, because the format has no types
    name: str  # of the file, in messages
    separator: str = ","  # between the values of CSV; if it is no comma, a comma may stand before decimals
    notes: tuple[str, ...] = ()  # what was not as expected about the file


def read(
    path: str | os.PathLike[str],
    *,
    format: Readable | None = None,
    separator: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a data table from a file.

    Parameters
    ----------
    path : str or path-like
        The file, compressed with gzip or not.
    format : {"csv", "tsv", "parquet", "arrow", "json", "jsonl", "npy", "npz"} or None, default=None
        The format; None detects it.
    separator : str or None, default=None
        The character between values of CSV, or "tab"; None finds it: a comma, or else a semicolon, tab or bar.
    header : bool or None, default=None
        Whether the first line of CSV has the column names; None expects names, and rejects a line of numbers.

    Returns
    -------
    Table
        The table, with at least one row.

    Raises
    ------
    TableError
        If the file cannot be read as a table.
    OSError
        If it cannot be opened.
    """
    content = gate.read_file(Path(path))
    return parse(content, os.fspath(path), format=format, separator=separator, header=header)


def parse(
    content: bytes,
    name: str,
    *,
    format: Readable | None = None,
    separator: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a data table from the content of a file; see :func:`read` for the other parameters.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file, whose extension may tell the format, and which messages use.

    Returns
    -------
    Table
        The table, with at least one row.
    """
    content = decompressed(content, name)
    if not (content[:4096].strip() or content.strip()):
        raise TableError(f"{name} is empty: provide a table with rows")
    if format is None:
        foreign.reject(content, name)
    form = format or format_of(content, Path(name))
    if form in {"csv", "tsv"}:
        separator = separated.separator_of(separator) or ("\t" if form == "tsv" else None)
        as_text = separated.read(content, separated.Dialect(separator, header), name)
        gate.has_read.set()
        frame = as_text.frame
        return Table(frame, frame.columns, True, name, as_text.separator, as_text.notes)
    if form in {"npy", "npz"}:
        found = arrays.read(content, name)
        frame, features = found.frame, found.features
    else:
        frame = _typed(content, form, name)
        gate.has_read.set()
        features = [column for column in frame.columns if not column.startswith(PANDAS_INDEX)]
    if frame.is_empty():
        raise TableError(f"{name} has no rows: provide a table with rows")
    return Table(frame, features, is_text=False, name=name)


def _parquet(content: bytes, name: str) -> pl.DataFrame:
    gate.check_size(parquet.size_of(content), name)
    return pl.read_parquet(io.BytesIO(content))


def _arrow(content: bytes, name: str) -> pl.DataFrame:
    if content.startswith(ARROW_STREAM):
        gate.check_size(arrow.size_of(content), name)
        return pl.read_ipc_stream(io.BytesIO(content))
    if content.startswith(arrow.FILE):
        gate.check_size(arrow.size_of(content), name)
    return pl.read_ipc(io.BytesIO(content))


def without_padding(content: bytes) -> bytes:
    """Return JSON without the white space that follows it, if that is long; less is not worth a copy.

    A kilobyte of gzip can end in a gigabyte of line breaks, which the reader would hold several times.
    """
    end = len(content)
    while end > PADDING and not content[end - PADDING : end].strip():
        end -= PADDING
    return content[:end]


def _json(content: bytes, name: str) -> pl.DataFrame:
    content = without_padding(without_mark(content, name))
    gate.check_estimate(objects.estimate(content, lines=False), name)
    frame = pl.read_json(io.BytesIO(content), infer_schema_length=None)
    is_object = frame.height == 1 and content.lstrip().startswith(b"{")
    return _with_rows(_records(frame) if is_object else frame, name)


def _records(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the only list of objects in an object, which is how services often send a table.

    Objects inside of these become columns, too. The order of columns is that of their names, since polars orders keys
    of nested objects by chance.
    """
    lists = [name for name, kind in frame.schema.items() if kind == pl.List(pl.Struct)]
    if len(lists) != 1:
        return frame
    records = frame[lists[0]].explode().drop_nulls().struct.unnest()
    nested = [name for name, kind in records.schema.items() if kind == pl.Struct]
    flat = records.with_columns(pl.col(name).name.prefix_fields(f"{name}.") for name in nested).unnest(nested)
    return flat.select(sorted(flat.columns))


def _json_lines(content: bytes, name: str) -> pl.DataFrame:
    content = without_padding(without_mark(content, name))
    gate.check_estimate(objects.estimate(content, lines=True), name)
    return _with_rows(pl.read_ndjson(io.BytesIO(content), infer_schema_length=None), name)


def _with_rows(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Reject a single object of lists or objects, which is how a table is written by columns."""
    if frame.height == 1 and all(kind.is_nested() for kind in frame.dtypes):
        raise TableError(
            f"{name} is one object of lists or objects, as of a table written by columns: provide an array of objects, "
            '[{...}, ...], or JSON lines; pandas writes these with to_json(orient="records")'
        )
    return frame


PADDING = 2**20  # bytes of white space that are looked at together
NOT_A_NUMBER = re.compile(rb"[\[:,]\s*-?(NaN|Infinity)\b")  # as a value that is no text
NO_JSON = "it has NaN or Infinity, which JSON does not: write null instead"


class _Reader(NamedTuple):
    title: str
    read: Callable[[bytes, str], pl.DataFrame]
    remedy: str


_TRUNCATED = "it may be truncated: write or copy it again"
_READERS = {
    "parquet": _Reader("Parquet", _parquet, _TRUNCATED),
    "arrow": _Reader("Arrow", _arrow, f"{_TRUNCATED}, in version 2 of Feather"),
    "json": _Reader("JSON", _json, "provide an array of objects, [{...}, ...]"),
    "jsonl": _Reader("JSON lines", _json_lines, "provide one object per line"),
}


def _typed(content: bytes, form: str, name: str) -> pl.DataFrame:
    """Read a format whose values have types with polars, and explain a failure in one line."""
    reader = _READERS[form]
    try:
        with silent_panics():
            return reader.read(content, name)
    except (TableError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # on malformed input polars may panic, which is not an Exception
        remedy = NO_JSON if form in {"json", "jsonl"} and NOT_A_NUMBER.search(content) else reader.remedy
        raise TableError(f"{name} cannot be read as {reader.title} ({reason_of(error)}): {remedy}") from None
