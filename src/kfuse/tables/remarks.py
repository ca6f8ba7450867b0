"""What a friend would say about a clustering of a table: a column that decides alone, a number that stands out little.

How well columns explain clusters is Goodman and Kruskal's lambda: of the rows outside of the largest cluster, the share
that is gained by guessing the cluster from the value, or interval of values, of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.description.number import FAIR, limit_of, rival_of
from kfuse.suggestion import written
from kfuse.tables.columns import Features
from kfuse.tables.errors import Setting
from kfuse.tables.roles import Parts, counts_rows

if TYPE_CHECKING:
    from kfuse import KFuse

EXPLAINS = 0.95  # lambda from which a column explains the clusters alone
ALSO_EXPLAINS = 0.5  # lambda from which another column says much the same
FEW_VALUES = 60  # as many as there are minutes
MOST_PLACES = 100  # distinct rows
ROWS_PER_PLACE = 10
ROWS_PER_BIN = 5  # at least, so that values do not explain clusters by chance
MOST_BINS = 200
MOST_COLUMNS = 3  # that explain the clusters together
LEAST_GAIN = 0.02  # in lambda, for another column to be named
MOSTLY, SELDOM = 0.9, 0.5  # shares of missing values: in a cluster that they make, and in the table at most


class Advice(NamedTuple):
    """One remark, with the parameters that it mentions kept apart from the text."""

    about: Literal["row number", "repeated rows", "number", "columns", "missing values"]
    parts: Parts

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def advice(features: Features, model: KFuse) -> list[Advice]:
    """Return what to look at before believing the clusters of a table.

    Parameters
    ----------
    features : Features
        The features of the table.
    model : KFuse
        The model fitted to `features.X`.

    Returns
    -------
    list of Advice
        Remarks about row numbers among the columns, rows that repeat few combinations of values, a number of clusters
        that stands out little, columns that explain the clusters alone, and clusters of rows whose values are missing;
        ``str`` makes a sentence of each.

    Examples
    --------
    >>> import polars as pl
    >>> from kfuse import KFuse, tables
    >>> frame = pl.DataFrame({"year": [2007, 2009] * 50, "x": [i % 7 / 7 + i / 1e4 for i in range(100)]})
    >>> found = tables.features(frame, number=["year"])
    >>> for remark in tables.advice(found, KFuse(2).fit(found.X)):
    ...     print(remark)
    column 'year' alone explains the clusters: exclude=['year'] shows what the others say
    """
    found = [Advice("row number", parts) for parts in _row_numbers(features)]
    found += [Advice("repeated rows", parts) for parts in _few_places(features)]
    if model.n_clusters_ > 1:
        found += [Advice("number", parts) for parts in _doubtful_number(model)]
        found += [Advice("columns", parts) for parts in _explained(features, model.labels_)]
        found += [Advice("missing values", parts) for parts in _made_of_missing(features, model.labels_)]
    return found


def _row_numbers(features: Features) -> Iterator[Parts]:
    for name, values in _by_column(features).items():
        if values.shape[1] == 1 and counts_rows(values[:, 0]):
            yield (f"column {name!r} counts the rows: leave it out with ", Setting("exclude", [name]))


def _few_places(features: Features) -> Iterator[Parts]:
    """Warn if rows repeat a few combinations of values, none of which can be split."""
    columns = _by_column(features).values()
    if any(values.shape[1] == 1 and pl.Series(values[:, 0]).n_unique() > MOST_PLACES for values in columns):
        return
    n_rows, n_places = len(features.X), pl.from_numpy(features.X).n_unique()
    if 1 < n_places <= MOST_PLACES and n_rows >= ROWS_PER_PLACE * n_places:
        yield (
            f"the {n_rows:,} rows repeat {n_places} combinations of values, and identical rows share a cluster: "
            "a table of counts may say more",
        )


def _doubtful_number(model: KFuse) -> Iterator[Parts]:
    """Warn if the number that was found stands out little, or if a range excludes the one that the data suggests."""
    best, *others = model.tree_.suggest(2)
    if limit := limit_of(model, model.n_clusters_, best):
        yield (f"{model.n_clusters_:,} clusters, {limit}: by itself, the data suggests {best.n_clusters:,}",)
    rival = rival_of(model.tree_)
    if model.n_clusters != "auto" or best.p_value <= FAIR or rival is None:
        return
    found = f"the {best.n_clusters:,} clusters stand out little (p {written(best.p_value)})"
    doubt = f"{found}, and {rival.n_clusters:,} is {rival.how}"
    numbers = dict.fromkeys([rival.n_clusters, *(one.n_clusters for one in others if one.n_clusters > 1)])
    if rival.n_clusters == 1:
        yield (f"{doubt}: more rows would tell",)
    else:
        first, *second = [Setting("n_clusters", number) for number in numbers]
        yield (f"{doubt}: try ", first, *(part for one in second for part in (" or ", one)))


def _explained(features: Features, labels: NDArray[np.intp]) -> Iterator[Parts]:
    """Name columns that explain the clusters, one alone or a few of few values together, if no other does."""
    columns = _by_column(features)
    if len(columns) < 2:
        return
    kept = labels >= 0
    codes = {name: _codes(values[kept]) for name, values in columns.items()}
    scores = {name: explained(code, labels[kept]) for name, code in codes.items()}
    best = max(scores, key=scores.__getitem__)
    names = [best]
    if scores[best] < EXPLAINS:
        few = {name: code for name, code in codes.items() if _has_few(columns[name])}
        names, score = _best_together(few, labels[kept])
        if score < EXPLAINS:
            return
    if max((score for name, score in scores.items() if name not in names), default=0.0) < ALSO_EXPLAINS:
        *first, last = map(repr, names)
        subject = f"column {last} alone explains" if not first else f"columns {', '.join(first)} and {last} explain"
        yield (f"{subject} the clusters: ", Setting("exclude", names), " shows what the others say")


def _made_of_missing(features: Features, labels: NDArray[np.intp]) -> Iterator[Parts]:
    """Warn of clusters that have a value in common only because it is missing: what was filled in made them."""
    kept = labels >= 0
    sizes = np.bincount(labels[kept])
    for name, is_missing in features.is_missing.items():
        share = np.bincount(labels[kept], weights=is_missing[kept]) / sizes
        clusters = np.flatnonzero(share >= MOSTLY)
        if clusters.size and is_missing[kept].mean() <= SELDOM:
            *first, last = map(str, clusters)
            subject = f"clusters {', '.join(first)} and {last} are" if first else f"cluster {last} is"
            yield (f"{subject} made of rows whose {name!r} is missing: try ", Setting("missing", "drop"))


def explained(codes: NDArray[np.intp], labels: NDArray[np.intp]) -> float:
    """Return Goodman and Kruskal's lambda, from 0 to 1: how much better labels are guessed if the code is known."""
    counts = np.zeros((codes.max() + 1, labels.max() + 1), dtype=np.intp)
    np.add.at(counts, (codes, labels), 1)
    largest = counts.sum(axis=0).max()
    if largest == labels.size or codes.max() + 1 > max(2, labels.size / ROWS_PER_BIN):
        return 0.0
    return float((counts.max(axis=1).sum() - largest) / (labels.size - largest))


