"""The printed algorithm, `fusion="paper"`: Algorithms 1 to 3 of Yan and Hu.

`fit` is the line of stages, one file each: natural neighbours (Algorithm 1), density (Eq. 1, Definitions 5 and 6),
sub-clusters (Algorithm 2), and the fusion (Algorithm 3) by boundary connectivity (Eqs. 2 to 5, `boundary`) and density
similarity (Eq. 6, `similarity`). `least_distances` and `spanning` make it fast without changing a label.
"""

from __future__ import annotations

import numpy as np

from kfuse.core import natural
from kfuse.core.dendrogram import nodes_of_merges
from kfuse.core.execution import Execution
from kfuse.core.paper import density, fusion, subclusters
from kfuse.core.result import Result
from kfuse.core.search import NeighborTable


def fit(neighbors: NeighborTable, execution: Execution) -> Result:
    """Run all stages; return what they found for every sample."""
    stage = execution.progress.stage
    with stage("natural neighbours"):
        found = natural.find_natural_neighbors(neighbors)
    with stage("density"):
        rho = density.estimate(neighbors, found)
    with stage("sub-clusters"):
        parts = subclusters.divide(neighbors, rho, found.n_neighbors)
    with stage("merging"):
        edges = fusion.merges(neighbors, rho.values, parts, found.natural_value, execution)
    with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
        in_unit_of_data = np.nan_to_num(rho.values / neighbors.distances.unit)
    return Result(
        natural_value=found.natural_value,
        n_neighbors=found.n_neighbors,
        reverse_counts=found.reverse_counts.astype(np.int64),
        density=in_unit_of_data,
        representatives=rho.representatives,
        subclusters=parts.labels,
        left_out=parts.left_out,
        children=nodes_of_merges(edges.i, edges.j),
        log_index=edges.log_index,
        height=-edges.log_index,
    )
