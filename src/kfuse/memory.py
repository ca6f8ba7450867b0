"""A `MemoryError` that says how much memory a fit takes and how many samples would fit."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

BYTES_PER_NEIGHBOR = 52  # upper bound, for each sample
FEWEST_NEIGHBORS, NEIGHBORS_PER_FEATURE, MOST_NEIGHBORS = 32, 11, 400  # rough bounds of the neighbours per sample
USABLE_SHARE = 0.7  # of the machine's memory
FIRST_WORDS = "Not enough memory to cluster"
NO_MORE_THREADS = "can't start new thread"  # Python's RuntimeError when there is no memory for another stack


@contextmanager
def explained(n_samples: int, n_features: int) -> Iterator[None]:
    """Re-raise MemoryError with an estimate of how many samples would fit."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(_message(n_samples, n_features)) from error
    except RuntimeError as error:
        if NO_MORE_THREADS not in str(error):
            raise
        raise MemoryError(f"{_message(n_samples, n_features)} n_jobs=1 needs less memory.") from error


def _message(n_samples: int, n_features: int) -> str:
    neighbors = min(max(FEWEST_NEIGHBORS, NEIGHBORS_PER_FEATURE * n_features), MOST_NEIGHBORS, n_samples)
    needed = BYTES_PER_NEIGHBOR * n_samples * neighbors
    fitting = max(1, int(min(n_samples / 2, n_samples * USABLE_SHARE * _total_memory() / needed)))
    unit = 10 ** (len(str(fitting)) - 1)  # one significant digit: it is an estimate
    size = f"{needed / 2**30:,.1f} GB" if needed >= 2**30 else f"{max(1, needed / 2**20):.0f} MB"
    return (
        f"{FIRST_WORDS} {n_samples:,} samples with {n_features:,} features: the fit may need {size} in addition to the "
        f"data. Fit a random subset of about {fitting // unit * unit:,} samples and label the rest with predict."
    )


def _total_memory() -> float:
    """Return the machine's memory in bytes; infinity where the system does not report it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf
