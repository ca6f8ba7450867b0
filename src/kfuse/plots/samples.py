"""Scatter plots of the samples: clusters, sub-clusters, densities, and where two sub-clusters meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from kfuse import wording
from kfuse.drawing import palette
from kfuse.drawing.points import plane_of, point_size, samples_of
from kfuse.fitted import fitted_model
from kfuse.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse

MOST_RINGS = 2000  # around representatives; more would hide everything else


def scatter(X: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the samples, coloured by cluster.

    Each cluster has its own colour; after seven clusters the colours repeat in another shade and with another marker.
    Samples with label -1 are small grey crosses.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples. If there are more than two features, the first two principal components are drawn.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; -1 is noise.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import scatter
    >>> X, _ = make_rings()
    >>> ax = scatter(X, KFuse(n_clusters=3).fit_predict(X))  # doctest: +SKIP
    """
    samples: NDArray[np.float64] = check_array(X, dtype=np.float64)
    clusters: NDArray[np.intp] = column_or_1d(labels).astype(np.intp)
    check_consistent_length(samples, clusters)
    if ax is None:
        ax = style.new_axes()
    plane, names = plane_of(samples)
    size = point_size(len(plane))
    noise = clusters < 0
    _draw_crosses(ax, plane[noise], size)
    # One artist per marker, not per cluster: a thousand clusters are drawn as fast as ten.
    colours = palette.colours_of(clusters)
    numbers = palette.marker_numbers(clusters)
    for number, (marker, factor) in enumerate(palette.MARKERS.items()):
        here = (numbers == number) & ~noise
        if here.any():
            style.draw_points(ax, plane[here], s=size * factor, c=colours[here], marker=marker)
    style.tidy(ax, *names)
    return ax


