"""`kfuse compare`: run kFuse and other clustering methods on the same data."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.text import Text

from kfuse import progress
from kfuse.baselines.methods import METHODS
from kfuse.baselines.methods import Method as Other
from kfuse.cli import console, fitting, input, output
from kfuse.cli.errors import CommandError, say
from kfuse.cli.fitting import Work
from kfuse.cli.options import Choice, Method, Source, names_in
from kfuse.wording import counted

OURS = "kFuse"
SAME = {"kFuse", "kFuse (auto)"}  # the first row is kFuse with the number of clusters that it found
SAMPLED = 5_000  # rows for the silhouette, whose cost is quadratic
WARM_UP = 200  # rows to run a method on first, so that compilation is not timed
# The most rows for methods whose time or memory is quadratic in the rows, or nearly so.
LARGEST = {
    "AP": 2_000,
    "OPTICS": 5_000,
    "MSC": 10_000,
    "Spectral": 10_000,
    "Single linkage": 10_000,
    "Ward": 10_000,
    "DPC": 20_000,
    "WANN-DPC": 20_000,
    "kFuse (paper)": 50_000,
    "HDBSCAN": 50_000,
    "DBSCAN": 100_000,
    "LDP-MST": 100_000,
}


class Judge(NamedTuple):
    """What all methods are scored against."""

    X: NDArray[np.float64]
    ours: NDArray[np.intp]
    truth: NDArray[np.intp] | None  # -1 where unknown
    sampled: NDArray[np.intp] | slice  # the rows for the silhouette


def run(
    source: Source,
    choice: Choice,
    method: Method,
    truth: str | None,
    methods: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run kFuse and other methods, and print scores and agreement.

    Parameters
    ----------
    source, choice, method : Source, Choice, Method
        The table, its columns, and how kFuse clusters.
    truth : str or None
        The column with the true clusters.
    methods : str or None
        The methods to run, separated by commas; None runs those that suit the size of the data.
    as_json, quiet : bool
        Whether to print JSON; whether to print nothing to standard error.
    """
    output.check_standard_output()
    others = _chosen(methods)
    work = _our_work(source, choice, method, truth, quiet=quiet)
    judge = _judge(work, truth, method.seed)
    ours = {"method": OURS, "seconds": round(work.found.seconds, 3), **_scores(judge.ours, judge), "parameters": {}}
    rows = [ours]
    against = {} if methods else {other.name: _reason_against(other, len(judge.X)) for other in others}
    left_out = {name: reason for name, reason in against.items() if reason}
    running = [other for other in others if other.name not in left_out]
    for position, other in enumerate(running, start=1):
        place = f"{other.name}, {position} of {len(running)}"
        with _status(place, quiet):
            rows.append(_run(other, judge, rows[0]["n_clusters"], method.seed))
        if not quiet:
            _say_finished(place, rows[-1])
    if not quiet:
        work.report_columns()
    if as_json:
        scored = {"silhouette_rows": len(judge.X[judge.sampled]), "methods": rows, "left_out": left_out}
        output.print_json({**work.as_json(source, choice), **scored})
        return
    _print(rows, left_out, work, judge)


def _chosen(methods: str | None) -> list[Other]:
    """Find methods by name; None means all but kFuse itself."""
    if methods is None:
        return [other for name, other in METHODS.items() if name not in SAME]
    spellings = {name.casefold(): other for name, other in METHODS.items()}
    names = names_in("--methods", methods)
    for name in names:
        if name.casefold() not in spellings:
            raise CommandError(f"there is no method {name!r}: choose from {', '.join(METHODS)}")
    chosen = [spellings[name.casefold()] for name in names]
    for other in chosen:
        if not other.is_available():
            raise CommandError(f"{other.name} needs {other.requires}: pip install {other.requires}")
    return [other for other in chosen if other.name not in SAME]


def _reason_against(other: Other, n_rows: int) -> str | None:
    """Return why a method is not run unless it is named, if there is a reason."""
    if not other.is_available():
        return f"needs {other.requires}"
    largest = LARGEST.get(other.name, n_rows)
    return f"too slow or large above {largest:,} rows" if n_rows > largest else None


def _our_work(source: Source, choice: Choice, method: Method, truth: str | None, *, quiet: bool) -> Work:
    """Run kFuse, timed like the others: after a run on a few rows."""
    table = input.read(source)
    features = fitting.features_of(table, choice, method, truth=truth)
    with suppress(CommandError):  # a method may fail on a few rows and succeed on all
        fitting.fit(features.X[:WARM_UP], method._replace(n_clusters=None), table.name, quiet=quiet)
    return Work(table, features, fitting.fit_features(features, method, table.name, quiet=quiet))


def _judge(work: Work, truth: str | None, seed: int) -> Judge:
    n_rows = len(work.features.X)
    sampled: NDArray[np.intp] | slice = slice(None)
    if n_rows > SAMPLED:
        sampled = np.random.RandomState(seed).choice(n_rows, SAMPLED, replace=False)
    known = None
    if truth is not None:
        values = work.table.frame[truth].filter(work.features.used).cast(pl.String)
        known = values.rank("dense").fill_null(0).to_numpy().astype(np.intp) - 1
    return Judge(work.features.X, work.found.labels, known, sampled)


