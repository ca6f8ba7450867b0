"""What a fitted model says about the borders of its clusters: p-values, weakest borders, next splits, persistence."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError

from kfuse import KFuse
from kfuse.tree import Suggestion
from study.structureless import FAMILIES


def two_gaussians(n_samples, apart, seed):
    X = np.random.default_rng(seed).normal(size=(n_samples, 2))
    X[n_samples // 2 :, 0] += apart
    return X


def scales_apart(seed, size=60):
    """Five groups of six Gaussians each: 30 clusters, or 5."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0], [5, 0], [0, 5], [5, 5], [2.5, 8.5]])
    hexagon = 3.2 * np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3])
    centres = (12.0 * corners[:, None] + 1.6 * hexagon[None]).reshape(-1, 2)
    return np.repeat(centres, size, axis=0) + rng.normal(size=(30 * size, 2))


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs([120, 80, 50, 50], centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    return KFuse().fit(X)


def test_a_suggestion_says_which_border_is_weakest_and_what_is_next(blobs):
    for one in blobs.tree_.suggest(8):
        labels, finer = blobs.cut(one.n_clusters), blobs.cut(one.n_clusters + 1)
        parts = np.bincount(finer[labels == one.next_split.cluster])
        assert sorted(parts[parts > 0], reverse=True) == list(one.next_split.sizes)
        assert sum(one.weakest_border) <= 300
        merge = len(blobs.tree_.children) + 1 - one.n_clusters
        assert one.p_value == blobs.tree_.p_value[merge:].max()
        assert (one.sign == "none") == (one.p_value == 1)


def test_weakest_border_of_two_clusters_is_between_them(blobs):
    two = next(one for one in blobs.tree_.suggest(99) if one.n_clusters == 2)
    assert list(two.weakest_border) == np.bincount(blobs.cut(2)).tolist()


def test_next_splits_are_named_by_label_with_weights_and_equal_sizes_as_well():
    X, y = make_blobs([60] * 6, centers=np.arange(12).reshape(6, 2) * 9, random_state=1)
    order = np.random.default_rng(0).permutation(len(X))
    for weight in (None, 1.0 + y[order]):
        model = KFuse().fit(X[order], sample_weight=weight)
        for one in model.tree_.suggest(9):
            inside = model.cut(one.n_clusters) == one.next_split.cluster
            assert len(np.unique(model.cut(one.n_clusters + 1)[inside])) == 2


def test_the_largest_number_has_nothing_left_to_split():
    tree = KFuse().fit(np.array([[0.0], [1.0]])).tree_
    assert [one.next_split for one in tree.suggest() if one.n_clusters == tree.n_leaves] in ([], [None])
    assert KFuse().fit([[0.0]]).tree_.suggest()[0].next_split is None


def test_a_suggestion_reads_well(blobs):
    best = blobs.tree_.suggest(1)[0]
    assert isinstance(best, Suggestion)
    assert repr(best).startswith(f"Suggestion(n_clusters=4, contrast={best.contrast:.3g}, strongest_border=")
    assert f"p_value={best.p_value:.3g}, sign='{best.sign}', weakest_border=(" in repr(best)
    assert "next_split=Split(cluster=" in repr(best)


def test_both_scales_are_ranked():
    for seed in range(3):
        ranked = KFuse().fit(scales_apart(seed)).tree_.suggest(2)
        assert [one.n_clusters for one in ranked] == [30, 5]
        assert all(one.p_value < 0.001 for one in ranked)


@pytest.mark.large
def test_more_samples_make_a_true_border_surer():
    falls = []
    for seed in range(10):
        few, many = (KFuse(2).fit(two_gaussians(n, 4.0, seed)).tree_.p_value[-1] for n in (400, 3000))
        falls.append(many < few)
    assert sum(falls) >= 9


@pytest.mark.large
def test_data_without_clusters_seldom_has_small_p_values():
    found = []
    for kind in ("uniform", "normal", "t3", "exponential", "sphere"):
        for n_features in (2, 5, 10):
            for seed in range(8):
                X = FAMILIES[kind].draw(np.random.default_rng((seed, n_features)), 300, n_features)
                found.append(KFuse().fit(X).tree_.p_value[-1])
    for level in (0.01, 0.05, 0.25):
        assert np.mean(np.array(found) <= level) <= level, level


@pytest.mark.parametrize("kind", ["unit", "shift", "shuffle", "far copy"])
def test_p_values_depend_on_the_clusters_alone(kind):
    """A far copy has the same borders, and one more."""
    X = two_gaussians(500, 3.5, 1).round(3)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    other = {"unit": 1e3 * X, "shift": X + 64.0, "shuffle": X[order], "far copy": np.vstack([X, X + 1e4])}[kind]
    here, there = KFuse(2).fit(X), KFuse(4 if kind == "far copy" else 2).fit(other)
    if kind == "far copy":
        seen, border = there.tree_.suggest(99), there.tree_.p_value
        assert border[-1] < 1e-6, "the border between the copies"
        np.testing.assert_allclose(border[-3], border[-2], rtol=1e-6)
        assert {3, 4} <= {one.n_clusters for one in seen}
        np.testing.assert_array_equal(there.cluster_persistence_.argsort(kind="stable"), np.arange(4))
        return
    np.testing.assert_allclose(there.tree_.p_value, here.tree_.p_value, rtol=1e-9)
    np.testing.assert_allclose(there.cluster_persistence_, here.cluster_persistence_, rtol=1e-9)


def test_persistence_is_high_for_true_clusters_and_near_zero_beyond_them(blobs):
    assert blobs.n_clusters_ == 4
    assert (blobs.cluster_persistence_ > 0.99).all()
    beyond = blobs.at(5)
    split = blobs.tree_.suggest(1)[0].next_split
    parts = np.unique(beyond.labels_[blobs.labels_ == split.cluster])
    assert (beyond.cluster_persistence_[parts] < 0.5).all()
    assert beyond.cluster_persistence_.max() > 0.99, "clusters that the fifth does not touch are as sure as before"


def test_the_least_persistent_cluster_has_the_p_value_of_the_suggestion(blobs):
    for one in blobs.tree_.suggest(6):
        assert blobs.at(one.n_clusters).cluster_persistence_.min() == pytest.approx(1 - one.p_value)


def test_persistence_is_in_the_order_of_labels_for_every_cut(blobs):
    for k in (2, 3, 4, 7, blobs.tree_.n_leaves, blobs.tree_.n_leaves + 3):
        found = blobs.at(k).cluster_persistence_
        assert found.shape == (k,)
        assert ((found >= 0) & (found <= 1)).all()
    assert (found[-3:] == 0).all(), "a sample that leaves its sub-cluster"


def test_one_cluster_is_not_in_doubt(blobs):
    np.testing.assert_array_equal(blobs.at(1).cluster_persistence_, [1.0])


def test_persistence_with_noise_and_with_a_least_size():
    rng = np.random.default_rng(0)
    X = np.vstack([make_moons(400, noise=0.05, random_state=0)[0], rng.uniform(-2, 3, (40, 2))])
    for options in ({"outliers": "label"}, {"min_cluster_size": 60}, {"min_cluster_size": 60, "outliers": "label"}):
        model = KFuse((2, 3), **options).fit(X)
        assert model.cluster_persistence_.shape == (model.n_clusters_,)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.cluster_persistence_, model.cluster_persistence_)


def test_persistence_is_not_there_for_the_printed_algorithm_nor_before_a_fit():
    model = KFuse(2, fusion="paper").fit(load_iris().data)
    assert not hasattr(model, "cluster_persistence_")
    with pytest.raises(AttributeError, match="use fusion='adaptive' for cluster_persistence_"):
        _ = model.cluster_persistence_
    with pytest.raises(ValueError, match="use fusion='adaptive'"):
        model.tree_.persistence(model.labels_)
    with pytest.raises(NotFittedError):
        _ = KFuse().cluster_persistence_
