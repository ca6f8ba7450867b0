"""Small phrases that several commands say."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """Give a count with its noun: 1 row, 2 rows."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def first_few(sizes: Sequence[int], most: int = 8) -> str:
    """List the first sizes, and say how many more there are."""
    shown = ", ".join(f"{size:,}" for size in sizes[:most])
    return f"{shown}, and {len(sizes) - most:,} more" if len(sizes) > most else shown
