"""Data that was recorded in steps is computed in these steps, exactly.

Most columns of tables are rounded: to whole years, to tenths of a millimetre. Their distances are full of ties, and
every shift, factor and conversion breaks them by rounding, each in another way. So a column whose values are whole
multiples of one step becomes these multiples, as integers, times the ratio of its step to the smallest one. Then ties
are ties, and data that is shifted, scaled, stored as float32 or disturbed far below its rounding has the same
coordinates to the last bit: whatever follows cannot tell it apart.

- A step is the smallest gap between two values, or that gap divided by a small number. If a value is farther from a
  multiple than a thousandth of a step, the column has no steps.
- Values that form chains of a width far below the gaps between the chains differ by noise: each chain is one value,
  whether the chains are in steps or not.
- A column with neither has no ties to speak of, and one such column is enough to break those of the others: the data
  stays as it is. Most of them are recognised from the values around their median, so that continuous data costs next to
  nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances.euclidean import ENTRIES_AT_A_TIME, EuclideanDistances
from kfuse.core.execution import SERIAL, Execution

MOST_DIVISIONS = 32  # of the smallest gap between two values
LARGEST_RESIDUE = 2.0**-10  # of a step: how far from a whole multiple a value may be; float32 makes such residues
MOST_STEPS = 2.0**42  # between two values: beyond, float64 cannot tell multiples from other values
RATIO_BITS = 20  # of the ratio of two steps
WIDEST_CHAIN = 2.0**-24  # of the gap between chains: what is wider is not noise
FEWEST_PLACES = 10  # that noise may leave: fewer, and the chains are groups of samples, far apart
GUESSED_ROWS = 256  # from which a step is guessed
SHORT_TABLE = 2**16  # of the value of each multiple, if it is not shorter than the column anyway
WINDOW = 512  # values around the median that tell whether a large column is continuous, ...
FEWEST_DISTINCT = 64  # ... if so many of them differ ...
NARROWEST_WINDOW = 2.0**-16  # ... and they cover so much of the column's extent


class Recorded(NamedTuple):
    """How a column was recorded: in multiples of a step above the least value, or as the middles of chains."""

    least: float
    step: float  # zero if there is none: all values are the same, or they are chains without steps
    chains: Chains | None = None

    def values(self, column: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
        """Return a column as it was recorded, in multiples of `unit`; zero is the data's own unit."""
        if self.chains is not None:
            column = self.chains.middles[np.searchsorted(self.chains.starts, column, side="right") - 1]
        if unit == 0.0:
            return column
        return np.rint((column - self.least) / (self.step or unit)) * round_ratio((self.step or unit) / unit)


class Chains(NamedTuple):
    """Values that differ by noise only: where each chain starts, and the value that stands for it."""

    starts: NDArray[np.float64]
    middles: NDArray[np.float64]


CONTINUOUS: Literal["continuous"] = "continuous"
Look: TypeAlias = Recorded | Literal["continuous"] | None  # at one column; None leaves it open


class Column(Protocol):
    """A column of the data, wherever its values are."""

    def in_guessed_step(self) -> Recorded | None:
        """Guess a step from a few values; return how the column is recorded in it, or None if it is not."""

    def in_multiples(self, step: float) -> Recorded | None:
        """Return how the column is recorded in a step, or None if it is not in that step."""

    def is_continuous(self) -> bool:
        """Return whether the values around the median show that there are no steps."""

    def sorted_out(self) -> Recorded | None:
        """Find how the column was recorded from all its distinct values, or None."""


def in_steps(distances: EuclideanDistances, execution: Execution = SERIAL) -> EuclideanDistances:
    """Return the same distances between samples as they were recorded, in multiples of the smallest step."""
    silent = Execution(execution.n_threads)
    columns = recorded_columns(distances.points, silent)
    if columns is None:
        return distances
    unit = unit_of_steps(columns)
    if unit is None:
        return distances
    points = _written(distances.points, columns, unit, distances.points.dtype, silent)
    if any(column.chains for column in columns) and len(np.unique(points, axis=0)) < FEWEST_PLACES:
        return distances
    stepped = copy(distances)
    stepped.points, stepped.unit, stepped.step = points, distances.unit * (unit or 1.0), float(unit > 0.0)
    return stepped


def unit_of_steps(columns: list[Recorded]) -> float | None:
    """Return the smallest step, zero for the data's own unit; None if one column does not matter beside another."""
    steps = [column.step for column in columns if column.step > 0.0]
    has_steps = all(column.step > 0.0 or column.chains is None for column in columns)
    unit = min(steps) if steps and has_steps else 0.0
    return None if unit > 0.0 and max(steps) / unit > MOST_STEPS else unit


def _written(
    points: NDArray[Any], columns: list[Recorded], unit: float, dtype: Any, execution: Execution
) -> NDArray[Any]:
    """Write all columns as they were recorded, in double precision if `dtype` does not hold them."""
    written = np.empty(points.shape, dtype)

    def write(start: int, stop: int) -> bool:
        exact = _contiguous_columns(points, start, stop)
        for column, values in zip(columns[start:stop], exact, strict=True):
            values[:] = column.values(values, unit)
        written[:, start:stop] = exact.T
        return dtype != np.float32 or np.array_equal(written[:, start:stop], exact.T)

    if not all(execution.over_ranges(write, len(columns), _columns_at_a_time(points))):
        return _written(points, columns, unit, np.float64, execution)
    return written


