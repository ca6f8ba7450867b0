"""Measure kfuse and comparable methods in one run, on the same data.

Every measurement is a fit in a fresh process, after an untimed fit on 1,000 samples. Three rounds go through all
methods in turn, and medians are reported; a cell gets no further round once its rounds took more than 45 seconds. A
method that does not finish a size within the limits, or is not expected to, is not run on larger ones, as the table
shows.

Results go to benchmarks/results: measurements.jsonl (an interrupted run resumes from it), benchmark.md, benchmark.png.

    python -m benchmarks                          everything
    python -m benchmarks --quick                  up to 10,000 samples
    python -m benchmarks --families 2-D --sizes 1000 100000 --methods kfuse Genie
    python -m benchmarks --report                 rewrite table and plot from the measurements
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data, growth, machine, report
from benchmarks.measure import NOT_RUN, OK, in_fresh_process
from benchmarks.methods import ALL_METHODS, METHODS
from benchmarks.records import Cell, DifferentRunError, Records, Summary, did_not_finish

SIZES = {
    "2-D": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "8-D": (1_000, 10_000, 100_000, 1_000_000),
    "50-D": (1_000, 10_000, 100_000, 1_000_000),
    data.MNIST: (70_000,),
}
MOST_QUICK = 10_000
RESULTS = Path(__file__).parent / "results"
ROUNDS = 3
ENOUGH_SECONDS = 45.0  # after which a cell gets no further round
HOPELESS = 2.0  # a fit expected to take this multiple of the time limit is not run
LARGE = 10_000_000  # samples, from which on the larger time limit applies


class Limits(NamedTuple):
    """The limits of one fit."""

    seconds: float
    seconds_large: float
    memory_gb: float

    def at(self, n_samples: int) -> float:
        """Return the time limit for this number of samples."""
        return self.seconds_large if n_samples >= LARGE else self.seconds


def measure_all(records: Records, cells: dict[tuple[str, int], list[str]], rounds: int, limits: Limits) -> None:
    """Measure every cell that has not been measured yet, one data set at a time."""
    for (family, n_samples), methods in cells.items():
        wanted = [Cell(family, n_samples, method) for method in methods]
        if all(_is_done(records, cell, rounds) for cell in wanted):
            continue
        with tempfile.TemporaryDirectory(prefix="kfuse-benchmarks-") as folder:
            if _make_data(family, n_samples, folder):
                for cell in _in_rounds(records, wanted, rounds):
                    _measure(records, cell, Path(folder), limits)


def _make_data(family: str, n_samples: int, folder: str) -> bool:
    """Write a data set in a separate process; print the reason if that fails."""
    command = [sys.executable, "-m", "benchmarks.data", family, str(n_samples), folder]
    made = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print(made.stderr.strip().splitlines()[-1], flush=True)
    return made.returncode == 0


def _in_rounds(records: Records, cells: list[Cell], rounds: int) -> Iterator[Cell]:
    """Yield the cells `rounds` times, except those that are done."""
    for n_before in range(rounds):
        for cell in cells:
            if len(records.of(cell)) <= n_before and not _is_done(records, cell, rounds):
                yield cell


def _is_done(records: Records, cell: Cell, rounds: int) -> bool:
    """Return whether a cell needs no further round."""
    rows = records.of(cell)
    spent = sum(row.get("seconds", 0.0) for row in rows)
    return len(rows) >= rounds or spent > ENOUGH_SECONDS or did_not_finish(records.summary(cell))


def _measure(records: Records, cell: Cell, folder: Path, limits: Limits) -> None:
    """Measure one cell once, or record why it is not run; print the outcome."""
    seconds = limits.at(cell.n_samples)
    reason = _reason_not_to_run(records, cell, seconds)
    if reason:
        outcome: dict[str, Any] = {"status": NOT_RUN, "reason": reason}
    else:
        outcome = in_fresh_process(cell.method, folder, seconds, limits.memory_gb)
    records.add(cell, outcome)
    print(f"{cell.family:5} {cell.n_samples:>10,} {cell.method:16} {_format(outcome)}", flush=True)


def _format(outcome: dict[str, Any]) -> str:
    if outcome["status"] != OK:
        return f"{outcome['status']}: {outcome['reason']}"
    return f"{outcome['seconds']:9.3f} s {outcome['added_mb']:8.0f} MB  ARI {outcome['ari']:.3f}"


def _reason_not_to_run(records: Records, cell: Cell, limit: float) -> str:
    """Return why a cell will not finish, judged by smaller sizes; an empty string if it may."""
    smaller: list[tuple[int, Summary]] = []
    for n_samples in records.sizes(cell.family):
        summary = records.summary(cell._replace(n_samples=n_samples))
        if n_samples < cell.n_samples and summary is not None:
            smaller.append((n_samples, summary))
    given_up = [(n, summary) for n, summary in smaller if summary.status != OK]
    if given_up:
        n, summary = given_up[0]
        return f"{summary.status} at {n:,} samples"
    expected = growth.expected_seconds(cell.n_samples, [(n, summary.seconds) for n, summary in smaller])
    return f"about {expected:,.0f} s expected at {cell.n_samples:,} samples" if expected > HOPELESS * limit else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=SIZES, default=list(SIZES), metavar="FAMILY")
    parser.add_argument("--sizes", nargs="+", type=int, help="numbers of samples, for all dimensions of the Gaussians")
    parser.add_argument("--methods", nargs="+", choices=ALL_METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--quick", action="store_true", help=f"only sizes up to {MOST_QUICK:,}")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=100.0, help="time limit of a fit")
    parser.add_argument("--seconds-large", type=float, default=400.0, help="time limit of a fit of 10,000,000 samples")
    parser.add_argument("--memory-gb", type=float, default=16.0, help="memory limit of a fit's process")
    parser.add_argument("--fresh", action="store_true", help="start over instead of resuming")
    parser.add_argument("--report", action="store_true", help="only rewrite table and plot")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return parser


def _chosen_cells(args: argparse.Namespace) -> dict[tuple[str, int], list[str]]:
    cells = {}
    for family in args.families:
        sizes = SIZES[family] if family == data.MNIST or not args.sizes else sorted(args.sizes)
        for n_samples in sizes:
            if not args.quick or n_samples <= MOST_QUICK:
                cells[family, n_samples] = args.methods
    return cells


def main() -> None:
    """Measure, then write the table and the plot."""
    parser = _parser()
    args = parser.parse_args()
    machine.need("psutil", "matplotlib")
    limits = Limits(args.seconds, args.seconds_large, args.memory_gb)
    path = args.out / "measurements.jsonl"
    try:
        records = Records(path, limits._asdict(), fresh=args.fresh, any_machine=args.report)
    except DifferentRunError as error:
        parser.error(str(error))
    if not args.report:
        measure_all(records, _chosen_cells(args), args.rounds, limits)
    report.write(records, args.out)


if __name__ == "__main__":
    main()
