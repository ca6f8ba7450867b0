"""The methods of the study, each by its name in the tables: how to make it, and what it is allowed to try.

The paper's rule is followed: a method that takes the number of clusters gets the true one, a method with parameters is
reported at the best of a stated grid, an iterative one at the best of 20 runs. Grids are meant for features scaled to
[0, 1]; those that depend on the spacing of the samples are functions of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

Grid = Mapping[str, Sequence[Any]]


class Method(NamedTuple):
    """One method, for any data set."""

    name: str  # as in the tables
    make: Callable[..., Any]  # make(n_clusters, random_state, **parameters) gives an estimator with fit_predict
    grid: Grid | Callable[[NDArray[Any]], Grid] = {}  # the parameters tried, or a function of X that gives them
    repeats: int = 1  # the best of so many random states is reported
    requires: str | None = None  # the module that must be importable
    note: str = ""
    needs_number: bool = True  # whether it takes the number of clusters; else it finds one

    def settings(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Every combination of parameters to try on X; one without parameters if there are none."""
        from sklearn.model_selection import ParameterGrid  # noqa: PLC0415 - slow to import

        return list(ParameterGrid(self.grid(np.asarray(X)) if callable(self.grid) else self.grid))

    def is_available(self) -> bool:
        """Whether the package that it needs is installed."""
        return self.requires is None or find_spec(self.requires) is not None


class Linkage(ClusterMixin, BaseEstimator):
    """A linkage of scipy, cut at a number of clusters.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters.
    method : str, default="single"
        The linkage: "single", "ward", or another that :func:`scipy.cluster.hierarchy.linkage` takes.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample.

    Examples
    --------
    >>> from kfuse.baselines.methods import Linkage
    >>> Linkage(2).fit_predict([[0.0], [1.0], [9.0]]).tolist()
    [0, 0, 1]
    """

    def __init__(self, n_clusters: int = 2, *, method: str = "single"):
        self.n_clusters = n_clusters
        self.method = method

    def fit(self, X: ArrayLike, y: object = None) -> Linkage:
        """Cluster X; `y` is ignored."""
        from kfuse.core.tree import labels_by_size  # noqa: PLC0415 - numba is slow to import

        data = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        labels = fcluster(linkage(data, self.method), self.n_clusters, criterion="maxclust")
        self.labels_ = labels_by_size(labels.astype(np.intp))
        return self


def _single(n_clusters: int, random_state: int | None = None) -> Any:
    return Linkage(n_clusters, method="single")


def _ward(n_clusters: int, random_state: int | None = None) -> Any:
    return Linkage(n_clusters, method="ward")


def _kfuse(n_clusters: int, random_state: int | None = None) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse(n_clusters)


def _kfuse_paper(n_clusters: int, random_state: int | None = None) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse(n_clusters, fusion="paper")


def _kfuse_auto(n_clusters: int | None = None, random_state: int | None = None) -> Any:
    from kfuse import KFuse  # noqa: PLC0415

    return KFuse()


def _ldp_mst(n_clusters: int, random_state: int | None = None) -> Any:
    from kfuse.baselines import LDPMST  # noqa: PLC0415

    return LDPMST(n_clusters)


def _dpc(n_clusters: int, random_state: int | None = None, **parameters: Any) -> Any:
    from kfuse.baselines import DensityPeaks  # noqa: PLC0415

    return DensityPeaks(n_clusters, **parameters)


def _wann_dpc(n_clusters: int, random_state: int | None = None) -> Any:
    from kfuse.baselines import WANNDPC  # noqa: PLC0415

    return WANNDPC(n_clusters)


