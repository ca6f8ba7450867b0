"""The fusion tree: every number of clusters from one fit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse._validation.parameters import check_n_clusters
from kfuse.core.adaptive import n_clusters as number_of_clusters
from kfuse.core.adaptive.p_values import NO_CLUSTER, NO_SIGN, Support, persistence, support
from kfuse.core.dendrogram import nodes_after_merges, sizes_of_nodes
from kfuse.core.large_clusters import cut_large
from kfuse.core.order import labels_by_size
from kfuse.frames import data_frame
from kfuse.suggestion import Split, Suggestion, Suggestions
from kfuse.wording import counted

if TYPE_CHECKING:
    from kfuse.core.result import Borders, Result


class FusionTree(NamedTuple):
    """How sub-clusters merge into one cluster: the `tree_` of a fitted :class:`~kfuse.KFuse`.

    Nodes are numbered as in scipy: 0 to n_leaves - 1 are the leaves, n_leaves + t is what merge t makes. Merges
    come by ascending height, so that a cut into n clusters undoes the last n - 1.

    Attributes
    ----------
    leaf_labels : ndarray of shape (n_samples,)
        The leaf, which is a sub-cluster, of each sample.
    children : ndarray of shape (n_leaves - 1, 2)
        The two nodes that each merge joins.
    log_index : ndarray of shape (n_leaves - 1,)
        The logarithm of the fusion index at which each merge happened.
    height : ndarray of shape (n_leaves - 1,)
        How much of a border each merge is; it never decreases, and the last merges are undone first.
    sizes : ndarray of shape (2 * n_leaves - 1,)
        The number of samples in each node.
    leaving : ndarray of shape (n_samples,) or None
        The rank of each sample in the order of leaving its leaf, -1 to stay; None with ``fusion="paper"``.
    borders : Borders or None
        What each merge tells about the number of clusters; None with ``fusion="paper"``.
    sample_weight : ndarray of shape (n_samples,) or None
        The weight of each sample, if weights were given: clusters are numbered by it.
    edges : ndarray of shape (n_leaves - 1, 2) or None
        The leaves that each merge links best, one of either node; None with ``fusion="paper"``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import KFuse
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> tree = KFuse().fit(X).tree_
    >>> tree.sizes[-1].item(), tree.n_leaves == len(tree.children) + 1
    (300, True)
    """

    leaf_labels: NDArray[np.intp]
    children: NDArray[np.intp]
    log_index: NDArray[np.float64]
    height: NDArray[np.float64]
    sizes: NDArray[np.intp]
    leaving: NDArray[np.intp] | None = None
    borders: Borders | None = None
    sample_weight: NDArray[np.float64] | None = None
    edges: NDArray[np.intp] | None = None

    @property
    def strength(self) -> NDArray[np.float64] | None:
        """Each merge compared with what is usual for its size: 1 is usual, 0 is no connection; None with "paper"."""
        return None if self.borders is None else self.borders.strength

    @property
    def p_value(self) -> NDArray[np.float64] | None:
        """How likely data without clusters has a border as pronounced as that at each merge; None with "paper"."""
        return None if self.borders is None else support(self.borders).p_value

    def __repr__(self) -> str:
        return f"FusionTree(n_samples={self.sizes[-1]}, n_leaves={self.n_leaves}, most_clusters={self.most_clusters})"

    @property
    def n_leaves(self) -> int:
        """The number of sub-clusters."""
        return len(self.children) + 1

    @property
    def most_clusters(self) -> int:
        """The largest number of clusters that `cut` can give."""
        return self.n_leaves if self.leaving is None else self.n_leaves + int(self.leaving.max(initial=-1)) + 1

    @classmethod
    def of(cls, result: Result) -> FusionTree:
        """Build the tree of a fit.

        Parameters
        ----------
        result : Result
            What the stages of a fit found.

        Returns
        -------
        FusionTree
            Its merges, with the number of samples in each node.
        """
        n_leaves = len(result.children) + 1
        sizes = sizes_of_nodes(result.children, np.bincount(result.subclusters, minlength=n_leaves))
        return cls(
            result.subclusters,
            result.children,
            result.log_index,
            result.height,
            sizes,
            result.leaving,
            result.borders,
            result.sample_weight,
            result.edges,
        )

    def cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Label the samples with `n_clusters` clusters, or with `most_clusters` and a warning if that is fewer.

        Beyond the number of leaves, the sparsest samples leave their sub-clusters one after the other. Labels are
        0, 1, ... by decreasing cluster size; of equal sizes, the one with the smallest sample index comes first.

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
        check_n_clusters(n_clusters)
        if n_clusters > self.most_clusters:
            most = counted(self.most_clusters, "cluster")
            warnings.warn(f"The tree has at most {most}, fewer than the {n_clusters} asked for.", stacklevel=2)
        n_merges = max(0, self.n_leaves - n_clusters)
        labels = nodes_after_merges(self.children[:n_merges], self.n_leaves)[self.leaf_labels]
        if self.leaving is not None and n_clusters > self.n_leaves:
            leaves = (self.leaving >= 0) & (self.leaving < n_clusters - self.n_leaves)
            labels[leaves] = self.n_leaves + self.leaving[leaves]
        return labels_by_size(labels, self.sample_weight)

    def cut_large(self, n_clusters: int, min_size: int, *, exact: bool = True, drop: bool = False) -> NDArray[np.intp]:
        """Label the samples with clusters of at least `min_size` samples.

        Merges are undone from the highest on, but only those with `min_size` samples on both sides. A smaller part
        stays with the sub-cluster that it is linked to best.

        Parameters
        ----------
        n_clusters : int
            The number of clusters. There may be fewer, if there are not as many of that size.
        min_size : int
            The least number of samples in a cluster.
        exact : bool, default=True
            Whether to go on until there are `n_clusters` large ones. Otherwise no merge is undone but those that
            ``cut(n_clusters)`` undoes.
        drop : bool, default=False
            Whether smaller parts that lie above the last merge undone get the label -1, and belong to no cluster.

        Returns
        -------
        ndarray of shape (n_samples,)
            The cluster of each sample.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> bool(np.bincount(KFuse().fit(X).tree_.cut_large(4, 50)).min() >= 50)
        True
        """
        if self.edges is None:
            raise ValueError("The printed algorithm links no sub-clusters: use fusion='adaptive' for cut_large.")
        check_n_clusters(n_clusters)
        lowest = 0 if exact else max(0, self.n_leaves - n_clusters)
        leaves = cut_large(self.children, self.edges, self.sizes, min_size, n_clusters, lowest=lowest, drops=drop)
        return labels_by_size(leaves[self.leaf_labels], self.sample_weight)

    def choose(self, least: int, most: int) -> int:
        """Return the best number of clusters in a range: what ``n_clusters=(least, most)`` takes.

        Parameters
        ----------
        least, most : int
            The range.

        Returns
        -------
        int
            The number that "auto" takes if it is in the range; otherwise the one that `suggest` ranks first there, or
            the one nearest to what "auto" takes if nothing speaks for any.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> tree = KFuse().fit(X).tree_
        >>> tree.choose(1, 9), 4 <= tree.choose(4, 9) <= 9
        (2, True)
        """
        first, *others = self._ranked(max(1, self.leaf_labels.size))
        for one in (first, *others):
            has_support = one.n_clusters <= first.n_clusters or one.contrast > 0
            if least <= one.n_clusters <= most and has_support:
                return one.n_clusters
        return min(max(first.n_clusters, least), most)

    def suggest(self, n: int = 5) -> Suggestions:
        """Rank the best numbers of clusters; the first is the one that ``n_clusters="auto"`` takes.

        Parameters
        ----------
        n : int, default=5
            How many to return at most.

        Returns
        -------
        list of Suggestion
            The numbers with the evidence for them, the best first; ``print`` shows them as a table. Larger numbers
            than the first go by their step of log-strength, smaller ones by how much better the borders that they draw
            separate the samples than the next one. Either counts less the larger the p-value is; where it counts
            nothing, the numbers go by decreasing contrast.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> best = KFuse().fit(X).tree_.suggest()[0]
        >>> best.n_clusters, best.strongest_border < best.weakest_inside, best.p_value < 0.001
        (2, True, True)
        >>> best.weakest_border
        (150, 150)
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}.")
        seen = support(self._judged())
        return Suggestions(Suggestion(*one, *self._seen_at(one.n_clusters, seen)) for one in self._ranked(n))

    def _judged(self) -> Borders:
        if self.borders is None:
            raise ValueError(
                "The printed algorithm gives no number of clusters: use fusion='adaptive' for suggestions."
            )
        return self.borders

    def _ranked(self, n: int) -> list[number_of_clusters.Evidence]:
        borders = self._judged()
        return number_of_clusters.suggest(borders, support(borders).of_numbers(), self.leaf_labels.size, n)

    def _seen_at(self, n_clusters: int, seen: Support) -> tuple[float, str, tuple[int, int] | None, Split | None]:
        """Return what a suggestion says about the weakest border of a number, and about the next one."""
        following = self.n_leaves - 1 - n_clusters
        split = None if following < 0 else Split(self._label_of(following, n_clusters), self._sides(following))
        if n_clusters == 1:
            return np.nan, NO_SIGN, None, split
        weakest = seen.weakest(n_clusters)
        return float(seen.p_value[weakest]), str(seen.sign[weakest]), self._sides(weakest), split

    def _sides(self, merge: int) -> tuple[int, int]:
        smaller, larger = sorted(self.sizes[self.children[merge]].tolist())
        return larger, smaller

    def _label_of(self, merge: int, n_clusters: int) -> int:
        """Return the label that the cut into so many clusters gives to the samples of a merge."""
        first = np.empty(self.n_leaves, dtype=np.intp)
        first[self.leaf_labels[::-1]] = np.arange(self.leaf_labels.size)[::-1]  # the first sample is written last
        nodes = nodes_after_merges(self.children[: self.n_leaves - n_clusters], self.n_leaves)
        order, weight = np.argsort(first), np.bincount(self.leaf_labels, self.sample_weight, self.n_leaves)
        labels = labels_by_size(nodes[order], weight[order].astype(np.float64))
        return int(labels[np.argmax(nodes[order] == self.n_leaves + merge)])

    def persistence(self, clusters: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how sure each cluster is: 1 less the p-value of the least sure border that sets it apart.

        Parameters
        ----------
        clusters : ndarray of shape (n_samples,)
            The cluster of each sample, as `cut` or `cut_large` gives it; -1 belongs to none.

        Returns
        -------
        ndarray of shape (n_clusters,)
            From 0 to 1, for each cluster. A single cluster has no border, so that nothing is in doubt: 1.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> tree = KFuse().fit(X).tree_
        >>> (tree.persistence(tree.cut(2)) > 0.99).tolist(), (tree.persistence(tree.cut(9)) > 0.99).any().item()
        ([True, True], False)
        """
        sure = 1.0 - support(self._judged()).p_value
        stays = np.flatnonzero(self.leaving < 0)  # type: ignore[operator]
        of_leaf = np.full(self.n_leaves, NO_CLUSTER)
        of_leaf[self.leaf_labels[stays]] = clusters[stays]
        n_clusters = int(clusters.max(initial=NO_CLUSTER)) + 1
        found = persistence(of_leaf[self.edges], sure, n_clusters)
        leaves = clusters != of_leaf[self.leaf_labels]  # no sign speaks for samples that leave a sub-cluster
        for ends in (clusters[leaves], of_leaf[self.leaf_labels[leaves]]):
            found[ends[ends != NO_CLUSTER]] = 0.0
        return found

    def to_linkage(self) -> NDArray[np.float64]:
        """Return the tree as a linkage matrix for scipy's dendrogram.

        Leaves are sub-clusters. Heights are those of the merges, above that of the first one; with ``fusion="paper"``,
        how far the logarithm of the fusion index has dropped below that of the first merge, and a merge of index zero
        is one above the highest other.

        Returns
        -------
        ndarray of shape (n_leaves - 1, 4)
            For each merge: the two nodes, the height, and the number of leaves below it.

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
            heights = self.height - self.height.min(initial=np.inf)
        known = np.isfinite(heights)
        heights[~known] = heights[known].max(initial=0) + 1
        leaves_below = sizes_of_nodes(self.children, np.ones(self.n_leaves, dtype=np.intp))
        return np.column_stack([np.sort(self.children, axis=1), heights, leaves_below[self.n_leaves :]])

    def to_frame(self) -> Any:
        """Return one row per merge: the nodes, the fusion index, the size, and how many clusters remain after it.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            The columns are ``first``, ``second`` and ``fused`` (nodes), ``log_index``, ``size`` and ``n_clusters``. It
            is of polars if pandas is not installed.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kfuse import KFuse
        >>> X, _ = make_moons(300, noise=0.05, random_state=0)
        >>> KFuse().fit(X).tree_.to_frame()["n_clusters"].tail(3).tolist()
        [3, 2, 1]
        """
        n_merges = len(self.children)
        return data_frame(
            {
                "first": self.children[:, 0],
                "second": self.children[:, 1],
                "fused": np.arange(self.n_leaves, self.n_leaves + n_merges),
                "log_index": self.log_index,
                "size": self.sizes[self.n_leaves :],
                "n_clusters": np.arange(n_merges, 0, -1),
            },
            "to_frame",
        )
