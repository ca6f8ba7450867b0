"""The parameters of the estimator: what each accepts, and the errors for anything else."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

FUSIONS = ("adaptive", "paper")
SEARCHES = ("auto", "kd_tree", "brute", "approximate")
OUTLIERS = ("assign", "label")
TREE_METRICS = ("euclidean", "l2", "minkowski", "cosine")  # those that a k-d tree can search by


def check_parameters(estimator: BaseEstimator) -> None:
    """Check every parameter but those that need the data."""
    check_choice("fusion", estimator.fusion, FUSIONS)
    check_number(estimator.n_clusters, estimator.fusion)
    check_min_cluster_size(estimator.min_cluster_size, estimator.fusion)
    check_choice("neighbors", estimator.neighbors, SEARCHES)
    check_choice("outliers", estimator.outliers, OUTLIERS)
    check_metric(estimator.metric)
    suits_tree = isinstance(estimator.metric, str) and estimator.metric in TREE_METRICS
    if estimator.neighbors == "kd_tree" and not suits_tree:
        raise ValueError(
            f"neighbors='kd_tree' works with the metrics 'euclidean' and 'cosine', not with {estimator.metric!r}: "
            "use neighbors='auto'."
        )
    if estimator.neighbors == "approximate" and is_precomputed(estimator.metric):
        raise ValueError(
            "neighbors='approximate' searches among features, but with metric='precomputed' there are distances only: "
            "use neighbors='auto'."
        )
    if not (estimator.n_jobs is None or (is_whole(estimator.n_jobs) and estimator.n_jobs != 0)):
        raise ValueError(f"n_jobs must be None, -1 for all cores, or a number of threads, got {estimator.n_jobs!r}.")
    if not (
        isinstance(estimator.verbose, (bool, np.bool_)) or (is_whole(estimator.verbose) and estimator.verbose >= 0)
    ):
        raise ValueError(f"verbose must be True or False, got {estimator.verbose!r}.")
    check_seed(estimator.random_state)


def check_number(n_clusters: Any, fusion: str) -> None:
    """Accept "auto", pairs and whole numbers."""
    if is_range(n_clusters):
        least, most = n_clusters
        if not (is_whole(least) and is_whole(most) and 1 <= least <= most):
            raise ValueError(
                "n_clusters as a pair must be (least, most), two integers of at least 1 in ascending order, "
                f"got {n_clusters!r}."
            )
    elif not is_auto(n_clusters):
        check_n_clusters(n_clusters, or_auto="'auto', a pair (least, most) or ")
    if fusion != "adaptive" and not is_whole(n_clusters):
        raise ValueError(
            f"n_clusters={n_clusters!r} needs fusion='adaptive', got fusion={fusion!r}: give a number of clusters."
        )


def check_min_cluster_size(size: Any, fusion: str) -> None:
    """Accept None and whole numbers from 1."""
    if size is None:
        return
    if not is_whole(size) or size < 1:
        raise ValueError(f"min_cluster_size must be None or an integer of at least 1, got {size!r}.")
    if fusion != "adaptive":
        raise ValueError(f"min_cluster_size needs fusion='adaptive', got fusion={fusion!r}: leave it at None.")


def check_seed(random_state: Any) -> None:
    """Accept what scikit-learn takes as a seed."""
    try:
        check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState instance, "
            f"got {random_state!r}."
        ) from error


def is_range(n_clusters: Any) -> bool:
    """Return whether the number of clusters is to be found in a range."""
    return isinstance(n_clusters, (tuple, list)) and len(n_clusters) == 2


def is_auto(n_clusters: Any) -> bool:
    """Return whether the number of clusters is to be found."""
    return isinstance(n_clusters, str) and n_clusters == "auto"


def check_n_clusters(n_clusters: Any, or_auto: str = "") -> None:
    """Accept whole numbers from 1."""
    if not is_whole(n_clusters) or n_clusters < 1:
        raise ValueError(f"n_clusters must be {or_auto}an integer of at least 1, got {n_clusters!r}.")


def check_enough_samples(n_samples: int, n_clusters: int) -> None:
    """Reject more clusters than there are samples."""
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_samples} samples in X: ask for at most {n_samples}."
        )


def check_enough_for_size(n_samples: int, min_cluster_size: int | None) -> None:
    """Reject a least size of clusters that not even all samples together have."""
    if min_cluster_size is not None and min_cluster_size > n_samples:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is more than the {n_samples} samples in X: ask for at most that many."
        )


def is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def is_precomputed(metric: Any) -> bool:
    """Return whether the input has distances in place of features."""
    return isinstance(metric, str) and metric == "precomputed"


def check_metric(metric: Any) -> None:
    """Accept functions and the names of metrics."""
    from sklearn.neighbors import VALID_METRICS  # noqa: PLC0415 - slow to import

    known = sorted({"precomputed", *VALID_METRICS["brute"]} - {"nan_euclidean"})
    if not (callable(metric) or (isinstance(metric, str) and metric in known)):
        raise ValueError(
            f"metric must be a function of two samples or one of {', '.join(map(repr, known))}, got {metric!r}."
        )
