"""How a file of text is written: its encoding, and the character between its values."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from kfuse.tables.errors import TableError

COMMA = ","
OTHERS = {";": "';'", "\t": "a tab", "|": "'|'"}  # separators that files often have, as messages call them
N_LINES = 20  # that must agree on a separator
N_BYTES = 65_536  # in which these are looked for
_BLANK = re.compile(rb"^ *\r?\n", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # what text does not have


class Text(NamedTuple):
    """Text as UTF-8, and what was not as expected."""

    content: bytes
    note: str | None = None


def as_utf8(content: bytes, name: str) -> Text:
    """Return text as UTF-8, without blank lines around it; polars does not check headers.

    Spreadsheet programs also write UTF-16, and Windows-1252, the Latin-1 of Windows.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return Text(content.decode("utf-16").strip("\r\n").encode(), f"{name} is UTF-16")
        except UnicodeError:
            raise TableError(f"{name} is damaged UTF-16: convert it to UTF-8") from None
    if b"\0" in content[:4096]:
        raise TableError(f"{name} has zero bytes, as UTF-16 has: convert it to CSV in UTF-8")
    content = content.strip(b"\r\n")
    if content.isascii():
        return Text(content)
    try:
        content.decode()
    except UnicodeDecodeError as wrong:
        line = content.count(b"\n", 0, wrong.start) + 1
        return _from_windows(content, f"line {line} of {name} is not UTF-8")
    return Text(content)


def _from_windows(content: bytes, problem: str) -> Text:
    if not _CONTROL.search(content):
        with suppress(UnicodeDecodeError):
            return Text(content.decode("cp1252").encode(), f"{problem}, so the file is read as Windows-1252 (Latin-1)")
    raise TableError(f"{problem}: convert the file to UTF-8")


def without_blank_lines(content: bytes) -> bytes:
    """Remove lines that are empty but for spaces, unless they are part of a text in quotes."""
    kept, start, n_quotes = [], 0, 0
    for blank in _BLANK.finditer(content):
        n_quotes += content.count(b'"', start, blank.start())
        kept.append(content[start : blank.start() if n_quotes % 2 == 0 else blank.end()])
        start = blank.end()
    return b"".join([*kept, content[start:]]) if kept else content


def separator_in(content: bytes) -> str:
    """Find what separates the values of the first lines: commas, unless these disagree and another does not.

    It does not disagree if every line has the same number of values by it, and at least two.
    """
    start = content[:N_BYTES] if len(content) <= N_BYTES else content[:N_BYTES].rpartition(b"\n")[0]
    text = start.decode("utf-8-sig", errors="ignore")
    if _width(text, COMMA) > 1:
        return COMMA
    widths = {separator: _width(text, separator) for separator in OTHERS}
    best = max(widths, key=lambda separator: widths[separator])
    return best if widths[best] > 1 else COMMA


def _width(text: str, separator: str) -> int:
    """Return how many values each of the first lines has, or 0 if they differ."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        widths = {len(row) for row in islice((row for row in rows if row), N_LINES)}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 else 0
