"""fusion="adaptive": equal to the plain reference, and with every property it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from kfuse.core.adaptive import places
from kfuse.core.adaptive.n_clusters import count_borders
from kfuse.core.search import NeighborTable, choose_search
from kfuse.core.search.duplicates import first_at_distance_zero, first_of_equal_rows
from kfuse.core.search.spatial import spatial_order
from tests.checks import assert_same_clusters
from tests.oracle.adaptive import Reference, as_recorded
from tests.strategies import samples

REAL_SETS = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "breast_cancer": load_breast_cancer().data,
    "digits": load_digits().data[:500],
}


def in_spatial_order(X):
    """The distinct samples in the order in which the adaptive fusion numbers them, and the number of each sample."""
    points, place = np.unique(X, axis=0, return_inverse=True)
    order = spatial_order(points)
    return points[order], np.argsort(order)[place.ravel()]


@settings(max_examples=300)
@given(samples(max_samples=60), st.sampled_from(["kd_tree", "brute"]))
def test_equals_the_reference(X, neighbors):
    assert_equals_the_reference(X, neighbors)


@pytest.mark.parametrize("n_samples", [5, 24, 40])
@pytest.mark.parametrize("seed", range(4))
def test_a_few_samples_equal_the_reference(seed, n_samples):
    """Few enough to take no second where kernels are not compiled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 2)) + 4 * rng.integers(0, 3, (n_samples, 1))
    assert_equals_the_reference(np.round(X) if seed % 2 else X, ["kd_tree", "brute"][seed // 2])


@pytest.mark.parametrize("seed", range(12))
def test_groups_of_many_sizes_equal_the_reference(seed):
    """The borders that are shown are ordered by the sizes of their parts."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 40, size=5)
    X = np.concatenate([rng.normal(rng.uniform(0, 60, size=2), 1.0, size=(size, 2)) for size in sizes])
    assert count_borders(KFuse(1).fit(X).tree_.borders) > 1
    assert_equals_the_reference(np.round(X, seed % 3), "kd_tree")


@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
def test_no_more_than_64_rounds_and_neighbours(neighbors):
    X = np.diag(np.linspace(1, 2, 80))  # all name the others in the same order, one more in each round
    assert_equals_the_reference(X, neighbors)
    assert KFuse(1, fusion="paper").fit(X).natural_value_ == 79
    model = KFuse(1, neighbors=neighbors).fit(X)
    assert (model.natural_value_, model.n_neighbors_) == (64, 64)


def assert_equals_the_reference(X, neighbors):
    points, place = in_spatial_order(as_recorded(X))
    model, reference = KFuse(1, neighbors=neighbors).fit(X), Reference(points, np.bincount(place))
    reference.place = place
    heights = [merge["height"] for merge in reference.by_height]
    seen = model.tree_.borders
    reference.weigh(count_borders(seen), are_below_step=seen.n_steps == count_borders(seen))
    assert model.natural_value_ == reference.lam
    assert model.n_neighbors_ == reference.k
    np.testing.assert_array_equal(model.subcluster_labels_, np.array(reference.labels)[reference.place])
    np.testing.assert_array_equal(model.tree_.log_index, [merge["log_index"] for merge in reference.by_height])
    np.testing.assert_array_equal(model.tree_.height, np.maximum.accumulate(heights) if heights else [])
    for k in range(1, model.tree_.n_leaves + 1):
        np.testing.assert_array_equal(model.cut(k), reference.cut(k))


def untied(X, rng):
    """The same data with its exact ties broken, far below what matters."""
    return X + rng.standard_normal(X.shape) * 1e-7 * np.ptp(X)


@pytest.mark.parametrize("name", REAL_SETS)
def test_row_order_unit_place_and_rotation_do_not_matter(name):
    """The number found, and the cuts into 3 and 10, which are what a fit with that number gives."""
    rng = np.random.default_rng(0)
    X = untied(REAL_SETS[name], rng)

    def clusterings(data):
        model = KFuse().fit(data)
        return model.labels_, model.cut(3), model.cut(10)

    expected = clusterings(X)
    shuffled = rng.permutation(len(X))
    rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    in_place = np.arange(len(X))
    for moved, order in (
        (X[shuffled], shuffled),
        *((data, in_place) for data in (X * 1e-3, X * 1e12, X + 3 * np.ptp(X), X @ rotation)),
    ):
        for found, labels in zip(clusterings(moved), expected, strict=True):
            assert_same_clusters(found, labels[order])


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "precomputed"])
def test_other_metrics_find_the_blobs(metric):
    X, y = make_blobs(150, centers=[[20, 1], [1, 20], [14, 14]], random_state=0)
    if metric == "precomputed":
        X = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    model = KFuse(metric=metric).fit(X)
    assert model.n_clusters_ == 3
    assert_same_clusters(model.labels_, y)


def test_graph_of_neighbours_gives_the_same_clusters():
    X, _ = make_blobs(200, centers=4, random_state=1)
    expected = KFuse().fit(X)
    graph = kneighbors_graph(X, expected.n_neighbors_, mode="distance")
    assert_same_clusters(KFuse(metric="precomputed").fit_predict(graph), expected.labels_)
    twice = kneighbors_graph(np.repeat(X, 2, axis=0), 2 * expected.n_neighbors_ + 2, mode="distance")
    assert_same_clusters(KFuse(metric="precomputed").fit_predict(twice), np.repeat(expected.labels_, 2))


def test_duplicates_are_no_outliers():
    X, _ = make_blobs(100, centers=2, random_state=0)
    far = np.full((50, 2), 1e3)
    model = KFuse(outliers="label").fit(np.vstack([X, far]))
    assert not model.outlier_mask_[100:].any()
    assert KFuse(outliers="label").fit(np.ones((50, 2))).n_clusters_ == 1
    assert KFuse(outliers="label").fit([[1.0]]).labels_[0] == 0


@pytest.mark.parametrize("metric", ["correlation", "canberra", "euclidean"])
def test_twins_stay_together_where_their_distance_is_rounded(metric):
    X = np.tile(np.random.default_rng(0).normal(size=(60, 4)) + 100, (2, 1))
    labels = KFuse(30, metric=metric).fit_predict(X)
    np.testing.assert_array_equal(labels[:60], labels[60:])


@settings(max_examples=50)
@given(samples(max_samples=60), st.sampled_from(["kd_tree", "brute"]))
def test_identical_samples_are_one_place(X, neighbors):
    table = NeighborTable(choose_search(X, "euclidean", neighbors))
    points, place = in_spatial_order(X)
    found, of_places = places.find_places(table)
    np.testing.assert_array_equal(found.place, place)
    np.testing.assert_array_equal(X[found.first], points)
    np.testing.assert_array_equal(of_places.distances.points, points)
    first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)[1:]
    np.testing.assert_array_equal(np.sort(found.first), np.sort(first))
    for leaders in (first_of_equal_rows(X), first_at_distance_zero(table.search)):
        np.testing.assert_array_equal(leaders, first[inverse.ravel()])


def test_more_clusters_than_distinct_samples_warns():
    with pytest.warns(UserWarning, match="3 distinct samples, so there are 3 clusters instead of 4"):
        model = KFuse(4).fit([[0.0], [0.0], [1.0], [5.0]])
    assert model.n_clusters_ == 3
