"""Small files that once killed the process, each with the command that did, and the means to make them again.

`python -m tests.hostile.corpus` writes them to tests/hostile/corpus_files, compressed for the repository. `LARGE` files
are made by the long run, `python -m tests.hostile.corpus --run`, which tries all of them.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.lib import format as npy

from tests.hostile import child

FOLDER = Path(__file__).with_name("corpus_files")
CAP = 3 << 30  # bytes of address space that a process has to cope with: polars, numba and scikit-learn take half of it


def array_header(shape: tuple[int, ...], kind: str) -> bytes:
    """Return an array file without data."""
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": kind})
    return file.getvalue()


def repeated_zeros(write: Callable[[pl.DataFrame, Any], Any]) -> bytes:
    """Return 6 GB of zeros, compressed; the chunks share their memory."""
    chunk = pl.DataFrame({"x": np.zeros(1 << 23), "y": np.zeros(1 << 23)})
    file = io.BytesIO()
    write(pl.concat([chunk] * 48, rechunk=False), file)
    return file.getvalue()


def nested_parquet() -> bytes:
    """Return a column of numbers beside one of long lists, 5 GB in all; the chunks share their memory."""
    lists = pl.Series("b", [[0] * 4_000_000] * 4)
    chunk = pl.DataFrame({"a": np.arange(4.0), "b": lists})
    file = io.BytesIO()
    pl.concat([chunk] * 40, rechunk=False).write_parquet(file, compression="zstd", row_group_size=4)
    return file.getvalue()


def long_text_parquet() -> bytes:
    """Return a text of a megabyte 20,000 times, stored once."""
    text = pl.Series("text", ["x" * 1_000_000]).new_from_index(0, 20_000)
    file = io.BytesIO()
    pl.DataFrame({"a": np.arange(20_000.0) % 7, "text": text}).write_parquet(file, compression="zstd")
    return file.getvalue()


def ragged_csv(n: int) -> bytes:
    """Return a header of n names above n rows of one value."""
    return b",".join(b"%x" % i for i in range(n)) + b"\n" + b"1\n" * n


def ragged_json(n: int, *, lines: bool = False, nested: bool = False) -> bytes:
    """Return n objects with a key of their own each."""
    objects = [b'{"k":{"%x":1}}' % i if nested else b'{"%x":1}' % i for i in range(n)]
    return b"\n".join(objects) if lines else b"[" + b",".join(objects) + b"]"


def zstandard_csv() -> bytes:
    """Return 6 GB of CSV: a first block with a header, then blocks that repeat a line break."""
    raw = b"x,y\n" + b"0,0\n" * 10
    blocks = [(len(raw) << 3).to_bytes(3, "little") + raw]
    blocks += [(((1 << 17) << 3) | 2).to_bytes(3, "little") + b"\n"] * 48_000
    last = (1 << 3 | 1).to_bytes(3, "little") + b"\n"
    return b"\x28\xb5\x2f\xfd" + bytes([0, 0x38]) + b"".join(blocks) + last


def twice_compressed(n_bytes: int) -> bytes:
    """Return an object and spaces after it, compressed with gzip twice."""
    return gzip.compress(gzip.compress(b'[{"x":1}]' + b" " * n_bytes, mtime=0), mtime=0)


FILES: dict[str, Callable[[], bytes]] = {
    "no-rows-many-columns.npy": lambda: array_header((0, 2_000_000_000), "<f8"),
    "empty-texts.npy": lambda: array_header((2_000_000_000,), "<U0"),
    "zeros.arrow": lambda: repeated_zeros(lambda frame, file: frame.write_ipc(file, compression="zstd")),
    "zeros.arrows": lambda: repeated_zeros(lambda frame, file: frame.write_ipc_stream(file, compression="zstd")),
    "line-breaks.csv.zst": zstandard_csv,
    "zlib.jsonl": lambda: zlib.compress(b'{"x":1}\n' + b" " * (900 << 20)),
    "twice.json": lambda: twice_compressed(900 << 20),
    "nested.parquet": nested_parquet,
    "long-text.parquet": long_text_parquet,
    "ragged-63k.csv": lambda: ragged_csv(10_000),
    "ragged-7000.json": lambda: ragged_json(7_000),
    "ragged.jsonl": lambda: ragged_json(12_000, lines=True),
    "ragged-nested.json": lambda: ragged_json(12_000, nested=True),
}
COMPRESSED = {"zlib.jsonl", "twice.json"}  # refused for that, whatever they unpack to
LARGE: dict[str, Callable[[], bytes]] = {
    "ragged-529k.csv": lambda: ragged_csv(80_000),
    "ragged-769k.json": lambda: ragged_json(60_000),
    "plain.csv": lambda: b"x,y\n" + b"0.123456789012345,0.987654321098765\n" * 10_000_000,
}
COMMANDS: dict[str, list[list[str]]] = {  # where it is not a plain `kfuse cluster`
    "nested.parquet": [["cluster", "--columns", "a"]],
    "long-text.parquet": [
        ["cluster", "--columns", "a", "--keep"],
        ["cluster", "--columns", "a", "--id", "text"],
        ["report", "--columns", "a", "--id", "text", "-o", "report.html"],
    ],
}
IN_CHILD = """
    from typer.testing import CliRunner
    from kfuse.cli.app import app
    KFuse().fit(small)
    for line in sys.stdin:
        cap, command = json.loads(line)
        resource.setrlimit(resource.RLIMIT_AS, (cap, resource.RLIM_INFINITY))
        began = time.monotonic()
        ended = CliRunner().invoke(app, command)
        error = None if isinstance(ended.exception, SystemExit | None) else repr(ended.exception)
        say(json.dumps([ended.exit_code, error, ended.stdout, ended.stderr, time.monotonic() - began]))
