"""The paper's study: every method on every data set, resumable.

    python -m study.run --out mine --data path/to/data   # or with KFUSE_DATA, or from the public sources
    python -m study.run --out mine --datasets Flame Jain --methods kFuse DPC --jobs 1
    python -m study.run --redo kFuse                     # run these methods or data sets again

Finished cells are stored in ``results.jsonl`` in the output folder, one line each, and are not run again; a killed
study loses only unfinished cells. At the end everything is written to one table, ``results.csv``, from which a later
run in the same folder resumes; without ``--out``, from the results in ``docs/study``. All fits of a cell share a limit
of processor time, which does not depend on other load of the machine. When it is reached, the best result so far counts
and the table says how many settings were tried; if no fit was finished, the cell is recorded as not feasible. A later
run with a longer limit repeats such cells.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Iterator
from multiprocessing import connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kfuse import datasets
from kfuse.baselines.methods import METHODS
from study.cells import OUT_OF_TIME, Cell, all_datasets, child, group
from study.embedding import EMBEDDED
from study.processes import quick_start
from study.store import Key, Record, Store, write_table

OUT = Path("docs/study")
THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LIMIT = 300.0  # seconds of processor time for a cell
PATIENCE = 12  # wall-clock seconds per second of the limit, in case a cell hangs or the machine is busy
FINAL = ("ok", "partial", "not feasible")  # anything else is run again


class Job:
    """A cell that runs in a separate process."""

    def __init__(self, cell: Cell, folder: Path | None, limit: float):
        self.cell, self.limit = cell, limit
        context = quick_start()
        self.pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=child, args=(cell, folder, theirs, limit), daemon=True)
        self.process.start()
        theirs.close()
        self.deadline = time.monotonic() + limit * PATIENCE
        self.latest: Record = {}

    def listen(self) -> bool:
        """Receive what the child has sent; return whether it is done."""
        try:
            while self.pipe.poll():
                self.latest = self.latest | self.pipe.recv()
        except EOFError:
            return True
        return False

    def end(self) -> Record:
        """Stop the child and return the record of the cell."""
        late = time.monotonic() >= self.deadline
        if late:
            self.process.kill()
        self.process.join()
        self.pipe.close()
        late = late or self.process.exitcode == OUT_OF_TIME
        known = {"dataset": self.cell.dataset, "method": self.cell.method, "group": group(self.cell.dataset)}
        return known | self.latest | {"limit": self.limit} | _verdict(self.latest, late, self.process.exitcode)


def _verdict(latest: Record, late: bool, exit_code: int | None) -> Record:
    """Return status and reason of a finished cell."""
    tried, to_try = latest.get("tried", 0), latest.get("to_try")
    if "failed" in latest:
        return {"status": "failed", "reason": latest["failed"]}
    if not late and tried != to_try:
        return {"status": "failed", "reason": f"the process ended with code {exit_code}, perhaps out of memory"}
    if "ARI" not in latest:
        reason = "time limit: no fit was finished" if late else latest.get("reason")
        return {"status": "not feasible", "reason": reason}
    if late:
        return {"status": "partial", "reason": f"time limit: {tried} of {to_try} fits were finished"}
    return {"status": "ok", "reason": None}


def run_cells(cells: Iterable[Cell], folder: Path | None, n_jobs: int, limit: float) -> Iterator[Record]:
    """Run cells in parallel and yield the record of each as it ends."""
    waiting = list(cells)[::-1]
    jobs: list[Job] = []
    try:
        while waiting or jobs:
            while waiting and len(jobs) < n_jobs:
                jobs.append(Job(waiting.pop(), folder, limit))
            first = min(job.deadline for job in jobs)
            connection.wait([job.pipe for job in jobs], timeout=max(0.0, first - time.monotonic()))
            for job in jobs.copy():
                if job.listen() or time.monotonic() >= job.deadline:
                    jobs.remove(job)
                    yield job.end()
    finally:
        for job in jobs:  # only after an exception
            job.process.kill()


def to_do(names: list[str], methods: list[str], done: dict[Key, Record], limit: float) -> list[Cell]:
    """Return the unfinished cells, small data sets first."""
    sizes = {name: 10001 if name == EMBEDDED else int(str(datasets.describe(name)["n_samples"])) for name in names}
    cells = [Cell(name, method) for name in sorted(names, key=sizes.__getitem__) for method in methods]
    return [cell for cell in cells if not _is_final(done.get(tuple(cell)), limit)]


def _has_score(record: Record) -> bool:
    return record.get("ARI") is not None


def _is_final(record: Record | None, limit: float) -> bool:
    if record is None or record["status"] not in FINAL:
        return False
    return record["status"] == "ok" or not str(record["reason"]).startswith("time limit") or record["limit"] >= limit


def missing(name: str, folder: Path | None) -> str | None:
    """Return why a data set is unavailable, None if it is available; download it if necessary."""
    try:
        if name != EMBEDDED:
            datasets.load(name, folder=folder)
            return None
        from study.embedding import load_embedded  # noqa: PLC0415

        load_embedded(folder)
    except (OSError, ValueError, ImportError) as error:
        return str(error)
    return None


def study(args: argparse.Namespace) -> list[Record]:
    """Run the unfinished cells and return all records in the paper's order."""
    store = Store(args.out / "results.jsonl")
    asked = {(name, method) for name in args.datasets for method in args.methods}
    done = store.records()
    for key in asked & done.keys():
        if set(key) & set(args.redo):
            del done[key]
    absent = {name: why for name in args.datasets if (why := missing(name, args.data))}
    usable = [name for name in args.datasets if name not in absent]
    methods = [name for name in args.methods if METHODS[name].is_available()]
    cells = to_do(usable, methods, done, args.limit)
    with _progress(len(cells), args.quiet) as advance:
        for record in run_cells(cells, args.data, args.jobs, args.limit):
            key = record["dataset"], record["method"]
            if _has_score(record) or not _has_score(done.get(key, {})):  # a repetition may have got less far
                store.add(record)
                done[key] = record
            advance(record)
    for name in args.datasets:
        for method in args.methods:
            if reason := _impossible(name, method, absent):
                unknown = {"dataset": name, "method": method, "group": group(name), "status": "missing"}
                done.setdefault((name, method), unknown | {"reason": reason})
    order = {name: i for i, name in enumerate([*all_datasets(), *METHODS])}
    return sorted(done.values(), key=lambda record: (order[record["dataset"]], order[record["method"]]))


