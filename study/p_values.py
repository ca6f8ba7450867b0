"""Check the p-values of borders: how often data without clusters has small ones, and how they fall with more samples.

    python -m study.p_values                  # the figures of docs/adaptive.md
    python -m study.p_values --seeds 8        # more data sets

The highest merge of data without clusters has a p-value of at most a level in at most that share of data sets, if the
p-values are right. Two Gaussians have a true border, whose p-value should fall.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kfuse import KFuse
from study.structureless import FAMILIES

LEVELS = (0.01, 0.05, 0.25)
SAMPLES = (300, 1000)
SAMPLES_OF_TWO = (300, 1000, 3000, 10000)
FIRST_SEED = 1000  # other data sets than those that the constants were chosen by
APART = 4.0  # standard deviations


def highest_merges(n_seeds: int) -> Iterator[float]:
    """Yield the p-value of the highest merge of each data set without clusters."""
    for kind, family in FAMILIES.items():
        for n_features in family.dimensions:
            for n in SAMPLES:
                for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
                    rng = np.random.default_rng((zlib.crc32(kind.encode()), n_features, n, seed))
                    yield border(family.draw(rng, n, n_features))


def border(X: NDArray[np.float64]) -> float:
    """Return the p-value of the highest merge; without any merge there is no border."""
    p_value = KFuse(2, n_jobs=1).fit(X).tree_.p_value
    return float(p_value[-1]) if p_value is not None and p_value.size else 1.0


def two_gaussians(n: int, seed: int) -> NDArray[np.float64]:
    """Draw two Gaussians of equal size in two dimensions."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    X[n // 2 :, 0] += APART
    return X


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    n_seeds = parser.parse_args().seeds
    found = np.array(list(highest_merges(n_seeds)))
    print(f"{found.size} data sets without clusters, of {' and '.join(f'{n:,}' for n in SAMPLES)} samples\n")
    print("| p-value of at most | share of data sets |\n| --- | --- |")
    for level in LEVELS:
        print(f"| {level} | {np.mean(found <= level):.3f} |")
    print(f"\nTwo Gaussians, {APART:g} standard deviations apart\n")
    print("| samples | median p-value | largest |\n| --- | --- | --- |")
    for n in SAMPLES_OF_TWO:
        p_values = [border(two_gaussians(n, seed)) for seed in range(2 * n_seeds)]
        print(f"| {n:,} | {np.median(p_values):.0e} | {np.max(p_values):.0e} |")


if __name__ == "__main__":
    main()
