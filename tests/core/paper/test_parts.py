"""Small parts of the printed algorithm, each alone."""

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from kfuse.core.distances import EuclideanDistances, GraphDistances, MatrixDistances
from kfuse.core.natural import NaturalNeighbors
from kfuse.core.paper import boundary, density, least_distances, spanning, subclusters
from kfuse.core.paper.similarity import log_similarity
from kfuse.core.search import NeighborTable
from kfuse.core.search.rows import RowSearch


def test_left_out_samples_that_reach_nobody_join_the_first_that_has_a_label():
    far = np.full((5, 5), np.inf)
    far[0, 1] = far[1, 0] = 1.0
    far[3, 4] = far[4, 3] = 2.0
    table = NeighborTable(RowSearch(MatrixDistances(far)))
    labels = np.array([-1, -1, -1, 7, 4])
    subclusters._assign_left_out(table, 1, labels, np.array([0, 1, 2]))
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


def test_samples_with_as_many_duplicates_as_neighbours_are_denser_than_all_others():
    assert density.positive_sums(np.array([0.0, 2.0, 8.0, 0.0])).tolist() == [0.5, 2.0, 8.0, 0.5]
    assert density.positive_sums(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]
    assert density.positive_sums(np.array([0.0, 5e-324])).tolist() == [5e-324, 5e-324]


def test_the_densest_around_a_sample_is_itself_or_the_nearer_one_of_equals():
    indices = np.array([[1, 2], [0, 2], [1, 0]], dtype=np.int32)
    assert density.densest(np.arange(3), indices, np.array([1.0, 3.0, 3.0])).tolist() == [1, 1, 2]
    assert density.densest(np.array([0]), indices[:1], np.array([3.0, 3.0, 3.0])).tolist() == [0]


def test_one_sample_has_a_density():
    table = NeighborTable(RowSearch(MatrixDistances(np.zeros((1, 1)))))
    found = density.estimate(table, NaturalNeighbors(0, np.zeros(1, dtype=int)))
    assert (found.values.tolist(), found.representatives.tolist()) == ([0.0], [0])
    assert (found.farthest_distances.tolist(), found.farthest_indices.tolist()) == ([-1.0], [-1])


def test_a_spanning_tree_takes_the_largest_indices_and_of_equals_the_smaller_pair():
    edges = spanning.Edges(np.array([1, 0, 0, 2]), np.array([2, 1, 2, 3]), np.array([-1.0, -1.0, -1.0, -5.0]))
    more = spanning.Edges(np.array([0]), np.array([3]), np.array([-4.0]))
    found = spanning.spanning_tree(4, edges, more)
    assert list(zip(found.i.tolist(), found.j.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3)]
    assert found.log_index.tolist() == [-1.0, -1.0, -4.0]


def test_every_merge_joins_one_stretch_of_leaves_to_the_next():
    tree = spanning.Edges(np.array([1, 0, 2, 0]), np.array([3, 1, 4, 2]), np.array([-1.0, -2.0, -3.0, -4.0]))
    leaves, stretches = spanning._leaves_in_order(tree)
    sides = [{1}, {3}], [{0}, {1, 3}], [{2}, {4}], [{0, 1, 3}, {2, 4}]
    for merge, expected in enumerate(sides):
        start, middle, stop = (column[merge] for column in stretches)
        assert [set(leaves[start:middle].tolist()), set(leaves[middle:stop].tolist())] == expected


