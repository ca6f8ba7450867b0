"""Scores as tables of data sets x methods: the paper's and ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kfuse.baselines.methods import METHODS
from kfuse.datasets import names
from study.embedding import EMBEDDED
from study.store import Record, read_table

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("FMI", "ARI", "NMI")
PRINTED = Path(__file__).with_name("printed.csv")
RESULTS = Path("docs/study/results.csv")
LOOKALIKES = ("Pole", "Away")

# The methods of the paper's tables, as we run them. SLINK is two linkages, and WANN-DPC replaces ANN-DPC.
OF_THE_PAPER = ("kFuse", "LDP-MST", "Single linkage", "Ward", "WANN-DPC", "DPC", "MSC", "AP", "K-means", "DBSCAN")
OURS = ("kFuse", "kFuse (paper)", "kFuse (auto)")
OTHERS = tuple(name for name in METHODS if name not in OURS and name not in OF_THE_PAPER)


def printed(metric: str) -> pd.DataFrame:
    """Return the paper's table: its 22 data sets x its 9 methods."""
    return _printed_rows(metric).drop(index="Average")


def printed_average(metric: str, group: str) -> pd.Series:
    """Return the averages that the paper prints."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    table = pd.read_csv(PRINTED)
    row = table[(table.group == group) & (table.dataset == "Average") & (table.metric == metric)]
    return row.iloc[0, 3:].astype(float)


def _printed_rows(metric: str) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - slow to import

    table = pd.read_csv(PRINTED)
    return table[table.metric == metric].set_index("dataset").drop(columns=["group", "metric"]).astype(float)


def own(metric: str, results: Path | list[Record] = RESULTS) -> pd.DataFrame:
    """Return our scores, NaN where missing: the paper's data sets and the embedding of MNIST x all methods."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    records = read_table(results) if isinstance(results, Path) else results
    table = pd.DataFrame(float("nan"), index=[*names(), EMBEDDED], columns=list(METHODS))
    for record in records:
        if record.get(metric) is not None:
            table.loc[record["dataset"], record["method"]] = record[metric]
    return table


def complete(table: pd.DataFrame, methods: tuple[str, ...]) -> pd.DataFrame:
    """Select the paper's data sets on which all these methods have a score; MNIST as raw pixels."""
    return table.loc[[name for name in names() if name in table.index], list(methods)].dropna()
