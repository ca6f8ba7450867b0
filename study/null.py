"""Measure how often the number of clusters is right where it is certain: noise, separated Gaussians, thin shapes.

Run ``python -m study.null --out null.md``, or one table on small samples with a changed constant of n_clusters.py:
``python -m study.null --set STEP_IN_ONE_DIMENSION=1 --tables null --samples 200``.

``--methods 'kFuse (auto)' PLSCAN HDBSCAN`` runs other methods of `study.peers` on the same data (after ``pip install -e
'.[peers]'``); each cell then has one share for each of them, in that order.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons

from kfuse.core.adaptive import n_clusters as number_rules
from study.peers import PEERS, cluster
from study.structureless import FAMILIES, ring

DIMENSIONS = (2, 3, 5, 10, 20)
SAMPLES = (200, 1000, 5000)
LARGE = 5000  # samples, from which on --seeds-large applies
PER_GAUSSIAN = 100
SEPARATION = 8.0  # the least distance of two centres, in standard deviations
NUMBERS = ((2, 5), (6, 10), (11, 15))
TABLES = ("null", "separated", "thin")
FIND_THE_NUMBER = [name for name, method in PEERS.items() if not method.needs_number]
THIN_SAMPLES = (300, 1000, 3000, 10000)

NULLS = {"uniform": FAMILIES["uniform"], "one Gaussian": FAMILIES["normal"]}


def spirals(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Draw three spiral arms with Gaussian noise."""
    arm, along = rng.integers(0, 3, n), rng.uniform(1, 3 * np.pi, n)
    angle = along + arm * 2 * np.pi / 3
    points = np.column_stack([along * np.cos(angle), along * np.sin(angle)])
    return points + rng.normal(scale=0.15, size=(n, 2))


def seed_of(rng: np.random.Generator) -> int:
    """Draw a seed for scikit-learn's generators."""
    return int(rng.integers(2**31))


THIN: dict[str, tuple[int, Callable[[np.random.Generator, int], NDArray[np.float64]]]] = {
    "two moons, noise 0.03": (2, lambda rng, n: make_moons(n, noise=0.03, random_state=seed_of(rng))[0]),
    "two moons, noise 0.06": (2, lambda rng, n: make_moons(n, noise=0.06, random_state=seed_of(rng))[0]),
    "two circles, noise 0.03": (
        2,
        lambda rng, n: make_circles(n, noise=0.03, factor=0.5, random_state=seed_of(rng))[0],
    ),
    "three spirals": (3, spirals),
    "two normal columns, 8 apart": (2, lambda rng, n: rng.standard_normal((n, 1)) + 8 * rng.integers(0, 2, (n, 1))),
    "one ring, noise 0.1": (1, lambda rng, n: ring(rng, n, 0.1)),
    "one ring, noise 0.03": (1, lambda rng, n: ring(rng, n, 0.03)),
    "one Gaussian, 5 : 1": (1, lambda rng, n: rng.standard_normal((n, 2)) * [5, 1]),
    "one Gaussian, 30 : 1": (1, lambda rng, n: rng.standard_normal((n, 2)) * [30, 1]),
    "one uniform strip, 10 : 1": (1, lambda rng, n: rng.random((n, 2)) * [10, 1]),
    "one normal column": (1, lambda rng, n: rng.standard_normal((n, 1))),
    "one uniform column": (1, lambda rng, n: rng.random((n, 1))),
}


def number_found(method: str, X: NDArray[np.float64]) -> int:
    """Return the number of clusters that a method finds; all noise is one cluster."""
    labels = cluster(PEERS[method], X, 0)
    return max(1, len(np.unique(labels[labels >= 0])))


def shares_of_right(methods: list[str], sets: Iterable[tuple[NDArray[np.float64], int]]) -> str:
    """Return the share of data sets on which each method finds the right number."""
    right = [[number_found(method, X) == number for method in methods] for X, number in sets]
    return " / ".join(f"{share:.2f}" for share in np.mean(right, axis=0))