def _run(other: Other, judge: Judge, n_clusters: int, seed: int) -> dict[str, Any]:
    """Run one method and score it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            parameters = middle_setting(other, judge.X)
        except Exception as error:  # there may be too few rows for a grid
            return _failed(other, error)
        with suppress(Exception):  # a method may fail on a few rows and succeed on all
            other.make(min(n_clusters, 2), seed, **parameters).fit_predict(judge.X[:WARM_UP])
        caught.clear()
        start = time.perf_counter()
        try:
            labels = np.asarray(other.make(n_clusters, seed, **parameters).fit_predict(judge.X)).astype(np.intp)
        except Exception as error:  # a failure must not stop the other methods
            return _failed(other, error)
        seconds = time.perf_counter() - start
        scores = _scores(labels, judge)
    messages = sorted({" ".join(str(one.message).split()) for one in caught if issubclass(one.category, UserWarning)})
    row = {"method": other.name, "seconds": round(seconds, 3), **scores, "parameters": parameters}
    return {**row, "warnings": messages} if messages else row


def _failed(other: Other, error: Exception) -> dict[str, Any]:
    return {"method": other.name, "failed": " ".join(str(error).split())}


def middle_setting(other: Other, X: NDArray[np.float64]) -> dict[str, Any]:
    """Return the middle value of each parameter in the grid of the study, so that nothing is tuned on the data."""
    grid = other.grid(X) if callable(other.grid) else other.grid
    middle = {name: values[len(values) // 2] for name, values in grid.items() if len(values)}
    return {name: float(value) if isinstance(value, np.floating) else value for name, value in middle.items()}


def _scores(labels: NDArray[np.intp], judge: Judge) -> dict[str, Any]:
    """Score labels; noise counts as one cluster in the agreements and is left out of the other scores."""
    from sklearn import metrics  # noqa: PLC0415 - slow to import

    inside, part = labels >= 0, labels[judge.sampled]
    X_part = judge.X[judge.sampled][part >= 0]
    scores = {
        "n_clusters": len(np.unique(labels[inside])),
        "noise": int((~inside).sum()),
        "silhouette": _score(metrics.silhouette_score, X_part, part[part >= 0]),
        "calinski_harabasz": _score(metrics.calinski_harabasz_score, judge.X[inside], labels[inside]),
        "davies_bouldin": _score(metrics.davies_bouldin_score, judge.X[inside], labels[inside]),
        "agreement": round(float(metrics.adjusted_rand_score(judge.ours, labels)), 4),
    }
    if judge.truth is not None:
        known = judge.truth >= 0
        scores["truth"] = round(float(metrics.adjusted_rand_score(judge.truth[known], labels[known])), 4)
    return scores


def _score(function: Any, X: NDArray[np.float64], labels: NDArray[np.intp]) -> float | None:
    """Compute a score; None where it is not defined: for one cluster, or if all clusters are single samples."""
    if not 2 <= len(np.unique(labels)) < len(labels):
        return None
    return round(float(function(X, labels)), 4)


def _status(text: str, quiet: bool) -> AbstractContextManager[Any]:
    """Show on a terminal which method runs, without a thread that would compete with it."""
    if quiet or sys.stderr is None:
        return nullcontext()
    with progress.leaving_no_lines():
        return progress.ProgressBar().stage(text)


def _say_finished(place: str, row: dict[str, Any]) -> None:
    """Print a line about a method where no status shows: in a pipe, in a log."""
    if sys.stderr is not None and not sys.stderr.isatty():
        done = "failed" if "failed" in row else f"{counted(row['n_clusters'], 'cluster')}, {row['seconds']:.2f} s"
        say(f"{place}: {done}")
        sys.stderr.flush()


def _print(rows: list[dict[str, Any]], left_out: dict[str, str], work: Work, judge: Judge) -> None:
    out = console.console()
    fields = {"method": "method", "seconds": "sec", "n_clusters": "clusters", "noise": "noise"}
    fields |= {"silhouette": "silh.", "calinski_harabasz": "C-H", "davies_bouldin": "D-B"}
    fields |= {"agreement": "= kFuse"} | ({"truth": "= truth"} if judge.truth is not None else {})
    table = console.table(list(fields.values()), left=["method"])
    for row in rows:
        if "failed" not in row:
            style = "bold" if row["method"] == OURS else ""
            table.add_row(*(Text(_cell(field, row[field]), style) for field in fields))
    size = f"{counted(len(judge.X), 'row')}, {counted(len(work.features.columns), 'column')}"
    out.print(console.heading(f"{work.table.name}: {size}"))
    out.print(table)
    out.print()
    for line in _remarks(rows, left_out, judge):
        console.remark(out, line)
    out.print()


def _cell(field: str, value: Any) -> str:
    if value is None:
        return "-"
    places = {"seconds": 2, "silhouette": 3, "calinski_harabasz": 0, "davies_bouldin": 2, "agreement": 3, "truth": 3}
    return f"{value:,.{places[field]}f}" if field in places else f"{value:,}" if isinstance(value, int) else str(value)


def _remarks(rows: list[dict[str, Any]], left_out: dict[str, str], judge: Judge) -> Iterator[str]:
    """Explain the columns, and list the methods without a row."""
    part = f" of {SAMPLED:,} rows drawn at random" if len(judge.X) > SAMPLED else ""
    yield f"silh.: silhouette{part}; C-H: Calinski-Harabasz; for both, higher is better."
    yield "D-B: Davies-Bouldin, lower is better. All three favour round clusters and ignore noise."
    yield "= kFuse, = truth: adjusted Rand index, 1 for identical clusters, about 0 by chance."
    yield f"Methods that need a number of clusters got kFuse's, {rows[0]['n_clusters']:,}. Other parameters have"
    yield "the middle value of the grid of the study in docs/study; --json lists them."
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"Left out: {', '.join(names)} ({reason})."
    for row in rows:
        if "failed" in row:
            yield f"{row['method']} failed: {row['failed']}"
        for message in row.get("warnings", []):
            yield f"{row['method']}: {message}"
