"""scanpy: cells by their graph of neighbours as scanpy makes it, or by any representation."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of scanpy's own imports
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed: pip install 'kfuse[test-clients]'")
    from kfuse.scanpy import kfuse

FEW = "ignore:The precomputed graph has 14 distinct neighbours"


@pytest.fixture(scope="module")
def cells():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scanpy.datasets.pbmc68k_reduced()
        scanpy.pp.neighbors(found)  # 15 neighbours, the cell itself included
    return found


def test_the_default_graph_of_15_is_clustered_with_a_warning(cells):
    with pytest.warns(UserWarning, match=r"has 14 distinct neighbours per sample, but this data needs about \d+"):
        found = kfuse(cells, copy=True)
    assert "kfuse" not in cells.obs
    labels = found.obs["kfuse"].astype(int)
    assert found.uns["kfuse"]["params"]["source"] == "obsp['distances']"
    assert found.uns["kfuse"]["n_clusters"] == labels.nunique()
    assert adjusted_rand_score(cells.obs["bulk_labels"], labels) > 0.25
    assert found.obs["kfuse_probability"].between(0, 1).all()
    assert found.obs["kfuse_outlier_score"].between(0, 1).all()


@pytest.mark.filterwarnings(FEW)
def test_as_many_clusters_as_asked_for(cells):
    found = kfuse(cells, 10, copy=True, key_added="ten")
    assert list(found.obs["ten"].cat.categories) == [str(label) for label in range(10)]


@pytest.mark.parametrize("use_rep", ["X_pca", "X_umap", "X"])
def test_any_representation(cells, use_rep):
    found = kfuse(cells, use_rep=use_rep, copy=True, outliers="label")
    data = cells.X if use_rep == "X" else cells.obsm[use_rep]
    np.testing.assert_array_equal(found.obs["kfuse"].astype(int), KFuse(outliers="label").fit_predict(data))


def test_without_neighbours_the_principal_components_are_clustered(cells):
    bare = cells.copy()
    del bare.uns["neighbors"]
    assert kfuse(bare) is None
    assert bare.uns["kfuse"]["params"]["source"] == "obsm['X_pca']"
    del bare.obsm["X_pca"]
    kfuse(bare, key_added="genes")
    assert bare.uns["genes"]["params"]["source"] == "X"


def test_results_can_be_plotted_and_saved(cells, tmp_path):
    found = kfuse(cells, use_rep="X_pca", copy=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.write_h5ad(tmp_path / "cells.h5ad")
        again = scanpy.read_h5ad(tmp_path / "cells.h5ad")
    assert list(again.obs["kfuse"]) == list(found.obs["kfuse"])


def test_an_unknown_representation_is_named(cells):
    with pytest.raises(
        ValueError, match=r"use_rep='X_tsne' is not in adata\.obsm: choose one of 'X_pca', 'X_umap', 'X'"
    ):
        kfuse(cells, use_rep="X_tsne")
