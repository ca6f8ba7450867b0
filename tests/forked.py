"""Run code in a process of its own that need not import scikit-learn and numba, which takes seconds.

The process is forked from one that has imported them, see `tests.preloaded`. For what a process leaves (exit code,
streams, files, limits) that is as good as a new one; tests of imports, closed streams, locales and of the first fit
start Python itself.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

COMMAND = "import kfuse.cli; kfuse.cli.main()"
CAN_FORK = sys.platform == "linux"
if CAN_FORK:
    from multiprocessing import forkserver

    CONTEXT = multiprocessing.get_context("forkserver")


class Ended(NamedTuple):
    """What a process left."""

    returncode: int
    stdout: bytes
    stderr: bytes


def start_server() -> None:
    """Start the process that others are forked from, unless it runs.

    There is one for all that fork in this way, and the first to start it decides what it imports: Dask, which knows
    nothing of kfuse, would have every worker import it.
    """
    if CAN_FORK:
        CONTEXT.set_forkserver_preload(["tests.preloaded", "kfuse.dask"])
        forkserver.ensure_running()


def run_code(
    code: str,
    *arguments: object,
    stdin: bytes | Path = b"",
    stdout: str | None = None,
    stderr: str | None = None,
    seconds: float = 120,
    **environment: str,
) -> Ended:
    """Run code with `sys.argv[1:]`; the streams are files, or devices that are named."""
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / stream for stream in ("stdin", "stdout", "stderr")]
        for file in files:
            file.touch()
        if isinstance(stdin, bytes):
            files[0].write_bytes(stdin)
        streams = [str(stdin) if isinstance(stdin, Path) else str(files[0]), stdout or files[1], stderr or files[2]]
        start = _start if CAN_FORK else _start_anew
        returncode = start(code, list(map(str, arguments)), list(map(str, streams)), environment, seconds)
        return Ended(returncode, files[1].read_bytes(), files[2].read_bytes())


def _start(
    code: str, arguments: Sequence[str], streams: Sequence[str], environment: dict[str, str], seconds: float
) -> int:
    start_server()
    whole = {**os.environ, **environment}
    process = CONTEXT.Process(target=_play, args=(code, arguments, streams, whole, os.getcwd()))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(code, seconds)
    return process.exitcode


def _start_anew(
    code: str, arguments: Sequence[str], streams: Sequence[str], environment: dict[str, str], seconds: float
) -> int:
    with open(streams[0], "rb") as given, open(streams[1], "wb") as out, open(streams[2], "wb") as err:
        command = [sys.executable, "-c", code, *arguments]
        whole = {**os.environ, **environment}
        return subprocess.run(
            command, stdin=given, stdout=out, stderr=err, check=False, timeout=seconds, env=whole
        ).returncode


def _play(
    code: str, arguments: Sequence[str], streams: Sequence[str], environment: dict[str, str], folder: str
) -> None:
    """Be a new process: its environment, folder, streams and arguments."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, (path, flags) in enumerate(zip(streams, (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True)):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.argv = ["kfuse", *arguments]
    exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})
