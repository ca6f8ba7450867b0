"""`kfuse.tables` from Python: columns, missing values, scaling, writing, and errors that name parameters."""

import pickle
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from kfuse import tables
from kfuse.cli.errors import in_options
from kfuse.tables import TableError
from kfuse.tables.columns import Missing, typed

TEXT = b"id,x,y\na,0,5\nb, 4 ,NA\nc,1,7\n"


@pytest.fixture
def table():
    return tables.parse(TEXT, "data.csv")


class TestFeatures:
    def test_all_columns_scaled(self):
        found = tables.features(tables.parse(b"x,y\n0,5\n4,4\n1,6\n", "data.csv"))
        np.testing.assert_array_equal(found.X, [[0, 0.5], [1, 0], [0.25, 1]])
        np.testing.assert_array_equal(found.values, [[0, 5], [4, 4], [1, 6]])
        assert found.names == found.columns == ["x", "y"]
        assert found.used.all()
        assert found.missing == Missing("impute", 0, 0, 0)

    def test_drop(self, table):
        found = tables.features(table, missing="drop", scale="none")
        np.testing.assert_array_equal(found.X, [[0, 5], [1, 7]])
        assert found.used.tolist() == [True, False, True]
        assert found.missing == Missing("drop", 1, 1, 1)

    def test_median(self, table):
        found = tables.features(table, columns=["y", "x"], scale="none")
        np.testing.assert_array_equal(found.X, [[5, 0], [6, 4], [7, 1]])
        assert found.names == ["y", "x"]
        assert found.used.all()
        assert found.missing == Missing("impute", 1, 1, 0)

    def test_excluded_columns_win_and_repeated_ones_count_once(self, table):
        found = tables.features(table, columns=["x", "id", "x"], exclude=["id"])
        assert found.names == ["x"]

    def test_typed_parses_only_the_named_columns(self, table):
        assert typed(table, ["x"]).schema == {"id": pl.String, "x": pl.Int64, "y": pl.String}
        assert typed(table, ["y"])["y"].to_list() == [5, None, 7]


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "options", "in_python", "on_the_command_line"),
        [
            (TEXT, {"missing": "refuse"}, "missing='impute' or missing='drop'", "--missing impute or --missing drop"),
            (TEXT, {"columns": ["z"]}, "no column 'z': choose from 'id', 'x', 'y'", "no column 'z'"),
            (
                TEXT,
                {"columns": ["id"]},
                "by: 'id' is an identifier (names the rows)",
                "no column of",
            ),
            (TEXT, {"exclude": ["x", "y"]}, "and 'y' is excluded; use columns=...", "use --columns NAME,NAME"),
            (TEXT, {"number": ["id"]}, "no numbers: cluster by it with category=['id']", "with --category id"),
            (TEXT, {"number": ["x"], "category": ["x"]}, "both a category and a number", "choose one"),
            (b'"a,b"\n2001-01-01\n2001-01-02\n', {}, "number=['a,b'] clusters", """--number '"a,b"' clusters"""),
        ],
    )
    def test_features(self, text, options, in_python, on_the_command_line):
        with pytest.raises(TableError) as raised:
            tables.features(tables.parse(text, "data.csv", header=True), **options)
        assert in_python in str(raised.value)
        assert on_the_command_line in in_options(raised.value)

    @pytest.mark.parametrize(
        ("text", "options", "in_python", "on_the_command_line"),
        [
            (b"1,2\n", {}, "use header=False if it is, or header=True", "use --no-header if it is, or --header if"),
            (b"x\n1\n", {"separator": "ab"}, "'ab' cannot separate", "--separator ';' or --separator tab"),
        ],
    )
    def test_reading(self, text, options, in_python, on_the_command_line):
        with pytest.raises(TableError) as raised:
            tables.parse(text, "data.csv", **options)
        assert in_python in str(raised.value)
        assert on_the_command_line in in_options(raised.value)

    def test_writing(self, tmp_path):
        with pytest.raises(TableError, match=r"or use format=\.\.\.$") as raised:
            tables.write(pl.DataFrame({"x": [1]}), tmp_path / "data.xlsx")
        assert in_options(raised.value).endswith("or use --to FORMAT")
        assert list(tmp_path.iterdir()) == []

    def test_can_be_pickled(self):
        with pytest.raises(TableError) as raised:
            tables.parse(b"1,2\n", "data.csv")
        again = pickle.loads(pickle.dumps(raised.value))
        assert (str(again), again.parts) == (str(raised.value), raised.value.parts)


@pytest.mark.parametrize("name", ["data.csv", "data.tsv.gz", "data.parquet", "data.jsonl"])
def test_what_is_written_can_be_read(name, tmp_path):
    frame = pl.DataFrame({"x": [1.5, 2.5], "y": [3, 4]})
    tables.write(frame, tmp_path / name)
    again = tables.read(str(tmp_path / name))
    assert again.name == str(tmp_path / name)
    np.testing.assert_array_equal(tables.features(again, scale="none").X, frame.to_numpy())


class TestImports:
    def test_no_command_line_is_needed(self):
        code = (
            "import sys; sys.modules['typer'] = sys.modules['rich'] = sys.modules['kfuse.cli'] = None\n"
            "from kfuse import tables\n"
            "assert tables.features(tables.parse(b'x\\n1\\n', 'data.csv')).X.shape == (1, 1)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def test_says_what_to_install(self):
        code = "import sys; sys.modules['polars'] = None; from kfuse import tables; tables.read"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stderr.endswith("ModuleNotFoundError: kfuse.tables needs polars: pip install 'kfuse[cli]'\n")

    def test_names(self):
        assert set(tables.__all__) <= set(dir(tables))
        assert all(getattr(tables, name).__module__.startswith("kfuse.tables.") for name in tables.__all__)
        with pytest.raises(AttributeError, match="no attribute 'reed'"):
            _ = tables.reed
