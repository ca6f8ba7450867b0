"""Figures of results: methods on synthetic data, digits, faces, and critical differences."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.baselines.methods import METHODS
from kfuse.datasets import Dataset, load
from study.cells import fit
from study.embedding import load_embedded
from study.figures.style import FAINT, INK, bare, dots, panels, scaled, stars, title_of
from study.statistics import TooFewResultsError, can_be_compared, compare, draw, selections
from study.store import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OF_THE_GRID = ("Pole", "Away", "Zelnik1", "Path-based", "Spiral", "Jain", "Aggregation", "D31", "A3")
METHODS_OF_THE_GRID = (
    "kFuse", "kFuse (paper)", "LDP-MST", "Single linkage", "DPC", "WANN-DPC", "MSC", "AP", "K-means", "DBSCAN",
)  # fmt: skip
FACES_A_ROW = 2  # persons, of ten pictures each
FACE_SIDE = 64
GREY_LEVELS = 242
FACE_SHOWN = 32  # the side of a face in the picture


def grid(folder: Path | None, results: Path) -> Figure:
    """Draw every method on the synthetic sets: stars are centres, crosses noise, the number is the ARI."""
    chosen = {(row["dataset"], row["method"]): row for row in read_table(results)}
    figure, axes = panels(len(METHODS_OF_THE_GRID) + 1, len(OF_THE_GRID), 1.45)
    for column, name in enumerate(OF_THE_GRID):
        data = scaled(name, folder)
        size = float(np.clip(1500 / len(data.X), 0.6, 7))
        dots(axes[0, column], data.X, data.y, size)
        bare(axes[0, column], title_of(name).replace(" (", "\n("))
        for row, method in enumerate(METHODS_OF_THE_GRID, start=1):
            _grid_cell(axes[row, column], data, method, chosen.get((name, method)), size)
    for row, method in enumerate(("true clusters", *METHODS_OF_THE_GRID)):
        axes[row, 0].set_ylabel(method, fontsize=9, color=INK)
    return figure


def _grid_cell(ax: Axes, data: Dataset, method: str, chosen: dict[str, Any] | None, size: float) -> None:
    if chosen is None or chosen["ARI"] is None:
        ax.text(0.5, 0.5, "no result", ha="center", va="center", fontsize=8, color=INK, transform=ax.transAxes)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        bare(ax)
        return
    model = fit(METHODS[method], data, json.loads(chosen["parameters"]), int(chosen["random_state"]))
    dots(ax, data.X, _like_the_truth(model.labels_, data.y), size)
    if (centres := _centres(model, data.X)) is not None:
        stars(ax, centres, 38 if len(centres) < 10 else 12)
    ari = adjusted_rand_score(data.y, model.labels_)
    ax.text(0.03, 0.03, f"{ari:.2f}", fontsize=7, color=INK, transform=ax.transAxes,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8})  # fmt: skip
    bare(ax)


def _centres(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the centres of the clusters if the method has any."""
    if hasattr(model, "centers_"):
        return X[model.centers_]
    return getattr(model, "cluster_centers_", None)


def _like_the_truth(labels: NDArray[np.intp], y: NDArray[np.intp]) -> NDArray[np.intp]:
    """Renumber clusters after the true clusters that they match best, so that colours agree."""
    matched = dict(_matches(labels, y))
    spare = iter(range(int(y.max()) + 1, int(y.max()) + 2 + len(np.unique(labels))))
    numbers = {label: matched.get(label, -1) for label in np.unique(labels[labels >= 0])}
    numbers = {label: number if number >= 0 else next(spare) for label, number in numbers.items()}
    return np.array([numbers.get(label, -1) for label in labels], dtype=np.intp)


