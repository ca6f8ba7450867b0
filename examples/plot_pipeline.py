"""
Scaling and pipelines
=====================

Clustering depends on distances, so a feature with large values dominates the others. Scale
first, in a pipeline.
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
# Proline has values above 1,000, hue below 2. Without scaling, proline determines the
# distances almost alone.

scalers = {
    "unscaled": None,
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
# The true labels are used for the score only. Usually there are none; then ``suggest`` says
# how clear the clusters are. The contrast does not prove that a scaling is right, but a
# scaling without a clear number of clusters is suspect.

for name, scaler in scalers.items():
    pipeline = make_pipeline(scaler, KFuse()).fit(wine.data)
    best = pipeline[-1].tree_.suggest(1)[0]
    print(f"{name:15s} {best.n_clusters} clusters, contrast {best.contrast:.2f}")

# %%
# ``pipeline[-1]`` is the fitted model. Profiles describe the clusters by the features in which
# they differ most, with the values before scaling.

pipeline = make_pipeline(MinMaxScaler(), KFuse()).fit(wine.data)
ax = profiles(pipeline[-1], wine.data)

# %%
# ``GridSearchCV`` does not help without labels: it splits the rows, and ``KFuse`` has no score
# to compare. A loop over a few settings, as above, is enough.
