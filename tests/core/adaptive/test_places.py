"""Identical samples are one place, whose weight is that of all samples there."""

import numpy as np
import pytest

from kfuse.core.adaptive import places
from kfuse.core.search import NeighborTable, choose_search

X = np.array([[5.0], [1.0], [5.0], [2.0], [1.0], [5.0], [9.0]])


def table_of(kind):
    if kind == "precomputed":
        return NeighborTable(choose_search(np.abs(X - X.T), "precomputed", "auto"))
    return NeighborTable(choose_search(X, "euclidean", kind))


@pytest.mark.parametrize("kind", ["kd_tree", "brute", "precomputed"])
@pytest.mark.parametrize("sample_weight", [None, np.array([1.0, 1.0, 2.0, 3.0, 3.0, 5.0, 2.0])])
def test_places_are_distinct_samples(kind, sample_weight):
    found, neighbors = places.find_places(table_of(kind), sample_weight)
    assert neighbors.n_samples == found.first.size == 4
    at = X[found.first, 0]
    assert at[found.place].tolist() == X[:, 0].tolist()
    expected = {5.0: 0, 1.0: 1, 2.0: 3, 9.0: 6}
    assert dict(zip(at.tolist(), found.first.tolist(), strict=True)) == expected
    total = {5.0: 3, 1.0: 2, 2.0: 1, 9.0: 1} if sample_weight is None else {5.0: 8, 1.0: 4, 2.0: 3, 9.0: 2}
    np.testing.assert_allclose(found.weight, np.array([total[value] for value in at]) * 4 / sum(total.values()))
    assert found.is_rarest.tolist() == [total[value] == min(total.values()) for value in at]
    assert found.is_weighted
    nearest = neighbors.collect(3)
    for place in range(4):
        expected_lengths = np.sort(np.abs(np.delete(at, place) - at[place]))
        np.testing.assert_allclose(nearest.distances[place] * neighbors.distances.unit, expected_lengths)
        np.testing.assert_allclose(np.abs(at[nearest.indices[place]] - at[place]), expected_lengths)


def test_places_of_one_sample_each_weigh_one():
    found, _ = places.find_places(NeighborTable(choose_search(np.arange(5.0)[:, None], "euclidean", "kd_tree")))
    assert found.weight.tolist() == [1.0] * 5
    assert not found.is_weighted


def test_weights_are_relative_to_their_mean_and_not_too_small():
    np.testing.assert_allclose(places.relative_weights(np.array([2.0, 4.0, 6.0])), [0.5, 1.0, 1.5])
    assert places.relative_to_largest(np.array([1e-20, 1.0, 4.0]), 4.0).tolist() == [2.0**-40, 0.25, 1.0]
