"""Validation of the baselines' input and parameters, shared with KFuse where they agree, and their warning."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kfuse._validation import features, parameters


class Job(NamedTuple):
    """Validated samples and the number of threads to use."""

    data: NDArray[Any]
    n_threads: int


def start(estimator: BaseEstimator, X: ArrayLike) -> Job:
    """Validate the number of clusters, the number of threads and the samples."""
    from kfuse.core.execution import number_of_threads  # noqa: PLC0415

    parameters.check_n_clusters(estimator.n_clusters)
    n_jobs = estimator.n_jobs
    if not (n_jobs is None or (parameters.is_whole(n_jobs) and n_jobs != 0)):
        raise ValueError(f"n_jobs must be None, -1 for all cores, or a number of threads, got {n_jobs!r}.")
    data = features.check_features(estimator, X, reset=True)
    n_samples = data.shape[0]
    if n_samples < 2:
        raise ValueError(
            f"{type(estimator).__name__} compares samples with each other, but X has only 1 sample: pass at least 2."
        )
    parameters.check_enough_samples(n_samples, estimator.n_clusters)
    return Job(data, number_of_threads(n_jobs))


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise ValueError unless `value` is a number above `low` and at most `high`."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not low < float(value) <= high:
        raise ValueError(f"{name} must be a number above {low:g} and at most {high:g}, got {value!r}.")


def warn_of_fewer(found: int, wanted: int, reason: str) -> None:
    """Warn, from the user's call of `fit`, that there are fewer clusters than requested."""
    there_are = "is 1 cluster" if found == 1 else f"are {found} clusters"
    warnings.warn(f"{reason}, so there {there_are} instead of {wanted}.", stacklevel=3)
