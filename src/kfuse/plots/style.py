"""What all plots share with matplotlib: new axes, their look, and points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kfuse.drawing.palette import GREY, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.ticker import MaxNLocator

LONGEST_NAME = 40  # characters of the name of a feature


def new_axes(width: float = 6.4, height: float = 4.8) -> Axes:
    """Create a figure with one set of axes."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'kfuse[plot]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes, x: str = "", y: str = "") -> None:
    """Remove the top and right spines, mute the others, and label the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor=TEXT, labelsize=9)
    ax.set_axisbelow(True)
    if x:
        ax.set_xlabel(x, color=TEXT)
    if y:
        ax.set_ylabel(y, color=TEXT)


def plain(text: str) -> str:
    """Return a name as matplotlib shows it as it is: dollars are no formulas, and it fits on the page."""
    shortened = text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    return shortened.replace("$", r"\$")


def draw_points(ax: Axes, points: NDArray[np.float64], **how: Any) -> PathCollection:
    """Draw points, by default without outlines and rasterised, so that vector files stay small."""
    return ax.scatter(points[:, 0], points[:, 1], **({"linewidths": 0, "rasterized": True} | how))


def integer_ticks() -> MaxNLocator:
    """Return a locator that places ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional dependency, and slow to import

    return MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10])
