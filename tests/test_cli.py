"""The command line: output, exit codes, messages, and files that are whole or not there."""

import csv
import errno
import gzip
import io
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import polars as pl
import pytest
from command_line import DATA, TWO, call, fails, run

from kfuse import KFuse, __version__, cli, files
from kfuse.cli import clustering, columns
from kfuse.cli.options import Method
from kfuse.datasets import make_shapes


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    return path


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

    @pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
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

    @pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
    def test_closed_standard_error_says_nothing_elsewhere(self, data):
        command = f"'{sys.executable}' -m kfuse.cli cluster {data} -k 99 2>&-"
        done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (1, b"")

    @pytest.mark.skipif(os.name == "nt", reason="needs a terminal")
    def test_a_terminal_is_told_the_number_found(self, data):
        ours, theirs = os.openpty()
        command = [sys.executable, "-m", "kfuse.cli", "cluster", str(data), "-o", str(data.with_name("labels.csv"))]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, check=True)
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

    @pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
    def test_ctrl_c_ends_the_wait_for_standard_input(self):
        code = (
            "import sys, kfuse.cli, kfuse.cli.reading as reading\n"
            "inner = reading._standard_input\n"
            "reading._standard_input = lambda: print('waiting', flush=True) or inner()\n"
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
        done = run("demo", code="import sys; sys.modules['rich'] = None; import kfuse.cli; kfuse.cli.main()")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().splitlines() == ["kfuse: the command line needs rich: pip install 'kfuse[cli]'"]


@pytest.mark.parametrize("missing", ["typer", "polars"])
def test_says_what_to_install(missing, monkeypatch, capsys):
    for name in ("app", "demo"):
        monkeypatch.delitem(sys.modules, f"kfuse.cli.{name}", raising=False)
        monkeypatch.delattr(cli, name, raising=False)
    monkeypatch.setattr(sys, "argv", ["kfuse", "demo"])
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr() == ("", f"kfuse: the command line needs {missing}: pip install 'kfuse[cli]'\n")


class TestCluster:
    def test_writes_one_label_per_row(self, data):
        out = data.with_name("labels.csv")
        result = call("cluster", data, "-k", 2, "-o", out)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.startswith("kfuse: 8 rows, 2 clusters, ")
        assert result.stderr.endswith(f" s -> {out}\n")
        assert out.read_text() == TWO
        assert sorted(data.parent.iterdir()) == [data, out]

    def test_agrees_with_the_estimator_on_scaled_data(self):
        X, _ = make_shapes(300)
        X *= [1, 1000]
        text = "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in X.tolist())
        for option, Z in (("--scale", columns.scaled(X, ["x", "y"])), ("--no-scale", X)):
            result = call("cluster", "-", "-k", 7, option, stdin=text)
            found = pl.read_csv(io.StringIO(result.stdout))["label"].to_numpy()
            np.testing.assert_array_equal(found, KFuse(n_clusters=7).fit_predict(Z))

    def test_keep_hands_the_input_on_as_written(self, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text('id,"größe, cm",y\n007,1.50,1e0\n"a, b",1.0,1\n,9,8\n"q""q",9.10,8\n', encoding="utf-8")
        result = call("cluster", path, "-k", 1, "--keep", "--exclude", "id")
        assert result.stdout == ('id,"größe, cm",y,label\n007,1.50,1e0,0\n"a, b",1.0,1,0\n,9,8,0\n"q""q",9.10,8,0\n')

    @pytest.mark.parametrize("names", ['x,"a, b"', '"a, b", x'])
    def test_columns_takes_quoted_names(self, names):
        text = 'name,x,"a, b"\n' + "".join(f"n,{row}\n" for row in DATA.splitlines()[1:])
        assert call("cluster", "-", "-k", 2, "--columns", names, stdin=text).stdout == TWO

    @pytest.mark.parametrize(
        "text",
        [
            DATA.replace("\n", "\r\n"),
            DATA + "\n\r\n",
            "\ufeff" + DATA,
            DATA.rstrip(),
            DATA.replace(",", " , "),
            DATA.replace("x,y", "ä,日本"),
        ],
        ids=["windows", "empty last lines", "byte order mark", "no last newline", "spaces", "unicode header"],
    )
    def test_reads_what_programs_write(self, text):
        assert call("cluster", "-", "-k", 2, stdin=text.encode()).stdout == TWO

    def test_constant_columns_are_fine(self):
        text = "c," + DATA.replace("\n", "\n5,").removesuffix("5,")
        assert call("cluster", "-", "-k", 2, stdin=text).stdout == TWO

    def test_dash_is_standard_output(self, data):
        assert call("cluster", data, "-k", 2, "-o", "-").stdout == TWO

    def test_warnings_are_one_line_each(self, monkeypatch):
        class Warns(KFuse):
            def fit(self, X, y=None):
                warnings.warn("first\nand second line", stacklevel=2)
                warnings.warn("another", stacklevel=2)
                warnings.warn("not for users", DeprecationWarning, stacklevel=2)
                return super().fit(X, y)

        monkeypatch.setattr(clustering, "KFuse", Warns)
        result = call("cluster", "-", "-k", 2, stdin=DATA)
        assert (result.exit_code, result.stdout) == (0, TWO)
        assert result.stderr == "kfuse: warning: first and second line\nkfuse: warning: another\n"

    def test_finds_the_number(self):
        X, y = make_shapes()
        text = "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in X.tolist())
        found = pl.read_csv(io.StringIO(call("cluster", "-", stdin=text).stdout))["label"].to_numpy()
        np.testing.assert_array_equal(found, KFuse().fit_predict(columns.scaled(X, ["x", "y"])))
        assert found.max() == y.max()

    @pytest.mark.parametrize(
        ("n_clusters", "words"), [(None, "40 rows, found 2 clusters, "), (2, "40 rows, 2 clusters, ")]
    )
    def test_summary_says_if_the_number_was_found(self, n_clusters, words):
        X = np.random.RandomState(0).normal(size=(40, 2)) + 50 * (np.arange(40) % 2)[:, None]
        assert clustering.fit(X, Method(n_clusters), "data").summary.startswith(words)

    def test_one_row_or_one_value(self):
        assert call("cluster", "-", stdin="x\n1\n").stdout == "label\n0\n"
        assert call("cluster", "-", stdin="x\n1\n1\n1\n").stdout == "label\n0\n0\n0\n"

    def test_no_header_names_the_columns(self):
        text = DATA.removeprefix("x,y\n")
        assert call("cluster", "-", "-k", 2, "--no-header", stdin="\n" + text).stdout == TWO
        kept = call("cluster", "-", "-k", 2, "--no-header", "--keep", "--columns", "column_2", stdin=text).stdout
        assert kept.startswith("column_1,column_2,label\n0,0,0\n0.1,0,0\n")
        assert kept.count("\n") == 9

    def test_header_lets_numbers_be_names(self):
        assert call("cluster", "-", "-k", 2, "--header", stdin=DATA.replace("x,y", "0,1")).stdout == TWO

    @pytest.mark.parametrize(("name", "character"), [(";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|"), (",", ",")])
    def test_separator_is_that_of_input_and_output(self, name, character):
        text = DATA.replace(",", character)
        assert call("cluster", "-", "-k", 2, "--separator", name, stdin=text).stdout == TWO
        kept = call("cluster", "-", "-k", 1, "--separator", name, "--keep", stdin=text).stdout
        assert kept.splitlines()[:2] == [character.join(["x", "y", "label"]), character.join("000")]

    def test_a_given_separator_is_believed(self):
        assert call("cluster", "-", "--separator", ",", stdin="a|b\n1\n").stdout == "label\n0\n"

    @pytest.mark.parametrize(("header", "exclude"), [("x,y,", ""), ("x,y, z", '" z"'), ('x,y,"z\nz"', '"z\nz"')])
    def test_odd_names_can_be_left_out(self, header, exclude):
        text = header + "\n" + "".join(f"{row},\n" for row in DATA.splitlines()[1:])
        fails(call("cluster", "-", stdin=text), "no value", "--exclude '")
        assert call("cluster", "-", "-k", 2, "--exclude", exclude, stdin=text).stdout == TWO

    def test_reads_gzip(self):
        packed = gzip.compress(DATA.encode())
        assert call("cluster", "-", "-k", 2, stdin=packed).stdout == TWO
        fails(call("cluster", "-", stdin=packed[:-9]), "gzip, but broken")


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", ["standard input is empty"]),
            (" \n\n", ["standard input is empty"]),
            ("\ufeff", ["standard input is empty"]),
            ("x,y\n", ["header but no rows"]),
            ("x,name\n1,2\n3,Anna\n", ["'name'", "row 2", "'Anna'", "--columns NAME,NAME", "--exclude name"]),
            ('x,"a, b"\n1,p\n', ["'a, b'", """--exclude '"a, b"'"""]),
            ("x,y\n1,2\n3,\n", ["'y'", "no value", "row 2"]),
            ("x,y\n1,2\n3\n", ["'y'", "no value", "row 2"]),
            ("x,y\nNaN,2\n3,4\n", ["'x'", "'NaN'", "row 1"]),
            ("x,y\n1,2\n3,-inf\n", ["'y'", "infinity", "row 2"]),
            ("x,y\n1,2\n3,4,5\n", ["row 2", "3 values", "double quotes"]),
            ("x,y\n1,2\n", ["-k 2", "1 row of", "at most 1"]),
            ('x,y\n1,"2\n', ["standard input", "closed quotes"]),
            ("x,y\n1,ä\n".encode("latin-1"), ["line 2", "not UTF-8", "Latin-1", "convert"]),
            ("größe,y\n1,2\n".encode("latin-1"), ["line 1", "not UTF-8", "Latin-1", "convert"]),
            ("x,y\n1,2\n".encode("utf-16"), ["is UTF-16", "convert it to UTF-8"]),
            ("x,y\n1,2\n".encode("utf-16-be"), ["zero bytes", "UTF-16", "convert"]),
            ("x,y\n1,2\n1," + "9" * 200_000 + ",3\n", ["data row 2", "3 values, the header 2", "double quotes"]),
            ("5.1,3.5,5.1\n4.9,3,1\n", ["every column name", "a number", "--no-header"]),
            ("1,2\n", ["every column name", "--no-header"]),
            ("x;y\n1;2\n", ["';'", "--separator ';'"]),
            ("x;y\n1,5;2,5\n", ["';'", "--separator ';'"]),
            ("x\ty\n1\t2\n", ["a tab", "--separator tab"]),
            ("x|y\n1|2\n", ["'|'", "--separator '|'"]),
        ],
    )
    def test_is_told_in_one_line(self, text, words):
        fails(call("cluster", "-", "-k", 2, stdin=text), *words)

    def test_overlong_rows_leave_the_limit_of_csv(self):
        before = csv.field_size_limit()
        fails(call("cluster", "-", stdin="x\n1,2\n"), "data row 1")
        assert csv.field_size_limit() == before

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("1,2\n3,4,5\n", ["data row 2 has 3 values, the first row 2"]),
            ("1,2\n3,b\n", ["'column_2'", "data row 2 has 'b'", "--exclude column_2"]),
            ("1;2\n3;4\n", ["--separator ';'"]),
            ("\n", ["is empty"]),
        ],
    )
    def test_without_a_header(self, text, words):
        fails(call("cluster", "-", "--no-header", stdin=text), *words)

    @pytest.mark.parametrize("separator", ["", "ab", '"', "\n", "ä"])
    def test_separators_that_cannot_be(self, data, separator):
        fails(call("cluster", data, "--separator", separator), "--separator", "';', or tab")

    @pytest.mark.parametrize("option", ["--columns", "--exclude"])
    def test_line_breaks_between_names(self, data, option):
        fails(call("cluster", data, option, "a\nb"), rf"{option} 'a\nb'", "line break", "commas", "double quotes")

    def test_folder_or_missing_file(self, tmp_path):
        fails(call("cluster", tmp_path, "-k", 2), str(tmp_path), "directory", "name a file")
        fails(call("cluster", tmp_path / "no.csv", "-k", 2), "no.csv", "no such file", "check the path")

    def test_unknown_columns(self, data):
        fails(call("cluster", data, "-k", 2, "--columns", "x,z"), "'z'", "choose from 'x', 'y'")
        fails(call("cluster", data, "-k", 2, "--exclude", "z"), "'z'")
        fails(call("cluster", data, "-k", 2, "--exclude", "x,y"), "no column is left")

    def test_keep_with_a_label_column(self):
        fails(call("cluster", "-", "-k", 1, "--keep", stdin="x,label\n1,2\n"), "'label'", "--label NAME")

    @pytest.mark.parametrize("arguments", [["-k", "0"], ["-k", "two"], ["-k", "2", "--what"]])
    def test_usage_errors(self, data, arguments):
        result = call("cluster", data, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")


class TestTargets:
    def test_folder_or_missing_folder(self, data):
        fails(call("cluster", data, "-k", 2, "-o", data.parent), str(data.parent), "name a file")
        fails(call("cluster", data, "-k", 2, "-o", data.parent / "no" / "l.csv"), "no such folder")

    def test_no_permission(self, data, monkeypatch):
        monkeypatch.setattr(os, "access", lambda *_: False)
        fails(call("cluster", data, "-k", 2, "-o", data.with_name("l.csv")), "l.csv", "permission denied")

    def test_a_full_disk(self, data, monkeypatch):
        def fail(_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fail)
        fails(call("cluster", data, "-k", 2, "-o", data.with_name("l.csv")), "l.csv", "no space left")
        assert list(data.parent.iterdir()) == [data]

    def test_the_input_is_not_overwritten(self, data):
        fails(call("cluster", data, "-k", 2, "-o", data), "is the input", "-o")
        assert data.read_text() == DATA

    def test_a_failure_keeps_the_old_file(self, data):
        out = data.with_name("labels.csv")
        out.write_text("old")
        fails(call("cluster", data, "-k", 99, "-o", out), "-k 99")
        assert out.read_text() == "old"

    @pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ValueError])
    def test_whole_or_not_at_all(self, tmp_path, error):
        out = tmp_path / "labels.csv"
        out.write_text("old")

        def write_half():
            with files.whole_file(out) as handle:
                handle.write(b"half")
                raise error

        with pytest.raises(error):
            write_half()
        assert out.read_text() == "old"
        assert list(tmp_path.iterdir()) == [out]

    @pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions and links")
    def test_permissions_and_links_stay(self, data):
        real, link = data.with_name("real.csv"), data.with_name("link.csv")
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to(real)
        assert call("cluster", data, "-k", 2, "-o", link).exit_code == 0
        assert link.is_symlink()
        assert real.read_text() == TWO
        assert real.stat().st_mode & 0o777 == 0o640

    @pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
    def test_a_pipe_is_written_directly(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with files.whole_file(pipe) as handle:
            handle.write(b"label")
        assert os.read(reader, 10) == b"label"
        os.close(reader)
        assert pipe.is_fifo()


class TestDemo:
    def test_writes_data_labels_and_picture(self, tmp_path):
        folder = tmp_path / "a" / "b"
        result = call("demo", "--out", folder)
        assert result.exit_code == 0
        assert sorted(path.name for path in folder.iterdir()) == ["clusters.png", "data.csv", "labels.csv"]
        assert (folder / "clusters.png").read_bytes().startswith(b"\x89PNG")
        assert "1,000 rows, found 7 clusters" in result.stdout
        for name in ("data.csv", "labels.csv", "clusters.png"):
            assert str(folder / name) in result.stdout
        assert "data.csv -o labels.csv\n" in result.stdout
        again = call("cluster", folder / "data.csv")
        assert again.stdout == (folder / "labels.csv").read_text()

    def test_works_without_matplotlib(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        result = call("demo", "--out", tmp_path)
        assert result.exit_code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "labels.csv"]
        assert "pip install 'kfuse[plot]'" in result.stdout

    def test_a_file_in_place_of_the_folder(self, data):
        fails(call("demo", "--out", data), str(data), "choose another path")
        assert data.read_text() == DATA


def test_version():
    assert call("--version").stdout == f"kfuse {__version__}\n"


def test_main_raises_what_it_does_not_know(monkeypatch):
    monkeypatch.setitem(sys.modules, "kfuse.cli.app", None)
    with pytest.raises(ModuleNotFoundError):
        cli.main()