def _matches(labels: NDArray[np.intp], y: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Match clusters with true ones, one to one, so that most samples agree."""
    found = np.unique(labels[labels >= 0])
    counts = np.array([[np.sum((labels == a) & (y == b)) for b in range(int(y.max()) + 1)] for a in found])
    return [(int(found[i]), int(j)) for i, j in zip(*linear_sum_assignment(-counts), strict=True) if counts[i, j]]


def digits(folder: Path | None, results: Path) -> Figure:
    """Draw the confusion matrices of MNIST, on raw pixels and on the embedding."""
    figure, ((left, right),) = panels(1, 2, 4.6)
    for ax, data, words in (
        (left, scaled("MNIST", folder), "raw pixels"),
        (right, load_embedded(folder), "UMAP embedding"),
    ):
        labels = KFuse(10).fit_predict(data.X)
        _confusion(ax, labels, data.y)
        ax.set_title(f"{words}: ARI {adjusted_rand_score(data.y, labels):.3f}", fontsize=10, color=INK)
    return figure


def _confusion(ax: Axes, labels: NDArray[np.intp], y: NDArray[np.intp]) -> None:
    """Draw digits x clusters in percent of the digit, each cluster in the column of the digit that it matches."""
    order = dict(_matches(labels, y))
    free = [digit for digit in range(10) if digit not in order.values()]
    column = np.array([order[c] if c in order else free.pop(0) for c in range(int(labels.max()) + 1)])
    counts = np.zeros((10, 10))
    np.add.at(counts, (y, column[labels]), 1)
    share = 100 * counts / counts.sum(axis=1, keepdims=True)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=100)
    for digit, cluster in np.ndindex(10, 10):
        if share[digit, cluster] >= 0.5:
            colour = "white" if share[digit, cluster] > 55 else INK
            ax.text(cluster, digit, f"{share[digit, cluster]:.0f}", ha="center", va="center", fontsize=8, color=colour)
    ax.set_xticks(range(10))
    ax.set_yticks(range(10))
    ax.set_xlabel("cluster, by the digit that it matches", fontsize=9)
    ax.set_ylabel("digit; percent of it in each cluster", fontsize=9)
    ax.tick_params(length=0)
    ax.spines[:].set_color(FAINT)


def faces(folder: Path | None, results: Path) -> Figure:
    """Draw the Olivetti faces, coloured where a face is in the cluster of its person, otherwise grey."""
    return _faces(folder, lambda data: _small(load(data.name, folder=folder).X / GREY_LEVELS))


def faces_without_photographs(folder: Path | None, results: Path) -> Figure:
    """Draw an oval for each face, because the photographs are not part of the project."""
    across = np.linspace(-1.2, 1.2, FACE_SHOWN)
    oval = np.where(across[:, None] ** 2 + (1.25 * across[None, :]) ** 2 <= 1, 0.85, 0.25)
    return _faces(folder, lambda data: np.broadcast_to(oval, (len(data.X), FACE_SHOWN, FACE_SHOWN)))


def _faces(folder: Path | None, pictures_of: Callable[[Dataset], NDArray[np.float64]]) -> Figure:
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import

    data = scaled("OlivettiFaces", folder)
    labels = KFuse(40).fit_predict(data.X)
    person = dict(_matches(labels, data.y))
    recognised = np.array([person.get(label) == y for label, y in zip(labels, data.y, strict=True)])
    colours = plt.get_cmap("hsv")(np.arange(40) * 7 % 40 / 40)[:, :3]
    pictures = pictures_of(data)[..., None] * np.ones(3)
    tint = np.where(recognised[:, None], colours[data.y], 1.0)[:, None, None, :]
    pictures = pictures * (0.35 + 0.65 * tint)
    order = np.argsort(data.y, kind="stable").reshape(-1, 10 * FACES_A_ROW)
    sheet = np.concatenate([np.concatenate(list(pictures[row]), axis=1) for row in order])
    figure, ax = plt.subplots(figsize=(8, 8.3), layout="constrained")
    ax.imshow(np.clip(sheet, 0, 1), interpolation="nearest")
    ax.axvline(10 * FACE_SHOWN - 0.5, color="white", linewidth=3)
    ax.set_axis_off()
    ax.set_title(_face_words(labels, data.y, recognised), fontsize=9, color=INK)
    return figure


def _small(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the faces upright, at half their size."""
    upright = X.reshape(-1, FACE_SIDE, FACE_SIDE).transpose(0, 2, 1)
    step = FACE_SIDE // FACE_SHOWN
    return upright.reshape(-1, FACE_SHOWN, step, FACE_SHOWN, step).mean(axis=(2, 4))


def _face_words(labels: NDArray[np.intp], y: NDArray[np.intp], recognised: NDArray[np.bool_]) -> str:
    per_person = np.bincount(y[recognised], minlength=40)
    perfect = sum(
        per_person[p] == 10 and np.sum(labels == labels[(y == p) & recognised][0]) == 10
        for p in np.flatnonzero(per_person)
    )
    return (
        f"{recognised.sum()} of 400 faces are in the cluster of their person. Of 40 persons, "
        f"{np.sum(per_person > 1)} have more than one there,\n{np.sum(per_person >= 5)} at least half, and {perfect} "
        "have all ten and no others. Ten faces a person, two persons a row."
    )


def nemenyi_printed(folder: Path | None, results: Path) -> Figure:
    """Draw the critical differences of the paper's table."""
    return _nemenyi("printed", results)


def nemenyi_own(folder: Path | None, results: Path) -> Figure:
    """Draw the critical differences of our results."""
    return _nemenyi("own", results)


def nemenyi_all(folder: Path | None, results: Path) -> Figure:
    """Draw the critical differences of our results, including methods that the paper does not run."""
    return _nemenyi("own, all methods", results)


def _nemenyi(which: str, results: Path) -> Figure:
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import

    tables = selections(results)[which]
    if not can_be_compared(tables["ARI"]):
        raise TooFewResultsError("results of all methods on two data sets or more")
    tall = 0.9 + 0.24 * math.ceil(len(next(iter(tables.values())).columns) / 2 + 2)
    figure, axes = plt.subplots(3, 1, figsize=(7.4, 3 * tall), layout="constrained")
    for ax, (metric, table) in zip(axes, tables.items(), strict=True):
        comparison = compare(table)
        draw(comparison, ax)
        ax.set_title(
            f"{metric}: average ranks over {comparison.n_datasets} data sets, critical difference "
            f"{comparison.critical_difference:.2f}, Friedman's p {comparison.p:.2g}",
            fontsize=9,
            color=INK,
        )
    return figure
