"""Write a data table in any writable format, atomically."""

from __future__ import annotations

import gzip
import io
import os
import re
from pathlib import Path

import polars as pl

from kfuse import files
from kfuse.tables import gate
from kfuse.tables.errors import Setting, TableError
from kfuse.tables.formats import EXTENSIONS, PLAIN_EXTENSIONS, WRITABLE, Writable, extension_of

WRITABLE_EXTENSIONS = ", ".join(extension for extension, form in EXTENSIONS.items() if form in WRITABLE)

FORMULA = "^[=+@\t\r-]"  # how a cell begins that spreadsheets run


def write(
    frame: pl.DataFrame, path: str | os.PathLike[str], *, format: Writable | None = None, separator: str = ","
) -> None:
    """Write a table to a file, which is replaced only when all of it is written.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : str or path-like
        The file; a name that ends with .gz compresses it.
    format : {"csv", "tsv", "parquet", "arrow", "json", "jsonl"} or None, default=None
        The format; None decides by the extension of the file.
    separator : str, default=","
        The character between values of CSV.

    Raises
    ------
    TableError
        If the extension or a column does not fit a format.
    OSError
        If the file cannot be written.
    """
    target = Path(path)
    content = encode(frame, format or writable_format_of(target), separator)
    files.write_file(target, gzip.compress(content, mtime=0) if target.name.lower().endswith(".gz") else content)


def writable_format_of(path: Path) -> Writable:
    """Return the format that the extension of a file tells; CSV if it has none."""
    extension = extension_of(path)
    form = "csv" if extension in PLAIN_EXTENSIONS else EXTENSIONS.get(extension)
    if form not in WRITABLE:
        raise TableError(
            f"{path}: tables cannot be written as {extension}: choose one of {WRITABLE_EXTENSIONS}, or use ",
            Setting("format"),
        )
    return form


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before texts, and names of columns, that a spreadsheet would run as a formula.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.

    Returns
    -------
    polars.DataFrame
        The table, with numbers as they were.
    """
    texts = pl.col(pl.String)
    is_formula = texts.str.contains(FORMULA) & texts.str.strip_chars().cast(pl.Float64, strict=False).is_null()
    guarded = frame.with_columns(pl.when(is_formula).then(pl.lit("'") + texts).otherwise(texts).name.keep())
    return guarded.rename({name: f"'{name}" for name in frame.columns if re.match(FORMULA, name)})


def encode(frame: pl.DataFrame, format: Writable, separator: str = ",") -> bytes:
    """Return the content of a file in a format.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    format : {"csv", "tsv", "parquet", "arrow", "json", "jsonl"}
        The format.
    separator : str, default=","
        The character between values of CSV.

    Returns
    -------
    bytes
        What to write.
    """
    gate.check_output(frame)
    buffer = io.BytesIO()
    try:
        _write_to(buffer, frame, format, separator)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise TableError(
            f"the table cannot be written as {format} ({reason}): choose another format with ", Setting("format")
        ) from None
    return buffer.getvalue()


def _write_to(buffer: io.BytesIO, frame: pl.DataFrame, form: Writable, separator: str) -> None:
    if form in {"csv", "tsv"}:
        # Readers skip empty lines; a pair of quotes keeps the rows of a single column aligned with the input.
        null_value = '""' if frame.width == 1 else None
        frame.write_csv(buffer, separator="\t" if form == "tsv" else separator, null_value=null_value)
    elif form == "parquet":
        frame.write_parquet(buffer)
    elif form == "arrow":
        frame.write_ipc(buffer)
    elif form == "json":
        frame.write_json(buffer)
        buffer.write(b"\n")
    elif form == "jsonl":
        frame.write_ndjson(buffer)
    else:
        raise ValueError(f"No writer for the format {form!r}.")
