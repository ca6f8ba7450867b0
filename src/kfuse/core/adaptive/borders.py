"""The order in which merges are undone: k clusters are k groups, not k parts.

Merging itself leaves lone outliers for last, since nothing is as far away, so undoing the last merges would spend the
clusters on them. Instead, every merge has a height that says how much of a border it is. It is the fusion index again,
with two corrections for small parts:

- one sample has no density of its own, so how far away a lone one is does not count;
- a border that few samples draw is less certain: a part of s samples is discounted by (1 + lambda / s)^(3/4).

Each merge is represented by one edge between two leaves, of all links across it the one with the largest fusion index.
These edges are a spanning tree of the leaves: undoing any n - 1 of them leaves exactly n clusters, in any order, and
further ones only split these. So merging the edges again by ascending height, which is Kruskal's algorithm, makes a
binary tree whose cuts are nested and whose heights never decrease; an outlier hangs below the group that it is linked
to best.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.fusion import Merges
from kfuse.core.kernels import kernel

CERTAINTY = 0.75  # the exponent of the size term


def heights(merges: Merges, natural_value: int) -> NDArray[np.float64]:
    """Return how much of a border each merge is: the larger, the earlier it is undone."""
    height = np.empty(merges.log_index.size)
    write_heights(merges, natural_value, height)
    return height


@kernel
def write_heights(merges, natural_value, height):
    """Compute the height of each merge."""
    for merge in range(height.size):
        smaller = min(merges.size[merge, 0], merges.size[merge, 1])
        larger = max(merges.size[merge, 0], merges.size[merge, 1])
        sparser = min(merges.density[merge, 0], merges.density[merge, 1])
        mean = (merges.density[merge, 0] + merges.density[merge, 1]) / 2.0
        reference = sparser + (1.0 - 1.0 / smaller) * (mean - sparser)
        log_sizes = math.log(smaller) + math.log(larger) / 2.0
        log_index = merges.log_weight[merge] - log_sizes + merges.level[merge] - reference
        height[merge] = -log_index - CERTAINTY * math.log1p(natural_value / smaller)


def by_height(height: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the merges by ascending height; of equal ones, the earlier merge first."""
    return np.argsort(height, kind="stable")
