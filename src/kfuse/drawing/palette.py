"""The colours and markers of clusters, and the greys of everything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Okabe and Ito's colours, which remain distinguishable with a colour vision deficiency, without black and yellow
# (too faint on white); Tol's wine is the seventh. Grey is for label -1.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#882255")
MARKERS = {"o": 1.0, "^": 1.3, "s": 0.9, "D": 0.75}  # with the factor on the area that makes them look equally large
GREY = "#8C8C8C"
FAINT = "#D9D9D9"
TEXT = "#4D4D4D"
INK = "#1A1A1A"


def _mixed(colour: str, with_grey: int, share: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * with_grey):02X}" for part in parts)


# After seven clusters the colours repeat: first darker, then lighter.
COLOURS = (*PALETTE, *(_mixed(c, 0, 0.45) for c in PALETTE), *(_mixed(c, 255, 0.55) for c in PALETTE))

# The same on a dark background: a little lighter, then much lighter, then darker.
DARK_COLOURS = (
    *(_mixed(c, 255, 0.2) for c in PALETTE[:-1]),
    _mixed(PALETTE[-1], 255, 0.35),
    *(_mixed(c, 255, 0.62) for c in PALETTE),
    *(_mixed(c, 0, 0.25) for c in PALETTE[:-1]),
    _mixed(PALETTE[-1], 255, 0.12),
)


def colours_of(labels: ArrayLike) -> NDArray[np.str_]:
    """Return the colour of each label, grey for negative ones."""
    numbers = np.asarray(labels)
    return np.where(numbers < 0, GREY, np.array(COLOURS)[numbers % len(COLOURS)])


def marker_numbers(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position in MARKERS of each label's marker, which changes whenever the palette starts over."""
    return labels // len(PALETTE) % len(MARKERS)


def marker_of(label: int) -> tuple[str, float]:
    """Return the marker of a cluster and the factor on its area."""
    return list(MARKERS.items())[label // len(PALETTE) % len(MARKERS)]
