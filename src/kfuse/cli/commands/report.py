"""`kfuse report`: write an interactive HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kfuse import report
from kfuse.cli import fitting, input, output
from kfuse.cli.errors import CommandError
from kfuse.cli.fitting import Work
from kfuse.cli.options import Choice, Method, Source


def run(source: Source, choice: Choice, method: Method, out: Path, title: str | None, *, quiet: bool) -> None:
    """Cluster the rows of a data table and write the report.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    out : Path
        The HTML file.
    title : str or None
        The title of the report; None uses the name of the data.
    quiet : bool
        Whether to print nothing.
    """
    output.check_file(out, source.data)
    work = fitting.from_table(input.read(source), choice, method, quiet=quiet)
    try:
        report.write(
            work.found.model,
            work.features.values,
            out,
            names=work.features.names,
            ids=_ids(work, choice.id),
            title=title or source.data.name,
        )
    except ImportError as error:
        raise CommandError(str(error)) from None
    if not quiet:
        work.report_missing()
        work.report(out)


def _ids(work: Work, column: str | None) -> list[Any] | None:
    """Return names for the samples: a column, or row numbers of the table if some rows were dropped."""
    used = work.features.used
    if column is not None:
        return work.table.frame[column].filter(used).to_list()
    return None if used.all() else used.nonzero()[0].tolist()
