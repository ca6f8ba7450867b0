"""Bridges between components, worked out by hand on a line."""

import numpy as np
import pytest

from kfuse.core.adaptive.bridges import components, shortest_bridges, with_bridges
from kfuse.core.adaptive.links import Ends, Links
from kfuse.core.distances import EuclideanDistances
from kfuse.core.search.rows import RowSearch

LINE = RowSearch(EuclideanDistances(np.array([[0.0], [1.0], [10.0], [12.0], [30.0], [31.0]])))
LABELS = np.array([0, 0, 1, 1, 2, 2])


def links_of(*pairs):
    first, second = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    return Links(first, second, np.full(first.size, 7.0), np.full(first.size, 5.0), np.full((first.size, 2), 3.0))


def ends_with(radius, weights=(1.0, 4.0, 9.0, 1.0, 1.0, 1.0)):
    log_density = np.array([0.0, -1.0, -2.0, -3.0, -2.5, 0.0])
    radii = np.column_stack([np.arange(6.0), np.full(6, 20.0)])
    return Ends(LABELS, log_density, np.array(weights), np.ones(6, np.int32), np.array(radius, dtype=float), radii)


def test_bridges_count_as_links_that_share_one_neighbour():
    found = with_bridges(links_of(), LINE, 4, ends_with([1, 3, 2, 5, 4, 1]))
    assert found.first.tolist() == [0, 1]
    assert found.second.tolist() == [1, 2]
    weight = np.array([2 * 3, 1]) / 25  # from 1 to 10 and from 12 to 30
    np.testing.assert_allclose(found.weight, weight)
    np.testing.assert_allclose(found.level, weight * ([-2 + np.log(3 / 9), -3 + np.log(5 / 18)]))
    assert found.gap.tolist() == [[9.0, 20.0], [18.0, 20.0]]


def test_the_level_of_a_bridge_is_not_above_its_ends_and_always_a_number():
    found = with_bridges(links_of(), LINE, 4, ends_with([0, 99, 0, 0, 0, 0], np.ones(6)))
    np.testing.assert_allclose(found.level * 25, [-2.0, -3.0 + np.log(np.finfo(float).tiny)])


def test_a_bridge_without_length_lowers_no_level():
    """A metric may be zero between samples that are not identical; then their radii may be zero as well."""
    search = RowSearch(EuclideanDistances(np.array([[0.0], [1.0], [1.0], [12.0], [30.0], [31.0]])))
    with np.errstate(all="raise"):
        found = with_bridges(links_of((1, 2)), search, 4, ends_with(np.zeros(6), np.ones(6)))
    np.testing.assert_allclose(found.level[1:] * 25, [-2.0])


def test_what_is_linked_gets_no_bridge():
    found = with_bridges(links_of((0, 1)), LINE, 4, ends_with(np.ones(6)))
    assert found.first.tolist() == [0, 1]
    assert found.second.tolist() == [1, 2]
    assert found.weight.tolist() == [7.0, 1 / 25]
    assert found.level[0] == 5.0
    assert found.gap[0].tolist() == [3.0, 3.0]
    whole = links_of((0, 1), (1, 2))
    assert with_bridges(whole, LINE, 4, ends_with(np.ones(6))) is whole


def test_components_are_what_links_connect():
    found = components(np.array([0, 3], dtype=np.int32), np.array([2, 1], dtype=np.int32), 5)
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert len(set(found.tolist())) == 3


@pytest.mark.parametrize(("component", "expected"), [([0] * 6, []), ([0, 1, 0, 1, 2, 0], [(0, 1), (4, 5)])])
def test_each_component_is_connected_once_over_the_shortest_way(component, expected):
    found = shortest_bridges(LINE, np.array(component, dtype=np.int32))
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == expected
    assert found.distance.tolist() == [1.0] * len(expected)


def test_of_equally_short_bridges_the_smaller_pair_is_built():
    line = RowSearch(EuclideanDistances(np.arange(4.0)[:, None]))
    found = shortest_bridges(line, np.array([0, 1, 0, 1], dtype=np.int32))
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])
