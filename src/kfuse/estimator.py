"""KFuse, the scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kfuse import memory
from kfuse._validation import distances, features, parameters, weights
from kfuse.memberships import NOISE, Division, Found, MembershipMixin
from kfuse.wording import counted

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from kfuse.core.execution import Execution
    from kfuse.core.result import Result
    from kfuse.core.search import NeighborTable
    from kfuse.tree import FusionTree


class KFuse(MembershipMixin, ClusterMixin, BaseEstimator):
    """Density-based agglomerative clustering that needs no parameter.

    Natural neighbours divide the data into small, dense sub-clusters; sub-clusters merge by how much they touch and how
    dense the boundary between them is; merges that are much weaker than usual tell the number of clusters.

    Parameters
    ----------
    n_clusters : "auto", int or (int, int), default="auto"
        The number of clusters; "auto" finds it, and a pair (least, most) lets it choose in that range. A number is
        always met if there are as many distinct samples, except with ``fusion="paper"``, which cannot split a
        sub-cluster: then a warning says how many there are.
    fusion : {"adaptive", "paper"}, default="adaptive"
        How sub-clusters merge. "adaptive" updates the fusion index after every merge, and does not depend on the
        order of rows or the unit of measurement. "paper" is the algorithm of Yan and Hu as printed; it needs a number
        of clusters, and features scaled to [0, 1], for example with :class:`~sklearn.preprocessing.MinMaxScaler`.
    metric : str or callable, default="euclidean"
        A metric that scikit-learn's neighbours take, "cosine" included, or a function of two samples. With
        "precomputed", X is a square matrix of distances, or a sparse graph with the distances of each sample to its
        nearest neighbours, as :func:`~sklearn.neighbors.kneighbors_graph` makes it.
    neighbors : {"auto", "kd_tree", "brute", "approximate"}, default="auto"
        How neighbours are searched. The first three are exact and give the same result; for Euclidean and cosine
        distances, "auto" takes the faster of the other two. "approximate" misses a few neighbours in a hundred; a
        fit of very many samples in many dimensions takes a quarter to two fifths of the time. It takes any metric.
    min_cluster_size : int or None, default=None
        The least number of samples in a cluster. What is smaller is part of the cluster that it is linked to best or,
        with ``outliers="label"``, noise. A number of clusters counts only those that are large enough.
    outliers : {"assign", "label"}, default="assign"
        How to label outliers: "assign" keeps them in the cluster that they merged into, "label" labels them as noise,
        -1. Noise is sparser than clusters are: there are more than twice as many samples of so low a density as the
        tails of Gaussian clusters would have, so heavier tails count as noise in part. With ``fusion="paper"``, it is
        what Algorithm 2 leaves out. Where all samples of a cluster are noise, there are fewer clusters than asked
        for, and a warning says so.
    n_jobs : int or None, default=None
        The number of threads; None and -1 mean all cores. The result is the same for each.
    random_state : int, RandomState instance or None, default=None
        The seed of ``neighbors="approximate"``; nothing else is random.
    verbose : bool, default=False
        Whether to show on standard error which stage runs, how far it is, its rate and the time left.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by decreasing size, then by smallest sample index.
    n_clusters_ : int
        The number of clusters found.
    tree_ : FusionTree
        Every number of clusters from this one fit, a :class:`~kfuse.tree.FusionTree`: ``tree_.cut(k)``,
        ``tree_.suggest()`` with the best numbers, ``tree_.to_linkage()`` for scipy's dendrogram, ``tree_.to_frame()``.
    probabilities_ : ndarray of shape (n_samples,)
        The membership of each sample in its own cluster, from 0 to 1; 0 for noise. It is computed when it is first
        asked for, like the next five.
    memberships_ : ndarray of shape (n_samples, `n_clusters_`)
        The membership of each sample in each cluster, as `predict_proba` gives it.
    outlier_scores_ : ndarray of shape (n_samples,)
        How much of an outlier each sample is, from 0 to 1; noise is above 0.5.
    outlier_mask_ : ndarray of shape (n_samples,)
        True for noise.
    exemplars_ : list of ndarray
        The indices of the most typical samples of each cluster: its density peaks, at most ten, the densest first.
    cluster_persistence_ : ndarray of shape (`n_clusters_`,)
        How sure each cluster is, from 0 to 1: 1 less the p-value of the least sure border that sets it apart from its
        neighbours, as :class:`~kfuse.tree.Suggestion` explains it. It is near 0 for clusters that the data does not
        show, and 1 for a single one, which has no border. Not there with ``fusion="paper"``.
    subcluster_labels_ : ndarray of shape (n_samples,)
        The sub-cluster of each sample.
    representatives_ : ndarray of shape (n_samples,)
        What each sample climbs to, as a sample index: the densest among itself and its nearest natural neighbours;
        with ``fusion="paper"``, among itself and its k neighbours (Definition 5).
    density_ : ndarray of shape (n_samples,)
        The density of each sample: one over the mean distance to its neighbours, times the root of their mean weight
        of the order of the dimension where places differ in weight; with ``fusion="paper"``, Eq. 1.
    reverse_neighbor_counts_ : ndarray of shape (n_samples,)
        How many samples have this one among their `natural_value_` nearest (nb).
    natural_value_ : int
        The natural characteristic value (lambda, Definition 3); with ``fusion="adaptive"``, one less: the last round of
        Algorithm 1 that found a sample.
    n_neighbors_ : int
        The number of neighbours used for densities and links (k).
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if X was a data frame with string column names.

    References
    ----------
    H. Yan and J. Hu, "kFuse: A novel density based agglomerative clustering".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import KFuse
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> model = KFuse().fit(X)
    >>> model.n_clusters_
    2
    >>> np.bincount(model.labels_)
    array([150, 150])
    >>> model.tree_.suggest(1)[0].n_clusters
    2
    """

    def __init__(  # noqa: PLR0913
        self,
        n_clusters: int | str | tuple[int, int] = "auto",
        *,
        fusion: str = "adaptive",
        metric: str | Callable[..., float] = "euclidean",
        neighbors: str = "auto",
        min_cluster_size: int | None = None,
        outliers: str = "assign",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.fusion = fusion
        self.metric = metric
        self.neighbors = neighbors
        self.min_cluster_size = min_cluster_size
        self.outliers = outliers
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> KFuse:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; with ``metric="precomputed"``, distances of shape (n_samples, n_samples). It is not changed.
        y : ignored
            Here for scikit-learn's conventions.
        sample_weight : array-like of shape (n_samples,), default=None
            How many times each sample counts, not necessarily a whole number; only the ratios of weights matter.
            Samples of weight zero take no part, and are told what new ones are: their labels, memberships, outlier
            scores and densities are those that `predict`, `predict_proba`, `score_outliers` and `score_samples` give;
            the rest is that of the nearest sample with a weight. With ``fusion="paper"``, weights are whole numbers,
            and `density_` is that of the nearest sample, too.

        Returns
        -------
        KFuse
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter or X is not as described; the message names what is wrong and what to do.
        MemoryError
            If the memory does not suffice; the message says how many samples would fit. The estimator stays as it was.
        """
        parameters.check_parameters(self)
        data = self._checked(X, reset=True)
        weight = weights.check_sample_weight(sample_weight, data.shape[0], self.fusion)
        weighted = None if weight is None or weight.all() else np.flatnonzero(weight)
        n_samples = data.shape[0] if weighted is None else weighted.size
        least = self.n_clusters[0] if parameters.is_range(self.n_clusters) else self.n_clusters  # type: ignore[index]
        if parameters.is_whole(least):
            parameters.check_enough_samples(n_samples, least)  # type: ignore[arg-type]
        parameters.check_enough_for_size(n_samples, self.min_cluster_size)
        from kfuse.core.search import NearestSamples  # noqa: PLC0415 - numba is slow to import
        from kfuse.tree import FusionTree  # noqa: PLC0415

        with memory.explained(*data.shape):
            result = self._fit_weighted(data, weight)
            samples = None if self._is_precomputed() else features.own_copy(data, X)  # predict takes distances then

        self._parameters = SimpleNamespace(**self.get_params(deep=False))
        self.natural_value_, self.n_neighbors_ = result.natural_value, result.n_neighbors
        self.reverse_neighbor_counts_ = result.reverse_counts
        self.density_ = result.density
        self.representatives_ = result.representatives
        self.subcluster_labels_, self._left_out = result.subclusters, result.left_out
        self.tree_ = FusionTree.of(result)
        self._nearest = NearestSamples(samples, self.metric, weighted)
        number = self._number_of_clusters()
        if issparse(data) and parameters.is_whole(self.n_clusters) and number > 1:
            distances.warn_of_parts(data, number)
        # The neighbours of distances and of weighted samples cannot be found again from the samples alone.
        self._found = Found(result.around if samples is None or weight is not None else None, result.levels, number)
        if weight is not None and weighted is not None:
            self._measure_as_new(data, np.flatnonzero(weight == 0))
        return self._divide(number, exact=not parameters.is_auto(self.n_clusters))

    def cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Label the fitted samples with another number of clusters, without fitting again.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels that `fit` gives with that number of clusters.
        """
        return self.at(n_clusters).labels_

    def at(self, n_clusters: int) -> KFuse:
        """Return the model with another number of clusters, without fitting again.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.

        Returns
        -------
        KFuse
            A fitted model that shares all but its clusters with this one: ``model.at(5).probabilities_``.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> KFuse().fit(X).at(7).predict_proba(X).shape
        (300, 7)
        """
        check_is_fitted(self, "tree_")
        parameters.check_n_clusters(n_clusters)
        other = copy(self)
        other.n_clusters = n_clusters
        parameters.check_enough_samples(self.tree_.leaf_labels.size, n_clusters)
        return other._divide(n_clusters, exact=True)

    def _divide(self, n_clusters: int, *, exact: bool) -> KFuse:
        """Cut the tree, and label the samples."""
        from kfuse.core.order import labels_by_size  # noqa: PLC0415 - numba is slow to import

        used = self._used
        labels_noise = used.outliers == "label"
        if used.min_cluster_size in (None, 1):
            clusters = self.tree_.cut(min(n_clusters, self.tree_.most_clusters))
        else:
            clusters = self.tree_.cut_large(n_clusters, used.min_cluster_size, exact=exact, drop=labels_noise)
        found = int(clusters.max()) + 1
        if exact and found < n_clusters:
            warnings.warn(why_fewer(self.tree_, n_clusters, found, used.min_cluster_size), stacklevel=3)
        self.labels_, self._division = clusters, Division(np.where(clusters == NOISE, found, clusters), found)
        self.n_clusters_ = found
        if labels_noise:
            is_noise, as_new = self.outlier_mask_.copy(), self._found.as_new
            if as_new is not None:  # only samples with a weight tell which clusters there are
                is_noise[as_new.samples] = is_noise[as_new.nearby.nearest]
            self.labels_ = labels_by_size(np.where(is_noise, NOISE, clusters), self.tree_.sample_weight)
            self._division = self._division.renumbered(self.labels_)
            self.n_clusters_ = self._division.n_clusters
            if exact and self.n_clusters_ < found:
                warnings.warn(why_noise(found, self.n_clusters_), stacklevel=3)
            if as_new is not None:
                self.labels_[as_new.samples] = self._labels_of_new(as_new.nearby)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Label new samples like the nearest sample of the fit; a sample of the fit gets its own label.

        With ``fusion="paper"``, identical samples may have different labels; then each gets the label of the first.
        With ``outliers="label"``, new samples whose outlier score is above 0.5 are noise, -1. The first call builds a
        search, which the model keeps for the next ones; it is not part of a pickle. New samples are searched in blocks,
        on `n_jobs` threads, with a progress bar if `verbose`.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples; with ``metric="precomputed"``, their distances to the samples of the fit.

        Returns
        -------
        ndarray of shape (n_new,)
            The cluster of each new sample.
        """
        check_is_fitted(self, "tree_")
        if self._used.outliers == "label" and self._used.fusion == "adaptive":
            return self._labels_of_new(self._nearby(X))
        return self.labels_[self._nearest(self._checked(X, reset=False), self._execution())]

    @property
    def _fit_X(self) -> NDArray[Any] | None:  # noqa: N802 - X is the name every scikit-learn user knows
        """The samples of the fit, None if it was given distances."""
        samples: NDArray[Any] | None = self._nearest.samples
        return samples

    def _is_precomputed(self) -> bool:
        return parameters.is_precomputed(self.metric)

    def _checked(self, X: ArrayLike, *, reset: bool) -> Any:
        metric = self.metric if reset else self._used.metric
        check = distances.check_distances if parameters.is_precomputed(metric) else features.check_features
        return check(self, X, reset=reset)

    def _number_of_clusters(self) -> int:
        if parameters.is_auto(self.n_clusters):
            return self.tree_.suggest(1)[0].n_clusters
        if parameters.is_range(self.n_clusters):
            return self.tree_.choose(*self.n_clusters)  # type: ignore[misc]
        return self.n_clusters  # type: ignore[return-value]

    def _fit_weighted(self, data: Any, weight: NDArray[np.float64] | None) -> Result:
        """Run all stages on the samples with a weight; others get what was found for the nearest of these."""
        if weight is None:
            return self._fit_stages(data)
        from kfuse.core.search import NearestSamples  # noqa: PLC0415 - numba is slow to import

        # The paper's algorithm counts samples, so they are repeated; a sample is then its first copy.
        weighted = np.flatnonzero(weight)
        rows = weighted if self.fusion == "adaptive" else np.repeat(np.arange(weight.size), weight.astype(np.intp))
        part = data[rows][:, rows] if self._is_precomputed() else data[rows]
        result = self._fit_stages(part, weight[rows])
        nearest = NearestSamples(None if self._is_precomputed() else data, self.metric, weighted)
        sample, others = np.arange(weight.size), np.flatnonzero(weight == 0)
        if others.size:
            sample[others] = nearest(data[others])
        return result.spread_over(np.searchsorted(rows, sample), rows, weight)

    def _fit_stages(self, data: Any, weight: NDArray[np.float64] | None = None) -> Result:
        """Run all stages from the neighbour search to the merges."""
        from kfuse.core import adaptive, paper  # noqa: PLC0415 - numba is slow to import
        from kfuse.core.surroundings import find_surroundings  # noqa: PLC0415

        execution = self._execution()
        if self.fusion == "adaptive":  # which drops the neighbours on the way
            result = adaptive.fit(self._neighbor_table(data, execution, self), execution, weight)
            if result.n_missing:
                warnings.warn(what_is_missing(result, int(np.diff(data.indptr).min())), stacklevel=4)
            return result
        neighbors = self._neighbor_table(data, execution, self)
        result = paper.fit(neighbors, execution)
        if self._is_precomputed() or weight is not None:
            result = result._replace(around=find_surroundings(neighbors, result.n_neighbors))
        return result

    def _execution(self) -> Execution:
        from kfuse.core.execution import Execution, Progress, number_of_threads  # noqa: PLC0415
        from kfuse.progress import ProgressBar  # noqa: PLC0415

        return Execution(number_of_threads(self.n_jobs), ProgressBar() if self.verbose else Progress())

    def _neighbor_table(self, data: Any, execution: Execution, used: Any = None) -> NeighborTable:
        """Return the neighbours of samples, searched with the parameters of the fit or with those given."""
        from kfuse.core.search import NeighborTable, choose_search  # noqa: PLC0415

        used = self._used if used is None else used
        seed = int(check_random_state(used.random_state).randint(2**31)) if used.neighbors == "approximate" else 0
        with execution.progress.stage("order"):
            steps = used.fusion == "adaptive"
            search = choose_search(data, used.metric, used.neighbors, execution, seed, steps=steps)
        return NeighborTable(search, execution)

    def _repr_html_inner(self) -> str:
        from kfuse.notebook import with_summary  # noqa: PLC0415 - only notebooks need it

        return with_summary(self, super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = self._is_precomputed()
        tags.input_tags.positive_only = self._is_precomputed()
        return tags


def why_fewer(tree: FusionTree, wanted: int, found: int, min_cluster_size: int | None) -> str:
    """Say why there are fewer clusters than wanted."""
    there_are = "is 1 cluster" if found == 1 else f"are {found} clusters"
    what = counted(found, "distinct sample" if tree.leaving is not None else "sub-cluster")
    if found < tree.most_clusters:
        what = f"{counted(found, 'part')} of {min_cluster_size} or more samples"
    return f"The data has {what}, so there {there_are} instead of {wanted}."


def why_noise(wanted: int, found: int) -> str:
    """Say that all samples of some clusters are noise."""
    lost, remain = wanted - found, "remains" if found == 1 else "remain"
    return (
        f"Of {wanted} clusters, {lost} {'is' if lost == 1 else 'are'} all noise, so that {found} {remain}: use "
        "outliers='assign' to keep all of them, or ask for fewer."
    )


def what_is_missing(result: Result, n_given: int) -> str:
    """Say how many neighbours a graph lacks, of which every sample has `n_given` or more, identical ones included."""
    from kfuse.core.search.graph import remedy  # noqa: PLC0415 - numba is slow to import

    n_needed = result.n_neighbors + result.n_missing
    return (
        f"The precomputed graph has {counted(result.n_neighbors, 'distinct neighbour')} per sample, but this data "
        f"needs about {n_needed}, so that the clusters may differ from those of a larger graph"
        f"{remedy(result.n_neighbors, n_given, n_needed)}."
    )
