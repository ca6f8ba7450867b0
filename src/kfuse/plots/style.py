"""What all pictures share: colours, axes, and two columns to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.ticker import MaxNLocator

    from kfuse import KFuse

# Okabe and Ito's colours, which colour-blind readers can tell apart, but for black and yellow, which is faint on
# white; Tol's wine is the seventh. Grey is for label -1.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#882255")
MARKERS = {"o": 1.0, "^": 1.3, "s": 0.9, "D": 0.75}  # with the factor that makes them look equally large
GREY = "#8C8C8C"
FAINT = "#D9D9D9"
TEXT = "#4D4D4D"
INK = "#1A1A1A"


def _mixed(colour: str, with_grey: int, share: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * with_grey):02X}" for part in parts)


# After seven clusters the colours come again, darker, then lighter.
COLOURS = (*PALETTE, *(_mixed(c, 0, 0.45) for c in PALETTE), *(_mixed(c, 255, 0.55) for c in PALETTE))


def colours_of(labels: ArrayLike) -> NDArray[np.str_]:
    """Give each label its colour, grey to negative ones."""
    numbers = np.asarray(labels)
    return np.where(numbers < 0, GREY, np.array(COLOURS)[numbers % len(COLOURS)])


def new_axes(width: float = 6.4, height: float = 4.8) -> Axes:
    """Make a figure with one set of axes."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional dependency, and slow to import
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'kfuse[plot]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes, x: str = "", y: str = "") -> None:
    """Take away what does not inform, and name the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor=TEXT, labelsize=9)
    ax.set_axisbelow(True)
    if x:
        ax.set_xlabel(x, color=TEXT)
    if y:
        ax.set_ylabel(y, color=TEXT)


def samples_of(model: KFuse, X: ArrayLike | None) -> NDArray[np.float64]:
    """Give the samples to draw: X, or what the model was fitted to."""
    check_is_fitted(model, "tree_")
    data: Any = model._fit_X if X is None else X
    if data is None:
        raise ValueError("A model of precomputed distances keeps no samples: give X, the features to draw.")
    samples: NDArray[np.float64] = check_array(data, dtype=np.float64)
    if len(samples) != model.labels_.size:
        raise ValueError(f"X has {len(samples)} samples, but the model was fitted to {model.labels_.size}: give those.")
    return samples


def plane_of(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Give two columns to draw, and their names if they are not the samples' own."""
    if X.shape[1] == 1:
        return np.column_stack([X, np.zeros(len(X))]), ("", "")
    if X.shape[1] == 2 or len(X) == 1:
        return X[:, :2], ("", "")
    from sklearn.decomposition import PCA  # noqa: PLC0415 - slow to import

    with np.errstate(invalid="ignore"):  # shares of a variance of 0, which are not used
        plane = PCA(2, random_state=0).fit_transform(X)
    return plane, ("principal component 1", "principal component 2")


def point_size(n_samples: int) -> float:
    """Give an area in square points that shrinks as the samples get many."""
    return float(np.clip(500 / n_samples**0.5, 1.2, 36))


def draw_points(ax: Axes, points: NDArray[np.float64], **how: Any) -> PathCollection:
    """Draw points as pixels, so that a hundred thousand make no large file, by default without an outline."""
    return ax.scatter(points[:, 0], points[:, 1], **({"linewidths": 0, "rasterized": True} | how))


def whole_numbers() -> MaxNLocator:
    """Give ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an optional dependency, and slow to import

    return MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10])
