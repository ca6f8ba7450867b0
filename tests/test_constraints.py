"""A range for the number of clusters, and a least size of clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from kfuse import KFuse
from tests.checks import assert_same_clusters, assert_valid_labels
from tests.strategies import repeats, samples
from tests.test_memberships import assert_consistent

BLOBS = make_blobs([120, 80, 60, 6], centers=[[0, 0], [12, 0], [0, 12], [12, 12]], shuffle=False, random_state=0)[0]


@given(samples(), st.integers(1, 6), st.integers(0, 6))
@settings(max_examples=repeats(40), deadline=None)
@pytest.mark.filterwarnings("ignore:The data has .* distinct sample")
def test_the_number_is_in_the_range(X, least, more):
    if least > len(X):
        return
    model, auto = KFuse((least, least + more)).fit(X), KFuse().fit(X)
    assert min(least, auto.tree_.most_clusters) <= model.n_clusters_ <= least + more
    if least <= auto.n_clusters_ <= least + more:
        np.testing.assert_array_equal(model.labels_, auto.labels_)
    np.testing.assert_array_equal(model.labels_, auto.cut(model.n_clusters_))


def test_the_clearest_number_in_a_range_is_taken():
    X, _ = make_blobs(400, centers=[[0, 0], [2.5, 0], [30, 0], [32.5, 0]], cluster_std=0.4, random_state=0)
    assert KFuse((1, 3)).fit(X).n_clusters_ in (2, 3)
    assert KFuse((3, 9)).fit(X).n_clusters_ == 4


@given(samples(), st.integers(2, 30), st.sampled_from(["assign", "label"]), st.sampled_from(["auto", 2, 3, (2, 4)]))
@settings(max_examples=repeats(80), deadline=None)
@pytest.mark.filterwarnings("ignore:The data has", "ignore:Of .* clusters, .* all noise")
def test_clusters_are_large_enough(X, size, outliers, n_clusters):
    if len(X) < max(size, 2):
        return
    model = KFuse(n_clusters, min_cluster_size=size, outliers=outliers).fit(X)
    assert_valid_labels(model.labels_, model.n_clusters_)
    sizes = np.bincount(model._division.clusters)[: model.n_clusters_]  # noise of a cluster counts towards its size
    assert sizes.min() >= size
    assert_consistent(model, X)


def test_small_clusters_are_fused_or_noise():
    assert KFuse().fit(BLOBS).n_clusters_ == 4
    fused = KFuse(min_cluster_size=20).fit(BLOBS)
    assert sorted(np.bincount(fused.labels_)) in ([60, 80, 126], [60, 86, 120], [66, 80, 120])
    noise = KFuse(min_cluster_size=20, outliers="label").fit(BLOBS)
    assert noise.n_clusters_ == 3
    assert (noise.labels_[260:] == -1).all()


def test_a_least_size_of_one_changes_nothing():
    for n_clusters in ("auto", 5, (2, 6)):
        np.testing.assert_array_equal(
            KFuse(n_clusters, min_cluster_size=1).fit_predict(BLOBS), KFuse(n_clusters).fit_predict(BLOBS)
        )


def test_fewer_large_parts_than_asked_for_are_reported():
    with pytest.warns(UserWarning, match="The data has . parts of 50 or more samples, so there are . clusters instead"):
        model = KFuse(20, min_cluster_size=50).fit(BLOBS)
    assert np.bincount(model.labels_).min() >= 50


def test_the_same_clusters_at_another_number():
    model = KFuse(2, min_cluster_size=20).fit(BLOBS)
    assert_same_clusters(model.cut(3), KFuse(3, min_cluster_size=20).fit_predict(BLOBS))
