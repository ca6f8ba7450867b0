"""WANN-DPC: density peaks clustering with weighted adaptive nearest neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from kfuse._validation import parameters
from kfuse.baselines import checks


class WANNDPC(ClusterMixin, BaseEstimator):
    """Density peaks clustering with weighted adaptive nearest neighbours (WANN-DPC) by Xie et al.

    The largest gap between successive neighbour distances separates a sample's close neighbours from its far ones.
    Centres are found one by one, each dense, far from any denser sample and far from the samples that earlier centres
    have absorbed; labels then spread along close neighbours. Time grows with the square of the number of samples,
    memory does not.

    WANN-DPC is the published successor of ANN-DPC, whose formulas are not public. Features should be scaled to [0, 1],
    for example with :class:`~sklearn.preprocessing.MinMaxScaler`.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters. If the first centres absorb all samples, there are fewer clusters, with a warning.
    correction : float, default=2.5
        The weight of the distance to labelled samples in the choice of the next centre.
    most_neighbors : int, default=30
        The maximum number of neighbours to consider (T).
    n_jobs : int or None, default=None
        The number of threads; None and -1 use all cores. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by decreasing size, then by smallest sample index.
    n_clusters_ : int
        The number of clusters found.
    centers_ : ndarray of shape (`n_clusters_`,)
        The sample at the centre of each cluster.
    density_ : ndarray of shape (n_samples,)
        The density (rho) of each sample.
    delta_ : ndarray of shape (n_samples,)
        The distance to the nearest denser sample; for the densest sample, the largest of all distances.
    parents_ : ndarray of shape (n_samples,)
        The nearest denser sample; for the densest sample, the sample itself.
    close_counts_ : ndarray of shape (n_samples,)
        The number of close neighbours of each sample.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        The names of these features, if X is a data frame with string column names.

    References
    ----------
    J. Xie, H. Yan, M. Wang, P. W. Grant and W. Pedrycz, "WANN-DPC: Density peaks finding clustering based on weighted
    adaptive nearest neighbors", Pattern Recognition 170, 2026.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.preprocessing import minmax_scale
    >>> from kfuse.baselines import WANNDPC
    >>> X, _ = make_blobs([60, 40], centers=[[0, 0], [9, 9]], random_state=0)
    >>> np.bincount(WANNDPC(2).fit_predict(minmax_scale(X)))
    array([60, 40])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        correction: float = 2.5,
        most_neighbors: int = 30,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.correction = correction
        self.most_neighbors = most_neighbors
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> WANNDPC:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, which are not modified.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        WANNDPC
            The fitted estimator.
        """
        from kfuse.baselines import close  # noqa: PLC0415 - numba is slow to import
        from kfuse.baselines.pairs import Pairs, follow_parents  # noqa: PLC0415
        from kfuse.core.order import labels_by_size  # noqa: PLC0415

        checks.check_number("correction", self.correction, 0, 1e6)
        if not parameters.is_whole(self.most_neighbors) or self.most_neighbors < 2:
            raise ValueError(f"most_neighbors must be an integer of at least 2, got {self.most_neighbors!r}.")
        job = checks.start(self, X)
        pairs = Pairs(*job)
        near = close.find(*job, self.most_neighbors)
        ascent = pairs.ascent(near.density)
        unit = pairs.distances.unit
        with np.errstate(over="ignore"):  # extreme units
            self.delta_ = ascent.heights * unit
            self.delta_[ascent.order[0]] = ascent.largest * unit
        centers, labels = close.choose_centers(pairs, near, self.delta_, self.n_clusters, self.correction)
        near = close.widen(near)
        close.spread(near, centers, labels)
        close.join_by_membership(near, labels, centers.size)
        follow_parents(ascent.order, ascent.parents, labels)

        self.density_, self.parents_, self.close_counts_ = near.density, ascent.parents, near.found_counts
        self.labels_ = labels_by_size(labels)
        self.centers_ = centers[np.argsort(self.labels_[centers])]
        self.n_clusters_ = centers.size
        if self.n_clusters_ < self.n_clusters:
            checks.warn_of_fewer(self.n_clusters_, self.n_clusters, "The first centres absorbed all samples")
        return self
