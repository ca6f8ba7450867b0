"""
Outliers and noise
==================

Every sample gets a cluster, unless you ask otherwise. There are two ways to ask, and they
answer different questions.
"""

import matplotlib.pyplot as plt
import numpy as np

from kfuse import KFuse
from kfuse.datasets import make_moons
from kfuse.plots import density, scatter

moons, _ = make_moons(600)
noise = np.random.default_rng(1).uniform([-2, -1.5], [3, 2], size=(60, 2))
X = np.concatenate([moons, noise])
is_noise = np.arange(len(X)) >= len(moons)

# %%
# The noise does no harm
# ----------------------
# The two moons are found. Noise joins the cluster it is nearest to.

model = KFuse().fit(X)
ax = scatter(X, model.labels_)
ax.set(title=f"{model.n_clusters_} clusters", aspect="equal")

# %%
# ``outliers="label"``: samples that nobody is near to
# ----------------------------------------------------
# These get the label -1: they are not among the natural neighbours of any other sample. The
# rule is strict, and leaves most of a uniform noise in the clusters, as two noise samples
# side by side are each other's neighbours.

strict = KFuse(outliers="label").fit(X)
print(f"{(strict.labels_ == -1).sum()} samples have the label -1, {is_noise.sum()} are noise")

# %%
# ``density_``: a threshold of your own
# -------------------------------------
# To set aside the sparsest samples, use the density, which every fit has. It is one over the
# mean distance to the neighbours; the picture shows it in multiples of the median. How many
# samples are noise is for you to say; here the sparsest tenth are taken.

threshold = np.quantile(model.density_, 0.1)
labels = np.where(model.density_ < threshold, -1, model.labels_)
print(f"{is_noise[labels == -1].mean():.0%} of those set aside are noise")
print(f"{(labels == -1)[is_noise].mean():.0%} of the noise is set aside")

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
density(model, ax=axes[0])
scatter(X, labels, ax=axes[1])
axes[1].set_title("the sparsest tenth crossed out", fontsize=10)

# %%
# One threshold for all suits clusters of like density. Where they differ, take it cluster by
# cluster, so that a sparse cluster is not crossed out as a whole.

labels = model.labels_.copy()
for cluster in range(model.n_clusters_):
    members = model.labels_ == cluster
    labels[members & (model.density_ < np.quantile(model.density_[members], 0.1))] = -1
np.bincount(labels + 1)

# %%
# If noise is the question itself, with a probability for each sample, HDBSCAN does more:
# :doc:`/coming_from_hdbscan`.
