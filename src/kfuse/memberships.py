"""What a fitted model tells each sample: how sure its label is, how much of an outlier it is, which ones are typical.

All of it is computed when it is first asked for, and kept; the neighbours it is computed from are not part of a pickle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from kfuse.core.result import Surroundings
    from kfuse.core.search.nearby import PlacesNearby

NOISE = -1
MOST_EXEMPLARS = 10
CERTAIN = 1.0 - 1e-12  # noise: what is left still tells the clusters apart


class Found:
    """What is found on demand about the samples of a fit, whatever the cut.

    Parameters
    ----------
    around : Surroundings or None
        Their neighbours, where these cannot be found again: with ``metric="precomputed"``. They are pickled then.
    levels : ndarray of shape (n_samples,) or None
        The logarithm of their density, as noise is told by.
    n_clusters : int
        The number of clusters of the fit.
    """

    as_new: AsNew | None = None  # in pickles of before, too

    def __init__(self, around: Surroundings | None, levels: NDArray[np.float64] | None, n_clusters: int):
        self.around, self.levels, self.n_clusters = around, levels, n_clusters
        self.is_given = around is not None
        self.background: float | None = None  # the log-density below which samples are noise
        self.nearby: PlacesNearby | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "around": self.around if self.is_given else None, "nearby": None}


class Division:
    """The clusters of a cut, and what is found on demand about them.

    Parameters
    ----------
    clusters : ndarray of shape (n_samples,)
        The cluster of each sample, noise included; those of a cluster that is too small have the number `n_clusters`.
    n_clusters : int
        The number of clusters.
    """

    def __init__(self, clusters: NDArray[np.intp], n_clusters: int):
        self.clusters, self.n_clusters = clusters, n_clusters
        self.memberships: Memberships | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memberships": None}

    def renumbered(self, labels: NDArray[np.intp]) -> Division:
        """Return the same clusters, numbered as the samples that are not noise are labelled."""
        n_clusters, is_member = int(labels.max()) + 1, labels != NOISE
        number = np.full(self.n_clusters + 1, n_clusters)
        number[self.clusters[is_member]] = labels[is_member]
        return Division(number[self.clusters], n_clusters)


class Memberships(NamedTuple):
    """The sub-cluster of each place, and the membership of each sub-cluster in each cluster."""

    node: NDArray[np.intp]
    of_nodes: csr_array


class Nearby(NamedTuple):
    """New samples, as the samples of the fit see them."""

    nearest: NDArray[np.intp]  # sample of the fit
    is_known: NDArray[np.bool_]  # whether that is identical
    places: NDArray[np.intp]  # (n_new, k + 1): the nearest
    levels: NDArray[np.float64]  # the logarithm of their density, as noise is told by
    log_density: NDArray[np.float64]  # minus the logarithm of the mean distance to the neighbours


class AsNew(NamedTuple):
    """Samples of a fit that have no weight, and are seen as new ones."""

    samples: NDArray[np.intp]  # ascending
    nearby: Nearby


class MembershipMixin:
    """Memberships, outlier scores and exemplars of a fitted :class:`~kfuse.KFuse`."""

    if TYPE_CHECKING:  # what the estimator has

        def __getattr__(self, name: str) -> Any: ...

    @property
    def _used(self) -> Any:
        """The parameters of the fit, which `set_params` may have changed since; pickles of before do not have them."""
        return vars(self).get("_parameters", self)

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """The membership of each sample in its own cluster, from 0 to 1; 0 for noise."""
        check_is_fitted(self, "tree_")
        from kfuse.core.memberships import blocks_of_rows  # noqa: PLC0415 - numba is slow to import

        found = np.zeros(self.labels_.size)
        for rows in blocks_of_rows(found.size, max(self.n_clusters_ + 1, self.n_neighbors_)):
            samples = np.arange(found.size)[rows]
            own = np.maximum(self.labels_[samples], 0)
            shares = self._shares_of_fit(samples)[np.arange(samples.size), own]
            found[samples] = np.where(self.labels_[samples] == NOISE, 0.0, shares)
        return found

    @property
    def memberships_(self) -> NDArray[np.float64]:
        """The membership of each sample in each cluster, one row per sample: `predict_proba` for those of the fit."""
        check_is_fitted(self, "tree_")
        return self._shares_of_fit(np.arange(self.labels_.size))

    @property
    def outlier_scores_(self) -> NDArray[np.float64]:
        """How much of an outlier each sample is, from 0 to 1: noise is above 0.5."""
        check_is_fitted(self, "tree_")
        return self._scores(self._levels(), self._division.clusters)

    @property
    def outlier_mask_(self) -> NDArray[np.bool_]:
        """True for samples that are noise."""
        check_is_fitted(self, "tree_")
        return self._left_out if self._used.fusion == "paper" else self.outlier_scores_ > 0.5

    @property
    def exemplars_(self) -> list[NDArray[np.intp]]:
        """The most typical samples of each cluster, as indices: its density peaks, at most ten, the densest first."""
        check_is_fitted(self, "tree_")
        is_peak = self.representatives_ == np.arange(self.labels_.size)
        densest_first = np.argsort(-self.density_, kind="stable")
        if self.tree_.sample_weight is not None:
            densest_first = densest_first[self.tree_.sample_weight[densest_first] > 0]
        found = []
        for cluster in range(self.n_clusters_):
            members = densest_first[self.labels_[densest_first] == cluster]
            peaks = members[is_peak[members]][:MOST_EXEMPLARS]
            found.append(peaks if peaks.size else members[:1])
        return found

    @property
    def cluster_persistence_(self) -> NDArray[np.float64]:
        """How sure each cluster is, from 0 to 1: 1 less the p-value of the least sure border that sets it apart."""
        check_is_fitted(self, "tree_")
        if self.tree_.borders is None:
            raise AttributeError(
                "The printed algorithm does not judge borders: use fusion='adaptive' for cluster_persistence_."
            )
        clusters = self._division.clusters
        found: NDArray[np.float64] = self.tree_.persistence(np.where(clusters == self.n_clusters_, NOISE, clusters))
        return found

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the membership of samples in each cluster; the largest is that of the cluster that `predict` gives.

        What a row lacks to 1 is the chance that the sample is noise: the outlier score. With ``outliers="label"``, it
        differs from the score a little where needed: it is the largest exactly for samples that `predict` labels -1.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples; with ``metric="precomputed"``, their distances to the samples of the fit.

        Returns
        -------
        ndarray of shape (n_new, `n_clusters_`)
            The memberships; for a sample of the fit, those that `probabilities_` is taken from.
        """
        check_is_fitted(self, "tree_")
        new = self._nearby(X)
        clusters = self._division.clusters[new.nearest]
        scores = self._scores(new.levels, clusters)
        return self._shares(new.places, scores, self._labels_of_new(new))

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the density of samples: of one over the mean distance to their neighbours.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples; with ``metric="precomputed"``, their distances to the samples of the fit.

        Returns
        -------
        ndarray of shape (n_new,)
            The logarithm of the density; for a sample of the fit, that of its `density_`, with ``fusion="adaptive"``.
        """
        check_is_fitted(self, "tree_")
        return self._nearby(X).log_density

    def score_outliers(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how much of an outlier samples are, from 0 to 1, as `outlier_scores_` does for those of the fit.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples; with ``metric="precomputed"``, their distances to the samples of the fit.

        Returns
        -------
        ndarray of shape (n_new,)
            The outlier scores: noise is above 0.5. If all samples of the fit are identical, there is no density to
            compare with, and new samples have the same score as these, however far they are.
        """
        check_is_fitted(self, "tree_")
        new = self._nearby(X)
        return self._scores(new.levels, self._division.clusters[new.nearest])

    def _labels_of_new(self, new: Nearby) -> NDArray[np.intp]:
        """Label new samples like the nearest sample of the fit, or as noise if they are."""
        labels: NDArray[np.intp] = self.labels_[new.nearest]
        if self._used.outliers == "assign" or self._used.fusion == "paper":
            return labels
        clusters = self._division.clusters[new.nearest]
        is_noise = (self._scores(new.levels, clusters) > 0.5) & ~new.is_known
        labels = np.where(new.is_known | (clusters == self.n_clusters_), labels, clusters)
        return np.where(is_noise, NOISE, labels)

    def _shares_of_fit(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the memberships of samples of the fit, which are in ascending order, in every cluster."""
        around, as_new = self._surroundings(), self._found.as_new
        place = around.place[samples]
        places = np.column_stack([place, around.indices[place]])
        if as_new is not None:
            _, rows, rows_as_new = np.intersect1d(samples, as_new.samples, assume_unique=True, return_indices=True)
            places[rows] = as_new.nearby.places[rows_as_new]
        scores = self._scores(self._levels()[samples], self._division.clusters[samples])
        return self._shares(places, scores, self.labels_[samples])

    def _shares(
        self, places: NDArray[np.intp], scores: NDArray[np.float64], labels: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the memberships, given the places around each sample, its outlier score and its label."""
        from kfuse.core.memberships import average, lead  # noqa: PLC0415 - numba is slow to import

        found, n_clusters = self._memberships(), self.n_clusters_
        scores = np.minimum(scores, CERTAIN)[:, None]
        shares = average(found.node[places], found.of_nodes)
        if self._used.outliers == "assign":
            return (1.0 - scores) * lead(shares[:, :n_clusters], labels)
        shares *= 1.0 - scores
        shares[:, n_clusters:] += scores
        return lead(shares, np.where(labels == NOISE, n_clusters, labels))[:, :n_clusters]

    def _memberships(self) -> Memberships:
        """Return the memberships of the sub-clusters; the last column is noise."""
        from kfuse.core.memberships import build_network, memberships_of_nodes  # noqa: PLC0415

        division = self._division
        if division.memberships is None:
            around = self._surroundings()
            first = around.first
            leaves, clusters = self.tree_.leaf_labels[first], division.clusters[first]
            network = build_network(around, self._dimension(), leaves, clusters)
            division.memberships = Memberships(network.node, memberships_of_nodes(network, division.n_clusters + 1))
        return division.memberships

    def _scores(self, levels: NDArray[np.float64], clusters: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the outlier scores of samples with some levels, each nearest to a cluster."""
        from kfuse.core import noise  # noqa: PLC0415 - numba is slow to import

        return np.where(clusters == self._division.n_clusters, 1.0, noise.scores(levels, self._background()))

    def _background(self) -> float:
        """Return the log-density below which samples are noise: that of the clusters that the data suggests.

        It does not depend on the cut: few clusters may each have parts of different density, none of which is noise.
        """
        from kfuse.core import noise  # noqa: PLC0415 - numba is slow to import

        if self._found.background is None:
            number = self._found.n_clusters if self.tree_.borders is None else self.tree_.suggest(1)[0].n_clusters
            clusters = self.tree_.cut(min(number, self.tree_.most_clusters))
            weight = self.tree_.sample_weight
            self._found.background = noise.background(self._levels(), clusters, self._dimension(), weight)
        return self._found.background

    def _levels(self) -> NDArray[np.float64]:
        """Return the logarithm of the density of every sample, as noise is told by."""
        from kfuse.core import noise  # noqa: PLC0415 - numba is slow to import

        if self._found.levels is None:
            self._found.levels = noise.levels_of_fit(self._surroundings(), self._dimension())
        return self._found.levels

    def _dimension(self) -> float:
        from kfuse.core.adaptive.neighborhoods import intrinsic_dimension  # noqa: PLC0415 - numba is slow to import

        borders = self.tree_.borders
        return intrinsic_dimension(self._surroundings().distances) if borders is None else borders.dimension

    def _surroundings(self) -> Surroundings:
        """Return the neighbours of the samples of the fit, found again if they were not kept."""
        from kfuse.core.surroundings import find_surroundings  # noqa: PLC0415 - numba is slow to import

        if self._found.around is None:
            neighbors = self._neighbor_table(self._fit_X, self._execution())
            self._found.around = find_surroundings(neighbors, self.n_neighbors_)
        return self._found.around

    def _measure_as_new(self, data: Any, samples: NDArray[np.intp]) -> None:
        """Measure the density at samples that took no part in the fit."""
        nearby = self._nearby_of(data[samples])
        self._found.levels = self._levels().copy()
        self._found.levels[samples] = nearby.levels
        if self._used.fusion == "adaptive":
            self.density_[samples] = np.where(
                nearby.is_known, self.density_[nearby.nearest], np.exp(nearby.log_density)
            )
        self._found.as_new = AsNew(samples, nearby)

    def _nearby(self, X: ArrayLike) -> Nearby:
        """Find the neighbours of new samples, once these are checked."""
        return self._nearby_of(self._checked(X, reset=False))

    def _nearby_of(self, data: Any) -> Nearby:
        """Find the neighbours of new samples; one that is identical to a sample of the fit has that one's."""
        from kfuse.core import noise  # noqa: PLC0415 - numba is slow to import
        from kfuse.core.search.nearby import PlacesNearby  # noqa: PLC0415
        from kfuse.core.surroundings import log_density  # noqa: PLC0415

        around = self._surroundings()
        if self._found.nearby is None:
            self._found.nearby = PlacesNearby(self._fit_X, self._used.metric, around.first)
        found = self._found.nearby.query(data, around.indices.shape[1] + 1)
        nearest: NDArray[np.intp] = self._nearest(data)
        is_known = found.distances[:, 0] == 0 if self._fit_X is None else (self._fit_X[nearest] == data).all(axis=1)
        place, is_row = around.place[nearest], is_known[:, None]
        others = np.where(is_row, around.indices[place], found.indices[:, :-1])
        distances = np.where(is_row, around.distances[place], found.distances[:, :-1])
        copies, dimension = around.copies, self._dimension()
        levels = noise.log_levels(others, distances, copies, np.ones(len(others)), dimension)
        places = np.where(is_row, np.column_stack([place, others]), found.indices)
        return Nearby(
            nearest,
            is_known,
            places,
            np.where(is_known, self._levels()[nearest], levels),
            log_density(distances, around.unit, copies, places, dimension),
        )
