"""How the work of a fit runs: on how many threads, and where its progress is reported.

Stages work on ranges of samples, since kernels run without the interpreter lock. Ranges are short, so that a keyboard
interrupt is handled between two of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import pairwise
from multiprocessing import current_process
from typing import Any, NamedTuple, TypeVar

from joblib import effective_n_jobs

MANY_SAMPLES = 2**17  # from which on the memory between arrays is worth milliseconds

T = TypeVar("T")
U = TypeVar("U")


class Progress:
    """Receive which stage runs and how far it is, and show nothing; `kfuse.progress` has the bar."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Mark what runs inside as one stage."""
        yield

    def advance(self, done: int, total: int, unit: str) -> None:
        """Record that `done` of `total` samples, links or merges of the stage are done."""


class Execution(NamedTuple):
    """The number of threads, and the progress to report to."""

    n_threads: int = 1
    progress: Progress = Progress()

    def over_ranges(self, task: Callable[[int, int], T], n_items: int, per_range: int) -> list[T]:
        """Call `task(start, stop)` on ranges that cover all items; return the results in order."""
        ranges = list(pairwise([*range(0, n_items, per_range), n_items]))
        results = []
        for (_, stop), result in zip(ranges, self._in_order(task, ranges), strict=True):
            results.append(result)
            self.progress.advance(stop, n_items, "samples")
        return results

    def side_by_side(self, first: Callable[[], T], second: Callable[[], U]) -> tuple[T, U]:
        """Run two tasks that do not need each other, the first in the calling thread; return both results."""
        with Execution(min(self.n_threads, 2)).workers() as pool:
            other = pool.submit(second)
            return first(), other.result()

    def workers(self) -> Executor:
        """Return an executor with this number of threads; a single one is the calling thread.

        Starting a thread can fail for lack of memory, and with next to none left Python then waits for it forever.
        """
        return Inline() if self.n_threads == 1 else ThreadPoolExecutor(self.n_threads)

    def _in_order(self, task: Callable[[int, int], T], ranges: list[tuple[int, int]]) -> Iterator[T]:
        if self.n_threads == 1 or len(ranges) < 2:
            yield from (task(start, stop) for start, stop in ranges)
            return
        with self.workers() as pool:
            yield from pool.map(lambda r: task(*r), ranges)


SERIAL = Execution()  # one thread, silent


class Inline(Executor):
    """Run tasks at once, in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def number_of_threads(n_jobs: int | None) -> int:
    """Return how many threads to use: all cores for None; one in a pool's worker, which has its share of the cores."""
    if current_process().daemon:
        return 1
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def return_freed_memory(n_samples: int) -> None:
    """Hand memory that was freed back to the system, before a stage that needs much of it for many samples.

    The C library of Linux takes arrays of up to 32 MB from a heap that only shrinks at its end: without this, the holes
    between them are up to a third of what a fit holds. Other systems need no such help.
    """
    if n_samples >= MANY_SAMPLES and (trim := _malloc_trim()) is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return None


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # noqa: PLC0415

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit matrix products to the calling thread, since every search thread computes its own.

    Depending on the library, the limit holds for the calling thread or for all threads: so it is set where threads are
    started, and again in each of them.
    """
    return _thread_pools().limit(limits=1, user_api="blas")
