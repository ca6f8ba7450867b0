"""Work on ranges of samples in several threads: kernels run free of the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def over_ranges(task: Callable[[int, int], Result], n_items: int, per_range: int, n_threads: int) -> list[Result]:
    """Call `task(start, stop)` on ranges that cover all items; give the results in order."""
    starts = range(0, n_items, per_range)
    if n_threads == 1 or len(starts) < 2:
        return [task(start, min(start + per_range, n_items)) for start in starts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda start: task(start, min(start + per_range, n_items)), starts))
