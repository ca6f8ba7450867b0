"""`kfuse cluster`: labels for the rows of a table, or a summary for people to read."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

from kfuse.cli import fitting, input, output, summary
from kfuse.cli.errors import CommandError
from kfuse.cli.fitting import Work
from kfuse.cli.options import STREAM, Choice, Method, Output, Source
from kfuse.cli.output import Target
from kfuse.tables import Features, Table, gate
from kfuse.tables.columns import typed
from kfuse.tables.separated import separator_of
from kfuse.tables.writing import without_formulas

KEPT = {";", "|"}  # separators of CSV that are written again if they were found


def run(source: Source, choice: Choice, method: Method, wanted: Output) -> None:
    """Cluster the rows of a table; show a summary on a terminal, else write the labels.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    wanted : Output
        What to write.
    """
    if wanted.as_json and wanted.out == STREAM:
        raise CommandError("--json and the labels cannot both go to standard output: use -o FILE")
    separator = separator_of(source.separator)
    target = output.target_of(wanted.out, wanted.to, separator, source.data)
    table = input.read(source)
    target = _separated_like(table, target, given=separator)
    if wanted.label in (table.frame.columns if wanted.keep else [choice.id]):
        raise CommandError(f"the input already has a column {wanted.label!r}: choose another name with --label NAME")
    if wanted.keep:
        gate.check_output(table.frame)  # before the work
    work = fitting.from_table(table, choice, method, quiet=wanted.quiet)
    if wanted.is_summary:
        if not wanted.quiet:
            work.report_columns()
        summary.show(work, source, choice)
    elif wanted.is_file or not wanted.as_json:
        is_text = target.form in {"csv", "tsv"}
        frame = _frame(work, choice, wanted, is_text=is_text)
        output.write(without_formulas(frame) if wanted.guard and is_text else frame, target)
    if wanted.as_json:
        output.print_json(_json(work, source, choice, wanted))
    if wanted.quiet or wanted.is_summary:
        return
    if wanted.is_file or (sys.stderr is not None and sys.stderr.isatty()):
        work.report(wanted.out if wanted.is_file else None)
    else:
        work.report_columns()
        work.report_remarks()


def _separated_like(table: Table, target: Target, given: str | None) -> Target:
    """Write CSV with the separator that was found in the input, unless one was given."""
    return target if given is not None or table.separator not in KEPT else target._replace(separator=table.separator)


def _frame(work: Work, choice: Choice, wanted: Output, *, is_text: bool) -> pl.DataFrame:
    """Return the labels, and the columns that come before them."""
    labels = _labels(work.found.labels, work.features, wanted.label)
    if not wanted.keep and choice.id is None:
        return labels.to_frame()
    frame = work.table.frame if is_text else typed(work.table, work.features.columns)
    return (frame if wanted.keep else frame.select(choice.id)).with_columns(labels)


def _labels(labels: Any, features: Features, name: str) -> pl.Series:
    """Return a label for every row of the table, null for dropped rows, so that input and output rows align."""
    if features.used.all():
        return pl.Series(name, labels)
    of_row = np.zeros(features.used.size, dtype=labels.dtype)
    of_row[features.used] = labels
    return pl.Series(name, of_row).set(pl.Series(~features.used), None)


def _json(work: Work, source: Source, choice: Choice, wanted: Output) -> dict[str, Any]:
    return {
        **work.as_json(source, choice),
        "sizes": work.found.sizes,
        "outliers": int((work.found.labels < 0).sum()),
        "suggested": [one.n_clusters for one in work.found.model.tree_.suggest()],
        "labels": str(wanted.out) if wanted.is_file else None,
    }
