"""The density of the adaptive fusion: one over the mean distance, in a unit of its own."""

import numpy as np
import pytest

from kfuse.core.adaptive import density


@pytest.mark.parametrize(
    ("farthest", "unit"), [(0.0, 1.0), (1.0, 1.0), (1.9, 1.0), (2.0, 2.0), (3.9, 2.0), (0.3, 0.25)]
)
def test_the_unit_is_the_power_of_two_below_the_farthest_distance(farthest, unit):
    assert density.unit_of(farthest) == unit


def test_density_is_one_over_the_mean_distance():
    found = density.log_density(np.array([2.0, 8.0, 12.0]), 4, 5.0)
    np.testing.assert_allclose(found.values, np.log([8.0, 2.0, 4 / 3]))  # distances in units of 4
    assert found.unit == 4.0
    np.testing.assert_allclose(found.in_unit_of_data(1.0), [2.0, 0.5, 1 / 3])
    np.testing.assert_allclose(found.in_unit_of_data(0.5), [4.0, 1.0, 2 / 3])


def test_identical_samples_and_one_place_have_finite_densities():
    found = density.log_density(np.array([0.0, 1.0]), 4, 1.0)
    assert found.values[0] == -np.log(np.finfo(float).tiny)
    assert np.isfinite(found.in_unit_of_data(1e-10)).all()
    alone = density.log_density(np.zeros(1), 0, 0.0)
    assert (alone.values.tolist(), alone.unit) == ([0.0], 1.0)


def test_the_mean_weight_is_that_of_a_place_and_its_neighbours():
    indices, weights = np.array([[1, 2], [0, 3]], dtype=np.int32), np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(density.log_mean_weight(indices, weights), np.log([2.0, 7 / 3]))
    assert weights.tolist() == [1.0, 2.0, 3.0, 4.0]
