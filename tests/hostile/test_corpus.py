"""Small files that once killed the process are refused in one line, under a cap on memory."""

import sys
from pathlib import Path

import pytest

from tests.hostile import corpus

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the memory limit of Linux")


def test_all_files_are_committed_and_small():
    committed = {path.name: path.stat().st_size for path in corpus.FOLDER.iterdir()}
    assert committed.keys() == {f"{name}.gz" for name in corpus.FILES}
    assert sum(committed.values()) < 200_000


def test_files_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = corpus.unpack(tmp_path)
    commands = [command for path in paths for command in corpus.commands_for(path)]
    before = sorted(tmp_path.iterdir())
    for command, ended in zip(commands, corpus.run(commands), strict=True):
        assert (ended.exit_code, ended.exception, ended.stdout) == (1, None, ""), command
        assert ended.stderr.startswith("kfuse: "), command
        assert ended.stderr.count("\n") == 1, command
        reason = "is compressed" if Path(command[1]).name in corpus.COMPRESSED else "would"
        assert reason in ended.stderr, command
        assert ended.seconds < 20, command
    assert sorted(tmp_path.iterdir()) == before


def test_a_plain_file_is_refused_where_there_is_no_room_for_it_and_read_where_there_is(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_bytes(b"x,y\n" + b"".join(b"%d.25,%d.5\n" % (i % 7, i % 5) for i in range(1_000_000)))
    commands = [["cluster", str(path), "-k", "2", "-o", str(tmp_path / out)] for out in ("none.csv", "labels.csv")]
    refused, ended = corpus.run(commands, [1800 << 20, 6 << 30])
    assert refused.exit_code == 1
    assert "plain.csv would take about" in refused.stderr
    assert not (tmp_path / "none.csv").exists()
    assert (ended.exit_code, ended.exception) == (0, None)