def recorded_columns(points: NDArray[Any], execution: Execution = SERIAL) -> list[Recorded] | None:
    """Find how each column was recorded, or None if one of them is continuous.

    The first columns come first, alone: mostly, they tell whether the data is continuous.
    """

    def look(start: int, stop: int) -> list[Look]:
        looks: list[Look] = []
        for values in _contiguous_columns(points, start, stop):
            looks.append(look_at(InMemory(values)))
            if looks[-1] == CONTINUOUS:
                break
        return looks

    n_columns, size = points.shape[1], _columns_at_a_time(points)
    looks = look(0, min(size, n_columns))
    if n_columns > size and CONTINUOUS not in looks:
        others = execution.over_ranges(lambda start, stop: look(start + size, stop + size), n_columns - size, size)
        looks += [one for part in others for one in part]
    return completed(looks, lambda number: InMemory(points[:, number].astype(np.float64)))


def how_recorded(columns: Sequence[Column]) -> list[Recorded] | None:
    """Find how each column was recorded, or None if one of them is continuous."""
    return completed(map(look_at, columns), columns.__getitem__)


def look_at(column: Column) -> Look:
    """Look how a column was recorded by itself; None if it shows neither a step nor that it is continuous."""
    recorded = column.in_guessed_step()
    if recorded is not None:
        return recorded
    return CONTINUOUS if column.is_continuous() else column.sorted_out()


def completed(looks: Iterable[Look], again: Callable[[int], Column]) -> list[Recorded] | None:
    """Return how each column was recorded, or None if one of them is continuous; `again` returns one by its number."""
    found: list[Recorded | None] = []
    for look in looks:
        if look == CONTINUOUS:
            return None
        found.append(look)
    smallest = min((column.step for column in found if column is not None and column.step), default=0.0)
    for number, recorded in enumerate(found):
        if recorded is None:  # a few values far apart may show no step, but be in the steps of the others
            found[number] = again(number).in_multiples(smallest)
    known = [recorded for recorded in found if recorded is not None]
    return known if len(known) == len(found) else None


class InMemory(NamedTuple):
    """A column in memory."""

    values: NDArray[np.float64]

    def in_guessed_step(self) -> Recorded | None:
        few = self.values[rows_to_guess_from(self.values.size)]
        return self.in_multiples(guessed_step(few, self.values.min(), self.values.max()))

    def in_multiples(self, step: float) -> Recorded | None:
        return in_multiples(self.values, step, self.values.size)

    def is_continuous(self) -> bool:
        if self.values.size <= WINDOW:
            return False
        first = first_of_window(self.values.size)
        window = np.partition(self.values, (first, first + WINDOW - 1))[first : first + WINDOW]
        return is_continuous(np.unique(window), float(np.ptp(self.values)))

    def sorted_out(self) -> Recorded | None:
        return sorted_out(np.unique(self.values))


