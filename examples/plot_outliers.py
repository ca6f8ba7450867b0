"""
Outliers and noise
==================

By default, every sample is assigned to a cluster. Outlier scores say how unusual each sample
is, and ``outliers="label"`` labels noise as -1.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import roc_auc_score

from kfuse import KFuse
from kfuse.plots import scatter

moons, _ = make_moons(600, noise=0.05, random_state=0)
noise = np.random.default_rng(1).uniform([-2, -1.5], [3, 2], size=(90, 2))
X = np.concatenate([moons, noise])
is_noise = np.arange(len(X)) >= len(moons)

# %%
# Scores
# ------
# A score is the share of a background at a place of that density: 0 in a dense place, 1 far
# away from everything. Above 0.5, a sample is more likely noise than the tail of a cluster.

model = KFuse(2).fit(X)
scores = model.outlier_scores_
print(f"area under the ROC curve: {roc_auc_score(is_noise, scores):.2f}")

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
points = axes[0].scatter(*X.T, c=scores, s=8, cmap="viridis")
fig.colorbar(points, ax=axes[0], label="outlier score")

# %%
# Noise
# -----
# With ``outliers="label"``, samples with a score above 0.5 get the label -1. Noise within a
# cluster cannot be told from its members.

labelled = KFuse(2, outliers="label").fit(X)
found = labelled.labels_ == -1
print(f"{is_noise[found].mean():.0%} of what is labelled noise is noise")
print(f"{found[is_noise].mean():.0%} of the noise is found")
scatter(X, labelled.labels_, ax=axes[1])

# %%
# Without noise, nothing is labelled as such: the tails of clusters are not noise.

int((KFuse(2, outliers="label").fit(moons).labels_ == -1).sum())

# %%
# New samples
# -----------
# ``score_outliers`` gives the scores of new samples, and ``predict`` labels noise among them
# if the model was fitted with ``outliers="label"``.

points = np.array([[0.0, 1.0], [0.5, 0.25], [5.0, 5.0]])
print(labelled.score_outliers(points).round(3))
labelled.predict(points)

# %%
# A threshold of your own: the tenth with the highest scores.

labels = np.where(scores > np.quantile(scores, 0.9), -1, model.labels_)
np.bincount(labels + 1)

# %%
# :doc:`/memberships` has precision and recall on noise of 5 to 40 %, and compares the scores
# with those of other methods.
