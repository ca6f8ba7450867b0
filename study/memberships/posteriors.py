"""Memberships of two overlapping Gaussians, compared with their posteriors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from kfuse import KFuse

# samples, dimensions, distance of the means in standard deviations, standard deviation of the second, its share
SETTINGS = (
    (1000, 2, 4.0, 1.0, 0.5),
    (10_000, 2, 4.0, 1.0, 0.5),
    (10_000, 2, 3.0, 1.0, 0.5),
    (10_000, 2, 5.0, 1.5, 0.7),
    (3000, 5, 4.0, 1.0, 0.5),
    (10_000, 5, 4.0, 1.0, 0.5),
    (3000, 10, 4.0, 1.0, 0.5),
    (3000, 10, 5.0, 1.0, 0.5),
)


class Mixture(NamedTuple):
    """Samples of two Gaussians, which one each is from, and the posterior of the second."""

    X: NDArray[np.float64]
    is_second: NDArray[np.bool_]
    posterior: NDArray[np.float64]


class Measured(NamedTuple):
    """How good the memberships of a method are, and the memberships themselves."""

    brier: float
    error: float  # root mean square, against the posterior
    memberships: NDArray[np.float64]


def mixture(n_samples: int, n_features: int, distance: float, spread: float, share: float, seed: int) -> Mixture:
    """Draw samples of two Gaussians."""
    rng = np.random.default_rng(seed)
    is_second = rng.random(n_samples) < share
    X = rng.normal(size=(n_samples, n_features)) * np.where(is_second, spread, 1.0)[:, None]
    X[:, 0] += distance * is_second
    second = X.copy()
    second[:, 0] -= distance
    odds = np.log(share / (1 - share)) - n_features * np.log(spread)
    odds = odds + (X * X).sum(axis=1) / 2 - (second * second).sum(axis=1) / 2 / spread**2
    return Mixture(X, is_second, 1 / (1 + np.exp(-odds)))


def of_kfuse(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the memberships of a fit with two clusters."""
    return KFuse(2).fit(X).memberships_


def of_labels(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the labels of the same fit, as if they were certain."""
    return np.eye(2)[KFuse(2).fit(X).labels_]


def of_hdbscan(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return HDBSCAN's membership vectors; clusters have at least 5 % of the samples, so that it finds two."""
    import hdbscan  # noqa: PLC0415 - an optional dependency

    model = hdbscan.HDBSCAN(min_cluster_size=len(X) // 20, min_samples=15, prediction_data=True).fit(X)
    return np.atleast_2d(hdbscan.all_points_membership_vectors(model).T).T


def of_mixture(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the posteriors of a fitted mixture of two Gaussians, which is the true model here."""
    return GaussianMixture(2, random_state=0).fit(X).predict_proba(X)


METHODS = {
    "KFuse": of_kfuse,
    "KFuse, labels only": of_labels,
    "HDBSCAN": of_hdbscan,
    "Gaussian mixture": of_mixture,
}


def measure(method: str, data: Mixture) -> Measured:
    """Run a method; each of its clusters stands for the Gaussian that most of its members are from."""
    shares = METHODS[method](data.X)
    total = shares.sum(axis=1)
    of_second = (shares * data.is_second[:, None]).sum(axis=0) / np.maximum(shares.sum(axis=0), 1e-300)
    second = np.where(total > 0, shares[:, of_second > 0.5].sum(axis=1) / np.maximum(total, 1e-300), 0.5)
    brier = float(np.mean((second - data.is_second) ** 2))
    return Measured(brier, float(np.sqrt(np.mean((second - data.posterior) ** 2))), second)


def table(n_seeds: int) -> str:
    """Write the table: the Brier score and the error against the posterior, by setting and method."""
    lines = [
        f"| samples | features | distance | spread | best possible | {' | '.join(METHODS)} |",
        f"|{'---|' * (5 + len(METHODS))}",
    ]
    for setting in SETTINGS:
        drawn = [mixture(*setting, seed) for seed in range(n_seeds)]
        best = np.mean([np.mean((one.posterior - one.is_second) ** 2) for one in drawn])
        cells = []
        for method in METHODS:
            found = [measure(method, one) for one in drawn]
            cells.append(f"{np.mean([m.brier for m in found]):.3f} ({np.mean([m.error for m in found]):.2f})")
        n_samples, n_features, distance, spread, _ = setting
        lines.append(f"| {n_samples:,} | {n_features} | {distance:g} | {spread:g} | {best:.3f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)
