"""Measurements on disk: one JSON object a line, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import machine
from benchmarks.measure import OK


class Cell(NamedTuple):
    """One method on one data set."""

    family: str
    n_samples: int
    method: str


class Summary(NamedTuple):
    """What the rounds of one cell come to: medians, or why there are none."""

    status: str
    reason: str = ""
    rounds: int = 0
    seconds: float = float("nan")
    added_mb: float = float("nan")
    peak_mb: float = float("nan")
    ari: float = float("nan")


class DifferentRunError(Exception):
    """The file holds measurements of another machine or other versions."""


class Records:
    """The measurements of one run, in a file whose first line describes the machine."""

    def __init__(self, path: Path, settings: dict[str, float], *, fresh: bool = False, any_machine: bool = False):
        self.path = path
        self.header: dict[str, Any]
        self.rows: list[dict[str, Any]] = []
        here = machine.describe()
        if path.exists() and not fresh:
            self.header, *self.rows = [json.loads(line) for line in path.read_text().splitlines()]
            if self.header["machine"] != here and not any_machine:
                raise DifferentRunError(
                    f"{path} was measured on another machine or with other versions: use --fresh to begin anew, or "
                    "--out for another folder."
                )
        else:
            self.header = {"date": machine.today(), "load": os.getloadavg()[0], "machine": here, **settings}
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.header) + "\n")

    def add(self, cell: Cell, outcome: dict[str, Any]) -> None:
        """Append one measurement."""
        row = {**cell._asdict(), **outcome}
        self.rows.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def of(self, cell: Cell) -> list[dict[str, Any]]:
        """Every measurement of a cell."""
        return [row for row in self.rows if Cell(*(row[field] for field in Cell._fields)) == cell]

    def summary(self, cell: Cell) -> Summary | None:
        """Sum up a cell: medians of the rounds that finished, or the reason why one did not; None if not measured."""
        return summarise(self.of(cell))

    def cells(self) -> list[Cell]:
        """Every cell that has a measurement, in the order of measuring."""
        return list(dict.fromkeys(Cell(*(row[field] for field in Cell._fields)) for row in self.rows))

    def sizes(self, family: str) -> list[int]:
        """The sizes measured in a family of data sets."""
        return sorted({cell.n_samples for cell in self.cells() if cell.family == family})


def summarise(rows: list[dict[str, Any]]) -> Summary | None:
    """Sum up the rounds of one cell."""
    finished = [row for row in rows if row["status"] == OK]
    if finished:
        values = {name: median(row[name] for row in finished) for name in ("seconds", "added_mb", "peak_mb", "ari")}
        return Summary(OK, rounds=len(finished), **values)
    if rows:
        return Summary(rows[0]["status"], rows[0]["reason"])
    return None


def did_not_finish(summary: Summary | None) -> bool:
    """Whether a cell was tried, or given up before, without a result."""
    return summary is not None and summary.status != OK
