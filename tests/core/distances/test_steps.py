"""Rounded data in the steps of its rounding: as in the plain version, and the same when shifted, scaled or noisy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse import KFuse
from kfuse.core.distances import distances_for
from kfuse.core.distances import steps as steps_module
from kfuse.core.distances.steps import in_steps, recorded_columns
from tests.oracle.adaptive import as_recorded
from tests.strategies import SEEDS, samples


def stepped(X):
    return distances_for(X, "euclidean", steps=True)


def rounded(seed, n_samples=300, steps=(0.1, 0.25, 3.0)):
    """Two groups, each column in steps of its own."""
    rng = np.random.default_rng(seed)
    groups = rng.standard_normal((n_samples, len(steps))) * 6 + rng.integers(0, 2, (n_samples, 1)) * 30
    return np.round(groups) * steps


@settings(max_examples=300)
@given(samples(max_samples=100))
def test_equals_the_plain_version(X):
    np.testing.assert_array_equal(stepped(X).points, as_recorded(X))


@settings(max_examples=100)
@given(SEEDS, st.integers(2, 300), st.floats(-12, -9))
def test_noise_is_removed_as_in_the_plain_version(seed, n_samples, power):
    X = rounded(seed, n_samples)
    noisy = X + 10.0**power * np.random.default_rng(seed).uniform(-1, 1, X.shape)
    np.testing.assert_array_equal(stepped(noisy).points, as_recorded(noisy))
    logs = np.log(np.abs(X) + 1) + 1e-13 * np.random.default_rng(seed).uniform(-1, 1, X.shape)
    np.testing.assert_array_equal(stepped(logs).points, as_recorded(logs))


@settings(max_examples=100)
@given(SEEDS, st.floats(1e-6, 1e6), st.floats(-1e3, 1e3), st.floats(-12, -9))
def test_shifts_factors_noise_and_single_precision_change_no_bit(seed, factor, shift, power):
    X = rounded(seed)
    rng = np.random.default_rng(seed)
    expected = stepped(X).points
    assert (expected[:, 0] == np.rint(expected[:, 0])).all()
    noise = 10.0**power * rng.standard_normal(X.shape) * 0.1
    for moved in (X * factor, X + shift, (X + shift) / factor, X + noise, X.astype(np.float32)):
        np.testing.assert_array_equal(stepped(moved).points, expected)


def test_distances_stay_in_the_unit_of_the_data():
    X = rounded(0)
    found, plain = stepped(X), distances_for(X, "euclidean")
    assert found.unit == pytest.approx(0.1)
    np.testing.assert_allclose(found.rows(np.arange(9)) * found.unit, plain.rows(np.arange(9)), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(KFuse().fit(X / 8).density_, KFuse().fit(X).density_ * 8, rtol=1e-12)


@pytest.mark.parametrize("n_samples", [40, 2000])
def test_continuous_data_and_a_single_continuous_column_stay_as_they_are(n_samples):
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((n_samples, 2)), rng.random((n_samples, 3), dtype=np.float32)):
        assert stepped(X).points is X
    mixed = np.column_stack([np.arange(n_samples) % 7, rng.random(n_samples)])
    assert stepped(mixed).points is mixed


def test_far_rows_and_far_groups_are_not_noise():
    """Compared with how far away they are, samples of a group differ by little; but they are not noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    for far in ([[1e12, 1e12]], [[1e12, 0.0], [1e12 + 1, 5.0]], X + 1e12):
        both = np.vstack([X, far])
        assert stepped(both).points is both


def test_a_sentinel_keeps_the_steps():
    X = np.append(rounded(1)[:, :1], [[-999.0], [1e9]], axis=0)
    found = stepped(X)
    assert found.unit == pytest.approx(0.1)
    np.testing.assert_array_equal(found.points, stepped(1.1 * X + 1e3).points)


def test_a_column_of_few_values_is_in_the_steps_of_the_others():
    X = np.column_stack([np.arange(90) % 30, np.resize([0, 116, 155], 90)]).astype(float)
    assert recorded_columns(X[:, 1:]) is None
    np.testing.assert_array_equal(stepped(X / 255).points, X)


def test_values_that_nearly_coincide_stay_apart():
    X = np.append(np.arange(3000.0) % 50, [7.0 + 1e-4, 9.0 + np.pi * 1e-4])[:, None]
    assert stepped(X).points is X
    assert len(np.unique(stepped(X[:-1]).points)) == 51


def test_the_order_of_rows_does_not_matter(monkeypatch):
    monkeypatch.setattr(steps_module, "GUESSED_ROWS", 8)  # so that the guess depends on the rows
    X = rounded(2, 2000, (0.02, 5.0))
    expected = stepped(X).points
    for seed in range(20):
        shuffled = np.random.default_rng(seed).permutation(len(X))
        np.testing.assert_array_equal(stepped(X[shuffled]).points, expected[shuffled])


def test_multiples_count_from_the_least_of_a_column():
    assert steps_module.are_multiples(np.array([1.2, 1.7, 3.2]), 1.2, 0.5)
    assert not steps_module.are_multiples(np.array([1.2, 1.8, 3.2]), 1.2, 0.5)


@pytest.mark.parametrize("X", [np.full((4, 2), 7.5), np.array([[3.0, 1.0]])])
def test_one_place_has_no_steps(X):
    assert in_steps(distances_for(X, "euclidean")).unit == 1.0
    np.testing.assert_array_equal(stepped(X).points, X)


def test_only_euclidean_distances_of_the_default_are_changed():
    X = rounded(3)
    cosine = distances_for(X + 1, "cosine")
    np.testing.assert_array_equal(distances_for(X + 1, "cosine", steps=True).points, cosine.points)
    assert distances_for(X, "euclidean").points is X
