"""Figures that explain the printed algorithm, one stage at a time, with ``fusion="paper"``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.neighbors import NearestNeighbors

from kfuse import KFuse
from kfuse.datasets import make_away, make_pathbased
from study.figures.style import BLUE, FAINT, INK, RED, bare, dots, panels, scaled, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OF_REPRESENTATIVES = ("Away", "Flame", "Zelnik1", "Path-based")
Members = NDArray[np.intp]


class Boundary(NamedTuple):
    """The boundary of two sub-clusters: Definition 8, Eqs. 4 and 5."""

    adjacent: Members  # the samples in both augmented sub-clusters
    distance: float
    ends: tuple[int, int]  # the two nearest samples
    connectivity: float


class Stages:
    """The printed algorithm on a data set, with the quantities of its definitions."""

    def __init__(self, X: NDArray[np.float64], n_clusters: int, labels: Members | None = None):
        self.X = X
        self.model = KFuse(n_clusters, fusion="paper").fit(X)
        self.labels = self.model.subcluster_labels_ if labels is None else labels
        nearest = NearestNeighbors(n_neighbors=self.model.natural_value_).fit(X)
        self.neighbors = nearest.kneighbors(return_distance=False)

    @property
    def peaks(self) -> Members:
        """Return the density peaks, Definition 6: samples that are their own representatives."""
        return np.flatnonzero(self.model.representatives_ == np.arange(len(self.X)))

    def members(self, subcluster: int) -> Members:
        """Return the samples of a sub-cluster."""
        return np.flatnonzero(self.labels == subcluster)

    def augmented(self, subcluster: int) -> Members:
        """Return a sub-cluster and the neighbours of its samples, Definition 7."""
        members = self.members(subcluster)
        return np.union1d(members, self.neighbors[members].ravel())

    def boundary(self, first: int, second: int) -> Boundary:
        """Return the boundary of two sub-clusters."""
        a, b = self.members(first), self.members(second)
        between = cdist(self.X[a], self.X[b])
        i, j = np.unravel_index(between.argmin(), between.shape)
        adjacent = np.intersect1d(self.augmented(first), self.augmented(second))
        connectivity = (len(adjacent) + 1) * np.exp(-between.min()) / min(len(a), len(b))
        return Boundary(adjacent, float(between.min()), (int(a[i]), int(b[j])), float(connectivity))


def process(folder: Path | None) -> Figure:
    """Draw the stages on Away: density, peaks, sub-clusters, merges, clusters."""
    data = scaled("Away", folder)
    stages = Stages(data.X, data.n_clusters)
    n_parts = stages.labels.max() + 1
    halfway = (n_parts + data.n_clusters) // 2
    figure, ((raw, dense, parts, half, end),) = panels(1, 5, 2.6)
    raw.scatter(*data.X.T, s=9, c=INK, linewidths=0)
    bare(raw, f"(a) {len(data.X)} samples")
    dense.scatter(*data.X.T, s=9, c=stages.model.density_, cmap="viridis", linewidths=0)
    dense.scatter(*data.X[stages.peaks].T, s=26, facecolors="none", edgecolors=RED, linewidths=1.1)
    bare(dense, f"(b) density, {len(stages.peaks)} local peaks")
    dots(parts, data.X, stages.labels)
    bare(parts, f"(c) {n_parts} sub-clusters")
    dots(half, data.X, stages.model.cut(halfway))
    bare(half, f"(d) fused to {halfway}")
    dots(end, data.X, stages.model.labels_)
    bare(end, f"(e) fused to {data.n_clusters}")
    return figure


def representatives(folder: Path | None) -> Figure:
    """Draw the local density peaks of four data sets."""
    figure, axes = panels(2, 2, 3.2)
    for ax, name in zip(axes.flat, OF_REPRESENTATIVES, strict=True):
        data = scaled(name, folder)
        stages = Stages(data.X, data.n_clusters)
        ax.scatter(*data.X.T, s=9, c="#9A9A9A", linewidths=0)
        ax.scatter(*data.X[stages.peaks].T, s=22, c=RED, linewidths=0)
        bare(ax, f"{title_of(name)}: {len(stages.peaks)} peaks among {len(data.X)} samples")
    return figure


def adjacent(folder: Path | None) -> Figure:
    """Draw two clusters, each augmented, and their adjacent samples."""
    rng = np.random.RandomState(3)
    X = np.concatenate([rng.normal((0, 0), 0.9, (45, 2)), rng.normal((3.1, 0.6), 0.9, (45, 2))])
    y = np.repeat([0, 1], 45)
    stages = Stages((X - X.min()) / np.ptp(X), 2, labels=y)
    figure, axes = panels(2, 2, 3.6, height=0.62)
    shared = stages.boundary(0, 1).adjacent
    shown = (
        (np.empty(0, dtype=np.intp), "(a) $S_1$ and $S_2$"),
        (stages.augmented(0), "(b) augmented $S_1$"),
        (stages.augmented(1), "(c) augmented $S_2$"),
        (shared, f"(d) {len(shared)} adjacent samples"),
    )
    for ax, (ringed, title) in zip(axes.flat, shown, strict=True):
        dots(ax, stages.X, y, size=22)
        ax.scatter(*stages.X[ringed].T, s=48, facecolors="none", edgecolors=RED, linewidths=1.0)
        bare(ax, title)
    return figure


def distance(folder: Path | None) -> Figure:
    """Draw three sub-clusters of which the nearer two share fewer adjacent samples."""
    stages, y, (one, two, three) = _telling_triple()
    near, far = stages.boundary(one, two), stages.boundary(two, three)
    names = {one: "$S_1$", two: "$S_2$", three: "$S_3$"}
    figure, axes = panels(2, 3, 3.2)
    flat = axes.flat
    dots(flat[0], stages.X, y, size=14)
    bare(flat[0], "(a) true clusters")
    for ax, title, touch in (
        (flat[1], "(b) $S_1$, $S_2$", near),
        (flat[2], "(c) $S_2$, $S_3$", far),
    ):
        _spotlight(ax, stages, names)
        ax.scatter(*stages.X[touch.adjacent].T, s=60, facecolors="none", edgecolors=INK, linewidths=1.2)
        bare(ax, f"{title}: {len(touch.adjacent)} adjacent samples")
    dots(flat[3], stages.X, stages.labels, size=14)
    bare(flat[3], f"(d) {stages.labels.max() + 1} sub-clusters")
    for ax, title, touch in (
        (flat[4], "(e) $S_1$, $S_2$", near),
        (flat[5], "(f) $S_2$, $S_3$", far),
    ):
        _spotlight(ax, stages, names)
        ax.plot(*stages.X[list(touch.ends)].T, color=INK, linewidth=1.6, marker="o", markersize=4)
        bare(ax, f"{title}: distance {touch.distance:.3f}")
    _zoom(flat, stages, list(names))
    return figure


def _telling_triple() -> tuple[Stages, Members, tuple[int, int, int]]:
    """Find the clearest example of fewer adjacent samples at a smaller distance in seeded data."""
    best: tuple[float, Any] = (0.0, None)
    for make, n_clusters, noise in ((make_away, 3, 0.06), (make_pathbased, 3, 0.06), (make_moons, 2, 0.12)):
        for seed in range(20):
            X, y = make(150, noise=noise, random_state=seed)
            stages = Stages((X - X.min(axis=0)) / np.ptp(X, axis=0), n_clusters)
            for triple, contrast in _triples(stages, y):
                if contrast > best[0]:
                    best = contrast, (stages, y, triple)
    return best[1]


def _triples(stages: Stages, y: Members) -> list[tuple[tuple[int, int, int], float]]:
    """Return all such triples, with the ratio of the two distances."""
    n_parts = stages.labels.max() + 1
    touch = {
        (i, j): stages.boundary(i, j)
        for i in range(n_parts)
        for j in range(n_parts)
        if i != j and len(np.intersect1d(stages.augmented(i), stages.augmented(j)))
    }
    found = []
    for (one, two), near in touch.items():
        for (other, three), far in touch.items():
            large = min(len(stages.members(part)) for part in (one, two, three)) >= 5
            if other == two and three != one and large and len(near.adjacent) < len(far.adjacent):
                kinds = [set(y[stages.members(part)]) for part in (one, two, three)]
                pure = all(len(kind) == 1 for kind in kinds)
                if pure and kinds[0] == kinds[1] != kinds[2] and near.distance < far.distance:
                    found.append(((one, two, three), far.distance / near.distance))
    return found


def _spotlight(ax: Axes, stages: Stages, names: dict[int, str]) -> None:
    """Draw the named sub-clusters in colour, the others faint."""
    others = ~np.isin(stages.labels, list(names))
    ax.scatter(*stages.X[others].T, s=10, c=FAINT, linewidths=0)
    for number, (part, name) in enumerate(names.items()):
        members = stages.members(part)
        dots(ax, stages.X[members], np.full(len(members), number), size=22)
        outwards = stages.X[members].mean(axis=0) - stages.X[np.isin(stages.labels, list(names))].mean(axis=0)
        outwards = 26 * outwards / max(np.linalg.norm(outwards), 1e-9)
        ax.annotate(name, stages.X[members].mean(axis=0), outwards, textcoords="offset points", fontsize=12, color=INK,
                    ha="center", va="center")  # fmt: skip


def _zoom(axes: Any, stages: Stages, parts: list[int]) -> None:
    """Zoom to some sub-clusters in all panels except those that show all samples."""
    X = stages.X[np.isin(stages.labels, parts)]
    low, high = X.min(axis=0) - 0.06, X.max(axis=0) + 0.06
    middle, half = (low + high) / 2, (high - low).max() / 2
    for i in (1, 2, 4, 5):
        axes[i].set_xlim(middle[0] - half, middle[0] + half)
        axes[i].set_ylim(middle[1] - half, middle[1] + half)


def density_contrast(folder: Path | None) -> Figure:
    """Draw Pole with a sparse sub-cluster that boundary connectivity alone would merge with the dense cluster."""
    data = scaled("Pole", folder)
    stages = Stages(data.X, data.n_clusters)
    sparse, dense, kin = _most_tempting(stages, data.y)
    touch, among = stages.boundary(sparse, dense), stages.boundary(sparse, kin)
    figure, ((truth, parts, pair),) = panels(1, 3, 3.4)
    dots(truth, data.X, data.y, size=16)
    bare(truth, f"(a) {title_of('Pole')}: true clusters")
    dots(parts, data.X, stages.labels, size=16)
    bare(parts, f"(b) {stages.labels.max() + 1} sub-clusters")
    names = {sparse: f"$S_{{{sparse + 1}}}$", dense: f"$S_{{{dense + 1}}}$", kin: f"$S_{{{kin + 1}}}$"}
    _spotlight(pair, stages, names)
    pair.scatter(*data.X[touch.adjacent].T, s=60, facecolors="none", edgecolors=INK, linewidths=1.1)
    pair.plot(*data.X[list(touch.ends)].T, color=INK, linewidth=1.5)
    words = f"{len(touch.adjacent)} adjacent, distance {touch.distance:.3f}"
    values = f"Con {touch.connectivity:.2f}; with sparse {names[kin]}, Con {among.connectivity:.2f}"
    bare(pair, f"(c) {names[sparse]} with dense {names[dense]}: {words},\n{values}")
    return figure


def _most_tempting(stages: Stages, y: Members) -> tuple[int, int, int]:
    """Find the sparse sub-cluster that prefers a dense one most; return it, the dense one and the best sparse one."""
    kinds = np.array([np.bincount(y[stages.members(part)]).argmax() for part in range(stages.labels.max() + 1)])
    sparse, dense = np.flatnonzero(kinds == 1), np.flatnonzero(kinds == 0)

    def connectivity(i: int, j: int) -> float:
        return stages.boundary(i, j).connectivity

    def kin(i: int) -> int:
        return max((j for j in sparse if j != i), key=lambda j: connectivity(i, j))

    i, j = max(((i, j) for i in sparse for j in dense), key=lambda p: connectivity(*p) - connectivity(p[0], kin(p[0])))
    return int(i), int(j), int(kin(i))


def density_heights(folder: Path | None) -> Figure:
    """Draw the density of each sample of Pole as a height, from two viewpoints."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import

    data = scaled("Pole", folder)
    density = Stages(data.X, data.n_clusters).model.density_
    figure = plt.figure(figsize=(9, 4.2), layout="constrained")
    for i, (elevation, azimuth) in enumerate(((22, -60), (8, 20))):
        ax: Any = figure.add_subplot(1, 2, i + 1, projection="3d")
        for cluster, colour, name in ((0, BLUE, "dense cluster"), (1, RED, "sparse cluster")):
            x, y = data.X[data.y == cluster].T
            height = density[data.y == cluster]
            for at in zip(x, y, height, strict=True):
                ax.plot([at[0]] * 2, [at[1]] * 2, [0, at[2]], color=colour, linewidth=0.8)
            ax.scatter(x, y, height, s=10, c=colour, label=name, depthshade=False)
        ax.view_init(elevation, azimuth)
        ax.set_title(f"Viewpoint {i + 1}: the height is the density", fontsize=9, color=INK)
        ax.set_xticks([0, 0.5, 1])
        ax.set_yticks([0, 0.5, 1])
        ax.tick_params(labelsize=7)
    ax.legend(fontsize=8, frameon=False, loc="upper right")
    return figure


