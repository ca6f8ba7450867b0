"""kfuse.dask.KFuse: equal to KFuse to the last bit, for every division of the rows and of space."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons

from kfuse import KFuse
from kfuse.core import memberships
from kfuse.core.distances import distances_for
from tests.checks import assert_same_model
from tests.strategies import SEEDS, samples

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from kfuse import dask as kfuse_dask  # noqa: E402
from kfuse.dask import input, stages  # noqa: E402

PARTITIONS = (1, 2, 7, 32)


def in_chunks(X, n_chunks, seed=0):
    """X in chunks of any length, zero and one included."""
    X = np.asarray(X)
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(X) + 1, n_chunks - 1))
    return da.from_array(X, chunks=(tuple(np.diff([0, *cuts, len(X)]).tolist()), X.shape[1]))


def fit_both(X, n_partitions, n_clusters="auto", **parameters):
    """Fit in parts and in one; boxes are as many as the partitions, or the next power of two."""
    rows_per_box = max(16, -(-len(X) // n_partitions))
    model = kfuse_dask.KFuse(n_clusters, rows_per_box=rows_per_box, **parameters)
    expected = KFuse(n_clusters, **parameters).fit(X)
    return model.fit(in_chunks(X, n_partitions)), expected


def grid(n_values, n_features, n_samples=1500):
    return np.random.default_rng(n_features).integers(0, n_values, (n_samples, n_features)).astype(float)


SETS = {
    "iris": load_iris().data,
    "wine": load_wine().data[:, :8],
    "moons": make_moons(1200, noise=0.05, random_state=0)[0],
    "far blobs": make_blobs(1500, centers=12, cluster_std=0.05, random_state=0)[0].round(3),
    "three features": make_blobs(1500, n_features=3, centers=5, random_state=1)[0],
    "eight features": make_blobs(600, n_features=8, centers=4, random_state=2)[0],
    "line": np.random.default_rng(0).random((900, 1)),
    "ties": grid(40, 2),
    "duplicates": grid(9, 3),
    "one place": np.ones((70, 2)),
    "unequal": np.concatenate([np.zeros((800, 2)), np.random.default_rng(0).random((400, 2)) * [1, 1e-6]]),
    "tiny numbers": np.random.default_rng(0).random((300, 2)) * 1e-120,
    "huge numbers": np.random.default_rng(0).random((300, 2)) * 1e200,
    "signs of zero": np.where(grid(3, 2, 300) == 0, -0.0, grid(3, 2, 300)),
    "float32": np.random.default_rng(0).random((700, 3)).astype(np.float32),
    "whole numbers": grid(30, 2).astype(np.int32),
}


def rounded(n_samples=900):
    """Two groups, each column in steps of its own."""
    rng = np.random.default_rng(3)
    return np.round(rng.standard_normal((n_samples, 2)) * 6 + rng.integers(0, 2, (n_samples, 1)) * 30) * [0.1, 0.25]


def noisy(X, width=1e-12):
    return X + width * np.random.default_rng(4).uniform(-1, 1, X.shape)


ROUNDED = {
    "steps": rounded(),
    "few rows": rounded(40),
    "shifted": rounded() / 3 + 1e3,
    "single precision": rounded().astype(np.float32),
    "noise": noisy(rounded()),
    "chains without steps": noisy(np.log(np.abs(rounded()) + 1), 1e-14),
    "few places": noisy(grid(2, 2, 600)),
    "a sentinel": np.append(rounded(), [[-999.0, 1e9]], axis=0),
    "one continuous column": np.column_stack([rounded(), np.random.default_rng(0).random(900)]),
    "few values": np.column_stack([np.arange(900) % 30, np.resize([0, 116, 155], 900)]) / 255,
    "a constant column": np.column_stack([rounded(), np.full(900, 0.3)]),
    "a step that is too fine": np.column_stack([rounded()[:, 0], np.random.default_rng(0).integers(0, 2**40, 900)]),
    "nearly coinciding": np.append(grid(50, 1, 3000), [[7.0 + 1e-4], [9.0 + np.pi * 1e-4]], axis=0),
    "steps not in the first rows": np.append(rounded(1200), rounded(1200) + np.array([0.0125, 0.05]), axis=0),
    "half of it one value": np.append(np.zeros((2000, 1)), np.random.default_rng(0).random((1000, 1)), axis=0),
    "many of one value": np.append(np.zeros((800, 1)), np.random.default_rng(0).random((5000, 1)) - 0.1, axis=0),
    "huge numbers in steps": rounded() * 1e200,
    "tiny numbers in steps": rounded() * 1e-200,
    "weights": np.repeat(rounded(300), np.random.default_rng(0).integers(1, 40, 300), axis=0),
}


@pytest.fixture(autouse=True)
def in_this_thread():
    """Most tests are about the result: this scheduler is the quickest with small data."""
    with dask.config.set(scheduler="synchronous"):
        yield


# Many boxes take long: only those sets are divided into 32 that differ in how their boxes touch.
MANY_BOXES = ("far blobs", "three features", "ties", "duplicates", "one place", "unequal")


@pytest.mark.parametrize(
    ("name", "n_partitions"), [(name, n) for name in SETS for n in PARTITIONS if n < 32 or name in MANY_BOXES]
)
def test_equals_one_machine(name, n_partitions):
    assert_same_model(*fit_both(SETS[name], n_partitions))


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_data_equals_one_machine(name):
    model, expected = fit_both(ROUNDED[name], 7)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.outlier_scores_, expected.outlier_scores_)
    np.testing.assert_array_equal(model.predict(ROUNDED[name]), expected.labels_)


@pytest.mark.parametrize("n_partitions", [1, 40])
@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_is_that_of_one_machine(name, n_partitions):
    X = np.asarray(ROUNDED[name])
    chunks = input.rows_of(None, in_chunks(X, n_partitions), 100, reset=True).chunks
    frame, _ = stages.look_at(chunks)
    expected = distances_for(X.astype(float) if X.dtype.kind != "f" else X, "euclidean", steps=True)
    np.testing.assert_array_equal(frame.as_given(frame.wide(X)), expected.points)
    assert frame.unit_of_distances == expected.unit


@settings(max_examples=40)
@given(samples(), st.sampled_from(PARTITIONS), SEEDS)
def test_equals_one_machine_on_generated_data(X, n_partitions, seed):
    model = kfuse_dask.KFuse(rows_per_box=16).fit(in_chunks(X, n_partitions, seed))
    assert_same_model(model, KFuse().fit(X))


@pytest.mark.parametrize("outliers", ["assign", "label"])
@pytest.mark.parametrize("n_clusters", [1, 3, 60, 900])
def test_number_of_clusters_cuts_and_predictions(n_clusters, outliers):
    X = np.concatenate([grid(40, 2, 500), np.random.default_rng(0).standard_normal((500, 2)) * 9 - 40])
    model, expected = fit_both(X, 7, n_clusters, outliers=outliers)
    assert_same_model(model, expected)
    for k in (1, 2, 50, 700):
        np.testing.assert_array_equal(model.cut(k), expected.cut(k))
    if outliers == "label":
        with pytest.raises(ValueError, match="fit with outliers='assign'"):
            model.predict(X)
        return
    new = np.random.default_rng(1).integers(-90, 90, (200, 2)) / 2
    for rows in (new, X):
        np.testing.assert_array_equal(model.predict(in_chunks(rows, 3)), expected.predict(rows))


def assert_same_memberships(model, expected):
    for name in ("probabilities_", "memberships_", "outlier_scores_", "outlier_mask_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("name", SETS)
def test_memberships_equal_those_of_one_machine(name):
    assert_same_memberships(*fit_both(SETS[name], 7))


def overlapping(n_samples=1200):
    """Clusters that overlap and others that are small, copies included, before a background."""
    rng = np.random.default_rng(5)
    groups = make_blobs(n_samples, centers=6, cluster_std=2.0, random_state=0)[0].round(1)
    return np.concatenate([groups, rng.uniform(-25, 25, (150, 2)), rng.standard_normal((12, 2)) * 0.1 + 30])


@pytest.mark.parametrize("min_cluster_size", [None, 60])
@pytest.mark.parametrize("outliers", ["assign", "label"])
@pytest.mark.parametrize("n_clusters", ["auto", (3, 9), 1000])
@pytest.mark.filterwarnings("ignore:The data has", "ignore:Of .* clusters, .* all noise")
def test_ranges_and_least_sizes_equal_those_of_one_machine(n_clusters, outliers, min_cluster_size):
    model, expected = fit_both(overlapping(), 7, n_clusters, outliers=outliers, min_cluster_size=min_cluster_size)
    assert_same_model(model, expected)
    assert_same_memberships(model, expected)
    np.testing.assert_array_equal(model.cut(5), expected.cut(5))


def test_network_of_many_blocks_is_that_of_one_machine(monkeypatch):
    monkeypatch.setattr(memberships, "ENTRIES_PER_BLOCK", 5000)  # rows of several boxes, and several blocks in a box
    assert_same_memberships(*fit_both(overlapping(), 7, 5))


def test_too_few_large_parts_warn():
    with pytest.warns(UserWarning, match="2 parts of 500 or more samples, so there are 2 clusters instead of 3"):
        kfuse_dask.KFuse(3, min_cluster_size=500).fit(SETS["moons"])


def test_clusters_that_are_all_noise_warn():
    noise = np.random.default_rng(0).uniform(-2, 3, (100, 2))
    X = np.vstack([make_moons(500, noise=0.08, random_state=0)[0], noise])
    with pytest.warns(UserWarning, match="Of 12 clusters, 1 is all noise, so that 11 remain"):
        kfuse_dask.KFuse(12, outliers="label").fit(X)


def test_results_have_the_chunks_of_x_and_are_lazy():
    X = in_chunks(SETS["moons"], 7)
    model = kfuse_dask.KFuse(rows_per_box=200).fit(X)
    for name in ("labels_", "density_", "subcluster_labels_", "outlier_mask_", "probabilities_"):
        assert getattr(model, name).chunks == (X.chunks[0],), name
    assert model.memberships_.chunks == (X.chunks[0], (model.n_clusters_,))
    assert model.predict(X).chunks == (X.chunks[0],)
    assert isinstance(model.cut(3), da.Array)


def test_threads_give_the_same():
    expected = KFuse().fit(SETS["ties"])
    with dask.config.set(scheduler="threads", num_workers=3):
        assert_same_model(kfuse_dask.KFuse(rows_per_box=300).fit(in_chunks(SETS["ties"], 3)), expected)


def test_takes_arrays_in_memory_and_frames_of_unknown_length():
    X = SETS["moons"]
    expected = KFuse().fit(X)
    assert_same_model(kfuse_dask.KFuse(rows_per_box=300).fit(X.tolist()), expected)
    columns = da.from_array(X, chunks=(500, 1))
    assert_same_model(kfuse_dask.KFuse().fit(columns[columns[:, 0] > -np.inf]), expected)
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame(X, columns=["x", "y"]), npartitions=3)
    model = kfuse_dask.KFuse(rows_per_box=300).fit(frame)
    assert_same_model(model, expected)
    assert list(model.feature_names_in_) == ["x", "y"]
    np.testing.assert_array_equal(model.predict(frame), expected.labels_)


def test_input_is_not_changed():
    X = SETS["ties"].copy()
    kfuse_dask.KFuse(rows_per_box=300).fit(X).labels_.compute()
    np.testing.assert_array_equal(X, SETS["ties"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((9, 2), np.nan), "NaN .row 0, column 0"),
        (np.array([[1.0, 2.0], [3.0, np.inf]]), "infinity .row 1, column 1"),
        (np.ones((3, 17)), "17 features.*Reduce the dimension"),
        (np.ones(3), "two-dimensional"),
        (np.ones((0, 2)), "no rows"),
        (np.array([["a", "b"]]), "two-dimensional numbers"),
        (np.array([[1.0], [1e-150], [2e-160]]), "set such values to zero"),
    ],
)
def test_wrong_input_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        kfuse_dask.KFuse().fit(da.from_array(X, chunks=X.shape))


def test_many_features_warn():
    with pytest.warns(UserWarning, match="most boxes touch"):
        kfuse_dask.KFuse().fit(da.from_array(np.random.default_rng(0).random((50, 9)), chunks=(25, 9)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"n_clusters": 5}, "more than the 4 samples"),
        ({"n_clusters": (5, 9)}, "more than the 4 samples"),
        ({"n_clusters": (3, 2)}, "ascending order"),
        ({"min_cluster_size": 0}, "min_cluster_size must be"),
        ({"min_cluster_size": 5}, "more than the 4 samples"),
        ({"outliers": "drop"}, "outliers must be"),
        ({"rows_per_box": 3}, "rows_per_box must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        kfuse_dask.KFuse(**parameters).fit(in_chunks(np.eye(4), 2))


def test_weights_are_refused():
    with pytest.raises(ValueError, match="takes no sample_weight: repeat rows"):
        kfuse_dask.KFuse().fit(SETS["iris"], sample_weight=np.ones(len(SETS["iris"])))


def test_predict_wants_the_features_of_the_fit():
    model = kfuse_dask.KFuse().fit(in_chunks(SETS["moons"], 2))
    with pytest.raises(ValueError, match="3 features, but KFuse is expecting 2"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 features, but KFuse is expecting 2"):
        model.predict(da.ones((2, 3)))


def test_the_papers_data_sets(data_folder):
    """Those of few features and up to 2,000 samples, in seven parts."""
    chosen = [file for file in sorted(Path(data_folder).glob("*.npz")) if os.path.getsize(file) < 200_000]
    assert chosen
    n_fitted = 0
    for file in chosen:
        with np.load(file) as stored:
            X = stored["X"].astype(float)
        if X.shape[1] <= 8 and len(X) <= 2000:
            assert_same_model(*fit_both(X, 7))
            n_fitted += 1
    assert n_fitted > 3
