"""The command as a process: streams, signals, exit codes, a terminal, help, and missing dependencies."""

import os
import signal
import subprocess
import sys
import time

import pytest

from kfuse import __version__, cli, tables
from kfuse.cli import commands, console
from tests.cli.command_line import DATA, TWO, call, fails, needs_posix, run, start_and_run


class TestProcess:
    def test_stdin_to_stdout_is_labels_and_nothing_else(self):
        done = run("cluster", "-", "-k", 2, stdin=DATA.encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, TWO.encode(), b"")

    def test_failure_is_one_line_and_exit_code_1(self, tmp_path):
        done = run("cluster", tmp_path / "none.csv", "-k", 2)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"kfuse: ")
        assert done.stderr.count(b"\n") == 1
        assert b"none.csv" in done.stderr

    def test_usage_error_is_exit_code_2(self, data):
        done = run("cluster", data, "-k", 0)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Traceback" not in done.stderr

    @needs_posix
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("cluster - <&-", "standard input is closed: name a file"),
            ("cluster {data} >&-", "standard output is closed: open it, or name a file with -o"),
            ("cluster {data} -o - >&-", "standard output is closed"),
        ],
    )
    def test_closed_streams(self, data, arguments, words):
        command = f"'{sys.executable}' -m kfuse.cli {arguments.format(data=data)}"
        done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().startswith(f"kfuse: {words}")
        assert done.stderr.count(b"\n") == 1

    @needs_posix
    def test_closed_standard_error_says_nothing_elsewhere(self, data):
        command = f"'{sys.executable}' -m kfuse.cli cluster {data} -k 99 2>&-"
        done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (1, b"")

    @needs_posix
    def test_a_terminal_is_told_the_number_found(self, data):
        ours, theirs = os.openpty()
        done = run("cluster", data, "-o", data.with_name("labels.csv"), stderr=os.ttyname(theirs))
        assert done.returncode == 0
        told = os.read(ours, 100_000).decode()
        os.close(ours)
        os.close(theirs)
        assert done.stdout == b""
        assert "kfuse: 8 rows, found " in told

    def test_ctrl_c_leaves_no_file(self, data):
        code = (
            "import os, signal, kfuse.cli\n"
            "os.replace = lambda *paths: signal.raise_signal(signal.SIGINT)\n"  # as if pressed at the last moment
            "kfuse.cli.main()"
        )
        out = data.with_name("labels.csv")
        done = run("cluster", data, "-k", 2, "-o", out, code=code)
        assert done.returncode == 130
        assert b"Traceback" not in done.stderr
        assert list(data.parent.iterdir()) == [data]

    @needs_posix
    def test_ctrl_c_ends_the_wait_for_standard_input(self):
        code = (
            "import sys, kfuse.cli, kfuse.cli.input as input\n"
            "inner = input.standard_input\n"
            "input.standard_input = lambda: print('waiting', flush=True) or inner()\n"
            "kfuse.cli.main()"
        )
        command = [sys.executable, "-c", code, "cluster", "-", "-k", "2"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            assert process.stdout.readline() == b"waiting\n"
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(10) == 130
            finally:
                process.kill()
            assert b"Traceback" not in process.stderr.read()

    def test_says_what_to_install(self):
        done = start_and_run("demo", code="import sys; sys.modules['rich'] = None; import kfuse.cli; kfuse.cli.main()")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().splitlines() == ["kfuse: the command line needs rich: pip install 'kfuse[cli]'"]


@pytest.mark.parametrize("missing", ["typer", "polars"])
def test_says_what_to_install(missing, monkeypatch, capsys):
    for package, name in ((cli, "app"), (commands, "demo")):
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
        monkeypatch.delattr(package, name, raising=False)
    monkeypatch.setattr(sys, "argv", ["kfuse", "demo"])
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr() == ("", f"kfuse: the command line needs {missing}: pip install 'kfuse[cli]'\n")


def test_version():
    assert call("--version").stdout == f"kfuse {__version__}\n"


def test_main_raises_what_it_does_not_know(monkeypatch):
    monkeypatch.setitem(sys.modules, "kfuse.cli.app", None)
    with pytest.raises(ModuleNotFoundError):
        cli.main()


def test_too_little_memory_is_told(data, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(tables, "parse", fail, raising=False)
    fails(call("cluster", data), "not enough memory: use fewer rows or columns")


class TestTerminal:
    def test_without_unicode(self, monkeypatch):
        monkeypatch.setattr(console.Console, "encoding", "ascii")
        assert "█" not in call("suggest", "-", stdin=DATA).stdout

    @needs_posix
    def test_progress_and_summary(self, iris):
        ours, theirs = os.openpty()
        options = ("--exclude", "target", "--methods", "K-means")
        done = run("compare", iris, *options, stderr=os.ttyname(theirs))
        assert done.returncode == 0
        os.close(theirs)
        told = os.read(ours, 100_000).decode()
        os.close(ours)
        assert "[kfuse] neighbours" in told
        assert "K-means, 1 of 1" in told
        assert b"K-means" in done.stdout


class TestHelp:
    def test_every_command_explains_itself(self):
        told = call("--help").stdout
        for command in ("cluster", "suggest", "plot", "report", "compare", "demo", "datasets"):
            assert command in told
            assert call(command, "--help").exit_code == 0

    def test_help_imports_nothing_heavy(self):
        code = (
            "import sys, kfuse.cli\n"
            "try: kfuse.cli.main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'matplotlib', 'pandas', 'bokeh'}\n"
            "sys.exit(str(heavy & set(sys.modules) or 0))"
        )
        assert start_and_run("cluster", "--help", code=code).stderr == b"0\n"
