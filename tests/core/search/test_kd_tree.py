"""The order of samples in space, and the k-d tree over it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse.core.adaptive.bridges import shortest_bridges
from kfuse.core.distances import CosineDistances, EuclideanDistances
from kfuse.core.execution import Execution
from kfuse.core.search import boxes as room_of_boxes
from kfuse.core.search import kd_tree, spatial, tree_bridges
from kfuse.core.search.rows import RowSearch
from tests.strategies import SEEDS, samples


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
    assert room_of_boxes.squared_distance_of_boxes(boxes[0], boxes[1]) == (apart**2).sum()
    assert kd_tree.gap_to(point, 1, boxes, 2) == (outside**2).sum()
    assert room_of_boxes.squared_distance_to_box(point[1], boxes[2]) == (outside**2).sum()


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


def test_of_equally_wide_columns_those_split_that_do_so_most_evenly():
    shares = np.arange(1, 21) / 40.0  # of samples above the middle, by column
    X = (np.arange(200)[:, None] < 200 * shares).astype(float)
    np.testing.assert_array_equal(spatial._widest(X), np.arange(19, 3, -1))
    np.testing.assert_array_equal(spatial._widest(1.0 - X), np.arange(19, 3, -1))
    wider = np.column_stack([X[:, :1] * 2, X])
    assert spatial._widest(wider)[0] == 0
    assert spatial._widest(X[:, :10]).tolist() == list(range(10))


@settings(max_examples=50)
@given(samples(max_samples=150), st.integers(1, 40), st.integers(1, 3))
def test_parts_of_the_order_can_be_made_by_several_threads(X, per_task, n_threads):
    expected = spatial.spatial_order(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spatial, "SAMPLES_PER_TASK", per_task)
        np.testing.assert_array_equal(spatial.spatial_order(X, Execution(n_threads)), expected)


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


@settings(max_examples=50)
@given(samples(max_samples=100), SEEDS)
def test_components_of_nodes(X, seed):
    tree = kd_tree.build(X)
    component = np.sort(np.random.default_rng(seed).integers(0, 3, len(X))).astype(np.int32)
    found = np.empty(tree.starts.size, dtype=np.int32)
    tree_bridges.note_components_of_nodes(tree.starts, tree.stops, component, found)
    for node, (start, stop) in enumerate(zip(tree.starts, tree.stops, strict=True)):
        there = np.unique(component[start:stop])
        assert found[node] == (there[0] if there.size == 1 else -1)


@settings(max_examples=50)
@given(samples(max_samples=150), SEEDS, st.integers(1, 40))
def test_departures_cover_every_sample_once(X, seed, most):
    tree = kd_tree.build(X)
    component = np.sort(np.random.default_rng(seed).integers(0, 3, len(X))).astype(np.int32)
    of_node, departures = np.empty(tree.starts.size, dtype=np.int32), np.empty(tree.starts.size, dtype=np.int64)
    tree_bridges.note_components_of_nodes(tree.starts, tree.stops, component, of_node)
    n_found = tree_bridges.list_departures(tree.starts, tree.stops, of_node, most, departures)
    found = departures[:n_found]
    covered = np.concatenate([np.arange(tree.starts[node], tree.stops[node]) for node in found])
    np.testing.assert_array_equal(np.sort(covered), np.arange(len(X)))
    is_leaf = 2 * found + 1 >= tree.starts.size
    assert (is_leaf | ((of_node[found] >= 0) & (tree.stops[found] - tree.starts[found] <= most))).all()


@settings(max_examples=150)
@given(samples(max_samples=200), SEEDS, st.integers(1, 8), st.booleans())
def test_bridges_from_whole_nodes_equal_those_by_rows(X, seed, n_components, are_apart):
    """Components that are apart fill whole nodes, others share every leaf; grids are full of ties."""
    rng = np.random.default_rng(seed)
    component = rng.integers(0, n_components, len(X))
    if are_apart:
        component = (np.argsort(np.argsort(X[:, 0], kind="stable")) * n_components // len(X)).astype(int)
        X = X + 10.0 * component[:, None]
    _, component = np.unique(component, return_inverse=True)
    distances = EuclideanDistances(X)
    found = shortest_bridges(kd_tree.KDTreeSearch(distances), component.astype(np.int32))
    expected = shortest_bridges(RowSearch(distances), component.astype(np.int32))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_there_is_room_for_more_samples_at_one_place_than_candidates():
    found, distances = kd_tree.nearest(kd_tree.build(np.zeros((90, 2))), np.zeros((4, 2)), 2, np.arange(4))
    assert found.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert not distances.any()


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_a_few_queries_find_the_nearest_by_distance_then_index(k, ties):
    rng = np.random.default_rng(k)
    X = rng.integers(0, 7, (120, 2)).astype(float) if ties else rng.random((120, 3))
    queries = np.arange(0, 120, 11)
    lengths = np.linalg.norm(X[queries, None] - X, axis=2)
    found, distances = kd_tree.nearest(kd_tree.build(X), X[queries], k, queries)
    anybody, _ = kd_tree.nearest(kd_tree.build(X), X[queries] + 0.5, k)
    for row, query in enumerate(queries):
        total = np.zeros(120)
        for column in X.T:
            total += (column - column[query]) ** 2
        expected = sorted((d, i) for i, d in enumerate(np.sqrt(total)) if i != query)[:k]
        assert list(zip(distances[row], found[row], strict=True)) == expected
        moved = np.linalg.norm(X - X[query] - 0.5, axis=1)
        np.testing.assert_allclose(moved[anybody[row]], np.sort(moved)[:k])
    assert np.allclose(np.sort(lengths, axis=1)[:, 1 : k + 1], distances)


@pytest.mark.parametrize("are_apart", [False, True])
@pytest.mark.parametrize("n_components", [2, 3, 6])
def test_bridges_of_a_few_samples_equal_those_by_rows(n_components, are_apart, monkeypatch):
    monkeypatch.setattr(kd_tree, "LARGEST_DEPARTURE", 30)
    monkeypatch.setattr(kd_tree, "DEPARTURES_AT_A_TIME", 2)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 12, (90, 2)).astype(float)
        component = np.append(np.arange(n_components), rng.integers(0, n_components, 90 - n_components))
        X += 12.5 * component[:, None] * are_apart
        distances = EuclideanDistances(X)
        found = kd_tree.KDTreeSearch(distances).bridges(component.astype(np.int32))
        expected = RowSearch(distances).bridges(component.astype(np.int32))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_search_keeps_what_bridges_need():
    X = np.random.default_rng(0).random((60, 2))
    component = (X[:, 0] > 0.5).astype(np.int32)
    search = kd_tree.KDTreeSearch(EuclideanDistances(X))
    expected = search.bridges(component)
    search._tree_with_leaves()
    search.keep_for_bridges()
    assert search._coarse is None
    assert search.tree.leaves.size == search.visiting_order.size == 0
    for one, other in zip(search.bridges(component), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_halves_of_halves():
    starts, stops = kd_tree.halves(11, 2)
    assert list(zip(starts.tolist(), stops.tolist(), strict=True)) == [
        (0, 11),
        (0, 5),
        (5, 11),
        (0, 2),
        (2, 5),
        (5, 8),
        (8, 11),
    ]


def test_single_precision_is_given_up_where_more_than_a_tenth_is_left_open(monkeypatch):
    X = np.random.default_rng(1).random((40, 2))
    rows = np.arange(20)
    for n_open, is_kept in ((2, True), (3, False)):
        search = kd_tree.KDTreeSearch(EuclideanDistances(X))
        expected = search.query(rows, 4)
        with monkeypatch.context() as patch:
            patch.setattr(kd_tree, "write_nearest_coarsely", leaving_open(n_open))
            found = search.query(rows, 4)
        assert (search._coarse is not None) == is_kept
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


def leaving_open(n_open):
    write = kd_tree.write_nearest_coarsely

    def write_some(tree, coarse, queries, own, rows, indices, distances):
        write(tree, coarse, queries, own, rows, indices, distances)
        indices[rows[:n_open]] = -1
        return np.arange(n_open)

    return write_some


def test_points_are_measured_again_if_they_have_few_coordinates():
    wide = EuclideanDistances(np.random.default_rng(2).random((20, 17)))
    assert kd_tree.KDTreeSearch(wide).points_to_measure is None
    narrow = EuclideanDistances(wide.points[:, :16])
    assert kd_tree.KDTreeSearch(narrow).points_to_measure is narrow.points
    assert kd_tree.KDTreeSearch(CosineDistances(narrow.points)).points_to_measure is None


def test_cosine_distances_are_finished_wherever_they_are_found():
    distances = CosineDistances(np.random.default_rng(3).random((40, 3)) + 0.1)
    search, rows = kd_tree.KDTreeSearch(distances), np.arange(40)
    expected = RowSearch(distances).query(rows, 3)
    np.testing.assert_allclose(search.query(rows, 3).distances, expected.distances)
    indices, found = np.empty((40, 3), dtype=np.int32), np.empty((40, 3))
    search.fill(rows[::-1], indices, found)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_allclose(found, expected.distances)


def test_a_gap_may_come_out_too_large_by_a_few_roundings():
    for n_features in (1, 6):
        assert kd_tree.rounding_of_gaps(n_features) == 1.0 - 1e-15 * (n_features + 10)
