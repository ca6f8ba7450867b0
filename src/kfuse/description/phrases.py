"""A rule in words, with numbers as short as they can be and still pick exactly the same rows."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.description.columns import DATE, DURATION, MISSING, Column
from kfuse.description.separation import Group, Rule

LEAST_DIGITS = 3  # significant ones, of a number that is rounded
MOST_DIGITS = 17  # tell any two floats apart
FINE = 0.01  # how far rounding may move a number, as a share of its column's range
LONGEST_TEXT = 40  # of a value
PLAIN = (1e-5, 1e15)  # numbers of a size between these are written without an exponent


def phrase(column: Column, rule: Rule, group: Group) -> str:
    """Return a rule in words, as ``distance 4,963 to 4,983 (all others 80 to 2,586)`` or ``dest = HNL (100 %, others 0 %)``.

    Parameters
    ----------
    column : Column
        The column.
    rule, group : Rule, Group
        The rule, and the group that it tells apart.

    Returns
    -------
    str
        The phrase.
    """  # noqa: E501 - the examples
    shares = f"({percent(rule.inside, group.size)}, others {percent(rule.outside, group.n_others)})"
    if rule.codes == (MISSING,):
        return f"{column.name} missing {shares}"
    if not rule.is_interval:
        return f"{column.name} = {' or '.join(shortened(column.values[code]) for code in rule.codes)} {shares}"
    first, last = rule.codes
    picked = _interval(column, first, last)
    is_exact = rule.inside == group.size and rule.outside == 0
    others = _ranges_outside(column, first, last) if is_exact and not (column.codes == MISSING).any() else []
    return f"{column.name} {picked} {f'(all others {_either(others)})' if others else shares}"


def percent(part: int, whole: int) -> str:
    """Return a share in percent; 0 % and 100 % mean none and all."""
    rounded = round(100 * part / whole)
    if rounded == 0 and part:
        return "under 1 %"
    return "over 99 %" if rounded == 100 and part < whole else f"{rounded} %"


def shortened(text: Any) -> str:
    """Return a text in one line of at most LONGEST_TEXT characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _either(ranges: list[str]) -> str:
    return " or ".join(ranges)


def _ranges_outside(column: Column, first: int, last: int) -> list[str]:
    """Return the one or two ranges of values below and above an interval."""
    ranges = [(0, first - 1), (last + 1, column.values.size - 1)]
    return [_interval(column, low, high) for low, high in ranges if low <= high]


def _interval(column: Column, first: int, last: int) -> str:
    """Return an interval from its first and last code; `= 3` if it is a single value."""
    if first == last:
        return f"= {exact(column, first)}"
    low, high = bound(column, first, ROUND_FLOOR), bound(column, last, ROUND_CEILING)
    return f"{low} to {high}"


def bound(column: Column, code: int, rounding: str) -> str:
    """Return the lower or upper end of an interval, rounded outwards.

    Rounding moves it by less than half the way to the next value of the column and 1 % of the column's range.

    Parameters
    ----------
    column : Column
        The column.
    code : int
        The value at the end of the interval.
    rounding : str
        ROUND_FLOOR for a lower end, ROUND_CEILING for an upper one.

    Returns
    -------
    str
        The number with the fewest digits that leaves the same values inside.
    """
    value = column.values[code]
    if column.values.dtype.kind != "f" or not np.isfinite(value) or value == np.trunc(value):
        return exact(column, code)
    step = -1 if rounding == ROUND_FLOOR else 1
    room = FINE * (float(column.values[-1]) - float(column.values[0]))
    if 0 <= code + step < column.values.size:
        room = min(room, abs(float(column.values[code + step]) - float(value)) / 2)
    for digits in range(LEAST_DIGITS, MOST_DIGITS):
        rounded = _rounded(float(value), digits, rounding)
        if abs(float(rounded) - float(value)) < room:
            return _written(rounded)
    return _written(Decimal(repr(float(value))))


def exact(column: Column, code: int) -> str:
    """Return a value of a column in full."""
    value = column.values[code]
    if column.kind == DATE:
        return str(value.astype(f"datetime64[{_resolution(column.values)}]")).replace("T", " ")
    if column.kind == DURATION:
        return str(value.astype("timedelta64[us]").item())
    if column.kind != "number":
        return shortened(value)
    if value != np.trunc(value) or not np.isfinite(value) or abs(value) >= PLAIN[1]:
        return _written(Decimal(str(value)))
    return f"{int(value)}" if "year" in column.name.lower() else f"{int(value):,}"


def _rounded(value: float, digits: int, rounding: str) -> Decimal:
    number = Decimal(repr(value))
    return number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), rounding=rounding)


def _written(number: Decimal) -> str:
    """Write a number with thousands separated, or with an exponent if it is very large or small."""
    if number.is_finite() and (number == 0 or PLAIN[0] <= abs(number) < PLAIN[1]):
        text = f"{number:,f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{float(number):.{MOST_DIGITS}g}" if not number.is_finite() else f"{number.normalize():e}"


def _resolution(values: NDArray[Any]) -> str:
    """Return the coarsest unit in which dates keep everything: days, minutes, seconds or microseconds."""
    return next((unit for unit in ("D", "m", "s") if (values.astype(f"datetime64[{unit}]") == values).all()), "us")
