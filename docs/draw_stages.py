"""Draw the images of how_it_works.md: `python docs/draw_stages.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kfuse import KFuse, plots
from kfuse.datasets import make_shapes
from kfuse.drawing.palette import GREY, INK, PALETTE
from kfuse.plots.style import tidy

FOLDER = Path(__file__).parent / "images" / "stages"


def main() -> None:
    """Draw every stage of one fit."""
    mpl.use("agg")
    FOLDER.mkdir(exist_ok=True)
    X, _ = make_shapes(600)
    model = KFuse().fit(X)
    pictures = {
        "neighbours": draw_neighbours,
        "density": draw_density,
        "subclusters": draw_subclusters,
        "boundary": draw_boundary,
        "merges": draw_merges,
        "number": draw_number,
    }
    for name, draw in pictures.items():
        figure = draw(model, X)
        figure.savefig(FOLDER / f"{name}.png", dpi=140, metadata={"Software": None})
        plt.close(figure)


def draw_neighbours(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw the natural-neighbour search: samples without reverse neighbours by round, and the links at the end."""
    figure, (left, right) = two_panels()
    nearest = NearestNeighbors(n_neighbors=25).fit(X).kneighbors(return_distance=False)
    unreached = [len(X) - np.unique(nearest[:, :round_]).size for round_ in range(26)]
    left.plot(range(26), unreached, "o-", color=PALETTE[0], markersize=4)
    left.axvline(model.natural_value_, color=PALETTE[3], linestyle="--", linewidth=1)
    end = f"no change after λ = {model.natural_value_}"
    left.text(model.natural_value_ + 0.4, max(unreached) / 2, end, color=PALETTE[3])
    left.set_yscale("symlog", linthresh=1)
    left.set_ylim(-0.2)
    tidy(left, "round", "samples that are no neighbour of any other")
    nearest_lambda = nearest[:, : model.natural_value_]
    pairs = np.column_stack([np.repeat(np.arange(len(X)), nearest_lambda.shape[1]), nearest_lambda.ravel()])
    right.add_collection(LineCollection(list(X[pairs]), colors=GREY, linewidths=0.3, alpha=0.5))
    right.scatter(*X.T, s=6, c=INK, linewidths=0)
    tidy(right)
    return framed(figure, right)


def draw_density(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw the density, and the representative that each sample climbs to."""
    figure, (left, right) = two_panels()
    plots.density(model, X, ax=left)
    plots.subclusters(model, X, ax=right)
    low, high = X[model.labels_ == 0].min(axis=0), X[model.labels_ == 0].max(axis=0)
    right.set(xlim=(low[0] - 0.1, high[0] + 0.1), ylim=(low[1] - 0.1, high[1] + 0.1))
    return framed(figure, left, right)


def draw_subclusters(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw all sub-clusters."""
    figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    plots.subclusters(model, X, ax=ax)
    return framed(figure, ax)


def draw_boundary(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw two sub-clusters that touch, and two that do not."""
    figure, (left, right) = two_panels()
    plots.adjacent(model, ax=left)
    plots.adjacent(model, across_a_border(model, X), ax=right)
    left.set_title("two that touch", fontsize=11)
    right.set_title("the closest two across a border", fontsize=11)
    return framed(figure, left, right)


def across_a_border(model: KFuse, X: NDArray[np.float64]) -> tuple[int, int]:
    """Return the sub-clusters of the two closest samples from different clusters."""
    distances, nearest = NearestNeighbors(n_neighbors=50).fit(X).kneighbors()
    other = model.labels_[nearest] != model.labels_[:, None]
    here, rank = np.unravel_index(np.where(other, distances, np.inf).argmin(), distances.shape)
    return model.subcluster_labels_[here], model.subcluster_labels_[nearest[here, rank]]


def draw_merges(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw three moments of the merging."""
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3), layout="constrained")
    for ax, n_clusters in zip(axes, (40, 14, model.n_clusters_), strict=True):
        plots.scatter(X, model.cut(n_clusters), ax=ax)
        ax.set_title(f"{n_clusters} left", fontsize=11)
    return framed(figure, *axes)


def draw_number(model: KFuse, X: NDArray[np.float64]) -> Figure:
    """Draw the tree with its cut, and the strengths of the merges."""
    figure, (left, right) = two_panels()
    plots.dendrogram(model, ax=left, most_leaves=20)
    plots.fusion_curve(model, ax=right)
    return figure


def two_panels() -> tuple[Figure, NDArray[np.object_]]:
    """Make a figure with two panels."""
    return plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")


def framed(figure: Figure, *axes: Axes) -> Figure:
    """Use the same scale on both axes, without ticks."""
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_aspect("equal", adjustable="box")
    return figure


if __name__ == "__main__":
    main()
