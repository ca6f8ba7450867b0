"""
Scaling and pipelines
=====================

Clustering goes by distance, so a column in large units drowns the others. Scale first, in a
pipeline.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from kfuse import KFuse
from kfuse.plots import profiles, scatter

wine = load_wine(as_frame=True)
wine.data.agg(["min", "max"]).T.tail(4)

# %%
# Proline goes into the thousands, hue up to 2. Without scaling, proline is nearly all that
# counts.

scalers = {
    "as it is": None,
    "StandardScaler": StandardScaler(),
    "MinMaxScaler": MinMaxScaler(),
    "RobustScaler": RobustScaler(),
}
fig, axes = plt.subplots(2, 2, figsize=(8, 6.6), layout="constrained")
for ax, (name, scaler) in zip(axes.flat, scalers.items(), strict=True):
    labels = make_pipeline(scaler, KFuse()).fit_predict(wine.data)
    score = adjusted_rand_score(wine.target, labels)
    scatter(scaler.fit_transform(wine.data) if scaler else wine.data, labels, ax=ax)
    ax.set_title(f"{name}\n{labels.max() + 1} clusters, ARI {score:.2f}", fontsize=10)
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])

# %%
# The growers' labels are used for the score only. Most of the time there are none; then
# ``suggest`` says how clear the clusters are. The contrast is not a test of the scaling, but
# a scaling that leaves no clear number is suspect.

for name, scaler in scalers.items():
    pipeline = make_pipeline(scaler, KFuse()).fit(wine.data)
    best = pipeline[-1].tree_.suggest(1)[0]
    print(f"{name:15s} {best.n_clusters} clusters, contrast {best.contrast:.2f}")

# %%
# In the pipeline, ``pipeline[-1]`` is the fitted model. Profiles show what the clusters are,
# in the columns where they differ most, with the values as they were before scaling.

pipeline = make_pipeline(MinMaxScaler(), KFuse()).fit(wine.data)
ax = profiles(pipeline[-1], wine.data)

# %%
# ``GridSearchCV`` is of no use for clusterings without labels: it splits rows, and ``KFuse``
# has no score to compare. A loop over a few settings, as above, is all that is needed.
