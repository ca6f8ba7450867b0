"""Small parts of the partition and of the fusion, each alone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS, samples

from kfuse import KFuse
from kfuse.core import distinct, kd_tree, partition
from kfuse.core.compiled import records
from kfuse.core.distances import EuclideanDistances, MatrixDistances
from kfuse.core.fusion import agglomerate, bridges, gaps, spanning
from kfuse.core.fusion.similarity import log_similarity
from kfuse.core.neighbors import KDTreeSearch, NeighborTable, RowSearch


@settings(max_examples=200)
@given(SEEDS, st.integers(2, 60), st.integers(1, 3))
def test_equal_rows_and_distances_of_zero_tell_the_same_apart(seed, n, n_features):
    """Near zero, different coordinates can have a difference of which the square is zero, or not."""
    near_zero = [0.0, -0.0, 5e-324, 1e-200, 1.5e-162, 3e-162, -1e-161, 1e-150, 1.1e-150, 1e-141, 1e-139, 1.0]
    X = np.random.default_rng(seed).choice(near_zero, size=(n, n_features))
    table = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    expected = distinct._by_distance_zero(NeighborTable(RowSearch(EuclideanDistances(X))))
    found = distinct._join_vanishing(table, distinct._by_equal_rows(X))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("far", [9e149, 2e150, 1e155])
def test_duplicates_beside_a_sample_very_far_away(far):
    """Then all other coordinates, in a unit that fits the far one, are close to zero, but not the same."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 30, np.zeros((60, 2)), [[far, 0]]]
    labels = KFuse(neighbors="kd_tree").fit(X).labels_
    np.testing.assert_array_equal(labels, KFuse(neighbors="brute").fit(X).labels_)
    np.testing.assert_array_equal(labels, KFuse(neighbors="kd_tree").fit(np.r_[X[:-1], [[9e149, 0]]]).labels_)


def test_left_out_samples_that_reach_nobody_join_the_first_that_has_a_label():
    far = np.full((5, 5), np.inf)
    far[0, 1] = far[1, 0] = 1.0
    far[3, 4] = far[4, 3] = 2.0
    table = NeighborTable(RowSearch(MatrixDistances(far)))
    labels = np.array([-1, -1, -1, 7, 4])
    partition._assign_left_out(table, 1, labels, np.array([0, 1, 2]))
    np.testing.assert_array_equal(labels, [7, 7, 7, 7, 4])


@pytest.mark.parametrize(
    ("means", "variances", "expected"),
    [
        ((1, 2), (3, 6), 0.5 * 1.5),
        ((2, 1), (6, 3), 0.5 * 1.5),
        ((1, 4), (0, 0), 0.25),  # of no variance and none, nothing is similar
        ((0, 0), (0, 0), 1.0),  # of no density and none, all is
        ((0, 1), (5, 5), 0.0),
        ((3, 3), (0, 2), 1.0),
    ],
)
def test_similarity(means, variances, expected):
    assert math.exp(log_similarity(*map(float, means + variances))) == pytest.approx(expected)


@settings(max_examples=50)
@given(samples(max_samples=100), SEEDS)
def test_pieces_of_nodes(X, seed):
    tree = kd_tree.build(X)
    piece = np.sort(np.random.default_rng(seed).integers(0, 3, len(X))).astype(np.int32)
    found = np.empty(tree.starts.size, dtype=np.int32)
    bridges.note_pieces_of_nodes(tree.starts, tree.stops, piece, found)
    for node, (start, stop) in enumerate(zip(tree.starts, tree.stops, strict=True)):
        there = np.unique(piece[start:stop])
        assert found[node] == (there[0] if there.size == 1 else -1)


def test_runs_are_short_and_hold_every_point():
    sizes = np.array([1, 16, 17, 40, 3])
    points = np.random.default_rng(2).random((sizes.sum(), 2))
    runs = gaps._cut_into_runs(points, sizes)
    np.testing.assert_array_equal(np.diff(runs.firsts), [1, 1, 2, 3, 1])
    np.testing.assert_array_equal(np.diff(runs.starts), [1, 16, 16, 1, 16, 16, 8, 3])
    for run, (start, stop) in enumerate(zip(runs.starts, runs.starts[1:], strict=False)):
        inside = points[start:stop]
        np.testing.assert_array_equal(runs.boxes[run], [inside.min(axis=0), inside.max(axis=0)])


def test_work_is_shared_out_evenly(monkeypatch):
    """Parts of at most WORK_PER_PART pairs of samples, but for single pairs of sub-clusters that are larger."""
    labels = np.repeat(np.arange(6), [3, 10, 2, 40, 5, 5])
    table = NeighborTable(KDTreeSearch(EuclideanDistances(np.random.default_rng(8).random((65, 2)))))
    found = gaps.Gaps(table, table.distances, labels)
    i, j = np.triu_indices(6, 1)
    expected, least, parts = found.between(i, j), gaps.write_least_distances, []
    monkeypatch.setattr(gaps, "WORK_PER_PART", 100)
    monkeypatch.setattr(gaps, "write_least_distances", lambda i, j, *runs: parts.append((i, j)) or least(i, j, *runs))
    np.testing.assert_array_equal(found.between(i, j), expected)
    work = [int((found.sizes[a] * found.sizes[b]).sum()) for a, b in parts]
    assert sum(work) == int((found.sizes[i] * found.sizes[j]).sum())
    assert all(
        amount <= 200 or a.size == 1 or (found.sizes[a] * found.sizes[b]).max() > 100
        for amount, (a, b) in zip(work, parts, strict=True)
    )
    assert len(work) >= 5


def test_least_distances_of_boxes_bound_those_of_samples():
    rng = np.random.default_rng(3)
    X, labels = rng.random((200, 2)), np.sort(rng.integers(0, 12, 200))
    table = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    found = gaps.Gaps(table, table.distances, labels)
    i, j = np.triu_indices(12, 1)
    least = [np.linalg.norm(X[labels == a][:, None] - X[labels == b], axis=2).min() for a, b in zip(i, j, strict=True)]
    boxes = [(X[labels == a].min(axis=0), X[labels == a].max(axis=0)) for a in range(12)]
    apart = [
        np.linalg.norm(np.maximum(0, np.maximum(boxes[a][0] - boxes[b][1], boxes[b][0] - boxes[a][1])))
        for a, b in zip(i, j, strict=True)
    ]
    np.testing.assert_allclose(found.between(i, j), least)
    np.testing.assert_allclose(found.at_least(i, j), apart)


PAIRS = [(0.5, 2, 7), (0.5, 2, 8), (0.5, 3, 4), (0.4, 1, 2), (0.4, 1, 9)]  # in the order in which they fuse


@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("j", range(5))
def test_the_larger_index_then_the_smaller_pair_fuses_first(i, j):
    assert bool(spanning.fuses_before(*PAIRS[i], *PAIRS[j])) == (i < j)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("i", range(5))
@pytest.mark.parametrize("j", range(5))
def test_so_does_the_link_of_the_smaller_pair_whichever_end_is_first(i, j, turned):
    links = records(5, agglomerate.LINK)
    for number, (_, *pair) in enumerate(PAIRS):
        links[number]["ends"] = pair[::-1] if turned == number % 2 else pair
    graph = agglomerate.Graph(links, records(1, agglomerate.NODE), records(1, agglomerate.QUEUED))
    assert bool(agglomerate.precedes(graph, PAIRS[i][0], i, PAIRS[j][0], j)) == (i < j)
