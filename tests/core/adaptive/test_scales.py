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
