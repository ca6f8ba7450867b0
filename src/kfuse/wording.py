"""Wording that messages of several modules share."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 row, 2 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
