"""`kfuse report`: an interactive page of the clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kfuse import report
from kfuse.cli import clustering, reading, writing
from kfuse.cli.clustering import Work
from kfuse.cli.errors import CommandError
from kfuse.cli.options import Choice, Method, Source


def run(source: Source, choice: Choice, method: Method, out: Path, title: str | None, *, quiet: bool) -> None:
    """Cluster the rows of a table and write the page.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    out : Path
        The page.
    title : str or None
        Its title; None takes the name of the data.
    quiet : bool
        Whether to say nothing.
    """
    writing.check_file(out, source.data)
    work = clustering.from_table(reading.read(source), choice, method, quiet=quiet)
    try:
        report.write(
            work.found.model,
            work.samples.values,
            out,
            names=work.samples.names,
            ids=_ids(work, choice.id),
            title=title or source.data.name,
        )
    except ImportError as error:
        raise CommandError(str(error)) from None
    if not quiet:
        work.tell_of_missing()
        work.tell(out)


def _ids(work: Work, column: str | None) -> list[Any] | None:
    """Name the rows: by a column, or by their number in the table if some are not shown."""
    used = work.samples.used
    if column is not None:
        return work.table.frame[column].filter(used).to_list()
    return None if used.all() else used.nonzero()[0].tolist()
