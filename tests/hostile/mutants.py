"""What cosmic-ray leaves open: a random sample of the changes, the tests that judge one, and the share that was killed.

    python -m tests.hostile.mutants times      # measure all tests once, into mutation.json
    python -m tests.hostile.mutants serve &    # optional: imports numpy, scikit-learn, ... once, not for each change
    python -m tests.hostile.mutants sample mutation.sqlite --size 150 --seed 0
    python -m tests.hostile.mutants test       # the test command of mutation.toml
    python -m tests.hostile.mutants rate mutation.sqlite

`docs/reliability.md` has the whole chain of commands.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
TIMES = ROOT / "mutation.json"
SOCKET = ROOT / "mutation.socket"


def sample(session: str, size: int, seed: int) -> None:
    """Keep a random sample of the changes that are still to be tried, and forget all others."""
    from cosmic_ray.work_db import use_db  # noqa: PLC0415

    def place(item):
        change = item.mutations[0]
        return str(change.module_path), change.start_pos, change.operator_name, str(change.operator_args)

    with use_db(session) as database:
        pending = sorted(database.pending_work_items, key=place)  # the database returns them in any order
        kept = random.Random(seed).sample(pending, min(size, len(pending)))
        database.clear()
        database.add_work_items(kept)
    print(f"{len(kept)} of {len(pending)} changes")


def rate(session: str) -> None:
    """Print the share of changes that were killed, with a 95 % interval, and how many made a test hang."""
    from cosmic_ray.work_db import use_db  # noqa: PLC0415
    from scipy.stats import binomtest  # noqa: PLC0415

    with use_db(session) as database:
        results = [result for _, result in database.completed_work_items if result.test_outcome is not None]
    if not results:
        sys.exit("no change was tried yet")
    killed = sum(result.is_killed for result in results)
    hung = sum(result.output.endswith("timeout") for result in results)
    interval = binomtest(killed, len(results)).proportion_ci(method="wilson")
    print(f"{killed} of {len(results)} killed ({hung} by a timeout): {killed / len(results):.1%}")
    print(f"95 % interval: {interval.low:.1%} to {interval.high:.1%}")


def in_order(module: str | None, times: dict[str, float], seconds: float) -> list[str]:
    """Return the tests in files that name the module, then those of its folder, then all others, the shortest first.

    A test that would make all of them take more than the seconds that are given is left out.
    """
    changed = PurePosixPath(module or "src/kfuse/no")
    name = changed.parent.name if changed.stem == "__init__" else changed.stem
    folder = "tests" / changed.parent.relative_to("src/kfuse")
    files = {test: test.partition("::")[0] for test in times}
    named = re.compile(rf"(\b|_){name}\b")
    naming = {file for file in set(files.values()) if named.search(f"{file}\n{(ROOT / file).read_text()}")}

    def distance(test):
        file = PurePosixPath(files[test])
        return 3 * (files[test] not in naming) + 2 * (file.name != f"test_{name}.py") + (file.parent != folder)

    chosen = []
    left = seconds
    for test in sorted(times, key=lambda test: (distance(test), times[test], test)):
        if times[test] <= left:
            chosen.append(test)
            left -= times[test]
    return chosen


def test_command(seconds: float) -> int:
    """Run the tests until one fails, in a fork of the server if there is one."""
    changed = subprocess.run(  # cosmic-ray changes one file in place
        ["git", "diff", "--name-only", "--", "src"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    chosen = in_order(next(iter(changed), None), json.loads(TIMES.read_text()), seconds)
    if not SOCKET.exists():
        from tests.hostile.mutant_tests import run  # noqa: PLC0415

        return run(chosen)
    return run_in_server(chosen)


def run_in_server(chosen: list[str]) -> int:
    """Hand the tests to the server, print what they print, and return the exit code of pytest."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(SOCKET))
        connection.sendall(json.dumps(chosen).encode() + b"\n")
        output = b"".join(iter(lambda: connection.recv(4096), b""))
    text, _, code = output.decode(errors="replace").rpartition("\n")
    is_complete = code.isdigit()  # the process may have ended before it could tell
    sys.stdout.write(text if is_complete else text + code)
    return int(code) if is_complete else 1


def times() -> None:
    """Measure the tests, and write those that are short enough to `mutation.json`."""
    from tests.hostile.mutant_tests import measure  # noqa: PLC0415

    TIMES.write_text(json.dumps(measure(), indent=0))


def serve() -> None:
    """Wait for tests to run."""
    from tests.hostile.mutant_tests import serve  # noqa: PLC0415

    serve(SOCKET)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("test").add_argument("--seconds", type=float, default=20)
    commands.add_parser("times")
    commands.add_parser("serve")
    for name in ("sample", "rate"):
        commands.add_parser(name).add_argument("session")
    commands.choices["sample"].add_argument("--size", type=int, default=150)
    commands.choices["sample"].add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args())
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # numba would cache kernels of a mutant, and compiling takes long
    actions = {"sample": sample, "rate": rate, "test": test_command, "times": times, "serve": serve}
    return actions[given.pop("command")](**given) or 0


if __name__ == "__main__":
    sys.exit(main())
