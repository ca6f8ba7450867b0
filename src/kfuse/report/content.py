"""The content of the page: the tree, the values and the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kfuse.description.clusters import columns_of
from kfuse.description.columns import Column
from kfuse.description.number import explain_numbers
from kfuse.drawing import curve, layout, palette
from kfuse.drawing.features import most_telling
from kfuse.drawing.points import point_size
from kfuse.fitted import fitted_model
from kfuse.report.axes import first_axes
from kfuse.report.groups import describe_all
from kfuse.report.packing import DIGITS, is_too_long, pack, pack_column
from kfuse.wording import counted

N_SUGGESTIONS = 5
LEAST_BRANCHES = 50  # in the dendrogram, if the tree has that many
MOST_SPOKEN = 60  # columns that sentences are about, if no more are shown
MARKED_SAMPLES = 5000  # with more samples, points are too small to tell markers apart


class Content(NamedTuple):
    """The data of the report: arrays for the script, numbers and texts for the page."""

    payload: dict[str, Any]
    n_samples: int
    n_clusters: int
    most_clusters: int
    has_strengths: bool
    notes: list[str]

    @property
    def summary(self) -> str:
        """The line under the title."""
        return f"{counted(self.n_samples, 'row')}, {counted(self.n_clusters, 'cluster')} in the fitted model"


def gather(
    model: Any,
    X: Any,
    *,
    names: Sequence[str] | None,
    ids: Sequence[Any] | None,
    most_clusters: int | None,
    most_columns: int,
) -> Content:
    """Check the input and collect everything that the page shows."""
    fitted = fitted_model(model)
    _check_most("most_columns", most_columns)
    columns = columns_of(model, X, names)
    suggested = curve.suggested(fitted.tree_, N_SUGGESTIONS)
    most = _most_clusters(fitted, suggested, most_clusters)
    fits = [column for column in columns if not is_too_long(column)]
    telling = most_telling(fits, fitted.labels_, max(most_columns, MOST_SPOKEN))
    shown = telling[:most_columns] or fits[:1]
    spoken = [column for column in fits if _is_among(column, telling)]
    axes = first_axes(fitted, columns, shown)
    top = layout.branches(fitted.tree_, min(fitted.tree_.n_leaves, max(most, LEAST_BRANCHES)))
    payload = {
        **_look(fitted),
        "suggested": suggested,
        "tree": _tree(fitted, most),
        "branches": _branches(top),
        "heights": fitted.tree_.to_linkage()[::-1, 2][:most].tolist(),
        "curve": _curve(fitted, suggested, most),
        "why": explain_numbers(fitted, range(1, most + 1)),
        "columns": [pack_column(column) for column in shown],
        "plane": axes.added,
        "start": axes.start,
        "groups": describe_all(fitted, spoken, shown, most),
        "ids": _ids(ids, fitted.labels_.size),
    }
    notes = [*_notes(fitted, top, most), *_column_notes(columns, fits, shown), *axes.notes]
    has_strengths = fitted.tree_.strength is not None
    return Content(payload, fitted.labels_.size, fitted.n_clusters_, most, has_strengths, notes)


def _look(model: Any) -> dict[str, Any]:
    """Return what the samples look like, and how many there are."""
    return {
        "n": model.labels_.size,
        "k": model.n_clusters_,
        "palette": {"light": palette.COLOURS, "dark": palette.DARK_COLOURS},
        "turn": len(palette.PALETTE),
        "marked": model.labels_.size <= MARKED_SAMPLES,
        "diameter": max(2.0, 1.4 * point_size(model.labels_.size) ** 0.5),
        "density": pack(model.density_ / np.median(model.density_), np.float32),
    }


def _most_clusters(model: Any, suggested: list[int], most_clusters: int | None) -> int:
    """Return the largest number on the slider."""
    if most_clusters is None:
        most_clusters = max(
            20, model.n_clusters_ + model.n_clusters_ // 4 + 2, *(number + 2 for number in suggested), 0
        )
    _check_most("most_clusters", most_clusters)
    return min(max(most_clusters, model.n_clusters_), model.tree_.most_clusters)


def _check_most(name: str, value: Any) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def _tree(model: Any, most: int) -> dict[str, Any]:
    """Pack everything that the page needs to cut the tree."""
    tree = model.tree_
    packed: dict[str, Any] = {
        "leaves": tree.n_leaves,
        "most": most,
        "leaf": pack(tree.leaf_labels, np.uint16 if tree.n_leaves < 2**16 else np.uint32),
        "children": pack(tree.children, np.uint32),
        "leaving": None,
        "outlier": None,
    }
    if tree.leaving is not None and most > tree.n_leaves:
        packed["leaving"] = pack(tree.leaving, np.int32)
    if model._used.outliers == "label":
        packed["outlier"] = pack(model.outlier_mask_, np.uint8)
    return packed


def _branches(top: layout.Branches) -> dict[str, Any]:
    ends, nodes = top.segments()
    return {
        "height": np.round(top.height, 4).tolist(),
        "x": top.x.tolist(),
        "sizes": top.sizes.tolist(),
        "nodes": top.nodes.tolist(),
        "ends": np.round(ends, 4).tolist(),
        "lines": nodes.tolist(),
        "label": curve.HEIGHT_LABEL,
    }


def _curve(model: Any, suggested: list[int], most: int) -> dict[str, Any]:
    levels = curve.levels_of(model.tree_)[:most]
    has_strengths = model.tree_.strength is not None
    top = curve.top_of(levels) if has_strengths else 1.08 * levels.max(initial=1)
    marked = [number for number in suggested[: curve.N_MARKED] if number <= most]
    return {
        "levels": levels.tolist(),
        "top": float(top),
        "marked": [[number, *curve.step_at(levels, number)] for number in marked],
        "usual": curve.USUAL if has_strengths else None,
        "label": "merge strength" if has_strengths else curve.HEIGHT_LABEL,
    }


def _ids(ids: Sequence[Any] | None, n_samples: int) -> list[str] | None:
    if ids is None:
        return None
    if len(ids) != n_samples:
        raise ValueError(f"ids has {len(ids)} entries, but X has {n_samples} rows: pass one id per row.")
    return [str(one) for one in ids]


def _notes(model: Any, top: layout.Branches, most: int) -> Iterator[str]:
    """Yield sentences on what the page shows and what it leaves out."""
    yield "All rows are drawn and counted; nothing is sampled."
    yield (
        f"Values are rounded to {DIGITS} significant digits and medians to {DIGITS - 2}, with more digits for columns "
        "that need them to tell values apart."
    )
    if top.n_leaves < model.tree_.n_leaves:
        yield (
            f"The dendrogram shows the top {top.n_leaves:,} branches of the fusion tree, whose leaves are "
            f"{model.tree_.n_leaves:,} sub-clusters."
        )
    if most < model.tree_.most_clusters:
        yield f"The slider ends at {most:,} clusters; in Python, model.cut goes further."
    if model._used.outliers == "label":
        yield "Outliers have label -1, are drawn in grey, and belong to no cluster."


def _column_notes(columns: list[Column], fits: list[Column], shown: list[Column]) -> Iterator[str]:
    constant = [column.name for column in columns if column.is_constant and not _is_among(column, shown)]
    if constant:
        are = "is" if len(constant) == 1 else "are"
        yield f"{counted(len(constant), 'column')} with a single value {are} hidden: {_listed(constant)}."
    if len(fits) < len(columns):
        left_out = [column.name for column in columns if not _is_among(column, fits)]
        yield f"Texts too long for the page are left out: {_listed(left_out)}."
    n_varied = len(fits) - sum(column.is_constant for column in fits)
    if len(shown) < n_varied:
        yield f"{len(shown):,} of {n_varied:,} columns are shown: those in which the model's clusters differ most."


def _is_among(column: Column, columns: list[Column]) -> bool:
    return any(column is other for other in columns)


def _listed(names: list[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
