"""Failures, each told in one line on standard error."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from kfuse import memory


class CommandError(Exception):
    """A failure whose message names the culprit and the remedy."""


@contextmanager
def told_in_one_line(*, quiet: bool = False) -> Iterator[None]:
    """Turn failures into one line on standard error and exit code 1, and show warnings the same way.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to keep warnings to oneself.

    Yields
    ------
    None
        The block runs with warnings held back until its end.

    Raises
    ------
    typer.Exit
        With code 1, after a failure.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except BrokenPipeError:
            raise  # whoever read the output has gone; typer ends quietly
        except CommandError as error:
            failure: str | None = str(error)
        except MemoryError as error:
            explained = str(error).startswith(memory.FIRST_WORDS)
            failure = str(error) if explained else "not enough memory: use fewer rows or columns"
        except OSError as error:
            failure = _os_words(error)
        else:
            failure = None
    for warning in caught:
        if issubclass(warning.category, UserWarning) and not quiet:
            say(f"warning: {warning.message}")
    if failure is not None:
        say(failure)
        raise typer.Exit(1)


def say(message: str) -> None:
    """Print one line to standard error."""
    if sys.stderr is not None:  # closed; print would take standard output instead
        print("kfuse:", " ".join(message.split()), file=sys.stderr)


def _os_words(error: OSError) -> str:
    remedies: dict[type[OSError], str] = {
        FileNotFoundError: "check the path",
        IsADirectoryError: "name a file",
        NotADirectoryError: "check the path",
        PermissionError: "change its permissions or choose another path",
    }
    remedy = next((words for kind, words in remedies.items() if isinstance(error, kind)), "choose another path")
    where = error.filename2 or error.filename
    reason = (error.strerror or str(error)).lower()
    return f"{os.fsdecode(where)}: {reason}: {remedy}" if where else f"{reason}: {remedy}"
