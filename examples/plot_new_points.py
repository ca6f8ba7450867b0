"""
Labels for new points
=====================

``predict`` returns the label of the nearest sample of the fit. Known samples keep their
labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.plots import PALETTE, scatter

X, y = make_shapes(1400)
rng = np.random.default_rng(0)
is_known = rng.random(len(X)) < 0.7
model = KFuse().fit(X[is_known])

# %%
# Samples of the fit keep their labels, and new samples from the same distribution get the
# right ones.

same = model.predict(X[is_known]) == model.labels_
print("known samples keep their labels:", bool(same.all()))

score = adjusted_rand_score(y[~is_known], model.predict(X[~is_known]))
print(f"new samples against their shapes: ARI {score:.3f}")

# %%
# The plane, coloured by the result of ``predict``. Borders run halfway between clusters, at
# any distance from the samples.

low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
columns, rows = np.meshgrid(*np.linspace(low, high, 400).T)
plane = np.column_stack([columns.ravel(), rows.ravel()])
regions = model.predict(plane).reshape(columns.shape)

fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
levels = np.arange(model.n_clusters_ + 1) - 0.5
ax.contourf(columns, rows, regions, levels=levels, colors=PALETTE, alpha=0.2)
scatter(X[is_known], model.labels_, ax=ax)
ax.set_aspect("equal")

# %%
# Every point gets a label, even one that is far from all samples. Its memberships add up to
# almost nothing then, and with ``outliers="label"`` it is noise, -1.

points = np.array([[0.0, 1.0], [5.0, 5.0], [50.0, 50.0]])
print(model.predict_proba(points).sum(axis=1).round(3))
KFuse(outliers="label").fit(X[is_known]).predict(points)

# %%
# ``predict`` does not update the model. If new data may contain new clusters, fit again.
