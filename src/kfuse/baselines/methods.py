"""The methods of the study by their names in the tables: how to create each one, and its parameter grid.

As in the paper, a method that needs the number of clusters gets the true one, and a method with other parameters is
reported with the best setting of a stated grid. Grids are meant for features scaled to [0, 1]; those that depend on the
spacing of the samples are functions of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

Grid = Mapping[str, Sequence[Any]]


class Method(NamedTuple):
    """One method of the study."""

    name: str  # as in the tables
    make: Callable[..., Any]  # make(n_clusters, random_state, **parameters) returns an estimator with fit_predict
    grid: Grid | Callable[[NDArray[Any]], Grid] = {}  # noqa: RUF012 - the parameters to try, or a function of X that returns them
    repeats: int = 1  # the number of random states, of which the best is reported
    requires: str | None = None  # a module that must be installed
    note: str = ""
    needs_number: bool = True  # whether it needs the number of clusters

    def settings(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Return all combinations of parameters to try on X; a single empty one if there are no parameters."""
        from sklearn.model_selection import ParameterGrid  # noqa: PLC0415 - slow to import

        return list(ParameterGrid(self.grid(np.asarray(X)) if callable(self.grid) else self.grid))

    def is_available(self) -> bool:
        """Return whether the required package is installed."""
        return self.requires is None or find_spec(self.requires) is not None


class Linkage(ClusterMixin, BaseEstimator):
    """A linkage of scipy, cut into a number of clusters.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters.
    method : str, default="single"
        The linkage: "single", "ward", or another one that :func:`scipy.cluster.hierarchy.linkage` accepts.

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
        from kfuse.core.order import labels_by_size  # noqa: PLC0415 - numba is slow to import

        data = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        merges = linkage(data, self.method)
        # Before scipy 1.11, the criterion "maxclust" fails for the largest numbers of clusters.
        last = len(merges) - self.n_clusters
        height = merges[last, 2] if last >= 0 else -1.0
        labels = fcluster(merges, height, criterion="distance")
        self.labels_ = labels_by_size(labels.astype(np.intp))
        return self


def make_estimator(
    kind: str, passed_on: Sequence[str], n_clusters: int | None, random_state: int | None = None, **parameters: Any
) -> Any:
    """Import a class by its full name, and create it with those of the two arguments that it accepts."""
    module, _, name = kind.rpartition(".")
    arguments = {"n_clusters": n_clusters, "random_state": random_state}
    return getattr(import_module(module), name)(**{key: arguments[key] for key in passed_on}, **parameters)


def _of(kind: str, *passed_on: str, **fixed: Any) -> Callable[..., Any]:
    """Return a `make` function for a class, with parameters that are the same for all data."""
    return partial(make_estimator, kind, passed_on, **fixed)


def _preferences(X: NDArray[Any]) -> Grid:
    """Return AP preferences from 0.5 to 1000 times the median similarity, for ever fewer clusters."""
    from sklearn.metrics import euclidean_distances  # noqa: PLC0415 - slow to import

    some = X[:: max(1, len(X) // 2000)]
    median = -float(np.median(euclidean_distances(some, squared=True)))
    return {"preference": [factor * median for factor in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000)], "damping": [0.7, 0.9]}


def _radii(X: NDArray[Any]) -> Grid:
    """Return DBSCAN radii from a third to four times the median distance to the 10th neighbour."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 - slow to import

    k = min(10, len(X) - 1)
    spacing = float(np.median(NearestNeighbors(n_neighbors=k).fit(X).kneighbors()[0][:, -1]))
    return {"eps": list(spacing * np.geomspace(1 / 3, 4, 30)), "min_samples": [2, 3, 5, 8, 12, 20]}


def _bandwidths(X: NDArray[Any]) -> Grid:
    """Return mean shift bandwidths that cover from 1 to 50 % of the samples."""
    from sklearn.cluster import estimate_bandwidth  # noqa: PLC0415 - slow to import

    shares = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
    widths = [float(estimate_bandwidth(X, quantile=share, n_samples=1000, random_state=0)) for share in shares]
    return {"bandwidth": [width for width in widths if width > 0]}


PERCENTS = (0.2, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 15, 20)
NUMBER, SEED = "n_clusters", "random_state"

_NOT_RUN = "named in the paper, not run there"
_METHODS = (
    Method("kFuse", _of("kfuse.KFuse", NUMBER), note="the default"),
    Method("kFuse (paper)", _of("kfuse.KFuse", NUMBER, fusion="paper"), note="the printed algorithm"),
    Method("kFuse (auto)", _of("kfuse.KFuse"), note="the default, number of clusters found", needs_number=False),
    Method("LDP-MST", _of("kfuse.baselines.LDPMST", NUMBER)),
    Method("Single linkage", _of(f"{__name__}.Linkage", NUMBER), note="the paper's SLINK on synthetic data"),
    Method("Ward", _of(f"{__name__}.Linkage", NUMBER, method="ward"), note="the paper's SLINK on real data"),
    Method("DPC", _of("kfuse.baselines.DensityPeaks", NUMBER), {"percent": PERCENTS}),
    Method("WANN-DPC", _of("kfuse.baselines.WANNDPC", NUMBER), note="ANN-DPC's public successor; not in the paper"),
    Method(
        "MSC",
        _of("sklearn.cluster.MeanShift", bin_seeding=True),
        _bandwidths,
        note="mean shift; slow above some thousand samples or in many dimensions",
        needs_number=False,
    ),
    Method(
        "AP",
        _of("sklearn.cluster.AffinityPropagation", SEED, max_iter=500),
        _preferences,
        note="affinity propagation; its memory grows with the square of the samples",
        needs_number=False,
    ),
    # The paper's values are those of the run with the lowest inertia, not of the run with the best score.
    Method("K-means", _of("sklearn.cluster.KMeans", NUMBER, SEED, n_init=20), note="the lowest inertia of 20 runs"),
    Method("DBSCAN", _of("sklearn.cluster.DBSCAN"), _radii, needs_number=False),
    Method(
        "Spectral",
        _of("sklearn.cluster.SpectralClustering", NUMBER, SEED, affinity="nearest_neighbors"),
        {"n_neighbors": (5, 10, 15, 20, 30)},
        note=_NOT_RUN,
    ),
    Method(
        "OPTICS",
        _of("sklearn.cluster.OPTICS"),
        {"min_samples": (5, 10, 20), "xi": (0.01, 0.02, 0.05, 0.1)},
        note=_NOT_RUN,
        needs_number=False,
    ),
    Method(
        "HDBSCAN",
        _of("sklearn.cluster.HDBSCAN", copy=True),
        {"min_cluster_size": (5, 10, 15, 20, 30, 50)},
        note="not in the paper",
        needs_number=False,
    ),
    Method("Genie", _of("genieclust.Genie", NUMBER), requires="genieclust", note="not in the paper"),
    Method("Lumbermark", _of("lumbermark.Lumbermark", NUMBER), requires="lumbermark", note="not in the paper"),
    Method("PLSCAN", _of("fast_plscan.PLSCAN"), requires="fast_plscan", note="not in the paper", needs_number=False),
)
METHODS: dict[str, Method] = {method.name: method for method in _METHODS}

# Rows of the paper's tables that cannot be reproduced, with the reason.
PRINTED_ONLY: dict[str, str] = {
    "ANN-DPC": "Its formulas are not public: only the printed values are shown. WANN-DPC is its public successor.",
}


def available() -> list[str]:
    """Return the names of the methods whose packages are installed."""
    return [name for name, method in METHODS.items() if method.is_available()]
