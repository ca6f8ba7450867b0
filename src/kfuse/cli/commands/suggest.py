"""`kfuse suggest`: rank the numbers of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from kfuse import KFuse
from kfuse.cli import console, fitting, input, output
from kfuse.cli.errors import CommandError
from kfuse.cli.options import Choice, Method, Source
from kfuse.description.number import hedge
from kfuse.suggestion import written
from kfuse.wording import counted

P_VALUE = "p: roughly an upper bound on the chance of a border as clear as the weakest one in data without clusters."
CONTRAST = "Contrast: how much weaker merges between clusters are than those within, from 0 to 1."
MOST_SIZES = 5
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
    if method.min_cluster_size is not None:
        raise CommandError("suggest ranks numbers of clusters of any size: leave out --min-cluster-size")
    work = fitting.from_table(input.read(source), choice, method, quiet=quiet)
    ranked = suggestions(work.found.model, most)
    if not quiet:
        work.report_columns()
    if as_json:
        output.print_json({**work.as_json(source, choice), "suggestions": ranked})
        return
    rows, n_columns = counted(len(work.features.X), "row"), counted(len(work.features.columns), "column")
    _print(ranked, f"{work.table.name}: {rows}, {n_columns}", hedge(work.found.model.tree_))


def suggestions(model: KFuse, most: int) -> list[dict[str, Any]]:
    """Return the best numbers of clusters with the cluster sizes, ready for JSON."""
    return [
        {
            "n_clusters": one.n_clusters,
            "contrast": round(float(one.contrast), 4),
            "strongest_border": _rounded(one.strongest_border),
            "weakest_inside": _rounded(one.weakest_inside),
            "p_value": _rounded(one.p_value),
            "sign": one.sign,
            "weakest_border": one.weakest_border,
            "next_split": one.next_split and one.next_split._asdict(),
            "sizes": fitting.sizes_of(model.cut(one.n_clusters)),
        }
        for one in model.tree_.suggest(most)
    ]


def _rounded(strength: float) -> float | None:
    """Round for reading; what is not finite, for no merge within clusters or no border, becomes None."""
    return float(f"{strength:.4g}") if np.isfinite(strength) else None


def _print(ranked: list[dict[str, Any]], title: str, hedged: str) -> None:
    out = console.console()
    table = console.table(["rank", "clusters", "p", "sign", "contrast", "sizes"], left=["sign", "sizes"])
    for rank, one in enumerate(ranked, start=1):
        p_value = "" if one["p_value"] is None else written(one["p_value"]).removeprefix("= ")
        shown = [str(rank), f"{one['n_clusters']:,}", p_value, one["sign"], f"{one['contrast']:.3f}"]
        sizes = console.first_few(one["sizes"], MOST_SIZES)
        table.add_row(*(Text(text, "bold" if rank == 1 else "") for text in shown), sizes)
    out.print(console.heading(title))
    out.print(table)
    out.print()
    for text in (f"{hedged}." * bool(hedged), P_VALUE, CONTRAST, ONE_CLUSTER * (ranked[0]["n_clusters"] == 1)):
        if text:
            console.remark(out, text)
    out.print()
