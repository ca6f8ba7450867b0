"""Zstandard: a bound on the size once decompressed, from the headers of the blocks.

https://www.rfc-editor.org/rfc/rfc8878 has the layout. A frame may leave out its size, but every block has a header, and
no block is larger than 128 KiB once decompressed.
"""

from __future__ import annotations

from kfuse.tables.sizes.errors import DamagedError

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPED_MAGIC = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f
LARGEST_BLOCK = 1 << 17
RAW, REPEATED = 0, 1  # kinds of blocks


def size_of(content: bytes) -> int:
    """Return the most bytes that the content can have once decompressed."""
    total, position = 0, 0
    try:
        while position < len(content):
            if content.startswith(MAGIC, position):
                size, position = _frame(content, position + 4)
                total += size
            elif content.startswith(SKIPPED_MAGIC, position + 1):
                position += 8 + int.from_bytes(content[position + 4 : position + 8], "little")
            else:
                break  # what follows is not decompressed
    except IndexError as error:
        raise DamagedError("it is truncated") from error
    return total


def _frame(content: bytes, position: int) -> tuple[int, int]:
    """Return the most bytes that a frame has once decompressed, and where it ends."""
    descriptor = content[position]
    is_single = bool(descriptor & 32)
    size_bytes = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
    position += 1 + (not is_single) + (0, 1, 2, 4)[descriptor & 3] + size_bytes
    total, is_last = 0, False
    while not is_last:
        header = content[position] | content[position + 1] << 8 | content[position + 2] << 16
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        total += size if kind in (RAW, REPEATED) else LARGEST_BLOCK
        position += 3 + (1 if kind == REPEATED else size)
    return total, position + (4 if descriptor & 4 else 0)
