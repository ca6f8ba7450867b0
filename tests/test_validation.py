"""Bad input gets one clear sentence that names the culprit."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from kfuse import KFuse
from kfuse._validation.features import check_columns

X_IRIS = load_iris().data


def poisoned(value):
    X = X_IRIS.copy()
    X[17, 2] = value
    return X


BAD_DATA = {
    "nan": (poisoned(np.nan), r"contains NaN \(row 17, column 2\)"),
    "inf": (poisoned(np.inf), r"contains infinity \(row 17, column 2\)"),
    "negative inf": (poisoned(-np.inf), r"contains infinity \(row 17, column 2\)"),
    "nan in a frame": (pd.DataFrame(poisoned(np.nan), columns=list("abcd")), r"NaN \(row 17, column 'c'\)"),
    "infinity in a frame": (
        pd.DataFrame(poisoned(np.inf), columns=list("abcd")),
        r"infinity \(row 17, column 'c'\): put",
    ),
    "nothing": (None, "X is None: pass the samples"),
    "masked values": (np.ma.masked_greater(X_IRIS, 7), "X has masked values: drop or fill"),
    "an empty list": ([], "X is empty: pass at least one sample"),
    "an empty tuple": ((), "X is empty: pass at least one sample"),
    "numbers as text": (np.array([["1", "2"], ["3", "4"]]), r"column 0 has the text '1' in row 0: .*astype\(float\)"),
    "numbers as text in lists": ([[1, "2"], [3, "4"]], "column 1 has the text '2' in row 0"),
    "numbers as bytes": (np.array([[b"1"], [b"2"]]), "has the text b'1' in row 0"),
    "numbers as text among objects": (np.array([[1, 2], [3, "4"]], dtype=object), "column 1 has the text '4' in row 1"),
    "numbers as text in a frame": (
        pd.DataFrame({"a": [1, 2], "b": ["3", "4"]}),
        "column 'b' has the text '3' in row 0",
    ),
    "numbers as text in a polars frame": (
        pl.DataFrame({"a": [1, 2], "b": ["3", "4"]}),
        "column 'b' has the text '3' in row 0",
    ),
    "columns of one name": (pd.DataFrame(X_IRIS, columns=list("abca")), "more than one column 'a': rename"),
    "lists in a polars frame": (
        pl.DataFrame({"a": [1.0, 2.0], "b": [[1], [2]]}),
        r"X must be numbers, but column 'b' has the type List\(Int64\): encode",
    ),
    "categories": (pd.DataFrame({"a": pd.Categorical(["x", "y"])}), "column 'a' has 'x' in row 0"),
    "dates": (np.array([["2020-01-01"], ["NaT"]], dtype="M8[D]"), "it has the type datetime64.*: encode"),
    "nothing but durations in a frame": (
        pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="s")}),
        "column 'a' has the type timedelta64.*: encode",
    ),
    "a column of periods": (pd.Series(pd.period_range("2020", periods=3)), "entry 0 is Period"),
    "no rows": (np.empty((0, 3)), r"0 sample\(s\)"),
    "no columns in a frame": (pd.DataFrame(index=range(3)), "X has no columns: pass"),
    "no columns": (np.empty((3, 0)), r"0 feature\(s\)"),
    "one-dimensional": (np.arange(5.0), "Reshape your data"),
    "three-dimensional": (np.zeros((3, 3, 3)), "dim 3"),
    "text": (np.array([["1", "2"], ["3", "x"]]), "X must be numbers, but column 1 has 'x' in row 1"),
    "text in a frame": (
        pd.DataFrame({"a": [1.0, 2.0], "city": ["Oslo", "Rome"]}),
        "X must be numbers, but column 'city' has 'Oslo' in row 0",
    ),
    "complex": (X_IRIS.astype(complex), "Complex data not supported: pass real numbers"),
    "complex in a frame": (pd.DataFrame({"a": [1j, 2j], "b": [True, False]}), "Complex data not supported: pass"),
    "dates in a polars frame": (
        pl.DataFrame({"a": [1.0], "when": [datetime.date(2020, 1, 1)]}),
        "X must be numbers, but column 'when' has the type Date: encode",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case):
    X, message = BAD_DATA[case]
    with pytest.raises(ValueError, match=message):
        KFuse(1).fit(X)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_features(kind):
    with pytest.raises(TypeError, match=r"sparse.*toarray"):
        KFuse(1).fit(kind(X_IRIS))


BAD_PARAMETERS = {
    "zero clusters": (
        {"n_clusters": 0},
        "n_clusters must be 'auto', a pair .least, most. or an integer of at least 1.*got 0",
    ),
    "negative clusters": ({"n_clusters": -2}, "n_clusters"),
    "a fraction of clusters": ({"n_clusters": 1.5}, "n_clusters.*1.5"),
    "a word for clusters": ({"n_clusters": "three"}, "n_clusters.*'three'"),
    "clusters as a truth value": ({"n_clusters": True}, "n_clusters.*True"),
    "no number of clusters": ({"n_clusters": None}, "n_clusters.*None"),
    "more clusters than samples": ({"n_clusters": 151}, "n_clusters=151 is more than the 150 samples"),
    "auto for the printed algorithm": (
        {"n_clusters": "auto", "fusion": "paper"},
        "n_clusters='auto' needs fusion='adaptive', got fusion='paper'",
    ),
    "fusion": ({"fusion": "magic"}, "fusion must be one of .*'magic'"),
    "metric": ({"metric": "crow"}, "metric must be .*'crow'"),
    "metric of the wrong kind": ({"metric": 2}, "metric must be .*2"),
    "neighbors": ({"neighbors": "ball_tree"}, "neighbors must be one of .*'ball_tree'"),
    "kd_tree for another metric": (
        {"neighbors": "kd_tree", "metric": "canberra"},
        "neighbors='kd_tree'.*'canberra'",
    ),
    "outliers": ({"outliers": "drop"}, "outliers must be one of .*'drop'"),
    "outliers of the wrong kind": ({"outliers": ["label"]}, "outliers must be one of"),
    "verbose as a word": ({"verbose": "yes"}, "verbose must be True or False, got 'yes'"),
    "verbose as nothing": ({"verbose": None}, "verbose must be True or False, got None"),
    "verbose below nothing": ({"verbose": -1}, "verbose must be True or False, got -1"),
    "a letter as a seed": ({"random_state": "a"}, "random_state must be None, an integer .*, got 'a'"),
    "a seed below zero": ({"random_state": -1}, "random_state must be None, an integer from 0 .*, got -1"),
    "no threads": ({"n_jobs": 0}, "n_jobs must be .*0"),
    "a fraction of threads": ({"n_jobs": 1.5}, "n_jobs must be .*1.5"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(case):
    parameters, message = BAD_PARAMETERS[case]
    model = KFuse(**{"n_clusters": 1, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(X_IRIS)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_functions_that_are_no_distances(value):
    def odd(a, b):
        return value if a[0] > b[0] else abs(a - b).sum()

    with pytest.raises(ValueError, match="metric='odd' gives a negative, infinite or undefined distance"):
        KFuse(1, metric=odd).fit(X_IRIS[:20])


def test_sparse_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.arrays.SparseArray([0.0, 1.0])})
    with pytest.raises(TypeError, match=r"column 'b' has the type Sparse.*to_dense"):
        KFuse(1).fit(frame)


def test_haversine_takes_two_features():
    with pytest.raises(ValueError, match=r"metric='haversine' takes two features.*X has 4"):
        KFuse(1, metric="haversine").fit(X_IRIS)
    assert KFuse(2, metric="haversine").fit(X_IRIS[:, 2:]).n_clusters_ == 2


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_one_sample_has_no_variance(metric):
    if metric == "seuclidean":
        assert KFuse(metric=metric).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    else:
        with pytest.raises(ValueError, match="needs features of which none is constant"):
            KFuse(metric=metric).fit([[1.0, 2.0]])


def test_samples_that_no_distance_tells_apart_are_one_place():
    X = np.column_stack([np.arange(40) * 1e-200, np.ones(40)])
    X[20, 1] = 1e18
    model = KFuse(2, neighbors="kd_tree").fit(X)
    assert model.tree_.most_clusters == 2
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_mahalanobis_of_a_constant_column():
    with pytest.raises(ValueError, match="metric='mahalanobis' needs features of which none is constant"):
        KFuse(1, metric="mahalanobis").fit(np.column_stack([X_IRIS, np.ones(150)]))


def test_dates_name_their_column():
    frame = pd.DataFrame({"a": range(30), "when": pd.date_range("2020", periods=30)})
    with pytest.raises(ValueError, match="column 'when' has the type datetime64"):
        KFuse(1).fit(frame)


def test_a_failed_refit_leaves_the_model_usable():
    model = KFuse(2).fit(X_IRIS)
    expected = model.predict(X_IRIS)
    with pytest.raises(ValueError, match="n_clusters=99"):
        model.set_params(n_clusters=99).fit(X_IRIS[:60])
    np.testing.assert_array_equal(model.predict(X_IRIS), expected)


def test_cosine_of_a_zero_row():
    X = X_IRIS.copy()
    X[3] = 0
    with pytest.raises(ValueError, match="Row 3 of X is all zeros"):
        KFuse(1, metric="cosine").fit(X)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        KFuse(2).predict(X_IRIS)
    with pytest.raises(NotFittedError):
        KFuse(2).cut(2)


def test_predict_checks_its_input():
    model = KFuse(2).fit(X_IRIS)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X_IRIS[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(poisoned(np.nan))


def test_cut_checks_its_number():
    model = KFuse(2).fit(X_IRIS)
    with pytest.raises(ValueError, match="n_clusters"):
        model.cut(0)
    with pytest.raises(ValueError, match="n_clusters=151"):
        model.cut(151)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="row 0 has 2 values and row 1 has 1: fill or drop such rows"):
        KFuse().fit([[1, 2], [3]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: "hello", "X is the text 'hello': pass the samples, an array of shape"),
        (lambda: "x" * 10**6, r"X is the text 'x+\.\.\.: pass"),
        (lambda: b"hello", "X is the text b'hello'"),
        (lambda: Path("data.csv"), "X is a .*Path: .* read files"),
        (lambda: {"a": [1, 2]}, "X is a dict: pass a frame"),
        (lambda: {(1, 2), (3, 4)}, "X is a set: it has no order"),
        ({"a": 1}.keys, "X is a dict_keys: it has no order"),
        (lambda: (row for row in X_IRIS), r"X is a generator: pass list\(X\)"),
        (lambda: map(float, [1, 2]), "X is a map: pass list"),
        (lambda: len, "X is a builtin_function_or_method: pass the samples"),
        (object, "X is an object: pass the samples"),
        (lambda: pl.DataFrame({"a": [1], "b": pl.Series([2], dtype=pl.Int128)}), "128 bits.*column 'b' has .*Int128"),
        (lambda: pd.DataFrame({"x" * 10**6: ["a"]}), r"column 'x+\.\.\. has '?a"),
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_other_containers_are_refused_in_words_of_our_own(make, message, metric):
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        KFuse(metric=metric).fit(make())
    assert len(str(raised.value)) < 400


class CountingName(str):
    """A column name that counts how often it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other):
        CountingName.compared += 1
        return str.__eq__(self, other)


