"""The tests of `core/`, run in this process: watched, hurried, or stopped when they hang."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest

from reliability.mutants import CORE

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    "test_candidates", "test_kd_tree", "test_looks", "test_fusion_parts", "test_threads", "test_worked_example",
    "test_oracle", "test_neighbors", "test_brute_force", "test_adaptive", "test_paper_fusion", "test_tree",
    "test_number", "test_progress", "test_properties", "test_estimator", "test_validation", "test_approximate",
]  # fmt: skip
PATIENCE = 60.0  # seconds of tests, as long as they take while lines are measured, that a mutant meets
LEAST_SECONDS, TIMES_AS_LONG = 10.0, 10.0  # a test hangs that takes longer than this
HANGS = 77  # exit code


class Known(NamedTuple):
    """What is known of the tests: how long each takes, and which lines of which module it runs."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]

    def running(self, module: str, lines: range) -> dict[str, float]:
        """The quickest tests that run one of these lines, and how long each takes."""
        left, chosen = PATIENCE, dict[str, float]()
        for test, seconds in sorted(self.seconds.items(), key=lambda item: item[1]):
            if any(line in lines for line in self.lines.get(test, {}).get(module, [])):
                left -= seconds
                if left < 0:
                    break
                chosen[test] = seconds
        return chosen


def run_tests(tests: list[str], *plugins: Any) -> int:
    """Run tests in this process, up to the first that fails."""
    options = ["-x", "-q", "--assert=plain", "--tb=short", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--deselect", "tests/test_estimator.py::test_scikit_learn_checks"]  # hundreds that run the same code
    return int(pytest.main([f"--rootdir={ROOT}", *options, *tests], plugins=list(plugins)))


def observe(target: Path) -> int:
    """Run all tests once, and write what is known of them then."""
    watch = coverage.Coverage(data_file=None, source=[str(CORE)], concurrency=["thread"])
    watch.start()
    observer = Observer(watch)
    code = run_tests([str(ROOT / "tests" / f"{name}.py") for name in TESTS], observer)
    watch.stop()
    data, lines = watch.get_data(), dict[str, dict[str, list[int]]]()
    for path in data.measured_files():
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                lines.setdefault(test, {}).setdefault(str(Path(path).relative_to(CORE)), []).append(line)
    target.write_text(json.dumps(Known(observer.seconds, lines)._asdict()))
    return code


class Observer:
    """Tells the measurement of lines which test is running, and takes the time."""

    def __init__(self, watch: coverage.Coverage):
        self.watch = watch
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note what one test does."""
        self.watch.switch_context(item.nodeid)
        began = time.monotonic()
        yield
        self.seconds[item.nodeid] = time.monotonic() - began
        self.watch.switch_context("")


class Impatient:
    """Runs some tests, the quickest first, and ends the process if one takes too long."""

    def __init__(self, seconds: dict[str, float]):
        self.seconds = seconds
        signal.signal(signal.SIGALRM, lambda *_: os._exit(HANGS))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort the tests."""
        chosen = (item for item in items if item.nodeid in self.seconds)
        items[:] = sorted(chosen, key=lambda item: self.seconds[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Set the alarm for one test."""
        signal.setitimer(signal.ITIMER_REAL, max(LEAST_SECONDS, TIMES_AS_LONG * self.seconds[item.nodeid]))
        return (yield)
