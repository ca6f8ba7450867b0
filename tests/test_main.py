"""`python -m kfuse` is the command `kfuse`."""

import runpy
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest.importorskip("typer", reason="the command line needs typer")

from kfuse import __version__, cli


def run(*arguments):
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_is_the_command():
    done = run("kfuse", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kfuse {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["no-such-command"]])
def test_says_and_ends_the_same(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours, theirs = run("kfuse", *arguments), run("kfuse.cli", *arguments)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_calls_what_the_command_calls(monkeypatch):
    (command,) = entry_points(group="console_scripts", name="kfuse")
    assert command.load() is cli.main
    calls = []
    monkeypatch.setattr(cli, "main", lambda: calls.append("main"))
    runpy.run_module("kfuse", run_name="__main__")
    assert calls == ["main"]


def test_importing_it_runs_nothing(monkeypatch):
    monkeypatch.setattr(cli, "main", lambda: pytest.fail("the command ran"))
    runpy.run_module("kfuse.__main__", run_name="kfuse.__main__")
