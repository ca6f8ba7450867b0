"""Noise: what the tails of clusters cannot explain, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.stats import chi2

from kfuse.core import noise
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
