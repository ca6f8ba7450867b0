"""The HTML of a fitted model in a notebook: the result and a small plot, above scikit-learn's diagram."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from kfuse.drawing.curve import suggested
from kfuse.wording import counted

if TYPE_CHECKING:
    from kfuse.estimator import KFuse

MOST_SAMPLES = 200_000  # with more samples or features, drawing would take too long
MOST_FEATURES = 500
N_SUGGESTIONS = 4


def with_summary(model: KFuse, diagram: str) -> str:
    """Return the diagram with a summary above it; only the diagram if the model is not fitted.

    Parameters
    ----------
    model : KFuse
        A model, fitted or not.
    diagram : str
        The HTML that scikit-learn renders for it.

    Returns
    -------
    str
        The HTML to display.
    """
    try:
        return f"{_summary(model)}{diagram}" if hasattr(model, "tree_") else diagram
    except Exception:  # displaying a model must never fail
        return diagram


def _summary(model: KFuse) -> str:
    plot = _plot(model)
    image = (
        f'<img alt="Scatter plot of the clusters" width="240" height="180" src="data:image/png;base64,{plot}">'
        if plot
        else ""
    )
    clusters = counted(model.n_clusters_, "cluster")
    lines = "".join(f"<div>{html.escape(line)}</div>" for line in _lines(model))
    return (
        '<div style="display:flex;gap:16px;align-items:center;font-family:system-ui,sans-serif;font-size:14px;'
        f'margin-bottom:8px">{image}<div><div style="font-size:18px;font-weight:600">{clusters}'
        f"</div>{lines}</div></div>"
    )


def _lines(model: KFuse) -> list[str]:
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    largest = ", ".join(f"{size:,}" for size in sizes[:6]) + ", ..." * (sizes.size > 6)
    lines = [f"{counted(model.labels_.size, 'sample')}, cluster sizes {largest}"]
    if numbers := suggested(model.tree_, N_SUGGESTIONS):
        first, *others = numbers
        also = f"; alternatives: {', '.join(map(str, others))}" if others else ""
        lines.append(f"suggested: {first}{also}")
    lines.append(f"{counted(model.tree_.n_leaves, 'sub-cluster')}, natural value {model.natural_value_}")
    return lines


def _plot(model: KFuse) -> str:
    """Draw the clusters as a PNG in base64; return an empty string without data or matplotlib."""
    data: Any = model._fit_X
    if data is None or len(data) > MOST_SAMPLES or data.shape[1] > MOST_FEATURES:
        return ""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError:
        return ""
    from kfuse import plots  # noqa: PLC0415

    figure = Figure(figsize=(2.4, 1.8), layout="constrained")
    ax = plots.scatter(data, model.labels_, figure.subplots())
    for artist in ax.collections:
        artist.set_sizes(artist.get_sizes() / 4)  # type: ignore[attr-defined]
    ax.set_axis_off()
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=200)
    return base64.b64encode(stream.getvalue()).decode("ascii")
