"""What holds for all data, in both ways of fusing or in the one that promises it."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from kfuse.core.search.spatial import spatial_order
from tests.checks import (
    assert_cut_of,
    assert_nested,
    assert_same_clusters,
    assert_same_model,
    assert_same_tree,
    assert_valid_cuts,
    assert_valid_model,
)
from tests.strategies import SEEDS, rounded_samples, samples, untied, untied_samples
from tests.test_memberships import assert_consistent

FUSIONS = ["adaptive", "paper"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:The data has .* (sub-cluster|distinct sample)"),
    pytest.mark.filterwarnings("ignore:Of .* clusters, .* all noise"),
]


def number(X, wanted):
    """A number of clusters that the data can have."""
    return min(wanted, len(np.unique(X, axis=0)))


# The result


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=100)
@given(samples(max_samples=80), st.integers(1, 8), st.sampled_from(["assign", "label"]))
def test_every_model_is_valid(fusion, X, k, outliers):
    model = KFuse(number(X, k), fusion=fusion, outliers=outliers).fit(X)
    assert_valid_model(model, len(X))
    np.testing.assert_array_equal(model.labels_, model.cut(number(X, k)))


@settings(max_examples=100)
@given(samples(max_samples=80))
def test_any_number_of_clusters_nested_and_by_size(X):
    n_distinct = len(np.unique(X, axis=0))
    tree = KFuse(1).fit(X).tree_
    assert tree.most_clusters == n_distinct
    assert_valid_cuts(tree, range(1, n_distinct + 1))


@settings(max_examples=60)
@given(samples(max_samples=80))
def test_the_printed_algorithm_gives_up_to_as_many_as_it_has_subclusters(X):
    tree = KFuse(1, fusion="paper").fit(X).tree_
    assert tree.most_clusters == tree.n_leaves
    assert_valid_cuts(tree, range(1, tree.n_leaves + 1))


@settings(max_examples=60)
@given(samples(max_samples=80), st.integers(1, 8))
def test_fit_equals_cut_and_identical_samples_stay_together(X, k):
    labels = KFuse(number(X, k)).fit_predict(X)
    np.testing.assert_array_equal(labels, KFuse(1).fit(X).cut(number(X, k)))
    _, place = np.unique(X, axis=0, return_inverse=True)
    assert_nested(labels, place.ravel())


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=60)
@given(samples(max_samples=80), st.integers(1, 8), st.sampled_from(["euclidean", "manhattan", "chebyshev"]))
def test_predict_gives_the_labels_of_the_fit(fusion, X, k, metric):
    if fusion == "paper":  # it may split identical samples, which predict cannot tell apart
        X = np.unique(X, axis=0)
    model = KFuse(number(X, k), fusion=fusion, metric=metric).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


# The same again


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=40)
@given(samples(max_samples=80), st.integers(1, 5))
def test_a_second_fit_a_clone_and_a_pickle_are_the_same(fusion, X, k):
    blank = KFuse(number(X, k), fusion=fusion)
    model = clone(blank).fit(X)
    assert_same_model(pickle.loads(pickle.dumps(blank)).fit(X), model)
    assert_same_model(clone(model).fit(X), model)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.get_params() == model.get_params()
    assert_same_model(copy, model)
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert_same_model(model.fit(X), copy)


@pytest.mark.large
@pytest.mark.parametrize("fusion", FUSIONS)
def test_a_pickle_grows_with_the_samples(fusion):
    sizes = [len(pickle.dumps(KFuse(3, fusion=fusion).fit(untied(0, n, 3)))) for n in (1000, 4000)]
    assert sizes[1] < 4.2 * sizes[0]
    assert sizes[1] < 4000 * (3 * 8 + 150)  # the data, and some numbers per sample


@pytest.mark.large
@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=15)
@given(samples(max_samples=150))
def test_threads_and_searches_change_nothing(fusion, X):
    expected = KFuse(number(X, 3), fusion=fusion, n_jobs=1).fit(X)
    for n_jobs in (2, -1, None):
        for neighbors in ("kd_tree", "brute"):
            again = KFuse(number(X, 3), fusion=fusion, n_jobs=n_jobs, neighbors=neighbors).fit(X)
            assert_same_model(again, expected)


@pytest.mark.large
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("n_jobs", [2, -1, None])
@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
def test_threads_change_nothing_where_there_is_work_for_several(fusion, n_jobs, neighbors):
    X = np.random.default_rng(0).integers(0, 60, (4000, 2)).astype(float)
    expected = KFuse(7, fusion=fusion, n_jobs=1).fit(X)
    assert_same_model(KFuse(7, fusion=fusion, n_jobs=n_jobs, neighbors=neighbors).fit(X), expected)


# The same data, held differently


def layouts(X, folder):
    """The same values in every layout that an array can have."""
    wide = np.zeros((2 * len(X), 3 * X.shape[1]), X.dtype)
    wide[::2, ::3] = X
    np.save(folder / "x.npy", X)
    frozen = X.copy()
    frozen.flags.writeable = False
    swapped = X.astype(X.dtype.newbyteorder())
    yield from (np.asfortranarray(X), wide[::2, ::3], X[::-1, ::-1].copy()[::-1, ::-1], frozen, swapped)
    yield np.load(folder / "x.npy", mmap_mode="r")


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_layout_of_the_array_does_not_matter_and_it_is_not_changed(fusion, neighbors, dtype, tmp_path):
    X = untied(3, 130, 4).astype(dtype)
    expected = KFuse(3, fusion=fusion, neighbors=neighbors).fit(X)
    for layout in layouts(X, tmp_path):
        model = KFuse(3, fusion=fusion, neighbors=neighbors).fit(layout)
        assert_same_model(model, expected)
        np.testing.assert_array_equal(model.predict(layout), expected.labels_)
        np.testing.assert_array_equal(layout, X)


@pytest.mark.parametrize("fusion", FUSIONS)
def test_distances_are_not_changed(fusion):
    X = untied(3, 130, 4)
    D, graph = pairwise_distances(X), kneighbors_graph(X, 100, mode="distance")
    D.flags.writeable = False
    before = graph.copy()
    expected = KFuse(3, fusion=fusion, metric="precomputed").fit(D)
    graph.data.flags.writeable = False
    assert_same_clusters(KFuse(3, fusion=fusion, metric="precomputed").fit_predict(graph), expected.labels_)
    assert (graph != before).nnz == 0


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=60)
@given(samples(max_samples=80), st.sampled_from(["kd_tree", "brute"]))
def test_float32_gives_the_same_where_it_holds_the_values(fusion, X, neighbors):
    X = X.astype(np.float32)
    double, single = (KFuse(number(X, 3), fusion=fusion, neighbors=neighbors).fit(a) for a in (X.astype(float), X))
    assert_same_model(single, double)
    np.testing.assert_array_equal(single.predict(X), double.predict(X.astype(float)))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int16, bool])
def test_whole_numbers_are_taken_as_such(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype is bool else 100, (60, 3)).astype(dtype)
    assert_same_model(KFuse(2).fit(X), KFuse(2).fit(X.astype(float)))


# The same data, moved


@settings(max_examples=150)
@given(samples(max_samples=150, max_features=25), SEEDS, st.sampled_from(["kd_tree", "brute"]))
def test_row_order_does_not_matter_even_with_ties(X, seed, neighbors):
    shuffled = np.random.default_rng(seed).permutation(len(X))
    np.testing.assert_array_equal(X[shuffled][spatial_order(X[shuffled])], X[spatial_order(X)])
    model, again = KFuse(neighbors=neighbors).fit(X), KFuse(neighbors=neighbors).fit(X[shuffled])
    np.testing.assert_array_equal(again.tree_.log_index, model.tree_.log_index)
    np.testing.assert_array_equal(again.subcluster_labels_, model.subcluster_labels_[shuffled])
    assert_same_clusters(again.labels_, model.labels_[shuffled])


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=60)
@given(untied_samples(), SEEDS, st.integers(1, 6))
def test_a_shift_does_not_matter(fusion, X, seed, k):
    shift = np.random.default_rng(seed).integers(-(2**28), 2**28, X.shape[1])
    expected = KFuse(number(X, k), fusion=fusion).fit(X)
    assert_same_clusters(KFuse(number(X, k), fusion=fusion).fit_predict(X + shift), expected.labels_)


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=60)
@given(untied_samples(), SEEDS, st.integers(1, 6))
def test_a_turn_by_90_degrees_and_a_mirror_do_not_matter(fusion, X, seed, k):
    rng = np.random.default_rng(seed)
    turned = (X * rng.choice([-1, 1], X.shape[1]))[:, rng.permutation(X.shape[1])]
    expected = KFuse(number(X, k), fusion=fusion).fit(X)
    assert_same_clusters(KFuse(number(X, k), fusion=fusion).fit_predict(turned), expected.labels_)


@settings(max_examples=100)
@given(samples(max_samples=100), st.integers(-60, 60))
def test_a_unit_that_is_a_power_of_two_changes_no_bit(X, power):
    model, scaled = KFuse().fit(X), KFuse().fit(X * 2.0**power)
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    assert_same_tree(scaled.tree_, model.tree_)
    if model.n_neighbors_ > 0:  # one place alone has no scale
        np.testing.assert_allclose(scaled.density_, model.density_ / 2.0**power, rtol=1e-12)


@settings(max_examples=60)
@given(SEEDS, st.integers(5, 120), st.integers(1, 5), st.integers(1, 6))
def test_any_unit_place_and_turn_change_nothing_up_to_ties(seed, n_samples, n_features, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) + rng.integers(0, 3, (n_samples, 1)) * 4
    turn = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    expected = KFuse(number(X, k)).fit_predict(X)
    assert_same_clusters(KFuse(number(X, k)).fit_predict(-7.5 * X @ turn + 2), expected)


@settings(max_examples=100)
@given(rounded_samples(), st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_any_unit_and_place_of_rounded_data_change_no_bit(X, factor, shift):
    model = KFuse().fit(X)
    for moved in (X * factor, X + shift, (X + shift) * factor):
        again = KFuse().fit(moved)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        assert_same_tree(again.tree_, model.tree_)


@settings(max_examples=60)
@given(rounded_samples(), SEEDS, st.floats(-12, -9))
def test_noise_far_below_the_rounding_and_single_precision_change_no_bit(X, seed, power):
    noise = 10.0**power * np.random.default_rng(seed).standard_normal(X.shape)
    model = KFuse().fit(X)
    for disturbed in (X + noise * np.diff(np.unique(X)).min(), X.astype(np.float32)):
        again = KFuse().fit(disturbed)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        assert_same_tree(again.tree_, model.tree_)


# More data


@settings(max_examples=60)
@given(samples(max_samples=80), st.integers(2, 4))
def test_repeating_every_sample_changes_nothing(X, times):
    once, again = KFuse().fit(X), KFuse().fit(np.repeat(X, times, axis=0))
    assert once.n_clusters_ == again.n_clusters_
    assert_same_clusters(again.labels_, np.repeat(once.labels_, times))


@settings(max_examples=200)
@given(samples(max_samples=60), SEEDS, st.sampled_from(["auto", 2, 5]), st.sampled_from(["assign", "label"]))
def test_whole_weights_equal_copies(X, seed, k, outliers):
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    assume(weights.any())
    copies = np.repeat(X, weights, axis=0)
    model = KFuse(k if k == "auto" else number(copies, k), outliers=outliers)
    repeated = clone(model).fit(copies)
    weighted = model.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    np.testing.assert_array_equal(np.repeat(weighted.density_, weights), repeated.density_)
    np.testing.assert_array_equal(weighted.tree_.height, repeated.tree_.height)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert_consistent(weighted, X)
    assert all((weights[indices] > 0).all() for indices in weighted.exemplars_)


@settings(max_examples=60)
@given(samples(max_samples=60), st.integers(1, 1000), SEEDS)
def test_only_ratios_of_weights_matter_and_equal_ones_do_not(X, factor, seed):
    weights = np.random.default_rng(seed).integers(1, 9, len(X))
    assert_same_tree(
        KFuse().fit(X, sample_weight=weights * factor).tree_._replace(sample_weight=None),
        KFuse().fit(X, sample_weight=weights).tree_._replace(sample_weight=None),
    )
    assert_same_model(KFuse().fit(X, sample_weight=np.full(len(X), 0.7)), KFuse().fit(X))


@pytest.mark.parametrize("fusion", FUSIONS)
@settings(max_examples=40)
@given(untied_samples(), st.integers(1, 6))
def test_a_far_away_copy_leaves_the_tree_of_the_others(fusion, X, k):
    """Both halves have the natural value of the whole, so each cut of the whole cuts each half as it alone is cut."""
    X = np.unique(X, axis=0)
    alone = KFuse(1, fusion=fusion).fit(X)
    assume(alone.n_neighbors_ < len(X) - 1)  # else the search for the natural value ended for want of samples
    both = KFuse(1, fusion=fusion).fit(np.vstack([X, X + 2.0**44]))
    assert (both.natural_value_, both.n_neighbors_) == (alone.natural_value_, alone.n_neighbors_)
    labels = both.cut(min(2 * k, both.tree_.most_clusters))
    for half in (labels[: len(X)], labels[len(X) :]):
        assert_cut_of(half, alone.tree_)
    assert_same_clusters(both.cut(2), np.repeat([0, 1], len(X)))


@settings(max_examples=60)
@given(untied_samples(), SEEDS, st.integers(20, 60), st.integers(1, 6))
def test_a_far_away_cluster_leaves_the_tree_of_the_others_if_the_natural_value_stays(X, seed, n_far, k):
    """A natural value that the new samples change is another view of all samples; `tests.hostile.far` counts these."""
    far = untied(seed, n_far, X.shape[1]) + 2.0**44
    alone, both = KFuse(1).fit(X), KFuse(1).fit(np.vstack([X, far]))
    found = (both.natural_value_, both.n_neighbors_)
    assume(found == (alone.natural_value_, alone.n_neighbors_))
    assume(both.n_neighbors_ < min(len(np.unique(X, axis=0)), n_far))
    assert_cut_of(both.cut(k + 1)[: len(X)], alone.tree_)
    assert_same_clusters(both.cut(2), np.repeat([0, 1], [len(X), n_far]))


def test_the_order_of_samples_with_weights_at_one_place_does_not_matter():
    """Sums of such weights depend on their order in the last bit, which decides between equal borders."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, weights = rng.integers(0, 4, (12, 1)).astype(float), rng.integers(1, 10, 12) / 10
        order = rng.permutation(12)
        model, shuffled = KFuse().fit(X, sample_weight=weights), KFuse().fit(X[order], sample_weight=weights[order])
        for n_clusters in (2, 3):
            assert adjusted_rand_score(model.cut(n_clusters)[order], shuffled.cut(n_clusters)) == 1.0
