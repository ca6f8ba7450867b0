"""fusion="paper" equals the literal oracle, stage by stage and label for label."""

import warnings
from functools import partial, reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.preprocessing import minmax_scale

from kfuse import KFuse
from tests.oracle.paper import Oracle
from tests.strategies import samples

PAPER_SETS = [
    "flame",
    "spiral",
    "pathbased",
    "jain",
    "r15",
    "aggregation",
    "d31",
    "ecoli",
    "yeast",
    "segmentation",
]
MOST_SAMPLES = 800  # the oracle compares all pairs in Python
BUNDLED_SETS = {
    "iris": lambda: datasets.load_iris().data,
    "wine": lambda: datasets.load_wine().data,
    "breast_cancer": lambda: datasets.load_breast_cancer().data,
    "digits": lambda: datasets.load_digits().data[:400],
}


def assert_equals_oracle(X, oracle, numbers_of_clusters, **params):
    model = KFuse(1, fusion="paper", **params).fit(X)
    assert model.natural_value_ == oracle.lam
    assert model.n_neighbors_ == oracle.k
    np.testing.assert_array_equal(model.reverse_neighbor_counts_, oracle.nb)
    np.testing.assert_array_equal(model.density_, oracle.rho)
    np.testing.assert_array_equal(model.representatives_, oracle.rep)
    np.testing.assert_array_equal(model.subcluster_labels_, oracle.subclusters)
    np.testing.assert_array_equal(model.outlier_mask_, oracle.left_out)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The data has .* sub-cluster")
        for k in sorted({k for k in numbers_of_clusters if k <= len(X)}):
            expected = oracle.fuse(k)
            np.testing.assert_array_equal(model.cut(k), expected)
            np.testing.assert_array_equal(KFuse(k, fusion="paper", **params).fit_predict(X), expected)


@pytest.mark.parametrize("seed", range(6))
def test_a_few_samples(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2)) + 3 * rng.integers(0, 3, (24, 1))
    X = np.round(X) if seed % 2 else X
    assert_equals_oracle(X, Oracle(X), [1, 2, 3], neighbors=["kd_tree", "brute"][seed % 3 > 0])


@settings(max_examples=250)
@given(samples(), st.sampled_from(["kd_tree", "brute"]), st.integers(1, 10))
def test_generated_data(X, neighbors, n_clusters):
    assert_equals_oracle(X, Oracle(X), [n_clusters], neighbors=neighbors)


@settings(max_examples=60)
@given(samples(max_samples=40))
def test_every_number_of_clusters(X):
    oracle = Oracle(X)
    assert_equals_oracle(X, oracle, range(1, oracle.m + 2))


@settings(max_examples=40)
@given(samples(max_samples=60), st.sampled_from(["manhattan", "chebyshev", "precomputed"]))
def test_other_metrics(X, metric):
    measure = max if metric == "chebyshev" else partial(reduce, add)  # `sum` rounds less from Python 3.12 on
    oracle = Oracle(X, lambda p, q: float(measure(abs(a - b) for a, b in zip(p, q, strict=True))))
    assert_equals_oracle(np.array(oracle.d) if metric == "precomputed" else X, oracle, [1, 2, 3], metric=metric)


def test_cosine():
    X = np.random.default_rng(0).standard_normal((120, 4))
    units = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    oracle = Oracle(units, lambda p, q: sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) / 2)
    model = KFuse(3, fusion="paper", metric="cosine").fit(X * np.arange(1, 121)[:, None])
    np.testing.assert_array_equal(model.subcluster_labels_, oracle.subclusters)
    np.testing.assert_allclose(model.density_, oracle.rho)
    np.testing.assert_array_equal(model.labels_, oracle.fuse(3))


@pytest.mark.parametrize("name", BUNDLED_SETS)
def test_bundled_data(name):
    X = minmax_scale(BUNDLED_SETS[name]())
    assert_equals_oracle(X, Oracle(X), [2, 3, 10])


@pytest.mark.parametrize("name", PAPER_SETS)
def test_paper_data(name, load_scaled):
    X = load_scaled(name)
    X = X[:: -(-len(X) // MOST_SAMPLES)]
    assert_equals_oracle(X, Oracle(X), [2, 7])
