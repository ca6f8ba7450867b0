"""Write a table in any format, to standard output or to a file that is whole or not there."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from kfuse import files
from kfuse.cli.errors import CommandError
from kfuse.cli.formats import ENDINGS, PLAIN_ENDINGS, STREAM, WRITABLE, Writable, ending_of

ENDINGS_OF_TABLES = ", ".join(ending for ending, form in ENDINGS.items() if form in WRITABLE)


class Target(NamedTuple):
    """Where a table goes, and how."""

    path: Path | None  # None is standard output
    form: Writable
    separator: str = ","
    is_packed: bool = False


def target_of(out: Path | None, form: Writable | None, separator: str | None, data: Path | None = None) -> Target:
    """Find out where to write and how, and refuse what cannot be before any work is done.

    Parameters
    ----------
    out : Path or None
        The file; None and ``-`` are standard output.
    form : str or None
        The format; None takes that of the file's ending, or CSV.
    separator : str or None
        What is between values of CSV.
    data : Path or None, default=None
        The input, which must not be written to.

    Returns
    -------
    Target
        The place and the format.
    """
    if out is None or out == STREAM:
        check_standard_output()
        return Target(None, form or "csv", separator or ",")
    check_file(out, data)
    form = form or _form_of(out)
    return Target(out, form, "\t" if form == "tsv" else separator or ",", out.name.lower().endswith(".gz"))


def check_file(out: Path, data: Path | None = None) -> None:
    """Refuse a file that cannot be written, or that is the input."""
    files.check_target(out)
    if data is not None and out.exists() and data.exists() and out.samefile(data):
        raise CommandError(f"{out} is the input, which would be lost: choose another file for -o")


def check_standard_output() -> None:
    """Refuse to begin if nobody will see the result."""
    if sys.stdout is None:
        raise CommandError("standard output is closed: open it, or name a file with -o")


def write(table: pl.DataFrame, target: Target) -> None:
    """Write a table.

    Parameters
    ----------
    table : polars.DataFrame
        The table.
    target : Target
        Where and how.
    """
    content = _content(table, target)
    if target.path is None:
        to_standard_output(content)
        return
    write_file(target.path, gzip.compress(content, mtime=0) if target.is_packed else content)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with files.whole_file(path) as handle:
        handle.write(content)


def print_json(found: dict[str, Any]) -> None:
    """Print what a command found as JSON, in one line."""
    to_standard_output((json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n").encode())


def to_standard_output(content: bytes) -> None:
    """Write bytes to standard output, and fail here rather than when Python ends."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
            # What is left in the buffer would fail once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _form_of(out: Path) -> Writable:
    ending = ending_of(out)
    form = "csv" if ending in PLAIN_ENDINGS else ENDINGS.get(ending)
    if form not in WRITABLE:
        raise CommandError(
            f"{out}: {ending} is not a format to write tables in: choose from {ENDINGS_OF_TABLES}, or give --to"
        )
    return form


def _content(table: pl.DataFrame, target: Target) -> bytes:
    buffer = io.BytesIO()
    try:
        _write_to(buffer, table, target)
    except pl.exceptions.PolarsError as error:
        words = str(error).splitlines()[0]
        raise CommandError(
            f"the table cannot be written as {target.form} ({words}): choose another with --to"
        ) from None
    return buffer.getvalue()


def _write_to(buffer: io.BytesIO, table: pl.DataFrame, target: Target) -> None:
    if target.form in {"csv", "tsv"}:
        separator = "\t" if target.form == "tsv" else target.separator
        # Programs skip empty lines; a pair of quotes keeps the rows of a single column in line.
        table.write_csv(buffer, separator=separator, null_value='""' if table.width == 1 else None)
    elif target.form == "parquet":
        table.write_parquet(buffer)
    elif target.form == "arrow":
        table.write_ipc(buffer)
    elif target.form == "json":
        table.write_json(buffer)
        buffer.write(b"\n")
    else:
        table.write_ndjson(buffer)
