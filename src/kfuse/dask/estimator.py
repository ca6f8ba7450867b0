"""KFuse on a Dask cluster: the result of one machine, computed by many."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

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
from kfuse.dask import input, line, samples
from kfuse.dask.tasks import Task, explained, results, shared, started, task
from kfuse.progress import ProgressBar
from kfuse.tree import FusionTree

LEAST_ROWS_PER_BOX = 16


class KFuse(ClusterMixin, BaseEstimator):
    """:class:`kfuse.KFuse` for data that does not fit on one machine, with the same result to the last bit.

    The samples are divided into boxes of space, about equally many in each. Neighbours, densities, sub-clusters and the
    links between them are found box by box, on the threads, processes or cluster that Dask runs on. The merges, and the
    number of clusters, are found where `fit` is called; this takes about 100 bytes per sample there.

    Distances are Euclidean, and there are at most 16 features.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        The number of clusters; "auto" finds it.
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
    outlier_scores_, outlier_mask_ : dask.array.Array
        As those of :class:`kfuse.KFuse`, with the chunks of X; what they need is computed when first asked for.
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
        n_clusters: int | str = "auto",
        *,
        outliers: str = "assign",
        rows_per_box: int = 2**18,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.outliers = outliers
        self.rows_per_box = rows_per_box
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, *, client: Any = None) -> KFuse:
        """Cluster X.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_samples, n_features)
            The samples; chunk sizes that are not known are computed.
        y : ignored
            Here for scikit-learn's conventions.
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
        with client.as_current() if client is not None else nullcontext(), explained(self.rows_per_box):
            given = input.rows_of(self, X, self.rows_per_box, reset=True)
            n_samples = sum(given.chunks.sizes)
            if isinstance(self.n_clusters, numbers.Integral):
                parameters.check_enough_samples(n_samples, self.n_clusters)
            execution = Execution(number_of_threads(None), ProgressBar() if self.verbose else Progress())
            found = line.fit(given.chunks, self.rows_per_box, execution)
            self._keep(found, given)
        return self

    def _check_parameters(self) -> None:
        parameters.check_choice("outliers", self.outliers, parameters.OUTLIERS)
        if not parameters.is_auto(self.n_clusters):
            parameters.check_n_clusters(self.n_clusters, or_auto="'auto' or ")
        if not parameters.is_whole(self.rows_per_box) or self.rows_per_box < LEAST_ROWS_PER_BOX:
            raise ValueError(
                f"rows_per_box must be an integer of at least {LEAST_ROWS_PER_BOX}, got {self.rows_per_box!r}."
            )

    def _keep(self, found: line.Fitted, given: input.Input) -> None:
        """Set what is found as attributes."""
        places, sizes = samples.columns_of_places(found), given.chunks.sizes
        self._frame, self._boxes, self._places, self._sizes = found.frame, found.boxes, found.places, sizes
        self._of_places = started(places)
        self._of_samples = samples.columns_of_samples(self._of_places, self._places, self._boxes.starts)
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
        number = self.tree_.suggest(1)[0].n_clusters if parameters.is_auto(self.n_clusters) else self.n_clusters
        self._labels_of_places, self.labels_, self.n_clusters_ = self._cut(int(number))

    @property
    def outlier_scores_(self) -> da.Array:
        """How much of an outlier each sample is, from 0 to 1: noise is above 0.5."""
        return self._compared(samples.scores, np.float64)

    @property
    def outlier_mask_(self) -> da.Array:
        """True for samples that are noise."""
        return self._compared(samples.is_noise, np.bool_)

    def _compared(self, compare: Callable[..., Any], dtype: Any) -> da.Array:
        """Compare the samples with the background."""
        check_is_fitted(self, "tree_")
        return samples.array_of([task(compare, one, self._background) for one in self._of_samples], self._sizes, dtype)

    @property
    def _background(self) -> float:
        """The log-density below which samples are noise; found on this node, when it is first needed."""
        if self._known_background is None:
            dimension = self.tree_.borders.dimension  # type: ignore[union-attr]
            levels = np.concatenate(results([one[4] for one in self._of_samples]))
            clusters = self.tree_.cut(self.tree_.suggest(1)[0].n_clusters)
            self._known_background = noise.background(levels, clusters, dimension)
        return self._known_background

    def _column(self, position: int, dtype: Any) -> da.Array:
        return samples.array_of([one[position] for one in self._of_samples], self._sizes, dtype)

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
        return self._cut(n_clusters)[1]

    def _cut(self, n_clusters: int) -> tuple[list[Task], da.Array, int]:
        """Return the labels of the places of each box, those of all samples, and the number of clusters."""
        tree = self.tree_
        if n_clusters > tree.most_clusters:
            warnings.warn(
                f"The data has {tree.most_clusters} distinct samples, so there are as many clusters instead of "
                f"{n_clusters}.",
                stacklevel=4,
            )
        labels, background = tree.cut(n_clusters), None
        if self.outliers == "label":
            background = self._background
            labels = labels_by_size(np.where(self.outlier_mask_.compute(), samples.NOISE, labels))
        n_found = int(labels.max()) + 1
        if n_clusters > tree.n_leaves:  # samples have left their sub-clusters, so there is a label for each place
            return (*self._one_by_one(labels), n_found)
        of_leaf = np.full(tree.n_leaves, samples.NOISE)
        of_leaf[tree.leaf_labels[labels >= 0]] = labels[labels >= 0]
        known = shared(of_leaf)
        of_places, of_samples = (
            [task(samples.label, one, known, background) for one in columns]
            for columns in (self._of_places, self._of_samples)
        )
        return of_places, samples.array_of(of_samples, self._sizes, np.intp), n_found

    def _one_by_one(self, labels: NDArray[np.intp]) -> tuple[list[Task], da.Array]:
        of_place = np.empty(self._boxes.n_places, dtype=np.intp)
        of_place[np.concatenate(results(self._places))] = labels
        of_places = [shared(part) for part in np.split(of_place, self._boxes.starts[1:-1])]
        return of_places, da.from_array(labels, chunks=(tuple(self._sizes),))

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
            list(zip(self._boxes.tasks, self._labels_of_places, strict=True)),
        )
        labelled = [
            task(samples.nearest_label, [task(samples.nearest_in_box, chunk, frame, *box) for box in boxes])
            for chunk in given.tasks
        ]
        return samples.array_of(labelled, given.sizes, np.intp)


def _tree_of(found: line.Fitted) -> FusionTree:
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
