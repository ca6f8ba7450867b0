"""How kernels are compiled: on first use, free of the interpreter lock, kept on disk for the next process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numpy.typing import NDArray

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function that makes no array: it writes to those that it is given.

    So nobody has to count who refers to which array. Counting takes longer than most kernels do for their work, and so
    does compiling it.
    """
    return array_kernel(function, _nrt=False, **options)


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small function into each of its callers: calling it, and compiling that, would take longer."""
    return kernel(function, inline="always")


def array_kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function that may make arrays; where no folder can hold the cache, compile in each process."""
    compiled = numba.njit(**OPTIONS, **options)(function)
    with suppress(RuntimeError):
        compiled._cache = ForgivingCache(function)
    return compiled


def records(n: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Make an array of records, all zero, of which kernels read and write the fields as attributes.

    So do kernels that are not compiled (NUMBA_DISABLE_JIT), which is how the tests measure their coverage.
    """
    zeros = np.zeros(n, dtype)
    return zeros.view(np.recarray) if numba.config.DISABLE_JIT else zeros


class ForgivingCache(FunctionCache):
    """The cache of numba, but for files that are damaged or cannot be written: these are as good as none."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # what was cut off, as when the power fails, unpickles to any error
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception:
            with suppress(Exception):  # there may be no room on the disk
                self.flush()  # the list of what is there may be damaged
                super().save_overload(sig, data)


def fast_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` such that its sums may run in any order, which several at a time do."""
    return kernel(function, fastmath={"reassoc", "contract", "nsz"})
