"""The fusion curve: how clearly the data has each number of clusters.

The curve is a staircase. Its level between k and k + 1 clusters is the strength of the strongest merge that a cut into
k + 1 clusters undoes, on a scale from 0 (no connection) to 1. At k clusters it steps from the strongest border between
clusters to the next merge of the tree: the higher the step, the clearer the number. The printed algorithm has no
strengths; its levels are the heights of the dendrogram.
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
    strongest = np.maximum.accumulate(tree.strength[::-1])
    return strongest / (1 + strongest)


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


def raised(steps: list[tuple[int, float]], most: int, top: float) -> list[int]:
    """Return by how many lines to raise the number at each step, so that no two overlap.

    A number is as wide as a sixteenth of an axis that ends at `most`, and a line is as high as a fourteenth of one that
    ends at `top`.
    """
    line = top / 14
    placed: list[tuple[int, float]] = []
    lines = []
    for number, level in steps:
        lift = 0
        while any(abs(number - x) * 16 < most and abs(level + lift * line - y) < 0.999 * line for x, y in placed):
            lift += 1
        placed.append((number, level + lift * line))
        lines.append(lift)
    return lines
