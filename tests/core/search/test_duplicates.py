"""Which samples are identical."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse import KFuse
from kfuse.core.distances import EuclideanDistances
from kfuse.core.search import duplicates as room
from kfuse.core.search.duplicates import (
    first_at_distance_zero,
    first_of_equal_rows,
    merge_vanishing,
    ranks_of_rows,
)
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch
from tests.strategies import SEEDS


@settings(max_examples=200)
@given(SEEDS, st.integers(2, 60), st.integers(1, 3))
def test_equal_rows_and_distances_of_zero_tell_the_same_apart(seed, n, n_features):
    """Near zero, different coordinates can have a difference of which the square is zero, or not."""
    near_zero = [0.0, -0.0, 5e-324, 1e-200, 1.5e-162, 3e-162, -1e-161, 1e-150, 1.1e-150, 1e-141, 1e-139, 1.0]
    X = np.random.default_rng(seed).choice(near_zero, size=(n, n_features))
    search = KDTreeSearch(EuclideanDistances(X))
    expected = first_at_distance_zero(RowSearch(EuclideanDistances(X)))
    found = merge_vanishing(X, first_of_equal_rows(X), lambda some: first_at_distance_zero(search.subset(some)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("far", [9e149, 2e150, 1e155])
def test_duplicates_beside_a_sample_very_far_away(far):
    """Then all other coordinates, in a unit that fits the far one, are close to zero, but not the same."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 30, np.zeros((60, 2)), [[far, 0]]]
    labels = KFuse(neighbors="kd_tree").fit(X).labels_
    np.testing.assert_array_equal(labels, KFuse(neighbors="brute").fit(X).labels_)
    np.testing.assert_array_equal(labels, KFuse(neighbors="kd_tree").fit(np.r_[X[:-1], [[9e149, 0]]]).labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.bool_])
@pytest.mark.parametrize("per_block", [1, 7, 1024])
def test_rows_are_ranked_and_told_apart_as_numpy_does(dtype, per_block, monkeypatch):
    monkeypatch.setattr(room, "ROWS_AT_A_TIME", per_block)
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, d = rng.integers(1, 60), rng.integers(1, 5)
        X = (rng.integers(-2, 3, (n, d)) * rng.choice([1.0, 1e-40, -0.0, 1e30])).astype(dtype)
        _, first, rank = np.unique(X, axis=0, return_index=True, return_inverse=True)
        np.testing.assert_array_equal(ranks_of_rows(X, np.arange(n)), rank.ravel())
        np.testing.assert_array_equal(first_of_equal_rows(X), first[rank.ravel()])


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.0, 1.0], False), ([1e-140, -2.0], False), ([1.0, -9e-141], True), ([5e-324, 0.0], True)],
)
def test_vanishing_coordinates_are_small_and_not_zero(values, expected):
    assert room.any_vanishing(np.array([[3.0, 3.0], values])) == expected
