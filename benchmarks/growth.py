"""Growth of time with the number of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence


def exponent(n_small: int, seconds_small: float, n_large: int, seconds_large: float) -> float:
    """Return the exponent of n in the growth of time between two sizes.

    Examples
    --------
    >>> exponent(1000, 0.5, 10000, 50.0)
    2.0
    """
    return math.log(seconds_large / seconds_small) / math.log(n_large / n_small)


def expected_seconds(n_samples: int, measured: Sequence[tuple[int, float]]) -> float:
    """Extrapolate the time at a size from the last two smaller ones; 0 with fewer than two.

    Examples
    --------
    >>> expected_seconds(1000, [(10, 0.1), (100, 10.0)])
    1000.0
    """
    if len(measured) < 2:
        return 0.0
    n_last, seconds_last = measured[-1]
    return seconds_last * (n_samples / n_last) ** exponent(*measured[-2], *measured[-1])