def _mean_shift(n_clusters: int | None = None, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import MeanShift  # noqa: PLC0415

    return MeanShift(bin_seeding=True, **parameters)


def _affinity_propagation(n_clusters: int | None = None, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import AffinityPropagation  # noqa: PLC0415

    return AffinityPropagation(max_iter=500, random_state=random_state, **parameters)


def _k_means(n_clusters: int, random_state: int | None = None) -> Any:
    from sklearn.cluster import KMeans  # noqa: PLC0415

    return KMeans(n_clusters, n_init=1, random_state=random_state)


def _dbscan(n_clusters: int | None = None, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import DBSCAN  # noqa: PLC0415

    return DBSCAN(**parameters)


def _spectral(n_clusters: int, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import SpectralClustering  # noqa: PLC0415

    return SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=random_state, **parameters)


def _optics(n_clusters: int | None = None, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import OPTICS  # noqa: PLC0415

    return OPTICS(**parameters)


def _hdbscan(n_clusters: int | None = None, random_state: int | None = None, **parameters: Any) -> Any:
    from sklearn.cluster import HDBSCAN  # noqa: PLC0415

    return HDBSCAN(copy=True, **parameters)


def _genie(n_clusters: int, random_state: int | None = None) -> Any:
    from genieclust import Genie  # noqa: PLC0415

    return Genie(n_clusters)


def _lumbermark(n_clusters: int, random_state: int | None = None) -> Any:
    from lumbermark import Lumbermark  # noqa: PLC0415

    return Lumbermark(n_clusters)


def _plscan(n_clusters: int | None = None, random_state: int | None = None) -> Any:
    from fast_plscan import PLSCAN  # noqa: PLC0415

    return PLSCAN()


def _preferences(X: NDArray[Any]) -> Grid:
    """AP: preferences from half to a thousand times the median similarity, which gives ever fewer clusters."""
    from sklearn.metrics import euclidean_distances  # noqa: PLC0415 - slow to import

    some = X[:: max(1, len(X) // 2000)]
    median = -float(np.median(euclidean_distances(some, squared=True)))
    return {"preference": [factor * median for factor in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000)], "damping": [0.7, 0.9]}


def _radii(X: NDArray[Any]) -> Grid:
    """DBSCAN: radii from a third of the usual distance to the 10th neighbour to four times it."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 - slow to import

    k = min(10, len(X) - 1)
    spacing = float(np.median(NearestNeighbors(n_neighbors=k).fit(X).kneighbors()[0][:, -1]))
    return {"eps": list(spacing * np.geomspace(1 / 3, 4, 30)), "min_samples": [2, 3, 5, 8, 12, 20]}


def _bandwidths(X: NDArray[Any]) -> Grid:
    """Mean shift: bandwidths that hold from 1 to 50 % of the samples."""
    from sklearn.cluster import estimate_bandwidth  # noqa: PLC0415 - slow to import

    shares = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
    widths = [float(estimate_bandwidth(X, quantile=share, n_samples=1000, random_state=0)) for share in shares]
    return {"bandwidth": [width for width in widths if width > 0]}


PERCENTS = (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 15, 20)

_METHODS = (
    Method("kFuse", _kfuse, note="the default, true number of clusters"),
    Method("kFuse (paper)", _kfuse_paper, note="the printed algorithm, true number of clusters"),
    Method("kFuse (auto)", _kfuse_auto, note="the default, number of clusters found", needs_number=False),
    Method("LDP-MST", _ldp_mst),
    Method("Single linkage", _single, note="the paper's SLINK column on synthetic data"),
    Method("Ward", _ward, note="the paper's SLINK column on real data"),
    Method("DPC", _dpc, {"percent": PERCENTS}),
    Method("WANN-DPC", _wann_dpc, note="the public successor of ANN-DPC; not in the paper"),
    Method("MSC", _mean_shift, _bandwidths, note="mean shift", needs_number=False),
    Method("AP", _affinity_propagation, _preferences, note="affinity propagation, n x n memory", needs_number=False),
    Method("K-means", _k_means, repeats=20),
    Method("DBSCAN", _dbscan, _radii, needs_number=False),
    Method("Spectral", _spectral, {"n_neighbors": (5, 10, 15, 20, 30)}, note="named in the paper, not run there"),
    Method(
        "OPTICS",
        _optics,
        {"min_samples": (5, 10, 20), "xi": (0.01, 0.02, 0.05, 0.1)},
        note="named in the paper, not run there",
        needs_number=False,
    ),
    Method(
        "HDBSCAN",
        _hdbscan,
        {"min_cluster_size": (5, 10, 15, 20, 30, 50)},
        note="not in the paper",
        needs_number=False,
    ),
    Method("Genie", _genie, requires="genieclust", note="not in the paper"),
    Method("Lumbermark", _lumbermark, requires="lumbermark", note="not in the paper"),
    Method("PLSCAN", _plscan, requires="fast_plscan", note="not in the paper", needs_number=False),
)
METHODS: dict[str, Method] = {method.name: method for method in _METHODS}

# Rows of the paper's tables that cannot be run, with the reason.
PRINTED_ONLY: dict[str, str] = {
    "ANN-DPC": "Its formulas are not public, so only the printed values are shown; WANN-DPC, its public successor, is run.",
}


def available() -> list[str]:
    """Names of the methods that can run here."""
    return [name for name, method in METHODS.items() if method.is_available()]
