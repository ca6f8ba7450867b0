"""Bad distance matrices and graphs get one clear sentence; good ones of any kind are clustered alike."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from kfuse import KFuse

X_IRIS = load_iris().data


def graph_with(value):
    graph = csr_array(np.ones((4, 4)))
    graph.data[5] = value
    return graph


def damaged(part, value):
    graph = csr_array(np.ones((4, 4)))
    getattr(graph, part)[2] = value
    return graph


def damaged_nothing():
    graph = csr_array((4, 4))
    graph.indptr[2] = 2**31 - 1
    return graph


def damaged_coo():
    graph = coo_array(np.ones((4, 4)))
    graph.col[3] = 1000
    return graph


BAD_DISTANCES = {
    "graph with an entry outside of it": (damaged("indices", 1000), "graph is damaged .*: build it again"),
    "graph with an entry before it": (damaged("indices", -1), "graph is damaged"),
    "graph with a row that ends outside": (damaged("indptr", 1000), "graph is damaged"),
    "graph of nothing with a row that ends outside": (damaged_nothing(), "graph is damaged"),
    "graph of coordinates with an entry outside": (damaged_coo(), "graph is damaged"),
    "frame of distances with equal names": (pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]), "one column 'a'"),
    "nothing": (None, "X is None"),
    "text": (np.array([["0", "1"], ["1", "0"]]), "has the text '0' in row 0"),
    "infinity": (np.array([[0.0, np.inf], [np.inf, 0.0]]), r"infinity \(row 0, column 1\): put a finite number"),
    "not square": (np.zeros((3, 4)), r"square matrix.*\(3, 4\)"),
    "negative": (np.array([[0.0, -1.0], [-1.0, 0.0]]), r"X\[0, 1\] is -1"),
    "not symmetric": (np.array([[0.0, 1.0], [2.0, 0.0]]), r"X\[0, 1\] is 1.0 and X\[1, 0\] is 2.0"),
    "a diagonal that is not zero": (
        np.array([[1.0, 3.0], [3.0, 1.0]]),
        r"X\[0, 0\] is 1.0: .*np.fill_diagonal\(X, 0\)",
    ),
    "similarities": (np.array([[1.0, 0.2], [0.2, 1.0]]), "looks like similarities.*: pass distances"),
    "correlations": (np.array([[1.0, -0.2], [-0.2, 1.0]]), "looks like similarities"),
    "nan": (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
    "graph with nan": (graph_with(np.nan), r"NaN or infinity.*\(1, 1\)"),
    "graph with a negative distance": (graph_with(-1.0), r"negative distance.*\(1, 1\)"),
    "graph not square": (csr_array(np.ones((3, 4))), "square"),
    "graph of nothing": (csr_array((3, 3)), "only 0 distinct neighbours for sample 0"),
    "graph with a lonely sample": (csr_array(np.diag([1.0, 1.0], 1)), "only 0 distinct neighbours for sample 2"),
}


@pytest.mark.parametrize("case", BAD_DISTANCES)
def test_bad_distances(case):
    X, message = BAD_DISTANCES[case]
    with pytest.raises(ValueError, match=message):
        KFuse(1, metric="precomputed").fit(X)


def test_graph_with_too_few_neighbours_says_how_many():
    X = np.random.default_rng(0).random((60, 2))
    needed = KFuse(1, fusion="paper").fit(X).n_neighbors_
    with pytest.raises(ValueError, match=f"n_neighbors={needed} or more"):
        KFuse(1, fusion="paper", metric="precomputed").fit(kneighbors_graph(X, needed - 1, mode="distance"))
    KFuse(1, fusion="paper", metric="precomputed").fit(kneighbors_graph(X, needed, mode="distance"))


@pytest.mark.parametrize("fusion", ["adaptive", "paper"])
@pytest.mark.parametrize("largest", [1e-310, 1e-200, 1e200, 5e307, 1.7e308])
def test_distances_of_any_unit_make_the_same_tree(largest, fusion):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (60, 2)), rng.normal(3, 0.1, (60, 2))])
    graph, full = kneighbors_graph(X, 30, mode="distance"), pairwise_distances(X)
    for distances in (graph, full):
        labels = KFuse(2, metric="precomputed", fusion=fusion).fit_predict(distances / distances.max() * largest)
        np.testing.assert_array_equal(np.bincount(labels), [60, 60])
        np.testing.assert_array_equal(np.bincount(labels[:60]), [60])
    wide = (X - 1.5) * (largest / 2)
    np.testing.assert_array_equal(np.bincount(KFuse(2, fusion=fusion).fit_predict(wide)), [60, 60])


@pytest.mark.parametrize("n_features", [2, 8])
def test_a_graph_with_too_few_neighbours_tells_how_many_are_needed(n_features):
    X = np.random.default_rng(0).standard_normal((400, n_features))
    needed = KFuse().fit(X).n_neighbors_
    with pytest.raises(ValueError, match="has only 5 distinct neighbours for sample") as raised:
        KFuse(metric="precomputed").fit(kneighbors_graph(X, 5, mode="distance"))
    told = int(re.search(r"n_neighbors=(\d+) or more", str(raised.value))[1])
    assert needed <= told <= 3 * needed
    KFuse(metric="precomputed").fit(kneighbors_graph(X, told, mode="distance"))


@pytest.mark.parametrize("n_features", [2, 8])
def test_a_graph_with_a_few_neighbours_is_clustered_with_what_it_has(n_features):
    X, y = make_blobs(400, centers=3, n_features=n_features, cluster_std=0.5, random_state=0)
    needed = KFuse(3).fit(X).n_neighbors_
    with pytest.warns(UserWarning, match="has 8 distinct neighbours per sample, but this data needs about") as warned:
        model = KFuse(3, metric="precomputed").fit(kneighbors_graph(X, 8, mode="distance"))
    assert needed / 2 <= int(re.search(r"n_neighbors=(\d+) or more", str(warned[0].message))[1]) <= 3 * needed
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.n_neighbors_ == 8


@pytest.mark.parametrize("n_given", [1, 2, 3, 5, 7])
def test_following_the_advice_for_too_few_neighbours_once_suffices(n_given):
    X, _ = make_blobs(300, centers=4, random_state=1)
    noun = "neighbour" if n_given == 1 else "neighbours"
    with pytest.raises(ValueError, match=f"only {n_given} distinct {noun} for sample 0") as raised:
        KFuse(metric="precomputed").fit(kneighbors_graph(X, n_given, mode="distance"))
    told = int(re.search(r"n_neighbors=(\d+) or more", str(raised.value))[1])
    KFuse(metric="precomputed").fit(kneighbors_graph(X, told, mode="distance"))  # a warning would be an error


def test_a_radius_graph_with_a_lonely_sample_needs_more_than_one_neighbour():
    X = np.vstack([make_blobs(300, centers=4, random_state=1)[0], [[100.0, 100.0]]])
    with pytest.raises(ValueError, match=r"only 0 distinct neighbours for sample 300, .* n_neighbors=32 or more"):
        KFuse(metric="precomputed").fit(radius_neighbors_graph(X, 3.0, mode="distance"))


FILLED = "identical samples fill the lists of {}, so build the graph on the distinct samples, with n_neighbors={}"


def test_lists_full_of_identical_samples_are_told():
    X = np.round(make_blobs(2000, centers=5, random_state=0)[0])
    for n_given, n_distinct in ((64, 0), (100, 3)):
        with pytest.raises(ValueError, match=f"only {n_distinct} distinct .* {FILLED.format(n_given, 32)}"):
            KFuse(metric="precomputed").fit(kneighbors_graph(X, n_given, mode="distance"))
    with pytest.warns(UserWarning, match=f"has 8 distinct neighbours per sample.* {FILLED.format(300, 9)}"):
        KFuse(metric="precomputed").fit(kneighbors_graph(X, 300, mode="distance"))
    distinct, counts = np.unique(X, axis=0, return_counts=True)
    graph = kneighbors_graph(distinct, 32, mode="distance")
    model, expected = KFuse(metric="precomputed").fit(graph, sample_weight=counts), KFuse().fit(X)
    assert model.n_clusters_ == expected.n_clusters_


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_graphs_in_formats_that_store_no_zeros(form):
    graph = kneighbors_graph(X_IRIS, 60, mode="distance")
    expected = KFuse(2, metric="precomputed").fit(graph).labels_
    np.testing.assert_array_equal(KFuse(2, metric="precomputed").fit(graph.asformat(form)).labels_, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_may_leave_a_diagonal_that_is_not_zero(dtype):
    X = X_IRIS.astype(dtype)
    squares = (X * X).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
    distances[np.diag_indices(150)] = np.sqrt(np.finfo(dtype).eps) * X.max()
    distances = np.maximum(distances, distances.T)
    assert KFuse(2, metric="precomputed").fit(distances).n_clusters_ == 2


def test_a_graph_of_connectivity_is_recognised():
    X = make_blobs(200, random_state=0)[0]
    with pytest.warns(UserWarning, match=r"All distances of the precomputed graph are 1.*with mode='distance'"):
        KFuse(3, metric="precomputed").fit(kneighbors_graph(X, 64))


def test_fewer_clusters_than_a_graph_has_parts_are_arbitrary():
    X = np.concatenate([np.random.default_rng(0).normal((x, 0), 1, size=(80, 2)) for x in (0, 20, 200, 230)])
    graph = kneighbors_graph(X, 64, mode="distance")
    says = r"has 4 parts that no neighbour connects.* in 3 clusters: add neighbours until it is connected, or cluster"
    with pytest.warns(UserWarning, match=says):
        KFuse(3, metric="precomputed").fit(graph)
    for number in (1, 4, "auto"):  # one cluster, or each part at least: nothing is arbitrary
        assert KFuse(number, metric="precomputed").fit(graph).n_clusters_ == (1 if number == 1 else 4)
