"""The order in which merges are undone: k clusters are k groups."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from kfuse import KFuse
from kfuse.core.adaptive import borders
from kfuse.core.adaptive.fusion import Merges


def merge_of(size, density, level=0.0, log_index=-3.0):
    """One merge of a part with 100 samples of log-density 0 and another part."""
    column = np.array([log_index])
    return Merges(
        log_index=column,
        lowest_index=column,
        log_weight=column,
        level=np.array([level]),
        size=np.array([[100.0, size]]),
        density=np.array([[0.0, density]]),
        edge=np.array([[0, 1]]),
    )


def height_of(*args, **kwargs):
    return borders.heights(merge_of(*args, **kwargs), 10, 2.0)[0]


def test_the_fewer_samples_draw_a_border_the_lower_it_is():
    heights = [height_of(size, -1.0) for size in (1, 2, 5, 20, 100)]
    assert (np.diff(heights) > 0).all()
    assert heights[-1] == pytest.approx(3.0, abs=0.1)


def test_a_small_part_that_is_denser_than_its_border_is_a_group():
    assert height_of(8, 5.0) > height_of(8, 0.0) + 0.2


def test_how_far_away_a_lone_sample_is_does_not_count():
    """Half of the difference in density lowers the index, and is taken back for one sample."""
    near, far = (height_of(1, -d, level=-d, log_index=-3.0 - d / 2) for d in (2.0, 20.0))
    assert near == pytest.approx(far)


def test_a_merge_is_as_high_as_those_inside_its_parts():
    merges = merge_of(50, -1.0)
    assert borders.heights(merges._replace(lowest_index=merges.log_index - 2.0), 10, 2.0)[0] == pytest.approx(
        height_of(50, -1.0) + 2.0
    )


@pytest.mark.parametrize("n_groups", [2, 3, 5, 10])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 10])
def test_tiny_groups_far_apart_are_found(n_groups, size):
    for seed in range(10):
        rng = np.random.default_rng([seed, n_groups, size])
        centres = 100 * np.column_stack([np.arange(n_groups), rng.random(n_groups)])
        y = np.repeat(np.arange(n_groups), size)
        X = centres[y] + rng.normal(size=(y.size, 2))
        assert adjusted_rand_score(y, KFuse(n_groups).fit_predict(X)) == 1.0


def test_two_pairs_are_two_clusters():
    labels = KFuse(2).fit_predict([[0, 0], [1, 0.3], [100, 70], [101, 70.5]])
    np.testing.assert_array_equal(labels, [0, 0, 1, 1])


def test_one_far_row_replaces_nothing():
    X = scale(load_breast_cancer().data)
    before = KFuse(2).fit_predict(X)
    for cell in (0, 7, 29):
        far = X[[0]].copy()
        far[0, cell] = 999.0
        after = KFuse(2).fit_predict(np.vstack([X, far]))
        assert adjusted_rand_score(before, after[:-1]) > 0.99


def test_small_groups_in_noise_are_found():
    rng = np.random.default_rng(3)
    centres = np.array([[x, y] for x in range(6) for y in range(6)]) * 10.0
    y = np.repeat(np.arange(36), 15)
    X = np.vstack([centres[y] + rng.normal(size=(y.size, 2)) * 0.5, rng.uniform(-5, 55, (100, 2))])
    assert adjusted_rand_score(y, KFuse(36).fit_predict(X)[: y.size]) > 0.97
