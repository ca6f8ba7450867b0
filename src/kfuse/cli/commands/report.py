"""`kfuse report`: write an interactive HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kfuse import report
from kfuse.cli import fitting, input, output, summary
from kfuse.cli.fitting import Work
from kfuse.cli.options import Choice, Method, Source
from kfuse.tables import gate
from kfuse.wording import printable


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
    ids, name = _ids(work, choice.id), printable(title or source.data.name)
    report.write(work.found.model, summary.telling_columns(work), out, ids=ids, title=name)
    if not quiet:
        work.report(out)


def _ids(work: Work, column: str | None) -> list[Any]:
    """Return names for the samples: a column, or rows of the table, which messages count from 1."""
    used = work.features.used
    if column is not None:
        gate.check_output(work.table.frame.select(column))
        return work.table.frame[column].filter(used).to_list()
    return (used.nonzero()[0] + 1).tolist()
