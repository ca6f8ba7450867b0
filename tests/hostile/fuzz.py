"""Fuzz kfuse: each of thousands of inputs ends in a valid result or in an exception that says what is wrong.

`python -m tests.hostile.fuzz --cases 20000 --seed 0` from the root of the repository; `--only 137` repeats one case.
The cases run in a separate process with a cap on its memory, so that a crash, or an abort because memory ran out, is a
finding and does not end the run.
"""

from __future__ import annotations

import argparse
import faulthandler
import selectors
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.hostile import cases
from tests.hostile.judge import SECONDS, BrokenError, judge, warm_up

ROOM = 1 << 30  # bytes that a case may add to the address space
START_UP = 120.0  # seconds that a process may take to import and compile


def main() -> None:
    """Run the cases and print the outcomes of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=cases.KINDS, help="run only the cases of this kind, as numbered among all")
    parser.add_argument("--only", type=int, help="number of one case, run in this process with its traceback")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only is not None:
        case = cases.make(options.seed, options.only)
        print(case)
        print(judge(case))
    elif options.worker:
        work(options.seed, range(options.first, options.cases), options.kind)
    else:
        sys.exit(supervise(options.seed, options.cases, options.kind))


def work(seed: int, numbers: range, only: str | None = None) -> None:
    """Run cases in this process; print a line before and after each."""
    faulthandler.enable()
    warm_up()
    for number in numbers:
        if only not in (None, cases.kind_of(number)):
            continue
        print("start", number, flush=True)
        case = cases.make(seed, number)
        limit_memory(ROOM if case.kind == "files" else None)
        try:
            outcome = judge(case)
        except BrokenError as error:
            outcome = "broken " + " ".join(str(error).split())
            traceback.print_exc()
        print("end", outcome, flush=True)


def limit_memory(room: int | None) -> None:
    """Limit what this process may add to its memory: polars aborts where memory runs out, which is a finding.

    Only files can make it large; None removes the limit.
    """
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - Windows has none

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = resource.RLIM_INFINITY if room is None else used + room
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def supervise(seed: int, n_cases: int, only: str | None = None) -> int:
    """Start workers until all cases are done; print the table and return the exit code."""
    began, counts, broken, first = time.monotonic(), Counter[tuple[str, str]](), [], 0
    while first < n_cases:
        start, first = first, n_cases  # unless a case ends the worker
        for number, outcome in outcomes(seed, start, n_cases, only):
            kind, verdict = cases.kind_of(number), outcome.split()[0]
            counts[kind, verdict] += 1
            if verdict not in ("result", "refused"):
                broken.append((number, kind, outcome))
                print(f"case {number} ({kind}): {outcome}", flush=True)
            if verdict in ("hang", "crash,"):
                first = number + 1
    print(f"\n{'kind':<12}{'cases':>8}{'results':>9}{'refused':>9}{'broken':>8}")
    for kind in [only] if only else cases.KINDS:
        result, refused = counts[kind, "result"], counts[kind, "refused"]
        total = sum(count for (name, _), count in counts.items() if name == kind)
        print(f"{kind:<12}{total:>8}{result:>9}{refused:>9}{total - result - refused:>8}")
    minutes = (time.monotonic() - began) / 60
    print(f"{counts.total()} cases, seed {seed}, {len(broken)} broken, {minutes:.1f} minutes")
    return 1 if broken else 0


def worker_command(seed: int, first: int, n_cases: int, only: str | None = None) -> list[str]:
    """Return the command that starts a worker."""
    numbers = [f"--seed={seed}", f"--first={first}", f"--cases={n_cases}"]
    kind = [f"--kind={only}"] if only else []
    return [sys.executable, "-m", "tests.hostile.fuzz", "--worker", *numbers, *kind]


def outcomes(seed: int, first: int, n_cases: int, only: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and the outcome of each case of one worker, until it finishes, crashes or hangs."""
    command = worker_command(seed, first, n_cases, only)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as worker:
        assert worker.stdout is not None
        selector = selectors.DefaultSelector()
        selector.register(worker.stdout, selectors.EVENT_READ)
        number, ended = first, True
        while selector.select(2 * SECONDS + START_UP):
            line = worker.stdout.readline()
            if not line:
                break
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "start":
                number, ended = int(rest), False
            elif word == "end":
                ended = True
                yield number, rest
        else:
            worker.kill()
            yield number, "hang"
            return
    if not ended or worker.returncode:
        yield number, f"crash, exit code {worker.wait()}"


if __name__ == "__main__":
    main()
