"""The fusion tree as a dendrogram, and as a curve that shows the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kfuse import wording
from kfuse.drawing import curve, layout, palette
from kfuse.fitted import fitted_model
from kfuse.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse
    from kfuse.tree import FusionTree

LABELLED_LEAVES = 60  # with more leaves, their sizes would overlap
ABOVE_CUT = -2


def dendrogram(
    model: KFuse | Pipeline, n_clusters: int | None = None, ax: Axes | None = None, *, most_leaves: int = 30
) -> Axes:
    """Draw the fusion tree as a dendrogram, with the clusters in colour.

    Only the last merges are drawn: each leaf stands for a whole branch, with its number of samples underneath. The
    dashed line is the cut.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    n_clusters : int or None, default=None
        The number of clusters to cut the tree into; None uses that of the model.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.
    most_leaves : int, default=30
        The maximum number of branches to draw; never fewer than the clusters.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_shapes
    >>> from kfuse.plots import dendrogram
    >>> X, _ = make_shapes()
    >>> ax = dendrogram(KFuse().fit(X))  # doctest: +SKIP
    """
    model = fitted_model(model)
    tree = model.tree_
    labels = model.labels_ if n_clusters is None else model.cut(n_clusters)
    n_clusters = model.n_clusters_ if n_clusters is None else n_clusters
    ax = style.new_axes(8, 4.2) if ax is None else ax
    top = layout.branches(tree, max(most_leaves, n_clusters))
    _draw_branches(ax, top, _labels_below_cut(tree, labels, n_clusters)[top.nodes])
    height = layout.cut_height(tree, n_clusters)
    ax.axhline(height, color=palette.GREY, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    ax.annotate(
        wording.counted(n_clusters, "cluster"),
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=palette.TEXT,
        fontsize=9,
    )
    _label_leaves(ax, top)
    style.tidy(ax, y=curve.HEIGHT_LABEL)
    ax.spines["bottom"].set_visible(False)
    ax.set_ylim(bottom=min(0.0, float(top.height.min())), top=max(1.0, 1.06 * top.height.max()))
    ax.margins(x=0.02)
    return ax


def _labels_below_cut(tree: FusionTree, labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """Return the label of each node inside a cluster, and ABOVE_CUT for nodes above the cut."""
    of_node = layout.labels_of_nodes(tree, labels)
    of_node[tree.n_leaves + max(0, tree.n_leaves - n_clusters) :] = ABOVE_CUT
    return of_node


def _draw_branches(ax: Axes, top: layout.Branches, labels: NDArray[np.intp]) -> None:
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - an optional dependency, and slow to import

    colours = np.where(labels == ABOVE_CUT, palette.GREY, palette.colours_of(labels))
    ends, nodes = top.segments()
    lines = list(ends.reshape(-1, 2, 2))
    ax.add_collection(LineCollection(lines, colors=colours[nodes], linewidths=1.6, capstyle="projecting"))
    # Dots keep the leaves within the data limits, and make a tree of one leaf visible.
    leaves = slice(top.n_leaves)
    ax.scatter(top.x[leaves], top.height[leaves], s=9, c=colours[leaves], linewidths=0)


def _label_leaves(ax: Axes, top: layout.Branches) -> None:
    ax.set_xlabel(f"samples per branch ({top.n_leaves} branches)", color=palette.TEXT)
    if top.n_leaves > LABELLED_LEAVES:
        ax.set_xticks([])
        ax.set_xlabel(f"{top.n_leaves} branches", color=palette.TEXT)
        return
    leaves = slice(top.n_leaves)
    ax.set_xticks(top.x[leaves], [f"{size:,}" for size in top.sizes[leaves]])
    ax.tick_params("x", length=0, rotation=90 if top.n_leaves > 12 else 0)


def fusion_curve(model: KFuse | Pipeline, ax: Axes | None = None, *, most_clusters: int | None = None) -> Axes:
    """Draw how clearly the data has each number of clusters, with the suggestions marked.

    The curve shows the strengths of the merges, weakest first: 0 is no connection, 0.5 a typical one. Its step at a
    number of clusters goes from the strongest border between clusters to the weakest merge inside one; the higher the
    step, the clearer the number. A model with ``fusion="paper"`` has no strengths: then the curve shows the heights of
    the dendrogram, and only the model's own number is marked.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.
    most_clusters : int or None, default=None
        The largest number of clusters to show; None shows 20, or a few more than the model and the suggestions.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_shapes
    >>> from kfuse.plots import fusion_curve
    >>> X, _ = make_shapes()
    >>> ax = fusion_curve(KFuse().fit(X))  # doctest: +SKIP
    """
    model = fitted_model(model)
    ax = style.new_axes(6.4, 3.6) if ax is None else ax
    stairs = curve.levels_of(model.tree_)
    marked = curve.suggested(model.tree_, curve.N_MARKED)
    most = most_clusters or max(20, *(n + 4 for n in [model.n_clusters_, *marked]))
    levels = stairs[: min(most, stairs.size)]
    edges = np.arange(levels.size + 1) + 1
    ax.stairs(levels, edges, baseline=None, color=palette.TEXT, linewidth=1.4)
    if model.tree_.strength is not None:
        ax.axhspan(curve.USUAL, 1, color=palette.FAINT, alpha=0.35, linewidth=0, zorder=0)
        ax.annotate(
            "typical or stronger",
            (0, curve.USUAL),
            xycoords=("axes fraction", "data"),
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=8,
            color=palette.GREY,
        )
        ax.set_ylim(0, curve.top_of(levels))
    for number in marked:
        _mark_step(ax, stairs, number, best=number == marked[0])
    tops = [(number, curve.step_at(stairs, number)[1]) for number in marked]
    for step, lines in zip(tops, curve.raised(tops, levels.size, ax.get_ylim()[1]), strict=True):
        _name_step(ax, step, lines, best=step is tops[0])
    if model.n_clusters_ not in marked:
        ax.axvline(model.n_clusters_, color=palette.PALETTE[3], linestyle=(0, (4, 3)), linewidth=1)
    ax.set_xlim(0.5, max(2, levels.size + 1))
    ax.xaxis.set_major_locator(style.integer_ticks())
    style.tidy(ax, "number of clusters", _level_label(model.tree_))
    return ax


def _level_label(tree: FusionTree) -> str:
    return curve.HEIGHT_LABEL if tree.strength is None else "merge strength, as s / (1 + s)"


def _mark_step(ax: Axes, stairs: NDArray[np.float64], number: int, *, best: bool) -> None:
    width = 4 if best else 2.5
    ends = curve.step_at(stairs, number)
    ax.plot([number, number], ends, color=palette.PALETTE[0], linewidth=width, solid_capstyle="butt")


def _name_step(ax: Axes, step: tuple[int, float], lines: int, *, best: bool) -> None:
    """Write the number of a step left of its upper end, where the curve is lower; 1 has no room there."""
    ax.annotate(
        str(step[0]),
        step,
        xytext=(5 if step[0] == 1 else -5, 3 + 12 * lines),
        textcoords="offset points",
        ha="left" if step[0] == 1 else "right",
        va="center",
        color=palette.PALETTE[0],
        fontsize=11 if best else 9,
        fontweight="bold" if best else "normal",
    )
