"""Measure one fit in a separate process with limits of time and memory.

``python -m benchmarks.measure METHOD FOLDER SECONDS`` is that process. It prints one line of JSON. It first fits 1,000
samples of the same data, so that imports, compilation and the start of threads are not measured.

Memory is the largest resident size of the process: `peak_mb` at the end, including interpreter, libraries and data, and
`added_mb`, the increase during the fit. Worker processes that a method starts are not counted.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks import data
from benchmarks.methods import ALL_METHODS

N_WARM = 1000
POLL_SECONDS = 0.1
KILO = 1024

OK = "ok"
OUT_OF_TIME = "out of time"
OUT_OF_MEMORY = "out of memory"
FAILED = "failed"
NOT_RUN = "not run"


def peak_mb() -> float:
    """Return the largest resident size of this process so far.

    On Linux, a child process inherits ru_maxrss from its parent; VmHWM starts from zero.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / KILO
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / KILO**2 if sys.platform == "darwin" else peak / KILO


def fit_once(method: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Fit once, warm, in this process, which the system terminates after `seconds`."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415

    make = ALL_METHODS[method]
    X, y, facts = data.read(folder)
    warm = np.random.default_rng(0).choice(len(X), size=min(len(X), N_WARM), replace=False)
    make(facts._replace(n_samples=len(warm))).fit(X[warm])
    model = make(facts)
    before = peak_mb()
    signal.setitimer(signal.ITIMER_REAL, seconds)  # unhandled, so that it also interrupts compiled code
    start = time.perf_counter()
    labels = model.fit(X).labels_
    took = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    peak = peak_mb()
    known = y != data.NOISE
    return {
        "seconds": round(took, 5),
        "added_mb": round(peak - before, 1),
        "peak_mb": round(peak, 1),
        "ari": round(float(adjusted_rand_score(y[known], labels[known])), 4),
        "clusters": int(np.max(labels)) + 1,
    }


def in_fresh_process(method: str, folder: Path, seconds: float, memory_gb: float) -> dict[str, Any]:
    """Measure one fit in a fresh process; return its `status`, and the `reason` if it did not finish."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.measure", method, str(folder), str(seconds)]
    # Files, not pipes: nothing reads while the process runs, and a full pipe would block it.
    with tempfile.TemporaryFile("w+") as out_file, tempfile.TemporaryFile("w+") as err_file:
        with subprocess.Popen(command, stdout=out_file, stderr=err_file, start_new_session=True) as process:
            try:
                too_large = _watch(process, memory_gb)
            finally:
                _end_group(process)
        out, err = (_lines_of(file) for file in (out_file, err_file))
    if too_large:
        return {"status": OUT_OF_MEMORY, "reason": f"more than {memory_gb:g} GB"}
    if process.returncode == -signal.SIGKILL:
        return {"status": OUT_OF_MEMORY, "reason": "killed by the system"}
    if process.returncode == -signal.SIGALRM:
        return {"status": OUT_OF_TIME, "reason": f"more than {seconds:g} s"}
    if process.returncode != 0:
        return {"status": FAILED, "reason": (err or ["no message"])[-1].strip()}
    return {"status": OK, **json.loads(out[-1])}


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its workers, which would otherwise disturb the next measurement."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _lines_of(file: IO[str]) -> list[str]:
    file.seek(0)
    return file.read().strip().splitlines()


def _watch(process: subprocess.Popen[bytes], memory_gb: float) -> bool:
    """Wait for a process to end; return early with True if it exceeds the memory limit."""
    import psutil  # noqa: PLC0415

    watched = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            too_large = watched.memory_info().rss > memory_gb * KILO**3
        except psutil.Error:  # it has just ended
            break
        if too_large:
            return True
        time.sleep(POLL_SECONDS)
    return False


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(fit_once(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))))
