"""Things that go wrong around kfuse: too little memory, Ctrl-C, a damaged cache, killed and forked processes, threads.

`python -m reliability.faults` from the root of the repository runs every fault, `--times 20` each of them so often, and
prints what was seen. `tests/test_faults.py` runs the same functions a few times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CACHED = "*.nb[ic]"  # files of compiled code
PREPARED = """
    import json, os, resource, signal, sys, threading, time
    import numpy as np
    from kfuse import KFuse
    rng = np.random.default_rng(0)
    small = rng.random((300, 2))

    def say(*words):
        print(*words, flush=True)
"""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start Python on some code, after the common lines."""
    whole = textwrap.dedent(PREPARED) + textwrap.dedent(code)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", whole],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )


def finish(process: subprocess.Popen[str], seconds: float = 300) -> str:
    """Wait for the end; give what was printed, and fail if Python failed."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, f"exit code {process.returncode}: {err[-2000:]}"
    return out


def memory_cap(times: int, seed: int) -> str:
    """Fit under a cap that is too small or not: a result, or a MemoryError that says what would fit."""
    code = f"""
        import ctypes, random
        chance = random.Random({seed})
        give_back = ctypes.CDLL(None).malloc_trim  # what was freed, so that the cap is felt
        seen = {{"finished": 0, "refused": 0}}
        free = resource.getrlimit(resource.RLIMIT_AS)
        for n_features in (2, 20):
            for fusion in ("adaptive", "paper"):
                X = rng.standard_normal(({150_000 if times > 1 else 20_000} if n_features == 2 else 3_000, n_features))
                parameters = dict(n_clusters=3, fusion=fusion, n_jobs=chance.choice([1, 2]))
                model, found = KFuse(**parameters).fit(X[:300]), []
                # Where next to nothing is left, Python waits forever for a second thread that could not start.
                least = 16 if parameters["n_jobs"] == 2 else 0
                for room in sorted(chance.randrange(least, 128) for _ in range({times})):
                    give_back(0)
                    lines = open("/proc/self/status").read().splitlines()
                    size = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize"))
                    before = model.labels_
                    resource.setrlimit(resource.RLIMIT_AS, (size + room * 2**20, free[1]))
                    try:
                        model.fit(X)
                    except MemoryError as error:
                        resource.setrlimit(resource.RLIMIT_AS, free)
                        assert str(error).startswith("Not enough memory to cluster"), error
                        assert model.labels_ is before
                        seen["refused"] += 1
                    else:
                        resource.setrlimit(resource.RLIMIT_AS, free)
                        found.append(model.labels_)
                        seen["finished"] += 1
                expected = KFuse(**parameters).fit(X).labels_
                assert all(np.array_equal(labels, expected) for labels in found)
        say(json.dumps(seen))
    """
    return finish(start(code)).strip()


def interrupt(times: int, seed: int) -> str:
    """Press Ctrl-C at a random moment of a fit: it stops at once, leaves no thread, and the next fit is right."""
    code = """
        import kfuse.progress
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if started in the background
        stage = ["none"]

        class Bar(kfuse.progress.ProgressBar):
            def _write(self, line, *, is_last):
                stage[0] = self.name

        kfuse.progress.ProgressBar = Bar
        large = {"adaptive": rng.random((200_000, 3)), "paper": rng.random((30_000, 3))}
        expected = {fusion: KFuse(3, fusion=fusion).fit(small).labels_ for fusion in large}
        for fusion in sys.stdin:
            fusion = fusion.strip()
            try:
                say("ready")
                while True:
                    KFuse(3, fusion=fusion, verbose=True).fit(large[fusion])
            except KeyboardInterrupt:
                pass
            for _ in range(20):  # the traceback is gone, and what it held; a thread may end what it is doing
                if threading.active_count() == 1:
                    break
                time.sleep(0.05)
            say("stopped", json.dumps([[thread.name for thread in threading.enumerate()], stage[0]]))
            assert np.array_equal(KFuse(3, fusion=fusion).fit(small).labels_, expected[fusion])
    """
    chance, process, slowest, stages = random.Random(seed), start(code), 0.0, Counter[str]()
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(times):
        process.stdin.write(["adaptive\n", "paper\n"][number % 2])
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(chance.uniform(0.05, 2.5 if times > 4 else 0.8))
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        slowest = max(slowest, time.monotonic() - pressed)
        assert line.startswith("stopped"), process.communicate()[1]
        threads, stage = json.loads(line.removeprefix("stopped"))
        assert len(threads) == 1, f"threads are left: {threads}, interrupted in {stage}"
        stages[stage] += 1
    finish(process)
    assert slowest < SLOWEST_STOP, f"stopped after {slowest:.1f} s"
    return f"the slowest stopped after {slowest:.2f} s; in {dict(stages)}"


SLOWEST_STOP = 10.0  # seconds, on a machine that does other things too


def copied_cache(folder: Path) -> None:
    """Copy the compiled code of the package to where NUMBA_CACHE_DIR = `folder` has it."""
    from numba.core import caching  # noqa: PLC0415 - slow to import

    for cached in {path.parent for path in (ROOT / "src").rglob(CACHED)}:
        source = str(cached.parent / "any.py")
        there = folder / caching._CacheLocator.get_suitable_cache_subpath(source)
        there.mkdir(parents=True)
        for path in cached.glob(CACHED):
            shutil.copy2(path, there)


def damaged_cache(times: int, seed: int) -> str:
    """Cut off, empty or overwrite files of compiled code: the code is compiled anew, and the cache put right."""
    code = "say(json.dumps(KFuse(3).fit(small).labels_.tolist()))"
    expected, chance, n_damaged = finish(start(code)), random.Random(seed), 0
    damages: list[Callable[[bytes], bytes]] = [
        lambda content: b"",
        lambda content: content[: chance.randrange(len(content))],
        lambda content: chance.randbytes(len(content)),
    ]
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            copied_cache(Path(folder))
            for path in chance.sample(sorted(Path(folder).rglob(CACHED)), min(4 * times, 12)):
                path.write_bytes(chance.choice(damages)(path.read_bytes()))
                n_damaged += 1
            for _again in range(2):
                assert finish(start(code, NUMBA_CACHE_DIR=folder)) == expected
    return f"{n_damaged} files"


def no_cache(times: int, seed: int) -> str:
    """No folder for compiled code, or no room in it: the code is compiled, and not kept."""
    code = """
        from kfuse.core.tree import apply_fusions
        if limit := os.environ.get("LIMIT"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
        if os.environ.get("WHOLE"):
            KFuse(3).fit(small)
        say(apply_fusions(np.array([[0, 1]]), 2).tolist())
    """
    whole = {"WHOLE": "1"} if times > 1 else {}
    with tempfile.TemporaryDirectory() as folder:
        for environment in ({"NUMBA_CACHE_DIR": "/dev/null/nowhere"}, {"NUMBA_CACHE_DIR": folder, "LIMIT": "10"}):
            assert finish(start(code, **environment, **whole)).strip() == "[2, 2]"
        left = [path.name for path in Path(folder).rglob("*") if path.is_file()]
    assert not left, left
    return "a folder that cannot be made, and one without room"


def killed_worker(times: int, seed: int) -> str:
    """Kill a worker of joblib while it fits: joblib says so, and this process and new workers fit as before."""
    code = f"""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        def fit(X, mortal):
            if mortal:
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
                while True:
                    KFuse(3).fit(X)
            return KFuse(3).fit(X).labels_

        expected = KFuse(3).fit(small).labels_
        for _ in range({times}):
            try:
                Parallel(2)(delayed(fit)(small, i == 1) for i in range(2))
                raise AssertionError("nobody died")
            except TerminatedWorkerError:
                pass
            assert np.array_equal(KFuse(3).fit(small).labels_, expected)
            for labels in Parallel(2)(delayed(fit)(small, False) for _ in range(2)):
                assert np.array_equal(labels, expected)
        say("well")
    """
    return finish(start(code)).strip()


def fork(times: int, seed: int) -> str:
    """Fork after a fit in several threads: child and parent fit on, with the same result."""
    code = f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads
        many = {{2: rng.random((20_000, 2)), 20: rng.random((2_000, 20))}}
        expected = {{d: KFuse(3, n_jobs=2).fit(X).labels_ for d, X in many.items()}}
        for _ in range({times}):
            child = os.fork()
            same = all(np.array_equal(KFuse(3, n_jobs=2).fit(X).labels_, expected[d]) for d, X in many.items())
            if child == 0:
                os._exit(0 if same else 3)
            assert same
            assert os.waitpid(child, 0)[1] == 0
        say("well")
    """
    return finish(start(code)).strip()


def threads(times: int, seed: int) -> str:
    """Fit in ten threads at once, from the first fit of the process on: each result is that of a fit alone."""
    code = f"""
        from concurrent.futures import ThreadPoolExecutor

        def labels(number):
            own = np.random.default_rng(number)
            X = own.random((int(own.integers(50, 3000)), [2, 3, 20][number % 3]))
            fusion = ["adaptive", "paper"][number % 2]
            model = KFuse(3, fusion=fusion, n_jobs=1 + number % 2).fit(X.astype([np.float64, np.float32][number % 2]))
            return model.predict(X).tolist()

        numbers = range({seed}, {seed} + 10 * {times})
        with ThreadPoolExecutor(10) as pool:
            together = list(pool.map(labels, numbers))
        assert together == [labels(number) for number in numbers]
        say("well")
    """
    return finish(start(code)).strip()


def full_disk(times: int, seed: int) -> str:
    """No room for a report: the old file stays, and nothing else is left."""
    code = f"""
        import pathlib, tempfile
        from kfuse import files, report
        model = KFuse(3).fit(small)
        free = resource.getrlimit(resource.RLIMIT_FSIZE)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.html"
            path.write_text("old")
            for number in range({times}):
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000 * number + 10, free[1]))
                try:
                    report.write(model, small, path)
                    raise AssertionError("there was room")
                except OSError as error:
                    assert error.filename == str(path)
                resource.setrlimit(resource.RLIMIT_FSIZE, free)
                assert path.read_text() == "old"
                assert [found.name for found in pathlib.Path(folder).iterdir()] == ["report.html"]
            report.write(model, small, path)
            assert path.stat().st_size > 100_000
        say("well")
    """
    return finish(start(code)).strip()


def kill_while_writing(times: int, seed: int) -> str:
    """Kill -9 a process that writes a file again and again: the file is always one of those, whole."""
    code = """
        import pathlib
        from kfuse import files
        path = pathlib.Path(sys.stdin.readline().strip())
        say("ready")
        for number in range(1, 10**9):
            with files.whole_file(path) as file:
                for _ in range(50):
                    file.write(bytes([number % 256]) * 20_000)
    """
    chance, n_left = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels"
        path.write_bytes(bytes(1_000_000))
        for _ in range(times):
            process = start(code)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
            time.sleep(chance.uniform(0.0, 0.3))
            process.kill()
            process.communicate()
            content = path.read_bytes()
            assert len(content) == 1_000_000
            assert len(set(content)) == 1
        n_left = len(list(Path(folder).glob(".kfuse-*.tmp")))
    return f"{n_left} hidden, unfinished files were left beside it"


def no_network(times: int, seed: int) -> str:
    """Fit, predict, draw and report without a socket."""
    code = """
        import socket, tempfile, pathlib

        def refuse(*arguments, **options):
            raise AssertionError("a socket was opened")

        socket.socket = socket.create_connection = socket.getaddrinfo = refuse
        import matplotlib
        matplotlib.use("Agg")
        from typer.testing import CliRunner
        from kfuse import plots, report
        from kfuse.cli.app import app
        from kfuse.datasets import load, make_shapes
        for fusion in ("adaptive", "paper"):
            model = KFuse(3, fusion=fusion).fit(small)
            model.predict(small)
        plots.scatter(small, model.labels_)
        with tempfile.TemporaryDirectory() as folder:
            report.write(model, small, pathlib.Path(folder) / "report.html")
            table = pathlib.Path(folder) / "data.npy"
            np.save(table, small)
            assert CliRunner().invoke(app, ["cluster", str(table), "-o", str(table) + ".csv"]).exit_code == 0
        make_shapes()
        load("BreastCancer")
        say("well")
    """
    return finish(start(code)).strip()


def long_line(times: int, seed: int) -> str:
    """A table of one line of a gigabyte: refused in one line, in memory of a few times its size."""
    code = """
        from typer.testing import CliRunner
        from kfuse.cli.app import app
        ended = CliRunner().invoke(app, ["cluster", os.environ["LINE"]])
        assert ended.exit_code == 1, (ended.exit_code, ended.exception)
        assert ended.stderr.startswith("kfuse: ") and ended.stderr.count("\\n") == 1 and len(ended.stderr) < 1000
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        say(f"{ended.stderr.strip()[-90:]} (peak {peak:.1f} GB)")
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.csv"
        with path.open("wb") as file:
            for _ in range(1024 if times > 1 else 8):
                file.write(b"0123456789abcdef" * 2**16)
        return finish(start(code, LINE=str(path)))


FAULTS: dict[str, Callable[[int, int], Any]] = {
    "memory cap": memory_cap,
    "Ctrl-C": interrupt,
    "damaged cache": damaged_cache,
    "no cache": no_cache,
    "killed worker": killed_worker,
    "fork": fork,
    "ten threads": threads,
    "full disk": full_disk,
    "kill -9": kill_while_writing,
    "no network": no_network,
    "long line": long_line,
}


def main() -> None:
    """Run the faults and print what was seen."""
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
