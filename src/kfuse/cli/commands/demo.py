"""`kfuse demo`: cluster synthetic shapes and plot them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.text import Text

from kfuse import files, plots, tables
from kfuse.cli import console, fitting
from kfuse.cli.fitting import Clustering
from kfuse.cli.options import Method
from kfuse.datasets import make_shapes


def run(folder: Path) -> None:
    """Write the data, the labels and a plot to a folder, and print what was found.

    Parameters
    ----------
    folder : Path
        The folder, created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    X, _ = make_shapes()
    data = pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    found = fitting.fit(tables.features(data).X, Method(), "the demo data")
    contents = {
        "data.csv": data,
        "labels.csv": pl.DataFrame({"label": found.labels}),
    }
    for name, content in contents.items():
        tables.write(content, folder / name, format="csv")
    figure = _figure(X, found.labels)
    if figure is not None:
        with files.whole_file(folder / "clusters.png") as handle:
            figure.savefig(handle, format="png", dpi=150)
    _print(found, folder, [*contents, "clusters.png"] if figure else [*contents])


def _figure(X: NDArray[np.float64], labels: NDArray[np.intp]) -> Any:
    """Plot the clusters on a new figure; return None without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError:
        return None
    figure = Figure(figsize=(8, 5.7), layout="constrained")
    plots.scatter(X, labels, figure.subplots()).set_aspect("equal")
    return figure


def _print(found: Clustering, folder: Path, names: list[str]) -> None:
    out = console.console()
    out.print(console.heading(found.summary))
    out.print(console.size_table(found.sizes, console.bar_character(out)))
    out.print()
    for name in names:
        out.print(Text.assemble(" Wrote ", (str(folder / name), "bold")), soft_wrap=True)
    if "clusters.png" not in names:
        remark = " Skipped the plot, which needs matplotlib: pip install 'kfuse[plot]'"
        out.print(remark, markup=False, soft_wrap=True)
    for again in (f"kfuse suggest {folder / 'data.csv'}", f"kfuse cluster {folder / 'data.csv'} -o labels.csv"):
        out.print(Text.assemble(" Next  ", (again, "bold")), soft_wrap=True)
    out.print()
