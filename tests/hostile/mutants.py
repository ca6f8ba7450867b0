"""What cosmic-ray leaves open: a random sample of the changes, the order of the tests, and the share that was killed.

    python -m tests.hostile.mutants sample mutation.sqlite --size 150 --seed 0
    python -m tests.hostile.mutants test       # the test command of mutation.toml; --near: only the tests of the folder
    python -m tests.hostile.mutants rate mutation.sqlite

`docs/reliability.md` has the whole chain of commands.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from pathlib import Path, PurePosixPath

from scipy.stats import binomtest

WHOLE = ("tree", "progress", "properties", "estimator", "validation", "memberships", "scoring")
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "not scikit_learn_checks")


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

    with use_db(session) as database:
        results = [result for _, result in database.completed_work_items if result.test_outcome is not None]
    if not results:
        sys.exit("no change was tried yet")
    killed = sum(result.is_killed for result in results)
    hung = sum(result.output == "timeout" for result in results)
    interval = binomtest(killed, len(results)).proportion_ci(method="wilson")
    print(f"{killed} of {len(results)} killed ({hung} by a timeout): {killed / len(results):.1%}")
    print(f"95 % interval: {interval.low:.1%} to {interval.high:.1%}")


def in_order(module: str | None, root: Path, *, near: bool = False) -> list[str]:
    """Return the test files: first those of the module, then those of its folder, then, unless `near`, all others."""
    files = sorted((root / "tests/core").rglob("test_*.py")) + [root / f"tests/test_{name}.py" for name in WHOLE]
    paths = [file.relative_to(root) for file in files]
    if module is not None:
        changed = PurePosixPath(module).relative_to("src/kfuse")
        paths.sort(key=lambda path: (path.name != f"test_{changed.name}", path.parent != "tests" / changed.parent))
        if near:
            paths = [path for path in paths if path.parent == "tests" / changed.parent]
    return [path.as_posix() for path in paths]


def test_command(near: bool) -> int:
    """Run the tests until one fails; cosmic-ray changes one file in place, and git tells which."""
    changed = subprocess.run(
        ["git", "diff", "--name-only", "--", "src"], capture_output=True, text=True, check=True
    ).stdout.split()
    root = Path(__file__).parents[2]
    files = in_order(next(iter(changed), None), root, near=near)
    return subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, *files], cwd=root, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("test").add_argument("--near", action="store_true")
    for name in ("sample", "rate"):
        commands.add_parser(name).add_argument("session")
    commands.choices["sample"].add_argument("--size", type=int, default=150)
    commands.choices["sample"].add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args())
    return {"sample": sample, "rate": rate, "test": test_command}[given.pop("command")](**given) or 0


if __name__ == "__main__":
    sys.exit(main())
