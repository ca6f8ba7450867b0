"""KFuse as users and scikit-learn see it."""

import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfuse import KFuse
from kfuse.core.search import prediction
from tests.checks import assert_same_clusters
from tests.forked import run_code

X_IRIS = load_iris().data


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_samples_without_weight_take_no_part(metric):
    X, _ = make_blobs(120, centers=3, random_state=0)
    weights = np.ones(120)
    weights[::5] = 0
    counted = weights > 0
    distances = pairwise_distances(X)
    part = distances[counted][:, counted] if metric == "precomputed" else X[counted]
    alone = KFuse(metric=metric).fit(part)
    model = KFuse(metric=metric).fit(distances if metric == "precomputed" else X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_[counted], alone.labels_)
    nearest = distances[~counted][:, counted].argmin(axis=1)
    if metric != "manhattan":
        np.testing.assert_array_equal(model.labels_[~counted], alone.labels_[nearest])
    np.testing.assert_array_equal(np.flatnonzero(counted)[alone.representatives_], model.representatives_[counted])
    np.testing.assert_array_equal(model.predict(distances if metric == "precomputed" else X), model.labels_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 3], r"sample_weight\[1\] is -2, but no weight can be negative: 0 leaves a sample out"),
        ([0, 0, 0], "sample_weight is zero for every sample: give at least one"),
        ([1, 2], r"sample_weight has the shape \(2,\), but X has 3 samples: give one weight for each"),
        ([[1], [2], [3]], r"sample_weight has the shape \(3, 1\)"),
        ([1, np.nan, 2], "NaN"),
    ],
)
def test_weights_that_make_no_sense(weights, message):
    with pytest.raises(ValueError, match=message):
        KFuse().fit([[0.0], [1.0], [2.0]], sample_weight=weights)


def test_the_printed_algorithm_takes_whole_weights():
    with pytest.raises(ValueError, match="sample_weight must be whole numbers: use fusion='adaptive'"):
        KFuse(2, fusion="paper").fit([[0.0], [1.0], [2.0]], sample_weight=[1, 1, 2.5])


def test_more_clusters_than_samples_with_a_weight():
    with pytest.raises(ValueError, match="more than the 2 samples"):
        KFuse(3).fit([[0.0], [1.0], [2.0]], sample_weight=[1, 0, 2])


@parametrize_with_checks(
    [
        KFuse(),
        KFuse(2, fusion="paper"),
        KFuse(2, neighbors="brute", outliers="label", n_jobs=2),
        KFuse(metric="manhattan"),
    ]
)
@pytest.mark.filterwarnings("ignore:The data has .* (sub-cluster|distinct sample)")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_well_separated_blobs_are_found():
    X, y = make_blobs(300, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    model = KFuse(3).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.n_clusters_ == 3
    assert model.tree_.n_leaves >= 3


def test_outliers_can_be_labelled():
    X = np.vstack([X_IRIS, [[50.0, 0.0, 0.0, 0.0], [0.0, 90.0, 0.0, 0.0]]])
    assigned = KFuse(2).fit(X)
    labelled = KFuse(2, outliers="label").fit(X)
    assert labelled.outlier_mask_[-2:].all()
    np.testing.assert_array_equal(labelled.labels_ == -1, labelled.outlier_mask_)
    inside = ~labelled.outlier_mask_
    assert adjusted_rand_score(assigned.labels_[inside], labelled.labels_[inside]) == 1
    np.testing.assert_array_equal(labelled.predict(X), labelled.labels_)


@pytest.mark.parametrize(
    "changed",
    [
        {"outliers": "label"},
        {"fusion": "paper"},
        {"metric": "precomputed"},
        {"metric": "cosine"},
        {"min_cluster_size": 60},
    ],
)
def test_parameters_changed_after_a_fit_count_from_the_next_one(changed):
    X = np.vstack([X_IRIS, [[50.0, 0.0, 0.0, 0.0], [0.0, 90.0, 0.0, 0.0]]])
    model, expected = KFuse(3).fit(X).set_params(**changed), KFuse(3).fit(X)
    np.testing.assert_array_equal(model.predict(X), expected.labels_)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.outlier_mask_, expected.outlier_mask_)
    np.testing.assert_array_equal(model.cut(5), expected.cut(5))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "seuclidean", "canberra"])
def test_predict_gives_the_labels_of_the_fit(metric):
    X = np.unique(X_IRIS, axis=0)
    model = KFuse(2, metric=metric).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("seed", range(20))
def test_predict_gives_the_labels_of_the_fit_by_correlation(seed):
    """Rounding leaves a distance to itself, so that a multiple of a sample can seem nearer than the sample."""
    X = np.random.default_rng(seed).integers(0, 5, (80, 3)).astype(float)
    X = X[X.std(axis=1) > 0]
    model = KFuse(40, metric="correlation").fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(-(-X).astype(np.float32)), model.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_editing_the_input_after_the_fit_does_not_change_predictions(dtype):
    original = np.random.default_rng(0).random((100, 2)).astype(dtype)
    for make in (np.array, pl.DataFrame, pd.DataFrame, np.asfortranarray):
        X = make(original.copy())
        model = KFuse(3).fit(X)
        if isinstance(X, np.ndarray):
            X[:] = X[::-1].copy()
        elif isinstance(X, pd.DataFrame):
            X.iloc[:, :] = 0
        np.testing.assert_array_equal(model._fit_X, original)
        assert not np.may_share_memory(model._fit_X, np.asarray(X))
        np.testing.assert_array_equal(model.predict(make(original)), model.labels_)


def test_data_that_was_converted_is_not_copied_again(monkeypatch):
    seen = []
    monkeypatch.setattr(
        KFuse, "_fit_stages", lambda self, data, inner=KFuse._fit_stages: (seen.append(data), inner(self, data))[1]
    )
    for X in (np.arange(40).reshape(-1, 2), np.arange(40.0).reshape(-1, 2).tolist(), np.asfortranarray(np.eye(9))):
        assert KFuse(2).fit(X)._fit_X is seen[-1]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "correlation"])
@pytest.mark.parametrize("n_features", [3, 30])
def test_the_search_is_built_once_and_not_pickled(metric, n_features, monkeypatch):
    X = np.random.default_rng(0).random((200, n_features))
    model = KFuse(3, metric=metric).fit(X)
    before, built = len(pickle.dumps(model)), []
    make = prediction.distances_for
    monkeypatch.setattr(prediction, "distances_for", lambda *given: built.append(given) or make(*given))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: model.predict(X), range(8)))
    assert 1 <= len(built) <= 4
    for labels in found:
        np.testing.assert_array_equal(labels, model.labels_)
    built.clear()
    model.predict(X[:1])
    assert built == []
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    model.fit(X[::-1])
    np.testing.assert_array_equal(model.predict(X[::-1]), model.labels_)


def test_predict_for_new_samples():
    X, _ = make_blobs(200, centers=[[0, 0], [10, 0]], random_state=0)
    model = KFuse(2).fit(X)
    near = model.predict([[0.2, 0.1], [9.8, 0.3], [1e6, 0.0]])
    assert near[0] != near[1]
    assert near[1] == near[2]


