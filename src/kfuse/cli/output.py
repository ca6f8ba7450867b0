"""What a command writes: tables and JSON, to files or standard output."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from kfuse import files, tables
from kfuse.cli.errors import CommandError
from kfuse.cli.options import STREAM
from kfuse.tables.formats import Writable
from kfuse.tables.writing import writable_format_of


class Target(NamedTuple):
    """Where a table is written, and how."""

    path: Path | None  # None is standard output
    form: Writable
    separator: str = ","


def target_of(out: Path | None, form: Writable | None, separator: str | None, data: Path | None = None) -> Target:
    """Decide where and how to write, and fail before any work is done if that is not possible.

    Parameters
    ----------
    out : Path or None
        The file; None and ``-`` are standard output.
    form : str or None
        The format; None decides by the extension of the file, else CSV.
    separator : str or None
        The character between values of CSV.
    data : Path or None, default=None
        The input, which must not be overwritten.

    Returns
    -------
    Target
        The file and the format.
    """
    if out is None or out == STREAM:
        check_standard_output()
        return Target(None, form or "csv", separator or ",")
    check_file(out, data)
    return Target(out, form or writable_format_of(out), separator or ",")


def check_file(out: Path, data: Path | None = None) -> None:
    """Reject a file that cannot be written, or that is the input."""
    files.check_target(out)
    if data is not None and out.is_file() and _is_input(out, data):
        raise CommandError(f"{out} is the input, which would be overwritten: choose another file for -o")


def _is_input(out: Path, data: Path) -> bool:
    """Return whether a file is the input, be it by another name or as standard input."""
    try:
        given = os.fstat(sys.stdin.fileno()) if data == STREAM else data.stat()
        return os.path.samestat(given, out.stat())
    except (AttributeError, OSError, ValueError):  # there is no such file, or standard input is none
        return False


def check_standard_output() -> None:
    """Fail before any work if standard output is closed."""
    if sys.stdout is None:
        raise CommandError("standard output is closed: open it, or name a file with -o")


def write(frame: pl.DataFrame, target: Target) -> None:
    """Write a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : Target
        Where and how.
    """
    if target.path is None:
        to_standard_output(tables.encode(frame, target.form, target.separator))
    else:
        tables.write(frame, target.path, format=target.form, separator=target.separator)


def print_json(found: dict[str, Any]) -> None:
    """Print the result of a command as one line of JSON."""
    text = json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"
    to_standard_output(
        text.encode("utf-8", "backslashreplace")
    )  # JSON spells bytes that are not UTF-8 in this way, too


def to_standard_output(content: bytes) -> None:
    """Write bytes to standard output and flush, so that a failure shows here and not when Python exits."""
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
            # What is left in the buffer would fail again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