@pytest.mark.parametrize("only_best", [False, True])
@pytest.mark.parametrize("at_a_time", [1, 2**18])
def test_pairs_that_may_improve_a_tree_are_those_with_a_large_enough_bound(only_best, at_a_time, monkeypatch):
    monkeypatch.setattr(spanning, "PAIRS_AT_A_TIME", at_a_time)
    monkeypatch.setattr(spanning, "LOOKS_AT_A_TIME", at_a_time)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 12
        parts = spanning.SubClusters(rng.integers(1, 5, n), rng.random(n) + 0.5, rng.random(n), rng.random(n))
        edges = spanning.Edges(*np.triu_indices(n, 1), rng.normal(size=66) - 1.5)
        tree = spanning.spanning_tree(n, edges)
        found = [
            (int(i), int(j), float(bar))
            for pairs in spanning.pairs_that_may_improve(tree, parts, only_best)
            for i, j, bar in zip(*pairs, strict=True)
        ]
        groups, expected = [{i} for i in range(n)], set()
        for i, j, bar in zip(*tree, strict=True):
            sides = next(g for g in groups if i in g), next(g for g in groups if j in g)
            for pair in itertools.product(*sides):
                a, b = sorted(pair)
                ratio = min(parts.variances[[a, b]]) / max(parts.variances[[a, b]])
                bound = (
                    -math.log(min(parts.sizes[[a, b]]))
                    - max(parts.radius[[a, b]])
                    + math.log(min(parts.means[[a, b]]) / max(parts.means[[a, b]]) * (1 + ratio))
                )
                if bound > bar or (bound == bar and (a, b) < (i, j)):
                    expected.add((int(a), int(b), float(bar)))
            groups = [g for g in groups if g not in sides] + [sides[0] | sides[1]]
        assert len(set(found)) == len(found)
        if only_best:
            assert set(found) <= expected
            assert bool(found) == bool(expected)
        else:
            assert set(found) == expected


def test_a_tree_without_edges_cannot_be_improved():
    one = spanning.SubClusters(np.ones(1, dtype=int), np.ones(1), np.zeros(1), np.ones(1))
    assert list(spanning.pairs_that_may_improve(spanning.NO_EDGES, one, False)) == []


def test_least_stored_distances_between_sub_clusters():
    graph = csr_array(np.array([[0, 2.0, 7, 0], [0, 0, 3, 9], [0, 0, 0, 4], [0, 8, 0, 0]]))
    numbers, least = least_distances.least_distances_stored(GraphDistances(graph), np.array([1, 0, 2, 2]))
    assert dict(zip(numbers.tolist(), least.tolist(), strict=True)) == {1: 2.0, 2: 3.0, 5: 7.0}


def test_augmented_sub_clusters_have_the_neighbours_of_their_members_and_a_least_radius():
    table = NeighborTable(RowSearch(EuclideanDistances(np.array([[0.0], [1.0], [3.0], [7.0], [8.5]]))))
    found = boundary.augmented_subclusters(table, np.array([0, 0, 1, 1, 2]), 1)
    assert found.table.toarray().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]]
    assert found.radius.tolist() == [1.0, 1.5, 1.5]


@pytest.mark.parametrize("entries", [1, 2**20])
def test_least_distances_from_a_sub_cluster(entries, monkeypatch):
    monkeypatch.setattr(boundary, "ENTRIES_PER_BLOCK", entries)
    distances = EuclideanDistances(np.array([[0.0], [1.0], [3.0], [7.0], [8.5]]))
    found = boundary.distances_from(distances, np.array([0, 1]), np.array([0, 0, 1, 1, 2]), 3)
    assert found.tolist() == [0.0, 2.0, 7.5]


def test_looks_are_counted_by_the_samples_of_a_row(monkeypatch):
    """Nothing is found, but after more than four looks the caller is asked to go on."""
    monkeypatch.setattr(spanning, "LOOKS_AT_A_TIME", 4)
    n = 8
    tree = spanning.Edges(np.zeros(n - 1, dtype=int), np.arange(1, n), np.full(n - 1, 99.0))
    parts = spanning.SubClusters(np.ones(n, dtype=int), np.ones(n), np.ones(n), np.ones(n))
    found = [pairs.i.size for pairs in spanning.pairs_that_may_improve(tree, parts, False)]
    # Each merge adds one sample, a row of 1, 2, ... 7 looks: 1 + 2 + 3 > 4, then 4 and 5, and 6, and 7.
    assert found == [0] * 4
