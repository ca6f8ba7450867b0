"""The validity of a clustering: equal to a literal computation, and right about what is better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles, make_moons

from kfuse import KFuse, validity
from tests.strategies import repeats, samples


def literal_gaps(X, order):
    """The gaps of linked pairs, infinite for those that are not among each other's eight nearest, and the distances."""
    distances = cdist(X, X)
    n, k = len(X), min(8, len(X) - 1)
    rank = np.array(
        [np.lexsort((order, row + np.where(np.arange(n) == i, np.inf, 0))) for i, row in enumerate(distances)]
    )
    radius = distances[np.arange(n), rank[:, k - 1]]
    linked = np.zeros((n, n), dtype=bool)
    linked[np.arange(n)[:, None], rank[:, :k]] = True
    gaps = np.maximum(np.maximum(radius[:, None], radius), distances)
    return np.where(linked | linked.T, gaps, np.inf), distances


def pieces(connected):
    """Components by spreading the smallest number."""
    part = np.arange(len(connected))
    while True:
        spread = np.array([part[row | (np.arange(len(row)) == i)].min() for i, row in enumerate(connected)])
        if (spread == part).all():
            return part
        part = spread


def literal_validity(X, labels):
    total = 0.0
    clustered = np.flatnonzero(labels >= 0)
    names = np.unique(labels[clustered])
    if len(names) < 2:
        return 0.0
    gaps, distances = literal_gaps(X[clustered], np.arange(clustered.size))
    of = labels[clustered]
    for name in names:
        own, other = of == name, of != name
        meets = gaps[np.ix_(own, other)].min()
        meets = distances[np.ix_(own, other)].min() if np.isinf(meets) else meets
        members = X[clustered[own]]
        holds = 0.0
        if len(members) > 1:
            inside, apart = literal_gaps(members, np.arange(len(members)))
            parts = pieces(np.isfinite(inside))
            inside = np.where(parts[:, None] == parts, inside, apart)  # a bridge is as long as the distance
            for gap in np.unique(inside[np.isfinite(inside)]):
                if np.bincount(pieces(inside <= gap)).max() >= np.ceil(0.95 * len(members)):
                    holds = gap
                    break
        total += own.sum() * (0.0 if max(meets, holds) == 0 else (meets - holds) / max(meets, holds))
    return total / len(X)


@given(samples(max_samples=40, max_features=3), st.integers(1, 4), st.integers(0, 2**31))
@settings(max_examples=repeats(60), deadline=None)
def test_validity_equals_a_literal_computation(X, n_labels, seed):
    X = X + np.random.default_rng(seed).normal(size=X.shape) * 1e-3  # so that no eighth neighbour is a matter of order
    labels = np.random.default_rng(seed).integers(-1, n_labels, len(X))
    assert validity(X, labels) == pytest.approx(literal_validity(X, labels), abs=1e-9)


@pytest.mark.parametrize(
    "data",
    [
        make_moons(400, noise=0.06, random_state=0),
        make_circles(500, noise=0.05, factor=0.5, random_state=0),
        make_blobs(400, centers=[[0, 0], [9, 0], [0, 9]], random_state=0),
    ],
)
def test_right_labels_score_best(data):
    X, y = data
    right = validity(X, y)
    assert right > 0.3
    assert right > max(validity(X, KFuse(k).fit_predict(X)) for k in (5, 9))
    assert right > validity(X, np.random.default_rng(0).permutation(y))
    assert right > validity(X, np.where((y == 0) & (X[:, 1] > np.median(X[y == 0, 1])), 9, y))


def test_one_gaussian_is_best_left_alone():
    X = np.random.default_rng(0).normal(size=(400, 2))
    assert validity(X, np.zeros(400)) == 0
    assert validity(X, X[:, 0] > 0) < 0


def test_noise_duplicates_and_single_samples_have_a_score():
    X, y = make_blobs(90, centers=[[0, 0], [20, 0]], random_state=0)
    assert 0 < validity(X, np.where(np.arange(90) < 20, -1, y)) < validity(X, y) <= 1
    assert validity(X, np.full(90, -1)) == 0
    assert validity(np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0), np.repeat([0, 1], 20)) == 1
    assert np.isfinite(validity(np.ones((20, 2)), np.arange(20) % 3))
    assert np.isfinite(validity(X[:2], [0, 1]))
    assert validity(X, np.array(["a", "b"])[y]) == validity(X, y)


def test_units_and_order_do_not_matter():
    X, y = make_moons(300, noise=0.08, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    assert validity(X[order] * 1000, 5 - y[order]) == pytest.approx(validity(X, y))
    assert validity(X, y, metric="manhattan") > 0


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"one entry for each of the 4 samples, got shape \(3,\)"):
        validity(np.eye(4), [0, 1, 1])
    with pytest.raises(ValueError, match="metric must be"):
        validity(np.eye(4), [0, 1, 1, 0], metric="crow")
