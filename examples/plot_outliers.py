"""
Outliers and noise
==================

By default, every sample is assigned to a cluster. There are two ways to change that, for
different purposes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from kfuse import KFuse
from kfuse.plots import density, scatter

moons, _ = make_moons(600, noise=0.05, random_state=0)
noise = np.random.default_rng(1).uniform([-2, -1.5], [3, 2], size=(60, 2))
X = np.concatenate([moons, noise])
is_noise = np.arange(len(X)) >= len(moons)

# %%
# Robustness to noise
# -------------------
# The two moons are found. Noise is assigned to the nearest cluster.

model = KFuse().fit(X)
ax = scatter(X, model.labels_)
ax.set(title=f"{model.n_clusters_} clusters", aspect="equal")

# %%
# ``outliers="label"``: isolated samples
# --------------------------------------
# Samples that are not natural neighbours of any other sample get the label -1. The rule is
# strict and leaves most uniform noise in the clusters, because two noise samples side by side
# are neighbours of each other.

strict = KFuse(outliers="label").fit(X)
print(f"{(strict.labels_ == -1).sum()} samples have the label -1, {is_noise.sum()} are noise")

# %%
# ``density_``: a threshold of your own
# -------------------------------------
# To remove samples in sparse regions, use ``density_``, the inverse of the mean distance to
# the neighbours; the plot shows it relative to the median. You decide how many samples are
# noise; here it is the tenth of lowest density.

threshold = np.quantile(model.density_, 0.1)
labels = np.where(model.density_ < threshold, -1, model.labels_)
print(f"{is_noise[labels == -1].mean():.0%} of the samples below the threshold are noise")
print(f"{(labels == -1)[is_noise].mean():.0%} of the noise is below the threshold")

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
density(model, ax=axes[0])
scatter(X, labels, ax=axes[1])
axes[1].set_title("the tenth of lowest density as noise", fontsize=10)

# %%
# A single threshold suits clusters of similar density. If densities differ, use a threshold
# per cluster, so that a sparse cluster is not removed as a whole.

labels = model.labels_.copy()
for cluster in range(model.n_clusters_):
    members = model.labels_ == cluster
    labels[members & (model.density_ < np.quantile(model.density_[members], 0.1))] = -1
np.bincount(labels + 1)

# %%
# If you need a probability of being noise for each sample, HDBSCAN offers more:
# :doc:`/coming_from_hdbscan`.
