"""The invariants, each written once."""

import numpy as np
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.metrics import adjusted_rand_score


def assert_valid_labels(labels, n_clusters):
    """Labels are 0 to n_clusters - 1 by falling size, then by smallest sample."""
    values, first, counts = np.unique(labels[labels >= 0], return_index=True, return_counts=True)
    np.testing.assert_array_equal(values, np.arange(n_clusters))
    assert sorted(zip(-counts, first, strict=True)) == list(zip(-counts, first, strict=True))


def assert_same_clusters(labels, expected):
    """The clusters are the same, whatever their numbers."""
    assert len(labels) == len(expected)
    assert adjusted_rand_score(labels, expected) == 1


def assert_valid_tree(tree):
    """Sizes add up, every node fuses once, and scipy takes the linkage."""
    n_fusions = len(tree.children)
    assert sorted(tree.children.ravel()) == list(range(2 * n_fusions))
    np.testing.assert_array_equal(tree.sizes[tree.n_leaves :], tree.sizes[tree.children].sum(axis=1))
    assert tree.sizes[-1] == tree.leaf_labels.size
    linkage = tree.to_linkage()
    if n_fusions:
        assert is_valid_linkage(linkage, throw=True)
    assert (np.diff(linkage[:, 2]) >= 0).all()
