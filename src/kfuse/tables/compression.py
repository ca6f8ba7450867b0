"""Compressed files: gzip and Zstandard are decompressed here, under the gate.

polars itself decompresses what it is handed, going by the first bytes alone and without a bound. A small file could
take all memory that way, and a table whose first column is called x^2 would be taken for a compressed file, since "x^"
may be the first two bytes of zlib. So nothing compressed is handed to polars, and text that begins like zlib is marked
as text.
"""

from __future__ import annotations

import gzip
import io
import zlib

import polars as pl

from kfuse.tables import gate
from kfuse.tables.errors import TableError
from kfuse.tables.panics import reason_of, silent_panics
from kfuse.tables.sizes import zstandard
from kfuse.tables.sizes.errors import DamagedError

GZIP = b"\x1f\x8b"  # magic bytes
ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")  # the same, by level of compression; text can begin with the first two
MARK_OF_TEXT = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
OF_ZLIB = "is compressed with zlib: decompress it first, or compress the original with gzip"
TELLING = 1 << 16  # bytes that tell zlib from text
BYTES_PER_LINE = 24  # of a column of lines, each of which may be a byte of the file


def decompressed(content: bytes, name: str) -> bytes:
    """Decompress the content of a file, if it is compressed.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file in messages.

    Returns
    -------
    bytes
        What polars reads as it is, unless it is text that :func:`marked` marks.

    Raises
    ------
    TableError
        If it is damaged, takes more memory than there is, or is compressed in a way that is not read.
    """
    if content.startswith((MARK_OF_TEXT + GZIP, MARK_OF_TEXT + zstandard.MAGIC)):  # polars skips the mark
        content = content.removeprefix(MARK_OF_TEXT)
    if content.startswith(zstandard.MAGIC):
        content = _from_zstandard(content, name)
    elif content.startswith(GZIP):
        content = _from_gzip(content, name)
    begins = content.removeprefix(MARK_OF_TEXT)
    if begins.startswith((GZIP, zstandard.MAGIC)):
        raise TableError(f"{name} is compressed twice: decompress it first")
    if begins.startswith(ZLIB) and _is_zlib(begins):
        raise TableError(f"{name} {OF_ZLIB}")
    return content


def without_mark(content: bytes, name: str) -> bytes:
    """Return JSON without a byte order mark in front.

    Parameters
    ----------
    content : bytes
        The content of a JSON file, which cannot begin with an x as zlib does.
    name : str
        The name of the file in messages.

    Returns
    -------
    bytes
        The same, without the mark.

    Raises
    ------
    TableError
        If it is compressed with zlib, damaged or not.
    """
    begins = content.removeprefix(MARK_OF_TEXT)
    if begins.startswith(ZLIB):
        raise TableError(f"{name} {OF_ZLIB}")
    return begins


def marked(text: bytes) -> bytes:
    """Mark text as such if it begins as zlib does.

    Parameters
    ----------
    text : bytes
        A text in UTF-8.

    Returns
    -------
    bytes
        The same, after a byte order mark if polars would take it for a compressed file.
    """
    return MARK_OF_TEXT + text if text.startswith(ZLIB) else text


def _is_zlib(content: bytes) -> bool:
    """Decompress the beginning: of text, it fails sooner or later, or does not come to an end."""
    decoder = zlib.decompressobj()
    try:
        beginning = decoder.decompress(content, TELLING)
    except zlib.error:
        return False
    return decoder.eof or len(beginning) == TELLING


def _from_gzip(content: bytes, name: str) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as compressed:
            return gate.read_stream(compressed, name)  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{name} is a corrupt gzip file: compress the original again") from None


def _from_zstandard(content: bytes, name: str) -> bytes:
    """Decompress text. Python has no Zstandard of its own before 3.14, so polars reads the lines as a column."""
    try:
        gate.check_size(BYTES_PER_LINE * zstandard.size_of(content), name)
        with silent_panics():
            lines = pl.read_csv(content, has_header=False, separator="\0", quote_char=None, infer_schema=False)
        if lines.width > 1:
            raise DamagedError("it has zero bytes")
        text = lines.write_csv(include_header=False, quote_style="never")
        return text.encode()
    except (TableError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars may panic, which is not an Exception
        raise TableError(
            f"{name} cannot be read as CSV compressed with Zstandard ({reason_of(error)}): decompress it first"
        ) from None
