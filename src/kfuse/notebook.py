"""How a fitted model shows itself in a notebook: what was found and a small picture, above scikit-learn's diagram."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfuse.estimator import KFuse

MOST_DRAWN = 200_000  # with more samples, or columns, a picture would take longer than a reader expects
MOST_COLUMNS = 500


def with_summary(model: KFuse, diagram: str) -> str:
    """Put what was found above the diagram; give the diagram alone for a model that is not fitted.

    Parameters
    ----------
    model : KFuse
        A model, fitted or not.
    diagram : str
        The HTML that scikit-learn makes of it.

    Returns
    -------
    str
        HTML.
    """
    try:
        return f"{_summary(model)}{diagram}" if hasattr(model, "tree_") else diagram
    except Exception:  # showing a model must never be what fails
        return diagram


def _summary(model: KFuse) -> str:
    picture = _picture(model)
    image = (
        f'<img alt="The clusters" width="240" height="180" src="data:image/png;base64,{picture}">' if picture else ""
    )
    words = "".join(f"<div>{html.escape(line)}</div>" for line in _lines(model))
    return (
        '<div style="display:flex;gap:16px;align-items:center;font-family:system-ui,sans-serif;font-size:14px;'
        f'margin-bottom:8px">{image}<div><div style="font-size:18px;font-weight:600">{_clusters(model.n_clusters_)}'
        f"</div>{words}</div></div>"
    )


def _clusters(number: int) -> str:
    return f"{number:,} cluster{'s' * (number != 1)}"


def _lines(model: KFuse) -> list[str]:
    import numpy as np  # noqa: PLC0415

    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    largest = ", ".join(f"{size:,}" for size in sizes[:6]) + ", ..." * (sizes.size > 6)
    lines = [f"of {model.labels_.size:,} samples: {largest}"]
    if model.tree_.strength is not None:
        first, *others = [suggestion.n_clusters for suggestion in model.tree_.suggest(4)]
        also = f"; also {', '.join(map(str, others))}" if others else ""
        lines.append(f"suggested: {first}{also}")
    lines.append(f"{model.tree_.n_leaves:,} sub-clusters, natural value {model.natural_value_}")
    return lines


def _picture(model: KFuse) -> str:
    """Draw the clusters as a PNG in base64, or nothing where there is no data or no matplotlib."""
    data: Any = model._fit_X
    if data is None or len(data) > MOST_DRAWN or data.shape[1] > MOST_COLUMNS:
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
