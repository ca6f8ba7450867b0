"""The results of the study on disk: one line of JSON per finished cell, which survives a crash.

At the end, everything is written to one table, from which a later run resumes if there are no lines.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Key = tuple[str, str]  # data set, method

COLUMNS = (
    "group", "dataset", "method", "status", "FMI", "ARI", "NMI", "n_true", "n_found", "noise", "n_samples",
    "n_features", "parameters", "random_state", "tried", "to_try", "seconds", "seconds_best", "limit", "reason",
    "origin", "versions",
)  # fmt: skip


class Store:
    """Append-only lines of JSON.

    Each record is flushed to disk before `add` returns. A line truncated by a crash is skipped on reading and
    terminated before the next one is written, so only its own cell is lost.
    """

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, record: Record) -> None:
        """Append one record and flush it to disk."""
        line = json.dumps(record, sort_keys=True) + "\n"
        with self.path.open("ab") as file:
            if self._is_torn():
                line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def records(self) -> dict[Key, Record]:
        """Return the latest record of each cell: its last line, otherwise that of the table."""
        table = self.path.with_suffix(".csv")
        found = {(row["dataset"], row["method"]): row for row in read_table(table)} if table.is_file() else {}
        if not self.path.is_file():
            return found
        for line in self.path.read_bytes().splitlines():
            try:
                record = json.loads(line)
                found[record["dataset"], record["method"]] = record
            except (ValueError, KeyError, TypeError):
                continue  # truncated by a crash
        return found

    def _is_torn(self) -> bool:
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"


def write_table(records: Iterable[Record], path: Path) -> None:
    """Write the records as one CSV file, completely or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({name: _cell(record.get(name)) for name in COLUMNS})
    part.replace(path)


def read_table(path: Path) -> list[Record]:
    """Read a table written by `write_table`; scores and the limit are numbers or None."""
    with path.open(newline="", encoding="utf-8") as file:
        rows: list[Record] = list(csv.DictReader(file))
    for row in rows:
        for name in ("FMI", "ARI", "NMI", "limit"):
            row[name] = float(row[name]) if row[name] else None
    return rows


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return "" if value is None else value
