"""Measure how often a distant cluster leaves the other clusters unchanged: `python -m tests.hostile.far`.

A new cluster can change the natural value and the number of neighbours, which depend on all samples. Everything is
then analysed at another scale, and the other clusters may be cut elsewhere. Where neither changes, the others merge
as before (see the properties in `tests/`), but k + 1 clusters may split the new cluster instead of an old one.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from kfuse import KFuse


def main() -> None:
    """Count over random data sets: three groups, and a distant fourth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = Counter[str]()
    for number in range(options.cases):
        counts.update(compare(np.random.default_rng([options.seed, number])))
    print(f"{options.cases} cases, seed {options.seed}")
    for name in ("number given", "number found"):
        print(f"{name}: the other clusters are unchanged in {counts[name] / options.cases:.1%}")
    print(f"natural value and number of neighbours are unchanged in {counts['scale'] / options.cases:.1%};", end=" ")
    share = counts["both"] / max(1, counts["scale"])
    print(f"of these, with the number given, the other clusters are unchanged in {share:.1%}")


def compare(rng: np.random.Generator) -> list[str]:
    """Fit data with and without a distant cluster; return what stayed the same."""
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
    """Return whether two labellings are equal up to the numbering of clusters."""
    pairs = len(np.unique(np.column_stack([labels, others]), axis=0))
    return pairs == len(np.unique(labels)) == len(np.unique(others))


if __name__ == "__main__":
    main()
