"""`python -m benchmarks.on_dask`: kfuse.dask from Parquet on a local cluster, its time and memory by size.

Needs the extras bench, cli and dask. Each size runs on fresh workers, each with one thread and a limit of memory.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import tempfile
import threading
import time
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.data import gaussians
from benchmarks.growth import exponent

RESULTS = Path(__file__).parent / "results"
PLOT = Path(__file__).parent.parent / "docs" / "images" / "on_dask.png"
ROWS_PER_FILE = 1_000_000
SECONDS_BETWEEN_READINGS = 0.5


class MemoryLog(threading.Thread):
    """The memory of workers and of this process over time, and the time that their processors spend."""

    def __init__(self, pids: list[int]):
        super().__init__(daemon=True)
        import psutil  # noqa: PLC0415

        self.watched, self.errors = [psutil.Process(pid) for pid in pids], psutil.Error
        self.start_time, self.readings, self.is_over = time.perf_counter(), [], threading.Event()
        self.before = self.processor_times()

    def processor_times(self) -> Any:
        """Return the seconds of each process so far."""
        return np.array([sum(one.cpu_times()[:2]) for one in self.watched])

    def run(self) -> None:
        """Read the memory until told to stop."""
        while not self.is_over.wait(SECONDS_BETWEEN_READINGS):
            try:
                sizes = [one.memory_info().rss / 1e9 for one in self.watched]
            except self.errors:  # a worker has been replaced
                continue
            self.readings.append([time.perf_counter() - self.start_time, *sizes])


def main() -> None:
    """Measure each size, write the table and the plot after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 3e6, 10e6])
    parser.add_argument("--features", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB", help="limit of each worker")
    parser.add_argument("--compare", type=float, default=1e6, help="the largest size to fit with kfuse.KFuse as well")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the table")
    parser.add_argument("--plot", type=Path, default=PLOT, help="the file of the plot")
    options = parser.parse_args()
    machine.need("psutil", "dask", "distributed", "polars", "matplotlib")
    options.out.mkdir(parents=True, exist_ok=True)
    measured: list[dict[str, Any]] = []
    for size in options.sizes:
        measured.append(measure(int(size), options))
        (options.out / "on_dask.md").write_text(table(measured, options), encoding="utf-8")
        plot(measured, options)


def measure(n_samples: int, options: argparse.Namespace) -> dict[str, Any]:
    """Fit one size on a cluster, and on this machine if it is to be compared."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    found: dict[str, Any] = {"n": n_samples}
    with tempfile.TemporaryDirectory() as folder:
        files = write(n_samples, options.features, Path(folder))
        limits = {"threads_per_worker": 1, "memory_limit": options.memory, "dashboard_address": ":0"}
        # A busy machine takes long to stop workers, which raises an error after all is done.
        with (
            suppress(TimeoutError),
            LocalCluster(options.workers, **limits) as cluster,
            Client(cluster) as client,
        ):
            found.update(fit(files, Path(folder) / "labels", client, options.features))
        if n_samples <= options.compare:
            found.update(compare(files, Path(folder) / "labels", options.workers))
    print(json.dumps({name: value for name, value in found.items() if name != "memory"}), flush=True)
    return found


def fit(files: list[Path], labels: Path, client: Any, n_features: int) -> dict[str, Any]:
    """Fit the rows of files, write their labels, and return what that takes."""
    from kfuse.dask import KFuse, parquet  # noqa: PLC0415

    warm_up(n_features)
    client.run(warm_up, n_features)  # or else a worker that had no box of the small fit would load all in the large one
    log = MemoryLog([*client.run(os.getpid).values(), os.getpid()])
    log.start()
    lines = io.StringIO()
    with redirect_stderr(lines):
        parts = parquet.parts_of(files, ROWS_PER_FILE)
        model = KFuse(verbose=True).fit(parquet.rows_of(parts, parquet.numeric_columns(files[0]), None))
        parquet.write_labels(model.labels_, parts, labels, "label", [])
    seconds = time.perf_counter() - log.start_time
    log.is_over.set()
    stages = {name: float(time) for name, time in re.findall(r"^\[kfuse\] (.+): ([0-9.]+) s", lines.getvalue(), re.M)}
    return {
        "seconds": seconds,
        "stages": {**stages, "labels": seconds - sum(stages.values())},
        "processors": (log.processor_times() - log.before).tolist(),
        "memory": log.readings,
        "clusters": model.n_clusters_,
        "leaves": model.tree_.n_leaves,
        "k": model.n_neighbors_,
    }


def warm_up(n_features: int) -> None:
    """Compile all kernels, or load them, in this process."""
    import dask  # noqa: PLC0415

    from kfuse.dask import KFuse  # noqa: PLC0415

    with dask.config.set(scheduler="synchronous"):
        KFuse().fit(np.random.default_rng(0).random((5000, n_features))).labels_.compute()


def write(n_samples: int, n_features: int, folder: Path) -> list[Path]:
    """Write the data as Parquet files of a million rows each."""
    import polars as pl  # noqa: PLC0415

    X, files = gaussians(n_samples, n_features)[0], []
    for number, start in enumerate(range(0, n_samples, ROWS_PER_FILE)):
        files.append(folder / f"{number:05}.parquet")
        columns = X[start : start + ROWS_PER_FILE].T
        pl.DataFrame({f"x{i}": column for i, column in enumerate(columns)}).write_parquet(files[-1])
    return files


def compare(files: list[Path], labels: Path, n_threads: int) -> dict[str, Any]:
    """Fit the same rows with kfuse.KFuse, and compare the labels."""
    import polars as pl  # noqa: PLC0415

    from kfuse import KFuse  # noqa: PLC0415

    X = pl.concat([pl.read_parquet(file) for file in files]).to_numpy()
    KFuse(n_jobs=n_threads).fit(X[:5000])  # compiles
    start = time.perf_counter()
    expected = KFuse(n_jobs=n_threads).fit_predict(X)
    seconds = time.perf_counter() - start
    found = pl.concat([pl.read_parquet(file) for file in sorted(labels.iterdir())])["label"].to_numpy()
    return {"one_machine": seconds, "is_same": bool((found == expected).all())}


def table(measured: list[dict[str, Any]], options: argparse.Namespace) -> str:
    """Return the measurements in Markdown."""
    lines = [
        "# kfuse.dask on a local cluster",
        "",
        *machine.in_words(machine.describe(), machine.today(), os.getloadavg()[0]),
        "",
        f"{options.workers} workers with one thread and at most {options.memory} each; from Parquet to Parquet, "
        f"{options.features} features.",
        "",
        "| samples | seconds | processor seconds, worker / client | `KFuse`, as many threads | same labels "
        "| worker, peak GB | client, peak GB | sub-clusters |",
        "|---:|---:|---:|---:|---|---:|---:|---:|",
        *map(row, measured),
    ]
    if len(measured) > 1:
        first, last = measured[0], measured[-1]
        growth, work = (exponent(first["n"], spent(first), last["n"], spent(last)) for spent in (seconds_of, work_of))
        peaks = [np.max(one["memory"], axis=0)[-1] for one in (first, last)]
        per_leaf = 1e9 * (peaks[1] - peaks[0]) / (last["leaves"] - first["leaves"])
        lines += [
            "",
            f"From {first['n']:,} to {last['n']:,} samples, time grows as n^{growth:.2f}, and that of all processors "
            f"together as n^{work:.2f}. The client, where sub-clusters merge, needs {per_leaf:,.0f} bytes more for "
            f"each of them, or {1e9 * (peaks[1] - peaks[0]) / (last['n'] - first['n']):,.0f} for each sample.",
        ]
    names = list(measured[-1]["stages"])
    lines += ["", "Seconds by stage:", "", f"| samples | {' | '.join(names)} |", "|---:|" + "---:|" * len(names)]
    lines += [f"| {one['n']:,} | {' | '.join(in_stages(one))} |" for one in measured]
    return "\n".join([*lines, ""])


def in_stages(one: dict[str, Any]) -> list[str]:
    """Return the seconds of each stage."""
    return [f"{seconds:.1f}" for seconds in one["stages"].values()]


def row(one: dict[str, Any]) -> str:
    """Return a row of the table."""
    peaks, is_compared = np.max(one["memory"], axis=0)[1:], "one_machine" in one
    alone = f"{one['one_machine']:.1f} (ratio {one['seconds'] / one['one_machine']:.1f})" if is_compared else "-"
    same = ("yes" if one["is_same"] else "NO") if is_compared else "-"
    *workers, client = one["processors"]
    return (
        f"| {one['n']:,} | {one['seconds']:.1f} | {max(workers):.0f} / {client:.0f} | {alone} | {same} "
        f"| {peaks[:-1].max():.2f} | {peaks[-1]:.2f} | {one['leaves']:,} |"
    )


def seconds_of(one: dict[str, Any]) -> float:
    """Return how long a fit took."""
    return float(one["seconds"])


def work_of(one: dict[str, Any]) -> float:
    """Return the time that all processors spent on a fit, which other work on the machine hardly changes."""
    return float(sum(one["processors"]))


def plot(measured: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Plot the memory of the largest run over time."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    largest = max(measured, key=lambda one: one["n"])
    readings = np.array(largest["memory"])
    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    for worker in range(readings.shape[1] - 2):
        axes.plot(readings[:, 0], readings[:, 1 + worker], label=f"worker {worker + 1}")
    axes.plot(readings[:, 0], readings[:, -1], color="0.5", label="client")
    axes.set(xlabel="seconds", ylabel="memory in GB", title=f"{largest['n']:,} samples", ylim=(0, None))
    axes.legend()
    figure.savefig(options.plot, dpi=110)


if __name__ == "__main__":
    main()
