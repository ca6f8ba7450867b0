"""KFuse, the scikit-learn estimator."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kfuse import memory, validation

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from kfuse.core.flow import Flow
    from kfuse.core.tree import FusionTree

LEFT_OUT = -1


class KFuse(ClusterMixin, BaseEstimator):
    """Density-based agglomerative clustering that needs no parameter.

    Natural neighbours divide the data into small, dense sub-clusters; sub-clusters fuse by how far they touch and how
    dense the boundary is; fusions that are much weaker than usual give the number of clusters.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        The number of clusters; "auto" finds it. A number is always met if there are as many distinct samples, except
        with ``fusion="paper"``, which cannot split a sub-cluster: then a warning says how many there are.
    fusion : {"adaptive", "paper"}, default="adaptive"
        How sub-clusters fuse. "adaptive" takes the fusion index anew after every fusion, and does not depend on the
        order of rows or the unit of measurement. "paper" is the algorithm of Yan and Hu as printed; it needs a number
        of clusters, and features scaled to [0, 1], for example with :class:`~sklearn.preprocessing.MinMaxScaler`.
    metric : str or callable, default="euclidean"
        A metric that scikit-learn's neighbours take, "cosine" included, or a function of two samples. With
        "precomputed", X is a square matrix of distances, or a sparse graph with the distances of each sample to its
        nearest neighbours, as :func:`~sklearn.neighbors.kneighbors_graph` makes it.
    neighbors : {"auto", "kd_tree", "brute", "approximate"}, default="auto"
        How neighbours are searched. The first three are exact and give the same result; for Euclidean and cosine
        distances, "auto" takes the faster of the other two. "approximate" misses some neighbours; it can be faster
        for hundreds of thousands of samples in many dimensions, and needs pynndescent, the extra ``kfuse[approx]``.
    outliers : {"assign", "label"}, default="assign"
        What becomes of outliers: "assign" keeps them in the cluster that they fell into, "label" gives them the label
        -1. Outliers are samples that are not among the natural neighbours of any other sample; with
        ``fusion="paper"``, samples that Algorithm 2 leaves out.
    n_jobs : int or None, default=None
        The number of threads; None and -1 mean all cores. The result is the same for each.
    random_state : int, RandomState instance or None, default=None
        The seed of ``neighbors="approximate"``; nothing else is random.
    verbose : bool, default=False
        Whether to show on standard error which stage runs, how far it is, its rate and the time left.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample: 0, 1, ... by falling size, then by smallest sample index.
    n_clusters_ : int
        The number of clusters found.
    tree_ : FusionTree
        Every number of clusters from this one fit, a :class:`~kfuse.core.tree.FusionTree`: ``tree_.cut(k)``,
        ``tree_.suggest()`` with the best numbers, ``tree_.to_linkage()`` for scipy's dendrogram, ``tree_.to_frame()``.
    subcluster_labels_ : ndarray of shape (n_samples,)
        The sub-cluster of each sample.
    representatives_ : ndarray of shape (n_samples,)
        What each sample climbs to, as a sample index: the densest among itself and its nearest natural neighbours;
        with ``fusion="paper"``, among itself and its k neighbours (Definition 5).
    density_ : ndarray of shape (n_samples,)
        The density of each sample: one over the mean distance to its neighbours; with ``fusion="paper"``, Eq. 1.
    reverse_neighbor_counts_ : ndarray of shape (n_samples,)
        How many samples have this one among their `natural_value_` nearest (nb).
    natural_value_ : int
        The natural characteristic value (lambda, Definition 3).
    n_neighbors_ : int
        The number of neighbours used for densities and links (k).
    outlier_mask_ : ndarray of shape (n_samples,)
        True for outliers.
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

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        fusion: str = "adaptive",
        metric: str | Callable[..., float] = "euclidean",
        neighbors: str = "auto",
        outliers: str = "assign",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.fusion = fusion
        self.metric = metric
        self.neighbors = neighbors
        self.outliers = outliers
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> KFuse:
        """Cluster X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; with ``metric="precomputed"``, distances of shape (n_samples, n_samples). It is not changed.
        y : ignored
            Here for scikit-learn's conventions.

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
        validation.check_parameters(self)
        data = self._checked(X, reset=True)
        if isinstance(self.n_clusters, numbers.Integral):
            validation.check_enough_samples(data.shape[0], self.n_clusters)
        with memory.explained(*data.shape):
            flow, unit = self._flow(data)

        self.natural_value_, self.n_neighbors_ = flow.natural.natural_value, flow.n_neighbors
        self.reverse_neighbor_counts_ = flow.natural.reverse_counts
        with np.errstate(over="ignore"):  # the closest samples may be too dense for float64
            self.density_ = np.nan_to_num(flow.density / unit)
        self.representatives_ = flow.representatives
        self.subcluster_labels_, self.outlier_mask_ = flow.subclusters, flow.left_out
        self.tree_: FusionTree = flow.tree
        self._fit_X = None if self._is_precomputed() else data  # predict takes distances then
        self.labels_ = self._cut(self._number_of_clusters())
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

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
        return self._cut(n_clusters)

    def _cut(self, n_clusters: int) -> NDArray[np.intp]:
        from kfuse.core.tree import labels_by_size  # noqa: PLC0415 - numba is slow to import

        check_is_fitted(self, "tree_")
        validation.check_n_clusters(n_clusters)
        validation.check_enough_samples(self.tree_.leaf_labels.size, n_clusters)
        most = self.tree_.most_clusters
        if n_clusters > most:
            what = "distinct sample" if self.tree_.leaving is not None else "sub-cluster"
            there_are = "is 1 cluster" if most == 1 else f"are {most} clusters"
            warnings.warn(
                f"The data has {most} {what}{'s' * (most > 1)}, so there {there_are} instead of {n_clusters}.",
                stacklevel=3,
            )
        labels = self.tree_.cut(n_clusters)
        if self.outliers == "label":
            labels = labels_by_size(np.where(self.outlier_mask_, LEFT_OUT, labels))
        return labels

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Give new samples the label of the nearest sample of the fit.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples; with ``metric="precomputed"``, their distances to the samples of the fit.

        Returns
        -------
        ndarray of shape (n_new,)
            The cluster of each new sample.
        """
        from kfuse import prediction  # noqa: PLC0415 - numba is slow to import

        check_is_fitted(self, "tree_")
        nearest = prediction.nearest_samples(self._fit_X, self._checked(X, reset=False), self.metric)
        return self.labels_[nearest]

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _checked(self, X: ArrayLike, *, reset: bool) -> Any:
        check = validation.check_distances if self._is_precomputed() else validation.check_features
        return check(self, X, reset=reset)

    def _number_of_clusters(self) -> int:
        if validation.is_auto(self.n_clusters):
            return self.tree_.suggest(1)[0].n_clusters
        return self.n_clusters  # type: ignore[return-value]

    def _flow(self, data: Any) -> tuple[Flow, float]:
        """Run all stages; give what they found, and the unit of distances."""
        from kfuse.core.flow import FLOWS  # noqa: PLC0415 - numba is slow to import

        neighbors = self._neighbor_table(data)
        return FLOWS[self.fusion](neighbors), neighbors.distances.unit

    def _neighbor_table(self, data: Any) -> Any:
        from kfuse.core.neighbors import NeighborTable, choose_search  # noqa: PLC0415
        from kfuse.core.progress import SILENT  # noqa: PLC0415
        from kfuse.core.threads import number_of_threads  # noqa: PLC0415
        from kfuse.progress import ProgressBar  # noqa: PLC0415

        n_threads = number_of_threads(self.n_jobs)
        seed = int(check_random_state(self.random_state).randint(2**31)) if self.neighbors == "approximate" else 0
        progress = ProgressBar() if self.verbose else SILENT
        with progress.stage("order"):
            search = choose_search(data, self.metric, self.neighbors, n_threads, seed)
        return NeighborTable(search, n_threads, progress)

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
