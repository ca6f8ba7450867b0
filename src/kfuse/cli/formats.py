"""The formats of tables: their names, the endings of their files, and how the files start."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

Writable = Literal["csv", "tsv", "parquet", "arrow", "json", "jsonl"]
Readable = Literal["csv", "tsv", "parquet", "arrow", "json", "jsonl", "npy", "npz"]

STREAM = Path("-")
ENDINGS: dict[str, Readable] = {
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
PLAIN_ENDINGS = {"", ".txt"}  # written as CSV
ARROW_STREAM = b"\xff\xff\xff\xff"
STARTS: dict[bytes, Readable] = {
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


def name_of(path: Path) -> str:
    """Name the file in messages."""
    return "standard input" if path == STREAM else str(path)


def ending_of(path: Path) -> str:
    """Give the ending that tells the format, in small letters: that of data.csv.gz is .csv."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def of_content(content: bytes, path: Path) -> Readable:
    """Tell the format of a file by how it starts, else by its name, else by its first character."""
    for start, form in STARTS.items():
        if content.startswith(start):
            return form
    named = ENDINGS.get(ending_of(path))
    if named is not None:
        return named
    first = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return FIRST_CHARACTERS.get(first, "csv")
