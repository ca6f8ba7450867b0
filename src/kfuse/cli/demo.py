"""`kfuse demo`: made-up shapes, clustered and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from kfuse import files, plots
from kfuse.cli import clustering, columns, display, writing
from kfuse.cli.clustering import Clustering
from kfuse.cli.options import Method
from kfuse.datasets import make_shapes


def run(folder: Path) -> None:
    """Write the data, the labels and the picture to a folder, and tell what was found.

    Parameters
    ----------
    folder : Path
        The folder; it is made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    X, _ = make_shapes()
    found = clustering.fit(columns.scaled(X, ["x", "y"]), Method(), "the demo data")
    contents = {
        "data.csv": pl.DataFrame({"x": X[:, 0], "y": X[:, 1]}),
        "labels.csv": pl.DataFrame({"label": found.labels}),
    }
    for name, content in contents.items():
        writing.write(content, writing.Target(folder / name, "csv"))
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
    out = display.console()
    out.print(display.heading(found.summary))
    out.print(_size_table(found, display.bar_of(out)))
    out.print()
    for name in names:
        out.print(Text.assemble(" Wrote ", (str(folder / name), "bold")), soft_wrap=True)
    if "clusters.png" not in names:
        words = " Left out the picture, which needs matplotlib: pip install 'kfuse[plot]'"
        out.print(words, markup=False, soft_wrap=True)
    for again in (f"kfuse suggest {folder / 'data.csv'}", f"kfuse cluster {folder / 'data.csv'} -o labels.csv"):
        out.print(Text.assemble(" Next  ", (again, "bold")), soft_wrap=True)
    out.print()


def _size_table(found: Clustering, character: str) -> Table:
    table = display.table(["cluster", "rows", ""], left=[""])
    for label, size in enumerate(found.sizes):
        drawn = display.bar(size / found.sizes[0], character, plots.PALETTE[label % len(plots.PALETTE)])
        table.add_row(str(label), f"{size:,}", drawn)
    return table
