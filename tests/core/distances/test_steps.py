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


# The parts, each alone.


def test_values_are_multiples_within_a_thousandth_of_a_step():
    for off, expected in ((0.0, True), (2.0**-10, True), (2.0**-10 + 1e-9, False), (-(2.0**-10), True)):
        moved = np.array([3.0, 3.5 + 0.5 * off, 5.0])
        assert steps_module.are_multiples(moved, 3.0, 0.5) == expected


@pytest.mark.parametrize(("step", "extent", "n", "expected"), [(1.0, 1.0, 5, True), (1.1, 1.0, 5, False)])
def test_a_step_is_no_larger_than_the_extent(step, extent, n, expected):
    assert steps_module.has_room(step, extent, n) == expected


def test_a_table_of_multiples_is_short_or_not_longer_than_four_columns():
    assert steps_module.has_room(1.0, 2.0**16 - 1, 5)
    assert not steps_module.has_room(1.0, 2.0**16, 5)
    assert steps_module.has_room(1.0, 4 * 2.0**15 - 1, 2**15)
    assert not steps_module.has_room(1.0, 4 * 2.0**15, 2**15)


def test_the_step_is_the_largest_that_the_multiples_allow():
    assert steps_module._step(np.array([0.0, 4.0, 6.0]), 3.0) == 1.0
    late = np.append(np.arange(300.0) * 4, 2.0)  # after the first ones, 4 does not divide
    assert steps_module._step(late, late.max()) == 2.0
    assert steps_module._step(np.arange(300.0) * 4, 299.0) == 1.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.5, 3.0], [0, 1, 4]),
        ([0.0, 2.0, 5.0], [0, 2, 5]),  # halves of the smallest gap
        ([0.0, 32.0, 65.0], [0, 32, 65]),
        ([0.0, 33.0, 67.0], None),  # more than 32 divisions
        ([0.0, 1.0, 1.0 + 2.0**42], None),
        ([0.0, 1.0, 2.0**42], [0, 1, 2**42]),
        ([7.0], [0]),
    ],
)
def test_multiples_of_the_smallest_gap_or_a_part_of_it(values, expected):
    found = steps_module.multiples_of_step(np.array(values))
    assert (None if found is None else found.tolist()) == expected


def test_the_step_is_fitted_from_small_gaps_to_large_ones():
    """A step that is off by a thousandth would be off by whole steps in a large gap."""
    gaps = np.array([1.0, 2.0, 15.0, 900.0, 700_001.0]) * 0.3
    step, multiples = steps_module.fitted_step(gaps, 0.3 * 1.001)
    assert multiples.tolist() == [0, 1, 3, 18, 918, 700_919]
    assert step == pytest.approx(0.3, rel=1e-12)
    rough = np.array([1.00005, 1000.0, 9e5]) * 0.3
    assert steps_module.fitted_step(rough, 0.3)[1].tolist() == [0, 1, 1001, 901_001]
    assert steps_module.fitted_step(np.empty(0), 1.0)[0] == 0.0


def test_small_gaps_that_are_no_multiples_rule_a_step_out():
    for off, expected in ((0.0, True), (0.004, True), (0.02, False), (0.05, False)):
        assert steps_module._may_be_multiples(np.array([1.0, 1.0 + off, 2.0]), 1.0) == expected


def test_chains_are_far_narrower_than_the_gaps_between_them():
    width = 2.0**-24
    values = np.array([0.0, width / 2, width, 1.0 + width, 3.0])
    found = steps_module.find_chains(values)
    assert found.starts.tolist() == [0.0, 1.0 + width, 3.0]
    assert found.middles.tolist() == [width / 2, 1.0 + width, 3.0]
    assert steps_module.find_chains(values * [1, 1, 3, 1, 1]) is None
    assert steps_module.find_chains(np.arange(5.0)) is None
    assert steps_module.ends_of_chains(np.array([3.0, 2.0**-22, 2.0**-23, 2.0])).tolist() == []
    assert steps_module.ends_of_chains(np.array([3.0, 2.0**-24, 2.0**-25, 2.0])).tolist() == [2.0**-24]


def test_how_a_column_is_sorted_out():
    stepped_values = steps_module.sorted_out(np.array([2.0, 2.5, 4.0]))
    assert (stepped_values.least, stepped_values.step, stepped_values.chains) == (2.0, 0.5, None)
    noise = np.pi * 1e-9
    noisy = steps_module.sorted_out(np.array([2.0, 2.0 + noise, 3.0, 5.0, 5.0 + np.sqrt(2.0) * noise]))
    assert noisy.least == pytest.approx(2.0 + noise / 2, rel=1e-15)
    assert noisy.step == pytest.approx(1.0, rel=1e-8)
    assert noisy.chains.starts.tolist() == [2.0, 3.0, 5.0]
    roots = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0, 11.0]))
    assert steps_module.sorted_out(roots) is None
    of_roots = steps_module.sorted_out(np.sort(np.append(roots, roots[2] + noise)))
    assert of_roots.step == 0.0
    assert of_roots.chains.starts.size == 5


