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
    sizes = np.log(min(size, 100)) + np.log(max(size, 100)) / 2
    log_weight = log_index + sizes - level + density / 2
    return Merges(
        np.array([log_index]),
        np.array([log_weight]),
        np.array([level]),
        np.array([[100.0, size]]),
        np.array([[0.0, density]]),
        np.array([[0, 1]]),
    )


def height_of(*args, **kwargs):
    return borders.heights(merge_of(*args, **kwargs), 10)[0]


def test_the_fewer_samples_draw_a_border_the_lower_it_is():
    heights = [height_of(size, -1.0) for size in (1, 2, 5, 20, 100)]
    assert (np.diff(heights) > 0).all()
    assert heights[-1] == pytest.approx(3.0, abs=0.1)


def test_how_far_away_a_lone_sample_is_does_not_count():
    """Half of the difference in density lowers the index, and is taken back for one sample."""
    near, far = (height_of(1, -d, level=-d, log_index=-3.0 - d / 2) for d in (2.0, 20.0))
    assert near == pytest.approx(far)


def test_one_far_row_replaces_nothing():
    X = scale(load_breast_cancer().data)
    before = KFuse(2).fit_predict(X)
    for cell in (0, 7, 29):
        far = X[[0]].copy()
        far[0, cell] = 999.0
        after = KFuse(2).fit_predict(np.vstack([X, far]))
        assert adjusted_rand_score(before, after[:-1]) > 0.99


def test_merges_go_by_height():
    np.testing.assert_array_equal(borders.by_height(np.array([3.0, 1.0, 2.0, 1.0, 9.0])), [1, 3, 2, 0, 4])


@pytest.mark.parametrize("seed", range(5))
def test_lone_samples_use_up_no_cluster(seed):
    """Three Gaussians and five lone samples between and far beyond them: three clusters are the Gaussians."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    y = np.repeat(np.arange(3), 100)
    lone = [[60.0, 60.0], [-300.0, 10.0], [10.0, 12.0], [15.0, 60.0], [1e4, -1e4]]
    X = np.vstack([centres[y] + rng.normal(size=(300, 2)), lone])
    model = KFuse(3).fit(X)
    assert adjusted_rand_score(y, model.labels_[:300]) == 1.0
    assert len(np.unique(model.cut(8))) == 8
