"""How often a far-away cluster leaves the others as they are: `python -m reliability.far`.

A new cluster can change the natural value and the number of neighbours, which are taken from all samples. Then all
samples are seen at another scale, and the others may be cut elsewhere. Where both stay, the others fuse as before
(`tests/test_properties.py`), but what was asked for as k + 1 may split the new cluster instead of an old one.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from kfuse import KFuse


def main() -> None:
    """Count over random data: three groups, and a fourth far away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = Counter[str]()
    for number in range(options.cases):
        counts.update(compare(np.random.default_rng([options.seed, number])))
    print(f"{options.cases} cases, seed {options.seed}")
    for name in ("number given", "number found"):
        print(f"{name}: the others stay in {counts[name] / options.cases:.1%}")
    print(f"natural value and neighbours stay in {counts['scale'] / options.cases:.1%};", end=" ")
    print(f"then, with the number given, the others stay in {counts['both'] / max(1, counts['scale']):.1%}")


def compare(rng: np.random.Generator) -> list[str]:
    """Fit data with and without a far-away cluster; say what stayed."""
    n_samples, n_features, n_far = (int(rng.integers(*limits)) for limits in ((60, 400), (1, 6), (30, 150)))
    groups = rng.integers(0, 3, (n_samples, 1)) * 8
    X = rng.standard_normal((n_samples, n_features)) + groups
    both = np.vstack([X, rng.standard_normal((n_far, n_features)) + 1e6])
    n_groups = len(np.unique(groups))
    alone, given = KFuse(n_groups).fit(X), KFuse(n_groups + 1).fit(both)
    stayed = []
    if is_same(alone.labels_, given.labels_[:n_samples]):
        stayed.append("number given")
    if is_same(KFuse().fit_predict(X), KFuse().fit_predict(both)[:n_samples]):
        stayed.append("number found")
    if (alone.natural_value_, alone.n_neighbors_) == (given.natural_value_, given.n_neighbors_):
        stayed.append("scale")
    return [*stayed, "both"] if {"scale", "number given"} <= set(stayed) else stayed


def is_same(labels: np.ndarray, others: np.ndarray) -> bool:
    """Whether the clusters are the same, whatever their numbers."""
    pairs = len(np.unique(np.column_stack([labels, others]), axis=0))
    return pairs == len(np.unique(labels)) == len(np.unique(others))


if __name__ == "__main__":
    main()
