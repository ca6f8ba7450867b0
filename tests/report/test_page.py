"""The report as a file: whole or not at all, self-contained, and honest about what it leaves out."""

import base64
import errno
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from kfuse import KFuse, describe, report
from kfuse.datasets import make_shapes
from kfuse.description import explain_number, sentences
from kfuse.description.columns import read
from kfuse.report import groups, packing


@pytest.fixture(scope="module")
def wine():
    X = load_wine(as_frame=True).data
    return KFuse().fit(scale(X)), X


@pytest.fixture(scope="module")
def table():
    """A model of one column, and a table with columns of all kinds and gaps."""
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 5.0, 10.0], 40) + rng.random(120)
    frame = pd.DataFrame({"x": x, "y": rng.random(120), "word": rng.choice(["a", "b", "c"], 120), "planet": "Earth"})
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 120), "D")
    frame["lasted"] = pd.to_timedelta(rng.integers(0, 99, 120), "s")
    frame["seen"] = rng.random(120) > 0.5
    frame.loc[::7, ["y", "word"]] = np.nan
    return KFuse(3).fit(x[:, None]), frame


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
    page = report.html(model, X, ids=[nasty] * len(X), title=nasty, most_columns=99)
    assert nasty not in page
    plain = report.html(model, X.set_axis([f"c{i}" for i in range(X.shape[1])], axis=1))
    for piece in ("<script", "</script", "<!--"):
        assert page.count(piece) == plain.count(piece)
    assert nasty in {column["name"] for column in data_of(page)["columns"]}
    assert data_of(page)["ids"][0] == nasty


def test_the_values_are_all_there(wine):
    model, X = wine
    columns = data_of(report.html(model, X))["columns"]
    assert sorted(column["name"] for column in columns) == sorted(X.columns)
    for column in columns:
        np.testing.assert_allclose(unpacked(column["values"]), X[column["name"]], rtol=1e-6)


def test_columns_of_every_kind_are_there(table):
    model, frame = table
    columns = {column["name"]: column for column in data_of(report.html(model, frame))["columns"]}
    assert set(columns) == {"x", "y", "word", "when", "seen", "lasted"}
    words = columns["word"]
    found = [[*words["texts"], None][code] for code in unpacked(words["values"])]
    assert found == [None if pd.isna(word) else word for word in frame["word"]]
    np.testing.assert_array_equal(np.isnan(unpacked(columns["y"]["values"])), frame["y"].isna())
    moments = pd.to_datetime(unpacked(columns["when"]["values"]), unit="ms")
    assert (moments == frame["when"]).all()
    assert columns["when"]["unit"] == "D"
    np.testing.assert_array_equal(unpacked(columns["lasted"]["values"]), frame["lasted"].dt.total_seconds())
    assert columns["seen"]["texts"] == ["False", "True"]


def test_constant_columns_are_hidden_and_the_page_says_so(table):
    model, frame = table
    page = markup_of(report.html(model, frame))
    assert "1 column with a single value is hidden: planet." in page


def test_long_texts_are_left_out_and_the_page_says_so(table, monkeypatch):
    model, frame = table
    monkeypatch.setattr(packing, "MOST_TEXT", 2)
    page = report.html(model, frame)
    assert "Texts too long for the page are left out: word, planet, seen." in page
    assert {column["name"] for column in data_of(page)["columns"]} == {"x", "y", "when", "lasted"}


def test_columns_are_ordered_by_what_they_tell(table):
    model, frame = table
    frame = frame.assign(noise=np.random.default_rng(0).normal(size=len(frame)), label=model.labels_.astype(str))
    names = [column["name"] for column in data_of(report.html(model, frame))["columns"]]
    assert names[:2] == ["x", "label"]
    effects = describe(model, frame).groupby("column")["effect"].mean()
    assert effects[names].is_monotonic_decreasing


def test_a_range_that_excludes_the_suggested_number_is_named():
    X, _ = make_shapes(150)
    model = KFuse(n_clusters=(2, 3)).fit(X)
    content = data_of(report.html(model, X))
    assert model.tree_.suggest(1)[0].n_clusters > 3
    assert "that was allowed: by itself, the data suggests " in content["why"][model.n_clusters_ - 1]
    assert not any("allowed" in why for number, why in enumerate(content["why"], 1) if number != model.n_clusters_)


@pytest.mark.parametrize("options", [{}, {"outliers": "label"}, {"fusion": "paper", "n_clusters": 4}])
def test_every_cluster_of_every_cut_is_described(options):
    X, _ = make_shapes(150, noise=2)
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(word=np.where(X[:, 0] > 0, "right", "left"))
    model = KFuse(**options).fit(X)
    content = data_of(report.html(model, frame, most_clusters=140))
    known = {(group["first"], group["size"]): group for group in content["groups"]}
    columns = [column["name"] for column in content["columns"]]
    assert len(content["why"]) == int(content["tree"]["most"])
    for number in [*range(1, 9), *range(10, content["tree"]["most"], 43), content["tree"]["most"]]:
        labels = model.cut(number)
        assert content["why"][number - 1] == explain_number(model, number)
        for label, sentence in zip(
            [*range(labels.max() + 1), -1], sentences(model, frame, n_clusters=number), strict=False
        ):
            rows = np.flatnonzero(labels == label)
            group = known[rows[0], rows.size]
            assert group["sentence"] == sentence
            check_numbers(group, rows, model, frame[columns])


