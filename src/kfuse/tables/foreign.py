"""Files that are not read, recognised by their first bytes or extension, so that the message says what they are."""

from __future__ import annotations

from pathlib import Path

from kfuse.tables.errors import TableError
from kfuse.tables.formats import extension_of

PICKLE = (
    "is a Python pickle, which can run code when it is read: if you trust it, load it in Python and save the table, "
    "for example pandas.read_pickle(...).to_parquet('data.parquet')"
)
SKIPPABLE = "begins with a skippable frame of Zstandard: decompress it first"
FIRST_BYTES = {
    **{bytes([0x80, protocol]): PICKLE for protocol in (2, 3, 4, 5)},
    b"\x89HDF": "is an HDF5 file: export the table as Parquet or CSV",
    b"SQLite format 3\0": "is an SQLite database: export the table as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel file: save it as CSV",
    **{b"BZh%d1AY&SY" % level: "is compressed with bzip2: decompress it first" for level in range(1, 10)},
    b"\xfd7zXZ\0": "is compressed with xz: decompress it first",
    b"\x04\x22\x4d\x18": "is compressed with LZ4: decompress it first",
    **{bytes([first]) + b"\x2a\x4d\x18": SKIPPABLE for first in range(0x50, 0x60)},
    b"%PDF": "is a PDF document: export the table as CSV",
}
EXTENSIONS = {".pkl": PICKLE, ".pickle": PICKLE, ".joblib": PICKLE}


def reject(content: bytes, name: str) -> None:
    """Raise an error that says what a file is if it is none that is read.

    Parameters
    ----------
    content : bytes
        The content of the file, decompressed.
    name : str
        The name of the file.

    Raises
    ------
    TableError
        If the file is of a known other kind.
    """
    what = next((what for start, what in FIRST_BYTES.items() if content.startswith(start)), None)
    what = what or EXTENSIONS.get(extension_of(Path(name)))
    if what is not None:
        raise TableError(f"{name} {what}")
