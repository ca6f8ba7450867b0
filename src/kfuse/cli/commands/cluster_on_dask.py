"""`kfuse cluster --dask`: Parquet files that need not fit in memory, clustered by many processes or machines."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kfuse.cli import output
from kfuse.cli.errors import CommandError, say
from kfuse.cli.options import Choice, Method, Output, Source, names_in
from kfuse.wording import counted

if TYPE_CHECKING:
    from kfuse.dask import KFuse

LOCAL = "local"
ROWS_PER_PART = 2**20


def run(files: Sequence[Path], source: Source, choice: Choice, method: Method, wanted: Output, scheduler: str) -> None:
    """Cluster the rows of Parquet files, and write a folder of labels.

    Parameters
    ----------
    files : sequence of Path
        The files, or folders of such files.
    source, choice, method, wanted : Source, Choice, Method, Output
        As for a table in memory; what does not work without one is refused.
    scheduler : str
        The address of a Dask scheduler, or "local" for processes on this machine.
    """
    _check(source, choice, method, wanted)
    folder: Any = wanted.out
    if folder.exists():
        raise CommandError(f"{folder} exists already: name a new folder with -o, or remove it")
    try:
        from kfuse.dask import KFuse, parquet  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise CommandError(str(error)) from error
    found = _parquet_files(files)
    begin = time.perf_counter()
    with _cluster(scheduler, method.jobs):
        columns = _columns(choice, parquet.numeric_columns(found[0]))
        parts = parquet.parts_of(found, ROWS_PER_PART)
        if not parts:
            raise CommandError(f"{found[0]}: the table has no rows: nothing to cluster")
        scaling = parquet.min_max(parts, columns) if choice.scaling == "minmax" else None
        model = KFuse(
            method.number,
            min_cluster_size=method.min_cluster_size,
            outliers=method.outliers,
            verbose=not wanted.quiet,
        )
        kept = None if wanted.keep else [choice.id] if choice.id is not None else []
        try:
            model.fit(parquet.rows_of(parts, columns, scaling))
            parquet.write_labels(model.labels_, parts, folder, wanted.label, kept)
        except (ValueError, MemoryError) as error:
            raise CommandError(_in_options(error, scheduler)) from error
        seconds = time.perf_counter() - begin
        _report(model, method, wanted, seconds)


def _check(source: Source, choice: Choice, method: Method, wanted: Output) -> None:
    """Refuse what needs the table in memory."""
    if not wanted.is_file:
        raise CommandError("--dask writes a folder of Parquet files: name it with -o FOLDER")
    if choice.scaling not in ("none", "minmax"):
        raise CommandError("--dask scales columns to [0, 1] or not at all: add --scale minmax or --scale none")
    refused = {
        "--category": choice.category,
        "--metric": method.metric != "euclidean",
        "--neighbors": method.neighbors != "auto",
        "--from": source.form not in (None, "parquet"),
        "--to": wanted.to not in (None, "parquet"),
    }
    for option, is_given in refused.items():
        if is_given:
            raise CommandError(f"{option} does not work with --dask: leave it out, or cluster without --dask")


def _parquet_files(given: Sequence[Path]) -> list[Path]:
    """Return the files, those of folders by name."""
    found: list[Path] = []
    for path in given:
        found += sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    missing = [path for path in found if not path.is_file()]
    if missing or not found:
        raise CommandError(f"{(missing or given)[0]}: no Parquet file there: check the path")
    return found


def _columns(choice: Choice, numeric: list[str]) -> list[str]:
    """Return the columns to cluster by: those that are named, or all that hold numbers."""
    named = choice.columns if choice.columns is not None else choice.number
    if named is not None:
        return names_in("--columns", named)
    excluded = [] if choice.exclude is None else names_in("--exclude", choice.exclude)
    columns = [name for name in numeric if name not in excluded and name != choice.id]
    if not columns:
        raise CommandError("no column holds numbers: name the columns to cluster by with --columns NAME,NAME")
    return columns


@contextmanager
def _cluster(scheduler: str, n_workers: int | None) -> Iterator[None]:
    """Connect to a scheduler, or start processes on this machine."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an optional dependency

    if scheduler != LOCAL:
        try:
            client = Client(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            raise CommandError(f"--dask {scheduler}: no scheduler answers there: check the address") from error
        with client:
            yield
        return
    quiet = {"dashboard_address": ":0", "silence_logs": logging.ERROR}
    with LocalCluster(n_workers=n_workers, threads_per_worker=1, **quiet) as cluster, Client(cluster):
        yield


def _in_options(error: Exception, scheduler: str) -> str:
    """Return the message of an error; workers that run out of memory have another remedy here."""
    if not isinstance(error, MemoryError):
        return str(error)
    more = "start fewer of them with -j N" if scheduler == LOCAL else "start workers with a larger --memory-limit"
    return f"--dask {scheduler}: workers ran out of memory, and nothing was written: {more}"


def _report(model: KFuse, method: Method, wanted: Output, seconds: float) -> None:
    n_rows = model.tree_.leaf_labels.size
    if wanted.as_json:
        output.print_json(
            {
                "rows": n_rows,
                "n_clusters": model.n_clusters_,
                "number_found": method.finds_number,
                "seconds": round(seconds, 3),
                "labels": str(wanted.out),
            }
        )
    if not wanted.quiet:
        found = "found " * method.finds_number
        clusters = counted(model.n_clusters_, "cluster")
        say(f"{counted(n_rows, 'row')}, {found}{clusters}, {seconds:.2f} s -> {wanted.out}")
