"""LDP-MST: clustering with a minimum spanning tree of local density peaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from kfuse.baselines import checks


class LDPMST(ClusterMixin, BaseEstimator):
    """Clustering with a minimum spanning tree of local density peaks (LDP-MST) by Cheng et al.

    Each sample is assigned to a local density peak; a minimum spanning tree joins the peaks by a distance that is short
    if they share many dense neighbours; its longest edges are cut, unless a cluster would become too small. Features
    should be scaled to [0, 1], for example with :class:`~sklearn.preprocessing.MinMaxScaler`.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters. If there are fewer peaks, or no cut leaves both sides large enough, there are fewer
        clusters, with a warning.
    ratio : float, default=0.018
        The minimum size of a cluster that is cut off, as a fraction of the samples.
    n_jobs : int or None, default=None
        The number of threads; None and -1 use all cores. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by decreasing size, then by smallest sample index.
    n_clusters_ : int
        The number of clusters found.
    peaks_ : ndarray of shape (n_peaks,)
        The indices of the samples that are local density peaks.
    peak_labels_ : ndarray of shape (n_samples,)
        For each sample, the position in `peaks_` of its peak.
    density_ : ndarray of shape (n_samples,)
        The density (rho) of each sample.
    natural_value_ : int
        The natural characteristic value (lambda).
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        The names of these features, if X is a data frame with string column names.

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
            The samples, which are not modified.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        LDPMST
            The fitted estimator.
        """
        from kfuse.baselines import peaks as peaks_  # noqa: PLC0415 - numba is slow to import
        from kfuse.core.execution import Execution  # noqa: PLC0415
        from kfuse.core.order import labels_by_size  # noqa: PLC0415
        from kfuse.core.search import NeighborTable, choose_search  # noqa: PLC0415

        checks.check_number("ratio", self.ratio, 0, 1)
        data, n_threads = checks.start(self, X)
        neighbors = NeighborTable(choose_search(data, "euclidean", "auto"), Execution(n_threads))
        natural = peaks_.natural_neighbors(neighbors)
        found = peaks_.find_peaks(neighbors, natural)
        tree = peaks_.spanning_tree(neighbors, natural.natural_value, found)
        smallest = self.ratio * len(data)
        clusters = peaks_.cut(tree, np.bincount(found.labels), smallest, self.n_clusters)

        self.natural_value_ = natural.natural_value
        with np.errstate(over="ignore"):  # densities of very close samples may exceed float64
            self.density_ = np.nan_to_num(found.density / neighbors.distances.unit)
        self.peaks_, self.peak_labels_ = found.peaks, found.labels
        self.labels_ = labels_by_size(clusters[found.labels])
        self.n_clusters_ = int(self.labels_.max()) + 1
        if self.n_clusters_ < self.n_clusters:
            checks.warn_of_fewer(self.n_clusters_, self.n_clusters, self._why_fewer(smallest))
        return self

    def _why_fewer(self, smallest: float) -> str:
        if self.peaks_.size <= self.n_clusters:
            return f"The data has {self.peaks_.size} local density peak{'s' * (self.peaks_.size > 1)}"
        return f"No other cut leaves clusters of at least {smallest:g} samples (ratio={self.ratio:g})"
