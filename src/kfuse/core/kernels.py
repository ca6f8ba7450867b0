"""The numba decorators: compile on first use, without the interpreter lock, and cache on disk.

numba stamps a cached function with the file it is defined in, and does not notice an edit in another file that it
calls. Kernels here call each other across files, so every cache entry is stamped with the contents of all of
`kfuse.core` instead: after any edit, everything is compiled again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numpy.typing import NDArray

OPTIONS = {"nogil": True, "error_model": "numpy"}
_listeners: list[Callable[[], None]] = []


@contextmanager
def calling_before_compilation(listener: Callable[[], None]) -> Iterator[None]:
    """Call `listener` for each kernel that is compiled inside because it is not in the cache."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@cache
def _accepted(option: str, value: bool) -> dict[str, bool]:
    """Return an option that numba does not document, or nothing if this version of numba does not know it."""
    try:
        from numba.core.compiler import Flags  # noqa: PLC0415
        from numba.core.cpu import CPUTargetOptions  # noqa: PLC0415

        CPUTargetOptions.parse_as_flags(Flags(), {option: value})
    except Exception:  # neither the names nor the errors of private code are promised
        return {}
    return {option: value}


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function that allocates no array: it writes to those that it is given.

    Compiled without numba's reference counting, which shortens compilation by about a quarter and a fit by 0 to 17 %.
    """
    return array_kernel(function, **_accepted("_nrt", False), **options)


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small function into each of its callers, which saves the call and the compilation of a wrapper."""
    return kernel(function, inline="always")


def fast_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function whose sums may run in any order, so that they can be vectorised."""
    return kernel(function, fastmath={"reassoc", "contract", "nsz"})


def array_kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function that may allocate arrays; where no folder can hold the cache, compile in each process."""
    compiled = numba.njit(**OPTIONS, **_accepted("no_cfunc_wrapper", True), **options)(function)
    with suppress(RuntimeError):
        compiled._cache = KernelCache(function)
    return compiled


def records(n: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Return an array of `n` zero records whose fields kernels read and write as attributes.

    Uncompiled kernels (NUMBA_DISABLE_JIT) do so as well, which is how the tests measure their coverage.
    """
    zeros = np.zeros(n, dtype)
    return zeros.view(np.recarray) if numba.config.DISABLE_JIT else zeros


@cache
def _stamp(file: str) -> str:
    """Return a digest of all of `kfuse.core`, and of the file that defines a kernel."""
    digest = hashlib.sha256()
    for source in [*sorted(Path(__file__).parent.rglob("*.py")), Path(file)]:
        with suppress(OSError):  # in a zip file, or gone: numba's own stamp remains
            digest.update(source.read_bytes())
    return digest.hexdigest()


class KernelCache(FunctionCache):
    """numba's cache, stamped over all kernels; damaged or unwritable files count as missing."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        stored: Any = self._cache_file
        stored._source_stamp = (stored._source_stamp, _stamp(function.__code__.co_filename))

    def load_overload(self, sig, target_context):
        loaded = None
        with suppress(Exception):  # a truncated file, as after a power failure, can unpickle to any error
            loaded = super().load_overload(sig, target_context)
        if loaded is None:
            for listener in tuple(_listeners):
                listener()
        return loaded

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception:
            with suppress(Exception):  # the disk may be full
                self.flush()  # the index may be damaged
                super().save_overload(sig, data)
