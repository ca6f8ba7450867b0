"""The walk in single precision finds what the exact one does, or leaves a query open."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse.core.distances import EuclideanDistances
from kfuse.core.search import coarse, kd_tree
from tests.core.search.test_nearest import halved
from tests.strategies import SEEDS, samples


def coarsely(tree, queries, k, own):
    indices, distances = np.full((len(queries), k), -7, dtype=np.int32), np.empty((len(queries), k))
    left_open = coarse.write_nearest_coarsely(
        tree, coarse.coarse_tree(tree), queries, own, np.arange(len(queries)), indices, distances
    )
    return indices, distances, left_open


def assert_equal_where_settled(tree, queries, k, own):
    expected = kd_tree.nearest(tree, queries, k, own)
    indices, distances, left_open = coarsely(tree, queries, k, own)
    settled = np.setdiff1d(np.arange(len(queries)), left_open)
    np.testing.assert_array_equal(indices[settled], expected[0][settled])
    np.testing.assert_array_equal(distances[settled], expected[1][settled])
    return left_open


@settings(max_examples=150)
@given(samples(max_samples=400, max_features=11), st.data())
def test_it_equals_the_exact_walk(X, data):
    tree = kd_tree.build(X)
    k = data.draw(st.integers(0, min(len(X) - 1, 60)))
    assert_equal_where_settled(tree, X, k, np.arange(len(X)))


@settings(max_examples=50)
@given(SEEDS, st.sampled_from([1e3, 1e6, 1e8, 1e12, 1e30, 1e150]), st.booleans())
def test_far_from_an_outlier_and_from_zero(seed, far, is_shifted):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 6))
    if is_shifted:
        X = X + far
    else:
        X[rng.integers(500)] *= far
    left_open = assert_equal_where_settled(kd_tree.build(X), X, 20, np.arange(500))
    if far <= 1e3:
        assert left_open.size == 0


@settings(max_examples=50)
@given(SEEDS, st.sampled_from([0.0, 1.0, 1e4, 1e9, 1e40, np.inf]))
def test_new_samples_however_far(seed, far):
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((500, 7)), rng.standard_normal((60, 7)) * max(far, 1.0)
    left_open = assert_equal_where_settled(kd_tree.build(X), queries, 3, np.full(60, -1))
    if far <= 1.0:
        assert left_open.size == 0


@pytest.mark.parametrize("n_samples", [1, 2, 17, 64, 65, 128, 129, 513])
def test_all_others_are_found(n_samples):
    X = np.random.default_rng(0).random((n_samples, 5))
    assert assert_equal_where_settled(kd_tree.build(X), X, n_samples - 1, np.arange(n_samples)).size == 0


def test_candidates_that_are_too_far_make_room_for_others():
    X = np.random.default_rng(0).random((400, 2))
    assert assert_equal_where_settled(kd_tree.build(X), X[:24], 2, np.arange(24)).size == 0


def test_a_search_that_is_left_open_too_often_goes_on_exactly():
    X = np.random.default_rng(0).integers(0, 2, (3000, 3)).astype(float)  # eight points, hundreds of times each
    search, rows = kd_tree.KDTreeSearch(EuclideanDistances(X)), np.arange(0, 3000, 7)
    assert search._coarse is not None
    expected = kd_tree.nearest(kd_tree.build(X), X[rows], 5, rows)
    for _ in range(2):
        found = search.query(rows, 5)
        np.testing.assert_array_equal(found.indices, expected[0])
        np.testing.assert_array_equal(found.distances, expected[1])
        assert search._coarse is None


def test_another_order_of_samples_shares_the_rounded_tree():
    search = kd_tree.KDTreeSearch(EuclideanDistances(np.random.default_rng(0).random((300, 5))))
    assert search.reordered()[0]._coarse is search._coarse


@pytest.mark.parametrize("n_features", [1, 2, 5, 9])
@pytest.mark.parametrize("k", [1, 6])
def test_a_few_queries_are_settled_among_several_leaves(n_features, k):
    X = np.random.default_rng(n_features).normal(size=(200, n_features))
    rows = np.arange(3, 200, 18)
    tree = kd_tree.build(X)
    assert tree.starts.size > 1 << coarse.LEVELS_JOINED
    assert assert_equal_where_settled(tree, X[rows], k, rows).size == 0
    assert assert_equal_where_settled(tree, X[rows] + 0.25, k, np.full(rows.size, -1)).size == 0


def test_many_samples_at_one_place_leave_queries_open():
    X = np.vstack([np.zeros((300, 2)), np.random.default_rng(0).normal(size=(50, 2)) + 9])
    rows = np.array([0, 7, 310, 349])
    assert assert_equal_where_settled(kd_tree.build(X), X[rows], 2, rows).tolist() == [0, 1]


def test_rows_of_the_result_are_those_asked_for():
    X = np.random.default_rng(1).random((30, 3))
    tree = kd_tree.build(X)
    indices, distances = np.full((30, 4), -7, dtype=np.int32), np.full((30, 4), -7.0)
    queries = np.array([4, 20, 11])
    left_open = coarse.write_nearest_coarsely(
        tree, coarse.coarse_tree(tree), X[queries], queries, queries, indices, distances
    )
    assert left_open.size == 0
    expected = kd_tree.nearest(tree, X[queries], 4, queries)
    np.testing.assert_array_equal(indices[queries], expected[0])
    np.testing.assert_array_equal(distances[queries], expected[1])
    assert (np.delete(indices, queries, axis=0) == -7).all()
    assert coarsely(tree, X[queries], 0, queries)[2].size == 0


@pytest.mark.parametrize("n_samples", [5, 128, 129, 300])
def test_a_coarse_tree_is_the_upper_part_of_a_tree_moved_and_scaled(n_samples):
    X = np.random.default_rng(0).uniform(10.0, 22.0, (n_samples, 3))
    tree = kd_tree.build(X)
    made = coarse.coarse_tree(tree)
    np.testing.assert_allclose(made.centre, (X.min(axis=0) + X.max(axis=0)) / 2)
    half = (X.max(axis=0) - X.min(axis=0)) / 2
    assert 0.5 <= half.max() * made.scale < 1
    assert np.frexp(made.scale)[0] == 0.5
    assert made.corner == pytest.approx(np.linalg.norm(half * made.scale))
    assert made.slack == 2 * 11 * 2.0**-24
    n_leaves = len(made.leaves)
    assert made.leaves.shape[1:] == (3, 128)
    assert made.bounds.shape == (2 * n_leaves - 1, 2, 3)
    z = ((tree.points - made.centre) * made.scale).astype(np.float32)
    for node in range(2 * n_leaves - 1):
        inside = z[tree.starts[node] : tree.stops[node]]
        np.testing.assert_array_equal(made.bounds[node], [inside.min(axis=0), inside.max(axis=0)])
        if node >= n_leaves - 1:
            leaf = made.leaves[node - n_leaves + 1]
            np.testing.assert_array_equal(leaf[:, : len(inside)], inside.T)
            assert np.isnan(leaf[:, len(inside) :]).all()


def test_identical_samples_have_a_scale():
    made = coarse.coarse_tree(kd_tree.build(np.full((3, 2), 7.0)))
    assert np.isfinite(made.scale)
    assert made.corner == 0.0
    far = coarse.coarse_tree(kd_tree.build(np.array([[0.0], [1e-305]])))
    assert far.scale == 2.0**1000


def group_of(points, capacity=400):
    """A group of queries in two features, before the walk."""
    group = coarse.Queries(
        points=np.zeros((points.shape[1], 16), dtype=np.float32),
        error=np.full(16, np.nan),
        limit=np.full(16, np.nan, dtype=np.float32),
        n_found=np.full(16, 99),
        found=np.zeros((16, capacity), dtype=np.int32),
        squares=np.zeros((16, capacity), dtype=np.float32),
        roots=np.zeros(capacity),
        pending=np.zeros(64, dtype=np.int64),
        gaps=np.zeros((64, 16), dtype=np.float32),
        in_leaf=np.zeros(128, dtype=np.float32),
    )
    made = coarse.coarse_tree(kd_tree.build(np.array([[1.0, 1.0], [5.0, 3.0]])))
    coarse.gather(made, group, points, 1, 2)
    return made, group


def test_a_group_has_the_next_queries_and_unused_slots():
    made, group = group_of(np.array([[9.0, 9.0], [3.0, 2.0], [7.0, -1.0], [8.0, 8.0]]))
    assert group.points[:, :2].T.tolist() == [[0.0, 0.0], [4 * made.scale, -3 * made.scale]]
    assert group.limit.tolist() == [np.inf, np.inf, *[-1.0] * 14]
    assert group.n_found.tolist() == [0] * 16
    lengths = np.array([0.0, 5 * made.scale])
    np.testing.assert_allclose(group.error[:2], 2 * 2.0**-24 * (lengths + made.corner) + 1e-16)


@pytest.mark.parametrize("n_features", range(1, 10))
def test_squares_to_a_leaf(n_features):
    rng = np.random.default_rng(n_features)
    points, leaves = rng.random((n_features, 3)), rng.random((2, n_features, 5))
    squares = np.full(5, 77.0)
    coarse.write_squares(points, 2, leaves, 1, squares)
    np.testing.assert_allclose(squares, ((leaves[1] - points[:, 2:]) ** 2).sum(axis=0))


def test_gaps_to_a_node_are_lowered_by_what_rounding_is_worth():
    made, group = group_of(np.array([[9.0, 9.0], [3.0, 2.0], [9.0, -2.0], [8.0, 8.0]]))
    total = coarse.write_gaps(group.points, made._replace(slack=0.125), 0, group.gaps, 3)
    outside = np.array([0.0, (4 * made.scale) ** 2 + (3 * made.scale) ** 2])
    np.testing.assert_allclose(group.gaps[3, :2], outside * 0.75)
    assert total == pytest.approx(outside.sum())
    limit = np.full(16, -1.0)
    assert not coarse.any_within(group.gaps, 3, limit)
    limit[1] = group.gaps[3, 1]
    assert coarse.any_within(group.gaps, 3, limit)


@pytest.mark.parametrize("limit", [np.inf, 3.0])
def test_candidates_that_may_be_among_the_nearest_are_kept(limit):
    made, group = group_of(np.zeros((4, 2)))
    made, rng = made._replace(slack=0.01), np.random.default_rng(0)
    squares = (rng.random(300) * 2).astype(np.float32)
    group.squares[1, :300], group.found[1, :300] = squares, np.arange(300)
    group.error[1], group.limit[1] = 0.02, limit
    count, new_limit = coarse.keep_near(made, group, 1, 300, 40)
    sure = np.sort(squares)[39]
    needed = (np.sqrt(sure) * 1.01 + 0.04) * 1.01
    assert needed**2 <= new_limit <= limit
    assert new_limit <= ((np.sqrt(np.sort(squares)[45]) * 1.01 + 0.04) * 1.01) ** 2 * 1.001
    np.testing.assert_array_equal(group.found[1, :count], np.flatnonzero(squares <= new_limit))
    np.testing.assert_array_equal(group.squares[1, :count], squares[squares <= new_limit])


def test_a_query_with_too_many_candidates_is_left_open():
    made, group = group_of(np.zeros((4, 2)), capacity=228)
    group.limit[0], group.error[0] = np.inf, 0.0
    group.squares[0] = 1.0
    assert coarse.keep_near(made, group, 0, 99, 40)[0] == 99
    count, limit = coarse.keep_near(made, group, 0, 100, 40)
    assert (count, limit) == (coarse.LEFT_OPEN, -1.0)


@pytest.mark.parametrize(("slack", "error"), [(0.0, 0.0), (0.125, 0.25)])
@pytest.mark.parametrize("k", [1, 8, 33, 99])
def test_the_limit_of_candidates_is_found_by_halving(k, slack, error):
    made, group = group_of(np.zeros((4, 2)))
    squares = np.random.default_rng(k).permutation(100).astype(np.float32) + 1
    group.squares[2, :100], group.found[2, :100] = squares, np.arange(100)
    group.error[2], group.limit[2] = error, np.inf
    count, limit = coarse.keep_near(made._replace(slack=slack), group, 2, 100, k)
    root = np.sqrt(halved(squares, 0.0, 100.0, k, k + k // 8, 12))
    expected = np.float32(((root * (1 + slack) + 2 * error) * (1 + slack)) ** 2)
    assert limit == pytest.approx(expected, rel=1e-6)
    assert expected <= limit
    assert count == sum(squares <= limit)


def test_twelve_halvings_are_enough():
    made, group = group_of(np.zeros((4, 2)))
    group.squares[0, :8] = np.append(np.arange(1, 8) * 1e-9, 1.0)
    group.error[0], group.limit[0] = 0.0, np.inf
    assert coarse.keep_near(made._replace(slack=0.0), group, 0, 8, 3)[1] == pytest.approx(2.0**-12)


@pytest.mark.parametrize("seed", range(3))
def test_queries_far_from_each_other_may_walk_together(seed):
    """Each of a group prunes what it does not need, and nothing that another one of the group is far from."""
    X = np.random.default_rng(seed).random((600, 2))
    rows = np.arange(0, 600, 40)
    assert assert_equal_where_settled(kd_tree.build(X), X[rows], 1, rows).size == 0
