"""The fusion tree: every number of clusters from one fit."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.compiled import kernel
from kfuse.core.number import Suggestion, suggest
from kfuse.core.union_find import find

if TYPE_CHECKING:
    import pandas as pd


class FusionTree(NamedTuple):
    """How sub-clusters fuse into one cluster: the `tree_` of a fitted :class:`~kfuse.KFuse`.

    Nodes are numbered as in scipy: 0 to n_leaves - 1 are the leaves, n_leaves + t is what fusion t makes. Fusions
    come in the order in which they happen.

    Attributes
    ----------
    leaf_labels : ndarray of shape (n_samples,)
        The leaf, which is a sub-cluster, of each sample.
    children : ndarray of shape (n_leaves - 1, 2)
        The two nodes that each fusion joins.
    log_index : ndarray of shape (n_leaves - 1,)
        The logarithm of the fusion index at which each fusion happened.
    sizes : ndarray of shape (2 * n_leaves - 1,)
        The number of samples in each node.
    leaving : ndarray of shape (n_samples,) or None
        The place of each sample in the order of leaving its leaf, -1 to stay; None with ``fusion="paper"``.
    strength : ndarray of shape (n_leaves - 1,) or None
        Each fusion compared with what is usual for its size: 1 is usual, 0 is no connection; None with
        ``fusion="paper"``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import KFuse
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> tree = KFuse().fit(X).tree_
    >>> tree.sizes[-1].item(), tree.n_leaves == len(tree.children) + 1
    (300, True)
    """

    leaf_labels: NDArray[np.intp]  # the leaf of each sample
    children: NDArray[np.intp]  # (n_leaves - 1, 2)
    log_index: NDArray[np.float64]  # of each fusion: the logarithm of the fusion index at which it happened
    sizes: NDArray[np.intp]  # samples in each node
    leaving: NDArray[np.intp] | None = None  # the place of each sample in the order of leaving its leaf, -1 to stay
    strength: NDArray[np.float64] | None = None  # of each fusion, compared with what is usual for its size

    @property
    def n_leaves(self) -> int:
        """The number of sub-clusters."""
        return len(self.children) + 1

    @property
    def most_clusters(self) -> int:
        """The largest number of clusters that `cut` can give."""
        return self.n_leaves if self.leaving is None else self.n_leaves + int(self.leaving.max(initial=-1)) + 1

    def with_samples(
        self, leaf_labels: NDArray[np.intp], leaf_sizes: NDArray[np.intp], leaving: NDArray[np.intp]
    ) -> FusionTree:
        """The same fusions for other samples at the leaves."""
        sizes = sizes_of_nodes(self.children, leaf_sizes)
        return self._replace(leaf_labels=leaf_labels, sizes=sizes, leaving=leaving)

    def cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Label the samples with `n_clusters` clusters, or with `most_clusters` if that is fewer.

        Beyond the number of leaves, the sparsest samples leave their sub-clusters one after the other. Labels are
        0, 1, ... by falling cluster size; of equal sizes, the one with the smallest sample index comes first.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each sample.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> int(KFuse().fit(X).tree_.cut(7).max()) + 1
        7
        """
        n_clusters = operator.index(n_clusters)
        if n_clusters < 1:
            raise ValueError(f"n_clusters must be at least 1, got {n_clusters}.")
        n_fusions = max(0, self.n_leaves - n_clusters)
        labels = apply_fusions(self.children[:n_fusions], self.n_leaves)[self.leaf_labels]
        if self.leaving is not None and n_clusters > self.n_leaves:
            leaves = (self.leaving >= 0) & (self.leaving < n_clusters - self.n_leaves)
            labels[leaves] = self.n_leaves + self.leaving[leaves]
        return labels_by_size(labels)

    def suggest(self, n: int = 5) -> list[Suggestion]:
        """Rank the best numbers of clusters; the first is the one that ``n_clusters="auto"`` takes.

        Parameters
        ----------
        n : int, default=5
            How many to give at most.

        Returns
        -------
        list of Suggestion
            The numbers with what speaks for them, the best first, the others by falling contrast.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> best = KFuse().fit(X).tree_.suggest()[0]
        >>> best.n_clusters, best.strongest_border < best.weakest_inside
        (2, True)
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}.")
        if self.strength is None:
            raise ValueError(
                "The printed algorithm gives no number of clusters: use fusion='adaptive' for suggestions."
            )
        return suggest(self.strength, self.leaf_labels.size, n)

    def to_linkage(self) -> NDArray[np.float64]:
        """Give the tree as a linkage matrix that scipy's dendrogram takes.

        Leaves are sub-clusters. Heights are how far the logarithm of the fusion index fell below that of the first
        fusion, and never fall; a fusion of index zero stands one above the highest other.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            For each fusion: the two nodes, the height, and the number of leaves below it.

        Examples
        --------
        >>> from scipy.cluster.hierarchy import is_valid_linkage
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> bool(is_valid_linkage(KFuse().fit(X).tree_.to_linkage()))
        True
        """
        with np.errstate(invalid="ignore"):  # all may have index zero
            heights = self.log_index.max(initial=-np.inf) - self.log_index
        known = np.isfinite(heights)
        heights[~known] = heights[known].max(initial=0) + 1
        leaves_below = sizes_of_nodes(self.children, np.ones(self.n_leaves, dtype=np.intp))
        return np.column_stack(
            [np.sort(self.children, axis=1), np.maximum.accumulate(heights), leaves_below[self.n_leaves :]]
        )

    def to_frame(self) -> pd.DataFrame:
        """Give one row per fusion: what fuses, its index, the size, and how many clusters remain after it.

        Returns
        -------
        pandas.DataFrame
            The columns are ``first``, ``second`` and ``fused`` (nodes), ``log_index``, ``size`` and ``n_clusters``.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> KFuse().fit(X).tree_.to_frame()["n_clusters"].tail(3).tolist()
        [3, 2, 1]
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an optional dependency
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error

        n_fusions = len(self.children)
        return pd.DataFrame(
            {
                "first": self.children[:, 0],
                "second": self.children[:, 1],
                "fused": np.arange(self.n_leaves, self.n_leaves + n_fusions),
                "log_index": self.log_index,
                "size": self.sizes[self.n_leaves :],
                "n_clusters": np.arange(n_fusions, 0, -1),
            }
        )


