"""The measured methods, each with settings that suit the data.

Like kfuse, methods that take the number of clusters get the true one. The HDBSCANs get a minimum cluster size of a
quarter of the average, DBSCAN a radius that fits the data; both are determined outside of the measured time. Every
method may use all cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.data import Facts

MIN_SAMPLES = 10
MIN_CLUSTER_SHARE = 0.25  # of n_samples / n_clusters


def _min_cluster_size(facts: Facts) -> int:
    return max(MIN_SAMPLES, round(MIN_CLUSTER_SHARE * facts.n_samples / facts.n_clusters))


def _kfuse(facts: Facts) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse(facts.n_clusters)


def _kfuse_auto(facts: Facts) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse()


def _kfuse_paper(facts: Facts) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse(facts.n_clusters, fusion="paper")


def _kfuse_approximate(facts: Facts) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse(facts.n_clusters, neighbors="approximate", random_state=0)


def _fast_hdbscan(facts: Facts) -> Any:
    from fast_hdbscan import HDBSCAN  # noqa: PLC0415

    return HDBSCAN(min_cluster_size=_min_cluster_size(facts), min_samples=MIN_SAMPLES)


def _genie(facts: Facts) -> Any:
    from genieclust import Genie  # noqa: PLC0415

    return Genie(n_clusters=facts.n_clusters)


def _hdbscan(facts: Facts) -> Any:
    from hdbscan import HDBSCAN  # noqa: PLC0415

    return HDBSCAN(min_cluster_size=_min_cluster_size(facts), min_samples=MIN_SAMPLES, core_dist_n_jobs=-1)


def _sklearn_hdbscan(facts: Facts) -> Any:
    from sklearn.cluster import HDBSCAN  # noqa: PLC0415

    return HDBSCAN(min_cluster_size=_min_cluster_size(facts), min_samples=MIN_SAMPLES, n_jobs=-1, copy=False)


def _k_means(facts: Facts) -> Any:
    from sklearn.cluster import KMeans  # noqa: PLC0415

    return KMeans(facts.n_clusters, random_state=0)


def _dbscan(facts: Facts) -> Any:
    from sklearn.cluster import DBSCAN  # noqa: PLC0415

    return DBSCAN(eps=facts.eps, min_samples=MIN_SAMPLES, n_jobs=-1)


def _spectral(facts: Facts) -> Any:
    from sklearn.cluster import SpectralClustering  # noqa: PLC0415

    return SpectralClustering(
        facts.n_clusters, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=0, n_jobs=-1
    )


Make = Callable[[Facts], Any]

METHODS: dict[str, Make] = {
    "kfuse": _kfuse,
    "kfuse auto": _kfuse_auto,
    "fast_hdbscan": _fast_hdbscan,
    "Genie": _genie,
    "hdbscan": _hdbscan,
    "sklearn HDBSCAN": _sklearn_hdbscan,
    "KMeans": _k_means,
    "DBSCAN": _dbscan,
    "spectral": _spectral,
}

ALL_METHODS: dict[str, Make] = {  # the last two only on request
    **METHODS,
    "kfuse paper": _kfuse_paper,
    "kfuse approximate": _kfuse_approximate,
}
