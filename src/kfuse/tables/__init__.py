r"""Data tables: read any format, and turn columns into features by their roles.

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
>>> found = tables.features(people, missing="drop")
>>> for decision in found.decisions:
...     print(decision.column, decision.role, decision.scaling or decision.why, sep=": ")
name: identifier: names the rows
height: number: min-max
weight: number: min-max
>>> found.X
array([[1., 1.],
       [0., 0.]])
>>> found.used
array([ True, False,  True])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kfuse.tables.errors import TableError

if TYPE_CHECKING:
    from kfuse.tables.columns import Decision, Features, features
    from kfuse.tables.reading import Table, parse, read
    from kfuse.tables.remarks import Advice, advice
    from kfuse.tables.writing import encode, write

__all__ = [
    "Advice",
    "Decision",
    "Features",
    "Table",
    "TableError",
    "advice",
    "encode",
    "features",
    "parse",
    "read",
    "write",
]

_HOMES = {
    "Advice": "remarks",
    "Decision": "columns",
    "Features": "columns",
    "Table": "reading",
    "advice": "remarks",
    "encode": "writing",
    "features": "columns",
    "parse": "reading",
    "read": "reading",
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