def _contiguous_columns(points: NDArray[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Return copies of some columns, one row each: the columns of wide data are slow to read one by one."""
    return np.array(points[:, start:stop].T, dtype=np.float64, order="C")


def _columns_at_a_time(points: NDArray[Any]) -> int:
    return max(1, ENTRIES_AT_A_TIME // len(points))


def rows_to_guess_from(n_samples: int) -> NDArray[np.intp]:
    """Return the rows whose values a step is guessed from."""
    return np.linspace(0, n_samples - 1, min(n_samples, GUESSED_ROWS)).astype(np.intp)


def guessed_step(few: NDArray[np.float64], least: float, greatest: float) -> float:
    """Guess the step of a column from a few of its values; zero if they have none."""
    sampled = np.unique(np.append(few, [least, greatest]))
    multiples = multiples_of_step(sampled)
    return 0.0 if multiples is None else float((sampled[-1] - sampled[0]) / max(multiples[-1], 1.0))


def in_multiples(values: NDArray[np.float64], step: float, n_samples: int) -> Recorded | None:
    """Return how a column is recorded in a step, or None if it is not in that step, or two values have one multiple.

    `values` are those of all samples, or the distinct ones.
    """
    least, extent = float(values.min()), float(np.ptp(values))
    if extent == 0.0:
        return Recorded(least, 0.0)
    if not has_room(step, extent, n_samples):
        return None
    multiples = np.rint((values - least) / step)
    if not _are_multiples(values, multiples, least, step):
        return None
    number = multiples.astype(np.intp)
    value = np.empty(number.max() + 1)
    value[number] = values
    return Recorded(least, _step(multiples, extent)) if (value[number] == values).all() else None


def has_room(step: float, extent: float, n_samples: int) -> bool:
    """Return whether a column of some extent can be in a step, with a table of its multiples."""
    return step <= extent < max(SHORT_TABLE, 4 * n_samples) * step


def are_multiples(values: NDArray[np.float64], least: float, step: float) -> bool:
    """Return whether values are multiples of a step above the least of the column."""
    return _are_multiples(values, np.rint((values - least) / step), least, step)


def first_of_window(n_samples: int) -> int:
    """Return the rank of the first of the `WINDOW` values around the median."""
    return (n_samples - WINDOW) // 2


def is_continuous(window: NDArray[np.float64], extent: float) -> bool:
    """Return whether the distinct values around the median show that a column has no steps; False if not sure."""
    if window.size < FEWEST_DISTINCT or window[-1] - window[0] < NARROWEST_WINDOW * extent:
        return False
    return not ends_of_chains(np.diff(window)).size and multiples_of_step(window) is None


def sorted_out(distinct: NDArray[np.float64]) -> Recorded | None:
    """Find how a column was recorded from all its distinct values; None if they have neither steps nor chains."""
    multiples = multiples_of_step(distinct)
    if multiples is not None:
        return Recorded(distinct[0], _step(multiples, distinct[-1] - distinct[0]))
    chains = find_chains(distinct)
    if chains is None:
        return None
    middles = chains.middles
    multiples = multiples_of_step(middles)
    step = 0.0 if multiples is None else _step(multiples, middles[-1] - middles[0])
    return Recorded(middles[0], step, chains)


def multiples_of_step(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return ascending, distinct values as multiples of a step above the first of them, or None."""
    gaps = np.diff(values)
    smallest = gaps.min(initial=np.inf)
    if values[-1] - values[0] > MOST_STEPS * smallest:
        return None
    finest = np.partition(gaps, FEWEST_DISTINCT - 1)[:FEWEST_DISTINCT] if gaps.size > FEWEST_DISTINCT else gaps
    for division in range(1, MOST_DIVISIONS + 1):
        if _may_be_multiples(finest, smallest / division):
            step, multiples = fitted_step(gaps, smallest / division)
            if _are_multiples(values, multiples, values[0], step):
                return multiples
    return None


def _may_be_multiples(gaps: NDArray[np.float64], step: float) -> bool:
    """Return whether the smallest gaps leave it open that all values are multiples of a step.

    They rule out most divisions: float32 numbers are multiples of a step wherever they are large, but not near zero. A
    gap is off by two residues at most, and by what those of the others do to the fitted step.
    """
    step, multiples = fitted_step(gaps, step)
    counts = np.diff(multiples)
    allowed = 2.0 * LARGEST_RESIDUE * (1.0 + 2.0 * counts / max(1.0, counts.sum() / max(1, counts.size)))
    return bool((np.abs(gaps - counts * step) <= allowed * step).all())


def fitted_step(gaps: NDArray[np.float64], step: float) -> tuple[float, NDArray[np.float64]]:
    """Fit a step to gaps, the smallest first, since a small error of the step adds up in large ones."""
    counts = np.rint(gaps / step)
    for most in (2.0**4, 2.0**10, 2.0**20, np.inf):
        known = counts <= most
        if known.any():
            step = gaps[known].sum() / max(1.0, counts[known].sum())
            counts = np.rint(gaps / step)
    multiples = np.append(0.0, np.cumsum(counts))
    return gaps.sum() / max(1.0, multiples[-1]), multiples


def _are_multiples(values: NDArray[np.float64], multiples: NDArray[np.float64], least: float, step: float) -> bool:
    """Return whether values are multiples of a step above the least of them, but for rounding."""
    return bool((np.abs(values - least - multiples * step) <= LARGEST_RESIDUE * step).all())


def _step(multiples: NDArray[np.float64], extent: float) -> float:
    """Return the largest step that multiples of a step allow, which does not depend on how that one was found."""
    few = int(np.gcd.reduce(multiples[:GUESSED_ROWS].astype(np.int64)))
    divisor = few if few == 1 else int(np.gcd.reduce(multiples.astype(np.int64)))
    return float(extent / (multiples.max() / divisor))


def find_chains(distinct: NDArray[np.float64]) -> Chains | None:
    """Find chains of ascending values that are far narrower than the gaps between chains; None if there are none."""
    gaps = np.diff(distinct)
    for largest in ends_of_chains(gaps)[::-1]:
        begins = np.flatnonzero(np.append(True, gaps > largest))
        starts, widths = distinct[begins], distinct[np.append(begins[1:], distinct.size) - 1] - distinct[begins]
        if widths.max() <= WIDEST_CHAIN * gaps[gaps > largest].min():
            return Chains(starts, starts + widths / 2.0)
    return None


def ends_of_chains(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gaps that may be the largest ones inside of chains: the next larger gap is far larger."""
    ascending = np.sort(gaps)
    return ascending[:-1][ascending[:-1] <= WIDEST_CHAIN * ascending[1:]]


def round_ratio(ratio: float) -> float:
    """Round the ratio of two steps, so that what was rounded before does not matter."""
    mantissa, exponent = np.frexp(ratio)
    return float(np.ldexp(np.rint(np.ldexp(mantissa, RATIO_BITS)), exponent - RATIO_BITS))
