"""`kfuse cluster`: labels for the rows of a table."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

from kfuse.cli import clustering, columns, reading, separated, writing
from kfuse.cli.clustering import Work
from kfuse.cli.columns import Samples
from kfuse.cli.errors import CommandError
from kfuse.cli.formats import STREAM
from kfuse.cli.options import Choice, Method, Output, Source


def run(source: Source, choice: Choice, method: Method, output: Output) -> None:
    """Cluster the rows of a table and write their labels.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    output : Output
        What to write.
    """
    if output.as_json and output.out == STREAM:
        raise CommandError("--json and the labels cannot both go to standard output: give -o FILE")
    separator = separated.separator_of(source.separator)
    target = writing.target_of(output.out, output.to, separator, source.data)
    table = reading.read(source)
    if output.label in (table.frame.columns if output.keep else [choice.id]):
        raise CommandError(f"the input has a column {output.label!r} already: name the labels with --label NAME")
    work = clustering.from_table(table, choice, method, quiet=output.quiet)
    if output.is_file or not output.as_json:
        writing.write(_table(work, choice, output, is_text=target.form in {"csv", "tsv"}), target)
    if output.as_json:
        writing.print_json(_summary(work, source, choice, output))
    if output.quiet:
        return
    work.tell_of_missing()
    if output.is_file or (sys.stderr is not None and sys.stderr.isatty()):
        work.tell(output.out if output.is_file else None)


def _table(work: Work, choice: Choice, output: Output, *, is_text: bool) -> pl.DataFrame:
    """Give the labels, and the columns that stand before them."""
    labels = _labels(work.found.labels, work.samples, output.label)
    if not output.keep and choice.id is None:
        return labels.to_frame()
    frame = work.table.frame if is_text else columns.typed(work.table, work.samples.names)
    return (frame if output.keep else frame.select(choice.id)).with_columns(labels)


def _labels(labels: Any, samples: Samples, name: str) -> pl.Series:
    """Give every row of the table a label; rows that were dropped have none, so that the others keep their place."""
    if samples.used.all():
        return pl.Series(name, labels)
    of_row = np.zeros(samples.used.size, dtype=labels.dtype)
    of_row[samples.used] = labels
    return pl.Series(name, of_row).set(pl.Series(~samples.used), None)


def _summary(work: Work, source: Source, choice: Choice, output: Output) -> dict[str, Any]:
    return {
        **work.as_json(source, choice),
        "sizes": work.found.sizes,
        "outliers": int((work.found.labels < 0).sum()),
        "suggested": [one.n_clusters for one in work.found.model.tree_.suggest()],
        "labels": str(output.out) if output.is_file else None,
    }
