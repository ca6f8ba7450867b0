"""Labelled data sets, and scores of a FusionTree on them.

The data folder holds ``NAME.npz`` (``X`` and ``y``: the paper's sets) and ``battery/NAME.npz`` (``X`` and one or more
labellings, in which 0 is noise). Noise is excluded from the score, and the best labelling counts. Features are scaled
to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from kfuse.core.search import Nearest, NeighborTable, choose_search
from kfuse.tree import FusionTree

PAPER_15 = (
    "flame", "zelnik1", "pathbased", "spiral", "jain", "r15", "aggregation", "d31", "parkinsons", "ecoli", "libras",
    "breast_cancer", "yeast", "segmentation", "olivetti",
)  # fmt: skip
ALSO_IN_THE_PAPER = ("unbalance", "a3", "waveform", "mnist")
MOST_SAMPLES = 7500


class KeptTable(NeighborTable):
    """A neighbour table that searches once: it keeps the widest result, and the table of distinct samples."""

    _reordered: tuple[KeptTable, NDArray[np.intp]] | None = None
    _distinct: KeptTable | None = None

    def nearest(self, k: int) -> Nearest:
        """Return the k nearest neighbours of every sample, and keep them."""
        if self._kept is None or self._kept.indices.shape[1] < k:
            self._kept = super().nearest(k)
        return self._kept.up_to(k)

    def subset(self, kept: NDArray[np.intp]) -> KeptTable:
        """Return the table of the distinct samples, the only subset that a fit requests."""
        if self._distinct is None:
            self._distinct = KeptTable(super().subset(kept).search)
        return self._distinct

    def reordered(self) -> tuple[KeptTable, NDArray[np.intp]]:
        """Return the table in spatial order, and the order, the same at every call."""
        if self._reordered is None:
            table, order = super().reordered()
            self._reordered = KeptTable(table.search), order
        return self._reordered


class LabelledSet(NamedTuple):
    """A data set with its reference labellings, 0 for noise."""

    name: str
    neighbors: KeptTable
    labellings: list[NDArray[np.int64]]


class Score(NamedTuple):
    """The score of a tree on its best labelling."""

    ari: float  # with the true number of clusters
    ari_found: float  # with the number found, nan if there is none
    right: float  # 1 if the number found is the true one
    true: int  # the number of clusters of that labelling
    found: int
    weakest: NDArray[np.float64]  # the smallest strengths of merges


def load(folder: Path, share: float = 1.0, seed: int = 0) -> list[LabelledSet]:
    """Read all data sets of up to 7500 samples, and draw a random share of the samples of each."""
    sets = []
    for name, X, labellings in read(folder):
        kept = np.arange(len(X))
        if share < 1:
            kept = np.sort(np.random.default_rng(seed).permutation(len(X))[: round(share * len(X))])
        table = KeptTable(choose_search(minmax_scale(X[kept].astype(float)), "euclidean", "auto"))
        sets.append(LabelledSet(name, table, [y[kept] for y in labellings]))
    return sets


def read(folder: Path) -> Iterator[tuple[str, NDArray[np.float64], list[NDArray[np.int64]]]]:
    """Yield name, data (not scaled) and labellings of all data sets of up to 7500 samples."""
    for name, X, labellings in _read_all(folder):
        if len(X) <= MOST_SAMPLES:
            yield name, X, labellings


def _read_all(folder: Path) -> Iterator[tuple[str, NDArray[np.float64], list[NDArray[np.int64]]]]:
    for name in PAPER_15 + ALSO_IN_THE_PAPER:
        with np.load(folder / f"{name}.npz") as file:
            yield name, file["X"], [file["y"].astype(int) + 1]
    for path in sorted((folder / "battery").glob("*.npz")):
        with np.load(path) as file:
            yield path.stem, file["X"], [file[key] for key in file.files if key != "X"]


def score(tree: FusionTree, labellings: list[NDArray[np.int64]]) -> Score:
    """Score a tree; the best labelling is chosen once for the true number and once for the number found."""
    ari, _ = best(labellings, tree.cut)
    if tree.strength is None:
        return Score(ari, np.nan, np.nan, 0, 0, np.empty(0))
    found = tree.cut(tree.suggest(1)[0].n_clusters)
    ari_found, true = best(labellings, lambda _: found)
    n_found = int(found.max()) + 1
    return Score(ari, ari_found, float(n_found == true), true, n_found, np.sort(tree.strength)[:6])


def best(labellings: list[NDArray[np.int64]], labels_for: Callable[[int], NDArray[np.intp]]) -> tuple[float, int]:
    """Return the largest ARI over the labellings, and the number of clusters of that labelling; the first on ties.

    `labels_for` returns the clusters to score, given the number of clusters of a labelling.
    """
    scores = []
    for y in labellings:
        n_true = len(np.unique(y[y > 0]))
        scores.append((adjusted_rand_score(y[y > 0], labels_for(n_true)[y > 0]), n_true))
    return max(scores, key=lambda s: s[0])


def set_rows(scores: list[Score], sets: list[LabelledSet]) -> list[str]:
    """Format one row per data set, with the share of neighbours of the same label and the smallest strengths."""
    lines = [
        "| data set | samples | agreement | ARI | ARI, estimated number | true | found | weakest merges |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for labelled, s in zip(sets, scores, strict=True):
        size, alike = labelled.neighbors.n_samples, neighbors_alike(labelled)
        ari, weakest = f"{s.ari:.3f} | {s.ari_found:.3f}", " ".join(f"{f:.2f}" for f in s.weakest)
        lines.append(f"| {labelled.name} | {size} | {alike:.2f} | {ari} | {s.true} | {s.found} | {weakest} |")
    return lines


def neighbors_alike(labelled: LabelledSet) -> float:
    """Return how often a sample and one of its ten nearest neighbours share a label, in the first labelling."""
    y = labelled.labellings[0]
    alike = y[labelled.neighbors.collect(10).indices] == y[:, None]
    return float(alike[y > 0].mean())
