"""Cluster the rows of a table, and keep what there is to say about it."""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse import KFuse, __version__, progress
from kfuse.cli import columns, reading
from kfuse.cli.errors import CommandError, say
from kfuse.cli.options import Choice, Method, Source
from kfuse.cli.words import counted


class Clustering(NamedTuple):
    """A fitted model, how long it took, and whether the number of clusters was found or given."""

    model: KFuse
    seconds: float
    number_found: bool

    @property
    def labels(self) -> NDArray[np.intp]:
        """The cluster of each row that was clustered, -1 for outliers that were not to be assigned."""
        return self.model.labels_

    @property
    def sizes(self) -> list[int]:
        """The number of rows in each cluster, largest first."""
        return sizes_of(self.labels)

    @property
    def summary(self) -> str:
        """One line about the clustering."""
        rows, clusters = counted(len(self.labels), "row"), counted(len(self.sizes), "cluster")
        return f"{rows}, {'found ' * self.number_found}{clusters}, {self.seconds:.2f} s"


class Work(NamedTuple):
    """A table, the rows to cluster, and what was found."""

    table: reading.Table
    samples: columns.Samples
    found: Clustering

    def tell_of_missing(self) -> None:
        """Say on standard error what became of missing values, if there were any."""
        if self.samples.remark:
            say(self.samples.remark)

    def tell(self, where: object = None) -> None:
        """Say on standard error what was found, and where it is."""
        say(self.found.summary if where is None else f"{self.found.summary} -> {where}")

    def as_json(self, source: Source, choice: Choice) -> dict[str, Any]:
        """Give what every command says about its work, as a script reads it."""
        return {
            "kfuse": __version__,
            "data": str(source.data),
            "rows": self.samples.used.size,
            "columns": self.samples.names,
            "scaled": choice.scale,
            "missing": self.samples.missing,
            "seconds": round(self.found.seconds, 3),
            "n_clusters": len(self.found.sizes),
            "number_found": self.found.number_found,
        }


def from_table(table: reading.Table, choice: Choice, method: Method, *, quiet: bool) -> Work:
    """Cluster the rows of a table.

    Parameters
    ----------
    table, choice, method : Table, Choice, Method
        The table, its columns, and how to cluster.
    quiet : bool
        Whether to show no progress.

    Returns
    -------
    Work
        All there is to write and to tell.
    """
    samples = columns.prepare(table, choice)
    return Work(table, samples, fit(samples.X, method, table.name, quiet=quiet))


def fit(X: NDArray[np.float64], method: Method, name: str, *, quiet: bool = False) -> Clustering:
    """Cluster the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    method : Method
        How to cluster.
    name : str
        What to call the data in messages.
    quiet : bool, default=False
        Whether to show no progress on a terminal, either.

    Returns
    -------
    Clustering
        The model and the time.
    """
    if method.n_clusters is not None and method.n_clusters > len(X):
        rows, most = counted(len(X), "row"), counted(len(X), "cluster")
        raise CommandError(f"-k {method.n_clusters} is more than the {rows} of {name}: ask for at most {most}")
    model = KFuse(
        n_clusters="auto" if method.n_clusters is None else method.n_clusters,
        metric=method.metric,
        neighbors=method.neighbors,
        outliers=method.outliers,
        n_jobs=method.jobs,
        random_state=method.seed,
        verbose=not quiet and sys.stderr is not None and sys.stderr.isatty(),
    )
    start = time.perf_counter()
    try:
        with progress.leaving_no_lines():
            model.fit(X)
    except (ValueError, ImportError) as error:
        raise CommandError(f"{name} cannot be clustered: {error}") from error
    return Clustering(model, time.perf_counter() - start, number_found=method.n_clusters is None)


def sizes_of(labels: NDArray[np.intp]) -> list[int]:
    """Give the number of rows in each cluster, without outliers."""
    return [int(size) for size in np.bincount(labels[labels >= 0])]


def suggestions(model: KFuse, most: int) -> list[dict[str, Any]]:
    """Give the best numbers of clusters, with their sizes, as a script reads them."""
    return [
        {
            "n_clusters": one.n_clusters,
            "contrast": round(float(one.contrast), 4),
            "strongest_border": _rounded(one.strongest_border),
            "weakest_inside": _rounded(one.weakest_inside),
            "sizes": sizes_of(model.cut(one.n_clusters)),
        }
        for one in model.tree_.suggest(most)
    ]


def _rounded(strength: float) -> float | None:
    """Round for reading; JSON has no infinity, which stands for no fusion inside."""
    return float(f"{strength:.4g}") if np.isfinite(strength) else None
