"""Decide whether a case ended as it must: in a valid result, or in an exception that says what is wrong."""

from __future__ import annotations

import re
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import kfuse
from kfuse import KFuse
from kfuse.cli.app import app
from kfuse.core import kernels
from tests.checks import assert_same_model, assert_valid_model
from tests.hostile.cases import Case
from tests.hostile.hostile_files import MARK

DOCUMENTED = (ValueError, TypeError, NotFittedError, MemoryError, ImportError)
FEWER_CLUSTERS = r"The data has \d+ (sub-cluster|distinct sample)|Of \d+ clusters?, \d+ (is|are) all noise"
FEWER_NEIGHBORS = r"The precomputed graph has \d+ (distinct neighbour|parts)|All distances of the precomputed graph"
GIANT = r"X has the value .*, next to which most rows are indistinguishable"
# Code that validates input. An exception from anywhere else was not raised on purpose.
PACKAGE, SKLEARN = (Path(module.__file__).resolve().parent for module in (kfuse, sklearn))
VALIDATORS = (PACKAGE, SKLEARN / "utils", SKLEARN / "base.py")
EXACT_METRICS = ("euclidean", "l2", "minkowski", "manhattan", "cityblock", "l1", "chebyshev")
SECONDS = 20.0  # limit for a case


class BrokenError(Exception):
    """A case did not end as it must."""


class Slow(BaseException):
    """A case takes too long; a BaseException, so that no `except Exception` catches it."""


def warm_up() -> None:
    """Compile the kernels that most cases use, so that the time limit of the first case does not include it."""
    X = np.random.default_rng(0).random((100, 2))
    for data in (X, X.astype(np.float32), np.tile(X, 10), np.repeat(X, 2, axis=0)):
        KFuse(3).fit(data).predict(data)
    for parameters in ({"fusion": "paper"}, {"metric": "manhattan"}):
        KFuse(3, **parameters).fit(X)


def judge(case: Case) -> str:
    """Run a case; return "result" or "refused", or raise BrokenError."""
    if case.kind == "files":
        return judge_file(*case.X)
    before = snapshot(case.X)
    try:
        with warnings.catch_warnings(), time_limit(SECONDS):
            warnings.simplefilter("error")
            for said in (FEWER_CLUSTERS, FEWER_NEIGHBORS, GIANT):
                warnings.filterwarnings("ignore", said)
            model = KFuse(**case.parameters).fit(case.X)
            check_unchanged(case.X, before)
            check_result(model, case)
            outcome = "result"
            predict(model, case)
    except DOCUMENTED as error:
        check_message(error)
        outcome = "refused"
    except Slow:
        raise BrokenError(f"took more than {SECONDS:g} s") from None
    except BrokenError:
        raise
    except BaseException as error:
        raise BrokenError(f"{type(error).__name__}: {error}") from error
    check_unchanged(case.X, before)
    return outcome


def judge_file(name: str, content: bytes) -> str:
    """Cluster a file on the command line: it prints labels, or one line that says what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            with time_limit(SECONDS):
                ended = CliRunner().invoke(app, ["cluster", str(path)])
        except Slow:
            raise BrokenError(f"took more than {SECONDS:g} s") from None
    if MARK.exists():
        MARK.rmdir()
        raise BrokenError("code from the file was run")
    if ended.exit_code == 0:
        labels = ended.stdout.splitlines()[1:]
        if not labels or not all(re.fullmatch(r'\d+|""', label) for label in labels):  # "" for rows that say too little
            raise BrokenError(f"labels are {ended.stdout[:200]!r}")
        return "result"
    said = [line for line in ended.stderr.splitlines() if not line.startswith("kfuse: warning: ")]
    if ended.exit_code != 1 or ended.stdout or len(said) != 1 or not said[0].startswith("kfuse: "):
        raise BrokenError(f"exit code {ended.exit_code}, {ended.exception!r}: {ended.stderr[-300:]!r}")
    return "refused"


def predict(model: KFuse, case: Case) -> None:
    """Predict new samples, or check that they were rejected on purpose."""
    if case.new is None:
        return
    try:
        labels = model.predict(case.new)
    except DOCUMENTED as error:
        check_message(error)
        return
    known = [*np.unique(model.labels_), *([-1] if model.outliers == "label" else [])]  # new samples may be noise
    if not np.isin(labels, known).all():
        raise BrokenError("predict returned a label that the fit does not have")


def check_result(model: KFuse, case: Case) -> None:
    """Check the fitted model, and that a second fit is identical."""
    n_samples = len(model.labels_)
    try:
        assert_valid_model(model, n_samples)
        metric = case.parameters.get("metric", "euclidean")
        if model.fusion == "adaptive" and isinstance(metric, str) and metric in EXACT_METRICS:
            np.testing.assert_array_equal(model.predict(case.X), model.labels_)
        assert_same_model(KFuse(**case.parameters).fit(case.X), model)
    except AssertionError as error:
        raise BrokenError(f"invalid result: {error}") from error


def check_message(error: BaseException) -> None:
    """Reject exceptions with an empty or endless message, or that were not raised on purpose."""
    message = str(error).strip()
    if not message or len(message) > 2000:
        raise BrokenError(f"{type(error).__name__} with {len(message)} characters: {message[:200]!r}") from error
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not validates(last.filename):
        raise BrokenError(f"{type(error).__name__} from {last.filename}:{last.lineno}: {message[:300]}") from error


def validates(filename: str) -> bool:
    """Return whether a file may raise exceptions about input; a clone's folder may itself be called kfuse."""
    path = Path(filename).resolve()
    return any(path.is_relative_to(place) for place in VALIDATORS) and path != Path(kernels.__file__).resolve()


def check_unchanged(X: Any, before: bytes | None) -> None:
    """Check that an input still has the bytes of its snapshot."""
    if snapshot(X) != before:
        raise BrokenError("the input was changed")


def snapshot(X: Any) -> bytes | None:
    """Return the bytes of an input that could be modified in place, None for other input."""
    if isinstance(X, np.ndarray) and not X.dtype.hasobject:
        return np.asarray(X).tobytes()
    if sparse.issparse(X) and hasattr(X, "data") and isinstance(X.data, np.ndarray) and not X.data.dtype.hasobject:
        return X.data.tobytes() + b"".join(getattr(X, name, np.empty(0)).tobytes() for name in ("indices", "indptr"))
    return None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise Slow in the block after `seconds`."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Slow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
