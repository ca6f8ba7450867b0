"""DPC: clustering by fast search and find of density peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from kfuse._validation import parameters
from kfuse.baselines import checks

if TYPE_CHECKING:
    from kfuse.baselines.pairs import Pairs

KERNELS = ("gaussian", "cutoff")
HALO = -1


class DensityPeaks(ClusterMixin, BaseEstimator):
    """Density peaks clustering (DPC) by Rodriguez and Laio.

    Cluster centres are samples that are dense and far from any denser sample; every other sample gets the label of its
    nearest denser sample. Time grows with the square of the number of samples, memory does not.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters.
    percent : float, default=2.0
        The percentage of all pairs of samples that are within the cutoff distance d_c.
    kernel : {"gaussian", "cutoff"}, default="gaussian"
        The density of a sample: the sum of exp(-(d / d_c)^2) over the others, or the number of others closer than d_c.
    halo : bool, default=False
        Whether to give samples in the halo of a cluster the label -1.
    n_jobs : int or None, default=None
        The number of threads; None and -1 use all cores. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by decreasing size, halo included, then by smallest sample
        index.
    n_clusters_ : int
        The number of clusters.
    centers_ : ndarray of shape (n_clusters,)
        The sample at the centre of each cluster.
    density_ : ndarray of shape (n_samples,)
        The density (rho) of each sample.
    delta_ : ndarray of shape (n_samples,)
        The distance to the nearest denser sample; for the densest sample, the largest value of all others.
    gamma_ : ndarray of shape (n_samples,)
        The product of density and delta; centres have the largest values.
    parents_ : ndarray of shape (n_samples,)
        The nearest denser sample; for the densest sample, the sample itself.
    halo_mask_ : ndarray of shape (n_samples,)
        True for samples that are less dense than the border of their cluster with another one.
    cutoff_ : float
        The cutoff distance d_c.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        The names of these features, if X is a data frame with string column names.

    References
    ----------
    A. Rodriguez and A. Laio, "Clustering by fast search and find of density peaks", Science 344, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from kfuse.baselines import DensityPeaks
    >>> X, _ = make_blobs([60, 40], centers=None, random_state=0)
    >>> model = DensityPeaks(2).fit(X)
    >>> model.labels_[model.centers_]
    array([0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        percent: float = 2.0,
        kernel: str = "gaussian",
        halo: bool = False,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.percent = percent
        self.kernel = kernel
        self.halo = halo
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> DensityPeaks:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, which are not modified.
        y : ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        DensityPeaks
            The fitted estimator.
        """
        from kfuse.baselines.pairs import Pairs, follow_parents  # noqa: PLC0415 - numba is slow to import
        from kfuse.core.order import labels_by_size  # noqa: PLC0415

        checks.check_number("percent", self.percent, 0, 100)
        parameters.check_choice("kernel", self.kernel, KERNELS)
        pairs = Pairs(*checks.start(self, X))
        cutoff = self._cutoff(pairs)
        self.density_ = _density(pairs, cutoff, self.kernel)
        ascent = pairs.ascent(self.density_)

        densest = ascent.order[0]
        ascent.heights[densest] = ascent.heights.max()
        self.cutoff_, self.delta_ = cutoff * pairs.distances.unit, ascent.heights * pairs.distances.unit
        self.parents_, self.gamma_ = ascent.parents, self.density_ * ascent.heights * pairs.distances.unit
        centers = np.argsort(-self.gamma_, kind="stable")[: self.n_clusters]
        if densest not in centers:
            centers[-1] = densest

        labels = np.full(pairs.n_samples, -1, dtype=np.intp)
        labels[centers] = np.arange(self.n_clusters)
        follow_parents(ascent.order, ascent.parents, labels)
        labels = labels_by_size(labels)
        self.centers_ = centers[np.argsort(labels[centers])]
        self.halo_mask_ = _halo(pairs, cutoff, self.density_, labels)
        self.labels_ = np.where(self.halo_mask_, HALO, labels) if self.halo else labels
        self.n_clusters_ = int(self.n_clusters)
        return self

    def _cutoff(self, pairs: Pairs) -> float:
        """Compute the cutoff distance d_c (step 1)."""
        n_pairs = pairs.n_samples * (pairs.n_samples - 1) // 2
        position = max(1, round(self.percent / 100 * n_pairs))
        cutoff = pairs.order_statistic(position)
        if cutoff == 0:
            raise ValueError(
                f"The cutoff distance is 0, because at least {position} of the {n_pairs} pairs of samples are "
                f"duplicates: remove duplicates, or increase percent from {self.percent:g}."
            )
        return cutoff


def _density(pairs: Pairs, cutoff: float, kernel: str) -> NDArray[np.float64]:
    """Compute the density rho of each sample (step 2)."""
    from kfuse.baselines.pairs import cutoff_density, gaussian_density  # noqa: PLC0415 - numba is slow to import

    estimate = {"gaussian": gaussian_density, "cutoff": cutoff_density}[kernel]
    density = np.empty(pairs.n_samples)

    def visit(rows: NDArray[np.intp], block: NDArray[np.float64]) -> None:
        density[rows] = estimate(rows, block, cutoff)

    pairs.visit(visit)
    return density


def _halo(pairs: Pairs, cutoff: float, density: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Find the samples that are less dense than the border of their cluster (step 5)."""
    from kfuse.baselines.pairs import border_density  # noqa: PLC0415 - numba is slow to import

    of_samples = np.empty(pairs.n_samples)

    def visit(rows: NDArray[np.intp], block: NDArray[np.float64]) -> None:
        of_samples[rows] = border_density(rows, block, cutoff, density, labels)

    pairs.visit(visit)
    of_clusters = np.zeros(labels.max() + 1)
    np.maximum.at(of_clusters, labels, of_samples)
    return density < of_clusters[labels]
