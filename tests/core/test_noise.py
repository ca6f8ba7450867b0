"""Noise: what the tails of clusters cannot explain, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.stats import chi2, gamma

from kfuse.core import noise
from kfuse.core.result import Surroundings
from tests.strategies import SEEDS


def steeper_by_trying(x, y, least_slope):
    """The largest number of points whose last is a corner of the majorant, with every slope before it steep enough."""
    x0, y0, count = 0.0, 0.0, 0
    while count < len(x):
        ahead = np.arange(count, len(x))
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (y[ahead] - y0) / (x[ahead] - x0)
        best = ahead[np.flatnonzero(slopes == slopes.max())[-1]]
        if slopes.max() < least_slope:
            break
        x0, y0, count = x[best], y[best], best + 1
    return count


@given(SEEDS, st.integers(0, 60))
def test_the_steep_part_of_the_majorant_is_found(seed, n_points):
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(rng.integers(1, 9, n_points) / 16), np.arange(1.0, n_points + 1)
    count = noise.count_steeper(x, y, np.empty(n_points + 1, dtype=np.intp), 4.0)
    assert count == steeper_by_trying(x, y, 4.0)


@pytest.mark.parametrize("dimension", [2.0, 5.0, 20.0])
def test_as_many_samples_are_expected_as_gaussians_have(dimension):
    cores = np.array([3.0, -1.0]) - chi2.isf(1 - noise.CORE, dimension) / 2
    grid, expected = noise._expected_below(cores, np.array([400, 100]), dimension, 0.02)
    assert expected[0] <= 0.0200001
    assert expected[-1] == pytest.approx(500, rel=0.01)
    at = np.linspace(-4.5, 2.5, 8)
    by_hand = 400 * chi2.sf(2 * (3.0 - at), dimension) + 100 * chi2.sf(np.maximum(2 * (-1.0 - at), 0), dimension)
    by_hand *= np.exp(-noise.RARE / by_hand)
    np.testing.assert_allclose(np.exp(np.interp(at, grid, np.log(expected))), by_hand, rtol=0.01)


def measured_levels(X, k):
    """The levels of samples as a fit has them, by their k nearest neighbours."""
    distances, indices = cKDTree(X).query(X, k + 1)
    once = np.ones(len(X), dtype=np.intp)
    return noise.log_levels(indices[:, 1:].astype(np.int32), distances[:, 1:], once, once, X.shape[1])


@pytest.mark.parametrize(("n_dimensions", "k"), [(1, 12), (2, 15), (5, 35), (10, 90)])
@pytest.mark.parametrize("n_samples", [300, 1000])
def test_gaussians_have_hardly_any_noise(n_dimensions, k, n_samples):
    counts = []
    for seed in range(40):
        levels = measured_levels(np.random.default_rng(seed).normal(size=(n_samples, n_dimensions)), k)
        counts.append((levels < noise.background(levels, np.zeros(n_samples, dtype=np.intp), n_dimensions)).sum())
    assert np.mean(np.array(counts) > 0) <= 0.05
    assert np.mean(counts) < 0.1


def test_a_background_is_found_at_its_density():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    levels = np.append(-(X * X).sum(axis=1) / 2, rng.normal(-6.0, 0.3, 100))
    threshold = noise.background(levels, np.zeros(1000, dtype=np.intp), 2)
    assert -6.0 < threshold < -4.0
    assert (noise.scores(levels, threshold) > 0.5)[900:].mean() > 0.95


def test_scores_are_shares_of_a_background():
    np.testing.assert_allclose(noise.scores(np.log([1.0, 2.0, 6.0]), np.log(2.0)), [2 / 3, 1 / 2, 1 / 4])


def test_a_lone_sample_is_noise_if_it_is_far_enough():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for far, is_noise in ((12.0, True), (4.0, False)):
        levels = measured_levels(np.vstack([X, [[far, 0.0]]]), 15)
        assert (levels[-1] < noise.background(levels, np.zeros(301, dtype=np.intp), 2)) == is_noise


def test_copies_count_as_samples():
    indices, distances = np.array([[1], [0]], dtype=np.int32), np.ones((2, 1))
    copies = np.array([3, 1])
    np.testing.assert_allclose(noise.log_levels(indices, distances, copies, copies, 2.0), np.log([4.0, 4.0]))


def test_levels_are_the_lower_of_those_at_two_scales():
    rng = np.random.default_rng(0)
    indices = np.array([rng.permutation(30)[:12] for _ in range(30)], dtype=np.int32)
    distances = np.sort(rng.random((30, 12)) ** 2 + 0.1, axis=1)
    for copies in (np.ones(30), rng.integers(1, 5, 30).astype(float)):
        expected = []
        for row in range(30):
            samples = [copies[row] + copies[indices[row, :count]].sum() for count in (8, 12)]
            means = [distances[row, :count].mean() for count in (8, 12)]
            expected.append(min(np.log(n) - 3.0 * np.log(mean) for n, mean in zip(samples, means, strict=True)))
        np.testing.assert_allclose(noise.log_levels(indices, distances, copies, copies, 3.0), expected)


def test_few_neighbours_no_neighbours_and_identical_samples_have_levels():
    indices, distances = np.zeros((2, 3), dtype=np.int32), np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    once = np.ones(2)
    found = noise.log_levels(indices, distances, once, once, 2.0)
    np.testing.assert_allclose(found, np.log(4.0) - 2.0 * np.log([2.0, np.finfo(float).tiny]))
    assert noise.log_levels(indices[:, :0], distances[:, :0], once, once, 2.0).tolist() == [0.0, 0.0]


def test_a_place_with_many_copies_is_as_dense_as_any():
    found = noise.of_samples(np.array([1.0, 5.0, 2.0]), np.array([9.0, 1.0, 8.0]), np.array([0, 1, 2, 2, 0]))
    assert found.tolist() == [5.0, 5.0, 2.0, 2.0, 5.0]


def test_levels_of_a_fit_are_those_of_its_places():
    indices, distances = np.array([[1], [0]], dtype=np.int32), np.full((2, 1), 0.5)
    around = Surroundings(np.array([0, 1, 1]), indices, distances, 7.0)
    np.testing.assert_allclose(noise.levels_of_fit(around, 3.0), np.log(3.0) - 3.0 * np.log(0.5))


def test_the_core_of_a_cluster_is_exceeded_by_one_sample_in_twenty():
    ascending = np.arange(60.0)
    labels = np.repeat([0, 1, 0], [20, 30, 10])
    sizes = np.array([30.0, 30.0])
    assert noise._cores(ascending, np.ones(60), labels, sizes).tolist() == [58.0, 48.0]
    few = noise._cores(ascending[:3], np.ones(3), np.array([0, 1, 0]), np.array([2.0, 1.0]))
    assert few.tolist() == [2.0, 1.0]
    weight = np.array([1.0, 18.0, 1.0, 20.0])
    assert noise._cores(ascending[:4], weight, np.zeros(4, dtype=int), np.array([40.0])).tolist() == [3.0]
    light = noise._cores(ascending[:4], np.array([19.0, 19.0, 1.0, 1.0]), np.zeros(4, dtype=int), np.array([40.0]))
    assert light.tolist() == [1.0]


def test_expected_counts_begin_where_fewest_are_expected_and_end_above_the_cores():
    cores, sizes = np.array([3.0, -1.0]), np.array([400.0, 100.0])
    grid, expected = noise._expected_below(cores, sizes, 4.0, 0.02)
    assert grid.size == expected.size == noise.N_GRID
    in_core = chi2.isf(0.95, 4.0)
    assert grid[0] == pytest.approx(-1.0 - chi2.isf(0.02 / 500, 4.0) / 2)
    assert grid[-1] == pytest.approx(3.0 + in_core)
    np.testing.assert_allclose(np.diff(grid), (grid[-1] - grid[0]) / (noise.N_GRID - 1))
    plain = sum(n * chi2.sf(np.maximum(2 * (c - grid) + in_core, 0), 4.0) for c, n in zip(cores, sizes, strict=True))
    np.testing.assert_allclose(expected, plain * np.exp(-1.5 / plain), rtol=1e-6)
    flat = noise._expected_below(cores, sizes, 1.0, 0.02)
    np.testing.assert_array_equal(flat, noise._expected_below(cores, sizes, 2.0, 0.02))


def literal_background(levels, labels, dimension, weight):
    """The threshold, with counts and their majorant worked out one by one."""
    order = [i for i in np.argsort(levels, kind="stable") if weight[i] > 0]
    sizes = np.bincount(labels, weight)
    alone = -np.log(1 - 0.05) / 2.0
    cores = noise._cores(levels[order], weight[order], labels[order], sizes)
    grid, expected = noise._expected_below(cores, sizes, dimension, alone)
    x = np.exp(np.interp(levels[order], grid, np.log(expected)))
    y = np.cumsum(weight[order])
    n_sparse = sum(x < y[-1] / 2.0)
    y = gamma.ppf(0.05, y[:n_sparse])
    count = steeper_by_trying(x[:n_sparse], y, 2.0)
    lowest = grid[np.flatnonzero(expected <= alone)[-1]]
    if count == 0:
        return lowest, 0
    return max(lowest, (levels[order[count - 1]] + levels[order[count]]) / 2), count


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_background_is_where_more_samples_are_than_expected(is_weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    levels = np.append(-(X * X).sum(axis=1) / 2, rng.normal(-7.0, 0.3, 30))
    labels = np.append(np.arange(150) % 2, np.zeros(30, dtype=int))
    weight = rng.integers(0, 3, 180).astype(float) if is_weighted else np.ones(180)
    threshold, count = literal_background(levels, labels, 2.0, weight)
    assert count > 5
    found = noise.background(levels, labels, 2.0, weight if is_weighted else None)
    assert found == pytest.approx(threshold)


def test_without_a_background_the_threshold_is_where_one_sample_would_be_noise():
    X = np.random.default_rng(0).normal(size=(150, 2))
    levels, labels = -(X * X).sum(axis=1) / 2, np.zeros(150, dtype=int)
    threshold, count = literal_background(levels, labels, 2.0, np.ones(150))
    assert count == 0
    assert noise.background(levels, labels, 2.0) == pytest.approx(threshold, abs=0.02)
    assert threshold < levels.min()


def test_a_corner_of_the_majorant_may_be_as_steep_as_needed():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 6.0])
    for slope, expected in ((2.0, 3), (2.1, 0), (1.9, 3)):
        assert noise.count_steeper(x, y, np.empty(4, dtype=np.intp), slope) == expected
    assert noise.count_steeper(x, np.array([3.0, 5.0, 6.0]), np.empty(4, dtype=np.intp), 2.0) == 2
