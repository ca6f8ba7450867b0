"""Validities that can be worked out by hand, on a line."""

import numpy as np
import pytest

from kfuse.core.search import NeighborTable, choose_search
from kfuse.core.validity import validities


def validities_of(*clusters):
    X = np.concatenate([np.asarray(cluster, dtype=float) for cluster in clusters])[:, None]
    labels = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    return validities(NeighborTable(choose_search(X, "euclidean", "kd_tree")), labels).tolist()


def test_all_samples_are_linked():
    # From 2 to 10, one must see as far as 2's fourth neighbour, 14; from 0 to 1 as far as 2, and from 10 to 14.
    assert validities_of([0, 1, 2], [10, 14]) == pytest.approx([(12 - 2) / 12, (12 - 4) / 12])


def test_clusters_without_links_meet_at_the_shortest_way():
    # The eighth neighbour of 0 is 8; the others need less.
    assert validities_of(range(10), range(100, 110), range(150, 160)) == pytest.approx([83 / 91, 33 / 41, 33 / 41])


def test_one_in_twenty_may_be_far_off():
    assert validities_of([*range(19), 1000], range(-100, -90)) == pytest.approx([83 / 91, 83 / 91])
    assert validities_of([*range(18), 1000], range(-100, -90))[0] == pytest.approx((91 - 990) / 990)


def test_single_and_identical_samples():
    assert validities_of([0], [5]) == [1.0, 1.0]
    assert validities_of([3, 3], [3, 3, 3]) == [0.0, 0.0]
    assert validities_of([0, 1, 7]) == [0.0]
