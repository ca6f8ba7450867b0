"""In which columns the clusters differ most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.description.columns import Column
from kfuse.description.separation import Group, Totals, best_rule, effect


def most_telling(columns: list[Column], labels: NDArray[np.intp], most: int) -> list[Column]:
    """Return the columns with the largest mean effect over the clusters, the largest first, without constant ones.

    The effect is that of :func:`kfuse.describe`; noise is no cluster, but counts among the others.
    """
    telling = [column for column in columns if not column.is_constant]
    groups = [Group(np.flatnonzero(labels == label), labels.size) for label in range(int(labels.max()) + 1)]
    apart = [group for group in groups if group.n_others]
    effects = [_mean_effect(Totals.of(column), apart) for column in telling]
    return [telling[place] for place in np.argsort(-np.array(effects), kind="stable")[:most]]


def _mean_effect(totals: Totals, groups: list[Group]) -> float:
    rules = [(best_rule(totals, group), group) for group in groups]
    return sum(effect(rule, group) for rule, group in rules if rule is not None) / max(1, len(groups))
