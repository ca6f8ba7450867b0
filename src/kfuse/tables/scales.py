"""Scale columns of numbers so that one counts as much as another.

Every scaling but "standard" and "none" makes the bulk of a column span about one unit, so that columns may be scaled in
different ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scale = Literal["auto", "minmax", "standard", "robust", "log", "none"]
Floats = NDArray[np.float64]

LEAST_ROWS = 20  # below that, percentiles mean little
MOST_SKEW = 4.0  # of the upper half to the lower half between the 5th and 95th percentiles, in one unit
MOST_TAIL = 4.0  # of the farthest value to the 95th (5th) percentile, as distances from the median
TITLES = {"minmax": "min-max", "standard": "standard", "robust": "robust", "log": "log", "none": "as it is"}


def choose(values: Floats) -> Scale:
    """Choose the scaling of a column for "auto".

    With m the median and q the 5th and 95th percentiles: "log" if no value is negative and the upper part, from m to
    q95, is more than `MOST_SKEW` times as long as the lower part; else "robust" if the maximum (minimum) is more than
    `MOST_TAIL` times as far from m as q95 (q5); else "minmax". Columns with fewer than `LEAST_ROWS` rows or whose
    percentiles coincide are scaled by "minmax".

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.

    Returns
    -------
    {"minmax", "robust", "log"}
        The scaling.
    """
    if values.size < LEAST_ROWS:
        return "minmax"
    low, q05, median, q95, high = np.percentile(values, [0, 5, 50, 95, 100])
    upper, lower = q95 - median, median - q05
    if low >= 0 and upper > MOST_SKEW * lower and upper > 0:
        return "log"
    if upper > 0 and lower > 0 and (high - median > MOST_TAIL * upper or median - low > MOST_TAIL * lower):
        return "robust"
    return "minmax"


def scaled(values: Floats, scale: Scale) -> Floats:
    """Scale a column by a named scaling.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite numbers.
    scale : {"minmax", "standard", "robust", "log", "none"}
        The scaling.

    Returns
    -------
    ndarray of shape (n_samples,)
        The scaled column; a constant column becomes 0 unless `scale` is "none".
    """
    return _SCALINGS[scale](values)


def is_too_wide(values: Floats) -> bool:
    """Return whether the range of a column overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(values.max(initial=-np.inf) - values.min(initial=np.inf)) and values.size > 0


def _minmax(values: Floats) -> Floats:
    """Scale to [0, 1] with the roundings of scikit-learn's MinMaxScaler, which decide between ties of rounded data."""
    width = np.ptp(values)
    factor = 1.0 / width if width > 0 else 1.0
    return values * factor - values.min() * factor


def _standard(values: Floats) -> Floats:
    deviation = values.std()
    return (values - values.mean()) / (deviation if deviation > 0 else 1.0)


def _robust(values: Floats) -> Floats:
    """Let the middle 90 % span one unit; extreme values lie outside of it instead of squeezing the others."""
    q05, median, q95 = np.percentile(values, [5, 50, 95])
    return (values - median) / (q95 - q05) if q95 > q05 else _minmax(values)


def _log(values: Floats) -> Floats:
    """Take logarithms of multiples of the median size, which do not depend on the unit, and scale to [0, 1]."""
    sizes = np.abs(values)
    usual = np.median(sizes[sizes > 0]) if sizes.any() else 1.0
    return _minmax(np.sign(values) * np.log1p(sizes / usual))


_SCALINGS: dict[Scale, Callable[[Floats], Floats]] = {
    "minmax": _minmax,
    "standard": _standard,
    "robust": _robust,
    "log": _log,
    "none": lambda values: values,
}
