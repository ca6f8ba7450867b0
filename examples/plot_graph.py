"""
Your own distances, or a graph
==============================

With ``metric="precomputed"``, ``KFuse`` takes distances instead of features: all of them, or a sparse graph with those to
the nearest neighbours. So anything that has a distance can be clustered.
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

for name, model in {"features": from_features, "matrix": from_matrix, "graph": from_graph}.items():
    same = bool((model.labels_ == from_features.labels_).all())
    print(f"{name:9s} {model.n_clusters_} clusters, same labels: {same}")
print(f"the matrix has {matrix.size:,} distances, the graph {graph.nnz:,}")

# %%
# How many neighbours the graph needs
# -----------------------------------
# The data says it, and the error names the number. Some thirty are mostly enough; ``n_neighbors_`` says what was used.

try:
    KFuse(metric="precomputed").fit(kneighbors_graph(X, n_neighbors=10, mode="distance"))
except ValueError as error:
    print(error)
print("used:", from_graph.n_neighbors_)

# %%
# Something that is no table: words
# ---------------------------------
# The distance of two words here is how many letters one must change, add or drop.

WORDS = """
clustering clusters cluster clustered bluster fluster flustered blustered lustre
density densities dense denser densest intense intenser
neighbour neighbours neighbor neighbors neighbourhood neighborly
fusion fusions fuse fused fuses infusion effusion confusion
""".split()


def edits(a, b):
    """Count the letters to change, add or drop between two words."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1]


distances = np.array([[edits(a, b) for b in WORDS] for a in WORDS], dtype=float)
model = KFuse(n_clusters=4, metric="precomputed").fit(distances)
for cluster in range(model.n_clusters_):
    print(", ".join(np.array(WORDS)[model.labels_ == cluster]))

# %%
# With thirty samples "auto" has little to go by, so the number was given.
#
# New samples need their distances to the samples of the fit, one row each.

word = "confuse"
label = model.predict([[edits(word, known) for known in WORDS]])[0]
print(f"{word!r} goes with {WORDS[int(np.flatnonzero(model.labels_ == label)[0])]!r}")

# %%
# A model of distances keeps no samples. To draw it, give the features, if there are any.

ax = scatter(X, from_graph.labels_)
