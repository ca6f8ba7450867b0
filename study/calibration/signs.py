"""The picture of what each sign of a border sees: a valley, an empty gap, one Gaussian, and islands."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist

from kfuse import KFuse
from kfuse.core.adaptive import islands, significance, valleys
from kfuse.core.result import Borders
from study.calibration.measure import PartShares, Recorder, least_step, over_surface, two_gaussians
from study.figures.style import BLUE, FAINT, INK, RED, bare, panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_SAMPLES = 1000
N_SHOWN = 12  # merges
GREY = "#9A9A9A"
PALE = "#C9B08A", "#9DB4C9"  # the two clusters, behind the circles


class Seen(NamedTuple):
    """A fit, and what its signs were read from."""

    X: NDArray[np.float64]
    model: KFuse
    borders: Borders
    evidence: float  # of the most prominent peak beside the highest
    parts: PartShares | None


def look(X: NDArray[np.float64]) -> Seen:
    """Fit and note what the signs see."""
    with Recorder() as recorder:
        evidence = recorder.watch(valleys, "evidence_of_peaks")
        shares, dimensions = recorder.watch(islands, "leaving_shares"), recorder.watch(islands, "dimensions_of_parts")
        model = KFuse(n_jobs=1).fit(X)
    peaks = evidence[0].result.evidence
    parts = over_surface(shares[0], dimensions[0].result) if shares else None
    assert model.tree_.borders is not None  # the default always has them
    return Seen(X, model, model.tree_.borders, float(peaks[np.isfinite(peaks)].max(initial=-np.inf)), parts)


def figure() -> Figure:
    """Draw peaks and islands above, and the strengths of the same trees below."""
    rng = np.random.default_rng(1)
    valley = two_gaussians(4).draw(rng, N_SAMPLES, 2)
    gap = rng.random((N_SAMPLES, 2))
    gap[N_SAMPLES // 2 :, 0] += 1.2
    one = look(rng.standard_normal((N_SAMPLES, 2)))
    in_ten = look(three_in_ten(rng))
    drawn, axes = panels(2, 4, 3.1, height=0.94)
    columns = ("(a) a valley", "(b) an empty gap", "(c) one Gaussian, cut in half")
    for column, (title, seen) in enumerate(zip(columns, (look(valley), look(gap), one), strict=True)):
        draw_way(axes[0, column], seen, title)
        draw_strengths(axes[1, column], seen.borders)
    draw_islands(axes[0, 3], in_ten, look(rng.standard_normal((N_SAMPLES, 10))))
    draw_strengths(axes[1, 3], in_ten.borders)
    axes[1, 0].set_ylabel("strength of a merge", fontsize=8)
    return drawn


def three_in_ten(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw three Gaussians in ten dimensions, each pair 6 standard deviations apart."""
    centres = 6 / np.sqrt(2) * np.eye(3, 10)
    return np.asarray(np.repeat(centres, N_SAMPLES // 3, axis=0) + rng.standard_normal((N_SAMPLES // 3 * 3, 10)))


class Way(NamedTuple):
    """The best way from the lower of two peaks to the higher one."""

    samples: NDArray[np.intp]
    pass_: NDArray[np.float64]  # where the gap is
    gap: float
    radius: float  # r_M of the lower peak


def best_way(X: NDArray[np.float64], labels: NDArray[np.intp]) -> Way:
    """Find the way with the smallest gap between the density peaks of two clusters, by brute force."""
    distance = cdist(X, X)
    radius = np.sort(distance, axis=1)[:, valleys.FIRST_SCALE]
    width = np.maximum(distance, np.maximum(radius[:, None], radius))
    tree = minimum_spanning_tree(width)
    peaks = [np.flatnonzero(labels == label)[np.argmin(radius[labels == label])] for label in (0, 1)]
    lower, higher = sorted(peaks, key=lambda peak: -radius[peak])
    _, before = shortest_path(tree, directed=False, unweighted=True, indices=higher, return_predecessors=True)
    way = [lower]
    while way[-1] != higher:
        way.append(before[way[-1]])
    steps = np.array([width[a, b] for a, b in pairwise(way)])
    a, b = way[steps.argmax()], way[steps.argmax() + 1]
    at = (X[a] + X[b]) / 2 if distance[a, b] == width[a, b] else X[a if radius[a] > radius[b] else b]
    return Way(np.array(way), at, float(steps.max()), float(radius[lower]))


def draw_way(ax: Axes, seen: Seen, title: str) -> None:
    """Draw the best way between two peaks, and the circles that hold M samples at its lowest point and at the peak."""
    from matplotlib.patches import Circle  # noqa: PLC0415 - slow to import

    labels = seen.model.cut(2)
    way = best_way(seen.X, labels)
    ax.scatter(seen.X[:, 0], seen.X[:, 1], s=5, c=np.array(PALE)[labels], linewidths=0)
    ax.plot(*seen.X[way.samples].T, color=INK, linewidth=1)
    ends = way.samples[[0, -1]]
    ax.scatter(seen.X[ends, 0], seen.X[ends, 1], s=22, color=INK, marker="^", zorder=4)
    ax.add_patch(Circle(tuple(way.pass_), way.gap, fill=False, color=RED, linewidth=1.6, zorder=5))
    ax.add_patch(Circle(tuple(seen.X[ends[0]]), way.radius, fill=False, color=BLUE, linewidth=1.6, zorder=5))
    depth = seen.borders.dimension * np.log(way.gap / way.radius)
    needed = significance.NEEDED
    seen_as = "one peak" if seen.borders.n_peaks == 0 else f"{seen.borders.n_peaks + 1} peaks"
    said = f"depth {depth:.1f}, evidence {seen.evidence:.1f}, needed {needed:.1f}".replace("-", "\N{MINUS SIGN}")
    bare(ax, f"{title}: {seen_as}\n{said}")


def draw_strengths(ax: Axes, borders: Borders) -> None:
    """Draw the strengths of the highest merges across a valley, with those below the step in red."""
    strength = borders.strength[np.flatnonzero(borders.is_valley)[::-1]][:N_SHOWN]
    n_borders = borders.n_steps
    rank = np.arange(1, strength.size + 1)
    ax.axhline(1, color=FAINT, linewidth=1)
    ax.scatter(rank, strength, s=26, c=np.where(rank <= n_borders, RED, GREY), linewidths=0)
    said = "no step"
    if 0 < n_borders < strength.size:
        below, above = strength[:n_borders].max(), strength[n_borders:].min()
        ax.fill_between([0.5, N_SHOWN + 0.5], below, above, color=RED, alpha=0.1, linewidth=0)
        size = np.sqrt(n_borders) * np.log(above / below)
        said = f"step {size:.1f}, least {least_step(borders.dimension):.2f}: {n_borders + 1} clusters"
    ax.set_yscale("log")
    ax.set_ylim(0.01, 8)
    ax.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    ax.set_xlim(0.5, N_SHOWN + 0.5)
    ax.set_title(said, fontsize=9, color=INK)
    ax.set_xlabel("merges across a valley, the highest first", fontsize=8)
    plain(ax)


def draw_islands(ax: Axes, seen: Seen, one: Seen) -> None:
    """Draw the leaving shares of all parts against their sizes, with those of one Gaussian behind."""
    for what, colour, name in ((one, FAINT, "parts of one Gaussian"), (seen, BLUE, "parts of three")):
        assert what.parts is not None  # there are enough dimensions
        sizes, dimensions, shares = what.parts
        ratio = shares / np.interp(dimensions, islands.DIMENSIONS, islands.LEAST_SHARES)
        colours = np.where(ratio < 1, RED, colour)
        ax.scatter(sizes, ratio, s=16, c=colours, linewidths=0)
        ax.scatter([], [], s=16, color=colour, label=name)
    ax.scatter([], [], s=16, color=RED, label="islands")
    ax.axhline(1, color=RED, linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_xticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"])
    ax.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    ax.set_xlabel("samples in a part", fontsize=8)
    ax.set_ylabel("leaving share / least share", fontsize=8)
    ax.legend(fontsize=7, frameon=False, loc="lower left", handletextpad=0.2)
    ax.set_title(
        f"(d) ten dimensions: {seen.borders.n_islands + 1} islands\nfew links leave them", fontsize=9, color=INK
    )
    plain(ax)
