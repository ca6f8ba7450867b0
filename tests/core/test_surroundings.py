"""The density of places, from the mean distance to their neighbours and from how many samples they have."""

import numpy as np
import pytest

from kfuse.core.search import NeighborTable, choose_search
from kfuse.core.surroundings import find_surroundings, log_density

DISTANCES = np.array([[1.0, 3.0], [2.0, 6.0], [0.0, 0.0]])
AROUND = np.array([[0, 1], [1, 2], [2, 0]])
PLAIN = np.array([0.25, 0.125, 1 / (2 * np.finfo(float).tiny)])  # one over twice the mean distance


def test_density_is_one_over_the_mean_distance():
    found = log_density(DISTANCES, 2.0, np.full(3, 7.0), AROUND, 2.0)
    np.testing.assert_allclose(found, np.log(PLAIN))
    np.testing.assert_array_equal(log_density(DISTANCES[:, :0], 2.0, np.ones(3), AROUND, 2.0), np.zeros(3))


@pytest.mark.parametrize(("dimension", "power"), [(2.0, 0.5), (1.0, 1.0), (0.25, 1.0)])
def test_places_with_more_samples_around_than_on_average_are_denser(dimension, power):
    found = log_density(DISTANCES, 2.0, np.array([1.0, 1.0, 4.0]), AROUND, dimension)
    np.testing.assert_allclose(found, np.log(PLAIN) + power * np.log([0.5, 1.25, 1.25]))


@pytest.mark.parametrize("k", [1, 2, 9])
def test_no_more_neighbours_than_other_places(k):
    X = np.array([[0.0], [4.0], [0.0], [1.0], [9.0]])
    found = find_surroundings(NeighborTable(choose_search(X, "euclidean", "kd_tree")), k)
    assert found.place[0] == found.place[2]
    at = X[:, 0][[np.flatnonzero(found.place == place)[0] for place in range(4)]]
    for place in range(4):
        expected = sorted(abs(np.delete(at, place) - at[place]))[:k]
        assert (found.distances[place] * found.unit).tolist() == pytest.approx(expected)
        assert abs(at[found.indices[place]] - at[place]).tolist() == expected
