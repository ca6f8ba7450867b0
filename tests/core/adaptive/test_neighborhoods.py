"""Where a neighbourhood ends, and the intrinsic dimension."""

import numpy as np
import pytest

from kfuse.core.adaptive.neighborhoods import intrinsic_dimension, own_neighborhoods, spreads_of
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborTable, choose_search


def neighborhoods_of(X, k, n_threads=1):
    nearest = NeighborTable(choose_search(X, "euclidean", "auto")).nearest(k)
    return own_neighborhoods(nearest, spreads_of(nearest.distances_of()), Execution(n_threads))


@pytest.mark.parametrize("size", [6, 15])
def test_a_group_apart_ends_the_neighbourhoods_of_its_members(size):
    rng = np.random.default_rng(size)
    X = np.vstack([rng.normal(size=(400, 2)), rng.normal(size=(size, 2)) * 0.1 + 50])
    counts = neighborhoods_of(X, 30).counts
    assert (counts[400:] < size).all()
    assert (counts[:400] == 30).mean() > 0.95


def test_a_gap_that_neighbours_do_not_see_ends_nothing():
    """Four samples close together inside of a crowd: the gap after them is theirs alone, and too few share it."""
    X = np.linspace(0, 1, 200)[:, None]
    X = np.vstack([X, [[0.5 + 1e-9]], [[2.0]]])
    assert (neighborhoods_of(X, 20).counts == 20).all()


@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 8])
def test_the_dimension_is_that_of_the_data_whatever_the_number_of_features(n_features):
    rng = np.random.default_rng(n_features)
    X = np.zeros((2000, 10))
    X[:, :n_features] = rng.random((2000, n_features))
    turned = X @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    assert neighborhoods_of(turned, 20).dimension == pytest.approx(n_features, rel=0.25)


def test_without_neighbours_the_dimension_is_one():
    assert intrinsic_dimension(np.empty((1, 0))) == 1.0
    assert intrinsic_dimension(np.ones((2, 1))) == 1.0


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("kfuse.core.adaptive.neighborhoods.SAMPLES_PER_PART", 50)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2)) * 0.1 + 10 * rng.integers(0, 6, (500, 2))
    alone, together = neighborhoods_of(X, 20), neighborhoods_of(X, 20, n_threads=3)
    np.testing.assert_array_equal(alone.counts, together.counts)
    assert (alone.counts < 20).any()
