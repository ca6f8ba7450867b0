"""Small parts of the searches, each alone: those that a wrong result would not show, as others make up for them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.caching import FunctionCache
from strategies import samples

from kfuse.core import brute_force, kd_tree, natural, nearest, neighbors, partition, spatial, threads
from kfuse.core.compiled import ForgivingCache
from kfuse.core.distances import EuclideanDistances, MatrixDistances, MetricDistances
from kfuse.core.fusion import bridges, gaps
from kfuse.core.fusion.similarity import log_similarity
from kfuse.core.neighbors import BruteForceSearch, KDTreeSearch, NeighborTable, RowSearch, choose_search

SEEDS = st.integers(0, 2**32 - 1)


def candidates(seed, n):
    """Squared distances with ties, and the samples they belong to."""
    rng = np.random.default_rng(seed)
    squares = rng.integers(0, rng.integers(1, 60), n).astype(float) ** 2
    return squares, rng.permutation(10 * n)[:n].astype(np.int32)


def by_distance_and_index(squares, indices):
    order = np.lexsort((indices, np.sqrt(squares)))
    return list(zip(squares[order], indices[order], strict=True))


# Candidates


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 60), st.data())
def test_select_puts_the_nearest_first(seed, n, data):
    k = data.draw(st.integers(1, n))
    squares, indices = candidates(seed, n)
    expected = by_distance_and_index(squares, indices)
    nearest.select(squares, indices, n, k)
    assert by_distance_and_index(squares[:k], indices[:k]) == expected[:k]
    assert by_distance_and_index(squares, indices) == expected


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 60), st.data())
def test_place_sorted_sorts(seed, n, data):
    k = data.draw(st.integers(0, n))
    distances, indices = candidates(seed, n)
    expected = by_distance_and_index(distances, indices)
    found, found_indices = np.full(k, -1.0), np.full(k, -1, dtype=np.int32)
    nearest.place_sorted(distances, indices, n, found, found_indices)
    assert list(zip(found, found_indices, strict=True)) == expected[:k]


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 80), st.booleans(), st.data())
def test_keep_nearest_keeps_the_k_nearest_and_few_others(seed, n, knows_reach, data):
    k = data.draw(st.integers(1, n))
    room = data.draw(st.integers(k + 1, n + 2))
    squares, indices = candidates(seed, n)
    expected = by_distance_and_index(squares, indices)
    reach = squares.max() if knows_reach else np.inf
    count, new_reach = nearest.keep_nearest(squares, indices, n, k, reach, room)
    within_reach = sum(square <= new_reach for square, _ in expected)
    assert count == (within_reach if within_reach < room else k) >= k
    assert by_distance_and_index(squares[:count], indices[:count])[:k] == expected[:k]
    assert expected[k - 1][0] <= new_reach <= expected[-1][0] * (1 + 1e-14)


def test_keep_nearest_drops_most_of_the_others():
    rng = np.random.default_rng(0)
    squares, indices = rng.random(500), np.arange(500, dtype=np.int32)
    expected = np.sort(squares)
    count, reach = nearest.keep_nearest(squares, indices, 500, 40, np.inf, 400)
    assert 40 <= count <= 45
    assert expected[39] <= reach < expected[45]


@settings(max_examples=100)
@given(SEEDS, st.integers(1, 200), st.data())
def test_threshold_leaves_enough(seed, n, data):
    k = data.draw(st.integers(1, n))
    squares = np.random.default_rng(seed).random(n)
    bound = nearest.threshold(squares, n, k, squares.max())
    assert k <= (squares <= bound).sum() <= k + k // 8 + 1


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 80), st.data())
def test_put_lowest_first_gives_the_greatest_of_the_lowest(seed, n, data):
    length = data.draw(st.integers(1, n))
    bounds, columns = candidates(seed, n)
    expected, pairs = np.sort(bounds), sorted(zip(bounds, columns, strict=True))
    assert brute_force.put_lowest_first(bounds, columns, length) == expected[length - 1]
    np.testing.assert_array_equal(np.sort(bounds[:length]), expected[:length])
    assert sorted(zip(bounds, columns, strict=True)) == pairs


@settings(max_examples=100)
@given(SEEDS, st.integers(0, 150), st.integers(0, 60))
def test_within_gives_what_is_within(seed, n, limit):
    bounds, columns = candidates(seed, n)
    found, found_columns = brute_force.within(bounds, columns, float(limit**2))
    near = bounds <= limit**2
    np.testing.assert_array_equal(found, bounds[near])
    np.testing.assert_array_equal(found_columns, columns[near])


@pytest.mark.parametrize(("limit", "expected"), [(0.9, False), (1.0, True), (5.0, True)])
def test_any_upto(limit, expected):
    assert brute_force.any_upto(np.array([3.0, 1.0, 2.0]), limit) == expected
    assert not brute_force.any_upto(np.empty(0), limit)


@pytest.mark.parametrize(
    ("means", "variances", "expected"),
    [
        ((1, 2), (3, 6), 0.5 * 1.5),
        ((2, 1), (6, 3), 0.5 * 1.5),
        ((1, 4), (0, 0), 0.25),  # of no variance and none, nothing is similar
        ((0, 0), (0, 0), 1.0),  # of no density and none, all is
        ((0, 1), (5, 5), 0.0),
        ((3, 3), (0, 2), 1.0),
    ],
)
def test_similarity(means, variances, expected):
    assert math.exp(log_similarity(*map(float, means + variances))) == pytest.approx(expected)


# Boxes


def boxes_of(rng, n_features):
    lower = rng.integers(-5, 5, (3, n_features)).astype(float)
    return np.stack([lower, lower + rng.integers(0, 4, (3, n_features))], axis=1)


@settings(max_examples=100)
@given(SEEDS, st.integers(1, 6))
def test_gaps_between_boxes_and_points(seed, n_features):
    rng = np.random.default_rng(seed)
    boxes, point = boxes_of(rng, n_features), rng.integers(-6, 10, (2, n_features)).astype(float)
    apart = np.maximum(0, np.maximum(boxes[1, 0] - boxes[0, 1], boxes[0, 0] - boxes[1, 1]))
    outside = np.maximum(0, np.maximum(boxes[2, 0] - point[1], point[1] - boxes[2, 1]))
    assert kd_tree.gap_between(boxes[0], boxes, 1) == (apart**2).sum()
    assert gaps.squared_distance_of_boxes(boxes[0], boxes[1]) == (apart**2).sum()
    assert kd_tree.gap_to(point, 1, boxes, 2) == (outside**2).sum()
    assert kd_tree.squared_distance_to_box(point[1], boxes[2]) == (outside**2).sum()


@settings(max_examples=50)
@given(samples(max_samples=150))
def test_the_tree_encloses_its_points(X):
    tree = kd_tree.build(X)
    first_leaf = len(tree.starts) // 2
    np.testing.assert_array_equal(tree.points, X[tree.order])
    assert (tree.starts[0], tree.stops[0]) == (0, len(X))
    for node, (start, stop) in enumerate(zip(tree.starts, tree.stops, strict=True)):
        inside = tree.points[start:stop]
        np.testing.assert_array_equal(tree.bounds[node], [inside.min(axis=0), inside.max(axis=0)])
        if node < first_leaf:
            assert tree.starts[2 * node + 1] == start
            assert tree.stops[2 * node + 1] == tree.starts[2 * node + 2]
            assert tree.stops[2 * node + 2] == stop
            left, right = tree.stops[2 * node + 1] - start, stop - tree.starts[2 * node + 2]
            assert 0 <= right - left <= 1
        else:
            np.testing.assert_array_equal(tree.leaves[node - first_leaf, :, : stop - start], inside.T)
            assert stop - start <= spatial.LEAF_SIZE < 2 * (stop - start) + 2 or first_leaf == 0


def test_the_tree_is_as_deep_as_it_has_to_be():
    sizes = {1: 0, 16: 0, 17: 1, 32: 1, 33: 2, 64: 2, 65: 3, 10_000: 10}
    assert {n: spatial.n_levels(n) for n in sizes} == sizes


@settings(max_examples=50)
@given(samples(max_samples=150))
def test_each_node_is_split_at_the_median_of_its_widest_side(X):
    tree = kd_tree.build(X)
    for node in range(len(tree.starts) // 2):
        start, middle, stop = tree.starts[node], tree.stops[2 * node + 1], tree.stops[node]
        extents = np.ptp(tree.points[start:stop], axis=0)
        below, above = tree.points[start:middle], tree.points[middle:stop]
        splits = [c for c in range(X.shape[1]) if below[:, c].max() <= above[:, c].min()]
        assert extents.max() == 0 or any(extents[c] == extents.max() for c in splits)


@settings(max_examples=100)
@given(SEEDS, st.integers(1, 30), st.integers(1, 4))
def test_the_widest_column(seed, n, n_columns):
    columns = np.random.default_rng(seed).integers(-9, 9, (n + 4, n_columns)).astype(float)
    assert spatial.widest_column(columns, 2, n + 2) == np.ptp(columns[2 : n + 2], axis=0).argmax()


def test_a_leaf_is_crowded_if_it_holds_one_point_many_times():
    spread = np.random.default_rng(0).random((40, 2))
    assert not kd_tree.has_crowded_leaf(kd_tree.build(spread))
    assert not kd_tree.has_crowded_leaf(kd_tree.build(spread[:1]))
    assert not kd_tree.has_crowded_leaf(kd_tree.build(np.column_stack([np.zeros(40), spread[:, 0]])))
    assert kd_tree.has_crowded_leaf(kd_tree.build(np.zeros((2, 2))))
    assert kd_tree.has_crowded_leaf(kd_tree.build(np.vstack([spread, np.zeros((40, 2))])))


def test_where_columns_are_many_the_widest_split_and_ties_are_told_apart():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random((30, 5)) / 1000, rng.integers(0, 2, (30, 16)) * np.arange(1, 17)])
    columns = spatial._columns_to_split(X)
    np.testing.assert_array_equal(columns[:, :16], X[:, :4:-1])
    assert np.unique(columns, axis=0).shape[0] == 30
    ranks = columns[:, 16]
    tied = (columns[:, None, :16] == columns[:, :16]).all(axis=2).sum(axis=1) > 1
    assert (ranks[~tied] == 0).all()


@settings(max_examples=50)
@given(samples(max_samples=150), st.integers(1, 40), st.integers(1, 3))
def test_parts_of_the_order_can_be_made_by_several_threads(X, per_task, n_threads):
    expected = spatial.spatial_order(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spatial, "SAMPLES_PER_TASK", per_task)
        np.testing.assert_array_equal(spatial.spatial_order(X, n_threads), expected)


@settings(max_examples=100)
@given(SEEDS, st.integers(0, 9), st.integers(0, 12))
def test_the_points_of_a_leaf_are_sorted(seed, first, size):
    columns = np.random.default_rng(seed).integers(0, 3, (25, 3)).astype(float)
    expected, order = columns.copy(), np.arange(25)
    inside = slice(first, first + size)
    expected[inside] = columns[inside][np.lexsort(columns[inside].T[::-1])]
    before = columns.copy()
    spatial.sort_leaf(columns, order, first, first + size, np.empty(3))
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(before[order], columns)


@settings(max_examples=100)
@given(SEEDS, st.integers(1, 30), st.data())
def test_the_median_parts_the_smaller_from_the_larger(seed, n, data):
    columns = np.random.default_rng(seed).integers(0, 4, (n + 5, 2)).astype(float)
    before, order = columns.copy(), np.arange(n + 5)
    first, middle = 2, data.draw(st.integers(2, n + 1))
    spatial.place_median(columns, order, first, n + 1, middle, 1, np.empty(2))
    np.testing.assert_array_equal(before[order], columns)
    np.testing.assert_array_equal(order[[0, 1, *range(n + 2, n + 5)]], [0, 1, *range(n + 2, n + 5)])
    ranked = [(row[1], *row) for row in columns[first : n + 2].tolist()]
    place = middle - first
    assert max(ranked[: place + 1]) == ranked[place] == min(ranked[place:])


@pytest.mark.parametrize(("entries", "expected"), [(30 * 7, 7), (30 * 7 + 29, 7), (10**6, 12), (30 * 50, 12)])
def test_as_many_are_kept_on_short_lists_as_there_is_room_for(entries, expected, monkeypatch):
    monkeypatch.setattr(brute_force, "WORTH_KEEPING", 88)
    monkeypatch.setattr(brute_force, "LONGEST_KEPT", 12)
    monkeypatch.setattr(brute_force, "ENTRIES_KEPT", entries)
    X = np.random.default_rng(7).random((30, 3))
    assert brute_force.Screen(X, np.float32)._kept.bounds.shape == (30, expected)
    assert brute_force.Screen(X[:29], np.float32)._kept is None
    monkeypatch.setattr(brute_force, "LONGEST_KEPT", 10**6)
    monkeypatch.setattr(brute_force, "ENTRIES_KEPT", 10**9)
    assert brute_force.Screen(X, np.float32)._kept.bounds.shape == (30, 30)


# Pieces of the searches


@settings(max_examples=50)
@given(samples(max_samples=100), SEEDS)
def test_pieces_of_nodes(X, seed):
    tree = kd_tree.build(X)
    piece = np.sort(np.random.default_rng(seed).integers(0, 3, len(X))).astype(np.int32)
    found = np.empty(tree.starts.size, dtype=np.int32)
    bridges.note_pieces_of_nodes(tree.starts, tree.stops, piece, found)
    for node, (start, stop) in enumerate(zip(tree.starts, tree.stops, strict=True)):
        there = np.unique(piece[start:stop])
        assert found[node] == (there[0] if there.size == 1 else -1)


def test_runs_are_short_and_hold_every_point():
    sizes = np.array([1, 16, 17, 40, 3])
    points = np.random.default_rng(2).random((sizes.sum(), 2))
    runs = gaps._cut_into_runs(points, sizes)
    np.testing.assert_array_equal(np.diff(runs.firsts), [1, 1, 2, 3, 1])
    np.testing.assert_array_equal(np.diff(runs.starts), [1, 16, 16, 1, 16, 16, 8, 3])
    for run, (start, stop) in enumerate(zip(runs.starts, runs.starts[1:], strict=False)):
        inside = points[start:stop]
        np.testing.assert_array_equal(runs.boxes[run], [inside.min(axis=0), inside.max(axis=0)])


def test_work_is_shared_out_evenly(monkeypatch):
    """Parts of at most WORK_PER_PART pairs of samples, but for single pairs of sub-clusters that are larger."""
    labels = np.repeat(np.arange(6), [3, 10, 2, 40, 5, 5])
    table = NeighborTable(KDTreeSearch(EuclideanDistances(np.random.default_rng(8).random((65, 2)))))
    found = gaps.Gaps(table, table.distances, labels)
    i, j = np.triu_indices(6, 1)
    expected, least, parts = found.between(i, j), gaps.least_distances, []
    monkeypatch.setattr(gaps, "WORK_PER_PART", 100)
    monkeypatch.setattr(gaps, "least_distances", lambda i, j, *runs: parts.append((i, j)) or least(i, j, *runs))
    np.testing.assert_array_equal(found.between(i, j), expected)
    work = [int((found.sizes[a] * found.sizes[b]).sum()) for a, b in parts]
    assert sum(work) == int((found.sizes[i] * found.sizes[j]).sum())
    assert all(
        amount <= 200 or a.size == 1 or (found.sizes[a] * found.sizes[b]).max() > 100
        for amount, (a, b) in zip(work, parts, strict=True)
    )
    assert len(work) >= 5


def test_least_distances_of_boxes_bound_those_of_samples():
    rng = np.random.default_rng(3)
    X, labels = rng.random((200, 2)), np.sort(rng.integers(0, 12, 200))
    table = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    found = gaps.Gaps(table, table.distances, labels)
    i, j = np.triu_indices(12, 1)
    least = [np.linalg.norm(X[labels == a][:, None] - X[labels == b], axis=2).min() for a, b in zip(i, j, strict=True)]
    boxes = [(X[labels == a].min(axis=0), X[labels == a].max(axis=0)) for a in range(12)]
    apart = [
        np.linalg.norm(np.maximum(0, np.maximum(boxes[a][0] - boxes[b][1], boxes[b][0] - boxes[a][1])))
        for a, b in zip(i, j, strict=True)
    ]
    np.testing.assert_allclose(found.between(i, j), least)
    np.testing.assert_allclose(found.at_least(i, j), apart)


# How much to ask for


def guess(found_in_round, reach, largest_share):
    """The guess of `_neighbors_wanted`, round by round."""
    look = len(found_in_round)
    early, late = sum(found_in_round[look // 4 : look // 2]), sum(found_in_round[look // 2 :])
    power = 1 + math.log2(max(1, early / late))
    chance, natural_value = 0.0, 4 * look
    for number in range(look + 1, 4 * look + 1):
        chance += math.exp(-2 * late / look * (0.75 * look / number) ** power)
        if chance >= 1:
            natural_value = number
            break
    return math.ceil(natural_value * max(1.0, min(reach, largest_share * 1.1)))


@pytest.mark.parametrize("reach", [1.0, 1.5, math.inf])
@pytest.mark.parametrize(
    "found", [[90, 40, 20, 11, 9, 6, 4, 3], [50, 20, 9, 5, 3, 2, 1, 1], [40, 30] * 4, [9] * 40, [800] + [5] * 15]
)
def test_the_next_look_is_long_enough(found, reach):
    X = np.random.default_rng(4).random((120, 3))
    table = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    shares = np.bincount(table.collect(len(found)).indices.ravel()).max() / len(found)
    assert natural._neighbors_wanted(table, np.array(found), reach) == guess(found, reach, shares)


def test_nothing_found_asks_for_one():
    assert natural._neighbors_wanted(None, np.empty(0, dtype=int), 3.0) == 1


@pytest.mark.parametrize("search", [RowSearch, KDTreeSearch])
def test_blocks_fill_the_room_that_they_have(search):
    X = np.random.default_rng(5).random((1000, 2))
    found = search(EuclideanDistances(X))
    room = neighbors.ENTRIES_PER_BLOCK
    for k in (0, 1, 50):
        entries = 1000 + k if search is RowSearch else 8 * max(1, k)
        assert found.rows_per_block(k) * entries <= room < (found.rows_per_block(k) + 1) * entries


@pytest.mark.parametrize(
    ("how", "metric", "kind"),
    [
        ("kd_tree", "euclidean", KDTreeSearch),
        ("brute", "euclidean", BruteForceSearch),
        ("brute", "cosine", BruteForceSearch),
        ("kd_tree", "cosine", KDTreeSearch),
        ("auto", "manhattan", RowSearch),
        ("brute", "manhattan", RowSearch),
    ],
)
def test_the_search_is_the_one_asked_for(how, metric, kind):
    assert type(choose_search(np.ones((5, 2)), metric, how)) is kind


def test_a_try_takes_the_time_of_stretches_from_all_over_the_data(monkeypatch):
    asked, clock = [], iter([10.0, 13.5])
    monkeypatch.setattr(neighbors.time, "thread_time", lambda: next(clock))
    search = RowSearch(MetricDistances(np.arange(1000.0)[:, None], "manhattan"))
    monkeypatch.setattr(search, "query", lambda rows, k: asked.append((rows, k)))
    assert neighbors._time_of_a_try(search, 7) == 3.5
    (warm, k), (rows, _) = asked
    assert (len(warm), k, len(rows), rows[0], rows[-1]) == (2, 7, 128, 0, 999)
    assert (np.diff(rows.reshape(8, 16), axis=1) == 1).all()


@pytest.mark.parametrize(("few", "many", "expected"), [(1.0, 2.0, 160), (1.0, 2.1, 32), (3.0, 1.0, 160)])
def test_the_first_look_is_long_if_that_takes_little_longer(few, many, expected, monkeypatch):
    monkeypatch.setattr(neighbors, "TRIED_SAMPLES", 300)
    monkeypatch.setattr(neighbors, "_time_of_a_try", lambda _, k: many if k == 160 else few)
    X = np.random.default_rng(6).random((300, 4))
    look = {d: NeighborTable(KDTreeSearch(EuclideanDistances(X[:, :d]))).first_look for d in (3, 4)}
    assert look == {3: 32, 4: expected}
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X[:299]))).first_look == 32
    assert NeighborTable(BruteForceSearch(EuclideanDistances(X))).first_look == 32
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X[:20]))).first_look == 19
    assert NeighborTable(RowSearch(MatrixDistances(np.zeros((300, 300))))).first_look == 32
    monkeypatch.setattr(neighbors, "ENTRIES_KEPT", 160 * 299)
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X))).first_look == 32


# Threads, and compiled code on disk


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n_items", "per_range", "n_ranges"), [(10, 4, 3), (8, 4, 2), (3, 4, 1), (9, 1, 9)])
def test_ranges_cover_everything_in_order(n_items, per_range, n_ranges, n_threads):
    seen = []
    progress = SimpleNamespace(advance=lambda *what: seen.append(what))
    found = threads.over_ranges(lambda start, stop: (start, stop), n_items, per_range, n_threads, progress)
    assert len(found) == n_ranges
    assert [number for start, stop in found for number in range(start, stop)] == list(range(n_items))
    assert seen == [(stop, n_items, "samples") for _, stop in found]


def test_one_thread_is_the_one_that_there_is():
    assert type(threads.workers(1)) is threads.Inline
    with threads.workers(2) as pool:
        assert pool._max_workers == 2


def test_left_out_samples_that_reach_nobody_join_the_first_that_has_a_label():
    far = np.full((5, 5), np.inf)
    far[0, 1] = far[1, 0] = 1.0
    far[3, 4] = far[4, 3] = 2.0
    table = NeighborTable(RowSearch(MatrixDistances(far)))
    labels = np.array([-1, -1, -1, 7, 4])
    partition._assign_left_out(table, 1, labels, np.array([0, 1, 2]))
    np.testing.assert_array_equal(labels, [7, 7, 7, 7, 4])


def test_a_worker_of_a_pool_has_one_thread(monkeypatch):
    assert threads.number_of_threads(3) == 3
    monkeypatch.setattr(threads, "current_process", lambda: SimpleNamespace(daemon=True))
    assert threads.number_of_threads(3) == 1


def test_a_cache_that_cannot_be_read_or_written_is_as_good_as_none(monkeypatch):
    done = []

    def fails(self, *_):
        done.append("tried")
        raise OSError

    monkeypatch.setattr(FunctionCache, "load_overload", fails)
    monkeypatch.setattr(FunctionCache, "save_overload", fails)
    monkeypatch.setattr(FunctionCache, "flush", lambda self: done.append("emptied"))
    cache = ForgivingCache(guess)
    assert cache.load_overload(None, None) is None
    cache.save_overload(None, None)
    assert done == ["tried", "tried", "emptied", "tried"]
