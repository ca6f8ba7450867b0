"""The data table that a command reads, from a file or standard input."""

from __future__ import annotations

import signal
import sys

from kfuse import tables
from kfuse.cli.errors import CommandError
from kfuse.cli.options import STREAM, Source
from kfuse.tables import gate
from kfuse.wording import printable


def read(source: Source) -> tables.Table:
    """Read the data table.

    Parameters
    ----------
    source : Source
        The file, or ``-`` for standard input, and what is known of its format.

    Returns
    -------
    Table
        The table, with at least one row.
    """
    if source.data == STREAM:
        content, name = standard_input(), "standard input"
    else:
        content, name = gate.read_file(source.data), printable(str(source.data))
    return tables.parse(content, name, format=source.form, separator=source.separator, header=source.header)


def standard_input() -> bytes:
    """Read all of standard input."""
    if sys.stdin is None:
        raise CommandError("standard input is closed: name a file, or pipe the table in")
    # Importing polars makes a blocked read continue after Ctrl-C; this makes it stop again.
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
    return gate.read_stream(sys.stdin.buffer, "standard input")
