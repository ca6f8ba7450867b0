r"""How well one column alone tells a group of rows from all others.

A rule picks rows by one column: an interval of a number or date, a few values of a category, or that the value is
missing. Its effect is Youden's J, the share of the group that it picks minus the share of the others that it picks:
1 if it picks the group and nothing else, 0 if it picks both alike. A column's effect is that of its best rule, so all
kinds of columns are on one scale.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.description.columns import MISSING, Column

MOST_VALUES = 3  # of a category in one rule
LEAST_GAIN = 0.05  # of the effect by each value after the first
REPEATED = 2  # rows with a value; one that occurs once is a name, not a category
CHANCE = 0.05  # how often a rule that is not chance would be found in a random group


class Group(NamedTuple):
    """Rows of a table to be told from the others."""

    rows: NDArray[np.intp]
    n_rows: int  # of the table

    @property
    def size(self) -> int:
        """The number of rows in the group."""
        return self.rows.size

    @property
    def n_others(self) -> int:
        """The number of rows outside."""
        return self.n_rows - self.rows.size


class Rule(NamedTuple):
    """Which codes of a column to pick, and how many rows that picks."""

    codes: tuple[int, ...]  # the first and the last one of an interval, or those of the values
    is_interval: bool
    inside: int  # rows of the group
    outside: int  # other rows
    log_candidates: float  # the logarithm of how many rules of this form there are


class Totals(NamedTuple):
    """A column and what all groups share: how many rows have each code."""

    column: Column
    counts: NDArray[np.intp]  # of each code
    before: NDArray[np.intp]  # how many rows have a smaller code; one entry more than codes
    n_missing: int

    @classmethod
    def of(cls, column: Column) -> Totals:
        """Count the codes of a column.

        Parameters
        ----------
        column : Column
            The column.

        Returns
        -------
        Totals
            The counts.
        """
        counts = np.bincount(column.codes[column.codes != MISSING], minlength=column.values.size)
        return cls(column, counts, np.concatenate([[0], np.cumsum(counts)]), column.codes.size - int(counts.sum()))


def effect(rule: Rule, group: Group) -> float:
    """Return Youden's J of a rule: the share that it picks of the group minus that of the others."""
    return rule.inside / group.size - rule.outside / group.n_others


def best_rule(totals: Totals, group: Group) -> Rule | None:
    """Find the rule of a column with the largest effect; of equals, an interval or values rather than missing ones.

    Parameters
    ----------
    totals : Totals
        The column.
    group : Group
        The rows to tell apart; there must be others.

    Returns
    -------
    Rule or None
        None if no rule picks a larger share of the group than of the others.
    """
    codes = totals.column.codes[group.rows]
    codes = codes[codes != MISSING]
    rules = []
    if codes.size:
        present, counts = _counted(codes, totals.counts.size)
        find = _best_interval if totals.column.is_ordered else _best_values
        rules.append(find(totals, group, present, counts))
    n_missing = group.size - codes.size
    rules.append(Rule((MISSING,), False, n_missing, totals.n_missing - n_missing, 0.0))
    best = max((rule for rule in rules if rule is not None), key=lambda rule: effect(rule, group))
    return best if effect(best, group) > 0 else None


def _counted(codes: NDArray[np.int32], n_codes: int) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return the codes that occur and how often, in the faster of two ways."""
    if n_codes > 4 * codes.size:
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes, minlength=n_codes)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _best_interval(totals: Totals, group: Group, present: NDArray[np.integer], counts: NDArray[np.intp]) -> Rule:
    """Find the interval with the largest effect, which starts and ends at values of the group.

    The effect of an interval is the rise, from its start to its end, of the difference between the two cumulative
    distributions; whole numbers keep it exact.
    """
    inside = np.cumsum(counts)
    others = totals.before[present + 1] - inside
    up = group.n_others * inside - group.size * others
    down = group.n_others * (inside - counts) - group.size * (totals.before[present] - (inside - counts))
    last = int(np.argmax(up - np.minimum.accumulate(down)))
    first = int(np.argmin(down[: last + 1]))
    low, high = int(present[first]), int(present[last])
    n_inside = int(inside[last] - inside[first] + counts[first])
    n_all = int(totals.before[high + 1] - totals.before[low])
    m = totals.counts.size
    return Rule((low, high), True, n_inside, n_all - n_inside, math.log(m * (m + 1) / 2))


def _best_values(totals: Totals, group: Group, present: NDArray[np.integer], counts: NDArray[np.intp]) -> Rule | None:
    """Find the values that add most to the effect: at most MOST_VALUES, each after the first at least LEAST_GAIN."""
    repeated = totals.counts[present] >= REPEATED
    present, counts = present[repeated], counts[repeated]
    if not present.size:
        return None
    gain = counts / group.size - (totals.counts[present] - counts) / group.n_others
    order = np.argsort(-gain, kind="stable")[:MOST_VALUES]
    chosen = order[: 1 + int((gain[order[1:]] >= LEAST_GAIN).sum())]
    inside = int(counts[chosen].sum())
    m = int((totals.counts >= REPEATED).sum())
    candidates = sum(math.comb(m, size) for size in range(1, min(m, MOST_VALUES) + 1))
    codes = tuple(int(present[i]) for i in chosen)
    return Rule(codes, False, inside, int(totals.counts[list(codes)].sum()) - inside, math.log(candidates))


def is_beyond_chance(rule: Rule, group: Group, n_columns: int) -> bool:
    """Return whether a random group of that size would hardly have such a rule.

    The likelihood ratio of the four counts, against a rule that picks both alike, must exceed the number of rules that
    were tried, over all columns, divided by CHANCE.

    Parameters
    ----------
    rule, group : Rule, Group
        The rule, and the group that it picks.
    n_columns : int
        The number of columns in which a rule was sought.

    Returns
    -------
    bool
        Whether it is.
    """
    n, picked = group.n_rows, rule.inside + rule.outside
    cells = (
        (rule.inside, group.size, picked),
        (group.size - rule.inside, group.size, n - picked),
        (rule.outside, group.n_others, picked),
        (group.n_others - rule.outside, group.n_others, n - picked),
    )
    log_ratio = sum(count * math.log(count * n / (of_group * of_rule)) for count, of_group, of_rule in cells if count)
    return log_ratio > rule.log_candidates + math.log(n_columns / CHANCE)
