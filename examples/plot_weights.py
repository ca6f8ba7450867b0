"""
Weights: tables that are counted already
========================================

Large tables often come aggregated: one row for each combination of values, and a column that
says how many cases it stands for. ``sample_weight`` takes that column, and a row of weight 7
counts as seven rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from kfuse import KFuse
from kfuse.plots import scatter

# %%
# Visits to a website by the time at which they begin and their length: short ones in the
# morning, longer ones in the evening, recorded in half hours and whole minutes.

rng = np.random.default_rng(0)
morning = rng.normal([9, 10], [2.2, 4], size=(6000, 2))
evening = rng.normal([18, 26], [2.4, 7], size=(9000, 2))
visits = np.concatenate([morning, evening]).clip([0, 1], [23.5, 60])
visits = np.round(visits * [2, 1]) / [2, 1]

# %%
# The table as it was handed over: each combination that occurs, once, with the number of
# visits. Both columns are brought to a similar scale.

cells, counts = np.unique(visits, axis=0, return_counts=True)
X = cells / [24, 60]
print(f"{len(visits):,} visits in {len(cells):,} rows, each of 1 to {counts.max()}")

# %%
# Without weights, a row that stands for one visit counts as much as one that stands for many,
# and the two groups have the outline of a single one. With weights, the result is that for all
# visits, label for label.

unweighted = KFuse().fit(X)
weighted = KFuse().fit(X, sample_weight=counts)
every_visit = KFuse().fit(np.repeat(X, counts, axis=0))
print("clusters:", unweighted.n_clusters_, weighted.n_clusters_, every_visit.n_clusters_)
print("equal:", np.array_equal(np.repeat(weighted.labels_, counts), every_visit.labels_))

# %%
# Labels are ordered by weight: cluster 0 has the most visits, not the most rows.

for label in range(weighted.n_clusters_):
    own = weighted.labels_ == label
    hour, minutes = np.average(cells[own], axis=0, weights=counts[own])
    print(f"{label}: {counts[own].sum():,} visits, {hour:.1f} h, {minutes:.0f} minutes")

# %%
# Every row is a point: the outline has one part, the weights have two.

fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
order = np.argsort(counts)
points = axes[0].scatter(*cells[order].T, c=counts[order], s=6, cmap="viridis")
fig.colorbar(points, ax=axes[0], label="visits")
axes[0].set(xlabel="hour", ylabel="minutes", title="what a row stands for")
scatter(cells, weighted.labels_, ax=axes[1])
axes[1].set(xlabel="hour", ylabel="", title="the clusters that the weights show")

# %%
# Weights need not be whole numbers: those of a survey say how many people each answer stands
# for. Divide these by their mean, so that they add up to the number of answers and the method
# does not take them for more evidence than there is. A row of weight 0 takes no part, and gets
# the label of its nearest neighbour.

selected = np.where(cells[:, 0] < 6, 0, counts)
model = KFuse().fit(X, sample_weight=selected)
print(f"{(selected == 0).sum()} rows of weight 0; clusters: {model.n_clusters_}")