def test_many_columns_are_not_compared_each_with_each():
    names = [CountingName(f"column {i}") for i in range(2000)]
    frame = pd.DataFrame(np.zeros((2, 2000)), columns=pd.Index(names, dtype=object))
    CountingName.compared = 0
    check_columns(frame)
    assert CountingName.compared <= 5 * len(names)
    names[-1] = CountingName("column 7")
    with pytest.raises(ValueError, match="more than one column 'column 7'"):
        check_columns(pd.DataFrame(np.zeros((2, 2000)), columns=pd.Index(names, dtype=object)))


def test_lazy_frames_are_refused():
    with pytest.raises(TypeError, match=r"holds no values yet: pass X.collect\(\)"):
        KFuse().fit(pl.DataFrame({"a": [1, 2]}).lazy())


def test_whole_numbers_beyond_float64_are_refused():
    for X in ([[10**400, 1], [2, 3]], np.array([[10**400, 1], [2, 3]], dtype=object)):
        with pytest.raises(ValueError, match="beyond the range of float64: divide its column"):
            KFuse().fit(X)


def test_numbers_as_objects_are_numbers():
    np.testing.assert_array_equal(KFuse().fit_predict(X_IRIS.astype(object)), KFuse().fit_predict(X_IRIS))
    np.testing.assert_array_equal(KFuse().fit_predict(X_IRIS.tolist()), KFuse().fit_predict(X_IRIS))


