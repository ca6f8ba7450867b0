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
    """The labels of the rows, and how long they took."""

    labels: NDArray[np.intp]
    seconds: float

    @property
    def sizes(self) -> list[int]:
        """The number of rows in each cluster, largest first."""
        return [int(size) for size in np.bincount(self.labels)]

    @property
    def summary(self) -> str:
        """One line about the clustering."""
        n_clusters = len(self.sizes)
        return f"{len(self.labels):,} rows, {n_clusters} cluster{'s' * (n_clusters != 1)}, {self.seconds:.2f} s"


def cluster_rows(X: NDArray[np.float64], n_clusters: int, name: str) -> Clustering:
    """Cluster the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    n_clusters : int
        How many clusters.
    name : str
        What to call the data in messages.

    Returns
    -------
    Clustering
        The labels and the time.
    """
    if n_clusters > len(X):
        rows = f"{len(X)} row{'s' * (len(X) != 1)}"
        raise CommandError(f"-k {n_clusters} is more than the {rows} of {name}: ask for at most {len(X)} clusters")
    with _spinner(f"Clustering {len(X):,} rows (the first run also compiles)"):
        start = time.perf_counter()
        try:
            labels = KFuse(n_clusters=n_clusters).fit_predict(X)
        except ValueError as error:
            raise CommandError(f"{name} cannot be clustered: {error}") from error
        return Clustering(labels, time.perf_counter() - start)


def _spinner(words: str) -> AbstractContextManager[Any]:
    """Show that work goes on, on a terminal only."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(stderr=True)
    return console.status(words) if console.is_terminal else nullcontext()
