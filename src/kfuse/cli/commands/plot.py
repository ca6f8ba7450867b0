"""`kfuse plot`: draw the clusters to an image file."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kfuse import files, plots
from kfuse.cli import fitting, input, output
from kfuse.cli.errors import CommandError
from kfuse.cli.fitting import Clustering
from kfuse.cli.options import Choice, Method, Source
from kfuse.plots.style import plain
from kfuse.tables import Features

EXTENSIONS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150


def run(source: Source, choice: Choice, method: Method, out: Path, kind: str, *, quiet: bool) -> None:
    """Cluster the rows of a data table and plot them.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    out : Path
        The image file.
    kind : str
        What to plot.
    quiet : bool
        Whether to print nothing.
    """
    if out.suffix.lower() not in EXTENSIONS:
        raise CommandError(f"{out} is not an image file that can be written: choose one of {', '.join(EXTENSIONS)}")
    output.check_file(out, source.data)
    pyplot = _pyplot()
    work = fitting.from_table(input.read(source), choice, method, quiet=quiet)
    ax = KINDS[kind](work.found, work.features)
    content = io.BytesIO()
    ax.figure.savefig(content, format=out.suffix[1:].lower(), dpi=DOTS_PER_INCH)
    pyplot.close(ax.figure)
    files.write_file(out, content.getvalue())
    if not quiet:
        work.report(out)


def _pyplot() -> Any:
    try:
        import matplotlib  # noqa: PLC0415 - an optional dependency

        matplotlib.use("agg")  # opens no window
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise CommandError("plots need matplotlib: pip install 'kfuse[plot]'") from None
    return plt


def _in_the_plane(draw: Callable[..., Any]) -> Callable[[Clustering, Features], Any]:
    """Plot one or two columns in their own units, more as they were clustered: a projection has no units."""

    def drawn(found: Clustering, features: Features) -> Any:
        has_plane = len(features.names) <= 2
        ax = draw(found, features.values if has_plane else features.X)
        if has_plane:
            x, y = [*map(plain, features.names), ""][:2]
            ax.set(xlabel=x, ylabel=y)
        return ax

    return drawn


KINDS: dict[str, Callable[[Clustering, Features], Any]] = {
    "scatter": _in_the_plane(lambda found, X: plots.scatter(X, found.labels)),
    "subclusters": _in_the_plane(lambda found, X: plots.subclusters(found.model, X)),
    "density": _in_the_plane(lambda found, X: plots.density(found.model, X)),
    "dendrogram": lambda found, _: plots.dendrogram(found.model),
    "curve": lambda found, _: plots.fusion_curve(found.model),
    "profiles": lambda found, features: plots.profiles(found.model, features.values, names=features.names),
}