def subclusters(model: KFuse | Pipeline, X: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the sub-clusters that merging starts from, their representatives and the outliers.

    A line leads from each sample to its representative. Samples that represent themselves are density peaks and drawn
    larger, with an outline if there are at most 2000; each sub-cluster has one, with ``fusion="paper"`` possibly
    several. Outliers are small grey crosses. Neighbouring sub-clusters have different colours; colours repeat.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples, in the order of the fit; None uses those of the fit. If there are more than two features, the first
        two principal components are drawn. Of a data frame, the numeric columns that the model has seen.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import subclusters
    >>> X, _ = make_rings()
    >>> ax = subclusters(KFuse().fit(X))  # doctest: +SKIP
    """
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - an optional dependency, and slow to import

    samples, model = samples_of(model, X), fitted_model(model)
    ax = style.new_axes() if ax is None else ax
    plane, names = plane_of(samples)
    size = point_size(len(plane))
    colours = palette.colours_of(_distinct_colours(plane, model.subcluster_labels_))[model.subcluster_labels_]
    climbs = (model.representatives_ != np.arange(len(plane))) & ~model.outlier_mask_
    steps = np.stack([plane, plane[model.representatives_]], axis=1)[climbs]
    width = float(np.clip(size**0.5 / 5, 0.2, 0.9))
    ax.add_collection(LineCollection(steps, colors=colours[climbs], linewidths=width, alpha=0.6, rasterized=True))
    style.draw_points(ax, plane[climbs], s=0.5 * size, c=colours[climbs])
    peaks = ~climbs & ~model.outlier_mask_
    outline = 0.8 if peaks.sum() <= MOST_RINGS else 0
    style.draw_points(ax, plane[peaks], s=1.6 * size, c=colours[peaks], edgecolors=palette.INK, linewidths=outline)
    _draw_crosses(ax, plane[model.outlier_mask_], size)
    style.tidy(ax, *names)
    return ax


def _draw_crosses(ax: Axes, points: NDArray[np.float64], size: float) -> None:
    style.draw_points(ax, points, s=0.7 * size, c=palette.GREY, marker="x", linewidths=size**0.5 / 6)


def _distinct_colours(plane: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Choose a colour of the palette for each group that differs from those of its nearest groups in the plane."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import

    sizes = np.bincount(groups)
    centres = np.column_stack([np.bincount(groups, weights=column) / sizes for column in plane.T])
    n_near = min(len(palette.PALETTE), len(centres))
    near = cKDTree(centres).query(centres, n_near)[1].reshape(len(centres), -1)
    colour = np.full(len(centres), -1, dtype=np.intp)
    everything = set(range(len(palette.PALETTE)))
    for group, others in enumerate(near):
        free = sorted(everything.difference(colour[others].tolist()))
        colour[group] = free[group % len(free)]
    return colour


def density(model: KFuse | Pipeline, X: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the samples, coloured by density on a logarithmic scale, the densest on top.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples, in the order of the fit; None uses those of the fit. If there are more than two features, the first
        two principal components are drawn. Of a data frame, the numeric columns that the model has seen.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import density
    >>> X, _ = make_rings()
    >>> ax = density(KFuse().fit(X))  # doctest: +SKIP
    """
    samples, model = samples_of(model, X), fitted_model(model)
    ax = style.new_axes() if ax is None else ax
    plane, names = plane_of(samples)
    # Densities have a unit, so show ratios: powers of two of the median.
    doublings = np.log2(model.density_) - np.log2(np.median(model.density_))
    low, high = np.quantile(doublings, [0.01, 0.99])
    order = np.argsort(doublings)
    points = style.draw_points(
        ax, plane[order], c=doublings[order], s=point_size(len(plane)), cmap="cividis", vmin=low, vmax=high
    )
    bar = ax.figure.colorbar(points, ax=ax, extend="both", pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_locator(style.integer_ticks())
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{2.0**value:.3g}")
    bar.set_label("density relative to the median", color=palette.TEXT)
    bar.ax.tick_params(color=palette.GREY, labelcolor=palette.TEXT, labelsize=9)
    bar.outline.set_visible(False)
    style.tidy(ax, *names)
    return ax


def adjacent(
    model: KFuse | Pipeline, pair: tuple[int, int] | None = None, X: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw two sub-clusters and their adjacent samples, the ones they share (Definitions 7 and 8).

    Each sub-cluster is augmented by the `natural_value_` nearest neighbours of its samples; adjacent samples belong to
    both augmented sub-clusters. They are circled.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one, with a metric other than "precomputed".
    pair : (int, int) or None, default=None
        Two labels from `subcluster_labels_`; None uses the pair with the most adjacent samples.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples to draw, in the order of the fit; None uses those of the fit. If there are more than two features,
        the first two principal components are drawn.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import adjacent
    >>> X, _ = make_rings()
    >>> ax = adjacent(KFuse().fit(X), (0, 1))  # doctest: +SKIP
    """
    samples, model = samples_of(model, X), fitted_model(model)
    if model._fit_X is None:
        raise ValueError("Adjacent samples need the samples of the fit: fit with a metric other than 'precomputed'.")
    pair, shared = _adjacent_samples(model, pair)
    ax = style.new_axes() if ax is None else ax
    plane, names = plane_of(samples)
    groups = [model.subcluster_labels_ == number for number in pair]
    size = point_size(int(sum(group.sum() for group in groups)))
    rest = ~(groups[0] | groups[1])
    style.draw_points(ax, plane[rest], s=0.4 * size, c=palette.FAINT, label="other samples")
    for number, group, colour in zip(pair, groups, palette.PALETTE, strict=False):
        name = f"sub-cluster {number}: {wording.counted(group.sum(), 'sample')}"
        style.draw_points(ax, plane[group], s=size, c=colour, label=name)
    rings = {"facecolors": "none", "edgecolors": palette.INK, "linewidths": 1}
    name = f"adjacent: {wording.counted(shared.sum(), 'sample')}"
    style.draw_points(ax, plane[shared], s=2.4 * size, label=name, **rings)
    _zoom_to(ax, plane[~rest | shared])
    style.tidy(ax, *names)
    # Below the axes, since inside there may be no corner without samples.
    look: dict[str, Any] = {"fontsize": 9, "labelcolor": palette.TEXT, "edgecolor": "none"}
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, **look)
    return ax


def _adjacent_samples(model: KFuse, pair: tuple[int, int] | None) -> tuple[tuple[int, int], NDArray[np.bool_]]:
    """Return the pair, by default the one that shares most samples, and a mask of the samples it shares."""
    from scipy.sparse import triu  # noqa: PLC0415 - slow to import

    from kfuse.core.paper import boundary  # noqa: PLC0415 - numba is slow to import

    n_subclusters = int(model.subcluster_labels_.max()) + 1
    if n_subclusters < 2:
        raise ValueError("The data has only one sub-cluster, but adjacent samples are shared by two.")
    neighbors = model._neighbor_table(model._fit_X, model._execution())
    table = boundary.augmented_subclusters(neighbors, model.subcluster_labels_, model.natural_value_).table
    if pair is None:
        counts = triu(boundary.adjacent_sample_counts(table), k=1, format="coo")
        if not counts.nnz:
            raise ValueError("No two sub-clusters share a sample: pass the pair to draw.")
        most = counts.data.argmax()
        pair = (int(counts.row[most]), int(counts.col[most]))
    if len({*pair}) != 2 or not all(0 <= number < n_subclusters for number in pair):
        raise ValueError(f"pair must be two different sub-clusters from 0 to {n_subclusters - 1}, got {pair!r}.")
    inside = table[:, list(pair)].toarray() > 0
    return pair, inside.all(axis=1)


def _zoom_to(ax: Axes, points: NDArray[np.float64]) -> None:
    """Set the limits to the extent of some points, with a margin of half that extent on each side."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.5 * (high - low) + 1e-9
    ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