@pytest.mark.parametrize("verbose", [0, 1, np.False_])
def test_verbose_may_be_a_number(verbose):
    assert KFuse(2, verbose=verbose).fit(X_IRIS).n_clusters_ == 2


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e160, 1e307])
def test_extreme_values_have_a_unit_of_their_own(metric, factor):
    expected = KFuse(metric=metric).fit_predict(X_IRIS)
    np.testing.assert_array_equal(KFuse(metric=metric).fit_predict(X_IRIS * factor), expected)


def named(X):
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.mark.parametrize(("frame", "where"), [(np.asarray, "row 150, column 1"), (named, "row 150, column 'b'")])
def test_a_value_next_to_which_all_others_vanish_is_named(frame, where):
    X = np.vstack([X_IRIS, [[0.0, -1e200, 0.0, 0.0]]])
    with pytest.warns(UserWarning, match=rf"X has the value -1e\+200 \({where}\), next to which most rows are"):
        KFuse(1).fit(frame(X))
    KFuse(1).fit(frame(np.where(X == -1e200, -1e140, X)))  # warnings are errors in these tests


def test_distances_beyond_all_numbers_need_no_warning():
    X = np.random.default_rng(16).choice([-1, 1], size=(10, 4)) * 1e308
    assert KFuse(2, fusion="paper").fit(X).n_clusters_ == 2  # warnings are errors in these tests


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "sqeuclidean", "seuclidean"])
@pytest.mark.parametrize(("dtype", "fine", "too_large"), [(np.float64, 1e140, 1e160), (np.float32, 1e14, 1e20)])
def test_values_too_large_for_other_metrics(metric, dtype, fine, too_large):
    X = X_IRIS.astype(dtype)
    expected = KFuse(2, metric=metric).fit_predict(X)
    np.testing.assert_array_equal(KFuse(2, metric=metric).fit_predict(X * dtype(fine)), expected)
    with pytest.raises(ValueError, match=rf"X\[131, 0\] is 7.9e.*too large to compute metric='{metric}'.*: divide X"):
        KFuse(2, metric=metric).fit(X * dtype(too_large))
