"""The pictures of the calibration: false alarms, power, and what each sign sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kfuse.core.adaptive.significance import LEVEL
from study.calibration import signs
from study.calibration.measure import Measured
from study.calibration.tables import alarms, by_features, samples_in
from study.figures.style import INK, RED, panels, plain, shrink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_all(measured: Measured, folder: Path) -> None:
    """Draw the pictures into a folder."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"false_alarms": false_alarms(measured), "power": power(measured), "signs": signs.figure()}
    for name, figure in drawn.items():
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=130)
        shrink(path)
        print(path)


def false_alarms(measured: Measured) -> Figure:
    """Draw the share of structureless data sets with more than one cluster, by n, for each number of features."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import
    import matplotlib.ticker  # noqa: PLC0415 - slow to import

    figure, ((ax,),) = panels(1, 1, 5.4, height=0.62)
    samples, rows = samples_in(measured.trials), by_features(measured.trials)
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.88, len(rows) - 1))
    for (name, belongs), colour in zip(rows.items(), [*colours, INK], strict=True):
        shares = [alarms([trial for trial in measured.trials if trial.n == n], belongs) for n in samples]
        bold = {"linewidth": 2.4, "linestyle": "--"} if name == "all" else {"linewidth": 1.4}
        ax.plot(samples, shares, marker="o", markersize=4, color=colour, label=name, **bold)
    ax.axhline(LEVEL, color=RED, linewidth=1)
    ax.annotate("level of significance", (samples[0], LEVEL), (0, 3), textcoords="offset points", fontsize=8,
                color=RED)  # fmt: skip
    _log_samples(ax, samples)
    ax.set_ylim(-0.005, max(0.2, ax.get_ylim()[1]))
    ax.yaxis.set_major_locator(mpl.ticker.MultipleLocator(0.05))
    ax.set_ylabel("share with more than one cluster", fontsize=9)
    ax.legend(title="features", fontsize=8, title_fontsize=8, frameon=False, ncols=1, loc="center left",
              bbox_to_anchor=(1.0, 0.5))  # fmt: skip
    return figure


def power(measured: Measured) -> Figure:
    """Draw the share of right numbers for two Gaussians, by their distance and the number of samples."""
    features, distances, samples = (
        sorted({int(cell[key]) for cell in measured.two}) for key in ("n_features", "distance", "n")
    )
    right = {(cell["n_features"], cell["n"], cell["distance"]): cell["right"] for cell in measured.two}
    figure, (axes,) = panels(1, len(features), 2.9, height=0.85)
    for ax, d in zip(axes, features, strict=True):
        shares = np.array([[right[d, n, distance] for distance in distances] for n in samples])
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.3, origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(shares):
            ax.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=9,
                    color="white" if value > 0.7 else INK)  # fmt: skip
        ax.set_xticks(range(len(distances)), [str(distance) for distance in distances])
        ax.set_yticks(range(len(samples)), [f"{n:,}" for n in samples])
        ax.tick_params(labelsize=8, length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(f"{d} feature{'s' if d > 1 else ''}", fontsize=9, color=INK)
        ax.set_xlabel("standard deviations apart", fontsize=9)
    axes[0].set_ylabel("samples", fontsize=9)
    return figure


def _log_samples(ax: Axes, samples: list[int]) -> None:
    """Label a logarithmic axis with the numbers of samples."""
    ax.set_xscale("log")
    ax.set_xticks(samples, [f"{n:,}" for n in samples])
    ax.minorticks_off()
    ax.set_xlabel("samples", fontsize=9)
    plain(ax)
