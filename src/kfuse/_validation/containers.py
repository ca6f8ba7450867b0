"""What may hold the samples: arrays, frames and sequences of rows, and the errors for anything else."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Mapping, Set
from typing import Any

from scipy.sparse import issparse

SHAPE = "an array of shape (n_samples, n_features)"
LONGEST = 60  # characters of a value in a message


def check_container(X: Any) -> None:
    """Reject what is no table of samples, before scikit-learn tries to make a number of it."""
    advice = None if issparse(X) else _advice(X)  # one format of scipy is a dict
    if advice:
        raise TypeError(f"X is {_described(X)}: {advice}.")


def shown(value: Any) -> str:
    """Return a value as a message shows it, not longer than a line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _advice(X: Any) -> str | None:
    if isinstance(X, (str, bytes, bytearray, os.PathLike)):
        return f"pass the samples, {SHAPE}; kfuse.tables.read and pandas.read_csv read files"
    if isinstance(X, Mapping):
        return "pass a frame, as pandas.DataFrame(X) makes it"
    if isinstance(X, Set):
        return f"it has no order, so pass the samples as a list of rows, or {SHAPE}"
    if isinstance(X, Iterator):
        return "pass list(X), since the samples are needed more than once"
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "schema"):
        return "pass X.to_pandas(), or polars.from_arrow(X)"
    is_known = hasattr(X, "__array__") or hasattr(X, "__len__") or isinstance(X, numbers.Number)  # to numpy
    return None if is_known else f"pass the samples, {SHAPE}"


def _described(X: Any) -> str:
    if isinstance(X, (str, bytes, bytearray)):
        return f"the text {shown(X)}"
    name = type(X).__name__
    module = "pyarrow " if type(X).__module__.startswith("pyarrow") else ""
    return f"{'an' if not module and name[0] in 'aeiouAEIOU' else 'a'} {module}{name}"
