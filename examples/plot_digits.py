"""
Images: handwritten digits
==========================

1,797 pictures of 8 x 8 pixels, with no word about what is on them. How many kinds are there,
and which are they?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse

digits = load_digits()
model = KFuse().fit(digits.data)
model.n_clusters_

# %%
# Pixels have one unit, so no scaling is needed. The contrast says how clear that number is:
# not very, as in most data of many dimensions.

for suggestion in model.tree_.suggest(3):
    print(f"{suggestion.n_clusters:2d} clusters: contrast {suggestion.contrast:.2f}")

# %%
# What the clusters are
# ---------------------
# A row for each cluster: its mean, then its densest pictures, which are typical, then the
# sparsest, which are odd.

fig, axes = plt.subplots(model.n_clusters_, 13, figsize=(8.6, 6.9), layout="constrained")
for cluster, row in enumerate(axes):
    members = np.flatnonzero(model.labels_ == cluster)
    by_density = members[np.argsort(-model.density_[members])]
    pictures = [
        digits.data[members].mean(axis=0),
        *digits.data[by_density[:6]],
        *digits.data[by_density[-6:]],
    ]
    for ax, picture in zip(row, pictures, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmax=16)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    row[0].set_ylabel(f"{len(members)}", rotation=0, ha="right", va="center")
axes[0, 0].set_title("mean", fontsize=9)
axes[0, 3].set_title("the densest", fontsize=9)
axes[0, 9].set_title("the sparsest", fontsize=9)
fig.supylabel("samples in each cluster", fontsize=9)

# %%
# Against the truth
# -----------------
# The labels were not used so far. Most digits have a cluster each. The 1s are the trouble:
# more of them go with the 8s, which they look like at this size, than have a cluster of
# their own.

table = np.zeros((10, model.n_clusters_), dtype=int)
np.add.at(table, (digits.target, model.labels_), 1)

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
ax.imshow(table, cmap="Blues", vmax=250)
for digit, cluster in zip(*np.nonzero(table), strict=True):
    count = table[digit, cluster]
    ax.text(
        cluster,
        digit,
        count,
        ha="center",
        va="center",
        fontsize=8,
        color="white" if count > 125 else "black",
    )
ax.set(xlabel="cluster", ylabel="digit", xticks=range(model.n_clusters_), yticks=range(10))
ax.set_title(f"ARI {adjusted_rand_score(digits.target, model.labels_):.2f}", fontsize=10)

# sphinx_gallery_thumbnail_number = 1
