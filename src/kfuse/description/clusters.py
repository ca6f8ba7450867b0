"""Describe the clusters of a fitted model: a ranked table of what sets each apart, and one sentence per cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.description import columns as reading
from kfuse.description.columns import Column
from kfuse.description.phrases import phrase
from kfuse.description.separation import Group, Rule, Totals, best_rule, effect, is_beyond_chance
from kfuse.fitted import fitted_model
from kfuse.frames import data_frame
from kfuse.wording import counted

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse

NOISE = -1
LEAST_EFFECT = 0.3  # of a column that a sentence names
MOST_NAMED = 3  # columns in a sentence


class Finding(NamedTuple):
    """One column that tells a group from all other rows."""

    column: Column
    rule: Rule
    effect: float
    share: float  # of the group that the rule picks
    share_of_others: float
    beyond_chance: bool
    text: str


class Description(NamedTuple):
    """A group of rows, and every column that sets it apart, the best first."""

    label: int
    size: int
    n_rows: int
    findings: list[Finding]

    @property
    def telling(self) -> list[Finding]:
        """The columns that a sentence names: those with the largest effects, beyond chance."""
        return [one for one in self.findings if one.beyond_chance and one.effect >= LEAST_EFFECT][:MOST_NAMED]

    @property
    def sentence(self) -> str:
        """The size, and the columns with the largest effects."""
        rows = f"{counted(self.size, 'row')}{' of noise' * (self.label == NOISE)}"
        if self.size == self.n_rows:
            return f"{rows}: the whole table."
        if not self.telling:
            return f"{rows}: no single column sets {'it' if self.size == 1 else 'them'} apart."
        return f"{rows}: {', '.join(one.text for one in self.telling)}."


def describe(
    model: KFuse | Pipeline, frame: Any = None, *, n_clusters: int | None = None, names: Sequence[str] | None = None
) -> Any:
    """Describe what sets each cluster apart, as a data frame with one row per cluster and column.

    For every column, clustered by or not, the rule is found that best tells the rows of a cluster from all others: an
    interval of numbers or dates, up to three values of a category, or that the value is missing. Its `effect` is
    Youden's J: the share of the cluster that the rule picks minus the share of all other rows that it picks. It is 1
    if the rule picks exactly the cluster, and near 0 if the column says nothing about it.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    frame : pandas.DataFrame, polars.DataFrame, array-like of shape (n_samples, n_columns) or None, default=None
        The table to describe the clusters by, with rows in the order of the fit: the values before scaling, and any
        columns that were not clustered by. None uses the data of the fit.
    n_clusters : int or None, default=None
        Describe this number of clusters, from the same fit; None uses that of the model.
    names : sequence of str or None, default=None
        The names of the columns of an array; None uses those of the fit, or numbers.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        Of the same kind as `frame`; pandas, or else polars, for an array. Clusters are in the order of their labels,
        noise (-1) comes last; the columns of each are ranked by effect. ``cluster``, ``rows`` (its size), ``rank``,
        ``column``, ``kind`` (number, date, duration, yes/no or category), ``description`` (the rule in words),
        ``effect``, ``share`` (of the cluster's rows that the rule picks), ``share_of_others`` and ``beyond_chance``:
        whether a random group of that size would hardly have such a rule in any column.

    See Also
    --------
    kfuse.description.sentences : One sentence per cluster.

    Examples
    --------
    >>> import kfuse
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> model = kfuse.KFuse(2).fit(iris.data)
    >>> table = kfuse.describe(model, iris.data.assign(species=iris.target_names[iris.target]))
    >>> table.query("cluster == 1")["description"].iloc[0]
    'petal length (cm) 1 to 1.9 (all others 3 to 6.9)'
    """
    found = _described(model, frame, n_clusters, names)
    records = [
        (one.label, one.size, rank, each.column.name, each.column.kind, each.text, each.effect, each.share,
         each.share_of_others, each.beyond_chance)
        for one in found
        for rank, each in enumerate(one.findings, start=1)
    ]  # fmt: skip
    titles = (
        ("cluster", np.intp), ("rows", np.intp), ("rank", np.intp), ("column", object), ("kind", object),
        ("description", object), ("effect", np.float64), ("share", np.float64), ("share_of_others", np.float64),
        ("beyond_chance", np.bool_),
    )  # fmt: skip
    table: dict[str, NDArray[Any]] = {
        title: np.array([record[place] for record in records], dtype=dtype)
        for place, (title, dtype) in enumerate(titles)
    }
    return data_frame(table, "describe", like=frame)


def sentences(
    model: KFuse | Pipeline, frame: Any = None, *, n_clusters: int | None = None, names: Sequence[str] | None = None
) -> list[str]:
    """Return one sentence per cluster: its size, and what sets it apart from all other rows.

    A sentence names up to three columns, those of the largest effect (see :func:`kfuse.describe`), if the effect is at
    least 0.3 and beyond chance. Rounded numbers pick exactly the same rows as the unrounded ones.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    frame : pandas.DataFrame, polars.DataFrame, array-like of shape (n_samples, n_columns) or None, default=None
        The table, with rows in the order of the fit; None uses the data of the fit.
    n_clusters : int or None, default=None
        Describe this number of clusters; None uses that of the model.
    names : sequence of str or None, default=None
        The names of the columns of an array.

    Returns
    -------
    list of str
        In the order of the labels; if there is noise, its sentence comes last.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfuse import KFuse
    >>> from kfuse.description import sentences
    >>> X = load_iris(as_frame=True).data
    >>> sentences(KFuse(2).fit(X), X[["petal length (cm)"]])[1]
    '50 rows: petal length (cm) 1 to 1.9 (all others 3 to 6.9).'
    """
    return [one.sentence for one in _described(model, frame, n_clusters, names)]


def describe_labels(columns: list[Column], labels: NDArray[np.intp]) -> list[Description]:
    """Describe the groups that labels form: 0, 1, ..., then noise.

    Parameters
    ----------
    columns : list of Column
        The columns, from :func:`kfuse.description.columns.read`.
    labels : ndarray of shape (n_rows,)
        The cluster of each row; -1 is noise.

    Returns
    -------
    list of Description
        One per cluster.
    """
    totals = [Totals.of(column) for column in columns if not column.is_constant]
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    found = {
        int(label): describe_rows(totals, rows, int(label))
        for label, rows in zip(present, np.split(order, starts[1:]), strict=True)
    }
    return [found[label] for label in sorted(found, key=lambda label: (label == NOISE, label))]


def describe_rows(totals: list[Totals], rows: NDArray[np.intp], label: int) -> Description:
    """Describe one group of rows; `totals` are those of the columns that are not constant.

    Parameters
    ----------
    totals : list of Totals
        The columns.
    rows : ndarray
        The rows of the group.
    label : int
        Its label; -1 is noise.

    Returns
    -------
    Description
        What sets the group apart, the largest effect first, and equal ones in the order of the columns.
    """
    n_rows = totals[0].column.codes.size if totals else rows.size
    group = Group(rows, n_rows)
    if group.n_others == 0:
        return Description(label, rows.size, rows.size, [])
    rules = ((one.column, best_rule(one, group)) for one in totals)
    findings = [_finding(column, rule, group, len(totals)) for column, rule in rules if rule is not None]
    return Description(label, group.size, n_rows, sorted(findings, key=lambda one: -one.effect))


def _finding(column: Column, rule: Rule, group: Group, n_columns: int) -> Finding:
    return Finding(
        column,
        rule,
        effect(rule, group),
        rule.inside / group.size,
        rule.outside / group.n_others,
        is_beyond_chance(rule, group, n_columns),
        phrase(column, rule, group),
    )


def _described(model: Any, frame: Any, n_clusters: int | None, names: Sequence[str] | None) -> list[Description]:
    fitted = fitted_model(model)
    labels = fitted.labels_ if n_clusters is None else fitted.cut(n_clusters)
    return describe_labels(columns_of(model, frame, names), labels)


def columns_of(model: Any, frame: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Read the columns of a table with as many rows as a model was fitted to; None reads the data of the fit.

    Parameters
    ----------
    model : KFuse or Pipeline
        A fitted model.
    frame : data frame, array-like or None
        The table.
    names : sequence of str or None, default=None
        The names of the columns of an array; None uses those of the fit.

    Returns
    -------
    list of Column
        The columns.
    """
    fitted = fitted_model(model)
    data: Any = fitted._fit_X if frame is None else frame
    if data is None:
        raise ValueError("A model fitted to precomputed distances keeps no samples: pass the table to describe.")
    if type(data).__name__ == "LazyFrame":
        raise TypeError("frame is a lazy frame, which holds no values yet: pass frame.collect().")
    if not hasattr(data, "columns"):
        data = np.asarray(data)
        if data.ndim == 0:
            raise TypeError(f"frame must be a data frame or an array with two dimensions, got {type(frame).__name__}.")
        names = _fitted_names(fitted if frame is None else model, data) if names is None else names
    n_rows = getattr(data, "num_rows", None) or len(data)  # a batch of pyarrow has as many items as columns
    if n_rows != fitted.labels_.size:
        raise ValueError(
            f"frame has {counted(n_rows, 'row')}, but the model was fitted to {fitted.labels_.size:,}: pass the "
            "same rows, in the same order."
        )
    return reading.read(data, names)


def _fitted_names(model: Any, data: NDArray[Any]) -> list[str] | None:
    """Return the names that the model knows, if there is one for each column."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None or data.ndim != 2 or len(names) != data.shape[1] else [str(name) for name in names]
