"""The decision graph: density against the distance to the nearest denser sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kfuse.drawing.palette import GREY, PALETTE, marker_of
from kfuse.plots.style import new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kfuse.baselines.density_peaks import DensityPeaks
    from kfuse.baselines.wann_dpc import WANNDPC


def decision_graph(model: DensityPeaks | WANNDPC, ax: Axes | None = None) -> Axes:
    """Draw density against the distance to the nearest denser sample, with the centres marked.

    Cluster centres stand out at the upper right. Each has the colour and marker of its cluster in
    :func:`kfuse.plots.scatter`, and the densest one is larger; all other samples are grey.

    Parameters
    ----------
    model : DensityPeaks or WANNDPC
        A fitted estimator.
    ax : matplotlib.axes.Axes or None, default=None
        The axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> from kfuse.baselines import DensityPeaks, decision_graph
    >>> from kfuse.datasets import make_rings
    >>> X, _ = make_rings()
    >>> ax = decision_graph(DensityPeaks(3).fit(X))  # doctest: +SKIP
    """
    check_is_fitted(model, "centers_")
    if ax is None:
        ax = new_axes()
    others = np.ones(model.density_.size, dtype=np.bool_)
    others[model.centers_] = False
    ax.scatter(model.density_[others], model.delta_[others], s=14, c=GREY, linewidths=0, label="samples")
    # The densest centre has the distance of another sample by definition, so draw it larger and underneath.
    densest, *rest = np.argsort(-model.density_[model.centers_], kind="stable")
    _mark(ax, model, densest, size=170, label="densest centre")
    for cluster in rest:
        _mark(ax, model, cluster, size=60, label="centres" if cluster == rest[0] else None)
    tidy(ax, "density (rho)", "distance to the nearest denser sample (delta)")
    ax.legend(frameon=False)
    return ax


def _mark(ax: Axes, model: DensityPeaks | WANNDPC, cluster: int, size: float, label: str | None) -> None:
    """Draw the centre of a cluster with the colour and marker of the cluster."""
    marker, factor = marker_of(cluster)
    center = model.centers_[cluster]
    ax.scatter(
        model.density_[center],
        model.delta_[center],
        s=size * factor,
        c=PALETTE[cluster % len(PALETTE)],
        marker=marker,
        edgecolors="white",
        linewidths=0.8,
        label=label,
    )
