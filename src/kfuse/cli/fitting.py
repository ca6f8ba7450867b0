"""Cluster the rows of a data table, and keep what commands report about it."""

from __future__ import annotations

import re
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse import KFuse, __version__, progress, tables
from kfuse.cli import decisions
from kfuse.cli.errors import CommandError, in_options, say
from kfuse.cli.options import Choice, Method, Source, names_in
from kfuse.tables.choice import Positions
from kfuse.wording import counted

PLACES: dict[str, Positions] = {"euclidean": "sphere", "haversine": "radians"}  # others see numbers
ROW = re.compile(r"\b[Rr]ow (\d+)(?: of X)?\b")  # as the estimator counts, from 0


class Clustering(NamedTuple):
    """A fitted model, how long the fit took, and whether the number of clusters was found or given."""

    model: KFuse
    seconds: float
    number_found: bool

    @property
    def labels(self) -> NDArray[np.intp]:
        """The cluster of each sample, -1 for noise."""
        return self.model.labels_

    @property
    def sizes(self) -> list[int]:
        """The number of samples in each cluster, largest first."""
        return sizes_of(self.labels)

    @property
    def summary(self) -> str:
        """One line about the clustering."""
        rows, clusters = counted(len(self.labels), "row"), counted(len(self.sizes), "cluster")
        return f"{rows}, {'found ' * self.number_found}{clusters}, {self.seconds:.2f} s"


class Work(NamedTuple):
    """A data table, its features, and the clustering of them."""

    table: tables.Table
    features: tables.Features
    found: Clustering

    def report(self, where: object = None) -> None:
        """Print to standard error what became of the columns, what was found, and where it was written."""
        self.report_columns()
        self.report_remarks()
        say(self.found.summary if where is None else f"{self.found.summary} -> {where}")

    def report_columns(self) -> None:
        """Print to standard error what was odd about the file, and what became of columns and missing values."""
        for note in self.table.notes:
            say(note)
        decisions.show(self.features)
        missing = self.features.missing
        if missing.dropped and missing.mode == "drop":
            what = f"{counted(missing.values, 'missing value')} in {counted(missing.rows, 'row')}"
            say(f"{what}: these rows get no label")
        elif missing.dropped:
            say(f"{counted(missing.dropped, 'row')} with too many missing values: no label")

    def report_remarks(self) -> None:
        """Print to standard error what to beware of."""
        for remark in self.remarks:
            say(f"warning: {remark}")

    @property
    def remarks(self) -> list[str]:
        """What to look at before believing the clusters."""
        return [in_options(one) for one in tables.advice(self.features, self.found.model)]

    def as_json(self, source: Source, choice: Choice) -> dict[str, Any]:
        """Return the fields that every command has in its JSON."""
        return {
            "kfuse": __version__,
            "data": str(source.data),
            "rows": self.features.used.size,
            "columns": self.features.columns,
            "decisions": [decisions.as_json(one) for one in self.features.decisions],
            "scale": choice.scaling,
            "missing": self.features.missing._asdict(),
            "seconds": round(self.found.seconds, 3),
            "n_clusters": len(self.found.sizes),
            "number_found": self.found.number_found,
            "warnings": self.remarks,
        }


def from_table(table: tables.Table, choice: Choice, method: Method, *, quiet: bool) -> Work:
    """Cluster the rows of a data table.

    Parameters
    ----------
    table, choice, method : Table, Choice, Method
        The table, its columns, and how to cluster.
    quiet : bool
        Whether to hide the progress bar.

    Returns
    -------
    Work
        All there is to write and to report.
    """
    features = features_of(table, choice, method)
    return Work(table, features, fit_features(features, method, table.name, quiet=quiet))


def features_of(table: tables.Table, choice: Choice, method: Method, *, truth: str | None = None) -> tables.Features:
    """Turn a data table into features, as the options say.

    Parameters
    ----------
    table, choice, method : Table, Choice, Method
        The table, its columns to cluster by, and how to cluster: the metric decides how places are encoded.
    truth : str or None, default=None
        The column with the true clusters, which is left out.

    Returns
    -------
    Features
        The samples to cluster.
    """
    exclude = _names("exclude", choice.exclude) + [name for name in (choice.id, truth) if name is not None]
    return tables.features(
        table,
        columns=None if choice.columns is None else _names("columns", choice.columns),
        exclude=exclude,
        category=_names("category", choice.category),
        number=_names("number", choice.number),
        missing=choice.missing,
        scale=choice.scaling,
        positions=PLACES.get(method.metric, "numbers"),
    )


def _names(option: str, text: str | None) -> list[str]:
    return [] if text is None else names_in(f"--{option}", text)


def fit_features(features: tables.Features, method: Method, name: str, *, quiet: bool) -> Clustering:
    """Cluster features; messages count rows as those about tables do, from 1 and with those that were dropped."""
    try:
        return fit(features.X, method, name, quiet=quiet)
    except CommandError as error:
        rows = np.flatnonzero(features.used)
        text = ROW.sub(lambda found: f"data row {rows[int(found[1])] + 1}", str(error))
        raise CommandError(text) from error


def fit(X: NDArray[np.float64], method: Method, name: str, *, quiet: bool = False) -> Clustering:
    """Cluster the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    method : Method
        How to cluster.
    name : str
        The name of the data in messages.
    quiet : bool, default=False
        Whether to hide the progress bar, which shows on a terminal only.

    Returns
    -------
    Clustering
        The model and the time.
    """
    _check_enough_rows(len(X), method, name)
    model = KFuse(
        n_clusters=method.number,
        min_cluster_size=method.min_cluster_size,
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
    return Clustering(model, time.perf_counter() - start, number_found=method.finds_number)


def _check_enough_rows(n_rows: int, method: Method, name: str) -> None:
    """Reject more clusters, or larger ones, than there are rows."""
    rows = counted(n_rows, "row")
    least = method.n_clusters[0] if isinstance(method.n_clusters, tuple) else method.n_clusters
    if least is not None and least > n_rows:
        most = counted(n_rows, "cluster")
        asked = spelled_number(method.n_clusters)
        raise CommandError(f"-k {asked} is more than the {rows} of {name}: ask for at most {most}")
    if method.min_cluster_size is not None and method.min_cluster_size > n_rows:
        raise CommandError(
            f"--min-cluster-size {method.min_cluster_size} is more than the {rows} of {name}: ask for fewer"
        )


def spelled_number(n_clusters: int | str | tuple[int, int]) -> str:
    """Return a number of clusters, or a range, as -k takes it."""
    return ":".join(map(str, n_clusters)) if isinstance(n_clusters, tuple) else str(n_clusters)


def sizes_of(labels: NDArray[np.intp]) -> list[int]:
    """Return the number of samples in each cluster, without noise."""
    return [int(size) for size in np.bincount(labels[labels >= 0])]
