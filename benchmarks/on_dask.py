"""`python -m benchmarks.on_dask`: kfuse.dask from Parquet on a local cluster, its time and memory by size.

Needs the extras bench, cli and dask. Each size runs on fresh workers, each with one thread and a limit of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
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
    """The memory of workers and of this process over time."""

    def __init__(self, pids: list[int]):
        super().__init__(daemon=True)
        self.pids, self.start_time, self.readings, self.is_over = pids, time.perf_counter(), [], threading.Event()

    def run(self) -> None:
        """Read the memory until told to stop."""
        import psutil  # noqa: PLC0415

        watched = [psutil.Process(pid) for pid in self.pids]
        while not self.is_over.wait(SECONDS_BETWEEN_READINGS):
            try:
                sizes = [one.memory_info().rss / 1e9 for one in watched]
            except psutil.Error:  # a worker has been replaced
                continue
            self.readings.append([time.perf_counter() - self.start_time, *sizes])


def main() -> None:
    """Measure each size, write the table and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 2e6, 5e6])
    parser.add_argument("--features", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB", help="limit of each worker")
    parser.add_argument("--compare", type=float, default=1e6, help="the largest size to fit with kfuse.KFuse as well")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the table")
    parser.add_argument("--plot", type=Path, default=PLOT, help="the file of the plot")
    options = parser.parse_args()
    machine.need("psutil", "dask", "distributed", "polars", "matplotlib")
    measured = [measure(int(size), options) for size in options.sizes]
    (options.out / "on_dask.md").write_text(table(measured, options), encoding="utf-8")
    plot(measured, options)


def measure(n_samples: int, options: argparse.Namespace) -> dict[str, Any]:
    """Fit one size on a cluster, and on this machine if it is to be compared."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    from kfuse.dask import KFuse, parquet  # noqa: PLC0415

    found: dict[str, Any] = {"n": n_samples}
    with tempfile.TemporaryDirectory() as folder:
        files = write(n_samples, options.features, Path(folder))
        with (
            LocalCluster(
                options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            KFuse().fit(np.random.default_rng(0).random((5000, options.features))).labels_.compute()  # compiles
            log = MemoryLog([*client.run(os.getpid).values(), os.getpid()])
            log.start()
            start = time.perf_counter()
            parts = parquet.parts_of(files, ROWS_PER_FILE)
            columns = parquet.numeric_columns(files[0])
            model = KFuse(verbose=True).fit(parquet.rows_of(parts, columns, None))
            parquet.write_labels(model.labels_, parts, Path(folder) / "labels", "label", [])
            found["seconds"] = time.perf_counter() - start
            log.is_over.set()
            found["memory"], found["clusters"] = log.readings, model.n_clusters_
            found["leaves"], found["k"] = model.tree_.n_leaves, model.n_neighbors_
        if n_samples <= options.compare:
            found.update(compare(files, Path(folder) / "labels", options.workers))
    print(json.dumps({name: value for name, value in found.items() if name != "memory"}), flush=True)
    return found


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
        "| samples | seconds | `KFuse`, as many threads | ratio | same labels | worker, peak GB | client, peak GB "
        "| sub-clusters |",
        "|---:|---:|---:|---:|---|---:|---:|---:|",
    ]
    for one in measured:
        peaks = np.max(one["memory"], axis=0)[1:]
        is_compared = "one_machine" in one
        ratio = f"{one['one_machine']:.1f} | {one['seconds'] / one['one_machine']:.1f}" if is_compared else "- | -"
        same = ("yes" if one["is_same"] else "NO") if is_compared else "-"
        lines.append(
            f"| {one['n']:,} | {one['seconds']:.1f} | {ratio} | {same} | {peaks[:-1].max():.2f} | {peaks[-1]:.2f} "
            f"| {one['leaves']:,} |"
        )
    if len(measured) > 1:
        first, last = measured[0], measured[-1]
        growth = exponent(first["n"], first["seconds"], last["n"], last["seconds"])
        lines += ["", f"Time grows as n^{growth:.2f} from {first['n']:,} to {last['n']:,} samples."]
    return "\n".join([*lines, ""])


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
