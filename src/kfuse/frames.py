"""Data frames of results: of pandas, or of polars."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def data_frame(table: dict[str, NDArray[Any]], asked: str, like: Any = None) -> Any:
    """Return a table as a data frame of the same kind as another one; of whichever is installed if that is none.

    `asked` is the function that gives it, for the error if none is installed.
    """
    kind = type(like).__module__.partition(".")[0]
    for name in ("polars", "pandas") if kind == "polars" else ("pandas", "polars"):
        try:
            if name == "pandas":
                import pandas as pd  # noqa: PLC0415 - an optional dependency

                return pd.DataFrame(table)
            import polars as pl  # noqa: PLC0415 - an optional dependency

            texts = {
                title: pl.Series(column.tolist(), dtype=pl.String)
                for title, column in table.items()
                if column.dtype == object
            }
            return pl.DataFrame({**table, **texts})
        except ImportError:
            continue
    raise ImportError(f"{asked} gives a data frame: pip install pandas, or pip install polars")
