"""NumPy arrays: .npy files, and .npz files with arrays of the same number of rows."""

from __future__ import annotations

import io
import zipfile
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.typing import NDArray

from kfuse.tables import gate
from kfuse.tables.errors import TableError
from kfuse.tables.formats import MAGIC_BYTES

FEATURES = "X"  # the array to cluster by if there are several
COPIES = 3  # of an array while it is read
BYTES_PER_NUMBER, BYTES_PER_TEXT, BYTES_PER_COLUMN = 8, 150, 2000  # of a table, while it is made


class Arrays(NamedTuple):
    """A frame made of arrays, and which of its columns come from the array to cluster by."""

    frame: pl.DataFrame
    features: list[str]


def read(content: bytes, name: str) -> Arrays:
    """Read a .npy or .npz file without unpickling, which could run code.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file in messages.

    Returns
    -------
    Arrays
        Columns column_1, column_2, ... for a two-dimensional array, a single column for a one-dimensional one.
    """
    try:
        if MAGIC_BYTES.get(content[:4]) == "npz":
            return _from_several(_members(content, name), name)
        array = _array(io.BytesIO(content), len(content), name)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # a damaged header or archive fails in many ways
        reason = str(error).splitlines()[0] if str(error) else "it is truncated"
        raise TableError(f"{name} cannot be read as NumPy arrays ({reason}): save it again") from None
    frame = _columns(array, name)
    return Arrays(frame, frame.columns)


def _members(content: bytes, name: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an archive after checking the sizes that it declares."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        if not entries:
            raise TableError(f"{name} is a zip file without arrays: if it is a spreadsheet, save it as CSV")
        gate.check_size(COPIES * sum(entry.file_size for entry in entries), name)
        arrays = {}
        for entry in entries:
            with archive.open(entry) as member:
                arrays[entry.filename.removesuffix(".npy")] = _array(member, entry.file_size, name)  # type: ignore[arg-type]
        return arrays


def _array(file: BinaryIO, size: int, name: str) -> NDArray[Any]:
    """Read one array after checking that the file is as large as its header declares."""
    start = file.read(4096)  # headers of numeric arrays are shorter
    header = io.BytesIO(start)
    version = npy.read_magic(header)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read_header(header)
    if dtype.hasobject:
        raise TableError(f"{name} contains Python objects, which can run code when read: save an array of numbers")
    declared = prod(shape) * dtype.itemsize
    gate.check_size(_size_as_table(shape, dtype, declared), name)
    if declared > size - header.tell():
        raise ValueError("it is truncated")
    return npy.read_array(io.BytesIO(start + file.read()), allow_pickle=False)


def _size_as_table(shape: tuple[int, ...], dtype: np.dtype[Any], declared: int) -> int:
    """Return about how many bytes an array takes as a table; texts and columns take some even if they are empty."""
    n_fields = len(dtype.names or "1")
    return (
        COPIES * declared
        + BYTES_PER_COLUMN * prod(shape[1:]) * n_fields
        + (BYTES_PER_NUMBER if dtype.kind in "biuf" else BYTES_PER_TEXT) * prod(shape) * n_fields
    )


def _from_several(arrays: dict[str, NDArray[Any]], name: str) -> Arrays:
    """Join arrays of the same number of rows; the features are X, or else the only two-dimensional array."""
    if len(arrays) == 1:
        frame = _columns(next(iter(arrays.values())), name)
        return Arrays(frame, frame.columns)
    tables = [key for key, array in arrays.items() if array.ndim == 2]
    main = FEATURES if FEATURES in arrays else tables[0] if len(tables) == 1 else None
    if main is None and tables:
        raise TableError(f"{name} has several tables, {', '.join(tables)}: call the one to cluster by X")
    rows = len(arrays[main]) if main else max(array.size for array in arrays.values())
    beside = {key: array for key, array in arrays.items() if key != main and array.shape == (rows,)}
    if main is None:
        if len(beside) < len(arrays):
            raise TableError(f"{name} has arrays of different lengths: save one table, or columns of one length")
        frame = pl.DataFrame({key: _plain(array, name) for key, array in beside.items()})
        return Arrays(frame, frame.columns)
    frame = _columns(arrays[main], name)
    others = {key: _plain(array, name) for key, array in beside.items() if key not in frame.columns}
    return Arrays(frame.with_columns(**{key: pl.Series(array) for key, array in others.items()}), frame.columns)


def _columns(array: NDArray[Any], name: str) -> pl.DataFrame:
    """Return an array as a frame of its columns, or of the fields of its records."""
    if array.ndim not in {1, 2}:
        raise TableError(f"{name} has an array of {array.ndim} dimensions: save one of two, rows by columns")
    if array.dtype.names:
        return pl.DataFrame({field: _plain(array[field].reshape(-1), name) for field in array.dtype.names})
    if array.ndim == 1:
        return pl.DataFrame({"column_1": _plain(array, name)})
    plain = _plain(array, name)
    return pl.DataFrame({f"column_{i}": plain[:, i - 1] for i in range(1, array.shape[1] + 1)})


def _plain(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array in the byte order and a type that polars supports."""
    if array.dtype.kind not in "biufUSM":
        raise TableError(f"{name} has an array of type {array.dtype}: save real numbers")
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "f" and array.dtype.itemsize not in {4, 8}:
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
