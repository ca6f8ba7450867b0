"""How kernels are compiled: on first use, free of the interpreter lock, kept on disk for the next process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

OPTIONS = {"nogil": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile `function` with numba; where no folder can hold the cache, compile in each process."""
    try:
        return numba.njit(cache=True, **OPTIONS, **options)(function)
    except RuntimeError:
        return numba.njit(**OPTIONS, **options)(function)


def plain_kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a `function` that makes no array of its own, so that no references to arrays need to be counted.

    Counting takes longer than most of these functions do, and to compile it, too.
    """
    return kernel(function, _nrt=False, **options)


def fast_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` such that its sums may run in any order, which several at a time do."""
    return plain_kernel(function, fastmath={"reassoc", "contract", "nsz"})
