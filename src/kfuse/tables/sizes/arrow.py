"""Arrow files and streams: the sizes that record batches declare for their buffers once they are decompressed.

A message is a flatbuffer: a table is a position whose first number leads back to a list of offsets, one per field.
https://arrow.apache.org/docs/format/Columnar.html has the layout of messages, batches and the footer of a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.tables.sizes.errors import DamagedError

FILE = b"ARROW1"  # magic bytes
CONTINUATION = b"\xff\xff\xff\xff"
DICTIONARY_BATCH, RECORD_BATCH = 2, 3  # kinds of messages
BYTES_PER_VALUE = 8  # beside its buffers: text is stored in another way, and nulls have no buffer
PREFIX = 8  # bytes before a compressed buffer: its length once decompressed, -1 if it is not compressed


class Message(NamedTuple):
    """The table of a message, and where the buffers that it describes begin."""

    table: int
    body: int


def size_of(content: bytes) -> int:
    """Return about how many bytes all batches take when read; each counts as often as it is listed."""
    try:
        messages = _listed_messages(content) if content.startswith(FILE) else _messages_in_turn(content)
        total, n_read = 0.0, 0
        for message in messages:
            nodes, sizes = _batch(content, message)
            total += BYTES_PER_VALUE * float(nodes.sum(dtype=np.float64)) + float(sizes.sum(dtype=np.float64))
            n_read += 1 + nodes.size + sizes.size
            if n_read > len(content):
                raise DamagedError("batches overlap")
    except (struct.error, IndexError, OverflowError) as error:
        raise DamagedError("its metadata is damaged") from error
    return int(total)


def _listed_messages(content: bytes) -> Iterator[Message]:
    """Yield the messages that the footer of a file lists."""
    if not content.endswith(FILE):
        raise DamagedError("it has no footer")
    (length,) = struct.unpack_from("<i", content, len(content) - 10)
    start = len(content) - 10 - length
    if not 0 <= start <= len(content) - 10:
        raise DamagedError("its footer is damaged")
    footer = start + _number(content, "<I", start)
    for field in (2, 3):  # dictionaries, record batches
        for at, size in _vector(content, footer, field, 24):
            for block in range(at, at + 24 * size, 24):
                offset, length = struct.unpack_from("<qi", content, block)
                yield Message(_root(content, _start(content, offset)), _within(content, offset + length))


def _messages_in_turn(content: bytes) -> Iterator[Message]:
    """Yield the messages of a stream."""
    position = 0
    while position + 8 <= len(content):
        start = _start(content, position)
        length = _number(content, "<i", start - 4)
        if length == 0:
            return
        message = Message(_root(content, start), _within(content, start + length))
        yield message
        size = _field(content, message.table, 3, "<q")
        if length < 0 or size < 0:
            raise DamagedError("a size is negative")
        position = message.body + size


def _start(content: bytes, position: int) -> int:
    """Return where the flatbuffer of an encapsulated message begins: after its length."""
    _within(content, position)
    return position + (8 if content.startswith(CONTINUATION, position) else 4)


def _batch(content: bytes, message: Message) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lengths of the columns of a batch, and the sizes of its buffers once decompressed."""
    nothing = np.zeros(0, dtype=np.int64)
    kind, table = _field(content, message.table, 1, "<B"), _table(content, message.table, 2)
    if kind == DICTIONARY_BATCH and table is not None:
        table = _table(content, table, 1)
    elif kind != RECORD_BATCH:
        return nothing, nothing
    if table is None:
        return nothing, nothing
    lengths, buffers = _pairs(content, table, 1)[:, 0], _pairs(content, table, 2)
    if (lengths < 0).any() or (buffers < 0).any():
        raise DamagedError("a size is negative")
    sizes = buffers[:, 1].copy()
    if _table(content, table, 3) is not None:
        for i in np.flatnonzero(sizes >= PREFIX):
            declared = _number(content, "<q", message.body + int(buffers[i, 0]))
            sizes[i] = max(declared, 0) if declared != -1 else sizes[i]
    return np.append(lengths, max(0, _field(content, table, 0, "<q"))), sizes


def _pairs(content: bytes, table: int, field: int) -> NDArray[np.int64]:
    """Return a vector of pairs of numbers: nodes, or buffers."""
    for at, size in _vector(content, table, field, 16):
        return np.frombuffer(content, dtype="<i8", count=2 * size, offset=at).reshape(-1, 2)
    return np.zeros((0, 2), dtype=np.int64)


def _vector(content: bytes, table: int, field: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield where a vector begins and its length, if the table has it and the file is long enough for it."""
    at = _table(content, table, field)
    if at is not None:
        size = _number(content, "<I", at)
        _within(content, at + 4 + width * size)
        yield at + 4, size


def _root(content: bytes, start: int) -> int:
    return start + _number(content, "<I", start)


def _table(content: bytes, table: int, field: int) -> int | None:
    """Return where a field that is a table or vector begins, None if it is not there."""
    at = _position(content, table, field)
    return None if at is None else _within(content, at + _number(content, "<I", at))


def _field(content: bytes, table: int, field: int, form: str) -> int:
    """Return a field that is a number, 0 if it is not there."""
    at = _position(content, table, field)
    return 0 if at is None else _number(content, form, at)


def _position(content: bytes, table: int, field: int) -> int | None:
    offsets = _within(content, table - _number(content, "<i", table))
    if 4 + 2 * field >= _number(content, "<H", offsets):
        return None
    offset = _number(content, "<H", offsets + 4 + 2 * field)
    return table + offset if offset else None


def _number(content: bytes, form: str, position: int) -> int:
    number: int = struct.unpack_from(form, content, _within(content, position))[0]
    return number


def _within(content: bytes, position: int) -> int:
    """Return a position, which must be one of the content."""
    if not 0 <= position <= len(content):
        raise DamagedError("a position is outside of the file")
    return position
