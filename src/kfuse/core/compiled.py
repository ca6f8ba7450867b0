"""How kernels are compiled: on first use, free of the interpreter lock, kept on disk for the next process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

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
    try:
        return numba.njit(cache=True, **OPTIONS, **options)(function)
    except RuntimeError:
        return numba.njit(**OPTIONS, **options)(function)


def fast_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` such that its sums may run in any order, which several at a time do."""
    return kernel(function, fastmath={"reassoc", "contract", "nsz"})
