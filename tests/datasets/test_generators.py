"""The generators: counts, seeds and shapes."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler

from kfuse import KFuse
from kfuse.datasets import (
    make_away,
    make_pathbased,
    make_pole,
    make_rings,
    make_shapes,
    make_spirals,
    make_waveform,
)

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


LOOKALIKES = {make_pole: (80, 2, 2), make_away: (229, 2, 3), make_pathbased: (300, 2, 3),
              make_waveform: (5000, 21, 3)}  # fmt: skip


@pytest.mark.parametrize("make", LOOKALIKES)
def test_lookalikes_have_their_sizes_and_seeds(make):
    X, y = make()
    assert (*X.shape, y.max() + 1) == LOOKALIKES[make]
    assert y.dtype == np.intp
    assert len(np.unique(X, axis=0)) == len(X)
    np.testing.assert_array_equal(make()[0], X)
    assert not np.array_equal(make(random_state=1)[0], X)
    assert make(50)[0].shape == (50, X.shape[1])


def test_pole_has_a_dense_cluster_inside_a_sparse_one_that_distance_alone_does_not_tell_apart():
    X, y = make_pole()
    spread = [np.linalg.norm(X[y == part], axis=1).max() for part in (0, 1)]
    assert len(X[y == 0]) / spread[0] ** 2 > 10 * len(X[y == 1]) / spread[1] ** 2
    assert np.linalg.norm(X[y == 1], axis=1).min() > spread[0]
    single = AgglomerativeClustering(2, linkage="single").fit_predict(X)
    assert adjusted_rand_score(y, single) < 0.1


def test_away_is_told_apart_by_single_linkage_and_not_by_k_means():
    X, y = make_away()
    assert adjusted_rand_score(y, AgglomerativeClustering(3, linkage="single").fit_predict(X)) == 1
    assert adjusted_rand_score(y, KMeans(3, n_init=20, random_state=0).fit_predict(X)) == pytest.approx(0.31, abs=0.1)


def test_pathbased_is_a_ring_open_below_around_two_clusters():
    X, y = make_pathbased()
    radius = np.linalg.norm(X, axis=1)
    assert radius[y == 0].min() > 0.85
    assert np.median(radius[y > 0]) < 0.6
    bottom = np.abs(np.arctan2(X[y == 0, 0], -X[y == 0, 1]))
    assert bottom.min() > 0.5


def test_waveform_mixes_waves_as_breiman_says():
    X, y = make_waveform(30000)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    position = np.arange(1, 22)
    waves = [np.maximum(6 - np.abs(position - top), 0) for top in (11, 15, 7)]
    for mean, (a, b) in zip(means, ((0, 1), (0, 2), (1, 2)), strict=True):
        np.testing.assert_allclose(mean, (waves[a] + waves[b]) / 2, atol=0.08)
