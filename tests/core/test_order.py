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
