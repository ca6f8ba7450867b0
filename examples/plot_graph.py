"""
Precomputed distances and graphs
================================

With ``metric="precomputed"``, ``KFuse`` accepts distances instead of features: a full matrix,
or a sparse graph of the nearest neighbours, so anything with a distance can be clustered.
"""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from kfuse.plots import scatter

X, _ = make_moons(600, noise=0.05, random_state=0)

# %%
# Features, matrix and graph: the same labels
# -------------------------------------------

matrix = pairwise_distances(X)
graph = kneighbors_graph(X, n_neighbors=30, mode="distance")

from_features = KFuse().fit(X)
from_matrix = KFuse(metric="precomputed").fit(matrix)
from_graph = KFuse(metric="precomputed").fit(graph)

for name, model in {
    "features": from_features,
    "matrix": from_matrix,
    "graph": from_graph,
}.items():
    same = bool((model.labels_ == from_features.labels_).all())
    print(f"{name:9s} {model.n_clusters_} clusters, same labels: {same}")
print(f"the matrix has {matrix.size:,} distances, the graph {graph.nnz:,}")

# %%
# How many neighbours the graph needs
# -----------------------------------
# This depends on the data, and the message has the number. About thirty are usually
# enough; ``n_neighbors_`` is the number that was used. A graph with fewer, but at least
# eight, is clustered with what it holds, and a warning.

try:
    KFuse(metric="precomputed").fit(kneighbors_graph(X, n_neighbors=5, mode="distance"))
except ValueError as error:
    print(error)
print("used:", from_graph.n_neighbors_)

# %%
# Data without features: misspelt names
# -------------------------------------
# Five towns, each typed sixty times with up to two typos. The distance between two words is
# the edit distance: the number of letters to change, add or drop.

TOWNS = ["aberystwyth", "birmingham", "canterbury", "nottingham", "southampton"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
rng = np.random.default_rng(0)


def typed(word):
    """Return a word with up to two typos."""
    letters = list(word)
    for _ in range(rng.integers(3)):
        position, typo = rng.integers(len(letters)), rng.choice(["add", "drop", "change"])
        end = position if typo == "add" else position + 1
        letters[position:end] = [] if typo == "drop" else [rng.choice(LETTERS)]
    return "".join(letters)


def edits(a, b):
    """Return the edit distance between two words."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            diagonal, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other)),
            )
    return row[-1]


words = np.array([typed(town) for town in TOWNS for _ in range(60)])
distances = np.array([[edits(a, b) for b in words] for a in words], dtype=float)
model = KFuse(metric="precomputed").fit(distances)

# %%
# Five clusters are found. The sample of highest density in each is the correct name; those of
# lowest density have the worst typos.

for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    by_density = words[members[np.argsort(-model.density_[members])]]
    print(f"{len(members)} x {by_density[0]}, also {', '.join(by_density[-3:])}")

# %%
# To predict, pass the distances from each new sample to the samples of the fit, as one row.

new = "nothingam"
label = model.predict([[edits(new, word) for word in words]])[0]
typical = np.where(model.labels_ == label, model.density_, 0).argmax()
print(f"{new} is in the cluster of {words[typical]}")

# %%
# A model fitted to distances keeps no samples. To plot the clusters, pass the features, if
# there are any.

ax = scatter(X, from_graph.labels_)
