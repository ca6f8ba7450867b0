"""The fusion curve: how clearly the data has each number of clusters.

The curve is a staircase. Its level between k and k + 1 clusters is the strength of the merge that turns k + 1 clusters
into k, on a scale from 0 (no connection) to 1, with the weakest merges first. At k clusters it steps from the strongest
border between clusters to the weakest merge inside one: the higher the step, the clearer the number. The printed
algorithm has no strengths; its levels are the heights of the dendrogram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kfuse.tree import FusionTree

N_MARKED = 3  # suggestions to mark on the curve
HEIGHT_LABEL = "decrease in log fusion index"  # the heights of the fusion tree
USUAL = 0.5  # the level of a merge of typical strength


def levels_of(tree: FusionTree) -> NDArray[np.float64]:
    """Return the level of the curve between 1 and 2 clusters, between 2 and 3, and so on."""
    if tree.strength is None:
        return tree.to_linkage()[::-1, 2]
    ascending = np.sort(tree.strength)
    return ascending / (1 + ascending)


def suggested(tree: FusionTree, most: int) -> list[int]:
    """Return the suggested numbers of clusters, best first; none with ``fusion="paper"``."""
    return [] if tree.strength is None else [suggestion.n_clusters for suggestion in tree.suggest(most)]


def top_of(levels: NDArray[np.float64]) -> float:
    """Return the upper end of an axis of strengths, which always shows the level of a typical merge."""
    return max(0.62, 1.08 * float(levels.max(initial=0)))


def step_at(levels: NDArray[np.float64], n_clusters: int) -> tuple[float, float]:
    """Return the lower and the upper end of the step at a number of clusters."""
    below = levels[n_clusters - 2] if n_clusters > 1 else 0.0
    above = levels[n_clusters - 1] if n_clusters <= levels.size else 1.0
    return float(below), float(above)


def readable(numbers: list[int], most: int) -> list[int]:
    """Drop numbers whose text would overlap that of earlier ones on an axis that ends at `most`."""
    kept: list[int] = []
    for number in numbers:
        if all(abs(number - other) * 16 >= most for other in kept):
            kept.append(number)
    return kept
