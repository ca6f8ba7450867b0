"""LDP-MST, a minimum spanning tree of local density peaks."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from kfuse.baselines import checks


class LDPMST(ClusterMixin, BaseEstimator):
    """Clustering with a minimum spanning tree of local density peaks (LDP-MST) of Cheng and others.

    Samples climb to local density peaks; a minimum spanning tree joins the peaks by a distance that is short where
    they share many dense neighbours; its longest edges are cut, unless that would leave too small a cluster. Features
    are expected in [0, 1], for example from :class:`~sklearn.preprocessing.MinMaxScaler`.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters. If there are fewer peaks, or no cut leaves both sides large enough, there are fewer
        clusters, and a warning says so.
    ratio : float, default=0.018
        The size of the smallest cluster to be cut off, as a share of the samples.
    n_jobs : int or None, default=None
        The number of threads; None and -1 mean all cores. The result is the same for each.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by falling size, then by smallest sample index.
    n_clusters_ : int
        The number of clusters found.
    peaks_ : ndarray of shape (n_peaks,)
        The samples that are local density peaks.
    peak_labels_ : ndarray of shape (n_samples,)
        For each sample, the position in `peaks_` of the peak that it climbs to.
    density_ : ndarray of shape (n_samples,)
        The density (rho) of each sample.
    natural_value_ : int
        The natural characteristic value (lambda).
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if X was a data frame with string column names.

    References
    ----------
    D. Cheng, Q. Zhu, J. Huang, Q. Wu and L. Yang, "Clustering with local density peaks-based minimum spanning tree",
    IEEE Transactions on Knowledge and Data Engineering 33, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from kfuse.baselines import LDPMST
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> np.bincount(LDPMST(2).fit_predict(X))
    array([150, 150])
    """

    def __init__(self, n_clusters: int = 2, *, ratio: float = 0.018, n_jobs: int | None = None):
        self.n_clusters = n_clusters
        self.ratio = ratio
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> LDPMST:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples. It is not changed.
        y : ignored
            Here for scikit-learn's conventions.

        Returns
        -------
        LDPMST
            The fitted estimator itself.
        """
        from kfuse.baselines import peaks as peaks_  # noqa: PLC0415 - numba is slow to import
        from kfuse.core.neighbors import NeighborTable, choose_search  # noqa: PLC0415
        from kfuse.core.tree import labels_by_size  # noqa: PLC0415

        checks.check_number("ratio", self.ratio, 0, 1)
        data, n_threads = checks.start(self, X)
        neighbors = NeighborTable(choose_search(data, "euclidean", "auto"), n_threads)
        natural = peaks_.natural_neighbors(neighbors)
        found = peaks_.find_peaks(neighbors, natural)
        tree = peaks_.spanning_tree(neighbors, natural.natural_value, found)
        smallest = self.ratio * len(data)
        clusters = peaks_.cut(tree, np.bincount(found.labels), smallest, self.n_clusters)

        self.natural_value_ = natural.natural_value
        with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
            self.density_ = np.nan_to_num(found.density / neighbors.distances.unit)
        self.peaks_, self.peak_labels_ = found.peaks, found.labels
        self.labels_ = labels_by_size(clusters[found.labels])
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._warn_if_fewer(smallest)
        return self

    def _warn_if_fewer(self, smallest: float) -> None:
        if self.n_clusters_ == self.n_clusters:
            return
        there_are = "is 1 cluster" if self.n_clusters_ == 1 else f"are {self.n_clusters_} clusters"
        if self.peaks_.size <= self.n_clusters:
            why = f"The data has {self.peaks_.size} local density peak{'s' * (self.peaks_.size > 1)}"
        else:
            why = f"No other cut leaves clusters of at least {smallest:g} samples (ratio={self.ratio:g})"
        warnings.warn(f"{why}, so there {there_are} instead of {self.n_clusters}.", stacklevel=3)
