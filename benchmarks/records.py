"""Measurements on disk, one JSON object per line, so that an interrupted run can resume."""

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
    """Medians over the rounds of one cell, or why there are none."""

    status: str
    reason: str = ""
    rounds: int = 0
    seconds: float = float("nan")
    added_mb: float = float("nan")
    peak_mb: float = float("nan")
    ari: float = float("nan")


class DifferentRunError(Exception):
    """The file has measurements of another machine or other versions."""


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
                    f"{path} was measured on another machine or with other versions: use --fresh to start over, or "
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
        """Return all measurements of a cell."""
        return [row for row in self.rows if Cell(*(row[field] for field in Cell._fields)) == cell]

    def summary(self, cell: Cell) -> Summary | None:
        """Summarise a cell; None if it was not measured."""
        return summarise(self.of(cell))

    def cells(self) -> list[Cell]:
        """Return all measured cells, in the order of measurement."""
        return list(dict.fromkeys(Cell(*(row[field] for field in Cell._fields)) for row in self.rows))

    def sizes(self, family: str) -> list[int]:
        """Return the measured sizes of a family of data sets."""
        return sorted({cell.n_samples for cell in self.cells() if cell.family == family})


def summarise(rows: list[dict[str, Any]]) -> Summary | None:
    """Return the medians of the rounds that finished, or why none did; None without rounds."""
    finished = [row for row in rows if row["status"] == OK]
    if finished:
        values = {name: median(row[name] for row in finished) for name in ("seconds", "added_mb", "peak_mb", "ari")}
        return Summary(OK, rounds=len(finished), **values)
    if rows:
        return Summary(rows[0]["status"], rows[0]["reason"])
    return None


def did_not_finish(summary: Summary | None) -> bool:
    """Return whether a cell has no result after a run, or was not run on purpose."""
    return summary is not None and summary.status != OK
