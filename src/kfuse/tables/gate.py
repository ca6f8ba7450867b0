"""The gate that every table passes before anything large is made of it, whatever its format.

polars aborts the whole process when memory runs out, so it must not come to that: a reader estimates what a file will
take (`kfuse.tables.sizes`), and asks here whether there is as much.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

import polars as pl

from kfuse import memory
from kfuse.tables.errors import TableError
from kfuse.tables.sizes.estimate import Estimate

SET_ASIDE, PER_THREAD = 128 << 20, 256 << 20  # bytes of address space, the latter for each thread of polars
CHUNK = 1 << 24  # bytes read at a time from what has no size
DIGITS = 25  # bytes that a number takes as text, at most
COPIES_WRITTEN = 3  # of the output while it is written
BYTES_PER_FEATURE = 8 * 3 + 1  # of a value to cluster: as it is, scaled, one more while scaling, and whether it misses

has_read = threading.Event()  # a table in this process: the threads of polars have their share of address space


def max_bytes() -> int:
    """Return the most memory that a table may take."""
    return memory.available(SET_ASIDE + (0 if has_read.is_set() else PER_THREAD * pl.thread_pool_size()))


def check_size(size: float, name: str) -> None:
    """Reject a table that takes more memory than there is; a small file can hold any number of zeros."""
    most = max_bytes()
    if size > most:
        raise TableError(
            f"{name} would take about {_shown(size)} of memory, but only {_shown(most)} can be used: make it smaller, "
            "or give the process more memory"
        )


def check_estimate(estimate: Estimate, name: str) -> None:
    """Reject a table that takes more memory than there is, or that hardly any of its values are in the file of."""
    if estimate.is_ragged:
        raise TableError(
            f"{name} has about {estimate.n_given:,} values but would become a table of {estimate.n_values:,}, because "
            "its rows have little in common: give every row the same columns"
        )
    check_size(estimate.size, name)


def check_output(frame: pl.DataFrame) -> None:
    """Reject a table whose text would take more memory than there is: each value may be the same long text."""
    size = COPIES_WRITTEN * sum(text_size(frame[name]) for name in frame.columns)
    if size > (most := max_bytes()):
        raise TableError(
            f"the output would take about {_shown(size)} of memory, but only {_shown(most)} can be used: leave out "
            "columns with long texts, or give the process more memory"
        )


def text_size(column: pl.Series) -> int:
    """Return about how many bytes the values of a column take as text."""
    if column.dtype == pl.String:
        return int(column.str.len_bytes().cast(pl.UInt64).sum() or 0) + 3 * column.len()
    if column.dtype.is_integer():
        return column.len() * (1 + max(len(str(column.min())), len(str(column.max()))))
    if column.dtype == pl.Binary:
        return 2 * int(column.bin.size().cast(pl.UInt64).sum() or 0) + 3 * column.len()
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        longest = column.unique().cast(pl.String).str.len_bytes().max()
        return column.len() * (3 + int(longest or 0))
    return column.len() * DIGITS


def read_file(path: Path) -> bytes:
    """Read a file that is not larger than the memory; /dev/zero never ends."""
    with path.open("rb") as file:
        check_size(os.fstat(file.fileno()).st_size, str(path))
        return read_stream(file, str(path))


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """Read all of a stream, unless it is larger than the memory."""
    content, most = bytearray(), max_bytes()
    while chunk := stream.read(CHUNK):
        content += chunk
        if 2 * len(content) > most:
            check_size(max(2 * len(content), most + 1), name)
    return bytes(content)


def _shown(size: float) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.0f} MiB"
