"""
Cell types with scanpy
======================

``kfuse.scanpy.kfuse`` clusters the cells of an AnnData object as scanpy's own tools do, and
there is no resolution to choose. (Where scanpy was not installed when these pages were built,
results are missing here.)
"""

import matplotlib.pyplot as plt
import pandas as pd
import scanpy as sc
from sklearn.metrics import adjusted_rand_score

from kfuse.scanpy import kfuse

# %%
# 700 blood cells that come with scanpy, with 50 principal components and the cell types that
# its authors found.

cells = sc.datasets.pbmc68k_reduced()
print(cells.n_obs, "cells of", cells.obs["bulk_labels"].nunique(), "types")

# %%
# The clusters of the principal components go into ``cells.obs``, with the membership of each
# cell in its own cluster and an outlier score.

kfuse(cells, use_rep="X_pca")
cells.obs.filter(like="kfuse").head(3)

# %%
# Which types are in which cluster: kinds of T cells are hard to tell apart by 700 cells.

score = adjusted_rand_score(cells.obs["bulk_labels"], cells.obs["kfuse"])
print(f"{cells.uns['kfuse']['n_clusters']} clusters, ARI with the types {score:.2f}")
pd.crosstab(cells.obs["bulk_labels"], cells.obs["kfuse"])

# %%
# The same in scanpy's map. Memberships are low between clusters that touch.

fig, axes = plt.subplots(3, 1, figsize=(6.5, 11), layout="constrained")
for ax, column in zip(axes, ("bulk_labels", "kfuse", "kfuse_probability"), strict=True):
    sc.pl.umap(cells, color=column, ax=ax, show=False, frameon=False)

# %%
# Other numbers of clusters, and scanpy's graph of neighbours in place of the components:
# :doc:`/clients`.
