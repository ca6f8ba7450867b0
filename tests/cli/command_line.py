"""Helpers that the tests of the command line share."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest
from sklearn.preprocessing import minmax_scale
from typer.testing import CliRunner

from kfuse.cli.app import app
from tests.forked import COMMAND, Ended, run_code

DATA = "x,y\n0,0\n0.1,0\n0,0.1\n0.1,0.1\n9,9\n9.1,9\n9,9.1\n9.1,9.1\n"
HOLES = "x,y\n0,0\n0.1,\n0,0.1\nNA,0.1\n9,9\n9.1,9\n9, n/a\n9.1,9.1\n"
TWO = "label\n0\n0\n0\n0\n1\n1\n1\n1\n"

# Runs several commands, each up to a ";"; writes a mark after the output of each, and all exit codes at the end.
ONE_BY_ONE = """
import json, os, sys, kfuse.cli
codes, given = [], sys.argv[1:]
while given:
    place = given.index(";")
    sys.argv[1:], given = given[:place], given[place + 1:]
    try:
        kfuse.cli.main()
    except SystemExit as end:
        codes.append(end.code or 0)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.write(stream.fileno(), b"\\x1e")
os.write(1, json.dumps(codes).encode())
"""

needs_posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def run(*arguments, code=COMMAND, **streams):
    """Run the command, or the given code instead, in a process of its own."""
    return run_code(code, *arguments, **streams)


def start_and_run(*arguments, code=COMMAND):
    """Run the command as `run` does, in a process that starts with Python itself."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)


def run_each(*commands, prepare="", env=None):
    """Run commands one after the other in one process; one with another environment takes long to start."""
    given = [str(part) for command in commands for part in (*command, ";")]
    code = prepare + ONE_BY_ONE
    if env is None:
        done = run_code(code, *given)
    else:
        done = subprocess.run(
            [sys.executable, "-c", code, *given], capture_output=True, timeout=120, env=env, check=False
        )
    assert done.returncode == 0, done.stderr
    *outputs, codes = done.stdout.split(b"\x1e")
    return list(map(Ended, json.loads(codes), outputs, done.stderr.split(b"\x1e")))


def call(*arguments, stdin=None):
    """Run the command in this process, which is faster."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=stdin, catch_exceptions=False)


def fails(result, *words):
    """Check for exit code 1, an empty standard output, and one line with the words."""
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("kfuse: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def load(path):
    """Load the columns of a table, scaled as the command does."""
    return minmax_scale(pl.read_csv(path).to_numpy())
