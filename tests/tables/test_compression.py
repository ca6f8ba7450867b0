"""Compressed files are decompressed under the gate or refused; polars never decompresses what it is handed."""

import bz2
import gzip
import lzma
import zlib

import numpy as np
import pytest

from kfuse.tables import TableError, parse
from kfuse.tables.compression import ZLIB, decompressed, marked
from tests.cli.command_line import call, fails

CSV = b"x,y\n1,2\n3,4\n"
TABLES = {"data.csv": CSV, "data.json": b'[{"x":1},{"x":2}]', "data.jsonl": b'{"x":1}\n{"x":2}\n'}


@pytest.mark.parametrize("name", TABLES)
class TestRefused:
    @pytest.mark.parametrize("level", range(-1, 10))
    def test_zlib_at_every_level(self, name, level):
        content = zlib.compress(TABLES[name], level)
        assert content.startswith(ZLIB)
        with pytest.raises(TableError, match=f"{name} is compressed with zlib: decompress it first, or compress the"):
            parse(content, name)

    def test_gzip_in_gzip(self, name):
        with pytest.raises(TableError, match=f"{name} is compressed twice: decompress it first"):
            parse(gzip.compress(gzip.compress(TABLES[name])), name)

    def test_zlib_in_gzip(self, name):
        with pytest.raises(TableError, match="compressed with zlib"):
            parse(gzip.compress(zlib.compress(TABLES[name])), name)


@pytest.mark.parametrize("name", ["data.json", "data.jsonl"])
def test_json_that_begins_as_zlib_is_never_read_in_part(name):
    whole = zlib.compress(TABLES[name] * 5)
    for length in range(2, len(whole)):
        with pytest.raises(TableError, match="compressed with zlib"):
            parse(whole[:length], name)


@pytest.mark.parametrize("name", TABLES)
def test_a_byte_order_mark_hides_nothing(name):
    mark, table = b"\xef\xbb\xbf", TABLES[name]
    expected = parse(table, name).frame
    for content in (mark + table, mark + gzip.compress(table), gzip.compress(mark + table)):
        assert parse(content, name).frame.equals(expected)
    for inner in (gzip.compress(table), zlib.compress(table)):
        with pytest.raises(TableError, match="compressed"):
            parse(gzip.compress(mark + inner), name)


@pytest.mark.parametrize(
    ("compress", "word"),
    [(bz2.compress, "bzip2"), (lzma.compress, "xz"), (lambda text: b"\x50\x2a\x4d\x18", "Zstandard")],
)
def test_other_compression_is_named(compress, word):
    for name, table in TABLES.items():
        with pytest.raises(TableError, match=rf"{name} .*{word}: decompress it first"):
            parse(compress(table), name)


def test_much_zlib_is_recognised_by_its_beginning():
    """It is cut off, so that it has no end to be recognised by."""
    with pytest.raises(TableError, match="compressed with zlib"):
        decompressed(zlib.compress(bytes(10**6))[:-10], "data.json")


@pytest.mark.parametrize("first", ["x^2", "x^", "x^y", "x\x01", "x^2 + 1"])
def test_a_first_column_whose_name_begins_as_zlib_does(first):
    ended = call("cluster", "-", "-k", 2, "--keep", stdin=f"{first},b\n1,2\n1,3\n9,8\n")
    assert ended.stdout == f"{first},b,label\n1,2,0\n1,3,0\n9,8,1\n"


def test_the_same_without_a_header():
    ended = call("cluster", "-", "--no-header", "--columns", "column_2", "-k", 2, stdin="x^2,1\nx^3,1.5\ny,9\n")
    assert ended.stdout == "label\n0\n0\n1\n"


def test_text_is_never_taken_for_zlib():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        values = rng.normal(size=(rng.integers(1, 100), 2)) * 10 ** rng.uniform(-2, 4)
        rows = "".join(f"{a:.{rng.integers(6)}f},{b}\n" for a, b in values.tolist())
        text = f"x{'^' if rng.random() < 0.5 else chr(1)}{rng.integers(100)},y\n{rows}".encode()
        assert decompressed(text, "data.csv") == text


def test_what_is_damaged_is_no_text():
    fails(call("cluster", "-", stdin=gzip.compress(CSV)[:-9]), "corrupt gzip file", "compress the original again")
    fails(call("cluster", "-", stdin=zlib.compress(CSV)[:-1]))


def test_only_text_that_begins_as_zlib_is_marked():
    assert marked(b"x^2") == b"\xef\xbb\xbfx^2"
    assert marked(b"x2,y^2") == b"x2,y^2"
    assert marked(b"") == b""
