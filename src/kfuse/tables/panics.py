"""Panics of polars: on malformed input, Rust may panic, which prints to standard error and is not an `Exception`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def reason_of(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none.

    Parameters
    ----------
    error : BaseException
        An error that polars raised.

    Returns
    -------
    str
        One line.
    """
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def silent_panics() -> Iterator[None]:
    """Suppress what Rust prints to standard error when polars panics; the exception says it in one line.

    Yields
    ------
    None
        Nothing.
    """
    try:
        original = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(original, 2)
            os.close(original)
