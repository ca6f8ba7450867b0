"""The order of pairs."""

import pytest

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
