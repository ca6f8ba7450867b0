"""The baselines equal their slow, literal versions, ties and duplicates included."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kfuse.baselines import LDPMST, WANNDPC, DensityPeaks, close, pairs
from tests.oracle import baselines as oracle
from tests.strategies import samples


def at_least_two(max_samples):
    return samples(max_samples).filter(lambda X: len(X) >= 2)


@settings(max_examples=200)
@given(
    at_least_two(120),
    st.integers(1, 6),
    st.sampled_from([0.01, 0.5, 2.0, 2.5, 7.0, 30.0, 100.0]),
    st.sampled_from(["gaussian", "cutoff"]),
)
def test_density_peaks(X, n_clusters, percent, kernel):
    n_clusters = min(n_clusters, len(X))
    slow = oracle.DPC(X, percent, kernel)
    model = DensityPeaks(n_clusters, percent=percent, kernel=kernel)
    if slow.d_c == 0:
        with pytest.raises(ValueError, match="cutoff distance is 0"):
            model.fit(X)
        return
    model.fit(X)
    assert model.cutoff_ == slow.d_c
    np.testing.assert_allclose(model.density_, slow.rho, rtol=1e-12, atol=0)
    slow.fit(model.density_.tolist(), n_clusters)  # a last bit of exp may differ between machines
    np.testing.assert_array_equal(model.delta_, slow.delta)
    np.testing.assert_array_equal(model.gamma_, slow.gamma)
    np.testing.assert_array_equal(model.parents_, slow.parent)
    np.testing.assert_array_equal(np.sort(model.centers_), sorted(slow.centres))
    np.testing.assert_array_equal(model.labels_, slow.labels)
    np.testing.assert_array_equal(model.halo_mask_, slow.halo)


@settings(max_examples=200)
@given(at_least_two(120), st.integers(1, 8), st.sampled_from([0.001, 0.018, 0.1, 0.4]))
def test_ldp_mst(X, n_clusters, ratio):
    n_clusters = min(n_clusters, len(X))
    slow = oracle.LDPMST(X)
    expected = slow.fit(n_clusters, ratio)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LDPMST(n_clusters, ratio=ratio).fit(X)
    assert model.natural_value_ == slow.lam
    np.testing.assert_array_equal(model.density_, slow.rho)
    np.testing.assert_array_equal(model.peaks_, slow.peaks)
    np.testing.assert_array_equal(model.peaks_[model.peak_labels_], slow.root)
    np.testing.assert_array_equal(model.labels_, expected)
    assert len(caught) == (model.n_clusters_ < n_clusters)


@settings(max_examples=200)
@given(at_least_two(120), st.integers(1, 6))
def test_wann_dpc(X, n_clusters):
    n_clusters = min(n_clusters, len(X))
    slow = oracle.WANNDPC(X)
    expected = slow.fit(n_clusters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = WANNDPC(n_clusters).fit(X)
    np.testing.assert_array_equal(model.close_counts_, slow.found_c)
    np.testing.assert_array_equal(model.density_, slow.rho)
    np.testing.assert_array_equal(model.delta_, slow.delta)
    np.testing.assert_array_equal(model.parents_, slow.parent)
    np.testing.assert_array_equal(np.sort(model.centers_), sorted(slow.centres))
    np.testing.assert_array_equal(model.labels_, expected)
    assert len(caught) == (model.n_clusters_ < n_clusters)


def test_membership_may_fall_while_a_sample_waits():
    """Sample 0 belongs most to cluster 0 until its far neighbour 1 joins that; then 2 and with it 0 go to cluster 1."""
    indices = np.array([[3, 1, 2], [3, 3, 3], [4, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=np.int32)
    distances = np.array([[0.1, 5.0, 0.2], [0.01, 9.0, 9.0], [0.2, 5.0, 9.0], [0.0] * 3, [0.0] * 3])
    counts = np.array([3, 1, 3, 1, 1])
    near = close.CloseNeighbors(indices, distances, counts, counts, np.ones(5))
    labels = np.array([-1, -1, -1, 0, 1])
    close.join_by_membership(near, labels, 2)
    np.testing.assert_array_equal(labels, [1, 0, 1, 0, 1])


@settings(max_examples=100)
@given(at_least_two(60), st.floats(0, 1))
def test_any_order_statistic(X, share):
    n = len(X)
    d = oracle.all_distances(X)
    distances = sorted(d[i][j] for i in range(n) for j in range(i + 1, n))
    position = 1 + round(share * (len(distances) - 1))
    assert pairs.Pairs(X, 1).order_statistic(position) == distances[position - 1]


@settings(max_examples=30)
@given(at_least_two(120), st.integers(1, 4))
def test_many_small_blocks_and_threads_change_nothing(X, n_clusters):
    assume(len(np.unique(X, axis=0)) == len(X))
    n_clusters = min(n_clusters, len(X))
    whole = DensityPeaks(n_clusters, n_jobs=1).fit(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "ENTRIES_PER_BLOCK", 7 * len(X))
        parts = DensityPeaks(n_clusters, n_jobs=3).fit(X)
    for name in ("cutoff_", "density_", "delta_", "parents_", "labels_", "halo_mask_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)
