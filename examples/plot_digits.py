"""
Images: handwritten digits
==========================

1,797 images of 8 x 8 pixels, without labels. How many kinds of digits can be found, and which
are they?
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
# All pixels have the same unit, so no scaling is needed. The p-value says how sure the weakest
# border of each number is, and the sign what shows it. In many dimensions, that is
# often islands: parts that few nearest neighbours leave.

for suggestion in model.tree_.suggest(3):
    n_clusters, p_value, sign = suggestion.n_clusters, suggestion.p_value, suggestion.sign
    print(f"{n_clusters:2d} clusters: p = {p_value:.1g}, {sign}")

# %%
# Inspecting the clusters
# -----------------------
# One row per cluster: its mean, then the images of highest density, which are typical, then
# those of lowest density, which are unusual.

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
axes[0, 3].set_title("highest density", fontsize=9)
axes[0, 9].set_title("lowest density", fontsize=9)
fig.supylabel("samples per cluster", fontsize=9)

# %%
# Comparison with the true labels
# -------------------------------
# The labels have not been used so far. Most digits have a cluster of their own. The exception
# is the digit 1: more of its images are with the 8s, which look similar at this size, than in
# a cluster of their own.

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
