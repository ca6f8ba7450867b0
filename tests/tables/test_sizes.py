"""Estimates of memory: not below what a table takes, also where headers are crafted, and refused if damaged."""

import io
import math
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kfuse import memory
from kfuse.tables import TableError, gate, reading
from kfuse.tables.sizes import arrow, objects, parquet, separated, zstandard
from kfuse.tables.sizes.errors import DamagedError
from tests.tables.in_memory import FRAME

N = 5000
TABLES = {
    "numbers": pl.DataFrame({"a": np.arange(N) / 7, "b": np.arange(N), "c": np.arange(N) % 2 == 0}),
    "text": pl.DataFrame({"a": [f"this is text number {i}" for i in range(N)], "b": ["short"] * N}),
    "nested": pl.DataFrame({"a": [[1, 2, 3]] * N, "b": [{"x": 1.0, "y": "z"}] * N}),
    "nulls": pl.DataFrame({"a": pl.Series([None] * N, dtype=pl.Null), "b": [None, 1.5] * (N // 2)}),
    "categories": pl.DataFrame({"a": pl.Series(["one", "two"] * (N // 2), dtype=pl.Categorical)}),
    "mixed": FRAME,
}


def saved(save, **options):
    file = io.BytesIO()
    save(file, **options)
    return file.getvalue()


@pytest.mark.parametrize("frame", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
def test_arrow(frame, compression):
    size = frame.estimated_size()
    assert size <= arrow.size_of(saved(frame.write_ipc, compression=compression)) < 40 * size + 1000
    assert size <= arrow.size_of(saved(frame.write_ipc_stream, compression=compression)) < 40 * size + 1000


@pytest.mark.parametrize("frame", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    "options", [{"compression": "snappy"}, {"compression": "zstd", "row_group_size": 100}], ids=str
)
def test_parquet(frame, options):
    size = frame.estimated_size()
    assert size <= parquet.size_of(saved(frame.write_parquet, **options)) < 100 * size + 1000


@pytest.mark.parametrize("version", ["1.0", "2.6"])
@pytest.mark.parametrize("page", ["1.0", "2.0"])
def test_files_of_another_writer(version, page, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": np.zeros(N), "t": ["text"] * N, "l": [[1, 2]] * N})
    pq.write_table(table, tmp_path / "a.parquet", version=version, data_page_version=page, compression="gzip")
    content = (tmp_path / "a.parquet").read_bytes()
    assert 8 * N < parquet.size_of(content) < 200 * N
    assert reading.parse(content, "a").frame.height == N
    for kind in (pa.RecordBatchFileWriter, pa.RecordBatchStreamWriter):
        sink = pa.BufferOutputStream()
        with kind(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table, max_chunksize=100)
        content = sink.getvalue().to_pybytes()
        assert 8 * N < arrow.size_of(content) < 200 * N
        assert reading.parse(content, "a").frame.height == N


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
def test_damaged_metadata_is_told_from_large(form):
    """No change of a byte makes the estimate hang, crash or raise anything else."""
    frame = TABLES["mixed"]
    write = {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "stream": frame.write_ipc_stream}[form]
    content, size_of = saved(write), parquet.size_of if form == "parquet" else arrow.size_of
    rng, told = np.random.default_rng(0), 0
    for _ in range(500):
        changed = bytearray(content)
        for position in rng.integers(0, len(content), rng.integers(1, 5)):
            changed[position] = rng.integers(256)
        try:
            assert size_of(bytes(changed[: rng.integers(1, len(content) + 1)] if rng.random() < 0.3 else changed)) >= 0
        except DamagedError:
            told += 1
    assert told


def test_a_page_counts_as_it_declares_itself():
    """Its header says 2 GB once decompressed and 7 values; the footer may say anything."""
    header = b"\x15\x00\x15\xfe\xff\xff\xff\x0f\x15\x14\x2c\x15\x0e\x00\x00"
    content = b"PAR1" + header + b"0123456789" + header + b"0123456789"
    described = {9: 4, 7: len(content) - 4}
    assert list(parquet._pages(content, described)) == [(2**31 - 1, 7), (2**31 - 1, 14)]
    group = {1: [{3: {1: 5, 3: [b"x"], 5: 1, 6: 8, **described}}], 3: 1}
    assert parquet._size_of_table(content, {2: [{5: 1}, {1: 5}], 3: 1, 4: [group]}) > 2**32
    with pytest.raises(DamagedError, match="overlap"):
        parquet._size_of_table(content, {2: [{5: 1}, {1: 5}], 3: 1, 4: [group] * 10})


def test_a_batch_counts_as_often_as_the_footer_lists_it():
    content = saved(pl.DataFrame({"a": np.zeros(1000)}).write_ipc, compression="zstd")
    (length,) = struct.unpack_from("<i", content, len(content) - 10)
    assert arrow.size_of(content) >= 16_000
    with pytest.raises(DamagedError, match="footer"):
        arrow.size_of(content[:-10] + struct.pack("<i", length + 10**6) + content[-6:])
    with pytest.raises(DamagedError, match="footer"):
        arrow.size_of(content[:-1])


@pytest.mark.parametrize(
    ("content", "n_values"),
    [
        (b"a,b\n1,2\n3,4\n", 8),
        (b"a,b,c\n1\n", 9),
        (b'"a\nb,c",d\n1,2\n', 12),
        (b'"never closed,,,\n,,', 12),
    ],
)
def test_separated(content, n_values):
    assert separated.estimate(content, ",").n_values == n_values


@pytest.mark.parametrize("nested", [False, True])
def test_keys_are_counted_only_if_they_may_be_too_many(nested):
    def content(n, n_keys):
        key = '{"k":{"%x":1}}' if nested else '{"%x":1}'
        return ("[" + ",".join(key % (i % n_keys) for i in range(n)) + "]").encode()

    assert not objects.estimate(content(1000, 1000), lines=False).is_ragged
    assert not objects.estimate(content(10_000, 50), lines=False).is_ragged
    assert objects.estimate(content(10_000, 9_000), lines=False).is_ragged


def test_strings_are_not_keys():
    content = b"[" + b",".join(b'{"a":"\\"%d\\": {", "b":"c:%d"}' % (i, i) for i in range(10_000)) + b"]"
    assert not objects.estimate(content, lines=False).is_ragged
    assert reading.parse(content, "x.json").frame.columns == ["a", "b"]


def test_zstandard():
    raw = b"x\n1\n2\n"
    frame = b"\x28\xb5\x2f\xfd\x20" + bytes([len(raw)]) + (len(raw) << 3 | 1).to_bytes(3, "little") + raw
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"abcd"
    assert zstandard.size_of(frame) == len(raw)
    assert zstandard.size_of(skipped + frame + frame) == 2 * len(raw)
    assert reading.parse(frame, "x").frame["x"].to_list() == ["1", "2"]
    with pytest.raises(DamagedError, match="truncated"):
        zstandard.size_of(frame[:7])
    with pytest.raises(TableError, match="Zstandard"):
        reading.parse(frame[:7], "x")
    with pytest.raises(TableError, match="zero bytes"):
        reading.parse(frame[:6] + frame[6:9] + b"x\0y\n2\n", "x")


# The memory that there is


def test_what_is_free_counts_where_it_is_less_than_half(monkeypatch, tmp_path):
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 999 kB\nMemAvailable: 1000 kB\n")
    monkeypatch.setattr(memory, "OF_MACHINE", told)
    assert memory.available() == 1_024_000
    told.write_text("nothing")
    assert memory.available() > 1_024_000
    limit = tmp_path / "limit"
    limit.write_text("4096\n")
    monkeypatch.setattr(memory, "OF_CONTAINER", (str(limit), "/nowhere"))
    assert memory.available() == 2048
    limit.write_text("max\n")
    assert memory.available() > 2048


def test_where_the_system_reports_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_total_memory", lambda: math.inf)
    monkeypatch.setattr(memory, "OF_CONTAINER", ("/nowhere", "/nowhere"))
    monkeypatch.setattr(memory, "OF_MACHINE", Path("/nowhere"))
    monkeypatch.setattr(memory, "_left_to_limit", lambda: math.inf)
    assert memory.available() == memory.USUAL_MEMORY // 2


def test_the_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 50, 1 << 50))
    assert 0 < memory._left_to_limit() < 1 << 50
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    assert memory.available() == 0
    monkeypatch.setattr(memory, "OF_PROCESS", Path("/nowhere"))
    assert memory._left_to_limit() == 1000


def test_a_stream_that_never_ends(monkeypatch):
    monkeypatch.setattr(gate, "max_bytes", lambda: 1 << 26)
    with open("/dev/zero", "rb") as endless, pytest.raises(TableError, match="zero would take about"):
        gate.read_stream(endless, "zero")


@pytest.mark.parametrize(
    ("column", "size"),
    [
        (pl.Series(["x" * 1000, None]), 1000),
        (pl.Series([b"x" * 1000]), 2000),
        (pl.Series(["x" * 1000, "y"], dtype=pl.Categorical), 2000),
        (pl.Series([1, 10**9]), 20),
        (pl.Series([1.5, 2.5]), 50),
        (pl.Series("a", ["x" * 1_000_000]).new_from_index(0, 5000), 5 * 10**9),
    ],
)
def test_the_size_as_text(column, size):
    assert size <= gate.text_size(column) < 1.5 * size + 10
