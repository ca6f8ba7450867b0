"""
How sure is a label?
====================

Where clusters overlap, memberships tell how sure each label is, and which other cluster a
sample may belong to.
"""

import matplotlib.pyplot as plt
import numpy as np

from kfuse import KFuse
from kfuse.plots import scatter

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [4, 0], [2, 3.6]])
origin = rng.integers(0, 3, 1500)
X = centres[origin] + rng.normal(size=(1500, 2))

# %%
# ``probabilities_`` has the membership of each sample in its own cluster. It falls towards the
# borders, and exemplars are the most typical samples.

model = KFuse(3).fit(X)
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
scatter(X, model.labels_, ax=axes[0])
exemplars = np.concatenate([indices[:3] for indices in model.exemplars_])
axes[0].plot(*X[exemplars].T, "k*", markersize=10)
axes[0].set_title("clusters and exemplars", fontsize=10)
points = axes[1].scatter(*X.T, c=model.probabilities_, s=8, cmap="viridis")
axes[1].set_title("membership in the own cluster", fontsize=10)
fig.colorbar(points, ax=axes[1])

# %%
# These samples are drawn from three Gaussians, so it is known which labels are right.
# Memberships tell how many are: of the samples with a membership of 70 to 90 %, about as many.

right = np.array([np.bincount(origin[model.labels_ == k]).argmax() for k in range(3)])
is_right = right[model.labels_] == origin
for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
    chosen = (model.probabilities_ > low) & (model.probabilities_ <= high)
    mean = model.probabilities_[chosen].mean()
    print(
        f"{chosen.sum():4d} samples with {mean:.0%}: {is_right[chosen].mean():.0%} are right"
    )

# %%
# ``predict_proba`` gives the memberships of new samples in all clusters. The largest is that
# of ``predict``; what is missing to 1 is the chance of noise.

new = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.2], [20.0, 20.0]])
print(model.predict_proba(new).round(2))
model.predict(new)

# %%
# The same for another number of clusters, without fitting again.

model.at(2).predict_proba(new).round(2)
