"""The fusion tree: its branches, and what it says on the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kfuse.plots import layout, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kfuse import KFuse
    from kfuse.core.tree import FusionTree

LABELLED_LEAVES = 60  # more sizes than this under the leaves cannot be read
N_MARKED = 3  # suggestions to mark on the curve


def dendrogram(model: KFuse, n_clusters: int | None = None, ax: Axes | None = None, *, most_leaves: int = 30) -> Axes:
    """Draw the fusion tree, cut into coloured clusters.

    Below its last fusions the tree is folded: each leaf stands for a whole branch, with its number of samples
    underneath. The dashed line is the cut.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    n_clusters : int or None, default=None
        Where to cut; None takes the number of clusters of the model.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.
    most_leaves : int, default=30
        The most branches to show; there are always as many as clusters.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_shapes
    >>> from kfuse.plots import dendrogram
    >>> X, _ = make_shapes()
    >>> ax = dendrogram(KFuse().fit(X))  # doctest: +SKIP
    """
    check_is_fitted(model, "tree_")
    tree = model.tree_
    labels = model.labels_ if n_clusters is None else model.cut(n_clusters)
    n_clusters = model.n_clusters_ if n_clusters is None else n_clusters
    ax = style.new_axes(8, 4.2) if ax is None else ax
    top = layout.branches(tree, max(most_leaves, n_clusters))
    _draw_branches(ax, top, _labels_below_cut(tree, labels, n_clusters)[top.nodes])
    height = cut_height(tree, n_clusters)
    ax.axhline(height, color=style.GREY, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    ax.annotate(
        f"{n_clusters} cluster{'s' * (n_clusters != 1)}",
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=style.TEXT,
        fontsize=9,
    )
    _label_leaves(ax, top)
    style.tidy(ax, y="fall of the log fusion index")
    ax.spines["bottom"].set_visible(False)
    ax.set_ylim(bottom=min(0.0, float(top.height.min())), top=max(1.0, 1.06 * top.height.max()))
    ax.margins(x=0.02)
    return ax


def cut_height(tree: FusionTree, n_clusters: int) -> float:
    """Give a height between the fusions that a number of clusters keeps and those that it undoes."""
    heights = tree.to_linkage()[:, 2]
    kept = max(0, tree.n_leaves - n_clusters)
    below = heights[kept - 1] if kept else 0.0
    above = heights[kept] if kept < heights.size else below + max(1.0, 0.06 * below)
    return float((below + above) / 2)


def _labels_below_cut(tree: FusionTree, labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """Give each node inside a cluster its label, and -2 to nodes above the cut."""
    of_node = layout.labels_of_nodes(tree, labels)
    of_node[tree.n_leaves + max(0, tree.n_leaves - n_clusters) :] = -2
    return of_node


def _draw_branches(ax: Axes, top: layout.Branches, labels: NDArray[np.intp]) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - an optional dependency, and slow to import

    colours = np.where(labels == -2, style.GREY, style.colours_of(labels))
    lines, of_line = [], []
    for fusion, pair in enumerate(top.children, start=top.n_leaves):
        height = top.height[fusion]
        for child in pair:  # a stem, in the colour of what hangs on it, and its half of the bar
            x = top.place[child]
            lines += [[(x, top.height[child]), (x, height)], [(x, height), (top.place[fusion], height)]]
            of_line += [colours[child], colours[fusion]]
    ax.add_collection(LineCollection(lines, colors=of_line, linewidths=1.6, capstyle="projecting"))
    # Dots hold the leaves in the data limits, and show a tree of one leaf.
    leaves = slice(top.n_leaves)
    ax.scatter(top.place[leaves], top.height[leaves], s=9, c=colours[leaves], linewidths=0)


def _label_leaves(ax: Axes, top: layout.Branches) -> None:
    ax.set_xlabel(f"samples in each of {top.n_leaves} branches", color=style.TEXT)
    if top.n_leaves > LABELLED_LEAVES:
        ax.set_xticks([])
        ax.set_xlabel(f"{top.n_leaves} branches", color=style.TEXT)
        return
    leaves = slice(top.n_leaves)
    ax.set_xticks(top.place[leaves], [f"{size:,}" for size in top.sizes[leaves]])
    ax.tick_params("x", length=0, rotation=90 if top.n_leaves > 12 else 0)


def fusion_curve(model: KFuse, ax: Axes | None = None, *, most_clusters: int | None = None) -> Axes:
    """Draw how clearly the data has each number of clusters, with the suggestions marked.

    The stairs are the strengths of the fusions, the weakest first: 0 is no connection, one half what is usual. The
    step at a number of clusters goes from the strongest border between clusters to the weakest fusion inside one; a
    high step is a clear number. A model with ``fusion="paper"`` has no strengths: then the stairs are the heights of
    the fusion tree, and nothing is marked but the model's own number.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.
    most_clusters : int or None, default=None
        The largest number to show; None shows 20 or a few more than the model and the suggestions have.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_shapes
    >>> from kfuse.plots import fusion_curve
    >>> X, _ = make_shapes()
    >>> ax = fusion_curve(KFuse().fit(X))  # doctest: +SKIP
    """
    check_is_fitted(model, "tree_")
    ax = style.new_axes(6.4, 3.6) if ax is None else ax
    stairs = curve(model.tree_)
    marked = [] if model.tree_.strength is None else [s.n_clusters for s in model.tree_.suggest(N_MARKED)]
    most = most_clusters or max(20, *(n + 4 for n in [model.n_clusters_, *marked]))
    levels = stairs[: min(most, stairs.size)]
    edges = np.arange(levels.size + 1) + 1
    ax.stairs(levels, edges, baseline=None, color=style.TEXT, linewidth=1.4)
    if model.tree_.strength is not None:
        ax.axhspan(0.5, 1, color=style.FAINT, alpha=0.35, linewidth=0, zorder=0)
        ax.annotate(
            "as strong as usual",
            (0, 0.5),
            xycoords=("axes fraction", "data"),
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=8,
            color=style.GREY,
        )
        ax.set_ylim(0, max(0.62, 1.08 * levels.max(initial=0)))
    for number in marked:
        _mark_step(ax, stairs, number, best=number == marked[0])
    for number in readable(marked, levels.size):
        _name_step(ax, stairs, number, best=number == marked[0])
    if model.n_clusters_ not in marked:
        ax.axvline(model.n_clusters_, color=style.PALETTE[3], linestyle=(0, (4, 3)), linewidth=1)
    ax.set_xlim(0.5, max(2, levels.size + 1))
    ax.xaxis.set_major_locator(style.whole_numbers())
    style.tidy(ax, "number of clusters", _name_of_curve(model.tree_))
    return ax


def curve(tree: FusionTree) -> NDArray[np.float64]:
    """Give the level of the stairs between 1 and 2 clusters, between 2 and 3, and so on."""
    if tree.strength is None:
        return tree.to_linkage()[::-1, 2]
    ascending = np.sort(tree.strength)
    return ascending / (1 + ascending)


def _name_of_curve(tree: FusionTree) -> str:
    return "fall of the log fusion index" if tree.strength is None else "strength s of the fusion, as s / (1 + s)"


def readable(numbers: list[int], most: int) -> list[int]:
    """Drop numbers that would be written over earlier ones on an axis that goes to `most`."""
    kept: list[int] = []
    for number in numbers:
        if all(abs(number - other) * 16 >= most for other in kept):
            kept.append(number)
    return kept


def step_at(stairs: NDArray[np.float64], number: int) -> tuple[float, float]:
    """Give the lower and the upper end of the step at a number of clusters."""
    below = stairs[number - 2] if number > 1 else 0.0
    above = stairs[number - 1] if number <= stairs.size else 1.0
    return float(below), float(above)


def _mark_step(ax: Axes, stairs: NDArray[np.float64], number: int, *, best: bool) -> None:
    width = 4 if best else 2.5
    ax.plot([number, number], step_at(stairs, number), color=style.PALETTE[0], linewidth=width, solid_capstyle="butt")


def _name_step(ax: Axes, stairs: NDArray[np.float64], number: int, *, best: bool) -> None:
    ax.annotate(
        str(number),
        (number, step_at(stairs, number)[1]),
        xytext=(-5, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color=style.PALETTE[0],
        fontsize=11 if best else 9,
        fontweight="bold" if best else "normal",
    )
