"""A progress bar for the terminal: the stage, how far it is, its rate, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from kfuse.core.execution import Progress

WIDTH = 24
SECONDS_BETWEEN = 0.1  # two updates of the bar
_leaves_lines: ContextVar[bool] = ContextVar("leaves_lines", default=True)


@contextmanager
def leaving_no_lines() -> Iterator[None]:
    """Let bars made inside clear each stage when it ends, for programs with a summary of their own.

    Yields
    ------
    None
        Outside a terminal, such bars show nothing.
    """
    before = _leaves_lines.set(False)
    try:
        yield
    finally:
        _leaves_lines.reset(before)


class ProgressBar(Progress):
    """Shows a bar on a terminal, and one line per stage with its time; in a pipe or a notebook only the lines."""

    def __init__(self, out: TextIO | None = None):
        self.out = sys.stderr if out is None else out
        self.is_terminal = self.out.isatty()
        self.leaves_lines = _leaves_lines.get()
        self.name, self.start, self.shown = "", 0.0, 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show one stage, and whether it has to compile kernels first."""
        from kfuse.core.kernels import calling_before_compilation  # noqa: PLC0415 - numba is slow to import

        self.name, self.start, self.shown = name, time.perf_counter(), 0.0
        self._write(f"[kfuse] {name}", is_last=False)
        try:
            with calling_before_compilation(self._say_that_it_compiles):
                yield
        except BaseException:
            self._write("", is_last=False)
            raise
        if self.leaves_lines:
            self._write(f"[kfuse] {name}: {time.perf_counter() - self.start:.2f} s", is_last=True)
        else:
            self._write("", is_last=False)

    def _say_that_it_compiles(self) -> None:
        self._write(f"[kfuse] {self.name} (compiles, once on each machine)", is_last=False)

    def advance(self, done: int, total: int, unit: str) -> None:
        """Show how far the stage is, a few times a second."""
        now = time.perf_counter()
        if now - self.shown < SECONDS_BETWEEN or done == 0:
            return
        self.shown = now
        rate = done / (now - self.start)
        filled = WIDTH * done // total
        bar = "#" * filled + "-" * (WIDTH - filled)
        left = clock((total - done) / rate)
        self._write(
            f"[kfuse] {self.name:<18} {bar} {done / total:4.0%}  {rate:,.0f} {unit}/s  {left} left", is_last=False
        )

    def _write(self, line: str, *, is_last: bool) -> None:
        """Write a line over the last one; where lines cannot be overwritten, only the last of a stage."""
        if self.is_terminal:
            self.out.write(f"\r\x1b[2K{line}" + "\n" * is_last)
        elif is_last:
            self.out.write(line + "\n")
        self.out.flush()


def clock(seconds: float) -> str:
    """Write seconds as 0:07 or 1:02:07."""
    minutes, seconds = divmod(int(seconds) + 1, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
