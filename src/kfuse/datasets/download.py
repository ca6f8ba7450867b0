"""Fetch public files: with a checksum, a progress bar, and either the whole file or none."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

BLOCK = 1 << 16
TIMEOUT = 30.0  # seconds without a byte after which a download counts as failed
AGENT = "kfuse (https://pypi.org/project/kfuse)"


class DownloadError(OSError):
    """A data set could not be had from its public source."""


def fetch(url: str, target: Path, *, sha256: str | None = None, progress: bool = True) -> None:
    """Download a file, whole or not at all.

    Parameters
    ----------
    url : str
        The address.
    target : Path
        Where the file goes. Until it is whole and checked it is ``target`` with ``.part`` added.
    sha256 : str or None, default=None
        The SHA-256 that the file must have; None accepts any.
    progress : bool, default=True
        Whether to show a progress bar on the error stream.

    Raises
    ------
    DownloadError
        If there is no answer, the connection breaks, or the checksum differs.
    """
    part = target.with_name(target.name + ".part")
    try:
        found = _stream(url, part, progress)
        if sha256 is not None and found != sha256:
            raise DownloadError(
                f"{url} has the SHA-256 {found}, not {sha256}: the file at the source has changed, or was "
                "damaged on its way. It was not kept."
            )
        part.replace(target)
    except (OSError, HTTPException) as error:
        if isinstance(error, DownloadError):
            raise
        raise DownloadError(f"{url} could not be downloaded: {getattr(error, 'reason', error)}.") from error
    finally:
        part.unlink(missing_ok=True)


def _stream(url: str, part: Path, progress: bool) -> str:
    """Write the answer into a file, and give its SHA-256."""
    digest = hashlib.sha256()
    # The address comes from the registry of this package, never from a user.
    with urlopen(Request(url, headers={"User-Agent": AGENT}), timeout=TIMEOUT) as answer, part.open("wb") as file:
        promised = int(answer.headers.get("Content-Length") or 0)
        received = 0
        with _bar(url.rsplit("/", 1)[-1], promised, progress) as advance:
            while block := answer.read(BLOCK):
                file.write(block)
                digest.update(block)
                received += len(block)
                advance(len(block))
    if received < promised:  # urllib does not mind when it is read in blocks
        raise DownloadError(f"{url} broke off after {received} of {promised} bytes. Nothing was kept; try again.")
    return digest.hexdigest()


@contextmanager
def _bar(title: str, total: int, show: bool) -> Iterator[Callable[[int], None]]:
    """Show how far it is, with rich where it is installed, and else in one line."""
    if not show:
        yield lambda n: None
        return
    try:
        from rich.console import Console  # noqa: PLC0415 - an optional dependency
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn  # noqa: PLC0415
    except ImportError:
        print(f"Downloading {title}", file=sys.stderr)
        yield lambda n: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(title, total=total or None)
        yield lambda n: bars.advance(task, n)
