"""X as chunks of rows: Dask arrays and data frames as they are, anything else in chunks."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator

from kfuse._validation import features
from kfuse.dask.stages import Chunks
from kfuse.dask.tasks import chunks_of

MOST_FEATURES = 16  # the columns by which `core.search.spatial` splits
MANY_FEATURES = 8


class Input(NamedTuple):
    """The rows, and the names of their columns if there are any."""

    chunks: Chunks
    names: list[str] | None


def rows_of(estimator: BaseEstimator, X: Any, rows_per_chunk: int, *, reset: bool) -> Input:
    """Return X as chunks of rows; chunk sizes that are not known are computed.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose input it is.
    X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_samples, n_features)
        The samples.
    rows_per_chunk : int
        How an array in memory is divided.
    reset : bool
        Whether the estimator takes its features from X, or has to have them.

    Returns
    -------
    Input
        Checked, but for the values.
    """
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    array = as_array(estimator, X, rows_per_chunk, reset=reset)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"X must be two-dimensional numbers, of shape (n_samples, n_features), got {array.ndim} dimensions "
            f"of type {array.dtype}: select or convert its columns."
        )
    n_features = array.shape[1]
    if n_features == 0 or n_features > MOST_FEATURES:
        raise ValueError(
            f"X has {n_features} features, but boxes of space divide 1 to {MOST_FEATURES}: in more dimensions, every "
            "box touches every other. Reduce the dimension first, or fit a sample with kfuse.KFuse and use its predict."
        )
    if n_features > MANY_FEATURES:
        warnings.warn(
            f"With {n_features} features, most boxes touch each other, and are searched for each other's neighbours: "
            f"reduce X to {MANY_FEATURES} features or fewer if this takes long.",
            stacklevel=3,
        )
    if np.isnan(array.shape[0]):
        array = array.copy().compute_chunk_sizes()
    if array.shape[0] == 0:
        raise ValueError("X has no rows: pass at least one sample.")
    sizes = [int(size) for size in array.chunks[0]]
    return Input(Chunks(chunks_of(array.rechunk({1: n_features})), sizes, n_features), names)


def as_array(estimator: BaseEstimator, X: Any, rows_per_chunk: int, *, reset: bool) -> da.Array:
    """Return X as a Dask array; one in memory is checked as `kfuse.KFuse` checks it."""
    if hasattr(X, "to_dask_array"):
        return X.to_dask_array(lengths=True)
    if isinstance(X, da.Array):
        return X
    return da.from_array(features.check_features(estimator, X, reset=reset), chunks=(rows_per_chunk, -1))
