"""Outlier scores: how well they rank known outliers, beside other methods."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from kfuse import KFuse
from study.memberships.noise import FAMILIES, with_noise

THINNED = 0.02  # share of the class that is thinned out, in the result
DIGITS = (0, 1, 4, 6)


def thinned(X: NDArray[np.float64], is_out: NDArray[np.bool_], seed: int) -> tuple[NDArray[np.float64], int]:
    """Keep only a few samples of one class, at the end; return how many."""
    rng = np.random.default_rng(seed)
    count = round(THINNED / (1 - THINNED) * (~is_out).sum())
    return np.vstack([X[~is_out], X[rng.choice(np.flatnonzero(is_out), count, replace=False)]]), count


def data_sets(seed: int) -> Iterator[tuple[str, NDArray[np.float64], int]]:
    """Yield the name of each data set, its samples, and how many at the end are outliers."""
    for name, draw in FAMILIES.items():
        rng = np.random.default_rng(seed)
        X = draw(rng)
        noisy = with_noise(X, 0.05, rng)
        yield f"{name}, 5 % noise", noisy, len(noisy) - len(X)
    digits = load_digits()
    for digit in DIGITS:
        yield f"digits, few of {digit}", *thinned(digits.data, digits.target == digit, seed)
    cancer = load_breast_cancer()
    scaled = StandardScaler().fit_transform(cancer.data)
    yield "breast cancer, few malignant", *thinned(scaled, cancer.target == 0, seed)


def of_kfuse(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of KFuse."""
    return KFuse().fit(X).outlier_scores_


def of_lof(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the local outlier factor."""
    return -LocalOutlierFactor(20).fit(X).negative_outlier_factor_


def of_forest(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of an isolation forest."""
    return -IsolationForest(random_state=0).fit(X).score_samples(X)


def of_glosh(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of HDBSCAN, GLOSH."""
    import hdbscan  # noqa: PLC0415 - an optional dependency

    return np.nan_to_num(hdbscan.HDBSCAN(min_cluster_size=15).fit(X).outlier_scores_)


METHODS = {"KFuse": of_kfuse, "LOF": of_lof, "Isolation Forest": of_forest, "GLOSH": of_glosh}


def table(n_seeds: int) -> str:
    """Write the table: the area under the ROC curve, by data set and method."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(n_seeds):
        for name, X, count in data_sets(seed):
            is_out = np.arange(len(X)) >= len(X) - count
            found.setdefault(name, []).append([roc_auc_score(is_out, method(X)) for method in METHODS.values()])
    lines = [f"| data | {' | '.join(METHODS)} |", f"|{'---|' * (1 + len(METHODS))}"]
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    for name, values in {**means, "mean": np.mean(list(means.values()), axis=0)}.items():
        lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |")
    print("\n".join(lines), flush=True)
    return "\n".join(lines)
