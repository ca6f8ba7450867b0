"""`kfuse suggest`: rank the numbers of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from kfuse import KFuse
from kfuse.cli import console, fitting, input, output
from kfuse.cli.options import Choice, Method, Source
from kfuse.plots import PALETTE
from kfuse.wording import counted

CONTRAST = "Contrast: how much weaker merges between clusters are than those within, from 0 to 1."
ONE_CLUSTER = "No number stands out, so the data counts as one cluster; its contrast is not comparable."


def run(source: Source, choice: Choice, method: Method, most: int, *, as_json: bool, quiet: bool) -> None:
    """Print the best numbers of clusters.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    most : int
        How many numbers to list.
    as_json, quiet : bool
        Whether to print JSON; whether to print nothing to standard error.
    """
    output.check_standard_output()
    work = fitting.from_table(input.read(source), choice, method, quiet=quiet)
    ranked = suggestions(work.found.model, most)
    if not quiet:
        work.report_columns()
    if as_json:
        output.print_json({**work.as_json(source, choice), "suggestions": ranked})
        return
    rows, n_columns = counted(len(work.features.X), "row"), counted(len(work.features.columns), "column")
    _print(ranked, f"{work.table.name}: {rows}, {n_columns}")


def suggestions(model: KFuse, most: int) -> list[dict[str, Any]]:
    """Return the best numbers of clusters with the cluster sizes, ready for JSON."""
    return [
        {
            "n_clusters": one.n_clusters,
            "contrast": round(float(one.contrast), 4),
            "strongest_border": _rounded(one.strongest_border),
            "weakest_inside": _rounded(one.weakest_inside),
            "sizes": fitting.sizes_of(model.cut(one.n_clusters)),
        }
        for one in model.tree_.suggest(most)
    ]


def _rounded(strength: float) -> float | None:
    """Round for reading; infinity, which stands for no merge within clusters, becomes None, as JSON has none."""
    return float(f"{strength:.4g}") if np.isfinite(strength) else None


def _print(ranked: list[dict[str, Any]], title: str) -> None:
    out = console.console()
    table = console.table(["rank", "clusters", "contrast", "", "sizes"], left=["", "sizes"])
    for rank, one in enumerate(ranked, start=1):
        drawn = console.bar(one["contrast"], console.bar_character(out), PALETTE[0] if rank == 1 else PALETTE[5])
        style = "bold" if rank == 1 else ""
        shown = [str(rank), f"{one['n_clusters']:,}", f"{one['contrast']:.3f}"]
        table.add_row(*(Text(text, style) for text in shown), drawn, console.first_few(one["sizes"], 6))
    out.print(console.heading(title))
    out.print(table)
    out.print()
    console.remark(out, CONTRAST)
    if ranked[0]["n_clusters"] == 1:
        console.remark(out, ONE_CLUSTER)
    out.print()
