"""Style and data shared by all figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kfuse.datasets import Dataset, load
from kfuse.plots import GREY, MARKERS, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#333333"
FAINT = "#D0D0D0"
RED = "#D55E00"
BLUE = "#0072B2"
LOOKALIKE = {"Pole": "Pole (look-alike)", "Away": "Away (look-alike)"}


def title_of(name: str) -> str:
    """Return the name of a data set as shown in figures."""
    return LOOKALIKE.get(name, name)


def scaled(name: str, folder: Path | None) -> Dataset:
    """Load a data set, scaled as in the study."""
    return load(name, folder=folder, scaled=True, progress=False)


def panels(n_rows: int, n_columns: int, size: float = 3.0, height: float = 1.0) -> tuple[Figure, NDArray[Any]]:
    """Create a figure of panels, `size` wide and `height` times as high."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import

    whole = (size * n_columns, size * n_rows * height)
    return plt.subplots(n_rows, n_columns, figsize=whole, squeeze=False, layout="constrained")


def bare(ax: Axes, title: str = "") -> None:
    """Hide the ticks: scaled features have no unit."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(FAINT)
    ax.set_aspect("equal")
    ax.margins(0.06)
    if title:
        ax.set_title(title, fontsize=9, color=INK)


def plain(ax: Axes) -> None:
    """Leave out what shows no data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(labelsize=8, color=FAINT, which="both")


def dots(ax: Axes, X: NDArray[np.float64], labels: NDArray[np.intp], size: float = 10.0) -> None:
    """Draw samples coloured by cluster, and noise as crosses."""
    noise = labels < 0
    if noise.any():
        ax.scatter(*X[noise].T, s=size, c=GREY, marker="x", linewidths=0.6)
    for turn, (marker, factor) in enumerate(MARKERS.items()):
        here = (labels // len(PALETTE) % len(MARKERS) == turn) & ~noise
        colours = np.array(PALETTE)[labels[here] % len(PALETTE)]
        ax.scatter(*X[here].T, s=size * factor, c=colours, marker=marker, linewidths=0)


def stars(ax: Axes, X: NDArray[np.float64], size: float = 60.0) -> None:
    """Draw cluster centres as stars."""
    ax.scatter(*X.T, s=size, c="white", marker="*", edgecolors="black", linewidths=0.7, zorder=5)


def shrink(path: Path) -> None:
    """Reduce a PNG to 256 colours: a third of the size without a visible difference."""
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    if path.suffix == ".png":
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(256)
        small.save(path, optimize=True)
