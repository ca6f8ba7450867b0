"""Parquet: the sizes and numbers of values that the footer and the header of every page declare.

Both are structures in Thrift's compact protocol: numbers of fields with their values, of which only a few matter here.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift names the fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from kfuse.tables.sizes.errors import DamagedError

MAGIC = b"PAR1"
BYTE_ARRAY, FIXED_LENGTH = 6, 7  # physical types
BYTES_PER_NUMBER, BYTES_PER_VIEW = 8, 16
WHILE_READ = 1.5  # times the memory of the table
LIST_OFFSET = 8  # bytes per value of a nested column
LEAST_PAGE = 8  # bytes of the header of a page, at least
DEEPEST = 16  # lists and structures within each other; the footer has eight

Struct = dict[int, Any]


def size_of(content: bytes) -> int:
    """Return about how many bytes the table takes when read, its nested columns and every page included."""
    try:
        return _size_of_table(content, _footer(content))
    except (struct.error, IndexError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError("its metadata is damaged") from error


def _footer(content: bytes) -> Struct:
    if not content.endswith(MAGIC):
        raise DamagedError("it has no footer")
    (length,) = struct.unpack_from("<I", content, len(content) - 8)
    if length > len(content) - 12:
        raise DamagedError("its footer is damaged")
    return Thrift(content, len(content) - 8 - length).struct()


def _size_of_table(content: bytes, footer: Struct) -> int:
    groups = footer.get(4, [])
    widths = [element.get(2, 0) for element in footer[2] if element.get(1) == FIXED_LENGTH]
    widest = max([BYTES_PER_VIEW, *widths])
    n_columns = sum(1 for element in footer[2] if not element.get(5))
    n_rows = max(footer.get(3, 0), sum(group.get(3, 0) for group in groups))
    total, n_pages = 0, 0
    for group in groups:
        for chunk in group[1]:
            described = chunk[3]
            declared, n_values = 0, described[5]
            for uncompressed, values in _pages(content, described):
                declared, n_values, n_pages = declared + uncompressed, max(n_values, values), n_pages + 1
                if n_pages > len(content) // LEAST_PAGE:
                    raise DamagedError("columns overlap")
            stored, values = max(declared, described[6]), n_values * _width(described, widest)
            total += stored + values if described[1] == BYTE_ARRAY else max(stored, values)
    return int(WHILE_READ * max(total, BYTES_PER_NUMBER * n_rows * n_columns))


def _width(described: Struct, widest: int) -> int:
    """Return the bytes that a value of a column takes."""
    offset = LIST_OFFSET if len(described.get(3, [])) > 1 else 0
    kind = described[1]
    return offset + (BYTES_PER_VIEW if kind == BYTE_ARRAY else widest if kind == FIXED_LENGTH else BYTES_PER_NUMBER)


def _pages(content: bytes, described: Struct) -> Iterator[tuple[int, int]]:
    """Yield the size of each page once decompressed, and the number of values up to it."""
    start = min(offset for offset in (described.get(11), described[9]) if offset)
    stop, values = start + described[7], 0
    if start < 0 or stop < start:
        raise DamagedError("a position is outside of the file")
    while start < stop and start < len(content):
        reader = Thrift(content, start)
        page = reader.struct()
        header = page.get(5) or page.get(8) or {}
        values += header.get(1, 0)
        if min(page[2], page[3], values) < 0:
            raise DamagedError("a size is negative")
        yield page[2], values
        start = reader.position + page[3]


class Thrift:
    """Read structures in Thrift's compact protocol."""

    def __init__(self, content: bytes, position: int):
        self.content, self.position = content, position

    def struct(self, depth: int = 0) -> Struct:
        """Return the fields of a structure by their numbers."""
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise DamagedError("its metadata is nested too deeply")
        if kind in (1, 2, 3):  # in a list, a truth value takes a byte
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8, 13):
            return self._bytes({7: 8, 13: 16}.get(kind) or self._unsigned())
        if kind in (9, 10):
            return self._list(depth + 1)
        if kind == 12:
            return self.struct(depth + 1)
        raise DamagedError("its metadata has an unknown type")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        if size > len(self.content) - self.position:
            raise DamagedError("a list is longer than the file")
        return [self._value(head & 15, depth) for _ in range(size)]

    def _bytes(self, size: int) -> bytes:
        if size > len(self.content) - self.position:
            raise DamagedError("a text is longer than the file")
        self.position += size
        return self.content[self.position - size : self.position]

    def _byte(self) -> int:
        self.position += 1
        return self.content[self.position - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise DamagedError("a number is too long")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
