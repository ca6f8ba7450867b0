"""Inject faults around kfuse: too little memory, Ctrl-C, a damaged cache, killed and forked processes, threads.

`python -m tests.hostile.faults --times 20`, from the root of the repository, injects every fault 20 times and prints
what was observed. `tests/hostile/test_faults.py` calls the same functions once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.hostile import file_faults, process_faults

FAULTS: dict[str, Callable[[int, int], Any]] = {
    "memory cap": process_faults.memory_cap,
    "Ctrl-C": process_faults.interrupt,
    "damaged cache": file_faults.damaged_cache,
    "no cache": file_faults.no_cache,
    "killed worker": process_faults.killed_worker,
    "fork": process_faults.fork,
    "ten threads": process_faults.threads,
    "full disk": file_faults.full_disk,
    "kill -9": file_faults.kill_while_writing,
    "no network": file_faults.no_network,
    "long line": file_faults.long_line,
}


def main() -> None:
    """Inject the faults and print what was observed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=FAULTS)
    options = parser.parse_args()
    failed = False
    for name in [options.only] if options.only else FAULTS:
        began = time.monotonic()
        try:
            seen = FAULTS[name](options.times, options.seed)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            seen, failed = f"FAILED: {error}", True
        print(f"{name}: {str(seen).strip()} ({time.monotonic() - began:.0f} s)", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
