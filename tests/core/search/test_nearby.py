"""The nearest places of a fit to new samples: by a tree, by all distances, and among given ones."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kfuse.core.search import nearby
from kfuse.core.search.nearby import PlacesNearby

FIRST = np.array([0, 2, 3, 5])  # of six samples, the first ones at four places
GIVEN = np.array([[4.0, 0.5, 3.0, 2.0, 0.5, 1.0], [1.0, 0.5, 1.0, 7.0, 0.5, 3.0]])


@pytest.mark.parametrize(("k", "indices"), [(1, [[3], [0]]), (2, [[3, 2], [0, 1]]), (4, [[3, 2, 1, 0], [0, 1, 3, 2]])])
def test_given_distances(k, indices):
    expected = np.take_along_axis(GIVEN[:, FIRST], np.array(indices), axis=1)
    for X in (GIVEN, csr_array(GIVEN)):
        found = PlacesNearby(None, "precomputed", FIRST).query(X, k)
        assert found.rows.tolist() == [0, 1]
        np.testing.assert_array_equal(found.distances, expected)
        np.testing.assert_array_equal(np.sort(found.indices), np.sort(indices))
        assert found.indices[0].tolist() == indices[0]


def test_a_row_of_a_graph_with_few_distances_repeats_the_last():
    graph = csr_array(np.array([[0, 0, 3, 0, 0, 2], [9, 9, 0, 0, 0, 0], [4, 0, 3, 2, 0, 1]], dtype=float))
    found = PlacesNearby(None, "precomputed", FIRST).query(graph, 3)
    assert found.indices.tolist() == [[3, 1, 1], [0, 0, 0], [3, 2, 1]]
    assert found.distances.tolist() == [[2.0, 3.0, 3.0], [9.0, 9.0, 9.0], [1.0, 2.0, 3.0]]
    graph = csr_array(np.array([[0, 0, 3, 0, 0, 2], [0, 9, 0, 0, 0, 0]], dtype=float))
    with pytest.raises(ValueError, match="Row 1 of the graph holds no distance"):
        PlacesNearby(None, "precomputed", FIRST).query(graph, 1)


@pytest.mark.parametrize(("metric", "n_features"), [("euclidean", 2), ("euclidean", 40), ("manhattan", 2)])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_features(metric, n_features, k, monkeypatch):
    monkeypatch.setattr(nearby, "ENTRIES_PER_BLOCK", 20)  # three rows at a time
    rng = np.random.default_rng(0)
    samples, X = rng.random((9, n_features)), rng.random((7, n_features))
    first = np.array([0, 1, 3, 4, 6, 8])
    found = PlacesNearby(samples, metric, first).query(X, k)
    lengths = np.linalg.norm(X[:, None] - samples[first], ord=1 if metric == "manhattan" else 2, axis=2)
    np.testing.assert_array_equal(found.rows, np.arange(7))
    np.testing.assert_array_equal(found.indices, np.argsort(lengths, axis=1)[:, :k])
    ratio = found.distances / np.sort(lengths, axis=1)[:, :k]
    np.testing.assert_allclose(ratio, ratio[0, 0])  # in multiples of a unit
