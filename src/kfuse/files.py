"""Atomic writes: files are written completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def check_target(path: Path) -> None:
    """Fail early, before any work, if `path` cannot be written.

    Parameters
    ----------
    path : Path
        The file to be written.

    Raises
    ------
    OSError
        If `path` is a folder, its folder does not exist, or permission is denied.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folder = _target_of(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(folder))
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically; see :func:`whole_file`."""
    with whole_file(path) as handle:
        handle.write(content)


def _target_of(path: Path) -> Path:
    """Follow symbolic links, which stay; a loop of them is an OSError in every version of Python."""
    try:
        resolved = path.resolve()
        if resolved.is_symlink():
            raise RuntimeError
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
    return resolved


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` only if the block succeeds.

    Parameters
    ----------
    path : Path
        The file to write. A device or pipe, such as /dev/null, is written directly.

    Yields
    ------
    BinaryIO
        A temporary file in the same folder, removed if the block fails.
    """
    if path.exists() and not path.is_file():
        try:
            with path.open("wb") as handle:
                yield handle
        except OSError as error:
            error.filename = str(path)
            raise
        return
    target = _target_of(path)
    temporary = target.with_name(f".kfuse-{secrets.token_hex(8)}.tmp")
    try:
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666  # who may not read it never may
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode & 0o777)) as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        if target.exists():
            temporary.chmod(mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None  # the temporary name means nothing to users
        raise
