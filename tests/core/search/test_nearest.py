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


def halved(values, low, high, least, most, times):
    """The range of values, halved until the upper end has `least` to `most` values below it."""
    for _ in range(times):
        middle = low + (high - low) / 2
        n_below = sum(value <= middle for value in values)
        if n_below < least:
            low = middle
        else:
            high = middle
            if n_below <= most:
                break
    return high


@pytest.mark.parametrize(("least", "most"), [(20, 40), (3, 4), (1, 1), (90, 99), (50, 50)])
def test_the_range_of_bounds_is_halved_until_about_as_many_are_below(least, most):
    values = np.random.default_rng(least).permutation(100) - 30.5
    bounds, columns = values.copy(), np.arange(100, dtype=np.int32)
    count, cut = screen.keep_lowest(bounds, columns, 100, least, most)
    expected = halved(values, values.min(), values.max(), least, most, 16)
    assert (count, cut) == (sum(values <= expected), expected)
    np.testing.assert_array_equal(columns[:count], np.flatnonzero(values <= expected))
    np.testing.assert_array_equal(bounds[:count], values[columns[:count]])


def test_equal_bounds_are_selected_where_halving_cannot_tell_them_apart():
    values = np.append(np.full(30, 5.0), [1.0, 2.0, 2e9])
    bounds, columns = values.copy(), np.arange(33, dtype=np.int32)
    assert screen.keep_lowest(bounds, columns, 33, 4, 6) == (6, 5.0)
    assert sorted(bounds[:6].tolist()) == [1.0, 2.0, 5.0, 5.0, 5.0, 5.0]
    np.testing.assert_array_equal(values[columns[:6]], bounds[:6])


@pytest.mark.parametrize("k", [1, 8, 20, 33, 99])
def test_the_threshold_is_found_by_halving(k):
    squares = np.random.default_rng(k).permutation(100) + 1.0
    assert nearest.threshold(squares, 100, k, 100.0) == halved(squares, 0.0, 100.0, k, k + k // 8, 12)


def test_halving_ends_after_twelve_times():
    squares = np.append(np.arange(1.0, 8.0) * 1e-9, 1.0)
    assert nearest.threshold(squares, 8, 3, 1.0) == 2.0**-12


def test_short_lists_are_lengthened_by_what_is_below_their_cut():
    """Lists of 2 to 3 columns, of three rows: the second is not visited, the third has a cut already."""
    capacity = 6 + screen.COLUMNS_AT_A_GLANCE
    lists = screen.ShortLists(
        np.full((3, capacity), np.nan), np.full((3, capacity), -1, dtype=np.int32), np.array([np.inf, 9.0, 4.0])
    )
    counts = np.zeros(3, dtype=np.int64)
    visit = screen.Visit(np.array([0, 2]), np.array([7, 8, 9], dtype=np.int32))
    screen.lengthen(lists, counts, visit, np.array([[5.0, 3.0, 6.0], [4.0, 5.0, 1.0]]), 2, 3)
    assert counts.tolist() == [3, 0, 1]
    assert lists.columns[0, :3].tolist() == [7, 8, 9]
    assert (lists.columns[2, 0], lists.bounds[2, 0]) == (9, 1.0)
    assert lists.cut.tolist() == [np.inf, 9.0, 4.0]
    more = screen.Visit(np.array([0]), np.arange(20, 60, dtype=np.int32))
    screen.lengthen(lists, counts, more, np.arange(40.0)[None, ::-1] + 1.0, 2, 3)
    screen.shorten_all(lists, counts, 2, 3)
    assert 2 <= counts[0] <= 3
    np.testing.assert_array_equal(lists.columns[0, : counts[0]], 60 - lists.bounds[0, : counts[0]])
    assert set(lists.bounds[0, : counts[0]].tolist()) <= {1.0, 2.0, 3.0}
    assert np.isnan(lists.bounds[1, :3]).all()
    assert np.isnan(lists.bounds[2, 1:3]).all()


@pytest.mark.parametrize("size", range(1, 9))
def test_a_heap_keeps_the_nearest_by_distance_then_index(size):
    rng = np.random.default_rng(size)
    offered = [(float(rng.integers(0, 5)), int(index)) for index in rng.permutation(20)]
    distances, indices = np.full(size, np.inf), np.full(size, 99, dtype=np.int32)
    for distance, index in offered:
        nearest.offer(distances, indices, distance, index)
        assert (distances[0], indices[0]) == max(zip(distances, indices, strict=True))
    nearest.sort_nearest_first(distances, indices)
    assert list(zip(distances.tolist(), indices.tolist(), strict=True)) == sorted(offered)[:size]


def test_columns_are_selected_but_for_the_own():
    block = np.array([[0.0, 2.0, 1.0, 2.0], [3.0, 0.0, 3.0, 1.0]])
    indices, distances = nearest.select_nearest(block, np.array([0, 3]), 2)
    assert indices.tolist() == [[2, 1], [1, 0]]
    assert distances.tolist() == [[1.0, 2.0], [0.0, 3.0]]
    assert nearest.select_nearest(block, np.array([0, 3]), 0)[0].shape == (2, 0)
