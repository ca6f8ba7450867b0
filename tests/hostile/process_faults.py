"""Faults of processes and threads; each function takes the number of repetitions and a seed, and returns a summary."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter

from tests.hostile.child import finish, run, start

SLOWEST_STOP = 10.0  # seconds, generous for a machine with other load


def memory_cap(times: int, seed: int) -> str:
    """Fit under a random memory cap: a result, or a MemoryError that says how many samples would fit."""
    code = f"""
        import ctypes, random
        chance = random.Random({seed})
        return_memory = ctypes.CDLL(None).malloc_trim  # to the system, so that the cap takes effect
        seen = {{"finished": 0, "refused": 0}}
        free = resource.getrlimit(resource.RLIMIT_AS)
        for n_features in (2, 20):
            for fusion in ("adaptive", "paper"):
                X = rng.standard_normal(({150_000 if times > 1 else 20_000} if n_features == 2 else 3_000, n_features))
                parameters = dict(n_clusters=3, fusion=fusion, n_jobs=chance.choice([1, 2]))
                model, found = KFuse(**parameters).fit(X[:300]), []
                # With hardly any memory left, Python waits forever for a second thread that could not start.
                least = 16 if parameters["n_jobs"] == 2 else 0
                for megabytes in sorted(chance.randrange(least, 128) for _ in range({times})):
                    return_memory(0)
                    lines = open("/proc/self/status").read().splitlines()
                    size = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize"))
                    before = model.labels_
                    resource.setrlimit(resource.RLIMIT_AS, (size + megabytes * 2**20, free[1]))
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
    return run(code).strip()


def interrupt(times: int, seed: int) -> str:
    """Press Ctrl-C at a random moment of a fit: it stops at once, leaves no thread, and the next fit is correct."""
    code = """
        import kfuse.progress
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes ignore SIGINT
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
            for _ in range(20):  # a thread may finish its current block
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
        assert len(threads) == 1, f"threads left: {threads}, interrupted in {stage}"
        stages[stage] += 1
    finish(process)
    assert slowest < SLOWEST_STOP, f"the slowest stopped after {slowest:.1f} s"
    return f"all stopped, the slowest after {slowest:.2f} s; stages {dict(stages)}"


def killed_worker(times: int, seed: int) -> str:
    """Kill a joblib worker while it fits: joblib reports it, and this process and new workers fit as before."""
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
                raise AssertionError("no worker was killed")
            except TerminatedWorkerError:
                pass
            assert np.array_equal(KFuse(3).fit(small).labels_, expected)
            for labels in Parallel(2)(delayed(fit)(small, False) for _ in range(2)):
                assert np.array_equal(labels, expected)
        say("ok")
    """
    return finish(start(code)).strip()


def fork(times: int, seed: int) -> str:
    """Fork after a fit in several threads: child and parent get the same results as before."""
    code = f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about forks of a process with threads
        many = {{2: rng.random((20_000, 2)), 20: rng.random((2_000, 20))}}
        expected = {{d: KFuse(3, n_jobs=2).fit(X).labels_ for d, X in many.items()}}
        for _ in range({times}):
            child = os.fork()
            same = all(np.array_equal(KFuse(3, n_jobs=2).fit(X).labels_, expected[d]) for d, X in many.items())
            if child == 0:
                os._exit(0 if same else 3)
            assert same
            assert os.waitpid(child, 0)[1] == 0
        say("ok")
    """
    return run(code).strip()


def threads(times: int, seed: int) -> str:
    """Fit in ten threads at once, starting with the first fit of the process: results equal those of single fits."""
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
        say("ok")
    """
    return finish(start(code)).strip()
