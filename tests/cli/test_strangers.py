"""Names and values that strangers bring: odd bytes, control codes, dollars, formulas, loops; none ends badly."""

import json
import os
import stat
import sys

import numpy as np
import polars as pl
import pytest

from kfuse import files
from kfuse.cli.errors import LONGEST
from kfuse.tables.writing import without_formulas
from kfuse.wording import printable
from tests.cli.command_line import DATA, call, fails, needs_posix, run, run_each

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode elsewhere")


@pytest.fixture
def odd(tmp_path):
    """Return a function that makes a file with an odd name, which holds the usual data."""

    def make(name):
        path = os.fsencode(tmp_path) + b"/" + name
        with open(path, "wb") as file:
            file.write(DATA.encode())
        return os.fsdecode(path)

    return make


class TestNamesOfFiles:
    @needs_linux
    def test_bytes_that_are_not_utf8(self, odd, tmp_path):
        path = odd(b"bad\xff.csv")
        assert call("report", path, "-o", tmp_path / "r.html").exit_code == 0
        assert "bad\\xff.csv" in (tmp_path / "r.html").read_text("utf-8")
        found, suggested = run_each(["cluster", path, "--json", "-k", 2], ["suggest", path])
        assert found.returncode == 0
        assert os.fsencode(json.loads(found.stdout)["data"]).endswith(b"bad\xff.csv")
        assert (suggested.returncode, suggested.stderr) == (0, b"")
        assert b"bad\\xff.csv: 8 rows" in suggested.stdout

    @needs_linux
    def test_control_codes_do_not_reach_the_terminal(self, odd, tmp_path):
        path = odd(b"\x1b[31mred\x9b.csv")
        for result in (call("suggest", path), call("cluster", path, "-k", 99), call("cluster", path + "x")):
            assert "\x1b" not in result.stdout + result.stderr
            assert "\\x1b[31mred" in result.stdout + result.stderr
        out = os.fsdecode(os.fsencode(tmp_path) + b"/\x1b[2J.csv")
        assert "\x1b" not in call("cluster", path, "-k", 2, "-o", out).stderr

    @needs_posix
    @pytest.mark.parametrize("command", ["cluster", "report", "plot"])
    def test_a_loop_of_links(self, data, command):
        ending = {"cluster": "csv", "report": "html", "plot": "png"}[command]
        loop, other = data.with_name(f"loop.{ending}"), data.with_name(f"other.{ending}")
        loop.symlink_to(other)
        other.symlink_to(loop)
        fails(call(command, data, "-o", loop), "symbolic links", "choose another path")
        with pytest.raises(OSError, match="symbolic links"):
            files.write_file(loop, b"x")

    def test_printable(self):
        assert printable("plain ünïcode 文字") == "plain ünïcode 文字"
        assert printable("a\x1b\x7f\x9b\udcff\ud800\u202e") == "a\\x1b\\x7f\\x9b\\xff\\ud800\\u202e"


@needs_posix
def test_a_locale_without_letters(odd, tmp_path):
    path = named = tmp_path / "data.csv"
    if sys.platform == "linux":
        named = odd("größe.csv".encode())
    path.write_text(DATA.replace("x,y", "größe,y"), "utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = run_each(
        ["suggest", path],
        ["cluster", path, "--keep"],
        ["report", named, "-o", tmp_path / "r.html"],
        ["cluster", named, "--json"],
        ["cluster", path, "--exclude", "none"],
        env={**os.environ, **locale},
    )
    assert [done.returncode for done in ended] == [0, 0, 0, 0, 1]
    assert all(b"Traceback" not in done.stderr for done in ended)
    assert b"choose from 'gr\\xf6\\xdfe', 'y'" in ended[-1].stderr


