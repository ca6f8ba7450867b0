"""
How many clusters?
==================

One fit holds every number of clusters. This page shows how to read what the model suggests,
when to trust it, and how to take another number.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, make_blobs

from kfuse import KFuse
from kfuse.plots import dendrogram, fusion_curve, scatter

# %%
# A clear case
# ------------
# Five groups with room between them.

X, _ = make_blobs(600, centers=5, cluster_std=0.8, random_state=3)
model = KFuse().fit(X)
model.n_clusters_

# %%
# ``suggest`` ranks the numbers. The first is what the model took. ``strongest_border`` is
# the strongest connection across a border that this number draws, ``weakest_inside`` the
# weakest connection that it leaves inside a cluster; 1 is usual, 0 is none. A good number
# has the first near 0 and the second near or above 1.

for suggestion in model.tree_.suggest(3):
    print(
        f"{suggestion.n_clusters:2d} clusters: contrast {suggestion.contrast:.2f}, "
        f"strongest border {suggestion.strongest_border:.2f}, "
        f"weakest inside {suggestion.weakest_inside:.2f}"
    )

# %%
# The same as a picture: the samples, and the stairs of strengths. The highest step is the
# clearest number.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
scatter(X, model.labels_, ax=axes[0])
fusion_curve(model, ax=axes[1])

# %%
# The tree has all fusions; the dashed line is the cut.

ax = dendrogram(model)

# %%
# Two answers
# -----------
# Iris has three species, two of which overlap. The model says two, and three comes second:
# the data has both readings, so look at more than the first line.

iris = load_iris(as_frame=True)
model = KFuse().fit(iris.data)
for suggestion in model.tree_.suggest(3):
    print(f"{suggestion.n_clusters:2d} clusters: contrast {suggestion.contrast:.2f}")

# %%
# ``cut`` gives the labels for any number, at once.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, n_clusters in zip(axes, (2, 3), strict=True):
    scatter(iris.data, model.cut(n_clusters), ax=ax)
    ax.set_title(f"cut({n_clusters})", fontsize=10)

# %%
# No clusters
# -----------
# One cloud has one cluster, and the model says so. A first suggestion of 1 means that no
# border is clearer than chance would make it.

X, _ = make_blobs(600, centers=1, random_state=0)
KFuse().fit(X).n_clusters_
