"""Output files: existing ones are kept on failure, and those that cannot be written are rejected."""

import errno
import os
import subprocess
import sys

import pytest

from kfuse import files
from tests.cli.command_line import DATA, TWO, call, fails, needs_posix, run, run_each


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

    @needs_posix
    def test_permissions_and_links_stay(self, data):
        real, link = data.with_name("real.csv"), data.with_name("link.csv")
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to(real)
        assert call("cluster", data, "-k", 2, "-o", link).exit_code == 0
        assert link.is_symlink()
        assert real.read_text() == TWO
        assert real.stat().st_mode & 0o777 == 0o640

    @needs_posix
    def test_a_device_that_is_full(self, data):
        if not os.path.exists("/dev/full"):
            pytest.skip("this system has no /dev/full")
        fails(call("cluster", data, "-k", 2, "-o", "/dev/full"), "/dev/full: no space left on device: choose another")
        done = run("cluster", data, "-k", 2, stdout="/dev/full")
        assert done.returncode == 1
        assert done.stderr == b"kfuse: standard output: no space left on device: choose another path\n"

    @needs_posix
    def test_a_file_that_cannot_grow(self, data):
        targets = [data.with_name(name) for name in ("labels.csv", "labels.parquet", "labels.jsonl")]
        for out in targets:
            out.write_text("old")
        code = (
            "import resource, kfuse.cli, kfuse.files as files\n"
            "inner = files.write_file\n"
            "def limited(*arguments):\n"
            "    free = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
            "    resource.setrlimit(resource.RLIMIT_FSIZE, (16, free[1]))\n"
            "    try: inner(*arguments)\n"
            "    finally: resource.setrlimit(resource.RLIMIT_FSIZE, free)\n"  # coverage is written later
            "files.write_file = limited\n"
        )
        ended = run_each(*(["cluster", data, "-k", 2, "-o", out] for out in targets), prepare=code)
        for out, done in zip(targets, ended, strict=True):
            assert done.returncode == 1
            assert done.stderr.decode() == f"kfuse: {out}: file too large: choose another path\n"
            assert out.read_text() == "old"
        assert sorted(data.parent.iterdir()) == sorted([data, *targets])

    @pytest.mark.parametrize("command", ["cluster", "plot", "report"])
    def test_a_target_that_is_read_only_after_all(self, data, command, monkeypatch):
        def refuse(*_):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        out = data.with_name({"cluster": "out.csv", "plot": "out.png", "report": "out.html"}[command])
        out.write_text("old")
        monkeypatch.setattr(files.os, "replace", refuse)
        fails(call(command, data, "-o", out), str(out), "read-only file system", "choose another path")
        assert out.read_text() == "old"
        assert sorted(data.parent.iterdir()) == sorted([data, out])

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only for the root user")
    def test_a_folder_without_permission(self, data):
        data.parent.chmod(0o500)
        try:
            fails(call("cluster", data, "-o", data.with_name("labels.csv")), "permission denied")
        finally:
            data.parent.chmod(0o700)
        assert list(data.parent.iterdir()) == [data]

    @needs_posix
    def test_a_closed_pipe_ends_quietly(self, data):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", "kfuse.cli", "cluster", str(data), "-k", "2"]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (1, b"")

    @pytest.mark.parametrize("command", [["plot"], ["report"], ["cluster", "-k", "2"]])
    def test_the_input_is_not_overwritten_by_any_command(self, tmp_path, command):
        data = tmp_path / "data.png"
        data.write_text(DATA)
        fails(call(*command, data, "--from", "csv", "-o", data), "is the input")
