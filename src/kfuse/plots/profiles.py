"""What each cluster is: where it lies in every feature, against the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfuse.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from kfuse import KFuse

MOST_CLUSTERS = 12  # that fit above each other in the row of one feature


def profiles(
    model: KFuse,
    X: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    most_features: int = 12,
) -> Axes:
    """Draw where each cluster lies in every feature, against all samples.

    Each feature is a row, each cluster a line in it: the dot is the cluster's median, the thick line holds its middle
    half, the thin one nine tenths. The axis is the share of all samples with a smaller value, so that features of
    any unit compare, and a cluster like the whole has its dot in the middle.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The features to describe in the order of the fit, for example before scaling; None takes those of the fit.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure that is as high as needed.
    names : sequence of str or None, default=None
        The names of the features; None takes those of a data frame, or numbers.
    most_features : int, default=12
        The most features to show: those in which the clusters differ most.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kfuse import KFuse
    >>> from kfuse.plots import profiles
    >>> X = load_wine(as_frame=True).data
    >>> ax = profiles(KFuse().fit((X - X.mean()) / X.std()), X)  # doctest: +SKIP
    """
    samples = style.samples_of(model, X)
    titles = feature_names(model, X, samples.shape[1], names)
    shown = np.sort(most_telling(samples, model.labels_)[:most_features])
    n_lines = min(model.n_clusters_, MOST_CLUSTERS)
    ax = style.new_axes(6.4, 1.1 + shown.size * max(0.34, 0.13 * n_lines)) if ax is None else ax
    ax.axvline(0.5, color=style.FAINT, linewidth=1, zorder=0)
    for row, feature in enumerate(shown):
        _draw_row(ax, row, share_below(samples[:, feature]), model.labels_, n_lines)
    low, high = samples[:, shown].min(axis=0), samples[:, shown].max(axis=0)
    ranges = [f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True)]
    ax.set_yticks(range(shown.size), [f"{titles[i]}\n{r}" for i, r in zip(shown, ranges, strict=True)])
    ax.set(xlim=(0, 1), ylim=(shown.size - 0.5, -0.5))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _name_lines(ax, model.labels_, n_lines, shown.size, len(titles))
    style.tidy(ax, "share of all samples with a smaller value")
    ax.tick_params("y", length=0)
    return ax


def feature_names(model: KFuse, X: ArrayLike | None, n_features: int, names: Sequence[str] | None = None) -> list[str]:
    """Give the names of the features: those given, those of the data frame, those of the fit, or numbers."""
    if names is None:
        names = getattr(model, "feature_names_in_", None) if X is None else getattr(X, "columns", None)
    if names is None:
        return [f"feature {i}" for i in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"names has {len(names)} entries, but X has {n_features} features: give one name for each.")
    return [str(name) for name in names]


def most_telling(samples: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order the features by how far clusters differ in them: the share of the variance that lies between clusters."""
    kept = labels >= 0
    labels, samples = labels[kept], samples[kept]
    sizes = np.bincount(labels)
    total = samples.var(axis=0)
    between = np.zeros(samples.shape[1])
    for feature, column in enumerate(samples.T):
        means = np.bincount(labels, weights=column) / sizes
        between[feature] = np.average((means - column.mean()) ** 2, weights=sizes)
    share = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return np.argsort(-share, kind="stable")


def share_below(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each value the share of smaller ones, ties counting half."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    return (rankdata(column) - 0.5) / column.size


def _draw_row(ax: Axes, row: int, shares: NDArray[np.float64], labels: NDArray[np.intp], n_lines: int) -> None:
    if row:
        ax.axhline(row - 0.5, color=style.FAINT, linewidth=0.6, zorder=0)
    for label in range(n_lines):
        y = row + 0.8 * ((label + 0.5) / n_lines - 0.5)
        lowest, low, middle, high, highest = np.quantile(shares[labels == label], [0.05, 0.25, 0.5, 0.75, 0.95])
        colour = style.COLOURS[label]
        ax.plot([lowest, highest], [y, y], color=colour, linewidth=1, alpha=0.6, solid_capstyle="round")
        ax.plot([low, high], [y, y], color=colour, linewidth=3.2, solid_capstyle="round")
        marker = list(style.MARKERS)[label // len(style.PALETTE) % len(style.MARKERS)]
        ax.plot(middle, y, marker, color="white", markeredgecolor=colour, markersize=5, markeredgewidth=1.4)


def _name_lines(ax: Axes, labels: NDArray[np.intp], n_lines: int, n_shown: int, n_features: int) -> None:
    """Say which colour is which cluster, and what is left out."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an optional dependency, and slow to import

    lines = [Line2D([], [], color=style.COLOURS[i], linewidth=3.2) for i in range(n_lines)]
    sizes = np.bincount(labels[labels >= 0])
    words = [f"{i}: {size:,} samples" for i, size in enumerate(sizes[:n_lines])]
    left_out = []
    if n_lines < sizes.size:
        left_out.append(f"the {n_lines} largest of {sizes.size} clusters")
    if n_shown < n_features:
        left_out.append(f"the {n_shown} of {n_features} features in which clusters differ most")
    ax.legend(
        lines, words, title="cluster", title_fontsize=9, alignment="left", frameon=False, fontsize=9,
        labelcolor=style.TEXT, loc="upper left", bbox_to_anchor=(1, 1),
    )  # fmt: skip
    if left_out:
        ax.set_title(" and ".join(left_out), loc="left", fontsize=9, color=style.TEXT)
