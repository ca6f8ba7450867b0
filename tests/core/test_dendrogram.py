"""Trees of five leaves, by hand."""

import numpy as np

from kfuse.core.dendrogram import nodes_after_merges, nodes_of_merges, sizes_of_nodes

CHILDREN = [[1, 3], [0, 5], [2, 4], [6, 7]]


def test_nodes_are_those_of_the_given_leaves():
    assert nodes_of_merges(np.array([3, 0, 2, 4]), np.array([1, 3, 4, 1])).tolist() == CHILDREN
    assert nodes_of_merges(np.empty(0, dtype=int), np.empty(0, dtype=int)).shape == (0, 2)


def test_sizes_add_up():
    assert sizes_of_nodes(np.array(CHILDREN), np.array([1, 2, 3, 4, 5])).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 15]


def test_leaves_are_held_by_the_last_node_that_they_are_in():
    for n_merges, expected in ((0, [0, 1, 2, 3, 4]), (1, [0, 5, 2, 5, 4]), (2, [6, 6, 2, 6, 4]), (3, [6, 6, 7, 6, 7])):
        assert nodes_after_merges(np.array(CHILDREN[:n_merges], dtype=int).reshape(-1, 2), 5).tolist() == expected
    assert nodes_after_merges(np.array(CHILDREN), 5).tolist() == [8] * 5
