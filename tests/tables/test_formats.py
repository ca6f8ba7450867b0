"""Formats: round trips through the command line, and files of other programs. Broken files: `test_broken_files`."""

import csv
import gzip
import io
import json
import os
import re
import zipfile

import numpy as np
import polars as pl
import pytest
from numpy.lib import format as npy

from kfuse import KFuse
from kfuse.tables.formats import WRITABLE, format_of
from kfuse.tables.reading import without_padding
from tests.cli.command_line import DATA, TWO, call, fails
from tests.tables.in_memory import FRAME, POINTS, saved, written

LABELS = [0, 0, 0, 0, 1, 1, 1, 1]


def separated(content, separator):
    """Read values with polars and names with Python, which understands doubled quotes in them."""
    names = next(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator))
    return pl.read_csv(content, separator=separator, new_columns=names)


READ = {
    "csv": lambda content: separated(content, ","),
    "tsv": lambda content: separated(content, "\t"),
    "parquet": lambda content: pl.read_parquet(io.BytesIO(content)),
    "arrow": lambda content: pl.read_ipc(io.BytesIO(content)),
    "json": lambda content: pl.read_json(io.BytesIO(content)),
    "jsonl": lambda content: pl.read_ndjson(io.BytesIO(content)),
}


class TestRoundTrips:
    @pytest.mark.parametrize("to", WRITABLE)
    @pytest.mark.parametrize("form", WRITABLE)
    def test_every_format_to_every_format(self, form, to, tmp_path):
        path, out = tmp_path / f"data.{form}", tmp_path / f"labels.{to}"
        path.write_bytes(written(FRAME, form))
        result = call("cluster", path, "-k", 2, "--exclude", '"a ""b"""', "--keep", "-o", out)
        assert (result.exit_code, result.stdout) == (0, "")
        found = READ[to](out.read_bytes())
        assert found["label"].to_list() == LABELS
        assert found.drop("label").equals(FRAME)
        assert sorted(tmp_path.iterdir()) == sorted([path, out])

    @pytest.mark.parametrize("to", WRITABLE)
    @pytest.mark.parametrize("form", [*WRITABLE, "npy", "npz"])
    def test_a_pipe_needs_no_names(self, form, to):
        content = {"npy": lambda: saved(POINTS), "npz": lambda: saved(X=POINTS)}.get(
            form, lambda: written(FRAME.drop('a "b"'), form)
        )()
        arguments = ["--from", form] if form == "tsv" else []
        result = call("cluster", "-", "-k", 2, "--to", to, *arguments, stdin=content)
        assert READ[to](result.stdout_bytes)["label"].to_list() == LABELS

    @pytest.mark.parametrize("name", ["labels.parquet", "labels.PQ", "labels.feather", "labels.ndjson", "l.csv.gz"])
    def test_endings_tell_the_format(self, name, tmp_path):
        path, out = tmp_path / "data.csv", tmp_path / name
        path.write_text(DATA)
        assert call("cluster", path, "-k", 2, "-o", out, "-q").output == ""
        again = call("cluster", out, "--columns", "label", "-k", 2, "--keep", "--label", "again", "--to", "json")
        assert [row["label"] for row in json.loads(again.stdout)] == LABELS

    @pytest.mark.parametrize("name", ["labels", "labels.txt"])
    def test_no_ending_is_csv(self, name, tmp_path):
        (tmp_path / "data.csv").write_text(DATA)
        call("cluster", tmp_path / "data.csv", "-k", 2, "-o", tmp_path / name)
        assert (tmp_path / name).read_text() == TWO

    def test_to_is_stronger_than_the_ending(self, tmp_path):
        (tmp_path / "data.csv").write_text(DATA)
        call("cluster", tmp_path / "data.csv", "-k", 2, "-o", tmp_path / "labels.csv", "--to", "jsonl")
        assert (tmp_path / "labels.csv").read_text().startswith('{"label":0}\n')

    @pytest.mark.parametrize("name", ["labels.xlsx", "labels.npy"])
    def test_endings_that_cannot_be_written(self, name, tmp_path):
        (tmp_path / "data.csv").write_text(DATA)
        fails(call("cluster", tmp_path / "data.csv", "-o", tmp_path / name), name, ".parquet", "--to")
        assert len(list(tmp_path.iterdir())) == 1

    def test_text_stays_text_and_numbers_become_numbers(self):
        text = "id,x,n\n007,0.5,1\n08,,2\n9, 3.25 ,3\n"
        result = call("cluster", "-", "--id", "id", "--missing", "drop", "--keep", "-k", 1, "--to", "json", stdin=text)
        assert json.loads(result.stdout) == [
            {"id": "007", "x": 0.5, "n": 1, "label": 0},
            {"id": "08", "x": None, "n": 2, "label": None},
            {"id": "9", "x": 3.25, "n": 3, "label": 0},
        ]

    def test_tsv_in_is_csv_out_unless_asked(self, tmp_path):
        path = tmp_path / "data.tsv"
        path.write_text(DATA.replace(",", "\t"))
        assert call("cluster", path, "-k", 1, "--keep").stdout.startswith("x,y,label\n0,0,0\n")
        assert call("cluster", path, "-k", 1, "--keep", "--to", "tsv").stdout.startswith("x\ty\tlabel\n0\t0\t0\n")

    def test_nested_values_do_not_fit_into_csv(self):
        lines = '{"x": 1, "tags": ["a"]}\n{"x": 2, "tags": []}\n'
        arguments = ("cluster", "-", "-k", 1, "--columns", "x", "--keep")
        fails(call(*arguments, stdin=lines), "cannot be written as csv", "--to")
        assert json.loads(call(*arguments, "--to", "json", stdin=lines).stdout)[0]["tags"] == ["a"]


