"""The walk in single precision finds what the exact one does, or leaves a query open."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse.core.distances import EuclideanDistances
from kfuse.core.search import coarse, kd_tree
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


@pytest.mark.parametrize("n_samples", [1, 2, 17, 64, 65, 257])
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
