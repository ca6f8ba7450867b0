"""
How many clusters?
==================

One fit contains the labels for every number of clusters. This page shows how to read the
suggestions, when to trust them, and how to choose another number.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris, make_blobs

from kfuse import KFuse
from kfuse.plots import dendrogram, fusion_curve, scatter

# %%
# A clear case
# ------------
# Five well-separated groups.

X, _ = make_blobs(600, centers=5, cluster_std=0.8, random_state=3)
model = KFuse().fit(X)
model.n_clusters_

# %%
# ``suggest`` ranks the numbers of clusters. The first is the one that the model chose.
# ``strongest_border`` is the strength of the strongest border between clusters,
# ``weakest_inside`` that of the weakest merge inside a cluster; 1 is typical, 0 is no
# connection. For a clear number, the first is near 0 and the second near or above 1.
# ``p_value`` is about the weakest border that the number draws: at most about the chance
# that data without clusters has one as clear. It says that the borders are there, not that
# there are no others: ``next_split`` is what a sixth cluster would split off.

for suggestion in model.tree_.suggest(3):
    print(
        f"{suggestion.n_clusters:2d} clusters: "
        f"p = {suggestion.p_value:.1g} ({suggestion.sign}), "
        f"contrast {suggestion.contrast:.2f}, "
        f"strongest border {suggestion.strongest_border:.2f}, "
        f"weakest inside {suggestion.weakest_inside:.2f}"
    )

# %%
# The same as a plot: the samples, and the curve of merge strengths. The highest step is at
# the clearest number.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
scatter(X, model.labels_, ax=axes[0])
fusion_curve(model, ax=axes[1])

# %%
# The dendrogram shows the last merges; the dashed line is the cut.

ax = dendrogram(model)

# %%
# Two plausible answers
# ---------------------
# Iris has three species, two of which overlap. The model finds two, and three is the second
# suggestion. Its contrast is fair, but 150 samples do not prove the border: the p-value is 1.

iris = load_iris(as_frame=True)
model = KFuse().fit(iris.data)
for suggestion in model.tree_.suggest(3):
    p_value, contrast = suggestion.p_value, suggestion.contrast
    print(f"{suggestion.n_clusters:2d} clusters: p = {p_value:.1g}, contrast {contrast:.2f}")

# %%
# ``cut`` returns the labels for any number, without another fit.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, n_clusters in zip(axes, (2, 3), strict=True):
    scatter(iris.data, model.cut(n_clusters), ax=ax)
    ax.set_title(f"cut({n_clusters})", fontsize=10)

# %%
# No clusters
# -----------
# A single cloud is one cluster, and the model finds one. A first suggestion of 1 means that
# no border is clearer than expected by chance.

X, _ = make_blobs(600, centers=1, random_state=0)
KFuse().fit(X).n_clusters_
