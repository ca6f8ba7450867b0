"""Damaged, truncated, empty, lying and exploding files are read, or refused in one line."""

import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kfuse.tables import TableError, gate, reading
from kfuse.tables.formats import WRITABLE
from tests.cli.command_line import DATA, call, fails
from tests.tables.in_memory import FRAME, POINTS, saved, written


def damaged(content, times=40):
    """Yield copies of a file with some bytes changed, and some truncated."""
    rng = np.random.RandomState(0)
    for _ in range(times):
        copy = bytearray(content)
        for position in rng.randint(len(copy), size=rng.choice([1, 2, 8])):
            copy[position] = rng.randint(256)
        yield bytes(copy[: rng.randint(len(copy))] if rng.rand() < 0.3 else copy)


@pytest.mark.parametrize("form", [*WRITABLE, "npy", "npz", "stream"])
def test_damaged_files_are_read_or_refused_in_one_line(form, tmp_path, capfd):
    stream = io.BytesIO()
    FRAME.write_ipc_stream(stream)
    whole = {"npy": saved(POINTS), "npz": saved(X=POINTS, compressed=True), "stream": stream.getvalue()}
    path, told = tmp_path / "data", []
    for content in damaged(whole.get(form) or written(FRAME, form)):
        path.write_bytes(content)
        try:
            assert reading.read(path).frame.height > 0
        except TableError as error:
            told.append(str(error))
    assert told
    assert all(str(path) in words for words in told)
    assert capfd.readouterr().err == ""


class TestBombs:
    @pytest.fixture(autouse=True)
    def _little_memory(self, monkeypatch):
        monkeypatch.setattr(gate, "max_bytes", lambda: 100_000)

    def test_zip(self):
        bomb = saved(X=np.zeros((10**6, 2)), compressed=True)
        assert len(bomb) < 100_000
        fails(call("cluster", "-", stdin=bomb), "would take about", "of memory")

    @pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
    def test_values_that_json_does_not_have(self, value):
        for text in (f'[{{"x": 1}}, {{"x": {value}}}]', f'{{"x": 1}}\n{{"x": {value}}}\n'):
            fails(call("cluster", "-", stdin=text), "it has NaN or Infinity, which JSON does not: write null instead")

    def test_gzip(self):
        fails(call("cluster", "-", stdin=gzip.compress(b"x\n" + b"1\n" * 10**6)), "would take about", "of memory")

    def test_parquet(self):
        bomb = written(pl.DataFrame({"x": np.zeros(10**6)}), "parquet")
        assert len(bomb) < 100_000
        fails(call("cluster", "-", stdin=bomb), "would take about", "of memory")


class TestBrokenFiles:
    @pytest.mark.parametrize("form", ["parquet", "arrow"])
    def test_cut_off(self, form):
        content = written(FRAME, form)
        for end in (len(content) // 2, len(content) - 1, 12):
            fails(call("cluster", "-", stdin=content[:end]), "standard input cannot be read as", "truncated")

    @pytest.mark.parametrize("form", WRITABLE)
    def test_empty(self, form, tmp_path):
        path = tmp_path / f"data.{form}"
        path.write_bytes(b"")
        fails(call("cluster", path), f"data.{form} is empty", "provide a table with rows")

    @pytest.mark.parametrize("form", ["parquet", "arrow", "json"])
    def test_no_rows(self, form):
        fails(call("cluster", "-", stdin=written(FRAME.clear(), form) if form != "json" else b"[]"), "no rows")

    @pytest.mark.parametrize("form", [*WRITABLE, "npy", "npz"])
    def test_one_row(self, form):
        one = pl.DataFrame({"x": [1.5], "y": [2]})
        content = {"npy": saved(one.to_numpy()), "npz": saved(X=one.to_numpy())}.get(form) or written(one, form)
        assert call("cluster", "-", "--from", form, stdin=content).stdout == "label\n0\n"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("[1, 2]", ["JSON", "array of objects"]),
            ('{"x": 1}\n{"x": \n', ["JSON lines", "one object per line"]),
            ('[{"x": 1}, {"x": ', ["JSON", "array of objects"]),
        ],
    )
    def test_json(self, text, words):
        fails(call("cluster", "-", stdin=text), *words)

    @pytest.mark.parametrize(
        "start", [b"", b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x93NUMPY", b"PK\x03\x04", b"{", b"["]
    )
    def test_random_bytes(self, start):
        rng = np.random.RandomState(0)
        for size in (1, 9, 200, 5000):
            noise = start + rng.bytes(size)
            result = call("cluster", "-", stdin=noise)
            fails(result, "standard input")

    @pytest.mark.parametrize("form", ["parquet", "arrow", "npy", "npz", "json", "jsonl"])
    def test_a_name_that_lies(self, form, tmp_path):
        path = tmp_path / f"data.{form}"
        path.write_text(DATA)
        fails(call("cluster", path), f"data.{form} cannot be read as")

    def test_old_feather(self):
        fails(call("cluster", "-", stdin=b"FEA1" + b"\0" * 50), "version 2 of Feather")


@pytest.mark.parametrize("how", [{}, {"orient": "split"}, {"orient": "index"}])
@pytest.mark.parametrize("name", ["data.json", "standard input"])
def test_a_table_that_is_written_by_columns_is_told_how_to_write_it(how, name):
    content = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}).to_json(**how).encode()
    with pytest.raises(TableError, match=r'array of objects, .* or JSON lines; .* to_json\(orient="records"\)'):
        reading.parse(content, name)
