"""Cluster the rows of a table, and keep what there is to say about it."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse import KFuse
from kfuse.cli.errors import CommandError


class Clustering(NamedTuple):
    """The labels of the rows, how long they took, and whether their number was found or given."""

    labels: NDArray[np.intp]
    seconds: float
    number_found: bool

    @property
    def sizes(self) -> list[int]:
        """The number of rows in each cluster, largest first."""
        return [int(size) for size in np.bincount(self.labels)]

    @property
    def summary(self) -> str:
        """One line about the clustering."""
        rows, clusters = _counted(len(self.labels), "row"), _counted(len(self.sizes), "cluster")
        return f"{rows}, {'found ' * self.number_found}{clusters}, {self.seconds:.2f} s"


def cluster_rows(X: NDArray[np.float64], n_clusters: int | None, name: str) -> Clustering:
    """Cluster the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    n_clusters : int or None
        How many clusters; None means to find the number.
    name : str
        What to call the data in messages.

    Returns
    -------
    Clustering
        The labels and the time.
    """
    if n_clusters is not None and n_clusters > len(X):
        rows, most = _counted(len(X), "row"), _counted(len(X), "cluster")
        raise CommandError(f"-k {n_clusters} is more than the {rows} of {name}: ask for at most {most}")
    with _spinner(f"Clustering {len(X):,} rows (the first run also compiles)"):
        start = time.perf_counter()
        try:
            labels = KFuse(n_clusters="auto" if n_clusters is None else n_clusters).fit_predict(X)
        except ValueError as error:
            raise CommandError(f"{name} cannot be clustered: {error}") from error
        return Clustering(labels, time.perf_counter() - start, number_found=n_clusters is None)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _spinner(words: str) -> AbstractContextManager[Any]:
    """Show that work goes on, on a terminal only."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(stderr=True)
    return console.status(words) if console.is_terminal else nullcontext()
