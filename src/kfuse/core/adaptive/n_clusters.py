"""The number of clusters: what the borders between them look like in the tree.

Three signs speak for a border, and the number is the largest that one of them supports, at one level of significance.

- **A step.** A merge of two parts is judged by what is usual in the same tree for parts of that size. Inside a cluster,
  merges are about as strong as usual; a border is a merge that is much weaker. A cut into n clusters undoes the highest
  merges across a valley. If these are the borders, there is a step from the strongest of them to the weakest one that
  is kept. Chance makes steps as well, the higher the fewer dimensions there are, so a step counts only if it is higher
  than that; peaks on both sides of all borders count towards it, the lack of them against it.
- **Peaks** of the density that stand out: `valleys`.
- **Islands** that few neighbours leave or enter: `islands`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.fusion import Merges
from kfuse.core.adaptive.neighborhoods import FEWEST_NEIGHBORS
from kfuse.core.adaptive.scales import TINY
from kfuse.core.adaptive.significance import NEEDED
from kfuse.core.result import Borders

ALLOWANCE = 4.0  # of log-strength for a part of one sample, decreasing with the square root of its size: chance
STEP_IN_ONE_DIMENSION, STEP_DECREASE = 1.5, 1.3  # the least step of log-strength is 1.5 / m^1.3
NEGLIGIBLE = 1e-6  # a difference in log-density, as rounding makes it
AMPLE = 3.0  # times the evidence that is needed: more of it makes no step better


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


def is_valley(merges: Merges) -> NDArray[np.bool_]:
    """Return whether both sides of each merge are denser, on average, than the border between them.

    A few samples have no density of their own: outliers, however far away they are, are no side of a border.
    """
    is_denser = merges.density.min(axis=1) > merges.level + NEGLIGIBLE
    return is_denser & (merges.size.min(axis=1) >= FEWEST_NEIGHBORS)


def suggest(borders: Borders, p_value: NDArray[np.float64], n_samples: int, n: int) -> list[Evidence]:
    """Rank the numbers of clusters, the best first; `borders` are in the tree's order.

    Larger numbers than the one found go by their step of log-strength; smaller ones by their step of log-separation, by
    which their cuts go, too: the data has a scale where it falls most. A step counts fully if all borders are
    significant, less if the p-value of the weakest, given for 1, 2, ... clusters, is larger, and not at all if it is 1.
    Contrast decides between equals.
    """
    weakest_inside = np.append(np.minimum.accumulate(borders.strength)[::-1], np.inf)
    strongest_border = np.append(0.0, np.maximum.accumulate(borders.strength[::-1]))
    log_separation = np.log(np.maximum(borders.separation, TINY))
    chosen = count_clusters(borders)
    numbers = sorted({chosen, *range(2, _count_considered(strongest_border, n_samples) + 1)})
    evidence = [_evidence(number, strongest_border[number - 1], weakest_inside[number - 1]) for number in numbers]

    def rank(one: Evidence) -> tuple[bool, float, float]:
        if one.n_clusters == chosen:
            return False, 0.0, 0.0
        certainty = min(-math.log(p_value[one.n_clusters - 1]) / NEEDED, 1.0)
        if one.n_clusters < chosen:
            step = log_separation[1 - one.n_clusters] - log_separation[-one.n_clusters]
        else:
            step = math.log(one.weakest_inside / one.strongest_border) if min(one.contrast, certainty) > 0.0 else 0.0
        return True, -certainty * step, -one.contrast

    return sorted(evidence, key=rank)[:n]


def _evidence(n_clusters: int, border: float, inside: float) -> Evidence:
    """Return the step from the strongest border to the weakest merge inside, each as s / (1 + s), or 0."""
    above = inside / (1 + inside) if np.isfinite(inside) else 1.0
    contrast = max(above - border / (1 + border), 0.0)
    return Evidence(n_clusters, float(contrast), float(border), float(inside))


def count_clusters(borders: Borders) -> int:
    """Return the largest number of clusters that one of the signs supports."""
    return 1 + count_borders(borders)


def count_borders(borders: Borders) -> int:
    """Return the largest number of borders that one of the signs supports."""
    return min(borders.strength.size, max(borders.n_steps, borders.n_peaks, borders.n_islands))


def shown(borders: Borders) -> NDArray[np.bool_]:
    """Return which merges are the borders that the number of clusters counts; `borders` are by ascending height.

    A step itself says which they are: the highest merges across a valley. Peaks and islands are parts of the data,
    not merges, and the height says best where one part ends.
    """
    n_borders = count_borders(borders)
    candidates = np.flatnonzero(borders.is_valley | (borders.n_steps < n_borders))
    is_shown = np.zeros(borders.strength.size, dtype=bool)
    is_shown[candidates[candidates.size - n_borders :]] = True
    return is_shown


class Steps(NamedTuple):
    """The steps below which the 1, 2, ... highest merges across a valley are."""

    evidence: NDArray[np.float64]  # 1 is significant; minus infinity where there is no step
    contrast: NDArray[np.float64]


def count_below_step(borders: Borders) -> int:
    """Count the borders below the best step of those that are too high for chance.

    The best step has the largest contrast, where one whose evidence is just enough counts a third of one with ample
    evidence.
    """
    evidence, contrast = steps(borders)
    clear = np.flatnonzero(evidence >= 1)
    return 1 + int(clear[np.argmax(contrast[clear] * np.minimum(evidence[clear], AMPLE))]) if clear.size else 0


def steps(borders: Borders) -> Steps:
    """Compute how much too high for chance each step is.

    Above many borders a step is hardly chance: all of them would have to be weak by chance. So it is multiplied by the
    square root of their number, as for a mean of that many. Borders that peaks show by themselves do not count: their
    weakness says nothing about the others.
    """
    highest_first = np.flatnonzero(borders.is_valley)[::-1]
    strength = borders.strength[highest_first]
    if strength.size < 2:
        return Steps(np.empty(0), np.empty(0))
    border, inside = np.maximum.accumulate(strength)[:-1], np.minimum.accumulate(strength[::-1])[::-1][1:]
    step = np.log(inside) - np.log(border)
    least = STEP_IN_ONE_DIMENSION / max(borders.dimension, 1.0) ** STEP_DECREASE
    of_peaks = borders.evidence[highest_first]
    n_unshown = np.maximum(np.cumsum(of_peaks < NEEDED)[:-1], 1)
    evidence = np.sqrt(n_unshown) * step / least + evidence_on_both_sides(of_peaks)
    contrast = inside / (1 + inside) - border / (1 + border)
    return Steps(np.where((border < 1) & (step > 0), evidence, -np.inf), contrast)


def evidence_on_both_sides(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence for peaks on both sides of the first 1, 2, ... borders, from -1 to 1, where 1 is significant.

    It is that of the border with the least; a border that is too small to be tested counts neither for nor against it.
    """
    tested = np.where(np.isneginf(evidence), 0.0, evidence)
    return np.clip(np.minimum.accumulate(tested)[:-1] / NEEDED, -1.0, 1.0)


def _count_considered(strongest_border: NDArray[np.float64], n_samples: int) -> int:
    """Consider every number up to the root of n, and further while the merges undone are weaker than usual."""
    weak = int(np.searchsorted(strongest_border[1:], 1.0))
    return max(1, min(strongest_border.size - 1, max(math.isqrt(n_samples), weak + 1)))
