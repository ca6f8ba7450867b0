"""One cell of the study: one method on one data set, by the paper's rules.

A method that takes the number of clusters gets the true one. A method with parameters is run with every setting of its
grid, and the setting with the largest ARI counts (then FMI, then NMI, then the first). K-means is run 20 times, and the
run with the lowest inertia counts, which reproduces the paper's figures; AP and mean shift are not random. All features
are scaled to [0, 1]. Noise counts as one more cluster in the scores.
"""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse import datasets
from kfuse.baselines.methods import METHODS, Method
from study.embedding import EMBEDDED, load_embedded
from study.store import Record

PACKAGES = ("kfuse", "numpy", "scipy", "scikit-learn", "numba", "genieclust", "lumbermark", "fast-plscan", "umap-learn")


# Mean shift may start from bins instead of from every sample, which is faster and equivalent in few dimensions. In
# more, bins may be too empty to find anything, so both starts are tried.
BINS_HOLD_SAMPLES = 3
OUT_OF_TIME = 75  # exit code of a process that reached its time limit


class Cell(NamedTuple):
    """A method on a data set, both by name."""

    dataset: str
    method: str


def all_datasets() -> list[str]:
    """Return the names of the paper's 22 data sets and the embedding of MNIST."""
    return [*datasets.names(), EMBEDDED]


def load(name: str, folder: Path | None) -> datasets.Dataset:
    """Load a data set of the study, scaled."""
    if name == EMBEDDED:
        return load_embedded(folder)
    return datasets.load(name, folder=folder, scaled=True, progress=False)


def work(
    cell: Cell, folder: Path | None, send: Callable[[Record], None], begins: Callable[[], None] = lambda: None
) -> None:
    """Run a cell; after each fit, send the best result so far and the number of fits.

    `begins` is called once the data is loaded and the code compiled.
    """
    data = load(cell.dataset, folder)
    method = METHODS[cell.method]
    record: Record = {
        "dataset": cell.dataset,
        "group": group(cell.dataset),
        "method": cell.method,
        "n_true": data.n_clusters,
        "n_samples": len(data.X),
        "n_features": data.X.shape[1],
        "origin": data.origin,
        "versions": versions(),
    }
    _warm_up(method)
    begins()
    start = time.process_time()
    runs = list(_runs(method, data.X))
    record |= {"tried": 0, "to_try": len(runs)}
    send(record)
    for parameters, random_state in runs:
        result = _try(method, data, parameters, random_state)
        record["tried"] += 1
        record["seconds"] = time.process_time() - start
        if _merit(result) > _merit(record):
            record |= result
        send(record)


def group(name: str) -> str:
    """Return the table of the paper that a data set belongs to."""
    return "real" if name == EMBEDDED else str(datasets.describe(name)["group"])


def versions() -> dict[str, str]:
    """Return the versions of the packages that the results depend on."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def scores(y: NDArray[np.intp], labels: NDArray[np.intp]) -> dict[str, float]:
    """Compute the paper's three measures."""
    from sklearn import metrics  # noqa: PLC0415 - slow to import

    return {
        "FMI": float(metrics.fowlkes_mallows_score(y, labels)),
        "ARI": float(metrics.adjusted_rand_score(y, labels)),
        "NMI": float(metrics.normalized_mutual_info_score(y, labels)),
    }


def fit(method: Method, data: datasets.Dataset, parameters: dict[str, Any], random_state: int) -> Any:
    """Fit once and return the estimator."""
    estimator = method.make(n_clusters=data.n_clusters, random_state=random_state, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some settings do not suit the data; the best one counts
        estimator.fit(data.X)
    return estimator


def _warm_up(method: Method) -> None:
    """Import and compile what the method needs, so that this is not timed."""
    X = np.random.default_rng(0).random((64, 2))
    with suppress(Exception):
        fit(method, datasets.Dataset(X, np.arange(64) % 2, "", ""), _settings(method, X)[0], 0)


def _runs(method: Method, X: NDArray[np.float64]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield all fits in a seeded random order, so that a time limit leaves a fair part of the grid."""
    settings = _settings(method, X)
    for i in np.random.default_rng(0).permutation(len(settings)):
        for random_state in range(method.repeats):
            yield settings[i], random_state


def _settings(method: Method, X: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return every combination of parameters to try on X; a single empty one if there are none."""
    settings = method.settings(X)
    if method.name == "MSC" and X.shape[1] > BINS_HOLD_SAMPLES:
        settings += [parameters | {"bin_seeding": False} for parameters in settings]
    return settings


def _try(method: Method, data: datasets.Dataset, parameters: dict[str, Any], random_state: int) -> Record:
    start = time.process_time()
    try:
        estimator = fit(method, data, parameters, random_state)
    except Exception as error:  # one setting of many may be impossible; the others still count
        return {"reason": f"{type(error).__name__}: {error}"}
    seconds = time.process_time() - start
    labels = np.asarray(estimator.labels_)
    return scores(data.y, labels) | {
        "n_found": len(np.unique(labels[labels >= 0])),
        "noise": float(np.mean(labels < 0)),
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "random_state": random_state,
        "seconds_best": seconds,
        "reason": None,
    }


def _merit(record: Record) -> tuple[float, ...]:
    """Return a key that orders runs; a failed run beats none because it has a reason."""
    if "ARI" not in record:
        return (-np.inf,) if "reason" in record else ()
    return tuple(round(record[metric], 12) for metric in ("ARI", "FMI", "NMI"))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def child(cell: Cell, folder: Path | None, pipe: Any, limit: float) -> None:
    """Run a cell in this process, and exit with the parent or at the time limit."""
    watch = Watch(limit)
    try:
        work(cell, folder, pipe.send, watch.time_runs)
    except BaseException as error:
        pipe.send({"failed": f"{type(error).__name__}: {error}"})
    finally:
        pipe.close()


class Watch:
    """Ends the process at its time limit, or with its parent, so that a killed study leaves nothing running."""

    def __init__(self, limit: float):
        self.limit, self.end = limit, math.inf
        parent = parent_process()
        if parent is not None:
            threading.Thread(target=self._watch, args=(parent.sentinel,), daemon=True).start()

    def time_runs(self) -> None:
        """Start the clock of the cell."""
        self.end = time.process_time() + self.limit

    def _watch(self, sentinel: int) -> None:
        while time.process_time() < self.end:
            if connection.wait([sentinel], timeout=min(1.0, max(0.05, self.limit))):
                os._exit(1)
        os._exit(OUT_OF_TIME)
