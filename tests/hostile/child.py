"""Run code in a separate Python process, where a fault can be injected."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.forked import run_code

ROOT = Path(__file__).parents[2]
PREPARED = """
    import json, os, resource, signal, sys, threading, time
    import numpy as np
    from kfuse import KFuse
    rng = np.random.default_rng(0)
    small = rng.random((300, 2))

    def say(*values):
        print(*values, flush=True)
"""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start Python with some code, preceded by the common lines."""
    whole = textwrap.dedent(PREPARED) + textwrap.dedent(code)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", whole],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def run(code: str, seconds: float = 300, stdin: str = "", **environment: str) -> str:
    """Run code as `start` does, in a process that is forked, and return its output; fail if it failed."""
    ended = run_code(
        textwrap.dedent(PREPARED) + textwrap.dedent(code), stdin=stdin.encode(), seconds=seconds, **environment
    )
    assert ended.returncode == 0, f"exit code {ended.returncode}: {ended.stderr.decode()[-2000:]}"
    return ended.stdout.decode()


def finish(process: subprocess.Popen[str], seconds: float = 300) -> str:
    """Wait for the process to end and return its output; fail if it failed."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, f"exit code {process.returncode}: {err[-2000:]}"
    return out
