"""What characterises each cluster: the range of its values in every feature, compared with all samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfuse import wording
from kfuse.description.clusters import columns_of
from kfuse.description.columns import NUMBER, Column
from kfuse.drawing import palette
from kfuse.drawing.features import most_telling
from kfuse.drawing.points import numeric_columns
from kfuse.fitted import fitted_model
from kfuse.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse

MOST_CLUSTERS = 12  # that fit into the row of one feature


def profiles(
    model: KFuse | Pipeline,
    X: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    names: Sequence[str] | None = None,
    most_features: int = 12,
) -> Axes:
    """Draw the range of each cluster in every feature, compared with all samples.

    Each feature is a row, each cluster a line in it: the dot is the cluster's median, the thick line spans the 25th to
    the 75th percentile, the thin one the 5th to the 95th. Values are shown as percentiles among all samples, so that
    features of any unit can be compared; a cluster that resembles the whole data has its dot in the middle.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The features to show, with samples in the order of the fit, for example before scaling; None uses the data of
        the fit. Of a data frame, all numeric columns count, also those that the model has not seen; missing values are
        left out.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure of suitable height.
    names : sequence of str or None, default=None
        The names of the features; None uses the column names of a data frame, or numbers.
    most_features : int, default=12
        The maximum number of features to show: those in which the clusters differ most.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kfuse import KFuse
    >>> from kfuse.plots import profiles
    >>> X = load_wine(as_frame=True).data
    >>> ax = profiles(KFuse().fit((X - X.mean()) / X.std()), X)  # doctest: +SKIP
    """
    fitted = fitted_model(model)
    numeric = numeric_columns(columns_of(model, X, names))
    shown = most_telling(numeric, fitted.labels_, most_features) or numeric[:most_features]
    n_lines = min(fitted.n_clusters_, MOST_CLUSTERS)
    ax = style.new_axes(6.4, 1.1 + len(shown) * max(0.34, 0.13 * n_lines)) if ax is None else ax
    ax.axvline(0.5, color=palette.FAINT, linewidth=1, zorder=0)
    for row, column in enumerate(shown):
        _draw_row(ax, row, percentiles(column.numbers), fitted.labels_, n_lines)
    ax.set_yticks(range(len(shown)), [f"{style.plain(column.name)}\n{_range(column)}" for column in shown])
    ax.set(xlim=(0, 1), ylim=(len(shown) - 0.5, -0.5))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _add_legend(ax, fitted.labels_, n_lines, len(shown), len(numeric))
    style.tidy(ax, "percentile among all samples")
    ax.tick_params("y", length=0)
    return ax


def percentiles(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the share of smaller values, with ties counting half, from 0 to 1; NaN stays NaN."""
    from scipy.stats import rankdata  # noqa: PLC0415 - slow to import

    present = ~np.isnan(column)
    shares = np.full(column.size, np.nan)
    shares[present] = (rankdata(column[present]) - 0.5) / max(1, present.sum())
    return shares


def _range(column: Column) -> str:
    if column.kind != NUMBER or not column.values.size:
        return " or ".join(column.values)
    return f"{column.values[0]:.4g} to {column.values[-1]:.4g}"


def _draw_row(ax: Axes, row: int, values: NDArray[np.float64], labels: NDArray[np.intp], n_lines: int) -> None:
    if row:
        ax.axhline(row - 0.5, color=palette.FAINT, linewidth=0.6, zorder=0)
    for label in range(n_lines):
        y = row + 0.8 * ((label + 0.5) / n_lines - 0.5)
        inside = values[(labels == label) & ~np.isnan(values)]
        if not inside.size:
            continue
        lowest, low, middle, high, highest = np.quantile(inside, [0.05, 0.25, 0.5, 0.75, 0.95])
        colour = palette.COLOURS[label]
        ax.plot([lowest, highest], [y, y], color=colour, linewidth=1, alpha=0.6, solid_capstyle="round")
        ax.plot([low, high], [y, y], color=colour, linewidth=3.2, solid_capstyle="round")
        marker, _ = palette.marker_of(label)
        ax.plot(middle, y, marker, color="white", markeredgecolor=colour, markersize=5, markeredgewidth=1.4)


def _add_legend(ax: Axes, labels: NDArray[np.intp], n_lines: int, n_shown: int, n_features: int) -> None:
    """Add the legend, and a title that says what is left out."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - an optional dependency, and slow to import

    lines = [Line2D([], [], color=palette.COLOURS[i], linewidth=3.2) for i in range(n_lines)]
    sizes = np.bincount(labels[labels >= 0])
    names = [f"{i}: {wording.counted(size, 'sample')}" for i, size in enumerate(sizes[:n_lines])]
    left_out = []
    if n_lines < sizes.size:
        left_out.append(f"the {n_lines} largest of {sizes.size} clusters")
    if n_shown < n_features:
        left_out.append(f"the {n_shown} of {n_features} features with the largest differences between clusters")
    ax.legend(
        lines, names, title="cluster", title_fontsize=9, alignment="left", frameon=False, fontsize=9,
        labelcolor=palette.TEXT, loc="upper left", bbox_to_anchor=(1, 1),
    )  # fmt: skip
    if left_out:
        ax.set_title(" and ".join(left_out), loc="left", fontsize=9, color=palette.TEXT)
