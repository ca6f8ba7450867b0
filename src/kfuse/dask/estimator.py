"""KFuse on a Dask cluster: the result of one machine, computed by many."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from kfuse._validation import parameters
from kfuse.core import noise
from kfuse.core.execution import Execution, Progress, number_of_threads
from kfuse.core.order import labels_by_size
from kfuse.core.result import Result
from kfuse.dask import input, memberships, samples, stages
from kfuse.dask.tasks import Task, explained, results, shared, started, task
from kfuse.estimator import why_fewer, why_noise
from kfuse.memberships import NOISE, Division
from kfuse.progress import ProgressBar
from kfuse.tree import FusionTree

LEAST_ROWS_PER_BOX = 16


class Cut(NamedTuple):
    """The places of each box in a cut of the tree."""

    labels: list[Task]
    clusters: list[Task]  # noise included; a place of a cluster that is too small has the number `n_clusters`
    n_clusters: int


class KFuse(ClusterMixin, BaseEstimator):
    """:class:`kfuse.KFuse` for data that does not fit on one machine, with the same result to the last bit.

    The samples are divided into boxes of space, about equally many in each. Neighbours, densities, sub-clusters and the
    links between them are found box by box, on the threads, processes or cluster that Dask runs on. The merges, and the
    number of clusters, are found where `fit` is called; this takes about 100 bytes per sample there.

    Distances are Euclidean, and there are at most 16 features.

    Parameters
    ----------
    n_clusters : "auto", int or pair of int, default="auto"
        The number of clusters; "auto" finds it, and a pair (least, most) finds the best in that range.
    min_cluster_size : int or None, default=None
        The least number of samples in a cluster, as :class:`kfuse.KFuse` has it.
    outliers : {"assign", "label"}, default="assign"
        How to label outliers: "assign" keeps them in the cluster that they merged into, "label" labels them as noise,
        -1, as :class:`kfuse.KFuse` does. `predict` needs "assign".
    rows_per_box : int, default=262144
        The most distinct samples in a box. A task holds one box with what it needs of others, about 2 kB per sample at
        most. The result does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error which stage runs.

    Attributes
    ----------
    labels_ : dask.array.Array of shape (n_samples,)
        The cluster of each sample, with the chunks of X: 0, 1, ... by decreasing size, then by smallest sample index.
        This and the other Dask arrays are computed from results that stay on the cluster as long as the model exists.
    n_clusters_ : int
        The number of clusters found.
    tree_ : FusionTree
        Every number of clusters from this one fit, in memory.
    probabilities_, memberships_, outlier_scores_, outlier_mask_ : dask.array.Array
        As those of :class:`kfuse.KFuse`, with the chunks of X; what they need is computed when first asked for. For
        memberships, this means to find all neighbours again, and to solve for those of the sub-clusters on this node.
    subcluster_labels_, representatives_, density_, reverse_neighbor_counts_ : dask.array.Array
        As those of :class:`kfuse.KFuse`, with the chunks of X.
    natural_value_, n_neighbors_ : int
        As those of :class:`kfuse.KFuse`.
    n_features_in_ : int
        The number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if X was a data frame.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from kfuse.dask import KFuse
    >>> X = da.from_array(make_moons(300, noise=0.05, random_state=0)[0], chunks=(100, 2))
    >>> model = KFuse().fit(X)
    >>> model.n_clusters_
    2
    >>> model.labels_.chunks
    ((100, 100, 100),)
    """

    def __init__(
        self,
        n_clusters: int | str | tuple[int, int] = "auto",
        *,
        min_cluster_size: int | None = None,
        outliers: str = "assign",
        rows_per_box: int = 2**18,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.min_cluster_size = min_cluster_size
        self.outliers = outliers
        self.rows_per_box = rows_per_box
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, sample_weight: None = None, *, client: Any = None) -> KFuse:
        """Cluster X.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_samples, n_features)
            The samples; chunk sizes that are not known are computed.
        y : ignored
            Here for scikit-learn's conventions.
        sample_weight : None
            Weights are not supported; anything else raises an error.
        client : distributed.Client or None, default=None
            The cluster to compute on; by default what Dask would compute on.

        Returns
        -------
        KFuse
            The fitted estimator itself.

        Raises
        ------
        ValueError, TypeError
            If a parameter or X is not as described; the message names what is wrong and what to do.
        MemoryError
            If workers ran out of memory; the message says what to change. The estimator stays as it was.
        """
        self._check_parameters()
        if sample_weight is not None:
            raise ValueError(
                "kfuse.dask takes no sample_weight: repeat rows if weights are small whole numbers, or use kfuse.KFuse."
            )
        remedy = f"halve rows_per_box, which is {self.rows_per_box}, and the chunks of X"
        with client.as_current() if client is not None else nullcontext(), explained(remedy):
            given = input.rows_of(self, X, self.rows_per_box, reset=True)
            n_samples = sum(given.chunks.sizes)
            least = self.n_clusters[0] if parameters.is_range(self.n_clusters) else self.n_clusters  # type: ignore[index]
            if parameters.is_whole(least):
                parameters.check_enough_samples(n_samples, least)  # type: ignore[arg-type]
            parameters.check_enough_for_size(n_samples, self.min_cluster_size)
            execution = Execution(number_of_threads(None), ProgressBar() if self.verbose else Progress())
            found = stages.fit(given.chunks, self.rows_per_box, execution)
            self._keep(found, given)
        return self

    def _check_parameters(self) -> None:
        parameters.check_choice("outliers", self.outliers, parameters.OUTLIERS)
        parameters.check_number(self.n_clusters, "adaptive")
        parameters.check_min_cluster_size(self.min_cluster_size, "adaptive")
        if not parameters.is_whole(self.rows_per_box) or self.rows_per_box < LEAST_ROWS_PER_BOX:
            raise ValueError(
                f"rows_per_box must be an integer of at least {LEAST_ROWS_PER_BOX}, got {self.rows_per_box!r}."
            )

    def _keep(self, found: stages.Fitted, given: input.Input) -> None:
        """Set what is found as attributes."""
        self._frame, self._boxes, self._places = found.ordered
        self._sizes = given.chunks.sizes
        self._of_places, self._leaves = found.columns, results(found.leaves)
        self.natural_value_, self.n_neighbors_ = found.natural_value, found.n_neighbors
        self.n_features_in_ = given.chunks.n_features
        self.__dict__.pop("feature_names_in_", None)
        if given.names is not None:
            self.feature_names_in_ = np.array(given.names, dtype=object)
        self.subcluster_labels_ = self._column(0, np.intp)
        self.density_ = self._column(1, np.float64)
        self.representatives_ = self._column(2, np.intp)
        self.reverse_neighbor_counts_ = self._column(3, np.int64)
        self.tree_ = _tree_of(found)
        self._known_background: float | None = None
        self._known_around: memberships.Around | None = None
        self._cut = self._divide(self._number_of_clusters(), exact=not parameters.is_auto(self.n_clusters))
        self.labels_, self.n_clusters_ = self._of_samples(self._cut.labels, np.intp), self._cut.n_clusters

    def _number_of_clusters(self) -> int:
        if parameters.is_auto(self.n_clusters):
            return self.tree_.suggest(1)[0].n_clusters
        if parameters.is_range(self.n_clusters):
            return self.tree_.choose(*self.n_clusters)  # type: ignore[misc]
        return int(self.n_clusters)  # type: ignore[arg-type]

    def _column(self, position: int, dtype: Any) -> da.Array:
        return self._of_samples([one[position] for one in self._of_places], dtype)

    def _of_samples(self, of_places: list[Task], dtype: Any, n_columns: int | None = None) -> da.Array:
        """Return what is known of the places of each box as an array of all samples."""
        return samples.array_of(self._samples_of(of_places), self._sizes, dtype, n_columns)

    def _samples_of(self, of_places: list[Task]) -> list[Task]:
        return samples.spread(of_places, self._places, self._boxes.starts)

    @property
    def probabilities_(self) -> da.Array:
        """The membership of each sample in its own cluster, from 0 to 1; 0 for noise."""
        shares = zip(self._shares(), self._cut.labels, strict=True)
        return self._of_samples([task(memberships.own_shares, *one) for one in shares], np.float64)

    @property
    def memberships_(self) -> da.Array:
        """The membership of each sample in each cluster, one row per sample."""
        return self._of_samples(self._shares(), np.float64, self.n_clusters_)

    def _shares(self) -> list[Task]:
        """Return the memberships of the places of each box; their neighbours are found when these are first needed."""
        check_is_fitted(self, "tree_")
        if self._known_around is None:
            self._known_around = memberships.look_around(self._boxes, self.n_neighbors_)
        around = memberships.Surrounded(self._boxes, self._known_around, self.n_neighbors_, self._dimension)
        rule = memberships.Rule(self._cut.n_clusters, self._background, self.outliers)
        return memberships.shares_of_places(around, self._of_places, self._cut.clusters, rule)

    @property
    def outlier_scores_(self) -> da.Array:
        """How much of an outlier each sample is, from 0 to 1: noise is above 0.5."""
        check_is_fitted(self, "tree_")
        return self._of_samples(self._compared(samples.scores, self._cut), np.float64)

    @property
    def outlier_mask_(self) -> da.Array:
        """True for samples that are noise."""
        check_is_fitted(self, "tree_")
        return self._of_samples(self._compared(samples.is_noise, self._cut), np.bool_)

    def _compared(self, compare: Callable[..., Any], cut: Cut) -> list[Task]:
        """Compare the places with the background."""
        of_boxes = zip(self._of_places, cut.clusters, strict=True)
        return [task(compare, *one, cut.n_clusters, self._background) for one in of_boxes]

    @property
    def _dimension(self) -> float:
        return self.tree_.borders.dimension  # type: ignore[union-attr]

    @property
    def _background(self) -> float:
        """The log-density below which samples are noise; found on this node, when it is first needed."""
        if self._known_background is None:
            levels = np.concatenate(results(self._samples_of([one[4] for one in self._of_places])))
            clusters = self.tree_.cut(self.tree_.suggest(1)[0].n_clusters)
            self._known_background = noise.background(levels, clusters, self._dimension)
        return self._known_background

    def cut(self, n_clusters: int) -> da.Array:
        """Label the fitted samples with another number of clusters, without fitting again.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.

        Returns
        -------
        dask.array.Array of shape (n_samples,)
            The labels that `fit` gives with that number of clusters.
        """
        check_is_fitted(self, "tree_")
        parameters.check_n_clusters(n_clusters)
        parameters.check_enough_samples(self.tree_.leaf_labels.size, n_clusters)
        return self._of_samples(self._divide(n_clusters, exact=True).labels, np.intp)

    def _divide(self, n_clusters: int, *, exact: bool) -> Cut:
        """Cut the tree, and label the places."""
        tree, labels_noise = self.tree_, self.outliers == "label"
        if self.min_cluster_size in (None, 1):
            clusters = tree.cut(min(n_clusters, tree.most_clusters))
        else:
            clusters = tree.cut_large(n_clusters, self.min_cluster_size, exact=exact, drop=labels_noise)
        found = int(clusters.max()) + 1
        if exact and found < n_clusters:
            warnings.warn(why_fewer(tree, n_clusters, found, self.min_cluster_size), stacklevel=4)
        is_in_leaves = n_clusters <= tree.n_leaves
        if not labels_noise:
            of_places = self._clusters_of_places(clusters, is_in_leaves)
            return Cut(of_places, of_places, found)
        division = Division(np.where(clusters == NOISE, found, clusters), found)
        cut = Cut([], self._clusters_of_places(division.clusters, is_in_leaves), found)
        mask = np.concatenate(results(self._samples_of(self._compared(samples.is_noise, cut))))
        division = division.renumbered(labels_by_size(np.where(mask, NOISE, clusters)))
        if exact and division.n_clusters < found:
            warnings.warn(why_noise(found, division.n_clusters), stacklevel=4)
        cut = Cut([], self._clusters_of_places(division.clusters, is_in_leaves), division.n_clusters)
        return cut._replace(labels=self._compared(samples.label, cut))

    def _clusters_of_places(self, clusters: NDArray[np.intp], is_in_leaves: bool) -> list[Task]:
        """Return the clusters of the places of each box, given those of all samples."""
        if is_in_leaves:
            of_leaf = np.empty(self.tree_.n_leaves, dtype=np.intp)
            of_leaf[self.tree_.leaf_labels] = clusters
            of_boxes = zip(self._of_places, self._leaves, strict=True)
            return started([task(samples.clusters_of_leaves, one, leaves, of_leaf[leaves]) for one, leaves in of_boxes])
        # Samples have left their sub-clusters, so there is a cluster for each place.
        of_place = np.empty(self._boxes.n_places, dtype=np.intp)
        of_place[np.concatenate(results(self._places))] = clusters
        return started([shared(part) for part in np.split(of_place, self._boxes.starts[1:-1])])

    def predict(self, X: Any) -> da.Array:
        """Label new samples like the nearest sample of the fit; a sample of the fit gets its own label.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_new, n_features)
            New samples.

        Returns
        -------
        dask.array.Array of shape (n_new,)
            The cluster of each new sample, with the chunks of X; nothing is computed yet.
        """
        check_is_fitted(self, "tree_")
        if self.outliers == "label":
            raise ValueError(
                "predict of kfuse.dask does not tell noise among new samples: fit with outliers='assign', or use "
                "kfuse.KFuse."
            )
        given = input.rows_of(self, X, self.rows_per_box, reset=False).chunks
        if given.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {given.n_features} features, but KFuse is expecting {self.n_features_in_} features as input."
            )
        frame, boxes = (
            shared(self._frame),
            list(zip(self._boxes.tasks, self._cut.labels, strict=True)),
        )
        labelled = [
            task(samples.nearest_label, [task(samples.nearest_in_box, chunk, frame, *box) for box in boxes])
            for chunk in given.tasks
        ]
        return samples.array_of(labelled, given.sizes, np.intp)


def _tree_of(found: stages.Fitted) -> FusionTree:
    """Return the tree; what stays on the cluster is no part of it."""
    elsewhere: Any = np.empty(0)
    result = Result(
        natural_value=found.natural_value,
        n_neighbors=found.n_neighbors,
        reverse_counts=elsewhere,
        density=elsewhere,
        representatives=elsewhere,
        subclusters=found.leaf_labels,
        left_out=elsewhere,
        **found.merged._asdict(),
        leaving=found.leaving,
    )
    return FusionTree.of(result)
