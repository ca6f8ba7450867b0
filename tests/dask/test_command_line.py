"""`kfuse cluster --dask`: Parquet files in, a folder of labels out."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import minmax_scale

from kfuse import KFuse
from tests.cli.command_line import call, fails

pytest.importorskip("distributed")
X = make_blobs(900, centers=4, random_state=0)[0] * [1, 1000]


@pytest.fixture
def files(tmp_path):
    """Three files, of which one has no rows."""
    folder = tmp_path / "data"
    folder.mkdir()
    frame = pl.DataFrame({"name": [f"row {i}" for i in range(len(X))], "x": X[:, 0], "y": X[:, 1]})
    for number, rows in enumerate((frame[:400], frame[:0], frame[400:])):
        rows.write_parquet(folder / f"{number}.parquet")
    return sorted(folder.iterdir())


def read(folder):
    return pl.concat([pl.read_parquet(file) for file in sorted(folder.iterdir())])


@pytest.mark.parametrize("scale", ["none", "minmax"])
def test_labels_are_those_of_the_rows(files, tmp_path, cluster, scale):
    address, out = cluster.scheduler_address, tmp_path / "labels"
    result = call("cluster", *files, "--dask", address, "--scale", scale, "--id", "name", "-o", out, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    labels = read(out)
    expected = KFuse().fit(X if scale == "none" else minmax_scale(X))
    np.testing.assert_array_equal(labels["label"], expected.labels_)
    assert labels["name"].to_list() == [f"row {i}" for i in range(len(X))]
    assert json.loads(result.stdout)["n_clusters"] == expected.n_clusters_


def test_folder_of_files_and_all_columns(files, tmp_path, cluster):
    out = tmp_path / "labels"
    where = ("--dask", cluster.scheduler_address, "--scale", "none", "-o", out)
    result = call("cluster", files[0].parent, *where, "-k", 3, "--keep", "--label", "group")
    assert result.exit_code == 0, result.stderr
    assert "900 rows, 3 clusters" in result.stderr
    assert read(out).columns == ["name", "x", "y", "group"]
    np.testing.assert_array_equal(read(out)["group"], KFuse(3).fit_predict(X))


def test_a_range_and_a_least_size(files, tmp_path, cluster):
    out = tmp_path / "labels"
    where = ("--dask", cluster.scheduler_address, "--scale", "none", "-o", out)
    result = call("cluster", *files, *where, "-k", "2:3", "--min-cluster-size", 50)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(read(out)["label"], KFuse((2, 3), min_cluster_size=50).fit_predict(X))


def test_nothing_is_written_if_the_fit_fails(files, tmp_path, cluster):
    pl.DataFrame({"name": ["bad"], "x": [None], "y": [1.0]}, schema_overrides={"x": pl.Float64}).write_parquet(files[1])
    out = tmp_path / "labels"
    fails(
        call("cluster", *files, "--dask", cluster.scheduler_address, "--scale", "none", "-o", out, "-q"),
        "NaN (row 400, column 0)",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scale", "none"], "name it with -o FOLDER"),
        (["-o", "labels"], "--scale minmax or --scale none"),
        (["-o", "labels", "--scale", "none", "--metric", "cosine"], "--metric does not work with --dask"),
        (["-o", "labels", "--scale", "none", "--category", "name"], "--category does not work with --dask"),
    ],
)
def test_what_needs_a_table_in_memory_is_refused(files, options, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fails(call("cluster", *files, "--dask", "local", *options), words)


def test_wrong_paths_are_refused(files, tmp_path):
    options = ("--dask", "local", "--scale", "none", "-o")
    fails(call("cluster", tmp_path / "none.parquet", *options, tmp_path / "labels"), "no Parquet file there")
    fails(call("cluster", *files, *options, tmp_path / "data"), "exists already")
    fails(call("cluster", *files, "-o", tmp_path / "labels.csv"), "only one table", "--dask")
