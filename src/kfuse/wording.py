"""Wording that messages of several modules share."""

from __future__ import annotations

import re

# Control characters, which a terminal obeys, and what stands for bytes of a file name that are not UTF-8.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return a text that is safe to print: what cannot be shown, or a terminal would obey, is spelled as its code."""
    return UNPRINTABLE.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    code = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: 1 row, 2 rows."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
