"""The samples in the plane: their clusters, sub-clusters, densities, and where two sub-clusters touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from kfuse.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kfuse import KFuse

MOST_RINGS = 2000  # around representatives; more would hide the rest


def scatter(X: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the samples, coloured by cluster.

    Each cluster has a colour; after seven clusters the colours come again in another shade and with another marker.
    Samples with label -1 are small grey crosses.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples. With more than two features, the first two principal components are drawn.
    labels : array-like of shape (n_samples,)
        The cluster of each sample, -1 for none.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

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
    plane, names = style.plane_of(samples)
    size = style.point_size(len(plane))
    left_out = clusters < 0
    _cross_out(ax, plane[left_out], size)
    # One artist per marker, not per cluster: a thousand clusters draw as fast as ten.
    colours = style.colours_of(clusters)
    turns = clusters // len(style.PALETTE) % len(style.MARKERS)
    for turn, (marker, factor) in enumerate(style.MARKERS.items()):
        here = (turns == turn) & ~left_out
        if here.any():
            style.draw_points(ax, plane[here], s=size * factor, c=colours[here], marker=marker)
    style.tidy(ax, *names)
    return ax


def subclusters(model: KFuse, X: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the sub-clusters that the fusion starts from, their representatives and what is left out.

    A line leads from each sample to its representative. Representatives of themselves are larger, and ringed where
    there are at most 2000: one such peak in each sub-cluster, with ``fusion="paper"`` there may be several. Outliers
    are small grey crosses.
    Neighbouring sub-clusters have different colours, which come again elsewhere.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples in the order of the fit; None takes those of the fit. With more than two features, the first two
        principal components are drawn.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import subclusters
    >>> X, _ = make_rings()
    >>> ax = subclusters(KFuse().fit(X))  # doctest: +SKIP
    """
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - an optional dependency, and slow to import

    samples = style.samples_of(model, X)
    ax = style.new_axes() if ax is None else ax
    plane, names = style.plane_of(samples)
    size = style.point_size(len(plane))
    colours = style.colours_of(_unlike_neighbours(plane, model.subcluster_labels_))[model.subcluster_labels_]
    climbs = (model.representatives_ != np.arange(len(plane))) & ~model.outlier_mask_
    steps = np.stack([plane, plane[model.representatives_]], axis=1)[climbs]
    width = float(np.clip(size**0.5 / 5, 0.2, 0.9))
    ax.add_collection(LineCollection(steps, colors=colours[climbs], linewidths=width, alpha=0.6, rasterized=True))
    style.draw_points(ax, plane[climbs], s=0.5 * size, c=colours[climbs])
    peaks = ~climbs & ~model.outlier_mask_
    ring = 0.8 if peaks.sum() <= MOST_RINGS else 0
    style.draw_points(ax, plane[peaks], s=1.6 * size, c=colours[peaks], edgecolors=style.INK, linewidths=ring)
    _cross_out(ax, plane[model.outlier_mask_], size)
    style.tidy(ax, *names)
    return ax


def _cross_out(ax: Axes, points: NDArray[np.float64], size: float) -> None:
    style.draw_points(ax, points, s=0.7 * size, c=style.GREY, marker="x", linewidths=size**0.5 / 6)


