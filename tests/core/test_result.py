"""What a fit returns, in another order and for more samples."""

import numpy as np

from kfuse.core.result import Borders, Result, Surroundings

INDICES = np.array([[1], [0], [0]], dtype=np.int32)


def test_borders_in_another_order():
    strength, is_valley = np.arange(3.0), np.array([True, False, False])
    seen = Borders(strength, is_valley, strength + 10, 2.0, 4, 5, strength + 20, strength + 30, 6)
    found = seen.in_order(np.array([2, 0, 1]))
    assert found.strength.tolist() == [2.0, 0.0, 1.0]
    assert found.is_valley.tolist() == [False, True, False]
    assert found.evidence.tolist() == [12.0, 10.0, 11.0]
    assert found.openness.tolist() == [22.0, 20.0, 21.0]
    assert found.separation.tolist() == [32.0, 30.0, 31.0]
    assert (found.dimension, found.n_peaks, found.n_islands, found.n_steps) == (2.0, 4, 5, 6)


def test_copies_and_first_samples_of_places():
    around = Surroundings(np.array([2, 0, 2, 1]), INDICES, np.ones((3, 1)), 1.0)
    assert around.copies.tolist() == [1.0, 1.0, 2.0]
    assert around.first.tolist() == [1, 3, 0]
    weighted = around._replace(sample_weight=np.array([0.0, 2.0, 3.0, 0.5]))
    assert weighted.copies.tolist() == [2.0, 0.5, 3.0]
    assert weighted.first.tolist() == [1, 3, 2]


def test_a_result_is_spread_over_more_samples():
    around = Surroundings(np.array([1, 0]), INDICES[:2], np.ones((2, 1)), 1.0)
    of_two = Result(
        natural_value=1,
        n_neighbors=1,
        reverse_counts=np.array([3, 4]),
        density=np.array([0.5, 0.25]),
        representatives=np.array([1, 1]),
        subclusters=np.array([0, 1]),
        left_out=np.array([True, False]),
        children=np.array([[0, 1]]),
        log_index=np.zeros(1),
        height=np.zeros(1),
        around=around,
        levels=np.array([7.0, 8.0]),
        leaving=np.array([0, -1]),
    )
    sample, weight = np.array([0, 1, 1]), np.array([1.0, 0.0, 2.0])
    found = of_two.spread_over(sample, np.array([0, 2]), weight)
    assert found.reverse_counts.tolist() == [3, 4, 4]
    assert found.density.tolist() == [0.5, 0.25, 0.25]
    assert found.representatives.tolist() == [2, 2, 2]
    assert found.subclusters.tolist() == [0, 1, 1]
    assert found.left_out.tolist() == [True, False, False]
    assert found.leaving.tolist() == [0, -1, -1]
    assert found.levels.tolist() == [7.0, 8.0, 8.0]
    assert found.around.place.tolist() == [1, 0, 0]
    assert found.around.sample_weight is found.sample_weight is weight
    bare = of_two._replace(around=None, levels=None, leaving=None).spread_over(sample, np.array([0, 2]), weight)
    assert (bare.around, bare.levels, bare.leaving) == (None, None, None)
