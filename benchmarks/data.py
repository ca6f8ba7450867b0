"""The benchmark's data: Gaussians with noise, and MNIST.

``python -m benchmarks.data 2-D 100000 FOLDER`` writes one data set, in a separate process so that generating the data
does not count towards the memory of a fit.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

N_GAUSSIANS = 50
NOISE_SHARE = 0.05
NOISE = -1
SPREAD = 0.15  # standard deviation, relative to the side of a cube of 1 / N_GAUSSIANS of the volume
LEAST_SEPARATION = 5.0  # of two centres, in standard deviations
SEED = 0

MNIST = "MNIST"
MNIST_FILE = "mnist70k.npz"
DIMENSIONS = {"2-D": 2, "8-D": 8, "50-D": 50}

# DBSCAN's eps: this quantile of the distances to the 10th neighbour.
EPS_NEIGHBOR = 10
EPS_QUANTILE = 0.9


class Facts(NamedTuple):
    """What a method may know about a data set."""

    n_samples: int
    n_clusters: int
    eps: float


class MissingDataError(Exception):
    """A data set is not available; the message says why."""


def gaussians(n_samples: int, n_features: int, seed: int = SEED) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw 50 Gaussians in the unit cube and 5 % uniform noise around them, labelled -1, in random order."""
    rng = np.random.default_rng(seed)
    spread = SPREAD * N_GAUSSIANS ** (-1 / n_features)
    centres = _centres(rng, n_features, LEAST_SEPARATION * spread)
    y = rng.integers(N_GAUSSIANS, size=n_samples)
    y[rng.random(n_samples) < NOISE_SHARE] = NOISE
    X = rng.standard_normal((n_samples, n_features))
    X *= spread
    X += centres[y]
    noise = y == NOISE
    margin = 3 * spread
    X[noise] = rng.uniform(-margin, 1 + margin, size=(noise.sum(), n_features))
    return X, y


def _centres(rng: np.random.Generator, n_features: int, least_distance: float) -> NDArray[np.float64]:
    """Draw centres in the unit cube, each far enough from those before it."""
    centres: list[NDArray[np.float64]] = []
    while len(centres) < N_GAUSSIANS:
        centre = rng.random(n_features)
        if all(np.linalg.norm(centre - other) >= least_distance for other in centres):
            centres.append(centre)
    return np.array(centres)


def mnist() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Read the 70,000 digits, scaled to [0, 1], from the folder set in KFUSE_DATA."""
    folder = os.environ.get("KFUSE_DATA")
    if not folder or not (Path(folder) / MNIST_FILE).exists():
        raise MissingDataError(
            f"MNIST is skipped: set KFUSE_DATA to a folder with {MNIST_FILE} (arrays X of 70,000 x 784, and y)."
        )
    with np.load(Path(folder) / MNIST_FILE) as file:
        return file["X"].astype(np.float32) / np.float32(255), file["y"].astype(np.int64)


def principal(X: NDArray[Any], n_components: int) -> NDArray[np.float32]:
    """Return the first principal components of data."""
    centred = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(centred @ directions[:, : -n_components - 1 : -1], dtype=np.float32)


def facts(X: NDArray[Any], y: NDArray[Any]) -> Facts:
    """Return the true number of clusters and, for DBSCAN, a radius estimated from 1,000 samples."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    some = np.random.default_rng(SEED).choice(len(X), size=min(len(X), 1000), replace=False)
    distances, _ = NearestNeighbors(n_neighbors=EPS_NEIGHBOR + 1, n_jobs=-1).fit(X).kneighbors(X[some])
    eps = float(np.quantile(distances[:, -1], EPS_QUANTILE))
    return Facts(len(X), len(np.unique(y[y != NOISE])), eps)


def write(family: str, n_samples: int, folder: Path) -> None:
    """Write X, y and the facts of a data set to a folder."""
    X, y = mnist() if family == MNIST else gaussians(n_samples, DIMENSIONS[family])
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    (folder / "facts.json").write_text(json.dumps(facts(X, y)._asdict()))


def read(folder: Path) -> tuple[NDArray[Any], NDArray[Any], Facts]:
    """Read a data set written by `write`."""
    known = Facts(**json.loads((folder / "facts.json").read_text()))
    return np.load(folder / "X.npy"), np.load(folder / "y.npy"), known


if __name__ == "__main__":
    try:
        write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
    except MissingDataError as error:
        sys.exit(str(error))
