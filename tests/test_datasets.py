"""The generators: counts, seeds, and the shapes they promise."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler

from kfuse import KFuse
from kfuse.datasets import make_rings, make_shapes, make_spirals

GENERATORS = [make_spirals, make_rings, make_shapes]


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n_samples", [7, 100, 1001])
def test_gives_as_many_samples_as_asked(make, n_samples):
    X, y = make(n_samples)
    assert X.shape == (n_samples, 2)
    assert y.shape == (n_samples,)
    assert np.isfinite(X).all()
    assert np.bincount(y).min() >= 1


@pytest.mark.parametrize("make", GENERATORS)
def test_the_seed_decides(make):
    np.testing.assert_array_equal(make()[0], make()[0])
    np.testing.assert_array_equal(make(random_state=3)[0], make(random_state=np.random.RandomState(3))[0])
    assert not np.array_equal(make(random_state=3)[0], make(random_state=4)[0])


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("scaled", [False, True])
def test_default_data_is_clustered_as_made(make, scaled):
    X, y = make()
    labels = KFuse().fit_predict(MinMaxScaler().fit_transform(X) if scaled else X)
    assert adjusted_rand_score(y, labels) == 1


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("scaled", [False, True])
def test_most_seeds_are_clustered_as_made(make, scaled):
    n_found = 0
    for seed in range(1, 11):
        X, y = make(random_state=seed)
        labels = KFuse().fit_predict(MinMaxScaler().fit_transform(X) if scaled else X)
        n_found += adjusted_rand_score(y, labels) > 0.99
    assert n_found >= 8


def test_positions_are_random():
    X, y = make_rings(900, noise=0)
    outermost = X[y == 2]
    angles = np.sort(np.arctan2(outermost[:, 1], outermost[:, 0]))
    steps = np.diff(angles)
    assert steps.std() > steps.mean() / 2  # of equal steps, it would be 0


def test_spirals_end_at_distance_one_and_share_evenly():
    X, y = make_spirals(400, n_arms=4, noise=0)
    assert np.linalg.norm(X, axis=1).max() == pytest.approx(1, abs=0.01)
    np.testing.assert_array_equal(np.bincount(y), [100] * 4)


def test_rings_have_equal_density_and_spacing():
    X, y = make_rings(600, n_rings=3, noise=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), (y + 1) / 3)
    np.testing.assert_allclose(np.bincount(y), [100, 200, 300], atol=1)


def test_shapes_blobs_differ_in_density():
    X, y = make_shapes(5000)
    spreads = [X[y == blob].std(axis=0).mean() for blob in (4, 5, 6)]
    assert spreads[0] < spreads[1] < spreads[2]
    inside = np.linalg.norm(X[y == 1], axis=1)
    around = np.linalg.norm(X[y == 0], axis=1)
    assert inside.max() < around.min()


@pytest.mark.parametrize(
    ("make", "arguments", "words"),
    [
        (make_spirals, {"n_arms": 0}, "n_arms must be at least 1"),
        (make_rings, {"n_rings": -1}, "n_rings must be at least 1"),
        (make_spirals, {"n_samples": 2}, "n_samples must be at least 3, got 2"),
        (make_shapes, {"n_samples": 6}, "n_samples must be at least 7, got 6"),
    ],
)
def test_refuses_counts_that_cannot_be(make, arguments, words):
    with pytest.raises(ValueError, match=words):
        make(**arguments)
