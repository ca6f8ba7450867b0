"""Download public files with a checksum and a progress bar; incomplete files are never kept."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.request import Request, urlopen

BLOCK = 1 << 16
TIMEOUT = 30.0  # seconds without data after which a download fails
AGENT = "kfuse (https://github.com/kfuse/kfuse)"


class DownloadError(OSError):
    """A data set could not be downloaded from its public source."""


def fetch(url: str, target: Path, *, sha256: str | None = None, progress: bool = True) -> None:
    """Download a file; keep it only if it is complete.

    Parameters
    ----------
    url : str
        The URL of the file.
    target : Path
        The file to write. Until it is complete and verified, it has the suffix ``.part``.
    sha256 : str or None, default=None
        The expected SHA-256 of the file; None accepts any.
    progress : bool, default=True
        Whether to show a progress bar on stderr.

    Raises
    ------
    DownloadError
        If the server cannot be reached, the connection breaks, or the checksum differs.
    """
    part = target.with_name(target.name + ".part")
    try:
        found = _stream(url, part, progress)
        if sha256 is not None and found != sha256:
            raise DownloadError(
                f"{url} has the SHA-256 {found}, expected {sha256}: the file has changed at its source or was "
                "corrupted in transit. It was not kept."
            )
        part.replace(target)
    except (OSError, HTTPException) as error:
        if isinstance(error, DownloadError):
            raise
        raise DownloadError(f"Could not download {url}: {getattr(error, 'reason', error)}.") from error
    finally:
        part.unlink(missing_ok=True)


def _stream(url: str, part: Path, progress: bool) -> str:
    """Write the response to a file and return its SHA-256."""
    digest = hashlib.sha256()
    # The URL comes from the registry of this package, never from a user.
    with urlopen(Request(url, headers={"User-Agent": AGENT}), timeout=TIMEOUT) as response, part.open("wb") as file:
        promised = int(response.headers.get("Content-Length") or 0)
        received = 0
        with _bar(url.rsplit("/", 1)[-1], promised, progress) as advance:
            while block := response.read(BLOCK):
                file.write(block)
                digest.update(block)
                received += len(block)
                advance(len(block))
    if received < promised:  # urllib does not check this when read in blocks
        raise DownloadError(
            f"The download of {url} ended after {received} of {promised} bytes. Nothing was kept; try again."
        )
    return digest.hexdigest()


@contextmanager
def _bar(title: str, total: int, show: bool) -> Iterator[Callable[[int], None]]:
    """Show a progress bar if rich is installed, else a single line."""
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
