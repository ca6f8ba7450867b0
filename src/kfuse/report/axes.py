"""The axes that the samples are first drawn on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.description.columns import Column
from kfuse.drawing.points import plane_of
from kfuse.report.packing import pack
from kfuse.wording import counted

SAME = 1e-6  # how much two standardised columns may differ to count as one


class FirstAxes(NamedTuple):
    """Axes in addition to those of the columns, the positions of the first two among all, and a note about them."""

    added: list[dict[str, Any]]
    start: list[int]
    notes: list[str]


def first_axes(model: Any, columns: list[Column], shown: list[Column]) -> FirstAxes:
    """Choose the columns that the data was clustered by, if they are one or two; else two principal components.

    The page lists the added axes first, then the ordered ones of the shown columns, then the density.
    """
    ordered = [column for column in shown if column.is_ordered]
    fitted, what = _clustered(model, columns)
    if fitted.shape[1] == 0:
        return FirstAxes([], [*range(len(ordered) + 1), 0][:2], [])
    same = _same_columns(fitted, ordered)
    if same is not None:
        return FirstAxes([], [*same, len(ordered)][:2], [])
    plane, names = plane_of(np.asarray(fitted, dtype=np.float64))
    if not any(names):
        names = ("fitted column 0", "fitted column 1")
    added = [{"name": name, "values": pack(axis, np.float32)} for name, axis in zip(names, plane.T, strict=True)]
    n_columns = counted(fitted.shape[1], "column")
    return FirstAxes(added, [0, 1], [f"Principal components are computed from {what}, with all {n_columns}."])


def _clustered(model: Any, columns: list[Column]) -> tuple[NDArray[Any], str]:
    """Return the data of the fit, or the columns without gaps if that was distances."""
    if model._fit_X is not None:
        return model._fit_X, "the data as clustered"
    numbers = [column.numbers for column in columns if column.is_ordered]
    gapless = [values for values in numbers if np.isfinite(values).all()]
    return np.column_stack(gapless) if gapless else np.empty((model.labels_.size, 0)), "the columns passed in"


def _same_columns(fitted: NDArray[Any], ordered: list[Column]) -> list[int] | None:
    """Find the columns that one or two fitted ones are, before scaling; None if there are more, or one is missing."""
    if fitted.shape[1] > 2:
        return None
    standardised = [_standardised(column.numbers) for column in ordered]
    places = []
    for values in fitted.T.astype(np.float64):
        own = _standardised(values)
        alike = (place for place, other in enumerate(standardised) if np.abs(other - own).max() < SAME)
        places.append(next(alike, None))
    return None if None in places else [place for place in places if place is not None]


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values with mean 0 and deviation 1; NaN, which equals nothing, if there are gaps or one value only."""
    with np.errstate(all="ignore"):
        centred = values - values.mean()
        return centred / centred.std()
