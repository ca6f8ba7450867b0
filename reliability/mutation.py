"""Change the code of `core/` in small ways, one at a time, and see whether the tests notice.

`python -m reliability.mutation --mutants 1000 --seed 0` needs cosmic-ray, which makes the changes, and coverage. The
kernels are not compiled. First, all tests of the core run once, and it is noted which of them runs which function.
Then each mutant meets the tests that run the function it changes, the quickest first, until one fails or hangs, in a
process of its own in which nothing but the changed module is new. No file is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when numba is imported

# What the tests import, but for kfuse, is imported once, before the processes part.
import hypothesis  # noqa: F401
import pandas  # noqa: F401
import scipy.cluster.hierarchy
import scipy.sparse.csgraph
import scipy.spatial  # noqa: F401
import sklearn.cluster
import sklearn.datasets
import sklearn.utils.estimator_checks  # noqa: F401

from reliability import core_tests
from reliability.core_tests import Known
from reliability.mutants import CORE, Mutant, Swapped, body_around, mutant_at, places_of

MEMORY = 4 * 2**30
KILLED, HANGS, SURVIVED = "killed", "hangs", "survived"


def main() -> None:
    """Run the tests once, then on each mutant; print the share of those noticed, and those that were not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=1000, help="how many, at random; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--modules", nargs="+", default=[], help="such as fusion/graph.py; all of them unless said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--known", type=Path, help="a file with what is known of the tests, made if it is not there")
    options = parser.parse_args()
    modules = [CORE / name for name in options.modules] or sorted(CORE.rglob("*.py"))
    places = [place for module in modules for place in places_of(module)]
    random.Random(options.seed).shuffle(places)
    print(f"{len(places)} places to change in {len(modules)} modules", flush=True)
    mutants = islice(filter(None, map(mutant_at, places)), options.mutants or None)
    with TemporaryDirectory() as folder:
        known = learn(options.known or Path(folder) / "known.json")
    print(f"{len(known.seconds)} tests, {sum(known.seconds.values()):.0f} s", flush=True)
    outcomes = Counter[tuple[str, str]]()
    for number, (mutant, outcome) in enumerate(judged(mutants, known, options.jobs), 1):
        outcomes[mutant.place.name, outcome] += 1
        print(f"{number:>6} {outcome:<10} {mutant.place.name}:{mutant.place.line}", flush=True)
        if outcome == SURVIVED:
            print(mutant.difference(), flush=True)
    print_table(outcomes)


def print_table(outcomes: Counter[tuple[str, str]]) -> None:
    """Print how many mutants of each module were noticed."""
    names = sorted({name for name, _ in outcomes})
    print(f"\n{'module':<28}{'mutants':>8}{'killed':>8}{'hang':>8}{'survived':>9}{'noticed':>9}")
    for name in [*names, "all"]:
        killed, hangs, survived = (
            sum(count for (of, what), count in outcomes.items() if name in (of, "all") and what == outcome)
            for outcome in (KILLED, HANGS, SURVIVED)
        )
        total = killed + hangs + survived
        print(f"{name:<28}{total:>8}{killed:>8}{hangs:>8}{survived:>9}{(killed + hangs) / total:>9.1%}")


def learn(file: Path) -> Known:
    """Run the tests on the code as it is, unless that was done; give what is known of them then."""
    if not file.exists():
        process = start(lambda: core_tests.observe(file))
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != 0:
            sys.exit("The tests fail before anything was changed.")
    return Known(**json.loads(file.read_text()))


def judged(mutants: Iterator[Mutant], known: Known, n_jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Let each mutant meet the tests that run what it changes, a few mutants at a time, and give its outcome."""
    running: dict[int, Mutant] = {}
    while True:
        while len(running) < n_jobs and (mutant := next(mutants, None)) is not None:
            tests = known.running(mutant.place.name, body_around(mutant.place))
            if tests:
                running[start(partial(meet, mutant, tests))] = mutant
            else:
                yield mutant, SURVIVED
        if not running:
            return
        process, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        yield running.pop(process), {0: SURVIVED, core_tests.HANGS: HANGS}.get(code, KILLED)


def meet(mutant: Mutant, tests: dict[str, float]) -> int:
    """Run tests with the changed module in place of the real one."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, Swapped(mutant))
    files = sorted({str(core_tests.ROOT / test.split("::")[0]) for test in tests})
    return core_tests.run_tests(files, core_tests.Impatient(tests))


def start(work: Callable[[], int]) -> int:
    """Start a process that is as this one, but silent, and ends with what `work` gives."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        code = work()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
