"""P-values of borders: what a sign sees at each, or what the same sign sees at all borders up to it together.

The evidence of a border is minus the logarithm of a p-value: of the chance that data without clusters has a border at
least as pronounced. For each merge, the sign with the most evidence counts:

- **Step.** One with the evidence E of `n_clusters.steps`, where 1 is significant at the level, has the p-value level^E,
  as if its chance fell exponentially; data without clusters has steps as high as that less often. Where E is ample,
  more of it counts no more: curved and long clusters make high steps, too. A step supports all merges above it.
- **Peaks.** Their evidence is minus the logarithm of a p-value as it stands. If the j highest merges all have at least
  the evidence e, then they have e + log j by the step-up rule of Benjamini and Hochberg, as peaks are counted.
- **Islands.** At the limit, the p-value is the level, and it falls with the fourth power of the openness, as in
  simulated data without clusters. Once one border is shown, the limit of the others is twice as high.

So a number of clusters that a sign supports has no border with a p-value above the level, if these are the borders that
its cut draws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.adaptive.islands import ONCE_SHOWN
from kfuse.core.adaptive.n_clusters import AMPLE, steps
from kfuse.core.adaptive.significance import NEEDED, p_values
from kfuse.core.result import Borders

SIGNS = ("step", "peaks", "islands")
NO_SIGN = "none"
NO_CLUSTER = -1
POWER = 4.0  # of openness: how fast the chance of an island falls


class Support(NamedTuple):
    """The evidence for the border at each merge of a tree, in its order."""

    p_value: NDArray[np.float64]
    sign: NDArray[np.str_]  # the sign that sees it best; "none" where the p-value is 1

    def weakest(self, n_clusters: int) -> int:
        """Return the merge with the largest p-value of those that a cut undoes; of equal ones, the last undone."""
        first = self.p_value.size + 1 - n_clusters
        return first + int(np.argmax(self.p_value[first:]))

    def of_numbers(self) -> NDArray[np.float64]:
        """Return the p-value of the weakest border for 1, 2, ... clusters; one cluster has no border, so it is nan."""
        return np.append(np.nan, np.maximum.accumulate(self.p_value[::-1]))


def support(borders: Borders) -> Support:
    """Find out how sure the border at each merge is."""
    evidence = np.stack([_of_steps(borders), _of_peaks(borders.evidence), _of_islands(borders.openness)])
    p_value = p_values(evidence.max(axis=0))
    return Support(p_value, np.where(p_value < 1.0, np.array(SIGNS)[evidence.argmax(axis=0)], NO_SIGN))


def _of_steps(borders: Borders) -> NDArray[np.float64]:
    evidence = np.full(borders.strength.size, -np.inf)
    of_steps = NEEDED * np.minimum(steps(borders).evidence, AMPLE)
    highest_first = np.flatnonzero(borders.is_valley)[::-1]
    evidence[highest_first[: of_steps.size]] = _best_from_here(of_steps)
    return evidence


def _of_peaks(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence of each merge by itself, or that of all merges down to one below it, if it is more."""
    tested = np.where(evidence > -NEEDED, evidence, -np.inf)  # lower values were raised to that
    together = np.minimum.accumulate(tested[::-1]) + np.log(np.arange(1, tested.size + 1))
    return np.maximum(tested, _best_from_here(together)[::-1])


def _of_islands(openness: NDArray[np.float64]) -> NDArray[np.float64]:
    alone = NEEDED - POWER * np.log(openness)
    best = alone.max(initial=-np.inf)
    if best <= NEEDED:
        return alone
    return np.minimum(alone + POWER * np.log(ONCE_SHOWN), best)


def _best_from_here(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


def persistence(ends: NDArray[np.intp], sure: NDArray[np.float64], n_clusters: int) -> NDArray[np.float64]:
    """Return how sure the least sure border of each cluster is; 1 for a single cluster, which has none.

    `ends` are the clusters at both ends of the edge of each merge: the same where it is not undone, -1 in parts that
    belong to no cluster. A cluster that only such parts separate from others is as sure as the surest of these borders.
    """
    least, surest = np.ones(n_clusters), np.zeros(n_clusters)
    is_border = (ends[:, 0] != ends[:, 1]) & (ends != NO_CLUSTER).all(axis=1)
    beside_none = (ends[:, 0] != ends[:, 1]) & ~is_border
    for side in (0, 1):
        np.minimum.at(least, ends[is_border, side], sure[is_border])
        known = beside_none & (ends[:, side] != NO_CLUSTER)
        np.maximum.at(surest, ends[known, side], sure[known])
    has_border = np.isin(np.arange(n_clusters), ends[is_border])
    return np.where(has_border | (n_clusters == 1), least, surest)
