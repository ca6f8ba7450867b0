"""
Comparison with other methods
=============================

The toy data sets of scikit-learn's comparison of clustering methods. Only kfuse, HDBSCAN and
OPTICS find the number of clusters; k-means, Ward and spectral clustering are given it. Grey
crosses are noise. The number in each panel is the number of clusters.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.cluster import (
    HDBSCAN,
    OPTICS,
    AgglomerativeClustering,
    KMeans,
    SpectralClustering,
)
from sklearn.preprocessing import StandardScaler

from kfuse import KFuse
from kfuse.plots import scatter

# %%
# The data sets are those of scikit-learn's gallery, with its seeds and 500 samples each. The
# last one has no clusters.

n, seed = 500, 30
slanted, slanted_y = datasets.make_blobs(n, random_state=170)
rng = np.random.RandomState(seed)
sets = {
    "circles": datasets.make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": datasets.make_moons(n, noise=0.05, random_state=seed),
    "varied": datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "slanted": (slanted @ [[0.6, -0.6], [-0.4, 0.8]], slanted_y),
    "blobs": datasets.make_blobs(n, random_state=seed),
    "no structure": (rng.rand(n, 2), np.zeros(n, dtype=int)),
}

# %%
# The settings of the other methods come from scikit-learn's page, where they were tuned for
# each data set; here one setting is used for all, as it would be for unknown data.


def methods_for(n_clusters):
    """Return the methods; those that need the number of clusters get it."""
    return {
        "kfuse": KFuse(),
        "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True),
        "OPTICS": OPTICS(min_samples=7, xi=0.05, min_cluster_size=0.1),
        "k-means": KMeans(n_clusters, n_init=10, random_state=0),
        "Ward": AgglomerativeClustering(n_clusters),
        "spectral": SpectralClustering(
            n_clusters, affinity="nearest_neighbors", random_state=0
        ),
    }


fig, axes = plt.subplots(len(sets), 6, figsize=(9.5, 9.5), layout="constrained")
for row, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    X = StandardScaler().fit_transform(X)
    true_number = 3 if name == "no structure" else y.max() + 1
    for ax, (method, estimator) in zip(row, methods_for(true_number).items(), strict=True):
        with warnings.catch_warnings():
            # Spectral clustering warns about disconnected graphs.
            warnings.simplefilter("ignore")
            labels = clone(estimator).fit_predict(X)
        scatter(X, labels, ax=ax)
        ax.set(xticks=[], yticks=[], xlim=(-2.7, 2.7), ylim=(-2.7, 2.7))
        found = labels.max() + 1
        ax.text(0.97, 0.03, found, transform=ax.transAxes, ha="right", fontsize=9)
        if name == "circles":
            ax.set_title(method, fontsize=11)
    row[0].set_ylabel(name)

# %%
# Six toy data sets show how a method behaves, not how good it is. Comparisons on labelled
# data are in :doc:`/study/README` and :doc:`/adaptive`, run times on larger data in
# :doc:`/benchmarks`.
