"""Hostile input ends in a valid result or a clear error: a few hundred cases of `python -m tests.hostile.fuzz`."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from kfuse.core import kernels
from tests.hostile import cases, child, fuzz, hostile_files, hostile_sizes, judge

if sys.platform == "win32":
    pytest.skip("the time limit of a case needs SIGALRM", allow_module_level=True)

CASES_PER_KIND = 40


@pytest.fixture(autouse=True, scope="module")
def compiled_kernels():
    judge.warm_up()


@pytest.mark.parametrize("kind", cases.KINDS)
def test_cases_end_as_they_should(kind):
    first = list(cases.KINDS).index(kind)
    outcomes = {judge.judge(cases.make(1, first + i * len(cases.KINDS))) for i in range(CASES_PER_KIND)}
    assert outcomes == {"result", "refused"}


def test_a_case_is_determined_by_its_seed_and_number():
    first, again, other = cases.make(3, 0), cases.make(3, 0), cases.make(4, 0)
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


def fit_and(act):
    """Return a stand-in for KFuse whose `fit` also calls `act`."""

    class Model(judge.KFuse):
        def fit(self, X, y=None):
            act(X)
            return super().fit(X)

    return Model


def change(X):
    X[0, 0] += 1


def warn(X):
    warnings.warn("invalid value", RuntimeWarning, stacklevel=1)


def fail(X):
    np.zeros(3) + np.zeros(4)


def fall_silent(X):
    raise ValueError


def wait(X):
    while True:
        pass


def leave(X):
    raise SystemExit


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (change, "the input was changed"),
        (warn, "RuntimeWarning"),
        (fail, "ValueError from .*test_fuzz"),
        (fall_silent, "ValueError with 0 characters"),
        (wait, "took more than 0.2 s"),
        (leave, "SystemExit"),
    ],
)
def test_the_judge_finds(act, message, monkeypatch):
    monkeypatch.setattr(judge, "KFuse", fit_and(act))
    monkeypatch.setattr(judge, "SECONDS", 0.2 if act is wait else 20.0)
    X = np.random.default_rng(0).random((20, 2))
    with pytest.raises(judge.BrokenError, match=message):
        judge.judge(cases.Case("arrays", {"n_clusters": 2}, X))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (judge.PACKAGE / "estimator.py", True),
        (judge.SKLEARN / "utils" / "validation.py", True),
        (judge.SKLEARN / "base.py", True),
        (judge.SKLEARN / "neighbors" / "_base.py", False),
        (Path(np.__file__).parent / "linalg.py", False),
        (Path(kernels.__file__), False),
        (Path("clones") / "kfuse" / "tests" / "test_any.py", False),  # a clone called kfuse
    ],
)
def test_deliberate_errors_come_from_the_package_or_the_validation_of_scikit_learn(path, expected):
    assert judge.validates(str(path)) == expected


def test_the_judge_finds_invalid_labels():
    model = judge.KFuse(2).fit(np.random.default_rng(0).random((20, 2)))
    model.labels_ = 1 - model.labels_
    with pytest.raises(judge.BrokenError, match="invalid result"):
        judge.check_result(model, cases.Case("arrays", {"n_clusters": 2}, None))


def test_a_crash_and_a_hang_are_findings(monkeypatch):
    worker = "print('start 0'); print('end result'); print('start 1', flush=True); import os; os.abort()"
    monkeypatch.setattr(fuzz, "worker_command", lambda *_: [sys.executable, "-c", worker])
    assert list(fuzz.outcomes(0, 0, 9)) == [(0, "result"), (1, "crash, exit code -6")]
    worker = "import time; print('start 4', flush=True); time.sleep(60)"
    monkeypatch.setattr(fuzz, "START_UP", 1.0)
    monkeypatch.setattr(fuzz, "SECONDS", 0.0)
    assert list(fuzz.outcomes(0, 4, 9)) == [(4, "hang")]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the memory limit of Linux")
def test_files_run_under_a_limit_of_memory():
    code = """
        from tests.hostile import fuzz
        np.zeros(1 << 26)
        fuzz.limit_memory(1 << 28)
        try:
            np.zeros(1 << 26)
        except MemoryError:
            fuzz.limit_memory(None)
            say(np.zeros(1 << 26).size)
    """
    assert child.run(code) == f"{1 << 26}\n"


@pytest.mark.parametrize("ending", hostile_files.ENDINGS)
def test_sizes_of_every_format_lie(ending):
    """The lies are told: no file is what it was, and the same seed tells the same lie."""
    content = hostile_files.WRITERS[ending](hostile_files.table(np.random.default_rng(3)))
    lies = [hostile_sizes.lie(np.random.default_rng(seed), ending, content) for seed in range(5)]
    assert all(lie != content for lie in lies)
    assert lies[0] == hostile_sizes.lie(np.random.default_rng(0), ending, content)