def check_numbers(group, rows, model, frame):
    relative = model.density_ / np.median(model.density_)
    assert group["density"] == pytest.approx(np.median(relative[rows]))
    assert group["typical"] == rows[np.argsort(-relative[rows], kind="stable")[:3]].tolist()
    for found, (name, column) in zip(group["columns"], frame.iloc[rows].items(), strict=True):
        if name == "word":
            assert found == [
                ["left", "right"][: frame["word"].nunique()].index(column.mode()[0]),
                column.value_counts().max(),
                0,
            ]
        else:
            np.testing.assert_allclose(found, [*column.quantile([0.25, 0.5, 0.75]), 0])


def test_quartiles_leave_gaps_and_infinities_out():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, np.inf], "nothing": [None] * 4, "word": ["a", "b", None, "b"]})
    columns = read(frame)
    numbers = [groups._distinct_numbers(column) if column.is_ordered else None for column in columns]
    inside = [groups._inside(*pair, np.arange(4)) for pair in zip(columns, numbers, strict=True)]
    assert inside == [[2.0, 3.0, None, 1], None, [1, 2, 1]]


@pytest.mark.parametrize(
    ("clustered", "start", "added"),
    [
        (["east", "north"], ["east", "north"], []),
        (["north", "east"], ["north", "east"], []),
        (["north"], ["north", "density"], []),
        (["east", "up"], ["fitted column 0", "fitted column 1"], ["fitted column 0", "fitted column 1"]),
        (["east", "north", "when"], ["principal component 1", "principal component 2"], None),
    ],
)
def test_starts_with_the_columns_clustered_by_or_principal_components(clustered, start, added):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=["east", "north", "up", "when"])
    model = KFuse(3).fit(scale(frame[clustered]))
    frame.loc[3, "up"] = np.nan
    content = data_of(report.html(model, frame.assign(word="a")))
    names = [one["name"] for one in content["plane"]]
    assert names == added if added is not None else len(names) == 2
    axes = [*names, *(one["name"] for one in content["columns"]), "density"]
    assert [axes[place] for place in content["start"]] == start


def test_takes_a_pipeline(table):
    _, frame = table
    pipeline = make_pipeline(ColumnTransformer([("all", StandardScaler(), ["x"])]), KFuse(3)).fit(frame)
    content = data_of(report.html(pipeline, frame))
    assert {column["name"] for column in content["columns"]} >= {"x", "word", "when"}
    assert content["groups"]
    assert [column["name"] for column in data_of(report.html(pipeline))["columns"]] == ["feature 0"]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["array", "pandas", "polars"])
def test_takes_arrays_and_data_frames(make):
    X, _ = make_shapes(100)
    table = make(X)
    before = np.array(X)
    names = [column["name"] for column in data_of(report.html(KFuse().fit(X), table))["columns"]]
    assert sorted(names) == [str(name) for name in getattr(table, "columns", ["feature 0", "feature 1"])]
    np.testing.assert_array_equal(X, before)


def test_names_are_those_given_or_of_the_fit(wine):
    model, X = wine
    names = [f"n{i}" for i in range(X.shape[1])]
    assert {c["name"] for c in data_of(report.html(model, X.to_numpy(), names=names))["columns"]} == {*names}
    fitted = KFuse().fit(X)
    assert {c["name"] for c in data_of(report.html(fitted))["columns"]} == {*X.columns}


@pytest.mark.parametrize(
    ("values", "dtype", "digits"),
    [
        ([0, 1, 255], "uint8", 6),
        ([0, 1, -5], "int16", 6),
        ([0, 1, 40000], "int32", 6),
        ([2.0**40, 1], "float32", 6),
        ([0, 1, np.nan], "float32", 6),
        ([np.nan, np.nan], "float32", 6),
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
    packed = packing.pack_column(read(values[:, None], ["a"])[0])
    assert (packed["values"]["type"], packed["digits"]) == (dtype, digits)
    seen = np.array([float(f"{value:.{digits}g}") for value in unpacked(packed["values"]).astype(float)])
    if "int" not in dtype:
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
    assert "2 of 40 columns are shown: those in which the model&#x27;s clusters differ most." in page
    assert "columns are shown" not in markup_of(report.html(model, X, most_columns=40))


def test_the_slider_reaches_the_models_number_and_no_further_than_the_tree():
    X, _ = make_shapes(60)
    model = KFuse(55).fit(X)
    assert 'max="60"' in report.html(model, X)
    assert 'max="55"' in report.html(model, X, most_clusters=3)


def test_works_with_a_model_of_distances():
    X, _ = make_shapes(80)
    model = KFuse(metric="precomputed").fit(pairwise_distances(X))
    assert len(data_of(report.html(model, X))["columns"]) == 2
    with pytest.raises(ValueError, match="keeps no samples: pass the table"):
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
        ({"names": ["a"]}, r"^names has 1 entries, but there are 13 columns: pass one per column\.$"),
        ({"most_clusters": 0}, r"^most_clusters must be an integer of at least 1, got 0\.$"),
        ({"most_columns": "all"}, r"^most_columns must be an integer of at least 1, got 'all'\.$"),
    ],
)
def test_refuses_what_does_not_fit(wine, options, words):
    with pytest.raises(ValueError, match=words):
        report.html(*wine, **options)


def test_refuses_other_rows(wine):
    model, X = wine
    with pytest.raises(ValueError, match="frame has 100 rows, but the model was fitted to 178"):
        report.html(model, X[:100])
