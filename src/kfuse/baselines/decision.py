"""The decision graph: density against the distance to a denser sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kfuse.baselines.density_peaks import DensityPeaks
    from kfuse.baselines.wann_dpc import WANNDPC


def decision_graph(model: DensityPeaks | WANNDPC, ax: Axes | None = None) -> Axes:
    """Draw density against the distance to the nearest denser sample, with the centres marked.

    Cluster centres stand apart to the upper right. Each is in the colour and marker that :func:`kfuse.plots.scatter`
    gives its cluster, the densest one larger; all other samples are grey.

    Parameters
    ----------
    model : DensityPeaks or WANNDPC
        A fitted estimator.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the picture.

    Examples
    --------
    >>> from kfuse.baselines import DensityPeaks, decision_graph
    >>> from kfuse.datasets import make_rings
    >>> X, _ = make_rings()
    >>> ax = decision_graph(DensityPeaks(3).fit(X))  # doctest: +SKIP
    """
    from kfuse.plots.style import GREY, new_axes, tidy  # noqa: PLC0415 - only pictures need it

    check_is_fitted(model, "centers_")
    if ax is None:
        ax = new_axes()
    others = np.ones(model.density_.size, dtype=np.bool_)
    others[model.centers_] = False
    ax.scatter(model.density_[others], model.delta_[others], s=14, c=GREY, linewidths=0, label="samples")
    # The densest centre's distance is that of another by definition, so it goes large below that one.
    densest, *rest = np.argsort(-model.density_[model.centers_], kind="stable")
    _mark(ax, model, densest, size=170, label="densest centre")
    for cluster in rest:
        _mark(ax, model, cluster, size=60, label="centres" if cluster == rest[0] else None)
    tidy(ax, "density (rho)", "distance to the nearest denser sample (delta)")
    ax.legend(frameon=False)
    return ax


def _mark(ax: Axes, model: DensityPeaks | WANNDPC, cluster: int, size: float, label: str | None) -> None:
    """Draw a cluster's centre in the colour and marker of the cluster."""
    from kfuse.plots import MARKERS, PALETTE  # noqa: PLC0415 - only pictures need it

    marker, factor = list(MARKERS.items())[cluster // len(PALETTE) % len(MARKERS)]
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
