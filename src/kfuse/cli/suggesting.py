"""`kfuse suggest`: how many clusters there are, ranked."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from kfuse.cli import clustering, display, reading, writing
from kfuse.cli.options import Choice, Method, Source
from kfuse.cli.words import counted, first_few
from kfuse.plots import PALETTE

CONTRAST = "Contrast: how much weaker borders between clusters are than what is inside, 0 to 1."
ONE_CLUSTER = "No number stands out, so the data counts as one cluster; its contrast compares with no other."


def run(source: Source, choice: Choice, method: Method, most: int, *, as_json: bool, quiet: bool) -> None:
    """List the best numbers of clusters.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    most : int
        How many numbers to list.
    as_json, quiet : bool
        Whether to print JSON; whether to say nothing else.
    """
    writing.check_standard_output()
    work = clustering.from_table(reading.read(source), choice, method, quiet=quiet)
    ranked = clustering.suggestions(work.found.model, most)
    if not quiet:
        work.tell_of_missing()
    if as_json:
        writing.print_json({**work.as_json(source, choice), "suggestions": ranked})
        return
    rows, n_columns = counted(len(work.samples.X), "row"), counted(len(work.samples.names), "column")
    _tell(ranked, f"{work.table.name}: {rows}, {n_columns}")


def _tell(ranked: list[dict[str, Any]], title: str) -> None:
    out = display.console()
    table = display.table(["rank", "clusters", "contrast", "", "sizes"], left=["", "sizes"])
    for rank, one in enumerate(ranked, start=1):
        drawn = display.bar(one["contrast"], display.bar_of(out), PALETTE[0] if rank == 1 else PALETTE[5])
        style = "bold" if rank == 1 else ""
        shown = [str(rank), f"{one['n_clusters']:,}", f"{one['contrast']:.3f}"]
        table.add_row(*(Text(text, style) for text in shown), drawn, first_few(one["sizes"], 6))
    out.print(display.heading(title))
    out.print(table)
    out.print()
    display.remark(out, CONTRAST)
    if ranked[0]["n_clusters"] == 1:
        display.remark(out, ONE_CLUSTER)
    out.print()
