"""How many clusters there are, read from the fusions.

A fusion of two parts is judged by what is usual in the same tree for parts of that size. Inside a cluster, fusions
are about as strong as usual; a border between clusters is a fusion that is much weaker. So sorted by strength, the
fusions fall into borders and others, with a gap in between, and there is one cluster more than there are borders.

Chance makes gaps, too. So a gap counts only if it is wide, and the wider it must be the fewer borders lie below it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ALLOWANCE = 4.0  # of log-strength for a part of one sample, falling with the square root of its size: chance
LEAST_GAP = 0.5  # of log-strength between one border and the other fusions; structureless data seldom has a wider one


class Suggestion(NamedTuple):
    """A number of clusters, and how clearly the data has it.

    Strengths are multiples of what is usual for a fusion of that size: 1 is usual, 0 is no connection. One cluster has
    no border, so its contrast is that of the weakest fusion with no connection, and compares with no other.

    Attributes
    ----------
    n_clusters : int
        The number of clusters.
    contrast : float
        From 0 to 1: the gap between the two strengths below, each taken as s / (1 + s). The larger, the clearer.
    strongest_border : float
        The strength of the strongest fusion that this number undoes.
    weakest_inside : float
        The strength of the weakest fusion that this number keeps.
    """

    n_clusters: int
    contrast: float  # from 0 to 1: the gap between the two strengths, each as s / (1 + s)
    strongest_border: float  # the strongest fusion that this number undoes
    weakest_inside: float  # the weakest that it keeps


def strengths(
    log_index: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    sizes: NDArray[np.intp],
    other_sizes: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Compare each fusion with what is usual for its size, the median line over all fusions of the tree.

    The connection is the index without its sizes, and with the root of the weight: how many links there are across a
    border is more a matter of chance than how dense it is, the more so in thin clusters.
    """
    if log_index.size == 0:
        return np.empty(0)
    smaller, larger = np.minimum(sizes, other_sizes), np.maximum(sizes, other_sizes)
    connection = log_index + np.log(smaller) + np.log(larger) / 2 - log_weight / 2
    log_strength = connection - _median_line(np.log(smaller), connection) + ALLOWANCE / np.sqrt(smaller)
    return np.exp(np.clip(log_strength, -500, 500))


def _median_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a line with slope between 0 and 1/2 by least absolute deviations.

    Slope 0 is a boundary of one point whatever the size, slope 1/2 one whose weight grows with the size, as in high
    dimension.
    """
    best, fitted = np.inf, y
    for slope in np.linspace(0, 0.5, 21):
        line = slope * x + np.median(y - slope * x)
        deviation = np.abs(y - line).sum()
        if deviation < best:
            best, fitted = deviation, line
    return fitted


def suggest(strength: NDArray[np.float64], n_samples: int, n: int) -> list[Suggestion]:
    """Rank the numbers of clusters, the best first, then by falling contrast."""
    ascending = np.sort(strength)
    chosen = _choose(ascending)
    others = sorted(
        (s for s in _alternatives(ascending, n_samples) if s.n_clusters != chosen), key=lambda s: -s.contrast
    )
    return [_suggestion(ascending, chosen), *others][:n]


def _choose(ascending: NDArray[np.float64]) -> int:
    """The number with the largest contrast of those that are clear; one if none is."""
    clear = np.flatnonzero(_is_clear(ascending))
    if not clear.size:
        return 1
    level = ascending / (1 + ascending)
    return 2 + int(clear[np.argmax(level[clear + 1] - level[clear])])


def _is_clear(ascending: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether 1, 2, ... borders are weaker than usual, and a gap sets them apart that is too wide for chance.

    Above many borders a gap is hardly chance: all of them would have to be weak by chance. So it is taken times the
    square root of their number, as for a mean of so many.
    """
    n_borders = np.arange(1, ascending.size)
    gap = np.diff(np.log(ascending))
    return (ascending[:-1] < 1) & (np.sqrt(n_borders) * gap >= LEAST_GAP)


def _alternatives(ascending: NDArray[np.float64], n_samples: int) -> list[Suggestion]:
    """Numbers that undo fusions weaker than usual, and all up to the root of n, if a fusion inside is left."""
    weak = int(np.searchsorted(ascending, 1.0))
    most = min(ascending.size, max(math.isqrt(n_samples), weak + 1))
    return [_suggestion(ascending, n_clusters) for n_clusters in range(2, most + 1)]


def _suggestion(ascending: NDArray[np.float64], n_clusters: int) -> Suggestion:
    border = float(ascending[n_clusters - 2]) if n_clusters > 1 else 0.0
    inside = float(ascending[n_clusters - 1]) if n_clusters <= ascending.size else np.inf
    level_inside = inside / (1 + inside) if np.isfinite(inside) else 1.0
    return Suggestion(n_clusters, level_inside - border / (1 + border), border, inside)
