"""The distance between given pairs of samples: the same as in whole rows."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph

from kfuse.core.distances import distances_for

RNG = np.random.default_rng(0)
X = RNG.random((40, 3)) + 0.1
FIRST, SECOND = RNG.integers(0, 40, 100), RNG.integers(0, 40, 100)


def assert_pairs_of_rows(distances):
    expected = distances.rows(FIRST)[np.arange(100), SECOND]
    np.testing.assert_allclose(distances.pairs(FIRST, SECOND), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", lambda a, b: abs(a - b).max()])
def test_pairs_are_entries_of_rows(metric):
    assert_pairs_of_rows(distances_for(X, metric))


def test_pairs_are_in_the_unit_of_the_distances():
    assert_pairs_of_rows(distances_for(X * 1e-130, "euclidean"))


def test_pairs_of_a_subset_of_a_matrix():
    distances = distances_for(squareform(pdist(np.vstack([X, X[:5] + 9]))), "precomputed")
    assert_pairs_of_rows(distances.subset(np.arange(45)[::-1][:40]))


def test_a_graph_knows_no_far_distance():
    assert np.isinf(distances_for(kneighbors_graph(X, 5, mode="distance"), "precomputed").pairs(FIRST, SECOND)).all()


def test_many_features_are_compared_in_blocks(monkeypatch):
    monkeypatch.setattr("kfuse.core.distances.euclidean.ENTRIES_AT_A_TIME", 10)
    assert_pairs_of_rows(distances_for(X, "euclidean"))
