"""Repeat fits for a given time and look for drift: `python -m tests.hostile.long_run --minutes 60`.

The same round of fits, of random shapes and kinds, is repeated. Each line shows the time, the number of fits, the
resident memory and a hash of all results of the round. The run fails if the hash changes, if memory in the last quarter
exceeds that of the second by more than 5 %, or if threads or open files accumulate.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import os
import pickle
import sys
import threading
import time
import warnings
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from kfuse import KFuse

ROUND = 200  # fits
GROWTH = 1.05  # of memory, up to which it does not count as drift


class Line(NamedTuple):
    """The measurements after a round."""

    seconds: float
    n_fits: int
    megabytes: float
    n_threads: int
    n_files: int
    digest: str


def main() -> None:
    """Run rounds until the time is up; fail on drift."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fits", type=int, default=ROUND, help="fits in a round")
    options = parser.parse_args()
    found = drift(run(options.minutes * 60, options.seed, options.fits))
    print(found or "no drift")
    sys.exit(bool(found))


def run(seconds: float, seed: int, n_fits: int) -> list[Line]:
    """Repeat the round at least four times, and print a line after each."""
    began, lines = time.monotonic(), list[Line]()
    while len(lines) < 4 or time.monotonic() - began < seconds:
        digest = one_round(seed, n_fits)
        line = Line(time.monotonic() - began, (len(lines) + 1) * n_fits, *resources(), digest)
        lines.append(line)
        print(
            f"{line.seconds:8.0f} s {line.n_fits:8} fits {line.megabytes:8.1f} MB {line.n_threads:3} threads "
            f"{line.n_files:3} files {line.digest}",
            flush=True,
        )
    return lines


def one_round(seed: int, n_fits: int) -> str:
    """Fit, pickle, cut and predict on random data; return a hash of all results."""
    digest = hashlib.sha256()
    for number in range(n_fits):
        rng = np.random.default_rng([seed, number])
        n_samples = int(10 ** rng.uniform(0.5, 4.0 if number % 10 == 0 else 2.8))
        n_features = int(rng.choice([1, 2, 3, 8, 30]))
        X = rng.standard_normal((n_samples, n_features)) + rng.integers(0, 4, (n_samples, 1)) * 5
        X = X.astype(rng.choice([np.float64, np.float32])).round(int(rng.choice([1, 9])))
        fusion = str(rng.choice(["adaptive", "paper"]))
        metric = str(rng.choice(["euclidean", "euclidean", "manhattan"])) if n_samples < 1000 else "euclidean"
        model = KFuse(min(3, n_samples), fusion=fusion, metric=metric, n_jobs=int(rng.choice([1, 2])))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The data has")
            model = pickle.loads(pickle.dumps(model.fit(X)))
            found = (model.labels_, model.density_, model.tree_.log_index, model.cut(2) if n_samples > 1 else X)
        for array in (*found, model.predict(X[:50])):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def resources() -> tuple[float, int, int]:
    """Return the resident memory in megabytes and the numbers of threads and open files."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return resident / 1024, threading.active_count(), len(os.listdir("/proc/self/fd"))


def drift(lines: list[Line]) -> str:
    """Return what drifts, or an empty string; the first quarter, which compiles and fills caches, is ignored."""
    quarter = len(lines) // 4
    early, late = lines[quarter : 2 * quarter], lines[-quarter:]
    if len({line.digest for line in lines}) > 1:
        return "DRIFT: results changed"
    before, after = (median(line.megabytes for line in part) for part in (early, late))
    if after > GROWTH * before:
        return f"DRIFT: memory grew from {before:.1f} to {after:.1f} MB"
    for name in ("n_threads", "n_files"):
        if max(getattr(line, name) for line in late) > max(getattr(line, name) for line in early):
            return f"DRIFT: {name} grew"
    return ""


if __name__ == "__main__":
    main()
