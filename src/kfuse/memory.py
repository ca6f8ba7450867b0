"""What a fit takes of memory, and words for when there is too little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BYTES_PER_NEIGHBOR = 52  # of a sample, at the most: `reliability.faults` measures it
FEWEST_NEIGHBORS, NEIGHBORS_PER_FEATURE, MOST_NEIGHBORS = 32, 11, 400  # that a sample has; a rough guess
FEW_SAMPLES = 5_000  # whose memory is not worth a look at what is free
SHARE_TO_USE = 0.7  # of the memory that is left
FIRST_WORDS = "Not enough memory to cluster"
NO_MORE_THREADS = "can't start new thread"  # for want of memory, or of permission


@contextmanager
def explained(n_samples: int, n_features: int) -> Iterator[None]:
    """Say what would fit if the memory does not suffice.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the data.

    Raises
    ------
    MemoryError
        With what the data takes, how many of its samples would fit, and what to do.
    """
    free = left() if n_samples > FEW_SAMPLES else None  # before anything is made
    try:
        yield
    except MemoryError as error:
        raise MemoryError(_words(n_samples, n_features, free)) from error
    except RuntimeError as error:
        if NO_MORE_THREADS not in str(error):
            raise
        words = _words(n_samples, n_features, free)
        raise MemoryError(f"{words} Fewer threads, n_jobs=1, take less.") from error


def needed(n_samples: int, n_features: int) -> float:
    """Guess the bytes that a fit takes beside the data.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the data.

    Returns
    -------
    float
        The bytes: rather too many than too few.
    """
    neighbors = min(max(FEWEST_NEIGHBORS, NEIGHBORS_PER_FEATURE * n_features), MOST_NEIGHBORS, n_samples)
    return float(BYTES_PER_NEIGHBOR) * n_samples * neighbors


def left() -> float | None:
    """Find the bytes that this process may still take; None where the system does not say.

    Returns
    -------
    float or None
        The least of what the limits of the process and the machine leave.
    """
    try:
        import resource  # noqa: PLC0415 - not on Windows

        status = _numbers(Path("/proc/self/status"))
        free = [_numbers(Path("/proc/meminfo"))["MemAvailable"]]
        for kind, used in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
            limit = resource.getrlimit(kind)[0]
            if limit != resource.RLIM_INFINITY:
                free.append(limit - status[used])
    except (ImportError, OSError, KeyError, ValueError, MemoryError):
        return None
    return max(0.0, min(free))


def _numbers(path: Path) -> dict[str, float]:
    """Read the lines "name: 123 kB" of a file of the system."""
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return {name: float(rest.split()[0]) * 1024 for name, _, rest in lines if rest.strip().endswith("kB")}


def _words(n_samples: int, n_features: int, free: float | None) -> str:
    takes = needed(n_samples, n_features)
    most = n_samples / 2 if free is None else min(n_samples / 2, n_samples * SHARE_TO_USE * free / takes)
    data = f"{n_samples:,} samples with {n_features:,} features"
    words = f"{FIRST_WORDS} {data}, which may take {_size(takes)} beside the data"
    if most < 1:
        return f"{words}: there is next to none left."
    return f"{words}: fit a random part of some {_rounded(most):,} samples, and label the others with predict."


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GB" if n_bytes >= 2**30 else f"{max(1, n_bytes / 2**20):.0f} MB"


def _rounded(number: float) -> int:
    """Round down to one digit and zeros."""
    unit = 10 ** (len(str(int(number))) - 1)
    return int(number) // unit * unit
