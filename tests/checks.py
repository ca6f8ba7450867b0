"""The invariants, each written once."""

import numpy as np
from scipy.cluster.hierarchy import is_valid_linkage

PER_SAMPLE = (
    "labels_",
    "subcluster_labels_",
    "representatives_",
    "density_",
    "reverse_neighbor_counts_",
    "outlier_mask_",
)


def assert_valid_labels(labels, n_clusters):
    """Labels are 0 to n_clusters - 1 by falling size, then by smallest sample."""
    values, first, counts = np.unique(labels[labels >= 0], return_index=True, return_counts=True)
    np.testing.assert_array_equal(values, np.arange(n_clusters))
    assert sorted(zip(-counts, first, strict=True)) == list(zip(-counts, first, strict=True))


def assert_same_clusters(labels, expected):
    """The clusters are the same, whatever their numbers."""
    assert len(labels) == len(expected)
    n_pairs = len(np.unique(np.column_stack([labels, expected]), axis=0))
    assert n_pairs == len(np.unique(labels)) == len(np.unique(expected))


def assert_nested(coarse, fine):
    """Every cluster of the fine labels lies in one of the coarse."""
    assert len(np.unique(np.column_stack([coarse, fine]), axis=0)) == len(np.unique(fine))


def assert_valid_tree(tree):
    """Sizes add up, every node fuses once, cuts are nested and have their number, and scipy takes the linkage."""
    n_fusions = len(tree.children)
    assert sorted(tree.children.ravel()) == list(range(2 * n_fusions))
    np.testing.assert_array_equal(tree.sizes[: tree.n_leaves], np.bincount(tree.leaf_labels))
    np.testing.assert_array_equal(tree.sizes[tree.n_leaves :], tree.sizes[tree.children].sum(axis=1))
    assert tree.sizes[-1] == tree.leaf_labels.size
    linkage = tree.to_linkage()
    if n_fusions:
        assert is_valid_linkage(linkage, throw=True)
    assert (np.diff(linkage[:, 2]) >= 0).all()


def assert_valid_cuts(tree, numbers):
    """Each cut has its number of clusters, and lies within the one before."""
    coarse = tree.cut(1)
    for k in sorted({min(k, tree.most_clusters) for k in numbers}):
        fine = tree.cut(k)
        assert_valid_labels(fine, k)
        assert_nested(coarse, fine)
        coarse = fine


def assert_valid_model(model, n_samples):
    """What holds for every fitted model, whatever the data."""
    for name in PER_SAMPLE:
        assert getattr(model, name).shape == (n_samples,), name
    assert_valid_labels(model.labels_, model.n_clusters_)
    np.testing.assert_array_equal(model.labels_ < 0, model.outlier_mask_ & (model.outliers == "label"))
    assert np.isfinite(model.density_).all()
    assert (model.density_ >= 0).all()
    assert 0 <= model.natural_value_ < max(2, n_samples)
    assert 0 <= model.n_neighbors_ < max(2, n_samples)
    assert model.reverse_neighbor_counts_.min() >= 0
    assert ((model.representatives_ >= 0) & (model.representatives_ < n_samples)).all()
    assert not np.isnan(model.tree_.log_index).any()
    assert_valid_tree(model.tree_)
    assert_valid_cuts(model.tree_, {1, 2, 3, model.tree_.n_leaves, model.tree_.most_clusters})


def assert_same_model(model, expected):
    """All that two fits found is the same to the last bit."""
    for name in PER_SAMPLE:
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)
    assert model.n_clusters_ == expected.n_clusters_
    assert model.natural_value_ == expected.natural_value_
    assert model.n_neighbors_ == expected.n_neighbors_
    assert_same_tree(model.tree_, expected.tree_)


def assert_same_tree(tree, expected):
    """Two trees are the same to the last bit, and so is what their merges tell about borders."""
    assert (tree.borders is None) == (expected.borders is None)
    for one, other in ((tree, expected), (tree.borders or (), expected.borders or ())):
        for value, wanted in zip(one, other, strict=True):
            if value is not tree.borders:
                np.testing.assert_array_equal(value, wanted)


def assert_cut_of(labels, tree):
    """The clusters are those that some cut of the tree gives."""
    assert_same_clusters(labels, tree.cut(len(np.unique(labels))))
