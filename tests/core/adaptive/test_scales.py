"""Distances between coordinates in whole steps, and what they tell of the density."""

import numpy as np
import pytest

from kfuse import KFuse
from kfuse.core.adaptive import scales
from kfuse.core.search import choose_search


@pytest.mark.parametrize("step", [0.0, 1.0, 2.5])
def test_a_distance_is_known_to_one_step(step):
    distances = np.array([[3.0, 5.0], [2.5, 100.0]])
    np.testing.assert_allclose(scales.at_most(distances, step) ** 2, distances**2 + step**2)
    np.testing.assert_allclose(scales.at_least(distances, step) ** 2, distances**2 - step**2, atol=1e-12)


def test_without_steps_distances_stay_as_they_are():
    distances = np.random.default_rng(0).random((5, 20))
    assert scales.at_most(distances, 0.0) is distances
    assert scales.at_least(distances, 0.0) is distances


def test_equally_distant_neighbours_tell_no_infinite_dimension():
    looked_at = scales.all_scales(np.ones((30, 16)))
    assert (looked_at.dimensions < 1000).all()
    assert (scales.all_scales(np.ones((30, 16)), 1.0).dimensions < 3).all()


def test_the_expected_spread_is_a_sum_of_inverse_ranks():
    expected = [1 / 4 + 1 / 5 + 1 / 6 + 1 / 7, sum(1 / i for i in range(8, 16))]
    np.testing.assert_allclose(scales.expected_spread(np.array([8, 16])), expected)


def test_scales_are_read_at_their_ranks():
    distances = np.arange(1.0, 41.0).reshape(2, 20)
    found = scales.all_scales(distances, 3.0)
    assert found.counts.tolist() == [8, 16]
    assert found.radii.tolist() == [[8.0, 16.0], [28.0, 36.0]]
    long = np.sqrt(found.radii**2 + 9.0)
    np.testing.assert_allclose(found.spreads, np.log(long / [[4.0, 8.0], [24.0, 28.0]]))
    assert found.step == 3.0
    none = scales.all_scales(np.zeros((1, 8)))
    assert (none.radii.tolist(), none.spreads.tolist()) == ([[np.finfo(float).tiny]], [[0.0]])


def some_scales(n_samples):
    rng = np.random.default_rng(0)
    return scales.Scales(np.array([8, 16]), rng.random((n_samples, 2)), rng.random((n_samples, 2)), 0.5)


@pytest.mark.parametrize("n_inside", [15, 16])
def test_beyond_a_gap_spreads_are_the_mean_of_the_others_if_these_are_enough(n_inside):
    before, found = some_scales(40).spreads, some_scales(40)
    scales.without_gaps(found, np.repeat([16, 15, 7], [n_inside, 39 - n_inside, 1]).astype(np.int32))
    first = before[:, 0].copy()
    first[-1] = first[:-1].mean()
    np.testing.assert_allclose(found.spreads[:, 0], first)
    np.testing.assert_array_equal(found.spreads[:n_inside, 1], before[:n_inside, 1])
    mean = before[:16, 1].mean() if n_inside == 16 else first.mean()
    np.testing.assert_allclose(found.spreads[n_inside:, 1], mean)


def test_without_any_whole_neighbourhood_the_mean_of_all_counts():
    before, found = some_scales(9).spreads, some_scales(9)
    scales.without_gaps(found, np.repeat([16, 5], [3, 6]).astype(np.int32))
    np.testing.assert_allclose(found.spreads[3:, 0], before[:, 0].mean())


def test_sums_over_sub_clusters():
    looked_at, labels = some_scales(6), np.array([0, 1, 1, 0, 2, 1])
    found = looked_at.summed(labels)
    for scale in (0, 1):
        spreads, radii = looked_at.spreads[:, scale], looked_at.radii[:, scale]
        np.testing.assert_allclose(found.spreads[scale], [spreads[labels == label].sum() for label in range(3)])
        assert found.mean_spreads[scale] == pytest.approx(spreads.mean())
        lowest = np.array([radii[labels == label].min() for label in range(3)])
        np.testing.assert_allclose(found.lowest(labels, scale), np.sqrt(lowest**2 + 0.25))
    expected = scales.expected_spread(np.array([8, 16])) / looked_at.spreads.mean(axis=0)
    np.testing.assert_allclose(found.dimensions, expected)
    assert found.step == 0.5


def test_no_distance_between_steps_is_zero():
    assert scales.at_least(np.array([1.0, 0.5]), 1.0).tolist() == [np.finfo(float).tiny] * 2


@pytest.mark.parametrize(
    ("columns", "step"),
    [([np.arange(60) % 7], 1.0), ([np.arange(60) % 7 / 10, np.arange(60) % 11], 1.0), ([np.sqrt(np.arange(60))], 0.0)],
)
def test_the_search_knows_the_step(columns, step):
    search = choose_search(np.column_stack(columns), "euclidean", "auto", steps=True)
    assert search.distances.step == step
    assert search.reordered()[0].distances.step == step


WHOLE = {
    "normal": lambda rng: np.round(rng.normal(size=(2000, 10))),
    "Poisson": lambda rng: rng.poisson(1.0, (2000, 10)).astype(float),
    "geometric": lambda rng: rng.geometric(0.5, (2000, 8)).astype(float),
    "binomial": lambda rng: rng.binomial(3, 0.3, (2000, 10)).astype(float),
}


@pytest.mark.large
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_whole_numbers_without_clusters_are_one_cluster(kind, seed):
    assert KFuse().fit(WHOLE[kind](np.random.default_rng(seed))).n_clusters_ == 1


@pytest.mark.large
@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_found_in_whole_numbers(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0, 0, 0, 0], [12, 0, 0, 0, 0], [0, 12, 0, 0, 0], [0, 0, 12, 0, 0], [0, 0, 0, 12, 0]])
    X = np.round(rng.normal(size=(2000, 5)) + centres[np.arange(2000) % 5])
    assert KFuse().fit(X).n_clusters_ == 5


def test_sparse_counts_raise_no_warning():  # warnings are errors
    KFuse().fit((np.random.default_rng(0).random((800, 100)) < 0.02).astype(float))
    KFuse(metric="manhattan").fit((np.random.default_rng(0).random((400, 60)) < 0.05).astype(float))


def test_a_distance_of_zero_has_a_finite_spread():
    """A metric that rounds is zero between samples that are not identical."""
    distances = np.column_stack([np.zeros((2, 7)), np.full((2, 1), 1e200)])
    with np.errstate(all="raise"):
        found = scales.all_scales(distances)
    assert np.isfinite(found.spreads).all()
    assert found.spreads[0, 0] > 600
