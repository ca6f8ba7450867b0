"""A table with odd names and texts, and files of every format in memory."""

import io

import numpy as np
import polars as pl

FRAME = pl.DataFrame(
    {
        "größe, cm": [0.0, 0.1, 0.0, 0.1, 9.0, 9.1, 9.0, 9.1],
        "日本": [0, 1, 0, 1, 90, 91, 90, 91],
        'a "b"': ["x", "y, z", 'q"q', "two\nlines", "ü", " ", "007", "-"],
    }
)
WRITE = {
    "csv": lambda frame, file: frame.write_csv(file),
    "tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    "parquet": lambda frame, file: frame.write_parquet(file),
    "arrow": lambda frame, file: frame.write_ipc(file),
    "json": lambda frame, file: frame.write_json(file),
    "jsonl": lambda frame, file: frame.write_ndjson(file),
}


def written(frame, form):
    file = io.BytesIO()
    WRITE[form](frame, file)
    return file.getvalue()


def saved(*args, compressed=False, **arrays):
    """Save arrays as numpy does, in memory."""
    file = io.BytesIO()
    if arrays:
        (np.savez_compressed if compressed else np.savez)(file, **arrays)
    else:
        np.save(file, *args)
    return file.getvalue()


POINTS = FRAME.drop('a "b"').to_numpy()