def _unlike_neighbours(plane: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number a palette's colours so that a group differs from its nearest groups, as seen in the plane."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import

    sizes = np.bincount(groups)
    centres = np.column_stack([np.bincount(groups, weights=column) / sizes for column in plane.T])
    n_near = min(len(style.PALETTE), len(centres))
    near = cKDTree(centres).query(centres, n_near)[1].reshape(len(centres), -1)
    colour = np.full(len(centres), -1, dtype=np.intp)
    everything = set(range(len(style.PALETTE)))
    for group, others in enumerate(near):
        free = sorted(everything.difference(colour[others].tolist()))
        colour[group] = free[group % len(free)]
    return colour


def density(model: KFuse, X: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the samples, coloured by density on a logarithmic scale, the densest on top.

    Parameters
    ----------
    model : KFuse
        A fitted model.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples in the order of the fit; None takes those of the fit. With more than two features, the first two
        principal components are drawn.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import density
    >>> X, _ = make_rings()
    >>> ax = density(KFuse().fit(X))  # doctest: +SKIP
    """
    samples = style.samples_of(model, X)
    ax = style.new_axes() if ax is None else ax
    plane, names = style.plane_of(samples)
    # Multiples of the median, in factors of two: densities have a unit, and tell more as ratios.
    doublings = np.log2(model.density_) - np.log2(np.median(model.density_))
    low, high = np.quantile(doublings, [0.01, 0.99])
    order = np.argsort(doublings)
    points = style.draw_points(
        ax, plane[order], c=doublings[order], s=style.point_size(len(plane)), cmap="cividis", vmin=low, vmax=high
    )
    bar = ax.figure.colorbar(points, ax=ax, extend="both", pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_locator(style.whole_numbers())
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{2.0**value:.3g}")
    bar.set_label("density, in multiples of the median", color=style.TEXT)
    bar.ax.tick_params(color=style.GREY, labelcolor=style.TEXT, labelsize=9)
    bar.outline.set_visible(False)
    style.tidy(ax, *names)
    return ax


def adjacent(
    model: KFuse, pair: tuple[int, int] | None = None, X: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw two sub-clusters and the adjacent samples through which they touch (Definitions 7 and 8).

    Each sub-cluster is augmented by the `natural_value_` nearest neighbours of its samples; adjacent samples are in
    both augmented sub-clusters. They are ringed.

    Parameters
    ----------
    model : KFuse
        A fitted model, with a metric other than "precomputed".
    pair : (int, int) or None, default=None
        Two numbers of `subcluster_labels_`; None takes the two with the most adjacent samples.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The samples to draw in the order of the fit; None takes those of the fit. With more than two features, the
        first two principal components are drawn.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse import KFuse
    >>> from kfuse.datasets import make_rings
    >>> from kfuse.plots import adjacent
    >>> X, _ = make_rings()
    >>> ax = adjacent(KFuse().fit(X), (0, 1))  # doctest: +SKIP
    """
    samples = style.samples_of(model, X)
    if model._fit_X is None:
        raise ValueError("Adjacent samples need the samples of the fit: fit with another metric than 'precomputed'.")
    pair, shared = _adjacent_samples(model, pair)
    ax = style.new_axes() if ax is None else ax
    plane, names = style.plane_of(samples)
    groups = [model.subcluster_labels_ == number for number in pair]
    size = style.point_size(int(sum(group.sum() for group in groups)))
    rest = ~(groups[0] | groups[1])
    style.draw_points(ax, plane[rest], s=0.4 * size, c=style.FAINT, label="other samples")
    for number, group, colour in zip(pair, groups, style.PALETTE, strict=False):
        name = f"sub-cluster {number}: {group.sum():,} samples"
        style.draw_points(ax, plane[group], s=size, c=colour, label=name)
    rings = {"facecolors": "none", "edgecolors": style.INK, "linewidths": 1}
    style.draw_points(ax, plane[shared], s=2.4 * size, label=f"adjacent: {shared.sum():,} samples", **rings)
    _look_at(ax, plane[~rest | shared])
    ax.legend(fontsize=9, labelcolor=style.TEXT, loc="upper left", framealpha=0.9, edgecolor="none")
    style.tidy(ax, *names)
    return ax


def _adjacent_samples(model: KFuse, pair: tuple[int, int] | None) -> tuple[tuple[int, int], NDArray[np.bool_]]:
    """Give the pair, the one that shares most if there is none, and the samples that it shares."""
    from scipy.sparse import triu  # noqa: PLC0415 - slow to import

    from kfuse.core.fusion import boundary  # noqa: PLC0415 - numba is slow to import

    n_subclusters = int(model.subcluster_labels_.max()) + 1
    if n_subclusters < 2:
        raise ValueError("The data has one sub-cluster, and adjacent samples need two.")
    neighbors = model._neighbor_table(model._fit_X)
    table = boundary.augmented_subclusters(neighbors, model.subcluster_labels_, model.natural_value_).table
    if pair is None:
        counts = triu(boundary.adjacent_sample_counts(table), k=1, format="coo")
        if not counts.nnz:
            raise ValueError("No two sub-clusters share a sample: give the pair to draw.")
        most = counts.data.argmax()
        pair = (int(counts.row[most]), int(counts.col[most]))
    if len({*pair}) != 2 or not all(0 <= number < n_subclusters for number in pair):
        raise ValueError(f"pair must be two different sub-clusters from 0 to {n_subclusters - 1}, got {pair!r}.")
    inside = table[:, list(pair)].toarray() > 0
    return pair, inside.all(axis=1)


def _look_at(ax: Axes, points: NDArray[np.float64]) -> None:
    """Show some points with as much again around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.5 * (high - low) + 1e-9
    ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
