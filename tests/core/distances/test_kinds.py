"""Each kind of distances by hand: units, subsets, and what is stored."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kfuse.core.distances import CosineDistances, EuclideanDistances, GraphDistances, MatrixDistances, MetricDistances
from kfuse.core.distances import euclidean as room
from kfuse.core.distances.base import unit_of
from kfuse.core.distances.graph import nearest_stored
from kfuse.core.search.graph import GraphSearch, remedy


@pytest.mark.parametrize(
    ("largest", "unit"),
    [
        (1.0, 1.0),
        (9e149, 1.0),
        (1e150, 2.0**498),
        (-1e160, 2.0**531),
        (1.1e-100, 1.0),
        (1e-100, 2.0**-333),
        (0.0, 1.0),
        (np.inf, 1.0),
    ],
)
def test_extreme_data_has_a_unit(largest, unit):
    assert unit_of(np.array([[0.0, largest]])) == unit


def test_float32_and_nothing_have_no_unit():
    assert unit_of(np.array([[1e-40]], dtype=np.float32)) == 1.0
    assert unit_of(np.empty((0, 2))) == 1.0


def test_euclidean_distances_in_blocks_of_columns(monkeypatch):
    monkeypatch.setattr(room, "COLUMNS_AT_A_TIME", 3)
    X = np.random.default_rng(0).random((8, 3))
    distances = EuclideanDistances(X)
    expected = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(distances.rows(np.array([5, 0])), expected[[5, 0]])
    np.testing.assert_allclose(distances.between(X[:2] + 1.0), np.linalg.norm(X[:2, None] + 1.0 - X, axis=2))
    np.testing.assert_allclose(distances.subset(np.array([3, 1])).rows(np.arange(2)), expected[[3, 1]][:, [3, 1]])


def test_huge_coordinates_are_measured_in_their_unit():
    X = np.array([[0.0, 3e200], [4e200, 0.0]])
    distances = EuclideanDistances(X)
    assert distances.unit > 1e199
    assert distances.rows(np.array([0]))[0, 1] * distances.unit == pytest.approx(5e200)
    assert np.isinf(distances.prepare(np.array([[np.inf, 0.0]]))).any()


def test_cosine_distances_are_one_minus_the_cosine():
    X = np.array([[1.0, 0.0], [1e200, 1e200], [0.0, 3.0], [-2.0, 0.0]])
    found = CosineDistances(X)
    np.testing.assert_allclose(found.rows(np.array([0]))[0], [0.0, 1 - np.sqrt(0.5), 1.0, 2.0], atol=1e-12)
    assert found.unit == 1.0
    with pytest.raises(ValueError, match="Row 1 of X is all zeros"):
        CosineDistances(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_a_matrix_is_looked_up():
    matrix = np.arange(16.0).reshape(4, 4) * 1e200
    distances = MatrixDistances(matrix)
    part = distances.subset(np.array([3, 1, 0])).subset(np.array([2, 0]))
    assert part.n_samples == 2
    np.testing.assert_allclose(part.rows(np.array([1])) * part.unit, matrix[[[3]], [0, 3]])
    np.testing.assert_allclose(part.pairs(np.array([0]), np.array([1])) * part.unit, [matrix[0, 3]])
    np.testing.assert_allclose(distances.pairs(np.array([2]), np.array([1])) * distances.unit, [9e200])


GRAPH = csr_array(np.array([[0, 2.0, 0, 5], [3, 0, 1, 0], [0, 0, 0, 4], [0, 6, 0, 0]]))


def test_a_graph_holds_the_smaller_distance_in_both_directions():
    distances = GraphDistances(GRAPH)
    inf = np.inf
    expected = [[inf, 2, inf, 5], [2, inf, 1, 6], [inf, 1, inf, 4], [5, 6, 4, inf]]
    assert distances.rows(np.arange(4)).tolist() == expected
    assert distances.stored_counts.tolist() == [2, 2, 1, 1]


def test_a_part_of_a_graph_holds_what_was_stored_between_its_samples():
    part = GraphDistances(GRAPH).subset(np.array([0, 1, 3]))
    inf = np.inf
    assert part.rows(np.arange(3)).tolist() == [[inf, 2, 5], [2, inf, 6], [5, 6, inf]]
    assert part.stored_counts.tolist() == [2, 1, 0]  # the nearest of 1 and of 3 is 2
    assert (part.samples.tolist(), part.given_counts.tolist()) == ([0, 1, 3], [2, 2, 1])


def test_a_search_in_a_graph_gives_the_stored_neighbours_nearest_first():
    search = GraphSearch(GraphDistances(GRAPH))
    assert search.most_neighbors == 1
    found = search.query(np.array([3, 1]), 1)
    assert (found.indices.tolist(), found.distances.tolist()) == ([[2], [2]], [[4.0], [1.0]])
    with pytest.raises(ValueError, match=r"has only 1 distinct neighbour for sample 2, but this data needs about 2: b"):
        search.query(np.array([0]), 2)


def test_the_remedy_depends_on_what_fills_the_lists():
    assert remedy(5, 5, 9) == ": build the graph with n_neighbors=9 or more"
    assert remedy(4, 5, 9).startswith("; identical samples fill the lists of 5, so build")


def test_the_nearest_stored_entry_is_the_first_of_the_smallest():
    assert nearest_stored(csr_array(np.array([[0, 2.0, 0, 2.0], [3, 0, 1, 0]]))).tolist() == [1, 2]
    with pytest.raises(ValueError, match="Row 1 of the graph holds no distance"):
        nearest_stored(csr_array(np.array([[1.0, 0], [0, 0]])))


def test_metrics_take_what_they_need_from_all_samples():
    X = np.array([[0.0, 1.0], [2.0, 1.5], [4.0, 5.0]])
    scaled = X / X.std(axis=0, ddof=1)
    found = MetricDistances(X, "seuclidean").rows(np.array([0]))
    np.testing.assert_allclose(found[0], np.linalg.norm(scaled - scaled[0], axis=1))
    difference = X - X[0]
    inverse = np.linalg.inv(np.cov(X.T))
    found = MetricDistances(X, "mahalanobis").rows(np.array([0]))
    np.testing.assert_allclose(found[0], np.sqrt(np.einsum("ij,jk,ik->i", difference, inverse, difference)))
    assert MetricDistances(X[:1], "seuclidean").rows(np.array([0])).tolist() == [[0.0]]
    for few in (X[:1], X[:, [0, 0]]):
        with pytest.raises(ValueError, match="mahalanobis"):
            MetricDistances(few, "mahalanobis")


def test_boolean_metrics_take_whether_values_are_zero():
    X = np.array([[0.0, 5.0], [0.0, -1.0], [2.0, 0.0]])
    assert MetricDistances(X, "jaccard").rows(np.array([0])).tolist() == [[0.0, 0.0, 1.0]]


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_senseless_distances_are_refused(value):
    def senseless(a, b):
        return value

    with pytest.raises(ValueError, match="metric='senseless' gives a negative, infinite or undefined"):
        MetricDistances(np.ones((2, 1)), senseless).rows(np.array([0]))
