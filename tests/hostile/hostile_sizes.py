"""Files whose headers declare sizes that their content does not have, or that unpack to far more than they are.

Every format has its own way to lie; each function takes a random generator and a valid file, and returns a file.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np
from numpy.lib import format as npy

Rng = np.random.Generator

NUMBERS = (0, 1, 2, 255, 10**4, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 10**10, 2**40, 2**62)
KINDS = ("<f8", "<f4", "<i8", "|b1", "<U0", "<U1", "<U100000", "|S0", "|S1", "<M8[s]", "<f2", "<c16", "|V0")


def number(rng: Rng) -> int:
    """Draw a size, most of them too large."""
    return int(NUMBERS[rng.integers(len(NUMBERS))])


def array(rng: Rng, content: bytes) -> bytes:
    """Declare another shape and type for the same bytes."""
    shape = tuple(number(rng) for _ in range(rng.integers(0, 4)))
    file = io.BytesIO()
    kind = KINDS[rng.integers(len(KINDS))]
    descr = [(f"f{i}", kind) for i in range(rng.integers(1, 50))] if rng.random() < 0.2 else kind
    npy.write_array_header_2_0(file, {"shape": shape, "fortran_order": bool(rng.integers(2)), "descr": descr})
    return file.getvalue() + content[128:]


def archive(rng: Rng, content: bytes) -> bytes:
    """Archive arrays that lie, in a zip file whose sizes may lie as well."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("X", "y", "z")[: rng.integers(1, 4)]:
            packed.writestr(
                zipfile.ZipInfo(f"{name}.npy"), array(rng, bytes(int(rng.integers(0, 10**6)))), zipfile.ZIP_DEFLATED
            )
    changed = bytearray(file.getvalue())
    if rng.random() < 0.5:  # a size in the central directory
        place = changed.rfind(b"PK\x01\x02") + int(rng.choice([20, 24]))
        struct.pack_into("<I", changed, place, number(rng) % 2**32)
    return bytes(changed)


def parquet(rng: Rng, content: bytes) -> bytes:
    """Replace a byte of the footer by a number of any size, or bytes of the first page header."""
    if len(content) < 20:
        return content
    (length,) = struct.unpack_from("<I", content, len(content) - 8)
    start = max(4, len(content) - 8 - length)
    if rng.random() < 0.4:
        place = int(rng.integers(4, min(40, start) + 1))
        return content[:place] + varint(number(rng) % 2**32) + content[place + 5 :]
    place = int(rng.integers(start, len(content) - 8))
    footer = content[start:place] + varint(number(rng)) + content[place + 1 : -8]
    return content[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def varint(value: int) -> bytes:
    """Return a number as Thrift's compact protocol writes it."""
    value, parts = 2 * value, []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def arrow(rng: Rng, content: bytes) -> bytes:
    """Overwrite aligned numbers."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        form = "<q" if rng.random() < 0.6 else "<i"
        place = 4 * int(rng.integers(0, max(1, len(content) // 4 - 1)))
        value = number(rng) if rng.random() < 0.8 else -number(rng)
        if place + 8 <= len(changed):
            struct.pack_into(form, changed, place, value if form == "<q" else (value + 2**31) % 2**32 - 2**31)
    return bytes(changed)


def ragged_lines(rng: Rng, content: bytes) -> bytes:
    """Put a wide header above many short rows."""
    n_columns, n_rows = (int(10 ** rng.uniform(0, 5)) for _ in range(2))
    return b",".join(b"c%d" % i for i in range(n_columns)) + b"\n" + b"1\n" * n_rows


def ragged_objects(rng: Rng, content: bytes) -> bytes:
    """Give each of many objects keys of its own, in some files within another object."""
    n, n_keys = int(10 ** rng.uniform(0, 4.5)), int(10 ** rng.uniform(0, 4.5))
    form = [b'{"%d":1}', b'{"a":{"%d":1}}', b'{"a":[{"%d":1}]}'][rng.integers(3)]
    objects = [form % (i % n_keys) for i in range(n)]
    return b"\n".join(objects) if rng.random() < 0.5 else b"[" + b",".join(objects) + b"]"


def repeated_blocks(rng: Rng, content: bytes) -> bytes:
    """Compress a table with Zstandard as blocks that repeat a byte."""
    raw = b"x,y\n1,2\n3,4\n"
    blocks = [(len(raw) << 3).to_bytes(3, "little") + raw]
    size, byte = min(number(rng), 1 << 17), [b"\n", b"1", b",", b"\0"][rng.integers(4)]
    blocks += [(size << 3 | 2).to_bytes(3, "little") + byte] * int(10 ** rng.uniform(0, 4.5))
    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(blocks) + b"\x01\x00\x00"


def repeated_members(rng: Rng, content: bytes) -> bytes:
    """Compress with gzip, and append a member of 16 MB again and again."""
    member = gzip.compress([b"\n", b"1,2\n", b"\0" * 4][rng.integers(3)] * (4 << 20), 1, mtime=0)
    return gzip.compress(content, mtime=0) + member * int(10 ** rng.uniform(0, 2.5))


def within_compressed(rng: Rng, content: bytes) -> bytes:
    """Compress with zlib, with gzip twice, or with one inside of the other, up to 300 MB of spaces behind the table."""
    much = content + b" " * int(10 ** rng.uniform(0, 8.5))
    packed = zlib.compress(much, 1) if rng.random() < 0.5 else _gzip(_gzip(much))
    return _gzip(packed) if rng.random() < 0.5 else packed


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)  # the same at any time


WAYS: dict[str, list[Callable[[Rng, bytes], bytes]]] = {
    "csv": [ragged_lines, repeated_blocks, repeated_members, within_compressed],
    "tsv": [ragged_lines, repeated_members],
    "parquet": [parquet],
    "arrow": [arrow],
    "json": [ragged_objects, repeated_members, within_compressed],
    "jsonl": [ragged_objects, within_compressed],
    "npy": [array, repeated_members],
    "npz": [archive],
}


def lie(rng: Rng, ending: str, content: bytes) -> bytes:
    """Return a file of a format with sizes that are not those of its content."""
    ways = WAYS[ending]
    return ways[rng.integers(len(ways))](rng, content)