STEPS = (
    ("Data", "scaled to [0, 1]"),
    ("Natural neighbours", "Algorithm 1: $\\lambda$, $nb$"),
    ("Density", "Eq. 1: $\\rho$, representatives"),
    ("Sub-clusters", "Algorithm 2"),
    ("Boundary connectivity", "Eqs. 2 to 5: $ADS$, $DC$, $Con$"),
    ("Density similarity", "Eq. 6: $Sim\\rho$"),
    ("Fusion index", "Eq. 7: $FI = Con \\times Sim\\rho$"),
    ("Fuse", "Algorithm 3: largest $FI$ first,\nuntil the number is reached"),
    ("Clusters", ""),
)


def workflow(folder: Path | None) -> Figure:
    """Draw the flow of the printed algorithm."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import

    places = [(0, 3), (0, 2), (0, 1), (0, 0), (1.2, 1), (1.2, -1), (2.4, 0), (2.4, 1.5), (2.4, 3)]
    arrows = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6), (6, 7), (7, 8)]
    figure, ax = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
    for (x, y), (name, words) in zip(places, STEPS, strict=True):
        box = {"boxstyle": "round,pad=0.5", "facecolor": "#EAF2F8", "edgecolor": BLUE, "linewidth": 1}
        text = f"$\\bf{{{name.replace(' ', '~').replace('-', '{-}')}}}$" + (f"\n{words}" if words else "")
        ax.text(x, y, text, ha="center", va="center", fontsize=8.5, color=INK, bbox=box)
    for start, end in arrows:
        shrink = 24 if places[start][0] == places[end][0] else 68
        how = {"arrowstyle": "-|>", "color": INK, "shrinkA": shrink, "shrinkB": shrink, "linewidth": 1}
        ax.annotate("", places[end], places[start], arrowprops=how)
    ax.set_xlim(-0.55, 2.95)
    ax.set_ylim(-1.5, 3.5)
    ax.set_axis_off()
    return figure
