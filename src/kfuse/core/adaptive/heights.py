"""The order in which merges are undone: k clusters are k groups, not k parts.

Merging itself leaves lone outliers for last, since nothing is as far away, so undoing the last merges would spend the
clusters on them. Instead, every merge has a height that says how much of a border it is. It is the fusion index again,
the smallest of the merge and of all inside its two parts, with two corrections for small parts:

- one sample has no density of its own, so how far away a lone one is does not count;
- a border that few samples draw is less certain: a part of s samples is discounted by (1 + lambda / s)^(3/4), unless it
  is denser than the border, as a group is and a scrap is not.

Each merge is represented by one edge between two leaves, of all links across it the one with the largest fusion index.
These edges are a spanning tree of the leaves: undoing any n - 1 of them leaves exactly n clusters, in any order, and
further ones only split these. So merging the edges again by ascending height, which is Kruskal's algorithm, makes a
binary tree whose cuts are nested and whose heights never decrease; an outlier hangs below the group that it is linked
to best.

The merges that are undone first are the borders that the data shows, as `n_clusters` counts them: the highest merges,
or those below a step, if that is what shows them. If fewer clusters are asked for than that, all candidates are groups,
and what remains to be decided is which of them to keep apart. A border between two large groups then matters more than
a deeper one around a small group: how far a border rises above the merges inside groups counts times the pairs of
samples that it separates. The heights stay ascending: the border that is undone first has the largest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.fusion import Merges
from kfuse.core.kernels import kernel

CERTAINTY = 0.75  # the exponent of the size term


def heights(merges: Merges, natural_value: int, dimension: float) -> NDArray[np.float64]:
    """Return how much of a border each merge is: the larger, the earlier it is undone."""
    height = np.empty(merges.log_index.size)
    write_heights(merges, natural_value, dimension, height)
    return height


@kernel
def write_heights(merges, natural_value, dimension, height):
    """Compute the height of each merge."""
    for merge in range(height.size):
        first_is_smaller = merges.size[merge, 0] <= merges.size[merge, 1]
        smaller = max(merges.size[merge, 0] if first_is_smaller else merges.size[merge, 1], 1.0)
        density = merges.density[merge, 0] if first_is_smaller else merges.density[merge, 1]
        sparser = min(merges.density[merge, 0], merges.density[merge, 1])
        mean = (merges.density[merge, 0] + merges.density[merge, 1]) / 2.0
        own_density = (mean - sparser) / smaller  # the part of the index that the density of one sample would make
        doubt = CERTAINTY * math.exp(-dimension * max(0.0, density - merges.level[merge]))
        height[merge] = -merges.lowest_index[merge] - own_density - doubt * math.log1p(natural_value / smaller)


def separations(
    height: NDArray[np.float64], children: NDArray[np.intp], sizes: NDArray[np.float64], n_shown: int
) -> NDArray[np.float64]:
    """Return how far the last `n_shown` merges rise above those inside groups, times the pairs that they separate.

    It is zero for the merges that are not shown, so that these stay first, in their order, when merges are ordered by
    it: the cut into `n_shown` + 1 clusters remains as it is. Inside groups are the merges that are lower than all that
    are shown. Heights of merges that are not shown ascend; `sizes` are those of all nodes.
    """
    separation = np.zeros(height.size)
    if n_shown > 0:
        first = height.size - n_shown
        lowest = height[first:].min()
        n_inside = int(np.searchsorted(height[:first], lowest, side="right"))
        above_inside = height[first:] - (height[n_inside - 1] if n_inside else lowest)
        separation[first:] = above_inside * sizes[children[first:]].prod(axis=1)
    return separation
