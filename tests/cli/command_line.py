"""Helpers that the tests of the command line share."""

import os
import subprocess
import sys

import polars as pl
import pytest
from sklearn.preprocessing import minmax_scale
from typer.testing import CliRunner

from kfuse.cli.app import app

DATA = "x,y\n0,0\n0.1,0\n0,0.1\n0.1,0.1\n9,9\n9.1,9\n9,9.1\n9.1,9.1\n"
HOLES = "x,y\n0,0\n0.1,\n0,0.1\nNA,0.1\n9,9\n9.1,9\n9, n/a\n9.1,9.1\n"
TWO = "label\n0\n0\n0\n0\n1\n1\n1\n1\n"

needs_posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def run(*arguments, code=None, stdin=b""):
    """Run the command, or the given code instead, in a process of its own."""
    start = ["-m", "kfuse.cli"] if code is None else ["-c", code]
    command = [sys.executable, *start, *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=60)


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
