"""The demo: made-up shapes, clustered and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kfuse import files, plots
from kfuse.cli import tables
from kfuse.cli.clustering import Clustering, cluster_rows
from kfuse.datasets import make_shapes

LONGEST_BAR = 24


def run(folder: Path) -> None:
    """Write the data, the labels and the picture to a folder, and tell what was found.

    Parameters
    ----------
    folder : Path
        The folder; it is made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    X, _ = make_shapes()
    found = cluster_rows(tables.scale(X), None, "the demo data")
    contents = {
        "data.csv": tables.to_csv(pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})),
        "labels.csv": tables.to_csv(pl.DataFrame({"label": found.labels})),
    }
    for name, content in contents.items():
        with files.whole_file(folder / name) as handle:
            handle.write(content)
    figure = _picture(X, found.labels)
    if figure is not None:
        with files.whole_file(folder / "clusters.png") as handle:
            figure.savefig(handle, format="png", dpi=150)
    _tell(found, folder, [*contents, "clusters.png"] if figure else [*contents])


def _picture(X: NDArray[np.float64], labels: NDArray[np.intp]) -> Any:
    """Draw the clusters on a figure of their own, or give None without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError:
        return None
    figure = Figure(figsize=(8, 5.7), layout="constrained")
    plots.scatter(X, labels, figure.subplots()).set_aspect("equal")
    return figure


def _tell(found: Clustering, folder: Path, names: list[str]) -> None:
    console = Console(highlight=False)
    console.print(Text.assemble("\n ", (found.summary, "bold"), "\n"))
    console.print(_size_table(found, bar="█" if console.encoding.startswith("utf") else "#"))
    console.print()
    for name in names:
        console.print(Text.assemble(" Wrote ", (str(folder / name), "bold")), soft_wrap=True)
    if "clusters.png" not in names:
        words = " Left out the picture, which needs matplotlib: pip install 'kfuse[plot]'"
        console.print(words, markup=False, soft_wrap=True)
    again = f"kfuse cluster {folder / 'data.csv'} -o labels.csv"
    console.print(Text.assemble(" Next  ", (again, "bold")), soft_wrap=True)
    console.print()


def _size_table(found: Clustering, bar: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column("cluster", justify="right")
    table.add_column("rows", justify="right")
    table.add_column("")
    for label, size in enumerate(found.sizes):
        length = max(1, round(LONGEST_BAR * size / found.sizes[0]))
        table.add_row(str(label), f"{size:,}", Text(bar * length, plots.PALETTE[label % len(plots.PALETTE)]))
    return table
