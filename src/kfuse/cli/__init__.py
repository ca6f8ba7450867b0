"""The command line, `kfuse`."""

from __future__ import annotations

import io
import sys

NEEDS = {"typer", "rich", "polars"}


def main() -> None:
    """Run the command line, or print in one line what to install."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None if it is closed
            stream.reconfigure(errors="backslashreplace")  # in the C locale, names may have letters that it lacks
    try:
        from kfuse.cli.app import app  # noqa: PLC0415 - its dependencies are optional

        app(prog_name="kfuse")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in NEEDS:
            raise
        print(f"kfuse: the command line needs {missing}: pip install 'kfuse[cli]'", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