class TestWhatProgramsWrite:
    @pytest.mark.parametrize("make", [lambda f: f.write_ipc_stream, lambda f: f.write_ipc])
    def test_arrow_files_and_streams(self, make):
        file = io.BytesIO()
        make(FRAME.drop('a "b"'))(file)
        assert call("cluster", "-", "-k", 2, stdin=file.getvalue()).stdout == TWO

    def test_the_index_of_pandas_is_not_clustered_by(self, tmp_path):
        frame = FRAME.drop('a "b"').with_columns(pl.Series("__index_level_0__", [1, 99] * 4))
        frame.write_parquet(tmp_path / "data.parquet")
        found = json.loads(call("cluster", tmp_path / "data.parquet", "--json").stdout)
        assert found["columns"] == ["größe, cm", "日本"]

    def test_types_of_parquet(self, tmp_path):
        frame = pl.DataFrame(
            {
                "whole": pl.Series(range(8), dtype=pl.UInt8),
                "flag": [True] * 4 + [False] * 4,
                "price": pl.Series(range(8)).cast(pl.Decimal(10, 2)),
                "gone": pl.Series([None] * 8, dtype=pl.Null),
            }
        )
        frame.drop("gone").write_parquet(tmp_path / "data.parquet")
        found = json.loads(call("cluster", tmp_path / "data.parquet", "--json").stdout)
        assert found["columns"] == ["whole", "flag", "price"]
        frame.write_parquet(tmp_path / "data.parquet")
        result = call("cluster", tmp_path / "data.parquet", "-k", 2)
        assert result.exit_code == 0
        assert re.search(r"gone +constant +no +no value at all", result.stderr)

    @pytest.mark.parametrize(
        ("dtype", "role"), [(pl.String, "number"), (pl.Date, "date"), (pl.Categorical, "number"), (pl.List, "text")]
    )
    def test_values_decide_the_role_where_there_are_types(self, dtype, role):
        values = pl.Series("when", [1, 2, 5])
        if dtype == pl.List:
            values = pl.Series("when", [[1], [2], [5]])
        else:
            values = values.cast(pl.Date if dtype == pl.Date else pl.String).cast(dtype)
        file = io.BytesIO()
        pl.DataFrame({"x": [1, 2, 3], "when": values}).write_parquet(file)
        found = json.loads(call("cluster", "-", "--json", stdin=file.getvalue()).stdout)
        assert found["decisions"][1]["role"] == role
        assert found["columns"] == (["x", "when"] if role == "number" else ["x"])

    def test_a_column_of_text_without_any_text(self, tmp_path):
        pl.DataFrame({"x": [1, 2], "t": pl.Series([None, None], dtype=pl.String)}).write_parquet(tmp_path / "d.parquet")
        result = call("cluster", tmp_path / "d.parquet")
        assert result.exit_code == 0
        assert "no value at all" in result.stderr

    def test_json_rows_may_lack_a_key(self):
        text = '[{"x": 1, "y": 2}, {"x": 2}, {"y": 3, "x": 1.5}]'
        fails(call("cluster", "-", "--missing", "refuse", stdin=text), "'y' has no value in data row 2")
        assert call("cluster", "-", "-k", 1, stdin=text).stdout == "label\n0\n0\n0\n"

    def test_a_type_that_shows_late(self):
        lines = '{"x": 1}\n' * 500 + '{"x": 1.5}\n'
        assert call("cluster", "-", "-k", 1, stdin=lines).stdout.count("\n") == 502
        with_word = call("cluster", "-", "-k", 1, "--json", stdin=lines + '{"x": "no"}\n' + lines)
        assert json.loads(with_word.stdout)["decisions"][0]["reason"] == "2 values, 'no' taken as missing"

    def test_spaces_before_json(self):
        assert call("cluster", "-", "-k", 1, stdin=' \n [{"x": 1}]').stdout == "label\n0\n"

    @pytest.mark.parametrize("form", ["jsonl", "npy", "csv"])
    def test_gzip_of_anything(self, form, tmp_path):
        content = saved(POINTS) if form == "npy" else written(FRAME.drop('a "b"'), form)
        path = tmp_path / f"data.{form}.gz"
        path.write_bytes(gzip.compress(content))
        assert call("cluster", path, "-k", 2).stdout == TWO

    def test_zstandard_of_csv(self):
        zstandard = pytest.importorskip("zstandard")
        assert call("cluster", "-", "-k", 2, stdin=zstandard.compress(DATA.encode())).stdout == TWO


