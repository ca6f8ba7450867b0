"""The samples as points in the plane: which to draw, on which two axes, and how large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from kfuse.description.columns import NUMBER, YES_NO, Column, read
from kfuse.fitted import fitted_model

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse

LARGEST, SMALLEST = 1e100, 1e-100  # coordinates whose squares, and sums of these, are in range


def samples_of(model: KFuse | Pipeline, X: Any) -> NDArray[np.float64]:
    """Return the samples to draw: X, or the data that the model was fitted to.

    Of a data frame, the numeric columns are drawn that the model has seen, or all of them if it has not seen their
    names. If a value of theirs is missing, or if no column is numeric, a pipeline has made something else of them, and
    the data that it clustered is drawn.
    """
    fitted = fitted_model(model)
    data: Any = fitted._fit_X if X is None else X
    if data is None:
        raise ValueError("A model fitted to precomputed distances keeps no samples: pass X, the features to draw.")
    if len(data) != fitted.labels_.size:
        raise ValueError(
            f"X has {len(data)} samples, but the model was fitted to {fitted.labels_.size}: pass the same samples."
        )
    if X is not None and hasattr(X, "columns"):
        part = [column.numbers for column in numeric_columns(_seen(model, read(X)))]
        data = np.column_stack(part) if part else np.empty((len(X), 0))
        if fitted is not model and fitted._fit_X is not None and (not part or np.isnan(data).any()):
            data = fitted._fit_X
    return check_array(data, dtype=np.float64)


def numeric_columns(columns: list[Column]) -> list[Column]:
    """Return those of the columns that are numbers or yes/no."""
    return [column for column in columns if column.kind in (NUMBER, YES_NO)]


def _seen(model: KFuse | Pipeline, columns: list[Column]) -> list[Column]:
    """Return the columns that the model was fitted to, if it knows their names; else all of them."""
    names = {*map(str, getattr(model, "feature_names_in_", ()))}
    seen = [column for column in columns if column.name in names]
    return seen if len(seen) == len(names) > 0 else columns


def plane_of(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return two columns to draw, and the axis labels, which are empty unless the columns are principal components."""
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), ("", "")
    if X.shape[1] == 2 or len(X) == 1:
        return X[:, :2], ("", "")
    from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import

    with np.errstate(invalid="ignore"):  # explained variance ratios of constant data, which are not used
        plane = PCA(2, random_state=0).fit_transform(_squarable(X))
    return plane, ("principal component 1", "principal component 2")


def _squarable(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale extreme data so that its squares stay in range; a projection has no unit anyway."""
    largest = np.abs(X).max()
    return X if largest == 0 or SMALLEST < largest < LARGEST else np.ldexp(X, -np.frexp(largest)[1])


def point_size(n_samples: int) -> float:
    """Return the area of a point in square points, which shrinks as the number of samples grows."""
    return float(np.clip(500 / n_samples**0.5, 1.2, 36))