"""


class Outcome(NamedTuple):
    """What a command did under the cap."""

    exit_code: int
    exception: str | None
    stdout: str
    stderr: str
    seconds: float


def unpack(folder: Path) -> list[Path]:
    """Write the committed files to a folder."""
    paths = []
    for packed in sorted(FOLDER.glob("*.gz")):
        path = folder / packed.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        paths.append(path)
    return paths


def run(commands: list[list[str]], caps: list[int] | None = None) -> list[Outcome]:
    """Run commands one after the other in one process with caps on its memory, which fails if it is aborted."""
    lines = zip(caps or [CAP] * len(commands), commands, strict=True)
    said = child.run(IN_CHILD, 500, stdin="".join(json.dumps(line) + "\n" for line in lines))
    return [Outcome(*json.loads(line)) for line in said.splitlines()]


def commands_for(path: Path) -> list[list[str]]:
    """Return the commands to try with a file, which write nothing."""
    return [[one[0], str(path), *one[1:]] for one in COMMANDS.get(path.name, [["cluster"]])]


def main() -> None:
    """Write the files, or run all of them and print how each ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the commands instead of writing the files")
    if parser.parse_args().run:
        run_all()
        return
    FOLDER.mkdir(exist_ok=True)
    for name, make in FILES.items():
        content = gzip.compress(make(), 9, mtime=0)
        (FOLDER / f"{name}.gz").write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


def run_all() -> None:
    """Run every file, the large ones too; print the exit code, the time and the message of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, make in LARGE.items():
            (folder / key).write_bytes(make())
        paths = [*unpack(folder), *(folder / key for key in LARGE)]
        commands = [command for path in paths for command in commands_for(path)]
        for command, ended in zip(commands, run(commands), strict=True):
            message = ended.exception or ended.stderr.strip()
            print(f"{Path(command[1]).name}: exit code {ended.exit_code}, {ended.seconds:.1f} s: {message}")


if __name__ == "__main__":
    main()
