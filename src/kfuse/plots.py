"""Pictures of a clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart, but for black and yellow, which is faint on
# white; Tol's wine is the seventh. Grey is for label -1.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#882255")
MARKERS = {"o": 1.0, "^": 1.3, "s": 0.9, "D": 0.75}  # with the factor that makes them look equally large
GREY = "#8C8C8C"


def scatter(X: ArrayLike, labels: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the samples, coloured by cluster.

    Each cluster has a colour; after seven clusters the colours come again with another marker. Samples with
    label -1 are small grey crosses.

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
        ax = _new_axes()
    plane, names = _plane(samples)
    size = _point_size(len(plane))
    left_out = clusters < 0
    x, y = plane[left_out].T
    ax.scatter(x, y, s=0.7 * size, c=GREY, marker="x", linewidths=size**0.5 / 6, rasterized=True)
    # One artist per marker, not per cluster: a thousand clusters draw as fast as ten.
    colours = np.array(PALETTE)[clusters % len(PALETTE)]
    turns = clusters // len(PALETTE) % len(MARKERS)
    for turn, (marker, factor) in enumerate(MARKERS.items()):
        here = (turns == turn) & ~left_out
        if here.any():
            x, y = plane[here].T
            ax.scatter(x, y, s=size * factor, c=colours[here], marker=marker, linewidths=0, rasterized=True)
    _tidy(ax, names)
    return ax


def _new_axes() -> Axes:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'kfuse[plot]'") from error
    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]


def _plane(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Give two columns to draw, and their names if they are not the samples' own."""
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), ("", "")
    if X.shape[1] == 2 or len(X) == 1:
        return X[:, :2], ("", "")
    from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import

    with np.errstate(invalid="ignore"):  # shares of a variance of 0, which are not used
        plane = PCA(2, random_state=0).fit_transform(X)
    return plane, ("principal component 1", "principal component 2")


def _point_size(n_samples: int) -> float:
    """Give an area in square points that shrinks as the samples get many."""
    return float(np.clip(500 / n_samples**0.5, 1.2, 36))


def _tidy(ax: Axes, names: tuple[str, str]) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor="#4D4D4D", labelsize=9)
    ax.set_axisbelow(True)
    if any(names):
        ax.set_xlabel(names[0], color="#4D4D4D")
        ax.set_ylabel(names[1], color="#4D4D4D")
