"""Read a table of any format, from a file or standard input."""

from __future__ import annotations

import gzip
import io
import os
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl

from kfuse.cli import arrays, separated
from kfuse.cli.errors import CommandError
from kfuse.cli.formats import ARROW_STREAM, STREAM, name_of, of_content
from kfuse.cli.options import Source

GZIP = b"\x1f\x8b"  # how such files start
SHARE_OF_MEMORY = 0.5  # what a packed file may take once it is unpacked
USUAL_MEMORY = 8 << 30  # where the system does not say how much it has
PANDAS_INDEX = "__index_level_"  # how pandas names an index that has no name in Parquet


class Table(NamedTuple):
    """A table, and what to know about its columns."""

    frame: pl.DataFrame
    features: list[str]  # the columns to cluster by if nobody chooses
    is_text: bool  # whether every value is text as written, because the format has no types
    name: str  # of the file, in messages


def read(source: Source) -> Table:
    """Read a table.

    Parameters
    ----------
    source : Source
        The file and what is known of its format.

    Returns
    -------
    Table
        The table, with at least one row.
    """
    name = name_of(source.data)
    content = _unpacked(_standard_input() if source.data == STREAM else source.data.read_bytes(), name)
    if not (content[:4096].strip() or content.strip()):
        raise CommandError(f"{name} is empty: give a table with rows")
    form = source.form or of_content(content, source.data)
    if form in {"csv", "tsv"}:
        separator = separated.separator_of(source.separator) or ("\t" if form == "tsv" else None)
        frame = separated.read(content, separated.Form(separator, source.header), name)
        return Table(frame, frame.columns, is_text=True, name=name)
    if form in {"npy", "npz"}:
        found = arrays.read(content, name, most_bytes())
        frame, features = found.frame, found.features
    else:
        frame = _typed(content, form, name)
        features = [column for column in frame.columns if not column.startswith(PANDAS_INDEX)]
    if frame.is_empty():
        raise CommandError(f"{name} has no rows: give a table with rows")
    return Table(frame, features, is_text=False, name=name)


def most_bytes() -> int:
    """Give the most memory that a packed file may take once it is unpacked."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        memory = USUAL_MEMORY
    return int(SHARE_OF_MEMORY * memory)


def check_size(size: int, name: str) -> None:
    """Refuse to unpack what would fill the memory: a small file can hold any number of zeros."""
    if size > most_bytes():
        raise CommandError(
            f"{name} would take {size / 2**30:,.1f} GiB unpacked, more than half of this machine's memory: "
            "make it smaller, or use a larger machine"
        )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise CommandError("standard input is closed: name a file, or pipe the table in")
    # Importing polars makes a waiting read go on after Ctrl-C; this makes it stop again.
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
    return sys.stdin.buffer.read()


def _unpacked(content: bytes, name: str) -> bytes:
    if not content.startswith(GZIP):
        return content
    most = most_bytes()
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            whole = packed.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise CommandError(f"{name} is gzip, but broken: compress the file again") from None
    check_size(len(whole), name)
    return whole


def _parquet(content: bytes, name: str) -> pl.DataFrame:
    lazy = pl.scan_parquet(io.BytesIO(content))
    rows = lazy.select(pl.len()).collect().item()
    check_size(8 * rows * len(lazy.collect_schema()), name)
    return pl.read_parquet(io.BytesIO(content))


def _arrow(content: bytes, _: str) -> pl.DataFrame:
    read_file = pl.read_ipc_stream if content.startswith(ARROW_STREAM) else pl.read_ipc
    return read_file(io.BytesIO(content))


def _json(content: bytes, _: str) -> pl.DataFrame:
    return pl.read_json(io.BytesIO(content), infer_schema_length=None)


def _json_lines(content: bytes, _: str) -> pl.DataFrame:
    return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)


class _Reader(NamedTuple):
    title: str
    read: Callable[[bytes, str], pl.DataFrame]
    remedy: str


_CUT_OFF = "it may be cut off: write or copy it again"
_READERS = {
    "parquet": _Reader("Parquet", _parquet, _CUT_OFF),
    "arrow": _Reader("Arrow", _arrow, f"{_CUT_OFF}, in version 2 of Feather"),
    "json": _Reader("JSON", _json, "give an array of objects, [{...}, ...]"),
    "jsonl": _Reader("JSON lines", _json_lines, "give one object in each line"),
}


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Keep what Rust itself prints when polars panics off standard error: we say it in one line."""
    try:
        heard = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(heard, 2)
            os.close(heard)


def _typed(content: bytes, form: str, name: str) -> pl.DataFrame:
    """Read a format that polars knows, and say in one line why it cannot be."""
    reader = _READERS[form]
    try:
        with _panics_unheard():
            return reader.read(content, name)
    except (CommandError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # on bytes that mean nothing, polars may panic, which is no Exception
        words = (str(error).splitlines() or [type(error).__name__])[0]
        raise CommandError(f"{name} cannot be read as {reader.title} ({words}): {reader.remedy}") from None