def _best_together(codes: dict[str, NDArray[np.intp]], labels: NDArray[np.intp]) -> tuple[list[str], float]:
    """Add the column that gains most, one after the other, while there is enough to gain."""
    names: list[str] = []
    score, joint = 0.0, np.zeros(labels.size, dtype=np.intp)
    while len(names) < min(MOST_COLUMNS, len(codes)) and score < EXPLAINS:
        trials = {name: np.unique(joint * FEW_VALUES + code, return_inverse=True)[1] for name, code in codes.items()}
        scores = {name: explained(trial, labels) for name, trial in trials.items() if name not in names}
        best = max(scores, key=scores.__getitem__)
        if scores[best] < score + LEAST_GAIN:
            break
        names, score, joint = [*names, best], scores[best], trials[best]
    return names, score


def _by_column(features: Features) -> dict[str, NDArray[np.float64]]:
    """Return the unscaled features of each column."""
    sources = np.array(features.sources)
    return {name: features.values[:, sources == name] for name in features.columns}


def _has_few(values: NDArray[np.float64]) -> bool:
    return values.shape[1] > 1 or pl.Series(values[:, 0]).n_unique() <= FEW_VALUES


def _codes(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the category of each row, its value if there are few, or the interval of its value."""
    if values.shape[1] > 1:
        return np.asarray(values.argmax(axis=1), dtype=np.intp)
    distinct, codes = np.unique(values[:, 0], return_inverse=True)
    if len(distinct) <= FEW_VALUES:
        return np.asarray(codes, dtype=np.intp)
    n_bins = max(2, min(MOST_BINS, len(values) // ROWS_PER_BIN))
    edges = np.quantile(values[:, 0], np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.asarray(np.searchsorted(edges, values[:, 0], side="right"), dtype=np.intp)
