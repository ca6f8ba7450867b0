"""Files for the command line: valid in every format, and truncated, damaged, renamed, lying or random ones."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tests.hostile import hostile_sizes

Rng = np.random.Generator

ENDINGS = ("csv", "tsv", "parquet", "arrow", "json", "jsonl", "npy", "npz")
LYING = 0.4  # share of files with sizes that are not true
MARK = Path(tempfile.gettempdir()) / f"kfuse-hostile-{os.getpid()}"  # created when a hostile pickle is loaded


class Payload:
    """An object that creates a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(MARK),)


def make(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Build the name and the content of a file to cluster."""
    ending = str(rng.choice(ENDINGS))
    content = WRITERS[ending](table(rng))
    if rng.random() < LYING:
        content = hostile_sizes.lie(rng, ending, content)
    for _ in range(rng.integers(0, 3)):
        content = DAMAGES[rng.integers(len(DAMAGES))](rng, content)
    if rng.random() < 0.1:
        ending = str(rng.choice([*ENDINGS, "txt", "xyz", "csv.gz"]))
    return {}, (f"data.{ending}", content), None


def table(rng: Rng) -> pl.DataFrame:
    """Draw a small table of numbers; some have missing values, text, NaN or infinities."""
    n, n_columns = int(rng.integers(0, 20)), int(rng.integers(1, 4))
    columns: dict[str, Any] = {f"c{i}": rng.random(n).round(3) for i in range(n_columns)}
    if rng.random() < 0.2:
        columns["text"] = [f"row {i}" for i in range(n)]
    if rng.random() < 0.2:
        columns["holes"] = [None if rng.random() < 0.3 else float(i) for i in range(n)]
    if rng.random() < 0.1:
        columns["odd"] = [float(rng.choice([np.nan, np.inf, 1e308, -1e308])) for _ in range(n)]
    return pl.DataFrame(columns, strict=False)


def written(save: Callable[[Any], Any]) -> bytes:
    """Return the bytes that a function writes to a file."""
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def numbers(frame: pl.DataFrame) -> Any:
    """Return the numeric columns as an array."""
    return frame.select(pl.col(pl.Float64)).to_numpy()


WRITERS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "csv": lambda frame: frame.write_csv().encode(),
    "tsv": lambda frame: frame.write_csv(separator="\t").encode(),
    "parquet": lambda frame: written(frame.write_parquet),
    "arrow": lambda frame: written(frame.write_ipc if len(frame) % 2 else frame.write_ipc_stream),
    "json": lambda frame: frame.write_json().encode(),
    "jsonl": lambda frame: frame.write_ndjson().encode(),
    "npy": lambda frame: written(lambda file: np.save(file, numbers(frame))),
    "npz": lambda frame: written(lambda file: np.savez(file, X=numbers(frame), y=np.arange(len(frame)))),
}


def flipped(rng: Rng, content: bytes) -> bytes:
    """Overwrite some bytes."""
    changed = bytearray(content)
    for position in rng.integers(0, max(1, len(content)), rng.integers(1, 9)) if content else ():
        changed[position] = int(rng.integers(256))
    return bytes(changed)


def with_insertion(rng: Rng, content: bytes) -> bytes:
    """Insert bytes that parsers stumble over."""
    inserted = [b"\x00", b'"', b"\n\n", b",,,,", b"\xff\xfe", b"{", b"9" * 400, b"1e999", b"=cmd()", b"\r", b"../../x"]
    position = int(rng.integers(len(content) + 1))
    return content[:position] + inserted[rng.integers(len(inserted))] + content[position:]


def pickled(rng: Rng, content: bytes) -> bytes:
    """Replace the data with a pickle that runs code."""
    objects = np.array([Payload()], dtype=object)
    forms: list[Callable[[], bytes]] = [
        lambda: pickle.dumps(Payload()),
        lambda: written(lambda file: np.save(file, objects, allow_pickle=True)),
        lambda: written(lambda file: np.savez(file, X=objects, allow_pickle=True)),
    ]
    return forms[rng.integers(len(forms))]()


DAMAGES: list[Callable[[Rng, bytes], bytes]] = [
    lambda rng, content: content[: rng.integers(len(content) + 1)],
    flipped,
    flipped,
    with_insertion,
    lambda rng, content: rng.bytes(int(rng.integers(0, 300))),
    lambda rng, content: content[:8] + rng.bytes(int(rng.integers(0, 300))),
    lambda rng, content: gzip.compress(content, mtime=0),
    lambda rng, content: content * 2,
    lambda rng, content: content.decode("latin1").encode("utf-16"),
    pickled,
]
