"""A score for density-based clusterings of any method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from kfuse._validation import features
from kfuse._validation.parameters import check_metric


def validity(X: ArrayLike, labels: ArrayLike, *, metric: str | Callable[..., float] = "euclidean") -> float:
    """Score a clustering by whether its clusters hold together at higher densities than they meet at.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples.
    labels : array-like of shape (n_samples,)
        The cluster of each sample, by any method; negative labels are noise.
    metric : str or callable, default="euclidean"
        The metric, as in :class:`~kfuse.KFuse`.

    Returns
    -------
    float
        From -1 to 1, the larger, the better: the mean over the samples, of which noise counts 0. One cluster for all
        has the score 0, so that a clustering below 0 is worse than none.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import validity
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> validity(X, y) > 0 > validity(X, X[:, 0] > 0.5)
    True
    """
    from kfuse.core.search import NeighborTable, choose_search  # noqa: PLC0415 - numba is slow to import
    from kfuse.core.validity import validities  # noqa: PLC0415

    check_metric(metric)
    data = features.check_features(_Metric(metric), X, reset=True)
    given = check_array(labels, ensure_2d=False, dtype=None, input_name="labels")
    if given.shape != (len(data),):
        raise ValueError(f"labels must have one entry for each of the {len(data)} samples, got shape {given.shape}.")
    clustered = np.flatnonzero(given >= 0) if given.dtype.kind in "iuf" else np.arange(given.size)
    if not clustered.size:
        return 0.0
    numbers = np.unique(given[clustered], return_inverse=True)[1]
    table = NeighborTable(choose_search(data[clustered], metric, "auto"))
    return float(np.bincount(numbers) @ validities(table, numbers) / len(data))


class _Metric(BaseEstimator):
    """What the check of features wants to know of an estimator."""

    def __init__(self, metric: Any = "euclidean"):
        self.metric = metric
