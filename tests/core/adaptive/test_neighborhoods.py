"""Where a neighbourhood ends, and the intrinsic dimension."""

import numpy as np
import pytest

from kfuse.core.adaptive import neighborhoods
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


def test_the_spread_is_the_mean_log_ratio_to_the_last_distance():
    found = spreads_of(np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 2.0], [3.0, 3.0, 3.0]]))
    np.testing.assert_allclose(found, [1.5 * np.log(2.0), -1.0, 0.0])
    assert spreads_of(np.ones((2, 1))).tolist() == [-1.0, -1.0]


def test_the_dimension_is_one_over_the_mean_spread_within_bounds():
    assert neighborhoods.add_spreads(np.array([-1.0, 0.5, 0.0]), 1.0, 2) == (1.5, 4)
    assert neighborhoods.dimension_of_spreads(1.5, 4) == pytest.approx(8 / 3)
    assert neighborhoods.dimension_of_spreads(0.0, 4) == pytest.approx(1000.0)
    assert neighborhoods.dimension_of_spreads(100.0, 4) == pytest.approx(0.1)
    assert neighborhoods.dimension_of_spreads(7.0, 0) == 1.0


def test_a_ratio_is_chance_up_to_the_square_of_k_in_volume():
    np.testing.assert_allclose(
        neighborhoods.widest_ratios(5, 2.0), [5.0, 5.0 ** (1 / 2), 5.0 ** (1 / 3), 5.0 ** (1 / 4)]
    )


def test_the_first_gap_after_four_neighbours_ends_a_neighbourhood():
    distances = np.array([[1, 1, 1, 1, 2, 9.0], [1, 9, 9, 9, 9, 9], [1, 1, 1, 1, 9, 99], [1, 1, 1, 9, 17, 40]])
    ends = np.full(4, 6, dtype=np.int32)
    neighborhoods.find_gaps(distances, np.array([9.0, 9.0, 9.0, 2.0, 3.0]), ends)
    assert ends.tolist() == [5, 6, 4, 6]
    neighborhoods.find_gaps(distances, np.array([2.0, 2.0, 2.0, 1.5, 2.0]), ends)
    assert ends.tolist() == [4, 6, 4, 4]


def test_a_gap_counts_if_more_than_half_of_those_before_it_have_one():
    indices = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], dtype=np.int32)
    counts = np.full(4, 9, dtype=np.int32)
    neighborhoods.keep_shared(indices, np.array([2, 2, 3, 3], dtype=np.int32), counts, 0, 3)
    assert counts.tolist() == [3, 3, 3, 9]  # 0 and 1 have one another, which is half; 3 is not asked for
    neighborhoods.keep_shared(indices, np.array([2, 2, 2, 3], dtype=np.int32), counts, 0, 4)
    assert counts.tolist() == [2, 2, 2, 3]


def test_four_neighbours_have_no_gap():
    X = np.repeat([0.0, 100.0], 4)[:, None] + np.tile(np.arange(4.0), 2)[:, None]
    found = neighborhoods_of(X, 4)
    assert found.counts.tolist() == [4] * 8
    expected = [np.log(row[4] / row[1:4]).mean() for row in np.sort(np.abs(X - X.T), axis=1)]
    assert found.dimension == pytest.approx(1 / np.mean(expected))