def separated_gaussians(rng: np.random.Generator, number: int, dimension: int) -> NDArray[np.float64]:
    """Draw unit Gaussians of equal size around well separated centres in a cube."""
    side = 2 * SEPARATION * number ** (1 / dimension)
    centres: list[NDArray[np.float64]] = []
    while len(centres) < number:
        centre = rng.random(dimension) * side
        if all(np.linalg.norm(centre - other) >= SEPARATION for other in centres):
            centres.append(centre)
    return np.repeat(centres, PER_GAUSSIAN, axis=0) + rng.standard_normal((number * PER_GAUSSIAN, dimension))


def null_table(methods: list[str], seeds: dict[int, int]) -> list[str]:
    """Build the table of structureless data; `seeds` maps numbers of samples to numbers of seeds."""
    lines = [
        "Share of fits that find 1 cluster in data without structure:",
        "",
        "| data | dimensions | " + " | ".join(f"n = {n} ({seeds[n]} seeds)" for n in seeds) + " |",
        "|---|---|" + "---|" * len(seeds),
    ]
    for kind, family in NULLS.items():
        for dimension in DIMENSIONS:
            shares = [
                shares_of_right(
                    methods, ((family.draw(np.random.default_rng(s), n, dimension), 1) for s in range(seeds[n]))
                )
                for n in seeds
            ]
            lines.append(f"| {kind} | {dimension} | " + " | ".join(shares) + " |")
            print(lines[-1], flush=True)
    return lines


def separated_table(methods: list[str], n_seeds: int) -> list[str]:
    """Build the table of separated Gaussians."""
    lines = [
        f"Share of fits that find the right number of Gaussians ({PER_GAUSSIAN} samples each, centres at least "
        f"{SEPARATION:g} standard deviations apart, {n_seeds} seeds for each number):",
        "",
        "| dimensions | " + " | ".join(f"{low} to {high} Gaussians" for low, high in NUMBERS) + " |",
        "|---|" + "---|" * len(NUMBERS),
    ]
    for dimension in DIMENSIONS:
        shares = [
            shares_of_right(
                methods,
                (
                    (separated_gaussians(np.random.default_rng((number, seed)), number, dimension), number)
                    for number in range(low, high + 1)
                    for seed in range(n_seeds)
                ),
            )
            for low, high in NUMBERS
        ]
        lines.append(f"| {dimension} | " + " | ".join(shares) + " |")
        print(lines[-1], flush=True)
    return lines


def thin_table(methods: list[str], n_seeds: int) -> list[str]:
    """Build the table of thin shapes."""
    lines = [
        f"Share of fits that find the right number of thin shapes ({n_seeds} seeds):",
        "",
        "| shapes | number | " + " | ".join(f"n = {n}" for n in THIN_SAMPLES) + " |",
        "|---|---|" + "---|" * len(THIN_SAMPLES),
    ]
    for name, (number, draw) in THIN.items():
        shares = [
            shares_of_right(methods, ((draw(np.random.default_rng(s), n), number) for s in range(n_seeds)))
            for n in THIN_SAMPLES
        ]
        lines.append(f"| {name} | {number} | " + " | ".join(shares) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="for 200 and 1000 samples")
    parser.add_argument("--seeds-large", type=int, default=100, help="for 5000 samples")
    parser.add_argument("--seeds-separated", type=int, default=10, help="for each number of Gaussians")
    parser.add_argument("--seeds-thin", type=int, default=20, help="for each thin shape and number of samples")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--methods", nargs="+", choices=FIND_THE_NUMBER, default=["kFuse (auto)"], metavar="METHOD")
    parser.add_argument(
        "--samples", type=int, nargs="+", default=SAMPLES, help="numbers of samples of structureless data"
    )
    parser.add_argument(
        "--set", nargs="*", default=[], metavar="NAME=VALUE", help="constants of n_clusters.py to change"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    for setting in args.set:
        name, _, value = setting.partition("=")
        if not hasattr(number_rules, name):
            parser.error(f"n_clusters.py has no {name}")
        setattr(number_rules, name, float(value))
    seeds = {n: args.seeds if n < LARGE else args.seeds_large for n in args.samples}
    tables = {
        "null": lambda: null_table(args.methods, seeds),
        "separated": lambda: separated_table(args.methods, args.seeds_separated),
        "thin": lambda: thin_table(args.methods, args.seeds_thin),
    }
    lines = [line for name in args.tables for line in [*tables[name](), ""]]
    if args.out:
        args.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
