"""Whether a case ended as it should: in a valid result, or in an exception that says what is wrong."""

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
from scipy import sparse
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

from kfuse import KFuse
from kfuse.cli.app import app
from reliability.cases import Case
from reliability.hostile_files import MARK
from tests.checks import assert_same_model, assert_valid_model

DOCUMENTED = (ValueError, TypeError, NotFittedError, MemoryError, ImportError)
FEWER_CLUSTERS = r"The data has \d+ (sub-cluster|distinct sample)"
# Where an exception may be raised on purpose: anywhere else, somebody's code broke on a value.
SPEAKERS = re.compile(r"kfuse/(?!core/compiled)|sklearn/(utils|base)")
EXACT_METRICS = ("euclidean", "l2", "minkowski", "manhattan", "cityblock", "l1", "chebyshev")
SECONDS = 20.0  # that a case may take


class BrokenError(Exception):
    """A case that ended as it should not."""


class Slow(BaseException):
    """A case that takes too long; nothing may catch it."""


def judge(case: Case) -> str:
    """Run a case; give "result" or "refused", or raise BrokenError."""
    if case.kind == "files":
        return judge_file(*case.X)
    before = snapshot(case.X)
    try:
        with warnings.catch_warnings(), time_limit(SECONDS):
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", FEWER_CLUSTERS)
            model = KFuse(**case.parameters).fit(case.X)
            check_unchanged(case.X, before)
            check_result(model, case)
            outcome = "result"
            predict(model, case)
    except DOCUMENTED as error:
        check_words(error)
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
    """Cluster a file on the command line: labels on standard output, or one line that says what is wrong."""
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
        if not labels or not all(re.fullmatch(r"\d+", label) for label in labels):
            raise BrokenError(f"labels are {ended.stdout[:200]!r}")
        return "result"
    said = [line for line in ended.stderr.splitlines() if not line.startswith("kfuse: warning: ")]
    if ended.exit_code != 1 or ended.stdout or len(said) != 1 or not said[0].startswith("kfuse: "):
        raise BrokenError(f"exit code {ended.exit_code}, {ended.exception!r}: {ended.stderr[-300:]!r}")
    return "refused"


def predict(model: KFuse, case: Case) -> None:
    """Predict new samples; refusing them is fine, but not with words of somebody else."""
    if case.new is None:
        return
    try:
        labels = model.predict(case.new)
    except DOCUMENTED as error:
        check_words(error)
        return
    if not np.isin(labels, model.labels_).all():
        raise BrokenError("predict gives a label that the fit does not have")


def check_result(model: KFuse, case: Case) -> None:
    """Check what was found, and that it is found again."""
    n_samples = len(model.labels_)
    try:
        assert_valid_model(model, n_samples)
        metric = case.parameters.get("metric", "euclidean")
        if model.fusion == "adaptive" and isinstance(metric, str) and metric in EXACT_METRICS:
            np.testing.assert_array_equal(model.predict(case.X), model.labels_)
        assert_same_model(KFuse(**case.parameters).fit(case.X), model)
    except AssertionError as error:
        raise BrokenError(f"invalid result: {error}") from error


def check_words(error: BaseException) -> None:
    """Refuse exceptions without words, with too many, or that somebody's code happened to raise."""
    words = str(error).strip()
    if not words or len(words) > 2000:
        raise BrokenError(f"{type(error).__name__} with {len(words)} characters: {words[:200]!r}") from error
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not SPEAKERS.search(last.filename.replace("\\", "/")):
        raise BrokenError(f"{type(error).__name__} from {last.filename}:{last.lineno}: {words[:300]}") from error


def check_unchanged(X: Any, before: bytes | None) -> None:
    """Compare an input with what it was before."""
    if snapshot(X) != before:
        raise BrokenError("the input was changed")


def snapshot(X: Any) -> bytes | None:
    """The bytes of an input that can be changed in place."""
    if isinstance(X, np.ndarray) and not X.dtype.hasobject:
        return np.asarray(X).tobytes()
    if sparse.issparse(X) and hasattr(X, "data") and isinstance(X.data, np.ndarray) and not X.data.dtype.hasobject:
        return X.data.tobytes() + b"".join(getattr(X, name, np.empty(0)).tobytes() for name in ("indices", "indptr"))
    return None


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Slow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
