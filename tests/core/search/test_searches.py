"""Every search finds the same neighbours, by (distance, index)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

from kfuse.core.distances import EuclideanDistances, GraphDistances
from kfuse.core.execution import Execution, Progress
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


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", [RowSearch, BruteForceSearch, KDTreeSearch])
def test_a_few_samples_equal_sorting_in_any_blocks(kind, ties, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (50, 2)).astype(float) if ties else rng.random((50, 3))
    expected = by_sorting(X, 4)
    for kept, per_block in ((2**25, 2**20), (0, 60), (2**25, 30)):
        monkeypatch.setattr(table, "ENTRIES_KEPT", kept)
        for module in (base, kd_tree, rows, table):
            monkeypatch.setattr(module, "ENTRIES_PER_BLOCK", per_block)
        found = table_of(kind(EuclideanDistances(X)), 4)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        some = NeighborTable(kind(EuclideanDistances(X)))
        for asks_before in (False, True):
            if asks_before:
                some.collect(6)
            asked = np.array([44, 3, 17])
            blocks = list(some.blocks_of(asked, 4))
            assert sorted(sample for block in blocks for sample in block.rows) == [3, 17, 44]
            for block in blocks:
                np.testing.assert_array_equal(block.indices, expected[0][block.rows])
                np.testing.assert_array_equal(block.distances, expected[1][block.rows])


def test_tables_keep_what_was_found_and_tell_how_far_they_are(monkeypatch):
    monkeypatch.setattr(table, "ENTRIES_KEPT", 0)
    monkeypatch.setattr(base, "ENTRIES_PER_BLOCK", 8)
    seen, asked = [], []

    class Seen(Progress):
        def advance(self, done, total, unit):
            seen.append((done, total, unit))

    graph = kneighbors_graph(np.random.default_rng(4).random((10, 2)), 4, mode="distance")
    search = GraphSearch(GraphDistances(graph))
    query = search.query
    monkeypatch.setattr(search, "query", lambda rows, k: asked.append(rows.tolist()) or query(rows, k))
    whole = NeighborTable(search, Execution(1, Seen()))
    blocks = whole.blocks(2)
    assert next(blocks).rows.tolist() == [0, 1, 2, 3]
    assert asked == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]  # a few are searched ahead
    assert [block.rows.size for block in blocks] == [4, 2]
    assert seen == [(4, 10, "samples"), (8, 10, "samples"), (10, 10, "samples")]
    whole.nearest(3)
    assert len(asked) > 3
    del asked[:]
    (block,) = whole.blocks(2)
    assert asked == []
    assert (block.indices.shape, block.distances.shape) == ((10, 2), (10, 2))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_new_samples_find_the_nearest(n_threads, monkeypatch):
    monkeypatch.setattr(base, "ENTRIES_PER_BLOCK", 60)
    monkeypatch.setattr(kd_tree, "SAMPLES_AT_A_TIME", 4)
    rng = np.random.default_rng(5)
    X, queries = rng.integers(0, 6, (25, 2)).astype(float), rng.integers(-1, 7, (11, 2)).astype(float)
    expected = np.argmin(cdist(queries, X), axis=1)
    for kind in (RowSearch, KDTreeSearch):
        found = kind(EuclideanDistances(X)).nearest(queries, Execution(n_threads))
        np.testing.assert_array_equal(found, expected)


def test_bridges_by_rows_are_the_shortest_of_each_component(monkeypatch):
    monkeypatch.setattr(base, "BRIDGED_ROWS", 4)
    X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0], [10.0], [11.0], [2.0], [20.0]])
    component = np.array([0, 0, 1, 1, 2, 2, 2, 1, 3], dtype=np.int32)
    found = RowSearch(EuclideanDistances(X)).bridges(component)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [
        (1, 7, 1.0),
        (7, 1, 1.0),
        (4, 3, 5.0),
        (8, 6, 9.0),
    ]
    alone = RowSearch(EuclideanDistances(X)).bridges(np.zeros(9, dtype=np.int32))
    assert alone.first.size == 0


def test_blocks_hold_no_more_than_their_room():
    assert [base.NeighborSearch().rows_per_block(k) for k in (0, 1, 3, 2**21)] == [2**20, 2**20, 349525, 1]
    wide = RowSearch(EuclideanDistances(np.zeros((3000, 1))))
    assert wide.rows_per_block(100) == 2**20 // 3100


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
