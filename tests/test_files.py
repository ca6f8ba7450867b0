"""Atomic writes: a file is written completely or not at all."""

import os

import pytest

from kfuse import files


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ValueError])
def test_whole_or_not_at_all(tmp_path, error):
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


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_a_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with files.whole_file(pipe) as handle:
        handle.write(b"label")
    assert os.read(reader, 10) == b"label"
    os.close(reader)
    assert pipe.is_fifo()


def test_write_file_replaces_the_content(tmp_path):
    out = tmp_path / "labels.csv"
    out.write_text("old")
    files.write_file(out, b"new")
    assert out.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [out]
