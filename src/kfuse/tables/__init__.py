r"""Data tables: read any format, choose numeric columns, handle missing values, scale to features.

Needs polars, which is imported on first use. What is wrong with a table is raised as a `TableError`.

Examples
--------
>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from kfuse import tables
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "people.csv")
...     _ = path.write_text("name,height,weight\nAda,1.70,61\nBo,1.82,\nCy,1.65,58\n")
...     people = tables.read(path)
>>> features = tables.to_features(people, exclude=["name"], missing="drop")
>>> features.names
['height', 'weight']
>>> features.X
array([[1., 1.],
       [0., 0.]])
>>> features.used
array([ True, False,  True])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kfuse.tables.errors import TableError

if TYPE_CHECKING:
    from kfuse.tables.columns import Features, to_features
    from kfuse.tables.reading import Table, parse, read
    from kfuse.tables.writing import encode, write

__all__ = ["Features", "Table", "TableError", "encode", "parse", "read", "to_features", "write"]

_HOMES = {
    "Features": "columns",
    "Table": "reading",
    "encode": "writing",
    "parse": "reading",
    "read": "reading",
    "to_features": "columns",
    "write": "writing",
}


def __getattr__(name: str) -> Any:
    """Import polars on first use: ``kfuse --help`` needs the names of formats, but no table."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only needed here

    try:
        module = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if error.name != "polars":
            raise
        raise ModuleNotFoundError("kfuse.tables needs polars: pip install 'kfuse[cli]'", name="polars") from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
