"""The tree: cuts, linkage, data frame."""

import sys

import numpy as np
import polars as pl
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage
from sklearn.datasets import load_iris

from kfuse import KFuse
from kfuse.core.dendrogram import nodes_of_merges, sizes_of_nodes
from kfuse.core.order import labels_by_size
from kfuse.tree import FusionTree


@pytest.fixture(scope="module")
def model():
    return KFuse(2, fusion="paper").fit(load_iris().data)


def test_cut_equals_fit(model):
    for k in range(1, model.tree_.n_leaves + 1):
        np.testing.assert_array_equal(model.cut(k), KFuse(k, fusion="paper").fit_predict(load_iris().data))


def test_cuts_are_nested(model):
    for k in range(1, model.tree_.n_leaves):
        coarse, fine = model.cut(k), model.cut(k + 1)
        assert all(len(np.unique(coarse[fine == c])) == 1 for c in range(k + 1))


def test_linkage_is_valid_and_cuts_alike(model):
    linkage = model.tree_.to_linkage()
    assert is_valid_linkage(linkage, throw=True)
    assert (np.diff(linkage[:, 2]) >= 0).all()
    assert len(dendrogram(linkage, no_plot=True)["leaves"]) == model.tree_.n_leaves
    ours = model.cut(3)
    theirs = fcluster(linkage, 3, "maxclust")[model.subcluster_labels_]
    assert len(set(zip(ours, theirs, strict=True))) == 3


def test_linkage_of_merges_with_index_zero():
    children = nodes_of_merges(np.array([0, 1]), np.array([1, 2]))
    sizes = sizes_of_nodes(children, np.ones(3, dtype=int))
    tree = FusionTree(np.arange(3), children, np.array([-1.0, -np.inf]), np.array([1.0, np.inf]), sizes)
    np.testing.assert_array_equal(tree.to_linkage(), [[0, 1, 0, 2], [2, 3, 1, 3]])
    nothing = tree._replace(height=np.full(2, np.inf))
    np.testing.assert_array_equal(nothing.to_linkage(), [[0, 1, 1, 2], [2, 3, 1, 3]])


def test_frame(model):
    frame = model.tree_.to_frame()
    assert list(frame["n_clusters"]) == list(range(model.tree_.n_leaves - 1, 0, -1))
    assert frame["size"].iloc[-1] == 150


def test_repr_is_one_line(model):
    most = model.tree_.most_clusters
    assert repr(model.tree_) == f"FusionTree(n_samples=150, n_leaves={model.tree_.n_leaves}, most_clusters={most})"


def test_one_leaf():
    tree = KFuse(1, fusion="paper").fit([[1.0, 2.0]]).tree_
    np.testing.assert_array_equal(tree.cut(1), [0])
    assert tree.to_linkage().shape == (0, 4)
    assert len(tree.to_frame()) == 0


def test_cut_refuses_no_clusters(model):
    for bad in (0, "auto", 2.0, None):
        with pytest.raises(ValueError, match=f"n_clusters must be an integer of at least 1, got {bad!r}"):
            model.tree_.cut(bad)
    with pytest.raises(ValueError, match="n_clusters must be an integer of at least 1, got 'auto'"):
        KFuse().fit(load_iris().data).tree_.cut_large("auto", 5)


def test_a_cut_into_more_clusters_than_there_are_tells_so(model):
    most = model.tree_.most_clusters
    with pytest.warns(UserWarning, match=f"The tree has at most {most} clusters, fewer than the {most + 1} asked for"):
        labels = model.tree_.cut(most + 1)
    np.testing.assert_array_equal(labels, model.tree_.cut(most))
    with pytest.warns(UserWarning, match="sub-clusters, so there are") as warned:
        model.cut(most + 1)
    assert len(warned) == 1


def test_labels_go_by_size_then_by_first_sample():
    np.testing.assert_array_equal(labels_by_size(np.array([7, 3, 3, -1, 9, 9, 5])), [2, 0, 0, -1, 1, 1, 3])


def test_suggest_refuses_no_suggestions():
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        KFuse().fit(load_iris().data).tree_.suggest(0)


def test_frame_says_what_to_install(model, monkeypatch):
    expected = model.tree_.to_frame()
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = model.tree_.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dict(as_series=False) == expected.to_dict("list")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="to_frame gives a data frame: pip install pandas, or pip install polars"):
        model.tree_.to_frame()


@pytest.fixture(scope="module")
def found():
    return KFuse().fit(load_iris().data).tree_.suggest(4)


class TestSuggestionsAsText:
    def test_print_shows_a_table(self, found):
        head, *rows = str(found).splitlines()
        assert head.split() == ["clusters", "p", "sign", "contrast", "weakest", "border", "next", "split"]
        assert [int(row.split()[0]) for row in rows] == [one.n_clusters for one in found]
        assert max(map(len, (head, *rows))) <= 80
        for row, one in zip(rows, found, strict=True):
            label, (larger, smaller) = one.next_split
            assert row.endswith(f"{label}: {larger} | {smaller}")
            assert f"  {one.sign} " in row
            assert f"  {one.contrast:.3f}  " in row
            assert f"  {one.weakest_border[0]} | {one.weakest_border[1]}  " in row

    def test_one_cluster_has_no_border_to_show(self):
        found = KFuse().fit(np.random.default_rng(0).normal(size=(200, 2))).tree_.suggest(1)
        assert "nan" not in str(found)
        assert str(found).splitlines()[1].split()[:2] == ["1", "none"]

    def test_the_list_has_one_suggestion_per_line(self, found):
        assert found == list(found)
        assert repr(found).splitlines() == [
            f"{'[' if one is found[0] else ' '}{one!r}{']' if one is found[-1] else ','}" for one in found
        ]
