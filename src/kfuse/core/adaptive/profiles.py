"""The distance profile of each sample: all that later stages read from the distances to its k nearest neighbours.

These distances are most of what a fit would have to hold. In few dimensions they are quickly computed again
(`kfuse.core.search.Nearest`), so they are gone through once, a range of samples at a time, and not kept.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core import noise
from kfuse.core.adaptive import neighborhoods, scales
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.natural import sum_in_order
from kfuse.core.search import Nearest

SAMPLES_PER_PART = 2**15


class Profiles(NamedTuple):
    """What each sample's distances come to."""

    total: NDArray[np.float64]  # the sum over all k neighbours, for the density, ...
    total_of_few: NDArray[np.float64]  # ... and over the nearest few, for noise
    farthest: NDArray[np.float64]  # the distance to the last neighbour
    spread: NDArray[np.float64]  # as `neighborhoods.spreads_of` has it
    radii: NDArray[np.float64]  # (n_samples, n_scales) and ...
    spreads: NDArray[np.float64]  # ... (n_samples, n_scales), as in `scales.Scales`


def read_profiles(nearest: Nearest, step: float, execution: Execution = SERIAL) -> Profiles:
    """Go through the distances of all samples; `step` is that of their coordinates."""
    n_samples, k = nearest.indices.shape
    shape = n_samples, scales.counts_of_scales(k).size
    # A mean depends on the order in memory: that of the spreads is column by column.
    zeros, unknown = partial(np.zeros, n_samples), np.full(n_samples, -1.0)
    profiles = Profiles(zeros(), zeros(), zeros(), unknown, np.empty(shape), np.empty(shape, order="F"))
    if k == 0:  # one place
        return profiles

    def read(start: int, stop: int) -> None:
        part, distances = slice(start, stop), nearest.distances_of(slice(start, stop))
        at_scales = scales.all_scales(distances, step)
        found = (
            sum_in_order(distances),
            sum_in_order(distances[:, : noise.FEW]),
            distances[:, -1],
            neighborhoods.spreads_of(distances),
            at_scales.radii,
            at_scales.spreads,
        )
        for whole, values in zip(profiles, found, strict=True):
            whole[part] = values

    Execution(execution.n_threads).over_ranges(read, n_samples, SAMPLES_PER_PART)
    return profiles
