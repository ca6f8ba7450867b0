"""
Labels for new points
=====================

``predict`` gives a new sample the label of the nearest sample of the fit. Known samples keep
their labels.
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
# The samples of the fit get what they have, and new samples of the same kind fall where they
# should.

same = model.predict(X[is_known]) == model.labels_
print("known samples keep their labels:", bool(same.all()))

score = adjusted_rand_score(y[~is_known], model.predict(X[~is_known]))
print(f"new samples against their shapes: ARI {score:.3f}")

# %%
# The plane, coloured by what ``predict`` says. Borders run half-way between clusters,
# however far away a point is.

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
# So nothing is refused: a point far from all others gets a label, too. To refuse such
# points, compare their distance with what is usual among the samples of the fit.

from sklearn.neighbors import NearestNeighbors

search = NearestNeighbors(n_neighbors=1).fit(X[is_known])
usual = np.quantile(search.kneighbors()[0], 0.99)
points = np.array([[0.0, 1.0], [5.0, 5.0]])
far = search.kneighbors(points)[0][:, 0] > usual
np.where(far, -1, model.predict(points))

# %%
# ``predict`` does not learn. When new data may hold new clusters, fit again.
