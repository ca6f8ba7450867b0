"""The formats of data tables: their names, the extensions of their files, and the bytes that the files begin with.

A new format is a name here, an estimate of what it takes in `sizes/`, a reader in `reading.py`, and a branch in
`writing.py` if it can be written. `foreign.py` has those that are recognised and refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

Writable = Literal["csv", "tsv", "parquet", "arrow", "json", "jsonl"]
Readable = Literal["csv", "tsv", "parquet", "arrow", "json", "jsonl", "npy", "npz"]

EXTENSIONS: dict[str, Readable] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
}
PLAIN_EXTENSIONS = {"", ".txt"}  # written as CSV
ARROW_STREAM = b"\xff\xff\xff\xff"
MAGIC_BYTES: dict[bytes, Readable] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    ARROW_STREAM: "arrow",
    b"FEA1": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",  # a zip file without members
}
FIRST_CHARACTERS: dict[bytes, Readable] = {b"[": "json", b"{": "jsonl"}
WRITABLE: tuple[Writable, ...] = get_args(Writable)


def extension_of(path: Path) -> str:
    """Return the extension that tells the format, in lower case: that of data.csv.gz is .csv."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def format_of(content: bytes, path: Path) -> Readable:
    """Detect the format of a file by its magic bytes, else by its extension, else by its first character."""
    for start, form in MAGIC_BYTES.items():
        if content.startswith(start):
            return form
    named = EXTENSIONS.get(extension_of(path))
    if named is not None:
        return named
    first = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return FIRST_CHARACTERS.get(first, "csv")
