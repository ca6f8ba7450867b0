"""What a distance is: one class per kind of input, each returning rows of distances on demand.

A distance between two samples has one value, whichever search asks for it and in whichever block: Euclidean sums run
over the features in order, in float64. So ties between equal distances are real ties, in every code path.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

# Squares of coordinates beyond these leave the range of float64.
LARGEST, SMALLEST = 1e150, 1e-100


class Distances(Protocol):
    """Distances from some samples to all of them.

    They are in multiples of `unit`: multiply by it to get the distance in the data's own unit. It is 1 unless the data
    is so large or small that squares would overflow.
    """

    n_samples: int
    unit: float
    step: float  # that coordinates are whole multiples of, in multiples of `unit`; zero if of none
    is_zero_if_identical: bool  # False where rounding may leave a distance between identical samples
    compared_by: Literal["boxes", "stored", "rows"]  # how to find the least distance between two sets of samples

    @property
    def points(self) -> NDArray[Any] | None:
        """The samples' coordinates, if they have any."""

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances from `samples` to every sample, one row each."""

    def pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distance between each two samples; infinite if it is not known."""

    def subset(self, kept: NDArray[np.intp]) -> Distances:
        """Return the same distances between some of the samples."""


def unit_of(X: NDArray[Any]) -> float:
    """Return the power of two that brings extreme data into the range where squares are safe, else 1."""
    largest = max(float(X.max(initial=0)), -float(X.min(initial=0)))
    if largest in (0, np.inf) or SMALLEST < largest < LARGEST or X.dtype == np.float32:
        return 1.0
    return float(2.0 ** (np.frexp(largest)[1] - 1))
