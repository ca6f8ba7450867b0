"""Noise: uniform noise around Gaussians and shapes, and how much of it is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from kfuse import KFuse
from kfuse.datasets import make_shapes

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
N_SAMPLES = 2000


def gaussians(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw five Gaussians, eight standard deviations apart on the sides and six across."""
    centres = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [4, 4]])
    return centres[rng.integers(0, 5, N_SAMPLES)] + rng.normal(size=(N_SAMPLES, 2))


def different_densities(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw four Gaussians whose densities differ by up to 16 times."""
    number = rng.integers(0, 4, N_SAMPLES)
    centres, spread = np.array([[0, 0], [12, 0], [0, 12], [12, 12]]), np.array([0.5, 1.0, 2.0, 1.0])
    return centres[number] + spread[number][:, None] * rng.normal(size=(N_SAMPLES, 2))


def touching(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw two Gaussians, four standard deviations apart."""
    return np.array([[0, 0], [4, 0]])[rng.integers(0, 2, N_SAMPLES)] + rng.normal(size=(N_SAMPLES, 2))


def moons(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw two moons."""
    return make_moons(N_SAMPLES, noise=0.05, random_state=int(rng.integers(2**31)))[0]


def shapes(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the seven shapes of the gallery."""
    return make_shapes(N_SAMPLES, random_state=int(rng.integers(2**31)))[0]


def five_dimensions(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw five Gaussians in five dimensions."""
    return 8 * rng.normal(size=(5, 5))[rng.integers(0, 5, N_SAMPLES)] + rng.normal(size=(N_SAMPLES, 5))


FAMILIES: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "five Gaussians": gaussians,
    "different densities": different_densities,
    "touching Gaussians": touching,
    "moons": moons,
    "shapes": shapes,
    "five dimensions": five_dimensions,
}

TAILED = ((1, 2, 3), (5, 2, 3), (5, 5, 3), (5, 2, 5), (5, 2, 10))  # clusters, dimensions, degrees of freedom


def heavy_tails(n_clusters: int, n_features: int, degrees: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw clusters of the multivariate t distribution, twice as far apart as ``gaussians``."""
    corners = np.array([[4, 4], [0, 0], [8, 0], [0, 8], [8, 8]])
    centres = 2 * corners if n_features == 2 else 16 * rng.normal(size=(5, n_features))
    scale = np.sqrt(degrees / rng.chisquare(degrees, N_SAMPLES))
    drawn = rng.normal(size=(N_SAMPLES, n_features)) * scale[:, None]
    return centres[rng.integers(0, n_clusters, N_SAMPLES)] + drawn


def with_noise(X: NDArray[np.float64], share: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Append noise, uniform in a box that is a fifth wider than the data."""
    low, high = X.min(axis=0), X.max(axis=0)
    count = round(share / (1 - share) * len(X))
    margin = 0.1 * (high - low)
    return np.vstack([X, rng.uniform(low - margin, high + margin, (count, X.shape[1]))])


def of_kfuse(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return what is noise to KFuse."""
    return KFuse(outliers="label").fit(X).labels_ == -1


def of_hdbscan(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return what is noise to HDBSCAN with a common choice of its parameter."""
    from sklearn.cluster import HDBSCAN  # noqa: PLC0415 - slow to import

    return HDBSCAN(min_cluster_size=15, copy=True).fit(X).labels_ == -1


def measure(family: str, share: float, n_seeds: int) -> dict[str, tuple[float, float, float]]:
    """Return precision, recall and the share that is labelled noise, averaged, for both methods."""
    found: dict[str, list[tuple[float, float, float]]] = {"KFuse": [], "HDBSCAN": []}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = with_noise(FAMILIES[family](rng), share, rng)
        is_noise = np.arange(len(X)) >= N_SAMPLES
        for name, method in (("KFuse", of_kfuse), ("HDBSCAN", of_hdbscan)):
            marked = method(X)
            precision = is_noise[marked].mean() if marked.any() else np.nan
            recall = marked[is_noise].mean() if is_noise.any() else np.nan
            found[name].append((float(precision), float(recall), float(marked.mean())))
    return {name: _means(values) for name, values in found.items()}


def _means(values: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Average what is known."""
    columns = ([value for value in column if not np.isnan(value)] for column in zip(*values, strict=True))
    precision, recall, marked = (float(np.mean(column)) if column else float("nan") for column in columns)
    return precision, recall, marked


def table(n_seeds: int) -> str:
    """Write the table: precision and recall, or the share marked where there is no noise."""
    shares = [f"{share:.0%}" for share in SHARES]
    lines = [f"| data | method | {' | '.join(shares)} |", f"|{'---|' * (2 + len(shares))}"]
    for family in FAMILIES:
        found = [measure(family, share, n_seeds) for share in SHARES]
        for method in ("KFuse", "HDBSCAN"):
            cells = [f"{found[0][method][2]:.1%} marked"]
            cells += [f"{_shown(one[method][0])} / {one[method][1]:.2f}" for one in found[1:]]
            lines.append(f"| {family} | {method} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def _shown(precision: float) -> str:
    return "-" if np.isnan(precision) else f"{precision:.2f}"


def tails_table(n_seeds: int) -> str:
    """Write the table of data without noise whose clusters have heavy tails: the share marked, mean and range."""
    lines = ["| clusters | features | degrees of freedom | KFuse | HDBSCAN |", "|---|---|---|---|---|"]
    for family in TAILED:
        drawn = [heavy_tails(*family, np.random.default_rng(seed)) for seed in range(n_seeds)]
        cells = [_share([method(X).mean() for X in drawn]) for method in (of_kfuse, of_hdbscan)]
        lines.append(f"| {' | '.join([*map(str, family), *cells])} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def _share(marked: list[float]) -> str:
    return f"{np.mean(marked):.1%} ({min(marked):.1%} to {max(marked):.1%})"
