"""The lists of candidates that searches for neighbours keep, each part alone: others make up for a wrong one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse.core.search import nearest, screen
from tests.strategies import SEEDS


def candidates(seed, n):
    """Squared distances with ties, and the samples they belong to."""
    rng = np.random.default_rng(seed)
    squares = rng.integers(0, rng.integers(1, 60), n).astype(float) ** 2
    return squares, rng.permutation(10 * n)[:n].astype(np.int32)


def by_distance_and_index(squares, indices):
    order = np.lexsort((indices, np.sqrt(squares)))
    return list(zip(squares[order], indices[order], strict=True))


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
    assert screen.put_lowest_first(bounds, columns, length) == expected[length - 1]
    np.testing.assert_array_equal(np.sort(bounds[:length]), expected[:length])
    assert sorted(zip(bounds, columns, strict=True)) == pairs


@settings(max_examples=100)
@given(SEEDS, st.integers(0, 150), st.integers(0, 60))
def test_what_is_within_is_copied_elsewhere_or_to_the_front(seed, n, limit):
    bounds, columns = candidates(seed, n)
    expected, expected_columns = bounds[bounds <= limit**2], columns[bounds <= limit**2]
    for found, found_columns in (np.empty_like(bounds), np.empty_like(columns)), (bounds, columns):
        count = screen.copy_within(bounds, columns, float(limit**2), found, found_columns)
        np.testing.assert_array_equal(found[:count], expected)
        np.testing.assert_array_equal(found_columns[:count], expected_columns)


@pytest.mark.parametrize(("limit", "expected"), [(0.9, False), (1.0, True), (5.0, True)])
def test_any_upto(limit, expected):
    assert screen.any_upto(np.array([3.0, 1.0, 2.0]), limit) == expected
    assert not screen.any_upto(np.empty(0), limit)


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 80), st.booleans(), st.data())
def test_keep_lowest_keeps_enough_and_bounds_the_rest(seed, n, is_float32, data):
    least = data.draw(st.integers(1, n))
    most = data.draw(st.integers(least, n))
    bounds, columns = candidates(seed, n)
    bounds = (bounds - 100.0).astype(np.float32 if is_float32 else np.float64)
    pairs = sorted(zip(bounds, columns, strict=True))
    count, cut = screen.keep_lowest(bounds, columns, n, least, most)
    kept = sorted(zip(bounds[:count], columns[:count], strict=True))
    assert least <= count <= most
    assert kept[-1][0] <= cut
    assert [bound for bound, _ in kept] == [bound for bound, _ in pairs[:count]]
    assert all(bound >= cut or (bound, column) in kept for bound, column in pairs)
