"""
A million points
================

The same call, the same result. Nothing is sampled, and no pairwise distance matrix is stored.
"""

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.plots import scatter

# %%
# The first fit on a machine compiles for ten to thirty seconds; later ones, also in other
# processes, use the cache. A small fit therefore comes before the timings.

small = KFuse().fit(make_shapes(1000)[0])

# %%
# The same shapes with more and more samples. The timings are those of the machine that built
# this page, which had two cores. :doc:`/benchmarks` compares with other libraries.

for n_samples in (1_000, 10_000, 100_000, 1_000_000):
    X, y = make_shapes(n_samples)
    start = perf_counter()
    model = KFuse().fit(X)
    seconds = perf_counter() - start
    score = adjusted_rand_score(y, model.labels_)
    result = f"{model.n_clusters_} clusters, ARI {score:.4f}"
    print(f"{n_samples:9,d} samples  {seconds:6.2f} s  {result}")

# %%
# The number of neighbours used hardly grows with the number of samples, so memory grows in
# proportion to the number of samples.

print(
    f"lambda = {model.natural_value_}, neighbours = {model.n_neighbors_}, "
    f"sub-clusters = {model.tree_.n_leaves:,}"
)

# %%
# Another number of clusters does not need another fit.

start = perf_counter()
model.cut(20)
print(f"cut(20): {1000 * (perf_counter() - start):.0f} ms")

# %%
# Points are rasterised, so that even a million of them do not make a large file.

fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
scatter(X, model.labels_, ax=ax)
ax.set_aspect("equal")

# %%
# During a long fit, ``KFuse(verbose=True)`` shows each stage with the remaining time;
# :doc:`/big_data` has more tips.