def _impossible(name: str, method: str, absent: dict[str, str]) -> str | None:
    if name in absent:
        return f"no data: {absent[name]}"
    if not METHODS[method].is_available():
        return f"not installed: {METHODS[method].requires}"
    return None


def _progress(total: int, quiet: bool) -> Any:
    """Return a progress bar of rich."""
    from contextlib import contextmanager  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    @contextmanager
    def bars() -> Iterator[Any]:
        columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
            task = progress.add_task("cells", total=total)

            def advance(record: Record) -> None:
                shown = f"ARI {record['ARI']:.3f}" if "ARI" in record else record["status"]
                progress.console.print(f"{record['dataset']}, {record['method']}: {shown}", highlight=False)
                progress.advance(task)

            yield advance

    return bars()


def main(arguments: list[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets as NAME.npz; default: KFUSE_DATA")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder for the results, default {OUT}")
    parser.add_argument("--datasets", nargs="+", default=all_datasets(), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of cells to run in parallel")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help=f"seconds of processor time for a cell, default {LIMIT:g}"
    )
    parser.add_argument("--redo", nargs="+", default=[], metavar="NAME", help="methods or data sets to run again")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    args = parser.parse_args(arguments)
    args.datasets = [name if name == EMBEDDED else str(datasets.describe(name)["name"]) for name in args.datasets]
    # The cells run in parallel, so each gets its share of the threads.
    threads = str(max(1, (os.cpu_count() or 1) // args.jobs))
    limits = {variable: os.environ.get(variable, threads) for variable in THREAD_LIMITS}
    with patch.dict(os.environ, limits):  # the caller may compile afterwards, with its own number of threads
        records = study(args)
    write_table(records, args.out / "results.csv")
    n_ok = sum(record["status"] == "ok" for record in records)
    print(f"{n_ok} of {len(records)} cells are complete; the table is {args.out / 'results.csv'}")


if __name__ == "__main__":
    main()
