"""
Clusters of any shape
=====================

Rings, moons, spirals and blobs of different density, without setting a parameter. The last
panel is a failure, to show what one looks like.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from kfuse import KFuse
from kfuse.datasets import make_pathbased, make_rings, make_shapes, make_spirals
from kfuse.plots import scatter

# %%
# The same call for all of them, without the number of clusters or any other parameter.

data = {
    "shapes": make_shapes(),
    "rings": make_rings(),
    "spirals": make_spirals(),
    "moons": make_moons(500, noise=0.05, random_state=0),
    "moons, more noise": make_moons(500, noise=0.12, random_state=0),
    "open ring around blobs": make_pathbased(),
}

fig, axes = plt.subplots(2, 3, figsize=(9, 6.2), layout="constrained")
for ax, (name, (X, y)) in zip(axes.flat, data.items(), strict=True):
    model = KFuse().fit(X)
    scatter(X, model.labels_, ax=ax)
    ax.set_title(f"{name}: {model.n_clusters_} found, {y.max() + 1} true", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")

# %%
# The last data set has three clusters, and two are found: one of the inner clusters is merged
# with the ring, which it almost touches. The suggestions are a warning: several numbers have
# about the same contrast.

X, y = data["open ring around blobs"]
model = KFuse().fit(X)
for suggestion in model.tree_.suggest(3):
    print(f"{suggestion.n_clusters} clusters: contrast {suggestion.contrast:.2f}")

# %%
# If you know the number, set ``n_clusters``, or cut the fitted tree without another fit.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, n_clusters in zip(axes, (model.n_clusters_, 3), strict=True):
    scatter(X, model.cut(n_clusters), ax=ax)
    ax.set_title(f"cut({n_clusters})", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")

# %%
# These shapes are separated by gaps, which suits the method. On labelled benchmark data, it
# is right less often: see the figures in :doc:`/adaptive`.