def test_recorded_values():
    plain = steps_module.Recorded(2.0, 0.5)
    assert plain.values(np.array([2.0, 3.5]), 0.25).tolist() == [0.0, 6.0]
    assert plain.values(np.array([2.0, 3.5]), 0.0).tolist() == [2.0, 3.5]
    assert steps_module.Recorded(2.0, 0.0).values(np.full(2, 2.0), 0.5).tolist() == [0.0, 0.0]
    chains = steps_module.Chains(np.array([1.0, 5.0]), np.array([1.25, 5.5]))
    assert steps_module.Recorded(1.25, 0.0, chains).values(np.array([1.5, 1.0, 6.0]), 0.0).tolist() == [1.25, 1.25, 5.5]


def test_the_unit_is_the_smallest_step():
    of = steps_module.Recorded
    chains = steps_module.Chains(np.zeros(1), np.zeros(1))
    assert steps_module.unit_of_steps([of(0.0, 2.0), of(0.0, 0.5), of(3.0, 0.0)]) == 0.5
    assert steps_module.unit_of_steps([of(0.0, 2.0), of(0.0, 0.0, chains)]) == 0.0
    assert steps_module.unit_of_steps([of(0.0, 0.0)]) == 0.0
    assert steps_module.unit_of_steps([of(0.0, 1.0), of(0.0, 2.0**42)]) == 1.0
    assert steps_module.unit_of_steps([of(0.0, 1.0), of(0.0, 2.0**42 + 1)]) is None


def test_ratios_of_steps_have_twenty_bits():
    assert steps_module.round_ratio(3.0) == 3.0
    assert steps_module.round_ratio(1.0 + 2.0**-19) == 1.0 + 2.0**-19
    assert steps_module.round_ratio(1.0 + 2.0**-21) == 1.0
    assert steps_module.round_ratio(1000.0 + 1e-5) == 1000.0


def test_a_window_around_the_median_shows_continuous_values():
    rng = np.random.default_rng(0)
    assert steps_module.first_of_window(1000) == 244
    assert steps_module.is_continuous(np.sort(rng.random(64)), 1.0)
    assert not steps_module.is_continuous(np.sort(rng.random(63)), 1.0)
    assert not steps_module.is_continuous(np.arange(64.0), 64.0)
    narrow = np.sort(rng.random(64))
    extent = (narrow[-1] - narrow[0]) * 2.0**16
    assert steps_module.is_continuous(narrow, extent * 0.999)
    assert not steps_module.is_continuous(narrow, extent * 1.001)
    noisy = np.sort(np.append(narrow, narrow[:3] + 1e-12))
    assert not steps_module.is_continuous(noisy, 1.0)
    column = steps_module.InMemory(rng.random(513))
    assert column.is_continuous()
    assert not steps_module.InMemory(rng.random(512)).is_continuous()


def test_a_step_is_guessed_from_rows_all_over_the_column():
    assert steps_module.rows_to_guess_from(3).tolist() == [0, 1, 2]
    rows = steps_module.rows_to_guess_from(1000)
    assert (rows.size, rows[0], rows[-1]) == (256, 0, 999)
    assert steps_module.guessed_step(np.array([3.0, 4.0]), 0.0, 9.0) == 1.0
    assert steps_module.guessed_step(np.array([3.0]), 3.0, 3.0) == 0.0
    assert steps_module.guessed_step(np.sqrt([2.0, 3.0]), 0.0, 9.0) == 0.0


def test_two_values_of_one_multiple_have_no_step():
    assert steps_module.in_multiples(np.array([0.0, 1.0, 1.0 + 1e-6, 2.0]), 1.0, 4) is None
    assert steps_module.in_multiples(np.array([0.0, 2.0, 4.0]), 1.0, 3) == (0.0, 2.0, None)
    assert steps_module.in_multiples(np.full(3, 7.0), 1.0, 3) == (7.0, 0.0, None)
    assert steps_module.in_multiples(np.array([0.0, 2.0]), 3.0, 2) is None


def test_chains_that_leave_few_places_are_groups_of_samples():
    values = np.repeat(np.sqrt(np.arange(2.0, 12.0)), 2) + np.tile([0.0, 1e-12], 10)
    assert stepped(values[:, None]).points is not values[:, None]
    few = values[:18, None]
    assert stepped(few).points is few
    assert len(np.unique(stepped(values[:, None]).points)) == 10


@pytest.mark.parametrize("n_samples", [1600, 1601])
def test_the_window_is_the_values_around_the_median_and_no_others(n_samples):
    """Steps in the middle, and nothing but continuous values on both sides."""
    rng = np.random.default_rng(0)
    first = (n_samples - 512) // 2
    below, above = -1.0 - rng.random(first), 600.0 + rng.random(n_samples - 512 - first)
    column = rng.permutation(np.concatenate([below, np.arange(512.0), above]))
    assert not steps_module.InMemory(column).is_continuous()
    assert steps_module.InMemory(np.sort(rng.random(n_samples))).is_continuous()