class TestArrays:
    @pytest.mark.parametrize("dtype", ["f2", "f4", "<f8", ">f8", "i1", ">i4", "u8", "?", "g"])
    def test_every_type_of_number(self, dtype):
        X = (POINTS > 5).astype(dtype) if dtype == "?" else POINTS.astype(dtype)
        result = call("cluster", "-", "-k", 2, stdin=saved(np.asfortranarray(X)))
        expected = KFuse(2).fit_predict((X.astype(float) - X.min(0)) / np.ptp(X.astype(float), axis=0))
        assert pl.read_csv(result.stdout.encode())["label"].to_list() == expected.tolist()

    def test_columns_have_names(self):
        kept = call("cluster", "-", "-k", 1, "--keep", stdin=saved(np.array([[1, 2], [3, 4]]))).stdout
        assert kept == "column_1,column_2,label\n1,2,0\n3,4,0\n"
        assert call("cluster", "-", "-k", 1, "--keep", stdin=saved(np.array([1.5]))).stdout == "column_1,label\n1.5,0\n"

    def test_records_have_names_of_their_own(self):
        records = np.array([(1, 2.5, "a"), (2, 3.5, "b")], dtype=[("n", "i4"), ("größe", "f8"), ("t", "U1")])
        kept = call("cluster", "-", "-k", 1, "--keep", "--exclude", "t", stdin=saved(records)).stdout
        assert kept == "n,größe,t,label\n1,2.5,a,0\n2,3.5,b,0\n"

    @pytest.mark.parametrize("compressed", [False, True])
    def test_x_is_clustered_and_other_columns_are_at_hand(self, compressed):
        names = np.array([b"a"] * 8)
        content = saved(y=np.arange(8), X=POINTS, note=np.array(3), names=names, compressed=compressed)
        found = json.loads(call("cluster", "-", "--json", stdin=content).stdout)
        assert found["columns"] == ["column_1", "column_2"]
        kept = call("cluster", "-", "-k", 2, "--keep", stdin=content).stdout
        assert kept.startswith("column_1,column_2,y,names,label\n0.0,0.0,0,a,0\n")

    def test_the_only_table_is_clustered(self):
        content = saved(y=np.arange(8), points=POINTS)
        assert json.loads(call("cluster", "-", "--json", stdin=content).stdout)["columns"] == ["column_1", "column_2"]

    def test_columns_one_by_one(self):
        content = saved(a=POINTS[:, 0], b=POINTS[:, 1])
        assert json.loads(call("cluster", "-", "--json", stdin=content).stdout)["columns"] == ["a", "b"]

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (saved(a=POINTS, b=POINTS), ["several tables, a, b", "X"]),
            (saved(a=np.arange(3), b=np.arange(4)), ["different lengths"]),
            (saved(np.zeros((2, 2, 2))), ["3 dimensions", "rows by columns"]),
            (saved(np.zeros((0, 2))), ["no rows"]),
            (saved(np.zeros(3, dtype=complex)), ["complex128", "real numbers"]),
            (saved(np.array(["a", "b"])), ["'column_1' is an identifier"]),
            (saved(POINTS)[:100], ["cannot be read as NumPy arrays"]),
            (saved(POINTS)[:-1], ["truncated", "save it again"]),
            (saved(X=POINTS)[:-30], ["cannot be read as NumPy arrays", "save it again"]),
            (b"\x93NUMPY", ["cannot be read as NumPy arrays"]),
            (b"PK\x05\x06" + b"\0" * 18, ["zip file without arrays", "CSV"]),
        ],
    )
    def test_what_cannot_be(self, content, words):
        fails(call("cluster", "-", stdin=content), *words)

    @pytest.mark.parametrize("several", [False, True])
    def test_pickles_are_not_opened(self, several, tmp_path):
        class Trap:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "trapped"),))

        objects = np.array([Trap(), 1], dtype=object)
        content = saved(X=objects) if several else saved(objects)
        fails(call("cluster", "-", stdin=content), "Python objects", "array of numbers")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("several", [False, True])
    def test_a_header_may_not_declare_more_than_the_memory(self, several):
        file = io.BytesIO()
        npy.write_array_header_1_0(file, {"shape": (10**9, 10**6), "fortran_order": False, "descr": "<f8"})
        content = file.getvalue() + b"\0" * 64
        if several:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("X.npy", content)
            content = packed.getvalue()
        fails(call("cluster", "-", stdin=content), "would take about 29,8", "GiB of memory", "make it smaller")


def test_formats_by_start_then_name_then_first_character(tmp_path):
    assert format_of(b"PAR1....", tmp_path / "x.csv") == "parquet"
    assert format_of(b"{a}\n1", tmp_path / "x.csv") == "csv"
    assert format_of(b"\xef\xbb\xbf {}", tmp_path / "x") == "jsonl"
    assert format_of(b"a\tb", tmp_path / "x.TSV.GZ") == "tsv"


@pytest.mark.parametrize("n_breaks", [0, 1, 2**20 - 1, 2**20, 3 * 2**20 + 5])
def test_long_white_space_after_json_is_dropped_before_it_is_read(n_breaks):
    text = b'[{"x": 1, "y": 2}, {"x": 3, "y": 4}]'
    kept = without_padding(text + b"\n" * n_breaks)
    assert kept.startswith(text)
    assert not kept[len(text) :].strip()
    assert len(kept) < len(text) + 2**20 + 1
