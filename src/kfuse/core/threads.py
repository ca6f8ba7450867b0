"""Work on ranges of samples in several threads: kernels run free of the interpreter lock.

Ranges are short, so that an interrupt from the keyboard is heard between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from multiprocessing import current_process
from typing import Any, TypeVar

from joblib import effective_n_jobs

from kfuse.core.progress import SILENT, Progress

Result = TypeVar("Result")


class Inline(Executor):
    """Does the work at once, in the thread that asks for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def number_of_threads(n_jobs: int | None) -> int:
    """How many threads to use: all cores for None; one in a worker of a pool, which has its part of them."""
    if current_process().daemon:
        return 1
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def workers(n_threads: int) -> Executor:
    """Give so many threads to work in; one is the one that there is.

    Starting one more can fail for want of memory, and where next to nothing is left, Python then waits for it forever.
    """
    return Inline() if n_threads == 1 else ThreadPoolExecutor(n_threads)


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
    with workers(n_threads) as pool:
        yield from pool.map(lambda r: task(*r), ranges)