def tree_of_fusions(
    leaf_labels: NDArray[np.intp], i: NDArray[np.intp], j: NDArray[np.intp], log_index: NDArray[np.float64]
) -> FusionTree:
    """Build the tree in which the clusters of leaf i and leaf j fuse, pair after pair."""
    children = nodes_of_fusions(i, j)
    sizes = sizes_of_nodes(children, np.bincount(leaf_labels, minlength=i.size + 1))
    return FusionTree(leaf_labels, children, log_index, sizes)


def nodes_of_fusions(i: NDArray[np.intp], j: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the node that each fusion makes, and find the two that it is made of."""
    children = np.empty((i.size, 2), dtype=np.intp)
    join_pairs(i, j, np.arange(2 * i.size + 1), children)
    return children


def sizes_of_nodes(children: NDArray[np.intp], leaf_sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Add up the sizes of all nodes from those of the leaves."""
    sizes = np.append(leaf_sizes, np.zeros(len(children), dtype=np.intp))
    add_up(children, leaf_sizes.size, sizes)
    return sizes


def apply_fusions(children: NDArray[np.intp], n_leaves: int) -> NDArray[np.intp]:
    """Find the node that holds each leaf after some fusions."""
    holder = np.arange(n_leaves + len(children))
    hand_down(children, n_leaves, holder)
    return holder[:n_leaves]


@kernel
def join_pairs(i, j, parents, children):
    """Join the sets of two leaves, pair after pair, in a node of their own."""
    n_leaves = i.size + 1
    for fusion in range(n_leaves - 1):
        a, b = find(parents, i[fusion]), find(parents, j[fusion])
        children[fusion, 0], children[fusion, 1] = min(a, b), max(a, b)
        parents[a] = parents[b] = n_leaves + fusion


@kernel
def add_up(children, n_leaves, sizes):
    """Let each fused node have the size of both that it is made of."""
    for fusion in range(len(children)):
        sizes[n_leaves + fusion] = sizes[children[fusion, 0]] + sizes[children[fusion, 1]]


@kernel
def hand_down(children, n_leaves, holder):
    """Let what holds a fused node hold the two that it is made of."""
    for fusion in range(len(children) - 1, -1, -1):
        for child in children[fusion]:
            holder[child] = holder[n_leaves + fusion]


def labels_by_size(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Renumber labels 0, 1, ... by falling size, then by smallest sample index; negative labels stay."""
    kept = np.flatnonzero(labels >= 0)
    values = labels[kept]
    sizes = np.bincount(values)
    first = np.zeros(sizes.size, dtype=np.intp)
    first[values[::-1]] = kept[::-1]  # the first of several is written last
    used = np.flatnonzero(sizes)
    rank = np.empty(sizes.size, dtype=np.intp)
    rank[used[np.lexsort((first[used], -sizes[used]))]] = np.arange(used.size)
    renumbered = labels.astype(np.intp)
    renumbered[kept] = rank[values]
    return renumbered
