"""Run tests on a changed `core/`, with a limit of processor time for each test and without importing all anew."""

from __future__ import annotations

import compileall
import importlib
import json
import os
import signal
import socketserver
import sys
import threading
from pathlib import Path

import pytest

import tests.conftest  # noqa: F401 - sets what libraries read when they are imported

WHOLE = ("tree", "progress", "properties", "estimator", "validation", "memberships", "scoring")
FILES = ("tests/core", *(f"tests/test_{name}.py" for name in WHOLE))
QUIET = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning", "-p", "no:unraisableexception")
OPTIONS = ("-q", "-o", "addopts=", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", *QUIET)
LONGEST = 1.0  # seconds of processor time; tests that take longer uncompiled are left out
HANGS = 15.0  # a test that takes that much more than the longest does not end
FIRST = 60  # tests
MEMORY = 4 << 30
PRELOADED = (
    "numba",
    "scipy.cluster.hierarchy",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "scipy.spatial",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.datasets",
    "sklearn.metrics",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "sklearn.utils.estimator_checks",
)


def processor_time() -> float:
    """Return the seconds of this process and of those that it has started and that have ended."""
    return sum(os.times()[:4])


class Limit:
    """A plugin for pytest that calls a function where a test takes too long, and keeps the times of all others."""

    def __init__(self, seconds, exceeded):
        self.seconds, self.exceeded, self.times = seconds, exceeded, {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        signal.signal(signal.SIGPROF, lambda *_: self.exceeded())
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        start = processor_time()
        outcome = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        if outcome.excinfo is None:
            self.times[item.nodeid] = round(processor_time() - start, 3)


class Measure(Limit):
    """Skip tests that take too long, and all further cases of these."""

    def __init__(self):
        super().__init__(LONGEST, lambda: pytest.skip("takes too long"))
        self.left_out = set()

    def pytest_runtest_setup(self, item):
        if item.nodeid.partition("[")[0] in self.left_out:
            pytest.skip("another case takes too long")

    def pytest_runtest_logreport(self, report):
        if report.outcome == "skipped":
            self.left_out.add(report.nodeid.partition("[")[0])


def measure() -> dict[str, float]:
    """Return the seconds of processor time of all tests that pass within the limit, by their names."""
    plugin = Measure()
    pytest.main([*OPTIONS, "-k", "not scikit_learn_checks", *FILES], plugins=[plugin])
    return {test: seconds for test, seconds in plugin.times.items() if test.partition("[")[0] not in plugin.left_out}


def run(chosen: list[str]) -> int:
    """Run tests until one fails; a change that allocates without end runs out of memory."""
    import resource  # noqa: PLC0415 - Unix only

    output = os.dup(1)  # pytest captures what is written to 1

    def hang():
        os.write(output, b"timeout")
        os._exit(1)

    sys.dont_write_bytecode = True  # two changes within a second would look the same
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for start, stop in ((0, FIRST), (FIRST, None)):  # most changes need no import of the files with the others
        if not chosen[start:stop]:
            return 0
        code = pytest.main([*OPTIONS, "-x", *chosen[start:stop]], plugins=[Limit(HANGS, hang)])
        if code:
            return int(code)
    return 0


class Request(socketserver.StreamRequestHandler):
    """A list of tests; the answer is what pytest prints, and a last line with its exit code."""

    def handle(self) -> None:
        chosen = json.loads(self.rfile.readline())
        for stream in (1, 2):
            os.dup2(self.request.fileno(), stream)
        threading.Thread(target=self.end_with_client, daemon=True).start()
        code = run(chosen)
        sys.stdout.flush()
        os.write(1, f"\n{code}".encode())
        os._exit(code)

    def end_with_client(self) -> None:
        self.rfile.read()  # nothing more is sent: it returns when the client has ended
        os._exit(1)


def serve(path: Path) -> None:
    """Import what takes long, and run each request in a process of its own, which has not imported kfuse."""

    class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
        pass

    for name in PRELOADED:
        importlib.import_module(name)
    assert "kfuse" not in sys.modules
    for folder in ("src", "tests"):  # each of the processes would compile all modules
        compileall.compile_dir(folder, quiet=1)
    path.unlink(missing_ok=True)
    try:
        Server(str(path), Request).serve_forever()
    finally:
        path.unlink(missing_ok=True)
