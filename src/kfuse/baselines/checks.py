"""What the baselines accept; they share it with KFuse where it is the same."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from kfuse import validation


class Job(NamedTuple):
    """Checked samples, and the number of threads to use."""

    data: NDArray[Any]
    n_threads: int


def start(estimator: BaseEstimator, X: ArrayLike) -> Job:
    """Check the number of clusters, the number of threads and the samples."""
    from kfuse.core.threads import number_of_threads  # noqa: PLC0415

    validation.check_n_clusters(estimator.n_clusters)
    n_jobs = estimator.n_jobs
    if not (n_jobs is None or (validation._is_whole(n_jobs) and n_jobs != 0)):
        raise ValueError(f"n_jobs must be None, -1 for all cores, or a number of threads, got {n_jobs!r}.")
    data = validation.check_features(estimator, X, reset=True)
    n_samples = data.shape[0]
    if n_samples < 2:
        raise ValueError(f"{type(estimator).__name__} compares samples with each other, but X has 1 sample: give more.")
    validation.check_enough_samples(n_samples, estimator.n_clusters)
    return Job(data, number_of_threads(n_jobs))


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Accept numbers above `low` and up to `high`."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not low < float(value) <= high:
        raise ValueError(f"{name} must be a number above {low:g} and at most {high:g}, got {value!r}.")
