"""Parquet files that need not fit in memory: rows in, labels out, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.dask.tasks import explained


class Part(NamedTuple):
    """Some rows of a file."""

    file: str
    first: int
    n_rows: int

    def read(self, columns: Sequence[str] | None) -> pl.DataFrame:
        """Read columns of these rows, all columns if None."""
        rows = pl.scan_parquet(self.file, glob=False).slice(self.first, self.n_rows)
        return (rows if columns is None else rows.select(columns)).collect()


class Scaling(NamedTuple):
    """How columns are brought to [0, 1], or nothing."""

    least: NDArray[np.float64]
    extent: NDArray[np.float64]


def numeric_columns(file: Path) -> list[str]:
    """Return the columns of a file that hold numbers."""
    return [name for name, kind in pl.scan_parquet(file, glob=False).collect_schema().items() if kind.is_numeric()]


def parts_of(files: Sequence[Path], rows_per_part: int) -> list[Part]:
    """Divide files into parts of at most so many rows; a file without rows has none."""
    parts = []
    for file in files:
        n_rows = pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
        starts = range(0, n_rows, rows_per_part)
        parts += [Part(str(file), first, min(rows_per_part, n_rows - first)) for first in starts]
    return parts


def min_max(parts: list[Part], columns: list[str]) -> Scaling:
    """Return the scaling that brings each column to [0, 1]; a constant column becomes zero."""
    found = dask.compute(*(dask.delayed(_bounds)(dask.delayed(part, traverse=False), columns) for part in parts))
    least, greatest = np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)
    return Scaling(least, np.where(greatest > least, greatest - least, 1.0))


def _bounds(part: Part, columns: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = load(part, columns, None)
    return values.min(axis=0, initial=np.inf), values.max(axis=0, initial=-np.inf)


def rows_of(parts: list[Part], columns: list[str], scaling: Scaling | None) -> da.Array:
    """Return columns of all parts as a Dask array, a chunk for each part."""
    read = [dask.delayed(load)(dask.delayed(part, traverse=False), columns, scaling) for part in parts]
    shapes = [(part.n_rows, len(columns)) for part in parts]
    return da.concatenate([da.from_delayed(one, shape, np.float64) for one, shape in zip(read, shapes, strict=True)])


def load(part: Part, columns: list[str], scaling: Scaling | None) -> NDArray[np.float64]:
    """Read columns of a part as numbers; what is missing is NaN."""
    values = part.read(columns).cast(pl.Float64).fill_null(np.nan).to_numpy()
    return np.ascontiguousarray(values if scaling is None else (values - scaling.least) / scaling.extent)


def write_labels(labels: da.Array, parts: list[Part], folder: Path, name: str, kept: list[str] | None) -> None:
    """Write a file of labels for each part, beside the columns that are kept; all of them if None.

    The folder is complete or not there: it gets its name when all files are written.
    """
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    unfinished.mkdir(parents=True)
    try:
        width = len(str(len(parts)))
        written = [
            dask.delayed(_write)(
                chunk, dask.delayed(part, traverse=False), unfinished / f"part-{i:0{width}}.parquet", name, kept
            )
            for i, (chunk, part) in enumerate(zip(labels.to_delayed().ravel(), parts, strict=True))
        ]
        with explained("write fewer columns"):
            dask.compute(*written)
        unfinished.rename(folder)
    finally:
        for file in unfinished.glob("*"):
            file.unlink()
        if unfinished.exists():
            unfinished.rmdir()


def _write(labels: NDArray[np.intp], part: Part, file: Path, name: str, kept: list[str] | None) -> None:
    column: Any = pl.Series(name, labels.astype(np.int64))
    frame = column.to_frame() if kept == [] else part.read(kept).with_columns(column)
    frame.write_parquet(file)
