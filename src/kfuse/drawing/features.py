"""The features of the samples: their names, and in which of them the clusters differ most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from kfuse import KFuse


def feature_names(model: KFuse, X: ArrayLike | None, n_features: int, names: Sequence[str] | None = None) -> list[str]:
    """Return the names of the features: those given, else those of the data frame or of the fit, else numbers."""
    if names is None:
        names = getattr(model, "feature_names_in_", None) if X is None else getattr(X, "columns", None)
    if names is None:
        return [f"feature {i}" for i in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"names has {len(names)} entries, but X has {n_features} features: pass one name per feature.")
    return [str(name) for name in names]


def most_telling(samples: NDArray[np.float64], labels: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return, in ascending order, the features with the largest share of their variance between clusters."""
    kept = labels >= 0
    labels, samples = labels[kept], samples[kept]
    sizes = np.bincount(labels)
    total = samples.var(axis=0)
    between = np.zeros(samples.shape[1])
    for feature, column in enumerate(samples.T):
        means = np.bincount(labels, weights=column) / sizes
        between[feature] = np.average((means - column.mean()) ** 2, weights=sizes)
    share = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return np.sort(np.argsort(-share, kind="stable")[:most])
