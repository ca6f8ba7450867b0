"""
Your own distances, or a graph
==============================

With ``metric="precomputed"``, ``KFuse`` takes distances instead of features: all of them, or a
sparse graph with those to the nearest neighbours. So anything that has a distance can be
clustered.
"""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from kfuse.plots import scatter

X, _ = make_moons(600, noise=0.05, random_state=0)

# %%
# Features, a matrix, a graph: the same labels
# --------------------------------------------

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
# The data says it, and the error names the number. Some thirty are mostly enough;
# ``n_neighbors_`` says what was used.

try:
    KFuse(metric="precomputed").fit(kneighbors_graph(X, n_neighbors=10, mode="distance"))
except ValueError as error:
    print(error)
print("used:", from_graph.n_neighbors_)

# %%
# Something that is no table: misspelt names
# ------------------------------------------
# Five towns, each typed sixty times with up to two slips. The distance of two words is how
# many letters one must change, add or drop.

TOWNS = ["aberystwyth", "birmingham", "canterbury", "nottingham", "southampton"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
rng = np.random.default_rng(0)


def typed(word):
    """Write a word with up to two slips."""
    letters = list(word)
    for _ in range(rng.integers(3)):
        place, slip = rng.integers(len(letters)), rng.choice(["add", "drop", "change"])
        end = place if slip == "add" else place + 1
        letters[place:end] = [] if slip == "drop" else [rng.choice(LETTERS)]
    return "".join(letters)


def edits(a, b):
    """Count the letters to change, add or drop between two words."""
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
# Five clusters, found. The densest sample of each is the name as it should be; the sparsest
# is the worst slip.

for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    by_density = words[members[np.argsort(-model.density_[members])]]
    print(f"{len(members)} x {by_density[0]}, also {', '.join(by_density[-3:])}")

# %%
# New samples need their distances to the samples of the fit, one row each.

new = "nothingam"
label = model.predict([[edits(new, word) for word in words]])[0]
typical = np.where(model.labels_ == label, model.density_, 0).argmax()
print(f"{new} goes with {words[typical]}")

# %%
# A model of distances keeps no samples. To draw it, give the features, if there are any.

ax = scatter(X, from_graph.labels_)
