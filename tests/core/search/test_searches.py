"""Every search finds the same neighbours, by (distance, index)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from kfuse.core.distances import EuclideanDistances, GraphDistances
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborTable, base, choose, choose_search, kd_tree, rows, table
from kfuse.core.search.brute_force import BruteForceSearch
from kfuse.core.search.graph import GraphSearch
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch
from tests.strategies import samples


def table_of(search, k, n_threads=1):
    table = NeighborTable(search, Execution(n_threads))
    indices = np.empty((table.n_samples, k), dtype=int)
    distances = np.empty((table.n_samples, k))
    for block in table.blocks(k):
        indices[block.rows], distances[block.rows] = block.indices, block.distances
    return indices, distances


def by_sorting(X, k):
    """The slow truth: sort all others by (distance, index)."""
    indices, distances = [], []
    for p, point in enumerate(X):
        total = np.zeros(len(X))
        for feature in range(X.shape[1]):
            total += (X[:, feature] - point[feature]) ** 2
        d = np.sqrt(total)
        order = [q for q in np.lexsort((np.arange(len(X)), d)) if q != p][:k]
        indices.append(order)
        distances.append(d[order])
    return np.array(indices, dtype=int).reshape(len(X), k), np.array(distances).reshape(len(X), k)


@settings(max_examples=200)
@given(samples(), st.data())
def test_searches_equal_sorting(X, data):
    k = data.draw(st.integers(0, len(X) - 1))
    expected = by_sorting(X, k)
    for search in (RowSearch, BruteForceSearch, KDTreeSearch):
        found = table_of(search(EuclideanDistances(X)), k)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("kind", [RowSearch, BruteForceSearch, KDTreeSearch])
def test_of_many_identical_samples_the_first_are_nearest(kind):
    X = np.zeros((60, 2))
    X[7:12] = 1.0
    expected = by_sorting(X, 6)
    found = table_of(kind(EuclideanDistances(X)), 6)
    np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize("kind", [RowSearch, BruteForceSearch, KDTreeSearch])
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_blocks_and_threads_change_nothing(kind, n_threads, monkeypatch):
    X = np.random.default_rng(1).integers(0, 9, (500, 3)).astype(float)
    expected = by_sorting(X, 20)
    for kept, per_block in ((2**25, 2**20), (0, 2**20), (0, 3000), (2**25, 1)):
        monkeypatch.setattr(table, "ENTRIES_KEPT", kept)
        for room in (base, kd_tree, rows, table):
            monkeypatch.setattr(room, "ENTRIES_PER_BLOCK", per_block)
        found = table_of(kind(EuclideanDistances(X)), 20, n_threads)
        np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize("n_features", [2, 6, 10, 40, 200])
@pytest.mark.parametrize("n_samples", [50, 150])
def test_auto_tries_both_searches_where_either_may_be_faster(n_samples, n_features, monkeypatch):
    monkeypatch.setattr(choose, "TIMED_SAMPLES", 100)
    tried = []
    monkeypatch.setattr(choose, "_trial_time", lambda search: tried.append(type(search)) or len(tried))
    X = np.random.default_rng(5).random((n_samples, n_features))
    search = choose_search(X, "euclidean", "auto")
    assert tried == ([KDTreeSearch, BruteForceSearch] if n_samples == 150 and n_features in (10, 40) else [])
    assert isinstance(search, KDTreeSearch if n_features < 12 or tried else BruteForceSearch)


def test_a_try_takes_time():
    X = np.random.default_rng(6).random((20_000, 40))
    assert choose._trial_time(BruteForceSearch(EuclideanDistances(X))) > 0


def test_float32_is_measured_in_float64():
    X = np.random.default_rng(2).random((300, 3)).astype(np.float32)
    wide = table_of(KDTreeSearch(EuclideanDistances(X.astype(np.float64))), 9)
    narrow = table_of(KDTreeSearch(EuclideanDistances(X)), 9)
    np.testing.assert_array_equal(narrow[0], wide[0])
    np.testing.assert_array_equal(narrow[1], wide[1])
    assert EuclideanDistances(X).points.dtype == np.float32


def test_graph_gives_the_neighbours_it_holds():
    X = np.random.default_rng(3).random((80, 2))
    graph = kneighbors_graph(X, 12, mode="distance")
    expected = by_sorting(X, 12)
    found = table_of(GraphSearch(GraphDistances(graph)), 12)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1])


def test_graph_rows_are_infinite_where_nothing_is_stored():
    X = np.random.default_rng(4).random((30, 2))
    rows = GraphDistances(kneighbors_graph(X, 3, mode="distance")).rows(np.arange(30))
    stored = np.isfinite(rows)
    np.testing.assert_array_equal(stored, stored.T)
    np.testing.assert_allclose(rows[stored], cdist(X, X)[stored])


@pytest.mark.parametrize("k", [0, 1, 7, 20])
@pytest.mark.parametrize("is_held", [False, True])
def test_columns_are_dropped_in_place_unless_something_else_refers_to_them(k, is_held, monkeypatch):
    monkeypatch.setattr(table, "ROWS_AT_A_TIME", 13)
    wide = np.random.default_rng(7).random((100, 20))
    expected, held = wide.copy(), wide[3:] if is_held else None
    arrays = [wide, np.zeros(3)]
    address = wide.ctypes.data
    del wide
    found = table.narrowed(arrays, k)
    np.testing.assert_array_equal(found, expected[:, :k])
    assert len(arrays) == 1
    assert found.flags.owndata == (0 < k < 20 and not is_held)
    if is_held:
        np.testing.assert_array_equal(held, expected[3:])
        assert found.ctypes.data == address


def test_columns_of_a_part_of_another_array_are_left_in_place():
    whole = np.random.default_rng(7).random((100, 20))
    expected = whole[:, :5].copy()
    np.testing.assert_array_equal(table.narrowed([whole[:, :9]], 5), expected)


def test_a_table_keeps_the_last_number_of_neighbours():
    X = np.random.default_rng(8).random((300, 3))
    kept = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    for k in (9, 30, 12, 12, 31):
        expected = by_sorting(X, k)
        block = kept.collect(k)
        np.testing.assert_array_equal(block.indices, expected[0])
        np.testing.assert_array_equal(block.distances, expected[1])
        assert kept._kept.indices.shape == (300, k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 2, 16, 17])
def test_distances_that_are_not_kept_are_computed_again_to_the_last_bit(n_features, dtype):
    X = np.random.default_rng(9).standard_normal((200, n_features)).astype(dtype)
    kept = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    nearest, (_, distances) = kept.nearest(12), by_sorting(X.astype(np.float64), 12)
    assert (nearest._distances is None) == (n_features <= 16)
    rows = np.array([150, 3, 3, 77])
    np.testing.assert_array_equal(nearest.distances_of(), distances)
    np.testing.assert_array_equal(nearest.distances_of(slice(20, 50), 5), distances[20:50, :5])
    np.testing.assert_array_equal(nearest.distances_of(rows), distances[rows])
    np.testing.assert_array_equal(nearest.up_to(3).distances_of(rows, 0), np.empty((4, 0)))
    for block in kept.blocks(7, with_distances=1):
        np.testing.assert_array_equal(block.distances, distances[block.rows, :1])
