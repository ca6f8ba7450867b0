"""How much memory there is, and a `MemoryError` that says how much a fit takes and how many samples would fit."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BYTES_PER_NEIGHBOR = 52  # upper bound, for each sample
FEWEST_NEIGHBORS, NEIGHBORS_PER_FEATURE, MOST_NEIGHBORS = 32, 11, 400  # rough bounds of the neighbours per sample
USABLE_SHARE = 0.7  # of the machine's memory
FIRST_WORDS = "Not enough memory to cluster"
SHARE_FOR_TABLE = 0.5  # of the machine's memory, that a table may take
USUAL_MEMORY = 8 << 30  # assumed where the system does not report how much it has
OF_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
OF_MACHINE = Path("/proc/meminfo")
OF_PROCESS = Path("/proc/self/statm")
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


def available(set_aside: int = 0) -> int:
    """Return how many bytes a table may take here: half of the machine's memory, and no more than is left.

    What is left is the least of what the machine has free, what its container allows, and what is missing to the limit
    of this process, as `ulimit -v` sets it. That limit is one of address space, of which threads set much aside.

    Parameters
    ----------
    set_aside : int, default=0
        The address space that threads will take.

    Returns
    -------
    int
        A number of bytes.
    """
    total = min(_total_memory(), *map(_number_in, OF_CONTAINER))
    most = SHARE_FOR_TABLE * (total if math.isfinite(total) else USUAL_MEMORY)
    return max(0, int(min(most, _free_memory(), _left_to_limit() - set_aside)))


def _number_in(path: str) -> float:
    """Return the number that a file of the system holds, infinity if there is none."""
    with suppress(OSError, ValueError):
        return float(Path(path).read_text(encoding="ascii"))
    return math.inf


def _free_memory() -> float:
    """Return the bytes that the machine can hand out without swapping, infinity where it does not report it."""
    with suppress(OSError, ValueError):
        for line in OF_MACHINE.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    return math.inf


def _left_to_limit() -> float:
    """Return how many bytes this process may add to its address space, infinity if it has no limit."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return math.inf
    with suppress(OSError, ValueError):
        return float(limit - int(OF_PROCESS.read_text(encoding="ascii").split()[0]) * resource.getpagesize())
    return float(limit)
