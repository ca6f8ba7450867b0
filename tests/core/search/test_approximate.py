"""Approximate neighbours: nearly all of the nearest, measured and sorted as the exact ones, the same for a seed."""

import sys

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.core.distances import CosineDistances, EuclideanDistances, MetricDistances
from kfuse.core.search import NeighborTable, choose_search
from kfuse.core.search import approximate as room
from kfuse.core.search.approximate import ApproximateSearch
from kfuse.core.search.brute_force import BruteForceSearch
from kfuse.core.search.rows import RowSearch

pytest.importorskip("pynndescent", reason="needs the extra kfuse[approx]")

N = 1500


@pytest.fixture(scope="module")
def data():
    return make_blobs(N, n_features=12, centers=6, random_state=0)[0]


def kinds(X):
    return [EuclideanDistances(X), CosineDistances(X), MetricDistances(X, "manhattan")]


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("k", [1, 6, 15])
def test_what_is_listed_is_measured_and_sorted(kind, k, monkeypatch):
    """Whatever is listed: the sample itself, gaps, fewer than asked for, at equal distances."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 5, (50, 3)).astype(float)
    lists = np.array([rng.permutation(50)[:16] for _ in X], dtype=np.int32)
    lists[:, 0] = np.arange(50)
    lists[rng.random(lists.shape) < 0.3] = -1
    monkeypatch.setattr(room.Candidates, "_make_lists", lambda self, length: lists)
    distances, rows = kinds(X)[kind], np.arange(40, 5, -1)
    indices, found = room.Candidates(distances, 0).query(rows, k)
    for row, sample in enumerate(rows):
        lengths = distances.rows(rows[[row]])[0]
        listed = {int(other) for other in lists[sample]} - {-1, int(sample)}
        expected = sorted((lengths[other], other) for other in listed)[:k]
        assert list(zip(found[row], indices[row], strict=True))[: len(expected)] == expected
        assert np.isinf(found[row, len(expected) :]).all()
        assert (indices[row, len(expected) :] == 50).all()


def test_lists_are_long_enough_and_made_seldom(monkeypatch):
    made = []
    monkeypatch.setattr(
        room.Candidates, "_make_lists", lambda _, length: made.append(length) or np.zeros((4, length), np.int32)
    )
    candidates = room.Candidates(EuclideanDistances(np.eye(4)), 0)
    lengths = [candidates._lists_for(k).shape[1] for k in (0, 79, 80, 159, 401, 803, 804, 12)]
    assert lengths == [80, 80, 160, 160, 402, 804, 1608, 1608]
    assert made == [80, 160, 402, 804, 1608]


def test_what_pynndescent_is_asked_for(monkeypatch):
    asked = []

    class Index:
        neighbor_graph = ("lists", "lengths")

        def __init__(self, *args, **options):
            asked.append((*args, options))

    monkeypatch.setattr("pynndescent.NNDescent", Index)
    X = np.eye(4)
    assert room.Candidates(MetricDistances(X, "cityblock"), 7)._make_lists(9) == "lists"
    ((points, metric, options),) = asked
    np.testing.assert_array_equal(points, X)
    assert metric == "manhattan"
    assert options == {"n_neighbors": 9, "max_candidates": 20, "random_state": 7, "n_jobs": 1}


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_what_pynndescent_gets_fills_its_range(scale):
    X = (np.random.default_rng(1).random((20, 3)) + 5) * scale
    points = room._in_float32(EuclideanDistances(X))
    assert points.dtype == np.float32
    assert 0.5 <= np.abs(points).max() <= 1
    moved = X - X.mean(axis=0)
    np.testing.assert_allclose(points / np.abs(points).max(), moved / np.abs(moved).max(), atol=1e-6)
    np.testing.assert_array_equal(room._in_float32(MetricDistances(X, "manhattan")), X.astype(np.float32))


@pytest.mark.large
@pytest.mark.parametrize("kind", range(2))  # pynndescent would compile for another metric, for ten seconds
def test_finds_nearly_all_neighbours_and_measures_them_exactly(data, kind):
    distances = kinds(data)[kind]
    exact = RowSearch(distances).query(np.arange(N), 30)
    found = ApproximateSearch(distances, 0).query(np.arange(N), 30)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact.indices, found.indices, strict=True)]) > 0.95
    rows = distances.rows(np.arange(N))
    np.testing.assert_array_equal(found.distances, np.take_along_axis(rows, found.indices.astype(int), axis=1))
    assert (found.indices != np.arange(N)[:, None]).all()
    for indices, lengths in zip(found.indices, found.distances, strict=True):
        np.testing.assert_array_equal(np.lexsort((indices, lengths)), np.arange(30))
        assert np.unique(indices).size == 30


@pytest.mark.large
def test_more_neighbours_make_longer_lists(data):
    search = ApproximateSearch(EuclideanDistances(data), 0)
    for k in (10, 79, 80, 140):
        block = search.query(np.arange(N), k)
        assert block.indices.shape == (N, k)
        assert np.isfinite(block.distances).all()
        assert search.candidates._lists.shape[1] == (80 if k < 80 else 160)


@pytest.mark.large
def test_samples_with_too_few_candidates_are_searched_exactly(data, monkeypatch):
    make = room.Candidates._make_lists

    def with_gaps(self, length):
        lists = make(self, length)
        lists[::3, 5:] = -1
        return lists

    monkeypatch.setattr(room.Candidates, "_make_lists", with_gaps)
    for distances in kinds(data)[:2]:
        found = ApproximateSearch(distances, 0).query(np.arange(0, N, 3), 30)
        expected = RowSearch(distances).query(np.arange(0, N, 3), 30)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize(
    ("n_samples", "k"), [(2, 1), (700, 20), pytest.param(N, 1000, marks=pytest.mark.large), (N, 0)]
)
def test_small_data_and_large_k_are_searched_exactly(data, n_samples, k):
    distances = EuclideanDistances(data[:n_samples])
    found = ApproximateSearch(distances, 0).query(np.arange(n_samples), k)
    np.testing.assert_array_equal(found.indices, BruteForceSearch(distances).query(np.arange(n_samples), k).indices)


@pytest.mark.large
def test_the_seed_decides_and_threads_do_not():
    X = np.random.default_rng(0).normal(size=(N, 40))
    fits = [KFuse(4, neighbors="approximate", random_state=3, n_jobs=n).fit(X) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].labels_, other.labels_)
        np.testing.assert_array_equal(fits[0].density_, other.density_)
    tables = [NeighborTable(choose_search(X, "euclidean", "approximate", seed=s)).collect(60) for s in (0, 0, 1)]
    np.testing.assert_array_equal(tables[0].indices, tables[1].indices)
    assert (tables[0].indices != tables[2].indices).any()


@pytest.mark.large
def test_far_from_zero_nothing_is_lost(data):
    near = ApproximateSearch(EuclideanDistances(data), 0).query(np.arange(N), 30)
    far = ApproximateSearch(EuclideanDistances(data + 2.0**30), 0).query(np.arange(N), 30)
    assert np.mean(near.indices == far.indices) > 0.95


@pytest.mark.large
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_clusters_as_the_exact_search_does(data, metric):
    model = KFuse(6, metric=metric, neighbors="approximate", random_state=0).fit(data)
    exact = KFuse(6, metric=metric).fit(data)
    assert adjusted_rand_score(exact.labels_, model.labels_) > 0.95


@pytest.mark.large
def test_identical_samples_share_a_cluster():
    X = np.repeat(np.random.default_rng(1).normal(size=(N // 3, 20)), 3, axis=0)
    labels = KFuse(10, neighbors="approximate", random_state=0).fit_predict(X).reshape(-1, 3)
    assert (labels == labels[:, :1]).all()


@pytest.mark.large
def test_many_identical_samples():
    X = np.vstack([np.zeros((N, 3)), np.random.default_rng(2).normal(size=(50, 3)) + 9])
    assert KFuse(2, neighbors="approximate", random_state=0).fit(X).n_clusters_ == 2


@pytest.mark.parametrize(("metric", "name"), [("cityblock", "manhattan"), ("l1", "l1"), ("canberra", "canberra")])
def test_metrics_have_the_names_of_pynndescent(metric, name):
    assert room._name_of(MetricDistances(np.eye(4), metric)) == name


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean", lambda a, b: abs(a - b).sum()])
def test_unknown_metrics_are_refused(data, metric):
    with pytest.raises(ValueError, match=r"neighbors='approximate' cannot search by metric=.*use neighbors='auto'"):
        KFuse(metric=metric, neighbors="approximate").fit(data[:50])


def test_precomputed_distances_are_refused():
    with pytest.raises(ValueError, match=r"searches among features.*use neighbors='auto'"):
        KFuse(metric="precomputed", neighbors="approximate").fit(np.zeros((3, 3)))


def test_says_what_to_install(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent.distances", None)
    with pytest.raises(ImportError, match=r"needs pynndescent: .*kfuse\[approx\]"):
        KFuse(neighbors="approximate").fit(data[:50])
