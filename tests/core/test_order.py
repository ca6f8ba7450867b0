"""The order of pairs, and of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse.core import order
from kfuse.core.adaptive import fusion
from kfuse.core.kernels import records
from kfuse.core.order import merges_before

PAIRS = [(0.5, 2, 7), (0.5, 2, 8), (0.5, 3, 4), (0.4, 1, 2), (0.4, 1, 9)]  # in the order in which they merge


@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("j", range(5))
def test_the_larger_index_then_the_smaller_pair_merges_first(i, j):
    assert bool(merges_before(*PAIRS[i], *PAIRS[j])) == (i < j)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("j", range(5))
def test_so_does_the_link_of_the_smaller_pair_whichever_end_is_first(i, j, turned):
    links = records(5, fusion.LINK)
    for number, (_, *pair) in enumerate(PAIRS):
        links[number]["ends"] = pair[::-1] if turned == number % 2 else pair
    graph = fusion.Graph(links, records(1, fusion.NODE), records(1, fusion.QUEUED))
    assert bool(fusion.precedes(graph, PAIRS[i][0], i, PAIRS[j][0], j)) == (i < j)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=300), st.sampled_from([1, 7, 61]))
def test_ascending_is_a_stable_sort(values, n_different):
    values = np.array(values, dtype=float) % n_different
    np.testing.assert_array_equal(order.ascending(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("n_different", [1, 3, 10_000])
def test_ascending_is_a_stable_sort_of_many_values_with_ties(n_different):
    values = np.random.default_rng(0).integers(0, n_different, 20_000).astype(float)
    np.testing.assert_array_equal(order.ascending(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("size", [0, 1, 5, 3000])
@pytest.mark.parametrize("exponents", [(0, 1), (-40, 40), (-323, 308)])
@pytest.mark.parametrize("seed", range(3))
def test_ascending_sorts_numbers_of_any_magnitude_and_sign(size, exponents, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=size) * 10.0 ** rng.integers(*exponents, size)
    values[rng.random(size) < 0.2] = rng.choice([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324])
    kept = values.copy()
    np.testing.assert_array_equal(order.ascending(values), np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(values, kept)


@pytest.mark.parametrize("spread", [1e-15, 1e-9, 1e-6])
def test_ascending_sorts_numbers_that_differ_in_their_last_bits(spread):
    values = 1.0 + spread * np.random.default_rng(0).random(2000)
    np.testing.assert_array_equal(order.ascending(values), np.argsort(values, kind="stable"))


def test_neighbours_come_by_distance_then_index():
    ordered = [(1.0, 5), (1.0, 6), (2.0, 0), (2.0, 9)]
    for i, one in enumerate(ordered):
        for j, other in enumerate(ordered):
            assert bool(order.comes_before(*one, *other)) == (i < j)
            assert bool(order.is_within(*one, *other)) == (i <= j)


def test_bridges_come_by_distance_then_pair_whichever_end_is_first():
    ordered = [(1.0, 2, 7), (1.0, 8, 2), (1.0, 3, 4), (2.0, 0, 1)]
    for i, one in enumerate(ordered):
        for j, other in enumerate(ordered):
            assert bool(order.is_shorter(*one, *other)) == (i < j)


def test_roots_are_found_along_the_path():
    parents = np.array([0, 0, 1, 2, 4, 4])
    assert order.roots(parents).tolist() == [0, 0, 0, 0, 4, 4]
    assert [order.find(parents.copy(), member) for member in range(6)] == [0, 0, 0, 0, 4, 4]
    order.find(parents, 3)
    assert parents.tolist() == [0, 0, 1, 1, 4, 4]  # every other step is skipped the next time


def test_labels_are_renumbered_by_size_then_by_first_sample():
    labels = np.array([5, 2, 2, -1, 5, 7, 3, 7, 7])
    assert order.labels_by_size(labels).tolist() == [1, 2, 2, -1, 1, 0, 3, 0, 0]
    weights = np.array([0.5, 1.0, 1.0, 9.0, 0.5, 0.0, 4.0, 1.5, 0.5])
    assert order.labels_by_size(labels, weights).tolist() == [3, 1, 1, -1, 3, 2, 0, 2, 2]


def test_members_come_label_by_label():
    members, starts = order.members_of(np.array([2, 0, 2, 3, 0]))
    assert members.tolist() == [1, 4, 0, 2, 3]
    assert starts.tolist() == [0, 2, 2, 4, 5]


def test_sorting_nearly_sorted_values_gives_up_where_it_would_take_long():
    for size, is_done in ((33, True), (34, False)):
        reverse = np.arange(size)[::-1].copy()
        assert order.settle_order(np.zeros(size), reverse) == is_done
        if is_done:
            np.testing.assert_array_equal(reverse, np.arange(size))
    nearly = np.array([2, 0, 1])
    assert order.settle_order(np.array([1.0, 1.0, 0.0]), nearly)
    assert nearly.tolist() == [2, 0, 1]
    assert order.settle_order(np.array([0.0, 1.0, 0.5]), nearly)
    assert nearly.tolist() == [0, 2, 1]


def test_one_digit_is_sorted_at_a_time_and_what_is_equal_stays_in_order():
    entries = np.array([0x31, 0x12, 0x33, 0x24, 0x15], dtype=np.uint64)
    by_digit = np.empty_like(entries)
    order.sort_by_digit(entries, np.uint64(4), np.empty(4, dtype=np.int64), by_digit)
    assert [hex(entry) for entry in by_digit] == ["0x12", "0x15", "0x24", "0x31", "0x33"]
