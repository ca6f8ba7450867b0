"""The content of the page: the tree, the values and the texts, packed without losing anything that is shown."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kfuse._validation import features
from kfuse.drawing import curve, layout, palette
from kfuse.drawing.features import feature_names, most_telling
from kfuse.drawing.points import plane_of, samples_of
from kfuse.wording import counted

if TYPE_CHECKING:
    from kfuse import KFuse

N_SUGGESTIONS = 5
DIGITS = 6  # significant digits of a value, as many as float32 has
FINE = 1e-6  # the rounding error that float32 may have, as a share of a column's range
LEAST_BRANCHES = 50  # in the dendrogram, if the tree has that many
MARKED_SAMPLES = 5000  # with more samples, points are too small to tell markers apart


class Content(NamedTuple):
    """The data of the report: arrays for the script, numbers and texts for the page."""

    payload: dict[str, Any]
    branches: layout.Branches
    stairs: NDArray[np.float64]
    has_strengths: bool
    n_samples: int
    n_clusters: int
    most_clusters: int
    suggested: list[int]
    notes: list[str]

    @property
    def summary(self) -> str:
        """The line under the title."""
        return f"{counted(self.n_samples, 'row')}, {counted(self.n_clusters, 'cluster')} in the fitted model"


def gather(
    model: KFuse,
    X: ArrayLike | None,
    *,
    names: Sequence[str] | None,
    ids: Sequence[Any] | None,
    most_clusters: int | None,
    most_columns: int,
) -> Content:
    """Check the input and collect everything that the page shows."""
    check_is_fitted(model, "tree_")
    _check_most("most_columns", most_columns)
    samples = _values(model, X)
    titles = feature_names(model, X, samples.shape[1], names)
    suggested = curve.suggested(model.tree_, N_SUGGESTIONS)
    most = _most_clusters(model, suggested, most_clusters)
    shown = most_telling(samples, model.labels_, most_columns)
    columns = [_column(titles[i], samples[:, i]) for i in shown]
    axes, axes_note = _principal_axes(model, samples, shown.size)
    tree = model.tree_
    top = layout.branches(tree, min(tree.n_leaves, max(most, LEAST_BRANCHES)))
    payload = {
        "n": len(samples),
        "k": model.n_clusters_,
        "suggested": suggested,
        "palette": [*palette.COLOURS, palette.GREY],
        "turn": len(palette.PALETTE),
        "marked": len(samples) <= MARKED_SAMPLES,
        "tree": _tree(model, most),
        "branches": {"children": top.children.ravel().tolist(), **_as_lists(top)},
        "heights": tree.to_linkage()[::-1, 2][:most].tolist(),
        "density": pack(model.density_ / np.median(model.density_), np.float32),
        "columns": columns,
        "axes": axes,
        "ids": _ids(ids, len(samples)),
    }
    notes = list(_notes(model, tree.n_leaves, top, shown.size, len(titles), most))
    return Content(
        payload, top, curve.levels_of(tree)[:most], tree.strength is not None, len(samples), model.n_clusters_, most,
        suggested, notes + axes_note,
    )  # fmt: skip


def pack(array: NDArray[Any], dtype: Any) -> dict[str, str]:
    """Return an array as its type and its little-endian bytes in base64."""
    little = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": np.dtype(dtype).name, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def _values(model: KFuse, X: ArrayLike | None) -> NDArray[np.float64]:
    """Return the values to show; errors name the column that is not numeric."""
    if X is None:
        return samples_of(model, None)
    from sklearn.base import BaseEstimator  # noqa: PLC0415

    # A throwaway estimator, because the columns shown need not be those of the fit.
    return samples_of(model, features.check_features(BaseEstimator(), X, reset=True))


def _most_clusters(model: KFuse, suggested: list[int], most_clusters: int | None) -> int:
    """Return the largest number on the slider."""
    if most_clusters is None:
        most_clusters = max(20, 2 * model.n_clusters_, *(number + 2 for number in suggested), 0)
    _check_most("most_clusters", most_clusters)
    return min(max(most_clusters, model.n_clusters_), model.tree_.most_clusters)


def _check_most(name: str, value: Any) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def _column(name: str, values: NDArray[np.float64]) -> dict[str, Any]:
    """Pack a column into the smallest type that keeps all digits shown, with the number of these digits."""
    dtype, spread = _smallest_type(values), np.ptp(values)
    digits = DIGITS
    if dtype == np.float64 and spread > 0:  # values may differ only in late digits
        digits = int(np.clip(DIGITS + np.log10(np.abs(values).max() / spread), DIGITS, 15))
    return {"name": name, "digits": digits, "whole": dtype == np.int32, "values": pack(values, dtype)}


def _smallest_type(values: NDArray[np.float64]) -> type[np.generic]:
    largest = np.abs(values).max()
    if largest < 2**31 and np.array_equal(values, np.trunc(values)):
        return np.int32
    spread = np.ptp(values)
    fits = largest < np.finfo(np.float32).max and spread > np.finfo(np.float32).tiny / FINE
    if spread == 0 or (fits and np.abs(values - values.astype(np.float32)).max() <= FINE * spread):
        return np.float32 if largest < np.finfo(np.float32).max else np.float64
    return np.float64


def _principal_axes(model: KFuse, samples: NDArray[np.float64], n_shown: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return two principal components of the clustered data, unless its two columns are shown anyway."""
    fitted = model._fit_X
    source = samples if fitted is None else np.asarray(fitted, dtype=np.float64)
    if source.shape[1] <= 2 and n_shown == source.shape[1]:
        return [], []
    plane, names = plane_of(source)
    if not any(names):
        names = ("fitted column 0", "fitted column 1")
    what = "the data as clustered" if fitted is not None else "the columns passed in"
    axes = [{"name": name, "values": pack(column, np.float32)} for name, column in zip(names, plane.T, strict=True)]
    return axes, [f"Principal components are computed from {what}, with all {counted(source.shape[1], 'column')}."]