class TestNamesOfColumns:
    @pytest.mark.parametrize("kind", ["scatter", "profiles"])
    @pytest.mark.parametrize("names", ["$x$,$y_{$", "a$b$c,\\alpha", "x,$$"])
    def test_dollars_are_not_formulas(self, tmp_path, kind, names):
        path = tmp_path / "data.csv"
        path.write_text(DATA.replace("x,y", names))
        result = call("plot", path, "--kind", kind, "-o", tmp_path / "p.svg")
        assert result.exit_code == 0, result.stderr

    @pytest.mark.parametrize("command", [["plot", "-o", "p.png"], ["plot", "--kind", "profiles", "-o", "p.png"]])
    def test_a_megabyte_of_a_name(self, tmp_path, command, monkeypatch):
        monkeypatch.chdir(tmp_path)
        path = tmp_path / "data.csv"
        path.write_text(DATA.replace("x,y", "x" * 1_000_000 + ",y"))
        result = call(command[0], path, *command[1:])
        assert result.exit_code == 0
        assert len(result.stderr) < 1000
        result = call("cluster", path, "--exclude", "none")
        fails(result, "there is no column 'none'", "...")
        assert len(result.stderr) < LONGEST + 50


@pytest.mark.parametrize("scale", [1e300, 1.7e308, 1e-300, 5e-324])
def test_huge_values_in_three_columns(tmp_path, scale):
    X = np.random.default_rng(0).random((30, 3)) * scale
    path = tmp_path / "data.csv"
    pl.DataFrame(X, schema=["a", "b", "c"]).write_csv(path)
    for command in (["report", path, "-o", tmp_path / "r.html"], ["plot", path, "-o", tmp_path / "p.png"]):
        result = call(*command, "--no-scale", "-k", 2)
        assert result.exit_code == 0, result.stderr


class TestDataAtRisk:
    @needs_posix
    @pytest.mark.parametrize("name", ["-", "/dev/stdin"])
    def test_standard_input_is_not_overwritten(self, data, name):
        if not os.path.exists("/dev/stdin"):
            pytest.skip("this system has no /dev/stdin")
        done = run("cluster", name, "-k", 2, "-o", data, stdin=data)
        assert done.returncode == 1
        assert b"is the input, which would be overwritten" in done.stderr
        assert data.read_text() == DATA

    @needs_posix
    def test_standard_input_and_output_may_be_the_same_device(self, data):
        result = run("cluster", "-", "-k", 2, "-o", "/dev/null", stdin=DATA.encode())
        assert result.returncode == 0

    @needs_posix
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
    def test_what_is_private_stays_private_while_it_is_written(self, tmp_path, mode):
        out, seen = tmp_path / "labels.csv", []
        out.write_text("old")
        out.chmod(mode)
        with files.whole_file(out) as file:
            (temporary,) = (path for path in tmp_path.iterdir() if path != out)
            seen.append(stat.S_IMODE(temporary.stat().st_mode))
            file.write(b"new")
        assert seen[0] & ~mode == 0
        assert stat.S_IMODE(out.stat().st_mode) == mode
        assert out.read_bytes() == b"new"

    @needs_posix
    def test_a_new_file_follows_the_mask(self, tmp_path):
        before = os.umask(0o027)
        try:
            files.write_file(tmp_path / "labels.csv", b"new")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "labels.csv").stat().st_mode) == 0o640

    def test_formulas_can_be_guarded(self, tmp_path):
        path = tmp_path / "data.csv"
        cells = ["=cmd|' /C calc'!A0", "+1+2", "-2+3", "@SUM(A1)", "-1.5", "plain", "", "=1"]
        rows = DATA.splitlines()[1:]
        path.write_text("id,x,y\n" + "".join(f'"{cell}",{row}\n' for cell, row in zip(cells, rows, strict=True)))
        written = call("cluster", path, "--id", "id", "-k", 2).stdout
        assert written.splitlines()[1:3] == ["=cmd|' /C calc'!A0,0", "+1+2,0"]
        guarded = call("cluster", path, "--id", "id", "-k", 2, "--guard-formulas").stdout
        assert [line.rpartition(",")[0] for line in guarded.splitlines()[1:]] == [
            *("'=cmd|' /C calc'!A0", "'+1+2", "'-2+3", "'@SUM(A1)", "-1.5", "plain", '""', "'=1")
        ]
        typed = call("cluster", path, "--id", "id", "-k", 2, "--guard-formulas", "--to", "jsonl").stdout
        assert json.loads(typed.splitlines()[1])["id"] == "+1+2"

    def test_names_of_columns_are_guarded_and_numbers_are_not(self):
        frame = without_formulas(pl.DataFrame({"=x": [-1.5], "@y": [None], "z": ["-1e5"]}))
        assert frame.columns == ["'=x", "'@y", "z"]
        assert frame.row(0) == (-1.5, None, "-1e5")
