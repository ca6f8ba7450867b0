"""Errors of the command line, each printed as one line on standard error."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from kfuse import memory
from kfuse.tables.errors import Setting, TableError
from kfuse.wording import printable

LONGEST = 2000  # characters of a message

if TYPE_CHECKING:
    from kfuse.tables import Advice


class CommandError(Exception):
    """An error whose message names the culprit and the remedy."""


@contextmanager
def reported_in_one_line(*, quiet: bool = False) -> Iterator[None]:
    """Turn errors into one line on standard error and exit code 1, and print warnings the same way.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to suppress warnings.

    Yields
    ------
    None
        Warnings of the block are held back until its end.

    Raises
    ------
    typer.Exit
        With code 1, after an error.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except BrokenPipeError:
            raise  # the reader of the output is gone; typer exits quietly
        except CommandError as error:
            failure: str | None = str(error)
        except TableError as error:
            failure = in_options(error)
        except MemoryError as error:
            is_explained = str(error).startswith(memory.FIRST_WORDS)
            failure = str(error) if is_explained else "not enough memory: use fewer rows or columns"
        except OSError as error:
            failure = _os_message(error)
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
    if sys.stderr is not None:  # None if it is closed; print would then use standard output
        line = " ".join(message.split())
        if len(line) > LONGEST:  # a column may have a name of a megabyte
            line = f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"
        print("kfuse:", printable(line), file=sys.stderr)


def in_options(message: TableError | Advice) -> str:
    """Return a message about a table with parameters spelled as options of the command line."""
    return spelled(message.parts)


def spelled(parts: Sequence[str | Setting]) -> str:
    """Join the parts of a message with parameters spelled as options of the command line."""
    return "".join(part if isinstance(part, str) else _option(part) for part in parts)


def _option(setting: Setting) -> str:
    """Spell a parameter of `kfuse.tables` as an option, ready to be pasted into a shell."""
    name, value = setting
    if name == "header":
        return "--header" if value else "--no-header"
    if name == "n_clusters":
        return f"-k {value}"
    if value is ...:
        return {"columns": "--columns NAME,NAME", "format": "--to FORMAT"}[name]
    if isinstance(value, list):
        return f"--{name} {','.join(map(quoted, value))}"
    return f"--{name} {in_shell('tab' if value == chr(9) else str(value))}"


def quoted(name: str) -> str:
    """Quote a column name so that a shell passes it on and an option reads it as one name."""
    if any(character in name for character in ',"\r\n') or name.startswith(" "):
        name = '"' + name.replace('"', '""') + '"'
    return in_shell(name)


def in_shell(text: str) -> str:
    """Quote a text so that a shell passes it on as one argument."""
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def _os_message(error: OSError) -> str:
    remedies: dict[type[OSError], str] = {
        FileNotFoundError: "check the path",
        IsADirectoryError: "name a file",
        NotADirectoryError: "check the path",
        PermissionError: "change its permissions or choose another path",
    }
    remedy = next((advice for kind, advice in remedies.items() if isinstance(error, kind)), "choose another path")
    where = error.filename2 or error.filename
    reason = (error.strerror or str(error)).lower()
    return f"{os.fsdecode(where)}: {reason}: {remedy}" if where else f"{reason}: {remedy}"
