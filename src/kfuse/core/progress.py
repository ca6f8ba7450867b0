"""What a long fit says while it runs: by default nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Is told which stage runs and how far it is, and says nothing."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Mark what runs inside as one stage."""
        yield

    def advance(self, done: int, total: int, unit: str) -> None:
        """Take note that `done` of `total` samples, links or fusions of the stage are done."""


SILENT = Progress()
