"""
Clusters of any shape
=====================

Rings, moons, spirals and blobs of different density, without a parameter. The last panel is a
failure, so that you know what one looks like.
"""

import matplotlib.pyplot as plt

from kfuse import KFuse
from kfuse.datasets import make_moons, make_pathbased, make_rings, make_shapes, make_spirals
from kfuse.plots import scatter

# %%
# The same call for all of them. No number of clusters is given, and nothing is set.

data = {
    "shapes": make_shapes(),
    "rings": make_rings(),
    "spirals": make_spirals(),
    "moons": make_moons(),
    "moons, more noise": make_moons(noise=0.12),
    "open ring around two": make_pathbased(),
}

fig, axes = plt.subplots(2, 3, figsize=(9, 6.2), layout="constrained")
for ax, (name, (X, y)) in zip(axes.flat, data.items(), strict=True):
    model = KFuse().fit(X)
    scatter(X, model.labels_, ax=ax)
    ax.set_title(f"{name}: {model.n_clusters_} found, {y.max() + 1} drawn", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")

# %%
# The last set has three parts, and two are found: one of the inner clusters is taken
# together with the ring, which it almost touches. The suggestions warn of it, as several
# numbers have about the same contrast.

X, y = data["open ring around two"]
model = KFuse().fit(X)
for suggestion in model.tree_.suggest(3):
    print(f"{suggestion.n_clusters} clusters: contrast {suggestion.contrast:.2f}")

# %%
# When you know the number, give it, or cut the fitted tree; no second fit is needed.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, n_clusters in zip(axes, (model.n_clusters_, 3), strict=True):
    scatter(X, model.cut(n_clusters), ax=ax)
    ax.set_title(f"cut({n_clusters})", fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")

# %%
# These shapes are drawn with gaps between them, which is what the method looks for. On
# labelled benchmark data it is right less often: :doc:`/adaptive` has the figures.
