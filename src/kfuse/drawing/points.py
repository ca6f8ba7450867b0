"""The samples as points in the plane: which to draw, on which two axes, and how large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

if TYPE_CHECKING:
    from kfuse import KFuse


def samples_of(model: KFuse, X: ArrayLike | None) -> NDArray[np.float64]:
    """Return the samples to draw: X, or the data that the model was fitted to."""
    check_is_fitted(model, "tree_")
    data: Any = model._fit_X if X is None else X
    if data is None:
        raise ValueError("A model fitted to precomputed distances keeps no samples: pass X, the features to draw.")
    samples: NDArray[np.float64] = check_array(data, dtype=np.float64)
    if len(samples) != model.labels_.size:
        raise ValueError(
            f"X has {len(samples)} samples, but the model was fitted to {model.labels_.size}: pass the same samples."
        )
    return samples


def plane_of(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return two columns to draw, and the axis labels, which are empty unless the columns are principal components."""
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), ("", "")
    if X.shape[1] == 2 or len(X) == 1:
        return X[:, :2], ("", "")
    from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import

    with np.errstate(invalid="ignore"):  # explained variance ratios of constant data, which are not used
        plane = PCA(2, random_state=0).fit_transform(X)
    return plane, ("principal component 1", "principal component 2")


def point_size(n_samples: int) -> float:
    """Return the area of a point in square points, which shrinks as the number of samples grows."""
    return float(np.clip(500 / n_samples**0.5, 1.2, 36))
