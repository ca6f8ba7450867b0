"""The reliability diagram of memberships."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from study.figures.style import FAINT, INK, panels, plain, shrink
from study.memberships.posteriors import measure, mixture

SHOWN = (10_000, 2, 4.0, 1.0, 0.5)
METHODS = ("KFuse", "HDBSCAN", "Gaussian mixture")
EDGES = np.linspace(0, 1, 11)
FEWEST = 10  # samples of a point of the diagram


def draw(folder: Path) -> None:
    """Draw the frequency of the second Gaussian by the membership in it, one panel for each method."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    data = mixture(*SHOWN, seed=0)
    figure, (axes,) = panels(1, len(METHODS), 2.9, height=1.15)
    for ax, method in zip(axes, METHODS, strict=True):
        found = measure(method, data)
        number = np.clip(np.digitize(found.memberships, EDGES) - 1, 0, EDGES.size - 2)
        counts = np.bincount(number, minlength=EDGES.size - 1)
        with np.errstate(invalid="ignore"):
            stated = np.bincount(number, weights=found.memberships, minlength=EDGES.size - 1) / counts
            observed = np.bincount(number, weights=data.is_second, minlength=EDGES.size - 1) / counts
        enough = counts >= FEWEST
        ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
        ax.plot(stated[enough], observed[enough], "o-", color=INK, markersize=4, linewidth=1)
        ax.set(xlabel="membership", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        ax.set_title(f"{method}, Brier score {found.brier:.3f}", fontsize=9, color=INK)
        plain(ax)
    axes[0].set_ylabel("share that is from this Gaussian", fontsize=8)
    path = folder / "reliability.png"
    figure.savefig(path, dpi=130)
    shrink(path)
    print(path)
