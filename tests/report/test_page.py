"""The report as a file: whole or not at all, self-contained, and honest about what it leaves out."""

import base64
import errno
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import scale

from kfuse import KFuse
from kfuse.datasets import make_shapes

pytest.importorskip("bokeh", reason="the report needs bokeh")

from kfuse import report
from kfuse.report import content


@pytest.fixture(scope="module")
def wine():
    X = load_wine(as_frame=True).data
    return KFuse().fit(scale(X)), X


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def unpacked(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=np.dtype(packed["type"]).newbyteorder("<"))


def markup_of(page):
    """The page without what is inside scripts and styles."""
    return re.sub(r"(<(script|style)[^>]*>).*?</\2>", r"\1", page, flags=re.DOTALL)


def test_write_gives_the_file(wine, tmp_path):
    model, X = wine
    path = report.write(model, X, str(tmp_path / "wine.html"), title="Wine")
    assert path == tmp_path / "wine.html"
    page = path.read_text(encoding="utf-8")
    assert "<title>Wine</title>" in page
    assert data_of(page) == data_of(report.html(model, X, title="Wine"))
    assert list(tmp_path.iterdir()) == [path]


def test_the_page_refers_to_nothing_outside(wine):
    markup = markup_of(report.html(*wine))
    assert re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", markup) == ["data:,"]
    assert "@import" not in markup
    assert "http" not in markup


def test_nasty_words_end_no_script(wine):
    model, X = wine
    nasty = "</script><script>alert(1)</script><!--"
    X = X.set_axis([nasty, *X.columns[1:]], axis=1)
    page = report.html(model, X, ids=[nasty] * len(X), title=nasty)
    assert nasty not in page
    plain = report.html(model, X.set_axis([f"c{i}" for i in range(X.shape[1])], axis=1))
    for piece in ("<script", "</script", "<!--"):
        assert page.count(piece) == plain.count(piece)
    assert data_of(page)["columns"][0]["name"] == data_of(page)["ids"][0] == nasty


def test_the_values_are_all_there(wine):
    model, X = wine
    columns = data_of(report.html(model, X))["columns"]
    assert [column["name"] for column in columns] == list(X.columns)
    for column, values in zip(columns, X.to_numpy().T, strict=True):
        np.testing.assert_allclose(unpacked(column["values"]), values, rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["array", "pandas", "polars"])
def test_takes_arrays_and_data_frames(make):
    X, _ = make_shapes(100)
    table = make(X)
    before = np.array(X)
    names = [column["name"] for column in data_of(report.html(KFuse().fit(X), table))["columns"]]
    assert names == [str(name) for name in getattr(table, "columns", ["feature 0", "feature 1"])]
    np.testing.assert_array_equal(X, before)


def test_names_are_those_given_or_of_the_fit(wine):
    model, X = wine
    names = [f"n{i}" for i in range(X.shape[1])]
    assert [c["name"] for c in data_of(report.html(model, X, names=names))["columns"]] == names
    fitted = KFuse().fit(X)
    assert [c["name"] for c in data_of(report.html(fitted))["columns"]] == list(X.columns)


@pytest.mark.parametrize(
    ("values", "dtype", "digits"),
    [
        ([0, 1, -5], "int32", 6),
        ([20240101, 20240102], "int32", 6),
        ([0.5, 1.25, 3], "float32", 6),
        ([0.1, 0.7], "float32", 6),
        ([1e9 + 0.25, 1e9 + 0.5], "float64", 15),
        ([1e300, 2e300], "float64", 6),
        ([1e-300, 2e-300], "float64", 6),
        ([3.3, 3.3], "float32", 6),
        ([1e300, 1e300], "float64", 6),
    ],
)
def test_columns_take_the_smallest_type_that_shows_them_rightly(values, dtype, digits):
    values = np.array(values, dtype=float)
    packed = content._column("a", values)
    assert (packed["values"]["type"], packed["digits"]) == (dtype, digits)
    seen = np.array([float(f"{value:.{digits}g}") for value in unpacked(packed["values"]).astype(float)])
    if dtype != "int32":
        np.testing.assert_allclose(seen, values, rtol=10.0 ** (1 - digits))
    else:
        np.testing.assert_array_equal(unpacked(packed["values"]), values)


def test_many_columns_are_shortened_and_the_page_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    X[:100, 7] += 50
    X[:100, 31] -= 50
    model = KFuse(2).fit(X)
    page = report.html(model, X, most_columns=2)
    assert [column["name"] for column in data_of(page)["columns"]] == ["feature 7", "feature 31"]
    assert "2 of 40 columns are shown: those in which the model&#39;s clusters (2) differ most." in page
    assert "columns are shown" not in markup_of(report.html(model, X, most_columns=40))


def test_the_slider_reaches_the_models_number_and_no_further_than_the_tree():
    X, _ = make_shapes(60)
    model = KFuse(35).fit(X)
    assert 'max="60"' in report.html(model, X)
    assert 'max="35"' in report.html(model, X, most_clusters=3)


def test_works_with_a_model_of_distances():
    X, _ = make_shapes(80)
    model = KFuse(metric="precomputed").fit(pairwise_distances(X))
    assert len(data_of(report.html(model, X))["columns"]) == 2
    with pytest.raises(ValueError, match="keeps no samples: pass X"):
        report.html(model)


def test_an_old_report_stays_when_a_new_one_fails(wine, tmp_path, monkeypatch):
    model, X = wine
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        report.write(model, X, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_fails_early_without_the_folder(wine, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        report.write(*wine, tmp_path / "missing" / "report.html")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ids": ["a"]}, r"^ids has 1 entries, but X has 178 rows: pass one id per row\.$"),
        ({"names": ["a"]}, r"^names has 1 entries, but X has 13 features: pass one name per feature\.$"),
        ({"most_clusters": 0}, r"^most_clusters must be an integer of at least 1, got 0\.$"),
        ({"most_columns": "all"}, r"^most_columns must be an integer of at least 1, got 'all'\.$"),
    ],
)
def test_refuses_what_does_not_fit(wine, options, words):
    with pytest.raises(ValueError, match=words):
        report.html(*wine, **options)


def test_refuses_other_rows_and_text(wine):
    model, X = wine
    with pytest.raises(ValueError, match="X has 100 samples, but the model was fitted to 178"):
        report.html(model, X[:100])
    with pytest.raises(ValueError, match="column 'grape' has 'Riesling' in row 0"):
        report.html(model, X.assign(grape="Riesling"))


def test_says_what_to_install_without_bokeh(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.resources", None)
    with pytest.raises(ImportError, match=r"^The report needs bokeh: pip install 'kfuse\[report\]'$"):
        report.html(*wine)


def test_importing_the_report_is_light():
    code = "import kfuse.report, sys; print({'bokeh', 'matplotlib', 'numba', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
