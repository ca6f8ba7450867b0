"""Categories that have an order: known scales, months and weekdays, and values that begin with a number."""

from __future__ import annotations

import re

import polars as pl

SCALES = (
    ("very low", "low", "below average", "medium", "moderate", "average", "above average", "high", "very high"),
    ("very small", "extra small", "small", "medium", "large", "extra large", "very large"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("very poor", "very bad", "poor", "bad", "fair", "ok", "good", "very good", "excellent", "outstanding"),
    ("fair", "good", "very good", "premium", "ideal"),
    ("never", "rarely", "seldom", "sometimes", "occasionally", "often", "usually", "always"),
    ("strongly disagree", "disagree", "somewhat disagree", "neutral", "somewhat agree", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("cold", "cool", "mild", "warm", "hot"),
    ("young", "middle", "middle-aged", "old"),
    ("first", "second", "third", "fourth", "fifth"),
    (
        *("mon|monday", "tue|tues|tuesday", "wed|wednesday", "thu|thur|thurs|thursday", "fri|friday"),
        *("sat|saturday", "sun|sunday"),
    ),
    (
        *("jan|january", "feb|february", "mar|march", "apr|april", "may", "jun|june", "jul|july", "aug|august"),
        *("sep|sept|september", "oct|october", "nov|november", "dec|december"),
    ),
)  # spellings of the same level are separated by |
LEAST_LEVELS = 3  # two values have no order that matters
_LEADING = re.compile(r"^\s*([<>≤≥]?=?)\s*(\d+(?:\.\d+)?)(.*)$", re.DOTALL)


def levels(values: list[str]) -> list[str] | None:
    """Return the distinct values of a column in their order; None if they have none.

    Parameters
    ----------
    values : list of str
        The distinct values.

    Returns
    -------
    list of str or None
        The values from the lowest to the highest.
    """
    if len(values) < LEAST_LEVELS:
        return None
    spelled = {value.casefold(): value for value in values}
    if len(spelled) < len(values):
        return None
    for scale in SCALES:
        rank = {word: number for number, level in enumerate(scale) for word in level.split("|")}
        if spelled.keys() <= rank.keys() and len({rank[word] for word in spelled}) == len(spelled):
            return [spelled[word] for word in sorted(spelled, key=rank.__getitem__)]
    return _by_leading_number(values)


def ranks(values: pl.Series, in_order: list[str]) -> pl.Series:
    """Return the rank of each value among the given levels, from 0; null where it is missing."""
    numbers = [float(rank) for rank in range(len(in_order))]
    return values.replace_strict(in_order, numbers, default=None, return_dtype=pl.Float64)


def _by_leading_number(values: list[str]) -> list[str] | None:
    """Order values such as 1st, 2nd or <18, 18-24, 25-34, 65+ by the number that they begin with."""
    found = [_LEADING.match(value) for value in values]
    if not all(found):
        return None
    matches = [match for match in found if match is not None]
    keys = [(float(match[2]), {"<": -1, "≤": -1, ">": 1, "≥": 1}.get(match[1][:1], 0)) for match in matches]
    if len(set(keys)) < len(values) or not any(match[1] or match[3].strip() for match in matches):
        return None
    return [value for _, value in sorted(zip(keys, values, strict=True))]
