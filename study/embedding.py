"""MNIST in two dimensions by UMAP, in place of the embedding that the paper must have used but does not name.

The settings are those that UMAP's documentation recommends for clustering, with MNIST as its example: 30 neighbours,
`min_dist` 0, two dimensions, and seed 42. Needs ``pip install -e '.[embedding]'``.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.preprocessing import minmax_scale

from kfuse import datasets

EMBEDDED = "MNIST (UMAP)"
SETTINGS = {"n_neighbors": 30, "min_dist": 0.0, "n_components": 2, "random_state": 42, "n_jobs": 1}


def load_embedded(folder: Path | None = None) -> datasets.Dataset:
    """Load the embedding from the cache; compute it if it is not there."""
    kept = datasets.cache_folder() / "mnist_umap.npz"
    if not kept.is_file():
        _compute(folder, kept)
    with np.load(kept) as stored:
        return datasets.Dataset(minmax_scale(stored["X"].astype(float)), stored["y"], EMBEDDED, str(stored["origin"]))


def _compute(folder: Path | None, kept: Path) -> None:
    import umap  # noqa: PLC0415 - optional, and slow to import

    digits = datasets.load("MNIST", folder=folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat = umap.UMAP(**SETTINGS).fit_transform(digits.X / 255)
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part.npz")
    words = ", ".join(f"{name}={value}" for name, value in SETTINGS.items())
    np.savez_compressed(part, X=flat, y=digits.y, origin=f"umap-learn {umap.__version__}, {words}")
    part.replace(kept)


if __name__ == "__main__":
    print(load_embedded().origin)
