"""Work on ranges of samples in several threads: kernels run free of the interpreter lock.

Ranges are short, so that an interrupt from the keyboard is heard between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from kfuse.core.progress import SILENT, Progress

Result = TypeVar("Result")


def over_ranges(
    task: Callable[[int, int], Result],
    n_items: int,
    per_range: int,
    n_threads: int,
    progress: Progress = SILENT,
) -> list[Result]:
    """Call `task(start, stop)` on ranges that cover all samples; give the results in order."""
    ranges = list(pairwise([*range(0, n_items, per_range), n_items]))
    results = []
    for (_, stop), result in zip(ranges, _in_order(task, ranges, n_threads), strict=True):
        results.append(result)
        progress.advance(stop, n_items, "samples")
    return results


def _in_order(task: Callable[[int, int], Result], ranges: list[tuple[int, int]], n_threads: int) -> Iterator[Result]:
    if n_threads == 1 or len(ranges) < 2:
        yield from (task(start, stop) for start, stop in ranges)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(lambda r: task(*r), ranges)