@pytest.mark.parametrize(("metric", "n_features"), [("euclidean", 2), ("euclidean", 30), ("correlation", 5)])
def test_predict_is_the_same_for_all_threads_and_blocks(metric, n_features, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, new = rng.integers(0, 9, (2, 300, n_features)).astype(float) + rng.random(n_features)
    expected = KFuse(5, metric=metric, n_jobs=1).fit(X).predict(new)
    monkeypatch.setattr("kfuse.core.search.kd_tree.SAMPLES_AT_A_TIME", 70)
    monkeypatch.setattr("kfuse.core.search.base.ENTRIES_PER_BLOCK", 7 * 300)
    for n_jobs in (1, 2, 5):
        model = KFuse(5, metric=metric, n_jobs=n_jobs).fit(X).set_params(verbose=True)
        np.testing.assert_array_equal(model.predict(new), expected)
    assert "prediction" in capsys.readouterr().err


@pytest.mark.parametrize("n_features", [1, 2, 20])
@pytest.mark.parametrize("scale", [1.0, 1e-300])
def test_predict_for_samples_beyond_all_bounds(n_features, scale):
    X = np.random.default_rng(0).random((50, n_features)) * scale
    model = KFuse(2).fit(X)
    far = np.array([[1e308], [-1e308], [1e160], [1.0]]) * np.ones(n_features)
    np.testing.assert_array_equal(model.predict(np.vstack([far, X]))[4:], model.labels_)


def test_precomputed_matrix_and_graph_agree_with_features():
    X = np.random.default_rng(0).random((150, 3))
    direct = KFuse(3).fit(X)
    D = pairwise_distances(X)
    graph = kneighbors_graph(X, direct.n_neighbors_, mode="distance")
    square = KFuse(3, metric="precomputed").fit(D)
    sparse = KFuse(3, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(square.labels_, direct.labels_)
    assert_same_clusters(sparse.subcluster_labels_, direct.subcluster_labels_)
    np.testing.assert_array_equal(square.predict(D), direct.labels_)
    np.testing.assert_array_equal(
        sparse.predict(kneighbors_graph(X, 5, mode="distance", include_self=True)), sparse.labels_
    )


def test_graph_in_two_pieces():
    X, y = make_blobs(120, centers=[[0, 0], [100, 0]], random_state=0)
    graph = kneighbors_graph(X, 30, mode="distance")
    assert adjusted_rand_score(y, KFuse(2, metric="precomputed").fit_predict(graph)) == 1
    assert KFuse(1, metric="precomputed").fit(graph).n_clusters_ == 1


def test_frames_keep_their_names():
    columns = ["länge", "b", "c", "d"]
    from_pandas = KFuse(2).fit(pd.DataFrame(X_IRIS, columns=columns))
    from_polars = KFuse(2).fit(pl.DataFrame(X_IRIS, schema=columns))
    assert list(from_pandas.feature_names_in_) == list(from_polars.feature_names_in_) == columns
    np.testing.assert_array_equal(from_pandas.labels_, from_polars.labels_)
    np.testing.assert_array_equal(from_pandas.labels_, KFuse(2).fit_predict(X_IRIS))


def test_float32_is_kept():
    model = KFuse(2).fit(X_IRIS.astype(np.float32))
    assert model._fit_X.dtype == np.float32


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e307, 1e-300])
def test_huge_and_tiny_values(scale):
    model = KFuse(2, fusion="paper").fit(X_IRIS * scale)
    assert np.isfinite(model.density_).all()
    assert sorted(np.bincount(model.labels_)) == [50, 100]
    np.testing.assert_array_equal(model.predict(X_IRIS * scale), model.labels_)


@pytest.mark.parametrize(
    "X", [[[3.0]], [[0.0], [1.0]], np.zeros((30, 2)), np.column_stack([np.arange(20.0), np.ones(20)])]
)
def test_smallest_data(X):
    model = KFuse(1).fit(X)
    np.testing.assert_array_equal(model.labels_, np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict(X), np.zeros(len(X)))


def test_fewer_subclusters_than_clusters_warns():
    with pytest.warns(UserWarning, match="The data has 1 sub-cluster, so there is 1 cluster instead of 2"):
        model = KFuse(2, fusion="paper").fit([[0.0], [1.0]])
    assert model.n_clusters_ == 1


def test_pipeline_clone_and_pickle():
    pipeline = make_pipeline(MinMaxScaler(), KFuse(2)).fit(X_IRIS)
    copy = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(copy.predict(X_IRIS), pipeline[-1].labels_)
    np.testing.assert_array_equal(copy[-1].cut(3), pipeline[-1].cut(3))
    assert clone(pipeline[-1]).get_params() == pipeline[-1].get_params()


def test_verbose_names_the_stages(capsys):
    KFuse(2, verbose=True).fit(X_IRIS)
    printed = capsys.readouterr().err
    for stage in ("neighbours", "natural neighbours", "density", "sub-clusters", "merging"):
        assert stage in printed


@pytest.mark.large
def test_20000_samples_within_one_gigabyte():
    code = """
        import resource
        import numpy as np
        from kfuse import KFuse
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20_000, 2)) + rng.integers(0, 3, (20_000, 1)) * 20
        KFuse(3, fusion="paper").fit(X[:100])
        cap = 2**30  # a table of all pairs would take three times as much
        resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))
        for fusion in ("adaptive", "paper"):
            assert KFuse(3, fusion=fusion).fit(X).n_clusters_ == 3
    """
    done = run_code(textwrap.dedent(code))
    assert done.returncode == 0, done.stderr


def test_a_worker_of_a_pool_fits_in_one_thread_without_a_warning():
    code = """
        import multiprocessing, warnings
        import numpy as np
        warnings.simplefilter("error")
        from kfuse import KFuse
        def fit(seed):
            return KFuse(3).fit(np.random.default_rng(seed).random((60, 2))).labels_.tolist()
        if __name__ == "__main__":
            serial = [fit(seed) for seed in range(4)]
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(fit, range(4)) == serial
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
