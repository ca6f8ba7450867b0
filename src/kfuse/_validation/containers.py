"""What may hold the samples: arrays, tensors, frames and sequences of rows, and the errors for anything else."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

SHAPE = "an array of shape (n_samples, n_features)"
LONGEST = 60  # characters of a value in a message


def check_container(X: Any) -> None:
    """Reject what is no table of samples, before scikit-learn tries to make a number of it."""
    advice = None if issparse(X) else _advice(X)  # one format of scipy is a dict
    if advice:
        raise TypeError(f"X is {_described(X)}: {advice}.")


def as_table(X: Any) -> Any:
    """Return what scikit-learn takes in place of Arrow tables, tensors, and arrays that only DLPack can read."""
    package = type(X).__module__.partition(".")[0]
    if package == "pyarrow" and hasattr(X, "schema") and hasattr(X, "to_pandas"):
        return _frame_of_arrow(X)
    if package == "torch" and hasattr(X, "detach"):
        return _array_of_tensor(X)
    if hasattr(X, "__dlpack__") and not (hasattr(X, "__array__") or hasattr(X, "__len__")):
        return _array_of_dlpack(X)
    return X


def _frame_of_arrow(X: Any) -> Any:
    """Return an Arrow table or record batch as a frame of pandas, or of polars if there is no pandas."""
    try:
        return X.to_pandas()
    except ImportError:
        pass
    try:
        import polars  # noqa: PLC0415 - an optional dependency
    except ImportError:
        return X
    return polars.from_arrow(X)


def _array_of_tensor(X: Any) -> Any:
    """Return a tensor as an array, without its gradient; types that NumPy does not have become float32."""
    values = X.detach().cpu()
    try:
        return values.numpy()
    except TypeError:
        return values.float().numpy()


def _array_of_dlpack(X: Any) -> Any:
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(
            f"X is {_described(X)}, which NumPy cannot read by DLPack ({error}): copy it to the CPU, as an array of "
            "numbers that NumPy has."
        ) from error


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
        return "install pandas or polars, by which it is read"
    is_known = hasattr(X, "__array__") or hasattr(X, "__len__") or isinstance(X, numbers.Number)  # to numpy
    return None if is_known else f"pass the samples, {SHAPE}"


def _described(X: Any) -> str:
    if isinstance(X, (str, bytes, bytearray)):
        return f"the text {shown(X)}"
    name = type(X).__name__
    module = "pyarrow " if type(X).__module__.startswith("pyarrow") else ""
    return f"{'an' if not module and name[0] in 'aeiouAEIOU' else 'a'} {module}{name}"