def _tree(model: KFuse, most: int) -> dict[str, Any]:
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
    if model.outliers == "label":
        packed["outlier"] = pack(model.outlier_mask_, np.uint8)
    return packed


def _as_lists(top: layout.Branches) -> dict[str, Any]:
    return {
        "height": np.round(top.height, 4).tolist(),
        "x": top.x.tolist(),
        "sizes": top.sizes.tolist(),
        "nodes": top.nodes.tolist(),
    }


def _ids(ids: Sequence[Any] | None, n_samples: int) -> list[str] | None:
    if ids is None:
        return None
    if len(ids) != n_samples:
        raise ValueError(f"ids has {len(ids)} entries, but X has {n_samples} rows: pass one id per row.")
    return [str(one) for one in ids]


def _notes(model: KFuse, n_leaves: int, top: layout.Branches, n_shown: int, n_columns: int, most: int) -> Iterator[str]:
    """Yield sentences on what the page shows and what it leaves out."""
    yield "All rows are drawn and counted; nothing is sampled."
    yield (
        f"Values are rounded to {DIGITS} significant digits and medians to {DIGITS - 2}, with more digits for columns "
        "that need them to tell values apart."
    )
    if n_shown < n_columns:
        yield (
            f"{n_shown:,} of {n_columns:,} columns are shown: those in which the model's clusters "
            f"({model.n_clusters_:,}) differ most."
        )
    if top.n_leaves < n_leaves:
        yield (
            f"The dendrogram shows the top {top.n_leaves:,} branches of the fusion tree, whose leaves are {n_leaves:,} "
            "sub-clusters."
        )
    if most < model.tree_.most_clusters:
        yield f"The slider ends at {most:,} clusters; in Python, model.cut goes further."
    if model.outliers == "label":
        yield "Outliers have label -1, are drawn in grey, and belong to no cluster."
