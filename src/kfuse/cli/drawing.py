"""`kfuse plot`: a picture of the clusters."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kfuse import plots
from kfuse.cli import clustering, reading, writing
from kfuse.cli.clustering import Clustering
from kfuse.cli.columns import Samples
from kfuse.cli.errors import CommandError
from kfuse.cli.options import Choice, Method, Source

PICTURES = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150


def run(source: Source, choice: Choice, method: Method, out: Path, kind: str, *, quiet: bool) -> None:
    """Cluster the rows of a table and draw them.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how to cluster.
    out : Path
        The picture.
    kind : str
        What to draw.
    quiet : bool
        Whether to say nothing.
    """
    if out.suffix.lower() not in PICTURES:
        raise CommandError(f"{out} is not named like a picture: end its name with {', '.join(PICTURES)}")
    writing.check_file(out, source.data)
    pyplot = _pyplot()
    work = clustering.from_table(reading.read(source), choice, method, quiet=quiet)
    ax = DRAWN[kind](work.found, work.samples)
    content = io.BytesIO()
    ax.figure.savefig(content, format=out.suffix[1:].lower(), dpi=DOTS_PER_INCH)
    pyplot.close(ax.figure)
    writing.write_file(out, content.getvalue())
    if not quiet:
        work.tell_of_missing()
        work.tell(out)


def _pyplot() -> Any:
    try:
        import matplotlib  # noqa: PLC0415 - an optional dependency

        matplotlib.use("agg")  # no window is opened
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError:
        raise CommandError("pictures need matplotlib: pip install 'kfuse[plot]'") from None
    return plt


def _in_the_plane(draw: Callable[..., Any]) -> Callable[[Clustering, Samples], Any]:
    """Draw two columns as they are in the table; more as they were clustered, whose units do not matter."""

    def drawn(found: Clustering, samples: Samples) -> Any:
        has_plane = len(samples.names) <= 2
        ax = draw(found, samples.values if has_plane else samples.X)
        if has_plane:
            ax.set(xlabel=samples.names[0], ylabel=samples.names[1] if len(samples.names) == 2 else "")
        return ax

    return drawn


DRAWN: dict[str, Callable[[Clustering, Samples], Any]] = {
    "scatter": _in_the_plane(lambda found, X: plots.scatter(X, found.labels)),
    "subclusters": _in_the_plane(lambda found, X: plots.subclusters(found.model, X)),
    "density": _in_the_plane(lambda found, X: plots.density(found.model, X)),
    "dendrogram": lambda found, _: plots.dendrogram(found.model),
    "curve": lambda found, _: plots.fusion_curve(found.model),
    "profiles": lambda found, samples: plots.profiles(found.model, samples.values, names=samples.names),
}
