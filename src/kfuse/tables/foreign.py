"""Files that are not read, recognised by their first bytes or extension, so that the message says what they are."""

from __future__ import annotations

from pathlib import Path

from kfuse.tables.errors import TableError
from kfuse.tables.formats import extension_of

PICKLE = (
    "is a Python pickle, which can run code when it is read: if you trust it, load it in Python and save the table, "
    "for example pandas.read_pickle(...).to_parquet('data.parquet')"
)
FIRST_BYTES = {
    **{bytes([0x80, protocol]): PICKLE for protocol in (2, 3, 4, 5)},
    b"\x89HDF": "is an HDF5 file: export the table as Parquet or CSV",
    b"SQLite format 3\0": "is an SQLite database: export the table as CSV",
    b"\xd0\xcf\x11\xe0": "is an old Excel file: save it as CSV",
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
