"""The nearest sample of a fit to each new one, and rows that are found by equality."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.prediction import NearestSamples, SortedRows
from kfuse.core.search.rows import RowSearch

LINE = np.array([[0.0], [4.0], [4.0], [10.0]])
NEW = np.array([[1.0], [3.0], [2.0], [99.0], [4.0]])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_first_of_the_nearest_samples_is_found(metric):
    found = NearestSamples(LINE, metric)
    assert found(NEW).tolist() == [0, 1, 0, 3, 1]
    assert type(found._search) is (KDTreeSearch if metric == "euclidean" else RowSearch)
    assert pickle.loads(pickle.dumps(found))(NEW).tolist() == [0, 1, 0, 3, 1]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_only_samples_that_count_are_found(metric):
    assert NearestSamples(LINE, metric, np.array([0, 2]))(NEW).tolist() == [0, 2, 0, 2, 2]


def test_given_distances_and_graphs():
    given = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 1.0]])
    for X in (given, csr_array(given)):
        assert NearestSamples(None, "precomputed")(X).tolist() == [1, 0]
        assert NearestSamples(None, "precomputed", np.array([0, 2]))(X).tolist() == [2, 0]


def test_a_sample_of_the_fit_finds_itself_where_rounding_leaves_a_distance():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [3.0, 1.0 + 1e-9], [5.0, 5.0]])
    found = NearestSamples(X, lambda a, b: abs(a - b).sum() + (0.5 if (a == b).all() else 0.0))
    assert found(X).tolist() == [0, 1, 2, 3]
    assert found(X + 1e-3).tolist() == [0, 2, 2, 3]


def test_rows_are_found_by_equality():
    rows = SortedRows(np.array([[3.0, -0.0], [1.0, 2.0], [3.0, 0.0], [1.0, 2.0]]))
    wanted = np.array([[1, 2], [3, 0], [-0.0, 3], [9, 9], [-9, -9]], dtype=np.float32)
    assert rows.find(wanted).tolist() == [1, 0, -1, -1, -1]
    assert SortedRows(np.array([[True, False], [False, False]])).find(np.array([[False, False]])).tolist() == [1]
