"""The number of clusters, read from the merges.

A merge of two parts is judged by what is usual in the same tree for parts of that size. Inside a cluster, merges are
about as strong as usual; a border between clusters is a merge that is much weaker. So sorted by strength, the merges
fall into borders and others, with a step in between, and there is one cluster more than there are borders.

Chance makes steps, too. So a step counts only if it is high, and the higher it must be the fewer borders lie below it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.fusion import Merges

ALLOWANCE = 4.0  # of log-strength for a part of one sample, decreasing with the square root of its size: chance
LEAST_STEP = 0.5  # of log-strength between one border and the other merges; structureless data seldom has more


class Evidence(NamedTuple):
    """What speaks for a number of clusters; `kfuse.tree.Suggestion` explains the fields."""

    n_clusters: int
    contrast: float
    strongest_border: float
    weakest_inside: float


def strengths(merges: Merges) -> NDArray[np.float64]:
    """Compare each merge with what is usual for its size, the median line over all merges of the tree.

    The connection is the fusion index without its size factors, and with the root of W for W: how many links cross a
    border is more a matter of chance than how dense it is, the more so in thin clusters.
    """
    if merges.log_index.size == 0:
        return np.empty(0)
    smaller, larger = merges.size.min(axis=1), merges.size.max(axis=1)
    connection = merges.log_index + np.log(smaller) + np.log(larger) / 2 - merges.log_weight / 2
    log_strength = connection - _median_line(np.log(smaller), connection) + ALLOWANCE / np.sqrt(smaller)
    return np.exp(np.clip(log_strength, -500, 500))


def _median_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a line with slope between 0 and 1/2 by least absolute deviations.

    With slope 0, the boundary is one point at any size; with slope 1/2, its weight grows with the size, as in high
    dimension.
    """
    best, fitted = np.inf, y
    for slope in np.linspace(0, 0.5, 21):
        line = slope * x + np.median(y - slope * x)
        deviation = np.abs(y - line).sum()
        if deviation < best:
            best, fitted = deviation, line
    return fitted


def suggest(strength: NDArray[np.float64], n_samples: int, n: int) -> list[Evidence]:
    """Rank the numbers of clusters, the best first, then by decreasing contrast."""
    ascending = np.sort(strength)
    chosen = _choose(ascending)
    others = sorted(
        (s for s in _alternatives(ascending, n_samples) if s.n_clusters != chosen), key=lambda s: -s.contrast
    )
    return [_evidence(ascending, chosen), *others][:n]


def _choose(ascending: NDArray[np.float64]) -> int:
    """Return the number with the largest contrast of those that are clear; one if none is."""
    clear = np.flatnonzero(_is_clear(ascending))
    if not clear.size:
        return 1
    level = ascending / (1 + ascending)
    return 2 + int(clear[np.argmax(level[clear + 1] - level[clear])])


def _is_clear(ascending: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether 1, 2, ... borders are weaker than usual and set apart by a step that is too high for chance.

    Above many borders a step is hardly chance: all of them would have to be weak by chance. So it is multiplied by the
    square root of their number, as for a mean of that many.
    """
    n_borders = np.arange(1, ascending.size)
    step = np.diff(np.log(ascending))
    return (ascending[:-1] < 1) & (np.sqrt(n_borders) * step >= LEAST_STEP)


def _alternatives(ascending: NDArray[np.float64], n_samples: int) -> list[Evidence]:
    """Consider every number up to the root of n, and further while the merges undone are weaker than usual."""
    weak = int(np.searchsorted(ascending, 1.0))
    most = min(ascending.size, max(math.isqrt(n_samples), weak + 1))
    return [_evidence(ascending, n_clusters) for n_clusters in range(2, most + 1)]


def _evidence(ascending: NDArray[np.float64], n_clusters: int) -> Evidence:
    border = float(ascending[n_clusters - 2]) if n_clusters > 1 else 0.0
    inside = float(ascending[n_clusters - 1]) if n_clusters <= ascending.size else np.inf
    level_inside = inside / (1 + inside) if np.isfinite(inside) else 1.0
    return Evidence(n_clusters, level_inside - border / (1 + border), border, inside)
